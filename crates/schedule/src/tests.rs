use sparsec_base::Source;
use sparsec_index::{Concrete, concretize};
use sparsec_notation::{Declaration, Declarations, Notation};

use super::Schedule;

fn naive(text: &str) -> Concrete {
    let notation = Notation::parse(&Source::new("expression", text)).expect("parses");
    let mut declarations = Declarations::new();
    for tensor in notation.tensor_names() {
        if !tensor.written {
            declarations.declare(tensor.name, Declaration::with_order(tensor.order));
        }
    }
    concretize(&notation.resolve(&declarations).expect("resolves"), 0)
}

fn scheduled(text: &str, schedule: &str) -> String {
    let naive = naive(text);
    let parsed = match Schedule::parse(&Source::new("schedule", schedule)) {
        Ok(parsed) => parsed,
        Err(error) => return error.to_string(),
    };
    let printed = parsed.to_string();
    let again = Schedule::parse(&Source::new("schedule", printed.as_str())).expect("reads back");
    assert_eq!(again.to_string(), printed);
    match again.apply(&naive) {
        Ok(concrete) => {
            let text = concrete.to_string();
            let source = Source::new("concrete", text.as_str());
            let again = crate::parse_concrete(&source, &concrete.tensors).expect("reads back");
            assert_eq!(again.to_string(), text);
            text
        }
        Err(error) => error.to_string(),
    }
}

fn check(text: &str, schedule: &str, expect: &str) {
    assert_eq!(
        scheduled(text, schedule),
        expect,
        "for `{text}` and `{schedule}`"
    );
}

/// The first line of the diagnostic and its help.
fn refused(text: &str, schedule: &str, expect: &[&str]) {
    let error = scheduled(text, schedule);
    for part in expect {
        assert!(error.contains(part), "`{part}` in:\n{error}");
    }
}

const SPGEMM: &str = "C(i,j) = A(i,k) * B(k,j)";

#[test]
fn loops_change_places() {
    check(
        SPGEMM,
        "reorder(i, k, j)",
        "forall i: forall k: forall j: C(i,j) += A(i,k) * B(k,j)",
    );
    check(
        SPGEMM,
        "reorder(k, i)",
        "forall k: forall j: forall i: C(i,j) += A(i,k) * B(k,j)",
    );
    refused(SPGEMM, "reorder(i, l)", &["E0310", "no loop `l`"]);
    refused(SPGEMM, "reorder(i, i)", &["E0311", "named twice"]);
    refused(
        "y(i) = b(i) - A(i,j) * x(j)",
        "reorder(j, i)",
        &["E0311", "not directly inside"],
    );
}

#[test]
fn a_row_is_collected_in_a_workspace() {
    check(
        SPGEMM,
        "reorder(i, k, j); precompute(A(i,k) * B(k,j), {j}, w)",
        "forall i: where(\n  forall j: C(i,j) = w(j),\n  \
         forall k: forall j: w(j) += A(i,k) * B(k,j))",
    );
    check(
        SPGEMM,
        "precompute(A(i,k) * B(k,j), {}, t)",
        "forall i: forall j: where(C(i,j) = t, forall k: t += A(i,k) * B(k,j))",
    );
    refused(
        SPGEMM,
        "precompute(A(i,k) * B(k,j), {j}, w)",
        &["E0311", "write `{}`"],
    );
    refused(
        SPGEMM,
        "precompute(A(i,k) + B(k,j), {}, w)",
        &["E0310", "no assignment"],
    );
    refused(
        SPGEMM,
        "precompute(A(i,k) * B(k,j), {}, A)",
        &["E0311", "already"],
    );
    refused("C(i,j) = A(i,j)", "precompute(A(i,j), {}, t)", &["E0310"]);
}

#[test]
fn numbers_of_two_parts_are_found() {
    for written in ["2 - 3j", "(2.0 + -3.0j)", "2 + 1 - 3j - 1"] {
        check(
            "y = A(j) * (2 - 3j)",
            &format!("precompute(A(j) * ({written}), {{}}, t)"),
            "where(y = t, forall j: t += c128(A(j)) * (2.0 + -3.0j))",
        );
    }
    refused(
        "y = A(j) * (2 - 3j)",
        "precompute(A(j) * (2 + 3j), {}, t)",
        &["E0310"],
    );
}

#[test]
fn a_scalar_workspace_is_lifted() {
    let text = "C(i,j) = D(i,j) + A(i,k) * B(k,j)";
    check(
        text,
        "precompute(A(i,k) * B(k,j), {j}, w)",
        "forall i: where(\n  forall j: C(i,j) = D(i,j) + w(j),\n  \
         forall k: forall j: w(j) += A(i,k) * B(k,j))",
    );
    refused(
        text,
        "precompute(A(i,k) * B(k,j), {i}, w)",
        &["E0311", "write `{j}`"],
    );
    refused(
        text,
        "precompute(A(i,k) * B(k,j), {}, w)",
        &["E0311", "scalar already"],
    );
    // One producer changes places with the other that it is inside of.
    check(
        "C(i,j) = D(i,k) * E(k,j) + x(m) + A(i,l) * B(l,j)",
        "precompute(A(i,l) * B(l,j), {j}, w)",
        "where(\n  forall i: where(\n    \
         forall j: where(\n      \
         C(i,j) = t + t1 + w(j),\n      \
         forall k: t += D(i,k) * E(k,j)),\n    \
         forall l: forall j: w(j) += A(i,l) * B(l,j)),\n  \
         forall m: t1 += x(m))",
    );
}

#[test]
fn a_workspace_lives_where_it_is_stored() {
    let text = "C(i,j) = A(i,k) * B(k,j)";
    let collected = "reorder(i, k, j); precompute(A(i,k) * B(k,j), {j}, w)";
    let with = |store: &str| format!("{collected}; {store}");
    let outside = "where(\n  forall i: forall j: C(i,j) = w(i,j),\n  \
        forall i: forall k: forall j: w(i,j) += A(i,k) * B(k,j),\n  w : hashed)";
    check(text, &with("store(w, hashed, root)"), outside);
    let inside = "forall i: where(\n  forall j: C(i,j) = w(j),\n  \
        forall k: forall j: w(j) += A(i,k) * B(k,j),\n  w : dense)";
    check(text, &with("store(w, dense)"), inside);
    check(text, &with("store(w, dense, i)"), inside);
    // There and back.
    check(
        text,
        &with("store(w, hashed, root); store(w, dense, i)"),
        inside,
    );
    let value = "precompute(A(i,k) * B(k,j), {}, t)";
    check(
        text,
        &format!("{value}; store(t, listed, i); store(t, dense, j)"),
        "forall i: forall j: where(C(i,j) = t, forall k: t += A(i,k) * B(k,j))",
    );
    refused(text, &with("store(w, hashed, k)"), &["E0311", "`k`"]);
    refused(
        text,
        &with("store(w, hashed, j)"),
        &["E0311", "outermost on both sides"],
    );
    refused(
        text,
        &with("store(w, hashed, l)"),
        &["E0310", "no loop `l`"],
    );
    refused(
        text,
        &with("store(v, hashed)"),
        &["E0310", "no temporary `v`"],
    );
    refused(text, &with("store(w, hash)"), &["E0320", "hashed"]);
    refused(
        text,
        &format!("{value}; store(t, hashed)"),
        &["E0311", "is one value"],
    );
}

#[test]
fn operands_are_converted() {
    check(
        SPGEMM,
        "convert(B(k,j), csc)",
        "forall i: forall j: forall k: C(i,j) += A(i,k) * B_csc(k,j)",
    );
    check(
        "C(i,j) = A(i,j) + A(j,i)",
        "convert(A(j,i), (i, j) -> (j : dense, i : compressed), crd = 32)",
        "forall i: forall j: C(i,j) = A(i,j) + A_converted(j,i)",
    );
    check(
        "C(i,j) = A(i,j) + A(j,i)",
        "convert(A, dense)",
        "forall i: forall j: C(i,j) = A_dense(i,j) + A_dense(j,i)",
    );
    refused(SPGEMM, "convert(D, csc)", &["E0310", "no operand `D`"]);
    refused(
        SPGEMM,
        "convert(A(k,i), csc)",
        &["E0310", "not read with these indices"],
    );
    refused("y(i) = x(i)", "convert(x, csr)", &["E0115"]);
    refused(SPGEMM, "store(A, dense)", &["E0310", "no temporary `A`"]);
    refused(
        SPGEMM,
        "reordr(i, j)",
        &["E0361", "did you mean `reorder`?"],
    );
}

const SPMV: &str = "y(i) = A(i,j) * x(j)";

#[test]
fn loops_are_split_into_blocks() {
    check(
        SPMV,
        "split(i,i0,i1,32)",
        "forall i0: forall i1: forall j: y(i) += A(i,j) * x(j)\n\
         suchthat(split(i, i0, i1, 32))",
    );
    check(
        "y(i) = x(i)",
        "divide(i, i0, i1, 4); split(i1, i2, i3, 8); reorder(i2, i0)",
        "forall i2: forall i0: forall i3: y(i) = x(i)\n\
         suchthat(divide(i, i0, i1, 4), split(i1, i2, i3, 8))",
    );
    refused(SPMV, "split(k, k0, k1, 4)", &["E0310", "no loop `k`"]);
    refused(SPMV, "split(i, j, i1, 4)", &["E0336", "such as `j1`"]);
    refused(SPMV, "split(i, i0, i0, 4)", &["E0336"]);
    refused(
        SPMV,
        "split(i, i0, i1, 0)",
        &["E0337", "cannot be split by 0"],
    );
    refused(
        SPMV,
        "split(i, i0, i1, 4); split(i, a, b, 4)",
        &["E0310", "no loop `i`"],
    );
    refused(
        SPMV,
        "unroll(j, 4); split(j, j0, j1, 8)",
        &["E0311", "marked: unroll(j, 4)", "derived from it instead"],
    );
}

#[test]
fn loops_are_fused_and_go_over_positions() {
    check(
        SPMV,
        "fuse(i, j, f); pos(f, p, A(i,j)); split(p, p0, p1, 64)",
        "forall p0: forall p1: y(i) += A(i,j) * x(j)\n\
         suchthat(fuse(i, j, f), pos(f, p, A(i,j)), split(p, p0, p1, 64))",
    );
    refused(
        SPMV,
        "fuse(j, i, f)",
        &["E0311", "directly inside", "reorder the loops first"],
    );
    refused(
        SPMV,
        "precompute(A(i,j) * x(j), {}, t); fuse(i, j, f)",
        &["E0311", "directly inside"],
    );
    refused(
        SPMV,
        "pos(j, p, A(j,i))",
        &["E0310", "not read with these indices"],
    );
    refused(SPMV, "pos(i, p, x(j))", &["E0311", "not indexed by `i`"]);
    refused(
        SPMV,
        "split(j, j0, j1, 8); pos(j1, p, A(i,j))",
        &["E0311", "take positions first"],
    );
    refused(
        SPMV,
        "precompute(A(i,j) * x(j), {}, t); pos(i, p, t)",
        &["E0311", "`t` is a workspace"],
    );
    // As TACO's command line writes it.
    check(
        SPMV,
        "pos(j, p, A)",
        "forall i: forall p: y(i) += A(i,j) * x(j) suchthat(pos(j, p, A(i,j)))",
    );
    refused(
        "C(i,j) = A(i,j) + A(j,i)",
        "pos(j, p, A)",
        &["E0310", "several lists of indices", "`A(i,j)` and `A(j,i)`"],
    );
}

#[test]
fn loops_are_marked() {
    check(
        SPMV,
        "unroll(j, 4); parallelize(i, CPUThread, NoRaces); mergeby(j, Gallop)",
        "forall i: forall j: y(i) += A(i,j) * x(j)\n\
         suchthat(unroll(j, 4), parallelize(i, CPUThread, NoRaces), mergeby(j, Gallop))",
    );
    check(
        SPMV,
        "unroll(j, 4); unroll(j, 8); assemble(y, Insert, false)",
        "forall i: forall j: y(i) += A(i,j) * x(j)\n\
         suchthat(unroll(j, 8), assemble(y, Insert, false))",
    );
    check(
        SPMV,
        "prefetch(j, A, 256); prefetch(j, x, 8); prefetch(j, x, 64)",
        "forall i: forall j: y(i) += A(i,j) * x(j)\n\
         suchthat(prefetch(j, A, 256), prefetch(j, x, 64))",
    );
    refused(SPMV, "prefetch(j, x, 0)", &["E0337", "1 to 1048576 turns"]);
    refused(SPMV, "prefetch(j, z, 4)", &["E0310", "`z`"]);
    refused(SPMV, "unroll(j, 0)", &["E0337", "1 to 64 times"]);
    refused(
        SPMV,
        "mergeby(j, galop)",
        &["E0346", "did you mean `Gallop`?"],
    );
    refused(
        SPMV,
        "assemble(A, Insert)",
        &["E0311", "not the result", "write `y`"],
    );
    refused(SPMV, "assemble(z, Insert)", &["E0310", "no result `z`"]);
}

#[test]
fn races_are_found() {
    let ok = |loop_name: &str, races: &str| {
        let text = format!("parallelize({loop_name}, CPUThread, {races})");
        let found = scheduled(SPMV, &text);
        assert!(found.ends_with(&format!("suchthat({text})")), "{found}");
    };
    ok("i", "NoRaces");
    ok("i", "IgnoreRaces");
    ok("j", "Atomics");
    ok("j", "Temporary");
    ok("j", "ParallelReduction");
    refused(
        SPMV,
        "parallelize(j, CPUThread, NoRaces)",
        &[
            "E0338",
            "write the entry `y(i)` at once",
            "choose `Atomics`",
        ],
    );
    refused(
        SPMV,
        "parallelize(j, NotParallel, NoRaces)",
        &["E0346", "these are"],
    );
    // The inner loop of blocks of `i` writes entries of its own.
    check(
        SPMV,
        "split(i, i0, i1, 8); parallelize(i0, CPUThread, NoRaces)",
        "forall i0: forall i1: forall j: y(i) += A(i,j) * x(j)\n\
         suchthat(split(i, i0, i1, 8), parallelize(i0, CPUThread, NoRaces))",
    );
    // A workspace inside of the loop is each iteration's own, one outside is not.
    check(
        SPMV,
        "precompute(A(i,j) * x(j), {}, t); parallelize(i, CPUThread, NoRaces)",
        "forall i: where(y(i) = t, forall j: t += A(i,j) * x(j))\n\
         suchthat(parallelize(i, CPUThread, NoRaces))",
    );
    refused(
        SPMV,
        "precompute(A(i,j) * x(j), {}, t); parallelize(j, CPUThread, NoRaces)",
        &["E0338", "the workspace entry `t`", "`ParallelReduction`"],
    );
    refused(
        "y(i) = A(j,i) * x(j)",
        "reorder(j, i); parallelize(j, CPUThread, ParallelReduction)",
        &["E0338", "choose `Atomics` or `Temporary`"],
    );
    refused(
        "y(i) = x(i) - A(i,j)",
        "parallelize(j, CPUThread, IgnoreRaces)",
        &["E0338"],
    );
}

#[test]
fn loops_of_a_workspace_get_names() {
    check(
        SPGEMM,
        "reorder(i, k, j); precompute(A(i,k) * B(k,j), j, jw, w)",
        "forall i: where(\n  forall j: C(i,j) = w(j),\n  \
         forall k: forall jw: w(jw) += A(i,k) * B(k,jw))",
    );
    check(
        SPMV,
        "precompute(A(i,j) * x(j), j, jw)",
        "forall i: where(\n  forall j: y(i) += w(j),\n  \
         forall jw: w(jw) += A(i,jw) * x(jw))",
    );
    check(
        "a(i) = b(i) * c(i) + d(i)",
        "precompute(b(i) * c(i), {i}, {iw}, w)",
        "where(forall i: a(i) = w(i) + d(i), forall iw: w(iw) += b(iw) * c(iw))",
    );
    refused(
        SPMV,
        "precompute(A(i,j) * x(j), j, i, w)",
        &["E0336", "`i` is the name of something else"],
    );
    refused(
        SPMV,
        "precompute(A(i,j) * x(j), {j}, {a, b}, w)",
        &["E0311", "1 loops get 2 names"],
    );
    refused(
        SPMV,
        "split(j, j0, j1, 4); precompute(A(i,j), j1, k, w)",
        &["E0311", "`j1` is derived"],
    );
}

#[test]
fn loops_around_a_where_are_divided_and_fused() {
    let divided = "where(\n  forall i: y(i) = t(i),\n  \
         forall i: forall j: t(i) += A(i,j) * x(j),\n  t : listed)";
    let schedule = "precompute(A(i,j) * x(j), {}, t); fission(i)";
    check(SPMV, schedule, divided);
    check(
        SPMV,
        &format!("{schedule}; loopfuse(i)"),
        "forall i: where(y(i) = t, forall j: t += A(i,j) * x(j))",
    );
    // The producer's loop has a name of its own.
    check(
        "a(i) = b(i) * c(i) + d(i)",
        "precompute(b(i) * c(i), {i}, {iw}, w); loopfuse(i)",
        "forall i: where(a(i) = w + d(i), w += b(i) * c(i))",
    );
    refused(SPMV, "fission(i)", &["E0311", "not directly around"]);
    refused(SPMV, "loopfuse(i)", &["E0311", "no `where`"]);
    refused(
        "y(i) = A(i,j) * x(j) + sum{k}(B(k) * B(k))",
        "fission(j)",
        &["E0311", "not directly around"],
    );
}

#[test]
fn loops_of_other_variables_are_not_fused() {
    refused(
        SPGEMM,
        "reorder(k, i, j); precompute(A(i,k) * B(k,j), {i, j}, w); loopfuse(i)",
        &["E0311", "no `where` has loops over `i` outermost"],
    );
}

/// The nests of a triangle, and of any sequence that reads one tensor twice.
#[test]
fn nests_over_the_same_coordinates_are_fused() {
    let pieces = "pieces(A, csr, symmetric(i, j))";
    check(
        SPMV,
        &format!("{pieces}; reorder(j1, i1); loopfuse(i)"),
        "forall i: sequence(\n  forall j: y(i) += A_stored(i,j) * x(j),\n  forall i1: \
             y(i1) += select(i1 < i, A_stored(i,i1) * x(i), 0.0))",
    );
}

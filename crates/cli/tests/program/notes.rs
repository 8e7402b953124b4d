//! What costs is said in one line, once, without being asked for.

use serde_json::Value;

use crate::place::{Place, with_matrix};

fn json(place: &Place, call: &str) -> Value {
    let answer = place.shell(&format!("\"$0\" {call} --json")).answer();
    serde_json::from_str(&answer).expect("JSON")
}

#[test]
fn conversions_that_a_schedule_causes_are_said() {
    let place = with_matrix();
    let run = "run 'y(i) = A(i,j) * x(j)' -i A=a.mtx -g x=dense:ones";
    let scheduled = |command: &str| format!("{run} -s '{command}'");
    let note = "`A` is converted from `csr` to `csc`, since the schedule needs it in this order: \
                about 524 B moved in ";
    let done = place.shell(&format!("\"$0\" {}", scheduled("reorder(j, i)")));
    assert_eq!(done.stderr.matches("note: ").count(), 1, "{}", done.stderr);
    done.noted(note);
    let value = json(&place, &scheduled("reorder(j, i)"));
    assert!(
        value["notes"][0]
            .as_str()
            .is_some_and(|it| it.contains(note))
    );
    // There is no note for a conversion that the user requested, nor without a conversion.
    for call in [scheduled("convert(A, csc)"), run.to_owned()] {
        assert_eq!(
            json(&place, &call)["notes"],
            serde_json::json!([]),
            "{call}"
        );
    }
}

#[test]
fn factors_that_share_no_index_are_said() {
    let place = with_matrix();
    let run = |product: &str, extents: &str| {
        let generated = "-g 'B=random(nnz=4)' -f B=csr";
        place.shell(&format!(
            "\"$0\" run '{product}' -i A=a.mtx {generated} {extents}"
        ))
    };
    run("t = A(i,j) * B(k,l)", "-d k=6 -d l=5")
        .noted("`A` and `B` share no index: each entry of one multiplies each of another");
    let done = run("t = A(i,j) * B(j,l)", "-d l=5");
    assert!(!done.stderr.contains("share no index"), "{}", done.stderr);
}

#[test]
fn a_sparse_format_is_proposed_for_a_dense_result_of_few_entries() {
    let place = Place::new();
    let run = "run 'y(i) = A(i,j) * x(j)' -g 'A=random(nnz=20)' -f A=dcsr -g x=dense:ones \
               -d i=1000000 -d j=10";
    let note = json(&place, &format!("{run} -f y=dense"))["notes"][0].clone();
    let note = note.as_str().expect("a note");
    assert!(
        note.starts_with("`y` takes 8.0 MB as `dense` for about 20 entries: "),
        "{note}"
    );
    // The proposed format works, and takes the memory that the note states.
    let format = note.split('`').nth(5).expect("an option");
    let value = json(&place, &format!("{run} {format}"));
    assert_eq!(value["notes"], serde_json::json!([]));
    assert!(
        value["results"]["y"]["n_stored"]
            .as_u64()
            .is_some_and(|n| n <= 20),
        "{value}"
    );
}

#[test]
fn a_search_that_ends_at_its_limit_is_said() {
    let place = Place::new();
    let factors = ["a", "b", "c", "d", "e", "f", "g"];
    let factors: Vec<String> = factors
        .iter()
        .map(|name| format!("{name}({name}0)"))
        .collect();
    let given =
        ["a", "b", "c", "d", "e", "f", "g"].map(|name| format!("-g {name}=1 -d {name}0=16"));
    let run = format!(
        "run 's = {}' {} --strict",
        factors.join(" * "),
        given.join(" ")
    );
    let value = json(&place, &run);
    let note = value["notes"][0].as_str().expect("a note");
    assert!(
        note.contains("The search ended at its limit after "),
        "{note}"
    );
    assert_eq!(value["results"]["s"]["value"], 16.0_f64.powi(7));
}

#[test]
fn files_that_a_rewritten_program_reads_otherwise_are_said() {
    let place = Place::new();
    place.write(
        "old.mlir",
        "#M = #sparse_tensor.encoding<{ dimLevelType = [\"dense\", \"compressed\"] }>\n\
         func.func @f(%file: !llvm.ptr<i8>) -> tensor<?x?xf64, #M> {\n  \
         %a = sparse_tensor.new %file : !llvm.ptr<i8> to tensor<?x?xf64, #M>\n  \
         return %a : tensor<?x?xf64, #M>\n}\n",
    );
    let done = place.call(&["mlir", "old.mlir", "--to-dialect", "19"]);
    done.noted("old.mlir:3:8: `sparse_tensor.new` read both triangles");
    let done = place.call(&["mlir", "old.mlir", "--to-dialect", "17"]);
    assert!(done.answer().contains("expand_symmetry"));
}

#[test]
fn arguments_in_which_a_rewritten_program_computes_no_more_are_said() {
    let place = Place::new();
    place.write(
        "old.mlir",
        "func @f(%x: tensor<4xf64> {linalg.inplaceable = true}) -> tensor<4xf64> {\n  \
         return %x : tensor<4xf64>\n}\n",
    );
    let done = place.call(&["mlir", "old.mlir", "--dialect", "14", "--to-dialect", "19"]);
    done.noted("old.mlir:1:1: kernels computed in the argument with `linalg.inplaceable = true`");
    let done = place.call(&["mlir", "old.mlir", "--dialect", "14", "--to-dialect", "13"]);
    assert!(!done.stderr.contains("note: "), "{}", done.stderr);
}

#[test]
fn modules_hold_the_conversions_of_their_kernels() {
    let place = Place::new();
    let words =
        "compile D(i,j)=A(i,j)-2*B(i,j);y(i)=D(i,j)*x(j) -f A=csc -f B=csr -f D=alto -f y=dense";
    let mut words: Vec<&str> = words.split(' ').collect();
    words.extend(["--emit", "mlir"]);
    let note =
        "the kernels have `A` as `csr`, not as `csc`: `@convert_A_to_A_csr` is the conversion";
    let module = place.call(&words).noted(note);
    for name in [
        "convert_A_to_A_csr",
        "convert_D_dcsr_to_D",
        "convert_D_to_D_dcsr",
    ] {
        assert!(module.contains(&format!("func.func @{name}(")), "{name}");
    }
}

#[test]
fn operations_without_a_kernel_are_said() {
    let place = Place::new();
    place.write(
        "a.mlir",
        "func.func @f(%a: tensor<8xi32>, %y: tensor<i32>) -> tensor<i32> {\n  \
         %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], \
         iterator_types = [\"reduction\"]} ins(%a : tensor<8xi32>) outs(%y : tensor<i32>) {\n  \
         ^bb0(%x: i32, %s: i32):\n    %1 = arith.shli %s, %x : i32\n    linalg.yield %1 : i32\n  \
         } -> tensor<i32>\n  return %0 : tensor<i32>\n}\n",
    );
    let done = place.call(&["mlir", "a.mlir", "--emit", "loop"]);
    done.noted("a.mlir:2:8: this operation has no kernel");
}

#[test]
fn conversions_of_a_program_are_shown_where_they_are_made() {
    let place = Place::new();
    place.write(
        "a.mlir",
        "#V = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>\n\
         func.func @f(%a: tensor<8xf64>) {\n  \
         %0 = sparse_tensor.convert %a : tensor<8xf64> to tensor<8xf64, #V>\n  \
         return\n}\n",
    );
    let done = place.call(&["mlir", "a.mlir", "--emit", "loop"]);
    done.noted(
        "a.mlir:3:8: a conversion is no kernel; `sparsec convert --from '(i) -> (i : dense)'",
    );
}

/// A list of entries has no other format, which a note says once.
#[test]
fn files_that_do_not_keep_a_format_are_noted() {
    let place = Place::new();
    let matrix = "%%MatrixMarket matrix coordinate real general\n3 4 2\n1 4 1\n3 2 3\n";
    place.write("a.mtx", matrix);
    let symmetric = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/dia.fmt");
    for (file, to, name) in [
        ("b.mtx", "csc", "csc"),
        ("b.tns.gz", "hyb(1)", "hyb(1)"),
        ("b.mtx", "jds", "jds"),
        ("b.bsp.h5", symmetric, "dia"),
    ] {
        let done = place.call(&["convert", "a.mtx", file, "--to", to]);
        assert_eq!((done.code, done.stdout.as_str()), (Some(0), ""));
        let note = format!(
            "note: `{file}` does not keep the format `{name}`: `.npz` files keep formats\n"
        );
        assert_eq!(done.stderr, note);
    }
    let done = place.call(&["convert", "a.mtx", "-", "--to", "csc"]);
    done.noted("note: standard output does not keep the format `csc`");
    for (file, to) in [
        ("b.npz", "csc"),
        ("b.bsp.h5", "csc"),
        ("b.mtx", "coo"),
        ("b.mtx", "dense"),
    ] {
        let call = ["convert", "a.mtx", file, "--to", to];
        assert_eq!(place.call(&call).answer(), "");
    }
}

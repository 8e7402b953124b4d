//! Schedules as TACO's command line writes them, each command in each of its forms,
//! and the commands that TACO has not: taken, with the results that there are
//! without a schedule, or refused with a place and a way out.

use crate::place::Place;

const VECTOR: &[&str] = &[
    "run",
    "y(i) = A(i,j) * x(j)",
    "-f",
    "A=csr",
    "-g",
    "A=random(nnz=300, seed=1, values=int)",
    "-g",
    "x=dense:iota",
    "-d",
    "i=40",
    "-d",
    "j=40",
];

const PRODUCT: &[&str] = &[
    "run",
    "C(i,j) = A(i,k) * B(k,j)",
    "-f",
    "A=csr",
    "-f",
    "B=csr",
    "-f",
    "C=csr",
    "-g",
    "A=random(nnz=300, seed=1, values=int)",
    "-g",
    "B=random(nnz=200, seed=2, values=int)",
    "-d",
    "i=40",
    "-d",
    "j=40",
    "-d",
    "k=40",
];

const SUM: &[&str] = &[
    "run",
    "C(i,j) = A(i,j) + B(i,j)",
    "-f",
    "A=csr",
    "-f",
    "B=csr",
    "-f",
    "C=csr",
    "-g",
    "A=random(nnz=300, seed=1, values=int)",
    "-g",
    "B=random(nnz=200, seed=2, values=int)",
    "-d",
    "i=40",
    "-d",
    "j=40",
];

fn call<'a>(program: &[&'a str], schedule: &'a str) -> Vec<&'a str> {
    let more = ["-s", schedule, "--check", "--backend", "cranelift"];
    program.iter().copied().chain(more).collect()
}

#[test]
fn commands_are_taken_in_each_of_their_forms() {
    let place = Place::new();
    let check = |program, schedules: &[&str]| {
        for schedule in schedules {
            let done = place.call(&call(program, schedule));
            let (said, noted) = (done.stdout, done.stderr);
            assert!(said.contains("agrees"), "{schedule}: {said}{noted}");
            // The one note states the cost of the schedule.
            let is_note = noted.starts_with("note: `") && noted.contains("the schedule needs");
            assert!(noted.is_empty() || is_note, "{schedule}: {noted}");
            assert!(noted.lines().count() <= 1, "{schedule}: {noted}");
        }
    };
    check(
        VECTOR,
        &[
            "split(i,i0,i1,32)",
            // Behind one another as TACO has it, and with what else stands between.
            "split(i,i0,i1,32),parallelize(i0,CPUThread,NoRaces)",
            "split(i,i0,i1,32); reorder(i0,i1,j), unroll(j,4)",
            "divide(j,j0,j1,4)",
            "fuse(i,j,f),pos(f,fpos,A),split(fpos,f0,f1,8)",
            "pos(j,jp,A)",
            "pos(j,jp,A(i,j)) split(jp,j0,j1,4)",
            "reorder(j,i)",
            "bound(i,i0,40,MaxExact)",
            "bound(i,i0,64,MaxConstraint)",
            "bound(i,i0,0,MinExact)",
            "bound(i,i0,0,MinConstraint)",
            "unroll(i,4)",
            "mergeby(j,Gallop)",
            "parallelize(i,CPUThread,NoRaces)",
            "parallelize(i,CPUThread,IgnoreRaces)",
            "parallelize(j,CPUThread,Atomics)",
            "parallelize(j,CPUThread,Temporary)",
            "parallelize(j,CPUThread,ParallelReduction)",
            "parallelize(j,CPUVector,ParallelReduction)",
            "convert(x,hash)",
        ],
    );
    check(
        PRODUCT,
        &[
            "precompute(A(i,k)*B(k,j),j,jw)",
            "precompute(A(i,k)*B(k,j),j,j,w)",
            "reorder(i,k,j),precompute(A(i,k)*B(k,j),{j},{jw},w)",
            "reorder(i,k,j),precompute(A(i,k)*B(k,j),{j},w),fission(i),loopfuse(i)",
            "reorder(i,k,j) precompute(A(i,k)*B(k,j),{j},w) store(w,hashed)",
            "assemble(C,Append)",
            "assemble(C,Append,true)",
            "assemble(C,Insert)",
            "assemble(C,Insert,false)",
            "convert(A(i,k),csc)",
            "C: reorder(i,k,j),",
        ],
    );
    check(SUM, &["mergeby(j,TwoFinger)", "mergeby(j,Select)"]);
}

#[test]
fn what_commands_do_not_take_is_shown_with_a_way_out() {
    let place = Place::new();
    let check = |program, refused: &[(&str, &str, &str, &str)]| {
        for (schedule, code, shown, way_out) in refused {
            let code = format!("error[{code}]");
            let texts = [&code[..], schedule, &format!("^ {shown}"), way_out];
            place.call(&call(program, schedule)).refused(2, &texts);
        }
    };
    check(
        VECTOR,
        &[
            (
                ",split(i,i0,i1,4)",
                "E0101",
                "expected a command",
                "reorder(i, k, j)",
            ),
            (
                "split(i,i0,i1,4),,unroll(i0,2)",
                "E0101",
                "expected a command",
                "reorder(i, k, j)",
            ),
            (
                "split(i,i0,i1)",
                "E0101",
                "expected `,`",
                "split(i, i0, i1, 32)",
            ),
            ("split(i,i0,i1,0)", "E0337", "this split", "a number from 1"),
            (
                "split(q,i0,i1,4)",
                "E0310",
                "no loop has this name",
                "`i`, `j`",
            ),
            ("split(i,i0,i,4)", "E0336", "taken", "such as `i1`"),
            (
                "divide(i,i0,i1,0)",
                "E0337",
                "this split",
                "a number from 1",
            ),
            ("fuse(i,q,f)", "E0310", "no loop has this name", "`i`, `j`"),
            (
                "pos(j,jp,B)",
                "E0310",
                "no operand has this name",
                "`A`, `x`",
            ),
            ("pos(j,jp,A(j,i))", "E0310", "no such access", "`A(i,j)`"),
            ("reorder(i,i)", "E0311", "again", "each loop once"),
            (
                "bound(i,i0,30,MaxConstraint)",
                "E0339",
                "this bound",
                "bound(i, i0, 40, MaxConstraint)",
            ),
            (
                "bound(i,i0,3,MinExact)",
                "E0339",
                "this bound",
                "bound(i, i0, 0, MinExact)",
            ),
            ("bound(i,i0,40,Max)", "E0346", "not known", "`MaxExact`"),
            ("unroll(j,65)", "E0337", "out of that range", "from 1 to 64"),
            (
                "parallelize(i,GPUBlock,NoRaces)",
                "E0346",
                "not a unit of a CPU",
                "leave the command out",
            ),
            (
                "parallelize(i,NotParallel,NoRaces)",
                "E0346",
                "not known",
                "`CPUThread`",
            ),
            (
                "parallelize(i,CPUThread,NoRace)",
                "E0346",
                "not known",
                "`NoRaces`",
            ),
            (
                "parallelize(j,CPUThread,NoRaces)",
                "E0338",
                "iterations of this loop",
                "write `parallelize(j, CPUThread, ParallelReduction)`",
            ),
            (
                "loopfuse(i)",
                "E0311",
                "has nothing to fuse",
                "reorder the loops",
            ),
            (
                "fission(i)",
                "E0311",
                "has nothing to divide",
                "precompute something",
            ),
            (
                "store(w,dense)",
                "E0310",
                "no temporary has this name",
                "leave the command out",
            ),
        ],
    );
    check(
        PRODUCT,
        &[
            (
                "precompute(A(i,k)*B(k,j),{i,j},{iw},w)",
                "E0311",
                "computed here",
                "each loop one name",
            ),
            (
                "precompute(A(i,k)*B(k,i),j,jw,w)",
                "E0310",
                "has to be part of a right side",
                "a part as it is grouped",
            ),
            (
                "precompute(A(i,k)*B(k,j),j,jw,A)",
                "E0311",
                "taken",
                "another name",
            ),
            (
                "assemble(B,Insert)",
                "E0311",
                "is not assembled",
                "write `C`",
            ),
            ("assemble(C,Appendd)", "E0346", "not known", "`Append`"),
            ("convert(A(k,i),csc)", "E0310", "no such access", "`A(i,k)`"),
            (
                "convert(Z,csc)",
                "E0310",
                "no operand has this name",
                "`A`, `B`",
            ),
        ],
    );
    check(
        SUM,
        &[(
            "mergeby(j,Gallop)",
            "E0341",
            "asked for here",
            "mergeby(j, TwoFinger)",
        )],
    );
}

/// As TACO takes them.
#[test]
fn several_options_are_one_schedule() {
    let place = Place::new();
    let parts = ["-s", "split(i,i0,i1,8)", "-s", "reorder(i0,i1,j)"];
    let print = ["--emit", "concrete"];
    let compile = |more: &[&'static str]| {
        let words = [&["compile", VECTOR[1], "-f", "A=csr"], more, &print].concat();
        place.call(&words)
    };
    let both = compile(&parts).answer();
    assert_eq!(
        both,
        compile(&["-s", "split(i,i0,i1,8),reorder(i0,i1,j)"]).answer()
    );
    assert!(both.contains("suchthat(split(i, i0, i1, 8))"), "{both}");
    compile(&["-s", "split(i,i0,i1,8)", "-s", "reorder(i0,i2)"])
        .refused(2, &["schedule:2:12", "no loop has this name"]);
}

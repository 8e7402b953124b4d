//! Kernels stay small as operands grow in number: what would be a loop of very
//! many cases is split into statements, each of a bounded size.

use sparsec::{Inputs, Request, Source, compile};

/// So many addends are merged in one kernel; more are split.
const MERGED: usize = 3;

/// Lines of loop IR of each kernel of `A1 + … + An` in one format.
fn lines(n: usize, format: &str, indices: &str, reduced: bool) -> Vec<usize> {
    let terms: Vec<String> = (1..=n).map(|n| format!("A{n}({indices})")).collect();
    let sum = terms.join(" + ");
    let text = match reduced {
        true => format!("Z(i) = sum{{j}}({sum})"),
        false => format!("Z({indices}) = {sum}"),
    };
    let mut request = Request::new(Source::new("sum", text));
    for n in 1..=n {
        request.set_format(&format!("A{n}"), format).unwrap();
    }
    let result = if reduced {
        "(i) -> (i : compressed)"
    } else {
        format
    };
    request.set_format("Z", result).unwrap();
    for var in indices.split(',') {
        request.extents.insert(var.to_owned(), 100);
    }
    let compiled = compile(&request, &Inputs::new()).unwrap();
    let functions = compiled.statements().iter().map(|it| &it.function);
    functions
        .map(|function| function.to_string().lines().count())
        .collect()
}

#[test]
fn sums_of_ten_addends_have_bounded_kernels() {
    for (format, indices) in [("csr", "i,j"), ("coo", "i,j"), ("csf", "i,j,k")] {
        for reduced in [false, true] {
            if reduced && format == "csf" {
                continue;
            }
            let bound = lines(MERGED, format, indices, reduced)[0];
            for n in MERGED + 1..=10 {
                let lines = lines(n, format, indices, reduced);
                let largest = lines.iter().copied().max().unwrap();
                // A split may leave two reductions to one kernel.
                assert!(
                    largest <= bound + bound / 4,
                    "{n} addends in {format}: {lines:?}"
                );
                assert!(lines.len() <= 2 * n, "{n} addends in {format}: {lines:?}");
            }
        }
    }
}

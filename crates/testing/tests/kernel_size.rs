//! Kernels stay small as operands grow in number: what would be a loop of very
//! many cases is split into statements, each of a bounded size.

use sparsec::Source;
use sparsec::internals::{Inputs, Request, compile};

/// So many addends are merged in one kernel; more are split.
const MERGED: usize = 3;

/// Lines of loop IR of each kernel of a program, every operand of which has a format.
fn lines_of(text: String, formats: &[(String, &str)], indices: &str) -> Vec<usize> {
    let mut request = Request::new(Source::new("expression", text));
    for (name, format) in formats {
        request.set_format(name, format).unwrap();
    }
    for var in indices.split(',') {
        request.extents.insert(var.to_owned(), 5);
    }
    let compiled = compile(&request, &Inputs::new()).unwrap();
    let functions = compiled.statements().iter().map(|it| &it.function);
    functions
        .map(|function| function.to_string().lines().count())
        .collect()
}

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
            let bound = lines(MERGED, format, indices, false)[0];
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

/// No kernel of more operands has so many lines, whatever they are.
const MOST_LINES: usize = 720;

/// Whether each entry that is looked for is there would be `2^n` cases.
#[test]
fn what_is_looked_up_in_one_loop_is_bounded() {
    for format in ["hashed", "bitmap", "range", "compressed"] {
        let format = format!("(i) -> (i : {format})");
        for n in 1..=10 {
            let terms: Vec<String> = (1..=n).map(|n| format!("h{n}(i)")).collect();
            let names = (1..=n).map(|n| format!("h{n}"));
            let formats: Vec<_> = names.chain(["a".into()]).map(|it| (it, &*format)).collect();
            let sum = terms.join(" + ");
            let lines = lines_of(format!("y(i) = a(i) * ({sum})"), &formats, "i");
            assert!(
                lines.iter().all(|it| *it <= MOST_LINES),
                "{n} {format}: {lines:?}"
            );
            // Where all have to be there, nothing is written twice.
            let product = lines_of(format!("y(i) = {}", terms.join(" * ")), &formats[..n], "i");
            assert!(
                product.len() == 1 && product[0] <= 200,
                "{n} {format}: {product:?}"
            );
        }
    }
}

/// Each part of a union would be searched for in each case of the merge.
#[test]
fn merges_with_searches_of_unions_are_bounded() {
    for format in [
        "csf",
        "csf | csf",
        "csf | csf | csf",
        "csf | (i, j, k) -> (i : dense, j : bitmap, k : bitmap)",
    ] {
        for n in 1..=4 {
            let factors: Vec<String> = (1..=n).map(|n| format!("(T(j,j,j) + A{n}(i,j))")).collect();
            let names = (1..=n).map(|n| (format!("A{n}"), "csr"));
            let formats: Vec<_> = names.chain([("T".into(), format)]).collect();
            let text = format!("y(i) = T(k,j,j) * {}", factors.join(" * "));
            let lines = lines_of(text, &formats, "i,j,k");
            assert!(
                lines.iter().all(|it| *it <= MOST_LINES),
                "{n} {format}: {lines:?}"
            );
        }
    }
}

/// Each part of a union has loops of its own.
#[test]
fn sums_of_unions_are_bounded() {
    for format in ["csr | csr | csr", "hyb(2)", "csr, symmetric(i, j)"] {
        for n in 1..=10 {
            let terms: Vec<String> = (1..=n).map(|n| format!("A{n}(i,j)")).collect();
            let formats: Vec<_> = (1..=n).map(|n| (format!("A{n}"), format)).collect();
            let text = format!("Z(i,j) = {}", terms.join(" + "));
            let lines = lines_of(text, &formats, "i,j");
            assert!(
                lines.iter().all(|it| *it <= MOST_LINES),
                "{n} {format}: {lines:?}"
            );
        }
    }
}

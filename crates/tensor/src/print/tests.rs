//! What tensors of every type, order and format print as.

use sparsec_base::{Bool8, Complex, Scalar, bf16, f16};
use sparsec_format::{Format, FormatSpec};

use crate::{Array, Element, Entries, PackOptions, PrintOptions, Tensor};

#[track_caller]
fn check(tensor: &Tensor, expect: &str) {
    assert_eq!(tensor.values_text(PrintOptions::default()), expect);
}

fn dense<T: Element>(extents: &[u64], values: impl IntoIterator<Item = T>) -> Tensor {
    let values: Vec<T> = values.into_iter().collect();
    let arrays = vec![Array::from_vec(values)];
    let format = Format::dense(extents.len());
    Tensor::new(format, extents.to_vec(), T::TYPE, T::ZERO.scalar(), arrays).expect("a tensor")
}

fn format(text: &str, order: usize) -> Format {
    let spec: FormatSpec = text.parse().expect(text);
    spec.resolve(order).expect(text)
}

#[test]
fn every_type_is_the_shortest_text_that_reads_back() {
    check(
        &dense(&[2], [Bool8::from(true), Bool8::from(false)]),
        "[ true false]",
    );
    check(&dense(&[2], [-128i8, 7]), "[-128    7]");
    check(&dense(&[1], [u64::MAX]), "[18446744073709551615]");
    check(&dense(&[2], [0.1, -2.0].map(f16::from_f64)), "[ 0.1 -2.0]");
    check(&dense(&[2], [0.1, 3.0].map(bf16::from_f64)), "[0.1 3.0]");
    check(&dense(&[2], [0.1f32, 1e-9]), "[0.1  1e-9]");
    check(
        &dense(&[3], [0.1 + 0.2, 100.0, 1e300]),
        "[  0.30000000000000004 100.0                   1e300              ]",
    );
    let complex = [Complex::new(1.0, -2.5), Complex::new(-10.25, 0.0)];
    check(&dense(&[2], complex), "[  1.0 -2.5j -10.25+0.0j]");
    let single = complex.map(|it| Complex::new(it.re as f32, it.im as f32));
    check(&dense(&[2], single), "[  1.0 -2.5j -10.25+0.0j]");
    check(
        &dense(&[3], [f64::NAN, -f64::INFINITY, 0.5]),
        "[ nan -inf  0.5]",
    );
}

#[test]
fn brackets_nest_as_deep_as_there_are_modes() {
    check(&dense(&[], [2.5]), "2.5");
    check(&Tensor::scalar(Scalar::I32(7)), "7");
    check(&dense(&[2, 2], 1..=4), "[[1 2]\n [3 4]]");
    check(&dense(&[2, 2, 1], 1..=4), "[[[1]\n  [2]]\n\n [[3]\n  [4]]]");
    for extents in [&[0][..], &[0, 3], &[3, 0]] {
        check(&dense(extents, Vec::<f64>::new()), "[]");
    }
}

#[test]
fn columns_are_rows_where_the_format_says_so() {
    let columns = format("(i, j) -> (j : dense, i : dense)", 2);
    let tensor = dense(&[2, 3], 1..=6).convert(&columns).expect("a tensor");
    check(&tensor, "[[1 2 3]\n [4 5 6]]");
}

#[test]
fn large_arrays_show_their_edges() {
    check(
        &dense(&[1001], 0..1001),
        "[   0    1    2 ...  998  999 1000]",
    );
    check(
        &dense(&[100, 20], 0..2000),
        "\
[[   0    1    2 ...   17   18   19]
 [  20   21   22 ...   37   38   39]
 [  40   41   42 ...   57   58   59]
 ...
 [1940 1941 1942 ... 1957 1958 1959]
 [1960 1961 1962 ... 1977 1978 1979]
 [1980 1981 1982 ... 1997 1998 1999]]",
    );
    // Three at each end would be 6^4 values, two are 4^4.
    let cube = dense(&[8, 8, 8, 8], 0..4096).values_text(PrintOptions::default());
    assert_eq!(
        cube.split_whitespace()
            .filter(|word| word.contains(|c: char| c.is_ascii_digit()))
            .count(),
        256
    );
    // Two at both ends of eleven modes are too many: entries are listed.
    let deep = dense(&[3; 11], 0..177_147).values_text(PrintOptions::default());
    assert_eq!(deep.lines().count(), 11);
    assert!(
        deep.ends_with("(2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2)  177146"),
        "{deep}"
    );
}

#[test]
fn rows_are_wrapped() {
    let narrow = PrintOptions {
        width: 20,
        ..PrintOptions::default()
    };
    let text = dense(&[2, 8], 100..116).values_text(narrow);
    let expect = "\
[[100 101 102 103
  104 105 106 107]
 [108 109 110 111
  112 113 114 115]]";
    assert_eq!(text, expect);
    assert!(text.lines().all(|line| line.len() <= 20));
}

#[test]
fn sparse_tensors_list_what_they_store() {
    let entries = Entries {
        extents: vec![100, 12],
        coords: vec![0, 3, 7, 11, 99, 0].into(),
        values: Array::from_vec(vec![-1.0, 22.5, 0.0]),
    };
    let options = PackOptions {
        fill: Some(Scalar::F64(f64::INFINITY)),
        ..PackOptions::default()
    };
    let csr = Tensor::pack_entries(&Format::csr(), entries, options).expect("a tensor");
    assert_eq!(
        csr.to_string(),
        "f64[100, 12], csr, 3 stored, fill inf\n  ( 0,  3)  -1.0\n  ( 7, 11)  22.5\n  (99,  0)   0.0"
    );
    let none = Tensor::pack(&Format::csr(), &[2, 2], &[], &[0.0; 0]).expect("a tensor");
    assert_eq!(none.to_string(), "f64[2, 2], csr, 0 stored");
    let vector = Tensor::pack(&Format::csf(1), &[9], &[4], &[0.5]).expect("a tensor");
    check(&vector, "  (4)  0.5");
}

/// Formats whose positions are their entries, and others.
#[test]
fn both_ends_of_long_lists_are_shown() {
    let n = 300;
    let coords: Vec<u64> = (0..n).flat_map(|i| [i, i]).collect();
    let values: Vec<f64> = (0..n).map(|i| i as f64).collect();
    let formats = [
        "csr",
        "csc",
        "coo",
        "dcsr",
        "bsr(2, 2)",
        "dia",
        "ell",
        "csr, symmetric(i, j)",
        "(i, j) -> (i : dense, j : hashed)",
        "(i, j) -> (i : dense, j : bitmap)",
        "(i, j) -> (i : dense, j : run_length)",
        "csr, lower(i, j) | csr",
    ];
    for text in formats {
        let tensor = Tensor::pack(&format(text, 2), &[n, n], &coords, &values).expect(text);
        let printed = |most_entries: usize| {
            let options = PrintOptions {
                most_entries,
                ..PrintOptions::default()
            };
            let text = tensor.values_text(options);
            let words = text
                .lines()
                .map(|line| line.split_whitespace().collect::<String>());
            words.collect::<Vec<_>>()
        };
        let whole = printed(1 << 20);
        assert_eq!(whole.len(), tensor.entries().len(), "{text}");
        for (line, (coords, value)) in whole.iter().zip(tensor.iter()) {
            assert_eq!(
                *line,
                format!("({},{}){value}", coords[0], coords[1]),
                "{text}"
            );
        }
        let cut = printed(50);
        assert_eq!(cut[..5], whole[..5], "{text}");
        assert_eq!(cut[5], "...", "{text}");
        assert_eq!(cut[6..], whole[whole.len() - 5..], "{text}");
    }
}

/// Empty slots and padding without end are given up after a while.
#[test]
fn what_stores_little_among_much_is_printed_soon() {
    let table = format("(i) -> (i : bitmap)", 1);
    let n = 1 << 24;
    let tensor =
        Tensor::pack(&table, &[n], &[5, n / 2, n - 1], &[1.0, 2.0, 3.0]).expect("a tensor");
    check(&tensor, "  (       5)  1.0\n  ...\n  (16777215)  3.0");
}

/// A list that is just too long to be printed whole shows both ends in full.
#[test]
fn lists_just_too_long_show_both_ends_in_full() {
    for text in ["csr", "dia", "csr, symmetric(i, j)"] {
        for n in 51..=60 {
            // Each is the mirror image of another, or its own.
            let across = |i: u64| [i, n - 1 - i];
            let coords: Vec<u64> = match text.contains("symmetric") {
                true => (0..n).flat_map(across).collect(),
                false => (0..n).flat_map(|i| [i, i]).collect(),
            };
            let values = vec![1.0; n as usize];
            let tensor = Tensor::pack(&format(text, 2), &[n, n], &coords, &values).expect(text);
            let printed = tensor.values_text(PrintOptions::default());
            assert_eq!(
                printed.lines().count(),
                5 + 1 + 5,
                "{n} in {text}\n{printed}"
            );
        }
    }
}

#[test]
fn any_limits_are_served() {
    let without = PrintOptions {
        width: usize::MAX,
        most_values: usize::MAX,
        edge_values: usize::MAX,
        most_entries: usize::MAX,
        edge_entries: usize::MAX,
    };
    let wide = PrintOptions {
        edge_values: usize::MAX,
        ..PrintOptions::default()
    };
    let none = PrintOptions {
        most_entries: 0,
        edge_entries: 0,
        ..PrintOptions::default()
    };
    let dense = dense(&[60, 60], 0..3600);
    assert_eq!(dense.values_text(without).lines().count(), 60);
    assert!(dense.values_text(wide).contains("..."));
    for text in ["csr", "csr, symmetric(i, j)"] {
        let tensor = Tensor::pack(&format(text, 2), &[3, 3], &[0, 1, 1, 0], &[1.0, 1.0]);
        let tensor = tensor.expect(text);
        assert_eq!(tensor.values_text(without).lines().count(), 2, "{text}");
        assert_eq!(tensor.values_text(none), "  ...", "{text}");
    }
}

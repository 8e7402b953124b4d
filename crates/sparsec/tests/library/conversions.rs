//! Conversions that end early: memory that is out, and numbers that do not fit their arrays.

use sparsec::internals::conversion::Converter;
use sparsec::{Format, FormatSpec, MemoryLimit, Options, Session, Tensor, code};
use sparsec_parallel::fault::{Fault, Strikes, inject_here};

use crate::interpreter;

/// More places than a conversion here asks for memory at.
const MANY: usize = 2000;

fn format(text: &str) -> Format {
    let spec: FormatSpec = text.parse().expect("a format");
    spec.resolve(2).expect("of order 2")
}

/// `n` rows and columns, with a diagonal and a column.
fn arrow(text: &str, n: u64) -> Tensor {
    let mut builder = Tensor::builder(text, &[n, n]).unwrap();
    builder.extend((0..n).map(|i| ([i, i], 1.0 + i as f64)));
    builder.extend((1..n).map(|i| ([i, 0], -1.0 - i as f64)));
    builder.build().unwrap()
}

/// At each place where a conversion asks for memory, it ends right or with a code, and ends
/// right the next time.
#[test]
fn memory_that_is_out_is_said() {
    let session = interpreter();
    for (from, to) in [
        ("csr", "csc"),
        ("coo", "csr"),
        ("scoo", "csr"),
        ("csr", "dia"),
        ("csr", "ell"),
        ("csr", "bsr(2, 2)"),
        ("csr", "hash"),
        ("dense", "csr"),
    ] {
        let tensor = arrow(from, 20);
        let converter = Converter::new(&tensor, &format(to)).unwrap();
        let convert = || converter.run(&session, &tensor);
        let expect = convert().unwrap();
        let mut n_refused = 0;
        for at in 0..MANY {
            let injected = inject_here(Fault::Memory, at, Strikes::Once);
            let converted = convert();
            let struck = injected.struck();
            drop(injected);
            match converted {
                Ok(tensor) => assert_eq!(tensor, expect, "{from} to {to} at {at}"),
                Err(error) => {
                    let codes = [code::KERNEL_OUT_OF_MEMORY, code::TENSOR_TOO_LARGE];
                    assert!(
                        codes.contains(&error.code()),
                        "{from} to {to} at {at}: {error}"
                    );
                    n_refused += 1;
                }
            }
            if !struck {
                break;
            }
        }
        assert!(n_refused > 2, "{from} to {to}: {n_refused}");
        assert_eq!(convert().unwrap(), expect, "{from} to {to}");
    }
}

/// Coordinates and positions that a declared width does not hold are refused by a kernel as by
/// packing, and those that just fit are not.
#[test]
fn numbers_that_do_not_fit_are_refused() {
    let session = interpreter();
    for (destination, largest) in [
        // Coordinates up to 255.
        ("csr, crd = 8", 256),
        ("csc, crd = 8", 256),
        ("scoo, crd = 8", 256),
        ("dcsr, crd = 8", 256),
        ("ell, crd = 8", 256),
        ("(i, j) -> (i : dense, j : compressed(crd = 8))", 256),
        // Positions up to 255, of as many entries: twice as many as rows, but one.
        ("csr, pos = 8", 128),
        ("csc, pos = 8", 128),
        ("dcsr, pos = 8", 128),
        // Diagonals are counted from the last row: `j - i + n - 1`.
        ("dia, crd = 8", 256),
    ] {
        let to = format(destination);
        for n in [largest, largest + 1] {
            let tensor = arrow("csr", n);
            let packed = tensor.convert(&to);
            let converter = Converter::new(&tensor, &to);
            let converted = converter.and_then(|it| it.run(&session, &tensor));
            match (packed, converted) {
                (Ok(packed), Ok(converted)) => {
                    assert_eq!(packed, converted, "{n} to {destination}");
                    assert!(n <= largest, "{n} to {destination}");
                }
                (Err(packed), Err(converted)) => {
                    assert!(n >= largest, "{n} to {destination}: {packed}");
                    for error in [packed, converted] {
                        let codes = [code::INDEX_WIDTH_OVERFLOW, code::WIDTH_OVERFLOW];
                        assert!(
                            codes.contains(&error.code()),
                            "{n} to {destination}: {error}"
                        );
                    }
                }
                (packed, converted) => {
                    panic!("{n} to {destination}: {packed:?}, but {converted:?}")
                }
            }
        }
    }
}

/// A session converts within its limit, and says how much was asked for.
#[test]
fn limits_of_memory_hold_for_conversions() {
    let within = |bytes| {
        Session::new(
            Options::from_env()
                .memory(MemoryLimit::Bytes(bytes))
                .backend(sparsec::Backend::Interpreter),
        )
    };
    let tensor = arrow("csr", 500);
    let to = format("dense");
    let refused = within(1_000_000).convert(&tensor, &to).unwrap_err();
    assert_eq!(refused.code(), code::TENSOR_TOO_LARGE);
    assert!(refused.message().contains("would take 2.0 MB"), "{refused}");
    assert!(within(2_000_000).convert(&tensor, &to).is_ok());
    // The same of the kernel.
    let converter = Converter::new(&tensor, &to).unwrap();
    let refused = converter.run(&within(1_000_000), &tensor).unwrap_err();
    assert_eq!(refused.code(), code::KERNEL_OUT_OF_MEMORY, "{refused}");
    assert!(refused.to_string().contains("2.0 MB"), "{refused}");
    assert!(converter.run(&within(8_000_000), &tensor).is_ok());
    // Without a limit of its own, it follows from the entries.
    let large = arrow("csr", 20_000);
    let refused = Converter::new(&large, &to).unwrap();
    let refused = refused.run(&interpreter(), &large).unwrap_err();
    assert_eq!(refused.code(), code::KERNEL_OUT_OF_MEMORY, "{refused}");
}

/// A conversion of one stage counts entries that the destination has no place for, too.
#[test]
fn entries_without_a_place_are_refused_by_kernels() {
    let session = interpreter();
    let tensor = arrow("csr", 6);
    for (to, holds) in [
        ("(i, j) -> (i : dense, j : dense), lower(i, j)", true),
        ("(i, j) -> (i : dense, j : dense), upper(i, j)", false),
        ("(i, j) -> (i : dense), diagonal(i, j)", false),
    ] {
        let to = format(to);
        let converter = Converter::new(&tensor, &to).expect("it is derived");
        match converter.run(&session, &tensor) {
            Ok(made) => {
                assert!(holds, "{to}");
                assert_eq!(made.convert(&format("csr")).expect("it reads back"), tensor);
            }
            Err(error) => {
                assert!(!holds, "{to}: {error}");
                assert_eq!(error.code(), code::NOT_AS_DECLARED, "{error}");
            }
        }
    }
}

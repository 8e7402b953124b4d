//! Packing, checking and slicing end soon after they are cancelled.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use sparsec_base::{Cancel, Diagnostic, code};
use sparsec_format::{Format, FormatSpec};
use sparsec_tensor::{Array, Entries, PackOptions, Tensor};

const N: u64 = 1 << 21;
const EXTENT: u64 = 1 << 40;

/// Cancels `work` when it has just begun. Packing two million entries takes a hundred times as long as
/// the pause.
fn is_cancelled(work: impl FnOnce() -> Result<Tensor, Diagnostic>) -> bool {
    let cancel = Cancel::default();
    let (begin, begun) = mpsc::channel();
    thread::scope(|scope| {
        let other = cancel.clone();
        scope.spawn(move || {
            begun.recv().expect("the work begins");
            thread::sleep(Duration::from_millis(1));
            other.set();
        });
        let ended = cancel.watch(|| {
            begin.send(()).expect("somebody waits");
            work()
        });
        ended.is_err_and(|error| error.code() == code::CANCELLED)
    })
}

/// Coordinates in no order.
fn entries(order: u64, extent: u64) -> Entries {
    let scrambled = (0..N * order).map(|n| (n + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) % extent);
    Entries {
        extents: vec![extent; order as usize],
        coords: scrambled.collect::<Vec<u64>>().into(),
        values: Array::from_vec(vec![1.0; N as usize]),
    }
}

fn packed(text: &str, entries: Entries) -> Result<Tensor, Diagnostic> {
    let spec: FormatSpec = text.parse()?;
    let format = spec.resolve(entries.order())?;
    Tensor::pack_entries(&format, entries, PackOptions::default())
}

#[test]
fn packing_ends() {
    // By keys of 32, 64 and 128 bits, by comparing, along a curve, into blocks, into tables.
    for (text, order, extent) in [
        ("csr", 2, 1 << 15),
        ("dcsr", 2, 1 << 30),
        ("dcsr", 2, EXTENT),
        ("csf", 4, EXTENT),
        ("mcoo", 2, 1 << 20),
        ("bsr(4, 4)", 2, 1 << 20),
        ("hash", 2, 1 << 20),
    ] {
        let entries = entries(order, extent);
        assert!(
            is_cancelled(|| packed(text, entries)),
            "{text} {order} {extent}"
        );
    }
}

#[test]
fn checking_and_converting_end() {
    let list = packed("coo", entries(2, 1 << 30)).unwrap();
    assert!(is_cancelled(|| list.convert(&Format::dcsr())));
    assert!(is_cancelled(|| list.slice(&[(1..).into(), (1..).into()])));
    let sorted = packed("scoo", entries(2, 1 << 30)).unwrap();
    let (format, extents) = (sorted.format().clone(), sorted.extents().to_vec());
    let (element, fill) = (sorted.element(), sorted.fill());
    let arrays = || sorted.arrays().to_vec();
    assert!(is_cancelled(|| Tensor::new(
        format,
        extents,
        element,
        fill,
        arrays()
    )));
}

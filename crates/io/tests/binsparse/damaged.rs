//! HDF5 files with damaged bytes: each is refused with a code, or read as a tensor that its arrays
//! state.

use std::collections::BTreeMap;
use std::path::Path;

use sparsec_base::code;
use sparsec_format::Format;
use sparsec_io::{read_as, write};
use sparsec_tensor::{Entries, Tensor};

use crate::refused::folder;

/// The file with some bytes changed, in each of many ways.
fn damaged(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    let n = bytes.len();
    // Metadata is dense at the beginning; arrays follow it.
    let places = (0..n).step_by(n / 150).chain(0..100.min(n));
    for (number, at) in places.enumerate() {
        let mut flipped = bytes.to_vec();
        flipped[at] ^= 1 << (number % 8);
        all.push(flipped);
        if number % 3 == 0 {
            let mut filled = bytes.to_vec();
            let end = (at + 8).min(n);
            filled[at..end].fill(if number % 2 == 0 { 0xff } else { 0 });
            all.push(filled);
        }
        if number % 5 == 0 {
            all.push(bytes[..at].to_vec());
        }
    }
    all
}

/// Whether entries lie inside of the extents, each at coordinates of its own.
fn is_whole(entries: &Entries) -> bool {
    let mut seen = BTreeMap::new();
    (0..entries.len()).all(|e| {
        let at = entries.coords(e).to_vec();
        let is_inside = at.iter().zip(&entries.extents).all(|(crd, n)| crd < n);
        is_inside && seen.insert(at, e).is_none()
    })
}

#[test]
fn damaged_files_are_refused_or_read_whole() {
    let folder = folder();
    let path = folder.path().join("a.bsp.h5");
    let coordinates = [0, 0, 1, 3, 2, 1, 2, 2, 4, 0, 4, 3];
    let values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let (mut n_refused, mut n_read) = (0, 0);
    for format in [Format::csr(), Format::scoo(2), Format::dense(2)] {
        let tensor = Tensor::pack(&format, &[5, 4], &coordinates, &values).unwrap();
        write(&path, &tensor).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        for bytes in damaged(&bytes) {
            std::fs::write(&path, &bytes).unwrap();
            let read = |path: &Path| read_as(path, None).and_then(|file| file.into_entries());
            match read(&path) {
                Ok(entries) => {
                    assert!(is_whole(&entries), "{:?}", entries.extents);
                    n_read += 1;
                }
                Err(error) => {
                    assert_ne!(error.code(), code::CANCELLED);
                    n_refused += 1;
                }
            }
        }
    }
    assert!(
        n_refused > 200 && n_read > 200,
        "{n_refused} refused, {n_read} read"
    );
}

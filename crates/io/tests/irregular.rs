//! Tensors whose positions are not their entries go to files and come back.

use sparsec_format::{FormatSpec, presets};
use sparsec_io::{read, write};
use sparsec_tensor::{PackOptions, Tensor};

#[test]
fn every_format_is_written_and_read() {
    let folder = tempfile::tempdir().unwrap();
    let coords = [0, 0, 1, 0, 1, 1, 2, 0, 2, 2, 4, 1];
    let values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let fitting = presets().iter().filter(|preset| preset.fits(2));
    let named = fitting.map(|preset| preset.text(2));
    let more = [
        "(i, j) -> (i : dense, j : run_length)",
        "(i, j) -> (i : hashed, j : loose_compressed)",
        "csr, lower(i, j), crd = 16",
        "csr, fill -1",
    ];
    for text in named.chain(more.map(str::to_owned)) {
        let format = text.parse::<FormatSpec>().unwrap().resolve(2).unwrap();
        let tensor = Tensor::pack(&format, &[5, 3], &coords, &values).unwrap();
        // Archives of ours keep the arrays; SciPy's and text keep the entries.
        let path = folder.path().join("a.npz");
        write(&path, &tensor).unwrap();
        let back = read(&path, &Default::default())
            .unwrap()
            .into_tensor(&format, PackOptions::default())
            .unwrap();
        assert_eq!(back.equal_within(&tensor, 0.0), None, "{text}");
        if !tensor.fill().is_zero() {
            continue;
        }
        for name in ["a.mtx", "a.tns"] {
            let path = folder.path().join(name);
            write(&path, &tensor).unwrap();
            let back = read(&path, &Default::default())
                .unwrap()
                .into_tensor(&format, PackOptions::default())
                .unwrap();
            let entries = (back.entries(), tensor.entries());
            assert_eq!(back.equal_within(&tensor, 0.0), None, "{name}: {text}");
            assert_eq!(entries.0.len(), entries.1.len(), "{name}: {text}");
        }
    }
}

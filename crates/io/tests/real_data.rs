//! Every file of a collection of real matrices and tensors reads as its
//! manifest says: `SPARSEC_DATA=… cargo test -p sparsec-io --test real_data`.

use std::path::Path;

use sparsec_format::Format;
use sparsec_io::{ReadOptions, Structure, read, read_as};
use sparsec_tensor::{PackOptions, Tensor};

#[test]
fn real_files_read_as_their_manifest_says() {
    let Some(folder) = std::env::var_os("SPARSEC_DATA") else {
        #[expect(clippy::print_stderr, reason = "says why nothing is tested")]
        {
            eprintln!("skipped: SPARSEC_DATA does not name a folder of real data");
        }
        return;
    };
    let folder = Path::new(&folder);
    let manifest = std::fs::read_to_string(folder.join("MANIFEST.tsv")).expect("a manifest");
    let mut lines = manifest.lines();
    let head: Vec<&str> = lines.next().expect("a head line").split('\t').collect();
    let mut read_files = 0;
    for line in lines {
        let cells: Vec<&str> = line.split('\t').collect();
        let cell = |name: &str| cells[head.iter().position(|cell| *cell == name).expect(name)];
        check(&folder.join(cell("file")), &cell);
        read_files += 1;
    }
    assert!(read_files > 0, "the manifest lists files");
}

fn check<'a>(path: &Path, cell: &impl Fn(&str) -> &'a str) {
    let extents: Vec<u64> = cell("dims")
        .split('x')
        .map(|n| n.parse().expect("a size"))
        .collect();
    let number = |name: &str| cell(name).parse::<usize>().expect("a number");
    let options = ReadOptions {
        element: None,
        extents: Some(extents.iter().copied().map(Some).collect()),
        ..ReadOptions::default()
    };
    let file = read(path, &options).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(file.extents(), extents, "{}", path.display());
    assert_eq!(file.n_stored, number("stored") as u64, "{}", path.display());
    let symmetric = file.structure == Structure::Symmetric;
    assert_eq!(symmetric, cell("symmetry") == "symmetric");
    let entries = file.into_entries().unwrap();
    assert_eq!(entries.len(), number("nnz"), "{}", path.display());

    let format = match extents.len() {
        2 => Format::csr(),
        order => Format::csf(order),
    };
    let tensor = Tensor::pack_entries(&format, entries, PackOptions::default()).unwrap();
    let list = tensor.convert(&Format::scoo(extents.len())).unwrap();
    assert_eq!(list.convert(&format).unwrap(), tensor, "{}", path.display());

    // Written and read again, nothing has changed.
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.npz", "a.bsp.npz", "a.bsp.h5"] {
        let again = folder.path().join(name);
        sparsec_io::write(&again, &tensor).unwrap();
        let back = read_as(&again, None).unwrap();
        let back = back.into_tensor(&format, PackOptions::default()).unwrap();
        assert_eq!(back, tensor, "{} as {name}", path.display());
    }
    let again = folder.path().join("a.tns");
    sparsec_io::write(&again, &list).unwrap();
    let element = Some(tensor.element());
    let back = read_as(&again, element).unwrap().into_entries().unwrap();
    assert_eq!(back.coords, list.entries().coords);
    assert_eq!(back.values, *list.vals());
}

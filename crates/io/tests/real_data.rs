//! Every file of a collection of real matrices and tensors reads as its
//! manifest says: `SPARSEC_DATA=… cargo test -p sparsec-io --test real_data`.

use std::path::Path;

use sparsec_base::ElementType;
use sparsec_format::Format;
use sparsec_io::{ReadOptions, Structure, WriteOptions, read, stage};
use sparsec_tensor::{PackOptions, Tensor};

/// Files of more entries are left to optimised tests: each is read and written a
/// dozen times, and without optimisation that takes microseconds an entry.
const MOST_ENTRIES: usize = match cfg!(debug_assertions) {
    true => 200_000,
    false => usize::MAX,
};

/// Arrays of more places are not written out.
const MOST_PLACES: u64 = 1 << 24;

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
        let n_entries: usize = cell("nnz").parse().expect("a number");
        if n_entries <= MOST_ENTRIES {
            check(&folder.join(cell("file")), &cell);
            read_files += 1;
        }
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
    let structure = file.structure;
    let symmetric = structure == Structure::Symmetric;
    let stated = cell("symmetry") == "symmetric";
    assert_eq!(symmetric, stated, "{}", path.display());
    let entries = file.into_entries().unwrap();
    assert_eq!(entries.len(), number("nnz"), "{}", path.display());

    let format = match extents.len() {
        2 => Format::csr(),
        order => Format::csf(order),
    };
    let tensor = Tensor::pack_entries(&format, entries, PackOptions::default()).unwrap();
    let list = tensor.convert(&Format::scoo(extents.len())).unwrap();
    assert_eq!(list.convert(&format).unwrap(), tensor, "{}", path.display());

    // Written to every type of text file that can hold it and read again,
    // nothing has changed.
    let folder = tempfile::tempdir().unwrap();
    let options = ReadOptions {
        element: Some(tensor.element()),
        ..ReadOptions::default()
    };
    for name in ["a.tns", "a.tns.zst", "a.tns.gz", "a.mtx", "a.mtx.zst"] {
        if name.contains("mtx") && extents.len() != 2 {
            continue;
        }
        let again = folder.path().join(name);
        let header = WriteOptions {
            states_extents: name != "a.tns",
            ..WriteOptions::default()
        };
        stage(&again, &list, &header).unwrap().commit().unwrap();
        let file = read(&again, &options).unwrap_or_else(|fault| panic!("{fault}"));
        // Lines of numbers read back as `f64`; a comment declares any other type.
        let is_declared = tensor.element() != ElementType::F64;
        assert_eq!(file.states_extents, name != "a.tns" || is_declared);
        let back = file.into_entries().unwrap();
        assert_eq!(back.coords, list.entries().coords, "{name}");
        assert_eq!(back.values, *list.vals(), "{name}");
    }
    // And of files of arrays, which keep the format too.
    for name in ["a.npz", "a.bsp.npz", "a.bsp.h5"] {
        let again = folder.path().join(name);
        stage(&again, &tensor, &WriteOptions::default())
            .unwrap()
            .commit()
            .unwrap();
        let file = read(&again, &options).unwrap_or_else(|fault| panic!("{fault}"));
        let back = file.into_tensor(&format, PackOptions::default()).unwrap();
        assert_eq!(back, tensor, "{name} of {}", path.display());
    }
    let n_places = extents
        .iter()
        .try_fold(1u64, |n, extent| n.checked_mul(*extent));
    if n_places.is_some_and(|n| n <= MOST_PLACES) {
        let again = folder.path().join("a.npy");
        let dense = tensor.convert(&Format::dense(extents.len())).unwrap();
        stage(&again, &dense, &WriteOptions::default())
            .unwrap()
            .commit()
            .unwrap();
        let file = read(&again, &options).unwrap_or_else(|fault| panic!("{fault}"));
        let back = file
            .into_tensor(dense.format(), PackOptions::default())
            .unwrap();
        assert_eq!(back, dense, "{}", path.display());
    }
    if structure == Structure::Symmetric {
        let again = folder.path().join("half.mtx");
        let half = WriteOptions {
            structure,
            ..WriteOptions::default()
        };
        stage(&again, &tensor, &half).unwrap().commit().unwrap();
        let file = read(&again, &options).unwrap_or_else(|fault| panic!("{fault}"));
        assert_eq!(file.structure, structure);
        assert_eq!(file.n_stored, number("stored") as u64);
        let back = file.into_tensor(&format, PackOptions::default()).unwrap();
        assert_eq!(back, tensor, "{}", path.display());
    }
}

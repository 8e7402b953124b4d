//! Containers that hold no Binsparse tensor, that use what is not read, or that
//! are damaged: none of them ends the process, and none makes it follow a path
//! out of the file.

use std::path::Path;

use sparsec_base::{Diagnostic, code};
use sparsec_format::Format;
use sparsec_io::npz::ArchiveWriter;
use sparsec_io::{FileTensor, read_as, write};
use sparsec_tensor::Tensor;

use crate::refused::{CSR, folder};

#[test]
fn containers_without_a_descriptor_are_refused() {
    let folder = folder();
    let path = folder.path().join("a.bsp.npz");
    let archive = ArchiveWriter::new(Vec::new());
    std::fs::write(&path, archive.finish().unwrap()).unwrap();
    assert_eq!(read_as(&path, None).unwrap_err().code(), code::NO_BINSPARSE);

    let path = folder.path().join("a.h5");
    let empty = rust_hdf5::H5File::create(&path).unwrap();
    empty.close().unwrap();
    assert_eq!(read_as(&path, None).unwrap_err().code(), code::NO_BINSPARSE);

    let several = rust_hdf5::H5File::create(&path).unwrap();
    for name in ["a", "b"] {
        let group = several.create_group(name).unwrap();
        group.set_attr_string("binsparse", CSR).unwrap();
    }
    several.close().unwrap();
    let fault = read_as(&path, None).unwrap_err();
    assert_eq!(fault.code(), code::NO_BINSPARSE);
    assert!(
        fault.to_string().contains("in the groups `a`, `b`"),
        "{fault}"
    );
}

#[test]
fn a_group_is_named_after_its_file() {
    let folder = folder();
    let path = folder.path().join("All.H5");
    let file = rust_hdf5::H5File::create(&path).unwrap();
    for (name, value) in [("web", 2.0), ("road", 3.0)] {
        let group = file.create_group(name).unwrap();
        group.set_attr_string("binsparse", CSR).unwrap();
        let index = |name, numbers: &[i32]| {
            let dataset = group.new_dataset::<i32>().shape([numbers.len()]);
            dataset.create(name).unwrap().write_raw(numbers).unwrap();
        };
        index("pointers_to_1", &[0, 1, 1, 3, 3]);
        index("indices_1", &[1, 0, 4]);
        let values = group.new_dataset::<f64>().shape([3]);
        let values = values.create("values").unwrap();
        values.write_raw(&[value; 3]).unwrap();
    }
    file.close().unwrap();
    let of = |group: &str| {
        let path = format!("{}:{group}", path.display());
        read_as(Path::new(&path), None)
    };
    for (group, value) in [("web", 2.0), ("/road/", 3.0)] {
        let found = of(group).unwrap().into_entries().unwrap();
        assert_eq!(found.values.slice::<f64>(), [value; 3]);
    }
    let fault = of("sea").unwrap_err();
    assert_eq!(fault.code(), code::NO_BINSPARSE);
    assert!(fault.to_string().contains("`road`, `web`"), "{fault}");
    let fault = read_as(&path, None).unwrap_err().to_string();
    assert!(fault.contains("All.H5:road`"), "{fault}");
    // Only whole files are written.
    let tensor = Tensor::dense(&[1], [1.0]).unwrap();
    let part = folder.path().join("All.H5:web");
    let fault = write(&part, &tensor).unwrap_err();
    assert_eq!(fault.code(), code::NOT_EXPRESSIBLE_IN_FILE, "{fault}");
}

/// Writes the three arrays of [`CSR`] with the values as `values` makes them.
fn hdf5(path: &Path, values: impl FnOnce(&rust_hdf5::H5File)) {
    let file = rust_hdf5::H5File::create(path).unwrap();
    file.set_attr_string("binsparse", CSR).unwrap();
    for (name, numbers) in [
        ("pointers_to_1", vec![0, 1, 1, 3, 3]),
        ("indices_1", vec![1, 0, 4]),
    ] {
        let dataset = file
            .new_dataset::<i32>()
            .shape([numbers.len()])
            .create(name)
            .unwrap();
        dataset.write_raw(&numbers).unwrap();
    }
    values(&file);
    file.close().unwrap();
}

#[test]
fn hdf5_beyond_what_is_read_is_named() {
    let folder = folder();
    let path = folder.path().join("a.h5");
    let check = |expect: &str| {
        let fault = read_as(&path, None).unwrap_err();
        assert_eq!(fault.code(), code::BAD_HDF5, "{fault}");
        assert!(fault.to_string().contains(expect), "{fault}");
    };
    std::fs::write(&path, "%%MatrixMarket").unwrap();
    check("is no HDF5 file");
    hdf5(&path, |file| {
        let dataset = file
            .new_dataset::<f64>()
            .shape([1, 3])
            .create("values")
            .unwrap();
        dataset.write_raw(&[2.0, 3.0, 5.0]).unwrap();
    });
    check("`values` has 2 extents, not one");
    hdf5(&path, |file| {
        drop(file.write_vlen_strings("values", &["2", "3", "5"]).unwrap())
    });
    check("neither integers nor floats");
    hdf5(&path, |file| {
        file.create_external_link("values", "other.h5", "values")
            .unwrap()
    });
    check("`values` is a link to somewhere else");
    hdf5(&path, |file| {
        let dataset = file.new_dataset::<f64>().shape([3]);
        dataset
            .external(&[("/etc/passwd", 0, 24)])
            .create("values")
            .unwrap();
    });
    check("the data of `values` lies in other files");
    hdf5(&path, |file| {
        let dataset = file.new_dataset::<f64>().shape([1 << 40]).chunk(&[1 << 10]);
        dataset.max_shape(&[None]).create("values").unwrap();
    });
    check("`values` claims 1099511627776 numbers, more than a file of");
}

/// A small pseudo-random stream, the same on every machine.
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// Reads damaged variants of a file; each is a tensor or a diagnostic.
fn damage(name: &str, bytes: &[u8]) {
    let folder = folder();
    let path = folder.path().join(name);
    let attempt = |bytes: &[u8]| -> Result<FileTensor, Diagnostic> {
        std::fs::write(&path, bytes).unwrap();
        read_as(&path, None)
    };
    for length in (0..bytes.len()).step_by(bytes.len() / 200 + 1) {
        assert!(
            attempt(&bytes[..length]).is_err(),
            "{length} bytes of {}",
            bytes.len()
        );
    }
    let mut state = 0x9E37_79B9_7F4A_7C15;
    for _ in 0..400 {
        let mut damaged = bytes.to_vec();
        for _ in 0..1 + next(&mut state) % 4 {
            let at = (next(&mut state) % bytes.len() as u64) as usize;
            damaged[at] = next(&mut state) as u8;
        }
        // Damage of values alone goes unnoticed in HDF5, which has no checksum of them.
        drop(attempt(&damaged));
    }
}

#[test]
fn damaged_files_are_refused_or_read() {
    let tensor = Tensor::pack(
        &Format::dcsr(),
        &[4, 5],
        &[0, 1, 2, 0, 2, 4],
        &[2.0, 3.0, 5.0],
    );
    let tensor = tensor.unwrap();
    let folder = folder();
    for name in ["a.bsp.npz", "a.bsp.h5"] {
        let path = folder.path().join(name);
        write(&path, &tensor).unwrap();
        damage(name, &std::fs::read(&path).unwrap());
    }
    let path = folder.path().join("deflated.h5");
    hdf5(&path, |file| {
        let dataset = file
            .new_dataset::<f64>()
            .shape([3])
            .chunk(&[2])
            .shuffle_deflate(6);
        dataset
            .max_shape(&[None])
            .create("values")
            .unwrap()
            .write_raw(&[2.0, 3.0, 5.0])
            .unwrap();
    });
    read_as(&path, None).unwrap();
    damage("deflated.h5", &std::fs::read(&path).unwrap());
}

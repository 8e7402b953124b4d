//! Faults of the system at every place that writes a file: a full disk, a short write, a
//! signal, a link and a rename that the system refuses.
//!
//! ```text
//! create   write … write   link   rename
//!    ✗                                      the file is whole, or as it was before
//!           ✗                               with a code, and no temporary file stays
//! ```

use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use sparsec_base::{Result, code};
use sparsec_io::{Output, Staged, Structure, WriteOptions, read, stage};
use sparsec_parallel::fault::{Fault, Strikes, inject};
use sparsec_tensor::{Format, PackOptions, Tensor};

/// A fault strikes the whole process, so one test runs at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// More places than writing one of the files passes.
const MANY: usize = 2000;

const WAYS: [(Fault, Strikes); 9] = [
    (Fault::Disk, Strikes::Once),
    (Fault::Disk, Strikes::FromThenOn),
    (Fault::Link, Strikes::Once),
    (Fault::Link, Strikes::FromThenOn),
    (Fault::Rename, Strikes::Once),
    (Fault::Rename, Strikes::FromThenOn),
    (Fault::ShortWrite, Strikes::Once),
    (Fault::ShortWrite, Strikes::FromThenOn),
    // A signal in every call would let nothing go on.
    (Fault::Signal, Strikes::Once),
];

const OLD: &[u8] = b"the older file";

/// Writes a file with the fault at its first place, then at its second, and so on. It
/// returns how many places there are, and at how many of them the write was refused.
fn walk(
    (fault, how): (Fault, Strikes),
    target: &Path,
    has_old: bool,
    write: &dyn Fn(&Path) -> Result<()>,
    check: &dyn Fn(&Path),
) -> (usize, usize) {
    let folder = target.parent().unwrap();
    let mut n_refused = 0;
    for at in 0..MANY {
        let _ = fs::remove_file(target);
        if has_old {
            fs::write(target, OLD).unwrap();
        }
        let injected = inject(fault, at, how);
        let written = write(target);
        let struck = injected.struck();
        drop(injected);
        let names = fs::read_dir(folder).unwrap();
        let names: Vec<_> = names.map(|entry| entry.unwrap().path()).collect();
        match written {
            Ok(()) => {
                assert_eq!(names, [target], "{fault:?} at {at}");
                check(target);
            }
            Err(error) => {
                assert_eq!(error.code(), code::CANNOT_WRITE_FILE, "{error}");
                assert!(error.to_string().contains("unchanged"), "{error}");
                let kept = fs::read(target).ok();
                assert_eq!(kept.as_deref(), has_old.then_some(OLD), "{fault:?} at {at}");
                assert_eq!(names.len(), usize::from(has_old), "{fault:?}: {names:?}");
                n_refused += 1;
            }
        }
        if !struck {
            return (at, n_refused);
        }
    }
    panic!("{fault:?} strikes at more than {MANY} places");
}

/// A matrix whose text has several times the bytes that are written at once.
fn matrix() -> Tensor {
    const N: u64 = 5000;
    let coords: Vec<u64> = (0..N).flat_map(|e| [e / 50, e % 50 * 3]).collect();
    let values: Vec<f64> = (0..N).map(|e| (e as f64).sqrt()).collect();
    Tensor::pack(&Format::csr(), &[100, 148], &coords, &values).unwrap()
}

#[test]
fn a_refused_write_leaves_the_older_file_and_nothing_else() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let tensor = matrix();
    let options = WriteOptions {
        structure: Structure::General,
        states_extents: true,
    };
    let write = |path: &Path| stage(path, &tensor, &options).and_then(Staged::commit);
    let check = |path: &Path| {
        let found = read(path, &Default::default()).unwrap();
        let back = found.into_tensor(tensor.format(), PackOptions::default());
        assert_eq!(back.unwrap(), tensor);
    };
    for name in ["a.tns", "a.tns.gz", "a.mtx.zst", "a.npz", "a.bsp.npz"] {
        let target = folder.path().join(name);
        // Where the system has files without names, a new name is a link, and only an
        // older file is renamed over.
        let way = (Fault::Link, Strikes::Once);
        let links = walk(way, &target, false, &write, &check).0 > 0;
        for way in WAYS {
            for has_old in [false, true] {
                let (n_places, n_refused) = walk(way, &target, has_old, &write, &check);
                let (least, refuses) = match way.0 {
                    Fault::Disk => (3, true),
                    Fault::Rename => (usize::from(has_old), has_old || !links),
                    // Without links, the writer copies the content.
                    Fault::Link => (usize::from(links), false),
                    _ => (2, false),
                };
                assert!(n_places >= least, "{name}, {way:?}: {n_places} places");
                assert_eq!(n_refused > 0, refuses, "{name}, {way:?}, old: {has_old}");
            }
        }
        fs::remove_file(&target).unwrap();
    }
}

#[test]
fn a_refused_rename_leaves_the_older_file_where_a_library_writes() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let tensor = matrix();
    let options = WriteOptions::default();
    let target = folder.path().join("a.bsp.h5");
    let write = |path: &Path| stage(path, &tensor, &options).and_then(Staged::commit);
    let check = |path: &Path| {
        let found = read(path, &Default::default()).unwrap();
        let back = found.into_tensor(tensor.format(), PackOptions::default());
        assert_eq!(back.unwrap(), tensor);
    };
    for fault in [Fault::Disk, Fault::Rename] {
        for has_old in [false, true] {
            let way = (fault, Strikes::Once);
            let refused = walk(way, &target, has_old, &write, &check);
            // The library opens and writes the file itself: we create and rename it.
            assert_eq!(refused, (1, 1), "{fault:?}");
        }
    }
}

#[test]
fn a_plot_is_whole_or_as_it_was() {
    use std::io::Write as _;
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let bytes = vec![7; 100_000];
    let write = |path: &Path| {
        let content = |output: &mut Output| output.write_all(&bytes);
        Output::stage(path, sparsec_io::Compression::None, content).and_then(Staged::commit)
    };
    let check = |path: &Path| assert_eq!(fs::read(path).unwrap(), bytes);
    for way in WAYS {
        walk(way, &folder.path().join("a.png"), true, &write, &check);
    }
}

#[test]
fn a_full_disk_is_a_diagnostic() {
    // Faults that other tests inject strike every thread.
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let full = Path::new("/dev/full");
    if !full.exists() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let vector = Tensor::pack(&Format::dense(1), &[2], &[0, 1], &[1.0, 2.0]).unwrap();
    for name in ["y.tns", "y.npz", "y.h5"] {
        let path = folder.path().join(name);
        std::os::unix::fs::symlink(full, &path).unwrap();
        let fault = sparsec_io::write(&path, &vector).unwrap_err();
        assert_eq!(fault.code(), code::CANNOT_WRITE_FILE, "{fault}");
        let message = format!("cannot write `{}`: No space left", path.display());
        assert!(fault.message().starts_with(&message), "{fault}");
    }
}

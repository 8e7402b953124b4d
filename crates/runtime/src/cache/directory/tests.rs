use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use tempfile::TempDir;

use super::*;

/// Opens a directory, which is refused for a reason that holds `expect`, unless that is
/// empty.
fn check(path: &Path, expect: &str) {
    match (Directory::open(path), expect) {
        (Ok(_), "") => {}
        (Err(Unusable::NotPrivate(why)), _) if !expect.is_empty() => {
            assert!(why.contains(expect), "{why}");
        }
        (opened, _) => panic!("{}: {opened:?}, not {expect:?}", path.display()),
    }
}

fn set(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Gives a file or a link to another user, which only the superuser may.
fn give_away(path: &Path) -> bool {
    std::os::unix::fs::lchown(path, Some(4242), None).is_ok()
}

#[test]
fn what_others_could_write_to_is_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("above/cache");
    let above = folder.path().join("above");
    check(&path, "");
    for made in [&path, &above] {
        assert_eq!(fs::metadata(made).unwrap().mode() & 0o777, 0o700);
    }
    set(&path, 0o755);
    check(&path, "");
    for mode in [0o777, 0o770, 0o702] {
        set(&path, mode);
        check(&path, &format!("mode {mode:o}"));
    }
    set(&path, 0o700);
    // Nor may others exchange it, nor any directory that it is in.
    for above in [&above, folder.path()] {
        for mode in [0o777, 0o775, 0o702] {
            set(above, mode);
            check(
                &path,
                &format!("rename what is in {} (mode {mode:o})", above.display()),
            );
        }
        for mode in [0o1777, 0o755, 0o711] {
            set(above, mode);
            check(&path, "");
        }
    }
}

#[test]
fn what_belongs_to_another_is_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("above/cache");
    check(&path, "");
    if !give_away(&path) {
        return;
    }
    check(&path, "it belongs to another user (number 4242");
    fs::remove_dir(&path).unwrap();
    check(&path, "");
    let above = folder.path().join("above");
    give_away(&above);
    check(&path, "above belongs to another user (number 4242");
}

#[test]
fn links_are_followed_where_nobody_else_can_turn_them() {
    let folder = TempDir::new().unwrap();
    let real = folder.path().join("real");
    fs::create_dir(&real).unwrap();
    let link = folder.path().join("link");
    symlink("./real/../real", &link).unwrap();
    check(&link.join("cache"), "");
    let opened = Directory::open(&link.join("cache")).unwrap();
    let folder_path = folder.path().canonicalize().unwrap();
    assert_eq!(opened.path(), folder_path.join("real/cache"));

    let round = folder.path().join("round");
    symlink(&round, &round).unwrap();
    let error = Directory::open(&round).unwrap_err();
    assert!(matches!(error, Unusable::Failed(_)), "{error}");
    // The directories that a link leads through are checked as well.
    let open = folder.path().join("open");
    fs::create_dir_all(open.join("inner")).unwrap();
    set(&open, 0o777);
    let through = folder.path().join("through");
    symlink(open.join("inner"), &through).unwrap();
    check(&through, "open (mode 777)");
    if give_away(&link) {
        check(&link.join("cache"), "link belongs to another user");
    }
}

#[test]
fn what_is_opened_stays_whatever_is_renamed_above() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("above/cache");
    let directory = Arc::new(Directory::open(&path).unwrap());
    fs::rename(folder.path().join("above"), folder.path().join("moved")).unwrap();
    // Another one in its place gets nothing.
    fs::create_dir_all(&path).unwrap();
    let work = directory.work().unwrap();
    work.write("a.txt", b"a").unwrap();
    directory.put(&work, "a.txt", &["b", "c"], "d.txt").unwrap();
    assert!(folder.path().join("moved/cache/b/c/d.txt").exists());
    assert_eq!(fs::read_dir(&path).unwrap().count(), 0);
    assert!(directory.is_there());
    fs::remove_dir_all(folder.path().join("moved")).unwrap();
    assert!(!directory.is_there());
}

#[test]
fn what_is_no_file_or_folder_of_ours_is_refused() {
    let folder = TempDir::new().unwrap();
    let directory = Directory::open(folder.path()).unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("file"), b"text").unwrap();
    fs::create_dir(path("folder")).unwrap();
    let opens = |name: &str| directory.folder.open(name).is_ok();
    let enters = |name: &str| directory.folder.folder(name).is_ok();
    assert!(opens("file") && !enters("file"));
    assert!(enters("folder") && !opens("folder"));
    symlink("file", path("file-link")).unwrap();
    symlink("folder", path("folder-link")).unwrap();
    assert!(!opens("file-link") && !enters("folder-link"));
    // Nobody writes to it, and nobody is waited for.
    let made = std::process::Command::new("mkfifo")
        .arg(path("fifo"))
        .status();
    assert!(made.unwrap().success());
    assert!(!opens("fifo") && !enters("fifo") && directory.folder.append("fifo").is_err());
    for mode in [0o666, 0o620] {
        set(&path("file"), mode);
        set(&path("folder"), mode | 0o111);
        assert!(!opens("file") && !enters("folder"));
    }
    set(&path("file"), 0o644);
    assert!(opens("file"));
    if give_away(&path("file")) {
        assert!(!opens("file"));
    }
    // All of it can be removed, and what links lead to stays.
    let elsewhere = TempDir::new().unwrap();
    fs::write(elsewhere.path().join("kept"), b"text").unwrap();
    symlink(elsewhere.path(), path("away")).unwrap();
    directory.folder.empty().unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    assert!(elsewhere.path().join("kept").exists());
}

#[test]
fn temporary_directories_are_private_wherever_they_are_and_go() {
    let folder = TempDir::new().unwrap();
    set(folder.path(), 0o777);
    let directory = Arc::new(Directory::temporary(folder.path()).unwrap());
    let path = directory.path().to_owned();
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
    directory
        .keep_compiler(crate::key::KeyBuilder::new("a").finish(), "text")
        .unwrap();
    // Others may move the cache; the directory in its place is not ours to remove.
    let moved = folder.path().join("moved");
    fs::rename(&path, &moved).unwrap();
    fs::create_dir(&path).unwrap();
    fs::write(path.join("theirs"), b"text").unwrap();
    drop(directory);
    assert!(path.join("theirs").exists());
    assert_eq!(fs::read_dir(moved).unwrap().count(), 0);
    let path = Directory::temporary(folder.path())
        .unwrap()
        .path()
        .to_owned();
    assert!(!path.exists());
}

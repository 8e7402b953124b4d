//! What `sparsec doctor` finds, and a kernel cache that is not trusted.

use crate::place::Place;

#[test]
fn doctor_tries_every_backend() {
    let place = Place::new();
    let answer = place.call(&["doctor"]).answer();
    assert_eq!(answer.matches("works").count(), 3, "{answer}");
    let broken = place
        .command(&["doctor"])
        .env("SPARSEC_CC", "/no/such/cc")
        .output();
    let broken = broken.expect("the program");
    assert_eq!(broken.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&broken.stderr).contains("error[E0501]"));
}

#[test]
fn a_cache_that_others_can_exchange_is_not_used_and_doctor_says_so() {
    let place = Place::new();
    let open = place.path().join("open");
    std::fs::create_dir(&open).expect("a directory");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o775);
    std::fs::set_permissions(&open, mode).expect("its owner may");
    let call = |words: &[&str]| {
        let mut command = place.command(words);
        let output = command
            .env("SPARSEC_CACHE_DIR", open.join("cache"))
            .output();
        output.expect("the program")
    };
    let doctor = call(&["doctor"]);
    let answer = String::from_utf8_lossy(&doctor.stdout);
    assert_eq!(doctor.status.code(), Some(0), "kernels run all the same");
    assert_eq!(answer.matches("works").count(), 3, "{answer}");
    let why = format!("other users may rename what is in {}", open.display());
    assert!(answer.contains("kernels are not kept on disk"), "{answer}");
    assert!(
        answer.contains(&why) && answer.contains("(mode 775)"),
        "{answer}"
    );
    let refused = call(&["cache", "path"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("error[E0505]"));
}

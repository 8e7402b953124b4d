//! Rayon's pools of the program around us stay its own.
//!
//! There is one test, because a process makes its global pool once.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rayon::ThreadPoolBuilder;
use sparsec_parallel::{Pool, join, map, set_threads, threads};

/// The names of the threads that a map runs on.
fn names() -> Vec<String> {
    let work = |_| {
        std::thread::sleep(Duration::from_millis(1));
        let thread = std::thread::current();
        thread.name().unwrap_or("nameless").to_owned()
    };
    let mut names = map((0..60).collect(), work);
    names.sort();
    names.dedup();
    names
}

fn are_ours(names: &[String]) -> bool {
    names.iter().all(|name| name.starts_with("sparsec-"))
}

#[test]
fn pools_of_the_program_are_left_alone() {
    assert!(set_threads(2) && !set_threads(5));
    assert!(are_ours(&names()));

    // The program still makes the global pool, of as many threads as it likes.
    let global = ThreadPoolBuilder::new().num_threads(3);
    global.build_global().expect("nobody made it");
    assert_eq!((rayon::current_num_threads(), threads()), (3, 2));

    // A thread of another pool waits, and runs nothing meanwhile.
    let host = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let n_ran = AtomicUsize::new(0);
    let lock = Mutex::new(());
    host.scope(|scope| {
        scope.spawn(|scope| {
            let held = lock.lock().unwrap();
            scope.spawn(|_| {
                // If this ran while the work around it waits, it would never end.
                drop(lock.lock().unwrap());
                n_ran.fetch_add(1, Ordering::Relaxed);
            });
            assert_eq!(threads(), 2);
            assert!(are_ours(&names()));
            assert_eq!(
                Pool::new(3).run(|| (threads(), names().len() > 1)),
                (3, true)
            );
            assert_eq!(join(|| 1, || 2), (1, 2));
            assert_eq!(n_ran.load(Ordering::Relaxed), 0);
            drop(held);
        });
    });
    assert_eq!(n_ran.into_inner(), 1);

    // The caller gets the panic.
    let panics = || map(vec![1, 2], |number| assert_eq!(number, 1, "not one"));
    let caught = host.install(|| std::panic::catch_unwind(|| drop(panics())));
    assert!(caught.is_err());
}

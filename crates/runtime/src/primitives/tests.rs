use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sparsec_parallel::fault::{Fault, Strikes, inject_here};
use sparsec_parallel::with_threads;

use super::*;

/// Runs `n` chunks of `body` on four threads, as a kernel does; the status.
fn run(body: Body, captured: *const c_void, n: i64) -> i32 {
    let captured = Captured(captured);
    with_threads(4, || {
        let mut state = State::default();
        let mut context = state.context();
        // SAFETY: the context is that of a state that is there, and bodies here use what
        // they are given as they should.
        unsafe { (context.chunks)(&raw mut context, body, captured.pointer(), 0, n) }
    })
}

/// The last chunk fails at once. The second waits for that, asks for its turn, and fails
/// by itself.
unsafe extern "C" fn fails_late(
    context: *mut RawContext,
    captured: *const c_void,
    _: *mut c_void,
    chunk: i64,
) -> i32 {
    // SAFETY: the test captures a counter.
    let failed = unsafe { &*captured.cast::<AtomicUsize>() };
    if chunk == 3 {
        failed.fetch_add(1, Ordering::Release);
        return Failure::NegativePower.status();
    }
    while chunk == 1 && failed.load(Ordering::Acquire) == 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    if chunk == 1 {
        // The line has to know of it as well.
        std::thread::sleep(Duration::from_millis(20));
    }
    // SAFETY: the context is the one of this chunk.
    match unsafe { ((*context).turn)(context) } {
        0 if chunk == 1 => Failure::DivisionByZero.status(),
        status => status,
    }
}

#[test]
fn the_first_chunk_that_fails_is_reported_though_another_failed_before_it() {
    for _ in 0..5 {
        let failed = AtomicUsize::new(0);
        let status = run(fails_late, (&raw const failed).cast(), 4);
        assert_eq!(status, Failure::DivisionByZero.status());
    }
}

#[test]
fn a_sort_that_panics_ends_the_kernel_and_the_panic_is_kept() {
    let injected = inject_here(Fault::Panic, 0, Strikes::Once);
    let mut state = State::default();
    let mut context = state.context();
    let mut entries = [3i64, 1, 2];
    // SAFETY: the context is that of a state that is there, the entries are three.
    let status = unsafe { (context.sort_i64)(&raw mut context, entries.as_mut_ptr(), 3) };
    assert!(status != 0 && injected.struck());
    let panic = state.take_panic().expect("it is kept");
    assert_eq!(panic.downcast_ref(), Some(&"a sort panics"));
    // SAFETY: as above.
    let status = unsafe { (context.sort_i64)(&raw mut context, entries.as_mut_ptr(), 3) };
    assert_eq!((status, entries), (0, [1, 2, 3]));
    assert!(state.take_panic().is_none());
}

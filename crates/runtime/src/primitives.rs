//! What kernels call: room for arrays, workspaces, sorting, chunks.
//!
//! A growing array begins on the heap with a few kilobytes. When that is not
//! enough it moves once, to a reservation of addresses as large as the machine's
//! memory, and never again: pages are committed when the kernel first touches
//! them, and what was not needed is given back at the end. The kernel is told
//! twice the room that it has each time, so that it asks rarely, and so that
//! memory which is about to run out is noticed here, as an error, rather than
//! by the system, which would end the process.
//!
//! Kernels call these functions, and no panic may unwind through the frames of a kernel. So
//! a panic is caught and ends the kernel as if memory were out. When the kernel has
//! returned, the panic resumes in the thread that launched it.

#![allow(unsafe_code)]

use std::any::Any;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sparsec_base::Cancel;
use sparsec_loop::{Buffer, Failure};
use sparsec_parallel::memory::physical_bytes;
use sparsec_parallel::{Memory, MemoryLimit, chunks as chunks_in_parallel, threads};

use crate::abi::{Body, RawArray, RawContext};
use crate::failure::Shortage;
use crate::line::Line;
use crate::sort::{Scratch, sort, sort_pairs as sort_along};

// SAFETY: the address says which array it is; whoever runs in its turn, or launched
// the kernel, follows it, and nobody else meanwhile.
unsafe impl Send for Growing {}

/// What one launch has given to its kernel.
#[derive(Default)]
pub(crate) struct State {
    /// The state that it shares with the units of the launch.
    shared: Arc<Shared>,
    /// Freed when the launch is over.
    workspaces: Vec<Memory>,
    scratch: Scratch,
    /// Whether anybody still waits.
    cancel: Cancel,
    /// How much memory there may be.
    memory: MemoryLimit,
    /// What units have that ran chunks.
    units: Vec<Unit>,
    /// Where a unit stands among those that wait for their turn.
    place: Option<Place>,
    /// The last request that was refused.
    shortage: Option<Shortage>,
}

/// The state that all units of a launch share.
#[derive(Default)]
struct Shared {
    /// The arrays that may grow.
    growing: Mutex<Vec<Growing>>,
    /// How many bytes are taken.
    taken: AtomicU64,
    /// The first panic, which resumes once the kernel has returned.
    panic: Mutex<Option<Panic>>,
}

/// The payload of a panic.
type Panic = Box<dyn Any + Send>;

/// A chunk, and the line in which chunks wait for their turn.
struct Place {
    line: Arc<Line>,
    chunk: usize,
    /// Whether it has passed its turn on.
    has_passed: bool,
    /// Whether it gave up because a chunk before it failed, whose error is reported.
    gave_up: bool,
}

/// An array that may grow.
pub(crate) struct Growing {
    /// The address that the kernel knows it by.
    pub(crate) array: *mut RawArray,
    pub(crate) buffer: Buffer,
    pub(crate) memory: Memory,
}

impl State {
    /// Nothing given yet; `taken` bytes the result has already.
    pub(crate) fn new(memory: MemoryLimit, taken: u64, cancel: &Cancel) -> Self {
        Self {
            cancel: cancel.clone(),
            memory,
            shared: Arc::new(Shared {
                taken: AtomicU64::new(taken),
                ..Shared::default()
            }),
            ..Self::default()
        }
    }

    /// Lets the kernel grow an array.
    pub(crate) fn may_grow(&mut self, array: Growing) {
        self.growing().push(array);
    }

    /// What there was no memory for, if that happened.
    pub(crate) fn shortage(&self) -> Option<Shortage> {
        self.shortage
    }

    /// The memory of the arrays that could grow, in the order in which they came.
    pub(crate) fn into_memories(self) -> impl Iterator<Item = Memory> {
        let growing = std::mem::take(&mut *self.growing());
        growing.into_iter().map(|growing| growing.memory)
    }

    fn growing(&self) -> MutexGuard<'_, Vec<Growing>> {
        locked(&self.shared.growing)
    }

    /// The panic that ended the kernel, if one did.
    pub(crate) fn take_panic(&self) -> Option<Panic> {
        locked(&self.shared.panic).take()
    }

    /// The context to hand to the kernel; valid as long as `self` stays.
    pub(crate) fn context(&mut self) -> RawContext {
        RawContext {
            state: std::ptr::from_mut(self).cast(),
            grow,
            workspace,
            sort_i32,
            sort_i64,
            sort_pairs,
            chunks,
            turn,
            pass,
            cancelled: self.cancel.as_ptr(),
        }
    }

    /// Makes room for at least `entries` entries in `raw`, which the kernel
    /// knows by the address `array`.
    fn grow(
        &mut self,
        array: *mut RawArray,
        raw: &mut RawArray,
        entries: i64,
        size: i64,
    ) -> Option<()> {
        let place = self.place.as_mut();
        let shared = Arc::clone(&self.shared);
        let mut growing = locked(&shared.growing);
        let known = |growing: &&mut Growing| growing.array == array;
        let Growing { memory, buffer, .. } = growing.iter_mut().find(known)?;
        self.shortage = Some(Shortage::of(Some(*buffer), entries, size).within(self.memory));
        let size = usize::try_from(size).ok()?;
        let old = usize::try_from(raw.capacity).ok()? * size;
        let least = usize::try_from(entries).ok()?.checked_mul(size)?;
        // Twice as much, or all that is there, if that is enough for now.
        let twice = least.max(old.checked_mul(2)?);
        let there = memory.capacity() / size * size;
        let there = Some(there).filter(|there| (least..twice).contains(there));
        let wanted = there.unwrap_or(twice);
        // The entries so far move along if the memory has to move.
        memory.set_len(old);
        let room = [wanted, least].into_iter().find(|&bytes| {
            let more = bytes.saturating_sub(old) as u64;
            let taken = shared.taken.load(Ordering::Relaxed);
            !self.memory.forbids(bytes as u64) && self.memory.can_give(taken, more)
        })?;
        if room > memory.capacity() {
            // It may move, where chunks before still write.
            let may_move = place.is_none_or(|place| {
                place.gave_up = !place.line.wait_for_ends(place.chunk);
                !place.gave_up
            });
            let machine = usize::try_from(physical_bytes()).ok()?;
            may_move.then(|| memory.reach(room, machine).ok())??;
        }
        raw.data = memory.as_mut_ptr().cast();
        raw.capacity = i64::try_from(room / size).ok()?;
        let more = room.saturating_sub(old) as u64;
        shared.taken.fetch_add(more, Ordering::Relaxed);
        self.shortage = None;
        Some(())
    }

    fn workspace(&mut self, entries: i64, size: i64) -> Option<*mut c_void> {
        self.shortage = Some(Shortage::of(None, entries, size).within(self.memory));
        let bytes = usize::try_from(entries)
            .ok()?
            .checked_mul(usize::try_from(size).ok()?)?;
        let taken = self.shared.taken.load(Ordering::Relaxed);
        if !self.memory.can_give(taken, bytes as u64) {
            return None;
        }
        let mut memory = Memory::zeroed(bytes).ok()?;
        self.shared.taken.fetch_add(bytes as u64, Ordering::Relaxed);
        let data = memory.as_mut_ptr();
        self.workspaces.push(memory);
        self.shortage = None;
        Some(data.cast())
    }
}

/// What runs chunks one after another: its own state, and its own memory.
struct Unit {
    state: State,
    own: Memory,
}

/// The units of a launch, of which each is used by one thread at a time.
struct Units(Vec<*mut Unit>);

// SAFETY: whoever runs as a unit has it alone, and captured pointers lead to what
// the kernel divided among its chunks.
unsafe impl Sync for Units {}

impl Units {
    fn get(&self, unit: usize) -> *mut Unit {
        self.0[unit]
    }
}

/// What a kernel captured, for all chunks to read.
struct Captured(*const c_void);

// SAFETY: chunks only read it, and it outlives them.
unsafe impl Sync for Captured {}

impl Captured {
    fn pointer(&self) -> *const c_void {
        self.0
    }
}

/// Why a chunk failed.
struct Failed {
    status: i32,
    shortage: Option<Shortage>,
}

impl State {
    /// Makes `n` units, each with `own_size` bytes of its own; `None` if there is no
    /// memory.
    fn units(&mut self, n: usize, own_size: usize) -> Option<Units> {
        while self.units.len() < n {
            self.units.push(Unit {
                state: Self {
                    cancel: self.cancel.clone(),
                    memory: self.memory,
                    shared: Arc::clone(&self.shared),
                    ..Self::default()
                },
                own: Memory::zeroed(own_size).ok()?,
            });
        }
        for unit in self.units.iter_mut().take(n) {
            // Where chunks before had nothing of their own.
            if unit.own.len() < own_size {
                unit.own = Memory::zeroed(own_size).ok()?;
            }
        }
        let units = self.units.iter_mut().take(n);
        Some(Units(units.map(std::ptr::from_mut).collect()))
    }

    /// Runs `n` chunks on the threads that there are.
    ///
    /// # Safety
    /// `body` must be that of the kernel that this state is for, with what it
    /// captured.
    unsafe fn chunks(
        &mut self,
        body: Body,
        captured: *const c_void,
        own_size: i64,
        n: i64,
    ) -> Option<i32> {
        let n = usize::try_from(n).unwrap_or(0);
        let units = if n <= 1 { n } else { threads().min(n) };
        let units = self.units(units, usize::try_from(own_size).ok()?)?;
        let captured = Captured(captured);
        let line = Arc::new(Line::default());
        let ended = chunks_in_parallel(n, |unit, chunk| {
            // SAFETY: this thread has the unit alone while it runs chunks as that.
            let unit = unsafe { &mut *units.get(unit) };
            if unit.state.cancel.is_set() {
                line.end(chunk, false, false);
                return Err(Failed {
                    status: Failure::Cancelled.status(),
                    shortage: None,
                });
            }
            let own = unit.own.as_mut_ptr();
            unit.state.place = Some(Place {
                line: Arc::clone(&line),
                chunk,
                has_passed: false,
                gave_up: false,
            });
            let mut context = unit.state.context();
            // SAFETY: as this function demands; the unit's memory is as large as the
            // kernel said.
            let status =
                unsafe { body(&mut context, captured.pointer(), own.cast(), chunk as i64) };
            let place = unit.state.place.take();
            let has_passed = place.as_ref().is_some_and(|place| place.has_passed);
            line.end(chunk, status == 0, has_passed);
            match status {
                0 => Ok(()),
                _ if place.is_some_and(|place| place.gave_up) => Ok(()),
                status => Err(Failed {
                    status,
                    shortage: unit.state.shortage,
                }),
            }
        });
        Some(match ended {
            Ok(()) => 0,
            Err(failed) => {
                self.shortage = failed.shortage;
                failed.status
            }
        })
    }
}

/// Runs `body` with the state behind a context. If it panics, keeps the panic for the
/// launch and returns `failed`, which ends the kernel.
///
/// # Safety
/// `context` must come from [`State::context`] of a state that is still there,
/// and no other reference to that state may be in use.
unsafe fn guarded<T>(context: *mut RawContext, failed: T, body: impl FnOnce(&mut State) -> T) -> T {
    // SAFETY: as this function demands.
    let state = unsafe { &mut *(*context).state.cast::<State>() };
    catch_unwind(AssertUnwindSafe(|| body(state))).unwrap_or_else(|panic| {
        locked(&state.shared.panic).get_or_insert(panic);
        failed
    })
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The status of a kernel that a panic ended. The panic is reported in its place.
fn panicked() -> i32 {
    Failure::OutOfMemory.status()
}

/// # Safety
/// Called by a kernel with the context of its launch and an array of it.
unsafe extern "C" fn grow(
    context: *mut RawContext,
    array: *mut RawArray,
    entries: i64,
    entry_size: i64,
) -> *mut c_void {
    let body = |state: &mut State| {
        // SAFETY: the array is one that the launch gave to the kernel.
        let raw = unsafe { &mut *array };
        match state.grow(array, raw, entries, entry_size) {
            Some(()) => raw.data,
            None => std::ptr::null_mut(),
        }
    };
    // SAFETY: the launch holds its state by raw pointer alone while the kernel runs,
    // and a kernel, or a unit of it, runs in one thread.
    unsafe { guarded(context, std::ptr::null_mut(), body) }
}

/// # Safety
/// Called by a kernel with the context of its launch.
unsafe extern "C" fn workspace(
    context: *mut RawContext,
    entries: i64,
    entry_size: i64,
) -> *mut c_void {
    let body = |state: &mut State| {
        let given = state.workspace(entries, entry_size);
        given.unwrap_or(std::ptr::null_mut())
    };
    // SAFETY: as in `grow`.
    unsafe { guarded(context, std::ptr::null_mut(), body) }
}

/// # Safety
/// Called by a kernel with the context of its launch and entries that it may write.
unsafe extern "C" fn sort_i32(context: *mut RawContext, data: *mut i32, count: i64) -> i32 {
    let body = |state: &mut State| {
        // SAFETY: the kernel owns these entries, and all are initialised.
        let entries = unsafe { entries(data, count) };
        sort(entries, &mut state.scratch.narrow);
        0
    };
    // SAFETY: as in `grow`.
    unsafe { guarded(context, panicked(), body) }
}

/// # Safety
/// As [`sort_i32`].
unsafe extern "C" fn sort_i64(context: *mut RawContext, data: *mut i64, count: i64) -> i32 {
    let body = |state: &mut State| {
        // SAFETY: as in `sort_i32`.
        let entries = unsafe { entries(data, count) };
        sort(entries, &mut state.scratch.wide);
        0
    };
    // SAFETY: as in `grow`.
    unsafe { guarded(context, panicked(), body) }
}

/// # Safety
/// As [`sort_i32`], of both arrays.
unsafe extern "C" fn sort_pairs(
    context: *mut RawContext,
    data: *mut i64,
    along: *mut i64,
    count: i64,
) -> i32 {
    let body = |state: &mut State| {
        // SAFETY: as in `sort_i32`; the arrays are two.
        let (data, along) = unsafe { (entries(data, count), entries(along, count)) };
        sort_along(data, along, &mut state.scratch);
        0
    };
    // SAFETY: as in `grow`.
    unsafe { guarded(context, panicked(), body) }
}

/// # Safety
/// Called by a kernel with the context of its launch, one of its bodies and what
/// that captured.
unsafe extern "C" fn chunks(
    context: *mut RawContext,
    run: Body,
    captured: *const c_void,
    own_size: i64,
    n: i64,
) -> i32 {
    let body = |state: &mut State| {
        // SAFETY: as this function demands.
        let ended = unsafe { state.chunks(run, captured, own_size, n) };
        ended.unwrap_or(Failure::OutOfMemory.status())
    };
    // SAFETY: as in `grow`: the kernel waits for its chunks, and their contexts lead to
    // other states.
    unsafe { guarded(context, panicked(), body) }
}

/// # Safety
/// Called by a chunk of a kernel with the context that it was given.
unsafe extern "C" fn turn(context: *mut RawContext) -> i32 {
    let body = |state: &mut State| {
        let Some(place) = &mut state.place else {
            return 0;
        };
        place.gave_up = !place.line.wait(place.chunk);
        match place.gave_up {
            // The chunk ends, and its status is not looked at.
            true => Failure::OutOfMemory.status(),
            false => 0,
        }
    };
    // SAFETY: as in `grow`.
    unsafe { guarded(context, panicked(), body) }
}

/// # Safety
/// As [`turn`], behind it.
unsafe extern "C" fn pass(context: *mut RawContext) {
    let body = |state: &mut State| {
        if let Some(place) = &mut state.place {
            place.line.pass(place.chunk);
            place.has_passed = true;
        }
    };
    // SAFETY: as in `grow`.
    unsafe { guarded(context, (), body) }
}

/// # Safety
/// `data` must point to `count` initialised entries that nobody else uses,
/// unless `count` is not positive.
unsafe fn entries<'e, T>(data: *mut T, count: i64) -> &'e mut [T] {
    match usize::try_from(count) {
        // SAFETY: as this function demands; the pointer of an array is never null.
        Ok(count) if count > 0 => unsafe { std::slice::from_raw_parts_mut(data, count) },
        _ => &mut [],
    }
}

#[cfg(test)]
mod tests;

//! What conversions take, for those who choose: the planner between schedules, a session between a
//! kernel and packing.
//!
//! ```text
//! costs.txt     csr -> csc | arrays | steps …, streams …, random …      formulas of pairs of formats
//!                                     │ entries, extents
//!                                     ▼
//!                     nanoseconds of the kernel + those of making it, or of packing
//! ```
//!
//! `costs.txt` has the formulas of pairs that plans often ask for, as
//! [`Conversion::cost`](super::Conversion::cost) derives them: a test makes it again and compares. Those of
//! other pairs are derived when a plan asks, which takes some milliseconds, and kept. A plan asks only of
//! tensors for which packing takes longer than making a kernel, or it would wait for nothing.
//!
//! A pair has the formulas of the pair in which modes have other numbers: `csc` to `csr` those of `csr`
//! to `csc`, with `N0` for `N1`. The table has the pair whose source meets its modes in their order.
//!
//! Planning compares bytes moved. A nanosecond is as much as [`BYTES`] of them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use sparsec_base::{ElementType, Recent, Source};
use sparsec_computation::cost::{Figures, Work, value};
use sparsec_format::LevelKind;
use sparsec_relation::{Expression, remembering};
use sparsec_tensor::Format;

use super::{Optimisation, Types, names, synthesized};
use crate::memory::least_bytes;

/// The formulas of pairs of formats, a line each.
const TABLE: &str = include_str!("costs.txt");

/// How many nanoseconds an entry takes to be unpacked, sorted and packed.
/// Source: 2,000,000 entries between `csr`, `csc`, `scoo`, `dcsr`, `bsr(4, 4)` and `ell`, 30 to 50.
const PACKING: f64 = 40.0;

/// What it takes to make a kernel of a conversion of matrices, in nanoseconds: to synthesize
/// and to lower it, and to generate its machine code. Each further mode takes three times as long.
/// Source: `sparsec bench convert/all --backend cranelift`, the quartiles 10, 15 and 25 ms between
/// lists, rows, columns, blocks and slots, and 18, 34 and 49 ms between all formats; 39, 66 and 113 ms
/// between lists and trees of three modes.
const MAKING: f64 = 20e6;

/// The bytes that a sweep moves in a nanosecond.
const BYTES: f64 = 3.2;

/// What a conversion takes, in nanoseconds: for a step, for a byte in order, for a byte of a new array,
/// which the system clears, and for an access that misses the cache.
/// Source: 1,000,000 entries of ten a row on one thread. `csr` to `csc` took 10 ns an entry, `scoo` to
/// `csr` 3, `dcsr` to `csr` 4, `coo` to `csc` 22, `csr` to `dcsc` 17 and to `hash` 19: these are within
/// a factor of two.
const STEP: f64 = 0.5;
const STREAMED: f64 = 0.06;
const MADE: f64 = 0.2;
const MISSED: f64 = 4.0;

/// The bytes of memory that arrays may take, and how many nanoseconds each further byte takes, which
/// lies on a disk at best. Sources: a small server; a disk of 100 MB/s.
const MEMORY: f64 = (16u64 << 30) as f64;
const SWAPPED: f64 = 10.0;

/// The bytes that a cache holds.
const CACHE: f64 = (1u64 << 20) as f64;

/// The extent of a mode of which nothing is known.
const UNKNOWN_EXTENT: f64 = 10_000.0;

/// About how many bytes are moved by storing a tensor of about `n_stored` entries in another
/// format: by a derived conversion and by making its kernel, or by packing if that is less.
///
/// Time: some microseconds.
///
/// ```
/// use sparsec::internals::conversion::bytes_moved;
/// use sparsec::Format;
/// let moved = |n: f64| bytes_moved(&Format::csr(), &Format::csc(), &[Some(1_000_000); 2], n) / n;
/// assert!(moved(1e8) < moved(1e5));
/// ```
pub fn bytes_moved(from: &Format, to: &Format, extents: &[Option<u64>], n_stored: f64) -> f64 {
    Known::default().bytes_moved(from, to, extents, n_stored)
}

/// The formulas of the pairs that a plan has asked for: it asks many times for few of them.
#[derive(Default)]
pub(crate) struct Known {
    /// By the format that is converted, and by that it is converted to.
    pairs: RefCell<HashMap<Format, HashMap<Format, Formulas>>>,
}

/// The bytes of a pair's arrays and its work, if there is a conversion.
type Formulas = Option<Arc<(Expression, Work)>>;

impl Known {
    /// As [`bytes_moved`].
    pub(crate) fn bytes_moved(
        &self,
        from: &Format,
        to: &Format,
        extents: &[Option<u64>],
        n_stored: f64,
    ) -> f64 {
        let arrays = arrays(to, extents);
        let (packing, making) = (packing(n_stored) + arrays, making(extents.len()));
        if packing <= making {
            return packing * BYTES;
        }
        let kernel = self.kernel([from, to], extents, n_stored);
        let kernel = kernel.map_or(f64::INFINITY, |kernel| kernel + making);
        packing.min(kernel).max(arrays) * BYTES
    }

    /// How many nanoseconds the kernel of a conversion takes, if there is one.
    fn kernel(&self, formats: [&Format; 2], extents: &[Option<u64>], n_stored: f64) -> Option<f64> {
        let formulas = self.formulas(formats)?;
        let of = |name: &str| figure(formats, extents, n_stored, name);
        nanoseconds(&formulas.0, &formulas.1, &of)
    }

    fn formulas(&self, [from, to]: [&Format; 2]) -> Formulas {
        let mut pairs = self.pairs.borrow_mut();
        if let Some(found) = pairs.get(from).and_then(|of| of.get(to)) {
            return found.clone();
        }
        let found = formulas(from, to)
            .map(Arc::new)
            .or_else(|| derived(from, to));
        let of = pairs.entry(from.clone()).or_default();
        of.insert(to.clone(), found.clone());
        found
    }
}

/// How many nanoseconds the arrays take that a format has however few entries it stores: positions
/// over the extents of dense levels.
fn arrays(format: &Format, extents: &[Option<u64>]) -> f64 {
    if extents.len() != format.order() {
        return 0.0;
    }
    let known = extents.iter();
    let known: Vec<u64> = known
        .map(|extent| extent.unwrap_or(UNKNOWN_EXTENT as u64))
        .collect();
    let bytes = least_bytes(format, &known, ElementType::F64) as f64;
    bytes * MADE + (bytes - MEMORY).max(0.0) * SWAPPED
}

/// How many nanoseconds packing takes.
pub(crate) fn packing(n_stored: f64) -> f64 {
    n_stored * PACKING
}

/// How many nanoseconds it takes to make a kernel for tensors of an order.
pub(crate) fn making(order: usize) -> f64 {
    let n_more_modes = order.saturating_sub(2);
    MAKING * f64::powi(3.0, i32::try_from(n_more_modes).unwrap_or(i32::MAX))
}

/// How many nanoseconds work takes that makes arrays of so many bytes, for figures with these names.
pub(crate) fn nanoseconds(
    arrays: &Expression,
    work: &Work,
    of: &dyn Fn(&str) -> Option<f64>,
) -> Option<f64> {
    let made = value(arrays, of)?;
    let Figures {
        steps,
        streams,
        misses,
        ..
    } = work.figures(of, CACHE)?;
    Some(steps * STEP + streams * STREAMED + misses * MISSED + made * MADE)
}

/// The bytes of a pair's arrays and its work, if the table has them.
pub(super) fn formulas(from: &Format, to: &Format) -> Option<(Expression, Work)> {
    let modes = met(from);
    let pair = pair(&from.with_modes_moved(&modes), &to.with_modes_moved(&modes));
    let mut lines = TABLE.lines();
    let line = lines.find_map(|line| line.strip_prefix(&pair)?.strip_prefix(" | "))?;
    let (arrays, work) = line.split_once(" | ")?;
    let arrays = Expression::parse(&Source::new("costs", moved(arrays, &modes))).ok()?;
    Some((arrays, moved(work, &modes).parse().ok()?))
}

/// The formulas of pairs that the table lacks, by the pair; those that were asked for of late.
static DERIVED: LazyLock<Mutex<Recent<String, Formulas>>> =
    LazyLock::new(|| Mutex::new(Recent::new(MOST_DERIVED)));

/// How many pairs are kept.
const MOST_DERIVED: usize = 256;

/// The formulas of a pair, derived for index arrays of 32 bits as those of the table are.
fn derived(from: &Format, to: &Format) -> Formulas {
    let pair = pair(from, to);
    let lock = || DERIVED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = lock().get(&pair) {
        return found;
    }
    let mut types = Types::new();
    for name in names(from, "A").into_iter().chain(names(to, "B")) {
        if name.contains("_pos") || name.contains("_crd") {
            types.insert(name, ElementType::I32);
        }
    }
    let made = remembering(|| {
        let made = synthesized(from, to, ElementType::F64, &types)?;
        made.cost(Optimisation::All, &|_| true)
    });
    let made = made.ok();
    let formulas = made.map(|cost| Arc::new((cost.arrays.clone(), cost.total())));
    lock().keep(pair, formulas)
}

/// The modes of a format in the order in which its levels meet them.
fn met(format: &Format) -> Vec<usize> {
    let mut modes: Vec<usize> = Vec::new();
    let parts = format.parts();
    let levels = parts.iter().flat_map(|part| part.levels());
    let of_levels = levels.flat_map(|level| level.coordinate.mode());
    for mode in of_levels.chain(0..format.order()) {
        if !modes.contains(&mode) {
            modes.push(mode);
        }
    }
    modes
}

/// A formula with the extents of the modes that modes of the table stand for.
fn moved(formula: &str, modes: &[usize]) -> String {
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = formula;
    let mut text = String::with_capacity(formula.len());
    while !rest.is_empty() {
        let end = rest.find(|c| !is_of_name(c)).unwrap_or(rest.len());
        let (name, behind) = rest.split_at(end);
        let mode = name
            .strip_prefix('N')
            .and_then(|mode| mode.parse::<usize>().ok());
        match mode.and_then(|mode| modes.get(mode)) {
            Some(mode) => text.push_str(&format!("N{mode}")),
            None => text.push_str(name),
        }
        let end = behind.find(is_of_name).unwrap_or(behind.len());
        text.push_str(&behind[..end]);
        rest = &behind[end..];
    }
    text
}

/// A pair of formats as the table has it.
fn pair(from: &Format, to: &Format) -> String {
    format!("{} -> {}", from.arrangement(), to.arrangement())
}

/// About what a name in the formulas of a pair is.
pub(crate) fn figure(
    [from, to]: [&Format; 2],
    extents: &[Option<u64>],
    n_stored: f64,
    name: &str,
) -> Option<f64> {
    let extent = |extent: Option<u64>| extent.map_or(UNKNOWN_EXTENT, |it| it as f64);
    if let Some(mode) = name
        .strip_prefix('N')
        .and_then(|it| it.parse::<usize>().ok())
    {
        return extents.get(mode).map(|it| extent(*it));
    }
    let (side, rest) = name.split_once('_')?;
    let format = match side {
        "A" => from,
        "B" => to,
        // A list of the source's entries.
        "L" | "T" => return rest.starts_with("NZ").then_some(n_stored),
        _ => return None,
    };
    let levels = format.level_extents(extents);
    if let Some(level) = rest
        .strip_prefix('L')
        .and_then(|it| it.parse::<usize>().ok())
    {
        return levels.get(level).map(|it| extent(*it));
    }
    let (role, _) = rest.split_once('_')?;
    let level: usize = role.strip_prefix("pos")?.parse().ok()?;
    // A run stores places between its entries.
    let kinds = || format.levels().iter().map(|level| level.kind);
    if level >= levels.len()
        || format.parts().len() != 1
        || kinds().any(|kind| kind == LevelKind::Range)
    {
        return None;
    }
    if format.chain_end(level) + 1 == levels.len() {
        return Some(n_stored);
    }
    // As many as there can be, of which few are left out.
    let places: f64 = levels[..=level].iter().map(|it| extent(*it)).product();
    Some(places.min(n_stored))
}

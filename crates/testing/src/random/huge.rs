//! Programs over huge extents: operands of few entries, and loops over what is
//! stored alone.
//!
//! ```text
//! small      { (1, 3): 2, (4, 0): 5 }           extents 5 and 5
//! huge       { (2^33/5 + 1, …): 2, … }          the same entries, spread over 2^33
//! ```
//!
//! The dense oracle would never end, so that for sparse operands is asked. A
//! program whose loops go over a whole extent is left out.

use sparsec::internals::index::concrete::Stmt;
use sparsec::internals::{Compiled, CompiledStatement};
use sparsec_format::{Format, Level};
use sparsec_graph::{Lattice, Operands, Scope, space};
use sparsec_plan::Plan;
use sparsec_tensor::{Coords, Entries};

/// The extent of a huge mode.
pub(crate) const EXTENT: u64 = 1 << 33;

/// What a huge mode has where entries are drawn.
const SMALL: u64 = 5;

/// More points than this the oracle does not visit.
pub(crate) const MOST_POINTS: u64 = 1 << 20;

/// Extents from which on a mode is huge.
pub(crate) const FROM: u64 = 1 << 20;

/// Formats for huge operands and results, with their order: nothing in them is as
/// large as an extent.
const FORMATS: [(usize, &str); 19] = [
    (0, "dense"),
    (1, "(i) -> (i : compressed)"),
    (1, "(i) -> (i : hashed)"),
    (1, "(i) -> (i : loose_compressed)"),
    (1, "(i) -> (i floordiv 3 : compressed, i mod 3 : dense)"),
    (1, "(i) -> (0 - i : compressed)"),
    (2, "dcsr"),
    (2, "dcsc"),
    (2, "coo"),
    (2, "scoo"),
    (2, "(i, j) -> (i : compressed, j : hashed)"),
    (2, "(i, j) -> (j : hashed, i : compressed)"),
    (2, "(i, j) -> (0 - j : compressed, i : compressed)"),
    (2, "(i, j) -> (j - i : compressed, i : compressed)"),
    (
        2,
        "(i, j) -> (i floordiv 4 : compressed, j floordiv 2 : compressed, i mod 4 : dense, j mod 2 : bitmap)",
    ),
    (
        3,
        "(i, j, k) -> (i : compressed, j : compressed, k : compressed)",
    ),
    (
        3,
        "(i, j, k) -> (k : compressed, i : compressed, j : compressed)",
    ),
    (
        3,
        "(i, j, k) -> (j : compressed, k : hashed, i : compressed)",
    ),
    (3, "coo"),
];

/// One of the formats.
pub(crate) fn format(order: usize, pick: u64) -> String {
    let fitting: Vec<&str> = FORMATS
        .iter()
        .filter(|(fits, _)| *fits == order)
        .map(|(_, text)| *text)
        .collect();
    fitting[pick as usize % fitting.len()].to_owned()
}

/// Extents to draw entries in.
pub(crate) fn drawn(extents: &[u64]) -> Vec<u64> {
    let small = |extent: &u64| if *extent < FROM { *extent } else { SMALL };
    extents.iter().map(small).collect()
}

/// Entries that were drawn in small extents, spread over these.
pub(crate) fn spread(entries: &mut Entries, extents: &[u64]) {
    let mut coords = Coords::default();
    for (tuple, _) in entries.iter() {
        for (coord, extent) in tuple.iter().zip(extents) {
            coords.push(match *extent < FROM {
                true => coord,
                false => coord * (extent / SMALL) + coord % 2,
            });
        }
    }
    entries.coords = coords;
    entries.extents = extents.to_vec();
}

/// Whether some loop goes over a whole huge extent, or some result has its size.
pub(crate) fn visits_everything(compiled: &Compiled) -> bool {
    let mut statements = compiled.statements().iter();
    statements.any(|statement| {
        let Plan {
            concrete,
            formats,
            converts_result,
            ..
        } = &statement.plan;
        let extents = &concrete.tensors[concrete.result].extents;
        let is_whole = |level: &Level| {
            let extent = level.coordinate.mode().and_then(|mode| extents[mode]);
            level.is_full() && extent.is_some_and(|extent| extent >= FROM)
        };
        let results = converts_result.iter().chain([formats.of(concrete.result)]);
        results.flat_map(Format::levels).any(is_whole) || goes_over_all(statement, &concrete.stmt)
    })
}

fn goes_over_all(statement: &CompiledStatement, stmt: &Stmt) -> bool {
    let plan = &statement.plan;
    let over_all = |stmt: &Stmt| goes_over_all(statement, stmt);
    match stmt {
        Stmt::Assign { .. } => false,
        Stmt::Where { consumer, producer } => over_all(consumer) || over_all(producer),
        Stmt::Sequence(stmts) => stmts.iter().any(over_all),
        Stmt::Forall { var, body } => {
            let operands = Operands::of(&plan.concrete);
            let scope = Scope {
                concrete: &plan.concrete,
                formats: &plan.formats,
                operands: &operands,
            };
            let lattice = Lattice::of(&space(scope, body, *var));
            let extent = plan.concrete.vars[*var].extent;
            lattice.everything && extent.is_none_or(|extent| extent >= FROM) || over_all(body)
        }
    }
}

//! Whether a kernel stores values of entries that may not come.
//!
//! ```text
//! vals[p] = x   p += 1                         the entry is there
//!
//! fill vals[p * n..(p + 1) * n], 0.0           a row is cleared before it is known whether
//! … if stored { crd[p] = i   p += 1 }          anything comes: behind the last entry, too
//! ```
//!
//! While arrays grow there is room for that; where values are as many as entries, there is not.
//! Chunks that append to where entries belong if all of them come are such kernels as well.

use std::collections::{HashMap, HashSet};

use crate::ir::{Block, Buffer, Expr, Function, Stmt, Var};
use crate::walk::for_each_stmt;

/// Whether some value is stored, or filled, at a place that counts entries, and the entry is not
/// counted wherever that is done.
pub(super) fn stores_ahead(function: &Function, values: &HashSet<Buffer>) -> bool {
    let mut counters = HashSet::new();
    let mut is_ahead = false;
    for_each_stmt(&function.body, &mut |stmt| match stmt {
        Stmt::Assign { var, value } if value.reads(*var) => _ = counters.insert(*var),
        Stmt::For { mark, body, .. } if mark.chunks => is_ahead |= stores_in_place(body),
        _ => {}
    });
    let mut finder = Finder {
        values,
        counted: counters
            .into_iter()
            .map(|var| (var, HashSet::from([var])))
            .collect(),
        is_ahead,
    };
    finder.block(&function.body, &HashSet::new());
    finder.is_ahead
}

/// Whether chunks append to the arrays themselves: with pieces, they pass their turn on before
/// they copy these.
fn stores_in_place(chunk: &Block) -> bool {
    chunk.contains(&Stmt::Turn) && !chunk.contains(&Stmt::Pass)
}

struct Finder<'f> {
    values: &'f HashSet<Buffer>,
    /// The counters that variables are computed from.
    counted: HashMap<Var, HashSet<Var>>,
    is_ahead: bool,
}

impl Finder<'_> {
    /// Looks at a block behind which `certain` are counted in any case.
    fn block(&mut self, block: &Block, certain: &HashSet<Var>) {
        for (at, stmt) in block.iter().enumerate() {
            let one_more = block[at + 1..].iter().filter_map(|stmt| match stmt {
                Stmt::Assign { var, value } if *value == Expr::Var(*var).add(1) => Some(*var),
                _ => None,
            });
            let certain: HashSet<Var> = certain.iter().copied().chain(one_more).collect();
            match stmt {
                Stmt::Declare { var, value } => {
                    let counters = self.counters(value);
                    self.counted.entry(*var).or_default().extend(counters);
                }
                Stmt::Store { buffer, index, .. } => self.store(*buffer, index, &certain),
                Stmt::Fill { buffer, lo, .. } => self.store(*buffer, lo, &certain),
                _ => {}
            }
            for inner in stmt.blocks() {
                self.block(inner, &certain);
            }
        }
    }

    fn store(&mut self, buffer: Buffer, place: &Expr, certain: &HashSet<Var>) {
        let is_value = self.values.contains(&buffer);
        self.is_ahead |= is_value && !self.counters(place).is_subset(certain);
    }

    fn counters(&self, expr: &Expr) -> HashSet<Var> {
        let mut found = HashSet::new();
        expr.any(&mut |part| {
            if let Expr::Var(var) = part {
                found.extend(self.counted.get(var).into_iter().flatten());
            }
            false
        });
        found
    }
}

#[cfg(test)]
mod tests {
    use sparsec_base::Source;

    use crate::Function;
    use crate::passes::slice_values;

    /// One loop with pieces says nothing of another without.
    #[test]
    fn chunks_are_asked_loop_by_loop() {
        let is_sliced = |chunks: &str| {
            let result = "out y \"(i) -> (i : compressed)\" {
                extent n, grow y0.pos: i64, grow y0.crd: i64, grow y.vals: f64 }";
            let resized = "resize y0.pos, 2 resize y0.crd, 0 resize y.vals, 0";
            let text = format!("fn f({result}) {{ {chunks} {resized} }}");
            let function = Function::parse(&Source::new("f", &text)).expect("a function");
            slice_values(&function).is_some()
        };
        let pieces = "for c in 0..2 chunks { turn pass }";
        let in_place = "for d in 0..2 chunks { turn }";
        assert!(is_sliced(pieces));
        assert!(!is_sliced(in_place));
        assert!(!is_sliced(&format!("{pieces} {in_place}")));
    }
}

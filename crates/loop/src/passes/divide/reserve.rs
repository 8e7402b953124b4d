//! Where the entries of a chunk begin, where that is known before they are counted.
//!
//! ```text
//! for i in 0..n {
//!   for p in B.pos[i]..B.pos[i + 1] { crd[q] = j   vals[q] = …   q += 1 }
//! }
//! ```
//!
//! Below row `i` there are at most `B.pos[i] - B.pos[0]` entries: as many as the loops
//! around `q += 1` have turns. Chunks then store where their entries belong if all of
//! them come; a chunk before which some did not come moves its own back.
//!
//! That pays where entries are dropped only because nothing is below them, which the stored
//! entries of operands seldom are. Rows of a dense level often are empty, and loops that choose
//! among entries may drop any: these have no bound here.
//!
//! **Room.** A chunk has room for one entry each time that `q` may be counted, so it
//! stores to place `q` only inside of the loop where that happens, and before.

use std::collections::{BTreeMap, HashMap, HashSet};

use sparsec_base::Scalar;

use super::append::inlined;
use crate::ir::{Access, BinaryOp, Block, Buffer, Expr, Function, Stmt, Var};
use crate::passes::simplify::simplified;
use crate::walk::for_each_stmt;

/// At most how many entries the iterations before one append, by what counts them.
#[derive(Debug)]
pub(super) struct Reserved {
    /// The variable of the loop.
    var: Var,
    /// A function of it, of which differences are the numbers of entries.
    turns: BTreeMap<Var, Expr>,
}

impl Reserved {
    /// Whether it is known of this counter.
    pub(super) fn counts(&self, counter: Var) -> bool {
        self.turns.contains_key(&counter)
    }

    /// At most how many entries of `counter` come from iteration `lo` on, before `hi`.
    pub(super) fn between(&self, counter: Var, lo: &Expr, hi: &Expr) -> Expr {
        let turns = &self.turns[&counter];
        let at = |place: &Expr| with(turns, self.var, place);
        at(hi).binary(BinaryOp::Sub, at(lo))
    }
}

/// An array that a loop appends to: what counts its entries, and how long it is by that.
pub(super) type Lengths = BTreeMap<Buffer, (Var, Expr)>;

/// What the iterations of a loop over `body` append at most to arrays of these lengths;
/// `None` if that is not known, or is likely to be more than what they do.
pub(super) fn of(
    function: &Function,
    (var, lo): (Var, &Expr),
    body: &Block,
    lengths: &Lengths,
) -> Option<Reserved> {
    let inside = Inside::of(function, body);
    let mut scan = Scan {
        function,
        inside: &inside,
        lengths,
        known: HashMap::new(),
        around: Vec::new(),
        is_stored: lo.loads(),
        is_certain: true,
        is_sure: true,
        loose: HashSet::new(),
        counted: BTreeMap::new(),
        rooms: Vec::new(),
        stores: Vec::new(),
    };
    scan.block(body)?;
    let counters: HashSet<Var> = lengths.values().map(|(counter, _)| *counter).collect();
    let all_known = counters.iter().all(|it| scan.counted.contains_key(it));
    let fit = scan.stores.iter().all(|store| scan.fits(store));
    if !all_known || !fit {
        return None;
    }
    let turns = scan.counted.iter().map(|(&counter, around)| {
        let turns = inside.turns(var, around)?;
        Some((counter, turns))
    });
    let turns = turns.collect::<Option<_>>()?;
    Some(Reserved { var, turns })
}

/// A loop inside, with its bounds as functions of the loops around it.
#[derive(Clone, Debug, PartialEq)]
struct Around {
    var: Var,
    lo: Expr,
    hi: Expr,
}

/// An array at a place of the text.
struct Store {
    buffer: Buffer,
    /// How many loops are around it.
    around: Vec<Var>,
    /// The counters that were counted before.
    behind: Vec<Var>,
    /// Whether its place is the counter's itself, or there was room made for the entry.
    is_of_entry: bool,
}

/// Goes through the body in the order of its text.
struct Scan<'f> {
    function: &'f Function,
    inside: &'f Inside<'f>,
    lengths: &'f Lengths,
    /// What variables are that do not change.
    known: HashMap<Var, Expr>,
    around: Vec<Around>,
    /// Whether the innermost loop goes through entries that are stored.
    is_stored: bool,
    /// Whether this place is reached in each turn of it.
    is_certain: bool,
    /// Whether this place is reached wherever entries are likely to come.
    is_sure: bool,
    /// Flags that are set at other places too.
    loose: HashSet<Var>,
    /// The loops around where a counter is counted.
    counted: BTreeMap<Var, Vec<Around>>,
    /// Room made for one entry more of an array, in these loops.
    rooms: Vec<(Buffer, Vec<Var>)>,
    stores: Vec<Store>,
}

impl Scan<'_> {
    fn block(&mut self, block: &Block) -> Option<()> {
        block.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Option<()> {
        match stmt {
            Stmt::Declare { var, value } if !self.function.vars[*var].mutable => {
                let value = self.inlined(value);
                self.known.insert(*var, value);
            }
            Stmt::Declare { var, value } if !matches!(value, Expr::Const(_)) => {
                self.loose.insert(*var);
            }
            Stmt::Assign { var, value } if self.is_counter(*var) => {
                let one_more = *value == Expr::Var(*var).add(1);
                let is_first = !self.counted.contains_key(var);
                let is_likely = self.is_sure && (self.is_certain || self.is_stored);
                (one_more && is_first && is_likely).then_some(())?;
                self.counted.insert(*var, self.around.clone());
            }
            Stmt::Assign { var, value }
                if !self.is_sure || *value != Expr::Const(Scalar::Bool(true)) =>
            {
                self.loose.insert(*var);
            }
            Stmt::Store { buffer, index, .. } => self.store(*buffer, Some(index)),
            Stmt::Fill { buffer, .. } => self.store(*buffer, None),
            Stmt::Grow { buffer, len } => {
                if let Some((counter, length)) = self.lengths.get(buffer) {
                    let next = with(length, *counter, &Expr::Var(*counter).add(1));
                    if self.is_same(&self.inlined(len), &next) {
                        self.rooms.push((*buffer, self.loops()));
                    }
                }
            }
            Stmt::For {
                var, lo, hi, body, ..
            } => {
                let (lo, hi) = (self.inlined(lo), self.inlined(hi));
                let outside = (self.is_stored, self.is_certain);
                (self.is_stored, self.is_certain) = (lo.loads(), true);
                self.around.push(Around { var: *var, lo, hi });
                self.block(body)?;
                self.around.pop();
                (self.is_stored, self.is_certain) = outside;
            }
            Stmt::If {
                condition,
                then,
                otherwise,
            } => {
                let before = (self.is_sure, self.is_certain);
                self.is_sure &= self.is_likely(condition);
                self.is_certain &= self.is_fixed(condition);
                self.block(then)?;
                self.is_sure = false;
                self.block(otherwise)?;
                (self.is_sure, self.is_certain) = before;
            }
            Stmt::While { body, .. } => {
                let before = std::mem::replace(&mut self.is_sure, false);
                self.block(body)?;
                self.is_sure = before;
            }
            _ => {}
        }
        Some(())
    }

    fn is_counter(&self, var: Var) -> bool {
        let mut counters = self.lengths.values();
        counters.any(|(counter, _)| *counter == var)
    }

    fn inlined(&self, expr: &Expr) -> Expr {
        simplified(self.function, &inlined(expr, &self.known))
    }

    fn is_same(&self, left: &Expr, right: &Expr) -> bool {
        simplified(self.function, left) == simplified(self.function, right)
    }

    fn loops(&self) -> Vec<Var> {
        self.around.iter().map(|around| around.var).collect()
    }

    /// Whether a condition is the same in all iterations: it drops all entries, or none.
    fn is_fixed(&self, condition: &Expr) -> bool {
        // As it stands: a counter that is compared with what it was is not itself.
        let known = inlined(condition, &self.known);
        !known.loads() && !self.inside.vars.iter().any(|var| known.reads(*var))
    }

    /// Whether a condition asks for no more than whether something is below an entry:
    /// flags that all loops below set, and counters that counted.
    fn is_likely(&self, condition: &Expr) -> bool {
        match condition {
            _ if self.is_fixed(condition) => true,
            Expr::Var(flag) => !self.loose.contains(flag) && !self.known.contains_key(flag),
            Expr::Binary(BinaryOp::Lt, start, counter) => match (self.inlined(start), &**counter) {
                (Expr::Var(start), Expr::Var(counter)) => {
                    start == *counter && self.is_counter(start)
                }
                _ => false,
            },
            _ => false,
        }
    }

    fn store(&mut self, buffer: Buffer, index: Option<&Expr>) {
        let Some((_, length)) = self.lengths.get(&buffer) else {
            return;
        };
        let around = self.loops();
        let has_room =
            |(of, there): &(Buffer, Vec<Var>)| *of == buffer && around.starts_with(there);
        let is_exact = index.is_some_and(|index| self.is_same(&self.inlined(index), length));
        self.stores.push(Store {
            buffer,
            is_of_entry: is_exact || self.rooms.iter().any(has_room),
            behind: self.counted.keys().copied().collect(),
            around,
        });
    }

    /// Whether what is stored has room, as the module says.
    fn fits(&self, store: &Store) -> bool {
        let (counter, _) = &self.lengths[&store.buffer];
        let counted: Vec<Var> = self.counted[counter].iter().map(|it| it.var).collect();
        let is_made_inside =
            |(of, there): &(Buffer, Vec<Var>)| *of != store.buffer || there.starts_with(&counted);
        store.is_of_entry
            && store.around.starts_with(&counted)
            && !store.behind.contains(counter)
            && self.rooms.iter().all(is_made_inside)
    }
}

/// What a body changes.
struct Inside<'f> {
    function: &'f Function,
    vars: HashSet<Var>,
    stored: HashSet<Buffer>,
}

impl<'f> Inside<'f> {
    fn of(function: &'f Function, body: &Block) -> Self {
        let (mut vars, mut stored) = (HashSet::new(), HashSet::new());
        for_each_stmt(body, &mut |stmt| {
            vars.extend(stmt.written_var());
            if let Stmt::For { var, .. } = stmt {
                vars.insert(*var);
            }
            stored.extend(stmt.stored_buffers());
        });
        Self {
            function,
            vars,
            stored,
        }
    }

    /// How many turns the innermost of these loops has before an iteration of the one
    /// over `var`, which is around all of them: as a function of `var`.
    fn turns(&self, var: Var, around: &[Around]) -> Option<Expr> {
        let outer = std::iter::once(var).chain(around.iter().map(|it| it.var));
        let outer: Vec<Var> = outer.collect();
        let mut turns = Expr::Var(*outer.last()?);
        for (at, inner) in around.iter().enumerate().rev() {
            let outer = outer[at];
            let (lo, hi) = (&inner.lo, &inner.hi);
            let at = |place: &Expr| with(&turns, inner.var, place);
            let next = with(lo, outer, &Expr::Var(outer).add(1));
            turns = if lo.reads(outer) {
                (simplified(self.function, &next) == *hi).then(|| at(lo))?
            } else {
                let ascends = *lo == Expr::int(0) && self.function.is_extent(hi);
                let each = at(hi).binary(BinaryOp::Sub, at(lo));
                ascends.then(|| each.mul(outer))?
            };
            self.is_fixed_but_for(outer, &turns).then_some(())?;
        }
        self.is_fixed_but_for(var, &turns).then_some(turns)
    }

    /// Whether an expression depends on nothing that changes but this variable.
    fn is_fixed_but_for(&self, var: Var, expr: &Expr) -> bool {
        !expr.any(&mut |part| match part {
            Expr::Var(other) => *other != var && self.vars.contains(other),
            Expr::Load { buffer, .. } => {
                let is_given = self.function.buffers[*buffer].access == Access::Read;
                !is_given || self.stored.contains(buffer)
            }
            _ => false,
        })
    }
}

/// `expr` with `place` in the place of `var`.
pub(super) fn with(expr: &Expr, var: Var, place: &Expr) -> Expr {
    let mut expr = expr.clone();
    expr.rewrite(&mut |part| {
        if *part == Expr::Var(var) {
            *part = place.clone();
        }
    });
    expr
}

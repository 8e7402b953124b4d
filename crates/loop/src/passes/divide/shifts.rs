//! What is less in a chunk that begins to count at 0 than it should be.
//!
//! ```text
//! let q: i64 = p + 1      p counts, so q is less by p's base
//! pos[q] = r              a place that is less by p's base, a value by r's
//! vals[p * 4 + l] = x     a place that is less by 4 times p's base
//! if start < p { … }      both less by p's base: the same as ever
//! ```
//!
//! **Counters** are variables of outside that the loop adds to. A chunk begins to
//! count at 0, and so all that is computed from a counter is less by a multiple of
//! its *base*, where the chunk should have begun: it is *shifted*. The loop appends if
//! what is shifted is used for nothing but these:
//!
//! * as the place of an entry, shifted alike wherever an array is used: a **piece**;
//! * as a value that is stored, alike for all of an array: it is added to later;
//! * to be compared with what is shifted alike;
//! * to be compared with the most that an index array holds, which is done when it is
//!   known how many entries there are.

use std::collections::{BTreeMap, HashMap, HashSet};

use sparsec_base::ElementType;

use crate::ir::{BinaryOp, Block, Buffer, Expr, Failure, Function, Stmt, Var};
use crate::verify::combined_by;
use crate::walk::for_each_stmt;

/// By which multiple of its base, of which counter, a value is less than it should
/// be; `None` if it is what it should be.
pub(super) type Shift = Option<(Var, Expr)>;

/// What is shifted in a loop.
pub(super) struct Shifts {
    pub(super) counters: HashSet<Var>,
    /// Variables that are assigned inside of the loop, the counters included.
    written: HashSet<Var>,
    vars: HashMap<Var, Shift>,
    /// By how much places in an array, and its values, are.
    pub(super) places: BTreeMap<Buffer, Shift>,
    pub(super) values: BTreeMap<Buffer, Shift>,
    /// The most that some counters may reach.
    pub(super) limits: Vec<(Var, Expr)>,
}

impl Shifts {
    /// Nothing known but counters and the arrays that are stored to; `None` if a
    /// variable of outside is assigned otherwise.
    pub(super) fn of(function: &Function, body: &Block) -> Option<Self> {
        let mut inside = HashSet::new();
        let mut written = HashSet::new();
        let mut counters = HashSet::new();
        let mut places = BTreeMap::new();
        let mut counts = true;
        for_each_stmt(body, &mut |stmt| {
            if let Stmt::Declare { var, .. } | Stmt::For { var, .. } = stmt {
                inside.insert(*var);
            }
            written.extend(stmt.written_var());
            if let Stmt::Assign { var, value } = stmt
                && !inside.contains(var)
            {
                counts &= combined_by(*var, value) == Some(BinaryOp::Add)
                    && function.vars[*var].element == ElementType::I64;
                counters.insert(*var);
            }
            places.extend(stmt.stored_buffers().map(|buffer| (buffer, None)));
        });
        let mut shifts = Self {
            counters,
            written,
            vars: HashMap::new(),
            places: BTreeMap::new(),
            values: BTreeMap::new(),
            limits: Vec::new(),
        };
        // An array's places are shifted as where it is stored to first.
        shifts.places = places;
        shifts.learn(body)?;
        (counts && !shifts.counters.is_empty()).then_some(shifts)
    }

    /// Finds by how much the arrays are shifted, from where they are stored to.
    fn learn(&mut self, body: &Block) -> Option<()> {
        for stmt in body {
            match stmt {
                Stmt::Declare { var, value } => {
                    let shift = self.expr(value).unwrap_or(None);
                    self.vars.insert(*var, shift);
                }
                Stmt::Store {
                    buffer,
                    index,
                    value,
                    ..
                } => {
                    let place = self.expr(index)?;
                    self.places.insert(*buffer, place);
                    let value = self.expr(value).unwrap_or(None);
                    self.values.insert(*buffer, value);
                }
                _ => {
                    for block in stmt.blocks() {
                        self.learn(block)?;
                    }
                }
            }
        }
        Some(())
    }

    pub(super) fn block(&mut self, block: &Block) -> Option<()> {
        block.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Option<()> {
        match stmt {
            Stmt::Declare { var, value } => {
                let shift = self.expr(value)?;
                self.vars.insert(*var, shift);
            }
            Stmt::Assign { var, value } => {
                let shift = self.expr(value)?;
                let known = self.expr(&Expr::Var(*var))?;
                return (shift == known).then_some(());
            }
            Stmt::Store {
                buffer,
                index,
                value,
                reduce,
            } => {
                let value = self.expr(value)?;
                let is_kept = reduce.is_none() || value.is_none();
                let fits = self.expr(index)? == self.place(*buffer) && value == self.value(*buffer);
                return (is_kept && fits).then_some(());
            }
            Stmt::Fill {
                buffer,
                lo,
                hi,
                value,
            } => {
                let place = self.place(*buffer);
                let fits = self.expr(lo)? == place && self.expr(hi)? == place;
                let is_plain = self.expr(value)?.is_none() && self.value(*buffer).is_none();
                return (fits && is_plain).then_some(());
            }
            Stmt::Grow { buffer, len } => {
                let fits = self.expr(len)? == self.place(*buffer);
                return fits.then_some(());
            }
            Stmt::Sort { lo, hi, .. } => {
                let is_plain = self.expr(lo)?.is_none() && self.expr(hi)?.is_none();
                let mut sorted = stmt.stored_buffers();
                let plain = |buffer| self.place(buffer).is_none() && self.value(buffer).is_none();
                return (is_plain && sorted.all(plain)).then_some(());
            }
            Stmt::For { lo, hi, .. } | Stmt::Prefetch { lo, hi, .. } => {
                let is_plain = self.expr(lo)?.is_none() && self.expr(hi)?.is_none();
                is_plain.then_some(())?;
            }
            Stmt::While { condition, .. } => {
                self.expr(condition)?.is_none().then_some(())?;
            }
            Stmt::If { condition, .. } => match limit(stmt, &self.counters) {
                Some(limit) if !self.limits.contains(&limit) => self.limits.push(limit),
                Some(_) => {}
                None => self.expr(condition)?.is_none().then_some(())?,
            },
            Stmt::Comment(_) | Stmt::Fail(_) => {}
            Stmt::Alloc { .. } | Stmt::Resize { .. } | Stmt::Turn | Stmt::Pass | Stmt::Poll => {
                return None;
            }
        }
        stmt.blocks()
            .into_iter()
            .try_for_each(|block| self.block(block))
    }

    fn place(&self, buffer: Buffer) -> Shift {
        self.places.get(&buffer).cloned().flatten()
    }

    fn value(&self, buffer: Buffer) -> Shift {
        self.values.get(&buffer).cloned().flatten()
    }

    /// By how much an expression is shifted; `None` if by no multiple of one counter.
    pub(super) fn expr(&self, expr: &Expr) -> Option<Shift> {
        match expr {
            Expr::Const(_) => Some(None),
            Expr::Var(var) if self.counters.contains(var) => Some(Some((*var, Expr::int(1)))),
            Expr::Var(var) => Some(self.vars.get(var).cloned().flatten()),
            Expr::Load { buffer, index } => {
                let fits = self.expr(index)? == self.place(*buffer);
                fits.then(|| self.value(*buffer))
            }
            Expr::Binary(BinaryOp::Add, left, right) => {
                match (self.expr(left)?, self.expr(right)?) {
                    (shift, None) | (None, shift) => Some(shift),
                    _ => None,
                }
            }
            Expr::Binary(BinaryOp::Sub, left, right) => {
                match (self.expr(left)?, self.expr(right)?) {
                    (shift, None) => Some(shift),
                    (left, right) => (left == right).then_some(None),
                }
            }
            Expr::Binary(BinaryOp::Mul, left, right) => {
                match (self.expr(left)?, self.expr(right)?) {
                    (None, None) => Some(None),
                    (Some((var, scale)), None) => self.scaled(var, scale, right),
                    (None, Some((var, scale))) => self.scaled(var, scale, left),
                    _ => None,
                }
            }
            Expr::Binary(op, left, right) if op.is_comparison() => {
                (self.expr(left)? == self.expr(right)?).then_some(None)
            }
            _ => {
                let mut is_plain = true;
                expr.for_each_operand(&mut |operand| {
                    is_plain &= self.expr(operand) == Some(None);
                });
                is_plain.then_some(None)
            }
        }
    }

    /// A shift `by` times as large, if that is the same in all iterations.
    fn scaled(&self, var: Var, scale: Expr, by: &Expr) -> Option<Shift> {
        let changes = by.loads() || self.written.iter().any(|var| by.reads(*var));
        let scale = match scale == Expr::int(1) {
            true => by.clone(),
            false => scale.mul(by.clone()),
        };
        (!changes).then_some(Some((var, scale)))
    }
}

/// The most that a counter may be, where `stmt` only looks at that.
pub(super) fn limit(stmt: &Stmt, counters: &HashSet<Var>) -> Option<(Var, Expr)> {
    match stmt {
        Stmt::If {
            condition: Expr::Binary(BinaryOp::Gt, counter, most),
            then,
            otherwise,
        } if *then == [Stmt::Fail(Failure::WidthOverflow)] && otherwise.is_empty() => {
            match (&**counter, &**most) {
                (Expr::Var(var), Expr::Const(_)) if counters.contains(var) => {
                    Some((*var, (**most).clone()))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

//! Loops over points to statements of the loop IR.
//!
//! A sum that follows the assignment of its first value is held in a variable, so
//! that no entry is stored and loaded for each term:
//!
//! ```text
//! s0(i)                      var t = 0.0
//! for p in pos(i)..          for p in … { t += A.vals[p] * … }
//!   s1(i, p)                 y.vals[i] = t
//! ```

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use sparsec_base::mark::Mark;
use sparsec_base::{ElementType, Scalar};
use sparsec_computation::{Access, Computation, DataSpace, Key, Role, Update};
use sparsec_loop::{Access as BufferAccess, BinaryOp, Buffer, Builder, Expr, Stmt, Var};
use sparsec_relation::{
    Constraint, Declarations, Expression, Function, Loops, Rewrite, Step, Variable,
};

use super::cleared::Unfilled;
use super::covered::{assigned_first, is_held};
use super::scattered::Scattered;
use super::shares::{Part, Shares, Sweep, Table};
use super::window::{Numbering, Visiting};
use super::{Arrays, curve, has_computed_extent, length, loaded_type};
use crate::bisect::integer;

/// Writes the body of a function.
pub(super) struct Emitter<'a> {
    pub(super) builder: &'a mut Builder,
    pub(super) computation: &'a Computation,
    /// The computation that this is a stage of.
    pub(super) whole: &'a Computation,
    pub(super) known: &'a Declarations,
    pub(super) loops: &'a Loops,
    pub(super) arrays: Arrays,
    pub(super) variables: BTreeMap<Variable, Expr>,
    /// For functions that are looked up by value: one more than the place of each
    /// value of the range, counted from the first of the domain, or 0.
    pub(super) places: BTreeMap<String, Buffer>,
    /// Whether each search that is being made has found something.
    pub(super) found: Vec<Var>,
    /// The entry that is held in a variable.
    pub(super) held: Option<(Access, Var)>,
    /// The functions whose entries are carried between statements at a point.
    pub(super) carries: Vec<Function>,
    /// Those whose entries lie in variables alone.
    pub(super) in_variables: BTreeSet<String>,
    /// Temporary data whose entries are read at the point that assigns them alone: they lie in
    /// variables.
    pub(super) locals: BTreeSet<String>,
    /// The entries that are carried from the statements so far.
    pub(super) carried: Vec<(Access, Var)>,
    /// What counts add up to; [`totals`](super::totals) says of which.
    pub(super) totals: BTreeMap<String, Var>,
    /// Whether starts of segments may be shifted, which entries that are read elsewhere forbid.
    pub(super) may_shift: bool,
    /// What the counts of shifted data add up to so far.
    pub(super) sums: BTreeMap<String, Var>,
    /// Statements whose numbers are known to be as declared.
    pub(super) settled: BTreeSet<usize>,
    /// Whether an entry that lies in a variable alone was not found.
    pub(super) missed: bool,
    /// For each curve the bits of its places; see [`curve`].
    pub(super) curves: BTreeMap<String, curve::Curve>,
    /// For each window of a statement, what finds its value at a point.
    pub(super) windows: BTreeMap<(usize, usize), Numbering>,
    /// The values of the windows of the statement at hand, in their order.
    pub(super) here: std::vec::IntoIter<Expr>,
    /// What is done at points.
    pub(super) visiting: Visiting,
    /// The loops over the points of one statement alone, which were scanned last.
    pub(super) scanned: Option<(usize, Loops)>,
    /// How much work makes a share of a sweep worth its while; `None` if sweeps have no shares.
    pub(super) grain: Option<i64>,
    /// Whether no loop and no condition is around the statements that are written.
    pub(super) is_outermost: bool,
    /// The shares that the outermost loop is to run in.
    pub(super) within: Option<Shares>,
    /// Where loops begin from whose begin on points are numbered.
    pub(super) begins: BTreeMap<Variable, Expr>,
    /// The loops that may fetch the places of later points.
    pub(super) scattered: Scattered,
    /// The number of the share that is written.
    pub(super) share: Option<Var>,
    /// For integers that shares combine, the part of the share that is written.
    pub(super) parts: BTreeMap<String, Part>,
    /// The statements that count in shares, with the counts.
    pub(super) counting: BTreeMap<usize, Table>,
    /// The results that sweeps fill with zeros as they number their entries.
    pub(super) unfilled: Vec<Unfilled>,
    /// The variables that are never negative.
    pub(super) naturals: BTreeSet<Variable>,
    /// For each statement that marks keys, those that give each key its first value there.
    pub(super) touched: BTreeMap<usize, Vec<usize>>,
    /// Whether keys ascend, as far as that was asked.
    pub(super) ascending: RefCell<Vec<(usize, Vec<Key>, bool)>>,
}

/// Puts the elements of a point in place of a statement's variables.
pub(super) struct Point<'a>(pub(super) &'a [Expression]);

impl Rewrite for Point<'_> {
    fn variable(&self, variable: Variable) -> Expression {
        use sparsec_base::arena::Id;
        self.0[variable.index()].clone()
    }
}

impl<'a> Emitter<'a> {
    pub(super) fn new(
        builder: &'a mut Builder,
        (whole, computation): (&'a Computation, &'a Computation),
        known: &'a Declarations,
        loops: &'a Loops,
        arrays: Arrays,
    ) -> Self {
        Self {
            builder,
            computation,
            whole,
            known,
            loops,
            arrays,
            variables: BTreeMap::new(),
            places: BTreeMap::new(),
            found: Vec::new(),
            held: None,
            carries: Vec::new(),
            in_variables: BTreeSet::new(),
            locals: BTreeSet::new(),
            carried: Vec::new(),
            totals: BTreeMap::new(),
            may_shift: false,
            sums: BTreeMap::new(),
            settled: BTreeSet::new(),
            missed: false,
            curves: BTreeMap::new(),
            windows: BTreeMap::new(),
            here: Vec::new().into_iter(),
            visiting: Visiting::Assign,
            scanned: None,
            grain: None,
            is_outermost: true,
            within: None,
            begins: BTreeMap::new(),
            scattered: Scattered::default(),
            share: None,
            parts: BTreeMap::new(),
            counting: BTreeMap::new(),
            unfilled: Vec::new(),
            naturals: BTreeSet::new(),
            touched: BTreeMap::new(),
            ascending: RefCell::default(),
        }
    }

    /// Gives data that this stage begins their first entries, and makes
    /// tables.
    pub(super) fn begin(&mut self, begins: &[String]) {
        let whole = self.whole;
        for name in begins {
            let space = whole.space(name).expect("stages begin data");
            let buffer = self.arrays.spaces[&space.name];
            let is_kept = self.in_variables.contains(name) || self.locals.contains(name);
            if space.role == Role::Given || is_kept {
                continue;
            }
            let n = match has_computed_extent(whole, space) {
                true => self.checked_length(space),
                false => length(space, &mut |e| self.expr(e)),
            };
            match space.role {
                Role::Given => {}
                Role::Temporary => self.builder.push(Stmt::Alloc { buffer, len: n }),
                Role::InOut => {
                    let given = self.arrays.given[&space.name];
                    let at = self.builder.fixed("at", ElementType::I64);
                    self.builder
                        .for_loop(at, 0, n, |b| b.store(buffer, at, Expr::load(given, at)));
                }
                Role::Out => self.begin_result(space, buffer, n),
            }
        }
        self.make_all_places();
        self.make_curves();
        self.touched = self.touched_tables();
        self.make_windows();
        self.fill_others();
    }

    /// Gives a result its first entries, of which there are `n`.
    fn begin_result(&mut self, space: &DataSpace, buffer: Buffer, n: Expr) {
        let grows = self.builder.function().buffers[buffer].access == BufferAccess::Grow;
        if grows {
            let len = n.clone();
            self.builder.push(Stmt::Resize { buffer, len });
        }
        let zero = Scalar::from_i64(loaded_type(space.element), 0);
        let fill = Stmt::Fill {
            buffer,
            lo: Expr::int(0),
            hi: n.clone(),
            value: zero.into(),
        };
        let computations = (self.whole, self.computation);
        match assigned_first(computations, space, self.known, self.loops) {
            None if self.is_filled_in_runs(space, buffer, &n) => {}
            None => self.builder.push(fill),
            Some(conditions) if conditions.is_empty() => {}
            Some(conditions) => {
                let is_all = self.all(&conditions);
                self.branch(is_all, vec![fill], false);
            }
        }
    }

    /// Writes the loops.
    pub(super) fn run(&mut self) {
        self.steps(&self.loops.body);
    }

    pub(super) fn steps(&mut self, steps: &[Step]) {
        let mut at = 0;
        while at < steps.len() {
            at += 1;
            self.note_natural(&steps[at - 1]);
            match &steps[at - 1] {
                Step::Let { variable, value } => {
                    let value = self.expr(value);
                    let var = self.builder.let_(self.loops.name(*variable), value);
                    self.variables.insert(*variable, Expr::Var(var));
                }
                step @ Step::For {
                    variable,
                    lower,
                    upper,
                    body,
                } => {
                    if self.is_all_touched(step) || self.run_in_shares(step) {
                        continue;
                    }
                    let lo = self.bound(lower, BinaryOp::Min, BinaryOp::Max);
                    let hi = self.bound(upper, BinaryOp::Max, BinaryOp::Min);
                    let of_runs = self.window_of_runs(step);
                    let sweep = Sweep::of(step).expect("it is a loop");
                    match self.turned(body) {
                        Some(number) => self.turn(number, *variable, (lo, hi), body),
                        None if of_runs.is_some() => {
                            let place = of_runs.expect("just asked");
                            self.run_in_runs(place, &sweep, (lo, hi));
                        }
                        None if self.is_all_in_last(*variable, body) => {
                            self.run_last(*variable, lo, hi, body);
                        }
                        None => self.for_nest(&sweep, lo, hi),
                    }
                }
                Step::If { conditions, body } => {
                    // Keys are computed where their coordinates are known to have some.
                    let keys = &self.whole.declarations;
                    let is_computed = |it: &Constraint| curve::is_called(it, keys);
                    let (curved, plain): (Vec<Constraint>, Vec<Constraint>) =
                        conditions.iter().cloned().partition(is_computed);
                    self.guard(&[plain, curved], body);
                }
                Step::Where {
                    search,
                    found,
                    body,
                } => self.search(search, *found, body),
                Step::Found => {
                    let flag = *self
                        .found
                        .last()
                        .expect("searches are where they are found");
                    self.builder.assign(flag, Scalar::Bool(true));
                }
                Step::Visit { number, tuple } => {
                    if !matches!(self.visiting, Visiting::Assign) {
                        self.note(*number, tuple);
                    } else if is_held(self.computation, steps, at - 1) {
                        self.hold(*number, tuple, &steps[at]);
                        at += 1;
                    } else {
                        self.assign(*number, tuple);
                    }
                }
            }
        }
    }

    /// Assigns the first value to a variable, runs the loop on it, and stores it.
    fn hold(&mut self, number: usize, tuple: &[Expression], next: &Step) {
        let statement = &self.computation.statements[number];
        let target = statement.target.rewritten(&Point(tuple));
        let element = self.element(&target);
        let value = self.value_of(number, tuple, element);
        let var = self.builder.var_("t", value);
        self.held = Some((target.clone(), var));
        self.steps(std::slice::from_ref(next));
        self.held = None;
        let index = self.index(&target.space, &target.indices);
        self.builder
            .store(self.arrays.spaces[&target.space], index, var);
    }

    pub(super) fn block(&mut self, steps: &[Step]) -> Vec<Stmt> {
        self.written(|this| this.steps(steps))
    }

    pub(super) fn for_each(&mut self, variable: Variable, lo: Expr, hi: Expr, body: &[Step]) {
        let name = self.loops.name(variable);
        let Some(&found) = self.found.last() else {
            let lo = self.noted_begin(variable, lo, body);
            let var = self.builder.fixed(name, ElementType::I64);
            self.variables.insert(variable, Expr::Var(var));
            let body = self.block(body);
            let body = self.fetch_scattered(variable, var, body);
            self.builder.push(Stmt::For {
                var,
                lo,
                hi,
                mark: Mark::default(),
                body,
            });
            return;
        };
        // A search ends where something is found.
        let hi = self.builder.let_(&format!("{name}_end"), hi);
        let var = self.builder.var_(name, lo);
        self.variables.insert(variable, Expr::Var(var));
        let going = Expr::Unary(sparsec_loop::UnaryOp::Not, Box::new(found.into()));
        let body = self.block(body);
        self.builder
            .while_loop(going.and(Expr::Var(var).less(hi)), |b| {
                for stmt in body {
                    b.push(stmt);
                }
                b.assign(var, Expr::Var(var).add(1));
            });
    }

    pub(super) fn bound(
        &mut self,
        choices: &[Vec<Expression>],
        outer: BinaryOp,
        inner: BinaryOp,
    ) -> Expr {
        let each = choices.iter().map(|members| {
            let members = members.iter().map(|e| self.expr(e));
            members.reduce(|a, b| a.binary(inner, b))
        });
        let each: Option<Vec<Expr>> = each.collect();
        let each = each.and_then(|each| each.into_iter().reduce(|a, b| a.binary(outer, b)));
        each.expect("loops have bounds")
    }

    /// The value of an expression. Searches become statements in front of it.
    pub(super) fn expr(&mut self, e: &Expression) -> Expr {
        let mut both = |a, op, b| self.expr(a).binary(op, self.expr(b));
        match e {
            Expression::Integer(n) => Expr::int(*n),
            Expression::Constant(name) => self.arrays.constants[name].clone(),
            Expression::Variable(variable) => self.variables[variable].clone(),
            Expression::Negate(a) => match &**a {
                Expression::Integer(n) => Expr::int(n.wrapping_neg()),
                a => Expr::Unary(sparsec_loop::UnaryOp::Neg, Box::new(self.expr(a))),
            },
            Expression::Add(a, b) => both(a, BinaryOp::Add, b),
            Expression::Subtract(a, b) => both(a, BinaryOp::Sub, b),
            Expression::Multiply(a, b) => both(a, BinaryOp::Mul, b),
            Expression::FloorDivide(a, b) => self.divided(BinaryOp::FloorDiv, a, b),
            Expression::Modulo(a, b) => self.divided(BinaryOp::Mod, a, b),
            Expression::Call(name, arguments) => match name.rsplit_once('.') {
                Some((function, "first")) => self.first(function, &arguments[0]),
                Some((function, "inverse")) => self.inverse(function, &arguments[0]),
                _ if curve::is_computed(name) => self.place_on_curve(name, arguments),
                _ => match self.whole.declarations.key_of(name) {
                    Some(word) => self.word_of_key(word, arguments),
                    None => self.entry_of(name, arguments),
                },
            },
        }
    }

    /// An entry of integers, which may have been carried here.
    fn entry_of(&mut self, name: &str, arguments: &[Expression]) -> Expr {
        let mut carried = self.carried.iter().rev();
        let found = carried.find(|(access, _)| access.space == name && access.indices == arguments);
        if let Some((_, var)) = found {
            return Expr::Var(*var);
        }
        if let Some(entry) = self.entry_of_shifted(name, arguments) {
            return entry;
        }
        self.missed |= self.in_variables.contains(name);
        let index = self.index(name, arguments);
        integer(self.builder, self.arrays.spaces[name], index)
    }

    /// Where an entry lies: the last index runs fastest.
    pub(super) fn index(&mut self, space: &str, indices: &[Expression]) -> Expr {
        let indices: Vec<Expr> = indices.iter().map(|at| self.expr(at)).collect();
        let space = self.computation.space(space);
        self.index_of(space.expect("checked with the text"), &indices)
    }

    /// Where the entry of these indices lies.
    pub(super) fn index_of(&mut self, space: &DataSpace, indices: &[Expr]) -> Expr {
        let mut index: Option<Expr> = None;
        for (at, extent) in indices.iter().zip(&space.extents) {
            let at = at.clone();
            index = Some(match index {
                None => at,
                Some(outer) => outer.mul(self.expr(extent)).add(at),
            });
        }
        index.unwrap_or_else(|| Expr::int(0))
    }

    /// The operation that combines a value with what its target holds.
    pub(super) fn operation(update: Update) -> Option<BinaryOp> {
        Some(match update {
            Update::Assign => return None,
            Update::Add => BinaryOp::Add,
            Update::Multiply => BinaryOp::Mul,
            Update::Minimum => BinaryOp::Min,
            Update::Maximum => BinaryOp::Max,
        })
    }
}

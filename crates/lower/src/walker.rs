//! Walkers: operands that a loop moves along one of their levels.
//!
//! ```text
//! var pA = lo; let pA_end = hi         begins, past what does not belong
//! while pA < pA_end {
//!   … entries.coordinate(pA) …         at an entry, or at a run of equal ones
//!   pA += 1                            steps, past what does not belong }
//! ```
//!
//! An entry belongs to the loop if it is stored (some kinds have positions that
//! are empty) and has a coordinate of the loop ([`crate::affine`]).

use sparsec_base::ElementType;
use sparsec_graph::Operand;
use sparsec_index::{Access, IndexVar};
use sparsec_loop::{BinaryOp, Expr, Stmt as Loop, UnaryOp, Var};

use crate::affine::Affine;
use crate::cursor::{Bindings, Cursor, Place};
use crate::level::{Coordinates, Entries, LevelArrays, Segment};
use crate::statement::Lowerer;
use crate::workspace::Workspace;

/// An operand being walked along one index variable.
#[derive(Clone, Debug)]
pub(crate) struct Walker {
    pub(crate) operand: Operand,
    pub(crate) level: usize,
    /// What is at the positions.
    pub(crate) entries: Entries,
    /// What is stored for a coordinate of the loop, where that is another.
    pub(crate) affine: Option<Affine>,
    /// Whether equal coordinates may follow one another, to be taken together.
    pub(crate) repeats: bool,
    /// The position reached, and the bound.
    pub(crate) position: Var,
    pub(crate) end: Expr,
    /// When the operand is stored at the loop's coordinate; `None` is always.
    pub(crate) hit: Option<Expr>,
    /// The end of the run of equal coordinates, where they may repeat.
    pub(crate) run_end: Option<Var>,
}

impl Walker {
    /// Where the operand is followed to.
    pub(crate) fn cursor(&self) -> Cursor {
        let position = Expr::Var(self.position);
        let place = match self.run_end {
            Some(end) => Place::Run {
                lo: position,
                hi: Expr::Var(end),
            },
            None => Place::At(position),
        };
        Cursor {
            levels: self.level + 1,
            place,
        }
    }

    /// The coordinate of the loop for the entry at a position, which is one.
    pub(crate) fn coordinate(&self, position: impl Into<Expr>) -> Expr {
        let stored = self.entries.coordinate(position);
        match &self.affine {
            Some(affine) => affine.coordinate(stored),
            None => stored,
        }
    }

    /// What is stored for coordinate `i` of the loop.
    pub(crate) fn stored(&self, i: Expr) -> Expr {
        match &self.affine {
            Some(affine) => affine.stored(i),
            None => i,
        }
    }

    /// Whether the entry at a position belongs to the loop: it is stored, at a
    /// coordinate of the loop; `None` is always.
    pub(crate) fn belongs(&self, position: impl Into<Expr>) -> Option<Expr> {
        let position = position.into();
        let affine = self.affine.as_ref();
        let divides = affine.and_then(|it| it.divides(self.entries.coordinate(position.clone())));
        let stored = self.entries.is_stored(position);
        stored.into_iter().chain(divides).reduce(Expr::and)
    }

    /// How many positions are left.
    pub(crate) fn left(&self) -> Expr {
        self.end.clone().binary(BinaryOp::Sub, self.position)
    }
}

impl Lowerer<'_> {
    pub(crate) fn begin_walk(
        &mut self,
        operand: Operand,
        var: IndexVar,
        bindings: &Bindings,
    ) -> Walker {
        let level = self.level_walked_at(operand, var);
        let affine = self.affine(operand, level, var, &bindings.coordinates);
        let mut walker = self.begin_walk_at(operand, level, bindings, affine.as_ref());
        walker.affine = affine;
        self.skip(&walker);
        walker
    }

    pub(crate) fn level_walked_at(&self, operand: Operand, var: IndexVar) -> usize {
        self.walked_level(operand, var)
            .expect("a lattice has operands with walked levels")
    }

    /// Begins to walk one level of an operand: declares its position and its
    /// bound.
    pub(crate) fn begin_walk_at(
        &mut self,
        operand: Operand,
        level: usize,
        bindings: &Bindings,
        affine: Option<&Affine>,
    ) -> Walker {
        let (segment, repeats) = self.segment_of(operand, level, bindings);
        let name = self.position_name(operand, level);
        let Segment { lo, hi, entries } = match affine {
            Some(affine) => self.affine_part(&name, segment, affine),
            None => segment,
        };
        let position = self.builder.var_(&name, lo);
        let end = match hi {
            Expr::Var(_) | Expr::Const(_) => hi,
            hi => Expr::Var(self.builder.let_(&format!("{name}_end"), hi)),
        };
        Walker {
            operand,
            level,
            entries,
            affine: None,
            repeats,
            position,
            end,
            hit: None,
            run_end: None,
        }
    }

    /// The entries of a level of an operand below its cursor, and whether equal
    /// coordinates there are to be taken together.
    pub(crate) fn segment_of(
        &mut self,
        operand: Operand,
        number: usize,
        bindings: &Bindings,
    ) -> (Segment, bool) {
        let access = self.operands.access(operand);
        let level = &self.formats.of(access.tensor).levels()[number];
        let place = &bindings.cursors[&operand].place;
        let segment = match self.workspaces.get(&access.tensor) {
            Some(Workspace::Stored(stored)) => stored.segment(number, place),
            _ => self.level_arrays(access, number).segment(place),
        };
        // Below the last level there is nothing to tell equal coordinates apart:
        // there each is an entry of its own.
        let has_below = number + 1 < self.formats.of(access.tensor).levels().len();
        let repeats = has_below && level.ordered && !level.unique;
        let var = access.var(level.mode());
        // What is bound is searched for, not walked.
        let var = var.filter(|var| !bindings.coordinates.contains_key(var));
        let range = var.and_then(|var| bindings.ranges.get(&var));
        let name = self.position_name(operand, number);
        let mut segment = segment;
        if let Coordinates::Counted(zero) = &segment.entries.crd {
            let zero = self.bound(&format!("{name}_zero"), zero.clone());
            segment.entries.crd = Coordinates::Counted(zero);
        }
        let segment = match range {
            None => segment,
            Some(range) => self.narrowed(&name, segment, range),
        };
        (segment, repeats)
    }

    /// A level of a tensor that is an argument.
    pub(crate) fn level_arrays(&self, access: &Access, number: usize) -> LevelArrays<'_> {
        let format = self.formats.of(access.tensor);
        let level = &format.levels()[number];
        // Places of such a tensor may hold no entry.
        let is_seen_by_levels =
            self.concrete.tensors[access.tensor].levels_of.is_some() && format.may_mark(number);
        LevelArrays {
            arrays: &self.tensors[&access.tensor],
            kind: level.kind,
            number,
            extent: self.mode_extent(access, level.mode()),
            may_pad: !format.is_regular() || is_seen_by_levels,
        }
    }

    pub(crate) fn position_name(&self, operand: Operand, level: usize) -> String {
        let tensor = self.operands.access(operand).tensor;
        let name = &self.concrete.tensors[tensor].name;
        let is_vector = self.formats.of(tensor).levels().len() == 1;
        if is_vector && self.workspaces.contains_key(&tensor) {
            return format!("p{name}");
        }
        format!("p{name}{level}")
    }

    /// Where coordinates may repeat, finds the end of the run of those equal
    /// to `i`; where the walker is not hit, the run is empty.
    pub(crate) fn take_run(&mut self, walker: &mut Walker, i: impl Into<Expr>) {
        if !walker.repeats {
            return;
        }
        let name = self.position_name(walker.operand, walker.level);
        let end = self.builder.var_(&format!("{name}_run"), walker.position);
        let more = Expr::Var(end).less(walker.end.clone()).and(
            walker
                .entries
                .coordinate(end)
                .equals(walker.stored(i.into())),
        );
        let body = self.block(|it| it.builder.assign(end, Expr::Var(end).add(1)));
        self.builder.push(Loop::While {
            condition: more,
            body,
        });
        walker.run_end = Some(end);
    }

    /// Moves a walker to the next entry that belongs to the loop.
    pub(crate) fn skip(&mut self, walker: &Walker) {
        let p = Expr::Var(walker.position);
        let Some(belongs) = walker.belongs(p.clone()) else {
            return;
        };
        let condition = p.clone().less(walker.end.clone());
        let condition = condition.and(Expr::Unary(UnaryOp::Not, Box::new(belongs)));
        let body = self.block(|it| it.builder.assign(walker.position, p.add(1)));
        self.builder.push(Loop::While { condition, body });
    }

    /// Moves every walker past the coordinate just visited.
    pub(crate) fn step(&mut self, walkers: &[Walker]) {
        for walker in walkers {
            let p = Expr::Var(walker.position);
            let next = match (walker.run_end, &walker.hit) {
                (Some(end), _) => Expr::Var(end),
                (None, None) => p.add(1),
                (None, Some(hit)) => p.add(Expr::Cast(ElementType::I64, Box::new(hit.clone()))),
            };
            self.go_on(walker, next);
        }
    }

    /// Moves a walker to a position, and past what does not belong to the loop there.
    pub(crate) fn go_on(&mut self, walker: &Walker, next: Expr) {
        self.builder.assign(walker.position, next);
        self.skip(walker);
    }
}

//! A `forall` as loops: everything, one operand, or a merge.
//!
//! ```text
//! everything           for i in 0..n { … }           walked operands keep pace:
//!                                                    hit = p < end and crd[p] == i
//! one operand          for p in lo..hi { i = crd[p] … }
//! one, repeating       while p < hi { i = crd[p]; run p..q of equal i … p = q }
//! merge                see [`crate::merge`]
//! ```
//!
//! A level that stores `a * i + b` is walked as [`crate::affine`] says. Positions
//! at which nothing is stored are passed over. Of the operands that a loop could
//! walk, some may be looked up instead ([`sparsec_graph::lead`]).
//!
//! In each case of a loop, operands outside the case's point count as not
//! stored. What is bound but not walked yet is searched ([`crate::search`]).

use sparsec_base::ElementType;
use sparsec_graph::{Lattice, Lead, Operand, Point, space};
use sparsec_index::concrete::{MergeStrategy, Stmt};
use sparsec_index::{Access, IndexVar};
use sparsec_loop::{BinaryOp, Block, Expr, Mark, Stmt as Loop, UnaryOp, Var};

use crate::absent::without;
use crate::affine::Affine;
use crate::cursor::{Bindings, Cursor, Place, Range};
use crate::level::{Coordinates, Entries, LevelArrays, Segment};
use crate::statement::Lowerer;
use crate::workspace::Workspace;

/// An operand being walked along one index variable.
#[derive(Clone, Debug)]
pub(crate) struct Walker {
    pub(crate) operand: Operand,
    level: usize,
    /// What is at the positions.
    pub(crate) entries: Entries,
    /// What is stored for a coordinate of the loop, where that is another.
    pub(crate) affine: Option<Affine>,
    /// Whether equal coordinates may follow one another, to be taken together.
    repeats: bool,
    /// The position reached, and the bound.
    pub(crate) position: Var,
    pub(crate) end: Expr,
    /// When the operand is stored at the loop's coordinate; `None` is always.
    pub(crate) hit: Option<Expr>,
    /// The end of the run of equal coordinates, where they may repeat.
    run_end: Option<Var>,
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
    fn belongs(&self, position: impl Into<Expr>) -> Option<Expr> {
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
    /// A loop over the coordinates of `var`, or over a range of them.
    pub(crate) fn over(&mut self, var: IndexVar, body: &Stmt, bindings: &Bindings) {
        let is_stretch = bindings.ranges.contains_key(&var);
        let Lead { lattice, located } = self.lead(var, body, is_stretch);
        let walked: Vec<Operand> = lattice.operands().into_iter().collect();
        let mut bindings = bindings.clone();
        if lattice.everything && !bindings.ranges.contains_key(&var) {
            let within = self.within_last_block(var, &bindings);
            bindings.ranges.extend(within.map(|range| (var, range)));
        }
        bindings.located = located;
        if self.ascends(var, &walked, &bindings) {
            bindings.runs = self.begin_runs(var, body, &bindings);
        }
        let bindings = &bindings;
        if lattice.everything {
            self.over_everything(var, body, bindings, &lattice, &walked);
        } else if let ([point], [operand]) = (&lattice.points[..], &walked[..]) {
            self.over_one(var, body, bindings, point, *operand);
        } else if lattice.points.len() == 1
            && self.gallops(bindings)
            && walked
                .iter()
                .all(|it| self.operands.access(*it).plain_vars().is_some())
        {
            self.over_gallop(var, body, bindings, &lattice, &walked);
        } else if !lattice.points.is_empty() {
            self.over_merge(var, body, bindings, &lattice, &walked);
        }
    }

    /// What a loop over `var` walks, and what it looks up. Where `body` is what is
    /// left of a loop over everything, a leader without order may be too.
    pub(crate) fn lead(&self, var: IndexVar, body: &Stmt, is_stretch: bool) -> Lead {
        let lattice = Lattice::of(&space(self.scope(), body, var));
        let lead = Lead::of(self.scope(), lattice, var);
        match lead.out_of_order(self.scope(), var, body, is_stretch) {
            Some((operand, _)) => lead.over_everything(operand),
            None => lead,
        }
    }

    fn over_everything(
        &mut self,
        var: IndexVar,
        body: &Stmt,
        bindings: &Bindings,
        lattice: &Lattice,
        walked: &[Operand],
    ) {
        let mut walkers: Vec<Walker> = walked
            .iter()
            .map(|operand| self.begin_walk(*operand, var, bindings))
            .collect();
        let i = self.coordinate(var);
        let (lo, hi, visited) = match bindings.ranges.get(&var) {
            Some(Range { lo, hi, .. }) => {
                let visited = hi.clone().binary(BinaryOp::Sub, lo.clone());
                (lo.clone(), hi.clone(), visited)
            }
            None => (Expr::int(0), self.extent(var), self.extent(var)),
        };
        self.reserve(var, body, visited);
        let mark = self.mark(bindings);
        self.marked_loop(i, lo, hi, mark, |it| {
            let inner = it.inside_loop(var, i, bindings);
            for walker in &mut walkers {
                let stored = walker.stored(Expr::Var(i));
                let here = walker.entries.coordinate(walker.position).equals(stored);
                let hit = Expr::Var(walker.position)
                    .less(walker.end.clone())
                    .and(here);
                let name = format!("{}_hit", it.position_name(walker.operand, walker.level));
                walker.hit = Some(Expr::Var(it.builder.let_(&name, hit)));
                it.take_run(walker, i);
            }
            it.with_result(var, body, &inner, |it, inner| {
                let top = &lattice.points[0];
                it.cases(var, body, inner, lattice, top, &walkers);
            });
            it.step(&walkers);
        });
    }

    fn over_one(
        &mut self,
        var: IndexVar,
        body: &Stmt,
        bindings: &Bindings,
        point: &Point,
        operand: Operand,
    ) {
        let level = self.level_walked_at(operand, var);
        let (segment, repeats) = self.segment_of(operand, level, bindings);
        let affine = self.affine(operand, level, var, &bindings.coordinates);
        let name = self.position_name(operand, level);
        let i = self.coordinate(var);
        if repeats {
            let mut walker = self.begin_walk(operand, var, bindings);
            let more = Expr::Var(walker.position).less(walker.end.clone());
            self.reserve(var, body, walker.left());
            let body = self.block(|it| {
                it.builder.declare(i, walker.coordinate(walker.position));
                it.take_run(&mut walker, i);
                let walkers = [walker.clone()];
                it.inside(var, body, bindings, i, point, &walkers);
                it.step(&walkers);
            });
            self.builder.push(Loop::While {
                condition: more,
                body,
            });
            return;
        }
        let Segment { lo, hi, entries } = match &affine {
            Some(affine) => self.affine_part(&name, segment, affine),
            None => segment,
        };
        let p = self.builder.fixed(&name, ElementType::I64);
        self.reserve(var, body, hi.clone().binary(BinaryOp::Sub, lo.clone()));
        let mark = self.mark(bindings);
        self.marked_loop(p, lo, hi, mark, |it| {
            let walker = Walker {
                operand,
                level,
                entries,
                affine,
                repeats,
                position: p,
                end: Expr::int(0),
                hit: None,
                run_end: None,
            };
            let belongs = walker.belongs(p);
            let then = it.block(|it| {
                it.builder.declare(i, walker.coordinate(p));
                it.inside(var, body, bindings, i, point, &[walker]);
            });
            match belongs {
                Some(condition) => it.builder.push(Loop::If {
                    condition,
                    then,
                    otherwise: Block::new(),
                }),
                None => then.into_iter().for_each(|stmt| it.builder.push(stmt)),
            }
        });
    }

    /// What is known inside a loop over `var` at coordinate `i`.
    pub(crate) fn inside_loop(&mut self, var: IndexVar, i: Var, bindings: &Bindings) -> Bindings {
        let mut inner = bindings.clone();
        inner.bind(var, Expr::Var(i));
        self.follow_runs(i, &mut inner);
        self.advance(&mut inner);
        inner
    }

    /// Whether a loop over `var` goes from each coordinate to one not far behind:
    /// not where it leaps, nor along what has no order, nor in several places at once.
    fn ascends(&self, var: IndexVar, walked: &[Operand], bindings: &Bindings) -> bool {
        let is_ordered = |operand: &Operand| {
            let format = self.formats.of(self.operands.access(*operand).tensor);
            let number = self.walked_level(*operand, var);
            number.is_some_and(|number| format.levels()[number].is_ordered())
        };
        let is_parallel = self.mark(bindings).parallel.is_some();
        !is_parallel && !self.gallops(bindings) && walked.iter().all(is_ordered)
    }

    /// The body of a loop whose only case is `point`.
    fn inside(
        &mut self,
        var: IndexVar,
        body: &Stmt,
        bindings: &Bindings,
        i: Var,
        point: &Point,
        walkers: &[Walker],
    ) {
        let inner = self.inside_loop(var, i, bindings);
        self.with_result(var, body, &inner, |it, inner| {
            it.case(var, body, inner, point, walkers);
        });
    }

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

    /// Whether operands leap in the innermost of the loops around here.
    fn gallops(&self, bindings: &Bindings) -> bool {
        let strategy = bindings
            .loops
            .last()
            .map(|var| self.concrete.merges_by(*var));
        strategy == Some(MergeStrategy::Gallop)
    }

    /// How the innermost of the loops around here is marked.
    fn mark(&self, bindings: &Bindings) -> Mark {
        let innermost = bindings.loops.last();
        innermost.map_or_else(Mark::default, |var| self.concrete.mark(*var))
    }

    fn level_walked_at(&self, operand: Operand, var: IndexVar) -> usize {
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
        LevelArrays {
            arrays: &self.tensors[&access.tensor],
            kind: level.kind,
            number,
            extent: self.mode_extent(access, level.mode()),
            may_pad: !format.is_regular(),
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
            self.builder.assign(walker.position, next);
            self.skip(walker);
        }
    }

    /// The cases of one part of a loop: `if` the largest point is hit, `else`
    /// the next. The last needs no test where one of them always holds.
    pub(crate) fn cases(
        &mut self,
        var: IndexVar,
        body: &Stmt,
        bindings: &Bindings,
        lattice: &Lattice,
        part: &Point,
        walkers: &[Walker],
    ) {
        let cases: Vec<&Point> = lattice.cases(part).collect();
        let certain = lattice.everything
            || part.0.iter().all(|operand| {
                let alone = Point([*operand].into());
                cases.contains(&&alone)
            });
        let mut chain = Block::new();
        for (number, case) in cases.iter().enumerate().rev() {
            let block = self.block(|it| it.case(var, body, bindings, case, walkers));
            let condition = self.condition(case, walkers);
            let is_last = number + 1 == cases.len();
            chain = match condition {
                Some(condition) if !(is_last && certain) => vec![Loop::If {
                    condition,
                    then: block,
                    otherwise: chain,
                }],
                _ => block,
            };
        }
        for stmt in chain {
            self.builder.push(stmt);
        }
    }

    /// When all operands of a case are stored at the coordinate; `None` is always.
    fn condition(&self, case: &Point, walkers: &[Walker]) -> Option<Expr> {
        walkers
            .iter()
            .filter(|walker| case.0.contains(&walker.operand))
            .filter_map(|walker| walker.hit.clone())
            .reduce(Expr::and)
    }

    /// The body where the operands of `case` are stored and no others.
    pub(crate) fn case(
        &mut self,
        var: IndexVar,
        body: &Stmt,
        bindings: &Bindings,
        case: &Point,
        walkers: &[Walker],
    ) {
        let is_absent = |access: &Access| {
            let Some(operand) = self.operands.find(access) else {
                return false;
            };
            self.walked_level(operand, var).is_some()
                && !case.0.contains(&operand)
                && !bindings.located.contains(&operand)
        };
        let Some(body) = without(self.concrete, body, &is_absent, self.unfilled()) else {
            return;
        };
        let mut inner = bindings.clone();
        for walker in walkers
            .iter()
            .filter(|walker| case.0.contains(&walker.operand))
        {
            let cursor = walker.cursor();
            inner.cursors.insert(walker.operand, cursor);
        }
        self.advance(&mut inner);
        self.computing(&body, inner, &mut |it, inner| it.found(&body, inner));
    }
}

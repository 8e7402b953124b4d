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
use sparsec_format::LevelKind;
use sparsec_graph::{Lattice, Lead, Operand, Point, space};
use sparsec_index::concrete::{Clause, MergeStrategy, Steps, Stmt};
use sparsec_index::{Access, IndexVar};
use sparsec_loop::{BinaryOp, Block, Expr, Mark, Stmt as Loop, Var};

use crate::absent::without;
use crate::cursor::{Bindings, Range};
use crate::level::Segment;
use crate::statement::Lowerer;
use crate::walker::Walker;

/// Emits what comes after a case: the cases that failed before it, and the one that
/// holds, if one does.
pub(crate) type Behind<'b> = dyn Fn(&mut Lowerer<'_>, &[&Point], Option<&Point>) + 'b;

impl Lowerer<'_> {
    /// A loop over the coordinates of `var`, or over a range of them.
    pub(crate) fn over(&mut self, var: IndexVar, body: &Stmt, bindings: &Bindings) {
        let is_stretch = bindings.ranges.contains_key(&var);
        let Lead {
            lattice, located, ..
        } = self.lead(var, body, is_stretch);
        let walked: Vec<Operand> = lattice.operands().into_iter().collect();
        let mut bindings = bindings.clone();
        if (lattice.everything || self.are_counted(var, &walked))
            && !bindings.ranges.contains_key(&var)
            && let Some((range, above)) = self.part_within(var, &bindings)
        {
            bindings.ranges.insert(var, range);
            bindings.inside.insert(above);
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

    /// Whether positions follow coordinates in what a loop walks, so that a part of
    /// the coordinates is a part of the positions.
    fn are_counted(&self, var: IndexVar, walked: &[Operand]) -> bool {
        let is_counted = |operand: &Operand| {
            let access = self.operands.access(*operand);
            let number = self.level_walked_at(*operand, var);
            let level = &self.formats.of(access.tensor).levels()[number];
            matches!(level.kind, LevelKind::Range | LevelKind::Bitmap)
                && access.var(level.mode()) == Some(var)
        };
        !walked.is_empty() && walked.iter().all(is_counted)
    }

    /// What a loop over `var` walks, and what it looks up. Where `body` is what is
    /// left of a loop over everything, a leader without order may be too.
    pub(crate) fn lead(&self, var: IndexVar, body: &Stmt, is_stretch: bool) -> Lead {
        let lattice = Lattice::of(&space(self.scope(), body, var));
        let lead = Lead::of(self.scope(), lattice, var);
        match lead.out_of_order(self.scope(), var, body, is_stretch) {
            Some(_) => lead.over_everything(self.scope(), var),
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
        let bound = hi.clone();
        self.marked_loop(i, lo, hi, mark, |it| {
            it.prefetch_from(var, i, &bound, bindings);
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
            it.on_curve(var, &inner, |it, inner| {
                it.with_result(var, body, inner, |it, inner| {
                    let top = &lattice.points[0];
                    it.cases(var, body, inner, lattice, top, &walkers, &|_, _, _| {});
                });
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
        let repeats = repeats && !self.goes_through(operand, level, body, bindings);
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
        let is_one = hi == lo.clone().add(1);
        let write = |it: &mut Self| {
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
            it.prefetch_by(var, &walker, bindings);
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
        };
        // A parent has one entry below it.
        if is_one {
            self.builder.declare(p, lo);
            return write(self);
        }
        self.prefetch_segment(operand, level, &lo, bindings);
        self.marked_loop(p, lo, hi, mark, write);
    }

    /// Whether loops directly inside one another go through the other coordinates of
    /// entries whose first ones may repeat, and nothing is done between them: then each
    /// entry is as good as a run of those that have one coordinate in common.
    fn goes_through(
        &self,
        operand: Operand,
        level: usize,
        body: &Stmt,
        bindings: &Bindings,
    ) -> bool {
        let access = self.operands.access(operand);
        let format = self.formats.of(access.tensor);
        let mut result_takes_any_order = true;
        body.for_each_assign(&mut |lhs, _, _| {
            result_takes_any_order &= self.formats.of(lhs.tensor).is_scattered_to();
        });
        let mut outer = bindings.loops.clone();
        let mut stmt = body;
        for inner in &format.levels()[level + 1..=format.chain_end(level)] {
            let Stmt::Forall { var, body } = stmt else {
                return false;
            };
            let Lead {
                lattice, located, ..
            } = self.lead(*var, body, false);
            let is_alone = !lattice.everything
                && located.is_empty()
                && lattice.points.len() == 1
                && lattice.operands().into_iter().eq([operand]);
            let is_coordinate = self.concrete.steps(&outer, *var) == Steps::Coordinates;
            if !is_alone || !is_coordinate || access.var(inner.mode()) != Some(*var) {
                return false;
            }
            outer.push(*var);
            stmt = body;
        }
        result_takes_any_order
    }

    /// What is known inside a loop over `var` at coordinate `i`.
    pub(crate) fn inside_loop(&mut self, var: IndexVar, i: Var, bindings: &Bindings) -> Bindings {
        let mut inner = bindings.clone();
        inner.bind(var, Expr::Var(i));
        // Places that are listed are those of coordinates within the extents.
        if let Some(Clause::Deal { vars, .. }) = self.concrete.made_by(var) {
            inner.inside.extend(vars);
        }
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

    /// Whether operands leap in the innermost of the loops around here.
    fn gallops(&self, bindings: &Bindings) -> bool {
        self.merges_by(bindings) == Some(MergeStrategy::Gallop)
    }

    /// How the innermost of the loops around here merges.
    pub(crate) fn merges_by(&self, bindings: &Bindings) -> Option<MergeStrategy> {
        let innermost = bindings.loops.last();
        innermost.map(|var| self.concrete.merges_by(*var))
    }

    /// How the innermost of the loops around here is marked.
    fn mark(&self, bindings: &Bindings) -> Mark {
        let innermost = bindings.loops.last();
        innermost.map_or_else(Mark::default, |var| self.concrete.mark(*var))
    }

    /// The cases of one part of a loop: `if` the largest point is hit, `else`
    /// the next. The last needs no test where one of them always holds. What
    /// `behind` emits comes after each case, given those that failed and the one that
    /// holds, and where none holds.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn cases(
        &mut self,
        var: IndexVar,
        body: &Stmt,
        bindings: &Bindings,
        lattice: &Lattice,
        part: &Point,
        walkers: &[Walker],
        behind: &Behind<'_>,
    ) {
        let cases: Vec<&Point> = lattice.cases(part).collect();
        let chain = self.block(|it| behind(it, &cases, None));
        let mut blocks = Vec::new();
        for case in cases.iter().rev() {
            blocks.push(self.block(|it| it.case(var, body, bindings, case, walkers)));
        }
        blocks.reverse();
        self.chain(lattice, part, walkers, blocks, chain, behind);
    }

    /// The blocks of all cases as a chain of tests that ends in `chain`.
    pub(crate) fn chain(
        &mut self,
        lattice: &Lattice,
        part: &Point,
        walkers: &[Walker],
        blocks: Vec<Block>,
        mut chain: Block,
        behind: &Behind<'_>,
    ) {
        let cases: Vec<&Point> = lattice.cases(part).collect();
        let certain = lattice.everything
            || part.0.iter().all(|operand| {
                let alone = Point([*operand].into());
                cases.contains(&&alone)
            });
        for (number, mut block) in blocks.into_iter().enumerate().rev() {
            let case = cases[number];
            block.extend(self.block(|it| behind(it, &cases[..number], Some(case))));
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

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
use sparsec_graph::{Operand, is_listed_in_order};
use sparsec_index::IndexVar;
use sparsec_loop::{BinaryOp, Buffer, Builder, Expr, UnaryOp, Var};

use crate::affine::Affine;
use crate::bisect::first_from;
use crate::context::{Context, Range};
use crate::cursor::{Cursor, Place};
use crate::level::{Coordinates, Entries, LevelArrays, Segment, bitmap};
use crate::temporary::Workspace;

/// An operand being walked along one index variable.
#[derive(Clone, Debug)]
pub(crate) struct Walker {
    pub(crate) operand: Operand,
    pub(crate) level: usize,
    /// How its position is called, and the tensor.
    pub(crate) name: String,
    pub(crate) tensor: String,
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

    /// An operand at a position of a level, with no bound.
    pub(crate) fn at(
        at: &Context<'_>,
        (operand, level): (Operand, usize),
        entries: Entries,
        position: Var,
    ) -> Self {
        let tensor = at.kernel.access(operand).tensor;
        Self {
            operand,
            level,
            name: at.position_name(operand, level),
            tensor: at.kernel.name(tensor).to_owned(),
            entries,
            affine: None,
            repeats: false,
            position,
            end: Expr::int(0),
            hit: None,
            run_end: None,
        }
    }

    /// Begins to walk entries of a level of an operand: declares the position and the bound.
    pub(crate) fn begin_at(
        b: &mut Builder,
        at: &Context<'_>,
        (operand, level): (Operand, usize),
        (segment, repeats): (Segment, bool),
    ) -> Self {
        let Segment { lo, hi, entries } = segment;
        let name = at.position_name(operand, level);
        let position = b.var_(&name, lo);
        Self {
            repeats,
            end: b.named(&format!("{name}_end"), hi),
            ..Self::at(at, (operand, level), entries, position)
        }
    }

    /// Begins to walk an operand along `var`.
    pub(crate) fn begin(
        b: &mut Builder,
        at: &Context<'_>,
        operand: Operand,
        var: IndexVar,
    ) -> Self {
        let level = at.level_walked_at(operand, var);
        let affine = at.affine(operand, level, var);
        let (mut segment, repeats) = segment_of(b, at, operand, level);
        if let Some(affine) = &affine {
            segment = affine.part(b, &at.position_name(operand, level), segment);
        }
        let mut walker = Self::begin_at(b, at, (operand, level), (segment, repeats));
        walker.affine = affine;
        walker.skip(b);
        walker
    }

    /// Where coordinates may repeat, finds the end of the run of those equal
    /// to `i`; where the walker is not hit, the run is empty.
    pub(crate) fn take_run(&mut self, b: &mut Builder, i: impl Into<Expr>) {
        if !self.repeats {
            return;
        }
        let end = b.var_(&format!("{}_run", self.name), self.position);
        let is_equal = self.entries.coordinate(end).equals(self.stored(i.into()));
        let more = Expr::Var(end).less(self.end.clone()).and(is_equal);
        b.while_loop(more, |b| b.assign(end, Expr::Var(end).add(1)));
        self.run_end = Some(end);
    }

    /// Moves on to the next entry that belongs to the loop.
    pub(crate) fn skip(&self, b: &mut Builder) {
        let p = Expr::Var(self.position);
        if let Some(belongs) = self.belongs(p.clone()) {
            let is_left = p.clone().less(self.end.clone());
            let is_other = Expr::Unary(UnaryOp::Not, Box::new(belongs));
            b.while_loop(is_left.and(is_other), |b| b.assign(self.position, p.add(1)));
        }
    }

    /// Moves past the coordinate just visited.
    pub(crate) fn step(&self, b: &mut Builder) {
        let p = Expr::Var(self.position);
        let next = match (self.run_end, &self.hit) {
            (Some(end), _) => Expr::Var(end),
            (None, None) => p.add(1),
            (None, Some(hit)) => p.add(Expr::Cast(ElementType::I64, Box::new(hit.clone()))),
        };
        self.go_on(b, next);
    }

    /// Moves to a position, and past what does not belong to the loop there.
    pub(crate) fn go_on(&self, b: &mut Builder, next: Expr) {
        b.assign(self.position, next);
        self.skip(b);
    }

    /// Whether there are positions left.
    pub(crate) fn has_more(&self) -> Expr {
        Expr::Var(self.position).less(self.end.clone())
    }
}

impl Context<'_> {
    pub(crate) fn level_walked_at(&self, operand: Operand, var: IndexVar) -> usize {
        let level = self.kernel.walked_level(operand, var);
        level.expect("a lattice has operands with walked levels")
    }

    /// The entries of a level of an operand below its cursor.
    pub(crate) fn entries_below(&self, operand: Operand, number: usize) -> Segment {
        let place = &self.cursors[&operand].place;
        let tensor = self.kernel.access(operand).tensor;
        match self.workspaces.get(&tensor) {
            Some(workspace) => match workspace.bits() {
                // The levels above are computed.
                Some(set) => {
                    let access = self.kernel.access(operand);
                    bitmap::segment(&self.mode_extent(access, number), set, place)
                }
                None => match workspace {
                    Workspace::Stored(stored) => stored.segment(number, place),
                    _ => unreachable!("levels of dense workspaces are computed"),
                },
            },
            None => self.level_arrays(operand, number).segment(place),
        }
    }

    /// For a marked workspace whose list is in order: the list, and how many entries it has. A loop that
    /// walks no other operand goes along it.
    pub(crate) fn list_of(&self, operand: Operand) -> Option<(Buffer, Var)> {
        let kernel = self.kernel;
        let tensor = kernel.access(operand).tensor;
        match self.workspaces.get(&tensor)? {
            Workspace::Stored(stored)
                if is_listed_in_order(kernel.concrete, kernel.formats, tensor) =>
            {
                Some((stored.at, stored.n()))
            }
            _ => None,
        }
    }

    /// A level of a tensor that is an argument.
    pub(crate) fn level_arrays(&self, operand: Operand, number: usize) -> LevelArrays<'_> {
        let kernel = self.kernel;
        let access = kernel.access(operand);
        let format = kernel.formats.of(access.tensor);
        let level = &format.levels()[number];
        // Places of such a tensor may hold no entry.
        let is_seen_by_levels =
            kernel.concrete.tensors[access.tensor].levels_of.is_some() && format.may_mark(number);
        LevelArrays {
            arrays: &kernel.tensors[&access.tensor],
            kind: level.kind,
            number,
            extent: self.mode_extent(access, level.mode()),
            may_pad: !format.is_regular() || is_seen_by_levels,
        }
    }
}

/// The entries of a level of an operand that a loop here walks, and whether equal
/// coordinates there are to be taken together.
pub(crate) fn segment_of(
    b: &mut Builder,
    at: &Context<'_>,
    operand: Operand,
    number: usize,
) -> (Segment, bool) {
    let access = at.kernel.access(operand);
    let levels = at.kernel.levels(access.tensor);
    let level = &levels[number];
    let mut segment = at.entries_below(operand, number);
    // Below the last level there is nothing to tell equal coordinates apart:
    // there each is an entry of its own.
    let has_below = number + 1 < levels.len();
    let repeats = has_below && level.ordered && !level.unique;
    let name = at.position_name(operand, number);
    if let Coordinates::Counted(zero) = &segment.entries.crd {
        let zero = b.named(&format!("{name}_zero"), zero.clone());
        segment.entries.crd = Coordinates::Counted(zero);
    }
    // What is bound is searched for, not walked.
    let var = access.var(level.mode());
    let var = var.filter(|var| !at.coordinates.contains_key(var));
    if let Some(range) = var.and_then(|var| at.ranges.get(&var)) {
        segment = narrowed(b, &name, segment, range);
    }
    (segment, repeats)
}

/// The part of a segment whose coordinates are in the stretch that a loop
/// goes through.
fn narrowed(b: &mut Builder, name: &str, segment: Segment, range: &Range) -> Segment {
    let Segment { lo, hi, entries } = segment;
    let hi = b.named(&format!("{name}_end"), hi);
    let (first, end) = (range.lo.clone(), range.hi.clone());
    let lo = first_from(b, &format!("{name}_lo"), &entries, lo..hi.clone(), first);
    let hi = first_from(b, &format!("{name}_hi"), &entries, lo.into()..hi, end);
    Segment {
        lo: Expr::Var(lo),
        hi: Expr::Var(hi),
        entries,
    }
}

//! The stages of a conversion. Each has a part of the certificate, with its own source and
//! destination:
//!
//! ```text
//! a piece of the source ──► the list L       one stage for each piece, if entries are listed
//! the list L ──► the triangle T              if the destination stores a triangle (`triangle.rs`)
//! the source, L or T ──► a part of the destination
//! ```
//!
//! A list is declared to have the order that the computation declares for its arrays. The stage
//! that fills the list has to prove this order.

use sparsec_relation::{
    Comparison, Constraint, Declarations, Descriptor, Expression, Parser, Quantifier,
};

use crate::entries::{Entries, zero};
use crate::pieces::{Piece, count_of};
use crate::side::Side;
use crate::{Question, Refusal};

/// One stage of a conversion.
#[derive(Clone, Debug)]
pub(crate) enum Stage {
    /// Lists the entries of a piece of the source.
    Piece(Piece),
    /// Combines the entries of the list with their mirror images.
    Triangle,
    /// Fills a part of the destination.
    Part(usize),
}

/// The two sides of a stage, and the facts that hold before it.
pub(crate) struct Sides {
    pub(crate) source: Side,
    pub(crate) entries: Entries,
    pub(crate) known: Declarations,
    /// The parts of the destination, and the number of the part at hand.
    pub(crate) parts: Vec<Side>,
    pub(crate) number: usize,
    /// Constraints on each entry.
    pub(crate) facts: Vec<Constraint>,
}

impl Stage {
    /// The piece that the stage lists.
    pub(crate) fn piece(&self) -> Option<&Piece> {
        match self {
            Self::Piece(piece) => Some(piece),
            _ => None,
        }
    }

    pub(crate) fn is_triangle(&self) -> bool {
        matches!(self, Self::Triangle)
    }
}

impl Question<'_> {
    /// Whether entries are listed before they are converted.
    pub(crate) fn is_listed(&self) -> bool {
        let has_list = || self.computation.space("L").is_some();
        self.source.len() > 1 || self.triangle.is_some() || has_list()
    }

    /// The stages in their order.
    pub(crate) fn stages(&self) -> Result<Vec<Stage>, Refusal> {
        let mut stages = Vec::new();
        if self.is_listed() {
            stages.extend(self.pieces()?.into_iter().map(Stage::Piece));
        }
        stages.extend(self.triangle.map(|_| Stage::Triangle));
        stages.extend((0..self.destination.len()).map(Stage::Part));
        Ok(stages)
    }

    /// The sides of a stage. The variables of entries have these names.
    pub(crate) fn sides(&self, stage: &Stage, names: &[String]) -> Result<Sides, Refusal> {
        let (parts, number) = match stage {
            Stage::Piece(_) => (vec![self.list(self.triangle.is_some())?], 0),
            Stage::Triangle => (vec![self.folded()?], 0),
            Stage::Part(number) => (Side::parts(self.destination)?, *number),
        };
        let list = match stage {
            Stage::Piece(_) => None,
            Stage::Triangle => Some(self.list(false)?),
            Stage::Part(_) if self.triangle.is_some() => Some(self.folded()?),
            Stage::Part(_) if self.is_listed() => Some(self.list(false)?),
            Stage::Part(_) => None,
        };
        let (source, entries, mut known) = match (list, stage) {
            (Some(list), _) => {
                let known = list.known();
                let entries = Entries::of(&list, names, &known)?;
                (list, entries, known)
            }
            (None, Stage::Piece(piece)) => self.listed_entries(piece, names)?,
            (None, _) => self.only_entries(names)?,
        };
        let mut facts = Vec::new();
        if let (Some((modes, _)), Stage::Triangle) = (self.triangle, stage) {
            facts.push(in_triangle(&entries.coordinates, modes)?);
        }
        if let Some((modes, _)) = self.triangle {
            known.assume(same_extents(modes));
        }
        // Each count of a piece is proved not to be negative, so their sum is not either.
        if self.is_listed() {
            let counts = (0..self.pieces()?.len()).map(count_of);
            let is_folded = self.triangle.is_some() && matches!(stage, Stage::Part(_));
            let totals = [Some("L_NZ"), is_folded.then_some("T_NZ")];
            let totals = totals.into_iter().flatten().map(str::to_owned);
            for count in counts.chain(totals) {
                let (zero, count) = (zero(), Expression::Constant(count));
                known.assume(Constraint::new(zero, Comparison::LessEqual, count));
            }
        }
        Ok(Sides {
            source,
            entries,
            known,
            parts,
            number,
            facts,
        })
    }

    /// The list of the entries of all pieces. They are known to be in the triangle if this is
    /// asked for.
    pub(crate) fn list(&self, in_triangle: bool) -> Result<Side, Refusal> {
        self.listing("L", in_triangle)
    }

    /// The list of the entries in the triangle, each once.
    pub(crate) fn folded(&self) -> Result<Side, Refusal> {
        self.listing("T", true)
    }

    fn listing(&self, name: &str, in_triangle: bool) -> Result<Side, Refusal> {
        let order = self.destination.first().map_or(0, Descriptor::order);
        let each = |text: &dyn Fn(usize) -> String, by: &str| -> String {
            let all: Vec<String> = (0..order).map(text).collect();
            all.join(by)
        };
        let is = |m: usize| format!("crd{m}(n) = i{m} && 0 <= i{m} < N{m}");
        let array = |m: usize| {
            format!("function crd{m} : {{[n] : 0 <= n < NZ}} -> {{[i] : 0 <= i < N{m}}}")
        };
        let more = match self.triangle.filter(|_| in_triangle) {
            Some(([a, b], _)) => format!(" && i{a} >= i{b}"),
            None => String::new(),
        };
        let text = format!(
            "format list\nextents {}\nmap {{[n] -> [{}] : 0 <= n < NZ && {}{more}}}\ndata {{[n] -> [n]}}\n\
             values {{[n] : 0 <= n < NZ}}\n{}\n",
            each(&|m| format!("N{m}"), ", "),
            each(&|m| format!("i{m}"), ", "),
            each(&is, " && "),
            each(&array, "\n"),
        );
        let list: Descriptor = text
            .parse()
            .map_err(|_| Refusal::of("a scalar has no list of entries"))?;
        let mut list = Side::new(&list, name, name)?;
        let declared = self.computation.declarations.quantifiers().iter();
        let declared: Vec<&Quantifier> = declared.filter(|it| is_about(it, &list)).collect();
        for quantifier in declared {
            let premises = quantifier.premises().clone();
            let conclusions = quantifier.conclusions().to_vec();
            list.declarations.forall(premises, conclusions);
        }
        Ok(list)
    }
}

/// Whether a quantifier is about the arrays of a side, and about nothing else that is computed.
fn is_about(quantifier: &Quantifier, side: &Side) -> bool {
    let mut calls = 0;
    let mut is_own = true;
    let premises = quantifier.premises().constraints().iter();
    for constraint in premises.chain(quantifier.conclusions()) {
        for e in constraint.expressions() {
            e.visit(&mut |e| {
                if let Expression::Call(name, _) = e
                    && !Parser::is_key(name)
                {
                    calls += 1;
                    is_own &= side.owns(name);
                }
            });
        }
    }
    calls > 0 && is_own
}

/// That coordinates lie in the triangle.
pub(crate) fn in_triangle(
    coordinates: &[Expression],
    [a, b]: [usize; 2],
) -> Result<Constraint, Refusal> {
    match (coordinates.get(a), coordinates.get(b)) {
        (Some(a), Some(b)) => Ok(Constraint::new(
            a.clone(),
            Comparison::GreaterEqual,
            b.clone(),
        )),
        _ => Err(Refusal::of("a triangle has modes that there are not")),
    }
}

/// That two modes have the same extent, since their coordinates are exchanged.
pub(crate) fn same_extents(modes: [usize; 2]) -> Constraint {
    let [a, b] = modes.map(|mode| Expression::Constant(format!("N{mode}")));
    a.equals(b)
}

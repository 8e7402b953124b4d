//! One conjunction while its variables find their values one by one.

use std::collections::BTreeSet;

use sparsec_base::arena::Id;

use super::proofs::Proofs;
use crate::conjunction::Conjunction;
use crate::declarations::Declarations;
use crate::expression::{Comparison, Expression, Values, Variable};
use crate::facts::{Facts, atom};
use crate::key;
use crate::names::Names;
use crate::polynomial::{Atom, Polynomial, Row, Sign};
use crate::solve::solved;

/// A comparison that is not enforced yet.
#[derive(Clone)]
pub(super) struct Pending {
    pub(super) row: Row,
    /// The call or division that has a value only where the row holds.
    of: Option<Polynomial>,
    /// Whether bounds of a loop see to it, once its calls have values.
    pub(super) is_met: bool,
}

/// The innermost step of an item.
#[derive(Clone)]
pub(super) enum Finish {
    /// Visits the tuple, unless an earlier part of the union has it.
    Visit { earlier: Vec<Item> },
    /// Says that there is a point.
    Found,
}

/// A conjunction, some of whose variables have values.
#[derive(Clone)]
pub(super) struct Item {
    /// Of the visit that it is of.
    pub(super) number: usize,
    /// The expressions that order the points, the outermost first.
    pub(super) order: Vec<Polynomial>,
    /// The elements of the tuple.
    pub(super) tuple: Vec<Polynomial>,
    /// The `exists` variables.
    pub(super) exists: Vec<Variable>,
    /// The variables that have values.
    pub(super) known: BTreeSet<Variable>,
    /// All comparisons.
    pub(super) rows: Vec<Row>,
    /// Those that are still to be enforced.
    pub(super) pending: Vec<Pending>,
    /// Those that hold where the loops are.
    pub(super) context: Vec<Row>,
    pub(super) finish: Finish,
}

/// Why a conjunction cannot be scanned.
pub(super) enum Refused {
    /// A number does not fit 64 bits.
    TooLarge,
    /// A function is not declared, or not with a domain that can be tested.
    Domain(String),
}

impl Item {
    /// Variables in place of those of a conjunction.
    fn places(part: &Conjunction, names: &mut Names) -> Vec<Expression> {
        let all = part.inputs().chain(part.outputs()).chain(part.exists());
        let places = all.map(|v| Expression::Variable(names.push(part.name(v))));
        places.collect()
    }

    /// The same conjunction for another visit, whose loops over all variables are the same ones. So
    /// questions about it have answers already.
    pub(super) fn again(
        &self,
        number: usize,
        part: &Conjunction,
        time: &[Expression],
        names: &mut Names,
    ) -> Self {
        // Names depend on how many variables there are.
        Self::places(part, names);
        let numbers = self.order.iter().zip(time).map(|(sum, e)| match e {
            Expression::Integer(n) => Polynomial::integer(*n),
            _ => sum.clone(),
        });
        Self {
            number,
            order: numbers.collect(),
            ..self.clone()
        }
    }

    pub(super) fn new(
        number: usize,
        part: &Conjunction,
        time: &[Expression],
        names: &mut Names,
        declarations: &Declarations,
    ) -> Result<Self, Refused> {
        let places = Self::places(part, names);
        let here = Values(&places);
        let value = |e: &Expression| Polynomial::of(&e.rewritten(&here)).ok_or(Refused::TooLarge);
        let mut item = Self {
            number,
            order: time.iter().map(value).collect::<Result<_, _>>()?,
            tuple: Vec::new(),
            exists: Vec::new(),
            known: BTreeSet::new(),
            rows: Vec::new(),
            pending: Vec::new(),
            context: Vec::new(),
            finish: Finish::Visit {
                earlier: Vec::new(),
            },
        };
        for element in part.inputs().chain(part.outputs()) {
            item.tuple.push(value(&Expression::Variable(element))?);
        }
        for constraint in part.constraints() {
            let constraint = constraint.rewritten(&here);
            // Terms that cancel out in a sum must have values too.
            for e in constraint.expressions() {
                let mut every = Vec::new();
                e.visit(&mut |e| {
                    if matches!(
                        e,
                        Expression::Call(..) | Expression::FloorDivide(..) | Expression::Modulo(..)
                    ) {
                        every.push(Polynomial::of(e).ok_or(Refused::TooLarge));
                    }
                });
                for sum in every {
                    item.add_domains(&sum?, declarations)?;
                }
            }
            for (left, comparison, right) in constraint.links() {
                item.add(Row::of(left, comparison, right).ok_or(Refused::TooLarge)?);
            }
        }
        for sum in item.order.clone() {
            item.add_domains(&sum, declarations)?;
        }
        let mut at = 0;
        while at < item.pending.len() {
            let sum = item.pending[at].row.sum.clone();
            item.add_domains(&sum, declarations)?;
            at += 1;
        }
        let used: BTreeSet<Variable> = item.rows.iter().flat_map(|r| r.sum.variables()).collect();
        let exists = part.exists().map(|v| match &places[v.index()] {
            Expression::Variable(v) => *v,
            _ => unreachable!("places are variables"),
        });
        item.exists = exists.filter(|v| used.contains(v)).collect();
        Ok(item)
    }

    /// One more comparison to enforce.
    pub(super) fn add(&mut self, row: Row) {
        self.rows.push(row.clone());
        self.pending.push(Pending {
            row,
            of: None,
            is_met: false,
        });
    }

    /// Where the calls and divisions in `sum` have values.
    fn add_domains(&mut self, sum: &Polynomial, known: &Declarations) -> Result<(), Refused> {
        let mut atoms = BTreeSet::new();
        sum.visit(&mut |atom| {
            if atom.is_partial() {
                atoms.insert(atom.clone());
            }
        });
        for atom in atoms {
            let of = Polynomial::atom(atom.clone());
            if self.pending.iter().any(|p| p.of.as_ref() == Some(&of)) {
                continue;
            }
            let rows = match &atom {
                Atom::Call(name, arguments) => domain(name, arguments, known)?,
                Atom::FloorDivide(_, b) | Atom::Modulo(_, b) => vec![Row {
                    sum: (**b).clone(),
                    sign: Sign::NonZero,
                }],
                Atom::Variable(_) | Atom::Constant(_) => Vec::new(),
            };
            for row in rows {
                self.rows.push(row.clone());
                self.pending.push(Pending {
                    row,
                    of: Some(of.clone()),
                    is_met: false,
                });
            }
        }
        Ok(())
    }

    /// Puts a value in place of a variable everywhere.
    pub(super) fn substitute(&mut self, variable: Variable, value: &Polynomial) -> Option<()> {
        let put = |sum: &mut Polynomial| -> Option<()> {
            *sum = sum.substituted(variable, value)?;
            Some(())
        };
        self.order.iter_mut().try_for_each(put)?;
        self.tuple.iter_mut().try_for_each(put)?;
        for row in self.rows.iter_mut().chain(&mut self.context) {
            put(&mut row.sum)?;
        }
        for pending in &mut self.pending {
            put(&mut pending.row.sum)?;
            if let Some(of) = &mut pending.of {
                put(of)?;
            }
        }
        self.exists.retain(|v| *v != variable);
        if let Finish::Visit { earlier } = &mut self.finish {
            // Their tuples are compared with this one's at the end.
            for item in earlier {
                item.substitute(variable, value)?;
            }
        }
        Some(())
    }

    /// Whether it is known to have no point.
    pub(super) fn is_empty(&self, proofs: &Proofs<'_>) -> bool {
        proofs.of(&self.rows, Facts::impossible)
    }

    /// The variables of `sum` without values.
    pub(super) fn open(&self, sum: &Polynomial) -> Vec<Variable> {
        let all = sum.variables().into_iter();
        all.filter(|v| !self.known.contains(v)).collect()
    }

    /// Whether each call and division in `sum` has a value where the loops are.
    pub(super) fn has_values(&self, sum: &Polynomial, proofs: &Proofs<'_>) -> bool {
        let mut every = Vec::new();
        sum.visit(&mut |atom| {
            if atom.is_partial() && inverse_of(atom, proofs.declarations).is_none() {
                every.push(atom.clone());
            }
        });
        every.iter().all(|atom| {
            let of = Polynomial::atom(atom.clone());
            let stated = self.rows.iter().any(|row| has_atom(&row.sum, atom));
            let unmet = self.pending.iter().any(|p| p.of.as_ref() == Some(&of));
            (stated && !unmet) || proofs.has_value(&self.context, atom)
        })
    }

    /// Whether a comparison can be tested where the loops are.
    fn is_ready(&self, pending: &Pending) -> bool {
        self.open(&pending.row.sum).is_empty()
            && self.pending.iter().all(|other| {
                let of = other.of.as_ref().and_then(Polynomial::as_atom);
                of.is_none_or(|atom| !has_atom(&pending.row.sum, atom))
            })
    }

    /// Enforces comparisons that are known to hold at this place of the loops. With `test`, returns
    /// comparisons that can be tested now, in an order in which each has a value if the earlier
    /// ones hold.
    pub(super) fn enforce(&mut self, proofs: &Proofs<'_>, test: bool) -> Vec<Row> {
        let mut tested = Vec::new();
        loop {
            let ready = || (0..self.pending.len()).filter(|&at| self.is_ready(&self.pending[at]));
            // A known comparison may imply the next one.
            let known = ready().find(|&at| {
                let pending = &self.pending[at];
                pending.is_met || proofs.holds(&self.context, &pending.row)
            });
            let Some(at) = known.or_else(|| ready().next().filter(|_| test)) else {
                return tested;
            };
            let row = self.pending.remove(at).row;
            if known.is_none() {
                tested.push(row.clone());
            }
            self.context.push(row);
        }
    }

    /// A variable that the others determine, and its value.
    pub(super) fn determined(&self, proofs: &Proofs<'_>) -> Option<(Variable, Polynomial)> {
        if self.rows.iter().all(|row| self.open(&row.sum).is_empty()) {
            return None;
        }
        let given = self.known.iter().copied();
        let all = proofs.of(&self.rows, |facts| {
            solved(&self.rows, facts, given, proofs.declarations)
        });
        let mut new = all.into_iter().filter(|(v, _)| !self.known.contains(v));
        new.find(|(_, value)| self.has_values(value, proofs))
    }

    /// Gives a variable a value.
    pub(super) fn bind(&mut self, variable: Variable, value: &Polynomial) {
        self.known.insert(variable);
        self.exists.retain(|v| *v != variable);
        let sum = Polynomial::atom(atom(variable)).plus(-1, value);
        self.context.extend(sum.map(|sum| Row {
            sum,
            sign: Sign::Zero,
        }));
    }

    /// Whether, of two points with equal known variables, the one with the smaller `first` has the
    /// smaller `then`. Without `then`: whether there are no two.
    pub(super) fn increases(
        &self,
        first: Variable,
        then: Option<Variable>,
        names: &mut Names,
        proofs: &Proofs<'_>,
    ) -> bool {
        let mut rows = self.rows.clone();
        let mut other = rows.clone();
        let mut twin = |v: Variable| {
            let twin = names.twin(v);
            let value = Polynomial::atom(atom(twin));
            for row in &mut other {
                match row.sum.substituted(v, &value) {
                    Some(sum) => row.sum = sum,
                    None => return None,
                }
            }
            Some(twin)
        };
        let open: BTreeSet<Variable> = self.rows.iter().flat_map(|r| self.open(&r.sum)).collect();
        let mut twins = Vec::new();
        for v in open {
            let Some(twin) = twin(v) else { return false };
            twins.push((v, twin));
        }
        rows.append(&mut other);
        let of = |v: Variable| twins.iter().find(|(a, _)| *a == v).map(|(_, b)| *b);
        let mut compare = |left: Variable, comparison, right: Variable| {
            let e = Expression::Variable;
            rows.extend(Row::of(&e(left), comparison, &e(right)));
        };
        let Some(second) = of(first) else {
            return false;
        };
        compare(first, Comparison::Less, second);
        if let Some(then) = then {
            let Some(after) = of(then) else { return false };
            compare(then, Comparison::GreaterEqual, after);
        }
        Facts::of_rows(rows, proofs.declarations).impossible()
    }
}

/// Whether an atom occurs in a sum, arguments of calls included.
fn has_atom(sum: &Polynomial, atom: &Atom) -> bool {
    let mut found = false;
    sum.visit(&mut |other| found |= other == atom);
    found
}

/// The function whose argument an atom finds, if it can be looked up.
fn inverse_of<'a>(atom: &Atom, declarations: &'a Declarations) -> Option<&'a str> {
    let Atom::Call(name, _) = atom else {
        return None;
    };
    let (function, way) = name.rsplit_once('.')?;
    let function = declarations.function(function)?;
    let is_place = match way {
        "first" => function.monotone.is_some(),
        "inverse" => function.monotone.is_some() || function.range.as_box().is_some(),
        _ => false,
    };
    let is_box = || function.domain.as_box().is_some();
    (is_place && function.domain.n_elements() == 1 && is_box()).then_some(&function.name)
}

/// The rows under which a call has a value. A key on a curve also has none if it is too large;
/// loops check that when they run.
pub(super) fn domain(
    name: &str,
    arguments: &[Polynomial],
    known: &Declarations,
) -> Result<Vec<Row>, Refused> {
    let refused = || Refused::Domain(name.to_owned());
    let from_zero = |coordinate: &Polynomial| Row {
        sum: coordinate.clone(),
        sign: Sign::NonNegative,
    };
    match name {
        key::UNMORTON | key::UNALTO => {
            return Ok(arguments.first().map(from_zero).into_iter().collect());
        }
        key::MORTON => return Ok(arguments.iter().map(from_zero).collect()),
        key::ALTO => {
            let pairs = arguments.chunks_exact(2).map(|pair| {
                let last = pair[1].plus(-1, &Polynomial::integer(1));
                let sum = last.and_then(|last| last.plus(-1, &pair[0]));
                let below = Row {
                    sum: sum.ok_or(Refused::TooLarge)?,
                    sign: Sign::NonNegative,
                };
                Ok([from_zero(&pair[0]), below])
            });
            let pairs: Result<Vec<[Row; 2]>, Refused> = pairs.collect();
            return Ok(pairs?.concat());
        }
        _ => {}
    }
    let function = known.function(name).ok_or_else(refused)?;
    let domain = function.domain_at(arguments).ok_or_else(refused)?;
    let rows = domain.iter().map(|link| {
        let (comparison, right) = &link.rest[0];
        Row::of(&link.first, *comparison, right).ok_or(Refused::TooLarge)
    });
    rows.collect()
}

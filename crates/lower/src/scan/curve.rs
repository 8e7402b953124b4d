//! Places on curves in loops: `MORTON(i, j)` and `ALTO(i, N, j, M)`; and the coordinates of
//! such places, `UNMORTON(key, 0, 2)` and `UNALTO(key, 0, N, M)`.
//!
//! A key interleaves the bits of all coordinates. Loops divide each coordinate into digits of
//! eight bits, look up the bits of the key for each digit, and add them:
//!
//! ```text
//! MORTON(i, j)    bit b of i is bit 2 b + 1 of the key, bit b of j is bit 2 b
//!
//! table           for each coordinate, for each of its digits, for each value of the digit
//!                 from 0 to 255: the bits of the key         made once, in front of all loops
//!
//! key = 0
//! for each coordinate:
//!   for digit in 0..as many as coordinates may have { key += table[digit * 256 + (rest & 255)]; rest //= 256 }
//! ```
//!
//! All points take as many digits. A loop that ends with the highest bit of a coordinate ends where no
//! branch predictor expects it: such loops over digits of four bits took 21 ms for a million keys of 55
//! bits, loops over all digits of four bits 6.7 ms, and of eight bits 1.4 ms.
//!
//! Coordinates of a key are found in the same way: the digits of a key stand for bits of all
//! coordinates, side by side in one word ([`Packed`]). That takes 1.6 ns a key of 55 bits.
//!
//! A coordinate that has no key ends the function: one that is negative, not below its extent,
//! or so large that the key would have more than 63 bits.
//!
//! Sorts compare Morton keys of coordinates below known ends by the bits in use alone ([`TRIMMED`]),
//! and the coordinates are computed from the sorted keys: to read three coordinates far from the last ones
//! takes 3 to 10 ns.

use std::cmp::Ordering;

use sparsec_base::ElementType;
use sparsec_computation::{Access, Key, Statement, Value};
use sparsec_loop::{Access as BufferAccess, BinaryOp, Buffer, Builder, Expr, Failure, Stmt, Var};
use sparsec_relation::{Comparison, Constraint, Declarations, Expression, Parser};

use super::emit::Emitter;
use super::for_each_expression;
use super::inside::Proofs;

mod coordinates;

pub(super) use coordinates::Packed;

/// The bits of a key that is not negative.
const N_BITS: usize = 63;
/// The bits of a digit.
const DIGIT: i64 = 8;
/// The values of a digit.
const VALUES: i64 = 1 << DIGIT;
/// The entries of a coordinate in the table: one for each value of each digit of 64 bits.
const OF_COORDINATE: i64 = VALUES * 64 / DIGIT;

/// A Morton key without the bits that no coordinate below its end has: of each coordinate, which is
/// known to be below, and its end in turn.
pub(super) const TRIMMED: &str = "MORTON.trimmed";

/// Whether loops compute a key.
pub(super) fn is_computed(name: &str) -> bool {
    name == TRIMMED || Parser::is_key(name) && name != "LEX"
}

/// Whether a constraint speaks of a place on a curve, or of a declared key.
pub(super) fn is_called(constraint: &Constraint, keys: &Declarations) -> bool {
    let mut is_called = false;
    for e in constraint.expressions() {
        e.visit(&mut |e| is_called |= matches!(e, Expression::Call(name, _) if keys.is_key(name)));
    }
    is_called
}

/// Whether a key on a curve is below its extent at each point, by the form of both:
///
/// | extent                                | where                                          |
/// |---------------------------------------|------------------------------------------------|
/// | the largest integer                   | always                                         |
/// | `2^(n b)`                             | the `n` coordinates are remainders of `b` bits |
/// | `MORTON(N floordiv c, M floordiv c) + 1` | the coordinates are `i floordiv c` and `j floordiv c`, with `0 <= i <= N` and `0 <= j <= M` |
pub(super) fn is_below<'a>(statement: &'a Statement, key: &Key, proofs: &Proofs<'a>) -> bool {
    let Expression::Call(name, coordinates) = &key.value else {
        return false;
    };
    match &key.extent {
        Expression::Integer(i64::MAX) => is_computed(name),
        Expression::Integer(extent) => {
            let bits: Option<Vec<usize>> = coordinates.iter().map(n_bits).collect();
            let most = bits.and_then(|bits| bits.into_iter().max());
            let most = most.map(|most| most * coordinates.len());
            name == "MORTON" && most.is_some_and(|most| most < N_BITS && *extent >= 1 << most)
        }
        Expression::Add(last, one) => match (&**last, &**one) {
            (Expression::Call(of_last, last), Expression::Integer(1)) => {
                name == "MORTON"
                    && of_last == name
                    && last.len() == coordinates.len()
                    && std::iter::zip(coordinates, last).all(|(coordinate, last)| {
                        match (coordinate, last) {
                            (Expression::FloorDivide(i, c), Expression::FloorDivide(n, by)) => {
                                let within = Constraint {
                                    first: Expression::Integer(0),
                                    rest: vec![
                                        (Comparison::LessEqual, (**i).clone()),
                                        (Comparison::LessEqual, (**n).clone()),
                                    ],
                                };
                                c == by && proofs.implies(&statement.space, &within)
                            }
                            _ => false,
                        }
                    })
            }
            _ => false,
        },
        _ => false,
    }
}

/// The bits of a remainder.
fn n_bits(e: &Expression) -> Option<usize> {
    let Expression::Modulo(_, by) = e else {
        return None;
    };
    match **by {
        Expression::Integer(by @ 1..) => Some((i64::BITS - (by - 1).leading_zeros()) as usize),
        _ => None,
    }
}

/// The table of a curve.
#[derive(Clone, Debug)]
pub(super) enum Curve {
    /// For keys: with how many bits each coordinate has.
    Keys(Buffer, Vec<Expr>),
    /// For the coordinates of keys.
    Coordinates(Packed),
}

/// The numbers that a call puts together or takes apart: coordinates with their extents where
/// the curve has some, or a key.
struct Called<'e> {
    /// The coordinates, or the key alone.
    given: Vec<&'e Expression>,
    /// The extents of the curve's coordinates; `None` for as many bits as fit.
    extents: Vec<Option<&'e Expression>>,
    /// The coordinate that is taken from a key.
    wanted: Option<usize>,
    /// Whether coordinates with fewer bits are dealt first; the last one is if not.
    is_by_width: bool,
    /// Whether coordinates are known to be below their extents.
    are_below: bool,
}

impl<'e> Called<'e> {
    fn of(name: &str, arguments: &'e [Expression]) -> Self {
        let number = |e: &Expression| match e {
            Expression::Integer(n) => usize::try_from(*n).ok(),
            _ => None,
        };
        let (given, extents, wanted): (Vec<_>, Vec<_>, _) = match (name, arguments) {
            ("ALTO" | TRIMMED, pairs) => {
                let pairs = pairs.chunks_exact(2);
                let given = pairs.clone().map(|pair| &pair[0]);
                (
                    given.collect(),
                    pairs.map(|pair| Some(&pair[1])).collect(),
                    None,
                )
            }
            ("UNALTO", [key, c, extents @ ..]) => {
                (vec![key], extents.iter().map(Some).collect(), number(c))
            }
            ("UNMORTON", [key, c, n]) => (vec![key], vec![None; number(n).unwrap_or(1)], number(c)),
            (_, coordinates) => {
                let n = coordinates.len();
                (coordinates.iter().collect(), vec![None; n], None)
            }
        };
        Self {
            given,
            extents,
            wanted,
            is_by_width: ["ALTO", "UNALTO"].contains(&name),
            are_below: name == TRIMMED,
        }
    }

    /// The coordinates, below these ends, of a trimmed key.
    fn of_trimmed(ends: &'e [Expression]) -> Self {
        Self {
            given: Vec::new(),
            extents: ends.iter().map(Some).collect(),
            wanted: Some(0),
            is_by_width: false,
            are_below: true,
        }
    }

    /// What tells the tables of calls apart.
    fn table(&self) -> String {
        let of = if self.wanted.is_some() { "from" } else { "to" };
        let by = if self.is_by_width {
            "by width"
        } else {
            "in turn"
        };
        format!("{of} {by} {:?}", self.extents)
    }
}

/// Whether the arguments of a call are of its form.
pub(super) fn is_well_formed(name: &str, arguments: &[Expression]) -> bool {
    let called = Called::of(name, arguments);
    let n = called.extents.len();
    let is_inverse = name.starts_with("UN");
    (1..=N_BITS).contains(&n) && called.wanted.is_some_and(|c| c < n) == is_inverse
}

impl Emitter<'_> {
    /// Makes the tables of the curves that statements of the stage speak of.
    pub(super) fn make_curves(&mut self) {
        let mut wanted: Vec<(String, Vec<Expression>)> = Vec::new();
        let mut note = |e: &Expression| {
            e.visit(&mut |e| {
                if let Expression::Call(name, arguments) = e
                    && is_computed(name)
                {
                    wanted.push((name.clone(), arguments.clone()));
                }
            });
        };
        for statement in &self.computation.statements {
            for_each_expression(statement, &mut note);
            statement.value.visit(&mut |value| {
                if let Value::Curve(name, arguments) = value {
                    note(&Expression::Call(name.clone(), arguments.clone()));
                }
            });
        }
        for (name, arguments) in wanted {
            self.make_curve(&name, &arguments);
        }
    }

    /// Makes the table of a curve that a call speaks of, if it is not there.
    pub(super) fn make_curve(&mut self, name: &str, arguments: &[Expression]) {
        let called = Called::of(name, arguments);
        let key = called.table();
        if !self.curves.contains_key(&key) {
            let table = self.table(&called);
            self.curves.insert(key, table);
        }
    }

    /// The bits of keys of coordinates below these extents, or of as many bits as fit; or the
    /// bits of coordinates.
    fn table(&mut self, called: &Called<'_>) -> Curve {
        match called.wanted {
            Some(_) => Curve::Coordinates(self.table_of_coordinates(called)),
            None => {
                let (table, widths, _) = self.dealt(called);
                Curve::Keys(table, widths)
            }
        }
    }

    /// As [`table`](Self::table): with the bits of each coordinate, and of keys.
    fn dealt(&mut self, called: &Called<'_>) -> (Buffer, Vec<Expr>, Expr) {
        let extents = &called.extents;
        let element = ElementType::I64;
        let access = BufferAccess::Workspace;
        let table = self.builder.buffer("bits", element, element, access);
        let n_tables = match called.wanted {
            Some(_) => 1,
            None => extents.len(),
        };
        let len = Expr::int(n_tables as i64 * OF_COORDINATE);
        let buffer = table;
        self.builder.push(Stmt::Alloc { buffer, len });
        let widths = extents.iter().map(|extent| match extent {
            Some(extent) => Expr::Var(self.width(extent)),
            None => Expr::int((N_BITS / extents.len()) as i64),
        });
        let widths: Vec<Expr> = widths.collect();
        let n_dealt = self.builder.var_("n_dealt", 0);
        let bit = self.builder.fixed("bit", element);
        self.builder.for_loop(bit, 0, N_BITS as i64, |b| {
            for (c, width) in widths.iter().enumerate() {
                let has = Expr::Var(bit).less(width.clone());
                b.if_then(has, |b| {
                    // By width those with fewer bits are dealt first, and of equal ones the last.
                    let place = b.var_("place", n_dealt);
                    for (other, its) in widths.iter().enumerate() {
                        let has = Expr::Var(bit).less(its.clone());
                        let is_dealt = match (other.cmp(&c), called.is_by_width) {
                            (Ordering::Equal, _) | (Ordering::Less, false) => continue,
                            (Ordering::Greater, false) => has,
                            (Ordering::Greater, true) => {
                                has.and(its.clone().binary(BinaryOp::Le, width.clone()))
                            }
                            (Ordering::Less, true) => has.and(its.clone().less(width.clone())),
                        };
                        b.if_then(is_dealt, |b| b.assign(place, Expr::Var(place).add(1)));
                    }
                    let own = c as i64 * OF_COORDINATE;
                    let below = widths[c + 1..].iter().cloned();
                    let (from, to, first) = match called.wanted {
                        Some(_) => (place, below.fold(bit.into(), Expr::add), 0),
                        None => (bit, Expr::Var(place), own),
                    };
                    let weight = power_of_two(b, to);
                    enter(b, table, (from, first), weight);
                });
            }
            for width in &widths {
                let has = Expr::Var(bit).less(width.clone());
                b.if_then(has, |b| b.assign(n_dealt, Expr::Var(n_dealt).add(1)));
            }
        });
        let too_many = Expr::int(N_BITS as i64).less(n_dealt);
        self.builder
            .if_then(too_many, |b| b.fail(Failure::NotAsDeclared));
        (table, widths, n_dealt.into())
    }

    /// How many bits the coordinates below an extent have.
    pub(super) fn width(&mut self, extent: &Expression) -> Var {
        let extent = self.expr(extent);
        let rest = self.builder.var_("rest", extent.binary(BinaryOp::Sub, 1));
        let width = self.builder.var_("width", 0);
        self.builder.while_loop(Expr::int(0).less(rest), |b| {
            b.assign(width, Expr::Var(width).add(1));
            b.assign(rest, Expr::Var(rest).binary(BinaryOp::FloorDiv, 2));
        });
        width
    }

    /// The key of coordinates, or a coordinate of a key; it stays in a variable for the
    /// statements behind this one.
    pub(super) fn place_on_curve(&mut self, name: &str, arguments: &[Expression]) -> Expr {
        let called = Called::of(name, arguments);
        match (self.curves[&called.table()].clone(), called.wanted) {
            (Curve::Coordinates(packed), Some(wanted)) => {
                let word = self.carried_from(&called.table(), called.given[0], |this| {
                    let key = this.expr(called.given[0]);
                    let key = this.builder.var_("rest", key);
                    this.fail_outside(key, Expr::int(i64::MAX));
                    this.word(key, &packed)
                });
                packed.coordinate(word, wanted)
            }
            (Curve::Keys(table, widths), _) => {
                let key = Expression::Call(name.to_owned(), arguments.to_vec());
                let key =
                    self.carried_from(name, &key, |this| this.key_of(&called, (table, &widths)));
                key.into()
            }
            (Curve::Coordinates(_), None) => unreachable!("a coordinate of the key is wanted"),
        }
    }

    /// A value that a curve gives to an expression, which is computed once for the statements at a
    /// point.
    fn carried_from(
        &mut self,
        curve: &str,
        of: &Expression,
        compute: impl FnOnce(&mut Self) -> Var,
    ) -> Var {
        let access = Access {
            space: curve.to_owned(),
            indices: vec![of.clone()],
        };
        let mut carried = self.carried.iter().rev();
        if let Some((_, var)) = carried.find(|(it, _)| *it == access) {
            return *var;
        }
        let var = compute(self);
        self.carried.push((access, var));
        var
    }

    /// The key of coordinates.
    fn key_of(&mut self, called: &Called<'_>, (table, widths): (Buffer, &[Expr])) -> Var {
        let most = N_BITS / called.given.len();
        let sum = self.builder.var_("sum", 0);
        for (c, given) in called.given.iter().enumerate() {
            let value = self.expr(given);
            let rest = self.builder.var_("rest", value);
            let own_bits = n_bits(given).filter(|n| *n <= most);
            let is_small = called.extents[c].is_none() && own_bits.is_some();
            if !called.are_below && !is_small {
                let end = match (called.extents[c], most) {
                    (Some(extent), _) => self.expr(extent),
                    (None, N_BITS) => Expr::int(i64::MAX),
                    (None, most) => Expr::int(1 << most),
                };
                self.fail_outside(rest, end);
            }
            let first = c as i64 * OF_COORDINATE;
            let n_bits = match own_bits {
                Some(n) => Expr::int(n as i64),
                None => widths[c].clone(),
            };
            self.add_digits((rest, n_bits), (table, first), sum);
        }
        sum
    }

    /// Ends the function where a number is negative or not below its end.
    fn fail_outside(&mut self, number: Var, end: Expr) {
        let is_outside = Expr::Var(number)
            .less(0)
            .binary(BinaryOp::Or, end.binary(BinaryOp::Le, number));
        self.builder
            .if_then(is_outside, |b| b.fail(Failure::NotAsDeclared));
    }

    /// Adds up the table's entries for the digits of a number. Those of its first digit begin at `first`.
    fn add_digits(&mut self, (rest, n_bits): (Var, Expr), (table, first): (Buffer, i64), sum: Var) {
        let n_digits = n_bits.add(DIGIT - 1).binary(BinaryOp::FloorDiv, DIGIT);
        let digit = self.builder.fixed("digit", ElementType::I64);
        self.builder.for_loop(digit, 0, n_digits, |b| {
            let value = Expr::Var(rest).binary(BinaryOp::BitAnd, VALUES - 1);
            let at = Expr::Var(digit).mul(VALUES).add(first).add(value);
            b.assign(sum, Expr::Var(sum).add(Expr::load(table, at)));
            b.assign(rest, Expr::Var(rest).binary(BinaryOp::FloorDiv, VALUES));
        });
    }
}

/// `2^n`, for `n` below 64.
fn power_of_two(b: &mut Builder, n: impl Into<Expr>) -> Var {
    let power = b.var_("power", 1);
    let turn = b.fixed("bit", ElementType::I64);
    b.for_loop(turn, 0, n, |b| b.assign(power, Expr::Var(power).mul(2)));
    power
}

/// Adds to the values of a digit that have a bit, counted from the first of the number, its
/// weight; the number's digits begin at an entry of the table.
fn enter(b: &mut Builder, table: Buffer, (bit, first): (Var, i64), weight: Var) {
    let digit = Expr::Var(bit).binary(BinaryOp::FloorDiv, DIGIT).mul(VALUES);
    let digit = b.let_("digit", digit.add(first));
    let in_digit = b.let_("in_digit", Expr::Var(bit).binary(BinaryOp::Mod, DIGIT));
    let part = power_of_two(b, in_digit);
    let n_higher = power_of_two(b, Expr::int(DIGIT - 1).binary(BinaryOp::Sub, in_digit));
    let higher = b.fixed("higher", ElementType::I64);
    b.for_loop(higher, 0, n_higher, |b| {
        let begin = Expr::Var(higher).mul(2).add(1).mul(part).add(digit);
        let begin = b.let_("begin", begin);
        let lower = b.fixed("lower", ElementType::I64);
        b.for_loop(lower, 0, part, |b| {
            let at = b.let_("at", Expr::Var(begin).add(lower));
            b.store(table, at, Expr::load(table, at).add(weight));
        });
    });
}

//! Random programs: statements, operands, and what is done to their plans.

use std::collections::BTreeMap;
use std::fmt;

use proptest::prelude::*;
use sparsec::internals::{Inputs, Request};
use sparsec::{Source, UserFunction, parse_function};

use super::expression::{self, NAMES, Node, ORDERS, RESULTS, Scope, VARS};
use super::format::format_of_result;
use super::huge;
use super::left::{self, Left};
use super::meaning;
use super::operand::{self, Operand};
use super::spelling;
use crate::reschedule::Step;

/// Functions of the user that every program may call.
pub(crate) const FUNCTIONS: [&str; 3] = [
    "gate(a, b) = select(b > 0, a, 0)",
    "gain(a, b) = a * b + a * a : annihilator 0 at a",
    "modsum(a, b) = (a + b) % 7 : associative, commutative, identity 0",
];

/// One statement; its result is the next of [`RESULTS`].
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    /// The variables on the left.
    lhs: Vec<usize>,
    /// What stands at its modes in their place, for a statement that assigns part
    /// of a tensor.
    part: Option<Vec<Left>>,
    rhs: Node,
    /// How the result is stored, if that is said.
    format: Option<String>,
    /// A second statement that assigns the result again.
    again: Option<Again>,
}

/// A statement that goes on from a result.
#[derive(Clone, Debug)]
struct Again {
    form: &'static str,
    /// What it assigns, where it is not what the first one did.
    part: Option<Vec<Left>>,
    rhs: Node,
}

/// How a result is assigned again: `L` is what the statement before assigned, or
/// part of it.
const AGAIN: [&str; 5] = ["L = L * …", "L = … - L", "L = …", "L += …", "L max= …"];

/// A program with its data.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    statements: Vec<Statement>,
    /// The extents of the variables.
    extents: Vec<u64>,
    operands: Vec<Operand>,
    /// Commands that the plan is changed by, in a second run.
    pub(crate) steps: Vec<Step>,
}

/// Any program.
pub(crate) fn any() -> impl Strategy<Value = Case> {
    let statements = |n: usize| (0..n).map(statement).collect::<Vec<_>>();
    let statements = prop_oneof![16 => statements(1), 3 => statements(2), 1 => statements(3)];
    let extents = prop_oneof![
        6 => (1..6u64).prop_map(|extent| vec![extent; VARS.len()]),
        1 => Just(vec![0; VARS.len()]),
        1 => Just(vec![1; VARS.len()]),
        1 => prop::collection::vec(0..3u64, VARS.len()),
        4 => prop::collection::vec(1..6u64, VARS.len()),
        2 => with_one(0..2),
        1 => with_one(6..41),
        // Around what 8 bits hold.
        1 => with_one(250..261),
        2 => prop::collection::vec(prop_oneof![2 => Just(huge::EXTENT), 1 => 1..4u64], VARS.len()),
    ];
    let operands: Vec<_> = ORDERS.iter().map(|order| operand::any(*order)).collect();
    let steps = prop::collection::vec((0..13usize, 0..8usize, 0..6usize), 1..6);
    (statements, extents, operands, steps).prop_map(|(statements, extents, operands, steps)| {
        let mut case = Case {
            statements,
            extents,
            operands,
            steps,
        };
        if case.is_huge() {
            case.store_few();
        }
        case
    })
}

/// Small extents, but for one variable.
fn with_one(extent: std::ops::Range<u64>) -> impl Strategy<Value = Vec<u64>> {
    let others = prop::collection::vec(1..4u64, VARS.len());
    (others, 0..VARS.len(), extent).prop_map(|(mut extents, var, extent)| {
        extents[var] = extent;
        extents
    })
}

/// Any statement that comes after `earlier` others.
fn statement(earlier: usize) -> impl Strategy<Value = Statement> {
    let vars: Vec<usize> = (0..VARS.len()).collect();
    (Just(vars).prop_shuffle(), 0..4usize).prop_flat_map(move |(mut lhs, order)| {
        lhs.truncate(order);
        let format = prop::option::weighted(0.6, format_of_result(order));
        let part = |weight| prop::option::weighted(weight, left::any(order));
        let again = (
            prop::sample::select(AGAIN.to_vec()),
            part(0.6),
            expression::leaf(earlier + 1),
        );
        let again = again.prop_map(|(form, part, rhs)| Again { form, part, rhs });
        let again = prop::option::weighted(0.12, again);
        let rhs = expression::any(earlier);
        // As drawn; with reductions that mean something; with every sum written.
        let repair = prop_oneof![1 => Just(0), 2 => Just(1), 5 => Just(2)];
        let all = (Just(lhs), part(0.1), rhs, repair, format, again);
        all.prop_map(|(lhs, part, mut rhs, repair, format, again)| {
            if repair > 0 {
                rhs = meaning::bound_once(rhs, &lhs);
            }
            if repair > 1 {
                rhs = meaning::summed(rhs, &lhs);
            }
            Statement {
                lhs,
                part,
                rhs,
                format,
                again,
            }
        })
    })
}

/// Programs of more work than this are left out: a large extent in every mode of
/// a tensor, or one reduction inside the other over it.
const MOST_COST: u64 = 60_000;

impl Case {
    /// Whether some extent is so large that nothing may have its size.
    pub(crate) fn is_huge(&self) -> bool {
        self.extents.contains(&huge::EXTENT)
    }

    /// Changes what has the size of an extent.
    fn store_few(&mut self) {
        for operand in &mut self.operands {
            operand.fill = 0.0;
        }
        for (order, operand) in ORDERS.iter().zip(&mut self.operands) {
            operand.format = huge::format(*order, operand.seed);
        }
        for (number, statement) in self.statements.iter_mut().enumerate() {
            // What is not assigned may be read where nothing says its extent.
            statement.part = None;
            statement.again = None;
            let order = statement.lhs.len();
            if let Some(format) = &mut statement.format {
                *format = huge::format(order, (format.len() + number) as u64);
            }
        }
    }

    /// Whether the oracle, which visits every point, takes too long.
    pub(crate) fn is_large(&self) -> bool {
        let product = |extents: &[u64]| extents.iter().fold(1, |n: u64, e| n.saturating_mul(*e));
        let shapes = self.shapes();
        let mut extents = self.extents.clone();
        for statement in &self.statements {
            expression::raise(&statement.rhs, &shapes, &mut extents);
        }
        let points = product(&extents);
        let work = |it: &Statement| points.saturating_mul(expression::cost(&it.rhs, &extents));
        !self.is_huge()
            && (shapes
                .values()
                .any(|extents| product(extents) > MOST_COST / 4)
                || self.statements.iter().any(|it| work(it) > MOST_COST * 10))
    }

    /// The program with its operands.
    pub(crate) fn request(&self, functions: &[UserFunction]) -> (Request, Inputs) {
        let mut request = Request::new(Source::new("program", self.text(functions)));
        request.functions = functions.to_vec();
        // An infinity that one statement stores is a factor of finite fill in the next,
        // where only sums in the order of the source say what it makes of each entry.
        let is_infinite = self.operands.iter().any(|it| it.fill.is_infinite());
        let is_read_again = self.statements.iter().any(|it| it.again.is_some());
        request.strict = is_infinite && (self.statements.len() > 1 || is_read_again);
        // Small programs have chunks too.
        request.grain = 2;
        for (name, statement) in RESULTS.iter().zip(&self.statements) {
            let again = statement.again.as_ref();
            let parts = statement
                .part
                .iter()
                .chain(again.and_then(|it| it.part.as_ref()));
            let vars = statement.lhs.iter().copied();
            for var in vars.chain(parts.flatten().map(Left::var)) {
                let extent = self.extents[var];
                request.extents.insert(VARS[var].to_owned(), extent);
            }
            if let Some(format) = &statement.format {
                request
                    .set_format(name, format)
                    .expect("the strategy writes formats");
            }
        }
        let mut inputs = Inputs::new();
        for (slot, extents) in self.shapes() {
            let operand = &self.operands[slot];
            let name = NAMES[slot].to_owned();
            request.tensor(&name).element = Some(operand.element);
            inputs.insert(name, operand.tensor(&extents));
        }
        (request, inputs)
    }

    /// The extents of the variables.
    pub(crate) fn extents(&self) -> &[u64] {
        &self.extents
    }

    /// The formats that results are given.
    pub(crate) fn formats(&self) -> impl Iterator<Item = Option<&str>> {
        self.statements.iter().map(|it| it.format.as_deref())
    }

    /// The operand of a name.
    pub(crate) fn operand(&self, slot: usize) -> &Operand {
        &self.operands[slot]
    }

    /// Whether only variables stand at the modes of tensors, which then have their
    /// extents.
    pub(crate) fn has_plain_operands(&self) -> bool {
        let shapes = self.shapes();
        let is_plain = |node: &Node| node.is_plain(&self.extents, &shapes);
        self.statements.iter().all(|statement| {
            let again = statement.again.as_ref();
            let is_whole = statement.part.is_none() && again.is_none_or(|it| it.part.is_none());
            let rest = again.map(|it| &it.rhs);
            is_whole
                && [Some(&statement.rhs), rest]
                    .into_iter()
                    .flatten()
                    .all(is_plain)
        })
    }

    /// The statements with the sums that the rule for implied ones leaves open.
    fn text(&self, functions: &[UserFunction]) -> String {
        spelling::unambiguous(self.written(), functions)
    }

    /// The statements as the strategy wrote them, one a line.
    pub(crate) fn written(&self) -> String {
        let lefts: Vec<&[usize]> = self.statements.iter().map(|it| it.lhs.as_slice()).collect();
        let lines = self
            .statements
            .iter()
            .enumerate()
            .map(|(number, statement)| {
                let scope = |earlier: usize| Scope {
                    extents: &self.extents,
                    earlier: &lefts[..earlier],
                };
                let within: Vec<u64> = statement.lhs.iter().map(|it| self.extents[*it]).collect();
                let vars = statement.lhs.iter().map(|var| VARS[*var].to_owned());
                let whole = expression::access(RESULTS[number], vars);
                let left = |part: &[Left], within: &[u64]| {
                    let modes = std::iter::zip(part, &statement.lhs).enumerate();
                    let indices = modes.map(|(mode, (part, var))| {
                        part.text(*var, within.get(mode).copied(), &self.extents)
                    });
                    expression::access(RESULTS[number], indices)
                };
                let rhs = scope(number).text(&statement.rhs);
                let first = match &statement.part {
                    // A result that nothing bounds, and that has no value yet.
                    Some(part) => (
                        left(part, &[]),
                        ["+=", "="][usize::from(statement.again.is_some())],
                    ),
                    None => (whole.clone(), "="),
                };
                let Some(again) = &statement.again else {
                    return format!("{} {} {rhs}", first.0, first.1);
                };
                let assigned = match &again.part {
                    Some(part) if statement.part.is_none() => left(part, &within),
                    _ => first.0.clone(),
                };
                let rhs_again = scope(number + 1).text(&again.rhs);
                let text = again.form.replace('L', &assigned).replace('…', &rhs_again);
                format!("{} {} {rhs}\n{text}", first.0, first.1)
            });
        lines.collect::<Vec<String>>().join("\n")
    }

    /// The extents of every operand that is used, from where it is used first.
    pub(crate) fn shapes(&self) -> BTreeMap<usize, Vec<u64>> {
        let mut shapes = BTreeMap::new();
        for statement in &self.statements {
            expression::shapes(&statement.rhs, &self.extents, &mut shapes);
            if let Some(again) = &statement.again {
                expression::shapes(&again.rhs, &self.extents, &mut shapes);
            }
        }
        shapes
    }
}

/// All that makes the program, for people.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let functions = FUNCTIONS.map(|text| parse_function(text).expect(text));
        writeln!(f, "{}", self.text(&functions))?;
        for (name, statement) in RESULTS.iter().zip(&self.statements) {
            if let Some(format) = &statement.format {
                writeln!(f, "{name}: {format}")?;
            }
        }
        for (slot, extents) in self.shapes() {
            writeln!(f, "{}: {extents:?} {}", NAMES[slot], self.operands[slot])?;
        }
        let vars = VARS.iter().zip(&self.extents);
        let extents: Vec<String> = vars
            .map(|(var, extent)| format!("{var}={extent}"))
            .collect();
        writeln!(f, "{}", extents.join(" "))
    }
}

//! Whether every access lies in its array.

use std::cell::RefCell;
use std::rc::Rc;

use sparsec_base::{Diagnostic, Result, Span, code};
use sparsec_computation::{Access, Computation, Key, Statement};
use sparsec_relation::{
    Comparison, Conjunction, Consequences, Constraint, Declarations, Expression, Parser, Set,
};

use super::{curve, declaration, declared_bounds, place, printed, within};

/// What follows from the sets of statements, and what was asked of them so far: statements of a
/// sweep share their points, and mostly ask for the same.
pub(super) struct Proofs<'a> {
    known: &'a Declarations,
    sets: RefCell<Vec<(&'a Set, Rc<Asked<'a>>)>>,
}

/// A set with the answers so far.
struct Asked<'a> {
    consequences: Consequences<'a>,
    answers: RefCell<Vec<(Constraint, bool)>>,
}

impl<'a> Proofs<'a> {
    pub(super) fn new(known: &'a Declarations) -> Self {
        Self {
            known,
            sets: RefCell::default(),
        }
    }

    pub(super) fn implies(&self, set: &'a Set, asked: &Constraint) -> bool {
        let of = self.of(set);
        let found = |answers: &[(Constraint, bool)]| {
            let mut answers = answers.iter();
            Some(answers.find(|(constraint, _)| constraint == asked)?.1)
        };
        if let Some(answer) = found(&of.answers.borrow()) {
            return answer;
        }
        let answer = of.consequences.implies(asked);
        of.answers.borrow_mut().push((asked.clone(), answer));
        answer
    }

    fn of(&self, set: &'a Set) -> Rc<Asked<'a>> {
        let mut sets = self.sets.borrow_mut();
        if let Some((_, asked)) = sets.iter().find(|(known, _)| *known == set) {
            return Rc::clone(asked);
        }
        let asked = Rc::new(Asked {
            consequences: Consequences::of(set, self.known),
            answers: RefCell::default(),
        });
        sets.push((set, Rc::clone(&asked)));
        asked
    }
}

/// Refuses accesses of a statement that are not known to lie in their arrays, and
/// schedules that are not known to have values.
pub(super) fn check<'a>(
    computation: &Computation,
    statement: &'a Statement,
    proofs: &Proofs<'a>,
    text: &str,
) -> Result<()> {
    let read = statement.value.entries();
    for access in read.into_iter().chain([&statement.target]) {
        check_access(computation, statement, access, proofs, text)?;
    }
    for (_, keys) in statement.value.windows() {
        for key in keys {
            if curve::is_below(statement, key, proofs)
                || is_word_below(key, proofs)
                || is_declared_below(statement, (&key.value, &key.extent), proofs)
            {
                continue;
            }
            let asked = within(&key.value, &key.extent);
            let message = || {
                let name = &statement.name;
                format!("a key of `{name}` is not known to be less than its extent")
            };
            check_asked(computation, statement, (asked, &message), proofs, text)?;
        }
    }
    check_schedule(computation, statement, proofs, text)
}

/// Whether a key is a word of a key function that has no more bits than its extent.
fn is_word_below(key: &Key, proofs: &Proofs<'_>) -> bool {
    let (Expression::Call(name, _), Expression::Integer(extent)) = (&key.value, &key.extent) else {
        return false;
    };
    let word = proofs.known.key_of(name);
    word.is_some_and(|(key, word)| *extent >= 1 << key.bits_of(word))
}

/// Whether a number is the entry of a function whose declared range ends at an extent, at a place
/// in the domain: one step of a proof, from which others are short.
fn is_declared_below<'a>(
    statement: &'a Statement,
    (value, extent): (&Expression, &Expression),
    proofs: &Proofs<'a>,
) -> bool {
    let Expression::Call(name, arguments) = value else {
        return false;
    };
    let Some(function) = proofs.known.function(name) else {
        return false;
    };
    let (Some(domain), Some(range)) = (function.domain.as_box(), function.range.as_box()) else {
        return false;
    };
    let ([(least, above)], true) = (&range[..], domain.len() == arguments.len()) else {
        return false;
    };
    let at_most = |a: &Expression, b: &Expression| {
        let bound = Constraint::new(a.clone(), Comparison::LessEqual, b.clone());
        a == b || proofs.implies(&statement.space, &bound)
    };
    let is_in_domain = |(argument, (from, end)): (&Expression, &(Expression, Expression))| {
        let within = Constraint {
            first: from.clone(),
            rest: vec![
                (Comparison::LessEqual, argument.clone()),
                (Comparison::Less, end.clone()),
            ],
        };
        proofs.implies(&statement.space, &within)
    };
    std::iter::zip(arguments, &domain).all(is_in_domain)
        && at_most(&Expression::Integer(0), least)
        && at_most(above, extent)
}

/// A point without a time would be left out.
fn check_schedule<'a>(
    computation: &Computation,
    statement: &'a Statement,
    proofs: &Proofs<'a>,
    text: &str,
) -> Result<()> {
    let has_value = |e: &&Expression| {
        let itself = (*e).clone().equals((*e).clone());
        proofs.implies(&statement.space, &itself)
    };
    let Some(element) = statement.schedule.iter().find(|e| !has_value(e)) else {
        return Ok(());
    };
    let asked = text_of(statement, element.clone().equals(element.clone()));
    let element = asked.split(" = ").next().unwrap_or_default();
    let message = format!(
        "the schedule of `{}` is not known to have values at every point",
        statement.name
    );
    Err(Diagnostic::new(code::MAY_BE_OUTSIDE, message)
        .at(
            &printed(computation, text),
            place(text, &statement.name),
            format!("what is {element}` at each of them?"),
        )
        .help(
            "declare where the functions in it have values, and which divisors are not 0, or \
             restrict the iteration space",
        ))
}

fn check_access<'a>(
    computation: &Computation,
    statement: &'a Statement,
    access: &Access,
    proofs: &Proofs<'a>,
    text: &str,
) -> Result<()> {
    let space = computation.space(&access.space);
    let extents = space.map_or(&[][..], |space| &space.extents);
    for (index, extent) in access.indices.iter().zip(extents) {
        let message = || {
            let (space, name) = (&access.space, &statement.name);
            format!("`{space}` is not known to stay within its entries in `{name}`")
        };
        let is_inside = is_declared_below(statement, (index, extent), proofs)
            || is_place_in_rows(statement, index, extent, proofs);
        if !is_inside {
            let asked = (within(index, extent), &message as &dyn Fn() -> String);
            check_asked(computation, statement, asked, proofs, text)?;
        }
    }
    Ok(())
}

/// Whether an index is `p * n + i` with `0 <= i < n`, and `0 <= p < m` for an extent `m * n`:
/// a place in an array of `m` rows, by parts of which proofs are simple.
fn is_place_in_rows<'a>(
    statement: &'a Statement,
    index: &Expression,
    extent: &Expression,
    proofs: &Proofs<'a>,
) -> bool {
    let stays = |index: &Expression, extent: &Expression| {
        is_place_in_rows(statement, index, extent, proofs)
            || proofs.implies(&statement.space, &within(index, extent))
    };
    let Expression::Add(a, b) = index else {
        return false;
    };
    let mut sums = [(a, b), (b, a)].into_iter();
    sums.any(|(rows, place)| {
        let Expression::Multiply(p, n) = &**rows else {
            return false;
        };
        let mut products = [(p, n), (n, p)].into_iter();
        products.any(|(p, n)| {
            without_factors(extent, n).is_some_and(|m| stays(place, n) && stays(p, &m))
        })
    })
}

/// What is left of a product without the factors of another.
fn without_factors(product: &Expression, other: &Expression) -> Option<Expression> {
    let mut left = factors(product);
    for factor in factors(other) {
        let at = left.iter().position(|it| *it == factor)?;
        left.remove(at);
    }
    let left = left.into_iter().cloned();
    left.reduce(|a, b| Expression::Multiply(Box::new(a), Box::new(b)))
}

fn factors(e: &Expression) -> Vec<&Expression> {
    match e {
        Expression::Multiply(a, b) => [factors(a), factors(b)].concat(),
        other => vec![other],
    }
}

/// Refuses a constraint that is not proved to hold at every point.
fn check_asked<'a>(
    computation: &Computation,
    statement: &'a Statement,
    (asked, message): (Constraint, &dyn Fn() -> String),
    proofs: &Proofs<'a>,
    text: &str,
) -> Result<()> {
    if proofs.implies(&statement.space, &asked) {
        return Ok(());
    }
    let asked = text_of(statement, asked);
    Err(Diagnostic::new(code::MAY_BE_OUTSIDE, message())
        .at(
            &printed(computation, text),
            place(text, &statement.name),
            format!("is {asked} at every point?"),
        )
        .help(
            "declare the ranges of the functions in the index, or add the comparison \
             to the iteration space",
        ))
}

/// The constraint with the statement's names.
fn text_of(statement: &Statement, constraint: Constraint) -> String {
    let names = statement.names();
    let inputs = names.inputs().map(|v| names.name(v).to_owned());
    let mut part = Conjunction::new(inputs, []);
    part.add(constraint);
    let text = part.to_string();
    let inner = text.split_once(" : ").map_or("", |(_, rest)| rest);
    format!("`{}`", inner.trim_end_matches('}'))
}

/// Refuses declared functions without an array, and such whose domain is larger
/// than it, where statements speak of them; keys on a curve also where extents do.
pub(super) fn check_functions(
    computation: &Computation,
    proofs: &Proofs<'_>,
    text: &str,
) -> Result<()> {
    let refuse = |name: &str, at: Span| {
        let (message, help) = match Parser::is_key(name) {
            true => (
                format!("loops do not compute this `{name}`"),
                "write `MORTON(i, j)` or `ALTO(i, n, j, m)`, and `UNMORTON(key, 0, 2)` or \
                 `UNALTO(key, 0, n, m)` with numbers that say which coordinate of how many"
                    .to_owned(),
            ),
            false => (
                format!("`{name}` has no array of all its values"),
                format!("give data `{name}` with extents that include the domain of the function"),
            ),
        };
        let source = printed(computation, text);
        Err(Diagnostic::new(code::MAY_BE_OUTSIDE, message)
            .at(&source, at, "looked up here")
            .help(help))
    };
    // Bounds are evaluated before the kernel runs, and refused where they have no value.
    for (_, words, bounds) in declared_bounds(computation) {
        let mut called = bounds.into_iter().flat_map(calls);
        if let Some(name) = called.find(|name| computation.space(name).is_none()) {
            return refuse(name, declaration(text, &words));
        }
    }
    for statement in &computation.statements {
        let mut called = Vec::new();
        let mut malformed = None;
        super::for_each_expression(statement, &mut |e| {
            called.extend(calls(e));
            e.visit(&mut |e| {
                if let Expression::Call(name, arguments) = e
                    && curve::is_computed(name)
                    && !curve::is_well_formed(name, arguments)
                {
                    malformed = Some(name);
                }
            });
        });
        if let Some(name) = malformed {
            return refuse(name, place(text, &statement.name));
        }
        for name in called {
            if computation.declarations.is_key(name) {
                continue;
            }
            let fits = computation.space(name).is_some_and(|space| {
                let function = proofs.known.function(name);
                function.is_some_and(|function| {
                    let mut bounds = function.domain.parts()[0].inputs().zip(&space.extents);
                    function.domain.n_elements() == space.extents.len()
                        && bounds.all(|(v, extent)| {
                            let asked = within(&Expression::Variable(v), extent);
                            proofs.implies(&function.domain, &asked)
                        })
                })
            });
            if !fits {
                return refuse(name, place(text, &statement.name));
            }
        }
    }
    Ok(())
}

/// The functions that an expression calls.
fn calls(e: &Expression) -> Vec<&String> {
    let mut called = Vec::new();
    e.visit(&mut |e| {
        if let Expression::Call(name, _) = e {
            called.push(name);
        }
    });
    called
}

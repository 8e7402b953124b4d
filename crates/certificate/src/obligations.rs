//! The obligations of a destination, derived from its descriptor alone.

use sparsec_relation::{Conjunction, Constraint, Expression};

use crate::certificate::Obligation;
use crate::order::time;
use crate::pieces::{count_of, numbers_of};
use crate::side::Side;
use crate::stage::Stage;
use crate::triangle::UNMIRRORED;
use crate::{Question, Refusal};

/// The obligations of each stage. An obligation follows those whose facts prove it.
pub(crate) fn obligations(
    question: &Question<'_>,
    stages: &[Stage],
) -> Result<Vec<Vec<Obligation>>, Refusal> {
    let parts = Side::parts(question.destination)?;
    let n = parts.len();
    let all = stages.iter().map(|stage| {
        Ok(match stage {
            Stage::Piece(piece) => of_piece(&question.list(false)?, piece.number),
            Stage::Triangle => of_triangle(&question.folded()?, question.adds),
            Stage::Part(number) => of_part(question, &parts[*number], number + 1 == n),
        })
    });
    all.collect()
}

/// The obligations of the list for one piece of the source.
fn of_piece(list: &Side, piece: usize) -> Vec<Obligation> {
    let functions = list.declarations.functions().iter();
    let arrays: Vec<String> = functions.map(|function| function.name.clone()).collect();
    let numbers = [count_of(piece), "L_NZ".to_owned(), numbers_of(piece)];
    let values = numbers.into_iter().chain(arrays.iter().cloned());
    let mut all = vec![Obligation::Settled];
    all.extend(values.map(Obligation::Values));
    all.extend(arrays.into_iter().map(Obligation::Length));
    all.push(Obligation::Length(list.name.clone()));
    all.extend(
        declared_of(list)
            .into_iter()
            .map(|(said, _)| Obligation::Declared(said)),
    );
    all.extend([
        Obligation::Visited,
        Obligation::Tuple,
        Obligation::Inside,
        Obligation::Holds,
    ]);
    all
}

/// The obligations of the triangle `T` that is combined from the list.
fn of_triangle(triangle: &Side, adds: bool) -> Vec<Obligation> {
    let functions = triangle.declarations.functions().iter();
    let arrays: Vec<String> = functions.map(|function| function.name.clone()).collect();
    let numbers = ["T_NZ", UNMIRRORED].map(str::to_owned);
    let values = arrays.iter().cloned().chain(numbers);
    let mut all = vec![Obligation::Settled, Obligation::Apart];
    all.extend(values.map(Obligation::Values));
    all.extend(arrays.iter().cloned().map(Obligation::Length));
    all.push(Obligation::Length(triangle.name.clone()));
    all.extend(arrays.into_iter().map(Obligation::Range));
    let declared = declared_of(triangle).into_iter();
    all.extend(declared.map(|(said, _)| Obligation::Declared(said)));
    all.extend([
        Obligation::Visited,
        Obligation::Tuple,
        Obligation::Inside,
        Obligation::OneTuple,
        Obligation::Others,
        Obligation::Shared,
        match adds {
            true => Obligation::Sums,
            false => Obligation::Holds,
        },
    ]);
    all
}

fn of_part(question: &Question<'_>, destination: &Side, is_last: bool) -> Vec<Obligation> {
    let mut all = vec![Obligation::Settled, Obligation::Apart];
    let declared = destination.declarations.functions();
    let mut names: Vec<&String> = declared.iter().map(|function| &function.name).collect();
    let first = |name: &String| {
        let statements = question.computation.statements.iter();
        let times = statements
            .filter(|it| it.target.space == *name)
            .map(|it| time(it).ok());
        times.max().flatten()
    };
    names.sort_by_key(|name| first(name));
    if !is_last {
        all.push(Obligation::Values(destination.mask()));
    }
    all.extend(names.iter().map(|name| Obligation::Values((*name).clone())));
    let ends = destination.ends.iter();
    all.extend(ends.map(|(name, call)| Obligation::End(name.clone(), text(call))));
    all.extend(names.iter().map(|name| Obligation::Length((*name).clone())));
    all.push(Obligation::Length(destination.name.clone()));
    all.extend(names.iter().map(|name| Obligation::Range((*name).clone())));
    for function in declared {
        if let Some(monotone) = function.monotone {
            all.push(Obligation::Monotone(
                function.name.clone(),
                monotone.word().to_owned(),
            ));
        }
        if function.injective {
            all.push(Obligation::Injective(function.name.clone()));
        }
    }
    all.extend(
        declared_of(destination)
            .into_iter()
            .map(|(said, _)| Obligation::Declared(said)),
    );
    all.extend(destination.tables.iter().cloned().map(Obligation::Found));
    all.extend([
        Obligation::Visited,
        Obligation::Tuple,
        Obligation::Inside,
        Obligation::OneTuple,
        Obligation::Others,
    ]);
    all.extend(match question.adds && question.triangle.is_none() {
        false => [Obligation::OwnPlace, Obligation::Holds],
        true => [Obligation::Shared, Obligation::Sums],
    });
    all
}

/// The assumptions and `forall` declarations of a destination, each with its text. A `forall` is
/// given by its number.
pub(crate) fn declared_of(destination: &Side) -> Vec<(String, Result<Constraint, usize>)> {
    let mut all: Vec<(String, Result<Constraint, usize>)> = Vec::new();
    for assumed in destination.declarations.assumptions() {
        let part = Conjunction::new::<String>([], []);
        let links: Vec<String> = assumed
            .links()
            .map(|(a, c, b)| format!("{} {} {}", part.text_of(a), c.symbol(), part.text_of(b)))
            .collect();
        all.push((links.join(" and "), Ok(assumed.clone())));
    }
    for (number, quantifier) in destination.declarations.quantifiers().iter().enumerate() {
        all.push((quantifier.to_string(), Err(number)));
    }
    all
}

pub(crate) fn text(e: &Expression) -> String {
    Conjunction::new::<String>([], []).text_of(e).to_string()
}

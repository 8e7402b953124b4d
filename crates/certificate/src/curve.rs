//! Keys along a Morton curve, in words.
//!
//! A curve interleaves the bits of coordinates, which are not negative. Its bits above a place are
//! those of the coordinates above a place, so words compare in turn as the whole key does:
//!
//! ```text
//! MORTON(i floordiv 2^31, j floordiv 2^31), MORTON(i mod 2^31, j mod 2^31)   ──►   MORTON(i, j)
//! ```
//!
//! The first word has all bits that the others leave, or as many as the coordinates have: integers have
//! 63 bits, `i floordiv 4` has 61 and `i mod 4` has 2.
//!
//! A source says `key = MORTON(i, j)` of an entry, and loops over its places find the coordinates:
//! `i = UNMORTON(key, 0, 2)`, `j = UNMORTON(key, 1, 2)`. The key has no other coordinates.
//!
//! A declared key function says how many bits its numbers have. The computation refuses a tensor with
//! an entry that has no number: if entries are numbered by the key, all have one. A key whose bits
//! determine those of its arguments tells these apart.
//!
//! No coordinate grows without its key: a key lies below `MORTON(n, m) + 1` if its coordinates are
//! at most `n` and `m`.

use sparsec_computation::Key;
use sparsec_relation::{
    Comparison, Conjunction, Constraint, Declarations, Expression, MortonWord, Values,
};

use crate::entries::{natural, variable, zero};
use crate::state::State;

/// The bounds within which coordinates have a key on a curve. The computation checks the number of
/// bits when it runs.
pub(crate) fn needs<'a>(
    name: &str,
    arguments: &'a [Expression],
) -> Option<Box<dyn Iterator<Item = Constraint> + 'a>> {
    Some(match name {
        "MORTON" => Box::new((arguments.iter()).map(move |coordinate| natural(coordinate.clone()))),
        "ALTO" => Box::new(arguments.chunks(2).map(move |pair| {
            Constraint {
                first: zero(),
                rest: std::iter::zip(
                    [Comparison::LessEqual, Comparison::Less],
                    pair.iter().cloned(),
                )
                .collect(),
            }
        })),
        _ => return None,
    })
}

/// Whether a word of a key, or a number of a key function, lies below its extent at each entry.
pub(crate) fn is_below(state: &State<'_>, key: &Key) -> bool {
    if let (Expression::Call(name, _), Expression::Integer(extent)) = (&key.value, &key.extent)
        && let Some((function, word)) = state.computation.declarations.key_of(name)
    {
        let end = 1i64.checked_shl(function.bits_of(word));
        return end.is_some_and(|end| 0 < end && end <= *extent);
    }
    let Some(word) = MortonWord::of(&key.value) else {
        return false;
    };
    let most = match &key.extent {
        Expression::Integer(n) => {
            let n_modes = u32::try_from(word.coordinates.len()).unwrap_or(u32::MAX);
            let n_bits = word.n_bits.and_then(|bits| bits.checked_mul(n_modes));
            let end = n_bits.and_then(|n_bits| 1i64.checked_shl(n_bits));
            return are_natural(state, &word) && end.is_some_and(|end| 0 < end && end <= *n);
        }
        Expression::Add(most, one) if **one == Expression::Integer(1) => MortonWord::of(most),
        _ => None,
    };
    most.is_some_and(|most| {
        let is_same = (most.shift, most.n_bits) == (word.shift, None) && word.n_bits.is_none();
        let mut pairs = std::iter::zip(&word.coordinates, &most.coordinates);
        is_same
            && word.coordinates.len() == most.coordinates.len()
            && are_natural(state, &word)
            && pairs.all(|(coordinate, most)| {
                let (coordinate, most) = ((*coordinate).clone(), (*most).clone());
                state.at_entries(&Constraint::new(coordinate, Comparison::LessEqual, most))
            })
    })
}

/// Records that the arguments of declared keys, by which entries are numbered, have keys.
pub(crate) fn note_domains(state: &mut State<'_>, keys: &[Expression]) {
    for key in keys {
        if let Expression::Call(name, arguments) = key
            && let Some((function, word)) = state.computation.declarations.key_of(name)
            && let [domain] = function.words()[word].domain.parts()
        {
            let links = domain.constraints().iter();
            let links = links.map(|link| link.rewritten(&Values(arguments)));
            state.facts.extend(links);
        }
    }
}

/// That arguments of declared keys are the same if all words of their keys are.
pub(crate) fn note_injective(known: &mut Declarations, of: &Declarations) {
    for key in of.keys().iter().filter(|key| key.is_injective()) {
        let n = key.arguments().len();
        let names = (0..2 * n).map(|n| format!("v{n}"));
        let mut same = Conjunction::new(names.collect::<Vec<_>>(), []);
        let [a, b] = [0, n].map(|from| -> Vec<_> { (from..from + n).map(variable).collect() });
        for word in key.words() {
            let domain = word.domain.parts().iter().flat_map(|it| it.constraints());
            for link in domain {
                same.add(link.rewritten(&Values(&a)));
                same.add(link.rewritten(&Values(&b)));
            }
            let [first, second] =
                [&a, &b].map(|at| Expression::Call(word.name.clone(), at.clone()));
            same.add(first.equals(second));
        }
        let equal = std::iter::zip(a, b).map(|(a, b)| a.equals(b));
        known.forall(same, equal.collect());
    }
}

fn are_natural(state: &State<'_>, word: &MortonWord<'_>) -> bool {
    word.coordinates.iter().all(|coordinate| {
        let natural = natural((*coordinate).clone());
        state.at_entries(&natural)
    })
}

/// The key and the coordinates of `key = MORTON(a, b)` or `key = ALTO(a, N, b, M)`, and the calls that
/// give the coordinates of the key.
fn inverses(constraint: &Constraint) -> Option<Vec<(Expression, Expression)>> {
    let [(Comparison::Equal, right)] = &constraint.rest[..] else {
        return None;
    };
    let sides = [(&constraint.first, right), (right, &constraint.first)];
    sides.into_iter().find_map(|(key, curve)| {
        let Expression::Call(name, arguments) = curve else {
            return None;
        };
        let integer = |n: usize| i64::try_from(n).ok().map(Expression::Integer);
        let (inverse, step) = match &name[..] {
            "MORTON" => ("UNMORTON", 1),
            "ALTO" => ("UNALTO", 2),
            _ => return None,
        };
        let extents: Vec<Expression> = match step {
            1 => vec![integer(arguments.len())?],
            _ => arguments.iter().skip(1).step_by(2).cloned().collect(),
        };
        let coordinates = arguments.iter().step_by(step).enumerate();
        let found = coordinates.map(|(mode, coordinate)| {
            let call = [vec![key.clone(), integer(mode)?], extents.clone()].concat();
            Some((
                coordinate.clone(),
                Expression::Call(inverse.to_owned(), call),
            ))
        });
        found.collect()
    })
}

/// Whether a constraint takes a coordinate out of a key, and the entries' own constraints make the
/// key of this coordinate and others.
pub(crate) fn is_of_key(entries: &Conjunction, constraint: &Constraint) -> bool {
    let own = entries.constraints().iter().flat_map(Constraint::split);
    let mut inverses = own.filter_map(|link| inverses(&link)).flatten();
    inverses.any(|(coordinate, of_key)| is_equation(constraint, &coordinate, &of_key))
}

/// Whether a space takes all coordinates of a key out of it, so that an entry with these elements
/// has the key that a constraint asks for.
pub(crate) fn has_key(space: &Conjunction, constraint: &Constraint) -> bool {
    let own: Vec<Constraint> = (space.constraints().iter())
        .flat_map(Constraint::split)
        .collect();
    inverses(constraint).is_some_and(|inverses| {
        inverses.iter().all(|(coordinate, of_key)| {
            let mut own = own.iter();
            own.any(|link| is_equation(link, coordinate, of_key))
        })
    })
}

fn is_equation(constraint: &Constraint, a: &Expression, b: &Expression) -> bool {
    match &constraint.rest[..] {
        [(Comparison::Equal, right)] => {
            let first = &constraint.first;
            first == a && right == b || first == b && right == a
        }
        _ => false,
    }
}

/// Keys in which the words of a curve are one key.
pub(crate) fn joined(state: &State<'_>, keys: Vec<Expression>) -> Vec<Expression> {
    let mut joined = Vec::new();
    let mut left = &keys[..];
    while let Some((key, rest)) = left.split_first() {
        match words(state, left) {
            Some((n, whole)) => {
                joined.push(whole);
                left = &left[n..];
            }
            None => {
                joined.push(key.clone());
                left = rest;
            }
        }
    }
    joined
}

/// How many of the first keys are the words of one curve, and the whole key.
fn words(state: &State<'_>, keys: &[Expression]) -> Option<(usize, Expression)> {
    let first = MortonWord::of(keys.first()?)?;
    let (mut shift, mut n) = (first.shift, 1);
    while let Some(next) = keys.get(n).and_then(MortonWord::of) {
        let follows = next.n_bits.and_then(|bits| bits.checked_add(next.shift)) == Some(shift);
        if !follows || next.coordinates != first.coordinates {
            break;
        }
        shift = next.shift;
        n += 1;
    }
    let is_whole = match first.n_bits {
        None => true,
        Some(bits) => has_bits(&first.coordinates, bits.checked_add(first.shift)?),
    };
    let is_curve = is_whole && are_natural(state, &first);
    // The bits below the last word belong to no key.
    let upper = |e: &Expression| match 1i64.checked_shl(shift) {
        Some(1) => Some(e.clone()),
        Some(size @ 1..) => {
            let size = Box::new(Expression::Integer(size));
            Some(Expression::FloorDivide(Box::new(e.clone()), size))
        }
        _ => None,
    };
    let coordinates = first.coordinates.into_iter().map(upper);
    let coordinates: Option<Vec<Expression>> = coordinates.collect();
    let whole = Expression::Call("MORTON".to_owned(), coordinates?);
    is_curve.then_some((n, whole))
}

/// Whether each of these numbers has at most `n_bits` bits. None of them is negative. An integer has
/// 63 bits; a quotient or a remainder has fewer.
fn has_bits(numbers: &[&Expression], n_bits: u32) -> bool {
    numbers.iter().all(|e| match e {
        Expression::FloorDivide(_, size) => match **size {
            Expression::Integer(size @ 1..) => i64::BITS - 1 - size.ilog2() <= n_bits,
            _ => i64::BITS - 1 <= n_bits,
        },
        Expression::Modulo(_, size) => match **size {
            Expression::Integer(size @ 2..) => (size - 1).ilog2() < n_bits,
            _ => i64::BITS - 1 <= n_bits,
        },
        _ => i64::BITS - 1 <= n_bits,
    })
}

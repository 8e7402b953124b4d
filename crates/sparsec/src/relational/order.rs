//! Lists in an order that a relation declares.
//!
//! ```text
//! map     {[n] -> [i, j] : 0 <= n < NZ && i = row(n) && j = col(n)}
//! forall n, m : 0 <= n < m < NZ => LEX(row(n) + col(n), row(n)) < LEX(row(m) + col(m), row(m))
//!                                  └─ the key of an entry: (i + j, i)
//! ```
//!
//! A derived conversion to a list keeps the order of its source. Where the format declares
//! one by a key of the coordinates, the entries are sorted by that key first, up or down.

use sparsec_base::arena::Id;
use sparsec_base::{Diagnostic, Result, code};
use sparsec_relation::{
    Comparison, Conjunction, Constraint, Data, Declarations, Descriptor, Expression, Quantifier,
    Rewrite, Variable,
};
use sparsec_tensor::{Array, Format, Tensor};

/// The name of the key that compares its arguments one after the other.
const LEX: &str = "LEX";

/// The entries of a list in the order that a format declares, and the format without that
/// order; `None` where it declares none by a key of the coordinates.
///
/// # Errors
/// As [`Tensor::new`]; `E0519` for an entry without a key.
pub(super) fn ordered(
    descriptor: &Descriptor,
    list: &Tensor,
) -> Option<Result<(Tensor, Descriptor)>> {
    let [map] = descriptor.map().parts() else {
        return None;
    };
    let quantifiers = descriptor.declarations().quantifiers().iter();
    let (quantifier, (key, descends)) = quantifiers
        .filter_map(|quantifier| {
            let key = key(quantifier, map, descriptor.declarations())?;
            Some((quantifier, key))
        })
        .next()?;
    let entries = list.entries();
    let mut data = Data::new();
    data.keys(descriptor.declarations());
    let mut keyed: Vec<(Vec<i64>, usize)> = Vec::new();
    for e in 0..entries.len() {
        let at: Vec<i64> = entries.coords(e).iter().map(|crd| crd as i64).collect();
        let values = key.iter().map(|part| data.value_at(part, &at));
        match values.collect::<Option<_>>() {
            Some(values) => keyed.push((values, e)),
            None => return without_key(&key, descriptor, &at).map(Err),
        }
    }
    keyed.sort();
    if descends {
        keyed.reverse();
    }
    let order = list.order();
    let mut arrays = vec![Array::from_vec(vec![0, entries.len() as i64])];
    for mode in 0..order {
        let coordinates = keyed.iter().map(|(_, e)| {
            let at = entries.coords(*e).iter().nth(mode);
            at.expect("one for each mode") as i64
        });
        arrays.push(Array::from_vec(coordinates.collect::<Vec<i64>>()));
    }
    let values = Array::zeroed(entries.element(), entries.len());
    Some(values.and_then(|mut values| {
        for (to, (_, from)) in keyed.iter().enumerate() {
            values.set(to, entries.values.get(*from));
        }
        arrays.push(values);
        let extents = list.extents().to_vec();
        let (format, element) = (Format::coo(order), list.element());
        let list = Tensor::new(format, extents, element, list.fill(), arrays)?;
        Ok((list, unordered(descriptor, quantifier)))
    }))
}

/// That the entry at some coordinates has no key; `None` where no declared key says why.
fn without_key(key: &[Expression], descriptor: &Descriptor, at: &[i64]) -> Option<Diagnostic> {
    let mut calls = key.iter().filter_map(|part| match part {
        Expression::Call(name, _) => descriptor.declarations().key_of(name),
        _ => None,
    });
    let (key, _) = calls.next()?;
    let list = |numbers: Vec<String>| numbers.join(", ");
    let place = list(at.iter().map(i64::to_string).collect());
    let bits = list(key.arguments().iter().map(u32::to_string).collect());
    let message = format!(
        "the entry at [{place}] has no place in `{}`: `{}` has none",
        descriptor.name(),
        key.name()
    );
    Some(
        Diagnostic::new(code::NOT_AS_DECLARED, message)
            .note(format!("its arguments have bits as follows: {bits}"))
            .help("give the arguments of the key as many bits as coordinates have"),
    )
}

/// A descriptor without what is said for all elements of the arrays of a quantifier.
fn unordered(descriptor: &Descriptor, quantifier: &Quantifier) -> Descriptor {
    let mut declarations = descriptor.declarations().clone();
    for e in quantifier
        .conclusions()
        .iter()
        .flat_map(Constraint::expressions)
    {
        e.visit(&mut |e| {
            if let Expression::Call(name, _) = e {
                declarations.forget_quantifiers(name);
            }
        });
    }
    Descriptor::composed(
        descriptor.name(),
        descriptor.extents().to_vec(),
        descriptor.map().clone(),
        descriptor.data().clone(),
        descriptor.values().clone(),
        declarations,
    )
    .with(descriptor.clauses().clone())
}

/// The parts of the key of an entry, in its coordinates, if the quantifier says that keys
/// ascend along a list or, as the flag says, descend.
fn key(
    quantifier: &Quantifier,
    map: &Conjunction,
    known: &Declarations,
) -> Option<(Vec<Expression>, bool)> {
    let [conclusion] = quantifier.conclusions() else {
        return None;
    };
    let descends = quantifier.descends(conclusion)?;
    let left = &conclusion.first;
    let a = place_in(left)?;
    let at_entry = InCoordinates { of: a, map };
    let parts = match left {
        Expression::Call(name, parts) if name == LEX => parts.clone(),
        single => vec![single.clone()],
    };
    let parts: Vec<Expression> = parts.iter().map(|part| part.rewritten(&at_entry)).collect();
    let mut is_known = true;
    for part in &parts {
        part.visit(&mut |e| {
            is_known &= match e {
                Expression::Call(name, _) => known.is_key(name),
                Expression::Constant(_) => false,
                _ => true,
            };
        });
    }
    is_known.then_some((parts, descends))
}

/// The variable at which an expression calls arrays, if it is one.
fn place_in(e: &Expression) -> Option<Variable> {
    let mut found = None;
    let mut is_one = true;
    e.visit(&mut |e| {
        if let Expression::Variable(v) = e {
            is_one &= found.is_none_or(|known| known == *v);
            found = Some(*v);
        }
    });
    found.filter(|_| is_one)
}

/// Coordinates, numbered by their modes, in place of what arrays hold at an element.
struct InCoordinates<'a> {
    of: Variable,
    map: &'a Conjunction,
}

impl Rewrite for InCoordinates<'_> {
    fn whole(&self, e: &Expression) -> Option<Expression> {
        let Expression::Call(name, arguments) = e else {
            return None;
        };
        (arguments[..] == [Expression::Variable(self.of)]).then_some(())?;
        // `i = row(n)` in the map, whatever the element is called there.
        let links = self.map.constraints().iter().flat_map(Constraint::links);
        let mut modes = links.filter_map(|(left, comparison, right)| {
            let (call, coordinate) = match (left, right) {
                _ if comparison != Comparison::Equal => return None,
                (call @ Expression::Call(..), Expression::Variable(v))
                | (Expression::Variable(v), call @ Expression::Call(..)) => (call, v),
                _ => return None,
            };
            let is_same = matches!(call, Expression::Call(known, at)
                if known == name && matches!(at[..], [Expression::Variable(_)]));
            let mode = self.map.outputs().position(|output| output == *coordinate);
            mode.filter(|_| is_same)
        });
        modes
            .next()
            .map(|mode| Expression::Variable(Variable::from_index(mode)))
    }
}

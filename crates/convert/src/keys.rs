//! The keys of lists: which of them order a list, which tell entries apart, and what bounds
//! them.

use std::cell::Cell;
use std::collections::BTreeSet;

use sparsec_base::arena::Id;
use sparsec_base::{Diagnostic, Result};
use sparsec_computation::Key;
use sparsec_relation::{
    Comparison, Conjunction, Consequences, Constraint, Expression, Monotone, Parser, Rewrite, Set,
    Variable,
};

use crate::refused;
use crate::synthesis::Synthesis;
use crate::terms::below;
use crate::unknown::ListKey;

impl Synthesis<'_> {
    /// The order that is asked of a list, if one is.
    pub(crate) fn order(&self, keys: &[ListKey]) -> Result<Option<Order>> {
        let of = |e: &Expression| match e {
            Expression::Call(name, _) => keys.iter().position(|key| key.function == *name),
            _ => None,
        };
        let declarations = &self.destination.declarations;
        for quantifier in declarations.quantifiers() {
            for conclusion in quantifier.conclusions() {
                let Some(descends) = quantifier.descends(conclusion) else {
                    continue;
                };
                let directed = |order: Order| match descends {
                    true => order.descending(),
                    false => order,
                };
                if let Some(number) = of(&conclusion.first) {
                    return Ok(Some(directed(self.by_keys(keys, &[number])?)));
                }
                let Expression::Call(name, arguments) = &conclusion.first else {
                    continue;
                };
                if name == "LEX" {
                    match self.by_all(keys, arguments)? {
                        Some(order) => return Ok(Some(directed(order))),
                        None => continue,
                    }
                }
                if let Some(order) = self.by_all(keys, std::slice::from_ref(&conclusion.first))? {
                    return Ok(Some(directed(order)));
                }
                if let Some(order) = self.along_curve(keys, name, arguments)? {
                    return Ok(Some(directed(order)));
                }
            }
        }
        // An array that is monotone over the whole list, whatever else the list holds.
        for (number, key) in keys.iter().enumerate() {
            let function = declarations.function(&key.function);
            match function.and_then(|function| function.monotone) {
                Some(Monotone::Nondecreasing | Monotone::Increasing) => {
                    return self.by_keys(keys, &[number]).map(Some);
                }
                Some(Monotone::Nonincreasing | Monotone::Decreasing) => {
                    return Ok(Some(self.by_keys(keys, &[number])?.descending()));
                }
                None => {}
            }
        }
        Ok(None)
    }

    /// The order by some of the keys.
    fn by_keys(&self, keys: &[ListKey], numbers: &[usize]) -> Result<Order> {
        let sorted = numbers.iter().map(|number| self.key(&keys[*number]));
        Ok(Order {
            sorted: sorted.collect::<Result<_>>()?,
            is_whole: numbers.len() == keys.len(),
        })
    }

    /// The order by several numbers, each a key of the list, a sum of such, or a word of a key
    /// function; `None` if one of them is none of these.
    fn by_all(&self, keys: &[ListKey], all: &[Expression]) -> Result<Option<Order>> {
        let mut sorted = Vec::new();
        let mut named = BTreeSet::new();
        for e in all {
            let Expression::Call(name, arguments) = e else {
                match self.sum_of_keys(keys, e) {
                    Some(key) => sorted.push(key),
                    None => return Ok(None),
                }
                continue;
            };
            if let Some(key) = keys.iter().find(|key| key.function == *name) {
                sorted.push(self.key(key)?);
                named.insert(name);
                continue;
            }
            let Some((key, word)) = self.destination.declarations.key_of(name) else {
                return Ok(None);
            };
            let at_entry = AtEntry {
                keys,
                is_more: Cell::new(false),
            };
            let arguments = arguments.iter().map(|e| e.rewritten(&at_entry));
            let value = Expression::Call(name.clone(), arguments.collect());
            if at_entry.is_more.get() {
                return Err(self.unordered(name));
            }
            sorted.push(Key {
                value,
                extent: Expression::Integer(1 << key.bits_of(word)),
            });
        }
        // Nothing says that a key function tells coordinates apart.
        let is_whole = named.len() == keys.len();
        Ok((!sorted.is_empty()).then_some(Order { sorted, is_whole }))
    }

    /// A sum of keys of a list and numbers as a key; `None` for another expression.
    fn sum_of_keys(&self, keys: &[ListKey], e: &Expression) -> Option<Key> {
        let (mut value, mut least, mut most) = (number(0), number(0), number(0));
        for (is_negative, term) in e.terms() {
            let (of_entry, from, last) = match term {
                Expression::Integer(_) => (term.clone(), term.clone(), term.clone()),
                Expression::Call(name, _) => {
                    let key = keys.iter().find(|key| key.function == *name)?;
                    let (from, above) = self.range(name)?;
                    (key.value.clone(), from, minus(above, number(1)))
                }
                _ => return None,
            };
            (value, least, most) = match is_negative {
                false => (plus(value, of_entry), plus(least, from), plus(most, last)),
                true => (
                    minus(value, of_entry),
                    minus(least, last),
                    minus(most, from),
                ),
            };
        }
        let above = plus(most, number(1));
        Some(Key {
            value: minus(value, least.clone()).collected(),
            extent: minus(above, least).collected(),
        })
    }

    /// The order along a curve through values of keys; `None` if a name is none of a curve
    /// through these keys.
    fn along_curve(
        &self,
        keys: &[ListKey],
        name: &str,
        arguments: &[Expression],
    ) -> Result<Option<Order>> {
        if !Parser::is_key(name) {
            return Ok(None);
        }
        let of = |e: &Expression| match e {
            Expression::Call(name, _) => keys.iter().find(|key| key.function == *name),
            _ => None,
        };
        let named = arguments.iter().filter_map(of);
        let named: BTreeSet<&String> = named.map(|key| &key.function).collect();
        if named.is_empty() {
            return Ok(None);
        }
        let values = arguments.iter().map(|e| match of(e) {
            Some(key) => key.value.clone(),
            None => e.clone(),
        });
        let values: Vec<Expression> = values.collect();
        let sorted = match name {
            "MORTON" => {
                let ends = arguments.iter().filter_map(of).map(|key| {
                    let least = Expression::Integer(0);
                    let (from, above) = self.range_of(key)?;
                    Some(above).filter(|_| from == least)
                });
                let ends: Option<Vec<Expression>> = ends.collect();
                let ends = ends.filter(|ends| ends.len() == values.len());
                morton_words(&values, &ends.ok_or_else(|| self.unordered(name))?)
            }
            _ => vec![Key {
                value: Expression::Call(name.to_owned(), values),
                extent: Expression::Integer(i64::MAX),
            }],
        };
        Ok(Some(Order {
            sorted,
            is_whole: named.len() == keys.len(),
        }))
    }

    fn unordered(&self, name: &str) -> Diagnostic {
        refused(format!(
            "the destination is sorted by `{name}` of more than its keys"
        ))
        .help("sort by the coordinates that the arrays hold, which are at least 0")
    }

    /// The least value of an array of the destination, and one more than the largest.
    pub(crate) fn range(&self, function: &str) -> Option<(Expression, Expression)> {
        let declarations = &self.destination.declarations;
        let declared = declarations.function(function);
        let range = declared.and_then(|function| function.range.as_box());
        let is_it = |e: &Expression| matches!(e, Expression::Call(name, _) if name == function);
        range.and_then(|mut sides| sides.pop()).or_else(|| {
            let mut conclusions = declarations
                .quantifiers()
                .iter()
                .flat_map(|it| it.conclusions());
            conclusions.find_map(|conclusion| match &conclusion.rest[..] {
                [(Comparison::LessEqual, e), (Comparison::Less, above)] if is_it(e) => {
                    Some((conclusion.first.clone(), above.clone()))
                }
                _ => None,
            })
        })
    }

    /// As [`range`](Self::range), of the array of a key. The extents bound an array of coordinates, or
    /// of numbers of blocks of coordinates, that has no declared bounds.
    fn range_of(&self, key: &ListKey) -> Option<(Expression, Expression)> {
        let extent_of = |e: &Expression| {
            let mut coordinates = self.entries.coordinates.iter();
            let mode = coordinates.position(|v| Expression::Variable(*v) == *e)?;
            Some(Expression::Constant(self.extents[mode].clone()))
        };
        let implied = || match &key.value {
            Expression::FloorDivide(e, block) => match **block {
                Expression::Integer(size @ 1..) => {
                    let above = plus(extent_of(e)?, number(size - 1));
                    Some(Expression::FloorDivide(Box::new(above), block.clone()))
                }
                _ => None,
            },
            e => extent_of(e),
        };
        self.range(&key.function)
            .or_else(|| Some((number(0), implied()?)))
    }

    /// A key of a list with its extent: what its array may hold.
    pub(crate) fn key(&self, key: &ListKey) -> Result<Key> {
        let Some((least, above)) = self.range_of(key) else {
            return Err(refused(format!(
                "nothing bounds the values of `{}`",
                key.function
            )));
        };
        let from_least = |e: &Expression| {
            Expression::Subtract(Box::new(e.clone()), Box::new(least.clone())).collected()
        };
        Ok(Key {
            value: from_least(&key.value),
            extent: from_least(&above),
        })
    }

    /// The keys by which the parents of a segment are in their order; `None` where only
    /// their numbers say it.
    pub(crate) fn parent_keys(
        &self,
        function: &str,
        parent: &Expression,
    ) -> Result<Option<Vec<Key>>> {
        Ok(match parent {
            Expression::Integer(_) => Some(Vec::new()),
            Expression::Call(array, _) if self.found.contains_key(array) => {
                self.found[array].clone()
            }
            other => {
                let mut is_listed = false;
                other.visit(&mut |e| {
                    is_listed |=
                        matches!(e, Expression::Call(name, _) if self.found.contains_key(name));
                });
                match is_listed {
                    true => None,
                    false => Some(vec![Key {
                        value: other.clone(),
                        extent: self.n_parents(function)?,
                    }]),
                }
            }
        })
    }

    /// How many segments a function has.
    pub(crate) fn n_parents(&self, function: &str) -> Result<Expression> {
        let declared = self.computation.declarations.function(function);
        let domain = declared.and_then(|function| function.domain.as_box());
        let [(_, length)] = &domain.unwrap_or_default()[..] else {
            return Err(
                refused(format!("`{function}` has several indices")).help(format!(
                    "number its places by one index, as in `{function}(W * r + s)`"
                )),
            );
        };
        let one = Box::new(Expression::Integer(1));
        let parents = Expression::Subtract(Box::new(length.simplified()), one);
        let parents = below("x", &parents)?;
        let sides = parents.as_box().and_then(|mut sides| sides.pop());
        let (_, end) = sides.ok_or_else(|| refused(format!("nothing bounds `{function}`")))?;
        Ok(end)
    }

    /// Whether keys tell entries of different coordinates apart.
    pub(crate) fn tell_apart(&self, keys: &[Key]) -> Result<bool> {
        let keys: Vec<Expression> = keys.iter().map(|key| key.value.clone()).collect();
        self.is_told_apart(&self.coordinates(), &keys)
    }

    /// The numbers that a place in rows of rows stands for: of `p * n + q`, where `q` is at
    /// least 0 and less than `n`, those of `p`, and `q`.
    pub(crate) fn digits(&self, e: &Expression) -> Vec<Expression> {
        if let Expression::Add(rows, place) = e
            && let Expression::Multiply(row, n) = &**rows
        {
            let within = Constraint {
                first: Expression::Integer(0),
                rest: vec![
                    (Comparison::LessEqual, (**place).clone()),
                    (Comparison::Less, (**n).clone()),
                ],
            };
            if self.space.implies(&within, &self.computation.declarations) {
                return [self.digits(row), vec![(**place).clone()]].concat();
            }
        }
        vec![e.clone()]
    }

    /// The expressions that are equal at all entries with equal keys: the digits of the keys, and
    /// the keys of the lists that these digits number.
    pub(crate) fn told_by(&self, keys: &[Key]) -> Vec<Expression> {
        let digits = keys.iter().flat_map(|key| self.digits(&key.value));
        let told = digits.flat_map(|digit| match &digit {
            Expression::Call(array, _) => match self.found.get(array) {
                Some(Some(keys)) => self.told_by(keys),
                _ => vec![digit],
            },
            _ => vec![digit],
        });
        told.collect()
    }

    /// Whether entries at which `keys` are the same agree in all of `told`.
    pub(crate) fn is_told_apart(&self, told: &[Expression], keys: &[Expression]) -> Result<bool> {
        let part = &self.space.parts()[0];
        let names = |suffix: &str| -> Vec<String> {
            let names = part.inputs().map(|v| part.name(v));
            names.map(|name| format!("{name}{suffix}")).collect()
        };
        let n_inputs = part.inputs().len();
        let second = Shift(n_inputs);
        let mut both = Conjunction::new([names(""), names("_1")].concat(), []);
        let inputs = both.inputs();
        both.conjoin_at(part, inputs.take(n_inputs));
        let inputs = both.inputs();
        both.conjoin_at(part, inputs.skip(n_inputs));
        for key in keys {
            both.add(key.clone().equals(key.rewritten(&second)));
        }
        let both = Set::new(vec![both])?;
        let known = Consequences::of(&both, &self.computation.declarations);
        Ok(told.iter().all(|value| {
            let is_never = |comparison| {
                let other = value.rewritten(&second);
                known.exclude(&[Constraint::new(value.clone(), comparison, other)])
            };
            // An order of entries speaks of one that comes before another.
            is_never(Comparison::NotEqual)
                || is_never(Comparison::Less) && is_never(Comparison::Greater)
        }))
    }
}

fn number(n: i64) -> Expression {
    Expression::Integer(n)
}

fn plus(a: Expression, b: Expression) -> Expression {
    Expression::Add(Box::new(a), Box::new(b))
}

fn minus(a: Expression, b: Expression) -> Expression {
    Expression::Subtract(Box::new(a), Box::new(b))
}

/// The keys of a list in its order.
pub(crate) struct Order {
    pub(crate) sorted: Vec<Key>,
    /// Whether they tell apart all that the keys of the list do.
    pub(crate) is_whole: bool,
}

impl Order {
    /// The same order from its end: each key counted from its greatest value.
    fn descending(mut self) -> Self {
        for key in &mut self.sorted {
            let last = minus(key.extent.clone(), number(1));
            key.value = minus(last, key.value.clone()).collected();
        }
        self
    }
}

/// The bits of coordinates that one key along a Morton curve holds.
const WORD_BITS: u32 = 62;

/// Keys that compare as the place on a Morton curve does, however large the coordinates are:
/// places of their upper bits come first, and each key holds as many bits as fit.
///
/// ```text
/// MORTON(i floordiv 2^31, j floordiv 2^31) of …, MORTON(i mod 2^31, j mod 2^31) of 2^62
/// ```
///
/// The first key has as many values as the extents ask for. Quotients and remainders of coordinates
/// have fewer bits, and each key of them has all values of its bits.
fn morton_words(coordinates: &[Expression], ends: &[Expression]) -> Vec<Key> {
    let n = u32::try_from(coordinates.len()).expect("few modes");
    let bits = (WORD_BITS / n).max(1);
    let integer = |n: i64| Box::new(Expression::Integer(n));
    let morton = |of: &mut dyn Iterator<Item = Expression>| {
        Expression::Call("MORTON".to_owned(), of.collect())
    };
    let all = i64::BITS - 1;
    let bits_of = |e: &Expression| match e {
        Expression::FloorDivide(_, size) => match **size {
            Expression::Integer(size @ 1..) => all - size.ilog2(),
            _ => all,
        },
        Expression::Modulo(_, size) => match **size {
            Expression::Integer(size @ 2..) => (size - 1).ilog2() + 1,
            _ => all,
        },
        _ => all,
    };
    let used = coordinates.iter().map(bits_of).max().unwrap_or(all);
    let words = (0..used).step_by(bits as usize).rev();
    let words = words.map(|at| {
        let upper = |e: &Expression| match at {
            0 => e.clone(),
            at => Expression::FloorDivide(Box::new(e.clone()), integer(1 << at)),
        };
        if at + bits >= all {
            let last = morton(&mut ends.iter().map(upper));
            return Key {
                value: morton(&mut coordinates.iter().map(upper)),
                extent: Expression::Add(Box::new(last), integer(1)),
            };
        }
        let own = bits.min(used - at);
        let part = |e: &Expression| Expression::Modulo(Box::new(upper(e)), integer(1 << own));
        Key {
            value: morton(&mut coordinates.iter().map(part)),
            extent: Expression::Integer(1 << (n * own)),
        }
    });
    words.collect()
}

/// What the arrays of a list hold of an entry, in place of their entries.
struct AtEntry<'a> {
    keys: &'a [ListKey],
    /// Whether something else than these arrays depends on the element.
    is_more: Cell<bool>,
}

impl Rewrite for AtEntry<'_> {
    fn whole(&self, e: &Expression) -> Option<Expression> {
        let Expression::Call(name, arguments) = e else {
            return None;
        };
        let key = self.keys.iter().find(|key| key.function == *name)?;
        matches!(arguments[..], [Expression::Variable(_)]).then(|| key.value.clone())
    }

    fn variable(&self, variable: Variable) -> Expression {
        self.is_more.set(true);
        Expression::Variable(variable)
    }
}

/// The variables of a second point behind those of a first.
struct Shift(usize);

impl Rewrite for Shift {
    fn variable(&self, variable: Variable) -> Expression {
        Expression::Variable(Variable::from_index(variable.index() + self.0))
    }
}

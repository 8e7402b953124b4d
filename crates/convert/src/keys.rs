//! The keys of lists: which of them order a list, which tell entries apart, and what bounds
//! them.

use sparsec_base::Result;
use sparsec_base::arena::Id;
use sparsec_computation::Key;
use sparsec_relation::{
    Answer, Comparison, Conjunction, Constraint, Expression, Rewrite, Set, Variable,
};

use crate::refused;
use crate::synthesis::Synthesis;
use crate::terms::{below, collected};
use crate::unknown::ListKey;

impl Synthesis<'_> {
    /// The order that is asked of a list: the numbers of the keys that are compared.
    pub(crate) fn order(&self, keys: &[ListKey]) -> Result<Option<Vec<usize>>> {
        let of = |e: &Expression| match e {
            Expression::Call(name, _) => keys.iter().position(|key| key.function == *name),
            _ => None,
        };
        let declarations = &self.destination.declarations;
        for quantifier in declarations.quantifiers() {
            for conclusion in quantifier.conclusions() {
                let [(Comparison::Less | Comparison::LessEqual, _)] = &conclusion.rest[..] else {
                    continue;
                };
                if let Some(number) = of(&conclusion.first) {
                    return Ok(Some(vec![number]));
                }
                let Expression::Call(name, arguments) = &conclusion.first else {
                    continue;
                };
                let numbers: Option<Vec<usize>> = arguments.iter().map(of).collect();
                let Some(numbers) = numbers.filter(|numbers| !numbers.is_empty()) else {
                    continue;
                };
                if name != "LEX" {
                    return Err(refused(format!("the destination is sorted by `{name}`"))
                        .help("convert to a format that is sorted by coordinates"));
                }
                return Ok(Some(numbers));
            }
        }
        let [key] = keys else { return Ok(None) };
        let function = declarations.function(&key.function);
        let monotone = function.and_then(|function| function.monotone);
        Ok(monotone.map(|_| vec![0]))
    }

    /// A key of a list with its extent: what its array may hold.
    pub(crate) fn key(&self, key: &ListKey) -> Result<Key> {
        let function = self.destination.declarations.function(&key.function);
        let range = function.and_then(|function| function.range.as_box());
        let Some((least, above)) = range.and_then(|mut sides| sides.pop()) else {
            return Err(refused(format!(
                "nothing bounds the values of `{}`",
                key.function
            )));
        };
        let from_least = |e: &Expression| {
            collected(&Expression::Subtract(
                Box::new(e.clone()),
                Box::new(least.clone()),
            ))
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
        let lengths = self.destination.lengths(Some(function))?;
        let [length] = &lengths[..] else {
            return Err(refused(format!("`{function}` has several indices")));
        };
        let one = Box::new(Expression::Integer(1));
        let parents = below("x", &Expression::Subtract(Box::new(length.clone()), one))?;
        let sides = parents.as_box().and_then(|mut sides| sides.pop());
        let (_, end) = sides.ok_or_else(|| refused(format!("nothing bounds `{function}`")))?;
        Ok(end)
    }

    /// Whether keys tell entries of different coordinates apart.
    pub(crate) fn tell_apart(&self, keys: &[Key]) -> Result<bool> {
        let keys: Vec<Expression> = keys.iter().map(|key| key.value.clone()).collect();
        self.is_told_apart(&self.coordinates(), &keys)
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
        for value in told {
            let mut differ = both.clone();
            let other = value.rewritten(&second);
            differ.add(Constraint::new(value.clone(), Comparison::NotEqual, other));
            let set = Set::new(vec![differ])?;
            let empty = set.as_relation().is_empty(&self.computation.declarations);
            if empty != Answer::Yes {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The variables of a second point behind those of a first.
struct Shift(usize);

impl Rewrite for Shift {
    fn variable(&self, variable: Variable) -> Expression {
        Expression::Variable(Variable::from_index(variable.index() + self.0))
    }
}

//! The names of values: those of the text, and numbers for values without one.

use std::collections::{HashMap, HashSet};

use crate::module::{Module, Value};

impl Module {
    /// The name of each value, without `%`.
    pub(super) fn names(&self) -> HashMap<Value, String> {
        let ops = self.walk();
        let mut named: Vec<(Value, Option<String>)> = Vec::new();
        for op in &ops {
            let data = &self.ops[*op];
            let results = data
                .results
                .iter()
                .map(|value| self.values[*value].name.as_str());
            let results: Vec<&str> = results.collect();
            for (n, value) in data.results.iter().enumerate() {
                named.push((
                    *value,
                    is_in_order(&results, n).then(|| results[n].to_owned()),
                ));
            }
            for region in &data.regions {
                let block = self.regions[*region].block;
                let arguments =
                    block.map_or(&[] as &[Value], |block| &self.blocks[block].arguments);
                for value in arguments {
                    let name = &self.values[*value].name;
                    named.push((*value, (!name.is_empty()).then(|| name.clone())));
                }
            }
        }
        let taken: HashSet<&String> = named.iter().filter_map(|(_, name)| name.as_ref()).collect();
        let mut free = (0usize..)
            .map(|n| n.to_string())
            .filter(|name| !taken.contains(name));
        let pick = |(value, name): &(Value, Option<String>)| {
            let name = name
                .clone()
                .unwrap_or_else(|| free.next().expect("numbers do not end"));
            (*value, name)
        };
        named.iter().map(pick).collect()
    }
}

/// Whether the name of a result fits its place among the results: `x#1` is the second of the
/// results that share `x`.
fn is_in_order(names: &[&str], n: usize) -> bool {
    let Some((base, number)) = names[n].split_once('#') else {
        return !names[n].is_empty();
    };
    let number: usize = number.parse().unwrap_or(usize::MAX);
    let Some(first) = n.checked_sub(number) else {
        return false;
    };
    let group: Vec<&&str> = names[first..]
        .iter()
        .take_while(|name| name.split('#').next() == Some(base))
        .collect();
    let is_right = |(n, name): (usize, &&&str)| {
        name.split_once('#')
            .is_some_and(|(_, number)| number == n.to_string())
    };
    group.len() > number && group.iter().enumerate().all(is_right)
}

//! Whether arrays are as a relation says: names, lengths, and all that is declared.
//!
//! ```text
//! names ──► constants from lengths ──► lengths ──► ranges, orders, quantifiers ──► coordinates of entries
//! ```
//!
//! Each step relies on those before it; the first fault ends the check.

use std::sync::Arc;

use sparsec_base::{Diagnostic, ElementType, Result, Source, Span, code};
use sparsec_format::Format;
use sparsec_relation::{Conjunction, Data, Expression, Set};

use super::RelationTensor;
use crate::array::Array;
use crate::duplicates::Duplicates;
use crate::pack::PackOptions;
use crate::tensor::Tensor;

impl RelationTensor {
    pub(super) fn check_names(&self) -> Result<()> {
        let descriptor = self.format.descriptor();
        if descriptor.order() != self.extents.len() {
            let message = format!(
                "`{}` stores tensors of order {}, and there are {} extents",
                self.format.name(),
                descriptor.order(),
                self.extents.len()
            );
            return Err(
                Diagnostic::new(code::LENGTH_MISMATCH, message).help("give one extent a mode")
            );
        }
        for (name, extent) in descriptor.extents().iter().zip(&self.extents) {
            if i64::try_from(*extent).is_err() {
                return Err(self.misfit(
                    format!("the extent `{name}` is {extent}, beyond 2^63"),
                    name,
                ));
            }
        }
        let functions = descriptor.declarations().functions();
        for function in functions {
            match self.arrays.get(&function.name) {
                None => {
                    let message = format!("the array `{}` is missing", function.name);
                    return Err(self.misfit(message, &function.name));
                }
                Some(array) if !is_index(array.element()) => {
                    let message = format!(
                        "`{}` is an array of {}, not of integers",
                        function.name,
                        array.element()
                    );
                    return Err(self
                        .misfit(message, &function.name)
                        .help("index arrays are of i32, i64, u8 or u16"));
                }
                Some(_) => {}
            }
        }
        let is_known = |name: &&String| functions.iter().any(|it| it.name == **name);
        if let Some(name) = self.arrays.keys().find(|name| !is_known(name)) {
            let message = format!("`{}` has no array `{name}`", self.format.name());
            return Err(Diagnostic::new(code::ARRAY_MISMATCH, message).help("leave it out"));
        }
        let known = descriptor.constants();
        if let Some(name) = self.constants.keys().find(|name| !known.contains(*name)) {
            let message = format!("`{}` has no constant `{name}`", self.format.name());
            return Err(Diagnostic::new(code::ARRAY_MISMATCH, message).help("leave it out"));
        }
        match self.constants.iter().find(|(_, value)| **value < 0) {
            Some((name, value)) => {
                let message = format!("the constant `{name}` is {value}, which is negative");
                Err(self.misfit(message, name))
            }
            None => Ok(()),
        }
    }

    /// Gives values to the constants that lengths of arrays say.
    pub(super) fn complete_constants(&mut self) -> Result<()> {
        let format = Arc::clone(&self.format);
        let descriptor = format.descriptor();
        let names = descriptor.constants();
        loop {
            let before = self.constants.len();
            let data = self.constants_data();
            let functions = descriptor.declarations().functions().iter();
            let arrays = functions.map(|function| (&function.domain, &self.arrays[&function.name]));
            let mut found = Vec::new();
            for (domain, array) in arrays.chain([(descriptor.values(), &self.values)]) {
                let sides = domain.as_box().unwrap_or_default();
                let [(_, end)] = &sides[..] else {
                    continue;
                };
                let length = i64::try_from(array.len()).unwrap_or(i64::MAX);
                found.extend(solved(end, length, &data));
            }
            for (name, value) in found {
                if value >= 0 && names.contains(&name) {
                    self.constants.entry(name).or_insert(value);
                }
            }
            if self.constants.len() == before {
                break;
            }
        }
        // Where a mode is empty, so are arrays as long as it, whatever else they are.
        if self.extents.contains(&0) {
            for name in &names {
                self.constants.entry(name.clone()).or_insert(0);
            }
        }
        match names
            .iter()
            .find(|name| !self.constants.contains_key(*name))
        {
            Some(name) => Err(self
                .misfit(format!("the constant `{name}` has no value"), name)
                .note("the lengths of the arrays do not say it")),
            None => Ok(()),
        }
    }

    pub(super) fn check_lengths(&self) -> Result<()> {
        let data = self.data();
        let descriptor = self.format.descriptor();
        let functions = descriptor.declarations().functions().iter();
        let arrays = functions.map(|function| {
            let name = function.name.as_str();
            (name, &function.domain, &self.arrays[name])
        });
        let all = arrays.chain([("values", descriptor.values(), &self.values)]);
        let mut uncounted = None;
        for (name, domain, array) in all {
            let Some(sides) = lengths(domain, &data) else {
                uncounted = uncounted.or(Some(name));
                continue;
            };
            if !is_all_of(&sides, array) {
                let says: Vec<String> = sides.iter().map(i64::to_string).collect();
                let message = format!(
                    "`{name}` has {} entries, and its format says {}",
                    array.len(),
                    says.join(" * ")
                );
                return Err(self.misfit(message, name));
            }
        }
        match uncounted {
            Some(name) => Err(self
                .misfit(format!("how long `{name}` is cannot be counted"), name)
                .help("state a length of constants, as in `{[p] : 0 <= p < NNZ}`")),
            None => Ok(()),
        }
    }

    /// Checks what the format assumes of extents alone, which no arrays can put right.
    pub(super) fn check_extents(&self) -> Result<()> {
        let descriptor = self.format.descriptor();
        let is_extent = |name: &String| descriptor.extents().contains(name);
        let data = self.data();
        for constraint in descriptor.declarations().assumptions() {
            let mut is_of_extents = true;
            for e in constraint.expressions() {
                e.visit(&mut |e| match e {
                    Expression::Constant(name) => is_of_extents &= is_extent(name),
                    Expression::Call(..) => is_of_extents = false,
                    _ => {}
                });
            }
            if is_of_extents && data.holds(constraint, &[]) == Some(false) {
                let free = Conjunction::new::<String>([], []);
                let text = free.list_of(std::slice::from_ref(constraint));
                let extents: Vec<String> = self.extents.iter().map(u64::to_string).collect();
                let (name, extents) = (self.format.name(), extents.join(" x "));
                let message = format!(
                    "`{name}` stores tensors with `{text}`, and this one has extents {extents}"
                );
                return Err(Diagnostic::new(code::NOT_AS_DECLARED, message)
                    .help("store the tensor in another format"));
            }
        }
        Ok(())
    }

    pub(super) fn check_declared(&self) -> Result<()> {
        let checked = self.format.descriptor().declarations().check(&self.data());
        checked.map_err(|broken| {
            let mut words = broken.declaration.split(' ').take(2);
            let name = match (words.next(), words.next()) {
                (Some("function"), Some(name)) => name.to_owned(),
                _ => String::new(),
            };
            let (source, place) = self.said(&name);
            let error = Diagnostic::new(code::NOT_AS_DECLARED, broken.why);
            match name.is_empty() {
                true => error.note(format!("`{}` says so", self.format.name())),
                false => error.at(&source, place, "declared here"),
            }
            .help("correct the arrays, or the format")
        })
    }

    /// Whether no two entries have the same coordinates, if the format says so.
    pub(super) fn check_unique(&self) -> Result<()> {
        if !self.format.descriptor().clauses().is_unique {
            return Ok(());
        }
        let options = PackOptions {
            duplicates: Duplicates::Refuse,
            ..PackOptions::default()
        };
        let listed = Tensor::pack_entries(&Format::scoo(self.order()), self.entries()?, options);
        match listed {
            Err(error) if error.code() == code::DUPLICATE_ENTRY => {
                let (source, place) = self.said("unique");
                Err(Diagnostic::new(code::NOT_AS_DECLARED, error.message())
                    .at(&source, place, "declared here")
                    .help("correct the arrays, or the format"))
            }
            listed => listed.map(drop),
        }
    }

    /// Whether all stored entries are on the side of the diagonal that has mirror images, if each
    /// value has a tuple there.
    pub(super) fn check_side(&self) -> Result<()> {
        let descriptor = self.format.descriptor();
        let clauses = descriptor.clauses();
        let Some(mirror) = clauses.mirror else {
            return Ok(());
        };
        if clauses.has_padding || !descriptor.has_places() {
            return Ok(());
        }
        let entries = self.entries()?;
        let [a, b] = mirror.modes;
        let side = |e: usize| {
            let at: Vec<u64> = entries.coords(e).iter().collect();
            at[a] == at[b]
        };
        let on_diagonal = (0..entries.len()).filter(|e| side(*e)).count();
        // Each of the others stands beside its image.
        let n_tuples = on_diagonal + (entries.len() - on_diagonal) / 2;
        if n_tuples == self.values.len() {
            return Ok(());
        }
        let (source, place) = self.said("mirror");
        let message = format!(
            "{} of {} stored entries are on the other side of the diagonal",
            self.values.len() - n_tuples,
            self.values.len()
        );
        Err(Diagnostic::new(code::NOT_AS_DECLARED, message)
            .at(&source, place, "declared here")
            .help("correct the arrays: the map keeps entries to one side"))
    }

    fn misfit(&self, message: String, name: &str) -> Diagnostic {
        let (source, place) = self.said(name);
        Diagnostic::new(code::ARRAY_MISMATCH, message).at(&source, place, "by this format")
    }

    /// Where the text of the format declares a name; if it does not, where it first has it.
    fn said(&self, name: &str) -> (Source, Span) {
        let text = self.format.text();
        let declared = text.find(&format!("function {name} "));
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let first = || {
            let mut places = text.match_indices(name).map(|(at, _)| at);
            places.find(|at| {
                let before = text[..*at].chars().next_back();
                let after = text[at + name.len()..].chars().next();
                !before.is_some_and(is_name) && !after.is_some_and(is_name)
            })
        };
        let at = declared.map(|at| at + "function ".len());
        let span = match at.or_else(first) {
            Some(at) => Span::new(at, at + name.len()),
            None => Span::new(0, text.lines().next().map_or(0, str::len)),
        };
        (self.format.source().clone(), span)
    }
}

fn is_index(element: ElementType) -> bool {
    matches!(
        element,
        ElementType::U8 | ElementType::U16 | ElementType::I32 | ElementType::I64
    )
}

/// How many entries an array has along each argument.
pub(super) fn lengths(domain: &Set, data: &Data<'_>) -> Option<Vec<i64>> {
    let sides = domain.as_box()?;
    let ends = sides.iter().map(|(_, end)| Some(data.value(end)?.max(0)));
    ends.collect()
}

/// Whether an array has as many entries as these sides say.
pub(super) fn is_all_of(sides: &[i64], array: &Array) -> bool {
    let length = sides.iter().try_fold(1_i64, |n, side| n.checked_mul(*side));
    length.is_some_and(|length| usize::try_from(length) == Ok(array.len()))
}

/// The constant that all of a length depends on, and its value where the length is `is`.
fn solved(length: &Expression, is: i64, data: &Data<'_>) -> Option<(String, i64)> {
    match length {
        Expression::Constant(name) if data.value(length).is_none() => Some((name.clone(), is)),
        Expression::Add(a, b) => match (data.value(a), data.value(b)) {
            (None, Some(b)) => solved(a, is.checked_sub(b)?, data),
            (Some(a), None) => solved(b, is.checked_sub(a)?, data),
            _ => None,
        },
        Expression::Subtract(a, b) => solved(a, is.checked_add(data.value(b)?)?, data),
        Expression::Multiply(a, b) => match (data.value(a), data.value(b)) {
            (None, Some(n)) if n > 0 && is % n == 0 => solved(a, is / n, data),
            (Some(n), None) if n > 0 && is % n == 0 => solved(b, is / n, data),
            _ => None,
        },
        _ => None,
    }
}

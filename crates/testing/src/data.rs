//! Tensors as a `run` line writes them.
//!
//! ```text
//! s = 3                        a scalar
//! a = [1, 2, 0]                every entry, row by row
//! B = [[1, 0], [0, 4]]
//! b = {1: 2, 4: 3}             the stored entries
//! C = {(0, 1): 2, (1, 0): 3}
//! ```

use std::collections::BTreeMap;

use sparsec::{
    Array, Diagnostic, ElementType, Entries, Format, PackOptions, Result, Scalar, Tensor, code,
};
use sparsec_base::Source;
use sparsec_base::lex::{Kind, Tokens};

use crate::file::scalar;

/// A tensor as it is written.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// Every entry, row by row.
    All {
        /// How long the lists of each depth are; none for a scalar.
        extents: Vec<u64>,
        /// The entries.
        values: Vec<Scalar>,
    },
    /// What is stored.
    Stored(BTreeMap<Vec<u64>, Scalar>),
}

/// One case of a `run` section.
#[derive(Clone, Debug)]
pub struct Case {
    /// The line on which it begins, counted from 1.
    pub line: usize,
    /// The tensors that are given.
    pub given: Vec<(String, Data)>,
    /// What is to come of it.
    pub expected: Expected,
}

/// What is to come of a case.
#[derive(Clone, Debug)]
pub enum Expected {
    /// Results.
    Results(Vec<(String, Data)>),
    /// A kernel that gives up with this code: `=> error[E0511]`.
    Error(String),
}

/// Reads the cases of a section. A case begins on a line of its own; indented
/// lines go on with it.
///
/// # Errors
/// `E0101` with the place of what is not understood; `element_of` gives the
/// type of a tensor, or says that there is no such tensor.
pub fn cases(
    name: &str,
    text: &str,
    first_line: usize,
    element_of: &dyn Fn(&str) -> Option<ElementType>,
) -> Result<Vec<Case>> {
    let mut blocks: Vec<(usize, String)> = Vec::new();
    for (n, line) in text.lines().enumerate() {
        match blocks.last_mut() {
            Some((_, block)) if line.starts_with(' ') => {
                block.push('\n');
                block.push_str(line);
            }
            _ if line.trim().is_empty() || line.starts_with(';') => {}
            _ => blocks.push((first_line + n, line.to_owned())),
        }
    }
    blocks
        .into_iter()
        .map(|(line, block)| {
            let source = Source::excerpt(name, block, line);
            let mut tokens = Tokens::new(&source, &["=>"])?;
            let given = bindings(&mut tokens, element_of)?;
            tokens.expect("=>")?;
            let expected = if tokens.at("error") {
                tokens.take();
                tokens.expect("[")?;
                let (code, _) = tokens.name("a code")?;
                tokens.expect("]")?;
                Expected::Error(code)
            } else {
                let results = bindings(&mut tokens, element_of)?;
                if results.is_empty() {
                    return Err(tokens.unexpected("a result"));
                }
                Expected::Results(results)
            };
            tokens.expect_end()?;
            Ok(Case {
                line,
                given,
                expected,
            })
        })
        .collect()
}

fn bindings(
    tokens: &mut Tokens,
    element_of: &dyn Fn(&str) -> Option<ElementType>,
) -> Result<Vec<(String, Data)>> {
    let mut bindings = Vec::new();
    while tokens.peek().kind == Kind::Name {
        let (name, span) = tokens.name("a tensor")?;
        let element = element_of(&name).ok_or_else(|| {
            Diagnostic::new(
                code::UNKNOWN_TENSOR,
                format!("the program has no tensor `{name}`"),
            )
            .at(tokens.source(), span, "named here")
        })?;
        tokens.expect("=")?;
        bindings.push((name, data(tokens, element)?));
    }
    Ok(bindings)
}

fn data(tokens: &mut Tokens, element: ElementType) -> Result<Data> {
    if tokens.at("{") {
        return stored(tokens, element);
    }
    let mut values = Vec::new();
    let mut extents = Vec::new();
    all(tokens, element, 0, &mut extents, &mut values)?;
    Ok(Data::All { extents, values })
}

fn stored(tokens: &mut Tokens, element: ElementType) -> Result<Data> {
    tokens.expect("{")?;
    let mut entries = BTreeMap::new();
    while !tokens.eat("}") {
        let begin = tokens.peek().span;
        let mut coords = Vec::new();
        if tokens.eat("(") {
            while !tokens.eat(")") {
                coords.push(tokens.integer("a coordinate")?.0);
                if !tokens.at(")") {
                    tokens.expect(",")?;
                }
            }
        } else {
            coords.push(tokens.integer("a coordinate")?.0);
        }
        tokens.expect(":")?;
        let value = scalar(tokens, element)?;
        if entries.insert(coords, value).is_some() {
            let message = "two entries at the same coordinates";
            return Err(Diagnostic::new(code::DUPLICATE_ENTRY, message).at(
                tokens.source(),
                begin,
                "again",
            ));
        }
        if !tokens.at("}") {
            tokens.expect(",")?;
        }
    }
    Ok(Data::Stored(entries))
}

/// A list and its lists; all of one depth are to be equally long.
fn all(
    tokens: &mut Tokens,
    element: ElementType,
    depth: usize,
    extents: &mut Vec<u64>,
    values: &mut Vec<Scalar>,
) -> Result<()> {
    let begin = tokens.peek().span;
    if !tokens.eat("[") {
        if depth < extents.len() {
            return Err(tokens.unexpected("`[`"));
        }
        values.push(scalar(tokens, element)?);
        return Ok(());
    }
    let is_first = extents.len() == depth && values.is_empty();
    if is_first {
        extents.push(u64::MAX);
    } else if depth >= extents.len() {
        return Err(tokens.unexpected("a value, as before"));
    }
    let mut len = 0;
    while !tokens.eat("]") {
        all(tokens, element, depth + 1, extents, values)?;
        len += 1;
        if !tokens.at("]") {
            tokens.expect(",")?;
        }
    }
    if extents[depth] == u64::MAX {
        extents[depth] = len;
    }
    if extents[depth] != len {
        let message = format!(
            "this list has {len} parts, an earlier one {}",
            extents[depth]
        );
        return Err(Diagnostic::new(code::LENGTH_MISMATCH, message).at(
            tokens.source(),
            begin,
            "begins here",
        ));
    }
    Ok(())
}

impl Data {
    /// The tensor, of these extents and in this format.
    ///
    /// # Errors
    /// Words for lists that do not fit the extents; diagnostics of packing.
    pub fn tensor(
        &self,
        format: &Format,
        extents: &[u64],
        fill: Scalar,
    ) -> std::result::Result<Tensor, String> {
        let mut coords = Vec::new();
        let mut values = Vec::new();
        match self {
            Self::All {
                extents: own,
                values: all,
            } => {
                fits(own, extents)?;
                for (n, value) in all.iter().enumerate() {
                    coords.extend(coords_of(n as u64, extents));
                    values.push(*value);
                }
            }
            Self::Stored(entries) => {
                for (at, value) in entries {
                    if at.len() != extents.len() {
                        return Err(format!("{at:?} should have {} coordinates", extents.len()));
                    }
                    coords.extend(at);
                    values.push(*value);
                }
            }
        }
        let mut array =
            Array::zeroed(fill.element(), values.len()).map_err(|error| error.render(false))?;
        for (n, value) in values.iter().enumerate() {
            array.set(n, *value);
        }
        let entries = Entries {
            extents: extents.to_vec(),
            coords: coords.into(),
            values: array,
        };
        let options = PackOptions {
            fill: Some(fill),
            ..PackOptions::default()
        };
        Tensor::pack_entries(format, entries, options).map_err(|error| error.render(false))
    }

    /// Compares what is written with a result: values, and of what is stored
    /// also the pattern. Zeros of either sign are the same, and so are all `NaN`s.
    ///
    /// # Errors
    /// The difference in words.
    pub fn compare(&self, found: &Tensor) -> std::result::Result<(), String> {
        match self {
            Self::All { extents, values } => {
                fits(extents, found.extents())?;
                for (n, value) in values.iter().enumerate() {
                    let coords: Vec<u64> = coords_of(n as u64, found.extents());
                    let there = found.get(&coords);
                    if !same(*value, there) {
                        return Err(format!("at {coords:?} is {there}, not {value}"));
                    }
                }
            }
            Self::Stored(expected) => {
                let entries = found.entries();
                let stored: BTreeMap<Vec<u64>, Scalar> = entries
                    .iter()
                    .map(|(coords, value)| (coords.to_vec(), value))
                    .collect();
                for (coords, value) in &stored {
                    match expected.get(coords) {
                        None => return Err(format!("{value} is stored at {coords:?}")),
                        Some(wanted) if !same(*wanted, *value) => {
                            return Err(format!("at {coords:?} is {value}, not {wanted}"));
                        }
                        Some(_) => {}
                    }
                }
                if let Some(coords) = expected.keys().find(|at| !stored.contains_key(*at)) {
                    return Err(format!("nothing is stored at {coords:?}"));
                }
            }
        }
        Ok(())
    }
}

fn fits(own: &[u64], extents: &[u64]) -> std::result::Result<(), String> {
    // What is inside an empty list cannot be seen.
    let n = own
        .iter()
        .position(|&extent| extent == 0)
        .map_or(own.len(), |n| n + 1);
    let is_prefix = own[..n] == extents[..n.min(extents.len())];
    match is_prefix && (n == extents.len() || own[..n].contains(&0)) {
        true => Ok(()),
        false => Err(format!(
            "the lists have extents {own:?}, the tensor {extents:?}"
        )),
    }
}

fn coords_of(mut n: u64, extents: &[u64]) -> Vec<u64> {
    let mut coords = vec![0; extents.len()];
    for (coord, extent) in coords.iter_mut().zip(extents).rev() {
        *coord = n % extent;
        n /= extent;
    }
    coords
}

fn same(left: Scalar, right: Scalar) -> bool {
    let (x, y) = (left.to_c128(), right.to_c128());
    let exact = left.to_integer().is_some();
    left == right || (!exact && (x == y || (x.is_nan() && y.is_nan())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Case>> {
        cases("f", text, 1, &|name| {
            (name != "z").then_some(ElementType::F64)
        })
    }

    #[test]
    fn lists_and_maps() {
        let cases = read(
            "A = [[1, 2, 3], [4, 5, -6]]\n  b = {1: 2} => C = {(0, 1): inf}\ns = 3 => error[E0511]",
        )
        .unwrap();
        assert_eq!(cases.len(), 2);
        assert_eq!(cases[1].line, 3);
        let Data::All { extents, values } = &cases[0].given[0].1 else {
            panic!("a list")
        };
        assert_eq!((extents.as_slice(), values.len()), (&[2, 3][..], 6));
    }

    #[test]
    fn what_is_malformed_is_refused() {
        for (text, part) in [
            ("a = [1, 2]", "expected `=>`"),
            ("a = [[1, 2], [3]] => b = 1", "this list has 1 parts"),
            ("a = [1, [2]] => b = 1", "expected"),
            ("z = 1 => b = 1", "no tensor `z`"),
            ("a = {1: 2, 1: 3} => b = 1", "same coordinates"),
            ("a = 1 =>", "expected a result"),
        ] {
            let error = read(text).unwrap_err().render(false);
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}

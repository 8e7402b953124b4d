//! Einsums: products of operands with a letter for each mode.
//!
//! ```text
//! einsum  := operand { "," operand } [ "->" operand ]      spaces anywhere
//! operand := { letter }                                    a-z A-Z, one a mode
//! ```
//!
//! | einsum      | index notation                  |                          |
//! |-------------|---------------------------------|--------------------------|
//! | `ij,jk->ik` | `out(i,k) = operand0(i,j) * operand1(j,k)`  | a product of matrices    |
//! | `ij,jk`     | `out(i,k) = operand0(i,j) * operand1(j,k)`  | without `->`: the letters that occur once, in alphabetical order |
//! | `ii->i`     | `out(i) = operand0(i,i)`              | a diagonal               |
//! | `ij->`      | `out = operand0(i,j)`                 | a sum                    |
//! | `,i->i`     | `out(i) = operand0 * operand1(i)`           | a scalar times a vector  |
//!
//! What is wrong with a text is found by a `const fn`, so that the macro of the
//! library finds it when a program is compiled, and the same function finds it
//! in a text that comes at run time.
//!
//! ```
//! use sparsec_notation::einsum::{Einsum, find_fault};
//! assert_eq!(Einsum::parse("ij, jk -> ik", 2)?.to_string(), "out(i,k) = operand0(i,j) * operand1(j,k)");
//! const _: () = assert!(find_fault("ij,jk->ik", 2).is_none());
//! # Ok::<(), sparsec_base::Diagnostic>(())
//! ```

use std::collections::BTreeSet;
use std::fmt;

use sparsec_base::{Code, Diagnostic, Result, Source, Span, code};

/// The index of a mode that is read at its one coordinate.
const FIRST: char = '0';

/// An einsum that was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Einsum {
    source: Source,
    /// The letters of each operand, and where they stand; [`FIRST`] for a broadcast mode.
    operands: Vec<(Vec<char>, Span)>,
    output: Vec<char>,
}

/// What is wrong with an einsum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// `...`, for modes without letters.
    Ellipsis,
    /// A character that is no letter, comma, arrow or space.
    Character,
    /// Half an arrow.
    Arrow,
    /// Something after the result, or a second arrow.
    AfterOutput,
    /// A letter that the result has twice.
    OutputRepeats,
    /// A letter of the result that no operand has.
    OutputUnknown,
    /// Fewer tensors than lists of letters.
    TooFewOperands,
    /// More tensors than lists of letters.
    TooManyOperands,
}

/// A fault and the byte at which it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub kind: FaultKind,
    /// Where it is, in bytes.
    pub at: usize,
}

impl FaultKind {
    /// What is wrong, in one line.
    pub const fn message(self) -> &'static str {
        match self {
            Self::Ellipsis => "einsum: `...` is not supported; give every mode a letter",
            Self::Character => {
                "einsum: a character that is no letter, `,` or `->`; write for example `ij,jk->ik`"
            }
            Self::Arrow => "einsum: half an arrow; the result comes after `->`",
            Self::AfterOutput => "einsum: the result is one list of letters, and the last",
            Self::OutputRepeats => "einsum: a letter stands twice in the result",
            Self::OutputUnknown => "einsum: a letter of the result is in no operand",
            Self::TooFewOperands => "einsum: fewer tensors than lists of letters",
            Self::TooManyOperands => "einsum: more tensors than lists of letters",
        }
    }

    fn code(self) -> Code {
        match self {
            Self::Ellipsis | Self::Character | Self::Arrow | Self::AfterOutput => {
                code::EINSUM_SYNTAX
            }
            Self::OutputRepeats | Self::OutputUnknown => code::EINSUM_OUTPUT,
            Self::TooFewOperands | Self::TooManyOperands => code::EINSUM_OPERANDS,
        }
    }

    fn help(self) -> &'static str {
        match self {
            Self::Ellipsis => "give every mode a letter",
            Self::Character | Self::Arrow => "write for example `ij,jk->ik`",
            Self::AfterOutput => "write one list of letters after `->`",
            Self::OutputRepeats => "write each mode of the result once",
            Self::OutputUnknown => "use letters of the operands",
            Self::TooFewOperands => "give one tensor for each list of letters",
            Self::TooManyOperands => "give each tensor a list of letters, after a comma",
        }
    }
}

/// The first fault of an einsum of so many operands; `None` if it has none.
pub const fn find_fault(text: &str, n_operands: usize) -> Option<Fault> {
    let bytes = text.as_bytes();
    // Which letters operands have, one bit each; likewise the result.
    let (mut named, mut output) = (0u64, 0u64);
    let mut in_output = false;
    let mut n_lists = 1;
    let mut at = 0;
    while at < bytes.len() {
        let kind = match bytes[at] {
            byte if byte.is_ascii_alphabetic() => {
                let letter = 1 << (byte - b'A');
                if !in_output {
                    named |= letter;
                    None
                } else if named & letter == 0 {
                    Some(FaultKind::OutputUnknown)
                } else if output & letter != 0 {
                    Some(FaultKind::OutputRepeats)
                } else {
                    output |= letter;
                    None
                }
            }
            b',' if !in_output => {
                n_lists += 1;
                None
            }
            b'-' if in_output => Some(FaultKind::AfterOutput),
            b'-' if at + 1 < bytes.len() && bytes[at + 1] == b'>' => {
                in_output = true;
                at += 1;
                None
            }
            b',' => Some(FaultKind::AfterOutput),
            b'-' | b'>' => Some(FaultKind::Arrow),
            b'.' => Some(FaultKind::Ellipsis),
            byte if byte.is_ascii_whitespace() => None,
            _ => Some(FaultKind::Character),
        };
        if let Some(kind) = kind {
            return Some(Fault { kind, at });
        }
        at += 1;
    }
    let kind = if n_lists == n_operands {
        return None;
    } else if n_lists > n_operands {
        FaultKind::TooFewOperands
    } else {
        FaultKind::TooManyOperands
    };
    Some(Fault { kind, at: 0 })
}

impl Einsum {
    /// Reads an einsum of so many operands.
    ///
    /// # Errors
    /// * `E0030` for a text that is none;
    /// * `E0031` for a result that has a letter twice, or one of no operand;
    /// * `E0032` for another number of operands.
    pub fn parse(text: &str, n_operands: usize) -> Result<Self> {
        let source = Source::new("einsum", text);
        if let Some(fault) = find_fault(text, n_operands) {
            return Err(diagnose(&source, fault, n_operands));
        }
        let (lists, output) = match text.split_once("->") {
            Some((lists, output)) => (lists, Some(output)),
            None => (text, None),
        };
        let mut start = 0;
        let operands: Vec<(Vec<char>, Span)> = lists
            .split(',')
            .map(|list| {
                let span = Span::new(start, start + list.len());
                start += list.len() + 1;
                (letters(list), span)
            })
            .collect();
        let output = match output {
            Some(output) => letters(output),
            None => implied_output(&operands),
        };
        Ok(Self {
            source,
            operands,
            output,
        })
    }

    /// Checks that each tensor has a mode for each of its letters.
    ///
    /// # Errors
    /// `E0032` for the first that has not.
    pub fn check_orders(&self, orders: impl IntoIterator<Item = usize>) -> Result<()> {
        for (number, ((letters, span), order)) in self.operands.iter().zip(orders).enumerate() {
            if letters.len() != order {
                let message = format!(
                    "operand {number} has order {order}, and the einsum gives it {} letters",
                    letters.len()
                );
                return Err(Diagnostic::new(code::EINSUM_OPERANDS, message)
                    .at(&self.source, *span, "for this operand")
                    .help("give each mode one letter"));
            }
        }
        Ok(())
    }

    /// The einsum of operands of these shapes, each with an extent for each of its letters. A mode
    /// of extent 1 is broadcast along a longer mode of the same letter: it is read at its one
    /// coordinate. No sum is taken over it, so a `-0` there keeps its sign.
    ///
    /// ```
    /// use sparsec_notation::einsum::Einsum;
    /// let product = Einsum::parse("ij,ij->ij", 2)?.broadcast(&[vec![1, 3], vec![2, 3]]);
    /// assert_eq!(product.to_string(), "out(i,j) = operand0(0,j) * operand1(i,j)");
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    #[must_use]
    pub fn broadcast(mut self, shapes: &[Vec<u64>]) -> Self {
        let all = self.operands.iter().zip(shapes);
        let longer: BTreeSet<char> = all
            .flat_map(|((letters, _), shape)| letters.iter().zip(shape))
            .filter(|(_, extent)| **extent != 1)
            .map(|(letter, _)| *letter)
            .collect();
        for ((letters, _), shape) in self.operands.iter_mut().zip(shapes) {
            for (letter, extent) in letters.iter_mut().zip(shape) {
                if *extent == 1 && longer.contains(letter) {
                    *letter = FIRST;
                }
            }
        }
        self
    }

    /// What operand `number` is called in index notation.
    pub fn operand_name(number: usize) -> String {
        format!("operand{number}")
    }
}

/// The letters that occur once, in alphabetical order.
fn implied_output(operands: &[(Vec<char>, Span)]) -> Vec<char> {
    let all = || operands.iter().flat_map(|(letters, _)| letters);
    let mut once: Vec<char> = all()
        .filter(|letter| all().filter(|other| other == letter).count() == 1)
        .copied()
        .collect();
    once.sort_unstable();
    once
}

fn letters(list: &str) -> Vec<char> {
    list.chars().filter(char::is_ascii_alphabetic).collect()
}

fn diagnose(source: &Source, fault: Fault, n_operands: usize) -> Diagnostic {
    let text = source.text();
    let span = match fault.kind {
        FaultKind::TooFewOperands | FaultKind::TooManyOperands => {
            Span::new(0, text.find("->").unwrap_or(text.len()))
        }
        FaultKind::Ellipsis => {
            let dots = text[fault.at..].bytes().take_while(|byte| *byte == b'.');
            Span::new(fault.at, fault.at + dots.count())
        }
        _ => {
            let here = text[fault.at..].chars().next().map_or(0, char::len_utf8);
            Span::new(fault.at, fault.at + here)
        }
    };
    let label = match fault.kind {
        FaultKind::TooFewOperands | FaultKind::TooManyOperands => {
            let n_lists = text[span.range()].split(',').count();
            format!("{n_lists} here, {n_operands} given")
        }
        _ => "here".to_owned(),
    };
    Diagnostic::new(fault.kind.code(), message_alone(fault.kind))
        .at(source, span, label)
        .help(fault.kind.help())
}

/// The message without what a diagnostic says in other places.
fn message_alone(kind: FaultKind) -> &'static str {
    let message = kind.message().trim_start_matches("einsum: ");
    message.split_once("; ").map_or(message, |(first, _)| first)
}

/// As index notation over `operand0`, `operand1`, … and `out`.
impl fmt::Display for Einsum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_access(f, "out", &self.output)?;
        for (number, (letters, _)) in self.operands.iter().enumerate() {
            f.write_str(if number == 0 { " = " } else { " * " })?;
            write_access(f, &Self::operand_name(number), letters)?;
        }
        Ok(())
    }
}

fn write_access(f: &mut fmt::Formatter<'_>, name: &str, letters: &[char]) -> fmt::Result {
    f.write_str(name)?;
    for (mode, letter) in letters.iter().enumerate() {
        write!(f, "{}{letter}", if mode == 0 { '(' } else { ',' })?;
    }
    f.write_str(if letters.is_empty() { "" } else { ")" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, n_operands: usize, expect: &str) {
        assert_eq!(
            Einsum::parse(text, n_operands).unwrap().to_string(),
            expect,
            "{text}"
        );
    }

    fn refuse(text: &str, n_operands: usize, code: Code, at: &str) {
        let error = Einsum::parse(text, n_operands).unwrap_err();
        let label = &error.labels()[0];
        assert_eq!(error.code(), code, "{error}");
        assert_eq!(label.source.slice(label.span), at, "{error}");
        assert!(error.help_text().is_some(), "{error}");
    }

    #[test]
    fn letters_become_index_variables() {
        check("ij,jk->ik", 2, "out(i,k) = operand0(i,j) * operand1(j,k)");
        check(
            " i j , j\tk -> k i ",
            2,
            "out(k,i) = operand0(i,j) * operand1(j,k)",
        );
        check(
            "ijk,jr,kr->ir",
            3,
            "out(i,r) = operand0(i,j,k) * operand1(j,r) * operand2(k,r)",
        );
        check("ii->i", 1, "out(i) = operand0(i,i)");
        check("Aa->aA", 1, "out(a,A) = operand0(A,a)");
    }

    #[test]
    fn results_are_implied_as_in_numpy() {
        check("ij,jk", 2, "out(i,k) = operand0(i,j) * operand1(j,k)");
        check("ba", 1, "out(a,b) = operand0(b,a)");
        check("ii", 1, "out = operand0(i,i)");
        check("i,i", 2, "out = operand0(i) * operand1(i)");
        check("aZ", 1, "out(Z,a) = operand0(a,Z)");
    }

    #[test]
    fn scalars_have_no_letters() {
        check(",i->i", 2, "out(i) = operand0 * operand1(i)");
        check("ij->", 1, "out = operand0(i,j)");
        check("", 1, "out = operand0");
        check("->", 1, "out = operand0");
    }

    #[test]
    fn what_is_no_einsum_is_refused_where_it_stands() {
        refuse("...ij->ij", 1, code::EINSUM_SYNTAX, "...");
        refuse("ij,j2->i", 2, code::EINSUM_SYNTAX, "2");
        refuse("ij,jä->i", 2, code::EINSUM_SYNTAX, "ä");
        refuse("ij-ij", 1, code::EINSUM_SYNTAX, "-");
        refuse("ij>ij", 1, code::EINSUM_SYNTAX, ">");
        refuse("ij->i->j", 1, code::EINSUM_SYNTAX, "-");
        refuse("ij->i,j", 1, code::EINSUM_SYNTAX, ",");
        refuse("ij->ii", 1, code::EINSUM_OUTPUT, "i");
        refuse("ij,jk->iz", 2, code::EINSUM_OUTPUT, "z");
        refuse("ij,jk->ik", 1, code::EINSUM_OPERANDS, "ij,jk");
        refuse("ij", 0, code::EINSUM_OPERANDS, "ij");
        refuse("ij->", 2, code::EINSUM_OPERANDS, "ij");
    }

    #[test]
    fn orders_are_compared_with_letters() {
        let einsum = Einsum::parse("ij,jk->ik", 2).unwrap();
        assert!(einsum.check_orders([2, 2]).is_ok());
        let error = einsum.check_orders([2, 3]).unwrap_err();
        assert_eq!(error.code(), code::EINSUM_OPERANDS);
        assert_eq!(
            error.message(),
            "operand 1 has order 3, and the einsum gives it 2 letters"
        );
        assert_eq!(error.labels()[0].span, Span::new(3, 5));
    }
}

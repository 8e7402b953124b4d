//! Certificates: a list of obligations, each with the lemma and the statements that establish it.
//!
//! ```text
//! certificate {[i, q1, j] -> [q0, t] : q0 = j && t = B_q1(q1)}
//!   B_pos1 has its values, since a scan of counts is nondecreasing (s1, s2)
//!   B_pos1 is nondecreasing, since a scan of counts is nondecreasing (s1, s2)
//!   the place of each entry holds its value: not proved
//! ```
//!
//! The first line maps each entry to its **tuple** in the destination. The tuple has the elements
//! of the first tuple of the destination's map, then its `exists` variables. Each is an expression
//! of the variables of the statements. A destination of several parts has such a list for each.

use std::fmt::{self, Display};
use std::str::FromStr;

use sparsec_base::{Diagnostic, Result, Source, Span, code};
use sparsec_relation::Relation;

use crate::lemma::Lemma;

/// A condition that a correct conversion meets. A **place** is a position in the array of values.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Obligation {
    /// Each statement reads only values that no later statement changes.
    Settled,
    /// The statement that copies values has one point for each entry of the source.
    Visited,
    /// No two entries of the source share a place.
    Apart,
    /// The places of the source ascend in the order in which statements visit entries.
    Ascending,
    /// The statements that write this array or number establish the facts of a lemma.
    Values(String),
    /// An array has the extents that the descriptor declares.
    Length(String),
    /// All values of an array are in the declared range.
    Range(String),
    /// The values of an array are ordered as declared. Holds the array and the word, such as
    /// `increasing`.
    Monotone(String, String),
    /// An array takes no value twice.
    Injective(String),
    /// A search finds each key of a hash table: no slot is free from where it begins to the key.
    Found(String),
    /// An assumption about numbers or a `forall` of the descriptor, as text.
    Declared(String),
    /// A constant stands for an entry of an array: `B_pos1_end` for `B_pos1(N0)`.
    End(String, String),
    /// Every index lies within its array, and every key of a window within its extent.
    Inside,
    /// The tuple of each entry is in the destination's map, and has the coordinates of the entry.
    Tuple,
    /// No two tuples have the same coordinates.
    OneTuple,
    /// No two entries have the same place in the destination.
    OwnPlace,
    /// Entries have one place in the destination only if their coordinates are equal.
    Shared,
    /// Entries have one place in the destination only if their values are equal. Where places
    /// hold runs, this stands in place of [`OwnPlace`](Self::OwnPlace).
    Alike,
    /// The place of an entry holds its value.
    Holds,
    /// The place of an entry holds the sum of the values at its coordinates.
    Sums,
    /// Places of tuples without an entry hold the fill.
    Others,
}

/// One obligation with its proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The condition to establish.
    pub obligation: Obligation,
    /// How the certificate establishes the obligation; `None` if it does not.
    pub proof: Option<Proof>,
}

/// How an obligation is established.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The lemma.
    pub lemma: Lemma,
    /// The names of the statements to which the lemma applies.
    pub statements: Vec<String>,
}

/// The obligations of a conversion with their proofs; see the module's page.
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    /// The certificates of the source's pieces, if these are listed first, then those of the
    /// destination's parts.
    pub parts: Vec<Part>,
}

/// The obligations of one part of the destination, or of the list for one piece of the source.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Maps each entry that the part takes, or that the piece has, to its tuple.
    pub tuple: Relation,
    /// The obligations. A line follows the lines whose facts its lemma uses.
    pub lines: Vec<Line>,
}

/// The words for monotone arrays.
const ORDERS: [&str; 4] = ["nondecreasing", "increasing", "nonincreasing", "decreasing"];

impl Certificate {
    /// The obligations without a proof.
    pub fn unproved(&self) -> impl Iterator<Item = &Obligation> {
        let lines = self.parts.iter().flat_map(|part| &part.lines);
        let open = lines.filter(|line| line.proof.is_none());
        open.map(|line| &line.obligation)
    }

    /// Reads a certificate from the whole of a source.
    ///
    /// # Errors
    /// `E0832` for a line that is no line of a certificate, and for a tuple that is no relation.
    pub fn parse(source: &Source) -> Result<Self> {
        let mut lines = source.text().lines();
        let wrong = |line: &str, what: &str| {
            let at = line.as_ptr() as usize - source.text().as_ptr() as usize;
            Diagnostic::new(code::CERTIFICATE_TEXT, format!("this is no {what}"))
                .at(source, Span::new(at, at + line.len()), "here")
                .help("print a certificate with `--emit certificate`")
        };
        let mut parts: Vec<Part> = Vec::new();
        for line in lines.by_ref().filter(|line| !line.trim().is_empty()) {
            if let Some(tuple) = line.strip_prefix("certificate ") {
                let tuple = tuple.parse();
                parts.push(Part {
                    tuple: tuple.map_err(|_| wrong(line, "tuple of entries"))?,
                    lines: Vec::new(),
                });
                continue;
            }
            let part = parts.last_mut();
            let part = part.ok_or_else(|| wrong(line, "beginning of a certificate"))?;
            let read = Line::read(line.trim());
            part.lines
                .push(read.ok_or_else(|| wrong(line, "line of a certificate"))?);
        }
        match parts.is_empty() {
            true => Err(wrong(source.text(), "beginning of a certificate")),
            false => Ok(Self { parts }),
        }
    }
}

impl Line {
    fn read(text: &str) -> Option<Self> {
        if let Some(obligation) = text.strip_suffix(": not proved") {
            let obligation = Obligation::read(obligation)?;
            return Some(Self {
                obligation,
                proof: None,
            });
        }
        let (obligation, proof) = text.rsplit_once(", since ")?;
        let (lemma, statements) = match proof.strip_suffix(')') {
            Some(proof) => proof.rsplit_once(" (")?,
            None => (proof, ""),
        };
        let lemma = Lemma::ALL.into_iter().find(|it| it.words() == lemma)?;
        let statements = statements.split(", ").filter(|name| !name.is_empty());
        let proof = Proof {
            lemma,
            statements: statements.map(str::to_owned).collect(),
        };
        Some(Self {
            obligation: Obligation::read(obligation)?,
            proof: Some(proof),
        })
    }
}

impl Obligation {
    fn read(text: &str) -> Option<Self> {
        let plain = [
            Self::Settled,
            Self::Visited,
            Self::Apart,
            Self::Ascending,
            Self::Inside,
            Self::Tuple,
            Self::OneTuple,
            Self::OwnPlace,
            Self::Shared,
            Self::Alike,
            Self::Holds,
            Self::Sums,
            Self::Others,
        ];
        let said = plain.into_iter().find(|it| it.to_string() == text);
        let of = |end: &str| text.strip_suffix(end).map(str::to_owned);
        said.or_else(|| of(" has its values").map(Self::Values))
            .or_else(|| of(" has its length").map(Self::Length))
            .or_else(|| of(" keeps to its range").map(Self::Range))
            .or_else(|| of(" takes no value twice").map(Self::Injective))
            .or_else(|| {
                let name = text.strip_prefix("a search finds each key of ")?;
                Some(Self::Found(name.to_owned()))
            })
            .or_else(|| {
                let said = text.strip_prefix("it holds that ")?;
                Some(Self::Declared(said.to_owned()))
            })
            .or_else(|| {
                let (name, word) = text.split_once(" is the entry ")?;
                Some(Self::End(name.to_owned(), word.to_owned()))
            })
            .or_else(|| {
                let (name, word) = text.split_once(" is ")?;
                ORDERS.contains(&word).then_some(())?;
                Some(Self::Monotone(name.to_owned(), word.to_owned()))
            })
    }
}

impl Display for Obligation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settled => f.write_str("statements read only values that are final"),
            Self::Visited => f.write_str("statements visit each entry once"),
            Self::Apart => f.write_str("entries have places of their own in the source"),
            Self::Ascending => f.write_str("places ascend in the order of visits"),
            Self::Values(name) => write!(f, "{name} has its values"),
            Self::Length(name) => write!(f, "{name} has its length"),
            Self::Range(name) => write!(f, "{name} keeps to its range"),
            Self::Monotone(name, word) => write!(f, "{name} is {word}"),
            Self::Injective(name) => write!(f, "{name} takes no value twice"),
            Self::Found(name) => write!(f, "a search finds each key of {name}"),
            Self::Declared(said) => write!(f, "it holds that {said}"),
            Self::End(name, call) => write!(f, "{name} is the entry {call}"),
            Self::Inside => f.write_str("statements keep to their arrays"),
            Self::Tuple => f.write_str("each entry has a tuple with its coordinates"),
            Self::OneTuple => f.write_str("no two tuples have the same coordinates"),
            Self::OwnPlace => f.write_str("each entry has a place of its own"),
            Self::Shared => {
                f.write_str("entries share a place only if their coordinates are equal")
            }
            Self::Alike => f.write_str("entries share a place only if their values are equal"),
            Self::Sums => f.write_str("the place of each entry holds the sum at its coordinates"),
            Self::Holds => f.write_str("the place of each entry holds its value"),
            Self::Others => f.write_str("each other tuple holds the fill"),
        }
    }
}

impl Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(proof) = &self.proof else {
            return write!(f, "{}: not proved", self.obligation);
        };
        write!(f, "{}, since {}", self.obligation, proof.lemma.words())?;
        match &proof.statements[..] {
            [] => Ok(()),
            names => write!(f, " ({})", names.join(", ")),
        }
    }
}

impl Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in &self.parts {
            writeln!(f, "certificate {}", part.tuple)?;
            for line in &part.lines {
                writeln!(f, "  {line}")?;
            }
        }
        Ok(())
    }
}

impl FromStr for Certificate {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(&Source::new("certificate", text))
    }
}

//! Reading encodings of all releases.
//!
//! ```text
//! encoding := "<" "{" key "=" value { "," key "=" value } [ "," ] "}" ">"
//! ```
//!
//! `encoding/map.rs` reads level maps.

use std::sync::Arc;

use sparsec_base::suggest::closest;
use sparsec_base::{Diagnostic, Result, Span, code};
use sparsec_format::LevelKind;

use crate::affine::{AffineExpr, AffineMap};
use crate::attribute::Attribute;
use crate::encoding::{Encoding, Level, LevelExpr, Slice, rules};
use crate::lex::Kind;
use crate::release::{Dialect, Releases};

use super::Parser;
mod map;

/// The meaning of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Map,
    Kinds,
    Ordering,
    Higher,
    Pos,
    Crd,
    Slices,
    Explicit,
    Implicit,
}

/// Every key with the releases that know it.
const KEYS: [(&str, Key, Releases); 14] = [
    ("map", Key::Map, Releases::from(18)),
    ("posWidth", Key::Pos, Releases::from(17)),
    ("crdWidth", Key::Crd, Releases::from(17)),
    ("explicitVal", Key::Explicit, Releases::from(19)),
    ("implicitVal", Key::Implicit, Releases::from(19)),
    ("lvlTypes", Key::Kinds, Releases::new(17, 17)),
    ("dimToLvl", Key::Ordering, Releases::new(17, 17)),
    ("dimSlices", Key::Slices, Releases::new(17, 17)),
    ("dimLevelType", Key::Kinds, Releases::until(16)),
    ("dimOrdering", Key::Ordering, Releases::until(16)),
    ("higherOrdering", Key::Higher, Releases::new(16, 16)),
    ("pointerBitWidth", Key::Pos, Releases::until(16)),
    ("indexBitWidth", Key::Crd, Releases::until(16)),
    ("slice", Key::Slices, Releases::new(16, 16)),
];

/// The parts of an encoding that were read so far.
#[derive(Default)]
struct Parts {
    map: Option<Encoding>,
    kinds: Option<Vec<Level>>,
    ordering: Option<AffineMap>,
    higher: Option<AffineMap>,
    slices: Vec<Option<Slice>>,
    widths: [u32; 2],
    values: [Option<Attribute>; 2],
    /// The places of the levels.
    level_spans: Vec<Span>,
    /// The places of the widths and of the ordering.
    width_span: Option<Span>,
    ordering_span: Option<Span>,
    /// Whether the ordering has to be a permutation. Blocks then have a key of their own.
    is_permuted: bool,
}

impl Parser {
    /// Reads an encoding after `#sparse_tensor.encoding`.
    pub(super) fn encoding(&mut self) -> Result<Attribute> {
        self.keys().map_err(|error| {
            error.or_help(
                "write it like `#sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>`",
            )
        })
    }

    fn keys(&mut self) -> Result<Attribute> {
        let start = self.cursor.before();
        self.cursor.expect("<")?;
        // An encoding may refer to another one and change its slices.
        if self.cursor.kind() == Kind::Hash {
            let span = self.cursor.peek().span;
            return Err(self
                .fault(
                    code::ENCODING_KEY,
                    "sparsec reads encodings of keys alone",
                    span,
                    "not a key",
                )
                .help("write `#sparse_tensor.encoding<{ map = … }>`"));
        }
        self.cursor.expect("{")?;
        let mut parts = Parts::default();
        let mut seen: Vec<Key> = Vec::new();
        let (_, comma) = self.list_with_tail("}", |parser| parser.key(&mut parts, &mut seen))?;
        if let Some(span) = comma {
            self.word_of(Releases::from(16), "a comma behind the last key", span)?;
        }
        self.cursor.expect(">")?;
        let span = start.to(self.cursor.before());
        let encoding = self.assembled(&mut parts, span)?;
        self.check_encoding(&encoding, &parts, span)?;
        Ok(Attribute::Encoding(Arc::new(encoding)))
    }

    fn key(&mut self, parts: &mut Parts, seen: &mut Vec<Key>) -> Result<()> {
        let token = self
            .cursor
            .expect_kind(Kind::Name, "a key, such as `map`")?;
        let name = self.cursor.slice(token.span).to_owned();
        let Some((word, key, releases)) = KEYS.into_iter().find(|(known, ..)| *known == name)
        else {
            return Err(self.unknown_key(&name, token.span));
        };
        self.word_of(releases, word, token.span)?;
        if seen.contains(&key) {
            return Err(self
                .fault(
                    code::DEFINED_TWICE,
                    format!("an encoding with two keys `{word}`"),
                    token.span,
                    "given again",
                )
                .help("leave one of them out"));
        }
        seen.push(key);
        self.cursor.expect("=")?;
        let start = self.cursor.peek().span;
        match key {
            Key::Map => parts.map = Some(self.level_map(&mut parts.level_spans)?),
            Key::Kinds => parts.kinds = Some(self.old_kinds(&mut parts.level_spans)?),
            Key::Ordering | Key::Higher => {
                let map = self.map_attribute()?;
                parts.ordering_span = Some(start.to(self.cursor.before()));
                parts.is_permuted = word == "dimOrdering";
                match key {
                    Key::Ordering => parts.ordering = Some(map),
                    _ => parts.higher = Some(map),
                }
            }
            Key::Pos | Key::Crd => {
                let (width, span) = self.cursor.integer("a number of bits")?;
                let width = u32::try_from(width);
                parts.widths[usize::from(key == Key::Crd)] =
                    width.map_err(|_| self.cursor.too_large(span, u32::MAX.into()))?;
                parts.width_span = Some(span);
                // An integer may have its type.
                if self.cursor.eat(":") {
                    self.ty()?;
                }
            }
            Key::Slices => {
                self.cursor.expect("[")?;
                parts.slices = self.list("]", |parser| parser.slice_numbers().map(Some))?;
            }
            Key::Explicit | Key::Implicit => {
                let value = self.attribute()?;
                if !matches!(
                    value,
                    Attribute::Integer(..)
                        | Attribute::Float(..)
                        | Attribute::Bool(_)
                        | Attribute::Complex(..)
                ) {
                    let span = start.to(self.cursor.before());
                    return Err(self
                        .fault(
                            code::ENCODING_VALUE,
                            format!("`{word}` is a number"),
                            span,
                            "not a number",
                        )
                        .help("write `1.0 : f32` or the like"));
                }
                parts.values[usize::from(key == Key::Implicit)] = Some(value);
            }
        }
        Ok(())
    }

    fn unknown_key(&self, name: &str, span: Span) -> Diagnostic {
        let error = self.fault(
            code::ENCODING_KEY,
            format!("encodings have no key `{name}`"),
            span,
            "not a key",
        );
        let allowed = KEYS.iter().filter(|(.., releases)| self.allows(*releases));
        let names: Vec<&str> = allowed.map(|(name, ..)| *name).collect();
        error.help(match closest(name, KEYS.map(|(name, ..)| name)) {
            Some(close) => format!("did you mean `{close}`?"),
            None => format!("keys are {}", names.join(", ")),
        })
    }

    fn map_attribute(&mut self) -> Result<AffineMap> {
        let start = self.cursor.peek().span;
        match self.attribute()? {
            Attribute::Map(map) => Ok(map),
            _ => Err(self
                .fault(
                    code::ENCODING_MAP,
                    "an affine map is expected",
                    start.to(self.cursor.before()),
                    "not a map",
                )
                .help("write `affine_map<(i, j) -> (j, i)>`")),
        }
    }

    /// `["dense", "compressed-nu"]`
    fn old_kinds(&mut self, spans: &mut Vec<Span>) -> Result<Vec<Level>> {
        self.cursor.expect("[")?;
        self.list("]", |parser| {
            let token = parser
                .cursor
                .expect_kind(Kind::Text, "a level type in quotes")?;
            let text = parser.cursor.unquoted(token.span);
            spans.push(token.span);
            parser.old_kind(&text, token.span)
        })
    }

    fn old_kind(&mut self, text: &str, span: Span) -> Result<Level> {
        let mut rest = text;
        let mut ends = |suffix: &str| match rest.strip_suffix(suffix) {
            Some(before) => {
                rest = before;
                true
            }
            None => false,
        };
        let nonordered = ends("-no");
        let nonunique = ends("-nu");
        let kind = match rest {
            "dense" => Some(LevelKind::Dense),
            "compressed" => Some(LevelKind::Compressed),
            "singleton" => Some(LevelKind::Singleton),
            "compressed-hi" | "loose-compressed" => {
                self.word_of(Releases::new(17, 17), text, span)?;
                Some(LevelKind::LooseCompressed)
            }
            _ => None,
        };
        let Some(kind) = kind else {
            return Err(self
                .fault(code::ENCODING_LEVEL, format!("no level type is named `{text}`"), span, "not a level type")
                .help("level types are dense, compressed and singleton, with `-nu` and `-no` behind them"));
        };
        if nonunique || nonordered {
            self.word_of(Releases::new(16, 17), text, span)?;
        }
        Ok(Level {
            nonunique,
            nonordered,
            ..Level::new(LevelExpr::Affine(AffineExpr::Constant(0)), kind)
        })
    }

    /// `(0, 4, ?)`
    fn slice_numbers(&mut self) -> Result<Slice> {
        self.cursor.expect("(")?;
        let numbers = self.list(")", |parser| match parser.cursor.eat("?") {
            true => Ok(None),
            false => Ok(Some(parser.cursor.integer("a number or `?`")?.0)),
        })?;
        match numbers[..] {
            [offset, size, stride] => Ok(Slice {
                offset,
                size,
                stride,
            }),
            _ => Err(self
                .fault(
                    code::ENCODING_VALUE,
                    "a slice is three numbers",
                    self.cursor.before(),
                    "not three",
                )
                .help("write offset, size and stride: `(0, 4, 1)`")),
        }
    }

    fn assembled(&mut self, parts: &mut Parts, span: Span) -> Result<Encoding> {
        let mut encoding = match (parts.map.take(), parts.kinds.take()) {
            (Some(map), None) => map,
            (None, Some(kinds)) => self.of_kinds(kinds, parts, span)?,
            (Some(_), Some(_)) => {
                return Err(self
                    .fault(
                        code::ENCODING_KEY,
                        "an encoding with `map` and a list of level types",
                        span,
                        "both",
                    )
                    .help("write `map` alone"));
            }
            (None, None) => {
                return Err(self
                    .fault(
                        code::ENCODING_KEY,
                        "an encoding without levels",
                        span,
                        "no `map`",
                    )
                    .help("write `map = (i, j) -> (i : dense, j : compressed)`"));
            }
        };
        [encoding.pos_width, encoding.crd_width] = parts.widths;
        [encoding.explicit_value, encoding.implicit_value] = std::mem::take(&mut parts.values);
        if !parts.slices.is_empty() {
            encoding.slices = std::mem::take(&mut parts.slices);
            if encoding.slices.len() != encoding.n_modes {
                let message = format!(
                    "{} slices for {} modes",
                    encoding.slices.len(),
                    encoding.n_modes
                );
                return Err(self
                    .fault(code::ENCODING_VALUE, message, span, "in this encoding")
                    .help("write a slice for each mode"));
            }
        }
        Ok(encoding)
    }

    /// The levels of a list of kinds, in the order that the maps give.
    fn of_kinds(&self, kinds: Vec<Level>, parts: &Parts, span: Span) -> Result<Encoding> {
        let n_levels = kinds.len();
        let place = parts.ordering_span.unwrap_or(span);
        let wrong = |message: String| {
            self.fault(code::ENCODING_MAP, message, place, "this map")
                .help("give each level one result of the map")
        };
        if n_levels == 0 {
            return Err(self
                .fault(
                    code::ENCODING_LEVEL,
                    "an encoding of no levels",
                    span,
                    "no level types",
                )
                .help("write a level type for each mode"));
        }
        let ordering = parts
            .ordering
            .clone()
            .unwrap_or_else(|| AffineMap::identity(n_levels));
        if ordering.results.len() != n_levels {
            return Err(wrong(format!(
                "{n_levels} level types and a map of {} results",
                ordering.results.len()
            )));
        }
        let mut n_modes = ordering.n_dimensions;
        let mut results = ordering.results.clone();
        let mut n_symbols = ordering.n_symbols;
        if let Some(higher) = &parts.higher {
            let permutation = ordering
                .permutation()
                .filter(|order| order.len() == higher.results.len());
            let Some(permutation) = permutation else {
                return Err(wrong(format!(
                    "`higherOrdering` has {} results for {n_levels} levels in an order",
                    higher.results.len()
                )));
            };
            results = permutation
                .iter()
                .map(|&n| higher.results[n].clone())
                .collect();
            n_modes = higher.n_dimensions;
            n_symbols = higher.n_symbols;
        } else if parts.is_permuted && ordering.permutation().is_none() {
            return Err(wrong("an ordering that is no permutation".to_owned()));
        }
        let level = |(level, expression): (Level, AffineExpr)| Level {
            expression: LevelExpr::Affine(expression),
            ..level
        };
        let levels = kinds.into_iter().zip(results).map(level).collect();
        Ok(Encoding {
            n_symbols,
            ..Encoding::new(n_modes, levels)
        })
    }

    fn check_encoding(&self, encoding: &Encoding, parts: &Parts, span: Span) -> Result<()> {
        let dialect = self
            .asked
            .unwrap_or(Dialect::Release(self.releases().usual()));
        rules::check(encoding, dialect).map_err(|fault| {
            let place = match fault.level {
                Some(level) => parts.level_spans.get(level).copied(),
                None if fault.code == code::ENCODING_WIDTH => parts.width_span,
                None => None,
            };
            self.fault(
                fault.code,
                fault.message,
                place.unwrap_or(span),
                "in this encoding",
            )
            .help(fault.help)
        })
    }
}

//! Reading level maps.
//!
//! ```text
//! map      := [ "{" levels "}" ] [ "[" symbols "]" ] "(" mode { "," mode } ")" "->" "(" level { "," level } ")"
//! mode     := NAME [ "=" expression over levels ] [ ":" slice ]
//! level    := [ NAME "=" ] expression ":" kind [ "(" property { "," property } ")" ]
//! ```

use sparsec_base::suggest::closest;
use sparsec_base::{Diagnostic, Result, Span, code};
use sparsec_format::LevelKind;

use crate::affine::AffineExpr;
use crate::encoding::{Encoding, Level, Slice};
use crate::lex::Kind;
use crate::release::{Dialect, Releases};

use super::super::Parser;
use super::super::affine::Names;
use super::super::counted;

impl Parser {
    /// `(d0, d1) -> (d0 : dense, d1 : compressed)`
    pub(super) fn level_map(&mut self, spans: &mut Vec<Span>) -> Result<Encoding> {
        let mut levels_named: Vec<String> = Vec::new();
        let mut names = Names::default();
        if self.cursor.eat("{") {
            levels_named = self.list("}", |parser| parser.new_name("a level"))?;
            self.check_names(&Names {
                dimensions: levels_named.clone(),
                symbols: Vec::new(),
            })?;
        }
        if self.cursor.eat("[") {
            names.symbols = self.list("]", |parser| parser.new_name("a symbol"))?;
        }
        let over_levels = Names {
            dimensions: levels_named.clone(),
            symbols: names.symbols.clone(),
        };
        self.cursor.expect("(")?;
        let mut inverse: Vec<(AffineExpr, Span)> = Vec::new();
        let mut slices = Vec::new();
        names.dimensions = self.list(")", |parser| {
            let name = parser.new_name("a mode")?;
            if parser.cursor.eat("=") {
                let start = parser.cursor.peek().span;
                let expression = parser.affine(&over_levels)?;
                inverse.push((expression, start.to(parser.cursor.before())));
            }
            slices.push(match parser.cursor.eat(":") {
                true => Some(parser.new_slice()?),
                false => None,
            });
            Ok(name)
        })?;
        self.check_names(&names)?;
        self.cursor.expect("->")?;
        self.cursor.expect("(")?;
        let levels = self.list(")", |parser| {
            if !levels_named.is_empty() {
                parser.bound_level(&levels_named, spans.len())?;
            }
            let start = parser.cursor.peek().span;
            let level = parser.level(&names)?;
            spans.push(start.to(parser.cursor.before()));
            Ok(level)
        })?;
        if !levels_named.is_empty() && levels.len() != levels_named.len() {
            let message = format!(
                "{} declared, and {} given",
                counted(levels_named.len(), "level"),
                levels.len()
            );
            return Err(self
                .fault(
                    code::ENCODING_MAP,
                    message,
                    self.cursor.before(),
                    "ends here",
                )
                .help("declare each level once in front of the modes, or none"));
        }
        let mut encoding = Encoding::new(names.dimensions.len(), levels);
        encoding.n_symbols = names.symbols.len();
        if slices.iter().any(Option::is_some) {
            encoding.slices = slices;
        }
        self.check_inverse(&encoding, &inverse)?;
        Ok(encoding)
    }

    /// `l0 =` in front of a level that is declared.
    fn bound_level(&mut self, declared: &[String], number: usize) -> Result<()> {
        let token = self.cursor.peek();
        let name = self.cursor.slice(token.span).to_owned();
        let is_bound = self.cursor.slice(self.cursor.second().span) == "=";
        let wrong = match (is_bound, declared.get(number)) {
            (true, Some(wanted)) if *wanted == name => None,
            (true, Some(wanted)) if declared.contains(&name) => Some((
                format!("level {number} is `{name}`, and `{wanted}` is declared"),
                "bind the levels in the order of their declarations".to_owned(),
            )),
            (_, Some(wanted)) => Some((
                format!("level {number} is not bound to the declared `{wanted}`"),
                format!("write `{wanted} = …`, or declare no levels"),
            )),
            (_, None) => Some((
                format!("level {number} is not declared"),
                "declare each level once in front of the modes, or none".to_owned(),
            )),
        };
        if let Some((message, help)) = wrong {
            return Err(self
                .fault(code::ENCODING_MAP, message, token.span, "this level")
                .help(help));
        }
        self.cursor.take();
        self.cursor.take();
        Ok(())
    }

    /// `#sparse_tensor<slice(0, 4, 1)>`
    pub(super) fn new_slice(&mut self) -> Result<Slice> {
        if self.cursor.word() != "#sparse_tensor" {
            return Err(self.cursor.unexpected("`#sparse_tensor<slice(…)>`"));
        }
        self.cursor.take();
        self.cursor.expect("<")?;
        self.cursor.expect("slice")?;
        let slice = self.slice_numbers()?;
        self.cursor.expect(">")?;
        Ok(slice)
    }

    pub(super) fn level(&mut self, names: &Names) -> Result<Level> {
        let expression = self.level_expression(names)?;
        self.cursor.expect(":")?;
        let token = self.cursor.expect_kind(Kind::Name, "a level type")?;
        let word = self.cursor.slice(token.span).to_owned();
        let kind = self.level_kind(&word, token.span)?;
        let mut level = Level::new(expression, kind);
        if self.cursor.eat("(") {
            self.list(")", |parser| parser.property(&mut level))?;
        }
        Ok(level)
    }

    pub(super) fn level_kind(&mut self, word: &str, span: Span) -> Result<LevelKind> {
        let (kind, releases) = match word {
            "dense" => (LevelKind::Dense, Releases::ALL),
            "compressed" => (LevelKind::Compressed, Releases::ALL),
            "singleton" => (LevelKind::Singleton, Releases::ALL),
            "loose_compressed" => (LevelKind::LooseCompressed, Releases::from(18)),
            "block2_4" => (LevelKind::Structured { n: 2, m: 4 }, Releases::new(18, 18)),
            "batch" => (LevelKind::Batch, Releases::from(19)),
            "structured" => {
                self.cursor.expect("[")?;
                let (n, m) = (
                    self.small()?,
                    self.cursor.expect(",").and_then(|_| self.small())?,
                );
                self.cursor.expect("]")?;
                (LevelKind::Structured { n, m }, Releases::from(19))
            }
            _ => {
                let ours = LevelKind::ALL
                    .into_iter()
                    .find(|kind| kind.spec().name == word);
                let Some(kind) = ours else {
                    return Err(self.unknown_kind(word, span));
                };
                if self.asked != Some(Dialect::Sparsec) {
                    let message = format!("`{word}` is a level type of sparsec, not of MLIR");
                    return Err(self
                        .fault(
                            code::OTHER_RELEASE,
                            message,
                            span,
                            "not known to any release",
                        )
                        .help("read the text as `--dialect sparsec`"));
                }
                (kind, Releases::ALL)
            }
        };
        self.word_of(releases, word, span)?;
        Ok(kind)
    }

    pub(super) fn small(&mut self) -> Result<u32> {
        let (value, span) = self.cursor.integer("a size")?;
        u32::try_from(value).map_err(|_| self.cursor.too_large(span, u32::MAX.into()))
    }

    pub(super) fn unknown_kind(&self, word: &str, span: Span) -> Diagnostic {
        let error = self.fault(
            code::ENCODING_LEVEL,
            format!("no level type is named `{word}`"),
            span,
            "not a level type",
        );
        let names = [
            "dense",
            "compressed",
            "singleton",
            "loose_compressed",
            "structured",
            "batch",
        ];
        error.help(match closest(word, names) {
            Some(close) => format!("did you mean `{close}`?"),
            None => format!("level types are {}", names.join(", ")),
        })
    }

    pub(super) fn property(&mut self, level: &mut Level) -> Result<()> {
        let token = self.cursor.expect_kind(Kind::Name, "a property")?;
        let word = self.cursor.slice(token.span).to_owned();
        match word.as_str() {
            "nonunique" => level.nonunique = true,
            "nonordered" => level.nonordered = true,
            "soa" => {
                self.word_of(Releases::from(19), "soa", token.span)?;
                level.soa = true;
            }
            _ => {
                let error = self.fault(
                    code::ENCODING_LEVEL,
                    format!("no property of levels is named `{word}`"),
                    token.span,
                    "not a property",
                );
                return Err(
                    error.help(match closest(&word, ["nonunique", "nonordered", "soa"]) {
                        Some(close) => format!("did you mean `{close}`?"),
                        None => "properties are nonunique, nonordered and soa".to_owned(),
                    }),
                );
            }
        }
        Ok(())
    }

    /// Checks the inverse map, if the text states it.
    pub(super) fn check_inverse(
        &self,
        encoding: &Encoding,
        inverse: &[(AffineExpr, Span)],
    ) -> Result<()> {
        if inverse.is_empty() || encoding.n_symbols > 0 {
            return Ok(());
        }
        let Some(map) = encoding.map().filter(|_| inverse.len() == encoding.n_modes) else {
            return Err(self
                .fault(
                    code::ENCODING_MAP,
                    "some modes say how they follow from the levels, others do not",
                    inverse[0].1,
                    "of this mode",
                )
                .help("leave these expressions out: they follow from the levels"));
        };
        // Affine expressions are equal if they agree at these samples, within small blocks and far
        // beyond large ones.
        let samples = (0..64i64).map(|n| {
            let (step, range) = match n % 2 {
                0 => (1, 61),
                _ => (0x9e37_79b1, (1 << 40) - 87),
            };
            let coordinate = |mode: usize| (n * (2 * mode as i64 + 7) * step + mode as i64) % range;
            (0..encoding.n_modes).map(coordinate).collect::<Vec<i64>>()
        });
        for modes in samples {
            let levels: Option<Vec<i64>> = map
                .results
                .iter()
                .map(|level| level.value(&modes, &[]))
                .collect();
            let Some(levels) = levels else { continue };
            for (mode, (expression, span)) in inverse.iter().enumerate() {
                if expression.value(&levels, &[]) != Some(modes[mode]) {
                    return Err(self
                        .fault(
                            code::ENCODING_MAP,
                            "this expression does not give the mode back from its levels",
                            *span,
                            "not the inverse",
                        )
                        .help("leave it out: it follows from the levels"));
                }
            }
        }
        Ok(())
    }
}

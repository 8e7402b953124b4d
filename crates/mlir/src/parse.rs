//! Reading modules from text.
//!
//! | module          | reads                                                    |
//! |-----------------|----------------------------------------------------------|
//! | [`affine`]      | affine maps, and the level maps of encodings             |
//! | [`types`]       | types                                                    |
//! | [`attribute`]   | attributes                                               |
//! | [`constant`]    | `dense<…>` and `sparse<…>`                               |
//! | [`encoding`]    | encodings of all releases                                |
//! | [`operation`]   | operations in the generic form; names of values          |
//! | [`region`]      | regions, blocks and their arguments                      |
//! | [`form`]        | operations in the form of their definition               |
//! | [`custom`]      | forms that the table of definitions cannot describe      |
//! | [`pending`]     | operations whose types and values are still unresolved   |
//! | [`groups`]      | operands of the generic form, in the groups of a definition |
//!
//! The parser infers the release as it reads. Each word narrows the range to the releases that know
//! it. If the range becomes empty, the parser refuses the word and shows the word that excluded its
//! releases.

use sparsec_base::suggest::closest;
use sparsec_base::{Code, Diagnostic, Result, Source, Span, code};

use crate::attribute::Attribute;
use crate::lex::{Cursor, Kind};
use crate::module::{Module, Op};
use crate::release::{Dialect, Releases};
use crate::types::Type;

mod affine;
mod attribute;
mod constant;
mod custom;
mod encoding;
mod form;
mod groups;
mod operation;
mod pending;
mod region;
mod types;

pub(crate) use attribute::flags_of;

pub(crate) use form::OPEN;
use operation::Scopes;
pub(crate) use operation::counted;
pub(crate) use pending::{bool_like, part_of, tensor_of};

/// The deepest nesting of regions, types, attributes and expressions.
const DEEPEST: usize = 64;

impl Module {
    /// Reads a module in `dialect`, or infers the release from the text.
    ///
    /// A text may omit the `module` around its operations. The module is not
    /// [verified](Self::verify).
    ///
    /// # Errors
    /// `E0101` to `E0103` for syntax, `E1001` to `E1028` for unknown names, undefined values, and
    /// encodings that break a rule.
    ///
    /// ```
    /// use sparsec_base::Source;
    /// use sparsec_mlir::Module;
    /// let text = "%c = arith.constant 1 : index";
    /// let module = Module::parse(&Source::new("text", text), None)?;
    /// assert_eq!(module.to_string(), "module {\n  %c = arith.constant 1 : index\n}\n");
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn parse(source: &Source, dialect: Option<Dialect>) -> Result<Self> {
        let first = Self::parse_as(source, dialect);
        let is_of_words = |error: &Diagnostic| {
            let codes = [code::UNEXPECTED_TOKEN, code::OTHER_RELEASE, code::BAD_COUNT];
            codes.contains(&error.code())
        };
        if dialect.is_some() || !first.as_ref().is_err_and(is_of_words) {
            return first;
        }
        // A word of several releases may have been taken for one that other words exclude.
        let releases = (Dialect::OLDEST..=Dialect::NEWEST).rev();
        let mut read =
            releases.filter_map(|it| Self::parse_as(source, Some(Dialect::Release(it))).ok());
        read.next().map_or(first, Ok)
    }

    fn parse_as(source: &Source, dialect: Option<Dialect>) -> Result<Self> {
        let mut parser = Parser {
            cursor: Cursor::new(source),
            module: Self::empty(source, dialect.unwrap_or(Dialect::Release(Dialect::USUAL))),
            asked: dialect,
            narrowed: Vec::new(),
            scopes: Scopes::default(),
            depth: 0,
        };
        let root = parser.file().map_err(|error| match error.code() {
            code::UNEXPECTED_TOKEN => error
                .or_help("write operations as MLIR prints them: `%y = arith.addf %x, %x : f64`"),
            _ => error,
        })?;
        Ok(parser.finish(root))
    }
}

/// A word that narrows the range of releases.
#[derive(Clone, Debug)]
struct Narrowing {
    releases: Releases,
    word: String,
    span: Span,
}

struct Parser {
    cursor: Cursor,
    module: Module,
    /// The dialect that the caller asks for.
    asked: Option<Dialect>,
    narrowed: Vec<Narrowing>,
    scopes: Scopes,
    depth: usize,
}

impl Parser {
    fn source(&self) -> &Source {
        self.cursor.source()
    }

    fn fault(
        &self,
        code: Code,
        message: impl Into<String>,
        span: Span,
        label: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic::new(code, message).at(self.source(), span, label)
    }

    fn finish(mut self, root: Op) -> Module {
        self.module.root = root;
        let releases = self.releases();
        self.module.releases = releases;
        self.module.dialect = match self.asked {
            Some(dialect) => dialect,
            None => Dialect::Release(releases.usual()),
        };
        self.module
    }

    /// The releases that know every word read so far.
    fn releases(&self) -> Releases {
        let narrowed = self.narrowed.iter();
        narrowed.fold(Releases::ALL, |all, word| {
            all.and(word.releases).unwrap_or(all)
        })
    }

    /// Whether a word of these releases may occur in the text.
    fn allows(&self, releases: Releases) -> bool {
        match self.asked {
            Some(dialect) => dialect.knows(releases),
            None => self.releases().and(releases).is_some(),
        }
    }

    /// Narrows the range to these releases for a word, or refuses the word.
    fn word_of(&mut self, releases: Releases, word: &str, span: Span) -> Result<()> {
        if releases == Releases::ALL {
            return Ok(());
        }
        if !self.allows(releases) {
            return Err(self.other_release(releases, word, span));
        }
        let narrows = self.releases().and(releases) != Some(self.releases());
        if narrows && self.asked.is_none() {
            self.narrowed.push(Narrowing {
                releases,
                word: word.to_owned(),
                span,
            });
        }
        Ok(())
    }

    fn other_release(&self, releases: Releases, word: &str, span: Span) -> Diagnostic {
        if let Some(dialect) = self.asked {
            let message = format!("`{word}` is a word of {releases}, not of dialect {dialect}");
            return self
                .fault(code::OTHER_RELEASE, message, span, "not known")
                .help(format!(
                    "leave `--dialect` out to have the text tell its release; `--to-dialect {dialect}` rewrites it"
                ));
        }
        let message = format!(
            "`{word}` is a word of {releases}, and the text above one of {}",
            self.releases()
        );
        let error = self.fault(code::OTHER_RELEASE, message, span, format!("{releases}"));
        let excludes = |narrowing: &&Narrowing| narrowing.releases.and(releases).is_none();
        let error = match self.narrowed.iter().find(excludes) {
            Some(narrowing) => {
                let label = format!("`{}` is a word of {}", narrowing.word, narrowing.releases);
                error.also(self.source(), narrowing.span, label)
            }
            None => error,
        };
        error.help(
            "write all of a text in the words of one release, or read it as `--dialect sparsec`",
        )
    }

    /// Reads one nesting level deeper.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == DEEPEST {
            let span = self.cursor.peek().span;
            let message = format!("nested more than {DEEPEST} levels deep");
            return Err(self
                .fault(code::MLIR_TOO_DEEP, message, span, "one level too deep")
                .help("give parts names: aliases, functions, values"));
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    /// Reads a list with commas, and its closing `close`.
    fn list<T>(
        &mut self,
        close: &str,
        entry: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.listed(close, false, entry).map(|(found, _)| found)
    }

    /// Reads a list with its closing bracket. Gives the place of a comma behind the last entry too.
    fn list_with_tail<T>(
        &mut self,
        close: &str,
        entry: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<(Vec<T>, Option<Span>)> {
        self.listed(close, true, entry)
    }

    fn listed<T>(
        &mut self,
        close: &str,
        may_end_in_comma: bool,
        mut entry: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<(Vec<T>, Option<Span>)> {
        let mut found = Vec::new();
        if self.cursor.eat(close) {
            return Ok((found, None));
        }
        loop {
            found.push(entry(self)?);
            let is_comma = self.cursor.eat(",");
            let comma = is_comma.then(|| self.cursor.before());
            if (!is_comma || may_end_in_comma) && self.cursor.eat(close) {
                return Ok((found, comma));
            }
            if !is_comma {
                return Err(self.cursor.unexpected(&format!("`,` or `{close}`")));
            }
        }
    }

    /// Reads the whole text: aliases, locations, operations.
    fn file(&mut self) -> Result<Op> {
        let start = self.cursor.peek().span;
        self.open_file();
        let mut ops = Vec::new();
        while self.cursor.kind() != Kind::End {
            match self.cursor.kind() {
                Kind::Hash if self.is_definition() => self.attribute_alias()?,
                Kind::Bang if self.is_definition() => self.type_alias()?,
                Kind::Symbol if self.cursor.at("{") => {
                    // `{-# … #-}` holds resources, which do not affect a program.
                    return Err(self.cursor.unexpected("an operation or an alias"));
                }
                _ => {
                    let op = self.operation()?;
                    ops.push(op);
                }
            }
        }
        self.close_file(ops, start)
    }

    fn is_definition(&self) -> bool {
        self.cursor.slice(self.cursor.second().span) == "="
    }

    fn attribute_alias(&mut self) -> Result<()> {
        let token = self.cursor.take();
        let name = self.cursor.slice(token.span).to_owned();
        self.cursor.expect("=")?;
        if self.cursor.at("loc") {
            return self.location();
        }
        if name.contains('.') {
            return Err(self
                .fault(
                    code::UNKNOWN_ALIAS,
                    format!("`{name}` is no name of an alias"),
                    token.span,
                    "has a point",
                )
                .help("a point stands between a dialect and its word; use `_`"));
        }
        let value = self.attribute()?;
        self.check_new(&self.module.aliases.attributes, &name, token.span)?;
        self.module.aliases.attributes.push((name, value));
        Ok(())
    }

    fn type_alias(&mut self) -> Result<()> {
        let token = self.cursor.take();
        let name = self.cursor.slice(token.span).to_owned();
        self.cursor.expect("=")?;
        // Releases up to 15 write `type` first.
        if self.cursor.at("type") {
            self.cursor.take();
        }
        let value = self.ty()?;
        self.check_new(&self.module.aliases.types, &name, token.span)?;
        self.module.aliases.types.push((name, value));
        Ok(())
    }

    /// Checks that no alias with this name is defined above.
    fn check_new<T>(&self, known: &[(String, T)], name: &str, span: Span) -> Result<()> {
        if known.iter().all(|(known, _)| known != name) {
            return Ok(());
        }
        let message = format!("`{name}` is defined twice");
        Err(self
            .fault(code::DEFINED_TWICE, message, span, "defined again")
            .help("give one of them another name"))
    }

    /// Skips `loc(…)`.
    fn location(&mut self) -> Result<()> {
        self.cursor.expect("loc")?;
        self.cursor.expect("(")?;
        let mut depth = 1;
        while depth > 0 {
            if matches!(self.cursor.kind(), Kind::End | Kind::Unknown) {
                return Err(self.cursor.unexpected("`)` of the location"));
            }
            let token = self.cursor.take();
            match self.cursor.slice(token.span) {
                "(" => depth += 1,
                ")" => depth -= 1,
                _ => {}
            }
        }
        Ok(())
    }

    fn location_if_any(&mut self) -> Result<()> {
        match self.cursor.at("loc") {
            true => self.location(),
            false => Ok(()),
        }
    }

    fn aliased_attribute(&self, span: Span) -> Result<Attribute> {
        self.aliased(&self.module.aliases.attributes, span)
    }

    fn aliased_type(&self, span: Span) -> Result<Type> {
        self.aliased(&self.module.aliases.types, span)
    }

    /// The attribute or type behind the alias at a place.
    fn aliased<T: Clone>(&self, known: &[(String, T)], span: Span) -> Result<T> {
        let name = self.cursor.slice(span);
        if let Some((_, value)) = known.iter().find(|(known, _)| known == name) {
            return Ok(value.clone());
        }
        let names = known.iter().map(|(name, _)| name.as_str());
        let error = self.fault(
            code::UNKNOWN_ALIAS,
            format!("nothing above is named `{name}`"),
            span,
            "not defined",
        );
        Err(error.help(match closest(name, names) {
            Some(close) => format!("did you mean `{close}`?"),
            None => format!("define it above: `{name} = …`"),
        }))
    }
}

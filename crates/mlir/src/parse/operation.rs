//! Reading operations in the generic form, and resolving the names of values.

use std::collections::HashMap;

use sparsec_base::suggest::closest;
use sparsec_base::{Diagnostic, Result, Span, code};

use crate::attribute::{Attribute, Dictionary};
use crate::definition::{Definition, Trait};
use crate::lex::Kind;
use crate::module::{Op, Value};

use super::Parser;
use super::pending::{Pending, Use};

/// The values behind names. Inner scopes come last.
#[derive(Default)]
pub(super) struct Scopes {
    pub(super) stack: Vec<Scope>,
}

/// The names of one region.
pub(super) struct Scope {
    /// Whether names from outside are invisible.
    pub(super) is_isolated: bool,
    /// The dialect that names of operations may omit.
    pub(super) dialect: Option<&'static str>,
    pub(super) names: HashMap<String, Value>,
}

/// How many characters of an unknown name are shown.
const MOST_SHOWN: usize = 60;

impl Scopes {
    fn find(&self, name: &str) -> Option<Value> {
        for scope in self.stack.iter().rev() {
            if let Some(value) = scope.names.get(name) {
                return Some(*value);
            }
            if scope.is_isolated {
                return None;
            }
        }
        None
    }
}

/// The names on the left of `=`.
struct ResultNames {
    name: String,
    count: usize,
    span: Span,
}

impl Parser {
    /// Opens the scope of the module that a text may omit.
    pub(super) fn open_file(&mut self) {
        self.scopes.stack.push(Scope {
            is_isolated: true,
            dialect: Some("builtin"),
            names: HashMap::new(),
        });
    }

    /// Ends the text. A single `module` is the result, other operations are put into one.
    pub(super) fn close_file(&mut self, ops: Vec<Op>, start: Span) -> Result<Op> {
        self.scopes.stack.pop();
        if let [only] = ops[..]
            && self.module.ops[only].definition.name == "builtin.module"
        {
            return Ok(only);
        }
        let region = self.new_region(Vec::new(), ops, start, true);
        let definition = Definition::find("builtin.module")[0];
        let mut pending = Pending::new(definition, start);
        pending.regions.push(region);
        self.make(pending)
    }

    /// Reads an operation with the names of its results.
    pub(super) fn operation(&mut self) -> Result<Op> {
        let names = self.result_names()?;
        let op = match self.cursor.kind() {
            Kind::Text => self.generic_operation()?,
            Kind::Name => self.custom_operation()?,
            _ => {
                return Err(self
                    .cursor
                    .unexpected("an operation")
                    .or_help("operations are `%y = arith.addf %x, %x : f64` and the like"));
            }
        };
        self.location_if_any()?;
        self.name_results(op, &names)?;
        Ok(op)
    }

    /// `%a, %b:2 =`
    fn result_names(&mut self) -> Result<Vec<ResultNames>> {
        let mut found = Vec::new();
        if self.cursor.kind() != Kind::Value {
            return Ok(found);
        }
        loop {
            let token = self
                .cursor
                .expect_kind(Kind::Value, "the name of a result")?;
            let name = self.cursor.slice(token.span)[1..].to_owned();
            let mut count = 1;
            if self.cursor.eat(":") {
                let (n, span) = self.cursor.integer("how many results there are")?;
                count = usize::try_from(n)
                    .ok()
                    .filter(|n| (1..=1 << 16).contains(n))
                    .ok_or_else(|| {
                        self.fault(code::BAD_COUNT, format!("{n} results"), span, "not so many")
                            .help("write how many results the operation has")
                    })?;
            }
            found.push(ResultNames {
                name,
                count,
                span: token.span,
            });
            if !self.cursor.eat(",") {
                break;
            }
        }
        self.cursor.expect("=")?;
        Ok(found)
    }

    fn name_results(&mut self, op: Op, names: &[ResultNames]) -> Result<()> {
        let results = self.module.ops[op].results.clone();
        let n_named: usize = names.iter().map(|group| group.count).sum();
        if !names.is_empty() && n_named != results.len() {
            let name = self.module.ops[op].definition.name;
            let span = names[0].span.to(names[names.len() - 1].span);
            let message = format!(
                "`{name}` has {}, not {n_named}",
                counted(results.len(), "result")
            );
            return Err(self
                .fault(code::BAD_COUNT, message, span, format!("{n_named} named"))
                .help("name each result, or write `%x:2` for two of them"));
        }
        let mut next = results.into_iter();
        for group in names {
            for n in 0..group.count {
                let value = next.next().expect("as many names as results");
                let name = match group.count {
                    1 => group.name.clone(),
                    _ => format!("{}#{n}", group.name),
                };
                self.define(name, value, group.span)?;
                // The first of several results is also known without its number.
                if group.count > 1 && n == 0 {
                    self.not_yet_defined(&group.name, group.span)?;
                    self.alias(&group.name, value);
                }
            }
        }
        Ok(())
    }

    /// Binds a name to a value, up to the end of the region.
    pub(super) fn define(&mut self, name: String, value: Value, span: Span) -> Result<()> {
        self.not_yet_defined(&name, span)?;
        let data = &mut self.module.values[value];
        data.name = name.clone();
        data.span = span;
        self.alias(&name, value);
        Ok(())
    }

    fn not_yet_defined(&self, name: &str, span: Span) -> Result<()> {
        let Some(known) = self.scopes.find(name) else {
            return Ok(());
        };
        let place = self.module.values[known].span;
        Err(self
            .fault(
                code::DEFINED_TWICE,
                format!("`%{name}` is defined twice"),
                span,
                "defined again",
            )
            .also(self.source(), place, "defined here")
            .help("give one of them another name"))
    }

    fn alias(&mut self, name: &str, value: Value) {
        let scope = self.scopes.stack.last_mut().expect("an open scope");
        scope.names.insert(name.to_owned(), value);
    }

    /// Reads a use: `%a` or `%a#1`.
    pub(super) fn value_use(&mut self) -> Result<Use> {
        let token = self
            .cursor
            .expect_kind(Kind::Value, "a value, such as `%x`")?;
        let mut name = self.cursor.slice(token.span)[1..].to_owned();
        let mut span = token.span;
        if self.cursor.kind() == Kind::Hash
            && self.cursor.word()[1..].bytes().all(|b| b.is_ascii_digit())
        {
            let number = self.cursor.take();
            name.push_str(self.cursor.slice(number.span));
            span = span.to(number.span);
        }
        Ok(Use { name, span })
    }

    /// Reads uses with commas between them, possibly none.
    pub(super) fn value_uses(&mut self) -> Result<Vec<Use>> {
        let mut found = Vec::new();
        if self.cursor.kind() != Kind::Value {
            return Ok(found);
        }
        loop {
            found.push(self.value_use()?);
            if !self.cursor.at(",") || self.cursor.second().kind != Kind::Value {
                return Ok(found);
            }
            self.cursor.take();
        }
    }

    /// The value behind a name.
    pub(super) fn resolve(&self, used: &Use) -> Result<Value> {
        // The number of an only result may be written too.
        let only = || self.scopes.find(used.name.strip_suffix("#0")?);
        if let Some(value) = self.scopes.find(&used.name).or_else(only) {
            return Ok(value);
        }
        let message = format!("no value is named `%{}` here", used.name);
        let mut error = self.fault(code::UNKNOWN_VALUE, message, used.span, "not defined above");
        // The text may define the name further down, or in a region that has ended.
        let text = self.source().text();
        let base = used.name.split('#').next().unwrap_or_default();
        let wanted = format!("%{base}");
        let definition = text.match_indices(&wanted).find(|(at, _)| {
            let rest = text[at + wanted.len()..].trim_start();
            rest.starts_with('=') && !rest.starts_with("==")
        });
        if let Some((at, _)) = definition {
            let label = match at > used.span.start as usize {
                true => "defined here, after its use",
                false => "defined here, where it is not seen",
            };
            error = error.also(self.source(), Span::new(at, at + wanted.len()), label);
        }
        let inner = self
            .scopes
            .stack
            .iter()
            .rposition(|scope| scope.is_isolated);
        let seen = &self.scopes.stack[inner.unwrap_or(0)..];
        let names = seen.iter().flat_map(|scope| scope.names.keys());
        let mut names: Vec<&str> = names.map(String::as_str).collect();
        names.sort_unstable();
        Err(match closest(&used.name, names) {
            Some(close) => error.help(format!("did you mean `%{close}`?")),
            None => error.help("define it in an operation above, in the same region or around it"),
        })
    }

    /// `"name"(operands) <{…}> ({…}) {…} : (types) -> types`
    fn generic_operation(&mut self) -> Result<Op> {
        let token = self.cursor.take();
        let name = self.cursor.unquoted(token.span);
        let inside = Span::new(token.span.start as usize + 1, token.span.end as usize - 1);
        let candidates = self.candidates(&name, inside)?;
        self.cursor.expect("(")?;
        let operands = self.list(")", Self::value_use)?;
        if self.cursor.at("[") {
            return Err(self.no_blocks(self.cursor.peek().span));
        }
        let mut attributes: Dictionary = Vec::new();
        if self.cursor.eat("<") {
            attributes = self.dictionary()?;
            self.cursor.expect(">")?;
        }
        let mut regions = Vec::new();
        // The list of operands is closed, so a parenthesis begins regions.
        if self.cursor.eat("(") {
            regions = self.list(")", |parser| parser.generic_region(candidates[0]))?;
        }
        if self.cursor.at("{") {
            attributes.extend(self.dictionary()?);
        }
        self.cursor.expect(":")?;
        let types = self.function_type()?;
        if types.inputs.len() != operands.len() {
            let message = format!(
                "{} and {}",
                counted(operands.len(), "operand"),
                counted(types.inputs.len(), "type of operands")
            );
            return Err(self
                .fault(code::BAD_COUNT, message, token.span, "of this operation")
                .help("write a type for each operand"));
        }
        // Among definitions that differ in attributes, picks the one that has these attributes.
        let mut candidates = candidates;
        candidates.sort_by_key(|definition| {
            let is_given = |name: &str| attributes.iter().any(|(given, _)| given == name);
            let needed = definition
                .attributes
                .iter()
                .filter(|spec| !spec.is_optional);
            let missing = needed.filter(|spec| !is_given(spec.name)).count();
            let own = attributes
                .iter()
                .filter(|(name, _)| definition.attribute(name).is_some());
            (missing, std::cmp::Reverse(own.count()))
        });
        let mut first_error = None;
        for definition in &candidates {
            let narrowed = self.narrowed.len();
            let grouped = self.grouped(definition, &operands, &types, &attributes, inside);
            let made = grouped.and_then(|mut pending| {
                // The name of a structured operation replaces its region.
                if !(definition.has(Trait::Structured) && definition.regions.is_empty()) {
                    pending.regions = regions.clone();
                }
                self.values_fit(&pending)?;
                self.order_arguments(&pending)?;
                self.make(pending)
            });
            match made {
                Ok(op) => return Ok(op),
                Err(error) => first_error = first_error.or(Some(error)),
            }
            self.narrowed.truncate(narrowed);
        }
        Err(first_error.expect("there is a candidate"))
    }

    /// The possible definitions of an operation with this name.
    pub(super) fn candidates(
        &mut self,
        name: &str,
        span: Span,
    ) -> Result<Vec<&'static Definition>> {
        // An example on an early page of the dialect uses this name.
        let name = match name {
            "sparse_tensor.init_tensor" => "sparse_tensor.init",
            // The generic form of release 13.
            "func" => "builtin.func",
            "module" => "builtin.module",
            name => name,
        };
        let all = Definition::find(name);
        if all.is_empty() {
            return Err(self.unknown_operation(name, span));
        }
        let allowed: Vec<&'static Definition> = all
            .iter()
            .copied()
            .filter(|known| self.allows(known.releases))
            .collect();
        // The default release comes first.
        let usual = self.releases().usual();
        let (mut first, rest): (Vec<_>, Vec<_>) = allowed
            .into_iter()
            .partition(|known| known.releases.has(usual));
        first.extend(rest);
        match first.is_empty() {
            true => Err(self.other_release(all[0].releases, name, span)),
            false => Ok(first),
        }
    }

    fn unknown_operation(&self, name: &str, span: Span) -> Diagnostic {
        // Of a file that is no program, a name may be all of it.
        let shown: String = name.chars().take(MOST_SHOWN).collect();
        let rest = if shown.len() < name.len() { "…" } else { "" };
        let error = self.fault(
            code::UNKNOWN_OPERATION,
            format!("sparsec does not know the operation `{shown}{rest}`"),
            span,
            "not known",
        );
        let names = Definition::all().iter().map(|known| known.name);
        match closest(name, names) {
            Some(close) => error.help(format!("did you mean `{close}`?")),
            None => error.help(
                "operations are those of sparse_tensor, arith, math, complex, tensor, bufferization, memref, linalg, scf, func and some of vector",
            ),
        }
    }

    /// Reads an operation that begins with its name.
    fn custom_operation(&mut self) -> Result<Op> {
        let token = self.cursor.take();
        let word = self.cursor.slice(token.span).to_owned();
        let name = match word.contains('.') {
            true => word,
            false => self.whole_name(&word),
        };
        let candidates = self.candidates(&name, token.span)?;
        if let [only] = candidates[..] {
            let pending = self.form(only, token.span)?;
            return self.make(pending);
        }
        // Tries all forms of the name. The form that reads furthest gives the error.
        let start = self.cursor.clone();
        let mut furthest: Option<(u32, Diagnostic)> = None;
        for definition in candidates {
            let narrowed = self.narrowed.len();
            let made = self
                .form(definition, token.span)
                .and_then(|pending| self.make(pending));
            let made = made.and_then(|op| match self.goes_on() {
                true => Err(self.cursor.unexpected("an operation")),
                false => Ok(op),
            });
            match made {
                Ok(op) => return Ok(op),
                Err(error) => {
                    let place = self.cursor.before().end;
                    if furthest.as_ref().is_none_or(|(known, _)| *known < place) {
                        furthest = Some((place, error));
                    }
                }
            }
            self.cursor = start.clone();
            self.narrowed.truncate(narrowed);
        }
        Err(furthest.expect("there is a candidate").1)
    }

    /// Whether the text goes on with the operation that a form read a part of: no operation begins
    /// here.
    fn goes_on(&self) -> bool {
        let words = [",", ":", "->", "to", "jointly", "str"];
        if self.cursor.kind() != Kind::Value {
            return words.iter().any(|word| self.cursor.at(word));
        }
        // The names of results come before `=`, each with their number if they are several.
        let mut ahead = self.cursor.clone();
        ahead.take();
        let has_number = ahead.eat(":") && ahead.kind() == Kind::Integer;
        !has_number && !ahead.at("=") && !ahead.at(",")
    }

    /// The name with its dialect, if the text omits the dialect here.
    fn whole_name(&self, word: &str) -> String {
        if word == "module" {
            return "builtin.module".to_owned();
        }
        let dialect = self
            .scopes
            .stack
            .iter()
            .rev()
            .find_map(|scope| scope.dialect);
        let own = format!("{}.{word}", dialect.unwrap_or("builtin"));
        match Definition::find(&own).is_empty() {
            false => own,
            true => word.to_owned(),
        }
    }

    /// Adds an attribute that the operation does not have yet. A form that shows an attribute may
    /// not repeat it in braces.
    pub(super) fn give(
        &self,
        attributes: &mut Dictionary,
        name: &str,
        value: Attribute,
        span: Span,
    ) -> Result<()> {
        if attributes.iter().any(|(known, _)| known == name) {
            return Err(self
                .fault(
                    code::DEFINED_TWICE,
                    format!("two attributes are named `{name}`"),
                    span,
                    "given again",
                )
                .help("leave one of them out"));
        }
        attributes.push((name.to_owned(), value));
        Ok(())
    }
}

/// `1 operand`, `2 operands`
pub(crate) fn counted(n: usize, thing: &str) -> String {
    match (n, thing.split_once(' ')) {
        (1, _) => format!("1 {thing}"),
        (n, None) => format!("{n} {thing}s"),
        (n, Some((first, rest))) => format!("{n} {first}s {rest}"),
    }
}

//! Reading a call of a computation before this one, which becomes its statements.

use sparsec_base::suggest::closest;
use sparsec_base::{Diagnostic, Result, Span, code};
use sparsec_relation::Expression;

use super::{Reader, Use, Variables};
use crate::inline::{Argument, Call};
use crate::script::{MOST_ELEMENTS, too_long};

impl Reader {
    /// Reads `call NAME(…) over … at …`, and puts the statements in its place.
    pub(super) fn call(&mut self) -> Result<()> {
        let begin = self.parser.tokens.expect("call")?;
        let (name, place) = self.parser.tokens.name("a computation before this one")?;
        let found = self.library.iter().rposition(|known| known.name == name);
        let Some(found) = found else {
            let known = self.library.iter().map(|known| known.name.as_str());
            let message = format!("there is no computation `{name}` before this one");
            return Err(Diagnostic::new(code::COMPUTATION_UNKNOWN, message)
                .at(self.parser.tokens.source(), place, "unknown")
                .help(match closest(&name, known) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "state it before, in the same text".to_owned(),
                }));
        };
        let inner = self.library[found].clone();
        self.parser.tokens.expect("(")?;
        let mut arguments: Vec<(String, Argument)> = Vec::new();
        let mut uses: Vec<Use> = Vec::new();
        let mut data: Vec<(String, Span)> = Vec::new();
        while !self.parser.tokens.at(")") {
            let (name, place) = self.parser.tokens.name("a parameter or data")?;
            self.parser.tokens.expect("=")?;
            let argument = match inner.parameters.contains(&name) {
                true => Argument::Value(self.parser.expression()?),
                false => {
                    let (passed, place) = self.parser.tokens.name("data")?;
                    data.push((passed.clone(), place));
                    Argument::Data(self.access(passed)?)
                }
            };
            uses.extend(self.parser.take_uses());
            if inner.space(&name).is_none() && !inner.parameters.contains(&name) {
                let known = inner
                    .parameters
                    .iter()
                    .chain(inner.spaces.iter().map(|s| &s.name));
                let message = format!("`{}` takes no `{name}`", inner.name);
                return Err(Diagnostic::new(code::COMPUTATION_UNKNOWN, message)
                    .at(self.parser.tokens.source(), place, "unknown")
                    .help(match closest(&name, known.map(String::as_str)) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => "leave it out".to_owned(),
                    }));
            }
            arguments.push((name, argument));
            if !self.parser.tokens.eat(",") {
                break;
            }
        }
        self.parser.tokens.expect(")")?;
        for (name, place) in data {
            if self.computation.space(&name).is_none() {
                return Err(self.unknown(&name, place));
            }
        }
        self.parser.tokens.expect("over")?;
        let set_begin = self.parser.tokens.peek().span;
        let over = self.parser.set()?;
        let end = self.parser.tokens.peek_before();
        self.set_names(&over, set_begin.to(end))?;
        let at = match self.parser.tokens.eat("at") {
            true => {
                let begin = self.parser.tokens.expect("[")?;
                let at = self.parser.list("]")?;
                if at.len() > MOST_ELEMENTS {
                    let place = begin.to(self.parser.tokens.peek_before());
                    return Err(too_long().at(self.parser.tokens.source(), place, "too long"));
                }
                Some(at)
            }
            false => None,
        };
        let uses = [uses, self.parser.take_uses()].concat();
        self.names_at_points(uses, &over.parts()[0])?;

        let variables = Variables(&over.parts()[0]);
        let at = match at {
            Some(at) => at.iter().map(|e| e.rewritten(&variables)).collect(),
            None => {
                let place = i64::try_from(self.computation.statements.len()).expect("few");
                let points = over.parts()[0].inputs().map(Expression::Variable);
                std::iter::once(Expression::Integer(place))
                    .chain(points)
                    .collect()
            }
        };
        let arguments = arguments.into_iter().map(|(name, argument)| {
            let argument = match argument {
                Argument::Value(e) => Argument::Value(e.rewritten(&variables)),
                Argument::Data(access) => Argument::Data(access.rewritten(&variables)),
            };
            (name, argument)
        });
        let call = Call {
            arguments: arguments.collect(),
            at,
            over: over.clone(),
        };
        let place = begin.to(self.parser.tokens.peek_before());
        let inlined = self.computation.inlined(&inner, &call);
        let inlined = inlined.map_err(|error| match error.labels().is_empty() {
            true => error.at(self.parser.tokens.source(), place, "by this call"),
            false => error.also(self.parser.tokens.source(), place, "by this call"),
        })?;
        self.take_names(&inlined, place)?;
        self.computation = inlined;
        Ok(())
    }
}

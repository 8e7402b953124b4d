//! JSON values that know where they stand in their text.
//!
//! A descriptor is small and written by strangers, so what matters is to say
//! where it is wrong. A [`Node`] is a value that was not looked at yet: asking
//! it for an object, a string or a count either gives that or a fault whose
//! caret is under the value.
//!
//! ```text
//! {"shape": [4, -5], "format": "CSR"}
//!               ^^ expected a count
//! ```

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::value::RawValue;
use sparsec_base::suggest::closest;
use sparsec_base::{Code, Diagnostic, Result, code};

use crate::input::Input;

/// One value of a JSON text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<'a> {
    text: &'a Input,
    /// The value as it is written: a part of the bytes of `text`.
    raw: &'a str,
}

/// The members of an object.
#[derive(Clone, Debug)]
pub(super) struct Object<'a> {
    node: Node<'a>,
    members: BTreeMap<String, Node<'a>>,
}

impl<'a> Node<'a> {
    /// The value that is a whole text.
    pub(super) fn parse(text: &'a Input) -> Result<Self> {
        let written = std::str::from_utf8(text.bytes()).map_err(|error| {
            let at = error.valid_up_to();
            text.fault(
                code::BAD_DESCRIPTOR,
                "the descriptor is no text",
                at..at + 1,
                "not UTF-8",
            )
        })?;
        match serde_json::from_str::<&RawValue>(written) {
            Ok(value) => Ok(Self {
                text,
                raw: value.get(),
            }),
            Err(error) => {
                let at = offset(written, error.line(), error.column());
                let message = "the descriptor is no JSON";
                Err(text.fault(code::BAD_DESCRIPTOR, message, at..at + 1, reason(&error)))
            }
        }
    }

    /// Where the value stands in the text.
    fn place(self) -> Range<usize> {
        let start = self.raw.as_ptr().addr() - self.text.bytes().as_ptr().addr();
        start..start + self.raw.len()
    }

    /// A fault that this value has.
    pub(super) fn fault(
        self,
        code: Code,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Diagnostic {
        let place = self.place();
        // The caret of a long value stands at its start.
        let shown = match self.raw.find('\n') {
            Some(line) => place.start..place.start + line,
            None => place,
        };
        self.text.fault(code, message, shown, label)
    }

    fn unlike(self, what: &str, expected: &str) -> Diagnostic {
        let message = format!("`{what}` of the descriptor is not {expected}");
        self.fault(
            code::BAD_DESCRIPTOR,
            message,
            format!("expected {expected}"),
        )
    }

    /// The members of an object; `what` is its name in messages.
    pub(super) fn object(self, what: &str) -> Result<Object<'a>> {
        let members: BTreeMap<String, &'a RawValue> =
            serde_json::from_str(self.raw).map_err(|_| self.unlike(what, "an object"))?;
        let members = members.into_iter().map(|(key, value)| {
            let raw = value.get();
            (key, Node { raw, ..self })
        });
        Ok(Object {
            node: self,
            members: members.collect(),
        })
    }

    /// The items of a list.
    pub(super) fn list(self, what: &str) -> Result<Vec<Self>> {
        let items: Vec<&'a RawValue> =
            serde_json::from_str(self.raw).map_err(|_| self.unlike(what, "a list"))?;
        let node = |item: &'a RawValue| Node {
            raw: item.get(),
            ..self
        };
        Ok(items.into_iter().map(node).collect())
    }

    /// The value as text.
    pub(super) fn text(self, what: &str) -> Result<String> {
        serde_json::from_str(self.raw).map_err(|_| self.unlike(what, "a text"))
    }

    /// The value as a truth value.
    pub(super) fn truth(self, what: &str) -> Result<bool> {
        serde_json::from_str(self.raw).map_err(|_| self.unlike(what, "`true` or `false`"))
    }

    /// The value as a number of things. Some writers state counts as floats,
    /// which is as good where the float is exact.
    pub(super) fn count(self, what: &str) -> Result<u64> {
        /// Below this every integer is a double.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if let Ok(count) = serde_json::from_str::<u64>(self.raw) {
            return Ok(count);
        }
        match serde_json::from_str::<f64>(self.raw) {
            Ok(float) if float.fract() == 0.0 && (0.0..EXACT).contains(&float) => Ok(float as u64),
            _ => Err(self.unlike(what, "a count")),
        }
    }

    /// Whether the value is `null`.
    pub(super) fn is_null(self) -> bool {
        self.raw == "null"
    }
}

impl<'a> Object<'a> {
    /// The member called `key`, if there is one.
    pub(super) fn get(&self, key: &str) -> Option<Node<'a>> {
        self.members.get(key).copied()
    }

    /// The member called `key`, without which the object makes no sense.
    pub(super) fn need(&self, key: &str) -> Result<Node<'a>> {
        self.get(key).ok_or_else(|| {
            let message = format!("the descriptor has no `{key}`");
            let label = format!("this object needs a `{key}`");
            let mut brace = self.node;
            brace.raw = &brace.raw[..1];
            let error = brace.fault(code::BAD_DESCRIPTOR, message, label);
            match closest(key, self.members.keys().map(String::as_str)) {
                Some(close) => {
                    error.help(format!("rename `{close}` to `{key}` if it is that member"))
                }
                None => error.help("`sparsec explain E0461` shows a whole descriptor"),
            }
        })
    }
}

/// What serde says, without the place, which the caret shows.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(at) => text[..at].to_owned(),
        None => text,
    }
}

/// The byte at a line and a column, both counted from 1.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let lines = text.split_inclusive('\n').take(line.saturating_sub(1));
    let start: usize = lines.map(str::len).sum();
    (start + column.saturating_sub(1)).min(text.len())
}

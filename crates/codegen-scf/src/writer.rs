//! Lines of a function, with names of values and constants.
//!
//! A value has the name of its variable with a number behind it, or a number alone. Constants are
//! at the beginning of the function, each once.

use std::collections::{HashMap, HashSet};

use sparsec_base::{ElementType, Scalar};
use sparsec_loop::{Buffer, Function, Var};

use crate::helper::Helpers;
use crate::indices;
use crate::state::{Slot, State};
use crate::types::{self, Type};

/// A value: its name with `%`, and its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) name: String,
    pub(crate) ty: Type,
}

impl Value {
    pub(crate) fn new(name: impl Into<String>, ty: Type) -> Self {
        Self {
            name: name.into(),
            ty,
        }
    }
}

/// Writes the body of one function.
pub(crate) struct Writer<'f> {
    pub(crate) function: &'f Function,
    pub(crate) helpers: &'f mut Helpers,
    /// The values of variables and arrays here.
    pub(crate) state: State,
    /// Variables of type `index`.
    indices: HashSet<Var>,
    names: HashSet<String>,
    constants: HashMap<(String, Type), String>,
    constant_lines: Vec<String>,
    lines: Vec<String>,
    indent: usize,
    n_numbered: usize,
}

impl<'f> Writer<'f> {
    pub(crate) fn new(function: &'f Function, helpers: &'f mut Helpers) -> Self {
        Self {
            function,
            helpers,
            state: State::default(),
            indices: indices::indices(function),
            names: HashSet::new(),
            constants: HashMap::new(),
            constant_lines: Vec::new(),
            lines: Vec::new(),
            indent: 2,
            n_numbered: 0,
        }
    }

    /// A name of a value that no other value has.
    pub(crate) fn fresh(&mut self, name: &str) -> String {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "_.$".contains(c);
        let stem: String = name
            .chars()
            .map(|c| if is_part(c) { c } else { '_' })
            .collect();
        // A name that begins with a digit is a number.
        let stem = match stem.starts_with(|c: char| c.is_ascii_digit()) {
            true => format!("_{stem}"),
            false => stem,
        };
        let mut found = stem.clone();
        let mut number = 0;
        while !self.names.insert(found.clone()) {
            number += 1;
            found = format!("{stem}_{number}");
        }
        format!("%{found}")
    }

    pub(crate) fn line(&mut self, text: &str) {
        self.lines
            .push(format!("{}{text}", "  ".repeat(self.indent)));
    }

    pub(crate) fn indented<T>(&mut self, write: impl FnOnce(&mut Self) -> T) -> T {
        self.indent += 1;
        let given = write(self);
        self.indent -= 1;
        given
    }

    /// An operation with one result, which has a number for a name.
    pub(crate) fn op(&mut self, ty: Type, text: &str) -> Value {
        let name = format!("%{}", self.n_numbered);
        self.n_numbered += 1;
        self.line(&format!("{name} = {text}"));
        Value::new(name, ty)
    }

    /// Gives the value the name, if its operation was just written and it has only a number.
    pub(crate) fn named(&mut self, value: Value, name: &str) -> Value {
        let margin = "  ".repeat(self.indent);
        let last = self.n_numbered.checked_sub(1).map(|n| format!("%{n}"));
        let head = format!("{margin}{} = ", value.name);
        if last.as_deref() != Some(&value.name)
            || !self
                .lines
                .last()
                .is_some_and(|line| line.starts_with(&head))
        {
            return value;
        }
        self.n_numbered -= 1;
        let name = self.fresh(name);
        if let Some(line) = self.lines.last_mut() {
            *line = format!("{margin}{name} = {}", &line[head.len()..]);
        }
        Value::new(name, value.ty)
    }

    /// An integer constant of type `index` or `i64`.
    pub(crate) fn integer(&mut self, value: i64, is_index: bool) -> Value {
        self.constant_of(&value.to_string(), Type::integer(is_index))
    }

    pub(crate) fn constant(&mut self, value: Scalar) -> Value {
        self.constant_of(&types::constant(value), Type::Number(value.element()))
    }

    fn constant_of(&mut self, text: &str, ty: Type) -> Value {
        let key = (text.to_owned(), ty);
        if let Some(name) = self.constants.get(&key) {
            return Value::new(name.as_str(), ty);
        }
        let is_integer = text
            .trim_start_matches('-')
            .chars()
            .all(|c| c.is_ascii_digit());
        let sign = |text: &str| text.replace('-', "_");
        let stem = match ty {
            Type::Index => format!("c{}", sign(text)),
            Type::Number(ElementType::Bool) => text.to_owned(),
            _ if is_integer => format!("c{}_{ty}", sign(text)),
            _ => "cst".to_owned(),
        };
        let name = self.fresh(&stem);
        let line = match ty {
            Type::Number(ElementType::Bool) => format!("{name} = arith.constant {text}"),
            Type::Number(ty) if ty.is_complex() => {
                format!("{name} = complex.constant {text} : {}", types::word(ty))
            }
            _ => format!("{name} = arith.constant {text} : {ty}"),
        };
        self.constant_lines.push(line);
        self.constants.insert(key, name.clone());
        Value::new(name, ty)
    }

    /// Whether an `i64` variable is an `index`.
    pub(crate) fn is_index(&self, var: Var) -> bool {
        self.indices.contains(&var)
    }

    /// The type of a variable's values.
    pub(crate) fn var_type(&self, var: Var) -> Type {
        match self.function.vars[var].element {
            ElementType::I64 => Type::integer(self.is_index(var)),
            other => Type::Number(other),
        }
    }

    /// The array that a buffer is here.
    pub(crate) fn array(&self, buffer: Buffer) -> Value {
        self.state.get(Slot::Array(buffer)).clone()
    }

    /// The lines of the body, constants first.
    pub(crate) fn finish(self) -> String {
        let constants = self
            .constant_lines
            .iter()
            .map(|line| format!("    {line}\n"));
        let lines = self.lines.iter().map(|line| format!("{line}\n"));
        constants.chain(lines).collect()
    }
}

//! Indices as they are written: variables, affine forms, windows, sets.
//!
//! ```text
//! i      2*i + r - 1      i // 4      i % 4      i(2:9)   i(2:9:3)   i({4,1,7})
//! morton(i, j)            alto(i, 8, j, 2)
//! ```

use std::fmt;

use sparsec_base::{Diagnostic, Result, Source, Span, code};
use sparsec_index::{Curve, IndexExpr, IndexVar, Operator};

use super::Word;

/// What stands at one mode of a tensor's use, and its place. Two are equal if
/// they say the same, wherever they stand.
#[derive(Clone, Debug)]
pub struct Index {
    /// What it is.
    pub kind: IndexKind,
    /// Its place.
    pub span: Span,
}

/// What stands at one mode of a tensor's use.
#[derive(Clone, Debug, PartialEq)]
pub enum IndexKind {
    /// An index variable.
    Var(Word),
    /// A number.
    Number(i64),
    /// `+`, `-`, `*`, `//`, `%` of two indices, or `-` of one.
    Apply {
        /// The operator.
        op: Operator,
        /// What it is applied to.
        args: Vec<Index>,
    },
    /// `i(from:to:step)`: the coordinates `from`, `from + step`, … below `to`.
    Window {
        /// The variable, which counts them.
        var: Word,
        /// The first coordinate.
        from: u64,
        /// The bound.
        to: u64,
        /// From one to the next.
        step: u64,
    },
    /// `i({4,1,7})`: the coordinates of a list, in its order.
    Set {
        /// The place in the list, counted from 0.
        at: Box<Index>,
        /// The coordinates.
        list: Vec<u64>,
    },
    /// `morton(i, j)`: the place of coordinates on a curve.
    Place {
        /// The curve.
        curve: Curve,
        /// The coordinates.
        of: Vec<Index>,
    },
}

impl PartialEq for Index {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

impl From<Word> for Index {
    fn from(word: Word) -> Self {
        Self {
            span: word.span,
            kind: IndexKind::Var(word),
        }
    }
}

impl Index {
    /// The variable, if the index is one and nothing else.
    pub fn as_var(&self) -> Option<&Word> {
        match &self.kind {
            IndexKind::Var(word) => Some(word),
            _ => None,
        }
    }

    /// Calls `visit` on every variable, left to right.
    pub fn for_each_var<'a>(&'a self, visit: &mut dyn FnMut(&'a Word)) {
        match &self.kind {
            IndexKind::Var(word) | IndexKind::Window { var: word, .. } => visit(word),
            IndexKind::Number(_) => {}
            IndexKind::Apply { args, .. } | IndexKind::Place { of: args, .. } => {
                args.iter().for_each(|arg| arg.for_each_var(visit));
            }
            IndexKind::Set { at, .. } => at.for_each_var(visit),
        }
    }

    /// The variables, left to right.
    pub fn vars(&self) -> Vec<&Word> {
        let mut found = Vec::new();
        self.for_each_var(&mut |word| found.push(word));
        found
    }

    /// The expression that the index is, given the variables that its words are.
    ///
    /// # Errors
    /// Those of `var`; `E0214` for what is no index expression.
    pub fn expr(
        &self,
        source: &Source,
        var: &dyn Fn(&Word) -> Result<IndexVar>,
    ) -> Result<IndexExpr> {
        let refuse = |label: &str, help: &str| {
            Diagnostic::new(code::AFFINE_INDEX, format!("`{self}` is no index"))
                .at(source, self.span, label)
                .help(help)
        };
        let too_large = || {
            refuse(
                "a number in it leaves 64 bits",
                "write smaller factors and offsets",
            )
        };
        match &self.kind {
            IndexKind::Var(word) => Ok(var(word)?.into()),
            IndexKind::Number(value) => Ok(IndexExpr::constant(*value)),
            IndexKind::Window {
                var: word,
                from,
                step,
                ..
            } => {
                let scaled = i64::try_from(*step).ok().map(|step| (var(word), step));
                let (known, step) = scaled.ok_or_else(too_large)?;
                let from = i64::try_from(*from).map_err(|_| too_large())?;
                IndexExpr::from(known?)
                    .times(step)
                    .and_then(|sum| sum.plus(&IndexExpr::constant(from)))
                    .map(IndexExpr::apart)
                    .ok_or_else(too_large)
            }
            IndexKind::Set { at, list } => Ok(at.expr(source, var)?.element_of(list.clone())),
            IndexKind::Place { curve, of } => {
                let coordinates = of.iter().map(|it| it.expr(source, var));
                Ok(IndexExpr::place(
                    curve.clone(),
                    coordinates.collect::<Result<_>>()?,
                ))
            }
            IndexKind::Apply { op, args } => {
                let parts: Result<Vec<IndexExpr>> =
                    args.iter().map(|arg| arg.expr(source, var)).collect();
                let value = match (op, &parts?[..]) {
                    (Operator::Neg, [a]) => a.times(-1),
                    (Operator::Add, [a, b]) => a.plus(b),
                    (Operator::Sub, [a, b]) => a.minus(b),
                    (Operator::Mul, [a, b]) => match (a.as_constant(), b.as_constant()) {
                        (Some(factor), _) => b.times(factor),
                        (_, Some(factor)) => a.times(factor),
                        _ => {
                            return Err(refuse(
                                "a product of variables",
                                "multiply variables by numbers only",
                            ));
                        }
                    },
                    (Operator::FloorDiv | Operator::Mod, [a, b]) => {
                        let by = b.as_constant().filter(|by| *by > 0).ok_or_else(|| {
                            refuse(
                                "not divided by a positive number",
                                "divide by a number from 1 on",
                            )
                        })?;
                        Some(match op {
                            Operator::FloorDiv if by == 1 => a.clone().apart(),
                            Operator::FloorDiv => a.floor_div(by, &|_| None),
                            _ => a.modulo(by, &|_| None),
                        })
                    }
                    _ => return Err(refuse("no sum of variables", "write `2*i + j - 1`")),
                };
                value.ok_or_else(too_large)
            }
        }
    }

    /// How tightly the index binds.
    fn binding(&self) -> u8 {
        match &self.kind {
            IndexKind::Apply { op, .. } => op.binding(),
            _ => u8::MAX,
        }
    }

    /// Writes the index where it has to bind at least `least`.
    fn write(&self, f: &mut dyn fmt::Write, least: u8) -> fmt::Result {
        if self.binding() < least {
            f.write_str("(")?;
            self.write(f, 0)?;
            return f.write_str(")");
        }
        match &self.kind {
            IndexKind::Var(word) => f.write_str(&word.text),
            IndexKind::Number(value) => write!(f, "{value}"),
            IndexKind::Apply { op, args } => match &args[..] {
                [arg] => {
                    f.write_str(op.symbol())?;
                    // A minus before a number would become part of it.
                    let is_number = matches!(arg.kind, IndexKind::Number(_));
                    match is_number {
                        true => write!(f, "({arg})"),
                        false => arg.write(f, self.binding()),
                    }
                }
                [left, right] => {
                    let tight = *op == Operator::Mul;
                    left.write(f, self.binding())?;
                    match tight {
                        true => f.write_str(op.symbol())?,
                        false => write!(f, " {} ", op.symbol())?,
                    }
                    right.write(f, self.binding() + 1)
                }
                _ => unreachable!("operators of indices have one or two arguments"),
            },
            IndexKind::Window {
                var,
                from,
                to,
                step,
            } => {
                write!(f, "{}({from}:{to}", var.text)?;
                if *step != 1 {
                    write!(f, ":{step}")?;
                }
                f.write_str(")")
            }
            IndexKind::Set { at, list } => {
                at.write(f, u8::MAX)?;
                let list: Vec<String> = list.iter().map(u64::to_string).collect();
                write!(f, "({{{}}})", list.join(","))
            }
            IndexKind::Place { curve, of } => {
                curve.write(f, of.len(), &mut |f, number| of[number].write(f, 0))
            }
        }
    }
}

impl fmt::Display for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}

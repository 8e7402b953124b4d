//! The body of an operation: expressions as operations on entries.
//!
//! MLIR derives the loops over sparse operands from the operations of a body. It knows that a
//! product is zero where an operand stores nothing, and how negation and sums keep entries. An
//! operator that it does not know stands in a region of `sparse_tensor.unary` or `binary`:
//!
//! | expression               | operation                                                      |
//! |--------------------------|----------------------------------------------------------------|
//! | `exp(a) - 1` and the like, zero at zero | `unary present = { … } absent = {}`              |
//! | `exp(a)`                 | `unary present = { … } absent = { yield 1 }`                   |
//! | `max(a, b)`              | `binary overlap = { max x, y } left = { max x, 0 } right = { max 0, y }` |
//! | `a / d`, `d` dense       | `binary overlap = { … } left = {} right = {}`                  |
//!
//! A region is left out if the operator is zero there, whatever the stored operand is.

use sparsec_base::{ElementType, Kind, Result, Scalar, Span};
use sparsec_index::{Access, Expr, IndexVar, Operator};

use crate::Writer;
use crate::statement::is_same;
use crate::words::plain;

/// A value of the body.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) text: String,
    pub(crate) element: ElementType,
    /// Whether MLIR has no value at some points, where it is zero.
    pub(crate) may_lack: bool,
    /// The value, if it is a constant.
    constant: Option<Scalar>,
}

/// The operations of a body.
pub(crate) struct Body<'w, 'a> {
    pub(crate) writer: &'w mut Writer<'a>,
    inputs: Vec<Access>,
    /// The names of inputs and of the output.
    pub(crate) names: Vec<String>,
    pub(crate) output: String,
    loops: Vec<IndexVar>,
    /// The place of the statement.
    span: Span,
    /// Whether loops are over stored entries.
    has_sparse: bool,
    pub(crate) lines: String,
    indent: usize,
}

impl<'w, 'a> Body<'w, 'a> {
    pub(crate) fn new(
        writer: &'w mut Writer<'a>,
        inputs: &[&Access],
        loops: &[IndexVar],
        has_sparse: bool,
        span: Span,
    ) -> Self {
        Self {
            names: inputs.iter().map(|_| writer.value()).collect(),
            output: writer.value(),
            inputs: inputs.iter().map(|access| (*access).clone()).collect(),
            loops: loops.to_vec(),
            lines: String::new(),
            indent: 6,
            has_sparse,
            span,
            writer,
        }
    }

    fn define(&mut self, text: &str) -> String {
        let value = self.writer.value();
        self.lines += &format!("{:indent$}{value} = {text}\n", "", indent = self.indent);
        value
    }

    fn ty(&self, element: ElementType) -> String {
        self.writer.types.element(element)
    }

    fn refused(&self, what: &str, of: &Expr) -> sparsec_base::Diagnostic {
        let span = of.accesses().first().map(|access| access.span);
        self.writer.refused(what, span.unwrap_or(self.span))
    }

    /// # Errors
    /// `E1051` for an operator without an operation of the same meaning.
    pub(crate) fn expr(&mut self, expr: &Expr) -> Result<Held> {
        match expr {
            Expr::Literal(value) => Ok(self.constant(*value)),
            Expr::Access(access) => {
                let known = self.inputs.iter().position(|it| is_same(it, access));
                let number = known.expect("inputs are the accesses of the expression");
                Ok(Held {
                    text: self.names[number].clone(),
                    element: self.writer.program.tensors[access.tensor].element,
                    may_lack: self.writer.types.is_sparse(access.tensor),
                    constant: None,
                })
            }
            // MLIR 19 reads sparse operands at other coordinates beside `linalg.index`.
            Expr::Index(_) if self.has_sparse => {
                Err(self.refused("an index as a number beside sparse operands", expr))
            }
            Expr::Index(index) => {
                let place = index
                    .as_var()
                    .and_then(|var| self.loops.iter().position(|it| *it == var));
                let Some(place) = place else {
                    return Err(self.refused("a computed index is a number", expr));
                };
                let at = self.define(&format!("linalg.index {place} : index"));
                let text = self.define(&format!("arith.index_cast {at} : index to i64"));
                Ok(Held {
                    text,
                    element: ElementType::I64,
                    may_lack: false,
                    constant: None,
                })
            }
            Expr::Cast(element, body) => self.cast(*element, body),
            Expr::Apply { op, args } => {
                let held = args.iter().map(|arg| self.expr(arg));
                let held: Vec<Held> = held.collect::<Result<_>>()?;
                self.applied(op, &held, expr)
            }
            Expr::Reduce { .. } => Err(self.refused("a reduction inside of an expression", expr)),
        }
    }

    fn constant(&mut self, value: Scalar) -> Held {
        let text = self.writer.types.constant(value);
        Held {
            text: self.writer.define(&text),
            element: value.element(),
            may_lack: false,
            constant: Some(value),
        }
    }

    fn cast(&mut self, element: ElementType, body: &Expr) -> Result<Held> {
        if let Expr::Literal(value) = body
            && let Some(value) = value.cast(element)
        {
            return Ok(self.constant(value));
        }
        let held = self.expr(body)?;
        let from = held.element;
        if from == element {
            return Ok(held);
        }
        let is_integer = |kind| matches!(kind, Kind::Signed | Kind::Unsigned | Kind::Bool);
        let wider = element.size() > from.size() || from == ElementType::Bool;
        let word = match (from.kind(), element.kind()) {
            (Kind::Float, Kind::Float) if wider => "extf",
            (Kind::Float, Kind::Float) => "truncf",
            (Kind::Signed, Kind::Float) => "sitofp",
            (Kind::Unsigned | Kind::Bool, Kind::Float) => "uitofp",
            (_, Kind::Bool) => "",
            (Kind::Signed, to) if is_integer(to) && wider => "extsi",
            (Kind::Unsigned | Kind::Bool, to) if is_integer(to) && wider => "extui",
            // The same bits.
            (of, to) if is_integer(of) && is_integer(to) && from.size() == element.size() => {
                return Ok(Held { element, ..held });
            }
            (of, to) if is_integer(of) && is_integer(to) => "trunci",
            _ => "",
        };
        if word.is_empty() {
            let what = format!("a conversion from {from} to {element}");
            return Err(self.refused(&what, body));
        }
        let (of, to) = (self.ty(from), self.ty(element));
        let text = self.define(&format!("arith.{word} {} : {of} to {to}", held.text));
        Ok(Held {
            text,
            element,
            may_lack: held.may_lack,
            constant: None,
        })
    }

    /// `before op value`.
    pub(crate) fn combined(&mut self, op: &Operator, before: &str, value: &Held) -> Result<String> {
        let text = plain(op, &[before, &value.text], value.element, self.writer);
        match text {
            Some(text) => Ok(self.define(&text)),
            None => {
                let of = Expr::Literal(value.element.zero());
                Err(self.refused(&format!("a reduction with `{}`", op.symbol()), &of))
            }
        }
    }

    fn applied(&mut self, op: &Operator, args: &[Held], of: &Expr) -> Result<Held> {
        let Some(element) = args.iter().rev().map(|arg| arg.element).next() else {
            return Err(self.refused("an operator without arguments", of));
        };
        let types: Vec<ElementType> = args.iter().map(|arg| arg.element).collect();
        let result = op.result_type(&types);
        let lacking = args.iter().filter(|arg| arg.may_lack).count();
        let is_known = matches!(op, Operator::Neg | Operator::Abs | Operator::Add)
            || matches!(
                op,
                Operator::Sub | Operator::Mul | Operator::And | Operator::Or
            );
        if lacking == 0 || is_known {
            let texts: Vec<&str> = args.iter().map(|arg| arg.text.as_str()).collect();
            let Some(text) = plain(op, &texts, element, self.writer) else {
                return Err(self.unknown(op, element, of));
            };
            let may_lack = match op {
                Operator::Mul | Operator::And => lacking > 0,
                _ => lacking == args.len(),
            };
            return Ok(Held {
                text: self.define(&text),
                element: result,
                may_lack,
                constant: None,
            });
        }
        match args {
            [x] => self.unary(op, x, result, of, &|x| vec![x]),
            [x, y] => match (x.constant, y.constant) {
                (None, Some(_)) => {
                    let y = y.text.clone();
                    self.unary(op, x, result, of, &move |x| vec![x, y.clone()])
                }
                (Some(_), None) => {
                    let x = x.text.clone();
                    self.unary(op, y, result, of, &move |y| vec![x.clone(), y])
                }
                _ => self.binary(op, x, y, result, of),
            },
            _ => Err(self.unknown(op, element, of)),
        }
    }

    fn unknown(&self, op: &Operator, element: ElementType, of: &Expr) -> sparsec_base::Diagnostic {
        let what = format!("`{}` of {element} in a body of MLIR", op.symbol());
        self.refused(&what, of)
    }

    /// A region with the operator on these values.
    fn region(
        &mut self,
        arguments: &str,
        op: &Operator,
        args: &[String],
        (element, result): (ElementType, ElementType),
    ) -> Option<String> {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let text = plain(op, &args, element, self.writer)?;
        let value = self.writer.value();
        let ty = self.ty(result);
        let pad = " ".repeat(self.indent + 2);
        Some(format!(
            "{{\n{arguments}{pad}  {value} = {text}\n{pad}  sparse_tensor.yield {value} : {ty}\n{pad}}}"
        ))
    }

    fn head(&self, arguments: &[(&str, ElementType)]) -> String {
        let list = arguments
            .iter()
            .map(|(name, element)| format!("{name}: {}", self.ty(*element)));
        let list: Vec<String> = list.collect();
        format!(
            "{}^bb0({}):\n",
            " ".repeat(self.indent + 2),
            list.join(", ")
        )
    }

    /// An operator on one value that may be missing.
    fn unary(
        &mut self,
        op: &Operator,
        x: &Held,
        result: ElementType,
        of: &Expr,
        args: &dyn Fn(String) -> Vec<String>,
    ) -> Result<Held> {
        let inside = self.writer.value();
        let head = self.head(&[(&inside, x.element)]);
        let types = (x.element, result);
        let Some(present) = self.region(&head, op, &args(inside.clone()), types) else {
            return Err(self.unknown(op, x.element, of));
        };
        // The value of the operator at zero.
        let at_zero = match of {
            Expr::Apply { args, .. } => {
                let values = args.iter().map(|arg| match arg {
                    Expr::Literal(value) => Some(*value),
                    Expr::Cast(element, body) => match &**body {
                        Expr::Literal(value) => value.cast(*element),
                        _ => Some(x.element.zero()),
                    },
                    _ => Some(x.element.zero()),
                });
                let values: Option<Vec<Scalar>> = values.collect();
                values.and_then(|values| op.evaluate(&values))
            }
            _ => None,
        };
        let Some(at_zero) = at_zero else {
            return Err(self.unknown(op, x.element, of));
        };
        let is_zero = at_zero == result.zero();
        let pad = " ".repeat(self.indent + 2);
        let absent = match is_zero {
            true => "{}".to_owned(),
            false => {
                let constant = self.constant(at_zero).text;
                let ty = self.ty(result);
                format!("{{\n{pad}  sparse_tensor.yield {constant} : {ty}\n{pad}}}")
            }
        };
        let (from, to) = (self.ty(x.element), self.ty(result));
        let text = self.define(&format!(
            "sparse_tensor.unary {} : {from} to {to}\n{pad}present = {present}\n{pad}absent = {absent}",
            x.text
        ));
        Ok(Held {
            text,
            element: result,
            may_lack: is_zero,
            constant: None,
        })
    }

    /// An operator on two values of which one may be missing, or both.
    fn binary(
        &mut self,
        op: &Operator,
        x: &Held,
        y: &Held,
        result: ElementType,
        of: &Expr,
    ) -> Result<Held> {
        let (zero_x, zero_y) = (x.element.zero(), y.element.zero());
        let at_zero = op.evaluate(&[zero_x, zero_y]);
        let both_lack = x.may_lack && y.may_lack;
        if both_lack && at_zero != Some(result.zero()) {
            let what = format!(
                "`{}` that is not zero where nothing is stored,",
                op.symbol()
            );
            return Err(self.refused(&what, of));
        }
        let types = (x.element, result);
        let (a, b) = (self.writer.value(), self.writer.value());
        let head = self.head(&[(&a, x.element), (&b, y.element)]);
        let overlap = self.region(&head, op, &[a, b], types);
        let one_sided = |this: &mut Self, is_left: bool| -> Result<String> {
            // The side where the other one is missing.
            let (own, other) = if is_left { (x, y) } else { (y, x) };
            if !other.may_lack {
                return Ok("{}".to_owned());
            }
            let fills = match is_left {
                true => [None, Some(zero_y)],
                false => [Some(zero_x), None],
            };
            let decided = op.decisions(&fills).into_iter().next();
            let pad = " ".repeat(this.indent + 2);
            match decided {
                Some(decision) if decision.value == result.zero() => Ok("{}".to_owned()),
                Some(decision) => {
                    let constant = this.constant(decision.value).text;
                    let inside = this.writer.value();
                    let head = this.head(&[(&inside, own.element)]);
                    let ty = this.ty(result);
                    let yields = format!("{pad}  sparse_tensor.yield {constant} : {ty}");
                    Ok(format!("{{\n{head}{yields}\n{pad}}}"))
                }
                None => {
                    let zero = this.constant(other.element.zero()).text;
                    let inside = this.writer.value();
                    let head = this.head(&[(&inside, own.element)]);
                    let args = match is_left {
                        true => [inside, zero],
                        false => [zero, inside],
                    };
                    match this.region(&head, op, &args, types) {
                        Some(region) => Ok(region),
                        None => Err(this.unknown(op, own.element, of)),
                    }
                }
            }
        };
        let left = one_sided(self, true)?;
        let right = one_sided(self, false)?;
        let Some(overlap) = overlap else {
            return Err(self.unknown(op, x.element, of));
        };
        let pad = " ".repeat(self.indent + 2);
        let (from_x, from_y, to) = (self.ty(x.element), self.ty(y.element), self.ty(result));
        let may_lack = both_lack || left == "{}" && right == "{}";
        let text = self.define(&format!(
            "sparse_tensor.binary {}, {} : {from_x}, {from_y} to {to}\n{pad}overlap = {overlap}\n\
             {pad}left = {left}\n{pad}right = {right}",
            x.text, y.text
        ));
        Ok(Held {
            text,
            element: result,
            may_lack: may_lack && self.has_sparse,
            constant: None,
        })
    }
}

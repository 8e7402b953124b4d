//! Calls of functions of the user, and reductions with them, typed.

use sparsec_base::{Diagnostic, ElementType, Result, Span, code};

use super::{Typed, Typer, common_type, literal};
use crate::expr::Expr;
use crate::function::{Counterexample, Definition, UserFunction};
use crate::operator::Operator;

/// How many operators a statement may be made of once the bodies of functions stand
/// in place of the calls: an argument stands wherever its parameter does.
const MOST_EXPANDED: u64 = 2000;

/// How many of those may lie inside one another: passes over expressions recur.
const MOST_NESTED: u64 = 250;

impl Typer<'_> {
    /// A function of the user applied to its arguments. Parameters that state
    /// their types take them as those; the others meet in one type.
    ///
    /// # Errors
    /// `E0219` for numbers, `E0243` where what is declared does not hold of the types
    /// of the arguments, the codes of the operators of the body where they do not take
    /// what they are given.
    pub fn call(
        &self,
        function: &UserFunction,
        op_span: Span,
        args: Vec<Typed>,
        span: Span,
    ) -> Result<Typed> {
        let stated: Vec<Option<ElementType>> = function.parameter_types().collect();
        let open = std::iter::zip(&args, &stated).filter(|(_, stated)| stated.is_none());
        let open: Vec<Typed> = open.map(|(arg, _)| arg.clone()).collect();
        let common = if open.is_empty() {
            None
        } else {
            Some(common_type(&open))
        };
        let weak = args.iter().all(|arg| arg.weak);
        let mut converted = Vec::with_capacity(args.len());
        for (arg, stated) in std::iter::zip(args, stated) {
            let element = stated
                .or(common)
                .expect("it is stated, or an argument is open");
            converted.push(self.operand(arg, element, None)?.expr);
        }
        let types: Vec<ElementType> = converted
            .iter()
            .map(|arg| arg.element(self.tensors))
            .collect();
        let body = function.body(&types).map_err(|error| {
            error.also(
                self.source,
                op_span,
                format!("called with {}", listed(&types)),
            )
        })?;
        let result = body.element();
        // Halves in, a half out, though it is computed as `f32`.
        let element = match common {
            Some(common) if result == common.computed() => common,
            _ => result,
        };
        self.check_annihilators(function, op_span, &types, result)?;
        self.check_properties(function, op_span, &types)?;
        self.check_size(body.size.of_call(&converted, self.tensors), op_span)?;
        let values: Option<Vec<_>> = converted.iter().map(Expr::literal).collect();
        let op = Operator::Defined(function.clone());
        if let Some(value) = values.and_then(|values| op.evaluate_unstored(&values)) {
            return Ok(Typed {
                element,
                ..literal(value, weak && element != ElementType::Bool, span)
            });
        }
        Ok(Typed {
            expr: Expr::Apply {
                op,
                args: converted,
            },
            element,
            weak: false,
            span,
        })
    }

    /// An annihilator is the result as well as an argument.
    fn check_annihilators(
        &self,
        function: &UserFunction,
        op_span: Span,
        types: &[ElementType],
        result: ElementType,
    ) -> Result<()> {
        for (at, element) in types.iter().enumerate() {
            let Some(value) = function.annihilator(at, *element) else {
                continue;
            };
            if *element != result {
                let name = function.name();
                let message =
                    format!("`{name}` gives {result}, so {value} of {element} is no annihilator");
                return Err(Diagnostic::new(code::FUNCTION_PROPERTY, message)
                    .at(
                        self.source,
                        op_span,
                        format!("called with {}", listed(types)),
                    )
                    .help(format!("convert the arguments: `{result}(…)`")));
            }
        }
        Ok(())
    }

    /// What is declared has to hold of arguments of these types.
    fn check_properties(
        &self,
        function: &UserFunction,
        op_span: Span,
        types: &[ElementType],
    ) -> Result<()> {
        let Some(Counterexample { property, found }) = function.fails_for(types) else {
            return Ok(());
        };
        let name = function.name();
        let mut types = types.to_vec();
        types.dedup();
        let types = listed(&types);
        let Definition {
            parameters,
            source,
            span,
            ..
        } = function.definition();
        let message = format!("`{name}` is declared {property}, which does not hold of {types}");
        let error = Diagnostic::new(code::PROPERTY_FAILS, message)
            .at(self.source, op_span, format!("called with {types}"))
            .also(source, *span, found.clone());
        Err(match function.holds_for() {
            Some(element) => {
                let stated = parameters.iter().map(|known| match known.element {
                    Some(_) => known.name.clone(),
                    None => format!("{}: {element}", known.name),
                });
                let stated: Vec<String> = stated.collect();
                let stated = stated.join(", ");
                error.help(format!(
                    "leave the property out, or say what it holds of: `{name}({stated})`"
                ))
            }
            None => error.help("leave the property out, or correct the function"),
        })
    }

    /// Checks how many parts there are once calls are expanded, and how many of them
    /// lie inside one another.
    ///
    /// # Errors
    /// `E0220`.
    pub fn check_size(&self, (parts, depth): (u64, u64), span: Span) -> Result<()> {
        let message = if parts > MOST_EXPANDED {
            format!("calls that make more than {MOST_EXPANDED} operators")
        } else if depth > MOST_NESTED {
            format!("calls that make more than {MOST_NESTED} operators inside one another")
        } else {
            return Ok(());
        };
        Err(Diagnostic::new(code::STATEMENT_TOO_LARGE, message)
            .at(
                self.source,
                span,
                "bodies stand in place of calls, arguments in place of parameters",
            )
            .help("give the arguments names, in statements of their own"))
    }

    /// Checks that a function of the user reduces values of this type to one.
    ///
    /// # Errors
    /// `E0244` and `E0243`; those of [`call`](Self::call).
    pub fn check_reduction(
        &self,
        function: &UserFunction,
        op_span: Span,
        element: ElementType,
    ) -> Result<()> {
        let computed = element.computed();
        let refuse = |what: String| {
            let message = format!("`{}` does not reduce {element}", function.name());
            Err(Diagnostic::new(code::NO_REDUCTION, message)
                .at(self.source, op_span, what)
                .help("convert what is reduced, such as `f64(…)`"))
        };
        for stated in function.parameter_types().flatten() {
            if stated.computed() != computed {
                return refuse(format!("takes {stated}"));
            }
        }
        let body = function
            .body(&[computed; 2])
            .map_err(|error| error.also(self.source, op_span, format!("reduces {element}")))?;
        let result = body.element();
        if result != computed {
            return refuse(format!("gives {result}"));
        }
        if function.identity(computed).is_none() {
            return refuse(format!("its identity is no {element}"));
        }
        self.check_properties(function, op_span, &[computed; 2])
    }
}

fn listed(types: &[ElementType]) -> String {
    let names: Vec<&str> = types.iter().map(|element| element.name()).collect();
    names.join(", ")
}

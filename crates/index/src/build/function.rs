//! Functions of the user that are built: an expression over typed parameters.

use std::fmt;
use std::sync::Arc;

use sparsec_base::{Diagnostic, ElementType, Result, Source, Span, code};

use super::{ProgramBuilder, Value};
use crate::expr::{Access, Expr};
use crate::function::{Definition, FunctionBody, MOST_CALLS, Parameter, Properties, UserFunction};
use crate::index_expr::IndexExpr;
use crate::operator::Operator;
use crate::program::Tensors;
use crate::text::is_tensor_name;

impl UserFunction {
    /// A function whose parameters have the types that are stated. `body` makes its value of
    /// theirs.
    ///
    /// ```
    /// use sparsec_base::ElementType::F64;
    /// use sparsec_base::Scalar;
    /// use sparsec_index::Operator::{Exp, Mul, Neg};
    /// use sparsec_index::UserFunction;
    /// use sparsec_index::function::Properties;
    /// let gauss = UserFunction::build("gauss", &[("x", F64)], Properties::default(), |f, x| {
    ///     let square = f.apply(&Mul, [x[0].clone(), x[0].clone()])?;
    ///     f.apply(&Exp, [f.apply(&Neg, [square])?])
    /// })?;
    /// assert_eq!(gauss.to_string(), "gauss(x: f64) = exp(-(x * x))");
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    ///
    /// # Errors
    /// `E0241` for a name that is taken, `E0240` for a body that is no expression over the
    /// parameters, `E0220` for too long a chain of calls, `E0242` and `E0243` for properties
    /// that it cannot have or that do not hold; those of `body`.
    pub fn build(
        name: &str,
        parameters: &[(&str, ElementType)],
        properties: Properties,
        body: impl FnOnce(&ProgramBuilder, &[Value]) -> Result<Value>,
    ) -> Result<Self> {
        let is_taken = !is_tensor_name(name, parameters.len());
        if is_taken || Operator::reduction(name).is_some() {
            let message = format!("`{name}` cannot be the name of a function");
            return Err(Diagnostic::new(code::FUNCTION_NAME, message).help("choose another name"));
        }
        let mut builder = ProgramBuilder::new();
        let mut values = Vec::new();
        for (name, element) in parameters {
            let parameter = builder.input(name, *element, &[])?;
            values.push(builder.access(parameter, Vec::<IndexExpr>::new())?);
        }
        let value = body(&builder, &values)?;
        let expr = builder.cast(value.element().computed(), value)?.0.expr;
        let mut accesses = expr.accesses().into_iter();
        let is_foreign = |access: &Access| builder.data(access.tensor).is_err();
        if accesses.any(is_foreign) || !expr.vars().is_empty() || parameters.is_empty() {
            let message = format!("the body of `{name}` is no expression over its parameters");
            return Err(Diagnostic::new(code::FUNCTION_BODY, message)
                .help("reduce, and read tensors, where the function is called"));
        }
        let stated = parameters.iter().map(|(name, element)| Parameter {
            name: (*name).to_owned(),
            element: Some(*element),
        });
        let is_binary = parameters.len() == 2;
        let combines = properties.commutative || properties.associative || properties.idempotent;
        if !is_binary && (combines || properties.identity.is_some()) {
            let message = "only functions of two arguments commute, associate and have identities";
            return Err(
                Diagnostic::new(code::FUNCTION_PROPERTY, message).help("leave the property out")
            );
        }
        let text = builder.names().expr(&expr);
        let function = Self::of(Definition {
            name: name.to_owned(),
            parameters: stated.collect(),
            source: Source::new(format!("body of {name}"), text.as_str()),
            body: Arc::new(Built { expr, text }),
            properties,
            span: Span::default(),
        });
        if function.calls() > MOST_CALLS {
            let message = format!("`{name}` makes more than {MOST_CALLS} calls inside one another");
            return Err(Diagnostic::new(code::STATEMENT_TOO_LARGE, message)
                .help("write the bodies of some of them in place of the calls"));
        }
        function.check()?;
        Ok(function)
    }
}

/// The body of a function that was built: over tensors of order 0, one a parameter.
#[derive(Debug)]
struct Built {
    expr: Expr,
    text: String,
}

impl FunctionBody for Built {
    fn typed(&self, _: &Tensors) -> Result<Expr> {
        // Every parameter states its type, so there is one typing.
        Ok(self.expr.clone())
    }

    fn for_each_function(&self, visit: &mut dyn FnMut(&UserFunction)) {
        self.expr.for_each_function(visit);
    }
}

impl fmt::Display for Built {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

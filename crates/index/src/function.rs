//! Functions of the user, with declared properties.
//!
//! ```text
//! def gauss(x) = exp(-x * x)
//! def plus_mod7(a, b) = (a + b) % 7 : associative, commutative, identity 0
//!
//! C(i,j) = plus_mod7{k}(gauss(A(i,k)) + B(k,j))
//! ```
//!
//! A call means what the body means with the arguments in place of the
//! parameters: which entries it is stored at and what it is elsewhere follow
//! from the operators of the body. Declared properties add what the body does
//! not show:
//!
//! | property                   | says                            | so that          |
//! |----------------------------|---------------------------------|------------------|
//! | `commutative`              | `f(a, b)` is `f(b, a)`          | it may reduce    |
//! | `associative`              | `f(f(a, b), c)` is `f(a, f(b, c))` | it may reduce |
//! | `identity V`               | `V` beside a value of `f` changes nothing | it may reduce, and skips entries that are `V` |
//! | `idempotent`               | a value of `f` beside itself changes nothing | a fill is reduced once |
//! | `annihilator V [at NAME]`  | `f` is `V` where an argument (or that one) is an unstored `V` | loops intersect |
//!
//! A function of two arguments that is associative, commutative and has an
//! identity reduces, as `plus_mod7{k}(…)`. What is declared is tried on a sample
//! of values, where it is declared ([`UserFunction::check`]) and for the types of each
//! call: a property that does not hold would make wrong loops.
//!
//! Arguments meet in one type, as those of an operator do; a parameter that
//! states its type (`x: f64`) takes its argument as that type.
//!
//! The body is a [`FunctionBody`], whose types are settled for the arguments of each
//! call. Index notation reads one from text:
//!
//! ```
//! use sparsec_base::Scalar;
//! use sparsec_index::Operator;
//! let f = sparsec_notation::parse_function("larger(a, b) = select(a > b, a, b) : annihilator inf")?;
//! assert_eq!(f.to_string(), "larger(a, b) = select(a > b, a, b) : annihilator inf");
//! let value = Operator::Defined(f).evaluate(&[Scalar::F64(2.0), Scalar::F64(3.0)]);
//! assert_eq!(value, Some(Scalar::F64(3.0)));
//! # Ok::<(), sparsec_base::Diagnostic>(())
//! ```

mod check;
mod typed;

pub(crate) use check::Counterexample;
pub use typed::{Body, Size};

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::panic::RefUnwindSafe;
use std::sync::Arc;

use sparsec_base::{ElementType, Result, Scalar, Source, Span};

use crate::expr::Expr;
use crate::operator::Operator;
use crate::program::Tensors;

/// The longest chain of functions that call one another.
pub const MOST_CALLS: usize = 100;

/// A function of the user: cheap to clone, and equal to any other that is
/// written the same.
#[derive(Clone, Debug)]
pub struct UserFunction {
    definition: Arc<Definition>,
    /// The text of its definition, behind those of all functions it calls.
    whole: Arc<str>,
    /// How many functions call one another below this one.
    calls: usize,
    /// What came of trying its properties.
    trials: Arc<check::Trials>,
    /// Its bodies, by the types of arguments that somebody asked for.
    bodies: Arc<typed::Bodies>,
}

/// What a function is.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The name that it is called by.
    pub name: String,
    /// The parameters, in the order of the arguments.
    pub parameters: Vec<Parameter>,
    /// The value.
    pub body: Arc<dyn FunctionBody>,
    /// What is declared of it.
    pub properties: Properties,
    /// The text that it was read from.
    pub source: Source,
    /// The name's place.
    pub span: Span,
}

/// The value of a function, before the types of its arguments are known.
///
/// Its text (`Display`) is the expression as index notation has it: two functions are
/// the same if they are written the same.
pub trait FunctionBody: fmt::Debug + fmt::Display + Send + Sync + RefUnwindSafe {
    /// The value over the parameters, which are scalars with types.
    ///
    /// # Errors
    /// The `E02` code of an operator that does not take such arguments.
    fn typed(&self, parameters: &Tensors) -> Result<Expr>;

    /// Calls `visit` on every function of the user that the body calls.
    fn for_each_function(&self, visit: &mut dyn FnMut(&UserFunction));
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The name.
    pub name: String,
    /// The type that an argument is taken as, if one is stated.
    pub element: Option<ElementType>,
}

/// What is declared of a function. A constant is a truth value, an `i64` or `u64`, an
/// `f64`, or a `c128` without a real part.
#[derive(Clone, Debug, Default)]
pub struct Properties {
    /// The two arguments may change places.
    pub commutative: bool,
    /// It may be applied in any grouping.
    pub associative: bool,
    /// A value beside itself changes nothing.
    pub idempotent: bool,
    /// The identity.
    pub identity: Option<Scalar>,
    /// Values, each with the argument that it annihilates at, if not at all.
    pub annihilators: Vec<(Scalar, Option<usize>)>,
}

impl Properties {
    fn is_empty(&self) -> bool {
        let says_how = self.commutative || self.associative || self.idempotent;
        !says_how && self.identity.is_none() && self.annihilators.is_empty()
    }
}

impl UserFunction {
    /// The function that a definition is of. Nothing is tried: [`check`](Self::check) is.
    pub fn of(definition: Definition) -> Self {
        let mut callees = Vec::new();
        definition
            .body
            .for_each_function(&mut |callee| callees.push(callee.clone()));
        let calls = callees.iter().map(|callee| callee.calls + 1).max();
        let mut whole = Self::definitions(&callees);
        whole.push_str(&definition.to_string());
        Self {
            definition: Arc::new(definition),
            whole: whole.into(),
            calls: calls.unwrap_or(0),
            trials: Arc::default(),
            bodies: Arc::default(),
        }
    }

    /// The name that it is called by.
    pub fn name(&self) -> &str {
        &self.definition.name
    }

    /// How many functions call one another below this one.
    pub fn calls(&self) -> usize {
        self.calls
    }

    /// How many arguments it takes.
    pub fn arity(&self) -> usize {
        self.definition.parameters.len()
    }

    /// Whether it reduces: it has two arguments, is associative and commutative,
    /// and has an identity.
    pub fn reduces(&self) -> bool {
        let properties = &self.definition.properties;
        self.arity() == 2
            && properties.associative
            && properties.commutative
            && properties.identity.is_some()
    }

    /// The types that parameters state.
    pub(crate) fn parameter_types(&self) -> impl Iterator<Item = Option<ElementType>> {
        self.definition
            .parameters
            .iter()
            .map(|parameter| parameter.element)
    }

    /// What it is.
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// Whether the two arguments may change places.
    pub(crate) fn is_commutative(&self) -> bool {
        self.definition.properties.commutative
    }

    /// Whether it may be applied in any grouping.
    pub(crate) fn is_associative(&self) -> bool {
        self.definition.properties.associative
    }

    /// Whether a value beside itself changes nothing.
    pub(crate) fn is_idempotent(&self) -> bool {
        self.definition.properties.idempotent
    }

    /// The declared identity, as a value of this type, if it is one.
    pub(crate) fn identity(&self, element: ElementType) -> Option<Scalar> {
        value_of(self.definition.properties.identity?, element)
    }

    /// The value declared to annihilate at argument `at`, if it is one of this
    /// type.
    pub(crate) fn annihilator(&self, at: usize, element: ElementType) -> Option<Scalar> {
        let mut declared = self.definition.properties.annihilators.iter();
        let found = declared.find(|(_, only)| only.is_none_or(|only| only == at));
        value_of(found?.0, element)
    }

    /// The functions that the bodies of these call, and these, callees first,
    /// each once.
    pub fn with_callees<'a>(functions: impl IntoIterator<Item = &'a Self>) -> Vec<Self> {
        let mut found = Vec::new();
        for function in functions {
            function.add_with_callees(&mut found);
        }
        found
    }

    fn add_with_callees(&self, found: &mut Vec<Self>) {
        if found.contains(self) {
            return;
        }
        self.definition
            .body
            .for_each_function(&mut |callee| callee.add_with_callees(found));
        found.push(self.clone());
    }

    /// The definitions of these and of all that they call, one a line, each
    /// behind `def`.
    pub fn definitions<'a>(functions: impl IntoIterator<Item = &'a Self>) -> String {
        let all = Self::with_callees(functions);
        all.iter()
            .map(|function| format!("def {function}\n"))
            .collect()
    }
}

/// A constant as a value of a type that holds it; `None` of an imaginary one.
fn value_of(constant: Scalar, element: ElementType) -> Option<Scalar> {
    match constant {
        Scalar::C128(_) => None,
        constant => constant.as_type(element),
    }
}

/// A constant as it is written.
fn written(constant: Scalar) -> String {
    match constant {
        Scalar::C128(value) => format!("{}j", Scalar::F64(value.im)),
        constant => constant.to_string(),
    }
}

impl Expr {
    /// Calls `visit` on every function of the user, in the order of the text.
    pub fn for_each_function(&self, visit: &mut dyn FnMut(&UserFunction)) {
        match self {
            Self::Apply { op, args } => {
                if let Operator::Defined(function) = op {
                    visit(function);
                }
                args.iter().for_each(|arg| arg.for_each_function(visit));
            }
            Self::Reduce { op, body, .. } => {
                if let Operator::Defined(function) = op {
                    visit(function);
                }
                body.for_each_function(visit);
            }
            Self::Cast(_, body) => body.for_each_function(visit),
            _ => {}
        }
    }
}

/// As it is written behind `def`.
impl fmt::Display for UserFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.definition.fmt(f)
    }
}

impl fmt::Display for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            parameters,
            body,
            properties,
            ..
        } = self;
        let parameters = parameters.iter().map(|parameter| match parameter.element {
            Some(element) => format!("{}: {element}", parameter.name),
            None => parameter.name.clone(),
        });
        let parameters: Vec<String> = parameters.collect();
        write!(f, "{name}({}) = {body}", parameters.join(", "))?;
        let mut declared = Vec::new();
        for (holds, word) in [
            (properties.associative, "associative"),
            (properties.commutative, "commutative"),
            (properties.idempotent, "idempotent"),
        ] {
            declared.extend(holds.then(|| word.to_owned()));
        }
        declared.extend(
            properties
                .identity
                .map(|value| format!("identity {}", written(value))),
        );
        for (value, at) in &properties.annihilators {
            let value = written(*value);
            declared.push(match at {
                Some(at) => format!("annihilator {value} at {}", self.parameters[*at].name),
                None => format!("annihilator {value}"),
            });
        }
        if declared.is_empty() {
            return Ok(());
        }
        write!(f, " : {}", declared.join(", "))
    }
}

impl PartialEq for UserFunction {
    fn eq(&self, other: &Self) -> bool {
        self.whole == other.whole
    }
}

impl Eq for UserFunction {}

impl PartialOrd for UserFunction {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for UserFunction {
    fn cmp(&self, other: &Self) -> Ordering {
        self.whole.cmp(&other.whole)
    }
}

impl Hash for UserFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.whole.hash(state);
    }
}

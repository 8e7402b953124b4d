//! Formulas as loop IR: terms that record what is done to them.
//!
//! Every operation on a term adds a step to the list that all terms of a formula
//! share. When the formula is done, a step that others use more than once becomes
//! a variable and any other is written where it is used:
//!
//! ```text
//! let t: f64 = abs(a_re)        used twice
//! ( t * 0.5, -t )               the results
//! ```

use std::cell::RefCell;
use std::ops::{Add, Div, Mul, Neg, Sub};
use std::rc::Rc;

use sparsec_base::{ElementType, Scalar};

use super::{Given, Operation, Pair, Real, apply};
use crate::build::Builder;
use crate::ir::{BinaryOp, Expr, Function, Intrinsic, UnaryOp, Var};

/// What a complex operation does to the parts of its operands.
#[derive(Clone, Debug)]
pub struct Formula {
    /// Declarations of what is used more than once; a fragment, not a kernel:
    /// its parameters are variables that nothing declares.
    pub function: Function,
    /// The real and the imaginary part of each operand.
    pub parameters: Vec<(Var, Var)>,
    /// The two parts of the result, or the one value that it is.
    pub results: Vec<Expr>,
}

/// The formula of an operation on complex numbers with parts of type `part`.
///
/// ```
/// use sparsec_base::ElementType;
/// use sparsec_loop::complex::{Operation, formula};
/// use sparsec_loop::BinaryOp;
/// let product = formula(Operation::Binary(BinaryOp::Mul), ElementType::F64);
/// let re = product.function.expr_text(&product.results[0]);
/// assert_eq!(re, "a_re * b_re + a_im * -b_im");
/// ```
///
/// # Panics
/// If complex numbers do not have the operation.
pub fn formula(operation: Operation, part: ElementType) -> Formula {
    let mut builder = Builder::new("formula");
    let steps = Rc::new(RefCell::new(Vec::new()));
    let mut parameters = Vec::new();
    let mut parameter = |name: &str| {
        let mut half = |suffix: &str| {
            let var = builder.fixed(&format!("{name}_{suffix}"), part);
            let term = Term::new(&steps, part, Step::Parameter(var));
            (var, term)
        };
        let ((re, re_term), (im, im_term)) = (half("re"), half("im"));
        parameters.push((re, im));
        Pair::new(re_term, im_term)
    };
    let a = parameter("a");
    let b = (operation.arity() == 2).then(|| parameter("b"));
    let wanted: Vec<usize> = match apply(operation, a, b) {
        Given::Complex(pair) => vec![pair.re.number, pair.im.number],
        Given::Real(value) => vec![value.number],
        Given::Truth(value) => vec![value.number],
    };
    let steps = steps.take();
    let mut writer = Writer {
        uses: uses(&steps, &wanted),
        written: vec![None; steps.len()],
        steps,
    };
    for number in 0..writer.steps.len() {
        let is_leaf = matches!(writer.steps[number], Step::Parameter(_) | Step::Constant(_));
        if writer.uses[number] > 1 && !is_leaf {
            let value = writer.expr(number);
            let var = builder.let_("t", value);
            writer.written[number] = Some(var);
        }
    }
    let results = wanted.iter().map(|&number| writer.expr(number)).collect();
    Formula {
        function: builder.finish(),
        parameters,
        results,
    }
}

/// One operation; operands are numbers of earlier steps.
#[derive(Clone, Debug)]
enum Step {
    Parameter(Var),
    Constant(Scalar),
    Unary(UnaryOp, usize),
    Binary(BinaryOp, usize, usize),
    Call(Intrinsic, Vec<usize>),
    Select(usize, usize, usize),
}

impl Step {
    fn operands(&self) -> Vec<usize> {
        match self {
            Self::Parameter(_) | Self::Constant(_) => Vec::new(),
            Self::Unary(_, a) => vec![*a],
            Self::Binary(_, a, b) => vec![*a, *b],
            Self::Call(_, operands) => operands.clone(),
            Self::Select(c, a, b) => vec![*c, *a, *b],
        }
    }
}

/// How often each step is used by the others that are needed, and as a result.
fn uses(steps: &[Step], wanted: &[usize]) -> Vec<usize> {
    let mut uses = vec![0; steps.len()];
    for number in wanted {
        uses[*number] += 1;
    }
    for (number, step) in steps.iter().enumerate().rev() {
        if uses[number] > 0 {
            for operand in step.operands() {
                uses[operand] += 1;
            }
        }
    }
    uses
}

struct Writer {
    steps: Vec<Step>,
    uses: Vec<usize>,
    /// The variables of the steps that have one.
    written: Vec<Option<Var>>,
}

impl Writer {
    fn expr(&self, number: usize) -> Expr {
        if let Some(var) = self.written[number] {
            return Expr::Var(var);
        }
        let operand = |number: &usize| Box::new(self.expr(*number));
        match &self.steps[number] {
            Step::Parameter(var) => Expr::Var(*var),
            Step::Constant(value) => Expr::Const(*value),
            Step::Unary(op, a) => Expr::Unary(*op, operand(a)),
            Step::Binary(op, a, b) => Expr::Binary(*op, operand(a), operand(b)),
            Step::Call(function, operands) => {
                Expr::Call(*function, operands.iter().map(|n| self.expr(*n)).collect())
            }
            Step::Select(condition, then, otherwise) => Expr::Select {
                condition: operand(condition),
                then: operand(then),
                otherwise: operand(otherwise),
            },
        }
    }
}

/// A number, or a truth value, that is not known yet.
#[derive(Clone)]
struct Term {
    steps: Rc<RefCell<Vec<Step>>>,
    part: ElementType,
    number: usize,
}

impl Term {
    /// A term for a new step.
    fn new(steps: &Rc<RefCell<Vec<Step>>>, part: ElementType, step: Step) -> Self {
        steps.borrow_mut().push(step);
        let number = steps.borrow().len() - 1;
        Self {
            steps: Rc::clone(steps),
            part,
            number,
        }
    }

    fn then(&self, step: Step) -> Self {
        Self::new(&self.steps, self.part, step)
    }

    fn binary(&self, op: BinaryOp, other: &Self) -> Self {
        self.then(Step::Binary(op, self.number, other.number))
    }
}

macro_rules! infix {
    ($($of:ident $method:ident $op:ident)*) => {
        $(impl $of for Term {
            type Output = Self;

            fn $method(self, other: Self) -> Self {
                self.binary(BinaryOp::$op, &other)
            }
        })*
    };
}

infix! { Add add Add Sub sub Sub Mul mul Mul Div div Div }

impl Neg for Term {
    type Output = Self;

    fn neg(self) -> Self {
        self.then(Step::Unary(UnaryOp::Neg, self.number))
    }
}

impl Real for Term {
    type Truth = Self;

    fn constant(&self, value: f64) -> Self {
        let value = match self.part {
            ElementType::F32 => Scalar::F32(value as f32),
            _ => Scalar::F64(value),
        };
        self.then(Step::Constant(value))
    }

    fn abs(self) -> Self {
        self.then(Step::Unary(UnaryOp::Abs, self.number))
    }

    fn call(function: Intrinsic, arguments: &[&Self]) -> Self {
        let numbers = arguments.iter().map(|argument| argument.number).collect();
        arguments[0].then(Step::Call(function, numbers))
    }

    fn equal(&self, other: &Self) -> Self {
        self.binary(BinaryOp::Eq, other)
    }

    fn less(&self, other: &Self) -> Self {
        self.binary(BinaryOp::Lt, other)
    }

    fn and(a: Self, b: Self) -> Self {
        a.binary(BinaryOp::And, &b)
    }

    fn select(condition: &Self, then: &Self, otherwise: &Self) -> Self {
        condition.then(Step::Select(
            condition.number,
            then.number,
            otherwise.number,
        ))
    }
}

//! Programs that are built, rather than read from text.
//!
//! ```
//! use sparsec_base::ElementType::F64;
//! use sparsec_index::Operator::{Add, Mul};
//! use sparsec_index::build::ProgramBuilder;
//!
//! let mut program = ProgramBuilder::new();
//! let y = program.result("y", 1)?;
//! let a = program.input("A", F64, &[Some(3), Some(4)])?;
//! let x = program.input("x", F64, &[None])?;
//! let [i, j] = ["i", "j"].map(|name| program.var(name));
//! let product = [program.access(a, [i, j])?, program.access(x, [j])?];
//! let product = program.apply(&Mul, product)?;
//! let sum = program.reduce(&Add, [j], product)?;
//! program.assign(y, [i], sum)?;
//! let program = program.finish()?;
//!
//! assert_eq!(program.to_string(), "y(i) = sum{j}(A(i,j) * x(j))");
//! assert_eq!(program.tensors[x].extents, [Some(4)]);
//! # Ok::<(), sparsec_base::Diagnostic>(())
//! ```
//!
//! Tensors are arguments of kernels in the order in which they are made. A variable may
//! be used in any number of statements, and each has its own of that name. Types follow
//! the rules of [`typing`](crate::typing): a number takes the type of what it stands
//! beside, and the arguments of an operator meet in one type.
//!
//! Nothing is implied: a sum is a [`reduce`](ProgramBuilder::reduce). What the parts of a
//! program say of extents and fills is worked out by [`finish`](ProgramBuilder::finish).
//!
//! Diagnostics have places in the text that the program prints as.

mod explain;
mod function;
mod own;
mod stored;

use std::collections::BTreeSet;

use sparsec_base::{
    Code, Diagnostic, ElementType, Result, Scalar, Source, Span, check_order, code,
};

use crate::expr::{Access, Expr, MOST_PARTS};
use crate::index_expr::IndexExpr;
use crate::operator::Operator;
use crate::program::{
    IndexVar, IndexVarData, Program, Statement, TensorData, TensorRole, TensorVar, Tensors, Vars,
};
use crate::text::{Names, is_tensor_name};
use crate::typing::{Typed, Typer};
use own::Own;

/// A program of which statements are still added.
///
/// The cost of each call is that of the values that it is given; only an error prints them.
#[derive(Clone, Debug, Default)]
pub struct ProgramBuilder {
    tensors: Tensors,
    /// The variables as values have them.
    named: Vars,
    /// Those of statements, each its own.
    vars: Vars,
    statements: Vec<Statement>,
    /// The results whose type the caller states.
    typed: BTreeSet<TensorVar>,
}

/// An expression with its type.
#[derive(Clone, Debug)]
pub struct Value(Typed);

impl Value {
    /// The expression.
    pub fn expr(&self) -> &Expr {
        &self.0.expr
    }

    /// The type that the language gives it.
    pub fn element(&self) -> ElementType {
        self.0.element
    }
}

impl ProgramBuilder {
    /// A program without statements.
    pub fn new() -> Self {
        Self::default()
    }

    /// A tensor that the caller gives, with the extents of its modes where they are known.
    /// Its fill is zero; [`set_fill`](Self::set_fill) sets another one.
    ///
    /// # Errors
    /// `E0221` for a name that is none, `E0434` for too many modes.
    pub fn input(
        &mut self,
        name: &str,
        element: ElementType,
        extents: &[Option<u64>],
    ) -> Result<TensorVar> {
        self.tensor(name, element, extents.to_vec(), TensorRole::Input)
    }

    /// A tensor that a statement computes. It has the type of what it is assigned, unless
    /// [`set_element`](Self::set_element) says another.
    ///
    /// # Errors
    /// As of [`input`](Self::input).
    pub fn result(&mut self, name: &str, order: usize) -> Result<TensorVar> {
        let extents = vec![None; order];
        self.tensor(name, ElementType::F64, extents, TensorRole::Result)
    }

    fn tensor(
        &mut self,
        name: &str,
        element: ElementType,
        extents: Vec<Option<u64>>,
        role: TensorRole,
    ) -> Result<TensorVar> {
        check_order(extents.len())?;
        let taken = self.tensors.named(name).is_some();
        if taken || !is_tensor_name(name, extents.len()) {
            let why = if taken {
                "another tensor has it"
            } else {
                "it does not read back"
            };
            let message = format!("`{name}` cannot be the name of a tensor: {why}");
            return Err(Diagnostic::new(code::INVALID_NAME, message).help("choose another name"));
        }
        Ok(self.tensors.push(TensorData {
            name: name.to_owned(),
            earlier_of: None,
            element,
            extents,
            fill: element.zero(),
            role,
            span: Span::default(),
            levels_of: None,
        }))
    }

    /// Sets the fill of an operand.
    ///
    /// # Errors
    /// `E0218` for a result, whose fill follows, and for a value that the type does not
    /// hold.
    pub fn set_fill(&mut self, tensor: TensorVar, fill: Scalar) -> Result<()> {
        let data = self.data(tensor)?;
        let (name, element) = (data.name.clone(), data.element);
        let refuse = |message: String, help: &str| {
            Err(Diagnostic::new(code::FILL_MISMATCH, message).help(help))
        };
        if data.role != TensorRole::Input {
            let message = format!("the fill of `{name}` follows from what it is assigned");
            return refuse(message, "state the fills of operands");
        }
        let Some(held) = fill.as_type(element) else {
            let message = format!("`{name}` has fill {fill}, which no {element} is");
            return refuse(message, "use a type that has the fill, such as `f64`");
        };
        self.tensors[tensor].fill = held;
        Ok(())
    }

    /// Says of what type the entries of a result are: what it is assigned is converted.
    ///
    /// # Errors
    /// `E0201` for a tensor of another program.
    pub fn set_element(&mut self, tensor: TensorVar, element: ElementType) -> Result<()> {
        self.data(tensor)?;
        self.tensors[tensor].element = element;
        self.tensors[tensor].fill = element.zero();
        self.typed.insert(tensor);
        Ok(())
    }

    /// An index variable. Several may have one name.
    ///
    /// [`finish`](Self::finish) refuses a name that does not read back.
    pub fn var(&mut self, name: &str) -> IndexVar {
        self.named.push(IndexVarData {
            name: name.to_owned(),
            extent: None,
        })
    }

    /// Gives an index variable its extent, where no tensor does.
    ///
    /// # Errors
    /// `E0204` for a variable of another program.
    pub fn set_extent(&mut self, var: IndexVar, extent: u64) -> Result<()> {
        self.check_var(var)?;
        self.named[var].extent = Some(extent);
        Ok(())
    }

    /// An entry of a tensor.
    ///
    /// # Errors
    /// `E0202` if there is not one index for each mode; `E0201` and `E0204` for a tensor
    /// and a variable of another program.
    pub fn access<I: Into<IndexExpr>>(
        &self,
        tensor: TensorVar,
        indices: impl IntoIterator<Item = I>,
    ) -> Result<Value> {
        let access = self.accessed(tensor, indices)?;
        let element = self.tensors[tensor].element;
        Ok(Value(Typed {
            expr: Expr::Access(access),
            element,
            weak: false,
            span: Span::default(),
        }))
    }

    /// A number. It takes the element type of the operand beside it; a truth value stays `bool`.
    pub fn number(&self, value: Scalar) -> Value {
        let none = none();
        Value(self.typer(&none).number(value, Span::default()))
    }

    /// An index as a number, of type `i64`.
    ///
    /// # Errors
    /// `E0204` for a variable of another program.
    pub fn index(&self, index: impl Into<IndexExpr>) -> Result<Value> {
        let index = index.into();
        self.check_index(&index)?;
        let none = none();
        Ok(Value(
            self.typer(&none).expr(Expr::Index(index), Span::default()),
        ))
    }

    /// An operator applied to its arguments, which meet in one type.
    ///
    /// # Errors
    /// `E0213` for another number of arguments, `E0220` for too large an expression; the codes
    /// of [`Typer::apply`], for types that the operator does not take.
    pub fn apply(&self, op: &Operator, args: impl IntoIterator<Item = Value>) -> Result<Value> {
        let args: Vec<Typed> = args.into_iter().map(|value| value.0).collect();
        if args.len() != op.arity() {
            let (symbol, arity) = (op.symbol(), op.arity());
            let message = format!("`{symbol}` takes {arity} arguments, not {}", args.len());
            return Err(Diagnostic::new(code::ARGUMENT_COUNT, message)
                .help("give as many as the operator takes"));
        }
        let value = self.explained(op, args)?;
        if value.expr().is_too_large() {
            let message = format!("an expression of more than {MOST_PARTS} operators");
            return Err(Diagnostic::new(code::STATEMENT_TOO_LARGE, message)
                .help("give parts of it names, in statements of their own"));
        }
        Ok(value)
    }

    /// A value as another type.
    ///
    /// # Errors
    /// `E0222` and `E0224` for a value that has no such conversion.
    pub fn cast(&self, element: ElementType, value: Value) -> Result<Value> {
        self.shown(value, &|typer, value| typer.cast(element, value))
    }

    /// A value reduced over every value of variables, as `sum{j}(…)` with [`Operator::Add`].
    ///
    /// # Errors
    /// `E0244` for an operator that does not reduce, `E0209` for a variable that the value
    /// lacks, `E0210` for one that is bound in it; those of types.
    pub fn reduce(
        &self,
        op: &Operator,
        vars: impl IntoIterator<Item = IndexVar>,
        value: Value,
    ) -> Result<Value> {
        let vars: Vec<IndexVar> = vars.into_iter().collect();
        if op.reduction_name().is_none() {
            let message = format!("`{}` does not reduce", op.symbol());
            return Err(Diagnostic::new(code::NO_REDUCTION, message)
                .help("these reduce: sums, products, minima, maxima, `and` and `or`"));
        }
        let (used, bound) = (value.expr().vars(), value.expr().bound_vars());
        for (number, var) in vars.iter().enumerate() {
            self.check_var(*var)?;
            let name = &self.named[*var].name;
            let refuse = |code: Code, message: String, help: &str| {
                Err(self.about(Diagnostic::new(code, message).help(help), value.expr()))
            };
            if bound.contains(var) || vars[..number].contains(var) {
                let message = format!("index variable `{name}` is bound twice");
                return refuse(code::SHADOWED_INDEX, message, "use another variable");
            }
            if !used.contains(var) {
                let message = format!("nothing that is reduced depends on `{name}`");
                return refuse(code::UNUSED_REDUCTION, message, "leave the variable out");
            }
        }
        self.shown(value, &|typer, value| {
            let span = value.span;
            typer.reduce(op, span, vars.clone(), value)
        })
    }

    /// Assigns every entry of a result: a statement.
    ///
    /// # Errors
    /// `E0225` if two modes have one variable; `E0226` for a tensor that is given or
    /// assigned already; `E0209` and `E0210` for variables that are bound nowhere or twice;
    /// `E0206` for a tensor that is read and not assigned yet; `E0219` and the like where the
    /// value does not fit the type of the result.
    pub fn assign(
        &mut self,
        tensor: TensorVar,
        vars: impl IntoIterator<Item = IndexVar>,
        value: Value,
    ) -> Result<()> {
        let vars: Vec<IndexVar> = vars.into_iter().collect();
        let lhs = self.accessed(tensor, vars.iter().copied())?;
        let name = self.tensors[tensor].name.clone();
        let refuse = |this: &Self, code: Code, message: String, help: &str| {
            Err(this.about(Diagnostic::new(code, message).help(help), value.expr()))
        };
        if (1..vars.len()).any(|mode| vars[..mode].contains(&vars[mode])) {
            let message = format!("two modes of `{name}` have one variable");
            return refuse(self, code::PARTIAL_RESULT, message, "give each its own");
        }
        let is_assigned = |tensor| self.statements.iter().any(|it| it.lhs.tensor == tensor);
        if self.tensors[tensor].role != TensorRole::Result || is_assigned(tensor) {
            let message = format!("`{name}` has a value already");
            let help = "assign each result once, and give later values names of their own";
            return refuse(self, code::NOT_AN_OPERAND, message, help);
        }
        for access in value.expr().accesses() {
            let data = &self.tensors[access.tensor];
            if data.role == TensorRole::Result && !is_assigned(access.tensor) {
                let message = format!("`{}` is read before it has a value", data.name);
                let help = "assign it in a statement before";
                return refuse(self, code::READ_BEFORE_ASSIGNED, message, help);
            }
        }
        let bound = value.expr().bound_vars();
        for var in value.expr().vars() {
            let name = &self.named[var].name;
            if vars.contains(&var) == bound.contains(&var) {
                let (code, message, help) = match vars.contains(&var) {
                    true => (
                        code::SHADOWED_INDEX,
                        format!("index variable `{name}` is bound twice"),
                        "reduce over another variable",
                    ),
                    false => (
                        code::UNBOUND_INDEX,
                        format!("nothing says how far `{name}` runs"),
                        "reduce over it, or have it on the left",
                    ),
                };
                return refuse(self, code, message, help);
            }
        }
        let mut rhs = value.clone();
        match self.typed.contains(&tensor) {
            true => {
                let element = self.tensors[tensor].element;
                rhs = self.shown(rhs, &|typer, value| typer.convert(value, element))?;
            }
            false => {
                let element = rhs.element();
                self.tensors[tensor].element = element;
                self.tensors[tensor].fill = element.zero();
            }
        }
        let mut own = Own::default();
        let lhs = own.access(self, &lhs);
        let rhs = own.expr(self, &rhs.0.expr);
        self.statements.push(Statement {
            lhs,
            rhs,
            before: None,
            reduce: None,
            span: Span::default(),
        });
        Ok(())
    }

    /// The program, with all extents and fills that follow.
    ///
    /// # Errors
    /// `E0203` for extents that do not fit together; those of [`Program::verify`].
    pub fn finish(self) -> Result<Program> {
        let mut program = Program {
            source: none(),
            tensors: self.tensors,
            vars: self.vars,
            same_extent: Vec::new(),
            statements: self.statements,
        };
        program.settle()?;
        Ok(program)
    }

    fn accessed<I: Into<IndexExpr>>(
        &self,
        tensor: TensorVar,
        indices: impl IntoIterator<Item = I>,
    ) -> Result<Access> {
        let data = self.data(tensor)?;
        let indices: Vec<IndexExpr> = indices.into_iter().map(Into::into).collect();
        if indices.len() != data.order() {
            let (name, order) = (&data.name, data.order());
            let used = indices.len();
            let message = format!("`{name}` has order {order}, but is used with {used} indices");
            return Err(
                Diagnostic::new(code::WRONG_ORDER, message).help("give an index for each mode")
            );
        }
        for index in &indices {
            self.check_index(index)?;
        }
        Ok(Access {
            tensor,
            indices,
            span: Span::default(),
        })
    }

    fn data(&self, tensor: TensorVar) -> Result<&TensorData> {
        match self.tensors.ids().any(|known| known == tensor) {
            true => Ok(&self.tensors[tensor]),
            false => {
                let message = format!("no tensor of this program is `{tensor}`");
                let error = Diagnostic::new(code::UNKNOWN_TENSOR, message);
                Err(error.help("use tensors that this program made"))
            }
        }
    }

    fn check_var(&self, var: IndexVar) -> Result<()> {
        match self.named.ids().any(|known| known == var) {
            true => Ok(()),
            false => {
                let message = format!("no index variable of this program is `{var}`");
                let error = Diagnostic::new(code::UNBOUND_INDEX, message);
                Err(error.help("use index variables that this program made"))
            }
        }
    }

    fn check_index(&self, index: &IndexExpr) -> Result<()> {
        index
            .vars()
            .into_iter()
            .try_for_each(|var| self.check_var(var))
    }

    fn typer<'a>(&'a self, source: &'a Source) -> Typer<'a> {
        Typer {
            source,
            tensors: &self.tensors,
        }
    }

    fn names(&self) -> Names<'_> {
        Names {
            tensors: &self.tensors,
            vars: &self.named,
        }
    }
}

/// No text yet.
fn none() -> Source {
    Source::new("program", "")
}

//! The checks of a program that a front end built: each program is checked once.
//!
//! 1. Each name is one that reads back, no two tensors have one name, none has more than
//!    [`MAX_ORDER`](sparsec_base::MAX_ORDER) modes, and each fill is of its tensor's type.
//! 2. Every access is of a tensor of the program, with an index over variables of the
//!    program for each mode.
//! 3. A result is assigned by exactly one statement, an input by none, and a program has no
//!    workspaces. A statement reads inputs and the results of statements before it.
//! 4. Every variable belongs to one statement, and is on its left side or bound by exactly
//!    one reduction around all of its uses.
//! 5. The arguments of an operator are as many as it takes and of one type, which is one
//!    that it computes on; a reduction is over its accumulator's type; the right side is of
//!    the type of the left.
//! 6. A statement that assigns a whole tensor has neither a value before nor an operator to
//!    combine with it.
//! 7. A right side has at most [`MOST_PARTS`] operators and reductions.
//! 8. A variable and the modes that it stands at alone have one extent, as far as known.
//!
//! Programs that are resolved from text are like this.

use std::collections::BTreeSet;

use sparsec_base::{Code, Diagnostic, ElementType, Result, check_order, code};

use crate::expr::{Access, Expr, MOST_PARTS};
use crate::operator::Operator;
use crate::program::{IndexVar, Program, Statement, TensorRole, TensorVar};
use crate::text::{is_tensor_name, is_word};
use crate::typing::accumulator;

impl Program {
    /// Checks everything that the page lists, in time linear in the program.
    ///
    /// # Errors
    /// A diagnostic whose code says what the first fault is, as of a program of text.
    pub fn verify(&self) -> Result<()> {
        self.verify_tensors()?;
        self.verify_names()?;
        let mut verifier = Verifier {
            program: self,
            assigned: BTreeSet::new(),
            taken: BTreeSet::new(),
        };
        for number in 0..self.statements.len() {
            verifier.statement(number)?;
        }
        for (tensor, data) in self.tensors.iter() {
            if data.role == TensorRole::Result && !verifier.assigned.contains(&tensor) {
                let message = format!("no statement assigns the result `{}`", data.name);
                return Err(Diagnostic::new(code::READ_BEFORE_ASSIGNED, message)
                    .help("assign it, or make it an input"));
            }
        }
        Ok(())
    }

    /// Whether every tensor, index and variable is one of the program, so that it can be
    /// printed. Faults are named by the numbers of statements, counted from 1.
    pub(crate) fn verify_names(&self) -> Result<()> {
        let (n_tensors, n_vars) = (self.tensors.len(), self.vars.len());
        let is_tensor = |tensor: TensorVar| sparsec_base::arena::Id::index(tensor) < n_tensors;
        let is_var = |var: IndexVar| sparsec_base::arena::Id::index(var) < n_vars;
        for (number, statement) in self.statements.iter().enumerate() {
            if statement.rhs.is_too_large() {
                let message = format!(
                    "statement {}: more than {MOST_PARTS} operators and reductions",
                    number + 1
                );
                return Err(Diagnostic::new(code::STATEMENT_TOO_LARGE, message)
                    .help("give parts of it names, in statements of their own"));
            }
            let refuse = |code: Code, what: String| {
                let message = format!("statement {}: {what}", number + 1);
                let help = "make programs with `ProgramBuilder`, whose ids are its own";
                Err(Diagnostic::new(code, message).help(help))
            };
            let mut accesses = statement.rhs.accesses();
            accesses.push(&statement.lhs);
            for access in accesses {
                if !is_tensor(access.tensor) {
                    let what = format!("no tensor of the program is `{}`", access.tensor);
                    return refuse(code::UNKNOWN_TENSOR, what);
                }
                let data = &self.tensors[access.tensor];
                let used = access.indices.len();
                if used != data.order() {
                    let (name, order) = (&data.name, data.order());
                    let what =
                        format!("`{name}` has order {order}, but is used with {used} indices");
                    return refuse(code::WRONG_ORDER, what);
                }
            }
            let before = statement.before.into_iter();
            if let Some(tensor) = before.into_iter().find(|tensor| !is_tensor(*tensor)) {
                let what = format!("no tensor of the program is `{tensor}`");
                return refuse(code::UNKNOWN_TENSOR, what);
            }
            let mut vars = statement.lhs.vars();
            vars.extend(statement.rhs.vars());
            vars.extend(statement.rhs.bound_vars());
            if let Some(var) = vars.into_iter().find(|var| !is_var(*var)) {
                let what = format!("no index variable of the program is `{var}`");
                return refuse(code::UNBOUND_INDEX, what);
            }
        }
        let mut same = self.same_extent.iter().flat_map(|(a, b)| [a, b]);
        match same.find(|var| !is_var(**var)) {
            Some(var) => {
                let message = format!("no index variable of the program is `{var}`");
                Err(Diagnostic::new(code::UNBOUND_INDEX, message)
                    .help("have variables of the program share an extent"))
            }
            None => Ok(()),
        }
    }

    fn verify_tensors(&self) -> Result<()> {
        let mut names = BTreeSet::new();
        for (_, data) in self.tensors.iter() {
            let name = &data.name;
            check_order(data.order())?;
            let refuse = |code: Code, message: String, help: &str| {
                Err(Diagnostic::new(code, message).help(help))
            };
            let order = data.order();
            if !is_tensor_name(name, order) || !is_tensor_name(data.source_name(), order) {
                let message = format!("`{name}` cannot be the name of a tensor");
                return refuse(code::INVALID_NAME, message, "choose another name");
            }
            if !names.insert(name) {
                let message = format!("two tensors have the name `{name}`");
                return refuse(code::INVALID_NAME, message, "choose another name");
            }
            if data.fill.element() != data.element {
                let (fill, element) = (data.fill, data.element);
                let message = format!("`{name}` is of {element}, and its fill {fill} is not");
                return refuse(code::FILL_MISMATCH, message, "give a fill of that type");
            }
            if data.role == TensorRole::Workspace {
                let message = format!("`{name}` is a workspace, and programs have none");
                let help = "make it a result: planning decides what is kept";
                return refuse(code::UNKNOWN_TENSOR, message, help);
            }
        }
        for (_, data) in self.vars.iter() {
            if !is_word(&data.name) {
                let message = format!("`{}` cannot be the name of an index variable", data.name);
                return Err(
                    Diagnostic::new(code::INVALID_NAME, message).help("choose another name")
                );
            }
        }
        Ok(())
    }
}

struct Verifier<'a> {
    program: &'a Program,
    /// The tensors that statements so far assign.
    assigned: BTreeSet<TensorVar>,
    /// The variables of statements so far.
    taken: BTreeSet<IndexVar>,
}

impl Verifier<'_> {
    fn statement(&mut self, number: usize) -> Result<()> {
        let statement = &self.program.statements[number];
        self.tensors(statement)?;
        self.variables(statement)?;
        let data = &self.program.tensors[statement.lhs.tensor];
        let found = self.types(statement, &statement.rhs)?;
        let wanted = match statement.reduce {
            Some(_) => data.element.computed(),
            None => data.element,
        };
        if found != wanted && found != data.element {
            let message = format!(
                "`{}` is of {wanted}, and what it is assigned of {found}",
                data.name
            );
            return self.refuse(
                statement,
                code::TYPE_MISMATCH,
                message,
                "convert the right side to the type of the result",
            );
        }
        self.extents(statement, &statement.lhs)?;
        for access in statement.rhs.accesses() {
            self.extents(statement, access)?;
        }
        self.assigned.insert(statement.lhs.tensor);
        Ok(())
    }

    fn refuse<T>(
        &self,
        statement: &Statement,
        code: Code,
        message: String,
        help: &str,
    ) -> Result<T> {
        Err(Diagnostic::new(code, message)
            .at(&self.program.source, statement.span, "in this statement")
            .help(help))
    }

    fn tensors(&self, statement: &Statement) -> Result<()> {
        let result = &self.program.tensors[statement.lhs.tensor];
        let name = &result.name;
        if result.role != TensorRole::Result || self.assigned.contains(&statement.lhs.tensor) {
            let message = format!("`{name}` has a value already");
            let help = "assign each result once: later values are tensors of their own";
            return self.refuse(statement, code::NOT_AN_OPERAND, message, help);
        }
        let read = statement
            .rhs
            .accesses()
            .into_iter()
            .map(|access| access.tensor);
        for tensor in read.chain(statement.before) {
            let data = &self.program.tensors[tensor];
            if data.role == TensorRole::Result && !self.assigned.contains(&tensor) {
                let message = format!("`{}` is read before it has a value", data.name);
                let help = "put the statement that assigns it first";
                return self.refuse(statement, code::READ_BEFORE_ASSIGNED, message, help);
            }
        }
        let combines = statement.before.is_some() || statement.reduce.is_some();
        if combines && !statement.is_partial() {
            let message = format!("`{name}` is assigned as a whole, and beside a value before");
            let help = "write the value before into the right side";
            return self.refuse(statement, code::PARTIAL_RESULT, message, help);
        }
        Ok(())
    }

    fn variables(&mut self, statement: &Statement) -> Result<()> {
        let name = |var: IndexVar| &self.program.vars[var].name;
        let left = statement.lhs.vars();
        let mut own: BTreeSet<IndexVar> = left.iter().copied().collect();
        for var in statement.rhs.bound_vars() {
            if !own.insert(var) {
                let message = format!("index variable `{}` is bound twice", name(var));
                let help = "reduce over a variable of its own";
                return self.refuse(statement, code::SHADOWED_INDEX, message, help);
            }
        }
        let mut scope = left;
        if let Some(var) = unbound(&statement.rhs, &mut scope) {
            let message = format!("nothing says how far `{}` runs", name(var));
            let help = "reduce over it around all of its uses, or have it on the left";
            return self.refuse(statement, code::UNBOUND_INDEX, message, help);
        }
        if let Some(var) = own.iter().find(|var| self.taken.contains(var)) {
            let message = format!("`{}` is a variable of an earlier statement", name(*var));
            let help = "give each statement variables of its own";
            return self.refuse(statement, code::SHADOWED_INDEX, message, help);
        }
        self.taken.extend(own);
        Ok(())
    }

    /// The type of an expression whose parts fit together.
    fn types(&self, statement: &Statement, expr: &Expr) -> Result<ElementType> {
        let refuse = |code, message, help| self.refuse(statement, code, message, help);
        match expr {
            Expr::Literal(value) => Ok(value.element()),
            Expr::Access(access) => Ok(self.program.tensors[access.tensor].element),
            Expr::Index(_) => Ok(ElementType::I64),
            Expr::Cast(element, body) => {
                let from = self.types(statement, body)?;
                let loses = from.is_complex() && !element.is_complex();
                if loses && *element != ElementType::Bool {
                    let message = format!("a complex number is no {element}");
                    return refuse(code::COMPLEX_AS_REAL, message, "take a part of it");
                }
                Ok(*element)
            }
            Expr::Apply { op, args } => {
                let symbol = op.symbol();
                if args.len() != op.arity() {
                    let message = format!(
                        "`{symbol}` takes {} arguments, not {}",
                        op.arity(),
                        args.len()
                    );
                    let help = "give as many as the operator takes";
                    return refuse(code::ARGUMENT_COUNT, message, help);
                }
                let types = args.iter().map(|arg| self.types(statement, arg));
                let types = types.collect::<Result<Vec<ElementType>>>()?;
                if let Operator::Defined(function) = op {
                    return function.body(&types).map(|body| body.element());
                }
                let first = usize::from(*op == Operator::Select);
                let element = types[types.len() - 1];
                let is_condition = first == 0 || types[0] == ElementType::Bool;
                let is_one = types[first..].iter().all(|it| *it == element);
                if !is_condition || !is_one || !op.takes(element) {
                    let types: Vec<&str> = types.iter().map(|it| it.name()).collect();
                    let message = format!("`{symbol}` is not for {}", types.join(", "));
                    let help = "convert the arguments to one type that the operator takes";
                    return refuse(code::TYPE_MISMATCH, message, help);
                }
                Ok(op.result_type(&types))
            }
            Expr::Reduce { op, vars, body } => {
                let element = self.types(statement, body)?;
                let name = op.symbol();
                if vars.is_empty() {
                    let message = format!("a reduction with `{name}` is over no variable");
                    let help = "leave the reduction out";
                    return refuse(code::UNUSED_REDUCTION, message, help);
                }
                let reduces = op.reduction_name().is_some() && op.identity(element).is_some();
                if !reduces || !op.takes(element) || accumulator(op, element) != element {
                    let message = format!("`{name}` does not reduce {element}");
                    let help = "convert what is reduced to the type that it is added up in";
                    return refuse(code::NO_REDUCTION, message, help);
                }
                Ok(element)
            }
        }
    }

    fn extents(&self, statement: &Statement, access: &Access) -> Result<()> {
        let data = &self.program.tensors[access.tensor];
        for (mode, (index, extent)) in access.indices.iter().zip(&data.extents).enumerate() {
            let Some(var) = index.as_var() else { continue };
            let of_var = &self.program.vars[var];
            if let (Some(a), Some(b)) = (*extent, of_var.extent)
                && a != b
            {
                let (name, tensor) = (&of_var.name, data.source_name());
                let message = format!("index variable `{name}` has two extents, {b} and {a}");
                let error = Diagnostic::new(code::EXTENT_MISMATCH, message);
                let label = format!("mode {mode} of `{tensor}` has extent {a}");
                let span = match access.span == Default::default() {
                    true => statement.span,
                    false => access.span,
                };
                return Err(error
                    .at(&self.program.source, span, label)
                    .help("give tensors and variables extents that fit together"));
            }
        }
        Ok(())
    }
}

/// A variable that is used outside of its loop or reduction.
fn unbound(expr: &Expr, scope: &mut Vec<IndexVar>) -> Option<IndexVar> {
    let free =
        |vars: Vec<IndexVar>, scope: &[IndexVar]| vars.into_iter().find(|var| !scope.contains(var));
    match expr {
        Expr::Literal(_) => None,
        Expr::Access(access) => free(access.vars(), scope),
        Expr::Index(index) => free(index.vars().into_iter().collect(), scope),
        Expr::Apply { args, .. } => args.iter().find_map(|arg| unbound(arg, scope)),
        Expr::Cast(_, body) => unbound(body, scope),
        Expr::Reduce { vars, body, .. } => {
            let n_outer = scope.len();
            scope.extend(vars);
            let found = unbound(body, scope);
            scope.truncate(n_outer);
            found
        }
    }
}

//! One statement: index variables bound, sums inserted, types settled.

use sparsec_base::{Diagnostic, ElementType, Result, Scalar, Span, code};
use sparsec_index::function::Size;
use sparsec_index::{
    Access, Expr, IndexExpr, IndexVar, IndexVarData, Operator, Program, Statement, TensorVar,
};

use super::Declarations;
use super::extents::Uses;
use super::scope::{Sums, free_vars, implied};
use super::tensors::{Firsts, Named};
use crate::syntax::{Assignment, Index, Node, NodeKind, TensorUse, Word};
use sparsec_index::typing::{Typed, Typer, accumulator};

/// What is known before a statement is resolved.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    /// The tensors that it names.
    pub(crate) named: &'a Named,
    /// The first tensor of each name of the program.
    pub(crate) firsts: &'a Firsts<'a>,
    pub(crate) declarations: &'a Declarations,
}

/// The typed statement that `assignment` is. Its index variables are added to
/// the program, and its tensor gets the type of the right side.
pub(crate) fn resolve(
    program: &mut Program,
    known: Known<'_>,
    uses: &mut Uses,
    assignment: &Assignment,
) -> Result<Statement> {
    let mut resolver = Resolver {
        named: known.named,
        firsts: known.firsts,
        sums: implied(&program.source, assignment)?,
        op: assignment.op.clone().unwrap_or(Operator::Add),
        first_var: program.vars.len(),
        program,
        declarations: known.declarations,
        uses,
        bound: Vec::new(),
        summed: Vec::new(),
        n_left: 0,
    };
    resolver.check_sets(assignment)?;
    let lhs = resolver.left_side(&assignment.lhs)?;
    resolver.n_left = resolver.bound.len();
    let rhs = resolver.node(&assignment.rhs)?;
    let mut statement = Statement {
        lhs,
        rhs: Expr::Literal(Scalar::Bool(false)),
        before: None,
        reduce: None,
        span: assignment.span,
    };
    if statement.is_partial() {
        statement.before = known.named.before;
        statement.reduce = assignment.op.clone();
    }
    statement.rhs = resolver.assigned(assignment, &statement, rhs)?;
    if calls_functions(&assignment.rhs) {
        let typer = resolver.typer();
        let size = Size::of_whole(&statement.rhs, typer.tensors);
        typer.check_size(size, assignment.rhs.span)?;
    }
    Ok(statement)
}

fn calls_functions(node: &Node) -> bool {
    let mut calls = false;
    node.for_each_function(&mut |_| calls = true);
    calls
}

struct Resolver<'a> {
    named: &'a Named,
    firsts: &'a Firsts<'a>,
    program: &'a mut Program,
    declarations: &'a Declarations,
    uses: &'a mut Uses,
    sums: Sums,
    /// The operator of sums that are implied.
    op: Operator,
    /// How many variables earlier statements have.
    first_var: usize,
    /// The variables in scope, inner ones last, with where they are bound.
    bound: Vec<(Word, IndexVar)>,
    /// The first variable of each name that an implied sum goes over.
    summed: Vec<(Word, IndexVar)>,
    /// How many of them are on the left side.
    n_left: usize,
}

impl Resolver<'_> {
    fn typer(&self) -> Typer<'_> {
        Typer {
            source: &self.program.source,
            tensors: &self.program.tensors,
        }
    }

    /// Refuses a set that is a number and counted by a name that is no index variable of the
    /// statement: `x(i) * A({0,2})` is missing one.
    fn check_sets(&self, assignment: &Assignment) -> Result<()> {
        let mut vars: Vec<&Word> = Vec::new();
        for index in &assignment.lhs.indices {
            vars.extend(index.vars());
        }
        assignment.rhs.for_each_access(&mut |access| {
            vars.extend(access.indices.iter().flat_map(Index::vars));
        });
        assignment.rhs.for_each_bound(&mut |word| vars.push(word));
        let mut counted = None;
        assignment.rhs.for_each_number(&mut |index| {
            let own = index.vars().into_iter().find(|word| !vars.contains(word));
            counted = counted.or(own
                .filter(|_| index.as_var().is_none())
                .map(|word| (word, index)));
        });
        let Some((word, index)) = counted else {
            return Ok(());
        };
        let name = &word.text;
        let message = format!("`{index}` is a set without the variable that counts it");
        Err(Diagnostic::new(code::UNEXPECTED_TOKEN, message)
            .at(
                &self.program.source,
                word.span,
                "no index variable of the statement",
            )
            .help(format!(
                "to read `{name}` at these coordinates, write `{name}(i(…))` with an index variable"
            )))
    }

    fn left_side(&mut self, tensor: &TensorUse) -> Result<Access> {
        for index in tensor.indices.iter().flat_map(Index::vars) {
            if self.bound.iter().any(|(word, _)| word == index) {
                continue;
            }
            let var = self.new_var(index);
            self.bound.push((index.clone(), var));
        }
        let access = self.access(self.named.result, tensor, true)?;
        self.check_left(tensor, &access)?;
        Ok(access)
    }

    /// Refuses a left side that is the same for every value of a variable it names:
    /// how often an entry is assigned would no longer be known.
    fn check_left(&self, written: &TensorUse, access: &Access) -> Result<()> {
        let vars = access.vars();
        let lost = written.indices.iter().flat_map(Index::vars).find(|word| {
            let bound = self.bound.iter().find(|(known, _)| known == *word);
            bound.is_some_and(|(_, var)| !vars.contains(var))
        });
        let Some(word) = lost else { return Ok(()) };
        let source = &self.program.source;
        let (left, var) = (source.slice(written.span), &word.text);
        Err(Diagnostic::new(
            code::PARTIAL_RESULT,
            format!("`{left}` cannot be assigned"),
        )
        .at(
            source,
            word.span,
            format!("it is the same entry whatever `{var}` is"),
        )
        .help(format!(
            "write the coordinate as a number, and `sum{{{var}}}(…)` on the right if that is meant"
        )))
    }

    /// A variable for `word`, whose name no other one of this statement has.
    fn new_var(&mut self, word: &Word) -> IndexVar {
        let vars = &self.program.vars;
        let taken = |name: &str| {
            let mut of_statement = vars.ids_from(self.first_var);
            of_statement.any(|var| vars[var].name == name)
        };
        let mut name = word.text.clone();
        let mut number = 0;
        while taken(&name) {
            number += 1;
            name = format!("{}{number}", word.text);
        }
        let extent = self.declarations.extents.get(&word.text).copied();
        let var = self.program.vars.push(IndexVarData { name, extent });
        self.uses.note_var(var, &word.text, extent);
        var
    }

    /// The access; every index is bound by now.
    fn access(&mut self, id: TensorVar, tensor: &TensorUse, is_left: bool) -> Result<Access> {
        let indices = tensor.indices.iter().map(|index| self.index(index));
        let indices = indices.collect::<Result<Vec<IndexExpr>>>()?;
        self.uses.note_access(id, &indices, tensor, is_left);
        Ok(Access {
            tensor: id,
            indices,
            span: tensor.span,
        })
    }

    /// The index over variables that are bound by now.
    fn index(&self, index: &Index) -> Result<IndexExpr> {
        index.expr(&self.program.source, &|name| {
            let mut inner_first = self.bound.iter().rev();
            let found = inner_first.find(|(word, _)| word == name);
            Ok(found.expect("free variables are summed over").1)
        })
    }

    /// Refuses an index as a number whose name a tensor has too.
    fn check_index_value(&self, index: &Index) -> Result<()> {
        let Some(word) = index.as_var() else {
            return Ok(());
        };
        let name = &word.text;
        let declared = self.declarations.knows(name);
        let tensor = self.firsts.get(name.as_str());
        if !declared && tensor.is_none() {
            return Ok(());
        }
        let message = format!("`{name}` is an index variable and a tensor");
        let error = Diagnostic::new(code::TENSOR_OR_INDEX, message).at(
            &self.program.source,
            word.span,
            "which one?",
        );
        let error = match tensor {
            Some(first) => {
                let span = self.program.tensors[*first].span;
                error.also(&self.program.source, span, "the tensor")
            }
            None => error,
        };
        Err(error.help("rename one of them"))
    }

    /// A part of the right side, summed over what is implied there.
    fn node(&mut self, node: &Node) -> Result<Typed> {
        let implied = self.sums.of(node).to_vec();
        if implied.is_empty() {
            return self.part(node);
        }
        let outer = self.bound.len();
        let vars = implied.iter().map(|word| {
            let var = self.new_var(word);
            match self.summed.iter().find(|(known, _)| known == word) {
                Some((_, first)) => self.program.same_extent.push((*first, var)),
                None => self.summed.push((word.clone(), var)),
            }
            self.bound.push((word.clone(), var));
            var
        });
        let vars: Vec<IndexVar> = vars.collect();
        let body = self.part(node)?;
        self.bound.truncate(outer);
        self.typer().reduce(&self.op, node.span, vars, body)
    }

    fn part(&mut self, node: &Node) -> Result<Typed> {
        match &node.kind {
            NodeKind::Number(number) => Ok(self.typer().number(number.value(), node.span)),
            NodeKind::Access(tensor) => {
                let id = self.named.read[&tensor.name.text];
                let access = self.access(id, tensor, false)?;
                Ok(self.typer().expr(Expr::Access(access), node.span))
            }
            NodeKind::Index(index) => {
                self.check_index_value(index)?;
                let value = self.index(index)?;
                self.uses.numbers.push((value.clone(), index.clone()));
                Ok(self.typer().expr(Expr::Index(value), node.span))
            }
            NodeKind::Apply { op, op_span, args } => {
                // A loop: the frames of `collect` would fill the stack of a thread on
                // sums of hundreds of terms, each inside the next.
                let mut typed = Vec::with_capacity(args.len());
                for arg in args {
                    typed.push(self.node(arg)?);
                }
                self.typer().apply(op, op_span.0, typed, node.span)
            }
            NodeKind::Cast(element, body) => {
                let body = self.node(body)?;
                self.typer().cast(*element, body)
            }
            NodeKind::Reduce {
                op,
                stored,
                vars,
                body,
            } => {
                let reduced = self.reduction(op, vars, body, node.span)?;
                Ok(match stored {
                    true => self.of_stored(reduced),
                    false => reduced,
                })
            }
        }
    }

    fn reduction(
        &mut self,
        op: &Operator,
        words: &[Word],
        body: &Node,
        span: Span,
    ) -> Result<Typed> {
        let used = free_vars(body);
        let outer = self.bound.len();
        let mut vars = Vec::new();
        for word in words {
            self.check_binding(word, &used)?;
            let var = self.new_var(word);
            self.bound.push((word.clone(), var));
            vars.push(var);
        }
        let body = self.node(body)?;
        self.bound.truncate(outer);
        let typed = self.typer().reduce(op, span, vars, body)?;
        Ok(Typed { span, ..typed })
    }

    /// A reduction to which what is not stored adds nothing.
    fn of_stored(&self, mut reduction: Typed) -> Typed {
        if let Expr::Reduce { op, body, .. } = &mut reduction.expr {
            let identity = op.identity(body.element(&self.program.tensors));
            let identity = identity.expect("only such operators reduce");
            **body = body.clone().where_stored(identity);
        }
        reduction
    }

    fn check_binding(&self, word: &Word, used: &[Word]) -> Result<()> {
        let name = &word.text;
        if let Some((first, _)) = self.bound.iter().find(|(known, _)| known == word) {
            let message = format!("`{name}` is an index variable already");
            return Err(Diagnostic::new(code::SHADOWED_INDEX, message)
                .at(&self.program.source, word.span, "bound again")
                .also(&self.program.source, first.span, "first here")
                .help("rename one of them"));
        }
        if !used.contains(word) {
            let message = format!("the reduction runs over `{name}`, but does not use it");
            // A sum over `j` is implied around a reduction that lacks it.
            let left = &self.bound[..self.n_left];
            let is_free = |var: &&Word| !left.iter().any(|(known, _)| known == *var);
            let mut free: Vec<&str> = Vec::new();
            for var in used.iter().filter(is_free) {
                if !free.contains(&var.text.as_str()) {
                    free.push(&var.text);
                }
            }
            return Err(Diagnostic::new(code::UNUSED_REDUCTION, message)
                .at(&self.program.source, word.span, "not in the body")
                .help(match free[..] {
                    [] => "leave the reduction out: its body has no variable of its own".to_owned(),
                    [only] => format!("did you mean `{only}`?"),
                    _ => format!("its body has `{}`", free.join("`, `")),
                }));
        }
        Ok(())
    }

    /// The right side as the type of the tensor, which it decides unless that
    /// was declared, or the tensor goes on from a value that it has.
    fn assigned(
        &mut self,
        assignment: &Assignment,
        statement: &Statement,
        rhs: Typed,
    ) -> Result<Expr> {
        let name = &assignment.lhs.name.text;
        // Reducing checks this too, but there may be nothing to reduce.
        let span = rhs.span;
        let mut rhs = self.typer().reduce(&self.op, span, Vec::new(), rhs)?;
        let declared = self.declarations.get(name).and_then(|known| known.element);
        if statement.is_partial() {
            let before = self.named.before.map(|it| self.program.tensors[it].element);
            let element = declared.or(before).unwrap_or(match &statement.reduce {
                Some(op) => accumulator(op, rhs.element),
                None => rhs.element,
            });
            self.set_element(statement.lhs.tensor, element);
            let computed = match &statement.reduce {
                Some(op) => accumulator(op, element).computed(),
                None => element,
            };
            let rhs = self.typer().convert(rhs, computed)?;
            // The operator takes what the tensor has, too.
            let rhs = self.typer().reduce(&self.op, span, Vec::new(), rhs)?;
            return Ok(rhs.expr);
        }
        let mut element = declared.unwrap_or(rhs.element);
        if let (Some(op), Some(before)) = (&assignment.op, self.named.before) {
            let access = self.access(before, &assignment.lhs, false)?;
            element = declared.unwrap_or(self.program.tensors[before].element);
            let value = self.typer().expr(Expr::Access(access), assignment.lhs.span);
            rhs = self
                .typer()
                .apply(op, span, vec![value, rhs], assignment.span)?;
        }
        let rhs = self.typer().convert(rhs, element)?;
        self.set_element(statement.lhs.tensor, rhs.element);
        Ok(rhs.expr)
    }

    fn set_element(&mut self, tensor: TensorVar, element: ElementType) {
        let data = &mut self.program.tensors[tensor];
        if data.element != element {
            data.element = element;
            data.fill = element.zero();
        }
    }
}

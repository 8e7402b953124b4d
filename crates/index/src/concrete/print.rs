//! Concrete notation as text: on one line where it fits, else each part of a
//! `where` on lines of its own, further in.

use std::convert::Infallible;
use std::fmt::{self, Write};

use super::{Clause, Concrete, Stmt};
use crate::expr::Expr;
use crate::function::UserFunction;
use crate::operator::{Operator, assignment_symbol};
use crate::text::Names;

/// The longest line that is not broken.
const WIDTH: usize = 72;

impl Concrete {
    fn names(&self) -> Names<'_> {
        Names {
            tensors: &self.tensors,
            vars: &self.vars,
        }
    }

    /// An expression of this statement as text.
    pub fn expr_text(&self, expr: &Expr) -> String {
        self.names().expr(expr)
    }

    /// The functions of the user that the statement calls, callees first.
    pub fn functions(&self) -> Vec<UserFunction> {
        let mut found = Vec::new();
        self.stmt.for_each_assign(&mut |_, reduce, rhs| {
            if let Some(Operator::Defined(function)) = reduce {
                found.push(function.clone());
            }
            rhs.for_each_function(&mut |function| found.push(function.clone()));
        });
        UserFunction::with_callees(&found)
    }

    /// The statement, or a part of it, as text.
    pub fn stmt_text(&self, stmt: &Stmt) -> String {
        let mut out = String::new();
        self.write(&mut out, stmt, 0);
        out
    }

    /// Writes `stmt` at a line that is `indent` in.
    fn write(&self, out: &mut String, stmt: &Stmt, indent: usize) {
        let line = self.line(stmt);
        if indent + line.len() <= WIDTH || matches!(stmt, Stmt::Assign { .. }) {
            out.push_str(&line);
            return;
        }
        let (vars, body) = stmt.nest();
        let loops: Vec<String> = vars
            .iter()
            .map(|var| format!("forall {}:", self.vars[*var].name))
            .collect();
        out.push_str(&loops.join(" "));
        let mut kinds = Vec::new();
        let (keyword, parts): (&str, Vec<&Stmt>) = match body {
            Stmt::Where { consumer, producer } => {
                kinds = self.kinds_of(producer);
                ("where(", vec![consumer, producer])
            }
            Stmt::Sequence(stmts) => ("sequence(", stmts.iter().collect()),
            _ => ("", vec![body]),
        };
        if !keyword.is_empty() && !vars.is_empty() {
            out.push(' ');
        }
        out.push_str(keyword);
        for (at, part) in parts.iter().enumerate() {
            out.push_str(if at > 0 { ",\n" } else { "\n" });
            out.push_str(&" ".repeat(indent + 2));
            self.write(out, part, indent + 2);
        }
        for kind in kinds {
            out.push_str(",\n");
            out.push_str(&" ".repeat(indent + 2));
            out.push_str(&kind);
        }
        if !keyword.is_empty() {
            out.push(')');
        }
    }

    /// How the temporaries of a producer are kept, where that is said: `w : hashed`.
    fn kinds_of(&self, producer: &Stmt) -> Vec<String> {
        let said = producer.temporaries().into_iter().filter_map(|tensor| {
            let kind = self.kinds.get(&tensor)?;
            Some(format!("{} : {kind}", self.tensors[tensor].name))
        });
        said.collect()
    }

    /// The statement on one line.
    fn line(&self, stmt: &Stmt) -> String {
        let mut out = String::new();
        match stmt {
            Stmt::Assign { lhs, reduce, rhs } => {
                let symbol = reduce
                    .as_ref()
                    .map_or_else(|| "=".to_owned(), assignment_symbol);
                let (lhs, rhs) = (self.names().access(lhs), self.names().expr(rhs));
                // Writing to a string cannot fail.
                let _ = write!(out, "{lhs} {symbol} {rhs}");
            }
            Stmt::Forall { var, body } => {
                let _ = write!(out, "forall {}: {}", self.vars[*var].name, self.line(body));
            }
            Stmt::Where { consumer, producer } => {
                let (consumer, kinds) = (self.line(consumer), self.kinds_of(producer));
                let _ = write!(out, "where({consumer}, {}", self.line(producer));
                for kind in kinds {
                    let _ = write!(out, ", {kind}");
                }
                out.push(')');
            }
            Stmt::Sequence(stmts) => {
                let lines: Vec<String> = stmts.iter().map(|stmt| self.line(stmt)).collect();
                let _ = write!(out, "sequence({})", lines.join(", "));
            }
        }
        out
    }
}

impl Concrete {
    /// A clause of this statement as text.
    pub fn clause_text(&self, clause: &Clause) -> String {
        let named: Result<Clause<&str, &str>, Infallible> = clause.try_map(
            &mut |var| Ok(self.vars[*var].name.as_str()),
            &mut |tensor| Ok(self.tensors[*tensor].name.as_str()),
        );
        let Ok(named) = named;
        named.to_string()
    }
}

impl fmt::Display for Concrete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&UserFunction::definitions(&self.functions()))?;
        let stmt = self.stmt_text(&self.stmt);
        f.write_str(&stmt)?;
        if self.clauses.is_empty() {
            return Ok(());
        }
        let clauses = self.clauses().map(|clause| self.clause_text(clause));
        let clauses = format!("suchthat({})", clauses.collect::<Vec<_>>().join(", "));
        let fits = !stmt.contains('\n') && stmt.len() + 1 + clauses.len() <= WIDTH;
        write!(f, "{}{clauses}", if fits { ' ' } else { '\n' })
    }
}

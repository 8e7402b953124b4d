//! Nests of loops that combine into one row.

use std::collections::HashSet;

use crate::ir::{BinaryOp, Block, Buffer, Expr, Function, Stmt, Var};
use crate::mark::Mark;
use crate::passes::collapse;
use crate::walk::for_each_stmt;

/// The entries of `buffer` from `base` on, as many as `extent`.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) buffer: Buffer,
    pub(super) base: Expr,
    pub(super) extent: Var,
    /// The variables of the loops over it.
    pub(super) vars: Vec<Var>,
}

/// Whether a statement is a loop whose iterations may run at once, yet are not in
/// chunks: they share what they use.
pub(super) fn is_shared(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::For { mark, .. } if mark.parallel.is_some())
}

/// Whether a variable is an extent of an argument, and so not negative.
pub(super) fn is_extent(function: &Function, var: Var) -> bool {
    function.is_extent(&var.into())
}

/// Whether a variable is an extent of an argument, or the number of places along several modes
/// of one.
fn is_length(function: &Function, var: Var) -> bool {
    is_extent(function, var) || collapse::modes_of(function, var).is_some()
}

/// `n`, of a range from `x * n` to `(x + 1) * n`, or from 0 to `n`.
pub(super) fn length(lo: &Expr, hi: &Expr) -> Option<Var> {
    if let (Expr::Const(_), Expr::Var(len)) = (lo, hi) {
        return (*lo == Expr::int(0)).then_some(*len);
    }
    let Expr::Binary(BinaryOp::Mul, next, n) = hi else {
        return None;
    };
    let Expr::Var(len) = **n else {
        return None;
    };
    let is_row = match (lo, &**next) {
        (Expr::Binary(BinaryOp::Mul, x, same), Expr::Binary(BinaryOp::Add, before, one)) => {
            same == n && x == before && **one == Expr::int(1)
        }
        _ => false,
    };
    is_row.then_some(len)
}

/// The row that a nest combines into, if that is all it does and if it may run
/// again for another part of the row.
pub(super) fn row_of(function: &Function, nest: &Stmt) -> Option<Row> {
    let is_loop = match nest {
        Stmt::For { mark, .. } => !mark.chunks && mark.parallel.is_none(),
        Stmt::While { .. } => true,
        _ => false,
    };
    if !is_loop || row_loop(function, nest).is_some() {
        return None;
    }
    let mut search = Search {
        function,
        row: None,
        written: HashSet::new(),
        outside: HashSet::new(),
        inside: HashSet::new(),
    };
    search.stmt(nest)?;
    let row = search.row.take()?;
    let is_fixed = !row
        .base
        .any(&mut |part| matches!(part, Expr::Var(var) if search.written.contains(var)));
    let mut is_used = false;
    nest.for_each(&mut |stmt| {
        stmt.for_each_expr(&mut |expr| {
            is_used |= expr.any(&mut |part| match part {
                Expr::Load { buffer, .. } => *buffer == row.buffer,
                Expr::Var(var) => search.outside.contains(var),
                _ => false,
            });
        });
    });
    (is_fixed && !is_used).then_some(row)
}

struct Search<'f> {
    function: &'f Function,
    row: Option<Row>,
    /// Variables that the nest declares or assigns.
    written: HashSet<Var>,
    /// Variables of outside that it gives constants.
    outside: HashSet<Var>,
    /// Variables that it declares.
    inside: HashSet<Var>,
}

impl Search<'_> {
    fn block(&mut self, block: &Block) -> Option<()> {
        block.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    /// `None` if a statement must not run again.
    fn stmt(&mut self, stmt: &Stmt) -> Option<()> {
        self.written.extend(stmt.written_var());
        if let Some(row) = row_loop(self.function, stmt) {
            self.inside.insert(row.vars[0]);
            self.along(stmt)?;
            return self.same(row);
        }
        match stmt {
            Stmt::Comment(_) | Stmt::Prefetch { .. } => {}
            Stmt::Declare { var, .. } => _ = self.inside.insert(*var),
            Stmt::Assign { var, value } if !self.inside.contains(var) => {
                matches!(value, Expr::Const(_)).then_some(())?;
                self.outside.insert(*var);
            }
            Stmt::Assign { .. } => {}
            Stmt::For {
                var, mark, body, ..
            } => {
                (mark.parallel.is_none() && !mark.chunks).then_some(())?;
                self.inside.insert(*var);
                self.block(body)?;
            }
            Stmt::While { body, .. } => self.block(body)?,
            Stmt::If {
                then, otherwise, ..
            } => {
                self.block(then)?;
                self.block(otherwise)?;
            }
            _ => return None,
        }
        Some(())
    }

    /// What stands beside the store in a loop over a row.
    fn along(&mut self, stmt: &Stmt) -> Option<()> {
        let beside = stmt.blocks().into_iter().flatten();
        let mut beside = beside.filter(|stmt| !matches!(stmt, Stmt::Store { .. }));
        beside.try_for_each(|stmt| self.stmt(stmt))
    }

    /// Notes another loop over a row; `None` if it is another row.
    fn same(&mut self, row: Row) -> Option<()> {
        let Some(known) = &mut self.row else {
            self.row = Some(row);
            return Some(());
        };
        let Row {
            buffer,
            base,
            extent,
            vars,
        } = row;
        let same = (&known.buffer, &known.base, &known.extent) == (&buffer, &base, &extent);
        known.vars.extend(vars);
        same.then_some(())
    }
}

/// The row that a loop goes along and combines into.
fn row_loop(function: &Function, stmt: &Stmt) -> Option<Row> {
    let Stmt::For {
        var,
        lo,
        hi: Expr::Var(extent),
        mark,
        body,
    } = stmt
    else {
        return None;
    };
    let is_plain = *mark == Mark::default() && *lo == Expr::int(0);
    if !is_plain || !is_length(function, *extent) {
        return None;
    }
    let mut found = None;
    for stmt in body {
        match stmt {
            Stmt::Comment(_) | Stmt::Declare { .. } | Stmt::Assign { .. } => {}
            Stmt::Store {
                buffer,
                index,
                reduce: Some(_),
                ..
            } if found.is_none() => found = Some((*buffer, base_of(index, *var)?)),
            _ => return None,
        }
    }
    let (buffer, base) = found?;
    let is_place = !base.any(&mut |part| match part {
        Expr::Load { .. } => true,
        part => *part == Expr::Var(*var),
    }) && !function.can_fail(&base);
    is_place.then(|| Row {
        buffer,
        base,
        extent: *extent,
        vars: vec![*var],
    })
}

/// Where the row begins that an index goes along.
fn base_of(index: &Expr, var: Var) -> Option<Expr> {
    match index {
        Expr::Var(last) => (*last == var).then(|| Expr::int(0)),
        Expr::Binary(BinaryOp::Add, base, last) => {
            (**last == Expr::Var(var)).then(|| (**base).clone())
        }
        _ => None,
    }
}

/// Takes out of the body of a loop that it gives a variable a constant, which is the
/// same done once.
pub(super) fn take_notes(body: &mut Block) -> Block {
    let all = body.clone();
    let is_used = |wanted: Var| {
        let mut found = false;
        for_each_stmt(&all, &mut |stmt| {
            let is_note = matches!(
                stmt,
                Stmt::Assign {
                    value: Expr::Const(_),
                    ..
                }
            );
            found |= !is_note && stmt.written_var() == Some(wanted);
            stmt.for_each_expr(&mut |expr| found |= expr.reads(wanted));
        });
        found
    };
    let is_note = |stmt: &mut Stmt| match stmt {
        Stmt::Assign {
            var,
            value: Expr::Const(_),
        } => !is_used(*var),
        _ => false,
    };
    body.extract_if(.., is_note).collect()
}

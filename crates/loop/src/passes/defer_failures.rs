//! Failures of values that a kernel may not need.
//!
//! An integer division by zero, a cast out of range and a negative power of an integer
//! are errors only where a stored entry of a result needs the value. A temporary is
//! computed before that is known, so its failure is kept beside its value, and ends the
//! function where the value is used:
//!
//! ```text
//! var t: i64 = 0                 var t.failed: u8 = 0
//!                                var t: i64 = 0
//! for p in … {                   for p in … {
//!   t += i64(A.vals[p])            var failure: u8 = 0
//!                                  let cast: f64 = A.vals[p]
//!                                  if not (-2^63 <= cast and cast < 2^63) { failure = 2 }
//!                                  if failure == 0 { t += i64(A.vals[p]) }
//!                                  else if t.failed == 0 { t.failed = failure }
//! }                              }
//! for q in … {                   for q in … {
//!                                  if t.failed == 2 { fail cast_out_of_range }
//!   Z.vals[q] = B.vals[q] * t      Z.vals[q] = B.vals[q] * t
//! }                              }
//! ```
//!
//! `select`, `and` and `or` look at the failures of those operands alone that they
//! evaluate. Arrays that a kernel allocates have an array of failures. Where a value is an
//! index or a bound, it fails where it is computed. A function without such temporaries
//! stays as it is.

mod carriers;
mod check;

use std::collections::{BTreeMap, HashSet};

use sparsec_base::{ElementType, Scalar};

use self::carriers::Carriers;
use super::check_after;
use crate::ir::{BinaryOp, Block, Buffer, BufferData, Expr, Failure, Function, Stmt, Var};
use crate::verify::combined_by;
use crate::walk::for_each_stmt;

/// Keeps failures of temporaries beside their values, until a result needs them.
///
/// Time grows with the size of the function, and with its square for deeply nested
/// divisions and casts.
pub fn defer_failures(function: &mut Function) {
    let carriers = Carriers::of(function);
    if carriers.vars.is_empty() && carriers.buffers.is_empty() {
        return;
    }
    let mut pass = Pass {
        kinds: kinds(function),
        shadows: Shadows::of(function, &carriers),
        function,
        target: None,
        declared: HashSet::new(),
        outside: None,
    };
    let mut body = std::mem::take(&mut pass.function.body);
    pass.block(&mut body);
    function.body = body;
    check_after("defer_failures", function);
}

/// The value that a store leaves at its entry, as an expression.
fn stored(stmt: &Stmt) -> Expr {
    match stmt {
        Stmt::Store {
            buffer,
            index,
            value,
            reduce: Some(op),
        } => Expr::load(*buffer, index.clone()).binary(*op, value.clone()),
        Stmt::Store { value, .. } => value.clone(),
        _ => unreachable!("asked of stores alone"),
    }
}

/// Where the failure of each carrier is kept: 0, or the failure's status.
struct Shadows {
    vars: BTreeMap<Var, Var>,
    buffers: BTreeMap<Buffer, Buffer>,
}

impl Shadows {
    fn of(function: &mut Function, carriers: &Carriers) -> Self {
        let mut shadows = Self {
            vars: BTreeMap::new(),
            buffers: BTreeMap::new(),
        };
        for var in &carriers.vars {
            let name = format!("{}.failed", function.vars[*var].name);
            shadows.vars.insert(*var, status(function, &name));
        }
        for buffer in &carriers.buffers {
            let data = &function.buffers[*buffer];
            let (name, access) = (format!("{}.failed", data.name), data.access);
            let shadow = BufferData {
                name: function.fresh_name(&name),
                storage: ElementType::U8,
                compute: ElementType::U8,
                access,
            };
            let shadow = function.buffers.push(shadow);
            shadows.buffers.insert(*buffer, shadow);
        }
        shadows
    }

    fn holds(&self, expr: &Expr) -> bool {
        expr.any(&mut |part| self.of_part(part).is_some())
    }

    /// The failure of a variable or an entry that is read.
    fn of_part(&self, part: &Expr) -> Option<Expr> {
        match part {
            Expr::Var(var) => self.vars.get(var).map(|shadow| Expr::Var(*shadow)),
            Expr::Load { buffer, index } => {
                let shadow = self.buffers.get(buffer)?;
                Some(Expr::load(*shadow, (**index).clone()))
            }
            _ => None,
        }
    }
}

/// A new variable that holds the status of a failure, or 0.
fn status(function: &mut Function, name: &str) -> Var {
    function.fresh_var(name, ElementType::U8, true)
}

/// The failures of operations of a function, each once.
fn kinds(function: &Function) -> Vec<Failure> {
    let mut kinds = Vec::new();
    let mut add = |kind: Failure| {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    };
    for_each_stmt(&function.body, &mut |stmt| {
        if let Stmt::Store {
            reduce: Some(_), ..
        } = stmt
        {
            function.own_failure(&stored(stmt)).map(&mut add);
        }
        stmt.for_each_expr(&mut |expr| {
            expr.any(&mut |part| {
                function.own_failure(part).map(&mut add);
                false
            });
        });
    });
    kinds
}

fn constant(status: i32) -> Expr {
    Expr::Const(Scalar::U8(u8::try_from(status).expect("few failures")))
}

struct Pass<'f> {
    function: &'f mut Function,
    kinds: Vec<Failure>,
    shadows: Shadows,
    /// The temporary that the value being checked is for.
    target: Option<Expr>,
    /// The temporaries that are declared so far.
    declared: HashSet<Var>,
    /// In a parallel loop, those that were declared before the innermost.
    outside: Option<HashSet<Var>>,
}

impl Pass<'_> {
    fn block(&mut self, block: &mut Block) {
        for stmt in std::mem::take(block) {
            self.stmt(stmt, block);
        }
    }

    fn stmt(&mut self, mut stmt: Stmt, out: &mut Block) {
        match &stmt {
            Stmt::Declare { var, value } if self.shadows.vars.contains_key(var) => {
                let (var, value) = (*var, value.clone());
                return self.declare(var, value, out);
            }
            Stmt::Assign { var, value } if self.shadows.vars.contains_key(var) => {
                let (temporary, value) = (Expr::Var(*var), value.clone());
                let is_combined = combined_by(*var, &value).is_some() && value.reads(*var);
                return self.keep(&temporary, (&value, is_combined), stmt, out);
            }
            Stmt::Store {
                buffer,
                index,
                reduce,
                ..
            } if self.shadows.buffers.contains_key(buffer) => {
                let temporary = Expr::load(*buffer, index.clone());
                let (value, is_combined) = (stored(&stmt), reduce.is_some());
                return self.keep(&temporary, (&value, is_combined), stmt, out);
            }
            _ => out.extend(self.beside(&stmt)),
        }
        let mut used = Vec::new();
        stmt.for_each_expr(&mut |expr| {
            if self.shadows.holds(expr) {
                used.push(expr.clone());
            }
        });
        for expr in used {
            self.fail_where_used(&expr, out);
        }
        let around = self.outside.clone();
        if let Stmt::For { mark, .. } = &stmt
            && (mark.parallel.is_some() || mark.chunks)
        {
            self.outside = Some(self.declared.clone());
        }
        for inner in stmt.blocks_mut() {
            self.block(inner);
        }
        self.outside = around;
        out.push(stmt);
    }

    /// What is done to the array of failures where a statement makes or fills an array.
    fn beside(&self, stmt: &Stmt) -> Option<Stmt> {
        let mut beside = stmt.clone();
        let buffer = match &mut beside {
            Stmt::Fill { buffer, value, .. } => {
                *value = constant(0);
                buffer
            }
            Stmt::Alloc { buffer, .. } | Stmt::Grow { buffer, .. } => buffer,
            _ => return None,
        };
        *buffer = *self.shadows.buffers.get(buffer)?;
        Some(beside)
    }

    /// A temporary's first value, and whether computing it failed.
    fn declare(&mut self, var: Var, value: Expr, out: &mut Block) {
        let failed = self.shadows.vars[&var];
        self.declared.insert(var);
        out.push(Stmt::Declare {
            var: failed,
            value: constant(0),
        });
        let mut checks = Block::new();
        self.check(&value, failed, None, &mut checks);
        let value = match checks.is_empty() {
            true => value,
            // A failed operation is not evaluated.
            false => Expr::Select {
                condition: Box::new(Expr::Var(failed).equals(constant(0))),
                otherwise: Box::new(Scalar::from_i64(self.function.type_of(&value), 0).into()),
                then: Box::new(value),
            },
        };
        out.append(&mut checks);
        out.push(Stmt::Declare { var, value });
    }

    /// A statement that leaves `value` in a temporary, unless computing it fails. A value that is
    /// combined with the one so far adds to the failure so far.
    fn keep(
        &mut self,
        temporary: &Expr,
        (value, is_combined): (&Expr, bool),
        stmt: Stmt,
        out: &mut Block,
    ) {
        let shadow = self.shadows.of_part(temporary).expect("a carrier");
        let failure = status(self.function, "failure");
        let mut checks = Block::new();
        let combined = is_combined.then_some(temporary);
        self.target = Some(temporary.clone());
        self.check(value, failure, combined, &mut checks);
        self.target = None;
        if checks.is_empty() {
            if !is_combined {
                out.push(write(&shadow, constant(0)));
            }
            out.push(stmt);
            return;
        }
        out.push(Stmt::Declare {
            var: failure,
            value: constant(0),
        });
        out.append(&mut checks);
        let mut otherwise = Block::new();
        if !is_combined {
            out.push(write(&shadow, failure.into()));
        } else if self.is_shared(temporary) {
            otherwise.push(combine(&shadow, failure.into()));
        } else {
            // The first failure is the one that is reported.
            otherwise.push(Stmt::If {
                condition: shadow.clone().equals(constant(0)),
                then: vec![write(&shadow, failure.into())],
                otherwise: Block::new(),
            });
        }
        out.push(Stmt::If {
            condition: Expr::Var(failure).equals(constant(0)),
            then: vec![stmt],
            otherwise,
        });
    }

    /// Ends the function where an expression that is evaluated next reads a failed value.
    fn fail_where_used(&mut self, expr: &Expr, out: &mut Block) {
        let failure = status(self.function, "failure");
        let mut checks = Block::new();
        self.check(expr, failure, None, &mut checks);
        let found = match &checks[..] {
            [Stmt::Assign { value, .. }] => value.clone(),
            _ => {
                out.push(Stmt::Declare {
                    var: failure,
                    value: constant(0),
                });
                out.append(&mut checks);
                Expr::Var(failure)
            }
        };
        for kind in &self.kinds {
            out.push(Stmt::If {
                condition: found.clone().equals(constant(kind.status())),
                then: vec![Stmt::Fail(*kind)],
                otherwise: Block::new(),
            });
        }
    }
}

/// Stores to a variable, or to an entry.
fn write(place: &Expr, value: Expr) -> Stmt {
    match place {
        Expr::Var(var) => Stmt::Assign { var: *var, value },
        Expr::Load { buffer, index } => Stmt::Store {
            buffer: *buffer,
            index: (**index).clone(),
            value,
            reduce: None,
        },
        _ => unreachable!("failures are in variables and arrays"),
    }
}

/// As [`write`], in any order: the larger status stays.
fn combine(place: &Expr, status: Expr) -> Stmt {
    match write(place, status) {
        Stmt::Assign { var, value } => Stmt::Assign {
            var,
            value: Expr::Var(var).binary(BinaryOp::Max, value),
        },
        Stmt::Store {
            buffer,
            index,
            value,
            ..
        } => Stmt::Store {
            buffer,
            index,
            value,
            reduce: Some(BinaryOp::Max),
        },
        stmt => stmt,
    }
}

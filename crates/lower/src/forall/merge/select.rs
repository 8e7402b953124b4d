//! The cases of a merge as one sequence of statements, without branches.
//!
//! Which of several operands comes next is hard to guess where their entries lie
//! anywhere, and each wrong guess costs a processor as much as several entries. Cases
//! that store at the same places and differ only in what they store need no guess:
//!
//! ```text
//! two operands     if ib == ic { both … } else {
//!                    side = (ib - ic) // 2^32        -1 where ib is less, else 0
//!                    b_val = b[pb]; c_val = c[pc]
//!                    a[pa] = select(side < 0, b_val, c_val); crd_a[pa] = i; pa += 1
//!                    pb -= side; pc += side + 1 }
//!
//! more             if ib == ic and ib == id { all … } else {
//!                    b_side = (i - ib) // 2^32; …       0 where ib is i, else -1
//!                    a[pa] = select(b_side >= 0, b[pb], -0.0) + select(c_side >= 0, c[pc], -0.0) + …
//!                    pb += b_side + 1; … }
//! ```
//!
//! Each step waits for the one before, along the positions: a load, a difference, a shift
//! and an addition. What a comparison gives would be moved out of flags twice, which is
//! three instructions more; of coordinates of 64 bits it is, since their difference
//! fills a word.
//!
//! That all meet is left to a branch: where patterns agree it is guessed well, and
//! lets the next step begin before this one is known; where they do not, it is seldom.
//!
//! Of more than two operands, the value is that of all of them with the neutral element
//! of the operator in place of those that are missing. [`present`] says what is left of
//! it then, which has to be what each case computes: so no operator is known here
//! but by its neutral element, which leaves every bit of the other side alone.
//!
//! A value is computed though its operand may be at another coordinate; so it reads nothing
//! but what is stored at the positions reached, which are within bounds as long as the
//! loop runs, and has no operation that may fail or that takes long.

use sparsec_base::{ElementType, Scalar};
use sparsec_loop::{Access, BinaryOp, Block, Builder, Expr, Function, Stmt, UnaryOp, Var, passes};

use crate::walker::Walker;

/// What one case does, and which of the walkers it is for.
#[derive(Clone, Debug)]
pub(super) struct Case {
    /// By number.
    pub(super) walkers: Vec<usize>,
    /// How the result changes.
    pub(super) block: Block,
}

impl Case {
    fn holds(&self, hit: &[usize]) -> bool {
        self.walkers.iter().all(|walker| hit.contains(walker))
    }
}

/// How the value of one statement follows from which walkers are hit.
#[derive(Clone, Debug)]
enum Chosen {
    /// Not at all.
    Same(Expr),
    /// One value where the first of two is hit, another where the second is.
    Either([Expr; 2]),
    /// As all of them give it, with neutral elements in place of those that are not hit.
    Masked(Expr),
}

/// Cases that differ in the values that they store and in nothing else.
#[derive(Clone, Debug)]
pub(super) struct Selected(Vec<(Stmt, Chosen)>);

/// What the cases do where some walkers are hit but not all; `cases` has that of
/// all first. `None` if cases differ in more than the values that they store.
pub(super) fn selected(
    function: &Function,
    walkers: &[Walker],
    cases: &[Case],
) -> Option<Selected> {
    let n = walkers.len();
    let all = cases.first().filter(|case| case.walkers.len() == n)?;
    if n < 2 || all.block.is_empty() || walkers.iter().any(|walker| walker.repeats) {
        return None;
    }
    let outcomes: Vec<(Vec<usize>, &Case)> = (1..(1usize << n) - 1)
        .map(|set| (0..n).filter(|at| set >> at & 1 == 1).collect::<Vec<_>>())
        .map(|hit| Some((hit.clone(), cases.iter().find(|case| case.holds(&hit))?)))
        .collect::<Option<_>>()?;
    let is_like = |block: &Block| {
        let mut both = block.iter().zip(&all.block);
        block.len() == all.block.len() && both.all(|(a, b)| are_like(a, b))
    };
    if !outcomes.iter().all(|(_, case)| is_like(&case.block)) {
        return None;
    }
    let chosen = |at: usize| {
        let whole = value(&all.block[at]);
        let values = outcomes
            .iter()
            .map(|(hit, case)| (hit, value(&case.block[at])));
        let values: Vec<(&Vec<usize>, &Expr)> = values.collect();
        if values.iter().all(|(_, value)| *value == values[0].1) {
            return Some(Chosen::Same(values[0].1.clone()));
        }
        if let [(_, left), (_, right)] = values[..] {
            let is_ready = is_ready(function, walkers, left) && is_ready(function, walkers, right);
            return is_ready.then(|| Chosen::Either([left.clone(), right.clone()]));
        }
        let is_proved = is_ready(function, walkers, whole)
            && values.iter().all(|(hit, value)| {
                present(function, walkers, hit, whole).as_ref() == Some(*value)
            });
        is_proved.then(|| Chosen::Masked(whole.clone()))
    };
    let numbered = all.block.iter().enumerate();
    let stmts = numbered.map(|(at, stmt)| Some((stmt.clone(), chosen(at)?)));
    stmts.collect::<Option<_>>().map(Selected)
}

/// Writes what the cases do: of two, that of the first if `hits[0]`, else that of
/// the second; of more, that of those whose hit holds.
pub(super) fn select(b: &mut Builder, selected: &Selected, walkers: &[Walker], hits: &[Expr]) {
    for (stmt, chosen) in &selected.0 {
        let mut stmt = stmt.clone();
        *value_mut(&mut stmt) = match chosen {
            Chosen::Same(value) => value.clone(),
            Chosen::Either(values) => {
                let [then, otherwise] = [0, 1].map(|at| named(b, &walkers[at], &values[at]));
                Expr::Select {
                    condition: Box::new(hits[0].clone()),
                    then: Box::new(then),
                    otherwise: Box::new(otherwise),
                }
            }
            Chosen::Masked(whole) => masked(b, walkers, hits, whole),
        };
        b.push(stmt);
    }
}

/// Whether the first of two walkers is at the lesser of two coordinates that differ, and
/// the positions that both go on to.
pub(super) fn lesser(b: &mut Builder, walkers: &[Walker; 2], read: [Var; 2]) -> (Expr, [Expr; 2]) {
    let [left, right] = read.map(Expr::Var);
    let [at, other] = [0, 1].map(|number| Expr::Var(walkers[number].position));
    if walkers.iter().all(|walker| is_narrow(b.function(), walker)) {
        let difference = left.binary(BinaryOp::Sub, right);
        let side = difference.binary(BinaryOp::FloorDiv, 1i64 << 32);
        let side = Expr::Var(b.let_("side", side));
        let next = [
            at.binary(BinaryOp::Sub, side.clone()),
            other.add(side.clone().add(1)),
        ];
        return (side.less(0), next);
    }
    let less = Expr::Var(b.let_("less", left.less(right)));
    let is_not = Expr::Unary(UnaryOp::Not, Box::new(less.clone()));
    let number = |hit: Expr| Expr::Cast(ElementType::I64, Box::new(hit));
    let next = [at.add(number(less.clone())), other.add(number(is_not))];
    (less, next)
}

/// Whether a walker, which is at `own`, is at the least coordinate of all, and the
/// position that it goes on to.
pub(super) fn hit(b: &mut Builder, walker: &Walker, own: Var, least: Var) -> (Expr, Expr) {
    let name = &walker.tensor;
    let at = Expr::Var(walker.position);
    if is_narrow(b.function(), walker) {
        let (name, difference) = (
            format!("{name}_side"),
            Expr::Var(least).binary(BinaryOp::Sub, own),
        );
        let side = difference.binary(BinaryOp::FloorDiv, 1i64 << 32);
        let side = Expr::Var(b.let_(&name, side));
        let hit = side.clone().binary(BinaryOp::Ge, 0);
        return (hit, at.add(side.add(1)));
    }
    let (name, equal) = (format!("{name}_hit"), Expr::Var(own).equals(least));
    let hit = Expr::Var(b.let_(&name, equal));
    let number = Expr::Cast(ElementType::I64, Box::new(hit.clone()));
    (hit, at.add(number))
}

/// Whether the coordinates of a walker are numbers of 32 bits.
fn is_narrow(function: &Function, walker: &Walker) -> bool {
    match walker.coordinate(walker.position) {
        Expr::Load { buffer, .. } => function.buffers[buffer].storage.size() <= 4,
        _ => false,
    }
}

/// What is left of `expr` where only some walkers are hit; `None` is nothing.
fn present(function: &Function, walkers: &[Walker], hit: &[usize], expr: &Expr) -> Option<Expr> {
    if let Some(walker) = alone(walkers, expr) {
        return hit.contains(&walker).then(|| expr.clone());
    }
    let Expr::Binary(op, left, right) = expr else {
        return Some(expr.clone());
    };
    if neutral(function, *op, left).is_none() {
        return Some(expr.clone());
    }
    let left = present(function, walkers, hit, left);
    let right = present(function, walkers, hit, right);
    match (left, right) {
        (Some(left), Some(right)) => Some(left.binary(*op, right)),
        (left, right) => left.or(right),
    }
}

fn masked(b: &mut Builder, walkers: &[Walker], hits: &[Expr], expr: &Expr) -> Expr {
    let Expr::Binary(op, left, right) = expr else {
        return expr.clone();
    };
    let neutral = neutral(b.function(), *op, left).expect("it was asked for before");
    let [left, right] = [left, right].map(|side| match alone(walkers, side) {
        Some(walker) => Expr::Select {
            condition: Box::new(hits[walker].clone()),
            then: Box::new(named(b, &walkers[walker], side)),
            otherwise: Box::new(neutral.into()),
        },
        None => masked(b, walkers, hits, side),
    });
    left.binary(*op, right)
}

/// What, on either side of `op`, leaves every bit of the other as it is.
fn neutral(function: &Function, op: BinaryOp, side: &Expr) -> Option<Scalar> {
    let element = function.type_of(side);
    // A sum of complex numbers has no such element: -0 + 0 is 0.
    let has_one = !element.is_complex();
    has_one.then(|| passes::identity(op, element)).flatten()
}

/// Whether computing `expr` needs nothing but what is stored where walkers are, and
/// little time.
fn is_ready(function: &Function, walkers: &[Walker], expr: &Expr) -> bool {
    !expr.any(&mut |part| match part {
        Expr::Const(_) | Expr::Var(_) => false,
        Expr::Load { buffer, index } => {
            let is_reached = |walker: &Walker| **index == Expr::Var(walker.position);
            let access = function.buffers[*buffer].access;
            let is_given = matches!(access, Access::Read | Access::Workspace);
            !is_given || !walkers.iter().any(is_reached)
        }
        Expr::Unary(op, _) => !matches!(op, UnaryOp::Neg | UnaryOp::Abs | UnaryOp::Not),
        Expr::Binary(op, left, _) => match op {
            BinaryOp::Div => !function.type_of(left).is_float(),
            BinaryOp::FloorDiv | BinaryOp::Mod | BinaryOp::And | BinaryOp::Or => true,
            _ => false,
        },
        Expr::Cast(to, value) => to.is_integer() && !function.type_of(value).is_integer(),
        Expr::Call(..) | Expr::Select { .. } => true,
    })
}

/// A name for a value that a walker gives, so that choosing it computes nothing.
fn named(b: &mut Builder, walker: &Walker, value: &Expr) -> Expr {
    if matches!(value, Expr::Var(_) | Expr::Const(_)) {
        return value.clone();
    }
    let name = format!("{}_val", walker.tensor);
    Expr::Var(b.let_(&name, value.clone()))
}

/// The one walker whose entries an expression reads, if it reads those of one.
fn alone(walkers: &[Walker], expr: &Expr) -> Option<usize> {
    let mut read = (0..walkers.len()).filter(|at| expr.reads(walkers[*at].position));
    let first = read.next()?;
    read.next().is_none().then_some(first)
}

/// Whether two statements change the same thing, to values that may differ.
fn are_like(a: &Stmt, b: &Stmt) -> bool {
    match (a, b) {
        (Stmt::Assign { var, .. }, Stmt::Assign { var: other, .. }) => {
            var == other && accumulates(a) == accumulates(b)
        }
        (
            Stmt::Store {
                buffer,
                index,
                reduce,
                ..
            },
            Stmt::Store {
                buffer: other_buffer,
                index: other_index,
                reduce: other_reduce,
                ..
            },
        ) => (buffer, index, reduce) == (other_buffer, other_index, other_reduce),
        _ => false,
    }
}

/// The operator of `t = t op value`.
fn accumulates(stmt: &Stmt) -> Option<BinaryOp> {
    match stmt {
        Stmt::Assign {
            var,
            value: Expr::Binary(op, left, _),
        } if **left == Expr::Var(*var) => Some(*op),
        _ => None,
    }
}

/// The value that a statement stores, or combines with a variable.
fn value(stmt: &Stmt) -> &Expr {
    let (Stmt::Assign { value, .. } | Stmt::Store { value, .. }) = stmt else {
        unreachable!("only such are alike");
    };
    match value {
        Expr::Binary(_, _, right) if accumulates(stmt).is_some() => right,
        value => value,
    }
}

fn value_mut(stmt: &mut Stmt) -> &mut Expr {
    let is_sum = accumulates(stmt).is_some();
    let (Stmt::Assign { value, .. } | Stmt::Store { value, .. }) = stmt else {
        unreachable!("only such are alike");
    };
    if !is_sum {
        return value;
    }
    let Expr::Binary(_, _, right) = value else {
        unreachable!("it has an operator");
    };
    right
}

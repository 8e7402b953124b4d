//! How loops merge the operands that they walk.
//!
//! ```text
//! s = b(i) * c(i)      b of 10 entries, c of 10^6
//!
//! two fingers          10^6 steps, one after the other
//! mergeby(i, Gallop)   10 · 2 log2(10^6 / 10) steps, most of them far apart
//!
//! forall i: forall j: C(i,j) = A(i,j) + B(i,j)       entries anywhere
//!
//! two fingers          every other guess of a processor is wrong
//! mergeby(j, Select)   no guesses: each step waits for a comparison
//! ```
//!
//! **Leaps** are for intersections. Estimated by how many coordinates the operands hold for
//! each turn of the loops around: where one has many times those of another, leaps are
//! worth their comparisons, which nothing predicts.
//!
//! **Choosing** values without branches is for the rest. A processor guesses which operand
//! comes next. Where bands are added, or a pattern to the same one further on, it guesses well
//! and goes on before it knows; where entries of all operands lie anywhere, every other
//! guess is wrong and costs more than waiting for what the comparisons say. Where one operand
//! has nearly all entries, that is the guess, and right. So it is a property of the operands
//! together ([`Facts::mispredicted`]), and steps wait for as many comparisons as there are
//! operands.
//!
//! Where there are more than two, they are then merged **two by two**, through a row that stays
//! in the cache: each step waits for one comparison, and the coordinates that it compares are
//! read a turn ahead. Of rows of 10 that is 1.35 times as fast as all three at once, of rows
//! of 2 as fast, of rows of 1 it takes 5 % longer.
//!
//! ```text
//! D(i,j) = A(i,j) + B(i,j) + C(i,j)      precompute(A(i,j) + B(i,j), {j}, w : appended)
//! ```
//!
//! Measured, branches in proportion to choosing (over 1 where choosing is faster):
//!
//! ```text
//! two operands                 wrong      three operands              wrong
//! a graph, and one column on    0.19  0.7   bands of a matrix           0.2   0.6
//! the same, two columns on      0.25  0.7   two columns on              0.03  0.5
//! rows of 30 and of 5           0.14  0.9   one of three is a shift     0.31  0.8
//! rows of 30 and of 10          0.26  1.1   rows of 10, 5 and 2         0.44  1.2
//! rows of 2                     0.29  1.0   rows of 2                   0.5   1.0 to 1.5
//! rows of 10, four fifths alike 0.55  1.1   rows of 10                  0.64  1.15
//! rows of 10 or 30              0.47  1.3   half of the columns         0.86  1.4
//! ```

use sparsec_graph::operand::level_at;
use sparsec_graph::{Lattice, Operands, Scope, space};
use sparsec_index::concrete::{Clause, MergeStrategy, Nested, Stmt, for_each_nested};
use sparsec_index::{Access, Expr, IndexVar, TensorRole, WorkspaceKind};
use sparsec_machine::Machine;
use sparsec_schedule::Command;

use crate::estimate::Estimate;
use crate::search::{Facts, Plan, View};
use crate::threads::extended;

/// Operands that a loop merges, as they are stored.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Merge(pub Vec<Merged>);

/// One of the operands of a merge.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Merged {
    /// The name that the source has for the tensor.
    pub tensor: String,
    /// Which part of it, where it is a union of several; else 0.
    pub part: usize,
    /// The variables of its levels down to the one that is merged, by numbers that
    /// are equal for equal ones in all of a merge.
    pub vars: Vec<usize>,
}

/// What merges of a plan take values without branches if that is worth it: the
/// innermost loops over several operands that are stored.
pub fn merges(plan: &Plan) -> Vec<Merge> {
    let merges = innermost(&plan.concrete.stmt).into_iter();
    let mut merges: Vec<Merge> = merges
        .filter_map(|(var, body)| merge(plan, var, body))
        .collect();
    merges.dedup();
    merges
}

/// The plan with leaps where they are worth it.
pub(crate) fn gallop(plan: Plan, facts: Facts<'_>) -> Plan {
    let estimate = Estimate::of(&plan, facts);
    let machine = Machine::MIDDLING;
    let mut found = Vec::new();
    for_each_nested(&plan.concrete.stmt, &mut |nested| {
        for (depth, &var) in nested.loops.iter().enumerate() {
            let held = held(&plan, estimate, nested, depth);
            let extent = estimate.points(&[var]);
            let merged = machine.merged(&held, extent);
            let pays = held.len() > 1 && machine.leaps(&held) < merged;
            if pays && !found.contains(&var) {
                found.push(var);
            }
        }
    });
    merged_by(plan, found, MergeStrategy::Gallop)
}

/// How many coordinates each operand holds that this loop walks, for each turn of those around it.
pub(crate) fn held(
    plan: &Plan,
    estimate: Estimate<'_>,
    nested: Nested<'_, '_>,
    depth: usize,
) -> Vec<f64> {
    let (outer, within) = (&nested.loops[..depth], &nested.loops[..=depth]);
    let held = nested.rhs.accesses().into_iter().filter_map(|access| {
        let format = plan.formats.walked(access.tensor)?;
        let (_, level) = level_at(access, nested.loops[depth], format)?;
        let held = estimate.prefixes(access, within) / estimate.prefixes(access, outer);
        (!level.is_full()).then_some((level.kind.capabilities().locate, held))
    });
    let held: Vec<(bool, f64)> = held.collect();
    // Beside others, a level that finds coordinates is looked up.
    let is_led = held.iter().any(|(is_located, _)| !is_located);
    let walked = held
        .into_iter()
        .filter(|(is_located, _)| !(is_led && *is_located));
    walked.map(|(_, held)| held).collect()
}

/// The plan with merges that need no guesses, where these would be wrong often.
pub(crate) fn select(plan: Plan, facts: Facts<'_>) -> Plan {
    let loops = innermost(&plan.concrete.stmt).into_iter();
    let guessed = loops.filter_map(|(var, body)| {
        let merge = merge(&plan, var, body)?;
        let wrong = (facts.mispredicted)(&merge)?;
        Some((
            var,
            wrong,
            wrong >= Machine::MIDDLING.wrong_share * merge.0.len() as f64,
        ))
    });
    let guessed: Vec<(IndexVar, f64, bool)> = guessed.collect();
    let name = |var: IndexVar| plan.concrete.vars[var].name.clone();
    let told = guessed.iter().map(|&(var, wrong, _)| (name(var), wrong));
    let told = told.collect();
    let hard = guessed.into_iter().filter(|(_, _, is_hard)| *is_hard);
    let hard: Vec<IndexVar> = hard.map(|(var, ..)| var).collect();
    let plan = hard.iter().fold(plan, |plan, var| two_by_two(plan, *var));
    let mut plan = merged_by(plan, hard, MergeStrategy::Select);
    plan.account.guessed = told;
    plan
}

/// The plan in which loops over `var` merge two operands each, as far as they may.
fn two_by_two(mut plan: Plan, var: IndexVar) -> Plan {
    while let Some(part) = part_to_merge(&plan, var) {
        let Plan { concrete, .. } = &plan;
        let (name, w) = (&concrete.vars[var].name, concrete.fresh_name("w"));
        let kind = Some(WorkspaceKind::Appended);
        let command = Command::precompute(concrete, &part, &[name], &w, kind);
        match command.ok().and_then(|command| extended(&plan, [command])) {
            Some(merged) => plan = merged,
            None => break,
        }
    }
    plan
}

/// Of what a loop over `var` merges more than two operands for: a part with several.
fn part_to_merge(plan: &Plan, var: IndexVar) -> Option<Expr> {
    let operands = Operands::of(&plan.concrete);
    let scope = Scope {
        concrete: &plan.concrete,
        formats: &plan.formats,
        operands: &operands,
    };
    let loops = innermost(&plan.concrete.stmt).into_iter();
    loops
        .filter(|(known, _)| *known == var)
        .find_map(|(_, body)| {
            let n_walked = Lattice::of(&space(scope, body, var)).operands().len();
            let Stmt::Assign {
                rhs: Expr::Apply { args, .. },
                ..
            } = body
            else {
                return None;
            };
            let merges = |arg: &&Expr| {
                let walked = |access: &&Access| plan.formats.walked(access.tensor).is_some();
                let uses = |access: &&Access| access.uses(var);
                arg.accesses()
                    .into_iter()
                    .filter(walked)
                    .filter(uses)
                    .count()
                    > 1
            };
            (n_walked > 2 && args.len() == 2).then(|| args.iter().find(merges).cloned())?
        })
}

/// The plan with these loops merging so, as far as they may.
fn merged_by(mut plan: Plan, loops: Vec<IndexVar>, strategy: MergeStrategy) -> Plan {
    for var in loops {
        let var = plan.concrete.vars[var].name.as_str();
        let merged = extended(&plan, [Clause::MergeBy { var, strategy }]);
        plan = merged.unwrap_or(plan);
    }
    plan
}

/// The loops around nothing but an assignment.
fn innermost(stmt: &Stmt) -> Vec<(IndexVar, &Stmt)> {
    match stmt {
        Stmt::Forall { var, body } if matches!(**body, Stmt::Assign { .. }) => {
            vec![(*var, body)]
        }
        Stmt::Forall { body, .. } => innermost(body),
        Stmt::Where { consumer, producer } => {
            let mut found = innermost(consumer);
            found.extend(innermost(producer));
            found
        }
        Stmt::Sequence(stmts) => stmts.iter().flat_map(innermost).collect(),
        Stmt::Assign { .. } => Vec::new(),
    }
}

/// What a loop merges, if these are several operands as they are stored.
fn merge(plan: &Plan, var: IndexVar, body: &Stmt) -> Option<Merge> {
    let concrete = &plan.concrete;
    let operands = Operands::of(concrete);
    let scope = Scope {
        concrete,
        formats: &plan.formats,
        operands: &operands,
    };
    let lattice = Lattice::of(&space(scope, body, var));
    if lattice.everything || lattice.points.len() < 2 {
        return None;
    }
    let mut known: Vec<IndexVar> = Vec::new();
    let walked = lattice.operands().into_iter();
    let merged = walked.map(|operand| operand_of(plan, operands.access(operand), var, &mut known));
    merged.collect::<Option<Vec<Merged>>>().map(Merge)
}

/// An operand of a merge over `var`, if it is stored; variables are numbered as they come.
fn operand_of(
    plan: &Plan,
    access: &Access,
    var: IndexVar,
    known: &mut Vec<IndexVar>,
) -> Option<Merged> {
    let format = plan.formats.walked(access.tensor)?;
    let (last, _) = level_at(access, var, format)?;
    let mut number = |var: IndexVar| {
        known.iter().position(|it| *it == var).unwrap_or_else(|| {
            known.push(var);
            known.len() - 1
        })
    };
    let levels = format.levels()[..=last].iter();
    let vars: Option<Vec<usize>> = levels
        .map(|level| access.var(level.mode()).map(&mut number))
        .collect();
    let (mut tensor, mut part) = (access.tensor, 0);
    while let Some(made) = plan.conversions.iter().find(|it| it.to == tensor) {
        // Copies are stored otherwise.
        if let View::Part(number) = made.view? {
            part = number;
        }
        tensor = made.from;
    }
    let data = &plan.concrete.tensors[tensor];
    (data.role == TensorRole::Input).then_some(Merged {
        tensor: data.source_name().to_owned(),
        part,
        vars: vars?,
    })
}

//! A product that several sums share, computed once.
//!
//! ```text
//! R(i,l) = sum{j,k}(A(i,j) * B(j,k) * C(k,l)) + sum{j,k}(A(i,j) * B(j,k) * D(k,l))
//!
//! common1(i,k) = sum{j}(A(i,j) * B(j,k))
//! R(i,l) = sum{k}(common1(i,k) * C(k,l)) + sum{k}(common1(i,k) * D(k,l))
//! ```
//!
//! Two sums of products, of one statement or of two, are laid over each other: factors that read
//! one tensor, with variables that are renamed alike. Of these, factors that hang together by
//! variables are a candidate if a variable is summed that nothing else in either sum has.
//! Other sums that have the same factors read the common result as well.
//!
//! The common result stores the entries of its product and no others, so that results that are
//! stored sparse have the entries of their sums. If all that is read or computed is dense, it is too.
//!
//! Sums are taken apart, so floats are not shared if the order of the source is to be kept.

mod overlay;

use std::collections::{BTreeMap, BTreeSet};

use sparsec_base::check_order;
use sparsec_format::{Format, Level, LevelKind};
use sparsec_graph::Formats;
use sparsec_index::{
    Access, Expr, IndexVar, Operator, Program, Statement, TensorData, TensorRole, TensorVar,
};

use overlay::{Overlay, overlay};

/// The most sums that are compared with each other.
const MOST_SUMS: usize = 16;
/// The most factors of a sum that are laid over those of another one.
const MOST_FACTORS: usize = 8;
/// The most programs that are planned, of those with one more part shared.
const MOST_CANDIDATES: usize = 4;
/// Results of such parts are called so, with a number behind.
const NAME: &str = "common";

/// A program with a statement more, and the name of its result.
pub(crate) struct Shared {
    pub(crate) program: Program,
    pub(crate) formats: Formats,
    pub(crate) name: String,
}

/// The programs in which one common part of several sums is computed once, those with the
/// largest parts first.
pub(crate) fn candidates(program: &Program, formats: &Formats, strict: bool) -> Vec<Shared> {
    let mut sums = Vec::new();
    for (number, statement) in program.statements.iter().enumerate() {
        collect(program, number, &statement.rhs, strict, &mut sums);
    }
    sums.truncate(MOST_SUMS);
    let mut parts: Vec<Part> = Vec::new();
    for (at, first) in sums.iter().enumerate() {
        for second in &sums[at + 1..] {
            for part in common(first, second) {
                let is_same = |at: &usize| {
                    let read = first.access(*at);
                    read.is_some_and(|(read, _)| part.factors.contains(read))
                };
                let is_known = |known: &Part| {
                    known.factors.len() == part.factors.len()
                        && known
                            .place(first)
                            .is_some_and(|(places, _)| places.iter().all(is_same))
                };
                if !parts.iter().any(is_known) {
                    parts.push(part);
                }
            }
        }
    }
    parts.sort_by_key(|part| std::cmp::Reverse(part.factors.len()));
    parts.truncate(MOST_CANDIDATES);
    // Each has a name of its own, by which a schedule asks for it again: numbers go on behind
    // those of parts that are shared already.
    let numbers = program.tensors.iter().filter_map(|(_, data)| {
        let number = data.name.strip_prefix(NAME)?;
        number.parse::<usize>().ok()
    });
    let last = numbers.max().unwrap_or(0);
    let named = parts.iter().zip(last.saturating_add(1)..);
    let shared = named.map(|(part, number)| {
        let name = format!("{NAME}{number}");
        part.share(program, formats, &sums, name)
    });
    shared.flatten().collect()
}

/// A sum of a product in a statement.
struct Sum<'e> {
    statement: usize,
    expr: &'e Expr,
    reduce: &'e Operator,
    vars: &'e [IndexVar],
    op: &'e Operator,
    factors: Vec<&'e Expr>,
}

fn collect<'e>(
    program: &Program,
    statement: usize,
    expr: &'e Expr,
    strict: bool,
    found: &mut Vec<Sum<'e>>,
) {
    match expr {
        Expr::Literal(_) | Expr::Access(_) | Expr::Index(_) => {}
        Expr::Cast(_, body) => collect(program, statement, body, strict, found),
        Expr::Apply { args, .. } => {
            for arg in args {
                collect(program, statement, arg, strict, found);
            }
        }
        Expr::Reduce { op, vars, body } => {
            let element = body.element(&program.tensors);
            let rounds = element.is_float() || element.is_complex();
            let Expr::Apply { op: times, .. } = &**body else {
                return;
            };
            if (strict && rounds) || !times.distributes_over(op, element) {
                return;
            }
            let mut factors = Vec::new();
            flatten(times, body, &mut factors);
            let is_one_type = factors
                .iter()
                .all(|factor| factor.element(&program.tensors) == element);
            // Implicit entries add nothing, and none of them is infinite.
            let adds_nothing = |factor: &&Expr| match factor {
                Expr::Access(access) => {
                    op.identity(element) == Some(program.tensors[access.tensor].fill)
                }
                Expr::Literal(value) => value.to_c128().is_finite(),
                _ => false,
            };
            if is_one_type && factors.len() <= MOST_FACTORS && factors.iter().all(adds_nothing) {
                found.push(Sum {
                    statement,
                    expr,
                    reduce: op,
                    vars,
                    op: times,
                    factors,
                });
            }
        }
    }
}

fn flatten<'e>(of: &Operator, expr: &'e Expr, factors: &mut Vec<&'e Expr>) {
    match expr {
        Expr::Apply { op, args } if op == of => {
            args.iter().for_each(|arg| flatten(of, arg, factors));
        }
        _ => factors.push(expr),
    }
}

impl Sum<'_> {
    /// Whether a variable is summed here, and used by some of the factors alone.
    fn is_own(&self, var: IndexVar, factors: &[usize]) -> bool {
        let mut others = self.factors.iter().enumerate();
        self.vars.contains(&var)
            && !others.any(|(at, factor)| !factors.contains(&at) && factor.vars().contains(&var))
    }

    fn access(&self, at: usize) -> Option<(&Access, Vec<IndexVar>)> {
        match self.factors[at] {
            Expr::Access(access) => Some((access, access.plain_vars()?)),
            _ => None,
        }
    }
}

/// A product that is shared, as one of the sums has it.
struct Part {
    statement: usize,
    reduce: Operator,
    op: Operator,
    factors: Vec<Access>,
    /// The variables that are summed in it.
    own: BTreeSet<IndexVar>,
    /// Its other variables, in the order in which the factors have them.
    kept: Vec<IndexVar>,
}

/// The products that two sums have in common.
fn common(first: &Sum<'_>, second: &Sum<'_>) -> Vec<Part> {
    if first.reduce != second.reduce || first.op != second.op {
        return Vec::new();
    }
    let all: Vec<usize> = (0..first.factors.len()).collect();
    let Overlay { pairs, renaming } = overlay(first, second, &all);
    let vars = |at: usize| first.factors[at].vars();
    let mut groups: Vec<Vec<(usize, usize)>> = Vec::new();
    for pair in pairs {
        let meets = |group: &Vec<(usize, usize)>| {
            let mut others = group.iter().flat_map(|(at, _)| vars(*at));
            others.any(|var| vars(pair.0).contains(&var))
        };
        let (joined, apart): (Vec<_>, Vec<_>) = groups.into_iter().partition(meets);
        groups = apart;
        groups.push(joined.into_iter().flatten().chain([pair]).collect());
    }
    let parts = groups.into_iter().filter_map(|mut group| {
        group.sort_unstable();
        let (here, there): (Vec<usize>, Vec<usize>) = group.into_iter().unzip();
        let mut kept: Vec<IndexVar> = Vec::new();
        let mut own = BTreeSet::new();
        for var in here.iter().flat_map(|at| vars(*at)) {
            let other = renaming.0[&var];
            if first.is_own(var, &here) && second.is_own(other, &there) {
                own.insert(var);
            } else if !kept.contains(&var) {
                kept.push(var);
            }
        }
        let factors = here.iter().filter_map(|at| first.access(*at));
        (!own.is_empty()).then(|| Part {
            statement: first.statement,
            reduce: first.reduce.clone(),
            op: first.op.clone(),
            factors: factors.map(|(access, _)| access.clone()).collect(),
            own,
            kept,
        })
    });
    parts.collect()
}

impl Part {
    fn product(&self) -> Expr {
        let factors = self.factors.iter().cloned().map(Expr::Access);
        product(&self.op, factors).expect("a part has factors")
    }

    /// The factors of a sum that are this part, with its variables there.
    fn place(&self, sum: &Sum<'_>) -> Option<(Vec<usize>, Vec<IndexVar>)> {
        let body = self.product();
        let own: Vec<IndexVar> = self.own.iter().copied().collect();
        let alone = Sum {
            statement: self.statement,
            expr: &body,
            reduce: &self.reduce,
            vars: &own,
            op: &self.op,
            factors: {
                let mut factors = Vec::new();
                flatten(&self.op, &body, &mut factors);
                factors
            },
        };
        if sum.reduce != alone.reduce || sum.op != alone.op {
            return None;
        }
        let all: Vec<usize> = (0..alone.factors.len()).collect();
        let Overlay { pairs, renaming } = overlay(&alone, sum, &all);
        if pairs.len() < all.len() {
            return None;
        }
        let places: Vec<usize> = pairs.into_iter().map(|(_, at)| at).collect();
        let is_own = |var: &IndexVar| sum.is_own(renaming.0[var], &places);
        if !self.own.iter().all(is_own) {
            return None;
        }
        let kept = self.kept.iter().map(|var| renaming.0[var]).collect();
        Some((places, kept))
    }

    /// The program with this part in a statement of its own, if two sums read it and all that
    /// it reads is there before them.
    fn share(
        &self,
        program: &Program,
        formats: &Formats,
        sums: &[Sum<'_>],
        name: String,
    ) -> Option<Shared> {
        check_order(self.kept.len()).ok()?;
        let mut shared = program.clone();
        let span = program.statements[self.statement].span;
        let part = Expr::Reduce {
            op: self.reduce.clone(),
            vars: self.own.iter().copied().collect(),
            body: Box::new(self.product()),
        };
        let extents = self.kept.iter().map(|var| program.vars[*var].extent);
        let result = shared.tensors.push(TensorData {
            name: name.clone(),
            earlier_of: None,
            element: part.element(&program.tensors),
            extents: extents.collect(),
            fill: part.fill_of_temporary(&program.tensors, &program.vars),
            role: TensorRole::Result,
            span: program.tensors[program.statements[self.statement].lhs.tensor].span,
            levels_of: None,
        });
        let mut read_by = BTreeSet::new();
        let mut n_read = 0;
        for sum in sums {
            let Some((places, kept)) = self.place(sum) else {
                continue;
            };
            let read = Access::plain(result, &kept, span);
            let without = sum.without(&places, read);
            let statement = &mut shared.statements[sum.statement];
            statement.rhs = statement
                .rhs
                .map_parts(&mut |candidate| (candidate == sum.expr).then(|| without.clone()));
            read_by.insert(sum.statement);
            n_read += 1;
        }
        let first = *read_by.first().filter(|_| n_read > 1)?;
        let is_there = |access: &Access| {
            let mut later = program.statements[first..].iter();
            !later.any(|statement| statement.lhs.tensor == access.tensor)
        };
        if !self.factors.iter().all(is_there) {
            return None;
        }
        let computed = self.statement(&mut shared, result, span);
        shared.statements.insert(first, computed);
        let is_dense = |tensor: TensorVar| formats.get(tensor).map(Format::is_all_dense);
        let all_dense = |accesses: &[&Access]| {
            let mut accesses = accesses.iter();
            accesses.all(|access| is_dense(access.tensor) == Some(true))
        };
        let is_result_dense = |number: &usize| {
            let statement = &program.statements[*number];
            is_dense(statement.lhs.tensor).unwrap_or_else(|| all_dense(&statement.rhs.accesses()))
        };
        let is_plain = all_dense(&self.factors.iter().collect::<Vec<_>>())
            || read_by.iter().all(is_result_dense);
        // A scalar is stored, whether or not there is something to sum.
        if self.kept.is_empty() && !is_plain {
            return None;
        }
        let mut formats = formats.clone();
        if !is_plain {
            let order = self.kept.len();
            let levels = (0..order).map(|mode| Level::new(mode, LevelKind::Compressed));
            let format = Format::from_levels(levels.collect());
            formats.set(
                result,
                format.expect("compressed levels stand in any order"),
            );
        }
        Some(Shared {
            program: shared,
            formats,
            name,
        })
    }

    /// The statement that computes the part, over variables of its own.
    fn statement(
        &self,
        shared: &mut Program,
        result: TensorVar,
        span: sparsec_base::Span,
    ) -> Statement {
        let vars = self.kept.iter().chain(&self.own).copied();
        let own: BTreeMap<IndexVar, IndexVar> = vars
            .map(|var| {
                let data = shared.vars[var].clone();
                (var, shared.vars.push(data))
            })
            .collect();
        let rename = |var: IndexVar| own.get(&var).copied().unwrap_or(var);
        Statement {
            lhs: Access::plain(result, &self.kept, span).renamed(&rename),
            rhs: Expr::Reduce {
                op: self.reduce.clone(),
                vars: self.own.iter().map(|var| rename(*var)).collect(),
                body: Box::new(self.product().renamed(&rename)),
            },
            before: None,
            reduce: None,
            span,
        }
    }
}

impl Sum<'_> {
    /// The sum with a factor in place of some.
    fn without(&self, places: &[usize], read: Access) -> Expr {
        let factors = self.factors.iter().enumerate();
        let rest = factors.filter(|(at, _)| !places.contains(at));
        let rest = rest.map(|(_, factor)| (*factor).clone());
        let all = [Expr::Access(read)].into_iter().chain(rest);
        let body = product(self.op, all).expect("there is one factor");
        let used = body.vars();
        let left = self.vars.iter().copied().filter(|var| used.contains(var));
        let vars: Vec<IndexVar> = left.collect();
        match vars.is_empty() {
            true => body,
            false => Expr::Reduce {
                op: self.reduce.clone(),
                vars,
                body: Box::new(body),
            },
        }
    }
}

fn product(op: &Operator, factors: impl Iterator<Item = Expr>) -> Option<Expr> {
    factors.reduce(|left, right| Expr::Apply {
        op: op.clone(),
        args: vec![left, right],
    })
}

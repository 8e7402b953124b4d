//! Which values of the variables of a left side name an entry.
//!
//! ```text
//! left side       coordinates r, s     solution
//! A(i + 1)        r                    i = r - 1
//! A(2*i)          r                    i = r // 2,      r % 2 is 0
//! A(3*i + 7)      r                    i = r // 3 - 2,  r % 3 is 1
//! A(4*i + j)      r                    i = r // 4,      j = r % 4        j < 4
//! A(i//2, i%2)    r, s                 i = 2*r + s,     s // 2 is 0
//! A(i, i)         r, s                 i = r,           s - r is 0
//! A(i({4,1}))     r                    i = {2,1,2,2,0}[r % 5] + 2*(r // 5)
//! A(i // 2)       r                    i = 2*r + k      for k in 0..2
//! A(i + j)        r                    j = r - i        for every i
//! ```
//!
//! Modes are solved one after the other, those with one unknown variable first.
//! That a value is outside of what its variable runs over says that the entry is
//! not assigned. The last two kinds name an entry repeatedly, which only a statement
//! with an operator may.

use std::collections::BTreeMap;

use sparsec_base::{Diagnostic, Result, code};

use super::refused;
use crate::index_expr::{IndexExpr, Term};
use crate::program::{IndexVar, IndexVarData, Program, Statement};

/// The most coordinates of a set on the left: each is compared with.
const MOST_LISTED: usize = 64;
/// The largest coordinate of a set on the left: a kernel has a list as long.
const LARGEST_LISTED: u64 = 10_000;

/// What the variables of a left side are, given the coordinates of an entry.
#[derive(Debug, Default)]
pub(super) struct Solution {
    /// The value of each variable.
    pub(super) values: BTreeMap<IndexVar, IndexExpr>,
    /// What has to be zero for the entry to be assigned.
    pub(super) zero: Vec<IndexExpr>,
    /// Variables that may have any value.
    pub(super) free: Vec<IndexVar>,
    /// For a variable that counts a set, what has to be one of its coordinates.
    pub(super) lists: BTreeMap<IndexVar, (IndexExpr, Vec<u64>)>,
}

/// Solves the left side of a statement for its variables, given a variable for
/// each coordinate of an entry.
///
/// # Errors
/// `E0225`, `E0227`.
pub(super) fn solve(
    program: &mut Program,
    statement: &Statement,
    modes: &[IndexVar],
) -> Result<Solution> {
    let indices = statement.lhs.indices.iter().cloned();
    let coordinates = modes.iter().map(|var| IndexExpr::from(*var));
    let mut solver = Solver {
        program,
        statement,
        open: indices.zip(coordinates).collect(),
        solution: Solution::default(),
    };
    while !solver.open.is_empty() {
        let solved = (0..solver.open.len()).any(|at| solver.one_unknown(at).is_some())
            || solver.blocks().is_some()
            || (0..solver.open.len()).any(|at| solver.radix(at).is_some())
            || solver.repeated()?;
        if !solved {
            return Err(
                solver.refuse("it is not known which values of its variables name an entry")
            );
        }
    }
    Ok(solver.solution)
}

struct Solver<'a> {
    program: &'a mut Program,
    statement: &'a Statement,
    /// What is not solved yet: an index, and the coordinate that it is.
    open: Vec<(IndexExpr, IndexExpr)>,
    solution: Solution,
}

impl Solver<'_> {
    fn is_known(&self, index: &IndexExpr) -> bool {
        let vars = index.vars();
        vars.iter()
            .all(|var| self.solution.values.contains_key(var))
    }

    /// The unknown terms of an index, and the coordinate without the known ones.
    fn unknown(&self, at: usize) -> Option<(Vec<(Term, i64)>, IndexExpr)> {
        let (index, value) = &self.open[at];
        let mut rest = value.minus(&IndexExpr::constant(index.offset()))?;
        let mut unknown = Vec::new();
        for (term, factor) in index.terms() {
            let part = IndexExpr::from_term(term.clone()).times(*factor)?;
            match self.is_known(&part) {
                true => rest = rest.minus(&self.known(&part)?)?,
                false => unknown.push((term.clone(), *factor)),
            }
        }
        Some((unknown, rest))
    }

    /// An index of variables that are known.
    fn known(&self, index: &IndexExpr) -> Option<IndexExpr> {
        index.substitute(&|var| self.solution.values.get(&var).cloned(), &|_| None)
    }

    fn extent(&self, var: IndexVar) -> u64 {
        self.program.vars[var].extent.expect("extents were checked")
    }

    /// Notes that an index has to be zero, unless it always is.
    fn is_zero(&mut self, index: IndexExpr) {
        if index != IndexExpr::constant(0) {
            self.solution.zero.push(index);
        }
    }

    /// Divides a coordinate by the factor of a term, which has to divide it.
    fn divided(&mut self, value: &IndexExpr, factor: i64) -> Option<IndexExpr> {
        let value = match factor < 0 {
            true => value.times(-1)?,
            false => value.clone(),
        };
        let by = factor.checked_abs()?;
        // Blocks begin at 0, whatever is added: so loops over them walk what is
        // stored in them.
        let rest = value.offset().checked_neg()?.rem_euclid(by);
        let blocks = value.offset().checked_add(rest)? / by;
        let value = value.minus(&IndexExpr::constant(value.offset()))?;
        if by > 1 {
            let within = value.modulo(by, &|_| None);
            self.is_zero(within.minus(&IndexExpr::constant(rest))?);
        }
        let quotient = value.floor_div(by, &|_| None);
        quotient.plus(&IndexExpr::constant(blocks))
    }

    /// Solves a mode with no unknown term, or one that has a solution.
    fn one_unknown(&mut self, at: usize) -> Option<()> {
        let (unknown, rest) = self.unknown(at)?;
        match &unknown[..] {
            [] => self.is_zero(rest),
            [(Term::Var(var), factor)] => {
                let value = self.divided(&rest, *factor)?;
                self.solution.values.insert(*var, value);
            }
            [(Term::FloorDiv(inner, 1), 1)] => {
                let var = inner.as_var()?;
                self.solution.values.insert(var, rest);
            }
            [(Term::Element(list, inner), 1)] => {
                let var = inner.as_var()?;
                let value = inverse(list, &rest)?;
                self.solution.values.insert(var, value);
                self.solution.lists.insert(var, (rest, list.clone()));
            }
            _ => return None,
        }
        self.open.remove(at);
        Some(())
    }

    /// Solves `x // q` and `x % q` together.
    fn blocks(&mut self) -> Option<()> {
        for quotient in 0..self.open.len() {
            for rest in 0..self.open.len() {
                let (above, value) = self.unknown(quotient)?;
                let (below, low) = self.unknown(rest)?;
                if let ([(Term::FloorDiv(x, q), 1)], [(Term::Mod(y, p), 1)]) =
                    (&above[..], &below[..])
                    && x == y
                    && q == p
                {
                    let whole = value.times(*q)?.plus(&low)?;
                    self.is_zero(low.floor_div(*q, &|_| None));
                    let inner = (**x).clone();
                    self.open.remove(quotient.max(rest));
                    self.open.remove(quotient.min(rest));
                    self.open.push((inner, whole));
                    return Some(());
                }
            }
        }
        None
    }

    /// Solves a sum of variables of which each counts what the next fill, as
    /// `4*i + j` with `j < 4`.
    fn radix(&mut self, at: usize) -> Option<()> {
        let (mut unknown, mut rest) = self.unknown(at)?;
        unknown.sort_by_key(|(_, factor)| std::cmp::Reverse(*factor));
        let mut vars = Vec::new();
        for (number, (term, factor)) in unknown.iter().enumerate() {
            let Term::Var(var) = term else { return None };
            let reach = |(term, factor): &(Term, i64)| match term {
                Term::Var(var) => i128::from(*factor) * (i128::from(self.extent(*var)) - 1),
                _ => i128::MAX,
            };
            let below: i128 = unknown[number + 1..].iter().map(reach).sum();
            if *factor <= 0 || below.max(0) >= i128::from(*factor) {
                return None;
            }
            vars.push((*var, *factor));
        }
        let (last, above) = vars.split_last()?;
        for (var, factor) in above {
            let value = rest.floor_div(*factor, &|_| None);
            rest = rest.modulo(*factor, &|_| None);
            self.solution.values.insert(*var, value);
        }
        let value = self.divided(&rest, last.1)?;
        self.solution.values.insert(last.0, value);
        self.open.remove(at);
        Some(())
    }

    /// Takes a variable for free where an entry is assigned repeatedly.
    fn repeated(&mut self) -> Result<bool> {
        if self.statement.reduce.is_none() {
            let text = self.written();
            let message = format!("`{text}` may be one entry for several values");
            return Err(Diagnostic::new(code::REPEATED_ENTRY, message)
                .at(
                    &self.program.source,
                    self.statement.lhs.span,
                    "which value is it?",
                )
                .help(format!("say how they are combined: `{text} += …`")));
        }
        let found = (0..self.open.len()).find_map(|at| self.free_in(at));
        Ok(found.is_some())
    }

    fn free_in(&mut self, at: usize) -> Option<()> {
        let (unknown, rest) = self.unknown(at)?;
        if let [(Term::FloorDiv(inner, by), factor)] = &unknown[..] {
            let value = self.divided(&rest, *factor)?.times(*by)?;
            let k = self.fresh("k", u64::try_from(*by).ok()?);
            self.open[at] = ((**inner).clone(), value.plus(&k.into())?);
            return Some(());
        }
        if let [(Term::Mod(inner, by), factor)] = &unknown[..] {
            let value = self.divided(&rest, *factor)?;
            let extent = |var: IndexVar| self.program.vars[var].extent;
            if inner.range(&extent).is_some_and(|(least, _)| least < 0) {
                return None;
            }
            let by_unsigned = u64::try_from(*by).ok()?;
            let n = inner.extent_needed(&extent)?.div_ceil(by_unsigned);
            self.is_zero(value.floor_div(*by, &|_| None));
            let k = self.fresh("k", n);
            let whole = IndexExpr::from(k).times(*by)?.plus(&value)?;
            self.open[at] = ((**inner).clone(), whole);
            return Some(());
        }
        // All but one may be anything; best one that needs no division.
        let vars = unknown.iter().map(|(term, factor)| match term {
            Term::Var(var) => Some((factor.unsigned_abs(), *var)),
            _ => None,
        });
        let mut vars = vars.collect::<Option<Vec<_>>>()?;
        vars.sort_by_key(|(factor, var)| (*factor, std::cmp::Reverse(*var)));
        for (_, var) in &vars[1..] {
            self.solution.values.insert(*var, (*var).into());
            self.solution.free.push(*var);
        }
        (vars.len() > 1).then_some(())
    }

    /// A new variable that may have any value.
    fn fresh(&mut self, base: &str, extent: u64) -> IndexVar {
        let name = self.program.vars.fresh(base);
        let extent = Some(extent);
        let var = self.program.vars.push(IndexVarData { name, extent });
        self.solution.free.push(var);
        var
    }

    fn written(&self) -> String {
        let span = self.statement.lhs.span;
        self.program.source.slice(span).to_owned()
    }

    fn refuse(&self, why: &str) -> Diagnostic {
        let message = format!("`{}` cannot be assigned", self.written());
        refused(
            self.program,
            self.statement.lhs.span,
            message,
            why,
            "compute the coordinates on the right, as in `A(i) = x(i - 1)`",
        )
    }
}

/// The place of a coordinate in a list, or one behind its end; `None` for lists
/// that have a coordinate twice, or are too long.
fn inverse(list: &[u64], at: &IndexExpr) -> Option<IndexExpr> {
    let largest = *list.iter().max()?;
    if list.len() > MOST_LISTED || largest > LARGEST_LISTED {
        return None;
    }
    let len = list.len() as u64;
    let mut places = vec![len; largest as usize + 1];
    for (place, coord) in list.iter().enumerate() {
        let before = std::mem::replace(&mut places[*coord as usize], place as u64);
        if before != len {
            return None;
        }
    }
    let n = i64::try_from(places.len()).ok()?;
    let beyond = at.floor_div(n, &|_| None).times(i64::try_from(len).ok()?)?;
    at.modulo(n, &|_| None).element_of(places).plus(&beyond)
}

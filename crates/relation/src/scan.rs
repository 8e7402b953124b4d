//! Scanning: loops that visit the points of sets in order.
//!
//! A set states its points; a loop nest visits each of them without trying others:
//!
//! ```text
//! {[i, k, j] : 0 <= i < N && pos(i) <= k < pos(i + 1) && j = crd(k)}
//!
//! for i in 0..N                     bounds that hold for i alone
//!   for k in pos(i)..pos(i + 1)     bounds, once i is known
//!     let j = crd(k)                an equality is solved, not searched
//!       visit(i, k, j)
//! ```
//!
//! Variables get their values one by one, outside in. A `let` computes a variable that the others
//! determine. Otherwise the next element of the tuple becomes a loop between its bounds (see the
//! table in `bounds`), or another variable does with which the element is known to grow: `{[i, j] :
//! exists k : …}` above loops over `k`, since `crd` is declared to increase within a row. A
//! comparison that declarations prove needs no test; others are tested as early as possible.
//!
//! A call has a value only inside of its function's domain. Every function must therefore be
//! declared, and no loop calls a function outside of its domain.
//!
//! A tuple of **times** before their own elements orders the visits of several statements.
//! Statements with the same first times share loops:
//!
//! ```text
//! s0 at [i, 0]      for i in 0..N
//! s1 at [i, 1, k]     s0(i)
//!                     for k in pos(i)..pos(i + 1)
//!                       s1(i, k)
//! ```
//!
//! If bounds of a shared loop differ, the loop runs over all values of any statement, and each
//! statement tests its own bounds. If one statement is known to end before the other begins, there
//! are two loops. Parts of a union may overlap: a part skips the points of the parts before it.
//!
//! Sources: Bastoul, "Code generation in the polyhedral model is easier than you think", PACT 2004;
//! Strout et al., "The Sparse Polyhedral Framework", 2018. Unlike there, declarations tighten
//! bounds beside projection, since bounds of sparse loops are values of functions.
//!
//! ```
//! use sparsec_relation::{Declarations, Set};
//! let csr: Declarations = "
//!     assume 0 <= N && 0 <= NZ
//!     function pos : {[i] : 0 <= i <= N} -> {[k] : 0 <= k <= NZ} nondecreasing
//!     function crd : {[k] : 0 <= k < NZ} -> {[j] : 0 <= j < M}
//! ".parse()?;
//! let entries: Set =
//!     "{[i, k, j] : 0 <= i < N && pos(i) <= k < pos(i + 1) && j = crd(k)}".parse()?;
//! assert_eq!(entries.scan(&csr)?.to_string(), "\
//! for i in 0..N
//!   for k in pos(i)..pos(i + 1)
//!     let j = crd(k)
//!     visit(i, k, j)
//! ");
//!
//! // The row of a position is found by bisection.
//! let row: Set = "{[k, i] : 0 <= k < NZ && pos(i) <= k < pos(i + 1)}".parse()?;
//! assert_eq!(row.scan(&csr)?.to_string(), "\
//! for k in 0..NZ
//!   let i = pos.first(k + 1) - 1
//!   if 0 <= i and i < N
//!     visit(k, i)
//! ");
//! # Ok::<(), sparsec_base::Diagnostic>(())
//! ```

use sparsec_base::{Diagnostic, Result, Source, Span, code};

use crate::conjunction::Conjunction;
use crate::declarations::Declarations;
use crate::expression::{Constraint, Expression, Variable};
use crate::names::{Names, Uses};
use crate::set::Set;

mod alone;
mod bounds;
mod item;
mod nest;
mod print;
mod proofs;
mod run;
mod shadow;

pub use run::{Data, Ended};

use item::{Finish, Item, Refused};
use nest::{Nest, Stuck, are_disjoint};
use proofs::Proofs;

/// A set whose points are visited, with the times of the visits.
#[derive(Clone, Debug)]
pub struct Visit {
    /// The points to visit.
    pub set: Set,
    /// When: expressions of the set's elements, compared from the first on. Visits of
    /// equal times go by tuple.
    pub time: Vec<Expression>,
}

/// A program of loops; see the module's page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loops {
    /// The variables, without constraints.
    variables: Conjunction,
    /// The steps of the loops.
    pub body: Vec<Step>,
}

/// One step of [`Loops`]. Conditions and bounds have values wherever they are reached.
///
/// Beside declared functions, expressions call `f.first(e)`: the first argument from
/// which on the monotone function `f` has reached `e`, or the end of its domain; and
/// `f.inverse(e)`: the argument at which `f` is `e`, else one outside of its domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Gives a variable a value, up to the end of the block.
    Let {
        /// The variable.
        variable: Variable,
        /// Its value.
        value: Expression,
    },
    /// Runs its body with the variable at each value in order.
    For {
        /// The variable.
        variable: Variable,
        /// The least of these; each of them the largest of its members.
        lower: Vec<Vec<Expression>>,
        /// The end: the largest of these; each of them the least of its members.
        upper: Vec<Vec<Expression>>,
        /// The body of the loop.
        body: Vec<Step>,
    },
    /// Runs its body if all conditions hold. Each condition has a value if the earlier ones hold.
    If {
        /// The conditions.
        conditions: Vec<Constraint>,
        /// The steps that run then.
        body: Vec<Step>,
    },
    /// Runs its body if the search finds something, or if it does not.
    Where {
        /// The search; a step [`Step::Found`] in it ends it.
        search: Vec<Step>,
        /// Whether the body runs where something is found.
        found: bool,
        /// The steps that run then.
        body: Vec<Step>,
    },
    /// Ends the innermost search.
    Found,
    /// Visits a point.
    Visit {
        /// Of which set.
        number: usize,
        /// The point.
        tuple: Vec<Expression>,
    },
}

impl Set {
    /// Loops that visit each tuple once, in lexicographic order.
    ///
    /// # Errors
    /// As [`scan`].
    pub fn scan(&self, declarations: &Declarations) -> Result<Loops> {
        let visit = Visit {
            set: self.clone(),
            time: Vec::new(),
        };
        scan(&[visit], declarations)
    }
}

/// Loops that visit the points of all sets by their times, and points of equal times
/// by their sets, then by tuple.
///
/// # Errors
/// `E0706` for a variable without a lower or an upper bound, `E0707` for a function of
/// which it is not declared where it has values.
pub fn scan(visits: &[Visit], declarations: &Declarations) -> Result<Loops> {
    let n_times = visits
        .iter()
        .map(|visit| visit.time.len())
        .max()
        .unwrap_or(0);
    let proofs = Proofs::new(declarations);
    let mut names = Names::default();
    let mut items: Vec<Item> = Vec::new();
    // The first item of each set, before its tuple orders its points, and whether it is empty.
    let mut known: Vec<(&Conjunction, Vec<Expression>, Item, bool)> = Vec::new();
    for (number, visit) in visits.iter().enumerate() {
        let mut time = visit.time.clone();
        time.resize(n_times, Expression::Integer(0));
        let mut parts: Vec<Item> = Vec::new();
        for part in visit.set.parts() {
            let mut like = known
                .iter()
                .filter(|(of, when, ..)| *of == part && are_like(when, &time));
            let shares = |(_, when, first, _): &&(&Conjunction, Vec<Expression>, Item, bool)| {
                first.number != number && share_loops(part, when, &time)
            };
            let (mut item, is_empty) = match like.clone().find(shares) {
                Some((.., first, is_empty)) => {
                    (first.again(number, part, &time, &mut names), *is_empty)
                }
                None => {
                    let item = Item::new(number, part, &time, &mut names, declarations)
                        .map_err(|refused| refused.diagnose(visit))?;
                    // Its variables may have no bounds that loops shared with others could use.
                    let is_empty = match like.next() {
                        Some((.., is_empty)) => *is_empty,
                        None => item.is_empty(&proofs),
                    };
                    known.push((part, time.clone(), item.clone(), is_empty));
                    (item, is_empty)
                }
            };
            if is_empty {
                continue;
            }
            item.order.extend(item.tuple.clone());
            let earlier = parts
                .iter()
                .filter(|other| !are_disjoint(other, &item, declarations));
            let earlier = earlier.cloned().collect();
            item.finish = Finish::Visit { earlier };
            parts.push(item);
        }
        items.extend(parts);
    }
    if items.is_empty() {
        return Ok(Loops::new(Names::default(), Vec::new()));
    }
    let mut nest = Nest { names, proofs };
    let body = nest
        .together(items, 0, n_times)
        .map_err(|stuck| stuck.diagnose(visits))?;
    Ok(Loops::new(nest.names, body))
}

/// Whether times differ in numbers alone.
fn are_like(a: &[Expression], b: &[Expression]) -> bool {
    let is_number = |e: &Expression| matches!(e, Expression::Integer(_));
    let mut both = a.iter().zip(b);
    both.all(|(a, b)| a == b || is_number(a) && is_number(b))
}

/// Whether the points of a part at two like times are visited by the same loops: all its variables
/// come before the times differ.
fn share_loops(part: &Conjunction, a: &[Expression], b: &[Expression]) -> bool {
    let same = a.iter().zip(b).take_while(|(a, b)| a == b);
    let same: Vec<&Expression> = same.map(|(e, _)| e).collect();
    let all = part.inputs().chain(part.outputs()).chain(part.exists());
    all.map(Expression::Variable).all(|v| same.contains(&&v))
}

impl Loops {
    /// Gives the variables of loops unique names without primes, which the languages of kernels
    /// lack.
    fn new(names: Names, body: Vec<Step>) -> Self {
        let names = names.without_primes();
        let mut expressions = Vec::new();
        body.iter().for_each(|step| step.collect(&mut expressions));
        let variables = Conjunction::over(names, &Uses::in_expressions(expressions));
        Self { variables, body }
    }

    /// The name of a variable.
    pub fn name(&self, variable: Variable) -> &str {
        self.variables.name(variable)
    }
}

impl Step {
    /// Adds the expressions of this step and of the steps inside.
    fn collect<'a>(&'a self, all: &mut Vec<&'a Expression>) {
        let blocks: &[&[Self]] = match self {
            Self::Let { value, .. } => {
                all.push(value);
                &[]
            }
            Self::For {
                lower, upper, body, ..
            } => {
                all.extend(lower.iter().chain(upper).flatten());
                &[body]
            }
            Self::If { conditions, body } => {
                all.extend(conditions.iter().flat_map(Constraint::expressions));
                &[body]
            }
            Self::Where { search, body, .. } => &[search, body],
            Self::Found => &[],
            Self::Visit { tuple, .. } => {
                all.extend(tuple);
                &[]
            }
        };
        for step in blocks.iter().copied().flatten() {
            step.collect(all);
        }
    }
}

impl Refused {
    fn diagnose(self, visit: &Visit) -> Diagnostic {
        let text = visit.set.to_string();
        let whole = Span::new(0, text.len());
        match self {
            Self::TooLarge => too_large(visit),
            Self::Domain(name) => {
                let place = text
                    .find(&format!("{name}("))
                    .map_or(whole, |at| Span::new(at, at + name.len()));
                let message = format!("nothing says where `{name}` has values");
                Diagnostic::new(code::SCAN_DOMAIN, message)
                    .at(&Source::new("set", text), place, "called in a loop")
                    .help(format!(
                        "declare it: `function {name} : {{[i] : 0 <= i < N}} -> {{[x]}}`"
                    ))
            }
        }
    }
}

impl Stuck {
    fn diagnose(self, visits: &[Visit]) -> Diagnostic {
        match self {
            Self::TooLarge => too_large(&visits[0]),
            Self::Unbounded {
                number,
                variable,
                side,
            } => {
                let text = visits[number].set.to_string();
                let is_named = text.split(|c: char| !is_name(c)).any(|w| w == variable);
                let place = place_of(&text, &variable);
                let (message, label, help) = match is_named {
                    true => (
                        format!("`{variable}` has no {side} bound"),
                        "nothing bounds it here",
                        format!(
                            "add a comparison such as `0 <= {variable} < N` of what is known outside \
                             of it, or declare the domains and ranges of its functions"
                        ),
                    ),
                    // A loop over the times themselves.
                    false => (
                        format!("when these points are has no {side} bound"),
                        "at times that nothing bounds",
                        "give points times that are sums of their elements, or declare the ranges \
                         of the functions in them"
                            .to_owned(),
                    ),
                };
                Diagnostic::new(code::SCAN_UNBOUNDED, message)
                    .at(&Source::new("set", text), place, label)
                    .help(help)
            }
        }
    }
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Where a name stands first, as a word of its own.
fn place_of(text: &str, name: &str) -> Span {
    let mut from = 0;
    while let Some(at) = text[from..].find(name) {
        let (start, end) = (from + at, from + at + name.len());
        let before = text[..start].chars().next_back();
        let after = text[end..].chars().next();
        if !before.is_some_and(is_name) && !after.is_some_and(is_name) {
            return Span::new(start, end);
        }
        from = end;
    }
    Span::new(0, text.len())
}

fn too_large(visit: &Visit) -> Diagnostic {
    let text = visit.set.to_string();
    let place = Span::new(0, text.len());
    Diagnostic::new(
        code::RELATION_TOO_LARGE,
        "a factor that does not fit in 64 bits",
    )
    .at(&Source::new("set", text), place, "cannot be scanned")
    .help("use factors that fit in 64 bits")
}

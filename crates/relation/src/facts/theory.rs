//! Declarations with their clauses as forms, and facts that are remembered.
//!
//! ```text
//! convert ──► 0 <= q < pos(N)  ──► what follows
//! lower   ──► 0 <= q < pos(N)  ──► the same facts, and the answers so far
//! ```
//!
//! Passes over one program ask about the same rows under the same declarations. While [`remembering`]
//! runs, rows have their consequences once.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use rustc_hash::FxBuildHasher;

use super::Facts;
use super::form::Form;
use crate::declarations::Declarations;
use crate::polynomial::Row;
use crate::set::Set;

/// Declarations, with their clauses as forms.
pub(crate) struct Theory {
    pub(crate) declarations: Declarations,
    /// The forms of the clauses.
    pub(super) forms: Rc<[Form]>,
    /// By function: where it has values, and which.
    members: Vec<OnceCell<Members>>,
}

/// The rows of a domain, about the arguments, and those of a range, about the value. None for a
/// set that is not one conjunction without `exists` variables.
pub(super) struct Members {
    pub(super) domain: Vec<Row>,
    pub(super) range: Vec<Row>,
}

/// Facts by the rows that were given, with their numbers.
type ByRows = HashMap<Vec<(usize, Row)>, Rc<Facts>, FxBuildHasher>;

/// The most facts that are remembered of one theory, each of which has up to
/// [`MOST_FACTS`](super::MOST_FACTS) rows. Conversions between any two presets ask for fewer than 100.
const MOST_REMEMBERED: usize = 1024;

/// Each theory with its facts.
type Memory = Vec<(Rc<Theory>, ByRows)>;

thread_local! {
    /// The facts of each theory, while [`remembering`] runs on this thread.
    static MEMORY: RefCell<Option<Memory>> = const { RefCell::new(None) };
}

/// Runs `work`, in which questions about the same constraints under the same declarations share
/// what follows from them. Answers are the same. Facts are kept until it ends.
///
/// ```
/// use sparsec_relation::{Answer, Declarations, Relation, remembering};
/// let known: Declarations = "function f : {[i]} -> {[x]} nondecreasing".parse()?;
/// let falls: Relation = "{[i] -> [j] : i < j && f(j) < f(i)}".parse()?;
/// let answers = remembering(|| [falls.is_empty(&known), falls.is_empty(&known)]);
/// assert_eq!(answers, [Answer::Yes; 2]);
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
pub fn remembering<R>(work: impl FnOnce() -> R) -> R {
    /// Forgets, also where `work` panics.
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            MEMORY.take();
        }
    }
    let is_first = MEMORY.with_borrow_mut(|memory| {
        let is_first = memory.is_none();
        memory.get_or_insert_default();
        is_first
    });
    // Only the outermost one has an end.
    let _end = is_first.then(|| End);
    work()
}

/// The facts of numbered rows: those that are remembered, or those that `derive` finds.
pub(super) fn remembered(
    rows: Vec<(usize, Row)>,
    declarations: &Declarations,
    derive: impl FnOnce(&Rc<Theory>, &[(usize, Row)]) -> Facts,
) -> Rc<Facts> {
    let found = MEMORY.with_borrow_mut(|memory| {
        let theories = memory.as_mut()?;
        let mut all = theories.iter();
        let at = all.position(|(theory, _)| theory.declarations == *declarations);
        let at = at.unwrap_or_else(|| {
            theories.push((Theory::of(declarations), ByRows::default()));
            theories.len() - 1
        });
        let (theory, facts) = &theories[at];
        Some((at, Rc::clone(theory), facts.get(&rows).cloned()))
    });
    let Some((at, theory, facts)) = found else {
        return Rc::new(derive(&Theory::of(declarations), &rows));
    };
    facts.unwrap_or_else(|| {
        let facts = Rc::new(derive(&theory, &rows));
        MEMORY.with_borrow_mut(|memory| {
            if let Some((_, known)) = memory.as_mut().and_then(|all| all.get_mut(at))
                && known.len() < MOST_REMEMBERED
            {
                known.insert(rows, Rc::clone(&facts));
            }
        });
        facts
    })
}

impl Theory {
    fn of(declarations: &Declarations) -> Rc<Self> {
        let clauses = declarations.clauses();
        let forms = clauses.iter();
        let functions = declarations.all_functions();
        Rc::new(Self {
            forms: forms
                .filter_map(|clause| Form::of(clause, declarations))
                .collect(),
            members: functions.map(|_| OnceCell::new()).collect(),
            declarations: declarations.clone(),
        })
    }

    /// The number of elements of a function's domain, and the rows of domain and range.
    pub(super) fn members(&self, name: &str) -> Option<(usize, &Members)> {
        let mut functions = self.declarations.all_functions().zip(&self.members);
        let (function, members) = functions.find(|(function, _)| function.name == name)?;
        let members = members.get_or_init(|| Members {
            domain: rows(&function.domain),
            range: rows(&function.range),
        });
        Some((function.domain.n_elements(), members))
    }
}

/// The rows of a set of one conjunction without `exists` variables.
fn rows(set: &Set) -> Vec<Row> {
    let [part] = set.parts() else {
        return Vec::new();
    };
    if part.exists().len() > 0 {
        return Vec::new();
    }
    let links = part.constraints().iter().flat_map(|it| it.links());
    let rows = links.filter_map(|(left, comparison, right)| Row::of(left, comparison, right));
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relation::Relation;

    fn known(text: &str) -> Declarations {
        text.parse().unwrap_or_else(|e| panic!("{e}"))
    }

    /// The facts of `i < j` under some declarations.
    fn facts(declarations: &Declarations) -> Rc<Facts> {
        let pairs: Relation = "{[i] -> [j] : i < j}".parse().unwrap();
        Facts::of(pairs.parts()[0].constraints(), declarations)
    }

    #[test]
    fn facts_are_shared_only_under_equal_declarations_and_while_work_runs() {
        let rising = known("function f : {[i]} -> {[x]} nondecreasing");
        let falling = known("function f : {[i]} -> {[x]} nonincreasing");
        let first = remembering(|| {
            let first = facts(&rising);
            assert!(Rc::ptr_eq(&first, &facts(&rising.clone())));
            assert!(!Rc::ptr_eq(&first, &facts(&falling)));
            // Work inside of other work shares its facts, and leaves them there.
            assert!(remembering(|| Rc::ptr_eq(&first, &facts(&rising))));
            assert!(Rc::ptr_eq(&first, &facts(&rising)));
            first
        });
        assert!(!Rc::ptr_eq(&first, &facts(&rising)));
        assert!(!Rc::ptr_eq(&facts(&rising), &facts(&rising)));
    }

    #[test]
    fn a_panic_forgets() {
        let rising = known("function f : {[i]} -> {[x]} nondecreasing");
        let work =
            || remembering(|| std::panic::resume_unwind(Box::new(facts(&rising).rows().len())));
        let ended: Result<(), _> = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        assert!(ended.is_err());
        assert!(!Rc::ptr_eq(&facts(&rising), &facts(&rising)));
    }

    #[test]
    fn answers_stay_with_the_rows_that_were_asked_about() {
        let rising = known("function f : {[i]} -> {[x]} nondecreasing");
        let falls: Relation = "{[i] -> [j] : f(j) < f(i)}".parse().unwrap();
        let rises: Relation = "{[i] -> [j] : f(i) < f(j)}".parse().unwrap();
        remembering(|| {
            let facts = facts(&rising);
            for _ in 0..2 {
                for (pairs, excluded) in [(&falls, true), (&rises, false)] {
                    let rows = pairs.parts()[0].constraints().iter();
                    let links = rows.flat_map(|it| it.links());
                    let rows = links.filter_map(|(a, comparison, b)| Row::of(a, comparison, b));
                    let rows: Vec<Row> = rows.collect();
                    assert_eq!(facts.excludes(&rows), excluded);
                    assert_eq!(facts.under(&rows).impossible(), excluded);
                }
            }
        });
    }
}

//! Computations over relations to loop IR.
//!
//! ```text
//! s0: y(i) = 0            over {[i] : 0 <= i < N}                  at [i, 0]
//! s1: y(i) += A(p) * x(crd(p))
//!     over {[i, p] : 0 <= i < N && pos(i) <= p < pos(i + 1)}       at [i, 1, p]
//!
//! for i in 0..N {
//!   var t: f64 = 0.0
//!   for p in pos.vals[i]..pos.vals[i + 1] { t += A.vals[p] * x.vals[crd.vals[p]] }
//!   y.vals[i] = t }
//! ```
//!
//! Which loops there are is found by scanning the iteration spaces
//! ([`sparsec_relation::scan()`]); here they become statements of the loop IR
//! (`emit`), and assignments loads and stores (`values`).
//!
//! | computation     | argument of the function                                     |
//! |-----------------|--------------------------------------------------------------|
//! | parameters      | the first one, `parameters`: its extents, and no arrays      |
//! | `given`         | an operand: a dense tensor                                   |
//! | `out`           | a result; filled with zeros, unless a statement assigns all of it first |
//! | `inout`         | an operand `NAME.given` and a result, which begins as a copy |
//! | `temporary`     | none: a workspace                                            |
//!
//! No access is outside of its array: indices are proved to lie within extents for
//! every point, under what is declared, or the computation is refused. What is
//! declared of given arrays is checked before a kernel runs. Loops that follow data
//! which the computation writes run in a later stage of its [chain](sparsec_computation::chain);
//! the stage that completes the data ends with checks of what later ones rely on
//! (`settle`).

use sparsec_base::{Diagnostic, ElementType, Result, Source, Span, code};
use sparsec_computation::{Computation, DataSpace, Role as DataRole, Stage, Statement};
use sparsec_loop::{Builder, Expr, Function};
use sparsec_relation::{
    Comparison, Constraint, Declarations, Expression, Loops, Visit, remembering, scan,
};

mod ahead;
mod arrays;
mod cleared;
mod conditions;
mod covered;
mod curve;
mod emit;
mod filled;
mod groups;
mod in_loop;
mod in_runs;
mod inside;
mod kept;
mod key_function;
mod key_words;
mod last;
mod natural;
mod numbers;
mod places;
mod run;
mod scattered;
mod settle;
mod shares;
mod shifted;
mod sorted;
mod table;
mod telescoped;
mod totals;
mod touched;
mod turned;
mod values;
mod window;

use arrays::{Arrays, arguments};
use emit::Emitter;
use kept::{is_only_carried, locals};

/// Lowers a computation to a kernel of its name.
///
/// # Errors
/// Those of scanning, `E0706` and `E0707`; `E0708` for an access that is not known to
/// lie in its array, `E0709` for an array that the computation writes and loops follow.
///
/// ```
/// let spmv = "
/// computation spmv {
///   parameters N, M, NZ
///   function pos : {[i] : 0 <= i <= N} -> {[p] : 0 <= p <= NZ} nondecreasing
///   function crd : {[p] : 0 <= p < NZ} -> {[j] : 0 <= j < M}
///   given pos : i32[N + 1], crd : i32[NZ], A : f64[NZ], x : f64[M]
///   out y : f64[N]
///   s0: y(i) = 0 over {[i] : 0 <= i < N} at [i, 0]
///   s1: y(i) += A(p) * x(crd(p))
///     over {[i, p] : 0 <= i < N && pos(i) <= p < pos(i + 1)} at [i, 1, p]
/// }";
/// let function = sparsec_lower::lower_computation(&spmv.parse()?)?;
/// assert!(function.to_string().ends_with("
///   for i in 0..N {
///     var t: f64 = 0.0
///     for p in pos.vals[i]..pos.vals[i + 1] {
///       t += A.vals[p] * x.vals[crd.vals[p]]
///     }
///     y.vals[i] = t
///   }
/// }
/// "), "{function}");
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
pub fn lower_computation(computation: &Computation) -> Result<Function> {
    lower_computation_for(computation, Units::One)
}

/// How many units run the loops of a computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Units {
    /// One; loops are as short as they can be.
    One,
    /// Several, to which loops are given in shares (`shares`).
    Several {
        /// How many points make a share worth its while.
        grain: u32,
    },
}

/// As [`lower_computation`], for so many units. The results have the same bits.
///
/// # Errors
/// As [`lower_computation`].
pub fn lower_computation_for(computation: &Computation, units: Units) -> Result<Function> {
    remembering(|| match units {
        Units::One => {
            let mut joined = computation.clone();
            joined.join_copies();
            lowered(&joined, units)
        }
        Units::Several { .. } => lowered(computation, units),
    })
}

fn lowered(computation: &Computation, units: Units) -> Result<Function> {
    let stages = computation.chain();
    let text = computation.to_string();
    for stage in &stages {
        refuse_followed_results(stage, &text)?;
        let (stage, known) = (&stage.computation, stage.computation.known());
        let proofs = inside::Proofs::new(&known);
        for statement in &stage.statements {
            inside::check(stage, statement, &proofs, &text)?;
        }
        inside::check_functions(stage, &proofs, &text)?;
    }
    check_computed_extents(computation, &text)?;
    let mut scanned = Vec::new();
    for stage in &stages {
        let known = stage.computation.known();
        scanned.push((loops(&stage.computation, &known)?, known));
    }
    // Carried entries stay in variables, unless a loop stands between those who use them.
    let function = emitted((computation, units), &stages, &scanned, true)
        .or_else(|| emitted((computation, units), &stages, &scanned, false))
        .expect("what lies in arrays is found there");
    debug_assert_eq!(sparsec_loop::verify(&function), Ok(()), "{function}");
    Ok(function)
}

/// The function of scanned stages; `None` where a carried entry was to be in a variable
/// alone and is not.
fn emitted(
    (computation, units): (&Computation, Units),
    stages: &[Stage],
    scanned: &[(Loops, Declarations)],
    in_variables: bool,
) -> Option<Function> {
    let mut builder = Builder::new(&computation.name);
    let mut arrays = arguments(&mut builder, computation);
    arrays.bind_given(&mut builder, computation);
    for (stage, (loops, known)) in stages.iter().zip(scanned) {
        let mut emitter = Emitter::new(
            &mut builder,
            (computation, &stage.computation),
            known,
            loops,
            arrays,
        );
        emitter.carries = stage.carries.clone();
        emitter.grain = match units {
            Units::One => None,
            Units::Several { grain } => Some(grain.into()),
        };
        if in_variables {
            emitter.locals = locals(computation, stage).into_iter().collect();
            emitter.in_variables = (stage.carries.iter())
                .map(|function| function.name.clone())
                .filter(|name| is_only_carried(computation, stage, name))
                .collect();
        }
        emitter.may_shift = in_variables;
        emitter.begin(&stage.begins);
        emitter.make_totals(stage);
        emitter.begin_shifted();
        emitter.run();
        emitter.settle(computation, stage);
        if emitter.missed {
            return None;
        }
        arrays = emitter.arrays;
    }
    Some(builder.finish())
}

/// The loops of a computation.
///
/// # Errors
/// As [`scan`](fn@scan).
pub fn loops(computation: &Computation, known: &Declarations) -> Result<Loops> {
    let length = computation.schedule_length();
    let visits = computation.statements.iter().zip(0..);
    let visits: Vec<Visit> = visits
        .map(|(statement, place)| {
            let mut time = statement.schedule.clone();
            time.resize(length, Expression::Integer(0));
            time.push(Expression::Integer(place));
            Visit {
                set: statement.space.clone(),
                time,
            }
        })
        .collect();
    scan(&visits, known)
}

/// What kernels compute with where data store such entries.
fn compute_type(element: ElementType) -> ElementType {
    let is_narrow = element.is_integer() && element != ElementType::U64;
    if is_narrow { ElementType::I64 } else { element }
}

/// What entries are when they are loaded. The loop IR widens those that index arrays
/// hold; others are converted to what kernels compute with.
fn loaded_type(element: ElementType) -> ElementType {
    match element {
        ElementType::U8 | ElementType::U16 | ElementType::I32 => ElementType::I64,
        other => other,
    }
}

/// Whether an extent is known only when the computation has run so far.
fn has_computed_extent(computation: &Computation, space: &DataSpace) -> bool {
    let is_made = |name: &str| computation.writers(name).next().is_some();
    let mut extents = space.extents.iter();
    extents.any(|e| first_name(e, &is_made).is_some())
}

/// Whether an expression speaks of an entry.
fn calls(e: &Expression) -> bool {
    let mut found = false;
    e.visit(&mut |e| found |= matches!(e, Expression::Call(..)));
    found
}

/// Refuses results of several modes, and such that are given, whose extents are computed:
/// their length alone would not say what they are.
fn check_computed_extents(computation: &Computation, text: &str) -> Result<()> {
    for space in &computation.spaces {
        let is_list = space.role == DataRole::Out && space.extents.len() == 1;
        let calls = space.extents.iter().any(calls);
        let is_free = (is_list || space.role == DataRole::Temporary) && !calls;
        if is_free || !has_computed_extent(computation, space) {
            continue;
        }
        let message = format!("an extent of `{}` is computed", space.name);
        let place = declaration(text, &space.to_string());
        let help = match (space.role.is_given(), calls) {
            (true, _) => "give it the extents of other data that are given, or parameters",
            (_, true) => {
                "assign the entry to an integer in a statement, and let the extent speak of that"
            }
            _ => "make it a list: `out x : f64[n]`, where `x` has one mode",
        };
        return Err(Diagnostic::new(code::FOLLOWS_RESULT, message)
            .at(&printed(computation, text), place, "computed")
            .help(help));
    }
    Ok(())
}

/// Refuses extents, declarations, sets, schedules and indices that speak of data which
/// the computation makes: they have values before it runs.
fn refuse_followed_results(stage: &Stage, text: &str) -> Result<()> {
    let computation = &stage.computation;
    let is_made = |name: &str| {
        let space = computation.space(name);
        let is_written = || computation.writers(name).next().is_some();
        space.is_some_and(|space| !space.role.is_given() || is_written())
    };
    let refuse = |made: &str, follows: &str, follower: Span| {
        let source = printed(computation, text);
        let error = Diagnostic::new(
            code::FOLLOWS_RESULT,
            format!("{follows} `{made}`, which is computed"),
        )
        .at(&source, follower, "follows it here");
        let writer = computation.writers(made).next();
        let error = match writer.map(|writer| &computation.statement(writer).name) {
            Some(writer) => error.also(&source, place(text, writer), "written here"),
            None => error,
        };
        Err(error
            .help("compute it in an earlier stage: begin schedules with a smaller number there"))
    };
    for (what, words, bounds) in declared_bounds(computation) {
        let mut bounds = bounds.into_iter();
        if let Some(made) = bounds.find_map(|bound| first_name(bound, &is_made)) {
            return refuse(&made, &format!("{what} follows"), declaration(text, &words));
        }
    }
    for statement in &computation.statements {
        let mut found = None;
        let is_carried = |name: &str| stage.carries.iter().any(|it| it.name == name);
        let is_followed = |name: &str| is_made(name) && !is_carried(name);
        for_each_expression(statement, &mut |e| {
            found = found.take().or_else(|| first_name(e, &is_followed));
        });
        if let Some(made) = found {
            return refuse(&made, "loops follow", place(text, &statement.name));
        }
    }
    Ok(())
}

/// The declared extents and bounds of functions: for each, a description, the words with
/// which its declaration begins, and its expressions.
fn declared_bounds(computation: &Computation) -> Vec<(String, String, Vec<&Expression>)> {
    let spaces = computation.spaces.iter().map(|space| {
        let what = format!("the extent of `{}`", space.name);
        (what, space.to_string(), space.extents.iter().collect())
    });
    let functions = computation.declarations.functions().iter().map(|function| {
        let sets = [&function.domain, &function.range];
        let parts = sets.into_iter().flat_map(|set| set.parts());
        let constraints = parts.flat_map(|part| part.constraints());
        let what = format!("the bound of `{}`", function.name);
        let words = format!("function {} :", function.name);
        (
            what,
            words,
            constraints.flat_map(Constraint::expressions).collect(),
        )
    });
    spaces.chain(functions).collect()
}

/// The first name in an expression of which `wanted` holds.
fn first_name(e: &Expression, wanted: &impl Fn(&str) -> bool) -> Option<String> {
    let mut found = None;
    e.visit(&mut |e| match e {
        Expression::Call(name, _) | Expression::Constant(name)
            if found.is_none() && wanted(name) =>
        {
            found = Some(name.clone());
        }
        _ => {}
    });
    found
}

/// The place of a declaration, whose words stand in the text once.
fn declaration(text: &str, words: &str) -> Span {
    let begins = |at: &usize| {
        let before = text[..*at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
    };
    let mut places = text.match_indices(words).map(|(at, _)| at);
    let at = places.find(begins).unwrap_or(0);
    Span::new(at, at + words.len())
}

/// The text of a computation as a source. Transformations change statements, so that places are
/// those of the text that `--emit computation` prints, and not of a file.
fn printed(computation: &Computation, text: &str) -> Source {
    Source::new(format!("computation {}", computation.name), text)
}

/// The name of a statement where its line begins.
fn place(text: &str, statement: &str) -> Span {
    let begin = format!("\n  {statement}: ");
    let at = text.find(&begin).map_or(0, |at| at + 3);
    Span::new(at, at + statement.len())
}

/// Calls `visit` with each expression of a statement's space, schedule and indices.
fn for_each_expression<'a>(statement: &'a Statement, visit: &mut impl FnMut(&'a Expression)) {
    for part in statement.space.parts() {
        let all = part.constraints().iter().flat_map(Constraint::expressions);
        all.for_each(&mut *visit);
    }
    statement.schedule.iter().for_each(&mut *visit);
    statement
        .value
        .expressions()
        .into_iter()
        .for_each(&mut *visit);
    let read = statement.value.entries();
    for access in read.into_iter().chain([&statement.target]) {
        access.indices.iter().for_each(&mut *visit);
    }
}

/// `0 <= index < extent`.
fn within(index: &Expression, extent: &Expression) -> Constraint {
    Constraint {
        first: Expression::Integer(0),
        rest: vec![
            (Comparison::LessEqual, index.clone()),
            (Comparison::Less, extent.clone()),
        ],
    }
}

/// The number of entries.
fn length(space: &DataSpace, value: &mut impl FnMut(&Expression) -> Expr) -> Expr {
    let extents = space.extents.iter().map(value);
    extents.reduce(Expr::mul).unwrap_or_else(|| Expr::int(1))
}

//! Schedules that no plan can follow: which command is the reason, and a way out that
//! was planned before it is proposed.
//!
//! ```text
//! parallelize(k, CPUThread, Atomics)            in C(i,j) = A(i,k) * B(k,j)
//!
//!   with another strategy                       refused as well
//!   with blocks of the loop                     refused as well
//!   without the command                         planned: "leave the command out"
//! ```
//!
//! A statement is refused at the place that does not fit the loops, which is a place of
//! the expression. Where it has a plan without one of the commands, that command is the
//! reason, and the diagnostic points at it.

use sparsec_base::mark::{Races, Unit};
use sparsec_base::{Diagnostic, Source, code};
use sparsec_index::concrete::Clause;
use sparsec_schedule::{Command, ProgramSchedule, Schedule};

/// The most commands of a schedule that are left out one by one.
const MOST_TRIED: usize = 16;

/// The diagnostic of a schedule that was refused with `error`; `loops` are the index
/// variables of the program, and `is_planned` tells whether another schedule of it has a
/// plan.
pub(crate) fn explained(
    error: Diagnostic,
    schedule: &ProgramSchedule,
    loops: &[&str],
    is_planned: &dyn Fn(&ProgramSchedule) -> bool,
) -> Diagnostic {
    let placed = schedule.placed();
    let is_in_schedule = |error: &Diagnostic| {
        let primary = error.labels().iter().find(|label| label.primary);
        let in_schedule = |source: &Source| placed.iter().any(|(_, place)| place.source == *source);
        primary.is_some_and(|label| in_schedule(&label.source))
    };
    let is_race = error.code() == code::SCHEDULE_RACE;
    if placed.len() > MOST_TRIED || (is_in_schedule(&error) && !is_race) {
        return error;
    }
    // The last command sees the loops that those before it have made.
    let is_spare = |number: &usize| is_planned(&schedule.replaced(*number, &[]));
    let reason = (0..placed.len()).rev().find(is_spare);
    let Some(number) = reason else {
        let Some((_, first)) = placed.first().filter(|_| !is_in_schedule(&error)) else {
            return error;
        };
        // Only all of them together can be left out, if the program is not the reason.
        return match is_planned(&ProgramSchedule::default()) {
            true => {
                let end = placed.last().map_or(first.span, |(_, last)| last.span);
                error
                    .behind(
                        &first.source,
                        first.span.to(end),
                        "no plan follows these commands",
                    )
                    .note("without the schedule the program has a plan")
            }
            false => error,
        };
    };
    let (command, place) = placed[number];
    if !is_race {
        return error
            .behind(&place.source, place.span, "no plan follows this command")
            .note("without this command the program has a plan");
    }
    let other = alternatives(command, loops)
        .into_iter()
        .find(|commands| is_planned(&schedule.replaced(number, &commands.0)));
    error.help(match other {
        Some(commands) => {
            let texts: Vec<String> = commands.0.iter().map(ToString::to_string).collect();
            format!("write `{}`", texts.join("; "))
        }
        None => "leave the command out: the planner chooses the loops that run on several threads"
            .to_owned(),
    })
}

/// Other ways to run a loop on several units than a `parallelize` says: by another strategy,
/// in blocks of its iterations, or another loop.
fn alternatives(command: &Command, loops: &[&str]) -> Vec<Schedule> {
    let Command::Clause {
        clause: Clause::Parallelize { var, unit, races },
        ..
    } = command
    else {
        return Vec::new();
    };
    let unit = Unit::name(*unit);
    // Nobody is told to ignore races; atomic additions are the slowest.
    let safe = [
        Races::NoRaces,
        Races::ParallelReduction,
        Races::Temporary,
        Races::Atomics,
    ];
    let parallel =
        |var: &str, races: Races| format!("parallelize({var}, {unit}, {})", races.name());
    let name = var.word.text.as_str();
    let others = safe.iter().filter(|other| *other != races);
    let whole = others.map(|races| parallel(name, *races));
    let blocks = safe.iter().map(|races| {
        let split = format!("split({name}, {name}0, {name}1, 256)");
        format!("{split}; {}", parallel(&format!("{name}0"), *races))
    });
    let elsewhere = loops.iter().filter(|other| **other != name);
    let elsewhere = elsewhere
        .flat_map(|other| [Races::NoRaces, Races::Temporary].map(|races| parallel(other, races)));
    // Each block of an inner loop would walk the levels of that loop again.
    let is_outermost = loops.first().is_some_and(|first| *first == name);
    let blocks = blocks.filter(|_| is_outermost);
    let texts = whole.chain(blocks).chain(elsewhere).take(MOST_TRIED);
    let parsed = texts.map(|text| Schedule::parse(&Source::new("schedule", text)));
    parsed.filter_map(Result::ok).collect()
}

//! Schedules that derive variables from variables: how many a coordinate is computed
//! from is bounded, since passes would take its cube, or double at each command.

use sparsec_base::{Source, code};
use sparsec_index::{Concrete, concretize};
use sparsec_notation::{Declaration, Declarations, Notation};
use sparsec_schedule::Schedule;

fn matrix_sum() -> Concrete {
    let source = Source::new("expression", "y(i) = A(i,j)");
    let mut declarations = Declarations::new();
    declarations.declare("A", Declaration::with_order(2));
    let program = Notation::parse(&source).unwrap().resolve(&declarations);
    concretize(&program.unwrap(), 0)
}

/// How many commands of a schedule are applied before one is refused; all, if none is.
fn applied(commands: &[String]) -> usize {
    let source = Source::new("schedule", commands.join("\n"));
    let schedule = Schedule::parse(&source).unwrap();
    let mut concrete = matrix_sum();
    for (n, command) in schedule.0.iter().enumerate() {
        match command.apply(&concrete) {
            Ok(next) => concrete = next,
            Err(error) => {
                assert_eq!(error.code(), code::SCHEDULE_SIZE, "{error}");
                return n;
            }
        }
    }
    schedule.0.len()
}

fn splits(n: usize) -> Vec<String> {
    let name = |at: usize| match at {
        0 => "i".to_owned(),
        at => format!("i{at}"),
    };
    let split = |at| format!("split({}, {}, j{at}, 2)", name(at), name(at + 1));
    (0..n).map(split).collect()
}

#[test]
fn a_loop_is_split_a_moderate_number_of_times() {
    assert_eq!(applied(&splits(20)), 20);
    assert_eq!(applied(&splits(1000)), 63);
}

#[test]
fn loops_that_are_fused_and_split_in_turn_double() {
    let mut commands = vec!["fuse(i, j, f0)".to_owned()];
    for at in 1..1000 {
        commands.push(format!("split(f{}, a{at}, b{at}, 2)", at - 1));
        commands.push(format!("fuse(a{at}, b{at}, f{at})"));
    }
    let n = applied(&commands);
    assert!((8..20).contains(&n), "{n} are applied");
}

#[test]
fn bounds_of_bounds_are_counted_too() {
    let mut commands = vec!["split(i, i0, b0, 2)".to_owned()];
    for at in 1..1000 {
        commands.push(format!("bound(b{}, b{at}, 2, MaxExact)", at - 1));
    }
    assert!(applied(&commands) < 200);
}

//! Random programs until the time is up: `cargo xtask soak --minutes 30`.
//!
//! Programs have consecutive seeds; the first one is random unless it is given,
//! and is printed. Ends with the counts of what became of them: with exit code 0
//! if all agreed, and 1 after the first that did not, shrunk.

#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};

use sparsec_testing::random::{Random, Tally};

const USAGE: &str = "usage: cargo xtask soak [--minutes N] [--programs N] [--seed S]

Runs random programs on the interpreter, and some as C, against the dense oracle,
for 10 minutes unless told otherwise.";
/// How often a line says how far it is.
const REPORT_EVERY: Duration = Duration::from_secs(60);

/// What is asked for.
struct Call {
    time: Duration,
    programs: u64,
    seed: u64,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match parse(&arguments) {
        Some(call) => soak(&call),
        None => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn parse(arguments: &[String]) -> Option<Call> {
    let (mut minutes, mut programs, mut seed) = (None, None, None);
    for pair in arguments.chunks(2) {
        let [option, number] = pair else {
            return None;
        };
        match option.as_str() {
            "--minutes" => minutes = Some(number.parse::<f64>().ok()?),
            "--programs" => programs = Some(number.parse().ok()?),
            "--seed" => seed = Some(number.parse().ok()?),
            _ => return None,
        }
    }
    let default = if programs.is_some() { 1e9 } else { 10.0 };
    Some(Call {
        time: Duration::try_from_secs_f64(60.0 * minutes.unwrap_or(default)).ok()?,
        programs: programs.unwrap_or(u64::MAX),
        seed: seed.unwrap_or_else(seed_of_clock),
    })
}

/// Another one each time, and short enough to be typed.
fn seed_of_clock() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as u64 % 1_000_000_000)
}

fn soak(call: &Call) -> ExitCode {
    println!("programs of the seeds from {} on", call.seed);
    let random = Random::new();
    let started = Instant::now();
    let mut reported = started;
    let mut slowest = (Duration::ZERO, call.seed);
    for n in 0..call.programs {
        if started.elapsed() >= call.time {
            break;
        }
        let seed = call.seed.wrapping_add(n);
        let begun = Instant::now();
        if let Err(failure) = random.run(seed) {
            report(&random.tally(), started);
            println!("\n{failure}");
            return ExitCode::FAILURE;
        }
        slowest = slowest.max((begun.elapsed(), seed));
        if reported.elapsed() >= REPORT_EVERY {
            reported = Instant::now();
            let minutes = started.elapsed().as_secs() / 60;
            println!("{minutes} min: {} programs, all agree", n + 1);
        }
    }
    report(&random.tally(), started);
    let (time, seed) = slowest;
    println!(
        "{:>8.1} of them for the program of seed {seed}",
        time.as_secs_f64()
    );
    ExitCode::SUCCESS
}

fn report(tally: &Tally, started: Instant) {
    println!("{tally}{:>8} seconds", started.elapsed().as_secs());
}

//! Runs the fuzz targets, one after the other: `cargo xtask fuzz --minutes N`.
//!
//! ```text
//! cargo build, with fuzz/instrument in place of rustc        a stable compiler suffices
//! for each target:  libFuzzer from its seeds, corpus and former findings
//!                   target/fuzz/TARGET/corpus   inputs that reached new code, kept
//!                   target/fuzz/TARGET/found    inputs that are findings
//! ```
//!
//! A finding ends its target; the other targets still run. With `--keep`, the inputs that
//! reach code which no seed reaches are reduced to few and packed into `fuzz/corpus`, for the
//! repository.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use super::root;

const USAGE: &str = "usage: cargo xtask fuzz [--minutes N | --seconds N] [--target T]... [--keep]

Runs every fuzz target for a share of the minutes, or each for so many seconds. With --minutes
the crates of the workspace are optimised: they take longer to build and run faster.";

/// The limit on the data of one process, in KiB: far more than any input needs.
const MEMORY_KIB: u64 = 4 << 20;
/// The limit on resident memory of a process, in MiB, over all inputs that it ran.
const RESIDENT_MIB: u64 = 2048;
/// How long an input may run, in seconds: a hundred times more than one should on a slow machine.
const TIMEOUT: u64 = 25;
/// The most bytes that the kept inputs of one target may have.
const KEPT_BYTES: usize = 6 << 10;

/// How the names of inputs begin that the repository keeps, among the seeds.
const KEPT: &str = "kept-";

/// The options of one call.
#[derive(Debug, Default)]
struct Call {
    minutes: Option<f64>,
    seconds: Option<f64>,
    targets: Vec<String>,
    keep: bool,
}

/// A target as the engine lists it.
struct Target {
    name: String,
    longest: String,
}

/// The result of running one target.
struct Outcome {
    name: String,
    executions: String,
    coverage: String,
    corpus: String,
    findings: Vec<PathBuf>,
    failed: bool,
}

/// Fuzzes with the arguments behind `fuzz`.
pub(crate) fn run(arguments: &[String]) -> ExitCode {
    let Some(call) = parse(arguments) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match fuzz(&call) {
        Ok(outcomes) => report(&outcomes),
        Err(error) => {
            eprintln!("fuzz: {error}");
            ExitCode::FAILURE
        }
    }
}

fn parse(arguments: &[String]) -> Option<Call> {
    let mut call = Call::default();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--minutes" => call.minutes = Some(number(arguments.next()?)?),
            "--seconds" => call.seconds = Some(number(arguments.next()?)?),
            "--target" => call.targets.push(arguments.next()?.clone()),
            "--keep" => call.keep = true,
            _ => return None,
        }
    }
    (call.minutes.is_none() || call.seconds.is_none()).then_some(call)
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| *number > 0.0)
}

fn fuzz(call: &Call) -> Result<Vec<Outcome>, String> {
    let engine = build(call.seconds.is_none())?;
    let mut targets = list(&engine)?;
    if let Some(unknown) = call
        .targets
        .iter()
        .find(|name| !targets.iter().any(|target| target.name == **name))
    {
        let known: Vec<&str> = targets.iter().map(|target| target.name.as_str()).collect();
        return Err(format!(
            "there is no target `{unknown}`; targets are {}",
            known.join(" ")
        ));
    }
    targets.retain(|target| call.targets.is_empty() || call.targets.contains(&target.name));
    let each = match (call.seconds, call.minutes) {
        (Some(seconds), _) => seconds,
        (None, minutes) => minutes.unwrap_or(10.0) * 60.0 / targets.len() as f64,
    };
    let each = Duration::try_from_secs_f64(each).map_err(|error| error.to_string())?;
    println!(
        "{} targets, {} s each",
        targets.len(),
        each.as_secs().max(1)
    );
    println!("{HEADER}");
    let mut outcomes = Vec::new();
    for target in &targets {
        let outcome = run_target(&engine, target, each)?;
        println!("{}", line(&outcome));
        if call.keep {
            keep(&engine, target)?;
        }
        outcomes.push(outcome);
    }
    Ok(outcomes)
}

/// Builds the program of all targets, and gives its path. Every check of debug builds stays in it.
fn build(optimised: bool) -> Result<PathBuf, String> {
    let started = Instant::now();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let build = "build --quiet --package sparsec-fuzz --features engine --bin fuzz";
    let level = if optimised { "1" } else { "0" };
    let status = Command::new(cargo)
        .args(build.split(' '))
        .env("CARGO_PROFILE_DEV_OPT_LEVEL", level)
        .env("RUSTC_WORKSPACE_WRAPPER", root().join("fuzz/instrument"))
        .current_dir(root())
        .status();
    match status {
        Ok(status) if status.success() => {}
        Ok(_) => return Err("the targets do not build".to_owned()),
        Err(error) => return Err(format!("cargo does not start: {error}")),
    }
    println!("built in {} s", started.elapsed().as_secs());
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root().join("target"), PathBuf::from);
    Ok(target.join("debug/fuzz"))
}

/// The targets that the program has.
fn list(engine: &Path) -> Result<Vec<Target>, String> {
    let listed = Command::new(engine)
        .env("SPARSEC_FUZZ_TARGET", "list")
        .output();
    let listed = listed.map_err(|error| format!("{}: {error}", engine.display()))?;
    let text = String::from_utf8_lossy(&listed.stdout).into_owned();
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    let targets: Vec<Target> = lines
        .map(|(name, longest)| Target {
            name: name.to_owned(),
            longest: longest.to_owned(),
        })
        .collect();
    match targets.is_empty() {
        true => Err("the program of the targets lists none".to_owned()),
        false => Ok(targets),
    }
}

/// The folder in which a target works.
fn folder(target: &Target) -> PathBuf {
    root().join("target/fuzz").join(&target.name)
}

/// The engine over one target, in bounded memory. A folder given to it is read.
fn engine_over(engine: &Path, target: &Target) -> Result<Command, String> {
    let folder = folder(target);
    for name in ["corpus", "seeds", "found", "tmp"] {
        let path = folder.join(name);
        fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    let mut command = Command::new("sh");
    let limited = format!("ulimit -d {MEMORY_KIB}; exec \"$0\" \"$@\"");
    command
        .arg("-c")
        .arg(limited)
        .arg(engine)
        .env("SPARSEC_FUZZ_TARGET", &target.name)
        .env("SPARSEC_FUZZ_SEEDS", folder.join("seeds"))
        .env("TMPDIR", folder.join("tmp"))
        .env("RUST_BACKTRACE", "1")
        .arg(format!("-timeout={TIMEOUT}"))
        .arg(format!("-rss_limit_mb={RESIDENT_MIB}"))
        .arg(format!("-max_len={}", target.longest))
        .arg(format!(
            "-artifact_prefix={}/",
            folder.join("found").display()
        ))
        .stdin(Stdio::null());
    Ok(command)
}

/// Runs a target for some time.
fn run_target(engine: &Path, target: &Target, time: Duration) -> Result<Outcome, String> {
    let folder = folder(target);
    let mut command = engine_over(engine, target)?;
    // An earlier run has reported its findings.
    empty(&folder.join("found"))?;
    empty(&folder.join("seeds"))?;
    let output = command
        .arg(format!("-max_total_time={}", time.as_secs().max(1)))
        .arg(format!("-dict={}", folder.join("seeds.dict").display()))
        .arg("-print_final_stats=1")
        .args([folder.join("corpus"), folder.join("seeds")])
        .output();
    let output = output.map_err(|error| format!("sh: {error}"))?;
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    let path = folder.join("log");
    fs::write(&path, &log).map_err(|error| format!("{}: {error}", path.display()))?;
    empty(&folder.join("tmp"))?;
    let findings = entries(&folder.join("found"))?;
    let after = |word: &str| {
        let at = log.rfind(word)? + word.len();
        log[at..].split_whitespace().next().map(str::to_owned)
    };
    Ok(Outcome {
        name: target.name.clone(),
        executions: after("number_of_executed_units:").unwrap_or_default(),
        coverage: after("cov: ").unwrap_or_default(),
        corpus: after("corp: ").unwrap_or_default(),
        failed: !output.status.success(),
        findings,
    })
}

/// Reduces the corpus to inputs that reach code which no seed reaches, and packs them.
fn keep(engine: &Path, target: &Target) -> Result<(), String> {
    let folder = folder(target);
    let merged = folder.join("merged");
    fs::create_dir_all(&merged).map_err(|error| error.to_string())?;
    empty(&merged)?;
    let corpus = folder.join("corpus");
    for path in entries(&folder.join("seeds"))? {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let to = match name.starts_with(KEPT) {
            true => corpus.join(&name),
            false => merged.join(&name),
        };
        fs::copy(&path, to).map_err(|error| error.to_string())?;
    }
    // The engine copies inputs of the second folder that reach new code to the first.
    let own = entries(&merged)?;
    let output = engine_over(engine, target)?
        .args(["-set_cover_merge=1", "-rss_limit_mb=4096"])
        .args([&merged, &corpus])
        .output();
    let output = output.map_err(|error| format!("sh: {error}"))?;
    if !output.status.success() {
        let log = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{} cannot be reduced:\n{log}", target.name));
    }
    let mut inputs: Vec<Vec<u8>> = Vec::new();
    for path in entries(&merged)?.iter().filter(|path| !own.contains(path)) {
        inputs.push(fs::read(path).map_err(|error| error.to_string())?);
    }
    // Of too many inputs, some of each length stay.
    inputs.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
    let bytes: usize = inputs
        .iter()
        .map(|input| input.escape_ascii().count() + 1)
        .sum();
    let inputs = inputs.iter().step_by(bytes.div_ceil(KEPT_BYTES).max(1));
    let list = folder.join("kept");
    fs::create_dir_all(&list).map_err(|error| error.to_string())?;
    empty(&list)?;
    for (number, input) in inputs.enumerate() {
        fs::write(list.join(format!("{number:05}")), input).map_err(|error| error.to_string())?;
    }
    let packed = Command::new(engine)
        .env("SPARSEC_FUZZ_TARGET", &target.name)
        .env("SPARSEC_FUZZ_PACK", &list)
        .output();
    match packed {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// The files of a folder, in order.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let listed = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths: Vec<PathBuf> = listed.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}

fn empty(folder: &Path) -> Result<(), String> {
    for path in entries(folder)? {
        let removed = match path.is_dir() {
            true => fs::remove_dir_all(&path),
            false => fs::remove_file(&path),
        };
        removed.map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

const HEADER: &str = "target                 executions   coverage     corpus   findings";

fn line(outcome: &Outcome) -> String {
    let Outcome {
        name,
        executions,
        coverage,
        corpus,
        ..
    } = outcome;
    let findings = match (outcome.findings.len(), outcome.failed) {
        (0, true) => "ended".to_owned(),
        (n, _) => n.to_string(),
    };
    format!("{name:<20} {executions:>12} {coverage:>10} {corpus:>10} {findings:>10}")
}

/// Prints where findings are. The exit code tells whether there are any.
fn report(outcomes: &[Outcome]) -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for outcome in outcomes
        .iter()
        .filter(|it| it.failed || !it.findings.is_empty())
    {
        code = ExitCode::FAILURE;
        println!("\n{}: see target/fuzz/{}/log", outcome.name, outcome.name);
        for path in &outcome.findings {
            let bytes = fs::read(path).unwrap_or_default();
            println!("  {}\n    {}", path.display(), bytes.escape_ascii());
        }
        println!(
            "  keep the input in fuzz/regressions/{}, where `cargo test` runs it",
            outcome.name
        );
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(words: &[&str]) -> Option<Call> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        parse(&words)
    }

    #[test]
    fn times_are_for_all_or_for_each() {
        assert_eq!(call(&["--minutes", "5"]).unwrap().minutes, Some(5.0));
        let each = call(&["--seconds", "2", "--target", "mtx", "--target", "npy"]).unwrap();
        assert_eq!((each.seconds, each.targets.len()), (Some(2.0), 2));
        assert!(call(&["--minutes", "5", "--seconds", "2"]).is_none());
        assert!(call(&["--minutes", "-1"]).is_none());
        assert!(call(&["--minutes"]).is_none());
        assert!(call(&["mtx"]).is_none());
    }
}

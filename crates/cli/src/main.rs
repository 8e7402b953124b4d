//! The `sparsec` command.
//!
//! ```text
//! arguments ──► Cli (clap) ──► Call: the line as text, with places ──► a command
//!                                                                        │
//!               exit code ◄── Screen: text or JSON, colours or none ◄────┘
//! ```
//!
//! | module        | holds                                                        |
//! |---------------|--------------------------------------------------------------|
//! | [`arguments`] | every option, defined once                                    |
//! | [`call`]      | the command line as a source with places                      |
//! | [`pairs`]     | options of the form `NAME=VALUE`                              |
//! | [`usage`]     | what clap refuses, as a diagnostic                            |
//! | [`screen`]    | what is printed: text, JSON, diagnostics                      |
//! | [`problem`]   | from options to a request, shared by `run` and `compile`      |
//! | [`extents`]   | the extents that follow from those that are known             |
//! | [`files`]     | which file a path names, however it is spelled                |
//! | [`operands`]  | tensors from files and generators                             |
//! | [`notes`]     | costs that nobody asked for, for `run` and `compile`         |
//! | [`progress`]  | a bar on stderr while work goes on                            |
//! | [`table`]     | columns of text                                               |
//! | [`tensors`]   | tensors as answers: text, JSON, standard output               |
//! | [`spy`]       | pictures of where entries lie                                 |
//! | [`generated`] | completions of shells and the manual page                     |
//! | a module each | the commands: [`run`], [`compile`], [`relations`], [`mlir`], [`info`], [`convert`], [`formats`], [`explain`], [`cache`], [`bench`], [`doctor`] |
//!
//! Exit codes: 0 done; 2 where the error's place is on the command line or in
//! the text of an option; 1 for every other error.

use std::process::ExitCode;
use std::sync::Arc;

use clap::{CommandFactory as _, FromArgMatches as _};
use sparsec::Result;

mod arguments;
mod bench;
mod cache;
mod call;
mod compile;
mod convert;
mod derivation;
mod describe;
mod doctor;
mod examples;
mod explain;
mod extents;
mod files;
mod formats;
mod generated;
mod info;
mod mlir;
mod notes;
mod operands;
mod pairs;
mod problem;
mod progress;
mod relations;
mod room;
mod run;
mod screen;
mod spec;
mod spy;
mod table;
mod tensors;
mod text_file;
mod usage;

use arguments::{Cli, Command};
use call::Call;
use screen::Screen;

/// The exit code where the program or its data is wrong.
const WRONG: u8 = 1;
/// The exit code where the call is wrong.
const WRONG_CALL: u8 = 2;
/// The exit code of a panic, as Rust's own.
const PANICKED: u8 = 101;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args_os()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let call = Call::new(&words, &Cli::command());
    let mut screen = Screen::new(call.asks_for_json());
    report_panics();
    survive_file_limits();
    end_cleanly();
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| obey(&call, &mut screen)));
    match ended {
        Ok(Ok(code)) => ExitCode::from(code),
        Ok(Err(error)) => {
            screen.show(&error);
            let wrong = if call.is_at_fault(&error) {
                WRONG_CALL
            } else {
                WRONG
            };
            ExitCode::from(wrong)
        }
        Err(_) => ExitCode::from(PANICKED),
    }
}

/// Runs the command; its exit code.
fn obey(call: &Call, screen: &mut Screen) -> Result<u8> {
    // A call of nothing asks what there is.
    let is_bare = call.words().all(|word| word == "--json");
    let help = is_bare.then(|| "--help".into());
    let parsed = Cli::command()
        .try_get_matches_from(std::env::args_os().chain(help))
        .and_then(|mut matches| Cli::from_arg_matches_mut(&mut matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) if usage::is_answer(&error) => {
            let text = usage::answer(&error);
            screen.answer(|| text.clone(), || usage::answer_value(&error, &text))?;
            return Ok(0);
        }
        Err(error) => return Err(usage::diagnose(call, &error)),
    };
    match cli.command {
        Command::Run(arguments) => run::run(call, screen, &arguments),
        Command::Compile(arguments) => compile::compile(call, screen, &arguments, &["c"]),
        Command::Plan(arguments) => {
            compile::compile(call, screen, &arguments, &["tree", "plan", "schedule"])
        }
        Command::Relations(arguments) => relations::relations(call, screen, &arguments),
        Command::Mlir(arguments) => mlir::mlir(call, screen, &arguments),
        Command::Formats { format: None, .. } => formats::formats(screen),
        Command::Formats {
            format: Some(format),
            emit,
            order,
        } => describe::describe(call, screen, &format, order.as_deref(), &emit),
        Command::Explain { code } => explain::explain(call, screen, &code),
        Command::Cache { what } => cache::cache(screen, what),
        Command::Info(arguments) => info::info(call, screen, &arguments),
        Command::Convert(arguments) => convert::convert(call, screen, &arguments),
        Command::Completions { shell } => generated::completions(call, screen, &shell),
        Command::Man => generated::man(screen),
        Command::Bench(arguments) => bench::bench(call, screen, &arguments),
        Command::Doctor => doctor::doctor(screen),
    }
}

/// Has a write beyond `ulimit -f` fail with an error, as one to a full disk does;
/// the signal that comes with it would end the program before it can say so.
fn survive_file_limits() {
    let seen = Arc::default();
    // Where the handler cannot be set, the signal does what it always did.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, seen);
}

/// Has Ctrl-C and `kill` end the program at once, whatever a kernel is at, and leave
/// no temporary files behind.
fn end_cleanly() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let signals = [SIGINT, SIGTERM, SIGHUP];
    let heeded = signals.into_iter().filter(|signal| !is_ignored(*signal));
    // Where handlers cannot be set, the signals do what they always did.
    let Ok(mut signals) = signal_hook::iterator::Signals::new(heeded) else {
        return;
    };
    let wait = move || {
        if let Some(signal) = signals.forever().next() {
            sparsec::io::remove_unfinished();
            // Who waits for the program is to see what ended it.
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    };
    // It needs little, and where there is not even that, the work goes on without.
    let _ = std::thread::Builder::new().stack_size(1 << 16).spawn(wait);
}

/// Whether this process was started to pass over a signal, as under `nohup`.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Says of a panic what a user can do about it: report it. Those over damaged files become errors.
fn report_panics() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !sparsec::io::expects_panic() {
            usual(panic);
            screen::complain(
                "this is a fault of sparsec, not yours; please report it with the call",
            );
        }
    }));
}

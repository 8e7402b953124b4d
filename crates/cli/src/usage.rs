//! What clap refuses, as a diagnostic with its place on the command line.

use clap::CommandFactory as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use serde_json::{Value, json};
use sparsec::internals::suggest::closest;
use sparsec::{Diagnostic, FormatSpec, code};

use crate::arguments::Cli;
use crate::call::Call;

/// Whether this is the answer to `--help`, `--version` or `help`.
pub(crate) fn is_answer(error: &clap::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    ) && !error.use_stderr()
}

/// The text of the answer.
pub(crate) fn answer(error: &clap::Error) -> String {
    error.render().to_string()
}

/// The answer as JSON: the version alone, or the help as text.
pub(crate) fn answer_value(error: &clap::Error, text: &str) -> Value {
    match error.kind() {
        ErrorKind::DisplayVersion => json!({ "version": env!("CARGO_PKG_VERSION") }),
        _ => json!({ "help": text }),
    }
}

/// The diagnostic of a call that clap refuses.
pub(crate) fn diagnose(call: &Call, error: &clap::Error) -> Diagnostic {
    let definition = Cli::command();
    let found = context(
        error,
        [ContextKind::InvalidSubcommand, ContextKind::InvalidArg],
    );
    let word = found.first().map_or("", String::as_str);
    let (message, label) = match error.kind() {
        ErrorKind::InvalidSubcommand if is_expression(word) => (
            "an expression, and no command for it".to_owned(),
            "expected a command before this",
        ),
        ErrorKind::InvalidSubcommand => (format!("there is no command `{word}`"), "unknown"),
        ErrorKind::UnknownArgument if word.starts_with('-') => {
            (format!("there is no option `{word}` here"), "unknown")
        }
        ErrorKind::UnknownArgument => (format!("`{word}` is one word too many"), "left over"),
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            ("there is no command".to_owned(), "expected a command")
        }
        ErrorKind::MissingRequiredArgument => (
            missing(&found, called(&definition, call)),
            "expected after this",
        ),
        ErrorKind::ArgumentConflict => match prior(error) {
            Some(other) if other != word => (
                format!("`{}` and `{}` exclude each other", name(&other), name(word)),
                "not both",
            ),
            _ => (format!("`{}` is given twice", name(word)), "again"),
        },
        ErrorKind::InvalidValue | ErrorKind::WrongNumberOfValues => (
            format!("`{}` lacks its value", name(word)),
            "expected a value",
        ),
        ErrorKind::TooManyValues => (format!("`{}` takes no value", name(word)), "takes no value"),
        ErrorKind::InvalidUtf8 => ("a word of the call is not UTF-8".to_owned(), "in this call"),
        _ => ("the call cannot be understood".to_owned(), "in this call"),
    };
    let place = match error.kind() {
        // By its value, as an option may have a short name too.
        ErrorKind::ArgumentConflict => {
            let long = name(word).trim_start_matches('-');
            let second = call.value_span(long, 1);
            (second != call.end())
                .then_some(second)
                .or_else(|| call.find_last_word(name(word)))
                // It may stand there by its short name.
                .or_else(|| call.find_last_word(name(&prior(error)?)))
        }
        ErrorKind::InvalidSubcommand => call.find_word(word),
        // Words before it may be alike: `-f A=csr A=csr`.
        ErrorKind::UnknownArgument => call
            .find_last_word(word)
            .or_else(|| call.find_word(name(word))),
        _ => call.find_word(name(word)),
    };
    let place = place.unwrap_or_else(|| call.end());
    let diagnostic = Diagnostic::new(code::BAD_CALL, message).at(call.source(), place, label);
    diagnostic.help(help(error, word, call, &definition))
}

/// What is missing, with what it is.
fn missing(found: &[String], command: &clap::Command) -> String {
    let described = |placeholder: &String| {
        let bare = |text: &str| text.trim_matches(['<', '>', '[', ']']).to_owned();
        let name = match placeholder.starts_with('-') {
            true => placeholder.clone(),
            false => bare(placeholder),
        };
        let argument = command
            .get_positionals()
            .find(|argument| bare(&argument.to_string()) == name);
        let help = argument
            .and_then(clap::Arg::get_help)
            .map(ToString::to_string);
        match help.as_deref().and_then(|help| help.split(';').next()) {
            // Help texts are sentences: this one goes on in the middle of another.
            Some(help) => {
                let (first, rest) = help
                    .trim()
                    .split_at(help.chars().next().map_or(0, char::len_utf8));
                format!("{name} ({}{rest})", first.to_lowercase())
            }
            None => format!("`{name}`"),
        }
    };
    let all: Vec<String> = found.iter().map(described).collect();
    let verb = if all.len() == 1 { "is" } else { "are" };
    format!("{} {verb} missing", all.join(" and "))
}

/// The command that the call names, as far as its words are commands.
fn called<'a>(definition: &'a clap::Command, call: &Call) -> &'a clap::Command {
    let mut command = definition;
    for word in call.words() {
        command = command.find_subcommand(word).unwrap_or(command);
    }
    command
}

/// The first word of clap's description of an option: `-f <NAME=FORMAT>`.
fn name(word: &str) -> &str {
    let end = word.find([' ', '=']).unwrap_or(word.len());
    &word[..end]
}

fn help(error: &clap::Error, word: &str, call: &Call, definition: &clap::Command) -> String {
    let suggested = context(error, [ContextKind::SuggestedArg; 2]);
    let close = match error.kind() {
        ErrorKind::InvalidSubcommand => closest(word, commands(definition)),
        _ => suggested.first().map(|suggested| name(suggested)),
    };
    if let Some(close) = close {
        return format!("did you mean `{close}`?");
    }
    let command = called(definition, call);
    let own = match error.kind() {
        ErrorKind::InvalidSubcommand if word == "version" => {
            Some("did you mean `--version`?".to_owned())
        }
        ErrorKind::InvalidSubcommand => of_command(call, word),
        ErrorKind::UnknownArgument if word.starts_with('-') => {
            of_option(call, word, command, definition)
        }
        ErrorKind::UnknownArgument => of_word(word, command),
        ErrorKind::MissingRequiredArgument => {
            let options = context(error, [ContextKind::InvalidArg; 2]);
            let options = options.into_iter().filter(|name| name.starts_with('-'));
            let options: Vec<String> = options.collect();
            (!options.is_empty()).then(|| format!("add `{}`", options.join("` and `")))
        }
        ErrorKind::ArgumentConflict if command.get_name() == "convert" => Some(
            "stages are of two formats, and of no file: `sparsec convert --from csr --to csc --emit cases`"
                .to_owned(),
        ),
        _ => None,
    };
    if let Some(help) = own {
        return help;
    }
    let inner: Vec<&str> = command
        .get_subcommands()
        .map(clap::Command::get_name)
        .collect();
    match command.get_name() {
        "sparsec" | "help" => {
            "`sparsec help` lists the commands, `sparsec help run` the options of one".to_owned()
        }
        own if inner.is_empty() => format!("`sparsec help {own}` shows how it is called"),
        own => format!("`sparsec {own}` takes one of {}", inner.join(", ")),
    }
}

/// Whether a word reads like index notation.
fn is_expression(word: &str) -> bool {
    !word.starts_with('-') && word.contains(['=', '(']) && !is_data(word)
}

/// Whether a word names a file that holds a tensor.
pub(crate) fn is_data(word: &str) -> bool {
    sparsec::io::file_type(std::path::Path::new(word)).is_ok()
}

/// What to do with a word in the place of a command.
fn of_command(call: &Call, word: &str) -> Option<String> {
    if is_data(word) {
        return Some(format!("`sparsec info {word}` shows what the file holds"));
    }
    let (words, line) = call.with_command(None, "run");
    let is_complete = Cli::command().try_get_matches_from(words).is_ok();
    (is_expression(word) && is_complete).then(|| format!("write `{line}`"))
}

/// What to do with an option that other commands take.
fn of_option(
    call: &Call,
    option: &str,
    command: &clap::Command,
    definition: &clap::Command,
) -> Option<String> {
    let takes = |taker: &&clap::Command| {
        let mut options = taker.get_opts();
        options.any(|known| {
            let long = known.get_long().map(|long| format!("--{long}"));
            let short = known.get_short().map(|short| format!("-{short}"));
            [long, short].iter().flatten().any(|known| known == option)
        })
    };
    let takers: Vec<&str> = definition
        .get_subcommands()
        .filter(takes)
        .map(clap::Command::get_name)
        .collect();
    // One changed word is enough where the other command takes all else as well.
    let first_word = |command: &clap::Command| {
        let mut words = command.get_positionals();
        words.next().map(|word| word.get_id().clone())
    };
    let is_alike = |taker: &&&str| {
        let taker = definition.find_subcommand(taker);
        taker.map(first_word) == Some(first_word(command))
    };
    let line = takers.iter().filter(is_alike).find_map(|taker| {
        let (words, line) = call.with_command(Some(command.get_name()), taker);
        let is_complete = Cli::command().try_get_matches_from(words).is_ok();
        is_complete.then(|| format!("`sparsec {taker}` takes it: write `{line}`"))
    });
    if line.is_some() {
        return line;
    }
    let first = takers.first()?;
    if command.get_name() == "convert" {
        match option {
            "-f" | "--format" => {
                return Some("`--to FORMAT` says how the new file stores the tensor".to_owned());
            }
            "-o" | "--output" => {
                return Some(
                    "the second file is the one that is written: `sparsec convert IN OUT`"
                        .to_owned(),
                );
            }
            _ => {}
        }
    }
    Some(format!(
        "an option of `{}`, which `sparsec help {first}` describes",
        takers.join("`, `")
    ))
}

/// What to do with a word that is left over.
fn of_word(word: &str, command: &clap::Command) -> Option<String> {
    let name = command.get_name();
    if !matches!(name, "run" | "compile") {
        return None;
    }
    match word.split_once('=') {
        _ if word == "=" => Some("put the expression in quotes, which make it one word".to_owned()),
        Some((_, file)) if is_data(file) => Some(format!("give the tensor as `-i {word}`")),
        Some((_, format)) if format.parse::<FormatSpec>().is_ok() => {
            Some(format!("give the format as `-f {word}`"))
        }
        _ if is_data(word) => Some(format!(
            "say which tensor is read from it: `-i NAME={word}`"
        )),
        _ if is_expression(word) => Some(format!(
            "`{name}` takes one expression: put its statements into one word, between them `;`"
        )),
        _ => None,
    }
}

/// The names of all commands, those of `cache` included.
fn commands(definition: &clap::Command) -> impl Iterator<Item = &str> {
    let own = definition.get_subcommands();
    let nested = definition
        .get_subcommands()
        .flat_map(clap::Command::get_subcommands);
    own.chain(nested).map(clap::Command::get_name)
}

/// The option that another one is in conflict with.
fn prior(error: &clap::Error) -> Option<String> {
    let found = context(error, [ContextKind::PriorArg; 2]);
    found.into_iter().next()
}

/// What clap says of the first of `kinds` that it says something of.
fn context(error: &clap::Error, kinds: [ContextKind; 2]) -> Vec<String> {
    let found = kinds.into_iter().find_map(|kind| error.get(kind));
    match found {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        _ => Vec::new(),
    }
}

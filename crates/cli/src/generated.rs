//! `sparsec completions` and `sparsec man`: made from the one definition of
//! commands and options, so that they cannot lag behind it.

use clap::CommandFactory as _;
use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use serde_json::json;
use sparsec::{Diagnostic, Result, code};

use crate::arguments::Cli;
use crate::call::Call;
use crate::problem::suggest;
use crate::screen::Screen;

/// The shells that have completions, by name.
const SHELLS: [(&str, Shell); 5] = [
    ("bash", Shell::Bash),
    ("elvish", Shell::Elvish),
    ("fish", Shell::Fish),
    ("powershell", Shell::PowerShell),
    ("zsh", Shell::Zsh),
];

/// Prints the completions of a shell.
///
/// # Errors
/// `E0004` for a shell that there is not.
pub(crate) fn completions(call: &Call, screen: &mut Screen, wanted: &str) -> Result<u8> {
    let found = SHELLS.iter().find(|(name, _)| *name == wanted);
    let Some((_, shell)) = found else {
        let place = call.find_word(wanted).unwrap_or(call.end());
        let message = format!("there are no completions for `{wanted}`");
        let error = Diagnostic::new(code::BAD_OPTION_VALUE, message).at(
            call.source(),
            place,
            "unknown shell",
        );
        return Err(suggest(error, wanted, &SHELLS.map(|(name, _)| name)));
    };
    let mut text = Vec::new();
    clap_complete::generate(*shell, &mut Cli::command(), "sparsec", &mut text);
    let text = String::from_utf8_lossy(&text).into_owned();
    screen.answer(
        || text.clone(),
        || json!({ "shell": wanted, "completions": text }),
    )?;
    Ok(0)
}

/// Prints the manual page: the program, then every command.
///
/// # Errors
/// As [`Screen::print`].
pub(crate) fn man(screen: &mut Screen) -> Result<u8> {
    let text = page();
    screen.answer(|| text.clone(), || json!({ "man": text }))?;
    Ok(0)
}

/// The page in the language of `man`.
fn page() -> String {
    let mut definition = Cli::command();
    definition.build();
    let mut page = section(&definition, |man, out| {
        man.render_title(out)?;
        // Lines as they are, without blanks to fill them.
        out.extend(b".ad l\n.nh\n");
        man.render_name_section(out)?;
        man.render_synopsis_section(out)?;
        man.render_description_section(out)?;
        man.render_options_section(out)
    });
    for command in commands(&definition) {
        let name = command.get_bin_name().unwrap_or_default().to_owned();
        let mut head = Roff::new();
        head.control("SH", [name.to_uppercase().as_str()]);
        page.push_str(&head.render());
        let body = section(command, |man, out| {
            man.render_description_section(out)?;
            man.render_synopsis_section(out)?;
            man.render_options_section(out)
        });
        // What are sections of a page of its own are parts of a section here.
        for line in body.lines() {
            let part = line.strip_prefix(".SH ");
            page.push_str(&part.map_or(line.to_owned(), |name| format!(".SS {name}")));
            page.push('\n');
        }
        page.push_str(&examples(command));
    }
    page
}

/// The examples of a command, line by line as they are.
fn examples(command: &clap::Command) -> String {
    let Some(help) = command.get_after_help() else {
        return String::new();
    };
    let mut part = Roff::new();
    part.control("SS", ["EXAMPLES"]).control("nf", []);
    for line in help.to_string().lines().skip(1) {
        part.text([roman(line)]);
    }
    part.control("fi", []);
    part.render()
}

/// Parts of the page of a command. Writing to memory does not fail.
fn section(
    command: &clap::Command,
    render: impl FnOnce(&Man, &mut Vec<u8>) -> std::io::Result<()>,
) -> String {
    let mut out = Vec::new();
    let _ = render(&Man::new(command.clone()), &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// Every command that does something, those of commands included.
fn commands(definition: &clap::Command) -> Vec<&clap::Command> {
    let mut all = Vec::new();
    for command in definition.get_subcommands() {
        if command.get_name() == "help" {
            continue;
        }
        all.push(command);
        all.extend(commands(command));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that a text has every command and every option.
    fn check(what: &str, text: &str) {
        // Shells and `man` escape hyphens.
        let text = text.replace('\\', "");
        let mut definition = Cli::command();
        definition.build();
        for command in commands(&definition) {
            let name = command.get_name();
            assert!(text.contains(name), "{what} lacks `{name}`");
            for option in command.get_arguments() {
                if let Some(long) = option.get_long() {
                    assert!(text.contains(long), "{what} of `{name}` lacks `--{long}`");
                }
            }
        }
    }

    #[test]
    fn completions_mention_everything() {
        for (name, shell) in SHELLS {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "sparsec", &mut text);
            check(name, &String::from_utf8(text).expect("UTF-8"));
        }
    }

    #[test]
    fn the_page_mentions_everything() {
        let page = page();
        check("the page", &page);
        assert_eq!(page.matches(".TH ").count(), 1);
        assert!(page.contains(".SH \"SPARSEC RUN\""), "{page}");
    }
}

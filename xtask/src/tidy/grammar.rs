//! The grammar for editors knows the words that parsers know.
//!
//! Parsers have their words in constants. A word that is not in the grammar would look like a name in an
//! editor, and nobody would notice.

use std::path::Path;

use super::{Fault, read};

const GRAMMAR: &str = "editors/sparsec.tmLanguage.json";

/// Where the words stand: a file, and the name of a constant array of strings.
const WORDS: [(&str, &str); 6] = [
    ("crates/computation/src/parse.rs", "WORDS"),
    ("crates/computation/src/script.rs", "COMMANDS"),
    ("crates/index/src/text.rs", "RESERVED"),
    ("crates/notation/src/function.rs", "PROPERTIES"),
    ("crates/relation/src/key_function/parse.rs", "WORDS"),
    ("crates/relation/src/names.rs", "RESERVED"),
];

pub(super) fn check_workspace(root: &Path) -> Result<Vec<Fault>, String> {
    let grammar = read(root, GRAMMAR)?;
    if let Err(error) = serde_json::from_str::<serde_json::Value>(&grammar) {
        return Ok(vec![Fault::new(
            GRAMMAR,
            Some(error.line()),
            error.to_string(),
        )]);
    }
    let mut faults = Vec::new();
    for (file, constant) in WORDS {
        let text = read(root, file)?;
        let Some(words) = words(&text, constant) else {
            let text =
                format!("has no constant array `{constant}`, whose words the grammar is to know");
            faults.push(Fault::new(file, None, text));
            continue;
        };
        let missing = words.into_iter().filter(|word| !knows(&grammar, word));
        faults.extend(missing.map(|word| {
            let text = format!("the grammar lacks `{word}`, a word in {file}");
            Fault::new(GRAMMAR, None, text)
        }));
    }
    Ok(faults)
}

/// The strings of a constant array.
fn words<'t>(text: &'t str, constant: &str) -> Option<Vec<&'t str>> {
    let begin = text.find(&format!("const {constant}: ["))?;
    let (_, rest) = text[begin..].split_once("= [")?;
    let (list, _) = rest.split_once("];")?;
    Some(list.split('"').skip(1).step_by(2).collect())
}

/// Whether a pattern of the grammar has a word among its choices.
fn knows(grammar: &str, word: &str) -> bool {
    // `infj?` is both `inf` and `infj`.
    let ends = |rest: &str| rest.starts_with(['|', ')', '?']) || rest.starts_with("j?");
    let all = [word, word.strip_suffix('j').unwrap_or(word)];
    all.iter().any(|word| {
        let mut places = grammar.match_indices(word);
        places
            .any(|(at, _)| grammar[..at].ends_with(['|', '(']) && ends(&grammar[at + word.len()..]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_constant() {
        let text = "const OTHER: [&str; 1] = [\"no\"];\nconst WORDS: [&str; 2] = [\n    \"over\",\n    \"at\",\n];";
        assert_eq!(words(text, "WORDS"), Some(vec!["over", "at"]));
        assert_eq!(words(text, "NONE"), None);
    }

    #[test]
    fn a_word_is_a_whole_choice() {
        let grammar = r#""match": "\\b(over|attach|infj?)\\b""#;
        assert!(knows(grammar, "over") && knows(grammar, "inf") && knows(grammar, "infj"));
        assert!(!knows(grammar, "at") && !knows(grammar, "ver"));
    }
}

//! Filetests of relations.
//!
//! ```text
//! ; Halves, moved.
//! test relation composed simplified
//! assume 0 <= N
//! relation {[i] -> [h] : i = 2 * h}
//! then {[h] -> [k] : k = h + N}
//! ---- composed
//! {[i] -> [k] : exists h : i = 2 * h && k = h + N}
//! …
//! ```
//!
//! Above the relation stands what is declared. Relations are composed in their order;
//! `then inverse` takes one the other way round. `against` names a relation that the
//! composition is compared with.
//!
//! | stage        | is                                             |
//! |--------------|------------------------------------------------|
//! | `composed`   | the composition                                |
//! | `simplified` | the same pairs in fewer constraints            |
//! | `solved`     | the second tuple in terms of the first         |
//! | `function`   | whether no first tuple has two second tuples   |
//! | `isl`        | the composition in the syntax of ISL           |
//! | `empty`      | whether the composition has no pairs           |
//! | `subset`     | whether `against` has all pairs of the composition |
//! | `equal`      | whether `against` has the same pairs           |

use sparsec::Result;
use sparsec::internals::relation::{Declarations, Relation};

use crate::file::{Section, join, split};
use crate::stages::{Check, compare_all};

const TEST: &str = "test relation";

/// Whether a file is about a relation.
pub fn is_relation(text: &str) -> bool {
    text.lines().any(|line| line.starts_with(TEST))
}

/// Checks a file, or writes its sections anew if `bless`; gives the new text.
///
/// # Errors
/// What is not as expected.
pub fn check(name: &str, text: &str, bless: bool) -> Check<String> {
    let (head, sections) = split(text);
    let mut stages = Vec::new();
    let mut against = String::new();
    let mut texts = vec![(false, String::new())];
    for line in head.lines().filter(|line| !line.starts_with(';')) {
        let begun = ["then inverse ", "then ", "relation "];
        let begun = begun
            .into_iter()
            .find_map(|word| Some((word, line.strip_prefix(word)?)));
        if let Some(names) = line.strip_prefix(TEST) {
            stages.extend(names.split_whitespace());
        } else if let Some(rest) = line.strip_prefix("against ") {
            against = rest.to_owned();
        } else if let Some((word, rest)) = begun {
            texts.push((word == "then inverse ", format!("{rest}\n")));
        } else {
            let (_, text) = texts.last_mut().expect("declarations at least");
            *text += line;
            text.push('\n');
        }
    }
    let found = emitted(&texts, &against, &stages)
        .map_err(|error| format!("{name}: {}", error.render(false)))?;
    if !bless {
        compare_all(name, &sections, &found)?;
    }
    Ok(join(&head, &found))
}

fn emitted(texts: &[(bool, String)], against: &str, stages: &[&str]) -> Result<Vec<Section>> {
    let known: Declarations = texts[0].1.parse()?;
    let mut composed: Option<Relation> = None;
    for (is_inverse, text) in &texts[1..] {
        let relation: Relation = text.parse()?;
        let relation = match is_inverse {
            true => relation.inverse(),
            false => relation,
        };
        composed = Some(match composed {
            None => relation,
            Some(before) => before.then(&relation)?,
        });
    }
    let composed = composed.expect("a file has a relation");
    let simplified = composed.simplified_under(&known);
    let section = |stage: &&str| {
        let text = match *stage {
            "composed" => composed.to_string(),
            "simplified" => simplified.to_string(),
            "solved" => simplified.solved(&known)?.to_string(),
            "function" => format!("{:?}", simplified.is_function(&known)),
            "isl" => composed.to_isl(),
            "empty" => format!("{:?}", composed.is_empty(&known)),
            "subset" => format!("{:?}", composed.is_subset(&against.parse()?, &known)?),
            "equal" => format!("{:?}", composed.is_equal(&against.parse()?, &known)?),
            other => panic!("there is no stage `{other}` of a relation"),
        };
        Ok(Section {
            title: (*stage).to_owned(),
            line: 0,
            text: format!("{text}\n"),
        })
    };
    stages.iter().map(section).collect()
}

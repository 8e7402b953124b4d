//! Random formats, and how the text of formats is read or refused.

// Each test takes what it needs of this.
#![allow(dead_code)]

use proptest::prelude::*;
use sparsec_base::{Code, IndexWidth};
use sparsec_format::{Format, FormatSpec, Level, LevelKind, Widths};

/// Any format of an order in `orders`.
pub(crate) fn formats(orders: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = Format> {
    orders.prop_flat_map(|order| {
        let modes = Just((0..order).collect::<Vec<_>>()).prop_shuffle();
        let choices = prop::collection::vec((0..3u8, any::<bool>(), any::<bool>()), order);
        (modes, choices, widths()).prop_map(|(modes, choices, widths)| {
            Format::from_levels(levels(&modes, &choices))
                .expect("the strategy keeps the rules")
                .with_widths(widths)
        })
    })
}

/// Levels that keep the rules: below a nonunique level stands a singleton,
/// and below nothing else.
fn levels(modes: &[usize], choices: &[(u8, bool, bool)]) -> Vec<Level> {
    let mut levels: Vec<Level> = Vec::new();
    for (&mode, &(kind, unique, ordered)) in modes.iter().zip(choices) {
        let above = levels.last();
        let chained = above.is_some_and(|above| !above.unique);
        let below_nonordered = chained && above.is_some_and(|above| !above.ordered);
        levels.push(match kind {
            0 if !chained => Level::new(mode, LevelKind::Dense),
            _ => Level {
                coordinate: mode.into(),
                kind: match chained {
                    true => LevelKind::Singleton,
                    false => LevelKind::Compressed,
                },
                unique,
                ordered: ordered && !below_nonordered,
                widths: Widths::default(),
            },
        });
    }
    levels
}

fn widths() -> impl Strategy<Value = Widths> {
    let width = || prop::option::of(prop::sample::select(IndexWidth::ALL.to_vec()));
    (width(), width()).prop_map(|(pos, crd)| Widths { pos, crd })
}

/// Reads `text` for tensors of `order` and prints it again.
#[track_caller]
pub(crate) fn check(text: &str, order: usize, expect: &str) {
    let spec: FormatSpec = text.parse().unwrap_or_else(|error| panic!("{error}"));
    let format = spec
        .resolve(order)
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(format.to_string(), expect);
    assert_eq!(format.to_string().parse(), Ok(format));
}

/// Reads `text` and says what is wrong: the code, what the caret is under, and
/// a part of the help.
#[track_caller]
pub(crate) fn refuse(text: &str, expected: Code, under: &str, help: &str) {
    let error = text.parse::<FormatSpec>().expect_err("refused");
    refused(&error, expected, under, help);
}

#[track_caller]
pub(crate) fn refused(error: &sparsec_base::Diagnostic, expected: Code, under: &str, help: &str) {
    assert_eq!(error.code(), expected, "{error}");
    let label = &error.labels()[0];
    assert_eq!(label.source.slice(label.span), under, "{error}");
    assert!(error.help_text().unwrap_or("").contains(help), "{error}");
}

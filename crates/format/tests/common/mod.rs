//! Random formats.

use proptest::prelude::*;
use sparsec_base::IndexWidth;
use sparsec_format::{Format, Level, LevelKind, Widths};

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

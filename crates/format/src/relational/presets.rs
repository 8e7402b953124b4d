//! Formats with names that are relations.
//!
//! | preset       | stores                                                         | order |
//! |--------------|----------------------------------------------------------------|-------|
//! | `jds`        | jagged diagonals: rows by falling length, slot by slot         | 2     |
//! | `sell(C, S)` | chunks of `C` rows, sorted by length within `S` rows, padded   | 2     |
//! | `fcoo(m)`    | entries by mode `m`, with a bit where a new slice begins       | 3     |
//! | `bcsf(T)`    | a tree of fibers, none of more than `T` entries                | 3     |
//!
//! Each is a `.fmt` text beside this file, in which `$C` and so on stand for the numbers.

use std::sync::Arc;

use sparsec_base::{Result, Source};

use super::RelationFormat;
use crate::preset::with_arguments;

/// A format with a name that is a relation.
#[derive(Debug)]
pub struct RelationPreset {
    /// The name in format text.
    pub name: &'static str,
    /// What it is, in a few words.
    pub summary: &'static str,
    /// The order of the tensors that it stores.
    pub order: usize,
    /// The numbers that it takes in parentheses.
    pub parameters: &'static [RelationParameter],
    text: &'static str,
}

/// A number that a preset takes.
#[derive(Debug)]
pub struct RelationParameter {
    /// What it is, in a few words.
    pub summary: &'static str,
    /// The least value and the largest.
    pub range: (u64, u64),
    /// A usual value.
    pub example: u64,
    /// How it stands in the text.
    mark: &'static str,
}

const fn size(summary: &'static str, example: u64, mark: &'static str) -> RelationParameter {
    RelationParameter {
        summary,
        range: (1, 1 << 31),
        example,
        mark,
    }
}

const PRESETS: [RelationPreset; 4] = [
    RelationPreset {
        name: "jds",
        summary: "jagged diagonals: rows by falling length, slot by slot",
        order: 2,
        parameters: &[],
        text: include_str!("jds.fmt"),
    },
    RelationPreset {
        name: "sell",
        summary: "chunks of rows of about one length, each padded to its longest",
        order: 2,
        parameters: &[
            size("the rows of a chunk", 8, "$C"),
            size("the rows that are sorted by length together", 32, "$S"),
        ],
        text: include_str!("sell.fmt"),
    },
    RelationPreset {
        name: "fcoo",
        summary: "entries by one mode, with a bit where a new slice begins",
        order: 3,
        parameters: &[RelationParameter {
            summary: "the mode",
            range: (0, 2),
            example: 0,
            mark: "$M",
        }],
        text: include_str!("fcoo.fmt"),
    },
    RelationPreset {
        name: "bcsf",
        summary: "a tree of fibers, long ones split",
        order: 3,
        parameters: &[size("the most entries of a fiber", 128, "$T")],
        text: include_str!("bcsf.fmt"),
    },
];

/// All presets that are relations.
///
/// ```
/// use sparsec_format::relation_presets;
/// let texts: Vec<String> = relation_presets().iter().map(|preset| preset.text()).collect();
/// assert_eq!(texts, ["jds", "sell(8, 32)", "fcoo(0)", "bcsf(128)"]);
/// ```
pub fn relation_presets() -> &'static [RelationPreset] {
    &PRESETS
}

impl RelationPreset {
    /// The preset of a name.
    pub fn find(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// How the preset is written, with usual numbers.
    pub fn text(&self) -> String {
        let numbers: Vec<u64> = self.parameters.iter().map(|it| it.example).collect();
        with_arguments(self.name, &numbers)
    }

    /// The format with these numbers, one for each parameter and in its range.
    pub(crate) fn build(&self, numbers: &[u64]) -> Result<Arc<RelationFormat>> {
        let mut text = self.text.to_owned();
        for (parameter, number) in self.parameters.iter().zip(numbers) {
            // The mode of `fcoo` comes with the two others, in order.
            if parameter.mark == "$M" {
                let others: Vec<u64> = (0..3).filter(|mode| mode != number).collect();
                for (mark, mode) in ["$P", "$Q"].into_iter().zip(others) {
                    text = text.replace(mark, &mode.to_string());
                }
            }
            text = text.replace(parameter.mark, &number.to_string());
        }
        let name = with_arguments(self.name, numbers);
        let format = RelationFormat::parse(&Source::new(name.clone(), text))?;
        Ok(Arc::new(RelationFormat {
            name,
            is_preset: true,
            ..format
        }))
    }
}

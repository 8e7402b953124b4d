//! Formats with names that are relations.
//!
//! | preset       | stores                                                         | order |
//! |--------------|----------------------------------------------------------------|-------|
//! | `jds`        | jagged diagonals: rows by falling length, slot by slot         | 2     |
//! | `sell(C, S)` | chunks of `C` rows, sorted by length within `S` rows, padded   | 2     |
//! | `fcoo(m)`    | entries by mode `m`, with a bit where a new slice begins       | 2 on  |
//! | `bcsf(T)`    | a tree of fibers, none of more than `T` entries                | 2 on  |
//!
//! Those for one order are `.fmt` texts beside this file, in which `$C` and so on stand for the
//! numbers. The others are functions of the order (`by_order.rs`).

use std::sync::Arc;

use std::hash::{Hash, Hasher};

use sparsec_base::{Diagnostic, Result, Source, code};

use super::{RelationFormat, by_order};
use crate::preset::with_arguments;
use sparsec_base::MAX_ORDER;

/// A format with a name that is a relation, for one order or for all from 2 on.
#[derive(Debug)]
pub struct RelationPreset {
    /// The name in format text.
    pub name: &'static str,
    /// What it is, in a few words.
    pub summary: &'static str,
    /// The order of the tensors that it stores; `None` if it stores those of every order from
    /// 2 on.
    pub order: Option<usize>,
    /// The numbers that it takes in parentheses.
    pub parameters: &'static [RelationParameter],
    text: Text,
}

/// The descriptor of a preset and its assembly.
#[derive(Debug)]
enum Text {
    /// A text with marks in place of numbers.
    Marked(&'static str),
    /// The text for an order and numbers.
    OfOrder(fn(usize, &[u64]) -> String),
}

/// A preset is its name: no two presets share one.
impl PartialEq for RelationPreset {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for RelationPreset {}

impl Hash for RelationPreset {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
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
    /// Whether it is a mode, which has to be less than the order.
    is_mode: bool,
    /// How it stands in a text with marks.
    mark: &'static str,
}

const fn size(summary: &'static str, example: u64, mark: &'static str) -> RelationParameter {
    RelationParameter {
        summary,
        range: (1, 1 << 31),
        example,
        is_mode: false,
        mark,
    }
}

const PRESETS: [RelationPreset; 4] = [
    RelationPreset {
        name: "jds",
        summary: "jagged diagonals: rows by falling length, slot by slot",
        order: Some(2),
        parameters: &[],
        text: Text::Marked(include_str!("jds.fmt")),
    },
    RelationPreset {
        name: "sell",
        summary: "chunks of rows of about one length, each padded to its longest",
        order: Some(2),
        parameters: &[
            size("the rows of a chunk", 8, "$C"),
            size("the rows that are sorted by length together", 32, "$S"),
        ],
        text: Text::Marked(include_str!("sell.fmt")),
    },
    RelationPreset {
        name: "fcoo",
        summary: "entries by one mode, with a bit where a new slice begins",
        order: None,
        parameters: &[RelationParameter {
            summary: "the mode",
            range: (0, MAX_ORDER as u64 - 1),
            example: 0,
            is_mode: true,
            mark: "",
        }],
        text: Text::OfOrder(by_order::fcoo),
    },
    RelationPreset {
        name: "bcsf",
        summary: "a tree of fibers, long ones split",
        order: None,
        parameters: &[size("the most entries of a fiber", 128, "")],
        text: Text::OfOrder(by_order::bcsf),
    },
];

/// The least order of presets for several orders: `bcsf` has fibers and entries, `fcoo` a mode and
/// others.
const LEAST: usize = 2;

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

    /// Whether the preset stores tensors of `order`.
    pub fn fits(&self, order: usize) -> bool {
        match self.order {
            Some(only) => only == order,
            None => (LEAST..=MAX_ORDER).contains(&order),
        }
    }

    /// The format for tensors of `order` with these numbers, one for each parameter and in its
    /// range.
    ///
    /// # Errors
    /// `E0115` for an order that the preset does not fit, `E0129` for a mode that is not less than
    /// the order.
    pub(crate) fn build(&self, order: usize, numbers: &[u64]) -> Result<Arc<RelationFormat>> {
        let name = with_arguments(self.name, numbers);
        if !self.fits(order) {
            let own = match self.order {
                Some(only) => format!("order {only}"),
                None => format!("order {LEAST} and more"),
            };
            let message = format!("`{name}` stores tensors of {own}, not of order {order}");
            return Err(Diagnostic::new(code::FORMAT_ORDER, message)
                .help(format!("for order {order} use `csf`, `coo` or a map")));
        }
        let parameters = self.parameters.iter().zip(numbers);
        let mut modes = parameters.filter(|(parameter, _)| parameter.is_mode);
        if let Some((_, mode)) = modes.find(|(_, mode)| **mode >= order as u64) {
            let last = order - 1;
            let message =
                format!("`{name}` lists entries by mode {mode}, and there are modes 0 to {last}");
            let examples = with_arguments(self.name, &[0]);
            return Err(Diagnostic::new(code::PRESET_ARGUMENTS, message)
                .help(format!("for tensors of order {order} write `{examples}`")));
        }
        let text = match self.text {
            Text::OfOrder(text) => text(order, numbers),
            Text::Marked(text) => {
                let marks = self.parameters.iter().zip(numbers);
                marks.fold(text.to_owned(), |text, (parameter, number)| {
                    text.replace(parameter.mark, &number.to_string())
                })
            }
        };
        let format = RelationFormat::parse(&Source::new(name.clone(), text))?;
        Ok(Arc::new(RelationFormat {
            name,
            is_preset: true,
            ..format
        }))
    }
}

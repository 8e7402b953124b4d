//! Encodings in the spelling of each release.

use sparsec_format::LevelKind;

use crate::release::Dialect;
use crate::spell::Spell;

use super::{Encoding, Level, LevelExpr, Slice};

impl Encoding {
    /// The text between `<` and `>` in the spelling of a dialect. If a release cannot spell the
    /// encoding ([`refusal`](Self::refusal)), the text is the one of sparsec.
    pub(crate) fn text(&self, spell: &Spell<'_>) -> String {
        let dialect = match self.refusal(spell.dialect) {
            Some(_) => Dialect::Sparsec,
            None => spell.dialect,
        };
        let mut keys = match dialect.release() {
            ..=16 => self.keys_of_dimensions(),
            17 => self.keys_of_levels(),
            _ => vec![format!("map = {}", self.map_text(dialect))],
        };
        let names = match dialect.release() {
            ..=16 => ("pointerBitWidth", "indexBitWidth"),
            _ => ("posWidth", "crdWidth"),
        };
        for (name, width) in [(names.0, self.pos_width), (names.1, self.crd_width)] {
            if width > 0 {
                keys.push(format!("{name} = {width}"));
            }
        }
        let values = [
            ("explicitVal", &self.explicit_value),
            ("implicitVal", &self.implicit_value),
        ];
        for (name, value) in values {
            if let Some(value) = value {
                keys.push(format!("{name} = {}", spell.attribute(value)));
            }
        }
        format!("{{ {} }}", keys.join(", "))
    }

    /// The keys up to release 16.
    fn keys_of_dimensions(&self) -> Vec<String> {
        let mut keys = vec![format!("dimLevelType = [ {} ]", self.kinds_text())];
        if let Some(map) = self.map().filter(|map| !map.is_identity()) {
            let key = match map.permutation() {
                Some(_) => "dimOrdering",
                None => "higherOrdering",
            };
            keys.push(format!("{key} = affine_map<{map}>"));
        }
        if self.is_slice() {
            keys.push(format!("slice = [ {} ]", self.slices_text()));
        }
        keys
    }

    /// The keys of release 17.
    fn keys_of_levels(&self) -> Vec<String> {
        let mut keys = vec![format!("lvlTypes = [ {} ]", self.kinds_text())];
        if let Some(map) = self.map().filter(|map| !map.is_identity()) {
            keys.push(format!("dimToLvl = affine_map<{map}>"));
        }
        if self.is_slice() {
            keys.push(format!("dimSlices = [ {} ]", self.slices_text()));
        }
        keys
    }

    fn kinds_text(&self) -> String {
        let quoted = |level: &Level| format!("\"{}\"", old_kind(level));
        let kinds: Vec<String> = self.levels.iter().map(quoted).collect();
        kinds.join(", ")
    }

    fn slices_text(&self) -> String {
        let text = |slice: &Option<Slice>| slice.map_or_else(String::new, Slice::text);
        let slices: Vec<String> = self.slices.iter().map(text).collect();
        slices.join(", ")
    }

    /// `(d0, d1) -> (d0 : dense, d1 : compressed)`
    fn map_text(&self, dialect: Dialect) -> String {
        let mode = |n: usize| match self.slices.get(n).copied().flatten() {
            Some(slice) => format!("d{n} : #sparse_tensor<slice{}>", slice.text()),
            None => format!("d{n}"),
        };
        let modes: Vec<String> = (0..self.n_modes).map(mode).collect();
        let symbols: Vec<String> = (0..self.n_symbols).map(|n| format!("s{n}")).collect();
        let symbols = match symbols.is_empty() {
            true => String::new(),
            false => format!("[{}]", symbols.join(", ")),
        };
        let levels: Vec<String> = self
            .levels
            .iter()
            .map(|level| level.text(self.n_modes, dialect))
            .collect();
        format!("{symbols}({}) -> ({})", modes.join(", "), levels.join(", "))
    }
}

impl Level {
    /// `d0 : compressed(nonunique)`
    fn text(&self, n_modes: usize, dialect: Dialect) -> String {
        let expression = match &self.expression {
            LevelExpr::Affine(expression) => expression.to_string(),
            LevelExpr::Other(coordinate) => {
                let modes: Vec<String> = (0..n_modes).map(|n| format!("d{n}")).collect();
                coordinate.text(&modes)
            }
        };
        let kind = match self.kind {
            LevelKind::Structured { n: 2, m: 4 } if dialect.release() == 18 => {
                "block2_4".to_owned()
            }
            kind => kind.text(),
        };
        let properties = [
            (self.nonunique, "nonunique"),
            (self.nonordered, "nonordered"),
            (self.soa, "soa"),
        ];
        let properties: Vec<&str> = properties
            .into_iter()
            .filter(|(has, _)| *has)
            .map(|(_, name)| name)
            .collect();
        match properties.is_empty() {
            true => format!("{expression} : {kind}"),
            false => format!("{expression} : {kind}({})", properties.join(", ")),
        }
    }
}

/// `compressed-nu-no`: a level in the spelling up to release 17.
fn old_kind(level: &Level) -> String {
    let mut text = match level.kind {
        LevelKind::LooseCompressed => "compressed-hi".to_owned(),
        kind => kind.text(),
    };
    for (has, suffix) in [(level.nonunique, "-nu"), (level.nonordered, "-no")] {
        if has {
            text += suffix;
        }
    }
    text
}

impl Slice {
    /// `(0, 4, ?)`
    pub(crate) fn text(self) -> String {
        let number = |n: Option<u64>| n.map_or("?".to_owned(), |n| n.to_string());
        format!(
            "({}, {}, {})",
            number(self.offset),
            number(self.size),
            number(self.stride)
        )
    }
}

impl Encoding {
    /// The levels as an affine map of level expressions, for messages.
    pub(crate) fn expressions(&self) -> String {
        let of = |level: &Level| level.text(self.n_modes, Dialect::Sparsec);
        let texts: Vec<String> = self.levels.iter().map(of).collect();
        texts.join(", ")
    }
}

//! Reasons why a release cannot spell an encoding.

use sparsec_format::LevelKind;

use crate::release::Dialect;

use super::blocks::inverse;
use super::{Encoding, Level, rules};

impl Encoding {
    /// The reason why `dialect` cannot spell this encoding; `None` if it can. A message puts the
    /// name of the release before the text.
    ///
    /// ```
    /// use sparsec_format::Format;
    /// use sparsec_mlir::{Dialect, Encoding};
    /// let coo = Encoding::of_format(&Format::coo(2)).unwrap();
    /// assert_eq!(coo.refusal(Dialect::Release(19)), None);
    /// assert!(coo.refusal(Dialect::Release(14)).unwrap().contains("nonunique"));
    /// ```
    pub fn refusal(&self, dialect: Dialect) -> Option<String> {
        let Dialect::Release(release) = dialect else {
            return None;
        };
        self.levels
            .iter()
            .find_map(|level| level.refusal(release))
            .or_else(|| self.map_refusal(release))
            .or_else(|| self.values_refusal(release))
            .or_else(|| {
                let fault = rules::check(self, dialect).err()?;
                Some(format!("refuses {}", fault.message))
            })
    }

    fn map_refusal(&self, release: u8) -> Option<String> {
        let is_permutation = self.permutation().is_some();
        match release {
            ..=15 if !is_permutation => {
                Some("stores each mode in one level, not blocks or diagonals".to_owned())
            }
            ..=15 => None,
            // Releases from 18 on check that the map has an inverse.
            16 | 17 if self.map().is_some() => None,
            18.. if inverse(self).is_some() || self.is_symbolic() => None,
            16 | 17 => Some("has affine maps alone".to_owned()),
            _ => Some("has maps of modes, `i floordiv c` and `i mod c` alone".to_owned()),
        }
    }

    /// Whether the map has symbols. Releases read such maps, but no pass accepts them.
    fn is_symbolic(&self) -> bool {
        self.n_symbols > 0 && self.map().is_some()
    }

    fn values_refusal(&self, release: u8) -> Option<String> {
        if self.is_slice() && release < 16 {
            return Some("has no slices".to_owned());
        }
        if self.is_slice() && release < 18 && self.slices.iter().any(Option::is_none) {
            return Some("has slices of all modes or of none".to_owned());
        }
        let has_value = self.explicit_value.is_some() || self.implicit_value.is_some();
        (has_value && release < 19).then(|| "has no `explicitVal` and `implicitVal`".to_owned())
    }
}

impl Level {
    fn refusal(&self, release: u8) -> Option<String> {
        let since = match self.kind {
            LevelKind::Dense | LevelKind::Compressed | LevelKind::Singleton => Dialect::OLDEST,
            LevelKind::LooseCompressed => 17,
            LevelKind::Structured { n: 2, m: 4 } => 18,
            LevelKind::Batch | LevelKind::Structured { .. } => 19,
            LevelKind::Range | LevelKind::Bitmap | LevelKind::Hashed | LevelKind::RunLength => {
                return Some(format!("has no level `{}`", self.kind.text()));
            }
        };
        if release < since {
            return Some(format!("has no level `{}`", self.kind.text()));
        }
        let properties = [
            (self.nonunique, "nonunique"),
            (self.nonordered, "nonordered"),
        ];
        for (has, name) in properties {
            if has && release < 16 {
                return Some(format!("has no `{name}` levels"));
            }
        }
        (self.soa && release < 19).then(|| "has no `soa` levels".to_owned())
    }
}

//! Formats as their text, for the crate `serde`.

use ::serde::de::{Deserialize, Deserializer, Error};
use ::serde::ser::{Serialize, Serializer};

use crate::format::Format;

/// As the text that parses back to it.
impl Serialize for Format {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// From text, as [`Format::parse`] takes it.
impl<'de> Deserialize<'de> for Format {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(D::Error::custom)
    }
}

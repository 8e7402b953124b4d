//! Why a derived conversion does not store a tensor in a relation: the first entry that it has no
//! place for, or what is missing in the description.
//!
//! ```text
//! the first 0 entries convert, the first 5 too, the first 6 do not     the entry with number 5
//! the first 0 entries do not convert                                   no entry is at fault
//! ```
//!
//! The search converts prefixes of the list, and does not read the description. So it finds the entry
//! whatever the cause is: a bound of coordinates, a declared length, an order that the conversion does
//! not make.

use std::sync::Arc;

use sparsec_base::{Code, Diagnostic, Result, code};
use sparsec_format::RelationFormat;
use sparsec_tensor::{Format, PackOptions, Tensor};

use super::held::only;
use crate::session::Session;

/// Failures that say something of a computation which the user has not written.
const OF_DERIVED: [Code; 3] = [
    code::MAY_BE_OUTSIDE,
    code::GIVEN_MISFIT,
    code::ARRAY_MISMATCH,
];

/// What to do about a relation to which no conversion is derived.
pub(super) fn how_to_state(format: &RelationFormat) -> String {
    format!(
        "say how its arrays are computed from a list of entries: `computation assemble {{ … }}` behind the declarations of `{}`",
        format.name()
    )
}

impl Session {
    /// What to say of a list of entries that a derived conversion to a relation did not store.
    ///
    /// Time: two conversions for each doubling of the entries up to the first one at fault.
    pub(super) fn why_unheld(
        &self,
        error: Diagnostic,
        list: &Tensor,
        format: &Arc<RelationFormat>,
    ) -> Diagnostic {
        let name = format.name();
        let stated = how_to_state(format);
        let missing = error.code() == code::NO_CONVERSION;
        if !missing && error.code() != code::NOT_AS_DECLARED {
            return match OF_DERIVED.contains(&error.code()) {
                true => Diagnostic::new(
                    code::NO_CONVERSION,
                    format!("no conversion to `{name}` is derived from its description"),
                )
                .note(error.message())
                .help(stated),
                false => error,
            };
        }
        // The first entries of a mirrored tensor are no mirrored tensor.
        let first = match format.descriptor().clauses().mirror {
            None => self.first_unheld(list, format),
            Some(_) => Ok(None),
        };
        match first {
            Ok(Some(at)) => {
                let at: Vec<String> = at.iter().map(u64::to_string).collect();
                let message = format!("`{name}` has no place for the entry at [{}]", at.join(", "));
                let own = error.message().to_owned();
                let error = Diagnostic::new(code::NOT_AS_DECLARED, message).note(own);
                error.help(format!(
                    "convert to a format that holds all entries, such as `{}`, or {stated}",
                    if list.order() == 2 { "csr" } else { "csf" }
                ))
            }
            Err(other) if other.code() == code::CANCELLED => other,
            _ if missing => {
                let help = match error.help_text() {
                    Some(own) => format!("{own}, or {stated}"),
                    None => stated,
                };
                error.help(help)
            }
            _ => error,
        }
    }

    /// The coordinates of the first entry of a list that a conversion does not store with those before
    /// it; `None` if it does not store a list without entries.
    fn first_unheld(
        &self,
        list: &Tensor,
        format: &Arc<RelationFormat>,
    ) -> Result<Option<Vec<u64>>> {
        let entries = list.entries();
        let scoo = Format::scoo(list.order());
        let converts = |n: usize| {
            let first = only(&entries, 0..n)?;
            let options = PackOptions {
                fill: Some(list.fill()),
                ..PackOptions::default()
            };
            let first = Tensor::pack_entries(&scoo, first, options)?;
            match self.stored_from_list(first, format) {
                Err(error) if error.code() == code::CANCELLED => Err(error),
                made => Ok(made.is_ok()),
            }
        };
        if !converts(0)? {
            return Ok(None);
        }
        // The entry is likely to be among the first ones.
        let (mut good, mut bad) = (0, 1);
        while bad < entries.len() && converts(bad)? {
            (good, bad) = (bad, 2 * bad);
        }
        bad = bad.min(entries.len());
        while good + 1 < bad {
            let middle = good + (bad - good) / 2;
            match converts(middle)? {
                true => good = middle,
                false => bad = middle,
            }
        }
        let at = (good < entries.len()).then(|| entries.coords(good).to_vec());
        Ok(at)
    }
}

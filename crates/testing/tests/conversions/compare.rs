//! Conversions beside packing, and in shares beside one sweep.

use sparsec::internals::conversion::Converter;
use sparsec::{Diagnostic, Format, PackOptions, Session, Tensor};

use super::{REFUSED, sorted};

/// How conversions ended that were compared with packing.
#[derive(Default)]
pub(super) struct Tally {
    held: usize,
    refused: usize,
    failed: Vec<String>,
}

impl Tally {
    pub(super) fn count(&mut self, outcome: Result<bool, String>) {
        match outcome {
            Ok(true) => self.held += 1,
            Ok(false) => self.refused += 1,
            Err(why) => self.failed.push(why),
        }
    }

    /// Fails if one differs from packing, or if too few were held or refused for a meaningful test.
    pub(super) fn finish(self, least_held: usize, least_refused: usize) {
        let Self {
            held,
            refused,
            failed,
        } = self;
        let first = failed[..failed.len().min(12)].join("\n");
        assert!(failed.is_empty(), "{} fail\n{first}", failed.len());
        assert!(
            held > least_held && refused > least_refused,
            "{held} held, {refused} refused"
        );
    }
}

/// Converts a tensor in shares, and compares with what one sweep gives: the arrays, or the code.
pub(super) fn run_in_shares(
    shared: &Converter,
    given: &Tensor,
    found: &Result<Tensor, Diagnostic>,
) -> Result<(), String> {
    let shared = shared.run(&Session::interpreter(), given);
    let arrays = |tensor: &Result<Tensor, Diagnostic>| match tensor {
        Ok(tensor) => Ok(format!("{:?}", tensor.arrays())),
        Err(error) => Err(error.code()),
    };
    match arrays(&shared) == arrays(found) {
        true => Ok(()),
        false => Err(format!(
            "{} {:?} in shares: {shared:?} not {found:?}",
            given.format(),
            given.extents()
        )),
    }
}

/// Converts a tensor, and compares with packing; both may refuse it.
pub(super) fn compare(
    session: &Session,
    converter: &Result<Converter, Diagnostic>,
    given: &Tensor,
    destination: &Format,
) -> Result<bool, String> {
    let expected = given.convert(destination);
    let found = converter.clone().and_then(|it| it.run(session, given));
    if let Ok(converter) = converter {
        run_in_shares(&converter.clone().in_shares(1), given, &found)?;
    }
    match (&found, &expected) {
        (Ok(found), Ok(expected)) if sorted(found) == sorted(expected) => {
            let (own, packed) = (found.entries(), expected.entries());
            let checked = Tensor::pack_entries(destination, own, PackOptions::default());
            assert_eq!(packed.len(), checked.expect("as packed").entries().len());
            Ok(true)
        }
        (Err(error), Err(_)) if REFUSED.contains(&error.code()) => Ok(false),
        _ => {
            let of = |tensor: &Result<Tensor, Diagnostic>| match tensor {
                Ok(tensor) => format!("{:?}", tensor.arrays()),
                Err(error) => format!("{error:?}"),
            };
            Err(format!(
                "{} -> {destination} {:?}: {} not {}",
                given.format(),
                given.extents(),
                of(&found),
                of(&expected)
            ))
        }
    }
}

//! Composing descriptors: from where an entry is stored in one format to where it
//! is in another.

use std::time::{Duration, Instant};

use sparsec::Result;
use sparsec::internals::relation::{Declarations, Descriptor, Expression, Relation, Rewrite};

use crate::pair::median;

/// Formats that are relations alone.
const SAMPLES: [&str; 3] = [
    include_str!("../../../../samples/dia.fmt"),
    include_str!("../../../../samples/jds.fmt"),
    include_str!("../../../../samples/sell.fmt"),
];

/// The descriptors of all presets for matrices, part by part, and of formats that
/// are relations alone.
pub(super) fn descriptors() -> Result<Vec<Descriptor>> {
    let mut all = Vec::new();
    for preset in sparsec::presets() {
        if let Some(format) = preset.format(2) {
            all.extend(format.descriptors(preset.name));
        }
    }
    for sample in SAMPLES {
        all.push(sample.parse()?);
    }
    Ok(all)
}

/// The text of a descriptor's map and of its declarations, with the names of extents
/// that both of a pair have, and else of names of its own.
fn texts(descriptor: &Descriptor, suffix: &str) -> Result<(String, String)> {
    let own = Own { descriptor, suffix };
    let declarations = descriptor.declarations().rewritten(&own)?;
    let map = descriptor.map().rewritten(&own)?;
    Ok((map.to_string(), declarations.to_string()))
}

struct Own<'a> {
    descriptor: &'a Descriptor,
    suffix: &'a str,
}

impl Rewrite for Own<'_> {
    fn constant(&self, name: &str) -> Expression {
        let extents = self.descriptor.extents();
        let name = match extents.iter().position(|extent| extent == name) {
            Some(mode) => format!("N{mode}"),
            None => format!("{name}{}", self.suffix),
        };
        Expression::Constant(name)
    }

    fn function(&self, name: &str) -> String {
        let declarations = self.descriptor.declarations();
        let is_own = declarations.function(name).is_some()
            || declarations.orders().any(|order| order == name);
        match is_own {
            true => format!("{name}{}", self.suffix),
            false => name.to_owned(),
        }
    }
}

/// How long parsing, inverting, composing and simplifying of two takes: the median
/// of the rounds.
pub(super) fn time(source: &Descriptor, target: &Descriptor, rounds: usize) -> Result<Duration> {
    let (source, known) = texts(source, "_s")?;
    let (target, wanted) = texts(target, "_t")?;
    let mut times = Vec::new();
    for _ in 0..rounds.max(1) {
        let started = Instant::now();
        let mut declarations: Declarations = known.parse()?;
        declarations.extend(wanted.parse()?);
        let (from, to): (Relation, Relation) = (source.parse()?, target.parse()?);
        let both = from.then(&to.inverse())?.simplified_under(&declarations);
        times.push(started.elapsed());
        std::hint::black_box(both);
    }
    Ok(median(times, Duration::cmp))
}

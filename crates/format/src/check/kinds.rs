//! Where expressions, kinds and clauses make sense.

use sparsec_base::{Diagnostic, Result, code};

use super::{Check, unknown_mode};
use crate::coordinate::Coordinate;
use crate::level::LevelKind;
use crate::region::Side;

impl Check<'_> {
    /// The expressions of all levels.
    pub(super) fn coordinates(&self) -> Result<()> {
        for (number, level) in self.levels.iter().enumerate() {
            self.modes_exist(&level.coordinate, number)?;
            let refuse = |why: &str, help: &str| {
                let text = level.coordinate.text(self.modes);
                let message = format!("`{text}` is no coordinate of a level: {why}");
                Err(Diagnostic::new(code::BAD_LEVEL_EXPRESSION, message)
                    .at(
                        self.source,
                        self.places.levels[number].coordinate,
                        "not a coordinate",
                    )
                    .help(help))
            };
            let mut n_modes = 0;
            level.coordinate.for_each_mode(&mut |_| n_modes += 1);
            if n_modes == 0 {
                return refuse(
                    "it has no mode",
                    "store a mode, or an expression over modes",
                );
            }
            match &level.coordinate {
                Coordinate::Morton(arguments) if arguments.iter().all(is_never_negative) => {}
                Coordinate::Morton(_) => {
                    return refuse(
                        "bits are dealt of coordinates that are never negative",
                        "give modes, or their `floordiv` and `mod`",
                    );
                }
                Coordinate::Alto(modes) | Coordinate::Rank { of: modes, .. } => {
                    let repeats = |(at, mode)| modes[..at].contains(mode);
                    if modes.iter().enumerate().any(repeats) {
                        return refuse("a mode is named twice", "name each mode once");
                    }
                }
                other if !is_arithmetic(other) => {
                    return refuse(
                        "curves and ranks stand alone",
                        "give the curve or the rank a level of its own",
                    );
                }
                _ => {}
            }
            if !divides(&level.coordinate) {
                return refuse(
                    "it divides by what is no size",
                    "divide by a number from 1 to 2^31",
                );
            }
        }
        Ok(())
    }

    fn modes_exist(&self, coordinate: &Coordinate, number: usize) -> Result<()> {
        let mut wrong = None;
        coordinate.for_each_mode(&mut |mode| {
            if mode >= self.modes.len() {
                wrong = Some(mode);
            }
        });
        let place = self.places.levels[number].coordinate;
        match wrong {
            None => Ok(()),
            Some(mode) => Err(unknown_mode(
                self.source,
                place,
                &mode.to_string(),
                self.modes,
            )),
        }
    }

    /// Where the kinds of the levels stand.
    pub(super) fn kinds(&self) -> Result<()> {
        let n_levels = self.levels.len();
        for (number, level) in self.levels.iter().enumerate() {
            let refuse = |why: String, help: &str| {
                let message = format!("a `{}` level {why}", level.kind.text());
                Err(Diagnostic::new(code::KIND_MISPLACED, message)
                    .at(self.source, self.places.levels[number].kind, "not here")
                    .help(help))
            };
            match level.kind {
                LevelKind::RunLength if number + 1 != n_levels => {
                    return refuse(
                        "with levels below it".to_owned(),
                        "make it the last level: a run shares one value",
                    );
                }
                LevelKind::Batch
                    if !self.levels[..number]
                        .iter()
                        .all(|it| it.kind == LevelKind::Batch) =>
                {
                    return refuse(
                        "below a level that is none".to_owned(),
                        "put batches outside all other levels, or make it `dense`",
                    );
                }
                LevelKind::Structured { n, m } if n == 0 || n > m => {
                    return refuse(
                        format!("cannot store {n} of {m} coordinates"),
                        "store at least one and at most all, as in `structured[2, 4]`",
                    );
                }
                LevelKind::Structured { m, .. } if !matches!(level.coordinate, Coordinate::Modulo(_, by) if by == u64::from(m)) =>
                {
                    return refuse(
                        "whose coordinate is no place in its block".to_owned(),
                        "store `j floordiv 4` above it and `j mod 4 : structured[2, 4]`",
                    );
                }
                kind if level.coordinate.is_rank() && kind != LevelKind::Dense => {
                    return refuse("of ranks".to_owned(), "ranks are stored `dense`");
                }
                // A place where nobody put an entry would have that entry's coordinates again,
                // at another rank.
                _ if number + 1 == n_levels
                    && level.may_pad()
                    && self.levels.iter().any(|it| it.coordinate.is_rank()) =>
                {
                    return refuse(
                        "that is the last one of a format with ranks".to_owned(),
                        "end it with a level that lists entries, such as `compressed`",
                    );
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The clauses after the levels.
    pub(super) fn clauses(&self) -> Result<()> {
        let place = self.places.clauses.unwrap_or(self.places.head);
        let refuse = |why: &str, help: &str| {
            Err(Diagnostic::new(code::BAD_CLAUSE, format!("a format {why}"))
                .at(self.source, place, "does not fit")
                .help(help))
        };
        let format = self.format;
        let pairs = [
            format.mirror.map(|mirror| mirror.modes),
            format.region.map(|region| region.modes),
        ];
        for [a, b] in pairs.into_iter().flatten() {
            if a == b {
                return refuse("with a diagonal of one mode", "name two modes");
            }
            if let Some(mode) = [a, b].into_iter().find(|&mode| mode >= self.modes.len()) {
                return Err(unknown_mode(
                    self.source,
                    place,
                    &mode.to_string(),
                    self.modes,
                ));
            }
        }
        if let (Some(mirror), Some(region)) = (format.mirror, format.region)
            && (region.modes != mirror.modes || region.side == Side::Diagonal)
        {
            return refuse(
                "that mirrors something else than the triangle that it stores",
                "name the same two modes, with `lower` or `upper`",
            );
        }
        if let Some(key) = &format.order {
            self.order_key(key)
                .or_else(|why| refuse(why, "use `coo`, as in `coo, order morton(i, j)`"))?;
        }
        Ok(())
    }

    fn order_key(&self, key: &Coordinate) -> std::result::Result<(), &'static str> {
        if !matches!(key, Coordinate::Morton(_) | Coordinate::Alto(_)) {
            return Err("ordered by something else than a curve");
        }
        let is_listed = |level: &crate::format::Level| {
            let kind = level.kind;
            !level.ordered
                && matches!(kind, LevelKind::Compressed | LevelKind::Singleton)
                && level.coordinate.mode().is_some()
        };
        let is_chain = self.format.chain_end(0) + 1 == self.levels.len();
        let mut modes = Vec::new();
        key.for_each_mode(&mut |mode| modes.push(mode));
        match key {
            _ if self.levels.is_empty() || !is_chain || !self.levels.iter().all(is_listed) => {
                Err("ordered by a curve that is no list of unordered coordinates")
            }
            Coordinate::Morton(arguments) if !arguments.iter().all(is_never_negative) => {
                Err("ordered by a curve through coordinates that may be negative")
            }
            _ => Ok(()),
        }
    }
}

fn is_never_negative(coordinate: &Coordinate) -> bool {
    match coordinate {
        Coordinate::Mode(_) | Coordinate::Modulo(..) => is_arithmetic(coordinate),
        Coordinate::Integer(n) => *n >= 0,
        Coordinate::FloorDivide(a, _) => is_never_negative(a),
        Coordinate::Sum(a, b) => is_never_negative(a) && is_never_negative(b),
        _ => false,
    }
}

/// Whether an expression has no curve and no rank in it.
fn is_arithmetic(coordinate: &Coordinate) -> bool {
    match coordinate {
        Coordinate::Mode(_) | Coordinate::Integer(_) => true,
        Coordinate::Sum(a, b) | Coordinate::Difference(a, b) => {
            is_arithmetic(a) && is_arithmetic(b)
        }
        Coordinate::FloorDivide(a, _) | Coordinate::Modulo(a, _) => is_arithmetic(a),
        _ => false,
    }
}

fn divides(coordinate: &Coordinate) -> bool {
    match coordinate {
        Coordinate::Sum(a, b) | Coordinate::Difference(a, b) => divides(a) && divides(b),
        Coordinate::FloorDivide(a, by) | Coordinate::Modulo(a, by) => {
            (1..=1 << 31).contains(by) && divides(a)
        }
        Coordinate::Morton(arguments) => arguments.iter().all(divides),
        _ => true,
    }
}

//! The plans that planning priced, timed beside the one that it chose.
//!
//! ```text
//! account of the plan ─► schedules ─► compiled again ─► the same result ─► timed,
//!                                                       each stopped at PATIENCE times the best
//! ```
//!
//! Planning keeps the cheapest of the candidates that it prices as schedules. Times are those
//! of computing: copies of operands are priced too, and made once.

use std::time::Duration;

use sparsec::internals::{Compiled, compile};
use sparsec::{Array, Result, Source, Tensor};

use super::Setting;
use super::cases::Case;
use super::measured::wrong;
use super::ours::Ours;
use super::row::Tried;
use crate::clock;
use crate::pair::{difference, median};

/// A plan that takes so many times the best time is stopped.
const PATIENCE: u32 = 3;
/// Rounds for each plan.
const ROUNDS: usize = 5;
/// What shorter kernels take is no measure of plans.
const SHORT: Duration = Duration::from_micros(100);

impl Case {
    /// Times the plans that were priced for the one statement of a program; `None` if there
    /// are several statements.
    ///
    /// # Errors
    /// `E0515` if a result differs; those of compiling and running.
    pub(super) fn tried(
        &self,
        setting: &Setting<'_>,
        compiled: &Compiled,
    ) -> Result<Option<Tried>> {
        let session = setting.session;
        let [statement] = compiled.statements() else {
            return Ok(None);
        };
        let Some(mut chosen) = Ours::new(session, compiled, &self.inputs)? else {
            return Ok(None);
        };
        chosen.run(clock::time)?;
        let expected = chosen.result()?;
        let mut times = vec![chosen.run(clock::time)?];
        let mut fastest: Option<(Duration, String)> = None;
        let mut tried = Tried::default();
        for candidate in statement.plan.account.considered.iter().skip(1) {
            let mut request = self.request()?;
            let schedule = candidate.schedule.to_string();
            request.schedule = Some(Source::new("schedule", schedule.as_str()));
            let other = compile(&request, &self.inputs)?;
            let Some(mut other) = Ours::new(session, &other, &self.inputs)? else {
                continue;
            };
            tried.number += 1;
            let best = fastest.iter().map(|(time, _)| *time);
            let best = best.chain(times.iter().copied()).min().unwrap_or_default();
            let limit = PATIENCE * best.max(SHORT);
            if other.run_within(limit)?.is_none() {
                tried.stopped += 1;
                continue;
            }
            if let Some(differs) = differing(&expected, &other.result()?) {
                let message = format!("`{}` and its plan {schedule} differ: {differs}", self.name);
                return Err(wrong(message));
            }
            let mut own = Vec::new();
            for _ in 0..ROUNDS {
                times.push(chosen.run(clock::time)?);
                own.push(other.run(clock::time)?);
            }
            let own = median(own, Duration::cmp);
            if fastest.as_ref().is_none_or(|(time, _)| own < *time) {
                fastest = Some((own, candidate.commands()));
            }
        }
        let chosen = median(times, Duration::cmp);
        if let Some((time, commands)) = fastest.filter(|(time, _)| *time < chosen) {
            tried.over_fastest = chosen.as_secs_f64() / time.as_secs_f64();
            tried.fastest = Some(commands);
        }
        tried.is_short = chosen < SHORT;
        Ok(Some(tried))
    }
}

/// The first difference of two tensors in words. A plan that copies an operand to a dense
/// format may store zeros that another one does not.
fn differing(a: &Tensor, b: &Tensor) -> Option<String> {
    let mut pairs = a.arrays().iter().zip(b.arrays());
    if pairs.all(|(a, b)| a.len() == b.len()) {
        let mut pairs = a.arrays().iter().zip(b.arrays());
        return pairs.find_map(|(a, b)| difference(a, b));
    }
    let [a, b] = [a, b].map(|tensor| {
        let (mut coords, mut values) = (Vec::new(), Vec::new());
        tensor.for_each_stored(|entry, value| {
            if value.to_f64() != 0.0 {
                coords.extend(entry.iter().map(|at| *at as i64));
                values.push(value.to_f64());
            }
        });
        [Array::from_vec(coords), Array::from_vec(values)]
    });
    a.iter().zip(&b).find_map(|(a, b)| difference(a, b))
}

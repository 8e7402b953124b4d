//! The rules for encodings.
//!
//! 1. Widths are 0, 8, 16, 32 or 64.
//! 2. Each mode is a level, or two levels hold its quotient and remainder by one divisor (releases
//!    from 18 on; earlier ones check that an ordering is a permutation).
//! 3. Properties belong to certain levels: `nonunique` and `nonordered` to all but dense levels,
//!    `soa` to singletons.
//! 4. `batch` levels are outermost. Above `structured` all levels are dense.
//! 5. From release 18 on, a singleton is below `compressed`, `loose_compressed` or another
//!    singleton. Of adjacent singletons all are `soa`, or none.
//! 6. `structured[n, m]` keeps `n` of `m`, and is the last level. If its mode is divided, the
//!    divisor is `m`.
//! 7. Strides of slices are positive. An implicit value is zero.
//!
//! The dialect `sparsec` has the rules of formats in place of rules 2 to 5.

use sparsec_base::{Code, code};
use sparsec_format::LevelKind;

use crate::affine::{AffineExpr, AffineOp};
use crate::attribute::{Attribute, Real};
use crate::release::Dialect;

use super::blocks::{Found, inverse};
use super::{Encoding, Level, LevelExpr};

/// A rule that an encoding breaks.
pub(crate) struct Fault {
    pub(crate) code: Code,
    /// The level at fault, if the fault is in one level.
    pub(crate) level: Option<usize>,
    pub(crate) message: String,
    pub(crate) help: String,
}

impl Fault {
    fn new(code: Code, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            code,
            level: None,
            message: message.into(),
            help: help.into(),
        }
    }

    fn at(self, level: usize) -> Self {
        Self {
            level: Some(level),
            ..self
        }
    }
}

/// The first rule that an encoding breaks, in a text of this dialect.
pub(crate) fn check(encoding: &Encoding, dialect: Dialect) -> Result<(), Fault> {
    for width in [encoding.pos_width, encoding.crd_width] {
        if ![0, 8, 16, 32, 64].contains(&width) {
            let message = format!("an index of {width} bits");
            return Err(Fault::new(
                code::ENCODING_WIDTH,
                message,
                "write 0, 8, 16, 32 or 64",
            ));
        }
    }
    for (number, level) in encoding.levels.iter().enumerate() {
        check_properties(level).map_err(|fault| fault.at(number))?;
    }
    check_values(encoding)?;
    if dialect == Dialect::Sparsec {
        // Formats report faults at places in their own text, so places are replaced.
        let slices = encoding.is_slice() || encoding.n_symbols > 0;
        return match encoding.to_format() {
            Err(refusal) if !slices => Err(Fault::new(
                refusal.code(),
                refusal.message(),
                refusal
                    .help_text()
                    .unwrap_or("`sparsec formats` lists formats"),
            )),
            _ => Ok(()),
        };
    }
    if encoding.levels.is_empty() {
        let message = "an encoding without levels";
        let help = "give the tensor a mode, or leave the encoding out";
        return Err(Fault::new(code::ENCODING_MAP, message, help));
    }
    if dialect.release() >= 18 {
        check_map(encoding)?;
    }
    check_order(&encoding.levels, dialect)?;
    if dialect.release() == 18 {
        return check_singletons(&encoding.levels);
    }
    Ok(())
}

/// Release 18 has singletons last.
fn check_singletons(levels: &[Level]) -> Result<(), Fault> {
    let is_singleton = |level: &Level| level.kind == LevelKind::Singleton;
    let after = |at: &usize| is_singleton(&levels[at - 1]) && !is_singleton(&levels[*at]);
    match (1..levels.len()).find(after) {
        None => Ok(()),
        Some(at) => Err(Fault::new(
            code::ENCODING_LEVEL,
            "another level below a singleton",
            "write singletons last",
        )
        .at(at)),
    }
}

fn check_properties(level: &Level) -> Result<(), Fault> {
    let kind = level.kind.text();
    let can = level.kind.capabilities();
    let has = |property: &str| {
        Fault::new(
            code::ENCODING_LEVEL,
            format!("a `{kind}` level cannot be `{property}`"),
            format!("write `{kind}` without it"),
        )
    };
    match level.kind {
        _ if level.soa && level.kind != LevelKind::Singleton => Err(has("soa")),
        _ if level.nonunique && !can.may_repeat => Err(has("nonunique")),
        _ if level.nonordered && !can.may_be_unordered => Err(has("nonordered")),
        LevelKind::Structured { n, m } if n > m || n == 0 => Err(Fault::new(
            code::ENCODING_LEVEL,
            format!("`{kind}` keeps {n} of {m}"),
            "write the smaller number first: `structured[2, 4]`",
        )),
        _ => Ok(()),
    }
}

fn check_map(encoding: &Encoding) -> Result<(), Fault> {
    let n_levels = encoding.n_levels();
    if n_levels < encoding.n_modes {
        let message = format!("{n_levels} levels for {} modes", encoding.n_modes);
        let help = "give each mode a level";
        return Err(Fault::new(code::ENCODING_MAP, message, help));
    }
    let found = inverse(encoding);
    let is_upside_down = |found: &Found| match found {
        Found::Block {
            quotient,
            remainder,
            ..
        } => quotient > remainder,
        Found::At(_) => false,
    };
    if found.iter().flatten().any(is_upside_down) {
        return Err(Fault::new(
            code::ENCODING_MAP,
            format!(
                "`d mod c` stands above `d floordiv c`: {}",
                encoding.expressions()
            ),
            "write `d floordiv c` above `d mod c`; `--dialect sparsec` takes other maps",
        ));
    }
    if found.is_some() || encoding.n_symbols > 0 {
        return Ok(());
    }
    let message = format!(
        "the coordinates of modes do not follow from these levels: {}",
        encoding.expressions()
    );
    Err(Fault::new(
        code::ENCODING_MAP,
        message,
        "store each mode, or `d floordiv c` and `d mod c`; `--dialect sparsec` takes other maps",
    ))
}

fn check_order(levels: &[Level], dialect: Dialect) -> Result<(), Fault> {
    let level_fault = |at: usize, message: &str, help: &str| {
        Err(Fault::new(code::ENCODING_LEVEL, message, help).at(at))
    };
    for (number, level) in levels.iter().enumerate() {
        let above = number.checked_sub(1).map(|above| &levels[above]);
        match level.kind {
            LevelKind::Batch if above.is_some_and(|above| above.kind != LevelKind::Batch) => {
                return level_fault(
                    number,
                    "a `batch` level below another kind of level",
                    "write `batch` levels first",
                );
            }
            LevelKind::Singleton => {
                let stands =
                    |above: &Level| above.has_positions() || above.kind == LevelKind::Singleton;
                if dialect.release() >= 18 && !above.is_some_and(stands) {
                    return level_fault(
                        number,
                        "a singleton below no compressed level",
                        "write `compressed(nonunique)` for the level above",
                    );
                }
                if above.is_some_and(|above| {
                    above.kind == LevelKind::Singleton && above.soa != level.soa
                }) {
                    return level_fault(
                        number,
                        "singletons of which one is `soa` and another not",
                        "write `soa` at all of them or at none",
                    );
                }
            }
            LevelKind::Structured { m, .. } => {
                let is_dense = |level: &Level| level.kind == LevelKind::Dense;
                if !levels[..number].iter().all(is_dense) {
                    return level_fault(
                        number,
                        "a `structured` level below a level that is not dense",
                        "write `dense` for the levels above",
                    );
                }
                if number + 1 < levels.len() {
                    return level_fault(
                        number,
                        "a level below `structured`",
                        "write `structured` last",
                    );
                }
                let remainder = |level: &Level| match &level.expression {
                    LevelExpr::Affine(AffineExpr::Binary(AffineOp::Modulo, _, by)) => {
                        Some((**by).clone())
                    }
                    _ => None,
                };
                let others = levels.iter().filter_map(remainder);
                let mut others = others.filter(|by| *by != AffineExpr::Constant(m as i64));
                if let Some(by) = others.next() {
                    return level_fault(
                        number,
                        &format!(
                            "blocks of {by} coordinates, of which the level keeps some of {m}"
                        ),
                        "use the same number in `floordiv`, `mod` and `structured`",
                    );
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn check_values(encoding: &Encoding) -> Result<(), Fault> {
    let steps = encoding.slices.iter().flatten();
    if steps
        .filter_map(|slice| slice.stride)
        .any(|stride| stride == 0)
    {
        let message = "a slice of step 0";
        return Err(Fault::new(
            code::ENCODING_VALUE,
            message,
            "write a step from 1 on, or `?`",
        ));
    }
    let sizes = encoding.slices.iter().flatten();
    if sizes.filter_map(|slice| slice.size).any(|size| size == 0) {
        return Err(Fault::new(
            code::ENCODING_VALUE,
            "a slice of size 0",
            "write a size from 1 on, or `?`",
        ));
    }
    let is_zero = match &encoding.implicit_value {
        None | Some(Attribute::Integer(0, _) | Attribute::Bool(false)) => true,
        Some(Attribute::Float(Real(value), _)) => *value == 0.0,
        Some(Attribute::Complex(_, re, im)) => re.0 == 0.0 && im.0 == 0.0,
        Some(_) => false,
    };
    match is_zero {
        true => Ok(()),
        false => Err(Fault::new(
            code::ENCODING_VALUE,
            "an implicit value that is not zero",
            "write a zero of the tensor's type",
        )),
    }
}

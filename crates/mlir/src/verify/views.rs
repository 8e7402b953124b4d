//! Layouts of `memref.subview`.
//!
//! ```text
//! memref<8x16xf32>              strides [16, 1], offset 0
//! subview [1, 2] [4, 4] [2, 1]  strides [32, 1], offset 0 + 1·16 + 2·1 = 18
//! one row, [1, 2] [1, 4] [1, 1] strides [1], offset 18: modes of size 1 may be left out
//! ```
//!
//! Releases up to 15 spell these numbers as a map, `affine_map<(d0, d1) -> (d0 * 32 + d1 + 18)>`,
//! with symbols for those that the program computes.

use sparsec_base::{Result, code};

use crate::affine::{AffineExpr, AffineOp};
use crate::attribute::Attribute;
use crate::module::Operation;
use crate::parse::counted;
use crate::types::{Layout, MemRefType, Type};

use super::Check;
use super::extents::{numbers, signed};

/// Strides and offset; `None` in them for numbers that the program computes.
#[derive(Debug, PartialEq)]
struct Places {
    strides: Vec<Option<i64>>,
    offset: Option<i64>,
}

impl Places {
    /// The places of a memref; `None` for a map that has no strides.
    fn of(memref: &MemRefType) -> Option<Self> {
        match &memref.layout {
            Some(Layout::Strided { strides, offset }) => Some(Self {
                strides: strides.clone(),
                offset: *offset,
            }),
            Some(Layout::Map(map)) if map.results.len() == 1 => {
                let mut found = Self {
                    strides: vec![Some(0); memref.shape.len()],
                    offset: Some(0),
                };
                found.add(&map.results[0], Some(1)).then_some(found)
            }
            Some(Layout::Map(map)) if map.is_identity() => Some(Self::contiguous(memref)),
            // Maps of several results are not compared.
            Some(Layout::Map(_)) => None,
            None => Some(Self::contiguous(memref)),
        }
    }

    /// Adds the places of an expression times a factor. Says whether the expression is linear.
    fn add(&mut self, expression: &AffineExpr, factor: Option<i64>) -> bool {
        let plus = |old: &mut Option<i64>, by: Option<i64>| {
            *old = old.zip(by).and_then(|(old, by)| old.checked_add(by));
        };
        let times = |by: i64| factor.and_then(|factor| factor.checked_mul(by));
        match expression {
            AffineExpr::Dimension(mode) => match self.strides.get_mut(*mode) {
                Some(stride) => plus(stride, factor),
                None => return false,
            },
            AffineExpr::Symbol(_) => self.offset = None,
            AffineExpr::Constant(number) => plus(&mut self.offset, times(*number)),
            AffineExpr::Binary(AffineOp::Add, a, b) => {
                return self.add(a, factor) && self.add(b, factor);
            }
            AffineExpr::Binary(AffineOp::Subtract, a, b) => {
                return self.add(a, factor) && self.add(b, times(-1));
            }
            AffineExpr::Binary(AffineOp::Multiply, a, b) => match (&**a, &**b) {
                (of, AffineExpr::Constant(by)) | (AffineExpr::Constant(by), of) => {
                    return self.add(of, times(*by));
                }
                (of, AffineExpr::Symbol(_)) | (AffineExpr::Symbol(_), of) => {
                    return self.add(of, None);
                }
                _ => return false,
            },
            AffineExpr::Binary(..) => return false,
        }
        true
    }

    fn contiguous(memref: &MemRefType) -> Self {
        let mut stride = Some(1i64);
        let mut strides = Vec::new();
        for extent in memref.shape.iter().rev() {
            strides.push(stride);
            let extent = extent.and_then(|extent| i64::try_from(extent).ok());
            stride = stride.zip(extent).and_then(|(a, b)| a.checked_mul(b));
        }
        strides.reverse();
        Self {
            strides,
            offset: Some(0),
        }
    }

    fn text(&self) -> String {
        let number = |number: &Option<i64>| number.map_or("?".to_owned(), |it| it.to_string());
        let strides: Vec<String> = self.strides.iter().map(number).collect();
        let offset = match self.offset {
            Some(0) => String::new(),
            offset => format!(", offset: {}", number(&offset)),
        };
        format!("strided<[{}]{offset}>", strides.join(", "))
    }
}

impl Check<'_> {
    /// Checks that an alignment is not negative.
    pub(super) fn aligned(&self, op: Operation<'_>) -> Result<()> {
        match op.attribute("alignment") {
            Some(Attribute::Integer(n, _)) if *n < 0 => Err(self
                .of_op(op, code::BAD_ATTRIBUTE, format!("an alignment of {n}"))
                .help("write a number of bytes")),
            _ => Ok(()),
        }
    }

    /// Checks that an allocation has a value for each symbol of its layout.
    pub(super) fn symbols_of_layout(&self, op: Operation<'_>) -> Result<()> {
        let Type::MemRef(memref) = op.result_type("memref") else {
            return Ok(());
        };
        let wanted = match &memref.layout {
            None => 0,
            Some(Layout::Map(map)) => map.n_symbols,
            Some(Layout::Strided { strides, offset }) => {
                let numbers = strides.iter().chain([offset]);
                numbers.filter(|number| number.is_none()).count()
            }
        };
        let n = op.operands("symbolOperands").len();
        match n == wanted {
            true => Ok(()),
            false => Err(self
                .of_op(
                    op,
                    code::BAD_COUNT,
                    format!("{} for {wanted} of the layout", counted(n, "symbol")),
                )
                .help("write a value for each symbol behind the extents: `[%s]`")),
        }
    }

    /// Checks that memory whose size changes is contiguous.
    pub(super) fn contiguous(&self, op: Operation<'_>) -> Result<()> {
        let Type::MemRef(memref) = op.operand_type("source") else {
            return Ok(());
        };
        let plain = Places::contiguous(memref);
        match Places::of(memref).is_some_and(|places| places == plain) {
            true => Ok(()),
            false => Err(self
                .of_op(
                    op,
                    code::OPERAND_TYPE,
                    format!("another size of `{}`", self.text(op.operand_type("source"))),
                )
                .help("copy it into a memref without a layout first")),
        }
    }

    /// Checks that a cast states or forgets strides and the offset, and changes none.
    pub(super) fn cast_layout(&self, op: Operation<'_>) -> Result<()> {
        let (from, to) = (op.operand_type("source"), op.result_type("dest"));
        let fits = match (from, to) {
            (Type::MemRef(from), Type::MemRef(to)) => {
                let fit = |a: Option<i64>, b: Option<i64>| a.is_none() || b.is_none() || a == b;
                match (Places::of(from), Places::of(to)) {
                    (Some(a), Some(b)) => {
                        let mut strides = a.strides.iter().zip(&b.strides);
                        strides.all(|(a, b)| fit(*a, *b)) && fit(a.offset, b.offset)
                    }
                    _ => from.layout == to.layout,
                }
            }
            (Type::UnrankedMemRef(_), Type::UnrankedMemRef(_)) => false,
            _ => true,
        };
        match fits {
            true => Ok(()),
            false => Err(self.not_cast(op).help(
                "a cast states or forgets strides and an offset; `memref.copy` changes them",
            )),
        }
    }

    /// Checks that the result of `memref.subview` has the strides and the offset of the part.
    pub(super) fn view(&self, op: Operation<'_>) -> Result<()> {
        let (Type::MemRef(whole), Type::MemRef(part)) =
            (op.operand_type("source"), op.result_type("result"))
        else {
            return Ok(());
        };
        let (Some(from), Some(found)) = (Places::of(whole), Places::of(part)) else {
            return Ok(());
        };
        let (offsets, steps) = (signed(op, "static_offsets"), signed(op, "static_strides"));
        let sizes = numbers(op, "static_sizes");
        let times = |a: Option<i64>, b: Option<i64>| a?.checked_mul(b?);
        let mut offset = from.offset;
        for (at, stride) in offsets.iter().zip(&from.strides) {
            // No distance counts for the first place of a mode.
            let by = match at {
                Some(0) => Some(0),
                at => times(*at, *stride),
            };
            offset = offset.zip(by).and_then(|(a, b)| a.checked_add(b));
        }
        let strides = steps.iter().zip(&from.strides);
        let strides = strides.map(|(step, stride)| times(*step, *stride));
        let wanted = Places {
            strides: strides.collect(),
            offset,
        };
        if found.offset == wanted.offset && keeps(&wanted.strides, &sizes, &found.strides, part) {
            return Ok(());
        }
        let message = format!(
            "a view of layout `{}`, and the part has `{}`",
            found.text(),
            wanted.text()
        );
        Err(self
            .of_op(op, code::SHAPE_MISMATCH, message)
            .help("give the result the layout of the part; modes of size 1 may be left out"))
    }
}

/// Whether a view has the modes of the part in order, without some of size 1.
fn keeps(
    strides: &[Option<i64>],
    sizes: &[Option<u64>],
    found: &[Option<i64>],
    part: &MemRefType,
) -> bool {
    // The numbers of modes of the view that the modes so far may fill.
    let mut filled = vec![0usize];
    for (stride, size) in strides.iter().zip(sizes) {
        let mut next = Vec::new();
        for n in filled {
            if found.get(n) == Some(stride) && part.shape.get(n) == Some(size) {
                next.push(n + 1);
            }
            if *size == Some(1) {
                next.push(n);
            }
        }
        next.sort_unstable();
        next.dedup();
        filled = next;
    }
    filled.contains(&found.len())
}

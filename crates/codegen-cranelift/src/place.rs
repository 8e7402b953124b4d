//! Addresses of entries, loads and stores.
//!
//! An index that adds a constant becomes an offset of the instruction, and one that
//! adds the variable of the innermost loop is taken apart, so that the address of
//! the row is found outside of that loop:
//!
//! ```text
//! B.vals[k * n + j + 1]     (B.vals + 8 * (k * n)) + 8 * j, offset 8
//! ```
//!
//! Cranelift leaves loads in the order in which they are written, and computes as late as it can:
//!
//! ```text
//! t_lane += a[p] * x[crd[p]]        load, load, load, load, …, multiply, add, multiply, add
//! t_lane_2 += a[p + 1] * x[…]  ─►   sixteen numbers are in registers at once, or in memory
//! ```
//!
//! So a load from an array that the kernel only reads **moves** to its use, in loops without jumps. A
//! load whose index is the same in each iteration does not move: Cranelift would take it out of the
//! loop, which may have no iteration.

use std::collections::HashSet;

use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use sparsec_base::{ElementType, Scalar};
use sparsec_loop::{Access, BinaryOp, Buffer, Expr, Var};

use crate::emitter::Emitter;
use crate::number::{Number, register};

/// Where an entry is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) address: Value,
    pub(crate) offset: i32,
    pub(crate) flags: MemFlagsData,
    pub(crate) storage: ElementType,
    pub(crate) compute: ElementType,
}

impl Emitter<'_, '_> {
    /// Where entry `index` of a buffer is.
    pub(crate) fn place(&mut self, buffer: Buffer, index: &Expr) -> Place {
        let kind = &self.function.buffers[buffer];
        let (storage, compute) = (kind.storage, kind.compute);
        let mut flags = self.buffers[&buffer].flags;
        let is_fixed = kind.access == Access::Read;
        if is_fixed && varies(&self.varying, index) {
            flags = flags.with_readonly().with_can_move();
        }
        let (index, constant) = without_constant(index);
        let size = storage.size() as i64;
        let offset = constant.checked_mul(size).map(i32::try_from);
        let mut address = self.data(buffer);
        let offset = match offset {
            Some(Ok(offset)) => offset,
            _ => {
                let far = constant.wrapping_mul(size);
                address = self.b.ins().iadd_imm_s(address, far);
                0
            }
        };
        for part in self.parts(index) {
            let part = self.expr(part).real();
            let scaled = self.b.ins().ishl_imm_u(part, i64::from(size.ilog2()));
            address = self.b.ins().iadd(address, scaled);
        }
        Place {
            address,
            offset,
            flags,
            storage,
            compute,
        }
    }

    /// The summands of an index that are added to the address one by one.
    fn parts<'e>(&self, index: Option<&'e Expr>) -> Vec<&'e Expr> {
        match index {
            None => Vec::new(),
            Some(Expr::Binary(BinaryOp::Add, row, last)) if matches!(**last, Expr::Var(var) if Some(var) == self.innermost) =>
            {
                vec![row, last]
            }
            Some(index) => vec![index],
        }
    }

    /// The entry as a value of the compute type.
    pub(crate) fn load(&mut self, place: Place) -> Number {
        if let Some(wide) = self.load_wide(place) {
            return Number::Real(wide);
        }
        let ty = register(place.storage);
        let mut part = |offset| {
            self.b
                .ins()
                .load(ty, place.flags, place.address, place.offset + offset)
        };
        let stored = if place.storage.is_complex() {
            let size = place.storage.part().size() as i32;
            Number::Complex(part(0), part(size))
        } else {
            Number::Real(part(0))
        };
        self.converted(stored, place.storage, place.compute)
    }

    /// An entry of an index array, which one instruction loads and widens.
    fn load_wide(&mut self, place: Place) -> Option<Value> {
        if place.compute != ElementType::I64 {
            return None;
        }
        let (flags, address, offset) = (place.flags, place.address, place.offset);
        if flags.can_move() && place.storage == ElementType::I32 {
            // Only a plain load moves.
            let narrow = self.b.ins().load(types::I32, flags, address, offset);
            return Some(self.b.ins().sextend(types::I64, narrow));
        }
        let load = self.b.ins();
        Some(match place.storage {
            ElementType::I32 => load.sload32(flags, address, offset),
            ElementType::U16 => load.uload16(types::I64, flags, address, offset),
            ElementType::U8 => load.uload8(types::I64, flags, address, offset),
            _ => return None,
        })
    }

    /// Stores a value of the compute type.
    pub(crate) fn store(&mut self, place: Place, value: Number) {
        let value = self.converted(value, place.compute, place.storage);
        let mut part = |value, offset| {
            self.b
                .ins()
                .store(place.flags, value, place.address, place.offset + offset);
        };
        match value {
            Number::Real(value) => part(value, 0),
            Number::Complex(re, im) => {
                part(re, 0);
                part(im, place.storage.part().size() as i32);
            }
        }
    }

    /// The address of entry `index`, which is a value already.
    pub(crate) fn address(&mut self, buffer: Buffer, index: Value) -> Value {
        let size = self.function.buffers[buffer].storage.size();
        let data = self.data(buffer);
        let scaled = self.b.ins().ishl_imm_u(index, i64::from(size.ilog2()));
        self.b.ins().iadd(data, scaled)
    }

    /// Entry `index`, which is a value already.
    pub(crate) fn place_at(&mut self, buffer: Buffer, index: Value) -> Place {
        let kind = &self.function.buffers[buffer];
        Place {
            storage: kind.storage,
            compute: kind.compute,
            flags: self.buffers[&buffer].flags,
            address: self.address(buffer, index),
            offset: 0,
        }
    }

    /// An `i64` constant.
    pub(crate) fn int(&mut self, value: i64) -> Value {
        self.b.ins().iconst(types::I64, value)
    }
}

/// Whether an expression is sure to differ from turn to turn of a loop, whatever is simplified:
/// a sum of which one part does and the others name nothing that does, or an entry at such an
/// index.
pub(crate) fn varies(varying: &HashSet<Var>, expr: &Expr) -> bool {
    let is_fixed = |expr: &Expr| {
        !expr.any(&mut |part| matches!(part, Expr::Var(var) if varying.contains(var)))
    };
    match expr {
        Expr::Var(var) => varying.contains(var),
        Expr::Load { index, .. } => varies(varying, index),
        Expr::Binary(BinaryOp::Add, a, b) => {
            (varies(varying, a) && is_fixed(b)) || (is_fixed(a) && varies(varying, b))
        }
        Expr::Binary(BinaryOp::Mul, a, factor) => match **factor {
            Expr::Const(Scalar::I64(factor)) => factor != 0 && varies(varying, a),
            _ => false,
        },
        _ => false,
    }
}

/// An index without the constants that it adds, and their sum.
fn without_constant(index: &Expr) -> (Option<&Expr>, i64) {
    match index {
        Expr::Const(Scalar::I64(value)) => (None, *value),
        Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), left, right) => match **right {
            Expr::Const(Scalar::I64(value)) => {
                let (rest, constant) = without_constant(left);
                let sum = match op {
                    BinaryOp::Add => constant.wrapping_add(value),
                    _ => constant.wrapping_sub(value),
                };
                (rest, sum)
            }
            _ => (Some(index), 0),
        },
        _ => (Some(index), 0),
    }
}

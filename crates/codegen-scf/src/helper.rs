//! Functions that kernels call for operations without a counterpart of the same meaning.
//!
//! A function is written once in a module, behind the kernels, and only where one calls it.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use sparsec_base::ElementType;
use sparsec_loop::Intrinsic;
use sparsec_loop::complex::Operation;

use crate::complex;
use crate::types::word;

/// The work of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Helper {
    /// The floor of the quotient of two numbers; of integers, the divisor is not 0.
    FloorDiv,
    /// The remainder that belongs to it.
    Mod,
    /// An integer to the power of another that is not negative.
    Pow,
    /// The smaller of two floats; `NaN` if either is.
    Min,
    /// The larger of two floats; `NaN` if either is.
    Max,
    /// A double in single precision, to be rounded once more.
    Odd,
    /// The half nearest to a single-precision number, of the type of halves.
    Half,
    /// An array with room for so many entries.
    Grow,
    /// The same with zeros behind the entries that there were.
    GrowWithZeros,
    /// Sorts a part of an array.
    Sort,
    /// Sorts a part of an array, and moves the entries of another along.
    SortPairs,
}

/// The functions that the kernels of one module call.
#[derive(Debug, Default)]
pub(crate) struct Helpers {
    used: BTreeSet<(Helper, ElementType)>,
    /// Complex operations by their names, as text.
    complex: BTreeMap<String, String>,
    /// Declarations of functions of the C library.
    library: BTreeSet<String>,
    symbols: HashSet<String>,
}

/// The beginning of names of these functions.
const OURS: &str = "sparsec_";

impl Helpers {
    /// A symbol for a kernel, like its name, that nothing else in the module has.
    pub(crate) fn symbol(&mut self, name: &str) -> String {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "_$.".contains(c);
        let mut stem: String = name
            .chars()
            .map(|c| if is_part(c) { c } else { '_' })
            .collect();
        let is_library = |name: &str| {
            let names = Intrinsic::ALL.map(Intrinsic::name);
            names.contains(&name) || names.iter().any(|known| format!("{known}f") == name)
        };
        if !stem.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            || stem.starts_with(OURS)
            || is_library(&stem)
            || stem == "main"
        {
            stem = format!("_{stem}");
        }
        let mut symbol = stem.clone();
        let mut number = 0;
        while !self.symbols.insert(symbol.clone()) {
            number += 1;
            symbol = format!("{stem}_{number}");
        }
        symbol
    }

    /// Notes that a function is called; its name.
    pub(crate) fn helper(&mut self, helper: Helper, ty: ElementType) -> String {
        self.used.insert((helper, ty));
        helper.name(ty)
    }

    /// Notes that a complex operation is called; its name.
    pub(crate) fn complex(&mut self, operation: Operation, ty: ElementType) -> String {
        let name = operation.function_name(ty);
        if !self.complex.contains_key(&name) {
            let text = complex::text(operation, ty, &name, self);
            self.complex.insert(name.clone(), text);
        }
        name
    }

    /// Notes that a function of the C library is called; its name.
    pub(crate) fn library(&mut self, function: Intrinsic, ty: ElementType) -> String {
        let suffix = if ty == ElementType::F32 { "f" } else { "" };
        let name = format!("{}{suffix}", function.name());
        let float = word(ty);
        let parameters = vec![float; function.arity()].join(", ");
        self.library.insert(format!(
            "  func.func private @{name}({parameters}) -> {float}\n"
        ));
        name
    }

    /// The functions and declarations.
    pub(crate) fn text(&self) -> String {
        let used = self.used.iter().map(|(helper, ty)| helper.text(*ty));
        let complex = self.complex.values().cloned();
        used.chain(complex)
            .chain(self.library.iter().cloned())
            .collect()
    }
}

impl Helper {
    fn name(self, ty: ElementType) -> String {
        let stem = match self {
            Self::FloorDiv => "floordiv",
            Self::Mod => "mod",
            Self::Pow => "pow",
            Self::Min => "min",
            Self::Max => "max",
            Self::Odd => return format!("{OURS}rounded_to_odd"),
            Self::Half => return format!("{OURS}{ty}_of_f32"),
            Self::Grow => "grow",
            Self::GrowWithZeros => "grow_with_zeros",
            Self::Sort => "sort",
            Self::SortPairs => "sort_pairs",
        };
        format!("{OURS}{stem}_{ty}")
    }

    fn text(self, ty: ElementType) -> String {
        let text = match self {
            Self::FloorDiv | Self::Mod if ty.is_float() => floored_float(self),
            Self::FloorDiv | Self::Mod => floored_integer(self),
            Self::Pow => POW.to_owned(),
            Self::Min => FLOAT_CHOICE.replace("PREDICATE", "olt"),
            Self::Max => FLOAT_CHOICE.replace("PREDICATE", "ogt"),
            Self::Odd => ODD.to_owned(),
            Self::Half => BF16.to_owned(),
            Self::Grow => GROW.replace("CLEAR", ""),
            Self::GrowWithZeros => GROW.replace("CLEAR", &CLEAR.replace("ZERO", zero(ty))),
            Self::Sort => crate::sort::text(false),
            Self::SortPairs => crate::sort::text(true),
        };
        let half = match ty {
            ElementType::F32 => "0x3F000000",
            _ => "0x3FE0000000000000",
        };
        let text = text
            .replace("NAME", &self.name(ty))
            .replace("TYPE", word(ty))
            .replace("HALF", half);
        let lines = text.lines().filter(|line| !line.is_empty());
        lines.map(|line| format!("  {line}\n")).collect()
    }
}

/// A constant zero of a type, as an operation.
fn zero(ty: ElementType) -> &'static str {
    match ty {
        ElementType::C64 => "complex.constant [0.0 : f32, 0.0 : f32] : complex<f32>",
        ElementType::C128 => "complex.constant [0.0 : f64, 0.0 : f64] : complex<f64>",
        _ if ty.is_float() => "arith.constant 0.0 : TYPE",
        _ => "arith.constant 0 : TYPE",
    }
}

/// The least integer divided by -1 wraps, so -1 is no divisor of the operations.
fn floored_integer(helper: Helper) -> String {
    let rest = match helper {
        Helper::FloorDiv => {
            "  %quotient = arith.divsi %a, %divisor : TYPE
  %below = arith.subi %quotient, %one : TYPE
  %floor = arith.select %is_below, %below, %quotient : TYPE
  %negated = arith.subi %zero, %a : TYPE
  %result = arith.select %is_minus_one, %negated, %floor : TYPE"
        }
        _ => {
            "  %above = arith.addi %rest, %b : TYPE
  %floor = arith.select %is_below, %above, %rest : TYPE
  %result = arith.select %is_minus_one, %zero, %floor : TYPE"
        }
    };
    floored(
        "  %zero = arith.constant 0 : TYPE
  %one = arith.constant 1 : TYPE
  %minus_one = arith.constant -1 : TYPE
  %is_minus_one = arith.cmpi eq, %b, %minus_one : TYPE
  %divisor = arith.select %is_minus_one, %one, %b : TYPE
  %rest = arith.remsi %a, %divisor : TYPE
  %is_inexact = arith.cmpi ne, %rest, %zero : TYPE
  %a_is_negative = arith.cmpi slt, %a, %zero : TYPE
  %b_is_negative = arith.cmpi slt, %b, %zero : TYPE
  %signs_differ = arith.xori %a_is_negative, %b_is_negative : i1
  %is_below = arith.andi %is_inexact, %signs_differ : i1",
        rest,
    )
}

/// The quotient of floats is rounded, and may reach an integer that the exact one does not.
fn floored_float(helper: Helper) -> String {
    let rest = match helper {
        Helper::FloorDiv => {
            "  %one = arith.constant 1.0 : TYPE
  %half = arith.constant HALF : TYPE
  %plain = arith.divf %a, %b : TYPE
  %less = arith.subf %a, %rest : TYPE
  %near = arith.divf %less, %b : TYPE
  %lower = arith.subf %near, %one : TYPE
  %whole = arith.select %is_below, %lower, %near : TYPE
  %floor = math.floor %whole : TYPE
  %fraction = arith.subf %whole, %floor : TYPE
  %rounds_up = arith.cmpf ogt, %fraction, %half : TYPE
  %up = arith.addf %floor, %one : TYPE
  %rounded = arith.select %rounds_up, %up, %floor : TYPE
  %is_zero = arith.cmpf oeq, %whole, %zero : TYPE
  %signed = math.copysign %zero, %plain : TYPE
  %quotient = arith.select %is_zero, %signed, %rounded : TYPE
  %by_zero = arith.cmpf oeq, %b, %zero : TYPE
  %result = arith.select %by_zero, %plain, %quotient : TYPE"
        }
        _ => {
            "  %above = arith.addf %rest, %b : TYPE
  %floor = arith.select %is_below, %above, %rest : TYPE
  %is_zero = arith.cmpf oeq, %rest, %zero : TYPE
  %signed = math.copysign %zero, %b : TYPE
  %result = arith.select %is_zero, %signed, %floor : TYPE"
        }
    };
    floored(
        "  %zero = arith.constant 0.0 : TYPE
  %rest = arith.remf %a, %b : TYPE
  %is_inexact = arith.cmpf une, %rest, %zero : TYPE
  %rest_is_negative = arith.cmpf olt, %rest, %zero : TYPE
  %b_is_negative = arith.cmpf olt, %b, %zero : TYPE
  %signs_differ = arith.xori %rest_is_negative, %b_is_negative : i1
  %is_below = arith.andi %is_inexact, %signs_differ : i1",
        rest,
    )
}

/// A function of two numbers that is computed from their remainder and their signs.
fn floored(begin: &str, rest: &str) -> String {
    format!(
        "func.func private @NAME(%a: TYPE, %b: TYPE) -> TYPE {{
{begin}
{rest}
  return %result : TYPE
}}"
    )
}

/// By squaring, with the low bits of each product.
const POW: &str = "func.func private @NAME(%a: TYPE, %b: TYPE) -> TYPE {
  %zero = arith.constant 0 : TYPE
  %one = arith.constant 1 : TYPE
  %result, %square, %left = scf.while (%r = %one, %s = %a, %n = %b) : (TYPE, TYPE, TYPE) -> (TYPE, TYPE, TYPE) {
    %goes_on = arith.cmpi ne, %n, %zero : TYPE
    scf.condition(%goes_on) %r, %s, %n : TYPE, TYPE, TYPE
  } do {
  ^bb0(%r: TYPE, %s: TYPE, %n: TYPE):
    %bit = arith.andi %n, %one : TYPE
    %is_odd = arith.cmpi eq, %bit, %one : TYPE
    %product = arith.muli %r, %s : TYPE
    %next = arith.select %is_odd, %product, %r : TYPE
    %squared = arith.muli %s, %s : TYPE
    %rest = arith.shrui %n, %one : TYPE
    scf.yield %next, %squared, %rest : TYPE, TYPE, TYPE
  }
  return %result : TYPE
}";

const FLOAT_CHOICE: &str = "func.func private @NAME(%a: TYPE, %b: TYPE) -> TYPE {
  %is_first = arith.cmpf PREDICATE, %a, %b : TYPE
  %is_nan = arith.cmpf uno, %a, %a : TYPE
  %takes_a = arith.ori %is_first, %is_nan : i1
  %result = arith.select %takes_a, %a, %b : TYPE
  return %result : TYPE
}";

/// If the number lies between two of single precision, the one whose last bit is 1.
const ODD: &str = "func.func private @NAME(%a: f64) -> f32 {
  %one = arith.constant 1 : i32
  %minus_one = arith.constant -1 : i32
  %zero = arith.constant 0 : i32
  %near = arith.truncf %a : f64 to f32
  %bits = arith.bitcast %near : f32 to i32
  %wide = arith.extf %near : f32 to f64
  %is_exact = arith.cmpf ueq, %wide, %a : f64
  %last = arith.andi %bits, %one : i32
  %is_odd = arith.cmpi ne, %last, %zero : i32
  %stays = arith.ori %is_exact, %is_odd : i1
  %size = math.absf %a : f64
  %near_size = math.absf %wide : f64
  %is_below = arith.cmpf olt, %near_size, %size : f64
  %step = arith.select %is_below, %one, %minus_one : i32
  %moved = arith.addi %bits, %step : i32
  %chosen = arith.select %stays, %bits, %moved : i32
  %result = arith.bitcast %chosen : i32 to f32
  return %result : f32
}";

/// The upper half of the bits, rounded to nearest, ties to even; `NaN` stays one.
const BF16: &str = "func.func private @NAME(%a: f32) -> bf16 {
  %one = arith.constant 1 : i32
  %sixteen = arith.constant 16 : i32
  %below_half = arith.constant 32767 : i32
  %quiet = arith.constant 64 : i32
  %bits = arith.bitcast %a : f32 to i32
  %upper = arith.shrui %bits, %sixteen : i32
  %last = arith.andi %upper, %one : i32
  %more = arith.addi %bits, %below_half : i32
  %sum = arith.addi %more, %last : i32
  %rounded = arith.shrui %sum, %sixteen : i32
  %nan = arith.ori %upper, %quiet : i32
  %is_nan = arith.cmpf uno, %a, %a : f32
  %chosen = arith.select %is_nan, %nan, %rounded : i32
  %half = arith.trunci %chosen : i32 to i16
  %result = arith.bitcast %half : i16 to bf16
  return %result : bf16
}";

/// Makes an array twice as large as is needed now, so that appending copies each entry a constant
/// number of times.
const GROW: &str =
    "func.func private @NAME(%array: memref<?xTYPE>, %len: index) -> memref<?xTYPE> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %room = memref.dim %array, %c0 : memref<?xTYPE>
  %fits = arith.cmpi sle, %len, %room : index
  %result = scf.if %fits -> (memref<?xTYPE>) {
    scf.yield %array : memref<?xTYPE>
  } else {
    %wanted = arith.shli %len, %c1 : index
    %new = memref.alloc(%wanted) : memref<?xTYPE>
    scf.for %at = %c0 to %room step %c1 {
      %value = memref.load %array[%at] : memref<?xTYPE>
      memref.store %value, %new[%at] : memref<?xTYPE>
    }
CLEAR
    memref.dealloc %array : memref<?xTYPE>
    scf.yield %new : memref<?xTYPE>
  }
  return %result : memref<?xTYPE>
}";

const CLEAR: &str = "    %zero = ZERO
    scf.for %at = %room to %wanted step %c1 {
      memref.store %zero, %new[%at] : memref<?xTYPE>
    }";

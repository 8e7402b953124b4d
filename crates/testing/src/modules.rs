//! Kernels as modules of MLIR, with a `main` that calls them and prints their results.
//!
//! ```text
//! Call { function, arguments }  ──►  module { func.func @k0(…) …  func.func @main() {
//!                                      arguments as arrays, call @k0, results as integers } }
//! ```
//!
//! Numbers are given and printed as integers with the same bits.

use std::fmt::Write as _;

use sparsec::internals::codegen_scf;
use sparsec::{ElementType, Scalar};
use sparsec_loop::interpret::{ArgumentData, Entries, Options, Outcome, interpret};
use sparsec_loop::{Access, Failure, Function, Role};

use crate::mlir_tools::Tools;
use crate::stages::Check;

/// A function with its arguments.
#[derive(Clone, Debug)]
pub struct Call {
    /// The function.
    pub function: Function,
    /// Its arguments. Arrays to write have their length, arrays to grow none.
    pub arguments: Vec<ArgumentData>,
}

/// A bit pattern of a printed number; complex numbers have two.
type Bits = i64;

impl Call {
    /// The entries of results by the interpreter, array by array.
    ///
    /// # Errors
    /// The failure that the function ends with.
    ///
    /// # Panics
    /// If the function breaks a rule of the loop IR.
    pub fn expected(&self) -> Result<Vec<Entries>, Failure> {
        let mut arguments = self.arguments.clone();
        match interpret(&self.function, &mut arguments, &Options::default()) {
            Ok(Outcome::Done) => {}
            Ok(Outcome::Failed(failure)) => return Err(failure),
            Err(fault) => panic!("{fault}\n{}", self.function),
        }
        let given = self.function.arguments.iter().zip(arguments);
        let results = given.filter(|(argument, _)| argument.role == Role::Out);
        Ok(results.flat_map(|(_, data)| data.buffers).collect())
    }
}

/// Runs all calls in one program, and compares what they print with the interpreter.
///
/// # Errors
/// What the tools say; the first call whose results differ.
pub fn check(tools: &Tools, calls: &[Call]) -> Check {
    let expected: Vec<Vec<Entries>> = calls
        .iter()
        .map(|call| call.expected().map_err(|failure| failure.name().to_owned()))
        .collect::<Result<_, _>>()?;
    let program = program(calls);
    let printed = tools
        .run(&program, &[])
        .map_err(|error| format!("{error}\n{program}"))?;
    let mut lines = printed.lines();
    for (call, arrays) in calls.iter().zip(&expected) {
        for array in arrays {
            let len: usize = next(&mut lines)?;
            if len != array.len() {
                let text = codegen_scf::emit(&[&call.function]);
                return Err(format!(
                    "{len} entries, not {}\n{}\n{text}",
                    array.len(),
                    call.function
                ));
            }
            for at in 0..len {
                for wanted in parts(array.get(at)) {
                    let found: Bits = next(&mut lines)?;
                    if !is_same(wanted, found) {
                        let text = codegen_scf::emit(&[&call.function]);
                        return Err(format!(
                            "entry {at}: the bits of {wanted:?} are not {found}\n{:?}\n{}\n{text}",
                            call.arguments, call.function
                        ));
                    }
                }
            }
        }
    }
    Ok(())
}

fn next<T: std::str::FromStr>(lines: &mut std::str::Lines<'_>) -> Check<T> {
    let line = lines.next().ok_or("the output ends early")?;
    line.trim()
        .parse()
        .map_err(|_| format!("`{line}` is no number"))
}

/// A program that an assertion ends.
///
/// # Errors
/// If it ends otherwise.
pub fn check_failure(tools: &Tools, call: &Call) -> Check {
    match tools.run(&program(std::slice::from_ref(call)), &[]) {
        Ok(printed) => Err(format!("printed {printed}\n{}", call.function)),
        // The message is in a buffer that `abort` does not write.
        Err(error) if error.contains(" abort ") => Ok(()),
        Err(error) => Err(format!("{error}\n{}", call.function)),
    }
}

/// The module of all functions with a `main` that calls them in order.
fn program(calls: &[Call]) -> String {
    let named = |(number, call): (usize, &Call)| Function {
        name: format!("k{number}"),
        ..call.function.clone()
    };
    let functions: Vec<Function> = calls.iter().enumerate().map(named).collect();
    let module = codegen_scf::emit(&functions.iter().collect::<Vec<_>>());
    let mut main = Main::default();
    let mut bodies = String::new();
    let mut calls_of_main = String::new();
    for (number, call) in calls.iter().enumerate() {
        let _ = writeln!(bodies, "  func.func @call{number}() {{");
        main.lines.clear();
        main.call(&format!("k{number}"), call);
        bodies.push_str(&main.lines);
        bodies.push_str("    return\n  }\n");
        let _ = writeln!(calls_of_main, "    func.call @call{number}() : () -> ()");
    }
    let module = module.trim_end().strip_suffix('}').unwrap_or(&module);
    format!("{module}{bodies}  func.func @main() {{\n{calls_of_main}    return\n  }}\n}}\n")
}

#[derive(Default)]
struct Main {
    lines: String,
    n_values: usize,
}

impl Main {
    fn op(&mut self, text: &str) -> String {
        self.n_values += 1;
        let name = format!("%v{}", self.n_values);
        let _ = writeln!(self.lines, "    {name} = {text}");
        name
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.lines, "    {text}");
    }

    fn integer(&mut self, value: impl std::fmt::Display, ty: &str) -> String {
        self.op(&format!("arith.constant {value} : {ty}"))
    }

    fn call(&mut self, name: &str, call: &Call) {
        let (mut given, mut types) = (Vec::new(), Vec::new());
        let mut made = Vec::new();
        // The arrays of results: given ones, or `None` for the next that the function makes.
        let mut results: Vec<(Option<String>, ElementType)> = Vec::new();
        for (argument, data) in call.function.arguments.iter().zip(&call.arguments) {
            for extent in &data.extents {
                given.push(self.integer(extent, "index"));
                types.push("index".to_owned());
            }
            for (&buffer, entries) in argument.buffers.iter().zip(&data.buffers) {
                let buffer = &call.function.buffers[buffer];
                let is_made = buffer.access == Access::Grow;
                let array = (!is_made).then(|| self.array(entries));
                match &array {
                    Some(array) => {
                        given.push(array.clone());
                        types.push(memref(buffer.storage));
                    }
                    None => made.push(memref(buffer.storage)),
                }
                if argument.role == Role::Out {
                    results.push((array, buffer.storage));
                }
            }
        }
        let (given, types, arrow) = (given.join(", "), types.join(", "), made.join(", "));
        let names: Vec<String> = (0..made.len())
            .map(|n| format!("%made{}_{n}", self.n_values))
            .collect();
        let assigned = match names.is_empty() {
            true => String::new(),
            false => format!("{} = ", names.join(", ")),
        };
        self.line(&format!(
            "{assigned}func.call @{name}({given}) : ({types}) -> ({arrow})"
        ));
        let mut names = names.into_iter();
        for (array, storage) in results {
            let array = array
                .or_else(|| names.next())
                .expect("an array is given or made");
            self.print(&array, storage);
        }
    }

    /// An array with these entries.
    fn array(&mut self, entries: &Entries) -> String {
        let element = entries.element();
        let len = self.integer(entries.len(), "index");
        let ty = memref(element);
        let array = self.op(&format!("memref.alloc({len}) : {ty}"));
        for at in 0..entries.len() {
            let parts: Vec<String> = parts(entries.get(at))
                .into_iter()
                .map(|part| self.number(part))
                .collect();
            let value = match &parts[..] {
                [one] => one.clone(),
                parts => self.op(&format!(
                    "complex.create {} : {}",
                    parts.join(", "),
                    word(element)
                )),
            };
            let at = self.integer(at, "index");
            self.line(&format!("memref.store {value}, {array}[{at}] : {ty}"));
        }
        array
    }

    /// A real number by its bits.
    fn number(&mut self, value: Scalar) -> String {
        let element = value.element();
        let bits = integer_of(element);
        let constant = match value {
            Scalar::Bool(value) => return self.op(&format!("arith.constant {value}")),
            value => self.integer(bits_of(value), bits),
        };
        match element.is_float() {
            true => self.op(&format!(
                "arith.bitcast {constant} : {bits} to {}",
                word(element)
            )),
            false => constant,
        }
    }

    /// Prints the length of an array and the bits of its entries.
    fn print(&mut self, array: &str, element: ElementType) {
        let ty = memref(element);
        let (zero, one) = (self.integer(0, "index"), self.integer(1, "index"));
        let len = self.op(&format!("memref.dim {array}, {zero} : {ty}"));
        self.line(&format!("vector.print {len} : index"));
        self.n_values += 1;
        let at = format!("%v{}", self.n_values);
        self.line(&format!("scf.for {at} = {zero} to {len} step {one} {{"));
        let value = self.op(&format!("memref.load {array}[{at}] : {ty}"));
        let parts = match element.is_complex() {
            true => ["re", "im"]
                .map(|part| self.op(&format!("complex.{part} {value} : {}", word(element))))
                .to_vec(),
            false => vec![value],
        };
        let part = element.part();
        let bits = integer_of(part);
        for value in parts {
            let value = match part.is_float() {
                true => self.op(&format!("arith.bitcast {value} : {} to {bits}", word(part))),
                false => value,
            };
            let extended = match bits {
                "i64" => value,
                "i1" => self.op(&format!("arith.extui {value} : {bits} to i64")),
                _ => self.op(&format!("arith.extsi {value} : {bits} to i64")),
            };
            self.line(&format!("vector.print {extended} : i64"));
        }
        self.line("}");
    }
}

fn memref(element: ElementType) -> String {
    format!("memref<?x{}>", word(element))
}

/// The type of numbers in MLIR.
fn word(element: ElementType) -> String {
    match element {
        ElementType::F16 | ElementType::Bf16 | ElementType::F32 | ElementType::F64 => {
            element.name().to_owned()
        }
        _ if element.is_complex() => format!("complex<{}>", element.part().name()),
        _ => integer_of(element).to_owned(),
    }
}

/// The type of integers with the bits of a real number.
fn integer_of(element: ElementType) -> &'static str {
    match (element, element.size()) {
        (ElementType::Bool, _) => "i1",
        (_, 1) => "i8",
        (_, 2) => "i16",
        (_, 4) => "i32",
        _ => "i64",
    }
}

/// The real numbers that a number consists of.
fn parts(value: Scalar) -> Vec<Scalar> {
    match value {
        Scalar::C64(v) => vec![Scalar::F32(v.re), Scalar::F32(v.im)],
        Scalar::C128(v) => vec![Scalar::F64(v.re), Scalar::F64(v.im)],
        other => vec![other],
    }
}

/// The bits of a real number, with the sign of an integer of its size.
fn bits_of(value: Scalar) -> Bits {
    match value {
        Scalar::Bool(v) => v.into(),
        Scalar::I8(v) => v.into(),
        Scalar::I16(v) => v.into(),
        Scalar::I32(v) => v.into(),
        Scalar::I64(v) => v,
        Scalar::U8(v) => (v as i8).into(),
        Scalar::U16(v) => (v as i16).into(),
        Scalar::U32(v) => (v as i32).into(),
        Scalar::U64(v) => v as i64,
        Scalar::F16(v) => (v.to_bits() as i16).into(),
        Scalar::Bf16(v) => (v.to_bits() as i16).into(),
        Scalar::F32(v) => (v.to_bits() as i32).into(),
        Scalar::F64(v) => v.to_bits() as i64,
        Scalar::C64(_) | Scalar::C128(_) => unreachable!("a complex number has two parts"),
    }
}

/// Whether the bits are those of the value; any `NaN` is like another.
fn is_same(wanted: Scalar, found: Bits) -> bool {
    let is_nan = match wanted.element() {
        ElementType::F64 => f64::from_bits(found as u64).is_nan(),
        ElementType::F32 => f32::from_bits(found as u32).is_nan(),
        ElementType::F16 => found & 0x7fff > 0x7c00,
        ElementType::Bf16 => found & 0x7fff > 0x7f80,
        _ => false,
    };
    match wanted.element().is_float() && wanted.to_f64().is_nan() {
        true => is_nan,
        false => bits_of(wanted) == found,
    }
}

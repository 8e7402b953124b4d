//! Modules of `--emit linalg` with a `main` that calls them on constants and prints the results.
//!
//! ```text
//! module, inputs  ──►  module { func.func @compute_y(…) …  func.func @main() {
//!                        constants, converted to the encodings of operands
//!                        call @compute_y, results converted to dense tensors
//!                        every entry printed as an integer with the same bits } }
//! ```

use std::fmt::Write as _;

use sparsec::internals::Inputs;
use sparsec::internals::mlir::{Dialect, Module, Type, Value};
use sparsec::{ElementType, Scalar, Source, Tensor};

use crate::stages::Check;

/// A module that reads back and verifies.
///
/// # Errors
/// The diagnostic, and the text.
pub fn verified(text: &str) -> Check<Module> {
    let dialect = Some(Dialect::Release(Dialect::USUAL));
    let read = Module::parse(&Source::new("module", text), dialect);
    let read = read.and_then(|module| module.verify().map(|()| module));
    read.map_err(|error| format!("{}\n{text}", error.render(false)))
}

/// The module with a `main`.
///
/// # Errors
/// If the module does not verify, or an operand has no entries at all.
pub fn program(module: &str, inputs: &Inputs) -> Check<String> {
    let read = verified(module)?;
    let function = read
        .walk()
        .into_iter()
        .map(|op| read.op(op))
        .find(|op| op.name() == "func.func")
        .ok_or("no function")?;
    let name = match function.attribute("sym_name") {
        Some(sparsec::internals::mlir::Attribute::Text(name)) => name.clone(),
        _ => return Err("a function without a name".to_owned()),
    };
    let block = function.region("body").block.ok_or("no body")?;
    let block = read.block(block);
    let ends = block.ops.last().ok_or("no operation")?;
    let mut main = Main {
        module: &read,
        lines: String::new(),
        n_values: 0,
    };
    let (mut given, mut types) = (Vec::new(), Vec::new());
    for argument in &block.arguments {
        let name = &read.value(*argument).name;
        let tensor = inputs.get(name).ok_or(format!("no operand `{name}`"))?;
        given.push(main.operand(*argument, tensor)?);
        types.push(main.text(read.ty(*argument)));
    }
    let results = &read.op(*ends).data().operands;
    let of: Vec<String> = results.iter().map(|it| main.text(read.ty(*it))).collect();
    let made = format!("%made:{}", results.len());
    let _ = writeln!(
        main.lines,
        "    {made} = func.call @{name}({}) : ({}) -> ({})",
        given.join(", "),
        types.join(", "),
        of.join(", ")
    );
    for (n, result) in results.iter().enumerate() {
        main.print(&format!("%made#{n}"), *result)?;
    }
    let lines = main.lines;
    let head = module.trim_end().strip_suffix('}').ok_or("no module")?;
    Ok(format!(
        "{head}  func.func @main() {{\n{lines}    return\n  }}\n}}\n"
    ))
}

struct Main<'a> {
    module: &'a Module,
    lines: String,
    n_values: usize,
}

impl Main<'_> {
    fn text(&self, ty: &Type) -> String {
        self.module.spell().ty(ty)
    }

    fn op(&mut self, text: &str) -> String {
        self.n_values += 1;
        let name = format!("%v{}", self.n_values);
        let _ = writeln!(self.lines, "    {name} = {text}");
        name
    }

    /// A constant tensor as the argument of this type.
    fn operand(&mut self, argument: Value, tensor: &Tensor) -> Check<String> {
        let ty = self.module.ty(argument).clone();
        let mut entries = String::new();
        written(tensor, &mut Vec::new(), &mut entries)?;
        let extents: String = tensor.extents().iter().map(|n| format!("{n}x")).collect();
        let number = self.text(ty.element());
        let dense = format!("tensor<{extents}{number}>");
        let mut value = self.op(&format!("arith.constant dense<{entries}> : {dense}"));
        let mut from = dense;
        if let Some(encoding) = ty.encoding() {
            let encoding = sparsec::internals::mlir::Attribute::Encoding(encoding.clone());
            let encoding = self.module.spell().attribute(&encoding);
            let to = format!("tensor<{extents}{number}, {encoding}>");
            value = self.op(&format!("sparse_tensor.convert {value} : {from} to {to}"));
            from = to;
        }
        let to = self.text(&ty);
        match from == to {
            true => Ok(value),
            false => Ok(self.op(&format!("tensor.cast {value} : {from} to {to}"))),
        }
    }

    /// Prints all entries of a result.
    fn print(&mut self, value: &str, of: Value) -> Check<()> {
        let ty = self.module.ty(of).clone();
        let (shape, from) = (ty.shape().unwrap_or_default(), self.text(&ty));
        let number = self.text(ty.element());
        let text: String = shape
            .iter()
            .map(|extent| extent.map_or("?x".to_owned(), |n| format!("{n}x")))
            .collect();
        let dense = format!("tensor<{text}{number}>");
        let mut value = value.to_owned();
        if ty.encoding().is_some() {
            value = self.op(&format!(
                "sparse_tensor.convert {value} : {from} to {dense}"
            ));
        }
        let mut at = Vec::new();
        for mode in 0..shape.len() {
            let place = self.op(&format!("arith.constant {mode} : index"));
            let from = self.op("arith.constant 0 : index");
            let step = self.op("arith.constant 1 : index");
            let to = self.op(&format!("tensor.dim {value}, {place} : {dense}"));
            self.n_values += 1;
            let name = format!("%i{}", self.n_values);
            let _ = writeln!(
                self.lines,
                "    scf.for {name} = {from} to {to} step {step} {{"
            );
            at.push(name);
        }
        let entry = self.op(&format!(
            "tensor.extract {value}[{}] : {dense}",
            at.join(", ")
        ));
        for (entry, ty) in self.parts(&entry, ty.element()) {
            let bits = match ty.as_str() {
                "f32" => self.op(&format!("arith.bitcast {entry} : f32 to i32")),
                "f64" => self.op(&format!("arith.bitcast {entry} : f64 to i64")),
                _ => entry,
            };
            let ty = ty.replace('f', "i");
            let _ = writeln!(self.lines, "    vector.print {bits} : {ty}");
        }
        at.iter().for_each(|_| self.lines.push_str("    }\n"));
        Ok(())
    }

    /// The real numbers of an entry, with their types.
    fn parts(&mut self, entry: &str, ty: &Type) -> Vec<(String, String)> {
        match ty {
            Type::Complex(part) => {
                let (whole, part) = (self.text(ty), self.text(part));
                ["re", "im"]
                    .map(|word| {
                        let text = format!("complex.{word} {entry} : {whole}");
                        (self.op(&text), part.clone())
                    })
                    .to_vec()
            }
            ty => vec![(entry.to_owned(), self.text(ty))],
        }
    }
}

/// The entries of a tensor in nested brackets.
fn written(tensor: &Tensor, at: &mut Vec<u64>, out: &mut String) -> Check<()> {
    let Some(extent) = tensor.extents().get(at.len()) else {
        out.push_str(&number(tensor.get(at))?);
        return Ok(());
    };
    if *extent == 0 {
        return Err("a tensor without entries".to_owned());
    }
    out.push('[');
    for n in 0..*extent {
        if n > 0 {
            out.push_str(", ");
        }
        at.push(n);
        written(tensor, at, out)?;
        at.pop();
    }
    out.push(']');
    Ok(())
}

fn number(value: Scalar) -> Check<String> {
    let float = |value: f64| match value.is_finite() {
        true => {
            let text = format!("{value:e}");
            let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            let dot = if mantissa.contains('.') { "" } else { ".0" };
            Ok(format!("{mantissa}{dot}e{exponent}"))
        }
        false => Err("a number that is not finite".to_owned()),
    };
    Ok(match value {
        Scalar::C64(_) | Scalar::C128(_) => {
            let value = value.to_c128();
            format!("({}, {})", float(value.re)?, float(value.im)?)
        }
        value => match value.to_integer() {
            Some(_) if value.element() == ElementType::Bool => value.to_string(),
            Some(integer) => integer.to_string(),
            None => float(value.to_f64())?,
        },
    })
}

/// Whether printed integers are the entries of results, up to rounding.
///
/// # Errors
/// The first entry that differs, and output that has another length.
pub fn compare(printed: &str, results: &[&Tensor]) -> Check<()> {
    let mut lines = printed.lines();
    let mut next = || -> Check<i64> {
        let line = lines.next().ok_or("the output ends early")?;
        line.trim()
            .parse()
            .map_err(|_| format!("`{line}` is no number"))
    };
    for tensor in results {
        let mut failure = None;
        for_each_point(tensor.extents(), &mut |at| {
            let wanted = tensor.get(at);
            let parts = match wanted {
                Scalar::C64(value) => vec![Scalar::F32(value.re), Scalar::F32(value.im)],
                Scalar::C128(value) => vec![Scalar::F64(value.re), Scalar::F64(value.im)],
                value => vec![value],
            };
            for wanted in parts {
                let is_same = next().map(|bits| (bits, is_near(wanted, bits)));
                match is_same {
                    Ok((_, true)) => {}
                    Ok((bits, false)) => {
                        failure.get_or_insert(format!(
                            "entry {at:?}: {wanted} has not the bits {bits}"
                        ));
                    }
                    Err(error) => {
                        failure.get_or_insert(error);
                    }
                }
            }
        });
        if let Some(failure) = failure {
            return Err(failure);
        }
    }
    match lines.next() {
        Some(line) => Err(format!("`{line}` is left of the output")),
        None => Ok(()),
    }
}

fn is_near(wanted: Scalar, bits: i64) -> bool {
    let near = |a: f64, b: f64, by: f64| {
        a.is_nan() && b.is_nan() || a == b || (a - b).abs() <= by * a.abs().max(b.abs())
    };
    match wanted {
        Scalar::F64(value) => near(value, f64::from_bits(bits as u64), 1e-13),
        Scalar::F32(value) => {
            let found = f32::from_bits(bits as u32);
            near(f64::from(value), f64::from(found), 1e-5)
        }
        // The runner prints integers with signs, and truth values as 0 and 1.
        value => match value.to_integer() {
            Some(integer) => {
                let bytes = 8 * value.element().size() as u32;
                let mask = (1i128 << bytes) - 1;
                integer & mask == i128::from(bits) & mask
            }
            None => false,
        },
    }
}

fn for_each_point(extents: &[u64], visit: &mut dyn FnMut(&[u64])) {
    fn from(extents: &[u64], at: &mut Vec<u64>, visit: &mut dyn FnMut(&[u64])) {
        match extents.get(at.len()) {
            None => visit(at),
            Some(extent) => {
                for n in 0..*extent {
                    at.push(n);
                    from(extents, at, visit);
                    at.pop();
                }
            }
        }
    }
    from(extents, &mut Vec::new(), visit);
}

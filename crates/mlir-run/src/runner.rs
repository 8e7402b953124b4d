//! The functions that MLIR's runner brings: printing, files, clocks, sorting and random
//! numbers.
//!
//! A program declares them without bodies. Names are those of the libraries `mlir_runner_utils` and
//! `mlir_c_runner_utils`, with the spellings of earlier releases (`print_memref_f32`).

pub(crate) mod files;
pub(crate) mod random;

use std::cell::RefCell;
use std::rc::Rc;

use sparsec_base::{ElementType, Result, Scalar, code};
use sparsec_mlir::Operation;
use sparsec_tensor::{Array, Element, with_element};

use crate::datum::Datum;
use crate::machine::Machine;
use crate::memory::{MemRef, count};
use crate::print::{self, Integers};

use self::random::Generator;

impl<'a> Machine<'a> {
    /// Calls a function of the runner.
    ///
    /// # Errors
    /// `E1060` for a name that the runner does not have; `E1067` for a `TENSOR` variable that is
    /// not set.
    pub(crate) fn runner_function(
        &mut self,
        op: Operation<'a>,
        name: &str,
        args: Vec<Datum>,
    ) -> Result<Vec<Datum>> {
        let unrolled = name.strip_prefix("_mlir_ciface_").unwrap_or(name);
        let plain = unrolled.to_ascii_lowercase().replace('_', "");
        if let Some(rest) = plain.strip_prefix("printmemref") {
            let memref = self.printed_memref(op, args)?;
            let is_shape = rest.starts_with("shape");
            // Functions such as `printMemref2dF32` take one rank.
            let title = match rest.starts_with(|c: char| c.is_ascii_digit()) {
                true => "Memref",
                false => "Unranked Memref",
            };
            let integers = match plain.ends_with("ind") {
                true => Integers::Unsigned,
                false => Integers::Signed,
            };
            return self.print_memref(op, &memref, (title, is_shape), integers);
        }
        if plain.starts_with("verifymemref") {
            return self.differences(op, &args);
        }
        if let Some(results) = self.file_function(op, &plain, &args)? {
            return Ok(results);
        }
        let number = |n: usize| match args.get(n) {
            Some(Datum::Number(number)) => Ok(*number),
            _ => Err(self.not_run(op)),
        };
        let text = match plain.as_str() {
            "printf32" | "printf64" | "printi64" | "printi32" | "printf16" | "printbf16" => {
                print::number(number(0)?, Integers::Signed)
            }
            "printu64" => print::number(number(0)?, Integers::Unsigned),
            "printnewline" => "\n".to_owned(),
            "printopen" => "( ".to_owned(),
            "printclose" => " )".to_owned(),
            "printcomma" => ", ".to_owned(),
            "printflops" => {
                format!("{:.6} GFLOPS\n", number(0)?.to_f64() / 1e9)
            }
            "gettensorfilename" => {
                let number = number(0)?.to_integer().unwrap_or(0);
                return self.tensor_file(op, number).map(|path| vec![path]);
            }
            "rtclock" => return Ok(vec![Datum::Number(Scalar::F64(self.host.seconds()))]),
            "nanotime" => {
                let now = (self.host.seconds() * 1e9) as i64;
                return Ok(vec![Datum::Number(Scalar::I64(now))]);
            }
            "rtsrand" => {
                let seed = number(0)?.to_integer().unwrap_or(0) as u64;
                let generator = Generator::new(seed);
                return Ok(vec![Datum::Generator(Rc::new(RefCell::new(generator)))]);
            }
            "rtrand" => {
                let [Datum::Generator(generator), Datum::Number(most)] = &args[..] else {
                    return Err(self.not_run(op));
                };
                let most = most.to_integer().unwrap_or(0) as u64;
                let drawn = generator.borrow_mut().up_to(most);
                return Ok(vec![Datum::Number(Scalar::I64(drawn as i64))]);
            }
            "shuffle" => {
                let [Datum::MemRef(memref), Datum::Generator(generator)] = &args[..] else {
                    return Err(self.not_run(op));
                };
                let order = generator.borrow_mut().shuffled(count(&memref.sizes)?);
                return self.assigned(op, memref, Array::from_vec(order));
            }
            "stdsorti64" | "stdsortf32" | "stdsortf64" => {
                let [Datum::Number(n), Datum::MemRef(memref)] = &args[..] else {
                    return Err(self.not_run(op));
                };
                let n = n.to_integer().unwrap_or(0).max(0) as u64;
                if memref.sizes.len() != 1 || n > memref.sizes[0] {
                    return Err(self.outside(op, format!("a sort of the first {n} entries")));
                }
                let first = MemRef {
                    sizes: vec![n],
                    ..memref.clone()
                };
                let mut entries = self.memref_entries(op, &first)?;
                sort(&mut entries);
                return self.assigned(op, &first, entries);
            }
            "rtdrand" => return Ok(Vec::new()),
            _ => {
                let message = format!("function `@{name}` has no body");
                return Err(self.fault(op, code::NOT_RUN, message).help(
                    "sparsec has the functions of MLIR's runner, such as `@printMemrefF64`",
                ));
            }
        };
        self.host.print(&text)?;
        Ok(Vec::new())
    }

    /// The number of entries in which two memrefs differ: floats by more than one part in 10^6, or
    /// 10^12 for `f64`, or since one is not finite. Memrefs of other shapes give -1.
    fn differences(&self, op: Operation<'a>, args: &[Datum]) -> Result<Vec<Datum>> {
        let [Datum::MemRef(actual), Datum::MemRef(expected)] = args else {
            return Err(self.not_run(op));
        };
        let result = |n: i64| Ok(vec![Datum::Number(Scalar::I64(n))]);
        if actual.sizes != expected.sizes {
            return result(-1);
        }
        let (a, b) = (
            self.memref_entries(op, actual)?,
            self.memref_entries(op, expected)?,
        );
        let is_near = |a: Scalar, b: Scalar| {
            let bound = match a.element() {
                ElementType::F64 => 1e-12,
                element if element.is_float() => 1e-6,
                _ => return a == b,
            };
            let (a, b) = (a.to_f64(), b.to_f64());
            a.is_finite() && b.is_finite() && (a - b).abs() <= bound * b.abs()
        };
        let n = (0..a.len())
            .filter(|n| !is_near(a.get(*n), b.get(*n)))
            .count();
        result(n as i64)
    }

    /// Stores all entries of a memref.
    fn assigned(&self, op: Operation<'a>, memref: &MemRef, entries: Array) -> Result<Vec<Datum>> {
        if entries.element() != memref.buffer.array.borrow().element() {
            return Err(self.not_run(op));
        }
        match memref.assign(entries) {
            true => Ok(Vec::new()),
            false => {
                let message = "a part of the memref lies outside of its buffer";
                Err(self.outside(op, message))
            }
        }
    }

    fn tensor_file(&mut self, op: Operation<'a>, number: i128) -> Result<Datum> {
        let variable = format!("TENSOR{number}");
        match self.host.variable(&variable) {
            Some(path) => Ok(Self::path(&path)),
            None => {
                let message = format!("the environment has no variable `{variable}`");
                Err(self
                    .fault(op, code::NO_TENSOR_FILE, message)
                    .help(format!("name a file: {variable}=matrix.mtx sparsec mlir …")))
            }
        }
    }

    fn printed_memref(&mut self, op: Operation<'a>, mut args: Vec<Datum>) -> Result<MemRef> {
        match args.pop() {
            Some(Datum::MemRef(memref)) => Ok(memref),
            Some(datum @ Datum::Tensor(_)) => {
                let tensor = self.as_tensor(op, datum)?.tensor()?;
                let tensor = self.row_major(op, tensor)?;
                let entries = tensor.vals().try_clone()?;
                Ok(self.new_memref(entries, tensor.extents().to_vec()))
            }
            _ => Err(self.not_run(op)),
        }
    }

    fn print_memref(
        &mut self,
        op: Operation<'a>,
        memref: &MemRef,
        (title, is_shape): (&str, bool),
        integers: Integers,
    ) -> Result<Vec<Datum>> {
        count(&memref.sizes)?;
        let head = format!("{title} {}", print::shape(memref));
        let text = match is_shape {
            true => format!("{head}\n"),
            false => {
                let Some(entries) = print::entries(memref, integers) else {
                    let message = "a part of the memref lies outside of its buffer";
                    return Err(self.outside(op, message));
                };
                format!("{head} data = \n{entries}\n")
            }
        };
        self.host.print(&text)?;
        Ok(Vec::new())
    }
}

/// Sorts entries from the least to the greatest.
fn sort(entries: &mut Array) {
    with_element!(entries.element(), T => {
        entries.slice_mut::<T>().sort_unstable_by(|a, b| match (a.scalar(), b.scalar()) {
            (Scalar::I64(a), Scalar::I64(b)) => a.cmp(&b),
            (a, b) => a.to_f64().total_cmp(&b.to_f64()),
        });
    });
}

//! The functions that MLIR's runner brings: printing, file names, clocks and random numbers.
//!
//! A program declares them without bodies. Names are those of the libraries `mlir_runner_utils` and
//! `mlir_c_runner_utils`, with the spellings of earlier releases (`print_memref_f32`).

use sparsec_base::{Result, Scalar, code};
use sparsec_mlir::Operation;

use crate::datum::Datum;
use crate::machine::Machine;
use crate::memory::{MemRef, count};
use crate::print::{self, Integers};

impl<'a> Machine<'a> {
    /// Calls a function of the runner.
    ///
    /// # Errors
    /// `E1060` for a name that the runner does not have; `E1064` for a `TENSOR` variable that is
    /// not set.
    pub(crate) fn runner_function(
        &mut self,
        op: Operation<'a>,
        name: &str,
        args: Vec<Datum>,
    ) -> Result<Vec<Datum>> {
        let unrolled = name.strip_prefix("_mlir_ciface_").unwrap_or(name);
        let plain = unrolled.to_ascii_lowercase().replace('_', "");
        if plain.starts_with("printmemref") {
            let memref = self.printed_memref(op, args)?;
            let is_shape = plain.starts_with("printmemrefshape");
            let integers = match plain.ends_with("ind") {
                true => Integers::Unsigned,
                false => Integers::Signed,
            };
            return self.print_memref(op, &memref, is_shape, integers);
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
                self.random = seed;
                return Ok(vec![Datum::Pointer(None)]);
            }
            "rtrand" => {
                // The generator is ours; the program only relies on the range.
                let most = args.last().and_then(|arg| match arg {
                    Datum::Number(number) => number.to_integer(),
                    _ => None,
                });
                self.random = self
                    .random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                let most = most.unwrap_or(0).max(0) as u64;
                let drawn = (self.random >> 33) % most.saturating_add(1);
                return Ok(vec![Datum::Number(Scalar::I64(drawn as i64))]);
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
                if tensor.format().has_sparse() {
                    return Err(self.not_run(op));
                }
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
        is_shape: bool,
        integers: Integers,
    ) -> Result<Vec<Datum>> {
        count(&memref.sizes)?;
        let head = format!("Unranked Memref {}", print::shape(memref));
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

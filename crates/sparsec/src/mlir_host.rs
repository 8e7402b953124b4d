//! The host of programs of MLIR: kernels in a session, files, and printing.

use std::borrow::Cow;
use std::io::Write;
use std::path::Path;
use std::rc::Rc;
use std::time::Instant;

use sparsec_base::{Diagnostic, ElementType, Result, Scalar, code};
use sparsec_format::Format;
use sparsec_index::{TensorRole, TensorVar};
use sparsec_io::{Content, Output, ReadOptions, Structure, WriteOptions};
use sparsec_mlir::Module;
use sparsec_mlir_run::{FileContent, Host, Kernel};
use sparsec_tensor::{Entries, PackOptions, Tensor};

use crate::compile::{Policy, compile_program};
use crate::compiled::Compiled;
use crate::facts::Facts;
use crate::program::Program;
use crate::session::Session;

/// The kernels of a program as a module of MLIR: loops over positions and coordinates. `strict` keeps
/// the order of floating-point operations.
///
/// # Errors
/// Those of planning the kernels.
///
/// ```
/// use sparsec::internals::mlir::Module;
/// use sparsec::internals::mlir_host::sparsified;
/// let text = "func.func @f(%x: tensor<8xf64>, %y: tensor<8xf64>) -> tensor<8xf64> {
///   %0 = linalg.add ins(%x, %x : tensor<8xf64>, tensor<8xf64>)
///                   outs(%y : tensor<8xf64>) -> tensor<8xf64>
///   return %0 : tensor<8xf64>
/// }";
/// let module = Module::parse(&sparsec::Source::new("example", text), None)?;
/// assert!(sparsified(&module, false)?.contains("scf.for"));
/// # Ok::<(), sparsec::Error>(())
/// ```
pub fn sparsified(module: &Module, strict: bool) -> Result<String> {
    let mut functions = Vec::new();
    for kernel in sparsec_mlir_run::kernels(module)? {
        let compiled = compiled(&kernel, strict)?;
        let numbers = compiled.kernels();
        functions.extend(numbers.map(|it| compiled.statements()[it].function.clone()));
    }
    Ok(sparsec_codegen_scf::emit(
        &functions.iter().collect::<Vec<_>>(),
    ))
}

/// A kernel, compiled: the operations that it fuses are computed where they are read if that costs
/// less, or else stored in the formats of their types. `strict` keeps the order of floating-point
/// operations.
///
/// # Errors
/// Those of planning the kernel.
pub fn compiled(kernel: &Kernel, strict: bool) -> Result<Compiled> {
    let (facts, read) = (Facts::default(), read(kernel));
    let policy = Policy {
        results: Some(read.iter().map(|name| (*name).to_owned()).collect()),
        strict,
        ..Policy::default()
    };
    let mut formats = kernel.formats.clone();
    for (tensor, ..) in inner(kernel) {
        formats.remove(&tensor);
    }
    let fused = compile_program(&kernel.program, &formats, &facts, &policy)?;
    let stored = stored(kernel, &fused.results());
    if stored.is_empty() {
        return Ok(fused);
    }
    for (tensor, _, format) in stored {
        formats.insert(tensor, format.clone());
    }
    compile_program(&kernel.program, &formats, &facts, &policy)
}

/// The names of the results of a kernel that the program around it reads.
fn read(kernel: &Kernel) -> Vec<&str> {
    let statements = kernel.program.statements.iter().skip(kernel.n_inner);
    let tensors = statements.map(|it| &kernel.program.tensors[it.lhs.tensor]);
    tensors.map(|data| data.name.as_str()).collect()
}

/// The other results, with their formats.
fn inner(kernel: &Kernel) -> impl Iterator<Item = (TensorVar, &str, &Format)> {
    let statements = kernel.program.statements.iter().take(kernel.n_inner);
    statements.filter_map(|statement| {
        let tensor = statement.lhs.tensor;
        let format = kernel.formats.get(&tensor)?;
        Some((tensor, kernel.program.tensors[tensor].name.as_str(), format))
    })
}

/// The other results that planning left among those that are `computed`.
fn stored<'a>(kernel: &'a Kernel, computed: &[&str]) -> Vec<(TensorVar, &'a str, &'a Format)> {
    inner(kernel)
        .filter(|(_, name, _)| computed.contains(name))
        .collect()
}

/// The environment, by the names of variables.
type Variables<'a> = Box<dyn Fn(&str) -> Option<String> + 'a>;

/// Runs programs of MLIR: kernels and conversions in a session, output to a writer.
///
/// ```
/// use sparsec::internals::mlir::Module;
/// use sparsec::internals::mlir_host::SessionHost;
/// use sparsec::internals::mlir_run;
/// use sparsec::{Session, Source};
/// let text = "func.func @main() {
///   %0 = arith.constant dense<[1.5, 2.0]> : vector<2xf64>
///   vector.print %0 : vector<2xf64>
///   return
/// }";
/// let module = Module::parse(&Source::new("example", text), None)?;
/// let mut output = Vec::new();
/// let mut host = SessionHost::new(Session::interpreter(), &mut output);
/// mlir_run::run(&module, "main", &mut host)?;
/// drop(host);
/// assert_eq!(String::from_utf8_lossy(&output), "( 1.5, 2 )\n");
/// # Ok::<(), sparsec::Error>(())
/// ```
pub struct SessionHost<'a> {
    session: Session,
    output: &'a mut dyn Write,
    variables: Variables<'a>,
    strict: bool,
    begin: Instant,
}

impl std::fmt::Debug for SessionHost<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionHost")
            .field("session", &self.session)
            .finish_non_exhaustive()
    }
}

impl<'a> SessionHost<'a> {
    /// A host without environment variables.
    pub fn new(session: Session, output: &'a mut dyn Write) -> Self {
        Self {
            session,
            output,
            variables: Box::new(|_| None),
            strict: false,
            begin: Instant::now(),
        }
    }

    /// The host whose kernels keep the order of floating-point operations, if it is `strict`.
    #[must_use]
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// The host with the environment variables that a function knows, such as `TENSOR0`.
    #[must_use]
    pub fn with_variables(mut self, variables: impl Fn(&str) -> Option<String> + 'a) -> Self {
        self.variables = Box::new(variables);
        self
    }
}

/// The text of a number, without a point behind which all digits are zero.
fn whole(text: String) -> String {
    match text.strip_suffix(".0") {
        Some(whole) => whole.to_owned(),
        None => text,
    }
}

/// Lines of the extended FROSTT format, coordinates counted from 1.
#[derive(Default)]
struct Lines {
    text: String,
    n_entries: usize,
}

impl Lines {
    fn of_tensor(tensor: &Tensor) -> String {
        let mut lines = Self::default();
        tensor.for_each_stored(|at, value| lines.add(at, value));
        lines.with_head(tensor.extents())
    }

    fn of_entries(entries: &Entries) -> String {
        let mut lines = Self::default();
        let order = entries.extents.len();
        for (tuple, value) in entries.iter() {
            let at: Vec<u64> = (0..order).map(|mode| tuple.at(mode)).collect();
            lines.add(&at, value);
        }
        lines.with_head(&entries.extents)
    }

    fn add(&mut self, at: &[u64], value: Scalar) {
        let value = match value {
            Scalar::C64(_) | Scalar::C128(_) => {
                let value = value.to_c128();
                format!("{} {}", value.re, value.im)
            }
            // The shortest text that reads back, with an exponent where that is shorter.
            Scalar::F32(value) => whole(format!("{value:?}")),
            Scalar::F64(value) => whole(format!("{value:?}")),
            other => other.to_string(),
        };
        self.text += &words(at.iter().map(|at| at + 1));
        self.text += &format!(" {value}\n");
        self.n_entries += 1;
    }

    fn with_head(self, extents: &[u64]) -> String {
        format!(
            "# extended FROSTT format\n{} {}\n{}\n{}",
            extents.len(),
            self.n_entries,
            words(extents.iter().copied()),
            self.text
        )
    }
}

fn words(numbers: impl Iterator<Item = u64>) -> String {
    let words: Vec<String> = numbers.map(|number| number.to_string()).collect();
    words.join(" ")
}

/// Writes lines to the file of a path if its type is FROSTT; whether it is.
fn written(path: &Path, lines: impl FnOnce() -> String) -> Result<bool> {
    let (file_type, compression) = sparsec_io::written_type(path)?;
    if !file_type.endings.contains(&".tns") {
        return Ok(false);
    }
    let text = lines();
    let staged = Output::stage(path, compression, |out| out.write_all(text.as_bytes()))?;
    staged.commit().map(|()| true)
}

impl Host for SessionHost<'_> {
    fn print(&mut self, text: &str) -> Result<()> {
        self.output.write_all(text.as_bytes()).map_err(|error| {
            let message = format!("cannot write the output of the program: {error}");
            Diagnostic::new(code::CANNOT_WRITE_FILE, message)
                .help("write to a file or a pipe that takes more")
        })
    }

    fn variable(&mut self, name: &str) -> Option<String> {
        (self.variables)(name)
    }

    fn read(
        &mut self,
        path: &str,
        element: Option<ElementType>,
        mirrored: bool,
    ) -> Result<FileContent> {
        let options = ReadOptions {
            element,
            keep_structure: !mirrored,
            memory: self.session.memory(),
            ..ReadOptions::default()
        };
        let file = sparsec_io::read(Path::new(path), &options)?;
        Ok(FileContent {
            is_symmetric: file.structure == Structure::Symmetric,
            entries: match file.content {
                Content::Entries(entries) => entries,
                Content::Tensor(tensor) => tensor.try_nonfill()?,
                Content::Relation(tensor) => tensor.entries()?,
            },
        })
    }

    fn write(&mut self, path: Option<&str>, tensor: &Tensor) -> Result<()> {
        let Some(path) = path else {
            return self.print(&Lines::of_tensor(tensor));
        };
        let path = Path::new(path);
        if written(path, || Lines::of_tensor(tensor))? {
            return Ok(());
        }
        let options = WriteOptions {
            states_extents: true,
            ..WriteOptions::default()
        };
        sparsec_io::stage(path, tensor, &options)?.commit()
    }

    fn write_entries(&mut self, path: Option<&str>, entries: Entries) -> Result<()> {
        let Some(name) = path else {
            return self.print(&Lines::of_entries(&entries));
        };
        if written(Path::new(name), || Lines::of_entries(&entries))? {
            return Ok(());
        }
        let format = Format::coo(entries.extents.len());
        let tensor = Tensor::pack_entries(&format, entries, PackOptions::default())?;
        self.write(path, &tensor)
    }

    fn compute(&mut self, kernel: &Kernel, operands: &[Rc<Tensor>]) -> Result<Vec<Tensor>> {
        let tensors = || kernel.program.tensors.iter();
        let read = read(kernel);
        let mut program = Program::built(&kernel.program)?.reads(&read);
        if self.strict {
            program = program.strict();
        }
        let mut inputs = Vec::new();
        for (tensor, data) in tensors() {
            if data.role == TensorRole::Input {
                let operand = &operands[inputs.len()];
                program = program.like(&data.name, operand)?;
                inputs.push((data.name.as_str(), operand));
            } else if let Some(format) = kernel.formats.get(&tensor)
                && read.contains(&data.name.as_str())
            {
                program = program.format(&data.name, format)?;
            }
        }
        let mut planned = self.session.plan(&program)?;
        let computed: Vec<&str> = planned.results().collect();
        let stored = stored(kernel, &computed);
        if !stored.is_empty() {
            for (_, name, format) in stored {
                program = program.format(name, format)?;
            }
            planned = self.session.plan(&program)?;
        }
        let mut binding = planned.binding();
        for (name, operand) in inputs {
            binding = binding.bind(name, operand)?;
        }
        let mut found = binding.evaluate_all()?;
        let results = read.iter().map(|name| {
            found.remove(*name).ok_or_else(|| {
                Diagnostic::new(code::NOT_RUN, format!("the kernel has no result `{name}`"))
                    .help("assign the result in a statement")
            })
        });
        results.collect()
    }

    fn convert(&mut self, tensor: &Tensor, format: &Format) -> Result<Tensor> {
        self.session.repacked(Cow::Borrowed(tensor), format)
    }

    fn seconds(&mut self) -> f64 {
        self.begin.elapsed().as_secs_f64()
    }
}

//! Programs of MLIR, run on two engines: their output is the same, or the same fault ends them.
//!
//! ```text
//! program ──► verified ──► run ── kernels by the interpreter ──► output ─┐
//!                           ├──── kernels by Cranelift ────────► output ─┼── the same
//!                           └──── one kernel for an operation ─► values ─┘── those of the oracle
//! ```
//!
//! A program runs for a limited number of operations. The files that it reads are `FILES`, in the
//! variables `TENSOR0` and so on; those that it writes are kept until it ends. A program with a
//! number of more than two digits is left out, since most of these are extents of large tensors.

use std::collections::BTreeMap;
use std::rc::Rc;

use sparsec::internals::index::TensorRole;
use sparsec::internals::mlir::{Dialect, Module};
use sparsec::internals::mlir_host::SessionHost;
use sparsec::internals::mlir_run::{self, FileContent, Host, Kernel};
use sparsec::internals::reference;
use sparsec::{
    Array, Diagnostic, ElementType, Entries, Format, Result, Session, Source, Tensor, code,
};
use sparsec_io::{FILE_TYPES, Input, ReadOptions, Structure};

use crate::programs::{MEMORY, MOST_POINTS, sessions};
use crate::texts::{drawn, text_of};

/// The files that programs read, by their names.
const FILES: [(&str, &str); 6] = [
    (
        "general.mtx",
        "%%MatrixMarket matrix coordinate real general\n3 4 4\n1 1 1.5\n1 4 -2\n3 2 0\n2 3 4\n",
    ),
    (
        "symmetric.mtx",
        "%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n1 1 2\n2 1 -1\n3 3 5\n",
    ),
    (
        "pattern.mtx",
        "%%MatrixMarket matrix coordinate pattern general\n2 3 2\n1 2\n2 1\n",
    ),
    (
        "complex.mtx",
        "%%MatrixMarket matrix coordinate complex general\n2 2 2\n1 2 1 -1\n2 1 0 2.5\n",
    ),
    ("vector.tns", "1 2\n5\n2 1.0\n5 -3.0\n"),
    ("cube.tns", "3 3\n2 3 2\n1 1 1 1.0\n1 3 2 2.0\n2 2 1 -1.0\n"),
];
/// The operations that a program may take.
const MOST_STEPS: u32 = 2000;
/// The digits that a number may have.
const MOST_DIGITS: usize = 2;

/// A program, whose `main` runs.
pub fn mlir_run(input: &[u8]) {
    let text = text_of(input);
    let is_digit = |c: char| c.is_ascii_digit();
    if text
        .split(|c| !is_digit(c))
        .any(|number| number.len() > MOST_DIGITS)
    {
        return;
    }
    let source = Source::new("text", text.as_str());
    for dialect in [None, Some(Dialect::Sparsec)] {
        let Some(module) = drawn(Module::parse(&source, dialect)) else {
            continue;
        };
        if drawn(module.verify()).is_none() {
            continue;
        }
        let [checked, compiled] = sessions()
            .each_ref()
            .map(|session| run(&module, session, false));
        assert_eq!(
            checked, compiled,
            "the interpreter and compiled kernels run {text:?}"
        );
        run(&module, &sessions()[0], true);
    }
}

/// The output, and the code of the fault that ended the program.
fn run(module: &Module, session: &Session, is_judged: bool) -> (String, Option<String>) {
    let mut output = Vec::new();
    let mut host = Bounded {
        host: SessionHost::new(session.clone(), &mut output),
        steps: 0,
        is_judged,
        written: BTreeMap::new(),
    };
    let outcome = mlir_run::run(module, "main", &mut host);
    drop(host);
    let fault = outcome.err().map(|fault| {
        drop(fault.render(false));
        fault.code().to_string()
    });
    (String::from_utf8_lossy(&output).into_owned(), fault)
}

/// A host with its own files and without time, for so many operations.
struct Bounded<'a> {
    host: SessionHost<'a>,
    steps: u32,
    /// Whether operations are computed one by one, and compared with the oracle.
    is_judged: bool,
    written: BTreeMap<String, Entries>,
}

/// Compares the results of a kernel with the oracle's.
fn judge(kernel: &Kernel, operands: &[Rc<Tensor>], results: &[Tensor]) {
    let program = &kernel.program;
    let extents = operands.iter().flat_map(|operand| operand.extents());
    let is_finite = |tensor: &Tensor| {
        let mut is_finite = true;
        tensor.for_each_stored(|_, value| {
            let value = value.to_c128();
            is_finite &= value.re.is_finite() && value.im.is_finite();
        });
        is_finite
    };
    let is_small = extents.fold(1, |n: u64, extent| n.saturating_mul((*extent).max(1)));
    if is_small > MOST_POINTS || !operands.iter().all(|operand| is_finite(operand)) {
        return;
    }
    let inputs = program.tensors.iter();
    let inputs = inputs.filter(|(_, data)| data.role == TensorRole::Input);
    let names = inputs.map(|(_, data)| data.name.clone());
    let known: BTreeMap<String, &Tensor> = names.zip(operands.iter().map(|it| &**it)).collect();
    for (number, result) in results.iter().enumerate() {
        match reference::dense::evaluate_statement(program, number, &known) {
            Ok(_) if !is_finite(result) => {}
            Ok(expected) => {
                if let Some(difference) = reference::compare(&expected, result) {
                    panic!("{program}\n{difference}");
                }
            }
            Err(wanted) if wanted.code() == code::TOO_MANY_POINTS => {}
            Err(wanted) => panic!("{program}\nis computed, but the oracle says\n{wanted}"),
        }
    }
}

/// The entries of a file, by its name.
fn read(path: &str, element: Option<ElementType>, mirrored: bool) -> Result<FileContent> {
    let Some((_, text)) = FILES.iter().find(|(name, _)| *name == path) else {
        let message = format!("there is no file `{path}`");
        return Err(
            Diagnostic::new(code::NOT_RUN, message).help("read one of `TENSOR0` to `TENSOR5`")
        );
    };
    let mut types = FILE_TYPES.iter();
    let file_type = types.find(|ty| ty.endings.iter().any(|ending| path.ends_with(ending)));
    let options = ReadOptions {
        element,
        keep_structure: !mirrored,
        memory: MEMORY,
        ..ReadOptions::default()
    };
    let input = Input::from_bytes(path, text.as_bytes().to_vec());
    let file = (file_type.expect("a type of files").read)(&input, &options)?;
    Ok(FileContent {
        is_symmetric: file.structure == Structure::Symmetric,
        entries: file.into_entries()?,
    })
}

impl Host for Bounded<'_> {
    fn print(&mut self, text: &str) -> Result<()> {
        self.host.print(text)
    }

    fn variable(&mut self, name: &str) -> Option<String> {
        let number: usize = name.strip_prefix("TENSOR")?.parse().ok()?;
        FILES.get(number).map(|(name, _)| (*name).to_owned())
    }

    fn read(
        &mut self,
        path: &str,
        element: Option<ElementType>,
        mirrored: bool,
    ) -> Result<FileContent> {
        let Some(written) = self.written.get(path) else {
            return read(path, element, mirrored);
        };
        let element = element.unwrap_or(written.values.element());
        let mut values = Array::zeroed(element, written.len())?;
        for at in 0..written.len() {
            let value = written.values.get(at).cast(element);
            let value = value.ok_or_else(|| {
                Diagnostic::new(code::NOT_RUN, "a value of another type").help("read it as written")
            })?;
            values.set(at, value);
        }
        Ok(FileContent {
            entries: Entries {
                coords: written.coords.clone(),
                values,
                extents: written.extents.clone(),
            },
            is_symmetric: false,
        })
    }

    fn write_entries(&mut self, path: Option<&str>, entries: Entries) -> Result<()> {
        let Some(path) = path else {
            return self.host.write_entries(None, entries);
        };
        self.written.insert(path.to_owned(), entries);
        Ok(())
    }

    fn write(&mut self, path: Option<&str>, tensor: &Tensor) -> Result<()> {
        let Some(path) = path else {
            return self.host.write(None, tensor);
        };
        self.written.insert(path.to_owned(), tensor.try_nonfill()?);
        Ok(())
    }

    fn compute(&mut self, kernel: &Kernel, operands: &[Rc<Tensor>]) -> Result<Vec<Tensor>> {
        if self.is_judged && kernel.n_inner > 0 {
            return Err(Diagnostic::new(code::NOT_RUN, "several operations").help("run one"));
        }
        let results = self.host.compute(kernel, operands)?;
        if self.is_judged {
            judge(kernel, operands, &results);
        }
        Ok(results)
    }

    fn convert(&mut self, tensor: &Tensor, format: &Format) -> Result<Tensor> {
        self.host.convert(tensor, format)
    }

    fn seconds(&mut self) -> f64 {
        0.0
    }

    fn poll(&mut self) -> Result<()> {
        self.steps += 1;
        match self.steps > MOST_STEPS {
            true => Err(Diagnostic::new(code::RUN_LIMIT, "too many operations").help("take fewer")),
            false => Ok(()),
        }
    }
}

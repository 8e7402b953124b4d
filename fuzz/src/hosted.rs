//! Programs of MLIR, run on two engines: their output is the same, or the same fault ends them.
//!
//! A program runs for a limited number of operations, and reads and writes no file. One with a
//! number of more than two digits is left out, since most of these are extents of large tensors.

use std::rc::Rc;

use sparsec::internals::mlir::{Dialect, Module};
use sparsec::internals::mlir_host::SessionHost;
use sparsec::internals::mlir_run::{self, Host, Kernel};
use sparsec::{Diagnostic, ElementType, Entries, Format, Result, Session, Source, Tensor, code};

use crate::programs::sessions;
use crate::texts::{drawn, text_of};

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
        let [checked, compiled] = sessions().each_ref().map(|session| run(&module, session));
        assert_eq!(
            checked, compiled,
            "the interpreter and compiled kernels run {text:?}"
        );
    }
}

/// The output, and the code of the fault that ended the program.
fn run(module: &Module, session: &Session) -> (String, Option<String>) {
    let mut output = Vec::new();
    let mut host = Bounded {
        host: SessionHost::new(session.clone(), &mut output),
        steps: 0,
    };
    let outcome = mlir_run::run(module, "main", &mut host);
    drop(host);
    let fault = outcome.err().map(|fault| {
        drop(fault.render(false));
        fault.code().to_string()
    });
    (String::from_utf8_lossy(&output).into_owned(), fault)
}

/// A host without files and without time, for so many operations.
struct Bounded<'a> {
    host: SessionHost<'a>,
    steps: u32,
}

fn no_files() -> Diagnostic {
    Diagnostic::new(code::NOT_RUN, "there are no files").help("use constants")
}

impl Host for Bounded<'_> {
    fn print(&mut self, text: &str) -> Result<()> {
        self.host.print(text)
    }

    fn variable(&mut self, _name: &str) -> Option<String> {
        None
    }

    fn read(&mut self, _path: &str, _element: ElementType, _mirrored: bool) -> Result<Entries> {
        Err(no_files())
    }

    fn write(&mut self, path: Option<&str>, tensor: &Tensor) -> Result<()> {
        match path {
            Some(_) => Err(no_files()),
            None => self.host.write(None, tensor),
        }
    }

    fn compute(&mut self, kernel: &Kernel, operands: &[Rc<Tensor>]) -> Result<Vec<Tensor>> {
        self.host.compute(kernel, operands)
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

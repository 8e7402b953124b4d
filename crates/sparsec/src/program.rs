//! A program and what is known of its tensors: what kernels are planned from.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use sparsec_base::{Diagnostic, ElementType, Result, Scalar, Source, Span};
use sparsec_format::FormatSpec;
use sparsec_index::{Program as Resolved, TensorRole, TensorVar, UserFunction};
use sparsec_notation::TensorName;
use sparsec_schedule::ProgramSchedule;
use sparsec_tensor::Tensor;

use crate::kernel::Kernel;
use crate::request::{Request, TensorSpec, check_tensor};
use crate::session::Session;

/// One or more statements of index notation, and what is known of their tensors
/// before there is any data.
///
/// Of what nothing is said: an operand is dense if it is a vector, `csr` if it is
/// a matrix, `csf` if it has more modes, and holds `f64`; each mode of a result
/// is dense where a dense level of some operand covers it, else compressed.
///
/// ```
/// use sparsec::{ElementType, Program};
/// let kernel = Program::parse("y(i) = A(i,j) * x(j)")?
///     .format("A", "csc")?
///     .element("A", ElementType::F32)?
///     .plan()?;
/// // No dense level of `A` covers `i`, so the result stores the rows that have entries.
/// assert_eq!(kernel.format("y").unwrap().to_string(), "(i) -> (i : compressed)");
/// # Ok::<(), sparsec::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Program {
    request: Request,
    /// The tensors that it names.
    tensors: Vec<TensorName>,
    /// The functions that it calls, callees first.
    functions: Vec<UserFunction>,
    /// Its statements, in the text.
    place: Span,
    /// The text that it prints as.
    text: String,
}

impl Program {
    /// Reads index notation, one statement a line.
    ///
    /// # Errors
    /// The `E01` or `E02` code of what is wrong with the text.
    pub fn parse(text: &str) -> Result<Self> {
        Self::from_source(Source::new("expression", text))
    }

    /// As [`Program::parse`], from a text that has a name for diagnostics.
    ///
    /// # Errors
    /// As [`Program::parse`].
    pub fn from_source(source: Source) -> Result<Self> {
        Self::of_request(Request::new(source))
    }

    /// As [`Program::parse`]; the program may call `functions` beside those that it
    /// defines itself, as `def half(x) = x / 2`.
    ///
    /// ```
    /// use sparsec::{Program, parse_function};
    /// let clamp = parse_function("clamp01(x) = min(max(x, 0), 1)")?;
    /// let kernel = Program::parse_with("B(i,j) = clamp01(A(i,j))", &[clamp])?.plan()?;
    /// // It keeps zero, so only what is stored is visited.
    /// assert_eq!(kernel.format("B").unwrap().to_string(), kernel.format("A").unwrap().to_string());
    /// # Ok::<(), sparsec::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Program::parse`].
    pub fn parse_with(text: &str, functions: &[UserFunction]) -> Result<Self> {
        let mut request = Request::new(Source::new("expression", text));
        request.functions = functions.to_vec();
        Self::of_request(request)
    }

    fn of_request(request: Request) -> Result<Self> {
        let notation = request.notation()?;
        let spans = notation.statements.iter().map(|statement| statement.span);
        Ok(Self {
            tensors: notation.tensor_names(),
            functions: notation.functions(),
            place: spans.reduce(Span::to).unwrap_or_default(),
            text: notation.to_string(),
            request,
        })
    }

    /// A program that a front end built. Its types, fills and known extents stand; formats
    /// and a schedule may be said of it. Diagnostics have places in the text that it prints
    /// as.
    ///
    /// ```
    /// use sparsec::ElementType::F64;
    /// use sparsec::build::Operator::{Add, Mul};
    /// use sparsec::build::ProgramBuilder;
    /// use sparsec::{Program, Session, Tensor};
    /// let mut built = ProgramBuilder::new();
    /// let s = built.result("s", 0)?;
    /// let a = built.input("a", F64, &[None])?;
    /// let i = built.var("i");
    /// let square = built.apply(&Mul, [built.access(a, [i])?, built.access(a, [i])?])?;
    /// let sum = built.reduce(&Add, [i], square)?;
    /// built.assign(s, [], sum)?;
    ///
    /// let program = Program::built(&built.finish()?)?;
    /// assert_eq!(program.to_string(), "s = sum{i}(a(i) * a(i))");
    /// let a = Tensor::dense(&[2], [3.0, 4.0])?;
    /// let s = Session::interpreter().plan(&program)?.bind("a", &a)?.evaluate()?;
    /// assert_eq!(s.values::<f64>(), Some(&[25.0][..]));
    /// # Ok::<(), sparsec::Error>(())
    /// ```
    ///
    /// # Errors
    /// What [`verify`](sparsec_index::Program::verify) says of the program.
    pub fn built(program: &Resolved) -> Result<Self> {
        let request = Request::of_program(program)?;
        let Some(built) = request.built.as_ref() else {
            unreachable!("a request of a program has it");
        };
        let program = &built.0;
        Ok(Self {
            tensors: names(program),
            functions: program.functions(),
            place: Span::new(0, program.source.text().len()),
            text: program.to_string(),
            request,
        })
    }

    /// Says how a tensor is stored: a [`Format`](crate::Format), or the text of
    /// a preset or a map, with widths of index arrays if need be.
    ///
    /// # Errors
    /// `E0207` if the program has no such tensor; the code of what is wrong with
    /// a text.
    pub fn format<F>(mut self, name: &str, format: F) -> Result<Self>
    where
        F: TryInto<FormatSpec>,
        Diagnostic: From<F::Error>,
    {
        let format = format.try_into()?;
        self.tensor(name)?.format = Some(format);
        Ok(self)
    }

    /// Says of what type the entries of a tensor are.
    ///
    /// # Errors
    /// `E0207` if the program has no such tensor.
    pub fn element(mut self, name: &str, element: ElementType) -> Result<Self> {
        self.tensor(name)?.element = Some(element);
        Ok(self)
    }

    /// Says what an operand's entries are that are not stored: zero unless said.
    ///
    /// # Errors
    /// `E0207` if the program has no such tensor.
    pub fn fill(mut self, name: &str, fill: Scalar) -> Result<Self> {
        self.tensor(name)?.fill = Some(fill);
        Ok(self)
    }

    /// Plans for operands stored as this tensor is: its format, type and fill.
    ///
    /// # Errors
    /// `E0207` if the program has no such tensor.
    pub fn like(mut self, name: &str, tensor: &Tensor) -> Result<Self> {
        *self.tensor(name)? = TensorSpec::like(tensor);
        Ok(self)
    }

    /// Gives an index variable its extent, where no operand does.
    ///
    /// [`Program::plan`] reports a name that the program does not have.
    pub fn extent(mut self, var: &str, extent: u64) -> Self {
        self.request.extents.insert(var.to_owned(), extent);
        self
    }

    /// Computes with floating-point numbers in the order in which the program has
    /// them. Otherwise a factor that a sum does not depend on may be multiplied
    /// after it, which is the same up to rounding as long as it is finite. The commands of a
    /// schedule are followed all the same.
    ///
    /// ```
    /// use sparsec::{Program, Session, Stage};
    /// let program = Program::parse("y(i) = s * A(i,j) * x(j)")?.format("A", "dense")?;
    /// let session = Session::interpreter();
    /// let commands = |program: &Program| session.plan(program)?.emit(&Stage::Schedule);
    /// assert!(commands(&program)?.contains("precompute(A(i,j) * x(j), {}, t)"));
    /// let program = program.strict();
    /// assert!(commands(&program)?.contains("precompute(s * A(i,j) * x(j), {}, t)"));
    /// # Ok::<(), sparsec::Error>(())
    /// ```
    pub fn strict(mut self) -> Self {
        self.request.strict = true;
        self
    }

    /// Says how often the program will run on the same operands: planning weighs a conversion
    /// of an operand, which is made once, against so many runs. One, if nothing is said.
    ///
    /// ```
    /// use sparsec::{Program, Session, Stage, Tensor};
    /// let program = Program::parse("y(j) = A(i,j) * x(i)")?
    ///     .extent("i", 10_000)
    ///     .extent("j", 10_000)
    ///     .format("A", "csr")?
    ///     .format("y", "dense")?;
    /// let session = Session::interpreter();
    /// let commands = |program: &Program| session.plan(program)?.emit(&Stage::Schedule);
    /// // Rows of `A` add to entries of `y` all over it. From columns each entry is a sum.
    /// assert!(!commands(&program)?.contains("convert"));
    /// assert!(commands(&program.runs(1000))?.contains("convert(A(i,j), "));
    /// # Ok::<(), sparsec::Error>(())
    /// ```
    pub fn runs(mut self, runs: u32) -> Self {
        self.request.runs = runs;
        self
    }

    /// The results that the caller reads; all of them if nothing is said. Another one is computed
    /// where a later statement reads it, if that costs less, and [`Binding::evaluate_all`] lacks it
    /// then. A name that the program does not have changes nothing.
    ///
    /// ```
    /// use sparsec::Program;
    /// let kernel = Program::parse("B(i,j) = A(i,k) * A(j,k)\nt = A(i,j) * B(i,j)")?
    ///     .format("A", "csr")?
    ///     .reads(&["t"])
    ///     .plan()?;
    /// assert!(kernel.results().any(|name| name == "t"));
    /// # Ok::<(), sparsec::Error>(())
    /// ```
    ///
    /// [`Binding::evaluate_all`]: crate::Binding::evaluate_all
    pub fn reads(mut self, results: &[&str]) -> Self {
        let names = results.iter().map(|name| (*name).to_owned());
        self.request.results = Some(names.collect());
        self
    }

    /// Replaces what planning would choose by the commands of a schedule; what they
    /// leave open is planned. In a program of several statements a command is for
    /// the one that has what it names; a name before it says which.
    ///
    /// ```
    /// use sparsec::{Program, Stage};
    /// let program = Program::parse("B(i,j) = A(i,k) * A(k,j)\ny(i) = B(i,j) * x(j)")?;
    /// let kernel = program.schedule("y: split(i, i0, i1, 32)")?.plan()?;
    /// // The plan as a schedule; `B` got what planning chose.
    /// let schedule = kernel.emit(&Stage::Schedule)?;
    /// assert!(schedule.starts_with("B:\n  reorder(i, k, j)\n"));
    /// assert!(schedule.contains("\n\ny:\n  split(i, i0, i1, 32)\n"));
    /// # Ok::<(), sparsec::Error>(())
    /// ```
    ///
    /// # Errors
    /// The code of what is wrong with the text; what cannot be applied is
    /// reported by [`Program::plan`].
    pub fn schedule(mut self, text: &str) -> Result<Self> {
        let source = Source::new("schedule", text);
        ProgramSchedule::parse_with(&source, &self.functions)?;
        self.request.schedule = Some(source);
        Ok(self)
    }

    /// Plans in the [shared session](Session::shared).
    ///
    /// Time: a few hundred microseconds for usual programs; that of a lookup
    /// for a program that was planned before. No C compiler runs before a kernel
    /// is evaluated.
    ///
    /// # Errors
    /// A diagnostic with its place in the program, a format or the schedule.
    pub fn plan(&self) -> Result<Kernel> {
        Session::shared().plan(self)
    }

    /// Every tensor that the program names, in order of appearance.
    pub fn tensors(&self) -> Vec<TensorName> {
        self.tensors.clone()
    }

    pub(crate) fn request(&self) -> &Request {
        &self.request
    }

    fn tensor(&mut self, name: &str) -> Result<&mut TensorSpec> {
        let known: Vec<&str> = self.tensors.iter().map(|it| it.name.as_str()).collect();
        check_tensor(name, (&self.request.expression, self.place), &known)?;
        Ok(self.request.tensor(name))
    }
}

/// The names of a program that was built.
fn names(program: &Resolved) -> Vec<TensorName> {
    let read = program.statements.iter().flat_map(|it| it.rhs.accesses());
    let read: BTreeSet<TensorVar> = read.map(|access| access.tensor).collect();
    let mut names: Vec<TensorName> = Vec::new();
    for (tensor, data) in program.tensors.iter() {
        let is_input = data.role == TensorRole::Input;
        let own = TensorName {
            name: data.source_name().to_owned(),
            order: data.order(),
            read: read.contains(&tensor),
            written: !is_input,
            is_input,
            may_be_input: is_input,
            span: data.span,
        };
        // Several values of one name are one.
        match names.iter_mut().find(|known| known.name == own.name) {
            Some(known) => {
                known.read |= own.read;
                known.written |= own.written;
                known.is_input |= own.is_input;
                known.may_be_input |= own.may_be_input;
            }
            None => names.push(own),
        }
    }
    names
}

/// The program as it parses back, without what is said of its tensors.
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Program {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

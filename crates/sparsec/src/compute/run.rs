//! Running computations: loops, on arrays that were checked.
//!
//! ```text
//! text ─► Computation ─► scan, lower ─► passes ─► kernel ─► launch ─► results
//!                                       arrays ─► checked against declarations ─┘
//! ```
//!
//! ```
//! use std::collections::BTreeMap;
//! use sparsec::internals::{Given, compile_computation};
//! use sparsec::{Session, Tensor};
//!
//! let spmv = compile_computation(&"
//! computation spmv {
//!   parameters N, M, NZ
//!   function pos : {[i] : 0 <= i <= N} -> {[p] : 0 <= p <= NZ} nondecreasing
//!   function crd : {[p] : 0 <= p < NZ} -> {[j] : 0 <= j < M}
//!   given pos : i32[N + 1], crd : i32[NZ], A : f64[NZ], x : f64[M]
//!   out y : f64[N]
//!   s0: y(i) = 0 over {[i] : 0 <= i < N} at [i, 0]
//!   s1: y(i) += A(p) * x(crd(p))
//!     over {[i, p] : 0 <= i < N && pos(i) <= p < pos(i + 1)} at [i, 1, p]
//! }".parse()?)?;
//! let (pos, crd) = (Tensor::dense(&[3], [0i32, 2, 3])?, Tensor::dense(&[3], [0i32, 2, 1])?);
//! let (a, x) = (Tensor::dense(&[3], [1.0, 2.0, 3.0])?, Tensor::dense(&[3], [1.0, 10.0, 100.0])?);
//! let given = Given::new()
//!     .parameter("N", 2).parameter("M", 3).parameter("NZ", 3)
//!     .data("pos", &pos).data("crd", &crd).data("A", &a).data("x", &x);
//! let results = Session::interpreter().compute(&spmv, &given)?;
//! assert_eq!(results["y"].values::<f64>(), Some(&[201.0, 30.0][..]));
//!
//! // What loops trust is checked first.
//! let wrong = Tensor::dense(&[3], [0i32, 3, 1])?;
//! let error = Session::interpreter().compute(&spmv, &given.data("pos", &wrong)).unwrap_err();
//! assert!(error.to_string().contains("pos(1) = 3 and pos(2) = 1"));
//! # Ok::<(), sparsec::Error>(())
//! ```

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

use sparsec_base::suggest::closest;
use sparsec_base::{Cancel, Diagnostic, Result, Source, Span, code};
use sparsec_computation::{Computation, DataSpace, Role as DataRole};
use sparsec_loop::{Access, Function, Role, passes};
use sparsec_lower::lower_computation;
use sparsec_relation::{Data, Declarations, Expression};
use sparsec_runtime::{Kernel, KernelArgument, OutputTensor};
use sparsec_tensor::{Array, Element, Format, Tensor};

use crate::checked;
use crate::session::Session;

use super::completed::completed;
use super::given::Given;
use super::kernels::Made;

/// A computation with its loops.
#[derive(Clone, Debug)]
pub struct CompiledComputation {
    pub(super) computation: Computation,
    pub(super) known: Declarations,
    pub(super) lowered: Function,
    /// The loops after all passes, once somebody has asked for them.
    pub(super) function: Arc<OnceLock<Function>>,
    /// The loops in shares for several threads, once a session has asked for them.
    pub(super) shared: Arc<OnceLock<Function>>,
    /// How much work makes a share worth its while.
    pub(super) grain: u32,
    /// Whether loops are in shares for one thread too.
    pub(super) is_always_shared: bool,
    /// The kernel that the last session made, which clones share.
    pub(super) made: Arc<Mutex<Option<Made>>>,
}

/// Where given arrays are checked against their declarations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checked {
    /// Before the kernel runs.
    Here,
    /// When the tensors were made whose arrays they are: the declarations are those of the
    /// descriptors of their formats.
    AsTensors,
}

/// Scans the iteration spaces of a computation and lowers it to a kernel.
///
/// # Errors
/// As [`sparsec_lower::lower_computation`].
pub fn compile_computation(computation: &Computation) -> Result<CompiledComputation> {
    let lowered = lower_computation(computation)?;
    Ok(CompiledComputation {
        computation: computation.clone(),
        known: computation.chain().swap_remove(0).computation.known(),
        lowered,
        function: Arc::default(),
        shared: Arc::default(),
        grain: passes::Division::default().grain,
        is_always_shared: false,
        made: Arc::default(),
    })
}

impl CompiledComputation {
    /// The computation.
    pub fn computation(&self) -> &Computation {
        &self.computation
    }

    /// The loops as they were scanned.
    pub fn lowered(&self) -> &Function {
        &self.lowered
    }

    /// The loops after all passes.
    pub fn function(&self) -> &Function {
        let optimized = || {
            let mut function = passes::optimize(self.lowered.clone(), &mut |_, _| {});
            passes::strips(&mut function);
            function
        };
        self.function.get_or_init(optimized)
    }

    /// The kernel as a file of C that needs nothing but the C library.
    pub fn c(&self) -> String {
        let function = self.function();
        let is_written = |space: &&DataSpace| {
            let mut arguments = function.arguments.iter();
            let argument = arguments.find(|argument| argument.name == space.name);
            let mut buffers = argument.into_iter().flat_map(|it| &it.buffers);
            buffers.any(|buffer| function.buffers[*buffer].access == Access::Write)
        };
        let spaces = self.computation.spaces.iter().filter(is_written);
        let given: Vec<String> = spaces.map(ToString::to_string).collect();
        sparsec_codegen_c::kept::alone(function, &given)
    }

    /// The kernel as a module of MLIR.
    pub fn mlir(&self) -> String {
        sparsec_codegen_scf::emit(&[self.function()])
    }

    /// The extents of data, with these values of parameters and of given integers.
    fn extents(&self, space: &DataSpace, data: &Data<'_>) -> Result<Vec<u64>> {
        let extents = space.extents.iter().map(|extent| {
            let value = data.value(extent)?;
            u64::try_from(value).ok()
        });
        let extents: Option<Vec<u64>> = extents.collect();
        extents.ok_or_else(|| {
            let message = format!("an extent of `{}` is negative, or does not fit", space.name);
            self.misfit(message, &space.name)
                .help("give other values to the parameters in it")
        })
    }

    /// Whether an extent is known only when the kernel has run so far, which checks it.
    fn is_computed(&self, space: &DataSpace) -> bool {
        let mut is_computed = false;
        for extent in &space.extents {
            extent.visit(&mut |e| {
                if let Expression::Constant(name) = e {
                    is_computed |= self.computation.writers(name).next().is_some();
                }
            });
        }
        is_computed
    }

    /// Refuses temporary data of more entries than kernels count, whose places would wrap.
    fn check_temporaries(&self, data: &Data<'_>) -> Result<()> {
        let mut spaces = self.computation.spaces.iter();
        spaces.try_for_each(|space| {
            let extents = match space.role {
                DataRole::Temporary if !self.is_computed(space) => self.extents(space, data)?,
                _ => return Ok(()),
            };
            let bytes = space.element.size() as u64;
            let mut all = extents.iter().chain([&bytes]);
            let all = all.try_fold(1_u64, |n, extent| n.checked_mul(*extent));
            if all.is_some_and(|bytes| i64::try_from(bytes).is_ok()) {
                return Ok(());
            }
            let name = &space.name;
            let message =
                format!("`{name}` of extents {extents:?} has more entries than can be counted");
            Err(self
                .misfit(message, name)
                .help("give smaller values to the parameters in its extents"))
        })
    }

    fn misfit(&self, message: String, name: &str) -> Diagnostic {
        let (source, place) = self.said(name);
        Diagnostic::new(code::GIVEN_MISFIT, message).at(&source, place, "said here")
    }

    /// Where the computation says these words.
    fn said(&self, words: &str) -> (Source, Span) {
        let text = self.computation.to_string();
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let mut places = text.match_indices(words).filter(|(at, _)| {
            let before = text[..*at].chars().next_back();
            let after = text[at + words.len()..].chars().next();
            !before.is_some_and(is_name) && !after.is_some_and(is_name)
        });
        let at = places.next().map_or(0, |(at, _)| at);
        let place = Span::new(at, (at + words.len()).min(text.len()));
        let name = format!("computation {}", self.computation.name);
        (Source::new(name, text), place)
    }

    /// Everything that is given, checked against the text.
    fn check<'t>(&self, given: &Given<'t>) -> Result<Data<'t>> {
        let mut data = Data::new();
        data.keys(&self.computation.declarations);
        let parameters = &self.computation.parameters;
        for (name, value) in &given.parameters {
            if !parameters.contains(name) {
                let known = parameters.iter().map(String::as_str);
                return Err(self.unknown("parameter", name, known));
            }
            if *value < 0 {
                let message = format!("the parameter `{name}` is {value}, which is negative");
                return Err(self.misfit(message, name).help(format!(
                    "loops rely on parameters from 0 on; what may be negative is data: `given {name} : i64`"
                )));
            }
            data.constant(name.clone(), *value);
        }
        let wanted = || {
            self.computation
                .spaces
                .iter()
                .filter(|space| space.role.is_given())
        };
        for name in given.data.keys() {
            if !wanted().any(|space| space.name == *name) {
                let known = wanted().map(|space| space.name.as_str());
                return Err(self.unknown("given data", name, known));
            }
        }
        // Data come before parameters, which their extents may say.
        let missing = wanted().filter(|space| !given.data.contains_key(&space.name));
        let missing: Vec<&str> = missing.map(|space| space.name.as_str()).collect();
        if let Some(first) = missing.first() {
            let message = match missing.len() {
                1 => format!("`{first}` is not given"),
                _ => format!("`{}` are not given", missing.join("`, `")),
            };
            let options: Vec<String> = missing.iter().map(|it| format!("-i {it}=FILE")).collect();
            return Err(self
                .misfit(message, first)
                .help(format!("say `{}`", options.join(" "))));
        }
        let unknown = parameters.iter();
        let unknown: Vec<&String> = unknown
            .filter(|name| !given.parameters.contains_key(*name))
            .collect();
        if let Some(name) = unknown.first() {
            let message = format!("the parameter `{name}` has no value");
            let options: Vec<String> = unknown.iter().map(|it| format!("-d {it}=VALUE")).collect();
            return Err(self
                .misfit(message, name)
                .note("neither extents of its arrays nor assumptions on their entries say it")
                .help(format!("say `{}`", options.join(" "))));
        }
        // Integers without extents first: other extents may speak of them.
        let mut spaces: Vec<&DataSpace> = wanted().collect();
        spaces.sort_by_key(|space| space.extents.len().min(1));
        for space in spaces {
            let name = &space.name;
            let tensor = given.data[name];
            let extents = self.extents(space, &data)?;
            let is_dense = *tensor.format() == Format::dense(extents.len());
            if !is_dense || tensor.element() != space.element || tensor.extents() != extents {
                let message = format!(
                    "`{name}` is {}{:?} here, and was given {}{:?} in {}",
                    space.element,
                    extents,
                    tensor.element(),
                    tensor.extents(),
                    tensor.format()
                );
                let help = "give a dense tensor of this type and these extents";
                return Err(self.misfit(message, name).help(help));
            }
            if space.is_index_array() {
                let values = tensor.vals();
                match extents.is_empty() {
                    true => data.constant(name.clone(), integer(values, 0)),
                    false => {
                        let extents = extents.iter().map(|&n| n as i64).collect();
                        data.array(name.clone(), extents, |at| integer(values, at));
                    }
                }
            }
        }
        Ok(data)
    }

    /// That given arrays are as they are declared.
    fn check_declared(&self, data: &Data<'_>) -> Result<()> {
        self.known.check(data).map_err(|broken| {
            let (source, place) = self.said(&broken.declaration);
            Diagnostic::new(code::NOT_AS_DECLARED, broken.why)
                .at(&source, place, "declared here")
                .help("correct the data, or declare what holds of them")
        })
    }

    fn unknown<'n>(
        &self,
        what: &str,
        name: &str,
        known: impl Iterator<Item = &'n str>,
    ) -> Diagnostic {
        let known: Vec<&str> = known.collect();
        let message = format!("`{}` has no {what} `{name}`", self.computation.name);
        let error = Diagnostic::new(code::GIVEN_MISFIT, message);
        match closest(name, known.iter().copied()) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error.help(format!("it has {}", known.join(", "))),
        }
    }
}

/// A computation ready to run on data that were checked.
#[derive(Debug)]
pub struct Prepared<'a> {
    session: Session,
    kernel: Arc<Kernel>,
    parameters: Vec<u64>,
    given: BTreeMap<String, &'a Tensor>,
    results: BTreeMap<String, OutputTensor>,
}

/// An entry of an array of integers of any width.
pub(super) fn integer(values: &Array, at: usize) -> i64 {
    let value = values.get(at).to_integer();
    let value = value.expect("index arrays hold integers");
    i64::try_from(value).expect("no wider than 64 bits with a sign")
}

impl Session {
    /// Runs a computation; what is live out, by name. Parameters need not be given where
    /// the extents of given arrays say them, or an assumption on their entries.
    ///
    /// # Errors
    /// `E0518` where what is given does not fit the text, `E0519` where it is not as
    /// declared; those of compiling and launching.
    #[doc(hidden)]
    pub fn compute(
        &self,
        compiled: &CompiledComputation,
        given: &Given<'_>,
    ) -> Result<BTreeMap<String, Tensor>> {
        let mut prepared = self.prepare(compiled, given)?;
        prepared.launch()?;
        prepared.finish()
    }

    /// Checks what is given, makes the kernel and allocates results.
    ///
    /// # Errors
    /// As [`compute`](Self::compute).
    #[doc(hidden)]
    pub fn prepare<'a>(
        &self,
        compiled: &CompiledComputation,
        given: &Given<'a>,
    ) -> Result<Prepared<'a>> {
        self.prepare_as(compiled, given, Checked::Here)
    }

    /// As [`prepare`](Self::prepare), where given arrays may be known to be as declared.
    pub(crate) fn prepare_as<'a>(
        &self,
        compiled: &CompiledComputation,
        given: &Given<'a>,
        checked: Checked,
    ) -> Result<Prepared<'a>> {
        let given = &completed(&compiled.computation, &compiled.known, given);
        let data = compiled.check(given)?;
        if checked == Checked::Here {
            compiled.check_declared(&data)?;
        }
        compiled.check_temporaries(&data)?;
        let kernel = self.on_threads(|| compiled.kernel(self))?;
        let function = kernel.function();
        let parameters = compiled.computation.parameters.iter();
        let parameters = parameters
            .map(|name| given.parameters[name] as u64)
            .collect();
        let mut results = BTreeMap::new();
        for argument in &function.arguments {
            if argument.role != Role::Out {
                continue;
            }
            let space = compiled.computation.space(&argument.name);
            let space = space.expect("results are data of the computation");
            // How long a list is that a kernel grows is known when it ran.
            let grows = function.buffers[argument.buffers[0]].access == Access::Grow;
            let extents = match grows {
                true => vec![0; space.extents.len()],
                false => compiled.extents(space, &data)?,
            };
            let output = OutputTensor::within(
                given.memory.unwrap_or(self.memory()),
                function,
                argument,
                Format::dense(space.extents.len()),
                extents,
                space.element.zero(),
            )?;
            results.insert(argument.name.clone(), output);
        }
        Ok(Prepared {
            session: self.clone(),
            parameters,
            given: given.data.clone(),
            results,
            kernel,
        })
    }
}

impl Prepared<'_> {
    /// Runs the kernel.
    ///
    /// # Errors
    /// Those of launching.
    pub fn launch(&mut self) -> Result<()> {
        let session = self.session.clone();
        session.on_threads(|| checked::launch_computation(self))
    }

    /// Whether anybody still waits.
    pub(crate) fn cancel(&self) -> &Cancel {
        self.session.cancel()
    }

    /// The kernel.
    pub fn kernel(&self) -> &Arc<Kernel> {
        &self.kernel
    }

    /// The entries of a result so far.
    ///
    /// # Panics
    /// If there is no such result, or its entries are of another type.
    pub fn result<T: Element>(&self, name: &str) -> &[T] {
        self.results[name].arrays()[0].slice()
    }

    /// The arguments of a kernel of this computation, in the order of its function.
    #[doc(hidden)]
    pub fn arguments(&mut self, function: &Function) -> Vec<KernelArgument<'_>> {
        let mut results: BTreeMap<&str, &mut OutputTensor> = BTreeMap::new();
        for (name, output) in &mut self.results {
            results.insert(name, output);
        }
        let arguments = function.arguments.iter().map(|argument| {
            let name = argument.name.as_str();
            match argument.role {
                Role::Out => {
                    KernelArgument::Out(results.remove(name).expect("each result is one argument"))
                }
                Role::In if argument.buffers.is_empty() => {
                    KernelArgument::Numbers(self.parameters.clone())
                }
                Role::In => {
                    let name = name.strip_suffix(".given").unwrap_or(name);
                    KernelArgument::In(self.given[name])
                }
            }
        });
        arguments.collect()
    }

    /// The results as tensors.
    ///
    /// # Errors
    /// Those of [`OutputTensor::finish`].
    pub fn finish(self) -> Result<BTreeMap<String, Tensor>> {
        let finish = |(name, output): (String, OutputTensor)| {
            let extents = match output.extents() {
                [_] => vec![output.arrays()[0].len() as u64],
                extents => extents.to_vec(),
            };
            let format = Arc::clone(output.format());
            Ok((name, output.stored_as(format, extents).finish()?))
        };
        self.results.into_iter().map(finish).collect()
    }
}

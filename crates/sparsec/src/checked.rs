//! The one place that vouches for kernels: compiled from C that was emitted here, and
//! launched on arguments that fit.
//!
//! ```text
//! statement ─► Signature      of each argument: format, element type, fill,
//!     │                       the index variable or the extent of each mode
//!     └─► Function ─► kernel ─► launch(kernel, signature, extents, arguments)
//!                                 └─ compares every argument, then runs
//! ```
//!
//! A kernel follows positions and coordinates without looking. That is sound where
//! its arguments are checked tensors of the formats and element types that it was
//! lowered for, and where modes that one index variable runs over have one extent.
//! The library refuses tensors of a user that do not fit, each with a diagnostic
//! ([`fitting`](crate::fitting)). Here the same is compared once more,
//! as the last thing before the launch: a difference is a fault of sparsec, and panics.
//!
//! A launch also needs two facts that no signature holds, so the callers here ensure them:
//! the given arrays of a computation hold values as it declares, and a kernel that writes
//! only values runs on the structure that was assembled for the same operands.

#![allow(unsafe_code)]

use std::sync::Arc;

use sparsec_base::{Cancel, Result, Scalar};
use sparsec_format::Format;
use sparsec_index::{IndexVar, Program, Statement, TensorVar};
use sparsec_loop::{Function, Role};
use sparsec_plan::Plan;
use sparsec_runtime::{Build, Kernel, KernelArgument};
use sparsec_tensor::level_extents;

use crate::compute::Prepared;
use crate::extents::Extents;
use crate::options::Backend;
use crate::session::Session;

/// The formats, fills and extents that a statement's kernels require of their arguments.
#[derive(Clone, Debug)]
pub(crate) struct Signature {
    parameters: Vec<Parameter>,
}

/// The requirements of a kernel on one argument.
#[derive(Clone, Debug)]
struct Parameter {
    name: String,
    /// The format of the tensor that has the arrays.
    format: Arc<Format>,
    /// The format that the kernel reads or writes the arrays under.
    read_as: Arc<Format>,
    fill: Scalar,
    /// The extents of that tensor, by mode.
    modes: Vec<Mode>,
    /// The format of the result whose levels the argument is the tensor of.
    levels_of: Option<Format>,
}

/// The extent that a mode has to have, as far as the program says it: by the variables
/// that run over it, and by the extent that it was compiled with.
#[derive(Clone, Debug, Default)]
struct Mode {
    vars: Vec<IndexVar>,
    compiled: Option<u64>,
}

impl Signature {
    /// The signature of the kernels for statement `number` of a program.
    pub(crate) fn of(program: &Program, number: usize, plan: &Plan, function: &Function) -> Self {
        let concrete = &plan.concrete;
        let beside = program.statements.iter();
        let beside = beside.filter(|it| concrete.beside.contains(&it.lhs.tensor));
        let own = [&program.statements[number]].into_iter();
        let statements: Vec<&Statement> = own.chain(beside).collect();
        let parameters = function.arguments.iter().map(|argument| {
            let known = concrete.tensors.named(&argument.name);
            let tensor = known.expect("an argument is a tensor of the statement");
            let origin = origin(plan, tensor);
            let is_own = tensor == concrete.result;
            let of_program = match argument.role {
                Role::Out if is_own => program.statements[number].lhs.tensor,
                Role::Out => tensor,
                Role::In => {
                    let name = &concrete.tensors[copied(plan, origin)].name;
                    let found = program.tensors.named(name);
                    found.expect("copies are of tensors of the program")
                }
            };
            Parameter {
                name: argument.name.clone(),
                format: Arc::clone(plan.formats.shared(origin)),
                read_as: Arc::clone(plan.formats.shared(tensor)),
                fill: concrete.tensors[origin].fill,
                modes: modes(program, &statements, of_program),
                levels_of: plan
                    .levels_of_result
                    .clone()
                    .filter(|_| argument.role == Role::Out),
            }
        });
        Self {
            parameters: parameters.collect(),
        }
    }

    /// Panics unless the arguments are those of the signature.
    fn check(&self, kernel: &Kernel, extents: &Extents, arguments: &[KernelArgument<'_>]) {
        let name = &kernel.function().name;
        assert_eq!(
            self.parameters.len(),
            arguments.len(),
            "`{name}` takes other arguments"
        );
        for (parameter, argument) in self.parameters.iter().zip(arguments) {
            parameter.check(name, extents, argument);
        }
    }
}

impl Parameter {
    fn check(&self, kernel: &str, extents: &Extents, argument: &KernelArgument<'_>) {
        let Self { name, .. } = self;
        let (format, read_as, fill, given) = match argument {
            KernelArgument::In(tensor) => (
                tensor.format(),
                tensor.format(),
                tensor.fill(),
                tensor.extents(),
            ),
            KernelArgument::Alias(alias) => {
                let origin = alias.origin();
                (
                    origin.format(),
                    alias.format(),
                    origin.fill(),
                    origin.extents(),
                )
            }
            KernelArgument::Out(output) => (
                &**output.format(),
                &**output.format(),
                output.fill(),
                output.extents(),
            ),
            KernelArgument::Values(tensor, _) => (
                tensor.format(),
                tensor.format(),
                tensor.fill(),
                tensor.extents(),
            ),
            KernelArgument::Numbers(_) => panic!("`{kernel}` takes a tensor as `{name}`"),
        };
        for (given, wanted) in [(format, &self.format), (read_as, &self.read_as)] {
            assert!(
                std::ptr::eq(given, &**wanted) || given.arranges_like(wanted),
                "`{kernel}` takes `{name}` in {wanted}, not in {given}"
            );
        }
        assert_eq!(fill, self.fill, "the fill of `{name}` for `{kernel}`");
        let fits = match &self.levels_of {
            Some(format) => {
                let of_modes = self.modes.iter().map(|mode| mode.known(extents).next());
                let known: Option<Vec<u64>> = of_modes.collect();
                known.is_some_and(|known| level_extents(format, &known, &[]) == given)
            }
            None => {
                given.len() == self.modes.len()
                    && std::iter::zip(&self.modes, given)
                        .all(|(mode, given)| mode.known(extents).all(|known| known == *given))
            }
        };
        assert!(
            fits,
            "`{kernel}` takes `{name}` of other extents than {given:?}"
        );
    }
}

impl Mode {
    /// The extents that the mode has to have.
    fn known<'a>(&'a self, extents: &'a Extents) -> impl Iterator<Item = u64> + 'a {
        let of_vars = self.vars.iter().filter_map(|var| extents[*var]);
        of_vars.chain(self.compiled)
    }
}

/// The tensor that has the arrays of `tensor`, which may be an alias of it.
fn origin(plan: &Plan, tensor: TensorVar) -> TensorVar {
    let mut aliases = plan.conversions.iter().filter(|it| it.view.is_some());
    let made = aliases.find(|it| it.to == tensor);
    made.map_or(tensor, |it| origin(plan, it.from))
}

/// The tensor that `tensor` is a copy of, or itself.
fn copied(plan: &Plan, tensor: TensorVar) -> TensorVar {
    let mut copies = plan.conversions.iter().filter(|it| it.view.is_none());
    let made = copies.find(|it| it.to == tensor);
    made.map_or(tensor, |it| copied(plan, it.from))
}

/// The extents of the modes of `tensor`, as far as statements say them.
fn modes(program: &Program, statements: &[&Statement], tensor: TensorVar) -> Vec<Mode> {
    let compiled = program.tensors[tensor].extents.iter();
    let mut modes: Vec<Mode> = compiled
        .map(|extent| Mode {
            vars: Vec::new(),
            compiled: *extent,
        })
        .collect();
    let accesses = statements.iter().flat_map(|statement| {
        let mut accesses = statement.rhs.accesses();
        accesses.push(&statement.lhs);
        accesses
    });
    for access in accesses.filter(|access| access.tensor == tensor) {
        for (mode, known) in modes.iter_mut().enumerate() {
            known.vars.extend(access.var(mode));
        }
    }
    modes
}

impl Session {
    /// A function made ready for the engine of this session.
    ///
    /// # Errors
    /// `E0501` to `E0504` where there is no C compiler, or it fails; the `E06` code of
    /// the first rule that the function breaks.
    #[doc(hidden)]
    pub fn kernel(&self, function: &Function) -> Result<Arc<Kernel>> {
        let runtime = self.runtime();
        let backend = self.backend();
        match backend {
            Backend::Interpreter => return Ok(Arc::new(Kernel::interpreter(function)?)),
            Backend::Cranelift => {
                let kernel = Kernel::generate(function)?;
                let Build { origin, time } = kernel.build();
                tracing::debug!(name = function.name, ?origin, ?time, "made a kernel");
                return Ok(Arc::new(kernel));
            }
            Backend::Auto | Backend::C => sparsec_loop::verify(function)?,
        }
        let text = sparsec_codegen_c::emit_unit(function);
        let entry = sparsec_codegen_c::launch_name(function);
        // SAFETY: the text is the C of this function, and the name is that of its entry.
        let (kernel, is_new) = unsafe {
            match backend {
                Backend::Auto => runtime.tiered(function, &text, &entry, self.cancel())?,
                _ => runtime.compile_c(function, &text, &entry, self.cancel())?,
            }
        };
        if is_new {
            let Build { origin, time } = kernel.build();
            tracing::debug!(name = function.name, ?origin, ?time, "made a kernel");
        }
        Ok(kernel)
    }
}

/// Runs a kernel of the statement with this `signature` on arguments that fit it; `extents`
/// are those of index variables. A kernel that writes only values gets the structure that
/// was assembled for the same operands.
///
/// # Errors
/// Those of [`Kernel::launch`].
///
/// # Panics
/// If an argument is not as the signature says.
pub(crate) fn launch(
    kernel: &Kernel,
    signature: &Signature,
    extents: &Extents,
    arguments: &mut [KernelArgument<'_>],
    cancel: &Cancel,
) -> Result<()> {
    signature.check(kernel, extents, arguments);
    // SAFETY: the arguments have the formats, types and extents that the function was
    // lowered for, as was just compared, and were made from checked tensors.
    unsafe { kernel.launch(arguments, cancel) }
}

/// Runs the kernel of a computation, on arrays that were checked against its text:
/// their types, their extents, and all that it declares of index arrays.
///
/// # Errors
/// Those of [`Kernel::launch`].
pub(crate) fn launch_computation(prepared: &mut Prepared<'_>) -> Result<()> {
    let kernel = Arc::clone(prepared.kernel());
    // SAFETY: it is the kernel that the arrays were checked for when it was prepared.
    unsafe { prepared.launch_with(&kernel) }
}

impl Prepared<'_> {
    /// As [`launch`](Self::launch), by another kernel of the same arguments.
    ///
    /// # Safety
    /// The kernel is right for all arrays that are as the computation declares.
    ///
    /// # Errors
    /// As there.
    pub unsafe fn launch_with(&mut self, kernel: &Kernel) -> Result<()> {
        let cancel = self.cancel().clone();
        let mut arguments = self.arguments(kernel.function());
        // SAFETY: as this function demands.
        unsafe { kernel.launch(&mut arguments, &cancel) }
    }
}

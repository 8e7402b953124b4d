//! Kernels and their arguments, whichever engine runs them.
//!
//! A kernel follows positions and coordinates without bounds checks, so launching one is
//! `unsafe`: the caller guarantees that its function was lowered for these arguments. The
//! arrays of a [`Tensor`] or a [`TensorAlias`] were checked against a format, but only the
//! maker of the function knows the format and the extents that it was lowered for.
//! [`Kernel::launch`] asserts the rest: the number of arguments, their orders, and the types
//! of their arrays.

#![allow(unsafe_code)]

use std::time::Duration;

use sparsec_base::{Cancel, Result, cancel::cancelled};
use sparsec_loop::{Access, Argument, Buffer, Function, Role};
use sparsec_parallel::MemoryLimit;
use sparsec_tensor::{Array, ArrayRef, Tensor, TensorAlias};

use crate::cache::Cache;
use crate::compiler::Compiler;
use crate::failure::{Stop, diagnose_stop};
use crate::native::Native;
use crate::output::OutputTensor;
use crate::tiers::Tiered;
use crate::{interpreted, native};

/// A function ready to run. Any number of threads may launch it at once.
#[derive(Debug)]
pub struct Kernel {
    function: Function,
    engine: Engine,
    build: Build,
}

#[derive(Debug)]
enum Engine {
    Native(Native),
    Tiered(Tiered),
    Interpreter,
}

/// How a kernel was made ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Build {
    /// Where it came from.
    pub origin: Origin,
    /// How long it took.
    pub time: Duration,
}

/// Where a kernel came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The C compiler made it now.
    Compiled,
    /// It was in the disk cache.
    Cached,
    /// It was made in memory now.
    Generated,
    /// It is interpreted; there was nothing to make.
    Interpreted,
}

/// One tensor that a kernel is launched with.
#[derive(Debug)]
pub enum KernelArgument<'a> {
    /// A tensor that it reads.
    In(&'a Tensor),
    /// A tensor that it reads under another format.
    Alias(Box<TensorAlias<'a>>),
    /// Numbers that it reads as extents and that belong to no tensor: the parameters of a
    /// computation.
    Numbers(Vec<u64>),
    /// A result that it writes.
    Out(&'a mut OutputTensor),
    /// A result of which it writes the values alone: the positions and
    /// coordinates are there, assembled for operands of this very structure.
    Values(&'a mut Tensor, MemoryLimit),
}

impl Kernel {
    /// Compiles `text`, the C of `function` with its launch entry, or finds it
    /// in the cache; `entry` is the name of the launch entry.
    ///
    /// # Safety
    /// `text` must be the C of `function`: its machine code is loaded into the process, and
    /// initialisers in it run at once.
    ///
    /// # Errors
    /// `E0502` if the compiler fails, `E0503` if there is no place to compile
    /// in, `E0504` if the result cannot be loaded.
    pub unsafe fn compile_c(
        function: &Function,
        text: &str,
        entry: &str,
        compiler: &Compiler,
        cache: &Cache,
    ) -> Result<Self> {
        let cancel = &Cancel::default();
        // SAFETY: as this function demands.
        unsafe { Self::compile_c_until(function, text, entry, (compiler, cache), cancel) }
    }

    /// As [`Kernel::compile_c`], unless it is cancelled.
    ///
    /// # Safety
    /// As there.
    ///
    /// # Errors
    /// As there; `E0521` if it was cancelled.
    pub(crate) unsafe fn compile_c_until(
        function: &Function,
        text: &str,
        entry: &str,
        (compiler, cache): (&Compiler, &Cache),
        cancel: &Cancel,
    ) -> Result<Self> {
        let started = std::time::Instant::now();
        let (native, origin) = native::build(text, entry, compiler, cache, cancel)?;
        Ok(Self {
            function: function.clone(),
            engine: Engine::Native(native),
            build: Build {
                origin,
                time: started.elapsed(),
            },
        })
    }

    /// Makes machine code of `function` in memory, without a compiler.
    ///
    /// # Errors
    /// The `E06` code of the first rule that the function breaks; `E0609` where code
    /// cannot be made on this machine.
    pub fn generate(function: &Function) -> Result<Self> {
        let started = std::time::Instant::now();
        sparsec_loop::verify(function)?;
        Ok(Self {
            engine: Engine::Native(Native::in_memory(function)?),
            function: function.clone(),
            build: Build {
                origin: Origin::Generated,
                time: started.elapsed(),
            },
        })
    }

    /// A kernel that is native by any way.
    pub(crate) fn native(function: &Function, native: Native, build: Build) -> Self {
        Self {
            function: function.clone(),
            engine: Engine::Native(native),
            build,
        }
    }

    /// A kernel of two tiers.
    pub(crate) fn tiered(function: &Function, tiered: Tiered, build: Build) -> Self {
        Self {
            function: function.clone(),
            engine: Engine::Tiered(tiered),
            build,
        }
    }

    /// A kernel that the interpreter runs, with every access checked.
    ///
    /// # Errors
    /// The `E06` code of the first rule that the function breaks.
    pub fn interpreter(function: &Function) -> Result<Self> {
        sparsec_loop::verify(function)?;
        Ok(Self {
            function: function.clone(),
            engine: Engine::Interpreter,
            build: Build {
                origin: Origin::Interpreted,
                time: Duration::ZERO,
            },
        })
    }

    /// What the kernel computes.
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// How the kernel was made ready.
    pub fn build(&self) -> Build {
        self.build
    }

    /// Runs the kernel on `arguments`, given in the order of the function's, until it
    /// is done or `cancel` is set: then it ends soon, with results that hold anything.
    ///
    /// # Safety
    /// * The function was lowered for the formats, the element types and the extents of
    ///   these arguments, and the numbers among them.
    /// * Index arrays that are no levels of a format (of a computation over relations)
    ///   have the properties that the computation declares.
    /// * A function that writes values alone gets a result whose index arrays were
    ///   assembled for operands of this very structure.
    ///
    /// # Errors
    /// `E0511` to `E0514` if the kernel gives up, `E0521` if it was cancelled; results
    /// then hold anything.
    ///
    /// # Panics
    /// If the number of arguments, their orders, or the types of their arrays are not
    /// those of the function's signature, or the interpreter finds the function breaking
    /// a rule: these are faults of the caller.
    pub unsafe fn launch(
        &self,
        arguments: &mut [KernelArgument<'_>],
        cancel: &Cancel,
    ) -> Result<()> {
        self.check(arguments);
        if cancel.is_set() {
            return Err(cancelled());
        }
        let ended = match &self.engine {
            // SAFETY: as this function demands.
            Engine::Native(native) => unsafe { native.launch(&self.function, arguments, cancel) },
            Engine::Tiered(tiered) => {
                let native = tiered.native(|| bytes_of(arguments));
                // SAFETY: as this function demands; both tiers are of one function.
                unsafe { native.launch(&self.function, arguments, cancel) }
            }
            Engine::Interpreter => {
                interpreted::launch(&self.function, arguments, cancel).map_err(Stop::from)
            }
        };
        ended.map_err(|stop| diagnose_stop(stop, &self.function))
    }

    fn check(&self, arguments: &[KernelArgument<'_>]) {
        let name = &self.function.name;
        assert_eq!(
            self.function.arguments.len(),
            arguments.len(),
            "`{name}` is launched with the wrong number of arguments"
        );
        for (wanted, given) in self.function.arguments.iter().zip(arguments) {
            let role = match given {
                KernelArgument::In(_) | KernelArgument::Alias(_) | KernelArgument::Numbers(_) => {
                    Role::In
                }
                KernelArgument::Out(_) | KernelArgument::Values(..) => Role::Out,
            };
            assert_eq!(wanted.role, role, "role of `{}` in `{name}`", wanted.name);
            assert_eq!(
                wanted.extents.len(),
                given.extents().len(),
                "order of `{}` in `{name}`",
                wanted.name
            );
            self.check_arrays(wanted, given);
            if let KernelArgument::Values(..) = given {
                self.check_writes_values_alone(wanted);
            }
        }
    }

    fn check_writes_values_alone(&self, wanted: &Argument) {
        let access = |buffer: &Buffer| self.function.buffers[*buffer].access;
        if let Some((values, indices)) = wanted.buffers.split_last() {
            assert!(
                access(values) == Access::Write
                    && indices.iter().all(|buffer| access(buffer) == Access::Read),
                "`{}` writes more of `{}` than its values",
                self.function.name,
                wanted.name
            );
        }
    }

    fn check_arrays(&self, wanted: &Argument, given: &KernelArgument<'_>) {
        assert_eq!(
            wanted.buffers.len(),
            given.arrays().len(),
            "arrays of `{}` in `{}`",
            wanted.name,
            self.function.name
        );
        for (&buffer, array) in wanted.buffers.iter().zip(given.arrays()) {
            let data = &self.function.buffers[buffer];
            assert_eq!(
                data.storage,
                array.element(),
                "storage of `{}` in `{}`",
                data.name,
                self.function.name
            );
            assert!(
                wanted.role == Role::Out || data.access == Access::Read,
                "`{}` writes to `{}` of an operand",
                self.function.name,
                data.name
            );
        }
    }
}

/// As many bytes as the arrays of all arguments have before a launch.
fn bytes_of(arguments: &[KernelArgument<'_>]) -> usize {
    let arrays = arguments.iter().flat_map(KernelArgument::arrays);
    arrays
        .map(|array| array.len() * array.element().size())
        .sum()
}

impl KernelArgument<'_> {
    /// How much memory a launch with these arguments may take, and how much of
    /// it the result has already.
    pub(crate) fn memory(arguments: &[Self]) -> (MemoryLimit, u64) {
        let result = arguments.iter().find_map(|argument| match argument {
            Self::Out(output) => Some((output.memory, output.bytes())),
            Self::Values(tensor, memory) => {
                let bytes = tensor.vals().len() * tensor.element().size();
                Some((*memory, bytes as u64))
            }
            Self::In(_) | Self::Alias(_) | Self::Numbers(_) => None,
        });
        result.unwrap_or_default()
    }

    /// The extents of the tensor.
    pub fn extents(&self) -> &[u64] {
        match self {
            Self::In(tensor) => tensor.extents(),
            Self::Alias(alias) => alias.extents(),
            Self::Numbers(numbers) => numbers,
            Self::Out(output) => output.extents(),
            Self::Values(tensor, _) => tensor.extents(),
        }
    }

    /// The arrays of the tensor.
    pub fn arrays(&self) -> impl ExactSizeIterator<Item = &Array> {
        // Those of tensors and those of aliases, one of which is empty.
        let (own, lent): (&[Array], &[ArrayRef<'_>]) = match self {
            Self::In(tensor) => (tensor.arrays(), &[]),
            Self::Alias(alias) => (&[], alias.arrays()),
            Self::Numbers(_) => (&[], &[]),
            Self::Out(output) => (&output.arrays, &[]),
            Self::Values(tensor, _) => (tensor.arrays(), &[]),
        };
        (0..own.len() + lent.len()).map(move |number| match own.get(number) {
            Some(array) => array,
            None => &*lent[number - own.len()],
        })
    }

    /// The extents as kernels take them.
    pub(crate) fn signed_extents(&self) -> impl Iterator<Item = i64> {
        let signed = |&extent: &u64| match i64::try_from(extent) {
            Ok(extent) => extent,
            Err(_) => panic!("a tensor with an extent of {extent} passed its checks"),
        };
        self.extents().iter().map(signed)
    }
}

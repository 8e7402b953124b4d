//! Producers inside of consumers: kernels of several statements.
//!
//! ```text
//! %t = linalg.generic ins(%A, %B) outs(%empty)       t(i,j) = sum{k}(A(i,k) * B(k,j))
//! %y = linalg.generic ins(%S, %t) outs(%other)       y(i,j) = S(i,j) * t(i,j)
//! ```
//!
//! A result that one later operation of its block reads waits for that operation. Both are then one
//! program, whose first result nobody else reads, and the planner computes it where it is read if
//! that costs less. The entries of `y` are the same: a producer waits only if its result stores
//! the entries of its expression and no others.
//!
//! | the type of the result               | waits if                                      |
//! |--------------------------------------|-----------------------------------------------|
//! | sparse, the last level without padding | entries that are not stored are zero        |
//! | dense                                | all operands are dense                        |
//!
//! A program has a few tens of statements at most.
//!
//! Source: the rewriting of sampled products before sparsification in MLIR, which knows one pattern
//! of two operations; Bik et al., TACO 2022, §5.

use sparsec_base::Result;
use sparsec_base::arena::Id;
use sparsec_format::LevelKind;
use sparsec_index::{TensorRole, TensorVar};
use sparsec_mlir::{Module, Op, Value};

use super::Kernel;

/// The most statements of a kernel that waits: planning takes time as the cube of their number, a
/// tenth of a second for 40.
const MOST_WAITING: usize = 16;

impl Kernel {
    /// The inputs, in order.
    pub(crate) fn input(&self, number: usize) -> Option<TensorVar> {
        let tensors = self.program.tensors.iter();
        let mut inputs = tensors.filter(|(_, data)| data.role == TensorRole::Input);
        inputs.nth(number).map(|(tensor, _)| tensor)
    }

    /// The result of the last statement.
    fn last(&self) -> Option<TensorVar> {
        let last = self.program.statements.last();
        last.map(|statement| statement.lhs.tensor)
    }

    /// Whether the result may be computed where it is read.
    pub(crate) fn may_wait(&self) -> bool {
        let ([result], Some(last)) = (&self.results[..], self.program.statements.last()) else {
            return false;
        };
        let n = self.program.statements.len();
        if result.has_kept || result.drops_fill || n > MOST_WAITING {
            return false;
        }
        let tensors = &self.program.tensors;
        let data = &tensors[last.lhs.tensor];
        let Some(format) = self.formats.get(&last.lhs.tensor) else {
            return false;
        };
        if format.is_all_dense() {
            let reads = last.rhs.accesses();
            return reads.iter().all(|access| {
                let format = self.formats.get(&access.tensor);
                format.is_some_and(sparsec_format::Format::is_all_dense)
            });
        }
        let ends_sparse = format.levels().last().is_some_and(|level| {
            matches!(
                level.kind,
                LevelKind::Compressed | LevelKind::Singleton | LevelKind::LooseCompressed
            )
        });
        let zero = data.element.zero();
        format.is_native()
            && format.level_space().is_none()
            && ends_sparse
            && last.rhs.fill(tensors, &self.program.vars) == Some(zero)
    }

    /// This kernel with the input of this number computed by another. `same` has pairs of an
    /// input of the other and one of this kernel that are the same tensor. The inputs of the other
    /// come first, and then those of this one that are left, whose numbers come with the kernel.
    ///
    /// # Errors
    /// If the programs do not fit together.
    pub(crate) fn after(
        &self,
        producer: &Self,
        input: usize,
        same: &[(usize, usize)],
    ) -> Result<Option<(Self, Vec<usize>)>> {
        let (Some(result), Some(read)) = (producer.last(), self.input(input)) else {
            return Ok(None);
        };
        let mut pairs = vec![(result, read)];
        for (of_producer, own) in same {
            let (Some(a), Some(b)) = (producer.input(*of_producer), self.input(*own)) else {
                return Ok(None);
            };
            pairs.push((a, b));
        }
        let (program, tensors) = producer.program.then(&self.program, &pairs)?;
        let mut formats = producer.formats.clone();
        for (tensor, format) in &self.formats {
            formats
                .entry(tensors[tensor])
                .or_insert_with(|| format.clone());
        }
        let is_shared = |own: usize| own == input || same.iter().any(|(_, it)| *it == own);
        let left: Vec<usize> = (0..self.inputs.len())
            .filter(|own| !is_shared(*own))
            .collect();
        let inputs = producer.inputs.iter().copied();
        let kernel = Self {
            program,
            formats,
            span: self.span,
            inputs: inputs
                .chain(left.iter().map(|own| self.inputs[*own]))
                .collect(),
            results: self.results.clone(),
            n_inner: producer.program.statements.len() + self.n_inner,
        };
        Ok(Some((kernel, left)))
    }

    /// This kernel with the input that is `value` computed by another, inputs of one value being
    /// one input.
    pub(super) fn after_value(&self, producer: &Self, value: Value) -> Option<Self> {
        let mut own = self.inputs.iter().enumerate();
        let (input, _) = own.find(|(_, source)| source.value() == value)?;
        let mut same: Vec<(usize, usize)> = Vec::new();
        for (n, source) in self.inputs.iter().enumerate() {
            let mut others = producer.inputs.iter().enumerate();
            let other = others.find(|(number, other)| {
                let is_new = same.iter().all(|(taken, _)| taken != number);
                other.value() == source.value() && is_new
            });
            same.extend(other.map(|(number, _)| (number, n)));
        }
        let both = self.after(producer, input, &same).ok()??;
        Some(both.0)
    }
}

/// The operation that reads a value, if one operation does, once, as an input, in the block of the
/// operation that defines it. Releases do not count.
pub(crate) fn reader(module: &Module, op: Op, value: Value, uses: &[Use]) -> Option<Op> {
    let Use {
        n_reads: 1,
        reader: Some(reader),
        ..
    } = *uses.get(value.index())?
    else {
        return None;
    };
    let (op, reader) = (module.op(op), module.op(reader));
    let is_structured = reader.name().starts_with("linalg.") && reader.name() != "linalg.fill";
    let is_read = is_structured
        && reader.data().block == op.data().block
        && reader.operands("inputs").contains(&value);
    is_read.then(|| reader.id())
}

/// The uses of a value as an operand.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Use {
    n_reads: u32,
    n_releases: u32,
    /// The operation that reads it last.
    reader: Option<Op>,
}

impl Use {
    /// Whether there is one use.
    pub(crate) fn is_only(&self) -> bool {
        self.n_reads + self.n_releases == 1
    }
}

/// The uses of all values of a module, by their numbers.
pub(crate) fn uses(module: &Module) -> Vec<Use> {
    let mut uses: Vec<Use> = Vec::new();
    for op in module.walk() {
        let operation = module.op(op);
        let releases = matches!(
            operation.name(),
            "bufferization.dealloc_tensor" | "sparse_tensor.release"
        );
        for value in &operation.data().operands {
            let n = value.index();
            if uses.len() <= n {
                uses.resize(n + 1, Use::default());
            }
            match releases {
                true => uses[n].n_releases += 1,
                false => {
                    uses[n].n_reads += 1;
                    uses[n].reader = Some(op);
                }
            }
        }
    }
    uses
}

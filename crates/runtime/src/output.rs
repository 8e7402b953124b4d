//! Results being assembled.
//!
//! A kernel writes into arrays that are not a tensor yet: a [`OutputTensor`]
//! holds them until the kernel is done and [`OutputTensor::finish`] makes a
//! tensor of them. Which arrays have a length before the kernel runs follows
//! from the format alone:
//!
//! | array   | has                                    | is known when the parent's positions are |
//! |---------|----------------------------------------|------------------------------------------|
//! | `l.pos` | one entry more than the parent level has positions | yes                          |
//! | `l.crd` | one entry for each position            | for singleton levels                     |
//! | `vals`  | one entry for each position of the last level | yes                               |
//!
//! A dense level multiplies the positions by its mode's extent; a compressed
//! one has as many as its `pos` array ends with, once that is filled.

use std::sync::Arc;

use sparsec_base::{Diagnostic, ElementType, Result, Scalar, code};
use sparsec_loop::{Access, Argument, Function};
use sparsec_parallel::{Bytes, Memory, MemoryLimit};
use sparsec_tensor::{Array, Element, Format, Role, Tensor};

/// Bytes that an array which grows begins with; most results of tests and of
/// small problems fit, and cost no system call.
pub(crate) const FIRST_BYTES: usize = 16 << 10;

/// A tensor that kernels write.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputTensor {
    format: Arc<Format>,
    extents: Vec<u64>,
    element: ElementType,
    fill: Scalar,
    /// In the order of the format. Those that a kernel grows have room but no
    /// entries until it ran.
    pub(crate) arrays: Vec<Array>,
    /// How much memory it, and a kernel that writes it, may take.
    pub(crate) memory: MemoryLimit,
}

impl OutputTensor {
    /// Arrays for `argument` of `function`: of the types that it stores, those
    /// that it writes at their final length, with any entries, those that it grows empty.
    ///
    /// # Errors
    /// `E0514` if there is no memory for them.
    ///
    /// # Panics
    /// If the format has other arrays than the argument, or the length of an
    /// array that the kernel writes does not follow from the format.
    pub fn new(
        function: &Function,
        argument: &Argument,
        format: impl Into<Arc<Format>>,
        extents: Vec<u64>,
        fill: Scalar,
    ) -> Result<Self> {
        let memory = MemoryLimit::default();
        Self::within(memory, function, argument, format, extents, fill)
    }

    /// As [`OutputTensor::new`], with as much memory as `memory` says.
    ///
    /// # Errors
    /// As there.
    ///
    /// # Panics
    /// As there.
    pub fn within(
        memory: MemoryLimit,
        function: &Function,
        argument: &Argument,
        format: impl Into<Arc<Format>>,
        extents: Vec<u64>,
        fill: Scalar,
    ) -> Result<Self> {
        let mut output = Self {
            memory,
            element: fill.element(),
            arrays: Vec::new(),
            format: format.into(),
            extents,
            fill,
        };
        output.check_countable(&argument.name)?;
        let specs = output.format.arrays();
        assert_eq!(
            specs.len(),
            argument.buffers.len(),
            "`{}` has the arrays of another format than {}",
            argument.name,
            output.format
        );
        for (place, &buffer) in argument.buffers.iter().enumerate() {
            let data = &function.buffers[buffer];
            let array = match data.access {
                Access::Grow => growing(data.storage)?,
                Access::Write | Access::Read | Access::Workspace | Access::Own => {
                    let role = specs[place].role;
                    output.fixed(role, data.storage, &data.name, Array::for_writing)?
                }
            };
            output.arrays.push(array);
        }
        Ok(output)
    }

    /// How the entries will be arranged.
    pub fn format(&self) -> &Arc<Format> {
        &self.format
    }

    /// The extent of each mode.
    pub fn extents(&self) -> &[u64] {
        &self.extents
    }

    /// The type of the values.
    pub fn element(&self) -> ElementType {
        self.element
    }

    /// The value of entries that are not stored.
    pub fn fill(&self) -> Scalar {
        self.fill
    }

    /// The arrays, in the order of the format. Those that a kernel grows have no
    /// entries until it ran.
    pub fn arrays(&self) -> &[Array] {
        &self.arrays
    }

    /// The entries of array `number`, to be overwritten: no kernel depends on the
    /// entries that it finds. `None` if there is no such array or it is of another type.
    pub fn entries_mut<T: Element>(&mut self, number: usize) -> Option<&mut [T]> {
        self.arrays.get_mut(number)?.as_mut_slice()
    }

    /// The same arrays as the result of another format, which stores the tensor whose
    /// levels they were assembled as; [`finish`](Self::finish) checks them as such.
    #[must_use]
    pub fn stored_as(self, format: impl Into<Arc<Format>>, extents: Vec<u64>) -> Self {
        Self {
            format: format.into(),
            extents,
            ..self
        }
    }

    /// Refuses full levels of more positions than kernels count: they count one
    /// past the last to end the segments below.
    fn check_countable(&self, name: &str) -> Result<()> {
        let full = self
            .format
            .levels()
            .iter()
            .take_while(|level| level.is_full());
        let positions = full.map(|level| i64::try_from(self.extents[level.mode()]).ok());
        let n = positions.reduce(|n, extent| n?.checked_mul(extent?));
        if n.is_none_or(|n| n.is_some_and(|n| n < i64::MAX)) {
            return Ok(());
        }
        let message = format!("`{name}` has more positions than can be counted");
        Err(Diagnostic::new(code::KERNEL_OUT_OF_MEMORY, message)
            .note(format!("its format is `{}`", self.format.arrangement()))
            .help("give the result a format with compressed levels, or split the work"))
    }

    /// Gives the values the length that the index arrays call for: between the
    /// kernel that assembles them and the one that computes values.
    ///
    /// # Errors
    /// `E0514` if there is no memory for them.
    ///
    /// # Panics
    /// If the index arrays are not assembled.
    pub fn allocate_values(&mut self) -> Result<()> {
        let values = self.fixed(Role::Vals, self.element, "vals", Array::zeroed)?;
        match self.arrays.last_mut() {
            Some(last) => *last = values,
            None => unreachable!("every format has an array of values"),
        }
        Ok(())
    }

    /// The tensor, now that the kernel has run.
    ///
    /// # Errors
    /// The codes of [`Tensor::new`], if the kernel left arrays that are no
    /// tensor of this format.
    pub fn finish(mut self) -> Result<Tensor> {
        self.trim();
        Tensor::new(
            self.format,
            self.extents,
            self.element,
            self.fill,
            self.arrays,
        )
    }

    /// Gives back the memory that no entry uses.
    pub fn trim(&mut self) {
        let trimmed = |array: Array| {
            let element = array.element();
            let mut memory = array.into_memory();
            memory.trim();
            Array::new(element, memory)
        };
        let arrays = std::mem::take(&mut self.arrays);
        self.arrays = arrays.into_iter().map(trimmed).collect();
    }

    /// How many bytes the arrays take so far.
    pub(crate) fn bytes(&self) -> u64 {
        let bytes = |array: &Array| (array.len() * array.element().size()) as u64;
        self.arrays.iter().map(bytes).sum()
    }

    /// Makes every entry of every array zero, in place of running a kernel.
    ///
    /// # Errors
    /// `E0407` when memory is out.
    pub fn clear(&mut self) -> Result<()> {
        for array in &mut self.arrays {
            *array = Array::zeroed(array.element(), array.len())?;
        }
        Ok(())
    }

    /// An array whose length follows from those before it, as `make` makes it.
    fn fixed(
        &self,
        role: Role,
        storage: ElementType,
        name: &str,
        make: impl FnOnce(ElementType, usize) -> Result<Array>,
    ) -> Result<Array> {
        let entries = match role {
            Role::Pos(level) => self.positions(level).map(|n| n.saturating_add(1)),
            Role::Vals => self.positions(self.format.levels().len()),
            other => self.positions(other.level().map_or(0, |level| level + 1)),
        };
        let Some(entries) = entries else {
            panic!(
                "the length of `{name}` does not follow from {}",
                self.format
            );
        };
        let bytes = entries.saturating_mul(storage.size() as u128);
        let array = match (usize::try_from(entries), u64::try_from(bytes)) {
            (Ok(entries), Ok(bytes)) if self.memory.can_give(self.bytes(), bytes) => {
                make(storage, entries).ok()
            }
            _ => None,
        };
        array.ok_or_else(|| out_of_memory(&format!("`{name}` takes {}", Bytes(bytes))))
    }

    /// How many positions level `above - 1` has, if the arrays so far tell.
    fn positions(&self, above: usize) -> Option<u128> {
        let specs = self.format.arrays();
        let mut positions = 1u128;
        for (number, level) in self.format.levels()[..above].iter().enumerate() {
            let capabilities = level.kind.capabilities();
            if capabilities.random_insert {
                positions = positions.saturating_mul(self.extents[level.mode()].into());
            } else if !capabilities.single {
                let place = specs
                    .iter()
                    .position(|spec| spec.role == Role::Pos(number))?;
                let pos = self.arrays.get(place)?;
                let last = usize::try_from(positions).ok()?;
                if pos.len() != last.checked_add(1)? {
                    return None;
                }
                positions = u128::try_from(pos.index(last)).ok()?;
            }
        }
        Some(positions)
    }
}

/// An array without entries that has some room.
fn growing(storage: ElementType) -> Result<Array> {
    let mut memory =
        Memory::zeroed(FIRST_BYTES).map_err(|error| out_of_memory(&error.to_string()))?;
    memory.set_len(0);
    Ok(Array::new(storage, memory))
}

fn out_of_memory(why: &str) -> Diagnostic {
    Diagnostic::new(
        code::KERNEL_OUT_OF_MEMORY,
        format!("there is no memory for the result: {why}"),
    )
    .help("give the result a format with compressed levels")
}

//! Room for operands: what formats take for sure is compared before they are packed.
//!
//! ```text
//! --memory 4G ─► operand ─► operand ─► … ─► what is left for results and workspaces
//! ```
//!
//! Without a bound it is what the system has left at each step.

use sparsec::internals::parallel::Bytes;
use sparsec::internals::{Inputs, grows, least_bytes, smaller_format};
use sparsec::{Diagnostic, ElementType, Format, MemoryLimit, Result, Tensor, code};

use crate::call::Call;
use crate::pairs::Pair;
use crate::problem::Problem;

/// Operands that take less whatever is stored are packed without further ado.
const LARGE: u128 = 64 << 20;

/// How many entries are proposed in place of too many, where there is room for them.
const FEWER: u128 = 1000;

/// An operand that is to be packed.
#[derive(Debug)]
pub(crate) struct Needed<'p> {
    /// What the call says of it.
    pub(crate) pair: &'p Pair,
    /// How it is to be stored.
    pub(crate) format: Format,
    /// How it would be stored if another generator made fewer entries; none for a file.
    pub(crate) with_fewer: Option<Format>,
    /// Its extents.
    pub(crate) extents: Vec<u64>,
    /// The type of its entries.
    pub(crate) element: ElementType,
    /// How many entries it has.
    pub(crate) entries: u64,
    /// The bytes of its entries, where these are made before they are stored.
    pub(crate) made: u128,
}

impl Needed<'_> {
    /// What it takes, whatever is stored in it.
    fn bytes(&self) -> u128 {
        self.stored().max(self.made)
    }

    /// The bytes of its entries with coordinates of 64 bits.
    pub(crate) fn bytes_of_entries(&self) -> u64 {
        let each = self.element.size() as u64 + 8 * self.extents.len() as u64;
        self.entries.saturating_mul(each)
    }

    /// The same, once it is stored.
    fn stored(&self) -> u128 {
        least_bytes(&self.format, &self.extents, self.element)
    }

    /// Whether entries alone take what it takes.
    fn is_made_of_many(&self) -> bool {
        self.made > 0 && self.made >= self.stored()
    }

    /// The way out if the stored operand exceeds the memory that is left.
    pub(crate) fn way_out(&self, left: MemoryLimit) -> String {
        let Self {
            pair,
            format,
            extents,
            element,
            entries,
            ..
        } = self;
        // Entries that are made stay until they are packed.
        let room = u128::from(left.bytes()).saturating_sub(self.made);
        let smaller = smaller_format(format, extents, *element, Some(*entries), room);
        let advice = smaller.advice(&pair.name);
        format!("{advice}give fewer entries, or {}", left.more())
    }

    /// The way out if the entries alone exceed the memory that is left.
    fn with_fewer_entries(&self, left: MemoryLimit) -> String {
        let more = left.more();
        let Some(format) = &self.with_fewer else {
            return more.to_owned();
        };
        let stored = least_bytes(format, &self.extents, self.element);
        // Coordinates of 64 bits, and twice: as entries and as a tensor.
        let each = 2 * (self.element.size() + 8 * self.extents.len()) as u128;
        let most = u128::from(left.bytes()).saturating_sub(stored) / each;
        let most = most.min(self.entries.saturating_sub(1).into());
        match most.min(FEWER) {
            0 => more.to_owned(),
            n => format!(
                "generate fewer entries, `-g '{}=random(nnz={n})'`, or {more}",
                self.pair.name
            ),
        }
    }

    /// Whether packing it takes much memory and time.
    pub(crate) fn is_large(&self) -> bool {
        self.bytes() >= LARGE
    }
}

/// Memory that operands take one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    limit: MemoryLimit,
}

impl Room {
    /// As much as `limit` says.
    pub(crate) fn new(limit: MemoryLimit) -> Self {
        Self { limit }
    }

    /// Refuses an operand that takes more than is left, whatever is stored in it.
    ///
    /// # Errors
    /// `E0508`.
    pub(crate) fn check(self, call: &Call, needed: &Needed<'_>) -> Result<()> {
        let bytes = needed.bytes();
        match self.gives(bytes) {
            true => Ok(()),
            false => Err(self.refused(call, needed)),
        }
    }

    /// Refuses operands that take more than is left together, or with what is computed of
    /// them: before the first of them is packed.
    ///
    /// # Errors
    /// `E0508`, for the largest part.
    pub(crate) fn check_all(
        self,
        call: &Call,
        problem: &Problem,
        inputs: &Inputs,
        needed: &[&Needed<'_>],
    ) -> Result<()> {
        let bytes = needed.iter().map(|needed| needed.bytes());
        let all = bytes.fold(0, u128::saturating_add);
        let Some(largest) = needed.iter().max_by_key(|needed| needed.bytes()) else {
            return Ok(());
        };
        if all < LARGE {
            return Ok(());
        }
        if !self.gives(all) {
            let error = self.refused(call, largest);
            return Err(error.note(format!("all operands together take {}", Bytes(all))));
        }
        let mut request = problem.request.clone();
        let known = needed
            .iter()
            .map(|it| (&it.pair.name, &it.format, &it.extents[..]));
        let packed = inputs
            .iter()
            .map(|(name, it)| (name, it.format(), it.extents()));
        for (name, format, extents) in known.chain(packed) {
            let tensor = request.tensor(name);
            tensor.format = Some(format.clone().into());
            tensor.extents = Some(extents.to_vec());
        }
        // What is wrong with the program itself is said once its operands are there.
        let Ok(compiled) = sparsec::internals::compile(&request, &Inputs::new()) else {
            return Ok(());
        };
        let all = u64::try_from(all).unwrap_or(u64::MAX);
        compiled.check_memory(match self.limit {
            MemoryLimit::Bytes(bytes) => MemoryLimit::Bytes(bytes.saturating_sub(all)),
            MemoryLimit::Available | MemoryLimit::Array(_) => MemoryLimit::Beside(all),
            MemoryLimit::Beside(promised) => MemoryLimit::Beside(promised.saturating_add(all)),
        })
    }

    fn gives(self, bytes: u128) -> bool {
        u64::try_from(bytes).is_ok_and(|bytes| self.limit.can_give(0, bytes))
    }

    fn refused(self, call: &Call, needed: &Needed<'_>) -> Diagnostic {
        let Needed { pair, format, .. } = needed;
        if !needed.is_made_of_many() {
            let bound = if grows(format) { "at least " } else { "" };
            let error = self.too_large(call, pair, bound, needed.stored());
            return stored_as(error, format).help(needed.way_out(self.limit));
        }
        let help = needed.with_fewer_entries(self.limit);
        self.too_large(call, pair, "", needed.made).help(help)
    }

    /// Takes the memory of an operand that is packed.
    ///
    /// # Errors
    /// `E0508` where there was less.
    pub(crate) fn take(&mut self, call: &Call, pair: &Pair, tensor: &Tensor) -> Result<()> {
        let MemoryLimit::Bytes(left) = self.limit else {
            return Ok(());
        };
        let bytes = tensor.bytes() as u64;
        let Some(rest) = left.checked_sub(bytes) else {
            let error = self.too_large(call, pair, "", bytes.into());
            return Err(stored_as(error, tensor.format()).help(self.limit.more()));
        };
        self.limit = MemoryLimit::Bytes(rest);
        Ok(())
    }

    /// What is left.
    pub(crate) fn left(self) -> MemoryLimit {
        self.limit
    }

    /// The diagnostic for an operand of `bytes` bytes; `bound` is "at least " for a bound.
    fn too_large(self, call: &Call, pair: &Pair, bound: &str, bytes: u128) -> Diagnostic {
        let bound = if bytes == u128::MAX { "" } else { bound };
        let [bytes, left] = Bytes(bytes).beside(Bytes(self.limit.bytes().into()));
        let name = &pair.name;
        let message = format!("`{name}` would take {bound}{bytes}, and {left} are left");
        Diagnostic::new(code::TOO_LARGE_FOR_MEMORY, message).also(
            call.source(),
            pair.value_span,
            "too large for memory",
        )
    }
}

fn stored_as(error: Diagnostic, format: &Format) -> Diagnostic {
    error.note(format!("its format is `{}`", format.arrangement()))
}

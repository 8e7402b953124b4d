//! Conversions with their kernels: tensors in one format become tensors in another.
//!
//! ```text
//! Converter::new    derive, order, lower, compile          once for two formats and their types
//! lend, prepare     the arrays of a tensor, and room for those of the result
//! launch            the kernel
//! finish            a checked tensor
//! ```

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Instant;

use sparsec_base::code::{self, Code};
use sparsec_base::{Diagnostic, ElementType, Result, Scalar};
use sparsec_computation::Computation;
use sparsec_format::Holds;
use sparsec_relation::{Expression, remembering};
use sparsec_tensor::{Array, Format, Role, Tensor, TensorRef};

use super::refusals::{keeps_fill, too_narrow};
use super::sizes::{size, sizes};
use super::{Optimisation, Types, Wanted, derive, names, synthesized, unequal_mirrored, wanted};
use crate::compute::{Checked, CompiledComputation, Given, Prepared, compile_computation};
use crate::options::Backend;
use crate::session::Session;
use crate::widths;

/// What becomes of places of a source that hold the fill, though nobody may have put it there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Padding {
    /// They are left behind.
    LeftBehind,
    /// They stay stored, as in conversions that kernels ask for: a stored zero does not
    /// annihilate.
    Kept,
}

/// A conversion with its kernel.
///
/// ```
/// use sparsec::internals::conversion::Converter;
/// use sparsec::{Format, Session, Tensor};
/// let a = Tensor::pack(&Format::csr(), &[2, 3], &[0, 2, 1, 0], &[7.0, 5.0])?;
/// let to_columns = Converter::new(&a, &Format::csc())?;
/// let converted = to_columns.run(&Session::interpreter(), &a)?;
/// assert_eq!(converted.level(1).pos(), [0, 1, 1, 2]);
/// # Ok::<(), sparsec::Diagnostic>(())
/// ```
#[derive(Clone, Debug)]
pub struct Converter {
    source: Arc<Format>,
    destination: Arc<Format>,
    /// Whether places of the source may hold the fill as padding, which is left behind.
    has_padding: bool,
    /// The fill of the tensors, where it is not 0.
    fill: Option<Scalar>,
    compiled: CompiledComputation,
    /// The extents that the optimised computation depends on: whether tables of these are small.
    asked: Vec<(Expression, bool)>,
}

impl Converter {
    /// The conversion of tensors such as this one, with arrays of its types. Index arrays of
    /// the destination have the widths that it declares, or those that hold this tensor.
    ///
    /// # Errors
    /// As [`synthesized`].
    pub fn new(like: &Tensor, destination: &Format) -> Result<Self> {
        Self::with(like, destination, Padding::LeftBehind)
    }

    /// As [`new`](Self::new), where padding is kept or left behind.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    ///
    /// ```
    /// use sparsec::internals::conversion::{Converter, Padding};
    /// use sparsec::{Format, Session, Tensor};
    /// let dense = Tensor::pack(&Format::dense(2), &[2, 3], &[1, 2], &[5.0])?;
    /// let session = Session::interpreter();
    /// let rows = |padding| Converter::with(&dense, &Format::csr(), padding)?.run(&session, &dense);
    /// assert_eq!(rows(Padding::LeftBehind)?.n_stored(), 1);
    /// assert_eq!(rows(Padding::Kept)?.n_stored(), 6);
    /// # Ok::<(), sparsec::Diagnostic>(())
    /// ```
    pub fn with(like: &Tensor, destination: &Format, padding: Padding) -> Result<Self> {
        remembering(|| Derived::of(like, destination, padding)?.compiled())
    }

    /// Whether the optimised computation is the one for a tensor of this pair: others give the
    /// same arrays, with larger tables or more passes.
    pub(super) fn suits(&self, tensor: &Tensor, pair: &Pair) -> bool {
        let mut asked = self.asked.iter();
        asked.all(|(extent, answer)| is_small(tensor, pair, extent) == *answer)
    }

    /// The same, with loops in shares of `grain` points, also for sessions of one thread; see
    /// [`CompiledComputation::in_shares`].
    pub fn in_shares(self, grain: u32) -> Self {
        Self {
            compiled: self.compiled.in_shares(grain),
            ..self
        }
    }

    /// The computation and its loops.
    pub fn compiled(&self) -> &CompiledComputation {
        &self.compiled
    }

    /// A tensor in the format of the destination. All stored entries but padding stay stored.
    ///
    /// # Errors
    /// `E0518` for a tensor of another format, types or fill; `E0519` for entries that the
    /// destination cannot hold, `E0513` for numbers that its index arrays cannot; `E0514` where an
    /// array takes more than [`Options::memory`](crate::Options) allows; those of [`Tensor::new`],
    /// and of running.
    pub fn run(&self, session: &Session, tensor: &Tensor) -> Result<Tensor> {
        let lent = self.lend(tensor)?;
        let mut prepared = self.prepare(session, &lent)?;
        prepared.launch()?;
        prepared.finish()
    }

    /// The arrays of a tensor, for conversions that are prepared. None is copied; where the
    /// tensor may have padding, a mask says where there is none.
    ///
    /// # Errors
    /// `E0518` for a tensor of another fill; those of [`TensorRef::new`].
    pub fn lend<'t>(&self, tensor: &'t Tensor) -> Result<Lent<'t>> {
        if self.fill.unwrap_or_else(|| tensor.element().zero()) != tensor.fill() {
            let message = format!("the fill of the tensor is {}", tensor.fill());
            return Err(Diagnostic::new(code::GIVEN_MISFIT, message)
                .help("make a converter for a tensor of this fill"));
        }
        let arrays = names(&self.source, "A").into_iter().zip(tensor.arrays());
        let arrays = arrays.map(|(name, array)| Ok((name, list(array)?)));
        let mut own = Vec::new();
        if self.has_padding {
            own.push(("A_stored", as_tensor(tensor.nonfill_mask()?, true)?));
        }
        if self.fill.is_some() {
            own.push((
                "A_fill",
                as_tensor(Array::filled(tensor.fill(), 1)?, false)?,
            ));
        }
        Ok(Lent {
            arrays: arrays.collect::<Result<_>>()?,
            own,
            tensor,
        })
    }

    /// The kernel with the arrays that it reads and those that it writes; it can be launched
    /// several times, and writes the same arrays each time.
    ///
    /// # Errors
    /// As [`Converter::run`].
    ///
    /// ```
    /// use sparsec::internals::conversion::Converter;
    /// use sparsec::{Format, Session, Tensor};
    /// let a = Tensor::pack(&Format::csr(), &[2, 3], &[0, 2, 1, 0], &[7.0, 5.0])?;
    /// let to_columns = Converter::new(&a, &Format::csc())?;
    /// let lent = to_columns.lend(&a)?;
    /// let mut prepared = to_columns.prepare(&Session::interpreter(), &lent)?;
    /// prepared.launch()?;
    /// assert_eq!(prepared.finish()?.level(1).pos(), [0, 1, 1, 2]);
    /// # Ok::<(), sparsec::Diagnostic>(())
    /// ```
    pub fn prepare<'a>(
        &'a self,
        session: &Session,
        lent: &'a Lent<'_>,
    ) -> Result<PreparedConversion<'a>> {
        let tensor = lent.tensor;
        if let Some([a, b]) = unequal_mirrored(&self.destination, tensor.extents()) {
            let message = format!("modes of extents {a} and {b} cannot mirror each other");
            return Err(Diagnostic::new(code::NOT_MIRRORED, message)
                .note(format!("the format is `{}`", self.destination))
                .help("store all entries, without this clause"));
        }
        let limit = session.memory();
        let limit = limit.growing_from(tensor.bytes_of_entries());
        let mut given = Given::new().within(limit);
        for (name, array) in &lent.arrays {
            given = given.data(name, array);
        }
        for (name, array) in &lent.own {
            given = given.data(*name, array);
        }
        for (name, value) in sizes(&self.source, &self.destination, tensor.extents()) {
            if self.compiled.computation().parameters.contains(&name) {
                given = given.parameter(name, value);
            }
        }
        let ranks = std::iter::zip(self.source.arrays(), tensor.arrays());
        for ((spec, array), name) in ranks.zip(names(&self.source, "A")) {
            if let Role::Size(_) = spec.role {
                given = given.parameter(format!("{name}_end"), array.index(0));
            }
        }
        // What is declared of the source's arrays is what its format says of them, which
        // was checked when the tensor was made.
        let prepared = session.prepare_as(&self.compiled, &given, Checked::AsTensors)?;
        Ok(PreparedConversion {
            converter: self,
            tensor,
            prepared,
        })
    }
}

/// Which conversion: all that a [`Converter`] depends on but extents.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Pair {
    pub(super) source: Format,
    pub(super) destination: Format,
    /// Of index arrays.
    types: Types,
    element: ElementType,
    has_padding: bool,
    fill: Option<Scalar>,
}

/// A conversion before it is compiled.
pub(super) struct Derived {
    pair: Pair,
    computation: Computation,
    /// The extents that were asked for, and whether tables of these are small.
    asked: Vec<(Expression, bool)>,
}

impl Pair {
    pub(super) fn of(like: &Tensor, destination: &Format, padding: Padding) -> Self {
        let source = like.format();
        let mut types: Types = (names(source, "A").into_iter().zip(like.arrays()))
            .map(|(name, array)| (name, array.element()))
            .collect();
        let widths = widths::of_copy(destination, like);
        for (spec, name) in destination
            .arrays()
            .into_iter()
            .zip(names(destination, "B"))
        {
            let own = destination.declared_width(spec.role);
            let width = match spec.role.holds() {
                Holds::Positions => own.or(widths.pos),
                Holds::Coordinates => own.or(widths.crd),
                Holds::Bits => {
                    types.insert(name, ElementType::U8);
                    continue;
                }
                Holds::Values => continue,
            };
            let width = width.expect("both widths are chosen");
            types.insert(name, width.element());
        }
        let may_pad = wanted(source, like.element()).has_padding;
        Self {
            source: source.clone(),
            destination: destination.clone(),
            types,
            element: like.element(),
            has_padding: may_pad && padding == Padding::LeftBehind,
            fill: (like.fill() != like.element().zero()).then(|| like.fill()),
        }
    }
}

/// Whether a table of keys is no longer than the entries of a tensor.
fn is_small(like: &Tensor, pair: &Pair, extent: &Expression) -> bool {
    let sizes = sizes(&pair.source, &pair.destination, like.extents());
    let most = like.most_entries();
    let extent = size(extent, &|name| sizes.get(name).copied());
    extent.is_some_and(|extent| u64::try_from(extent).is_ok_and(|it| it <= most))
}

impl Derived {
    /// As [`Converter::with`].
    fn of(like: &Tensor, destination: &Format, padding: Padding) -> Result<Self> {
        let source = like.format();
        if source.order() != destination.order() {
            // It says which orders they have.
            synthesized(source, destination, like.element(), &Types::new())?;
        }
        Self::new(like, Pair::of(like, destination, padding))
    }

    pub(super) fn new(like: &Tensor, pair: Pair) -> Result<Self> {
        let wanted = Wanted {
            types: pair.types.clone(),
            has_fill: pair.fill.is_some(),
            has_padding: pair.has_padding,
            ..wanted(&pair.source, pair.element)
        };
        let made = derive(&pair.source, &pair.destination, &wanted)?;
        let asked = RefCell::new(Vec::new());
        let answered = |extent: &Expression| {
            let answer = is_small(like, &pair, extent);
            asked.borrow_mut().push((extent.clone(), answer));
            answer
        };
        let computation = made.optimised(Optimisation::All, &answered)?;
        Ok(Self {
            computation,
            asked: asked.into_inner(),
            pair,
        })
    }

    /// The computation, after all steps.
    pub(super) fn computation(&self) -> &Computation {
        &self.computation
    }

    pub(super) fn compiled(self) -> Result<Converter> {
        Ok(Converter {
            source: Arc::new(self.pair.source),
            destination: Arc::new(self.pair.destination),
            has_padding: self.pair.has_padding,
            fill: self.pair.fill,
            compiled: compile_computation(&self.computation)?,
            asked: self.asked,
        })
    }
}

/// The arrays of a tensor that a conversion reads.
#[derive(Debug)]
pub struct Lent<'t> {
    arrays: Vec<(String, TensorRef<'t>)>,
    /// The mask of padding and the fill, where the conversion reads them.
    own: Vec<(&'static str, Tensor)>,
    tensor: &'t Tensor,
}

/// A conversion with the arrays that it reads and writes.
#[derive(Debug)]
pub struct PreparedConversion<'a> {
    converter: &'a Converter,
    tensor: &'a Tensor,
    prepared: Prepared<'a>,
}

impl<'a> PreparedConversion<'a> {
    /// The computation with its arguments, for other engines.
    #[doc(hidden)]
    pub fn computation(&mut self) -> &mut Prepared<'a> {
        &mut self.prepared
    }

    /// Runs the kernel.
    ///
    /// # Errors
    /// `E0519` for entries that the destination cannot hold; those of launching.
    pub fn launch(&mut self) -> Result<()> {
        let launched = self.prepared.launch();
        launched.map_err(|error| too_narrow(error, &self.converter.destination.to_string()))
    }

    /// The converted tensor, after a launch.
    ///
    /// # Errors
    /// Those of [`Tensor::new`].
    pub fn finish(self) -> Result<Tensor> {
        let (converter, tensor) = (self.converter, self.tensor);
        let mut results = self.prepared.finish()?;
        let made = names(&converter.destination, "B").into_iter().map(|name| {
            let result = results.remove(&name);
            let result = result.expect("the conversion computes each array");
            let (_, _, _, mut arrays) = result.into_parts();
            arrays.pop().expect("a dense tensor has its values")
        });
        // The derivation says in which order entries are, and that none stands twice.
        Tensor::derived(
            Arc::clone(&converter.destination),
            tensor.extents().to_vec(),
            tensor.fill(),
            made.collect(),
        )
    }
}

impl Session {
    /// A tensor in another format of its order; all stored entries but padding stay stored.
    ///
    /// Large tensors are converted by a [`Converter`], if there is one between the two
    /// formats; others by [`Tensor::convert`], which needs no kernel.
    ///
    /// # Errors
    /// As [`Tensor::convert`]; `E0407` where an array takes more than
    /// [`Options::memory`](crate::Options) allows; `E0218` for a format that declares another fill.
    ///
    /// ```
    /// use sparsec::{Format, Session, Tensor};
    /// let a = Tensor::pack(&Format::csr(), &[2, 3], &[0, 2, 1, 0], &[7.0, 5.0])?;
    /// let by_columns = Session::interpreter().convert(&a, &Format::csc())?;
    /// assert_eq!(by_columns.level(1).pos(), [0, 1, 1, 2]);
    /// # Ok::<(), sparsec::Diagnostic>(())
    /// ```
    pub fn convert(&self, tensor: &Tensor, destination: &Format) -> Result<Tensor> {
        keeps_fill(destination, tensor.fill())?;
        self.convert_by(tensor, destination, Padding::LeftBehind, || {
            tensor.convert_within(destination, self.memory())
        })
    }

    /// A tensor in another format: by a [derived](Self::derived) kernel, else by `pack`.
    pub(crate) fn convert_by(
        &self,
        tensor: &Tensor,
        destination: &Format,
        padding: Padding,
        pack: impl FnOnce() -> Result<Tensor>,
    ) -> Result<Tensor> {
        if self.cancel().is_set() {
            return Err(sparsec_runtime::cancelled());
        }
        let started = Instant::now();
        let derived = self.derived(tensor, destination, padding);
        let by_kernel = derived.is_some();
        let converted = derived.unwrap_or_else(pack)?;
        tracing::debug!(
            from = %tensor.format(),
            to = %destination,
            entries = tensor.n_stored(),
            by_kernel,
            time = ?started.elapsed(),
            "converted"
        );
        Ok(converted)
    }

    /// A tensor in another format by a conversion that is derived, if there is one, and if its
    /// kernel takes less time than packing, and making it less than packing has so far.
    pub(crate) fn derived(
        &self,
        tensor: &Tensor,
        destination: &Format,
        padding: Padding,
    ) -> Option<Result<Tensor>> {
        if self.backend() == Backend::Interpreter
            || tensor.order() != destination.order()
            || tensor.most_entries() < FEWEST
        {
            return None;
        }
        let converter = self.converters().find(tensor, destination, padding)?;
        match converter.run(self, tensor) {
            // Packing says which entry the destination cannot hold, and which array is too large.
            Err(error) if PACKED_INSTEAD.contains(&error.code()) => None,
            converted => Some(converted),
        }
    }
}

/// Failures of a kernel that packing says more about.
const PACKED_INSTEAD: [Code; 3] = [
    code::NOT_AS_DECLARED,
    code::KERNEL_OUT_OF_MEMORY,
    code::WIDTH_OVERFLOW,
];

/// Tensors of fewer entries are packed before a kernel would be found and launched.
/// Source: packing takes 40 ns an entry, and launching a kernel that is kept some 20 µs.
const FEWEST: u64 = 512;

/// An array of a conversion's own as a dense tensor: a vector, or a scalar.
fn as_tensor(array: Array, is_vector: bool) -> Result<Tensor> {
    let (element, length) = (array.element(), array.len() as u64);
    let (format, extents) = match is_vector {
        true => (Format::dense(1), vec![length]),
        false => (Format::dense(0), Vec::new()),
    };
    Tensor::new(format, extents, element, element.zero(), vec![array])
}

/// An array as a dense vector, used where it lies.
fn list(array: &Array) -> Result<TensorRef<'_>> {
    let (extents, zero) = (vec![array.len() as u64], array.element().zero());
    TensorRef::new(Format::dense(1), extents, zero, vec![array.into()])
}

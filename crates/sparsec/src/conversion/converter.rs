//! Conversions with their kernels: tensors in one format become tensors in another.
//!
//! ```text
//! Converter::new    derive, order, lower, compile          once for two formats and their types
//! lend, prepare     the arrays of a tensor, and room for those of the result
//! launch            the kernel
//! finish            a checked tensor
//! ```

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use sparsec_base::{Diagnostic, ElementType, Result, Scalar, code};
use sparsec_computation::Computation;
use sparsec_computation::transform::given_away::Moved;
use sparsec_format::{Holds, Level};
use sparsec_relation::{Expression, remembering};
use sparsec_tensor::{Array, Format, Role, Tensor};

use super::lent::Lent;
use super::refusals::too_narrow;
use super::sizes::{size, sizes};
use super::{Optimisation, Types, Wanted, derive, names, synthesized, unequal_mirrored, wanted};
use crate::compute::{Checked, CompiledComputation, Given, Prepared, compile_computation};
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

/// Whose the source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Ownership {
    /// The caller keeps it.
    Lent,
    /// The caller gives it away.
    Given,
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
    pub(super) source: Arc<Format>,
    destination: Arc<Format>,
    /// Whether places of the source may hold the fill as padding, which is left behind.
    pub(super) has_padding: bool,
    /// The fill of the tensors, where it is not 0.
    pub(super) fill: Option<Scalar>,
    compiled: CompiledComputation,
    /// The extents that the optimised computation depends on: whether tables of these are small.
    asked: Vec<(Expression, bool)>,
    /// The arrays that are those of the source, where the caller gives it away.
    moved: Vec<Moved>,
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
        remembering(|| Derived::of(like, destination, (padding, Ownership::Lent))?.compiled())
    }

    /// The conversion of tensors such as this one that are given away: arrays that both formats
    /// have move from one to the other, and padding is left behind.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    ///
    /// ```
    /// use sparsec::internals::conversion::Converter;
    /// use sparsec::{Format, Session, Tensor};
    /// let a = Tensor::pack(&Format::csr(), &[2, 3], &[0, 2, 1, 0], &[7.0, 5.0])?;
    /// let values = a.values::<f64>().map(<[f64]>::as_ptr);
    /// let list = Converter::owning(&a, &Format::coo(2))?;
    /// let converted = list.run_owned(&Session::interpreter(), a).map_err(|it| it.0)?;
    /// assert_eq!(converted.values::<f64>().map(<[f64]>::as_ptr), values);
    /// # Ok::<(), sparsec::Diagnostic>(())
    /// ```
    pub fn owning(like: &Tensor, destination: &Format) -> Result<Self> {
        let how = (Padding::LeftBehind, Ownership::Given);
        remembering(|| Derived::of(like, destination, how)?.compiled())
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

    /// As [`run`](Self::run), of a tensor that the caller gives away: a converter that is
    /// [owning](Self::owning) moves arrays that both tensors have.
    ///
    /// # Errors
    /// As [`run`](Self::run), with the tensor.
    pub fn run_owned(
        &self,
        session: &Session,
        tensor: Tensor,
    ) -> std::result::Result<Tensor, Box<(Diagnostic, Tensor)>> {
        let computed = self.lend(&tensor).and_then(|lent| {
            let mut prepared = self.prepare(session, &lent)?;
            prepared.launch()?;
            prepared.computed()
        });
        match computed {
            Ok(computed) => {
                let (_, extents, fill, arrays) = tensor.into_parts();
                let given = names(&self.source, "A").into_iter().zip(arrays).collect();
                let made = self.assembled(computed, given, extents, fill);
                Ok(made.expect("the derivation makes arrays of the format"))
            }
            Err(error) => Err(Box::new((error, tensor))),
        }
    }

    /// The converted tensor of computed arrays, and of those of the source that move.
    fn assembled(
        &self,
        mut computed: BTreeMap<String, Array>,
        mut given: BTreeMap<String, Array>,
        extents: Vec<u64>,
        fill: Scalar,
    ) -> Result<Tensor> {
        for Moved { result, given: own } in &self.moved {
            let array = given.remove(own);
            computed.insert(result.clone(), array.expect("an array of the source"));
        }
        let arrays = names(&self.destination, "B").into_iter().map(|name| {
            let array = computed.remove(&name);
            array.expect("the conversion computes each array")
        });
        // The derivation says in which order entries are, and that none stands twice.
        Tensor::derived(
            Arc::clone(&self.destination),
            extents,
            fill,
            arrays.collect(),
        )
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
    ownership: Ownership,
}

/// A conversion before it is compiled.
pub(super) struct Derived {
    pair: Pair,
    computation: Computation,
    /// The extents that were asked for, and whether tables of these are small.
    asked: Vec<(Expression, bool)>,
    moved: Vec<Moved>,
}

impl Pair {
    pub(super) fn of(
        like: &Tensor,
        destination: &Format,
        (padding, ownership): (Padding, Ownership),
    ) -> Self {
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
        let may_pad =
            (source.parts().iter()).any(|part| part.levels().last().is_none_or(Level::may_pad));
        Self {
            source: source.clone(),
            destination: destination.clone(),
            types,
            element: like.element(),
            has_padding: may_pad && padding == Padding::LeftBehind,
            fill: (like.fill() != like.element().zero()).then(|| like.fill()),
            ownership,
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
    fn of(like: &Tensor, destination: &Format, how: (Padding, Ownership)) -> Result<Self> {
        let source = like.format();
        if source.order() != destination.order() {
            // It says which orders they have.
            synthesized(source, destination, like.element(), &Types::new())?;
        }
        Self::new(like, Pair::of(like, destination, how))
    }

    pub(super) fn new(like: &Tensor, pair: Pair) -> Result<Self> {
        let wanted = Wanted {
            types: pair.types.clone(),
            keeps_padding: !pair.has_padding,
            has_fill: Some(pair.fill.is_some()),
            ..wanted(&pair.source, pair.element)
        };
        let made = derive(&pair.source, &pair.destination, &wanted)?;
        let asked = RefCell::new(Vec::new());
        let answered = |extent: &Expression| {
            let answer = is_small(like, &pair, extent);
            asked.borrow_mut().push((extent.clone(), answer));
            answer
        };
        let mut computation = made.optimised(Optimisation::All, &answered)?;
        let moved = match pair.ownership {
            Ownership::Lent => Vec::new(),
            Ownership::Given => computation.take_given(),
        };
        Ok(Self {
            computation,
            moved,
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
            moved: self.moved,
        })
    }
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
        let moved = |name: &String| converter.moved.iter().any(|it| it.given == *name);
        let given = names(&converter.source, "A")
            .into_iter()
            .zip(tensor.arrays());
        let copied = given.filter(|(name, _)| moved(name));
        let copied = copied.map(|(name, array)| (name, array.clone())).collect();
        let (extents, fill) = (tensor.extents().to_vec(), tensor.fill());
        converter.assembled(self.computed()?, copied, extents, fill)
    }

    /// The arrays that the kernel computes.
    fn computed(self) -> Result<BTreeMap<String, Array>> {
        let results = self.prepared.finish()?.into_iter();
        let values = results.map(|(name, result)| {
            let (_, _, _, mut arrays) = result.into_parts();
            (name, arrays.pop().expect("a dense tensor has its values"))
        });
        Ok(values.collect())
    }
}

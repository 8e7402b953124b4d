//! A stored tensor and what can be asked of it.

use std::sync::Arc;

use sparsec_base::{ElementType, Result, Scalar};
use sparsec_format::{Format, LevelKind, Role};

use crate::array::{Array, Element};
use crate::check;
use crate::index::Index;
use crate::statistics::Kept;
use crate::with_element;

/// A tensor in a format: extents, fill, and the arrays that the format declares.
///
/// | array   | of level `l`, whose parent level has `P` positions, holds           |
/// |---------|---------------------------------------------------------------------|
/// | `l.pos` | `P + 1` ascending positions from 0: segment `p` is `pos[p]..pos[p+1]` |
/// | `l.crd` | the coordinate at each position, below the extent of the level's mode |
/// | `vals`  | one value for each position of the last level                       |
///
/// Other kinds of levels keep other arrays, which the pages of
/// [`sparsec_format::level`] show. The level above the first has one position. These and the order of
/// coordinates that the format promises were checked when the tensor was made.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    format: Arc<Format>,
    extents: Vec<u64>,
    element: ElementType,
    fill: Scalar,
    arrays: Vec<Array>,
    /// How many positions each level has.
    positions: Vec<usize>,
    /// What was counted of the entries.
    kept: Kept,
}

/// The arrays of one level.
#[derive(Clone, Copy, Debug)]
pub struct LevelView<'a> {
    pub(crate) pos: Index<'a>,
    pub(crate) crd: Index<'a>,
    pub(crate) end: Index<'a>,
    pub(crate) first: Index<'a>,
    pub(crate) bits: Index<'a>,
    pub(crate) bounds: Index<'a>,
    pub(crate) size: Index<'a>,
}

impl<'a> LevelView<'a> {
    /// Where the segment of each parent position begins; empty where the level
    /// keeps no such array.
    pub fn pos(self) -> Index<'a> {
        self.pos
    }

    /// The coordinate at each position; empty where the level keeps no such array.
    pub fn crd(self) -> Index<'a> {
        self.crd
    }

    /// Where the segment of each parent position ends, in a `loose_compressed` level.
    pub fn end(self) -> Index<'a> {
        self.end
    }

    /// The first coordinate below each parent position, in a `range` level.
    pub fn first(self) -> Index<'a> {
        self.first
    }

    /// 1 at each position that is stored, in a `bitmap` level.
    pub fn bits(self) -> Index<'a> {
        self.bits
    }

    /// The extent of a level of ranks, one entry.
    pub fn size(self) -> Index<'a> {
        self.size
    }

    /// Where runs begin and end, in a `run_length` level.
    pub fn bounds(self) -> Index<'a> {
        self.bounds
    }
}

impl Tensor {
    /// A tensor of these arrays, given in the order of [`Format::arrays`]. Tensors may
    /// share a format.
    ///
    /// Time linear in the arrays; where an unordered level promises distinct
    /// coordinates and does not have them in order, a sort of each segment.
    ///
    /// # Errors
    /// * `E0402` where `extents` has another length than the format's order;
    /// * `E0403` for an array that is missing, left over, or of the wrong type or length;
    /// * `E0404` for a `pos` array that does not begin at 0 or descends;
    /// * `E0401` for a coordinate that its mode does not have;
    /// * `E0405` for coordinates that break the order or uniqueness of their level;
    /// * `E0407` where dense levels have more positions than can be counted.
    pub fn new(
        format: impl Into<Arc<Format>>,
        extents: Vec<u64>,
        element: ElementType,
        fill: Scalar,
        arrays: Vec<Array>,
    ) -> Result<Self> {
        let format = format.into();
        let checked = check::check(&format, &extents, element, fill, &arrays);
        let positions = checked.map_err(|fault| {
            let code = fault.code();
            fault.or_help(format!(
                "`sparsec explain {code}` says what the arrays have to hold"
            ))
        })?;
        Ok(Self {
            format,
            extents,
            element,
            fill,
            arrays,
            positions,
            kept: Kept::default(),
        })
    }

    /// A tensor of arrays that a derived conversion made.
    ///
    /// What walks and kernels rely on to stay inside of arrays is checked as in
    /// [`Tensor::new`]: lengths, segments, coordinates, and the order of levels. The derivation says
    /// the rest, which takes longer to look at than to convert: that entries are in order along a
    /// curve, and that none stands twice if they have no order; of formats whose levels store
    /// expressions, also that entries are in order, and that places which the tensor does not have
    /// hold the fill. Debug builds check that, too. This is no door for arrays of users.
    ///
    /// # Errors
    /// Those of [`Tensor::new`].
    pub fn derived(
        format: impl Into<Arc<Format>>,
        extents: Vec<u64>,
        fill: Scalar,
        arrays: Vec<Array>,
    ) -> Result<Self> {
        let (format, element) = (format.into(), fill.element());
        let how = match cfg!(debug_assertions) {
            true => check::Depth::Entries,
            false => check::Depth::Levels,
        };
        let positions = check::check_to(how, &format, &extents, element, fill, &arrays)?;
        Ok(Self {
            format,
            extents,
            element,
            fill,
            arrays,
            positions,
            kept: Kept::default(),
        })
    }

    /// A tensor of arrays that our own assembly made; checked in debug builds.
    pub(crate) fn trusted(
        format: Format,
        extents: Vec<u64>,
        fill: Scalar,
        arrays: Vec<Array>,
        positions: Vec<usize>,
    ) -> Self {
        let element = fill.element();
        debug_assert_eq!(
            check::check(&format, &extents, element, fill, &arrays),
            Ok(positions.clone())
        );
        Self {
            format: format.into(),
            extents,
            element,
            fill,
            arrays,
            positions,
            kept: Kept::default(),
        }
    }

    /// A tensor of arrays that are still to be checked, to look at them.
    pub(crate) fn unchecked(
        format: Format,
        extents: Vec<u64>,
        fill: Scalar,
        arrays: Vec<Array>,
        positions: Vec<usize>,
    ) -> Self {
        Self {
            format: format.into(),
            extents,
            element: fill.element(),
            fill,
            arrays,
            positions,
            kept: Kept::default(),
        }
    }

    /// The same tensor over arrays that hold the same numbers.
    pub(crate) fn with_same_arrays(&self, arrays: Vec<Array>) -> Self {
        Self {
            format: self.format.clone(),
            extents: self.extents.clone(),
            element: self.element,
            fill: self.fill,
            arrays,
            positions: self.positions.clone(),
            kept: self.kept.clone(),
        }
    }

    /// A copy; arrays shared with an owner stay shared.
    ///
    /// # Errors
    /// `E0407` when memory is out, where [`Clone`] would panic.
    pub fn try_clone(&self) -> Result<Self> {
        let arrays: Result<_> = self.arrays.iter().map(Array::try_clone).collect();
        Ok(self.with_same_arrays(arrays?))
    }

    /// The same arrays, said to be another tensor.
    pub(crate) fn seen_as(self, format: Format, extents: Vec<u64>) -> Self {
        Self::trusted(format, extents, self.fill, self.arrays, self.positions)
    }

    pub(crate) fn kept(&self) -> &Kept {
        &self.kept
    }

    /// A tensor of order 0.
    pub fn scalar(value: Scalar) -> Self {
        let element = value.element();
        let array = array_of_one(value);
        Self::trusted(
            Format::dense(0),
            Vec::new(),
            element.zero(),
            vec![array],
            Vec::new(),
        )
    }

    /// How the entries are arranged.
    pub fn format(&self) -> &Format {
        &self.format
    }

    /// How many modes there are.
    pub fn order(&self) -> usize {
        self.extents.len()
    }

    /// One extent a mode.
    pub fn extents(&self) -> &[u64] {
        &self.extents
    }

    /// The type of the values.
    pub fn element(&self) -> ElementType {
        self.element
    }

    /// The value of every entry that is not stored.
    pub fn fill(&self) -> Scalar {
        self.fill
    }

    /// The arrays, in the order of [`Format::arrays`].
    pub fn arrays(&self) -> &[Array] {
        &self.arrays
    }

    /// The array with this role.
    ///
    /// # Panics
    /// If the format declares none.
    pub fn array(&self, role: Role) -> &Array {
        match self.find(role) {
            Some(array) => array,
            None => panic!("`{}` has no array {role:?}", self.format),
        }
    }

    fn find(&self, role: Role) -> Option<&Array> {
        let specs = self.format.arrays();
        let place = specs.iter().position(|spec| spec.role == role)?;
        Some(&self.arrays[place])
    }

    /// The arrays of level `l`, counted from the outermost, and on through the
    /// parts of a union.
    pub fn level(&self, l: usize) -> LevelView<'_> {
        let index = |role| self.find(role).map_or(Index::EMPTY, Array::as_index);
        LevelView {
            pos: index(Role::Pos(l)),
            crd: index(Role::Crd(l)),
            end: index(Role::End(l)),
            first: index(Role::First(l)),
            bits: index(Role::Bits(l)),
            bounds: index(Role::Bounds(l)),
            size: index(Role::Size(l)),
        }
    }

    /// The values, one for each position of the last level.
    pub fn vals(&self) -> &Array {
        &self.arrays[self.arrays.len() - 1]
    }

    /// The values as a slice, if `T` stores their type.
    pub fn values<T: crate::Element>(&self) -> Option<&[T]> {
        self.vals().as_slice()
    }

    /// The values, to change them. Their number and type stay. Values that are
    /// shared with an owner are copied first.
    pub fn values_mut<T: crate::Element>(&mut self) -> Option<&mut [T]> {
        self.kept.clear();
        let last = self.arrays.len() - 1;
        self.arrays[last].as_mut_slice()
    }

    /// The address of the values, for a kernel that writes them.
    pub fn values_mut_ptr(&mut self) -> *mut u8 {
        self.kept.clear();
        let last = self.arrays.len() - 1;
        self.arrays[last].as_mut_ptr()
    }

    /// How many values are stored, zeros, padding and empty slots included.
    pub fn n_stored(&self) -> usize {
        self.vals().len()
    }

    /// How many values are stored, zeros and padding included, but no empty slots of hash
    /// tables. Takes time linear in the slots, where there are such.
    ///
    /// ```
    /// use sparsec_format::FormatSpec;
    /// use sparsec_tensor::Tensor;
    /// let table = "(i) -> (i : hashed)".parse::<FormatSpec>()?.resolve(1)?;
    /// let a = Tensor::pack(&table, &[100], &[7, 8, 40], &[1.0, 2.0, 0.0])?;
    /// assert_eq!((a.n_filled(), a.n_stored() > 3), (3, true));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn n_filled(&self) -> usize {
        let parts = self.format.parts();
        let mut levels = parts.iter().flat_map(Format::levels);
        match levels.any(|level| level.kind == LevelKind::Hashed) {
            // The coordinates of what was packed are known to be some.
            true => self.n_filled_places().unwrap_or(self.n_stored()),
            false => self.n_stored(),
        }
    }

    /// What share of the entries lies apart from the entry stored before it: its coordinate
    /// in the last level that keeps any is another than the next one. 0.1 in a band of ten
    /// diagonals, about 1 where entries lie anywhere; in `bsr` of blocks, since these lie
    /// apart or not. Taken once from a thousand coordinates here and there, in some microseconds;
    /// `None` where no level keeps two.
    ///
    /// ```
    /// use sparsec_format::FormatSpec;
    /// use sparsec_tensor::Tensor;
    /// let row = |columns: &[u64]| {
    ///     let entries = columns.iter().map(|j| ([0, *j], 1.0));
    ///     entries.fold(Tensor::builder("csr", &[1, 9])?, |a, (at, v)| a.push(at, v)).build()
    /// };
    /// assert_eq!(row(&[2, 3, 4, 5])?.scatter(), Some(0.0));
    /// assert_eq!(row(&[0, 3, 4, 8])?.scatter(), Some(2.0 / 3.0));
    /// let blocks = row(&[2, 3, 8])?.convert(&"bsr(1, 2)".parse::<FormatSpec>()?.resolve(2)?)?;
    /// assert_eq!(blocks.scatter(), Some(1.0));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn scatter(&self) -> Option<f64> {
        self.kept.scatter(|| {
            let levels = (0..self.format.levels().len()).rev();
            let mut crds = levels.map(|level| self.level(level).crd());
            let crd = crds.find(|crd| crd.len() > 1)?;
            let is_apart = |place| crd.get(place + 1) != crd.get(place) + 1;
            share(crd.len() - 1, is_apart)
        })
    }

    /// How many entries segments have on average, in the last level that has segments;
    /// `None` where none has any.
    ///
    /// ```
    /// use sparsec_tensor::Tensor;
    /// let row = Tensor::builder("csr", &[2, 9])?.push([1, 2], 1.0).build()?;
    /// assert_eq!(row.segment(), Some(0.5));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn segment(&self) -> Option<f64> {
        let mut levels = (0..self.format.levels().len()).rev();
        let last = levels.find(|level| self.level(*level).pos().len() > 1)?;
        let n_segments = self.level(last).pos().len() - 1;
        Some(self.n_positions(last) as f64 / n_segments as f64)
    }

    /// What share of the segments has as many entries as the one stored before it, in the
    /// last level that has segments: 1 inside a band, little where entries lie anywhere.
    /// Taken from a thousand segments here and there, in some microseconds; `None` where no
    /// level has two.
    ///
    /// ```
    /// use sparsec_tensor::Tensor;
    /// let rows = |places: &[[u64; 2]]| {
    ///     let entries = places.iter().map(|at| (*at, 1.0));
    ///     entries.fold(Tensor::builder("csr", &[3, 9])?, |a, (at, v)| a.push(at, v)).build()
    /// };
    /// assert_eq!(rows(&[[0, 2], [1, 7], [2, 0]])?.evenness(), Some(1.0));
    /// assert_eq!(rows(&[[0, 2], [1, 7], [1, 8]])?.evenness(), Some(0.0));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn evenness(&self) -> Option<f64> {
        self.kept.evenness(|| {
            let levels = (0..self.format.levels().len()).rev();
            let mut all = levels.map(|level| self.level(level).pos());
            let pos = all.find(|pos| pos.len() > 2)?;
            let n = |segment: usize| pos.get(segment + 1) - pos.get(segment);
            share(pos.len() - 2, |segment| n(segment + 1) == n(segment))
        })
    }

    /// How many entries there are at most: more than are stored where one value
    /// stands for several.
    pub fn most_entries(&self) -> u64 {
        let n_stored = self.n_stored() as u64;
        let parts = self.format.parts();
        let mut levels = parts.iter().flat_map(Format::levels);
        if levels.any(|level| level.kind == LevelKind::RunLength) {
            let all = |extents: &[u64]| extents.iter().fold(1, |n: u64, e| n.saturating_mul(*e));
            let known: Vec<Option<u64>> = self.extents.iter().copied().map(Some).collect();
            // Runs go through the last level below every position above.
            return match (parts.as_slice(), self.format.level_extents(&known).last()) {
                ([only], Some(Some(extent))) => {
                    let above = only.levels().len().checked_sub(2);
                    let above = above.map_or(1, |above| self.n_positions(above) as u64);
                    above.saturating_mul(*extent)
                }
                _ => all(&self.extents),
            };
        }
        match self.format.mirror() {
            Some(_) => n_stored.saturating_mul(2),
            None => n_stored,
        }
    }

    /// How many positions level `l` has.
    ///
    /// # Panics
    /// If there is no such level.
    pub fn n_positions(&self, l: usize) -> usize {
        self.positions[l]
    }

    /// How many bytes the arrays take.
    pub fn bytes(&self) -> usize {
        self.arrays.iter().map(Array::bytes).sum()
    }

    /// The arrays alone, in the order of [`Format::arrays`].
    pub fn into_parts(self) -> (Format, Vec<u64>, Scalar, Vec<Array>) {
        let format = Arc::unwrap_or_clone(self.format);
        (format, self.extents, self.fill, self.arrays)
    }
}

fn array_of_one(value: Scalar) -> Array {
    with_element!(value.element(), T => {
        Array::from_vec(T::from_scalar(value).into_iter().collect::<Vec<T>>())
    })
}

/// The share of the numbers below `n` that something holds for, of a thousand of them;
/// `None` if there is none.
fn share(n: usize, holds: impl Fn(usize) -> bool) -> Option<f64> {
    /// As many samples, of as many neighbours.
    const SAMPLES: usize = 64;
    const NEIGHBOURS: usize = 16;
    let stride = (n / SAMPLES).max(NEIGHBOURS);
    let sampled = (0..n)
        .step_by(stride)
        .flat_map(|first| first..(first + NEIGHBOURS).min(n));
    let (mut seen, mut found) = (0, 0);
    for number in sampled {
        seen += 1;
        found += usize::from(holds(number));
    }
    (seen > 0).then(|| found as f64 / f64::from(seen))
}

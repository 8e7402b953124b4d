//! Tensors made of part of a tensor, or seen from another side.
//!
//! | function            | entries                           | storage                                |
//! |---------------------|-----------------------------------|----------------------------------------|
//! | [`Tensor::prune`]   | those that differ from the fill   | packed again                           |
//! | [`Tensor::slice`]   | those in a box, with strides      | runs of arrays (outermost), or packed  |
//! | [`Tensor::join`]    | those of parts, each at an offset | runs of arrays (in order), or packed   |
//! | [`Tensor::permute`] | all, modes in another order       | the same arrays: `csr` becomes `csc`   |

use std::ops::{Range, RangeFrom, RangeFull};

use sparsec_base::{Diagnostic, Result, Scalar, code};
use sparsec_format::Format;

use crate::array::Element;
use crate::check::shape;
use crate::entries::plural;
use crate::tensor::Tensor;
use crate::with_element;

/// Some coordinates of a mode: every `stride`-th from `start`, below `end`.
///
/// ```
/// use sparsec_tensor::Window;
/// assert_eq!(Window::from(2..9).every(3).coords(100).collect::<Vec<_>>(), [2, 5, 8]);
/// assert_eq!(Window::from(..).coords(3).collect::<Vec<_>>(), [0, 1, 2]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The first coordinate.
    pub start: u64,
    /// The first coordinate beyond; that of the mode's extent if not given.
    pub end: Option<u64>,
    /// How far one coordinate is from the next, at least 1.
    pub stride: u64,
}

impl Window {
    /// Every `stride`-th coordinate of these, beginning with the first.
    #[must_use]
    pub fn every(self, stride: u64) -> Self {
        Self { stride, ..self }
    }

    /// The coordinates, in a mode of this extent. None if the stride is 0.
    pub fn coords(self, extent: u64) -> impl Iterator<Item = u64> {
        (0..self.n_coords(extent)).map(move |k| self.start + k * self.stride)
    }

    /// How many coordinates there are in a mode of this extent.
    fn n_coords(self, extent: u64) -> u64 {
        let end = self.end.unwrap_or(extent);
        match self.stride {
            0 => 0,
            stride => end.saturating_sub(self.start).div_ceil(stride),
        }
    }

    /// Which of its coordinates this is.
    fn number(self, coord: u64, n_coords: u64) -> Option<u64> {
        let from_start = coord.checked_sub(self.start)?;
        let number = from_start / self.stride;
        (from_start.is_multiple_of(self.stride) && number < n_coords).then_some(number)
    }
}

impl From<Range<u64>> for Window {
    fn from(range: Range<u64>) -> Self {
        Self {
            start: range.start,
            end: Some(range.end),
            stride: 1,
        }
    }
}

impl From<RangeFrom<u64>> for Window {
    fn from(range: RangeFrom<u64>) -> Self {
        Self {
            start: range.start,
            end: None,
            stride: 1,
        }
    }
}

impl From<RangeFull> for Window {
    fn from(_: RangeFull) -> Self {
        Self::from(0..)
    }
}

impl Tensor {
    /// The same tensor without the stored entries that are its fill, or no
    /// further from it than `tolerance`: `|v - fill| <= tolerance`. A value equal
    /// to the fill goes at every tolerance, `-0.0` as well as `0.0`; `NaN` goes
    /// where the fill is `NaN`.
    ///
    /// Time about that of packing. Dense levels keep their padding.
    ///
    /// # Errors
    /// `E0407` when memory is out.
    ///
    /// ```
    /// # use sparsec_format::Format;
    /// # use sparsec_tensor::Tensor;
    /// let a = Tensor::pack(&Format::csr(), &[2, 2], &[0, 0, 0, 1, 1, 1], &[0.0, 1e-9, 3.0])?;
    /// assert_eq!((a.prune(0.0)?.n_stored(), a.prune(1e-6)?.n_stored()), (2, 1));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn prune(&self, tolerance: f64) -> Result<Self> {
        if !self.format().is_regular() {
            let entries = self.as_regular()?.prune(tolerance)?.try_entries()?;
            return self.repack(self.format(), entries);
        }
        let fill = self.fill();
        let entries = with_element!(self.element(), T => {
            let values = self.vals().slice::<T>();
            self.chosen(&|_, position| !is_near(values[position], fill, tolerance))?
        });
        self.repack(self.format(), entries)
    }

    /// The entries in a box: one window a mode. Entry `k` of a window becomes
    /// coordinate `k` of the result, whose extents are the windows' sizes.
    ///
    /// Costs a walk over all entries, and packing those that are kept. If only the window of the
    /// outermost level is not whole, it costs a copy of the result's arrays.
    ///
    /// # Errors
    /// `E0413` where there is not one window a mode, for a window beyond its
    /// extent, and for a stride of 0; `E0407` when memory is out.
    ///
    /// ```
    /// # use sparsec_format::Format;
    /// # use sparsec_tensor::{Tensor, Window};
    /// let coords = [0, 0, 1, 1, 2, 2, 3, 3];
    /// let a = Tensor::pack(&Format::csr(), &[4, 4], &coords, &[1.0, 2.0, 3.0, 4.0])?;
    /// let odd = Window::from(1..).every(2);
    /// let b = a.slice(&[odd, odd])?;
    /// assert_eq!((b.extents(), b.values::<f64>()), (&[2, 2][..], Some(&[2.0, 4.0][..])));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn slice(&self, windows: &[Window]) -> Result<Self> {
        self.check_windows(windows)?;
        let extents: Vec<u64> = windows
            .iter()
            .zip(self.extents())
            .map(|(window, &extent)| window.n_coords(extent))
            .collect();
        if let Some((first, range)) = self.outermost(windows) {
            return self.run(first, range);
        }
        if !self.format().is_regular() {
            // Padding has the bits of the fill, which a stored -0.0 has not.
            let stored = self.irregular_entries(!self.has_padding())?;
            let listed = self.repack(&Format::scoo(self.order()), stored)?;
            return self.repack(self.format(), listed.slice(windows)?.try_entries()?);
        }
        let padded = self.has_padding();
        let fill = self.fill();
        let mut entries = self.chosen(&|coords, position| {
            let mut modes = coords.iter_mut().zip(windows).zip(&extents);
            let is_inside = modes.all(|((coord, window), &n)| {
                let number = window.number(*coord, n);
                *coord = number.unwrap_or(0);
                number.is_some()
            });
            is_inside && !(padded && self.vals().get(position) == fill)
        })?;
        entries.extents = extents;
        self.repack(self.format(), entries)
    }

    /// The mode of the outermost level and its window, if runs of the arrays are the slice:
    /// other windows are whole.
    fn outermost(&self, windows: &[Window]) -> Option<(usize, Range<u64>)> {
        let mode = self.runs_of()?;
        let window = windows[mode];
        let whole = windows.iter().zip(self.extents()).enumerate();
        let are_whole = whole
            .filter(|(other, _)| *other != mode)
            .all(|(_, (window, &extent))| {
                *window == Window::from(0..extent) || *window == Window::from(..)
            });
        let end = window.end.unwrap_or(self.extents()[mode]);
        (are_whole && window.stride == 1).then_some((mode, window.start..end))
    }

    fn check_windows(&self, windows: &[Window]) -> Result<()> {
        let extents = shape(self.extents());
        let fault = |message| {
            Err(Diagnostic::new(code::BAD_SELECTION, message).help(format!(
                "give each mode a window that lies within it: the extents are {extents}"
            )))
        };
        if windows.len() != self.order() {
            return fault(format!(
                "{} for a tensor of order {}",
                plural(windows.len(), "window"),
                self.order()
            ));
        }
        for (mode, (window, &extent)) in windows.iter().zip(self.extents()).enumerate() {
            let end = window.end.unwrap_or(extent);
            if window.stride == 0 {
                return fault(format!("the window of mode {mode} has stride 0"));
            }
            if window.start > end || end > extent {
                return fault(format!(
                    "mode {mode} has extent {extent} and no coordinates {}..{end}",
                    window.start
                ));
            }
        }
        Ok(())
    }

    /// The tensor whose mode `m` is mode `modes[m]` of this one: for a matrix
    /// and `[1, 0]` the transpose. Arrays stay as they are, the format says what
    /// they are now.
    ///
    /// Takes the time of a copy of the arrays, and none where they are shared.
    ///
    /// # Errors
    /// `E0413` where `modes` is not every mode once; `E0407` when memory is out.
    ///
    /// ```
    /// # use sparsec_format::Format;
    /// # use sparsec_tensor::Tensor;
    /// let a = Tensor::pack(&Format::csr(), &[2, 3], &[1, 2], &[5.0])?;
    /// let b = a.permute(&[1, 0])?;
    /// assert_eq!((b.format(), b.extents()), (&Format::csc(), &[3, 2][..]));
    /// assert_eq!(b.get(&[2, 1]), a.get(&[1, 2]));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn permute(&self, modes: &[usize]) -> Result<Self> {
        let mut named = modes.to_vec();
        named.sort_unstable();
        if !named.into_iter().eq(0..self.order()) {
            return Err(Diagnostic::new(
                code::BAD_SELECTION,
                format!(
                    "{modes:?} does not name each mode of a tensor of order {} once",
                    self.order()
                ),
            )
            .note(format!("its extents are {}", shape(self.extents())))
            .help("name each mode once, in the new order"));
        }
        let format = self.format().with_modes_moved(modes);
        let extents = modes.iter().map(|&mode| self.extents()[mode]).collect();
        Ok(self.try_clone()?.seen_as(format, extents))
    }
}

fn is_near<T: Element>(value: T, fill: Scalar, tolerance: f64) -> bool {
    let Some(near) = T::from_scalar(fill) else {
        return false;
    };
    if value == near {
        return true;
    }
    if let (Some(value), Some(near)) = (value.scalar().to_integer(), near.scalar().to_integer()) {
        // Integers of 64 bits round to the same floating-point number where they differ.
        return (value - near).unsigned_abs() as f64 <= tolerance;
    }
    let (value, fill) = (value.scalar().to_c128(), fill.to_c128());
    let both_nan = value.is_nan() && fill.is_nan();
    both_nan || (value - fill).norm() <= tolerance
}

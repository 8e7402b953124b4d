//! What every type of another library asks of a tensor that is to become one.

use sparsec_base::{Diagnostic, Result, code};
use sparsec_format::{Format, Role};

use crate::array::Element;
use crate::index::Index;
use crate::tensor::Tensor;

/// A tensor on its way to a type of another library.
pub(super) struct Outward<'a> {
    tensor: &'a Tensor,
    /// The type, as the user calls it.
    target: &'static str,
}

impl<'a> Outward<'a> {
    /// Checks what every such type asks for: one of these formats, and zeros
    /// where nothing is stored.
    pub(super) fn new(
        tensor: &'a Tensor,
        target: &'static str,
        formats: &[Format],
    ) -> Result<Self> {
        let outward = Self { tensor, target };
        let fits = |format: &Format| format.arranges_like(tensor.format());
        if !formats.iter().any(fits) {
            let stored = tensor.format().short_name();
            let error = outward.refuse(format!("the tensor is stored as `{stored}`"));
            let order = formats.first().map_or(0, Format::order);
            if order != tensor.order() {
                return Err(error.help(format!("give a tensor of order {order}")));
            }
            let names = formats.iter().map(|it| format!("`{}`", it.short_name()));
            let names: Vec<String> = names.collect();
            return Err(error.help(format!("convert it first, to {}", names.join(" or "))));
        }
        let zero = tensor.element().zero();
        if tensor.fill() != zero && tensor.format().has_sparse() {
            let error = outward.refuse(format!(
                "entries that are not stored are {}, not {zero}",
                tensor.fill()
            ));
            return Err(error.help("convert it to a dense format first"));
        }
        Ok(outward)
    }

    /// The values, if they are of type `T`.
    pub(super) fn values<T: Element>(&self) -> Result<&'a [T]> {
        self.tensor.values().ok_or_else(|| {
            let element = self.tensor.element();
            self.refuse(format!("the values are {element}, not {}", T::TYPE))
                .help(format!("ask for a matrix of {element}"))
        })
    }

    /// The positions or coordinates with this role, as another type of index.
    pub(super) fn indices<I: TryFrom<i64>>(&self, role: Role) -> Result<Vec<I>> {
        let index: Index<'_> = self.tensor.array(role).as_index();
        let converted = index
            .iter()
            .map(|entry| I::try_from(entry).map_err(|_| entry));
        converted
            .collect::<std::result::Result<_, _>>()
            .map_err(|entry| {
                let bits = 8 * size_of::<I>();
                self.refuse(format!("{entry} does not fit its indices of {bits} bits"))
                    .help("ask for wider indices")
            })
    }

    /// The extent of a mode.
    pub(super) fn extent(&self, mode: usize) -> Result<usize> {
        let extent = self.tensor.extents()[mode];
        usize::try_from(extent).map_err(|_| {
            self.refuse(format!("an extent of {extent} is beyond what it counts"))
                .help("use a smaller tensor")
        })
    }

    /// What the other library says against arrays that our checks let pass.
    pub(super) fn refuse(&self, why: impl std::fmt::Display) -> Diagnostic {
        Diagnostic::new(
            code::NOT_TRANSFERABLE,
            format!("a tensor cannot become a `{}`: {why}", self.target),
        )
    }
}

//! Matrices as SciPy writes them.

use std::io::{self, Write};

use sparsec_base::{ElementType, IndexWidth};
use sparsec_format::{Role, Widths};
use sparsec_tensor::{Array, Tensor};

use super::MARK;
use crate::npz::archive::ArchiveWriter;

/// What SciPy calls the format of a tensor that it has a form for.
pub(in crate::npz) fn format_of(tensor: &Tensor) -> Option<&'static str> {
    let element = tensor.element();
    let known = !matches!(element, ElementType::F16 | ElementType::Bf16);
    let Widths { pos, crd } = tensor.format().widths();
    let narrow = [pos, crd]
        .into_iter()
        .flatten()
        .any(|it| it < IndexWidth::W32);
    if tensor.order() != 2 || !known || narrow || tensor.fill() != element.zero() {
        return None;
    }
    // SciPy's own widths come back with the arrays, whether declared or not.
    match tensor
        .format()
        .clone()
        .with_widths(Widths::default())
        .preset_name()?
    {
        "csr" => Some("csr"),
        "csc" => Some("csc"),
        "coo" | "scoo" => Some("coo"),
        _ => None,
    }
}

pub(in crate::npz) fn write(tensor: &Tensor, format: &str, sink: impl Write) -> io::Result<()> {
    let mut archive = ArchiveWriter::new(sink);
    if format == "coo" {
        archive.list("row", tensor.array(Role::Crd(0)))?;
        archive.list("col", tensor.array(Role::Crd(1)))?;
    } else {
        archive.list("indices", tensor.array(Role::Crd(1)))?;
        archive.list("indptr", tensor.array(Role::Pos(1)))?;
    }
    archive.ascii(MARK, format)?;
    // Extents are below 2^63 in every tensor.
    let shape = tensor
        .extents()
        .iter()
        .map(|&extent| extent as i64)
        .collect();
    archive.list("shape", &Array::from_vec::<i64>(shape))?;
    archive.list("data", tensor.vals())?;
    archive.finish()?;
    Ok(())
}

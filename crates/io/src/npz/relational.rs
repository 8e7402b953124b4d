//! Our own `.npz` files of tensors that are stored as a relation says.
//!
//! ```text
//! sparsec.npy       {"version":2,"format":"jds","relation":"format jds …","constants":{"ND":3,"NNZ":6},
//!                    "extents":[4,4],"element":"f64"}
//! array.perm.npy    the index arrays, each by the name of its function
//! array.ptr.npy
//! array.col.npy
//! vals.npy
//! ```
//!
//! The text of the format is all that a reader needs; `format` is its name where it is a
//! preset. What is read goes through the same checks as arrays from anywhere.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use serde_json::Value;
use sparsec_base::{Diagnostic, Result, Source};
use sparsec_format::{FormatSpec, RelationFormat};
use sparsec_tensor::{Array, RelationTensor};

use super::archive::{Archive, ArchiveWriter};
use super::native::{Description, MARK, list, typed};
use crate::cast::cast;
use crate::content::FileTensor;
use crate::options::ReadOptions;

/// The version of these descriptions.
pub(super) const VERSION: u64 = 2;
/// What the members of index arrays begin with.
const ARRAY: &str = "array.";

pub(super) fn read(
    archive: &Archive<'_>,
    description: &Description,
    json: &Value,
    options: &ReadOptions,
) -> Result<FileTensor> {
    let (extents, element) = description.shape(json)?;
    let text = description.need(json, "relation", Value::as_str, "a text")?;
    let name = description.need(json, "format", Value::as_str, "a text")?;
    let format = format(archive, name, text)?;
    let mut constants = BTreeMap::new();
    let said = description.need(json, "constants", Value::as_object, "an object")?;
    for (name, value) in said {
        let value = value.as_i64().ok_or_else(|| {
            description.fault(format!("the constant `{name}` is no number of 64 bits"))
        })?;
        constants.insert(name.clone(), value);
    }
    let functions = format.descriptor().declarations().functions().iter();
    let functions: Vec<&str> = functions.map(|function| function.name.as_str()).collect();
    let members: Vec<String> = functions
        .iter()
        .map(|name| format!("{ARRAY}{name}"))
        .collect();
    let members: Vec<&str> = members.iter().map(String::as_str).collect();
    let mut arrays: BTreeMap<String, Array> = BTreeMap::new();
    for ((&name, &member), array) in functions.iter().zip(&members).zip(archive.all(&members)?) {
        arrays.insert(name.to_owned(), list(archive, member, array)?);
    }
    let vals = list(archive, "vals", archive.array("vals")?)?;
    let mut vals = typed(archive, "vals", vals, element)?;
    if let Some(wanted) = options.element {
        vals = cast(vals, wanted, "vals")?;
    }
    let tensor = RelationTensor::new(format, extents, constants, arrays, vals);
    let tensor = tensor.map_err(|error| error.note(format!("in `{}`", archive.name())))?;
    Ok(FileTensor::of_relation(tensor))
}

/// The format of a text, under the name of the preset if it is one.
fn format(archive: &Archive<'_>, name: &str, text: &str) -> Result<Arc<RelationFormat>> {
    let source = Source::new(format!("{}: {MARK}", archive.name()), text);
    let format = RelationFormat::parse(&source).map(Arc::new);
    if let Ok(spec) = name.parse::<FormatSpec>()
        && let Ok(format) = &format
        && let Ok(Some(preset)) = spec.relation(format.order())
        && preset.text() == text
    {
        return Ok(preset);
    }
    format.map_err(|error: Diagnostic| error.note(format!("the format of `{}`", archive.name())))
}

pub(super) fn write(tensor: &RelationTensor, sink: impl Write) -> io::Result<()> {
    let format = tensor.format();
    let description = serde_json::json!({
        "version": VERSION,
        "format": format.name(),
        "relation": format.text(),
        "constants": tensor.constants(),
        "extents": tensor.extents(),
        "element": tensor.element().name(),
    });
    let mut archive = ArchiveWriter::new(sink);
    archive.text(MARK, &description.to_string())?;
    for (name, array) in tensor.arrays() {
        archive.list(&format!("{ARRAY}{name}"), array)?;
    }
    archive.list("vals", tensor.values())?;
    archive.finish()?;
    Ok(())
}

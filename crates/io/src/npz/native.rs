//! Our own `.npz` files, which hold every format and every element type.
//!
//! ```text
//! sparsec.npy   {"version":1,"format":"(i, j) -> (i : dense, j : compressed)","extents":[4,5],"element":"f64"}
//! 1.pos.npy     the arrays that the format declares, each under its own name
//! 1.crd.npy
//! vals.npy
//! fill.npy      a scalar, where the fill is not zero
//! ```
//!
//! A tensor that is stored as a relation says has another description, and other members
//! (`relational.rs`).
//!
//! Arrays keep their bits and widths. Values of `bf16`, which NumPy lacks, are
//! stated as `uint16`; their type is told by the description. What is read goes
//! through the same checks as arrays from anywhere.

use std::io::{self, Write};

use serde_json::Value;
use sparsec_base::{Diagnostic, ElementType, Result, Scalar, Source, Span, code};
use sparsec_format::Format;
use sparsec_tensor::{Array, Tensor};

use super::archive::{Archive, ArchiveWriter};
use super::relational;
use crate::cast::cast;
use crate::content::FileTensor;
use crate::npy::ndarray::NdArray;
use crate::options::ReadOptions;

/// The member that describes the others.
pub(super) const MARK: &str = "sparsec";
/// The version of the description of a tensor in levels.
const VERSION: u64 = 1;

pub(super) fn read(archive: &Archive<'_>, options: &ReadOptions) -> Result<FileTensor> {
    let name = format!("{}: {MARK}", archive.name());
    let description = Description {
        source: Source::new(name, archive.text(MARK)?),
    };
    let json = description.json()?;
    if description.version(&json)? == relational::VERSION {
        return relational::read(archive, &description, &json, options);
    }
    let (format, extents, element) = description.parse(&json)?;
    let names: Vec<String> = member_names(&format);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut arrays = Vec::with_capacity(names.len());
    for (&name, array) in names.iter().zip(archive.all(&names)?) {
        arrays.push(list(archive, name, array)?);
    }
    let vals = arrays
        .pop()
        .map(|vals| typed(archive, "vals", vals, element));
    let mut vals = vals.expect("every format declares values")?;
    let mut fill = element.zero();
    if archive.has("fill") {
        let one = archive.array("fill")?.values;
        let one = typed(archive, "fill", one, element)?;
        if one.len() != 1 {
            return Err(description.fault(format!("`fill` has {} values, not 1", one.len())));
        }
        fill = one.get(0);
    }
    if let Some(declared) = format.fill()
        && Scalar::F64(declared).as_type(element) != Some(fill)
    {
        let message =
            format!("the format declares fill {declared}, but the tensor has fill {fill}");
        return Err(description
            .fault(message)
            .help("add the array `fill` with this value, or take the clause out of the format"));
    }
    if let Some(wanted) = options.element {
        vals = cast(vals, wanted, "vals")?;
        let one = Array::filled(fill, 1)?;
        fill = cast(one, wanted, "fill")?.get(0);
    }
    arrays.push(vals);
    let tensor = Tensor::new(format, extents, fill.element(), fill, arrays);
    let tensor = tensor.map_err(|error| error.note(format!("in `{}`", archive.name())))?;
    Ok(FileTensor {
        states_fill: archive.has("fill"),
        ..FileTensor::of_tensor(tensor)
    })
}

/// The names of the arrays of a format: `1.pos`, `1.crd`, `vals`.
fn member_names(format: &Format) -> Vec<String> {
    let specs = format.arrays();
    let name = |tensor: &str| tensor.trim_start_matches('.').to_owned();
    specs.iter().map(|spec| name(&spec.name(""))).collect()
}

pub(super) fn list(archive: &Archive<'_>, name: &str, array: NdArray) -> Result<Array> {
    array.into_list().map_err(|shape| {
        let message = format!(
            "`{}: {name}` has shape {shape}, not one mode",
            archive.name()
        );
        Diagnostic::new(code::BAD_DESCRIPTION, message)
    })
}

/// The numbers that the description says are of type `element`.
pub(super) fn typed(
    archive: &Archive<'_>,
    name: &str,
    array: Array,
    element: ElementType,
) -> Result<Array> {
    match (array.element(), element) {
        (found, wanted) if found == wanted => Ok(array),
        (ElementType::U16, ElementType::Bf16) => Ok(Array::new(element, array.into_memory())),
        (found, _) => Err(Diagnostic::new(
            code::BAD_DESCRIPTION,
            format!(
                "`{}: {name}` is an array of {found}, not of {element}",
                archive.name()
            ),
        )),
    }
}

/// The text of a description.
pub(super) struct Description {
    pub(super) source: Source,
}

impl Description {
    /// The description as JSON.
    fn json(&self) -> Result<Value> {
        let text = self.source.text();
        serde_json::from_str(text).map_err(|error| {
            let lines = text.lines().take(error.line().saturating_sub(1));
            let before: usize = lines.map(|line| line.len() + 1).sum();
            let at = (before + error.column().saturating_sub(1)).min(text.len());
            Diagnostic::new(
                code::BAD_DESCRIPTION,
                "the description of the tensor is no JSON",
            )
            .at(&self.source, Span::new(at, at), error.to_string())
        })
    }

    /// The version, which says what else the description has.
    fn version(&self, json: &Value) -> Result<u64> {
        let version = self.need(json, "version", Value::as_u64, "a number")?;
        if ![VERSION, relational::VERSION].contains(&version) {
            let message = format!("version {version} of the description is not known");
            return Err(self
                .fault(message)
                .help("read it with the version of sparsec that wrote it"));
        }
        Ok(version)
    }

    fn parse(&self, json: &Value) -> Result<(Format, Vec<u64>, ElementType)> {
        let format = self.need(json, "format", Value::as_str, "a text")?;
        let format: Format = format.parse().map_err(|error: Diagnostic| {
            error.note(format!("the format of `{}`", self.source.name()))
        })?;
        let (extents, element) = self.shape(json)?;
        Ok((format, extents, element))
    }

    /// The extents and the type of the values.
    pub(super) fn shape(&self, json: &Value) -> Result<(Vec<u64>, ElementType)> {
        let extents = self.need(json, "extents", Value::as_array, "a list")?;
        let extents: Option<Vec<u64>> = extents.iter().map(Value::as_u64).collect();
        let extents =
            extents.ok_or_else(|| self.fault("`extents` are no list of counts".to_owned()))?;
        let element = self.need(json, "element", Value::as_str, "a text")?;
        let element = ElementType::parse(element)
            .ok_or_else(|| self.fault(format!("there is no element type `{element}`")))?;
        Ok((extents, element))
    }

    pub(super) fn need<'v, T>(
        &self,
        json: &'v Value,
        key: &str,
        get: fn(&'v Value) -> Option<T>,
        kind: &str,
    ) -> Result<T> {
        let value = json.get(key);
        let value = value.ok_or_else(|| self.fault(format!("the description lacks `{key}`")))?;
        get(value).ok_or_else(|| self.fault(format!("`{key}` of the description is not {kind}")))
    }

    pub(super) fn fault(&self, message: String) -> Diagnostic {
        let whole = Span::new(0, self.source.text().len());
        Diagnostic::new(code::BAD_DESCRIPTION, message).at(&self.source, whole, "")
    }
}

pub(super) fn write(tensor: &Tensor, sink: impl Write) -> io::Result<()> {
    let description = serde_json::json!({
        "version": VERSION,
        "format": tensor.format().to_string(),
        "extents": tensor.extents(),
        "element": tensor.element().name(),
    });
    let mut archive = ArchiveWriter::new(sink);
    archive.text(MARK, &description.to_string())?;
    for (name, array) in member_names(tensor.format()).iter().zip(tensor.arrays()) {
        archive.list(name, array)?;
    }
    let fill = tensor.fill();
    if fill != fill.element().zero() {
        let fill = Array::filled(fill, 1).map_err(|error| io::Error::other(error.to_string()))?;
        archive.array("fill", &[], &fill)?;
    }
    archive.finish()?;
    Ok(())
}

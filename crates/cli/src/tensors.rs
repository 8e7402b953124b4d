//! Tensors as answers: text, JSON, and the text of a file on standard output.
//!
//! | of order | text                                        | JSON                          |
//! |----------|---------------------------------------------|-------------------------------|
//! | 0        | `s = 5.0`                                   | `value`                       |
//! | dense    | a headline, and the array as NumPy prints it | `values`, nested              |
//! | others   | a headline, and the stored entries          | `coordinates` and `values`    |
//!
//! A terminal and a pipe get the same text; only the width of lines follows the terminal.
//! The text of a large tensor is truncated. JSON has all values or, beyond [`MOST_VALUES`],
//! none: a program must not mistake a part for the whole.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};
use sparsec::{PrintOptions, RelationTensor, Result, Scalar, Tensor, io};

use crate::call::Call;
use crate::pairs::Pair;
use crate::progress::Progress;
use crate::screen::width;

/// The value of an option that stands for standard output or input.
pub(crate) const STREAM: &str = "-";

/// Values of one tensor that an answer in JSON holds at most.
pub(crate) const MOST_VALUES: u64 = 10_000;

/// A result as text: lines that end with a line break.
pub(crate) fn text(name: &str, tensor: &Tensor) -> String {
    let options = PrintOptions {
        width: width(),
        ..PrintOptions::default()
    };
    let values = tensor.values_text(options);
    match (tensor.order(), values.is_empty()) {
        (0, _) => format!("{name} = {values}\n"),
        (_, true) => format!("{name}: {}\n", tensor.headline()),
        (_, false) => format!("{name}: {}\n{values}\n", tensor.headline()),
    }
}

/// A result as JSON, with its values unless they are too many or not `wanted`.
pub(crate) fn value(name: &str, tensor: &Tensor, wanted: bool) -> Value {
    let mut value = json!({
        "element": tensor.element().name(),
        "extents": tensor.extents(),
        "format": tensor.format().to_string(),
        "n_stored": tensor.n_filled(),
        "fill": scalar_value(tensor.fill()),
    });
    if !wanted {
        return value;
    }
    if tensor.order() == 0 {
        value["value"] = scalar_value(tensor.get(&[]));
    } else if tensor.most_entries() > MOST_VALUES || n_arrays(tensor) > MOST_VALUES {
        value["values_left_out"] = json!(format!(
            "more than {MOST_VALUES} values or rows are not in JSON: write them to a file, \
             `-o {name}=FILE`"
        ));
    } else {
        add_values(tensor, &mut value);
    }
    value
}

/// The most arrays of one depth that hold the values of a dense tensor: of extents 10^9
/// and 0, there are 10^9 empty ones.
fn n_arrays(tensor: &Tensor) -> u64 {
    let [outer @ .., _] = tensor.extents() else {
        return 0;
    };
    let mut n = 1_u64;
    let of_depths = outer.iter().map(|extent| {
        n = n.saturating_mul(*extent);
        n
    });
    let most = of_depths.max().unwrap_or(0);
    if tensor.format().is_all_dense() {
        most
    } else {
        0
    }
}

fn add_values(tensor: &Tensor, value: &mut Value) {
    let entries = tensor.entries();
    let n = entries.len();
    if tensor.format().is_all_dense() {
        let mut all = vec![Value::Null; n];
        for (coords, value) in entries.iter() {
            let place = coords.iter().zip(tensor.extents());
            let place = place.fold(0, |place, (coord, extent)| place * extent + coord);
            all[place as usize] = scalar_value(value);
        }
        value["values"] = nested(tensor.extents(), &mut all.into_iter());
        return;
    }
    let coordinates = (0..n).map(|e| json!(entries.coords(e).to_vec()));
    let values = (0..n).map(|e| scalar_value(entries.values.get(e)));
    value["coordinates"] = coordinates.collect();
    value["values"] = values.collect();
}

/// An array of arrays, as deep as there are extents, the last mode fastest.
fn nested(extents: &[u64], values: &mut impl Iterator<Item = Value>) -> Value {
    match extents {
        [] => values.next().unwrap_or_default(),
        [extent, inner @ ..] => (0..*extent).map(|_| nested(inner, values)).collect(),
    }
}

/// A scalar as JSON; numbers that JSON lacks are text. A float has the digits that
/// its own type needs.
pub(crate) fn scalar_value(scalar: Scalar) -> Value {
    match scalar {
        Scalar::Bool(v) => json!(v),
        Scalar::I64(v) => json!(v),
        Scalar::U64(v) => json!(v),
        _ if scalar.element().is_integer() => json!(scalar.to_f64() as i64),
        _ => {
            let text = scalar.to_string();
            match text.parse::<f64>() {
                Ok(number) if number.is_finite() => json!(number),
                _ => json!(text),
            }
        }
    }
}

/// Results as JSON, each with the file that it goes to.
pub(crate) fn results<'t>(
    tensors: impl Iterator<Item = (&'t String, &'t Tensor)>,
    outputs: &[Pair],
    wanted: bool,
) -> Map<String, Value> {
    let result = |(name, tensor): (&String, &Tensor)| {
        let mut value = value(name, tensor, wanted);
        let file = outputs.iter().find(|pair| pair.name == *name);
        value["file"] = json!(file.map(|pair| &pair.value));
        (name.clone(), value)
    };
    tensors.map(result).collect()
}

/// Writes all files, or none; then what goes to standard output. Files that keep relations
/// get tensors that are `stored` as such.
///
/// # Errors
/// Those of [`io::stage`], shown where the file is named.
pub(crate) fn write<'t>(
    call: &Call,
    outputs: &[Pair],
    tensor: impl Fn(&str) -> &'t Tensor,
    stored: &BTreeMap<String, RelationTensor>,
    progress: &Progress,
) -> Result<()> {
    let mut complete = Vec::new();
    let mut printed = None;
    for pair in outputs {
        if pair.value == STREAM {
            printed = Some(pair);
            continue;
        }
        progress.step(format!("write {}", pair.value));
        let options = io::WriteOptions::default();
        let path = Path::new(&pair.value);
        let staged = match stored.get(&pair.name) {
            Some(relation) if io::keeps_relations(path) => {
                io::stage_relation(path, relation, &options)
            }
            _ => io::stage(path, tensor(&pair.name), &options),
        };
        complete.push(staged.map_err(|error| call.about_file(pair.value_span, error))?);
    }
    complete.into_iter().try_for_each(io::Staged::commit)?;
    match printed {
        None => Ok(()),
        Some(pair) => io::write_to_stdout(tensor(&pair.name), &io::WriteOptions::default())
            .map_err(|error| call.about_file(pair.value_span, error)),
    }
}

/// What to say of a file that does not state the extents of its tensor, where they do not
/// follow from its entries.
pub(crate) fn extents_note(
    path: &str,
    tensor: &Tensor,
    options: &io::WriteOptions,
) -> Option<String> {
    let (file_type, _) = io::written_type(Path::new(path)).ok()?;
    let is_tns = file_type.endings == io::tns::TYPE.endings;
    // The file is written: memory that is out keeps nothing but the note.
    let loses = is_tns && io::tns::loses_extents(tensor, options).unwrap_or(false);
    loses.then(|| {
        let extents = tensor.extents().iter().map(u64::to_string);
        let extents = extents.collect::<Vec<_>>().join(" x ");
        format!("`{path}` states no extents, and its entries do not reach all of {extents}")
    })
}

/// [`extents_note`] for each result that has a file.
pub(crate) fn extents_notes<'t>(
    outputs: &[Pair],
    tensor: impl Fn(&str) -> &'t Tensor,
) -> Vec<String> {
    let files = outputs.iter().filter(|pair| pair.value != STREAM);
    let options = io::WriteOptions::default();
    files
        .filter_map(|pair| {
            let note = extents_note(&pair.value, tensor(&pair.name), &options)?;
            Some(format!(
                "{note}; a `.mtx`, `.npz` or `.h5` file states them"
            ))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparsec::Format;

    #[test]
    fn json_has_the_values_of_small_tensors() {
        let columns = Format::parse("(i, j) -> (j : dense, i : dense)").expect("a format");
        let dense = Tensor::dense(&[2, 3], [1.0, 2.0, 3.0, 4.0, 5.0, f64::INFINITY]);
        let dense = dense.and_then(|it| it.convert(&columns)).expect("a tensor");
        let all = value("C", &dense, true);
        assert_eq!(all["values"], json!([[1.0, 2.0, 3.0], [4.0, 5.0, "inf"]]));
        assert_eq!(value("C", &dense, false).get("values"), None);
        let sparse = dense.convert(&Format::csr()).expect("a tensor");
        let all = value("C", &sparse, true);
        assert_eq!(all["coordinates"][5], json!([1, 2]));
        assert_eq!(all["values"][5], "inf");
        let large = Tensor::dense(&[10_001], vec![0.0; 10_001]).expect("a tensor");
        let all = value("C", &large, true);
        assert_eq!(all.get("values"), None);
        let why = all["values_left_out"].as_str().expect("a reason");
        assert!(why.contains("`-o C=FILE`"), "{why}");
        for extents in [&[1 << 40, 0][..], &[1 << 40, 0, 3], &[0, 1 << 40]] {
            let empty = Tensor::dense(extents, Vec::<f64>::new()).expect("a tensor");
            let is_cut = value("C", &empty, true).get("values").is_none();
            assert_eq!(is_cut, extents[0] > 0, "{extents:?}");
        }
    }

    #[test]
    fn floats_have_the_digits_of_their_type() {
        assert_eq!(scalar_value(Scalar::F32(0.1)).to_string(), "0.1");
        assert_eq!(scalar_value(Scalar::F64(0.1)).to_string(), "0.1");
        assert_eq!(scalar_value(Scalar::I8(-3)).to_string(), "-3");
        assert_eq!(scalar_value(Scalar::F64(f64::NAN)), "nan");
    }
}

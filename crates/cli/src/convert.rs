//! `sparsec convert`: a tensor from one file to another of any type, or from and to a
//! pipe.
//!
//! ```text
//! sparsec convert web.mtx web.npz
//! zcat web.mtx.gz | sparsec convert - web.npz
//! sparsec convert web.npz - | head
//! sparsec convert web.mtx web.npz --to 'bsr(4, 4)'
//! sparsec convert web.mtx web.npz --to mine.fmt
//! ```
//!
//! Values keep their bits, whatever the types of the files; a type of values
//! that would lose some is refused. The new file is complete before it takes
//! its name.

use std::path::Path;

use serde_json::json;
use sparsec::io::{self, ReadOptions, Structure, WriteOptions};
use sparsec::{Entries, Format, Options, PackOptions, Result, Session, Storage, Stored, Tensor};

use crate::arguments::ConvertArguments;
use crate::call::Call;
use crate::derivation::derivation;
use crate::files::{check_no_json, check_output, file_bytes, input_path};
use crate::operands::{default_format, list_format};
use crate::problem::suggest;
use crate::progress::Progress;
use crate::run::memory_limit;
use crate::screen::{Screen, complain};
use crate::spec::format_spec;
use crate::tensors::{STREAM, extents_note};

/// So many rows are never too many to have a position each.
const MANY_ROWS: u64 = 1 << 20;
/// What `--structure` takes.
const STRUCTURES: [(&str, bool); 2] = [("expand", false), ("keep", true)];

/// Reads one file and writes the other.
///
/// # Errors
/// `E00` for what is wrong with the call, `E0009` where both files are one, and
/// what is wrong with the files.
pub(crate) fn convert(
    call: &Call,
    screen: &mut Screen,
    arguments: &ConvertArguments,
) -> Result<u8> {
    let (Some(input), Some(to)) = (&arguments.input, arguments.output.as_deref()) else {
        return derivation(call, screen, arguments);
    };
    let from = input_path(input);
    let from_place = call.find_word(input).unwrap_or(call.end());
    let to_place = call.find_last_word(to).unwrap_or(call.end());
    let keep = keeps_structure(call, &arguments.structure)?;
    let element = call.element(arguments.element.as_deref())?;
    call.file_type(from, from_place)?;
    check_output(call, to, to_place)?;
    match to {
        STREAM => check_no_json(call, screen, to_place, "name a file to write")?,
        _ => call.check_apart((from, from_place), (to, to_place))?,
    }

    let n_steps = 2 + usize::from(arguments.to.is_some());
    let progress = Progress::new(n_steps, screen.is_json());
    progress.step(format!("read {from}"));
    let options = ReadOptions {
        element,
        ..progress.reading()
    };
    let file =
        io::read(Path::new(from), &options).map_err(|error| call.about_file(from_place, error))?;
    let structure = match keep {
        true => file.structure,
        false => Structure::General,
    };
    let of = |option: &str, text: &Option<String>, order: usize| {
        let text = text.as_deref();
        text.map(|text| storage_of(call, option, text, order))
            .transpose()
    };
    let order = file.extents().len();
    let given = of("from", &arguments.from, order)?;
    let wanted = of("to", &arguments.to, order)?;
    let memory = memory_limit(call, arguments.memory.as_deref())?;
    let session = Session::new(Options::from_env().memory(memory));
    let pack = |format: &Format, entries| {
        let options = PackOptions {
            memory,
            ..PackOptions::default()
        };
        let packed = Tensor::pack_entries(format, entries, options).map(Stored::Levels);
        let place = || match arguments.from {
            Some(_) => call.value_span("from", 0),
            None => from_place,
        };
        packed.map_err(|error| call.about_file(place(), error))
    };
    let (mut tensor, given) = match (file.content, given) {
        (io::Content::Tensor(tensor), given) => (Stored::Levels(tensor), given),
        (io::Content::Relation(tensor), given) => (Stored::Relation(tensor), given),
        (io::Content::Entries(entries), Some(Storage::Levels(format))) => {
            (pack(&format, entries)?, None)
        }
        (io::Content::Entries(entries), given) => {
            let is_list = given.is_some() || matches!(wanted, Some(Storage::Relation(_)));
            let format = match is_list {
                true => list_format(order),
                false => packed_format(&entries),
            };
            (pack(&format, entries)?, given)
        }
    };
    let mut notes = Vec::new();
    let options = ["from", "to"].into_iter().zip([&given, &wanted]);
    for (option, storage) in options.filter_map(|(option, it)| Some((option, it.as_ref()?))) {
        progress.step(format!("convert to {}", storage.short_name()));
        let padding = padding_note(&tensor, storage);
        let converted = session.convert_stored_owned(tensor, storage);
        let converted =
            converted.map_err(|error| call.about_file(call.value_span(option, 0), error))?;
        notes.extend(converted.notes);
        notes.extend(padding);
        tensor = converted.tensor;
    }
    let lists_entries = to == STREAM || io::lists_entries(Path::new(to));
    // Text lists the entries of a relation; files of other types keep levels.
    if let Stored::Relation(_) = &tensor
        && !io::keeps_relations(Path::new(to))
    {
        tensor = match lists_entries {
            true => {
                let list = Storage::Levels(list_format(order));
                session.convert_stored_owned(tensor, &list)?.tensor
            }
            false => Stored::Levels(session.levels_of(&tensor)?.into_owned()),
        };
    }
    // In a list of entries, places that only pad would read as entries.
    if let Stored::Levels(padded) = &tensor
        && lists_entries
        && padded.has_padding()
        && !padded.format().is_all_dense()
    {
        tensor = Stored::Levels(session.convert(padded, &list_format(order))?);
    }
    progress.step(format!("write {to}"));
    let options = WriteOptions {
        structure,
        states_extents: arguments.extents,
    };
    let written = match &tensor {
        Stored::Levels(tensor) if to == STREAM => io::write_to_stdout(tensor, &options),
        Stored::Levels(tensor) => {
            io::stage(Path::new(to), tensor, &options).and_then(io::Staged::commit)
        }
        Stored::Relation(tensor) => {
            io::stage_relation(Path::new(to), tensor, &options).and_then(io::Staged::commit)
        }
    };
    written.map_err(|error| call.about_file(to_place, error))?;
    drop(progress);
    if to != STREAM
        && let Stored::Levels(tensor) = &tensor
        && let Some(note) = extents_note(to, tensor, &options)
    {
        notes.push(format!("{note}; `--extents` states them"));
    }
    let asked = arguments.to.as_deref().zip(wanted.as_ref());
    notes.extend(asked.and_then(|(text, wanted)| format_note(to, text, wanted)));
    for note in notes.iter().filter(|_| !screen.is_json()) {
        complain(&format!("note: {note}"));
    }
    if to == STREAM {
        return Ok(0);
    }
    screen.answer(String::new, || {
        json!({
            "from": from,
            "to": to,
            "element": tensor.element().name(),
            "extents": tensor.extents(),
            "n_stored": tensor.n_stored(),
            "format": tensor.storage().short_name(),
            "notes": notes,
            "structure": structure.name(),
            "bytes": file_bytes(Path::new(to)),
        })
    })?;
    Ok(0)
}

/// A note if stored entries equal the fill and the new format has padding: a conversion back leaves
/// them out.
fn padding_note(before: &Stored, after: &Storage) -> Option<String> {
    let Stored::Levels(before) = before else {
        return None;
    };
    let may_pad = match after {
        Storage::Levels(format) => format.may_pad(),
        Storage::Relation(format) => format.descriptor().clauses().has_padding,
    };
    if before.has_padding() || !may_pad {
        return None;
    }
    // Most tensors have none, which their values alone show.
    let fill = before.fill();
    let mask = before.nonfill_mask().ok()?;
    let n = match mask.as_slice::<u8>().is_some_and(|mask| mask.contains(&0)) {
        true => before.iter().filter(|(_, value)| *value == fill).count(),
        false => 0,
    };
    let entries = match n {
        0 => return None,
        1 => "a stored entry equals".to_owned(),
        n => format!("{n} stored entries equal"),
    };
    let name = after.short_name();
    Some(format!(
        "{entries} the fill, {fill}, and `{name}` has such padding: a conversion back leaves them out"
    ))
}

/// A note if the new file does not keep the format that `--to` names with `text`. A list of entries, and
/// a dense tensor, are what text files state.
fn format_note(to: &str, text: &str, wanted: &Storage) -> Option<String> {
    let keeps = match wanted {
        Storage::Levels(format) => {
            let order = format.order();
            let lists = [Format::coo(order), Format::scoo(order)];
            let is_text = to == STREAM || io::lists_entries(Path::new(to));
            !is_text || format.is_all_dense() || lists.iter().any(|list| format.stores_like(list))
        }
        Storage::Relation(_) => io::keeps_relations(Path::new(to)),
    };
    let file = match to {
        STREAM => "standard output".to_owned(),
        file => format!("`{file}`"),
    };
    let name = match wanted {
        Storage::Levels(_) => text,
        Storage::Relation(format) => format.name(),
    };
    (!keeps).then(|| format!("{file} does not keep the format `{name}`: `.npz` files keep formats"))
}

/// How an option says that tensors of an order are stored.
fn storage_of(call: &Call, option: &str, text: &str, order: usize) -> Result<Storage> {
    let place = call.value_span(option, 0);
    let spec = format_spec(call, "format", text, place)?;
    spec.storage(order)
        .map_err(|error| error.or_at(call.source(), place, "named here"))
}

/// The format that entries of a text file are packed in: the one that operands
/// get, but for matrices of which most rows are empty. Of those a list is
/// smaller, and there may be more rows than fit into memory.
fn packed_format(entries: &Entries) -> Format {
    let order = entries.order();
    let rows = entries.extents.first().copied().unwrap_or(0);
    let has_many_rows = order == 2 && rows > MANY_ROWS && rows / 8 > entries.len() as u64;
    match has_many_rows {
        true => list_format(order),
        false => default_format(order),
    }
}

/// Whether a structure that the one file states is stated by the other.
fn keeps_structure(call: &Call, wanted: &str) -> Result<bool> {
    let found = STRUCTURES.iter().find(|(name, _)| *name == wanted);
    found.map(|(_, keep)| *keep).ok_or_else(|| {
        let message = format!("`--structure` does not take `{wanted}`");
        let names = STRUCTURES.map(|(name, _)| name);
        suggest(call.bad_value("structure", message), wanted, &names)
    })
}

//! `sparsec info`: what a file holds, and which format would suit it.
//!
//! ```text
//! file ─► tensor ─► statistics ─┬─► facts, histograms, memory    (text)
//!                               ├─► all numbers                  (--json)
//!                               └─► choice of a format
//!         tensor ─► spy plot: in the terminal, or as a file
//! ```
//!
//! What is counted stands in [`sparsec::internals::statistics`], how a format is chosen in
//! [`sparsec::internals::choice`].

use std::io::Write as _;
use std::path::Path;

use sparsec::internals::choice::Choice;
use sparsec::internals::statistics::Statistics;
use sparsec::io::{self, Compression, Content, FileTensor, Output, ReadOptions, Structure};
use sparsec::{Diagnostic, PackOptions, Result, Span, Storage, Tensor, code};

use crate::arguments::InfoArguments;
use crate::call::Call;
use crate::files::{check_folder, file_bytes, input_path};
use crate::operands::list_format;
use crate::progress::Progress;
use crate::screen::{Screen, width};
use crate::spy::{self, Spy};

mod json;
mod text;

/// A file and what is known of it.
#[derive(Debug)]
struct Info<'a> {
    /// The path as it was given.
    path: &'a str,
    /// What such files hold.
    summary: &'static str,
    /// Bytes of the file.
    bytes: Option<u64>,
    /// The structure that the file states.
    structure: Structure,
    /// How many entries it has, mirror images not counted.
    n_stated: u64,
    /// Whether it states its extents.
    states_extents: bool,
    /// The format of the arrays in the file, where it holds arrays.
    stored: Option<Storage>,
    tensor: &'a Tensor,
    statistics: &'a Statistics,
    choice: Choice,
}

/// Reads a file and prints what it holds.
///
/// # Errors
/// What is wrong with the file; `E0004` and `E0005` for a plot that cannot be
/// made.
pub(crate) fn info(call: &Call, screen: &mut Screen, arguments: &InfoArguments) -> Result<u8> {
    let place = call.find_word(&arguments.file).unwrap_or(call.end());
    let path = input_path(&arguments.file);
    let element = call.element(arguments.element.as_deref())?;
    call.file_type(path, place)?;
    let plot = arguments
        .plot
        .as_deref()
        .map(|plot| Plot::new(call, plot, (path, place)))
        .transpose()?;

    let progress = Progress::new(2, screen.is_json());
    progress.step(format!("read {path}"));
    let options = ReadOptions {
        element,
        ..progress.reading()
    };
    let read = io::read_typed(Path::new(path), &options);
    let (file_type, file) = read.map_err(|error| call.about_file(place, error))?;
    progress.step("count".to_owned());
    let (structure, n_stated) = (file.structure, file.n_stored);
    let (states_extents, stored) = (file.states_extents, stored_format(&file));
    let tensor = into_tensor(file)?;
    let statistics = tensor.statistics()?;
    let info = Info {
        path,
        summary: file_type.summary,
        bytes: file_bytes(Path::new(path)),
        structure,
        n_stated,
        states_extents,
        stored,
        tensor: &tensor,
        statistics,
        choice: tensor.choose()?,
    };
    if let Some(plot) = &plot {
        progress.step(format!("write {}", plot.path));
        plot.write(call, &info)?;
    }
    drop(progress);
    screen.answer(
        || {
            let picture = Spy::braille(&tensor, width()).filter(|_| plot.is_none());
            info.text(picture.as_deref())
        },
        || info.value(),
    )?;
    Ok(0)
}

/// The format of the arrays in a file, where it holds arrays.
fn stored_format(file: &FileTensor) -> Option<Storage> {
    match &file.content {
        Content::Entries(_) => None,
        Content::Tensor(tensor) => Some(Storage::Levels(tensor.format().clone())),
        Content::Relation(tensor) => Some(Storage::Relation(tensor.format().clone())),
    }
}

/// The tensor of a file: arrays as they are, entries as a list in order, which
/// takes memory for entries whatever the extents are.
fn into_tensor(file: FileTensor) -> Result<Tensor> {
    match file.content {
        Content::Tensor(tensor) => Ok(tensor),
        Content::Entries(entries) => {
            let list = list_format(entries.order());
            Tensor::pack_entries(&list, entries, PackOptions::default())
        }
        Content::Relation(tensor) => {
            let list = list_format(tensor.order());
            Tensor::pack_entries(&list, tensor.entries()?, PackOptions::default())
        }
    }
}

/// A picture to write.
struct Plot<'a> {
    path: &'a str,
    place: Span,
    kind: Kind,
}

enum Kind {
    Svg,
    Png,
}

impl<'a> Plot<'a> {
    /// The picture that a path names, checked before anything is read.
    fn new(call: &Call, path: &'a str, input: (&str, Span)) -> Result<Self> {
        let place = call.value_span("plot", 0);
        let ending = Path::new(path).extension().unwrap_or_default();
        let kind = match ending.to_ascii_lowercase().to_str() {
            Some("svg") => Kind::Svg,
            Some("png") => Kind::Png,
            _ => {
                let message = format!("`--plot` does not know what to write to `{path}`");
                return Err(call
                    .bad_value("plot", message)
                    .help("pictures end in `.svg` or `.png`"));
            }
        };
        call.check_apart(input, (path, place))?;
        check_folder(Path::new(path)).map_err(|error| call.about_file(place, error))?;
        Ok(Self { path, place, kind })
    }

    fn write(&self, call: &Call, info: &Info<'_>) -> Result<()> {
        let picture = match self.kind {
            Kind::Svg => spy::svg(info.tensor, &info.headline()).map(Ok),
            Kind::Png => spy::png(info.tensor),
        };
        let Some(picture) = picture else {
            let message = format!("there is nothing to plot in `{}`", info.path);
            return Err(Diagnostic::new(code::DOES_NOT_APPLY, message)
                .at(call.source(), self.place, "not for this tensor")
                .note("a picture has the first mode down and the second across")
                .help("leave `--plot` out"));
        };
        let path = Path::new(self.path);
        let staged = Output::stage(path, Compression::None, |output| {
            output.write_all(&picture?)
        });
        staged
            .and_then(io::Staged::commit)
            .map_err(|error| call.about_file(self.place, error))
    }
}

impl Info<'_> {
    /// Type, extents and number of entries in a few words.
    fn headline(&self) -> String {
        let extents: Vec<String> = self.statistics.extents.iter().map(u64::to_string).collect();
        format!(
            "{}: {}[{}], {}",
            self.path,
            self.tensor.element(),
            extents.join(", "),
            crate::table::counted_entries(self.statistics.n_entries),
        )
    }
}

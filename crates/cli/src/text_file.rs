//! Files of text that the call names: descriptors and other programs.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use sparsec::{Diagnostic, Result, Source, Span, code, io};

use crate::call::Call;
use crate::files::input_path;

/// The longest text that is read.
const MOST_TEXT: u64 = 1 << 24;

/// The text of a file, or of standard input if the path is `-`, up to [`MOST_TEXT`] bytes.
///
/// # Errors
/// `E0420` for what cannot be read, or is no text.
pub(crate) fn read_source(call: &Call, path: &str, place: Span) -> Result<Source> {
    let path = input_path(path);
    let cannot = |why: String| {
        let message = format!("cannot read `{path}`: {why}");
        call.about_file(place, Diagnostic::new(code::CANNOT_READ_FILE, message))
    };
    let file = File::open(path)
        .map_err(|error| call.about_file(place, io::cannot_read(Path::new(path), &error)))?;
    let mut bytes = Vec::new();
    let read = file.take(MOST_TEXT + 1).read_to_end(&mut bytes);
    read.map_err(|error| cannot(error.to_string()).help("name a file"))?;
    if bytes.len() as u64 > MOST_TEXT {
        return Err(cannot(format!("it has more than {MOST_TEXT} bytes"))
            .help("name a file of text in one of the languages of sparsec"));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Source::new(path, text)),
        Err(fault) => {
            let valid = fault.utf8_error().valid_up_to();
            let (before, byte) = (&fault.as_bytes()[..valid], fault.as_bytes()[valid]);
            let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
            let why = format!("it is no text in UTF-8: line {line} has the byte 0x{byte:02x}");
            Err(cannot(why).help("name a file of text, or store this one as UTF-8"))
        }
    }
}

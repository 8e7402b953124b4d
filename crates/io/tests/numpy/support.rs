//! What the tests have in common: files made of parts, and what they read as.

use std::fmt::Write as _;
use std::io::Write as _;

use sparsec_base::{Code, Diagnostic};
use sparsec_io::npz::ArchiveWriter;
use sparsec_io::{Content, FileTensor, Input, ReadOptions, file_type, write};
use sparsec_tensor::{Array, Tensor};

/// The bytes of a file of this name with this tensor.
pub(crate) fn written(name: &str, tensor: &Tensor) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    write(&path, tensor).unwrap_or_else(|fault| panic!("{fault}"));
    std::fs::read(&path).unwrap()
}

/// What a file of this name with these bytes holds.
pub(crate) fn read(name: &str, bytes: &[u8]) -> Result<FileTensor, Diagnostic> {
    let (file_type, _) = file_type(name.as_ref())?;
    let input = Input::from_bytes(name, bytes.to_vec());
    (file_type.read)(&input, &ReadOptions::default())
}

/// An archive of these arrays.
pub(crate) fn archive(
    build: impl FnOnce(&mut ArchiveWriter<Vec<u8>>) -> std::io::Result<()>,
) -> Vec<u8> {
    let mut writer = ArchiveWriter::new(Vec::new());
    build(&mut writer).unwrap();
    writer.finish().unwrap()
}

/// A list of numbers.
pub(crate) fn list<T: sparsec_tensor::Element>(values: &[T]) -> Array {
    Array::from_vec(values.to_vec())
}

/// An archive of deflated members.
pub(crate) fn deflated(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = rawzip::ZipArchiveWriter::new(Vec::new());
    for (name, bytes) in members {
        let file = zip
            .new_file(*name)
            .compression_method(rawzip::CompressionMethod::DEFLATE);
        let (mut entry, config) = file.start().unwrap();
        let encoder = flate2::write::DeflateEncoder::new(&mut entry, flate2::Compression::fast());
        let mut writer = config.wrap(encoder);
        writer.write_all(bytes).unwrap();
        let (encoder, end) = writer.finish().unwrap();
        encoder.finish().unwrap();
        entry.finish(end).unwrap();
    }
    zip.finish().unwrap()
}

/// A `.npy` file with this header.
pub(crate) fn npy(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend([version, 0]);
    match version {
        1 => bytes.extend((header.len() as u16).to_le_bytes()),
        _ => bytes.extend((header.len() as u32).to_le_bytes()),
    }
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

/// What a file holds, entry by entry, as `i j: v`.
pub(crate) fn shown(name: &str, bytes: &[u8]) -> String {
    let file = read(name, bytes).unwrap_or_else(|fault| panic!("{fault}"));
    let kind = match &file.content {
        Content::Entries(_) => "entries".to_owned(),
        Content::Tensor(tensor) => tensor.format().short_name(),
        Content::Relation(tensor) => tensor.format().name().to_owned(),
    };
    let mut text = format!("{kind} {:?}", file.extents());
    for (coords, value) in file.into_entries().unwrap().iter() {
        let coords: Vec<String> = coords.iter().map(|c| c.to_string()).collect();
        let _ = write!(text, ", {}: {value}", coords.join(" "));
    }
    text
}

/// Blocks of 2 x 3 at (0, 3) and (2, 0) of a matrix of 4 x 6.
pub(crate) fn bsr() -> Vec<u8> {
    archive(|out| {
        out.ascii("format", "bsr")?;
        out.list("shape", &list(&[4i64, 6]))?;
        out.list("indptr", &list(&[0i32, 1, 2]))?;
        out.list("indices", &list(&[1i32, 0]))?;
        let values: Vec<i16> = (0..12).collect();
        out.array("data", &[2, 2, 3], &list(&values))
    })
}

/// A matrix by rows as SciPy saves it.
pub(crate) fn csr(shape: &[i64], indptr: &[i64], indices: &[i32], data: &[f32]) -> Vec<u8> {
    archive(|out| {
        out.ascii("format", "csr")?;
        out.list("shape", &list(shape))?;
        out.list("indptr", &list(indptr))?;
        out.list("indices", &list(indices))?;
        out.list("data", &list(data))
    })
}

/// Reads a damaged file and looks for the code and a part of the message.
pub(crate) fn refused(name: &str, bytes: &[u8], code: Code, part: &str) {
    let fault = read(name, bytes).expect_err(part);
    let text = fault.to_string();
    assert_eq!(fault.code(), code, "{text}");
    assert!(text.contains(part), "`{part}` is not in: {text}");
}

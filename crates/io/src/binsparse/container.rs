//! Where descriptor and arrays lie: groups of HDF5 files, members of archives.

use std::io::{self, Write};

use sparsec_base::{Diagnostic, Result, code};
use sparsec_tensor::Array;

use super::DESCRIPTOR;
use crate::hdf5;
use crate::npz::{Archive, ArchiveWriter};

/// A container that is read.
pub(super) trait Source {
    /// What it is called in messages.
    fn name(&self) -> String;
    /// The text of the descriptor.
    fn descriptor(&self) -> Result<String>;
    /// The list of numbers called `name`; `None` where there is none.
    fn array(&self, name: &str) -> Result<Option<Array>>;
}

/// A container that is written: the arrays first, then the descriptor.
pub(super) trait Sink {
    /// Adds a list of numbers.
    fn array(&mut self, name: &str, values: &Array) -> io::Result<()>;
    /// Adds the descriptor, which completes the container.
    fn finish(self, descriptor: &str) -> io::Result<()>;
}

/// A group of an HDF5 file that has a descriptor.
pub(super) struct Group<'a> {
    file: &'a hdf5::File,
    path: String,
    descriptor: String,
}

impl<'a> Group<'a> {
    /// The group that is asked for; else the root, or the one group below it that
    /// has a descriptor.
    ///
    /// # Errors
    /// `E0460` where none has one, or several do.
    pub(super) fn find(file: &'a hdf5::File, wanted: Option<&str>) -> Result<Self> {
        if let Some(wanted) = wanted {
            return Self::named(file, wanted);
        }
        if let Some(descriptor) = file.attribute("", DESCRIPTOR)? {
            return Ok(Self {
                file,
                path: String::new(),
                descriptor,
            });
        }
        let mut found = Self::below(file)?;
        if found.len() == 1 {
            let (path, descriptor) = found.remove(0);
            return Ok(Self {
                file,
                path,
                descriptor,
            });
        }
        let missing = |message| Diagnostic::new(code::NO_BINSPARSE, message);
        if found.is_empty() {
            let message = format!("`{}` has no attribute `{DESCRIPTOR}`", file.name());
            return Err(missing(message)
                .note("neither its root nor a group below it says what the arrays mean")
                .help("write it as Binsparse, for example with Python's `binsparse`"));
        }
        let message = format!("`{}` holds {} tensors", file.name(), found.len());
        let paths: Vec<String> = found.iter().map(|(path, _)| format!("`{path}`")).collect();
        Err(missing(message)
            .note(format!("they are in the groups {}", paths.join(", ")))
            .help(format!(
                "name the one that you mean: `{}:{}`",
                file.name(),
                found[0].0
            )))
    }

    /// The group of this path.
    fn named(file: &'a hdf5::File, wanted: &str) -> Result<Self> {
        let path = wanted.trim_matches('/');
        if let Ok(Some(descriptor)) = file.attribute(path, DESCRIPTOR) {
            return Ok(Self {
                file,
                path: path.to_owned(),
                descriptor,
            });
        }
        let message = format!("`{}` has no tensor in a group `{wanted}`", file.name());
        let below = Self::below(file)?;
        let paths: Vec<String> = below.iter().map(|(path, _)| format!("`{path}`")).collect();
        let error = Diagnostic::new(code::NO_BINSPARSE, message);
        match paths.is_empty() {
            true => Err(error.help("name the file alone, to read what its root holds")),
            false => Err(error.help(format!("name a group that holds one: {}", paths.join(", ")))),
        }
    }

    /// The groups below the root that have a descriptor, with it.
    fn below(file: &hdf5::File) -> Result<Vec<(String, String)>> {
        let mut found = Vec::new();
        for path in file.groups()? {
            if let Some(descriptor) = file.attribute(&path, DESCRIPTOR)? {
                found.push((path, descriptor));
            }
        }
        Ok(found)
    }
}

impl Source for Group<'_> {
    fn name(&self) -> String {
        self.file.name().to_owned()
    }

    fn descriptor(&self) -> Result<String> {
        Ok(self.descriptor.clone())
    }

    fn array(&self, name: &str) -> Result<Option<Array>> {
        self.file.array(&self.path, name)
    }
}

impl Sink for hdf5::Writer {
    fn array(&mut self, name: &str, values: &Array) -> io::Result<()> {
        hdf5::Writer::array(self, name, values.element(), values.as_bytes())
    }

    fn finish(mut self, descriptor: &str) -> io::Result<()> {
        self.attribute(DESCRIPTOR, descriptor)?;
        hdf5::Writer::finish(self)
    }
}

/// The members of an archive.
pub(super) struct Members<'a>(pub(super) &'a Archive<'a>);

impl Source for Members<'_> {
    fn name(&self) -> String {
        self.0.name().to_owned()
    }

    fn descriptor(&self) -> Result<String> {
        if self.0.has(DESCRIPTOR) {
            return self.0.text(DESCRIPTOR);
        }
        let message = format!("`{}` has no member `{DESCRIPTOR}`", self.0.name());
        Err(Diagnostic::new(code::NO_BINSPARSE, message)
            .help("if it is an archive of NumPy or SciPy, rename it to end in `.npz` alone"))
    }

    fn array(&self, name: &str) -> Result<Option<Array>> {
        if !self.0.has(name) {
            return Ok(None);
        }
        self.0.array(name)?.into_list().map(Some).map_err(|shape| {
            let message = format!("`{name}` has the shape {shape}");
            Diagnostic::new(code::BINSPARSE_ARRAY, message)
                .help("write the array with one extent, as `x.reshape(-1)`")
        })
    }
}

impl<W: Write> Sink for ArchiveWriter<W> {
    fn array(&mut self, name: &str, values: &Array) -> io::Result<()> {
        self.list(name, values)
    }

    fn finish(mut self, descriptor: &str) -> io::Result<()> {
        self.text(DESCRIPTOR, descriptor)?;
        ArchiveWriter::finish(self)?.flush()
    }
}

//! The surroundings of a program: kernels, conversions, files, printing.

use std::rc::Rc;

use sparsec_base::{ElementType, Result};
use sparsec_format::Format;
use sparsec_tensor::{Entries, Tensor};

use crate::kernel::Kernel;

/// The content of a tensor file.
#[derive(Clone, Debug)]
pub struct FileContent {
    /// The entries in the order of the file; behind them, mirror images if they were asked for.
    pub entries: Entries,
    /// Whether the file has one triangle of a symmetric matrix.
    pub is_symmetric: bool,
}

/// The surroundings of a running program.
pub trait Host {
    /// Prints text to the program's output.
    ///
    /// # Errors
    /// If the output takes no more.
    fn print(&mut self, text: &str) -> Result<()>;

    /// The value of an environment variable, such as `TENSOR0`.
    fn variable(&mut self, name: &str) -> Option<String>;

    /// The content of a tensor file with values of this type, or of the file's own. `mirrored` asks
    /// for both triangles of a symmetric matrix, of which a file has one.
    ///
    /// # Errors
    /// Those of the file.
    fn read(
        &mut self,
        path: &str,
        element: Option<ElementType>,
        mirrored: bool,
    ) -> Result<FileContent>;

    /// Writes a tensor to a file in the extended FROSTT format, or prints it if there is no path.
    ///
    /// # Errors
    /// Those of the file.
    fn write(&mut self, path: Option<&str>, tensor: &Tensor) -> Result<()>;

    /// As [`write`](Self::write), for entries, which keep their order and are not added up.
    ///
    /// # Errors
    /// Those of the file.
    fn write_entries(&mut self, path: Option<&str>, entries: Entries) -> Result<()>;

    /// The results of a kernel, in the order of its statements after the inner ones, for operands in
    /// the order of its inputs.
    ///
    /// # Errors
    /// Those of planning and running it.
    fn compute(&mut self, kernel: &Kernel, operands: &[Rc<Tensor>]) -> Result<Vec<Tensor>>;

    /// The same tensor in another format. Stored entries stay stored, zeros too.
    ///
    /// # Errors
    /// Those of the conversion.
    fn convert(&mut self, tensor: &Tensor, format: &Format) -> Result<Tensor>;

    /// The time in seconds since some fixed moment.
    fn seconds(&mut self) -> f64;

    /// Called before each operation, for hosts that limit programs.
    ///
    /// # Errors
    /// A reason to end the program.
    fn poll(&mut self) -> Result<()> {
        Ok(())
    }
}

//! The options of `sparsec mlir`.

use clap::{ArgAction, Args};

#[derive(Debug, Args)]
pub(crate) struct MlirArguments {
    /// The file of the program; - is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: String,

    /// mlir: the program; generic: in the generic form; encodings: how its sparse tensors
    /// are stored; index, concrete, schedule, loop, c: its kernels; sparsified: their loops as a
    /// module of scf and memref; may be given several times
    #[arg(long, value_name = "STAGE", action = ArgAction::Append)]
    pub(crate) emit: Vec<String>,

    /// Run a function without arguments, such as main, and print its output.
    /// Tensor files are those of the variables TENSOR0, TENSOR1, …
    #[arg(long, value_name = "FUNCTION", conflicts_with_all = ["emit", "to_dialect"])]
    pub(crate) run: Option<String>,

    /// How many threads kernels run on; one for each processor if not given
    #[arg(long, value_name = "N", requires = "run")]
    pub(crate) threads: Option<String>,

    /// Compute in the order of the program: no factor leaves a sum
    #[arg(long)]
    pub(crate) strict: bool,

    /// The dialect that the file is written in: 13 to 20 for that release, sparsec for the
    /// words of all, auto to have the file tell
    #[arg(long, value_name = "DIALECT", default_value = "auto")]
    pub(crate) dialect: String,

    /// The dialect to write it in; that of the file if not given
    #[arg(long, value_name = "DIALECT")]
    pub(crate) to_dialect: Option<String>,
}

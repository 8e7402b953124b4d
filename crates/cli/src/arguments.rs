//! Every command and option, defined once: parsing, help and the names in
//! diagnostics come from here.

mod mlir;

use clap::{ArgAction, Args, FromArgMatches, Parser, Subcommand};

use crate::examples::{
    COMPILE_EXAMPLES, COMPLETIONS_EXAMPLES, CONVERT_EXAMPLES, ENVIRONMENT, FORMATS_EXAMPLES,
    INFO_EXAMPLES, MLIR_EXAMPLES, PLAN_EXAMPLES, RELATIONS_EXAMPLES, RUN_EXAMPLES, emit_help,
    relations_emit_help,
};

pub(crate) use mlir::MlirArguments;

/// A compiler for sparse tensors.
///
/// Say what to compute in index notation, and how each tensor is stored;
/// sparsec plans the loops, compiles them, and runs them on files.
#[derive(Debug, Parser)]
#[command(
    name = "sparsec",
    version,
    after_help = ENVIRONMENT,
    disable_help_subcommand = false,
    arg_required_else_help = false
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Print JSON: the answer on stdout, diagnostics on stderr, one object a line
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Compute an expression on files and generated tensors
    #[command(after_help = RUN_EXAMPLES)]
    Run(RunArguments),
    /// Show what an expression becomes: C, loops, or any stage before
    #[command(after_help = COMPILE_EXAMPLES)]
    Compile(CompileArguments),
    /// Show how an expression is planned, with stated sizes and counts or on files
    #[command(after_help = PLAN_EXAMPLES)]
    Plan(CompileArguments),
    /// Transform a computation over relations; print any stage of it, or run it
    #[command(alias = "compute", after_help = RELATIONS_EXAMPLES)]
    Relations(RelationsArguments),
    /// Read a program of MLIR's sparse_tensor dialect; print it, or rewrite it for a release
    #[command(after_help = MLIR_EXAMPLES)]
    Mlir(MlirArguments),
    /// Show what a file holds: size, structure, how entries spread, what format suits
    #[command(after_help = INFO_EXAMPLES)]
    Info(InfoArguments),
    /// Store the tensor of a file in another format, or as another type of file
    #[command(after_help = CONVERT_EXAMPLES)]
    Convert(ConvertArguments),
    /// List the formats that have names and the kinds of levels, or describe one format
    #[command(after_help = FORMATS_EXAMPLES)]
    Formats {
        /// The format to describe: a preset, a map of levels, or a file.fmt
        format: Option<String>,

        /// relation: its descriptor; isl: its map in the syntax of ISL; drawing: a small tensor in it; relation and drawing if not given
        #[arg(long, value_name = "STAGE", action = ArgAction::Append, requires = "format")]
        emit: Vec<String>,

        /// The number of modes, for presets that fit any; 2 if not given
        #[arg(long, value_name = "N", requires = "format")]
        order: Option<String>,
    },
    /// Explain a diagnostic code
    Explain {
        /// The code, such as E0203
        code: String,
    },
    /// Show or empty the cache of compiled kernels
    Cache {
        #[command(subcommand)]
        what: CacheCommand,
    },
    /// Time kernels beside C written by hand, in one run
    Bench(BenchArguments),
    /// Show what sparsec finds on this machine, and try each backend
    Doctor,
    /// Print the completions of a shell
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions {
        /// bash, elvish, fish, powershell or zsh
        shell: String,
    },
    /// Print the manual page
    Man,
}

#[derive(Clone, Copy, Debug, Subcommand)]
pub(crate) enum CacheCommand {
    /// Print its directory
    Path,
    /// Count its kernels and bytes
    Stat,
    /// Remove every kernel
    Clear,
}

/// What `run` and `compile` say of an expression.
#[derive(Debug, Args)]
pub(crate) struct ProblemArguments {
    /// Index notation, such as 'y(i) = A(i,j) * x(j)', or an einsum of operand0, operand1, …:
    /// 'ij,j->i'
    pub(crate) expression: String,

    /// How a tensor is stored: a preset such as csr, or a map of levels
    #[arg(short = 'f', long = "format", value_name = "NAME=FORMAT", action = ArgAction::Append)]
    pub(crate) formats: Vec<String>,

    /// How far an index variable runs
    #[arg(short = 'd', long = "extent", value_name = "INDEX=EXTENT", action = ArgAction::Append)]
    pub(crate) extents: Vec<String>,

    /// The type of a tensor's entries: f64, f32, i32, bool, c64, …
    #[arg(short = 't', long = "type", value_name = "NAME=TYPE", action = ArgAction::Append)]
    pub(crate) types: Vec<String>,

    /// Define a function: 'gauss(x) = exp(-x*x)', with properties behind a colon
    ///
    /// 'plus_mod7(a, b) = (a + b) % 7 : associative, commutative, identity 0' also
    /// reduces: plus_mod7{k}(…). Other properties: idempotent, annihilator V.
    #[arg(long = "define", value_name = "DEFINITION", action = ArgAction::Append)]
    pub(crate) definitions: Vec<String>,

    /// Commands to use in place of those that planning would choose
    ///
    /// What they leave open is planned. In a program of several statements a command
    /// is for the one that has what it names, or for that of the name before it:
    /// C: reorder(i, k, j)  y: split(i, i0, i1, 32). Several -s are one schedule, in
    /// their order.
    #[arg(short = 's', long, value_name = "COMMANDS", action = ArgAction::Append)]
    pub(crate) schedule: Vec<String>,

    /// Contract products as they are parenthesised: A*B*C as (A*B)*C
    ///
    /// Without it, planning chooses which tensors of a product are multiplied first.
    #[arg(long)]
    pub(crate) keep_tree: bool,

    /// What products of three tensors and more are planned for: time, or order (the least
    /// order of intermediates)
    #[arg(long, value_name = "OBJECTIVE")]
    pub(crate) objective: Option<String>,

    /// The highest order that an intermediate may have with --objective order
    #[arg(long, value_name = "L", allow_negative_numbers = true)]
    pub(crate) max_order: Option<String>,

    /// Who finds their loops: search, or z3 (the executable, for the least order)
    #[arg(long, value_name = "PLANNER")]
    pub(crate) planner: Option<String>,

    /// Print how long each pass over the loops takes
    #[arg(long)]
    pub(crate) time_passes: bool,

    /// Compute with floating-point numbers in the order of the source
    ///
    /// Without it, a factor that a sum does not depend on is multiplied after the sum:
    /// the same up to rounding, but a stored infinity may give inf where NaN is due.
    /// The commands of a schedule are followed all the same.
    #[arg(long)]
    pub(crate) strict: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(crate) problem: ProblemArguments,

    #[command(flatten)]
    pub(crate) operands: OperandArguments,

    #[command(flatten)]
    pub(crate) results: ResultArguments,
}

/// The sources of the operands of `run` and `compile`, and how much memory they may use.
#[derive(Debug, Args)]
pub(crate) struct OperandArguments {
    /// Read a tensor from a file: .mtx, .tns, .npz, … (text also as .gz and .zst); all.h5:web is a group; - is standard input
    #[arg(short = 'i', long = "input", value_name = "NAME=FILE", action = ArgAction::Append)]
    pub(crate) inputs: Vec<String>,

    /// Fill a tensor: dense:ones, random(density=0.01, seed=1), 2.5, …
    ///
    /// A number fills every entry: 2, -2.5, .5, 1e-3, inf, -inf or nan. Other
    /// generators: dense:zeros, dense:ones, dense:iota, dense:uniform(seed=1),
    /// random(density=0.01, seed=1) or random(nnz=1000), band(width=5), identity.
    /// The random ones take values=uniform, values=int or values=ones.
    #[arg(short = 'g', long = "generate", value_name = "NAME=GENERATOR", action = ArgAction::Append)]
    pub(crate) generators: Vec<String>,

    /// How many threads read, pack, compute and write; one for each processor if not given
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) threads: Option<String>,

    /// How much memory operands, results and workspaces may take, as in 64G; what is left if not given
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true)]
    pub(crate) memory: Option<String>,
}

/// What `run` does with results, and how it gets them.
#[derive(Debug, Args)]
pub(crate) struct ResultArguments {
    /// Write a result, or a tensor computed on the way, to a file; - is standard output
    ///
    /// NAME=- writes every stored entry to standard output as text, a matrix as .mtx
    /// and any other tensor as .tns; - alone does so with the only result. All else
    /// that is printed then goes to standard error.
    #[arg(short = 'o', long = "output", value_name = "NAME=FILE", action = ArgAction::Append)]
    pub(crate) outputs: Vec<String>,

    /// Print every tensor that is computed, those written to files and those that
    /// later statements read too
    #[arg(long, conflicts_with = "quiet")]
    pub(crate) print: bool,

    /// Print no tensors
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// What runs kernels: auto, c (compiled C), cranelift (at once, no compiler) or
    /// interp (slow, checks every access)
    #[arg(long, value_name = "BACKEND", default_value = "auto")]
    pub(crate) backend: String,

    /// Compute the values this many times, for timing; a conversion of an operand, which
    /// is made once, is weighed against so many
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) repeat: Option<String>,

    /// Print where the time went
    #[arg(long)]
    pub(crate) time: bool,

    /// Print why the plan is what it is: estimates, what else there was, and what came of it
    #[arg(long)]
    pub(crate) explain: bool,

    /// Compare every result with an independent evaluator
    #[arg(long)]
    pub(crate) check: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompileArguments {
    #[command(flatten)]
    pub(crate) problem: ProblemArguments,

    #[command(flatten)]
    pub(crate) operands: OperandArguments,

    /// What to print; may be given several times
    #[arg(long, value_name = "STAGE", action = ArgAction::Append, long_help = emit_help())]
    pub(crate) emit: Vec<String>,

    /// How many entries a tensor is planned for that is not given
    #[arg(short = 'n', long = "entries", value_name = "NAME=COUNT", action = ArgAction::Append)]
    pub(crate) entries: Vec<String>,

    /// What kernels for C programs are called in place of their result: evaluate_NAME
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// The options that `run` alone uses. `compile` accepts and ignores them: a user
    /// changes one word of a command line to see the kernel that it runs.
    #[command(flatten)]
    pub(crate) results: Unused<ResultArguments>,
}

/// Options that a command takes and checks, and neither uses nor shows in its help.
#[derive(Debug)]
pub(crate) struct Unused<T>(pub(crate) T);

impl<T: Args> Args for Unused<T> {
    fn augment_args(command: clap::Command) -> clap::Command {
        let options = T::augment_args(clap::Command::new("unused"));
        let options = options
            .get_arguments()
            .map(|option| option.clone().hide(true));
        command.args(options.collect::<Vec<_>>())
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl<T: FromArgMatches> FromArgMatches for Unused<T> {
    fn from_arg_matches(matches: &clap::ArgMatches) -> Result<Self, clap::Error> {
        T::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

#[derive(Debug, Args)]
pub(crate) struct RelationsArguments {
    /// The file of the computation; with -f, index notation to make one of
    #[arg(value_name = "FILE")]
    pub(crate) file: String,

    /// An operand of the expression whose format is a relation: A=jds.fmt
    #[arg(short = 'f', long = "format", value_name = "NAME=FILE", action = ArgAction::Append)]
    pub(crate) formats: Vec<String>,

    /// The type of a tensor of the expression, or of an index array: A_ptr=i64
    #[arg(short = 't', long = "type", value_name = "NAME=TYPE", action = ArgAction::Append, requires = "formats")]
    pub(crate) types: Vec<String>,

    /// Transformations to make: their text, @FILE, or auto for those that pay
    #[arg(long, value_name = "TEXT")]
    pub(crate) script: Option<String>,

    /// What to print; may be given several times
    #[arg(long, value_name = "STAGE", action = ArgAction::Append, long_help = relations_emit_help())]
    pub(crate) emit: Vec<String>,

    /// Run it; results without a file are printed as `run` prints them
    #[arg(long)]
    pub(crate) run: bool,

    /// Give a parameter its value
    #[arg(short = 'd', long = "parameter", value_name = "NAME=VALUE", action = ArgAction::Append, requires = "run")]
    pub(crate) parameters: Vec<String>,

    /// Give data the entries of a file: .npy, .mtx, .tns, …
    #[arg(short = 'i', long = "input", value_name = "NAME=FILE", action = ArgAction::Append, requires = "run")]
    pub(crate) inputs: Vec<String>,

    /// Write a live-out array to a file; - is standard output
    #[arg(short = 'o', long = "output", value_name = "NAME=FILE", action = ArgAction::Append, requires = "run")]
    pub(crate) outputs: Vec<String>,

    /// What runs kernels: auto, c (compiled C), cranelift (at once, no compiler) or
    /// interp (slow, checks every access)
    #[arg(long, value_name = "BACKEND", default_value = "auto")]
    pub(crate) backend: String,
}

#[derive(Debug, Args)]
pub(crate) struct InfoArguments {
    /// The file; - is standard input
    pub(crate) file: String,

    /// The type of the entries: f64, f32, i32, …; refused where it would lose a value
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    pub(crate) element: Option<String>,

    /// Write a picture of where the entries lie: .svg or .png
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ConvertArguments {
    /// The file to read; - is standard input
    #[arg(value_name = "IN", required_unless_present = "emit")]
    pub(crate) input: Option<String>,

    /// The file to write; its ending says the type; - is standard output, as text
    #[arg(value_name = "OUT", required_unless_present = "emit")]
    pub(crate) output: Option<String>,

    /// The format that entries are packed in first: a preset, a map of levels or a file.fmt
    #[arg(long, value_name = "FORMAT")]
    pub(crate) from: Option<String>,

    /// The format that the new file holds, where its type keeps formats: .npz, .bsp.h5
    #[arg(long, value_name = "FORMAT")]
    pub(crate) to: Option<String>,

    /// Print how a tensor in one format becomes one in the other, and convert nothing:
    /// relation, cases, certificate, cost, computation, loop, c, mlir, dot or svg
    #[arg(long, value_name = "STAGE", action = ArgAction::Append, conflicts_with_all = ["input", "output"])]
    pub(crate) emit: Vec<String>,

    /// How far printed computations are optimised: none, redundant, dce, fuse-reads,
    /// fuse-producers or all; each includes those before it
    #[arg(long, value_name = "STEP", conflicts_with_all = ["input", "output"])]
    pub(crate) opt: Option<String>,

    /// The type of the entries: f64, f32, i32, …; refused where it would lose a value
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    pub(crate) element: Option<String>,

    /// What becomes of a matrix that states one triangle: expand (write every entry) or keep
    #[arg(long, value_name = "HOW", default_value = "expand")]
    pub(crate) structure: String,

    /// How many bytes the new tensor may take, as in 64G; if not given, each of its arrays may take
    /// 1G, or 16 times the bytes of the entries if that is more
    #[arg(long, value_name = "SIZE", conflicts_with = "emit")]
    pub(crate) memory: Option<String>,

    /// State the extents in a .tns file, in a header that not every program reads
    #[arg(long)]
    pub(crate) extents: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BenchArguments {
    /// What to measure, each of these; all if not given: kernels (beside C written by
    /// hand), latency (from an expression to a first result), io (files and packing beside
    /// the SciPy of the Python that SPARSEC_PYTHON names), networks (products of three tensors
    /// and more beside C), relations (products through descriptors beside C, and operations on
    /// descriptors), convert (conversions between formats, beside packing and SciPy), mlir
    /// (programs beside the tools of MLIR), or kernels by name: spmv, spmv/band
    pub(crate) names: Vec<String>,

    /// Measure kernels on the matrix or tensor of a file in place of generated ones
    ///
    /// May be given several times. Kernels with other operands are left out.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) input: Vec<std::path::PathBuf>,

    /// How large operands are: small or full
    #[arg(long, value_name = "SIZE", default_value = "small")]
    pub(crate) size: String,

    /// What runs our side of kernels: c or cranelift
    #[arg(long, value_name = "BACKEND", default_value = "c")]
    pub(crate) backend: String,

    /// How many threads kernels are measured on beside one; two if not given
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<String>,

    /// List what there is to measure, a line each, and measure nothing
    #[arg(long)]
    pub(crate) list: bool,

    /// How many rounds; medians are shown
    #[arg(long, value_name = "N")]
    pub(crate) repeat: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn compile_takes_what_run_takes() {
        let definition = Cli::command();
        let options = |command: &str| {
            let command = definition.find_subcommand(command).expect(command);
            let options = command
                .get_opts()
                .map(|option| (option.get_short(), option.get_long()));
            let options = options.map(|(short, long)| (short, long.map(str::to_owned)));
            options.collect::<Vec<_>>()
        };
        let taken = options("compile");
        for option in options("run") {
            assert!(taken.contains(&option), "{option:?}");
        }
    }
}

//! Computations: read, transformed, every stage as text, and run.
//!
//! ```text
//! text ──► Computation ──► script or pipeline ──► Computed ──► stages
//!                                                    └───► loops ──► kernel ──► results
//! ```

use sparsec_base::{Diagnostic, Result, Source, code, suggest};
use sparsec_computation::{Computation, Script};

mod completed;
mod given;
mod kernels;
mod run;

pub use given::Given;
pub(crate) use run::Checked;
pub use run::{CompiledComputation, Prepared, compile_computation};

/// A computation with the transformations that made it.
#[derive(Clone, Debug)]
pub struct Computed {
    /// The computation after all of them.
    pub computation: Computation,
    /// The transformations, in their order.
    pub script: Script,
}

/// Which transformations to make.
#[derive(Clone, Debug)]
pub enum Transformations {
    /// None.
    Nothing,
    /// Those that the automatic pipeline finds; see
    /// [`Computation::optimised`].
    Pipeline,
    /// Those of a script.
    Script(Source),
}

/// One stage of a computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ComputeStage {
    /// The computation after all transformations.
    Computation,
    /// The transformations.
    Script,
    /// Which points have to run before which.
    Dependences,
    /// The loops that visit its points, after all passes.
    Loop,
    /// The loops for several threads, which run shares of them.
    Shares,
    /// The loops as C.
    C,
    /// The loops as a module of MLIR.
    Mlir,
    /// The dataflow graph for Graphviz.
    Dot,
    /// The dataflow graph, drawn.
    Svg,
}

impl ComputeStage {
    /// Every stage with its name and what it shows, as `--emit` takes it.
    pub const ALL: [(Self, &'static str, &'static str); 9] = [
        (
            Self::Computation,
            "computation",
            "the computation after all transformations",
        ),
        (
            Self::Script,
            "script",
            "the transformations, as `--script` takes them",
        ),
        (
            Self::Dependences,
            "dependences",
            "which points have to run before which",
        ),
        (Self::Loop, "loop", "the loops that visit its points"),
        (
            Self::Shares,
            "shares",
            "the loops for several threads, which run shares of them",
        ),
        (Self::C, "c", "the loops as C"),
        (Self::Mlir, "mlir", "the loops as a module of MLIR"),
        (Self::Dot, "dot", "the dataflow graph, for Graphviz"),
        (Self::Svg, "svg", "the dataflow graph, drawn"),
    ];

    /// The stage of a name.
    pub fn parse(name: &str) -> Option<Self> {
        let mut stages = Self::ALL.iter();
        stages
            .find(|(_, n, _)| *n == name)
            .map(|(stage, ..)| *stage)
    }

    /// That there is no such stage.
    pub fn unknown(name: &str) -> Diagnostic {
        let names = Self::ALL.map(|(_, name, _)| name);
        let message = format!("there is no stage `{name}` of a computation");
        Diagnostic::new(code::BAD_OPTION_VALUE, message).help(match suggest::closest(name, names) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("stages are {}", names.join(", ")),
        })
    }
}

/// Reads a computation, checks it and transforms it.
///
/// # Errors
/// As [`Computation::parse`], [`Computation::check_settled`] and
/// [`Script::replay`].
///
/// ```
/// use sparsec::internals::compute::{ComputeStage, Transformations, compute};
/// use sparsec::Source;
/// let nest = Source::new("nest", "computation nest {
///   parameters N
///   out y : f64[N, N]
///   s0: y(i, j) = 1 over {[i, j] : 0 <= i < N && 0 <= j < N}
/// }");
/// let script = Transformations::Script(Source::new("script", "interchange(s0, 1, 2)"));
/// let turned = compute(&nest, &script)?;
/// assert!(turned.emit(ComputeStage::Computation)?.contains("at [0, j, i]"));
/// # Ok::<(), sparsec::Diagnostic>(())
/// ```
pub fn compute(source: &Source, transformations: &Transformations) -> Result<Computed> {
    let computation = Computation::parse(source)?;
    computation.check_settled()?;
    let (script, computation) = match transformations {
        Transformations::Nothing => (Script::default(), computation),
        Transformations::Pipeline => computation.optimised()?,
        Transformations::Script(text) => {
            (Script::parse(text)?, Script::replay(text, &computation)?)
        }
    };
    Ok(Computed {
        computation,
        script,
    })
}

impl Computed {
    /// A stage as text.
    ///
    /// # Errors
    /// As [`Computation::dependences`] and [`compile_computation`].
    pub fn emit(&self, stage: ComputeStage) -> Result<String> {
        Ok(match stage {
            ComputeStage::Computation => self.computation.to_string(),
            ComputeStage::Script => self.script.to_string(),
            ComputeStage::Dependences => {
                let found = self.computation.dependences()?;
                let lines = found.iter().map(|dependence| {
                    format!("{}\n", self.computation.dependence_text(dependence))
                });
                lines.collect()
            }
            ComputeStage::Loop => compile_computation(&self.computation)?
                .function()
                .to_string(),
            ComputeStage::Shares => compile_computation(&self.computation)?.shared().to_string(),
            ComputeStage::C => compile_computation(&self.computation)?.c(),
            ComputeStage::Mlir => compile_computation(&self.computation)?.mlir(),
            ComputeStage::Dot => self.computation.dot(),
            ComputeStage::Svg => self.computation.svg(),
        })
    }
}

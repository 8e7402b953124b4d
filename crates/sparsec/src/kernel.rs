//! Kernels: planned programs that run on any operands of their formats.
//!
//! ```text
//! Program ──plan──► Kernel ──bind──► Binding ──evaluate──► Tensor
//!                     │                 └──assemble──► Assembled ──compute──► &Tensor
//!                     └── one variant for each combination of index widths met
//! ```
//!
//! A kernel is planned for formats, element types and fills, and takes extents as
//! arguments. Index arrays are as wide as a tensor's data asks, which nobody
//! wants to think of: so a kernel is a family of **variants**, made when operands
//! with these widths first come, and results are as wide as their data may ask.
//! Only where the fill of a result depends on extents (a sum over entries that
//! are not stored and not zero) a variant is for these extents alone. What pays depends on
//! how much there is: a variant is planned by figures of its operands,
//! and where rows are kept in [tiles](sparsec_loop::passes::tile) it is best for rows of
//! one width. It is right for all.
//!
//! Invariants: a variant's input formats have exactly the widths of the arrays
//! that are bound to it; all variants of a kernel have the same statements.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use sparsec_base::{Cancel, ElementType, Recent, Result};
use sparsec_format::{Format, Way};
use sparsec_index::{Access, Expr, Program as Resolved, Statement, TensorRole};
use sparsec_loop::Var;
use sparsec_loop::passes::TileShape;
use sparsec_plan::{Merge, merges};
use sparsec_tensor::Tensor;

use crate::binding::Binding;
use crate::compile::{Fixed, compile_for};
use crate::compiled::Compiled;
use crate::extents::{self, Extents};
use crate::figures::{self, Figures, Named};
use crate::parts::Parts;
use crate::program::Program;
use crate::recall::Recall;
use crate::request::{Operands, Request};
use crate::session::Session;
use crate::stage::Stage;
use crate::widths::{self, Chosen, Known};

/// A planned program, ready for operands of its formats and types.
///
/// Cheap to clone; may be used from any number of threads at once.
#[derive(Clone)]
pub struct Kernel {
    session: Session,
    planned: Arc<Planned>,
}

/// What a session keeps of a program that was planned.
#[derive(Debug)]
pub(crate) struct Planned {
    request: Request,
    base: Compiled,
    /// What its loops merge, whose steps may be guessed or not.
    merges: Vec<Merge>,
    /// Whether a plan depends on extents.
    needs_extents: bool,
    variants: Mutex<Recent<VariantKey, Arc<Variant>>>,
    recall: Recall,
}

/// The plans of a session, by the whole request: a new field of requests is compared
/// without further code.
#[derive(Debug)]
pub(crate) struct Plans(Mutex<Recent<Request, Arc<Planned>>>);

/// The most plans that a session keeps.
const MOST_PLANS: usize = 256;
/// The most variants that a plan keeps; there are many where extents tell them
/// apart.
const MOST_VARIANTS: usize = 32;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct VariantKey {
    /// Of each tensor of the program, in order.
    widths: Vec<Chosen>,
    /// Of each operand, where they matter.
    extents: Option<Vec<u64>>,
    /// Of the tiles of rows.
    tiles: Vec<Option<TileShape>>,
    /// Of loops along several modes.
    collapsed: Vec<Vec<Var>>,
    /// Of short loops; `None` if operands store so few entries that these take no time.
    short: Option<Vec<(Var, u64)>>,
    /// What it was planned by.
    figures: Figures,
}

/// A kernel for index arrays of certain widths.
#[derive(Debug)]
pub(crate) struct Variant {
    pub(crate) compiled: Compiled,
    /// By statement: one kernel for all of it.
    whole: Vec<OnceLock<Parts>>,
    /// By statement: structure and values apart where that can be had.
    apart: Vec<OnceLock<Parts>>,
}

impl Session {
    /// Plans a program, or finds the plan made earlier.
    ///
    /// # Errors
    /// As [`Program::plan`].
    pub fn plan(&self, program: &Program) -> Result<Kernel> {
        self.plan_request(program.request())
    }

    pub(crate) fn plan_request(&self, request: &Request) -> Result<Kernel> {
        Ok(Kernel {
            planned: self.watched(|| self.plans().find(request))?,
            session: self.clone(),
        })
    }
}

impl Default for Plans {
    fn default() -> Self {
        Self(Mutex::new(Recent::new(MOST_PLANS)))
    }
}

impl Plans {
    fn find(&self, request: &Request) -> Result<Arc<Planned>> {
        let plans = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(planned) = plans().get(request) {
            return Ok(planned);
        }
        // Planned outside of the lock: two threads may both do it, one stays.
        let started = Instant::now();
        let planned = Arc::new(Planned::new(request.clone())?);
        tracing::debug!(
            program = request.expression.text(),
            time = ?started.elapsed(),
            "planned"
        );
        Ok(plans().keep(request.clone(), planned))
    }
}

impl Planned {
    fn new(request: Request) -> Result<Self> {
        let base = compile_for(&request, &Operands::new(), None)?;
        let needs_extents = needs_extents(&base);
        let statements = base.statements.iter();
        Ok(Self {
            merges: statements.flat_map(|it| merges(&it.plan)).collect(),
            request,
            base,
            needs_extents,
            variants: Mutex::new(Recent::new(MOST_VARIANTS)),
            recall: Recall::default(),
        })
    }

    pub(crate) fn request(&self) -> &Request {
        &self.request
    }

    /// The merges of its statements, whose figures are read of several operands together.
    pub(crate) fn merges(&self) -> &[Merge] {
        &self.merges
    }

    /// The choice for the last operands.
    pub(crate) fn recall(&self) -> &Recall {
        &self.recall
    }

    pub(crate) fn base(&self) -> &Compiled {
        &self.base
    }

    /// The variant for these operands, whose index variables run that far.
    pub(crate) fn variant(
        &self,
        operands: &Operands<'_>,
        extents: &Extents,
    ) -> Result<Arc<Variant>> {
        let key = VariantKey {
            widths: self.widths(operands, extents),
            extents: self.needs_extents.then(|| {
                let tensors = operands.values();
                tensors.flat_map(|it| it.extents()).copied().collect()
            }),
            tiles: self.base.tile_shapes(extents),
            collapsed: self.base.collapsible(extents),
            short: (operands
                .values()
                .any(|it| it.n_stored() as u64 >= figures::MANY))
            .then(|| self.base.short_extents(extents)),
            figures: Figures::of(&self.base.program, &self.merges, operands, extents),
        };
        let variants = || self.variants.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(variant) = variants().get(&key) {
            return Ok(variant);
        }
        let started = Instant::now();
        let variant = Arc::new(self.make_variant(&key, operands)?);
        tracing::debug!(
            program = self.request.expression.text(),
            time = ?started.elapsed(),
            "planned for operands"
        );
        Ok(variants().keep(key, variant))
    }

    /// The widths of the index arrays of every tensor: those that operands have,
    /// and for results such that what they may store is sure to fit.
    fn widths(&self, operands: &Operands<'_>, extents: &Extents) -> Vec<Chosen> {
        let program = &self.base.program;
        let known = Known {
            extent: &|var| extents[var],
            n_stored: &|name| operands.get(name).map(|tensor| tensor.most_entries()),
        };
        let widths = program.tensors.iter().map(|(id, data)| {
            let computed = program.statements.iter().find(|it| it.lhs.tensor == id);
            let given = operands.get(data.source_name());
            match (given.filter(|_| data.role == TensorRole::Input), computed) {
                (Some(tensor), _) => widths::of_operand(tensor),
                (None, Some(statement)) => {
                    let format = self.base.formats.assembled(id);
                    let format = format.expect("every tensor of a planned program has a format");
                    let own = widths::of_result(program, statement, format, known).widths();
                    Chosen { own, nearest: own }
                }
                (None, None) => Chosen::default(),
            }
        });
        widths.collect()
    }

    /// Whether a variant computes what the key says of it: the same statements, for any
    /// extents if this one is.
    fn fits(&self, variant: &Compiled) -> bool {
        variant.program.to_string() == self.base.program.to_string()
            && (self.needs_extents || !needs_extents(variant))
    }

    fn make_variant(&self, key: &VariantKey, operands: &Operands<'_>) -> Result<Variant> {
        let names = self.base.program.tensors.iter();
        let chosen: BTreeMap<String, Chosen> = names
            .zip(&key.widths)
            .map(|((_, data), widths)| (data.name.clone(), *widths))
            .collect();
        let mut fixed = Fixed {
            widths: chosen,
            extents: BTreeMap::new(),
            figures: Some(Named {
                figures: &key.figures,
                program: &self.base.program,
                merges: &self.merges,
            }),
        };
        if self.needs_extents {
            let extents = operands.iter();
            let extents = extents.map(|(name, it)| (name.to_string(), it.extents().to_vec()));
            fixed.extents = extents.collect();
        }
        let compile = |fixed: &Fixed<'_>| compile_for(&self.request, &Operands::new(), Some(fixed));
        let mut compiled = compile(&fixed)?;
        if !self.fits(&compiled) {
            fixed.figures = None;
            compiled = compile(&fixed)?;
        }
        let extents = extents::of_operands(&compiled.program, operands);
        let extents = extents.unwrap_or_else(|_| extents::known(&compiled.program));
        compiled.tile(&extents, key.short.is_some());
        let places = || {
            compiled
                .statements
                .iter()
                .map(|_| OnceLock::new())
                .collect()
        };
        Ok(Variant {
            whole: places(),
            apart: places(),
            compiled,
        })
    }
}

/// Whether kernels for these plans are right for the extents alone that they were
/// compiled with.
pub(crate) fn needs_extents(compiled: &Compiled) -> bool {
    let program = &compiled.program;
    let is_affine = |access: &&Access| access.plain_vars().is_none();
    let is_partial = compiled
        .resolved
        .statements
        .iter()
        .any(Statement::is_partial);
    let has_fixed = is_partial
        || program.statements.iter().any(|statement| {
            // Whether coordinates may be outside of a tensor is decided when it
            // is compiled.
            let has_affine = statement.rhs.accesses().iter().any(is_affine);
            has_affine
                || is_affine(&&statement.lhs)
                || statement
                    .rhs
                    .fill(&program.tensors, &program.vars)
                    .is_none()
                || counts_points(&statement.rhs, program)
        });
    // Some levels are walked only where extents are known.
    let is_of_levels = |tensor| {
        let format: Option<&Format> = compiled.formats.get(tensor);
        let is_seen =
            |format: &Format| format.level_space().is_some() || format.read_by() == Way::Pieces;
        format.is_some_and(is_seen)
    };
    has_fixed
        || compiled.statements.iter().any(|statement| {
            let plan = &statement.plan;
            let mut converted = plan.conversions.iter().filter(|it| it.view.is_none());
            plan.converts_result.is_some() || converted.any(|it| is_of_levels(it.from))
        })
}

/// Whether an expression has a reduction whose fill depends on how many points it has.
fn counts_points(expr: &Expr, program: &Resolved) -> bool {
    let fill = |expr: &Expr| expr.fill(&program.tensors, &program.vars);
    match expr {
        Expr::Literal(_) | Expr::Access(_) | Expr::Index(_) => false,
        Expr::Cast(_, body) => counts_points(body, program),
        Expr::Apply { args, .. } => args.iter().any(|arg| counts_points(arg, program)),
        Expr::Reduce { body, .. } => {
            (fill(body).is_some() && fill(expr).is_none()) || counts_points(body, program)
        }
    }
}

impl Variant {
    /// The kernels of a statement, structure and values `apart` if that is
    /// asked for and can be had.
    pub(crate) fn parts(&self, session: &Session, number: usize, apart: bool) -> Result<&Parts> {
        let number = self.compiled.computed_with(number);
        let place = if apart {
            &self.apart[number]
        } else {
            &self.whole[number]
        };
        if let Some(parts) = place.get() {
            return Ok(parts);
        }
        let function = &self.compiled.statements[number].function;
        let parts = session.parts(function, apart)?;
        Ok(place.get_or_init(|| parts))
    }
}

impl Kernel {
    /// Gives the operand `name` its data, which is borrowed and not copied.
    ///
    /// # Errors
    /// `E0207` if the program has no such tensor, `E0020` if it computes it,
    /// `E0021` for a tensor of another format, type or fill than was planned.
    pub fn bind<'a>(&self, name: &str, tensor: &'a Tensor) -> Result<Binding<'a>> {
        self.binding().bind(name, tensor)
    }

    /// No operand bound yet: for kernels without operands, and for loops over
    /// names.
    pub fn binding<'a>(&self) -> Binding<'a> {
        Binding::new(self.clone())
    }

    /// A stage of every statement as text. Where no width is declared, index
    /// arrays are shown with 32 bits.
    ///
    /// # Errors
    /// `E0315` for a pass that does not exist.
    pub fn emit(&self, stage: &Stage) -> Result<String> {
        self.planned.base.emit(stage)
    }

    /// How the tensor `name` is stored, operand or result; `None` if the program
    /// has no such tensor.
    pub fn format(&self, name: &str) -> Option<&Format> {
        self.planned.base.format(name)
    }

    /// The type of the entries of the tensor `name`; `None` if the program has
    /// no such tensor.
    pub fn element(&self, name: &str) -> Option<ElementType> {
        let program = self.resolved();
        let tensor = program.tensors.named(name)?;
        Some(program.tensors[tensor].element)
    }

    /// The names of the tensors to bind, in the order in which the program first
    /// names them.
    pub fn operands(&self) -> impl Iterator<Item = &str> {
        let tensors = self.resolved().tensors.iter();
        tensors
            .filter(|(_, data)| data.role == TensorRole::Input)
            .map(|(_, data)| data.source_name())
    }

    /// The names of the tensors that are computed, in the order of their last
    /// values.
    pub fn results(&self) -> impl Iterator<Item = &str> {
        let program = self.resolved();
        let statements = program.statements.iter();
        let data = statements.map(|statement| &program.tensors[statement.lhs.tensor]);
        data.filter(|data| data.earlier_of.is_none())
            .map(|data| data.name.as_str())
    }

    /// The same kernel, which runs in a session that ends soon after `cancel` is set.
    pub(crate) fn until(&self, cancel: &Cancel) -> Self {
        Self {
            session: self.session.until(cancel),
            planned: Arc::clone(&self.planned),
        }
    }

    /// The session that the kernel was planned in.
    pub fn session(&self) -> &Session {
        &self.session
    }

    pub(crate) fn planned(&self) -> &Planned {
        &self.planned
    }

    pub(crate) fn resolved(&self) -> &Resolved {
        self.planned.base.resolved()
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel")
            .field("program", &self.planned.request.expression.text())
            .finish_non_exhaustive()
    }
}

//! Whether there is memory for what a program computes, before it runs.
//!
//! Of each statement this is known when its operands are there:
//!
//! | takes memory       | at least                                                 |
//! |--------------------|----------------------------------------------------------|
//! | its result         | what the format takes without a stored entry: all values of dense levels, the positions of those above compressed ones |
//! | its workspaces     | what the kernel allocates for these extents              |
//! | converted operands | as results                                               |
//! | operands           | as results, where the caller asks before it packs them   |
//!
//! Results stay until the program is done; workspaces and converted operands go
//! with their statement. What takes more than there is for sure is refused here.
//! What grows while a kernel runs is compared when it grows.

use sparsec_base::{Diagnostic, ElementType, IndexWidth, Result, Span, code};
use sparsec_format::{Format, LevelKind, Role};
use sparsec_index::TensorVar;
use sparsec_loop::{Var, workspace_bytes};
use sparsec_parallel::Bytes;
use sparsec_runtime::MemoryLimit;
use sparsec_tensor::level_extents;

mod advice;

pub use advice::{Smaller, smaller_format};

use crate::compiled::Compiled;
use crate::extents::{Extents, known};

/// Programs that take less are not compared.
const LOOK_FROM: u128 = 64 << 20;

/// What takes memory.
enum Taker<'a> {
    Result(&'a Format),
    /// A result that is stored in another format afterwards.
    Assembled(&'a Format),
    Converted(&'a Format),
    Workspaces,
}

/// One part of what a statement takes.
struct Part<'a> {
    /// The tensor that it is, or is for.
    name: &'a str,
    span: Span,
    taker: Taker<'a>,
    bytes: u128,
}

/// The memory that is taken at once while a statement runs.
struct Taken<'a> {
    number: usize,
    /// Bytes of its parts, and of the results before it.
    all: u128,
    parts: Vec<Part<'a>>,
}

impl Compiled {
    /// Refuses a program whose results, workspaces and converted operands take more memory
    /// than `limit`, whatever is stored: as far as extents are known without operands.
    /// Running it compares the same, with the extents of its operands.
    ///
    /// # Errors
    /// `E0508`, with the largest part of the statement that is too much.
    ///
    /// ```
    /// use sparsec::internals::{Inputs, Request, compile};
    /// use sparsec::{MemoryLimit, Source};
    /// let mut request = Request::new(Source::new("program", "y(i) = A(i,j) * x(j)"));
    /// request.set_format("A", "csr")?;
    /// request.tensor("A").extents = Some(vec![1_000_000, 50]);
    /// let compiled = compile(&request, &Inputs::new())?;
    /// assert!(compiled.check_memory(MemoryLimit::Bytes(8_000_000)).is_ok());
    /// assert!(compiled.check_memory(MemoryLimit::Bytes(7_000_000)).is_err());
    /// # Ok::<(), sparsec::Diagnostic>(())
    /// ```
    pub fn check_memory(&self, limit: MemoryLimit) -> Result<()> {
        check(self, &known(&self.program), limit).map(drop)
    }

    /// The bytes that results, workspaces and converted operands take at once, before an entry
    /// is stored: as far as extents are known without operands. [`u128::MAX`] for more than
    /// can be counted.
    ///
    /// ```
    /// use sparsec::internals::{Inputs, Request, compile};
    /// use sparsec::Source;
    /// let mut request = Request::new(Source::new("program", "y(i) = A(i,j) * x(j)"));
    /// request.set_format("A", "csr")?;
    /// request.tensor("A").extents = Some(vec![1_000_000, 50]);
    /// assert_eq!(compile(&request, &Inputs::new())?.least_memory(), 8_000_000);
    /// # Ok::<(), sparsec::Diagnostic>(())
    /// ```
    pub fn least_memory(&self) -> u128 {
        let all = most(self, &known(&self.program), &mut |_| Ok(()));
        all.expect("nothing is refused")
    }
}

/// Refuses a program that takes more memory than there is; how many bytes it takes
/// at least.
///
/// # Errors
/// `E0508`, with the largest part of the statement that is too much.
pub(crate) fn check(compiled: &Compiled, extents: &Extents, limit: MemoryLimit) -> Result<u128> {
    let mut left = None;
    let mut look = |taken: Taken<'_>| {
        let Taken { number, all, parts } = taken;
        if is_small(all, limit) || all <= u128::from(*left.get_or_insert_with(|| limit.bytes())) {
            return Ok(());
        }
        let left = (limit, left.unwrap_or(0));
        Err(too_large(compiled, number, extents, parts, all, left))
    };
    most(compiled, extents, &mut look)
}

/// Looks at all that each statement takes, and the results before it, one after the other; the
/// most bytes of them.
///
/// # Errors
/// Those of `look`.
fn most(
    compiled: &Compiled,
    extents: &Extents,
    look: &mut dyn FnMut(Taken<'_>) -> Result<()>,
) -> Result<u128> {
    let (mut kept, mut most) = (0u128, 0);
    for number in 0..compiled.statements.len() {
        let parts = parts(compiled, number, extents);
        let bytes = |is_taken: fn(&Taker<'_>) -> bool| {
            let taken = parts.iter().filter(|part| is_taken(&part.taker));
            taken
                .map(|part| part.bytes)
                .fold(kept, u128::saturating_add)
        };
        let all = bytes(|_| true);
        most = most.max(all);
        kept = bytes(|taker| matches!(taker, Taker::Result(_)));
        look(Taken { number, all, parts })?;
    }
    Ok(most)
}

/// Whether so many bytes are there for sure.
pub(crate) fn is_small(bytes: u128, limit: MemoryLimit) -> bool {
    limit == MemoryLimit::Available && bytes < LOOK_FROM
}

/// What statement `number` takes.
fn parts<'a>(compiled: &'a Compiled, number: usize, extents: &Extents) -> Vec<Part<'a>> {
    let statement = &compiled.statements[number];
    let plan = &statement.plan;
    let tensors = &plan.concrete.tensors;
    let part = |tensor: TensorVar, taker: Taker<'a>, bytes: u128| Part {
        name: &tensors[tensor].name,
        span: tensors[tensor].span,
        taker,
        bytes,
    };
    let stored = |tensor: TensorVar, format: &Format| {
        // The levels of a result that is converted afterwards are not its modes.
        let extents = of_tensor(compiled, number, tensor, extents)
            .filter(|extents| extents.len() == format.order());
        extents.map_or(0, |extents| {
            least_bytes(format, &extents, tensors[tensor].element)
        })
    };
    let result = plan.concrete.result;
    let format = plan.formats.of(result);
    if compiled.computed_with(number) != number {
        // It is there since the loops ran.
        return vec![part(result, Taker::Result(format), 0)];
    }
    let mut parts = Vec::new();
    for other in &plan.concrete.beside {
        let format = plan.formats.of(*other);
        parts.push(part(*other, Taker::Result(format), stored(*other, format)));
    }
    // What is computed has a name of its own where it is stored otherwise afterwards.
    match &plan.converts_result {
        None => parts.push(part(result, Taker::Result(format), stored(result, format))),
        Some(last) => {
            let name =
                &compiled.program.tensors[compiled.program.statements[number].lhs.tensor].name;
            let assembled = part(result, Taker::Assembled(format), stored(result, format));
            parts.push(Part { name, ..assembled });
            let bytes = stored(result, last);
            let kept = part(result, Taker::Result(last), bytes);
            parts.push(Part { name, ..kept });
        }
    }
    // Arrays that are seen as those of another tensor are no more.
    for conversion in plan.conversions.iter().filter(|it| it.view.is_none()) {
        let bytes = stored(conversion.from, &conversion.format);
        parts.push(part(
            conversion.from,
            Taker::Converted(&conversion.format),
            bytes,
        ));
    }
    let bytes = workspace_bytes(&statement.function, &|var| {
        argument_extent(compiled, number, extents, var)
    });
    parts.push(part(result, Taker::Workspaces, bytes));
    parts
}

/// The extent that an argument of the kernel of a statement is, if it is known.
pub(crate) fn argument_extent(
    compiled: &Compiled,
    number: usize,
    extents: &Extents,
    var: Var,
) -> Option<u64> {
    let statement = &compiled.statements[number];
    let arguments = statement.function.arguments.iter();
    let mut places = arguments.filter_map(|argument| {
        let mode = argument.extents.iter().position(|extent| *extent == var)?;
        Some((argument.name.as_str(), mode))
    });
    let (name, mode) = places.next()?;
    let tensors = &statement.plan.concrete.tensors;
    let tensor = tensors.named(name)?;
    let extents = of_tensor(compiled, number, tensor, extents)?;
    extents.get(mode).copied()
}

/// The extents of a tensor of a statement, where all are known.
fn of_tensor(
    compiled: &Compiled,
    number: usize,
    tensor: TensorVar,
    extents: &Extents,
) -> Option<Vec<u64>> {
    let concrete = &compiled.statements[number].plan.concrete;
    if concrete.beside.contains(&tensor) {
        let number = compiled.numbers[&tensor];
        return compiled.result_extents(number, extents).ok();
    }
    if tensor == concrete.result {
        let extents = compiled.result_extents(number, extents).ok()?;
        return Some(match &compiled.statements[number].plan.levels_of_result {
            Some(stored) => level_extents(stored, &extents, &[]),
            None => extents,
        });
    }
    concrete.tensors[tensor].extents.iter().copied().collect()
}

/// The bytes that a tensor takes in a format before it stores an entry: values of
/// dense and `bitmap` levels and of slots that there are in any case, and positions of
/// those above compressed ones. [`u128::MAX`] for more than can be counted.
///
/// # Panics
/// If the format is of another order.
///
/// ```
/// use sparsec::internals::least_bytes;
/// use sparsec::{ElementType, Format, FormatSpec};
/// let rows = 5_000_000_000;
/// assert!(least_bytes(&Format::csr(), &[rows, 7], ElementType::F64) > 20_000_000_000);
/// assert!(least_bytes(&Format::csf(2), &[rows, 7], ElementType::F64) < 100);
/// let bits = Format::parse("(i, j) -> (i : bitmap, j : bitmap)")?;
/// assert!(least_bytes(&bits, &[rows, 7], ElementType::F64) >= 280_000_000_000);
/// let slots = "hyb(20)".parse::<FormatSpec>()?.resolve(2)?;
/// assert!(least_bytes(&slots, &[1000, 1000], ElementType::F64) >= 240_000);
/// # Ok::<(), sparsec::Diagnostic>(())
/// ```
pub fn least_bytes(format: &Format, extents: &[u64], element: ElementType) -> u128 {
    assert_eq!(format.order(), extents.len(), "extents for `{format}`");
    let parts = format.parts();
    let bytes = parts.iter().map(|part| of_part(part, extents, element));
    bytes.fold(0, u128::saturating_add)
}

/// Whether a tensor in this format takes more bytes the more entries it stores, so that
/// [`least_bytes`] is only a bound.
pub fn grows(format: &Format) -> bool {
    let is_whole = |kind| {
        matches!(
            kind,
            LevelKind::Dense | LevelKind::Batch | LevelKind::Bitmap
        )
    };
    let parts = format.parts();
    let mut levels = parts.iter().flat_map(|part| part.levels());
    levels.any(|level| !is_whole(level.kind))
}

/// As [`least_bytes`], for one part of a union.
fn of_part(part: &Format, extents: &[u64], element: ElementType) -> u128 {
    let known: Vec<Option<u64>> = extents.iter().copied().map(Some).collect();
    let extents = part.level_extents(&known);
    let width = |role: Role, largest: u64| {
        let width = part.declared_width(role);
        u128::from(width.unwrap_or(IndexWidth::holding(largest)).bits() / 8)
    };
    let (mut places, mut bytes) = (1_u128, 0_u128);
    for (number, (level, extent)) in part.levels().iter().zip(extents).enumerate() {
        // The extent of ranks may be what is stored.
        let Some(extent) = extent else {
            return bytes;
        };
        let each = match level.kind {
            LevelKind::Dense | LevelKind::Batch => {
                places = places.saturating_mul(extent.into());
                0
            }
            LevelKind::Bitmap => {
                places = places.saturating_mul(extent.into());
                1
            }
            LevelKind::Structured { n, .. } => {
                places = places.saturating_mul(n.into());
                width(Role::Crd(number), extent)
            }
            LevelKind::Singleton => width(Role::Crd(number), extent),
            LevelKind::Compressed
            | LevelKind::LooseCompressed
            | LevelKind::Range
            | LevelKind::Hashed
            | LevelKind::RunLength => {
                let bounds = places.saturating_add(1);
                let of_bounds = bounds.saturating_mul(width(Role::Pos(number), 0));
                return bytes.saturating_add(of_bounds);
            }
        };
        bytes = bytes.saturating_add(places.saturating_mul(each));
    }
    bytes.saturating_add(places.saturating_mul(element.size() as u128))
}

/// The diagnostic where a limit leaves fewer bytes than `all`.
fn too_large(
    compiled: &Compiled,
    number: usize,
    extents: &Extents,
    parts: Vec<Part<'_>>,
    all: u128,
    (limit, left): (MemoryLimit, u64),
) -> Diagnostic {
    let largest = parts.into_iter().max_by_key(|part| part.bytes);
    let largest = largest.expect("a statement has a result");
    let room = u128::from(left).saturating_sub(all.saturating_sub(largest.bytes));
    let [bytes, left] = Bytes(largest.bytes).beside(Bytes(left.into()));
    let bytes = match (largest.bytes, &largest.taker) {
        (u128::MAX, _) => bytes,
        // Of formats that store coordinates, only the positions are counted.
        (_, Taker::Result(format) | Taker::Assembled(format) | Taker::Converted(format))
            if grows(format) =>
        {
            format!("at least {bytes}")
        }
        _ => bytes,
    };
    let name = largest.name;
    let smaller = |format| {
        let extents = compiled.result_extents(number, extents).ok()?;
        let tensor = compiled.statements[number].plan.concrete.result;
        let plan = &compiled.statements[number].plan;
        let element = plan.concrete.tensors[tensor].element;
        let account = &plan.account;
        let entries = account.is_counted.then_some(account.entries.ceil() as u64);
        Some(smaller_format(format, &extents, element, entries, room))
    };
    let window = "compute a window of it, or ";
    let (message, help) = match largest.taker {
        Taker::Result(format) => (
            format!("`{name}` would take {bytes}, and {left} are left"),
            match smaller(format) {
                Some(smaller) => format!("{}{window}", smaller.advice(name)),
                None => window.to_owned(),
            },
        ),
        Taker::Assembled(_) => (
            format!(
                "`{name}` would take {bytes} until it is stored in its format, and {left} are left"
            ),
            window.to_owned(),
        ),
        // Given in that format, it would be as large.
        Taker::Converted(_) => (
            format!("`{name}`, converted, would take {bytes}, and {left} are left"),
            String::new(),
        ),
        Taker::Workspaces => (
            format!("workspaces for `{name}` would take {bytes}, and {left} are left"),
            window.to_owned(),
        ),
    };
    let mut error = Diagnostic::new(code::TOO_LARGE_FOR_MEMORY, message).at(
        &compiled.program.source,
        largest.span,
        "too large for memory",
    );
    if let Taker::Result(format) | Taker::Assembled(format) | Taker::Converted(format) =
        largest.taker
    {
        let extents: Vec<String> = compiled
            .result_extents(number, extents)
            .map(|all| all.iter().map(u64::to_string).collect())
            .unwrap_or_default();
        let shape = match (&largest.taker, extents.is_empty()) {
            (Taker::Result(_), false) => format!(", {}", extents.join(" x ")),
            _ => String::new(),
        };
        let until = match largest.taker {
            Taker::Assembled(_) => " until then",
            _ => "",
        };
        let format = format.arrangement();
        error = error.note(format!("its format{until} is `{format}`{shape}"));
    }
    if all > largest.bytes {
        error = error.note(format!("the program takes {} until then", Bytes(all)));
    }
    error.help(format!("{help}{}", limit.more()))
}

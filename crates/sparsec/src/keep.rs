//! Kernels as C for other programs.

use sparsec_base::{Diagnostic, Result, code};
use sparsec_codegen_c::kept::{self, KeptKernel};
use sparsec_format::{Format, Role as ArrayRole};
use sparsec_loop::{Access, Argument, Buffer, Expr, Function, Role, passes};
use sparsec_plan::View;

use crate::compiled::{Compiled, CompiledStatement};

/// C that needs nothing but the C library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptC {
    /// The whole: declarations, what kernels call, kernels.
    pub file: String,
    /// The declarations alone.
    pub header: String,
}

impl Compiled {
    /// Kernels for C programs: for each statement `assemble_NAME`, `compute_NAME`
    /// and `evaluate_NAME`. The name is that of the result, after `name` and an
    /// underscore if that is given; of a program of one statement it is `name` alone.
    ///
    /// Cost: that of printing; a kernel may be in the file three times.
    ///
    /// # Errors
    /// `E0610` for a name that C has no functions of, or a result whose arrays
    /// have no length that follows from extents.
    ///
    /// ```
    /// let mut request = sparsec::internals::Request::new(sparsec::Source::new("spmv", "y(i) = A(i,j) * x(j)"));
    /// request.set_format("A", "csr")?;
    /// let kept = sparsec::internals::compile(&request, &sparsec::internals::Inputs::new())?.keep(Some("spmv"))?;
    /// assert!(kept.header.contains("int32_t evaluate_spmv("));
    /// assert!(kept.file.contains("static inline int32_t compute_spmv_loops("));
    /// # Ok::<(), sparsec::Error>(())
    /// ```
    pub fn keep(&self, name: Option<&str>) -> Result<KeptC> {
        if let Some(name) = name.filter(|name| !is_identifier(name)) {
            let message = format!("`{name}` cannot be part of the name of a C function");
            return Err(Diagnostic::new(code::NOT_KEPT, message)
                .help("use letters, digits and `_`, such as `spmv_csr`"));
        }
        let statements = self.statements.iter().enumerate();
        let kernels: Vec<KeptKernel> = statements
            .map(|(number, statement)| self.kept_kernel(number, statement, name))
            .collect::<Result<_>>()?;
        let heading: Vec<String> = self
            .program
            .source
            .text()
            .lines()
            .map(str::to_owned)
            .collect();
        Ok(KeptC {
            file: kept::file(&kernels, &heading),
            header: kept::header(&kernels, &heading),
        })
    }

    fn kept_kernel(
        &self,
        number: usize,
        statement: &CompiledStatement,
        name: Option<&str>,
    ) -> Result<KeptKernel> {
        let plan = &statement.plan;
        let tensors = &plan.concrete.tensors;
        let result = &tensors[plan.concrete.result].name;
        let name = match name {
            None => result.clone(),
            Some(name) if self.statements.len() == 1 => name.to_owned(),
            Some(name) => format!("{name}_{result}"),
        };
        let mut doc = vec![self.program.statement_text(number).trim().to_owned()];
        for conversion in &plan.conversions {
            let (from, to) = (&tensors[conversion.from].name, &tensors[conversion.to].name);
            let format = &conversion.format;
            doc.push(match conversion.view {
                Some(View::Levels) => {
                    let levels = plan.formats.of(conversion.from);
                    format!("{to} is the arrays of {from}, a mode for each level of {levels}")
                }
                Some(View::Part(part)) => {
                    format!("{to} is the arrays of part {part} of {from} as {format}")
                }
                None => format!("{to} is a copy of {from} as {format}"),
            });
        }
        if let Some(format) = &plan.converts_result {
            doc.push(format!(
                "{result} is to be converted to {format} afterwards"
            ));
        }
        let function = &statement.function;
        let mut arguments = function.arguments.iter();
        let argument = arguments.find(|argument| argument.role == Role::Out);
        let format = plan.formats.of(plan.concrete.result);
        let lengths = argument.map_or_else(Vec::new, |argument| lengths(argument, format));
        if let Some(buffer) = argument.and_then(|it| unknown_length(function, it, &lengths)) {
            let array = &function.buffers[buffer].name;
            let message = format!("the length of `{array}` does not follow from extents");
            return Err(Diagnostic::new(code::NOT_KEPT, message)
                .note(format!("`{result}` is stored as {format}"))
                .help("give the result another format, such as `csr` or `dense`"));
        }
        let own = passes::own_results(function, |buffer| {
            let known = lengths.iter().find(|(of, _)| *of == buffer);
            known.map_or(Expr::int(0), |(_, length)| length.clone())
        });
        let is_sparse = argument.is_some_and(|argument| argument.buffers.len() > 1);
        let sliced = is_sparse.then(|| passes::slice_values(function)).flatten();
        let evaluate = is_sparse.then(|| own.clone());
        Ok(KeptKernel {
            name,
            doc,
            assemble: passes::slice_structure(&own),
            // Where values need the structure to be built, both are done again.
            compute: match (is_sparse, sliced) {
                (false, _) => function.clone(),
                (true, Some(sliced)) => sliced,
                (true, None) => own,
            },
            evaluate,
        })
    }
}

/// How many entries each array of a result has, where that follows from extents;
/// others are resized by the kernel.
fn lengths(argument: &Argument, format: &Format) -> Vec<(Buffer, Expr)> {
    let mut lengths = Vec::new();
    for (spec, &buffer) in std::iter::zip(format.arrays(), &argument.buffers) {
        let levels = match spec.role {
            ArrayRole::Pos(level) => Some(level),
            ArrayRole::Vals => Some(format.levels().len()),
            other => other.level().map(|level| level + 1),
        };
        let levels = format.levels().iter().take(levels.unwrap_or(0));
        let mut positions = Expr::int(1);
        let mut is_known = true;
        for level in levels {
            let capabilities = level.kind.capabilities();
            is_known &= capabilities.random_insert || capabilities.single;
            if capabilities.random_insert {
                positions = positions.mul(argument.extents[level.mode()]);
            }
        }
        if is_known {
            let one_more = matches!(spec.role, ArrayRole::Pos(_));
            let length = if one_more {
                positions.add(1)
            } else {
                positions
            };
            lengths.push((buffer, length));
        }
    }
    lengths
}

/// An array that the caller would have to allocate without knowing how long it is.
fn unknown_length(
    function: &Function,
    argument: &Argument,
    lengths: &[(Buffer, Expr)],
) -> Option<Buffer> {
    let mut buffers = argument.buffers.iter().copied();
    buffers.find(|buffer| {
        let is_fixed = function.buffers[*buffer].access == Access::Write;
        is_fixed && !lengths.iter().any(|(known, _)| known == buffer)
    })
}

fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    chars
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

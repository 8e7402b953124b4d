//! Kernels as C for other programs.

use sparsec_base::{Diagnostic, Result, code};
use sparsec_codegen_c::kept::{self, KeptKernel};
use sparsec_format::{Format, Role as ArrayRole};
use sparsec_loop::{Access, Argument, Buffer, Expr, Function, Role, passes};
use sparsec_plan::View;

use crate::compiled::Compiled;

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
    /// underscore if that is given; of a program of one kernel it is `name` alone. Loops that
    /// compute several results have the names of all, with underscores between them.
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
        let numbers = self.kernels();
        let kernels: Vec<KeptKernel> = numbers
            .map(|number| self.kept_kernel(number, name))
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

    fn kept_kernel(&self, number: usize, name: Option<&str>) -> Result<KeptKernel> {
        let statement = &self.statements[number];
        let plan = &statement.plan;
        let tensors = &plan.concrete.tensors;
        let result = &tensors[plan.concrete.result].name;
        let results = plan.concrete.results().map(|it| tensors[it].name.as_str());
        let results = results.collect::<Vec<_>>().join("_");
        let name = match name {
            None => results,
            Some(name) if self.kernels().count() == 1 => name.to_owned(),
            Some(name) => format!("{name}_{results}"),
        };
        let numbers = self.computed_by_loops(number).into_iter();
        let texts = numbers.map(|number| self.program.statement_text(number));
        let mut doc: Vec<String> = texts.map(|text| text.trim().to_owned()).collect();
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
        let arguments = function.arguments.iter();
        let written: Vec<&Argument> = arguments.filter(|it| it.role == Role::Out).collect();
        let format = |argument: &Argument| {
            let tensor = tensors.named(&argument.name);
            plan.formats
                .of(tensor.expect("an argument is a tensor of the statement"))
        };
        let lengths: Vec<(Buffer, Expr)> = written
            .iter()
            .flat_map(|argument| lengths(argument, format(argument)))
            .collect();
        for argument in &written {
            if let Some(buffer) = unknown_length(function, argument, &lengths) {
                let array = &function.buffers[buffer].name;
                let message = format!("the length of `{array}` does not follow from extents");
                let (name, format) = (&argument.name, format(argument));
                return Err(Diagnostic::new(code::NOT_KEPT, message)
                    .note(format!("`{name}` is stored as {format}"))
                    .help("give the result another format, such as `csr` or `dense`"));
            }
        }
        let own = passes::own_results(function, |buffer| {
            let known = lengths.iter().find(|(of, _)| *of == buffer);
            known.map_or(Expr::int(0), |(_, length)| length.clone())
        });
        let is_sparse = written.iter().any(|argument| argument.buffers.len() > 1);
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

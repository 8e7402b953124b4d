//! Programs with kernels: what compiling gives, and what is asked of it.

use std::collections::BTreeMap;

use sparsec_base::{Diagnostic, Result, code};
use sparsec_format::Format;
use sparsec_graph::Formats;
use sparsec_index::{Access, Concrete, Program, TensorVar, concretize, concretize_together};
use sparsec_loop::passes::{Division, TileShape};
use sparsec_loop::{Function, Var, passes};
use sparsec_plan::Plan;
use sparsec_schedule::Schedule;
use sparsec_tensor::Tensor;

use crate::checked::Signature;
use crate::extents::Extents;
use crate::memory::argument_extent;

/// A program with a kernel for each of its statements.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The program as the user wrote it, before statements were split.
    pub(crate) resolved: Program,
    pub(crate) program: Program,
    pub(crate) formats: Formats,
    pub(crate) statements: Vec<CompiledStatement>,
    /// The number of the statement that computes each result.
    pub(crate) numbers: BTreeMap<TensorVar, usize>,
}

/// The results of a run by name.
#[derive(Debug, Default)]
pub(crate) struct Named {
    /// The last value of each name that is assigned.
    pub(crate) last: BTreeMap<String, Tensor>,
    /// The values that names had before, as stages call them.
    pub(crate) earlier: BTreeMap<String, Tensor>,
}

/// One statement with its plan and its kernel.
#[derive(Clone, Debug)]
pub struct CompiledStatement {
    /// How the statement is computed.
    pub plan: Plan,
    /// The kernel as it was lowered.
    pub lowered: Function,
    /// The kernel after the passes that look at nothing else.
    pub untiled: Function,
    /// The kernel after all passes: with tiles for rows whose extents are known.
    pub function: Function,
    /// How its loops are divided among threads.
    pub division: Division,
    /// What its kernels may be launched on.
    pub(crate) signature: Signature,
    /// Whether it computes the whole of a result that has no fill: then each entry has to be
    /// stored.
    pub(crate) lacks_fill: bool,
}

impl Compiled {
    /// The extents of loops that [`Compiled::tile`] would give constant bounds, statement after
    /// statement.
    pub(crate) fn short_extents(&self, extents: &Extents) -> Vec<(Var, u64)> {
        let statements = self.statements.iter().enumerate();
        let found = statements.flat_map(|(number, statement)| {
            let extent = |var| self.row_extent(number, extents, var);
            passes::short_extents(&statement.untiled, &extent)
        });
        found.collect()
    }

    /// The tiles that [`Compiled::tile`] would keep rows in, statement after statement.
    pub(crate) fn tile_shapes(&self, extents: &Extents) -> Vec<Option<TileShape>> {
        let numbers = 0..self.statements.len();
        let shapes = numbers.flat_map(|number| {
            let extent = |var| self.row_extent(number, extents, var);
            passes::tile_shapes(&self.collapsed(number, extents), &extent)
        });
        shapes.collect()
    }

    /// The loops that [`Compiled::tile`] would have go along several modes, statement after
    /// statement.
    pub(crate) fn collapsible(&self, extents: &Extents) -> Vec<Vec<Var>> {
        let statements = self.statements.iter().enumerate();
        let found = statements.map(|(number, statement)| {
            let extent = |var| self.row_extent(number, extents, var);
            passes::collapsible(&statement.untiled, &extent)
        });
        found.collect()
    }

    /// The kernel of a statement before [`Compiled::tile`], with one loop along several modes
    /// where that fills tiles better.
    pub(crate) fn collapsed(&self, number: usize, extents: &Extents) -> Function {
        let mut function = self.statements[number].untiled.clone();
        passes::collapse(&mut function, &|var| self.row_extent(number, extents, var));
        function
    }

    /// Keeps rows in tiles if the extents of index variables are known, and gives short loops
    /// constant bounds if the operands store `many` entries. Kernels stay right for operands of
    /// other extents.
    pub(crate) fn tile(&mut self, extents: &Extents, many: bool) {
        for number in 0..self.statements.len() {
            let mut function = self.collapsed(number, extents);
            let extent = |var| self.row_extent(number, extents, var);
            passes::tile(&mut function, &extent);
            if many {
                passes::short(&mut function, &extent);
            }
            self.statements[number].function = function;
        }
        self.poll(extents);
    }

    /// Has long loops ask whether anybody still waits, where index variables run that far.
    pub(crate) fn poll(&mut self, extents: &Extents) {
        for number in 0..self.statements.len() {
            let mut function = self.statements[number].function.clone();
            passes::polls(&mut function, &|var| {
                argument_extent(self, number, extents, var)
            });
            self.statements[number].function = function;
        }
    }

    /// How far the index variable runs that a mode of an argument is accessed with.
    fn row_extent(&self, number: usize, extents: &Extents, var: Var) -> Option<u64> {
        let mut arguments = self.statements[number].untiled.arguments.iter();
        let (argument, mode) = arguments.find_map(|argument| {
            let mode = argument.extents.iter().position(|extent| *extent == var)?;
            Some((argument, mode))
        })?;
        let plan = &self.statements[number].plan;
        let concrete = &plan.concrete;
        let tensor = concrete.tensors.named(&argument.name)?;
        // Copies of operands and views by levels are tensors of the statement alone, as are
        // variables that commands derive.
        let extent = |access: &Access| {
            let var = (access.tensor == tensor).then(|| access.var(mode))??;
            let name = &concrete.vars[var].name;
            let mut vars = self.program.vars.iter();
            extents[vars.find(|(_, data)| data.name == *name)?.0]
        };
        let mut found = None;
        concrete.stmt.for_each_assign(&mut |lhs, _, rhs| {
            found = found.or_else(|| extent(lhs));
            rhs.for_each_access(&mut |access| found = found.or_else(|| extent(access)));
        });
        // Loops that compute several results have variables of their own for all but the first.
        found.or_else(|| {
            let mut source = tensor;
            while let Some(copy) = plan.conversions.iter().find(|it| it.to == source) {
                copy.view.is_none().then_some(())?;
                source = copy.from;
            }
            let read = self.program.tensors.named(&concrete.tensors[source].name)?;
            let statements = self.program.statements.iter();
            let mut accesses = statements.flat_map(|it| {
                let accesses = it.rhs.accesses().into_iter();
                accesses.chain([&it.lhs])
            });
            accesses.find_map(|access| {
                let var = (access.tensor == read).then(|| access.var(mode))??;
                extents[var]
            })
        })
    }

    /// The program as it was written, before statements were split.
    pub fn resolved(&self) -> &Program {
        &self.resolved
    }

    /// The program, with a statement for every kernel.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The statements, in the order in which they run.
    pub fn statements(&self) -> &[CompiledStatement] {
        &self.statements
    }

    /// The number of the statement whose loops compute the result of statement `number`.
    pub(crate) fn computed_with(&self, number: usize) -> usize {
        let first = self.statements[number].plan.computed_with;
        first.map_or(number, |first| self.numbers[&first])
    }

    /// The numbers of the statements with loops of their own, in the order in which they run.
    pub fn kernels(&self) -> impl Iterator<Item = usize> + '_ {
        let numbers = 0..self.statements.len();
        numbers.filter(|number| self.computed_with(*number) == *number)
    }

    /// The statements, in order, that the loops of statement `number` compute.
    pub fn computed_by_loops(&self, number: usize) -> Vec<usize> {
        let beside = self.statements[number].plan.concrete.beside.iter();
        let mut numbers: Vec<usize> = beside.map(|it| self.numbers[it]).collect();
        numbers.push(number);
        numbers.sort_unstable();
        numbers
    }

    /// The naive loops of the results that the loops of statement `number` compute.
    pub fn naive(&self, number: usize) -> Concrete {
        match &self.computed_by_loops(number)[..] {
            [_] => concretize(&self.program, number),
            all => concretize_together(&self.program, all),
        }
    }

    /// The commands of each plan, with the names of the results that its loops compute.
    pub fn schedules(&self) -> Vec<(Vec<&str>, &Schedule)> {
        let results = self.results();
        let named = self.kernels().map(|number| {
            let numbers = self.computed_by_loops(number).into_iter();
            let names = numbers.map(|number| results[number]).collect();
            (names, &self.statements[number].plan.schedule)
        });
        named.collect()
    }

    /// The number of the statement that computes the tensor `name`.
    pub(crate) fn computed_by(&self, name: &str) -> Option<usize> {
        let tensor = self.program.tensors.named(name)?;
        self.numbers.get(&tensor).copied()
    }

    /// The names of the tensors that statements compute, in order.
    pub fn results(&self) -> Vec<&str> {
        let name = |tensor: TensorVar| self.program.tensors[tensor].name.as_str();
        self.program
            .statements
            .iter()
            .map(|statement| name(statement.lhs.tensor))
            .collect()
    }

    /// How the tensor `name` is stored, with the widths of its index arrays.
    pub fn format(&self, name: &str) -> Option<&Format> {
        let tensor = self.program.tensors.named(name)?;
        self.formats.get(tensor)
    }

    /// Results in the order of statements by name: the last value of each name
    /// that the source assigns, and the earlier ones; temporaries are left out.
    pub(crate) fn named(&self, results: Vec<Tensor>) -> Named {
        let mut named = Named::default();
        for (name, tensor) in self.results().into_iter().zip(results) {
            let Some(written) = self.resolved.tensors.named(name) else {
                continue;
            };
            let values = match self.resolved.tensors[written].earlier_of {
                Some(_) => &mut named.earlier,
                None => &mut named.last,
            };
            values.insert(name.to_owned(), tensor);
        }
        named
    }

    /// The extents of a statement's result, given those of the index variables.
    pub(crate) fn result_extents(&self, number: usize, extents: &Extents) -> Result<Vec<u64>> {
        let statement = &self.program.statements[number];
        let mut found = Vec::new();
        for var in statement.lhs.vars() {
            found.push(extents[var].ok_or_else(|| {
                let name = &self.program.vars[var].name;
                Diagnostic::new(
                    code::MISSING_EXTENT,
                    format!("the extent of `{name}` is not known"),
                )
                .at(&self.program.source, statement.lhs.span, "needed here")
                .help(format!("say it: `.extent(\"{name}\", …)`"))
            })?);
        }
        Ok(found)
    }
}

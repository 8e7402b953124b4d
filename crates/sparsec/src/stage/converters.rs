//! Conversions beside the kernels of a module.

use sparsec_base::{IndexWidth, Result};
use sparsec_format::{Format, Widths};
use sparsec_loop::Function;

use crate::compiled::Compiled;
use crate::compute::compile_computation;
use crate::conversion::{self, Optimisation};

/// A conversion that the kernels of a module need.
#[derive(Debug)]
pub struct KernelConversion {
    /// The tensor of the program that is converted.
    pub tensor: String,
    /// Whether it is a result, converted behind its kernel; operands are converted before.
    pub is_result: bool,
    /// The format that it has before.
    pub from: String,
    /// The format that it has after.
    pub to: String,
    /// The name of its function in the module.
    pub name: String,
    /// Its kernel, unless no derivation has one.
    pub function: Result<Function>,
}

/// A format with the index widths that kernels have where it declares none.
fn in_kernels(format: &Format) -> Format {
    let declared = format.widths();
    format.clone().with_widths(Widths {
        pos: declared.pos.or(Some(IndexWidth::W32)),
        crd: declared.crd.or(Some(IndexWidth::W32)),
    })
}

impl Compiled {
    /// The conversions of operands before statements and of results behind them, each once:
    /// `convert_A_to_A_csr` gives an operand `A` as `csr`, `convert_C_csr_to_C` the result `C_csr` of
    /// a kernel as the program has `C`.
    pub fn kernel_conversions(&self) -> Vec<KernelConversion> {
        let mut found: Vec<KernelConversion> = Vec::new();
        let results = self.results();
        for number in self.kernels() {
            let (plan, of_program) = (&self.statements[number].plan, results[number]);
            let tensors = &plan.concrete.tensors;
            let operands = plan.conversions.iter().filter(|it| it.view.is_none());
            let operands = operands.map(|it| {
                let name = format!("{}_to_{}", tensors[it.from].name, tensors[it.to].name);
                (it.from, name, &it.format)
            });
            let result = plan.concrete.result;
            let results = plan.converts_result.iter().map(|to| {
                let own = &tensors[result].name;
                let name = match own == of_program {
                    true => format!("{own}_computed_to_{own}"),
                    false => format!("{own}_to_{of_program}"),
                };
                (result, name, to)
            });
            for (tensor, name, to) in operands.chain(results) {
                let name = format!("convert_{name}");
                if found.iter().any(|known| known.name == name) {
                    continue;
                }
                let data = &tensors[tensor];
                let from = plan.formats.of(tensor);
                let options = Default::default();
                let (before, after) = (in_kernels(from), in_kernels(to));
                let made = conversion::synthesized(&before, &after, data.element, &options);
                let computed = made.and_then(|it| it.optimised(Optimisation::All, &|_| true));
                let compiled = computed.and_then(|it| compile_computation(&it));
                let function = compiled.map(|compiled| {
                    let mut function = compiled.function().clone();
                    function.name.clone_from(&name);
                    function
                });
                let is_result = tensor == result;
                found.push(KernelConversion {
                    tensor: match is_result {
                        true => of_program.to_owned(),
                        false => data.name.clone(),
                    },
                    is_result,
                    from: from.arrangement(),
                    to: to.arrangement(),
                    name,
                    function,
                });
            }
        }
        found
    }
}

//! Conversions beside the kernels of a module.

use sparsec_base::IndexWidth;
use sparsec_format::{Format, Widths};
use sparsec_loop::Function;

use crate::compiled::Compiled;
use crate::compute::compile_computation;
use crate::conversion::{self, Optimisation};

/// A format with the index widths that kernels have where it declares none.
fn in_kernels(format: &Format) -> Format {
    let declared = format.widths();
    format.clone().with_widths(Widths {
        pos: declared.pos.or(Some(IndexWidth::W32)),
        crd: declared.crd.or(Some(IndexWidth::W32)),
    })
}

impl Compiled {
    /// The kernels that convert operands before statements and results behind them, each once:
    /// `convert_A_to_A_csr` gives `A` as `csr`. Conversions that no derivation has are left out.
    pub(super) fn converters(&self) -> Vec<Function> {
        let mut found: Vec<(String, Function)> = Vec::new();
        for statement in &self.statements {
            let plan = &statement.plan;
            let tensors = &plan.concrete.tensors;
            let operands = plan.conversions.iter().filter(|it| it.view.is_none());
            let operands = operands.map(|it| {
                let from = plan.formats.of(it.from);
                let name = format!("{}_to_{}", tensors[it.from].name, tensors[it.to].name);
                (it.from, name, from, &it.format)
            });
            let result = plan.concrete.result;
            let results = plan.converts_result.iter().map(|to| {
                let from = plan.formats.of(result);
                let short = to.short_name();
                let letters = short.chars().filter(char::is_ascii_alphanumeric);
                let to_name: String = letters.collect();
                (
                    result,
                    format!("{}_to_{to_name}", tensors[result].name),
                    from,
                    to,
                )
            });
            for (tensor, name, from, to) in operands.chain(results) {
                let name = format!("convert_{name}");
                if found.iter().any(|(known, _)| *known == name) {
                    continue;
                }
                let element = tensors[tensor].element;
                let (from, to) = (in_kernels(from), in_kernels(to));
                let made = conversion::synthesized(&from, &to, element, &Default::default());
                let computed = made.and_then(|it| it.optimised(Optimisation::All, &|_| true));
                if let Ok(compiled) = computed.and_then(|it| compile_computation(&it)) {
                    let mut function = compiled.function().clone();
                    function.name.clone_from(&name);
                    found.push((name, function));
                }
            }
        }
        found.into_iter().map(|(_, function)| function).collect()
    }
}

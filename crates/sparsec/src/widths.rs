//! How wide index arrays are: 32 bits where a bound shows that all values
//! fit, else 64.

use sparsec_base::IndexWidth;
use sparsec_format::{Format, Role, Widths};
use sparsec_index::{Expr, Program, Statement};
use sparsec_tensor::Tensor;

use crate::request::Inputs;

/// `format` with the widths that it declares, else those of `input`'s arrays.
pub(crate) fn of_input(format: &Format, input: &Tensor) -> Format {
    let declared = format.widths();
    if !input.format().stores_like(format) {
        // The input is going to be packed again, as its data asks.
        return format.clone().with_widths(Widths {
            pos: declared
                .pos
                .or(Some(IndexWidth::holding(input.n_stored() as u64))),
            crd: declared.crd.or(Some(holding_extents(input.extents()))),
        });
    }
    let width = |wanted: fn(Role) -> bool| {
        let specs = input.format().arrays();
        let array = specs.iter().position(|spec| wanted(spec.role))?;
        IndexWidth::of(input.arrays()[array].element())
    };
    format.clone().with_widths(Widths {
        pos: width(|role| matches!(role, Role::Pos(_))).or(declared.pos),
        crd: width(|role| matches!(role, Role::Crd(_))).or(declared.crd),
    })
}

/// `format` with the widths that it declares, else such that every position
/// and coordinate of the result is sure to fit.
pub(crate) fn of_result(
    program: &Program,
    statement: &Statement,
    format: &Format,
    inputs: &Inputs,
) -> Format {
    let declared = format.widths();
    let extents: Option<Vec<u64>> = statement
        .lhs
        .vars
        .iter()
        .map(|var| program.vars[*var].extent)
        .collect();
    let Some(extents) = extents else {
        // Compiled before data is known: a kernel checks what it counts.
        return format.clone();
    };
    let dense = extents
        .iter()
        .fold(1u64, |product, extent| product.saturating_mul(*extent));
    let stored = stored_bound(program, statement, &statement.rhs, inputs);
    // Positions between full levels count dense entries.
    let has_inner_full = format.levels().iter().skip(1).any(|level| level.is_full());
    let bound = if has_inner_full {
        dense
    } else {
        dense.min(stored)
    };
    format.clone().with_widths(Widths {
        pos: declared.pos.or(Some(IndexWidth::holding(bound))),
        crd: declared.crd.or(Some(holding_extents(&extents))),
    })
}

fn holding_extents(extents: &[u64]) -> IndexWidth {
    IndexWidth::holding(extents.iter().copied().max().unwrap_or(0))
}

/// How many entries an expression stores at most: operands that meet multiply,
/// which also bounds what they have together; others add up.
fn stored_bound(program: &Program, statement: &Statement, expr: &Expr, inputs: &Inputs) -> u64 {
    match expr {
        Expr::Literal(_) => 0,
        Expr::Access(access) => {
            let data = &program.tensors[access.tensor];
            let Some(input) = inputs.get(&data.name) else {
                return u64::MAX;
            };
            // Modes of the result that the operand lacks repeat its entries.
            let repeated = statement
                .lhs
                .vars
                .iter()
                .filter(|var| !access.vars.contains(var));
            repeated.fold(input.n_stored() as u64, |bound, var| {
                bound.saturating_mul(program.vars[*var].extent.unwrap_or(u64::MAX))
            })
        }
        Expr::Cast(_, body) | Expr::Reduce { body, .. } => {
            stored_bound(program, statement, body, inputs)
        }
        Expr::Apply { args, .. } => args
            .iter()
            .map(|arg| stored_bound(program, statement, arg, inputs))
            .fold(0, u64::saturating_add),
    }
}

//! Where the data of a computation lie in the function.

use std::collections::BTreeMap;

use sparsec_base::ElementType;
use sparsec_computation::{Computation, DataSpace, Role as DataRole};
use sparsec_loop::{Access, Argument, Buffer, Builder, Expr, Role, Var};

use super::shares::Counts;
use super::shares::runs::RunShares;
use super::{has_computed_extent, loaded_type};
use crate::bisect::integer;

/// The variables and buffers of a function.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrays {
    pub(super) spaces: BTreeMap<String, Buffer>,
    /// The given arrays of `inout` data.
    pub(super) given: BTreeMap<String, Buffer>,
    /// Parameters, and integers without extents that are there.
    pub(super) constants: BTreeMap<String, Expr>,
    /// The counts of shares, by the data to which they are added.
    pub(super) counts: BTreeMap<String, Counts>,
    /// The shares of sweeps in runs.
    pub(super) runs: Vec<RunShares>,
    /// The sums of counts whose starts are shifted ([`shifted`](super::shifted)).
    pub(super) totals_of_shifted: BTreeMap<String, Var>,
}

impl Arrays {
    /// Binds integers that are given to their values.
    pub(super) fn bind_given(&mut self, builder: &mut Builder, computation: &Computation) {
        for space in &computation.spaces {
            if space.role.is_given() && space.extents.is_empty() && space.is_index_array() {
                // What is `inout` is copied behind this, and loops follow it only where
                // no statement writes it.
                let given = self.given.get(&space.name);
                self.bind(builder, space, *given.unwrap_or(&self.spaces[&space.name]));
            }
        }
    }

    /// Binds an integer to the value that it has from here on.
    pub(super) fn bind(&mut self, builder: &mut Builder, space: &DataSpace, buffer: Buffer) {
        let value = integer(builder, buffer, 0);
        let var = builder.let_(&space.name, value);
        self.constants.insert(space.name.clone(), Expr::Var(var));
    }
}

/// The arguments of the function: parameters, and data that are given or wanted.
pub(super) fn arguments(builder: &mut Builder, computation: &Computation) -> Arrays {
    let mut arrays = Arrays::default();
    let names = &computation.parameters;
    let extents: Vec<Var> = names
        .iter()
        .map(|name| builder.fixed(name, ElementType::I64))
        .collect();
    let values = extents.iter().map(|var| Expr::Var(*var));
    arrays.constants.extend(names.iter().cloned().zip(values));
    builder.argument(Argument {
        name: "parameters".to_owned(),
        role: Role::In,
        doc: names.join(", "),
        extents,
        buffers: Vec::new(),
    });
    for space in &computation.spaces {
        let name = &space.name;
        match space.role {
            DataRole::Given => {
                let buffer = argument(builder, name, space, Access::Read);
                arrays.spaces.insert(name.clone(), buffer);
            }
            DataRole::Out => {
                let access = match has_computed_extent(computation, space) {
                    true => Access::Grow,
                    false => Access::Write,
                };
                let buffer = argument(builder, name, space, access);
                arrays.spaces.insert(name.clone(), buffer);
            }
            DataRole::InOut => {
                let given = argument(builder, &format!("{name}.given"), space, Access::Read);
                arrays.given.insert(name.clone(), given);
                let buffer = argument(builder, name, space, Access::Write);
                arrays.spaces.insert(name.clone(), buffer);
            }
            DataRole::Temporary => {
                let (storage, loaded) = (space.element, loaded_type(space.element));
                let buffer = builder.buffer(name, storage, loaded, Access::Workspace);
                arrays.spaces.insert(name.clone(), buffer);
            }
        }
    }
    arrays
}

fn argument(builder: &mut Builder, name: &str, space: &DataSpace, access: Access) -> Buffer {
    let extents: Vec<Var> = (0..space.extents.len())
        .map(|mode| builder.fixed(&format!("{name}.n{mode}"), ElementType::I64))
        .collect();
    let role = match access {
        Access::Read => Role::In,
        _ => Role::Out,
    };
    let loaded = loaded_type(space.element);
    let buffer = builder.buffer(&format!("{name}.vals"), space.element, loaded, access);
    let names: Vec<String> = (0..extents.len()).map(|mode| format!("i{mode}")).collect();
    let levels: Vec<String> = names.iter().map(|name| format!("{name} : dense")).collect();
    builder.argument(Argument {
        name: name.to_owned(),
        role,
        doc: format!("({}) -> ({})", names.join(", "), levels.join(", ")),
        extents,
        buffers: vec![buffer],
    });
    buffer
}

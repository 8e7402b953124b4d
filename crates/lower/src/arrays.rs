//! The arrays and extents of a tensor that is an argument of a kernel.

use std::collections::BTreeMap;

use sparsec_base::{ElementType, IndexWidth};
use sparsec_format::{Format, Role as ArrayRole};
use sparsec_loop::{Access, Argument, Buffer, Builder, Role, Var};

/// The variables and buffers that hold one tensor.
#[derive(Clone, Debug)]
pub(crate) struct Arrays {
    /// The extent of each mode.
    pub(crate) extents: Vec<Var>,
    /// The arrays of the levels.
    index: BTreeMap<ArrayRole, Buffer>,
    /// The values.
    pub(crate) vals: Buffer,
}

impl Arrays {
    /// The `pos` array of a level whose kind keeps one.
    pub(crate) fn pos(&self, level: usize) -> Buffer {
        self.index(ArrayRole::Pos(level))
    }

    /// The `crd` array of a level whose kind keeps one.
    pub(crate) fn crd(&self, level: usize) -> Buffer {
        self.index(ArrayRole::Crd(level))
    }

    /// An array that a level keeps by its kind.
    pub(crate) fn index(&self, role: ArrayRole) -> Buffer {
        self.index[&role]
    }

    /// The array in which a level has the ends of its segments, if its kind keeps one.
    pub(crate) fn end(&self, level: usize) -> Option<Buffer> {
        self.index.get(&ArrayRole::End(level)).copied()
    }
}

/// Adds an argument that is a tensor in `format`.
pub(crate) fn argument(
    builder: &mut Builder,
    name: &str,
    element: ElementType,
    format: &Format,
    role: Role,
) -> Arrays {
    let extents: Vec<Var> = (0..format.order())
        .map(|mode| builder.fixed(&format!("{name}.n{mode}"), ElementType::I64))
        .collect();
    let access = match role {
        Role::In => Access::Read,
        Role::Out if format.takes_any_order() => Access::Write,
        Role::Out => Access::Grow,
    };
    let mut index = BTreeMap::new();
    let mut vals = None;
    let mut buffers = Vec::new();
    for spec in format.arrays() {
        let (storage, compute) = match spec.role {
            ArrayRole::Vals => (element, element),
            ArrayRole::Bits(_) => (ElementType::U8, ElementType::I64),
            index => (width(format, index).element(), ElementType::I64),
        };
        let buffer = builder.buffer(&spec.name(name), storage, compute, access);
        match spec.role {
            ArrayRole::Vals => vals = Some(buffer),
            role => _ = index.insert(role, buffer),
        }
        buffers.push(buffer);
    }
    builder.argument(Argument {
        name: name.to_owned(),
        role,
        doc: format.to_string(),
        extents: extents.clone(),
        buffers,
    });
    Arrays {
        extents,
        index,
        vals: vals.expect("every format declares values"),
    }
}

/// The width of an index array: the declared one, else 32 bits.
fn width(format: &Format, role: ArrayRole) -> IndexWidth {
    format.declared_width(role).unwrap_or(IndexWidth::W32)
}

/// The width of the `pos` arrays of a result: the declared one, else 32 bits.
pub(crate) fn pos_width(format: &Format) -> IndexWidth {
    format.widths().pos.unwrap_or(IndexWidth::W32)
}

/// The width of the `crd` arrays of a result: the declared one, else 32 bits.
pub(crate) fn crd_width(format: &Format) -> IndexWidth {
    format.widths().crd.unwrap_or(IndexWidth::W32)
}

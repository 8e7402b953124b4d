//! Modules: operations, regions, blocks and values in arenas.
//!
//! ```text
//! module ── region ── block ── op  func.func
//!                               └─ region ── block (arguments: values)
//!                                             ├─ op  %0 = …        results: values
//!                                             └─ op  return %0     operands: values
//! ```
//!
//! A region has one block, since no operation that is known jumps to another. Everything is
//! named by an id; an id belongs to one module. An operation with a
//! [`Definition`] has its operands and results in the groups that the definition lists, and
//! exactly the attributes that it lists, plus any others. [`Operation`] is a view of one that
//! asks for them by name.

use sparsec_base::{Arena, Source, Span, define_id};

use crate::attribute::{Attribute, Dictionary};
use crate::definition::Definition;
use crate::release::{Dialect, Releases};
use crate::spell::{Aliases, Spell};
use crate::types::Type;

define_id!(
    /// An operation.
    pub struct Op,
    "op"
);
define_id!(
    /// A region: what stands between braces.
    pub struct Region,
    "region"
);
define_id!(
    /// A block: operations one after another.
    pub struct Block,
    "bb"
);
define_id!(
    /// A value: a result of an operation or an argument of a block.
    pub struct Value,
    "v"
);

/// A program of operations.
#[derive(Clone, Debug)]
pub struct Module {
    pub(crate) source: Source,
    pub(crate) ops: Arena<Op, OpData>,
    pub(crate) regions: Arena<Region, RegionData>,
    pub(crate) blocks: Arena<Block, BlockData>,
    pub(crate) values: Arena<Value, ValueData>,
    pub(crate) aliases: Aliases,
    pub(crate) dialect: Dialect,
    pub(crate) releases: Releases,
    /// The operation that holds all others.
    pub(crate) root: Op,
}

/// What there is to know of an operation.
#[derive(Clone, Debug)]
pub struct OpData {
    /// What operations of this name are.
    pub definition: &'static Definition,
    /// All operands, group by group.
    pub operands: Vec<Value>,
    /// Where each operand stands in the text.
    pub operand_spans: Vec<Span>,
    /// How many operands each group has.
    pub operand_groups: Vec<usize>,
    /// All results, group by group.
    pub results: Vec<Value>,
    /// How many results each group has.
    pub result_groups: Vec<usize>,
    /// The attributes by name.
    pub attributes: Dictionary,
    /// The regions.
    pub regions: Vec<Region>,
    /// The block that it stands in; `None` of the outermost one.
    pub block: Option<Block>,
    /// Where its name stands.
    pub span: Span,
}

/// What there is to know of a region.
#[derive(Clone, Debug)]
pub struct RegionData {
    /// The block; `None` of a region without operations.
    pub block: Option<Block>,
    /// The operation that it belongs to.
    pub op: Option<Op>,
    /// Where it begins.
    pub span: Span,
}

/// What there is to know of a block.
#[derive(Clone, Debug)]
pub struct BlockData {
    /// The arguments.
    pub arguments: Vec<Value>,
    /// The operations in order.
    pub ops: Vec<Op>,
    /// The region that it stands in.
    pub region: Region,
    /// Where it begins.
    pub span: Span,
}

/// What there is to know of a value.
#[derive(Clone, Debug)]
pub struct ValueData {
    /// The name without `%`, with `#n` behind it where several results share it.
    pub name: String,
    /// The type.
    pub ty: Type,
    /// What makes the value.
    pub origin: Origin,
    /// Where it is named first.
    pub span: Span,
}

/// What makes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A result of an operation.
    Result(Op, usize),
    /// An argument of a block.
    Argument(Block, usize),
}

impl Module {
    /// A module that holds nothing, not even its outermost operation.
    pub(crate) fn empty(source: &Source, dialect: Dialect) -> Self {
        Self {
            source: source.clone(),
            ops: Arena::new(),
            regions: Arena::new(),
            blocks: Arena::new(),
            values: Arena::new(),
            aliases: Aliases::default(),
            dialect,
            releases: Releases::ALL,
            root: sparsec_base::arena::Id::from_index(0),
        }
    }

    /// The text that the module was read from.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The dialect that the module is written in.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The releases that know all of its words.
    pub fn releases(&self) -> Releases {
        self.releases
    }

    /// The names that the text gives attributes and types.
    pub fn aliases(&self) -> &Aliases {
        &self.aliases
    }

    /// The outermost operation, a `module`.
    pub fn root(&self) -> Op {
        self.root
    }

    /// A view of an operation.
    pub fn op(&self, op: Op) -> Operation<'_> {
        Operation { module: self, op }
    }

    /// The data of a region.
    pub fn region(&self, region: Region) -> &RegionData {
        &self.regions[region]
    }

    /// The data of a block.
    pub fn block(&self, block: Block) -> &BlockData {
        &self.blocks[block]
    }

    /// The data of a value.
    pub fn value(&self, value: Value) -> &ValueData {
        &self.values[value]
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> &Type {
        &self.values[value].ty
    }

    /// How this module spells types and attributes.
    pub fn spell(&self) -> Spell<'_> {
        Spell {
            dialect: self.dialect,
            aliases: &self.aliases,
        }
    }

    /// All operations, each before those in its regions.
    pub fn walk(&self) -> Vec<Op> {
        self.walk_from(self.root)
    }

    /// An operation and all in its regions, each before those in its own.
    pub fn walk_from(&self, op: Op) -> Vec<Op> {
        let mut found = Vec::new();
        let mut open = vec![op];
        while let Some(op) = open.pop() {
            found.push(op);
            let blocks = self.ops[op]
                .regions
                .iter()
                .filter_map(|region| self.regions[*region].block);
            let inside: Vec<Op> = blocks
                .flat_map(|block| &self.blocks[block].ops)
                .copied()
                .collect();
            open.extend(inside.into_iter().rev());
        }
        found
    }

    /// The operation around another; `None` of the outermost.
    pub fn parent(&self, op: Op) -> Option<Op> {
        let block = self.ops[op].block?;
        self.regions[self.blocks[block].region].op
    }

    pub(crate) fn add_value(
        &mut self,
        name: String,
        ty: Type,
        origin: Origin,
        span: Span,
    ) -> Value {
        self.values.push(ValueData {
            name,
            ty,
            origin,
            span,
        })
    }
}

/// An operation of a module, asked by the names of its definition.
#[derive(Clone, Copy, Debug)]
pub struct Operation<'a> {
    module: &'a Module,
    op: Op,
}

impl<'a> Operation<'a> {
    /// The id.
    pub fn id(self) -> Op {
        self.op
    }

    /// The module that it belongs to.
    pub fn module(self) -> &'a Module {
        self.module
    }

    /// The data.
    pub fn data(self) -> &'a OpData {
        &self.module.ops[self.op]
    }

    /// The name, such as `sparse_tensor.convert`.
    pub fn name(self) -> &'static str {
        self.data().definition.name
    }

    /// The operands of a group.
    ///
    /// # Panics
    /// Where the definition has no such group.
    pub fn operands(self, name: &str) -> &'a [Value] {
        let data = self.data();
        let group = data.definition.operand(name);
        part(&data.operands, &data.operand_groups, group)
    }

    /// The places of the operands of a group.
    ///
    /// # Panics
    /// Where the definition has no such group.
    pub fn operand_spans(self, name: &str) -> &'a [Span] {
        let data = self.data();
        let group = data.definition.operand(name);
        part(&data.operand_spans, &data.operand_groups, group)
    }

    /// The only operand of a group.
    ///
    /// # Panics
    /// Where there are none or several.
    pub fn operand(self, name: &str) -> Value {
        self.operands(name)[0]
    }

    /// The results of a group.
    ///
    /// # Panics
    /// Where the definition has no such group.
    pub fn results(self, name: &str) -> &'a [Value] {
        let data = self.data();
        let group = data.definition.result(name);
        part(&data.results, &data.result_groups, group)
    }

    /// The only result of a group.
    ///
    /// # Panics
    /// Where there are none or several.
    pub fn result(self, name: &str) -> Value {
        self.results(name)[0]
    }

    /// The type of the only operand of a group.
    ///
    /// # Panics
    /// Where there are none or several.
    pub fn operand_type(self, name: &str) -> &'a Type {
        self.module.ty(self.operand(name))
    }

    /// The type of the only result of a group.
    ///
    /// # Panics
    /// Where there are none or several.
    pub fn result_type(self, name: &str) -> &'a Type {
        self.module.ty(self.result(name))
    }

    /// The types of the operands of a group.
    ///
    /// # Panics
    /// Where the definition has no such group.
    pub fn operand_types(self, name: &str) -> Vec<Type> {
        self.operands(name)
            .iter()
            .map(|value| self.module.ty(*value).clone())
            .collect()
    }

    /// The types of all results.
    pub fn result_types(self) -> Vec<Type> {
        self.data()
            .results
            .iter()
            .map(|value| self.module.ty(*value).clone())
            .collect()
    }

    /// An attribute.
    pub fn attribute(self, name: &str) -> Option<&'a Attribute> {
        let found = self
            .data()
            .attributes
            .iter()
            .find(|(known, _)| known == name);
        found.map(|(_, value)| value)
    }

    /// A region.
    ///
    /// # Panics
    /// Where the definition has no such region.
    pub fn region(self, name: &str) -> &'a RegionData {
        let data = self.data();
        let place = data
            .definition
            .regions
            .iter()
            .position(|region| region.name == name);
        &self.module.regions[data.regions[place.expect("a region of the definition")]]
    }
}

/// The entries of a group.
fn part<'a, T>(all: &'a [T], groups: &[usize], group: usize) -> &'a [T] {
    let from: usize = groups[..group].iter().sum();
    &all[from..from + groups[group]]
}

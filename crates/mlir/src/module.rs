//! Modules: operations, regions, blocks and values in arenas.
//!
//! ```text
//! module ── region ── block ── op  func.func
//!                               └─ region ── block (arguments: values)
//!                                             ├─ op  %0 = …        results: values
//!                                             └─ op  return %0     operands: values
//! ```
//!
//! A region has one block, since no known operation jumps to another block. Ids name everything; an
//! id belongs to one module. Operands and results of an operation are in the groups that its
//! [`Definition`] lists. The operation has the attributes of its definition, and may have others.
//! [`Operation`] is a view that finds them by name.

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
    /// A region: the text between braces.
    pub struct Region,
    "region"
);
define_id!(
    /// A block: a sequence of operations.
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
    /// The operation that contains all others.
    pub(crate) root: Op,
}

/// The data of an operation.
#[derive(Clone, Debug)]
pub struct OpData {
    /// The definition of the operation.
    pub definition: &'static Definition,
    /// All operands, group by group.
    pub operands: Vec<Value>,
    /// The place of each operand in the text.
    pub operand_spans: Vec<Span>,
    /// The number of operands in each group.
    pub operand_groups: Vec<usize>,
    /// All results, group by group.
    pub results: Vec<Value>,
    /// The number of results in each group.
    pub result_groups: Vec<usize>,
    /// The attributes by name.
    pub attributes: Dictionary,
    /// The regions.
    pub regions: Vec<Region>,
    /// The block that contains it; `None` for the outermost operation.
    pub block: Option<Block>,
    /// The place of its name.
    pub span: Span,
}

/// The data of a region.
#[derive(Clone, Debug)]
pub struct RegionData {
    /// The block; `None` for a region without operations.
    pub block: Option<Block>,
    /// The operation that owns it.
    pub op: Option<Op>,
    /// The place where it begins.
    pub span: Span,
}

/// The data of a block.
#[derive(Clone, Debug)]
pub struct BlockData {
    /// The arguments.
    pub arguments: Vec<Value>,
    /// The operations in order.
    pub ops: Vec<Op>,
    /// The region that contains it.
    pub region: Region,
    /// The place where it begins.
    pub span: Span,
}

/// The data of a value.
#[derive(Clone, Debug)]
pub struct ValueData {
    /// The name without `%`. If several results share a name, `#n` follows it.
    pub name: String,
    /// The type.
    pub ty: Type,
    /// The operation or block that defines the value.
    pub origin: Origin,
    /// The place of its definition.
    pub span: Span,
}

/// The definition of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A result of an operation.
    Result(Op, usize),
    /// An argument of a block.
    Argument(Block, usize),
}

impl Module {
    /// A module without operations.
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

    /// The dialect of the text.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The releases that know all words of the text.
    pub fn releases(&self) -> Releases {
        self.releases
    }

    /// The aliases of the text for attributes and types.
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

    /// The spelling of types and attributes in this module.
    pub fn spell(&self) -> Spell<'_> {
        Spell {
            dialect: self.dialect,
            aliases: &self.aliases,
        }
    }

    /// All operations. An operation comes before those in its regions.
    pub fn walk(&self) -> Vec<Op> {
        self.walk_from(self.root)
    }

    /// An operation and all operations in its regions. An operation comes before those in its
    /// regions.
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

    /// The operation that contains another; `None` for the outermost one.
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

/// A view of an operation that finds its parts by the names of the definition.
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

    /// The module that contains it.
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

    /// The latest name of the operation, if its releases differ in the name alone.
    ///
    /// ```
    /// use sparsec_base::Source;
    /// use sparsec_mlir::Module;
    /// let text = "func @f(%x: i32) { %0 = divi_signed %x, %x : i32 return }";
    /// let module = Module::parse(&Source::new("old", text), None)?;
    /// let ops = module.walk();
    /// assert!(ops.into_iter().any(|op| module.op(op).meaning() == "arith.divsi"));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn meaning(self) -> &'static str {
        crate::rewrite::names::latest(self.name())
    }

    /// The operands of a group.
    ///
    /// # Panics
    /// If the definition has no such group.
    pub fn operands(self, name: &str) -> &'a [Value] {
        let data = self.data();
        let group = data.definition.operand(name);
        part(&data.operands, &data.operand_groups, group)
    }

    /// The places of the operands of a group in the text.
    ///
    /// # Panics
    /// If the definition has no such group.
    pub fn operand_spans(self, name: &str) -> &'a [Span] {
        let data = self.data();
        let group = data.definition.operand(name);
        part(&data.operand_spans, &data.operand_groups, group)
    }

    /// The operand of a group with one operand.
    ///
    /// # Panics
    /// If there are none or several.
    pub fn operand(self, name: &str) -> Value {
        self.operands(name)[0]
    }

    /// The results of a group.
    ///
    /// # Panics
    /// If the definition has no such group.
    pub fn results(self, name: &str) -> &'a [Value] {
        let data = self.data();
        let group = data.definition.result(name);
        part(&data.results, &data.result_groups, group)
    }

    /// The result of a group with one result.
    ///
    /// # Panics
    /// If there are none or several.
    pub fn result(self, name: &str) -> Value {
        self.results(name)[0]
    }

    /// The type of the operand of a group with one operand.
    ///
    /// # Panics
    /// If there are none or several.
    pub fn operand_type(self, name: &str) -> &'a Type {
        self.module.ty(self.operand(name))
    }

    /// The type of the result of a group with one result.
    ///
    /// # Panics
    /// If there are none or several.
    pub fn result_type(self, name: &str) -> &'a Type {
        self.module.ty(self.result(name))
    }

    /// The types of the operands of a group.
    ///
    /// # Panics
    /// If the definition has no such group.
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

    /// The attribute with this name.
    pub fn attribute(self, name: &str) -> Option<&'a Attribute> {
        let found = self
            .data()
            .attributes
            .iter()
            .find(|(known, _)| known == name);
        found.map(|(_, value)| value)
    }

    /// The region with this name.
    ///
    /// # Panics
    /// If the definition has no such region.
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

/// The part of a list that belongs to one group.
fn part<'a, T>(all: &'a [T], groups: &[usize], group: usize) -> &'a [T] {
    let from: usize = groups[..group].iter().sum();
    &all[from..from + groups[group]]
}

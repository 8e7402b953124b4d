//! The rules for valid modules.
//!
//! The parser guarantees that names are defined and visible, that values have the types of their
//! uses, and that encodings keep their rules. The verifier checks for every operation:
//!
//! 1. Operands and results have the types of the definition (`operands.rs`).
//! 2. Required attributes are there, and each is of its kind (`operands.rs`).
//! 3. Regions have the right blocks, arguments and terminators (`regions.rs`).
//! 4. Symbols name functions, and calls fit their types (`symbols.rs`).
//! 5. Shapes, levels and arrays fit: for `sparse_tensor` (`sparse.rs`, `buffers.rs`, `arrays.rs`,
//!    `bodies.rs`), for `linalg` (`linalg.rs`, `extents.rs`), for other dialects (`elements.rs`,
//!    `shapes.rs`, `reshapes.rs`, `views.rs`, `vectors.rs`).
//!
//! Rules that differ between releases ask the dialect of the text; the others are those of
//! release 19.

use std::collections::HashMap;

use sparsec_base::{Code, Diagnostic, Result, Span};

use crate::module::{Block, Module, Op, Operation, Value};
use crate::release::Dialect;
use crate::types::Type;

mod arrays;
mod bodies;
mod buffers;
mod elements;
mod extents;
mod linalg;
mod operands;
mod regions;
mod reshapes;
mod shapes;
mod sparse;
mod symbols;
mod vectors;
mod views;

pub(crate) use linalg::reduced_outputs;

impl Module {
    /// Checks every operation.
    ///
    /// # Errors
    /// `E1005` and `E1010` to `E1039`: the first broken rule in the order of the text.
    ///
    /// ```
    /// use sparsec_base::Source;
    /// use sparsec_mlir::Module;
    /// let text = "func.func @f(%x: index) -> index {
    ///   %y = \"arith.addf\"(%x, %x) : (index, index) -> index
    ///   return %y : index
    /// }";
    /// let module = Module::parse(&Source::new("text", text), None)?;
    /// assert_eq!(module.verify().unwrap_err().code().as_str(), "E1010");
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn verify(&self) -> Result<()> {
        let check = Check {
            module: self,
            leaving: leaving(self),
            uses: Uses::new(self),
            functions: symbols::functions(self),
        };
        for op in self.walk() {
            let op = self.op(op);
            check.attributes(op)?;
            check.types(op)?;
            check.regions(op)?;
            check.symbols(op)?;
            let (dialect, word) = op.name().split_once('.').unwrap_or(("", op.name()));
            match dialect {
                "sparse_tensor" => check.sparse(op, word)?,
                // `init_tensor` and the reshapes of release 13 are operations on tensors.
                "linalg" if !word.contains("tensor") => check.linalg(op, word)?,
                _ => {
                    check.same_types(op)?;
                    check.shapes(op)?;
                }
            }
        }
        Ok(())
    }
}

struct Check<'a> {
    module: &'a Module,
    /// The first call that takes each value, or the return that gives it.
    leaving: HashMap<Value, Op>,
    uses: Uses,
    /// The functions of each block by their names; the first one of a name.
    functions: HashMap<(Block, &'a str), Op>,
}

/// The uses of tensors that the program releases.
struct Uses {
    /// The number of each operation in the order of the text.
    order: HashMap<Op, usize>,
    /// The operations that use a value in this order, and which operand it is.
    of: HashMap<Value, Vec<(Op, usize)>>,
}

impl Uses {
    fn new(module: &Module) -> Self {
        let ops = module.walk();
        let released = ops.iter().map(|op| module.op(*op)).filter(|op| {
            matches!(
                op.meaning(),
                "bufferization.dealloc_tensor" | "sparse_tensor.release"
            )
        });
        let mut of: HashMap<Value, Vec<(Op, usize)>> = released
            .map(|op| (op.operand("tensor"), Vec::new()))
            .collect();
        for op in &ops {
            for (n, value) in module.op(*op).data().operands.iter().enumerate() {
                if let Some(uses) = of.get_mut(value) {
                    uses.push((*op, n));
                }
            }
        }
        let order = ops.into_iter().enumerate().map(|(n, op)| (op, n));
        Self {
            order: order.collect(),
            of,
        }
    }
}

/// The values that calls take and functions give.
fn leaving(module: &Module) -> HashMap<Value, Op> {
    let mut found = HashMap::new();
    for op in module.walk() {
        if matches!(module.op(op).name(), "func.call" | "func.return") {
            for value in &module.op(op).data().operands {
                found.entry(*value).or_insert(op);
            }
        }
    }
    found
}

impl Check<'_> {
    fn fault(
        &self,
        code: Code,
        message: impl Into<String>,
        span: Span,
        label: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic::new(code, message).at(self.module.source(), span, label)
    }

    /// Whether the text is of this release or a later one.
    fn is_since(&self, release: u8) -> bool {
        matches!(self.module.dialect(), Dialect::Release(number) if number >= release)
    }

    /// Whether the text is of an earlier release than this one.
    fn is_before(&self, release: u8) -> bool {
        matches!(self.module.dialect(), Dialect::Release(number) if number < release)
    }

    /// A fault with the operation as its place.
    fn of_op(&self, op: Operation<'_>, code: Code, message: impl Into<String>) -> Diagnostic {
        self.fault(code, message, op.data().span, "in this operation")
    }

    fn text(&self, ty: &Type) -> String {
        self.module.spell().ty(ty)
    }

    /// The place of the first operand of a group, or of the operation if the group is empty.
    fn operand_span(&self, op: Operation<'_>, name: &str) -> Span {
        op.operand_spans(name)
            .first()
            .copied()
            .unwrap_or(op.data().span)
    }

    fn named(&self, value: Value) -> String {
        match self.module.value(value).name.as_str() {
            "" => "this value".to_owned(),
            name => format!("`%{name}`"),
        }
    }
}

//! Structured operations as programs of tensor expressions.
//!
//! ```text
//! linalg.generic ins(%A, %x) outs(%y)          inputs A, x (and y, if it is not zero)
//!   (i, j), (j), (i)                           y1(i) = y(i) + sum{j}(A(i,j) * x(j))
//!   %y + %A * %x
//! ```
//!
//! | the body yields                            | statement                          |
//! |--------------------------------------------|------------------------------------|
//! | a value without `%y`                       | `y1(i) = value`                    |
//! | a value, and no iterator is a reduction    | `y1(i) = value`, with `y(i)` for `%y` |
//! | `%y op value`, `op` reduces                | `y1(i) = y(i) op op{j}(value)`     |
//! | `sparse_tensor.reduce %y, value, identity` | the same of stored values          |
//!
//! Other bodies have no kernel; `pointwise` evaluates them at each point.

use std::collections::{BTreeMap, HashMap};

use sparsec_base::{Diagnostic, ElementType, Result, Scalar, Span, code};
use sparsec_format::Format;
use sparsec_index::build::Value as Expression;
use sparsec_index::function::Properties;
use sparsec_index::{
    IndexExpr, IndexVar, Operator, Program, ProgramBuilder, TensorVar, UserFunction,
};
use sparsec_mlir::affine::AffineOp;
use sparsec_mlir::{AffineExpr, Block, Module, Operation, Type, Value};

use crate::body::{Expressions, Regions, definer, yielded};
use crate::machine::constant_number;
use crate::numbers::{self, Algebra};
use crate::structured::{Body, Structured};

/// A structured operation as a program.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The program; a statement for each result, and for each one with `kept` another.
    pub program: Program,
    /// The formats of inputs and results.
    pub formats: BTreeMap<TensorVar, Format>,
    /// The place of the operation.
    pub span: Span,
    /// What the inputs are, in order.
    pub(crate) inputs: Vec<Source>,
    /// What becomes of the results, in order.
    pub(crate) results: Vec<Outcome>,
}

/// What an input of a kernel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The operand with this number, those of `ins` first.
    Operand(usize),
    /// A number from outside of the body.
    Captured(Value),
}

/// What becomes of a result of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Whether the next statement says which entries are kept.
    pub(crate) has_kept: bool,
    /// Whether entries that are not stored are zero, whatever the fill is.
    pub(crate) drops_fill: bool,
}

/// What is known of an operand.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) element: ElementType,
    pub(crate) format: Format,
    pub(crate) extents: Vec<Option<u64>>,
    /// The value of all entries, if they are known to be equal.
    pub(crate) uniform: Option<Scalar>,
}

/// The programs of a module's structured operations, with the formats and extents of their types.
///
/// Operations without a kernel are left out.
///
/// # Errors
/// Those of encodings that no format has.
///
/// ```
/// use sparsec_base::Source;
/// use sparsec_mlir::Module;
/// let text = "
///     #CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
///     func.func @f(%a: tensor<4x8xf64, #CSR>, %x: tensor<8xf64>, %y: tensor<4xf64>) -> tensor<4xf64> {
///       %0 = linalg.matvec ins(%a, %x : tensor<4x8xf64, #CSR>, tensor<8xf64>)
///                          outs(%y : tensor<4xf64>) -> tensor<4xf64>
///       return %0 : tensor<4xf64>
///     }";
/// let module = Module::parse(&Source::new("example", text), None)?;
/// let kernels = sparsec_mlir_run::kernels(&module)?;
/// assert_eq!(kernels[0].program.to_string(), "t0(i) = y(i) + sum{k}(a(i,k) * x(k))");
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
pub fn kernels(module: &Module) -> Result<Vec<Kernel>> {
    let mut found = Vec::new();
    for op in module.walk() {
        let Some(structured) = Structured::of(module.op(op))? else {
            continue;
        };
        let operands = &structured.op.data().operands;
        let known: Vec<Option<Known>> = operands
            .iter()
            .map(|operand| declared(module, *operand))
            .collect::<Result<_>>()?;
        let n_loops = structured.reductions.len();
        let mut extents = vec![None; n_loops];
        for (known, map) in known.iter().zip(&structured.maps) {
            let Some(known) = known else { continue };
            for (extent, result) in known.extents.iter().zip(&map.results) {
                if let Some(n) = result.dimension() {
                    extents[n] = extents[n].or(*extent);
                }
            }
        }
        found.extend(of_structured(&structured, &known, &extents)?);
    }
    Ok(found)
}

/// What the type of an operand says; `None` for a number.
fn declared(module: &Module, operand: Value) -> Result<Option<Known>> {
    let ty = module.ty(operand);
    let (Some(shape), Some(element)) = (ty.shape(), ty.element().number()) else {
        return Ok(None);
    };
    let is_empty = definer(module, operand).is_some_and(|op| {
        matches!(
            op.name(),
            "tensor.empty" | "sparse_tensor.init" | "linalg.init_tensor"
        ) || op.name() == "bufferization.alloc_tensor" && op.operands("copy").is_empty()
    });
    Ok(Some(Known {
        element,
        format: format_of(ty)?,
        extents: shape,
        uniform: is_empty.then(|| element.zero()),
    }))
}

/// The format of tensors of a type.
///
/// # Errors
/// Those of encodings that no format has.
pub(crate) fn format_of(ty: &Type) -> Result<Format> {
    match ty.encoding() {
        Some(encoding) => {
            let mut whole = (**encoding).clone();
            whole.slices.clear();
            whole.to_format()
        }
        None => Ok(Format::dense(ty.shape().map_or(0, |shape| shape.len()))),
    }
}

/// The kernel of an operation; `None` if its body has none.
///
/// # Errors
/// Those of extents that no program has.
pub(crate) fn of_structured(
    structured: &Structured<'_>,
    operands: &[Option<Known>],
    extents: &[Option<u64>],
) -> Result<Option<Kernel>> {
    let maker = Maker::new(structured, operands, extents);
    // An expression may be too large, or have no types; such bodies are evaluated.
    Ok(maker.kernel().unwrap_or(None))
}

struct Maker<'a> {
    structured: &'a Structured<'a>,
    operands: &'a [Option<Known>],
    extents: &'a [Option<u64>],
    module: &'a Module,
    builder: ProgramBuilder,
    vars: Vec<IndexVar>,
    inputs: Vec<Source>,
    formats: BTreeMap<TensorVar, Format>,
    /// The loops that an input's extents tell.
    told: Vec<bool>,
}

const LETTERS: [&str; 6] = ["i", "j", "k", "l", "m", "n"];

impl<'a> Maker<'a> {
    fn new(
        structured: &'a Structured<'a>,
        operands: &'a [Option<Known>],
        extents: &'a [Option<u64>],
    ) -> Self {
        let mut builder = ProgramBuilder::new();
        let n_loops = extents.len();
        // As index notation has them: results by `i` and `j`, and sums over `k`.
        let n_parallel = structured.reductions.iter().filter(|it| !**it).count();
        let by_letter = n_parallel <= 2 && n_loops - n_parallel <= 4;
        let (mut next, mut next_sum) = (0, 2);
        let vars = structured.reductions.iter().enumerate().map(|(n, is_sum)| {
            let counter = if *is_sum { &mut next_sum } else { &mut next };
            let letter = LETTERS[(*counter).min(5)];
            *counter += 1;
            match by_letter {
                true => builder.var(letter),
                false => builder.var(&format!("d{n}")),
            }
        });
        let vars = vars.collect();
        Self {
            structured,
            operands,
            extents,
            module: structured.op.module(),
            builder,
            vars,
            inputs: Vec::new(),
            formats: BTreeMap::new(),
            told: vec![false; n_loops],
        }
    }

    /// An input that is named like a value of the program.
    fn input(
        &mut self,
        value: Value,
        element: ElementType,
        extents: &[Option<u64>],
    ) -> Result<TensorVar> {
        let name = self.name(value);
        let mut tried = name.clone();
        for n in 1.. {
            match self.builder.input(&tried, element, extents) {
                Err(refusal) if refusal.code() == code::INVALID_NAME && n < 100 => {
                    tried = format!("{name}_{n}");
                }
                other => return other,
            }
        }
        unreachable!("the loop has no end")
    }

    fn name(&self, value: Value) -> String {
        let name = &self.module.value(value).name;
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let name: String = name
            .chars()
            .map(|c| if is_word(c) { c } else { '_' })
            .collect();
        match name.chars().next() {
            Some(first) if first.is_ascii_alphabetic() => name,
            _ => format!("t{name}"),
        }
    }

    fn index(&self, expression: &AffineExpr) -> Option<IndexExpr> {
        Some(match expression {
            AffineExpr::Dimension(n) => IndexExpr::from(*self.vars.get(*n)?),
            AffineExpr::Constant(value) => IndexExpr::constant(*value),
            AffineExpr::Symbol(_) => return None,
            AffineExpr::Binary(op, a, b) => {
                let left = self.index(a)?;
                let extent = |var| {
                    let number = self.vars.iter().position(|known| *known == var)?;
                    self.extents[number]
                };
                let by = || match **b {
                    AffineExpr::Constant(by) => Some(by),
                    _ => None,
                };
                match op {
                    AffineOp::Add => left.plus(&self.index(b)?)?,
                    AffineOp::Subtract => left.minus(&self.index(b)?)?,
                    AffineOp::Multiply => match (by(), &**a) {
                        (Some(by), _) => left.times(by)?,
                        (None, AffineExpr::Constant(by)) => self.index(b)?.times(*by)?,
                        _ => return None,
                    },
                    AffineOp::FloorDivide => left.floor_div(by().filter(|by| *by > 0)?, &extent),
                    AffineOp::Modulo => left.modulo(by().filter(|by| *by > 0)?, &extent),
                    AffineOp::CeilDivide => return None,
                }
            }
        })
    }

    /// An access to an operand; `None` if its map has no index expressions.
    fn access(&mut self, number: usize) -> Result<Option<Expression>> {
        let value = self.structured.op.data().operands[number];
        let Some(known) = &self.operands[number] else {
            return Ok(None);
        };
        let known = known.clone();
        let map = &self.structured.maps[number];
        let indices = map.results.iter().map(|result| self.index(result));
        let Some(indices) = indices.collect::<Option<Vec<IndexExpr>>>() else {
            return Ok(None);
        };
        for result in &map.results {
            if let Some(n) = result.dimension() {
                self.told[n] = true;
            }
        }
        let tensor = self.input(value, known.element, &known.extents)?;
        self.inputs.push(Source::Operand(number));
        self.formats.insert(tensor, known.format);
        self.builder.access(tensor, indices).map(Some)
    }

    /// A number from outside of the body.
    fn captured(&mut self, value: Value) -> Result<Option<Expression>> {
        if let Some(number) = definer(self.module, value).and_then(constant_number) {
            return Expressions(&self.builder).number(number).map(Some);
        }
        let Some(element) = self.module.ty(value).number() else {
            return Ok(None);
        };
        let tensor = self.input(value, element, &[])?;
        self.inputs.push(Source::Captured(value));
        self.formats.insert(tensor, Format::dense(0));
        let none: [IndexExpr; 0] = [];
        self.builder.access(tensor, none).map(Some)
    }

    /// The values from outside that the operations of a block use, with those of its regions.
    fn uses(&self, block: Block) -> Vec<Value> {
        let mut inside: Vec<Value> = self.module.block(block).arguments.clone();
        let mut used = Vec::new();
        let ops = self.module.block(block).ops.iter();
        for op in ops.flat_map(|op| self.module.walk_from(*op)) {
            let data = self.module.op(op).data();
            used.extend(&data.operands);
            inside.extend(&data.results);
            for region in &data.regions {
                if let Some(block) = self.module.region(*region).block {
                    inside.extend(&self.module.block(block).arguments);
                }
            }
        }
        used.sort_unstable();
        used.dedup();
        inside.sort_unstable();
        used.retain(|value| inside.binary_search(value).is_err());
        used
    }

    fn kernel(mut self) -> Result<Option<Kernel>> {
        let n_inputs = self.structured.n_inputs();
        let n_outputs = self.structured.maps.len() - n_inputs;
        let mut inputs = Vec::new();
        for number in 0..n_inputs {
            let value = self.structured.op.data().operands[number];
            let input = match self.operands[number] {
                Some(_) => self.access(number)?,
                None => self.captured(value)?,
            };
            let Some(input) = input else { return Ok(None) };
            inputs.push(input);
        }
        let mut before = Vec::new();
        for number in n_inputs..n_inputs + n_outputs {
            let Some(known) = &self.operands[number] else {
                return Ok(None);
            };
            before.push(match known.uniform {
                Some(value) => Expressions(&self.builder).number(value)?,
                None => match self.access(number)? {
                    Some(access) => access,
                    None => return Ok(None),
                },
            });
        }
        let mut values = HashMap::new();
        if let Body::Region(block) = self.structured.body {
            for value in self.uses(block) {
                let Some(captured) = self.captured(value)? else {
                    return Ok(None);
                };
                values.insert(value, captured);
            }
        }
        let mut statements = Vec::new();
        for number in 0..n_outputs {
            let statement = match self.structured.body {
                Body::Region(block) => {
                    self.of_region(block, number, &inputs, &before, values.clone())?
                }
                _ => self.of_name(&inputs, &before[number])?,
            };
            let Some(statement) = statement else {
                return Ok(None);
            };
            statements.push(statement);
        }
        self.finish(statements, n_inputs)
    }

    fn finish(mut self, statements: Vec<StatementOf>, n_inputs: usize) -> Result<Option<Kernel>> {
        for (n, extent) in self.extents.iter().enumerate() {
            if let (false, Some(extent)) = (self.told[n], extent) {
                self.builder.set_extent(self.vars[n], *extent)?;
            }
        }
        let mut results = Vec::new();
        for (number, statement) in statements.into_iter().enumerate() {
            let map = &self.structured.maps[n_inputs + number];
            let Some(modes) = map.projection() else {
                return Ok(None);
            };
            let vars: Vec<IndexVar> = modes.iter().map(|mode| self.vars[*mode]).collect();
            let Some(known) = self.operands[n_inputs + number].clone() else {
                return Ok(None);
            };
            let own = self.structured.op.data().results.get(number);
            let name = match own {
                Some(value) => self.name(*value),
                None => format!("out{number}"),
            };
            results.push(Outcome {
                has_kept: statement.kept.is_some(),
                drops_fill: statement.drops_fill,
            });
            let tensor = self.result(&name, vars.len())?;
            self.builder.set_element(tensor, known.element)?;
            self.builder
                .assign(tensor, vars.iter().copied(), statement.value)?;
            self.formats.insert(tensor, known.format.clone());
            if let Some(kept) = statement.kept {
                let tensor = self.result(&format!("{name}_kept"), vars.len())?;
                self.builder.assign(tensor, vars.iter().copied(), kept)?;
                self.formats.insert(tensor, known.format);
            }
        }
        let program = self.builder.finish()?;
        // A list of the entries that are left out is no list of those that are kept.
        let mut formats = self.formats;
        for (tensor, data) in program.tensors.iter() {
            if data.fill == Scalar::Bool(true) {
                formats.insert(tensor, Format::dense(data.order()));
            }
        }
        Ok(Some(Kernel {
            program,
            formats,
            span: self.structured.op.data().span,
            inputs: self.inputs,
            results,
        }))
    }

    fn result(&mut self, name: &str, order: usize) -> Result<TensorVar> {
        let mut tried = name.to_owned();
        for n in 1.. {
            match self.builder.result(&tried, order) {
                Err(refusal) if refusal.code() == code::INVALID_NAME && n < 100 => {
                    tried = format!("{name}_{n}");
                }
                other => return other,
            }
        }
        unreachable!("the loop has no end")
    }

    fn sums(&self) -> Vec<IndexVar> {
        let vars = self.vars.iter().zip(&self.structured.reductions);
        let sums = vars.filter(|(_, is_sum)| **is_sum);
        sums.map(|(var, _)| *var).collect()
    }

    fn apply(&self, op: Operator, args: &[&Expression]) -> Result<Expression> {
        self.builder
            .apply(&op, args.iter().map(|arg| (*arg).clone()))
    }

    /// `before op op{sums}(value)`.
    fn reduced(&self, op: &Operator, before: &Expression, value: Expression) -> Result<Expression> {
        let (element, sums) = (value.element(), self.sums());
        let value = match sums.is_empty() {
            true => value,
            false => self.builder.reduce(op, sums, value)?,
        };
        let begin = Expressions(&self.builder).constant(before);
        match begin {
            Some(begin) if op.identity(element) == begin.cast(element) => Ok(value),
            _ => self.apply(op.clone(), &[before, &value]),
        }
    }

    fn of_name(
        &mut self,
        inputs: &[Expression],
        before: &Expression,
    ) -> Result<Option<StatementOf>> {
        let element = before.element();
        let cast = |value: &Expression| self.builder.cast(element, value.clone());
        let value = match (&self.structured.body, inputs) {
            (Body::Copy, [input, ..]) => cast(input)?,
            (Body::Accumulate(op), [input, ..]) => self.reduced(op, before, cast(input)?)?,
            (Body::Multiply, [a, b]) => {
                let product = self.apply(Operator::Mul, &[&cast(a)?, &cast(b)?])?;
                self.reduced(&Operator::Add, before, product)?
            }
            (Body::Multiply, [a, b, from_a, from_b]) => {
                let a = self.apply(Operator::Sub, &[&cast(a)?, &cast(from_a)?])?;
                let b = self.apply(Operator::Sub, &[&cast(b)?, &cast(from_b)?])?;
                let product = self.apply(Operator::Mul, &[&a, &b])?;
                self.reduced(&Operator::Add, before, product)?
            }
            (Body::Elementwise(float, integer), _) => {
                let word = match (numbers::is_float(element), integer) {
                    (true, _) => float,
                    (false, Some(integer)) => integer,
                    _ => return Ok(None),
                };
                let op = match *word {
                    "addf" | "addi" => Operator::Add,
                    "subf" | "subi" => Operator::Sub,
                    "mulf" | "muli" => Operator::Mul,
                    "divf" => Operator::Div,
                    "maximumf" | "maxsi" => Operator::Max,
                    "minimumf" | "minsi" => Operator::Min,
                    "absf" => Operator::Abs,
                    "exp" => Operator::Exp,
                    "log" => Operator::Log,
                    "negf" => Operator::Neg,
                    "floor" => Operator::Floor,
                    "ceil" => Operator::Ceil,
                    _ => return Ok(None),
                };
                self.apply(op, &inputs.iter().collect::<Vec<_>>())?
            }
            _ => return Ok(None),
        };
        Ok(Some(StatementOf::plain(value)))
    }

    fn of_region(
        &mut self,
        block: Block,
        number: usize,
        inputs: &[Expression],
        before: &[Expression],
        values: HashMap<Value, Expression>,
    ) -> Result<Option<StatementOf>> {
        let arguments = &self.module.block(block).arguments;
        let own = arguments[inputs.len() + number];
        let Some(value) = yielded(self.module, block).get(number).copied() else {
            return Ok(None);
        };
        let mut values = values;
        values.extend(arguments.iter().copied().zip(inputs.iter().cloned()));
        let sums = self.sums();
        if sums.is_empty() {
            let outputs = arguments[inputs.len()..].iter().copied();
            values.extend(outputs.zip(before.iter().cloned()));
        }
        let mut regions = Regions::new(self.module, &self.builder, &self.vars, values);
        if sums.is_empty() {
            let Some(whole) = regions.region(block, &[])? else {
                return Ok(None);
            };
            let whole = match yielded(self.module, block).first() == Some(&value) {
                true => whole,
                false => match regions.expression(value)? {
                    Some(whole) => whole,
                    None => return Ok(None),
                },
            };
            let kept = regions.kept(value)?;
            return Ok(Some(StatementOf {
                value: whole,
                kept,
                drops_fill: false,
            }));
        }
        let Some(step) = Step::of(self.module, value, own) else {
            return Ok(None);
        };
        // Other outputs, and this one elsewhere in the body, have no expression here.
        for op in &self.module.block(block).ops {
            for result in &self.module.op(*op).data().results {
                regions.expression(*result)?;
            }
        }
        let mut terms = Vec::new();
        for (term, is_negative) in &step.terms {
            let Some(term) = regions.expression(*term)? else {
                return Ok(None);
            };
            terms.push(match is_negative {
                true => self.apply(Operator::Neg, &[&term])?,
                false => term,
            });
        }
        let mut whole = terms.remove(0);
        for term in terms {
            whole = self.apply(step.op.clone(), &[&whole, &term])?;
        }
        let Some(reduce) = step.reduce else {
            let value = self.reduced(&step.op, &before[number], whole)?;
            return Ok(Some(StatementOf::plain(value)));
        };
        self.custom(reduce, whole, &before[number], number)
    }

    /// `sparse_tensor.reduce`: of the values that are stored.
    fn custom(
        &mut self,
        reduce: Operation<'_>,
        value: Expression,
        before: &Expression,
        number: usize,
    ) -> Result<Option<StatementOf>> {
        let identity = reduce.operands("identity")[0];
        let identity = definer(self.module, identity).and_then(constant_number);
        let (Some(identity), Some(block)) = (identity, reduce.region("region").block) else {
            return Ok(None);
        };
        let element = identity.element();
        let properties = Properties {
            commutative: true,
            associative: true,
            identity: Some(match identity.to_integer() {
                Some(integer) => Scalar::I64(integer as i64),
                None => Scalar::F64(identity.to_f64()),
            }),
            ..Properties::default()
        };
        let mut is_expression = true;
        let module = self.module;
        let parameters = [("x", element), ("y", element)];
        let function = UserFunction::build("reduced", &parameters, properties, |builder, args| {
            let mut regions = Regions::new(module, builder, &[], HashMap::new());
            match regions.region(block, args)? {
                Some(value) => Ok(value),
                None => {
                    is_expression = false;
                    Ok(args[0].clone())
                }
            }
        })?;
        if !is_expression {
            return Ok(None);
        }
        let op = Operator::Defined(function);
        let is_stored = self.apply(Operator::IsStored, &[&value])?;
        let identity = Expressions(&self.builder).number(identity)?;
        let stored = self.apply(Operator::Select, &[&is_stored, &value, &identity])?;
        let reduced = self.builder.reduce(&op, self.sums(), stored)?;
        let known = self.operands[self.structured.n_inputs() + number].as_ref();
        let begins = Expressions(&self.builder).constant(before).is_some();
        let is_sparse = known.is_some_and(|known| !known.format.is_all_dense());
        match is_sparse && begins {
            // Entries of a new sparse result begin with the identity.
            true => Ok(Some(StatementOf {
                value: reduced,
                kept: None,
                drops_fill: true,
            })),
            false => self
                .apply(op, &[before, &reduced])
                .map(|value| Some(StatementOf::plain(value))),
        }
    }
}

/// What a statement assigns.
struct StatementOf {
    value: Expression,
    kept: Option<Expression>,
    drops_fill: bool,
}

impl StatementOf {
    fn plain(value: Expression) -> Self {
        Self {
            value,
            kept: None,
            drops_fill: false,
        }
    }
}

/// One step of a reduction: `%y op term op term …`.
struct Step<'a> {
    op: Operator,
    /// The terms, and whether each is subtracted.
    terms: Vec<(Value, bool)>,
    reduce: Option<Operation<'a>>,
}

impl<'a> Step<'a> {
    /// The step that makes `value` of the accumulator `own`.
    fn of(module: &'a Module, value: Value, own: Value) -> Option<Self> {
        let first = definer(module, value)?;
        if first.name() == "sparse_tensor.reduce" {
            let [x, y] = [first.operands("x")[0], first.operands("y")[0]];
            let term = if x == own { y } else { x };
            let is_one = (x == own) != (y == own);
            return is_one.then_some(Self {
                op: Operator::Add,
                terms: vec![(term, false)],
                reduce: Some(first),
            });
        }
        let op = operator_of(module, first)?;
        // Down the chain of the same operator, to the accumulator.
        let (mut terms, mut at) = (Vec::new(), first);
        loop {
            let operands = &at.data().operands;
            let [x, y] = operands[..] else { return None };
            let is_difference = matches!(at.name(), "arith.subf" | "arith.subi" | "complex.sub");
            let continues = |side: Value| {
                let next = definer(module, side)?;
                let depends = depends(module, side, own);
                (operator_of(module, next).as_ref() == Some(&op) && depends).then_some(next)
            };
            if x == own || (y == own && !is_difference) {
                terms.push((if x == own { y } else { x }, is_difference));
                break;
            }
            if let Some(next) = continues(x) {
                terms.push((y, is_difference));
                at = next;
            } else if let (Some(next), false) = (continues(y), is_difference) {
                terms.push((x, false));
                at = next;
            } else {
                return None;
            }
        }
        let is_apart = terms.iter().all(|(term, _)| !depends(module, *term, own));
        is_apart.then_some(Self {
            op,
            terms,
            reduce: None,
        })
    }
}

/// Whether a value is computed from another.
fn depends(module: &Module, value: Value, on: Value) -> bool {
    let (mut open, mut seen) = (vec![value], std::collections::HashSet::new());
    while let Some(value) = open.pop() {
        if value == on {
            return true;
        }
        if seen.insert(value)
            && let Some(op) = definer(module, value)
        {
            for op in module.walk_from(op.id()) {
                open.extend(&module.op(op).data().operands);
            }
        }
    }
    false
}

/// The operator that an operation reduces with.
fn operator_of(module: &Module, op: Operation<'_>) -> Option<Operator> {
    let result = *op.data().results.first()?;
    let is_truth = module.ty(result).number() == Some(ElementType::Bool);
    Some(match op.name() {
        "arith.addf" | "arith.subf" | "complex.add" | "complex.sub" => Operator::Add,
        "arith.addi" | "arith.subi" if !is_truth => Operator::Add,
        "arith.mulf" | "complex.mul" => Operator::Mul,
        "arith.muli" if !is_truth => Operator::Mul,
        "arith.maxf" | "arith.maximumf" => Operator::Max,
        "arith.maxsi" if !is_truth => Operator::Max,
        "arith.minf" | "arith.minimumf" => Operator::Min,
        "arith.minsi" if !is_truth => Operator::Min,
        "arith.andi" | "arith.muli" if is_truth => Operator::And,
        "arith.ori" if is_truth => Operator::Or,
        _ => return None,
    })
}

/// Extents that operands give loops.
///
/// # Errors
/// `E1016` if two operands disagree.
pub(crate) fn loop_extents(
    structured: &Structured<'_>,
    extents: &[Option<Vec<u64>>],
) -> Result<Vec<Option<u64>>> {
    let mut found: Vec<Option<u64>> = vec![None; structured.reductions.len()];
    for (operand, map) in extents.iter().zip(&structured.maps) {
        let Some(operand) = operand else { continue };
        for (extent, result) in operand.iter().zip(&map.results) {
            let Some(n) = result.dimension() else {
                continue;
            };
            if let Some(known) = found[n].replace(*extent)
                && known != *extent
            {
                let message = format!("one loop has extents {known} and {extent}");
                return Err(Diagnostic::new(code::SHAPE_MISMATCH, message)
                    .help("give operands the same extents along each iterator"));
            }
        }
    }
    Ok(found)
}

//! A statement as one `linalg.generic`.

use sparsec_base::{Result, Scalar};
use sparsec_index::{Access, Expr, IndexVar, Operator};

use crate::Writer;
use crate::body::{Body, Held};

impl Writer<'_> {
    /// The operation of a statement, and the values that it needs.
    ///
    /// # Errors
    /// `E1051` for parts that the operation cannot have.
    pub(crate) fn statement(&mut self, number: usize) -> Result<()> {
        let statement = &self.program.statements[number];
        let (result, span) = (statement.lhs.tensor, statement.span);
        let vars = match statement.lhs.plain_vars() {
            Some(vars) if !statement.is_partial() => vars,
            _ => return Err(self.refused("a part of a tensor is assigned", span)),
        };
        let (reduce, summed, rhs) = match &statement.rhs {
            Expr::Reduce { op, vars, body } => (Some(op), vars.clone(), &**body),
            rhs => (None, Vec::new(), rhs),
        };
        let mut loops = vars.clone();
        loops.extend(&summed);
        let mut inputs: Vec<&Access> = Vec::new();
        rhs.for_each_access(&mut |access| {
            if inputs.iter().all(|known| !is_same(known, access)) {
                inputs.push(access);
            }
        });
        let mut maps = Vec::new();
        for access in &inputs {
            maps.push(self.map(access, &loops)?);
        }
        maps.push(map_of(&loops, &vars));
        let operands = inputs.iter().map(|it| self.values[&it.tensor].clone());
        let operands: Vec<String> = operands.collect();
        let types = inputs.iter().map(|it| self.types.tensor(it.tensor));
        let types: Vec<String> = types.collect();

        let element = self.program.tensors[result].element;
        let has_sparse = inputs.iter().any(|it| self.types.is_sparse(it.tensor));
        let mut body = Body::new(self, &inputs, &loops, has_sparse, span);
        let value = body.expr(rhs)?;
        if value.element != element {
            let message = format!(
                "a {} is assigned to entries of type {element}",
                value.element
            );
            return Err(body.writer.refused(message, span));
        }
        let before = body.output.clone();
        let (yielded, begin) = match reduce {
            None => (value.text.clone(), None),
            Some(op) => {
                let identity = body.writer.identity(op, &value, number)?;
                let text = body.combined(op, &before, &value)?;
                (text, Some(identity))
            }
        };
        let Body { lines, names, .. } = body;
        let output = self.output(number, &vars, begin, has_sparse)?;
        let ty = self.types.tensor(result);
        let iterators: Vec<&str> = (0..loops.len())
            .map(|n| match n < vars.len() {
                true => "\"parallel\"",
                false => "\"reduction\"",
            })
            .collect();
        let ins = match inputs.is_empty() {
            true => String::new(),
            false => format!(" ins({} : {})", operands.join(", "), types.join(", ")),
        };
        let arguments = inputs.iter().zip(&names).map(|(access, name)| {
            let element = self.program.tensors[access.tensor].element;
            format!("{name}: {}", self.types.element(element))
        });
        let mut arguments: Vec<String> = arguments.collect();
        arguments.push(format!("{before}: {}", self.types.element(element)));
        let value = self.value();
        self.lines += &format!(
            "    {value} = linalg.generic {{indexing_maps = [{}], iterator_types = [{}]}}{ins} \
             outs({output} : {ty}) {{\n    ^bb0({}):\n{lines}      linalg.yield {yielded} : {}\n    }} -> {ty}\n",
            maps.join(", "),
            iterators.join(", "),
            arguments.join(", "),
            self.types.element(element),
        );
        self.values.insert(result, value);
        Ok(())
    }

    /// The map of an operand.
    fn map(&self, access: &Access, loops: &[IndexVar]) -> Result<String> {
        let Some(vars) = access.plain_vars() else {
            let message = "an operand is read at computed coordinates";
            return Err(self.refused(message, access.span));
        };
        let is_repeated = (1..vars.len()).any(|mode| vars[..mode].contains(&vars[mode]));
        if is_repeated && self.types.is_sparse(access.tensor) {
            let message = "a sparse operand is read along a diagonal";
            return Err(self.refused(message, access.span));
        }
        Ok(map_of(loops, &vars))
    }

    /// The value that a reduction begins with.
    fn identity(&self, op: &Operator, value: &Held, number: usize) -> Result<Scalar> {
        let statement = &self.program.statements[number];
        let is_sum = matches!(op, Operator::Add | Operator::Or);
        let is_dense = !self.types.is_sparse(statement.lhs.tensor);
        if !is_sum && (value.may_lack || !is_dense) {
            let message = format!(
                "`{}` of implicit entries, which MLIR leaves out",
                op.reduction_name().unwrap_or(op.symbol())
            );
            return Err(self.refused(message, statement.span));
        }
        match op.identity(value.element) {
            Some(identity) if !matches!(op, Operator::Defined(_)) => Ok(identity),
            _ => Err(self.refused("a reduction with a function of the user", statement.span)),
        }
    }

    /// The tensor that the operation begins with.
    fn output(
        &mut self,
        number: usize,
        vars: &[IndexVar],
        begin: Option<Scalar>,
        has_sparse: bool,
    ) -> Result<String> {
        let result = self.program.statements[number].lhs.tensor;
        let data = &self.program.tensors[result];
        let ty = self.types.tensor(result);
        let mut extents = Vec::new();
        for (mode, var) in vars.iter().enumerate() {
            if data.extents[mode].is_none() {
                extents.push(self.extent(number, *var)?);
            }
        }
        let empty = self.define(&format!("tensor.empty({}) : {ty}", extents.join(", ")));
        if self.types.is_sparse(result) {
            return Ok(empty);
        }
        // Loops over sparse operands reach some of the entries.
        let begin = match (begin, has_sparse) {
            (Some(begin), _) => begin,
            (None, true) => data.element.zero(),
            (None, false) => return Ok(empty),
        };
        let begin = self.define(&self.types.constant(begin));
        let element = self.types.element(data.element);
        Ok(self.define(&format!(
            "linalg.fill ins({begin} : {element}) outs({empty} : {ty}) -> {ty}"
        )))
    }

    /// The extent of a variable, as an operand has it.
    fn extent(&mut self, number: usize, var: IndexVar) -> Result<String> {
        let statement = &self.program.statements[number];
        let accesses = statement.rhs.accesses();
        let found = accesses.iter().find_map(|access| {
            let mode = access.mode_of(var)?;
            (access.var(mode) == Some(var)).then_some((access.tensor, mode))
        });
        let Some((tensor, mode)) = found else {
            let name = &self.program.vars[var].name;
            let message = format!("the extent of `{name}` is not known");
            return Err(self.refused(message, statement.span));
        };
        let place = self.define(&format!("arith.constant {mode} : index"));
        let (value, ty) = (&self.values[&tensor], self.types.tensor(tensor));
        let text = format!("tensor.dim {value}, {place} : {ty}");
        Ok(self.define(&text))
    }
}

/// Whether two accesses read the same entries.
pub(crate) fn is_same(a: &Access, b: &Access) -> bool {
    a.tensor == b.tensor && a.indices == b.indices
}

fn map_of(loops: &[IndexVar], vars: &[IndexVar]) -> String {
    let name = |var: &IndexVar| {
        let number = loops.iter().position(|known| known == var);
        format!("d{}", number.unwrap_or(loops.len()))
    };
    let all: Vec<String> = loops.iter().map(name).collect();
    let own: Vec<String> = vars.iter().map(name).collect();
    format!("affine_map<({}) -> ({})>", all.join(", "), own.join(", "))
}

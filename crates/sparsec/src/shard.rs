//! Programs cut into shards: the modes along which operands are cut, and the way in which the
//! results of shards become one.
//!
//! ```text
//! C(i,k) = sum{j}(A(i,j) * B(j,k))     by i: A is cut along mode 0, B is whole, results are joined
//!                                      by j: A along 1, B along 0, results are added
//!                                      by i, k: A along 0, B along 1, blocks are joined
//! ```
//!
//! | a variable of the last statement | results of shards          | legal if                   |
//! |----------------------------------|----------------------------|----------------------------|
//! | on the left                      | lie side by side           | every use is a plain index |
//! | of the outermost reductions      | are combined by their operator | the same, and these have one operator |
//!
//! A shard is a program of its own over smaller operands, so its fills and its implicit entries
//! follow as those of any program. A variable that stands for a number, or in an index such as
//! `i + 1`, would need entries of other shards: it cannot be cut. Tensors that earlier statements
//! compute are computed in each shard, cut where the statements that read them ask for it. A
//! program that changes a part of a tensor, as `T(i) = A(i); T(0) = 5` does, is not cut.
//!
//! If a program reads one operand in two ways, as `A(i,k) * A(k,j)` cut by `i` does, each way is
//! an operand with a name of its own.

use std::collections::{BTreeMap, BTreeSet};

use sparsec_base::{Diagnostic, Result, code};
use sparsec_index::{
    Access, Expr, IndexVar, Operator, Program as Resolved, ProgramBuilder, Statement, TensorRole,
    TensorVar,
};

use crate::program::Program;
use crate::request::Operands;

/// The program of a shard, and the parts of the operands and results that a shard has.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sharding {
    /// The program of a shard, as index notation.
    pub program: String,
    /// Its operands.
    pub operands: Vec<ShardOperand>,
    /// The mode of the result along which each variable lies, in the order asked for; `None` for
    /// one that is reduced.
    pub modes: Vec<Option<usize>>,
    /// The program `out = …` that combines the results `left` and `right` of two shards, if a
    /// variable is reduced.
    pub combination: Option<String>,
}

/// An operand of a shard.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShardOperand {
    /// Its name in the program of a shard.
    pub name: String,
    /// The operand of the whole program that it is a part of.
    pub of: String,
    /// For each mode the number of the variable that it is cut by; `None` if it is whole.
    pub cut: Vec<Option<usize>>,
}

impl Program {
    /// The program of a shard, if these variables of its last statement are cut into ranges.
    ///
    /// ```
    /// use sparsec::Program;
    /// let product = Program::parse("C(i,k) = A(i,j) * A(j,k)")?;
    /// let rows = product.sharded(&["i"])?;
    /// assert_eq!(rows.program, "C(i,k) = sum{j}(A_i(i,j) * A(j,k))");
    /// assert_eq!((rows.modes, rows.combination), (vec![Some(0)], None));
    ///
    /// let sums = product.sharded(&["j"])?;
    /// assert_eq!(sums.combination.as_deref(), Some("out(i,k) = left(i,k) + right(i,k)"));
    /// # Ok::<(), sparsec::Error>(())
    /// ```
    ///
    /// # Errors
    /// `E1101` for a variable that cannot be cut, with the reason and its place; for none.
    pub fn sharded(&self, vars: &[&str]) -> Result<Sharding> {
        Cutting::of(&self.resolved()?, vars)
    }

    /// The variables of the last statement by which the program can be cut, those of its left
    /// side first.
    ///
    /// ```
    /// use sparsec::Program;
    /// let program = Program::parse("y(i) = b(i) + A(i,j) * x(j)")?;
    /// // Shards by `j` would add `b(i)` more than once.
    /// assert_eq!(program.shardable()?, ["i"]);
    /// # Ok::<(), sparsec::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of a program that does not resolve.
    pub fn shardable(&self) -> Result<Vec<String>> {
        let program = self.resolved()?;
        let Some(last) = program.statements.last() else {
            return Ok(Vec::new());
        };
        let mut names: Vec<String> = Vec::new();
        for var in last.lhs.vars().into_iter().chain(last.rhs.vars()) {
            let name = &program.vars[var].name;
            if !names.contains(name) && Cutting::of(&program, &[name]).is_ok() {
                names.push(name.clone());
            }
        }
        Ok(names)
    }

    fn resolved(&self) -> Result<Resolved> {
        Ok(self.request().resolve(&Operands::new(), None)?.program)
    }
}

/// The variables of the reductions that a statement is, and their operator.
fn reductions(statement: &Statement) -> (Vec<IndexVar>, Option<&Operator>) {
    let (mut found, mut operator, mut expr) = (Vec::new(), None, &statement.rhs);
    while let Expr::Reduce { op, vars, body } = expr {
        if operator.is_some_and(|known| known != op) {
            break;
        }
        operator = Some(op);
        found.extend(vars);
        expr = body;
    }
    (found, operator)
}

/// Which numbers of cut variables a statement's own variables have.
type Numbers = BTreeMap<IndexVar, usize>;

struct Cutting<'a> {
    program: &'a Resolved,
    names: &'a [&'a str],
    /// How tensors that statements compute are cut.
    wanted: BTreeMap<TensorVar, Vec<Option<usize>>>,
    /// The ways in which operands are read, each with the tensor of the new program.
    ways: Vec<(TensorVar, Vec<Option<usize>>, TensorVar)>,
    made: Resolved,
}

impl<'a> Cutting<'a> {
    fn of(program: &'a Resolved, names: &'a [&'a str]) -> Result<Sharding> {
        let mut cutting = Self {
            program,
            names,
            wanted: BTreeMap::new(),
            ways: Vec::new(),
            made: program.clone(),
        };
        let Some(last) = program.statements.last() else {
            return Err(
                Diagnostic::new(code::NOT_SHARDABLE, "a program of no statements")
                    .help("write one"),
            );
        };
        if names.is_empty() {
            return Err(
                Diagnostic::new(code::NOT_SHARDABLE, "shards by no index variable")
                    .help("name one or more, or run the program as it is"),
            );
        }
        cutting.assigns_once()?;
        let (reduced, operator) = reductions(last);
        let free = last.lhs.plain_vars().unwrap_or_default();
        let (mut numbers, mut modes) = (Numbers::new(), Vec::new());
        for (number, name) in names.iter().enumerate() {
            let named = |var: &&IndexVar| program.vars[**var].name == *name;
            let mode = free.iter().position(|var| named(&var));
            let var = mode
                .map(|mode| free[mode])
                .or(reduced.iter().find(named).copied());
            let Some(var) = var.filter(|var| !numbers.contains_key(var)) else {
                return Err(cutting.fault(
                    last,
                    number,
                    "is neither on the left nor of a sum around all of the right side",
                ));
            };
            numbers.insert(var, number);
            modes.push(mode);
        }
        for number in (0..program.statements.len()).rev() {
            cutting.statement(number, &numbers)?;
        }
        for number in 0..names.len() {
            if !cutting
                .ways
                .iter()
                .any(|(_, way, _)| way.contains(&Some(number)))
            {
                return Err(cutting.fault(last, number, "is an index of no operand"));
            }
        }
        let combination = match operator.filter(|_| modes.contains(&None)) {
            Some(operator) => Some(combination(program, last, operator)?),
            None => None,
        };
        let operands = cutting.ways.iter().map(|(of, cut, tensor)| ShardOperand {
            name: cutting.made.tensors[*tensor].name.clone(),
            of: program.tensors[*of].source_name().to_owned(),
            cut: cut.clone(),
        });
        Ok(Sharding {
            operands: operands.collect(),
            program: cutting.made.to_string(),
            modes,
            combination,
        })
    }

    /// Refuses statements that change a tensor that has a value: the text of a program does not
    /// tell which value they start from.
    fn assigns_once(&self) -> Result<()> {
        let mut statements = self.program.statements.iter();
        let Some(statement) = statements.find(|statement| statement.before.is_some()) else {
            return Ok(());
        };
        let name = self.program.tensors[statement.lhs.tensor].source_name();
        let message = format!(
            "shards by `{}`: the program changes a part of `{name}`",
            self.names.join("`, `")
        );
        Err(Diagnostic::new(code::NOT_SHARDABLE, message)
            .at(
                &self.program.source,
                statement.span,
                "this statement is not cut",
            )
            .help(format!(
                "compute `{name}` by a call of its own, and give it as an operand"
            )))
    }

    /// Cuts the operands of a statement, given the numbers of the last one.
    fn statement(&mut self, number: usize, last: &Numbers) -> Result<()> {
        let statement = &self.program.statements[number];
        let computed = statement.lhs.tensor;
        let (is_last, is_partial) = (
            number + 1 == self.program.statements.len(),
            statement.is_partial(),
        );
        let numbers = match self.wanted.get(&computed) {
            _ if is_last => last.clone(),
            None => Numbers::new(),
            Some(way) => {
                let modes = way.iter().enumerate();
                let cut =
                    modes.filter_map(|(mode, number)| Some((statement.lhs.var(mode)?, (*number)?)));
                cut.collect()
            }
        };
        // The last statement is cut by every variable.
        let asking = match is_last {
            true => Some(0),
            false => {
                let way = self.wanted.get(&computed);
                way.and_then(|way| way.iter().flatten().next().copied())
            }
        };
        if let (true, Some(at)) = (is_partial, asking) {
            return Err(self.fault(
                statement,
                at,
                "cuts a tensor of which a statement assigns a part",
            ));
        }
        let mut fault = None;
        statement.rhs.for_each_index(&mut |index| {
            if index.as_var().is_none() {
                fault = fault.or(numbers
                    .iter()
                    .find(|(var, _)| index.uses(**var))
                    .map(|(_, at)| *at));
            }
        });
        if let Some(at) = fault {
            return Err(self.fault(statement, at, "is part of an index that is computed"));
        }
        if let Some(at) = number_of_index(&statement.rhs, &numbers) {
            return Err(self.fault(statement, at, "stands for a number"));
        }
        let mut conflict = None;
        let mut renamed = |access: &Access| {
            let cut: Vec<Option<usize>> = (0..access.indices.len())
                .map(|mode| numbers.get(&access.var(mode)?).copied())
                .collect();
            if self.program.tensors[access.tensor].role != TensorRole::Input {
                let known = self
                    .wanted
                    .entry(access.tensor)
                    .or_insert_with(|| cut.clone());
                if *known != cut {
                    conflict = Some(access.clone());
                }
                return None;
            }
            let tensor = self.way(access.tensor, cut);
            Some(Expr::Access(Access {
                tensor,
                ..access.clone()
            }))
        };
        let rhs = statement.rhs.map_accesses(&mut renamed);
        self.made.statements[number].rhs = rhs;
        match conflict {
            None => Ok(()),
            Some(access) => {
                let name = self.program.tensors[access.tensor].source_name();
                let message = format!("`{name}` is read whole and cut, or cut in two ways");
                Err(Diagnostic::new(code::NOT_SHARDABLE, message)
                    .at(
                        &self.program.source,
                        access.span,
                        "read here in another way",
                    )
                    .help("compute it by a call of its own, and give it as an operand"))
            }
        }
    }

    /// The tensor of the new program that is an operand cut in this way.
    fn way(&mut self, of: TensorVar, cut: Vec<Option<usize>>) -> TensorVar {
        let known = self
            .ways
            .iter()
            .find(|(known, way, _)| (*known, way) == (of, &cut));
        if let Some((_, _, tensor)) = known {
            return *tensor;
        }
        let has_others = self.read_in_other_ways(of);
        let numbers: BTreeSet<usize> = cut.iter().flatten().copied().collect();
        let tensor = match has_others && !numbers.is_empty() {
            false => of,
            true => {
                let data = self.program.tensors[of].clone();
                let vars: Vec<&str> = numbers.iter().map(|number| self.names[*number]).collect();
                let base = format!("{}_{}", data.name, vars.join("_"));
                let made = &self.made;
                let is_var = |name: &str| made.vars.named(name).is_some();
                let name = match made.tensors.named(&base).is_some() || is_var(&base) {
                    true => made.tensors.fresh_beside(&base, is_var),
                    false => base,
                };
                self.made
                    .tensors
                    .push(sparsec_index::TensorData { name, ..data })
            }
        };
        self.ways.push((of, cut, tensor));
        tensor
    }

    /// Whether the program has several accesses of an operand.
    fn read_in_other_ways(&self, of: TensorVar) -> bool {
        let statements = self.program.statements.iter();
        let accesses = statements.flat_map(|statement| statement.rhs.accesses());
        accesses
            .filter(|access| access.tensor == of)
            .nth(1)
            .is_some()
    }

    fn fault(&self, statement: &Statement, number: usize, why: &str) -> Diagnostic {
        let name = self.names.get(number).copied().unwrap_or("?");
        Diagnostic::new(code::NOT_SHARDABLE, format!("shards by `{name}`: it {why}"))
            .at(
                &self.program.source,
                statement.span,
                "this statement is not cut so",
            )
            .help("cut by another index variable, or let the plan choose one")
    }
}

/// The number of a cut variable that an expression has the value of.
fn number_of_index(expr: &Expr, numbers: &Numbers) -> Option<usize> {
    match expr {
        Expr::Index(index) => {
            let mut numbers = numbers.iter();
            numbers
                .find(|(var, _)| index.uses(**var))
                .map(|(_, number)| *number)
        }
        Expr::Apply { args, .. } => args.iter().find_map(|arg| number_of_index(arg, numbers)),
        Expr::Cast(_, body) | Expr::Reduce { body, .. } => number_of_index(body, numbers),
        Expr::Literal(_) | Expr::Access(_) => None,
    }
}

/// The program that combines two results of a statement.
fn combination(program: &Resolved, last: &Statement, operator: &Operator) -> Result<String> {
    let data = &program.tensors[last.lhs.tensor];
    let extents = vec![None; data.order()];
    let mut built = ProgramBuilder::new();
    let out = built.result("out", data.order())?;
    let sides = ["left", "right"].map(|name| built.input(name, data.element, &extents));
    let [left, right] = sides;
    let vars = last.lhs.vars();
    let vars: Vec<IndexVar> = vars
        .iter()
        .map(|var| built.var(&program.vars[*var].name))
        .collect();
    let left = built.access(left?, vars.iter().copied())?;
    let right = built.access(right?, vars.iter().copied())?;
    let value = built.apply(operator, [left, right])?;
    built.assign(out, vars, value)?;
    Ok(built.finish()?.to_string())
}

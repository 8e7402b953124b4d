//! One statement of a program as statements of a computation.

use std::collections::BTreeMap;

use sparsec_base::arena::Id;
use sparsec_base::{ElementType, Result};
use sparsec_computation::{self as computation, Computation, Update, Value};
use sparsec_index::{Access, Expr, IndexExpr, IndexVar, Operator, Program, Statement, TensorVar};
use sparsec_relation::{
    Comparison, Conjunction, Constraint, Expression, Set, Values, Variable, fresh_name,
};

use crate::arrays::{Described, Piece};
use crate::term::{Term, refused, terms};

type Operands = BTreeMap<TensorVar, Described>;

/// The constants that are the extents of a tensor's modes: of the variable at the
/// mode where it has one alone, else of the mode.
pub(crate) fn extents_of(program: &Program, tensor: TensorVar) -> Vec<String> {
    let data = &program.tensors[tensor];
    let mut names: Vec<Option<String>> = vec![None; data.order()];
    for_each_access(program, &mut |access| {
        if access.tensor != tensor {
            return;
        }
        for (mode, name) in names.iter_mut().enumerate() {
            if let (None, Some(var)) = (&name, access.var(mode)) {
                *name = Some(extent_of(program, var));
            }
        }
    });
    let numbered = names.into_iter().enumerate();
    numbered
        .map(|(mode, name)| name.unwrap_or_else(|| format!("{}_N{mode}", data.name)))
        .collect()
}

fn for_each_access<'a>(program: &'a Program, visit: &mut dyn FnMut(&'a Access)) {
    for statement in &program.statements {
        visit(&statement.lhs);
        statement.rhs.for_each_access(visit);
    }
}

/// The constant that is the extent of a variable.
fn extent_of(program: &Program, var: IndexVar) -> String {
    format!("N{}", program.vars[var].name)
}

/// The extents of all tensors and variables, each once.
pub(crate) fn extents(program: &Program) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut add = |name: String| {
        if !all.contains(&name) {
            all.push(name);
        }
    };
    for (tensor, _) in program.tensors.iter() {
        extents_of(program, tensor).into_iter().for_each(&mut add);
    }
    for (var, _) in program.vars.iter() {
        add(extent_of(program, var));
    }
    all
}

/// That extents are equal: a mode that is read along two variables has one extent.
///
/// ```text
/// y(i) = A(i,j) * x(i) * x(j)      Ni = Nj, for the mode of `x`
/// ```
pub(crate) fn equal_extents(program: &Program) -> Vec<Constraint> {
    let mut equal: Vec<Constraint> = Vec::new();
    for_each_access(program, &mut |access| {
        let names = extents_of(program, access.tensor);
        for (mode, name) in names.into_iter().enumerate() {
            let Some(var) = access.var(mode) else {
                continue;
            };
            let other = extent_of(program, var);
            let both =
                Expression::Constant(name.clone()).equals(Expression::Constant(other.clone()));
            if name != other && !equal.contains(&both) {
                equal.push(both);
            }
        }
    });
    equal
}

/// Adds a statement for each term of statement `number`, and for each choice of
/// pieces of the operands in it.
///
/// # Errors
/// `E0820` for what is no sum of terms that computations have.
pub(crate) fn add(
    program: &Program,
    number: usize,
    described: &Operands,
    computation: &mut Computation,
) -> Result<()> {
    let statement = &program.statements[number];
    let refuse = |what: &str| refused(program, statement, what);
    if statement.is_partial() || statement.before.is_some() {
        return Err(refuse("a part of a tensor is assigned"));
    }
    if described.contains_key(&statement.lhs.tensor) {
        return Err(refuse("a result is written"));
    }
    let spaces = computation.spaces.iter().map(|space| &space.name);
    let functions = computation.declarations.functions().iter();
    let taken = spaces.chain(&computation.parameters);
    let taken = taken.chain(functions.map(|function| &function.name));
    let maker = Maker {
        program,
        statement,
        described,
        taken: taken.cloned().collect(),
    };
    for term in terms(program, statement, &statement.rhs)? {
        for pieces in maker.choices(&term)? {
            let place = computation.statements.len();
            let name = maker.fresh(format!("term{place}"), &[]);
            let added = maker.statement(name, place, &term, &pieces)?;
            computation.statements.push(added);
        }
    }
    Ok(())
}

/// What the statement of a term is made from.
struct Maker<'a> {
    program: &'a Program,
    statement: &'a Statement,
    described: &'a Operands,
    /// Names that mean something everywhere.
    taken: Vec<String>,
}

impl<'a> Maker<'a> {
    /// One piece for each operand of a term that has a descriptor, from left to right.
    fn choices(&self, term: &Term<'_>) -> Result<Vec<Vec<&'a Piece>>> {
        let mut divisors = term.divisors.iter();
        if divisors.any(|it| self.described_accesses(it).next().is_some()) {
            let what = "a divisor that stores nothing almost everywhere";
            return Err(refused(self.program, self.statement, what));
        }
        let mut choices = vec![Vec::new()];
        for access in term.factors.iter().flat_map(|e| self.described_accesses(e)) {
            let pieces = self.described[&access.tensor].pieces.iter();
            choices = choices
                .into_iter()
                .flat_map(|before: Vec<&'a Piece>| {
                    pieces.clone().map(move |piece| {
                        let mut chosen = before.clone();
                        chosen.push(piece);
                        chosen
                    })
                })
                .collect();
        }
        Ok(choices)
    }

    fn statement(
        &self,
        name: String,
        place: usize,
        term: &Term<'_>,
        pieces: &[&Piece],
    ) -> Result<computation::Statement> {
        let (program, statement) = (self.program, self.statement);
        // The loops: those over what is stored, and the variables of indices.
        let stored = term.factors.iter().flat_map(|e| self.described_accesses(e));
        let stored: Vec<(&Access, &Piece)> = stored.zip(pieces.iter().copied()).collect();
        let mut vars = statement.lhs.vars();
        vars.extend(term.vars.iter().copied());
        let mut names: Vec<String> = Vec::new();
        let mut tuples = Vec::new();
        for (_, piece) in &stored {
            let part = &piece.map.parts()[0];
            tuples.push(names.len());
            for v in part.inputs() {
                names.push(self.fresh(part.name(v).to_owned(), &names));
            }
        }
        let first_var = names.len();
        for var in &vars {
            names.push(self.fresh(program.vars[*var].name.clone(), &names));
        }
        let at = |var: IndexVar| {
            let place = vars.iter().position(|it| *it == var);
            let place = place.expect("a variable of the statement or of its sums");
            Expression::Variable(Variable::from_index(first_var + place))
        };

        // One conjunction for each choice of a part of each piece.
        let mut parts = vec![Conjunction::new(names.clone(), [])];
        for ((access, piece), first) in stored.iter().zip(&tuples) {
            let map = &piece.map;
            let mut next = Vec::new();
            for before in &parts {
                for part in map.parts() {
                    let mut whole = before.clone();
                    let mut values: Vec<Expression> = (0..map.n_inputs())
                        .map(|k| Expression::Variable(Variable::from_index(first + k)))
                        .collect();
                    for index in &access.indices {
                        values.push(self.index(index, &at)?);
                    }
                    for exists in part.exists() {
                        let name = self.fresh(part.name(exists).to_owned(), &names);
                        values.push(Expression::Variable(whole.add_exists(name)));
                    }
                    whole.conjoin(part, &Values(&values));
                    next.push(whole);
                }
            }
            parts = next;
        }
        for part in &mut parts {
            for var in &vars {
                let within = Constraint {
                    first: Expression::Integer(0),
                    rest: vec![
                        (Comparison::LessEqual, at(*var)),
                        (
                            Comparison::Less,
                            Expression::Constant(extent_of(program, *var)),
                        ),
                    ],
                };
                // A map says it of its coordinates, as a rule.
                if !part.constraints().contains(&within) {
                    part.add(within);
                }
            }
        }

        let mut n_read = 0;
        let mut entry = |access: &Access| -> Result<Value> {
            match self.described.contains_key(&access.tensor) {
                true => {
                    let (first, piece) = (tuples[n_read], pieces[n_read]);
                    n_read += 1;
                    let tuple: Vec<Expression> = (0..piece.map.n_inputs())
                        .map(|k| Expression::Variable(Variable::from_index(first + k)))
                        .collect();
                    Ok(Value::Entry(computation::Access {
                        space: program.tensors[access.tensor].name.clone(),
                        indices: vec![piece.place.rewritten(&Values(&tuple))],
                    }))
                }
                false => {
                    let vars = access.plain_vars().ok_or_else(|| {
                        refused(program, statement, "a dense operand at computed indices")
                    })?;
                    Ok(Value::Entry(computation::Access {
                        space: program.tensors[access.tensor].name.clone(),
                        indices: vars.into_iter().map(at).collect(),
                    }))
                }
            }
        };
        let mut value: Option<Value> = None;
        for factor in &term.factors {
            let factor = self.value(factor, &at, &mut entry)?;
            value = Some(match value {
                None => factor,
                Some(before) => binary(computation::Operator::Multiply, before, factor),
            });
        }
        let mut value = value.expect("a term has a factor");
        for divisor in &term.divisors {
            let divisor = self.value(divisor, &at, &mut entry)?;
            value = binary(computation::Operator::Divide, value, divisor);
        }
        if term.is_negative {
            value = Value::Negate(Box::new(value));
        }
        let lhs = statement
            .lhs
            .plain_vars()
            .expect("whole tensors are assigned");
        let time = i64::try_from(place).expect("few statements");
        let tuple = (0..names.len()).map(|k| Expression::Variable(Variable::from_index(k)));
        Ok(computation::Statement {
            name,
            space: Set::new(parts)?,
            schedule: std::iter::once(Expression::Integer(time))
                .chain(tuple)
                .collect(),
            target: computation::Access {
                space: program.tensors[statement.lhs.tensor].name.clone(),
                indices: lhs.into_iter().map(at).collect(),
            },
            update: Update::Add,
            value,
        })
    }

    fn fresh(&self, name: String, also: &[String]) -> String {
        fresh_name(&name, |name| {
            self.taken.iter().chain(also).any(|taken| taken == name)
        })
    }

    /// The accesses of operands with descriptors, from left to right.
    fn described_accesses<'e>(
        &self,
        expr: &'e Expr,
    ) -> impl Iterator<Item = &'e Access> + use<'_, 'e> {
        let accesses = expr.accesses().into_iter();
        accesses.filter(|access| self.described.contains_key(&access.tensor))
    }

    /// A factor, which is nothing where the operands that it reads store nothing.
    fn value(
        &self,
        expr: &Expr,
        at: &dyn Fn(IndexVar) -> Expression,
        entry: &mut dyn FnMut(&Access) -> Result<Value>,
    ) -> Result<Value> {
        let refuse = |what: &str| refused(self.program, self.statement, what);
        match expr {
            Expr::Access(access) => entry(access),
            Expr::Literal(value) => match value.to_integer() {
                Some(n) => i64::try_from(n)
                    .map(Value::Integer)
                    .map_err(|_| refuse("a number beyond 64 bits")),
                None if value.element().is_float() => Ok(Value::Float(value.to_f64())),
                None => Err(refuse("a complex number")),
            },
            Expr::Index(index) => match self.index(index, at)? {
                Expression::Variable(variable) => Ok(Value::Variable(variable)),
                _ => Err(refuse("a computed index as a number")),
            },
            Expr::Cast(to @ (ElementType::F32 | ElementType::F64), body) => {
                let body = self.value(body, at, entry)?;
                Ok(Value::Cast(*to, Box::new(body)))
            }
            Expr::Cast(to, _) => Err(refuse(&format!("a value as `{to}`"))),
            Expr::Apply { op, args } => {
                let operator = match op {
                    Operator::Mul => computation::Operator::Multiply,
                    Operator::Add => computation::Operator::Add,
                    Operator::Sub => computation::Operator::Subtract,
                    Operator::Div => computation::Operator::Divide,
                    _ => return Err(refuse(&format!("`{}`", op.symbol()))),
                };
                let sparse = args
                    .iter()
                    .any(|arg| self.described_accesses(arg).next().is_some());
                if sparse && operator != computation::Operator::Multiply {
                    return Err(refuse(&format!(
                        "`{}` inside a conversion of types",
                        op.symbol()
                    )));
                }
                let [a, b] = &args[..] else {
                    return Err(refuse(&format!("`{}`", op.symbol())));
                };
                let (a, b) = (self.value(a, at, entry)?, self.value(b, at, entry)?);
                Ok(binary(operator, a, b))
            }
            Expr::Reduce { .. } => Err(refuse("a sum inside a conversion of types")),
        }
    }

    /// An index as an expression of the tuple.
    fn index(&self, index: &IndexExpr, at: &dyn Fn(IndexVar) -> Expression) -> Result<Expression> {
        let mut sum: Option<Expression> = match index.offset() {
            0 if !index.terms().is_empty() => None,
            offset => Some(Expression::Integer(offset)),
        };
        for (term, factor) in index.terms() {
            let sparsec_index::index_expr::Term::Var(var) = term else {
                let what = "an index that is no sum of variables";
                return Err(refused(self.program, self.statement, what));
            };
            let product = match factor {
                1 => at(*var),
                n => Expression::Multiply(Box::new(Expression::Integer(*n)), Box::new(at(*var))),
            };
            sum = Some(match sum {
                None => product,
                Some(before) => Expression::Add(Box::new(product), Box::new(before)),
            });
        }
        Ok(sum.expect("a sum of nothing is its offset"))
    }
}

fn binary(operator: computation::Operator, a: Value, b: Value) -> Value {
    Value::Binary(operator, Box::new(a), Box::new(b))
}

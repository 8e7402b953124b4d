//! Copies of operands: where each of their values belongs, as a computation.
//!
//! What no sum of products says, as `max(A(i,j), B(i,j))`, is computed from copies
//! in formats of levels. The tuples of the sparse space are visited once, and say of
//! each value where it belongs:
//!
//! ```text
//! A : dia, {[d, r] -> [i, j] : … && i = r && j = r + off(d)},  value at NR * d + r
//!
//! crd0: A_crd0(NR * d + r) = i
//! crd1: A_crd1(NR * d + r) = j      all over {[d, r, i, j] : … }
//! n0:   A_n0(NR * d + r) += 1
//! ```
//!
//! A value that no tuple is at is no entry. A map of several pieces has such arrays
//! for each: a value may stand for one entry in each piece, but for one only; that is
//! what the number of tuples at it is for.

use sparsec_base::arena::Id;
use sparsec_base::{Diagnostic, ElementType, Result, code};
use sparsec_computation::{Access, Computation, DataSpace, Role, Statement, Update, Value};
use sparsec_index::{Program, TensorRole};
use sparsec_relation::{Conjunction, Declarations, Expression, Set, Values, Variable, fresh_name};

use crate::arrays::{Described, Piece};
use crate::statement::extents_of;
use crate::{Operands, Types};

/// How an operand is copied.
#[derive(Clone, Debug)]
pub struct Copied {
    /// The name of the operand, and of its values.
    pub operand: String,
    /// What fills the arrays of all parts.
    pub computation: Computation,
    /// The parameters that are its extents, one a mode.
    pub extents: Vec<String>,
    /// The arrays of each piece of its map: parts without the tuples of those before.
    pub parts: Vec<CopiedPart>,
}

/// The arrays of one piece of a map, each as long as the operand has values.
#[derive(Clone, Debug)]
pub struct CopiedPart {
    /// The coordinates of each value, one array a mode.
    pub coordinates: Vec<String>,
    /// How many tuples each value is at.
    pub count: String,
}

/// How the operands of a program that have descriptors are copied.
///
/// # Errors
/// `E0820` for a result, for an operand of another order than its descriptor, and for arrays whose
/// lengths are not known.
pub fn copies(program: &Program, operands: &Operands, types: &Types) -> Result<Vec<Copied>> {
    let mut copies = Vec::new();
    for (id, tensor) in program.tensors.iter() {
        let Some(descriptor) = operands.get(&tensor.name) else {
            continue;
        };
        if tensor.role != TensorRole::Input {
            let message = format!(
                "`{}` is computed, in a format that is a relation",
                tensor.name
            );
            return Err(Diagnostic::new(code::NO_WALK, message)
                .at(&program.source, tensor.span, "a result")
                .help(
                    "only operands have such formats: compute it dense, or in a format of levels",
                ));
        }
        crate::stores_all(&tensor.name, descriptor)?;
        let described = Described::new(program, id, descriptor, types)?;
        let extents = extents_of(program, id);
        copies.push(copied(&tensor.name, &described, extents)?);
    }
    Ok(copies)
}

fn copied(operand: &str, described: &Described, extents: Vec<String>) -> Result<Copied> {
    let mut computation = Computation {
        name: format!("copy_{operand}"),
        parameters: Vec::new(),
        declarations: Declarations::new(),
        spaces: Vec::new(),
        statements: Vec::new(),
    };
    for extent in &extents {
        if !computation.parameters.contains(extent) {
            computation.parameters.push(extent.clone());
        }
    }
    described.add_to(&mut computation);
    let values = computation.space(operand);
    let length = values.expect("values are data").extents.clone();
    let mut parts = Vec::new();
    let is_one = described.pieces.len() == 1;
    for (number, piece) in described.pieces.iter().enumerate() {
        let suffix = match is_one {
            true => String::new(),
            false => format!("_{number}"),
        };
        let array = |computation: &mut Computation, name: String| {
            let taken = taken(computation);
            let name = fresh_name(&name, is_in(&taken));
            computation.spaces.push(DataSpace {
                name: name.clone(),
                element: ElementType::I64,
                extents: length.clone(),
                role: Role::Out,
            });
            name
        };
        let coordinates: Vec<String> = (0..extents.len())
            .map(|mode| array(&mut computation, format!("{operand}_crd{mode}{suffix}")))
            .collect();
        let count = array(&mut computation, format!("{operand}_n{suffix}"));
        // Loops of their own, since each goes over tuples of its own.
        let first = (!is_one).then_some(number);
        add_statements(&mut computation, piece, first, &coordinates, &count)?;
        parts.push(CopiedPart { coordinates, count });
    }
    Ok(Copied {
        operand: operand.to_owned(),
        computation: computation.checked()?,
        extents,
        parts,
    })
}

/// The names that mean something in a computation.
fn taken(computation: &Computation) -> Vec<String> {
    let spaces = computation.spaces.iter().map(|space| &space.name);
    let functions = computation.declarations.functions().iter();
    let functions = functions.map(|function| &function.name);
    let all = spaces.chain(functions).chain(&computation.parameters);
    all.cloned().collect()
}

fn is_in(names: &[String]) -> impl Fn(&str) -> bool {
    |name| names.iter().any(|taken| taken == name)
}

fn add_statements(
    computation: &mut Computation,
    piece: &Piece,
    first: Option<usize>,
    coordinates: &[String],
    count: &str,
) -> Result<()> {
    let mut known = taken(computation);
    let mut names = Vec::new();
    let leading = &piece.map.parts()[0];
    for v in leading.inputs().chain(leading.outputs()) {
        let name = fresh_name(leading.name(v), is_in(&known));
        known.push(name.clone());
        names.push(name);
    }
    let variable = |k: usize| Expression::Variable(Variable::from_index(k));
    let mut spaces = Vec::new();
    for part in piece.map.parts() {
        let mut space = Conjunction::new(names.clone(), []);
        let mut values: Vec<Expression> = (0..names.len()).map(variable).collect();
        for exists in part.exists() {
            let name = fresh_name(part.name(exists), is_in(&known));
            known.push(name.clone());
            values.push(Expression::Variable(space.add_exists(name)));
        }
        space.conjoin(part, &Values(&values));
        spaces.push(space);
    }
    let space = Set::new(spaces)?;
    let number = |n: usize| Expression::Integer(i64::try_from(n).expect("few statements"));
    let n_inputs = piece.map.n_inputs();
    let coordinate = |mode: usize| Variable::from_index(n_inputs + mode);
    let written = coordinates.iter().enumerate();
    let written = written.map(|(mode, name)| {
        let value = Value::Variable(coordinate(mode));
        (name.as_str(), Update::Assign, value)
    });
    let counted = (count, Update::Add, Value::Integer(1));
    for (target, update, value) in written.chain([counted]) {
        let place = computation.statements.len();
        let tuple = (0..names.len()).map(variable);
        let time = first.map(number).into_iter().chain(tuple);
        computation.statements.push(Statement {
            name: fresh_name(&format!("s{place}"), is_in(&known)),
            space: space.clone(),
            schedule: time.chain([number(place)]).collect(),
            target: Access {
                space: target.to_owned(),
                indices: vec![piece.place.clone()],
            },
            update,
            value,
        });
    }
    Ok(())
}

//! Temporary data that disappear: each read becomes the value that was written.
//!
//! ```text
//! s0: P(n) = n                  s1: col2(n) = col(n)
//! s1: col2(P(n)) = col(n)  ──►
//! ```
//!
//! Of the one statement that writes `T(e) = v`, and of each read `T(f)`:
//!
//! | it is asked that                                         | since                          |
//! |----------------------------------------------------------|--------------------------------|
//! | an index in `e` tells each variable of `v`: `x + 1`      | `v` is then known from `f`     |
//! | nothing that `v` reads is ever written                   | `v` is the same at the read    |
//! | the entry is written, and before                         | else the read finds zero       |
//! | no loop depends on `T`                                   | loops need all of it           |
//!
//! A **window** counts points. Where the points are the numbers from `a` on, in their
//! order, and keys ascend with them, it is the point less `a`: so the permutation of a
//! list that is sorted already becomes its own place.
//!
//! Source: Popoola et al., "Code Synthesis for Sparse Tensor Format Conversion
//! and Optimization", CGO 2023, §3.3, where the permutation of sorted sources is
//! taken out by hand.

use std::collections::BTreeSet;

use sparsec_base::arena::Id;
use sparsec_base::{Diagnostic, Result, code};
use sparsec_relation::{Expression, Rewrite, Variable};

use crate::computation::{Computation, Role, StatementId};
use crate::order::earlier;
use crate::proofs::Proofs;
use crate::value::{Access, Key, Operator, Update, Value, Window};

/// Integers that are numbers of every type.
const EXACT: i64 = 1 << 53;

impl Computation {
    /// The computation in which each read of temporary data is the value written.
    pub(super) fn substituted(&self, name: &str) -> Result<Self> {
        let proofs = Proofs::of(self);
        let refused = |message: String, help: &str| {
            let error = Diagnostic::new(code::TRANSFORMATION, message).help(help);
            Err(proofs.noted(error))
        };
        let Some(space) = self.space(name) else {
            let message = format!("there are no data `{name}`");
            return Err(Diagnostic::new(code::COMPUTATION_UNKNOWN, message)
                .help("name temporary data of the computation"));
        };
        if space.role != Role::Temporary {
            let message = format!("`{name}` is not temporary");
            return refused(message, "data that are given or wanted stay");
        }
        let [writer] = self.writers(name).collect::<Vec<_>>()[..] else {
            let message = format!("not one statement alone writes `{name}`");
            return refused(message, "substitute data that one statement assigns");
        };
        if self.ids().any(|id| self.index_arrays(id).contains(name)) || self.is_extent(name) {
            let message = format!("loops or extents depend on `{name}`");
            return refused(message, "loops that depend on it need all of it");
        }
        let written = match self.written(writer) {
            Ok(written) => written,
            Err((message, help)) => {
                let (source, place) = self.place_of(writer);
                let error = Diagnostic::new(code::TRANSFORMATION, message);
                let error = error.at(&source, place, format!("writes `{name}`"));
                return Err(proofs.noted(error.help(help)));
            }
        };
        for id in self.ids().filter(|id| *id != writer) {
            if let Some(what) = self.cannot_read((id, name), writer, &written, &proofs)? {
                let (source, place) = self.place_of(id);
                let message = format!("a read of `{name}` is not proved to find what was written");
                let error = Diagnostic::new(code::TRANSFORMATION, message);
                return Err(proofs
                    .noted(error.at(&source, place, what))
                    .help("substitute where each entry that is read is written before"));
            }
        }
        let mut new = self.clone();
        new.statements.remove(writer.index());
        let values = Substitution {
            computation: self,
            name,
            written: &written,
        };
        for statement in &mut new.statements {
            statement.target = statement.target.rewritten(&values);
            statement.value = values.value(&statement.value);
        }
        new.declarations.forget(name);
        new.spaces.retain(|space| space.name != name);
        Ok(new)
    }

    fn is_extent(&self, name: &str) -> bool {
        let mut names = BTreeSet::new();
        for e in self.spaces.iter().flat_map(|space| &space.extents) {
            self.add_names(e, &mut names);
        }
        names.contains(name)
    }

    /// What a statement writes, in terms of the indices where it does; else why it cannot
    /// be told, and the way out.
    fn written(&self, id: StatementId) -> std::result::Result<Written, (String, &'static str)> {
        let statement = self.statement(id);
        let (name, target) = (&statement.name, &statement.target);
        if statement.update != Update::Assign {
            let message = format!("`{name}` combines values with earlier ones");
            return Err((message, "substitute data that are assigned"));
        }
        let value = match &statement.value {
            Value::Window(window, keys) => {
                let counted = self.counted(id, *window, keys).ok_or_else(|| {
                    let message = format!(
                        "`{}` is not proved to count the points of `{name}` as they are numbered",
                        window.word()
                    );
                    (message, "declare the order of the keys: `nondecreasing`")
                })?;
                self.value_of(&counted)
            }
            value => value.clone(),
        };
        let mut is_plain = true;
        let mut is_typed = false;
        let mut read: BTreeSet<String> = BTreeSet::new();
        let mut used: BTreeSet<Variable> = BTreeSet::new();
        value.visit(&mut |value| match value {
            Value::Window(..) => is_plain = false,
            Value::Variable(variable) => {
                is_typed = true;
                used.insert(*variable);
            }
            Value::Entry(access) => {
                is_typed = true;
                read.insert(access.space.clone());
                for index in &access.indices {
                    self.add_names(index, &mut read);
                    index.visit(&mut |e| {
                        if let Expression::Variable(variable) = e {
                            used.insert(*variable);
                        }
                    });
                }
            }
            Value::Curve(_, coordinates) => {
                is_typed = true;
                for coordinate in coordinates {
                    self.add_names(coordinate, &mut read);
                    coordinate.visit(&mut |e| {
                        if let Expression::Variable(variable) = e {
                            used.insert(*variable);
                        }
                    });
                }
            }
            Value::Parameter(_) | Value::Cast(..) | Value::PowerOfTwo(_) | Value::Differs(..) => {
                is_typed = true;
            }
            Value::Integer(_)
            | Value::Float(_)
            | Value::Negate(_)
            | Value::Conjugate(_)
            | Value::Binary(..) => {}
        });
        if !is_plain {
            let message = format!("`{name}` counts its points inside of a larger value");
            return Err((message, "count in a statement of its own"));
        }
        // A number takes its type from where it stands, which is another place then.
        if !is_typed && !matches!(value, Value::Integer(n) if n.abs() <= EXACT) {
            let message = format!("the type of the numbers in `{name}` follows from its target");
            return Err((message, "state the type, as in `f64(0.5)`"));
        }
        if let Some(array) = read
            .iter()
            .find(|array| self.writers(array).next().is_some())
        {
            let message = format!("`{name}` reads `{array}`, which is written");
            return Err((message, "substitute what it reads first"));
        }
        let mut places = vec![None; statement.variables().len()];
        for (at, index) in target.indices.iter().enumerate() {
            if let Some((variable, offset)) = shifted(index) {
                places[variable.index()].get_or_insert((at, offset));
            }
        }
        if used
            .iter()
            .any(|variable| places[variable.index()].is_none())
        {
            let message = format!("the indices in `{name}` do not tell the value");
            return Err((
                message,
                "index with each variable of the value, as in `T(n)`",
            ));
        }
        Ok(Written { value, places })
    }

    /// A window as the number of the point, where that is so.
    fn counted(&self, id: StatementId, window: Window, keys: &[Key]) -> Option<Expression> {
        let statement = self.statement(id);
        let sides = statement.space.as_box()?;
        let [(from, _)] = &sides[..] else { return None };
        let variable = Expression::Variable(statement.variables().next()?);
        let ascends = match window {
            Window::Ordinal => keys.is_empty(),
            Window::Rank => self.keys_ascend(id, keys),
            Window::Slot => false,
            Window::DenseRank => matches!(keys, [key] if self.grows(id, &key.value)),
        };
        let is_numbered = ascends && self.grows(id, &variable);
        is_numbered.then(|| match from {
            Expression::Integer(0) => variable,
            from => Expression::Subtract(Box::new(variable), Box::new(from.clone())),
        })
    }

    /// Why a statement may read an entry that is not written before.
    fn cannot_read(
        &self,
        (id, name): (StatementId, &str),
        writer: StatementId,
        written: &Written,
        proofs: &Proofs,
    ) -> Result<Option<String>> {
        let times = self.times();
        let target = &self.references(writer)[0];
        let statement = self.statement(id);
        let reads = self.references(id);
        for read in reads.iter().filter(|read| read.space == name) {
            if !read.exact || !target.exact {
                return Ok(Some(format!(
                    "which entry of `{name}` this reads is not known"
                )));
            }
            let meet = read.relation.then(&target.relation.inverse())?;
            let is_covered = statement.space.is_subset(&meet.domain(), proofs.known())?;
            if !proofs.is_so(is_covered) {
                return Ok(Some(format!(
                    "it may read an entry of `{name}` that is not written"
                )));
            }
            if let Some(late) = earlier(self, (id, &times), (writer, &times))
                && !proofs.is_none(&meet.intersect(&late)?)
            {
                return Ok(Some(format!("it may read `{name}` before it is written")));
            }
        }
        let mut indices = statement.target.indices.iter().collect::<Vec<_>>();
        let entries = statement.value.entries();
        indices.extend(entries.iter().flat_map(|access| &access.indices));
        let mut names = BTreeSet::new();
        indices.iter().for_each(|e| self.add_names(e, &mut names));
        if names.contains(name) && written.value.to_expression().is_none() {
            return Ok(Some("its value cannot stand in an index".to_owned()));
        }
        Ok(None)
    }

    /// An index as a value.
    pub(crate) fn value_of(&self, e: &Expression) -> Value {
        let binary = |operator, a: &Expression, b: &Expression| {
            Value::Binary(
                operator,
                Box::new(self.value_of(a)),
                Box::new(self.value_of(b)),
            )
        };
        match e {
            Expression::Integer(n) => Value::Integer(*n),
            Expression::Variable(variable) => Value::Variable(*variable),
            Expression::Constant(name) if self.parameters.contains(name) => {
                Value::Parameter(name.clone())
            }
            Expression::Constant(name) => Value::Entry(Access {
                space: name.clone(),
                indices: Vec::new(),
            }),
            Expression::Call(name, arguments) if self.declarations.is_key(name) => {
                Value::Curve(name.clone(), arguments.clone())
            }
            Expression::Call(name, arguments) => Value::Entry(Access {
                space: name.clone(),
                indices: arguments.clone(),
            }),
            Expression::Negate(a) => Value::Negate(Box::new(self.value_of(a))),
            Expression::Add(a, b) => binary(Operator::Add, a, b),
            Expression::Subtract(a, b) => binary(Operator::Subtract, a, b),
            Expression::Multiply(a, b) => binary(Operator::Multiply, a, b),
            Expression::FloorDivide(a, b) => binary(Operator::FloorDivide, a, b),
            Expression::Modulo(a, b) => binary(Operator::Modulo, a, b),
        }
    }
}

/// A value, and for each variable the index that tells it: its place, and what is added
/// to the variable there.
struct Written {
    value: Value,
    places: Vec<Option<(usize, i64)>>,
}

/// Puts the value written in place of reads.
struct Substitution<'a> {
    computation: &'a Computation,
    name: &'a str,
    written: &'a Written,
}

impl Substitution<'_> {
    /// What the variables of the value are where these indices are read.
    fn at<'i>(&'i self, indices: &'i [Expression]) -> At<'i> {
        At(&self.written.places, indices)
    }

    fn value(&self, value: &Value) -> Value {
        value.with_leaves(&mut |leaf| match leaf {
            Value::Entry(access) => {
                let access = access.rewritten(self);
                match access.space == self.name {
                    true => self.value_at(&self.at(&access.indices)),
                    false => Value::Entry(access),
                }
            }
            Value::Curve(name, coordinates) => {
                let coordinates = coordinates.iter().map(|e| e.rewritten(self));
                Value::Curve(name.clone(), coordinates.collect())
            }
            leaf => leaf.clone(),
        })
    }

    fn value_at(&self, at: &At<'_>) -> Value {
        self.written.value.with_leaves(&mut |leaf| match leaf {
            Value::Variable(variable) => self.computation.value_of(&at.variable(*variable)),
            Value::Entry(access) => Value::Entry(access.rewritten(at)),
            Value::Curve(name, coordinates) => {
                let coordinates = coordinates.iter().map(|e| e.rewritten(at));
                Value::Curve(name.clone(), coordinates.collect())
            }
            leaf => leaf.clone(),
        })
    }
}

impl Rewrite for Substitution<'_> {
    fn whole(&self, e: &Expression) -> Option<Expression> {
        let (name, arguments) = match e {
            Expression::Call(name, arguments) => (name, &arguments[..]),
            Expression::Constant(name) => (name, &[][..]),
            _ => return None,
        };
        let indices: Vec<Expression> = arguments.iter().map(|e| e.rewritten(self)).collect();
        (name == self.name).then(|| {
            let value = self
                .written
                .value
                .to_expression()
                .expect("reads in indices were checked");
            value.rewritten(&self.at(&indices))
        })
    }
}

/// Variables of the value written, by the indices that are read.
struct At<'a>(&'a [Option<(usize, i64)>], &'a [Expression]);

impl Rewrite for At<'_> {
    fn variable(&self, variable: Variable) -> Expression {
        let (at, offset) = self.0[variable.index()].expect("each variable of the value is told");
        let index = self.1[at].clone();
        match offset {
            0 => index,
            n => Expression::Subtract(Box::new(index), Box::new(Expression::Integer(n))),
        }
    }
}

/// The variable of `x`, `x + 1` or `x - 1`, and what is added to it.
fn shifted(index: &Expression) -> Option<(Variable, i64)> {
    match index {
        Expression::Variable(variable) => Some((*variable, 0)),
        Expression::Add(a, b) => match (&**a, &**b) {
            (Expression::Variable(v), Expression::Integer(n))
            | (Expression::Integer(n), Expression::Variable(v)) => Some((*v, *n)),
            _ => None,
        },
        Expression::Subtract(a, b) => match (&**a, &**b) {
            (Expression::Variable(v), Expression::Integer(n)) => Some((*v, n.checked_neg()?)),
            _ => None,
        },
        _ => None,
    }
}

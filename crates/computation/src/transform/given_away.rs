//! Results that are given arrays, place by place: who owns the given data may hand them over.
//!
//! ```text
//! s1: B_crd(q) = A_crd(q)   over {[q] : 0 <= q < NZ}      B_crd is A_crd
//! s2: B_pos(i + 1) max= B_pos(i) …                        stays
//! ```

use sparsec_base::arena::Id;
use sparsec_relation::{Declarations, Expression, Function, Rewrite, Set};

use crate::computation::{Computation, DataSpace, Role, StatementId};
use crate::value::{Access, Update, Value};

/// A result, and the given array that it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The name of the result.
    pub result: String,
    /// The name of the given data.
    pub given: String,
}

impl Computation {
    /// Takes results out that are equal to a given array, of its type; each given array is one
    /// result at most.
    ///
    /// A result stays if something else reads or writes it, or if more is declared of it, and
    /// checked when its stage ends, than of the given array.
    ///
    /// ```
    /// use sparsec_computation::Computation;
    /// let mut rows: Computation = "computation rows {
    ///   parameters N, NZ
    ///   given row : i32[NZ], x : f64[NZ]
    ///   out y : f64[NZ], first : i32
    ///   s0: y(p) = x(p) over {[p] : 0 <= p < NZ} at [0, p]
    ///   s1: first = row(p) over {[p] : p = 0 && p < NZ} at [1, p]
    /// }".parse()?;
    /// let moved = rows.take_given();
    /// assert_eq!([(&*moved[0].result, &*moved[0].given)], [("y", "x")]);
    /// assert!(!rows.to_string().contains("s0"), "{rows}");
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn take_given(&mut self) -> Vec<Moved> {
        let relied_on = self.relied_on();
        let checked = Self {
            declarations: relied_on.clone(),
            ..self.clone()
        };
        let known = checked.known();
        let mut moved: Vec<Moved> = Vec::new();
        let mut gone = Vec::new();
        for id in self.ids() {
            let Some(given) = self.whole_copy(id, Role::Out, &known) else {
                continue;
            };
            let result = &self.statement(id).target.space;
            let is_new = moved.iter().all(|it| it.given != given);
            if is_new && self.is_alone(id) && declares_no_more(&relied_on, result, &given) {
                let result = result.clone();
                moved.push(Moved { result, given });
                gone.push(id.index());
            }
        }
        for place in gone.into_iter().rev() {
            self.statements.remove(place);
        }
        let is_moved = |space: &DataSpace| moved.iter().any(|it| it.result == space.name);
        self.spaces.retain(|space| !is_moved(space));
        for Moved { result, .. } in &moved {
            self.declarations.forget(result);
            self.declarations.forget_quantifiers(result);
        }
        if !moved.is_empty() {
            self.name_lengths();
        }
        moved
    }

    /// Puts parameters in place of temporary integers that are equal to them, such as the number of
    /// entries: they may be the lengths of results that are gone.
    fn name_lengths(&mut self) {
        for id in self.ids().rev().collect::<Vec<_>>() {
            let statement = self.statement(id);
            let (Value::Parameter(parameter), Access { space, indices }) =
                (&statement.value, &statement.target)
            else {
                continue;
            };
            let is_temporary = self
                .space(space)
                .is_some_and(|space| space.role == Role::Temporary);
            let is_always = statement.variables().next().is_none()
                && statement.update == Update::Assign
                && indices.is_empty()
                && statement.space == Set::point(&[])
                && self.writers(space).count() == 1;
            if !is_temporary || !is_always {
                continue;
            }
            let named = Named {
                length: space.clone(),
                parameter: parameter.clone(),
            };
            named.replace(self, id);
        }
    }

    /// Whether no other statement reads or writes the target of a statement, and no length is one of
    /// its entries.
    fn is_alone(&self, id: StatementId) -> bool {
        let target = &self.statement(id).target.space;
        let mut others = self.ids().filter(|other| *other != id);
        let is_unused = others.all(|other| {
            let mut used = self.references(other).into_iter();
            used.all(|reference| reference.space != *target)
        });
        let mut lengths = self.spaces.iter().flat_map(|space| &space.extents);
        is_unused && lengths.all(|length| !names(length, target))
    }
}

/// A parameter in place of an integer that is equal to it.
struct Named {
    length: String,
    parameter: String,
}

impl Rewrite for Named {
    fn constant(&self, name: &str) -> Expression {
        let is_length = name == self.length;
        Expression::Constant(if is_length { &self.parameter } else { name }.to_owned())
    }
}

impl Named {
    /// Replaces the integer that a statement assigns, and takes the statement out.
    fn replace(&self, computation: &mut Computation, writer: StatementId) {
        let Ok(declarations) = computation.declarations.rewritten(self) else {
            return;
        };
        computation.declarations = declarations;
        computation.declarations.forget(&self.length);
        computation.statements.remove(writer.index());
        computation.spaces.retain(|space| space.name != self.length);
        for extent in computation
            .spaces
            .iter_mut()
            .flat_map(|space| &mut space.extents)
        {
            *extent = extent.rewritten(self);
        }
        for statement in &mut computation.statements {
            let space = statement.space.rewritten(self);
            statement.space = space.expect("a parameter is no variable");
            statement.target = statement.target.rewritten(self);
            statement.value = statement.value.with_leaves(&mut |leaf| self.leaf(leaf));
        }
    }

    fn leaf(&self, leaf: &Value) -> Value {
        match leaf {
            Value::Entry(access) if access.space == self.length => {
                Value::Parameter(self.parameter.clone())
            }
            Value::Entry(access) => Value::Entry(access.rewritten(self)),
            Value::Window(window, keys) => Value::Window(
                *window,
                keys.iter().map(|key| key.rewritten(self)).collect(),
            ),
            Value::Curve(curve, indices) => Value::Curve(
                curve.clone(),
                indices.iter().map(|e| e.rewritten(self)).collect(),
            ),
            leaf => leaf.clone(),
        }
    }
}

/// Whether an expression names these data.
fn names(e: &Expression, data: &str) -> bool {
    let mut found = false;
    e.visit(&mut |e| {
        found |=
            matches!(e, Expression::Call(name, _) | Expression::Constant(name) if name == data);
    });
    found
}

/// Whether all that is declared and checked of a result is declared of the given array too.
fn declares_no_more(relied_on: &Declarations, result: &str, given: &str) -> bool {
    let mut without = relied_on.clone();
    without.forget_quantifiers(result);
    if without.quantifiers().len() != relied_on.quantifiers().len() {
        return false;
    }
    let Some(function) = relied_on.function(result) else {
        return true;
    };
    let is_implied = |other: &Function| {
        function.range.as_box() == other.range.as_box()
            && (function.monotone.is_none() || function.monotone == other.monotone)
            && (!function.injective || other.injective)
    };
    relied_on.function(given).is_some_and(is_implied)
}

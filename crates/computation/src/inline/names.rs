//! What stands for the names of a computation that is called.
//!
//! ```text
//! dot(N = M, a = A(i))      N          M
//!                           a(j + 1)   A(i, j + 1)
//! ```

use std::collections::BTreeMap;

use sparsec_base::arena::Id;
use sparsec_relation::{Expression, Rewrite, Variable};

use crate::value::Access;

/// What stands for the names of the inner computation.
#[derive(Default)]
pub(super) struct Bound {
    pub(super) values: BTreeMap<String, Expression>,
    pub(super) data: BTreeMap<String, Access>,
}

impl Rewrite for Bound {
    fn whole(&self, e: &Expression) -> Option<Expression> {
        Inner(self, &[]).whole(e)
    }

    fn function(&self, name: &str) -> String {
        let access = self.data.get(name);
        access.map_or(name.to_owned(), |access| access.space.clone())
    }
}

/// Puts these in place of variables, and of names what stands for them.
pub(super) struct Inner<'a>(pub(super) &'a Bound, pub(super) &'a [Expression]);

impl Inner<'_> {
    /// An entry of the caller's data.
    pub(super) fn access(&self, access: &Access) -> Access {
        let slice = &self.0.data[&access.space];
        let own = access.indices.iter().map(|e| e.rewritten(self));
        Access {
            space: slice.space.clone(),
            indices: slice.indices.iter().cloned().chain(own).collect(),
        }
    }
}

impl Rewrite for Inner<'_> {
    fn whole(&self, e: &Expression) -> Option<Expression> {
        let (name, arguments) = match e {
            Expression::Constant(name) => (name, &[][..]),
            Expression::Call(name, arguments) => (name, &arguments[..]),
            _ => return None,
        };
        if let Some(value) = self.0.values.get(name) {
            return Some(value.clone());
        }
        self.0.data.contains_key(name).then(|| {
            let access = self.access(&Access {
                space: name.clone(),
                indices: arguments.to_vec(),
            });
            match access.indices.is_empty() {
                true => Expression::Constant(access.space),
                false => Expression::Call(access.space, access.indices),
            }
        })
    }

    fn variable(&self, variable: Variable) -> Expression {
        match self.1.get(variable.index()) {
            Some(value) => value.clone(),
            // Declarations have variables of their own.
            None => Expression::Variable(variable),
        }
    }

    fn constant(&self, name: &str) -> Expression {
        let constant = Expression::Constant(name.to_owned());
        self.whole(&constant).unwrap_or(constant)
    }
}

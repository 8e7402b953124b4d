//! The entries that values of a builder store, and their fills.

use sparsec_base::Scalar;

use super::{ProgramBuilder, Value};
use crate::expr::Expr;
use crate::program::TensorVar;
use crate::stored::{Answers, Found, stored};

impl ProgramBuilder {
    /// What a value is where nothing is stored; `None` if an index decides, or there is no such value.
    ///
    /// ```
    /// use sparsec_base::{ElementType, Scalar};
    /// use sparsec_index::{Operator, ProgramBuilder};
    /// let mut builder = ProgramBuilder::new();
    /// let (a, i) = (builder.input("a", ElementType::F64, &[None])?, builder.var("i"));
    /// let a = builder.access(a, [i])?;
    /// let more = builder.apply(&Operator::Add, [a, builder.number(Scalar::F64(2.0))])?;
    /// assert_eq!(builder.fill_of(&more), Some(Scalar::F64(2.0)));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn fill_of(&self, value: &Value) -> Option<Scalar> {
        value.expr().fill(&self.tensors, &self.named)
    }

    /// Where a part of a value is stored, and its value elsewhere; see
    /// [`stored`](mod@crate::stored).
    pub fn stored<A: Answers>(&self, answers: &A, expr: &Expr) -> Found<A::Where> {
        stored(answers, expr, &self.tensors, &self.named)
    }

    /// The value of a tensor where it stores no entry.
    pub fn fill_of_tensor(&self, tensor: TensorVar) -> Scalar {
        self.tensors[tensor].fill
    }
}

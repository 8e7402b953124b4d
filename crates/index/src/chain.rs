//! Programs one after another: results of one are inputs of the next.
//!
//! ```text
//! first   T(i,j) = A(i,k) * B(k,j)        T(i,j) = A(i,k) * B(k,j)
//! next    y(i) = S(i,j) * x(j)            y(i) = T(i,j) * x(j)          S is T
//! ```

use std::collections::BTreeMap;

use sparsec_base::arena::Id;
use sparsec_base::{Diagnostic, Result, Source, code};

use crate::expr::{Access, Expr};
use crate::program::{IndexVar, Program, Statement, TensorRole, TensorVar};

impl Program {
    /// This program, and `next` after it, with the tensors of `next` in the program of both.
    ///
    /// `same` has pairs of a tensor of this program, input or result, and an input of `next` that
    /// is the same tensor. Tensors and variables of this program keep their numbers. Tensors of
    /// `next` whose names are taken get others. The text is that which the program prints as.
    ///
    /// Time linear in the size of both.
    ///
    /// # Errors
    /// `E0201` for a pair that has another tensor; `E0021` if the two of a pair differ in order,
    /// type, or fill; `E0203` for extents that do not fit together.
    ///
    /// ```
    /// use sparsec_base::ElementType::F64;
    /// use sparsec_index::{Operator::Mul, Program, ProgramBuilder};
    /// let product = |names: [&str; 3]| -> sparsec_base::Result<Program> {
    ///     let mut built = ProgramBuilder::new();
    ///     let z = built.result(names[0], 1)?;
    ///     let [x, y] = [built.input(names[1], F64, &[None])?, built.input(names[2], F64, &[None])?];
    ///     let i = built.var("i");
    ///     let product = built.apply(&Mul, [built.access(x, [i])?, built.access(y, [i])?])?;
    ///     built.assign(z, [i], product)?;
    ///     built.finish()
    /// };
    /// let (first, next) = (product(["t", "a", "b"])?, product(["y", "s", "b"])?);
    /// let same = [(first.tensors.named("t").unwrap(), next.tensors.named("s").unwrap())];
    /// let (both, _) = first.then(&next, &same)?;
    /// assert_eq!(both.to_string(), "t(i) = a(i) * b(i)\ny(i) = t(i) * b_1(i)");
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn then(
        &self,
        next: &Program,
        same: &[(TensorVar, TensorVar)],
    ) -> Result<(Program, BTreeMap<TensorVar, TensorVar>)> {
        let mut both = Self {
            source: Source::new(self.source.name(), ""),
            ..self.clone()
        };
        let mut tensors = BTreeMap::new();
        for (own, input) in same {
            both.unify(next, *own, *input)?;
            tensors.insert(*input, *own);
        }
        for (tensor, data) in next.tensors.iter() {
            if tensors.contains_key(&tensor) {
                continue;
            }
            let mut data = data.clone();
            let is_taken = both.tensors.named(&data.name).is_some();
            if is_taken {
                data.name = both.tensors.fresh(&format!("{}_", data.name));
            }
            tensors.insert(tensor, both.tensors.push(data));
        }
        let vars = next.vars.iter();
        let vars: BTreeMap<IndexVar, IndexVar> = vars
            .map(|(var, data)| (var, both.vars.push(data.clone())))
            .collect();
        for data in both.tensors.ids().skip(self.tensors.len()) {
            let levels = both.tensors[data].levels_of.as_mut();
            if let Some(levels) = levels {
                levels.tensor = tensors[&levels.tensor];
                levels.modes.iter_mut().for_each(|var| *var = vars[var]);
            }
        }
        let same_extent = next.same_extent.iter();
        both.same_extent
            .extend(same_extent.map(|(a, b)| (vars[a], vars[b])));
        let moved = Moved {
            tensors: &tensors,
            vars: &vars,
        };
        for statement in &next.statements {
            both.statements.push(Statement {
                lhs: moved.access(&statement.lhs),
                rhs: moved.expr(&statement.rhs),
                before: statement.before.map(|before| tensors[&before]),
                ..statement.clone()
            });
        }
        both.settle()?;
        Ok((both, tensors))
    }

    /// Has an input of `next` as a tensor of this program.
    fn unify(&mut self, next: &Program, own: TensorVar, input: TensorVar) -> Result<()> {
        let is_known = own.index() < self.tensors.len() && input.index() < next.tensors.len();
        if !is_known || next.tensors[input].role != TensorRole::Input {
            let message = format!("`{own}` and `{input}` are no tensor and input of the programs");
            return Err(Diagnostic::new(code::UNKNOWN_TENSOR, message)
                .help("pair a tensor of the first program with an input of the next"));
        }
        let (data, other) = (&mut self.tensors[own], &next.tensors[input]);
        let refuse = |code, what: &str| {
            let message = format!("`{}` and `{}` differ in {what}", data.name, other.name);
            Err(Diagnostic::new(code, message).help("pair tensors that are the same"))
        };
        if data.order() != other.order() {
            return refuse(code::NOT_AS_PLANNED, "order");
        }
        if data.element != other.element {
            return refuse(code::NOT_AS_PLANNED, "type");
        }
        if data.fill != other.fill {
            return refuse(code::NOT_AS_PLANNED, "fill");
        }
        for mode in 0..other.extents.len() {
            match (data.extents[mode], other.extents[mode]) {
                (Some(a), Some(b)) if a != b => {
                    return refuse(code::EXTENT_MISMATCH, &format!("extent {mode}"));
                }
                (known, other) => data.extents[mode] = known.or(other),
            }
        }
        Ok(())
    }
}

/// The numbers of tensors and variables in the program of both.
struct Moved<'a> {
    tensors: &'a BTreeMap<TensorVar, TensorVar>,
    vars: &'a BTreeMap<IndexVar, IndexVar>,
}

impl Moved<'_> {
    fn access(&self, access: &Access) -> Access {
        Access {
            tensor: self.tensors[&access.tensor],
            ..access.renamed(&|var| self.vars[&var])
        }
    }

    fn expr(&self, expr: &Expr) -> Expr {
        expr.map_parts(&mut |part| match part {
            Expr::Access(access) => Some(Expr::Access(self.access(access))),
            Expr::Index(index) => Some(Expr::Index(index.renamed(&|var| self.vars[&var]))),
            Expr::Reduce { op, vars, body } => Some(Expr::Reduce {
                op: op.clone(),
                vars: vars.iter().map(|var| self.vars[var]).collect(),
                body: Box::new(self.expr(body)),
            }),
            _ => None,
        })
    }
}

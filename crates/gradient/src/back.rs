//! From a statement to one of its accesses, through operators and reductions.

use sparsec_base::{ElementType, Kind, Result, Scalar};
use sparsec_index::build::Value;
use sparsec_index::{Expr, IndexVar, Operator};

use crate::derive::{Derivation, Path};
use crate::partial::{Values, partial, reads};
use crate::write::{Names, Renamed};

impl<'a> Derivation<'a> {
    /// The derivative by the access that a path leads to, where `d` is that by `expr`; `None` if it
    /// is 0. Variables that are bound on the way are put into the scope.
    pub(crate) fn back(
        &mut self,
        expr: &'a Expr,
        d: Value,
        path: &mut Path<'a>,
        renamed: &mut Renamed,
        names: &mut Names,
    ) -> Result<Option<Value>> {
        match expr {
            Expr::Access(_) => Ok(Some(d)),
            Expr::Literal(_) | Expr::Index(_) => Ok(None),
            Expr::Cast(to, body) => {
                let from = body.element(&self.program.tensors);
                match (from.kind(), to.kind()) {
                    (Kind::Float, Kind::Complex) => {
                        let message = format!("`{to}` of a number has no derivative here");
                        Err(self.refused(path.statement.span, message, "derive by real numbers"))
                    }
                    (Kind::Float, Kind::Float) => {
                        let d = match from == d.element() {
                            true => d,
                            false => self.built.cast(from, d)?,
                        };
                        self.back(body, d, path, renamed, names)
                    }
                    _ => Ok(None),
                }
            }
            Expr::Apply { op, args } => self.back_applied(op, args, d, path, renamed, names),
            Expr::Reduce { op, vars, body } => {
                for var in vars {
                    self.rename(*var, renamed, names);
                    path.scope.push(*var);
                }
                let d = match op {
                    Operator::Add => d,
                    Operator::Max | Operator::Min => {
                        match self.shared(op, expr, body, d, renamed, names)? {
                            Some(d) => d,
                            None => return Ok(None),
                        }
                    }
                    _ => {
                        let name = op.reduction_name().unwrap_or_default();
                        let message = format!("the reduction `{name}` has no derivative here");
                        let help = "write it with `sum`, `max` or `min`: a product of positive \
                                    numbers is `exp(sum{k}(log(x(k))))`";
                        return Err(self.refused(path.statement.span, message, help));
                    }
                };
                self.back(body, d, path, renamed, names)
            }
        }
    }

    /// As [`back`](Self::back), at an operator.
    fn back_applied(
        &mut self,
        op: &Operator,
        args: &'a [Expr],
        d: Value,
        path: &mut Path<'a>,
        renamed: &mut Renamed,
        names: &mut Names,
    ) -> Result<Option<Value>> {
        let mut number = 0;
        while path.number >= args[number].accesses().len() {
            path.number -= args[number].accesses().len();
            number += 1;
        }
        let of = &args[number];
        if of.element(&self.program.tensors).kind() == Kind::Complex {
            let message = format!(
                "`{}` of complex numbers has no derivative here",
                op.symbol()
            );
            let help = "derive by real numbers";
            return Err(self.refused(path.statement.span, message, help));
        }
        let is_condition = *op == Operator::Select && number == 0;
        if is_flat(op) || is_condition || d.element().kind() != Kind::Float {
            return Ok(None);
        }
        let mut values = Vec::new();
        for (at, arg) in args.iter().enumerate() {
            if !reads(op, number, at) {
                values.push(None);
                continue;
            }
            // Variables that the argument binds are bound once more beside its derivative.
            let mut own = renamed.clone();
            for var in arg.bound_vars() {
                own.remove(&var);
            }
            // Not all derivatives read all arguments: what this one does not read may be the
            // result of a statement that is left out.
            let is_written = arg
                .accesses()
                .iter()
                .all(|it| self.tensors.contains_key(&it.tensor));
            values.push(match is_written {
                true => Some(self.value(arg, &mut own, names)?),
                false => None,
            });
        }
        // The derivative of an argument that is not chosen may be NaN, as that of `sqrt(a)` at -1
        // in `select(a > 0, sqrt(a), …)`, and 0 * NaN is NaN. So the choice is applied last.
        if matches!(op, Operator::Select | Operator::Relu) {
            let d = self.back(of, d, path, renamed, names)?;
            let chosen = |d: Value| partial(&Values(&self.built), op, &values, number, &d);
            return d.map(chosen).transpose();
        }
        let d = partial(&Values(&self.built), op, &values, number, &d)?;
        self.back(of, d, path, renamed, names)
    }

    /// The derivative by each entry of an extreme: equal shares for those that are it.
    fn shared(
        &mut self,
        op: &Operator,
        extreme: &Expr,
        body: &Expr,
        d: Value,
        renamed: &Renamed,
        names: &mut Names,
    ) -> Result<Option<Value>> {
        if d.element().kind() != Kind::Float {
            return Ok(None);
        }
        let bound = extreme.bound_vars();
        let free: Vec<IndexVar> = extreme
            .vars()
            .into_iter()
            .filter(|it| !bound.contains(it))
            .collect();
        let [most, ties] = self.names_of_extreme(op);
        let [most, ties] = [most, ties].map(|name| self.built.result(&name, free.len()));
        let (most, ties) = (most?, ties?);
        // max_1(i) = max{j}(e)
        let mut own = Names::beside(self.program);
        let mut renamed_here = Renamed::new();
        for var in &free {
            let new = self.var(&mut own, *var);
            renamed_here.insert(*var, new);
        }
        let vars: Vec<IndexVar> = free.iter().map(|var| renamed_here[var]).collect();
        let value = self.value(extreme, &mut renamed_here.clone(), &mut own)?;
        self.built.assign(most, vars.iter().copied(), value)?;
        // ties_1(i) = sum{j}(select(e == max_1(i), 1, 0))
        let over = match extreme {
            Expr::Reduce { vars, .. } => vars.clone(),
            _ => unreachable!("an extreme is a reduction"),
        };
        for var in &over {
            let new = self.var(&mut own, *var);
            renamed_here.insert(*var, new);
        }
        let at = self.built.access(most, vars.iter().copied())?;
        let entry = self.value(body, &mut renamed_here.clone(), &mut own)?;
        let values = Values(&self.built);
        let element = entry.element();
        let (one, zero) = (self.of_type(element, 1.0), self.of_type(element, 0.0));
        let counted = values.select(&values.two(&Operator::Eq, &entry, &at)?, &one, &zero)?;
        let over: Vec<IndexVar> = over.iter().map(|var| renamed_here[var]).collect();
        let count = self.built.reduce(&Operator::Add, over, counted)?;
        self.built.assign(ties, vars, count)?;
        // select(e == max_1(i), d / ties_1(i), 0)
        let places = || free.iter().map(|var| renamed[var]);
        let most = self.built.access(most, places())?;
        let ties = self.built.access(ties, places())?;
        let mut here = renamed.clone();
        for var in body.bound_vars() {
            here.remove(&var);
        }
        let entry = self.value(body, &mut here, names)?;
        let values = Values(&self.built);
        let share = values.two(&Operator::Div, &d, &ties)?;
        let meets = values.two(&Operator::Eq, &entry, &most)?;
        values.select(&meets, &share, &values.number(0.0)).map(Some)
    }

    /// The names of the two tensors that an extreme needs: `max_1` and `ties_1`, or with the
    /// first number that makes both new.
    fn names_of_extreme(&mut self, op: &Operator) -> [String; 2] {
        loop {
            self.n_extremes += 1;
            let number = self.n_extremes;
            let names = [op.symbol(), "ties"].map(|name| format!("{name}_{number}"));
            if !names.iter().any(|name| self.is_taken(name)) {
                return names;
            }
        }
    }

    fn of_type(&self, element: ElementType, value: f64) -> Value {
        let value = Scalar::F64(value);
        self.built.number(value.cast(element).unwrap_or(value))
    }
}

/// Whether an operator has derivative 0 wherever it has one.
fn is_flat(op: &Operator) -> bool {
    use Operator as Op;
    let steps = [
        Op::FloorDiv,
        Op::Imag,
        Op::Floor,
        Op::Ceil,
        Op::Round,
        Op::Trunc,
        Op::Sign,
    ];
    steps.contains(op) || op.is_predicate() || op.is_logical()
}

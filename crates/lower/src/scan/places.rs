//! Arguments of functions by their values: searched for where a function is monotone, and
//! looked up in a table of its range, which is made once, in front of all loops, where it is
//! not.

use sparsec_base::ElementType;
use sparsec_loop::{Access as BufferAccess, BinaryOp, Expr};
use sparsec_relation::{Expression, Monotone, Step};

use super::emit::Emitter;
use crate::bisect::{Wanted, bisect, integer};

impl Emitter<'_> {
    /// Makes the tables in which functions without an order are looked up.
    pub(super) fn make_all_places(&mut self) {
        let mut wanted = Vec::new();
        for_each_value(&self.loops.body, &mut |e| {
            e.visit(&mut |e| {
                if let Expression::Call(name, _) = e
                    && let Some(function) = name.strip_suffix(".inverse")
                    && !wanted.contains(&function)
                {
                    wanted.push(function);
                }
            });
        });
        for function in wanted {
            self.make_places(function);
        }
    }

    /// Where each value of an injective function without an order is.
    fn make_places(&mut self, name: &str) {
        let function = self
            .known
            .function(name)
            .expect("scanned functions are declared");
        if function.monotone.is_some() {
            return;
        }
        let bounds = |set: &sparsec_relation::Set| set.as_box().expect("checked when scanned");
        let (domain, range) = (bounds(&function.domain), bounds(&function.range));
        let [from, end, least, above] =
            [&domain[0].0, &domain[0].1, &range[0].0, &range[0].1].map(|e| self.expr(e));
        let table = format!("{name}_places");
        let element = ElementType::I64;
        let table = self
            .builder
            .buffer(&table, element, element, BufferAccess::Workspace);
        let len = above.binary(BinaryOp::Sub, least.clone());
        self.builder.alloc(table, len);
        let at = self.builder.fixed("at", element);
        let values = self.arrays.spaces[name];
        self.builder.for_loop(at, from.clone(), end, |b| {
            let index = integer(b, values, at).binary(BinaryOp::Sub, least);
            let place = Expr::Var(at).binary(BinaryOp::Sub, from).add(1);
            b.store(table, index, place);
        });
        self.places.insert(name.to_owned(), table);
    }

    /// The first argument at which a monotone function has reached a value.
    pub(super) fn first(&mut self, name: &str, value: &Expression) -> Expr {
        let function = self
            .known
            .function(name)
            .expect("scanned functions are declared");
        let domain = function.domain.as_box().expect("checked when scanned");
        let [from, end] = [&domain[0].0, &domain[0].1].map(|e| self.expr(e));
        let value = self.expr(value);
        let value = self.builder.let_("sought", value);
        let wanted = match function.monotone {
            Some(Monotone::Nonincreasing | Monotone::Decreasing) => Wanted::AtMost(value.into()),
            _ => Wanted::AtLeast(value.into()),
        };
        let buffer = self.arrays.spaces[name];
        let name = format!("{name}_first");
        bisect(self.builder, &name, buffer, from..end, &wanted).into()
    }

    /// The argument at which a function has a value, or one before its domain.
    pub(super) fn inverse(&mut self, name: &str, value: &Expression) -> Expr {
        let Some(&table) = self.places.get(name) else {
            return self.first(name, value);
        };
        let function = self
            .known
            .function(name)
            .expect("scanned functions are declared");
        let bounds = |set: &sparsec_relation::Set| set.as_box().expect("checked when scanned");
        let (domain, range) = (bounds(&function.domain), bounds(&function.range));
        let [from, least, above] = [&domain[0].0, &range[0].0, &range[0].1].map(|e| self.expr(e));
        let value = self.expr(value);
        let value = self.builder.let_("sought", value);
        let is_inside = least
            .clone()
            .binary(BinaryOp::Le, value)
            .and(Expr::Var(value).less(above));
        let before = from.binary(BinaryOp::Sub, 1);
        let place = Expr::load(table, Expr::Var(value).binary(BinaryOp::Sub, least));
        Expr::Select {
            condition: Box::new(is_inside),
            then: Box::new(place.add(before.clone())),
            otherwise: Box::new(before),
        }
    }
}

/// Calls `visit` with each value and bound in steps.
fn for_each_value<'a>(steps: &'a [Step], visit: &mut impl FnMut(&'a Expression)) {
    for step in steps {
        match step {
            Step::Let { value, .. } => visit(value),
            Step::For {
                lower, upper, body, ..
            } => {
                lower.iter().chain(upper).flatten().for_each(&mut *visit);
                for_each_value(body, visit);
            }
            Step::If { body, .. } => for_each_value(body, visit),
            Step::Where { search, body, .. } => {
                for_each_value(search, visit);
                for_each_value(body, visit);
            }
            Step::Visit { tuple, .. } => tuple.iter().for_each(&mut *visit),
            Step::Found => {}
        }
    }
}

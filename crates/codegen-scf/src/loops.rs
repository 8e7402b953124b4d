//! Loops and branches, with the values that they change as results.
//!
//! ```text
//! while p < n { p += 1 }      %p_3 = scf.while (%p_1 = %p) : (index) -> index {
//!                               scf.condition(%0) %p_1 : index
//!                             } do {
//!                             ^bb0(%p_2: index):
//!                               scf.yield %1 : index
//!                             }
//! ```

use sparsec_loop::{Block, Expr, Var};

use crate::function::names;
use crate::state::Slot;
use crate::types::Type;
use crate::writer::{Value, Writer};

impl Writer<'_> {
    pub(crate) fn for_loop(&mut self, var: Var, lo: &Expr, hi: &Expr, body: &Block) {
        let (lo, hi, one) = (self.index(lo), self.index(hi), self.integer(1, true));
        let changed = self.state.changed_by(&[body]);
        let before = self.state.clone();
        let inner = self.renewed(&changed);
        let results = self.results(&changed);
        let (i, head) = self.counter(var);
        let carried = match changed.is_empty() {
            true => String::new(),
            false => format!(
                " iter_args({}) -> ({})",
                pairs(&inner, &self.values(&changed)),
                types(&inner)
            ),
        };
        self.line(&format!(
            "{}scf.for {i} = {} to {} step {}{carried} {{",
            assigned(&results),
            lo.name,
            hi.name,
            one.name
        ));
        self.enter(&changed, inner);
        self.state.set(head, Value::new(i, Type::Index));
        self.region(&changed, body);
        self.line("}");
        self.leave(before, &changed, results);
    }

    /// A loop whose iterations run in any order.
    pub(crate) fn parallel_loop(&mut self, var: Var, lo: &Expr, hi: &Expr, body: &Block) {
        let (lo, hi, one) = (self.index(lo), self.index(hi), self.integer(1, true));
        let before = self.state.clone();
        let (i, head) = self.counter(var);
        self.line(&format!(
            "scf.parallel ({i}) = ({}) to ({}) step ({}) {{",
            lo.name, hi.name, one.name
        ));
        self.state.set(head, Value::new(i, Type::Index));
        self.indented(|w| {
            w.block(body);
            w.line("scf.reduce");
        });
        self.line("}");
        self.state = before;
    }

    fn counter(&mut self, var: Var) -> (String, Slot) {
        let name = self.function.vars[var].name.clone();
        (self.fresh(&name), Slot::Var(var))
    }

    pub(crate) fn while_loop(&mut self, condition: &Expr, body: &Block) {
        let changed = self.state.changed_by(&[body]);
        let before = self.state.clone();
        let (tested, inner) = (self.renewed(&changed), self.renewed(&changed));
        let results = self.results(&changed);
        let types = types(&tested);
        let head = match changed.is_empty() {
            true => String::from(" : () -> ()"),
            false => format!(
                " ({}) : ({types}) -> ({types})",
                pairs(&tested, &self.values(&changed))
            ),
        };
        self.line(&format!("{}scf.while{head} {{", assigned(&results)));
        self.enter(&changed, tested.clone());
        self.indented(|w| {
            let condition = w.expr(condition, false).name;
            let passed = match changed.is_empty() {
                true => String::new(),
                false => format!(" {} : {types}", names(&tested)),
            };
            w.line(&format!("scf.condition({condition}){passed}"));
        });
        self.line("} do {");
        if !changed.is_empty() {
            let parameters = inner.iter().map(|it| format!("{}: {}", it.name, it.ty));
            let parameters: Vec<String> = parameters.collect();
            self.line(&format!("^bb0({}):", parameters.join(", ")));
        }
        self.enter(&changed, inner);
        self.indented(|w| {
            w.block(body);
            w.yielded(&changed, true);
        });
        self.line("}");
        self.leave(before, &changed, results);
    }

    pub(crate) fn branch(&mut self, condition: &Expr, then: &Block, otherwise: &Block) {
        let condition = self.expr(condition, false).name;
        let changed = self.state.changed_by(&[then, otherwise]);
        let before = self.state.clone();
        let results = self.results(&changed);
        let arrow = match changed.is_empty() {
            true => String::new(),
            false => format!(" -> ({})", types(&results)),
        };
        self.line(&format!(
            "{}scf.if {condition}{arrow} {{",
            assigned(&results)
        ));
        self.region(&changed, then);
        self.state = before.clone();
        if !changed.is_empty() || !otherwise.is_empty() {
            self.line("} else {");
            self.region(&changed, otherwise);
        }
        self.line("}");
        self.leave(before, &changed, results);
    }

    /// A block, and the values that it gives.
    fn region(&mut self, changed: &[Slot], block: &Block) {
        self.indented(|w| {
            w.block(block);
            w.yielded(changed, false);
        });
    }

    /// The end of a region; if it gives no values, only where one has to be.
    fn yielded(&mut self, changed: &[Slot], always: bool) {
        let values = self.values(changed);
        match (values.is_empty(), always) {
            (true, true) => self.line("scf.yield"),
            (true, false) => {}
            (false, _) => {
                self.line(&format!(
                    "scf.yield {} : {}",
                    names(&values),
                    types(&values)
                ));
            }
        }
    }

    fn values(&self, slots: &[Slot]) -> Vec<Value> {
        slots
            .iter()
            .map(|slot| self.state.get(*slot).clone())
            .collect()
    }

    /// New values for these, with their names and types.
    fn renewed(&mut self, slots: &[Slot]) -> Vec<Value> {
        let renew = |slot: &Slot| {
            let ty = self.state.get(*slot).ty;
            let name = match slot {
                Slot::Var(var) => self.function.vars[*var].name.clone(),
                Slot::Array(buffer) => self.function.buffers[*buffer].name.clone(),
                Slot::Len(buffer) => format!("{}.len", self.function.buffers[*buffer].name),
            };
            Value::new(self.fresh(&name), ty)
        };
        slots.iter().map(renew).collect()
    }

    fn results(&mut self, slots: &[Slot]) -> Vec<Value> {
        self.renewed(slots)
    }

    fn enter(&mut self, slots: &[Slot], values: Vec<Value>) {
        for (slot, value) in slots.iter().zip(values) {
            self.state.set(*slot, value);
        }
    }

    /// Behind a region: the values of before, but for what the region gave.
    fn leave(&mut self, before: crate::state::State, slots: &[Slot], values: Vec<Value>) {
        self.state = before;
        self.enter(slots, values);
    }
}

/// The results of an operation, as they stand before it.
fn assigned(results: &[Value]) -> String {
    match results.is_empty() {
        true => String::new(),
        false => format!("{} = ", names(results)),
    }
}

fn types(values: &[Value]) -> String {
    let types: Vec<String> = values.iter().map(|value| value.ty.to_string()).collect();
    types.join(", ")
}

/// Values of a region with those that they begin with.
fn pairs(inner: &[Value], first: &[Value]) -> String {
    let pairs = inner.iter().zip(first);
    let pairs: Vec<String> = pairs
        .map(|(inner, first)| format!("{} = {}", inner.name, first.name))
        .collect();
    pairs.join(", ")
}

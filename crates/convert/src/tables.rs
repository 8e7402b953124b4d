//! Hash tables: the slots of a key below its parent.
//!
//! ```text
//! map  {[q0, q1] -> [i, j] : q0 = i && pos1(q0) <= q1 < pos1(q0 + 1) && crd1(q1) = j && …}
//!
//! B_q1_count(i) += 1
//! B_pos1(x + 1) = B_pos1(x) + power_of_two(2 * B_q1_count(x))
//! B_crd1(x) = N1                                                  no slot is taken
//! B_q1(p) = slot(j of N1 + 1, B_pos1(i) of …, B_pos1(i + 1) of …)
//! B_crd1(B_q1(p)) = j
//! ```

use sparsec_base::Result;
use sparsec_base::arena::Id;
use sparsec_computation::{Key, Operator, Update, Value, Window};
use sparsec_relation::{Expression, Variable};

use crate::cases::CaseKind;
use crate::refused;
use crate::synthesis::Synthesis;
use crate::terms::{below, binary, entry, plus_one};
use crate::unknown::{ListKey, Unknowns};

impl Synthesis<'_> {
    /// The slots of entries in the tables of their parents.
    pub(crate) fn in_table(
        &mut self,
        element: Variable,
        key: &ListKey,
        (starts, parent): (&str, &Expression),
        unknowns: &mut Unknowns<'_>,
    ) -> Result<Expression> {
        let name = self.destination.map.name(element).to_owned();
        let n_parents = self.n_parents(starts)?;
        let own = self.key(key)?;
        let above = Key {
            value: parent.clone(),
            extent: n_parents.clone(),
        };
        let keys = self.told_by(&[above, own.clone()]);
        if self.adds || !self.is_told_apart(&self.coordinates(), &keys)? {
            return Err(refused(format!("several entries share a slot of `{name}`"))
                .help("convert to tables of entries: the last level of the format"));
        }
        let count = format!("{}_{name}_count", self.destination.name);
        self.add_array(&count, n_parents.clone());
        self.bound_parent(parent, &n_parents)?;
        let one = (Update::Add, Value::Integer(1));
        self.add(
            self.space.clone(),
            (count.clone(), vec![parent.clone()]),
            one,
        );
        let x = Expression::Variable(Variable::from_index(0));
        let twice = binary(Operator::Multiply, Value::Integer(2), entry(&count, &x));
        let slots = Value::PowerOfTwo(Box::new(twice));
        let next = binary(Operator::Add, entry(starts, &x), slots);
        let target = (starts.to_owned(), vec![plus_one(&x)]);
        self.add(below("x", &n_parents)?, target, (Update::Assign, next));
        self.writes(starts, CaseKind::Segments);
        unknowns.functions.remove(starts);
        let end = self
            .end_of(starts, &n_parents)?
            .ok_or_else(|| refused(format!("nothing says how many slots there are of `{name}`")))?;
        let known = self.computation.declarations.clone();
        self.mark(&key.function, &key.value, &known)?;
        let array = format!("{}_{name}", self.destination.name);
        self.declare_numbers(&array, &Expression::Constant(end.clone()))?;
        let bound = plus_one(&Expression::Constant(end));
        let table = [parent.clone(), plus_one(parent)].map(|at| Key {
            value: Expression::Call(starts.to_owned(), vec![at]),
            extent: bound.clone(),
        });
        let keys = [vec![own], table.to_vec()].concat();
        let slot = Value::Window(Window::Slot, keys);
        let target = (array.clone(), vec![self.entries.place.clone()]);
        self.add(self.space.clone(), target, (Update::Assign, slot));
        let number = self.number_at_entry(array)?;
        self.keep_keys(std::slice::from_ref(key), &number, unknowns)?;
        Ok(number)
    }
}

//! The entries of the source: the points at which statements of a conversion run.
//!
//! ```text
//! map   {[q0, q1] -> [i, j] : q0 = i && A_pos1(q0) <= q1 < A_pos1(q0 + 1) && A_crd1(q1) = j && …}
//! data  {[q0, q1] -> [q] : q = q1}
//!
//! space {[q0, q1, i, j] : …}      coordinates i, j      place q1
//! ```

use sparsec_base::Result;
use sparsec_base::arena::Id;
use sparsec_relation::{Conjunction, Expression, Set, Variable};

use crate::named::Named;
use crate::refused;

/// The entries of a tensor.
#[derive(Clone, Debug)]
pub(crate) struct Entries {
    /// A point for each, in the order in which they are stored.
    pub(crate) space: Set,
    /// The variables of a point that are its coordinates.
    pub(crate) coordinates: Vec<Variable>,
    /// The place of its value.
    pub(crate) place: Expression,
    /// How many places there are.
    pub(crate) n_places: Expression,
}

impl Entries {
    pub(crate) fn of(source: &Named) -> Result<Self> {
        let map = &source.map;
        let names = map.inputs().chain(map.outputs());
        let names: Vec<String> = names.map(|v| map.name(v).to_owned()).collect();
        let mut space = Conjunction::new(names, []);
        let tuple: Vec<Variable> = space.inputs().collect();
        space.conjoin_at(map, tuple.into_iter());
        let places = source.data.solve(&source.declarations)?;
        let [place] = &places[..] else {
            let message = format!("the values of `{}` lie by several rules", source.name);
            return Err(refused(message));
        };
        let n_inputs = map.inputs().len();
        let coordinates = (n_inputs..space.n_variables().min(n_inputs + map.outputs().len()))
            .map(Variable::from_index);
        let [n_places] = &source.lengths(None)?[..] else {
            let message = format!("the values of `{}` have several indices", source.name);
            return Err(refused(message));
        };
        Ok(Self {
            coordinates: coordinates.collect(),
            space: Set::new(vec![space])?,
            place: place[0].clone(),
            n_places: n_places.clone(),
        })
    }

    /// The names of the variables of a point.
    pub(crate) fn names(&self) -> Vec<String> {
        let part = &self.space.parts()[0];
        part.inputs().map(|v| part.name(v).to_owned()).collect()
    }
}

//! How many entries an intermediate has, and how many multiply-adds a contraction takes.
//!
//! Both are estimated from the operands, for a set `S` of operands whose product keeps the
//! index variables `K`:
//!
//! 1. **Join.** `J` tuples of entries of `S` agree in their coordinates. A first operand has
//!    all of its entries; each further one divides by the larger number of distinct
//!    coordinates of each index variable that it shares, since the smaller set is assumed to
//!    lie in the larger one. A known match, or the squares of a tensor that meets itself,
//!    corrects this by its factor, so skewed degrees count.
//! 2. **Bound.** An operand `T` allows `V = |T onto K| · Π d(k)` places, with `k` in `K` and
//!    not in `T`: its projection and every combination of the rest. The smallest bound holds.
//!    For a mask with all of its index variables in `K` this is the bound by the mask.
//! 3. **Occupancy.** The `J` tuples fall on `V` places with `F` chances each, the contracted
//!    combinations: `V (1 − (1 − J/(VF))^F)` places are hit.
//!
//! Step 2 decides plans: for the restricted integrals of [`network`](crate::network),
//! independence alone lets `I · C` fill and finds `P · L` first, 3.4 times the work.
//!
//! | `S` and `K`                          | `J`    | `V`          | entries         |
//! |--------------------------------------|--------|--------------|-----------------|
//! | `I(K,a,b) C(a,i)` to `K,b,i`         | 5.0e8  | 2.1e7 (all)  | 2.1e7           |
//! | `I(K,a,b) C(a,i) L(K,i)` to `K,b,i`  | 2.3e7  | 9.66e5 (`L`) | 9.66e5          |
//!
//! An estimate depends on the set alone, not on the order in which it is multiplied, so
//! dynamic programming over sets is exact for it.
//!
//! Source of step 1: Selinger et al., "Access path selection in a relational database
//! management system", SIGMOD 1979, <https://doi.org/10.1145/582095.582099>.

use sparsec_base::arena::Id;

use crate::network::{IndexVar, Network, OperandId};
use crate::set::Set;

/// Numbers stay below this, so that products of them stay numbers.
const MOST: f64 = 1e150;

/// Projections of operands of at most this order are kept in tables.
const TABLED_ORDER: usize = 8;

/// A product of operands, as the factor of another product.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// The operands.
    pub operands: Set<OperandId>,
    /// The index variables that it keeps.
    pub kept: Set<IndexVar>,
    /// How many entries it has.
    pub entries: f64,
}

/// Estimates for one network. Making one costs `O(n²)` in the number of operands.
#[derive(Clone, Debug)]
pub struct Estimator<'a> {
    network: &'a Network,
    facts: Vec<Facts>,
    /// Per index variable, one over the number of distinct coordinates; 0 if operands differ.
    shares: Vec<f64>,
    /// By index variable, the operands that have it, with their distinct coordinates.
    holders: Vec<Vec<(OperandId, f64)>>,
    /// By index variable.
    skews: Vec<Vec<Skew>>,
}

#[derive(Clone, Debug)]
struct Facts {
    entries: f64,
    own: Set<IndexVar>,
    /// Distinct coordinates of each mode.
    distinct: Vec<f64>,
    /// By set of modes as bits, the number of tuples; empty for high orders.
    tuples: Vec<f64>,
}

/// By how much a join of two operands on one index variable exceeds independence.
#[derive(Clone, Copy, Debug)]
struct Skew {
    operands: [OperandId; 2],
    factor: f64,
}

impl<'a> Estimator<'a> {
    /// Estimates for `network`.
    pub fn new(network: &'a Network) -> Self {
        let mut estimator = Self {
            network,
            facts: Vec::new(),
            shares: Vec::new(),
            holders: vec![Vec::new(); network.indices().count()],
            skews: Vec::new(),
        };
        for (id, operand) in network.operands() {
            let mut facts = Facts {
                entries: network.tensor_of(id).n_stored(),
                own: operand.index_set(),
                distinct: Vec::new(),
                tuples: Vec::new(),
            };
            for &index in &operand.indices {
                let known = network.projection(id, Set::of(index));
                let extent = network.extent(index).min(facts.entries);
                let distinct = known.map_or(extent, |known| extent.min(known.tuples as f64));
                facts.distinct.push(distinct);
                estimator.holders[index.index()].push((id, distinct));
            }
            estimator.facts.push(facts);
            if operand.indices.len() <= TABLED_ORDER {
                let table = (0..1usize << operand.indices.len()).map(|modes| {
                    let onto = (0..operand.indices.len()).filter(|mode| modes >> mode & 1 == 1);
                    estimator.projected(id, onto.map(|mode| operand.indices[mode]).collect())
                });
                let table = table.collect();
                estimator.facts[id.index()].tuples = table;
            }
        }
        estimator.shares = network
            .indices()
            .map(|(index, _)| estimator.share(index))
            .collect();
        estimator.skews = estimator.find_skews();
        estimator
    }

    /// The network.
    pub fn network(&self) -> &'a Network {
        self.network
    }

    fn share(&self, index: IndexVar) -> f64 {
        let mut distinct = self.holders[index.index()].iter().map(|holder| holder.1);
        let first = distinct.next().unwrap_or(1.0);
        match distinct.all(|other| other == first) && first > 0.0 {
            true => 1.0 / first,
            false => 0.0,
        }
    }

    fn find_skews(&self) -> Vec<Vec<Skew>> {
        let mut skews = vec![Vec::new(); self.network.indices().count()];
        let operands: Vec<_> = self.network.operands().collect();
        for (n, &(left, a)) in operands.iter().enumerate() {
            for &(right, b) in &operands[n + 1..] {
                for (left_mode, &index) in a.indices.iter().enumerate() {
                    let Some(right_mode) = b.indices.iter().position(|&own| own == index) else {
                        continue;
                    };
                    let Some(pairs) =
                        self.pairs(left, (a.tensor, left_mode), (b.tensor, right_mode))
                    else {
                        continue;
                    };
                    let (l, r) = (&self.facts[left.index()], &self.facts[right.index()]);
                    let larger = l.distinct[left_mode].max(r.distinct[right_mode]);
                    let independent = l.entries * r.entries / larger;
                    if independent > 0.0 && pairs != independent {
                        skews[index.index()].push(Skew {
                            operands: [left, right],
                            factor: pairs / independent,
                        });
                    }
                }
            }
        }
        skews
    }

    /// The known number of pairs of entries that agree in a mode of each.
    fn pairs(
        &self,
        operand: OperandId,
        left: (crate::TensorId, usize),
        right: (crate::TensorId, usize),
    ) -> Option<f64> {
        if left == right {
            let index = self.network.operand(operand).indices[left.1];
            return self
                .network
                .projection(operand, Set::of(index))
                .map(|known| known.squares);
        }
        let found = self.network.matches().iter().find(|found| {
            [(found.left, found.right), (found.right, found.left)].contains(&(left, right))
        });
        found.map(|found| found.pairs)
    }

    /// How many tuples of coordinates an operand has in `onto`, a subset of its own.
    pub fn tuples(&self, operand: OperandId, onto: Set<IndexVar>) -> f64 {
        let facts = &self.facts[operand.index()];
        if facts.tuples.is_empty() {
            return self.projected(operand, onto);
        }
        let indices = &self.network.operand(operand).indices;
        let modes = indices.iter().enumerate();
        let place = modes.fold(0, |bits, (mode, &index)| {
            bits | usize::from(onto.contains(index)) << mode
        });
        facts.tuples[place]
    }

    fn projected(&self, operand: OperandId, onto: Set<IndexVar>) -> f64 {
        let facts = &self.facts[operand.index()];
        if onto == facts.own {
            return facts.entries;
        }
        if let Some(known) = self.network.projection(operand, onto) {
            return facts.entries.min(known.tuples as f64);
        }
        let places = self.places(operand, onto);
        let chances = self.places(operand, facts.own.without(onto));
        let hit = occupied(places, chances, facts.entries);
        // A projection onto more modes has at least as many tuples.
        let indices = &self.network.operand(operand).indices;
        let projections = self.network.tensor_of(operand).statistics.projections();
        projections.iter().fold(hit, |least, projection| {
            let modes = projection.modes.iter().map(|&mode| indices[mode]);
            match onto.is_subset(modes.collect()) {
                true => least.min(projection.tuples as f64),
                false => least,
            }
        })
    }

    fn places(&self, operand: OperandId, onto: Set<IndexVar>) -> f64 {
        let facts = &self.facts[operand.index()];
        let modes = self.network.operand(operand).indices.iter();
        let counts = modes
            .zip(&facts.distinct)
            .filter(|(index, _)| onto.contains(**index));
        counts.map(|(_, &distinct)| distinct).product()
    }

    /// How many distinct coordinates of `index` a product of `operands` may have.
    pub fn distinct(&self, operands: Set<OperandId>, index: IndexVar) -> f64 {
        let share = self.shares[index.index()];
        if share > 0.0 {
            return 1.0 / share;
        }
        let holders = self.holders[index.index()].iter();
        let own = holders.filter(|(operand, _)| operands.contains(*operand));
        own.fold(self.network.extent(index), |least, holder| {
            least.min(holder.1)
        })
    }

    /// One operand as a part, with all of its index variables.
    pub fn operand(&self, operand: OperandId) -> Part {
        Part {
            operands: Set::of(operand),
            kept: self.facts[operand.index()].own,
            entries: self.facts[operand.index()].entries,
        }
    }

    /// The product of `operands` as a part: an operand as it is, several of them with the
    /// index variables that the network still needs.
    pub fn part(&self, operands: Set<OperandId>) -> Part {
        if operands.len() == 1 {
            return self.operand(OperandId::from_index(
                operands.bits().trailing_zeros() as usize
            ));
        }
        self.summed(operands)
    }

    /// The product of `operands`, summed over all that the network does not need.
    pub fn summed(&self, operands: Set<OperandId>) -> Part {
        let kept = self.network.kept_by(operands);
        Part {
            operands,
            kept,
            entries: self.entries(operands, kept),
        }
    }

    /// How many entries the product of `operands` has when only `kept` remain.
    ///
    /// ```
    /// use sparsec_network::{Estimator, Network};
    /// let network = Network::parse("\
    ///     tensor A[100, 100] entries 1000\n tensor B[100, 100] entries 1000
    ///     tensor M[100, 100] entries 50
    ///     C(i,j) = A(i,k) * B(k,j) * M(i,j)")?;
    /// let estimator = Estimator::new(&network);
    /// let all = network.operand_set();
    /// assert!(estimator.entries(all, network.result_set()) <= 50.0);
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn entries(&self, operands: Set<OperandId>, kept: Set<IndexVar>) -> f64 {
        let all = self.network.indices_of(operands);
        let count = |indices: Set<IndexVar>| -> f64 {
            let counts = indices.iter().map(|index| self.distinct(operands, index));
            counts.product::<f64>().min(MOST)
        };
        let mut places = count(kept);
        let mut chances = count(all.without(kept));
        for operand in operands.iter() {
            let facts = &self.facts[operand.index()];
            let tuples = self.tuples(operand, kept.intersection(facts.own));
            let bound = (tuples * count(kept.without(facts.own))).min(MOST);
            if bound < places {
                places = bound;
                let fiber = facts.entries / tuples.max(1.0);
                chances = (fiber * count(all.without(kept).without(facts.own))).min(MOST);
            }
        }
        occupied(places, chances, self.join_of_operands(operands))
    }

    /// How many tuples of entries of `operands` agree.
    fn join_of_operands(&self, operands: Set<OperandId>) -> f64 {
        let mut joined = 1.0;
        let mut before = Set::EMPTY;
        let mut seen: Set<IndexVar> = Set::EMPTY;
        for operand in operands.iter() {
            let facts = &self.facts[operand.index()];
            joined *= facts.entries;
            for index in facts.own.intersection(seen).iter() {
                joined *= self.selectivity(before, Set::of(operand), index);
            }
            joined = joined.min(MOST);
            before.insert(operand);
            seen = seen.union(facts.own);
        }
        joined
    }

    /// The share of the pairs of two products that agree in `index`.
    fn selectivity(&self, left: Set<OperandId>, right: Set<OperandId>, index: IndexVar) -> f64 {
        let share = self.shares[index.index()];
        let share = match share > 0.0 {
            true => share,
            false => {
                1.0 / self
                    .distinct(left, index)
                    .max(self.distinct(right, index))
                    .max(1.0)
            }
        };
        share * self.skew(left, right, index)
    }

    fn skew(&self, left: Set<OperandId>, right: Set<OperandId>, index: IndexVar) -> f64 {
        let mut found: Option<f64> = None;
        for skew in &self.skews[index.index()] {
            let [a, b] = skew.operands;
            let across =
                (left.contains(a) && right.contains(b)) || (left.contains(b) && right.contains(a));
            if across {
                found = Some(found.map_or(skew.factor, |most| most.max(skew.factor)));
            }
        }
        found.unwrap_or(1.0)
    }

    /// How many pairs of entries of two products agree: the multiply-adds of contracting
    /// them.
    pub fn pair(&self, left: &Part, right: &Part) -> f64 {
        let mut joined = left.entries * right.entries;
        for index in left.kept.intersection(right.kept).iter() {
            joined *= self.selectivity(left.operands, right.operands, index);
        }
        for (one, other) in [(left, right), (right, left)] {
            // The fullest fiber bounds what each entry of the other meets.
            if one.operands.len() == 1 {
                let id = OperandId::from_index(one.operands.bits().trailing_zeros() as usize);
                let shared = one.kept.intersection(other.kept);
                if !self
                    .network
                    .tensor_of(id)
                    .statistics
                    .projections()
                    .is_empty()
                    && let Some(known) = self.network.projection(id, shared)
                {
                    joined = joined.min(other.entries * known.largest as f64);
                }
            }
        }
        joined.min(MOST)
    }

    /// The steps of one nest over all of `parts`: of the orders in which they can be joined
    /// one after another, each by loops over the index variables that it adds, the cheapest.
    /// Two parts take [`pair`](Self::pair) steps; one is summed, a step for each entry.
    ///
    /// Cost `O(2ⁿ n)` for `n` parts.
    pub fn nest(&self, parts: &[Part]) -> f64 {
        if let [part] = parts {
            return part.entries;
        }
        let all = (1usize << parts.len()) - 1;
        let mut joins: Vec<Option<Part>> = vec![None; all + 1];
        let mut steps = vec![f64::INFINITY; all + 1];
        for chosen in 1..=all {
            let members = (0..parts.len()).filter(|part| chosen >> part & 1 == 1);
            if chosen.is_power_of_two() {
                joins[chosen] = members.map(|part| parts[part]).next();
                steps[chosen] = 0.0;
                continue;
            }
            let (mut least, mut best) = (f64::INFINITY, f64::INFINITY);
            for last in members {
                let before = chosen & !(1 << last);
                let joined = joins[before].map_or(MOST, |left| self.pair(&left, &parts[last]));
                least = least.min(joined);
                best = best.min(steps[before]);
            }
            steps[chosen] = best + least;
            joins[chosen] = joined_part(parts, chosen, least);
        }
        steps[all]
    }
}

fn joined_part(parts: &[Part], chosen: usize, entries: f64) -> Option<Part> {
    let members = (0..parts.len()).filter(|part| chosen >> part & 1 == 1);
    let joined = members.map(|part| parts[part]).reduce(|left, right| Part {
        operands: left.operands.union(right.operands),
        kept: left.kept.union(right.kept),
        entries,
    });
    joined.map(|part| Part { entries, ..part })
}

/// How many of `places` are hit by `hits` distinct chances, of which each place has
/// `chances`.
pub(crate) fn occupied(places: f64, chances: f64, hits: f64) -> f64 {
    let (places, chances) = (places.max(0.0), chances.max(1.0));
    if places == 0.0 || hits <= 0.0 {
        return 0.0;
    }
    let share = hits / (places * chances);
    if share >= 1.0 {
        return places;
    }
    (places * -(chances * (-share).ln_1p()).exp_m1()).min(hits)
}

#[cfg(test)]
mod tests;

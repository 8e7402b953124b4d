use sparsec_base::arena::Id;

use super::*;
use crate::network::{Named, OperandId, Tensor};
use crate::random::Random;
use crate::set::Set;
use crate::tree::{Factor, StatementId};

/// All trees of the statements that the search has, by brute force.
fn all_trees(network: &Network, operands: &[Factor]) -> Vec<Vec<Vec<Factor>>> {
    // A state is the products so far and the factors that are not read yet.
    fn go(
        network: &Network,
        products: &mut Vec<Vec<Factor>>,
        open: &[Factor],
        found: &mut Vec<Vec<Vec<Factor>>>,
    ) {
        if let [Factor::Statement(_)] = open {
            found.push(products.clone());
            return;
        }
        for chosen in 1..1usize << open.len() {
            let members: Vec<Factor> = (0..open.len())
                .filter(|n| chosen >> n & 1 == 1)
                .map(|n| open[n])
                .collect();
            let is_operand = |factor: &Factor| matches!(factor, Factor::Operand(_));
            let allowed = match members.as_slice() {
                [Factor::Operand(operand)] => {
                    let kept = network.kept_by(Set::of(*operand));
                    open.len() == 1 || kept != network.operand(*operand).index_set()
                }
                [_] => false,
                [_, _] => true,
                [_, _, _] => members.iter().any(is_operand),
                _ => members.iter().all(is_operand),
            };
            if !allowed {
                continue;
            }
            let mut next: Vec<Factor> = open
                .iter()
                .copied()
                .filter(|factor| !members.contains(factor))
                .collect();
            next.push(Factor::Statement(StatementId::from_index(products.len())));
            products.push(members);
            go(network, products, &next, found);
            products.pop();
        }
    }
    let mut found = Vec::new();
    go(network, &mut Vec::new(), operands, &mut found);
    found
}

fn random_network(random: &mut Random, n: usize) -> Network {
    let names = ["i", "j", "k", "l", "m"];
    let extents: Vec<u64> = names.iter().map(|_| random.between(2, 200)).collect();
    let mut tensors = Vec::new();
    let mut operands = Vec::new();
    for t in 0..n {
        let order = random.between(1, 3) as usize;
        let mut modes: Vec<usize> = Vec::new();
        while modes.len() < order {
            let mode = random.between(0, names.len() as u64 - 1) as usize;
            if !modes.contains(&mode) {
                modes.push(mode);
            }
        }
        let own: Vec<u64> = modes.iter().map(|&mode| extents[mode]).collect();
        let size: u64 = own.iter().product();
        let entries = (size / random.between(1, 50)).max(1);
        tensors.push(Tensor::sparse(format!("A{t}"), &own, entries));
        let own: Vec<&str> = modes.iter().map(|&mode| names[mode]).collect();
        operands.push(Named::new(&format!("A{t}"), &own));
    }
    let used = |name: &&&str| {
        operands
            .iter()
            .any(|op| op.indices.iter().any(|own| own == **name))
    };
    let result: Vec<&str> = names
        .iter()
        .filter(used)
        .copied()
        .filter(|_| random.between(0, 2) == 0)
        .collect();
    Network::new(tensors, &Named::new("R", &result), &operands).unwrap()
}

#[test]
fn no_tree_of_the_same_statements_costs_less() {
    let mut random = Random::new(7);
    for case in 0..60 {
        let n = 1 + case % 4;
        let network = random_network(&mut random, n);
        let estimator = Estimator::new(&network);
        let operands: Vec<Factor> = (0..n)
            .map(|n| Factor::Operand(OperandId::from_index(n)))
            .collect();
        let mut costs: Vec<f64> = all_trees(&network, &operands)
            .into_iter()
            .map(|products| Tree::new(&network, products).unwrap().canonical(&network))
            .filter(|tree| is_searched(&network, tree))
            .map(|tree| tree.cost(&estimator))
            .collect();
        costs.sort_by(f64::total_cmp);
        let found = trees(&estimator, SearchOptions::default());
        let best = found[0].tree.cost(&estimator);
        assert!(
            (best / costs[0] - 1.0).abs() < 1e-9,
            "{network}{}costs {best}, not {}",
            found[0].tree.print(&network),
            costs[0]
        );
        for ranked in &found {
            let cost = ranked.tree.cost(&estimator);
            assert!((ranked.cost / cost - 1.0).abs() < 1e-9, "{network}");
        }
    }
}

/// Whether each product of three or more is one that the search makes.
fn is_searched(network: &Network, tree: &Tree) -> bool {
    tree.statements().all(|(_, statement)| {
        let indices = |factor: Factor| tree.factor_indices(network, factor);
        let is_sum = |factor: Factor| match factor {
            Factor::Statement(id) => tree.statement(id).factors.len() == 1,
            Factor::Operand(_) => false,
        };
        let flat = statement
            .factors
            .iter()
            .all(|factor| matches!(factor, Factor::Operand(_)));
        let masked = || {
            (0..3).any(|mask| {
                let [m, a, b] =
                    [mask, (mask + 1) % 3, (mask + 2) % 3].map(|n| statement.factors[n]);
                let (m_set, a_set, b_set) = (indices(m), indices(a), indices(b));
                matches!(m, Factor::Operand(_))
                    && ![a, b].into_iter().any(is_sum)
                    && m_set.is_subset(a_set.union(b_set))
                    && !m_set.is_subset(a_set)
                    && !m_set.is_subset(b_set)
            })
        };
        match statement.factors.len() {
            1 | 2 => true,
            3 => flat || masked(),
            _ => flat,
        }
    })
}

#[test]
fn several_trees_are_kept_in_order() {
    let mut random = Random::new(3);
    let network = random_network(&mut random, 4);
    let found = trees(
        &Estimator::new(&network),
        SearchOptions { keep: 5, seed: 1 },
    );
    assert!(found.len() > 1, "{network}");
    assert!(found.is_sorted_by(|a, b| a.cost <= b.cost));
    for (n, ranked) in found.iter().enumerate() {
        assert!(found[n + 1..].iter().all(|other| other.tree != ranked.tree));
    }
}

#[test]
fn triangles_are_counted_in_one_nest() {
    let network = Network::parse(
        "tensor A[100000, 100000] entries 1000000
        project A[0]: 90000 tuples, 5000 largest, 200000000 squares
        project A[1]: 90000 tuples, 5000 largest, 200000000 squares
        t = A(i,j) * A(j,k) * A(i,k)",
    )
    .unwrap();
    let found = trees(&Estimator::new(&network), SearchOptions::default());
    assert_eq!(
        found[0].tree.print(&network),
        "t = A(i,j) * A(j,k) * A(i,k)\n"
    );
}

#[test]
fn sampled_products_are_masked() {
    let network = Network::parse(
        "tensor S[10000, 10000] entries 50000\n tensor A[10000, 64]\n tensor B[64, 10000]
        R(i,j) = S(i,j) * A(i,k) * B(k,j)",
    )
    .unwrap();
    let found = trees(&Estimator::new(&network), SearchOptions::default());
    assert_eq!(found[0].tree.len(), 1);
}

#[test]
fn outer_products_pay_where_two_vectors_scale_a_matrix() {
    let network = Network::parse(
        "tensor X[4, 9]\n tensor Y[4, 9]\n tensor M[4, 4, 500]
        r(k) = X(i,p) * M(i,j,k) * Y(j,q)",
    )
    .unwrap();
    let found = trees(&Estimator::new(&network), SearchOptions::default());
    assert_eq!(
        found[0].tree.print(&network),
        "t0(i) = X(i,p)\nt1(j) = Y(j,q)\nt2(i,j) = t0(i) * t1(j)\nr(k) = t2(i,j) * M(i,j,k)\n"
    );
}

#[test]
fn sums_of_one_operand_come_first_where_they_pay() {
    let network = Network::parse(
        "tensor A[1000, 50] entries 20000\n tensor B[1000, 40]\n r(i,j) = A(i,k) * B(i,j)",
    )
    .unwrap();
    let found = trees(&Estimator::new(&network), SearchOptions::default());
    assert_eq!(
        found[0].tree.print(&network),
        "t0(i) = A(i,k)\nr(i,j) = t0(i) * B(i,j)\n"
    );
}

fn chain(n: usize) -> Network {
    let extents: Vec<u64> = (0..=n).map(|i| 20 + (i as u64 * 37) % 91).collect();
    let name = |i: usize| format!("x{i}");
    let tensors = (0..n).map(|i| Tensor::dense(format!("A{i}"), &extents[i..i + 2]));
    let operands: Vec<Named> = (0..n)
        .map(|i| Named::new(&format!("A{i}"), &[&name(i), &name(i + 1)]))
        .collect();
    let result = Named::new("R", &[&name(0), &name(n)]);
    Network::new(tensors.collect(), &result, &operands).unwrap()
}

#[test]
fn large_networks_are_greedy_and_near_the_optimum() {
    // The optimum of a matrix chain is known by another dynamic program.
    let network = chain(40);
    let estimator = Estimator::new(&network);
    let found = trees(&estimator, SearchOptions::default());
    let extent = |i: usize| {
        network
            .indices()
            .nth(i)
            .map_or(0.0, |(_, index)| index.extent as f64)
    };
    let mut best = vec![vec![0.0; 41]; 41];
    for length in 2..=40 {
        for from in 0..=40 - length {
            let to = from + length;
            best[from][to] = (from + 1..to)
                .map(|at| {
                    best[from][at]
                        + best[at][to]
                        + extent(from) * extent(to) * (extent(at) + WRITE_IN_TESTS)
                })
                .fold(f64::INFINITY, f64::min);
        }
    }
    assert!(found[0].cost >= best[0][40] * (1.0 - 1e-9));
    assert!(
        found[0].cost <= best[0][40] * 1.05,
        "{} of {}",
        found[0].cost,
        best[0][40]
    );
    let again = trees(&estimator, SearchOptions::default());
    assert!(found.iter().zip(&again).all(|(a, b)| a.tree == b.tree));
}

const WRITE_IN_TESTS: f64 = crate::tree::WRITE;

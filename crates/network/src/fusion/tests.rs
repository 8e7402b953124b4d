use super::*;
use crate::loops::{fused_loops, paths, statement_order};
use crate::network::{Named, Tensor};
use crate::random::Random;

/// A random network of `n + 1` operands with a random tree of `n` products.
pub(crate) fn random_tree(random: &mut Random, n: usize, n_indices: u64) -> (Network, Tree) {
    let names: Vec<String> = (0..n_indices).map(|i| format!("x{i}")).collect();
    let extents: Vec<u64> = names.iter().map(|_| random.between(2, 60)).collect();
    let mut tensors = Vec::new();
    let mut operands = Vec::new();
    for t in 0..=n {
        let order = random.between(1, 3.min(n_indices)) as usize;
        let mut modes: Vec<usize> = Vec::new();
        while modes.len() < order {
            let mode = random.between(0, n_indices - 1) as usize;
            if !modes.contains(&mode) {
                modes.push(mode);
            }
        }
        let own: Vec<u64> = modes.iter().map(|&mode| extents[mode]).collect();
        let size: u64 = own.iter().product();
        let mut tensor = Tensor::sparse(format!("A{t}"), &own, (size / 3).max(1));
        if random.between(0, 1) == 0 {
            let mut layout: Vec<usize> = (0..order).collect();
            for place in (1..order).rev() {
                layout.swap(place, random.between(0, place as u64) as usize);
            }
            tensor.layout = Some(layout);
        }
        tensors.push(tensor);
        let own: Vec<&str> = modes.iter().map(|&mode| names[mode].as_str()).collect();
        operands.push(Named::new(&format!("A{t}"), &own));
    }
    let result: Vec<&str> = names
        .iter()
        .filter(|name| operands.iter().any(|op| op.indices.contains(name)))
        .filter(|_| random.between(0, 2) == 0)
        .map(String::as_str)
        .collect();
    let network = Network::new(tensors, &Named::new("R", &result), &operands).unwrap();
    let mut open: Vec<Factor> = network
        .operands()
        .map(|(id, _)| Factor::Operand(id))
        .collect();
    let mut products = Vec::new();
    while open.len() > 1 {
        let left = open.swap_remove(random.between(0, open.len() as u64 - 1) as usize);
        let right = open.swap_remove(random.between(0, open.len() as u64 - 1) as usize);
        open.push(Factor::Statement(StatementId::from_index(products.len())));
        products.push(vec![left, right]);
    }
    let tree = Tree::new(&network, products).unwrap();
    (network, tree)
}

/// A random cost that does not grow with the fused loops: a weight for each index variable
/// that is left, and a step where more than `limit` are.
fn random_cost(random: &mut Random, tree: &Tree) -> impl Fn(StatementId, Set<IndexVar>) -> f64 {
    let kept: Vec<Set<IndexVar>> = tree.statements().map(|(_, s)| s.kept).collect();
    let weights: Vec<Vec<u64>> = kept
        .iter()
        .map(|_| (0..16).map(|_| random.between(0, 9)).collect())
        .collect();
    let limits: Vec<u64> = kept.iter().map(|_| random.between(0, 3)).collect();
    move |statement, fused| {
        let left = kept[statement.index()].without(fused);
        let sum: u64 = left
            .iter()
            .map(|index| weights[statement.index()][index.index()])
            .sum();
        let step = 50 * u64::from(left.len() as u64 > limits[statement.index()]);
        (sum + step) as f64
    }
}

fn topological_orders(tree: &Tree) -> Vec<Vec<StatementId>> {
    fn go(tree: &Tree, order: &mut Vec<StatementId>, found: &mut Vec<Vec<StatementId>>) {
        if order.len() == tree.len() {
            found.push(order.clone());
            return;
        }
        for (id, statement) in tree.statements() {
            let ready = statement.factors.iter().all(|factor| match factor {
                Factor::Statement(producer) => order.contains(producer),
                Factor::Operand(_) => true,
            });
            if ready && !order.contains(&id) {
                order.push(id);
                go(tree, order, found);
                order.pop();
            }
        }
    }
    let mut found = Vec::new();
    go(tree, &mut Vec::new(), &mut found);
    found
}

/// All loop orders of a statement that its layouts allow.
fn loop_orders(tree: &Tree, precedence: &Precedence, id: StatementId) -> Vec<Vec<IndexVar>> {
    fn go(
        precedence: &Precedence,
        id: StatementId,
        left: Set<IndexVar>,
        order: &mut Vec<IndexVar>,
        found: &mut Vec<Vec<IndexVar>>,
    ) {
        if left.is_empty() {
            found.push(order.clone());
        }
        for index in left.iter() {
            if precedence.allows(id, index, order.iter().copied().collect()) {
                order.push(index);
                go(precedence, id, left.without(Set::of(index)), order, found);
                order.pop();
            }
        }
    }
    let mut found = Vec::new();
    let loops = tree.statement(id).loops;
    go(precedence, id, loops, &mut Vec::new(), &mut found);
    found
}

/// The cost of statements in `order` with these loop orders, from the definition.
fn cost_of_structure(
    tree: &Tree,
    order: &[StatementId],
    loops: &[&Vec<IndexVar>],
    cost: &impl Fn(StatementId, Set<IndexVar>) -> f64,
) -> f64 {
    let place = |id: StatementId| order.iter().position(|&other| other == id).unwrap();
    let mut total = 0.0;
    for (id, statement) in tree.statements() {
        let Some(consumer) = statement.consumer else {
            continue;
        };
        let between = &order[place(id)..=place(consumer)];
        let mut prefix: &[IndexVar] = loops[id.index()];
        for other in between {
            let theirs = loops[other.index()];
            let common = prefix.iter().zip(theirs).take_while(|(a, b)| a == b);
            prefix = &prefix[..common.count()];
        }
        total += cost(id, prefix.iter().copied().collect());
    }
    total
}

/// Everything: all topological orders, all loop orders of all statements.
fn by_enumeration(
    tree: &Tree,
    precedence: &Precedence,
    cost: &impl Fn(StatementId, Set<IndexVar>) -> f64,
) -> f64 {
    let choices: Vec<Vec<Vec<IndexVar>>> = tree
        .statements()
        .map(|(id, _)| loop_orders(tree, precedence, id))
        .collect();
    let mut least = f64::INFINITY;
    for order in topological_orders(tree) {
        let mut chosen = vec![0; choices.len()];
        'all: loop {
            let loops: Vec<&Vec<IndexVar>> = choices
                .iter()
                .zip(&chosen)
                .map(|(all, &n)| &all[n])
                .collect();
            least = least.min(cost_of_structure(tree, &order, &loops, cost));
            for place in 0..chosen.len() {
                chosen[place] += 1;
                if chosen[place] < choices[place].len() {
                    continue 'all;
                }
                chosen[place] = 0;
            }
            break;
        }
    }
    least
}

/// For a fixed order: the best structure of each interval opens what it can and is split
/// somewhere.
fn by_intervals(
    tree: &Tree,
    precedence: &Precedence,
    cost: &impl Fn(StatementId, Set<IndexVar>) -> f64,
    order: &[StatementId],
) -> f64 {
    let n = order.len();
    let mut best = vec![vec![0.0; n + 1]; n + 1];
    for length in 2..=n {
        for from in 0..=n - length {
            let to = from + length;
            let part: Set<StatementId> = order[from..to].iter().copied().collect();
            let fused = precedence.open(tree, part).into_iter().collect();
            best[from][to] = (from + 1..to)
                .map(|at| {
                    let crossing = order[from..at].iter().filter(|&&id| {
                        let consumer = tree.statement(id).consumer;
                        consumer.is_some_and(|consumer| order[at..to].contains(&consumer))
                    });
                    let crossing: f64 = crossing.map(|&id| cost(id, fused)).sum();
                    best[from][at] + best[at][to] + crossing
                })
                .fold(f64::INFINITY, f64::min);
        }
    }
    best[0][n]
}

fn keeps_subtrees_together(tree: &Tree, order: &[StatementId]) -> bool {
    tree.statements().all(|(_, statement)| {
        let places: Vec<usize> = (0..order.len())
            .filter(|&n| {
                tree.statement(order[n])
                    .operands
                    .is_subset(statement.operands)
            })
            .collect();
        places.windows(2).all(|pair| pair[1] == pair[0] + 1)
    })
}

/// The structure's own cost, from its loops.
fn cost_of_items(
    tree: &Tree,
    items: &[Item],
    cost: &impl Fn(StatementId, Set<IndexVar>) -> f64,
) -> f64 {
    let order = statement_order(items);
    let paths = paths(tree, items);
    let loops: Vec<&Vec<IndexVar>> = paths.iter().collect();
    let by_prefixes = cost_of_structure(tree, &order, &loops, cost);
    let fused = fused_loops(tree, items);
    let by_loops: f64 = tree
        .statements()
        .filter(|(_, statement)| statement.consumer.is_some())
        .map(|(id, _)| cost(id, fused[id.index()]))
        .sum();
    assert_eq!(by_prefixes, by_loops, "{items:?}");
    by_loops
}

fn precedence_of(network: &Network, tree: &Tree, fixed: bool) -> Precedence {
    match fixed {
        true => Precedence::of(network, tree, &stated_layouts(network), Set::EMPTY),
        false => Precedence::none(tree),
    }
}

#[test]
fn nothing_costs_less_than_full_enumeration() {
    let mut random = Random::new(11);
    let mut compared = 0;
    for case in 0..400 {
        let n = 2 + case % 3;
        let (network, tree) = random_tree(&mut random, n, 4);
        let n_structures: usize = tree
            .statements()
            .map(|(_, s)| (1..=s.loops.len()).product::<usize>())
            .product();
        if n_structures > 20_000 {
            continue;
        }
        let precedence = precedence_of(&network, &tree, case % 2 == 0);
        let cost = random_cost(&mut random, &tree);
        let Some(fused) = fuse(&tree, &precedence, &cost) else {
            assert!(precedence.conflict(&tree).is_some());
            continue;
        };
        compared += 1;
        let text = tree.print(&network);
        let least = by_enumeration(&tree, &precedence, &cost);
        assert_eq!(fused.cost, least, "{network}{text}");
        assert_eq!(
            cost_of_items(&tree, &fused.items, &cost),
            fused.cost,
            "{text}"
        );
    }
    assert!(compared > 150, "{compared}");
}

#[test]
fn nothing_costs_less_than_all_orders_of_eight_contractions() {
    let mut random = Random::new(5);
    let mut together_loses = 0;
    for case in 0..120 {
        let (network, tree) = random_tree(&mut random, 3 + case % 6, 7);
        let precedence = precedence_of(&network, &tree, case % 2 == 0);
        let cost = random_cost(&mut random, &tree);
        let Some(fused) = fuse(&tree, &precedence, &cost) else {
            continue;
        };
        let orders = topological_orders(&tree);
        let least = |orders: &mut dyn Iterator<Item = &Vec<StatementId>>| {
            orders
                .map(|order| by_intervals(&tree, &precedence, &cost, order))
                .fold(f64::INFINITY, f64::min)
        };
        let all = least(&mut orders.iter());
        assert_eq!(fused.cost, all, "{network}{}", tree.print(&network));
        assert_eq!(cost_of_items(&tree, &fused.items, &cost), fused.cost);
        let together = least(
            &mut orders
                .iter()
                .filter(|order| keeps_subtrees_together(&tree, order)),
        );
        together_loses += usize::from(together > all);
    }
    assert!(together_loses > 0, "orders that interleave subtrees matter");
}

#[test]
fn the_paper_example_needs_order_one() {
    let network = Network::parse(
        "tensor A[9,9,9]\n tensor B[9,9,9]\n tensor C[9,9,9]\n tensor D[9,9,9]
        R(i,j,k) = A(i,p,q) * B(j,p,r) * C(k,q,r) * D(j,k,r)",
    )
    .unwrap();
    let tree = Tree::parse(
        &network,
        "X(i,j,q,r) = A(i,p,q) * B(j,p,r)\n Y(i,j,k,r) = X(i,j,q,r) * C(k,q,r)
        R(i,j,k) = Y(i,j,k,r) * D(j,k,r)",
    )
    .unwrap();
    let none = Precedence::none(&tree);
    assert_eq!(least_order(&tree, &none), Some(1));
    // Sums of orders and of 4^n - 1 over the intermediates: 1 and 3.
    let powers =
        |v: StatementId, fused| 4f64.powi(tree.statement(v).kept.without(fused).len() as i32) - 1.0;
    assert_eq!(fuse(&tree, &none, powers).unwrap().cost, 3.0);
    assert_eq!(fuse(&tree, &none, within(&tree, 1)).unwrap().cost, 1.0);
    assert_eq!(
        fuse(&tree, &none, within(&tree, 0)).unwrap().cost,
        f64::INFINITY
    );
}

#[test]
fn layouts_that_no_loops_follow_are_found() {
    let network = Network::parse(
        "tensor A[9,9] entries 9 layout 0, 1\n tensor B[9,9] entries 9 layout 0, 1
        s = A(i,j) * B(j,i)",
    )
    .unwrap();
    let tree = Tree::flat(&network);
    let layouts = stated_layouts(&network);
    let fixed = Precedence::of(&network, &tree, &layouts, Set::EMPTY);
    assert!(fuse(&tree, &fixed, |_, _| 0.0).is_none());
    let converted = Precedence::of(&network, &tree, &layouts, Set::of(OperandId::from_index(1)));
    let fused = fuse(&tree, &converted, |_, _| 0.0).unwrap();
    assert_eq!(
        paths(&tree, &fused.items)[0],
        network.operand(OperandId::from_index(0)).indices
    );
}

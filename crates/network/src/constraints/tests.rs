use super::*;
use crate::checker::{Solution, judge};
use crate::fusion::tests::random_tree;
use crate::fusion::{Precedence, fuse, least_order, stated_layouts, within};
use crate::random::Random;
use sparsec_base::code;

fn options(network: &Network, limit: usize) -> SystemOptions {
    SystemOptions {
        limit,
        layouts: stated_layouts(network),
        ..SystemOptions::default()
    }
}

/// The structure of least order, with its options; `None` if layouts allow none.
fn structure(network: &Network, tree: &Tree) -> Option<(SystemOptions, Model)> {
    let layouts = stated_layouts(network);
    let precedence = Precedence::of(network, tree, &layouts, Set::EMPTY);
    let limit = least_order(tree, &precedence)?;
    let fused = fuse(tree, &precedence, within(tree, limit))?;
    let model = System::model(network, tree, &fused.items, &layouts);
    Some((options(network, limit), model))
}

#[test]
fn structures_of_the_search_satisfy_the_system_and_the_checker() {
    let mut random = Random::new(17);
    let mut tested = 0;
    for case in 0..80 {
        let (network, tree) = random_tree(&mut random, 1 + case % 8, 6);
        let Some((options, model)) = structure(&network, &tree) else {
            continue;
        };
        tested += 1;
        let text = format!("{network}{}", tree.print(&network));
        let system = System::new(&network, &tree, &options);
        assert_eq!(system.violated(&model), None, "{text}{model:?}");
        let solution = Solution::of_model(&network, &tree, &model);
        judge(&network, &tree, &options, &solution).unwrap_or_else(|fault| panic!("{text}{fault}"));
        // One order less is too little for this structure, and both say so.
        if options.limit > 0 {
            let less = SystemOptions {
                limit: options.limit - 1,
                ..options
            };
            assert!(
                System::new(&network, &tree, &less)
                    .violated(&model)
                    .is_some()
            );
            assert!(judge(&network, &tree, &less, &solution).is_err());
        }
    }
    assert!(tested > 50, "{tested}");
}

#[test]
fn formulas_and_checker_agree_on_random_models() {
    let mut random = Random::new(29);
    let mut counts = [0, 0];
    for case in 0..400 {
        let (network, tree) = random_tree(&mut random, 1 + case % 3, 3);
        let Some((options, mut model)) = structure(&network, &tree) else {
            continue;
        };
        let system = System::new(&network, &tree, &options);
        // Exchanges two values within one permutation.
        let names: Vec<String> = model.keys().cloned().collect();
        let family = |name: &str| name.rsplit_once('_').map(|(family, _)| family.to_owned());
        for _ in 0..random.between(0, 2) {
            let one = names[random.between(0, names.len() as u64 - 1) as usize].clone();
            let others: Vec<&String> = names
                .iter()
                .filter(|name| family(name) == family(&one))
                .collect();
            let other = others[random.between(0, others.len() as u64 - 1) as usize].clone();
            let (a, b) = (model[&one], model[&other]);
            model.insert(one, b);
            model.insert(other, a);
        }
        let solution = Solution::of_model(&network, &tree, &model);
        let judged = judge(&network, &tree, &options, &solution);
        let holds = system.violated(&model).is_none();
        assert_eq!(
            holds,
            judged.is_ok(),
            "{network}{}{judged:?}",
            tree.print(&network)
        );
        counts[usize::from(holds)] += 1;
    }
    assert!(counts.iter().all(|&n| n > 50), "{counts:?}");
}

fn paper() -> (Network, Tree) {
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
    (network, tree)
}

#[test]
fn figure_5_is_a_solution_of_order_two() {
    let (network, tree) = paper();
    let index = |name: &str| network.index_named(name).unwrap();
    let loops = |names: &str| names.split(' ').map(index).collect::<Vec<_>>();
    // The loop orders of Fig. 5 and the modes of its references; those of `X` and `Y` are
    // numbered as the network numbers i, p, q, j, r, k.
    let solution = Solution {
        order: (0..3).map(StatementId::from_index).collect(),
        loops: vec![loops("r j p q i"), loops("r j q k i"), loops("r j k i")],
        layouts: [
            ("A", vec![1, 2, 0]),
            ("B", vec![2, 0, 1]),
            ("C", vec![2, 1, 0]),
            ("D", vec![2, 0, 1]),
            ("X", vec![3, 2, 1, 0]),
            ("Y", vec![2, 1, 3, 0]),
            ("R", vec![1, 2, 0]),
        ]
        .into_iter()
        .map(|(name, modes)| (name.to_owned(), modes))
        .collect(),
    };
    let ordered = SystemOptions {
        ordered_intermediates: true,
        ..options(&network, 2)
    };
    assert_eq!(
        judge(&network, &tree, &ordered, &solution),
        Ok(vec![2, 2, 0])
    );
    let model = System::model(
        &network,
        &tree,
        &solution.items(),
        &stated_layouts(&network),
    );
    assert_eq!(
        System::new(&network, &tree, &ordered).violated(&model),
        None
    );
    assert!(judge(&network, &tree, &options(&network, 1), &solution).is_err());
    let mut other = solution.clone();
    other.layouts.insert("A".to_owned(), vec![0, 1, 2]);
    assert!(judge(&network, &tree, &ordered, &other).is_err());
    other = solution.clone();
    other.order.swap(0, 1);
    assert!(judge(&network, &tree, &ordered, &other).is_err());
    other = solution;
    other.loops[0].pop();
    assert!(judge(&network, &tree, &ordered, &other).is_err());
}

#[test]
fn systems_print_and_parse_back() {
    let (network, tree) = paper();
    let system = System::new(&network, &tree, &options(&network, 2));
    let text = system.smt2();
    assert!(
        text.contains("(assert (=> (= lp_0_r 1) (= lp_1_r 1)))"),
        "{text}"
    );
    assert!(
        text.contains("(assert (=> (< dp_A_0 dp_A_2) (< lp_0_i lp_0_q)))"),
        "{text}"
    );
    assert_eq!(System::parse(&text).unwrap(), system);
    let error = System::parse("(assert (+ 1 2))").expect_err("no formula");
    assert_eq!(error.code(), code::NETWORK_MODEL);
}

#[test]
fn answers_print_and_parse_back() {
    let (network, tree) = paper();
    let (options, model) = structure(&network, &tree).unwrap();
    let system = System::new(&network, &tree, &options);
    let answer = Answer::Sat(model.clone());
    assert_eq!(Answer::parse(&system, &answer.print()).unwrap(), answer);
    let older = answer.print().replacen("sat\n(", "sat\n(model", 1);
    assert_eq!(Answer::parse(&system, &older).unwrap(), answer);
    let none = "unsat\n(error \"line 9 column 10: model is not available\")\n";
    assert_eq!(Answer::parse(&system, none).unwrap(), Answer::Unsat);
    assert_eq!(Answer::parse(&system, "unknown").unwrap(), Answer::Unknown);
    for text in [
        "",
        "sat",
        "sat (",
        "sat )",
        "sat (model (define-fun ap_0 () Int 0))",
        "sat (model (define-fun other () Int 0))",
        "sat (model (define-fun ap_0 () Int x))",
        "sat ((ap_0 0))",
        &"(".repeat(9999),
    ] {
        let error = Answer::parse(&system, text).expect_err(text);
        assert_eq!(error.code(), code::NETWORK_MODEL, "{error}");
    }
}

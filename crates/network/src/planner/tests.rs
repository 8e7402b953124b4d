use super::*;
use crate::fusion::tests::random_tree;
use crate::random::Random;

fn planned(text: &str, options: &PlanOptions) -> (Network, Planned) {
    let network = Network::parse(text).unwrap();
    let found = plan(&Estimator::new(&network), options).unwrap();
    (network, found)
}

/// Medium, with entries as the artifact's logs state them.
const INTEGRALS: &str = "tensor I[700, 300, 300] entries 21470400
    tensor C[300, 100] entries 7032\n tensor P[300, 300] entries 89820\n";

#[test]
fn integrals_leave_a_dense_product_to_a_blocked_kernel() {
    let text = format!("{INTEGRALS} E(K,i,m) = I(K,a,b) * C(a,i) * P(b,m)");
    let (network, found) = planned(&text, &PlanOptions::default());
    let text = found.plans[0].plan.print(&network);
    // Only K is fused: the workspace has two modes, and the last product is dense.
    assert!(text.contains("for K {\n"), "{text}");
    assert!(
        text.contains("E[K,") && text.contains("blocked }\n}"),
        "{text}"
    );
    assert_eq!(found.order, 2, "{text}");
}

#[test]
fn plans_print_and_parse_back() {
    let mut random = Random::new(21);
    for case in 0..60 {
        let (network, tree) = random_tree(&mut random, 1 + case % 6, 6);
        let options = PlanOptions {
            tree: (case % 2 == 0).then_some(tree),
            ..PlanOptions::default()
        };
        let found = plan(&Estimator::new(&network), &options).unwrap();
        for priced in &found.plans {
            let plan = &priced.plan;
            let text = plan.print(&network);
            let read = Plan::parse(&network, &text).unwrap_or_else(|error| panic!("{text}{error}"));
            assert_eq!(read.print(&network), text);
            assert_eq!(read.blocked.len(), plan.blocked.len());
        }
    }
}

#[test]
fn a_given_tree_is_kept() {
    let text = format!("{INTEGRALS} E(K,i,m) = I(K,a,b) * C(a,i) * P(b,m)");
    let network = Network::parse(&text).unwrap();
    let tree = "t(K,a,m) = I(K,a,b) * P(b,m)\n E(K,i,m) = t(K,a,m) * C(a,i)";
    let tree = Tree::parse(&network, tree).unwrap();
    let options = PlanOptions {
        tree: Some(tree.clone()),
        ..PlanOptions::default()
    };
    let found = plan(&Estimator::new(&network), &options).unwrap();
    assert!(found.plans.iter().all(|priced| priced.plan.tree == tree));
}

#[test]
fn conversions_are_weighed() {
    let network = |entries: u64| {
        format!(
            "tensor A[2000, 2000, 2000] entries {entries} layout 2, 1, 0
            tensor B[2000, 2000, 2000] entries 40000000 layout 0, 1, 2
            r(i) = A(i,j,k) * B(i,j,k)"
        )
    };
    // Loops cannot follow both layouts; the smaller tensor is copied.
    let (network, found) = planned(&network(1000), &PlanOptions::default());
    let converted = found.plans[0].plan.converted(&network);
    assert_eq!(converted, Set::of(OperandId::from_index(0)));
}

#[test]
fn a_tensor_used_twice_has_one_layout_if_loops_allow() {
    let text = "tensor A[3000, 3000] entries 90000\n t = A(i,j) * A(j,k) * A(i,k)";
    let (network, found) = planned(text, &PlanOptions::default());
    let plan = &found.plans[0].plan;
    assert!(
        plan.converted(&network).is_empty(),
        "{}",
        plan.print(&network)
    );
}

#[test]
fn the_order_objective_is_the_papers() {
    let text = "tensor A[9,9,9]\n tensor B[9,9,9]\n tensor C[9,9,9]\n tensor D[9,9,9]
        R(i,j,k) = A(i,p,q) * B(j,p,r) * C(k,q,r) * D(j,k,r)";
    let network = Network::parse(text).unwrap();
    let tree = "X(i,j,q,r) = A(i,p,q) * B(j,p,r)\n Y(i,j,k,r) = X(i,j,q,r) * C(k,q,r)
        R(i,j,k) = Y(i,j,k,r) * D(j,k,r)";
    let options = PlanOptions {
        objective: Objective::Order { at_most: None },
        tree: Some(Tree::parse(&network, tree).unwrap()),
        ..PlanOptions::default()
    };
    let found = plan(&Estimator::new(&network), &options).unwrap();
    assert_eq!(found.order, 1);
    let too_low = PlanOptions {
        objective: Objective::Order { at_most: Some(0) },
        ..options
    };
    let error = plan(&Estimator::new(&network), &too_low).expect_err("order 1 is the least");
    assert_eq!(error.code(), code::NETWORK_ORDER);
    assert!(error.message().contains("least is 1"), "{error}");
}

#[test]
fn plans_beyond_memory_are_refused() {
    let text = "tensor A[90000, 90000] entries 900000\n tensor B[90000, 90000] entries 900000
        tensor x[90000]\n y(i) = A(i,j) * B(j,k) * x(k)";
    let network = Network::parse(text).unwrap();
    let options = PlanOptions {
        memory: 4.0,
        ..PlanOptions::default()
    };
    let error = plan(&Estimator::new(&network), &options).expect_err("a number is needed");
    assert_eq!(error.code(), code::NETWORK_MEMORY);
}

//! Refusals that no file of the crate shows beside its code.

use sparsec_base::code;
use sparsec_network::{
    Answer, Estimator, Network, Objective, PlanOptions, System, SystemOptions, Tree, planner,
};

fn product() -> (Network, Tree) {
    let text = "tensor A[90, 90] entries 900\n tensor B[90, 90] entries 900\n tensor x[90]
        y(i) = A(i,j) * B(j,k) * x(k)";
    let network = Network::parse(text).expect("a network");
    let tree = "t(i,k) = A(i,j) * B(j,k)\n y(i) = t(i,k) * x(k)";
    let tree = Tree::parse(&network, tree).expect("a tree");
    (network, tree)
}

#[test]
fn a_model_without_a_variable() {
    let (network, tree) = product();
    let system = System::new(&network, &tree, &SystemOptions::default());
    let error = Answer::parse(&system, "sat\n((define-fun ap_0 () Int 0))").expect_err("short");
    assert_eq!(error.code(), code::NETWORK_MODEL);
    assert!(error.message().contains("lacks `ap_1`"), "{error}");
}

#[test]
fn plans_beyond_memory() {
    let (network, tree) = product();
    let options = PlanOptions {
        tree: Some(tree),
        memory: 4.0,
        ..PlanOptions::default()
    };
    let error = planner::plan(&Estimator::new(&network), &options).expect_err("8 bytes at least");
    assert_eq!(error.code(), code::NETWORK_MEMORY);
}

#[test]
fn orders_below_the_least() {
    let text = "tensor A[9,9]\n tensor B[9,9]\n tensor C[9,9]\n tensor D[9,9]
        s = A(i,j) * B(j,k) * C(k,l) * D(l,i)";
    let network = Network::parse(text).expect("a network");
    let tree = "t(i,k) = A(i,j) * B(j,k)\n u(i,k) = C(k,l) * D(l,i)\n s = t(i,k) * u(i,k)";
    let options = PlanOptions {
        objective: Objective::Order { at_most: Some(0) },
        tree: Some(Tree::parse(&network, tree).expect("a tree")),
        ..PlanOptions::default()
    };
    let fits = planner::plan(&Estimator::new(&network), &options);
    assert_eq!(fits.expect("loops over i and k are shared").order, 0);
    let tree = "t(j,l) = B(j,k) * C(k,l)\n u(i,l) = A(i,j) * t(j,l)\n s = u(i,l) * D(l,i)";
    let options = PlanOptions {
        tree: Some(Tree::parse(&network, tree).expect("a tree")),
        ..options
    };
    let error = planner::plan(&Estimator::new(&network), &options).expect_err("order 1");
    assert_eq!(error.code(), code::NETWORK_ORDER);
    assert!(error.message().contains("least is 1"), "{error}");
}

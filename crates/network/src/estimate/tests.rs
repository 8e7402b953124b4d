use super::*;

fn estimate(text: &str, operands: &[usize], kept: &[&str]) -> f64 {
    let network = Network::parse(text).unwrap();
    let kept = kept.iter().map(|name| network.index_named(name).unwrap());
    let operands = operands.iter().map(|&n| OperandId::from_index(n)).collect();
    Estimator::new(&network).entries(operands, kept.collect())
}

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!(
        (found / expected - 1.0).abs() < 0.01,
        "{found}, not {expected}"
    );
}

const DLPNO: &str = "tensor I[700, 300, 300] entries 21470400
    tensor C[300, 100] entries 7032\n tensor P[300, 300] entries 89820
    tensor L[700, 100] entries 3220 mask
    E(K,i,m) = I(K,a,b) * C(a,i) * P(b,m) * L(K,i)";

#[test]
fn masks_bound_intermediates() {
    near(estimate(DLPNO, &[0, 1], &["K", "b", "i"]), 21e6);
    near(estimate(DLPNO, &[0, 1, 3], &["K", "b", "i"]), 966e3);
    near(
        estimate(DLPNO, &[1, 3], &["K", "a", "i"]),
        7032.0 * 3220.0 / 100.0,
    );
}

#[test]
fn fibers_bound_partial_sums() {
    let text = "tensor T[50, 60, 70] entries 8000\n tensor C[70, 16]
        project T[0, 1]: 2000 tuples, 9 largest, 40000 squares
        r(i,j,x) = T(i,j,k) * C(k,x)";
    near(estimate(text, &[0, 1], &["i", "j", "x"]), 2000.0 * 16.0);
}

#[test]
fn a_tensor_that_meets_itself_has_its_squares() {
    let text = "tensor A[1000, 1000] entries 5000
        project A[1]: 800 tuples, 90 largest, 260000 squares
        s(i,k) = A(i,j) * A(k,j)";
    let network = Network::parse(text).unwrap();
    let estimator = Estimator::new(&network);
    let [left, right] = [0, 1].map(|n| estimator.operand(OperandId::from_index(n)));
    near(estimator.pair(&left, &right), 260_000.0);
}

#[test]
fn the_fullest_fiber_bounds_a_join() {
    let text = "tensor A[1000, 10] entries 1000\n tensor B[10, 1000] entries 20
        project B[0]: 2 tuples, 10 largest, 200 squares
        s(i,k) = A(i,j) * B(j,k)";
    let network = Network::parse(text).unwrap();
    let estimator = Estimator::new(&network);
    let [left, right] = [0, 1].map(|n| estimator.operand(OperandId::from_index(n)));
    assert!(estimator.pair(&left, &right) <= 10_000.0);
}

#[test]
fn no_tuple_is_counted_twice() {
    // A dense product hits each place; one entry hits one.
    assert_eq!(occupied(100.0, 10.0, 1000.0), 100.0);
    near(occupied(1e9, 1e9, 1.0), 1.0);
    assert_eq!(occupied(0.0, 1.0, 5.0), 0.0);
}

#[test]
fn estimates_are_exact_for_dense_operands() {
    let text = "tensor A[7, 5]\n tensor B[5, 3]\n C(i,k) = A(i,j) * B(j,k)";
    assert_eq!(estimate(text, &[0, 1], &["i", "k"]), 21.0);
}

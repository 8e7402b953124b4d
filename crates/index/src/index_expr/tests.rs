//! Index expressions: sums have one form, and values lie in their ranges.

use super::*;
use sparsec_base::arena::Id;

fn var(n: usize) -> IndexExpr {
    IndexExpr::from(IndexVar::from_index(n))
}

/// Extents 3, 4, 5, … of the variables 0, 1, 2, …
fn extent(var: IndexVar) -> Option<u64> {
    Some(var.index() as u64 + 3)
}

#[test]
fn sums_have_one_form() {
    let one = IndexExpr::constant(1);
    assert_eq!(var(0).plus(&one), one.plus(&var(0)));
    let none = var(0).minus(&var(0)).expect("small numbers");
    assert_eq!(none.as_constant(), Some(0));
    let back = var(0).plus(&one).and_then(|sum| sum.minus(&one));
    assert_eq!(back.and_then(|sum| sum.as_var()), var(0).as_var());
    assert_eq!(IndexExpr::constant(i64::MAX).plus(&one), None);
}

#[test]
fn blocks_come_apart() {
    // x1 runs from 0 to 3.
    let whole = var(0).times(4).and_then(|sum| sum.plus(&var(1)));
    let whole = whole.expect("small numbers");
    assert_eq!(whole.floor_div(4, &extent), var(0));
    assert_eq!(whole.modulo(4, &extent), var(1));
    // x2 runs from 0 to 4, so the quotient may be one more.
    let whole = var(0).times(4).and_then(|sum| sum.plus(&var(2)));
    let whole = whole.expect("small numbers");
    let quotient = var(0).plus(&var(2).floor_div(4, &extent));
    assert_eq!(Some(whole.floor_div(4, &extent)), quotient);
}

#[test]
fn values_lie_in_the_range() {
    let set = var(0).element_of(vec![4, 1, 7]);
    let negative = var(1).times(-2).expect("small numbers");
    let sums = [
        set.plus(&negative),
        negative.plus(&var(2).modulo(3, &extent)),
        negative.floor_div(3, &extent).plus(&set),
    ];
    for sum in sums.map(|sum| sum.expect("small numbers")) {
        let (least, most) = sum.range(&extent).expect("extents are known");
        let mut met = BTreeSet::new();
        for point in 0..3 * 4 * 5 {
            let at = |var: IndexVar| [point % 3, point / 3 % 4, point / 12][var.index()];
            met.insert(i128::from(sum.evaluate(&at).expect("small numbers")));
        }
        assert!(met.first() >= Some(&least) && met.last() <= Some(&most));
    }
}

#[test]
fn substitution_simplifies() {
    // i = 4*x0 + x1 in i // 4 and {5,6,7}[i % 4].
    let i = var(9);
    let split = var(0).times(4).and_then(|sum| sum.plus(&var(1)));
    let replace = |var: IndexVar| (var.index() == 9).then(|| split.clone()).flatten();
    let put = |expr: IndexExpr| expr.substitute(&replace, &extent);
    assert_eq!(put(i.floor_div(4, &|_| None)), Some(var(0)));
    let list = vec![5, 6, 7];
    let element = i.modulo(4, &|_| None).element_of(list.clone());
    assert_eq!(put(element), Some(var(1).element_of(list)));
}

#[test]
fn linear_forms_are_taken_apart() {
    let x0 = IndexVar::from_index(0);
    let sum = var(0).times(2).and_then(|sum| sum.plus(&var(1)));
    assert_eq!(sum.expect("small").linear_in(x0), Some((2, var(1))));
    assert_eq!(var(1).linear_in(x0), Some((0, var(1))));
    assert_eq!(var(0).modulo(2, &|_| None).linear_in(x0), None);
}

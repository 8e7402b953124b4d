//! Long products, which are summed factor by factor.

use std::collections::BTreeMap;

use sparsec_base::Source;
use sparsec_notation::{Declaration, Declarations, Notation};
use sparsec_reference::{CoordinateMap, evaluate};
use sparsec_tensor::{Format, Tensor};

/// A square matrix with `n_stored` entries in each row, strewn, of these values.
fn matrix(extent: u64, n_stored: u64, value: &dyn Fn(u64) -> f64) -> Tensor {
    let (mut coords, mut values) = (Vec::new(), Vec::new());
    for row in 0..extent {
        for n in 0..n_stored {
            coords.extend([row, (row * 5 + n * n + n) / 2 % extent]);
            values.push(value(row + n));
        }
    }
    Tensor::pack(&Format::csr(), &[extent, extent], &coords, &values).expect("inside")
}

/// The last result of a program over matrices of one extent.
fn result(text: &str, extent: u64, inputs: &[(&str, Tensor)]) -> CoordinateMap {
    let mut declarations = Declarations::new();
    for (name, _) in inputs {
        declarations.declare(*name, Declaration::with_extents(&[extent, extent]));
    }
    let notation = Notation::parse(&Source::new("expression", text)).expect(text);
    let program = notation.resolve(&declarations).expect(text);
    let named = inputs.iter();
    let inputs: BTreeMap<String, &Tensor> = named
        .map(|(name, tensor)| ((*name).to_owned(), tensor))
        .collect();
    let results = evaluate(&program, &inputs).expect(text);
    let last = program.statements.last().expect("a statement").lhs.tensor;
    results[&program.tensors[last].name].clone()
}

/// Visited point by point, these would take hours.
#[test]
fn twelve_factors_are_a_power() {
    const EXTENT: u64 = 40;
    let inputs = [("A", matrix(EXTENT, 8, &|n| (n % 3) as f64 - 1.0))];
    let power = "P(a,c) = A(a,b) * A(b,c); Q(a,c) = P(a,b) * A(b,c); R(a,c) = Q(a,b) * Q(b,c)";
    let chain = "A(a,b)*A(b,c)*A(c,d)*A(d,e)*A(e,f)*A(f,g)*A(g,h)*A(h,k)*A(k,l)*A(l,m)*A(m,n)";
    for (whole, by_steps) in [
        (
            format!("y(a,z) = {chain}*A(n,z)"),
            "y(a,c) = R(a,b) * R(b,c)",
        ),
        (format!("y = {chain}*A(n,a)"), "y = R(a,b) * R(b,a)"),
        (format!("y(z) = {chain}*A(n,z)"), "y(c) = R(a,b) * R(b,c)"),
    ] {
        let expect = result(&format!("{power}; {by_steps}"), EXTENT, &inputs);
        let found = result(&whole, EXTENT, &inputs);
        assert_eq!(found.to_string(), expect.to_string(), "{whole}");
    }
}

/// `B * C` alone is too large for a number, so the product is not taken apart.
#[test]
fn sums_that_are_not_finite_are_none_to_multiply_with() {
    let inputs = [
        ("A", matrix(128, 40, &|_| 1e-200)),
        ("B", matrix(128, 16, &|_| 1e200)),
        ("C", matrix(128, 16, &|_| 1e200)),
    ];
    let found = result("y = A(i,j) * B(j,k) * C(k,l)", 128, &inputs).to_string();
    assert!(found.contains("e20") && !found.contains("inf"), "{found}");
}

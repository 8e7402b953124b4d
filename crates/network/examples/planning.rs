//! Prints the processor time that planning takes: the search for trees, and all of it.
//!
//! `cargo run --release -p sparsec-network --example planning`
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::sync::OnceLock;
use std::time::Instant;

use sparsec_network::{
    Estimator, Named, Network, PlanOptions, SearchOptions, Tensor, planner, search,
};

fn main() {
    println!(
        "{:34} {:>8} {:>10} {:>10} {:>6}",
        "network", "operands", "trees, ms", "plan, ms", "exact"
    );
    let integrals = "tensor I[700, 300, 300] entries 21470400
        tensor C[300, 100] entries 7032\n tensor P[300, 300] entries 89820
        tensor L[700, 100] entries 3220 mask\n";
    let given = [
        ("integrals", "E(K,i,m) = I(K,a,b) * C(a,i) * P(b,m)"),
        (
            "integrals, restricted",
            "E(K,i,m) = I(K,a,b) * C(a,i) * P(b,m) * L(K,i)",
        ),
        (
            "integrals, four indices",
            "V(i,j,m,n) = I(K,a,b) * C(a,i) * P(b,m) * I(K,c,d) * C(c,j) * P(d,n)",
        ),
    ];
    for (name, equation) in given {
        let network = Network::parse(&format!("{integrals}{equation}")).expect("a network");
        report(name, &network);
    }
    for n in [10, 15, 40] {
        report(
            "chain of dense matrices",
            &chain(n, |i| 100 + i * 37 % 90, 1),
        );
        report("chain of sparse matrices", &chain(n, |_| 1000, 100));
        report("chain of 2 by 2 matrices", &chain(n, |_| 2, 1));
        report("powers of one graph", &powers(n));
        report("random", &random(n, 3));
        report("random, small extents", &random(n, 1));
    }
    report(
        "chain of dense matrices",
        &chain(100, |i| 100 + i * 37 % 90, 1),
    );
}

/// Seconds that this thread has run, as Linux counts them; else since an arbitrary start.
fn processor_time() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let counted = std::fs::read_to_string("/proc/thread-self/schedstat");
    let counted = counted
        .ok()
        .and_then(|text| text.split(' ').next()?.parse().ok());
    counted.map_or_else(
        || START.get_or_init(Instant::now).elapsed().as_secs_f64(),
        |nanoseconds: f64| nanoseconds * 1e-9,
    )
}

fn report(name: &str, network: &Network) {
    let n = network.operands().count();
    // The clock of the processor ticks every few milliseconds.
    let time = |run: &mut dyn FnMut()| {
        let start = processor_time();
        let mut n_runs = 0;
        while n_runs == 0 || processor_time() - start < 0.05 {
            run();
            n_runs += 1;
        }
        (processor_time() - start) / f64::from(n_runs) * 1e3
    };
    let trees = time(&mut || {
        let estimator = Estimator::new(network);
        std::hint::black_box(search::trees(&estimator, SearchOptions::default()));
    });
    let mut exact = true;
    let all = time(&mut || {
        let estimator = Estimator::new(network);
        let planned = planner::plan(&estimator, &PlanOptions::default()).expect("a plan");
        exact = planned.exact;
    });
    println!("{name:34} {n:>8} {trees:>10.2} {all:>10.2} {exact:>6}");
}

fn chain(n: usize, extent: impl Fn(u64) -> u64, sparsity: u64) -> Network {
    let extents: Vec<u64> = (0..=n as u64).map(extent).collect();
    let names: Vec<String> = (0..=n).map(|i| format!("x{i}")).collect();
    let tensors = (0..n).map(|i| {
        let size = extents[i] * extents[i + 1];
        let mut tensor = Tensor::sparse(format!("A{i}"), &extents[i..i + 2], size / sparsity);
        tensor.layout = Some(vec![0, 1]);
        tensor
    });
    let operands: Vec<Named> = (0..n)
        .map(|i| Named::new(&format!("A{i}"), &[&names[i], &names[i + 1]]))
        .collect();
    let result = Named::new("R", &[&names[0], &names[n]]);
    Network::new(tensors.collect(), &result, &operands).expect("a chain")
}

/// A closed walk: the trace of a power of a matrix with skewed degrees.
fn powers(n: usize) -> Network {
    let text = "tensor A[100000, 100000] entries 1000000 layout 0, 1
        project A[0]: 90000 tuples, 5000 largest, 200000000 squares
        project A[1]: 90000 tuples, 5000 largest, 200000000 squares
        match A[1] A[0]: 180000000\n t = ";
    let factors: Vec<String> = (0..n)
        .map(|i| format!("A(x{i},x{})", (i + 1) % n))
        .collect();
    Network::parse(&(text.to_owned() + &factors.join(" * "))).expect("a walk")
}

fn random(n: usize, scale: u64) -> Network {
    let mut state = 7u64;
    let mut below = |n: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % n
    };
    let names: Vec<String> = (0..n + 3).map(|i| format!("x{i}")).collect();
    let extents: Vec<u64> = names
        .iter()
        .map(|_| 2 + below(8u64.pow(scale as u32)))
        .collect();
    let mut tensors = Vec::new();
    let mut operands = Vec::new();
    for t in 0..n {
        let mut modes: Vec<usize> = vec![t, t + 1 + below(3) as usize];
        let third = below(names.len() as u64) as usize;
        if !modes.contains(&third) {
            modes.push(third);
        }
        let own: Vec<u64> = modes.iter().map(|&mode| extents[mode]).collect();
        let size: u64 = own.iter().product();
        let mut tensor = Tensor::sparse(format!("A{t}"), &own, (size / (1 + below(30))).max(1));
        if below(2) == 0 {
            tensor.layout = Some((0..modes.len()).collect());
        }
        tensors.push(tensor);
        let own: Vec<&str> = modes.iter().map(|&mode| names[mode].as_str()).collect();
        operands.push(Named::new(&format!("A{t}"), &own));
    }
    let result = Named::new("R", &["x0", "x1"]);
    Network::new(tensors, &result, &operands).expect("a network")
}

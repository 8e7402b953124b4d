//! Measures the figures of `Machine`: the cost of a byte in a stream, and of an access
//! costs at random places, by the size of the array.
//!
//! `cargo run --release -p sparsec-network --example machine`
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::hint::black_box;
use std::time::Instant;

fn main() {
    println!(
        "{:>12} {:>16} {:>16}",
        "bytes", "ns/byte, stream", "ns, random"
    );
    for shift in [14, 17, 19, 21, 23, 25, 28] {
        let n = (1usize << shift) / size_of::<f64>();
        let mut values = vec![1.0f64; n];
        let rounds = ((1usize << 27) / n / 8).max(1);
        let start = Instant::now();
        for round in 0..rounds {
            let step = black_box(round as f64);
            for value in &mut values {
                *value += step;
            }
            black_box(&mut values);
        }
        let bytes = (rounds * n * size_of::<f64>()) as f64;
        let stream = start.elapsed().as_nanos() as f64 / bytes;
        // Adds at places that no prefetcher guesses, each independent of the others.
        let accesses = 1 << 22;
        let mut place = 1usize;
        let start = Instant::now();
        for _ in 0..accesses {
            place = place.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            values[(place >> 33) & (n - 1)] += 1.0;
        }
        black_box(&mut values);
        let random = start.elapsed().as_nanos() as f64 / f64::from(accesses);
        println!("{:>12} {stream:>16.3} {random:>16.2}", 1usize << shift);
    }
}

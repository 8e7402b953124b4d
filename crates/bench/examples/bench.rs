//! Measures, without the command line around: `cargo run --release -p
//! sparsec-bench --example bench -- [small|full] [KERNEL…]`.

use std::io;

use sparsec_bench::{Options, Size};

fn main() {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let size = words.first().and_then(|word| Size::parse(word));
    if size.is_some() {
        words.remove(0);
    }
    let options = Options {
        size: size.unwrap_or_default(),
        only: words,
        ..Options::default()
    };
    if let Err(error) = sparsec_bench::run(&options, &mut io::stdout()) {
        panic!("{}", error.render(false));
    }
}

//! scratch
#![allow(clippy::print_stdout)]
use sparsec::*;
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let mut request = Request::new(Source::new("expression", args[0].clone()));
    let mut stage = "c".to_owned();
    for a in &args[1..] {
        if let Some((n, f)) = a.split_once('=') {
            if n == "emit" {
                stage = f.into();
                continue;
            }
            request.set_format(n, f).unwrap_or_else(|e| panic!("{e}"));
        }
    }
    match compile(&request, &Inputs::new()) {
        Ok(c) => {
            for s in stage.split(',') {
                println!(
                    "---- {s}\n{}",
                    c.emit(&Stage::parse(s).unwrap())
                        .unwrap_or_else(|e| e.to_string())
                )
            }
        }
        Err(e) => println!("{}", e.render(true)),
    }
}

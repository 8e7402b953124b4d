use std::time::Instant;
use sparsec::conversion::{Converter, synthesized};
use sparsec::{Backend, ElementType, Format, Options, Session, Tensor};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let n: u64 = args[1].parse().unwrap();
    let per: u64 = args[2].parse().unwrap();
    let mut state = 88172645463325252u64;
    let mut random = move || { state ^= state << 13; state ^= state >> 7; state ^= state << 17; state };
    let mut coords = Vec::new();
    let mut values = Vec::new();
    for i in 0..n { let mut row: Vec<u64> = (0..per).map(|_| random() % n).collect(); row.sort(); row.dedup();
        for j in row { coords.extend([i, j]); values.push(j as f64); } }
    let names = ["(i, j) -> (i : compressed(nonunique), j : singleton)", "(i, j) -> (i : dense, j : compressed)", "(i, j) -> (j : dense, i : compressed)", "(i, j) -> (i : compressed, j : compressed)", "(i, j) -> (i floordiv 4 : dense, j floordiv 4 : compressed, i mod 4 : dense, j mod 4 : dense)","(i, j) -> (#i : dense, i : dense, j : singleton)"];
    let session = Session::new(Options { backend: Backend::C, ..Options::default() });
    for s in &names[..4] { for d in &names {
        let (source, dest): (Format, Format) = (s.parse().unwrap(), d.parse().unwrap());
        let a = Tensor::pack(&source, &[n, n], &coords, &values).unwrap();
        let t = Instant::now();
        let made = synthesized(&source, &dest, ElementType::F64, &Default::default());
        let synth = t.elapsed();
        if args.len() > 3 { println!("{}", made.as_ref().unwrap().computation); }
        drop(made);
        let t = Instant::now();
        let converter = match Converter::new(&a, &dest) { Ok(c) => c, Err(e) => { println!("{s} -> {d}: {e}"); continue } };
        let compile = t.elapsed();
        if args.len() > 4 { println!("{}", converter.compiled().function()); }
        let _ = converter.run(&session, &a).unwrap();
        let mut best = f64::MAX; let mut old = f64::MAX;
        for _ in 0..5 {
        let t = Instant::now(); let r = converter.run(&session, &a).unwrap(); best = best.min(t.elapsed().as_secs_f64());
        let t = Instant::now(); let r2 = a.convert(&dest).unwrap(); old = old.min(t.elapsed().as_secs_f64());
        assert_eq!(r.n_stored(), r2.n_stored()); }
        println!("{s} -> {d}: synth {synth:?} with lowering {compile:?}; run {:.2} ms, unpack and sort {:.2} ms", best * 1e3, old * 1e3);
    } }
}

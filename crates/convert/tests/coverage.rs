//! Census.
use std::collections::BTreeMap;

use sparsec_base::{ElementType, Result};
use sparsec_convert::{Conversion, Image, Piece, Places, Triangle, Wanted, convert_pieces};
use sparsec_format::{Format, FormatSpec, Level, LevelKind, Side};

fn coordinates(destination: &Format, is_meant: impl Fn(LevelKind) -> bool) -> std::collections::BTreeSet<String> {
    let mut arrays = std::collections::BTreeSet::new();
    let parts = destination.parts();
    for (at, part) in parts.iter().enumerate() {
        let prefix = match parts.len() { 1 => "B".to_owned(), _ => format!("B{}", at + 1) };
        for (number, level) in part.levels().iter().enumerate() {
            if is_meant(level.kind) {
                arrays.insert(format!("{prefix}_crd{number}"));
            }
        }
    }
    arrays
}

fn derive(source: &Format, destination: &Format, fill: bool) -> Result<Conversion> {
    let element = ElementType::F64;
    let parts = source.descriptors("source");
    let whole = destination.descriptors("destination");
    let mut pieces = Vec::new();
    for (part, descriptor) in std::iter::zip(source.parts(), &parts) {
        pieces.push(Piece { descriptor, image: None, value: Image::Same });
        if let Some(mirror) = part.mirror() {
            pieces.push(Piece { descriptor, image: Some(mirror.modes), value: Image::Same });
        }
    }
    let triangle = destination.region().filter(|_| destination.mirror().is_some()).map(|region| {
        let [a, b] = region.modes;
        let modes = match region.side { Side::Upper => [b, a], _ => [a, b] };
        Triangle { modes, image: Image::Same, order: vec![0, 1] }
    });
    let wanted = Wanted {
        is_unique: source.is_unique(),
        adds: !source.is_unique(),
        places: if source.lists_entries() { Places::Full } else { Places::Some },
        has_padding: source.parts().iter().any(|part| part.levels().last().is_none_or(Level::may_pad)),
        has_fill: fill,
        tables: coordinates(destination, |kind| kind == LevelKind::Hashed),
        blocks: coordinates(destination, |kind| matches!(kind, LevelKind::Structured { .. })),
        triangle,
        ..Wanted::of(element)
    };
    convert_pieces(&pieces, &whole, &wanted)
}

#[test]
#[ignore]
fn census() {
    let texts = std::env::var("FROM").unwrap_or("dense csr csc dcsr coo scoo mcoo bsr(2,2) dia ell hyb(2) msr sky csb(2) hash bitmap hicoo(2) alto SUM SYM NM RL".into());
    let tos = std::env::var("TO").unwrap_or(texts.clone());
    let fill = std::env::var("FILL").is_ok();
    let print = std::env::var("PRINT").is_ok();
    let order = std::env::var("ORDER").map_or(2, |it| it.parse().unwrap());
    let format = |text: &str| -> Format {
        let text = match text {
            "SUM" => "(i, j) -> (i : compressed(nonunique, nonordered), j : singleton(nonunique, nonordered))",
            "SUM3" => "(i, j, k) -> (i : compressed(nonunique, nonordered), j : singleton(nonunique, nonordered), k : singleton(nonunique, nonordered))",
            "SYM" => "(i, j) -> (i : dense, j : compressed), symmetric(i, j)",
            "NM" => "(i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])",
            "RL" => "(i, j) -> (i : dense, j : run_length)",
            other => other,
        };
        text.parse::<FormatSpec>().and_then(|it| it.resolve(order)).unwrap_or_else(|e| panic!("{text}: {e}"))
    };
    let split = |texts: &str| -> Vec<String> {
        if texts.contains('>') { texts.split(';').map(str::to_owned).collect() }
        else { texts.split_whitespace().map(str::to_owned).collect() }
    };
    let mut why: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut n = [0; 4];
    for from in split(&texts) {
        for to in split(&tos) {
            let pair = format!("{from}>{to}");
            let made = match derive(&format(&from), &format(&to), fill) {
                Ok(made) => made,
                Err(error) => { n[0] += 1; why.entry(format!("NOT DERIVED {}", error.message())).or_default().push(pair); continue }
            };
            if print { println!("{}\n{}", made.table(), made.computation); }
            let (question, proposal) = match made.question().and_then(|q| Ok((q, made.proposal()?))) {
                Ok(both) => both,
                Err(error) => { n[1] += 1; why.entry(format!("NO CERTIFICATE {}", error.message())).or_default().push(pair); continue }
            };
            let start = std::time::Instant::now();
            match question.examine(&proposal) {
                Err(error) => { n[1] += 1; why.entry(format!("NO CERTIFICATE {error}")).or_default().push(pair); }
                Ok((examined, failed)) => {
                    if print { print!("{examined}"); }
                    if failed.is_empty() { n[3] += 1; }
                    else {
                        n[2] += 1;
                        if print { for e in &failed { println!("{e}"); } }
                        let e = &failed[0];
                        why.entry(format!("{} | {}", e.message(), e.notes().first().map(|n| n.to_string()).unwrap_or_default())).or_default().push(format!("{pair}({})", failed.len()));
                    }
                    if start.elapsed().as_secs_f64() > 3.0 { println!("SLOW {pair} {:?}", start.elapsed()); }
                }
            }
        }
    }
    for (why, pairs) in &why { println!("{why}\n    {} {}", pairs.len(), pairs.join(" ")); }
    println!("not derived {} no certificate {} incomplete {} complete {}", n[0], n[1], n[2], n[3]);
}

//! Certificates of conversions between formats of levels: what is proved, and what is not.

use sparsec_base::ElementType;
use sparsec_convert::{Conversion, Wanted, convert};
use sparsec_format::Format;

const LISTS: &[&str] = &[
    "(i, j) -> (i : compressed(nonunique, nonordered), j : singleton(nonordered))",
    "(i, j) -> (i : compressed(nonunique), j : singleton)",
    "csr",
    "csc",
    "dcsr",
    "dcsc",
    "(i, j) -> (i floordiv 2 : dense, j floordiv 3 : dense, i mod 2 : compressed(nonunique), j mod 3 : singleton)",
    "(i, j) -> (j : compressed(nonunique), i : singleton)",
    "(i, j) -> (j : dense, i : compressed(nonordered))",
    "(i, j) -> (j - i : compressed, i : compressed)",
];

const OTHERS: &[&str] = &[
    "(i, j) -> (i : dense, j : bitmap)",
    "(i, j) -> (i : batch, j : compressed)",
    "(i, j) -> (i : dense, j : dense)",
    "(i, j) -> (j : dense, i : dense)",
    "(i, j) -> (i floordiv 2 : dense, j floordiv 3 : compressed, i mod 2 : dense, j mod 3 : dense)",
    "(i, j) -> (j floordiv 2 : compressed, i floordiv 2 : compressed, i mod 2 : dense, j mod 2 : dense)",
    "dia",
    "ell",
    "(i, j) -> (i : dense, j : range)",
    "sky",
];

fn conversion(from: &str, to: &str) -> Conversion {
    let format = |text: &str| -> Format { text.parse().unwrap_or_else(|e| panic!("{text}: {e}")) };
    let source = format(from).descriptors("source").remove(0);
    let destination = format(to).descriptors("destination").remove(0);
    let wanted = Wanted {
        is_one_to_one: true,
        ..Wanted::of(ElementType::F64)
    };
    convert(&source, &destination, &wanted).unwrap_or_else(|e| panic!("{from} to {to}: {e}"))
}

#[test]
fn all_pairs_are_proved() {
    let mut open = Vec::new();
    let only = std::env::var("ONLY").ok();
    let mut slow = Vec::new();
    for (a, from) in LISTS.iter().enumerate() {
        for (b, to) in LISTS.iter().chain(OTHERS).enumerate() {
            if only
                .as_ref()
                .is_some_and(|only| *only != format!("{a}-{b}"))
            {
                continue;
            }
            let made = conversion(from, to);
            let begin = std::time::Instant::now();
            let certificate = match made.certificate() {
                Ok(it) => it,
                Err(e) => {
                    open.push(format!("{a}-{b} {from} -> {to}: {:?}", e.notes()));
                    continue;
                }
            };
            slow.push((begin.elapsed().as_millis(), a, b));
            let unproved: Vec<String> = certificate.unproved().map(|it| it.to_string()).collect();
            if only.is_some() {
                println!("{}\n{certificate}", made.computation);
                for e in made
                    .question()
                    .examine(&made.proposal().unwrap())
                    .unwrap()
                    .1
                {
                    println!("{} {:?} {:?}", e.message(), e.notes(), e.help_text());
                }
            }
            if !unproved.is_empty() {
                open.push(format!("{a}-{b} {from} -> {to}: {}", unproved.join("; ")));
            }
        }
    }
    slow.sort();
    println!(
        "slowest {:?} sum {}",
        &slow[slow.len().saturating_sub(5)..],
        slow.iter().map(|s| s.0).sum::<u128>()
    );
    let mut kinds = std::collections::BTreeMap::<String, Vec<String>>::new();
    for line in &open {
        let (at, rest) = line.split_once(' ').unwrap();
        for it in rest.rsplit(": ").next().unwrap().split("; ") {
            kinds.entry(it.to_owned()).or_default().push(at.to_owned());
        }
    }
    for (kind, at) in &kinds {
        println!("{kind}: {}", at.join(" "));
    }
    let open = vec![format!("{open:.0?}")]
        .into_iter()
        .filter(|_| !open.is_empty())
        .map(|_| open.len().to_string())
        .collect::<Vec<_>>();
    assert!(open.is_empty(), "{} {}", open.len(), open.join("\n"));
}

//! The engine, libFuzzer, over one target, which `SPARSEC_FUZZ_TARGET` names.
//!
//! `cargo xtask fuzz` builds and calls it. Before it begins, it writes its first inputs (seeds,
//! corpus and former findings) to the folder that `SPARSEC_FUZZ_SEEDS` names, and a dictionary
//! of their words to the file of that name with `.dict` behind it. One program has all targets,
//! because linking one for each would take minutes.
//!
//! The target `list` prints all targets with the lengths of their inputs and ends. With
//! `SPARSEC_FUZZ_PACK`, the engine packs the inputs of that folder as the corpus and ends.

#![no_main]
#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;
use std::{env, fs};

use sparsec_fuzz::{TARGETS, Target, packed};

static TARGET: OnceLock<&'static Target> = OnceLock::new();

libfuzzer_sys::fuzz_target!(
    init: {
        let name = env::var("SPARSEC_FUZZ_TARGET").expect("SPARSEC_FUZZ_TARGET names a target");
        if name == "list" {
            list();
        }
        let target = Target::find(&name).unwrap_or_else(|| panic!("there is no target `{name}`"));
        TARGET.get_or_init(|| target);
        if let Some(folder) = env::var_os("SPARSEC_FUZZ_PACK") {
            pack(target, Path::new(&folder)).expect("the corpus can be written");
            std::process::exit(0);
        }
        if let Some(folder) = env::var_os("SPARSEC_FUZZ_SEEDS") {
            write_seeds(target, Path::new(&folder)).expect("seeds can be written");
        }
    },
    |input: &[u8]| {
        let target = TARGET.get().expect("set at the start");
        (target.run)(input);
    }
);

/// Prints all targets, one a line, and ends the process.
fn list() -> ! {
    for target in TARGETS {
        println!("{} {}", target.name, target.longest);
    }
    std::process::exit(0);
}

/// Packs the inputs of a folder as the corpus of a target.
fn pack(target: &Target, folder: &Path) -> std::io::Result<()> {
    let mut inputs: Vec<Vec<u8>> = Vec::new();
    for entry in fs::read_dir(folder)?.flatten() {
        inputs.push(fs::read(entry.path())?);
    }
    inputs.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
    let path = target.corpus();
    if let Some(corpora) = path.parent() {
        fs::create_dir_all(corpora)?;
    }
    match inputs.is_empty() {
        true if path.exists() => fs::remove_file(path),
        true => Ok(()),
        false => fs::write(path, packed::pack(inputs.iter().map(Vec::as_slice))),
    }
}

/// Writes the first inputs of a target and the dictionary of their words.
fn write_seeds(target: &Target, folder: &Path) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut inputs = target.seeds();
    if let Ok(found) = fs::read_dir(target.regressions()) {
        inputs.extend(found.flatten().flat_map(|entry| fs::read(entry.path())));
    }
    let n_seeds = inputs.len();
    if let Ok(text) = fs::read_to_string(target.corpus()) {
        inputs.extend(packed::unpack(&text).expect("a corpus that was packed"));
    }
    for (number, input) in inputs.iter().enumerate() {
        // `xtask` tells these from one another when it packs a corpus.
        let kind = if number < n_seeds { "seed" } else { "kept" };
        fs::write(folder.join(format!("{kind}-{number}")), input)?;
    }
    fs::write(folder.with_extension("dict"), dictionary(&inputs))
}

/// The dictionary: words that occur more than once, which the engine inserts.
fn dictionary(inputs: &[Vec<u8>]) -> String {
    let mut counts: BTreeMap<&[u8], usize> = BTreeMap::new();
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    for input in inputs {
        for part in input.chunk_by(|a, b| is_word(a) == is_word(b)) {
            if (1..=16).contains(&part.len()) && part.iter().all(|it| it.is_ascii_graphic()) {
                *counts.entry(part).or_default() += 1;
            }
        }
    }
    let often = counts.into_iter().filter(|(_, n)| *n > 1);
    let lines = often.map(|(word, _)| {
        let escaped: String = word.iter().map(|byte| format!("\\x{byte:02x}")).collect();
        format!("\"{escaped}\"\n")
    });
    lines.collect()
}

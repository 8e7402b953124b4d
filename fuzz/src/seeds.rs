//! First inputs of the targets, taken from the files of the repository.
//!
//! Filetests give programs, schedules, formats, relations and stages as text. Samples and the
//! writers of `io` give files. A target that reads bytes as decisions takes any bytes.

use std::collections::BTreeSet;
use std::fs;

use sparsec::internals::generate;
use sparsec::{ElementType, Format, Source, Tensor};
use sparsec_testing::file::{Section, split};
use sparsec_testing::suite;

use crate::{Target, root};

/// Where the seeds of a target come from.
#[derive(Clone, Copy, Debug)]
pub enum Seeds {
    /// These texts.
    Texts(&'static [&'static str]),
    /// The statements of filetests.
    Expressions,
    /// The schedules of filetests, given and planned.
    Schedules,
    /// The formats that filetests declare, and all presets.
    Formats,
    /// The sections of a stage, function by function.
    Section(&'static str),
    /// The heads of filetests.
    Programs,
    /// Relations of filetests.
    Relations,
    /// The programs of MLIR in filetests and samples.
    Mlir,
    /// What these filetests declare.
    Declarations,
    /// The computations of filetests and samples.
    Computations,
    /// The scripts of filetests.
    Scripts,
    /// The samples with this extension.
    Samples(&'static str),
    /// Small tensors, written to files with this ending.
    Files(&'static str),
    /// Small Rutherford–Boeing files, which sparsec does not write.
    RutherfordBoeing,
    /// Small compressed files, behind a byte that says of which type.
    Compressed,
    /// Random bytes, this many in each seed.
    Random(usize),
}

/// Functions of the user.
pub const FUNCTIONS: &[&str] = &[
    "gate(a, b) = select(b > 0, a, 0)",
    "gain(a, b) = a * b + a * a : annihilator 0 at a",
    "modsum(a, b) = (a + b) % 7 : associative, commutative, identity 0",
    "least(a, b) = min(a, b) : associative, commutative, idempotent, identity inf",
    "clamp(x) = min(max(x, -1.5e3), inf)",
];

/// Einsums, behind a byte that says of how many operands.
pub const EINSUMS: &[&str] = &[
    "\x02ij,jk->ik",
    "\x02ij, jk",
    "\x01ii->i",
    "\x01ij->",
    "\x02,i->i",
    "\x03ij,jk,kl->il",
];

/// Generators, behind bytes for extents and type.
pub const GENERATORS: &[&str] = &[
    "\x03\x0bdense:zeros",
    "\x03\x0bdense:constant(2.5)",
    "\x02\x03dense:iota",
    "\x03\x0bdense:uniform(seed=7, values=int)",
    "\x03\x0brandom(density=0.01, seed=1, values=ones)",
    "\x06\x0brandom(nnz=5, seed=1, values=uniform)",
    "\x05\x0bband(width=5, seed=1)",
    "\x05\x0bidentity",
    "\x07\x0bband(width=3)",
];

/// A matrix of rows, one of a pattern, and an older file with right-hand sides.
const RUTHERFORD_BOEING: [&str; 3] = [
    "Title                                                                   KEY     \n             3             1             1             1\nrsa                        3             3             4             0\n(16I3)          (3I2)           (1P,3E13.5)\n  1  3  4  5\n 1 2 2\n 3\n  2.50000E+00 -1.00000D+00  4.00000-103\n      1000000\n",
    "Title                                                                   KEY     \n             2             1             1             0\npua                        2             3             2             0\n(4I3)           (2I3)           \n  1  2  2  3\n  1  2\n",
    "Title                                                                   KEY     \n             4             1             1             1             1\nRUA                        2             2             2             0\n(3I4)           (2I4)           (2E12.4)            (2E12.4)            \nF                          1             0\n   1   2   3\n   1   2\n  1.0000E+00  2.0000E+00\n  3.0000E+00  4.0000E+00\n",
];

impl Target {
    /// The seeds that are not too long, without repetitions.
    pub fn seeds(&self) -> Vec<Vec<u8>> {
        let found = self.seeds.all();
        let short = found.into_iter().filter(|seed| seed.len() <= self.longest);
        short.collect::<BTreeSet<_>>().into_iter().collect()
    }
}

impl Seeds {
    fn all(self) -> Vec<Vec<u8>> {
        let bytes = |texts: Vec<String>| texts.into_iter().map(String::into_bytes).collect();
        match self {
            Self::Texts(texts) => texts.iter().map(|text| text.as_bytes().to_vec()).collect(),
            Self::Expressions => bytes(of_heads(&expression)),
            Self::Programs => bytes(of_heads(&|head| {
                (!is_about(head, "mlir")).then(|| program(head))
            })),
            Self::Mlir => {
                let mut all = of_heads(&|head| is_about(head, "mlir").then(|| program(head)));
                all.extend(samples("mlir").into_iter().flat_map(String::from_utf8));
                bytes(all)
            }
            Self::Schedules => {
                let mut all = of_heads(&|head| {
                    let commands = head.lines().filter_map(|it| it.strip_prefix("schedule "));
                    Some(commands.collect::<Vec<_>>().join("\n"))
                });
                all.extend(sections("schedule"));
                bytes(all)
            }
            Self::Formats => {
                let mut all = presets();
                all.extend(files().iter().flat_map(|(head, _)| formats(head)));
                bytes(all)
            }
            Self::Section(stage) => bytes(sections(stage)),
            Self::Relations => bytes(relations(true)),
            Self::Declarations => bytes(relations(false)),
            Self::Computations => {
                let mut all = of_heads(&|head| {
                    let start = head.find("computation ")?;
                    is_about(head, "compute").then(|| head[start..].to_owned())
                });
                all.extend(samples("spf").into_iter().flat_map(String::from_utf8));
                bytes(all)
            }
            Self::Scripts => bytes(of_heads(&|head| {
                let mut scripts = head.lines().filter_map(|it| it.strip_prefix("script "));
                scripts.next().map(str::to_owned)
            })),
            Self::Samples(extension) => samples(extension),
            Self::Files(ending) => written(ending),
            Self::RutherfordBoeing => RUTHERFORD_BOEING
                .iter()
                .map(|text| text.as_bytes().to_vec())
                .collect(),
            Self::Compressed => (0u8..)
                .zip([".mtx.gz", ".tns.gz", ".mtx.zst", ".tns.zst"])
                .flat_map(|(byte, ending)| {
                    let files = written(ending).into_iter();
                    files.map(move |file| [vec![byte], file].concat())
                })
                .collect(),
            Self::Random(len) => (1..=24).map(|seed| random(seed, len)).collect(),
        }
    }
}

/// All filetests: the head above the first section, and the sections.
fn files() -> Vec<(String, Vec<Section>)> {
    let paths = suite::files(&root().join("filetests")).expect("the filetests can be read");
    let texts = paths.iter().flat_map(fs::read_to_string);
    texts.map(|text| split(&text)).collect()
}

/// One part of every head, without those that are empty.
fn of_heads(part: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
    let files = files();
    let found = files.iter().filter_map(|(head, _)| part(head));
    found.filter(|text| !text.trim().is_empty()).collect()
}

/// Whether a head is that of a test of this kind.
fn is_about(head: &str, kind: &str) -> bool {
    let is_test = |line: &str| line.split_whitespace().take(2).eq(["test", kind]);
    head.lines().any(is_test)
}

/// A head without comments and the line that names stages.
fn program(head: &str) -> String {
    let lines = head.lines();
    let lines = lines.filter(|line| !line.starts_with(';') && !line.starts_with("test "));
    lines.collect::<Vec<_>>().join("\n")
}

/// Whether a line declares a tensor.
fn is_declaration(line: &str) -> bool {
    let is_name = |name: &str| {
        name.trim()
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    line.split_once(':').is_some_and(|(name, _)| is_name(name))
}

/// The statements of a program's head.
fn expression(head: &str) -> Option<String> {
    if ["relation", "compute", "mlir"]
        .iter()
        .any(|kind| is_about(head, kind))
    {
        return None;
    }
    let program = program(head);
    let lines = program.lines().filter(|line| {
        !(line.starts_with("schedule ") || line.starts_with("extent ") || is_declaration(line))
    });
    Some(lines.collect::<Vec<_>>().join("\n"))
}

/// The formats that a head declares.
fn formats(head: &str) -> Vec<String> {
    let declared = head.lines().filter(|line| is_declaration(line));
    let after = declared.filter_map(|line| {
        let (_, spec) = line.split_once(':')?;
        let behind = spec.find(']').map_or(0, |at| at + 1);
        let (_, format) = spec[behind..].split_once(',')?;
        Some(format.trim().to_owned())
    });
    after.collect()
}

fn presets() -> Vec<String> {
    let presets = sparsec::presets().iter();
    let orders = presets.flat_map(|preset| (0..5).map(move |order| (preset, order)));
    let fitting = orders.filter(|(preset, order)| preset.fits(*order));
    fitting.map(|(preset, order)| preset.text(order)).collect()
}

/// The sections of a stage, in the pieces that blank lines make.
fn sections(stage: &str) -> Vec<String> {
    let files = files();
    let sections = files.iter().flat_map(|(_, sections)| sections);
    let found = sections.filter(|section| section.stage() == stage && section.excerpt().is_none());
    let pieces = found.flat_map(|section| section.text.split("\n\n"));
    pieces.map(str::to_owned).collect()
}

/// The relations of filetests, or the declarations above them.
fn relations(wanted: bool) -> Vec<String> {
    let files = files();
    let heads = files.iter().filter(|(head, _)| is_about(head, "relation"));
    let lines = heads.flat_map(|(head, _)| head.lines());
    let lines = lines.filter(|line| !line.starts_with(';') && !line.starts_with("test "));
    let split = lines.map(|line| {
        let words = ["then inverse ", "then ", "relation "];
        let relation = words.iter().find_map(|word| line.strip_prefix(word));
        (relation.is_some(), relation.unwrap_or(line).to_owned())
    });
    let found = split.filter(|(is_relation, _)| *is_relation == wanted);
    found.map(|(_, text)| text).collect()
}

/// The samples with an extension.
fn samples(extension: &str) -> Vec<Vec<u8>> {
    let folder = fs::read_dir(root().join("samples")).expect("the samples can be read");
    let paths = folder.flatten().map(|entry| entry.path());
    let named = paths.filter(|path| path.extension().is_some_and(|it| it == extension));
    named.flat_map(fs::read).collect()
}

/// Small tensors as files, where that type of file can state them.
fn written(ending: &str) -> Vec<Vec<u8>> {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join(format!("seed{ending}"));
    let shapes: [(&[u64], &str, &str, ElementType); 9] = [
        (&[3, 4], "csr", "random(nnz=5)", ElementType::F64),
        (&[3, 4], "csc", "random(nnz=5)", ElementType::I32),
        (&[4, 4], "coo", "band(width=3)", ElementType::F32),
        (&[2, 3], "dense", "dense:iota", ElementType::F64),
        (&[5], "dense", "dense:iota", ElementType::U8),
        (&[5], "scoo", "random(nnz=2)", ElementType::C128),
        (&[2, 3, 2], "csf", "random(nnz=4)", ElementType::Bool),
        (&[4, 4], "bsr(2, 2)", "identity", ElementType::F64),
        (&[], "dense", "dense:ones", ElementType::C64),
    ];
    let mut files = Vec::new();
    for (extents, format, spec, element) in shapes {
        let tensor = small(extents, format, spec, element);
        if sparsec_io::write(&path, &tensor).is_ok() {
            files.push(fs::read(&path).expect("it was written"));
        }
    }
    files
}

fn small(extents: &[u64], format: &str, spec: &str, element: ElementType) -> Tensor {
    let spec = Source::new("seed", spec);
    let format = sparsec::FormatSpec::parse(&Source::new("format", format))
        .and_then(|format| format.resolve(extents.len()));
    let format: Format = format.expect("a format");
    generate(&spec, extents, Some(&format), element).expect("small tensors")
}

/// Bytes that look random, the same on every machine.
fn random(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let bytes = (0..len).map(|_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    });
    bytes.collect()
}

//! The text of a program, made of decisions: statements, declarations, a schedule.
//!
//! Each name has one order in all programs: `A` and `B` are matrices, `x` and `z` vectors, `T` has
//! three modes and `c` none. The program declares every operand that its statements name, with a
//! type, extents and a format. Most accesses use variables with the extents of the operand's modes,
//! so most programs are valid.

use std::collections::BTreeSet;
use std::fmt::Write;

use sparsec::ElementType;
use sparsec_testing::random::FORMATS;

use crate::choices::Choices;

/// Operands with their orders.
const OPERANDS: [(&str, usize); 6] = [("A", 2), ("x", 1), ("B", 2), ("T", 3), ("z", 1), ("c", 0)];
const VARS: [&str; 4] = ["i", "j", "k", "l"];
/// How deep most expressions are nested.
const DEPTH: usize = 2;

/// Commands of schedules. Most of them apply to some program.
const COMMANDS: [&str; 12] = [
    "reorder(j, i)",
    "reorder(i, k, j)",
    "split(i, i0, i1, 2)",
    "split(j, j0, j1, 3)",
    "fuse(i, j, f)",
    "parallelize(i, CPUThread, NoRaces)",
    "parallelize(j, CPUThread, ParallelReduction)",
    "parallelize(i, CPUThread, Temporary)",
    "unroll(i, 2)",
    "skew(j, d, j - i)",
    "mergeby(i, Select)",
    "assemble(R0, Insert)",
];

/// A program that is being written.
pub(crate) struct Written<'a> {
    choices: Choices<'a>,
    /// The extents of [`VARS`].
    extents: [u64; 4],
    used: BTreeSet<usize>,
    /// The orders of the results so far.
    results: Vec<usize>,
}

impl<'a> Written<'a> {
    pub(crate) fn new(mut choices: Choices<'a>) -> Self {
        let same = choices.below(6) as u64;
        let differ = choices.once_in(2);
        let extents = [0; 4].map(|_| match differ {
            true => choices.below(6) as u64,
            false => same,
        });
        Self {
            choices,
            extents,
            used: BTreeSet::new(),
            results: Vec::new(),
        }
    }

    /// The head of a filetest.
    pub(crate) fn program(mut self) -> String {
        let n = 1 + usize::from(self.choices.once_in(4));
        let statements: Vec<String> = (0..n).map(|_| self.statement()).collect();
        let mut text = String::new();
        for operand in self.used.clone() {
            let (name, order) = OPERANDS[operand];
            let modes = VARS.iter().zip(self.extents).take(order);
            let extents: Vec<String> = modes.map(|(_, extent)| extent.to_string()).collect();
            self.declare(&mut text, name, &extents);
        }
        for (number, order) in self.results.clone().into_iter().enumerate() {
            if self.choices.once_in(3) {
                let element = self.choices.one_of(&ElementType::ALL);
                let format = self.format(order);
                writeln!(text, "R{number} : {element}, {format}").expect("a string grows");
            }
        }
        if self.choices.once_in(6) {
            let command = self.choices.one_of(&COMMANDS);
            writeln!(text, "schedule {command}").expect("a string grows");
        }
        text + &statements.join("\n")
    }

    fn declare(&mut self, text: &mut String, name: &str, extents: &[String]) {
        let element = match self.choices.once_in(2) {
            true => self.choices.one_of(&ElementType::ALL),
            false => ElementType::F64,
        };
        let shape = match extents {
            [] => String::new(),
            extents => format!("[{}]", extents.join(", ")),
        };
        let fill = match self.choices.below(12) {
            10 => " fill 1",
            11 if element.is_float() => " fill inf",
            _ => "",
        };
        let format = self.format(extents.len());
        writeln!(text, "{name} : {element}{shape}{fill}, {format}").expect("a string grows");
    }

    /// A format of some order.
    fn format(&mut self, order: usize) -> String {
        let presets = sparsec::presets().iter();
        let presets = presets.filter(|preset| preset.fits(order));
        let others = FORMATS.iter().filter(|(fits, _)| *fits == order);
        let all: Vec<String> = presets
            .map(|preset| preset.text(order))
            .chain(others.map(|(_, text)| (*text).to_owned()))
            .collect();
        all[self.choices.below(all.len())].clone()
    }

    fn statement(&mut self) -> String {
        let order = self.choices.below(4);
        // Any variables, in any order, but each once.
        let mut left: Vec<&str> = VARS.to_vec();
        let turned = self.choices.below(left.len());
        left.rotate_left(turned);
        if self.choices.once_in(2) {
            left.swap(0, 1);
        }
        left.truncate(order);
        let number = self.results.len();
        let deeper = usize::from(self.choices.once_in(6));
        let right = self.expression(DEPTH + deeper);
        self.results.push(order);
        let operator = match self.choices.below(10) {
            8 => "+=",
            9 => "max=",
            _ => "=",
        };
        match left.is_empty() {
            true => format!("R{number} {operator} {right}"),
            false => format!("R{number}({}) {operator} {right}", left.join(",")),
        }
    }

    fn expression(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.leaf();
        }
        let below = depth - 1;
        match self.choices.below(16) {
            0..=3 => self.leaf(),
            4..=11 => {
                let operators = ["*", "*", "*", "+", "+", "-", "/", "%"];
                let operator = self.choices.one_of(&operators);
                let (left, right) = (self.expression(below), self.expression(below));
                format!("({left} {operator} {right})")
            }
            12 => {
                let names = ["max", "min", "pow"];
                let name = self.choices.one_of(&names);
                let (left, right) = (self.expression(below), self.expression(below));
                format!("{name}({left}, {right})")
            }
            13 => {
                let names = ["-", "abs", "exp", "sqrt", "i64", "f32", "isstored"];
                let name = self.choices.one_of(&names);
                format!("{name}({})", self.expression(below))
            }
            14 => {
                let (a, b) = (self.expression(below), self.leaf());
                format!("select({a} > {b}, {b}, {a})")
            }
            _ => {
                let names = ["sum", "max", "min", "prod", "stored_max", "stored_min"];
                let name = self.choices.one_of(&names);
                let var = self.choices.one_of(&VARS);
                format!("{name}{{{var}}}({})", self.expression(below))
            }
        }
    }

    fn leaf(&mut self) -> String {
        match self.choices.below(12) {
            10 => (self.choices.below(5) as i64 - 1).to_string(),
            11 if !self.results.is_empty() => {
                let number = self.choices.below(self.results.len());
                let order = self.results[number];
                self.access(&format!("R{number}"), order)
            }
            n => {
                let operand = n % OPERANDS.len();
                self.used.insert(operand);
                let (name, order) = OPERANDS[operand];
                self.access(name, order)
            }
        }
    }

    /// An access, mostly by the variables whose extents the modes have.
    fn access(&mut self, name: &str, order: usize) -> String {
        let mut indices = Vec::new();
        for place in 0..order {
            let var = match self.choices.once_in(3) {
                true => self.choices.below(VARS.len()),
                false => place,
            };
            let var = VARS[var];
            indices.push(match self.choices.below(20) {
                17 => format!("{var} + 1"),
                18 => format!("{var} floordiv 2"),
                19 => format!("{} - {var}", self.extents[place]),
                _ => var.to_owned(),
            });
        }
        match indices.is_empty() {
            true => name.to_owned(),
            false => format!("{name}({})", indices.join(",")),
        }
    }
}

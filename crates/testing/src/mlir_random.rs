//! Random programs of the `sparse_tensor` dialect.
//!
//! ```text
//! seed ──► func.func @main: numbers, tensors, conversions, linalg.generic, loops, printing
//! ```
//!
//! A program is a list of steps, each of which uses values of the steps before. Numbers are small
//! integers, also as floating-point numbers, so results are exact in every order of additions, and
//! programs on other engines print the same entries.
//!
//! MLIR 19 lowers the steps of [`program`] rightly. Programs [`of_all_shapes`] have in addition:
//!
//! | shape                                        | MLIR 19                                     |
//! |----------------------------------------------|---------------------------------------------|
//! | operands by rows and by columns in one operation, and the transpose of a sparse one | converts the others: to levels of the same kinds, which store other entries if a dense level is below a compressed one; later operations may miss an operand that was converted |
//! | operands and results in every encoding       | crashes, or leaves results without values   |
//! | sparse results of dense operands             | stores entries that are not zero, or all    |
//! | `unary` and `select` beside other operands   | takes their operands as the only ones       |
//! | conversions to dense tensors                 | leaves entries without values               |
//!
//! [`without_encodings`] gives a program of the same values with dense tensors alone.

mod steps;

use std::fmt::Write as _;

/// Encodings of matrices.
const ENCODINGS: [(&str, &str); 6] = [
    ("CSR", "(i, j) -> (i : dense, j : compressed)"),
    ("CSC", "(i, j) -> (j : dense, i : compressed)"),
    ("DCSR", "(i, j) -> (i : compressed, j : compressed)"),
    ("DCSC", "(i, j) -> (j : compressed, i : compressed)"),
    (
        "COO",
        "(i, j) -> (i : compressed(nonunique), j : singleton)",
    ),
    ("ROWS", "(i, j) -> (i : compressed, j : dense)"),
];
/// Encodings that only programs of all shapes have.
const OTHERS: [(&str, &str); 3] = [
    (
        "BSR",
        "(i, j) -> (i floordiv 2 : dense, j floordiv 2 : compressed, i mod 2 : dense, j mod 2 : dense)",
    ),
    (
        "SOA",
        "(i, j) -> (i : compressed(nonunique), j : singleton(soa))",
    ),
    ("LOOSE", "(i, j) -> (i : dense, j : loose_compressed)"),
];
/// The rows and columns of matrices, which are square.
const EXTENT: usize = 4;
/// Steps of a program.
const STEPS: usize = 14;

/// The shapes of operations in a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shapes {
    /// Those that MLIR 19 lowers.
    Lowered,
    All,
}

/// A program by its seed, of shapes that MLIR 19 lowers.
///
/// ```
/// let program = sparsec_testing::mlir_random::program(7);
/// assert!(program.contains("func.func @main()"));
/// assert_eq!(program, sparsec_testing::mlir_random::program(7));
/// ```
pub fn program(seed: u64) -> String {
    Writer::new(seed, Shapes::Lowered).program()
}

/// A program by its seed, of all shapes.
pub fn of_all_shapes(seed: u64) -> String {
    Writer::new(seed, Shapes::All).program()
}

/// The program with dense tensors alone; `None` if its values depend on which entries are stored.
///
/// ```
/// use sparsec_testing::mlir_random::{of_all_shapes, without_encodings};
/// let dense = (0..9).find_map(|seed| without_encodings(&of_all_shapes(seed)));
/// assert!(!dense.unwrap().contains('#'));
/// ```
pub fn without_encodings(program: &str) -> Option<String> {
    let operators = ["unary", "binary", "select"].map(|it| format!("sparse_tensor.{it}"));
    if operators.iter().any(|operator| program.contains(operator)) {
        return None;
    }
    let mut text = String::new();
    for line in program.lines().filter(|line| !line.starts_with('#')) {
        // Sparse outputs begin empty, as zeros.
        let mut line = line.replace("tensor.empty() :", "arith.constant dense<0.0> :");
        while let Some(begin) = line.find(", #") {
            let length = line[begin..].find('>').unwrap_or(line.len() - begin);
            line.replace_range(begin..begin + length, "");
        }
        text += &line;
        text.push('\n');
    }
    Some(text)
}

struct Writer {
    random: u64,
    shapes: Shapes,
    /// The encodings of tensors.
    encodings: Vec<(&'static str, &'static str)>,
    /// The encodings of operands of structured operations, and of their results.
    operands: Vec<&'static str>,
    results: Vec<&'static str>,
    lines: String,
    n_values: usize,
    /// Values of type `f64`, `i64`, vectors, and matrices without and with an encoding.
    numbers: Vec<String>,
    integers: Vec<String>,
    vectors: Vec<String>,
    dense: Vec<String>,
    sparse: Vec<(String, &'static str)>,
}

impl Writer {
    fn new(seed: u64, shapes: Shapes) -> Self {
        let all = ENCODINGS.iter().chain(&OTHERS);
        let encodings: Vec<(&str, &str)> = match shapes {
            Shapes::Lowered => ENCODINGS.to_vec(),
            Shapes::All => all.copied().collect(),
        };
        let (operands, results) = match (shapes, seed % 3) {
            (Shapes::All, _) => {
                let names: Vec<&str> = encodings.iter().map(|(name, _)| *name).collect();
                (names.clone(), names)
            }
            (Shapes::Lowered, 0) => (vec!["CSC", "DCSC"], vec!["CSC", "DCSC"]),
            (Shapes::Lowered, _) => (vec!["CSR", "DCSR", "COO"], vec!["CSR", "DCSR"]),
        };
        Self {
            random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            shapes,
            encodings,
            operands,
            results,
            lines: String::new(),
            n_values: 0,
            numbers: Vec::new(),
            integers: Vec::new(),
            vectors: Vec::new(),
            dense: Vec::new(),
            sparse: Vec::new(),
        }
    }

    fn program(mut self) -> String {
        self.begin();
        for _ in 0..STEPS {
            self.step();
        }
        self.end();
        let mut text = String::new();
        for (name, map) in &self.encodings {
            let _ = writeln!(text, "#{name} = #sparse_tensor.encoding<{{ map = {map} }}>");
        }
        let _ = write!(
            text,
            "module {{\n  func.func @main() {{\n{}    return\n  }}\n}}\n",
            self.lines
        );
        text
    }

    fn below(&mut self, n: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        ((self.random >> 33) as usize) % n
    }

    fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())].clone()
    }

    fn number(&mut self) -> String {
        let numbers = self.numbers.clone();
        self.pick(&numbers)
    }

    fn integer(&mut self) -> String {
        let integers = self.integers.clone();
        self.pick(&integers)
    }

    fn matrix(&mut self) -> (String, String) {
        let (sparse, dense) = (self.sparse.clone(), self.dense.clone());
        match self.below(4) {
            0 => (self.pick(&dense), matrix("")),
            _ => {
                let (name, encoding) = self.pick(&sparse);
                (name, matrix(encoding))
            }
        }
    }

    /// An operand of a structured operation.
    fn operand(&mut self) -> (String, String) {
        let known = &self.operands;
        let sparse = self.sparse.iter().filter(|(_, it)| known.contains(it));
        let sparse: Vec<(String, &str)> = sparse.cloned().collect();
        let dense = self.dense.clone();
        match self.below(4) {
            1.. if !sparse.is_empty() => {
                let (name, encoding) = self.pick(&sparse);
                (name, matrix(encoding))
            }
            _ => (self.pick(&dense), matrix("")),
        }
    }

    fn encoding(&mut self) -> &'static str {
        self.pick(&self.encodings.clone()).0
    }

    fn value(&mut self) -> String {
        self.n_values += 1;
        format!("%{}", self.n_values)
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.lines, "    {text}");
    }

    fn op(&mut self, text: &str) -> String {
        let value = self.value();
        self.line(&format!("{value} = {text}"));
        value
    }

    /// Entries of which about two thirds are zero.
    fn entries(&mut self, n: usize) -> String {
        let entry = |this: &mut Self| match this.below(3) {
            0 => format!("{}.0", this.below(7) as i64 - 3),
            _ => "0.0".to_owned(),
        };
        let entries: Vec<String> = (0..n).map(|_| entry(self)).collect();
        format!("[{}]", entries.join(", "))
    }

    fn begin(&mut self) {
        self.line("%c0 = arith.constant 0 : index");
        self.line("%c1 = arith.constant 1 : index");
        self.line(&format!("%cn = arith.constant {EXTENT} : index"));
        self.line("%f0 = arith.constant 0.0 : f64");
        for n in 0..3 {
            let number = self.op(&format!("arith.constant {}.0 : f64", n - 1));
            self.numbers.push(number);
            let integer = self.op(&format!("arith.constant {} : i64", 3 * n - 2));
            self.integers.push(integer);
        }
        for _ in 0..2 {
            let entries = self.entries(EXTENT);
            let value = self.op(&format!("arith.constant dense<{entries}> : {VECTOR}"));
            self.vectors.push(value);
        }
        for _ in 0..3 {
            let rows: Vec<String> = (0..EXTENT).map(|_| self.entries(EXTENT)).collect();
            let rows = rows.join(", ");
            let dense = matrix("");
            let value = self.op(&format!("arith.constant dense<[{rows}]> : {dense}"));
            self.dense.push(value.clone());
            let encoding = self.encoding();
            self.convert(&value, &dense, encoding);
        }
    }

    fn convert(&mut self, value: &str, from: &str, encoding: &'static str) {
        let to = matrix(encoding);
        if from != to {
            let value = self.op(&format!("sparse_tensor.convert {value} : {from} to {to}"));
            self.sparse.push((value, encoding));
        }
    }

    fn step(&mut self) {
        match self.below(10) {
            0 => self.arithmetic(),
            1 => {
                let ((value, from), encoding) = (self.matrix(), self.encoding());
                self.convert(&value, &from, encoding);
            }
            2 | 3 => self.elementwise(),
            4 => self.regions(),
            5 => self.product(),
            6 => self.rows(),
            7 => self.entries_summed(),
            8 => self.loops(),
            _ => self.print(),
        }
    }
}

const VECTOR: &str = "tensor<4xf64>";

fn matrix(encoding: &str) -> String {
    match encoding {
        "" => format!("tensor<{EXTENT}x{EXTENT}xf64>"),
        encoding => format!("tensor<{EXTENT}x{EXTENT}xf64, #{encoding}>"),
    }
}

//! Random programs of the `sparse_tensor` dialect.
//!
//! ```text
//! seed ──► func.func @main: numbers, tensors, conversions, linalg.generic, loops, printing
//! ```
//!
//! A program is a list of steps, each of which uses values of the steps before. Numbers are small
//! integers, also as floating-point numbers, so results are exact in every order of additions, and
//! programs on other engines print the same entries. Every step is one that MLIR 19 lowers.
//!
//! The operands of one operation are all stored by rows, or all by columns. MLIR 19 converts the
//! others: to levels of the same kinds, which store other entries if a dense level is below a
//! compressed one, and later operations may miss an operand that was converted.

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
/// The rows and columns of matrices, which are square.
const EXTENT: usize = 4;
/// Steps of a program.
const STEPS: usize = 14;

/// A program by its seed.
///
/// ```
/// let program = sparsec_testing::mlir_random::program(7);
/// assert!(program.contains("func.func @main()"));
/// assert_eq!(program, sparsec_testing::mlir_random::program(7));
/// ```
pub fn program(seed: u64) -> String {
    let mut writer = Writer {
        random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
        operands: match seed % 3 {
            0 => &["CSC", "DCSC"],
            _ => &["CSR", "DCSR", "COO"],
        },
        lines: String::new(),
        n_values: 0,
        numbers: Vec::new(),
        integers: Vec::new(),
        vectors: Vec::new(),
        dense: Vec::new(),
        sparse: Vec::new(),
    };
    writer.begin();
    for _ in 0..STEPS {
        writer.step();
    }
    writer.end();
    let mut text = String::new();
    for (name, map) in ENCODINGS {
        let _ = writeln!(text, "#{name} = #sparse_tensor.encoding<{{ map = {map} }}>");
    }
    let _ = write!(
        text,
        "module {{\n  func.func @main() {{\n{}    return\n  }}\n}}\n",
        writer.lines
    );
    text
}

struct Writer {
    random: u64,
    /// The encodings of operands of structured operations.
    operands: &'static [&'static str],
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
        let known = self.operands;
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
        self.pick(&ENCODINGS).0
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

    /// Operations on numbers.
    fn arithmetic(&mut self) {
        let (a, b) = (self.number(), self.number());
        let word = self.pick(&["addf", "subf", "mulf", "maximumf", "minimumf"]);
        let number = self.op(&format!("arith.{word} {a}, {b} : f64"));
        let (n, m) = (self.integer(), self.integer());
        let word = self.pick(&["addi", "subi", "muli", "andi", "xori", "maxsi", "minui"]);
        let integer = self.op(&format!("arith.{word} {n}, {m} : i64"));
        let predicate = self.pick(&["slt", "uge", "eq"]);
        let is_less = self.op(&format!("arith.cmpi {predicate}, {integer}, {m} : i64"));
        let chosen = self.op(&format!("arith.select {is_less}, {number}, {a} : f64"));
        self.numbers.push(chosen);
        self.integers.push(integer);
    }

    /// An output for a matrix, and its type.
    fn output(&mut self, inputs: &[&str]) -> (String, String, Option<&'static str>) {
        // Of dense operands MLIR stores results that are not zero, or all.
        let is_dense = inputs.iter().all(|ty| !ty.contains('#'));
        let encoding = match self.below(4) {
            _ if is_dense => None,
            0 => None,
            _ => Some(self.pick(&self.operands[..2])),
        };
        let ty = matrix(encoding.unwrap_or_default());
        let empty = self.op(&format!("tensor.empty() : {ty}"));
        let value = match encoding {
            Some(_) => empty,
            None => self.op(&format!(
                "linalg.fill ins(%f0 : f64) outs({empty} : {ty}) -> {ty}"
            )),
        };
        (value, ty, encoding)
    }

    fn keep(&mut self, value: String, encoding: Option<&'static str>) {
        match encoding {
            Some(encoding) => self.sparse.push((value, encoding)),
            None => self.dense.push(value),
        }
    }

    /// A matrix of two, entry by entry.
    fn elementwise(&mut self) {
        let ((a, of_a), (b, of_b)) = (self.operand(), self.operand());
        let (output, ty, encoding) = self.output(&[&of_a, &of_b]);
        let second = match of_b.contains('#') {
            true => "(i, j) -> (i, j)",
            false => self.pick(&["(i, j) -> (i, j)", "(i, j) -> (j, i)"]),
        };
        let (first, then) = (
            self.pick(&["addf", "subf", "mulf"]),
            self.pick(&["addf %p, %x", "mulf %p, %y", "subf %p, %y", "negf %p"]),
        );
        let value = self.value();
        let text = format!(
            "{value} = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, \
             affine_map<{second}>, affine_map<(i, j) -> (i, j)>], \
             iterator_types = [\"parallel\", \"parallel\"]}} ins({a}, {b} : {of_a}, {of_b}) \
             outs({output} : {ty}) {{\n    ^bb0(%x: f64, %y: f64, %z: f64):\n      \
             %p = arith.{first} %x, %y : f64\n      %q = arith.{then} : f64\n      \
             linalg.yield %q : f64\n    }} -> {ty}"
        );
        self.line(&text);
        self.keep(value, encoding);
    }

    /// A matrix whose entries operators of the program compute.
    fn regions(&mut self) {
        let ((a, of_a), (b, of_b)) = (self.operand(), self.operand());
        let (output, ty, encoding) = self.output(&[&of_a, &of_b]);
        let overlap = self.pick(&["maximumf %s, %t", "subf %t, %s", "mulf %s, %s"]);
        let left = self.pick(&["{}", "identity"]);
        let right = self.pick(&[
            "{}",
            "identity",
            "{\n      ^bb0(%u: f64):\n        %v = arith.negf %u : f64\n        sparse_tensor.yield %v : f64\n      }",
        ]);
        let body = match self.below(3) {
            0 => "%q = sparse_tensor.unary %x : f64 to f64\n      present = {\n      ^bb0(%s: f64):\n        \
                  %r = arith.addf %s, %s : f64\n        sparse_tensor.yield %r : f64\n      }\n      absent = {}"
                .to_owned(),
            1 => "%q = sparse_tensor.select %x : f64 {\n      ^bb0(%s: f64):\n        \
                  %r = arith.cmpf ogt, %s, %f0 : f64\n        sparse_tensor.yield %r : i1\n      }"
                .to_owned(),
            _ => format!(
                "%q = sparse_tensor.binary %x, %y : f64, f64 to f64\n      overlap = {{\n      \
                 ^bb0(%s: f64, %t: f64):\n        %r = arith.{overlap} : f64\n        \
                 sparse_tensor.yield %r : f64\n      }}\n      left = {left}\n      right = {right}"
            ),
        };
        // MLIR takes the operands of `unary` and `select` as the only ones of a body.
        let is_binary = body.contains("binary");
        let (inputs, types, maps, arguments) = match is_binary {
            true => (
                format!("{a}, {b}"),
                format!("{of_a}, {of_b}"),
                3,
                "%x: f64, %y: f64, %z: f64",
            ),
            false => (a, of_a, 2, "%x: f64, %z: f64"),
        };
        let maps = vec!["affine_map<(i, j) -> (i, j)>"; maps].join(", ");
        let value = self.value();
        self.line(&format!(
            "{value} = linalg.generic {{indexing_maps = [{maps}], \
             iterator_types = [\"parallel\", \"parallel\"]}} ins({inputs} : {types}) \
             outs({output} : {ty}) {{\n    ^bb0({arguments}):\n      {body}\n      \
             linalg.yield %q : f64\n    }} -> {ty}"
        ));
        self.keep(value, encoding);
    }

    fn product(&mut self) {
        let ((a, of_a), (b, of_b)) = (self.operand(), self.operand());
        let (output, ty, encoding) = self.output(&[&of_a, &of_b]);
        let value = self.op(&format!(
            "linalg.matmul ins({a}, {b} : {of_a}, {of_b}) outs({output} : {ty}) -> {ty}"
        ));
        self.keep(value, encoding);
    }

    /// The product of a matrix and a vector.
    fn rows(&mut self) {
        let (a, of_a) = self.operand();
        let vectors = self.vectors.clone();
        let x = self.pick(&vectors);
        let empty = self.op(&format!("tensor.empty() : {VECTOR}"));
        let begin = self.op(&format!(
            "linalg.fill ins(%f0 : f64) outs({empty} : {VECTOR}) -> {VECTOR}"
        ));
        let value = self.op(&format!(
            "linalg.matvec ins({a}, {x} : {of_a}, {VECTOR}) outs({begin} : {VECTOR}) -> {VECTOR}"
        ));
        self.vectors.push(value);
    }

    /// The sum of the entries of a matrix, one by one.
    fn entries_summed(&mut self) {
        let sparse = self.sparse.clone();
        let (a, encoding) = self.pick(&sparse);
        let ty = matrix(encoding);
        let value = self.value();
        self.line(&format!(
            "{value} = sparse_tensor.foreach in {a} init(%f0) : {ty}, f64 -> f64 do {{\n    \
             ^bb0(%i: index, %j: index, %v: f64, %s: f64):\n      %t = arith.addf %s, %v : f64\n      \
             sparse_tensor.yield %t : f64\n    }}"
        ));
        self.numbers.push(value);
    }

    /// A loop over a vector that sums some of its entries.
    fn loops(&mut self) {
        let vectors = self.vectors.clone();
        let (x, limit) = (self.pick(&vectors), self.number());
        let predicate = self.pick(&["olt", "oge", "une"]);
        let value = self.value();
        self.line(&format!(
            "{value} = scf.for %i = %c0 to %cn step %c1 iter_args(%s = %f0) -> (f64) {{\n      \
             %e = tensor.extract {x}[%i] : {VECTOR}\n      %b = arith.cmpf {predicate}, %e, {limit} : f64\n      \
             %t = scf.if %b -> (f64) {{\n        %u = arith.addf %s, %e : f64\n        scf.yield %u : f64\n      \
             }} else {{\n        scf.yield %s : f64\n      }}\n      scf.yield %t : f64\n    }}"
        ));
        self.numbers.push(value);
    }

    /// Prints all entries of a matrix. Zeros that are stored differ between engines.
    fn show(&mut self, a: &str, encoding: &str) {
        let (dense, all) = (matrix(""), format!("vector<{EXTENT}x{EXTENT}xf64>"));
        let mut value = a.to_owned();
        if !encoding.is_empty() {
            // Conversions to dense tensors leave entries without values in MLIR 19.
            let from = matrix(encoding);
            let zero = self.op(&format!("arith.constant dense<0.0> : {dense}"));
            value = self.op(&format!(
                "linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, \
                 affine_map<(i, j) -> (i, j)>], iterator_types = [\"parallel\", \"parallel\"]}} \
                 ins({a} : {from}) outs({zero} : {dense}) {{\n    ^bb0(%x: f64, %z: f64):\n      \
                 %q = arith.addf %z, %x : f64\n      linalg.yield %q : f64\n    }} -> {dense}"
            ));
        }
        let v = self.op(&format!(
            "vector.transfer_read {value}[%c0, %c0], %f0 : {dense}, {all}"
        ));
        self.line(&format!("vector.print {v} : {all}"));
    }

    fn print(&mut self) {
        match self.below(3) {
            0 => {
                let number = self.number();
                self.line(&format!("vector.print {number} : f64"));
            }
            1 => {
                let sparse = self.sparse.clone();
                let (a, encoding) = self.pick(&sparse);
                self.show(&a, encoding);
            }
            _ => {
                let integer = self.integer();
                self.line(&format!("vector.print {integer} : i64"));
            }
        }
    }

    /// Prints the last values.
    fn end(&mut self) {
        let vectors = self.vectors.clone();
        if let Some(x) = vectors.last() {
            let row = format!("vector<{EXTENT}xf64>");
            let v = self.op(&format!(
                "vector.transfer_read {x}[%c0], %f0 : {VECTOR}, {row}"
            ));
            self.line(&format!("vector.print {v} : {row}"));
        }
        let sparse = self.sparse.clone();
        for (a, encoding) in sparse.iter().rev().take(2) {
            self.show(a, encoding);
        }
        if let Some(a) = self.dense.last().cloned() {
            self.show(&a, "");
        }
        if let Some(number) = self.numbers.last().cloned() {
            self.line(&format!("vector.print {number} : f64"));
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

//! The steps of a program: operations on numbers, matrices and vectors, and printing.

use super::{EXTENT, Shapes, VECTOR, Writer, matrix};

impl Writer {
    /// Operations on numbers.
    pub(super) fn arithmetic(&mut self) {
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
        let is_dense = inputs.iter().all(|ty| !ty.contains('#'));
        let results = self.results.clone();
        let encoding = match self.below(4) {
            _ if is_dense && self.shapes == Shapes::Lowered => None,
            0 => None,
            _ => Some(self.pick(&results)),
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
    pub(super) fn elementwise(&mut self) {
        let ((a, of_a), (b, of_b)) = (self.operand(), self.operand());
        let (output, ty, encoding) = self.output(&[&of_a, &of_b]);
        let second = match of_b.contains('#') && self.shapes == Shapes::Lowered {
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
    pub(super) fn regions(&mut self) {
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
        let is_binary = body.contains("binary");
        let is_alone = self.shapes == Shapes::Lowered || self.below(2) == 0;
        let body = match is_binary || is_alone {
            true => body,
            false => {
                let word = self.pick(&["addf", "mulf", "subf"]);
                let body = body.replacen("%q =", "%p =", 1);
                format!("{body}\n      %q = arith.{word} %p, %y : f64")
            }
        };
        let (inputs, types, maps, arguments) = match is_binary || !is_alone {
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

    pub(super) fn product(&mut self) {
        let ((a, of_a), (b, of_b)) = (self.operand(), self.operand());
        let (output, ty, encoding) = self.output(&[&of_a, &of_b]);
        let value = self.op(&format!(
            "linalg.matmul ins({a}, {b} : {of_a}, {of_b}) outs({output} : {ty}) -> {ty}"
        ));
        self.keep(value, encoding);
    }

    /// The product of a matrix and a vector.
    pub(super) fn rows(&mut self) {
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
    pub(super) fn entries_summed(&mut self) {
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
    pub(super) fn loops(&mut self) {
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
        let from = matrix(encoding);
        let mut value = a.to_owned();
        if !encoding.is_empty() && self.shapes == Shapes::All && self.below(2) == 0 {
            value = self.op(&format!("sparse_tensor.convert {a} : {from} to {dense}"));
        } else if !encoding.is_empty() {
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

    pub(super) fn print(&mut self) {
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
    pub(super) fn end(&mut self) {
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

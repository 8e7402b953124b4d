//! The programs of MLIR: a kernel in the dialect, and a `main` that loads operands, writes the
//! result, and then runs the kernel once for each line of its input.

use std::fmt::Write as _;

use sparsec::internals::Inputs;
use sparsec::{Array, ElementType, Tensor};

use crate::case::Pattern;

/// A kernel in the dialect. In the text, `TYPE_A` is the type of the operand `A`, and `TYPE` that of
/// the result.
pub(super) struct Kernel {
    pub(super) name: &'static str,
    /// The case with the same operands.
    pub(super) case: &'static str,
    pub(super) operands: Operands,
    pub(super) output: Output,
    pub(super) patterns: &'static [Pattern],
    /// The least speed beside that of MLIR.
    pub(super) bar: f64,
    body: &'static str,
}

/// Names of operands, in the order of the function's parameters.
pub(super) struct Operands(&'static [&'static str]);

impl Operands {
    /// The operands with their tensors.
    pub(super) fn map_while<'a>(&self, inputs: &'a Inputs) -> Vec<(&'static str, &'a Tensor)> {
        let find = |name: &&'static str| Some((*name, inputs.get(*name)?));
        self.0.iter().map_while(find).collect()
    }
}

/// The result of a kernel.
pub(super) enum Output {
    /// A dense tensor.
    Dense,
    /// Compressed rows.
    Rows,
    /// The first operand in another format.
    Converted(&'static str),
}

const BOTH: &[Pattern] = &[Pattern::Band, Pattern::Uniform];

pub(super) const KERNELS: &[Kernel] = &[
    Kernel {
        name: "spmv",
        case: "spmv",
        operands: Operands(&["A", "x"]),
        output: Output::Dense,
        patterns: BOTH,
        bar: 0.95,
        body: "
    %empty = tensor.empty() : TYPE
    %zeros = linalg.fill ins(%zero : f64) outs(%empty : TYPE) -> TYPE
    %result = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
      iterator_types = [\"parallel\", \"reduction\"]
    } ins(%A, %x : TYPE_A, TYPE_x) outs(%zeros : TYPE) {
    ^bb0(%a: f64, %b: f64, %c: f64):
      %0 = arith.mulf %a, %b : f64
      %1 = arith.addf %c, %0 : f64
      linalg.yield %1 : f64
    } -> TYPE",
    },
    Kernel {
        name: "csr:csc",
        case: "spmv",
        operands: Operands(&["A"]),
        output: Output::Converted("csc, pos = 32, crd = 32"),
        patterns: BOTH,
        bar: 7.0,
        body: "
    %result = sparse_tensor.convert %A : TYPE_A to TYPE",
    },
    Kernel {
        name: "spgemm",
        case: "spgemm",
        operands: Operands(&["A", "B"]),
        output: Output::Rows,
        patterns: BOTH,
        bar: 1.2,
        body: "
    %empty = tensor.empty() : TYPE
    %result = linalg.matmul ins(%A, %B : TYPE_A, TYPE_B) outs(%empty : TYPE) -> TYPE",
    },
    Kernel {
        name: "sddmm",
        case: "sddmm",
        operands: Operands(&["B", "C", "D"]),
        output: Output::Rows,
        patterns: BOTH,
        bar: 1.2,
        body: "
    %empty = tensor.empty() : TYPE
    %result = linalg.generic {
      indexing_maps = [
        affine_map<(i, j, k) -> (i, j)>, affine_map<(i, j, k) -> (i, k)>,
        affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>
      ],
      iterator_types = [\"parallel\", \"parallel\", \"reduction\"]
    } ins(%B, %C, %D : TYPE_B, TYPE_C, TYPE_D) outs(%empty : TYPE) {
    ^bb0(%b: f64, %c: f64, %d: f64, %a: f64):
      %0 = arith.mulf %c, %d : f64
      %1 = arith.mulf %b, %0 : f64
      %2 = arith.addf %a, %1 : f64
      linalg.yield %2 : f64
    } -> TYPE",
    },
    Kernel {
        name: "mttkrp",
        case: "mttkrp",
        operands: Operands(&["B", "C", "D"]),
        output: Output::Dense,
        patterns: &[Pattern::Uniform],
        bar: 1.2,
        body: "
    %empty = tensor.empty() : TYPE
    %zeros = linalg.fill ins(%zero : f64) outs(%empty : TYPE) -> TYPE
    %result = linalg.generic {
      indexing_maps = [
        affine_map<(i, j, k, r) -> (i, j, k)>, affine_map<(i, j, k, r) -> (j, r)>,
        affine_map<(i, j, k, r) -> (k, r)>, affine_map<(i, j, k, r) -> (i, r)>
      ],
      iterator_types = [\"parallel\", \"reduction\", \"reduction\", \"parallel\"]
    } ins(%B, %C, %D : TYPE_B, TYPE_C, TYPE_D) outs(%zeros : TYPE) {
    ^bb0(%b: f64, %c: f64, %d: f64, %a: f64):
      %0 = arith.mulf %b, %c : f64
      %1 = arith.mulf %0, %d : f64
      %2 = arith.addf %a, %1 : f64
      linalg.yield %2 : f64
    } -> TYPE",
    },
];

/// The encodings, and the functions of the C library and of MLIR's runner.
const HEAD: &str = "\
#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>
#CSC = #sparse_tensor.encoding<{ map = (i, j) -> (j : dense, i : compressed), posWidth = 32, crdWidth = 32 }>
#CSF = #sparse_tensor.encoding<{ map = (i, j, k) -> (i : compressed, j : compressed, k : compressed), posWidth = 32, crdWidth = 32 }>
module {
  func.func private @getTensorFilename(index) -> !llvm.ptr
  func.func private @open(!llvm.ptr, i32) -> i32
  func.func private @creat(!llvm.ptr, i32) -> i32
  func.func private @read(i32, i64, i64) -> i64
  func.func private @write(i32, i64, i64) -> i64
  func.func private @close(i32) -> i32
  func.func private @getchar() -> i32
  func.func private @fflush(i64) -> i32
  func.func private @rtclock() -> f64
";

/// A function that moves an array from or to a file: the functions of the C library that open it and
/// move bytes, the second argument of the former, and the message if bytes are missing.
fn moves(name: &str, [opens, moves]: [&str; 2], argument: u32, message: &str) -> String {
    format!(
        "  func.func @{name}(%file: index, %data: i64, %size: i64) {{
    %argument = arith.constant {argument} : i32
    %name = call @getTensorFilename(%file) : (index) -> !llvm.ptr
    %open = call @{opens}(%name, %argument) : (!llvm.ptr, i32) -> i32
    %n = call @{moves}(%open, %data, %size) : (i32, i64, i64) -> i64
    %whole = arith.cmpi eq, %n, %size : i64
    cf.assert %whole, \"{message}\"
    %0 = call @close(%open) : (i32) -> i32
    return
  }}
"
    )
}

/// The program of a kernel for operands and a result like these.
pub(super) fn text(kernel: &Kernel, operands: &[(&str, &Tensor)], result: &Tensor) -> String {
    let result_type = match kernel.output {
        Output::Converted(_) => tensor_type(result, "CSC"),
        _ => type_of(result),
    };
    let mut body = kernel.body.to_owned();
    for (name, tensor) in operands {
        body = body.replace(&format!("TYPE_{name}"), &type_of(tensor));
    }
    let body = body.replace("TYPE", &result_type);
    let parameters = operands
        .iter()
        .map(|(name, tensor)| format!("%{name}: {}", type_of(tensor)));
    let parameters = parameters.collect::<Vec<_>>().join(", ");
    let mut main = Main::default();
    for (name, tensor) in operands {
        main.load(name, tensor);
    }
    let names = operands.iter().map(|(name, _)| format!("%{name}"));
    let names = names.collect::<Vec<_>>().join(", ");
    let types = operands.iter().map(|(_, tensor)| type_of(tensor));
    let types = types.collect::<Vec<_>>().join(", ");
    let call = format!("func.call @kernel({names}) : ({types}) -> {result_type}");
    main.line(&format!("%first = {call}"));
    main.store("first", result, &result_type);
    let load_and_store = main.lines;
    let load = moves("load", ["open", "read"], 0, "an operand ends early");
    // Readable and writable by the user.
    let store = moves("store", ["creat", "write"], 0o600, "the result ends early");
    format!(
        "{HEAD}{load}{store}  func.func @kernel({parameters}) -> {result_type} {{
    %zero = arith.constant 0.0 : f64{body}
    return %result : {result_type}
  }}
  func.func @main() {{
{load_and_store}    bufferization.dealloc_tensor %first : {result_type}
    %line = arith.constant 10 : i32
    %all = arith.constant 0 : i64
    vector.print str \"ready\\0A\"
    %flushed = func.call @fflush(%all) : (i64) -> i32
    scf.while : () -> () {{
      %asked = func.call @getchar() : () -> i32
      %goes_on = arith.cmpi eq, %asked, %line : i32
      scf.condition(%goes_on)
    }} do {{
      %begin = func.call @rtclock() : () -> f64
      %result = {call}
      %end = func.call @rtclock() : () -> f64
      %time = arith.subf %end, %begin : f64
      vector.print %time : f64
      %again = func.call @fflush(%all) : (i64) -> i32
      bufferization.dealloc_tensor %result : {result_type}
      scf.yield
    }}
    return
  }}
}}
"
    )
}

/// The type of a tensor that is dense, in compressed rows or in compressed fibers.
fn type_of(tensor: &Tensor) -> String {
    match (tensor.format().is_all_dense(), tensor.order()) {
        (true, _) => tensor_type(tensor, ""),
        (false, 2) => tensor_type(tensor, "CSR"),
        (false, _) => tensor_type(tensor, "CSF"),
    }
}

fn tensor_type(tensor: &Tensor, encoding: &str) -> String {
    let encoding = match encoding {
        "" => String::new(),
        name => format!(", #{name}"),
    };
    format!("tensor<{}f64{encoding}>", extents(tensor))
}

/// The extents of a shape: `4x8x`.
fn extents(tensor: &Tensor) -> String {
    tensor.extents().iter().map(|n| format!("{n}x")).collect()
}

/// The type of the entries of an array.
fn entry(array: &Array) -> &'static str {
    match array.element() {
        ElementType::I32 => "i32",
        _ => "f64",
    }
}

#[derive(Default)]
struct Main {
    lines: String,
    n_files: usize,
}

impl Main {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.lines, "    {text}");
    }

    /// Calls `load` or `store` for an array.
    fn transfer(&mut self, function: &str, array: &str, ty: &str, bytes: &str) {
        let n = self.n_files;
        self.n_files += 1;
        self.line(&format!("%file{n} = arith.constant {n} : index"));
        self.line(&format!(
            "%pointer{n} = memref.extract_aligned_pointer_as_index {array} : {ty} -> index"
        ));
        self.line(&format!(
            "%data{n} = arith.index_cast %pointer{n} : index to i64"
        ));
        self.line(&format!(
            "func.call @{function}(%file{n}, %data{n}, {bytes}) : (index, i64, i64) -> ()"
        ));
    }

    /// An operand from the next files.
    fn load(&mut self, name: &str, tensor: &Tensor) {
        let is_dense = tensor.format().is_all_dense();
        let mut given = Vec::new();
        for (number, array) in tensor.arrays().iter().enumerate() {
            let shape = match is_dense {
                true => extents(tensor),
                false => format!("{}x", array.len()),
            };
            let ty = format!("memref<{shape}{}>", entry(array));
            let memory = format!("%{name}.memory{number}");
            let bytes = format!("%{name}.bytes{number}");
            self.line(&format!("{memory} = memref.alloc() : {ty}"));
            self.line(&format!("{bytes} = arith.constant {} : i64", array.bytes()));
            self.transfer("load", &memory, &ty, &bytes);
            let value = match is_dense {
                true => format!("%{name}"),
                false => format!("%{name}.array{number}"),
            };
            self.line(&format!(
                "{value} = bufferization.to_tensor {memory} restrict : {ty}"
            ));
            given.push((value, ty.replace("memref", "tensor")));
        }
        if is_dense {
            return;
        }
        let (values, levels) = given.split_last().expect("a tensor has values");
        let list = |part: fn(&(String, String)) -> &str| {
            levels.iter().map(part).collect::<Vec<_>>().join(", ")
        };
        self.line(&format!(
            "%{name} = sparse_tensor.assemble ({}), {} : ({}), {} to {}",
            list(|(name, _)| name),
            values.0,
            list(|(_, ty)| ty),
            values.1,
            type_of(tensor)
        ));
    }

    /// A result to the next files.
    fn store(&mut self, name: &str, tensor: &Tensor, ty: &str) {
        if tensor.format().is_all_dense() {
            let memref = format!("memref<{}f64>", extents(tensor));
            self.line(&format!(
                "%memory = bufferization.to_memref %{name} : {memref}"
            ));
            let bytes = tensor.arrays()[0].bytes();
            self.line(&format!("%bytes = arith.constant {bytes} : i64"));
            self.transfer("store", "%memory", &memref, "%bytes");
            return;
        }
        let parts = [
            ("positions", " {level = 1 : index}", "i32", 4),
            ("coordinates", " {level = 1 : index}", "i32", 4),
            ("values", "", "f64", 8),
        ];
        self.line("%axis = arith.constant 0 : index");
        for (part, level, entry, size) in parts {
            let memref = format!("memref<?x{entry}>");
            self.line(&format!(
                "%{part} = sparse_tensor.{part} %{name}{level} : {ty} to {memref}"
            ));
            self.line(&format!(
                "%{part}.dim = memref.dim %{part}, %axis : {memref}"
            ));
            self.line(&format!(
                "%{part}.len = arith.index_cast %{part}.dim : index to i64"
            ));
            self.line(&format!("%{part}.size = arith.constant {size} : i64"));
            self.line(&format!(
                "%{part}.bytes = arith.muli %{part}.len, %{part}.size : i64"
            ));
            self.transfer(
                "store",
                &format!("%{part}"),
                &memref,
                &format!("%{part}.bytes"),
            );
        }
    }
}

/// A small program: the product of a matrix of a file with a vector of ones.
pub(super) const FIRST_RESULT: &str = "\
#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
module {
  func.func private @getTensorFilename(index) -> !llvm.ptr
  func.func @main() {
    %zero = arith.constant 0.0 : f64
    %one = arith.constant 1.0 : f64
    %c0 = arith.constant 0 : index
    %file = call @getTensorFilename(%c0) : (index) -> !llvm.ptr
    %A = sparse_tensor.new %file : !llvm.ptr to tensor<100x100xf64, #CSR>
    %empty = tensor.empty() : tensor<100xf64>
    %x = linalg.fill ins(%one : f64) outs(%empty : tensor<100xf64>) -> tensor<100xf64>
    %other = tensor.empty() : tensor<100xf64>
    %zeros = linalg.fill ins(%zero : f64) outs(%other : tensor<100xf64>) -> tensor<100xf64>
    %y = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
      iterator_types = [\"parallel\", \"reduction\"]
    } ins(%A, %x : tensor<100x100xf64, #CSR>, tensor<100xf64>) outs(%zeros : tensor<100xf64>) {
    ^bb0(%a: f64, %b: f64, %c: f64):
      %0 = arith.mulf %a, %b : f64
      %1 = arith.addf %c, %0 : f64
      linalg.yield %1 : f64
    } -> tensor<100xf64>
    %v = vector.transfer_read %y[%c0], %zero : tensor<100xf64>, vector<100xf64>
    vector.print %v : vector<100xf64>
    bufferization.dealloc_tensor %A : tensor<100x100xf64, #CSR>
    return
  }
}
";

/// A file of a matrix with three diagonals.
pub(super) fn matrix(n: usize) -> String {
    let mut entries = String::new();
    let mut n_stored = 0;
    for i in 1..=n {
        for j in i.saturating_sub(1).max(1)..=(i + 1).min(n) {
            let _ = writeln!(entries, "{i} {j} {}.5", i + j);
            n_stored += 1;
        }
    }
    format!("%%MatrixMarket matrix coordinate real general\n{n} {n} {n_stored}\n{entries}")
}

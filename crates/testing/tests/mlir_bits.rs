//! Bodies of bits give over sparse operands what they give over dense ones.

use sparsec::internals::mlir::Module;
use sparsec::internals::mlir_host::SessionHost;
use sparsec::internals::mlir_run;
use sparsec::{Options, Session, Source};

/// Bodies of `%x`, `%y` (entries of the operands), `%o` (of the output) and the constant `%c`.
const BODIES: &[&str] = &[
    "%r = arith.ori %x, %y : i8",
    "%r = arith.xori %x, %c : i8",
    "%s = arith.shli %x, %c : i8 %r = arith.andi %s, %y : i8",
    "%s = arith.addi %x, %c : i8 %t = arith.ori %s, %x : i8 %r = arith.muli %t, %y : i8",
    "%s = arith.shrsi %c, %x : i8 %r = arith.maxui %s, %y : i8",
    "%s = arith.shrui %x, %c : i8 %t = arith.ori %s, %c : i8 %r = arith.minui %t, %y : i8",
    "%s = arith.andi %x, %y : i8 %r = arith.xori %o, %s : i8",
    "%s = arith.ori %x, %y : i8 %r = arith.addi %s, %o : i8",
    "%s = arith.shli %x, %c : i8 %t = arith.subi %o, %s : i8 %r = arith.ori %t, %y : i8",
    "%s = arith.ori %x, %c : i8 %r = arith.andi %o, %s : i8",
    "%s = arith.xori %x, %c : i8 %r = arith.addi %o, %s : i8",
    "%s = arith.xori %x, %o : i8 %r = arith.ori %o, %s : i8",
    "%s = math.ctpop %x : i8 %r = arith.addi %o, %s : i8",
    "%s = math.ctlz %y : i8 %r = arith.ori %x, %s : i8",
    "%s = arith.xori %x, %y : i8 %r = arith.maxui %o, %s : i8",
    "%s = arith.andi %x, %y : i8 %r = arith.minui %s, %o : i8",
    "%s = arith.shrui %x, %y : i8 %t = arith.andi %o, %s : i8 %r = arith.andi %t, %x : i8",
];

/// Maps of the operands and the output, and the iterators.
const SHAPES: &[(&str, &str, &str)] = &[
    ("(i, j)", "(i, j)", "\"parallel\", \"parallel\""),
    ("(j, i)", "(i, j)", "\"parallel\", \"parallel\""),
    ("(i, j)", "(i)", "\"parallel\", \"reduction\""),
    ("(i, i)", "(j)", "\"reduction\", \"parallel\""),
    ("(i, j)", "()", "\"reduction\", \"reduction\""),
];

fn entries(seed: &mut u64) -> String {
    let rows = (0..4).map(|_| {
        let numbers = (0..4).map(|_| {
            *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            match (*seed >> 33) % 3 {
                0 => ((*seed >> 40) % 256) as i64 - 128,
                _ => 0,
            }
        });
        let numbers: Vec<String> = numbers.map(|number| number.to_string()).collect();
        format!("[{}]", numbers.join(", "))
    });
    format!("[{}]", rows.collect::<Vec<_>>().join(", "))
}

/// A program that prints the dense result; `encodings` of the two operands may be empty.
fn program(body: &str, shape: (&str, &str, &str), data: [&str; 2], encodings: [&str; 2]) -> String {
    let (map, output, iterators) = shape;
    let ty = |n: usize| format!("tensor<4x4xi8{}>", encodings[n]);
    let modes = output.matches(char::is_alphabetic).count();
    let result = format!("tensor<{}i8>", "4x".repeat(modes));
    let operand = |name: &str, n: usize| {
        let convert = match encodings[n] {
            "" => format!("%{name} = tensor.cast %{name}0 : {0} to {0}", ty(n)),
            _ => format!(
                "%{name} = sparse_tensor.convert %{name}0 : tensor<4x4xi8> to {}",
                ty(n)
            ),
        };
        format!(
            "%{name}0 = arith.constant dense<{}> : tensor<4x4xi8>\n{convert}\n",
            data[n]
        )
    };
    let read = match modes {
        0 => format!("%p = tensor.extract %z[] : {result}\nvector.print %p : i8"),
        _ => {
            let places = vec!["%c0"; modes].join(", ");
            let vector = format!("vector<{}i8>", "4x".repeat(modes));
            format!(
                "%p = vector.transfer_read %z[{places}], %c : {result}, {vector}\n\
                 vector.print %p : {vector}"
            )
        }
    };
    let body = body.replace(" : i8 ", " : i8\n");
    format!(
        "#C = #sparse_tensor.encoding<{{ map = (i, j) -> (i : compressed, j : compressed) }}>\n\
         #T = #sparse_tensor.encoding<{{ map = (i, j) -> (j : dense, i : compressed) }}>\n\
         func.func @main() {{\n%c0 = arith.constant 0 : index\n%c = arith.constant 3 : i8\n{}{}\
         %e = arith.constant dense<90> : {result}\n\
         %z = linalg.generic {{ indexing_maps = [affine_map<(i, j) -> {map}>, \
         affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> {output}>], \
         iterator_types = [{iterators}] }} ins(%a, %b : {}, {}) outs(%e : {result}) {{\n\
         ^bb0(%x: i8, %y: i8, %o: i8):\n{body}\nlinalg.yield %r : i8\n}} -> {result}\n\
         {read}\nreturn\n}}\n",
        operand("a", 0),
        operand("b", 1),
        ty(0),
        ty(1),
    )
}

fn printed(text: &str) -> String {
    let run = || {
        let module = Module::parse(&Source::new("bits.mlir", text), None)?;
        module.verify()?;
        let mut output = Vec::new();
        let mut host = SessionHost::new(Session::new(Options::default()), &mut output);
        mlir_run::run(&module, "main", &mut host)?;
        drop(host);
        Ok::<_, sparsec::Diagnostic>(output)
    };
    match run() {
        Ok(output) => String::from_utf8_lossy(&output).into_owned(),
        Err(error) => panic!("{error}\n{text}"),
    }
}

#[test]
fn bodies_give_over_sparse_operands_what_they_give_over_dense_ones() {
    let mut seed = 7;
    for body in BODIES {
        for shape in SHAPES {
            let (a, b) = (entries(&mut seed), entries(&mut seed));
            let of = |encodings| program(body, *shape, [&a, &b], encodings);
            let dense = printed(&of(["", ""]));
            for encodings in [[", #C", ", #T"], [", #T", ""], ["", ", #C"]] {
                let text = of(encodings);
                assert_eq!(printed(&text), dense, "{text}");
            }
        }
    }
}

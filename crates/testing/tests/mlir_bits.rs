//! Bodies of bits have the same results over sparse operands, over dense ones, and evaluated at each
//! point.

use sparsec::internals::mlir::Module;
use sparsec::internals::mlir_host::SessionHost;
use sparsec::internals::mlir_run;
use sparsec::{Options, Session, Source};

/// Bodies of `%x`, `%y` (entries of the operands), `%o` (of the output) and the constant `%c`.
const BODIES: &[&str] = &[
    "%r = arith.ori %x, %y : i32",
    "%r = arith.xori %x, %c : i32",
    "%s = arith.shli %x, %c : i32 %r = arith.andi %s, %y : i32",
    "%s = arith.addi %x, %c : i32 %t = arith.ori %s, %x : i32 %r = arith.muli %t, %y : i32",
    "%s = arith.shrsi %c, %x : i32 %r = arith.maxui %s, %y : i32",
    "%s = arith.shrui %x, %c : i32 %t = arith.ori %s, %c : i32 %r = arith.minui %t, %y : i32",
    "%s = arith.andi %x, %y : i32 %r = arith.xori %o, %s : i32",
    "%s = arith.ori %x, %y : i32 %r = arith.addi %s, %o : i32",
    "%s = arith.shli %x, %c : i32 %t = arith.subi %o, %s : i32 %r = arith.ori %t, %y : i32",
    "%s = arith.ori %x, %c : i32 %r = arith.andi %o, %s : i32",
    "%s = arith.xori %x, %c : i32 %r = arith.addi %o, %s : i32",
    "%s = arith.xori %x, %o : i32 %r = arith.ori %o, %s : i32",
    "%s = math.ctpop %x : i32 %r = arith.addi %o, %s : i32",
    "%s = math.ctlz %y : i32 %r = arith.ori %x, %s : i32",
    "%s = arith.xori %x, %y : i32 %r = arith.maxui %o, %s : i32",
    "%s = arith.andi %x, %y : i32 %r = arith.minui %s, %o : i32",
    "%s = arith.shrui %x, %y : i32 %t = arith.andi %o, %s : i32 %r = arith.andi %t, %x : i32",
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
fn program(
    body: &str,
    shape: (&str, &str, &str),
    data: [&str; 2],
    encodings: [&str; 2],
    by_points: bool,
) -> String {
    let (map, output, iterators) = shape;
    let ty = |n: usize| format!("tensor<4x4xi32{}>", encodings[n]);
    let modes = output.matches(char::is_alphabetic).count();
    let result = format!("tensor<{}i32>", "4x".repeat(modes));
    let operand = |name: &str, n: usize| {
        let convert = match encodings[n] {
            "" => format!("%{name} = tensor.cast %{name}0 : {0} to {0}", ty(n)),
            _ => format!(
                "%{name} = sparse_tensor.convert %{name}0 : tensor<4x4xi32> to {}",
                ty(n)
            ),
        };
        format!(
            "%{name}0 = arith.constant dense<{}> : tensor<4x4xi32>\n{convert}\n",
            data[n]
        )
    };
    let read = match modes {
        0 => format!("%p = tensor.extract %z[] : {result}\nvector.print %p : i32"),
        _ => {
            let places = vec!["%c0"; modes].join(", ");
            let vector = format!("vector<{}i32>", "4x".repeat(modes));
            format!(
                "%p = vector.transfer_read %z[{places}], %c : {result}, {vector}\n\
                 vector.print %p : {vector}"
            )
        }
    };
    let body = body.replace(" : i32 ", " : i32\n");
    // Bits of floats have no operator.
    let (body, given) = match by_points {
        true => {
            let there_and_back =
                "%f = arith.bitcast %r : i32 to f32\n%g = arith.bitcast %f : f32 to i32";
            (format!("{body}\n{there_and_back}"), "%g")
        }
        false => (body, "%r"),
    };
    format!(
        "#C = #sparse_tensor.encoding<{{ map = (i, j) -> (i : compressed, j : compressed) }}>\n\
         #T = #sparse_tensor.encoding<{{ map = (i, j) -> (j : dense, i : compressed) }}>\n\
         func.func @main() {{\n%c0 = arith.constant 0 : index\n%c = arith.constant 3 : i32\n{}{}\
         %e = arith.constant dense<90> : {result}\n\
         %z = linalg.generic {{ indexing_maps = [affine_map<(i, j) -> {map}>, \
         affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> {output}>], \
         iterator_types = [{iterators}] }} ins(%a, %b : {}, {}) outs(%e : {result}) {{\n\
         ^bb0(%x: i32, %y: i32, %o: i32):\n{body}\nlinalg.yield {given} : i32\n}} -> {result}\n\
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
fn bodies_give_the_same_over_sparse_and_dense_operands_and_at_each_point() {
    let mut seed = 7;
    for body in BODIES {
        for shape in SHAPES {
            let (a, b) = (entries(&mut seed), entries(&mut seed));
            let of = |encodings| program(body, *shape, [&a, &b], encodings, false);
            let dense = printed(&of(["", ""]));
            let by_points = program(body, *shape, [&a, &b], ["", ""], true);
            assert_eq!(printed(&by_points), dense, "{by_points}");
            for encodings in [[", #C", ", #T"], [", #T", ""], ["", ", #C"]] {
                let text = of(encodings);
                assert_eq!(printed(&text), dense, "{text}");
            }
        }
    }
}

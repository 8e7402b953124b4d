//! Codes of notation, as they are shown.
//!
//! Length: one table, in the order of the codes.

use sparsec_base::{ElementType, Scalar, Source};
use sparsec_notation::{Declaration, Declarations, Notation};

/// A program that is refused, what is declared for it, and the diagnostic.
struct Refusal {
    text: &'static str,
    declare: fn(&mut Declarations),
    expect: &'static str,
}

fn nothing(_: &mut Declarations) {}

fn matrices(declarations: &mut Declarations) {
    for name in ["A", "B"] {
        declarations.declare(name, Declaration::with_order(2));
    }
}

fn matrix_and_vector(declarations: &mut Declarations) {
    declarations.declare("A", Declaration::with_order(2));
    declarations.declare("x", Declaration::with_order(1));
}

fn vector(declarations: &mut Declarations) {
    declarations.declare("x", Declaration::with_order(1));
}

fn two_lengths(declarations: &mut Declarations) {
    declarations.declare("x", Declaration::with_extents(&[3]));
    declarations.declare("z", Declaration::with_extents(&[4]));
}

fn complex_numbers(declarations: &mut Declarations) {
    for name in ["x", "z"] {
        declarations.declare(name, Declaration::with_order(1).of(ElementType::C64));
    }
}

fn truth_values(declarations: &mut Declarations) {
    for name in ["x", "z"] {
        let declaration = Declaration::with_order(1).of(ElementType::Bool);
        declarations.declare(name, declaration);
    }
}

fn integers(declarations: &mut Declarations) {
    let declaration = Declaration::with_order(1).of(ElementType::I32);
    declarations.declare("x", declaration);
}

const REFUSALS: &[Refusal] = &[
    Refusal {
        text: "y(i) = A(i,j) * X(j)",
        declare: matrix_and_vector,
        expect: r#"error[E0201]: unknown tensor `X`
 --> expression:1:17
  |
1 | y(i) = A(i,j) * X(j)
  |                 ^ no tensor has this name
  |
  = help: did you mean `x`?"#,
    },
    Refusal {
        text: "y(i) = sqr(x)",
        declare: vector,
        expect: r#"error[E0201]: unknown tensor `sqr`
 --> expression:1:8
  |
1 | y(i) = sqr(x)
  |        ^^^ no tensor has this name
  |
  = help: did you mean `sqrt`?"#,
    },
    Refusal {
        text: "y(i) = A(i) * x(i)",
        declare: matrix_and_vector,
        expect: r#"error[E0202]: `A` has order 2, but is used with 1 index
 --> expression:1:8
  |
1 | y(i) = A(i) * x(i)
  |        ^^^^ 1 index
  |
  = help: write an index for each mode: `A(i,j)`"#,
    },
    Refusal {
        text: "y(i) = x(i) + x(i,j)",
        declare: vector,
        expect: r#"error[E0202]: `x` has order 1, but is used with 2 indices
 --> expression:1:15
  |
1 | y(i) = x(i) + x(i,j)
  |        -      ^^^^^^ 2 indices
  |        |
  |        first used with 1 index
  |
  = help: write one index: `x(i)`"#,
    },
    Refusal {
        text: "C(i,j) = A(i,k) * B(k,j)",
        declare: |d| {
            let file = |extents: &[u64], origin: &str| Declaration {
                origin: origin.to_owned(),
                ..Declaration::with_extents(extents)
            };
            d.declare("A", file(&[100, 80], "read from `a.mtx`"));
            d.declare("B", file(&[40, 80], "read from `b.mtx`"));
        },
        expect: r#"error[E0203]: index variable `k` has two extents, 80 and 40
 --> expression:1:21
  |
1 | C(i,j) = A(i,k) * B(k,j)
  |              -      ^ mode 0 of `B` has extent 40
  |              |
  |              mode 1 of `A` has extent 80
  |
  = note: `A` is read from `a.mtx`
  = note: `B` is read from `b.mtx`
  = help: mode 1 of `B` has extent 80; did you mean `B(j, k)`?"#,
    },
    Refusal {
        text: "s = x(i) - z(i)",
        declare: two_lengths,
        expect: r#"error[E0203]: index variable `i` has two extents, 3 and 4
 --> expression:1:14
  |
1 | s = x(i) - z(i)
  |       -      ^ mode 0 of `z` has extent 4
  |       |
  |       mode 0 of `x` has extent 3
  |
  = help: give one of them another index, or take the part that fits: `z(i(0:3))`"#,
    },
    Refusal {
        text: "s = x(i) + i",
        declare: vector,
        expect: r#"error[E0204]: nothing says how far `i` runs
 --> expression:1:1
  |
1 | s = x(i) + i
  | ^^^^^^^^^^^^ a term has it only as a number
  |
  = help: give its extent (`-d i=…`), or read a tensor at `i` in each term that has it"#,
    },
    Refusal {
        text: "y(i) = x(i)",
        declare: |d| {
            d.declare("x", Declaration::with_extents(&[5]));
            d.set_extent("i", 7);
        },
        expect: r#"error[E0203]: index variable `i` has two extents, 7 and 5
 --> expression:1:10
  |
1 | y(i) = x(i)
  |          ^ mode 0 of `x` has extent 5
  |
  = note: `i` is given extent 7
  = help: leave out the extent given for `i`, or make it 5"#,
    },
    Refusal {
        text: "Z(0) = x(i); Z(0) = Z(0) * Z(k); y = Z(i)",
        declare: |d| {
            d.declare("x", Declaration::with_extents(&[5]));
            d.set_extent("i", 5);
        },
        expect: r#"error[E0203]: mode 0 of `Z` has two extents, 1 and 5
 --> expression:1:14
  |
1 | Z(0) = x(i); Z(0) = Z(0) * Z(k); y = Z(i)
  |              ^^^^^^^^^^^^^^^^^^ made of the value before it
  |
  = help: assign all of `Z` first, so that its extents are known"#,
    },
    Refusal {
        text: "C(i,j) = x(i)",
        declare: vector,
        expect: r#"error[E0204]: nothing says how far `j` runs
 --> expression:1:5
  |
1 | C(i,j) = x(i)
  |     ^ not on the right
  |
  = help: give its extent (`-d j=…`), or have `j` on the right too"#,
    },
    Refusal {
        text: "y(i) = A(i,j) * x(j)",
        declare: |d| {
            matrix_and_vector(d);
            d.declare("a", Declaration::default());
        },
        expect: r#"error[E0207]: the program has no tensor `a`
 --> expression:1:1
  |
1 | y(i) = A(i,j) * x(j)
  | ^^^^^^^^^^^^^^^^^^^^ no `a` in here
  |
  = help: did you mean `A`?"#,
    },
    Refusal {
        text: "y(i) = x(i)",
        declare: |d| {
            vector(d);
            d.set_extent("k", 7);
        },
        expect: r#"error[E0207]: the program has no index variable `k`
 --> expression:1:1
  |
1 | y(i) = x(i)
  | ^^^^^^^^^^^ no `k` in here
  |
  = help: leave out what is said of `k`"#,
    },
    Refusal {
        text: "y(i) = not x(i)",
        declare: vector,
        expect: r#"error[E0208]: `not` takes a truth value, not f64
 --> expression:1:12
  |
1 | y(i) = not x(i)
  |        --- ^^^^ this is f64
  |        |
  |        takes `bool`
  |
  = help: compare it: `x(i) != 0`"#,
    },
    Refusal {
        text: "y(i) = x(i) - z(i)",
        declare: truth_values,
        expect: r#"error[E0208]: operator `-` is not for truth values
 --> expression:1:13
  |
1 | y(i) = x(i) - z(i)
  |        ---- ^ ---- this is bool
  |        |    |
  |        |    takes numbers
  |        this is bool
  |
  = help: convert it: `i32(x(i))`"#,
    },
    Refusal {
        text: "y(i) = select(x(i), 1, 2)",
        declare: vector,
        expect: r#"error[E0208]: the condition of `select` takes a truth value, not f64
 --> expression:1:15
  |
1 | y(i) = select(x(i), 1, 2)
  |        ------ ^^^^ this is f64
  |        |
  |        takes `bool`
  |
  = help: compare it: `x(i) != 0`"#,
    },
    Refusal {
        text: "s = sum{k}(x(i))",
        declare: vector,
        expect: r#"error[E0209]: the reduction runs over `k`, but does not use it
 --> expression:1:9
  |
1 | s = sum{k}(x(i))
  |         ^ not in the body
  |
  = help: did you mean `i`?"#,
    },
    Refusal {
        text: "y(i) = sum{i}(A(i,j))",
        declare: matrices,
        expect: r#"error[E0210]: `i` is an index variable already
 --> expression:1:12
  |
1 | y(i) = sum{i}(A(i,j))
  |   -        ^ bound again
  |   |
  |   first here
  |
  = help: rename one of them"#,
    },
    Refusal {
        text: "s = (x(i) - 1)*2 + A(j,j)",
        declare: matrix_and_vector,
        expect: r#"error[E0211]: the sum over `i` could stand in two places
 --> expression:1:8
  |
1 | s = (x(i) - 1)*2 + A(j,j)
  |        ^  - before or after this?
  |        |
  |        `i` is not on the left
  |
  = help: write `sum{i}((x(i) - 1) * 2)` or `(sum{i}(x(i)) - 1) * 2`"#,
    },
    Refusal {
        text: "y(i) = sqrt(A(i,j))",
        declare: matrices,
        expect: r#"error[E0211]: the sum over `j` could stand in two places
 --> expression:1:17
  |
1 | y(i) = sqrt(A(i,j))
  |        ----     ^ `j` is not on the left
  |        |
  |        before or after this?
  |
  = help: write `sum{j}(sqrt(A(i,j)))` or `sqrt(sum{j}(A(i,j)))`"#,
    },
    Refusal {
        text: "y(i) = x(i) / A(i,j)",
        declare: matrix_and_vector,
        expect: r#"error[E0211]: the sum over `j` could stand in two places
 --> expression:1:19
  |
1 | y(i) = x(i) / A(i,j)
  |             -     ^ `j` is not on the left
  |             |
  |             before or after this?
  |
  = help: write `sum{j}(x(i) / A(i,j))` or `x(i) / sum{j}(A(i,j))`"#,
    },
    Refusal {
        text: "y(i) = coshh(x(i) + 1)",
        declare: vector,
        expect: r#"error[E0212]: unknown function `coshh`
 --> expression:1:8
  |
1 | y(i) = coshh(x(i) + 1)
  |        ^^^^^ no function has this name
  |
  = help: did you mean `cosh`?"#,
    },
    Refusal {
        text: "s = summ{i}(x(i))",
        declare: vector,
        expect: r#"error[E0212]: unknown reduction `summ`
 --> expression:1:5
  |
1 | s = summ{i}(x(i))
  |     ^^^^ no reduction has this name
  |
  = help: did you mean `sum`?"#,
    },
    Refusal {
        text: "y(i) = max(x(i), 1, 2)",
        declare: vector,
        expect: r#"error[E0213]: `max` takes 2 arguments, here it has 3
 --> expression:1:8
  |
1 | y(i) = max(x(i), 1, 2)
  |        ^^^ takes 2 arguments
  |
  = help: nest it: `max(max(a, b), c)`; over an index, `max{i}(…)`"#,
    },
    Refusal {
        text: "y(i) = A(i*j, j)",
        declare: matrices,
        expect: r#"error[E0214]: `i*j` is no index
 --> expression:1:10
  |
1 | y(i) = A(i*j, j)
  |          ^^^ a product of variables
  |
  = help: multiply variables by numbers only"#,
    },
    Refusal {
        text: "y(i) = x(i(9:2))",
        declare: vector,
        expect: r#"error[E0215]: a window that ends before it begins
 --> expression:1:12
  |
1 | y(i) = x(i(9:2))
  |            ^^^ this window
  |
  = help: write the smaller bound first"#,
    },
    Refusal {
        text: "y(i) = x(i({}))",
        declare: vector,
        expect: r#"error[E0216]: a set of no coordinates
 --> expression:1:12
  |
1 | y(i) = x(i({}))
  |            ^^ lists nothing
  |
  = help: list at least one coordinate"#,
    },
    Refusal {
        text: "y(i) = 0 < x(i) < 1",
        declare: vector,
        expect: r#"error[E0217]: comparisons do not chain
 --> expression:1:17
  |
1 | y(i) = 0 < x(i) < 1
  |                 ^ compares a truth value
  |
  = help: write `a < b and b < c`"#,
    },
    Refusal {
        text: "y(i) = x(i) + 1",
        declare: |d| {
            vector(d);
            d.declare(
                "y",
                Declaration {
                    fill: Some(Scalar::F64(2.0)),
                    ..Declaration::default()
                },
            );
        },
        expect: r#"error[E0218]: `y` is declared with fill 2.0, but has fill 1.0
 --> expression:1:1
  |
1 | y(i) = x(i) + 1
  | ^^^^^^^^^^^^^^^ 1.0 where nothing is stored
  |
  = help: leave the declared fill out, or change the expression"#,
    },
    Refusal {
        text: "y(i) = x(i) + 3000000000",
        declare: integers,
        expect: r#"error[E0219]: `3000000000` does not fit in i32
 --> expression:1:15
  |
1 | y(i) = x(i) + 3000000000
  |               ^^^^^^^^^^ used as i32
  |
  = help: convert the other side: `i64(x(i))`"#,
    },
    // A half is computed with as `f32`, which is not the type of the tensor.
    Refusal {
        text: "y(i) = x(i) + 1e300",
        declare: |d| {
            let half = Declaration::with_extents(&[3]).of(ElementType::F16);
            d.declare("x", half);
        },
        expect: r#"error[E0219]: `1e300` does not fit in f16
 --> expression:1:15
  |
1 | y(i) = x(i) + 1e300
  |               ^^^^^ used as f16
  |
  = help: convert the other side: `f64(x(i))`"#,
    },
    Refusal {
        text: "y(i) = 3000000000",
        declare: |d| d.declare("y", Declaration::with_extents(&[3]).of(ElementType::I32)),
        expect: r#"error[E0219]: `3000000000` does not fit in i32
 --> expression:1:8
  |
1 | y(i) = 3000000000
  |        ^^^^^^^^^^ used as i32
  |
  = help: give the result the type i64"#,
    },
    Refusal {
        text: "LARGE",
        declare: nothing,
        expect: r#"error[E0220]: a statement with more than 500 operators and parentheses
 --> expression:1:2007
  |
1 | ...1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1
  |                                                              ^ one too many
  |
  = help: give parts of it names, in statements of their own"#,
    },
    Refusal {
        text: "inf(i) = x(i)",
        declare: vector,
        expect: r#"error[E0221]: `inf` cannot be the name of a tensor to assign
 --> expression:1:1
  |
1 | inf(i) = x(i)
  | ^^^ has a meaning of its own
  |
  = help: choose another name"#,
    },
    Refusal {
        text: "y(i) = x(i) * (1 // 0)",
        declare: vector,
        expect: r#"error[E0222]: an integer is divided by zero
 --> expression:1:16
  |
1 | y(i) = x(i) * (1 // 0)
  |                ^^^^^^ the same for all data
  |
  = help: divide by another number, or with `/`, which gives a float"#,
    },
    Refusal {
        text: "y(i) = 2 * x(i) < z(i)",
        declare: complex_numbers,
        expect: r#"error[E0223]: operator `<` is not for complex numbers
 --> expression:1:17
  |
1 | y(i) = 2 * x(i) < z(i)
  |        -------- ^ ---- this is c64
  |        |        |
  |        |        takes real numbers
  |        this is c64
  |
  = help: take a part of it: `abs(2 * x(i))`"#,
    },
    Refusal {
        text: "s = max{i}(x(i))",
        declare: complex_numbers,
        expect: r#"error[E0223]: `max` is not for complex numbers
 --> expression:1:5
  |
1 | s = max{i}(x(i))
  |     ^^^^^^^----^
  |     |      |
  |     |      this is c64
  |     takes real numbers
  |
  = help: take a part of it: `abs(x(i))`"#,
    },
    Refusal {
        text: "y(i) = f32(x(i) * z(i))",
        declare: complex_numbers,
        expect: r#"error[E0224]: a complex number is no f32
 --> expression:1:12
  |
1 | y(i) = f32(x(i) * z(i))
  |            ^^^^^^^^^^^ this is c64
  |
  = help: take a part of it: `real(x(i) * z(i))`"#,
    },
];

fn diagnostic(refusal: &Refusal) -> sparsec_base::Diagnostic {
    let mut declarations = Declarations::new();
    (refusal.declare)(&mut declarations);
    let text = match refusal.text {
        "LARGE" => format!("s = {}1", "1 + ".repeat(501)),
        text => text.to_owned(),
    };
    let notation = Notation::parse(&Source::new("expression", text));
    notation
        .and_then(|notation| notation.resolve(&declarations))
        .expect_err(refusal.text)
}

#[test]
fn refusals_say_what_is_wrong_and_where() {
    for refusal in REFUSALS {
        let shown = diagnostic(refusal).to_string();
        let shown: Vec<&str> = shown.lines().map(str::trim_end).collect();
        assert_eq!(shown.join("\n"), refusal.expect, "for `{}`", refusal.text);
    }
}

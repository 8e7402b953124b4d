//! Types of values, numbers, and sizes of statements.

use sparsec_base::{ElementType, Scalar};
use sparsec_notation::Declaration;

use super::{Refusal, complex_numbers, integers, nothing, truth_values, vector};

pub(super) const REFUSALS: &[Refusal] = &[
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

//! Names of tensors, index variables and functions, and where sums stand.

use sparsec_notation::Declaration;

use super::{Refusal, matrices, matrix_and_vector, vector};

pub(super) const REFUSALS: &[Refusal] = &[
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
];

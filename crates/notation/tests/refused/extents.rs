//! Extents of index variables, and the indices that say them.

use sparsec_notation::Declaration;

use super::{Refusal, matrices, two_lengths, vector};

pub(super) const REFUSALS: &[Refusal] = &[
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
  = help: give its extent (`.extent("i", …)`), or read a tensor at `i` in each term that has it"#,
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
  = help: give its extent (`.extent("j", …)`), or have `j` on the right too"#,
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
];

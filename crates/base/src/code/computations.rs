//! `E08..`: computations over relations and their transformations.

use super::codes;

codes! {
    COMPUTATION_UNKNOWN = "E0801", "a name that a computation does not declare",
    "Every name in a computation is a parameter, a data space, or a variable of the statement's
iteration space. Index arrays are data spaces too: `function` says what is known of one.

    s0: y(i) = 2 * X(i)
                   ^ did you mean `x`?

Declare it: `parameters N`, `given x : f64[N]`.";
    COMPUTATION_NAME = "E0802", "a name that means two things in a computation",
    "Parameters, data spaces, statements and variables have names of their own, other than the words
of the language.

    given y : f64[N]
    s0: y(i) = 0  over {[y, i] : 0 <= i < N}
                         ^ data already

Rename one of them.";
    COMPUTATION_NOT_INTEGER = "E0803", "data in a set or an index that are not integers",
    "Iteration spaces, schedules, extents and indices are integers. What they call as a function is an
array of integers (`i8` to `i64`, `u8` to `u32`); what they name as a constant, a parameter or an
integer without extents.

    given A : f64[N]
    s0: y(A(i)) = 1  over {[i] : 0 <= i < N}
          ^ an array of `f64`

Keep coordinates in an array of integers.";
    COMPUTATION_TYPES = "E0804", "values whose types do not fit",
    "Both sides of an operation have one type, and so have a target and its value. Integers of all
widths are one type, a literal takes the type that is asked for, and `f32(…)` and `f64(…)` convert. Types
other than integers, `f32` and `f64` are only copied.

    given A : f64[N], B : f32[N]
    s0: y(i) = A(i) * B(i)
                      ^^^^ `f32` here, and `f64` before

Write `A(i) * f64(B(i))`.";
    COMPUTATION_GIVEN = "E0805", "given data that a statement writes",
    "What is `given` keeps its entries. Data that are given and changed are `inout`.

    given y : f64[N]
    s0: y(i) += 1
        ^^^^ given

Declare it `inout`, or write to other data.";
}

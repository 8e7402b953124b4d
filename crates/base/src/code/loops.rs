//! `E06..`: loop IR, given as text or built wrongly.

use super::codes;

codes! {
    LOOP_UNKNOWN_NAME = "E0601", "a name that is not declared here",
    "Every variable and buffer is declared before its use, and a variable is visible only up to the
end of the block that declares it.

    for i in 0..n { let p: i64 = i * m }
    y.vals[p] = 0.0
           ^ `p` is no longer visible

Declare the variable before the loop, as in `var p: i64 = 0`, or move its use into the block.";
    LOOP_DUPLICATE_NAME = "E0602", "a name that is declared twice",
    "Variables and buffers share one set of names in a function, and no name is declared twice, not
even in blocks apart from each other: whoever reads the kernel finds one meaning for each name.

    for i in 0..n { let p: i64 = 2 * i }
    for j in 0..n { let p: i64 = 3 * j }
                        ^ declared above

Choose another name for one of them.";
    LOOP_TYPE = "E0603", "types that do not agree",
    "Operations take operands of one type, and nothing is converted silently. Indices, lengths and
loop bounds are `i64`; conditions are `bool`; `/` and functions such as `sqrt` are for floats;
arithmetic is not for `bool`.

    y.vals[i] = A.vals[p] * 2
                            ^ i64, where f64 is needed

Write the constant in the right type (`2.0`, `2i32`, `2.0f32`) or convert the value: `f64(n)`.";
    LOOP_IMMUTABLE = "E0604", "an assignment to a variable that never changes",
    "Only variables declared with `var` may be assigned. Those declared with `let`, loop variables
and extents keep their first value.

    let t: f64 = 0.0
    t += x.vals[i]
    ^ declared with `let`

Declare it as `var t: f64 = 0.0`.";
    LOOP_ACCESS = "E0605", "a buffer that is not for this",
    "The signature says what a kernel does with each buffer. A `read` buffer is never stored to;
only `grow` buffers are grown and resized; only workspaces are allocated; only arrays of integers
are sorted.

    in x \"(i) -> (i : dense)\" { extent x.n0, read x.vals: f64 }
    x.vals[i] = 0.0
    ^ `x.vals` is only read

Change the access in the signature (`write x.vals: f64`), which only an `out` argument may have.";
    LOOP_SIGNATURE = "E0606", "an argument list that is not valid",
    "An extent is an `i64` that never changes. An `in` argument has only `read` buffers; an `out`
argument has no workspaces. Each extent and each buffer belongs to one argument, arguments have
distinct names, and a buffer is stored as its compute type or as a narrower one of the same kind:
`i64 as i32`, `f64 as f32`.

    in x \"(i) -> (i : dense)\" { extent x.n0, write x.vals: f64 }

Make the argument an `out` argument, or the buffer `read`.";
    LOOP_LIFETIME = "E0607", "a buffer that is not allocated or resized once",
    "A workspace is allocated once, outside of loops, and used only after that, within the block
that allocates it. A `grow` buffer is resized exactly once on every path that returns without an
error, and never inside a loop: that is how the caller learns its length.

    for i in 0..n {
      alloc w: f64[m]
      ^ inside a loop

Allocate before the loop, and clear the workspace inside: `fill w[0..m], 0.0`.";
    LOOP_NAME = "E0608", "a name or text that does not read back",
    "Names are letters, digits and `_`, with `.` between them, and do not begin with a digit. Words
of the language such as `for`, `min` or `f64` name no variable and no buffer. The text of an
argument has no quote and no line break.

    let min: i64 = 0
        ^ a word of the language

Choose another name, such as `least`.";
    NO_MACHINE_CODE = "E0609", "a kernel that cannot be made in memory",
    "With `--backend cranelift`, and at first with `--backend auto`, kernels become machine code in
memory without a compiler. That takes a 64-bit processor that Cranelift knows (x86-64 with SSE4.1,
AArch64, RISC-V, s390x), and a system that lets programs run code that they made: hardened ones
refuse it.

    sparsec run 'y(i) = A(i,j) * x(j)' -i A=web.mtx -g x=ones --backend cranelift

Use a C compiler with `--backend c`, or the interpreter with `--backend interp`.";

    NOT_KEPT = "E0610", "a kernel that cannot be kept as C",
    "`--emit header` makes C that other programs call: `assemble_NAME`, `compute_NAME` and
`evaluate_NAME`. The name, that of the result or what `--name` says, has to be one that functions of
C may have, and the result one whose arrays the kernel can allocate.

    sparsec compile 'y(i) = A(i,j) * x(j)' --emit c --emit header --name 2d     2d is no name in C

Use letters, digits and `_` that begin with a letter.";
}

//! `E02..`: index notation.

use super::codes;

codes! {
    UNKNOWN_TENSOR = "E0201", "unknown tensor",
    "A tensor that is read has to be given by the caller or computed by an earlier statement, and
this name is neither.

    y(i) = A(i,j) * X(j)
                    ^ no tensor has this name

Give it (`-i X=FILE`, `-g X=dense:ones`), or correct the name; case matters. An index variable is
not a value: write its numbers into a tensor (`-g n=dense:iota`) and read that.";
    WRONG_ORDER = "E0202", "a tensor used with the wrong number of indices",
    "A tensor is used with one index variable for each of its modes, everywhere.

    y(i) = A(i) * x(i)       A is a matrix
           ^^^^ one index, but `A` has order 2

Name all modes (`A(i,j)`). A scalar has none: `s` or `s()`.";
    EXTENT_MISMATCH = "E0203", "an index variable with two extents",
    "An index variable runs over one range within a statement, so all modes that it stands in have
the same extent.

    C(i,j) = A(i,k) * B(k,j)      A is 100x80, B is 40x80
                 ^      ^ mode 0 of `B` has extent 40
                 mode 1 of `A` has extent 80

Check the order of the indices (here `B(j,k)` fits), the files, and the extents given with
`-d i=EXTENT`.";
    UNBOUND_INDEX = "E0204", "an index variable without a range",
    "An index variable on the left that no operand on the right has tells nothing about how far it
runs, so its extent has to be given.

    C(i,j) = a(i)
        ^ no operand says how far `j` runs

Give it with `-d j=EXTENT`, or leave it out.";
    READ_BEFORE_ASSIGNED = "E0206", "a tensor that is read before it has a value",
    "A statement reads the value that its tensors have by then. A name that statements assign has one
only behind the first of them, unless it is given one to begin with.

    y(i) = t(i) + b(i)
           ^ read here
    t(i) = 2 * b(i)
    ^ assigned here

Put the statement that assigns it first; or give it: `-i t=FILE`, `-g t=dense:ones`. A name may be
assigned as often as one likes, also from its own value: `A(i) = A(i) + b(i)`.";
    UNUSED_NAME = "E0207", "a name that the program does not have",
    "Something was said about a tensor or an index variable that no statement names. Most often the
name is mistyped.

    sparsec run 'y(i) = A(i,j) * x(j)' -f a=csr …
                                          ^ there is `A`

Correct the name, or leave the option out.";
    TYPE_MISMATCH = "E0208", "an operator on a type that it is not for",
    "`not`, `and`, `or`, the condition of `select` and the reductions `and{k}` and `or{k}` take truth
values; `-`, `//`, `%`, `abs`, `relu` and `sign` do not.

    m(i) = not x(i)            x holds numbers
           ^^^ takes `bool`

Compare numbers to get a truth value (`x(i) != 0`); cast a truth value to get a number
(`i32(m(i))`).";
    UNUSED_REDUCTION = "E0209", "a reduction over an unused index variable",
    "A reduction names the index variables that it runs over, and every one of them has to stand in
its body. Otherwise nothing says how far it runs.

    s = sum{k}(x(i))
            ^ not in the body

Leave it out, or correct the name.";
    SHADOWED_INDEX = "E0210", "an index variable bound twice",
    "Inside a reduction its variables belong to it, so none of them can be a variable of the left
side or of a reduction around it.

    y(i) = sum{i}(A(i,j))
               ^ `i` is a variable of the left side already

Rename one of them.";
    AMBIGUOUS_SUM = "E0211", "an implied sum that could stand in two places",
    "The right side is a sum of terms. An index variable that is not on the left is summed over
each term in which it occurs, over the whole term:

    y(i) = A(i,j) * x(j) + z(i)           sum{j}(A(i,j) * x(j)) + z(i)
    y(i) = (A(i,j) - c(i)) * x(j)         sum{j}((A(i,j) - c(i)) * x(j))

A term is refused if the variable occurs only in summands of a `+` or `-` beside one that lacks
it, in a divisor, or in the argument of a function or a cast. The sum could be meant inside or
outside there, with different results:

    s = (A(i) - 1) * 2         `sum{i}((A(i) - 1) * 2)` or `(sum{i}(A(i)) - 1) * 2`
    y(i) = x(i) / A(i,j)       `sum{j}(x(i) / A(i,j))` or `x(i) / sum{j}(A(i,j))`
    y(i) = sqrt(A(i,j))        `sum{j}(sqrt(A(i,j)))` or `sqrt(sum{j}(A(i,j)))`

Write the one that you mean. `y(i) min= ...` and the like reduce the whole right side instead.";
    UNKNOWN_FUNCTION = "E0212", "unknown function",
    "These are the functions:

    abs sqrt cbrt exp exp2 expm1 log log2 log10 log1p pow hypot
    sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh erf copysign fma
    floor ceil round trunc min max relu sign select isnan isinf isfinite conj real imag
    bitand bitor bitxor shl shr popcount clz ctz

and the names of types, which convert: `f32(x)`. `sum prod min max or and bitand bitor bitxor` with index variables in
braces reduce: `max{j}(A(i,j))`.";
    ARGUMENT_COUNT = "E0213", "a function with the wrong number of arguments",
    "`pow`, `hypot`, `atan2`, `copysign`, `min`, `max`, `bitand`, `bitor`, `bitxor`, `shl` and `shr` take two
arguments, `select` (a condition, the value where it holds, the value where not) and `fma` take three, and
every other function takes one.

    y(i) = max(a(i), b(i), c(i))
           ^^^ takes 2 arguments

Call it twice: `max(max(a(i), b(i)), c(i))`.";
    AFFINE_INDEX = "E0214", "an index that is no coordinate",
    "An index is a sum of variables times numbers, with quotients and remainders by numbers. What
lies outside of a tensor is not stored: it has the tensor's fill.

    y(i) = x(2*i + r - 1) * k(r)          C(i,j) = B(i // 4, j // 4, i % 4, j % 4)

    y(i) = x(i*r)
             ^^^ a product of variables

Read other coordinates through a tensor: `y(i) = sum{j}(S(i,j) * x(j))` with `S` storing true where
`j` is the coordinate for `i`.";
    WINDOW = "E0215", "a window that is not inside its mode",
    "`i(from:to:step)` selects the coordinates `from`, `from + step` and so on below `to`; the
variable counts them from 0. They have to be coordinates of the mode.

    y(i) = A(i(2:9), j) * x(j)            7 rows of a matrix of 9 or more
              ^^^^^ mode 0 of `A` has extent 8, not 9

End the window at the extent. To read beyond it, where nothing is stored, write `A(i + 2, j)`.
Steps are 1 or more: to count down from 8, write `A(8 - i, j)`.";
    INDEX_SET = "E0216", "a set that does not list coordinates of its mode",
    "`i({4,1,7})` selects the coordinates of a list, in its order; the variable counts them from 0. A
coordinate may be listed twice. Each has to be one of the mode.

    y(i) = A(i({4,1,7}), j) * x(j)        row 4 first, then row 1, then row 7
              ^^^^^^^^^ mode 0 of `A` has extent 7

List coordinates below the extent, and at least one.";
    CHAINED_COMPARISON = "E0217", "comparisons in a chain",
    "A comparison gives a truth value, and comparing that again is seldom what is meant.

    m(i) = a(i) < b(i) < c(i)
                       ^ compares a truth value

Write `a(i) < b(i) and b(i) < c(i)`, or put parentheses around one of them.";
    FILL_MISMATCH = "E0218", "a declared fill that a tensor does not have",
    "The value of a result where nothing is stored follows from the expression: it is the expression
of the fills of its operands. A declaration may repeat it, but not change it.

    y(i) = x(i) + 1           x has fill 0, so y has fill 1

A conversion keeps the fill of a tensor, too.

Leave the declaration out, or change the expression. A file that lists entries is read with another
fill if its format declares one: `-f 'A=csr, fill 1'`, or `--from 'csr, fill 1'`.";
    LITERAL_RANGE = "E0219", "a number that its type does not hold",
    "A number in an expression takes the type of what it stands beside, and an integer type holds only
so much: `i32` from -2147483648 to 2147483647.

    B(i,j) = A(i,j) + 3000000000        A holds i32
                      ^^^^^^^^^^ not an i32

Convert the other side: `i64(A(i,j)) + 3000000000`.";
    STATEMENT_TOO_LARGE = "E0220", "a statement with too many parts",
    "A statement may have at most 500 operators, calls and parentheses, at most 100 of them inside one
another, so that no stage of the compiler runs out of stack.

Split it: give parts of it names in statements of their own.";
    INVALID_NAME = "E0221", "a name that cannot be used here",
    "Names of tensors and index variables are letters, digits and `_`. The words `not`, `and`, `or`,
`true`, `false`, `inf` and `nan` have a meaning of their own, and names with a point are kept for
the arrays of a tensor, such as `A.vals`.

    inf(i) = x(i) / 0
    ^^^ has a meaning of its own

Choose another name.";
    CONSTANT_ERROR = "E0222", "a constant that cannot be worked out",
    "Part of the expression is the same for all data, and working it out is an error: an integer is
divided by zero, or a number is converted to an integer type that does not hold it.

    y(i) = x(i) * (1 // 0)
                     ^^ divides by zero

Correct the constant. `/` divides numbers of any type and gives `inf` or `nan`.";
    COMPLEX_OPERATION = "E0223", "an operation that complex numbers do not have",
    "Complex numbers have no order, so `<`, `min`, `max`, `sign` and `relu` do not take them, nor do
`//`, `%` and functions that are for real numbers alone.

    s = max{i}(z(i))        z holds c128
        ^^^ takes real numbers

Take a part of them that has what you need: `abs(z(i))`, `real(z(i))` or `imag(z(i))`.";
    COMPLEX_AS_REAL = "E0224", "a complex number where a real one is needed",
    "A complex number becomes a real one only where the program says which part of it: no conversion
drops the imaginary part. That holds for casts and for results that are declared real.

    y(i) = f64(z(i))        z holds c128
               ^^^^ this is c128

Take a part of it: `real(z(i))`, `imag(z(i))` or `abs(z(i))`.";
    PARTIAL_RESULT = "E0225", "a left side that cannot be solved",
    "A part of a tensor is assigned entry by entry: for each entry it has to be known which values of
the index variables on the left name it. That is so of sums of variables with factors, windows, sets
of up to 64 coordinates, each once, and of blocks (`i // 4, i % 4`).

    A(i({4,4}), j) += B(i,j)
    ^^^^^^^^^^^^^^ is row 4 that of i = 0 or of i = 1?

Compute the coordinates on the right, where what lies outside of a tensor is not stored:
`y(i) = x(i - 1)`.";
    TENSOR_OR_INDEX = "E0226", "a name of an index variable and of a tensor",
    "Where an index variable stands by itself, it is a number: the coordinate. A tensor of the same
name, used without indices, would read just so.

    y(i) = b(i) + i
                  ^ the coordinate, or the number in the tensor `i`?

Rename one of them.";
    REPEATED_ENTRY = "E0227", "an entry that is assigned several values",
    "Several values of the index variables name one entry on the left, and `=` does not say which of
the values it gets.

    A(i // 2) = b(i)
    ^^^^^^^^^ entry 0 for i = 0 and for i = 1

Say how the values are combined: `A(i // 2) += b(i)`, or with `max=` and the like.";
    ASSIGNED_OUTSIDE = "E0228", "an entry assigned outside of its tensor",
    "What is read outside of a tensor is not stored; there is nothing that could be assigned there.

    A(i + 1, j) = B(i,j)       `A` and `B` have as many rows
      ^^^^^ up to the extent

Assign a window whose coordinates are all inside (`A(i(1:4), j) = …`), or let the variable run less
far (`-d i=3`).";
    FUNCTION_BODY = "E0240", "a function of more than its parameters",
    "The body of a function of your own is an expression over its parameters: values without indices.
It sees no tensors and no index variables, does not reduce, and calls only functions defined before
it, so never itself.

    def scaled(x) = x * s
                        ^ a function sees only its parameters

Make what it needs a parameter, `def scaled(x, s) = x * s`, and reduce where it is called.";
    FUNCTION_NAME = "E0241", "a function with a name that is taken",
    "A function of your own needs a name that no function, reduction or type has. It may be defined
twice if both definitions say the same.

    def abs(x) = max(x, -x)
        ^^^ taken

Choose another name.";
    FUNCTION_PROPERTY = "E0242", "a property that a function cannot have",
    "Behind the `:` of a definition stand its properties:

    commutative, associative, idempotent      of functions of two arguments
    identity V                                of functions of two arguments
    annihilator V, annihilator V at NAME      V is a number, NAME a parameter

For example: `def plus_mod7(a, b) = (a + b) % 7 : associative, commutative, identity 0`.";
    PROPERTY_FAILS = "E0243", "a declared property that does not hold",
    "Loops are derived from what is declared of a function, so a wrong property would give wrong
results. Each is tried on a sample of numbers, and one of them shows that it does not hold:

    def mean(a, b) = (a + b) / 2 : associative, commutative
        ^^^^ mean(mean(0, 0), 1) is 0.5, mean(0, mean(0, 1)) is 0.25

What holds of integers need not hold of floats, nor what holds of real numbers of complex ones, so a
property is tried for the types of each call, too. Leave it out, correct the function, or state the type
that it holds of, as in `mul_mod5(a: i64, b: i64)`. Passing the trial is no proof: what is declared is
believed.";
    NO_REDUCTION = "E0244", "a function that does not reduce",
    "`sum prod min max or and` reduce. Functions of one value, such as `sin`, stand inside of a reduction:
`sum{j}(sin(x(j)))`. A function of your own reduces, as `f{k}(…)` or `f=`, if it takes two arguments of a
type and gives that type, and is declared associative, commutative and to have an identity of that type:

    def plus_mod7(a, b) = (a + b) % 7 : associative, commutative, identity 0
    s = plus_mod7{i}(x(i))

The identity is what a reduction over nothing gives.";
    NO_DERIVATIVE = "E0245", "a program without a derivative",
    "`--emit gradient=A` writes the derivatives of the last result by the entries of `A`. There are none
by integers and truth values, through `prod`, `and` and `or` as reductions, through complex numbers,
through assignments to a part of a tensor, and by an operand that the last result does not depend on:

    p = prod{i}(A(i))
        ^^^^ no derivative here

A product of positive numbers is `exp(sum{i}(log(A(i))))`. Where the derivative reads a value whose name
is assigned again, or sums over a variable without an extent, give the value a name of its own, in a
statement of its own.";
}

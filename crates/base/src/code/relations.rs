//! `E07..`: relations, their declarations and operations.

use super::codes;

codes! {
    RELATION_TOO_LARGE = "E0701", "a relation of too many parts",
    "A choice in a relation, and a comparison of tuples such as `[a, b] < [c, d]`, become parts of a
union: `a < c`, or `a = c && b < d`. Several of them multiply, and a text may have 256 parts.

    {[i] -> [j] : [i, j] != [0, 1] && [i, j] != [1, 0] && [i, j] != [2, 0] && …}
                                                                           ^ too many

Compare integers where that is enough, or split the relation into several.";
    BAD_DECLARATION = "E0702", "a declaration that does not fit",
    "A function or an order is declared once. The range of a function is a set of integers, and only
a function of one argument is `increasing` or the like; an order relates tuples of one length.

    function P : {[i, j]} -> {[n]} increasing
                                   ^^^^^^^^^^ in which argument?

Say what else there is to know with `forall`.";
    KEY_MISUSED = "E0703", "a key compared with something else",
    "`LEX(i, j)` and the keys of declared orders are tuples, not integers. They compare with a key of
the same name and as many arguments; declared orders only by `<` and `>`.

    forall n : 0 <= n => LEX(row(n), col(n)) < 5
                         ^^^^^^^^^^^^^^^^^^^^^^^ a tuple and an integer

Compare two keys: `forall n1, n2 : n1 < n2 => LEX(row(n1)) < LEX(row(n2))`.";
    RELATION_NOT_EXACT = "E0704", "a difference of relations that cannot be written",
    "What is not in a relation is a union of conjunctions only if each comparison can be turned round.
That fails for a variable that only has to exist and cannot be eliminated, and for a call that may have
no value: where `f(i)` has none, neither `f(i) = j` nor `f(i) != j` holds.

    {[i] -> [j]}  minus  {[i] -> [j] : exists k : i = 2 * k}
                                       ^^^^^^^^ `i mod 2 = 0` says the same without it

Use `mod` and `floordiv`, declare the domains of functions, or restrict the first relation to them.";
    RELATION_NOT_SOLVED = "E0705", "an element that the constraints do not determine",
    "To be written as a function, a relation has to give each element of its second tuple from the
first: by an equality, by an injective function of it, as quotient and rest of a division, or as the
number of the strip that an element lies in. A note says if a budget of the proof ran out.

    {[i] -> [j] : 0 <= j < i}
             ^ many values

Add what determines it, or declare a function that it is an argument of as `injective` or
`increasing`.";
    SCAN_UNBOUNDED = "E0706", "a variable that no loop can bound",
    "A loop goes over a variable between a lower and an upper bound that are known outside of it. They
are comparisons of the variable, or follow from all comparisons and declarations together.

    {[i, j] : 0 <= i < N && i <= j}
        ^ no upper bound

Add the bound that is missing, or declare the domains and ranges of the functions that it is compared
with.";
    SCAN_DOMAIN = "E0707", "a function that loops cannot call",
    "Loops look functions up in arrays, so it has to be known for which arguments they have values:
none is looked up outside. A domain is one conjunction, without `exists`.

    {[i, j] : 0 <= i < N && j = f(i)}
                                ^ has it a value for every i?

Declare the function: `function f : {[i] : 0 <= i < N} -> {[j] : 0 <= j < M}`.";
    MAY_BE_OUTSIDE = "E0708", "an entry that may be outside of its array",
    "Kernels look entries up without testing indices, so each is proved to lie within the extents of its
array, at every point, from the iteration space and what is declared.

    s1: y(i) += A(p) * x(crd(p)) over {[i, p] : …}
    ^^ is `0 <= crd(p) < M` at every point?

Declare the range of the function, `function crd : {[p] : 0 <= p < NZ} -> {[j] : 0 <= j < M}`, or add the
comparison to the iteration space. Keys on a curve, as `MORTON(i, j)`, are in no array: give them as data.";
    FOLLOWS_RESULT = "E0709", "loops that follow an array being computed",
    "Loops follow data that are complete: what is given, and what earlier stages of the computation
have written. A stage begins where the first number of the schedules grows and a statement follows what the
stage before wrote. Within a stage no set, schedule, index or key may speak of data that it writes, and
no extent or bound of a function.

    s0: pos(i + 1) = count(i) over … at [0, i]
    s1: y(i) += A(p) over {[i, p] : pos(i) <= p < pos(i + 1)} at [0, i, p]
    ^^ follows what `s0` writes

Schedule it later: `at [1, i, p]`. Lengths of results are computed only where these are lists.";
    KEY_RANGE = "E0710", "a number of a key function that may be too large, or of the wrong sign",
    "The numbers of a key function are integers from -2^62 up to 2^128, and its result has as many bits
as it states. sparsec follows the least and the largest value of each number through all iterations, and
refuses a key in which one may be outside. Shifts and operations on bits take numbers from 0 on, and
divisions a divisor above 0.

    key SUM(i : 31, j : 31) : 31 { return i + j }
                                          ^^^^^ up to 2^32 - 2

State more bits, or take those that a number has: `(i + j) and 2147483647`.";
    KEY_STEPS = "E0711", "a key function of too many steps",
    "A key is computed for each entry, so its loops run over constant ranges, and a key takes at most
10000 assignments, counted in all iterations.

    for x in 0..1000000 { d = d + 1 }
        ^^^^^^^^^^^^^^^ a million of them

Let loops run over the bits of the arguments: `for b in 0..31`.";
    KEY_NAME = "E0712", "a name that is no variable of a key function",
    "The first assignment of a name makes a variable, which lives until the end of the block that it
is in. Arguments and the variables of loops around are known too. Names of a format, such as its extents,
are not known to a key, and what counts the iterations of a loop is not assigned.

    for b in 0..31 { x = i >> b }
    return x
           ^ made in the loop

Assign it before the loop: `x = 0`.";
    DESCRIPTOR_FUNCTION = "E0720", "a function of a descriptor that is not declared, or has no part in it",
    "Each function that the map of a format calls is an index array: declarations say where it has
values, and which. One that is declared and that nothing ties to the map would be left as anything.

    map {[i, q] -> [i, j] : pos(i) <= q < pos(i + 1) && j = crd(q) && …}
                            ^^^ where does it have values?

Declare it: `function pos : {[i] : 0 <= i <= NR} -> {[q] : 0 <= q <= NNZ} nondecreasing`.";
    DESCRIPTOR_NO_FUNCTION = "E0721", "a tuple of the sparse space without one coordinate or one place",
    "A tuple of the sparse space stands for one entry: the map gives it one coordinate in each mode,
and `data` one place among the values. That has to follow from the constraints and declarations.

    map {[i, q] -> [i, j] : pos(i) <= q < pos(i + 1) && 0 <= j < NC}
                   ^ any of them

Add what determines it, as `j = crd(q)`.";
    DESCRIPTOR_UNBOUNDED = "E0722", "a set of a descriptor without bounds",
    "The tuples of the sparse space, the arguments of functions and the places of values are finitely
many: each element lies between two values of constants and of elements that have bounds.

    map {[q] -> [i, j] : 0 <= q && i = row(q) && j = col(q) && …}
          ^ up to where?

Say where it ends: `0 <= q < NNZ`.";
    DESCRIPTOR_OUTSIDE = "E0723", "what a descriptor may put outside of the tensor or its values",
    "Coordinates lie in the extents of their modes, and places among those of `values`. For padding,
whose coordinate is no coordinate, a constraint says that it is none of the tuples meant.

    map {[i, s] -> [i, j] : 0 <= i < NR && 0 <= s < W && j = col(W * i + s)}
                       ^ -1 for padding

Add `0 <= j < NC`, or declare the range of the function that it comes from.";
    DESCRIPTOR_EMPTY = "E0724", "a descriptor that no entry fits",
    "The constraints of the map and the declarations contradict each other, so the sparse space has no
tuple, however large the tensor and whatever its index arrays are. Such a format stores nothing.

    map {[q] -> [i] : 0 <= q < NNZ && i = crd(q) && crd(q) < 0 && 0 <= i < N}
                                                    ^^^^^^^^^^ but `0 <= i`

Leave out the constraint or the declaration that is too many.";
}

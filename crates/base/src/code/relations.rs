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
first: by an equality, by an injective function of it, or as quotient and rest of a division.

    {[i] -> [j] : 0 <= j < i}
             ^ many values

Add what determines it, or declare a function that it is an argument of as `injective`.";
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
}

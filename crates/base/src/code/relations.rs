//! `E07..`: relations, their declarations and operations.

use super::codes;

codes! {
    RELATION_TOO_LARGE = "E0701", "a relation of too many parts",
    "A choice in a relation, and a comparison of tuples such as `[a, b] < [c, d]`, become parts of a
union: `a < c`, or `a = c && b < d`. Several of them multiply, and a text may have 256 parts.

    {[i] -> [j] : [i, j] != [0, 1] && [i, j] != [1, 0] && [i, j] != [2, 0] && …}
                                                                           ^ too many

Compare integers where that is enough, or split the relation into several.";
}

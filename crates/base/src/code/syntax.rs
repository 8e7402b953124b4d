//! `E01..`: the text of a language.

use super::codes;

codes! {
    UNEXPECTED_TOKEN = "E0101", "unexpected token",
    "The text does not follow the grammar of its language. The caret shows the first token that
cannot stand where it stands, and the label says what could.

    y(i) = A(i,j * x(j)
                 ^ expected `,` or `)`

Close the list of indices: `y(i) = A(i,j) * x(j)`.";
    UNKNOWN_CHARACTER = "E0102", "unknown character",
    "The text has a character that no token begins with. Names are letters, digits and `_`, and
begin with a letter or `_`. Non-ASCII characters are allowed only in comments and file names.";
    BAD_NUMBER = "E0103", "a number that cannot be represented",
    "A number is too large for the place it stands in, or has a letter in it. Integers have at
most 64 bits; floating-point numbers are those of IEEE 754 double precision.";
    UNKNOWN_FORMAT = "E0110", "unknown format",
    "A format is the name of a preset or a map from modes to levels. The name given is no preset:

    -f A=crs
         ^^^ no format has this name

`sparsec formats` lists the presets. A map says the same and more:
`(i, j) -> (i : dense, j : compressed)` is `csr`.";
    UNKNOWN_LEVEL_KIND = "E0111", "unknown level kind",
    "Each level of a format has a kind after its colon, and no kind has this name:

    (i, j) -> (i : dens, j : compressed)
                   ^^^^ no kind has this name

`dense` holds every coordinate, `compressed` a segment of stored coordinates for each parent,
`singleton` one coordinate for each parent.";
    UNKNOWN_PROPERTY = "E0112", "unknown level property",
    "A level kind may be followed by properties in parentheses, and no property has this name:

    (i) -> (i : compressed(unsorted))
                           ^^^^^^^^ no property has this name

`nonunique` lets coordinates repeat below one parent, `nonordered` lets them stand in any order.
A level without properties is unique and ordered.";
    UNKNOWN_CLAUSE = "E0113", "unknown format clause",
    "After its levels a format may have clauses, each after a comma, and no clause begins like this:

    (i) -> (i : compressed), width = 32
                             ^^^^^ no clause begins like this

`pos = 32` and `crd = 64` declare how wide the entries of the `pos` and `crd` arrays are. Without
them it is the narrower of 32 and 64 bits that holds the data.";
    FORMAT_UNSUPPORTED = "E0114", "a part of the format language that this version does not support",
    "The format is written as the format language says, but this version of sparsec cannot store
tensors in it:

    (i, j) -> (i : dense, j : bitmap)
                              ^^^^^^ not supported in this version

Supported are the kinds `dense`, `compressed` and `singleton` with `nonunique` and `nonordered`, in
any order of the modes, widths of 8 to 64 bits, and the presets that `sparsec formats` lists.
Choose one of those, such as `csr` for a matrix or `csf` for a tensor of any order.";
    FORMAT_ORDER = "E0115", "a format for tensors of another order",
    "A format stores tensors of one order: as many modes as its map has on the left. `csr`, `csc`,
`dcsr` and `dcsc` are for matrices.

    -f A=csr    where A(i,j,k) has order 3
         ^^^ stores tensors of order 2

`dense`, `csf`, `coo` and `scoo` fit every order. Where nothing says what the order is, write the map.";
    DUPLICATE_MODE = "E0116", "two modes of one name",
    "The modes on the left of a map need names of their own, because the levels name them:

    (i, i) -> (i : dense, i : compressed)
        ^ the second mode called `i`

Rename one: `(i, j) -> (i : dense, j : compressed)`.";
    UNKNOWN_MODE = "E0117", "a level of a mode that the format does not have",
    "A level stores the coordinates of one of the modes on the left of the arrow:

    (i, j) -> (i : dense, k : compressed)
                          ^ no mode of this format

Name the mode on the left, or store another one.";
    MODE_STORED_TWICE = "E0118", "two levels for one mode",
    "Each mode is stored by exactly one level; a coordinate would stand in two places otherwise:

    (i, j) -> (i : dense, i : compressed)
                          ^ `i` is stored by level 0 already

Here `j` was meant: `(i, j) -> (i : dense, j : compressed)`.";
    MODE_NOT_STORED = "E0119", "a mode without a level",
    "Each mode is stored by exactly one level, or its coordinates would be lost:

    (i, j) -> (i : dense)
        ^ no level stores this mode

Add a level: `(i, j) -> (i : dense, j : compressed)`.";
    PROPERTY_MISFIT = "E0120", "a property that the level cannot have",
    "A `dense` level holds every coordinate exactly once and in order, so it can be neither
`nonunique` nor `nonordered`. A property is also written only once:

    (i) -> (i : dense(nonunique))
                      ^^^^^^^^^ not for `dense`

Leave the property out, or use a `compressed` level.";
    SINGLETON_PARENT = "E0121", "a singleton that is not below a nonunique level",
    "A `singleton` level has exactly one coordinate for each position of its parent. So the parent
has to repeat a coordinate for every entry below it, which only a `nonunique` level does. Below a
unique level the format could hold nothing but exactly one entry in each fiber:

    (i, j) -> (i : compressed, j : singleton)
                               ^^^^^^^^^^^^^ needs a `nonunique` parent

For coordinate lists write `(i, j) -> (i : compressed(nonunique), j : singleton)`, the preset `scoo`;
for several entries in a row make the second level `compressed`.";
    NONUNIQUE_PARENT = "E0122", "a nonunique level with children other than a singleton",
    "The positions of a `nonunique` level that share a coordinate are separate parents. Only a
`singleton`, with one coordinate for each of them, makes entries of them; under any other level
the children of one coordinate would lie in several segments:

    (i, j) -> (i : compressed(nonunique), j : compressed)
               ^^^^^^^^^^^^^^^^^^^^^^^^^ repeats coordinates
                                          ^^^^^^^^^^^^^^ but is no singleton

Leave `nonunique` out, or make the next level a `singleton`. As the last level a `nonunique` level
holds several entries at equal coordinates; they add up.";
    ORDER_BELOW_NONORDERED = "E0123", "an ordered singleton below a nonordered level",
    "A `singleton` is ordered where the coordinates above it are equal. Below a `nonordered` level
equal coordinates do not stand together, so there is nothing in which it could ascend:

    (i, j) -> (i : compressed(nonunique, nonordered), j : singleton)
                                         ^^^^^^^^^^ no order here
                                                      ^^^^^^^^^^^^^ so none here

Write `singleton(nonordered)`, or leave `nonordered` out above, as the presets `coo` and `scoo` do.";
    BAD_WIDTH = "E0124", "a width that index arrays cannot have",
    "`pos` and `crd` arrays are integers of 8, 16, 32 or 64 bits, and each width is declared once:

    (i) -> (i : compressed), crd = 48
                                   ^^ not a width

Write one of those, or leave it out: then it is the narrower of 32 and 64 bits that holds the data.";
    RELATION_ARITY = "E0130", "parts of a relation that do not fit together",
    "All parts of a union relate tuples of the same lengths, an uninterpreted function is
called with the same number of arguments everywhere, and the tuples of two relations that are
composed have to match in the middle:

    {[i] -> [j] : j = i} union {[i, k] -> [j] : j = k}
                                ^^^^^^ two variables, but one in the first part

Give both parts the same tuples; an unused position may be a constant, as in `[i, 0]`.";
    RELATION_NAME = "E0131", "a name in two roles",
    "In a relation a name is a variable (in a tuple or after `exists`), a function (before
parentheses), or else a symbolic constant. It cannot be two of them, and `exists` brings in only new
names:

    {[i] -> [q] : q = i(q)}
                      ^ `i` is a variable, not a function

Rename one of them.";
    RELATION_UNBOUND = "E0132", "a relation that cannot be enumerated",
    "To list the pairs of a relation, each variable needs a finite range, each symbolic constant a
value, and each uninterpreted function values where it is called. The message says what is missing.
For `{[p] -> [q] : pos(p) <= q < pos(p + 1) && 0 <= p < M}` these are the function `pos` and the
constant `M`.";
}

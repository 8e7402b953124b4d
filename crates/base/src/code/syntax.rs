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
    FORMAT_UNSUPPORTED = "E0114", "a format that is a relation where levels are needed",
    "Formats that permute rows (`jds`, `sell(8, 32)`), keep bits (`fcoo(0)`) or split fibers
(`bcsf(128)`) are no maps from coordinates to levels. They are relations, as those of `.fmt` files
are. `sparsec run`, `compile` and `convert` take them as they take other formats; a tensor of levels
cannot be built in one:

    Tensor::builder(\"jds\", &[3, 4])
                     ^^^ has no levels

Build the tensor in the format of levels that the message names, and convert it with
`Session::convert_stored`. A relation in braces stands in a `.fmt` file, not in an option.";
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
    NOT_DETERMINED = "E0125", "levels that do not tell the coordinates of an entry",
    "The coordinates of an entry have to follow from those of its levels. Where they do not,
entries with different coordinates would take the same place:

    (i, j) -> (i floordiv 4 : dense, j : compressed)
               ^^^^^^^^^^^^ several `i` have the same coordinate here

Add what is missing. A block and a place tell a coordinate, `i floordiv 4` and `i mod 4`; a diagonal
and one of its modes tell the other, `j - i` and `i`; a curve tells all its modes, `morton(i, j)`.";
    BAD_LEVEL_EXPRESSION = "E0126", "an expression that is no coordinate of a level",
    "A level stores a mode, or an integer that is computed from modes: sums and differences of modes
and numbers, `floordiv` and `mod` by a number from 1 to 2^31, or, standing alone, a curve
`morton(…)` or `alto(…)` and the rank `#i`.

    (i, j) -> (i floordiv 0 : dense, j : compressed)
               ^^^^^^^^^^^^ divides by what is no size

Bits of a curve are dealt of coordinates that are never negative, so `morton(j - i, i)` is none.";
    KIND_MISPLACED = "E0127", "a level kind that cannot stand here",
    "Some kinds stand only in certain places: `run_length` last, since a run shares one value; `batch`
outside all others; `structured[n, m]` with a coordinate `… mod m` and `n` from 1 to `m`; ranks
such as `#i` are `dense`, and the last level below them lists entries.

    (i, j) -> (i : run_length, j : dense)
                   ^^^^^^^^^^ with levels below it

Put the level elsewhere, or choose another kind: `compressed` stands anywhere.";
    BAD_CLAUSE = "E0128", "clauses of a format that do not go together",
    "`symmetric(i, j)`, `skew(i, j)` and `hermitian(i, j)` store one triangle, the lower one unless
`upper(i, j)` is said of the same two modes. `lower`, `upper` and `diagonal` alone say which entries
there are. A format of two modes need not name them: `csr, lower` is `csr, lower(i, j)`. `order` sorts
a list of unordered coordinates along a curve: `coo, order morton(i, j)`.

    csr, symmetric(i, j), diagonal(i, j)
         ^^^^^^^^^^^^^^^ stores a triangle, not the diagonal

Each clause is written once.";
    PRESET_ARGUMENTS = "E0129", "a preset with other numbers than it takes",
    "Presets of blocks take their size: `bsr(4, 4)` one number for each mode, `csb(64)`, `hicoo(128)`
and `hyb(8)` one number. Other presets take none.

    -f A=bsr
         ^^^ takes the size of its blocks in each mode

Sizes are from 1 to 2^31.";
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
    UNION_PART = "E0133", "a part of a union that cannot be one",
    "The parts of a union `A | B` hold entries of one tensor, and an entry is in one of them. So no
part can stand for mirrored entries, or have a fill of its own:

    csr, symmetric(i, j) | coo
    ^^^ mirrors its entries

Store the triangle in one part, or all entries in several.

Nor can a part hold places of blocks or rows, filled with zeros, at which a part before it may store
an entry: there would be two values.

    csr, lower(i, j) | dense, upper(i, j)
                       ^^^^^^^^^^^^^^^^^^ holds the diagonal too

End the part with a level that lists entries, or write it first: entries are in the first part that
takes them.";
    NOT_MIRRORED = "E0134", "entries that are not symmetric as their format says",
    "The format stores one triangle, and the tensor has entries that its mirror image does not agree
with: `symmetric` wants A(j,i) = A(i,j), `skew` A(j,i) = -A(i,j) and so a zero diagonal, and
`hermitian` the conjugate and so a real diagonal. Extents have to be equal too.

    csr, symmetric(i, j)    with A(0,1) = 2 and A(1,0) = 3

Store the tensor without the clause, or make it symmetric first.";
    OUTSIDE_REGION = "E0135", "an entry that the format does not store",
    "The format stores only some entries: one triangle (`lower`, `upper`), the diagonal, or ranks
below a limit (`#i < 4`). An entry lies elsewhere, and no other part of the format takes it:

    csr, lower(i, j)    with an entry at (0, 1)

Use a format for all entries, add a part for the others (`… | coo`), or select the entries first.";
    BLOCK_TOO_FULL = "E0136", "a block with more entries than its level stores",
    "`structured[n, m]` stores `n` entries of each block of `m` coordinates, and a block has more:

    j mod 4 : structured[2, 4]    with entries at j = 0, 1 and 3

Prune the tensor to this structure, or make the level `compressed` or `dense`.";
}

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
}

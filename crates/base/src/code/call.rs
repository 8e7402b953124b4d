//! `E00..`: the call itself, for which `sparsec` ends with 2 (1 for `E0008`).

use super::codes;

codes! {
    BAD_CALL = "E0001", "a call that cannot be understood",
    "A command or an option that there is not, or one that lacks its argument.

    sparsec rnu 'y(i) = A(i,j) * x(j)'
            ^^^ there is `run`

`sparsec help` lists the commands, `sparsec help run` the options of one. Expressions hold
characters that shells treat specially, so put them in single quotes.";
    NOT_A_PAIR = "E0002", "an option that is not NAME=VALUE",
    "`-f -i -o -g -d -t` say something about one tensor or one index variable of the expression: its
name, `=`, and what is said of it.

    sparsec run 'y(i) = A(i,j) * x(j)' -f csr -i web.mtx
                                          ^^^ of which tensor?

Write `-f A=csr -i A=web.mtx`.";
    SAID_TWICE = "E0003", "the same thing said twice",
    "Two options say the same of one tensor or index variable, so that one of them would be ignored. A
tensor has one format, one type, and its data either from a file (`-i`) or from a generator (`-g`).

    sparsec run … -i A=web.mtx -i A=old.mtx
                               ^^^^^^^^^ `A` again

Leave one of them out.";
    BAD_OPTION_VALUE = "E0004", "a value that an option does not take",
    "The value after an option is not one of those that it takes:

    --backend   auto, c or interp
    --threads   a number of threads, 1 or more
    --repeat    how often to compute or measure, 1 or more
    --emit      a stage; `sparsec help compile` lists them
    --suite     all, kernels or latency; --size small or full
    -d NAME=N   an extent, 0 or more
    -t NAME=T   bool, i8 to i64, u8 to u64, f16, bf16, f32, f64, c64 or c128

Correct the value, or leave the option out.";
    DOES_NOT_APPLY = "E0005", "an option that does not apply",
    "The option is about something that this tensor is not: only tensors that the expression reads
take data (`-i`, `-g`), and only tensors that it computes are written (`-o`).

    sparsec run 'y(i) = A(i,j) * x(j)' -i y=y.tns …
                                          ^ is computed

Use the other option, or leave it out.";
    SAME_OUTPUT = "E0006", "two results for one file",
    "Two `-o` name the same file, so that only one of the tensors would be left in it.

    sparsec run 's(i) = …; t(i) = …' -o s=out.tns -o t=out.tns

Give each tensor a file of its own.";
    UNKNOWN_CODE = "E0007", "unknown diagnostic code",
    "Diagnostics have codes such as `E0203`, shown in brackets after `error`; `sparsec explain` takes
one of them. Codes of newer versions are not known to older ones.

    sparsec explain E0203";
    CANNOT_PRINT = "E0008", "standard output cannot be written",
    "The system refused what was printed, for example because a disk is full; the message has its
reason. Files that were asked for with `-o` are complete if the call got that far.

    sparsec formats > /dev/full

Send the output elsewhere. A reader that closes a pipe early, such as `head`, is no error.";
    REPLACES_INPUT = "E0009", "a result that would replace a file that is read",
    "A result goes to a file that an operand is read from, under this name or another: links are
followed. The data would be gone after the call, and a second call would compute something else.

    sparsec run 'B(i,j) = 2 * A(i,j)' -i A=web.mtx -o B=./web.mtx
                                                      ^^^^^^^^^ `A` is read from it

Write to another file, and rename it if the old one is not needed.";
}

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

    --backend   auto, c, cranelift or interp
    --threads   a number of threads, 1 or more
    --repeat    how often to compute or measure, 1 or more
    --emit      a stage; `sparsec help compile` lists them
    --size      small or full
    -d NAME=N   an extent, 0 or more
    -i NAME=-   standard input, for one tensor
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
    NOT_AN_OPERAND = "E0020", "data for a tensor that the program computes",
    "Only tensors that a program reads and does not compute are bound to data, and only by these are there
derivatives (`--emit gradient=A`).

    let kernel = Program::parse(\"y(i) = A(i,j) * x(j)\")?.plan()?;
    kernel.bind(\"y\", &y)?
                ^ is computed

Bind the operands (`kernel.operands()` names them); `evaluate` gives the result.";
    NOT_AS_PLANNED = "E0021", "a tensor that is not stored as the kernel was planned for",
    "A kernel is planned for the format, the element type and the fill of each operand, and is handed
arrays as they are: nothing is converted unasked. Extents and widths of index arrays may be any.

    let kernel = Program::parse(\"y(i) = A(i,j) * x(j)\")?.plan()?;      A is csr, f64 unless said
    kernel.bind(\"A\", &a)?                                              a is csc

Plan with `.format(\"A\", \"csc\")?`, `.element(…)?`, `.fill(…)?`, or all at once with
`.like(\"A\", &a)?`; or convert the tensor: `a.convert(&Format::csr())?`.";
    OTHER_STRUCTURE = "E0022", "a tensor that stores entries at other places",
    "`compute_with` computes values into a structure that was assembled for other tensors. The tensors
that take their place have to store the same entries in the same order: equal extents, positions and
coordinates, with any values.

    let mut c = kernel.bind(\"A\", &a)?.assemble()?;
    c.compute_with([(\"A\", &other)])?;          an entry more

Bind the tensor to the kernel and assemble again.";
    NOT_TRANSFERABLE = "E0023", "a tensor that a type of another library does not hold",
    "The types of `sprs`, `nalgebra-sparse`, `ndarray` and `faer` hold one format, one element type,
zeros where nothing is stored, and index arrays of their own widths.

    let matrix: sprs::CsMat<f64> = tensor.try_into()?;      where `tensor` is coo, or of f32

Convert first: `tensor.convert(&Format::csr())?`.";
    EINSUM_SYNTAX = "E0030", "an einsum that cannot be read",
    "An einsum is a list of operands, separated by commas, each with one letter a mode, and after `->`
the letters of the result. Spaces make no difference. Without `->` the result has the letters that
occur once, in alphabetical order, as in NumPy.

    einsum!(\"ij,jk->ik\", a, b)      a product of matrices
    einsum!(\"ii->i\", a)             a diagonal
    einsum!(\"ij->\", a)              the sum of all entries

`...` for modes without letters is not supported: give every mode a letter.";
    EINSUM_OUTPUT = "E0031", "an einsum whose result is not defined",
    "Each letter after `->` is a mode of the result: it stands there once, and some operand has it, which
gives the mode its extent.

    einsum!(\"ij,jk->iz\", a, b)
                      ^ in no operand

Write each mode of the result once, with a letter of an operand.";
    EINSUM_OPERANDS = "E0032", "an einsum with operands that do not fit it",
    "There is one tensor for each list of letters, with one mode for each letter.

    einsum!(\"ij,jk->ik\", a)         two lists, one tensor

Give as many tensors as lists, separated by commas, and each list as many letters as its tensor has
modes.";
    PEER_FAILED = "E0040", "another program that benchmarks need and that ended",
    "`sparsec bench io` measures beside SciPy in a Python process, which is started once and asked for one
thing after the other. It ended before it answered, most likely because memory was out.

    sparsec bench io --size full

Measure with `--size small`, or name another Python with `SPARSEC_PYTHON`.";
}

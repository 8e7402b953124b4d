//! Mistakes in the words of a call, and in its expression.

use super::Mistake;

/// Words in the wrong place, and words of other languages.
pub(super) const WORDS: &[Mistake] = &[
    Mistake {
        call: "run a.mtx",
        code: 2,
        texts: &[
            "error[E0001]: `a.mtx` is a file, and the expression is missing",
            "`sparsec run 'y(i) = A(i,j) * x(j)' -i A=a.mtx -g x=dense:ones`",
        ],
        follows: "run 'y(i) = A(i,j) * x(j)' -i A=a.mtx -g x=dense:ones",
    },
    Mistake {
        call: "run notes.txt",
        code: 2,
        texts: &[
            "error[E0001]: `notes.txt` is a file, and the expression is missing",
            "if the file holds one, `sparsec run \"$(cat notes.txt)\"`",
        ],
        follows: "run \"$(echo 's = 1 + 2')\"",
    },
    Mistake {
        call: "'s = sum{i}(x(i))' -g x=1 -d i=3",
        code: 2,
        texts: &[
            "error[E0001]: an expression, and no command for it",
            "          ^^^^^^^^^^^^^^^^ expected",
            "`sparsec run 's = sum{i}(x(i))' -g x=1 -d i=3`",
        ],
        follows: "run 's = sum{i}(x(i))' -g x=1 -d i=3",
    },
    Mistake {
        call: "relations 'y(i) = A(i,j) * x(j)'",
        code: 2,
        texts: &[
            "error[E0001]: an expression needs a format as a relation",
            "`sparsec formats dense --order 2 --emit relation > dense.fmt`",
            "`-f A=dense.fmt`",
        ],
        follows: "formats dense --order 2 --emit relation > dense.fmt \
                  && \"$0\" relations 'y(i) = A(i,j) * x(j)' -f A=dense.fmt",
    },
    Mistake {
        call: "relations 'y(i) = A(i,j) * x(j)' -f A=d.fmt -d Ni=3",
        code: 2,
        texts: &["error[E0001]: `--run` is missing", "add `--run`"],
        follows: "relations --help",
    },
    Mistake {
        call: "run 's = 1 + 2' --emit c",
        code: 2,
        texts: &[
            "error[E0001]: there is no option `--emit` here",
            "`sparsec compile` takes it: write `sparsec compile 's = 1 + 2' --emit c`",
        ],
        follows: "compile 's = 1 + 2' --emit c",
    },
    Mistake {
        call: "convert a.mtx b.npz -o c.npz",
        code: 2,
        texts: &["the second file is the one that is written: `sparsec convert IN OUT`"],
        follows: "help convert",
    },
    Mistake {
        call: "run 's = 1 + 2' --plot a.svg",
        code: 2,
        texts: &["an option of `info`, which `sparsec help info` describes"],
        follows: "help info",
    },
    Mistake {
        call: "compile 'y(i) = A(i,j)' -f A=csr -o kernel.c",
        code: 2,
        texts: &[
            "error[E0002]: `-o` takes NAME=VALUE, not `kernel.c`",
            "write `> kernel.c` in place of `-o kernel.c`",
        ],
        follows: "compile 'y(i) = A(i,j)' -f A=csr > kernel.c",
    },
    Mistake {
        call: "run 'C(i,j) = A(i,j)' -g A=1 -d i=3,j=4",
        code: 2,
        texts: &[
            "error[E0004]: `3,j=4` is no extent",
            "give each an option of its own: `-d i=3 -d j=4`",
        ],
        follows: "run 'C(i,j) = A(i,j)' -g A=1 -d i=3 -d j=4",
    },
    Mistake {
        call: "run 'y(i) = A(i,j)' A=a.mtx",
        code: 2,
        texts: &["^^^^^^^ left over", "give the tensor as `-i A=a.mtx`"],
        follows: "run 'y(i) = A(i,j)' -i A=a.mtx",
    },
    Mistake {
        call: "run 'y(i) = A(i,j)' -i A=a.mtx A=csr",
        code: 2,
        texts: &["^^^^^ left over", "give the format as `-f A=csr`"],
        follows: "run 'y(i) = A(i,j)' -i A=a.mtx -f A=csr",
    },
    Mistake {
        call: "run s = 1",
        code: 2,
        texts: &["`=` is one word too many", "put the expression in quotes"],
        follows: "run 's = 1'",
    },
    Mistake {
        call: "run 's = 1' 't = 2'",
        code: 2,
        texts: &["takes one expression", "between them `;`"],
        follows: "run 's = 1; t = 2'",
    },
    Mistake {
        call: "run 'y(i) = A(i,j)' -i A=a.mtx -f A=",
        code: 2,
        texts: &[
            "error[E0002]",
            "-f A=\n  |                                             ^ expected a value",
            "write for example `-f A=csr`",
        ],
        follows: "run 'y(i) = A(i,j)' -i A=a.mtx -f A=csr",
    },
    Mistake {
        call: "run 'y(i) = x(i)' -g x=1 -d 5",
        code: 2,
        texts: &["error[E0002]", "write `-d i=5`"],
        follows: "run 'y(i) = x(i)' -g x=1 -d i=5",
    },
    Mistake {
        call: "run 'y(i) = A(i,j) * x(j)' -i A=a.mtx -g x=rand",
        code: 2,
        texts: &[
            "error[E0409]: there is no generator `rand`",
            "did you mean `random(density=0.01)`? The generators are dense:zeros, ",
        ],
        follows: "run 'y(i) = A(i,j) * x(j)' -i A=a.mtx -g 'x=random(density=0.01)'",
    },
    Mistake {
        call: "run 'y(i) = A(i,j)' -i A=a.mtx -t A=float",
        code: 2,
        texts: &[
            "error[E0004]: there is no type `float`",
            "did you mean `f32` or `f64`?",
        ],
        follows: "run 'y(i) = A(i,j)' -i A=a.mtx -t A=f32",
    },
    Mistake {
        call: "run 'y(i) = float(A(i,j))' -i A=a.mtx",
        code: 1,
        texts: &["error[E0212]", "did you mean `f32` or `f64`?"],
        follows: "run 'y(i) = sum{j}(f32(A(i,j)))' -i A=a.mtx",
    },
];

/// Expressions that mean something else, or nothing.
pub(super) const EXPRESSIONS: &[Mistake] = &[
    Mistake {
        call: "run 'y(i) = if x(i) > 0 then 1 else 0' -g x=1 -d i=3",
        code: 1,
        texts: &[
            "error[E0101]: expected an operator or the end of the statement, found `x`",
            "a choice is `select(condition, a, b)`",
        ],
        follows: "run 'y(i) = select(x(i) > 0, 1, 0)' -g x=1 -d i=3",
    },
    Mistake {
        call: "run 'y(i) = mean{j}(A(i,j))' -i A=a.mtx",
        code: 1,
        texts: &[
            "error[E0212]: unknown reduction `mean`",
            "`stored_sum` and the like reduce stored entries alone",
        ],
        follows: "run 'y(i) = sum{j}(A(i,j)) / 2' -i A=a.mtx",
    },
    Mistake {
        call: "run 'y(i) = A(p(i),j)' -i A=a.mtx -g p=1",
        code: 1,
        texts: &[
            "error[E0214]: `p(i)` is a tensor, which cannot be an index of `A`",
            "write `sum{k}(S(i,k) * A(k,j))`, where `S` stores 1 at each `k = p(i)`",
        ],
        follows: "run 'y(i) = sum{k}(S(i,k) * A(k,j))' -i A=a.mtx -g S=identity -d i=2",
    },
    Mistake {
        call: "run 'A(i,j) -> B(j,i)' -i A=a.mtx",
        code: 1,
        texts: &[
            "error[E0101]: expected `=`, found `->`",
            "the result is on the left: `B(j,i) = A(i,j)`",
        ],
        follows: "run 'B(j,i) = A(i,j)' -i A=a.mtx",
    },
    Mistake {
        call: "run 'y(i) == A(i,j)' -i A=a.mtx",
        code: 1,
        texts: &[
            "error[E0101]: a statement without a left side and `=`",
            "`==` compares, and `=` assigns: `y(i) = A(i,j)`",
        ],
        follows: "run 'y(i) = A(i,j)' -i A=a.mtx",
    },
    Mistake {
        call: "run 'B(i,j) = A.T(i,j)' -i A=a.mtx",
        code: 1,
        texts: &[
            "error[E0221]: `A.T` cannot be the name of a tensor",
            "a transpose names its indices the other way round: `A(j,i)`",
        ],
        follows: "run 'B(i,j) = A(j,i)' -i A=a.mtx",
    },
    Mistake {
        call: "run 'sum(A(i,j))' -i A=a.mtx",
        code: 1,
        texts: &[
            "error[E0101]: a statement without a left side and `=`",
            "name the result: `s = sum{i,j}(A(i,j))`",
        ],
        follows: "run 's = sum{i,j}(A(i,j))' -i A=a.mtx",
    },
    Mistake {
        call: "run 'y(i) = sum(A(i,j))' -i A=a.mtx",
        code: 1,
        texts: &["error[E0101]", "write `sum{j}(A(i,j))`"],
        follows: "run 'y(i) = sum{j}(A(i,j))' -i A=a.mtx",
    },
    Mistake {
        call: "run 's = max(A(i,j))' -i A=a.mtx",
        code: 1,
        texts: &["error[E0213]", "over indices it is `max{i,j}(A(i,j))`"],
        follows: "run 's = max{i,j}(A(i,j))' -i A=a.mtx",
    },
    Mistake {
        call: "run 'y(i) = x(i) + 1e300' -g x=1 -d i=3 -t x=f16",
        code: 1,
        texts: &[
            "error[E0219]: `1e300` does not fit in f16",
            "convert the other side: `f64(x(i))`",
        ],
        follows: "run 'y(i) = f64(x(i)) + 1e300' -g x=1 -d i=3 -t x=f16",
    },
    Mistake {
        call: "run 'y(i) = a(i) // b(i)' -g a=1 -g b=0 -d i=3 -t a=i32 -t b=i32",
        code: 1,
        texts: &["error[E0511]", "`select(b == 0, 0, a // b)`"],
        follows: "run 'y(i) = select(b(i) == 0, 0, a(i) // b(i))' -g a=1 -g b=0 -d i=3 -t a=i32 -t b=i32",
    },
    Mistake {
        call: "run 'y(i) = A(i,j)' -i A=a.mtx -f 'A=bsr(0, 0)'",
        code: 2,
        texts: &[
            "error[E0129]: `bsr` takes sizes from 1 to 2^31",
            "write `bsr(2, 2)`",
        ],
        follows: "run 'y(i) = A(i,j)' -i A=a.mtx -f 'A=bsr(2, 2)'",
    },
    Mistake {
        call: "run 'y(i) = A(i,j)' -i A=a.mtx -d i=5",
        code: 1,
        texts: &[
            "error[E0203]: index variable `i` has two extents, 5 and 3",
            "expression:1:10",
            "command line:1:",
            "- `i` is given extent 5",
            "leave out the extent given for `i`, or make it 3",
        ],
        follows: "run 'y(i) = A(i,j)' -i A=a.mtx -d i=3",
    },
    Mistake {
        call: "run 'y(i) = A(i,j)' -i A=a.mtx -d i=2",
        code: 1,
        texts: &["error[E0203]", "take the part that fits: `A(i(0:2), j)`"],
        follows: "run 'y(i) = A(i(0:2), j)' -i A=a.mtx -d i=2",
    },
    Mistake {
        call: "run 's = x(i)' -g x=1 -d i=1000 --memory 1K",
        code: 1,
        texts: &["error[E0508]", "`-g 'x=random(nnz=31)'`"],
        follows: "run 's = x(i)' -g 'x=random(nnz=31)' -d i=1000 --memory 1K",
    },
    // Three entries are too many as it is: there is nothing smaller to generate.
    Mistake {
        call: "run 's = A(i,j)' -g 'A=random(nnz=3)' -d i=9 -d j=9 --memory 70",
        code: 1,
        texts: &["error[E0508]", "help: allow more with `--memory`"],
        follows: "run 's = A(i,j)' -g 'A=random(nnz=3)' -d i=9 -d j=9 --memory 1M",
    },
];

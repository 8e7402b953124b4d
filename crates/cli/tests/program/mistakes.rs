//! Mistakes of somebody who uses the program for the first time, with the messages that
//! they get, and the calls that these lead to.
//!
//! | mistake                                  | the message leads to                      |
//! |------------------------------------------|-------------------------------------------|
//! | another name than the expression has     | the name: "did you mean `A`?"             |
//! | a parenthesis that is not closed         | where it has to close                     |
//! | extents that do not fit                  | the part that fits                        |
//! | a file that there is not                 | the file with nearly that name            |
//! | a file of another type                   | the endings of names                      |
//! | a format that there is not               | the nearest one                           |
//! | a sum over an index of nothing           | the index that the body has               |
//! | no left side                             | the whole statement                       |
//! | a dense result too large for memory      | a sparse format that fits, or none        |
//! | an option that there is not              | the nearest one                           |
//! | a file without the name of a tensor      | the option with a name                    |
//! | an expression without `run`              | the same call with it                     |
//! | a tensor as an index, `A(p(i), j)`       | a product with a matrix                   |
//! | a sum without indices, `sum(A(i,j))`     | the sum over its indices                  |
//!
//! Each piece of advice is followed.

use crate::place::{Place, with_matrix};

mod words;

use words::{EXPRESSIONS, WORDS};

/// A call that is refused, with its message, and one that follows the advice.
#[derive(Clone)]
struct Mistake {
    call: &'static str,
    code: i32,
    texts: &'static [&'static str],
    follows: &'static str,
}

const MISTAKES: &[Mistake] = &[
    Mistake {
        call: "run 'y(i) = A(i,j) * x(j)' -i a=a.mtx -g x=dense:ones",
        code: 2,
        texts: &[
            "error[E0207]: the expression has no tensor `a`",
            "did you mean `A`?",
        ],
        follows: "run 'y(i) = A(i,j) * x(j)' -i A=a.mtx -g x=dense:ones",
    },
    Mistake {
        call: "run 'y(i) = A(i,j * x(j)' -i A=a.mtx -g x=dense:ones",
        code: 1,
        texts: &[
            "error[E0101]: expected `,` or `)`, found `*`",
            "close the list with `)`",
        ],
        follows: "run 'y(i) = A(i,j) * x(j)' -i A=a.mtx -g x=dense:ones",
    },
    Mistake {
        call: "run 'C(i,j) = A(i,k) * B(k,j)' -i A=a.mtx -i B=wide.mtx",
        code: 1,
        texts: &[
            "error[E0203]: index variable `k` has two extents, 4 and 2",
            "mode 1 of `A` has extent 4",
            "take the part that fits: `A(i, k(0:2))`",
        ],
        follows: "run 'C(i,j) = A(i, k(0:2)) * B(k,j)' -i A=a.mtx -i B=wide.mtx",
    },
    Mistake {
        call: "run 'y(i) = A(i,j) * x(j)' -i A=aa.mtx -g x=dense:ones",
        code: 1,
        texts: &[
            "error[E0420]: cannot read `aa.mtx`",
            "did you mean `a.mtx`?",
        ],
        follows: "run 'y(i) = A(i,j) * x(j)' -i A=a.mtx -g x=dense:ones",
    },
    Mistake {
        call: "run 'y(i) = A(i,j) * x(j)' -i A=notes.txt -g x=dense:ones",
        code: 2,
        texts: &[
            "error[E0421]: the name of `notes.txt` does not say what it holds",
            "`.mtx` `.tns`",
        ],
        follows: "run 'y(i) = A(i,j) * x(j)' -i A=a.mtx -g x=dense:ones",
    },
    Mistake {
        call: "run 'y(i) = A(i,j) * x(j)' -i A=notes.mtx -g x=dense:ones",
        code: 1,
        texts: &[
            "error[E0422]: `notes.mtx` does not begin like a Matrix Market file",
            "notes.mtx:1:1",
            "`%%MatrixMarket matrix coordinate real general`",
        ],
        follows: "run 'y(i) = A(i,j) * x(j)' -i A=a.mtx -g x=dense:ones",
    },
    Mistake {
        call: "run 'y(i) = A(i,j) * x(j)' -i A=a.mtx -g x=dense:ones -f A=crs",
        code: 2,
        texts: &[
            "error[E0110]: no format is called `crs`",
            "format of A:1:1",
            "did you mean `csr`?",
        ],
        follows: "run 'y(i) = A(i,j) * x(j)' -i A=a.mtx -g x=dense:ones -f A=csr",
    },
    Mistake {
        call: "run 'y(i) = sum{k}(A(i,j) * x(j))' -i A=a.mtx -g x=dense:ones",
        code: 1,
        texts: &[
            "error[E0209]: the reduction runs over `k`, but does not use it",
            "did you mean `j`?",
        ],
        follows: "run 'y(i) = sum{j}(A(i,j) * x(j))' -i A=a.mtx -g x=dense:ones",
    },
    Mistake {
        call: "run 'A(i,j) * x(j)' -i A=a.mtx -g x=dense:ones",
        code: 1,
        texts: &[
            "error[E0101]: a statement without a left side and `=`",
            "name the result: `y(i) = A(i,j) * x(j)`",
        ],
        follows: "run 'y(i) = A(i,j) * x(j)' -i A=a.mtx -g x=dense:ones",
    },
    Mistake {
        call: "run 'C(i,j) = 2 * A(i,j)' -f C=dense -g 'A=random(nnz=9)' -d i=1000000 -d j=1000000 -f A=dcsr --memory 1M",
        code: 1,
        texts: &[
            "error[E0508]: `C` would take 8.0 TB, and",
            "store it as `dcsr`, which takes about",
            "`-f C=dcsr`",
        ],
        follows: "run 'C(i,j) = 2 * A(i,j)' -f C=dcsr -g 'A=random(nnz=9)' -d i=1000000 -d j=1000000 -f A=dcsr --memory 1M",
    },
    // No format makes a product of dense vectors smaller.
    Mistake {
        call: "run 'C(i,j) = x(i) * y(j)' -g x=1 -g y=1 -d i=100000 -d j=100000 --memory 1G",
        code: 1,
        texts: &[
            "error[E0508]: `C` would take 80.0 GB, and",
            "none of 7 other formats is smaller: ",
            "compute a window of it, or allow more with `--memory`",
        ],
        follows: "run 'C(i,j) = x(i) * y(j)' -g x=1 -g y=1 -d i=5 -d j=5 --memory 1G",
    },
    Mistake {
        call: "run 'y(i) = A(i,j) * x(j)' -i A=a.mtx -g x=dense:ones --thread 1",
        code: 2,
        texts: &[
            "error[E0001]: there is no option `--thread` here",
            "did you mean `--threads`?",
        ],
        follows: "run 'y(i) = A(i,j) * x(j)' -i A=a.mtx -g x=dense:ones --threads 1",
    },
    Mistake {
        call: "run 'y(i) = A(i,j) * x(j)' a.mtx",
        code: 2,
        texts: &[
            "error[E0001]: `a.mtx` is one word too many",
            "`-i NAME=a.mtx`",
        ],
        follows: "run 'y(i) = A(i,j) * x(j)' -i A=a.mtx -g x=dense:ones",
    },
    Mistake {
        call: "run 'y(i) = A(i,j) * x(j)' -i a.mtx -g x=dense:ones",
        code: 2,
        texts: &[
            "error[E0002]: `-i` takes NAME=VALUE, not `a.mtx`",
            "`-i NAME=a.mtx`",
        ],
        follows: "run 'y(i) = A(i,j) * x(j)' -i A=a.mtx -g x=dense:ones",
    },
    Mistake {
        call: "a.mtx",
        code: 2,
        texts: &[
            "error[E0001]: there is no command `a.mtx`",
            "`sparsec info a.mtx`",
        ],
        follows: "info a.mtx",
    },
];

/// Advice on schedules, formats and data.
const ADVICE: &[Mistake] = &[
    Mistake {
        call: "run 'C(i,j) = A(i,k) * A(j,k)' -i A=a.mtx -f C=csr -s 'parallelize(k,CPUThread,Atomics)'",
        code: 2,
        texts: &[
            "error[E0338]",
            "write `parallelize(i, CPUThread, Temporary)`",
        ],
        follows: "run 'C(i,j) = A(i,k) * A(j,k)' -i A=a.mtx -f C=csr -s 'parallelize(i, CPUThread, Temporary)'",
    },
    Mistake {
        call: "run 'y(i) = A(i,j) * x(j)' -i A=a.mtx -g x=dense:ones -s 'parallelize(j,CPUThread,NoRaces)'",
        code: 2,
        texts: &[
            "error[E0338]",
            "write `parallelize(j, CPUThread, ParallelReduction)`",
        ],
        follows: "run 'y(i) = A(i,j) * x(j)' -i A=a.mtx -g x=dense:ones -s 'parallelize(j, CPUThread, ParallelReduction)'",
    },
    Mistake {
        call: "run 'y(i) = A(i,j) * x(j)' -i A=a.mtx -g x=dense:ones -s 'parallelize(i,GPUThread,NoRaces)'",
        code: 2,
        texts: &[
            "error[E0346]",
            "no kernels for graphics processors",
            "leave the command out",
        ],
        follows: "run 'y(i) = A(i,j) * x(j)' -i A=a.mtx -g x=dense:ones",
    },
    Mistake {
        call: "run 'y(i) = A(i,j) * x(j)' -i A=a.mtx -g x=dense:ones -s 'levels(A, csr)'",
        code: 2,
        texts: &[
            "error[E0316]: the levels of `A` store the coordinates of its modes",
            "leave the command out",
        ],
        follows: "run 'y(i) = A(i,j) * x(j)' -i A=a.mtx -g x=dense:ones",
    },
    Mistake {
        call: "run 'y(i) = A(i,j) * x(j)' -i A=a.mtx -g x=dense:ones -s 'levels(A, bsr(2, 2))'",
        code: 2,
        texts: &[
            "error[E0316]: `A` is stored in another format",
            "`csr`",
            "leave the command out",
        ],
        follows: "run 'y(i) = A(i,j) * x(j)' -i A=a.mtx -g x=dense:ones",
    },
    Mistake {
        call: "run 'y(i) = A(i,j) * x(j)' -i A=a.mtx -g x=dense:ones -f A=msr -s 'levels(A, msr)'",
        code: 2,
        texts: &["error[E0316]", "`convert(A, csf)`"],
        follows: "run 'y(i) = A(i,j) * x(j)' -i A=a.mtx -g x=dense:ones -f A=msr -s 'convert(A, csf)'",
    },
    // The expression is right: the command is at fault, and the call with it.
    Mistake {
        call: "run 'y(i) = A(i,j) * x(j)' -i A=a.mtx -g x=dense:ones -f A=csc -s 'convert(A, csr); reorder(j, i)'",
        code: 2,
        texts: &[
            "error[E0301]",
            "schedule:1:18",
            "no plan follows this command",
            "without this command the program has a plan",
        ],
        follows: "run 'y(i) = A(i,j) * x(j)' -i A=a.mtx -g x=dense:ones -f A=csc -s 'convert(A, csr)'",
    },
    Mistake {
        call: "run 'y(i) = A(i,j) * x(j)' -i A=a.mtx -g x=dense:ones -f 'A=jds, fill 1'",
        code: 2,
        texts: &[
            "error[E0101]",
            "nothing comes behind a format that a relation describes",
        ],
        follows: "run 'y(i) = A(i,j) * x(j)' -i A=a.mtx -g x=dense:ones -f A=jds",
    },
    Mistake {
        call: "run 'y(i) = A(i,j) * x(j)' -i A=a.mtx -g x=dense:ones -f A=qqqq",
        code: 2,
        texts: &["error[E0110]", "`jds`, `sell`, `fcoo`, `bcsf`"],
        follows: "run 'y(i) = A(i,j) * x(j)' -i A=a.mtx -g x=dense:ones -f 'A=sell(2, 4)'",
    },
    Mistake {
        call: "run 's = sin{i}(x(i))' -g x=1 -d i=3",
        code: 1,
        texts: &[
            "error[E0244]: `sin` is a function, and does not reduce",
            "`sum{j}(sin(x(j)))`",
        ],
        follows: "run 's = sum{j}(sin(x(j)))' -g x=1 -d j=3",
    },
    Mistake {
        call: "run 'y(i) = A(i,j) * x(j)' -i A=a.mtx -g x=dense:ones -f 'y=dense, fill=inf'",
        code: 2,
        texts: &[
            "error[E0101]",
            "format of y:1:12",
            "leave out the `=`: `fill inf`",
        ],
        follows: "formats 'dense, fill inf'",
    },
    Mistake {
        call: "run 'y(i) = A(i,j) * x(j)' -i A=a.mtx",
        code: 1,
        texts: &[
            "error[E0314]: there is no tensor for `x`",
            "`-g x=dense:ones`",
        ],
        follows: "run 'y(i) = A(i,j) * x(j)' -i A=a.mtx -g x=dense:ones",
    },
    Mistake {
        call: "run 'y(i) = x(i)' -g x=dense:ones",
        code: 2,
        texts: &["error[E0313]", "`-d i=100`"],
        follows: "run 'y(i) = x(i)' -g x=dense:ones -d i=100",
    },
];

fn place() -> Place {
    let place = with_matrix();
    place.write("notes.txt", "a matrix\n");
    place.write("notes.mtx", "a matrix\n");
    let wide = "%%MatrixMarket matrix coordinate real general\n2 5 1\n1 4 2.5\n";
    place.write("wide.mtx", wide);
    place
}

#[test]
fn each_message_leads_to_a_call_that_works() {
    let place = place();
    for Mistake {
        call,
        code,
        texts,
        follows,
    } in [MISTAKES, ADVICE, WORDS, EXPRESSIONS].concat()
    {
        place.shell(&format!("\"$0\" {call}")).refused(code, texts);
        let followed = place.shell(&format!("\"$0\" {follows}"));
        assert_eq!(followed.code, Some(0), "{follows}: {}", followed.stderr);
    }
}

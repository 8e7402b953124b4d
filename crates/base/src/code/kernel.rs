//! `E05..`: compiling, caching, launching.

use super::codes;

codes! {
    NO_COMPILER = "E0501", "no C compiler",
    "The C back end compiles each kernel with the C compiler of this machine, and found none. It
looks at the environment variable `SPARSEC_CC`, then at `CC`, then for `cc`, `gcc` and `clang` in
`PATH`. A compiler that `SPARSEC_CC` names is the only one tried.

    SPARSEC_CC=/opt/gcc/bin/gcc sparsec run 'y(i) = A(i,j) * x(j)' …

Install one (`apt install gcc`), name one in `SPARSEC_CC`, or run without: `--backend cranelift`
makes machine code in memory.";
    COMPILE_FAILED = "E0502", "the C compiler failed",
    "The C compiler was found but did not turn a kernel into a library; what it printed is shown.
Either it is broken or too old for C11 (`sparsec doctor` tries it on a kernel of one line), or
there is no room where it writes its temporary files (see `TMPDIR`), or the C that we wrote is at
fault, which is a bug of ours that we want to hear of. `--backend cranelift` runs without a compiler.";
    CACHE_UNUSABLE = "E0503", "the kernel cache cannot be used",
    "Compiled kernels are kept in a directory of the user's own: `SPARSEC_CACHE_DIR`, else
`XDG_CACHE_HOME/sparsec`, else `~/.cache/sparsec`. Where that cannot be written, kernels are compiled
in a temporary directory (`TMPDIR`, `/tmp`, `/dev/shm`), so this error means that none of them can take
files, or that `sparsec cache` was asked about a directory that cannot be used. Free some space, or
name another directory:

    SPARSEC_CACHE_DIR=/var/tmp/me sparsec run …";
    LOAD_FAILED = "E0504", "a compiled kernel cannot be loaded",
    "The kernel was compiled, but the system's loader refused the library, from memory and from its
file; what it said is shown. The usual reason is a compiler that writes code for another machine,
or something that is no library at all:

    SPARSEC_CC=arm-linux-gnueabihf-gcc sparsec run …       on an x86-64 machine

Try the compiler with `sparsec doctor`, and name another in `SPARSEC_CC`.";
    CACHE_NOT_PRIVATE = "E0505", "a cache directory that others could write to",
    "Compiled kernels are programs that run as the user, so they are kept where nobody else can
put files: a directory that belongs to the user and that no other user may write to. Nobody else may be
able to exchange it either: each directory above it, and each link on the way to it, belongs to the
superuser or to the user, and no group and nobody else may write to it, unless it has the sticky bit,
as `/tmp` has.

    SPARSEC_CACHE_DIR=/shared/cache sparsec cache stat

Take the right to write from others with `chmod go-w`, or name a directory of your own. `sparsec run`
does not stop here: it keeps kernels in a temporary directory as long as it runs.";
    CACHE_SIZE = "E0506", "SPARSEC_CACHE_SIZE is no size",
    "The environment variable `SPARSEC_CACHE_SIZE` bounds how much disk the kernel cache takes. Those
kernels that were not used for the longest time are removed when there is more; without the variable
the bound is 500 MB. It is a whole number of bytes, or a number with a unit:

    SPARSEC_CACHE_SIZE=200M sparsec run …       units: k, M, G, also with B";
    NO_LIBRARY = "E0507", "the C compiler wrote no library",
    "The program that was taken for a C compiler ended without an error, but there is no library where
it should have written one. It is probably no C compiler:

    SPARSEC_CC=/bin/true sparsec run …

See which one is used with `sparsec doctor`, and name another in `SPARSEC_CC`, or run without
one: `--backend interp`.";
    TOO_LARGE_FOR_MEMORY = "E0508", "more than memory holds",
    "Before anything runs, sparsec adds up what a program takes for sure: the dense levels of its operands
and results, its workspaces, and the operands that it converts. That is more than the machine, or the
control group that the program runs in, has left.

    C(i,j) = A(i,k) * B(k,j)      with C dense, 1000000 x 1000000 f64: 8 TB

Give a result compressed levels (`-f C=csr`), compute a part of it (`A(i(0:1000), k)`), schedule a
hashed workspace (`precompute(…, w : hashed)`), or say how much memory the program may take:
`--memory 64G`, `Options::memory` in Rust.";
    COMPILER_HANGS = "E0509", "the C compiler does not end",
    "The C compiler was stopped: it had a minute for a kernel, or ten seconds to say its version or
to compile an empty function. It may wait for a licence, for a file system, or for another program:

    SPARSEC_CC='ssh far-away gcc' sparsec run …

See which one is used with `sparsec doctor`, and name another in `SPARSEC_CC`, or run without
one: `--backend cranelift`.";
    NEGATIVE_POWER = "E0510", "an integer to a negative power",
    "`pow` of integers is an integer, as in NumPy: it wraps where the power is too large, and it has no
value where the exponent is negative.

    y(i) = pow(n(i), k(i))        n and k hold integers, and some k(i) is -1

Compute with floats, `pow(f64(n(i)), k(i))`, or choose: `select(k(i) < 0, 0, pow(n(i), abs(k(i))))`.";
    DIVISION_BY_ZERO = "E0511", "an integer is divided by zero",
    "A stored entry of a result needs the quotient or remainder (`//`, `%`) of an integer and zero. The
kernel stopped, and its result is not used. Where no entry needs the value, there is no error. Division
of floating-point numbers by zero gives an infinity or `NaN`.

    q(i) = a(i) // b(i)        where some b(i) is 0, or is not stored

An entry that a sparse tensor does not store is zero. Divide by a tensor without zeros, or
choose with `select(b(i) == 0, 0, a(i) // b(i))`.";
    CAST_OUT_OF_RANGE = "E0512", "a number does not fit the integer type",
    "A stored entry of a result needs an integer near a floating-point number, and the type has none:
the number is too large, or infinite, or `NaN`. Conversion truncates toward zero, so `i32(2.9)` is
2 and `i32(3e9)` is an error.

Choose the wider type (`i64`), or bring the value into range first with `min` and `max`.";
    WIDTH_OVERFLOW = "E0513", "a position or coordinate does not fit its width",
    "A result has more stored entries, or larger coordinates, than the integers chosen for its
`pos` or `crd` arrays can hold. A 32-bit `pos` array counts up to 2147483647 entries.

Declare wider arrays in the result's format, as in `(i, j) -> (i : dense, j : compressed), pos = 64`,
or declare no width: then the narrowest that is sure to hold is chosen.";
    KERNEL_OUT_OF_MEMORY = "E0514", "no memory for a result",
    "A kernel asked for more memory for a result or a workspace than the machine has to give, and
stopped; nothing was written.

A result with a dense level stores every coordinate of its mode: a dense matrix of 1000000 by
1000000 takes 8 terabytes. Give the result a format with compressed levels, or split the work.";
    WRONG_RESULT = "E0515", "a result that the reference evaluator does not confirm",
    "`--check` computed the expression a second time, entry by entry and without any kernel, and got
something else. Without `--strict` a factor may be multiplied after a sum instead of within it; where
it stores an infinity, that gives `inf` for `NaN`: `inf * (1 + 0)`, not `inf * 1 + inf * 0`.
Any other wrong number is a fault of sparsec: please report the expression, the formats and the
smallest data that shows it.";
    TOO_MANY_POINTS = "E0516", "more points than the reference evaluator visits",
    "`--check` evaluates an expression point by point wherever an operand may store something. That
takes long where an index runs over its whole extent:

    y(i) = x(i) + i               is computed at every i, here 1099511627776 of them

Check the same expression with smaller extents, or run it without `--check`.";
    TOO_MUCH_WORK = "E0517", "more work than anybody waits for",
    "A loop over stored entries is as long as there are entries. One over every coordinate of huge modes
takes years, so that is counted and refused before it begins, from 2^48 steps on.

    s = sum{i,j}(A(i,j) + i)      i and j run to 1099511627776: a number stands at every coordinate

Where an operand stores few entries, only those are visited if all others add up to something: the
sum of equal fills is a product, the largest of them one of them. That is not so of values that differ
from place to place, of functions of your own, and of sums of floats in the order of the source
(`--strict`). Reduce what is stored (`stored_sum{i,j}(A(i,j))`), or a part (`A(i(0:1000), j)`).";
    GIVEN_MISFIT = "E0518", "data that a computation cannot be given",
    "A computation is run with a value for each parameter and an array for each `given` or `inout` data
space: dense, of its type, with the extents that the text says. Parameters are not negative.

    given pos : i32[N + 1]     with N = 4, an array of 4 entries is too short

Give each of them once, with `-d NAME=VALUE` and `-i NAME=FILE`.";
    NOT_AS_DECLARED = "E0519", "data that are not as declared",
    "Loops trust what is declared: where an array has values, which, and in what order. So all of it is
checked before a kernel runs.

    function pos : {[i] : 0 <= i <= N} -> {[p] : 0 <= p <= NZ} nondecreasing
    pos = [0, 3, 1]: pos(1) = 3 and pos(2) = 1

Correct the array, or declare what holds of it. A declaration that takes too long to check, or that cannot
be, as of an order of your own, is refused as well.";
    VALUE_SHARED = "E0520", "a value that is several entries of a copied operand",
    "An operand whose format is a relation is copied where an expression is no sum of products. The copy has
one entry for each value, so each part of the map has to give a value one place.

    map {[n, s] -> [i, j] : 0 <= s < 2 && …}   data {[n, s] -> [n]}      value 3 is at 2 tuples

State the second place as a part of its own, with `union`: each part is copied by itself.";
    CANCELLED = "E0521", "a computation that was cancelled",
    "A program may say that it does not wait any longer: by `Binding::until` and `Session::until` in Rust, by
`Cancel::watch` for packing and reading, by the field `cancelled` of the context in emitted C. Loops end
soon after that. Their results hold anything, and are not given back.";
}

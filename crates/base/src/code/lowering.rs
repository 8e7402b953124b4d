//! `E03..`: planning and lowering.

use super::codes;

codes! {
    LOOP_ORDER = "E0301", "a level is visited before the levels outside it",
    "A level of stored coordinates can be walked only below one position of the level outside it.
Here the loops visit its index variable first.

    y(i) = A(i,j) * x(j)         A : csr, loops ordered j, i

Order the loops as the format stores its modes (`reorder(i, j)`), or store the tensor in the
other mode order (`csc`).";
    RESULT_ORDER = "E0303", "a sparse result is not produced in order",
    "Stored coordinates of a result are appended in the order of its levels. The loops here reach
them in another order, or come back to them for every value of a summed variable.

    C(i,j) = A(i,k) * B(k,j)     loops i, k, j: row i of C is visited once for each k

Collect such values in a workspace first (`precompute(A(i,k) * B(k,j), {j}, w)`), order the loops
as the result stores its modes, or store the result as `dense`.";
    UNORDERED = "E0304", "an operand without order cannot be merged",
    "Entries that stand in any order, or repeatedly, can be visited one after the other and added up
into a dense result, and nothing else: merging with another operand or appending to a sparse
result needs them in order.

Convert the operand to an ordered format, such as `scoo` instead of `coo`.";
    MERGE_TOO_LARGE = "E0305", "too many operands merged in one loop",
    "Each operand that may be missing at a coordinate doubles the cases of a loop. The kernel of this
statement would have too many. Such a statement is split by itself, but not where a schedule says how
it is computed.

    reorder(i, j)          for F(i,j) = A(i,j) + B(i,j) + C(i,j) + D(i,j) + E(i,j)

Leave out the schedule, or name part of the sum:
`T(i,j) = A(i,j) + B(i,j) + C(i,j); F(i,j) = T(i,j) + D(i,j) + E(i,j)`.";
    SPARSE_REDUCTION = "E0306", "a sparse result cannot be accumulated into",
    "A stored entry of a sparse result is written once. Here an assignment with an operator would
combine values into it.

The same holds of a dense result in blocks or by diagonals whose padding, the places beyond the tensor,
holds the fill: values are accumulated there only if the operator's identity is the fill.

Collect the values first: `precompute(…, {}, t)`, or store the result as `dense`.";
    WORKSPACE_MODES = "E0307", "a workspace that does not know what is stored",
    "The values of a sparse result are collected in a workspace that lists the coordinates stored in
it. A `dense` one does not, and none can where the values are not the operator's identity where no
operand is stored (as zero is for a sum): then every coordinate gets a value. So it is where a
workspace has a say by what it does not hold: as a factor of what may be infinite, or where
`isstored` asks for it.

    precompute(A(i,k) * B(k,j), {j}, w : dense)      C : csr

Leave out the kind or write `w : listed`; or leave out the schedule.";
    UNKNOWN_TENSOR_IN_SCHEDULE = "E0310", "a schedule names what the statement does not have",
    "A command of a schedule names a tensor, an index variable or an expression that the statement
does not have, or that it has elsewhere.

`sparsec compile … --emit concrete` prints the statement that commands apply to.";
    ILLEGAL_COMMAND = "E0311", "a schedule command that cannot be applied",
    "The command would change what the statement means, or needs another shape of loops: `reorder`
takes loops that are directly inside one another, `precompute` an expression that is computed
there.

`sparsec compile … --emit concrete` prints the statement that commands apply to.";
    UNKNOWN_COMMAND = "E0361", "an unknown schedule command",
    "A schedule is a list of commands, and this word is the name of none.

    sparsec compile 'y(i) = A(i,j) * x(j)' -s 'vectorize(j)'
                                               ^^^^^^^^^ no command has this name

These are the commands: `reorder split divide fuse skew deal pos bound unroll parallelize mergeby
prefetch assemble precompute fission loopfuse store convert levels pieces`. The message for a command
without arguments shows how it is written.";
    UNKNOWN_WORKSPACE_KIND = "E0320", "unknown kind of workspace",
    "A schedule or a statement says how a workspace is kept, by a word that is no kind.

    precompute(A(i,k) * B(k,j), {j}, w : hashed)

`dense` holds a value for every coordinate. `bitmap` adds a bit for each, which says whether it was
written; `marked` has these bits and a list to clear them by; `listed` has a list that loops walk.
`hashed` holds only the coordinates that were written, and `appended` those of one loop that writes
a vector in order. Leave the kind out, and the compiler takes the kind that the consumer needs.";
    MISSING_EXTENT = "E0313", "an extent that is not known",
    "An index variable of a result is in no operand whose extents are known, so the size of the
result is not known either.

    sparsec run 'A(i,j) = b(i)' -i b=b.tns

Say it: `-d j=100`.";
    MISSING_INPUT = "E0314", "a tensor without data",
    "The program reads a tensor that no file and no generator was given for.

Give it a file with `-i NAME=FILE` or a generator with `-g NAME=GENERATOR`, or compute it in an
earlier statement.";
    UNKNOWN_PASS = "E0315", "unknown pass",
    "`--emit loop-after=PASS` takes the name of a pass of the loop IR, `lower` for the loops
before all passes, or `divide` for those that are compiled. `--time-passes` lists the passes.";
    NO_LEVEL_COORDINATES = "E0316", "levels without coordinates of their own",
    "`levels(A, FORMAT)` names in accesses of `A` the coordinates that its levels store, as
`i // 4` and `i % 4` for blocks. FORMAT has to be how `A` is stored, in one tree of levels that holds
all entries, over extents that are known; places on curves have to be listed.

    levels(A, msr)               the diagonal is one part, what is beside it another

Leave the command out, or convert the tensor: `convert(A, csr)`.";
    SCHEDULE_SKEW = "E0317", "a sum that cannot stand for a loop",
    "`skew(j, d, SUM)` loops over the values of a sum of `j`, another loop and a number, and computes
`j` from them. The sum must have `j` once, never be negative, and both loops must be around all that
uses `j`.

    skew(j, d, j - i)            is negative below the diagonal

Add what makes it positive: `skew(j, d, j - i + 9)` for 10 rows.";
    SCHEDULE_DEAL = "E0355", "places on a curve that cannot stand for loops",
    "`deal(m, morton(i, j))` loops over the places of a curve, and takes `i` and `j` out of their bits.
The extents of all coordinates have to be known, their bits have to fit in 63, and their loops must be
in one nest everywhere.

    deal(m, alto(i, 1000, j, 50))       where `j` has extent 60

Say the extents as they are, or loop over the coordinates themselves.";
    SCHEDULE_NAME = "E0336", "a name that a schedule cannot give",
    "A command makes a loop or a workspace under a name that a tensor or a loop has already.

    split(i, j, i1, 32)          in y(i) = A(i,j) * x(j), where `j` is a loop

Choose another name: `split(i, i0, i1, 32)`.";
    SCHEDULE_SIZE = "E0337", "a size that a schedule cannot use",
    "Blocks have at least one coordinate, a loop is divided into at least one block, and is unrolled
a moderate number of times. A variable is computed from at most 128 others, which is as much as 63
splits of one loop make.

    split(i, i0, i1, 0)

Give a size from 1 up: `split(i, i0, i1, 32)`.";
    SCHEDULE_RACE = "E0338", "iterations that disturb one another",
    "Iterations of a parallel loop run at once, so two of them must not write the same entry, unless
they combine values by an operator whose order does not matter and the strategy says how.

    parallelize(j, CPUThread, NoRaces)        in y(i) += A(i,j) * x(j): all add to y(i)

Parallelize a loop that the left side names (`parallelize(i, CPUThread, NoRaces)`), or choose a
strategy: `Atomics`, `Temporary`, or `ParallelReduction` for one value.

Entries of a sparse result are appended one after the other. With `Temporary`, iterations append
to pieces, which are put behind one another in their order; or `assemble(C, Insert)` counts entries
first: then iterations over the outer dense levels of `C` have places of their own.";
    SCHEDULE_BOUND = "E0339", "a bound that does not hold",
    "`bound` says how far a loop runs, and what it says is checked. Here the extent is another, or is
not known when the kernel is compiled.

    bound(i, ib, 64, MaxExact)                where i has extent 100

Say what holds (`bound(i, ib, 100, MaxExact)`), or give extents: `-d i=64`.";
    SCHEDULE_POSITIONS = "E0340", "positions that cannot stand for coordinates",
    "A loop over positions of an operand visits the coordinates that it stores and no others, level
by level from the outermost that the loop binds. Here the statement does something elsewhere too,
or the operand's levels are in another order.

    pos(i, p, b(i))                           in a(i) = b(i) + c(i): c alone is missed

Take the positions of an operand without which nothing is done (`b` in `b(i) * c(i)`), and fuse
loops in the order of its levels.";
    SCHEDULE_GALLOP = "E0341", "a merge that cannot leap",
    "`mergeby(i, Gallop)` leaps over coordinates that one operand lacks, so every operand of the loop
has to be needed: the loop is an intersection of ordered levels.

    mergeby(i, Gallop)                        in a(i) = b(i) + c(i), which visits all of both

Use it where operands are multiplied, or leave it out: `mergeby(i, TwoFinger)` is the default.";
    SCHEDULE_PREFETCH = "E0356", "an operand that a loop does not lead to",
    "`prefetch(j, B, 4)` fetches what the loop over `j` reads of `B` four turns later. `B` may also be a
dense result that the loop adds to. So an access of `B` has to name `j`.

    prefetch(i, x, 4)                         in y(i) = A(i,j) * x(j): `x` does not follow `i`

Name the loop whose variable leads to the operand, as `prefetch(j, x, 4)`, or leave it out.";
    SCHEDULE_ASSEMBLY = "E0342", "a result that cannot be assembled in this way",
    "`assemble(A, Insert)` counts the entries of each segment first and then inserts them at their
places. That takes a result that stores coordinates, and no dense level between two that do.

    assemble(y, Insert)                       y : dense: each entry has its place already

Leave it out, or write `assemble(A, Append)`, which is the default.";
    SCHEDULE_DEPENDENCE = "E0343", "a loop that would read what is not computed yet",
    "`loopfuse(i)` makes one loop of those around the two sides of a `where`. An iteration may then
read the entries of the temporary that it computed itself, and no others. Of two nests of a
sequence, neither may read what the other writes, and what both write they add to.

    where(forall i: y(i) = w(j), …)           an entry at another index than `i`

Fuse a loop that every access of the temporary names alone.";
    SCHEDULE_ORDER = "E0344", "blocks in an order that nothing can follow",
    "The loops visit the coordinates of a variable with gaps: the loop within a block is outside that
over blocks, or several variables are computed from one loop. Ordered levels of a sparse result,
positions, and operands without order cannot follow that.

    split(i, i0, i1, 32); reorder(i1, i0)     with a sparse result over i

Put the loop over blocks outside, or store the result as `dense`.";
    SCHEDULE_WORD = "E0346", "a word that a command does not take",
    "Commands of schedules take certain words: units (`CPUThread`, `CPUVector`), strategies for races
(`NoRaces`, `IgnoreRaces`, `Atomics`, `Temporary`, `ParallelReduction`), kinds of bounds, ways to
merge (`Gallop`, `Select`, `TwoFinger`) and to assemble (`Append`, `Insert`).

    parallelize(i, CPUThreads, NoRaces)
                   ^^^^^^^^^^ there is `CPUThread`

sparsec makes no kernels for graphics processors, so `GPUBlock`, `GPUWarp` and `GPUThread` are refused.";
    NOT_ADDITIVE = "E0350", "a use of a tensor that is no sum",
    "`pieces(A, FORMAT)` writes the sum of several tensors in place of `A`, and a nest of loops for each
of them. What is computed has to be added up from what each entry of `A` gives, and where `A` stores
nothing that has to be nothing.

    pieces(A, msr)               in C(i,j) = max(A(i,j), B(i,j))

Leave the command out, or convert the tensor: `convert(A, csr)`.";
    NO_PIECES = "E0351", "a tensor without pieces",
    "`pieces(A, FORMAT)` takes apart a tensor that is stored in several parts, as a triangle, or by
entries that stand for their mirror images too. FORMAT has to be how `A` is stored, and mirror images
of what is not stored must not differ from it.

    pieces(A, csr)               is one list of rows

Leave the command out, or convert the tensor: `convert(A, dcsr)`.";
    AMBIGUOUS_COMMAND = "E0360", "a command that may be for several statements",
    "A schedule of a program does not say for which statement a command is, and several have the
loops, tensors or expressions that it names.

    B(i,j) = A(i,k) * A(k,j)
    y(i) = B(i,j) * x(j)              with split(i, i0, i1, 32)

Put the name of the result before it: `B: split(i, i0, i1, 32)`. What follows is for that statement,
up to the next name, as in `B: split(i, i0, i1, 32); unroll(j, 4)  y: unroll(j, 8)`. Statements that
planning splits off have names too; `sparsec compile … --emit schedule` prints them all.";
}

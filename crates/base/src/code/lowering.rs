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
statement would have too many.

    F(i,j) = A(i,j) + B(i,j) + C(i,j) + D(i,j) + E(i,j)

Name part of the sum: `T(i,j) = A(i,j) + B(i,j) + C(i,j); F(i,j) = T(i,j) + D(i,j) + E(i,j)`.";
    SPARSE_REDUCTION = "E0306", "a sparse result cannot be accumulated into",
    "A stored entry of a sparse result is written once. Here an assignment with an operator would
combine values into it.

Collect the values first: `precompute(…, {}, t)`, or store the result as `dense`.";
    WORKSPACE_MODES = "E0307", "a workspace that this version does not have",
    "The values of a sparse result are collected in a workspace that lists the coordinates stored in
it. This version has such workspaces of one mode only, for values that are the operator's identity
where no operand is stored (as zero is for a sum).

    C(i,j) = A(k,i) * B(k,j)     A, B : csr, so k is outside both i and j

Store an operand in another mode order (here `A : csc`), or the result as `dense`.";
    RESULT_FORMAT = "E0308", "a format that this version does not assemble",
    "The statement is understood, but its result is asked for in a format that no kernel of this
version writes: one whose last level repeats coordinates.

Leave out `nonunique` on the last level, or ask for another format and convert.";
    UNKNOWN_TENSOR_IN_SCHEDULE = "E0310", "a schedule names what the statement does not have",
    "A command of a schedule names a tensor, an index variable or an expression that the statement
does not have, or that it has elsewhere.

`sparsec compile … --emit concrete` prints the statement that commands apply to.";
    ILLEGAL_COMMAND = "E0311", "a schedule command that cannot be applied",
    "The command would change what the statement means, or needs another shape of loops: `reorder`
takes loops that are directly inside one another, `precompute` an expression that is computed
there.

`sparsec compile … --emit concrete` prints the statement that commands apply to.";
    UNKNOWN_WORKSPACE_KIND = "E0320", "unknown kind of workspace",
    "A schedule or a statement says how a workspace is kept, by a word that is no kind.

    precompute(A(i,k) * B(k,j), {j}, w : hashed)

`dense` holds a value for every coordinate, `listed` adds a list of those written, `hashed` holds only
those. Leave the kind out, and the compiler takes what the consumer needs.";
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
    "`--emit loop-after=PASS` takes the name of a pass of the loop IR, or `lower` for the loops
before all passes. `--time-passes` lists the passes.";
}

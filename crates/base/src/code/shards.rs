//! `E11..`: shards of tensors and programs, and the clusters that compute them.

use super::codes;

codes! {
    NOT_SHARDABLE = "E1101", "an index variable by which a program is not cut into shards",
    "A shard computes the last statement for a range of an index variable. The variable is on the left, or
of a sum (or `max`, …) around all of the right side, and each access has it as a plain index. A variable
that is a number, or part of an index such as `i + 1`, would need entries of other shards.

    y(i) = b(i) + A(i,j) * x(j)        by `i`, and not by `j`: each shard would add `b(i)`
    y(i) = x(i + 1) * i                by none

Cut by another variable, let the plan choose one, or compute a part by a call of its own.";
    SHARD_PLAN = "E1102", "a plan of shards that cannot be read",
    "A plan of shards has one command for each variable that is cut, with all bounds from 0 to the extent.
`#` begins a comment.

    shard(i, 0, 120, 433, 1000)        three shards of rows
    shard(i, 120, 433)                 does not say where the first one begins

Take the plan as `explain` printed it.";
    SHARD_MEMORY = "E1103", "a plan of shards without the bytes of a shard",
    "How many shards there are follows from the bytes that one may take, and from nothing else.

    sparsec.explain(\"y(i) = A(i,j) * x(j)\", stage=\"shards\", memory=\"2GB\", A=A, x=x)

Give `memory`.";
    PARTS_MISMATCH = "E1104", "parts of a tensor that do not fit together",
    "Chunks of an array and files of a folder that are parts of one tensor have one order, one type and
one format, and equal extents in all modes but the one along which they lie side by side.

    part-0.mtx   1000 x 50
    part-1.mtx   1000 x 60       rows below those of part 0 have 50 columns, too

The message names the part. Convert it, or leave it out.";
    FILE_CHANGED = "E1105", "a file that changed while a computation read it",
    "An array of files is made of their headers, and tasks read the files later: once, or again if a
worker ends. A file of another size, time of writing or sample of its bytes than at first holds
another tensor, so the result would mix two states. On the machine that made the array, the inode and
the time of change tell, too.

    x = sparsec.dask.read(\"parts/*.mtx\")
    ...                                          parts/1.mtx is written again
    x.sum().compute()

Call `read` again when files are complete.";
    VERSIONS_DIFFER = "E1106", "different versions of sparsec on a client and a worker",
    "Plans are made by the client and followed by workers. Another version might choose another order of
sums, so that results would have other bits.

    pip install sparsec==VERSION       on the client and on each worker

Install one version everywhere.";
    SHARD_LOST = "E1107", "a shard whose workers ended",
    "Workers that computed this shard ended one after the other, and Dask gave up. Mostly the shard takes
more memory than a worker has: slices of operands and the result are estimated, but workspaces,
intermediate tensors and operands that are whole are not.

    sparsec.dask.evaluate(text, memory=\"500MB\", …)        smaller shards
    LocalCluster(n_workers=4, memory_limit=\"4GB\")         more memory for each worker

The message names the shard and what it was estimated to take.";
    CLUSTER_LOST = "E1108", "a cluster that went away",
    "The connection to the scheduler of Dask closed before the result was there, so what workers hold
is lost. No file was written.

    client = distributed.Client(\"tcp://scheduler:8786\")

Start the scheduler again, connect a new client, and repeat the call.";
}

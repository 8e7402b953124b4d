"""Programs computed by a cluster of Dask, one task a shard."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Mapping, Sequence
from uuid import uuid4

import dask.array as da

from .. import _blocks, _folders, _planner
from .._compute import _call
from .._compute import _plan as _plan_of_call
from .._tensor import Tensor
from ._arrays import SHARD
from ._cluster import (
    client_of,
    computed,
    n_workers_of,
    persisted,
    sent_by_workers,
    sent_since,
)
from ._files import read
from ._graphs import Measure, Tasks, measures
from ._operands import Chunked
from ._watch import watched


def _program(
    expression: str,
    operands: Mapping[str, Any] | None,
    out_format: str | Mapping[str, str] | None,
    extents: Mapping[str, int] | None,
    named: Mapping[str, Any],
) -> _blocks.Program:
    """The call, with Dask arrays as operands that are elsewhere."""
    given = {**(operands or {}), **named}
    elsewhere = {name: Chunked(name, x) for name, x in given.items() if isinstance(x, da.Array)}
    metas = {name: it.meta for name, it in elsewhere.items()}
    if operands is not None:
        operands = {name: metas.get(name, x) for name, x in operands.items()}
    named = {name: metas.get(name, x) for name, x in named.items()}
    return _blocks.Program(expression, *_call(operands, out_format, extents, named), elsewhere)


def evaluate(
    expression: str,
    operands: Mapping[str, Any] | None = None,
    /,
    *,
    client: Any = None,
    memory: int | str | None = None,
    shards: str | None = None,
    gather: bool = True,
    progress: bool = False,
    out_format: str | Mapping[str, str] | None = None,
    extents: Mapping[str, int] | None = None,
    **named: Any,
) -> Any:
    """Computes the last statement of a program on a cluster, one task a shard.

    As `sparsec.evaluate`. The plan is made once, here; kernels reach workers as programs, are
    compiled there once, and need no compiler.

    Operands may be Dask arrays, whose chunks stay where they are: `shard(A, by="i").persist()`
    sends a tensor once for any number of calls. The plan keeps their chunks if shards of these fit,
    of several the way that moves the fewest bytes; otherwise workers rechunk them. Chunks that are not dense
    are computed and counted when the plan is made.

    Parameters
    ----------
    expression, operands, out_format, extents, **named
        As for `sparsec.evaluate`; and Dask arrays.
    client : distributed.Client, optional
        The cluster. By default the current client; without one, Dask's threads in this process.
    memory : int or str, optional
        How many bytes a shard may take on a worker; 128 MiB by default. Counted are slices of
        operands and, by estimate, the result of the shard; of a program that is not cut, all
        operands, since they are sent, and the result. Not counted are operands that are whole
        beside slices, intermediate tensors of several statements, workspaces, and converted
        copies. Not beside `shards`.
    shards : str, optional
        A plan that `explain` printed. It is followed on any cluster, with the same bits.
    gather : bool
        Whether the result is gathered and joined here. If not, it is a Dask array of the results
        of shards. A cluster begins to compute them, and they stay on its workers as long as the
        array is referred to; this call does not wait. Without a cluster, they are computed when
        Dask is asked to.
        Its chunks have no triangles or mirrored halves: `out_format` with such a rule does not
        hold for them.
    progress : bool
        Whether a line on standard error tells how many shards are done. Not of a result that is
        not gathered.

    Returns
    -------
    Tensor, or dask.array.Array

    Raises
    ------
    InputError
        As `sparsec.evaluate`; for workers of another version of sparsec (``E1106``), and for
        `memory` beside `shards` (``E0003``).
    OutOfMemoryError
        If no shard fits into `memory`, and for a shard that takes more memory than a worker has,
        with its ranges and bytes (``E0407``).
    ClusterError
        For a shard whose workers ended again and again (``E1107``), and for a scheduler that went
        away (``E1108``). Faults of a result that is not gathered are Dask's own, when it is read.

    Examples
    --------
    >>> import numpy as np, sparsec, sparsec.dask
    >>> A = sparsec.asarray(np.eye(6), format="csr")
    >>> text = "C(i,k) = A(i,j) * A(j,k)"
    >>> sparsec.dask.evaluate(text, A=A, shards="shard(i, 0, 3, 6)").nnz
    6
    >>> x = sparsec.dask.shard(A, by="i", n=3).persist()
    >>> for _ in range(3):
    ...     x = sparsec.dask.evaluate("y(i,j) = 2 * x(i,j)", x=x, gather=False)
    >>> x.chunks, x.sum().compute().item()
    (((2, 2, 2), (6,)), 48.0)
    """
    client = client_of(client)
    program = _program(expression, operands, out_format, extents, named)
    plan = _plan(program, memory, shards, client)
    if not gather:
        return Tasks(program, plan, client).array(client)
    tasks = Tasks(program, plan, client, uuid4().hex if progress else None)
    with _shown(tasks, client, progress):
        pieces = computed(tasks.pieces, client, tasks.named(plan.volumes))
    return tasks.joined(pieces)


def _shown(tasks: Tasks, client: Any, progress: bool) -> Any:
    """The context in which the shards are counted, if they are to be."""
    if not progress or tasks.run is None:
        return nullcontext()
    return watched(tasks.run, len(tasks.sharding.shards()), client)


def evaluate_to(
    folder: Any,
    expression: str,
    operands: Mapping[str, Any] | None = None,
    /,
    *,
    client: Any = None,
    memory: int | str | None = None,
    shards: str | None = None,
    progress: bool = False,
    out_format: str | Mapping[str, str] | None = None,
    extents: Mapping[str, int] | None = None,
    **named: Any,
) -> da.Array:
    """Computes as `evaluate`, and workers write each part of the result as it is made.

    Workers hold the parts that they compute, and neither they nor the client the whole. With
    operands that `read` made, and without a cluster, one process computes what is larger than its
    memory.

    Parameters
    ----------
    folder : path-like
        A folder that is made, where workers find it, too. It appears whole or not at all.
    expression, operands, client, memory, shards, progress, out_format, extents, **named
        As for `evaluate`. A format that stores a triangle or a mirrored half does not hold for
        parts.

    Returns
    -------
    dask.array.Array
        The result, which tasks read from the files.

    Raises
    ------
    FileError
        If the folder is there already, or cannot be written (``E0427``).

    The other errors are those of `evaluate`.

    Examples
    --------
    >>> import numpy as np, os, sparsec, sparsec.dask, tempfile
    >>> A = sparsec.asarray(np.eye(6), format="csr")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     C = sparsec.dask.evaluate_to(
    ...         os.path.join(folder, "C"), "C(i,k) = A(i,j) * A(j,k)",
    ...         A=A, shards="shard(i, 0, 2, 6)")
    ...     print(C.chunks, C.compute().nnz)
    ((2, 4), (6,)) 6
    """
    client = client_of(client)
    program = _program(expression, operands, out_format, extents, named)
    plan = _plan(program, memory, shards, client)
    # Files are written in each call, so their tasks have keys of their own.
    tasks = Tasks(program, plan, client, uuid4().hex)
    with _folders.appearing(folder) as made, _shown(tasks, client, progress):
        files, layout = tasks.written(made)
        computed(files, client, tasks.named(plan.volumes))
    parts: da.Array
    if layout.mode is not None:
        parts = read(folder, by=layout.mode)
    else:
        parts = read(folder, shape=layout.shape, format=program.part_format, chunks=tasks.chunks)
    return parts


def explain(
    expression: str,
    operands: Mapping[str, Any] | None = None,
    /,
    *,
    client: Any = None,
    memory: int | str | None = None,
    shards: str | None = None,
    run: bool = False,
    out_format: str | Mapping[str, str] | None = None,
    extents: Mapping[str, int] | None = None,
    **named: Any,
) -> str:
    """The plan of shards that `evaluate` follows, with estimated volumes.

    Printed are the bytes of operands and how they are sent, the memory of a worker, the bytes over
    the network at most, and the commands. The network's depend on the workers that there are; the
    commands do not.

    Parameters
    ----------
    run : bool
        Whether the program is run, and what it took is printed beside the estimates. Bytes that are
        sent are slices and operands in tasks, and what workers counted.

    The other parameters and errors are those of `evaluate`.

    Examples
    --------
    >>> import numpy as np, sparsec, sparsec.dask
    >>> A = sparsec.asarray(np.eye(300), format="csr")
    >>> text = "C(i,k) = A(i,j) * A(j,k)"
    >>> print(sparsec.dask.explain(text, A=A, memory=5000, run=True))
    # C(i,k) = sum{j}(A_i(i,j) * A(j,k))
    # 2 shards of 4.8 kB at most, of 5 kB
    # A_i: 4.8 kB, cut by i, sent once
    # A: 4.8 kB, whole, sent to each worker
    # result: 4.8 kB estimated, joined by i
    # memory of a worker: 4.8 kB, and 4.8 kB a thread
    # network: 19.2 kB between 2 workers, 19.2 kB between 16
    # actual: in this process; the largest shard 4.81 kB of 4.8 kB, the result 4.81 kB of 4.8 kB
    shard(i, 0, 150, 300)
    """
    client = client_of(client)
    program = _program(expression, operands, out_format, extents, named)
    plan = _plan(program, memory, shards, client)
    if shards is not None:
        for it in program.elsewhere.values():
            it.count(client)
        plan = _planner.described(program, plan)
    if not run:
        return str(plan)
    for it in program.elsewhere.values():
        it.array = persisted(it.array, client)
    before = sent_by_workers(client)
    name = uuid4().hex
    tasks = Tasks(program, plan, client, name)
    pieces = computed(tasks.pieces, client, tasks.named(plan.volumes))
    by_workers, is_known = sent_since(before, client)
    sent = _Sent(tasks.sent + by_workers, is_known)
    note = _actual(plan, pieces, measures(name, client), sent, client)
    return str(_blocks.Plan(plan.cuts, (*plan.notes, note)))


@dataclass(frozen=True)
class _Sent:
    """The bytes that a run sent."""

    nbytes: int
    #: Whether no worker ended, and took its count along.
    is_known: bool


def _actual(
    plan: _blocks.Plan,
    pieces: Sequence[Tensor],
    taken: Sequence[Measure],
    sent: _Sent,
    client: Any,
) -> str:
    """The measures of a run, beside those of the plan."""
    volumes, n_workers = plan.volumes, n_workers_of(client)
    show = _blocks.text_of_bytes
    shard, result = max((it.held for it in taken), default=0), sum(it.nbytes for it in pieces)
    first = "in this process"
    if n_workers is not None:
        planned = show(volumes.sent(n_workers))
        least = "" if sent.is_known else "at least "
        first = f"{n_workers} workers, {least}{show(sent.nbytes)} sent of {planned} planned"
    return (
        f"actual: {first}; the largest shard {show(shard)} of {show(volumes.shard)}, "
        f"the result {show(result)} of {show(volumes.result)}"
    )


def _plan(
    program: _blocks.Program, memory: int | str | None, shards: str | None, client: Any
) -> _blocks.Plan:
    if shards is not None:
        return _plan_of_call(program, memory, shards)
    taken = SHARD if memory is None else _blocks.bytes_of(memory)
    for it in program.elsewhere.values():
        it.count(client)
    return _planner.planned(program, taken, sent=True)

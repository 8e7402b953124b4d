"""Tensors as chunks of Dask arrays, and programs computed by a cluster of Dask.

Needs ``dask`` and ``distributed``: ``pip install "dask[array]" distributed``.

===========================  ========================================================
function                     does
===========================  ========================================================
`evaluate`                   computes a program shard by shard on a cluster
`explain`                    shows the plan of shards, and what its run took
`shard`                      a Dask array of a tensor, in shards balanced by entries
`from_dask`, `from_delayed`  Dask arrays whose chunks are sparsec's tensors
===========================  ========================================================

::

    client                          scheduler                       workers
    plan of shards  ──one task a shard, with its slices──►  kernel (compiled once a worker)
    result          ◄──join─────────────────────────────  partial results, combined in a tree

Shards follow from the operands and from the bytes of a shard, never from the workers. Results have
the same bits on any cluster, and if a worker ends and Dask computes its tasks again. Slices of
operands are part of the tasks, so that they can be sent again; whole operands are sent once and
passed on by workers.

Examples
--------
>>> import numpy as np, sparsec, sparsec.dask
>>> A = sparsec.asarray(np.diag([1.0, 2.0, 3.0, 4.0]), format="csr")
>>> x = sparsec.dask.shard(A, by="i", n=2)
>>> x.chunks
((2, 2), (4,))
>>> x.sum(axis=0).compute().to_numpy()
array([1., 2., 3., 4.])
"""

from __future__ import annotations

import sys
import warnings
from typing import Any, Mapping, Sequence

import numpy as np

from . import _blocks, _shards, _sparsec
from ._array_api.entries import is_dense
from ._array_api.linear import tensordot
from ._array_api.manipulation import concat
from ._asarray import asarray
from ._compute import _call, einsum
from ._compute import _plan as _plan_of_call
from ._errors import failure
from ._tensor import Tensor

try:
    import dask
    import dask.array as da
    from dask.array import dispatch
    from dask.base import normalize_token
    from dask.sizeof import sizeof
except ImportError as error:
    raise ImportError(
        f'sparsec.dask needs Dask ({error}); install it: pip install "dask[array]" distributed'
    ) from error

__all__ = ["evaluate", "explain", "from_dask", "from_delayed", "shard"]

#: Bytes of a shard by default, as of Dask's chunks.
_SHARD = 128 * 2**20


def _concatenate(arrays: Sequence[Any], axis: int = 0) -> Tensor:
    """Chunks as one. Names what does not fit."""
    tensors = [asarray(x) for x in arrays]
    order = tensors[0].ndim
    for number, x in enumerate(tensors[1:], 1):
        if x.ndim != order:
            message = f"chunk {number} has shape {x.shape}, and chunk 0 has shape {tensors[0].shape}"
            raise failure("E0203", message, "give chunks of one order")
        if x.dtype != tensors[0].dtype:
            message = f"chunk {number} stores {x.dtype}, and chunk 0 stores {tensors[0].dtype}"
            raise failure("E0403", message, "convert the chunks to one type: `array.astype(...)`")
    formats = list(dict.fromkeys(x.format for x in tensors if not _is_empty(x)))
    if len(formats) > 1:
        message = f"chunks are stored as {' and '.join(formats)}"
        help = 'convert them to one format: `sparsec.dask.from_dask(array, format="csr")`'
        raise failure("E0403", message, help)
    mode = axis % order
    shape, offsets, end = list(tensors[0].shape), [], 0
    for number, x in enumerate(tensors):
        others = [extent for at, extent in enumerate(x.shape) if at != mode]
        if others != [extent for at, extent in enumerate(shape) if at != mode]:
            message = f"chunk {number} has shape {x.shape}, and chunk 0 has shape {tensors[0].shape}"
            raise failure("E0203", message, f"give chunks that differ along axis {mode} only")
        offsets.append([end if at == mode else 0 for at in range(order)])
        end += x.shape[mode]
    shape[mode] = end
    if all(map(is_dense, tensors)):
        return concat(tensors, axis=mode)
    return _shards.join(tensors, offsets, shape, formats[0] if formats else None)


def _is_empty(x: Tensor) -> bool:
    return 0 in x.shape


def _einsum(equation: str, *operands: Any, dtype: Any = None, **options: Any) -> Tensor:
    made = einsum(equation, *operands)
    return made if dtype is None else made.astype(dtype)


def _numel(x: Tensor, axis: Any = None, keepdims: bool = False, **options: Any) -> Any:
    """How many entries a chunk has along axes: a dense array."""
    modes = range(x.ndim) if axis is None else np.atleast_1d(axis) % x.ndim
    n = int(np.prod([x.shape[mode] for mode in modes], dtype=object))
    kept = [1 if mode in modes else extent for mode, extent in enumerate(x.shape)]
    if not keepdims:
        kept = [extent for mode, extent in enumerate(x.shape) if mode not in modes]
    return np.full(kept, n, dtype=options.get("dtype") or np.float64)


def _register() -> None:
    dispatch.concatenate_lookup.register(Tensor, _concatenate)
    dispatch.tensordot_lookup.register(Tensor, lambda a, b, axes: tensordot(a, b, axes=axes))
    dispatch.einsum_lookup.register(Tensor, _einsum)
    dispatch.numel_lookup.register(Tensor, _numel)
    dispatch.take_lookup.register(Tensor, _take)
    dispatch.divide_lookup.register(Tensor, _divided)
    # So that operators of Dask's arrays take tensors beside them.
    da.register_chunk_type(Tensor)

    @sizeof.register(Tensor)
    def size(x: Tensor) -> int:
        return x.nbytes

    @normalize_token.register(Tensor)
    def token(x: Tensor) -> Any:
        arrays = [normalize_token(array) for array in x.buffers.values()]
        return "sparsec.Tensor", x.format, x.shape, str(x.dtype), str(x.fill_value), arrays


def _take(x: Tensor, indices: Any, axis: int = 0) -> Any:
    key: list[Any] = [slice(None)] * x.ndim
    key[axis] = np.asarray(indices)
    return x[tuple(key)]


def _divided(a: Any, b: Any, dtype: Any = None) -> Tensor:
    made = asarray(a) / asarray(b)
    return made if dtype is None else made.astype(dtype)


_register()


def _chunk(x: Any, format: str | None, dtype: Any) -> Tensor:
    return asarray(x, format, dtype=dtype)


def _meta(order: int, dtype: Any, format: str | None) -> Tensor:
    """A tensor of no entries, by which Dask knows what chunks are."""
    nothing = np.zeros((0,) * order, dtype=dtype)
    return asarray(nothing) if format is None else asarray(nothing, format)


def from_dask(array: Any, format: str | None = None) -> Any:
    """A Dask array whose chunks are tensors, of one with chunks of NumPy, SciPy or PyData.

    Parameters
    ----------
    array : dask.array.Array
    format : str, optional
        How chunks are stored; by default as `asarray` stores them.

    Returns
    -------
    dask.array.Array

    Examples
    --------
    >>> import dask.array as da, numpy as np, sparsec.dask
    >>> x = sparsec.dask.from_dask(da.from_array(np.eye(4), chunks=2), format="csr")
    >>> (x @ x).compute().format
    'csr'
    """
    meta = _meta(array.ndim, array.dtype, format)
    return array.map_blocks(_chunk, format, array.dtype, dtype=array.dtype, meta=meta)


def from_delayed(value: Any, shape: Sequence[int], dtype: Any, format: str | None = None) -> Any:
    """A Dask array of one chunk, a tensor that a delayed value gives.

    Parameters
    ----------
    value : dask.delayed.Delayed
        What `asarray` takes.
    shape : sequence of int
    dtype : dtype
    format : str, optional
        How the chunk is stored.

    Returns
    -------
    dask.array.Array

    Examples
    --------
    >>> import dask, numpy as np, sparsec.dask
    >>> x = sparsec.dask.from_delayed(dask.delayed(np.eye)(3), (3, 3), float, format="csr")
    >>> x.compute().nnz
    3
    """
    dtype = np.dtype(dtype)
    chunk = dask.delayed(_chunk)(value, format, dtype)
    return da.from_delayed(chunk, tuple(shape), meta=_meta(len(shape), dtype, format))


def shard(tensor: Any, by: Any = 0, n: Any = None) -> Any:
    """A Dask array of a tensor, in shards balanced by stored entries.

    Parameters
    ----------
    tensor : Tensor or anything that `asarray` takes
    by : int or str, or sequence of these
        The mode that is cut, by number or letter; several for blocks.
    n : int, or sequence of int, optional
        How many shards there are at most along each. By default as many as 128 MiB each ask for.

    Returns
    -------
    dask.array.Array
        Its chunks have the format of the tensor, and unequal extents.

    Examples
    --------
    >>> import sparsec, sparsec.dask
    >>> A = sparsec.from_coo([[0, 0, 0, 5, 6], [0, 1, 2, 0, 0]], 1.0, shape=(100, 3))
    >>> sparsec.dask.shard(A, by="i", n=2).chunks
    ((1, 99), (3,))
    """
    made = _shards.without_rule(asarray(tensor))
    modes = list(by) if isinstance(by, (tuple, list)) else [by]
    if n is None:
        n = -(-made.nbytes // _SHARD) or 1
    counts = list(n) if isinstance(n, (tuple, list)) else [n] * len(modes)
    if len(counts) != len(modes):
        raise failure("E0402", f"{len(counts)} numbers for {len(modes)} modes", "give one for each")
    bounds = [(0, extent) for extent in made.shape]
    for one, count in zip(modes, counts):
        bounds[_shards.mode_of(made, one)] = _shards.bounds(made, one, count)
    chunks = tuple(tuple(int(size) for size in np.diff(at)) for at in bounds)
    name = f"sparsec-shard-{dask.base.tokenize(made, bounds)}"
    graph = {}
    for place in np.ndindex(*(len(sizes) for sizes in chunks)):
        ranges = [(at[number], at[number + 1]) for at, number in zip(bounds, place)]
        graph[(name, *place)] = _shards.take(made, ranges)
    return da.Array(graph, name, chunks, meta=_meta(made.ndim, made.dtype, made.format))


def _checked(version: str, where: str) -> None:
    """Refuses to compute for a client of another version."""
    own = _sparsec.version()
    if own != version:
        raise failure(
            "E0021",
            f"the client has sparsec {version}, and {where} has sparsec {own}",
            "install one version on the client and on all workers",
        )


def _where() -> str:
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return "this process"
    try:
        return f"worker {distributed.get_worker().address}"
    except ValueError:
        return "this process"


def _shard_task(
    version: str,
    sharding: _blocks.Sharding,
    formats: Sequence[tuple[str, str]],
    extents: Sequence[tuple[str, int]],
    parts: Sequence[Tensor],
) -> Tensor:
    """The result of a shard, on a worker. The session keeps the kernel for the next one."""
    _checked(version, _where())
    given = [(it.name, part._stored) for it, part in zip(sharding.operands, parts)]
    return _blocks.run(sharding, given, formats, extents)


def _held(part: Tensor) -> Tensor:
    return part


class _Tasks:
    """The tasks of a plan: their results, with the place of each in the whole."""

    def __init__(self, program: _blocks.Program, plan: _blocks.Plan) -> None:
        self.sharding = _blocks.Sharding.of(program, plan.cuts)
        # A program that is not cut chooses formats as anywhere.
        formats = _blocks.formats_of(program) if plan.cuts else list(program.formats)
        tensors = program.sliceable if plan.cuts else program.tensors
        self.program, self.is_cut = program, bool(plan.cuts)
        token = dask.base.tokenize(
            _sparsec.version(),
            program.text,
            plan.cuts,
            formats,
            list(program.extents),
            sorted(tensors.items(), key=lambda it: it[0]),
        )
        #: The bytes of the slices and whole operands in tasks.
        self.sent = 0
        parts: dict[Any, Any] = {}
        run = dask.delayed(_shard_task, pure=True)
        combine = dask.delayed(_shards.combined, pure=True)
        text = self.sharding.combination
        # Extents and formats are the same in all tasks, and small.
        version, extents = _sparsec.version(), tuple(program.extents)

        def part_of(operand: _blocks.Operand, shard: Sequence[tuple[int, int]]) -> Any:
            whole = tensors[operand.of]
            ranges = tuple(operand.ranges(shard, whole.shape))
            if (operand.of, ranges) not in parts:
                part = _shards.take(whole, ranges)
                self.sent += part.nbytes
                name = f"sparsec-part-{token}-{len(parts)}"
                held = dask.delayed(_held, pure=True)(part, dask_key_name=name)
                parts[operand.of, ranges] = held
            return parts[operand.of, ranges]

        self.pieces, self.starts, n = [], [], 0
        for shards in self.sharding.pieces():
            results = []
            for shard in shards:
                given = [part_of(operand, shard) for operand in self.sharding.operands]
                name = f"sparsec-shard-{token}-{n}"
                n += 1
                results.append(
                    run(version, self.sharding, formats, extents, given, dask_key_name=name)
                )
            self.pieces.append(_shards.tree(results, lambda a, b: combine(text, a, b)))
            self.starts.append(shards[0])

    def joined(self, pieces: Sequence[Tensor]) -> Tensor:
        """The result of the pieces."""
        offsets = [self.sharding.offset(start, pieces[0].ndim) for start in self.starts]
        made = _shards.join(pieces, offsets, self.sharding.shape(pieces[0].shape))
        return self.program.settled(made) if self.is_cut else made


def evaluate(
    expression: str,
    operands: Mapping[str, Any] | None = None,
    /,
    *,
    client: Any = None,
    memory: int | str | None = None,
    shards: str | None = None,
    out_format: str | Mapping[str, str] | None = None,
    extents: Mapping[str, int] | None = None,
    **named: Any,
) -> Tensor:
    """Computes the last statement of a program on a cluster, one task a shard.

    As `sparsec.evaluate`. The plan is made once, here; kernels reach workers as programs, are
    compiled there once, and need no compiler. The result is gathered and joined here.

    Parameters
    ----------
    expression, operands, out_format, extents, **named
        As for `sparsec.evaluate`.
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

    Returns
    -------
    Tensor

    Raises
    ------
    InputError
        As `sparsec.evaluate`; for workers of another version of sparsec (``E0021``), and for
        `memory` beside `shards` (``E0003``).
    OutOfMemoryError
        If no shard fits into `memory` (``E0407``).

    Examples
    --------
    >>> import numpy as np, sparsec, sparsec.dask
    >>> A = sparsec.asarray(np.eye(6), format="csr")
    >>> text = "C(i,k) = A(i,j) * A(j,k)"
    >>> sparsec.dask.evaluate(text, A=A, shards="shard(i, 0, 3, 6)").nnz
    6
    """
    call = _call(operands, out_format, extents, named)
    program = _blocks.Program(expression, *call)
    tasks = _Tasks(program, _plan(program, memory, shards))
    return tasks.joined(_gathered(tasks.pieces, client))


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

    Parameters
    ----------
    run : bool
        Whether the program is run, and what it took is printed beside the estimates.

    The other parameters and errors are those of `evaluate`.

    Examples
    --------
    >>> import numpy as np, sparsec, sparsec.dask
    >>> A = sparsec.asarray(np.eye(300), format="csr")
    >>> text = "C(i,k) = A(i,j) * A(j,k)"
    >>> print(sparsec.dask.explain(text, A=A, memory=5000, run=True))
    # C(i,k) = sum{j}(A_i(i,j) * A(j,k))
    # 2 shards of 4.8 kB at most, of 5 kB; 9.61 kB moved
    # A_i: 4.8 kB, cut by i
    # A: 4.8 kB, whole
    # result: 4.8 kB estimated, joined by i
    # actual: 9.61 kB of operands in 5 tasks, 4.81 kB of results
    shard(i, 0, 150, 300)
    """
    call = _call(operands, out_format, extents, named)
    program = _blocks.Program(expression, *call)
    plan = _plan(program, memory, shards)
    if not run:
        return str(plan)
    tasks = _Tasks(program, plan)
    pieces = _gathered(tasks.pieces, client)
    sent, made = tasks.sent, sum(piece.nbytes for piece in pieces)
    n = len({key for piece in tasks.pieces for key in piece.__dask_graph__()})
    note = (
        f"actual: {_blocks.text_of_bytes(sent)} of operands in {n} tasks, "
        f"{_blocks.text_of_bytes(made)} of results"
    )
    return str(_blocks.Plan(plan.cuts, (*plan.notes, note)))


def _plan(
    program: _blocks.Program, memory: int | str | None, shards: str | None
) -> _blocks.Plan:
    if shards is not None:
        return _plan_of_call(program, memory, shards)
    taken = _SHARD if memory is None else _blocks.bytes_of(memory)
    return _blocks.planned(program, taken, sent=True)


def _gathered(pieces: Sequence[Any], client: Any) -> list[Tensor]:
    """The values of delayed tensors, computed on a cluster or by threads of this process."""
    if client is None:
        distributed = sys.modules.get("distributed")
        try:
            client = None if distributed is None else distributed.get_client()
        except ValueError:
            client = None
    with warnings.catch_warnings():
        # Slices are part of the graph on purpose: a worker that ends takes no operand with it.
        warnings.filterwarnings("ignore", message="Sending large graph")
        warnings.filterwarnings("ignore", message="Large object of size")
        if client is None:
            return list(dask.compute(*pieces, scheduler="threads"))
        return list(client.gather(client.compute(list(pieces))))

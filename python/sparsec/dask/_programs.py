"""Programs computed by a cluster of Dask, one task a shard."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

import dask
import dask.array as da
import numpy as np
from dask.highlevelgraph import HighLevelGraph

from .. import _blocks, _shards, _sparsec
from .._compute import _call
from .._compute import _plan as _plan_of_call
from .._errors import failure
from .._tensor import Tensor
from ._arrays import SHARD, meta_of
from ._cluster import computed, where
from ._operands import Chunked, fitted


def _checked(version: str) -> None:
    """Refuses to compute for a client of another version."""
    own = _sparsec.version()
    if own != version:
        raise failure(
            "E1106",
            f"the client has sparsec {version}, and {where()} has sparsec {own}",
            "install one version on the client and on all workers",
        )


def _shard_task(
    version: str,
    sharding: _blocks.Sharding,
    formats: Sequence[tuple[str, str]],
    extents: Sequence[tuple[str, int]],
    metas: Sequence[Tensor | None],
    parts: Sequence[Any],
) -> Tensor:
    """The result of a shard, on a worker. The session keeps the kernel for the next one."""
    _checked(version)
    given = []
    for operand, meta, part in zip(sharding.operands, metas, parts):
        made = part if meta is None else fitted(operand.of, part, meta)
        given.append((operand.name, made._stored))
    return _blocks.run(sharding, given, formats, extents)


def _held(part: Tensor) -> Tensor:
    return part


class Tasks:
    """The tasks of a plan: their results, with the place of each in the whole."""

    def __init__(self, program: _blocks.Program, plan: _blocks.Plan) -> None:
        self.sharding = _blocks.Sharding.of(program, plan.cuts)
        # A program that is not cut chooses formats as anywhere.
        formats = _blocks.formats_of(program) if plan.cuts else list(program.formats)
        self.program, self.is_cut = program, bool(plan.cuts)
        self._tensors = program.sliceable if plan.cuts else program.tensors
        elsewhere = program.elsewhere
        self._token = dask.base.tokenize(
            _sparsec.version(),
            program.text,
            plan.cuts,
            formats,
            list(program.extents),
            sorted(self._tensors.items(), key=lambda it: it[0]),
            sorted((name, it.array.name) for name, it in elsewhere.items()),
        )
        #: The bytes of the slices and whole operands in tasks.
        self.sent = 0
        self._parts: dict[Any, Any] = {}
        metas = [elsewhere[it.of].meta if it.of in elsewhere else None for it in self.sharding.operands]
        # What all tasks share is small.
        shared = (_sparsec.version(), self.sharding, formats, tuple(program.extents), metas)
        run = dask.delayed(_shard_task, pure=True)
        combine = dask.delayed(_shards.combined, pure=True)
        text = self.sharding.combination
        self.pieces, self.starts, n = [], [], 0
        for shards in self.sharding.pieces():
            results = []
            for shard in shards:
                given = [self._part(operand, shard) for operand in self.sharding.operands]
                name = f"sparsec-shard-{self._token}-{n}"
                n += 1
                results.append(run(*shared, given, dask_key_name=name))
            self.pieces.append(_shards.tree(results, lambda a, b: combine(text, a, b)))
            self.starts.append(shards[0])

    def _part(self, operand: _blocks.Operand, shard: Sequence[tuple[int, int]]) -> Any:
        """The delayed part of an operand that a shard reads."""
        shape = self.program.shapes[operand.of]
        chunked = self.program.elsewhere.get(operand.of)
        if chunked is not None:
            key: Any = (operand.of, operand.cut)
            cuts = self.sharding.cuts
            if key not in self._parts:
                modes = zip(operand.cut, shape)
                bounds = [(0, extent) if it is None else cuts[it][1] for it, extent in modes]
                self._parts[key] = chunked.parts(bounds), bounds
            parts, bounds = self._parts[key]
            starts = [0 if it is None else shard[it][0] for it in operand.cut]
            return parts[tuple(at.index(start) for at, start in zip(bounds, starts))]
        ranges = tuple(operand.ranges(shard, shape))
        key = operand.of, ranges
        if key not in self._parts:
            part = _shards.take(self._tensors[operand.of], ranges)
            self.sent += part.nbytes
            name = f"sparsec-part-{self._token}-{len(self._parts)}"
            self._parts[key] = dask.delayed(_held, pure=True)(part, dask_key_name=name)
        return self._parts[key]

    def joined(self, pieces: Sequence[Tensor]) -> Tensor:
        """The result of the pieces."""
        offsets = [self.sharding.offset(start, pieces[0].ndim) for start in self.starts]
        made = _shards.join(pieces, offsets, self.sharding.shape(pieces[0].shape))
        return self.program.settled(made) if self.is_cut else made

    def array(self) -> da.Array:
        """A Dask array whose chunks are the pieces."""
        _, shape, _, fill = self.program.estimated
        program = self.program
        element = _sparsec.typed(program.text, list(program.operands), list(program.extents))
        bounds: list[Sequence[int]] = [(0, extent) for extent in shape]
        for mode, (_, at) in zip(self.sharding.modes, self.sharding.cuts):
            if mode is not None:
                bounds[mode] = at
        chunks = tuple(tuple(int(it) for it in np.diff(at)) for at in bounds)
        name = f"sparsec-result-{self._token}"
        layer = {}
        for start, piece in zip(self.starts, self.pieces):
            offset = self.sharding.offset(start, len(shape))
            place = [list(at).index(first) for at, first in zip(bounds, offset)]
            layer[(name, *place)] = piece.key
        graph = HighLevelGraph.from_collections(name, layer, dependencies=self.pieces)
        meta = meta_of(len(shape), np.dtype(element), program.part_format, fill)
        return da.Array(graph, name, chunks, meta=meta)


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
        of shards, which is computed when Dask is asked to, and stays on workers by ``persist()``.
        Its chunks have no triangles or mirrored halves: `out_format` with such a rule does not
        hold for them.

    Returns
    -------
    Tensor, or dask.array.Array

    Raises
    ------
    InputError
        As `sparsec.evaluate`; for workers of another version of sparsec (``E1106``), and for
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
    >>> x = sparsec.dask.shard(A, by="i", n=3).persist()
    >>> for _ in range(3):
    ...     x = sparsec.dask.evaluate("y(i,j) = 2 * x(i,j)", x=x, gather=False).persist()
    >>> x.chunks, x.sum().compute().item()
    (((2, 2, 2), (6,)), 48.0)
    """
    program = _program(expression, operands, out_format, extents, named)
    tasks = Tasks(program, _plan(program, memory, shards, client))
    return tasks.joined(computed(tasks.pieces, client)) if gather else tasks.array()


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
    # 2 shards of 4.8 kB at most, of 5 kB; 19.2 kB moved
    # A_i: 4.8 kB, cut by i
    # A: 4.8 kB, whole
    # result: 4.8 kB estimated, joined by i
    # actual: 9.61 kB of operands in 5 tasks, 4.81 kB of results
    shard(i, 0, 150, 300)
    """
    program = _program(expression, operands, out_format, extents, named)
    plan = _plan(program, memory, shards, client)
    if not run:
        return str(plan)
    tasks = Tasks(program, plan)
    pieces = computed(tasks.pieces, client)
    sent, made = tasks.sent, sum(piece.nbytes for piece in pieces)
    n = len({key for piece in tasks.pieces for key in piece.__dask_graph__()})
    note = (
        f"actual: {_blocks.text_of_bytes(sent)} of operands in {n} tasks, "
        f"{_blocks.text_of_bytes(made)} of results"
    )
    return str(_blocks.Plan(plan.cuts, (*plan.notes, note)))


def _plan(
    program: _blocks.Program, memory: int | str | None, shards: str | None, client: Any
) -> _blocks.Plan:
    if shards is not None:
        return _plan_of_call(program, memory, shards)
    taken = SHARD if memory is None else _blocks.bytes_of(memory)
    for it in program.elsewhere.values():
        it.count(client)
    return _blocks.planned(program, taken, sent=True)

"""Programs computed by a cluster of Dask, one task a shard."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from uuid import uuid4
from typing import Any, Callable, Mapping, Sequence

import dask
import dask.array as da
import numpy as np
from dask.highlevelgraph import HighLevelGraph

from .. import _blocks, _planner, _shards, _sparsec
from .._compute import _call
from .._compute import _plan as _plan_of_call
from .._errors import OutOfMemoryError, failure
from .._tensor import Tensor, numpy_type
from ._arrays import SHARD, meta_of
from ._cluster import (
    client_of,
    computed,
    meant_for,
    n_workers_of,
    on_workers,
    persisted,
    places_of,
    sent_by_workers,
    sent_since,
    started,
    threads_of,
)
from ._operands import Chunked, fitted
from ._tasks import task, where


@dataclass(frozen=True)
class Measure:
    """The time and memory of a shard."""

    seconds: float
    #: The bytes of its operands, whole ones too.
    operands: int
    #: The bytes of slices and of its result.
    held: int
    #: The bytes of its result.
    result: int


def _shard(
    sharding: _blocks.Sharding,
    formats: Sequence[tuple[str, str]],
    extents: Sequence[tuple[str, int]],
    metas: Sequence[Tensor | None],
    run: str | None,
    shard: str,
    *parts: Any,
) -> Tensor:
    """The result of a shard, on a worker. The session keeps the kernel for the next one."""
    start = time.perf_counter()
    given = []
    for operand, meta, part in zip(sharding.operands, metas, parts):
        given.append(part if meta is None else fitted(operand.of, part, meta))
    named = [(operand.name, it._stored) for operand, it in zip(sharding.operands, given)]
    try:
        made = _blocks.run(sharding, named, formats, extents)
    except OutOfMemoryError as error:
        size = _blocks.text_of_bytes(sum(it.nbytes for it in given))
        message = f"{shard} with {size} of operands, on {where()}: {error.message}"
        help = "give a smaller `memory`, or workers with more"
        raise failure("E0407", message, help) from error
    if run is not None:
        seconds, sizes = time.perf_counter() - start, [it.nbytes for it in given]
        is_cut = [any(at is not None for at in it.cut) for it in sharding.operands]
        slices = sum(size for size, cut in zip(sizes, is_cut) if cut or not sharding.cuts)
        measure = Measure(seconds, sum(sizes), slices + made.nbytes, made.nbytes)
        _keep(run, measure)
    return made


#: Measures of shards in this process, by the run that asked for them: those of the last few runs,
#: since a client that goes away never asks for its own.
_MEASURES: OrderedDict[str, list[Measure]] = OrderedDict()
_MOST_RUNS = 8
_LOCK = Lock()


def _keep(run: str, measure: Measure) -> None:
    with _LOCK:
        _MEASURES.setdefault(run, []).append(measure)
        while len(_MEASURES) > _MOST_RUNS:
            _MEASURES.popitem(last=False)


def _measures(run: str) -> list[Measure]:
    with _LOCK:
        return _MEASURES.pop(run, [])


def measures(run: str, client: Any) -> list[Measure]:
    """The measures of a run's shards, wherever they were computed."""
    return [it for found in on_workers(_measures, client, run) for it in found]


def _held(part: Tensor) -> Tensor:
    return part


class Tasks:
    """The tasks of a plan: their results, with the place of each in the whole. Those of a named
    `run` keep what they took, for `measures`."""

    def __init__(
        self,
        program: _blocks.Program,
        plan: _blocks.Plan,
        client: Any = None,
        run: str | None = None,
    ) -> None:
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
            run,
        )
        #: The bytes of the slices and whole operands in tasks.
        self.sent = 0
        self._parts: dict[Any, Any] = {}
        metas = [elsewhere[it.of].meta if it.of in elsewhere else None for it in self.sharding.operands]
        # What all tasks share is small.
        shared = (self.sharding, formats, tuple(program.extents), metas, run)
        compute = task(_shard)
        # Shards are computed where the chunks of the largest array are. Without one, neighbours
        # are computed together, so that most results are combined where they are.
        chunked = [it for it in self.sharding.operands if it.of in elsewhere]
        leader = max(chunked, key=lambda it: elsewhere[it.of].nbytes, default=None)
        places = {} if leader is None else places_of(elsewhere[leader.of].array, client)
        threads = threads_of(client) if leader is None else []
        n_shards = len(self.sharding.shards())
        combine = task(_shards.combined)
        text = self.sharding.combination
        #: The name of the array of the pieces; these have the keys of its chunks.
        self.name = f"sparsec-result-{self._token}"
        #: What keys stand for: shards, and other tasks.
        self._shards: dict[Any, str] = {}
        self._labels: dict[Any, str] = {}
        self.pieces, self.starts, n = [], [], 0
        for shards in self.sharding.pieces():
            results: list[Any] = []
            key = (self.name, *self._place(shards[0]))
            n_left = len(shards) - 1

            def combined(left: Any, right: Any) -> Any:
                nonlocal n_left
                n_left -= 1
                named = {} if n_left else {"dask_key_name": key}
                made = combine(text, left, right, **named)
                self._labels[made.key] = "results that are combined"
                return made

            for shard in shards:
                given = [self._part(operand, shard) for operand in self.sharding.operands]
                name = f"sparsec-shard-{self._token}-{n}" if n_left else key
                chunk = None if leader is None else self._part(leader, shard).key
                workers = places.get(chunk, []) or threads[n * len(threads) // n_shards :][:1]
                n += 1
                label = self._label(shard)
                self._shards[name] = label
                with meant_for(workers):
                    # Not a list of operands: Dask would forget the futures in it.
                    results.append(compute(*shared, label, *given, dask_key_name=name))
            self.pieces.append(_shards.tree(results, combined))
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
            if len({*operand.cut} - {None}) == len(self.sharding.cuts):
                # One shard reads it: it is a part of that task, and goes where the task goes.
                return part
            name = f"sparsec-part-{self._token}-{len(self._parts)}"
            self._parts[key] = task(_held)(part, dask_key_name=name)
            self._labels[name] = f"a part of `{operand.of}`"
        return self._parts[key]

    def _label(self, shard: Sequence[tuple[int, int]]) -> str:
        """A shard in words."""
        if not self.sharding.cuts:
            return "the program, which is one shard,"
        ranges = zip(self.sharding.cuts, shard)
        return f"the shard {', '.join(f'{name} = {a}:{b}' for (name, _), (a, b) in ranges)}"

    def named(self, volumes: Any) -> Callable[[Any], str | None]:
        """A function that says what a key stands for: of a shard with its estimated size, and None
        for a key of somebody else."""
        size = ""
        if volumes is not None:
            size = f" (estimated {_blocks.text_of_bytes(volumes.shard + volumes.whole)})"

        def label(key: Any) -> str | None:
            if key in self._shards:
                return self._shards[key] + size
            return self._labels.get(key) or self._label_of_operand(key)

        return label

    def _label_of_operand(self, key: Any) -> str | None:
        """The array of an operand whose chunk, or whose task, this is."""
        for name, it in self.program.elsewhere.items():
            if isinstance(key, tuple) and key[0] == it.array.name:
                return f"a chunk of `{name}`"
            if key in it.array.__dask_graph__():
                return f"a task {key!r} of the array `{name}`"
        return None

    def joined(self, pieces: Sequence[Tensor]) -> Tensor:
        """The result of the pieces."""
        offsets = [self.sharding.offset(start, pieces[0].ndim) for start in self.starts]
        made = _shards.join(pieces, offsets, self.sharding.shape(pieces[0].shape))
        return self.program.settled(made) if self.is_cut else made

    @cached_property
    def _bounds(self) -> list[tuple[int, ...]]:
        """Where the result is cut, in each mode."""
        found: list[tuple[int, ...]] = [(0, extent) for extent in self.program.estimated[1]]
        for mode, (_, at) in zip(self.sharding.modes, self.sharding.cuts):
            if mode is not None:
                found[mode] = at
        return found

    def _place(self, shard: Sequence[tuple[int, int]]) -> list[int]:
        """The number of the result's chunk that a shard is of, in each mode."""
        offset = self.sharding.offset(shard, len(self._bounds))
        return [at.index(first) for at, first in zip(self._bounds, offset)]

    def array(self, client: Any) -> da.Array:
        """A Dask array whose chunks are the pieces, which a cluster begins to compute."""
        program, client = self.program, client_of(client)
        _, shape, _, fill = program.estimated
        element = _sparsec.typed(program.text, list(program.operands), list(program.extents))
        format = program.part_format
        meta = meta_of(len(shape), numpy_type(element), format, None if format == "dense" else fill)
        chunks = tuple(tuple(int(it) for it in np.diff(at)) for at in self._bounds)
        if client is None:
            layer: Any = HighLevelGraph.merge(*(it.dask for it in self.pieces)).to_dict()
        else:
            # Not when the array is asked for: Dask forgets then for which workers tasks are.
            futures = started(self.pieces, client)
            layer = {it.key: future for it, future in zip(self.pieces, futures)}
        graph = HighLevelGraph.from_collections(self.name, layer, dependencies=())
        return da.Array(graph, self.name, chunks, meta=meta)


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
        of shards. A cluster begins to compute them, and they stay on its workers as long as the
        array is referred to; this call does not wait. Without a cluster, they are computed when
        Dask is asked to.
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
    tasks = Tasks(program, plan, client)
    if not gather:
        return tasks.array(client)
    return tasks.joined(computed(tasks.pieces, client, tasks.named(plan.volumes)))


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

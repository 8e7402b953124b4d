"""Graphs of Dask that compute the shards of a program.

::

    operands, cut by the plan ──► one task a shard ──► results, combined in a tree ──► pieces
    chunks, where they are    ──┘

A piece is a part of the result between bounds of the variables that are not reduced.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any, Callable, Sequence
from uuid import uuid4

import dask
import dask.array as da
import numpy as np
from dask.highlevelgraph import HighLevelGraph

from .. import _blocks, _folders, _shards, _sparsec
from .._errors import OutOfMemoryError, failure
from .._tensor import Tensor, numpy_type
from ._arrays import meta_of
from ._cluster import client_of, meant_for, on_workers, places_of, started, threads_of
from ._operands import fitted
from ._tasks import task, where
from ._watch import report


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
    #: Which shard it is, in words.
    shard: str = ""


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
        measure = Measure(seconds, sum(sizes), slices + made.nbytes, made.nbytes, shard)
        _keep(run, measure)
        report(run, shard)
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
        self.run = run
        self.sharding = _blocks.Sharding.of(program, plan.cuts)
        # A program that is not cut chooses formats as anywhere.
        formats = _blocks.formats_of(program) if plan.cuts else list(program.formats)
        self.program, self.is_cut = program, bool(plan.cuts)
        self._tensors = program.sliceable if plan.cuts else program.tensors
        self._cutters = {name: _shards.Cutter(it) for name, it in self._tensors.items()}
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
            part = self._cutters[operand.of].take(ranges)
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

    @property
    def chunks(self) -> tuple[tuple[int, ...], ...]:
        """The extents of the pieces in each mode."""
        return tuple(tuple(int(it) for it in np.diff(at)) for at in self._bounds)

    def _place(self, shard: Sequence[tuple[int, int]]) -> list[int]:
        """The number of the result's chunk that a shard is of, in each mode."""
        offset = self.sharding.offset(shard, len(self._bounds))
        return [at.index(first) for at, first in zip(self._bounds, offset)]

    def written(self, folder: str) -> tuple[list[Any], _folders.Layout]:
        """The tasks that write the pieces into a folder, and how these lie in files."""
        order = len(self._bounds)
        offsets = self.sharding.offsets(order)
        layout = _folders.Layout.of(offsets, [at[-1] for at in self._bounds])
        write = task(_folders.write_part)
        made = []
        for number, (piece, offset) in enumerate(zip(self.pieces, offsets)):
            name = f"{self.name}-file-{uuid4().hex}-{number}"
            self._labels[name] = f"the file {_folders.path_of('', number)}"
            made.append(write(folder, number, layout, offset, piece, dask_key_name=name))
        return made, layout

    def array(self, client: Any) -> da.Array:
        """A Dask array whose chunks are the pieces, which a cluster begins to compute."""
        program, client = self.program, client_of(client)
        _, shape, _, fill = program.estimated
        element = _sparsec.typed(program.text, list(program.operands), list(program.extents))
        format = program.part_format
        meta = meta_of(len(shape), numpy_type(element), format, None if format == "dense" else fill)
        if client is None:
            layer: Any = HighLevelGraph.merge(*(it.dask for it in self.pieces)).to_dict()
        else:
            # Not when the array is asked for: Dask forgets then for which workers tasks are.
            futures = started(self.pieces, client)
            layer = {it.key: future for it, future in zip(self.pieces, futures)}
        graph = HighLevelGraph.from_collections(self.name, layer, dependencies=())
        return da.Array(graph, self.name, self.chunks, meta=meta)

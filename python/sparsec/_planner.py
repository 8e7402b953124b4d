"""Plans of shards: which variables are cut, and where.

Of the plans whose shards fit, the one that moves the fewest bytes is chosen. In one process these
are slices of operands (a slice along another level than the outermost walks over the whole
operand) and results that are combined. Between processes they are what is sent:

===============================  ==============================================================
an operand                       is sent
===============================  ==============================================================
cut by all variables             once
whole, or cut by some variables  to each process, or once a shard if there are fewer
in chunks at the plan's bounds   once less: the first reader is where it lies
a partial result                 once, to the process that combines it
===============================  ==============================================================

The number of processes is no matter of a plan, which is for any cluster: plans count sixteen.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import ceil, log2
from typing import Any, Iterator, Sequence

import numpy as np

from . import _shards, _sparsec
from ._blocks import Cut, Local, Operand, Plan, Program, Sharding, text_of_bytes
from ._errors import failure

#: The most shards along one variable, and in all: each costs a launch and a place in a graph.
_MOST_RANGES = 2**16
#: How many processes get an operand that all shards read, as plans count. The real number is no
#: matter of a plan, which has the same shards on any cluster.
_PLACES = 16

@dataclass(frozen=True)
class Volume:
    """The bytes of an operand that are sent between processes."""

    name: str
    nbytes: float
    #: How many shards read each part.
    n_readers: int
    #: Whether parts lie on workers as they are read.
    is_kept: bool

    def sent(self, n_workers: int) -> float:
        """The bytes that so many workers get."""
        return self.nbytes * (min(self.n_readers, n_workers) - self.is_kept)

    def __str__(self) -> str:
        if self.n_readers == 1:
            return "stays" if self.is_kept else "sent once"
        return "sent to each other worker" if self.is_kept else "sent to each worker"


@dataclass(frozen=True)
class Volumes:
    """Estimated bytes of a plan on a cluster."""

    operands: tuple[Volume, ...]
    #: Partial results that are combined.
    combined: float
    #: The result, which is gathered.
    result: float
    #: A shard: slices of operands, and results that are held.
    shard: float
    #: Operands that every shard reads as a whole.
    whole: float

    def sent(self, n_workers: int, gathered: bool = True) -> float:
        """The bytes between so many workers, and between them and the client, at most."""
        operands = sum(it.sent(n_workers) for it in self.operands)
        combined = self.combined if n_workers > 1 else 0.0
        return operands + combined + (self.result if gathered else 0.0)


class _Estimate:
    """The memory of a program's shards. Bytes of operands are counted, those of results estimated."""

    def __init__(self, program: Program) -> None:
        self.program = program
        entries, shape, format, _ = program.estimated
        dtype = _sparsec.typed(program.text, list(program.operands), list(program.extents))
        # NumPy has no such type.
        itemsize = 2 if dtype == "bfloat16" else np.dtype(dtype).itemsize
        #: The bytes of the whole result.
        self.result = _bytes_of_result(entries, shape, format, itemsize)
        self.sources = program.sources
        self._weights: dict[tuple[tuple[str, int], ...], _shards.Weights] = {}
        self._shardings: dict[tuple[str, ...], Sharding] = {}

    def weights(self, sharding: Sharding, number: int) -> _shards.Weights:
        """How the operands that a variable cuts are spread along it."""
        modes = sorted(
            {
                (operand.of, mode)
                for operand in sharding.operands
                for mode, at in enumerate(operand.cut)
                if at == number
            }
        )
        key = tuple(modes)
        if key not in self._weights:
            extents = {self.sources[name].shape[mode] for name, mode in modes}
            weights = _shards.Weights(min(extents))
            for name, mode in modes:
                self.sources[name].weigh(weights, mode)
            self._weights[key] = weights
        return self._weights[key]

    def sharding(self, names: Sequence[str]) -> Sharding:
        """How operands are cut by these variables, wherever the bounds are."""
        if tuple(names) not in self._shardings:
            whole = tuple((name, (0, 0)) for name in names)
            text, operands, modes, combination = _sparsec.sharded(*self.program.call, list(names))
            made = tuple(Operand(name, of, tuple(cut)) for name, of, cut in operands)
            self._shardings[tuple(names)] = Sharding(whole, text, made, tuple(modes), combination)
        return self._shardings[tuple(names)]

    def bounds(self, names: Sequence[str], n: int) -> tuple[Cut, ...]:
        """Bounds of about ``n`` shards by these variables."""
        sharding = self.sharding(names)
        each = ceil(n ** (1 / len(names)))
        weights = [self.weights(sharding, number) for number in range(len(names))]
        return tuple((name, one.bounds(each)) for name, one in zip(names, weights))

    def kept(self, names: Sequence[str]) -> tuple[Cut, ...] | None:
        """The bounds that operands are cut at already, those of the largest ones, if they are cut
        by each of these variables."""
        found: dict[int, tuple[float, tuple[int, ...]]] = {}
        for operand in self.sharding(names).operands:
            source = self.sources[operand.of]
            for mode, number in enumerate(operand.cut):
                at = None if number is None else source.bounds(mode)
                if number is not None and at is not None and len(at) > 2:
                    found[number] = max(found.get(number, (-1.0, ())), (source.nbytes, at))
        if len(found) < len(names):
            return None
        return tuple((name, found[number][1]) for number, name in enumerate(names))

    def cost(self, cuts: Sequence[Cut], sent: bool) -> tuple[float, float]:
        """The bytes of the largest shard, and the bytes that all shards move: in this process, or
        between processes if operands are `sent`."""
        volumes, moved = self.volumes(cuts)
        return volumes.shard, volumes.sent(_PLACES) if sent else moved

    def volumes(self, cuts: Sequence[Cut]) -> tuple[Volumes, float]:
        """The bytes sent between processes, and those that one process would move."""
        if not cuts:
            sources = self.sources.items()
            operands = [Volume(name, it.nbytes, 1, _is_kept(it, it.shape)) for name, it in sources]
            whole = self.result + sum(it.nbytes for it in operands)
            return Volumes(tuple(operands), 0.0, self.result, whole, 0.0), 0.0
        names, bounds = [name for name, _ in cuts], [at for _, at in cuts]
        sharding = self.sharding(names)
        weights = [self.weights(sharding, number) for number in range(len(names))]
        # The largest share of a range of each variable, and how many ranges there are.
        shares = [
            float(np.max(one.within(at))) / one.total if one.total else 1 / (len(at) - 1)
            for one, at in zip(weights, bounds)
        ]
        counts = [len(at) - 1 for at in bounds]
        n_shards = int(np.prod(counts, dtype=object))
        slices = moved = whole = 0.0
        operands = []
        for operand in sharding.operands:
            source = self.sources[operand.of]
            numbers = {number for number in operand.cut if number is not None}
            n_own = int(np.prod([counts[number] for number in numbers], dtype=object))
            ends = [
                extent if at is None else bounds[at] for at, extent in zip(operand.cut, source.shape)
            ]
            is_kept = _is_kept(source, ends)
            operands.append(Volume(operand.name, source.nbytes, n_shards // n_own, is_kept))
            if numbers:
                slices += source.nbytes * float(np.prod([shares[number] for number in numbers]))
                is_run = len(numbers) == 1 and operand.cut[source.outermost] is not None
                moved += source.nbytes * (n_shards / n_own if is_run else n_shards)
            else:
                whole += source.nbytes
        piece, n_reduced = self.result, 1
        for mode, share, count in zip(sharding.modes, shares, counts):
            if mode is None:
                n_reduced *= count
            else:
                piece *= share
        held = 1 if n_reduced == 1 else 2 + ceil(log2(n_reduced))
        moved += self.result * (1 + 3 * (n_reduced - 1))
        combined = self.result * (n_reduced - 1)
        shard = slices + held * piece
        return Volumes(tuple(operands), combined, self.result, shard, whole), moved


def _is_kept(source: Any, wanted: Sequence[int | tuple[int, ...]]) -> bool:
    """Whether the parts of an operand lie somewhere as they are wanted: between these bounds, or
    whole modes of this extent."""
    bounds = [(0, it) if isinstance(it, int) else it for it in wanted]
    return all(source.bounds(mode) == at for mode, at in enumerate(bounds)) and (
        bool(bounds) or not isinstance(source, Local)
    )


def _bytes_of_result(entries: float, shape: Sequence[int], format: str, itemsize: int) -> float:
    """The bytes of a result: values, coordinates, and positions below outer dense levels."""
    declared, _, text = format.partition("->")
    names = declared.strip(" ()").split(", ")
    extents = dict(zip(names, shape))
    n_dense, positions, n_sparse = 1.0, 0.0, 0
    for level in text.strip(" ()").split(", "):
        name, _, kind = level.partition(" : ")
        if kind != "dense":
            n_sparse += 1
        elif n_sparse == 0:
            n_dense *= extents.get(name, 1)
            positions = n_dense + 1
    if n_sparse == 0:
        return n_dense * itemsize
    return entries * (itemsize + 4 * n_sparse) + 4 * positions


def planned(program: Program, memory: int, sent: bool = False) -> Plan:
    """The plan of a program whose shards take at most so many bytes.

    Takes O(nnz) for each mode that may be cut, and no kernel of the program is run.

    Parameters
    ----------
    program : Program
    memory : int
        The bytes that a shard may take: slices of operands, and by estimate its results. Whole
        operands, intermediate tensors of several statements, workspaces and converted copies are
        not counted.
    sent : bool
        Whether operands go to another process, so that a program that is not cut takes them, too.

    Raises
    ------
    OutOfMemoryError
        If no shard is small enough (``E0407``).
    InputError
        What is wrong with the program.
    """
    estimate = _Estimate(program)
    taken = estimate.result
    if sent:
        taken += sum(source.nbytes for source in estimate.sources.values())
    what = "operands and the result" if sent else "the result"
    note = f"{text_of_bytes(taken)} for {what}, of {text_of_bytes(memory)}: whole"
    def whole() -> Plan:
        return Plan((), (note,), estimate.volumes(())[0] if sent else None)

    if taken <= memory and not program.elsewhere:
        return whole()
    names = _sparsec.shardable(*program.call)
    found: list[tuple[float, int, int, tuple[Cut, ...], float]] = []
    smallest: tuple[float, str] | None = None
    candidates = [(name,) for name in names] + list(combinations(names, 2))
    for place, candidate in enumerate(candidates):
        kept = estimate.kept(candidate)
        if kept is not None:
            peak, moved = estimate.cost(kept, sent)
            if peak <= memory:
                n_shards = int(np.prod([len(at) - 1 for _, at in kept], dtype=object))
                found.append((moved, n_shards, place, kept, peak))
        if taken <= memory:
            continue
        n, before, last = 1 + sent, 0, float("inf")
        while n <= _MOST_RANGES:
            cuts = estimate.bounds(candidate, n)
            peak, moved = estimate.cost(cuts, sent)
            n_shards = int(np.prod([len(at) - 1 for _, at in cuts], dtype=object))
            if smallest is None or peak < smallest[0]:
                smallest = (peak, ", ".join(f"`{name}`" for name in candidate))
            if peak <= memory:
                found.append((moved, n_shards, place, cuts, peak))
                break
            # A single coordinate, or results that do not shrink, take most of it.
            if n_shards <= before or peak > 0.95 * last:
                break
            # Twice as many ranges of each variable.
            before, last, n = n_shards, peak, n * 2 ** len(candidate)
    if taken <= memory and not found:
        return whole()
    if not found:
        raise _refused(memory, smallest)
    moved, _, _, cuts, _ = min(found, key=lambda it: it[:3])
    return _noted(estimate, cuts, moved, memory, sent)


def described(program: Program, plan: Plan) -> Plan:
    """A plan that was stated, with its estimated volumes on a cluster.

    Raises
    ------
    InputError
        As `Sharding.of`.
    """
    Sharding.of(program, plan.cuts)
    estimate = _Estimate(program)
    if not plan.cuts:
        return Plan((), (), estimate.volumes(())[0])
    return _noted(estimate, plan.cuts, 0.0, None, True)


def _refused(memory: int, smallest: tuple[float, str] | None) -> Exception:
    if smallest is None:
        return failure(
            "E0407",
            f"the program takes more than {text_of_bytes(memory)}, and no index variable cuts it",
            "allow more memory, or write a sum as a statement of its own",
        )
    peak, names = smallest
    return failure(
        "E0407",
        f"no shard fits into {text_of_bytes(memory)}: the smallest, by {names}, takes "
        f"{text_of_bytes(peak)}",
        f"allow `memory={ceil(peak)}` or more",
    )


def _noted(
    estimate: _Estimate, cuts: Sequence[Cut], moved: float, memory: int | None, sent: bool
) -> Plan:
    """A plan with its notes."""
    volumes, _ = estimate.volumes(cuts)
    notes = tuple(_notes(estimate, cuts, volumes, moved, memory, sent))
    return Plan(tuple(cuts), notes, volumes if sent else None)


def _notes(
    estimate: _Estimate,
    cuts: Sequence[Cut],
    volumes: Volumes,
    moved: float,
    memory: int | None,
    sent: bool,
) -> Iterator[str]:
    sharding = Sharding.of(estimate.program, cuts)
    for line in sharding.program.splitlines():
        yield line
    n_shards = int(np.prod([len(at) - 1 for _, at in cuts], dtype=object))
    yield (
        f"{n_shards} shards of {text_of_bytes(volumes.shard)} at most"
        + ("" if memory is None else f", of {text_of_bytes(memory)}")
        + ("" if sent else f"; {text_of_bytes(moved)} moved")
    )
    for operand, volume in zip(sharding.operands, volumes.operands):
        by = [cuts[number][0] for number in operand.cut if number is not None]
        how = f"cut by {', '.join(dict.fromkeys(by))}" if by else "whole"
        yield f"{operand.name}: {text_of_bytes(volume.nbytes)}, {how}" + (f", {volume}" if sent else "")
    free = [name for (name, _), mode in zip(cuts, sharding.modes) if mode is not None]
    reduced = [name for (name, _), mode in zip(cuts, sharding.modes) if mode is None]
    joined = f"joined by {', '.join(free)}" if free else "whole"
    yield f"result: {text_of_bytes(volumes.result)} estimated, {joined}" + (
        f", combined over {', '.join(reduced)}" if reduced else ""
    )
    if sent:
        yield (
            f"memory of a worker: {text_of_bytes(volumes.whole)}, and "
            f"{text_of_bytes(volumes.shard)} a thread"
        )
        combined = f", {text_of_bytes(volumes.combined)} to combine" if reduced else ""
        yield (
            f"network: {text_of_bytes(volumes.sent(2))} between 2 workers, "
            f"{text_of_bytes(volumes.sent(_PLACES))} between {_PLACES}{combined}"
        )

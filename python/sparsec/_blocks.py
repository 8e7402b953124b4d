"""Programs computed shard by shard: plans of shards, as text and back, and one process that runs
them.

::

    C(i,k) = A(i,j) * B(j,k)  ──planned──►  shard(i, 0, 120, 433, 1000)
                                                 │
    for each range of i:   A, cut ──┐            ▼
                           B, whole ┴──► rows of C ──join──► C

A plan is a list of commands ``shard(VARIABLE, BOUNDS...)``. It follows from the operands and from
the bytes that a shard may take, and from nothing else: no number of threads or workers enters it.
Whoever runs it gets the same bits.

=====================  =====================================  ===================================
a variable             operands                               results of shards
=====================  =====================================  ===================================
on the left            those that have it are cut             are joined by offsets
summed (or ``max`` …)  the same                               are combined in a tree of fixed shape
=====================  =====================================  ===================================

Operands without a cut variable stay whole. Which variables can be cut is asked of the compiled
part (``shard.rs``), which also writes the program of a shard.

Of the plans that fit, the one that moves the fewest bytes is chosen: slices of operands that are
made (a slice along another level than the outermost walks over the whole operand), and results
that are combined.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, product
from math import ceil, log2
from typing import Any, Iterator, Mapping, Sequence

import numpy as np

from . import _shards, _sparsec
from ._asarray import _default
from ._errors import failure
from ._tensor import Tensor

#: Bytes by the names of units.
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY = {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}

#: The most shards along one variable, and in all: each costs a launch and a place in a graph.
_MOST_RANGES = 2**16
#: How many processes get an operand that all shards read, as plans count. The real number is no
#: matter of a plan, which has the same shards on any cluster.
_PLACES = 16

Cut = tuple[str, tuple[int, ...]]
Stored = Sequence[tuple[str, _sparsec.Stored]]


def bytes_of(memory: int | str) -> int:
    """A number of bytes: ``2_000_000``, ``"2MB"``, ``"1.5 GiB"``, ``"2G"``.

    Raises
    ------
    InputError
        For what is no number of bytes (``E0004``).

    Examples
    --------
    >>> from sparsec import _blocks
    >>> _blocks.bytes_of("2GB"), _blocks.bytes_of("1.5KiB")
    (2000000000, 1536)
    """
    if isinstance(memory, (int, np.integer)) and not isinstance(memory, bool) and memory > 0:
        return int(memory)
    if isinstance(memory, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*?)b?\s*", memory.lower())
        unit = {**_UNITS, **_BINARY}.get(found[2]) if found else None
        if found and unit and float(found[1]) > 0:
            return max(1, int(float(found[1]) * unit))
    raise failure("E0004", f"{memory!r} is no number of bytes", 'give one such as "2GB" or "512MiB"')


def text_of_bytes(n: float) -> str:
    """A number of bytes with three digits and a unit."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if n < 999.5 or unit == "TB":
            return f"{n:.0f} {unit}" if unit == "B" or n >= 99.95 else f"{n:.3g} {unit}"
        n /= 1000
    raise AssertionError("the last unit takes any number")


class Local:
    """An operand in this process, as plans of shards see it."""

    def __init__(self, tensor: Tensor) -> None:
        self.shape = tensor.shape
        self.nbytes = tensor.nbytes
        #: The mode of the outermost level: a range of it is a run of memory.
        self.outermost = _outermost(tensor)
        self._tensor = tensor

    def weigh(self, weights: _shards.Weights, mode: int) -> None:
        """Adds how its bytes lie along a mode."""
        weights.add(self._tensor, mode)

    def bounds(self, mode: int) -> tuple[int, ...] | None:
        """Where it is cut already."""
        return None


@dataclass(frozen=True)
class Program:
    """A call of `evaluate`, as the compiled part takes it."""

    text: str
    operands: Stored
    formats: Sequence[tuple[str, str]] = ()
    extents: Sequence[tuple[str, int]] = ()
    #: Operands whose parts are in other processes: as `Local`, with `n_stored`. Of these,
    #: `operands` has tensors of the same format, type and fill, without entries.
    elsewhere: Mapping[str, Any] = field(default_factory=dict)

    @property
    def call(self) -> tuple[str, Stored, Sequence[tuple[str, str]], Sequence[tuple[str, int]]]:
        """The arguments of functions of the compiled part."""
        return self.text, list(self.operands), list(self.formats), list(self.extents)

    @property
    def tensors(self) -> dict[str, Tensor]:
        """The operands by name."""
        return {name: Tensor._of(stored) for name, stored in self.operands}

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of operands by name."""
        here = {name: it.shape for name, it in self.tensors.items()}
        return {**here, **{name: it.shape for name, it in self.elsewhere.items()}}

    @cached_property
    def sources(self) -> dict[str, Any]:
        """What parts are taken of, by name."""
        here = {name: Local(it) for name, it in self.sliceable.items() if name not in self.elsewhere}
        return {**here, **self.elsewhere}

    @cached_property
    def sliceable(self) -> dict[str, Tensor]:
        """The operands by name, those of formats with rules as copies without."""
        return {name: _shards.without_rule(tensor) for name, tensor in self.tensors.items()}

    @cached_property
    def estimated(self) -> tuple[float, Sequence[int], str, Any]:
        """How many entries the result is estimated to have, its shape, format and fill."""
        described = {name: (list(it.shape), it.n_stored) for name, it in self.elsewhere.items()}
        return _sparsec.estimated(*self.call, described)

    @property
    def part_format(self) -> str:
        """The format of the results of shards: that of the whole, but for its rules."""
        _, shape, format, _ = self.estimated
        return _default(len(shape)) if _shards.has_rule(format) else format

    def settled(self, made: Tensor) -> Tensor:
        """A result that was joined, in the format of the whole."""
        format = self.estimated[2]
        return made.convert(format) if _shards.has_rule(format) else made


@dataclass(frozen=True)
class Operand:
    """An operand of a shard: its name there, the whole operand, and the number of the cut
    variable of each mode; None for modes that are whole."""

    name: str
    of: str
    cut: tuple[int | None, ...]

    def ranges(self, at: Sequence[tuple[int, int]], shape: Sequence[int]) -> list[tuple[int, int]]:
        """The range of each mode, given that of each variable."""
        modes = zip(self.cut, shape)
        return [(0, extent) if number is None else at[number] for number, extent in modes]


@dataclass(frozen=True)
class Sharding:
    """The program of a shard, and what its operands and its result are of the whole.

    Invariant: `modes` has a mode of the result, or None for a reduced variable, for each of
    `cuts`.
    """

    cuts: tuple[Cut, ...]
    program: str
    operands: tuple[Operand, ...]
    modes: tuple[int | None, ...]
    combination: str | None

    @staticmethod
    def of(program: Program, cuts: Sequence[Cut]) -> Sharding:
        """The shards of a program. Without cuts there is one, of the program as it is.

        Raises
        ------
        InputError
            For a variable that cannot be cut (``E1101``), and for bounds that do not cover its
            extent (``E0413``).
        """
        if not cuts:
            # Not a program written anew: one that cannot be cut can still be run.
            shapes = program.shapes.items()
            whole = [Operand(name, name, (None,) * len(shape)) for name, shape in shapes]
            return Sharding((), program.text, tuple(whole), (), None)
        names = [name for name, _ in cuts]
        text, operands, modes, combination = _sparsec.sharded(*program.call, names)
        made = Sharding(
            tuple(cuts),
            text,
            tuple(Operand(name, of, tuple(cut)) for name, of, cut in operands),
            tuple(modes),
            combination,
        )
        shapes = program.shapes
        for operand in made.operands:
            for number, extent in zip(operand.cut, shapes[operand.of]):
                if number is not None:
                    _check_bounds(*cuts[number], extent, operand.of)
        return made

    def shards(self) -> list[tuple[tuple[int, int], ...]]:
        """The ranges of the cut variables of every shard, those of the last variable first."""
        return list(product(*(tuple(zip(at, at[1:])) for _, at in self.cuts)))

    def pieces(self) -> Iterator[list[tuple[tuple[int, int], ...]]]:
        """The shards whose results are combined, for each part of the result."""
        free = [mode is not None for mode in self.modes]
        groups: dict[tuple[Any, ...], list[tuple[tuple[int, int], ...]]] = {}
        for shard in self.shards():
            key = tuple(at for at, is_free in zip(shard, free) if is_free)
            groups.setdefault(key, []).append(shard)
        yield from groups.values()

    def offset(self, shard: Sequence[tuple[int, int]], order: int) -> list[int]:
        """Where the result of a shard begins in each mode."""
        found = [0] * order
        for mode, (start, _) in zip(self.modes, shard):
            if mode is not None:
                found[mode] = start
        return found

    def shape(self, part: Sequence[int]) -> list[int]:
        """The shape of the result, given that of a part."""
        found = list(part)
        for mode, (_, at) in zip(self.modes, self.cuts):
            if mode is not None:
                found[mode] = at[-1]
        return found


def _check_bounds(name: str, bounds: Sequence[int], extent: int, operand: str) -> None:
    ascend = all(left < right for left, right in zip(bounds, bounds[1:]))
    if extent == 0:
        ascend = len(bounds) == 2
    if len(bounds) < 2 or bounds[0] != 0 or bounds[-1] != extent or not ascend:
        shown = ", ".join(map(str, bounds[:8])) + (", ..." if len(bounds) > 8 else "")
        raise failure(
            "E0413",
            f"shards of `{name}` at {shown}, and `{operand}` has extent {extent} there",
            f"give bounds that ascend from 0 to {extent}; a plan is for operands of one shape",
        )


@dataclass(frozen=True)
class Plan:
    """Commands that cut a program into shards, with what was estimated of them."""

    cuts: tuple[Cut, ...]
    #: What is printed beside the commands.
    notes: tuple[str, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        commands = [f"shard({name}, {', '.join(map(str, at))})" for name, at in self.cuts]
        return "\n".join([*(f"# {note}" for note in self.notes), *commands])

    @staticmethod
    def parse(text: str) -> Plan:
        """A plan that was printed. ``#`` begins a comment.

        Raises
        ------
        InputError
            For a line that is no command (``E1102``).

        Examples
        --------
        >>> from sparsec import _blocks
        >>> _blocks.Plan.parse("shard(i, 0, 3, 9)  # by rows")
        Plan(cuts=(('i', (0, 3, 9)),), notes=())
        """
        cuts: list[Cut] = []
        for number, line in enumerate(text.splitlines(), 1):
            line = line.partition("#")[0].strip()
            if not line:
                continue
            found = re.fullmatch(r"shard\(\s*(\w+)\s*((?:,\s*\d+\s*)+)\)", line)
            if not found:
                message = f"line {number} of a plan of shards is no command: {line!r}"
                raise failure("E1102", message, "write `shard(VARIABLE, 0, BOUND, ..., EXTENT)`")
            if found[1] in (name for name, _ in cuts):
                message = f"two commands shard `{found[1]}`"
                raise failure("E0003", message, "give all bounds in one command")
            cuts.append((found[1], tuple(map(int, re.findall(r"\d+", found[2])))))
        return Plan(tuple(cuts))


class _Estimate:
    """What shards of a program take. Bytes of operands are counted, those of results estimated."""

    def __init__(self, program: Program) -> None:
        self.program = program
        entries, shape, format, _ = program.estimated
        dtype = _sparsec.typed(program.text, list(program.operands), list(program.extents))
        # NumPy does not know this one.
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
        slices = moved = 0.0
        for operand in sharding.operands:
            source = self.sources[operand.of]
            numbers = {number for number in operand.cut if number is not None}
            n_own = int(np.prod([counts[number] for number in numbers], dtype=object))
            if numbers:
                slices += source.nbytes * float(np.prod([shares[number] for number in numbers]))
            if sent:
                moved += source.nbytes * _places(source, operand, bounds, n_shards // n_own)
            elif numbers:
                is_run = len(numbers) == 1 and operand.cut[source.outermost] is not None
                moved += source.nbytes * (n_shards / n_own if is_run else n_shards)
        piece, n_reduced = self.result, 1
        for mode, share, count in zip(sharding.modes, shares, counts):
            if mode is None:
                n_reduced *= count
            else:
                piece *= share
        held = 1 if n_reduced == 1 else 2 + ceil(log2(n_reduced))
        # A process that combines two results gets one of them; in memory, both are read, too.
        moved += self.result * (n_reduced if sent else 1 + 3 * (n_reduced - 1))
        return slices + held * piece, moved


def _places(
    source: Any, operand: Operand, bounds: Sequence[tuple[int, ...]], n_readers: int
) -> int:
    """How often an operand is sent, if each part has so many shards that read it. Parts that lie
    somewhere as they are wanted are not sent there."""
    modes = enumerate(zip(operand.cut, source.shape))
    wanted = [(mode, (0, end) if at is None else bounds[at]) for mode, (at, end) in modes]
    is_kept = all(source.bounds(mode) == at for mode, at in wanted)
    return min(n_readers, _PLACES) - is_kept


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


def _outermost(tensor: Tensor) -> int:
    """The mode of the outermost level."""
    names = _shards.mode_names(tensor)
    first = tensor.levels[0].split(" : ")[0] if tensor.levels else ""
    return names.index(first) if first in names else 0


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
    if taken <= memory and not program.elsewhere:
        return Plan((), (note,))
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
        return Plan((), (note,))
    if not found:
        raise _refused(memory, smallest)
    moved, n_shards, _, cuts, peak = min(found, key=lambda it: it[:3])
    return Plan(cuts, tuple(_notes(estimate, cuts, n_shards, peak, moved, memory)))


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


def _notes(
    estimate: _Estimate,
    cuts: Sequence[Cut],
    n_shards: int,
    peak: float,
    moved: float,
    memory: int,
) -> Iterator[str]:
    sharding = Sharding.of(estimate.program, cuts)
    for line in sharding.program.splitlines():
        yield line
    yield (
        f"{n_shards} shards of {text_of_bytes(peak)} at most, of {text_of_bytes(memory)}; "
        f"{text_of_bytes(moved)} moved"
    )
    for operand in sharding.operands:
        size = text_of_bytes(estimate.sources[operand.of].nbytes)
        by = [cuts[number][0] for number in operand.cut if number is not None]
        how = f"cut by {', '.join(dict.fromkeys(by))}" if by else "whole"
        yield f"{operand.name}: {size}, {how}"
    result = text_of_bytes(estimate.result)
    free = [name for (name, _), mode in zip(cuts, sharding.modes) if mode is not None]
    reduced = [name for (name, _), mode in zip(cuts, sharding.modes) if mode is None]
    joined = f"joined by {', '.join(free)}" if free else "whole"
    yield f"result: {result} estimated, {joined}" + (
        f", combined over {', '.join(reduced)}" if reduced else ""
    )


def evaluate(program: Program, plan: Plan) -> Tensor:
    """Computes a program shard by shard, in this process.

    At a time, one shard's slices are held, the results joined so far, and of results to combine
    as many as their number has bits.

    Raises
    ------
    InputError
        As `Sharding.of`.
    """
    if not plan.cuts:
        return Tensor._of(_sparsec.evaluate(*program.call))
    sharding = Sharding.of(program, plan.cuts)
    formats = formats_of(program)
    tensors = program.sliceable
    pieces, offsets = [], []
    for shards in sharding.pieces():
        results = (computed(sharding, program, formats, tensors, shard) for shard in shards)
        piece = _shards.tree(results, lambda a, b: _shards.combined(str(sharding.combination), a, b))
        pieces.append(piece)
        offsets.append(sharding.offset(shards[0], piece.ndim))
    return program.settled(_shards.join(pieces, offsets, sharding.shape(pieces[0].shape)))


def formats_of(program: Program) -> list[tuple[str, str]]:
    """The formats of results, that of the last one included: every shard has the same."""
    named = [it for it in program.formats if it[0] and not _shards.has_rule(it[1])]
    return [*named, ("", program.part_format)]


def computed(
    sharding: Sharding,
    program: Program,
    formats: Sequence[tuple[str, str]],
    tensors: Mapping[str, Tensor],
    shard: Sequence[tuple[int, int]],
) -> Tensor:
    """The result of one shard."""
    given = []
    for operand in sharding.operands:
        whole = tensors[operand.of]
        part = _shards.take(whole, operand.ranges(shard, whole.shape))
        given.append((operand.name, part._stored))
    return run(sharding, given, formats, program.extents)


def run(
    sharding: Sharding,
    operands: Stored,
    formats: Sequence[tuple[str, str]],
    extents: Sequence[tuple[str, int]],
) -> Tensor:
    """The result of a shard whose operands are cut."""
    names = {name for name, _ in sharding.cuts}
    known = [(name, extent) for name, extent in extents if name not in names]
    return Tensor._of(_sparsec.evaluate(sharding.program, list(operands), list(formats), known))

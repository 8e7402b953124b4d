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

`_planner.py` chooses the commands.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any, Iterator, Mapping, Sequence

import numpy as np

from . import _folders, _shards, _sparsec
from ._asarray import _default
from ._errors import failure
from ._progress import Bar
from ._tensor import Tensor

#: Bytes by the names of units.
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY = {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}

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


def _outermost(tensor: Tensor) -> int:
    """The mode of the outermost level."""
    names = _shards.mode_names(tensor)
    first = tensor.levels[0].split(" : ")[0] if tensor.levels else ""
    return names.index(first) if first in names else 0


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
        """The operands that parts are taken of, by name."""
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
            known = program.shapes.items()
            whole = [Operand(name, name, (None,) * len(shape)) for name, shape in known]
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

    def offsets(self, order: int) -> list[list[int]]:
        """Where the parts of the result begin."""
        return [self.offset(shards[0], order) for shards in self.pieces()]

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
    #: The bytes sent between processes, if the plan is for several.
    volumes: Any = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        commands = [f"shard({name}, {', '.join(map(str, at))})" for name, at in self.cuts]
        return "\n".join([*(f"# {note}" for note in self.notes), *commands])

    @staticmethod
    def parse(text: str) -> Plan:
        """A plan that was printed. ``#`` begins a comment.

        Raises
        ------
        InputError
            For what is no text, and for a line that is no command (``E1102``).

        Examples
        --------
        >>> from sparsec import _blocks
        >>> _blocks.Plan.parse("shard(i, 0, 3, 9)  # by rows")
        Plan(cuts=(('i', (0, 3, 9)),), notes=())
        """
        if not isinstance(text, str):
            message = f"a plan of shards is text, and {type(text).__name__} is none"
            raise failure("E1102", message, "give what `explain` printed")
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
    made = list(pieces(program, sharding))
    offsets, parts = [offset for offset, _ in made], [part for _, part in made]
    return program.settled(_shards.join(parts, offsets, sharding.shape(parts[0].shape)))


def evaluate_to(folder: Any, program: Program, plan: Plan, is_shown: bool) -> list[str]:
    """Computes a program shard by shard, in this process, and writes each part as it is made.

    Raises
    ------
    InputError
        As `Sharding.of`.
    FileError
        As `_folders.appearing`.
    """
    sharding = Sharding.of(program, plan.cuts)
    shape = program.estimated[1]
    layout = _folders.Layout.of(sharding.offsets(len(shape)), shape)
    bar = Bar(len(sharding.shards())) if is_shown else None
    names = []
    with _folders.appearing(folder) as made:
        for number, (offset, part) in enumerate(pieces(program, sharding, bar)):
            names.append(_folders.write_part(made, number, layout, offset, part))
            # The next part is made without this one.
            del part
    if bar is not None:
        bar.end()
    return [os.path.join(os.path.abspath(os.fspath(folder)), name) for name in names]


def pieces(
    program: Program, sharding: Sharding, bar: Bar | None = None
) -> Iterator[tuple[list[int], Tensor]]:
    """The parts of the result, one after the other, each with the place where it begins."""
    formats = formats_of(program) if sharding.cuts else list(program.formats)
    tensors = program.sliceable if sharding.cuts else program.tensors
    cutters = {name: _shards.Cutter(it) for name, it in tensors.items()}

    def one(shard: tuple[tuple[int, int], ...]) -> Tensor:
        made = computed(sharding, program, formats, cutters, shard)
        if bar is not None:
            bar.done(shard)
        return made

    def both(left: Tensor, right: Tensor) -> Tensor:
        return _shards.combined(str(sharding.combination), left, right)

    for shards in sharding.pieces():
        piece = _shards.tree(map(one, shards), both)
        yield sharding.offset(shards[0], piece.ndim), piece


def formats_of(program: Program) -> list[tuple[str, str]]:
    """The formats of results, that of the last one included: every shard has the same."""
    named = [it for it in program.formats if it[0] and not _shards.has_rule(it[1])]
    return [*named, ("", program.part_format)]


def computed(
    sharding: Sharding,
    program: Program,
    formats: Sequence[tuple[str, str]],
    cutters: Mapping[str, _shards.Cutter],
    shard: Sequence[tuple[int, int]],
) -> Tensor:
    """The result of one shard."""
    given, shapes = [], program.shapes
    for operand in sharding.operands:
        part = cutters[operand.of].take(operand.ranges(shard, shapes[operand.of]))
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

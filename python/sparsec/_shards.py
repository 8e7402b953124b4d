"""Tensors cut into shards, and shards put together.

::

    tensor ──bounds──► [0, 3, 4, 9]     along a mode, balanced by stored entries
           ──take────► three tensors    each in the format of the whole
           ◄──join───                   by offsets; nothing becomes dense
    results ──tree───► one              by a reduction's operator

Bounds follow from the stored entries alone, and the tree from the number of results alone. So no
bit of a result depends on how many threads, processes or machines compute the shards.

Each shard has a coordinate at least, unless the mode has none. A coordinate is never split, so
there may be fewer shards than asked for.
"""

from __future__ import annotations

import re
from typing import Any, Callable, Iterable, Sequence, TypeVar

import numpy as np

from . import _sparsec
from ._array_api.entries import is_dense, of_numpy
from ._asarray import _default, asarray, from_buffers
from ._errors import failure
from ._operators import access
from ._tensor import Tensor

_T = TypeVar("_T")


class Weights:
    """How the stored entries of tensors are spread over the coordinates of one mode.

    Takes memory for each coordinate that has entries, and not for the extent: a mode of 2^40
    coordinates will do.
    """

    def __init__(self, extent: int) -> None:
        self.extent = extent
        #: Coordinates, and how many bytes lie before each of them, and before the end.
        self._coords = np.zeros(0, dtype=np.int64)
        self._sums = np.zeros(1, dtype=np.float64)
        #: Bytes at every coordinate, of dense modes.
        self._each = 0.0

    def add(self, tensor: Tensor, mode: int) -> None:
        """Adds the bytes of a tensor whose mode this is. Takes O(nnz)."""
        if is_dense(tensor) or tensor.nnz == 0:
            self.even(tensor.nbytes)
            return
        coords, counts = _counts(tensor, mode)
        self._insert(coords, counts * (tensor.nbytes / counts.sum()) if len(counts) else counts)

    def even(self, size: float) -> None:
        """Adds so many bytes, as many at each coordinate."""
        self._each += size / max(self.extent, 1)

    def spread(self, bounds: Sequence[int], sizes: Sequence[float]) -> None:
        """Adds ranges of so many bytes, which lie evenly in each range: at 64 coordinates of it, or
        at all if it has fewer."""
        coords, bytes_ = [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
        for start, end, size in zip(bounds, bounds[1:], sizes):
            n = min(64, end - start)
            if n > 0:
                coords.append(start + np.arange(n) * (end - start) // n)
                bytes_.append(np.full(n, size / n))
        self._insert(np.concatenate(coords), np.concatenate(bytes_))

    def _insert(self, coords: np.ndarray, bytes_: np.ndarray) -> None:
        known = np.diff(self._sums)
        coords = np.concatenate([self._coords, coords])
        order = np.argsort(coords, kind="stable")
        self._coords = coords[order]
        self._sums = np.concatenate([[0.0], np.cumsum(np.concatenate([known, bytes_])[order])])

    @property
    def total(self) -> float:
        """The bytes of all tensors."""
        return float(self._before(self.extent))

    def _before(self, coord: int | np.ndarray) -> Any:
        """The bytes of entries below a coordinate."""
        at = np.searchsorted(self._coords, coord, side="left")
        return self._sums[at] + self._each * np.asarray(coord, dtype=np.float64)

    def within(self, bounds: Sequence[int]) -> np.ndarray:
        """The bytes in each of these ranges."""
        return np.diff(self._before(np.asarray(bounds, dtype=np.int64)))

    def bounds(self, n: int) -> tuple[int, ...]:
        """At most ``n`` ranges with about as many bytes in each, and a coordinate at least."""
        n = max(1, min(n, self.extent))
        if n == 1:
            return (0, self.extent)
        if self.total > 0:
            cuts = self._nearest(self.total * np.arange(1, n) / n)
        else:
            cuts = np.asarray([self.extent * number // n for number in range(1, n)])
        # Each range has a coordinate, and leaves one to each of those behind it.
        numbers = np.arange(1, n)
        cuts = np.maximum.accumulate(np.maximum(cuts - numbers, 0)) + numbers
        cuts = np.minimum(cuts, self.extent - numbers[::-1])
        return (0, *cuts.tolist(), self.extent)

    def _nearest(self, wanted: np.ndarray) -> np.ndarray:
        """The coordinates below which about so many bytes lie."""
        low = np.zeros(len(wanted), dtype=np.int64)
        high = np.full(len(wanted), self.extent, dtype=np.int64)
        while (low < high).any():
            middle = low + (high - low) // 2
            is_short = (self._before(middle) < wanted) & (low < high)
            low = np.where(is_short, middle + 1, low)
            high = np.where(is_short, high, np.minimum(middle, high))
        under = np.maximum(low - 1, 0)
        is_nearer = wanted - self._before(under) < self._before(low) - wanted
        return np.where(is_nearer, under, low)


def mode_names(tensor: Tensor) -> list[str]:
    """The letters of the modes: ``i``, ``j``, ``k``, ..., unless the format names them."""
    declared, arrow, _ = tensor._stored.format.partition("->")
    if arrow and declared.startswith("("):
        return [name for name in declared.strip(" ()").split(", ") if name]
    return _letters(tensor.ndim)


def _letters(order: int) -> list[str]:
    return [f"i{mode}" if order > 17 else "ijklmnopqrstuvwxy"[mode] for mode in range(order)]


def _counts(tensor: Tensor, mode: int) -> tuple[np.ndarray, np.ndarray]:
    """The coordinates of a mode that have stored entries, and how many."""
    names = [f"i{number}" for number in range(tensor.ndim)]
    own = names[mode]
    others = [name for name in names if name != own]
    value = f"select(isstored({access('A', names)}), 1, 0)"
    if others:
        value = f"sum{{{','.join(others)}}}({value})"
    format = f"({own}) -> ({own} : compressed)"
    text = f"{access('n', [own])} = {value}"
    made = Tensor._of(_sparsec.evaluate(text, [("A", tensor._stored)], [("", format)], []))
    (coords,), counts = made.to_coo()
    return coords, counts.astype(np.float64)


def mode_of(tensor: Tensor, by: Any) -> int:
    """The mode that ``by`` names: a number, or a letter of ``i``, ``j``, ``k``, ...

    Raises
    ------
    InputError
        For a mode that the tensor does not have (``E0413``).
    """
    if isinstance(by, str):
        # Formats of results name modes in their own way: letters hold for these, too.
        for names in (mode_names(tensor), _letters(tensor.ndim)):
            if by in names:
                return names.index(by)
    elif isinstance(by, (int, np.integer)) and -tensor.ndim <= by < tensor.ndim:
        return int(by) % tensor.ndim
    shown = ", ".join(mode_names(tensor)) or "none"
    raise failure(
        "E0413", f"there is no mode {by!r} to cut along", f"the modes are {shown}, or numbers from 0"
    )


def bounds(tensor: Any, by: Any, n: int) -> tuple[int, ...]:
    """The bounds of ``n`` shards along a mode, balanced by stored entries.

    Takes O(nnz). A dense tensor, and one of no entries, is cut into ranges of equal extents.

    Parameters
    ----------
    tensor : Tensor or anything that `asarray` takes
    by : int or str
        The mode: its number, or its letter (``"i"`` is the first one).
    n : int
        How many shards there are at most: each has a coordinate at least.

    Returns
    -------
    tuple of int
        The first coordinate of each shard, and the extent.

    Examples
    --------
    >>> import sparsec
    >>> from sparsec import _shards
    >>> A = sparsec.from_coo([[0, 0, 0, 5, 6], [0, 1, 2, 0, 0]], 1.0, shape=(100, 3))
    >>> _shards.bounds(A, "i", 2)
    (0, 1, 100)
    """
    if n < 1:
        raise failure("E0402", f"{n} shards", "give 1 or more")
    made = asarray(tensor)
    mode = mode_of(made, by)
    weights = Weights(made.shape[mode])
    weights.add(made, mode)
    return weights.bounds(n)


def take(tensor: Tensor, ranges: Sequence[tuple[int, int]]) -> Tensor:
    """The part of a tensor in a range of each mode, in the same format.

    Takes O(entries of the part) if only the outermost level's mode is cut, else O(nnz) at most.

    Raises
    ------
    InputError
        For ranges that are not inside the tensor (``E0413``).

    Examples
    --------
    >>> import sparsec
    >>> from sparsec import _shards
    >>> A = sparsec.asarray([[0, 2], [3, 0], [0, 4]], format="csr")
    >>> _shards.take(A, [(1, 3), (0, 2)])
    <sparsec.Tensor i64[2, 2], csr, 2 stored
      (0, 0)  3
      (1, 1)  4>
    """
    if all((0, extent) == tuple(one) for one, extent in zip(ranges, tensor.shape)):
        return tensor
    if not _is_array(tensor):
        return Tensor._of(tensor._stored.slice([(start, end, 1) for start, end in ranges]))
    # NumPy copies runs of memory where a slice of entries would pack each of them.
    order = _storage_order(tensor)
    lying = tensor if order == sorted(order) else Tensor._of(tensor._stored.permute(order))
    part = lying.to_numpy()[tuple(slice(*ranges[mode]) for mode in order)]
    made = _dense(part, tensor.fill_value)
    if lying is tensor:
        return made
    return Tensor._of(made._stored.permute([order.index(mode) for mode in range(tensor.ndim)]))


#: Formats of one level a mode, of which a copy with another mode outermost has the same entries.
_TURNED = ("csr", "csc", "dcsr", "coo", "csf")


class Cutter:
    """Takes parts of one tensor: `take`, for as many parts as there are.

    A range of the outermost level's mode is a run of memory. To cut another mode, `take` walks over
    all entries for each part. This class makes a copy with that mode outermost at the first such
    part, and each part of it is a run, which is converted back: in all the time of two conversions.
    """

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor
        #: Copies by the mode that is outermost.
        self._turned: dict[int, Tensor] = {}
        #: Runs that are cut along other modes, too.
        self._runs: dict[tuple[int, int], Cutter] = {}

    def take(self, ranges: Sequence[tuple[int, int]]) -> Tensor:
        """The part of the tensor in a range of each mode, in the same format: as `take`."""
        shape = self._tensor.shape
        cut = [at for at, one in enumerate(ranges) if tuple(one) != (0, shape[at])]
        if self._tensor.format not in _TURNED or not _are_inside(ranges, shape):
            return take(self._tensor, ranges)
        outer = mode_names(self._tensor).index(self._tensor.levels[0].split(" : ")[0])
        if cut in ([], [outer]):
            return take(self._tensor, ranges)
        whole = [(0, extent) for extent in shape]
        if outer in cut:
            run = (ranges[outer][0], ranges[outer][1])
            if run not in self._runs:
                whole[outer] = run
                self._runs[run] = Cutter(take(self._tensor, whole))
            rest = list(ranges)
            rest[outer] = (0, run[1] - run[0])
            return self._runs[run].take(rest)
        first = cut[0]
        whole[first] = (ranges[first][0], ranges[first][1])
        part = take(self._outermost(first), whole).convert(self._tensor._stored.format)
        rest = list(ranges)
        rest[first] = (0, part.shape[first])
        return take(part, rest)

    def _outermost(self, mode: int) -> Tensor:
        """A copy with this mode outermost."""
        if mode not in self._turned:
            names = _letters(self._tensor.ndim)
            order = [mode, *(at for at in range(self._tensor.ndim) if at != mode)]
            # Rows of a matrix are counted faster than they are listed, if most have entries.
            is_dense = self._tensor.ndim == 2 and self._tensor.shape[mode] <= self._tensor.nnz
            first = "dense" if is_dense else "compressed"
            kinds = [first, *["compressed"] * (len(order) - 1)]
            levels = ", ".join(f"{names[at]} : {kind}" for at, kind in zip(order, kinds))
            self._turned[mode] = self._tensor.convert(f"({', '.join(names)}) -> ({levels})")
        return self._turned[mode]


def _are_inside(ranges: Sequence[tuple[int, int]], shape: Sequence[int]) -> bool:
    ends = zip(ranges, shape)
    return len(ranges) == len(shape) and all(0 <= a <= b <= extent for (a, b), extent in ends)


def _is_array(tensor: Tensor) -> bool:
    """Whether it is a dense tensor that NumPy has a type for."""
    return is_dense(tensor) and tensor._stored.dtype != "bfloat16"


def _dense(array: np.ndarray, fill: Any) -> Tensor:
    """A dense tensor of an array that nobody else has, with this fill."""
    if not any(fill.tobytes()):
        return of_numpy(array)
    values = np.asarray(array, order="C").reshape(-1)
    return from_buffers("dense", array.shape, [values], fill_value=fill)


def _storage_order(tensor: Tensor) -> list[int]:
    """The modes of a dense tensor, that of the outermost level first."""
    declared = mode_names(tensor)
    return [declared.index(level.split(" : ")[0]) for level in tensor.levels]


#: What a format's text has if it stores not any entries, but a triangle, a mirrored half, or a few
#: of each block; or if it is a relation, which slices are not taken of.
_RULES = re.compile(
    r"\b(?:symmetric|skew|hermitian|lower|upper|diagonal)\(|\bstructured\["
    r"|\A(?:\s|;.*)*(?:format\s|(?:jds|sell|fcoo|bcsf)\b)"
)


def has_rule(format: str) -> bool:
    """Whether tensors of a format may have parts that the format does not store: the rows of a
    symmetric matrix are not symmetric."""
    return bool(_RULES.search(format))


def without_rule(tensor: Tensor) -> Tensor:
    """A tensor that slices can be taken of: a copy of all entries if its format has a rule."""
    if tensor._stored.is_relation:
        return tensor.convert(_default(tensor.ndim))
    return tensor.convert("coo") if has_rule(tensor._stored.format) else tensor


def cut(tensor: Any, by: Any, n: int) -> list[Tensor]:
    """The shards of a tensor along a mode, balanced by stored entries.

    Parameters are those of `bounds`.

    Examples
    --------
    >>> import sparsec
    >>> from sparsec import _shards
    >>> A = sparsec.from_coo([[0, 0, 0, 5, 6], [0, 1, 2, 0, 0]], 1.0, shape=(100, 3))
    >>> [(part.shape, part.nnz) for part in _shards.cut(A, "i", 2)]
    [((1, 3), 3), ((99, 3), 2)]
    """
    made = without_rule(asarray(tensor))
    mode = mode_of(made, by)
    limits = bounds(made, mode, n)
    whole = [(0, extent) for extent in made.shape]
    ranges = [[*whole[:mode], one, *whole[mode + 1 :]] for one in zip(limits, limits[1:])]
    cutter = Cutter(made)
    return [cutter.take(one) for one in ranges]


def join(
    parts: Sequence[Tensor],
    offsets: Sequence[Sequence[int]],
    shape: Sequence[int],
    format: str | None = None,
) -> Tensor:
    """The tensor of parts that lie side by side, each at an offset.

    Takes O(entries) beside their sort. Dense parts are copied into one array; others stay sparse.

    Parameters
    ----------
    parts : sequence of Tensor
        Tensors of one type and fill.
    offsets : sequence of sequence of int
        For each part its first coordinate in each mode.
    shape : sequence of int
        The extents of the result.
    format : str, optional
        How the result is stored; by default as the first part.

    Raises
    ------
    InputError
        For parts of different types or fills (``E0403``), that reach beyond the shape
        (``E0413``), and that overlap (``E0408``).

    Examples
    --------
    >>> import sparsec
    >>> from sparsec import _shards
    >>> A = sparsec.from_coo([[0], [1]], [5.0], shape=(1, 2))
    >>> _shards.join([A, A], [(0, 0), (2**40, 0)], (2**40 + 1, 2), "coo")
    <sparsec.Tensor f64[1099511627777, 2], coo, 2 stored
      (            0, 1)  5.0
      (1099511627776, 1)  5.0>
    """
    if len(parts) == 1 and parts[0].shape == tuple(shape) and not any(offsets[0]):
        return parts[0] if format is None else parts[0].convert(format)
    text = parts[0].format if format is None else format
    if len(parts) > 1 and format is None and all(map(_is_array, parts)) and not text.count("->"):
        return _joined_dense(parts, offsets, shape)
    given = [(list(map(int, at)), part._stored) for at, part in zip(offsets, parts)]
    return Tensor._of(_sparsec.Stored.joined(text, list(map(int, shape)), given))


def _joined_dense(
    parts: Sequence[Tensor], offsets: Sequence[Sequence[int]], shape: Sequence[int]
) -> Tensor:
    first = parts[0]
    dtype, fill = first.dtype, first.fill_value
    for number, part in enumerate(parts):
        if part.dtype != dtype or part.fill_value.tobytes() != fill.tobytes():
            message = (
                f"part {number} stores {part.dtype} with fill {part.fill_value}, "
                f"and part 0 {dtype} with fill {fill}"
            )
            raise failure("E0403", message, "give parts of one type and fill")
    sizes = [part.size for part in parts]
    whole = int(np.prod([int(extent) for extent in shape], dtype=object)) if shape else 1
    array = np.empty(shape, dtype=dtype)
    if sum(sizes) < whole:
        array[...] = fill
    for number, (part, at) in enumerate(zip(parts, offsets)):
        ends = [start + extent for start, extent in zip(at, part.shape)]
        if any(end > extent for end, extent in zip(ends, shape)):
            message = f"part {number} of shape {part.shape} at {tuple(at)} is not inside of {tuple(shape)}"
            raise failure("E0413", message, "give each part an offset with room behind it")
        array[tuple(map(slice, at, ends))] = part.to_numpy()
    return _dense(array, fill)


def tree(parts: Iterable[_T], combine: Callable[[_T, _T], _T]) -> _T:
    """One result of several: neighbours are combined, then the results of those, and so on.

    The shape of the tree follows from the number of parts, so results have the same bits wherever
    and in whatever order parts are made. Of parts that are made one after the other, as many are
    held at a time as their number has bits.

    Examples
    --------
    >>> from sparsec import _shards
    >>> _shards.tree("abcde", lambda left, right: f"({left}{right})")
    '(((ab)(cd))e)'
    """
    held: list[tuple[int, _T]] = []
    for part in parts:
        height = 0
        while held and held[-1][0] == height:
            part = combine(held.pop()[1], part)
            height += 1
        held.append((height, part))
    if not held:
        raise failure("E0402", "no results to combine", "give one or more")
    whole = held.pop()[1]
    while held:
        whole = combine(held.pop()[1], whole)
    return whole


def combined(text: str, left: Tensor, right: Tensor) -> Tensor:
    """Two results as one, by a program ``out = ...`` over ``left`` and ``right``; stored as the
    left one."""
    operands = [("left", left._stored), ("right", right._stored)]
    return Tensor._of(_sparsec.evaluate(text, operands, [("", left.format)], []))

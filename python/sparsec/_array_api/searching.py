"""Where entries lie: `nonzero`, the places of extremes, and sorted vectors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._asarray import asarray
from .._errors import failure
from .._tensor import Tensor
from .entries import axis_of, flat, is_dense, of_numpy, rebuilt, unflat

__all__ = ["argmax", "argmin", "nonzero", "searchsorted", "unique_counts", "unique_values"]


def nonzero(x: Any, /) -> tuple[Tensor, ...]:
    """The coordinates of entries that are not zero, a dense vector for each mode, in C order.

    Raises
    ------
    InputError
        For a tensor without modes (``E0413``), or whose fill is not zero (``E0470``).

    Examples
    --------
    >>> import sparsec
    >>> i, j = sparsec.nonzero(sparsec.asarray([[0, 2], [3, 0]], format="csc"))
    >>> i.to_numpy(), j.to_numpy()
    (array([0, 1]), array([1, 0]))
    """
    made = asarray(x)
    if made.ndim == 0:
        raise failure("E0413", "a tensor without modes has no coordinates", "compare it with 0")
    if is_dense(made):
        return tuple(of_numpy(mode) for mode in np.nonzero(made.to_numpy()))
    if made.fill_value != 0:
        raise failure(
            "E0470",
            f"all but some coordinates are not zero: the fill is {made.fill_value}",
            "use `to_numpy()`, or ask for `x != x.fill_value`",
        )
    coords, values = made.to_coo()
    kept = np.flatnonzero(values)
    coords = tuple(mode[kept] for mode in coords)
    order = np.lexsort(coords[::-1])
    return tuple(of_numpy(mode[order]) for mode in coords)


def argmax(x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The first coordinate of the greatest entry along a mode, or its place in C order.

    Entries that are not stored count. Time O(nnz log nnz); the result stores an entry where
    some is stored along the mode.

    Examples
    --------
    >>> import sparsec
    >>> sparsec.argmax(sparsec.asarray([[0, 2], [-3, 0]], format="csr"), axis=1).to_numpy()
    array([1, 1])
    """
    return _arg(asarray(x), axis, keepdims, greatest=True)


def argmin(x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The first coordinate of the least entry along a mode, or its place. As `argmax`."""
    return _arg(asarray(x), axis, keepdims, greatest=False)


def _arg(x: Tensor, axis: int | None, keepdims: bool, greatest: bool) -> Tensor:
    if x.dtype.kind == "c":
        raise failure("E0208", "complex numbers have no order", "compare `abs(x)`")
    coords, values = x.to_coo()
    if axis is None:
        along = flat(coords, x.shape, len(values))
        groups: list[np.ndarray] = []
        kept: list[int] = []
        extent, order = x.size, 0
    else:
        mode = axis_of(axis, x.ndim)
        along, extent, order = coords[mode], x.shape[mode], mode
        groups = [it for at, it in enumerate(coords) if at != mode]
        kept = [it for at, it in enumerate(x.shape) if at != mode]
    if extent == 0:
        raise failure("E0413", "a mode of extent 0 has no extreme", "leave empty modes out")
    where, found = _first_extremes(groups, along, values, x.fill_value, extent, greatest)
    if keepdims:
        zero = np.zeros(len(found), dtype=np.int64)
        if axis is None:
            where, kept = [zero] * x.ndim, [1] * x.ndim
        else:
            where, kept = [*where[:order], zero, *where[order:]], [*kept[:order], 1, *kept[order:]]
    zeros = np.zeros((), dtype=np.int64)
    if is_dense(x):
        dense = np.zeros(kept, dtype=np.int64)
        dense[tuple(where)] = found if kept else found[0] if len(found) else zeros
        return of_numpy(dense)
    return rebuilt(asarray(zeros), where, found, kept)


def _first_extremes(
    groups: list[np.ndarray],
    along: np.ndarray,
    values: np.ndarray,
    fill: Any,
    extent: int,
    greatest: bool,
) -> tuple[list[np.ndarray], np.ndarray]:
    """The groups that have a stored entry, and the first place of the extreme in each.

    Beside the stored entries, a group has the fill at the first place where none is stored.
    """
    order = np.lexsort([along, *groups[::-1]])
    along, values = along[order], values[order]
    groups = [it[order] for it in groups]
    n = len(along)
    if n == 0:
        return groups, along
    is_first = np.zeros(n, dtype=bool)
    is_first[0] = True
    for it in groups:
        is_first[1:] |= it[1:] != it[:-1]
    starts = np.flatnonzero(is_first)
    number = np.cumsum(is_first) - 1
    counts = np.diff(np.append(starts, n))
    # The first place without an entry: as many are stored before it as there are places.
    within = np.arange(n) - starts[number]
    missing = counts.copy()
    gaps = np.flatnonzero(along != within)
    np.minimum.at(missing, number[gaps], within[gaps])
    wide = values.astype(np.int8) if values.dtype == bool else values
    best = (np.maximum if greatest else np.minimum).reduceat(wide, starts)
    is_best = (wide == best[number]) | (np.isnan(wide) if wide.dtype.kind == "f" else False)
    place = np.full(len(starts), extent, dtype=np.int64)
    np.minimum.at(place, number[is_best], along[is_best])
    is_nan = np.isnan(best) if best.dtype.kind == "f" else np.zeros(len(best), dtype=bool)
    with_fill = counts < extent
    other = np.asarray(fill, dtype=values.dtype).astype(wide.dtype)
    is_better = (other > best if greatest else other < best) & ~is_nan
    is_better |= bool(other != other) & ~is_nan
    place = np.where(with_fill & is_better, missing, place)
    is_equal = with_fill & ((other == best) | (is_nan & bool(other != other)))
    place = np.where(is_equal, np.minimum(place, missing), place)
    return [it[starts] for it in groups], place


def searchsorted(
    x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None
) -> Tensor:
    """Where numbers belong in a sorted vector. Both are dense.

    Raises
    ------
    InputError
        For a tensor that is not dense (``E0470``).
    """
    given = [asarray(x) for x in (x1, x2)]
    if not all(is_dense(x) for x in given):
        raise failure("E0470", "places in a sorted vector are dense", 'convert to "dense" first')
    order = None if sorter is None else asarray(sorter).to_numpy()
    a, b = (x.to_numpy() for x in given)
    return of_numpy(np.asarray(np.searchsorted(a, b, side=side, sorter=order)))  # type: ignore[call-overload]


class UniqueCounts(NamedTuple):
    """The distinct values of a tensor, and how often each occurs."""

    values: Tensor
    counts: Tensor


def unique_counts(x: Any, /) -> UniqueCounts:
    """The distinct values, ascending, and how often each occurs, stored or not.

    Examples
    --------
    >>> import sparsec
    >>> values, counts = sparsec.unique_counts(sparsec.asarray([[0, 2], [2, 0]], format="csr"))
    >>> values.to_numpy(), counts.to_numpy()
    (array([0, 2]), array([2, 2]))
    """
    made = asarray(x)
    _, given = made.to_coo()
    values, counts = np.unique(given, return_counts=True, equal_nan=False)
    others = made.size - len(given)
    if others:
        fill = made.fill_value
        at = np.flatnonzero(values == fill)
        if len(at):
            counts[at[0]] += others
        else:
            place = int(np.searchsorted(values, fill))
            values, counts = np.insert(values, place, fill), np.insert(counts, place, others)
    return UniqueCounts(of_numpy(values), of_numpy(counts.astype(np.int64)))


def unique_values(x: Any, /) -> Tensor:
    """The distinct values, ascending."""
    return unique_counts(x).values

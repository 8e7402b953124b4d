"""Entries taken by arrays of coordinates, differences of neighbours, and membership.

Sparse tensors stay sparse: each function sorts stored entries and the coordinates that are asked
for, in O((nnz + n) log(nnz + n)). Dense tensors are left to NumPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._asarray import asarray, from_coo
from .._errors import InputError, failure
from .._indexing import signed
from .._selection import points
from .._tensor import Tensor
from .entries import axis_of, is_dense, of_numpy
from .manipulation import broadcast_shapes, broadcast_to, concat, reshape

__all__ = ["diff", "isin", "take", "take_along_axis"]


def take(x: Any, indices: Any, /, *, axis: int | None = None) -> Tensor:
    """The parts of a tensor at some coordinates of a mode, in their order.

    Parameters
    ----------
    x : array-like
        The tensor.
    indices : array-like of integers
        A vector. Negative ones count from the end.
    axis : int, optional
        The mode; needed unless the tensor is a vector.

    Raises
    ------
    IndexError
        For a coordinate outside of the mode.

    Examples
    --------
    >>> import sparsec
    >>> A = sparsec.asarray([[0, 2], [3, 0]], format="csr")
    >>> sparsec.take(A, [1, 1, 0], axis=0).to_numpy()
    array([[3, 0],
           [3, 0],
           [0, 2]])
    """
    made = asarray(x)
    if axis is None and made.ndim != 1:
        raise failure("E0413", f"`take` of {made.ndim} modes needs an axis", "say `axis=0`")
    mode = axis_of(0 if axis is None else axis, made.ndim)
    where = _integers(indices)
    if where.ndim != 1:
        raise failure("E0402", f"indices of {where.ndim} modes", "give a vector")
    if is_dense(made):
        return of_numpy(np.take(made.to_numpy(), where, axis=mode))
    taken: Tensor = made[(slice(None),) * mode + (where,)]
    return taken


def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Tensor:
    """For each entry of ``indices``, the entry of a tensor that has it as its coordinate in one mode.

    The other coordinates are those of the entry of ``indices``. The result has as many entries, and
    stores those that the tensor stores.

    Raises
    ------
    InputError
        For another number of modes (``E0402``), and for other modes that do not fit (``E0203``).
    IndexError
        For a coordinate outside of the mode.

    Examples
    --------
    >>> import sparsec
    >>> A = sparsec.asarray([[0, 2], [3, 0]], format="csr")
    >>> sparsec.take_along_axis(A, sparsec.argmax(A, axis=1, keepdims=True), axis=1).to_numpy()
    array([[2],
           [3]])
    """
    made, where = asarray(x), _integers(indices)
    mode = axis_of(axis, made.ndim)
    if where.ndim != made.ndim:
        message = f"indices of {where.ndim} modes for a tensor of {made.ndim}"
        raise failure("E0402", message, "give as many modes as the tensor has")
    extent = made.shape[mode]

    def along(shape: tuple[int, ...], extent: int) -> tuple[int, ...]:
        return (*shape[:mode], extent, *shape[mode + 1 :])

    others = broadcast_shapes(along(made.shape, 1), along(where.shape, 1))
    where = np.broadcast_to(where, along(others, where.shape[mode]))
    outside = np.flatnonzero((where < -extent) | (where >= extent))
    if len(outside):
        at = where.reshape(-1)[outside[0]]
        raise IndexError(f"index {at} is outside of mode {mode}, which has extent {extent}")
    if made.shape != along(others, extent):
        made = broadcast_to(made, along(others, extent))
    if is_dense(made):
        return of_numpy(np.take_along_axis(made.to_numpy(), where, axis=mode))
    places: list[np.ndarray] = [place.reshape(-1) for place in np.indices(where.shape)]
    places[mode] = np.where(where < 0, where + extent, where).reshape(-1)
    return reshape(points(made, places), where.shape)


def diff(
    x: Any, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None
) -> Tensor:
    """The differences of neighbours along a mode, taken ``n`` times.

    Parameters
    ----------
    x : array-like
        Numbers.
    axis : int
        The mode.
    n : int
        How often, 0 or more.
    prepend, append : array-like, optional
        What stands before the tensor and behind it along the mode.

    Raises
    ------
    DtypeError
        For truth values (``E0208``).

    Examples
    --------
    >>> import sparsec
    >>> sparsec.diff(sparsec.asarray([0, 0, 4, 0], format="csf"))
    <sparsec.Tensor i64[3], csf, 2 stored
      (1)   4
      (2)  -4>
    """
    made = asarray(x)
    if made.dtype == bool:
        raise failure("E0208", "truth values have no differences", "compare neighbours by `!=`")
    if n < 0:
        raise failure("E0402", f"differences are taken {n} times", "give 0 or more")
    mode = axis_of(axis, made.ndim)
    around = [part for part in (prepend, made, append) if part is not None]
    if len(around) > 1:
        made = concat(around, axis=mode)
    for _ in range(n):
        last = max(made.shape[mode] - 1, 0)
        left, right = [
            made[(slice(None),) * mode + (part,)]
            for part in (slice(0, last), slice(made.shape[mode] - last, None))
        ]
        made = right - left
    return made


def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Tensor:
    """Which entries of a tensor are entries of another, stored or not.

    The fill of the result says it of the fill, so that nothing more is stored.

    Parameters
    ----------
    x1, x2 : array-like
        The tensor, and the entries to look for. NaN is in nothing.
    invert : bool
        Whether to say which are not.

    Examples
    --------
    >>> import sparsec
    >>> sparsec.isin(sparsec.asarray([[0, 2], [3, 0]], format="csr"), [3, 5]).to_numpy()
    array([[False, False],
           [ True, False]])
    """
    made, others = asarray(x1), asarray(x2)
    _, wanted = others.to_coo()
    if len(wanted) < others.size:
        wanted = np.append(wanted, others.fill_value)
    if is_dense(made):
        return of_numpy(np.isin(made.to_numpy(), wanted, invert=invert))
    coords, values = made.to_coo()
    found = np.isin(values, wanted, invert=invert)
    fill = bool(np.isin(made.fill_value, wanted, invert=invert))
    try:
        return from_coo(coords, found, made.shape, format=made.format, fill_value=fill)
    except InputError:
        # Blocks, symmetric matrices and the like do not store all entries.
        return from_coo(coords, found, made.shape, fill_value=fill)


def _integers(indices: Any) -> np.ndarray:
    given = asarray(indices).to_numpy() if hasattr(indices, "to_coo") else np.asarray(indices)
    if given.size == 0 and given.dtype.kind == "f":
        given = given.astype(np.int64)
    if given.dtype.kind not in "iu":
        raise failure("E0208", f"indices of type {given.dtype}", "give integers")
    return signed(given)

"""Tensors taken apart into entries, and put together from others.

Functions that move entries (`reshape`, `concat`, `roll`, ...) compute new coordinates of the
stored ones: in O(nnz log nnz), whatever the shape is.
"""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from .._asarray import asarray, from_coo
from .._errors import InputError, failure
from .._tensor import Tensor


def is_dense(tensor: Tensor) -> bool:
    """Whether every entry is stored, in dense levels."""
    return all(level.endswith(": dense") for level in tensor.levels)


def rebuilt(
    like: Tensor, coords: Sequence[np.ndarray], values: np.ndarray, shape: Sequence[int]
) -> Tensor:
    """A tensor of these entries with the fill of another, and its format where that has as
    many modes and stores them."""
    if like.ndim == len(shape):
        try:
            return from_coo(
                coords, values, shape, format=like.format, fill_value=like.fill_value
            )
        except InputError:
            # Blocks, symmetric matrices and the like do not store all entries.
            pass
    if not shape:
        value = values[0] if len(values) else like.fill_value
        return asarray(np.asarray(value, dtype=like.dtype))
    return from_coo(coords, values, shape, fill_value=like.fill_value)


def of_numpy(array: np.ndarray) -> Tensor:
    """A dense tensor of an array that nobody else has."""
    return asarray(np.asarray(array, order="C"))


def flat(coords: Sequence[np.ndarray], shape: Sequence[int], n_entries: int) -> np.ndarray:
    """The places of entries in C order.

    Raises
    ------
    InputError
        For a shape of more than 2^63 entries (``E0406``).
    """
    checked_size(shape)
    places = np.zeros(n_entries, dtype=np.int64)
    for mode, extent in zip(coords, shape):
        places = places * extent + mode
    return places


def unflat(places: np.ndarray, shape: Sequence[int]) -> list[np.ndarray]:
    """Coordinates of places in C order."""
    coords = []
    for extent in reversed(shape):
        places, rest = np.divmod(places, max(extent, 1))
        coords.append(rest)
    return coords[::-1]


def checked_size(shape: Sequence[int]) -> int:
    """How many entries a shape has."""
    size = 1
    for extent in shape:
        size *= int(extent)
    if size >= 2**63:
        message = f"a shape of {size} entries, which 63 bits do not count"
        raise failure("E0406", message, "keep more modes")
    return size


def axis_of(axis: Any, order: int) -> int:
    """A mode counted from 0."""
    if not isinstance(axis, (int, np.integer)):
        raise TypeError(f"axis is {axis!r}; give an integer")
    mode = int(axis) + order if axis < 0 else int(axis)
    if not 0 <= mode < order:
        raise failure("E0413", f"there is no axis {axis} of {order} modes", "count from 0")
    return mode

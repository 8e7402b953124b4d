"""Integers and slices as windows of modes."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np


def is_selection(key: Any) -> bool:
    """Whether a key has arrays of coordinates, or a mask."""
    keys = key if isinstance(key, tuple) else (key,)
    return any(is_array(one) for one in keys)


def is_array(one: Any) -> bool:
    """Whether an index is an array of coordinates, or a mask: no integer, slice, None or ``...``."""
    if one is None or one is Ellipsis or isinstance(one, (slice, int, np.integer)):
        return isinstance(one, (bool, np.bool_))
    return isinstance(one, (list, np.ndarray)) or hasattr(one, "to_coo")


def signed(indices: np.ndarray) -> np.ndarray:
    """Integers as ``int64``.

    Raises
    ------
    IndexError
        For one that no mode reaches.
    """
    if indices.dtype == np.uint64 and indices.size and indices.max() > np.iinfo(np.int64).max:
        raise IndexError(f"index {indices.max()} is outside of every mode")
    return indices.astype(np.int64)


def whole(key: Any, shape: Sequence[int]) -> tuple[list[Any], list[int]]:
    """An index for each mode, and the places of new modes of extent 1 in the result.

    Raises
    ------
    IndexError
        For more indices than modes.
    """
    keys = list(key) if isinstance(key, tuple) else [key]
    n_given = sum(one is not Ellipsis and one is not None for one in keys)
    if n_given > len(shape):
        raise IndexError(f"{n_given} indices for a tensor of {len(shape)} modes")
    if not any(one is Ellipsis for one in keys):
        keys.append(Ellipsis)
    place = next(number for number, one in enumerate(keys) if one is Ellipsis)
    keys[place : place + 1] = [slice(None)] * (len(shape) - n_given)
    modes, added, n_result = [], [], 0
    for one in keys:
        if one is None:
            added.append(n_result)
        else:
            modes.append(one)
        n_result += not isinstance(one, (int, np.integer)) or isinstance(one, (bool, np.bool_))
    return modes, added


def windows_of(
    key: Any, shape: Sequence[int]
) -> tuple[list[tuple[int, int, int]], list[int], list[int]]:
    """The coordinates of each mode as a range (the first, the end, the step), the modes that
    integers drop, and the places of new modes.

    Raises
    ------
    IndexError
        For an integer outside of its mode, or more indices than modes.
    TypeError
        For an index that is neither an integer nor a slice.
    """
    keys, added = whole(key, shape)
    windows, dropped = [], []
    for mode, (one, extent) in enumerate(zip(keys, shape)):
        if isinstance(one, slice):
            windows.append(window(one, extent))
        elif isinstance(one, (int, np.integer)):
            at = coordinate(one, extent, mode)
            windows.append((at, at + 1, 1))
            dropped.append(mode)
        else:
            raise TypeError(
                f"mode {mode} is indexed by {type(one).__name__}; give integers, slices, arrays of "
                "integers or a mask"
            )
    return windows, dropped, added


def coordinate(one: Any, extent: int, mode: int) -> int:
    """A coordinate counted from 0."""
    at = int(one) + extent if one < 0 else int(one)
    if not 0 <= at < extent:
        raise IndexError(f"index {one} is outside of mode {mode}, which has extent {extent}")
    return at


def window(one: slice, extent: int) -> tuple[int, int, int]:
    """The coordinates of a slice as a range: the first, the end and the step."""
    start, stop, step = one.indices(extent)
    return start, max(start, stop) if step > 0 else min(start, stop), step


def ascending(window: tuple[int, int, int]) -> tuple[int, int, int]:
    """The same coordinates in ascending order, as far as the extent goes."""
    start, stop, step = window
    if step > 0:
        return window
    last = start + (len(range(start, stop, step)) - 1) * step
    return (last, start + 1, -step) if start > stop else (0, 0, 1)

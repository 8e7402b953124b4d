"""Integers and slices as windows of modes."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np


def windows_of(key: Any, shape: Sequence[int]) -> tuple[list[tuple[int, int, int]], list[int]]:
    """The window of each mode (first coordinate, first beyond, stride), and the modes that
    integers drop.

    Raises
    ------
    IndexError
        For an integer outside of its mode, or more indices than modes.
    TypeError
        For an index that is neither an integer nor a slice.
    """
    keys = list(key) if isinstance(key, tuple) else [key]
    n_given = sum(one is not Ellipsis for one in keys)
    if n_given > len(shape):
        raise IndexError(f"{n_given} indices for a tensor of {len(shape)} modes")
    if Ellipsis not in keys:
        keys.append(Ellipsis)
    place = next(number for number, one in enumerate(keys) if one is Ellipsis)
    keys[place : place + 1] = [slice(None)] * (len(shape) - n_given)
    windows, dropped = [], []
    for mode, (one, extent) in enumerate(zip(keys, shape)):
        if isinstance(one, slice):
            windows.append(_window(one, extent, mode))
        elif isinstance(one, (int, np.integer)) and not isinstance(one, bool):
            at = int(one) + extent if one < 0 else int(one)
            if not 0 <= at < extent:
                raise IndexError(f"index {one} is outside of mode {mode}, which has extent {extent}")
            windows.append((at, at + 1, 1))
            dropped.append(mode)
        else:
            raise TypeError(
                f"mode {mode} is indexed by {type(one).__name__}; give integers and slices, or "
                "write the selection in index notation: B(i,j) = A(i({3,0,3}), j)"
            )
    return windows, dropped


def _window(one: slice, extent: int, mode: int) -> tuple[int, int, int]:
    start, stop, step = one.indices(extent)
    if step < 1:
        raise IndexError(
            f"the slice of mode {mode} has step {step}; write `B(i) = A({extent - 1} - i)`"
        )
    return start, max(start, stop), step

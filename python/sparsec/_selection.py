"""Selections by arrays of coordinates and by masks, and assignment into copies.

Coordinates are matched by sorting, so a selection takes O(nnz log nnz) beside its result:

======================  ====================================================
key                     result
======================  ====================================================
``A[[3, 0, 3], :]``     the rows, in this order; a row may come twice
``A[[0, 1], [2, 3]]``   the entries (0, 2) and (1, 3): arrays go together
``A[mask]``             the entries where a mask of the same shape holds
``A[rows > 0, :]``      the rows where a vector of truth values holds
======================  ====================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from ._indexing import coordinate, is_array, signed, whole, window

if TYPE_CHECKING:
    from ._tensor import Tensor


def _array(one: Any, extent: int, mode: int) -> np.ndarray:
    """Coordinates of a mode, of integers or of truth values."""
    array = one.to_numpy() if hasattr(one, "to_coo") else np.asarray(one)
    if array.size == 0 and array.dtype.kind == "f":
        array = array.astype(np.int64)
    if array.ndim != 1 or array.dtype.kind not in "biu":
        raise TypeError(
            f"mode {mode} is indexed by an array of {array.ndim} modes and dtype {array.dtype}; "
            "give a vector of integers or of truth values"
        )
    if array.dtype.kind == "b":
        if len(array) != extent:
            raise IndexError(f"a mask of {len(array)} for mode {mode}, which has extent {extent}")
        return np.flatnonzero(array)
    array = signed(array)
    outside = (array < -extent) | (array >= extent)
    if outside.any():
        at = array[np.flatnonzero(outside)[0]]
        raise IndexError(f"index {at} is outside of mode {mode}, which has extent {extent}")
    return np.where(array < 0, array + extent, array)


def _mask(key: Any, tensor: Tensor) -> tuple[np.ndarray, ...] | None:
    """The coordinates where a mask of the tensor's shape holds, in C order, if the key is one."""
    from ._array_api.searching import nonzero
    from ._asarray import asarray

    only = key[0] if isinstance(key, tuple) and len(key) == 1 else key
    if isinstance(only, tuple) or np.ndim(only) == 0 or getattr(only, "dtype", None) != bool:
        if not (isinstance(only, list) and np.asarray(only).dtype == bool):
            return None
    mask = asarray(only)
    if mask.ndim < 2 and tensor.ndim != mask.ndim:
        return None
    if mask.shape != tensor.shape:
        raise IndexError(f"a mask of shape {mask.shape} for a tensor of shape {tensor.shape}")
    return tuple(mode.to_numpy() for mode in nonzero(mask))


def selected(tensor: Any, key: Any) -> Tensor:
    """The entries that arrays of coordinates or a mask select."""
    from ._array_api.manipulation import expand_dims
    from ._asarray import from_coo

    where = _mask(key, tensor)
    if where is not None:
        return points(tensor, where)
    keys, added = whole(key, tensor.shape)
    arrays = [mode for mode, one in enumerate(keys) if is_array(one)]
    given = {mode: _array(keys[mode], tensor.shape[mode], mode) for mode in arrays}
    if len(arrays) > 1:
        others = [mode for mode in range(tensor.ndim) if mode not in arrays]
        if any(isinstance(keys[mode], slice) for mode in others) or added:
            raise TypeError(
                "several arrays of coordinates go together, and no slices beside them; select by "
                "one array after the other: `A[rows][:, columns]`"
            )
        for mode in others:
            given[mode] = np.asarray([coordinate(keys[mode], tensor.shape[mode], mode)])
        together = np.broadcast_arrays(*(given[mode] for mode in range(tensor.ndim)))
        return points(tensor, tuple(together))
    (mode,) = arrays
    coords, values = tensor.to_coo()
    lists = list(coords)
    order = np.argsort(given[mode], kind="stable")
    wanted = given[mode][order]
    first = np.searchsorted(wanted, lists[mode], side="left")
    times = np.searchsorted(wanted, lists[mode], side="right") - first
    at = np.repeat(first, times) + np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
    lists = [np.repeat(one, times) for one in lists]
    lists[mode] = order[at]
    shape = list(tensor.shape)
    shape[mode] = len(wanted)
    made = from_coo(
        lists,
        np.repeat(values, times),
        shape,
        format=tensor.format if tensor.format in ("csr", "csc", "coo", "csf", "dense") else None,
        fill_value=tensor.fill_value,
    )
    rest = tuple(slice(None) if number == mode else one for number, one in enumerate(keys))
    made = made[rest]
    return expand_dims(made, axis=tuple(added)) if added else made


def points(tensor: Tensor, where: Sequence[np.ndarray]) -> Tensor:
    """The entries at these coordinates, as a vector."""
    from ._asarray import from_coo

    coords, values = tensor.to_coo()
    n = len(where[0])
    # Equal tuples of coordinates get equal numbers, whatever the extents are.
    numbers = np.zeros(len(values) + n, dtype=np.int64)
    for mode in range(tensor.ndim):
        both = np.concatenate([coords[mode], where[mode]])
        _, place = np.unique(both, return_inverse=True)
        numbers = np.unique(numbers * (place.max(initial=0) + 1) + place, return_inverse=True)[1]
    stored, asked = numbers[: len(values)], numbers[len(values) :]
    order = np.argsort(stored)
    at = np.searchsorted(stored, asked, sorter=order)
    found = at < len(stored)
    found[found] = stored[order[at[found]]] == asked[found]
    return from_coo(
        [np.flatnonzero(found)], values[order[at[found]]], (n,), fill_value=tensor.fill_value
    )


def assigned(tensor: Tensor, key: Any, value: Any) -> Tensor:
    """As `Tensor.assign`."""
    from ._array_api.entries import rebuilt

    coords, values = tensor.to_coo()
    where = _mask(key, tensor)
    if where is None:
        where, shape, is_inside = _region(tensor, key, coords)
    else:
        shape = (len(where[0]),)
        at = _points_at(coords, where)
        is_inside = at >= 0
    new = np.broadcast_to(np.asarray(_dense(value), dtype=tensor.dtype), shape).reshape(-1)
    differs = new != tensor.fill_value
    # Of several values for one entry, the last one stays.
    lists = [np.concatenate([old[~is_inside], of[differs]]) for old, of in zip(coords, where)]
    joined = np.concatenate([values[~is_inside], new[differs]])
    last = np.lexsort([np.arange(len(joined)), *lists[::-1]])
    if len(last):
        is_last = np.ones(len(last), dtype=bool)
        is_last[:-1] = np.any([one[last][1:] != one[last][:-1] for one in lists], axis=0)
        last = last[is_last]
    return rebuilt(tensor, [one[last] for one in lists], joined[last], tensor.shape)


def _dense(value: Any) -> Any:
    return value.to_numpy() if hasattr(value, "to_coo") else value


def _points_at(coords: Sequence[np.ndarray], where: Sequence[np.ndarray]) -> np.ndarray:
    """For each entry, -1 unless it is one of these places."""
    n = len(coords[0])
    numbers = np.zeros(n + len(where[0]), dtype=np.int64)
    for mode, of in zip(coords, where):
        _, place = np.unique(np.concatenate([mode, of]), return_inverse=True)
        numbers = np.unique(numbers * (place.max(initial=0) + 1) + place, return_inverse=True)[1]
    return np.where(np.isin(numbers[:n], numbers[n:]), 0, -1)


def _region(
    tensor: Tensor, key: Any, coords: Sequence[np.ndarray]
) -> tuple[tuple[np.ndarray, ...], tuple[int, ...], np.ndarray]:
    """The coordinates of a part in C order, its shape, and which entries are in it."""
    keys, _ = whole(key, tensor.shape)
    if sum(map(is_array, keys)) > 1:
        raise TypeError("assign by one array of coordinates, or by a mask")
    lists: list[np.ndarray] = []
    shape: list[int] = []
    for mode, (one, extent) in enumerate(zip(keys, tensor.shape)):
        if isinstance(one, slice):
            lists.append(np.arange(*window(one, extent)))
        elif is_array(one):
            lists.append(_array(one, extent, mode))
        else:
            lists.append(np.asarray([coordinate(one, extent, mode)]))
            continue
        shape.append(len(lists[-1]))
    is_inside = np.ones(len(coords[0]) if coords else 1, dtype=bool)
    for stored, wanted in zip(coords, lists):
        is_inside &= np.isin(stored, wanted)
    grid = np.meshgrid(*lists, indexing="ij")
    return tuple(one.reshape(-1) for one in grid), tuple(shape), is_inside

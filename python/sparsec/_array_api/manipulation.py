"""Entries moved to other places, in O(nnz log nnz): nothing becomes dense.

Dense tensors are moved by NumPy.
"""

from __future__ import annotations

from typing import Any, Callable, Sequence

import numpy as np

from .._asarray import asarray, checked_shape
from .._errors import failure
from .._operators import broadcast_shape, cast_together
from .._tensor import Tensor
from .entries import axis_of, checked_size, flat, is_dense, of_numpy, rebuilt, unflat

__all__ = [
    "broadcast_arrays", "broadcast_shapes", "broadcast_to", "concat", "expand_dims", "flip",
    "moveaxis", "permute_dims", "repeat", "reshape", "roll", "squeeze", "stack", "tile",
    "unstack",
]


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that arrays of these shapes are broadcast to."""
    return broadcast_shape(shapes)


def broadcast_to(x: Any, /, shape: Sequence[int]) -> Tensor:
    """The tensor, repeated along modes that have extent 1 or that it lacks.

    Stored entries are repeated, too.

    Examples
    --------
    >>> import sparsec
    >>> row = sparsec.asarray([0, 5], format="csf")
    >>> sparsec.broadcast_to(row, (2, 2)).to_numpy()
    array([[0, 5],
           [0, 5]])
    """
    made = asarray(x)
    extents = checked_shape(shape)
    if broadcast_shapes(made.shape, tuple(extents)) != tuple(extents):
        message = f"a tensor of shape {made.shape} is not repeated to {tuple(extents)}"
        raise failure("E0203", message, "modes are aligned at the last; 1 fits any extent")
    if is_dense(made):
        return of_numpy(np.broadcast_to(made.to_numpy(), extents))
    order, missing = len(extents), len(extents) - made.ndim
    coords, values = made.to_coo()
    # A tuple of places in the modes that are repeated, for each entry.
    again = [mode for mode in range(order) if mode < missing or made.shape[mode - missing] == 1]
    n = checked_size([extents[mode] for mode in again])
    checked_size([n, len(values)])
    places = unflat(np.tile(np.arange(n, dtype=np.int64), len(values)), [extents[m] for m in again])
    lists = []
    for mode in range(order):
        if mode in again:
            lists.append(places[again.index(mode)])
        else:
            lists.append(np.repeat(coords[mode - missing], n))
    return rebuilt(made, lists, np.repeat(values, n), extents)


def broadcast_arrays(*arrays: Any) -> list[Tensor]:
    """Tensors broadcast to one shape. As `broadcast_to`."""
    given = [asarray(x) for x in arrays]
    shape = broadcast_shapes(*(x.shape for x in given))
    return [x if x.shape == shape else broadcast_to(x, shape) for x in given]


def concat(arrays: Sequence[Any], /, *, axis: int | None = 0) -> Tensor:
    """Tensors one after another along a mode; with ``axis=None``, flattened.

    Raises
    ------
    InputError
        For shapes that differ in other modes (``E0203``), and for sparse tensors with
        different fills (``E0470``): the result would be dense.

    Examples
    --------
    >>> import sparsec
    >>> A = sparsec.asarray([[0, 2], [3, 0]], format="csr")
    >>> sparsec.concat([A, A], axis=1)
    <sparsec.Tensor i64[2, 4], csr, 4 stored
      (0, 1)  2
      (0, 3)  2
      (1, 0)  3
      (1, 2)  3>
    """
    given = [asarray(x) for x in arrays]
    if not given:
        raise failure("E0402", "no tensors to put one after another", "give one or more")
    if axis is None:
        given, axis = [reshape(x, (-1,)) for x in given], 0
    order = given[0].ndim
    mode = axis_of(axis, order)
    shape = list(given[0].shape)
    for x in given[1:]:
        others = [*x.shape]
        if x.ndim != order or others[:mode] + others[mode + 1 :] != shape[:mode] + shape[mode + 1 :]:
            message = f"shapes {given[0].shape} and {x.shape} differ beside axis {axis}"
            raise failure("E0203", message, "give tensors that differ along that axis only")
    given = cast_together(given)
    if all(map(is_dense, given)):
        return of_numpy(np.concatenate([x.to_numpy() for x in given], axis=mode))
    like = _of_one_fill(given)
    lists: list[list[np.ndarray]] = [[] for _ in range(order)]
    values, offset = [], 0
    for x in given:
        coords, stored = _stored(x, like)
        for at, it in enumerate(coords):
            lists[at].append(it + offset if at == mode else it)
        values.append(stored)
        offset += x.shape[mode]
    shape[mode] = offset
    return rebuilt(like, [np.concatenate(it) for it in lists], np.concatenate(values), shape)


def _of_one_fill(given: Sequence[Tensor]) -> Tensor:
    """The first of several tensors that is not dense; all of these have one fill."""
    sparse = [x for x in given if not is_dense(x)]
    fills = np.asarray([x.fill_value for x in sparse])
    if not (np.all(fills == fills[0]) or np.all(fills != fills)):
        raise failure(
            "E0470",
            f"a tensor of parts with fills {', '.join(map(str, fills))} is dense",
            'give tensors of one fill, or convert to "dense" first',
        )
    return sparse[0]


def _stored(x: Tensor, like: Tensor) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
    """The entries that have to be stored beside those of another tensor. Those of a dense tensor
    have no fill."""
    if not is_dense(x) or x.fill_value == like.fill_value:
        return x.to_coo()
    values = x.to_numpy().reshape(-1)
    return tuple(unflat(np.arange(len(values)), x.shape)), values


def stack(arrays: Sequence[Any], /, *, axis: int = 0) -> Tensor:
    """Tensors of one shape along a new mode. As `concat`."""
    given = [asarray(x) for x in arrays]
    if not given:
        raise failure("E0402", "no tensors to stack", "give one or more")
    for x in given[1:]:
        if x.shape != given[0].shape:
            message = f"shapes {given[0].shape} and {x.shape} differ"
            raise failure("E0203", message, "stack tensors of one shape")
    mode = axis_of(axis, given[0].ndim + 1)
    return concat([expand_dims(x, axis=mode) for x in given], axis=mode)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """The tensors at the coordinates of a mode."""
    made = asarray(x)
    mode = axis_of(axis, made.ndim)
    before = (slice(None),) * mode
    return tuple(made[(*before, at)] for at in range(made.shape[mode]))


def _moved(
    x: Tensor,
    of_numpy_array: Callable[[np.ndarray], np.ndarray],
    of_coords: Callable[[list[np.ndarray]], list[np.ndarray]],
    shape: Sequence[int],
) -> Tensor:
    """A tensor whose entries have other coordinates."""
    if is_dense(x):
        return of_numpy(of_numpy_array(x.to_numpy()))
    coords, values = x.to_coo()
    return rebuilt(x, of_coords(list(coords)), values, shape)


def expand_dims(x: Any, /, *, axis: int | Sequence[int] = 0) -> Tensor:
    """The tensor with modes of extent 1 more.

    Parameters
    ----------
    axis : int or sequence of int
        Where they are in the result.
    """
    made = asarray(x)
    given = [axis] if isinstance(axis, (int, np.integer)) else list(axis)
    order = made.ndim + len(given)
    modes = sorted({axis_of(one, order) for one in given})
    if len(modes) < len(given):
        raise failure("E0413", f"axes {tuple(given)} name a mode twice", "give each once")
    shape = list(made.shape)
    for mode in modes:
        shape.insert(mode, 1)

    def moved(coords: list[np.ndarray]) -> list[np.ndarray]:
        n_entries = len(coords[0]) if coords else len(made.to_coo()[1])
        for mode in modes:
            coords.insert(mode, np.zeros(n_entries, dtype=np.int64))
        return coords

    return _moved(made, lambda array: array.reshape(shape), moved, shape)


def squeeze(x: Any, /, axis: int | Sequence[int] | None = None) -> Tensor:
    """The tensor without some modes of extent 1; without all of them by default.

    Raises
    ------
    ValueError
        For a mode of another extent.
    """
    made = asarray(x)
    if axis is None:
        modes = [mode for mode, extent in enumerate(made.shape) if extent == 1]
    else:
        given = [axis] if isinstance(axis, (int, np.integer)) else list(axis)
        modes = [axis_of(one, made.ndim) for one in given]
    for mode in modes:
        if made.shape[mode] != 1:
            message = f"mode {mode} has extent {made.shape[mode]}"
            raise failure("E0413", message, "squeeze modes of extent 1")
    kept = [mode for mode in range(made.ndim) if mode not in modes]
    shape = [made.shape[mode] for mode in kept]
    return _moved(
        made,
        lambda array: array.reshape(shape),
        lambda coords: [coords[mode] for mode in kept],
        shape,
    )


def permute_dims(x: Any, /, axes: Sequence[int]) -> Tensor:
    """The tensor with its modes in another order, over the same arrays.

    As `Tensor.permute_dims`.
    """
    return asarray(x).permute_dims(tuple(axes))


def moveaxis(x: Any, source: Any, destination: Any, /) -> Tensor:
    """The tensor with some modes at other places; the others stay in order."""
    made = asarray(x)
    pairs = [
        [axis_of(one, made.ndim) for one in (it if isinstance(it, (tuple, list)) else [it])]
        for it in (source, destination)
    ]
    if len(pairs[0]) != len(pairs[1]):
        raise failure("E0413", "as many modes have to be named twice", "give a place for each")
    order = [mode for mode in range(made.ndim) if mode not in pairs[0]]
    for place, mode in sorted(zip(pairs[1], pairs[0])):
        order.insert(place, mode)
    return made.permute_dims(order)


def reshape(x: Any, /, shape: Sequence[int] | int, *, copy: Any = None) -> Tensor:
    """The same entries, in C order, in another shape of as many.

    Parameters
    ----------
    shape : sequence of int
        One extent may be -1: it follows from the others.

    Raises
    ------
    InputError
        For a shape of another size (``E0402``), or of 2^63 entries and more (``E0406``).

    Examples
    --------
    >>> import sparsec
    >>> sparsec.reshape(sparsec.asarray([[0, 2], [3, 0]], format="csr"), (4,)).to_numpy()
    array([0, 2, 3, 0])
    """
    made = asarray(x)
    extents = [shape] if isinstance(shape, (int, np.integer)) else list(shape)
    if extents.count(-1) > 1:
        raise failure("E0402", f"shape {tuple(extents)} leaves two extents open", "leave one")
    if -1 in extents:
        others = checked_size([extent for extent in extents if extent != -1])
        if others == 0 or made.size % others:
            message = f"{made.size} entries are no multiple of {others}"
            raise failure("E0402", message, "give extents whose product is the size")
        extents[extents.index(-1)] = made.size // others
    extents = checked_shape(extents)
    if checked_size(extents) != made.size:
        message = f"shape {tuple(extents)} has {checked_size(extents)} entries, not {made.size}"
        raise failure("E0402", message, "give extents whose product is the size")
    if copy is False and not is_dense(made):
        raise ValueError("copy=False, and coordinates in another shape are others; leave it out")

    def moved(coords: list[np.ndarray]) -> list[np.ndarray]:
        n_entries = len(coords[0]) if coords else len(made.to_coo()[1])
        return unflat(flat(coords, made.shape, n_entries), extents)

    return _moved(made, lambda array: array.reshape(extents), moved, extents)


def flip(x: Any, /, *, axis: int | Sequence[int] | None = None) -> Tensor:
    """The tensor with the order of coordinates of some modes reversed; of all by default."""
    made = asarray(x)
    modes = _modes(axis, made.ndim)

    def moved(coords: list[np.ndarray]) -> list[np.ndarray]:
        for mode in modes:
            coords[mode] = made.shape[mode] - 1 - coords[mode]
        return coords

    return _moved(made, lambda array: np.flip(array, tuple(modes)), moved, made.shape)


def roll(x: Any, /, shift: Any, *, axis: Any = None) -> Tensor:
    """The tensor with entries moved along modes; those that leave come in at the other end.

    Without `axis`, along the places in C order.
    """
    made = asarray(x)
    if axis is None:
        return reshape(roll(reshape(made, (-1,)), shift, axis=0), made.shape)
    axes = list(axis) if isinstance(axis, (tuple, list)) else [axis]
    shifts = list(shift) if isinstance(shift, (tuple, list)) else [shift] * len(axes)
    if len(shifts) != len(axes):
        raise failure("E0402", f"{len(shifts)} shifts for {len(axes)} axes", "give one for each")
    modes = [axis_of(one, made.ndim) for one in axes]

    def moved(coords: list[np.ndarray]) -> list[np.ndarray]:
        for mode, by in zip(modes, shifts):
            coords[mode] = (coords[mode] + int(by) % max(made.shape[mode], 1)) % max(
                made.shape[mode], 1
            )
        return coords

    return _moved(made, lambda array: np.roll(array, shifts, tuple(modes)), moved, made.shape)


def repeat(x: Any, repeats: Any, /, *, axis: int | None = None) -> Tensor:
    """Each coordinate of a mode as often as is said, one number for all or one for each."""
    made = asarray(x)
    if axis is None:
        made, axis = reshape(made, (-1,)), 0
    mode = axis_of(axis, made.ndim)
    given = repeats.to_numpy() if isinstance(repeats, Tensor) else np.asarray(repeats)
    counts = np.broadcast_to(given.astype(np.int64), (made.shape[mode],))
    if (counts < 0).any():
        raise failure("E0402", "a coordinate is repeated a negative number of times", "give 0 or more")
    if is_dense(made):
        return of_numpy(np.repeat(made.to_numpy(), counts, axis=mode))
    coords, values = made.to_coo()
    times = counts[coords[mode]]
    first = np.cumsum(counts) - counts
    lists = [np.repeat(it, times) for it in coords]
    within = np.arange(len(lists[mode])) - np.repeat(np.cumsum(times) - times, times)
    lists[mode] = first[lists[mode]] + within
    shape = [*made.shape]
    shape[mode] = int(counts.sum())
    return rebuilt(made, lists, np.repeat(values, times), shape)


def tile(x: Any, repetitions: Sequence[int], /) -> Tensor:
    """The tensor, so many times along each mode. Modes are aligned at the last."""
    made = asarray(x)
    order = max(made.ndim, len(repetitions))
    times = [1] * (order - len(repetitions)) + [int(n) for n in repetitions]
    if made.ndim < order:
        made = expand_dims(made, axis=tuple(range(order - made.ndim)))
    for mode, n in enumerate(times):
        if n != 1:
            made = concat([made] * n, axis=mode) if n > 0 else made[(slice(None),) * mode + (slice(0),)]
    return made


def _modes(axis: Any, order: int) -> list[int]:
    if axis is None:
        return list(range(order))
    given = axis if isinstance(axis, (tuple, list)) else [axis]
    return [axis_of(one, order) for one in given]

"""Dask arrays whose chunks are tensors."""

from __future__ import annotations

from typing import Any, Sequence

import dask
import dask.array as da
import numpy as np
from dask.array import dispatch
from dask.base import normalize_token
from dask.delayed import Delayed
from dask.sizeof import sizeof

from .. import _shards
from .._array_api.entries import is_dense
from .._array_api.linear import tensordot
from .._array_api.manipulation import concat
from .._asarray import asarray, checked_shape, from_coo
from .._compute import einsum
from .._errors import failure
from .._tensor import Tensor
from ._tasks import task

#: Bytes of a shard by default, as of Dask's chunks.
SHARD = 128 * 2**20


def _concatenate(arrays: Sequence[Any], axis: int = 0) -> Tensor:
    """Chunks as one. Errors name the chunk that does not fit."""
    tensors = [asarray(x) for x in arrays]
    order = tensors[0].ndim
    for number, x in enumerate(tensors[1:], 1):
        if x.ndim != order:
            message = f"chunk {number} has shape {x.shape}, and chunk 0 has shape {tensors[0].shape}"
            raise failure("E1104", message, "give chunks of one order")
        if x.dtype != tensors[0].dtype:
            message = f"chunk {number} stores {x.dtype}, and chunk 0 stores {tensors[0].dtype}"
            raise failure("E1104", message, "convert the chunks to one type: `array.astype(...)`")
    formats = list(dict.fromkeys(x.format for x in tensors if not _is_empty(x)))
    if len(formats) > 1:
        message = f"chunks are stored as {' and '.join(formats)}"
        help = 'convert them to one format: `sparsec.dask.from_dask(array, format="csr")`'
        raise failure("E1104", message, help)
    mode = axis % order
    shape, offsets, end = list(tensors[0].shape), [], 0
    for number, x in enumerate(tensors):
        others = [extent for at, extent in enumerate(x.shape) if at != mode]
        if others != [extent for at, extent in enumerate(shape) if at != mode]:
            message = f"chunk {number} has shape {x.shape}, and chunk 0 has shape {tensors[0].shape}"
            raise failure("E1104", message, f"give chunks that differ along axis {mode} only")
        offsets.append([end if at == mode else 0 for at in range(order)])
        end += x.shape[mode]
    shape[mode] = end
    if all(map(is_dense, tensors)):
        return concat(tensors, axis=mode)
    if len({x.fill_value.tobytes() for x in tensors if not is_dense(x)}) > 1:
        return _densely(tensors, mode, shape)
    return _shards.join(tensors, offsets, shape, formats[0] if formats else None)


def _densely(tensors: Sequence[Tensor], mode: int, shape: Sequence[int]) -> Tensor:
    """Chunks of several fills as one, which stores all entries: partial sums of unequal chunks have
    such fills, and few entries."""
    size = tensors[0].dtype.itemsize * int(np.prod(shape, dtype=object))
    if size > SHARD:
        fills = " and ".join(dict.fromkeys(str(x.fill_value) for x in tensors))
        message = f"chunks whose entries that are not stored are {fills}"
        help = "give chunks of one fill: as one tensor they would store all entries"
        raise failure("E1104", message, help)
    return asarray(np.concatenate([x.to_numpy() for x in tensors], axis=mode))


def _is_empty(x: Tensor) -> bool:
    return 0 in x.shape


def _einsum(equation: str, *operands: Any, dtype: Any = None, **options: Any) -> Tensor:
    made = einsum(equation, *operands)
    return made if dtype is None else made.astype(dtype)


def _numel(x: Tensor, axis: Any = None, keepdims: bool = False, **options: Any) -> Any:
    """How many entries a chunk has along axes: a dense array."""
    modes = range(x.ndim) if axis is None else np.atleast_1d(axis) % x.ndim
    n = int(np.prod([x.shape[mode] for mode in modes], dtype=object))
    kept = [1 if mode in modes else extent for mode, extent in enumerate(x.shape)]
    if not keepdims:
        kept = [extent for mode, extent in enumerate(x.shape) if mode not in modes]
    return np.full(kept, n, dtype=options.get("dtype") or np.float64)


def _nannumel(x: Tensor, axis: Any = None, keepdims: bool = False, **options: Any) -> Any:
    """How many entries of a chunk along axes are numbers: a dense array."""
    n = _numel(x, axis, keepdims, **options)
    if x.dtype.kind not in "fc":
        return n
    return n - np.asarray(np.sum(np.isnan(x), axis=axis, keepdims=keepdims).to_numpy())


def _register() -> None:
    dispatch.concatenate_lookup.register(Tensor, _concatenate)
    dispatch.tensordot_lookup.register(Tensor, lambda a, b, axes: tensordot(a, b, axes=axes))
    dispatch.einsum_lookup.register(Tensor, _einsum)
    dispatch.numel_lookup.register(Tensor, _numel)
    dispatch.nannumel_lookup.register(Tensor, _nannumel)
    dispatch.take_lookup.register(Tensor, _take)
    dispatch.divide_lookup.register(Tensor, _divided)
    # So that operators of Dask's arrays take tensors beside them.
    da.register_chunk_type(Tensor)

    sizeof.register(Tensor, lambda x: x.nbytes)
    normalize_token.register(Tensor, _token)


def _token(x: Tensor) -> Any:
    arrays = [normalize_token(array) for array in x.buffers.values()]
    return "sparsec.Tensor", x.format, x.shape, str(x.dtype), str(x.fill_value), arrays


def _take(x: Tensor, indices: Any, axis: int = 0) -> Any:
    key: list[Any] = [slice(None)] * x.ndim
    key[axis] = np.asarray(indices)
    return x[tuple(key)]


def _divided(a: Any, b: Any, dtype: Any = None) -> Tensor:
    made = asarray(a) / asarray(b)
    return made if dtype is None else made.astype(dtype)


_register()


def chunk_of(x: Any, format: str | None, dtype: Any) -> Tensor:
    return asarray(x, format, dtype=dtype)


def type_of(dtype: Any) -> np.dtype[Any]:
    """A type of NumPy.

    Raises
    ------
    DtypeError
        For what names none (``E0451``).
    """
    try:
        made: np.dtype[Any] = np.dtype(dtype)
        return made
    except TypeError as error:
        raise failure("E0451", f"there is no type {dtype!r}", 'give one such as "float64"') from error


def meta_of(order: int, dtype: Any, format: str | None, fill: Any = None) -> Tensor:
    """A tensor of no entries, which tells Dask the type and format of chunks."""
    if format in (None, "dense") and fill is None:
        return asarray(np.zeros((0,) * order, dtype=dtype))
    nothing = np.zeros(0 if order else 1, dtype=dtype)
    lists: list[list[int]] = [[]] * order
    return from_coo(lists, nothing, (0,) * order, format=format, fill_value=fill)


def from_dask(array: Any, format: str | None = None) -> Any:
    """A Dask array whose chunks are tensors, of one with chunks of NumPy, SciPy or PyData.

    Parameters
    ----------
    array : dask.array.Array
    format : str, optional
        How chunks are stored; by default as `asarray` stores them.

    Returns
    -------
    dask.array.Array

    Examples
    --------
    >>> import dask.array as da, numpy as np, sparsec.dask
    >>> x = sparsec.dask.from_dask(da.from_array(np.eye(4), chunks=2), format="csr")
    >>> (x @ x).compute().format
    'csr'
    """
    if not isinstance(array, da.Array):
        message = f"{type(array).__name__} is no array of Dask"
        raise failure("E0451", message, "call `sparsec.dask.shard`, or `dask.array.from_array`")
    known, fill = _checked_meta(array), None
    if known is not None:
        format = format or known.format
        fill = None if is_dense(known) else known.fill_value
    meta = meta_of(array.ndim, array.dtype, format, fill)
    chunks: Any = array
    return chunks.map_blocks(chunk_of, format, array.dtype, dtype=array.dtype, meta=meta)


def _checked_meta(array: Any) -> Tensor | None:
    """The tensor of no entries that chunks are stored like; None for chunks of NumPy."""
    return None if isinstance(array._meta, np.ndarray) else asarray(array._meta)


def from_delayed(
    value: Any,
    shape: Sequence[int],
    dtype: Any,
    format: str | None = None,
    fill_value: Any = None,
) -> Any:
    """A Dask array of one chunk, a tensor that a delayed value gives.

    Parameters
    ----------
    value : dask.delayed.Delayed
        What `asarray` takes.
    shape : sequence of int
    dtype : dtype
    format : str, optional
        How the chunk is stored; dense if not given.
    fill_value : scalar, optional
        The value of entries that the chunk does not store; zero if not given.

    Returns
    -------
    dask.array.Array

    Examples
    --------
    >>> import dask, numpy as np, sparsec.dask
    >>> x = sparsec.dask.from_delayed(dask.delayed(np.eye)(3), (3, 3), float, format="csr")
    >>> x.compute().nnz
    3
    """
    # Futures are taken, too.
    if not isinstance(value, Delayed) and not hasattr(value, "key"):
        message = f"{type(value).__name__} is no delayed value"
        raise failure("E0451", message, "call `dask.delayed`, or `sparsec.dask.shard` of a tensor")
    dtype, shape = type_of(dtype), tuple(checked_shape(shape))
    meta = meta_of(len(shape), dtype, format, fill_value)
    chunk = task(chunk_of)(value, format, dtype)
    return da.from_delayed(chunk, shape, meta=meta)


def shard(tensor: Any, by: Any = 0, n: Any = None) -> Any:
    """A Dask array of a tensor, in shards balanced by stored entries.

    Parameters
    ----------
    tensor : Tensor or anything that `asarray` takes
    by : int or str, or sequence of these
        The mode that is cut, by number or letter; several for blocks.
    n : int, or sequence of int, optional
        How many shards there are at most along each. By default as many as 128 MiB each ask for.

    Returns
    -------
    dask.array.Array
        Its chunks have the format of the tensor, and unequal extents.

    Examples
    --------
    >>> import sparsec, sparsec.dask
    >>> A = sparsec.from_coo([[0, 0, 0, 5, 6], [0, 1, 2, 0, 0]], 1.0, shape=(100, 3))
    >>> sparsec.dask.shard(A, by="i", n=2).chunks
    ((1, 99), (3,))
    """
    if isinstance(tensor, da.Array):
        message = "an array of Dask is in chunks already"
        raise failure("E0451", message, "call `sparsec.dask.from_dask`, or its `rechunk`")
    made = _shards.without_rule(asarray(tensor))
    modes = list(by) if isinstance(by, (tuple, list)) else [by]
    if n is None:
        n = -(-made.nbytes // SHARD) or 1
    counts = list(n) if isinstance(n, (tuple, list)) else [n] * len(modes)
    if len(counts) != len(modes):
        raise failure("E0402", f"{len(counts)} numbers for {len(modes)} modes", "give one for each")
    for count in counts:
        if not isinstance(count, (int, np.integer)) or isinstance(count, bool):
            raise failure("E0402", f"{count!r} is no number of shards", "give 1 or more")
    bounds: list[tuple[int, ...]] = [(0, extent) for extent in made.shape]
    for one, count in zip(modes, counts):
        mode = _shards.mode_of(made, one)
        if bounds[mode] != (0, made.shape[mode]):
            raise failure("E0413", f"mode {mode} is cut twice", "name each mode once")
        bounds[mode] = _shards.bounds(made, one, count)
    chunks = tuple(tuple(int(size) for size in np.diff(at)) for at in bounds)
    name = f"sparsec-shard-{dask.base.tokenize(made, bounds)}"
    graph, cutter = {}, _shards.Cutter(made)
    for place in np.ndindex(*(len(sizes) for sizes in chunks)):
        ranges = [(at[number], at[number + 1]) for at, number in zip(bounds, place)]
        graph[(name, *place)] = cutter.take(ranges)
    return da.Array(graph, name, chunks, meta=meta_of(made.ndim, made.dtype, made.format, made.fill_value))

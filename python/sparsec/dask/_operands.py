"""Dask arrays as operands of programs: their chunks stay where they are.

::

    chunks as the plan cuts them     ──► tasks read them in place
    chunks at other bounds           ──► rechunked by Dask, on workers
    chunks in other formats          ──► converted by the task that reads them

Plans need the bytes and entries of chunks. Dense chunks say so by their shape. Of others, workers
count them once, and only these numbers travel.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Any, Sequence

import dask
import dask.array as da
import numpy as np

from .. import _shards
from .._array_api.entries import is_dense
from .._asarray import asarray
from .._errors import failure
from .._tensor import Tensor
from ._cluster import computed, persisted
from ._tasks import task

#: The bytes and entries of the chunks of arrays, by the names of these, which follow from content.
#: Only a memory of calls before: whoever plans holds the counts that it found.
_COUNTED: OrderedDict[str, np.ndarray] = OrderedDict()
_MOST_COUNTED = 256
_LOCK = Lock()


def _recalled(name: str) -> np.ndarray | None:
    with _LOCK:
        return _COUNTED.get(name)


def _counted(name: str, counts: np.ndarray) -> None:
    """Keeps the bytes and entries of an array's chunks: an array of ``(*numblocks, 2)``."""
    with _LOCK:
        _COUNTED[name] = counts
        while len(_COUNTED) > _MOST_COUNTED:
            _COUNTED.popitem(last=False)


def _counts(chunk: Any) -> tuple[int, int]:
    made = asarray(chunk)
    return made.nbytes, made.nnz


class Chunked:
    """An operand whose chunks are in tasks or on workers, as plans of shards see it.

    Raises
    ------
    InputError
        For chunks of unknown extents (``E1104``).
    """

    def __init__(self, name: str, array: da.Array) -> None:
        if any(np.isnan(size) for sizes in array.chunks for size in sizes):
            message = f"`{name}` has chunks of unknown extents"
            raise failure("E1104", message, "call `compute_chunk_sizes()` of the array first")
        self.name, self.array = name, array
        self.shape = tuple(int(extent) for extent in array.shape)
        #: A tensor of no entries that is stored as chunks are.
        self.meta = _shards.without_rule(asarray(array._meta))
        self.outermost = 0
        #: The bytes and entries of chunks, `(*numblocks, 2)`; None before `count`.
        self._counts: np.ndarray | None = None
        self._bounds = tuple(
            tuple(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64).tolist())
            for sizes in array.chunks
        )

    @property
    def is_dense(self) -> bool:
        """Whether its shape says how many bytes it takes."""
        return is_dense(self.meta)

    def count(self, client: Any) -> None:
        """Counts the bytes and entries of chunks, which are computed for it and held, unless they
        are dense or were counted before."""
        if self.is_dense or self._counts is not None:
            return
        self._counts = _recalled(self.array.name)
        if self._counts is not None:
            return
        self.array = persisted(self.array, client)
        chunks = self.array.to_delayed(optimize_graph=False).ravel().tolist()
        count = task(_counts)
        names = {it.key: f"a chunk of `{self.name}`" for it in chunks}
        found = computed([count(chunk) for chunk in chunks], client, names.get)
        self._counts = np.reshape(found, (*self.array.numblocks, 2))
        _counted(self.array.name, self._counts)

    @property
    def nbytes(self) -> int:
        """The bytes of its chunks; 0 if nobody counted them, since the plan is stated."""
        if self.is_dense:
            return int(np.prod(self.shape, dtype=object)) * self.meta.dtype.itemsize
        return 0 if self._counts is None else int(self._counts[..., 0].sum())

    @property
    def n_stored(self) -> int:
        """How many entries it stores; 1 if nobody counted them, since the plan is stated."""
        if self.is_dense:
            return int(np.prod(self.shape, dtype=object))
        return 1 if self._counts is None else int(self._counts[..., 1].sum())

    def weigh(self, weights: _shards.Weights, mode: int) -> None:
        """Adds how its bytes lie along a mode: evenly in each chunk."""
        if self.is_dense:
            weights.even(self.nbytes)
            return
        if self._counts is None:
            return
        others = tuple(at for at in range(len(self.shape)) if at != mode)
        weights.spread(self._bounds[mode], self._counts[..., 0].sum(axis=others).tolist())

    def bounds(self, mode: int) -> tuple[int, ...]:
        """Where it is cut already."""
        return self._bounds[mode]

    def parts(self, bounds: Sequence[Sequence[int]]) -> np.ndarray:
        """Delayed parts between these bounds of each mode."""
        sizes = tuple(tuple(int(it) for it in np.diff(at)) for at in bounds)
        array = self.array if sizes == self.array.chunks else self.array.rechunk(sizes)
        made: np.ndarray = array.to_delayed(optimize_graph=False)
        return made


def fitted(name: str, part: Any, meta: Tensor) -> Tensor:
    """A chunk in the format of an array.

    Raises
    ------
    InputError
        For a chunk of another type or fill than the array's (``E1104``).
    """
    made = asarray(part)
    if is_dense(meta) and not is_dense(made):
        message = f"a chunk of `{name}` is stored as {made.format}, and the array as dense tensors"
        raise failure("E1104", message, "state the format: `sparsec.dask.from_dask(array, \"csr\")`")
    # Dense tensors store all entries: their fill stands for none.
    is_filled = is_dense(meta) or made.fill_value.tobytes() == meta.fill_value.tobytes()
    if made.dtype != meta.dtype or not is_filled:
        message = (
            f"a chunk of `{name}` stores {made.dtype} with fill {made.fill_value}, and the array "
            f"{meta.dtype} with fill {meta.fill_value}"
        )
        help = "give an array of one type: `array.astype(...)`"
        if made.dtype == meta.dtype:
            help = "state the fill: `sparsec.dask.from_delayed(..., fill_value=...)`"
        raise failure("E1104", message, help)
    return made if made._stored.format == meta._stored.format else made.convert(meta._stored.format)

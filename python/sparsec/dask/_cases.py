"""Products that `python -m sparsec.bench dask` times, with the same work for SciPy and PyData.

=======  ===============================  =================================================
name     program                          peers, a chunk
=======  ===============================  =================================================
SpMM     ``C(i,k) = A(i,j) * X(j,k)``     ``A @ X``
SpGEMM   ``C(i,k) = A(i,j) * B(j,k)``     ``A @ B``
MTTKRP   ``M(i,r) = T(i,j,k) * F(j,r)     the unfolded tensor times the products of all rows
         * G(k,r)``                       of the factors (Khatri-Rao)
=======  ===============================  =================================================

Chunks are made where they stay, of numbers that follow from their place: every cluster has the same
ones. A row has as many entries as each other row, one in each of as many equal ranges of columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable

import numpy as np

from .. import _tensor
from .._asarray import asarray, from_buffers, from_coo

#: Columns of dense factors.
WIDTH = 32
#: Entries of a row, of a row of the second factor of SpGEMM, and of a slice of the tensor.
_ROW, _SECOND, _SLICE = 50, 2, 200
#: Extents of the tensor's other modes.
_MODE = 400


@dataclass(frozen=True)
class Case:
    """A program over one operand in chunks of rows, and others that every chunk reads."""

    name: str
    text: str
    #: The operand in chunks, and its shape.
    chunked: str
    shape: tuple[int, ...]
    #: Makes a chunk of so many rows.
    chunk: Callable[[int, int], _tensor.Tensor]
    #: The other operands.
    whole: dict[str, Any]
    #: A chunk as SciPy's and PyData's, and the others as they take them.
    scipy: Callable[[Any], Any]
    pydata: Callable[[Any], Any]
    scipy_whole: Any
    pydata_whole: Any


def cases(entries: int) -> list[Case]:
    """The three products, whose chunked operands have about so many entries."""
    return [_spmm(entries), _spgemm(entries), _mttkrp(entries)]


def _rows(extent: int, n_rows: int, number: int, n_each: int) -> tuple[np.ndarray, np.ndarray]:
    """The columns and values of rows, one after the other."""
    rng = np.random.default_rng(number)
    width = extent // n_each
    columns = rng.integers(0, width, (n_rows, n_each), dtype=np.int32)
    columns += np.arange(n_each, dtype=np.int32) * np.int32(width)
    return columns.ravel(), rng.random(n_rows * n_each)


def _matrix(extent: int, n_rows: int, number: int, n_each: int = _ROW) -> _tensor.Tensor:
    columns, values = _rows(extent, n_rows, number, n_each)
    positions = np.arange(0, len(columns) + 1, n_each, dtype=np.int32)
    return from_buffers("csr", (n_rows, extent), [positions, columns, values])


@dataclass(frozen=True)
class _Chunk:
    """A maker of chunks that travels to workers."""

    make: Callable[[int, int, int], _tensor.Tensor]
    extent: int

    def __call__(self, n_rows: int, number: int) -> _tensor.Tensor:
        return self.make(self.extent, n_rows, number)


def to_scipy(chunk: _tensor.Tensor) -> Any:
    """A matrix of SciPy."""
    return chunk.to_scipy("csr")


def to_pydata(chunk: _tensor.Tensor) -> Any:
    """A matrix of PyData in compressed rows, its fastest format for products."""
    import sparse  # type: ignore[import-not-found, import-untyped, unused-ignore]

    return sparse.GCXS.from_scipy_sparse(to_scipy(chunk))


def _spmm(entries: int) -> Case:
    n = max(entries // _ROW, _ROW)
    factor = np.random.default_rng(1).random((n, WIDTH))
    return Case(
        "SpMM", "C(i,k) = A(i,j) * X(j,k)", "A", (n, n), _Chunk(_matrix, n), {"X": factor},
        to_scipy, to_pydata, factor, factor,
    )  # fmt: skip


def _spgemm(entries: int) -> Case:
    n = max(entries // _ROW, _ROW)
    second = _matrix(n, n, 2**31, _SECOND)
    return Case(
        "SpGEMM", "C(i,k) = A(i,j) * B(j,k)", "A", (n, n), _Chunk(_matrix, n), {"B": second},
        to_scipy, to_pydata, to_scipy(second), to_pydata(second),
    )  # fmt: skip


def _tensor_of(extent: int, n_rows: int, number: int) -> _tensor.Tensor:
    """Slices of a tensor of order 3, of the entries of a matrix whose columns are pairs."""
    columns, values = _rows(extent * extent, n_rows, number, _SLICE)
    rows = np.repeat(np.arange(n_rows), _SLICE)
    lists = [rows, columns // extent, columns % extent]
    return from_coo(lists, values, (n_rows, extent, extent), format="csf")


def unfolded(chunk: _tensor.Tensor) -> Any:
    """The matrix of SciPy whose columns are pairs of the last two modes."""
    from scipy import sparse  # type: ignore[import-untyped, unused-ignore]

    (rows, middle, last), values = chunk.to_coo()
    n_rows, extent, other = chunk.shape
    places = rows, middle * other + last
    return sparse.coo_array((values, places), shape=(n_rows, extent * other)).tocsr()


def unfolded_pydata(chunk: _tensor.Tensor) -> Any:
    """The same for PyData."""
    import sparse

    return sparse.GCXS.from_scipy_sparse(unfolded(chunk))


def _mttkrp(entries: int) -> Case:
    n = max(entries // _SLICE, 4)
    rng = np.random.default_rng(3)
    first, second = rng.random((_MODE, WIDTH)), rng.random((_MODE, WIDTH))
    products = (first[:, None, :] * second[None, :, :]).reshape(-1, WIDTH)
    return Case(
        "MTTKRP", "M(i,r) = T(i,j,k) * F(j,r) * G(k,r)", "T", (n, _MODE, _MODE),
        _Chunk(_tensor_of, _MODE), {"F": first, "G": second},
        unfolded, unfolded_pydata, products, products,
    )  # fmt: skip


def product(chunk: Any, whole: Any) -> Any:
    """What a peer computes of a chunk, with columns in order as ours are."""
    made = chunk @ whole
    if hasattr(made, "sort_indices"):
        made.sort_indices()
    return made


def difference(ours: Any, theirs: Any) -> float:
    """The largest difference between two results, relative to the largest entry."""
    if not isinstance(theirs, np.ndarray):
        apart = abs(asarray(ours).to_scipy("csr") - theirs).max()
    else:
        apart = np.abs(asarray(ours).to_numpy() - theirs).max()
    largest = abs(theirs).max()
    return float(apart / largest) if largest else float(apart)

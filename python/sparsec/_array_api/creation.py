"""Tensors of a shape and a value.

A constant tensor stores no entry: its value is the fill. So `ones` of any shape takes no
memory but for the positions of its format.
"""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from .. import _asarray
from .._asarray import asarray, from_coo
from .._errors import failure
from .._tensor import Tensor
from .dtypes import check_device
from .entries import is_dense, of_numpy

__all__ = [
    "arange", "empty", "empty_like", "eye", "full", "full_like", "linspace", "meshgrid", "ones",
    "ones_like", "tril", "triu", "zeros", "zeros_like",
]


def full(
    shape: int | Sequence[int],
    fill_value: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    format: str | None = None,
) -> Tensor:
    """A tensor that has one value everywhere, and stores none.

    Parameters
    ----------
    shape : int or sequence of int
    fill_value : number
    dtype : dtype, optional
        By default that of the number.
    format : str, optional
        By default ``csr`` for two modes, else ``csf``.

    Examples
    --------
    >>> import sparsec
    >>> sparsec.full((2**20, 2**20, 2**20), 7.0).nbytes < 100
    True
    """
    check_device(device)
    extents = _asarray.checked_shape(shape)
    value = np.asarray(fill_value, dtype=dtype)
    if format == "dense" or not extents:
        return of_numpy(np.full(extents, value))
    none: list[list[int]] = [[] for _ in extents]
    values = np.empty(0, dtype=value.dtype)
    return from_coo(none, values, extents, format=format, fill_value=value)


def zeros(
    shape: int | Sequence[int],
    *,
    dtype: Any = np.float64,
    device: Any = None,
    format: str | None = None,
) -> Tensor:
    """A tensor of zeros that stores none. As `full`."""
    return full(shape, 0, dtype=np.float64 if dtype is None else dtype, device=device, format=format)


def ones(
    shape: int | Sequence[int],
    *,
    dtype: Any = np.float64,
    device: Any = None,
    format: str | None = None,
) -> Tensor:
    """A tensor of ones that stores none: its fill is 1. As `full`."""
    return full(shape, 1, dtype=np.float64 if dtype is None else dtype, device=device, format=format)


def empty(
    shape: int | Sequence[int],
    *,
    dtype: Any = np.float64,
    device: Any = None,
    format: str | None = None,
) -> Tensor:
    """As `zeros`."""
    return zeros(shape, dtype=dtype, device=device, format=format)


def full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor of the shape and format of another that has one value everywhere. As `full`."""
    made = asarray(x)
    # Levels of blocks and diagonals have places in any case; they hold the fill.
    return full(made.shape, fill_value, dtype=dtype or made.dtype, device=device, format=made.format)


def zeros_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Zeros of the shape, type and format of a tensor."""
    return full_like(x, 0, dtype=dtype, device=device)


def ones_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Ones of the shape, type and format of a tensor."""
    return full_like(x, 1, dtype=dtype, device=device)


def empty_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Tensor:
    """As `zeros_like`."""
    return zeros_like(x, dtype=dtype, device=device)


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: Any = np.float64,
    device: Any = None,
    format: str = "csr",
) -> Tensor:
    """A matrix with ones on a diagonal: those at ``j - i == k``.

    Examples
    --------
    >>> import sparsec
    >>> sparsec.eye(2, 3, k=1).to_numpy()
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """
    check_device(device)
    n_cols = n_rows if n_cols is None else n_cols
    rows = np.arange(max(0, -k), max(0, -k, min(n_rows, n_cols - k)))
    values = np.ones(len(rows), dtype=np.float64 if dtype is None else dtype)
    return from_coo([rows, rows + k], values, (n_rows, n_cols), format=format)


def arange(
    start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None
) -> Tensor:
    """Numbers with equal distances, in a dense vector."""
    check_device(device)
    first, last = (0, start) if stop is None else (start, stop)
    return of_numpy(np.arange(first, last, step, dtype=dtype))


def linspace(
    start: Any,
    stop: Any,
    /,
    num: int,
    *,
    dtype: Any = None,
    device: Any = None,
    endpoint: bool = True,
) -> Tensor:
    """So many numbers with equal distances, in a dense vector."""
    check_device(device)
    return of_numpy(np.linspace(start, stop, num, dtype=dtype, endpoint=endpoint))


def meshgrid(*arrays: Any, indexing: str = "xy") -> list[Tensor]:
    """Matrices of the coordinates of a grid, dense.

    Raises
    ------
    InputError
        For vectors that are not dense (``E0470``).
    """
    given = [asarray(x) for x in arrays]
    if not all(is_dense(x) for x in given):
        raise failure("E0470", "the matrices of a grid are dense", 'convert to "dense" first')
    made = np.meshgrid(*(x.to_numpy() for x in given), indexing=indexing)  # type: ignore[call-overload]
    return [of_numpy(x) for x in made]


def tril(x: Any, /, *, k: int = 0) -> Tensor:
    """The entries at ``j - i <= k`` of the last two modes; others are zero.

    Raises
    ------
    InputError
        For a tensor that has less than two modes (``E0413``), or whose fill is not zero
        (``E0470``).

    Examples
    --------
    >>> import sparsec
    >>> sparsec.tril(sparsec.asarray([[1, 2], [3, 4]], format="csr")).to_numpy()
    array([[1, 0],
           [3, 4]])
    """
    return _triangle(x, k, "<=")


def triu(x: Any, /, *, k: int = 0) -> Tensor:
    """The entries at ``j - i >= k`` of the last two modes; others are zero. As `tril`."""
    return _triangle(x, k, ">=")


def _triangle(x: Any, k: int, relation: str) -> Tensor:
    from .._operators import evaluated, modes_text

    made = asarray(x)
    if made.ndim < 2:
        message = f"a tensor of {made.ndim} modes has no triangle"
        raise failure("E0413", message, "give a matrix, or a stack of them")
    if made.fill_value != 0:
        raise failure(
            "E0470",
            f"a triangle of a tensor with fill {made.fill_value} is dense",
            "subtract the fill, or convert to \"dense\" and use NumPy",
        )
    modes = modes_text(made.ndim)
    row, column = made.ndim - 2, made.ndim - 1
    offset = f"{int(k)}" if k >= 0 else f"({int(k)})"
    zero = "false" if made.dtype.kind == "b" else "0"
    text = f"out{modes} = select(i{column} - i{row} {relation} {offset}, a{modes}, {zero})"
    return evaluated(text, [("a", made._stored)], [])

"""Reductions: sums, products, extremes and moments over some modes or all.

Entries that are not stored count, and cost nothing: a kernel visits the stored ones and adds
what the others contribute by their number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _operators
from .._asarray import asarray
from .._tensor import Tensor

__all__ = ["all", "any", "count_nonzero", "max", "mean", "min", "prod", "std", "sum", "var"]

Axis = Any


def _accumulator(dtype: np.dtype) -> np.dtype:
    """The type of sums and products, by the standard: at least as wide as the default type."""
    if dtype.kind in "bi":
        return np.dtype(np.int64)
    return np.dtype(np.uint64) if dtype.kind == "u" else dtype


def sum(
    x: Any, /, *, axis: Axis = None, dtype: Any = None, keepdims: bool = False
) -> Tensor:
    """The sum over some modes, or all.

    Parameters
    ----------
    x : Tensor or array-like
    axis : int or tuple of int, optional
        The modes; all by default.
    dtype : dtype, optional
        The type in which is summed. By default that of `x`; 64 bits for integers.
    keepdims : bool
        Whether the modes stay, with extent 1.

    Examples
    --------
    >>> import sparsec
    >>> A = sparsec.asarray([[0.0, 2.0], [3.0, 0.0]], format="csr")
    >>> sparsec.sum(A, axis=0).to_numpy()
    array([3., 2.])
    """
    made = asarray(x)
    wanted = _accumulator(made.dtype) if dtype is None else np.dtype(dtype)
    return made.astype(wanted).sum(axis, keepdims).astype(wanted)


def prod(
    x: Any, /, *, axis: Axis = None, dtype: Any = None, keepdims: bool = False
) -> Tensor:
    """The product over some modes, or all; entries that are not stored count. As `sum`."""
    made = asarray(x)
    wanted = _accumulator(made.dtype) if dtype is None else np.dtype(dtype)
    return made.astype(wanted).prod(axis, keepdims).astype(wanted)


def max(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The greatest entry over some modes, or all; entries that are not stored count.

    Examples
    --------
    >>> import sparsec
    >>> sparsec.max(sparsec.asarray([[0, -2], [-3, -4]], format="csr"), axis=1).to_numpy()
    array([ 0, -3])
    """
    return asarray(x).max(axis, keepdims)


def min(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The least entry over some modes, or all; entries that are not stored count."""
    return asarray(x).min(axis, keepdims)


def any(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Whether some entry is not zero, over some modes or all."""
    return asarray(x).any(axis, keepdims)


def all(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Whether no entry is zero, over some modes or all."""
    return asarray(x).all(axis, keepdims)


def count_nonzero(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """How many entries are not zero, over some modes or all.

    Examples
    --------
    >>> import sparsec
    >>> sparsec.count_nonzero(sparsec.asarray([[0, -2], [3, 4]], format="csr"), axis=1).to_numpy()
    array([1, 2])
    """
    return (asarray(x) != 0).sum(axis, keepdims)


def mean(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The mean over some modes, or all; of integers, as ``float64``."""
    made = asarray(x)
    wanted = made.dtype if made.dtype.kind in "fc" else np.dtype(np.float64)
    return made.mean(axis, keepdims).astype(wanted)


def var(
    x: Any, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False
) -> Tensor:
    """The variance over some modes, or all.

    The squares of the differences from the mean are added up for stored entries; the others
    are alike, and are counted. Time linear in the stored entries.

    Parameters
    ----------
    correction : number
        How many degrees of freedom the divisor leaves out.

    The other parameters are those of `sum`.

    Examples
    --------
    >>> import sparsec
    >>> sparsec.var(sparsec.asarray([[0.0, 2.0], [3.0, 0.0]], format="csr"), axis=1).to_numpy()
    array([1.  , 2.25])
    """
    made = asarray(x)
    if made.dtype.kind not in "fc":
        made = made.astype(np.float64)
    modes = _operators.modes_of(axis, made.ndim)
    n = 1
    for mode in modes:
        n *= made.shape[mode]
    means = made.mean(axis)
    text = _squares(made.ndim, modes, keepdims)
    fill = asarray(made.fill_value)
    operands = [("a", made._stored), ("m", means._stored), ("f", fill._stored)]
    extents = {f"k{mode}": 1 for mode in modes} if keepdims else {}
    operands.append(("n", asarray(np.float64(n))._stored))
    squares = _operators.evaluated(text, operands, list(extents.items()))
    # A divisor of zero or less has no meaning; NumPy divides by zero.
    divisor = n - correction if n > correction else 0.0
    made_of = squares / np.float64(divisor)
    return made_of.astype(np.abs(made.dtype.type(0)).dtype)


def std(
    x: Any, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False
) -> Tensor:
    """The standard deviation over some modes, or all: the root of `var`."""
    return _operators.apply(
        "sqrt({0})", var(x, axis=axis, correction=correction, keepdims=keepdims)
    )


def _squares(order: int, modes: tuple[int, ...], keepdims: bool) -> str:
    """The sum of ``|a - m|^2``: of stored entries, and as often as there are others."""
    letters = [f"i{mode}" for mode in range(order)]
    kept = [f"i{mode}" for mode in range(order) if mode not in modes]
    a, m = _operators.access("a", letters), _operators.access("m", kept)
    over = ",".join(f"i{mode}" for mode in modes)
    if not modes:
        return f"{_operators.access('out', letters)} = abs({a} - {m}) * abs({a} - {m})"
    places = [
        f"k{mode}" if mode in modes else f"i{mode}"
        for mode in range(order)
        if keepdims or mode not in modes
    ]
    stored = f"sum{{{over}}}(select(isstored({a}), f64(abs({a} - {m})) * f64(abs({a} - {m})), 0.0))"
    count = f"sum{{{over}}}(select(isstored({a}), 1.0, 0.0))"
    # The squares of the others, if there are any: their difference may be infinite.
    others = f"select(n == {count}, 0.0, (n - {count}) * f64(abs(f - {m})) * f64(abs(f - {m})))"
    return f"{_operators.access('out', places)} = {stored} + {others}"

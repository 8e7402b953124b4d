"""Products of matrices and tensors.

Results have the type that the standard gives: that of the arguments. `einsum` and the operator
``@`` add up integers with 64 bits; here such sums are converted, so they wrap.
"""

from __future__ import annotations

import string
from typing import Any, Sequence

import numpy as np

from .._asarray import asarray
from .._compute import einsum
from .._errors import failure
from .._tensor import Tensor

__all__ = ["matmul", "matrix_transpose", "outer", "tensordot", "vecdot"]


def _typed(made: Tensor, *given: Tensor) -> Tensor:
    return made.astype(np.result_type(*(x.dtype for x in given)))


def matmul(x1: Any, x2: Any, /) -> Tensor:
    """The product of matrices; leading modes are broadcast.

    Parameters
    ----------
    x1, x2 : Tensor or array-like
        Of shapes ``(..., M, K)`` and ``(..., K, N)``, or ``(K,)``.

    Raises
    ------
    ValueError
        For a tensor without modes, and for shapes that do not fit.

    Examples
    --------
    >>> import sparsec
    >>> A = sparsec.asarray([[0.0, 2.0], [3.0, 0.0]], format="csr")
    >>> sparsec.matmul(A, A).to_numpy()
    array([[6., 0.],
           [0., 6.]])
    """
    a, b = asarray(x1), asarray(x2)
    return _typed(a @ b, a, b)


def matrix_transpose(x: Any, /) -> Tensor:
    """The tensor with its last two modes exchanged, over the same arrays."""
    return asarray(x).mT


def tensordot(
    x1: Any, x2: Any, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2
) -> Tensor:
    """The product of tensors, summed over pairs of modes.

    Parameters
    ----------
    axes : int or pair of sequences of int
        How many last modes of `x1` are paired with the first of `x2`; or which modes of each.

    Examples
    --------
    >>> import sparsec
    >>> A = sparsec.asarray([[0.0, 2.0], [3.0, 0.0]], format="csr")
    >>> sparsec.tensordot(A, A, axes=([0, 1], [0, 1])).item()
    13.0
    """
    a, b = asarray(x1), asarray(x2)
    if isinstance(axes, (int, np.integer)):
        if not 0 <= axes <= min(a.ndim, b.ndim):
            raise failure("E0413", f"{axes} pairs of modes", "give at most the number of modes")
        pairs = [(a.ndim - axes + k, k) for k in range(axes)]
    else:
        first, second = (list(x) if isinstance(x, (list, tuple)) else [x] for x in axes)
        if len(first) != len(second):
            message = f"{len(first)} modes are paired with {len(second)}"
            raise failure("E0413", message, "give as many modes of each tensor")
        pairs = [(_mode(p, a.ndim), _mode(q, b.ndim)) for p, q in zip(first, second)]
    letters = iter(string.ascii_letters)
    left = [next(letters) for _ in range(a.ndim)]
    right = [next(letters) for _ in range(b.ndim)]
    for p, q in pairs:
        right[q] = left[p]
        if a.shape[p] != b.shape[q]:
            message = f"mode {p} has extent {a.shape[p]}, and mode {q} has {b.shape[q]}"
            raise failure("E0203", message, "pair modes of the same extent")
    out = [x for x in left + right if (x in left) != (x in right)]
    made = einsum(f"{''.join(left)},{''.join(right)}->{''.join(out)}", a, b)
    return _typed(made, a, b)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Tensor:
    """The sums of ``conj(x1) * x2`` along a mode; the others are broadcast.

    Examples
    --------
    >>> import sparsec
    >>> A = sparsec.asarray([[0.0, 2.0], [3.0, 0.0]], format="csr")
    >>> sparsec.vecdot(A, A).to_numpy()
    array([4., 9.])
    """
    a, b = asarray(x1), asarray(x2)
    if axis >= 0:
        raise failure("E0413", f"axis is {axis}", "count it from the end: -1 is the last mode")
    if a.shape[_mode(axis, a.ndim)] != b.shape[_mode(axis, b.ndim)]:
        message = f"shapes {a.shape} and {b.shape} differ along axis {axis}"
        raise failure("E0203", message, "give vectors of the same length")
    made = (a.conj() if a.dtype.kind == "c" else a) * b
    return _typed(made.sum(axis), a, b)


def outer(x1: Any, x2: Any, /) -> Tensor:
    """The product of each entry of a vector with each of another."""
    a, b = asarray(x1), asarray(x2)
    return _typed(einsum("i,j->ij", a, b), a, b)


def _mode(axis: int, order: int) -> int:
    mode = axis + order if axis < 0 else axis
    if not 0 <= mode < order:
        raise failure("E0413", f"there is no axis {axis} of {order} modes", "count from 0")
    return mode

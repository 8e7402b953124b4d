"""Functions of matrices that NumPy has and the array API standard has not, or in extensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._asarray import asarray, from_coo
from .._compute import einsum, evaluate
from .._errors import failure
from .._operators import access
from .._tensor import Tensor
from . import elementwise, manipulation, reductions


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """The entries along the diagonal of two modes, as the last mode: as `numpy.diagonal`.

    Examples
    --------
    >>> import numpy as np, sparsec
    >>> A = sparsec.asarray(np.arange(6.0).reshape(2, 3), format="csr")
    >>> np.diagonal(A, 1).to_numpy()
    array([1., 5.])
    """
    made = manipulation.moveaxis(asarray(a), (axis1, axis2), (-2, -1))
    rows, columns = made.shape[-2:]
    n = max(min(rows - max(-offset, 0), columns - max(offset, 0)), 0)
    first = (max(-offset, 0), max(offset, 0)) if n else (0, 0)
    square = made[(..., *(slice(start, start + n) for start in first))]
    others = [f"i{mode}" for mode in range(made.ndim - 2)]
    text = f"{access('out', [*others, 'd'])} = {access('a', [*others, 'd', 'd'])}"
    return evaluate(text, a=square)


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """The sum along a diagonal: as `numpy.trace`."""
    return reductions.sum(diagonal(a, offset, axis1, axis2), axis=-1)


def diag(v: Any, k: int = 0) -> Tensor:
    """The diagonal of a matrix, or the matrix with a diagonal: as `numpy.diag`.

    Examples
    --------
    >>> import numpy as np, sparsec
    >>> x = sparsec.asarray(np.array([0.0, 2.0, 3.0]), format="csf")
    >>> np.diag(x, -1).nnz, np.diag(np.diag(x)).to_numpy()
    (2, array([0., 2., 3.]))
    """
    made = asarray(v)
    if made.ndim == 2:
        return diagonal(made, k)
    if made.ndim != 1:
        raise failure("E0413", f"`diag` of {made.ndim} modes", "give a vector or a matrix")
    if made.fill_value != 0:
        raise failure("E0470", "each entry of the diagonal differs from 0", "subtract the fill first")
    ((places,), values) = made.to_coo()
    n = made.shape[0] + abs(k)
    return from_coo([places + max(-k, 0), places + max(k, 0)], values, (n, n))


def kron(a: Any, b: Any) -> Tensor:
    """The Kronecker product: as `numpy.kron`.

    Examples
    --------
    >>> import numpy as np, sparsec
    >>> A = sparsec.asarray(np.eye(2), format="csr")
    >>> np.kron(A, A).nnz
    4
    """
    x, y = asarray(a), asarray(b)
    order = max(x.ndim, y.ndim)
    x, y = (manipulation.reshape(it, (1,) * (order - it.ndim) + it.shape) for it in (x, y))
    numbers = [mode + order * of for mode in range(order) for of in range(2)]
    made = einsum(x, list(range(order)), y, list(range(order, 2 * order)), numbers)
    return manipulation.reshape(made, tuple(m * n for m, n in zip(x.shape, y.shape)))


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Tensor:
    """A norm of vectors along one axis, or of matrices along two: as `numpy.linalg.norm`.

    Of matrices there are the Frobenius norm, and those of sums of columns and rows. Singular values
    need a dense matrix, or `scipy.sparse.linalg.svds`.

    Examples
    --------
    >>> import numpy as np, sparsec
    >>> A = sparsec.asarray(np.array([[3.0, 0.0], [0.0, -4.0]]), format="csr")
    >>> np.linalg.norm(A).item(), np.linalg.norm(A, 1).item(), np.linalg.norm(A, axis=1).to_numpy()
    (5.0, 4.0, array([3., 4.]))
    """
    made = asarray(x)
    made = made if made.dtype.kind in "fc" else made.astype(np.float64)
    size = elementwise.abs(made)
    axes = tuple(range(made.ndim)) if axis is None else axis
    axes = axes if isinstance(axes, tuple) else (axes,)
    is_all = ord is None and axis is None
    if is_all or ord is None or (ord == "fro" and len(axes) == 2) or (ord == 2 and len(axes) == 1):
        return elementwise.sqrt(reductions.sum(size * size, axis=axes, keepdims=keepdims))
    if len(axes) == 1:
        if np.isinf(ord):
            largest = reductions.max if ord > 0 else reductions.min
            return largest(size, axis=axes, keepdims=keepdims)
        if ord == 0:
            return reductions.sum((size != 0).astype(size.dtype), axis=axes, keepdims=keepdims)
        powers: Tensor = reductions.sum(size**ord, axis=axes, keepdims=keepdims) ** (1 / ord)
        return powers
    if len(axes) == 2 and ord in (1, -1, np.inf, -np.inf):
        summed, other = axes if abs(ord) == 1 else axes[::-1]
        sums = reductions.sum(size, axis=summed, keepdims=True)
        largest = reductions.max if ord > 0 else reductions.min
        made = largest(sums, axis=other, keepdims=True)
        return made if keepdims else manipulation.squeeze(made, axis=axes)
    message = f"the norm {ord!r} of {len(axes)} modes of a tensor"
    raise failure("E0470", message, "use the Frobenius norm, or `to_numpy()` if it may be dense")

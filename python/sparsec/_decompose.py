"""Decompositions of sparse tensors: CP by alternating least squares, Tucker by orthogonal iteration.

The tensor stays sparse. What is computed over its entries is one kernel for each mode::

    M(i,r) = T(i,j,k) * B(j,r) * C(k,r)        CP: MTTKRP, of the other modes' factors
    Y(i,q,s) = T(i,j,k) * V(j,q) * W(k,s)      Tucker: TTMc, dense, of the other modes' bases
"""

from __future__ import annotations

import string
from typing import Any, NamedTuple, Sequence

import numpy as np

from . import _sparsec
from ._asarray import asarray
from ._compute import einsum
from ._errors import failure
from ._tensor import Tensor


class CP(NamedTuple):
    """A sum of `rank` products of vectors: entry (i, j, ...) is near
    ``sum(weights * factors[0][i] * factors[1][j] * ...)``."""

    weights: np.ndarray
    factors: list[np.ndarray]
    #: 1 minus the norm of the difference by that of the tensor, after each sweep.
    fits: list[float]


class Tucker(NamedTuple):
    """A small dense tensor with a basis for each mode: entry (i, j, ...) is near the sum of
    ``core[p, q, ...] * factors[0][i, p] * factors[1][j, q] * ...``."""

    core: np.ndarray
    factors: list[np.ndarray]
    #: As of `CP`.
    fits: list[float]


def _checked(x: Any) -> tuple[Tensor, float]:
    """The tensor with floats, and the sum of its squares."""
    tensor = asarray(x)
    if tensor.ndim < 2 or tensor.ndim > 12:
        message = f"a tensor of {tensor.ndim} modes"
        raise failure("E0413", message, "decompose a tensor of 2 to 12 modes")
    if tensor.fill_value != 0 or tensor.dtype.kind == "c":
        message = f"a tensor of dtype {tensor.dtype} with fill {tensor.fill_value}"
        raise failure("E0208", message, "decompose a tensor of real numbers with fill 0")
    if tensor.dtype != np.float32:
        tensor = tensor.astype(np.float64)
    squares = float((tensor.astype(np.float64) * tensor).sum().item())
    if not 0 < squares < np.inf:
        message = f"a tensor whose squares add up to {squares}"
        raise failure("E0413", message, "decompose a tensor of finite numbers, not all of them zero")
    return tensor, squares


def cp_als(
    x: Any,
    rank: int,
    *,
    iterations: int = 50,
    tolerance: float = 1e-5,
    seed: int | None = 0,
) -> CP:
    """The tensor as a sum of products of vectors, by alternating least squares.

    Parameters
    ----------
    x : Tensor or what `asarray` takes
        Of 2 modes or more, with fill 0.
    rank : int
        The number of products.
    iterations : int
        The most sweeps over all modes.
    tolerance : float
        A sweep that improves the fit by less is the last.
    seed : int, optional
        Of the factors at the beginning; None is another one each time.

    Returns
    -------
    CP
        Factors of shape ``(extent, rank)``, with columns of length 1.

    Raises
    ------
    InputError
        For a tensor that has no such decomposition, such as one of zeros.

    Notes
    -----
    A sweep takes O(nnz * rank) time for each mode, and no more memory than the factors.
    Source: Kolda and Bader, "Tensor Decompositions and Applications", SIAM Review 2009, figure
    3.3, https://doi.org/10.1137/07070111X.

    Examples
    --------
    >>> import numpy as np, sparsec
    >>> a, b = np.array([1.0, 0.0, 2.0]), np.array([3.0, 1.0])
    >>> T = sparsec.asarray(np.einsum("i,j,k->ijk", a, b, b), format="csf")
    >>> decomposed = sparsec.cp_als(T, 1)
    >>> round(decomposed.fits[-1], 6)
    1.0
    """
    tensor, squares = _checked(x)
    if rank < 1:
        raise failure("E0413", f"rank is {rank}", "give 1 or more")
    rng = np.random.default_rng(seed)
    dtype = tensor.dtype
    factors = [rng.random((extent, rank)).astype(dtype) for extent in tensor.shape]
    grams = [factor.T @ factor for factor in factors]
    programs = [_mttkrp(tensor.ndim, mode) for mode in range(tensor.ndim)]
    weights = np.ones(rank, dtype=dtype)
    fits: list[float] = []
    for _ in range(iterations):
        for mode, program in enumerate(programs):
            others = [number for number in range(tensor.ndim) if number != mode]
            operands = [("T", tensor._stored)]
            operands += [(f"F{number}", asarray(factors[number])._stored) for number in others]
            product = Tensor._of(_sparsec.evaluate(program, operands, [("", "dense")], [])).to_numpy()
            gram = np.ones((rank, rank), dtype=dtype)
            for number in others:
                gram = gram * grams[number]
            # Products that are alike make it singular.
            factor = product @ np.linalg.pinv(gram)
            weights = np.linalg.norm(factor, axis=0)
            factors[mode] = factor / np.where(weights > 0, weights, 1)
            grams[mode] = factors[mode].T @ factors[mode]
        # Of the last mode, the product is that with all other factors.
        inner = float(np.sum(product * (factors[-1] * weights)))
        model = float(weights @ (gram * grams[-1]) @ weights)
        rest = max(squares - 2 * inner + model, 0.0)
        fits.append(1 - float(np.sqrt(rest / squares)))
        if len(fits) > 1 and abs(fits[-1] - fits[-2]) < tolerance:
            break
    return CP(weights, factors, fits)


def _mttkrp(order: int, mode: int) -> str:
    letters = string.ascii_lowercase[:order]
    others = [f"F{number}({letters[number]},r)" for number in range(order) if number != mode]
    return f"M({letters[mode]},r) = T({','.join(letters)}) * {' * '.join(others)}"


def tucker_hooi(
    x: Any,
    ranks: Sequence[int] | int,
    *,
    iterations: int = 25,
    tolerance: float = 1e-5,
    seed: int | None = 0,
) -> Tucker:
    """The tensor as a small dense one with a basis for each mode, by orthogonal iteration.

    Parameters
    ----------
    ranks : sequence of int, or int
        The extents of the small tensor; at most those of `x`.

    The other parameters are those of `cp_als`.

    Returns
    -------
    Tucker
        Factors of shape ``(extent, rank)``, with orthonormal columns.

    Raises
    ------
    InputError
        As `cp_als`, and for ranks that do not fit.

    Notes
    -----
    A sweep takes O(nnz) times the product of the other ranks for each mode.
    Source: De Lathauwer, De Moor and Vandewalle, "On the Best Rank-1 and Rank-(R1, ..., RN)
    Approximation of Higher-Order Tensors", SIAM J. Matrix Anal. Appl. 2000, algorithm 4.2,
    https://doi.org/10.1137/S0895479898346995.

    Examples
    --------
    >>> import numpy as np, sparsec
    >>> T = sparsec.asarray(np.einsum("i,j,k->ijk", [1.0, 2], [3.0, 0], [1.0, 1]), format="csf")
    >>> decomposed = sparsec.tucker_hooi(T, 1)
    >>> decomposed.core.shape, round(decomposed.fits[-1], 6)
    ((1, 1, 1), 1.0)
    """
    tensor, squares = _checked(x)
    order = tensor.ndim
    wanted = [ranks] * order if isinstance(ranks, (int, np.integer)) else list(ranks)
    if len(wanted) != order or any(not 1 <= n <= extent for n, extent in zip(wanted, tensor.shape)):
        message = f"ranks {tuple(wanted)} for a tensor of shape {tensor.shape}"
        raise failure("E0413", message, "give one for each mode, from 1 to its extent")
    rng = np.random.default_rng(seed)
    factors = [
        np.linalg.qr(rng.standard_normal((extent, n)))[0].astype(tensor.dtype)
        for extent, n in zip(tensor.shape, wanted)
    ]
    low, high = string.ascii_lowercase[:order], string.ascii_uppercase[:order]
    fits: list[float] = []
    for _ in range(iterations):
        for mode in range(order):
            others = [number for number in range(order) if number != mode]
            inputs = [low, *(low[number] + high[number] for number in others)]
            output = low[mode] + "".join(high[number] for number in others)
            made = einsum(
                f"{','.join(inputs)}->{output}",
                tensor,
                *(factors[number] for number in others),
                out_format="dense",
            ).to_numpy()
            rows = made.reshape(tensor.shape[mode], -1)
            factors[mode] = _leading(rows, wanted[mode])
        core = np.moveaxis(np.tensordot(factors[-1].T, made, axes=1), 0, -1)
        rest = max(squares - float(np.sum(core.astype(np.float64) ** 2)), 0.0)
        fits.append(1 - float(np.sqrt(rest / squares)))
        if len(fits) > 1 and abs(fits[-1] - fits[-2]) < tolerance:
            break
    return Tucker(core, factors, fits)


def _leading(rows: np.ndarray, n: int) -> np.ndarray:
    """An orthonormal basis of the space that most of a matrix lies in."""
    basis, _, _ = np.linalg.svd(rows, full_matrices=False)
    if basis.shape[1] < n:
        # Fewer columns than are wanted: any that are orthogonal to them.
        missing = np.eye(len(rows), n, dtype=rows.dtype)
        basis = np.linalg.qr(np.concatenate([basis, missing], axis=1))[0]
    leading: np.ndarray = np.ascontiguousarray(basis[:, :n])
    return leading

"""Decompositions of tensors that have one, beside their own factors."""

from __future__ import annotations

import numpy as np
import pytest

import sparsec


def sparse_factors(rng, shape, rank):
    return [rng.random((extent, rank)) * (rng.random((extent, rank)) < 0.6) for extent in shape]


@pytest.mark.parametrize("shape", [(9, 8), (7, 6, 5), (5, 4, 3, 4)])
def test_cp_finds_products(rng, shape):
    factors = sparse_factors(rng, shape, 2)
    letters = "abcd"[: len(shape)]
    equation = ",".join(x + "r" for x in letters) + "->" + letters
    dense = np.einsum(equation, *factors)
    made = sparsec.cp_als(sparsec.asarray(dense, format="csf"), 2, iterations=200, tolerance=1e-10)
    assert made.fits[-1] > 0.999 and made.fits == sorted(made.fits) or len(shape) > 2
    again = np.einsum("r," + equation, made.weights, *made.factors)
    expected = 1 - np.linalg.norm(again - dense) / np.linalg.norm(dense)
    assert np.isclose(made.fits[-1], expected, atol=1e-5)
    for factor in made.factors:
        np.testing.assert_allclose(np.linalg.norm(factor, axis=0), 1)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_tucker_is_exact_at_full_ranks(rng, dtype):
    dense = (rng.integers(0, 5, (4, 5, 6)) * (rng.random((4, 5, 6)) < 0.4)).astype(dtype)
    T = sparsec.asarray(dense, format="csf")
    made = sparsec.tucker_hooi(T, (4, 5, 6))
    again = np.einsum("abc,ia,jb,kc->ijk", made.core, *made.factors)
    np.testing.assert_allclose(again, dense, atol=1e-4)
    fits = [sparsec.tucker_hooi(T, n).fits[-1] for n in (1, 2, 3)]
    assert fits == sorted(fits) and fits[0] < made.fits[-1]
    for factor in sparsec.tucker_hooi(T, (2, 3, 1)).factors:
        np.testing.assert_allclose(factor.T @ factor, np.eye(factor.shape[1]), atol=1e-5)


def test_what_has_no_decomposition():
    zeros = sparsec.zeros((3, 4, 5))
    for call in [lambda: sparsec.cp_als(zeros, 1), lambda: sparsec.cp_als(np.ones((2, 2)), 0),
                 lambda: sparsec.tucker_hooi(np.ones((2, 2)), 3), lambda: sparsec.cp_als(np.ones(3), 1),
                 lambda: sparsec.tucker_hooi(np.ones((2, 2)), (1, 1, 1))]:
        with pytest.raises(sparsec.InputError):
            call()


def test_solvers_of_scipy_take_tensors(rng):
    linalg = pytest.importorskip("scipy.sparse.linalg")
    a = rng.random((5, 3)) + 1j * rng.random((5, 3))
    operator = linalg.aslinearoperator(sparsec.asarray(a, format="csr"))
    x, y = rng.random(3), rng.random((5, 1))
    np.testing.assert_allclose(operator.matvec(x), a @ x)
    np.testing.assert_allclose(operator.rmatvec(y), a.conj().T @ y)
    square = np.eye(6) * 3 + rng.random((6, 6)) / 10
    # This solver writes into the products that it asks for.
    for format in ("csc", "csr", "dense", "coo"):
        A = sparsec.asarray(square, format=format)
        solved, fault = linalg.gmres(A, np.ones(6), rtol=1e-12)
        assert fault == 0
        np.testing.assert_allclose(square @ solved, np.ones(6))

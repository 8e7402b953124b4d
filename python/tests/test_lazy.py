"""Lazy expressions, compiled functions, and scalar functions of the user, beside NumPy."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import sparsec


def matrix(rng, shape=(6, 6), dtype="float64"):
    return (rng.integers(-4, 9, shape) * (rng.random(shape) < 0.5)).astype(dtype)


#: Expressions of two matrices and a vector.
EXPRESSIONS = [
    lambda A, B, x: A + B,
    lambda A, B, x: (A @ B) * A + 1,
    lambda A, B, x: ((A @ B) @ x).sum(),
    lambda A, B, x: (A * 2 - B / 4).T @ x,
    lambda A, B, x: (A @ A.T).sum(axis=0),
    lambda A, B, x: A.sum(axis=1, keepdims=True) * B,
    lambda A, B, x: (A.sum(axis=0, keepdims=True) + B).max(axis=1),
    lambda A, B, x: A[1:4, ::2] + B[2:5, 1::2],
    lambda A, B, x: A[2] @ x + B[:, 3] @ x,
    lambda A, B, x: A[1:3].sum(),
    lambda A, B, x: (A @ B)[1:3, 2],
    lambda A, B, x: (A > 2) & (B < 1),
    lambda A, B, x: -abs(A) ** 2 + x,
    lambda A, B, x: np.exp(A) * np.maximum(B, 0) - np.sqrt(abs(A)),
    lambda A, B, x: np.where(A > B, A, B),
    lambda A, B, x: np.einsum("ij,kj,j->ik", A, B, x),
    lambda A, B, x: x @ A @ x,
    lambda A, B, x: A.mean(axis=0) * 3.5,
]


@pytest.mark.parametrize("format", ["csr", "csc", "dense"])
@pytest.mark.parametrize("number", range(len(EXPRESSIONS)))
def test_expressions(rng, number, format):
    a, b, x = matrix(rng), matrix(rng), rng.integers(0, 5, 6).astype(float)
    A, B = sparsec.asarray(a, format=format), sparsec.asarray(b, format="csr")
    expression = EXPRESSIONS[number]
    expected = expression(a, b, x)
    for made in (expression(sparsec.lazy(A), sparsec.lazy(B), sparsec.lazy(x)),
                 sparsec.jit(expression)(A, B, x)):
        made = sparsec.compute(made)
        assert isinstance(made, sparsec.Tensor) and made.shape == np.shape(expected)
        np.testing.assert_allclose(made.to_numpy(), expected, rtol=1e-13)


def test_operators_in_a_block(rng):
    a = matrix(rng)
    A = sparsec.asarray(a, format="csr")
    with sparsec.lazy():
        y = sparsec.exp(A @ A) * 2
        assert isinstance(y, sparsec.Lazy)
    assert isinstance(A @ A, sparsec.Tensor)
    np.testing.assert_allclose(y.compute().to_numpy(), np.exp(a @ a) * 2)


def test_one_program(rng):
    A = sparsec.asarray(matrix(rng), format="csr")
    L = sparsec.lazy(A)
    square = L @ L
    twice = square * square.sum(axis=1, keepdims=True) - square
    text = str(twice)
    assert text.count("sum{") == 2 and text.count("t0(") >= 3
    y, z = sparsec.compute(twice, square, out_format="csr")
    a = A.to_numpy()
    np.testing.assert_allclose(z.to_numpy(), a @ a)
    np.testing.assert_allclose(y.to_numpy(), (a @ a) * (a @ a).sum(1, keepdims=True) - a @ a)
    assert y.format == z.format == "csr"
    assert twice.dtype == np.float64 and (L > 1).dtype == bool
    assert "forall" in sparsec.explain(twice, stage="concrete")
    assert sparsec.explain(twice)._repr_html_().startswith("<pre>")


def test_fusion_keeps_what_is_sampled(rng):
    """The product is computed where the samples are: no matrix of all products."""
    n = 200_000
    S = sparsec.from_coo([[0, n - 1], [n - 1, 3]], [1.0, 2.0], (n, n))
    X = rng.random((n, 4))
    made = (sparsec.lazy(S) * (sparsec.lazy(X) @ sparsec.lazy(X.T))).compute()
    assert made.nnz == 2
    assert np.isclose(made[0, n - 1], X[0] @ X[n - 1])


def test_long_expressions(rng):
    a = matrix(rng)
    L = sparsec.lazy(sparsec.asarray(a, format="csr"))
    made, expected = L, a
    for number in range(700):
        made, expected = made + L * (number % 3), expected + a * (number % 3)
    np.testing.assert_allclose(made.compute().to_numpy(), expected)


def test_what_is_refused_before_it_is_computed(rng):
    A, B = sparsec.lazy(np.ones((2, 3))), sparsec.lazy(np.ones((2, 4)))
    with pytest.raises(sparsec.InputError, match=r"\(2, 3\)"):
        A + B
    with pytest.raises(sparsec.InputError, match="extents"):
        A @ B
    with pytest.raises(sparsec.InputError, match="compute") as error:
        np.asarray(A)
    assert error.value.code == "E0471"
    with pytest.raises(TypeError, match="compute"):
        A[[0, 1]]


def test_compiled_functions_are_traced_once(rng):
    calls = []

    @sparsec.jit
    def scaled(A, x, factor=1.0):
        calls.append(factor)
        return factor * (A @ x), A.sum()

    a, x = matrix(rng), rng.random(6)
    A = sparsec.asarray(a, format="csr")
    for _ in range(3):
        y, total = scaled(A, x, factor=2.0)
        np.testing.assert_allclose(y.to_numpy(), 2 * (a @ x))
        assert total.item() == a.sum()
    assert calls == [2.0]
    scaled(A * 3, x + 1, factor=2.0)
    assert calls == [2.0]
    scaled(A, x, factor=3.0)
    scaled(sparsec.asarray(a, format="csc"), x, factor=2.0)
    scaled(A[:4], x, factor=2.0)
    assert len(calls) == 4
    assert "out0(i0) = " in scaled.program(A, x, factor=2.0)


def test_a_compiled_function_keeps_no_arguments(rng):
    @sparsec.jit
    def doubled(A):
        return A + A

    x = np.ones(100_000)
    gone = weakref.ref(x)
    doubled(x)
    del x
    gc.collect()
    assert gone() is None


def test_the_same_argument_twice(rng):
    added = sparsec.jit(lambda A, B: A - B)
    A, B = (sparsec.asarray(matrix(rng), format="csr") for _ in range(2))
    assert added(A, A).to_numpy().any() == False  # noqa: E712
    np.testing.assert_array_equal(added(A, B).to_numpy(), A.to_numpy() - B.to_numpy())


def test_compiled_functions_with_other_tensors(rng):
    a, b = matrix(rng), matrix(rng)
    B = sparsec.asarray(b, format="csr")
    made = sparsec.jit(lambda A: A @ B)
    for _ in range(2):
        np.testing.assert_array_equal(made(sparsec.asarray(a, format="csr")).to_numpy(), a @ b)
    with pytest.raises(TypeError, match="returns float"):
        sparsec.jit(lambda A: 1.0)(B)


SCALARS = [
    lambda x: x / (1 + abs(x)),
    lambda x: np.where(x > 1, x * 2, -x),
    lambda x: np.exp(-(x**2)) + np.sin(x) % 2 // 1,
    lambda x: np.clip(x, -1, 2) + (x >= 1) * 2.5,
    lambda x: np.maximum(x, 0.5) - np.float32(2) * np.log1p(abs(x)),
    lambda x: 3 - x + (not_zero := (x != 0)) * 1,
]


@pytest.mark.parametrize("number", range(len(SCALARS)))
def test_scalar_functions(rng, number):
    a = matrix(rng)
    made = sparsec.function(SCALARS[number])
    expected = SCALARS[number](a)
    for format in ("csr", "dense"):
        A = sparsec.asarray(a, format=format)
        np.testing.assert_allclose(made(A).to_numpy(), expected, rtol=1e-13)
    np.testing.assert_allclose(made(sparsec.lazy(a)).compute().to_numpy(), expected, rtol=1e-13)


BITS = [
    (lambda x: x & 6 ^ 3, "iu"),
    (lambda x: (1 | x) + (7 & ~x), "iu"),
    (lambda x: ~x ^ x, "iub"),
    (lambda x: np.bitwise_xor(x, x > 1), "b"),
    (lambda x: (x > 0) ^ (x < 3), "iuf"),
    (lambda x: ~(x > 1) & (x != 0) | (x == 2), "iuf"),
    (lambda x: np.invert(x) | x, "b"),
]


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "uint64", "float64"])
@pytest.mark.parametrize("number", range(len(BITS)))
def test_bits_in_scalar_functions(number, dtype):
    function, kinds = BITS[number]
    if np.dtype(dtype).kind not in kinds:
        pytest.skip("NumPy has no such bits")
    a = np.arange(2 if dtype == "bool" else 6).astype(dtype)
    made = sparsec.function(function)(sparsec.asarray(a, format="(i) -> (i : compressed)"))
    assert made.dtype == function(a).dtype
    np.testing.assert_array_equal(made.to_numpy(), function(a))


def test_rounding_in_scalar_functions():
    import math

    a = np.array([0.5, 1.5, -1.5, 2.3])
    for function, expected in [
        (lambda x: round(x), np.rint),
        (lambda x: math.floor(x), np.floor),
        (lambda x: math.ceil(x), np.ceil),
        (lambda x: math.trunc(x), np.trunc),
    ]:
        made = sparsec.function(function)(sparsec.asarray(a))
        np.testing.assert_array_equal(made.to_numpy(), expected(a))


def test_definitions_stand_in_programs(rng):
    @sparsec.function
    def soft(x, y):
        return x / (1 + abs(y))

    a = matrix(rng)
    program = f"{soft.definition}\nB(i,j) = soft(A(i,j), 2 * A(i,j))"
    made = sparsec.evaluate(program, A=sparsec.asarray(a, format="csr"))
    np.testing.assert_allclose(made.to_numpy(), a / (1 + abs(2 * a)))


def test_scalar_functions_that_are_no_expressions():
    import math

    with pytest.raises(TypeError, match="np.where"):
        sparsec.function(lambda x: 1 if x > 0 else 2)
    with pytest.raises(TypeError, match="math"):
        sparsec.function(lambda x: math.exp(x))
    with pytest.raises(TypeError):
        sparsec.function(lambda x: x + "a")
    with pytest.raises(sparsec.InputError):
        sparsec.function(lambda: 1)

"""Operations of SciPy's sparse arrays, formats and types, through both with equal results.

Formats that SciPy has and sparsec does not (`dia`, `lil`, `dok`) become `csr`. Sums and products of
integers have 64 bits here and those of their operands in SciPy, so values are small.
"""

from __future__ import annotations

import operator

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg

import sparsec

FORMATS = ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"]
DTYPES = ["bool", "int8", "uint16", "int32", "int64", "float32", "float64", "complex64", "complex128"]
SHAPE = (6, 8)


def matrix(rng, shape, dtype):
    """A matrix of small numbers, a third of them not zero."""
    kind = np.dtype(dtype).kind
    low = {"b": 0, "u": 0}.get(kind, -2)
    dense = rng.integers(low, 2 if kind == "b" else 3, shape) * (rng.random(shape) < 0.4)
    if kind == "c":
        dense = dense + 1j * rng.integers(-2, 3, shape) * (dense != 0)
    return sp.csr_array(dense.astype(dtype))


def numbers(rng, shape, dtype):
    return matrix(rng, shape, dtype).toarray() + np.ones((), dtype)


#: By name: what SciPy computes of matrices `a`, `b` of one shape, and sparsec of `A`, `B`.
OF_TWO = {
    "add": operator.add,
    "sub": operator.sub,
    "multiply": (lambda a, b: a.multiply(b), operator.mul),
    "maximum": (lambda a, b: a.maximum(b), np.maximum),
    "minimum": (lambda a, b: a.minimum(b), np.minimum),
    "ne": operator.ne,
    "lt": operator.lt,
    "gt": operator.gt,
    "product": (lambda a, b: a @ b.T, lambda a, b: a @ b.T),
    "vstack": (lambda a, b: sp.vstack([a, b]), lambda a, b: sparsec.concat([a, b])),
    "hstack": (lambda a, b: sp.hstack([a, b]), lambda a, b: np.hstack([a, b])),
}
OF_ONE = {
    "neg": operator.neg,
    "abs": operator.abs,
    "conj": (lambda a: a.conj(), lambda a: a.conj()),
    "transpose": (lambda a: a.T, lambda a: a.T),
    "twice": (lambda a: a * 2, lambda a: a * 2),
    "square": (lambda a: a.power(2), lambda a: a**2),
    "half": (lambda a: a / 2, lambda a: a / 2),
    "sum": (lambda a: a.sum(), lambda a: a.sum()),
    "sum of columns": (lambda a: a.sum(axis=0), lambda a: a.sum(axis=0)),
    "sum of rows": (lambda a: a.sum(axis=1), lambda a: a.sum(axis=1)),
    "mean": (lambda a: a.mean(axis=0), lambda a: a.mean(axis=0)),
    "max": (lambda a: a.max(axis=1).toarray(), lambda a: a.max(axis=1)),
    "min": (lambda a: a.min(), lambda a: a.min()),
    "argmax": (lambda a: a.tocsr().argmax(axis=1), lambda a: sparsec.argmax(a, axis=1)),
    "rows": (lambda a: a.tocsr()[1:5:2], lambda a: a[1:5:2]),
    "columns": (lambda a: a.tocsr()[:, 2:7], lambda a: a[:, 2:7]),
    "row": (lambda a: a.tocsr()[3, :].toarray(), lambda a: a[3, :]),
    "chosen rows": (lambda a: a.tocsr()[[4, 0, 2]], lambda a: a[[4, 0, 2]]),
    "reshape": (lambda a: a.reshape((8, 6)), lambda a: a.reshape(8, 6)),
    "tril": (lambda a: sp.tril(a), lambda a: sparsec.tril(a)),
    "triu": (lambda a: sp.triu(a, k=1), lambda a: sparsec.triu(a, k=1)),
    "trace": (lambda a: a.trace(), lambda a: sparsec.einsum("ii->", a[:, : a.shape[0]])),
    "count": (lambda a: a.tocsr().count_nonzero(), sparsec.count_nonzero),
    "not zero": (lambda a: sp.coo_array(a).toarray() != 0, lambda a: a != 0),
    "sin": (lambda a: a.tocsr().sin(), np.sin),
    "sqrt of squares": (lambda a: abs(a).tocsr().sqrt(), lambda a: np.sqrt(abs(a))),
    "expm1": (lambda a: a.tocsr().expm1(), np.expm1),
    "floor": (lambda a: a.tocsr().floor(), np.floor),
    "kron": (lambda a: sp.kron(a, a), lambda a: sparsec.einsum("ij,kl->ikjl", a, a).reshape(36, 64)),
}
#: What SciPy or NumPy does not have: differences and signs of truth values, orders of complex
#: numbers, and elementary functions where index notation leaves complex numbers out.
REFUSED = {
    "b": {"sub", "neg", "half", "square", "twice", "abs", "sin", "sqrt of squares", "expm1", "floor", "mean"},
    "c": {"maximum", "minimum", "lt", "gt", "max", "min", "argmax", "sin", "expm1", "floor"},
    "i": {"sin", "expm1", "sqrt of squares", "floor"},
    "u": {"sin", "expm1", "sqrt of squares", "floor", "neg", "sub"},
    "f": set(),
}


def numpy_of(x):
    if isinstance(x, sparsec.Tensor):
        return x.to_numpy()
    return x.toarray() if sp.issparse(x) else np.asarray(x)


def compare(name, made, expected):
    made, expected = numpy_of(made), numpy_of(expected)
    assert made.dtype.kind == expected.dtype.kind or made.dtype.kind in "iu", name
    tolerance = 1e-5 if expected.dtype.itemsize // (1 + (expected.dtype.kind == "c")) == 4 else 1e-12
    np.testing.assert_allclose(made.ravel(), expected.ravel(), rtol=tolerance, atol=tolerance, err_msg=name)


def both(operation):
    return operation if isinstance(operation, tuple) else (operation, operation)


def given(x, format):
    """A matrix in a format of SciPy, and the tensor of it."""
    x = x.tobsr((2, 2)) if format == "bsr" else x.asformat(format)
    made = sparsec.asarray(x, format="coo" if format == "coo" else None)
    # The others lack operations, or divide integers without a fraction.
    return (x if format in ("csr", "csc", "coo", "bsr") else x.tocsr()), made


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("format", FORMATS)
def test_operations(rng, format, dtype):
    left_out = REFUSED[np.dtype(dtype).kind]
    a, A = given(matrix(rng, SHAPE, dtype), format)
    b, B = given(matrix(rng, SHAPE, dtype), format)
    for name, operation in OF_TWO.items():
        if name not in left_out:
            theirs, ours = both(operation)
            compare(name, ours(A, B), theirs(a.tocsr(), b.tocsr()))
    for name, operation in OF_ONE.items():
        if name not in left_out:
            theirs, ours = both(operation)
            compare(name, ours(A), theirs(a))
    x, X = numbers(rng, (1, 8), dtype)[0], numbers(rng, (8, 3), dtype)
    compare("vector", A @ x, a @ x)
    compare("dense matrix", A @ X, a @ X)
    compare("stacked", (sparsec.stack([A, A]) @ X)[1], a @ X)
    compare("lazy", (sparsec.lazy(A) @ X).compute(), a @ X)
    compare("from the left", X.T @ A.T, X.T @ a.T)
    for other in FORMATS:
        np.testing.assert_array_equal(A.to_scipy(other).toarray(), a.toarray())


@pytest.mark.parametrize("right", ["int8", "int64", "float32", "complex64"])
@pytest.mark.parametrize("left", ["uint16", "int32", "float64", "complex64"])
def test_types_mix_as_in_scipy(rng, left, right):
    a, b = matrix(rng, SHAPE, left), matrix(rng, SHAPE, right)
    A, B = sparsec.asarray(a), sparsec.asarray(b)
    for made, expected in [(A + B, a + b), (A * B, a.multiply(b)), (A @ B.T, a @ b.T)]:
        assert made.dtype == expected.dtype or made.dtype.kind == "i"
        np.testing.assert_allclose(made.to_numpy(), expected.toarray())


@pytest.mark.parametrize("left", ["csr", "csc", "coo", "bsr"])
@pytest.mark.parametrize("right", ["csr", "csc", "coo", "bsr"])
def test_formats_mix(rng, left, right):
    a, A = given(matrix(rng, SHAPE, "float64"), left)
    b, B = given(matrix(rng, SHAPE, "float64"), right)
    for name in ["add", "multiply", "product"]:
        theirs, ours = both(OF_TWO[name])
        compare(name, ours(A, B), theirs(a.tocsr(), b.tocsr()))


def test_only_canonical_entries_are_called_so():
    twice = sp.coo_array(([1.0, 2.0, 4.0], ([1, 0, 1], [0, 2, 0])), shape=(2, 3))
    back = sparsec.asarray(twice, format="coo").to_scipy("coo")
    assert back.tocsr()[1, 0] == 5.0
    dense = np.array([[1.0, 2.0], [3.0, 4.0]])
    for format in ("csr", "csc", "coo"):
        made = sparsec.asarray(dense, format=format).to_scipy("coo")
        assert made.has_canonical_format == (made.row.tolist() == [0, 0, 1, 1])


#: Operators between an array of SciPy and a tensor. Sums and differences defer without a question.
MIXED = {
    "matmul": lambda a, b: a @ b,
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "lt": operator.lt,
    "ne": operator.ne,
    "ge": operator.ge,
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("other", ["csr", "dense", "coo"])
def test_arrays_of_scipy_leave_tensors_to_our_operators(rng, format, other):
    a, b = (matrix(rng, (5, 5), "float64") for _ in range(2))
    B = sparsec.asarray(b, format=other)
    for name, operation in MIXED.items():
        expected = operation(a.toarray(), b.toarray())
        matrices = [sp.csr_matrix(a)] if name != "mul" else []
        for given in (a.asformat(format), *matrices):
            made = operation(given, B)
            assert isinstance(made, sparsec.Tensor), name
            np.testing.assert_array_equal(made.to_numpy(), expected, err_msg=name)
    quotient = a.asformat(format) / (abs(B) + 1)
    np.testing.assert_allclose(quotient.to_numpy(), a.toarray() / (abs(b.toarray()) + 1))
    lazily = a.asformat(format) @ sparsec.lazy(B)
    np.testing.assert_array_equal(lazily.compute().to_numpy(), (a @ b).toarray())


def test_scipy_gets_no_object_elsewhere(rng):
    a = matrix(rng, (5, 5), "float64")
    A = sparsec.asarray(a)
    # `*` of matrices is their product, and that of tensors is not.
    for refused in (
        lambda: sp.csr_matrix(a) * A,
        lambda: a.multiply(A),
        lambda: a.maximum(A),
        lambda: scipy.sparse.linalg.aslinearoperator(a) @ A,
        lambda: np.asanyarray(A),
    ):
        with pytest.raises(sparsec.InputError, match="does not become dense by itself"):
            refused()
    x = sparsec.asarray(np.ones(5))
    made = scipy.sparse.linalg.aslinearoperator(a) @ x
    assert type(made) is np.ndarray
    np.testing.assert_array_equal(made, a @ np.ones(5))

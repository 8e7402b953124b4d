"""Functions of the array API standard beside `array_api_strict`, the standard's own oracle.

Each function is called with the same arrays by both. Sparse arguments are given in several
formats. What is not here, and why, stands in `sparsec._array_api`.
"""

from __future__ import annotations

import numpy as np
import pytest

import sparsec

xs = pytest.importorskip("array_api_strict")

FORMATS = ["csr", "coo", "dense"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float32", "float64"]
COMPLEX = ["complex64", "complex128"]


def array(rng, shape, dtype="float64", least=-4):
    """Small numbers, half of them zero."""
    kind = np.dtype(dtype).kind
    low = 0 if kind == "u" else least
    made = rng.integers(low, 5, shape) * (rng.random(shape) < 0.5)
    if kind == "c":
        made = made + 1j * rng.integers(-3, 4, shape) * (made != 0)
    return np.asarray(made).astype(dtype)


def format_of(a, format):
    """The format for an array of any order."""
    if format == "dense" or a.ndim == 0:
        return "dense"
    return format if a.ndim == 2 else {"csr": "csf", "coo": "coo"}[format]


def given(value, make):
    if isinstance(value, np.ndarray):
        return make(value)
    if isinstance(value, (list, tuple)) and any(isinstance(x, np.ndarray) for x in value):
        return type(value)(given(x, make) for x in value)
    return value


def numpy_of(x):
    return x.to_numpy() if isinstance(x, sparsec.Tensor) else np.asarray(x)


def compare(made, expected):
    if isinstance(expected, (list, tuple)):
        assert len(made) == len(expected)
        for one, other in zip(made, expected):
            compare(one, other)
        return
    assert made.shape == expected.shape
    expected = np.asarray(expected)
    assert made.dtype == expected.dtype
    exact = expected.dtype.kind in "biu"
    tolerance = 0 if exact else 50 * np.finfo(expected.dtype).eps
    np.testing.assert_allclose(numpy_of(made), expected, rtol=tolerance, atol=tolerance)


def check(name, *arguments, formats=FORMATS, **options):
    with np.errstate(all="ignore"):
        of_strict = [given(argument, xs.asarray) for argument in arguments]
        expected = getattr(xs, name)(*of_strict, **{k: given(v, xs.asarray) for k, v in options.items()})
    for format in formats:
        def make(a):
            return sparsec.asarray(a, format=format_of(a, format))

        ours = [given(argument, make) for argument in arguments]
        made = getattr(sparsec, name)(*ours, **options)
        compare(made, expected)


OF_FLOATS = ["acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "expm1", "log",
             "log1p", "log2", "log10", "reciprocal", "sin", "sinh", "sqrt", "tan", "tanh"]
OF_COMPLEX = ["exp", "log", "sqrt", "conj", "real", "imag", "abs", "square", "negative", "positive",
              "isfinite", "isinf", "isnan", "reciprocal", "sign"]
OF_NUMBERS = ["abs", "negative", "positive", "square", "sign", "isfinite", "isinf", "isnan", "ceil",
              "floor", "round", "trunc"]
SPECIAL = [0.0, 0.3, -0.7, 1.0, -1.0, 2.5, -2.5, 1e-30, 1e30, np.inf, -np.inf, np.nan, 1e300]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", OF_FLOATS + OF_NUMBERS)
def test_functions_of_floats(rng, name, dtype):
    special = np.array(SPECIAL, dtype="float64")
    with np.errstate(over="ignore"):
        check(name, special.astype(dtype))
    check(name, array(rng, (4, 5), dtype))
    check(name, array(rng, (2, 3, 4), dtype) / 8)


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("name", OF_COMPLEX)
def test_functions_of_complex_numbers(rng, name, dtype):
    # What is not stored is a real zero; 1/0 has no value that libraries agree on.
    a = array(rng, (4, 5), dtype)
    a = np.where(a == 0, 1 + 2j, a).astype(dtype) if name in ("reciprocal", "log") else a
    check(name, a)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", OF_NUMBERS)
def test_functions_of_integers(rng, name, dtype):
    if name == "negative" and dtype.startswith("u"):
        pytest.skip("array_api_strict negates no unsigned integers")
    check(name, array(rng, (4, 5), dtype))


ARITHMETIC = ["add", "subtract", "multiply", "maximum", "minimum"]
COMPARISONS = ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]


@pytest.mark.parametrize("dtype", INTEGERS + FLOATS)
@pytest.mark.parametrize("name", ARITHMETIC + COMPARISONS)
def test_functions_of_two(rng, name, dtype):
    check(name, array(rng, (4, 5), dtype), array(rng, (4, 5), dtype))
    for shapes in [((4, 5), (5,)), ((4, 1), (1, 5)), ((), (4, 5)), ((3, 1, 5), (4, 1)), ((0, 5), (1, 5))]:
        check(name, *(array(rng, shape, dtype) for shape in shapes))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["atan2", "divide", "floor_divide", "hypot", "logaddexp", "remainder"])
def test_functions_of_two_floats(rng, name, dtype):
    check(name, array(rng, (4, 5), dtype), array(rng, (4, 5), dtype))
    check(name, array(rng, (4, 5), dtype), array(rng, (5,), dtype) + np.asarray(7, dtype))


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", ["floor_divide", "remainder", "pow"])
def test_functions_of_two_integers(rng, name, dtype):
    b = np.abs(array(rng, (4, 5), dtype)) % 3 + np.asarray(1, dtype)
    check(name, array(rng, (4, 5), dtype), b)


def test_powers(rng):
    check("pow", array(rng, (4, 5)), array(rng, (4, 5)))
    check("pow", array(rng, (4, 5), "complex128") + 1, np.abs(array(rng, (4, 5))).astype("complex128"))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_bits_of_integers(rng, dtype):
    a, b = array(rng, (4, 5), dtype), array(rng, (4, 5), dtype)
    for name in ["bitwise_and", "bitwise_or", "bitwise_xor"]:
        check(name, a, b)
        check(name, a, b[:1])
    check("bitwise_invert", a)
    amounts = np.abs(b) % np.asarray(8, dtype)
    for name in ["bitwise_left_shift", "bitwise_right_shift"]:
        check(name, a, amounts)
    A = sparsec.asarray(a, format="csr")
    for ours, theirs in [(A & 5, a & 5), (3 | A, 3 | a), (A ^ A, a ^ a), (~A, ~a), (A << 2, a << 2),
                         (A >> 1, a >> 1), (np.bitwise_and(A, b), a & b)]:
        np.testing.assert_array_equal(ours.to_numpy(), theirs)


@pytest.mark.parametrize("dtype", FLOATS)
def test_signs(rng, dtype):
    # A -0 is stored nowhere but in dense tensors.
    a, b = array(rng, (4, 5), dtype) + 0, array(rng, (4, 5), dtype) + 0
    check("copysign", a, b)
    check("signbit", a)
    signed = np.asarray([[-0.0, 0.0, -1.0, np.inf, -np.inf]] * 4, dtype)
    check("copysign", a, signed, formats=["dense"])
    check("signbit", signed, formats=["dense"])


@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor", "bitwise_and",
                                  "bitwise_or", "bitwise_xor", "equal", "not_equal"])
def test_functions_of_truth_values(rng, name):
    check(name, array(rng, (4, 5), "bool"), array(rng, (4, 5), "bool"))
    check("logical_not", array(rng, (4, 5), "bool"))
    check("bitwise_invert", array(rng, (4, 5), "bool"))


def test_choices(rng):
    a, b = array(rng, (4, 5)), array(rng, (4, 5))
    check("where", array(rng, (4, 5), "bool"), a, b)
    check("where", array(rng, (5,), "bool"), a, b[:, :1])
    for bounds in [(-1, 2), (None, 1), (1, None)]:
        check("clip", a, *bounds)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 1)])
@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "float32", "float64"])
def test_sums_and_extremes(rng, dtype, axis, keepdims):
    a = array(rng, (4, 5), dtype)
    for name in ["sum", "prod", "max", "min", "any", "all", "count_nonzero"]:
        check(name, a, axis=axis, keepdims=keepdims)
    if np.dtype(dtype).kind == "f":
        for name in ["mean", "var", "std"]:
            check(name, a, axis=axis, keepdims=keepdims)
        check("var", a + np.asarray(100, dtype), axis=axis, correction=1.0, keepdims=keepdims)


def test_sums_in_another_type(rng):
    check("sum", array(rng, (4, 5), "int8"), dtype=xs.int16, formats=[])
    made = sparsec.sum(sparsec.asarray(array(rng, (4, 5), "int8"), format="csr"), dtype=np.int16)
    assert made.dtype == np.int16
    check("sum", array(rng, (4, 5), "complex64"), axis=0)
    check("prod", array(rng, (4, 5), "complex128"), axis=1)
    check("sum", array(rng, (0, 5)), axis=0)


def test_variance_of_few_entries_in_a_large_shape():
    T = sparsec.from_coo([[0, 7], [0, 9]], [2.0, 4.0], (2**20, 2**20))
    n = 2.0**40
    mean = 6.0 / n
    assert np.isclose(sparsec.mean(T).item(), mean)
    assert np.isclose(sparsec.var(T).item(), 20.0 / n - mean**2)


SHAPES = [((4, 5), (5, 3)), ((4, 5), (5,)), ((5,), (5, 3)), ((5,), (5,)), ((2, 4, 5), (5, 3)),
          ((2, 1, 4, 5), (3, 5, 2))]


@pytest.mark.parametrize("dtype", ["int8", "uint32", "int64", "float32", "float64", "complex128"])
@pytest.mark.parametrize("shapes", SHAPES)
def test_matmul(rng, shapes, dtype):
    check("matmul", *(array(rng, shape, dtype) for shape in shapes))


def test_products(rng):
    a, b = array(rng, (3, 4, 5)), array(rng, (4, 5, 2))
    check("tensordot", a, b)
    check("tensordot", a, b, axes=0)
    check("tensordot", a, b, axes=((1, 2), (0, 1)))
    check("tensordot", a, array(rng, (5, 3)), axes=((2, 0), (0, 1)))
    check("tensordot", a.astype("int16"), b.astype("int8"), axes=2)
    for dtype in ["int32", "float64", "complex64"]:
        check("vecdot", array(rng, (4, 5), dtype), array(rng, (4, 5), dtype))
        check("vecdot", array(rng, (4, 5), dtype), array(rng, (4, 1), dtype), axis=-2)
        check("vecdot", array(rng, (4, 5), dtype), array(rng, (5,), dtype))
    check("matrix_transpose", a)


def test_modes(rng):
    a = array(rng, (2, 3, 4))
    check("permute_dims", a, (2, 0, 1))
    check("moveaxis", a, 0, -1)
    check("moveaxis", a, (0, 1), (2, 0))
    check("expand_dims", a, axis=1)
    check("expand_dims", a, axis=-1)
    check("squeeze", a[:, :1], axis=1)
    check("squeeze", a[:1, :, :1], axis=(0, 2))
    check("squeeze", a[:1, :1, :1], axis=(0, 1, 2))
    for axis in [None, 0, (0, 2), -1]:
        check("flip", a, axis=axis)


@pytest.mark.parametrize("shape", [(24,), (6, 4), (4, -1), (2, 2, 3, 2), (1, 24)])
def test_shapes(rng, shape):
    check("reshape", array(rng, (2, 3, 4)), shape)


def test_one_after_another(rng):
    a, b = array(rng, (2, 3)), array(rng, (4, 3))
    check("concat", [a, b])
    check("concat", [a, b.T[:2]], axis=1)
    check("concat", [a, b], axis=None)
    check("concat", [a.astype("int8"), b.astype("int32")])
    for axis in [0, 1, -1]:
        check("stack", [a, a + 1, a], axis=axis)
    check("unstack", a, axis=1)
    check("roll", a, 1, axis=1)
    check("roll", a, 4)
    check("roll", a, (1, -2), axis=(0, 1))
    check("repeat", a, 3, axis=1)
    check("repeat", a, 2)
    check("repeat", a, np.array([2, 0, 1]), axis=1)
    check("tile", a, (2, 1))
    check("tile", a, (2, 1, 3))
    check("broadcast_to", array(rng, (3, 1)), (2, 3, 4))
    check("broadcast_arrays", a, array(rng, (3,)))


@pytest.mark.parametrize("k", [-3, -1, 0, 2])
def test_triangles(rng, k):
    for dtype in ["float64", "int8", "bool"]:
        for shape in [(4, 5), (2, 3, 3)]:
            check("tril", array(rng, shape, dtype), k=k)
            check("triu", array(rng, shape, dtype), k=k)



@pytest.mark.parametrize("dtype", ["int8", "uint32", "float32", "float64"])
def test_searching(rng, dtype):
    for least in (-4, 1):
        a = array(rng, (4, 6), dtype, least)
        a[1] = 0
        a[2] = 3
        for name in ["argmax", "argmin"]:
            for axis in [None, 0, 1, -1]:
                for keepdims in [False, True]:
                    check(name, a, axis=axis, keepdims=keepdims)
    check("nonzero", array(rng, (4, 5), dtype))
    check("nonzero", array(rng, (2, 3, 4), dtype))
    check("unique_values", array(rng, (4, 5), dtype))
    check("unique_counts", array(rng, (4, 5), dtype))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_taking(rng, axis):
    a = array(rng, (4, 5))
    check("take", a, np.array([3, 0, 3]), axis=axis)
    check("take", a[0], np.array([], dtype="int64"))
    order = np.asarray(np.argsort(rng.random((4, 5)), axis=axis))
    for format in FORMATS:
        given = sparsec.asarray(a, format=format)
        compare(sparsec.take_along_axis(given, order, axis=axis), np.take_along_axis(a, order, axis))
        few = np.array([[-1, 0]]) if axis else np.array([[2]])
        compare(sparsec.take_along_axis(given, few, axis=axis), np.take_along_axis(a, few, axis))
        with pytest.raises(IndexError):
            sparsec.take_along_axis(given, order + 5, axis=axis)
        with pytest.raises(IndexError):
            sparsec.take(given, [7], axis=axis)
    large = sparsec.from_coo([[7, 2**40]], [1.0, 2.0], (2**41,))
    assert sparsec.take(large, [2**40, 3]).to_numpy().tolist() == [2.0, 0.0]
    assert sparsec.take_along_axis(large, [2**40, 3]).to_numpy().tolist() == [2.0, 0.0]


@pytest.mark.parametrize("axis", [0, 1])
def test_differences(rng, axis):
    for dtype in ("float64", "int32", "uint8"):
        a = array(rng, (4, 5), dtype)
        for n in range(6):
            check("diff", a, axis=axis, n=n)
        check("diff", a, axis=axis, prepend=a, append=a)
    with pytest.raises(sparsec.DtypeError):
        sparsec.diff(sparsec.asarray([[True, False]], format="csr"))
    with pytest.raises(sparsec.InputError):
        sparsec.diff(sparsec.asarray(a, format="csr"), n=-1)


def test_membership(rng):
    a, b = array(rng, (4, 5)), array(rng, (3,))
    special = np.array([[0.0, np.nan, 1.0]])
    for format in FORMATS:
        for invert in (False, True):
            for wanted in (b, b[:0], b[b != 0], np.array([np.nan])):
                for x in (a, special):
                    made = sparsec.isin(sparsec.asarray(x, format=format), wanted, invert=invert)
                    compare(made, np.isin(x, wanted, invert=invert))
        nonzero = sparsec.asarray(b, format="csf")
        compare(sparsec.isin(sparsec.asarray(a, format=format), nonzero), np.isin(a, b))
    few = sparsec.isin(sparsec.from_coo([[3], [4]], [1.0], (2**30, 2**30), format="coo"), [0])
    assert few.nnz == 1 and few.fill_value


def test_sorted_vectors():
    check("searchsorted", np.array([1.0, 2.0, 5.0]), np.array([0.0, 2.0, 9.0]), formats=["dense"])
    with pytest.raises(sparsec.InputError, match="dense"):
        sparsec.searchsorted(sparsec.asarray([1, 2], format="csf"), [1])


def test_extremes_with_a_fill():
    T = sparsec.from_coo([[0, 0, 1], [0, 1, 2]], [5, 9, 1], (3, 3), fill_value=7)
    np.testing.assert_array_equal(sparsec.argmax(T, axis=1).to_numpy(), [1, 0, 0])
    np.testing.assert_array_equal(sparsec.argmin(T, axis=1).to_numpy(), [0, 2, 0])
    assert sparsec.argmax(T).item() == 1 and sparsec.argmin(T).item() == 5


def test_creation():
    for name, arguments in [("zeros", ((2, 3),)), ("ones", ((2, 3),)), ("full", ((2, 3), 7)),
                            ("full", ((), 7.0)), ("eye", (3,)), ("eye", (3, 5)), ("arange", (5,)),
                            ("arange", (1, 9, 3)), ("linspace", (0.0, 1.0, 5))]:
        compare(getattr(sparsec, name)(*arguments), getattr(xs, name)(*arguments))
    for k in (-5, -2, 0, 1, 4):
        compare(sparsec.eye(4, 3, k=k), xs.eye(4, 3, k=k))
    A = sparsec.asarray([[0, 2], [3, 0]], format="csc")
    for made in (sparsec.zeros_like(A), sparsec.ones_like(A), sparsec.full_like(A, 4)):
        assert (made.format, made.nnz, made.dtype) == ("csc", 0, A.dtype)
    assert sparsec.ones((2**20,) * 3).sum().item() == 2.0**60


def test_namespace():
    A = sparsec.asarray([[0, 2], [3, 0]], format="csr")
    assert A.__array_namespace__() is sparsec
    assert A.__array_namespace__(api_version="2024.12") is sparsec
    with pytest.raises(ValueError):
        A.__array_namespace__(api_version="1970.01")
    assert A.device == "cpu" and A.to_device("cpu") is A
    info = sparsec.__array_namespace_info__()
    assert info.default_device() == "cpu" and "int8" in info.dtypes(kind="signed integer")
    assert set(info.dtypes()) == set(xs.__array_namespace_info__().dtypes())
    for name, of_name in xs.__array_namespace_info__().dtypes().items():
        assert info.dtypes()[name] == getattr(sparsec, name)
        for kind in ["bool", "integral", "real floating", "numeric"]:
            assert sparsec.isdtype(getattr(sparsec, name), kind) == xs.isdtype(of_name, kind)


#: Functions of the standard that `sparsec._array_api` leaves out, with its reasons.
LEFT_OUT = """nextafter cumulative_sum cumulative_prod sort argsort unique_all unique_inverse from_dlpack""".split()


def test_all_functions_of_the_standard_are_there():
    wanted = [name for name in xs.__all__ if callable(getattr(xs, name)) and name.islower()]
    ours = {"set_array_api_strict_flags", "reset_array_api_strict_flags", "get_array_api_strict_flags"}
    types = {"bool", "float32", "float64"}
    missing = [name for name in wanted if not hasattr(sparsec, name) and name not in ours | types]
    assert sorted(missing) == sorted(name for name in LEFT_OUT if name in wanted)


def test_nothing_becomes_dense(rng):
    """What has many entries stored nowhere is refused with the way out."""
    filled = sparsec.exp(sparsec.asarray(array(rng, (3, 4)), format="csr"))
    zeros = sparsec.asarray(array(rng, (3, 4)), format="csr")
    for call in [lambda: sparsec.nonzero(filled), lambda: sparsec.tril(filled),
                 lambda: sparsec.concat([filled, zeros]), lambda: np.asarray(zeros),
                 lambda: np.sort(zeros), lambda: np.linalg.norm(zeros, 2), lambda: np.cumsum(zeros)]:
        with pytest.raises(sparsec.Error) as refused:
            call()
        assert refused.value.code == "E0470" and "help" in str(refused.value)


def test_large_shapes():
    T = sparsec.from_coo([[7, 2**20 - 1], [0, 5], [3, 3]], [1.0, 2.0], (2**20,) * 3)
    assert (T + T).nnz == 2 and sparsec.exp(T).nnz == 2
    assert sparsec.reshape(T, (2**10, 2**50)).nnz == 2
    assert sparsec.concat([T, T], axis=2).shape == (2**20, 2**20, 2**21)
    assert sparsec.argmax(T).item() == (2**20 - 1) * 2**40 + 5 * 2**20 + 3
    with pytest.raises(sparsec.InputError):
        sparsec.reshape(sparsec.zeros((2**20,) * 4), (-1,))


def test_functions_of_numpy(rng):
    a, b = array(rng, (4, 5)), array(rng, (4, 5))
    A, B = (sparsec.asarray(x, format="csr") for x in (a, b))
    calls = [
        lambda x, y: np.sum(x), lambda x, y: np.sum(x, axis=1), lambda x, y: np.mean(x, axis=0),
        lambda x, y: np.add.reduce(x), lambda x, y: np.var(x, ddof=1), lambda x, y: np.max(x),
        lambda x, y: np.concatenate([x, y], axis=1), lambda x, y: np.stack((x, y)),
        lambda x, y: np.vstack([x, y]), lambda x, y: np.hstack([x, y]), lambda x, y: np.dot(x, y.T),
        lambda x, y: np.transpose(x), lambda x, y: np.reshape(x, (5, 4)), lambda x, y: np.tril(x, 1),
        lambda x, y: np.einsum("ij,ij->i", x, y), lambda x, y: np.where(x > 0, x, y),
        lambda x, y: np.tensordot(x, y, axes=([1], [1])), lambda x, y: np.clip(x, -1, 2),
        lambda x, y: np.arcsinh(x), lambda x, y: np.logaddexp(x, y), lambda x, y: np.matmul(x, y.T),
        lambda x, y: np.swapaxes(x, 0, 1), lambda x, y: np.argmax(x, 1), lambda x, y: np.roll(x, 1, 0),
        lambda x, y: np.take(x, [1, 0], axis=1), lambda x, y: np.take(x, [7, 0]),
        lambda x, y: np.diff(x), lambda x, y: np.diff(x, 2, 0), lambda x, y: np.isin(x, [0, 2]),
        lambda x, y: np.take_along_axis(x, np.array([[1], [0], [0], [2]]), 1),
        lambda x, y: np.trace(x), lambda x, y: np.trace(x, -2), lambda x, y: np.diagonal(x, 2),
        lambda x, y: np.diagonal(x, 9), lambda x, y: np.diag(x, -1), lambda x, y: np.diag(x[1], 2),
        lambda x, y: np.kron(x, y), lambda x, y: np.kron(x, y[0]), lambda x, y: np.linalg.norm(x),
        lambda x, y: np.linalg.norm(x, 1), lambda x, y: np.linalg.norm(x, -np.inf),
        lambda x, y: np.linalg.norm(x, axis=1), lambda x, y: np.linalg.norm(x, 3, 0),
        lambda x, y: np.linalg.norm(x, np.inf, 1, True), lambda x, y: np.linalg.norm(x, 0, 0),
        lambda x, y: np.ravel(x), lambda x, y: np.outer(x[0], y[0]), lambda x, y: np.inner(x, y),
    ]
    for call in calls:
        made = call(A, B)
        assert isinstance(made, (sparsec.Tensor, np.generic))
        np.testing.assert_allclose(numpy_of(made), call(a, b), rtol=1e-13)
    assert np.allclose(A, a) and not np.array_equal(A, b) and np.shape(A) == (4, 5)
    for made, expected in zip(np.nonzero(A), np.nonzero(a)):
        np.testing.assert_array_equal(made.to_numpy(), expected)

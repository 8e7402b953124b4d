"""Bad input: an exception of the right class, with a code, the place and a way out."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import sparsec

A = sparsec.asarray(np.eye(3), format="csr")


def check(error, code, *parts):
    """The error has this code, and its text has these parts."""
    assert isinstance(error.value, sparsec.Error)
    assert error.value.code == code, str(error.value)
    for part in parts:
        assert part in str(error.value)


def test_shapes_that_do_not_fit():
    with pytest.raises(ValueError) as error:
        sparsec.evaluate("y(i) = A(i,j) * x(j)", A=A, x=np.ones(4))
    check(error, "E0203", "mode 1 of `A` has extent 3", "mode 0 of `x` has extent 4", "^")
    for wrong in (lambda: A + np.ones((3, 4)), lambda: A @ np.ones(4), lambda: A @ np.ones((4, 3))):
        with pytest.raises(sparsec.InputError) as error:
            wrong()
        check(error, "E0203", "extent 3", "extent 4")


def test_expressions():
    with pytest.raises(ValueError) as error:
        sparsec.evaluate("y(i) = A(i,j) * x(j", A=A, x=np.ones(3))
    check(error, "E0101", "y(i) = A(i,j) * x(j\n", "^")
    with pytest.raises(ValueError) as error:
        sparsec.evaluate("y(i) = A(i,j) * x(j)", A=A)
    check(error, "E0314", "`x`")
    with pytest.raises(ValueError) as error:
        sparsec.evaluate("y(i) = A(i,j)", A=A, B=A)
    check(error, "E0207", "`B`")
    with pytest.raises(ValueError) as error:
        sparsec.evaluate("y(i) = A(i,j)", A=A, out_format="csq")
    check(error, "E0110")
    with pytest.raises(ValueError) as error:
        sparsec.evaluate("y(i) = A(i)", A=A)
    check(error, "E0202")
    with pytest.raises(ValueError) as error:
        sparsec.explain("y(i) = A(i,j)", A=A, stage="lop")
    check(error, "E0004", "loop")
    with pytest.raises(ValueError) as error:
        sparsec.einsum("ij,jk->iz", A, A)
    check(error, "E0031")
    with pytest.raises(ValueError) as error:
        sparsec.einsum("ij", A, A)
    check(error, "E0032")


def test_ways_out_are_those_of_python():
    with pytest.raises(sparsec.InputError) as error:
        sparsec.evaluate("y(i,j) = x(i)", x=np.ones(2))
    check(error, "E0204", '`extents={"j": …}`')
    with pytest.raises(sparsec.InputError) as error:
        sparsec.from_buffers("csr", (2, 3), [[0, 1, 2], [0, 9], [1.0, 2.0]])
    assert "`sparsec " not in str(error.value)
    assert error.value.explanation.startswith(f"{error.value.code}: ")
    assert sparsec.Error().explanation == ""


def test_arguments():
    for wrong, code in [
        (lambda: sparsec.evaluate("y(i) = x(i)", {"x": np.ones(2)}, x=np.ones(2)), "E0003"),
        (lambda: sparsec.evaluate("y(i,j) = x(i)", x=np.ones(2), extents={"j": -1}), "E0402"),
        (lambda: sparsec.evaluate("y(i,j) = x(i)", x=np.ones(2)), "E0204"),
        (lambda: A.permute_dims((0,)), "E0413"),
        (lambda: A.permute_dims((-3, 0)), "E0413"),
        (lambda: A.sum(axis=2), "E0413"),
        (lambda: A.sum(axis=(0, -2)), "E0413"),
        (lambda: A.convert("csf(3)"), None),
        (lambda: A.astype("int64") + 2**70, None),
    ]:
        with pytest.raises(sparsec.InputError) as error:
            wrong()
        assert code is None or error.value.code == code, str(error.value)


def test_types_that_do_not_mix():
    with pytest.raises(TypeError) as error:
        sparsec.evaluate("B(i,j) = A(i,j) < A(i,j)", A=A.astype("complex64"))
    check(error, "E0223")
    with pytest.raises(TypeError):
        ~A
    for wrong in (np.array([object()]), np.array(["a"]), np.array([1], dtype="M8[s]"),
                  np.ones(2, dtype=np.longdouble), [[1, None]], [[1], [2, "x"]]):
        with pytest.raises((TypeError, ValueError)):
            sparsec.asarray(wrong)
    with pytest.raises(TypeError) as error:
        sparsec.asarray(np.array([1, "a"], dtype=object))
    check(error, "E0451", "object")
    with pytest.raises(TypeError) as error:
        sparsec.asarray(np.ma.masked_array([1.0, 2.0], [True, False]))
    check(error, "E0451", "filled")
    with pytest.raises(TypeError) as error:
        A.astype("datetime64[s]")
    check(error, "E0451")
    with pytest.raises(TypeError):
        sparsec.asarray(sp.csr_array(np.eye(2, dtype=np.longdouble)))


@pytest.mark.parametrize("coords, code", [([[0, -1], [0, 1]], "E0401"), ([[0, 3], [0, 1]], "E0401"),
                                          ([[0.0, np.nan], [0, 1]], "E0403"), ([[0], [0, 1]], "E0402"),
                                          ([[0, 1]], "E0402"), ([np.array([0, 2**64 - 1], np.uint64), [0, 1]],
                                           "E0401")])
def test_coordinates(coords, code):
    with pytest.raises(ValueError) as error:
        sparsec.from_coo(coords, [1.0, 2.0], shape=(3, 3))
    check(error, code)


def test_duplicates_and_shapes():
    with pytest.raises(ValueError) as error:
        sparsec.from_coo([[1, 1], [0, 0]], [1.0, 2.0], shape=(3, 3), duplicates="refuse")
    check(error, "E0408")
    with pytest.raises(ValueError) as error:
        sparsec.from_coo([[1], [0]], [1.0], shape=(3, -3))
    check(error, "E0402")
    with pytest.raises(TypeError):
        sparsec.from_coo([[1], [0]], [1.0], shape=(3, 2.5))
    with pytest.raises(ValueError) as error:
        sparsec.from_coo([[1], [0]], [1.0], shape=(3, 2**64))
    check(error, "E0406")
    with pytest.raises(ValueError) as error:
        sparsec.from_coo([[0]] * 65, [1.0], shape=(2,) * 65)
    check(error, "E0434")


def broken(change):
    """A matrix of SciPy whose arrays were changed behind its back."""
    matrix = sp.csr_array(np.eye(4))
    change(matrix)
    return matrix


@pytest.mark.parametrize("change, code", [
    (lambda m: m.indices.__setitem__(1, 9), "E0401"),
    (lambda m: m.indices.__setitem__(1, -1), "E0401"),
    (lambda m: m.indptr.__setitem__(2, 9), "E0404"),
    (lambda m: m.indptr.__setitem__(0, 1), "E0404"),
    (lambda m: m.indptr.__setitem__(4, 2**30), "E0404"),
    (lambda m: setattr(m, "data", m.data[:2]), "E0403"),
    (lambda m: setattr(m, "indices", m.indices[:2]), "E0403"),
])
def test_broken_matrices_of_scipy(change, code):
    for format in (None, "csc"):
        with pytest.raises(ValueError) as error:
            sparsec.asarray(broken(change), format=format)
        assert error.value.code in (code, "E0403", "E0404"), str(error.value)


def test_buffers():
    for arrays in ([], [[1.0]], [[0, 1], [0], [1.0]], [[0, 1, 2], [0, 5], [1.0, 2.0]],
                   [[0, 2, 1], [0, 1], [1.0, 2.0]], [[0, 1, 2], [0.5, 1.0], [1.0, 2.0]],
                   [[0, 1, 2], [0, 1], [1.0]], [[0, 1, 2], [0, -1], [1.0, 2.0]]):
        with pytest.raises(sparsec.InputError):
            sparsec.from_buffers("csr", (2, 3), arrays)


def test_nothing_becomes_dense_by_itself():
    with pytest.raises(ValueError) as error:
        np.asarray(A)
    check(error, "E0470", "to_numpy")
    assert np.asarray(sparsec.asarray([1.0, 2.0])).tolist() == [1.0, 2.0]


def test_files(tmp_path):
    with pytest.raises(OSError) as error:
        sparsec.read(tmp_path / "missing.mtx")
    check(error, "E0420", "missing.mtx")
    bad = tmp_path / "bad.mtx"
    bad.write_text("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 x 3\n")
    with pytest.raises(ValueError) as error:
        sparsec.read(bad)
    check(error, "E0424", "bad.mtx:3", "^")
    with pytest.raises(ValueError) as error:
        sparsec.write(tmp_path / "a.xyz", A)
    check(error, "E0421")
    with pytest.raises(OSError):
        sparsec.write(tmp_path / "no" / "a.mtx", A)


def test_errors_are_pickled_with_their_code():
    with pytest.raises(sparsec.Error) as error:
        A @ np.ones(4)
    again = pickle.loads(pickle.dumps(error.value))
    assert type(again) is sparsec.InputError
    assert (again.code, str(again)) == (error.value.code, str(error.value))


def test_integers_and_division():
    zero = sparsec.asarray(np.array([0, 1]))
    with pytest.raises(ValueError) as error:
        zero // zero
    check(error, "E0511")
    with pytest.raises(ValueError) as error:
        sparsec.asarray(np.array([np.nan])).astype("int64")
    check(error, "E0512")


def test_tensors_are_not_made_by_hand_nor_hashed():
    with pytest.raises(TypeError):
        sparsec.Tensor()
    with pytest.raises(TypeError):
        hash(A)
    with pytest.raises(ValueError):
        bool(A)
    with pytest.raises(ValueError):
        sparsec.configure(threads=-1)
    with pytest.raises(ValueError) as error:
        sparsec.configure(backend="gpu")
    check(error, "E0004")

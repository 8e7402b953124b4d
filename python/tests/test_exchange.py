"""Tensors of other libraries and back, selections, assignment, and notebooks."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import sparsec


def matrix(rng, shape=(6, 8), dtype="float64"):
    return (rng.integers(-4, 9, shape) * (rng.random(shape) < 0.4)).astype(dtype)


@pytest.mark.parametrize("shape", [(7,), (6, 8), (3, 4, 5)])
@pytest.mark.parametrize("kind", ["COO", "GCXS", "DOK"])
def test_pydata(rng, kind, shape):
    sparse = pytest.importorskip("sparse")
    dense = matrix(rng, shape)
    given = getattr(sparse, kind)(sparse.COO(dense))
    made = sparsec.asarray(given)
    np.testing.assert_array_equal(made.to_numpy(), dense)
    back = made.to_sparse()
    assert isinstance(back, sparse.COO)
    np.testing.assert_array_equal(back.todense(), dense)
    assert sparsec.asarray(given, format="coo", dtype="float32").dtype == np.float32


def test_fills_of_pydata():
    sparse = pytest.importorskip("sparse")
    given = sparse.COO([[0, 1], [2, 0]], [5.0, 6.0], shape=(2, 3), fill_value=1.5)
    made = sparsec.asarray(given)
    assert made.fill_value == 1.5 and made.nnz == 2
    np.testing.assert_array_equal(made.to_sparse().todense(), given.todense())


@pytest.mark.parametrize("format", ["csr", "csc", "dcsr", "dcsc", "coo", "dense", "bsr(2, 2)"])
def test_binsparse_of_matrices(rng, format):
    dense = matrix(rng)
    made = sparsec.asarray(dense, format=format)
    given = made.__binsparse_descriptor__()["binsparse"]
    names = {"dense": "DMATR", "coo": "COOR", "bsr(2, 2)": "COOR"}
    assert given["format"] == names.get(format, format.upper()) and given["shape"] == [6, 8]

    class Other:
        __binsparse_descriptor__ = made.__binsparse_descriptor__
        __binsparse__ = made.__binsparse__

    np.testing.assert_array_equal(sparsec.asarray(Other()).to_numpy(), dense)
    assert set(given["data_types"]) == set(made.__binsparse__())


def test_binsparse_of_other_tensors(rng):
    for dense, format in [(matrix(rng, (9,)), "csf"), (matrix(rng, (9,)), "dense"),
                          (matrix(rng, (2, 3, 4)), "csf"), (matrix(rng, dtype="complex64"), "csr"),
                          (matrix(rng, dtype="bool"), "csc")]:
        made = sparsec.asarray(dense, format=format)

        class Other:
            __binsparse_descriptor__ = made.__binsparse_descriptor__
            __binsparse__ = made.__binsparse__

        back = sparsec.asarray(Other())
        assert back.dtype == made.dtype
        np.testing.assert_array_equal(back.to_numpy(), dense)


def test_an_unknown_format_of_binsparse():
    class Other:
        def __binsparse_descriptor__(self):
            return {"binsparse": {"format": "XYZ", "shape": [1], "data_types": {}}}

        def __binsparse__(self):
            return {"values": np.zeros(1)}

    with pytest.raises(sparsec.InputError, match="XYZ"):
        sparsec.asarray(Other())


def test_buffers_by_dlpack(rng):
    A = sparsec.asarray(matrix(rng), format="csr")
    for array in A.buffers.values():
        assert np.shares_memory(np.from_dlpack(array), array)
    D = sparsec.asarray(matrix(rng), format="dense")
    np.testing.assert_array_equal(np.from_dlpack(D), D.to_numpy())
    with pytest.raises(sparsec.InputError):
        np.from_dlpack(A)


LAYOUTS = ["strided", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_coo"]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "complex128"])
def test_torch(rng, layout, dtype):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    dense = matrix(rng, dtype=dtype)
    given = torch.from_numpy(dense)
    if layout == "sparse_bsr":
        given = given.to_sparse_bsr((2, 4))
    elif layout != "strided":
        given = given.to_sparse(layout=getattr(torch, layout))
    made = sparsec.asarray(given)
    np.testing.assert_array_equal(made.to_numpy(), dense)
    back = made.to_torch(layout)
    assert str(back.layout) == f"torch.{layout}"
    np.testing.assert_array_equal(back.to_dense().numpy(), dense)


def test_what_torch_gives_and_nobody_takes():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    with pytest.raises(sparsec.InputError, match="detach"):
        sparsec.asarray(torch.ones(3, requires_grad=True))
    with pytest.raises(sparsec.DtypeError, match="float"):
        sparsec.asarray(torch.ones(3, dtype=torch.bfloat16))
    stack = torch.eye(3).expand(2, 3, 3).to_sparse_csr()
    with pytest.raises(sparsec.InputError, match="stack"):
        sparsec.asarray(stack)


@pytest.mark.parametrize("format", ["csr", "coo", "dense", "bsr(2, 2)"])
def test_arrays_of_coordinates(rng, format):
    dense = matrix(rng)
    A = sparsec.asarray(dense, format=format)
    keys = [[3, 0, 3], np.array([-1, 2]), ([0, 5], slice(2, 7, 2)), (slice(None), [7, 7, 0]),
            (2, [1, 4]), ([1, 4], 2), ([0, 1], [2, 3]), (np.array([True, False] * 3),),
            (dense[:, 0] > 0, slice(None)), (Ellipsis, [1, 2]), ([], slice(None)), dense > 2,
            (None, [1, 2]), (slice(1, 3), None)]
    for key in keys:
        expected = dense[key]
        np.testing.assert_array_equal(A[key].to_numpy(), expected)
    np.testing.assert_array_equal(A[A > 2].to_numpy(), dense[dense > 2])
    if format == "dense":
        np.testing.assert_array_equal(A[A == 0].to_numpy(), dense[dense == 0])
    else:
        with pytest.raises(sparsec.InputError, match="not zero"):
            A[A == 0]
    for wrong in [[6], [-7], np.ones(5, bool), np.ones((6, 7), bool)]:
        with pytest.raises(IndexError):
            A[wrong]
    with pytest.raises(TypeError, match="one array after the other"):
        sparsec.asarray(np.ones((2, 2, 2)), format="csf")[[0], :, [1]]


def test_selections_of_fills_and_large_shapes():
    T = sparsec.from_coo([[0, 5], [7, 2**40]], [1.0, 2.0], (2**20, 2**50), fill_value=9.0)
    made = T[[5, 5, 1], :]
    assert made.shape == (3, 2**50) and made.fill_value == 9.0 and made.nnz == 2
    np.testing.assert_array_equal(T[[0, 5, 6], [7, 2**40, 1]].to_numpy(), [1.0, 2.0, 9.0])


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "dense", "bsr(2, 2)"])
def test_assignment_into_a_copy(rng, format):
    dense = matrix(rng)
    A = sparsec.asarray(dense, format=format)
    row = np.arange(8.0)
    cases = [((0, 0), 5), ((0, slice(None)), row), ((slice(None), 3), 0), ((slice(1, 4), slice(2, 8, 3)), 7),
             (([5, 1], slice(None)), row), (dense > 2, -1), ((Ellipsis, -1), 2), (([1, 1], 2), [3, 4])]
    for key, value in cases:
        expected = dense.copy()
        expected[key] = value
        np.testing.assert_array_equal(A.assign(key, value).to_numpy(), expected)
    np.testing.assert_array_equal(A.to_numpy(), dense)
    assert A.assign((slice(None), slice(None)), 0).to_numpy().sum() == 0
    with pytest.raises(TypeError, match="assign"):
        A[0, 0] = 1
    with pytest.raises(IndexError):
        A.assign((6, 0), 1)


def test_html(rng):
    A = sparsec.asarray(matrix(rng), format="csr")
    text = A._repr_html_()
    assert text.count("<rect") == A.nnz + 1 and "j : compressed" in text
    assert text.count("<ul>") == text.count("</ul>") == 3 and "pos1: int32[7]" in text
    large = sp.random_array((3000, 500), density=0.01, rng=1, format="csr")
    assert len(sparsec.asarray(large)._repr_html_()) < 100_000
    for other in (sparsec.asarray(3.0), sparsec.zeros((0, 4)), sparsec.zeros((2, 3, 4))):
        assert other._repr_html_().startswith("<div>")

"""Tensors that are stored as a relation says: `jds`, `sell`, `fcoo`, and the text of `.fmt` files."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import sparsec

#: Rows padded to the longest of them, column by column, and how many entries each row has.
ELLR = """
format ellr
extents NR, NC
map {[s, r] -> [i, j] : 0 <= r < NR && 0 <= s < len(r) && i = r && j = col(NR * s + r) && 0 <= j < NC}
data {[s, r] -> [NR * s + r]}
values {[p] : 0 <= p < W * NR}
unique
function len : {[r] : 0 <= r < NR} -> {[n] : 0 <= n <= W}
function col : {[p] : 0 <= p < W * NR} -> {[j] : 0 <= j < NC}
"""
MATRICES = ["jds", "sell(2, 4)", "fcoo(1)", ELLR]


def matrix(rng, shape=(7, 9), dtype="float64"):
    return (rng.integers(1, 9, shape) * (rng.random(shape) < 0.4)).astype(dtype)


@pytest.mark.parametrize("dtype", ["int32", "float32", "complex128"])
@pytest.mark.parametrize("format", MATRICES)
def test_matrices(rng, format, dtype):
    dense = matrix(rng, dtype=dtype)
    for given in (dense, sp.csr_array(dense), sp.coo_array(dense), sparsec.asarray(dense, format="csc")):
        A = sparsec.asarray(given, format=format)
        assert A._stored.is_relation and A.levels[0].endswith(" : relation")
        assert (A.shape, A.dtype) == (dense.shape, dense.dtype)
        np.testing.assert_array_equal(A.to_numpy(), dense)
        assert A.convert(A.format) is A
        np.testing.assert_array_equal(A.convert("csc").to_scipy().toarray(), dense)
        assert A.nbytes == sum(array.nbytes for array in A.buffers.values())


@pytest.mark.parametrize("format", MATRICES)
def test_what_is_computed(rng, format):
    a, b = matrix(rng), matrix(rng)
    A, B = sparsec.asarray(a, format=format), sparsec.asarray(b, format="csr")
    np.testing.assert_array_equal((A @ np.arange(9.0)).to_numpy(), a @ np.arange(9.0))
    np.testing.assert_array_equal((A + B).to_numpy(), a + b)
    np.testing.assert_array_equal((A @ B.T).to_numpy(), a @ b.T)
    np.testing.assert_array_equal(A[2:5, ::2].to_numpy(), a[2:5, ::2])
    np.testing.assert_array_equal(A.T.to_numpy(), a.T)
    assert A[3, 4] == a[3, 4]
    assert A.sum().item() == a.sum()
    np.testing.assert_array_equal(sparsec.concat([A, A]).to_numpy(), np.concatenate([a, a]))


@pytest.mark.parametrize("format", MATRICES)
def test_results(rng, format):
    a, b = matrix(rng), matrix(rng)
    A = sparsec.asarray(a, format="csr")
    made = sparsec.evaluate("C(i,j) = A(i,j) + B(i,j)", A=A, B=b, out_format=format)
    assert made._stored.is_relation
    np.testing.assert_array_equal(made.to_numpy(), a + b)
    named = sparsec.evaluate_all(
        "C(i,j) = 2 * A(i,j); D(i,k) = A(i,j) * A(k,j)", A=A, out_format={"C": format}
    )
    assert named["C"]._stored.is_relation and not named["D"]._stored.is_relation
    np.testing.assert_array_equal(named["C"].to_numpy(), 2 * a)
    product = sparsec.einsum("ij,kj->ik", A, A, out_format=format)
    assert product._stored.is_relation
    np.testing.assert_array_equal(product.to_numpy(), a @ a.T)
    sharded = sparsec.evaluate("C(i,j) = 2 * A(i,j)", A=made, out_format=format,
                               shards="shard(i, 0, 3, 7)")
    assert sharded._stored.is_relation
    np.testing.assert_array_equal(sharded.to_numpy(), 2 * (a + b))


def test_tensors_of_order_three(rng):
    dense = matrix(rng, (4, 5, 6))
    coords = np.nonzero(dense)
    for format in ("fcoo(2)", "bcsf(8)"):
        T = sparsec.from_coo(coords, dense[coords], dense.shape, format=format)
        assert T._stored.is_relation
        np.testing.assert_array_equal(T.to_numpy(), dense)
        np.testing.assert_array_equal(T.sum(axis=1).to_numpy(), dense.sum(axis=1))


@pytest.mark.parametrize("format", MATRICES)
def test_copies_pickles_and_files(rng, format, tmp_path):
    dense = matrix(rng)
    A = sparsec.asarray(dense, format=format)
    sparsec.write(tmp_path / "a.npz", A)
    sparsec.write(tmp_path / "a.mtx", A)
    for again in (A.copy(), copy.deepcopy(A), pickle.loads(pickle.dumps(A)), sparsec.read(tmp_path / "a.npz"),
                  sparsec.read(tmp_path / "a.mtx", format=format)):
        assert again._stored.is_relation
        assert {name: array.tolist() for name, array in again.buffers.items()} == {
            name: array.tolist() for name, array in A.buffers.items()
        }
    np.testing.assert_array_equal(sparsec.read(tmp_path / "a.mtx").to_numpy(), dense)
    name = "ellr" if format == ELLR else format
    assert repr(A).startswith(f"<sparsec.Tensor f64[7, 9], {name}, ")
    assert f"{name} : relation" in A._repr_html_()


def test_arrays_are_given_by_name():
    list_ = """
    format list
    extents N
    map {[n] -> [i] : 0 <= n < NZ && i = crd(n)}
    data {[n] -> [n]}
    values {[n] : 0 <= n < NZ}
    function crd : {[n] : 0 <= n < NZ} -> {[i] : 0 <= i < N}
    """
    x = sparsec.from_buffers(list_, (4,), {"crd": [3, 0], "vals": [5.0, 7.0]})
    assert x.to_numpy().tolist() == [7.0, 0.0, 0.0, 5.0]
    for arrays, code in (([[3, 4], [5.0, 7.0]], "E0519"), ([[5.0]], "E0403"), ([[0], [0], [5.0]], "E0403")):
        with pytest.raises(sparsec.InputError) as error:
            sparsec.from_buffers(list_, (4,), arrays)
        assert error.value.code == code


def test_mistakes(rng):
    A = sparsec.asarray(matrix(rng), format="csr")
    for wrong in (lambda: A.convert("jd"), lambda: A.convert("format x\nextents N"),
                  lambda: sparsec.asarray(np.ones(3), format="jds"), lambda: A.convert("sell(0, 4)"),
                  lambda: sparsec.asarray(np.ones((2, 2)), format="csr", dtype="f8").convert("fcoo(9)")):
        with pytest.raises(sparsec.InputError):
            wrong()
    shifted = sparsec.from_coo([[0], [0]], [1.0], (2, 2), fill_value=2.0)
    with pytest.raises(sparsec.InputError) as error:
        shifted.convert("jds")
    assert error.value.code == "E0218"
    with pytest.raises(sparsec.InputError):
        np.asarray(A.convert("jds"))

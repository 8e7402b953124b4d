"""Dask arrays of tensors."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from clusters import matrix, same

import sparsec

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

import sparsec.dask  # noqa: E402


def test_arrays_of_tensors():
    A, B = matrix((20, 30)), matrix((30, 10), seed=2)
    a, b = A.to_numpy(), B.to_numpy()
    x, y = sparsec.dask.shard(A, by=("i", "j"), n=(3, 2)), sparsec.dask.shard(B, by=0, n=2)
    y = y.rechunk({0: x.chunks[1]})
    for made, expected, is_sparse in (
        (x, a, True),
        (x.T, a.T, True),
        (x + x, a + a, True),
        (2 * x, 2 * a, True),
        (x @ y, a @ b, True),
        (da.tensordot(x, y, axes=1), a @ b, True),
        (da.einsum("ij,jk->ik", x, y), a @ b, True),
        (da.concatenate([x, x], axis=1), np.concatenate([a, a], axis=1), True),
        (x[3:11, 5:], a[3:11, 5:], True),
        (x[::2], a[::2], True),
        (x[[4, 1, 17]], a[[4, 1, 17]], True),
        (x.rechunk((7, 30)), a, True),
        (x.sum(axis=0), a.sum(axis=0), False),
        (x.sum(), a.sum(), False),
        (x.max(axis=1), a.max(axis=1), False),
        (x.mean(axis=1), a.mean(axis=1), False),
        (x.map_blocks(lambda block: block * 3, dtype=x.dtype), a * 3, True),
    ):
        result = made.compute()
        assert not is_sparse or (isinstance(result, sparsec.Tensor) and result.format != "dense")
        values = result.to_numpy() if isinstance(result, sparsec.Tensor) else np.asarray(result)
        np.testing.assert_allclose(values, expected, rtol=1e-12)
    assert isinstance(x._meta, sparsec.Tensor)


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_means_of_what_is_a_number(axis, keepdims):
    a = matrix((12, 9), density=0.3).to_numpy()
    a[[1, 4, 4, 7], [2, 0, 8, 3]] = np.nan
    for given in (a, a.astype(np.float32), np.nan_to_num(a * 9).astype(np.int64)):
        x = sparsec.dask.shard(sparsec.asarray(given, format="csr"), by=("i", "j"), n=(3, 2))
        for name in ("nansum", "nanmean"):
            made = getattr(da, name)(x, axis=axis, keepdims=keepdims).compute(scheduler="sync")
            expected = getattr(np, name)(given, axis=axis, keepdims=keepdims)
            made = made.to_numpy() if isinstance(made, sparsec.Tensor) else np.asarray(made)
            assert made.shape == expected.shape
            np.testing.assert_allclose(made, expected, rtol=1e-5)


def test_tensors_beside_arrays():
    A, B = matrix((20, 20)), matrix((20, 20), seed=2)
    a, b = A.to_numpy(), B.to_numpy()
    x = sparsec.dask.shard(B, by="i", n=3)
    for made, expected in (
        (A * x, a * b),
        (x * A, a * b),
        (A + x, a + b),
        (A @ x, a @ b),
        (x @ A, b @ a),
        (np.multiply(A, x), a * b),
    ):
        assert isinstance(made, da.Array)
        result = made.compute()
        assert isinstance(result, sparsec.Tensor) and result.format != "dense"
        np.testing.assert_allclose(result.to_numpy(), expected, rtol=1e-12)


def test_arrays_on_a_cluster(client):
    A = matrix((40, 30))
    x = sparsec.dask.shard(A, by="i", n=4).persist()
    same(x.compute(), A)
    np.testing.assert_allclose((x @ x.T).compute().to_numpy(), A.to_numpy() @ A.to_numpy().T)


def test_from_dask_and_from_delayed():
    array = da.from_array(np.eye(6), chunks=(3, 2))
    x = sparsec.dask.from_dask(array, format="csr")
    assert x.chunks == array.chunks and x.compute().format == "csr" and x.compute().nnz == 6
    value = dask.delayed(sp.random_array)((5, 4), density=0.5, rng=1)
    y = sparsec.dask.from_delayed(value, (5, 4), np.float64, format="csc")
    assert y.compute().format == "csc" and y.compute().nnz == 10


def test_shards_are_balanced():
    rows = np.concatenate([np.zeros(100, dtype=np.int64), np.arange(1, 101)])
    A = sparsec.from_coo([rows, np.arange(200)], np.ones(200), (1000, 200))
    x = sparsec.dask.shard(A, by="i", n=2)
    assert x.chunks == ((1, 999), (200,))
    assert sparsec.dask.shard(A).numblocks == (1, 1)


def test_chunks_pickle_out_of_band():
    A = matrix((100, 100))
    buffers = []
    data = pickle.dumps(A, protocol=5, buffer_callback=buffers.append)
    assert len(data) < 2000 and sum(len(it.raw()) for it in buffers) == A.nbytes
    same(pickle.loads(data, buffers=buffers), A)
    frames = distributed.protocol.serialize(A)
    same(distributed.protocol.deserialize(*frames), A)
    assert dask.sizeof.sizeof(A) == A.nbytes
    assert dask.base.tokenize(A) == dask.base.tokenize(A.copy())
    assert dask.base.tokenize(A) != dask.base.tokenize(A * 2)


def test_mismatched_chunks_are_named():
    A = matrix((4, 4))
    parts = {
        "E1104 float32": A.astype(np.float32),
        "E1104 csc": A.convert("csc"),
        "E1104 (4, 3)": matrix((4, 3)),
    }
    for words, other in parts.items():
        code, word = words.split(maxsplit=1)
        blocks = [[dask.delayed(A)], [dask.delayed(other)]]
        joined = da.concatenate(
            [da.from_delayed(block[0], (4, 4), meta=A[:0, :0]) for block in blocks]
        )
        with pytest.raises(sparsec.InputError) as error:
            joined.compute(scheduler="sync")
        assert error.value.code == code and word in str(error.value)

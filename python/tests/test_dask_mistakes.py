"""Mistakes in calls of `sparsec.dask` and in headers of files: errors with codes and ways out."""

from __future__ import annotations

import numpy as np
import pytest

import sparsec

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

import sparsec.dask  # noqa: E402


@pytest.fixture(autouse=True)
def in_this_process():
    with dask.config.set(scheduler="sync"):
        yield


A = sparsec.from_coo([[0, 1, 2, 5], [1, 0, 2, 3]], [1.0, 2.0, 3.0, 4.0], (6, 5), format="csr")
FILLED = sparsec.from_coo([[0, 5], [1, 3]], [1.0, 4.0], (6, 5), format="csr", fill_value=2.5)
TEXT = "C(i,k) = A(i,j) * A(k,j)"


def refused(code, call, words=""):
    with pytest.raises(sparsec.Error) as error:
        call()
    assert error.value.code == code and words in error.value.message, str(error.value)
    assert "help: " in str(error.value)


@pytest.mark.parametrize("call", [sparsec.dask.evaluate, sparsec.dask.explain])
@pytest.mark.parametrize("is_far", [False, True])
def test_plans(call, is_far):
    x = sparsec.dask.shard(A, n=2) if is_far else A
    for code, plan in (
        ("E1102", "nonsense"),
        ("E1102", 5),
        ("E1102", b"shard(i, 0, 6)"),
        ("E1101", "shard(z, 0, 6)"),
        ("E0413", "shard(i, 0, 3)"),
        ("E0413", "shard(i, 0, 99999999999999999999999, 6)"),
        ("E0413", "shard(i, 0, 6)\nshard(j, 0, 4)"),
    ):
        refused(code, lambda: call(TEXT, A=x, shards=plan))
    refused("E0004", lambda: call(TEXT, A=x, client=5), "`client` does not take 5")


def test_types_that_numpy_does_not_have():
    text, plan = "y(i) = bf16(x(i))", "shard(i, 0, 2, 4)"
    made = sparsec.dask.evaluate(text, x=np.ones(4), shards=plan)
    assert made._stored.dtype == "bfloat16"
    assert "result: 8 B estimated" in sparsec.dask.explain(text, x=np.ones(4), shards=plan, run=True)
    for call in (
        lambda: sparsec.dask.evaluate(text, x=np.ones(4), shards=plan, gather=False),
        lambda: sparsec.dask.shard(made, n=2),
        lambda: made.dtype,
    ):
        refused("E0451", call, "`bfloat16`")


def test_shards():
    shard = sparsec.dask.shard
    refused("E0402", lambda: shard(A, n="a"), "'a' is no number of shards")
    refused("E0402", lambda: shard(A, n=2.5))
    refused("E0402", lambda: shard(A, n=0))
    refused("E0413", lambda: shard(A, by=("i", 0), n=(2, 2)), "mode 0 is cut twice")
    refused("E0451", lambda: shard(shard(A)), "in chunks already")
    refused("E0451", lambda: sparsec.dask.from_dask(A), "Tensor is no array of Dask")
    refused("E0451", lambda: sparsec.dask.from_delayed(3, (3,), float), "no delayed value")
    value = dask.delayed(np.eye)(3)
    refused("E0402", lambda: sparsec.dask.from_delayed(value, (-3, 3), float))
    refused("E0451", lambda: sparsec.dask.from_delayed(value, (3, 3), "zzz"), "no type 'zzz'")


def test_chunks_of_files(tmp_path):
    path = tmp_path / "a.mtx"
    sparsec.write(path, A)
    for options in ({}, {"shape": (6, 5)}):
        for chunks in ("x", (4, 4, 4), (-2, -2)):
            refused("E0004", lambda: sparsec.dask.read(path, chunks=chunks, **options), "`chunks`")
    refused("E0451", lambda: sparsec.dask.read(path, dtype="zzz"), "no type 'zzz'")


#: Headers that say what no tensor is.
HEADERS = [
    ("a.mtx", "%%MatrixMarket matrix coordinate real general\n-3 3 1\n1 1 1\n"),
    ("a.mtx", "%%MatrixMarket matrix coordinate real general\n% sparsec: zzz\n3 3 1\n1 1 1\n"),
    ("a.mtx", "%%MatrixMarket matrix coordinate real general\n9999999999999999999999 3 1\n1 1 1\n"),
    ("a.tns", "# sparsec: qq[3]\n1 2\n"),
    ("a.tns", "# sparsec: f64[-3, 2]\n1 1 2\n"),
]


@pytest.mark.parametrize("name, text", HEADERS)
def test_headers_of_text(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(sparsec.Error) as error:
        sparsec.dask.read(tmp_path / name).compute()
    with pytest.raises(sparsec.Error) as whole:
        sparsec.read(tmp_path / name)
    assert str(error.value) == str(whole.value)


@pytest.mark.parametrize(
    "members",
    [
        {"sparsec": np.array('{"extents": 5}')},
        {"sparsec": np.array("[1]")},
        {"sparsec": np.array('{"extents": [2], "element": "zz", "format": "csr"}')},
        {"shape": np.array([3, -3]), "format": np.array(b"csr"), "data": np.ones(3)},
        {"shape": np.array([3, 3]), "format": np.array(b"zzz"), "data": np.ones(3)},
    ],
)
def test_headers_of_archives(tmp_path, members):
    path = tmp_path / "a.npz"
    np.savez(path, **members)
    with pytest.raises(sparsec.Error):
        sparsec.dask.read(path).compute()


def test_headers_of_tables(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    table = pa.table({"i": [0, 1], "v": [1.0, 2.0]})
    for stated in ("[4,", "5", '["a"]', "null"):
        pq.write_table(table.replace_schema_metadata({"sparsec.shape": stated}), path)
        refused("E1104", lambda: sparsec.dask.read(path), "which is no list of extents")
    pq.write_table(table, path)
    refused("E0004", lambda: sparsec.dask.read(path, shape=(4,), columns="i"), "does not take 'i'")
    for coords in (["a", "b"], [0.5, 1.5]):
        pq.write_table(pa.table({"i": coords, "v": [1.0, 2.0]}), path)
        refused("E1104", lambda: sparsec.dask.read(path, shape=(4,)), "coordinates are integers")


def test_fills_of_arrays():
    """Fills other than zero pass through arrays, and those that do not fit are refused."""
    a = FILLED.to_numpy()
    x = sparsec.dask.shard(FILLED, n=3)
    for name in ("sum", "prod", "max", "min", "mean"):
        for axis in (0, 1, None):
            made = getattr(x, name)(axis=axis).compute()
            made = made.to_numpy() if isinstance(made, sparsec.Tensor) else np.asarray(made)
            np.testing.assert_allclose(made, getattr(a, name)(axis=axis), rtol=1e-12)
    text = "y(i) = A(i,j)"
    delayed = dask.delayed(FILLED)
    for far in (
        sparsec.dask.from_dask(x),
        sparsec.dask.from_dask(x, "csc"),
        sparsec.dask.from_delayed(delayed, (6, 5), float, "csr", fill_value=2.5),
        x.rechunk((2, 2)),
        x + 0,
    ):
        assert far._meta.fill_value == 2.5
        made = sparsec.dask.evaluate(text, A=far)
        np.testing.assert_allclose(made.to_numpy(), a.sum(axis=1))
    far = sparsec.dask.from_delayed(delayed, (6, 5), float, "csr")
    refused("E1104", lambda: sparsec.dask.evaluate(text, A=far), "with fill 2.5")
    # As one chunk, tensors of two fills store all entries.
    wide = [
        sparsec.from_coo([[0], [0]], [1.0], (5, 10_000_000), format="csr", fill_value=it) for it in (1, 2)
    ]
    both = da.concatenate([sparsec.dask.shard(it) for it in wide]).rechunk(-1)
    refused("E1104", both.compute, "are 1.0 and 2.0")


@pytest.mark.parametrize("end", ["npz", "bsp.npz", "bsp.h5"])
def test_fills_of_files(tmp_path, end):
    for number in range(2):
        sparsec.write(tmp_path / f"{number}.{end}", FILLED)
    x = sparsec.dask.read(tmp_path)
    assert x._meta.fill_value == 2.5
    made = sparsec.dask.evaluate("y(i) = A(i,j)", A=x)
    np.testing.assert_allclose(made.to_numpy(), np.tile(FILLED.to_numpy().sum(axis=1), 2))
    sparsec.write(tmp_path / f"1.{end}", A)
    refused("E1104", lambda: sparsec.dask.read(tmp_path), "has the fill 0.0, and ")

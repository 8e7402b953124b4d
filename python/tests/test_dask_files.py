"""Dask arrays of the files of a folder."""

from __future__ import annotations

import gzip
import json
import os
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import sparsec

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

import sparsec.dask  # noqa: E402
from sparsec.dask import _files, _headers, _states  # noqa: E402


@pytest.fixture(autouse=True)
def in_this_process():
    with dask.config.set(scheduler="sync"):
        yield


def part(rows, seed, columns=7, dtype=np.float64, format="csr"):
    rng = np.random.default_rng(seed)
    made = sp.random_array((rows, columns), density=0.3, rng=rng, dtype=np.float64)
    return sparsec.asarray((made * 9).astype(dtype), format=format)


#: Eleven parts: by the alphabet, the last one would be the third.
PARTS = [part(rows, rows) for rows in (3, 5, 2, 4, 1, 6, 2, 3, 5, 4, 7)]
WHOLE = np.concatenate([it.to_numpy() for it in PARTS])


@pytest.mark.parametrize("end", ["mtx", "mtx.gz", "mtx.zst", "tns", "npz", "bsp.npz", "bsp.h5"])
def test_parts_lie_side_by_side(tmp_path, end, monkeypatch):
    for number, it in enumerate(PARTS):
        sparsec.write(tmp_path / f"part-{number}.{end}", it)
    (tmp_path / "_SUCCESS").write_text("")
    (tmp_path / ".hidden.mtx").write_text("no matrix")
    n_read = []
    real = _headers.read
    monkeypatch.setattr(_headers, "read", lambda path: n_read.append(path) or real(path))
    x = sparsec.dask.read(tmp_path)
    # Shapes are known without entries, but of text that is compressed by Zstandard, and of lists
    # that state no extents since their entries reach them.
    without = [it for it in n_read if not it.endswith(".tns") or open(it).read(1) == "#"]
    assert len(without) == (len(PARTS) if end == "mtx.zst" else 0)
    assert x.chunks == (tuple(it.shape[0] for it in PARTS), (7,))
    assert x.dtype == np.float64 and x._meta.format == "csr"
    made = x.compute()
    assert made.format == "csr"
    np.testing.assert_array_equal(made.to_numpy(), WHOLE)
    by_pattern = sparsec.dask.read(str(tmp_path / f"part-?.{end}"), format="csc")
    assert by_pattern.shape == (35, 7) and by_pattern.compute().format == "csc"
    rows = sparsec.dask.read(tmp_path, chunks=(20, 7))
    assert rows.chunks == ((20, 20, 2), (7,))
    np.testing.assert_array_equal(rows.compute().to_numpy(), WHOLE)


def test_columns_and_other_orders(tmp_path):
    for number in range(3):
        sparsec.write(tmp_path / f"{number}.mtx", part(6, number))
        cube = sparsec.from_coo([[0, 1], [1, 0], [number, 2]], [1.0, 2.0], (2, 3, 4))
        sparsec.write(tmp_path / f"{number}.npz", cube)
    x = sparsec.dask.read(tmp_path / "*.mtx", by="j")
    assert x.shape == (6, 21)
    expected = np.concatenate([part(6, number).to_numpy() for number in range(3)], axis=1)
    np.testing.assert_array_equal(x.compute().to_numpy(), expected)
    y = sparsec.dask.read(tmp_path / "*.npz", by=-1)
    assert y.shape == (2, 3, 12) and y.compute().nnz == 6 and y._meta.format == "csf"


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "bsr"])
def test_matrices_of_scipy(tmp_path, format):
    given = sp.random_array((8, 6), density=0.4, rng=1, dtype=np.float32)
    given = given.tobsr((2, 3)) if format == "bsr" else given.asformat(format)
    for number in range(2):
        sp.save_npz(tmp_path / f"{number}.npz", given)
    x = sparsec.dask.read(tmp_path)
    assert x.dtype == np.float32 and x.shape == (16, 6)
    assert x._meta.format == sparsec.read(tmp_path / "0.npz").format
    np.testing.assert_array_equal(x.compute().to_numpy()[8:], given.toarray())


def test_types_of_text(tmp_path):
    for number, dtype in enumerate((np.float64, np.int64, np.uint64, np.complex128, np.float32, bool)):
        path = tmp_path / f"{number}.mtx"
        given = sparsec.asarray(np.eye(3).astype(dtype), format="csr")
        sparsec.write(path, given)
        x = sparsec.dask.read(path)
        assert x.dtype == dtype and x.compute().dtype == dtype
    (tmp_path / "dense.mtx").write_text("%%MatrixMarket matrix array real general\n2 1\n5\n6\n")
    y = sparsec.dask.read(tmp_path / "dense.mtx")
    assert y._meta.format == "dense" and y.compute().to_numpy().tolist() == [[5.0], [6.0]]
    np.save(tmp_path / "a.npy", np.eye(3))
    assert sparsec.dask.read(tmp_path / "a.npy").compute().format == "dense"


def test_entries_of_a_whole(tmp_path):
    """Text and tables whose lines have the coordinates of the whole, in no order."""
    rng = np.random.default_rng(1)
    coords = rng.integers(0, (50, 20), (400, 2))
    values = rng.random(400)
    expected = np.zeros((50, 20))
    np.add.at(expected, tuple(coords.T), values)
    for number in range(4):
        own = slice(100 * number, 100 * (number + 1))
        lines = [f"{i + 1} {j + 1} {v!r}" for (i, j), v in zip(coords[own], values[own].tolist())]
        with gzip.open(tmp_path / f"{number}.tns.gz", "wt") as file:
            file.write("\n".join(lines) + "\n")
    x = sparsec.dask.read(tmp_path, shape=(50, 20))
    assert x.numblocks == (4, 1)
    np.testing.assert_allclose(x.compute().to_numpy(), expected, rtol=1e-14)
    # Each file is read once, however many chunks there are.
    loads = [key for key in x.__dask_graph__() if "-part-" in str(key)]
    assert len(loads) == 4
    y = sparsec.dask.read(tmp_path, shape=(50, 20), chunks=((1, 49), (5, 15)), format="csc")
    assert y.chunks == ((1, 49), (5, 15)) and y.compute().format == "csc"
    np.testing.assert_allclose(y.compute().to_numpy(), expected, rtol=1e-14)
    # Arrays in other chunks are other arrays, also in one graph.
    z = sparsec.dask.read(tmp_path, shape=(50, 20), chunks=((25, 25), (20,)))
    x, z = dask.compute(x, z)
    np.testing.assert_allclose(x.to_numpy(), expected, rtol=1e-14)
    np.testing.assert_allclose(z.to_numpy(), expected, rtol=1e-14)


def test_a_table_outside_of_the_whole_is_refused(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    table = pa.table({"i": [60, 70], "j": [0, 1], "value": [1.0, 2.0]})
    pq.write_table(table, tmp_path / "0.parquet")
    with pytest.raises(sparsec.InputError, match="coordinates from 60 to 70"):
        sparsec.dask.read(tmp_path, shape=(50, 20))


def test_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    A = part(60, 3).to_scipy().tocoo()
    for number in range(3):
        inside = A.coords[0] // 20 == number
        table = pa.table(
            {"row": A.coords[0][inside], "column": A.coords[1][inside], "value": A.data[inside]}
        )
        pq.write_table(table, tmp_path / f"part.{number}.parquet")
    x = sparsec.dask.read(tmp_path, shape=(60, 7))
    np.testing.assert_array_equal(x.compute().to_numpy(), A.toarray())
    # Ranges of rows in the footers: each file is cut for the chunk that it meets alone.
    cuts = [key for key in x.__dask_graph__() if "-cut-" in str(key)]
    assert len(cuts) == 3
    y = sparsec.dask.read(tmp_path, shape=(60, 7), columns=["row", "column"])
    assert y.sum().compute() == A.nnz
    with pytest.raises(sparsec.InputError, match="does not say how far") as error:
        sparsec.dask.read(tmp_path)
    assert error.value.code == "E1104"
    with pytest.raises(sparsec.InputError, match="no column 'col'; it has row, column, value"):
        sparsec.dask.read(tmp_path, shape=(60, 7), columns=["row", "col", "value"])
    # Shapes in the metadata: parts side by side.
    own = tmp_path / "own"
    own.mkdir()
    for number in range(2):
        table = pa.table({"i": [0, 1], "v": [1.5, 2.5]})
        table = table.replace_schema_metadata({"sparsec.shape": json.dumps([4])})
        pq.write_table(table, own / f"{number}.parquet")
    z = sparsec.dask.read(own)
    assert z.shape == (8,) and z.compute().to_numpy().tolist() == [1.5, 2.5, 0, 0] * 2
    pq.write_table(pa.table({"i": [0, None], "j": [1, 2], "v": [1.0, 2.0]}), own / "9.parquet")
    with pytest.raises(sparsec.InputError, match="column `i` of .* has 1 nulls"):
        sparsec.dask.read(own / "9.parquet", shape=(4, 4)).compute()
    (own / "10.parquet").write_text("no table")
    with pytest.raises(sparsec.InputError, match="is no Parquet file") as error:
        sparsec.dask.read(own / "10.parquet")
    assert error.value.code == "E0422"


def test_coordinates_outside_of_the_whole(tmp_path):
    (tmp_path / "a.tns").write_text("1 1 2.0\n9 1 3.0\n")
    with pytest.raises(sparsec.InputError, match=r"has shape \(9, 1\), and the whole has") as error:
        sparsec.dask.read(tmp_path, shape=(4, 4))
    assert error.value.code == "E1104" and "a.tns" in str(error.value)


def test_a_file_that_changes(tmp_path):
    for number in range(2):
        sparsec.write(tmp_path / f"{number}.mtx", part(4, number))
    x = sparsec.dask.read(tmp_path)
    expected = x.compute()
    sparsec.write(tmp_path / "1.mtx", part(4, 8))
    with pytest.raises(sparsec.InputError, match="1.mtx. changed since the array was made") as error:
        x.compute()
    assert error.value.code == "E1105"
    # An array that is made now has other keys, so nothing that a cluster holds is taken for it.
    again = sparsec.dask.read(tmp_path)
    assert not set(again.__dask_graph__()) & set(x.__dask_graph__())
    assert pickle.dumps(again.compute()) != pickle.dumps(expected)
    # The same bytes, written later.
    state = os.stat(tmp_path / "0.mtx")
    os.utime(tmp_path / "0.mtx", ns=(state.st_atime_ns, state.st_mtime_ns + 1))
    with pytest.raises(sparsec.InputError, match="0.mtx. changed .* it was written again"):
        again.compute()
    (tmp_path / "0.mtx").unlink()
    with pytest.raises(sparsec.FileError, match="that workers have it too"):
        again.compute()


@pytest.mark.parametrize("is_elsewhere", [False, True])
def test_a_file_of_one_size_and_time_that_changes(tmp_path, monkeypatch, is_elsewhere):
    """Samples of bytes tell small files apart anywhere, and the inode tells large ones here."""
    small, large = tmp_path / "small.npy", tmp_path / "large.npy"
    values = np.zeros(100_000)
    np.save(small, values[:9])
    np.save(large, values)
    x, y = sparsec.dask.read(small), sparsec.dask.read(large)
    if is_elsewhere:
        monkeypatch.setattr(_states.socket, "gethostname", lambda: "another")
    assert x.compute().to_numpy().sum() == y.compute().to_numpy().sum() == 0
    for path, size in ((small, 9), (large, 100_000)):
        before = os.stat(path)
        other = np.zeros(size)
        # Between two samples of the large file.
        other[5 if size == 9 else 1000] = 7
        np.save(path, other)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert os.stat(path).st_size == before.st_size
    with pytest.raises(sparsec.InputError, match="small.npy. changed .* it has other bytes") as error:
        x.compute()
    assert error.value.code == "E1105"
    if is_elsewhere:
        assert y.compute().to_numpy().sum() == 7
    else:
        with pytest.raises(sparsec.InputError, match="large.npy. changed .* its time set back"):
            y.compute()


def test_what_is_no_path(tmp_path):
    for source, words in (([], "an empty list"), (5, "5 is neither a path"), ([None], "None is")):
        with pytest.raises(sparsec.FileError, match=words) as error:
            sparsec.dask.read(source)
        assert error.value.code == "E0420" and "help" in str(error.value)


def test_a_file_that_changes_while_it_is_read(tmp_path, monkeypatch):
    path = tmp_path / "a.mtx"
    sparsec.write(path, part(4, 1))
    x = sparsec.dask.read(path)
    real = sparsec._files.read

    def read(*arguments):
        made = real(*arguments)
        sparsec.write(path, part(4, 2))
        return made

    monkeypatch.setattr(sparsec._files, "read", read)
    with pytest.raises(sparsec.InputError, match="changed since"):
        x.compute()


def test_mismatched_files_are_named(tmp_path):
    sparsec.write(tmp_path / "0.npz", part(4, 1))
    for other, words in (
        (part(4, 1, columns=6), r"1.npz. has shape \(4, 6\), and .*0.npz. has shape \(4, 7\)"),
        (part(4, 1, dtype=np.float32), "1.npz. stores float32, and .*0.npz. stores float64"),
        (part(4, 1, format="csc"), "1.npz. is stored as csc, and .*0.npz. as csr"),
        (sparsec.from_coo([[0]], [1.0], (4,)), r"1.npz. has shape \(4,\), and"),
    ):
        sparsec.write(tmp_path / "1.npz", other)
        with pytest.raises(sparsec.InputError, match=words) as error:
            sparsec.dask.read(tmp_path)
        assert error.value.code == "E1104"
    sparsec.write(tmp_path / "1.npz", part(4, 1, dtype=np.float32, format="csc"))
    x = sparsec.dask.read(tmp_path, dtype="float64", format="csr")
    assert x.compute().shape == (8, 7)
    sparsec.write(tmp_path / "2.mtx", part(4, 1))
    with pytest.raises(sparsec.InputError, match="files of several types: .mtx, .npz"):
        sparsec.dask.read(tmp_path)
    for nothing in (tmp_path / "*.tns", tmp_path / "none"):
        with pytest.raises(sparsec.FileError, match="there are no files") as error:
            sparsec.dask.read(nothing)
        assert error.value.code == "E0420"
    with pytest.raises(sparsec.InputError, match="there is no mode 'k'"):
        sparsec.dask.read(tmp_path / "0.npz", by="k")


def test_operands_that_are_read_and_results_that_are_written(tmp_path):
    """Neither is in memory as a whole: no more than a few parts are alive at a time."""
    n = 12
    for number in range(n):
        sparsec.write(tmp_path / f"A-{number}.npz", part(10, number))
    alive, most = set(), []
    real = _files._loaded, sparsec._folders.write_part

    def loaded(path, *rest):
        alive.add(path)
        most.append(len(alive))
        return real[0](path, *rest)

    def written(folder, number, *rest):
        alive.discard(str(tmp_path / f"A-{number}.npz"))
        return real[1](folder, number, *rest)

    with pytest.MonkeyPatch.context() as patch, dask.config.set(num_workers=1):
        patch.setattr(_files, "_loaded", loaded)
        patch.setattr(sparsec._folders, "write_part", written)
        far = sparsec.dask.read(tmp_path / "A-*.npz")
        bounds = ", ".join(map(str, range(0, 10 * n + 1, 10)))
        made = sparsec.dask.evaluate_to(
            tmp_path / "C", "C(i,k) = A(i,j) * B(k,j)", A=far, B=part(20, 99), shards=f"shard(i, {bounds})"
        )
    assert made.shape == (120, 20) and made.numblocks == (n, 1)
    assert len(most) == n and max(most) <= 3


def test_a_header_that_lies(tmp_path):
    path = tmp_path / "a.npz"
    sparsec.write(path, part(4, 1))
    header = _headers.header_of(str(path))
    state = _states.state_of(str(path))
    with pytest.raises(sparsec.InputError, match="its header promised float64 of shape") as error:
        _files._loaded(str(path), state, (5, 7), header.format, None, header.dtype, None)
    assert error.value.code == "E1104"
    # What no header reader understands is told by the reader of the file.
    (tmp_path / "b.mtx").write_text("%%MatrixMarket matrix coordinate real general\n3 x 1\n")
    with pytest.raises(sparsec.InputError, match="b.mtx:2"):
        sparsec.dask.read(tmp_path / "b.mtx")

"""Tensors from arrays and back: SciPy, NumPy, triplets, buffers, files, pickles."""

from __future__ import annotations

import copy
import gc
import pickle
import threading

import numpy as np
import pytest
import scipy.sparse as sp

import sparsec

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
          "float16", "float32", "float64", "complex64", "complex128"]
SCIPY_FORMATS = ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"]
FORMATS = ["csr", "csc", "coo", "dcsr", "dense", "bsr(2, 3)", "dia", "ell",
           "(i, j) -> (j : compressed, i : compressed)"]


def random_csr(rng, shape, n_entries):
    places = tuple(rng.integers(0, extent, n_entries) for extent in shape)
    made = sp.coo_array((rng.random(n_entries) + 0.5, places), shape=shape).tocsr()
    made.sum_duplicates()
    return made


def matrix(rng, shape=(6, 9), dtype="float64"):
    dense = rng.integers(1, 9, shape) * (rng.random(shape) < 0.4)
    return dense.astype(dtype)


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d != "float16"])
@pytest.mark.parametrize("format", SCIPY_FORMATS)
@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
def test_every_format_and_type_of_scipy_comes_back(rng, format, dtype):
    dense = matrix(rng, dtype=dtype)
    given = sp.csr_array(dense).asformat(format)
    tensor = sparsec.asarray(given)
    assert tensor.shape == given.shape and tensor.dtype == given.dtype
    np.testing.assert_array_equal(tensor.to_numpy(), dense)
    back = tensor.to_scipy(format)
    assert back.format == format and back.dtype == given.dtype
    np.testing.assert_array_equal(back.toarray(), dense)


@pytest.mark.parametrize("format", FORMATS)
def test_conversions_keep_entries(rng, format):
    dense = matrix(rng)
    tensor = sparsec.asarray(dense).convert(format)
    np.testing.assert_array_equal(tensor.to_numpy(), dense)
    for other in FORMATS:
        np.testing.assert_array_equal(tensor.convert(other).to_numpy(), dense)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("format", ["csr", "csc", "bsr"])
def test_compressed_matrices_are_borrowed(rng, format, index):
    given = sp.csr_array(matrix(rng, (6, 6))).asformat(format)
    given.indices, given.indptr = given.indices.astype(index), given.indptr.astype(index)
    tensor = sparsec.asarray(given, copy=False)
    pos, crd, vals = tensor.buffers.values()
    assert pos.dtype == crd.dtype == index
    assert np.shares_memory(pos, given.indptr) and np.shares_memory(crd, given.indices)
    assert np.shares_memory(vals, given.data)


def test_coordinates_are_borrowed_as_coo():
    given = sp.coo_array(([1.0, 2.0], ([0, 2], [1, 0])), shape=(3, 2))
    tensor = sparsec.asarray(given, format="coo")
    assert np.shares_memory(tensor.buffers["vals"], given.data)
    assert np.shares_memory(tensor.buffers["crd1"], given.coords[1])
    np.testing.assert_array_equal(tensor.to_numpy(), given.toarray())


@pytest.mark.parametrize("format", ["csc", "coo", "dcsc", "bsr(4, 4)"])
def test_conversions_that_are_made_often(rng, format):
    """Kernels of conversions are made when they pay, kept, and fit tensors of other shapes."""
    shapes = [(300, 200), (5_000, 40), (40, 5_000)]
    matrices = [
        random_csr(rng, shape, 30_000 if number == 0 else 9_000)
        for number, shape in enumerate(shapes)
    ]
    for number in range(60):
        matrix = matrices[number % 10 % 3 if number > 50 else 0]
        made = sparsec.asarray(matrix).convert(format)
        assert len(made.levels) == (4 if "bsr" in format else 2)
        back = made.to_scipy("csr")
        assert (back != matrix).nnz == 0 and back.nnz == matrix.nnz


@pytest.mark.parametrize("order", [1, 3, 4])
def test_coordinates_of_any_order(rng, order):
    shape = (3, 4, 2, 5)[:order]
    dense = rng.integers(1, 9, shape) * (rng.random(shape) < 0.5)
    try:
        given = sp.coo_array(dense)
    except ValueError:
        pytest.skip("this SciPy has no coo_array of more than two modes")
    tensor = sparsec.asarray(given)
    assert tensor.shape == shape
    np.testing.assert_array_equal(tensor.to_numpy(), dense)
    np.testing.assert_array_equal(tensor.to_scipy().toarray(), dense)


@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
def test_unsorted_and_duplicate_entries_are_put_in_order(format):
    rows, columns, values = [1, 0, 1, 1], [2, 1, 0, 2], [1.0, 2.0, 3.0, 4.0]
    given = sp.coo_array((values, (rows, columns)), shape=(2, 3))
    if format != "coo":
        pos, crd = [0, 1, 4], [1, 2, 0, 2]
        if format == "csr":
            given = sp.csr_array(([2.0, 1.0, 3.0, 4.0], crd, pos), shape=(2, 3))
        else:
            given = sp.csr_array(([2.0, 1.0, 3.0, 4.0], crd, pos), shape=(2, 3)).T
    for own in (format, None):
        tensor = sparsec.asarray(given, format=own)
        np.testing.assert_array_equal(tensor.to_numpy(), given.toarray())
        assert tensor.nnz == 3
    assert given.nnz == 4
    with pytest.raises(ValueError):
        sparsec.asarray(given, copy=False)


def test_arrays_are_frozen_while_they_are_borrowed(rng):
    given = sp.csr_array(matrix(rng))
    tensor = sparsec.asarray(given)
    for array in (given.data, given.indices, given.indptr):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    other = sparsec.asarray(given)
    assert np.shares_memory(other.buffers["crd1"], given.indices)
    del tensor
    gc.collect()
    assert not given.indices.flags.writeable
    del other
    gc.collect()
    for array in (given.data, given.indices, given.indptr):
        array[0] = array[0]


@pytest.mark.parametrize("change", ["sort_indices", "sum_duplicates", "eliminate_zeros"])
@pytest.mark.parametrize("format", ["csr", "csc", "bsr"])
def test_scipy_does_not_write_to_frozen_arrays(format, change):
    given = sp.csr_array(([0.0, 1.0, 0.0, 2.0], [0, 1, 2, 3], [0, 2, 4]), shape=(2, 4))
    given = given.asformat(format)
    tensor = sparsec.asarray(given)
    before = tensor.to_numpy()
    given.has_sorted_indices = given.has_canonical_format = False
    with pytest.raises(ValueError, match="read-only"):
        getattr(given, change)()
    np.testing.assert_array_equal(tensor.to_numpy(), before)


def test_indices_with_another_view_are_copied(rng):
    given = sp.csr_array(matrix(rng))
    dense, view = given.toarray(), given.indices[:]
    tensor = sparsec.asarray(given)
    assert not np.shares_memory(tensor.buffers["crd1"], given.indices)
    view[:] = 2**31 - 1
    np.testing.assert_array_equal(tensor.to_numpy(), dense)
    with pytest.raises(ValueError, match="borrowed"):
        sparsec.asarray(given, copy=False)


def test_a_copy_leaves_the_arrays_alone(rng):
    given = sp.csr_array(matrix(rng))
    before = given.toarray()
    tensor = sparsec.asarray(given, copy=True)
    given.data[:] = 0
    given.indices[:] = 0
    np.testing.assert_array_equal(tensor.to_numpy(), before)


def test_a_buffer_outlives_its_tensor():
    values = sparsec.asarray([[0, 7], [8, 0]], format="csr").buffers["vals"]
    gc.collect()
    assert values.tolist() == [7, 8] and not values.flags.writeable
    with pytest.raises(ValueError):
        values.flags.writeable = True


@pytest.mark.parametrize("order", ["C", "F"])
def test_dense_arrays_are_borrowed_in_both_orders(rng, order):
    given = np.asarray(matrix(rng), order=order)
    tensor = sparsec.asarray(given)
    assert np.shares_memory(tensor.buffers["vals"], given)
    np.testing.assert_array_equal(tensor.to_numpy(), given)
    np.testing.assert_array_equal(sparsec.evaluate("B(j,i) = 2 * A(i,j)", A=tensor).to_numpy(),
                                  2 * given.T)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("format", [None, "dense", "csr"])
@pytest.mark.parametrize("copy", [None, True, False])
def test_dense_arrays_are_copied_as_asked(rng, order, format, copy):
    given = np.asarray(matrix(rng), order=order)
    is_kept = format is None or (format == "dense" and order == "C")
    if copy is False and not is_kept:
        with pytest.raises(ValueError, match="copy"):
            sparsec.asarray(given, format=format, copy=copy)
        return
    tensor = sparsec.asarray(given, format=format, copy=copy)
    assert np.shares_memory(tensor.buffers["vals"], given) == (is_kept and not copy)
    assert given.flags.writeable == (not is_kept or bool(copy))
    np.testing.assert_array_equal(tensor.to_numpy(), given)


def test_strided_readonly_and_swapped_arrays(rng):
    dense = matrix(rng, (8, 10))
    strided, swapped, frozen = dense[::2, ::-1], dense.astype(">f8"), dense.copy()
    frozen.flags.writeable = False
    for given in (strided, swapped, frozen):
        tensor = sparsec.asarray(given)
        np.testing.assert_array_equal(tensor.to_numpy(), given)
    del tensor
    gc.collect()
    assert not frozen.flags.writeable and dense.flags.writeable
    unaligned = np.zeros(33, dtype=np.uint8)[1:].view(np.float64)
    np.testing.assert_array_equal(sparsec.asarray(unaligned).to_numpy(), unaligned)


def test_scalars_lists_and_triplets():
    assert sparsec.asarray(3.5).item() == 3.5 and sparsec.asarray(3.5).shape == ()
    assert sparsec.asarray([[1, 2], [3, 4]]).to_numpy().tolist() == [[1, 2], [3, 4]]
    tensor = sparsec.asarray(([1.0, 2.0, 4.0], ([0, 1, 0], [1, 1, 1])), shape=(2, 2))
    assert tensor.format == "csr" and tensor.to_numpy().tolist() == [[0, 5], [0, 2]]


def test_fill_values():
    tensor = sparsec.from_coo([[1]], [2.0], shape=(3,), fill_value=np.inf)
    assert tensor.fill_value == np.inf and tensor.to_numpy().tolist() == [np.inf, 2.0, np.inf]
    with pytest.raises(sparsec.InputError, match="E0023"):
        tensor.to_scipy()
    assert pickle.loads(pickle.dumps(tensor)).fill_value == np.inf


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("protocol", [2, 5])
def test_pickles(rng, format, protocol):
    tensor = sparsec.asarray(matrix(rng)).convert(format)
    again = pickle.loads(pickle.dumps(tensor, protocol=protocol))
    assert again._stored.format == tensor._stored.format
    np.testing.assert_array_equal(again.to_numpy(), tensor.to_numpy())


def test_pickles_with_arrays_out_of_band(rng):
    tensor = sparsec.asarray(sp.csr_array(matrix(rng)))
    buffers = []
    data = pickle.dumps(tensor, protocol=5, buffer_callback=buffers.append)
    assert len(buffers) == 3
    again = pickle.loads(data, buffers=buffers)
    np.testing.assert_array_equal(again.to_numpy(), tensor.to_numpy())


def test_copies(rng):
    given = sp.csr_array(matrix(rng))
    tensor = sparsec.asarray(given)
    for again in (tensor.copy(), copy.copy(tensor), copy.deepcopy(tensor)):
        assert not np.shares_memory(again.buffers["vals"], given.data)
        np.testing.assert_array_equal(again.to_numpy(), given.toarray())


def test_arrays_given_back_share_memory_unless_copied(rng):
    tensor = sparsec.asarray(matrix(rng), format="csr")
    shared, own = tensor.to_scipy(), tensor.to_scipy(copy=True)
    assert np.shares_memory(shared.data, tensor.buffers["vals"])
    own.data[0] = 100
    assert tensor.to_scipy().data[0] != 100
    assert tensor.to_numpy().flags.writeable
    dense = sparsec.asarray(matrix(rng), copy=True)
    assert not dense.to_numpy().flags.writeable and dense.to_numpy(copy=True).flags.writeable


def test_large_shapes_of_few_entries():
    extent = 2**20
    coords = [[7, 0, extent - 1, 7], [0, 5, 3, 0], [3, 3, 3, 3], [1, 2, extent - 1, 0]]
    tensor = sparsec.from_coo(coords, [1.0, 2.0, 3.0, 4.0], shape=(extent,) * 4)
    assert tensor.nnz == 4 and tensor.size == extent**4
    assert tensor[7, 0, 3, 1] == 1.0 and tensor[8, 0, 3, 1] == 0.0
    twice = sparsec.evaluate("B(i,j,k,l) = A(i,j,k,l) + A(i,j,k,l)", A=tensor)
    assert twice.nnz == 4 and twice.sum().item() == 20.0
    with pytest.raises(sparsec.OutOfMemoryError):
        tensor.to_numpy()
    with pytest.raises(MemoryError):
        tensor.convert("dense")


@pytest.mark.parametrize("end", ["mtx", "mtx.gz", "tns", "npz", "h5"])
def test_files(rng, tmp_path, end):
    dense = matrix(rng)
    dense[-1, :] = 0
    path = tmp_path / f"a.{end}"
    sparsec.write(path, sparsec.asarray(dense, format="csr"))
    again = sparsec.read(path)
    assert again.format == "csr" and again.dtype == np.float64
    np.testing.assert_array_equal(again.to_numpy(), dense)
    assert sparsec.read(path, format="csc", dtype=np.float32).dtype == np.float32


def test_files_of_scipy(rng, tmp_path):
    given = sp.csr_array(matrix(rng))
    sp.save_npz(tmp_path / "a.npz", given)
    np.testing.assert_array_equal(sparsec.read(tmp_path / "a.npz").to_numpy(), given.toarray())
    sparsec.write(tmp_path / "b.npz", given)
    np.testing.assert_array_equal(sp.load_npz(tmp_path / "b.npz").toarray(), given.toarray())


def test_representation(rng):
    assert repr(sparsec.asarray([[0, 7], [8, 0]], format="csr")) == (
        "<sparsec.Tensor i64[2, 2], csr, 2 stored\n  (0, 1)  7\n  (1, 0)  8>"
    )
    large = sparsec.from_coo([range(1000), range(1000)], 1.0, shape=(10**6, 10**6))
    assert len(repr(large).splitlines()) == 8
    assert repr(sparsec.from_coo([[], []], np.zeros(0), shape=(2, 2))).startswith("<sparsec.Tensor")


def test_tensors_are_freed_on_threads(rng):
    given = sp.csr_array(matrix(rng))
    held = [sparsec.asarray(given)]
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    gc.collect()
    given.indices[0] = given.indices[0]

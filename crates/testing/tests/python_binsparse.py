"""What python_binsparse.rs asks of h5py and the binsparse package.
Usage: python_binsparse.py TASK FOLDER

make   saves tensors as Binsparse in every format, type and container, and by hand in
       every way that HDF5 has, each with the dense array that it stands for, `x.npy`
check  loads each `x.bsp.h5` and `x.bsp.npz` and compares it with `x.npy`

Exits with 77 where h5py or binsparse is missing.
"""

import itertools
import json
import pathlib
import sys

try:
    import binsparse as bsp
    import h5py
except ImportError:
    sys.exit(77)
import numpy as np
import scipy.sparse as sp

DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128"


def some(random, dtype, n):
    """n distinct-looking values, none of them zero."""
    numbers = random.integers(1, 100, n)
    if dtype == "bool":
        return numbers > 0
    return (numbers * (1 + 1j if dtype.startswith("complex") else 1)).astype(dtype)


def tensors(random, dtype):
    """Binsparse tensors by name, with the dense arrays that they stand for."""
    dense = np.zeros((6, 7), dtype)
    places = random.choice(dense.size, 11, replace=False)
    dense.flat[places] = some(random, dtype, 11)
    coo = sp.coo_array(dense)
    row, column = coo.coords
    common = {"shape": dense.shape, "number_of_stored_values": coo.nnz}
    for name, matrix, cls in [
        ("csr", sp.csr_array(dense), bsp.CSRMatrix),
        ("csc", sp.csc_array(dense), bsp.CSCMatrix),
    ]:
        yield name, dense, cls(
            **common, pointers_to_1=matrix.indptr, indices_1=matrix.indices, values=matrix.data
        )
    by_column = np.lexsort((row, column))
    yield "coor", dense, bsp.COORMatrix(**common, indices_0=row, indices_1=column, values=coo.data)
    yield "cooc", dense, bsp.COOCMatrix(
        **common,
        indices_0=column[by_column],
        indices_1=row[by_column],
        values=coo.data[by_column],
    )
    for name, matrix, cls in [
        ("dcsr", sp.csr_array(dense), bsp.DCSRMatrix),
        ("dcsc", sp.csc_array(dense), bsp.DCSCMatrix),
    ]:
        counts = np.diff(matrix.indptr)
        kept = np.flatnonzero(counts)
        yield name, dense, cls(
            **common,
            indices_0=kept,
            pointers_to_1=np.concatenate([[0], np.cumsum(counts[kept])]),
            indices_1=matrix.indices,
            values=matrix.data,
        )
    full = {"shape": dense.shape, "number_of_stored_values": dense.size}
    yield "dmatr", dense, bsp.DMATRMatrix(**full, values=dense.ravel())
    yield "dmatc", dense, bsp.DMATCMatrix(**full, values=dense.ravel(order="F"))
    line = dense[np.flatnonzero(dense.any(axis=1))[0]]
    at = np.flatnonzero(line)
    yield "dvec", line, bsp.DVECVector(line.shape, line.size, values=line)
    yield "cvec", line, bsp.CVECVector(line.shape, at.size, indices_0=at, values=line[at])
    filled = np.where(dense == 0, some(random, dtype, 1)[0], dense)
    yield "filled", filled, bsp.COORMatrix(
        **common,
        fill=True,
        fill_value=filled[dense == 0][0],
        indices_0=row,
        indices_1=column,
        values=coo.data,
    )
    same = np.where(dense == 0, dense, some(random, dtype, 1)[0])
    yield "iso", same, bsp.COORMatrix(
        **common,
        indices_0=row,
        indices_1=column,
        values=np.broadcast_to(same[row[0], column[0]], row.shape),
    )
    cube = np.zeros((3, 4, 5), dtype)
    cube[2, 1, 4], cube[0, 3, 4], cube[0, 0, 1] = some(random, dtype, 3)
    # Modes 2, 0, 1: a dense level, then pairs.
    k, i, j = np.nonzero(cube.transpose(2, 0, 1))
    yield "custom", cube, bsp.CustomTensor(
        cube.shape,
        3,
        level=bsp.DenseLevel(
            1,
            bsp.SparseLevel(
                2,
                bsp.ElementLevel(cube[i, j, k]),
                (i, j),
                np.searchsorted(k, np.arange(6)),
            ),
        ),
        transpose=(2, 0, 1),
    )


def in_every_way(folder, random):
    """One matrix in the layouts, attributes and byte orders that HDF5 has."""
    matrix = sp.random_array((50, 40), density=0.1, format="csr", rng=random)
    header = {
        "version": "0.1",
        "format": "CSR",
        "shape": matrix.shape,
        "number_of_stored_values": int(matrix.nnz),
        "data_types": {"pointers_to_1": "uint64", "indices_1": "uint64", "values": "float64"},
    }
    text = json.dumps({"binsparse": header, "author": "ünknown"})
    ascii_text = json.dumps({"binsparse": header})
    fixed = h5py.string_dtype("utf-8", len(text.encode()) + 3)

    def save(name, order="<", attribute=text, kind=None, group="/", open_as=None, **layout):
        path = folder / f"{name}.h5"
        with h5py.File(path, "w", **(open_as or {})) as file:
            inside = file.require_group(group)
            inside.attrs.create("binsparse", attribute, dtype=kind)
            arrays = matrix.indptr, matrix.indices, matrix.data
            for key, array, kind in zip(header["data_types"], arrays, ("u8", "u8", "f8")):
                inside.create_dataset(key, data=array.astype(order + kind), **layout)
        np.save(folder / f"{name}.npy", matrix.toarray())

    save("attribute_variable")
    save("attribute_fixed", kind=fixed)
    save("attribute_bytes", attribute=np.bytes_(ascii_text))
    save("attribute_ascii", attribute=ascii_text, kind=h5py.string_dtype("ascii"))
    save("group", group="matrix")
    save("big_endian", order=">")
    save("chunked", chunks=(16,))
    save("deflated", chunks=(17,), compression="gzip", shuffle=True, fletcher32=True)
    save("lzf", chunks=(16,), compression="lzf")
    save("resizable", chunks=(1000,), maxshape=(None,))
    save("latest", open_as={"libver": "latest"})
    save("latest_deflated", open_as={"libver": "latest"}, chunks=(16,), compression="gzip")
    save("user_block", open_as={"userblock_size": 512})


def make(folder):
    random = np.random.default_rng(7)
    for dtype in DTYPES.split():
        for name, dense, tensor in tensors(random, dtype):
            for ending, alias in itertools.product(("npz", "h5", "hdf5"), (None, False)):
                stem = f"{name}_{dtype}_{ending}_{'tree' if alias is False else 'name'}"
                bsp.save_binsparse(tensor, folder / f"{stem}.{ending}", alias=alias)
                np.save(folder / f"{stem}.npy", dense)
    in_every_way(folder, random)


def expanded(tensor):
    """The dense array of a tensor, whose tree is walked as the standard says."""
    order = len(tensor.shape)
    modes = tensor.transpose or tuple(range(order))
    shape = [tensor.shape[mode] for mode in modes]
    values = None
    entries = []

    def walk(level, at, depth, coords):
        nonlocal values
        if isinstance(level, bsp.ElementLevel):
            values = level.values
            entries.append((coords, level.values[at]))
        elif isinstance(level, bsp.DenseLevel):
            inner = shape[depth : depth + level.rank]
            for number, tuple_ in enumerate(np.ndindex(*inner)):
                position = at * int(np.prod(inner)) + number
                walk(level.level, position, depth + level.rank, coords + tuple_)
        else:
            pos = level.pointers_to_next
            start, end = (0, len(level.indices[0])) if pos is None else (pos[at], pos[at + 1])
            for position in range(start, end):
                tuple_ = tuple(int(crd[position]) for crd in level.indices)
                walk(level.level, position, depth + level.rank, coords + tuple_)

    walk(tensor.level, 0, 0, ())
    if values is None:
        return None
    dense = np.full(shape, tensor.fill_value if tensor.fill else 0, values.dtype)
    for coords, value in entries:
        dense[coords] = value
    return dense.transpose(np.argsort(modes)) if order else dense


def check(folder):
    paths = sorted([*folder.glob("*.bsp.h5"), *folder.glob("*.bsp.npz")])
    for path in paths:
        named = bsp.load_binsparse(path)
        found = expanded(bsp.load_binsparse(path, alias=False))
        expect = np.load(folder / (path.name.split(".")[0] + ".npy"))
        if found is None:
            assert not expect.any(), path
            continue
        assert found.dtype == expect.dtype, (path, found.dtype, expect.dtype)
        assert found.tobytes() == expect.tobytes(), (path, found, expect)
        print(named.format, path.name)


{"make": make, "check": check}[sys.argv[1]](pathlib.Path(sys.argv[2]))

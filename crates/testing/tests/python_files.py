"""What python_files.rs asks of NumPy and SciPy. Usage: python_files.py TASK FOLDER

resave   loads each sparse `x.npz`, checks it, and saves it as `x.out.npz`
arrays   loads each `x.npy` and saves it as `x.out.npy`, C-ordered, big-endian
make     saves sparse matrices in every format and dtype, `x.npz`, each with the
         dense array that it stands for, `x.npy`
members  prints what a `tensor.npz` has, one member a line
"""

import json
import pathlib
import sys

import numpy as np
import scipy.sparse as sp

DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128"


def resave(folder):
    for path in sorted(folder.glob("*.npz")):
        matrix = sp.load_npz(path)
        if matrix.format in ("csr", "csc"):
            matrix.check_format(full_check=True)
        sp.save_npz(path.with_suffix(".out.npz"), matrix)


def arrays(folder):
    for path in sorted(folder.glob("*.npy")):
        array = np.load(path)
        np.save(path.with_suffix(".out.npy"), array.astype(array.dtype.newbyteorder(">"), order="C"))


def make(folder):
    random = np.random.default_rng(7)
    made = {}

    def values(dtype, n):
        numbers = random.integers(1, 100, n)
        return (numbers % 2 == 1) if dtype == "bool" else numbers.astype(dtype)

    def save(name, sparse, dense=None, **options):
        sp.save_npz(folder / f"{name}.npz", sparse, **options)
        np.save(folder / f"{name}.npy", sparse.toarray() if dense is None else dense)
        made[name] = sparse

    for dtype in DTYPES.split():
        n = 17
        places = random.choice(8 * 12, n, replace=False)
        row, col = np.divmod(places, 12)
        coo = sp.coo_array((values(dtype, n), (row, col)), shape=(8, 12))
        for format in ("csr", "csc", "coo", "bsr", "dia"):
            sparse = coo.tobsr(blocksize=(2, 3)) if format == "bsr" else coo.asformat(format)
            save(f"{format}-{dtype}", sparse, compressed=format != "csc")
    # Matrices rather than arrays, and wide indices.
    matrix = sp.csr_matrix(made["csr-float64"])
    save("matrix", matrix)
    matrix.indices = matrix.indices.astype(np.int64)
    matrix.indptr = matrix.indptr.astype(np.int64)
    save("wide", matrix)
    # Rows out of order, with an entry twice and room for more.
    unsorted = sp.csr_array(
        (np.array([1.0, 2, 4, 8, 16]), np.array([2, 0, 2, 1, 0]), np.array([0, 3, 3, 5])), shape=(3, 3)
    )
    save("unsorted", unsorted)
    # Stored zeros, and matrices without entries or without rows.
    save("zeros", sp.csr_array((np.zeros(3), np.array([0, 1, 2]), np.array([0, 1, 2, 3])), shape=(3, 3)))
    save("empty", sp.csr_array((5, 4)))
    save("none", sp.csc_array((0, 4)), dense=np.zeros((0, 4)))
    # Diagonals that are shorter and longer than the matrix is wide.
    for width in (2, 5, 9):
        data = np.arange(1.0, 1 + 4 * width).reshape(4, width)
        save(f"dia-{width}", sp.dia_array((data, [-3, 0, 2, 4]), shape=(4, 5)))
    save("bsr-1x1", made["csr-int32"].tobsr(blocksize=(1, 1)))
    # Other orders than 2, where this SciPy has them.
    try:
        save("coo-1", sp.coo_array(np.array([0, 3, 0, 5])))
        cube = np.zeros((2, 3, 4))
        cube[1, 2, 3], cube[0, 1, 2], cube[1, 0, 0] = 1, 2, 3
        save("coo-3", sp.coo_array(cube))
        save("csr-1", sp.csr_array(np.array([0, 3, 0, 5])))
    except (TypeError, ValueError, NotImplementedError) as error:
        print("skipped:", error)


def members(folder):
    with np.load(folder / "tensor.npz", allow_pickle=False) as loaded:
        for name in loaded.files:
            member = loaded[name]
            if name == "sparsec":
                member = json.loads(member.item())
                print(name, member["version"], member["format"], member["extents"], member["element"])
            else:
                print(name, member.dtype, member.tolist())


if __name__ == "__main__":
    task, folder = sys.argv[1:]
    globals()[task](pathlib.Path(folder))

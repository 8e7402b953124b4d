"""The other sides of `sparsec bench convert`: SciPy, MKL, C by hand, and a paper's method in C.

Takes one JSON object a line and answers with one. A matrix is loaded once, as sorted and
as unsorted entries; a conversion is prepared, which compares its result with SciPy's rows
of the same entries, and then run and timed. MKL and the C write into arrays that are
there, SciPy allocates.
"""

import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time


def pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p)


def compiled(variable):
    """The C in a variable as a library, with the flags that kernels are compiled with."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = f"{folder}/conversions.c", f"{folder}/conversions.so"
        with open(source, "w") as file:
            file.write(os.environ[variable])
        flags = ["-O3", "-march=native", "-fno-loop-unroll-and-jam", "-fwrapv"]
        command = ["cc", *flags, "-shared", "-fPIC", "-o", library, source]
        subprocess.run(command, check=True, capture_output=True)
        return ctypes.CDLL(library)


class Scipy:
    """Methods of SciPy's sparse arrays."""

    def __init__(self, numpy, scipy):
        self.version = f"SciPy {scipy.__version__}"
        self.allocates = True

    def prepare(self, source, wanted, block, matrices):
        matrix = matrices[source]
        if wanted.startswith("bsr") and any(extent % block for extent in matrix.shape):
            raise KeyError("whole blocks")

        def blocks():
            made = matrix.tobsr((block, block))
            return in_order(made)

        runs = {
            "csr": lambda: matrix.tocsr(),
            "csc": lambda: matrix.tocsc(),
            "scoo": lambda: matrix.tocoo(),
            "dia": lambda: matrix.todia(),
            f"bsr({block}, {block})": blocks,
        }

        def as_rows(made):
            # Blocks and diagonals have places without an entry.
            rows = made.tocsr(copy=True)
            rows.eliminate_zeros()
            return rows

        return runs[wanted], as_rows


def in_order(made):
    """The blocks of each row by column, as `bsr` has them; libraries leave them as found."""
    made.sort_indices()
    return made


class Mkl:
    """Legacy converters of oneMKL."""

    def __init__(self, numpy, scipy):
        import glob

        self.numpy, self.scipy = numpy, scipy
        self.allocates = False
        names = ["libmkl_rt.so.2", *glob.glob(os.path.join(sys.prefix, "lib", "libmkl_rt.so*"))]
        for name in names:
            try:
                library = ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
                break
            except OSError as error:
                missing = error
        else:
            raise ImportError(str(missing))
        text = ctypes.create_string_buffer(200)
        library.mkl_get_version_string(text, 200)
        words = text.value.decode().split()
        self.version = "MKL " + next((word for word in words if word[:4].isdigit()), "?")
        self.coo, self.csc = library.mkl_dcsrcoo, library.mkl_dcsrcsc
        self.dia, self.bsr = library.mkl_dcsrdia, library.mkl_dcsrbsr

    def job(self, *numbers):
        return (ctypes.c_int * 8)(*numbers)

    def prepare(self, source, wanted, block, matrices):
        np, sparse = self.numpy, self.scipy.sparse
        matrix = matrices[source]
        n, columns = matrix.shape
        if n != columns:
            raise KeyError("square matrices")
        nz = matrix.nnz
        csr = matrices["csr"]
        number = lambda value: ctypes.byref(ctypes.c_int(value))
        info = ctypes.c_int()
        pos = np.zeros(n + 1, np.int32)
        crd, val = np.zeros(nz, np.int32), np.zeros(nz)
        rows = (pointer(val), pointer(crd), pointer(pos))

        def listed(order):
            job = self.job(order, 0, 0, 0, nz, 0, 0, 0)
            coo = [pointer(matrix.data), pointer(matrix.row), pointer(matrix.col)]
            return lambda: self.coo(job, number(n), *rows, number(nz), *coo, ctypes.byref(info))

        def check():
            if info.value != 0:
                raise RuntimeError(f"MKL answers {info.value}")

        def as_rows(_):
            check()
            made = sparse.csr_array((val, crd, pos), shape=matrix.shape)
            made.sort_indices()
            return made

        given = (pointer(csr.data), pointer(csr.indices), pointer(csr.indptr))
        if wanted == "csr" and source in ("coo", "scoo"):
            # 2 sorts the columns of each row.
            return listed(1 if source == "scoo" else 2), as_rows
        if wanted == "scoo" and source == "csr":
            row = np.zeros(nz, np.int32)
            job = self.job(0, 0, 0, 0, nz, 3, 0, 0)
            out = (number(nz), pointer(val), pointer(row), pointer(crd), ctypes.byref(info))
            return (
                lambda: self.coo(job, number(n), *given, *out),
                lambda _: sparse.coo_array((val, (row, crd)), shape=matrix.shape).tocsr(),
            )
        if wanted == "csc" and source == "csr":
            job = self.job(0, 0, 0, 0, 0, 1, 0, 0)
            return (
                lambda: self.csc(job, number(n), *given, *rows, ctypes.byref(info)),
                lambda _: sparse.csc_array((val, crd, pos), shape=matrix.shape).tocsr(),
            )
        if wanted == "csr" and source == "csc":
            job = self.job(1, 0, 0, 0, 0, 1, 0, 0)
            csc = (pointer(matrix.data), pointer(matrix.indices), pointer(matrix.indptr))
            return lambda: self.csc(job, number(n), *rows, *csc, ctypes.byref(info)), as_rows
        to_rows = listed(1) if source == "scoo" else lambda: None
        middle = rows if source == "scoo" else given
        if wanted == "csc" and source == "scoo":
            ccrd, cval, cpos = np.zeros(nz, np.int32), np.zeros(nz), np.zeros(n + 1, np.int32)
            job = self.job(0, 0, 0, 0, 0, 1, 0, 0)
            out = (pointer(cval), pointer(ccrd), pointer(cpos))

            def run():
                to_rows()
                self.csc(job, number(n), *middle, *out, ctypes.byref(info))

            return run, lambda _: sparse.csc_array((cval, ccrd, cpos), shape=matrix.shape).tocsr()
        if wanted == "dia" and source in ("csr", "scoo"):
            offsets = np.unique(csr.indices - np.repeat(np.arange(n), np.diff(csr.indptr)))
            found = len(offsets)
            distance = np.zeros(found, np.int32)
            diagonals = np.zeros((found, n))
            # 10 finds the diagonals, and keeps nothing else.
            job = self.job(0, 0, 0, 0, 0, 10, 0, 0)
            count = ctypes.c_int(found)
            null = ctypes.c_void_p()

            def run():
                to_rows()
                count.value = found
                self.dia(
                    job, number(n), *middle, pointer(diagonals), number(n), pointer(distance),
                    ctypes.byref(count), null, null, null, ctypes.byref(info),
                )

            def as_rows(_):
                check()
                row = np.arange(n)
                parts = []
                for d, off in enumerate(distance):
                    inside = (row + off >= 0) & (row + off < n)
                    values = diagonals[d][inside]
                    parts.append((row[inside], row[inside] + off, values))
                row, col, data = (np.concatenate([part[at] for part in parts]) for at in range(3))
                is_stored = data != 0
                entries = (data[is_stored], (row[is_stored], col[is_stored]))
                return sparse.coo_array(entries, shape=matrix.shape).tocsr()

            return run, as_rows
        if wanted == f"bsr({block}, {block})" and source in ("csr", "scoo"):
            like = csr.tobsr((block, block)) if n % block == 0 else None
            if like is None:
                raise KeyError("whole blocks")
            bpos, bcrd = np.zeros_like(like.indptr), np.zeros_like(like.indices)
            bval = np.zeros_like(like.data)
            job = self.job(0, 0, 0, 0, 0, 1, 0, 0)
            sides = (number(n), number(block), number(block * block))

            def run():
                to_rows()
                self.bsr(job, *sides, *middle, pointer(bval), pointer(bcrd), pointer(bpos), ctypes.byref(info))
                return in_order(sparse.bsr_array((bval, bcrd, bpos), shape=matrix.shape))

            def as_rows(made):
                check()
                made = made.tocsr()
                made.eliminate_zeros()
                return made

            return run, as_rows
        raise KeyError(wanted)


class ByHand:
    """`kernels/conversions.c`."""

    def __init__(self, numpy, scipy):
        self.numpy, self.scipy = numpy, scipy
        self.allocates = False
        self.version = "C by hand"
        self.library = compiled("SPARSEC_CONVERSIONS")

    def prepare(self, source, wanted, block, matrices):
        np, sparse = self.numpy, self.scipy.sparse
        if wanted.startswith("mcoo"):
            # Tensors alone: matrices are SciPy's.
            given = matrices[source]
            if sparse.issparse(given):
                raise KeyError(wanted)
            return self.morton(given)
        matrix = matrices[source]
        n, columns = map(int, matrix.shape)
        nz = int(matrix.nnz)
        library = self.library
        crd, val = np.zeros(nz, np.int32), np.zeros(nz)
        shape = matrix.shape
        if source in ("coo", "scoo"):
            given = (pointer(matrix.row), pointer(matrix.col), pointer(matrix.data))
        else:
            given = (pointer(matrix.indptr), pointer(matrix.indices), pointer(matrix.data))
        if source == "scoo" and wanted == "csr":
            pos = np.zeros(n + 1, np.int32)
            out = (pointer(pos), pointer(crd), pointer(val))
            return (
                lambda: library.coo_csr(n, nz, *given, *out),
                lambda _: sparse.csr_array((val, crd, pos), shape=shape),
            )
        if source == "scoo" and wanted == "csc":
            pos = np.zeros(columns + 1, np.int32)
            given = (pointer(matrix.col), pointer(matrix.row), pointer(matrix.data))
            out = (pointer(pos), pointer(crd), pointer(val))
            return (
                lambda: library.coo_scatter(columns, nz, *given, *out),
                lambda _: sparse.csc_array((val, crd, pos), shape=shape).tocsr(),
            )
        if source == "coo" and wanted == "csr":
            # To columns, then to rows: both scatters are stable.
            cpos, ccrd, cval = np.zeros(columns + 1, np.int32), np.zeros(nz, np.int32), np.zeros(nz)
            pos = np.zeros(n + 1, np.int32)
            turned = (pointer(matrix.col), pointer(matrix.row), pointer(matrix.data))
            middle = (pointer(cpos), pointer(ccrd), pointer(cval))
            out = (pointer(pos), pointer(crd), pointer(val))

            def run():
                library.coo_scatter(columns, nz, *turned, *middle)
                library.csr_csc(columns, n, *middle, *out)

            return run, lambda _: sparse.csr_array((val, crd, pos), shape=shape)
        if (source, wanted) in (("csr", "csc"), ("csc", "csr")):
            sides = (n, columns) if source == "csr" else (columns, n)
            pos = np.zeros(sides[1] + 1, np.int32)
            out = (pointer(pos), pointer(crd), pointer(val))
            kind = sparse.csc_array if wanted == "csc" else sparse.csr_array
            return (
                lambda: library.csr_csc(*sides, *given, *out),
                lambda _: kind((val, crd, pos), shape=shape).tocsr(),
            )
        if source == "csr" and wanted == "scoo":
            row = np.zeros(nz, np.int32)
            return (
                lambda: library.csr_coo(n, *given, pointer(row), pointer(crd), pointer(val)),
                lambda _: sparse.coo_array((val, (row, crd)), shape=shape).tocsr(),
            )
        if source == "scoo" and wanted == "dia":
            table, offsets = np.zeros(n + columns, np.int32), np.zeros(n + columns, np.int32)
            flags = (pointer(table), pointer(offsets))
            found = library.coo_diagonals(n, columns, nz, *given[:2], *flags)
            diagonals = np.zeros((found, columns))

            def as_rows(_):
                made = sparse.dia_array((diagonals, offsets[:found]), shape=shape).tocsr()
                made.eliminate_zeros()
                return made

            return (
                lambda: library.coo_dia(n, columns, nz, *given, *flags, pointer(diagonals)),
                as_rows,
            )
        if source == "scoo" and wanted == f"bsr({block}, {block})" and n % block == 0:
            like = matrices["csr"].tobsr((block, block))
            bpos, bcrd = np.zeros_like(like.indptr), np.zeros_like(like.indices)
            bval, marks = np.zeros_like(like.data), np.zeros(columns // block, np.int32)
            out = (pointer(marks), pointer(bpos), pointer(bcrd), pointer(bval))

            def as_rows(_):
                made = sparse.bsr_array((bval, bcrd, bpos), shape=shape).tocsr()
                made.eliminate_zeros()
                return made

            return lambda: library.coo_bsr(n, columns, block, nz, *given, *out), as_rows
        raise KeyError(wanted)

    def morton(self, entries):
        np = self.numpy
        modes, data = entries
        nz = len(data)
        bits = max(int(mode.max(initial=0)).bit_length() for mode in modes)
        work = np.zeros(2 * 24 * nz, np.uint8)
        out = [np.zeros(nz, np.int32) for _ in modes] + [np.zeros(nz)]
        given = [pointer(array) for array in (*modes, data)]
        results = [pointer(array) for array in out]
        return (
            lambda: self.library.coo_morton(nz, bits, *given, pointer(work), *results),
            lambda _: out,
        )


class Synthesized:
    """`kernels/synthesized.c`, for the pairs of its paper, and for entries in any order."""

    def __init__(self, numpy, scipy):
        self.numpy, self.scipy = numpy, scipy
        self.allocates = False
        self.version = "SPF inspectors in C"
        self.library = compiled("SPARSEC_SYNTHESIZED")

    def prepare(self, source, wanted, block, matrices):
        np, sparse, library = self.numpy, self.scipy.sparse, self.library
        matrix = matrices[source]
        if not sparse.issparse(matrix):
            if wanted != "mcoo":
                raise KeyError(wanted)
            return self.morton(matrix)
        n, columns = map(int, matrix.shape)
        nz, shape = int(matrix.nnz), matrix.shape
        if wanted == "dia" and source == "scoo":
            given = (pointer(matrix.row), pointer(matrix.col), pointer(matrix.data))
            offsets = np.zeros(n + columns, np.int32)
            found = library.spf_offsets(nz, *given[:2], pointer(offsets))
            places = np.zeros((n, found))

            def as_rows(_):
                rows, at = np.nonzero(places)
                entries = (places[rows, at], (rows, rows + offsets[at]))
                return sparse.coo_array(entries, shape=shape).tocsr()

            out = (pointer(offsets), pointer(places))
            return lambda: library.spf_coo_dia(n, nz, *given, *out), as_rows
        if (source, wanted) not in (("scoo", "csr"), ("coo", "csr"), ("scoo", "csc"), ("csr", "csc")):
            raise KeyError(wanted)
        pos = np.zeros((n if wanted == "csr" else columns) + 1, np.int32)
        crd, val = np.zeros(nz, np.int32), np.zeros(nz)
        out = (pointer(pos), pointer(crd), pointer(val))
        work = np.zeros(2 * 12 * nz, np.uint8)
        data = pointer(matrix.data)
        kind = sparse.csr_array if wanted == "csr" else sparse.csc_array
        as_rows = lambda _: kind((val, crd, pos), shape=shape).tocsr()
        if source == "csr":
            given = (pointer(matrix.indptr), pointer(matrix.indices), data)
            return lambda: library.spf_csr_csc(n, columns, *given, pointer(work), *out), as_rows
        row, col = pointer(matrix.row), pointer(matrix.col)
        if (source, wanted) == ("scoo", "csr"):
            return lambda: library.spf_scoo_csr(n, nz, row, col, data, *out), as_rows
        sides = (n, columns, nz, row, col) if wanted == "csr" else (columns, n, nz, col, row)
        return lambda: library.spf_coo_segments(*sides, data, pointer(work), *out), as_rows

    def morton(self, entries):
        np = self.numpy
        modes, data = entries
        nz = len(data)
        work = np.zeros(2 * 20 * nz, np.uint8)
        out = [np.zeros(nz, np.int32) for _ in modes] + [np.zeros(nz)]
        given = [pointer(array) for array in (*modes, data)]
        results = [pointer(array) for array in out]
        return (
            lambda: self.library.spf_coo_morton(nz, *given, pointer(work), *results),
            lambda _: out,
        )


ENGINES = {"scipy": Scipy, "mkl": Mkl, "c": ByHand, "spf": Synthesized}


def same(made, rows):
    """Whether a result has SciPy's rows; zeros that are stored count as entries of none."""
    import numpy as np

    made.sort_indices()
    pairs = ((made.indptr, rows.indptr), (made.indices, rows.indices), (made.data, rows.data))
    return all(np.array_equal(a, b) for a, b in pairs)


def main():
    try:
        import numpy as np
        import scipy
        import scipy.sparse
    except ImportError as error:
        print(json.dumps({"error": str(error)}), flush=True)
        return
    engines, versions, missing = {}, {}, {}
    for name, engine in ENGINES.items():
        try:
            engines[name] = engine(np, scipy)
            versions[name] = engines[name].version
        except Exception as error:  # Whatever it is, the others go on.
            missing[name] = f"{type(error).__name__}: {error}".splitlines()[0]
    print(json.dumps({"versions": versions, "missing": missing}), flush=True)
    matrices, ready = {}, None
    for line in sys.stdin:
        request = json.loads(line)
        answer = {}
        match request["do"]:
            case "load":
                ready = None
                matrices = {}
                shape = tuple(request["extents"])
                for name, paths in request["lists"].items():
                    modes = [np.load(path) for path in paths[:-1]]
                    data = np.load(paths[-1])
                    if len(shape) == 2:
                        matrices[name] = scipy.sparse.coo_array((data, tuple(modes)), shape=shape)
                    else:
                        matrices[name] = modes, data
                if len(shape) == 2:
                    matrices["csr"] = matrices["scoo"].tocsr()
                    matrices["csc"] = matrices["scoo"].tocsc()
            case "prepare":
                ready = None
                try:
                    engine = engines[request["engine"]]
                    source, wanted = request["from"], request["to"]
                    ready = engine.prepare(source, wanted, request["block"], matrices)
                    made = ready[1](ready[0]())
                    answer["allocates"] = engine.allocates
                    if isinstance(made, list):
                        for at, array in enumerate(made):
                            np.save(f"{request['save']}/{at}.npy", array)
                        answer["saved"] = len(made)
                    else:
                        answer["right"] = same(made, matrices["csr"])
                        if request["engine"] == "scipy" and wanted in ("csr", "csc"):
                            made = matrices[wanted]
                            for at, name in enumerate(("indptr", "indices", "data")):
                                np.save(f"{request['save']}/{at}.npy", getattr(made, name))
                            answer["saved"] = 3
                    del made
                except (KeyError, AttributeError) as error:
                    answer["absent"] = str(error)
            case "run":
                start = time.perf_counter()
                made = ready[0]()
                answer["seconds"] = time.perf_counter() - start
                del made
        print(json.dumps(answer), flush=True)


main()

"""Other libraries' side of `sparsec bench kernels`.

Takes one JSON object a line and answers with one. Operands are loaded once; a
kernel is run as a user of the library would write it, and timed without what
comes before and after. Results are saved when that is asked for.
"""

import ctypes
import json
import sys
import time


class Scipy:
    """Operators of SciPy's sparse arrays, which allocate their results."""

    def __init__(self):
        import scipy.sparse

        self.version = f"SciPy {scipy.__version__}"
        self.kernels = {
            "spmv": lambda A, x: A @ x,
            "residual": lambda A, b, x: b - A @ x,
            "spmm": lambda A, B: A @ B,
            "add": lambda A, B: A + B,
            "add3": lambda A, B, C: A + B + C,
            "spgemm": self.spgemm,
        }

    @staticmethod
    def spgemm(A, B):
        product = A @ B
        product.sort_indices()
        return product

    def prepare(self, kernel, operands):
        run = self.kernels[kernel]
        arguments = [operands[name] for name in run.__code__.co_varnames[: run.__code__.co_argcount]]
        return lambda: run(*arguments), lambda result: result, lambda result: None


class Mkl:
    """Inspector-executor routines of oneMKL; dense results are given."""

    class Descriptor(ctypes.Structure):
        _fields_ = [("type", ctypes.c_int), ("mode", ctypes.c_int), ("diag", ctypes.c_int)]

    def __init__(self):
        import glob
        import os

        names = ["libmkl_rt.so.2", *glob.glob(os.path.join(sys.prefix, "lib", "libmkl_rt.so*"))]
        self.library = None
        for name in names:
            try:
                self.library = ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
                break
            except OSError as error:
                missing = error
        if self.library is None:
            raise ImportError(str(missing))
        text = ctypes.create_string_buffer(200)
        self.library.mkl_get_version_string(text, 200)
        words = text.value.decode().split()
        self.version = "MKL " + next((word for word in words if word[:4].isdigit()), "?")
        self.general = self.Descriptor(20, 0, 0)
        self.handles = {}

    def check(self, status):
        if status != 0:
            raise RuntimeError(f"MKL answers {status}")

    def pointer(self, array):
        return array.ctypes.data_as(ctypes.c_void_p)

    def handle(self, matrix):
        """The matrix as MKL's, over the same arrays."""
        key = id(matrix)
        if key not in self.handles:
            handle = ctypes.c_void_p()
            pos = matrix.indptr
            self.check(
                self.library.mkl_sparse_d_create_csr(
                    ctypes.byref(handle), 0, *map(ctypes.c_int, matrix.shape), self.pointer(pos),
                    self.pointer(pos[1:]), self.pointer(matrix.indices), self.pointer(matrix.data),
                )
            )
            self.handles[key] = handle, matrix
        return self.handles[key][0]

    def optimized(self, matrix, calls, hint):
        handle = self.handle(matrix)
        hint(handle, ctypes.c_int(10), self.general, calls)
        self.check(self.library.mkl_sparse_optimize(handle))
        return handle

    def prepare(self, kernel, operands):
        import numpy as np

        one, zero = ctypes.c_double(1.0), ctypes.c_double(0.0)
        library = self.library
        if kernel in ("spmv", "residual"):
            A, x = operands["A"], operands["x"]
            handle = self.optimized(A, 1000, library.mkl_sparse_set_mv_hint)
            y = np.zeros(A.shape[0])
            if kernel == "spmv":
                scale, begin = one, zero
                start = lambda: None
            else:
                scale, begin = ctypes.c_double(-1.0), one
                start = lambda: np.copyto(y, operands["b"])

            def run():
                start()
                self.check(
                    library.mkl_sparse_d_mv(
                        10, scale, handle, self.general, self.pointer(x), begin, self.pointer(y)
                    )
                )
                return y

            return run, lambda y: y, lambda y: None
        if kernel == "spmm":
            A, B = operands["A"], operands["B"]
            columns = B.shape[1]
            handle = self.handle(A)
            C = np.zeros((A.shape[0], columns))

            def run():
                self.check(
                    library.mkl_sparse_d_mm(
                        10, one, handle, self.general, 101, self.pointer(B), columns, columns, zero,
                        self.pointer(C), columns,
                    )
                )
                return C

            return run, lambda C: C, lambda C: None
        if kernel in ("spgemm", "add"):
            left, right = self.handle(operands["A"]), self.handle(operands["B"])

            def run():
                result = ctypes.c_void_p()
                if kernel == "add":
                    status = library.mkl_sparse_d_add(10, left, one, right, ctypes.byref(result))
                else:
                    status = library.mkl_sparse_spmm(10, left, right, ctypes.byref(result))
                self.check(status)
                self.check(library.mkl_sparse_order(result))
                return result

            return run, self.matrix, lambda result: library.mkl_sparse_destroy(result)
        raise KeyError(kernel)

    def matrix(self, handle):
        """MKL's matrix as SciPy's."""
        import numpy as np
        import scipy.sparse

        indexing, rows, columns = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        begin, end, crd = (ctypes.POINTER(ctypes.c_int)() for _ in range(3))
        values = ctypes.POINTER(ctypes.c_double)()
        fields = (indexing, rows, columns, begin, end, crd, values)
        self.check(self.library.mkl_sparse_d_export_csr(handle, *map(ctypes.byref, fields)))
        n = rows.value
        count = end[n - 1] if n else 0
        pos = np.zeros(n + 1, dtype=np.int32)
        pos[1:] = np.ctypeslib.as_array(end, (n,))
        arrays = (np.ctypeslib.as_array(values, (count,)), np.ctypeslib.as_array(crd, (count,)), pos)
        return scipy.sparse.csr_array(arrays, shape=(n, columns.value)).copy()


class GraphBlas:
    """SuiteSparse:GraphBLAS through python-graphblas, results in new objects."""

    def __init__(self):
        import os

        import graphblas

        graphblas.init("suitesparse", blocking=True)
        graphblas.ss.config["nthreads"] = int(os.environ["OMP_NUM_THREADS"])
        self.graphblas = graphblas
        about = graphblas.ss.about["library_version"]
        self.version = "GraphBLAS " + ".".join(map(str, about))
        self.held = {}

    def hold(self, name, value):
        key = name, id(value)
        if key not in self.held:
            graphblas = self.graphblas
            if hasattr(value, "indptr"):
                held = graphblas.io.from_scipy_sparse(value)
            elif value.ndim == 1:
                held = graphblas.Vector.from_dense(value)
            else:
                held = graphblas.Matrix.from_dense(value)
            self.held[key] = held, value
        return self.held[key][0]

    def prepare(self, kernel, operands):
        held = {name: self.hold(name, value) for name, value in operands.items()}
        plus = self.graphblas.binary.plus
        runs = {
            "spmv": lambda: held["A"].mxv(held["x"]).new(),
            "add": lambda: held["A"].ewise_add(held["B"], plus).new(),
            "spgemm": lambda: self.sorted(held["A"].mxm(held["B"]).new()),
            "sddmm": lambda: self.sampled(**held),
        }
        return runs[kernel], self.plain, lambda result: None

    def sorted(self, matrix):
        # Otherwise columns are sorted by who reads them first.
        matrix.wait("materialize")
        return matrix

    def sampled(self, B, C, D):
        inner = C.mxm(D.T).new(mask=B.S)
        return B.ewise_mult(inner, self.graphblas.binary.times).new()

    def plain(self, result):
        if hasattr(result, "nrows"):
            return self.graphblas.io.to_scipy_sparse(result, "csr")
        return result.to_dense(fill_value=0.0)


ENGINES = {"scipy": Scipy, "mkl": Mkl, "graphblas": GraphBlas}


def main():
    try:
        import numpy as np
        import scipy.sparse
    except ImportError as error:
        print(json.dumps({"error": str(error)}), flush=True)
        return
    engines, versions, missing = {}, {}, {}
    for name, engine in ENGINES.items():
        try:
            engines[name] = engine()
            versions[name] = engines[name].version
        except Exception as error:  # Whatever it is, the others go on.
            missing[name] = f"{type(error).__name__}: {error}".splitlines()[0]
    print(json.dumps({"versions": versions, "missing": missing}), flush=True)
    operands, ready = {}, None
    for line in sys.stdin:
        request = json.loads(line)
        answer = {}
        match request["do"]:
            case "load":
                operands = {}
                for name, path in request["operands"].items():
                    if path.endswith(".npz"):
                        operands[name] = scipy.sparse.load_npz(path)
                    else:
                        operands[name] = np.load(path)
            case "prepare":
                try:
                    ready = engines[request["engine"]].prepare(request["kernel"], operands)
                    result = ready[0]()
                    plain = ready[1](result)
                    if hasattr(plain, "indptr"):
                        plain.sort_indices()
                        scipy.sparse.save_npz(request["save"] + ".npz", plain, compressed=False)
                        answer["saved"] = request["save"] + ".npz"
                    else:
                        np.save(request["save"] + ".npy", plain)
                        answer["saved"] = request["save"] + ".npy"
                    ready[2](result)
                except (KeyError, AttributeError) as error:
                    answer["absent"] = str(error)
            case "run":
                run, _, release = ready
                start = time.perf_counter()
                result = run()
                answer["seconds"] = time.perf_counter() - start
                release(result)
                del result
        print(json.dumps(answer), flush=True)


main()

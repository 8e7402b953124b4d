"""SciPy's side of `sparsec bench io`.

Takes one JSON object a line and answers with one: what was asked for was done,
and how many seconds that took, without what comes before and after.
"""

import json
import sys
import time


def checksum(coo, np):
    """Order does not matter: entries are mixed to words that are added up."""
    mixed = coo.row.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed += coo.col.astype(np.uint64) * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed ^= coo.data.view(np.uint64)
    mixed ^= mixed >> np.uint64(29)
    return int(mixed.sum(dtype=np.uint64))


def main():
    try:
        import numpy as np
        import scipy
        import scipy.io
        import scipy.sparse
        from scipy.io import _fast_matrix_market as fast
    except ImportError as error:
        print(json.dumps({"error": str(error)}), flush=True)
        return
    print(json.dumps({"scipy": scipy.__version__, "numpy": np.__version__}), flush=True)
    triplets = matrix = None
    for line in sys.stdin:
        request = json.loads(line)
        # 0 stands for every processor.
        fast.PARALLELISM = request.get("threads", 0)
        answer = {}
        match request["do"]:
            case "read":
                start = time.perf_counter()
                matrix = scipy.io.mmread(request["path"])
                answer["seconds"] = time.perf_counter() - start
                answer["checksum"] = checksum(matrix, np)
            case "write":
                start = time.perf_counter()
                scipy.io.mmwrite(request["path"], matrix)
                answer["seconds"] = time.perf_counter() - start
            case "load":
                row, col, data = (np.load(request[name]) for name in ("row", "col", "data"))
                shape = (request["n"], request["n"])
                triplets = scipy.sparse.coo_array((data, (row, col)), shape=shape)
            case "pack":
                start = time.perf_counter()
                csr = triplets.tocsr()
                answer["seconds"] = time.perf_counter() - start
                if "save" in request:
                    csr.sort_indices()
                    for name in ("indptr", "indices", "data"):
                        np.save(f"{request['save']}/{name}.npy", getattr(csr, name))
        print(json.dumps(answer), flush=True)


main()

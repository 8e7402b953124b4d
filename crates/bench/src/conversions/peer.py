"""SciPy's side of `sparsec bench convert`.

Takes one JSON object a line and answers with one: what was asked for was done,
and how many seconds that took.
"""

import json
import sys
import time


def main():
    try:
        import numpy as np
        import scipy
        import scipy.sparse
    except ImportError as error:
        print(json.dumps({"error": str(error)}), flush=True)
        return
    print(json.dumps({"scipy": scipy.__version__, "numpy": np.__version__}), flush=True)
    matrices = {}
    convert = {
        "csr": lambda m: m.tocsr(),
        "csc": lambda m: m.tocsc(),
        "coo": lambda m: m.tocoo(),
        "scoo": lambda m: m.tocoo(),
        "dia": lambda m: m.todia(),
        "bsr(4, 4)": lambda m: m.tobsr((4, 4)),
    }
    for line in sys.stdin:
        request = json.loads(line)
        answer = {}
        match request["do"]:
            case "load":
                row, col, data = (np.load(request[name]) for name in ("row", "col", "data"))
                shape = (request["n"], request["n"])
                matrix = scipy.sparse.coo_array((data, (row, col)), shape=shape)
                matrices[request["name"]] = matrix
                if request["name"] == "scoo":
                    matrices["csr"] = matrix.tocsr()
                    matrices["csc"] = matrix.tocsc()
            case "convert":
                make = convert.get(request["to"])
                if make is None:
                    answer["seconds"] = None
                else:
                    matrix = matrices[request["from"]]
                    start = time.perf_counter()
                    made = make(matrix)
                    answer["seconds"] = time.perf_counter() - start
                    answer["nnz"] = int(made.nnz)
                    if "save" in request and request["to"] in ("csr", "csc"):
                        made.sort_indices()
                        for name in ("indptr", "indices", "data"):
                            np.save(f"{request['save']}/{name}.npy", getattr(made, name))
                    del made
        print(json.dumps(answer), flush=True)


main()

"""Times of sparsec beside SciPy, in one run: ``python -m sparsec.bench``; on clusters of Dask:
``python -m sparsec.bench dask``.

Each result is compared with SciPy's before it is timed. Times are the least of several runs, taken
in turn, so that both meet the same machine. Ratios are SciPy's time by ours: above 1, sparsec is
faster.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any, Callable

import numpy as np

import sparsec

#: Random matrices: rows, and entries a row.
_SIZES = ((1_000, 10), (20_000, 10), (200_000, 10))
#: Columns of the dense matrix of SpMM.
_WIDTH = 32


def main(arguments: list[str] | None = None) -> None:
    """Prints the table, or JSON."""
    parser = argparse.ArgumentParser(prog="python -m sparsec.bench", description=__doc__)
    parser.add_argument("what", nargs="?", choices=("kernels", "dask"), default="kernels")
    parser.add_argument("--threads", type=int, default=1, help="threads of kernels (default: 1)")
    parser.add_argument("--backend", default="cranelift", help="cranelift, auto or c")
    parser.add_argument("--seconds", type=float, default=0.5, help="time for each figure")
    parser.add_argument(
        "--entries", type=float, default=5e7, help="entries of products on clusters (default: 5e7)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    if options.what == "dask":
        _on_clusters(int(options.entries), options.json)
        return
    sparsec.configure(threads=options.threads, backend=options.backend)
    rows = [row for size in _SIZES for row in kernels(*size, options.seconds)]
    figures = latencies(options.seconds)
    if options.json:
        print(json.dumps({"kernels": rows, "latencies": figures}))
        return
    print(f"{'operation':<10}{'entries':>10}{'SciPy':>12}{'sparsec':>12}{'ratio':>8}")
    for row in rows:
        times = "".join(f"{1e3 * row[name]:>9.3f} ms" for name in ("scipy", "sparsec"))
        print(f"{row['operation']:<10}{row['entries']:>10}{times}{row['ratio']:>8.2f}")
    print()
    for name, seconds in figures.items():
        print(f"{name:<40}{1e6 * seconds:>10.1f} us")


def _on_clusters(entries: int, is_json: bool) -> None:
    """Prints the figures of clusters of local processes."""
    from .dask import _bench

    found = _bench.figures(entries)
    print(json.dumps(found) if is_json else _bench.text_of(found))


def kernels(n: int, entries: int, seconds: float) -> list[dict[str, Any]]:
    """The times of products and sums of random matrices of ``n`` rows."""
    from scipy import sparse  # type: ignore[import-untyped, unused-ignore]

    rng = np.random.default_rng(1)
    matrices = []
    for _ in range(2):
        places = (np.repeat(np.arange(n), entries), rng.integers(0, n, n * entries))
        given = sparse.coo_array((rng.random(n * entries), places), shape=(n, n))
        matrices.append(given.tocsr())
    a, b = matrices
    x, X = rng.random(n), rng.random((n, _WIDTH))
    A, B, dense = sparsec.asarray(a), sparsec.asarray(b), sparsec.asarray(X)
    vector = sparsec.asarray(x)
    cases: dict[str, tuple[Callable[[], Any], Callable[[], sparsec.Tensor]]] = {
        "SpMV": (lambda: a @ x, lambda: A @ vector),
        "SpMM": (lambda: a @ X, lambda: A @ dense),
        "SpGEMM": (lambda: _sorted(a @ b), lambda: A @ B),
        "A + B": (lambda: a + b, lambda: A + B),
        "to csc": (lambda: a.tocsc(), lambda: A.convert("csc")),
    }
    rows = []
    for name, (theirs, ours) in cases.items():
        _compare(name, theirs(), ours())
        scipy, own = in_turn((theirs, ours), seconds)
        row = {"operation": name, "entries": a.nnz, "scipy": scipy, "sparsec": own}
        rows.append({**row, "ratio": scipy / own})
    return rows


def latencies(seconds: float) -> dict[str, float]:
    """What a call takes beside its kernel, and what the first call of a kernel takes."""
    A = sparsec.asarray(np.eye(3), format="csr")
    x = sparsec.asarray(np.ones(3))
    text = "y(i) = A(i,j) * x(j)"
    given = np.ones(3)
    calls: dict[str, Callable[[], Any]] = {
        "evaluate, 3 x 3, tensors": lambda: sparsec.evaluate(text, A=A, x=x),
        "evaluate, 3 x 3, an array of NumPy": lambda: sparsec.evaluate(text, A=A, x=given),
        "A @ x, 3 x 3": lambda: A @ x,
        "A + A, 3 x 3": lambda: A + A,
    }
    figures = {}
    for name, call in calls.items():
        (figures[name],) = in_turn((call,), seconds)
    firsts = []
    for number in range(20):
        # The name of an index variable makes a kernel of its own.
        started = time.perf_counter()
        sparsec.evaluate(f"y(i) = A(i,j{number}) * x(j{number})", A=A, x=x)
        firsts.append(time.perf_counter() - started)
    figures["first call of a new kernel, median"] = float(np.median(firsts))
    return figures


def in_turn(calls: tuple[Callable[[], Any], ...], seconds: float) -> list[float]:
    """The least time of each call, which run in turn for so many seconds each."""
    repeats = []
    for call in calls:
        started = time.perf_counter()
        call()
        repeats.append(max(1, int(1e-3 / (time.perf_counter() - started + 1e-9))))
    least = [float("inf")] * len(calls)
    end = time.perf_counter() + seconds * len(calls)
    while time.perf_counter() < end:
        for number, (call, times) in enumerate(zip(calls, repeats)):
            started = time.perf_counter()
            for _ in range(times):
                call()
            least[number] = min(least[number], (time.perf_counter() - started) / times)
    return least


def _sorted(matrix: Any) -> Any:
    """A product of SciPy with its columns in order, as ours has them."""
    matrix.sort_indices()
    return matrix


def _compare(name: str, expected: Any, made: sparsec.Tensor) -> None:
    if isinstance(expected, np.ndarray):
        np.testing.assert_allclose(made.to_numpy(), expected, err_msg=name)
        return
    difference = abs(made.to_scipy(expected.format) - expected)
    if difference.max() > 1e-9 * abs(expected).max():
        raise AssertionError(f"{name}: sparsec and SciPy differ by {difference.max()}")


if __name__ == "__main__":
    main()

"""Times of sparsec beside SciPy, and PyData sparse where it is installed, in one run:
``python -m sparsec.bench``; on clusters of Dask: ``python -m sparsec.bench dask``; and the times
from Ctrl-C to the exception: ``python -m sparsec.bench interrupts``.

Each result is compared with that of the other library before it is timed. Times are the least of
several runs, taken in turn, so that both meet the same machine. Ratios are the other's time by ours:
above 1, sparsec is faster. The load of the machine and its bandwidth stand beside them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Callable

import numpy as np

import sparsec

#: What is timed.
_WHAT = ("kernels", "dask", "interrupts")
#: Random matrices: rows, and entries a row.
_SIZES = ((1_000, 10), (20_000, 10), (200_000, 10))
#: Columns of the dense matrix of SpMM.
_WIDTH = 32
#: Numbers of the arrays that are copied to learn the bandwidth: more than caches hold.
_COPIED = 1 << 24


def main(arguments: list[str] | None = None) -> None:
    """Prints the tables, or JSON."""
    parser = argparse.ArgumentParser(prog="python -m sparsec.bench", description=__doc__)
    parser.add_argument("what", nargs="?", choices=_WHAT, default="kernels")
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
    if options.what == "interrupts":
        _of_interrupts(options.json)
        return
    sparsec.configure(threads=options.threads, backend=options.backend)
    figures: dict[str, Any] = {"machine": machine(options.seconds)}
    figures["kernels"] = [row for size in _SIZES for row in kernels(*size, options.seconds)]
    figures["einsums"] = einsums(options.seconds)
    figures["latencies"] = latencies(options.seconds)
    figures["package"] = package()
    figures["threads"] = on_two_threads(options.seconds, figures["machine"]["copy on two threads"])
    sparsec.configure(threads=options.threads)
    figures["machine"]["load afterwards"] = os.getloadavg()[0]
    print(json.dumps(figures) if options.json else text_of(figures))


def text_of(figures: dict[str, Any]) -> str:
    """The figures as tables."""
    lines = [f"{name:<44}{value:>10.2f}" for name, value in figures["machine"].items()]
    for rows, other in ((figures["kernels"], "SciPy"), (figures["einsums"], "PyData")):
        if rows:
            lines += ["", f"{'operation':<10}{'entries':>10}{other:>12}{'sparsec':>12}{'ratio':>9}"]
        for row in rows:
            times = "".join(f"{1e3 * row[name]:>9.3f} ms" for name in ("other", "sparsec"))
            lines.append(f"{row['operation']:<10}{row['entries']:>10}{times}{row['ratio']:>9.2f}")
    lines += ["", f"{'operation':<10}{'one thread':>15}{'two':>12}{'faster':>9}{'bar':>7}"]
    for row in figures["threads"]:
        times = f"{1e3 * row['one']:>12.3f} ms{1e3 * row['two']:>9.3f} ms"
        lines.append(f"{row['operation']:<10}{times}{row['faster']:>9.2f}{row['bar']:>7.2f}")
    lines.append("")
    lines += [f"{name:<44}{1e6 * value:>10.1f} us" for name, value in figures["latencies"].items()]
    lines += [f"{name:<44}{value:>10.1f}" for name, value in figures["package"].items()]
    return "\n".join(lines)


def _on_clusters(entries: int, is_json: bool) -> None:
    """Prints the figures of clusters of local processes."""
    from .dask import _bench

    found = _bench.figures(entries)
    print(json.dumps(found) if is_json else _bench.text_of(found))


def _of_interrupts(is_json: bool) -> None:
    """Prints how long calls run on after Ctrl-C."""
    from . import _interrupts

    found = _interrupts.figures()
    print(json.dumps(found) if is_json else _interrupts.text_of(found))


def machine(seconds: float) -> dict[str, float]:
    """What else the machine does, and how fast it copies."""
    source, target = np.ones(_COPIED), np.zeros(_COPIED)
    half = _COPIED // 2

    def on_two() -> None:
        other = threading.Thread(target=np.copyto, args=(target[half:], source[half:]))
        other.start()
        np.copyto(target[:half], source[:half])
        other.join()

    one, two = in_turn((lambda: np.copyto(target, source), on_two), seconds)
    return {
        "load before": os.getloadavg()[0],
        "copies, read and written, GB/s": 2e-9 * source.nbytes / one,
        "copy on two threads": one / two,
    }


def kernels(n: int, entries: int, seconds: float) -> list[dict[str, Any]]:
    """The times of products and sums of random matrices of ``n`` rows."""
    rng = np.random.default_rng(1)
    a, b = _matrix(rng, n, entries), _matrix(rng, n, entries)
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
    return [_row(name, a.nnz, *calls, seconds) for name, calls in cases.items()]


def _row(
    name: str,
    entries: int,
    theirs: Callable[[], Any],
    ours: Callable[[], sparsec.Tensor],
    seconds: float,
) -> dict[str, Any]:
    """The times of an operation by another library and by ours, whose results are equal."""
    _compare(name, theirs(), ours())
    other, own = in_turn((theirs, ours), seconds)
    row = {"operation": name, "entries": entries, "other": other, "sparsec": own}
    return {**row, "ratio": other / own}


def _matrix(rng: np.random.Generator, n: int, entries: int) -> Any:
    """A random matrix of SciPy with so many entries a row, some of them added up."""
    from scipy import sparse  # type: ignore[import-untyped, unused-ignore]

    places = (np.repeat(np.arange(n), entries), rng.integers(0, n, n * entries))
    return sparse.coo_array((rng.random(n * entries), places), shape=(n, n)).tocsr()


def einsums(seconds: float) -> list[dict[str, Any]]:
    """The times of sampled products beside PyData sparse, if that is installed."""
    try:
        import sparse
    except ImportError:
        return []
    rng = np.random.default_rng(2)
    n, rank = 2_000, 16
    places = rng.integers(0, n, (2, 20_000))
    S = sparse.COO(places, rng.random(places.shape[1]), shape=(n, n))
    B, C = rng.random((n, rank)), rng.random((n, rank))
    extents = (300, 200, 100)
    places = np.stack([rng.integers(0, extent, 20_000) for extent in extents])
    T = sparse.COO(places, rng.random(places.shape[1]), shape=extents)
    F = [rng.random((extent, rank)) for extent in extents]
    rows = []
    for name, equation, tensor, dense in (
        ("SDDMM", "ij,ik,jk->ij", S, [B, C]),
        ("MTTKRP", "ijk,jr,kr->ir", T, F[1:]),
    ):
        ours = [sparsec.asarray(tensor), *map(sparsec.asarray, dense)]

        def theirs_of(equation: str = equation, given: Any = (tensor, *dense)) -> Any:
            return sparse.einsum(equation, *given)

        def ours_of(equation: str = equation, given: Any = tuple(ours)) -> sparsec.Tensor:
            return sparsec.einsum(equation, *given)

        rows.append(_row(name, tensor.nnz, theirs_of, ours_of, seconds))
    return rows


def on_two_threads(seconds: float, copies: float) -> list[dict[str, Any]]:
    """How much faster two threads are than one, beside the bar that copies of the same run set."""
    n, entries = _SIZES[-1]
    rng = np.random.default_rng(1)
    A, B = (sparsec.asarray(_matrix(rng, n, entries)) for _ in range(2))
    vector, dense = sparsec.asarray(rng.random(n)), sparsec.asarray(rng.random((n, _WIDTH)))
    cases: dict[str, Callable[[], sparsec.Tensor]] = {
        "SpMV": lambda: A @ vector,
        "SpMM": lambda: A @ dense,
        "SpGEMM": lambda: A @ B,
        "A + B": lambda: A + B,
        "to csc": lambda: A.convert("csc"),
    }
    bar = min(1.7, 0.85 * copies)
    rows = []
    for name, call in cases.items():
        times = []
        for threads in (1, 2):
            sparsec.configure(threads=threads)
            times += in_turn((call,), seconds)
        one, two = times
        rows.append({"operation": name, "one": one, "two": two, "faster": one / two, "bar": bar})
    return rows


def latencies(seconds: float) -> dict[str, float]:
    """What a call takes beside its kernel, and what the first call of a kernel takes."""
    large = _matrix(np.random.default_rng(3), *_SIZES[-1])
    A = sparsec.asarray(np.eye(3), format="csr")
    x = sparsec.asarray(np.ones(3))
    text = "y(i) = A(i,j) * x(j)"
    given = np.ones(3)
    calls: dict[str, Callable[[], Any]] = {
        "evaluate, 3 x 3, tensors": lambda: sparsec.evaluate(text, A=A, x=x),
        "evaluate, 3 x 3, an array of NumPy": lambda: sparsec.evaluate(text, A=A, x=given),
        "A @ x, 3 x 3": lambda: A @ x,
        "A + A, 3 x 3": lambda: A + A,
        f"from csr of SciPy, {large.nnz} entries": lambda: sparsec.asarray(large),
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


def package() -> dict[str, float]:
    """The time to import the package beyond NumPy's, and the size of its library."""

    def imported(what: str, compiled: str) -> float:
        code = f"import time; s = time.perf_counter(); import {what}; print(time.perf_counter() - s)"
        call = [sys.executable, "-c", code]
        # The first run compiles, as `pip` does when it installs a package.
        given = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": compiled}
        environment = {**os.environ, **given}
        runs = (
            subprocess.run(call, check=True, capture_output=True, env=environment)
            for _ in range(10)
        )
        return min(float(run.stdout) for run in runs)

    with tempfile.TemporaryDirectory() as folder:
        beyond = imported("numpy, sparsec", folder) - imported("numpy", folder)
    library = Path(str(sparsec._sparsec.__file__))
    return {
        "import beyond NumPy, ms": 1e3 * beyond,
        "compiled library, MB": library.stat().st_size / 1e6,
    }


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
    from scipy import sparse

    if not sparse.issparse(expected):
        expected = expected if isinstance(expected, np.ndarray) else expected.todense()
        np.testing.assert_allclose(made.to_numpy(), expected, err_msg=name)
        return
    matrix: Any = expected
    difference = abs(made.to_scipy(matrix.format) - matrix)
    if difference.max() > 1e-9 * abs(matrix).max():
        raise AssertionError(f"{name}: sparsec and SciPy differ by {difference.max()}")


if __name__ == "__main__":
    main()

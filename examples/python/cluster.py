"""A cluster of Dask: ranks of pages, a decomposition, triangles, and pairs of pages that might be
linked, on two local processes.

    python examples/python/cluster.py [graph.mtx] [entries.tns]

Tensors are sent once, as shards that stay where they are. Between iterations, vectors and small
matrices travel. The pairs need not fit into one process: shards go to files as they are made.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from dask import array as da
from dask.distributed import Client, LocalCluster

import sparsec
import sparsec.dask

#: What each worker may take.
LIMIT = "350MB"
SAMPLES = Path(__file__).parents[2] / "samples"


def page_rank(A: sparsec.Tensor, n_shards: int = 4, tolerance: float = 1e-10) -> np.ndarray:
    """The share of a random reader's time that each page gets; row i links to its columns.

    The ranks stay on the cluster: an iteration gathers one number, by which they changed.
    """
    n = A.shape[0]
    degrees = A.sum(axis=1).to_numpy().astype(float)
    shares = sparsec.evaluate(
        "S(j,i) = A(i,j) / max(d(i), 1)", A=A, d=degrees, out_format="csr"
    )
    S = sparsec.dask.shard(shares, by="i", n=n_shards).persist()
    ends = (degrees == 0).astype(float)
    ranks: Any = da.full(n, 1 / n, chunks=(S.chunks[0],))
    step = f"s = e(i) * r(i); y(j) = 0.85 * (sum{{i}}(S(j,i) * r(i)) + s / {n}) + {0.15 / n!r}"
    while True:
        new = sparsec.dask.evaluate(step, S=S, r=ranks, e=ends, gather=False)
        change = sparsec.dask.evaluate("c = sum{i}(abs(y(i) - r(i)))", y=new, r=ranks)
        ranks = new
        if change.item() < tolerance:
            return ranks.compute().to_numpy()


def cp_als(T: sparsec.Tensor, rank: int, sweeps: int = 10) -> tuple[list[np.ndarray], float]:
    """Factors whose products are near the tensor, and the fit.

    For each mode there is a copy of the tensor in shards along this mode, so that the product with
    the other factors is joined and not added. Source: Kolda and Bader, SIAM Review 2009, figure
    3.3.
    """
    rng = np.random.default_rng(0)
    factors = [rng.random((extent, rank)) for extent in T.shape]
    shards = [sparsec.dask.shard(T, by=mode, n=4).persist() for mode in range(3)]
    others = [(1, 2), (0, 2), (0, 1)]
    for _ in range(sweeps):
        for mode, (a, b) in enumerate(others):
            own, first, second = "ijk"[mode], "ijk"[a], "ijk"[b]
            text = f"M({own},r) = T(i,j,k) * A({first},r) * B({second},r)"
            M = sparsec.dask.evaluate(
                text, T=shards[mode], A=factors[a], B=factors[b], out_format="dense"
            ).to_numpy()
            gram = (factors[a].T @ factors[a]) * (factors[b].T @ factors[b])
            factors[mode] = M @ np.linalg.pinv(gram)
    squares = sparsec.dask.evaluate("s = T(i,j,k) * T(i,j,k)", T=shards[0]).item()
    model = float(np.sum(gram * (factors[2].T @ factors[2])))
    rest = max(squares - 2 * float(np.sum(M * factors[2])) + model, 0.0)
    return factors, 1 - float(np.sqrt(rest / squares))


def triangles_of_edges(L: sparsec.Tensor, memory: str) -> Any:
    """Of each edge of a graph, how many triangles have it as their longest step: a product that is
    computed where the graph has an edge, and nowhere else.

    The result is in shards of so many bytes at most, and need not fit into one process.
    """
    return sparsec.dask.evaluate(
        "C(i,k) = L(i,j) * L(j,k) * L(i,k)", L=L, memory=memory, out_format="csr", gather=False
    )


def suggested(A: sparsec.Tensor, folder: str, memory: str) -> Any:
    """Of each pair of pages that are two links apart, how many pages lie between, and zero for pages
    that are linked already: a product with a mask of what is not wanted.

    Workers write shards of so many bytes into a folder as they are made.
    """
    return sparsec.dask.evaluate_to(
        folder, "C(i,k) = A(i,j) * A(j,k) * (1 - M(i,k))", A=A, M=A, memory=memory, out_format="csr"
    )


def by_chunks(array: Any) -> str:
    """The plan that computes each chunk of rows where it is."""
    bounds = np.cumsum([0, *array.chunks[0]])
    return f"shard(i, {', '.join(map(str, bounds))})"


def main(graph: str | None = None, entries: str | None = None) -> None:
    """Runs three programs on a graph and a tensor, computed by two processes."""
    A = sparsec.read(graph or SAMPLES / "poisson2d.mtx", format="csr")
    if graph is None:
        # A grid has no triangles: points two steps apart are neighbours, too.
        A = A @ A
    T = sparsec.read(entries or SAMPLES / "products.tns", format="csf", dtype="float64")
    lower = sparsec.tril((A + A.T) != 0, k=-1).astype(np.int64)
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit=LIMIT, dashboard_address=None
        ) as cluster,
        Client(cluster),
        TemporaryDirectory() as folder,
    ):
        ranks = page_rank(lower + lower.T)
        best = np.argsort(-ranks, kind="stable")[:3]
        print("highest ranks:", ", ".join(f"{page} ({ranks[page]:.4f})" for page in best))
        _, fit = cp_als(T, min(2, *T.shape))
        print(f"CP of a tensor of {T.nnz} entries: fit {fit:.3f}")
        counts = triangles_of_edges(lower, "50kB")
        total = sparsec.dask.evaluate("n = C(i,k)", C=counts).item()
        print(f"{total} triangles, of edges in {len(counts.chunks[0])} shards")
        pairs = suggested(lower + lower.T, str(Path(folder) / "pairs"), "2MB")
        written = sum(it.stat().st_size for it in (Path(folder) / "pairs").iterdir())
        most = sparsec.dask.evaluate("n = max{i,k}(C(i,k))", C=pairs, shards=by_chunks(pairs)).item()
        print(
            f"{written / 1e6:.1f} MB of pairs in {pairs.npartitions} files, by workers of "
            f"{LIMIT} each; at most {most} pages between"
        )


if __name__ == "__main__":
    main(*sys.argv[1:])

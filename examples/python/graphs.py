"""Graph analytics: ranks of pages, triangles, and shortest paths, from a file of edges.

    python examples/python/graphs.py [graph.mtx]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import sparsec

SAMPLE = Path(__file__).parents[2] / "samples" / "poisson2d.mtx"


def page_rank(A: sparsec.Tensor, damping: float = 0.85, tolerance: float = 1e-10) -> np.ndarray:
    """The share of a random reader's time that each page gets; row i links to its columns.

    Source: Page, Brin, Motwani and Winograd, "The PageRank Citation Ranking", 1999.
    """
    n = A.shape[0]
    degrees = A.sum(axis=1).to_numpy()
    shares = sparsec.evaluate(
        "S(j,i) = A(i,j) / max(d(i), 1)", A=A, d=degrees.astype(float), out_format="csr"
    )
    ranks = np.full(n, 1 / n)
    while True:
        lost = ranks[degrees == 0].sum()
        new = damping * ((shares @ ranks).to_numpy() + lost / n) + (1 - damping) / n
        if np.abs(new - ranks).sum() < tolerance:
            return new
        ranks = new


def triangles(A: sparsec.Tensor) -> int:
    """How many triangles an undirected graph has: paths of two edges that a third one closes.

    The product is computed where the graph has an edge, and nowhere else.
    """
    L = sparsec.tril(A, k=-1)
    return int(sparsec.evaluate("n = L(i,j) * L(j,k) * L(i,k)", L=L).item())


def distances(A: sparsec.Tensor, start: int) -> np.ndarray:
    """How many edges are between a vertex and each other one: Bellman and Ford's algorithm."""
    n = A.shape[0]
    edges, _ = A.to_coo()
    # What is no edge is infinitely long.
    W = sparsec.from_coo(edges, np.ones(len(edges[0])), (n, n), format="csr", fill_value=np.inf)
    far = np.full(n, np.inf)
    far[start] = 0.0
    while True:
        new = sparsec.evaluate("d(j) = min(x(j), min{i}(W(i,j) + x(i)))", W=W, x=far).to_numpy()
        if np.array_equal(new, far):
            return new
        far = new.copy()


def main(path: str | None = None) -> None:
    """Prints figures of a graph, whose edges are taken in both directions, and loops left out."""
    A = sparsec.read(path or SAMPLE, format="csr")
    lower = sparsec.tril((A + A.T) != 0, k=-1).astype(np.int64)
    A = lower + lower.T
    ranks = page_rank(A)
    assert np.isclose(ranks.sum(), 1)
    print(f"{A.shape[0]} vertices, {A.nnz // 2} edges, {triangles(A)} triangles")
    best = np.argsort(-ranks, kind="stable")[:3]
    print("highest ranks:", ", ".join(f"{vertex} ({ranks[vertex]:.4f})" for vertex in best))
    far = distances(A, int(best[0]))
    near = far[np.isfinite(far)]
    print(f"from {best[0]}: {len(near)} are within reach, {near.max():.0f} edges at most")


if __name__ == "__main__":
    main(*sys.argv[1:])

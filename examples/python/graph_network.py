"""A layer of graph attention in PyTorch, trained; needs torch 2.4.

    python examples/python/graph_network.py

Source: Veličković et al., "Graph Attention Networks", ICLR 2018, https://arxiv.org/abs/1710.10903.
"""

from __future__ import annotations

import numpy as np
import torch

import sparsec
import sparsec.torch

ATTENTION = """
e(i,j) = G(i,j) * exp(max(s(i) + t(j), 0.2 * (s(i) + t(j))))
z(i) = sum{j}(e(i,j))
Y(i,c) = e(i,j) / z(i) * H(j,c)
"""


class GraphAttention(torch.nn.Module):
    """One head. The scores of edges are computed where the graph has them."""

    def __init__(self, graph: sparsec.Tensor, n_in: int, n_out: int) -> None:
        super().__init__()
        self.graph = sparsec.torch.Sparse(graph)
        self.weight = torch.nn.Linear(n_in, n_out, bias=False)
        self.left = torch.nn.Linear(n_out, 1, bias=False)
        self.right = torch.nn.Linear(n_out, 1, bias=False)

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """Features of shape (vertices, n_out)."""
        H = self.weight(X)
        s, t = self.left(H)[:, 0], self.right(H)[:, 0]
        return sparsec.torch.evaluate(ATTENTION, G=self.graph, s=s, t=t, H=H)


def main(n: int = 60, steps: int = 40) -> None:
    """Tells two groups of vertices apart, by their edges."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    group = np.arange(n) % 2
    edges = rng.random((n, n)) < np.where(group[:, None] == group, 0.3, 0.03)
    graph = sparsec.asarray((edges | edges.T | np.eye(n, dtype=bool)).astype(np.float32), format="csr")
    X = torch.from_numpy((group[:, None] + rng.normal(0, 1, (n, 4))).astype(np.float32))
    labels = torch.from_numpy(group)
    layer = GraphAttention(graph, 4, 2)
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.05)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(layer(X), labels)
        loss.backward()
        optimizer.step()
    right = (layer(X).argmax(1) == labels).float().mean().item()
    print(f"{graph.nnz} edges, loss {loss.item():.3f}, {right:.0%} of vertices are told apart")
    assert right > 0.8


if __name__ == "__main__":
    main()

"""The example scripts run, and print what they say."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

import sparsec

EXAMPLES = Path(__file__).parents[2] / "examples" / "python"
#: What each needs beside NumPy, and a word that it prints.
SCRIPTS = {
    "graphs": (None, "triangles"),
    "solvers": ("scipy", "conjugate gradients"),
    "decompositions": (None, "Tucker"),
    "chemistry": (None, "exchange energy"),
    "graph_network": ("torch", "told apart"),
    "cluster": ("distributed", "triangles, of edges in"),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_examples(name, capsys):
    needed, word = SCRIPTS[name]
    if needed is not None:
        pytest.importorskip(needed, reason=f"{needed} is not installed")
    script = runpy.run_path(str(EXAMPLES / f"{name}.py"))
    script["main"]()
    assert word in capsys.readouterr().out


def test_figures_of_graphs(rng):
    script = runpy.run_path(str(EXAMPLES / "graphs.py"))
    dense = np.triu(rng.random((30, 30)) < 0.2, 1)
    dense = (dense | dense.T).astype(np.int64)
    A = sparsec.asarray(dense, format="csr")
    assert script["triangles"](A) == np.trace(dense @ dense @ dense) // 6
    ranks = script["page_rank"](A)
    shares = dense / np.maximum(dense.sum(axis=1, keepdims=True), 1)
    np.testing.assert_allclose(ranks, 0.85 * shares.T @ ranks + 0.15 / 30, atol=1e-8)
    assert script["distances"](A, 0)[np.flatnonzero(dense[0])].tolist() == [1] * dense[0].sum()


def test_figures_of_clusters(rng, tmp_path):
    """By threads of this process: `test_examples` computes on two others."""
    pytest.importorskip("dask.distributed")
    pytest.importorskip("dask.array")
    script = runpy.run_path(str(EXAMPLES / "cluster.py"))
    graphs = runpy.run_path(str(EXAMPLES / "graphs.py"))
    dense = np.triu(rng.random((30, 30)) < 0.2, 1)
    dense[:, 7] = dense[7] = False
    dense = (dense | dense.T).astype(np.int64)
    A = sparsec.asarray(dense, format="csr")
    np.testing.assert_allclose(script["page_rank"](A), graphs["page_rank"](A), atol=1e-9)
    L = sparsec.tril(A, k=-1)
    counts = script["triangles_of_edges"](L, "1kB")
    assert counts.npartitions > 1
    lower = np.tril(dense, -1)
    np.testing.assert_array_equal(counts.compute().to_numpy(), (lower @ lower) * lower)
    pairs = script["suggested"](A, tmp_path / "pairs", "1kB")
    assert pairs.npartitions > 1
    np.testing.assert_array_equal(pairs.compute().to_numpy(), (dense @ dense) * (1 - dense))
    a, b, c = rng.random((9, 2)), rng.random((8, 2)), rng.random((7, 2))
    T = sparsec.asarray(np.einsum("ir,jr,kr->ijk", a, b, c), format="csf")
    factors, fit = script["cp_als"](T, 2, sweeps=12)
    assert fit > 0.9
    model = np.einsum("ir,jr,kr->ijk", *factors)
    difference = np.linalg.norm(model - T.to_numpy()) / np.linalg.norm(T.to_numpy())
    assert fit == pytest.approx(1 - difference, abs=1e-6)


def test_all_examples_are_tested():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(SCRIPTS)

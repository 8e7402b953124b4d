"""SciPy's solvers with products by sparsec: a linear operator, and a preconditioner.

    python examples/python/solvers.py [symmetric.mtx]

Triangular solves and incomplete factorisations are outside of index notation: an entry depends on
those before it. SciPy does them, on the arrays of the tensor, without a copy.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from scipy.sparse import linalg

import sparsec

SAMPLE = Path(__file__).parents[2] / "samples" / "poisson2d.mtx"


def main(path: str | None = None) -> None:
    """Solves with conjugate gradients, with and without a preconditioner."""
    A = sparsec.read(path or SAMPLE, format="csr")
    wanted = np.linspace(0, 1, A.shape[0])
    b = (A @ wanted).to_numpy()
    factors = linalg.spilu(A.to_scipy("csc"), drop_tol=1e-3)
    for name, M in [("alone", None), ("with incomplete factors", linalg.LinearOperator(A.shape, factors.solve))]:
        steps: list[None] = []
        x, failed = linalg.cg(A, b, M=M, rtol=1e-10, callback=lambda _: steps.append(None))
        assert not failed
        error = np.linalg.norm(x - wanted) / np.linalg.norm(wanted)
        print(f"conjugate gradients {name}: {len(steps)} steps, error {error:.1e}")


if __name__ == "__main__":
    main(*sys.argv[1:])

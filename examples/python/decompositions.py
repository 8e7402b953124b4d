"""What a sparse tensor is made of: CP and Tucker, from a file of entries.

    python examples/python/decompositions.py [entries.tns] [rank]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import sparsec

SAMPLE = Path(__file__).parents[2] / "samples" / "products.tns"


def main(path: str | None = None, rank: str = "2") -> None:
    """Prints fits, and the coordinates that weigh most in each product."""
    T = sparsec.read(path or SAMPLE, format="csf", dtype="float64")
    print(f"{' x '.join(map(str, T.shape))}, {T.nnz} entries")
    n = min(int(rank), *T.shape)
    cp = sparsec.cp_als(T, n)
    print(f"CP of rank {n}: fit {cp.fits[-1]:.3f} after {len(cp.fits)} sweeps")
    for number in np.argsort(-cp.weights)[:3]:
        heaviest = [int(np.argmax(np.abs(factor[:, number]))) for factor in cp.factors]
        print(f"  weight {cp.weights[number]:.3g}, most at {tuple(heaviest)}")
    tucker = sparsec.tucker_hooi(T, n)
    print(f"Tucker of ranks {tucker.core.shape}: fit {tucker.fits[-1]:.3f}")


if __name__ == "__main__":
    main(*sys.argv[1:])

"""A contraction of quantum chemistry: exchange energy from three-index integrals.

    python examples/python/chemistry.py [integrals.tns]

Density fitting writes a four-index integral as a product of sparse three-index ones,
``(ij|kl) = B(P,i,j) * B(P,k,l)``. The exchange energy of a density D is
``B(P,i,j) * B(P,k,l) * D(i,k) * D(j,l)``: the planner of networks finds an order that never makes
the four-index tensor, and fuses loops.

Source: Kanakagiri and Solomonik, "Minimum Cost Loop Nests for Contraction of a Sparse Tensor with a
Tensor Network", 2023; Weigend, "A fully direct RI-HF algorithm", PCCP 2002.
"""

from __future__ import annotations

import sys

import numpy as np

import sparsec

ENERGY = "Pij,Pkl,ik,jl->"


def integrals(n_fitted: int, n: int) -> sparsec.Tensor:
    """Integrals that fall off with the distance of their centres, small ones left out."""
    P, i, j = np.meshgrid(np.linspace(0, 1, n_fitted), *[np.linspace(0, 1, n)] * 2, indexing="ij")
    values = np.exp(-40 * ((P - i) ** 2 + (P - j) ** 2))
    return sparsec.asarray(np.where(values > 1e-3, values, 0), format="csf")


def main(path: str | None = None) -> None:
    """Prints the energy and the order of contractions."""
    B = sparsec.read(path, format="csf") if path else integrals(30, 12)
    n = B.shape[1]
    orbitals = np.linalg.qr(np.cos(np.outer(np.arange(n), np.arange(max(n // 3, 1)) + 1)))[0]
    D = orbitals @ orbitals.T
    energy = sparsec.einsum(ENERGY, B, B, D, D).item()
    print(f"{B.nnz} of {B.size} integrals, exchange energy {energy:.10g}")
    tree = sparsec.explain("e = B(P,i,j) * C(P,k,l) * D(i,k) * E(j,l)", stage="tree", B=B, C=B, D=D, E=D)
    print(tree.strip())
    if B.size < 10**5:
        dense = B.to_numpy()
        assert np.isclose(energy, np.einsum(ENERGY, dense, dense, D, D, optimize=True))


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Tensors of PyTorch: dense, CSR, CSC, BSR and COO.

Index arrays are copied, since PyTorch does not say who else may write to them. Values are used
where they lie, and a write to them shows in the tensor.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _sparsec
from ._errors import failure

if TYPE_CHECKING:
    from ._tensor import Tensor

#: The arrays of compressed layouts, by the name of the layout: positions and coordinates.
_COMPRESSED = {
    "sparse_csr": ("csr", "crow_indices", "col_indices"),
    "sparse_csc": ("csc", "ccol_indices", "row_indices"),
    "sparse_bsr": ("bsr", "crow_indices", "col_indices"),
}


def is_torch(x: Any) -> bool:
    """Whether `x` is a tensor of PyTorch."""
    module = sys.modules.get("torch")
    return module is not None and isinstance(x, module.Tensor)


def _layout(x: Any) -> str:
    return str(x.layout).removeprefix("torch.")


def of_torch(x: Any, format: str | None, copy: bool | None) -> Tensor:
    """As `asarray`.

    Raises
    ------
    InputError
        For a tensor on another device (``E0023``), one that records gradients, stacks of sparse
        matrices, and entries that are arrays.
    """
    from ._asarray import asarray, from_coo
    from ._tensor import Tensor

    if x.device.type != "cpu":
        raise failure("E0023", f"a tensor on device `{x.device}`", "call `.cpu()` first")
    if x.requires_grad:
        raise failure(
            "E0023",
            "a tensor that records gradients, which would not see this",
            "call `.detach()`, or use `sparsec.torch.evaluate`",
        )
    layout = _layout(x)
    if layout == "strided":
        return asarray(_numpy(x), format=format, copy=copy)
    if copy is False:
        raise ValueError("copy=False, and index arrays of PyTorch are copied; leave `copy` out")
    if layout == "sparse_coo":
        x = x.coalesce()
        if x.dense_dim():
            raise failure(
                "E0023",
                f"a sparse tensor whose entries are arrays of {x.dense_dim()} modes",
                "make it of entries that are numbers",
            )
        return from_coo(
            list(_numpy(x.indices())), _numpy(x.values()), tuple(x.shape), format=format
        )
    if layout not in _COMPRESSED:
        raise failure("E0023", f"a tensor of layout `{layout}`", "call `.to_sparse_csr()` first")
    name, positions, coordinates = _COMPRESSED[layout]
    pos, crd = getattr(x, positions)(), getattr(x, coordinates)()
    values = _numpy(x.values())
    if pos.ndim > 1 or (name != "bsr" and values.ndim > 1):
        message = f"a stack of matrices of layout `{layout}`"
        raise failure("E0023", message, "give one matrix, or `.to_sparse()`")
    own = f"bsr({values.shape[1]}, {values.shape[2]})" if name == "bsr" else name
    holder = SimpleNamespace(indptr=_numpy(pos), indices=_numpy(crd), data=values)
    names = ["indptr", "indices", "data"]
    stored = _sparsec.Stored.of_attributes(own, tuple(x.shape), holder, names, copy, None, None)
    return Tensor._of(stored if format in (None, own) else stored.convert(str(format)))


def _numpy(x: Any) -> np.ndarray:
    import torch  # type: ignore[import-not-found, unused-ignore]

    if x.dtype == torch.bfloat16:
        raise failure("E0451", "NumPy has no dtype `bfloat16`", "call `.float()` first")
    array: np.ndarray = x.resolve_conj().resolve_neg().numpy()
    return array


def to_torch(tensor: Tensor, layout: str | None) -> Any:
    """As `Tensor.to_torch`."""
    import torch

    if tensor.fill_value != 0 and layout != "strided" and not _is_dense(tensor):
        raise failure(
            "E0023",
            f"a tensor with fill {tensor.fill_value} is no sparse tensor of PyTorch, whose fill is 0",
            'use `to_torch("strided")`, or subtract the fill',
        )
    if layout is None:
        name = tensor.format.partition("(")[0]
        named = {"csr": "sparse_csr", "csc": "sparse_csc", "bsr": "sparse_bsr"}
        layout = "strided" if _is_dense(tensor) else named.get(name, "sparse_coo")
    if layout == "strided":
        return torch.from_numpy(tensor.to_numpy(copy=True))
    if layout == "sparse_coo":
        coords, values = tensor.to_coo()
        indices = torch.from_numpy(np.stack(coords)) if coords else torch.empty((0, len(values)))
        made = torch.sparse_coo_tensor(indices, torch.from_numpy(values), tensor.shape)
        return made.coalesce()
    if layout not in _COMPRESSED or tensor.ndim != 2:
        raise failure(
            "E0023",
            f"PyTorch has no layout `{layout}` for {tensor.ndim} modes",
            "give strided, sparse_coo, or, for matrices, sparse_csr, sparse_csc or sparse_bsr",
        )
    format = _COMPRESSED[layout][0]
    matrix = tensor.to_scipy(format, copy=True)
    # PyTorch takes 32 bits for both index arrays or 64.
    pos, crd, values = (torch.from_numpy(x) for x in (matrix.indptr, matrix.indices, matrix.data))
    make = getattr(torch, f"{layout}_tensor")
    return make(pos, crd, values, size=tensor.shape)


def _is_dense(tensor: Tensor) -> bool:
    return all(level.endswith(": dense") for level in tensor.levels)

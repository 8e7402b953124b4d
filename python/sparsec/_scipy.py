"""Tensors as sparse arrays of SciPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from ._errors import failure

if TYPE_CHECKING:
    from ._tensor import Tensor

#: The formats of matrices whose arrays SciPy has, too.
_SHARED = ("csr", "csc")
#: Those that SciPy makes of others.
_MADE = ("dia", "lil", "dok")


def to_scipy(tensor: Tensor, format: str | None, copy: bool | None) -> Any:
    """As `Tensor.to_scipy`."""
    from scipy import sparse  # type: ignore[import-untyped, unused-ignore]

    if tensor.fill_value != 0:
        raise failure(
            "E0023",
            f"a tensor with fill {tensor.fill_value} is no sparse array of SciPy, whose fill is 0",
            "use `to_numpy()`, or subtract the fill",
        )
    if format is None:
        format = _own(tensor)
    if format == "bsr":
        return _blocks(sparse, tensor, bool(copy))
    if format in _SHARED and tensor.ndim == 2:
        pos, crd, values = tensor._stored.arrays_in(format, bool(copy))
        # SciPy has one type for both.
        index = np.promote_types(pos.dtype, crd.dtype)
        index = index if index in (np.int32, np.int64) else np.dtype(np.int32)
        arrays = (values, crd.astype(index, copy=False), pos.astype(index, copy=False))
        kind: Any = sparse.csr_array if format == "csr" else sparse.csc_array
        made = kind(arrays, shape=tensor.shape, copy=False)
        made.has_sorted_indices = True
        made.has_canonical_format = True
        return made
    if format == "coo":
        coords, values = tensor.to_coo()
        kind = sparse.coo_array
        made = kind((values, coords), shape=tensor.shape)
        made.has_canonical_format = _ascend(coords)
        return made
    if format in _MADE and tensor.ndim == 2:
        return to_scipy(tensor, "csr", copy).asformat(format)
    raise failure(
        "E0023",
        f"SciPy has no format `{format}` for {tensor.ndim} modes",
        "give csr, csc, bsr, coo, dia, lil or dok for a matrix, and coo for other tensors",
    )


def _ascend(coords: Sequence[np.ndarray]) -> bool:
    """Whether tuples of coordinates ascend, and none stands twice."""
    equal = np.ones(max(len(coords[0]) - 1, 0), dtype=bool) if coords else np.ones(0, dtype=bool)
    for mode in coords:
        if np.any(equal & (mode[1:] < mode[:-1])):
            return False
        equal &= mode[1:] == mode[:-1]
    return not equal.any()


def _own(tensor: Tensor) -> str:
    if tensor.ndim != 2:
        return "coo"
    name = tensor.format.partition("(")[0]
    return name if name in (*_SHARED, "bsr") else "csr"


def _blocks(sparse: Any, tensor: Tensor, copied: bool) -> Any:
    """A matrix of blocks, of the size that the tensor has, or as SciPy chooses."""
    shape = _block_shape(tensor)
    if shape is None or any(extent % size for extent, size in zip(tensor.shape, shape)):
        return to_scipy(tensor, "csr", copied).tobsr()
    pos, crd, values = tensor._stored.arrays_in(tensor._stored.format, copied)
    blocks = values.reshape(-1, *shape)
    return sparse.bsr_array((blocks, crd, pos), shape=tensor.shape, copy=False)


def _block_shape(tensor: Tensor) -> tuple[int, int] | None:
    """The block size of a tensor in `bsr`: the extents of its two inner levels."""
    levels = tensor.levels
    if len(levels) != 4 or "floordiv" not in levels[0] or "floordiv" not in levels[1]:
        return None
    sizes = [level.partition(":")[0].rpartition(" mod ")[2].strip() for level in levels[2:]]
    is_usual = [kind.rpartition(": ")[2] for kind in levels] == [
        "dense",
        "compressed",
        "dense",
        "dense",
    ]
    if not is_usual or not all(size.isdigit() for size in sizes):
        return None
    if "i floordiv" not in levels[0] or not levels[2].startswith("i mod"):
        return None
    return int(sizes[0]), int(sizes[1])

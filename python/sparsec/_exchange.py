"""Tensors of PyData `sparse`, and arrays with the protocol of Binsparse.

==============  =========================================================
Binsparse       format
==============  =========================================================
``CSR, CSC``    ``csr``, ``csc``
``DCSR, DCSC``  ``dcsr``, ``dcsc``
``COO, COOR``   ``coo``; ``COOC`` with the modes exchanged
``CVEC``        a compressed vector
``DMAT, DMATR`` ``dense``; ``DMATC`` with the modes exchanged
``DVEC``        a dense vector
==============  =========================================================

Other formats are handed over as ``COO``. Source: Binsparse specification 0.1,
https://graphblas.org/binsparse-specification/.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Mapping

import numpy as np

from ._errors import failure

if TYPE_CHECKING:
    from ._tensor import Tensor

#: Formats by the names of Binsparse, with the arrays that they have beside the values.
_ARRAYS: dict[str, tuple[str, tuple[str, ...]]] = {
    "CSR": ("csr", ("pointers_to_1", "indices_1")),
    "CSC": ("csc", ("pointers_to_1", "indices_1")),
    "DCSR": ("dcsr", ("pointers_to_0", "indices_0", "pointers_to_1", "indices_1")),
    "DCSC": ("dcsc", ("pointers_to_0", "indices_0", "pointers_to_1", "indices_1")),
    "CVEC": ("csf", ("pointers_to_0", "indices_0")),
    "DMATR": ("dense", ()),
    "DVEC": ("dense", ()),
}
#: Names of the same formats.
_ALIASES = {"COO": "COOR", "DMAT": "DMATR"}
#: Types that Binsparse has another name for.
_TYPES = {"bool": "bint8"}


def descriptor(tensor: Tensor) -> dict[str, Any]:
    """The descriptor of a tensor, as a Binsparse file has it."""
    name, arrays = _named(tensor)
    types = {key: _type(array) for key, array in arrays.items()}
    return {
        "binsparse": {
            "version": "0.1",
            "format": name,
            "shape": list(tensor.shape),
            "number_of_stored_values": len(arrays["values"]),
            "fill": bool(tensor.fill_value != 0),
            "data_types": types,
        }
    }


def arrays_of(tensor: Tensor) -> dict[str, np.ndarray]:
    """The arrays that the descriptor names; read-only views where they are the tensor's."""
    return _named(tensor)[1]


def _type(array: np.ndarray) -> str:
    if array.dtype.kind == "c":
        return f"complex[float{array.dtype.itemsize * 4}]"
    return _TYPES.get(array.dtype.name, array.dtype.name)


def _named(tensor: Tensor) -> tuple[str, dict[str, np.ndarray]]:
    buffers = tensor.buffers
    for name, (format, names) in _ARRAYS.items():
        is_order = {"DVEC": 1, "CVEC": 1}.get(name, 2) == tensor.ndim
        if is_order and tensor.format == format:
            *indices, values = buffers.values()
            if name in ("CVEC", "DCSR", "DCSC"):
                # The segment of the first level is all of it.
                indices, names = indices[1:], names[1:]
            arrays = dict(zip(names, indices))
            return name, {**arrays, "values": values}
    coords, values = tensor.to_coo()
    order = np.lexsort(coords[::-1])
    named = {f"indices_{mode}": it[order] for mode, it in enumerate(coords)}
    return "COOR", {**named, "values": values[order]}


def of_binsparse(x: Any) -> Tensor:
    """A tensor of an object that has the protocol. The arrays are copied."""
    from ._asarray import from_buffers, from_coo

    given: Mapping[str, Any] = x.__binsparse_descriptor__()["binsparse"]
    arrays = {name: _numpy(array) for name, array in x.__binsparse__().items()}
    shape = tuple(int(extent) for extent in given["shape"])
    name = _ALIASES.get(str(given["format"]), str(given["format"]))
    values = arrays["values"]
    kind = given["data_types"].get("values", "")
    if str(kind).endswith("bint8]") or kind == "bint8":
        values = values.astype(bool)
    fill = arrays["fill_value"].reshape(-1)[0] if "fill_value" in arrays else None
    if name in ("COOR", "COOC"):
        lists = [arrays[f"indices_{mode}"] for mode in range(len(shape))]
        return from_coo(lists, values, shape, fill_value=fill)
    if name == "DMATC":
        return from_buffers("dense", shape[::-1], [values.reshape(-1)]).T
    if name not in _ARRAYS:
        known = ", ".join([*_ARRAYS, "COOR", "COOC", "DMATC"])
        raise failure("E0023", f"no tensor is made of Binsparse format `{name}`", f"give {known}")
    format, names = _ARRAYS[name]
    indices = [arrays[key] for key in names if key in arrays]
    if name in ("CVEC", "DCSR", "DCSC"):
        indices.insert(0, np.asarray([0, len(arrays["indices_0"])]))
    return from_buffers(format, shape, [*indices, values], fill_value=fill)


def _numpy(array: Any) -> np.ndarray:
    return array if isinstance(array, np.ndarray) else np.from_dlpack(array)


def is_pydata(x: Any) -> bool:
    """Whether `x` is a tensor of PyData `sparse`."""
    module = sys.modules.get("sparse")
    kind = getattr(module, "SparseArray", None)
    return kind is not None and isinstance(x, kind)


def of_pydata(x: Any, format: str | None) -> Tensor:
    """A tensor of one of PyData `sparse`: ``COO``, ``GCXS`` or ``DOK``. The arrays are copied."""
    from ._asarray import from_coo

    made = x.asformat("coo")
    if made.ndim == 0:
        from ._asarray import asarray

        return asarray(np.asarray(made.todense()))
    return from_coo(made.coords, made.data, made.shape, format=format, fill_value=made.fill_value)


def to_pydata(tensor: Tensor) -> Any:
    """As `Tensor.to_sparse`."""
    import sparse

    coords, values = tensor.to_coo()
    lists = np.stack(coords) if coords else np.zeros((0, len(values)), dtype=np.int64)
    return sparse.COO(
        lists, values, shape=tensor.shape, fill_value=tensor.fill_value, has_duplicates=False
    )

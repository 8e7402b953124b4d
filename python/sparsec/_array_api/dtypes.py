"""Types of entries, and questions about them. They are those of NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._asarray import asarray
from .._tensor import Tensor

bool = np.bool_
int8, int16, int32, int64 = np.int8, np.int16, np.int32, np.int64
uint8, uint16, uint32, uint64 = np.uint8, np.uint16, np.uint32, np.uint64
float32, float64 = np.float32, np.float64
complex64, complex128 = np.complex64, np.complex128
e, inf, nan, newaxis, pi = math.e, math.inf, math.nan, None, math.pi

_KINDS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}
_NAMES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128"
).split()

__all__ = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32",
    "float64", "complex64", "complex128", "e", "inf", "nan", "newaxis", "pi", "astype",
    "can_cast", "finfo", "iinfo", "isdtype", "result_type", "__array_namespace_info__",
]

finfo, iinfo = np.finfo, np.iinfo


def astype(x: Any, dtype: Any, /, *, copy: Any = True, device: Any = None) -> Tensor:
    """The tensor with values of another type.

    Examples
    --------
    >>> import sparsec
    >>> sparsec.astype(sparsec.asarray([1, 2]), sparsec.float32).dtype
    dtype('float32')
    """
    check_device(device)
    made = asarray(x).astype(dtype)
    return made.copy() if copy and made is x else made


def _type(x: Any) -> Any:
    return x.dtype if isinstance(x, Tensor) else x


def can_cast(from_: Any, to: Any, /) -> Any:
    """Whether every value of a type, or of a tensor's type, is one of another."""
    return np.can_cast(_type(from_), to)


def result_type(*given: Any) -> np.dtype:
    """The type that values of these types, tensors and numbers are computed in."""
    return np.result_type(*(_type(x) for x in given))


def isdtype(dtype: Any, kind: Any) -> Any:
    """Whether a type is of a kind, such as ``"integral"``, or one of several.

    Examples
    --------
    >>> import sparsec
    >>> sparsec.isdtype(sparsec.int8, ("integral", "bool"))
    True
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, one) for one in kind)
    if isinstance(kind, str):
        if kind not in _KINDS:
            raise ValueError(f"{kind!r} is no kind of types; give one of {', '.join(_KINDS)}")
        return np.dtype(dtype).kind in _KINDS[kind]
    return np.dtype(dtype) == np.dtype(kind)


def check_device(device: Any) -> None:
    """Refuses a device other than the processor.

    Raises
    ------
    ValueError
        For another device.
    """
    if device not in (None, "cpu"):
        raise ValueError(f"there is no device {device!r}; tensors are in the memory of the processor")


class _Info:
    """What the namespace offers, by the standard's inspection functions."""

    def capabilities(self) -> dict[str, Any]:
        """Boolean masks and shapes that depend on data are there."""
        return {
            "boolean indexing": True,
            "data-dependent shapes": True,
            "max dimensions": 64,
        }

    def default_device(self) -> str:
        """The one device."""
        return "cpu"

    def devices(self) -> list[str]:
        """All devices."""
        return ["cpu"]

    def default_dtypes(self, *, device: Any = None) -> dict[str, np.dtype]:
        """The types of numbers of Python."""
        check_device(device)
        names = {
            "real floating": "float64",
            "complex floating": "complex128",
            "integral": "int64",
            "indexing": "int64",
        }
        return {kind: np.dtype(name) for kind, name in names.items()}

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, np.dtype]:
        """The types of a kind, by name."""
        check_device(device)
        types = {name: np.dtype(name) for name in _NAMES}
        return {name: it for name, it in types.items() if kind is None or isdtype(it, kind)}


def __array_namespace_info__() -> _Info:
    """What the namespace offers."""
    return _Info()

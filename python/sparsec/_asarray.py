"""Tensors of arrays of NumPy and SciPy, of triplets and of buffers.

What is borrowed and what is copied stands with `asarray`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

import numpy as np

from . import _sparsec
from ._errors import failure
from ._exchange import is_pydata, of_binsparse, of_pydata
from ._torch import is_torch, of_torch

if TYPE_CHECKING:
    from ._tensor import Tensor

#: The arrays of SciPy's compressed matrices, in the order of our formats.
_COMPRESSED = ["indptr", "indices", "data"]


def asarray(
    x: Any,
    /,
    format: str | None = None,
    *,
    shape: Sequence[int] | None = None,
    dtype: Any = None,
    copy: bool | None = None,
) -> Tensor:
    """A tensor of an array of NumPy, SciPy, PyTorch or PyData, of triplets or nested lists.

    ====================================  ============================  ========================
    given                                 stored as, without `format`   arrays
    ====================================  ============================  ========================
    `numpy.ndarray`, in C or F order      dense, in the same order      borrowed
    other arrays, nested lists, numbers   ``dense``                     copied
    ``csr``, ``csc``, ``bsr`` of SciPy    the same                      borrowed
    ``coo`` of SciPy, any order           ``csr``, or ``csf``           copied, sorted
    ``coo`` with ``format="coo"``         ``coo``                       borrowed
    other formats of SciPy                ``csr``                       copied
    PyTorch: strided, CSR, CSC, BSR       the same                      values borrowed
    PyTorch: COO; PyData ``sparse``       ``csr``, or ``csf``           copied
    objects with ``__binsparse__``        the same                      copied
    ``(values, coordinates)``             ``csr``, or ``csf``           copied, sorted
    ====================================  ============================  ========================

    **Borrowed arrays are frozen.** Kernels follow positions and coordinates without checks,
    so an array that a tensor borrows becomes read-only (``flags.writeable``) until the last
    tensor that uses it is gone. Index arrays to which somebody else may have a writeable view
    are copied instead. ``copy=True`` leaves the arrays of the caller alone.

    Indices of 32 bits stay so. Borrowing takes O(1): the arrays are checked when they are first
    read, once, in O(nnz), and a mistake in them is an error there; `Tensor.check` asks for it
    at once. Arrays below 64 KiB are checked here. A matrix with unsorted or duplicate indices is
    then copied, sorted, and duplicates are added: in O(nnz log nnz).

    Parameters
    ----------
    x : array-like
        The data. A pair ``(values, coordinates)``, with a list of coordinates for each mode,
        is taken as triplets if `shape` is given.
    format : str or Format, optional
        A preset such as ``"csr"``, a map such as ``"(i, j) -> (j : compressed, i : dense)"``, or
        the text of a ``.fmt`` file. Entries that are zero are left out when a dense array becomes
        sparse.
    shape : sequence of int, optional
        The shape of triplets.
    dtype : dtype, optional
        The type of the values; by default that of `x`.
    copy : bool, optional
        Whether arrays are copied: always, never (an error where they cannot be borrowed), or,
        if None, where needed.

    Raises
    ------
    DtypeError
        For objects, text and other types that no tensor stores.
    InputError
        For indices out of range, and the code of what is wrong with a format.
    ValueError
        If ``copy=False`` and the arrays cannot be borrowed.

    Examples
    --------
    >>> import numpy as np, scipy.sparse, sparsec
    >>> matrix = scipy.sparse.csr_array(np.eye(3))
    >>> A = sparsec.asarray(matrix)
    >>> A.format, A.buffers["vals"].base is None, np.shares_memory(A.buffers["vals"], matrix.data)
    ('csr', False, True)
    >>> sparsec.asarray([[0, 7], [0, 0]], format="csc")
    <sparsec.Tensor i64[2, 2], csc, 1 stored
      (0, 1)  7>
    >>> sparsec.asarray(([5.0, 6.0], ([0, 1], [1, 0])), shape=(2, 2)).to_numpy()
    array([[0., 5.],
           [6., 0.]])
    """
    from ._lazy import Lazy
    from ._tensor import Tensor

    if isinstance(x, Lazy):
        # Functions of the package take expressions, which stay such.
        return x if dtype is None else x.astype(dtype)  # type: ignore[return-value]
    if shape is not None:
        values, coords = _triplets(x)
        return from_coo(coords, values, shape, format=format, dtype=dtype)
    if isinstance(x, Tensor):
        made = x if dtype is None else x.astype(dtype)
        made = made if format is None else made.convert(format)
        if made is not x and copy is False:
            raise _must_copy("a tensor in another format or of another type")
        return made.copy() if copy and made is x else made
    if is_torch(x):
        made = of_torch(x, None, copy)
        return asarray(made, format, dtype=dtype, copy=None)
    if is_pydata(x):
        if copy is False:
            raise _must_copy("a tensor of PyData sparse")
        made = of_pydata(x, format)
        return made if dtype is None else made.astype(dtype)
    if hasattr(x, "__binsparse_descriptor__"):
        if copy is False:
            raise _must_copy("an array of Binsparse")
        return asarray(of_binsparse(x), format, dtype=dtype, copy=None)
    if _is_scipy(x):
        if dtype is not None and x.dtype != np.dtype(dtype):
            if copy is False:
                raise _must_copy("a matrix of another type")
            x = x.astype(dtype)
        return _of_scipy(x, format, copy)
    return _of_numpy(x, format, dtype, copy)


def from_coo(
    coords: Sequence[Any] | np.ndarray,
    values: Any,
    shape: Sequence[int],
    *,
    format: str | None = None,
    dtype: Any = None,
    fill_value: Any = None,
    duplicates: str = "add",
) -> Tensor:
    """A tensor of coordinates and values, in any order.

    Time O(nnz) for each eight bits of a tuple of coordinates. The arrays are copied.

    Parameters
    ----------
    coords : sequence of array-like of int
        For each mode the coordinates of all entries, counted from 0; an array of shape
        ``(ndim, nnz)`` will do.
    values : array-like
        One value for each entry, or one for all.
    shape : sequence of int
        One extent for each mode. Extents may be large: memory follows from the entries.
    format : str, optional
        By default ``csr`` for two modes, else ``csf``.
    dtype : dtype, optional
        The type of the values.
    fill_value : number, optional
        The value of entries that are not stored; zero unless the format says otherwise.
    duplicates : {"add", "refuse"}
        Whether entries at equal coordinates are added or an error.

    Raises
    ------
    InputError
        For a coordinate that is negative or outside of its extent (``E0401``), lists of
        different lengths (``E0402``), or a duplicate (``E0408``).

    Examples
    --------
    >>> import sparsec
    >>> T = sparsec.from_coo([[7, 2**20 - 1], [0, 5], [3, 3], [1, 2]], [1.0, 2.0], (2**20,) * 4)
    >>> T.shape == (2**20,) * 4, T.nnz, T.nbytes < 1000
    (True, 2, True)
    """
    from ._tensor import Tensor

    if duplicates not in ("add", "refuse"):
        raise ValueError(f'duplicates is {duplicates!r}; give "add" or "refuse"')
    shape = checked_shape(shape)
    lists = [_coordinates(list_, mode) for mode, list_ in enumerate(coords)]
    if len(lists) != len(shape):
        raise failure(
            "E0402",
            f"coordinates of {len(lists)} modes for a tensor of {len(shape)} modes",
            "give a list of coordinates for each extent of the shape",
        )
    data = _values(values, dtype)
    if data.ndim == 0 and lists:
        data = np.full(len(lists[0]), data)
    if data.ndim != 1:
        data = data.reshape(-1)
    fill = _fill(fill_value, data.dtype)
    text = _default(len(shape)) if format is None else format
    distinct = duplicates == "refuse"
    return Tensor._of(_sparsec.Stored.packed(text, shape, lists, data, fill, distinct))


def from_buffers(
    format: str,
    shape: Sequence[int],
    buffers: Mapping[str, Any] | Sequence[Any],
    *,
    fill_value: Any = None,
) -> Tensor:
    """A tensor of the arrays that a format declares, as `Tensor.buffers` has them.

    The arrays are copied, and checked in time linear in them.

    Parameters
    ----------
    format : str
        A preset or a map.
    shape : sequence of int
    buffers : mapping or sequence of array-like
        The arrays in the order of the format, the values last; of a relation, in the order of
        their names.
    fill_value : number, optional
        The value of entries that are not stored; zero unless the format says otherwise.

    Raises
    ------
    InputError
        For an array that is missing or of the wrong length (``E0403``), segments that do not
        ascend (``E0404``), and coordinates out of range (``E0401``) or out of order (``E0405``).

    Examples
    --------
    >>> import sparsec
    >>> A = sparsec.from_buffers("csr", (2, 3), {"pos1": [0, 1, 2], "crd1": [2, 0], "vals": [5, 6]})
    >>> A.to_numpy()
    array([[0, 0, 5],
           [6, 0, 0]])
    """
    from ._tensor import Tensor

    given = list(buffers.values()) if isinstance(buffers, Mapping) else list(buffers)
    if not given:
        raise failure("E0403", "no arrays for a tensor", "give those that the format declares")
    *indices, values = given
    data = _values(values, None).reshape(-1)
    arrays = [_index_array(array) for array in indices]
    fill = _fill(fill_value, data.dtype)
    return Tensor._of(_sparsec.Stored.of_arrays(format, checked_shape(shape), [*arrays, data], fill))


def _of_numpy(x: Any, format: str | None, dtype: Any, copy: bool | None) -> Tensor:
    from ._tensor import Tensor

    array = _values(x, dtype)
    is_given = array is x or (isinstance(x, np.ndarray) and np.may_share_memory(array, x))
    # The columns of a matrix in Fortran order are the rows of its transpose.
    reversed_ = array.flags.f_contiguous and not array.flags.c_contiguous
    is_borrowed = (reversed_ or array.flags.c_contiguous) and array.flags.aligned
    if copy is False and not (is_given and is_borrowed and array.dtype.isnative):
        raise _must_copy("an array that is not contiguous, or of another type")
    is_kept = format is None or (format == "dense" and not reversed_)
    if copy is False and not is_kept:
        raise _must_copy("a dense array in another format")
    data = array.T if reversed_ else array
    stored = _sparsec.Stored.dense(data, reversed_, bool(copy) and is_kept)
    return Tensor._of(stored if format is None or is_kept else stored.convert(format))


def _is_scipy(x: Any) -> bool:
    module = sys.modules.get("scipy.sparse")
    return module is not None and bool(module.issparse(x))


def _of_scipy(x: Any, format: str | None, copy: bool | None) -> Tensor:
    from ._tensor import Tensor

    if x.format == "coo" and format != "coo":
        if copy is False:
            raise _must_copy("a matrix in `coo`, whose entries are sorted")
        return from_coo(_coords_of(x), x.data, x.shape, format=format)
    if x.format not in ("csr", "csc", "bsr", "coo"):
        if copy is False:
            raise _must_copy(f"a matrix in `{x.format}`")
        x = x.tocsr() if len(x.shape) == 2 else x.tocoo()
        return _of_scipy(x, format, None)
    own = _format_of(x)
    stored = _borrowed(x, own, copy, None if copy is False else _canonical(x))
    if format is not None and format != own:
        stored = stored.convert(format)
    return Tensor._of(stored)


def _format_of(x: Any) -> str:
    """The format that has the arrays of a matrix of SciPy."""
    if x.format == "bsr":
        rows, columns = x.blocksize
        return f"bsr({rows}, {columns})"
    if len(x.shape) == 1:
        return "(i) -> (i : compressed)" if x.format == "csr" else "coo"
    return str(x.format)


def _borrowed(
    x: Any, format: str, copy: bool | None, canonical: Callable[..., Any] | None
) -> _sparsec.Stored:
    if x.format == "coo":
        names = [f"coords[{mode}]" for mode in range(len(x.shape))] + ["data"]
        segments = [0, x.nnz]
        return _sparsec.Stored.of_attributes(format, x.shape, x, names, copy, segments, canonical)
    return _sparsec.Stored.of_attributes(format, x.shape, x, _COMPRESSED, copy, None, canonical)


def _canonical(x: Any) -> Callable[..., _sparsec.Stored]:
    """What makes a stored tensor of the arrays of a matrix like `x` if entries are out of order,
    or two are at one place."""
    kind, own = type(x), _format_of(x)

    def sorted_(shape: Sequence[int], arrays: Sequence[np.ndarray]) -> _sparsec.Stored:
        *indices, values = arrays
        if kind.__name__.startswith("coo"):
            given = (values, indices[0] if len(shape) == 1 else tuple(indices))
            made = kind(given, shape=tuple(shape), copy=True)
        else:
            made = kind((values, indices[1], indices[0]), shape=tuple(shape), copy=True)
        made.sum_duplicates()
        return _borrowed(made, own, None, None)

    return sorted_


def _coords_of(x: Any) -> Sequence[Any]:
    # Before 1.13 there are `row` and `col` alone.
    coords = getattr(x, "coords", None)
    return (x.row, x.col) if coords is None else coords


def _triplets(x: Any) -> tuple[Any, Any]:
    if isinstance(x, (tuple, list)) and len(x) == 2:
        return x[0], x[1]
    raise failure(
        "E0402",
        "a shape is given with data that are no triplets",
        "give `(values, coordinates)`, or leave out `shape`",
    )


def _default(order: int) -> str:
    return "dense" if order == 0 else "csr" if order == 2 else "csf"


def checked_shape(shape: int | Sequence[int]) -> list[int]:
    """The extents of a shape.

    Raises
    ------
    InputError
        For an extent that is negative or too large.
    """
    extents = [shape] if isinstance(shape, (int, np.integer)) else list(shape)
    for mode, extent in enumerate(extents):
        if not isinstance(extent, (int, np.integer)):
            raise TypeError(f"the extent of mode {mode} is {extent!r}; give an integer")
        if extent < 0:
            raise failure("E0402", f"mode {mode} has extent {extent}", "give 0 or more")
        if extent > np.iinfo(np.int64).max:
            raise failure("E0406", f"mode {mode} has extent {extent}", "give less than 2^63")
    return [int(extent) for extent in extents]


def _coordinates(x: Any, mode: int) -> np.ndarray:
    """Coordinates as integers of 64 bits; NaN and fractions are none."""
    array = np.asarray(x)
    if array.size and array.dtype.kind not in "iu":
        kind = f"of dtype {array.dtype}"
        raise failure(
            "E0403", f"coordinates of mode {mode} are {kind}", "give integers, counted from 0"
        )
    if array.dtype == np.uint64 and array.size and array.max() > np.iinfo(np.int64).max:
        raise failure(
            "E0401", f"a coordinate of mode {mode} is {array.max()}", "give less than 2^63"
        )
    return np.ascontiguousarray(array.reshape(-1), dtype=np.int64)


def _index_array(x: Any) -> np.ndarray:
    """An index array in a type that formats have: 8 and 16 bits without sign, 32 and 64 with."""
    array = np.asarray(x)
    if array.size and array.dtype.kind not in "iu":
        raise failure("E0403", f"an index array of dtype {array.dtype}", "give integers")
    if array.dtype not in (np.uint8, np.uint16, np.int32, np.int64):
        array = _coordinates(array, 0)
    return array.reshape(-1)


def _values(x: Any, dtype: Any) -> np.ndarray:
    if isinstance(x, np.ma.MaskedArray):
        raise failure(
            "E0451", "a masked array", "call `.filled(...)` for the values of masked entries"
        )
    array = np.asarray(x, dtype=dtype)
    if array.dtype.kind not in "biufc" or array.dtype.itemsize > 16 or array.dtype == np.longdouble:
        raise failure(
            "E0451",
            f"no tensor stores values of dtype `{array.dtype}`",
            "convert them with `.astype(...)` to bool, an integer, a float or a complex type",
        )
    return array


def _fill(value: Any, dtype: np.dtype) -> np.ndarray | None:
    if value is None:
        return None
    return np.asarray(value, dtype=dtype).reshape(1)


def _must_copy(what: str) -> ValueError:
    return ValueError(f"copy=False, and {what} is copied; leave `copy` out")

"""The class `Tensor`."""

from __future__ import annotations

import contextlib
import sys
from types import MappingProxyType
from typing import Any, Mapping, Sequence

import numpy as np

from . import _operators, _sparsec
from ._deferring import asks_scipy, no_array
from ._errors import failure
from ._operators import Operators

#: Entries that `repr` shows whole, and at each end of a longer list.
_MOST_ENTRIES = 10
_EDGE_ENTRIES = 3


def numpy_type(name: str) -> np.dtype:
    """The type of NumPy with this name.

    Raises
    ------
    DtypeError
        For ``bfloat16``, which NumPy does not have (``E0451``).
    """
    if name == "bfloat16":
        help = "compute a copy of another type: `B(i,j) = f32(A(i,j))`"
        raise failure("E0451", "NumPy has no dtype `bfloat16`", help)
    return np.dtype(name)


class Tensor(Operators):
    """A stored tensor: a format, a shape, and the arrays that the format declares.

    Made by `asarray`, `from_coo`, `read` and everything that computes. A tensor never changes,
    and may be used by several threads at once.

    Examples
    --------
    >>> import sparsec
    >>> A = sparsec.asarray([[0.0, 2.0], [3.0, 0.0]], format="csr")
    >>> A.shape, A.dtype, A.format, A.nnz
    ((2, 2), dtype('float64'), 'csr', 2)
    >>> A.levels
    ('i : dense', 'j : compressed')
    >>> {name: array.tolist() for name, array in A.buffers.items()}
    {'pos1': [0, 1, 2], 'crd1': [1, 0], 'vals': [2.0, 3.0]}
    """

    __slots__ = ("_stored",)

    #: Dask asks the operand of the highest priority how to compute.
    __array_priority__ = 10.0

    _stored: _sparsec.Stored

    def __init__(self) -> None:
        raise TypeError("make a tensor with sparsec.asarray, from_coo, from_buffers or read")

    @classmethod
    def _of(cls, stored: _sparsec.Stored) -> Tensor:
        made = object.__new__(cls)
        made._stored = stored
        return made

    @property
    def shape(self) -> tuple[int, ...]:
        """One extent for each mode."""
        return self._stored.shape

    @property
    def dtype(self) -> np.dtype:
        """The type of the values.

        Raises
        ------
        DtypeError
            For a type that NumPy does not have (``E0451``).
        """
        return numpy_type(self._stored.dtype)

    @property
    def format(self) -> str:
        """How the entries are arranged, as text that `convert` takes: the name of a preset, a map of
        levels, or the text of a ``.fmt`` file."""
        return self._stored.short_format

    @property
    def nnz(self) -> int:
        """How many entries are stored, zeros among them and padding included."""
        return self._stored.nnz

    @property
    def nbytes(self) -> int:
        """How many bytes the arrays take."""
        return self._stored.nbytes

    @property
    def fill_value(self) -> Any:
        """The value of every entry that is not stored, as a scalar of NumPy."""
        return self.dtype.type(self._stored.fill)

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels of storage, outermost first: what each stores, and its kind.

        A format that is a relation has no levels. Its one item names the relation.
        """
        return tuple(self._stored.levels)

    @property
    def buffers(self) -> Mapping[str, np.ndarray]:
        """The arrays by name, as read-only views: ``pos1``, ``crd1``, ..., ``vals``.

        Those of a relation have the names of its functions.
        A view keeps the memory alive. Values of ``bfloat16`` are shown as their bits.
        """
        return MappingProxyType(dict(self._stored.buffers))

    def convert(self, format: str) -> Tensor:
        """The tensor in another format of as many modes.

        Stored entries stay stored, but for padding. A tensor that has the format is returned
        as it is. Large tensors are converted by kernels that are derived from both formats.

        Parameters
        ----------
        format : str
            A preset (``"csc"``, ``"bsr(4, 4)"``, ``"csf"``, ``"jds"``), a map, or the text of a
            ``.fmt`` file. Kernels read levels: a tensor whose format is a relation is copied to
            the nearest format of levels when it is first computed with, and keeps the copy.

        Raises
        ------
        InputError
            For a format that does not exist, or that cannot store these entries (``E0519``,
            ``E0830``).
        OutOfMemoryError
            For a format that stores far more than the entries, such as ``"dense"``.

        Examples
        --------
        >>> import sparsec
        >>> A = sparsec.asarray([[0.0, 2.0], [3.0, 0.0]])
        >>> A.convert("csc").buffers["crd1"]
        array([1, 0], dtype=int32)
        >>> J = A.convert("jds")
        >>> J.levels, sorted(J.buffers)
        (('jds : relation',), ['col', 'perm', 'ptr', 'vals'])
        >>> (J @ [1.0, 1.0]).to_numpy()
        array([2., 3.])
        """
        if format in (self._stored.short_format, self._stored.format):
            return self
        return Tensor._of(self._stored.convert(format))

    def astype(self, dtype: Any) -> Tensor:
        """The tensor with values of another type; itself if it has that type.

        Raises
        ------
        InputError
            For a value that no integer is near (``E0512``).
        """
        wanted = np.dtype(dtype)
        if wanted == self.dtype:
            return self
        return self._cast(wanted)

    def check(self) -> Tensor:
        """The tensor itself, after its arrays were checked.

        Arrays of others are checked when they are first read, which is here at the latest.

        Raises
        ------
        InputError
            For coordinates that are out of range (``E0401``) and segments that do not ascend
            (``E0404``).

        Examples
        --------
        >>> import numpy as np, scipy.sparse, sparsec
        >>> matrix = scipy.sparse.random_array((500, 500), density=0.1, format="csr")
        >>> matrix.indices[-1] = 500
        >>> A = sparsec.asarray(matrix)
        >>> try:
        ...     A.check()
        ... except sparsec.InputError as error:
        ...     print(error.code)
        E0401
        """
        self._stored.check()
        return self

    def copy(self) -> Tensor:
        """The tensor with arrays of its own, so that borrowed ones can be written again."""
        return Tensor._of(self._stored.copy())

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Tensor:
        return self.copy()

    def to_numpy(self, copy: bool | None = None) -> np.ndarray:
        """The tensor as a dense array.

        Parameters
        ----------
        copy : bool, optional
            Whether the array is the caller's. By default a dense tensor gives a read-only view,
            and other tensors a new array.

        Raises
        ------
        OutOfMemoryError
            If the array takes more memory than there is.
        """
        (values,) = self._stored.arrays_in("dense", bool(copy))
        return values.reshape(self.shape)

    def to_scipy(self, format: str | None = None, copy: bool | None = None) -> Any:
        """The tensor as a sparse array of SciPy.

        Parameters
        ----------
        format : {"csr", "csc", "coo", "bsr", "dia", "lil", "dok"}, optional
            By default the tensor's own if SciPy has it, else ``csr``, or ``coo`` if there are
            other than two modes.
        copy : bool, optional
            Whether the arrays are the caller's. By default those of the tensor are shared, and
            read-only.

        Raises
        ------
        InputError
            For a fill value that is not zero, which SciPy does not have.
        ImportError
            If SciPy is not installed.

        Examples
        --------
        >>> import sparsec
        >>> A = sparsec.asarray([[0.0, 2.0], [3.0, 0.0]], format="csr")
        >>> matrix = A.to_scipy()
        >>> matrix.format, matrix.nnz, matrix.data.flags.writeable
        ('csr', 2, False)
        """
        from ._scipy import to_scipy

        return to_scipy(self, format, copy)

    def to_sparse(self) -> Any:
        """The tensor as a ``sparse.COO`` of PyData, with its fill. The arrays are the caller's.

        Raises
        ------
        ImportError
            If the package ``sparse`` is not installed.
        """
        from ._exchange import to_pydata

        return to_pydata(self)

    def to_torch(self, layout: str | None = None) -> Any:
        """The tensor as one of PyTorch. The arrays are the caller's.

        Parameters
        ----------
        layout : {"strided", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_coo"}, optional
            By default the tensor's own if PyTorch has it, else ``sparse_coo``.

        Raises
        ------
        InputError
            For a sparse layout of a fill that is not zero, and for one that PyTorch does not have.
        ImportError
            If PyTorch is not installed.
        """
        from ._torch import to_torch

        return to_torch(self, layout)

    def __binsparse_descriptor__(self) -> dict[str, Any]:
        """The descriptor of the tensor, as a Binsparse file has it."""
        from ._exchange import descriptor

        return descriptor(self)

    def __binsparse__(self) -> dict[str, np.ndarray]:
        """The arrays that the descriptor names.

        Examples
        --------
        >>> import sparsec
        >>> A = sparsec.asarray([[0.0, 2.0], [3.0, 0.0]], format="csr")
        >>> A.__binsparse_descriptor__()["binsparse"]["format"]
        'CSR'
        >>> A.__binsparse__()["pointers_to_1"]
        array([0, 1, 2], dtype=int32)
        """
        from ._exchange import arrays_of

        return arrays_of(self)

    def to_coo(self) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
        """The stored entries, in storage order: coordinates for each mode, and values.

        Padding of blocks and diagonals is left out where it holds the fill value.

        Examples
        --------
        >>> import sparsec
        >>> coords, values = sparsec.asarray([[0, 2], [3, 0]], format="csr").to_coo()
        >>> [mode.tolist() for mode in coords], values.tolist()
        ([[0, 1], [1, 0]], [2, 3])
        """
        coords, values = self._stored.entries()
        return tuple(coords), values

    def item(self) -> Any:
        """The value of a tensor of one entry, as a Python number."""
        if self.size != 1:
            raise ValueError(f"a tensor of shape {self.shape} is no single number")
        return self._stored.get([0] * self.ndim)

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError("a tensor of several entries is neither true nor false; use any or all")
        return bool(self.item())

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TypeError("a tensor without modes has no length")
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if asks_scipy():
            return no_array(self)
        if any(": dense" not in level for level in self.levels):
            raise failure(
                "E0470",
                f"a tensor in `{self.format}` does not become dense by itself",
                "call `to_numpy()` for all of its entries",
            )
        array = self.to_numpy(copy)
        return array if dtype is None else array.astype(dtype, copy=False)

    @property
    def device(self) -> str:
        """Where the arrays are: ``"cpu"``."""
        return "cpu"

    def to_device(self, device: str, /, *, stream: Any = None) -> Tensor:
        """The tensor itself: there is one device."""
        if device != "cpu":
            raise ValueError(f"there is no device {device!r}; tensors are in the memory of the processor")
        return self

    def __index__(self) -> int:
        if self.ndim or self.dtype.kind not in "iu":
            raise TypeError("an index is an integer without modes")
        return int(self.item())

    def __dlpack__(self, **options: Any) -> Any:
        """A dense tensor as a capsule of DLPack, read-only; the arrays of others are in `buffers`."""
        return np.asarray(self).__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        """The processor."""
        return (1, 0)

    def __repr__(self) -> str:
        text = self._stored.text(_MOST_ENTRIES, _EDGE_ENTRIES)
        return f"<sparsec.Tensor {text}>"

    def _repr_html_(self) -> str:
        from ._html import html

        return html(self)

    def assign(self, key: Any, value: Any) -> Tensor:
        """A copy with other entries in a part of it; the tensor itself never changes.

        Parameters
        ----------
        key : index, or tuple of indices
            Integers, slices, arrays of integers, or a mask of truth values.
        value : number or array-like
            What the part becomes, broadcast to its shape. Entries equal to the fill are not
            stored.

        Raises
        ------
        IndexError
            For coordinates outside of the tensor.

        Examples
        --------
        >>> import sparsec
        >>> A = sparsec.asarray([[0, 2], [3, 0]], format="csr")
        >>> A.assign((0, slice(None)), 7)
        <sparsec.Tensor i64[2, 2], csr, 3 stored
          (0, 0)  7
          (0, 1)  7
          (1, 0)  3>
        >>> A.assign(A == 3, 4).to_numpy()
        array([[0, 2],
               [4, 0]])
        """
        from ._selection import assigned

        return assigned(self, key, value)

    def __setitem__(self, key: Any, value: Any) -> None:
        raise TypeError("a tensor never changes; use `tensor = tensor.assign(key, value)`")

    def reshape(self, *shape: Any) -> Tensor:
        """The same entries, in C order, in another shape, as `sparsec.reshape`.

        Parameters
        ----------
        *shape : int, or one sequence of int
            One extent may be -1: it follows from the others.

        Examples
        --------
        >>> import sparsec
        >>> sparsec.asarray([[0, 2], [3, 0]], format="csr").reshape(4).to_numpy()
        array([0, 2, 3, 0])
        """
        from ._array_api.manipulation import reshape

        extents = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        return reshape(self, extents)

    def squeeze(self, axis: int | Sequence[int] | None = None) -> Tensor:
        """The tensor without some modes of extent 1, as `sparsec.squeeze`.

        Examples
        --------
        >>> import sparsec
        >>> sparsec.asarray([[0, 2]], format="csr").squeeze(0).shape
        (2,)
        """
        from ._array_api.manipulation import squeeze

        return squeeze(self, axis)

    def matvec(self, x: Any) -> np.ndarray:
        """The product of a matrix with a vector of NumPy, which SciPy's solvers ask for.

        Examples
        --------
        >>> import numpy as np, sparsec
        >>> from scipy.sparse.linalg import cg
        >>> A = sparsec.asarray(np.diag([1.0, 2.0, 4.0]), format="csr")
        >>> np.round(cg(A, np.ones(3))[0], 9)
        array([1.  , 0.5 , 0.25])
        """
        # Solvers write into what they get.
        made: np.ndarray = (self @ np.asarray(x)).to_numpy(copy=True)
        return made

    def rmatvec(self, x: Any) -> np.ndarray:
        """As `matvec`, of the conjugate transpose."""
        made: Tensor = self.__rmatmul__(np.asarray(x).conj().T)
        return made.to_numpy(copy=True).conj().T

    def __reduce__(self) -> Any:
        stored = self._stored
        if stored.is_relation:
            # Its constants are no arrays. The entries say all.
            return Tensor.convert, (self.convert("csr" if self.ndim == 2 else "csf"), self.format)
        arrays = [array for _, array in stored.buffers]
        return _rebuilt, (stored.format, stored.shape, arrays, stored.fill, self.dtype)


_operators._made = Tensor._of


def _rebuilt(
    format: str, shape: Sequence[int], arrays: list[np.ndarray], value: Any, dtype: np.dtype
) -> Tensor:
    """A pickled tensor: its arrays are checked as those of any other."""
    if "dask" in sys.modules:
        # A worker has to know how Dask puts chunks together.
        with contextlib.suppress(ImportError):
            from . import dask  # noqa: F401
    fill = np.asarray(value, dtype=dtype).reshape(1)
    return Tensor._of(_sparsec.Stored.of_arrays(format, list(shape), arrays, fill))

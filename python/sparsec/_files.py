"""Reading and writing files of tensors."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import _sparsec
from ._asarray import asarray
from ._tensor import Tensor


def read(path: str | os.PathLike[str], format: str | None = None, dtype: Any = None) -> Tensor:
    """Reads the tensor of a file.

    The end of the name says the type: ``.mtx`` (Matrix Market), ``.tns`` (FROSTT), ``.npy``,
    ``.npz`` (SciPy and ours), ``.h5`` (Binsparse), ``.rb``; ``.gz`` and ``.zst`` behind it are
    expanded.

    Parameters
    ----------
    path : path-like
        The file.
    format : str, optional
        How the tensor is stored. By default as in the file; entries of text files become
        ``csr``, or ``csf`` if there are other than two modes.
    dtype : dtype, optional
        The type of the values; by default that of the file. A type that would lose a value is
        refused.

    Raises
    ------
    FileError
        If the file cannot be opened.
    InputError
        For what is wrong in the file, with the line and a caret.

    Examples
    --------
    >>> import os, sparsec, tempfile
    >>> A = sparsec.from_coo([[0, 1], [1, 0]], [2.0, 3.0], shape=(2, 2))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sparsec.write(os.path.join(folder, "a.mtx"), A)
    ...     print(sparsec.read(os.path.join(folder, "a.mtx"), format="csc").format)
    csc
    """
    name = None if dtype is None else np.dtype(dtype).name
    return Tensor._of(_sparsec.read(os.fspath(path), format, name))


def write(path: str | os.PathLike[str], tensor: Any) -> None:
    """Writes a tensor to a file, which appears whole or not at all.

    Parameters
    ----------
    path : path-like
        The file; the end of its name says the type, as for `read`. A ``.tns`` file states its
        extents if its entries do not reach them.
    tensor : Tensor or anything that `asarray` takes

    Raises
    ------
    FileError
        If the file cannot be written.
    InputError
        For a tensor that this type of file cannot state.
    """
    _sparsec.write(os.fspath(path), asarray(tensor)._stored)

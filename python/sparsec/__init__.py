"""Sparse tensors of any order and format, and a compiler for what is computed with them.

==========================  ==========================================================
function                    does
==========================  ==========================================================
`asarray`                   makes a tensor of arrays of NumPy or SciPy, often without a copy
`from_coo`, `from_buffers`  the same of coordinates and values, or of the arrays of a format
`evaluate`                  computes a program of index notation
`evaluate_all`              the same, with the results of all statements
`einsum`                    computes a product written with a letter for each mode
`lazy`, `compute`           computes a whole expression by one program
`jit`                       compiles a function of tensors
`function`                  translates a scalar function of the user
`gradient`                  derives a program by an operand; `sparsec.torch` for PyTorch
`Format`                    reads how entries are arranged, for all that take a format
`explain`                   shows a stage between the program and its kernel
`cp_als`, `tucker_hooi`     decompose a tensor
`read`, `write`             files: ``.mtx``, ``.tns``, ``.npz``, ``.h5`` and others
`configure`                 chooses the threads, the engine, the cache and the memory
==========================  ==========================================================

Operators of `Tensor` (``+ - * / // % ** @``, comparisons), its methods (``sum``, ``max``,
``permute_dims``, ...) and the functions of the array API standard (`exp`, `concat`, `matmul`, ...)
are written with `evaluate`, or move entries.

Examples
--------
>>> import numpy as np
>>> import sparsec
>>> A = sparsec.from_coo([[0, 0, 1], [0, 2, 1]], [1.0, 2.0, 3.0], shape=(2, 3))
>>> sparsec.evaluate("y(i) = A(i,j) * x(j)", A=A, x=np.array([1.0, 10.0, 100.0])).to_numpy()
array([201.,  30.])
"""

from ._array_api.creation import *
from ._array_api.dtypes import *
from ._array_api.dtypes import __array_namespace_info__
from ._array_api.elementwise import *
from ._array_api.linear import *
from ._array_api.manipulation import *
from ._array_api.reductions import *
from ._array_api.searching import *
from ._array_api.taking import *
from ._asarray import asarray, from_buffers, from_coo
from ._compute import einsum, evaluate, evaluate_all, evaluate_to, explain, gradient
from ._config import configuration, configure
from ._decompose import cp_als, tucker_hooi
from ._errors import ClusterError, DtypeError, Error, FileError, InputError, OutOfMemoryError
from ._files import read, write
from ._format import Format
from ._jit import function, jit
from ._lazy import Lazy, compute, lazy
from ._tensor import Tensor

for _class in (
    ClusterError, DtypeError, Error, FileError, Format, InputError, OutOfMemoryError, Tensor
):
    _class.__module__ = "sparsec"
del _class

# Written out: type checkers take nothing else.
__all__ = [
    "ClusterError", "DtypeError", "Error", "FileError", "Format", "InputError", "Lazy",
    "OutOfMemoryError", "Tensor", "asarray", "compute", "configuration", "configure", "cp_als", "einsum", "evaluate",
    "evaluate_all", "evaluate_to", "explain", "from_buffers", "from_coo", "function", "gradient",
    "jit", "lazy", "read", "tucker_hooi", "write",
]

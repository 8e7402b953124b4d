"""How SciPy's operators come to leave tensors to ours.

An operator of SciPy asks an operand that it does not know for an array, by ``np.asanyarray``. If
that is an object without modes, SciPy takes it that there is none, and Python calls the operand's
own operator::

    S @ A      S.__matmul__(A)   asks A.__array__()    an object without modes: no array
               NotImplemented
               A.__rmatmul__(S)                        a tensor

NumPy's functions would compute with such an object, so they do not get it. The interpreter's stack
says who asks.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

#: Those that ask. Sums and differences leave operands that they do not know to these at once.
_OPERATORS = frozenset(
    f"__{name}__" for name in ("matmul", "mul", "truediv", "eq", "ne", "lt", "le", "gt", "ge")
)
#: Where SciPy has its arrays, but not its solvers.
_ARRAYS = "scipy.sparse._"
#: Where ``*`` is a product of matrices, and that of tensors is none.
_MATRICES = "scipy.sparse._matrix"


def asks_scipy() -> bool:
    """Whether an operator of SciPy's sparse arrays called the caller."""
    frame = sys._getframe(2)
    while frame is not None:
        module = frame.f_globals.get("__name__") or ""
        if not module.startswith(_ARRAYS):
            return False
        if frame.f_code.co_name in _OPERATORS:
            return module != _MATRICES
        frame = frame.f_back  # type: ignore[assignment]
    return False


def no_array(operand: Any) -> np.ndarray:
    """The operand as an object without modes."""
    made = np.empty((), dtype=object)
    made[()] = operand
    return made

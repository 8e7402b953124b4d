"""Verifies modules with the MLIR inside of a wheel of `jaxlib`.

    python verify.py MODULE...

Debian has no `mlir-opt` of the releases 17, 18 and 20. Wheels of jaxlib have the dialect
`sparse_tensor` of their time: 0.4.13 was built weeks before release 17, 0.4.24 days after 18, and
0.4.38 weeks before 20. They lack `linalg`, `tensor`, `bufferization` and `complex`, so that modules
must have the generic form, in which operations of unknown dialects are accepted.

Prints a line for each module: `accepted`, or the refusal as a string of JSON.
"""

import ctypes
import json
import pathlib
import sys

import jaxlib.mlir._mlir_libs as libraries
from jaxlib.mlir import ir

DIALECTS = ["func", "arith", "math", "scf", "memref", "vector", "sparse_tensor"]


def context():
    """A context that knows `sparse_tensor`, which Python cannot ask for by name."""
    folder = pathlib.Path(libraries.__file__).parent
    library = ctypes.CDLL(str(folder / "libjaxlib_mlir_capi.so"))
    python = ctypes.pythonapi
    python.PyCapsule_GetName.restype = ctypes.c_char_p
    python.PyCapsule_GetName.argtypes = [ctypes.py_object]
    python.PyCapsule_GetPointer.restype = ctypes.c_void_p
    python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    library.mlirDialectHandleLoadDialect.argtypes = [ctypes.c_void_p, ctypes.c_void_p]

    made = ir.Context()
    made.allow_unregistered_dialects = True
    capsule = made._CAPIPtr
    pointer = python.PyCapsule_GetPointer(capsule, python.PyCapsule_GetName(capsule))
    for dialect in DIALECTS:
        handle = getattr(library, f"mlirGetDialectHandle__{dialect}__", None)
        if handle is not None:
            handle.restype = ctypes.c_void_p
            library.mlirDialectHandleLoadDialect(handle(), pointer)
    return made


def refusal(text):
    """The reason why a module is refused; none if it is accepted."""
    try:
        module = ir.Module.parse(text)
        module.operation.verify()
    except Exception as error:  # noqa: BLE001: releases raise errors of several types
        return str(error)
    return None


with context():
    for name in sys.argv[1:]:
        why = refusal(pathlib.Path(name).read_text())
        print("accepted" if why is None else json.dumps(why))

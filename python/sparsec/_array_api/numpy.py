"""Functions of NumPy that are given tensors, as functions of the package.

``np.sum(A)`` calls `dispatch` by the protocol ``__array_function__`` (NEP 18). A function that
has no entry here is refused with the way out: it would make a dense array.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from .._compute import einsum
from .._errors import DtypeError, of_diagnostic
from . import creation, elementwise, linear, manipulation, matrices, reductions, searching, taking

#: Arguments that NumPy has and the standard does not, at the values that change nothing.
_DEFAULTS = {"out": None, "where": True, "initial": np._NoValue, "order": ("K", "C", None)}


def _renamed(function: Callable[..., Any], **names: str) -> Callable[..., Any]:
    """A function whose arguments have other names."""

    def called(*arguments: Any, **options: Any) -> Any:
        given = {names.get(name, name): value for name, value in options.items()}
        return function(*arguments, **{name: it for name, it in given.items() if it is not None})

    return called


def _reduction(function: Callable[..., Any]) -> Callable[..., Any]:
    def called(x: Any, axis: Any = None, dtype: Any = None, **options: Any) -> Any:
        if dtype is not None:
            options["dtype"] = dtype
        if options.get("keepdims") is np._NoValue:
            del options["keepdims"]
        return function(x, axis=axis, **options)

    return called


def _moment(function: Callable[..., Any]) -> Callable[..., Any]:
    def called(x: Any, axis: Any = None, ddof: float = 0, **options: Any) -> Any:
        if options.get("keepdims") is np._NoValue:
            del options["keepdims"]
        options.setdefault("correction", ddof)
        return function(x, axis=axis, **options)

    return called


def _nansum(x: Any, **options: Any) -> Any:
    """The sum of the entries that are no NaN; a fill that is NaN counts as 0."""
    if x.dtype.kind not in "fc":
        return reductions.sum(x, **options)
    return reductions.sum(elementwise.where(elementwise.isnan(x), x.dtype.type(0), x), **options)


def _axis(function: Callable[..., Any], default: Any) -> Callable[..., Any]:
    """A function whose axis NumPy takes by place."""

    def called(x: Any, axis: Any = default, **options: Any) -> Any:
        return function(x, axis=axis, **options)

    return called


def _transpose(x: Any, axes: Any = None) -> Any:
    return x.T if axes is None else x.permute_dims(tuple(axes))


def _concatenate(arrays: Any, axis: Any = 0, dtype: Any = None, casting: Any = None) -> Any:
    made = manipulation.concat(arrays, axis=axis)
    return made if dtype is None else made.astype(dtype)


def _tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    return linear.tensordot(a, b, axes=axes)


def _roll(x: Any, shift: Any, axis: Any = None) -> Any:
    return manipulation.roll(x, shift, axis=axis)


def _repeat(x: Any, repeats: Any, axis: Any = None) -> Any:
    return manipulation.repeat(x, repeats, axis=axis)


def _triangle(function: Callable[..., Any]) -> Callable[..., Any]:
    def called(m: Any, k: int = 0) -> Any:
        return function(m, k=k)

    return called


def _where(condition: Any, *chosen: Any) -> Any:
    return elementwise.where(condition, *chosen) if chosen else searching.nonzero(condition)


def _einsum(*operands: Any, **options: Any) -> Any:
    options.pop("optimize", None)
    return einsum(*operands, **options)


def _dot(a: Any, b: Any) -> Any:
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return a * b
    return linear.tensordot(a, b, axes=([np.ndim(a) - 1], [max(np.ndim(b) - 2, 0)]))


def _take(a: Any, indices: Any, axis: Any = None) -> Any:
    flat = manipulation.reshape(a, (-1,)) if axis is None else a
    return taking.take(flat, indices, axis=axis)


def _diff(a: Any, n: int = 1, axis: int = -1, **options: Any) -> Any:
    # A number stands before or behind all that is along the axis.
    row = [1 if mode == axis % np.ndim(a) else extent for mode, extent in enumerate(np.shape(a))]
    for end in ("prepend", "append"):
        value = options.get(end)
        if value is not None and value is not np._NoValue and np.ndim(value) == 0:
            options[end] = np.full(row, value)
    return taking.diff(a, axis=axis, n=n, **options)


def _like(function: Callable[..., Any]) -> Callable[..., Any]:
    def called(x: Any, *arguments: Any, **options: Any) -> Any:
        for name, value in {"subok": True, "shape": None}.items():
            if options.pop(name, value) != value:
                raise TypeError(f"`{name}` is not taken for tensors")
        return function(x, *arguments, **options)

    return called


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.sum: _reduction(reductions.sum),
    np.nansum: _reduction(_nansum),
    np.prod: _reduction(reductions.prod),
    np.max: _reduction(reductions.max),
    np.min: _reduction(reductions.min),
    np.any: _reduction(reductions.any),
    np.all: _reduction(reductions.all),
    np.mean: _reduction(reductions.mean),
    np.var: _moment(reductions.var),
    np.std: _moment(reductions.std),
    np.count_nonzero: _reduction(reductions.count_nonzero),
    np.argmax: _axis(searching.argmax, None),
    np.argmin: _axis(searching.argmin, None),
    np.nonzero: searching.nonzero,
    np.where: _where,
    np.clip: _renamed(elementwise.clip, a_min="min", a_max="max"),
    np.real: elementwise.real,
    np.imag: elementwise.imag,
    np.round: elementwise.round,
    np.concatenate: _concatenate,
    np.stack: _axis(manipulation.stack, 0),
    np.vstack: lambda tup: manipulation.concat([_at_least(x, 2) for x in tup], axis=0),
    np.hstack: lambda tup: manipulation.concat(tup, axis=1 if np.ndim(tup[0]) > 1 else 0),
    np.reshape: _renamed(manipulation.reshape, newshape="shape"),
    np.ravel: lambda a: manipulation.reshape(a, (-1,)),
    np.transpose: _transpose,
    np.swapaxes: lambda a, axis1, axis2: manipulation.moveaxis(a, (axis1, axis2), (axis2, axis1)),
    np.moveaxis: manipulation.moveaxis,
    np.expand_dims: _axis(manipulation.expand_dims, 0),
    np.squeeze: _axis(manipulation.squeeze, None),
    np.flip: _axis(manipulation.flip, None),
    np.roll: _roll,
    np.repeat: _repeat,
    np.tile: manipulation.tile,
    np.take: _take,
    np.take_along_axis: lambda arr, indices, axis=-1: taking.take_along_axis(arr, indices, axis=axis),
    np.diff: _diff,
    np.isin: taking.isin,
    np.broadcast_to: manipulation.broadcast_to,
    np.broadcast_arrays: manipulation.broadcast_arrays,
    np.tril: _triangle(creation.tril),
    np.triu: _triangle(creation.triu),
    np.zeros_like: _like(creation.zeros_like),
    np.ones_like: _like(creation.ones_like),
    np.full_like: _like(creation.full_like),
    np.empty_like: _like(creation.empty_like),
    np.tensordot: _tensordot,
    np.einsum: _einsum,
    np.dot: _dot,
    np.vdot: lambda a, b: linear.vecdot(
        manipulation.reshape(a, (-1,)), manipulation.reshape(b, (-1,))
    ),
    np.inner: lambda a, b: linear.tensordot(a, b, axes=([np.ndim(a) - 1], [np.ndim(b) - 1])),
    np.outer: linear.outer,
    np.diag: matrices.diag,
    np.diagonal: matrices.diagonal,
    np.trace: matrices.trace,
    np.kron: matrices.kron,
    np.linalg.norm: matrices.norm,
    np.ndim: lambda a: a.ndim,
    np.shape: lambda a: a.shape,
    np.size: lambda a, axis=None: a.size if axis is None else a.shape[axis],
    np.copy: lambda a: a.copy(),
    np.array_equal: lambda a, b: np.shape(a) == np.shape(b) and bool((a == b).all()),
    np.allclose: lambda a, b, rtol=1e-5, atol=1e-8: bool(
        (elementwise.abs(a - b) <= atol + rtol * elementwise.abs(b)).all()
    ),
}


def _at_least(x: Any, order: int) -> Any:
    while np.ndim(x) < order:
        x = manipulation.expand_dims(x, axis=0)
    return x


def dispatch(function: Any, arguments: Any, options: Any) -> Any:
    """Calls the function that stands for one of NumPy.

    Raises
    ------
    DtypeError
        For a function that none stands for, with the way out.
    """
    name = f"{function.__module__}.{function.__name__}"
    called = _FUNCTIONS.get(function)
    if called is None:
        raise _refused("E0470", f"`{name}` of a tensor would make a dense array of it")
    kept = {}
    for option, value in options.items():
        default = _DEFAULTS.get(option, _DEFAULTS)
        is_default = value in default if isinstance(default, tuple) else value is default
        if option in _DEFAULTS and not is_default:
            raise _refused("E0005", f"`{name}` of a tensor takes no `{option}`")
        if option not in _DEFAULTS:
            kept[option] = value
    return called(*arguments, **kept)


def _refused(code: str, message: str) -> Exception:
    error = of_diagnostic(
        code,
        message,
        f"error[{code}]: {message}\n  = help: call it with `tensor.to_numpy()`, if it may be dense",
    )
    refused = DtypeError(str(error))
    refused.code, refused.message = error.code, error.message
    return refused

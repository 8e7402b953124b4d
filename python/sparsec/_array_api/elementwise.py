"""Elementwise functions: each is one expression of index notation.

A function is given by its expression, with ``{0}``, ``{1}`` for the arguments. A kernel
visits entries that are stored; the expression of the fills is the fill of the result.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from .._errors import failure
from .._forms import LOGADDEXP
from .._operators import SIGNBIT, apply, of_bits
from .._tensor import Tensor

__all__ = [
    "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and",
    "bitwise_invert", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor",
    "ceil", "clip", "conj", "copysign", "cos", "cosh",
    "divide", "equal", "exp", "expm1", "floor", "floor_divide", "greater", "greater_equal",
    "hypot", "imag", "isfinite", "isinf", "isnan", "less", "less_equal", "log", "log10",
    "log1p", "log2", "logaddexp", "logical_and", "logical_not", "logical_or", "logical_xor",
    "maximum", "minimum", "multiply", "negative", "not_equal", "positive", "pow", "real",
    "reciprocal", "remainder", "round", "sign", "signbit", "sin", "sinh", "sqrt", "square", "subtract",
    "tan", "tanh", "trunc", "where",
]

Unary = Callable[[Any], Tensor]
Binary = Callable[[Any, Any], Tensor]

_NOTE = """.

    A number for each entry. Arguments are tensors, or what `asarray` takes; their shapes are
    broadcast. Entries that are stored in no argument are stored in no result: its fill is the
    function of the fills. Time linear in the stored entries.

    Source: Python array API standard, v2024.12, https://data-apis.org/array-api/2024.12/.
    """


def _kind(x: Any) -> str:
    return str(x.dtype.kind) if hasattr(x, "dtype") else np.asarray(x).dtype.kind


def _named(function: Any, name: str, text: str) -> Any:
    function.__name__ = function.__qualname__ = name
    function.__module__ = "sparsec"
    function.__doc__ = text + _NOTE
    return function


def _unary(name: str, form: str, text: str) -> Unary:
    def function(x: Any, /) -> Tensor:
        return apply(form, x)

    return _named(function, name, text)  # type: ignore[no-any-return]


def _rounded(name: str, text: str) -> Unary:
    form = f"{name}({{0}})"

    def function(x: Any, /) -> Tensor:
        return apply("{0}" if _kind(x) in "biu" else form, x)

    return _named(function, name, text)  # type: ignore[no-any-return]


def _asked(name: str, of_integers: str, text: str) -> Unary:
    """A question about a number, which has one answer for all integers."""
    form = f"{name}({{0}})"
    # A complex number is finite if both parts are.
    joined = "({0} and {1})" if name == "isfinite" else "({0} or {1})"
    of_parts = joined.format(f"{name}(real({{0}}))", f"{name}(imag({{0}}))")
    forms = {"f": form, "c": of_parts}

    def function(x: Any, /) -> Tensor:
        return apply(forms.get(_kind(x), of_integers), x)

    return _named(function, name, text)  # type: ignore[no-any-return]


def _binary(name: str, form: str, text: str) -> Binary:
    def function(x1: Any, x2: Any, /) -> Tensor:
        return apply(form, x1, x2)

    return _named(function, name, text)  # type: ignore[no-any-return]


def _of_bits(name: str, text: str) -> Binary:
    def function(x1: Any, x2: Any, /) -> Tensor:
        return of_bits(name, x1, x2)

    return _named(function, name, text)  # type: ignore[no-any-return]


abs = _unary("abs", "abs({0})", "The absolute value; of complex numbers, a real one")
acos = _unary("acos", "acos({0})", "The angle whose cosine is `x`")
acosh = _unary("acosh", "acosh({0})", "The number whose hyperbolic cosine is `x`")
add = _binary("add", "{0} + {1}", "``x1 + x2``")
asin = _unary("asin", "asin({0})", "The angle whose sine is `x`")
asinh = _unary("asinh", "asinh({0})", "The number whose hyperbolic sine is `x`")
atan = _unary("atan", "atan({0})", "The angle whose tangent is `x`")
atan2 = _binary("atan2", "atan2({0}, {1})", "The angle of the vector (x2, x1)")
atanh = _unary("atanh", "atanh({0})", "The number whose hyperbolic tangent is `x`")
bitwise_and = _of_bits("bitwise_and", "The bits that both have; of truth values, ``x1 and x2``")
bitwise_left_shift = _binary(
    "bitwise_left_shift", "shl({0}, {1})", "The bits of `x1` moved up by `x2`, which is not negative"
)
bitwise_or = _of_bits("bitwise_or", "The bits that either has; of truth values, ``x1 or x2``")
bitwise_right_shift = _binary(
    "bitwise_right_shift",
    "shr({0}, {1})",
    "The bits of `x1` moved down by `x2`, which is not negative, with copies of its sign",
)
bitwise_xor = _of_bits("bitwise_xor", "The bits that one of the two has")
ceil = _rounded("ceil", "The smallest integral value that is not below `x`")
copysign = _binary(
    "copysign", "copysign({0}, {1})", "`x1` with the sign of `x2`, which is plus if it is not stored"
)
conj = _unary("conj", "conj({0})", "The complex conjugate")
cos = _unary("cos", "cos({0})", "The cosine")
cosh = _unary("cosh", "cosh({0})", "The hyperbolic cosine")
divide = _binary("divide", "{0} / {1}", "``x1 / x2``")
equal = _binary("equal", "{0} == {1}", "``x1 == x2``")
exp = _unary("exp", "exp({0})", "e to the power `x`")
expm1 = _unary("expm1", "expm1({0})", "``exp(x) - 1``, precise near 0")
floor = _rounded("floor", "The largest integral value that is not above `x`")
floor_divide = _binary(
    "floor_divide", "{0} // {1}", "``x1 // x2``; an integer divided by zero is an error"
)
greater = _binary("greater", "{0} > {1}", "``x1 > x2``")
greater_equal = _binary("greater_equal", "{0} >= {1}", "``x1 >= x2``")
hypot = _binary("hypot", "hypot({0}, {1})", "The length of the vector (x1, x2)")
imag = _unary("imag", "imag({0})", "The imaginary part")
isfinite = _asked("isfinite", "{0} == {0}", "Whether `x` is neither NaN nor infinite")
isinf = _asked("isinf", "{0} != {0}", "Whether `x` is infinite")
isnan = _asked("isnan", "{0} != {0}", "Whether `x` is NaN")
less = _binary("less", "{0} < {1}", "``x1 < x2``")
less_equal = _binary("less_equal", "{0} <= {1}", "``x1 <= x2``")
log = _unary("log", "log({0})", "The natural logarithm")
log10 = _unary("log10", "log10({0})", "The logarithm to base 10")
log1p = _unary("log1p", "log1p({0})", "``log(1 + x)``, precise near 0")
log2 = _unary("log2", "log2({0})", "The logarithm to base 2")
logaddexp = _binary("logaddexp", LOGADDEXP, "``log(exp(x1) + exp(x2))``, without overflow")
logical_and = _binary("logical_and", "({0} and {1})", "``x1 and x2``, of truth values")
logical_not = _unary("logical_not", "not {0}", "``not x``, of truth values")
logical_or = _binary("logical_or", "({0} or {1})", "``x1 or x2``, of truth values")
logical_xor = _binary("logical_xor", "{0} != {1}", "Whether one of two truth values holds")
maximum = _binary("maximum", "max({0}, {1})", "The larger; ``NaN`` if either is")
minimum = _binary("minimum", "min({0}, {1})", "The smaller; ``NaN`` if either is")
multiply = _binary("multiply", "{0} * {1}", "``x1 * x2``")
negative = _unary("negative", "-{0}", "``-x``")
not_equal = _binary("not_equal", "{0} != {1}", "``x1 != x2``")
positive = _unary("positive", "{0}", "``+x``")
pow = _binary("pow", "pow({0}, {1})", "``x1 ** x2``; of integers an integer")
real = _unary("real", "real({0})", "The real part")
reciprocal = _unary("reciprocal", "1 / {0}", "``1 / x``")
remainder = _binary("remainder", "{0} % {1}", "``x1 % x2``, with the sign of `x2`")
round = _rounded("round", "The nearest integral value, the even one of two")
signbit = _unary("signbit", SIGNBIT, "Whether `x` is below 0, or a -0 that is stored")
sin = _unary("sin", "sin({0})", "The sine")
sinh = _unary("sinh", "sinh({0})", "The hyperbolic sine")
sqrt = _unary("sqrt", "sqrt({0})", "The square root")
square = _unary("square", "{0} * {0}", "``x * x``")
subtract = _binary("subtract", "{0} - {1}", "``x1 - x2``")
tan = _unary("tan", "tan({0})", "The tangent")
tanh = _unary("tanh", "tanh({0})", "The hyperbolic tangent")
trunc = _rounded("trunc", "The integral value next to `x` towards 0")


def bitwise_invert(x: Any, /) -> Tensor:
    """The bits that `x` has not; of truth values, ``not x``."""
    return of_bits("invert", x)


def sign(x: Any, /) -> Tensor:
    """-1, 0 or 1; of a complex number, ``x / abs(x)``, or 0; of NaN, NaN.

    Examples
    --------
    >>> import sparsec
    >>> sparsec.sign(sparsec.asarray([[0.0, -2.0], [3.0, 0.0]], format="csr")).to_numpy()
    array([[ 0., -1.],
           [ 1.,  0.]])
    """
    form = "select({0} == 0, {0}, {0} / abs({0}))" if _kind(x) == "c" else "sign({0})"
    return apply(form, x)


def clip(x: Any, /, min: Any = None, max: Any = None) -> Tensor:
    """`x` between two bounds; either may be left out.

    The result has the type of `x`.

    Examples
    --------
    >>> import sparsec
    >>> sparsec.clip(sparsec.asarray([[0.0, -2.0], [3.0, 0.0]], format="csr"), -1, 1).to_numpy()
    array([[ 0., -1.],
           [ 1.,  0.]])
    """
    from .._asarray import asarray

    made = asarray(x)
    dtype = made.dtype
    if min is not None:
        made = apply("max({0}, {1})", made, min)
    if max is not None:
        made = apply("min({0}, {1})", made, max)
    return made.astype(dtype)


def where(condition: Any, x1: Any, x2: Any, /) -> Tensor:
    """`x1` where `condition` holds, else `x2`; shapes are broadcast.

    Examples
    --------
    >>> import sparsec
    >>> A = sparsec.asarray([[0, -2], [3, 0]], format="csr")
    >>> sparsec.where(A > 0, A, 7)
    <sparsec.Tensor i64[2, 2], csr, 2 stored, fill 7
      (0, 1)  7
      (1, 0)  3>
    """
    from .._asarray import asarray

    chosen = asarray(condition)
    if chosen.dtype.kind != "b":
        chosen = apply("{0} != 0", chosen)
    return apply("select({0}, {1}, {2})", chosen, x1, x2)

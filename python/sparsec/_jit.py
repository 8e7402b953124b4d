"""Functions of tensors that are compiled once, and scalar functions of the user::

    @jit
    def f(A, x): return (A @ x).sum()  ──► out0 = sum{i0}(sum{i1}(a0(i0,i1) * a1(i1)))
                                           kept by formats, types, fills and shapes
"""

from __future__ import annotations

import functools
import re
from typing import Any, Callable, Sequence

import numpy as np

from . import _sparsec
from ._errors import failure
from ._lazy import Lazy, Program, leaf
from ._operators import _BITS, _TRUTHS, _UFUNCS, _is_number, _literal, _tensor, bits_form
from ._tensor import Tensor

#: Programs that a function keeps; beyond, all are forgotten.
_MOST = 256


def jit(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of tensors, compiled as one program.

    The function is called once for each combination of formats, types, fills and shapes of
    its arguments, with lazy tensors; later calls run the program that it made. What it does
    beside operators of tensors is done in that call alone.

    Parameters
    ----------
    function : callable
        It takes tensors, what `asarray` takes, and values that can be hashed, which are a part
        of the combination. It returns a lazy tensor, or a tuple of them.

    Returns
    -------
    callable
        Its attribute ``program(*arguments)`` is the text of the program.

    Raises
    ------
    TypeError
        When it is called: if the function returns something else, or asks for the entries of
        an argument.

    Examples
    --------
    >>> import numpy as np, sparsec
    >>> @sparsec.jit
    ... def residual(A, x, b):
    ...     r = b - A @ x
    ...     return sparsec.sqrt((r * r).sum())
    >>> A = sparsec.asarray(np.diag([1.0, 2.0]), format="csr")
    >>> residual(A, np.ones(2), np.ones(2)).item()
    1.0
    """
    traced: dict[Any, tuple[Program, list[int], bool, list[tuple[str, Any]]]] = {}

    def trace(key: Any, arguments: Sequence[Any], options: dict[str, Any]) -> Any:
        given = [leaf(x) if isinstance(x, Tensor) else x for x in arguments]
        named = {name: leaf(x) if isinstance(x, Tensor) else x for name, x in options.items()}
        made = function(*given, **named)
        results = made if isinstance(made, tuple) else (made,)
        for one in results:
            if not isinstance(one, Lazy):
                raise TypeError(
                    f"`{function.__name__}` returns {type(one).__name__}; return what operators "
                    "of its arguments make, or several in a tuple"
                )
        program = Program(results)
        own = [x for x in (*arguments, *options.values()) if isinstance(x, Tensor)]
        places = {id(x): number for number, x in reversed(list(enumerate(own)))}
        where = [places.get(id(tensor), -1) for _, tensor in program.tensors]
        # Tensors that the function has from elsewhere stay as they are.
        operands = zip(program.operands(), where)
        others = [(name, it if at < 0 else None) for (name, it), at in operands]
        program.tensors = [(name, None) for name, _ in program.tensors]  # type: ignore[misc]
        if len(traced) >= _MOST:
            traced.clear()
        entry = (program, where, isinstance(made, tuple), others)
        traced[key] = entry
        return entry

    def prepared(arguments: Sequence[Any], options: dict[str, Any]) -> Any:
        from ._asarray import asarray

        arguments = [asarray(x) if _is_array(x) else x for x in arguments]
        options = {name: asarray(x) if _is_array(x) else x for name, x in options.items()}
        own = [x for x in (*arguments, *options.values()) if isinstance(x, Tensor)]
        # The same tensor twice is one operand.
        same = tuple(next(at for at, y in enumerate(own) if y is x) for x in own)
        parts = [(x._stored.kind, x.shape) if isinstance(x, Tensor) else x for x in arguments]
        key = (tuple(parts), same, tuple((name, (x._stored.kind, x.shape) if isinstance(x, Tensor)
                                          else x) for name, x in options.items()))
        entry = traced.get(key) or trace(key, arguments, options)
        program, where, is_tuple, others = entry
        operands = [
            (name, own[at]._stored if at >= 0 else stored)
            for (name, stored), at in zip(others, where)
        ]
        return program, operands, is_tuple

    @functools.wraps(function)
    def called(*arguments: Any, **options: Any) -> Any:
        program, operands, is_tuple = prepared(arguments, options)
        if len(program.names) == 1:
            made = Tensor._of(_sparsec.evaluate(program.text, operands, [], program.extents))
            return (made,) if is_tuple else made
        results = _sparsec.evaluate_all(program.text, operands, [], program.extents)
        return tuple(Tensor._of(results[name]) for name in program.names)

    called.program = lambda *arguments, **options: prepared(arguments, options)[0].text  # type: ignore[attr-defined]
    return called


def _is_array(x: Any) -> bool:
    return not isinstance(x, (bool, int, float, complex, str, Tensor)) and (
        hasattr(x, "dtype") or isinstance(x, list)
    )


class Scalar:
    """A number that a traced function computes with: its expression, and its type as far as that
    is known. Bits of truth values and of integers have functions of their own."""

    __slots__ = ("_dtype", "_text")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, text: str, dtype: np.dtype | None = None) -> None:
        self._text = text
        self._dtype = dtype

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        name = ufunc.__name__
        if method != "__call__" or options or not (name in _UFUNCS or name in _BITS):
            return NotImplemented
        return _scalar(name, *inputs)

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        if function is np.where and len(arguments) == 3 and not options:
            text = f"select({', '.join(map(_scalar_text, arguments))})"
            return Scalar(text, _common(arguments[1:]))
        if function is np.clip and len(arguments) == 3 and not options:
            x, low, high = map(_scalar_text, arguments)
            return Scalar(f"min(max({x}, {low}), {high})", _common(arguments))
        raise TypeError(f"`{function.__name__}` is no function of index notation")

    def __bool__(self) -> bool:
        raise TypeError(
            "the function branches on a value, which is known for each entry only; "
            "write `np.where(condition, a, b)`"
        )

    def _no_number(self) -> Any:
        raise TypeError(
            "the function asks for a number, which is known for each entry only; use functions of "
            "NumPy instead of those of `math`"
        )

    __float__ = __int__ = __index__ = __complex__ = _no_number

    def __pos__(self) -> Scalar:
        return self


def _scalar_text(x: Any) -> str:
    if isinstance(x, Scalar):
        return x._text
    if isinstance(x, (bool, np.bool_)):
        return "true" if x else "false"
    text = _literal(x) if isinstance(x, (int, float, complex, np.generic)) else None
    if text is None:
        raise TypeError(f"{x!r} is no number that index notation has")
    return text


def _type_of(x: Any) -> np.dtype | None:
    """The type of a number; None for one of Python but for truth values."""
    if isinstance(x, Scalar):
        return x._dtype
    return np.asarray(x).dtype if isinstance(x, (bool, np.generic)) else None


def _common(arguments: Sequence[Any]) -> np.dtype | None:
    """The type in which numbers are computed, if one is known."""
    known = [dtype for dtype in map(_type_of, arguments) if dtype is not None]
    return np.result_type(*known) if known else None


def _scalar(name: str, *arguments: Any) -> Scalar:
    """A function of NumPy of numbers."""
    dtype = _common(arguments)
    if name in _BITS:
        are_truths = all(_type_of(x) == np.bool_ for x in arguments)
        form = bits_form(name, are_truths, dtype)
    else:
        form = _UFUNCS[name]
    text = form.format(*map(_scalar_text, arguments))
    # A call stands for itself, anything else in parentheses.
    if not re.fullmatch(r"\w+\([^()]*\)", form):
        text = f"({text})"
    return Scalar(text, np.dtype(bool) if name in _TRUTHS else dtype)


def _operator(name: str, is_reflected: bool) -> Any:
    def method(self: Scalar, other: Any) -> Scalar:
        return _scalar(name, *((other, self) if is_reflected else (self, other)))

    return method


def _unary(name: str) -> Any:
    def method(self: Scalar) -> Scalar:
        return _scalar(name, self)

    return method


for _name, _ufunc in {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "power",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "left_shift",
    "rshift": "right_shift",
}.items():
    setattr(Scalar, f"__{_name}__", _operator(_ufunc, False))
    setattr(Scalar, f"__r{_name}__", _operator(_ufunc, True))
for _name, _ufunc in {
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "eq": "equal",
    "ne": "not_equal",
}.items():
    setattr(Scalar, f"__{_name}__", _operator(_ufunc, False))
for _name, _ufunc in {
    "neg": "negative",
    "abs": "absolute",
    "invert": "invert",
    "round": "rint",
    "floor": "floor",
    "ceil": "ceil",
    "trunc": "trunc",
}.items():
    setattr(Scalar, f"__{_name}__", _unary(_ufunc))


class Function:
    """A scalar function in index notation. Made by `function`."""

    def __init__(self, name: str, parameters: Sequence[str], given: Callable[..., Any]) -> None:
        self.name = name
        self.parameters = tuple(parameters)
        self._given = given
        #: By the types of arguments, which say what the operators of bits are.
        self._forms: dict[tuple[np.dtype | None, ...], str] = {}
        self.body = self._traced(parameters, [None] * len(parameters))
        self.__doc__ = f"``{self.definition}``, for each entry."

    @property
    def definition(self) -> str:
        """The function as index notation; put it before a program that calls it. It is that of
        numbers: ``&``, ``|``, ``^`` and ``~`` of parameters are those of integers."""
        return f"def {self.name}({', '.join(self.parameters)}) = {self.body}"

    def _traced(self, texts: Sequence[str], types: Sequence[np.dtype | None]) -> str:
        return _scalar_text(self._given(*map(Scalar, texts, types)))

    def __call__(self, *arguments: Any) -> Any:
        from ._operators import apply

        if len(arguments) != len(self.parameters):
            n = len(self.parameters)
            raise TypeError(f"`{self.name}` takes {n} arguments, and {len(arguments)} are given")
        given = [x if _is_number(x) else _tensor(x) for x in arguments]
        types: tuple[np.dtype | None, ...] = (None,) * len(given)
        if "bit" in self.body:
            types = tuple(_type_of(x) if _is_number(x) else x.dtype for x in given)
        form = self._forms.get(types)
        if form is None:
            form = self._traced([f"{{{at}}}" for at in range(len(given))], types)
            self._forms[types] = form
        return apply(form, *given)

    def __repr__(self) -> str:
        return f"<sparsec function: {self.definition}>"


def function(given: Callable[..., Any]) -> Function:
    """A scalar function of the user as a function of tensors.

    The function is called with symbols, once for each combination of types, and translated to
    index notation. It is never called for an entry: kernels compute its expression.

    Parameters
    ----------
    given : callable
        A function or lambda of one to three numbers, of operators, ``abs``, ``round``, functions of
        NumPy such as `numpy.exp`, and ``np.where(condition, a, b)``. The operators ``& | ^ ~`` are
        those of truth values, or of integers, as the types of the arguments say.

    Returns
    -------
    Function
        It takes tensors, and broadcasts them. Its `definition` can stand in a program.

    Raises
    ------
    TypeError
        For what index notation does not have: branches, functions of ``math``.

    Examples
    --------
    >>> import numpy as np, sparsec
    >>> soft = sparsec.function(lambda x: np.where(abs(x) > 1, x - np.sign(x), 0 * x))
    >>> soft(sparsec.asarray([[0.0, 3.0], [-0.5, -2.0]], format="csr")).to_numpy()
    array([[ 0.,  2.],
           [ 0., -1.]])
    >>> @sparsec.function
    ... def scaled(x, y):
    ...     return x / (1 + abs(y))
    >>> scaled.definition
    'def scaled(x, y) = (x / (1 + abs(y)))'
    """
    import inspect

    parameters = list(inspect.signature(given).parameters)
    if not 1 <= len(parameters) <= 3:
        message = f"a function of {len(parameters)} arguments"
        raise failure("E0413", message, "give a function of one to three numbers")
    name = given.__name__ if given.__name__.isidentifier() else "f"
    return Function(name, parameters, given)

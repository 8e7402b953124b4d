"""Functions of tensors that are compiled once, and scalar functions of the user::

    @jit
    def f(A, x): return (A @ x).sum()  ──► out0 = sum{i0}(sum{i1}(a0(i0,i1) * a1(i1)))
                                           kept by formats, types, fills and shapes
"""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, Sequence

import numpy as np

from . import _sparsec
from ._errors import failure
from ._lazy import Lazy, Program, leaf
from ._operators import _UFUNCS, _literal
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
    """A number that a traced function computes with: its expression."""

    __slots__ = ("_text",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, text: str) -> None:
        self._text = text

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        form = _UFUNCS.get(ufunc.__name__)
        if form is None or method != "__call__" or options:
            return NotImplemented
        return Scalar(f"({form.format(*map(_scalar_text, inputs))})")

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        if function is np.where and len(arguments) == 3 and not options:
            return Scalar(f"select({', '.join(map(_scalar_text, arguments))})")
        if function is np.clip and len(arguments) == 3 and not options:
            x, low, high = map(_scalar_text, arguments)
            return Scalar(f"min(max({x}, {low}), {high})")
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

    def __abs__(self) -> Scalar:
        return Scalar(f"abs({self._text})")

    def __neg__(self) -> Scalar:
        return Scalar(f"(-{self._text})")

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


def _operator(form: str, is_reflected: bool) -> Any:
    def method(self: Scalar, other: Any) -> Scalar:
        pair = (other, self) if is_reflected else (self, other)
        return Scalar(f"({form.format(*map(_scalar_text, pair))})")

    return method


for _name, _form in {
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "truediv": "{0} / {1}",
    "floordiv": "{0} // {1}",
    "mod": "{0} % {1}",
    "pow": "pow({0}, {1})",
    "and": "{0} and {1}",
    "or": "{0} or {1}",
    "lshift": "shl({0}, {1})",
    "rshift": "shr({0}, {1})",
}.items():
    setattr(Scalar, f"__{_name}__", _operator(_form, False))
    setattr(Scalar, f"__r{_name}__", _operator(_form, True))
for _name, _form in {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}.items():
    setattr(Scalar, f"__{_name}__", _operator(f"{{0}} {_form} {{1}}", False))


class Function:
    """A scalar function in index notation. Made by `function`."""

    def __init__(self, name: str, parameters: Sequence[str], body: str, form: str) -> None:
        self.name = name
        self.parameters = tuple(parameters)
        self.body = body
        self._form = form
        self.__doc__ = f"``{self.definition}``, for each entry."

    @property
    def definition(self) -> str:
        """The function as index notation; put it before a program that calls it."""
        return f"def {self.name}({', '.join(self.parameters)}) = {self.body}"

    def __call__(self, *arguments: Any) -> Any:
        from ._operators import apply

        if len(arguments) != len(self.parameters):
            n = len(self.parameters)
            raise TypeError(f"`{self.name}` takes {n} arguments, and {len(arguments)} are given")
        return apply(self._form, *arguments)

    def __repr__(self) -> str:
        return f"<sparsec function: {self.definition}>"


def function(given: Callable[..., Any]) -> Function:
    """A scalar function of the user as a function of tensors.

    The function is called once, with symbols, and translated to index notation. It is never
    called for an entry: kernels compute its expression.

    Parameters
    ----------
    given : callable
        A function or lambda of one to three numbers, of operators, ``abs``, functions of NumPy
        such as `numpy.exp`, and ``np.where(condition, a, b)``.

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
    parameters = list(inspect.signature(given).parameters)
    if not 1 <= len(parameters) <= 3:
        message = f"a function of {len(parameters)} arguments"
        raise failure("E0413", message, "give a function of one to three numbers")
    name = given.__name__ if given.__name__.isidentifier() else "f"
    body = _scalar_text(given(*map(Scalar, parameters)))
    form = _scalar_text(given(*(Scalar(f"{{{at}}}") for at in range(len(parameters)))))
    return Function(name, parameters, body, form)

"""Operators, reductions and indexing of tensors, written as index notation.

``A + B`` of two matrices is ``out(i0,i1) = a(i0,i1) + b(i0,i1)``. The texts are kept by operator
and number of modes, so an operator costs about as much as `evaluate`.
"""

from __future__ import annotations

import cmath
from contextvars import ContextVar
from functools import lru_cache, wraps
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from . import _sparsec
from ._errors import failure
from ._forms import LOGADDEXP
from ._indexing import ascending, is_selection, windows_of

if TYPE_CHECKING:
    from ._tensor import Tensor

#: Whether a float is negative, or a zero that is stored as -0.
SIGNBIT = "copysign(1, {0}) < 0"
#: Functions of bits by their names in NumPy: of integers, and of truth values.
_BITS = {
    "bitwise_and": ("bitand({0}, {1})", "({0} and {1})"),
    "bitwise_or": ("bitor({0}, {1})", "({0} or {1})"),
    "bitwise_xor": ("bitxor({0}, {1})", "{0} != {1}"),
    "invert": ("bitxor({0}, {ones})", "not {0}"),
}
#: Forms whose results are truth values.
TRUTHS = frozenset(
    [f"{{0}} {symbol} {{1}}" for symbol in ("==", "!=", "<", "<=", ">", ">=")]
    + ["({0} and {1})", "({0} or {1})", "not {0}", SIGNBIT]
)
#: Functions of NumPy that the language has, and how it writes them: ``{0}``, ``{1}`` are the
#: arguments.
_UFUNCS: dict[str, str] = {
    "add": "{0} + {1}",
    "subtract": "{0} - {1}",
    "multiply": "{0} * {1}",
    "divide": "{0} / {1}",
    "true_divide": "{0} / {1}",
    "floor_divide": "{0} // {1}",
    "remainder": "{0} % {1}",
    "power": "pow({0}, {1})",
    "float_power": "pow({0}, {1})",
    "maximum": "max({0}, {1})",
    "minimum": "min({0}, {1})",
    "hypot": "hypot({0}, {1})",
    "arctan2": "atan2({0}, {1})",
    "equal": "{0} == {1}",
    "not_equal": "{0} != {1}",
    "less": "{0} < {1}",
    "less_equal": "{0} <= {1}",
    "greater": "{0} > {1}",
    "greater_equal": "{0} >= {1}",
    "logical_and": "({0} and {1})",
    "logical_or": "({0} or {1})",
    "logical_not": "not {0}",
    "negative": "-{0}",
    "positive": "{0}",
    "absolute": "abs({0})",
    "conjugate": "conj({0})",
    "sign": "sign({0})",
    "sqrt": "sqrt({0})",
    "cbrt": "cbrt({0})",
    "square": "{0} * {0}",
    "exp": "exp({0})",
    "exp2": "exp2({0})",
    "expm1": "expm1({0})",
    "log": "log({0})",
    "log2": "log2({0})",
    "log10": "log10({0})",
    "log1p": "log1p({0})",
    "sin": "sin({0})",
    "cos": "cos({0})",
    "tan": "tan({0})",
    "arcsin": "asin({0})",
    "arccos": "acos({0})",
    "arctan": "atan({0})",
    "sinh": "sinh({0})",
    "cosh": "cosh({0})",
    "tanh": "tanh({0})",
    "floor": "floor({0})",
    "ceil": "ceil({0})",
    "rint": "round({0})",
    "trunc": "trunc({0})",
    "isnan": "isnan({0})",
    "isinf": "isinf({0})",
    "isfinite": "isfinite({0})",
    "arccosh": "acosh({0})",
    "arcsinh": "asinh({0})",
    "arctanh": "atanh({0})",
    "copysign": "copysign({0}, {1})",
    "signbit": SIGNBIT,
    "left_shift": "shl({0}, {1})",
    "right_shift": "shr({0}, {1})",
    "logaddexp": LOGADDEXP,
    "logical_xor": "{0} != {1}",
    "reciprocal": "1 / {0}",
}
#: Functions whose results are truth values, whatever the types of their arguments are.
_TRUTHS = {
    *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
    *("logical_and", "logical_or", "logical_xor", "logical_not"),
    *("isnan", "isinf", "isfinite", "signbit"),
}
#: Reductions of NumPy's functions of two arguments, as methods of tensors.
_REDUCED = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_and": "all",
    "logical_or": "any",
}
#: What keeps the entries of a tensor whatever the number is: the number is an operand, so that one
#: kernel serves all. Others have a kernel for each number, since the fill depends on it.
_PRODUCT = "{0} * {1}"
#: Element types by their names in NumPy.
_TYPES = {
    "bool": "bool",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
    "float16": "f16",
    "float32": "f32",
    "float64": "f64",
    "complex64": "c64",
    "complex128": "c128",
}
_NUMBERS = (bool, int, float, complex, np.generic)
#: Whether operators of tensors make expressions here.
LAZY: ContextVar[bool] = ContextVar("sparsec_lazy", default=False)


class Operators:
    """What a tensor computes."""

    __slots__ = ()

    #: Whether it is an expression that is not computed yet.
    _is_lazy = False

    if TYPE_CHECKING:
        # What `Tensor` has.
        _stored: _sparsec.Stored

        @property
        def shape(self) -> tuple[int, ...]: ...
        @property
        def dtype(self) -> np.dtype: ...
        def astype(self, dtype: Any) -> Tensor: ...
        @classmethod
        def _of(cls, stored: _sparsec.Stored) -> Tensor: ...

    @property
    def ndim(self) -> int:
        """How many modes there are."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many entries there are, stored or not."""
        size = 1
        for extent in self.shape:
            size *= extent
        return size

    # Operators on equal shapes compare entries, so tensors have no hash.
    __hash__ = None  # type: ignore[assignment]

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method == "reduce" and ufunc.__name__ in _REDUCED and len(inputs) == 1:
            return _reduced_by(_REDUCED[ufunc.__name__], *inputs, **options)
        dtype = options.pop("dtype", None)
        if method != "__call__" or options or any(map(_is_graph, inputs)):
            return NotImplemented
        if dtype is not None and ufunc.__name__ not in _TRUTHS:
            inputs = tuple(_as_type(x, np.dtype(dtype)) for x in inputs)
        if ufunc is np.matmul:
            made = _matmul(*inputs)
        elif ufunc.__name__ in _BITS:
            made = of_bits(ufunc.__name__, *inputs)
        else:
            form = _UFUNCS.get(ufunc.__name__)
            made = NotImplemented if form is None else apply(form, *inputs)
        return made if made is NotImplemented or dtype is None else made.astype(dtype)

    def __array_function__(
        self, function: Any, types: Any, arguments: Any, options: Any
    ) -> Any:
        from ._array_api.numpy import dispatch

        return dispatch(function, arguments, options)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """The package, whose functions are those of the array API standard.

        Raises
        ------
        ValueError
            For a version of the standard that is not implemented.
        """
        if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
            raise ValueError(f"there is no version {api_version!r} here; the latest is 2024.12")
        import sparsec

        return sparsec

    def __add__(self, other: Any) -> Tensor:
        return apply("{0} + {1}", self, other)

    def __radd__(self, other: Any) -> Tensor:
        return apply("{0} + {1}", other, self)

    def __sub__(self, other: Any) -> Tensor:
        return apply("{0} - {1}", self, other)

    def __rsub__(self, other: Any) -> Tensor:
        return apply("{0} - {1}", other, self)

    def __mul__(self, other: Any) -> Tensor:
        return apply("{0} * {1}", self, other)

    def __rmul__(self, other: Any) -> Tensor:
        return apply("{0} * {1}", other, self)

    def __truediv__(self, other: Any) -> Tensor:
        return apply("{0} / {1}", self, other)

    def __rtruediv__(self, other: Any) -> Tensor:
        return apply("{0} / {1}", other, self)

    def __floordiv__(self, other: Any) -> Tensor:
        return apply("{0} // {1}", self, other)

    def __rfloordiv__(self, other: Any) -> Tensor:
        return apply("{0} // {1}", other, self)

    def __mod__(self, other: Any) -> Tensor:
        return apply("{0} % {1}", self, other)

    def __rmod__(self, other: Any) -> Tensor:
        return apply("{0} % {1}", other, self)

    def __pow__(self, other: Any) -> Tensor:
        return apply("pow({0}, {1})", self, other)

    def __rpow__(self, other: Any) -> Tensor:
        return apply("pow({0}, {1})", other, self)

    def __matmul__(self, other: Any) -> Tensor:
        return _matmul(self, other)

    def __rmatmul__(self, other: Any) -> Tensor:
        return _matmul(other, self)

    def __eq__(self, other: Any) -> Tensor:  # type: ignore[override]
        return apply("{0} == {1}", self, other)

    def __ne__(self, other: Any) -> Tensor:  # type: ignore[override]
        return apply("{0} != {1}", self, other)

    def __lt__(self, other: Any) -> Tensor:
        return apply("{0} < {1}", self, other)

    def __le__(self, other: Any) -> Tensor:
        return apply("{0} <= {1}", self, other)

    def __gt__(self, other: Any) -> Tensor:
        return apply("{0} > {1}", self, other)

    def __ge__(self, other: Any) -> Tensor:
        return apply("{0} >= {1}", self, other)

    def __and__(self, other: Any) -> Tensor:
        return of_bits("bitwise_and", self, other)

    def __or__(self, other: Any) -> Tensor:
        return of_bits("bitwise_or", self, other)

    def __xor__(self, other: Any) -> Tensor:
        return of_bits("bitwise_xor", self, other)

    def __rand__(self, other: Any) -> Tensor:
        return of_bits("bitwise_and", other, self)

    def __ror__(self, other: Any) -> Tensor:
        return of_bits("bitwise_or", other, self)

    def __rxor__(self, other: Any) -> Tensor:
        return of_bits("bitwise_xor", other, self)

    def __invert__(self) -> Tensor:
        return of_bits("invert", self)

    def __lshift__(self, other: Any) -> Tensor:
        return apply("shl({0}, {1})", self, other)

    def __rshift__(self, other: Any) -> Tensor:
        return apply("shr({0}, {1})", self, other)

    def __rlshift__(self, other: Any) -> Tensor:
        return apply("shl({0}, {1})", other, self)

    def __rrshift__(self, other: Any) -> Tensor:
        return apply("shr({0}, {1})", other, self)

    def __neg__(self) -> Tensor:
        return apply("-{0}", self)

    def __pos__(self) -> Tensor:
        return self  # type: ignore[return-value]

    def __abs__(self) -> Tensor:
        return apply("abs({0})", self)

    def conj(self) -> Tensor:
        """The complex conjugate; of real numbers, themselves."""
        if not self._is_lazy and not self._stored.dtype.startswith("complex"):
            return self  # type: ignore[return-value]
        return apply("conj({0})", self)

    def sum(self, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> Tensor:
        """The sum over some modes, or all.

        Parameters
        ----------
        axis : int or tuple of int, optional
            The modes; all by default.
        keepdims : bool
            Whether they stay, with extent 1.
        dtype : dtype, optional
            The type in which entries are added, and of the result.

        Returns
        -------
        Tensor
            Without modes if all are summed over. Sums of integers have 64 bits by default.

        Examples
        --------
        >>> import sparsec
        >>> A = sparsec.asarray([[0.0, 2.0], [3.0, 0.0]], format="csr")
        >>> A.sum().item(), A.sum(axis=0).to_numpy()
        (5.0, array([3., 2.]))
        """
        if dtype is not None:
            return self.astype(dtype).sum(axis, keepdims).astype(dtype)
        return self._reduced("sum", axis, keepdims, self._counted("{0}"))

    def prod(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """The product over some modes; entries that are not stored count. As `sum` otherwise."""
        return self._reduced("prod", axis, keepdims, self._counted("{0}"))

    def max(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """The greatest entry over some modes; entries that are not stored count. As `sum`."""
        return self._reduced("max", axis, keepdims, "{0}")

    def min(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """The least entry over some modes; entries that are not stored count. As `sum`."""
        return self._reduced("min", axis, keepdims, "{0}")

    def any(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """Whether some entry is not zero, over some modes. As `sum` otherwise."""
        return self._reduced("or", axis, keepdims, self._truth())

    def all(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """Whether no entry is zero, over some modes. As `sum` otherwise."""
        return self._reduced("and", axis, keepdims, self._truth())

    def mean(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """The mean over some modes; of integers, as ``float64``. As `sum` otherwise."""
        n = 1
        for mode in modes_of(axis, self.ndim):
            n *= self.shape[mode]
        wide = self if self.dtype.kind in "fc" else self.astype(np.float64)
        return wide.sum(axis, keepdims) / n

    def _counted(self, form: str) -> str:
        """Truth values as integers: their sum counts, as NumPy's does."""
        return f"i64({form})" if self.dtype.kind == "b" else form

    def _truth(self) -> str:
        return "{0}" if self.dtype.kind == "b" else "({0} != 0)"

    def _reduced(self, name: str, axis: Any, keepdims: bool, form: str) -> Tensor:
        if LAZY.get():
            from . import _lazy

            return getattr(_lazy.node(self), "_reduced")(name, axis, keepdims, form)  # type: ignore[no-any-return]
        modes = modes_of(axis, self.ndim)
        text = _reduction(name, self.ndim, modes, bool(keepdims), form)
        extents = {f"k{mode}": 1 for mode in modes} if keepdims else {}
        return evaluated(text, [("a", self._stored)], list(extents.items()))

    def _cast(self, dtype: np.dtype) -> Tensor:
        name = _TYPES.get(dtype.name)
        if name is None:
            raise failure(
                "E0451",
                f"no tensor stores values of dtype `{dtype}`",
                "give bool, an integer, a float or a complex type",
            )
        form = "{0} != 0" if name == "bool" else f"{name}({{0}})"
        return apply(form, self)

    @property
    def T(self) -> Tensor:
        """The tensor with its modes in reverse."""
        return self.permute_dims(tuple(range(self.ndim))[::-1])

    @property
    def mT(self) -> Tensor:
        """The tensor with its last two modes exchanged."""
        if self.ndim < 2:
            raise ValueError(f"a tensor of {self.ndim} modes has no matrices to transpose")
        *others, rows, columns = range(self.ndim)
        return self.permute_dims((*others, columns, rows))

    def permute_dims(self, axes: Sequence[int]) -> Tensor:
        """The tensor with its modes in another order: mode ``k`` is mode ``axes[k]`` of this.

        Examples
        --------
        >>> import sparsec
        >>> A = sparsec.asarray([[0, 2, 0], [3, 0, 0]], format="csr")
        >>> B = A.permute_dims((1, 0))
        >>> B.shape, B.format
        ((3, 2), 'csc')
        """
        modes = [axis + self.ndim if axis < 0 else axis for axis in axes]
        if any(mode < 0 for mode in modes):
            raise failure("E0413", f"axes {tuple(axes)} of {self.ndim} modes", "count from 0")
        return self._of(self._stored.permute(modes))

    def __getitem__(self, key: Any) -> Any:
        if is_selection(key):
            from ._selection import selected

            return selected(self, key)
        windows, dropped, added = windows_of(key, self.shape)
        if len(dropped) == self.ndim and not added:
            value = self._stored.get([start for start, _, _ in windows])
            return self.dtype.type(value)
        made = self._of(self._stored.slice([ascending(one) for one in windows]))
        turned = [mode for mode, (_, _, step) in enumerate(windows) if step < 0]
        if turned:
            from ._array_api.manipulation import flip

            made = flip(made, axis=turned)
        if dropped:
            without = _without(made._stored, dropped)
            if without is None:
                kept = [mode for mode in range(self.ndim) if mode not in dropped]
                made = evaluated(_at_first(self.ndim, tuple(kept)), [("a", made._stored)], [])
            else:
                made = self._of(without)
        if added:
            from ._array_api.manipulation import expand_dims

            made = expand_dims(made, axis=tuple(added))
        return made


def modes_text(order: int) -> str:
    """An index for each mode, as an access has them: ``(i0,i1)``."""
    return access("", _letters(order))


def cast_together(tensors: Sequence[Any]) -> list[Any]:
    """Tensors in the type that NumPy computes their values in."""
    dtype = np.result_type(*(tensor.dtype for tensor in tensors))
    return [tensor.astype(dtype) for tensor in tensors]


def modes_of(axis: Any, order: int) -> tuple[int, ...]:
    """The modes of an axis, or of several, in order."""
    if axis is None:
        return tuple(range(order))
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    modes = []
    for one in axes:
        if not isinstance(one, (int, np.integer)):
            raise TypeError(f"axis is {one!r}; give an integer, or several")
        mode = int(one) + order if one < 0 else int(one)
        if not 0 <= mode < order:
            raise failure("E0413", f"there is no axis {one} of {order} modes", "count from 0")
        if mode in modes:
            raise failure("E0413", f"axis {one} is given twice", "give each once")
        modes.append(mode)
    return tuple(sorted(modes))


def _reduced_by(
    name: str, tensor: Any, axis: Any = 0, keepdims: bool = False, dtype: Any = None
) -> Any:
    """A reduction as NumPy's ``ufunc.reduce`` is called: along the first mode by default."""
    if dtype is None:
        return getattr(tensor, name)(axis=axis, keepdims=keepdims)
    of_type = tensor if name in ("any", "all") else tensor.astype(dtype)
    return getattr(of_type, name)(axis=axis, keepdims=keepdims).astype(dtype)


def _as_type(x: Any, dtype: np.dtype) -> Any:
    """An argument of a function that is computed in this type. A complex one stays so where the
    type is real: the function may be the one that makes it real, as `abs` does."""
    own = x.dtype if hasattr(x, "dtype") else np.result_type(x)
    if own.kind == "c" and dtype.kind != "c":
        return x
    return dtype.type(x) if _is_number(x) else _tensor(x).astype(dtype)


def _is_graph(x: Any) -> bool:
    """Whether it is an array of Dask, whose own operators compute with tensors."""
    return hasattr(type(x), "__dask_graph__")


def _deferring(method: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """An operator that leaves arrays of Dask to theirs."""

    @wraps(method)
    def operator(self: Any, other: Any) -> Any:
        is_ours = type(other) is type(self)
        return NotImplemented if not is_ours and _is_graph(other) else method(self, other)

    return operator


for _name in (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"),
    *("and", "or", "xor", "lshift", "rshift"),
):
    for _full in (f"__{_name}__", f"__r{_name}__"):
        setattr(Operators, _full, _deferring(getattr(Operators, _full)))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Operators, f"__{_name}__", _deferring(getattr(Operators, f"__{_name}__")))


@lru_cache(maxsize=1024)
def _reduction(name: str, order: int, modes: tuple[int, ...], keepdims: bool, form: str) -> str:
    entry = form.format(access("a", _letters(order)))
    kept = [
        f"k{mode}" if mode in modes else f"i{mode}"
        for mode in range(order)
        if keepdims or mode not in modes
    ]
    over = ",".join(f"i{mode}" for mode in modes)
    return f"{access('out', kept)} = {f'{name}{{{over}}}({entry})' if modes else entry}"


def _letters(order: int) -> list[str]:
    return [f"i{mode}" for mode in range(order)]


def access(name: str, indices: Sequence[str]) -> str:
    """A tensor at some indices, as text."""
    return f"{name}({','.join(indices)})" if indices else name


@lru_cache(maxsize=1024)
def _elementwise(form: str, *orders: int | str) -> str:
    """A statement over operands of equal shapes; a text stands for itself."""
    order = max(order for order in orders if isinstance(order, int))
    arguments = [
        argument if isinstance(argument, str) else access(name, _letters(argument))
        for name, argument in zip("abc", orders)
    ]
    return f"{access('out', _letters(order))} = {form.format(*arguments)}"


def broadcast_shape(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape of entries of all of these shapes, aligned at the last mode.

    Raises
    ------
    InputError
        For extents that differ (``E0203``).
    """
    extents = [1] * max(map(len, shapes), default=0)
    for shape in shapes:
        for mode, extent in enumerate(shape, start=len(extents) - len(shape)):
            if extent != extents[mode] and 1 not in (extent, extents[mode]):
                message = f"shapes {', '.join(map(str, shapes))} do not fit together"
                raise failure("E0203", message, "modes are aligned at the last; 1 fits any extent")
            extents[mode] = extent if extents[mode] == 1 else extents[mode]
    return tuple(extents)


def _longest(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The extents of shapes that are aligned at the last mode: of each, the first that is not 1."""
    extents = [1] * max(map(len, shapes))
    for shape in shapes:
        for mode, extent in enumerate(shape, start=len(extents) - len(shape)):
            extents[mode] = extent if extents[mode] == 1 else extents[mode]
    return tuple(extents)


@lru_cache(maxsize=1024)
def _broadcast(form: str, shapes: tuple[tuple[int, ...] | str, ...]) -> str:
    """A statement over operands whose shapes are aligned at the last mode; a text stands for
    itself. A mode of extent 1 beside a longer one is read at its one coordinate."""
    extents = _longest([shape for shape in shapes if not isinstance(shape, str)])
    order = len(extents)
    arguments = []
    for name, shape in zip("abc", shapes):
        if isinstance(shape, str):
            arguments.append(shape)
            continue
        modes = zip(range(order - len(shape), order), shape)
        letters = [
            "0" if extent == 1 and extents[mode] != 1 else f"i{mode}" for mode, extent in modes
        ]
        arguments.append(access(name, letters))
    return f"{access('out', _letters(order))} = {form.format(*arguments)}"


@lru_cache(maxsize=1024)
def _at_first(order: int, kept: tuple[int, ...]) -> str:
    """The statement that reads modes of extent 1 at their one coordinate, and keeps others."""
    letters = [f"i{mode}" if mode in kept else "0" for mode in range(order)]
    return f"{access('out', [letters[mode] for mode in kept])} = {access('a', letters)}"


def _literal(value: Any) -> str | None:
    """A number as text; None for one that the language does not write."""
    number = value.item() if isinstance(value, np.generic) else value
    if isinstance(number, bool) or not (isinstance(number, int) or cmath.isfinite(number)):
        return None
    if isinstance(number, complex):
        text = f"({number.real!r} + ({number.imag!r}j))"
        return f"{_TYPES[value.dtype.name]}({text})" if isinstance(value, np.generic) else text
    text = repr(number) if number >= 0 else f"({number!r})"
    if isinstance(value, np.generic):
        # A number of NumPy has a type; one of Python takes that of the tensor.
        return f"{_TYPES[value.dtype.name]}({number!r})"
    return text


def _number(value: Any, dtype: np.dtype) -> _sparsec.Stored:
    """A number as an operand, of the type that NumPy would compute in."""
    if isinstance(value, np.generic):
        return _sparsec.Stored.dense(np.asarray(value), False, True)
    wanted = np.result_type(dtype, value)
    return _sparsec.Stored.dense(np.asarray(value, dtype=wanted), False, True)


def apply(form: str, *arguments: Any) -> Tensor:
    """A function of up to three arguments. Numbers are taken with the type of a tensor among
    them, as NumPy takes them."""
    if LAZY.get() or any(getattr(x, "_is_lazy", False) for x in arguments):
        from . import _lazy

        return _lazy.applied(form, arguments)  # type: ignore[return-value]
    if len(arguments) == 1:
        only = _tensor(arguments[0])
        return evaluated(_elementwise(form, only.ndim), [("a", only._stored)], [])
    operands: list[tuple[str, _sparsec.Stored]] = []
    shapes: list[tuple[int, ...] | str] = []
    tensor = next((x for x in arguments if hasattr(x, "dtype") and not _is_number(x)), None)
    for name, x in zip("abc", arguments):
        if _is_number(x) and tensor is not None:
            text = None if form == _PRODUCT else _literal(x)
            if text is not None:
                shapes.append(text)
                continue
            stored = _number(x, tensor.dtype)
        else:
            stored = _tensor(x)._stored
        operands.append((name, stored))
        shapes.append(stored.shape)
    # Operands without modes stand beside any others.
    given = {shape for shape in shapes if shape and not isinstance(shape, str)}
    if len(given) > 1:
        # Shapes that do not fit together are refused with the statement, which shows where.
        return evaluated(_broadcast(form, tuple(shapes)), operands, [])
    orders = [shape if isinstance(shape, str) else len(shape) for shape in shapes]
    return evaluated(_elementwise(form, *orders), operands, [])


def _without(stored: _sparsec.Stored, modes: Sequence[int]) -> _sparsec.Stored | None:
    """A dense tensor without some modes of extent 1, over the same array; None for others."""
    is_dense = all(level.endswith(": dense") for level in stored.levels)
    if not is_dense or stored.fill != 0 or stored.dtype == "bfloat16":
        return None
    (values,) = stored.arrays_in("dense", False)
    shape = [extent for mode, extent in enumerate(stored.shape) if mode not in modes]
    return _sparsec.Stored.dense(values.reshape(shape), False, False)


def of_bits(name: str, *arguments: Any) -> Tensor:
    """A function of bits, of integers or of truth values, by its name in NumPy."""
    arguments = tuple(x if _is_number(x) or hasattr(x, "dtype") else _tensor(x) for x in arguments)
    kinds = [
        "b" if str(getattr(x, "dtype", type(x).__name__)).endswith("bool") else "i"
        for x in arguments
    ]
    dtype = np.dtype(arguments[0].dtype) if name == "invert" else None
    return apply(bits_form(name, set(kinds) == {"b"}, dtype), *arguments)


def bits_form(name: str, are_truths: bool, dtype: np.dtype | None) -> str:
    """How index notation writes a function of bits, of truth values or of integers."""
    of_integers, of_truths = _BITS[name]
    if are_truths:
        return of_truths
    ones = np.iinfo(dtype).max if dtype is not None and dtype.kind == "u" else -1
    return of_integers.replace("{ones}", str(ones))


def _tensor(x: Any) -> Tensor:
    """A tensor, or what `asarray` makes of anything else."""
    if isinstance(x, Operators):
        return x  # type: ignore[return-value]
    if type(x) is np.ndarray and x.flags.c_contiguous and x.dtype.kind in "biufc":
        # As `asarray`, which looks at more first.
        return _made(_sparsec.Stored.dense(x, False, False))
    from ._asarray import asarray

    return asarray(x)


def _is_number(x: Any) -> bool:
    return isinstance(x, _NUMBERS)


def evaluated(
    text: str, operands: list[tuple[str, _sparsec.Stored]], extents: list[tuple[str, int]]
) -> Tensor:
    """The result of a program over these operands, with extents of further indices."""
    if extents:
        return _made(_sparsec.evaluate(text, operands, [], extents))
    statement = _STATEMENTS.get(text)
    if statement is None:
        if len(_STATEMENTS) >= _MOST_STATEMENTS:
            _STATEMENTS.clear()
        statement = _sparsec.Statement(text, [name for name, _ in operands])
        _STATEMENTS[text] = statement
    return _made(statement(*[stored for _, stored in operands]))


#: Statements by their texts, which name operands in order.
_STATEMENTS: dict[str, _sparsec.Statement] = {}
_MOST_STATEMENTS = 1024


#: What makes a tensor of a stored one: `Tensor._of`, which that module puts here.
_made: Callable[[_sparsec.Stored], Tensor]


#: Products of vectors and matrices, by the numbers of modes; those of truth values, which NumPy
#: does not count; and those whose result is dense though the formats of factors do not say so.
_PRODUCTS: dict[tuple[int, int, bool, bool], _sparsec.Statement] = {
    (*orders, are_truths, is_dense): _sparsec.Statement(
        f"{left} = or{{j}}({a} and {b})" if are_truths else f"{left} = {a} * {b}",
        ["a", "b"],
        "dense" if is_dense else None,
    )
    for orders, left, a, b in (
        ((1, 1), "out", "a(j)", "b(j)"),
        ((1, 2), "out(k)", "a(j)", "b(j,k)"),
        ((2, 1), "out(i)", "a(i,j)", "b(j)"),
        ((2, 2), "out(i,k)", "a(i,j)", "b(j,k)"),
    )
    for are_truths in (False, True)
    for is_dense in (False, True)
}


def _matmul(first: Any, second: Any) -> Tensor:
    a, b = _tensor(first), _tensor(second)
    if not (a._is_lazy or b._is_lazy or LAZY.get()):
        left, right = a._stored, b._stored
        are_truths = left.holds_truths and right.holds_truths
        is_dense = left.has_dense_product(right)
        statement = _PRODUCTS.get((left.order, right.order, are_truths, is_dense))
        if statement is not None:
            return _made(statement(left, right))
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError("`@` multiplies tensors with modes; multiply by a number with `*`")
    from ._compute import einsum

    rows = "...ij" if a.ndim > 1 else "j"
    columns = "...jk" if b.ndim > 1 else "j"
    output = "..." + ("i" if a.ndim > 1 else "") + ("k" if b.ndim > 1 else "")
    made = einsum(f"{rows},{columns}->{output}", a, b)
    return made != 0 if _holds_truths(a) and _holds_truths(b) else made


def _holds_truths(x: Any) -> bool:
    """Whether the entries are truth values, whose products NumPy does not count. The type of an
    expression is not asked for where it takes a plan to know it."""
    return x._dtype == np.bool_ if x._is_lazy else x._stored.holds_truths  # type: ignore[no-any-return]

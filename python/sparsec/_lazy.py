"""Expressions that are computed as one program.

An operator of a lazy tensor computes nothing: it makes a node. A node writes itself as index
notation for any indices, so a tree of nodes becomes one statement::

    C = lazy(A) @ B           sum{k}(a0(i0,k) * a1(k,i1))
    ((C * S) + 1).sum(axis=1)
                  ──► out(i0) = sum{i1}(sum{k}(a0(i0,k) * a1(k,i1)) * a2(i0,i1) + 1)

What is used twice and has a sum in it becomes a statement of its own, of the same program, so
the planner sees all of it: it fuses loops, chooses orders, and keeps no more than it has to.
"""

from __future__ import annotations

import re
from types import TracebackType
from typing import Any, Callable, Iterable, Sequence

import numpy as np

from . import _sparsec
from ._deferring import asks_scipy, no_array
from ._errors import failure
from ._indexing import is_selection, windows_of
from ._operators import LAZY, TRUTHS, Operators, _literal, access, broadcast_shape, modes_of
from ._tensor import Tensor

#: Operators that a statement has before a node becomes a statement of its own: a statement has
#: at most 500, and writing one takes three frames of the interpreter's stack for each.
_LONGEST = 100

class Lazy(Operators):
    """A tensor that is not computed yet.

    It has the operators of `Tensor`; the functions of the package take it, too. `compute`
    makes the tensor.
    """

    __slots__ = ("_children", "_dtype", "_n_operators", "_shape", "_write")

    _is_lazy = True

    def __init__(
        self,
        shape: Sequence[int],
        children: Sequence[Lazy],
        write: Callable[[Writer, list[str]], str],
        n_operators: int = 1,
    ) -> None:
        self._shape = tuple(shape)
        self._children = tuple(children)
        self._write = write
        self._dtype: np.dtype | None = None
        self._n_operators: int = n_operators + sum(child._n_operators for child in children)

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents."""
        return self._shape

    @property
    def dtype(self) -> np.dtype:
        """The type of the values, as the program is typed. Planning it takes a millisecond."""
        if self._dtype is None:
            program = Program([self])
            name = _sparsec.typed(program.text, program.operands(), program.extents)
            self._dtype = np.dtype(name)
        return self._dtype

    def compute(self, out_format: str | None = None) -> Tensor:
        """The tensor. As `sparsec.compute`."""
        made: Tensor = compute(self, out_format=out_format)
        return made

    def astype(self, dtype: Any) -> Any:
        """The expression with values of another type."""
        return self._cast(np.dtype(dtype))

    def permute_dims(self, axes: Sequence[int]) -> Any:
        """The expression with its modes in another order."""
        modes = [axis + self.ndim if axis < 0 else axis for axis in axes]
        if sorted(modes) != list(range(self.ndim)):
            raise failure("E0413", f"axes {tuple(axes)} of {self.ndim} modes", "name each once")

        def write(writer: Writer, indices: list[str]) -> str:
            own = [""] * len(modes)
            for place, mode in enumerate(modes):
                own[mode] = indices[place]
            return writer.text(self, own)

        return self._of_my_type(Lazy([self.shape[mode] for mode in modes], [self], write, 0))

    def _reduced(self, name: str, axis: Any, keepdims: bool, form: str) -> Any:
        modes = modes_of(axis, self.ndim)
        kept = [mode for mode in range(self.ndim) if keepdims or mode not in modes]

        def write(writer: Writer, indices: list[str]) -> str:
            own = dict(zip(kept, indices))
            own.update({mode: writer.fresh() for mode in modes})
            body = form.format(writer.text(self, [own[mode] for mode in range(self.ndim)]))
            for mode in modes:
                writer.settle(own[mode], self.shape[mode], body)
            over = ",".join(own[mode] for mode in modes)
            return f"{name}{{{over}}}({body})" if modes else body

        shape = [1 if mode in modes else self.shape[mode] for mode in kept]
        return Lazy(shape, [self], write)

    def __getitem__(self, key: Any) -> Any:
        if is_selection(key):
            raise TypeError("select by arrays and masks after `compute`")
        windows, dropped, added = windows_of(key, self.shape)
        if added:
            raise TypeError("add modes after `compute`")
        kept = [mode for mode in range(self.ndim) if mode not in dropped]
        lengths = [len(range(*one)) for one in windows]

        def write(writer: Writer, indices: list[str]) -> str:
            given = dict(zip(kept, indices))
            own = []
            for mode, (start, stop, step) in enumerate(windows):
                if mode in dropped:
                    own.append(str(start))
                elif (start, stop, step) == (0, self.shape[mode], 1):
                    own.append(given[mode])
                else:
                    writer.settle(given[mode], lengths[mode], "")
                    sign = "+" if step > 0 else "-"
                    own.append(f"{start} {sign} {abs(step)} * ({given[mode]})")
            return writer.text(self, own)

        return self._of_my_type(Lazy([lengths[mode] for mode in kept], [self], write))

    def _of_my_type(self, made: Lazy) -> Lazy:
        """A node of the same entries, whose type is known if that of this one is."""
        made._dtype = self._dtype
        return made

    def __repr__(self) -> str:
        program = Program([self])
        shape = ", ".join(map(str, self.shape))
        return f"<sparsec.Lazy [{shape}]\n  " + program.text.replace("\n", "\n  ") + ">"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if asks_scipy():
            return no_array(self)
        raise failure("E0471", "an expression is no array yet", "call `compute()` first")


def leaf(tensor: Tensor) -> Lazy:
    """A tensor as a node."""

    def write(writer: Writer, indices: list[str]) -> str:
        return access(writer.operand(tensor), indices)

    made = Lazy(tensor.shape, [], write, 0)
    made._dtype = None if tensor._stored.dtype == "bfloat16" else tensor.dtype
    return made


def node(x: Any) -> Lazy:
    """A tensor, or what `asarray` takes, as a node."""
    from ._asarray import asarray

    return x if isinstance(x, Lazy) else leaf(asarray(x))


def applied(form: str, arguments: Sequence[Any]) -> Lazy:
    """A function of tensors and numbers, as a node."""
    texts: list[str | Lazy] = []
    for x in arguments:
        text = _literal(x) if isinstance(x, (int, float, complex, np.generic)) else None
        if text is None and isinstance(x, (bool, int, float, complex)):
            x = np.asarray(x)
        texts.append(text if text is not None else node(x))
    nodes = [x for x in texts if isinstance(x, Lazy)]
    shape = broadcast_shape([x.shape for x in nodes])

    def write(writer: Writer, indices: list[str]) -> str:
        written = []
        for x in texts:
            if isinstance(x, str):
                written.append(x)
                continue
            own = []
            for mode, extent in enumerate(x.shape, start=len(shape) - x.ndim):
                own.append("0" if extent == 1 and shape[mode] != 1 else indices[mode])
            written.append(writer.text(x, own))
        return f"({form.format(*written)})"

    made = Lazy(shape, nodes, write)
    if form in TRUTHS:
        made._dtype = np.dtype(bool)
    return made


def product(equation: str, arguments: Sequence[Any]) -> Lazy:
    """An einsum with a letter for each mode, as a node."""
    inputs, _, output = equation.partition("->")
    nodes = [node(x) for x in arguments]
    lists = inputs.split(",")
    extents: dict[str, int] = {}
    for letters, x in zip(lists, nodes):
        for letter, extent in zip(letters, x.shape):
            if extents.get(letter, 1) == 1:
                extents[letter] = extent
            elif extent not in (1, extents[letter]):
                message = f"`{letter}` has extents {extents[letter]} and {extent}"
                raise failure("E0203", message, "give operands whose shared modes are alike")

    def write(writer: Writer, indices: list[str]) -> str:
        own = dict(zip(output, indices))
        over = [letter for letter in extents if letter not in own]
        own.update({letter: writer.fresh() for letter in over})
        factors = []
        for letters, x in zip(lists, nodes):
            # A mode of extent 1 beside longer ones is read at its one coordinate.
            read = zip(letters, x.shape)
            indices = [own[it] if extent == extents[it] else "0" for it, extent in read]
            factors.append(writer.text(x, indices))
        body = " * ".join(factors)
        for letter in over:
            writer.settle(own[letter], extents[letter], body)
        summed = ",".join(own[letter] for letter in over)
        return f"sum{{{summed}}}({body})" if over else f"({body})"

    return Lazy([extents[letter] for letter in output], nodes, write, len(nodes))


class Writer:
    """Writes nodes as index notation."""

    def __init__(self, shared: Iterable[int]) -> None:
        self._shared = set(shared)
        self._names: dict[int, str] = {}
        self._tensors: dict[int, tuple[str, Tensor]] = {}
        self._n_letters = 0
        self.statements: list[str] = []
        self.extents: dict[str, int] = {}

    def fresh(self) -> str:
        """A new index variable."""
        self._n_letters += 1
        return f"i{self._n_letters - 1}"

    def operand(self, tensor: Tensor) -> str:
        """The name of a tensor."""
        known = self._tensors.setdefault(id(tensor), (f"a{len(self._tensors)}", tensor))
        return known[0]

    def settle(self, index: str, extent: int, written: str) -> None:
        """Says how far an index runs, unless it stands alone in an access: there the operand
        says it."""
        if index.isidentifier() and not re.search(rf"[(,]{index}[,)]", written):
            self.extents[index] = extent

    def text(self, node: Lazy, indices: list[str]) -> str:
        """A node at some indices: its expression, or an access of the statement that it is."""
        if id(node) not in self._shared:
            return node._write(self, indices)
        return access(self.name(node), indices)

    def name(self, node: Lazy) -> str:
        """The name of a node that is a statement."""
        name = self._names.get(id(node))
        if name is None:
            name = f"t{len(self._names)}"
            self.statement(name, node)
            self._names[id(node)] = name
        return name

    def statement(self, name: str, node: Lazy) -> None:
        """Adds the statement that computes a node."""
        letters = [self.fresh() for _ in node.shape]
        written = node._write(self, letters)
        self.statements.append(f"{access(name, letters)} = {written}")
        for letter, extent in zip(letters, node.shape):
            self.settle(letter, extent, written)

    def tensors(self) -> list[tuple[str, Tensor]]:
        """The operands, by name."""
        return list(self._tensors.values())


class Program:
    """Nodes as one program: its text, operands and extents.

    The results are ``out0``, ``out1``, ....
    """

    def __init__(self, results: Sequence[Lazy]) -> None:
        shared = _shared(results)
        writer = Writer(shared)
        for one in _bottom_up(results):
            if id(one) in shared:
                writer.name(one)
        self.names = [f"out{number}" for number in range(len(results))]
        for name, result in zip(self.names, results):
            writer.statement(name, result)
        self.text = "\n".join(writer.statements)
        self.tensors = writer.tensors()
        self.extents = list(writer.extents.items())

    def operands(self) -> list[tuple[str, _sparsec.Stored]]:
        """The operands as the compiled part takes them."""
        return [(name, tensor._stored) for name, tensor in self.tensors]


def _shared(results: Sequence[Lazy]) -> set[int]:
    """The nodes that become statements: those used twice that cost more than an access, and
    parts of expressions that are too long."""
    uses: dict[int, int] = {}
    sizes: dict[int, int] = {}
    shared: set[int] = set()
    open_ = list(results)
    while open_:
        one = open_.pop()
        uses[id(one)] = uses.get(id(one), 0) + 1
        if uses[id(one)] == 1:
            open_.extend(one._children)
    for one in _bottom_up(results):
        size = one._n_operators - sum(child._n_operators for child in one._children)
        size += sum(sizes[id(child)] for child in one._children)
        is_long = size > _LONGEST
        if one._children and (uses[id(one)] > 1 or is_long) and size > 0:
            shared.add(id(one))
            size = 0
        sizes[id(one)] = size
    return shared - {id(one) for one in results if uses[id(one)] == 1}


def _bottom_up(results: Sequence[Lazy]) -> list[Lazy]:
    """All nodes, children first. Takes no stack, however deep they nest."""
    done: set[int] = set()
    order: list[Lazy] = []
    open_: list[tuple[Lazy, bool]] = [(one, False) for one in results]
    while open_:
        one, is_ready = open_.pop()
        if id(one) in done:
            continue
        if is_ready:
            done.add(id(one))
            order.append(one)
            continue
        open_.append((one, True))
        open_.extend((child, False) for child in one._children)
    return order


class lazy:
    """Makes a tensor lazy, or, as ``with sparsec.lazy():``, all operators in a block.

    Operators, reductions, ``@``, `einsum`, ``permute_dims``, slices and the elementwise
    functions of the package then make expressions. `compute` computes the whole expression by
    one program.

    Parameters
    ----------
    x : Tensor or array-like, optional

    Examples
    --------
    >>> import numpy as np, sparsec
    >>> A = sparsec.asarray(np.eye(3), format="csr")
    >>> x = np.array([1.0, 2.0, 3.0])
    >>> y = (sparsec.lazy(A) @ x + 1).sum()
    >>> y.compute().item()
    9.0
    >>> with sparsec.lazy():
    ...     z = abs(A @ A - A)
    >>> print(z)
    <sparsec.Lazy [3, 3]
      out0(i0,i1) = (abs((sum{i2}(a0(i0,i2) * a0(i2,i1)) - a0(i0,i1))))>
    >>> sparsec.compute(z).nnz
    3
    """

    def __new__(cls, x: Any = None) -> Any:
        return object.__new__(cls) if x is None else node(x)

    def __enter__(self) -> None:
        self._token = LAZY.set(True)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        LAZY.reset(self._token)


def compute(*expressions: Any, out_format: str | None = None) -> Any:
    """The tensors that expressions stand for, computed by one program.

    Parameters
    ----------
    *expressions : lazy tensors
        Tensors are returned as they are.
    out_format : str, optional
        How the results are stored; by default as for `evaluate`.

    Returns
    -------
    Tensor, or tuple of Tensor
        One for each expression.

    Raises
    ------
    InputError, DtypeError, OutOfMemoryError
        Those of `evaluate`, with the place in the program.
    """
    given = [x for x in expressions if isinstance(x, Lazy)]
    made: dict[int, Tensor] = {}
    if given:
        program = Program(given)
        formats = [] if out_format is None else [(name, out_format) for name in program.names]
        made = _computed(program, given, formats)
    results = tuple(made[id(x)] if isinstance(x, Lazy) else x for x in expressions)
    return results[0] if len(results) == 1 else results


def _computed(
    program: Program, given: Sequence[Lazy], formats: list[tuple[str, str]]
) -> dict[int, Tensor]:
    operands = program.operands()
    if len(given) == 1:
        stored = _sparsec.evaluate(program.text, operands, formats, program.extents)
        return {id(given[0]): Tensor._of(stored)}
    results = _sparsec.evaluate_all(program.text, operands, formats, program.extents)
    return {id(x): Tensor._of(results[name]) for x, name in zip(given, program.names)}

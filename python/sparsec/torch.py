"""Programs of index notation as functions of PyTorch, with derivatives::

    y = evaluate("y(i) = A(i,j) * x(j)", A=Sparse(structure, values), x=x)
        │ forward:   the program, over arrays of PyTorch
        └ backward:  d_x(j) = sum{i}(d_y(i) * A(i,j))        `sparsec compile --emit gradient=x`
                     d_A(i,j) = select(isstored(A(i,j)), d_y(i) * x(j), 0.0)

The operator is ``torch.ops.sparsec.evaluate``, a `torch.library.custom_op`, so ``torch.compile``
takes it as one node. Needs PyTorch 2.4.

Source: the derivation is that of the crate ``sparsec-gradient``.
"""

from __future__ import annotations

import itertools
import re
import threading
import weakref
from typing import Any, List, Sequence

import numpy as np
import torch  # type: ignore[import-not-found, unused-ignore]

from . import _sparsec
from ._asarray import asarray
from ._compute import explain
from ._errors import failure
from ._tensor import Tensor

__all__ = ["Sparse", "evaluate"]


class Sparse:
    """A sparse operand whose stored values PyTorch knows.

    Parameters
    ----------
    structure : Tensor or what `sparsec.asarray` takes
        Where entries are stored, and in which format. Its values are not read if `values` are
        given.
    values : torch.Tensor, optional
        A vector of the stored values, in storage order; by default those of the structure.
        It may require gradients.

    Examples
    --------
    >>> import sparsec, torch  # doctest: +SKIP
    >>> A = sparsec.torch.Sparse(torch.eye(3).to_sparse_csr())  # doctest: +SKIP
    """

    def __init__(self, structure: Any, values: Any = None) -> None:
        self.structure: Tensor = asarray(structure)
        stored = self.structure.buffers["vals"]
        if values is None:
            values = torch.from_numpy(stored.copy())
        if tuple(values.shape) != (len(stored),):
            message = f"{tuple(values.shape)} values for {len(stored)} stored entries"
            raise failure("E0402", message, "give one for each entry, in storage order")
        self.values = values
        self._kept = _Kept(self.structure)


class _Kept:
    """A structure that something still needs: its `Sparse`, or a graph that will be derived."""

    _lock = threading.Lock()
    _numbers = itertools.count(1)
    _known: weakref.WeakValueDictionary[int, _Kept] = weakref.WeakValueDictionary()

    def __init__(self, structure: Tensor) -> None:
        self.structure = structure
        with self._lock:
            self.number = next(self._numbers)
            self._known[self.number] = self

    @classmethod
    def of(cls, number: int) -> _Kept:
        """The structure of a number, which operators of PyTorch can be given."""
        with cls._lock:
            return cls._known[number]


def evaluate(
    expression: str, *, values_of: str | None = None, **operands: Any
) -> torch.Tensor:
    """Computes the last statement of a program, with derivatives for PyTorch.

    Parameters
    ----------
    expression : str
        As for `sparsec.evaluate`.
    values_of : str, optional
        The name of a sparse operand whose entries the result has, such as the samples of
        ``"C(i,j) = S(i,j) * A(i,k) * B(k,j)"``. The result is then the vector of its stored
        values, in the order of that operand.
    **operands : torch.Tensor or Sparse
        Dense tensors of PyTorch, and sparse ones. Tensors of `sparsec` have no derivatives.

    Returns
    -------
    torch.Tensor
        Dense.

    Raises
    ------
    InputError
        Those of `sparsec.evaluate`; in the backward pass, for what has no derivative (``E0245``).
    """
    names, given, handles = [], [], []
    made_here = {name: Sparse(it) for name, it in operands.items() if isinstance(it, Tensor)}
    for name, operand in {**operands, **made_here}.items():
        names.append(name)
        is_sparse = isinstance(operand, Sparse)
        given.append(operand.values if is_sparse else operand)
        handles.append(operand._kept.number if is_sparse else 0)
    made: torch.Tensor = _evaluate(expression, ",".join(names), values_of or "", given, handles)
    return made


def _operand(values: torch.Tensor, handle: int) -> Tensor:
    array = values.detach().contiguous().numpy()
    if handle == 0:
        return asarray(array)
    return _with_values(_Kept.of(handle).structure, array)


def _with_values(structure: Tensor, values: np.ndarray) -> Tensor:
    stored = structure._stored
    indices = [array for name, array in stored.buffers if name != "vals"]
    fill = np.zeros(1, dtype=values.dtype)
    return Tensor._of(
        _sparsec.Stored.of_arrays(stored.format, structure.shape, [*indices, values], fill)
    )


def _values(made: Tensor, structure: Tensor) -> torch.Tensor:
    """The stored values of a tensor that has the entries of a structure."""
    made = made.convert(structure.format)
    for name, array in structure.buffers.items():
        if name != "vals" and not np.array_equal(array, made.buffers[name]):
            message = "the result has other entries than the operand that it is stored like"
            raise failure("E0022", message, "multiply by that operand, or leave out `values_of`")
    return torch.from_numpy(made.buffers["vals"].copy())


@torch.library.custom_op("sparsec::evaluate", mutates_args=())  # type: ignore[untyped-decorator, unused-ignore]
def _evaluate(
    expression: str,
    names: str,
    values_of: str,
    operands: Sequence[torch.Tensor],
    handles: Sequence[int],
) -> torch.Tensor:
    given = _named(names, operands, handles)
    return _computed(expression, given, given.get(values_of))


def _named(
    names: str, operands: Sequence[torch.Tensor], handles: Sequence[int]
) -> dict[str, Tensor]:
    pairs = zip(names.split(","), operands, handles)
    return {name: _operand(values, handle) for name, values, handle in pairs}


def _computed(expression: str, given: dict[str, Tensor], like: Tensor | None) -> torch.Tensor:
    formats = [("", "dense" if like is None else like.format)]
    read = [(name, it._stored) for name, it in given.items() if _reads(expression, name)]
    made = Tensor._of(_sparsec.evaluate(expression, read, formats, []))
    if like is not None:
        return _values(made, like)
    return torch.from_numpy(made.to_numpy(copy=True))


def _reads(expression: str, name: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", expression) is not None


@_evaluate.register_fake  # type: ignore[untyped-decorator, unused-ignore]
def _(
    expression: str,
    names: str,
    values_of: str,
    operands: Sequence[torch.Tensor],
    handles: Sequence[int],
) -> torch.Tensor:
    """The shape of the result, from the shapes of operands."""
    names_ = names.split(",")
    if values_of:
        return operands[names_.index(values_of)].new_empty(len(operands[names_.index(values_of)]))
    extents: dict[str, Any] = {}
    for name, operand, handle in zip(names_, operands, handles):
        shape = _Kept.of(handle).structure.shape if handle else operand.shape
        for access in re.finditer(rf"\b{re.escape(name)}\(([^()]*)\)", expression):
            indices = [index.strip() for index in access[1].split(",")]
            extents.update(zip(indices, shape))
    left = expression.replace(";", "\n").strip().splitlines()[-1].partition("=")[0]
    _, _, listed = left.partition("(")
    wanted = [index.strip() for index in listed.strip().rstrip(")").split(",") if index.strip()]
    for index in wanted:
        if index not in extents:
            message = f"`{index}` is an index of no operand, so that the shape is not known"
            raise failure("E0204", message, "call it outside of `torch.compile`")
    dtype = operands[0].dtype
    for operand in operands:
        dtype = torch.promote_types(dtype, operand.dtype)
    return operands[0].new_empty([extents[index] for index in wanted], dtype=dtype)


def _keep(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.expression, ctx.names, ctx.values_of, operands, ctx.handles = inputs
    # The graph may outlive what it was made of.
    ctx.kept = [_Kept.of(handle) for handle in ctx.handles if handle]
    ctx.save_for_backward(*operands)


def _backward(ctx: Any, grad: torch.Tensor) -> Any:
    needed = [index for index, it in enumerate(ctx.saved_tensors) if it.requires_grad]
    made = _gradients(
        ctx.expression, ctx.names, ctx.values_of, ctx.saved_tensors, ctx.handles, grad, needed
    )
    derivatives: list[torch.Tensor | None] = [None] * len(ctx.saved_tensors)
    for index, derivative in zip(needed, made):
        derivatives[index] = derivative
    return None, None, None, derivatives, None


@torch.library.custom_op("sparsec::gradients", mutates_args=())  # type: ignore[untyped-decorator, unused-ignore]
def _gradients(
    expression: str,
    names: str,
    values_of: str,
    operands: Sequence[torch.Tensor],
    handles: Sequence[int],
    grad: torch.Tensor,
    needed: Sequence[int],
) -> List[torch.Tensor]:  # PyTorch 2.6 reads no `list`
    given = _named(names, operands, handles)
    like = given.get(values_of)
    seed = asarray(grad.detach().contiguous().numpy())
    if like is not None:
        seed = _with_values(like, grad.detach().contiguous().numpy())
    result = expression.replace(";", "\n").strip().splitlines()[-1]
    name = "d_" + result.partition("=")[0].partition("(")[0].strip()
    derivatives = []
    for index in needed:
        operand = names.split(",")[index]
        read = {key: it for key, it in given.items() if _reads(expression, key)}
        text = str(explain(expression, read, stage=f"gradient={operand}")).strip()
        structure = given[operand] if handles[index] else None
        made = _computed(text, {**given, name: seed}, structure)
        derivatives.append(made.to(operands[index].dtype))
    return derivatives


@_gradients.register_fake  # type: ignore[untyped-decorator, unused-ignore]
def _(
    expression: str,
    names: str,
    values_of: str,
    operands: Sequence[torch.Tensor],
    handles: Sequence[int],
    grad: torch.Tensor,
    needed: Sequence[int],
) -> list[torch.Tensor]:
    return [torch.empty_like(operands[index]) for index in needed]


_evaluate.register_autograd(_backward, setup_context=_keep)

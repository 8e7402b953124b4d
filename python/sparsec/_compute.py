"""Programs of index notation and einsums, computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping

import numpy as np

from . import _lazy, _sparsec
from ._asarray import asarray
from ._einsum import equation_of
from ._errors import failure
from ._operators import LAZY
from ._tensor import Tensor

# Shards are imported by the calls that cut: most programs do without, and begin sooner.
if TYPE_CHECKING:
    from . import _blocks


def evaluate(
    expression: str,
    operands: Mapping[str, Any] | None = None,
    /,
    *,
    out_format: str | Mapping[str, str] | None = None,
    extents: Mapping[str, int] | None = None,
    memory: int | str | None = None,
    shards: str | None = None,
    **named: Any,
) -> Tensor:
    """Computes the last statement of a program of index notation.

    An index that the left side lacks is summed over. The kernel is planned for the formats of
    the operands and kept: a second call with operands stored alike only runs it. It runs
    without the interpreter's lock.

    Parameters
    ----------
    expression : str
        One or more statements, such as ``"C(i,j) = A(i,k) * B(k,j)"``, one a line or separated
        by ``;``. The language has ``+ - * / // %``, comparisons, functions (``sqrt``, ``exp``,
        ``max``, ``select``, ...), reductions (``max{j}(A(i,j))``), affine indices and windows.
    operands : mapping of str to array-like, optional
        The operands by name, if they are not given as keywords.
    out_format : str or mapping, optional
        How the result is stored, or the tensors with these names. By default a mode is dense
        where dense levels of operands fill it (one argument of a sum, all factors of a product
        that have the mode), else compressed.
    extents : mapping of str to int, optional
        Extents of index variables that no operand has.
    memory : int or str, optional
        How many bytes a shard may take, such as ``"2GB"``. Counted are slices of operands and, by
        estimate, the result. Not counted are operands that are whole, intermediate tensors of
        several statements, workspaces, converted copies, and the result joined so far. A program
        that is estimated to take more is computed shard by shard:
        ``explain(..., stage="shards", memory=...)`` shows the plan.
    shards : str, optional
        A plan of shards as `explain` shows it, which is followed. Any process that follows it
        gets the same bits.
    **named : array-like
        The operands: tensors, and what `asarray` takes. Arrays are borrowed for the call.

    Returns
    -------
    Tensor

    Raises
    ------
    InputError
        For what is wrong with the text, and for shapes that do not fit (``E0203``).
    DtypeError
        For an operator that does not take these types.
    OutOfMemoryError
        For a result that takes more memory than there is, and if no shard fits into `memory`
        (``E0407``).

    Notes
    -----
    Source: Kjolstad et al., "The Tensor Algebra Compiler", OOPSLA 2017,
    https://doi.org/10.1145/3133901.

    Examples
    --------
    >>> import numpy as np, sparsec
    >>> A = sparsec.asarray(np.diag([1.0, 2.0, 3.0]), format="csr")
    >>> sparsec.evaluate("y(i) = A(i,j) * x(j)", A=A, x=np.ones(3)).to_numpy()
    array([1., 2., 3.])
    >>> sparsec.evaluate("C(i,j) = A(i,k) * A(k,j)", A=A, out_format="csc")
    <sparsec.Tensor f64[3, 3], csc, 3 stored
      (0, 0)  1.0
      (1, 1)  4.0
      (2, 2)  9.0>
    >>> sparsec.evaluate("r(i) = b(i) - A(i,j) * x(j); n = sqrt(sum{i}(r(i) * r(i)))",
    ...                  A=A, x=np.ones(3), b=np.ones(3)).item()
    2.23606797749979
    >>> B = sparsec.asarray(np.ones((4, 4)), format="csr")
    >>> C = sparsec.evaluate("C(i,j) = B(i,k) * B(k,j)", B=B, shards="shard(i, 0, 1, 4)")
    >>> C.format, C.nnz
    ('csr', 16)
    """
    call = _call(operands, out_format, extents, named)
    if memory is not None or shards is not None:
        from . import _blocks

        program = _blocks.Program(expression, *call)
        return _blocks.evaluate(program, _plan(program, memory, shards))
    return Tensor._of(_sparsec.evaluate(expression, *call))


def evaluate_to(
    folder: Any,
    expression: str,
    operands: Mapping[str, Any] | None = None,
    /,
    *,
    memory: int | str | None = None,
    shards: str | None = None,
    progress: bool = False,
    out_format: str | Mapping[str, str] | None = None,
    extents: Mapping[str, int] | None = None,
    **named: Any,
) -> list[str]:
    """Computes the last statement of a program shard by shard, and writes each part as it is made.

    The result is never in memory as a whole. Parts are files ``part-00000.npz``, …, side by side
    along the mode that shards cut; `sparsec.dask.read` makes one array of them. Parts that are cut
    along two modes have the coordinates of the whole.

    Parameters
    ----------
    folder : path-like
        A folder that is made, and appears whole or not at all.
    memory : int or str, optional
        The bytes of a shard, as for `evaluate`. Either this or `shards` is needed.
    progress : bool
        Whether a line on standard error tells how many shards are done.

    The other parameters are those of `evaluate`. A format that stores a triangle or a mirrored half
    does not hold for parts.

    Returns
    -------
    list of str
        The files.

    Raises
    ------
    FileError
        If the folder is there already, or cannot be written (``E0427``).

    The other errors are those of `evaluate`.

    Examples
    --------
    >>> import numpy as np, os, sparsec, tempfile
    >>> A = sparsec.asarray(np.eye(6), format="csr")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = os.path.join(folder, "C")
    ...     files = sparsec.evaluate_to(
    ...         target, "C(i,k) = A(i,j) * A(j,k)", A=A, shards="shard(i, 0, 2, 6)")
    ...     [(os.path.basename(it), sparsec.read(it).shape) for it in files]
    [('part-00000.npz', (2, 6)), ('part-00001.npz', (4, 6))]
    """
    from . import _blocks

    program = _blocks.Program(expression, *_call(operands, out_format, extents, named))
    return _blocks.evaluate_to(folder, program, _plan(program, memory, shards), progress)


def evaluate_all(
    expression: str,
    operands: Mapping[str, Any] | None = None,
    /,
    *,
    out_format: str | Mapping[str, str] | None = None,
    extents: Mapping[str, int] | None = None,
    **named: Any,
) -> dict[str, Tensor]:
    """Computes all statements of a program, and gives their results by name.

    Parameters and errors are those of `evaluate`.

    Examples
    --------
    >>> import numpy as np, sparsec
    >>> made = sparsec.evaluate_all("B(i) = 2 * a(i); s = B(i)", a=np.array([1.0, 2.0]))
    >>> made["B"].to_numpy(), made["s"].item()
    (array([2., 4.]), 6.0)
    """
    call = _call(operands, out_format, extents, named)
    results = _sparsec.evaluate_all(expression, *call)
    return {name: Tensor._of(stored) for name, stored in results.items()}


def explain(
    expression: str | Any,
    operands: Mapping[str, Any] | None = None,
    /,
    *,
    stage: str = "explain",
    out_format: str | Mapping[str, str] | None = None,
    extents: Mapping[str, int] | None = None,
    memory: int | str | None = None,
    **named: Any,
) -> str:
    """A stage between a program and its kernel for these operands, as text.

    Parameters
    ----------
    expression : str or lazy tensor
        The program. An expression that `lazy` made has its operands.
    stage : str
        ``"explain"`` (the plan and what else there was), ``"concrete"``, ``"schedule"``,
        ``"loop"``, ``"c"``, ``"asm"`` and others; an unknown one is an error that lists all.
        In a notebook the text is shown with its lines. ``"shards"`` is the plan of shards that
        `evaluate` follows with this `memory`.
    memory : int or str, optional
        The bytes of a shard, for ``stage="shards"``.

    The other parameters and errors are those of `evaluate`.

    Examples
    --------
    >>> import numpy as np, sparsec
    >>> A = sparsec.asarray(np.eye(3), format="csr")
    >>> loops = sparsec.explain("y(i) = A(i,j) * x(j)", stage="concrete", A=A, x=np.ones(3))
    >>> "forall i: " in loops
    True
    >>> B = sparsec.asarray(np.eye(300), format="csr")
    >>> print(sparsec.explain("C(i,k) = B(i,j) * B(j,k)", stage="shards", memory=3000, B=B))
    # C(i,k) = sum{j}(B_i(i,j) * B(j,k))
    # 4 shards of 2.4 kB at most, of 3 kB; 9.61 kB moved
    # B_i: 4.8 kB, cut by i
    # B: 4.8 kB, whole
    # result: 4.8 kB estimated, joined by i
    shard(i, 0, 75, 150, 225, 300)
    """
    if isinstance(expression, _lazy.Lazy):
        program = _lazy.Program([expression])
        expression = program.text
        operands = {**dict(program.tensors), **(operands or {})}
        extents = {**dict(program.extents), **(extents or {})}
    call = _call(operands, out_format, extents, named)
    if stage == "shards":
        from . import _blocks

        return Explained(_plan(_blocks.Program(expression, *call), memory, None))
    if memory is not None:
        raise failure("E0005", f"`memory` beside stage {stage!r}", 'give `stage="shards"`')
    return Explained(_sparsec.explain(expression, *call, stage))


def _plan(program: _blocks.Program, memory: int | str | None, shards: str | None) -> _blocks.Plan:
    """The plan of shards that a call states, or that follows from its memory."""
    from . import _blocks, _planner

    if shards is not None:
        if memory is not None:
            message = "`memory` chooses shards, and `shards` states them"
            raise failure("E0003", message, "give one of them")
        return _blocks.Plan.parse(shards)
    if memory is None:
        raise failure("E1103", "a plan of shards needs the bytes of a shard", 'give `memory="2GB"`')
    return _planner.planned(program, _blocks.bytes_of(memory))


def gradient(
    expression: str,
    of: str,
    operands: Mapping[str, Any] | None = None,
    /,
    **named: Any,
) -> str:
    """The program that computes the derivatives of another by an operand.

    It reads ``d_y``, the derivatives of some number by the entries of the last result ``y``,
    and computes ``d_A`` for an operand ``A``: where it stores entries, if its format is sparse.

    Parameters
    ----------
    expression : str
        The program, as for `evaluate`.
    of : str
        The name of the operand, of a float type.
    operands, **named
        The operands, whose formats and types are looked at.

    Raises
    ------
    InputError
        For what has no derivative (``E0245``), with the place.

    Notes
    -----
    Source: Griewank and Walther, "Evaluating Derivatives", SIAM 2008, chapter 3,
    https://doi.org/10.1137/1.9780898717761.

    Examples
    --------
    >>> import numpy as np, sparsec
    >>> A = sparsec.asarray(np.eye(3), format="csr")
    >>> print(sparsec.gradient("y(i) = A(i,j) * x(j)", "x", A=A, x=np.ones(3)))
    d_x(j) = sum{i}(d_y(i) * A(i,j))
    >>> print(sparsec.gradient("y(i) = A(i,j) * x(j)", "A", A=A, x=np.ones(3)))
    d_A(i,j) = select(isstored(A(i,j)), d_y(i) * x(j), 0.0)
    """
    return str(explain(expression, operands, stage=f"gradient={of}", **named)).strip()


class Explained(str):
    """A text that a notebook shows as it is."""

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(self)}</pre>"


def einsum(*operands: Any, out_format: str | None = None, optimize: Any = None) -> Tensor:
    """Computes a product written with a letter for each mode, as `numpy.einsum`.

    A product of three operands and more is contracted in the order that costs least, as the
    planner of networks estimates it, and loops of intermediates are fused.

    Parameters
    ----------
    *operands
        The equation and the operands, ``einsum("ij,jk->ik", A, B)``; or operands with lists of
        numbers, ``einsum(A, [0, 1], B, [1, 2], [0, 2])``. ``...`` stands for leading modes,
        which are broadcast. Modes of extent 1 are broadcast too.
    out_format : str, optional
        How the result is stored; by default as for `evaluate`.
    optimize
        Taken for the sake of programs that pass it to NumPy. The order is always planned.

    Returns
    -------
    Tensor
        Sums of integers of up to 32 bits are integers of 64 bits.

    Raises
    ------
    InputError
        For what is wrong with the equation (``E0030`` to ``E0032``) and for shapes that do not
        fit (``E0203``).

    Examples
    --------
    >>> import numpy as np, sparsec
    >>> A = sparsec.asarray(np.array([[1.0, 0.0], [2.0, 3.0]]), format="csr")
    >>> sparsec.einsum("ij,kj->ik", A, A).to_numpy()
    array([[ 1.,  2.],
           [ 2., 13.]])
    >>> sparsec.einsum("ii->", A).item()
    4.0
    """
    equation, arrays = equation_of(operands)
    if LAZY.get() or any(isinstance(x, _lazy.Lazy) for x in arrays):
        return _lazy.product(_explicit(equation), arrays)  # type: ignore[return-value]
    stored = [_stored(x) for x in arrays]
    text = _sparsec.einsum_text(equation, [it.shape for it in stored])
    named = [(f"operand{number}", it) for number, it in enumerate(stored)]
    formats = [] if out_format is None else [("out", out_format)]
    return Tensor._of(_sparsec.evaluate(text, named, formats, []))


def _explicit(equation: str) -> str:
    """An equation with its output: the letters that occur once, in alphabetical order."""
    equation = equation.replace(" ", "")
    if "->" in equation:
        return equation
    letters = equation.replace(",", "")
    return equation + "->" + "".join(sorted(x for x in set(letters) if letters.count(x) == 1))


def _call(
    operands: Mapping[str, Any] | None,
    out_format: str | Mapping[str, str] | None,
    extents: Mapping[str, int] | None,
    named: Mapping[str, Any],
) -> tuple[list[tuple[str, _sparsec.Stored]], list[tuple[str, str]], list[tuple[str, int]]]:
    """The operands, formats and extents as the compiled part takes them."""
    if operands is not None:
        for name in operands.keys() & named.keys():
            raise failure("E0003", f"`{name}` is given two tensors", "give each operand once")
        named = {**operands, **named}
    stored = [(name, _stored(x)) for name, x in named.items()]
    if out_format is None:
        formats = []
    elif isinstance(out_format, str):
        # The compiled part knows which tensor the last statement computes.
        formats = [("", out_format)]
    else:
        formats = list(out_format.items())
    known = [] if extents is None else list(extents.items())
    for name, extent in known:
        if not 0 <= extent < 2**63:
            raise failure("E0402", f"`{name}` has extent {extent}", "give 0 or more")
    return stored, formats, known


def _stored(x: Any) -> _sparsec.Stored:
    if isinstance(x, Tensor):
        return x._stored
    if isinstance(x, (bool, int, float, complex, np.generic)):
        return _sparsec.Stored.dense(np.asarray(x), False, True)
    return asarray(x)._stored

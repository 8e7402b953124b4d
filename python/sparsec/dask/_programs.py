"""Programs computed by a cluster of Dask, one task a shard."""

from __future__ import annotations

import sys
import warnings
from typing import Any, Mapping, Sequence

import dask

from .. import _blocks, _shards, _sparsec
from .._compute import _call
from .._compute import _plan as _plan_of_call
from .._errors import failure
from .._tensor import Tensor
from ._arrays import SHARD


def _checked(version: str, where: str) -> None:
    """Refuses to compute for a client of another version."""
    own = _sparsec.version()
    if own != version:
        raise failure(
            "E1106",
            f"the client has sparsec {version}, and {where} has sparsec {own}",
            "install one version on the client and on all workers",
        )


def _where() -> str:
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return "this process"
    try:
        return f"worker {distributed.get_worker().address}"
    except ValueError:
        return "this process"


def _shard_task(
    version: str,
    sharding: _blocks.Sharding,
    formats: Sequence[tuple[str, str]],
    extents: Sequence[tuple[str, int]],
    parts: Sequence[Tensor],
) -> Tensor:
    """The result of a shard, on a worker. The session keeps the kernel for the next one."""
    _checked(version, _where())
    given = [(it.name, part._stored) for it, part in zip(sharding.operands, parts)]
    return _blocks.run(sharding, given, formats, extents)


def _held(part: Tensor) -> Tensor:
    return part


class Tasks:
    """The tasks of a plan: their results, with the place of each in the whole."""

    def __init__(self, program: _blocks.Program, plan: _blocks.Plan) -> None:
        self.sharding = _blocks.Sharding.of(program, plan.cuts)
        # A program that is not cut chooses formats as anywhere.
        formats = _blocks.formats_of(program) if plan.cuts else list(program.formats)
        tensors = program.sliceable if plan.cuts else program.tensors
        self.program, self.is_cut = program, bool(plan.cuts)
        token = dask.base.tokenize(
            _sparsec.version(),
            program.text,
            plan.cuts,
            formats,
            list(program.extents),
            sorted(tensors.items(), key=lambda it: it[0]),
        )
        #: The bytes of the slices and whole operands in tasks.
        self.sent = 0
        parts: dict[Any, Any] = {}
        run = dask.delayed(_shard_task, pure=True)
        combine = dask.delayed(_shards.combined, pure=True)
        text = self.sharding.combination
        # Extents and formats are the same in all tasks, and small.
        version, extents = _sparsec.version(), tuple(program.extents)

        def part_of(operand: _blocks.Operand, shard: Sequence[tuple[int, int]]) -> Any:
            whole = tensors[operand.of]
            ranges = tuple(operand.ranges(shard, whole.shape))
            if (operand.of, ranges) not in parts:
                part = _shards.take(whole, ranges)
                self.sent += part.nbytes
                name = f"sparsec-part-{token}-{len(parts)}"
                held = dask.delayed(_held, pure=True)(part, dask_key_name=name)
                parts[operand.of, ranges] = held
            return parts[operand.of, ranges]

        self.pieces, self.starts, n = [], [], 0
        for shards in self.sharding.pieces():
            results = []
            for shard in shards:
                given = [part_of(operand, shard) for operand in self.sharding.operands]
                name = f"sparsec-shard-{token}-{n}"
                n += 1
                results.append(
                    run(version, self.sharding, formats, extents, given, dask_key_name=name)
                )
            self.pieces.append(_shards.tree(results, lambda a, b: combine(text, a, b)))
            self.starts.append(shards[0])

    def joined(self, pieces: Sequence[Tensor]) -> Tensor:
        """The result of the pieces."""
        offsets = [self.sharding.offset(start, pieces[0].ndim) for start in self.starts]
        made = _shards.join(pieces, offsets, self.sharding.shape(pieces[0].shape))
        return self.program.settled(made) if self.is_cut else made


def evaluate(
    expression: str,
    operands: Mapping[str, Any] | None = None,
    /,
    *,
    client: Any = None,
    memory: int | str | None = None,
    shards: str | None = None,
    out_format: str | Mapping[str, str] | None = None,
    extents: Mapping[str, int] | None = None,
    **named: Any,
) -> Tensor:
    """Computes the last statement of a program on a cluster, one task a shard.

    As `sparsec.evaluate`. The plan is made once, here; kernels reach workers as programs, are
    compiled there once, and need no compiler. The result is gathered and joined here.

    Parameters
    ----------
    expression, operands, out_format, extents, **named
        As for `sparsec.evaluate`.
    client : distributed.Client, optional
        The cluster. By default the current client; without one, Dask's threads in this process.
    memory : int or str, optional
        How many bytes a shard may take on a worker; 128 MiB by default. Counted are slices of
        operands and, by estimate, the result of the shard; of a program that is not cut, all
        operands, since they are sent, and the result. Not counted are operands that are whole
        beside slices, intermediate tensors of several statements, workspaces, and converted
        copies. Not beside `shards`.
    shards : str, optional
        A plan that `explain` printed. It is followed on any cluster, with the same bits.

    Returns
    -------
    Tensor

    Raises
    ------
    InputError
        As `sparsec.evaluate`; for workers of another version of sparsec (``E1106``), and for
        `memory` beside `shards` (``E0003``).
    OutOfMemoryError
        If no shard fits into `memory` (``E0407``).

    Examples
    --------
    >>> import numpy as np, sparsec, sparsec.dask
    >>> A = sparsec.asarray(np.eye(6), format="csr")
    >>> text = "C(i,k) = A(i,j) * A(j,k)"
    >>> sparsec.dask.evaluate(text, A=A, shards="shard(i, 0, 3, 6)").nnz
    6
    """
    call = _call(operands, out_format, extents, named)
    program = _blocks.Program(expression, *call)
    tasks = Tasks(program, _plan(program, memory, shards))
    return tasks.joined(_gathered(tasks.pieces, client))


def explain(
    expression: str,
    operands: Mapping[str, Any] | None = None,
    /,
    *,
    client: Any = None,
    memory: int | str | None = None,
    shards: str | None = None,
    run: bool = False,
    out_format: str | Mapping[str, str] | None = None,
    extents: Mapping[str, int] | None = None,
    **named: Any,
) -> str:
    """The plan of shards that `evaluate` follows, with estimated volumes.

    Parameters
    ----------
    run : bool
        Whether the program is run, and what it took is printed beside the estimates.

    The other parameters and errors are those of `evaluate`.

    Examples
    --------
    >>> import numpy as np, sparsec, sparsec.dask
    >>> A = sparsec.asarray(np.eye(300), format="csr")
    >>> text = "C(i,k) = A(i,j) * A(j,k)"
    >>> print(sparsec.dask.explain(text, A=A, memory=5000, run=True))
    # C(i,k) = sum{j}(A_i(i,j) * A(j,k))
    # 2 shards of 4.8 kB at most, of 5 kB; 9.61 kB moved
    # A_i: 4.8 kB, cut by i
    # A: 4.8 kB, whole
    # result: 4.8 kB estimated, joined by i
    # actual: 9.61 kB of operands in 5 tasks, 4.81 kB of results
    shard(i, 0, 150, 300)
    """
    call = _call(operands, out_format, extents, named)
    program = _blocks.Program(expression, *call)
    plan = _plan(program, memory, shards)
    if not run:
        return str(plan)
    tasks = Tasks(program, plan)
    pieces = _gathered(tasks.pieces, client)
    sent, made = tasks.sent, sum(piece.nbytes for piece in pieces)
    n = len({key for piece in tasks.pieces for key in piece.__dask_graph__()})
    note = (
        f"actual: {_blocks.text_of_bytes(sent)} of operands in {n} tasks, "
        f"{_blocks.text_of_bytes(made)} of results"
    )
    return str(_blocks.Plan(plan.cuts, (*plan.notes, note)))


def _plan(
    program: _blocks.Program, memory: int | str | None, shards: str | None
) -> _blocks.Plan:
    if shards is not None:
        return _plan_of_call(program, memory, shards)
    taken = SHARD if memory is None else _blocks.bytes_of(memory)
    return _blocks.planned(program, taken, sent=True)


def _gathered(pieces: Sequence[Any], client: Any) -> list[Tensor]:
    """The values of delayed tensors, computed on a cluster or by threads of this process."""
    if client is None:
        distributed = sys.modules.get("distributed")
        try:
            client = None if distributed is None else distributed.get_client()
        except ValueError:
            client = None
    with warnings.catch_warnings():
        # Slices are part of the graph on purpose: a worker that ends takes no operand with it.
        warnings.filterwarnings("ignore", message="Sending large graph")
        warnings.filterwarnings("ignore", message="Large object of size")
        if client is None:
            return list(dask.compute(*pieces, scheduler="threads"))
        return list(client.gather(client.compute(list(pieces))))

"""Tasks handed to a cluster of Dask, or to threads of this process."""

from __future__ import annotations

import sys
import warnings
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any, Callable, Iterator, Mapping, Sequence

import dask

from .._errors import Error, failure
from ._tasks import checked_workers


def client_of(client: Any) -> Any:
    """A client, or the current one; None if there is none.

    Raises
    ------
    InputError
        For what is no client (``E0004``).
    """
    if client is not None:
        if not hasattr(client, "scheduler_info"):
            message = f"`client` does not take {client!r}"
            raise failure("E0004", message, 'give `distributed.Client("tcp://scheduler:8786")`')
        return client
    distributed = sys.modules.get("distributed")
    try:
        return None if distributed is None else distributed.get_client()
    except ValueError:
        return None


class _LargeGraphs:
    """Matches the warning of a large graph in contexts of `_quiet`.

    Filters of warnings are the process's: `warnings.catch_warnings` in one thread would undo what
    another one sets. This filter stays, and each context decides for itself.
    """

    is_quiet: ContextVar[bool] = ContextVar("sparsec_is_quiet", default=False)

    def match(self, text: str) -> bool:
        return self.is_quiet.get() and text.startswith("Sending large graph")


_FILTER: Any = ("ignore", _LargeGraphs(), UserWarning, None, 0)


@contextmanager
def _quiet() -> Iterator[None]:
    """Slices are part of the graph on purpose: a worker that ends takes no operand with it."""
    if _FILTER not in warnings.filters:
        # In front of all others, as `warnings.simplefilter` puts a filter.
        warnings.filters.insert(0, _FILTER)  # type: ignore[attr-defined, unused-ignore]
        warnings._filters_mutated()  # type: ignore[attr-defined, unused-ignore]
    token = _LargeGraphs.is_quiet.set(True)
    try:
        yield
    finally:
        _LargeGraphs.is_quiet.reset(token)


#: Says which part of a computation a key stands for; None for a key of somebody else.
_Named = Callable[[Any], "str | None"]


def computed(values: Sequence[Any], client: Any, named: _Named | None = None) -> list[Any]:
    """The values of delayed objects.

    Raises
    ------
    ClusterError
        If workers that computed one of them ended again and again (``E1107``), which is told by
        what `named` says of its key; and if the scheduler is gone (``E1108``).
    """
    client = client_of(client)
    if client is None:
        with _quiet():
            return list(dask.compute(*values, scheduler="threads"))
    with _faults(client, named):
        return list(client.gather(started(values, client)))


def started(values: Sequence[Any], client: Any) -> list[Any]:
    """Futures of delayed objects."""
    check_versions(client)
    with _quiet(), _faults(client, None):
        return list(client.compute(list(values)))


def check_versions(client: Any) -> None:
    """Refuses a cluster with workers of another version.

    Raises
    ------
    InputError
        With both versions (``E1106``).
    """
    with _faults(client, None):
        checked_workers(client, list(_workers(client)))


@contextmanager
def _faults(client: Any, named: _Named | None) -> Iterator[None]:
    """Faults of a cluster as errors with codes. Those of tasks pass."""
    distributed = sys.modules["distributed"]
    address = _address(client)
    try:
        yield
    except distributed.KilledWorker as error:
        what = (named and named(error.task)) or f"task {error.task!r}"
        n = error.allowed_failures + 1
        message = (
            f"{what}: {n} {'worker' if n == 1 else 'workers'} ended that had to compute it, the "
            f"last one at {error.last_worker.address}"
        )
        help = "mostly it takes more memory than there is: give a smaller `memory`, or larger workers"
        raise failure("E1107", message, help) from error
    except (OSError, RuntimeError, distributed.CancelledError) as error:
        # Tasks raise such errors, too; then the scheduler is there to tell.
        if isinstance(error, Error) or _is_there(client):
            raise
        raise _gone(address, str(error) or type(error).__name__) from error


def _gone(address: str, why: str) -> Error:
    message = f"the scheduler at {address} went away: {why}"
    help = "start it again, connect a new client, and repeat the call; nothing was written"
    return failure("E1108", message, help)


def _address(client: Any) -> str:
    """Where the scheduler is, or was."""
    known = getattr(client.scheduler, "address", None) or getattr(client, "_start_arg", None)
    return known if isinstance(known, str) else "its address"


def _workers(client: Any) -> dict[str, Any]:
    """The workers that the scheduler lists."""
    with _faults(client, None):
        found: dict[str, Any] = client.scheduler_info(n_workers=-1)
    if "workers" not in found:
        raise _gone(_address(client), "it tells of no workers")
    workers: dict[str, Any] = found["workers"]
    return workers


def _is_there(client: Any) -> bool:
    """Whether the scheduler answers."""
    # A client that was closed runs nothing.
    if client.status != "running":
        return False
    try:
        client.sync(client.scheduler.identity, callback_timeout=5)
    except Exception:  # noqa: BLE001, whatever it is: there was no answer
        return False
    return True


def persisted(array: Any, client: Any) -> Any:
    """The array with its chunks computed, and held as long as it is referred to."""
    client = client_of(client)
    with _quiet():
        if client is None:
            return array.persist(scheduler="threads")
        check_versions(client)
        with _faults(client, None):
            return client.persist(array)


def n_workers_of(client: Any) -> int | None:
    """How many workers a cluster has; None without one."""
    client = client_of(client)
    return None if client is None else len(_workers(client))


def _outgoing(dask_worker: Any) -> int:
    return int(dask_worker.transfer_outgoing_bytes_total)


#: The bytes that each worker has sent since it began, by address.
Sent = Mapping[str, int]


def sent_by_workers(client: Any) -> Sent:
    """The bytes that workers have sent to each other and to clients since they began."""
    client = client_of(client)
    if client is None:
        return {}
    with _faults(client, None):
        found: Sent = client.run(_outgoing)
    return found


def sent_since(before: Sent, client: Any) -> tuple[int, bool]:
    """The bytes that workers have sent since then, and whether all are known: a worker that ended
    took its count along, and one that began anew counts from zero."""
    after = sent_by_workers(client)
    n = 0
    for address, count in after.items():
        then = before.get(address, 0)
        n += count - then if count >= then else count
    are_there = all(it in after and after[it] >= count for it, count in before.items())
    return n, are_there


def on_workers(function: Callable[..., Any], client: Any, *arguments: Any) -> list[Any]:
    """What a function gives on each worker, or in this process if there is no cluster."""
    client = client_of(client)
    if client is None:
        return [function(*arguments)]
    with _faults(client, None):
        return list(client.run(function, *arguments).values())


def places_of(array: Any, client: Any) -> dict[Any, list[str]]:
    """The workers that hold the chunks of an array, by the keys of these."""
    client, distributed = client_of(client), sys.modules.get("distributed")
    if client is None or distributed is None:
        return {}
    futures = distributed.futures_of(array)
    with _faults(client, None):
        found = client.who_has(futures) if futures else {}
    return {key: list(workers) for key, workers in found.items() if workers}


def threads_of(client: Any) -> list[str]:
    """The workers of a cluster, each as often as it has threads, in the order of addresses."""
    client = client_of(client)
    if client is None:
        return []
    workers = _workers(client)
    return [it for it in sorted(workers) for _ in range(workers[it]["nthreads"])]


def meant_for(workers: Sequence[str]) -> Any:
    """Tasks that are made in this context are for these workers, if they are there still.

    The scheduler hands a task to a worker that holds an operand of it, so one that all tasks read
    would keep them on one worker. And it takes tasks of unknown duration for long ones, which pay
    for moving a chunk.
    """
    if not workers:
        return nullcontext()
    return dask.annotate(workers=list(workers), allow_other_workers=True)

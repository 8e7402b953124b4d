"""Tasks handed to a cluster of Dask, or to threads of this process."""

from __future__ import annotations

import sys
import warnings
from contextlib import contextmanager
from typing import Any, Iterator, Sequence

import dask


def client_of(client: Any) -> Any:
    """A client, or the current one; None if there is none."""
    if client is not None:
        return client
    distributed = sys.modules.get("distributed")
    try:
        return None if distributed is None else distributed.get_client()
    except ValueError:
        return None


def where() -> str:
    """The process that runs a task, for messages."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return "this process"
    try:
        return f"worker {distributed.get_worker().address}"
    except ValueError:
        return "this process"


@contextmanager
def _quiet() -> Iterator[None]:
    """Slices are part of the graph on purpose: a worker that ends takes no operand with it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph")
        warnings.filterwarnings("ignore", message="Large object of size")
        yield


def computed(values: Sequence[Any], client: Any) -> list[Any]:
    """The values of delayed objects."""
    client = client_of(client)
    with _quiet():
        if client is None:
            return list(dask.compute(*values, scheduler="threads"))
        return list(client.gather(client.compute(list(values))))


def persisted(array: Any, client: Any) -> Any:
    """The array with its chunks computed, and held as long as it is referred to."""
    client = client_of(client)
    with _quiet():
        if client is None:
            return array.persist(scheduler="threads")
        return client.persist(array)

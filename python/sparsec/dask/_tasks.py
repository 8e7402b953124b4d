"""Functions of this package as tasks of Dask.

::

    client                                   worker
    task(f)(...)  ──version, f, arguments──► versions are compared, then f runs

A worker of another version might choose another order of sums, or another meaning of arguments. A
client asks each worker for its version before it sends the first task; a worker that comes later is
asked by the tasks themselves.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from threading import Lock
from typing import Any, Callable, Sequence
from weakref import WeakKeyDictionary

import dask

from .. import _sparsec
from .._errors import failure

#: The workers of each client that have this version.
_ALIKE: WeakKeyDictionary[Any, set[str]] = WeakKeyDictionary()
_LOCK = Lock()


@dataclass(frozen=True)
class _Checked:
    """A function of this package that compares versions first."""

    version: str
    function: Callable[..., Any]

    @property
    def __name__(self) -> str:
        return self.function.__name__.strip("_")

    def __call__(self, *arguments: Any) -> Any:
        check(self.version)
        return self.function(*arguments)


def task(function: Callable[..., Any]) -> Any:
    """A function whose calls are tasks. These have equal keys if their arguments are equal."""
    return dask.delayed(_Checked(_sparsec.version(), function), pure=True)


def check(version: str) -> None:
    """Refuses to compute for a client of another version.

    Raises
    ------
    InputError
        With both versions (``E1106``).
    """
    own = _sparsec.version()
    if own != version:
        raise _differ(version, where(), own)


def checked_workers(client: Any, workers: Sequence[str]) -> None:
    """Refuses workers of another version, before they get a task that they might not understand.

    Raises
    ------
    InputError
        With both versions (``E1106``).
    """
    own = _sparsec.version()
    with _LOCK:
        known = _ALIKE.setdefault(client, set())
        unknown = [it for it in workers if it not in known]
    if not unknown:
        return
    # A lambda travels by value, so that a worker need not know this module.
    probe = lambda: __import__("sparsec._sparsec")._sparsec.version()  # noqa: E731
    found = client.run(probe, workers=unknown, on_error="return")
    for address, version in found.items():
        if isinstance(version, ImportError):
            raise _differ(own, f"worker {address}", None)
        if isinstance(version, str) and version != own:
            raise _differ(own, f"worker {address}", version)
    with _LOCK:
        known.update(it for it, version in found.items() if version == own)


def _differ(client: str, place: str, version: str | None) -> Exception:
    has = "has no sparsec" if version is None else f"has sparsec {version}"
    return failure(
        "E1106",
        f"the client has sparsec {client}, and {place} {has}",
        "install one version on the client and on all workers",
    )


def where() -> str:
    """The process that runs a task, for messages."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return "this process"
    try:
        return f"worker {distributed.get_worker().address}"
    except ValueError:
        return "this process"

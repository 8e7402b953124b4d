"""Shards that report when they are done, from wherever they are computed.

::

    worker ──event (run, shard)──► scheduler ──► client ──► bar
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Iterator

from .._progress import Bar
from ._cluster import client_of

#: Bars of runs whose shards are computed in this process.
_BARS: dict[str, Bar] = {}


def report(run: str, shard: str) -> None:
    """Says that a shard is done, to the client that asked for the run."""
    bar = _BARS.get(run)
    if bar is not None:
        bar.done(shard)
        return
    try:
        from distributed import get_worker

        worker = get_worker()
    except (ImportError, ValueError):
        return
    worker.log_event(_topic(run), shard)


def _topic(run: str) -> str:
    return f"sparsec-{run}"


@contextmanager
def watched(run: str, total: int, client: Any) -> Iterator[Bar]:
    """A bar that counts the shards of a run, and prints a last line if all went well."""
    client, bar = client_of(client), Bar(total)
    if client is None:
        _BARS[run] = bar
    else:
        client.subscribe_topic(_topic(run), lambda event: bar.done(event[1]))
    try:
        yield bar
        bar.end()
    finally:
        if client is None:
            del _BARS[run]
        else:
            client.unsubscribe_topic(_topic(run))

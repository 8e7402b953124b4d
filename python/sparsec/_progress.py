"""A line that tells how many shards are done.

::

    [############............] 12 of 24 shards, 3.1 s
"""

from __future__ import annotations

import sys
import time
from threading import Lock
from typing import Any, Hashable

#: The cells of the bar, and the least seconds between two lines.
_CELLS = 24
_PAUSE = 0.1


class Bar:
    """The progress of a program, on standard error.

    A terminal shows one line that changes. Elsewhere one line is printed at the end.
    """

    def __init__(self, total: int, stream: Any = None) -> None:
        self.total = total
        self._stream = sys.stderr if stream is None else stream
        self._start = self._shown = time.monotonic()
        self._done: set[Hashable] = set()
        self._lock = Lock()

    @property
    def n_done(self) -> int:
        """How many shards are done."""
        return len(self._done)

    def done(self, shard: Hashable) -> None:
        """Counts a shard; once, if it is computed again."""
        with self._lock:
            self._done.add(shard)
            now = time.monotonic()
            if self._stream.isatty() and now - self._shown >= _PAUSE:
                self._shown = now
                self._stream.write(f"\r{self}")
                self._stream.flush()

    def end(self) -> None:
        """Prints the last line."""
        with self._lock:
            self._stream.write(f"\r{self}\n" if self._stream.isatty() else f"{self}\n")
            self._stream.flush()

    def __str__(self) -> str:
        n = self.n_done
        filled = _CELLS * n // max(self.total, 1)
        seconds = time.monotonic() - self._start
        cells = "#" * filled + "." * (_CELLS - filled)
        return f"[{cells}] {n} of {self.total} shards, {seconds:.1f} s"

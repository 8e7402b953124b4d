"""How long a call runs on after Ctrl-C: ``python -m sparsec.bench interrupts``.

Each call is run whole once. Then a second thread sends the signal at several moments of further runs,
and the time from there until Python raises `KeyboardInterrupt` is taken::

    call      ├──────────────────┤ whole
    signal        ┊ k / n of it
    exception     ├─┤ what is printed: the median, and the longest
"""

from __future__ import annotations

import os
import signal
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Callable

import numpy as np

import sparsec

#: Signals for each call, at equal distances.
_SIGNALS = 12
#: Entries of tensors that are packed, converted and read.
_ENTRIES = 2_000_000


def figures() -> list[dict[str, Any]]:
    """For each call: the time of a whole run, and the times from the signal to the exception."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, call in _calls(Path(folder)).items():
            started = time.perf_counter()
            call()
            whole = time.perf_counter() - started
            moments = [whole * (k + 0.5) / _SIGNALS for k in range(_SIGNALS)]
            taken = [one for one in (_interrupted(call, moment) for moment in moments) if one is not None]
            rows.append(
                {
                    "call": name,
                    "whole": whole,
                    "signals": len(taken),
                    "median": float(np.median(taken)) if taken else float("nan"),
                    "longest": max(taken, default=float("nan")),
                }
            )
    return rows


def text_of(rows: list[dict[str, Any]]) -> str:
    """The figures as a table."""
    lines = [f"{'call':<44}{'whole':>12}{'signals':>9}{'median':>12}{'longest':>12}"]
    for row in rows:
        times = [f"{1e3 * row[name]:>9.1f} ms" for name in ("whole", "median", "longest")]
        lines.append(f"{row['call']:<44}{times[0]}{row['signals']:>9}{times[1]}{times[2]}")
    return "\n".join(lines)


def _interrupted(call: Callable[[], Any], moment: float) -> float | None:
    """The time from a signal at this moment of a call until its exception; None if the call ended
    before the signal."""
    sent = [0.0]

    def send() -> None:
        time.sleep(moment)
        sent[0] = time.perf_counter()
        os.kill(os.getpid(), signal.SIGINT)

    sender = threading.Thread(target=send)
    ended = False
    try:
        sender.start()
        call()
        ended = True
        sender.join()
        time.sleep(0.01)
    except KeyboardInterrupt:
        taken = time.perf_counter() - sent[0]
        sender.join()
        return None if ended else taken
    return None


def _calls(folder: Path) -> dict[str, Callable[[], Any]]:
    """Calls that take long, by what they do."""
    rng = np.random.default_rng(5)
    extent = 2**30
    coords, values = rng.integers(0, extent, (2, _ENTRIES)), rng.random(_ENTRIES)
    A = sparsec.from_coo(coords, values, (extent, extent), format="coo")
    path = folder / "entries.mtx"
    sparsec.write(path, A)
    square = sparsec.asarray(rng.random((1500, 1500)))
    x = rng.random(20_000)
    S = sparsec.from_coo(coords % 100_000, values, (100_000, 100_000), format="csr")
    fresh = iter(range(10**9))
    return {
        "kernel, a dense product": lambda: square @ square,
        "kernel, a sparse product": lambda: S @ S,
        "kernel over few entries": lambda: sparsec.evaluate(
            "s = sum{i,j}(sqrt(x(i) + y(j)))", x=x, y=x
        ),
        "conversion, derived": lambda: S.convert("csc").convert("coo").convert("csc"),
        "conversion by packing": lambda: A.convert("dcsc"),
        "packing": lambda: sparsec.from_coo(coords, values, (extent, extent), format="dcsr"),
        "reading": lambda: sparsec.read(path, format="coo"),
        "writing": lambda: sparsec.write(folder / "again.mtx", A),
        "planning": lambda: _planned(next(fresh)),
    }


def _planned(number: int) -> str:
    """The plan of a product of many matrices that was not planned before."""
    names = [f"a{k}" for k in range(14)]
    indices = [f"i{number}_{k}" for k in range(len(names) + 1)]
    factors = " * ".join(
        f"{name}({indices[k]},{indices[k + 1]})" for k, name in enumerate(names)
    )
    operands: dict[str, Any] = dict.fromkeys(names, sparsec.asarray(np.eye(5), format="csr"))
    text = f"out({indices[0]},{indices[-1]}) = {factors}"
    return sparsec.explain(text, stage="plan", **operands)

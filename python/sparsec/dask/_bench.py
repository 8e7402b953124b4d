"""Times of programs on clusters of local processes: ``python -m sparsec.bench dask``.

==================  ================================================================================
figure              how it is measured
==================  ================================================================================
overhead of a task  shards of a few entries, beside as many tasks of Dask that do nothing
two over one        two processes of one thread each, beside one, and beside copies of memory by
                    the same processes: they share the memory of one machine
over SciPy, PyData  Dask with chunks of these, on the same two processes, chunks and placement
bytes moved         what the client and the workers sent, over what the plan says
simulated           the durations of the one process and the volumes of the plan, replayed; checked
                    against the two processes
==================  ================================================================================

Operands are on the workers before the clock starts, and results stay there. Each result is
compared with SciPy's. Runs of the clusters are taken in turn, and the least time counts.
"""

from __future__ import annotations

import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Callable, Iterator, Mapping
from uuid import uuid4

import dask
import dask.array as da
import numpy as np

from .. import _blocks, _config
from .._asarray import asarray
from ._arrays import meta_of, shard
from ._cases import Case, cases, difference, product
from ._cluster import (
    computed,
    meant_for,
    persisted,
    sent_by_workers,
    sent_since,
    started,
    threads_of,
)
from ._graphs import Measure, Tasks, measures
from ._programs import _plan, _program
from ._simulator import Network, Replay, Task, replayed
from ._tasks import task

#: The network that larger clusters are simulated on.
NETWORK = Network(latency=50e-6, bandwidth=1.25e9)
#: The sizes of simulated clusters.
SIZES = (2, 4, 8, 16, 32, 64)
#: Chunks of a case: one for each worker of the largest simulated cluster.
_CHUNKS = 64
#: The bytes that a process copies to measure the memory that it shares.
_COPIED = 2**27
#: Plans keep chunks of any size.
_MEMORY = "1TB"


@contextmanager
def _processes(n: int) -> Iterator[Any]:
    """A client of so many processes of one thread each."""
    import distributed

    with (
        dask.config.set({"distributed.worker.memory.target": False}),
        distributed.LocalCluster(
            n_workers=n, threads_per_worker=1, dashboard_address=":0", memory_limit=0
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        client.wait_for_workers(n)
        client.run(_config.configure, threads=1)
        yield client


def _least(calls: Mapping[str, Callable[[], float]], repeats: int) -> dict[str, float]:
    """The least of the seconds that each call gives, called in turn."""
    least = dict.fromkeys(calls, float("inf"))
    for _ in range(repeats):
        for name, call in calls.items():
            least[name] = min(least[name], call())
    return least


def figures(entries: int, repeats: int = 3, peers: bool = True) -> dict[str, Any]:
    """All figures, of products of about so many entries."""
    with ExitStack() as stack:
        one, two = (stack.enter_context(_processes(n)) for n in (1, 2))
        both = {"one": one, "two": two}
        overhead, dispatch = _overhead(one)
        copies = _copies(both, repeats)
        local = _local_network(two)
        rows = []
        for case in cases(entries):
            row = _Row(case, both, repeats)
            rows.append(row.figures(copies, local, dispatch, peers))
        return {
            "entries": entries,
            "overhead of a task": overhead,
            "dispatch of a task by Dask": dispatch,
            "copies, two over one": copies,
            "network between the processes": str(local),
            "network of simulated clusters": str(NETWORK),
            "products": rows,
        }


def _nothing(part: Any) -> Any:
    return part


def _overhead(client: Any, n: int = 400) -> tuple[float, float]:
    """The seconds of a task of ours beside one of Dask's own, and those of Dask's."""
    far = persisted(shard(asarray(np.eye(4 * n), "csr"), by="i", n=n), client)
    program = _program("y(i) = A(i,j)", {"A": far}, None, None, {})
    plan = _plan(program, _MEMORY, None, client)
    chunks = far.to_delayed(optimize_graph=False).ravel().tolist()

    def ours() -> float:
        tasks = Tasks(program, plan, client, uuid4().hex)
        return _seconds(tasks.pieces, client) / n

    def theirs() -> float:
        name = uuid4().hex
        call = dask.delayed(_nothing, pure=True)
        made = [call(it, dask_key_name=f"nothing-{name}-{at}") for at, it in enumerate(chunks)]
        return _seconds(made, client) / n

    ours(), theirs()
    least = _least({"ours": ours, "theirs": theirs}, 3)
    return least["ours"] - least["theirs"], least["theirs"]


def _seconds(values: list[Any], client: Any) -> float:
    """How long tasks take until all results are there; then the results are let go."""
    import distributed

    start = time.perf_counter()
    futures = started(values, client)
    with client.as_current():
        distributed.wait(futures)
    end = time.perf_counter()
    for it in futures:
        # Raises what a task raised.
        if it.status == "error":
            it.result()
    return end - start


def _copied(n: int) -> None:
    """Copies memory so many times."""
    source = np.ones(_COPIED // 8)
    target = np.empty_like(source)
    for _ in range(n):
        np.copyto(target, source)


def _copies(clients: dict[str, Any], repeats: int) -> float:
    """How many times as fast two processes copy memory together as one does alone."""

    def copied(client: Any) -> float:
        start = time.perf_counter()
        client.run(_copied, 20)
        return time.perf_counter() - start

    least = _least({name: partial(copied, it) for name, it in clients.items()}, repeats)
    return 2 * least["one"] / least["two"]


def _local_network(client: Any) -> Network:
    """What a part takes from one process to the other: of a few bytes, and of many."""
    first, last = threads_of(client)[0], threads_of(client)[-1]

    def moved(nbytes: int) -> float:
        source = client.submit(np.zeros, nbytes // 8, workers=[first], pure=False)
        source.result() if nbytes < 1000 else client.submit(len, source).result()
        start = time.perf_counter()
        client.submit(len, source, workers=[last], pure=False).result()
        return time.perf_counter() - start

    small = min(moved(8) for _ in range(5))
    large = min(moved(2**27) for _ in range(3))
    return Network(latency=small, bandwidth=2**27 / max(large - small, 1e-6))


@dataclass
class _Placed:
    """A case on one cluster."""

    client: Any
    program: _blocks.Program
    plan: _blocks.Plan
    array: da.Array
    chunks: list[Any]
    workers: list[str]

    @staticmethod
    def of(case: Case, client: Any) -> _Placed:
        n_rows = case.shape[0]
        n = min(_CHUNKS, n_rows)
        bounds = [n_rows * at // n for at in range(n + 1)]
        threads = threads_of(client)
        workers = [threads[at * len(threads) // n] for at in range(n)]
        chunks = []
        for at, (start, end) in enumerate(zip(bounds, bounds[1:])):
            with meant_for([workers[at]]):
                chunks.append(task(case.chunk)(end - start, at, dask_key_name=f"{case.name}-{at}"))
        meta = meta_of(len(case.shape), float, "csr" if len(case.shape) == 2 else "csf")
        parts = [
            da.from_delayed(it, (end - start, *case.shape[1:]), meta=meta)
            for it, start, end in zip(chunks, bounds, bounds[1:])
        ]
        array = persisted(da.concatenate(parts), client)
        operands = {case.chunked: array, **case.whole}
        program = _program(case.text, operands, None, None, {})
        plan = _plan(program, _MEMORY, None, client)
        kept = array.to_delayed(optimize_graph=False).ravel().tolist()
        return _Placed(client, program, plan, array, kept, workers)

    def resident(self, case: Case) -> None:
        """Puts the other operands onto the cluster, as whole chunks that stay."""
        others = {name: persisted(shard(it), self.client) for name, it in case.whole.items()}
        self.program = _program(case.text, {case.chunked: self.array, **others}, None, None, {})
        self.plan = _plan(self.program, _MEMORY, None, self.client)

    def run(self) -> tuple[float, dict[str, Measure]]:
        """The seconds of a run, and what each shard took."""
        name = uuid4().hex
        tasks = Tasks(self.program, self.plan, self.client, name)
        seconds = _seconds(tasks.pieces, self.client)
        return seconds, {it.shard: it for it in measures(name, self.client)}

    def moved(self) -> float:
        """The bytes that a run moves, over those of the plan."""
        n = len(set(threads_of(self.client)))
        before = sent_by_workers(self.client)
        tasks = Tasks(self.program, self.plan, self.client, uuid4().hex)
        _seconds(tasks.pieces, self.client)
        sent = tasks.sent + sent_since(before, self.client)[0]
        return float(sent / self.plan.volumes.sent(n, gathered=False))

    def peer(self, convert: Callable[[Any], Any], whole: Any) -> Callable[[], float]:
        """A function that gives the seconds of a peer's run."""
        call = dask.delayed(product, pure=True)
        made: list[Any] = []
        turned = []
        for it, worker in zip(self.chunks, self.workers):
            with meant_for([worker]):
                turned.append(dask.delayed(convert, pure=True)(it))
        chunks = self.client.compute(turned)
        other = self.client.scatter(whole, broadcast=True)
        computed(turned[:1], self.client)

        def run() -> float:
            nonlocal made
            name = uuid4().hex
            made = []
            for at, (it, worker) in enumerate(zip(chunks, self.workers)):
                with meant_for([worker]):
                    made.append(call(it, other, dask_key_name=f"peer-{name}-{at}"))
            return _seconds(made, self.client)

        return run


class _Row:
    """The figures of one product."""

    def __init__(self, case: Case, clients: dict[str, Any], repeats: int) -> None:
        self.case, self.repeats = case, repeats
        self.placed = {name: _Placed.of(case, client) for name, client in clients.items()}

    def figures(
        self, copies: float, local: Network, dispatch: float, peers: bool
    ) -> dict[str, Any]:
        """All figures of it."""
        self._compare()
        moved = self.placed["two"].moved()
        for it in self.placed.values():
            it.resident(self.case)
            it.run()
        least, taken = self._clusters()
        row: dict[str, Any] = {
            "name": self.case.name,
            "entries": self.placed["one"].program.elsewhere[self.case.chunked].n_stored,
            "one process": least["one"],
            "two processes": least["two"],
            "two over one": least["one"] / least["two"],
            "wanted of two over one": min(1.6, 0.85 * copies),
            "moved of plan": moved,
        }
        if peers:
            for name, run in self._peers().items():
                run()
                row[f"over {name}"] = _least({name: run}, self.repeats)[name] / least["two"]
        row["simulated"] = [self._replay(taken, n, NETWORK, dispatch) for n in SIZES]
        here = self._replay(taken, 2, local, dispatch, slower=2 / copies)
        row["simulated two processes over real ones"] = here["seconds"] / least["two"]
        return row

    def _compare(self) -> None:
        """The first chunk of the result beside SciPy's."""
        case, placed = self.case, self.placed["two"]
        pieces = Tasks(placed.program, placed.plan, placed.client, uuid4().hex).pieces
        ours, chunk = computed([pieces[0], placed.chunks[0]], placed.client)
        apart = difference(ours, product(case.scipy(chunk), case.scipy_whole))
        if not apart < 1e-9:
            raise AssertionError(f"{case.name}: sparsec and SciPy differ by {apart}")

    def _clusters(self) -> tuple[dict[str, float], dict[str, Measure]]:
        """The least seconds of each cluster, and the shards of the fastest run of the one process."""
        best: dict[str, Measure] = {}
        fastest = float("inf")

        def run(name: str) -> float:
            nonlocal best, fastest
            seconds, taken = self.placed[name].run()
            if name == "one" and seconds < fastest:
                fastest, best = seconds, taken
            return seconds

        calls = {name: partial(run, name) for name in self.placed}
        return _least(calls, self.repeats), best

    def _peers(self) -> dict[str, Callable[[], float]]:
        case, placed = self.case, self.placed["two"]
        return {
            "SciPy": placed.peer(case.scipy, case.scipy_whole),
            "PyData": placed.peer(case.pydata, case.pydata_whole),
        }

    def _replay(
        self,
        taken: dict[str, Measure],
        n_workers: int,
        network: Network,
        dispatch: float,
        slower: float = 1.0,
    ) -> dict[str, float]:
        """The shards on so many workers, which hold the operands already; and beside it with the
        volumes of a first call."""
        shards = list(taken.values())
        n = len(shards)
        tasks = [
            Task(it.seconds * slower, it.result, place=at / n) for at, it in enumerate(shards)
        ]
        warm = replayed(_in_turn(tasks, n_workers), n_workers, network, dispatch)
        whole = Task(0.0, self.placed["one"].plan.volumes.whole, place=0.0)
        reading = [Task(it.seconds, it.nbytes, (0,), it.place) for it in tasks]
        first = replayed([whole, *_in_turn(reading, n_workers)], n_workers, network, dispatch)
        return {**_shown(warm), "of ideal with operands sent": first.of_ideal}


def _in_turn(tasks: list[Task], n_workers: int) -> list[Task]:
    """Tasks in the order in which the scheduler hands them out: one to each worker in turn."""
    queues: list[list[Task]] = [[] for _ in range(n_workers)]
    for it in tasks:
        queues[min(int((it.place or 0) * n_workers), n_workers - 1)].append(it)
    longest = max(map(len, queues))
    return [queue[at] for at in range(longest) for queue in queues if at < len(queue)]


def _shown(replay: Replay) -> dict[str, float]:
    return {
        "workers": replay.n_workers,
        "seconds": replay.seconds,
        "ideal": replay.ideal,
        "of ideal": replay.of_ideal,
    }


def text_of(found: dict[str, Any]) -> str:
    """The figures as a table."""
    lines = [
        f"overhead of a task: {1e3 * found['overhead of a task']:.2f} ms beside "
        f"{1e3 * found['dispatch of a task by Dask']:.2f} ms of Dask",
        f"copies of memory by two processes: {found['copies, two over one']:.2f} times those of one",
        "",
        f"{'product':<8}{'entries':>12}{'one':>10}{'two':>10}{'ratio':>7}{'wanted':>8}"
        f"{'SciPy':>8}{'PyData':>8}{'moved':>8}",
    ]
    for row in found["products"]:
        peers = "".join(
            f"{row[name]:>8.2f}" if name in row else f"{'':>8}" for name in ("over SciPy", "over PyData")
        )
        lines.append(
            f"{row['name']:<8}{row['entries']:>12}{1e3 * row['one process']:>7.0f} ms"
            f"{1e3 * row['two processes']:>7.0f} ms{row['two over one']:>7.2f}"
            f"{row['wanted of two over one']:>8.2f}{peers}{row['moved of plan']:>8.3f}"
        )
    lines += [
        "",
        f"simulated on a network of {found['network of simulated clusters']}: seconds over ideal ones,"
        " and if operands are sent first",
        f"{'workers':<10}" + "".join(f"{row['name']:>18}" for row in found["products"]),
    ]
    for at, n in enumerate(SIZES):
        cells = "".join(
            f"{row['simulated'][at]['of ideal']:>10.2f}"
            f"{row['simulated'][at]['of ideal with operands sent']:>8.2f}"
            for row in found["products"]
        )
        lines.append(f"{n:<10}{cells}")
    checks = "".join(
        f"{row['simulated two processes over real ones']:>18.2f}" for row in found["products"]
    )
    lines.append(f"{'checked':<10}{checks}   two processes, simulated over real")
    return "\n".join(lines)

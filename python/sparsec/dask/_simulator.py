"""Clusters of many workers, simulated: measured tasks and the volumes of a plan, replayed over a
stated network.

::

    scheduler   ──one task after the other, `dispatch` seconds each──►  workers, one thread each
    worker 0    │ shard 0 │ shard 1 │ combine │
    worker 1    │ receive │ shard 2 │ shard 3 │──result──► worker 0

A worker runs its tasks in order. Before a task runs, what it reads has to arrive: each part that is
on another worker takes the latency of the network, and its bytes on the link of the worker that
sends it and on the link of the one that receives it. Links carry one part at a time in each
direction, and run beside the computation. A part that a worker has received stays there, and is
passed on from it, as Dask does.

Not simulated: workers that steal tasks from each other, memory that runs out, and durations that
differ between machines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence


@dataclass(frozen=True)
class Network:
    """The network between workers."""

    #: Seconds before the first byte of a part, or a message of the scheduler, arrives.
    latency: float
    #: Bytes a second of each link, in each direction.
    bandwidth: float

    def __str__(self) -> str:
        return f"{1e6 * self.latency:.0f} us, {self.bandwidth / 1e9:.3g} GB/s"


@dataclass(frozen=True)
class Task:
    """A task with what was measured of it."""

    seconds: float
    #: The bytes of its result.
    nbytes: float
    #: The tasks whose results it reads, by their place in the list; earlier ones.
    needs: tuple[int, ...] = ()
    #: The place that the plan gives it on any cluster: 0 is the first worker, 1 behind the last.
    #: None for a task that runs where its first need is.
    place: float | None = None


@dataclass(frozen=True)
class Replay:
    """What a simulation gives."""

    n_workers: int
    #: Seconds from the call to the last result.
    seconds: float
    #: The seconds of all tasks, over the number of workers.
    ideal: float
    #: The bytes between workers.
    sent: float

    @property
    def of_ideal(self) -> float:
        """How many times as long it takes as the computation alone, divided evenly."""
        return self.seconds / self.ideal if self.ideal else 1.0


def replayed(
    tasks: Sequence[Task], n_workers: int, network: Network, dispatch: float = 0.0
) -> Replay:
    """The tasks on so many workers.

    Parameters
    ----------
    tasks : sequence of Task
        In the order in which the scheduler hands them out.
    n_workers : int
    network : Network
    dispatch : float
        The seconds that the scheduler takes for a task, one task after the other.

    Examples
    --------
    >>> from sparsec.dask import _simulator
    >>> tasks = [_simulator.Task(1.0, 0, place=number / 4) for number in range(4)]
    >>> network = _simulator.Network(latency=0.5, bandwidth=1e9)
    >>> _simulator.replayed(tasks, 2, network).seconds
    2.5
    """
    cluster = _Cluster(n_workers, network)
    total = 0.0
    for number, task in enumerate(tasks):
        handed_out = (number + 1) * dispatch + network.latency
        cluster.run(number, task, handed_out)
        total += task.seconds
    return Replay(n_workers, cluster.end, total / n_workers, cluster.sent)


class _Cluster:
    """The state of workers and links while tasks are replayed."""

    def __init__(self, n_workers: int, network: Network) -> None:
        self.network = network
        self.end = self.sent = 0.0
        self._free = [0.0] * n_workers
        #: When the link of each worker is free again, to send and to receive.
        self._sends = [0.0] * n_workers
        self._receives = [0.0] * n_workers
        #: Of each task the workers that have its result, with the time from which they have it.
        self._holders: list[dict[int, float]] = []
        self._sizes: list[float] = []

    def run(self, number: int, task: Task, handed_out: float) -> None:
        """Runs the next task of the list."""
        worker = self._worker(task)
        start = max(handed_out, self._free[worker])
        for need in task.needs:
            start = max(start, self._arrival(need, worker, handed_out))
        self._free[worker] = start + task.seconds
        self.end = max(self.end, self._free[worker])
        self._holders.append({worker: self._free[worker]})
        self._sizes.append(task.nbytes)

    def _worker(self, task: Task) -> int:
        n_workers = len(self._free)
        if task.place is not None:
            return min(int(task.place * n_workers), n_workers - 1)
        return next(iter(self._holders[task.needs[0]]))

    def _arrival(self, need: int, worker: int, asked: float) -> float:
        """When a worker has the result of a task that it asks for at some time."""
        holders = self._holders[need]
        if worker in holders:
            return holders[worker]
        # From the holder that can begin first.
        source = min(holders, key=lambda it: max(holders[it], self._sends[it]))
        begin = max(holders[source], self._sends[source], self._receives[worker], asked)
        arrived = begin + self.network.latency + self._sizes[need] / self.network.bandwidth
        self._sends[source] = self._receives[worker] = arrived
        self.sent += self._sizes[need]
        holders[worker] = arrived
        return arrived

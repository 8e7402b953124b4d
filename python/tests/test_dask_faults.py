"""Workers and schedulers that end, and mistakes of users, on clusters."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest
from clusters import matrix, processes, same

import sparsec

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

import sparsec.dask  # noqa: E402
from sparsec.dask import _cluster, _graphs, _programs, _tasks  # noqa: E402


def test_a_worker_that_ends(client):
    A = matrix((2000, 2000), density=0.01)
    bounds = range(0, 2001, 20)
    plan = f"shard(i, {', '.join(map(str, bounds))})"
    text = "C(i,k) = A(i,j) * A(j,k)"
    expected = sparsec.evaluate(text, A=A, shards=plan)
    pids = client.run(os.getpid)
    made = []
    call = threading.Thread(
        target=lambda: made.append(
            sparsec.dask.evaluate(text, A=A, shards=plan, client=client)
        )
    )
    call.start()

    def held():
        return sum(map(len, client.has_what().values()))

    end = time.monotonic() + 60
    while held() < 10 and time.monotonic() < end:
        time.sleep(0.01)
    was_running = call.is_alive()
    os.kill(next(iter(pids.values())), signal.SIGKILL)
    call.join(timeout=120)
    assert was_running and made
    same(made[0], expected)
    client.wait_for_workers(2, timeout=60)


def test_a_shard_for_which_a_worker_has_no_memory():
    with processes(1) as alone:
        x, text = np.ones(3000), "C(i,j) = x(i) * y(j)"
        alone.run(lambda: sparsec.configure(memory=20_000_000))
        with pytest.raises(sparsec.OutOfMemoryError) as error:
            sparsec.dask.evaluate(text, x=x, y=x, shards="shard(i, 0, 9, 3000)", client=alone)
        assert error.value.code == "E0407"
        told = str(error.value)
        assert "the shard i = 9:3000 with 47.9 kB of operands, on worker tcp://" in told
        # Smaller shards fit.
        made = sparsec.dask.evaluate("s = x(i) * y(i)", x=x, y=x, client=alone)
        assert made.item() == 3000


def test_a_shard_whose_workers_end():
    """The nanny of a worker ends it if it takes more than its limit."""
    with processes(1, memory_limit="300MB", scheduler_kwargs={"allowed_failures": 0}) as alone:
        x, text = np.ones(12_000), "C(i,j) = x(i) * y(j)"
        plan = "shard(i, 0, 12000)"
        with pytest.raises(sparsec.ClusterError) as error:
            sparsec.dask.evaluate(text, x=x, y=x, shards=plan, client=alone)
        assert error.value.code == "E1107" and isinstance(error.value, RuntimeError)
        assert "the shard i = 0:12000: 1 worker ended" in str(error.value)
        with pytest.raises(sparsec.ClusterError) as error:
            sparsec.dask.evaluate(text, x=x, y=x, memory="5GB", client=alone)
        assert "is one shard, (estimated 1.15 GB): 1 worker ended" in str(error.value)
        # The next worker computes what fits.
        assert sparsec.dask.evaluate("s = x(i)", x=x, client=alone).item() == 12_000


SCHEDULER = """
import distributed, time
if __name__ == "__main__":
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=None
    ) as cluster:
        print(cluster.scheduler_address, flush=True)
        time.sleep(600)
"""


def test_a_scheduler_that_goes_away(tmp_path):
    script = tmp_path / "cluster.py"
    script.write_text(SCHEDULER)
    process = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True)
    try:
        address = process.stdout.readline().strip()
        with (
            dask.config.set({"distributed.comm.timeouts.connect": "5s"}),
            distributed.Client(address, set_as_default=False, timeout=10) as other,
        ):
            A = matrix((2000, 2000), density=0.01)
            plan = f"shard(i, {', '.join(map(str, range(0, 2001, 10)))})"
            errors = []

            def call():
                try:
                    sparsec.dask.evaluate("C(i,k) = A(i,j) * A(j,k)", A=A, shards=plan, client=other)
                except sparsec.ClusterError as error:
                    errors.append(error)

            thread = threading.Thread(target=call)
            thread.start()
            end = time.monotonic() + 60
            while sum(map(len, other.has_what().values())) < 5 and time.monotonic() < end:
                time.sleep(0.01)
            was_running = thread.is_alive()
            process.kill()
            thread.join(timeout=60)
            assert was_running and len(errors) == 1
            assert errors[0].code == "E1108"
            assert f"the scheduler at {address} went away" in str(errors[0])
            # A call that comes later is told the same.
            with pytest.raises(sparsec.ClusterError, match=address):
                sparsec.dask.evaluate("s = A(i,j)", A=A, client=other)
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("code", sorted(sparsec._errors._CLASSES) + ["E0203"])
def test_errors_pass_between_processes(client, code):
    given = sparsec._errors.failure(code, "what", "how")
    for made in (pickle.loads(pickle.dumps(given)), client.submit(lambda: given).result()):
        assert type(made) is type(given) and str(made) == str(given)
        assert (made.code, made.message) == (code, "what")

    def fails():
        raise given

    with pytest.raises(type(given)) as error:
        client.submit(fails, pure=False).result()
    assert error.value.code == code


class Other:
    """The compiled part of another version."""

    def __getattr__(self, name):
        return getattr(sparsec._sparsec, name)

    @staticmethod
    def version():
        return "0.0.1"


def test_other_versions_are_refused(client, monkeypatch):
    own = sparsec._sparsec.version()
    far = sparsec.dask.shard(matrix((4, 4)), n=2).persist()
    _tasks.checked_workers(client, list(client.scheduler_info()["workers"]))
    monkeypatch.setattr(_tasks, "_sparsec", Other())
    calls = (
        # The client asks before it sends a task,
        lambda: sparsec.dask.evaluate("s = A(i,j)", A=matrix((4, 4)), client=client),
        lambda: sparsec.dask.evaluate("s = A(i,j)", A=far + 0, client=client),
        lambda: sparsec.dask.evaluate("s = A(i,j)", A=matrix((4, 4)), gather=False),
        # and tasks ask on workers that came later.
        lambda: sparsec.dask.from_delayed(dask.delayed(np.eye)(3), (3, 3), float).compute(),
    )
    for number, call in enumerate(calls):
        if number == 3:
            _tasks._ALIKE.clear()
        else:
            _tasks._ALIKE.pop(client, None)
        with pytest.raises(sparsec.InputError) as error:
            call()
        assert error.value.code == "E1106", number
        told = str(error.value)
        assert "client has sparsec 0.0.1" in told and "worker tcp://" in told
        assert f"has sparsec {own}" in told


def test_workers_without_sparsec_are_refused():
    class Client:
        def run(self, function, workers, on_error):
            assert on_error == "return"
            return {it: ModuleNotFoundError("No module named 'sparsec'") for it in workers}

    with pytest.raises(sparsec.InputError, match="worker tcp://a has no sparsec") as error:
        _tasks.checked_workers(Client(), ["tcp://a"])
    assert error.value.code == "E1106"


def test_keys_of_tasks_that_ended(client):
    """What a key stands for is told of the plan, and nothing is told of a key of somebody else."""
    A, B = matrix((40, 30)), matrix((30, 20), seed=2)
    far = sparsec.dask.shard(A, by="j", n=2)
    program = _programs._program("C(i,k) = A(i,j) * B(j,k)", {"A": far, "B": B}, None, None, {})
    plan = sparsec._blocks.Plan.parse("shard(i, 0, 20, 40)\nshard(j, 0, 10, 30)")
    tasks = _graphs.Tasks(program, plan, client)
    told = tasks.named(None)
    graph = {key for piece in tasks.pieces for key in piece.__dask_graph__()}
    words = {str(key): told(key) for key in graph}
    found = list(words.values())
    assert found.count("the shard i = 0:20, j = 10:30") == 1
    assert found.count("results that are combined") == 2
    assert found.count("a part of `B`") == 2
    assert told((far.name, 0, 1)) == "a chunk of `A`"
    assert told("somebody-else") is None
    estimated = tasks.named(sparsec._blocks.Plan.parse("").volumes)
    assert estimated(next(key for key in graph if "sparsec-part" in str(key))) == "a part of `B`"


def test_a_chunk_whose_workers_end():
    with processes(1, scheduler_kwargs={"allowed_failures": 0}) as alone:
        chunk = dask.delayed(lambda: os._exit(1))()
        x = sparsec.dask.from_delayed(chunk, (3, 3), float, format="csr")
        with pytest.raises(sparsec.ClusterError) as error:
            sparsec.dask.evaluate("s = A(i,j)", A=x, client=alone)
        assert error.value.code == "E1107"
        assert "shard" not in error.value.message and "1 worker ended" in error.value.message


def test_measures_are_asked_of_a_cluster_that_is_there():
    with processes(1) as other:
        pass
    with pytest.raises(sparsec.ClusterError) as error:
        _graphs.measures("run", other)
    assert error.value.code == "E1108"


def test_measures_of_runs_that_nobody_asks_for_end():
    _graphs._MEASURES.clear()
    measure = _graphs.Measure(0.0, 1, 2, 3)
    for number in range(100):
        _graphs._keep(f"run-{number}", measure)
    assert len(_graphs._MEASURES) <= 8
    assert _graphs._measures("run-99") == [measure]
    assert _graphs._measures("run-99") == []


def test_workers_that_begin_anew_count_from_zero(monkeypatch):
    counts = {"a": 50, "c": 7}
    monkeypatch.setattr(_cluster, "sent_by_workers", lambda client: counts)
    # `a` began anew, `b` ended, `c` came.
    assert _cluster.sent_since({"a": 100, "b": 30}, None) == (57, False)
    assert _cluster.sent_since({"a": 40}, None) == (17, True)


def test_warnings_of_other_threads_pass():
    """Calls of ours silence large graphs in their own context alone."""
    told, inside, looked = [], threading.Event(), threading.Event()

    def call():
        with _cluster._quiet():
            inside.set()
            looked.wait(10)
            warnings.warn("Sending large graph of size 1 GiB.")

    thread = threading.Thread(target=call)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        thread.start()
        inside.wait(10)
        warnings.warn("Sending large graph of size 2 GiB.")
        warnings.warn("something else")
        looked.set()
        thread.join()
        warnings.warn("Sending large graph of size 3 GiB.")
    sizes = [str(it.message) for it in told]
    assert sizes == [
        "Sending large graph of size 2 GiB.",
        "something else",
        "Sending large graph of size 3 GiB.",
    ]


def test_mistakes_are_those_of_one_process(client):
    A = matrix((6, 6))
    for text, operands in (
        ("y(i) = A(i,j) * x(j)", {"A": A, "x": np.ones(4)}),
        ("y(i) = A(i,j", {"A": A}),
    ):
        with pytest.raises(sparsec.InputError) as whole:
            sparsec.evaluate(text, operands)
        with pytest.raises(sparsec.InputError) as error:
            sparsec.dask.evaluate(text, operands, client=client)
        assert str(error.value) == str(whole.value)
    with pytest.raises(sparsec.OutOfMemoryError, match="no shard fits"):
        sparsec.dask.evaluate("C(i,k) = A(i,j) * A(j,k)", A=A, memory=8, client=client)
    # A mistake that only data show comes back from a worker.
    n = sparsec.asarray(np.asarray([[1, 0], [0, 1]]), format="csr")
    with pytest.raises(sparsec.InputError) as error:
        sparsec.dask.evaluate("B(i,j) = A(i,j) // (A(i,j) - 1)", A=n, client=client)
    assert error.value.code == "E0511"

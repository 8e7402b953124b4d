"""Dask arrays of tensors, and programs on a cluster of two processes."""

from __future__ import annotations

import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp

import sparsec

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

import sparsec.dask  # noqa: E402
from sparsec.dask import _programs  # noqa: E402


@pytest.fixture(scope="module")
def client():
    """Two processes of one thread each."""
    with (
        dask.config.set({"distributed.admin.log-length": 0}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def matrix(shape, density=0.1, seed=1, format="csr"):
    rng = np.random.default_rng(seed)
    return sparsec.asarray(sp.random_array(shape, density=density, rng=rng), format=format)


def same(left, right):
    """Two tensors have equal formats, shapes, types and bits."""
    assert (left.format, left.shape, left.dtype) == (right.format, right.shape, right.dtype)
    assert pickle.dumps(left.fill_value) == pickle.dumps(right.fill_value)
    for name, array in left.buffers.items():
        assert array.tobytes() == right.buffers[name].tobytes()


def test_arrays_of_tensors():
    A, B = matrix((20, 30)), matrix((30, 10), seed=2)
    a, b = A.to_numpy(), B.to_numpy()
    x, y = sparsec.dask.shard(A, by=("i", "j"), n=(3, 2)), sparsec.dask.shard(B, by=0, n=2)
    y = y.rechunk({0: x.chunks[1]})
    for made, expected, is_sparse in (
        (x, a, True),
        (x.T, a.T, True),
        (x + x, a + a, True),
        (2 * x, 2 * a, True),
        (x @ y, a @ b, True),
        (da.tensordot(x, y, axes=1), a @ b, True),
        (da.einsum("ij,jk->ik", x, y), a @ b, True),
        (da.concatenate([x, x], axis=1), np.concatenate([a, a], axis=1), True),
        (x[3:11, 5:], a[3:11, 5:], True),
        (x[::2], a[::2], True),
        (x[[4, 1, 17]], a[[4, 1, 17]], True),
        (x.rechunk((7, 30)), a, True),
        (x.sum(axis=0), a.sum(axis=0), False),
        (x.sum(), a.sum(), False),
        (x.max(axis=1), a.max(axis=1), False),
        (x.mean(axis=1), a.mean(axis=1), False),
        (x.map_blocks(lambda block: block * 3, dtype=x.dtype), a * 3, True),
    ):
        result = made.compute()
        assert not is_sparse or (isinstance(result, sparsec.Tensor) and result.format != "dense")
        values = result.to_numpy() if isinstance(result, sparsec.Tensor) else np.asarray(result)
        np.testing.assert_allclose(values, expected, rtol=1e-12)
    assert isinstance(x._meta, sparsec.Tensor)


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_means_of_what_is_a_number(axis, keepdims):
    a = matrix((12, 9), density=0.3).to_numpy()
    a[[1, 4, 4, 7], [2, 0, 8, 3]] = np.nan
    for given in (a, a.astype(np.float32), np.nan_to_num(a * 9).astype(np.int64)):
        x = sparsec.dask.shard(sparsec.asarray(given, format="csr"), by=("i", "j"), n=(3, 2))
        for name in ("nansum", "nanmean"):
            made = getattr(da, name)(x, axis=axis, keepdims=keepdims).compute(scheduler="sync")
            expected = getattr(np, name)(given, axis=axis, keepdims=keepdims)
            made = made.to_numpy() if isinstance(made, sparsec.Tensor) else np.asarray(made)
            assert made.shape == expected.shape
            np.testing.assert_allclose(made, expected, rtol=1e-5)


def test_tensors_beside_arrays():
    A, B = matrix((20, 20)), matrix((20, 20), seed=2)
    a, b = A.to_numpy(), B.to_numpy()
    x = sparsec.dask.shard(B, by="i", n=3)
    for made, expected in (
        (A * x, a * b),
        (x * A, a * b),
        (A + x, a + b),
        (A @ x, a @ b),
        (x @ A, b @ a),
        (np.multiply(A, x), a * b),
    ):
        assert isinstance(made, da.Array)
        result = made.compute()
        assert isinstance(result, sparsec.Tensor) and result.format != "dense"
        np.testing.assert_allclose(result.to_numpy(), expected, rtol=1e-12)


def test_arrays_on_a_cluster(client):
    A = matrix((40, 30))
    x = sparsec.dask.shard(A, by="i", n=4).persist()
    same(x.compute(), A)
    np.testing.assert_allclose((x @ x.T).compute().to_numpy(), A.to_numpy() @ A.to_numpy().T)


def test_from_dask_and_from_delayed():
    array = da.from_array(np.eye(6), chunks=(3, 2))
    x = sparsec.dask.from_dask(array, format="csr")
    assert x.chunks == array.chunks and x.compute().format == "csr" and x.compute().nnz == 6
    value = dask.delayed(sp.random_array)((5, 4), density=0.5, rng=1)
    y = sparsec.dask.from_delayed(value, (5, 4), np.float64, format="csc")
    assert y.compute().format == "csc" and y.compute().nnz == 10


def test_shards_are_balanced():
    rows = np.concatenate([np.zeros(100, dtype=np.int64), np.arange(1, 101)])
    A = sparsec.from_coo([rows, np.arange(200)], np.ones(200), (1000, 200))
    x = sparsec.dask.shard(A, by="i", n=2)
    assert x.chunks == ((1, 999), (200,))
    assert sparsec.dask.shard(A).numblocks == (1, 1)


def test_chunks_pickle_out_of_band():
    A = matrix((100, 100))
    buffers = []
    data = pickle.dumps(A, protocol=5, buffer_callback=buffers.append)
    assert len(data) < 2000 and sum(len(it.raw()) for it in buffers) == A.nbytes
    same(pickle.loads(data, buffers=buffers), A)
    frames = distributed.protocol.serialize(A)
    same(distributed.protocol.deserialize(*frames), A)
    assert dask.sizeof.sizeof(A) == A.nbytes
    assert dask.base.tokenize(A) == dask.base.tokenize(A.copy())
    assert dask.base.tokenize(A) != dask.base.tokenize(A * 2)


def test_mismatched_chunks_are_named():
    A = matrix((4, 4))
    parts = {
        "E1104 float32": A.astype(np.float32),
        "E1104 csc": A.convert("csc"),
        "E1104 (4, 3)": matrix((4, 3)),
    }
    for words, other in parts.items():
        code, word = words.split(maxsplit=1)
        blocks = [[dask.delayed(A)], [dask.delayed(other)]]
        joined = da.concatenate(
            [da.from_delayed(block[0], (4, 4), meta=A[:0, :0]) for block in blocks]
        )
        with pytest.raises(sparsec.InputError) as error:
            joined.compute(scheduler="sync")
        assert error.value.code == code and word in str(error.value)


PROGRAMS = [
    ("C(i,k) = A(i,j) * B(j,k)", "shard(i, 0, 7, 30, 40)"),
    ("C(i,k) = A(i,j) * B(j,k)", "shard(j, 0, 3, 5, 20, 28, 30)"),
    ("C(i,k) = A(i,j) * B(j,k)", "shard(i, 0, 20, 40)\nshard(k, 0, 9, 20)"),
    ("s = A(i,j) * A(i,j)", "shard(i, 0, 1, 2, 3, 4, 5, 6, 40)"),
    ("y(i) = A(i,j) * x(j)", "shard(j, 0, 10, 20, 30)"),
]


@pytest.mark.parametrize("text, plan", PROGRAMS)
def test_programs_have_the_bits_of_one_process(client, text, plan):
    given = {"A": matrix((40, 30)), "B": matrix((30, 20), seed=2), "x": np.arange(30.0)}
    operands = {name: given[name] for name in given if name + "(" in text}
    alone = sparsec.evaluate(text, operands, shards=plan)
    same(sparsec.dask.evaluate(text, operands, shards=plan, client=client), alone)
    with dask.config.set(scheduler="threads"):
        tasks = _programs.Tasks(
            sparsec._blocks.Program(text, *sparsec._compute._call(operands, None, None, {})),
            sparsec._blocks.Plan.parse(plan),
        )
        same(tasks.joined(list(dask.compute(*tasks.pieces, scheduler="threads"))), alone)


@pytest.mark.parametrize(
    "text",
    [
        "h(i // 4) += A(i,j)",
        "T(i) = A(i,j) * 2; T(0) = 5; C(i,j) = T(i) * A(i,j)",
        "C(i,j) = A(i,j) + 1",
    ],
)
def test_programs_that_are_not_cut(client, text):
    A = matrix((40, 30))
    extents = {"i": 40}
    made = sparsec.dask.evaluate(text, A=A, extents=extents, memory="1GB", client=client)
    same(made, sparsec.evaluate(text, A=A, extents=extents))


def test_tasks_differ_by_extents(client):
    x = np.arange(3.0)
    for n in (2, 5):
        made = sparsec.dask.evaluate("y(i,j) = x(i)", x=x, extents={"j": n}, client=client)
        assert made.shape == (3, n)
    program = [
        sparsec._blocks.Program(
            "y(i,j) = x(i)", *sparsec._compute._call({"x": x}, None, {"j": n}, {})
        )
        for n in (2, 5)
    ]
    keys = [
        _programs.Tasks(it, sparsec._blocks.Plan(())).pieces[0].key for it in program
    ]
    assert keys[0] != keys[1]


def test_plans_do_not_depend_on_workers(client):
    A = matrix((300, 300))
    text = "C(i,k) = A(i,j) * A(j,k)"
    plan = sparsec.dask.explain(text, A=A, memory="100kB")
    assert "shard(" in plan and "estimated" in plan
    told = sparsec.dask.explain(text, A=A, memory="100kB", run=True, client=client)
    assert "# actual: " in told
    made = sparsec.dask.evaluate(text, A=A, memory="100kB", client=client)
    same(made, sparsec.evaluate(text, A=A, shards=plan))
    # The note of what it took is a comment, so the text replays.
    same(sparsec.dask.evaluate(text, A=A, shards=told), made)
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as alone,
    ):
        assert len(alone.scheduler_info()["workers"]) == 1
        assert len(client.scheduler_info()["workers"]) == 2
        by_one = sparsec.dask.explain(text, A=A, memory="100kB", run=True, client=alone)
        actual = [line for line in (told + by_one).splitlines() if line.startswith("# actual: ")]
        assert "2 workers" in actual[0] and "1 workers" in actual[1]
        assert by_one.replace(actual[1], actual[0]) == told
        same(sparsec.dask.evaluate(text, A=A, memory="100kB", client=alone), made)
    with pytest.raises(sparsec.InputError) as error:
        sparsec.dask.evaluate(text, A=A, memory="100kB", shards=plan)
    assert error.value.code == "E0003"


def figures(plan, line):
    """The bytes that a line of an explained plan has, in order."""
    units = {"B": 1, "kB": 1e3, "MB": 1e6}
    (text,) = [it for it in plan.splitlines() if it.startswith(line)]
    found = re.findall(r"([\d.]+) (B|kB|MB)\b", text)
    return [float(number) * units[unit] for number, unit in found]


def test_volumes_are_those_of_the_plan(client):
    """Workers count the bytes that the plan states, and chunks do not move."""
    A, B = matrix((2000, 2000), density=0.02), np.random.default_rng(1).random((2000, 16))
    text = "C(i,k) = A(i,j) * B(j,k)"
    x = sparsec.dask.shard(A, by="i", n=6).persist()
    y = sparsec.dask.shard(B).persist()
    result = 8 * B.size
    cases = [
        # Each slice once, and the whole operand to both.
        ({"A": A, "B": B}, "shard(i, 0, 500, 1000, 1500, 2000)", A.nbytes + 2 * B.nbytes),
        # The chunks stay; the whole operand goes to both, or from one to the other.
        ({"A": x, "B": B}, None, 2 * B.nbytes),
        ({"A": x, "B": y}, None, B.nbytes),
    ]
    for operands, shards, sent in cases:
        told = sparsec.dask.explain(text, operands, shards=shards, run=True, client=client)
        actual, planned, held, share, made, estimated = figures(told, "# actual: ")
        assert planned == pytest.approx(sent + result, rel=0.01)
        assert 0.5 * planned < actual <= 1.1 * planned
        assert held == pytest.approx(share, rel=0.1) and made == estimated
    # Partial results: one of two moves at most, for each combination.
    told = sparsec.dask.explain(
        text, A=A, B=B, shards="shard(j, 0, 500, 1000, 1500, 2000)", run=True, client=client
    )
    actual, planned, *_ = figures(told, "# actual: ")
    assert planned == pytest.approx(A.nbytes + B.nbytes + 4 * result, rel=0.01)
    # Neighbours are on one worker, so only the last combination moves a result.
    assert actual <= 1.1 * (A.nbytes + B.nbytes + 2 * result)
    assert f"{sparsec._blocks.text_of_bytes(3 * result)} to combine" in told


def test_shards_are_spread_over_workers(client):
    A = matrix((400, 400))
    plan = f"shard(i, {', '.join(map(str, range(0, 401, 50)))})"
    y = sparsec.dask.evaluate("C(i,k) = A(i,j) * A(j,k)", A=A, shards=plan, gather=False)
    distributed.wait(y)
    held = client.who_has(distributed.futures_of(y))
    places = [held[key] for key in sorted(held)]
    assert len(places) == 8 and len(set(places[:4])) == 1 and len(set(places[4:])) == 1
    assert places[0] != places[4]


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
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as alone,
    ):
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
    with (
        distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            processes=True,
            memory_limit="300MB",
            dashboard_address=None,
            scheduler_kwargs={"allowed_failures": 0},
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as alone,
    ):
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


def test_other_versions_are_refused(client, monkeypatch):
    own = sparsec._sparsec.version()

    class Other:
        def __getattr__(self, name):
            return getattr(sparsec._sparsec, name)

        @staticmethod
        def version():
            return "0.0.1"

    monkeypatch.setattr(_programs, "_sparsec", Other())
    with pytest.raises(sparsec.InputError) as error:
        sparsec.dask.evaluate("s = A(i,j)", A=matrix((4, 4)), client=client)
    assert error.value.code == "E1106"
    assert "client has sparsec 0.0.1" in str(error.value) and f"has sparsec {own}" in str(error.value)


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


ALIKE = [
    # The plan keeps the chunks of `A`, and asks for `x` as a whole.
    ("y(i) = A(i,j) * x(j)", {"i": 3}, "shard(i, "),
    # Sums over the chunks of both.
    ("y(i) = A(i,j) * x(j)", {"j": 4}, "shard(j, "),
    ("C(i,k) = A(i,j) * B(j,k)", {"i": 3}, "shard(i, "),
    ("s = A(i,j) * A(i,j)", {"i": 5}, "shard(i, "),
]


@pytest.mark.parametrize("text, cut, command", ALIKE)
def test_chunks_stay_where_they_are(client, text, cut, command):
    given = {"A": matrix((40, 30)), "B": matrix((30, 20), seed=2), "x": np.arange(30.0)}
    operands = {name: given[name] for name in given if name + "(" in text}
    expected = sparsec.evaluate(text, operands)
    (var, n), own = next(iter(cut.items())), dict(operands)
    A = sparsec.dask.shard(given["A"], by=var, n=n).persist()
    own["A"] = A
    if var == "j":
        own["x"] = sparsec.dask.shard(given["x"]).rechunk((A.chunks[1],)).persist()
    plan = sparsec.dask.explain(text, own, client=client)
    bounds = np.concatenate([[0], np.cumsum(A.chunks["ij".index(var)])])
    assert f"{command}{', '.join(map(str, bounds))})" in plan
    made = sparsec.dask.evaluate(text, own, client=client)
    same(made, sparsec.evaluate(text, operands, shards=plan))
    np.testing.assert_allclose(made.to_numpy(), expected.to_numpy(), rtol=1e-12)
    # Tasks read the chunks themselves: no other task has the array's entries.
    program = _programs._program(text, own, None, None, {})
    tasks = _programs.Tasks(program, sparsec._blocks.Plan.parse(plan))
    keys = {str(key) for piece in tasks.pieces for key in piece.__dask_graph__()}
    keys -= {str(key) for x in own.values() if isinstance(x, da.Array) for key in x.dask}
    assert not any("rechunk" in key or "getitem" in key for key in keys)


def test_results_stay_on_the_cluster(client):
    A = matrix((60, 60), density=0.2)
    x = sparsec.dask.shard(A, by="i", n=4).persist()
    text = "C(i,k) = A(i,j) * B(j,k)"
    y = sparsec.dask.evaluate(text, A=x, B=A, gather=False)
    assert isinstance(y, da.Array) and y.chunks == (x.chunks[0], (60,)) and y.dtype == A.dtype
    assert y._meta.format == "csr"
    plan = f"shard(i, {', '.join(map(str, np.concatenate([[0], np.cumsum(x.chunks[0])])))})"
    expected = sparsec.evaluate(text, A=A, B=A, shards=plan)
    same(y.compute(), expected)
    # As an operand of the next call, and of Dask's own functions.
    z = sparsec.dask.evaluate(text, A=y, B=A, gather=False)
    assert z.chunks == y.chunks
    same(z.compute(), sparsec.evaluate(text, A=expected, B=A, shards=plan))
    np.testing.assert_allclose((y + x).sum().compute().item(), (expected + A).sum().item())
    s = sparsec.dask.evaluate("s = A(i,j) * B(i,j)", A=y, B=x, gather=False)
    assert s.shape == () and s.compute().item() == pytest.approx((expected * A).sum().item())
    blocks = sparsec.dask.evaluate(
        text, A=A, B=A, gather=False, shards="shard(i, 0, 7, 60)\nshard(k, 0, 30, 50, 60)"
    )
    assert blocks.chunks == ((7, 53), (30, 20, 10))
    np.testing.assert_allclose(blocks.compute().to_numpy(), expected.to_numpy(), rtol=1e-12)


def test_results_hold_what_they_are_computed_of(client):
    for n in range(8):
        far = sparsec.dask.shard(matrix((12, 12), seed=n), by="i", n=3)
        made = sparsec.dask.evaluate("y(i) = A(i,j)", A=far, gather=False)
        assert len(distributed.futures_of(made)) == 3
        del far
        assert made.compute().shape == (12,)


def test_fills_and_types_of_results_are_known():
    A = sparsec.from_coo([[0, 1], [1, 2]], [1.0, 2.0], (3, 3), format="csr", fill_value=np.inf)
    far = sparsec.dask.shard(A, by="i", n=3)
    text = "d(i,k) = min{j}(A(i,j) + A(j,k))"
    two = sparsec.dask.evaluate(text, A=far, gather=False, shards="shard(i, 0, 1, 2, 3)")
    assert two._meta.fill_value == np.inf
    expected = sparsec.evaluate(text, A=A)
    made = two.compute()
    assert made.fill_value == np.inf and made.format == expected.format
    np.testing.assert_array_equal(made.to_numpy(), expected.to_numpy())
    four = sparsec.dask.evaluate(text, A=two, shards="shard(i, 0, 2, 3)")
    np.testing.assert_array_equal(four.to_numpy(), sparsec.evaluate(text, A=expected).to_numpy())
    count = sparsec.dask.evaluate("n(i) = sum{j}(select(isstored(A(i,j)), 1, 0))", A=far, gather=False)
    assert count.dtype == np.int64 and count.compute().to_numpy().tolist() == [1, 1, 0]


def test_other_chunks_are_cut_as_the_plan_says():
    A, B = matrix((40, 30)), matrix((30, 20), seed=2, format="csc")
    own = {
        "A": sparsec.dask.shard(A, by=("i", "j"), n=(3, 2)),
        # Chunks of NumPy's arrays are taken, too.
        "B": da.from_array(B.to_numpy(), chunks=(7, 20)),
    }
    given = {"A": A, "B": B.to_numpy()}
    text = "C(i,k) = A(i,j) * B(j,k)"
    for plan in ("shard(i, 0, 9, 40)", "shard(j, 0, 10, 30)", "shard(k, 0, 1, 20)", ""):
        expected = sparsec.evaluate(text, given, shards=plan)
        same(sparsec.dask.evaluate(text, own, shards=plan), expected)
    # Whole operands are sent sixteen times, as plans count, but not an eighth of the matrix.
    assert "shard(" in sparsec.dask.explain(text, own, memory="12kB")


def test_mistakes_about_arrays():
    x = sparsec.dask.shard(matrix((6, 6)), by="i", n=2)
    with pytest.raises(sparsec.InputError) as error:
        sparsec.dask.evaluate("y(i) = A(i,j) * x(j)", A=x, x=np.ones(4))
    assert error.value.code == "E0203" and "extent 6" in str(error.value)
    with pytest.raises(sparsec.InputError, match="is given two tensors"):
        sparsec.dask.evaluate("y(i) = A(i,j)", {"A": x}, A=x)
    other = x.map_blocks(lambda block: block.astype(np.float32), dtype=np.float64, meta=x._meta)
    with pytest.raises(sparsec.InputError, match="a chunk of `A` stores float32 .*float64") as error:
        sparsec.dask.evaluate("s = A(i,j)", A=other, shards="shard(i, 0, 3, 6)")
    assert error.value.code == "E1104"
    unknown = da.from_array(np.arange(9.0), chunks=3)
    unknown = unknown[unknown > 2]
    with pytest.raises(sparsec.InputError, match="`x` has chunks of unknown extents"):
        sparsec.dask.evaluate("s = x(i)", x=unknown)

"""The figures of clusters, of few entries: what is compared, counted and printed."""

from __future__ import annotations

import numpy as np
import pytest

import sparsec

pytest.importorskip("dask.array")
pytest.importorskip("distributed")
pytest.importorskip("scipy")
pytest.importorskip("sparse")

from clusters import processes  # noqa: E402
from sparsec.dask import _bench, _cases  # noqa: E402

CASES = {case.name: case for case in _cases.cases(4000)}


@pytest.mark.parametrize("name", CASES)
def test_peers_compute_the_same(name):
    case = CASES[name]
    chunk = case.chunk(5, 3)
    assert chunk.shape == (5, *case.shape[1:]) and chunk.nnz > 0
    ours = sparsec.evaluate(case.text, {case.chunked: chunk, **case.whole})
    scipy = _cases.product(case.scipy(chunk), case.scipy_whole)
    assert _cases.difference(ours, scipy) < 1e-12
    wrong = scipy * 1.001
    assert _cases.difference(ours, wrong) > 1e-4
    pydata = _cases.product(case.pydata(chunk), case.pydata_whole)
    pydata = pydata if isinstance(pydata, np.ndarray) else pydata.todense()
    np.testing.assert_allclose(ours.to_numpy(), pydata, rtol=1e-10)
    # The same place has the same numbers on any cluster.
    assert np.array_equal(case.chunk(5, 3).buffers["vals"], chunk.buffers["vals"])


def test_figures_of_a_product(monkeypatch):
    """Bytes are those of the plan, and each shard has a measure, which is replayed."""
    monkeypatch.setattr(_bench, "_CHUNKS", 4)
    # Of fewer entries, messages are more than a tenth of the bytes.
    case = _cases.cases(200_000)[0]
    with processes(1) as one, processes(2) as two:
        row = _bench._Row(case, {"one": one, "two": two}, 1)
        network = _bench.Network(latency=1e-3, bandwidth=1e9)
        found = row.figures(1.8, network, 1e-3, peers=True)
    assert found["entries"] == 200_000 and found["moved of plan"] <= 1.1
    assert found["wanted of two over one"] == pytest.approx(0.85 * 1.8)
    assert found["over SciPy"] > 0 and found["over PyData"] > 0
    sizes = [it["workers"] for it in found["simulated"]]
    assert sizes == list(_bench.SIZES)
    totals = [it["workers"] * it["ideal"] for it in found["simulated"]]
    assert totals == pytest.approx([totals[0]] * len(totals)) and totals[0] > 0
    for it in found["simulated"]:
        assert it["of ideal"] >= 1 and it["of ideal with operands sent"] >= it["of ideal"]
    table = _bench.text_of(
        {
            "overhead of a task": 1e-3,
            "dispatch of a task by Dask": 1e-3,
            "copies, two over one": 1.8,
            "network of simulated clusters": str(network),
            "products": [found],
        }
    )
    assert "SpMM" in table and "overhead of a task: 1.00 ms" in table
    assert len(table.splitlines()) == 9 + len(_bench.SIZES)


def test_the_overhead_of_a_task():
    with processes(1) as one:
        ours, theirs = _bench._overhead(one, n=50)
    # Far above what it is anywhere: a task compiles nothing, and reads its chunk in place.
    assert ours < 0.1 and 0 < theirs < 0.1


def test_tasks_are_handed_out_in_turn():
    tasks = [_bench.Task(float(at), 0, place=at / 6) for at in range(6)]
    assert [it.seconds for it in _bench._in_turn(tasks, 2)] == [0, 3, 1, 4, 2, 5]
    assert [it.seconds for it in _bench._in_turn(tasks, 4)] == [0, 2, 3, 5, 1, 4]

"""Programs on a cluster of two processes."""

from __future__ import annotations

import re

import numpy as np
import pytest
from clusters import matrix, processes, same

import sparsec

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

import sparsec.dask  # noqa: E402
from sparsec.dask import _programs  # noqa: E402


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
    with processes(1) as alone:
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

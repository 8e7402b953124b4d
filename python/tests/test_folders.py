"""Results that go to files as they are made, and lines that tell how far they are."""

from __future__ import annotations

import io
import os

import numpy as np
import pytest
from clusters import matrix, processes, same

import sparsec
from sparsec import _folders, _progress, _shards

TEXT = "C(i,k) = A(i,j) * B(j,k)"
A, B = matrix((40, 30)), matrix((30, 20), seed=2)
#: Plans whose parts lie along the first mode, the second, both, and whose results are added.
PLANS = [
    "shard(i, 0, 7, 30, 40)",
    "shard(k, 0, 9, 20)",
    "shard(i, 0, 20, 40)\nshard(k, 0, 9, 20)",
    "shard(j, 0, 3, 5, 30)",
    "",
]


def joined(files, plan):
    """The tensor of the files of a folder."""
    parts = [sparsec.read(it) for it in files]
    if plan.count("shard") == 2:
        return sum(parts[1:], parts[0])
    mode = 1 if "(k" in plan else 0
    ends = np.cumsum([0, *(it.shape[mode] for it in parts)])
    offsets = [[end if at == mode else 0 for at in range(2)] for end in ends[:-1]]
    return _shards.join(parts, offsets, (40, 20))


@pytest.mark.parametrize("plan", PLANS)
def test_parts_are_those_of_the_result(tmp_path, plan):
    expected = sparsec.evaluate(TEXT, A=A, B=B, shards=plan)
    files = sparsec.evaluate_to(tmp_path / "C", TEXT, A=A, B=B, shards=plan)
    assert files == sorted(str(it) for it in (tmp_path / "C").iterdir())
    made = joined(files, plan)
    if plan.count("shard") == 2:
        np.testing.assert_array_equal(made.to_numpy(), expected.to_numpy())
    else:
        same(made, expected)
    assert sorted(os.listdir(tmp_path)) == ["C"]


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("is_cluster", [True, False])
def test_parts_that_workers_write(tmp_path, plan, is_cluster, request):
    pytest.importorskip("dask.array")
    import sparsec.dask

    client = request.getfixturevalue("client") if is_cluster else None
    expected = sparsec.evaluate(TEXT, A=A, B=B, shards=plan)
    far = sparsec.dask.evaluate_to(tmp_path / "C", TEXT, A=A, B=B, shards=plan, client=client)
    assert far.shape == (40, 20)
    made = far.compute(scheduler="sync")
    assert made.format == expected.format
    np.testing.assert_array_equal(made.to_numpy(), expected.to_numpy())
    assert sorted(os.listdir(tmp_path)) == ["C"]


def test_nothing_is_left_of_what_fails(tmp_path):
    n = sparsec.asarray(np.asarray([[1, 0], [0, 1]]), format="csr")
    text, plan = "B(i,j) = A(i,j) // (A(i,j) - 1)", "shard(i, 0, 1, 2)"
    with pytest.raises(sparsec.InputError):
        sparsec.evaluate_to(tmp_path / "B", text, A=n, shards=plan)
    assert os.listdir(tmp_path) == []
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "own").write_text("mine")
    with pytest.raises(sparsec.FileError, match="it is there already") as error:
        sparsec.evaluate_to(tmp_path / "there", TEXT, A=A, B=B, memory="1GB")
    assert error.value.code == "E0427"
    with pytest.raises(sparsec.FileError, match="cannot write") as error:
        sparsec.evaluate_to(tmp_path / "none" / "C", TEXT, A=A, B=B, memory="1GB")
    assert error.value.code == "E0427"
    assert os.listdir(tmp_path / "there") == ["own"] and os.listdir(tmp_path) == ["there"]
    with pytest.raises(sparsec.InputError) as error:
        sparsec.evaluate_to(tmp_path / "C", TEXT, A=A, B=B)
    assert error.value.code == "E1103"


def test_nothing_is_left_of_what_fails_on_workers(tmp_path, client):
    import sparsec.dask

    n = sparsec.asarray(np.asarray([[1, 0], [0, 1]]), format="csr")
    text, plan = "B(i,j) = A(i,j) // (A(i,j) - 1)", "shard(i, 0, 1, 2)"
    with pytest.raises(sparsec.InputError) as error:
        sparsec.dask.evaluate_to(tmp_path / "B", text, A=n, shards=plan, client=client)
    assert error.value.code == "E0511" and os.listdir(tmp_path) == []


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_lines_of_progress(monkeypatch):
    times = iter(np.arange(0, 10, 0.05))
    monkeypatch.setattr(_progress.time, "monotonic", lambda: next(times))
    terminal, file = Terminal(), io.StringIO()
    for stream in (terminal, file):
        bar = _progress.Bar(4, stream)
        for shard in (0, 1, 1, 2, 3):
            bar.done(shard)
        bar.end()
        assert bar.n_done == 4
    lines = terminal.getvalue().split("\r")
    assert lines[0] == "" and len(lines) > 2 and lines[-1].endswith(" s\n")
    assert lines[-1].startswith("[########################] 4 of 4 shards, ")
    assert file.getvalue().count("\n") == 1 and "\r" not in file.getvalue()


def test_progress_of_programs(tmp_path, capsys):
    pytest.importorskip("dask.array")
    import sparsec.dask

    plan = PLANS[0]
    sparsec.evaluate_to(tmp_path / "C", TEXT, A=A, B=B, shards=plan, progress=True)
    assert "] 3 of 3 shards, " in capsys.readouterr().err
    # Shards whose results are added are counted, too: by threads, and by workers.
    plan, expected = PLANS[3], sparsec.evaluate(TEXT, A=A, B=B, shards=PLANS[3])
    same(sparsec.dask.evaluate(TEXT, A=A, B=B, shards=plan, progress=True), expected)
    assert "] 3 of 3 shards, " in capsys.readouterr().err
    with processes(1) as alone:
        made = sparsec.dask.evaluate(TEXT, A=A, B=B, shards=plan, progress=True, client=alone)
        same(made, expected)
    assert " of 3 shards, " in capsys.readouterr().err

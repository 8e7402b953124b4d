"""Dask arrays as operands and results of programs."""

from __future__ import annotations

import numpy as np
import pytest
from clusters import matrix, same

import sparsec

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

import sparsec.dask  # noqa: E402
from sparsec.dask import _operands, _programs  # noqa: E402


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


def test_counts_are_held_by_who_plans(client):
    """Other arrays that are counted meanwhile do not push them out."""
    A = matrix((12, 12))
    program = _programs._program("y(i) = A(i,j)", {"A": sparsec.dask.shard(A, n=3)}, None, None, {})
    chunked = program.elsewhere["A"]
    chunked.count(client)
    for number in range(_operands._MOST_COUNTED):
        _operands._counted(f"other-{number}", np.zeros((1, 1, 2)))
    assert (chunked.n_stored, _operands._recalled(chunked.array.name)) == (A.nnz, None)
    plan = sparsec._planner.planned(program, 10**9, sent=True)
    assert "shard(i, 0, " in str(plan)

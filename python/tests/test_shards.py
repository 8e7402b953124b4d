"""Tensors cut into shards and joined, and programs computed shard by shard."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

import sparsec
from sparsec import _blocks, _planner, _shards

FORMATS = ["dense", "csr", "csc", "coo", "dcsr", "bsr(2, 2)", "ell", "dia", "hash"]


def same(left, right):
    """Two tensors have equal formats, shapes, types, fills and bits."""
    assert (left.format, left.shape, left.dtype) == (right.format, right.shape, right.dtype)
    assert left.fill_value == right.fill_value
    for name, array in left.buffers.items():
        np.testing.assert_array_equal(array, right.buffers[name])
        assert array.tobytes() == right.buffers[name].astype(array.dtype).tobytes()


def matrix(rng, shape, density=0.2, format="csr"):
    return sparsec.asarray(sp.random_array(shape, density=density, rng=rng), format=format)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("by", ["i", 1])
def test_shards_join_again(rng, format, by):
    A = matrix(rng, (12, 9), format=format)
    mode = _shards.mode_of(A, by)
    bounds = _shards.bounds(A, by, 4)
    parts = _shards.cut(A, by, 4)
    assert bounds[0] == 0 and bounds[-1] == A.shape[mode] and len(parts) == len(bounds) - 1
    assert all(part.format == A.format for part in parts)
    offsets = [[start if at == mode else 0 for at in range(2)] for start in bounds[:-1]]
    joined = _shards.join(parts, offsets, A.shape)
    assert joined.format == A.format
    np.testing.assert_array_equal(joined.to_numpy(), A.to_numpy())
    # In any order, and in another format.
    joined = _shards.join(parts[::-1], offsets[::-1], A.shape, "csc")
    assert joined.format == "csc"
    np.testing.assert_array_equal(joined.to_numpy(), A.to_numpy())


def test_blocks_of_two_modes(rng):
    A = matrix(rng, (12, 9))
    rows, columns = _shards.bounds(A, 0, 3), _shards.bounds(A, 1, 2)
    blocks = list(itertools.product(zip(rows, rows[1:]), zip(columns, columns[1:])))
    parts = [_shards.take(A, block) for block in blocks]
    same(_shards.join(parts, [[at for at, _ in block] for block in blocks], A.shape), A)


def test_shards_are_balanced_by_entries():
    # Row 0 has as many entries as all others.
    rows = np.concatenate([np.zeros(100, dtype=np.int64), np.arange(1, 101)])
    A = sparsec.from_coo([rows, np.arange(200)], np.ones(200), (1000, 200))
    assert _shards.bounds(A, "i", 2) == (0, 1, 1000)
    # Two thirds of the entries end in row 33.
    assert [part.nnz for part in _shards.cut(A, "i", 3)] == [100, 33, 67]
    even = sparsec.from_coo([np.arange(90), np.arange(90)], np.ones(90), (90, 90))
    assert [part.nnz for part in _shards.cut(even, "i", 3)] == [30, 30, 30]
    # A coordinate is not split, and each shard has one.
    one = sparsec.from_coo([[5] * 3, [0, 1, 2]], np.ones(3), (7, 3))
    bounds = _shards.bounds(one, 0, 7)
    assert bounds == (0, 1, 2, 3, 4, 5, 6, 7)
    assert _shards.bounds(one, 0, 100) == bounds
    assert max(part.nnz for part in _shards.cut(one, 0, 3)) == 3


def test_empty_shards_and_modes():
    empty = sparsec.from_coo([[], []], np.zeros(0), (10, 4))
    assert _shards.bounds(empty, 0, 2) == (0, 5, 10)
    assert [part.nnz for part in _shards.cut(empty, 0, 2)] == [0, 0]
    nothing = sparsec.from_coo([[], []], np.zeros(0), (0, 4))
    assert _shards.bounds(nothing, 0, 3) == (0, 0)
    same(_shards.join(_shards.cut(nothing, 0, 3), [(0, 0)], (0, 4)), nothing)


def test_extents_past_32_bits():
    n = 2**40
    A = sparsec.from_coo([[0, 7, n - 1], [n - 1, 5, 0]], [1.0, 2.0, 3.0], (n, n), format="dcsr")
    parts = _shards.cut(A, "j", 3)
    bounds = _shards.bounds(A, "j", 3)
    assert [part.nnz for part in parts] == [1, 1, 1] and bounds[-1] == n
    same(_shards.join(parts, [(0, at) for at in bounds[:-1]], A.shape), A)
    rows = _shards.bounds(A, "i", 2)
    same(_shards.join(_shards.cut(A, "i", 2), [(at, 0) for at in rows[:-1]], A.shape), A)


def test_dense_tensors_in_both_orders(rng):
    array = rng.random((6, 5))
    for given in (array, np.asfortranarray(array)):
        A = sparsec.asarray(given)
        for by in (0, 1):
            parts = _shards.cut(A, by, 2)
            assert all(part.format == A.format for part in parts)
            np.testing.assert_array_equal(
                np.concatenate([part.to_numpy() for part in parts], axis=by), array
            )


def test_dense_tensors_keep_their_fill(rng):
    array = rng.random((6, 5))
    A = sparsec.from_buffers("dense", (6, 5), [array.reshape(-1)], fill_value=2.5)
    for by in (0, 1):
        bounds = _shards.bounds(A, by, 2)
        parts = _shards.cut(A, by, 2)
        assert [part.fill_value for part in parts] == [2.5, 2.5]
        offsets = [[start if at == by else 0 for at in range(2)] for start in bounds[:-1]]
        same(_shards.join(parts, offsets, A.shape), A)
    other = sparsec.asarray(array)
    with pytest.raises(sparsec.InputError, match="with fill 0.0, and part 0 float64 with fill 2.5"):
        _shards.join([A, other], [(0, 0), (6, 0)], (12, 5))


def test_letters_of_results():
    A = sparsec.from_coo([[0, 1], [1, 0]], [1.0, 2.0], (2, 2)) * 2
    assert [part.nnz for part in _shards.cut(A, "j", 2)] == [1, 1]


def test_wrong_shards():
    A = sparsec.from_coo([[0], [1]], [5.0], (1, 2))
    B = sparsec.from_coo([[0], [1]], np.asarray([5], dtype=np.float32), (1, 2))
    for code, parts, offsets in (
        ("E0403", [A, B], [(0, 0), (1, 0)]),
        ("E0413", [A, A], [(0, 0), (2, 0)]),
        ("E0408", [A, A], [(0, 0), (0, 0)]),
    ):
        with pytest.raises(sparsec.InputError) as error:
            _shards.join(parts, offsets, (2, 2))
        assert error.value.code == code
    for by in ("z", 2, None):
        with pytest.raises(sparsec.InputError, match="the modes are i, j"):
            _shards.cut(A, by, 2)
    with pytest.raises(sparsec.InputError, match="0 shards"):
        _shards.bounds(A, 0, 0)


#: Programs, with a variable that each may be cut by.
PROGRAMS = [
    ("C(i,k) = A(i,j) * B(j,k)", "i"),
    ("C(i,k) = A(i,j) * B(j,k)", "k"),
    ("C(i,k) = A(i,j) * B(j,k)", "j"),
    ("C(i,k) = A(i,j) * A(k,j) * A(i,k)", "i"),
    ("y(i) = A(i,j) * x(j)", "i"),
    ("y(i) = A(i,j) * x(j)", "j"),
    ("y(j) = max{i}(A(i,j))", "i"),
    ("p = prod{i,j}(A(i,j) + 1)", "j"),
    ("s = A(i,j) * x(j)", "i"),
    ("T(i,k) = A(i,j) * B(j,k); s = T(i,k) * T(i,k)", "i"),
    ("T(i,k) = A(i,j) * B(j,k); C(i,j) = T(i,k) * B(k,j)", "j"),
    ("A(i,j) = A(i,j) + B(i,j)", "j"),
]


@pytest.mark.parametrize("text, by", PROGRAMS)
@pytest.mark.parametrize("format", ["csr", "csc"])
def test_programs_by_shards(rng, text, by, format):
    given = {
        "A": matrix(rng, (12, 12), format=format),
        "B": matrix(rng, (12, 12)),
        "x": rng.random(12),
    }
    operands = {name: given[name] for name in given if name + "(" in text.partition("=")[2]}
    whole = sparsec.evaluate(text, operands)
    for n in (1, 5):
        bounds = np.linspace(0, 12, n + 1).astype(int)
        plan = f"shard({by}, {', '.join(map(str, bounds))})"
        made = sparsec.evaluate(text, operands, shards=plan)
        assert (made.format, made.dtype, made.shape) == (whole.format, whole.dtype, whole.shape)
        np.testing.assert_allclose(made.to_numpy(), whole.to_numpy(), rtol=1e-13)
        same(made, sparsec.evaluate(text, operands, shards=plan))


#: Programs that change a tensor that has a value, with the variables that a shard would be by.
CHANGED = [
    ("T(i) = A(i,j) * 2; T(0) = 5; C(i,j) = T(i) * B(i,j)", "i"),
    ("T(i) = A(i,j) * 2; T(0) = 5; C(i,j) = T(i) * B(i,j)", "j"),
    ("T(i) = A(i,j); T(0) += 5; s = T(i) * T(i)", "i"),
    ("T(i) = A(i,j); T(0) = 5; y(j) = T(i) * B(i,j)", "i"),
]


@pytest.mark.parametrize("text, by", CHANGED)
def test_programs_that_change_a_tensor_are_not_cut(rng, text, by):
    given = {"A": matrix(rng, (12, 12)), "B": matrix(rng, (12, 12))}
    operands = {name: given[name] for name in given if name + "(" in text}
    whole = sparsec.evaluate(text, operands)
    with pytest.raises(sparsec.InputError) as error:
        sparsec.evaluate(text, operands, shards=f"shard({by}, 0, 5, 12)")
    assert error.value.code == "E1101" and "^" in str(error.value)
    assert f"shards by `{by}`" in str(error.value)
    same(sparsec.evaluate(text, operands, memory="1GB"), whole)
    program = _blocks.Program(text, *sparsec._compute._call(operands, None, None, {}))
    assert sparsec._sparsec.shardable(*program.call) == []
    with pytest.raises(sparsec.OutOfMemoryError, match="no index variable cuts it"):
        sparsec.evaluate(text, operands, memory=1)


def test_faults_name_the_variable(rng):
    A, B = matrix(rng, (12, 12)), matrix(rng, (12, 12))
    text = "T(i // 2) += A(i,j); C(k,l) = B(k,l) * T(l)"
    with pytest.raises(sparsec.InputError) as error:
        plan = "shard(k, 0, 5, 12)\nshard(l, 0, 3, 6)"
        sparsec.evaluate(text, A=A, B=B[:, :6], extents={"i": 12}, shards=plan)
    assert error.value.code == "E1101" and "shards by `l`" in str(error.value)


def test_blocks_of_two_variables(rng):
    A, B = matrix(rng, (12, 9)), matrix(rng, (9, 8))
    text = "C(i,k) = A(i,j) * B(j,k)"
    plan = "shard(i, 0, 5, 12)\nshard(k, 0, 1, 8)\nshard(j, 0, 4, 6, 9)"
    made = sparsec.evaluate(text, A=A, B=B, shards=plan)
    np.testing.assert_allclose(made.to_numpy(), A.to_numpy() @ B.to_numpy(), rtol=1e-13)
    exact = [x.convert("csr").astype(np.int64) for x in ((A * 100) // 1, (B * 100) // 1)]
    same(
        sparsec.evaluate(text, A=exact[0], B=exact[1], shards=plan),
        sparsec.evaluate(text, A=exact[0], B=exact[1]),
    )


def test_operands_and_results_that_store_a_half(rng):
    a = rng.integers(1, 9, (12, 12)).astype(float)
    A = sparsec.asarray(a + a.T, format="csr").convert("csr, symmetric(i, j)")
    B = matrix(rng, (12, 12))
    for text in ("C(i,k) = A(i,j) * B(j,k)", "C(i,k) = A(i,j) * A(j,k)"):
        operands = {name: it for name, it in (("A", A), ("B", B)) if name + "(" in text}
        whole = sparsec.evaluate(text, operands)
        for plan in ("shard(i, 0, 5, 12)", "shard(j, 0, 5, 12)", "shard(k, 0, 1, 12)"):
            made = sparsec.evaluate(text, operands, shards=plan)
            assert made.format == whole.format
            np.testing.assert_allclose(made.to_numpy(), whole.to_numpy(), rtol=1e-13)
    # A result that is mirrored is converted once, when it is joined.
    text, format = "C(i,j) = 2 * A(i,j)", "csr, symmetric(i, j)"
    whole = sparsec.evaluate(text, A=A, out_format=format)
    made = sparsec.evaluate(text, A=A, out_format=format, shards="shard(i, 0, 5, 12)")
    same(made, whole)


def test_implicit_entries_count_in_each_shard():
    # Every row stores -1 alone, so its other entries, zeros, are the maximum but in row 1.
    A = sparsec.asarray(np.asarray([[-1.0, 0.0], [-1.0, -2.0]]), format="csr")
    made = sparsec.evaluate("y(i) = max{j}(A(i,j))", A=A, shards="shard(j, 0, 1, 2)")
    assert made.to_numpy().tolist() == [0.0, -1.0]
    filled = sparsec.from_coo([[0], [1]], [5.0], (3, 4), fill_value=2.0)
    made = sparsec.evaluate("s = A(i,j)", A=filled, shards="shard(i, 0, 1, 3)")
    assert made.item() == 5 + 2 * 11


def test_plans_that_fit(rng):
    A, B = matrix(rng, (200, 300), 0.05), matrix(rng, (300, 150), 0.05)
    text = "C(i,k) = A(i,j) * B(j,k)"
    whole = sparsec.evaluate(text, A=A, B=B)
    plan = sparsec.explain(text, stage="shards", memory="50kB", A=A, B=B)
    assert "shard(" in plan and "of 50 kB" in plan and "estimated" in plan
    np.testing.assert_allclose(
        sparsec.evaluate(text, A=A, B=B, memory="50kB").to_numpy(), whole.to_numpy(), rtol=1e-13
    )
    same(
        sparsec.evaluate(text, A=A, B=B, memory="50kB"),
        sparsec.evaluate(text, A=A, B=B, shards=plan),
    )
    assert "shard(" not in sparsec.explain(text, stage="shards", memory="1GB", A=A, B=B)
    # The plan is the same on any number of threads.
    before = sparsec.configuration()["threads"]
    try:
        sparsec.configure(threads=1)
        assert sparsec.explain(text, stage="shards", memory="50kB", A=A, B=B) == plan
        same(
            sparsec.evaluate(text, A=A, B=B, shards=plan),
            sparsec.evaluate(text, A=A, B=B, memory="50kB"),
        )
    finally:
        sparsec.configure(threads=before)


def test_a_plan_by_two_variables(rng):
    # A row of the result takes more than the memory, and so does a column.
    A = sparsec.asarray(rng.random((100, 4)) + 1, format="csr")
    B = sparsec.asarray(rng.random((4, 100)) + 1, format="csr")
    text = "C(i,k) = A(i,j) * B(j,k)"
    plan = sparsec.explain(text, stage="shards", memory=800, A=A, B=B)
    assert "shard(i, 0, " in plan and "shard(k, 0, " in plan
    same(sparsec.evaluate(text, A=A, B=B, memory=800), sparsec.evaluate(text, A=A, B=B))
    # The shards of a cluster count what is sent.
    program = _blocks.Program(text, [("A", A._stored), ("B", B._stored)])
    cuts = _planner.planned(program, 800, sent=True).cuts
    assert [name for name, _ in cuts] == ["i", "k"] and all(len(at) > 3 for _, at in cuts)


def test_estimates_bound_what_shards_take(rng):
    A, B = matrix(rng, (400, 300), 0.05), matrix(rng, (300, 250), 0.05)
    program = _blocks.Program(
        "C(i,k) = A(i,j) * B(j,k)", [("A", A._stored), ("B", B._stored)], [], []
    )
    plan = _planner.planned(program, 100_000)
    sharding = _blocks.Sharding.of(program, plan.cuts)
    formats = _blocks.formats_of(program)
    cutters = {name: _shards.Cutter(it) for name, it in program.tensors.items()}
    for shard in sharding.shards():
        part = _blocks.computed(sharding, program, formats, cutters, shard)
        slices = sum(
            _shards.take(whole, operand.ranges(shard, whole.shape)).nbytes
            for operand in sharding.operands
            for whole in [program.tensors[operand.of]]
            if any(at is not None for at in operand.cut)
        )
        assert slices + part.nbytes <= 1.25 * 100_000


def test_what_cannot_be_cut(rng):
    A = matrix(rng, (6, 6))
    for text, by in (
        ("C(i,j) = A(i,j) * i", "i"),
        ("y(i) = A(i+1,j)", "i"),
        ("y(i) = 2 * sum{j}(A(i,j))", "j"),
        ("y(i) = A(i,j)", "z"),
        ("T(i,j) = 2 * A(i,j); s = T(i,j) * T(j,i)", "i"),
    ):
        with pytest.raises(sparsec.InputError) as error:
            sparsec.evaluate(text, A=A, shards=f"shard({by}, 0, 3, 6)")
        assert error.value.code == "E1101" and "^" in str(error.value), text


def test_wrong_plans(rng):
    A = matrix(rng, (6, 6))
    text = "y(i) = A(i,j)"
    for plan, code in (
        ("split(i, 3)", "E1102"),
        ("shard(i)", "E1102"),
        ("shard(i, 0, 3)", "E0413"),
        ("shard(i, 0, 4, 3, 6)", "E0413"),
        ("shard(i, 1, 6)", "E0413"),
        ("shard(i, 0, 9999999999999999999999, 6)", "E0413"),
        ("shard(i, 0, 3, 6)\nshard(i, 0, 6)", "E0003"),
    ):
        with pytest.raises(sparsec.InputError) as error:
            sparsec.evaluate(text, A=A, shards=plan)
        assert error.value.code == code, plan
    for memory in ("", "2XB", 0, -1, "GB", True, 1.5, "0"):
        with pytest.raises(sparsec.InputError) as error:
            sparsec.evaluate(text, A=A, memory=memory)
        assert error.value.code == "E0004", memory
    with pytest.raises(sparsec.InputError) as error:
        sparsec.evaluate(text, A=A, memory="1GB", shards="shard(i, 0, 6)")
    assert error.value.code == "E0003"
    with pytest.raises(sparsec.InputError) as error:
        sparsec.explain(text, A=A, memory="1GB")
    assert error.value.code == "E0005"
    with pytest.raises(sparsec.InputError) as error:
        sparsec.explain(text, A=A, stage="shards")
    assert error.value.code == "E1103"


def test_shards_that_do_not_fit(rng):
    A = matrix(rng, (60, 60))
    with pytest.raises(sparsec.OutOfMemoryError) as error:
        sparsec.evaluate("C(i,k) = A(i,j) * A(j,k)", A=A, memory=16)
    assert error.value.code == "E0407"
    assert "no shard fits into 16 B" in str(error.value) and "memory=" in str(error.value)
    with pytest.raises(sparsec.OutOfMemoryError) as error:
        sparsec.evaluate("y(i) = A(i+1,i) * i", A=A, memory=16)
    assert "no index variable cuts it" in str(error.value)


def test_wrong_programs_are_refused_as_without_shards(rng):
    A = matrix(rng, (6, 6))
    for text, operands in (
        ("y(i) = A(i,j) * x(j)", {"A": A, "x": np.ones(4)}),
        ("y(i) = A(i,j", {"A": A}),
        ("y(i) = A(i,j) * x(j)", {"A": A}),
    ):
        with pytest.raises(sparsec.InputError) as whole:
            sparsec.evaluate(text, operands)
        with pytest.raises(sparsec.InputError) as error:
            sparsec.evaluate(text, operands, memory=10)
        assert str(error.value) == str(whole.value)


def test_trees_follow_from_the_number_of_parts():
    for n in range(1, 40):
        # Level by level, neighbours are combined; a last one without a neighbour goes up.
        level = [str(number) for number in range(n)]
        while len(level) > 1:
            pairs = [f"({a}{b})" for a, b in zip(level[::2], level[1::2])]
            level = pairs + level[len(level) - len(level) % 2 :]
        assert _shards.tree(map(str, range(n)), lambda a, b: f"({a}{b})") == level[0]
    with pytest.raises(sparsec.InputError):
        _shards.tree([], max)


def test_ranges_are_weighed_evenly():
    """Bytes of a range of more than 64 coordinates lie along all of it."""
    weights = _shards.Weights(127)
    weights.spread([0, 127], [100.0])
    first, second = weights.within([0, 64, 127]).tolist()
    assert abs(first - 50) < 2 and abs(second - 50) < 2

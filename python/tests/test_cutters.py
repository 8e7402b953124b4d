"""Many parts of one tensor are the parts that are taken one by one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from clusters import matrix, same

import sparsec
from sparsec import _shards

FORMATS = ["csr", "csc", "coo", "dcsr", "dense", "bsr(2, 2)", "hash", "csr, symmetric(i, j)"]


def parts(bounds):
    """The ranges of all blocks between bounds of each mode."""
    return list(itertools.product(*(zip(at, at[1:]) for at in bounds)))


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("rows", [(0, 12), (0, 5, 12), (0, 1, 2, 11, 12)])
@pytest.mark.parametrize("columns", [(0, 12), (0, 7, 12), (0, 3, 4, 9, 12)])
def test_parts_of_matrices(format, rows, columns):
    A = matrix((12, 12), density=0.3)
    A = A + A.T if "symmetric" in format else A
    A = _shards.without_rule(A.convert(format))
    cutter = _shards.Cutter(A)
    for ranges in parts([rows, columns]):
        made, expected = cutter.take(ranges), _shards.take(A, ranges)
        same(made, expected)
        assert made._stored.format == expected._stored.format


@pytest.mark.parametrize("fill", [0, 2.5, np.nan])
def test_parts_of_tensors_of_order_three(fill, rng):
    lists = [rng.integers(0, n, 200) for n in (9, 8, 7)]
    values = np.where(rng.random(200) < 0.1, 0.0, rng.random(200))
    for format in ("csf", "coo", "(i, j, k) -> (k : compressed, i : compressed, j : compressed)"):
        A = sparsec.from_coo(lists, values, (9, 8, 7), format=format, fill_value=fill)
        cutter = _shards.Cutter(A)
        for ranges in parts([(0, 4, 9), (0, 8), (0, 3, 7)]) + parts([(0, 9), (0, 2, 8), (0, 7)]):
            same(cutter.take(ranges), _shards.take(A, ranges))


def test_large_extents():
    n = 2**40
    A = sparsec.from_coo([[0, 7, n - 1], [n - 1, 5, 0]], [1.0, 2.0, 3.0], (n, n), format="dcsr")
    cutter = _shards.Cutter(A)
    for ranges in parts([(0, n), (0, 3, n // 2, n)]):
        same(cutter.take(ranges), _shards.take(A, ranges))
    # A copy by columns has no position for each of them.
    A = sparsec.from_coo([[0, 2, 3], [n - 1, 5, 0]], [1.0, 2.0, 3.0], (4, n), format="csr")
    assert [it.nnz for it in _shards.cut(A, "j", 3)] == [1, 1, 1]


def test_ranges_outside_are_refused():
    cutter = _shards.Cutter(matrix((12, 12)))
    for ranges in ([(0, 12), (3, 13)], [(0, 12), (-1, 3)], [(0, 12), (5, 3)]):
        with pytest.raises((sparsec.InputError, OverflowError)):
            cutter.take(ranges)


def test_all_entries_are_visited_twice_and_not_once_a_part(monkeypatch):
    """Columns of a matrix by rows: slices that walk over all entries are not taken."""
    A = matrix((60, 60))
    walked = []
    real = _shards.take

    def take(tensor, ranges):
        whole = [(0, extent) for extent in tensor.shape]
        if list(map(tuple, ranges)) != whole:
            walked.append((tensor.levels[0].split(" : ")[0], [tuple(it) for it in ranges]))
        return real(tensor, ranges)

    monkeypatch.setattr(_shards, "take", take)
    assert len(_shards.cut(A, "j", 6)) == 6
    assert len(walked) == 6 and all(first == "j" and it[0] == (0, 60) for first, it in walked)

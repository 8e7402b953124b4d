"""Simulated clusters, beside times that are counted by hand."""

from __future__ import annotations

import pytest

pytest.importorskip("dask.array")

from sparsec.dask._simulator import Network, Task, replayed  # noqa: E402

NETWORK = Network(latency=1.0, bandwidth=10.0)
#: No time for messages, and a second for ten bytes.
SILENT = Network(latency=0.0, bandwidth=10.0)


def shards(n, seconds=4.0, needs=()):
    return [Task(seconds, 0, needs, number / n) for number in range(n)]


def test_tasks_run_in_turn_on_each_worker():
    made = replayed(shards(8), 4, SILENT)
    assert (made.seconds, made.ideal, made.of_ideal, made.sent) == (8, 8, 1, 0)
    # Five tasks on four workers: neighbours share one.
    assert replayed(shards(5), 4, SILENT).seconds == 8
    assert replayed(shards(8), 1, SILENT).seconds == 32
    assert replayed(shards(8), 16, SILENT).seconds == 4


def test_the_scheduler_hands_out_one_task_after_the_other():
    # Each task leaves after 3 seconds, and the last one after 12; it takes 1 s to arrive.
    assert replayed(shards(4), 4, NETWORK, dispatch=3.0).seconds == 4 * 3 + 1 + 4
    # One worker is never idle: the first task arrives at 1.5.
    assert replayed(shards(4), 1, NETWORK, dispatch=0.5).seconds == 1.5 + 16


def test_whole_operands_are_passed_on():
    """Of four workers the first has it: one more after a round, two more after the next."""
    whole = [Task(0.0, 20.0, place=0.0)]
    made = replayed(whole + shards(4, needs=(0,)), 4, SILENT)
    # 20 bytes take 2 seconds.
    assert made.sent == 60 and made.seconds == 2 + 2 + 4
    assert replayed(whole + shards(8, needs=(0,)), 1, SILENT).sent == 0
    # A worker receives it once, for all of its tasks.
    assert replayed(whole + shards(8, needs=(0,)), 2, SILENT).sent == 20
    assert replayed(whole + shards(2, needs=(0,)), 2, NETWORK).seconds == 1 + (1 + 2) + 4


def test_partial_results_are_combined_where_the_left_one_is():
    parts = [Task(4.0, 30.0, place=number / 4) for number in range(4)]
    combined = [Task(1.0, 30.0, (0, 1)), Task(1.0, 30.0, (2, 3)), Task(1.0, 30.0, (4, 5))]
    # 4 s, then a part of 3 s and 1 s to combine, twice.
    made = replayed(parts + combined, 4, SILENT)
    assert made.seconds == 4 + (3 + 1) + (3 + 1) and made.sent == 90
    # On two workers the first combination moves nothing.
    two = replayed(parts + combined, 2, SILENT)
    assert two.seconds == 8 + 1 + 3 + 1 and two.sent == 30


def test_links_carry_one_part_at_a_time():
    sources = [Task(0.0, 10.0, place=number / 3) for number in range(3)]
    # The last worker reads both others: a second each, one after the other.
    made = replayed([*sources, Task(1.0, 0, (0, 1), 0.99)], 3, SILENT)
    assert made.seconds == 1 + 1 + 1

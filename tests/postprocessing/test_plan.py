"""Dealing out examples, checked by enumeration."""

from __future__ import annotations

import pytest

from kfood_tfds.postprocessing.plan import Plan


@pytest.mark.parametrize("workers", [1, 2, 3, 5])
@pytest.mark.parametrize("batch_size", [2, 3, 7])
def test_every_example_once_and_equal_steps(workers: int, batch_size: int) -> None:
    for examples in range(workers, 80):
        plans = [Plan(examples, batch_size, False, workers, worker) for worker in range(workers)]
        sizes = [plan.sizes() for plan in plans]
        assert {len(size) for size in sizes} == {plans[0].steps}
        assert sum(sum(size) for size in sizes) == examples
        for worker, size in enumerate(sizes):
            assert sum(size) == len(range(worker, examples, workers))
            assert min(size) >= 1 and max(size) <= batch_size
            # Only the last two may be smaller.
            assert all(value == batch_size for value in size[:-2])


def test_one_worker_has_one_smaller_batch_at_most() -> None:
    assert Plan(70, 32).sizes() == (32, 32, 6)
    assert Plan(64, 32).sizes() == (32, 32)
    assert Plan(5, 32).sizes() == (5,)


def test_dropped_remainder() -> None:
    assert Plan(70, 32, drop_remainder=True).sizes() == (32, 32)
    assert Plan(70, 16, True, workers=2, worker=1).sizes() == (16, 16)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((10, 0), "batch_size=0"),
        ((10, -2), "batch_size=-2"),
        ((10, 2.0), "batch_size=2.0"),
        ((10, 32, True), "batch_size=32"),
        ((10, 4, False, 0), "num_input_pipelines=0"),
        ((10, 4, False, 2, 2), "input_pipeline_id=2"),
        ((3, 4, False, 5), "num_input_pipelines=5"),
        ((5, 1, False, 2), "batch_size=1"),
        ((5, 1, False, 2, 1), "batch_size=1"),
    ],
)
def test_impossible_plans_are_refused(arguments: tuple[int, ...], message: str) -> None:
    with pytest.raises(ValueError, match=f"Received: .*{message}"):
        Plan(*arguments)


@pytest.mark.parametrize(
    ("plan", "used"),
    [
        (Plan(10, 3), 10),
        (Plan(10, 3, True), 9),
        (Plan(13, 2, True, 3, 1), 12),
        (Plan(9, 3, True), 9),
    ],
)
def test_used_examples_are_those_of_whole_steps(plan: Plan, used: int) -> None:
    assert plan.used == used

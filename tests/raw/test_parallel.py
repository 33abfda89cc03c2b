"""The ordered, bounded map over threads."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

import pytest

from kfood_tfds.raw.errors import KfoodError
from kfood_tfds.raw.parallel import default_workers, map_groups_in_order, map_in_order


@pytest.mark.parametrize("workers", [1, 3, None])
def test_results_come_in_the_order_of_the_items(workers: int | None) -> None:
    assert list(map_in_order(lambda n: n * n, range(50), workers)) == [n * n for n in range(50)]


def test_only_a_few_items_are_in_flight() -> None:
    taken: list[int] = []

    def items() -> Iterator[int]:
        for n in range(1000):
            taken.append(n)
            yield n

    results = map_in_order(lambda n: n, items(), workers=2)
    assert next(results) == 0
    assert len(taken) <= 16
    results.close()  # type: ignore[attr-defined]
    assert len(taken) <= 16


def test_several_threads_work_at_once() -> None:
    barrier = threading.Barrier(2, timeout=30)
    # More than one task's worth of items for each of the two.
    found = map_in_order(lambda n: barrier.wait(), range(8), workers=2)
    assert sorted(found) == [0, 0, 0, 0, 1, 1, 1, 1]


def test_the_first_error_ends_the_iteration() -> None:
    def fail_at_three(n: int) -> int:
        if n == 3:
            raise KeyError(n)
        return n

    seen: list[int] = []
    with pytest.raises(KeyError):
        seen.extend(map_in_order(fail_at_three, range(10), workers=2))
    results = map_in_order(fail_at_three, range(10), workers=2)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(KeyError):
        next(results)


def test_no_items_give_no_results() -> None:
    assert list(map_in_order(str, [])) == []
    assert default_workers() >= 1


@pytest.mark.parametrize("workers", [0, -1])
def test_impossible_numbers_of_workers_are_refused(workers: int) -> None:
    with pytest.raises(KfoodError, match="at least 1"):
        list(map_in_order(str, [1], workers))


def test_groups_give_as_many_results_as_they_like_in_their_order() -> None:
    groups = [[1, 2], [], [3], [4, 5, 6]]
    found = map_groups_in_order(lambda group: [n * 10 for n in group if n != 5], groups, 2)
    assert list(found) == [10, 20, 30, 40, 60]


def test_a_group_that_fails_gives_what_it_had_found() -> None:
    def fail_at_five(group: Sequence[int]) -> Iterator[int]:
        for n in group:
            if n == 5:
                raise KeyError(n)
            yield n

    seen: list[int] = []
    with pytest.raises(KeyError):
        seen.extend(map_groups_in_order(fail_at_five, [[1, 2], [3, 4, 5, 6], [7]], 2))
    assert seen == [1, 2, 3, 4]

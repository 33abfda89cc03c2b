"""One way to use all cores: an ordered map over threads with a bounded window."""

from __future__ import annotations

import functools
import itertools
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from kfood_tfds.raw.errors import KfoodError
from kfood_tfds.raw.messages import say

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

# Handing an item to a thread and waking it costs some 0.1 ms each time, so several go at once.
_ITEMS_PER_TASK = 4
# Enough for a worker never to wait for the reader, few enough to hold megabytes, not gigabytes.
_TASKS_PER_WORKER = 2


def default_workers() -> int:
    """Returns the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return max(1, os.cpu_count() or 1)


def check_workers(workers: int | None) -> None:
    """Refuses a number of threads that can't be.

    Raises:
        KfoodError: If it is below 1.
    """
    if workers is not None and workers < 1:
        raise KfoodError(say("workers", received=workers))


def map_in_order(
    function: Callable[[_Item], _Result], items: Iterable[_Item], workers: int | None = None
) -> Iterator[_Result]:
    """Yields `function(item)` in the order of the items, computed by several threads.

    Threads, not processes: decoding, hashing and encoding release Python's lock, and nothing
    needs to be pickled. The items are taken from their iterator in the caller's thread, so that
    reading stays sequential; at most a few per worker are in flight.

    Args:
        function: What to do with one item; the first exception it raises ends the iteration.
        items: The items, which may be endless.
        workers: The number of threads; None is one per core.
    """
    groups = _in_groups(items, _ITEMS_PER_TASK)
    return map_groups_in_order(functools.partial(map, function), groups, workers)


def map_groups_in_order(
    function: Callable[[Sequence[_Item]], Iterable[_Result]],
    groups: Iterable[Sequence[_Item]],
    workers: int | None = None,
) -> Iterator[_Result]:
    """Yields what `function(group)` yields in the order of the groups, computed by several threads.

    Args:
        function: What to do with the items of a group; the first exception it raises ends the
            iteration, after the results before it.
        groups: The groups, which may be endless; each goes to one thread.
        workers: The number of threads; None is one per core.
    """
    check_workers(workers)
    workers = workers or default_workers()
    pending: deque[Future[tuple[list[_Result], Exception | None]]] = deque()
    with ThreadPoolExecutor(workers, thread_name_prefix="kfood") as pool:
        try:
            for group in groups:
                pending.append(pool.submit(_run, function, group))
                if len(pending) >= workers * _TASKS_PER_WORKER:
                    yield from _results(pending.popleft())
            while pending:
                yield from _results(pending.popleft())
        finally:
            for future in pending:
                future.cancel()


def _in_groups(items: Iterable[_Item], size: int) -> Iterator[list[_Item]]:
    rest = iter(items)
    while group := list(itertools.islice(rest, size)):
        yield group


def _run(
    function: Callable[[Sequence[_Item]], Iterable[_Result]], group: Sequence[_Item]
) -> tuple[list[_Result], Exception | None]:
    """Returns the results up to the first error, and that error."""
    results: list[_Result] = []
    try:
        for result in function(group):
            results.append(result)
    except Exception as error:
        return results, error
    return results, None


def _results(future: Future[tuple[list[_Result], Exception | None]]) -> Iterator[_Result]:
    results, error = future.result()
    yield from results
    if error is not None:
        raise error

"""The order of whole numbers in place of examples, against lists written by hand."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import pytest
import tensorflow as tf

from kfood_tfds.postprocessing.order import Order, Stream, padded, stream
from kfood_tfds.postprocessing.plan import Plan

FILLER = -1
# Five examples in batches of two: three steps, the last of which is filled up.
PLAN = Plan(5, 2)

Row = tuple[int, int, bool]


def number(value: int) -> Any:
    return tf.constant(value, tf.int64)


def rows(items: Any) -> list[Row]:
    """Returns (example, epoch, whether it counts) of each item."""
    return [(int(item), int(epoch), bool(counts)) for item, (epoch, counts) in items]


def epoch_rows(epoch: int, *examples: int) -> list[Row]:
    return [(example, epoch, example != FILLER) for example in examples]


def whole(epoch: int) -> list[Row]:
    """An epoch of `PLAN` in the data set's order."""
    return epoch_rows(epoch, 0, 1, 2, 3, 4, FILLER)


def streamed(order: Order, plan: Plan = PLAN, records: Any = None) -> Stream:
    of_epoch = functools.partial(padded, filler=number(FILLER))
    records = tf.data.Dataset.range(plan.examples) if records is None else records
    return stream(records, plan, order, of_epoch)


# What a worker has, its plan, and its batches: filled up, and as they are.
DEALT = [
    (range(4), Plan(4, 2), [[0, 1], [2, 3]]),
    (range(5), Plan(5, 2), [[0, 1], [2, 3], [4]]),
    (range(1), Plan(1, 4), [[0]]),
    (range(0, 9, 2), Plan(9, 4, False, 2, 0), [[0, 2, 4], [6, 8]]),
    (range(1, 9, 2), Plan(9, 4, False, 2, 1), [[1, 3], [5, 7]]),
    (range(0, 17, 2), Plan(17, 4, False, 2, 0), [[0, 2, 4, 6], [8, 10, 12], [14, 16]]),
    (range(1, 17, 2), Plan(17, 4, False, 2, 1), [[1, 3, 5, 7], [9, 11], [13, 15]]),
]


@pytest.mark.parametrize(("own", "plan", "batches"), DEALT)
def test_batches_are_filled_up_from_any_step_on(
    own: range, plan: Plan, batches: list[list[int]]
) -> None:
    records = tf.data.Dataset.from_tensor_slices(tf.constant(list(own), tf.int64))
    full = [batch + [FILLER] * (plan.batch_size - len(batch)) for batch in batches]
    for step in range(len(batches)):
        expected = epoch_rows(3, *(example for batch in full[step:] for example in batch))
        fill = functools.partial(padded, records, plan=plan, filler=number(FILLER))
        assert rows(fill(number(3), number(step))) == expected
        inside = tf.data.Dataset.from_tensors((number(3), number(step))).flat_map(fill)
        assert rows(inside) == expected


@pytest.mark.parametrize("start", range(6))
def test_a_long_data_set_goes_on_from_any_step(start: int) -> None:
    found = streamed(Order(seed=0, buffer=0, epochs=2, start_step=start))
    assert found.steps == 6 - start and found.position is None
    assert rows(found.items) == (whole(0) + whole(1))[2 * start :]


@pytest.mark.parametrize(
    ("start", "steps", "expected"),
    [
        (1, 5, epoch_rows(0, 1, 2, 3, 4) + whole(1)),
        (4, 4, epoch_rows(0, 4, FILLER) + whole(1)),
        (5, 3, whole(1)),
        (7, 2, epoch_rows(1, 2, 3, 4, FILLER)),
        (9, 1, epoch_rows(1, 4, FILLER)),
    ],
)
def test_a_start_between_two_steps_makes_new_batches(
    start: int, steps: int, expected: list[Row]
) -> None:
    found = streamed(Order(seed=0, buffer=0, epochs=2, start_example=start))
    assert found.steps == steps
    assert rows(found.items) == expected


# Ten examples in batches of three, the last of them left out: nine an epoch, three steps.
CUT = Plan(10, 3, drop_remainder=True)


@pytest.mark.parametrize("step", range(1, 6))
def test_without_remainders_a_start_after_whole_steps_is_the_same_in_examples(step: int) -> None:
    by_step = streamed(Order(seed=0, buffer=0, epochs=2, start_step=step), CUT)
    by_example = streamed(Order(seed=0, buffer=0, epochs=2, start_example=3 * step), CUT)
    expected = [row for epoch in (0, 1) for row in epoch_rows(epoch, *range(9))][3 * step :]
    assert rows(by_step.items) == rows(by_example.items) == expected
    assert by_step.steps == by_example.steps == 6 - step


def test_what_makes_no_step_any_more_is_a_remainder() -> None:
    found = streamed(Order(seed=0, buffer=0, epochs=2, start_example=8), CUT)
    assert found.steps == 3 and rows(found.items) == epoch_rows(1, *range(9))
    found = streamed(Order(seed=0, buffer=0, epochs=2, start_example=7), CUT)
    assert found.steps == 4
    assert rows(found.items) == epoch_rows(0, 7, 8, 9) + epoch_rows(1, *range(9))


def test_without_remainders_the_last_start_is_where_a_step_is_left() -> None:
    found = streamed(Order(seed=0, buffer=0, epochs=2, start_example=16), CUT)
    assert rows(found.items) == epoch_rows(1, 7, 8, 9)
    with pytest.raises(ValueError, match=r"of all epochs, 17\. Received: start_example=17"):
        streamed(Order(seed=0, buffer=0, epochs=2, start_example=17), CUT)


def test_iterations_begin_where_the_position_is() -> None:
    found = streamed(Order(seed=0, buffer=0, start_step=4))
    assert found.steps == 3 and int(found.position) == 4
    # One step of the first epoch is done: two are left, and the next epoch's first.
    expected = epoch_rows(1, 2, 3, 4, FILLER) + epoch_rows(2, 0, 1)
    assert rows(found.items) == rows(found.items) == expected
    found.position.assign(6)
    assert rows(found.items) == whole(2)


def test_epochs_that_are_all_the_same_need_no_position() -> None:
    for start, epoch in ((0, 0), (3, 1), (6, 2)):
        found = streamed(Order(seed=0, buffer=0, start_step=start, repeatable=True))
        assert found.position is None and found.steps == 3
        assert rows(found.items) == rows(found.items) == whole(epoch)
    inside = streamed(Order(seed=0, buffer=0, start_step=4, repeatable=True))
    assert int(inside.position) == 4


@pytest.mark.parametrize(
    ("drop", "expected"),
    [
        (False, ([0, 2, 4, 6], [1, 3, 5, FILLER])),
        (True, ([0, 2], [1, 3])),
    ],
)
def test_workers_take_turns(drop: bool, expected: tuple[list[int], list[int]]) -> None:
    for worker, examples in enumerate(expected):
        found = streamed(Order(seed=0, buffer=0, epochs=2), Plan(7, 2, drop, 2, worker))
        assert rows(found.items) == epoch_rows(0, *examples) + epoch_rows(1, *examples)
        assert found.steps == len(examples)


def test_mixing_depends_on_seed_and_epoch_alone() -> None:
    plan = Plan(24, 6)
    order = Order(seed=7, buffer=24, epochs=3)
    tf.random.set_seed(1)
    found = rows(streamed(order, plan).items)
    epochs = [[example for example, epoch, _ in found if epoch == n] for n in range(3)]
    assert all(sorted(epoch) == list(range(24)) for epoch in epochs)
    assert len({tuple(epoch) for epoch in (*epochs, range(24))}) == 4
    tf.random.set_seed(2)
    assert rows(streamed(order, plan).items) == found
    # Five steps of six, or thirty examples, are left out.
    for later in (replace(order, start_step=5), replace(order, start_example=30)):
        assert rows(streamed(later, plan).items) == found[30:]
    assert rows(streamed(replace(order, seed=8), plan).items) != found


class Changing:
    """Records that are other ones in each epoch."""

    def at_epoch(self, epoch: Any) -> Any:
        return tf.data.Dataset.range(5).map(lambda example: example + 10 * epoch)


def test_records_may_change_with_the_epoch() -> None:
    found = streamed(Order(seed=0, buffer=0, epochs=2), records=Changing())
    second = epoch_rows(1, 10, 11, 12, 13, 14, FILLER)
    assert rows(found.items) == whole(0) + second


@pytest.mark.parametrize(
    ("order", "received"),
    [
        (Order(0, 0, epochs=2, start_step=6), "steps of all epochs, 6. Received: start_step=6"),
        (Order(0, 0, epochs=1, start_step=7), "steps of all epochs, 3. Received: start_step=7"),
        (
            Order(0, 0, epochs=2, start_example=10),
            "examples of all epochs, 10. Received: start_example=10",
        ),
    ],
)
def test_a_start_beyond_the_last_epoch_is_refused(order: Order, received: str) -> None:
    with pytest.raises(ValueError, match=f"must be below the number of {received}"):
        streamed(order)

"""The examples of all epochs in a row, so that no batch spans two epochs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from kfood_tfds.postprocessing.plan import Plan

# Nothing here needs Python's control flow converted, which takes most of the set-up time.
plain = tf.autograph.experimental.do_not_convert


@dataclasses.dataclass(frozen=True)
class Order:
    """Which examples come when.

    Attributes:
        seed: Seed of the run.
        buffer: Records that are mixed at a time; 0 keeps the data set's order.
        epochs: Number of epochs in one long data set; None for one epoch an iteration.
        start_step: Steps to leave out at the beginning.
        start_example: Examples, over all workers, to leave out at the beginning.
        repeatable: Whether all epochs are the same.
    """

    seed: int
    buffer: int
    epochs: int | None = None
    start_step: int = 0
    start_example: int = 0
    repeatable: bool = False


@dataclasses.dataclass(frozen=True)
class Stream:
    """Examples in their order.

    Attributes:
        items: Data set of what the epochs consist of.
        steps: Number of steps.
        position: Variable with the number of steps done before; None if the stream has a fixed
            beginning.
    """

    items: Any
    steps: int
    position: Any = None


def stream(records: Any, plan: Plan, order: Order, of_epoch: Callable[..., Any]) -> Stream:
    """Puts the records in order.

    Args:
        records: Examples, one by one, of known number.
        plan: The batches of an epoch.
        order: Order and number of the epochs.
        of_epoch: (a worker's records in their order, epoch, step to begin with, plan) -> data set.

    Raises:
        ValueError: If the start lies beyond the last epoch.
    """

    def epoch_items(epoch: Any, step: Any, plan: Plan = plan, offset: int = 0) -> Any:
        return of_epoch(_own(_mixed(records, order, epoch), plan, offset), epoch, step, plan)

    if order.start_example:
        return _from_example(plan, order, epoch_items)
    if order.epochs is None and not (order.repeatable and order.start_step % plan.steps == 0):
        return _endless(plan, order, epoch_items)
    total = (order.epochs or order.start_step // plan.steps + 1) * plan.steps
    _check_start(order.start_step, total, "step")
    first, step = divmod(order.start_step, plan.steps)

    def from_start(epoch: Any) -> Any:
        return epoch_items(epoch, tf.where(epoch == first, tf.constant(step, tf.int64), 0))

    epochs = tf.data.Dataset.range(first, total // plan.steps)
    return Stream(epochs.flat_map(plain(from_start)), total - order.start_step)


def _from_example(plan: Plan, order: Order, epoch_items: Callable[..., Any]) -> Stream:
    epochs = order.epochs or 1
    # The last place in an epoch where what is left still makes a step.
    last = plan.examples - (plan.batch_size * plan.workers if plan.drop_remainder else 1)
    _check_start(order.start_example, (epochs - 1) * plan.used + last + 1, "example")
    epoch, offset = divmod(order.start_example, plan.used)
    if offset > last:
        epoch, offset = epoch + 1, 0
    rest = dataclasses.replace(plan, examples=plan.examples - offset)
    zero = tf.constant(0, tf.int64)
    this, later = (
        tf.data.Dataset.range(*bounds) for bounds in ((epoch, epoch + 1), (epoch + 1, epochs))
    )
    items = this.flat_map(plain(lambda at: epoch_items(at, zero, rest, offset))).concatenate(
        later.flat_map(plain(lambda at: epoch_items(at, zero)))
    )
    return Stream(items, rest.steps + (epochs - epoch - 1) * plan.steps)


def _endless(plan: Plan, order: Order, epoch_items: Callable[..., Any]) -> Stream:
    """Returns one epoch's steps, counted from the position."""
    with tf.device("CPU:0"):
        position = tf.Variable(order.start_step, dtype=tf.int64, trainable=False)

    def epoch_after(index: Any) -> Any:
        now = position.read_value()
        step = tf.where(index == 0, now % plan.steps, tf.zeros([], tf.int64))
        return epoch_items(now // plan.steps + index, step)

    items = tf.data.Dataset.range(2).flat_map(plain(epoch_after))
    return Stream(items.take(plan.steps * plan.batch_size), plan.steps, position)


def _mixed(records: Any, order: Order, epoch: Any) -> Any:
    # A resampled data set holds other examples in each epoch.
    records = records.at_epoch(epoch) if hasattr(records, "at_epoch") else records
    if not order.buffer:
        return records
    # Inside flat_map this is the seed of the function's own graph, in place of the global one.
    tf.random.set_seed(order.seed + 1)
    return records.shuffle(order.buffer, seed=epoch, reshuffle_each_iteration=False)


def _own(records: Any, plan: Plan, offset: int) -> Any:
    records = records.skip(offset) if offset else records
    if plan.workers > 1:
        records = records.shard(plan.workers, plan.worker)
    return records.take(plan.own) if plan.drop_remainder else records


def _marked(records: Any, epoch: Any, counts: bool) -> Any:
    mark = tf.data.Dataset.from_tensors((epoch, tf.constant(counts))).repeat()
    return tf.data.Dataset.zip(records, mark)


def padded(records: Any, epoch: Any, step: Any, plan: Plan, filler: Any) -> Any:
    """Returns a worker's records of an epoch from a step on, each batch filled up.

    Args:
        records: The worker's examples in their order.
        epoch: Number of the epoch.
        step: Steps to leave out.
        plan: The batches.
        filler: An example to fill up with.

    Returns:
        Data set of (example, (epoch, whether the example counts)).
    """
    counted = _marked(records, epoch, True)
    fill = _marked(tf.data.Dataset.from_tensors(filler).repeat(), epoch, False)
    size, full = plan.batch_size, plan.full * plan.batch_size
    if not plan.tail:
        return counted.skip(step * size)
    if len(plan.tail) == 1:
        return counted.skip(step * size).concatenate(fill.take(size - plan.tail[0]))
    first, second = plan.tail
    late, zero = step > plan.full, tf.constant(0, tf.int64)
    done = tf.where(late, zero + full + first, step * size)
    before = counted.take(full + first).skip(done)
    before = before.concatenate(fill.take(tf.where(late, zero, zero + size - first)))
    after = counted.skip(full + first).concatenate(fill.take(size - second))
    return before.concatenate(after)


def _check_start(start: int, total: int, what: str) -> None:
    if start >= total:
        raise ValueError(
            f"start_{what} must be below the number of {what}s of all epochs, {total}. "
            f"Received: start_{what}={start}"
        )

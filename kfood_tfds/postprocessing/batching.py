"""From a data set of examples to batches: order, epochs, resumption, workers."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from kfood_tfds.postprocessing import outputs
from kfood_tfds.postprocessing.decoding import IMAGE
from kfood_tfds.postprocessing.ops import Example, require
from kfood_tfds.postprocessing.options import BatchOptions
from kfood_tfds.postprocessing.plan import Plan

_PEEK = 64
_READY_BATCHES = 2


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


def make_batches(pipeline: Any, ds: Any, options: BatchOptions) -> Any:
    """Returns the batches of a ``Pipeline``; see ``Pipeline.batches``.

    Raises:
        ValueError: If an argument is invalid, or the data set lacks what the pipeline needs.
    """
    weights = outputs.weights(options.sample_weights)
    columns = outputs.Columns(options.labels, weights, options.with_ids)
    require(ds.element_spec, columns.needs, "batches()")
    count = examples_in(ds)
    workers, worker = options.num_input_pipelines, options.input_pipeline_id
    plan = Plan(count, options.batch_size, options.drop_remainder, workers, worker)
    order = _order(pipeline, ds, options, count)
    warn_if_unordered(ds, order, workers)
    calls = options.num_parallel_calls or tf.data.AUTOTUNE
    # Without a remainder the batch axis has a static size too.
    even = options.drop_remainder or not count % (options.batch_size * workers)

    def finish(records: Any, epoch: Any, size: int) -> Any:
        def one(example: Example) -> Example:
            kept = columns.before(example)
            done = pipeline.on_example(example, options.seed, epoch)
            return columns.kept(done | kept, pipeline.batch_ops)

        # One map for everything: each image stays in one core's cache from decoding to scaling.
        examples = records.map(one, num_parallel_calls=calls, deterministic=True)
        batches = examples.batch(size, drop_remainder=even)
        return batches.map(lambda batch: columns.after(pipeline.on_batch(batch)))

    return ordered_batches(ds, plan, order, finish)


def _order(pipeline: Any, ds: Any, options: BatchOptions, count: int) -> Order:
    shuffle = pipeline.random if options.shuffle is None else options.shuffle
    return Order(
        seed=options.seed,
        buffer=buffer_records(ds, count, options.shuffle_buffer_bytes) if shuffle else 0,
        epochs=options.epochs,
        start_step=options.start_step,
        start_example=options.start_example,
        repeatable=not (shuffle or pipeline.random),
    )


def examples_in(ds: Any) -> int:
    """Returns the number of examples.

    Raises:
        ValueError: If it is unknown or infinite.
    """
    count = int(ds.cardinality())
    if count < 0:
        what = "infinite" if count == tf.data.INFINITE_CARDINALITY else "unknown"
        raise ValueError(
            "batches() needs a data set of known, finite length: leave out repeat(), and after "
            "filter() add .apply(tf.data.experimental.assert_cardinality(n)). "
            f"Received: ds of {what} cardinality"
        )
    if count == 0:
        raise ValueError("batches() needs at least one example. Received: an empty data set")
    return count


def buffer_records(ds: Any, count: int, num_bytes: int) -> int:
    """Returns how many records to mix so that their images take about ``num_bytes``."""
    sizes = [_bytes(example[IMAGE]) for example in ds.take(_PEEK)]
    mean = max(1, sum(sizes) // max(1, len(sizes)))
    return max(1, min(count, num_bytes // mean))


def _bytes(image: Any) -> int:
    if image.dtype == tf.string:
        return len(image.numpy())
    return int(tf.size(image)) * int(image.dtype.size)


def warn_if_unordered(ds: Any, order: Order, workers: int) -> None:
    """Warns, or raises where it would be wrong, if the data set's own order changes by chance.

    Raises:
        ValueError: If resuming or sharing between workers relies on the order.
    """
    # TFDS marks data sets so when their files are shuffled without a seed.
    if ds.options().deterministic is not False:
        return
    remedy = (
        "the data set was loaded with shuffle_files=True and no seed, so its order changes from "
        "run to run; pass read_config=tfds.ReadConfig(shuffle_seed=0) to tfds.load, or leave out "
        "shuffle_files"
    )
    if order.start_step or order.start_example or workers > 1:
        raise ValueError(
            f"Resuming and several workers need a fixed order, but {remedy}. Received: "
            f"start_step={order.start_step}, start_example={order.start_example}, "
            f"num_input_pipelines={workers}"
        )
    warnings.warn(f"Batches will not be the same in every run: {remedy}.", stacklevel=4)


def ordered_batches(
    records: Any, plan: Plan, order: Order, finish: Callable[[Any, Any, int], Any]
) -> Any:
    """Returns the data set of batches.

    Args:
        records: Examples, one by one, of known number.
        plan: The batches of an epoch.
        order: Order and number of the epochs.
        finish: Makes batches: (records, epoch, size) -> data set of batches of that size.

    Raises:
        ValueError: If the start lies beyond the last epoch.
    """

    def epoch_batches(epoch: Any, step: Any, plan: Plan, offset: int = 0) -> Any:
        own = _own_records(_mixed(records, order, epoch), plan, offset)
        done = tf.minimum(step, plan.full) * plan.batch_size
        if len(plan.tail) < 2:
            return finish(own.skip(done), epoch, plan.batch_size)
        full = plan.full * plan.batch_size
        first = finish(own.take(full).skip(done), epoch, plan.batch_size)
        after = tf.where(step > plan.full, plan.tail[0], 0)
        rest = finish(own.skip(tf.cast(full + after, tf.int64)), epoch, plan.tail[0])
        return first.concatenate(rest)

    if order.start_example:
        return _from_example(plan, order, epoch_batches)
    if order.epochs is None and not (order.repeatable and order.start_step % plan.steps == 0):
        return _endless(plan, order, epoch_batches)
    total = (order.epochs or order.start_step // plan.steps + 1) * plan.steps
    _check_start(order.start_step, total, "step")
    epoch, step = divmod(order.start_step, plan.steps)
    epochs = tf.data.Dataset.range(epoch, total // plan.steps)
    ds = epochs.flat_map(
        lambda at: epoch_batches(at, tf.where(at == epoch, tf.constant(step, tf.int64), 0), plan)
    )
    return _ready(ds, total - order.start_step)


def _from_example(plan: Plan, order: Order, epoch_batches: Callable[..., Any]) -> Any:
    epochs = order.epochs or 1
    _check_start(order.start_example, epochs * plan.examples, "example")
    epoch, offset = divmod(order.start_example, plan.examples)
    rest = dataclasses.replace(plan, examples=plan.examples - offset)
    zero = tf.constant(0, tf.int64)
    this = tf.data.Dataset.range(epoch, epoch + 1)
    first = this.flat_map(lambda at: epoch_batches(at, zero, rest, offset))
    later = tf.data.Dataset.range(epoch + 1, epochs)
    ds = first.concatenate(later.flat_map(lambda at: epoch_batches(at, zero, plan)))
    return _ready(ds, rest.steps + (epochs - epoch - 1) * plan.steps)


def _endless(plan: Plan, order: Order, epoch_batches: Callable[..., Any]) -> Any:
    """Returns one epoch's steps, those after the last whole iteration's each time."""
    with tf.device("CPU:0"):
        position = tf.Variable(order.start_step, dtype=tf.int64, trainable=False)

    def epoch_after(index: Any) -> Any:
        now = position.read_value()
        step = tf.where(index == 0, now % plan.steps, tf.zeros([], tf.int64))
        return epoch_batches(now // plan.steps + index, step, plan)

    def counted(index: Any, batch: Any) -> Any:
        # Only a whole iteration counts: Keras takes one batch of a first one to learn the shapes.
        last = tf.cast(index == plan.steps - 1, tf.int64)
        with tf.control_dependencies([position.assign_add(last * plan.steps)]):
            return tf.nest.map_structure(tf.identity, batch)

    ds = _ready(tf.data.Dataset.range(2).flat_map(epoch_after).take(plan.steps), plan.steps)
    ds = ds.enumerate().map(counted)
    options = tf.data.Options()
    # A buffer behind the counter would count batches that nobody has taken yet.
    options.experimental_optimization.inject_prefetch = False
    ds = ds.with_options(options)
    # The data set refers to the variable without owning it.
    ds.position = position
    return ds


def _ready(ds: Any, steps: int) -> Any:
    options = tf.data.Options()
    options.deterministic = True
    options.experimental_optimization.inject_prefetch = False
    ds = ds.apply(tf.data.experimental.assert_cardinality(steps))
    return ds.with_options(options).prefetch(_READY_BATCHES)


def _mixed(records: Any, order: Order, epoch: Any) -> Any:
    if not order.buffer:
        return records
    # Inside flat_map this is the seed of the function's own graph, in place of the global one.
    tf.random.set_seed(order.seed + 1)
    return records.shuffle(order.buffer, seed=epoch, reshuffle_each_iteration=False)


def _own_records(records: Any, plan: Plan, offset: int) -> Any:
    records = records.skip(offset) if offset else records
    if plan.workers > 1:
        records = records.shard(plan.workers, plan.worker)
    return records.take(plan.own) if plan.drop_remainder else records


def _check_start(start: int, total: int, what: str) -> None:
    if start >= total:
        raise ValueError(
            f"start_{what} must be below the number of {what}s of all epochs, {total}. "
            f"Received: start_{what}={start}"
        )

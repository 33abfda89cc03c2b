"""From a data set of examples to batches: order, epochs, resumption, workers."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from kfood_tfds.postprocessing import mapped_pixels, outputs
from kfood_tfds.postprocessing.decoding import IMAGE, WINDOW
from kfood_tfds.postprocessing.ops import Example, require
from kfood_tfds.postprocessing.options import BatchOptions
from kfood_tfds.postprocessing.order import Order, padded, plain, stream
from kfood_tfds.postprocessing.plan import Plan

_PEEK = 64
_READY_BATCHES = 2
# Finding a window takes dozens of short steps, hardly more for some examples than for one.
_MOST_AT_ONCE = 32
# Putting together and taking apart is no copy of the image's bytes, but one of every other feature.
_MOST_NUMBERS = 256
_SHAPES = {IMAGE: (), "id": (), "height": (), "width": (), "crop": (4,), WINDOW: (4,)}
# TensorFlow can't put together all of the others.
_DTYPES = {tf.string, tf.bool, tf.uint8, tf.int32, tf.int64, tf.float16, tf.float32, tf.float64}


def make_batches(pipeline: Any, ds: Any, options: BatchOptions) -> Any:
    """Returns the batches of a ``Pipeline``; see ``Pipeline.batches``.

    Raises:
        ValueError: If an argument is invalid, or the data set lacks what the pipeline needs.
    """
    weights = outputs.weights(options.sample_weights)
    columns = outputs.Columns(options.labels, weights, options.with_ids)
    _check_single(require(ds.element_spec, columns.needs, "batches()"))
    count = examples_in(ds)
    unread = mapped_pixels.unread(ds) if pipeline.decodes_next else None
    records = ds if unread is None else unread.places
    workers, worker = options.num_input_pipelines, options.input_pipeline_id
    plan = Plan(count, options.batch_size, options.drop_remainder, workers, worker)
    order = _order(pipeline, ds, options, count)
    warn_if_unordered(ds, order, workers)
    first = next(iter(records.take(1)))
    ordered = stream(records, plan, order, functools.partial(padded, filler=first))
    # Without a remainder nothing is filled up, and the batch axis has a static size.
    whole = not count % (options.batch_size * workers) and not options.start_example
    even = options.drop_remainder or whole

    at_once = (
        windows_at_once(records.element_spec, options.batch_size) if pipeline.window_ops else 1
    )
    items = _with_windows(pipeline, ordered.items, options, at_once)

    def one(example: Example, mark: tuple[Any, Any]) -> tuple[Example, Any]:
        epoch, counts = mark
        kept = columns.before(example)
        example = example if unread is None else unread.opened(example)
        if at_once > 1:
            done = pipeline.run_from(len(pipeline.window_ops), example)
        else:
            done = pipeline.on_example(example, options.seed, epoch)
        return columns.kept(done | kept, pipeline.batch_ops), counts

    def batch_of(batch: Example, counts: Any) -> tuple[Any, ...]:
        if not even:
            number = tf.reduce_sum(tf.cast(counts, tf.int32))
            batch = {key: value[:number] for key, value in batch.items()}
        return columns.after(pipeline.on_batch(batch))

    # One map for everything: each image stays in one core's cache from decoding to scaling.
    examples = items.map(plain(one), options.calls, deterministic=True)
    batches = examples.batch(options.batch_size, drop_remainder=True).map(plain(batch_of))
    batches = batches.apply(tf.data.experimental.assert_cardinality(ordered.steps))
    return counted(ready(batches), ordered.position, ordered.steps)


def windows_at_once(spec: Mapping[str, Any], batch_size: int) -> int:
    """Returns how many examples are to get their windows together, a divisor of the batch size.

    Only encoded examples can be put together; they must know their sides, and have small features.
    """
    encoded = spec[IMAGE].dtype == tf.string and {"height", "width"} <= set(spec)
    if not (encoded and all(map(_is_small, spec.values()))):
        return 1
    if any(spec[key].shape != shape for key, shape in _SHAPES.items() if key in spec):
        return 1
    sizes = range(1, min(batch_size, _MOST_AT_ONCE) + 1)
    return max(size for size in sizes if batch_size % size == 0)


def _is_small(feature: Any) -> bool:
    """Whether a feature is a tensor of known shape, neither empty nor large."""
    if not isinstance(feature, tf.TensorSpec) or feature.dtype not in _DTYPES:
        return False
    if not feature.shape.is_fully_defined():
        return False
    # TensorFlow 2.21 dies of taking a batch of empty tensors apart.
    return 1 <= feature.shape.num_elements() <= _MOST_NUMBERS


def _with_windows(pipeline: Any, items: Any, options: BatchOptions, at_once: int) -> Any:
    """Returns (example, mark) for each, with their windows if some are found together."""
    if at_once == 1:
        return items

    def windows(examples: Example, mark: tuple[Any, Any]) -> tuple[Example, Any]:
        return pipeline.on_encoded(examples, options.seed, mark[0]), mark

    some = items.batch(at_once, drop_remainder=True)
    return some.map(plain(windows), min(2, options.calls), deterministic=True).unbatch()


def ready(batches: Any) -> Any:
    """Returns the batches in their order, a few of them made ahead."""
    options = tf.data.Options()
    options.deterministic = True
    # A buffer behind the counter would count batches that nobody has taken yet.
    options.experimental_optimization.inject_prefetch = False
    return batches.with_options(options).prefetch(_READY_BATCHES)


def counted(batches: Any, position: Any, steps: int) -> Any:
    """Moves the position on when the last batch is taken.

    Args:
        batches: The batches of an epoch.
        position: Variable with the number of steps done before; None for nothing to count.
        steps: Number of batches.
    """
    if position is None:
        return batches

    def count(index: Any, batch: Any) -> Any:
        # Only a whole iteration counts: Keras takes one batch of a first one to learn the shapes.
        last = tf.cast(index == steps - 1, tf.int64)
        with tf.control_dependencies([position.assign_add(last * steps)]):
            return tf.nest.map_structure(tf.identity, batch)

    batches = batches.enumerate().map(plain(count))
    # The data set refers to the variable without owning it.
    batches.position = position
    return batches


def _order(pipeline: Any, ds: Any, options: BatchOptions, count: int) -> Order:
    shuffle = pipeline.random if options.shuffle is None else options.shuffle
    return Order(
        seed=options.seed,
        buffer=buffer_records(ds, count, options.shuffle_buffer_bytes) if shuffle else 0,
        epochs=options.epochs,
        start_step=options.start_step,
        start_example=options.start_example,
        repeatable=not (shuffle or pipeline.random or hasattr(ds, "at_epoch")),
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


def _check_single(spec: Mapping[str, Any]) -> None:
    """Raises ValueError if the examples are batched already, or their images not as decoded."""
    image = spec[IMAGE]
    if not isinstance(image, tf.TensorSpec):
        raise ValueError(f"batches() takes images as tensors. Received: image as {image}")
    channels = image.shape[-1] if image.shape.rank else None
    if image.dtype != tf.string and (image.dtype != tf.uint8 or channels not in (None, 3)):
        raise ValueError(
            "batches() takes images encoded, or decoded as uint8[height, width, 3], 0..255; "
            "convert others before. "
            f"Received: image of dtype {image.dtype.name} and shape {image.shape}"
        )
    if image.dtype == tf.string and image.shape.rank not in (None, 0):
        raise ValueError(
            "batches() makes the batches itself: leave out batch() on the data set. "
            f"Received: image of shape {image.shape}"
        )


def buffer_records(ds: Any, count: int, num_bytes: int) -> int:
    """Returns how many records to mix so that their images take about ``num_bytes``."""
    unread = mapped_pixels.unread(ds)
    if unread is None:
        sizes = [_bytes(example[IMAGE]) for example in ds.take(_PEEK)]
    else:
        sizes = [unread.stored_bytes(example) for example in unread.places.take(_PEEK)]
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

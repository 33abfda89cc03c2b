"""Keras batches of the examples that a sampler names, read in the order of the sampler."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfood_tfds.sampling.index_samplers import IndexSampler, Indices
from kfood_tfds.sampling.resampling import marked_ids

_PARALLEL_READS = 2
_OPTIONS = ("labels", "sample_weights", "with_ids", "num_parallel_calls")


def dataset(
    source: Any,
    sampler: IndexSampler,
    pipeline: Any,
    batch_size: int,
    *,
    seed: int = 0,
    epochs: int | None = None,
    drop_remainder: bool = False,
    start_step: int = 0,
    **more: Any,
) -> Any:
    """Returns a ``tf.data.Dataset`` of the batches of the sampled examples, for ``model.fit``.

    The counterpart of ``Pipeline.batches`` with a sampler in place of the stream's order: records
    are read ahead in parallel, and decoded in TensorFlow. Without ``epochs`` each iteration is an
    epoch. An example that comes several times in an epoch gets ``#2``, ``#3`` and so on behind its
    id from the second time on, so that random ops treat it differently each time.

    Args:
        source: What ``random_access`` gives; its form of images and its transform don't matter.
        sampler: Gives the indices, from its epoch on; of several workers, each its ``shard``.
        pipeline: A ``postprocessing.Pipeline``.
        batch_size: Examples in a batch.
        seed: Keys the pipeline's random draws; the sampler has its own.
        epochs: Number of epochs of one long data set.
        drop_remainder: Whether to leave out an epoch's last batch if it is not full.
        start_step: Steps to leave out at the beginning, to go on where a training stopped.
        **more: ``labels``, ``sample_weights``, ``with_ids`` and ``num_parallel_calls`` as in
            ``Pipeline.batches``.

    Raises:
        ValueError: If an argument is invalid.
    """
    from kfood_tfds.postprocessing.options import BatchOptions

    unknown = sorted(set(more) - set(_OPTIONS))
    if unknown:
        raise ValueError(f"dataset() also takes {_OPTIONS}. Received: {', '.join(unknown)}")
    check_sampler(sampler, len(source))
    main = (seed, False, epochs, drop_remainder, start_step)
    return _batches(source, sampler, pipeline, BatchOptions(batch_size, *main, **more))


def _batches(source: Any, sampler: IndexSampler, pipeline: Any, options: Any) -> Any:
    import tensorflow as tf

    from kfood_tfds.postprocessing import batching, outputs
    from kfood_tfds.postprocessing.plan import Plan

    weights = outputs.weights(options.sample_weights)
    columns = outputs.Columns(options.labels, weights, options.with_ids)
    plan = Plan(len(sampler), options.batch_size, options.drop_remainder)
    maker = _BatchMaker(source, sampler, pipeline, columns, options, plan.steps)
    if options.epochs is not None:
        total = options.epochs * plan.steps
        if options.start_step >= total:
            raise ValueError(
                f"start_step must be below the number of steps of all epochs, {total}. "
                f"Received: start_step={options.start_step}"
            )
        return batching.ready(maker(tf.data.Dataset.range(options.start_step, total)))
    with tf.device("CPU:0"):
        done = tf.Variable(options.start_step, dtype=tf.int64, trainable=False)
    steps = tf.data.Dataset.range(plan.steps).map(lambda step: step + done.read_value())
    return batching.counted(batching.ready(maker(steps)), done, plan.steps)


class _BatchMaker:
    """Makes batches of the numbers of steps, counted from the first epoch on."""

    def __init__(
        self,
        source: Any,
        sampler: IndexSampler,
        pipeline: Any,
        columns: Any,
        options: Any,
        steps: int,
    ) -> None:
        self._features = source.info.features
        self._reader = _Reader(source, sampler, steps, options.batch_size)
        self._pipeline, self._columns, self._options = pipeline, columns, options
        self._even = options.drop_remainder or not len(sampler) % options.batch_size

    def __call__(self, steps: Any) -> Any:
        import tensorflow as tf

        number = int(steps.cardinality())
        records = steps.map(self._read, _PARALLEL_READS, deterministic=True).unbatch()
        examples = records.map(self._one, self._options.calls, deterministic=True)
        batches = examples.batch(self._options.batch_size, drop_remainder=True).map(self._together)
        return batches.apply(tf.data.experimental.assert_cardinality(number))

    def _read(self, step: Any) -> tuple[Any, ...]:
        import tensorflow as tf

        kinds = (tf.string, tf.int64, tf.int64, tf.bool)
        columns = tf.numpy_function(self._reader, [step], kinds, stateful=False)
        size = self._options.batch_size
        return tuple(tf.ensure_shape(column, [size]) for column in columns)

    def _one(self, record: Any, place: Any, epoch: Any, counts: Any) -> tuple[Any, Any]:
        from kfood_tfds.postprocessing import SKIP_DECODING

        example = self._features.deserialize_example(record, decoders=SKIP_DECODING)
        example["id"] = marked_ids(example["id"], place)
        kept = self._columns.before(example)
        done = self._pipeline.on_example(example, self._options.seed, epoch)
        return self._columns.kept(done | kept, self._pipeline.batch_ops), counts

    def _together(self, batch: dict[str, Any], counts: Any) -> tuple[Any, ...]:
        import tensorflow as tf

        if not self._even:
            number = tf.reduce_sum(tf.cast(counts, tf.int32))
            batch = {key: value[:number] for key, value in batch.items()}
        made: tuple[Any, ...] = self._columns.after(self._pipeline.on_batch(batch))
        return made


def check_sampler(sampler: Any, length: int) -> None:
    """Raises ValueError unless the sampler gives single indices of so many examples.

    Args:
        sampler: Must stand at the beginning of an epoch.
        length: Examples of the source.
    """
    if not isinstance(sampler, IndexSampler):
        raise ValueError(
            "The sampler must be one of kfood_tfds.sampling that gives single indices; batch_size "
            f"makes the batches. Received: sampler of type {type(sampler).__name__}"
        )
    if sampler.position:
        raise ValueError(
            "The sampler must stand at the beginning of an epoch; start_step goes on inside one. "
            f"Received: sampler at position {sampler.position}"
        )
    if not len(sampler) or not length:
        raise ValueError(
            "There must be at least one example and one index. "
            f"Received: {length} examples, {len(sampler)} indices"
        )
    highest = int(sampler.indices(sampler.epoch).max())
    if highest >= length:
        raise ValueError(
            "The sampler must be made for this source, or one as long; its indices go beyond the "
            f"last example. Received: {length} examples, index {highest}"
        )


def epoch_places(indices: Indices) -> Indices:
    """Returns how often each index came before in the same epoch, int64[n]."""
    order = np.argsort(indices, kind="stable")
    ranked = indices[order]
    first = np.searchsorted(ranked, ranked, side="left")
    places = np.empty(len(indices), np.int64)
    places[order] = np.arange(len(indices)) - first
    return places


class _Reader:
    """Reads the records of a step: an epoch's last ones filled up to a whole batch."""

    def __init__(self, source: Any, sampler: IndexSampler, steps: int, size: int) -> None:
        self._source, self._steps, self._size = source, steps, size
        self._first_epoch = sampler.epoch
        # Two, because reading ahead begins the next epoch before the last one is done.
        self._order = functools.lru_cache(maxsize=2)(
            lambda epoch: (indices := sampler.indices(epoch), epoch_places(indices))
        )

    def __call__(
        self, step: NDArray[np.int64]
    ) -> tuple[NDArray[Any], Indices, Indices, NDArray[np.bool_]]:
        """Returns records, earlier occurrences, epoch and whether each one counts, [size] each."""
        passed, place = divmod(int(step), self._steps)
        indices, places = self._order(self._first_epoch + passed)
        positions = np.arange(place * self._size, (place + 1) * self._size)
        counts = positions < len(indices)
        positions = positions[counts]
        fill = self._size - len(positions)
        records = self._source.records(indices[positions])
        filled = np.asarray([*records, *[records[-1]] * fill], dtype=object)
        epochs = np.full(self._size, self._first_epoch + passed, np.int64)
        return filled, np.pad(places[positions], (0, fill)), epochs, counts

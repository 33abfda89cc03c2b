"""Keras batches of the examples that a sampler names, read in the order of the sampler."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfood_tfds.sampling.index_samplers import IndexSampler, Indices, Sequential
from kfood_tfds.sampling.resampling import marked_ids

_READ_AT_ONCE = 32
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
    order = batching.Order(
        seed=options.seed,
        buffer=0,
        epochs=options.epochs,
        start_step=options.start_step,
        repeatable=isinstance(sampler, Sequential) and not pipeline.random,
    )
    reader = _Reader(source, sampler)
    finisher = _Finisher(source.info.features, reader, pipeline, columns, options, sampler.epoch)
    # The order is one of positions; what stands there depends on the epoch.
    positions = tf.data.Dataset.range(len(sampler))
    return batching.ordered_batches(positions, plan, order, finisher)


@dataclasses.dataclass(frozen=True)
class _Finisher:
    """Makes batches of positions in an epoch's order."""

    features: Any
    reader: _Reader
    pipeline: Any
    columns: Any
    options: Any
    first_epoch: int

    def __call__(self, positions: Any, epoch: Any, size: int) -> Any:
        import tensorflow as tf

        number = tf.cast(epoch, tf.int64) + self.first_epoch
        calls = self.options.num_parallel_calls or tf.data.AUTOTUNE
        # Without a remainder the batch axis has a static size too.
        even = self.options.drop_remainder or not self.reader.length % self.options.batch_size
        records = positions.batch(_READ_AT_ONCE).map(
            lambda chunk: self._read(chunk, number), _PARALLEL_READS, deterministic=True
        )
        examples = records.unbatch().map(
            lambda record, place: self._one(record, place, number), calls, deterministic=True
        )
        batches = examples.batch(size, drop_remainder=even)
        return batches.map(lambda batch: self.columns.after(self.pipeline.on_batch(batch)))

    def _read(self, chunk: Any, epoch: Any) -> tuple[Any, Any]:
        import tensorflow as tf

        kinds = (tf.string, tf.int64)
        records, places = tf.numpy_function(self.reader, [epoch, chunk], kinds, stateful=False)
        return tf.ensure_shape(records, [None]), tf.ensure_shape(places, [None])

    def _one(self, record: Any, place: Any, epoch: Any) -> dict[str, Any]:
        from kfood_tfds.postprocessing import SKIP_DECODING

        example = self.features.deserialize_example(record, decoders=SKIP_DECODING)
        example["id"] = marked_ids(example["id"], place)
        kept = self.columns.before(example)
        done = self.pipeline.on_example(example, self.options.seed, epoch)
        made: dict[str, Any] = self.columns.kept(done | kept, self.pipeline.batch_ops)
        return made


def check_sampler(sampler: Any, length: int) -> None:
    """Raises ValueError unless the sampler gives single indices from an epoch's beginning."""
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


def epoch_places(indices: Indices) -> Indices:
    """Returns how often each index came before in the same epoch, int64[n]."""
    order = np.argsort(indices, kind="stable")
    ranked = indices[order]
    first = np.searchsorted(ranked, ranked, side="left")
    places = np.empty(len(indices), np.int64)
    places[order] = np.arange(len(indices)) - first
    return places


class _Reader:
    """Reads the records at positions of an epoch's order."""

    def __init__(self, source: Any, sampler: IndexSampler) -> None:
        self.length = len(sampler)
        self._source = source
        # Two, because reading ahead begins the next epoch before the last one is done.
        self._order = functools.lru_cache(maxsize=2)(
            lambda epoch: (indices := sampler.indices(epoch), epoch_places(indices))
        )

    def __call__(
        self, epoch: NDArray[np.int64], positions: NDArray[np.int64]
    ) -> tuple[NDArray[Any], Indices]:
        indices, places = self._order(int(epoch))
        records = self._source.records(indices[positions])
        return np.asarray(records, dtype=object), places[positions]

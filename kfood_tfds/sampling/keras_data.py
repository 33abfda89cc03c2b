"""Keras batches of the examples that a sampler names, read in the order of the sampler."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfood_tfds.sampling.index_samplers import IndexSampler, Indices, Sequential
from kfood_tfds.sampling.resampling import marked_ids

_READ_AT_ONCE = 32
_PARALLEL_READS = 2


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
    num_parallel_calls: int | None = None,
    labels: str = "class",
    sample_weights: str | Sequence[float] | Mapping[int, float] | None = None,
    with_ids: bool = False,
) -> Any:
    """Returns a ``tf.data.Dataset`` of the batches of the sampled examples, for ``model.fit``.

    The counterpart of ``Pipeline.batches`` with a sampler in place of the stream's order: records
    are read ahead in parallel, and decoded in TensorFlow. Without ``epochs`` each iteration is an
    epoch. An example that comes several times in an epoch gets ``#2``, ``#3`` and so on behind its
    id from the second time on, so that random ops treat it differently each time.

    Args:
        source: What ``random_access`` gives; its form of images and its transform don't matter.
        sampler: Gives the indices, from its epoch on; one rank's ``shard`` of it for several
            workers.
        pipeline: A ``postprocessing.Pipeline``.
        batch_size: Examples in a batch.
        seed: Keys the pipeline's random draws; the sampler has its own.
        epochs: Number of epochs of one long data set.
        drop_remainder: Whether to leave out an epoch's last batch if it is not full.
        start_step: Steps to leave out at the beginning, to go on where a training stopped.
        num_parallel_calls: Images to work on at a time; by default TensorFlow tunes it.
        labels: ``"class"``, ``"category"`` or ``"both"``, as in ``Pipeline.batches``.
        sample_weights: A key of the examples, or weights by label; a third item in each batch.
        with_ids: Whether each batch ends with the ids.

    Raises:
        ValueError: If an argument is invalid.
    """
    import tensorflow as tf

    from kfood_tfds.postprocessing import SKIP_DECODING, batching, outputs
    from kfood_tfds.postprocessing.plan import Plan

    check_sampler(sampler, len(source))
    columns = outputs.Columns(labels, outputs.weights(sample_weights), with_ids)
    plan = Plan(len(sampler), batch_size, drop_remainder)
    repeatable = isinstance(sampler, Sequential) and not pipeline.random
    order = batching.Order(seed, 0, epochs, start_step, repeatable=repeatable)
    features, reader = source.info.features, _Reader(source, sampler)
    first_epoch = sampler.epoch
    calls = num_parallel_calls or tf.data.AUTOTUNE
    static = drop_remainder or not len(sampler) % batch_size

    def finish(positions: Any, epoch: Any, size: int) -> Any:
        number = tf.cast(epoch, tf.int64) + first_epoch

        def read(chunk: Any) -> Any:
            records, places = tf.numpy_function(
                reader, [number, chunk], (tf.string, tf.int64), stateful=False
            )
            return tf.ensure_shape(records, [None]), tf.ensure_shape(places, [None])

        def one(record: Any, place: Any) -> Any:
            example = features.deserialize_example(record, decoders=SKIP_DECODING)
            example["id"] = marked_ids(example["id"], place)
            kept = columns.before(example)
            made = pipeline.on_example(example, seed, number)
            return columns.kept(made | kept, pipeline.batch_ops)

        chunks = positions.batch(_READ_AT_ONCE)
        records = chunks.map(read, num_parallel_calls=_PARALLEL_READS, deterministic=True)
        examples = records.unbatch().map(one, num_parallel_calls=calls, deterministic=True)
        batches = examples.batch(size, drop_remainder=static)
        return batches.map(lambda batch: columns.after(pipeline.on_batch(batch)))

    positions = tf.data.Dataset.range(len(sampler))
    return batching.ordered_batches(positions, plan, order, finish)


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

"""tf.data batches of sampled examples."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from kfood_tfds import postprocessing as pp
from kfood_tfds.sampling.index_samplers import Batch, Random, Sequential, Subset
from kfood_tfds.sampling.keras_data import dataset, epoch_places
from kfood_tfds.sampling.weighted_samplers import Balanced

EVAL = pp.eval_pipeline(8, scale="none", num_classes=3)
TRAIN = pp.train_pipeline(8, scale="none", one_hot=False)


def _ids(batches: Any) -> list[list[str]]:
    return [[name.decode() for name in batch[-1].numpy()] for batch in batches]


def _expected(source: Any, indices: Any, size: int) -> list[list[str]]:
    ids = [source[int(index)]["id"] for index in indices]
    return [ids[start : start + size] for start in range(0, len(ids), size)]


@pytest.mark.slow
def test_batches_are_the_sampled_examples_in_their_order(source: Any) -> None:
    sampler = Random(source, seed=5)
    batches = dataset(source, sampler, EVAL, 16, with_ids=True)
    assert int(batches.cardinality()) == 3
    for epoch in range(2):
        seen = list(batches)
        assert _ids(seen) == _expected(source, sampler.indices(epoch), 16)
        for images, labels, ids in seen:
            numbers = [int(name.decode()[3:6]) for name in ids.numpy()]
            np.testing.assert_array_equal(images.numpy()[:, 4, 4, 0], numbers)
            np.testing.assert_array_equal(
                np.argmax(labels, axis=1), np.minimum(np.array(numbers) // 10, 2)
            )


@pytest.mark.slow
def test_pixels_equal_those_of_the_streaming_pipeline(source: Any) -> None:
    import tensorflow as tf

    examples = [source.encoded()[index] for index in range(len(source))]
    columns = {name: [example[name] for example in examples] for name in examples[0]}
    stream = tf.data.Dataset.from_tensor_slices(columns)
    streamed = TRAIN.batches(stream, 40, seed=3, shuffle=False, epochs=2)
    sampled = dataset(source, Sequential(source), TRAIN, 40, seed=3, epochs=2)
    for (images, labels), (others, other_labels) in zip(streamed, sampled, strict=True):
        np.testing.assert_array_equal(images, others)
        np.testing.assert_array_equal(labels, other_labels)


@pytest.mark.slow
def test_resumes_at_a_step(source: Any) -> None:
    sampler = Random(source)
    whole = _ids(dataset(source, sampler, TRAIN, 16, epochs=3, with_ids=True))
    rest = _ids(dataset(source, sampler, TRAIN, 16, epochs=3, start_step=4, with_ids=True))
    assert rest == whole[4:]
    later = _ids(dataset(source, sampler.at(1), TRAIN, 16, epochs=2, with_ids=True))
    assert later == whole[3:]


def test_shards_together_hold_every_example_once(source: Any) -> None:
    names: Counter[str] = Counter()
    for rank in range(3):
        sampler = Random(source).shard(rank, 3)
        for ids in _ids(dataset(source, sampler, TRAIN, 5, epochs=1, with_ids=True)):
            names.update(ids)
    assert names == Counter(example["id"] for example in source)


def test_repeated_examples_have_ids_of_their_own(source: Any) -> None:
    sampler = Subset([7, 7, 7, 7], shuffle=False)
    pipeline = pp.train_pipeline(8, crop="random", scale="none")
    images, _, ids = next(iter(dataset(source, sampler, pipeline, 4, with_ids=True)))
    name = source[7]["id"]
    assert [item.decode() for item in ids.numpy()] == [name, f"{name}#2", f"{name}#3", f"{name}#4"]
    assert images.shape == (4, 8, 8, 3)


def test_epoch_places_count_earlier_occurrences() -> None:
    assert epoch_places(np.array([5, 3, 5, 5, 3])).tolist() == [0, 0, 1, 2, 1]
    assert epoch_places(np.zeros(0, np.int64)).tolist() == []


def test_balanced_sampling_trains_a_model(source: Any) -> None:
    import keras

    batches = dataset(source, Balanced(source), EVAL, 13, drop_remainder=True)
    assert batches.element_spec[0].shape == (13, 8, 8, 3)
    shares = sum(labels.numpy().sum(axis=0) for _, labels in batches)
    assert shares.tolist() == [13, 13, 13]
    model = keras.Sequential(
        [keras.layers.GlobalAveragePooling2D(), keras.layers.Dense(3, activation="softmax")]
    )
    model.compile(loss="categorical_crossentropy")
    assert len(model.fit(batches, epochs=2, verbose=0).history["loss"]) == 2


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda source: [1, 2], "sampler of type list"),
        (lambda source: Batch(Random(source), 4), "batch_size makes the batches"),
        (lambda source: Random(source).at(0, 3), "start_step"),
        (lambda source: Subset([]), "0 indices"),
        (lambda source: Random(41), "made for this source.*40 examples, index 40"),
        (lambda source: Subset([3, 99]), "40 examples, index 99"),
    ],
)
def test_unfit_samplers_are_refused(source: Any, make: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        dataset(source, make(source), EVAL, 4)


def test_arguments_of_a_stream_are_refused(source: Any) -> None:
    with pytest.raises(ValueError, match="Received: num_input_pipelines"):
        dataset(source, Random(source), EVAL, 4, num_input_pipelines=2)
    with pytest.raises(ValueError, match="seed=-1"):
        dataset(source, Random(source), EVAL, 4, seed=-1)

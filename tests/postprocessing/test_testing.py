"""The drawn examples for users' tests, and mock_data with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_datasets as tfds

from kfood_tfds import Builder
from kfood_tfds import postprocessing as pp


def test_features_are_those_of_the_builder(tmp_path: Any) -> None:
    features = Builder(config="full", data_dir=tmp_path).info.features
    spec = pp.fake_examples(1, encoded=False).element_spec
    wanted = features.get_tensor_spec()
    assert set(spec) == set(wanted)
    for key, value in wanted.items():
        assert spec[key].dtype == value.dtype and value.shape.is_compatible_with(spec[key].shape)


def test_examples_are_possible() -> None:
    ds = pp.fake_examples(40)
    assert int(ds.cardinality()) == 40
    boxed = 0
    for index, example in enumerate(ds):
        shape = tf.io.decode_jpeg(example["image"]).shape
        assert shape == (int(example["height"]), int(example["width"]), 3)
        low, high = example["crop"][:2].numpy(), example["crop"][2:].numpy()
        assert (low >= 0).all() and (high <= 1).all() and (low < high).all()
        annotated = int(example["crop_status"]) == 0
        assert annotated == (list(low) + list(high) != [0, 0, 1, 1])
        boxed += annotated
        assert int(example["label"]) == index
    assert 4 <= boxed <= 20


def test_the_same_whenever_they_are_drawn() -> None:
    first, second = (list(pp.fake_examples(3)) for _ in range(2))
    assert [a["image"].numpy() for a in first] == [b["image"].numpy() for b in second]
    other = list(pp.fake_examples(3, seed=1))
    assert first[0]["image"].numpy() != other[0]["image"].numpy()


@pytest.mark.parametrize("decoders", [None, pp.SKIP_DECODING])
def test_mock_data(decoders: Any, tmp_path: Any) -> None:
    with tfds.testing.mock_data(as_dataset_fn=pp.as_dataset_fn(num_examples=6)):
        ds = tfds.load("kfood", split="train", decoders=decoders, data_dir=str(tmp_path))
    images, labels = next(iter(pp.train_pipeline(16).batches(ds, 6)))
    assert images.shape == (6, 16, 16, 3)
    np.testing.assert_array_equal(np.sort(np.argmax(labels, axis=1)), np.arange(6))


def test_mock_data_as_pairs(tmp_path: Any) -> None:
    with tfds.testing.mock_data(as_dataset_fn=pp.as_dataset_fn(num_examples=2)):
        ds = tfds.load("kfood", split="train", as_supervised=True, data_dir=str(tmp_path))
    image, label = next(iter(ds))
    assert image.dtype == tf.uint8 and int(label) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_examples": 0}, "num_examples=0"),
        ({"num_examples": 1, "sides": (4, 9)}, "sides=4"),
        ({"num_examples": 1, "sides": (20, 9)}, "sides=9"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"Received: {message}"):
        pp.fake_examples(**arguments)

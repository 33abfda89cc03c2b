"""Columns of a batch: labels of both kinds, weights, ids."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from kfood_tfds import postprocessing as pp

HARD = pp.eval_pipeline(8, one_hot=False)


@pytest.fixture(name="ds", scope="module")
def _ds() -> Any:
    return pp.fake_examples(30, sides=(8, 16))


def only(batches: Any) -> Any:
    (batch,) = batches
    return batch


@pytest.mark.slow
def test_labels_of_each_kind(ds: Any) -> None:
    labels, categories = np.arange(30), np.arange(30) % 27
    np.testing.assert_array_equal(only(HARD.batches(ds, 30))[1], labels)
    np.testing.assert_array_equal(only(HARD.batches(ds, 30, labels="category"))[1], categories)
    both = only(HARD.batches(ds, 30, labels="both"))[1]
    np.testing.assert_array_equal(both["label"], labels)
    np.testing.assert_array_equal(both["category"], categories)


def test_vectors_of_each_kind(ds: Any) -> None:
    both = only(pp.eval_pipeline(8).batches(ds, 30, labels="both"))[1]
    np.testing.assert_array_equal(both["label"], np.eye(150)[np.arange(30)])
    np.testing.assert_array_equal(both["category"], np.eye(27)[np.arange(30) % 27])


@pytest.mark.parametrize("kind", [list, np.asarray, lambda values: dict(enumerate(values))])
@pytest.mark.parametrize("one_hot", [True, False])
def test_weights_by_label(ds: Any, kind: Any, one_hot: bool) -> None:
    given = kind([0.5 * label for label in range(150)])
    pipeline = pp.eval_pipeline(8, one_hot=one_hot)
    images, _, weights = only(pipeline.batches(ds, 30, sample_weights=given))
    assert images.shape == (30, 8, 8, 3)
    np.testing.assert_allclose(weights, 0.5 * np.arange(30))


def test_weights_from_a_feature_and_ids(ds: Any) -> None:
    batch = only(HARD.batches(ds, 30, sample_weights="group", with_ids=True))
    np.testing.assert_array_equal(batch[2], np.arange(30))
    names = [name.decode() for name in batch[3].numpy()]
    assert names[7] == "구이/갈비구이/Img_007_0007.jpg"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": "food"}, "labels='food'"),
        ({"with_ids": 1}, "with_ids=1"),
        ({"sample_weights": [1.0, -1.0]}, "sample_weights=-1.0"),
        ({"sample_weights": [float("nan")]}, "sample_weights=nan"),
        ({"sample_weights": {0: 1.0, 2: 1.0}}, r"labels \[0, 2\]"),
        ({"sample_weights": "weight"}, "example with keys"),
    ],
)
def test_bad_options_are_refused(ds: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"Received: .*{message}"):
        HARD.batches(ds, 4, **options)


def test_weights_for_too_few_classes_are_named() -> None:
    ds = pp.fake_examples(4, sides=(16, 24))
    batches = pp.eval_pipeline(8).batches(ds, 4, sample_weights=[1.0, 2.0, 3.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="there are 3 for labels.*3"):
        next(iter(batches))


def test_missing_features_are_named(ds: Any) -> None:
    bare = ds.map(lambda example: {key: example[key] for key in ("image", "crop", "label")})
    assert len(list(HARD.batches(bare, 30))) == 1
    with pytest.raises(ValueError, match=r"needs the feature\(s\) category, id"):
        HARD.batches(bare, 30, labels="category", with_ids=True)

"""Scaling and labels against numpy and keras.applications."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from kfood_tfds import postprocessing as pp

RAMP = np.stack([np.arange(256), np.arange(256)[::-1], np.full(256, 77)], -1)
IMAGE = RAMP.reshape(16, 16, 3).astype(np.uint8)


def values(op: Any, image: np.ndarray = IMAGE) -> np.ndarray:
    eager = op({"image": tf.constant(image)})["image"].numpy()
    ds = tf.data.Dataset.from_tensors({"image": image}).map(op)
    np.testing.assert_array_equal(next(iter(ds))["image"], eager)
    assert eager.dtype == np.float32
    return eager


@pytest.mark.parametrize("kind", [np.uint8, np.float32])
def test_scales(kind: Any) -> None:
    image, exact = IMAGE.astype(kind), IMAGE.astype(np.float64)
    mean, std = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
    expected = {
        "unit": exact / 255,
        "symmetric": exact / 127.5 - 1,
        "imagenet": (exact / 255 - mean) / std,
        "caffe": exact[..., ::-1] - [103.939, 116.779, 123.68],
        "none": exact,
    }
    for mode, result in expected.items():
        np.testing.assert_allclose(values(pp.Scale(mode), image), result, rtol=1e-5, atol=1e-5)


def test_ends_of_the_ranges_are_exact() -> None:
    unit, symmetric = values(pp.Scale("unit")), values(pp.Scale("symmetric"))
    assert unit.min() == 0.0 and unit.max() == 1.0
    assert symmetric.min() == -1.0 and symmetric.max() == 1.0


def test_normalize_from_the_data_sets_own_figures() -> None:
    metadata = {
        "mean": {"train": [0.5, 0.25, 0.125], "test": [0.0, 0.0, 0.0]},
        "std": {"train": [0.5, 0.25, 0.1], "test": [1.0, 1.0, 1.0]},
    }
    op = pp.Normalize.from_info(SimpleNamespace(metadata=metadata))
    assert op == pp.Normalize((0.5, 0.25, 0.125), (0.5, 0.25, 0.1))
    expected = (IMAGE / 255 - [0.5, 0.25, 0.125]) / [0.5, 0.25, 0.1]
    np.testing.assert_allclose(values(op), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("metadata", [None, {}, {"mean": {"train": [0, 0, 0]}}])
def test_figures_that_are_not_there(metadata: Any) -> None:
    with pytest.raises(ValueError, match="no channel statistics for split 'train'"):
        pp.Normalize.from_info(SimpleNamespace(metadata=metadata))


@pytest.mark.parametrize("label", [3, [3, 0, 149]])
def test_one_hot_with_smoothing(label: Any) -> None:
    result = pp.OneHot(150, smoothing=0.3)({"label": tf.constant(label)})["label"].numpy()
    assert result.shape == (*np.shape(label), 150) and result.dtype == np.float32
    expected = np.full((*np.shape(label), 150), 0.3 / 150)
    np.put_along_axis(expected, np.expand_dims(label, -1), 0.7 + 0.3 / 150, -1)
    np.testing.assert_allclose(result, expected, rtol=1e-6)
    np.testing.assert_allclose(result.sum(-1), 1.0, rtol=1e-5)


def test_one_hot_of_both_labels() -> None:
    op = pp.OneHot(5, num_categories=3)
    result = op({"label": tf.constant(4), "category": tf.constant(0)})
    assert result["label"].numpy().tolist() == [0, 0, 0, 0, 1]
    assert result["category"].numpy().tolist() == [1, 0, 0]


@pytest.mark.parametrize(
    ("example", "message"),
    [
        ({"label": 5, "category": 0}, "num_classes=5 must be above every label. Received:.*5"),
        ({"label": -1, "category": 0}, "num_classes=5 must be above every label"),
        ({"label": [0, 7], "category": [0, 0]}, "num_classes=5 must be above every label"),
        ({"label": 4, "category": 3}, "num_categories=3 must be above every category"),
    ],
)
def test_labels_without_a_place_are_refused(example: dict[str, Any], message: str) -> None:
    op = pp.OneHot(5, num_categories=3)
    given = {key: tf.constant(value, tf.int64) for key, value in example.items()}
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        op(dict(given))
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        next(iter(tf.data.Dataset.from_tensors(given).map(op)))


def test_whole_numbers_normalize_as_floats_do() -> None:
    pixels = {"image": tf.constant([[[0, 51, 255]]], tf.uint8)}
    result = pp.Normalize((0, 1, 0), (1, 1, 1))(pixels)["image"].numpy()
    np.testing.assert_allclose(result, [[[0, -0.8, 1]]], atol=1e-6)


def test_smoothing_is_for_training_only() -> None:
    assert pp.OneHot(7, 0.1).evaluation() == (pp.OneHot(7),)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pp.Scale("0..1"), "mode='0..1'"),
        (lambda: pp.Normalize((0.5, 0.5), (1.0, 1.0, 1.0)), "mean"),
        (lambda: pp.Normalize((0.5, 0.5, 0.5), (1.0, 0.0, 1.0)), "std=0.0"),
        (lambda: pp.Normalize((0.5, 0.5, 128.0), (1.0, 1.0, 1.0)), "mean=128.0"),
        (lambda: pp.OneHot(0), "num_classes=0"),
        (lambda: pp.OneHot(150, smoothing=1.5), "smoothing=1.5"),
    ],
)
def test_bad_fields_are_refused_at_construction(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"Received: {message}"):
        make()

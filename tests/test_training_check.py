"""The check before a training, on batches made in memory."""

from __future__ import annotations

import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image

from kfood_tfds.configuration import Experiment
from kfood_tfds.fonts import LabelFont
from kfood_tfds.training_check import check_training, describe


def _experiment(labels: list[Any], batch_size: int = 4, **config: Any) -> Experiment:
    images = np.zeros((len(labels), 8, 8, 3), np.float32)
    ds = tf.data.Dataset.from_tensor_slices((images, np.array(labels))).batch(batch_size)
    feature = types.SimpleNamespace(num_classes=3, names=["갈비구이", "만두", "my dish"])
    info = types.SimpleNamespace(features={"label": feature})
    return Experiment(ds, ds.take(2), info, None, None, {"epochs": None, **config}, "config")


def test_check_reports_shapes_steps_shares_and_draws(tmp_path: Path) -> None:
    out = tmp_path / "first.png"
    check = check_training(_experiment([0] * 6 + [1] * 2), out, font=LabelFont(None))
    assert check.shapes == (((4, 8, 8, 3), "float32"), ((4,), "int64"))
    assert (check.steps, check.validation_steps, check.examples) == (2, 2, 8)
    assert check.shares == {0: 0.75, 1: 0.25}
    assert check.names == {0: "갈비구이", 1: "만두"}
    assert check.images_per_second > 0
    with Image.open(check.picture) as image:
        assert image.width > 4 * 192


def test_one_hot_labels_and_classes_of_ones_own(tmp_path: Path) -> None:
    labels = np.eye(3, dtype=np.float32)[[2, 2, 1, 1]]
    experiment = _experiment(list(labels), batch_size=4)
    check = check_training(experiment, tmp_path / "first.png", font=LabelFont(None))
    assert check.shares == {1: 0.5, 2: 0.5}
    assert check.images_per_second == 0


def test_reads_no_more_than_asked_for_and_than_an_epoch(tmp_path: Path) -> None:
    out = tmp_path / "first.png"
    few = check_training(_experiment([0] * 40), out, batches=3, font=LabelFont(None))
    assert (few.examples, few.steps) == (12, 10)
    epoch = check_training(_experiment([0] * 40, epochs=5), out, font=LabelFont(None))
    assert (epoch.examples, epoch.steps) == (8, 2)
    with pytest.raises(ValueError, match="batches=0"):
        check_training(_experiment([0]), out, batches=0)


def test_description_says_it_in_words(tmp_path: Path) -> None:
    check = check_training(_experiment([0, 0, 0, 1]), tmp_path / "a.png", font=LabelFont(None))
    text = describe(check)
    assert "float32[4, 8, 8, 3]" in text
    assert "0 갈비구이 75.00%" in text
    assert str(tmp_path / "a.png") in text

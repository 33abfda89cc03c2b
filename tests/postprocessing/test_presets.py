"""The ready-made pipelines: what they consist of and what they refuse."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from kfood_tfds import postprocessing as pp

CROPS = ("random", "resized", "central", "window", "none")


def test_default_training_pipeline() -> None:
    assert pp.train_pipeline(299).ops == (
        pp.CropToBox(),
        pp.RandomSquare(0.9),
        pp.Resize(299),
        pp.RandomFlip(),
        pp.Scale("unit"),
        pp.OneHot(150),
    )


def test_default_evaluation_pipeline() -> None:
    assert pp.eval_pipeline(299).ops == (
        pp.CropToBox(),
        pp.CentralSquare(),
        pp.Resize(299),
        pp.Scale("unit"),
        pp.OneHot(150),
    )


@pytest.mark.parametrize("crop", CROPS)
def test_evaluation_of_the_training_pipeline_is_the_evaluation_pipeline(crop: str) -> None:
    train = pp.train_pipeline(64, crop, smoothing=0.1, augment=(pp.ColorJitter(0.1), pp.MixUp()))
    assert train.evaluation() == pp.eval_pipeline(64, crop)
    assert not pp.eval_pipeline(64, crop).random


@pytest.mark.parametrize(
    ("crop", "scale", "dtype", "form"),
    itertools.product(
        CROPS, ("unit", "symmetric", "imagenet", "none"), ("float32", "uint8"), (None, "JPEG")
    ),
)
def test_every_combination(example: Any, crop: str, scale: str, dtype: str, form: Any) -> None:
    if dtype == "uint8" and scale in ("symmetric", "imagenet"):
        with pytest.raises(ValueError, match="dtype='uint8' leaves the pixels at 0..255"):
            pp.train_pipeline(24, crop, scale=scale, dtype=dtype)
        return
    given = example(40, 50, box=(3, 5, 33, 41), form=form)
    for make in (pp.train_pipeline, pp.eval_pipeline):
        result = make(24, crop, scale=scale, dtype=dtype, one_hot=False)(given)
        image = result["image"].numpy()
        assert image.shape == (24, 24, 3) and image.dtype == np.dtype(dtype)
        high = 1 if dtype == "float32" and scale in ("unit", "symmetric") else 255
        assert image.max() <= high and image.max() > 0.5 * high * (scale != "imagenet")
        assert int(result["label"]) == 3


def test_augmentation_runs_before_scaling_and_batch_ops_last() -> None:
    jitter, mix = pp.ColorJitter(0.2), pp.MixUp()
    names = [type(op).__name__ for op in pp.train_pipeline(32, augment=(mix, jitter)).ops]
    assert names[-5:] == ["RandomFlip", "ColorJitter", "Scale", "OneHot", "MixUp"]


def test_an_op_may_scale() -> None:
    own = pp.Normalize((0.5, 0.5, 0.5), (0.2, 0.2, 0.2))
    assert own in pp.train_pipeline(32, scale=own).ops
    assert pp.Scale("caffe") in pp.eval_pipeline(32, scale=pp.preprocess_for("ResNet50")).ops


@pytest.mark.parametrize("make", [pp.train_pipeline, pp.eval_pipeline])
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"size": 0}, "size=0"),
        ({"size": -1}, "size=-1"),
        ({"size": 29.9}, "size=29.9"),
        ({"size": (32, 32)}, r"size=\(32, 32\)"),
        ({"crop": "middle"}, "crop='middle'"),
        ({"scale": "255"}, "scale='255'"),
        ({"dtype": "float16"}, "dtype='float16'"),
        ({"one_hot": 1}, "one_hot=1"),
        ({"method": "cubic"}, "method='cubic'"),
        ({"num_classes": 0}, "num_classes=0"),
        ({"margin": -1}, "margin=-1"),
    ],
)
def test_bad_arguments_are_refused(make: Any, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"Received: .*{message}"):
        make(**{"size": 32, **fields})


def test_augment_must_be_ops() -> None:
    with pytest.raises(ValueError, match="augment must be a sequence of ops"):
        pp.train_pipeline(32, augment=pp.MixUp())
    with pytest.raises(ValueError, match="augment must be a sequence of ops"):
        pp.train_pipeline(32, augment=("flip",))
    with pytest.raises(ValueError, match="augment must be a sequence of ops"):
        pp.train_pipeline(32, augment=(op for op in [pp.MixUp()]))  # type: ignore[arg-type]

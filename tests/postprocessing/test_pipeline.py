"""The pipeline as a map and as JSON."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from kfood_tfds import postprocessing as pp


@pytest.mark.slow
def test_eager_and_mapped_are_the_same(example: Any) -> None:
    pipeline = pp.train_pipeline(24, augment=(pp.ColorJitter(0.2, 0.2, 0.2, 0.1),))
    for form in (None, "JPEG", "PNG"):
        given = example(40, 50, box=(3, 5, 33, 41), form=form)
        eager = pipeline(given)["image"].numpy()
        mapped = next(iter(tf.data.Dataset.from_tensors(given).map(pipeline)))["image"]
        np.testing.assert_array_equal(mapped, eager)


def test_seed_and_epoch_change_the_draws(example: Any) -> None:
    pipeline, given = pp.train_pipeline(24), example(40, 50)
    images = {
        pipeline(given, seed=seed, epoch=epoch)["image"].numpy().tobytes()
        for seed in (0, 1)
        for epoch in (0, 1)
    }
    assert len(images) == 4


def test_json_and_back() -> None:
    pipeline = pp.train_pipeline(
        64, "resized", scale="imagenet", augment=(pp.RandAugment(), pp.RandomErasing(), pp.CutMix())
    )
    text = pipeline.to_json(indent=2)
    assert json.loads(text)["version"] == 1
    assert pp.Pipeline.from_json(text) == pipeline
    assert hash(pp.Pipeline.from_json(text)) == hash(pipeline)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"version": 2, "ops": []}', "reads pipelines of version 1. Received: version=2"),
        ('{"ops": []}', "keys 'version' and 'ops'"),
        ('{"version": 1, "ops": [], "size": 3}', "keys 'version' and 'ops'"),
        ("[]", "keys 'version' and 'ops'"),
        ('{"version": 1, "ops": {}}', "'ops' must be a list"),
        ('{"version": 1, "ops": [{"op": "Blur"}]}', "Unknown op 'Blur'"),
        ('{"version": 1, "ops": [{"op": "Decode", "fast": 1}]}', "'Decode' has no field.*'fast'"),
        ("{", "Expecting"),
    ],
)
def test_bad_json_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pp.Pipeline.from_json(text)


def test_ops_are_checked() -> None:
    with pytest.raises(ValueError, match="ops must be a tuple of ops"):
        pp.Pipeline([pp.Decode()])
    with pytest.raises(ValueError, match="Resize works on single examples"):
        pp.Pipeline((pp.MixUp(), pp.Resize(32)))
    assert pp.Pipeline((pp.OneHot(), pp.MixUp(), pp.Scale())).batch_ops == (pp.MixUp(), pp.Scale())


def test_ops_on_batches_need_batches(example: Any) -> None:
    with pytest.raises(ValueError, match="MixUp works on batches"):
        pp.train_pipeline(24, augment=(pp.MixUp(),))(example())


@pytest.mark.slow
def test_describe_lists_every_step() -> None:
    pipeline = pp.train_pipeline(24, augment=(pp.MixUp(),))
    text = pipeline.describe(pp.fake_examples(3, sides=(32, 48)))
    lines = text.splitlines()
    steps = [line.split("(")[0] for line in lines[1:-1]]
    assert steps == [
        "CropToBox",
        "RandomSquare",
        "Decode",
        "Resize",
        "RandomFlip",
        "Scale",
        "OneHot",
        "MixUp",
    ]
    assert lines[0].split() == ["step", "ms/image", "image", "after", "it"]
    assert "images/s a core" in lines[-1]
    assert "float32 24x24x3" in lines[5]

"""The pipeline as a map and as JSON."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from kfood_tfds import postprocessing as pp
from kfood_tfds.postprocessing.decoding import WINDOW


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
        ("{", "Expecting.*Received: '{'"),
        ("[" * 100_000, "the JSON that to_json"),
        ('{"version": 1, "ops": [{"op": "Resize", "size": ' + "9" * 5000 + "}]}", "Received: "),
        ('{"version": 1, "ops": [{"op": "CropToBox", "margin": ' + "9" * 400 + "}]}", "margin"),
    ],
)
def test_bad_json_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pp.Pipeline.from_json(text)


def _op_class(name: str, field: str = "value") -> type[pp.Op]:
    return dataclasses.make_dataclass(name, [(field, Any, None)], bases=(pp.Op,), frozen=True)


def test_json_holds_ops_of_ones_own() -> None:
    outer, inner = _op_class("Outer"), _op_class("Inner")
    pipeline = pp.Pipeline((outer((inner(0.5), inner("a"))), pp.Resize(8)))
    extra_ops = (outer, inner, outer)
    assert pp.Pipeline.from_json(pipeline.to_json(), extra_ops) == pipeline


def test_json_refuses_two_ops_of_one_name() -> None:
    ours, mine, other, outer = map(_op_class, ("Resize", "Mine", "Mine", "Outer"))
    words = "rename yours. Received: .*Resize and kfood_tfds.postprocessing.pixels.Resize"
    for ops in [(ours(),), (outer((None, ours())),), (pp.Resize(8), ours())]:
        with pytest.raises(ValueError, match=words):
            pp.Pipeline(ops).to_json()
    with pytest.raises(ValueError, match=words):
        pp.Pipeline.from_json('{"version": 1, "ops": []}', (ours,))
    for ops in [(mine(), other()), (mine(other()),)]:
        with pytest.raises(ValueError, match="Received: .*Mine and .*Mine"):
            pp.Pipeline(ops).to_json()
    with pytest.raises(ValueError, match="Received: .*Mine and .*Mine"):
        pp.Pipeline.from_json('{"version": 1, "ops": []}', (mine, other))


@pytest.mark.parametrize("value", [np.float32(0.5), {"a": 1}, [1, 2], (1, (b"a",)), np.zeros(3)])
def test_json_refuses_fields_that_it_would_not_give_back(value: Any) -> None:
    pipeline = pp.Pipeline((_op_class("Mine")(value),))
    with pytest.raises(ValueError, match="numbers, strings.*Received: Mine.value with .* of type"):
        pipeline.to_json()


def test_json_refuses_a_field_with_the_name_of_its_own_key() -> None:
    with pytest.raises(ValueError, match="rename it. Received: Mine.op"):
        pp.Pipeline((_op_class("Mine", "op")(pp.Resize(8)),)).to_json()


def test_ops_are_checked() -> None:
    with pytest.raises(ValueError, match="ops must be a tuple of ops"):
        pp.Pipeline([pp.Decode()])
    with pytest.raises(ValueError, match="Resize works on single examples"):
        pp.Pipeline((pp.MixUp(), pp.Resize(32)))
    assert pp.Pipeline((pp.OneHot(), pp.MixUp(), pp.Scale())).batch_ops == (pp.MixUp(), pp.Scale())


@pytest.mark.parametrize(
    "op",
    [pp.ColorJitter(0.2), pp.RandAugment(), pp.RandomRotation(), pp.RandomErasing(), pp.CropToBox(),
     pp.Grayscale(0.5), pp.MultiCrop()],
)  # fmt: skip
def test_what_knows_one_image_cannot_follow_several_crops(op: pp.Op) -> None:
    message = f"After MultiCrop.*Received: {type(op).__name__} after MultiCrop"
    with pytest.raises(ValueError, match=message):
        pp.Pipeline((pp.MultiCrop(), pp.Resize(8), op))
    pp.Pipeline((pp.MultiCrop(),))


def test_crops_of_an_image_are_prepared_alike(example: Any) -> None:
    rest = (pp.Resize(8), pp.RandomFlip(), pp.Grayscale(), pp.Scale(), pp.OneHot())
    given = example(40, 50)
    crops = pp.Pipeline((pp.MultiCrop(0.5), *rest))(given)["image"].numpy()
    assert crops.shape == (5, 8, 8, 3)
    windows = pp.MultiCrop(0.5)(dict(given))[WINDOW].numpy()
    for crop, (y, x, height, width) in zip(crops, windows, strict=True):
        cut = given | {"image": given["image"][y : y + height, x : x + width]}
        alone = pp.Pipeline((pp.Decode(), *rest))(cut)["image"]
        np.testing.assert_array_equal(crop, alone)


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


class OneLess(pp.RandomSquare):
    """An op of a user's own, which knows single examples only."""

    def draw(self, example: dict[str, Any], seed: Any) -> dict[str, Any]:
        y, x, height, width = tf.unstack(example[WINDOW], 4)
        return example | {WINDOW: tf.stack([y + 1, x + 1, height - 1, width - 1])}


class Narrower(pp.Resize):
    """An op on pixels that narrows the window before they are decoded."""

    def __call__(self, example: Any, position: int = 0) -> dict[str, Any]:
        y, x, height, width = tf.unstack(example[WINDOW], 4)
        return super().__call__(example | {WINDOW: tf.stack([y, x, height - 1, width])}, position)


class SmallerBox(pp.Op):
    """An op that takes many and leaves the window alone."""

    takes_many = True

    def apply(self, example: dict[str, Any]) -> dict[str, Any]:
        return example | {"crop": example["crop"] * 0.5}


def test_a_feature_may_have_the_name_of_a_key_that_travels() -> None:
    ds = pp.fake_examples(4, sides=(16, 50))
    odd = ds.map(lambda example: example | {"window/jpeg": [1] * 10, "window": "a user's own"})
    pipeline = pp.Pipeline((pp.CropToBox(), OneLess(), pp.Resize(8)))
    for one, other in zip(pipeline.batches(ds, 4), pipeline.batches(odd, 4), strict=True):
        np.testing.assert_array_equal(one[0], other[0])


def test_window_ops_are_the_leading_ones_that_take_many() -> None:
    box, square, resize = pp.CropToBox(), pp.RandomSquare(), pp.Resize(8)
    assert pp.Pipeline((box, square, resize)).window_ops == (box, square)
    assert pp.Pipeline((box, pp.MultiCrop(), resize)).window_ops == (box,)
    assert pp.Pipeline((resize, box)).window_ops == ()
    assert pp.Pipeline(()).window_ops == ()
    assert pp.Pipeline((box, square)).window_ops == (box, square)
    # What a subclass does may differ from what its parent says of itself.
    assert pp.Pipeline((box, OneLess(), resize)).window_ops == (box,)


@pytest.mark.parametrize(
    "ops",
    [
        (pp.CropToBox(), pp.RandomSquare(), pp.Resize(8)),
        (pp.CropToBox(), pp.FixedWindow(17), pp.RandomFlip(), pp.Resize(17)),
        (pp.RandomResizedCrop(), pp.MultiCrop(), pp.Resize(8)),
        (pp.CropToBox(), OneLess(), pp.Resize(8)),
        (pp.CropToBox(), Narrower(8)),
        (SmallerBox(), pp.Resize(8)),
        (SmallerBox(), pp.CropToBox(), pp.Resize(8)),
        (pp.CropToBox(), pp.CentralSquare(), pp.Resize(8), pp.CropToBox(), pp.Resize(5)),
    ],
    ids=str,
)
def test_windows_in_one_go_change_no_pixel(ops: tuple[pp.Op, ...]) -> None:
    pipeline, ds = pp.Pipeline(ops), pp.fake_examples(12, sides=(16, 50))
    epochs = tf.range(12, dtype=tf.int64)
    windows = pipeline.on_encoded(next(iter(ds.batch(12))), 5, epochs)
    for index, example in enumerate(ds):
        own = {key: value[index] for key, value in windows.items()}
        done = pipeline.run_from(len(pipeline.window_ops), own)
        expected = pipeline(example, seed=5, epoch=index)
        assert set(done) == set(expected)
        for key, value in expected.items():
            np.testing.assert_array_equal(done[key], value)

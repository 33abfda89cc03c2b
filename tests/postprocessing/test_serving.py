"""One image for serving equals that of an evaluation batch, bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from kfood_tfds import postprocessing as pp

PIPELINES = {
    "central": pp.eval_pipeline(24),
    "window": pp.eval_pipeline(24, crop="window", scale="symmetric"),
    "whole": pp.eval_pipeline(24, crop="none", scale="imagenet"),
    "cubic": pp.eval_pipeline(24, method="bicubic", antialias=True, scale="none"),
    "eight bits": pp.eval_pipeline(24, dtype="uint8", margin=0.1),
    "training": pp.train_pipeline(24, "resized", augment=(pp.ColorJitter(0.3), pp.MixUp())),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_equals_the_evaluation_batch(name: str) -> None:
    pipeline = PIPELINES[name]
    ds = pp.fake_examples(7, sides=(20, 60))
    batches = pipeline.evaluation().batches(ds, 3)
    images = np.concatenate([images.numpy() for images, _ in batches])
    for example, image in zip(ds, images, strict=True):
        data, box = example["image"].numpy(), example["crop"].numpy()
        np.testing.assert_array_equal(pipeline.preprocess(data, box), image)
        pixels = tf.io.decode_jpeg(data, 3).numpy()
        np.testing.assert_array_equal(pipeline.preprocess(pixels, box), image)


def test_path_bytes_and_array_are_the_same(tmp_path: Path, photo: Any, encode: Any) -> None:
    pipeline = pp.eval_pipeline(24)
    pixels = photo(40, 50)
    data = encode(pixels, "PNG")
    path = tmp_path / "갈비 구이.png"
    path.write_bytes(data)
    expected = pipeline.preprocess(pixels)
    for source in (path, str(path), data):
        np.testing.assert_array_equal(pipeline.preprocess(source), expected)
    # By hand: the middle 40 of 50 columns, then TensorFlow's resizing.
    by_hand = tf.image.resize(pixels[:, 5:45], (24, 24)) / 255
    np.testing.assert_allclose(expected, by_hand, atol=1e-6)


def test_labels_are_not_needed(photo: Any) -> None:
    assert pp.train_pipeline(16, one_hot=True).preprocess(photo(20, 20)).shape == (16, 16, 3)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (np.zeros((4, 4), np.uint8), r"shape \(4, 4\)"),
        (np.zeros((4, 4, 4), np.uint8), r"shape \(4, 4, 4\)"),
        (np.zeros((0, 4, 3), np.uint8), r"shape \(0, 4, 3\)"),
        (np.zeros((4, 4, 3), np.float32), "dtype float32"),
        (3, "int of dtype"),
    ],
)
def test_what_is_no_image_is_refused(source: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pp.eval_pipeline(8).preprocess(source)


def test_missing_file_and_bad_crop(photo: Any) -> None:
    with pytest.raises(
        FileNotFoundError, match="Received: ./nowhere/a.jpg., where there is no file"
    ):
        pp.eval_pipeline(8).preprocess("/nowhere/a.jpg")
    wrong = ((0, 0, 1), (0, 0, 1, 1.1), (-0.1, 0, 1, 1), (0, 0, 1, float("nan")))
    for crop in (*wrong, (0.5, 0, 0.4, 1), (0, 0.5, 1, 0.5)):
        with pytest.raises(ValueError, match="crop must be ymin, xmin, ymax, xmax in 0..1"):
            pp.eval_pipeline(8).preprocess(photo(9, 9), crop)


def test_bytes_and_files_that_cannot_be_decoded_are_named(
    tmp_path: Path, photo: Any, encode: Any
) -> None:
    pipeline, rule = pp.eval_pipeline(8), "whole JPEG, PNG or BMP image"
    page = tmp_path / "page.jpg"
    page.write_bytes(b"<html>")
    for source, shown in (
        (b"", "0 bytes"),
        (b"<html>", "6 bytes"),
        (encode(photo(40, 40))[:200], "200 bytes"),
        (page, "page.jpg"),
        (str(tmp_path), "a folder"),
    ):
        with pytest.raises(ValueError, match=rf"{rule}.*Received: .*{shown}"):
            pipeline.preprocess(source)

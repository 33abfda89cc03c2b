"""Pillow's enhancements, byte for byte."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image, ImageEnhance, ImageOps

from kfood_tfds.postprocessing import enhance


def pictures() -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    noise = rng.integers(0, 256, (37, 41, 3))
    dull = rng.normal(120, 9, (64, 50, 3)).clip(90, 150)
    y, x = np.mgrid[:48, :64]
    ramps = np.stack([y * 5, x * 4, (x + y) // 2], -1)
    flat = np.full((20, 30, 3), (7, 130, 255))
    sparse = rng.choice([3, 90, 200], (30, 30, 3), p=[0.98, 0.01, 0.01])
    return [image.astype(np.uint8) for image in (noise, dull, ramps, flat, sparse)]


@pytest.mark.parametrize("image", pictures())
@pytest.mark.parametrize("factor", [0.0, 0.01, 0.37, 1.0, 1.63, 1.99])
@pytest.mark.parametrize(
    ("ours", "pillows"),
    [
        (enhance.brightness, ImageEnhance.Brightness),
        (enhance.color, ImageEnhance.Color),
        (enhance.contrast, ImageEnhance.Contrast),
        (enhance.sharpness, ImageEnhance.Sharpness),
    ],
)
def test_enhancements(image, factor, ours, pillows):
    expected = np.array(pillows(Image.fromarray(image)).enhance(factor))
    actual = ours(tf.constant(image), tf.constant(factor))
    assert actual.dtype == tf.uint8
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("shape", [(1, 9, 3), (9, 1, 3), (2, 5, 3), (1, 1, 3)])
def test_sharpness_leaves_images_without_inner_pixels(shape):
    pixels = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
    np.testing.assert_array_equal(enhance.sharpness(tf.constant(pixels), 0.3), pixels)
    unknown = tf.function(
        enhance.sharpness,
        input_signature=[tf.TensorSpec([None, None, 3], tf.uint8), tf.TensorSpec([])],
    )
    np.testing.assert_array_equal(unknown(pixels, tf.constant(0.3)), pixels)


@pytest.mark.parametrize("image", pictures())
def test_tables(image):
    picture, tensor = Image.fromarray(image), tf.constant(image)
    np.testing.assert_array_equal(enhance.autocontrast(tensor), ImageOps.autocontrast(picture))
    np.testing.assert_array_equal(enhance.equalize(tensor), ImageOps.equalize(picture))
    for threshold in (0, 1, 128, 255, 256):
        expected = ImageOps.solarize(picture, threshold)
        np.testing.assert_array_equal(enhance.solarize(tensor, float(threshold)), expected)
    for bits in range(1, 9):
        expected = ImageOps.posterize(picture, bits)
        np.testing.assert_array_equal(enhance.posterize(tensor, bits), expected)


def test_sizes_unknown_beforehand():
    image = pictures()[0]
    for function in (enhance.sharpness, enhance.equalize, enhance.autocontrast, enhance.contrast):
        arguments = () if function in (enhance.equalize, enhance.autocontrast) else (1.5,)
        traced = tf.function(
            lambda x, f=function, a=arguments: f(x, *a),
            input_signature=[tf.TensorSpec((None, None, 3), tf.uint8)],
        )
        np.testing.assert_array_equal(traced(image), function(tf.constant(image), *arguments))

"""Decoding inside a window equals decoding all and cutting, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from kfood_tfds.postprocessing import decoding
from kfood_tfds.postprocessing.decoding import WINDOW


def whole(data: bytes) -> np.ndarray:
    return tf.io.decode_image(data, 3, expand_animations=False).numpy()


@pytest.mark.parametrize("subsampling", [0, 1, 2])
@pytest.mark.parametrize("progressive", [False, True])
def test_jpeg_window_equals_the_part_of_the_whole(
    photo: Any, encode: Any, subsampling: int, progressive: bool
) -> None:
    rng = np.random.default_rng(subsampling)
    for seed in range(12):
        height, width = (int(side) for side in rng.integers(20, 120, 2))
        pixels = photo(height, width, seed)
        data = encode(pixels, subsampling=subsampling, progressive=progressive, quality=75)
        full = whole(data)
        for _ in range(8):
            y, x = int(rng.integers(0, height)), int(rng.integers(0, width))
            h, w = int(rng.integers(1, height - y + 1)), int(rng.integers(1, width - x + 1))
            part = decoding.decode(data, tf.constant([y, x, h, w]), tf.constant([height, width]))
            np.testing.assert_array_equal(part, full[y : y + h, x : x + w])


@pytest.mark.parametrize("subsampling", [1, 2])
def test_every_window_of_a_row(photo: Any, encode: Any, subsampling: int) -> None:
    for width in (3, 6, 37):
        data = encode(photo(4, width), subsampling=subsampling)
        full = whole(data)
        decode = tf.function(decoding.decode)
        for x in range(width):
            for w in range(1, width - x + 1):
                part = decode(tf.constant(data), tf.constant([0, x, 4, w]), tf.constant([4, width]))
                np.testing.assert_array_equal(part, full[:, x : x + w])


@pytest.mark.parametrize("form", ["PNG", "BMP"])
@pytest.mark.parametrize("width", [33, 34, 35, 36])
def test_lossless_window_is_the_part_drawn(photo: Any, encode: Any, form: str, width: int) -> None:
    pixels = photo(21, width)
    data = encode(pixels, form)
    part = decoding.decode(data, tf.constant([3, 5, 11, 17]), tf.constant([21, width]))
    np.testing.assert_array_equal(part, pixels[3:14, 5:22])
    np.testing.assert_array_equal(decoding.decode(data), pixels)


def test_grey_jpeg_becomes_rgb(photo: Any, encode: Any) -> None:
    grey = photo(20, 30)[..., 0]
    image = decoding.decode(encode(grey))
    assert image.shape == (20, 30, 3)
    np.testing.assert_array_equal(image[..., 0], image[..., 2])


def test_palette_bmp_is_refused_rather_than_misread(photo: Any) -> None:
    import io

    from PIL import Image

    stream = io.BytesIO()
    Image.fromarray(photo(20, 20)).convert("P").save(stream, "BMP")
    with pytest.raises(tf.errors.InvalidArgumentError, match="24 bits per pixel"):
        decoding.decode(stream.getvalue())


@pytest.mark.parametrize("form", [None, "JPEG", "PNG", "BMP"])
def test_size_without_the_features_comes_from_the_header(example: Any, form: str | None) -> None:
    given = example(37, 91, form=form)
    del given["height"], given["width"]
    assert decoding.image_size(given).numpy().tolist() == [37, 91]


@pytest.mark.parametrize("form", ["JPEG", "PNG", "BMP"])
def test_decoded_and_encoded_examples_give_the_same(example: Any, form: str) -> None:
    encoded = example(50, 70, form=form) | {WINDOW: tf.constant([4, 9, 30, 40])}
    pixels = encoded | {"image": tf.constant(whole(encoded["image"].numpy()))}
    first, second = decoding.decoded(encoded), decoding.decoded(pixels)
    np.testing.assert_array_equal(first["image"], second["image"])
    assert WINDOW not in first and first["image"].shape == (30, 40, 3)


def test_crop_follows_the_cut(example: Any) -> None:
    given = example(60, 80, box=(12, 20, 36, 60)) | {WINDOW: tf.constant([10, 20, 40, 20])}
    # Rows 12..36 of the image are rows 2..26 of 40; columns 20..60 fill all 20.
    np.testing.assert_allclose(
        decoding.decoded(given)["crop"], [2 / 40, 0.0, 26 / 40, 1.0], atol=1e-6
    )


def test_given_example_stays_as_it_is(example: Any) -> None:
    given = example(form="JPEG") | {WINDOW: tf.constant([0, 0, 5, 5])}
    decoding.decoded(given)
    assert given["image"].dtype == tf.string and WINDOW in given

"""Encoding and shrinking, against TensorFlow and figures worked out by hand."""

from __future__ import annotations

import io
import struct

import numpy as np
import pytest
import tensorflow as tf
from pictures import (
    picture,
    pillow_view,
    saved,
)
from PIL import Image

from kfood_tfds.raw.crop_area import CropBox
from kfood_tfds.raw.errors import KfoodError
from kfood_tfds.raw.images import encode_bmp, encode_jpeg, prepare_image, shrink_image


def test_side_that_no_jpeg_can_have_becomes_png() -> None:
    strip = np.zeros((4, 65_501, 3), np.uint8)
    with pytest.raises(KfoodError, match="65500"):
        encode_jpeg(strip)
    data = saved(Image.fromarray(strip), "JPEG2000")
    prepared = prepare_image(data)
    assert prepared.stored_as == "PNG"
    np.testing.assert_array_equal(prepared.pixels, strip)


def test_bmp_decodes_alike_everywhere() -> None:
    for height, width in ((5, 7), (1, 1), (48, 72), (3, 4)):
        pixels = picture(height, width)
        data = encode_bmp(pixels)
        assert struct.unpack_from("<H", data, 28) == (24,)
        np.testing.assert_array_equal(tf.io.decode_bmp(data).numpy(), pixels)
        np.testing.assert_array_equal(pillow_view(data), pixels)


def test_jpeg_quality_is_kept_to() -> None:
    wanted = saved(Image.fromarray(picture()), "JPEG", quality=90)
    with Image.open(io.BytesIO(encode_jpeg(picture()))) as image:
        found = image.quantization
    with Image.open(io.BytesIO(wanted)) as image:
        assert found == image.quantization
    assert len(encode_jpeg(picture(), 50)) < len(encode_jpeg(picture(), 95))


def test_shrinking_scales_image_and_box() -> None:
    pixels = np.zeros((600, 900, 3), np.uint8)
    box = CropBox(100, 300, 500, 700)
    pixels[box.ymin : box.ymax, box.xmin : box.xmax] = 255
    small, small_box = shrink_image(pixels, box, 100)
    assert small.shape == (150, 225, 3)
    assert small_box == CropBox(25, 75, 125, 175)
    inside = small[small_box.ymin : small_box.ymax, small_box.xmin : small_box.xmax]
    assert inside.mean() > 250
    assert (small.sum() - inside.sum(dtype=int)) / 3 / 255 < 0.01 * small.shape[0] * small.shape[1]


def test_shrinking_is_antialiased() -> None:
    stripes = np.zeros((400, 400, 3), np.uint8)
    stripes[:, ::2] = 255
    small, _ = shrink_image(stripes, CropBox(0, 0, 400, 400), 100)
    assert np.abs(small.astype(int) - 127).max() <= 12


@pytest.mark.parametrize("side", [400, 401, 5000])
def test_nothing_is_enlarged(side: int) -> None:
    pixels = picture(600, 500)
    box = CropBox(10, 20, 410, 480)
    small, small_box = shrink_image(pixels, box, side)
    assert small is pixels and small_box == box


def test_shrinking_keeps_thin_images_and_boxes_alive() -> None:
    small, box = shrink_image(picture(3, 2000), CropBox(0, 0, 3, 2000), 1)
    assert small.shape == (1, 667, 3)
    assert box == CropBox(0, 0, 1, 667)
    small, box = shrink_image(picture(900, 900), CropBox(899, 0, 900, 900), 1)
    assert small.shape == (900, 900, 3) and box == CropBox(899, 0, 900, 900)
    with pytest.raises(KfoodError, match="Received: 0"):
        shrink_image(picture(), CropBox(0, 0, 9, 9), 0)

"""Windows out of mapped files equal the same part of the decoded image."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from kfood_tfds import postprocessing as pp
from kfood_tfds.postprocessing import decoding
from kfood_tfds.postprocessing.decoding import READER, WINDOW
from kfood_tfds.postprocessing.mapped_pixels import MappedPixels, place_of, row_bytes

HEADER = 54
# Every remainder of a row's bytes that has to be filled up to four, and the smallest images.
SIZES = ((5, 4), (7, 5), (6, 6), (1, 7), (9, 1), (1, 1), (40, 33))


def _picture(number: int) -> np.ndarray:
    return np.random.default_rng(number).integers(0, 256, (*SIZES[number], 3), dtype=np.uint8)


@pytest.fixture(name="mapped", scope="module")
def _mapped(tmp_path_factory: pytest.TempPathFactory) -> tuple[MappedPixels, list[bytes]]:
    """Two files with pictures at odd positions, and the place of each picture."""
    folder = tmp_path_factory.mktemp("mapped")
    paths, places = [folder / "사진-0", folder / "사진-1"], []
    for file, path in enumerate(paths):
        data = b"x" * (file * 3 + 1)
        for number in range(file, len(SIZES), 2):
            stream = io.BytesIO()
            Image.fromarray(_picture(number)).save(stream, "BMP")
            places.append((number, place_of(file, len(data) + HEADER)))
            data += stream.getvalue() + b"y" * number
        path.write_bytes(data)
    pixels = MappedPixels.of([str(path) for path in paths])
    return pixels, [place for _, place in sorted(places)]


def _window_of(size: tuple[int, int], shares: tuple[float, ...]) -> list[int]:
    """Returns y, x, height, width inside an image, from four shares in 0..1."""
    low = [int(share * (side - 1)) for share, side in zip(shares, size, strict=False)]
    room = [side - first for side, first in zip(size, low, strict=True)]
    return [*low, *(max(1, round(share * r)) for share, r in zip(shares[2:], room, strict=True))]


@given(
    number=st.integers(0, len(SIZES) - 1), shares=st.tuples(*[st.floats(0, 1) for _ in range(4)])
)
def test_windows_are_parts_of_the_picture(
    mapped: tuple[MappedPixels, list[bytes]], number: int, shares: tuple[float, ...]
) -> None:
    pixels, places = mapped
    y, x, height, width = window = _window_of(SIZES[number], shares)
    found = pixels(tf.constant(places[number]), tf.constant(window), tf.constant(SIZES[number]))
    expected = _picture(number)[y : y + height, x : x + width]
    np.testing.assert_array_equal(found, expected)


def test_whole_pictures_inside_tf_data(mapped: tuple[MappedPixels, list[bytes]]) -> None:
    pixels, places = mapped
    ds = tf.data.Dataset.from_tensor_slices((places, tf.constant(SIZES)))
    found = list(ds.map(lambda place, size: pixels(place, None, size), 4))
    assert len(found) == len(SIZES)
    for number, image in enumerate(found):
        np.testing.assert_array_equal(image, _picture(number))


def test_ops_find_the_pixels(mapped: tuple[MappedPixels, list[bytes]], example: Any) -> None:
    pixels, places = mapped
    number = len(SIZES) - 1
    height, width = SIZES[number]
    box = tf.constant([0.25, 0.0, 0.75, 1.0])
    common = {"height": tf.constant(height), "width": tf.constant(width), "crop": box}
    place = {**example(), **common, "image": tf.constant(places[number]), READER: pixels}
    image = {**example(), **common, "image": tf.constant(_picture(number))}
    for ops in ((pp.CropToBox(), pp.Decode()), (pp.Resize(8),), (pp.MultiCrop(0.5), pp.Resize(9))):
        found, expected = (pp.Pipeline(ops)(given) for given in (place, image))
        assert found.keys() == expected.keys()
        for key, value in expected.items():
            np.testing.assert_array_equal(found[key], value)
    window = tf.constant([2, 3, 10, 20])
    found = decoding.decoded({**place, WINDOW: window})
    assert READER not in found
    # The box in pixels is 10..30 by 0..33; in the window's frame it begins at row 8 of 10.
    np.testing.assert_allclose(found["crop"], [0.8, 0.0, 1.0, 1.0])


def test_rows_are_filled_up_to_four_bytes() -> None:
    assert [row_bytes(width) for width in (1, 2, 3, 4, 5)] == [4, 8, 12, 12, 16]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nothing-here"):
        MappedPixels.of([str(tmp_path / "nothing-here")])

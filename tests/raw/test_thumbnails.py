"""Tests of kfood_tfds.raw.thumbnails."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from kfood_tfds.raw.errors import KfoodError
from kfood_tfds.raw.thumbnails import thumbnail


def test_whole_blocks_are_averaged_exactly() -> None:
    cells = np.random.default_rng(0).integers(0, 256, (32, 32, 1), dtype=np.uint8)
    pixels = np.repeat(np.repeat(cells, 8, axis=0), 5, axis=1).repeat(3, axis=2)
    np.testing.assert_array_equal(thumbnail(pixels), cells[..., 0])


def test_columns_are_averaged_by_area() -> None:
    # 48 columns make 1.5 a cell: 0,90,90 | 0,90,90 ... gives (0 + 45) / 1.5 and (45 + 90) / 1.5.
    row = np.tile(np.array([0, 90, 90], np.uint8), 16)
    pixels = np.broadcast_to(row[None, :, None], (32, 48, 3))
    np.testing.assert_array_equal(thumbnail(np.ascontiguousarray(pixels))[5, :4], [30, 90, 30, 90])


@pytest.mark.parametrize(
    ("colour", "luma"),
    [((255, 0, 0), 77), ((0, 255, 0), 149), ((0, 0, 255), 29), ((255, 255, 255), 255)],
)
def test_grey_is_luma(colour: tuple[int, int, int], luma: int) -> None:
    pixels = np.full((40, 50, 3), colour, np.uint8)
    assert set(thumbnail(pixels).ravel().tolist()) == {luma}


def test_close_to_the_full_average_of_a_picture() -> None:
    rng = np.random.default_rng(3)
    coarse = Image.fromarray(rng.integers(0, 256, (30, 40, 3), dtype=np.uint8))
    picture = coarse.resize((640, 480), Image.Resampling.BICUBIC)
    expected = np.asarray(picture.convert("L").resize((32, 32), Image.Resampling.BOX), int)
    assert np.abs(thumbnail(np.asarray(picture)).astype(int) - expected).max() <= 4


@settings(max_examples=30)
@given(st.integers(1, 70), st.integers(1, 70), st.integers(0, 255))
def test_any_size_gives_the_same_shape_and_keeps_a_flat_grey(
    height: int, width: int, level: int
) -> None:
    found = thumbnail(np.full((height, width, 3), level, np.uint8))
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found, np.full((32, 32), level))


def test_views_and_their_copies_agree() -> None:
    pixels = np.random.default_rng(1).integers(0, 256, (90, 120, 3), dtype=np.uint8)
    view = pixels[::-1, ::-1]
    np.testing.assert_array_equal(thumbnail(view), thumbnail(view.copy()))


@pytest.mark.parametrize(
    "pixels",
    [
        np.zeros((4, 4), np.uint8),
        np.zeros((4, 4, 4), np.uint8),
        np.zeros((0, 4, 3), np.uint8),
        np.zeros((4, 4, 3), np.float32),
    ],
)
def test_other_arrays_are_refused(pixels: np.ndarray) -> None:
    with pytest.raises(KfoodError, match=r"uint8\[height, width, 3\]"):
        thumbnail(pixels)

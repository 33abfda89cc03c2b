"""Channel sums against numpy over the concatenated pixels."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image

from kfood_tfds.raw.channel_sums import (
    ChannelSums,
    ChannelSumsError,
    merge_sums,
    sampled_sums,
)


def _images(seed: int, count: int) -> list[NDArray[np.uint8]]:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 12, (count, 2))
    return [rng.integers(0, 256, (h, w, 3), dtype=np.uint8) for h, w in sizes]


def _expected(images: list[NDArray[np.uint8]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    pixels = np.concatenate([image.reshape(-1, 3) for image in images]) / 255.0
    return pixels.mean(axis=0), pixels.std(axis=0)


@given(st.integers(0, 2**31), st.integers(1, 9), st.integers(0, 9))
@settings(max_examples=40)
def test_merged_parts_equal_numpy_over_all_pixels(seed: int, count: int, cut: int) -> None:
    images = _images(seed, count)
    parts = [ChannelSums(), ChannelSums()]
    for index, image in enumerate(images):
        parts[index >= cut] = parts[index >= cut].add(image)
    merged = merge_sums(parts)
    mean, std = _expected(images)
    np.testing.assert_allclose(merged.mean, mean, rtol=0, atol=1e-12)
    np.testing.assert_allclose(merged.std, std, rtol=0, atol=1e-12)
    assert merged.count == sum(image.shape[0] * image.shape[1] for image in images)
    assert merged.images == count


def test_order_changes_no_bit() -> None:
    images = _images(3, 20)
    forward, backward = ChannelSums(), ChannelSums()
    for image, other in zip(images, reversed(images), strict=True):
        forward, backward = forward.add(image), backward.add(other)
    assert forward == backward


def test_by_hand() -> None:
    sums = ChannelSums().add(np.array([[[0, 255, 10], [255, 255, 20]]], np.uint8))
    assert sums.totals == (255, 510, 30)
    assert sums.squares == (65025, 130050, 500)
    assert sums.mean == (0.5, 1.0, 15 / 255)
    assert sums.std == (0.5, 0.0, 5 / 255)


def test_pooled_deviation_is_not_the_mean_of_deviations() -> None:
    sums = ChannelSums().add(np.zeros((2, 2, 3), np.uint8)).add(np.full((2, 2, 3), 255, np.uint8))
    assert sums.std == (0.5, 0.5, 0.5)


def test_batches_and_views_count_as_their_images() -> None:
    stack = np.stack([np.full((4, 6, 3), value, np.uint8) for value in (1, 9)])
    one_by_one = ChannelSums().add(stack[0, 1:3, ::2]).add(stack[1, 1:3, ::2])
    assert ChannelSums().add(stack[:, 1:3, ::2]) == one_by_one
    assert one_by_one.images == 2


def test_large_sums_stay_exact() -> None:
    huge = ChannelSums(10**18, (255 * 10**18,) * 3, (65025 * 10**18,) * 3, 1)
    assert huge.add(np.full((1, 1, 3), 255, np.uint8)).std == (0.0, 0.0, 0.0)


def test_pickles() -> None:
    sums = ChannelSums().add(np.zeros((2, 2, 3), np.uint8))
    assert pickle.loads(pickle.dumps(sums)) == sums


@pytest.mark.parametrize(
    "pixels",
    [
        np.zeros((2, 2, 3), np.float32),
        np.zeros((2, 2), np.uint8),
        np.zeros((2, 2, 4), np.uint8),
        np.zeros((2, 3), np.uint8),
    ],
)
def test_other_pixels_are_refused(pixels: NDArray[np.uint8]) -> None:
    with pytest.raises(ChannelSumsError, match=r"uint8\[height, width, 3\].*Received"):
        ChannelSums().add(pixels)


@pytest.mark.parametrize("figure", ["mean", "std"])
def test_no_pixels_have_no_figures(figure: str) -> None:
    with pytest.raises(ChannelSumsError, match="No pixels"):
        getattr(ChannelSums(), figure)


@pytest.mark.parametrize(
    ("height", "rows"),
    [(1, range(1)), (256, range(256)), (257, range(2, 257, 5)), (640, range(5, 640, 10))],
)
def test_sampled_sums_take_every_kth_row_times_k(height: int, rows: range) -> None:
    image = np.random.default_rng(height).integers(0, 256, (height, 7, 3), dtype=np.uint8)
    step = rows.step
    chosen = image[list(rows)].astype(np.int64)
    found = sampled_sums(image)
    assert found.count == step * len(rows) * 7
    assert found.totals == tuple((step * chosen.sum((0, 1))).tolist())
    assert found.squares == tuple((step * (chosen**2).sum((0, 1))).tolist())
    assert found.images == 1


def test_sampled_sums_are_close_to_those_of_all_pixels_of_a_picture() -> None:
    coarse = np.random.default_rng(5).integers(0, 256, (9, 12, 3), dtype=np.uint8)
    picture = np.asarray(Image.fromarray(coarse).resize((800, 600), Image.Resampling.BICUBIC))
    whole, sampled = ChannelSums().add(picture), sampled_sums(picture)
    np.testing.assert_allclose(sampled.mean, whole.mean, atol=1e-3)
    np.testing.assert_allclose(sampled.std, whole.std, atol=1e-3)

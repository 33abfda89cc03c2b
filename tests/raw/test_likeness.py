"""Tests of kfood_tfds.raw.likeness."""

from __future__ import annotations

import numpy as np
import pytest

from kfood_tfds.raw import likeness as lk
from kfood_tfds.raw.perceptual_hash import HASH_WINDOWS
from kfood_tfds.raw.thumbnails import thumbnail


def _picture(seed: int, height: int = 240, width: int = 320) -> np.ndarray:
    """A picture with the spectrum of photos, uint8[height, width, 3]."""
    rng = np.random.default_rng(seed)
    radius = np.hypot(np.fft.fftfreq(height)[:, None], np.fft.rfftfreq(width)[None])
    radius[0, 0] = np.inf
    field = np.fft.irfft2(np.fft.rfft2(rng.standard_normal((height, width))) / radius)
    grey = np.clip(128 + 45 * field / field.std(), 0, 255).astype(np.uint8)
    return np.repeat(grey[..., None], 3, axis=2)


def _naive_flat(image: np.ndarray, number: int) -> np.ndarray:
    """Flattened cosine spectrum of a whole thumbnail, straight from the definitions."""
    place = (np.arange(32) + 0.5) / 32
    waves = np.cos(np.pi * np.arange(32)[:, None] * place) * np.sinc(np.arange(32)[:, None] / 64)
    waves[0] *= np.sqrt(0.5)
    grid = waves @ image.astype(float) @ waves.T
    order = sorted(
        ((u, v) for u in range(32) for v in range(32)),
        key=lambda at: (at[0] ** 2 + at[1] ** 2, max(at), at[0]),
    )[1 : number + 1]
    values = np.array([grid[u, v] * np.hypot(u, v) for u, v in order])
    flat = np.sign(values) * np.sqrt(np.abs(values))
    unit: np.ndarray = flat / np.linalg.norm(flat)
    return unit


def _one(images: np.ndarray, enough: float = -1.0) -> float:
    return float(lk.likeness(images, np.array([0]), np.array([1]), enough)[0])


def test_same_picture_is_one() -> None:
    image = thumbnail(_picture(0))
    assert _one(np.stack([image, image])) == pytest.approx(1, abs=1e-3)
    assert _one(np.stack([image, image[:, ::-1]])) == pytest.approx(1, abs=1e-3)


def test_first_look_is_the_correlation_of_flattened_thumbnails() -> None:
    images = np.stack([thumbnail(_picture(seed)) for seed in range(4)])
    images[1] = images[0] // 2 + images[1] // 2
    spectra = lk.window_spectra(images)
    assert spectra.shape == (len(HASH_WINDOWS), 4, 64)
    pairs = np.array([(a, b) for a in range(4) for b in range(4)])
    flat = np.stack([_naive_flat(image, 64) for image in images])
    turned = np.stack([_naive_flat(image[:, ::-1], 64) for image in images])
    expected = (flat @ flat.T).ravel()
    np.testing.assert_allclose(lk.first_look(spectra, 0, 0, pairs), expected, atol=2e-3)
    mirrored = (turned @ flat.T).ravel()
    np.testing.assert_allclose(lk.first_look(spectra, 0, 1, pairs), mirrored, atol=2e-3)


def test_never_below_the_correlation_of_the_whole() -> None:
    base = thumbnail(_picture(0)).astype(float)
    rng = np.random.default_rng(1)
    for depth in (5, 15, 30):
        other = np.clip(base + rng.normal(0, depth, base.shape), 0, 255).astype(np.uint8)
        images = np.stack([base.astype(np.uint8), other])
        whole = float(_naive_flat(images[0], 190) @ _naive_flat(images[1], 190))
        assert _one(images) >= whole - 3e-3


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize(
    ("top", "left", "low", "right"),
    [
        (0.05, 0.05, 0.05, 0.05),
        (0.0, 0.0, 0.05, 0.05),
        (0.05, 0.0, 0.0, 0.05),
        (0.1, 0.1, 0.0, 0.0),
        (0.025, 0.0, 0.075, 0.05),
        (0.0, 0.1, 0.0, 0.0),
    ],
)
def test_crops_are_found_whichever_image_is_cropped(
    top: float, left: float, low: float, right: float, mirrored: bool
) -> None:
    picture = _picture(5)
    height, width = picture.shape[:2]
    part = picture[
        round(top * height) : round((1 - low) * height),
        round(left * width) : round((1 - right) * width),
    ]
    if mirrored:
        part = part[:, ::-1]
    images = np.stack([thumbnail(picture), thumbnail(part)])
    assert _one(images) > 0.97
    assert _one(images[::-1]) > 0.97


@pytest.mark.parametrize("mirrored", [False, True])
def test_shifts_are_found_where_neither_image_holds_the_other(mirrored: bool) -> None:
    picture = _picture(6, 240, 320)
    one, other = picture[:228, :304], picture[12:, 16:]
    if mirrored:
        other = other[:, ::-1]
    assert _one(np.stack([thumbnail(one), thumbnail(other)])) > 0.93


def test_unrelated_pictures_are_unlike() -> None:
    images = np.stack([thumbnail(_picture(seed)) for seed in range(12)])
    first, second = np.triu_indices(12, 1)
    assert lk.likeness(images, first, second, -1.0).max() < 0.6


def test_pairs_do_not_depend_on_their_company(monkeypatch: pytest.MonkeyPatch) -> None:
    images = np.stack([thumbnail(_picture(seed)) for seed in range(5)])
    images[1] = thumbnail(_picture(0)[12:, 16:])
    first, second = np.triu_indices(5, 1)
    together = lk.likeness(images, first, second, 0.5)
    monkeypatch.setattr(lk, "_CHUNK_PAIRS", 1)
    np.testing.assert_array_equal(lk.likeness(images, first, second, 0.5), together)
    assert lk.likeness(images, first[:0], second[:0], 0.5).shape == (0,)


def test_coarse_fit_is_kept_where_it_is_not_enough() -> None:
    images = np.stack([thumbnail(_picture(seed)) for seed in range(2)])
    assert _one(images, enough=0.99) != _one(images, enough=-1.0)


def test_flatten_keeps_signs_and_leaves_nothing_as_nothing() -> None:
    values = np.zeros((2, 64))
    values[0, 3], values[0, 7] = 4.0, -9.0
    found = lk.flatten(values)
    assert not found[1].any()
    assert (found[0, 3] > 0, found[0, 7] < 0) == (True, True)
    assert np.linalg.norm(found[0]) == pytest.approx(2048, rel=1e-3)

"""Tests of kfood_tfds.raw.perceptual_hash."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kfood_tfds.raw import perceptual_hash as ph


def _noise(number: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (number, 32, 32), dtype=np.uint8)


def _naive(image: np.ndarray, down: ph.Window, across: ph.Window) -> np.ndarray:
    """Cosine coefficients [16, 16] by sampling each pixel at many points."""
    fine = 500

    def rows(window: ph.Window) -> np.ndarray:
        start, end = window
        points = (np.arange(32 * fine) + 0.5) / (32 * fine)
        inside = (points >= start) & (points < end)
        place = (points - start) / (end - start)
        waves = np.cos(np.pi * np.arange(16)[:, None] * place) * inside
        found: np.ndarray = waves.reshape(16, 32, fine).mean(axis=2) / 32 / (end - start)
        return found

    grid: np.ndarray = rows(down) @ image.astype(float) @ rows(across).T
    return grid


@pytest.mark.parametrize("windows", ph.HASH_WINDOWS)
def test_coefficients_agree_with_sampled_cosines(windows: tuple[ph.Window, ph.Window]) -> None:
    image = _noise(1)[0]
    rows, columns = ph.lowest_frequencies(190)
    expected = _naive(image, *windows)[rows, columns] * 2.0**40
    found = ph.coefficients(image[None], windows, 190)[0]
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-3 * np.abs(expected).max())


def test_lowest_frequencies_come_by_their_distance_from_the_mean() -> None:
    rows, columns = ph.lowest_frequencies(64)
    assert (0, 0) not in set(zip(rows.tolist(), columns.tolist(), strict=True))
    assert sorted(zip(rows[:3].tolist(), columns[:3].tolist(), strict=True)) == [
        (0, 1),
        (1, 0),
        (1, 1),
    ]
    distance = rows**2 + columns**2
    assert (np.diff(distance) >= 0).all()
    assert len(set(zip(rows.tolist(), columns.tolist(), strict=True))) == 64


def test_mirrored_hash_is_the_hash_of_the_mirrored_thumbnail() -> None:
    images = _noise(20)
    found = ph.hash_thumbnails(images)
    turned = ph.hash_thumbnails(images[:, :, ::-1])
    np.testing.assert_array_equal(found[0, 1], turned[0, 0])
    # The window at the upper left, mirrored, is the one at the upper right of the mirror image.
    left = ph.HASH_WINDOWS.index(((0.0, 0.95), (0.0, 0.95)))
    right = ph.HASH_WINDOWS.index(((0.0, 0.95), (0.05, 1.0)))
    differing = np.bitwise_count(found[left, 1] ^ turned[right, 0])
    assert differing.max() <= 1  # 0.95 and 1 - 0.05 are different floats


@given(st.integers(0, 40), st.floats(0.2, 0.8))
@settings(max_examples=25)
def test_brightness_and_contrast_hardly_touch_the_hash(lift: int, contrast: float) -> None:
    images = _noise(5)
    changed = np.rint(images * contrast + lift).astype(np.uint8)
    before, after = ph.hash_thumbnails(images)[0, 0], ph.hash_thumbnails(changed)[0, 0]
    assert np.bitwise_count(before ^ after).max() <= 3


def test_pack_signs_puts_column_k_into_bit_k() -> None:
    values = -np.ones((3, 64))
    values[0, 5] = values[1, 63] = 1
    values[2, 1] = 0
    assert ph.pack_signs(values).tolist() == [1 << 5, 1 << 63, 0]


def test_bands_sample_every_bit_equally_often() -> None:
    used = [bit for band in range(ph.BANDS) for bit in ph.band_bits(band)]
    assert sorted(used) == sorted(list(range(64)) * (ph.BANDS * ph.BAND_BITS // 64))
    assert len({ph.band_bits(band) for band in range(ph.BANDS)}) == ph.BANDS
    for band in range(ph.BANDS):
        assert int(ph.band_mask(band)) == sum(1 << bit for bit in ph.band_bits(band))


def _by_hand(hashes: np.ndarray) -> list[tuple[int, int, int, int]]:
    found = []
    samples = [sum(1 << bit for bit in ph.band_bits(band)) for band in range(ph.BANDS)]
    for number in range(hashes.shape[0]):
        for mirrored in range(2):
            for a in range(hashes.shape[2]):
                for b in range(hashes.shape[2]):
                    if a == b or (number == 0 and a > b):
                        continue
                    apart = int(hashes[number, mirrored, a]) ^ int(hashes[0, 0, b])
                    alike = any(not apart & sample for sample in samples)
                    if alike and apart.bit_count() <= ph.MAX_DISTANCE:
                        found.append((number, mirrored, a, b))
    return found


@settings(max_examples=4)
@given(st.integers(0, 10_000))
def test_candidates_are_those_of_the_rule_each_once(seed: int) -> None:
    rng = np.random.default_rng(seed)
    base = rng.integers(0, 2**64, (len(ph.HASH_WINDOWS), 2, 2), dtype=np.uint64)
    hashes = np.repeat(base, 8, axis=2)
    for _ in range(10):  # flips up to ten bits of each hash: some stay near, some don't
        flips = np.uint64(1) << rng.integers(0, 64, hashes.shape, dtype=np.uint64)
        hashes ^= np.where(rng.random(hashes.shape) < 0.6, flips, np.uint64(0))
    hashes[1:] = np.where(rng.random(hashes[1:].shape) < 0.5, hashes[:1], hashes[1:])
    found = [
        (number, mirrored, a, b)
        for number, mirrored, pairs in ph.find_candidates(hashes)
        for a, b in pairs.tolist()
    ]
    assert len(found) == len(set(found))
    assert sorted(found) == _by_hand(hashes)


def test_long_runs_are_matched_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    hashes = np.full((len(ph.HASH_WINDOWS), 2, 40), 12345, np.uint64)
    whole = sum(len(pairs) for *_, pairs in ph.find_candidates(hashes))
    monkeypatch.setattr(ph, "_CHUNK_PAIRS", 100)
    parts = [len(pairs) for *_, pairs in ph.find_candidates(hashes)]
    assert max(parts) <= 100
    # Seen whole: 40 * 39 / 2 pairs, twice; through five windows: 40 * 39 each, twice.
    assert sum(parts) == whole == 2 * 780 + 2 * 5 * 1560


def test_no_images() -> None:
    hashes = ph.hash_thumbnails(np.empty((0, 32, 32), np.uint8))
    assert [len(pairs) for *_, pairs in ph.find_candidates(hashes) if len(pairs)] == []

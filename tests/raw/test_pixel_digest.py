"""Equal pixels have one digest, and nothing else has."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from kfood_tfds.raw.pixel_digest import pixel_digest


def _image(height: int, width: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)


def test_copies_and_views_of_other_strides_have_the_same_digest() -> None:
    image = _image(50, 70)
    padded = np.zeros((60, 90, 3), np.uint8)
    padded[5:55, 10:80] = image
    assert pixel_digest(padded[5:55, 10:80]) == pixel_digest(image) == pixel_digest(image.copy())


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (300, 400), (700, 900)])
def test_one_level_in_one_pixel_changes_the_digest(shape: tuple[int, int]) -> None:
    image = _image(*shape)
    known = {pixel_digest(image)}
    places = np.random.default_rng(1).integers(0, image.size, 40)
    for place in {*places.tolist(), 0, image.size - 1}:
        changed = image.copy()
        changed.reshape(-1)[place] ^= 1
        known.add(pixel_digest(changed))
    assert len(known) == len({*places.tolist(), 0, image.size - 1}) + 1


def test_the_same_bytes_in_another_shape_differ() -> None:
    image = _image(20, 30)
    assert pixel_digest(image) != pixel_digest(image.reshape(30, 20, 3))


def test_moved_pixels_change_the_digest() -> None:
    image = _image(40, 40)
    assert len({pixel_digest(np.roll(image, shift, axis=1)) for shift in range(40)}) == 40


def test_the_digest_is_the_same_on_every_machine() -> None:
    ramp = np.arange(4 * 5 * 3, dtype=np.uint8).reshape(4, 5, 3)

    # By plain integers: two dot products modulo 2**64 with SplitMix64's first keys, then SHA-256.
    def key(n: int) -> int:
        mask = 2**64 - 1
        z = n * 0x9E3779B97F4A7C15 & mask
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & mask
        z = (z ^ z >> 27) * 0x94D049BB133111EB & mask
        return z ^ z >> 31 | 1

    data = bytes(range(60))
    words = [int.from_bytes(data[i : i + 8], "little") for i in range(0, 56, 8)]
    expected = hashlib.sha256(b"(4, 5, 3)" + data[56:])
    for lane in range(2):
        total = sum(w * key(lane * 65536 + i + 1) for i, w in enumerate(words)) % 2**64
        expected.update(total.to_bytes(8, "little"))
    assert pixel_digest(ramp) == expected.hexdigest()

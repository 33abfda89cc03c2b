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

    # By plain integers: 60 bytes are seven words and a rest, less than a row of either folding.
    data = bytes(range(60))
    words = [int.from_bytes(data[i : i + 8], "little") for i in range(0, 56, 8)]
    expected = hashlib.sha256(b"(4, 5, 3)" + data[56:])
    for length in (512, 511):
        for word in [*words, *[0] * (length - len(words))]:
            expected.update(word.to_bytes(8, "little"))
    assert pixel_digest(ramp) == expected.hexdigest()


def test_long_images_are_folded() -> None:
    image = _image(100, 200)
    words = [int(word) for word in image.reshape(-1).view("<u8")]
    expected = hashlib.sha256(b"(100, 200, 3)")
    for length in (512, 511):
        for column in range(length):
            expected.update((sum(words[column::length]) % 2**64).to_bytes(8, "little"))
    assert pixel_digest(image) == expected.hexdigest()


def test_changes_that_cancel_each_other_in_one_folding_are_told() -> None:
    words = np.zeros(6000, "<u8")
    base = pixel_digest(words.view(np.uint8).reshape(100, 160, 3))
    for length in (512, 511):
        changed = words.copy()
        changed[7], changed[7 + length] = 2**63, 2**63
        assert pixel_digest(changed.view(np.uint8).reshape(100, 160, 3)) != base

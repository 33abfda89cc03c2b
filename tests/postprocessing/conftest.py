"""Examples that several tests of postprocessing use."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image


@pytest.fixture(name="photo", scope="session")
def _photo() -> Callable[..., np.ndarray]:
    """Draws a smooth picture with some grain: (height, width, seed) -> uint8[height, width, 3]."""

    def draw(height: int, width: int, seed: int = 0) -> np.ndarray:
        rng = np.random.default_rng(seed)
        coarse = rng.integers(0, 256, (height // 8 + 2, width // 8 + 2, 3), dtype=np.uint8)
        smooth = Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC)
        grain = rng.normal(0, 8, (height, width, 3))
        return np.clip(np.asarray(smooth) + grain, 0, 255).astype(np.uint8)

    return draw


@pytest.fixture(name="encode", scope="session")
def _encode() -> Callable[..., bytes]:
    """Encodes with Pillow: (pixels, format, **options) -> bytes."""

    def encode(pixels: np.ndarray, form: str = "JPEG", **options: Any) -> bytes:
        stream = io.BytesIO()
        if form == "JPEG":
            options = {"quality": 90, **options}
        Image.fromarray(pixels).save(stream, form, **options)
        return stream.getvalue()

    return encode


@pytest.fixture(name="example", scope="session")
def _example(photo: Any, encode: Any) -> Callable[..., dict[str, Any]]:
    """Makes an example: (height, width, box in pixels, form, …) -> dict of tensors."""

    def make(
        height: int = 60,
        width: int = 80,
        box: tuple[int, int, int, int] | None = None,
        form: str | None = None,
        seed: int = 0,
        label: int = 3,
    ) -> dict[str, Any]:
        pixels = photo(height, width, seed)
        box = box or (0, 0, height, width)
        image = pixels if form is None else encode(pixels, form)
        return {
            "image": tf.constant(image),
            "label": tf.constant(label, tf.int64),
            "category": tf.constant(label % 27, tf.int64),
            "crop": tf.constant(np.float32(box) / np.float32([height, width] * 2)),
            "height": tf.constant(height),
            "width": tf.constant(width),
            "id": tf.constant(f"구이/갈비구이/Img_{label:03d}_{seed:04d}.jpg"),
        }

    return make

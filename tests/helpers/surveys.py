"""Files to survey, and what a survey found by id, for tests."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

from kfood_tfds.raw.manifest import ManifestRow
from kfood_tfds.raw.survey_store import Survey


def noisy_jpeg(seed: int, height: int = 90, width: int = 120, image_format: str = "JPEG") -> bytes:
    coarse = np.random.default_rng(seed).integers(0, 255, (6, 8, 3), np.uint8)
    image = Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC)
    data = io.BytesIO()
    image.save(data, image_format, quality=90)
    return data.getvalue()


def rows_by_id(found: Survey) -> dict[str, ManifestRow]:
    return {row.id: row for row in found.rows}

"""A small data set with kfood's features, stored through TFDS as ArrayRecord files."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

COUNT = 40


def _example(number: int) -> dict[str, Any]:
    buffer = io.BytesIO()
    # The red of an example's image is its number: a batch shows whose image is where.
    pixels = np.full((20 + number % 3, 30, 3), (number, 100, 200), np.uint8)
    Image.fromarray(pixels).save(buffer, "PNG")
    return {
        "image": buffer.getvalue(),
        "label": min(number // 10, 2),
        "category": number % 2,
        "crop": np.array([0.0, 0.0, 1.0, 1.0], np.float32),
        "height": 20 + number % 3,
        "width": 30,
        "id": f"구이/{number:03d}.png",
        "group": number // 2,
    }


def _store(folder: Path) -> None:
    import tensorflow_datasets as tfds

    features = tfds.features.FeaturesDict(
        {
            "image": tfds.features.Image(shape=(None, None, 3)),
            "label": tfds.features.ClassLabel(num_classes=150),
            "category": tfds.features.ClassLabel(num_classes=27),
            "crop": tfds.features.BBoxFeature(),
            "height": np.int32,
            "width": np.int32,
            "id": tfds.features.Text(),
            "group": np.int64,
        }
    )
    tfds.dataset_builders.store_as_tfds_dataset(
        name="small",
        version="1.0.0",
        features=features,
        split_datasets={"train": [(number, _example(number)) for number in range(COUNT)]},
        data_dir=folder,
        file_format="array_record",
    )


@pytest.fixture(name="source", scope="session")
def _source(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """40 examples of the labels 0, 1 and 2, whose numbers are 10, 10 and 20."""
    pytest.importorskip("array_record", reason="array_record is not installed")
    from kfood_tfds.sources import random_access

    folder = tmp_path_factory.mktemp("small")
    _store(folder)
    return random_access("small", "train", str(folder))

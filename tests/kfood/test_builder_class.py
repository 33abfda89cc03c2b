"""TFDS's own test case over the dummy archive, for every configuration that reads an archive."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest
import tensorflow_datasets as tfds

from kfood_tfds.kfood import Builder

pytest.importorskip("dill", reason="TFDS's DatasetBuilderTestCase needs dill")


class KfoodTest(tfds.testing.DatasetBuilderTestCase):
    """Builds each configuration from `dummy_data/` and checks it against TFDS's rules."""

    DATASET_CLASS = Builder
    EXAMPLE_DIR = Path(__file__).parents[2] / "dummy_data"
    BUILDER_CONFIG_NAMES_TO_TEST = ("full", "512px", "320px", "320px-raw")
    SPLITS: ClassVar[dict[str, int]] = {"train": 55, "validation": 8, "test": 15}
    SKIP_CHECKSUMS = True

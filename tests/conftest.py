"""Fixtures that several folders of tests use."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import hypothesis
import pytest

# Before TensorFlow is imported: no GPU is looked for, and no log lines in the output.
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
# A busy machine makes no test fail.
hypothesis.settings.register_profile("unhurried", deadline=None)
hypothesis.settings.load_profile("unhurried")


@pytest.fixture(name="dummy_data", scope="session")
def _dummy_data() -> Path:
    """The folder with the tiny archive."""
    return Path(__file__).parents[1] / "dummy_data"


@pytest.fixture(name="dummy_build", scope="session")
def _dummy_build(dummy_data: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """`kfood/full` built once from the dummy archive: `data_dir` and `builder`."""
    from kfood_tfds import Builder, KfoodConfig

    data_dir = tmp_path_factory.mktemp("dummy_build")
    builder = Builder(config="full", data_dir=data_dir)
    import tensorflow_datasets as tfds

    builder.download_and_prepare(
        download_config=tfds.download.DownloadConfig(manual_dir=str(dummy_data))
    )
    return {"data_dir": data_dir, "builder": builder, "config_class": KfoodConfig}

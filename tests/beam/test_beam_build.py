"""Whole builds: by Beam on two worker processes, and on this machine; the content is the same."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow_datasets as tfds

pytest.importorskip("apache_beam", reason="Beam builds need apache_beam")
pytest.importorskip("mlcroissant", reason="TFDS's command line needs mlcroissant")

from apache_beam.options.pipeline_options import PipelineOptions

from kfood_tfds import Builder, KfoodConfig
from kfood_tfds import postprocessing as pp
from kfood_tfds.kfood.guards import BuildError

ROOT = Path(__file__).parents[2]
# The DirectRunner itself; by its common name it might first try to fetch another one.
RUNNER = "FnApiRunner"
TWO_PROCESSES = ("direct_num_workers=2", "direct_running_mode=multi_processing")


def _examples(builder: Builder) -> dict[str, dict[str, dict[str, Any]]]:
    """All examples, by split and id, in their order; images as bytes."""
    return {
        split: {
            example["id"].decode(): example
            for example in tfds.as_numpy(builder.as_dataset(split, decoders=pp.SKIP_DECODING))
        }
        for split in builder.info.splits
    }


def _assert_same(one: Builder, other: Builder) -> None:
    first, second = _examples(one), _examples(other)
    assert {s: list(found) for s, found in first.items()} == {
        s: list(found) for s, found in second.items()
    }
    assert sum(map(len, first.values())) > 50
    for split, found in first.items():
        for file_id, example in found.items():
            for name, value in example.items():
                np.testing.assert_array_equal(second[split][file_id][name], value)
    assert dict(one.info.metadata) == dict(other.info.metadata)
    for name in ("manifest.csv", "report.html", "features.json"):
        texts = [(Path(b.data_dir) / name).read_bytes() for b in (one, other)]
        assert texts[0] == texts[1], name
    splits = [
        {n: (s.num_examples, s.shard_lengths) for n, s in b.info.splits.items()}
        for b in (one, other)
    ]
    assert splits[0] == splits[1]


@pytest.mark.slow
def test_both_ways_give_the_same(
    dummy_build: dict[str, Any], dummy_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # For the worker processes.
    flags = [f"--runner={RUNNER}", *(f"--{option}" for option in TWO_PROCESSES)]
    config = KfoodConfig(name="by_beam", archive=str(dummy_data), beam=True)
    builder = Builder(config=config, data_dir=tmp_path)
    builder.download_and_prepare(
        download_config=tfds.download.DownloadConfig(beam_options=PipelineOptions(flags))
    )
    _assert_same(dummy_build["builder"], builder)
    assert not list((tmp_path / "downloads" / "kfood").glob("beam-*"))

    # The command line needs no `beam=True`; and it takes the survey that the pipeline made.
    local = Builder(config="320px", data_dir=dummy_build["data_dir"])
    local.download_and_prepare(
        download_config=tfds.download.DownloadConfig(manual_dir=str(dummy_data))
    )
    script = shutil.which("tfds", path=os.path.dirname(sys.executable)) or "tfds"
    done = subprocess.run(
        [
            script, "build", "kfood/320px", "--imports=kfood_tfds", f"--manual_dir={dummy_data}",
            f"--data_dir={tmp_path}",
            f"--beam_pipeline_options=runner={RUNNER},direct_num_workers=1",
        ],
        capture_output=True, text=True, cwd=tmp_path, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    # Neither TFDS's own writer nor a survey was at work.
    assert "Generating splits" in done.stderr
    assert "Generating train examples" not in done.stderr
    assert "Looking at every file" not in done.stderr
    _assert_same(local, Builder(config="320px", data_dir=tmp_path))


def test_beam_shapes_no_content() -> None:
    assert KfoodConfig(name="x", beam=True).digest() == KfoodConfig(name="x").digest()


def test_without_beam_the_message_says_what_to_install(
    dummy_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    config = KfoodConfig(name="x", archive=str(dummy_data), beam=True)
    with pytest.raises(BuildError, match="pip install 'kfood-tfds\\[tfds-cli\\]'"):
        Builder(config=config, data_dir=tmp_path).download_and_prepare()

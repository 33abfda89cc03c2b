"""Where pipelines run, and the folder that they share."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest
from etils import epath

pytest.importorskip("apache_beam", reason="pipelines need apache_beam")

import apache_beam as beam
from apache_beam.options.pipeline_options import GoogleCloudOptions, PipelineOptions
from pipelines import cluster_in

from kfood_tfds.beam import work
from kfood_tfds.beam.cluster import Cluster, shared_folder
from kfood_tfds.beam.stages import map_each


def test_a_run_ends_when_its_work_is_done(tmp_path: Path) -> None:
    cluster = cluster_in(tmp_path)
    folder = cluster.new_folder("numbers")

    def build(pipeline: Any) -> None:
        parts = pipeline | beam.Create([(1, [(7,), (5,)]), (0, [(3,)])])
        _ = parts | map_each(work.save_part, str(folder), "numbers", "<u4")

    cluster.run(build)
    assert work.read_parts(folder, "numbers", "<u4").tolist() == [3, 5, 7]


def test_a_step_that_fails_ends_the_run(tmp_path: Path) -> None:
    def fail(number: int) -> None:
        raise OSError(f"no room for {number}")

    with pytest.raises(Exception, match="no room for 41"):
        cluster_in(tmp_path).run(lambda pipeline: pipeline | beam.Create([41]) | beam.Map(fail))


def _job_name(cluster: Cluster) -> str:
    """Runs a pipeline, and returns the name that its options gave it."""
    seen = []

    def build(pipeline: Any) -> None:
        seen.append(pipeline.options.view_as(GoogleCloudOptions).job_name)
        _ = pipeline | beam.Create([1])

    cluster.run(build)
    [name] = seen
    return name


def test_options_come_from_the_command_line_unless_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["tfds", "build", "--job_name=asked-for"])
    folder = epath.Path(tmp_path)
    assert _job_name(Cluster(folder, "FnApiRunner")) == "asked-for"
    given = PipelineOptions(["--job_name=given"])
    assert _job_name(Cluster(folder, "FnApiRunner", given)) == "given"


def test_every_pipeline_gets_a_folder_of_its_own(tmp_path: Path) -> None:
    cluster = cluster_in(tmp_path)
    folders = [cluster.new_folder("survey") for _ in range(3)]
    assert len(set(folders)) == 3
    for folder in folders:
        assert folder.parent == cluster.folder
        assert re.fullmatch("survey-[0-9a-f]{8}", folder.name)
        assert list(folder.iterdir()) == []


def test_a_relative_data_folder_means_the_same_to_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with shared_folder(epath.Path("cache")) as folder:
        assert folder.parent == epath.Path(tmp_path / "cache")


def test_the_shared_folder_goes_with_the_build(tmp_path: Path) -> None:
    with shared_folder(epath.Path(tmp_path)) as folder:
        (folder / "work").write_text("x")
    assert list(tmp_path.iterdir()) == []


def test_the_shared_folder_goes_with_a_build_that_fails(tmp_path: Path) -> None:
    def build() -> None:
        with shared_folder(epath.Path(tmp_path)) as folder:
            (folder / "work").write_text("x")
            raise OSError("disk")

    with pytest.raises(OSError, match="disk"):
        build()
    assert list(tmp_path.iterdir()) == []


def test_builds_at_one_time_share_nothing(tmp_path: Path) -> None:
    place = epath.Path(tmp_path)
    with shared_folder(place) as kept:
        with shared_folder(place) as other:
            assert kept != other
        assert [epath.Path(path) for path in tmp_path.iterdir()] == [kept]


def test_what_workers_loaded_is_forgotten_at_the_end(tmp_path: Path) -> None:
    with shared_folder(epath.Path(tmp_path)) as folder:
        path = work.store(folder / "item", [1, 2])
        assert work.load(path) == [1, 2]
    with pytest.raises(FileNotFoundError):
        work.load(path)

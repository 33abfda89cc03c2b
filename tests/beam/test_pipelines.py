"""The survey, groups and splits as pipelines, in this process, against the local ones."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from etils import epath

pytest.importorskip("apache_beam", reason="pipelines need apache_beam")

from apache_beam.options.pipeline_options import PipelineOptions

from kfood_tfds.beam import work
from kfood_tfds.beam.arranging import arrange_on
from kfood_tfds.beam.cluster import Cluster, shared_folder
from kfood_tfds.beam.examining import examine_on
from kfood_tfds.beam.storing import store_on
from kfood_tfds.raw.archive import Archive, find_archive
from kfood_tfds.raw.classes import load_class_table
from kfood_tfds.raw.errors import ArchiveError, SurveyError
from kfood_tfds.raw.grouping_store import load_grouping
from kfood_tfds.raw.manifest_maker import arrange
from kfood_tfds.raw.sample import SampleSpec, write_sample
from kfood_tfds.raw.splits import DEFAULT_RATIOS
from kfood_tfds.raw.stored_images import StoredForm, StoredImage
from kfood_tfds.raw.survey_store import Survey, survey

TABLE = load_class_table()
SPEC = SampleSpec(
    classes=("만두", "짜장면", "갈비구이"), per_class=4, box_share=0.5, faults=True, sizes=(60, 70)
)
FILES = ("survey.csv", "measurements.bin", "complete.json")


def _cluster(folder: Path) -> Cluster:
    return Cluster(epath.Path(folder / "work"), "FnApiRunner", PipelineOptions([]))


def _drawn(folder: Path, layout: str) -> Archive:
    folder.mkdir()
    one_file = layout in ("zip", "deflated")
    write_sample(folder / "kfood.zip" if one_file else folder, SPEC, layout=layout)
    return find_archive(folder)


def _survey_on(cluster: Cluster, archive: Archive, cache: Path) -> Survey:
    examiner = partial(examine_on, cluster, archive, "image")
    return survey(archive, TABLE, cache, examiner=examiner)


def _contents(found: Survey) -> list[bytes]:
    return [(found.folder / name).read_bytes() for name in FILES]


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["zip", "deflated", "folders"])
def test_a_survey_by_beam_is_the_local_one(
    layout: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "CHUNK_FILES", 3)
    archive = _drawn(tmp_path / "archive", layout)
    here = survey(archive, TABLE, tmp_path / "here")
    there = _survey_on(_cluster(tmp_path), archive, tmp_path / "there")
    assert _contents(there) == _contents(here)
    assert sorted(p.name for p in there.folder.iterdir()) == sorted((*FILES, "lock"))


@pytest.mark.slow
def test_a_broken_survey_is_taken_up_by_either_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "CHUNK_FILES", 4)
    archive = _drawn(tmp_path / "archive", "zip")
    whole = survey(archive, TABLE, tmp_path / "whole")

    def broken(planned: Any, done: int, folder: epath.Path) -> Any:
        facts = examine_on(_cluster(tmp_path), archive, "image", planned, done, folder)
        for _ in range(7 - done):
            yield next(facts)
        raise OSError("the driver lost its disk")

    with pytest.raises(OSError, match="the driver lost its disk"):
        survey(archive, TABLE, tmp_path / "cache", examiner=broken)
    [folder] = (tmp_path / "cache" / "kfood_survey").iterdir()
    assert list(folder.glob("parts/part-*"))
    by_beam = tmp_path / "again"
    by_beam.mkdir()
    (tmp_path / "cache").rename(by_beam / "cache")
    finished = _survey_on(_cluster(tmp_path), archive, by_beam / "cache")
    assert _contents(finished) == _contents(whole)


@pytest.mark.slow
def test_parts_of_a_failed_survey_are_not_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = _drawn(tmp_path / "archive", "zip")
    cluster = _cluster(tmp_path)
    whole = survey(archive, TABLE, tmp_path / "whole")
    folder = epath.Path(tmp_path / "survey")
    once = examine_on(cluster, archive, "image", whole.planned, 0, folder)
    first = next(once)
    monkeypatch.setattr(Cluster, "run", lambda *_: pytest.fail("ran a pipeline again"))
    again = list(examine_on(cluster, archive, "image", whole.planned, 0, folder))
    assert [fact.row for fact in again] == whole.rows
    assert again[0].row == first.row


def test_workers_that_see_another_folder_are_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = _drawn(tmp_path / "archive", "zip")
    monkeypatch.setattr(Cluster, "run", lambda *_: None)
    with pytest.raises(SurveyError, match="shared path"):
        _survey_on(_cluster(tmp_path), archive, tmp_path / "cache")


@pytest.mark.slow
def test_groups_and_splits_by_key_are_the_local_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = _drawn(tmp_path / "archive", "zip")
    found = survey(archive, TABLE, tmp_path / "cache")
    there, splits = arrange_on(_cluster(tmp_path), found, DEFAULT_RATIOS)
    kept = load_grouping(found)
    (found.folder / "groups-1.npz").unlink()
    here, wanted = arrange(found, DEFAULT_RATIOS)
    assert list(splits) == list(wanted)
    assert len(here.pairs) > 0 and len(set(here.group_of.tolist())) < len(here.group_of)
    for name in ("group_of", "block_of", "pairs", "similarity", "cut", "parted"):
        for other in (there, kept):
            np.testing.assert_array_equal(getattr(other, name), getattr(here, name))
            assert getattr(other, name).dtype == getattr(here, name).dtype
    # Now that the groups are known, another division needs the splits alone.
    halves = (("one", 0.5), ("two", 0.5))
    _, parted = arrange_on(_cluster(tmp_path), found, halves)
    assert list(parted) == list(arrange(found, halves)[1])


def test_records_beyond_the_end_are_refused(tmp_path: Path) -> None:
    work.save(epath.Path(tmp_path / "records"), np.arange(5, dtype="<u4").tobytes())
    chunk = work.Chunk(str(tmp_path / "records"), 2, 5)
    assert work.read_records(chunk, "<u4").tolist() == [2, 3, 4]
    with pytest.raises(SurveyError, match="ends before record 6"):
        work.read_records(work.Chunk(chunk.path, 2, 6), "<u4")


def test_a_relative_data_folder_means_the_same_to_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with shared_folder(epath.Path("cache")) as folder:
        assert folder.parent == epath.Path(tmp_path / "cache")
    assert work.absolute(epath.Path("gs://bucket/x")) == epath.Path("gs://bucket/x")


def test_the_shared_folder_goes_with_the_build(tmp_path: Path) -> None:
    with shared_folder(epath.Path(tmp_path)) as folder:
        (folder / "work").write_text("x")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_file_that_changed_after_the_survey_is_named(tmp_path: Path) -> None:
    archive = _drawn(tmp_path / "archive", "folders")
    found = survey(archive, TABLE)
    pairs = zip(found.planned, found.rows, strict=True)
    files = [(planned, row) for planned, row in pairs if row.accepted]
    cluster = _cluster(tmp_path)
    transform = store_on(cluster, archive, files, StoredForm(), _id_of)
    first = files[0][0].member
    path = next(p for p in (tmp_path / "archive").rglob(first.filename) if p.is_file())
    path.write_bytes(path.read_bytes()[:-1] + b"\0")
    with pytest.raises(Exception, match=f"{files[0][1].id} is not the file that was surveyed"):
        cluster.run(lambda pipeline: pipeline | transform)
    with pytest.raises(ArchiveError, match="was changed after it was looked at"):
        store_on(cluster, archive, files, StoredForm(), _id_of)


def _id_of(image: StoredImage) -> str:
    return image.row.id

"""The survey as a pipeline in this process, against the local one."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from archives import kfood_zip, write_files
from etils import epath
from surveys import noisy_jpeg

pytest.importorskip("apache_beam", reason="pipelines need apache_beam")

from pipelines import TABLE, cluster_in, drawn

from kfood_tfds.beam import work
from kfood_tfds.beam.cluster import Cluster
from kfood_tfds.beam.examining import examine_on
from kfood_tfds.raw.archive import Archive, find_archive
from kfood_tfds.raw.crop_area import CropBox
from kfood_tfds.raw.errors import SurveyError
from kfood_tfds.raw.manifest import ManifestRow
from kfood_tfds.raw.planned_files import PlannedFile, in_reading_order, plan_files, read_files
from kfood_tfds.raw.survey import FileFacts, examine_group
from kfood_tfds.raw.survey_store import Survey, pack_facts, survey

FILES = ("survey.csv", "measurements.bin", "complete.json")


def _survey_on(cluster: Cluster, archive: Archive, cache: Path) -> Survey:
    examiner = partial(examine_on, cluster, archive, "image")
    return survey(archive, TABLE, cache, examiner=examiner)


def _contents(found: Survey) -> list[bytes]:
    return [(found.folder / name).read_bytes() for name in FILES]


def _planned(archive: Archive) -> list[PlannedFile]:
    return in_reading_order(plan_files(archive.members(), TABLE))


def _seven_files(folder: Path) -> Archive:
    """Four files in one unit, one and two in the others; none of them is an image."""
    return find_archive(write_files(folder / "archive", {"kfood.zip": kfood_zip()}))


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["zip", "deflated", "folders"])
def test_a_survey_by_beam_is_the_local_one(
    layout: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "CHUNK_FILES", 3)
    archive = drawn(tmp_path / "archive", layout)
    here = survey(archive, TABLE, tmp_path / "here")
    there = _survey_on(cluster_in(tmp_path), archive, tmp_path / "there")
    assert _contents(there) == _contents(here)
    assert sorted(p.name for p in there.folder.iterdir()) == sorted((*FILES, "lock"))


@pytest.mark.slow
def test_a_broken_survey_is_taken_up_by_either_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "CHUNK_FILES", 4)
    archive = drawn(tmp_path / "archive", "zip")
    whole = survey(archive, TABLE, tmp_path / "whole")

    def broken(planned: Any, done: int, folder: epath.Path) -> Any:
        facts = examine_on(cluster_in(tmp_path), archive, "image", planned, done, folder)
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
    finished = _survey_on(cluster_in(tmp_path), archive, by_beam / "cache")
    assert _contents(finished) == _contents(whole)


@pytest.mark.slow
def test_parts_of_a_failed_survey_are_not_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = drawn(tmp_path / "archive", "zip")
    cluster = cluster_in(tmp_path)
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
    archive = drawn(tmp_path / "archive", "zip")
    monkeypatch.setattr(Cluster, "run", lambda *_: None)
    with pytest.raises(SurveyError, match="shared path"):
        _survey_on(cluster_in(tmp_path), archive, tmp_path / "cache")


def test_only_the_chunks_that_are_missing_are_examined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "CHUNK_FILES", 2)
    archive = _seven_files(tmp_path)
    planned = _planned(archive)
    parts = tmp_path / "survey" / "parts"
    known = [FileFacts(ManifestRow(f"known {n}", "rejected", "kept")) for n in range(2)]
    write_files(
        parts,
        {
            "part-00000002-00000004.npz": pack_facts(known),
            # What a worker that was killed left is no part.
            "part-00000000-00000002.npz.0123abcd.tmp": b"half",
        },
    )
    cluster = cluster_in(tmp_path)
    found = list(examine_on(cluster, archive, "image", planned, 0, epath.Path(parts.parent)))
    local = list(examine_group(read_files(archive, planned)))
    assert [fact.row for fact in local if fact.row.reason == "kept"] == []
    assert found == [*local[:2], *known, *local[4:]]
    # Neither the parts nor the list of files stay.
    assert list(parts.parent.iterdir()) == list(Path(cluster.folder).iterdir()) == []


def test_only_what_is_not_done_is_examined(tmp_path: Path) -> None:
    archive = _seven_files(tmp_path)
    planned = _planned(archive)
    folder = epath.Path(tmp_path / "survey")
    found = list(examine_on(cluster_in(tmp_path), archive, "image", planned, 5, folder))
    assert [fact.row.id for fact in found] == [file.id for file in planned[5:]]
    assert all(fact.row.reason.startswith("not an image") for fact in found)


def test_a_finished_survey_runs_no_pipeline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = _seven_files(tmp_path)
    monkeypatch.setattr(Cluster, "run", lambda *_: pytest.fail("ran a pipeline"))
    folder = epath.Path(tmp_path / "survey")
    assert (
        list(examine_on(cluster_in(tmp_path), archive, "image", _planned(archive), 7, folder)) == []
    )


@pytest.mark.parametrize(
    ("two_value_boxes", "status", "box"),
    [
        ("image", "unusable", CropBox(0, 0, 90, 120)),
        ("origin", "annotated", CropBox(0, 0, 40, 60)),
    ],
)
def test_workers_read_rows_of_two_values_as_asked(
    two_value_boxes: str, status: str, box: CropBox, tmp_path: Path
) -> None:
    files = {"Img_049_0000.jpg": noisy_jpeg(0), "crop_area.properties": b"Img_049_0000=60,40\r\n"}
    write_files(tmp_path / "archive" / "만두" / "만두", files)
    archive = find_archive(tmp_path / "archive")
    planned = _planned(archive)
    folder = epath.Path(tmp_path / "survey")
    found = examine_on(cluster_in(tmp_path), archive, two_value_boxes, planned, 0, folder)
    table, image = (fact.row for fact in found)
    assert table.is_side_file
    assert (image.id, image.crop_status, image.box) == ("만두/만두/Img_049_0000.jpg", status, box)

"""The survey over small hand-made folders: every file with a verdict, resumable, order-free."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from surveys import noisy_jpeg, rows_by_id

from kfood_tfds.raw.archive import find_archive
from kfood_tfds.raw.classes import ClassTable
from kfood_tfds.raw.crop_area import CropBox
from kfood_tfds.raw.errors import SurveyError
from kfood_tfds.raw.planned_files import in_reading_order, plan_files, read_files
from kfood_tfds.raw.survey import examine_group, examine_on_threads, raise_if_bad
from kfood_tfds.raw.survey_store import sums_of, survey


def test_every_file_has_a_row_and_a_verdict(folder: Path, table: ClassTable) -> None:
    rows = rows_by_id(survey(find_archive(folder), table))
    assert len(rows) == sum(path.is_file() for path in folder.rglob("*"))
    verdicts = {file_id: row.verdict for file_id, row in rows.items()}
    assert sorted(i for i, v in verdicts.items() if v == "accepted") == [
        *(f"구이/갈비구이/Img_000_000{n}.jpg" for n in range(4)),
        "만두/만두/Img_007_0009.jpg",
        *(f"만두/만두/Img_049_000{n}.jpg" for n in range(4)),
        "만두/만두/Img_049_0010.gif",
    ]


def test_reasons_name_what_is_wrong(folder: Path, table: ClassTable) -> None:
    rows = rows_by_id(survey(find_archive(folder), table))
    assert rows["구이/갈비구이/Img_000_0004.jpg"].reason.startswith("empty")
    assert "truncated" in rows["구이/갈비구이/Img_000_0005.jpg"].reason
    assert "HTML" in rows["구이/갈비구이/Img_000_0006.jpg"].reason
    assert "unknown class folder '공룡구이'" in rows["구이/공룡구이/Img_000_0001.jpg"].reason
    assert rows["구이/갈비구이/.DS_Store"].is_side_file
    assert rows["구이/갈비구이/crop_area.properties"].is_side_file


def test_boxes_labels_and_digests(folder: Path, table: ClassTable) -> None:
    rows = rows_by_id(survey(find_archive(folder), table))
    boxed = rows["구이/갈비구이/Img_000_0000.jpg"]
    assert (boxed.box, boxed.crop_status) == (CropBox(20, 10, 60, 60), "annotated")
    clipped = rows["구이/갈비구이/Img_000_0001.jpg"]
    assert (clipped.box, clipped.crop_status) == (CropBox(20, 100, 60, 120), "clipped")
    whole = rows["만두/만두/Img_049_0000.jpg"]
    assert (whole.box, whole.crop_status) == (CropBox(0, 0, 90, 120), "missing")
    assert (whole.label, whole.category, whole.stored_as) == (49, "만두", "original")
    assert whole.sha256 == hashlib.sha256(noisy_jpeg(10)).hexdigest()
    assert rows["만두/만두/Img_049_0010.gif"].stored_as == "PNG"


def test_wrong_codes_and_orphan_rows_are_flagged(folder: Path, table: ClassTable) -> None:
    rows = rows_by_id(survey(find_archive(folder), table))
    assert "code_mismatch" in rows["만두/만두/Img_007_0009.jpg"].flags
    assert "code_mismatch" not in rows["만두/만두/Img_049_0000.jpg"].flags
    crops = rows["구이/갈비구이/crop_area.properties"]
    assert crops.flags == ("orphan_rows",)
    assert "Img_000_0099" in crops.crop_note


def test_channel_sums_are_those_of_the_crop_box(folder: Path, table: ClassTable) -> None:
    found = survey(find_archive(folder), table)
    accepted = [row for row in found.rows if row.accepted]
    position = [row.id for row in accepted].index("구이/갈비구이/Img_000_0000.jpg")
    pixels = np.asarray(Image.open(io.BytesIO(noisy_jpeg(0)))).astype(np.int64)[20:60, 10:60]
    sums = sums_of(found.measurements[position])
    assert sums.count == 40 * 50
    # Two decoders may round a pixel differently.
    assert np.abs(np.array(sums.totals) / sums.count - pixels.mean((0, 1))).max() < 1


@pytest.mark.parametrize("workers", [1, 5])
def test_result_does_not_depend_on_workers(folder: Path, table: ClassTable, workers: int) -> None:
    plain = survey(find_archive(folder), table)
    other = survey(find_archive(folder), table, workers=workers)
    assert list(other.rows) == list(plain.rows)
    assert other.measurements.tobytes() == plain.measurements.tobytes()


def test_bad_files_are_all_named(folder: Path, table: ClassTable) -> None:
    found = survey(find_archive(folder), table)
    with pytest.raises(SurveyError) as error:
        raise_if_bad(found.rows)
    for n in (4, 5, 6):
        assert f"Img_000_000{n}.jpg" in str(error.value)
    assert ".DS_Store" not in str(error.value)


def test_foreign_folders_are_refused_before_any_image_is_read(
    tmp_path: Path, table: ClassTable
) -> None:
    (tmp_path / "holiday" / "beach").mkdir(parents=True)
    (tmp_path / "holiday" / "beach" / "a.jpg").write_bytes(noisy_jpeg(1))
    with pytest.raises(SurveyError, match="beach"):
        survey(find_archive(tmp_path / "holiday"), table)


@pytest.mark.parametrize("held_bytes", [1, 70_000, 16_000_000])
def test_files_examined_together_have_the_facts_they_have_alone(
    folder: Path, table: ClassTable, monkeypatch: pytest.MonkeyPatch, held_bytes: int
) -> None:
    archive = find_archive(folder)
    files = list(read_files(archive, in_reading_order(plan_files(archive.members(), table))))
    alone = [fact for file in files for fact in examine_group([file])]
    monkeypatch.setattr("kfood_tfds.raw.survey._HELD_BYTES", held_bytes)
    together = list(examine_group(files))
    assert [fact.row for fact in together] == [fact.row for fact in alone]
    assert len({fact.row.id for fact in together}) == len(files) > 10
    for one, other in zip(together, alone, strict=True):
        assert (one.pixels, one.sums) == (other.pixels, other.sums)
        assert (one.thumbnail is None) == (not other.row.accepted)
        if other.thumbnail is not None:
            np.testing.assert_array_equal(one.thumbnail, other.thumbnail)


def test_a_thread_takes_few_large_files_at_once(
    folder: Path, table: ClassTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = find_archive(folder)
    files = list(read_files(archive, in_reading_order(plan_files(archive.members(), table))))
    taken: list[int] = []

    def count(group: list[object], two_value_boxes: str) -> list[object]:
        taken.append(len(group))
        return group

    monkeypatch.setattr("kfood_tfds.raw.survey.examine_group", count)
    assert list(examine_on_threads(files, workers=1)) == files
    assert max(taken) > 1
    monkeypatch.setattr("kfood_tfds.raw.survey._GROUP_BYTES", 1)
    taken.clear()
    assert list(examine_on_threads(files, workers=1)) == files
    # An empty file holds nothing and goes with the next.
    assert set(taken) <= {1, 2}
    assert sum(taken) == len(files)

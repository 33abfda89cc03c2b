"""The survey over small hand-made folders: every file with a verdict, resumable, order-free."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from kfood_tfds.raw.archive import find_archive
from kfood_tfds.raw.classes import ClassTable, load_class_table
from kfood_tfds.raw.crop_area import CropBox
from kfood_tfds.raw.errors import SurveyError
from kfood_tfds.raw.manifest import ManifestRow
from kfood_tfds.raw.survey import raise_if_bad
from kfood_tfds.raw.survey_store import Survey, sums_of, survey


def _jpeg(seed: int, height: int = 90, width: int = 120, image_format: str = "JPEG") -> bytes:
    coarse = np.random.default_rng(seed).integers(0, 255, (6, 8, 3), np.uint8)
    image = Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC)
    data = io.BytesIO()
    image.save(data, image_format, quality=90)
    return data.getvalue()


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    root = tmp_path / "archive"
    ribs = root / "구이" / "갈비구이"
    dumplings = root / "만두" / "만두"
    strange = root / "구이" / "공룡구이"
    for path in (ribs, dumplings, strange):
        path.mkdir(parents=True)
    for n in range(4):
        (ribs / f"Img_000_000{n}.jpg").write_bytes(_jpeg(n))
        (dumplings / f"Img_049_000{n}.jpg").write_bytes(_jpeg(10 + n))
    (ribs / "Img_000_0004.jpg").write_bytes(b"")
    (ribs / "Img_000_0005.jpg").write_bytes(_jpeg(5)[:700])
    (ribs / "Img_000_0006.jpg").write_bytes(b"<!DOCTYPE html><html>gone</html>")
    (dumplings / "Img_007_0009.jpg").write_bytes(_jpeg(20))
    (dumplings / "Img_049_0010.gif").write_bytes(_jpeg(21, image_format="GIF"))
    (strange / "Img_000_0001.jpg").write_bytes(_jpeg(30))
    (ribs / ".DS_Store").write_bytes(b"\0\0\0\1Bud1")
    (ribs / "crop_area.properties").write_bytes(
        b"Img_000_0000=10,20,50,40\r\nImg_000_0001=100,20,50,40\r\nImg_000_0099=1,2,3,4\r\n"
    )
    return root


@pytest.fixture(name="table", scope="module")
def _table() -> ClassTable:
    return load_class_table()


def _rows(found: Survey) -> dict[str, ManifestRow]:
    return {row.id: row for row in found.rows}


def test_every_file_has_a_row_and_a_verdict(folder: Path, table: ClassTable) -> None:
    rows = _rows(survey(find_archive(folder), table))
    assert len(rows) == sum(path.is_file() for path in folder.rglob("*"))
    verdicts = {file_id: row.verdict for file_id, row in rows.items()}
    assert sorted(i for i, v in verdicts.items() if v == "accepted") == [
        *(f"구이/갈비구이/Img_000_000{n}.jpg" for n in range(4)),
        "만두/만두/Img_007_0009.jpg",
        *(f"만두/만두/Img_049_000{n}.jpg" for n in range(4)),
        "만두/만두/Img_049_0010.gif",
    ]


def test_reasons_name_what_is_wrong(folder: Path, table: ClassTable) -> None:
    rows = _rows(survey(find_archive(folder), table))
    assert rows["구이/갈비구이/Img_000_0004.jpg"].reason.startswith("empty")
    assert "truncated" in rows["구이/갈비구이/Img_000_0005.jpg"].reason
    assert "HTML" in rows["구이/갈비구이/Img_000_0006.jpg"].reason
    assert "unknown class folder '공룡구이'" in rows["구이/공룡구이/Img_000_0001.jpg"].reason
    assert rows["구이/갈비구이/.DS_Store"].is_side_file
    assert rows["구이/갈비구이/crop_area.properties"].is_side_file


def test_boxes_labels_and_digests(folder: Path, table: ClassTable) -> None:
    rows = _rows(survey(find_archive(folder), table))
    boxed = rows["구이/갈비구이/Img_000_0000.jpg"]
    assert (boxed.box, boxed.crop_status) == (CropBox(20, 10, 60, 60), "annotated")
    clipped = rows["구이/갈비구이/Img_000_0001.jpg"]
    assert (clipped.box, clipped.crop_status) == (CropBox(20, 100, 60, 120), "clipped")
    whole = rows["만두/만두/Img_049_0000.jpg"]
    assert (whole.box, whole.crop_status) == (CropBox(0, 0, 90, 120), "missing")
    assert (whole.label, whole.category, whole.stored_as) == (49, "만두", "original")
    assert whole.sha256 == hashlib.sha256(_jpeg(10)).hexdigest()
    assert rows["만두/만두/Img_049_0010.gif"].stored_as == "PNG"


def test_wrong_codes_and_orphan_rows_are_flagged(folder: Path, table: ClassTable) -> None:
    rows = _rows(survey(find_archive(folder), table))
    assert "code_mismatch" in rows["만두/만두/Img_007_0009.jpg"].flags
    assert "code_mismatch" not in rows["만두/만두/Img_049_0000.jpg"].flags
    crops = rows["구이/갈비구이/crop_area.properties"]
    assert crops.flags == ("orphan_rows",)
    assert "Img_000_0099" in crops.crop_note


def test_channel_sums_are_those_of_the_crop_box(folder: Path, table: ClassTable) -> None:
    found = survey(find_archive(folder), table)
    accepted = [row for row in found.rows if row.accepted]
    position = [row.id for row in accepted].index("구이/갈비구이/Img_000_0000.jpg")
    pixels = np.asarray(Image.open(io.BytesIO(_jpeg(0)))).astype(np.int64)[20:60, 10:60]
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


def test_a_second_survey_reads_no_image(
    folder: Path, table: ClassTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = survey(find_archive(folder), table, tmp_path / "cache")
    monkeypatch.setattr("kfood_tfds.raw.survey.prepare_image", None)
    second = survey(find_archive(folder), table, tmp_path / "cache")
    assert list(second.rows) == list(first.rows)
    assert second.measurements.tobytes() == first.measurements.tobytes()


@pytest.mark.parametrize("kept_bytes", [0, 1, 300, 900, 1500])
@pytest.mark.parametrize("kept_records", [0, 1, 4, 10])
def test_a_killed_survey_goes_on_where_it_stopped(
    folder: Path, table: ClassTable, tmp_path: Path, kept_bytes: int, kept_records: int
) -> None:
    first = survey(find_archive(folder), table, tmp_path / "cache")
    (first.folder / "complete.json").unlink()
    rows = first.folder / "survey.csv"
    rows.write_bytes(rows.read_bytes()[:kept_bytes])
    data = first.folder / "measurements.bin"
    wanted = first.measurements.tobytes()
    size = first.measurements.itemsize
    del first
    data.write_bytes(wanted[: kept_records * size + 7])
    again = survey(find_archive(folder), table, tmp_path / "cache")
    assert again.measurements.tobytes() == wanted
    assert list(again.rows) == list(survey(find_archive(folder), table).rows)


def test_a_finished_part_is_not_done_twice(
    folder: Path, table: ClassTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = survey(find_archive(folder), table, tmp_path / "cache")
    (first.folder / "complete.json").unlink()
    seen: list[str] = []
    real = __import__("kfood_tfds.raw.survey", fromlist=["_base_row"])._base_row

    def spy(file: object) -> ManifestRow:
        seen.append(file.planned.id)  # type: ignore[attr-defined]
        return real(file)

    monkeypatch.setattr("kfood_tfds.raw.survey._base_row", spy)
    rows = first.folder / "survey.csv"
    lines = rows.read_bytes().splitlines(keepends=True)
    rows.write_bytes(b"".join(lines[:8]))
    survey(find_archive(folder), table, tmp_path / "cache")
    assert len(seen) == len(first.rows) - 8


def test_a_changed_archive_is_surveyed_anew(
    folder: Path, table: ClassTable, tmp_path: Path
) -> None:
    survey(find_archive(folder), table, tmp_path / "cache")
    (folder / "만두" / "만두" / "Img_049_0000.jpg").write_bytes(_jpeg(77, 50, 60))
    again = _rows(survey(find_archive(folder), table, tmp_path / "cache"))
    assert again["만두/만두/Img_049_0000.jpg"].width == 60


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
    (tmp_path / "holiday" / "beach" / "a.jpg").write_bytes(_jpeg(1))
    with pytest.raises(SurveyError, match="beach"):
        survey(find_archive(tmp_path / "holiday"), table)


@pytest.mark.parametrize("name", ["complete.json", "survey.csv", "measurements.bin"])
@pytest.mark.parametrize("kept", [0, 40])
def test_torn_files_are_mended(
    folder: Path, table: ClassTable, tmp_path: Path, name: str, kept: int
) -> None:
    first = survey(find_archive(folder), table, tmp_path / "cache")
    rows, data = list(first.rows), first.measurements.tobytes()
    place = first.folder / name
    del first
    place.write_bytes(place.read_bytes()[:kept])
    again = survey(find_archive(folder), table, tmp_path / "cache")
    assert list(again.rows) == rows
    assert again.measurements.tobytes() == data


def test_a_renamed_class_folder_is_surveyed_anew(table: ClassTable, tmp_path: Path) -> None:
    for name in ("갈비구이", "갈치구이"):
        path = tmp_path / name
        if not path.exists() and (tmp_path / "갈비구이").exists():
            (tmp_path / "갈비구이").rename(path)
        path.mkdir(exist_ok=True)
        if not (path / "a.jpg").exists():
            (path / "a.jpg").write_bytes(_jpeg(1))
        (row,) = survey(find_archive(path), table, tmp_path / "cache").rows
        assert row.id == f"구이/{name}/a.jpg"

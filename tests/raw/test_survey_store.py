"""Surveys that are kept, killed, torn and taken up again."""

from __future__ import annotations

from pathlib import Path

import pytest
from buckets import Bucket
from surveys import noisy_jpeg, rows_by_id

from kfood_tfds.raw import survey_store
from kfood_tfds.raw.archive import find_archive
from kfood_tfds.raw.classes import ClassTable
from kfood_tfds.raw.manifest import ManifestRow
from kfood_tfds.raw.survey_store import survey


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
    (folder / "만두" / "만두" / "Img_049_0000.jpg").write_bytes(noisy_jpeg(77, 50, 60))
    again = rows_by_id(survey(find_archive(folder), table, tmp_path / "cache"))
    assert again["만두/만두/Img_049_0000.jpg"].width == 60


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
            (path / "a.jpg").write_bytes(noisy_jpeg(1))
        (row,) = survey(find_archive(path), table, tmp_path / "cache").rows
        assert row.id == f"구이/{name}/a.jpg"


@pytest.fixture(name="bucket")
def _bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bucket:
    bucket = Bucket(tmp_path / "bucket")
    monkeypatch.setattr(survey_store, "survey_folder", lambda cache_dir, key: bucket)
    return bucket


def test_a_survey_is_kept_in_a_bucket(
    folder: Path, table: ClassTable, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = survey(find_archive(folder), table, "gs://food")
    assert bucket.written == ["survey.csv", "measurements.bin", "complete.json"]
    monkeypatch.setattr("kfood_tfds.raw.survey.prepare_image", None)
    second = survey(find_archive(folder), table, "gs://food")
    assert list(second.rows) == list(first.rows)
    assert second.measurements.tobytes() == first.measurements.tobytes()
    assert first.folder != second.folder and first.kept is second.kept is bucket
    assert len(bucket.written) == 3


@pytest.mark.parametrize("name", ["complete.json", "survey.csv", "measurements.bin"])
@pytest.mark.parametrize("kept", [None, 0, 40])
def test_a_survey_that_a_bucket_lost_parts_of_is_mended_there(
    folder: Path,
    table: ClassTable,
    bucket: Bucket,
    name: str,
    kept: int | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = survey(find_archive(folder), table, "gs://food")
    whole = {path.name: path.read_bytes() for path in bucket.folder.iterdir()}
    torn = bucket.folder / name
    torn.unlink() if kept is None else torn.write_bytes(whole[name][:kept])
    again = survey(find_archive(folder), table, "gs://food")
    assert list(again.rows) == list(first.rows)
    assert {path.name: path.read_bytes() for path in bucket.folder.iterdir()} == whole
    monkeypatch.setattr("kfood_tfds.raw.survey.prepare_image", None)
    survey(find_archive(folder), table, "gs://food")


def test_a_survey_on_the_disk_is_in_no_bucket(
    folder: Path, table: ClassTable, tmp_path: Path
) -> None:
    for cache in (None, tmp_path / "cache"):
        assert survey(find_archive(folder), table, cache).kept is None

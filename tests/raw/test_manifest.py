"""The manifest: cells and rows, formulas disarmed, edited copies checked."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kfood_tfds.raw.classes import ClassTable, load_class_table
from kfood_tfds.raw.crop_area import CropBox
from kfood_tfds.raw.errors import ManifestError
from kfood_tfds.raw.manifest import (
    COLUMNS,
    ManifestRow,
    apply_corrections,
    from_cells,
    read_manifest,
    to_cells,
    write_manifest,
)

ROW = ManifestRow(
    id="구이/갈비구이/Img_000_0000.jpg",
    verdict="accepted",
    split="train",
    label=0,
    category="구이",
    group=5,
    source_format="JPEG",
    width=40,
    height=30,
    crop_status="annotated",
    stored_as="original",
    sha256="ab" * 32,
    flags=("dark", "blurred"),
    box=CropBox(1, 2, 21, 32),
)
REJECTED_ROW = ManifestRow("구이/갈비구이/Img_000_0001.jpg", "rejected", "empty file", label=0)
SPLITS = ("train", "validation", "test")


@pytest.fixture(name="table")
def _table() -> ClassTable:
    return load_class_table()


def test_columns_are_those_of_the_documentation() -> None:
    assert ",".join(COLUMNS) == (
        "id,verdict,reason,split,label,category,group,source_format,width,height,"
        "crop_status,crop_note,stored_as,sha256,flags,ymin,xmin,ymax,xmax"
    )


def test_written_file_reads_as_plain_csv(tmp_path: Path) -> None:
    write_manifest(tmp_path / "manifest.csv", [ROW, REJECTED_ROW])
    with (tmp_path / "manifest.csv").open(encoding="utf-8", newline="") as file:
        first, second = csv.DictReader(file)
    assert first["label"] == "0"
    assert first["category"] == "구이"
    assert [first[edge] for edge in ("ymin", "xmin", "ymax", "xmax")] == ["1", "2", "21", "32"]
    assert first["flags"] == "dark blurred"
    assert second["reason"] == "empty file"
    assert second["group"] == second["width"] == second["ymin"] == ""


_texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)


@given(_texts, _texts, st.integers(0, 149) | st.none(), st.integers(0, 2**63 - 1) | st.none())
def test_every_row_survives_its_cells(
    file_id: str, note: str, label: int | None, group: int | None
) -> None:
    row = replace(ROW, id=file_id, crop_note=note, label=label, group=group)
    assert from_cells(to_cells(row)) == row


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_cells_that_would_run_as_formulas_are_disarmed(start: str, tmp_path: Path) -> None:
    row = replace(ROW, id=f"{start}cmd|'/c calc'!A1")
    write_manifest(tmp_path / "m.csv", [row])
    with (tmp_path / "m.csv").open(encoding="utf-8", newline="") as file:
        cells = next(csv.DictReader(file))
    assert cells["id"].startswith("'")
    assert next(iter(read_manifest(tmp_path / "m.csv").values())).id == row.id


def test_columns_may_stand_in_any_order_and_labels_in_any_spelling(
    tmp_path: Path, table: ClassTable
) -> None:
    cells = dict(zip(COLUMNS, to_cells(ROW), strict=True)) | {"label": "mandu", "mine": "x"}
    with (tmp_path / "m.csv").open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, sorted(cells, reverse=True))
        writer.writeheader()
        writer.writerow(cells)
    ((line, row),) = read_manifest(tmp_path / "m.csv", table).items()
    assert (line, row.id, row.label, row.box) == (2, ROW.id, 49, ROW.box)


def _edited(tmp_path: Path, *rows: ManifestRow) -> dict[int, ManifestRow]:
    write_manifest(tmp_path / "edited.csv", rows)
    return read_manifest(tmp_path / "edited.csv")


def test_edits_overrule_the_survey(tmp_path: Path, table: ClassTable) -> None:
    other = replace(ROW, id="구이/갈비구이/Img_000_0002.jpg")
    edits = _edited(tmp_path, replace(ROW, label=49, split="test", box=CropBox(0, 0, 10, 10)))
    edited, kept = apply_corrections([ROW, other], edits, table, SPLITS, "m")
    assert (edited.label, edited.category, edited.split) == (49, "만두", "test")
    assert (edited.box, edited.crop_status) == (CropBox(0, 0, 10, 10), "annotated")
    assert kept == other


def test_an_image_can_be_rejected_by_hand(tmp_path: Path, table: ClassTable) -> None:
    edits = _edited(tmp_path, replace(ROW, verdict="rejected", reason="a menu, no dish"))
    (edited,) = apply_corrections([ROW], edits, table, SPLITS, "m")
    assert (edited.verdict, edited.reason, edited.split) == ("rejected", "a menu, no dish", "")


def test_an_emptied_box_is_the_whole_image(tmp_path: Path, table: ClassTable) -> None:
    edits = _edited(tmp_path, replace(ROW, box=None))
    (edited,) = apply_corrections([ROW], edits, table, SPLITS, "m")
    assert (edited.box, edited.crop_status) == (CropBox(0, 0, 30, 40), "missing")


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (replace(ROW, id="nobody"), "line 2: 'nobody': no such file"),
        (replace(ROW, sha256="cd" * 32), "line 2: .*sha256 is cdcdcdcdcdcd"),
        (replace(ROW, verdict="maybe"), "line 2: .*verdict must be"),
        (replace(ROW, split="training"), "line 2: .*split must be one of"),
        (replace(ROW, label=150), "line 2: .*0 to 149"),
        (replace(ROW, label=None), "line 2: .*needs a label"),
        (replace(ROW, box=CropBox(0, 0, 31, 40)), "line 2: .*30×40"),
        (replace(ROW, box=CropBox(5, 5, 5, 9)), "line 2: .*doesn't lie"),
        (replace(REJECTED_ROW, verdict="accepted", label=0), "line 2: .*empty file"),
    ],
)
def test_bad_edits_are_refused_with_their_line(
    edit: ManifestRow, message: str, tmp_path: Path, table: ClassTable
) -> None:
    edits = _edited(tmp_path, edit)
    with pytest.raises(ManifestError, match=message):
        apply_corrections([ROW, REJECTED_ROW], edits, table, SPLITS, "m")


def test_all_bad_lines_are_named_at_once(tmp_path: Path, table: ClassTable) -> None:
    edits = _edited(tmp_path, replace(ROW, split="x"), ROW, ROW)
    with pytest.raises(ManifestError, match=r"(?s)line 2: .*line 4: .*earlier line"):
        apply_corrections([ROW], edits, table, SPLITS, "m")


def test_cells_that_are_no_numbers_are_named(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    write_manifest(path, [ROW, ROW])
    path.write_text(path.read_text("utf-8").replace(",32\n", ",wide\n", 1), "utf-8")
    with pytest.raises(ManifestError, match="line 2: xmax must be a whole number, not 'wide'"):
        read_manifest(path)


def test_a_file_without_the_columns_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("id,verdict\n", "utf-8")
    with pytest.raises(ManifestError, match="lacks the column.*reason"):
        read_manifest(tmp_path / "m.csv")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r"nothing\.csv"):
        read_manifest(tmp_path / "nothing.csv")


def test_a_half_empty_box_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    write_manifest(path, [ROW])
    path.write_text(path.read_text("utf-8").replace(",32\n", ",\n", 1), "utf-8")
    with pytest.raises(ManifestError, match="line 2: ymin, xmin, ymax, xmax must be all filled"):
        read_manifest(path)


def test_what_spreadsheets_do_to_a_manifest_is_read(tmp_path: Path, table: ClassTable) -> None:
    cells = dict(zip(COLUMNS, to_cells(ROW), strict=True))
    cells |= {"label": "0.0", "ymin": "1.0", "group": "5.1E+18", "width": "40.0"}
    text = ",".join(cells) + "\r\n" + ",".join(cells.values()) + "\r\n"
    (tmp_path / "m.csv").write_bytes(text.encode("cp949"))
    edits = read_manifest(tmp_path / "m.csv", table)
    assert apply_corrections([ROW], edits, table, SPLITS, "m") == [ROW]


def test_a_cell_beyond_the_csv_limit_is_named(tmp_path: Path) -> None:
    write_manifest(tmp_path / "m.csv", [replace(ROW, id="x" * 200_000)])
    with pytest.raises(ManifestError, match="isn't CSV"):
        read_manifest(tmp_path / "m.csv")

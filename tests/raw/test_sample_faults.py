"""Every fault that is drawn is what it is called, and judged as expected."""

from __future__ import annotations

import hashlib
import io
import re
import struct
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from kfood_tfds.raw.crop_area import parse_crop_area, place_crop
from kfood_tfds.raw.sample import (
    DUMMY_SPEC,
    SampleReport,
    write_sample,
)
from kfood_tfds.raw.sample_faults import CROP_FAULTS, IMAGE_FAULTS


def test_every_fault_is_there_once(faulty: tuple[SampleReport, dict[str, bytes]]) -> None:
    faults = Counter(file.fault for file in faulty[0].files)
    for fault in (*CROP_FAULTS, *IMAGE_FAULTS, "EXIF orientation", "EXIF orientation, lying box"):
        assert faults[fault] == 1, fault
    for fault in ("wrong code", "unknown folder", "exact duplicate", "same picture, two labels"):
        assert faults[fault] == 1, fault
    assert faults["stranger"] == 6 and faults["burst"] == 4
    assert faults[""] == 3 * DUMMY_SPEC.per_class


def _content(faulty: tuple[SampleReport, dict[str, bytes]], fault: str) -> bytes:
    report, contents = faulty
    digest = next(file.sha256 for file in report.files if file.fault == fault)
    return next(c for c in contents.values() if hashlib.sha256(c).hexdigest() == digest)


@pytest.mark.parametrize(
    ("fault", "form", "mode"),
    [
        ("PNG in .jpg", "PNG", "RGB"),
        ("WebP in .jpg", "WEBP", "RGB"),
        ("suffix in capitals", "JPEG", "RGB"),
        ("GIF", "GIF", "P"),
        ("BMP with a palette", "BMP", "P"),
        ("PNG with transparency", "PNG", "RGBA"),
        ("CMYK", "JPEG", "CMYK"),
        ("16 bits", "PNG", "I;16"),
        ("grey", "JPEG", "L"),
        ("PNG with a palette", "PNG", "P"),
    ],
)
def test_odd_images_are_what_they_are_called(
    faulty: tuple[SampleReport, dict[str, bytes]], fault: str, form: str, mode: str
) -> None:
    with Image.open(io.BytesIO(_content(faulty, fault))) as image:
        image.load()
        assert (image.format, image.mode) == (form, mode)


def test_odd_images_have_their_oddity(faulty: tuple[SampleReport, dict[str, bytes]]) -> None:
    assert _content(faulty, "empty") == b""
    assert _content(faulty, "HTML in .jpg").startswith(b"<!DOCTYPE html>")
    with Image.open(io.BytesIO(_content(faulty, "truncated"))) as image, pytest.raises(OSError):
        image.load()
    with Image.open(io.BytesIO(_content(faulty, "animated GIF"))) as image:
        assert image.n_frames == 2
    with Image.open(io.BytesIO(_content(faulty, "GIF with transparency"))) as image:
        seen_through = np.asarray(image.convert("RGBA"))[..., 3] == 0
        assert 0.01 < seen_through.mean() < 0.9
    with Image.open(io.BytesIO(_content(faulty, "PNG with transparency"))) as image:
        pixels = np.asarray(image)
        assert pixels[0, 0, 3] == 0 and pixels[..., :3][pixels[..., 3] == 0].std() > 1
    # Bits per pixel stand at byte 28 of a BMP.
    assert struct.unpack_from("<H", _content(faulty, "32-bit BMP"), 28) == (32,)
    assert struct.unpack_from("<H", _content(faulty, "BMP with a palette"), 28) == (8,)
    assert struct.unpack_from("<H", _content(faulty, "BMP"), 28) == (24,)


def test_rejected_are_those_that_no_reader_can_use(
    faulty: tuple[SampleReport, dict[str, bytes]],
) -> None:
    rejected = {file.fault for file in faulty[0].files if file.verdict == "rejected"}
    assert rejected == {
        "empty",
        "truncated",
        "HTML in .jpg",
        "stranger",
        "unknown folder",
        "row without an image",
        "rewritten crop table",
    }
    for file in faulty[0].files:
        assert (file.verdict == "rejected") == (file.box is None) == (file.size is None)


def test_rows_have_the_forms_that_circulate(
    faulty: tuple[SampleReport, dict[str, bytes]],
) -> None:
    table = faulty[1]["구이/불고기/crop_area.properties"].decode("ascii")
    number = r"[1-9]\d*"
    for form in (
        r"Img_007_\d{4}=\d+,\d+,\d+,\d+",
        r" Img_007_\d{4} = \d+ , \d+, \d+ ,\d+ ",
        r"Img_007_\d{4}=\d+\.0,\d+\.0,\d+\.0,\d+\.0",
        r"Img_007_\d{4}=\d+,\d+,\d+,\d+ dissimilar",
        r"img_007_\d{4}=\d+,\d+,\d+,\d+",
        rf"Img_007_\d{{4}}={number},{number}",
        rf"Img_007_\d{{4}}=,{number},{number}",
        rf"Img_007_\d{{4}}=dissimilar,{number},{number}",
        rf"Img_007_\d{{4}}=open,{number},{number}",
        r"Img_007_\d{4}=dissimilar",
        rf"Img_007_\d{{4}}=\d+,\d+,0,{number}",
        rf"Img_007_\d{{4}}=\d+,\d+,-{number},{number}",
        r"Img_007_\d{4}=\d+,\d+,\d+,\d+,1",
        "Img_007_9999=1,2,3,4",
    ):
        assert re.search(rf"(?:^|\r\n){form}\r\n", table), form
    assert table.count("\n") == table.count("\r\n")
    stems = Counter(line.partition("=")[0].strip() for line in table.split("\r\n") if line)
    assert sorted(stems.values())[-2:] == [1, 2]
    rewritten = faulty[1]["김치/깍두기/crop_area.properties"]
    assert rewritten.startswith(b"\xef\xbb\xbf[crop_area]\n# ") and b"\n\n" in rewritten
    assert b"\r" not in rewritten and b"Img" not in rewritten and b"img_030_" in rewritten


def test_boxes_follow_from_the_rows(faulty: tuple[SampleReport, dict[str, bytes]]) -> None:
    report, contents = faulty
    tables = {
        name.split("/")[1].strip(): parse_crop_area(content)
        for name, content in contents.items()
        if name.endswith("crop_area.properties")
    }
    assert set(tables) == {"불고기", "깍두기"}
    accepted = [file for file in report.files if file.verdict == "accepted"]
    for file in accepted:
        table = tables.get(file.class_name)
        row = table.get(file.filename.rpartition(".")[0]) if table else None
        orientation = 6 if file.fault.startswith("EXIF") else 1
        placed = place_crop(row, *file.size, orientation=orientation)
        assert (placed.status, placed.box) == (file.crop_status, file.box), file.fault
    statuses = Counter(file.crop_status for file in accepted)
    assert set(statuses) == {"annotated", "clipped", "missing", "unusable"}


def test_photos_on_their_side(faulty: tuple[SampleReport, dict[str, bytes]]) -> None:
    for fault in ("EXIF orientation", "EXIF orientation, lying box"):
        file = next(file for file in faulty[0].files if file.fault == fault)
        with Image.open(io.BytesIO(_content(faulty, fault))) as image:
            assert image.getexif()[0x0112] == 6
            assert (image.width, image.height) == file.size  # Lying: the sides are swapped.
            assert image.width > image.height


def test_copies_and_bursts(faulty: tuple[SampleReport, dict[str, bytes]]) -> None:
    groups: dict[str, list[str]] = {}
    for file in faulty[0].files:
        if file.group:
            groups.setdefault(file.group, []).append(file.sha256)
    copies = [group for group in groups.values() if len(set(group)) == 1]
    assert [len(group) for group in copies] == [2, 2]
    (burst,) = (group for group in groups.values() if len(set(group)) > 1)
    assert len(set(burst)) == 4
    small = []
    for content in faulty[1].values():
        if hashlib.sha256(content).hexdigest() in burst:
            with Image.open(io.BytesIO(content)) as image:
                small.append(np.asarray(image.convert("L").resize((12, 12)), np.float64).ravel())
    assert np.corrcoef(small).min() > 0.9
    names = [file.filename for file in faulty[0].files if file.fault == "burst"]
    assert names == [f"Img_049_00{n}.jpg" for n in range(12, 16)]


def test_wrong_code_unknown_folder_and_strangers(
    faulty: tuple[SampleReport, dict[str, bytes]],
) -> None:
    (wrong,) = (file for file in faulty[0].files if file.fault == "wrong code")
    assert wrong.id.startswith("김치/깍두기/Img_007_") and wrong.label == 30
    (unknown,) = (file for file in faulty[0].files if file.fault == "unknown folder")
    assert unknown.label is None and unknown.class_name == "이름없는요리"
    names = {name.rpartition("/")[2] for name in faulty[1]}
    assert {".DS_Store", "Thumbs.db", "desktop.ini", "org_url.csv", "._Img.jpg"} <= names
    assert any(name.startswith("__MACOSX/") for name in faulty[1])
    assert any(name.startswith("만두/ 만두/") for name in faulty[1])


def test_a_flat_copy_knows_no_category_of_an_unknown_folder(tmp_path: Path) -> None:
    report = write_sample(tmp_path / "out", DUMMY_SPEC, "flat")
    (unknown,) = (file for file in report.files if file.label is None)
    assert unknown.id == "이름없는요리/Img_999_0000.jpg"
    assert (tmp_path / "out" / unknown.id).is_file()


@pytest.mark.slow
def test_the_survey_finds_what_the_report_says(
    faulty: tuple[SampleReport, dict[str, bytes]],
) -> None:
    from kfood_tfds.raw.archive import find_archive
    from kfood_tfds.raw.classes import load_class_table
    from kfood_tfds.raw.survey_store import survey

    report = faulty[0]
    rows = {row.id: row for row in survey(find_archive(report.path), load_class_table()).rows}
    assert set(rows) == {file.id for file in report.files}
    for file in report.files:
        row = rows[file.id]
        size = (row.height, row.width) if row.accepted else None
        found = (row.verdict, row.crop_status, row.box, size, row.sha256, row.label)
        told = (file.verdict, file.crop_status, file.box, file.size, file.sha256, file.label)
        assert found == told, (file.id, file.fault, row.reason)
        assert set(file.flags) <= set(row.flags)

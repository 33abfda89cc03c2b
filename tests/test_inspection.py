"""An inspection from the archive to the two files, on archives drawn here."""

from __future__ import annotations

import csv
import io
import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from kfood_tfds import command_text, inspection
from kfood_tfds.raw.errors import KfoodError
from kfood_tfds.words import Words

MakeArchive = Callable[..., Path]


def jpeg(seed: int, side: int = 96) -> bytes:
    """A picture of its own: soft blobs, so that no two look alike."""
    small = np.random.default_rng(seed).integers(0, 256, (6, 6, 3), np.uint8)
    encoded = io.BytesIO()
    Image.fromarray(small).resize((side, side), Image.Resampling.BICUBIC).save(encoded, "JPEG")
    return encoded.getvalue()


@pytest.fixture
def make_archive(tmp_path: Path) -> MakeArchive:
    """Writes class folders: twelve images in two classes, and what else is asked for."""

    def make(extra: dict[str, bytes] | None = None) -> Path:
        root = tmp_path / "kfood"
        files = {
            f"{folder}/Img_{code:03}_{n:04}.jpg": jpeg(100 * code + n)
            for folder, code in (("구이/갈비구이", 0), ("국/무국", 16))
            for n in range(6)
        }
        files["구이/갈비구이/crop_area.properties"] = b"Img_000_0001=10,10,40,50\r\n"
        for name, content in {**files, **(extra or {})}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(content)
        return root

    return make


def no_bar(rows: Any = None, **kwargs: Any) -> Any:
    from tqdm import tqdm

    return tqdm(rows, **{**kwargs, "disable": True})


def inspect(source: Path, **more: Any) -> inspection.Inspection:
    return inspection.inspect_archive(source, progress=no_bar, lang="en", **more)


def test_a_sound_archive_is_clean(make_archive: MakeArchive) -> None:
    found = inspect(make_archive())
    assert found.clean
    assert (found.summary.found, found.summary.accepted) == (12, 12)
    assert dict(found.summary.crop_statuses) == {"annotated": 1, "missing": 11}
    assert sum(number for _, number in found.summary.splits) == 12
    assert found.written == ()


def test_bad_files_are_named_and_the_rest_goes_on(make_archive: MakeArchive) -> None:
    found = inspect(make_archive({"국/무국/Img_016_0099.jpg": b"<html>no photo</html>"}))
    assert not found.clean
    assert [row.id for row in found.summary.rejected] == ["국/무국/Img_016_0099.jpg"]
    assert (found.summary.found, found.summary.accepted) == (13, 12)
    assert found.summary.balanced


def test_side_files_are_no_fault(make_archive: MakeArchive) -> None:
    found = inspect(make_archive({"구이/갈비구이/Thumbs.db": b"x", ".DS_Store": b"y"}))
    assert found.clean
    assert len(found.summary.side_files) == 3


def test_two_files_are_written(make_archive: MakeArchive, tmp_path: Path) -> None:
    bad = {"국/무국/Img_016_0099.jpg": b""}
    found = inspect(make_archive(bad), out=tmp_path / "new" / "out")
    manifest, report = map(Path, found.written)
    assert (manifest.name, report.name) == ("manifest.csv", "report.html")
    with manifest.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 14
    assert {row["verdict"] for row in rows if row["reason"]} == {"rejected"}
    html = report.read_text("utf-8")
    assert "국/무국/Img_016_0099.jpg" in html and "empty file" in html


def test_the_report_shows_the_archives_pictures(make_archive: MakeArchive, tmp_path: Path) -> None:
    twin = jpeg(3)
    archive = make_archive(
        {"국/무국/Img_016_0050.jpg": twin, "구이/갈비구이/Img_000_0050.jpg": twin}
    )
    found = inspect(archive, out=tmp_path / "out")
    (conflict,) = found.summary.conflicts
    # Picture 3 of the first class is drawn from the same seed.
    assert len(conflict.rows) == 3 and conflict.identical
    html = Path(found.written[1]).read_text("utf-8")
    assert html.count("<img ") >= 6


def test_an_archive_of_nothing_but_broken_images_is_still_reported(tmp_path: Path) -> None:
    folder = tmp_path / "구이" / "갈비구이"
    folder.mkdir(parents=True)
    for n in range(3):
        (folder / f"Img_000_{n:04}.jpg").write_bytes(b"broken")
    found = inspect(tmp_path, out=tmp_path / "out")
    assert (found.summary.found, found.summary.accepted) == (3, 0)
    assert not found.clean and found.summary.balanced
    assert Path(found.written[1]).exists()


def test_part_of_an_archive_that_cannot_be_read_is_a_fault(tmp_path: Path) -> None:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as category:
        for n in range(3):
            category.writestr(f"구이/갈비구이/Img_000_{n:04}.jpg", jpeg(n))
    with zipfile.ZipFile(tmp_path / "kfood.zip", "w") as outer:
        outer.writestr("구이.zip", whole.getvalue())
        outer.writestr("국.zip", whole.getvalue()[:100])
    found = inspect(tmp_path / "kfood.zip")
    assert not found.clean and found.summary.accepted == 3
    assert any("국.zip" in str(problem) for problem in found.problems)


def test_what_lies_beside_the_archive_is_noted_but_no_fault(tmp_path: Path) -> None:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as category:
        for n in range(3):
            category.writestr(f"구이/갈비구이/Img_000_{n:04}.jpg", jpeg(n))
    with zipfile.ZipFile(tmp_path / "kfood.zip", "w") as outer:
        outer.writestr("구이.zip", whole.getvalue())
    (tmp_path / "readme.txt").write_text("hello")
    found = inspect(tmp_path)
    assert found.clean
    assert any("readme.txt" in str(problem) for problem in found.problems)


def test_what_is_wrong_with_an_archive_is_told_in_korean_but_kept_in_english(
    tmp_path: Path,
) -> None:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as category:
        category.writestr("구이/갈비구이/Img_000_0000.jpg", jpeg(0))
    with zipfile.ZipFile(tmp_path / "kfood.zip", "w") as outer:
        outer.writestr("구이.zip", whole.getvalue())
        outer.writestr("국.zip", whole.getvalue()[:100])
    found = inspection.inspect_archive(
        tmp_path / "kfood.zip", out=tmp_path / "out", progress=no_bar, lang="ko"
    )
    text = inspection.describe(found, Words("ko", command_text.TEXTS))
    korean = "아카이브: kfood.zip › 국.zip: 파일이 잘렸습니다."
    assert korean in text and "is cut off" not in text
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert korean.removeprefix("아카이브: ") in page
    assert found.to_json()["problems"][0].startswith("kfood.zip › 국.zip is cut off")
    assert "is cut off" in (tmp_path / "out" / "manifest.csv").read_text(encoding="utf-8")


def test_no_archive_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(KfoodError, match="nowhere"):
        inspect(tmp_path / "nowhere")


def test_own_classes_can_be_inspected(tmp_path: Path) -> None:
    (tmp_path / "classes.csv").write_text("label,name,category\n0,waffle,sweet\n", "utf-8")
    folder = tmp_path / "data" / "sweet" / "waffle"
    folder.mkdir(parents=True)
    for n in range(3):
        (folder / f"{n}.jpg").write_bytes(jpeg(n))
    options = inspection.InspectOptions(class_csv=str(tmp_path / "classes.csv"))
    found = inspect(tmp_path / "data", options=options)
    assert [(count.name, count.accepted) for count in found.summary.classes] == [("waffle", 3)]


def test_json_is_plain_and_complete(make_archive: MakeArchive) -> None:
    plain = json.loads(json.dumps(inspect(make_archive()).to_json()))
    assert plain["clean"] is True and plain["found"] == 12
    assert plain["problems"] == [] and plain["written"] == []


@pytest.mark.parametrize("lang", ["ko", "en"])
def test_the_description_names_numbers_and_files(
    make_archive: MakeArchive, tmp_path: Path, lang: str
) -> None:
    found = inspect(make_archive({"국/무국/x.jpg": b""}), out=tmp_path / "out")
    text = inspection.describe(found, Words(lang, command_text.TEXTS))
    head = {"ko": "이미지 13장, 사용 12장, 제외 1장", "en": "13 images, 12 accepted, 1 rejected"}
    assert head[lang] in text
    kind = {"ko": "1  빈 파일 (empty file)", "en": "1  empty file"}
    assert kind[lang] in text and "report.html" in text
    crop = {"ko": "정보 없음: 이미지 전체 (missing)", "en": "  missing\n"}
    assert crop[lang] in text
    assert ("(폴더)" if lang == "ko" else "(folders)") in text
    assert text.endswith("\n")


def test_paths_of_any_bytes_can_be_written_down() -> None:
    assert inspection.readable(Path("구이")) == "구이"
    assert (
        inspection.readable(os.fsdecode(b"a\xff")).encode("utf-8")
        == "a\N{REPLACEMENT CHARACTER}".encode()
    )

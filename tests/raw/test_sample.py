"""The drawn archive, read back with Python's own zipfile and tarfile, Pillow and by hand."""

from __future__ import annotations

import hashlib
import io
import os
import re
import struct
import subprocess
import sys
import tarfile
import unicodedata
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from kfood_tfds.raw import sample
from kfood_tfds.raw.crop_area import CropBox, parse_crop_area, place_crop
from kfood_tfds.raw.errors import ArchiveError, KfoodError
from kfood_tfds.raw.sample import (
    DUMMY_SPEC,
    SampleReport,
    SampleSpec,
    find_or_draw_sample,
    write_sample,
)
from kfood_tfds.raw.sample_faults import CROP_FAULTS, IMAGE_FAULTS

ROOT = Path(__file__).parents[2]
SMALL = SampleSpec(classes=("칼국수", "만두", "짜장면"), per_class=3, sizes=(40, 60))


def read_zip(data: bytes, encoding: str | None = "cp949") -> dict[str, bytes]:
    """All members of all category zips by path, in their order."""
    found = {}
    with zipfile.ZipFile(io.BytesIO(data), metadata_encoding=encoding) as outer:
        for name in outer.namelist():
            with zipfile.ZipFile(io.BytesIO(outer.read(name)), metadata_encoding=encoding) as inner:
                assert inner.testzip() is None
                found.update({member: inner.read(member) for member in inner.namelist()})
    return found


def read_folder(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def digests(files: dict[str, bytes]) -> Counter[str]:
    return Counter(hashlib.sha256(content).hexdigest() for content in files.values())


def expected_digests(report: SampleReport) -> Counter[str]:
    return Counter(file.sha256 for file in report.files)


@pytest.fixture(name="small", scope="module")
def _small(tmp_path_factory: pytest.TempPathFactory) -> tuple[SampleReport, bytes]:
    report = write_sample(tmp_path_factory.mktemp("small") / "kfood.zip", SMALL)
    return report, report.path.read_bytes()


@pytest.fixture(name="faulty", scope="module")
def _faulty(tmp_path_factory: pytest.TempPathFactory) -> tuple[SampleReport, dict[str, bytes]]:
    report = write_sample(tmp_path_factory.mktemp("faulty") / "kfood.zip", DUMMY_SPEC)
    return report, read_zip(report.path.read_bytes())


def test_names_are_cp949_without_the_flag(small: tuple[SampleReport, bytes]) -> None:
    with zipfile.ZipFile(io.BytesIO(small[1])) as outer:
        infos = outer.infolist()
        assert [info.filename.encode("cp437").decode("cp949") for info in infos] == [
            "만두.zip",
            "면.zip",
        ]
        assert {(i.flag_bits, i.compress_type) for i in infos} == {(0, zipfile.ZIP_STORED)}
        with zipfile.ZipFile(outer.open(infos[1])) as inner:
            members = inner.infolist()
    assert {(i.flag_bits, i.compress_type) for i in members} == {(0, zipfile.ZIP_STORED)}
    names = [info.filename.encode("cp437").decode("cp949") for info in members]
    assert names == [
        *(f"면/짜장면/Img_057_000{n}.jpg" for n in range(3)),
        "면/짜장면/crop_area.properties",
        *(f"면/칼국수/Img_060_000{n}.jpg" for n in range(3)),
        "면/칼국수/crop_area.properties",
    ]


def test_the_report_lists_every_file_in_order(small: tuple[SampleReport, bytes]) -> None:
    report, data = small
    found = read_zip(data)
    assert [file.id for file in report.files] == list(found)
    assert [file.sha256 for file in report.files] == [
        hashlib.sha256(content).hexdigest() for content in found.values()
    ]
    assert {file.label for file in report.files} == {49, 57, 60}
    assert {file.category for file in report.files} == {"만두", "면"}


def test_pictures_and_boxes_are_as_reported() -> None:
    spec = SampleSpec(classes=(27,), per_class=10, box_share=0.3, sizes=(50, 90))
    written = sample._class_files(spec, spec.foods[0], 0)
    *images, table = written
    rows = dict(line.split("=") for line in table.content.decode("ascii").split("\r\n")[:-1])
    assert len(images) == 10 and len(rows) == 3
    for each in images:
        with Image.open(io.BytesIO(each.content)) as image:
            assert (image.format, image.mode) == ("JPEG", "RGB")
            width, height = image.size
        assert 50 <= width <= 90 and 50 <= height <= 90
        assert each.file.size == (height, width)
        row = rows.get(each.file.filename.removesuffix(".jpg"))
        if row is None:
            assert (each.file.crop_status, each.file.box) == (
                "missing",
                CropBox(0, 0, height, width),
            )
        else:
            x, y, w, h = map(int, row.split(","))
            assert (each.file.crop_status, each.file.box) == (
                "annotated",
                CropBox(y, x, y + h, x + w),
            )
            assert x >= 0 and y >= 0 and x + w <= width and y + h <= height
    assert (table.file.verdict, table.file.filename) == ("rejected", "crop_area.properties")


def test_default_spec_is_twenty_classes_of_twenty_categories() -> None:
    foods = SampleSpec().foods
    assert len({food.category for food in foods}) == 20
    assert [food.label for food in foods] == sorted(food.label for food in foods)
    assert len({food.category for food in SampleSpec(classes=27).foods}) == 27
    assert len(SampleSpec(classes=150).foods) == 150
    assert [food.name for food in SampleSpec(classes=("kimchi-jjigae", 49)).foods] == [
        "만두",
        "김치찌개",
    ]


def test_same_spec_gives_the_same_bytes_in_any_process(
    small: tuple[SampleReport, bytes], tmp_path: Path
) -> None:
    code = (
        "import sys; from kfood_tfds.raw.sample import *\n"
        "spec = SampleSpec(classes=('칼국수', '만두', '짜장면'), per_class=3, sizes=(40, 60))\n"
        "write_sample(sys.argv[1], spec)"
    )
    environ = {**os.environ, "PYTHONHASHSEED": "77", "TZ": "Asia/Seoul", "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", code, tmp_path / "a.zip"], env=environ, check=True)
    assert (tmp_path / "a.zip").read_bytes() == small[1]
    other = write_sample(
        tmp_path / "b.zip", SampleSpec(("칼국수", "만두", "짜장면"), 3, seed=1, sizes=(40, 60))
    )
    assert not expected_digests(other) & expected_digests(small[0])


def test_tar_holds_eleven_parts_out_of_order(
    small: tuple[SampleReport, bytes], tmp_path: Path
) -> None:
    report = write_sample(tmp_path / "kfood.tar", SMALL, "tar")
    with tarfile.open(report.path) as tar:
        names = tar.getnames()
        parts = {name: tar.extractfile(name).read() for name in names}
    assert len(names) == 11 and names[2].endswith("/kfood.zip.part10")
    joined = b"".join(parts[n] for n in sorted(names, key=lambda n: int(n.rpartition("part")[2])))
    assert joined == small[1]


def test_parts_join_in_the_order_of_their_numbers(
    small: tuple[SampleReport, bytes], tmp_path: Path
) -> None:
    write_sample(tmp_path / "parts", SMALL, "parts")
    parts = [tmp_path / "parts" / f"kfood.zip.part{n}" for n in range(11)]
    assert sorted(path.name for path in (tmp_path / "parts").iterdir()) == sorted(
        path.name for path in parts
    )
    assert b"".join(path.read_bytes() for path in parts) == small[1]
    assert min(path.stat().st_size for path in parts) > 0


def test_lone_part_is_the_whole_zip(small: tuple[SampleReport, bytes], tmp_path: Path) -> None:
    write_sample(tmp_path / "one", SMALL, "lone-part")
    assert read_folder(tmp_path / "one") == {"kfood.zip.part0": small[1]}


def test_category_zips_lie_in_a_folder(small: tuple[SampleReport, bytes], tmp_path: Path) -> None:
    write_sample(tmp_path / "zips", SMALL, "category-zips")
    found = read_folder(tmp_path / "zips")
    with zipfile.ZipFile(io.BytesIO(small[1]), metadata_encoding="cp949") as outer:
        assert found == {name: outer.read(name) for name in outer.namelist()}


@pytest.mark.parametrize(
    ("layout", "path"),
    [
        ("folders", "면/칼국수/Img_060_0001.jpg"),
        ("doubled", "면/면/칼국수/Img_060_0001.jpg"),
        ("flat", "칼국수/Img_060_0001.jpg"),
    ],
)
def test_folders(small: tuple[SampleReport, bytes], tmp_path: Path, layout: str, path: str) -> None:
    report = write_sample(tmp_path / "out", SMALL, layout)
    found = read_folder(tmp_path / "out")
    assert found[path] == read_zip(small[1])["면/칼국수/Img_060_0001.jpg"]
    assert digests(found) == expected_digests(report) == expected_digests(small[0])
    # The portal's sample pack spells it so.
    assert any("자장면" in name for name in found) == (layout == "flat")


def test_deflated_holds_the_same_compressed(
    small: tuple[SampleReport, bytes], tmp_path: Path
) -> None:
    report = write_sample(tmp_path / "kfood.zip", SMALL, "deflated")
    with zipfile.ZipFile(report.path) as outer:
        assert {info.compress_type for info in outer.infolist()} == {zipfile.ZIP_DEFLATED}
    assert read_zip(report.path.read_bytes()) == read_zip(small[1])


@pytest.mark.parametrize(("names", "form"), [("utf-8", "NFC"), ("nfd", "NFD")])
def test_names_in_utf8(
    small: tuple[SampleReport, bytes], tmp_path: Path, names: str, form: str
) -> None:
    report = write_sample(tmp_path / "kfood.zip", SMALL, names=names)
    with zipfile.ZipFile(report.path) as outer:
        assert {info.flag_bits for info in outer.infolist()} == {0x800}
    found = read_zip(report.path.read_bytes(), None)
    assert list(found) == [unicodedata.normalize(form, name) for name in read_zip(small[1])]
    assert list(found.values()) == list(read_zip(small[1]).values())


def test_nfd_folders(tmp_path: Path) -> None:
    write_sample(tmp_path / "out", SMALL, "folders", "nfd")
    names = [path.name for path in (tmp_path / "out").iterdir()]
    assert {unicodedata.normalize("NFC", name) for name in names} == {"만두", "면"}
    if sys.platform == "linux":
        assert all(unicodedata.is_normalized("NFD", name) for name in names)


def test_corrupt_extra_is_what_python_refuses(
    small: tuple[SampleReport, bytes], tmp_path: Path
) -> None:
    report = write_sample(tmp_path / "kfood.zip", SMALL, names="corrupt-extra")
    data = report.path.read_bytes()
    with pytest.raises(zipfile.BadZipFile, match="Corrupt extra field"):
        zipfile.ZipFile(io.BytesIO(data))
    assert report.files == small[0].files
    # Nothing but the extra fields is amiss: a truthful length makes a category zip readable.
    write_sample(tmp_path / "zips", SMALL, "category-zips", "corrupt-extra")
    inner = (tmp_path / "zips" / "면.zip").read_bytes()
    lying, truthful = struct.pack("<HH", 0x7075, 60), struct.pack("<HH", 0x7075, 1)
    assert inner.count(lying) == 2 * 8
    assert data.count(lying) == 2 * (8 + 4 + 2)
    inner = inner.replace(lying, truthful)
    with zipfile.ZipFile(io.BytesIO(inner), metadata_encoding="cp949") as category:
        found = {name: category.read(name) for name in category.namelist()}
    assert found.items() <= read_zip(small[1]).items()


def test_a_folder_that_is_there_gets_the_file_in_it(tmp_path: Path) -> None:
    report = write_sample(tmp_path, SMALL)
    assert os.fspath(report.path) == os.fspath(tmp_path / "kfood.zip")
    assert [path.name for path in tmp_path.iterdir()] == ["kfood.zip"]


@pytest.mark.parametrize("layout", ["zip", "tar", "folders"])
def test_nothing_is_ever_replaced(tmp_path: Path, layout: str) -> None:
    target = tmp_path / "precious"
    if layout == "folders":
        target.mkdir()
        (target / "photo.jpg").write_bytes(b"mine")
    else:
        target.write_bytes(b"mine")
    before = read_folder(tmp_path)
    with pytest.raises(ArchiveError, match="precious"):
        write_sample(target, SMALL, layout)
    assert read_folder(tmp_path) == before


def test_a_broken_off_drawing_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("kfood_tfds.raw.sample_layouts.shutil.copyfileobj", fail)
    with pytest.raises(OSError, match="disk full"):
        write_sample(tmp_path / "kfood.zip", SMALL)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"classes": 0},
        {"classes": 151},
        {"classes": ()},
        {"classes": ("피쟈",)},
        {"per_class": 0},
        {"box_share": 1.5},
        {"sizes": (20, 60)},
        {"sizes": (90, 60)},
        {"classes": 2, "faults": True},
    ],
)
def test_senseless_specs_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(KfoodError):
        SampleSpec(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [{"layout": "rar"}, {"names": "latin-1"}])
def test_unknown_layouts_are_refused(tmp_path: Path, wrong: dict[str, str]) -> None:
    with pytest.raises(ArchiveError, match="Received"):
        write_sample(tmp_path / "kfood.zip", SMALL, **wrong)


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


def test_the_sample_is_drawn_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "SampleSpec", lambda: SMALL)
    folder = find_or_draw_sample(tmp_path)
    assert os.fspath(folder) == os.fspath(tmp_path / f"sample-{SMALL.digest}")
    assert [path.name for path in Path(folder).iterdir()] == ["kfood.zip"]
    monkeypatch.setattr(sample, "write_sample", None)
    assert find_or_draw_sample(tmp_path) == folder


def test_another_process_may_be_faster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "SampleSpec", lambda: SMALL)

    def too_late(path: os.PathLike[str], spec: SampleSpec) -> None:
        Path(path).parent.mkdir()
        Path(path).write_bytes(b"drawn by the other one")
        raise ArchiveError("there already")

    monkeypatch.setattr(sample, "write_sample", too_late)
    assert (find_or_draw_sample(tmp_path) / "kfood.zip").read_bytes() == b"drawn by the other one"


def test_the_digest_changes_with_every_value() -> None:
    specs = (
        SampleSpec(),
        SampleSpec(classes=21),
        SampleSpec(per_class=61),
        SampleSpec(seed=1),
        SampleSpec(box_share=0.4),
        SampleSpec(faults=True),
        SampleSpec(sizes=(120, 201)),
    )
    assert len({spec.digest for spec in specs}) == len(specs)
    # However the classes are spelt.
    assert SampleSpec(classes=("만두",)).digest == SampleSpec(classes=(49,)).digest


def test_dummy_data_is_what_is_drawn(
    faulty: tuple[SampleReport, dict[str, bytes]], dummy_data: Path
) -> None:
    """Drawn anew by `write_sample("dummy_data/kfood.zip", DUMMY_SPEC)` after its removal."""
    data = (dummy_data / "kfood.zip").read_bytes()
    assert [path.name for path in dummy_data.iterdir()] == ["kfood.zip"]
    assert len(data) < 300_000
    kept = read_zip(data)
    assert list(kept) == list(faulty[1])
    accepted = {file.filename for file in faulty[0].files if file.verdict == "accepted"}
    for name, content in faulty[1].items():
        if name.rpartition("/")[2] in accepted:
            # Encoders may differ in a bit from one release to the next.
            assert _mean_difference(kept[name], content) < 2, name
        elif not name.endswith(".jpg"):
            assert kept[name] == content, name


def _mean_difference(left: bytes, right: bytes) -> float:
    with Image.open(io.BytesIO(left)) as one, Image.open(io.BytesIO(right)) as other:
        assert (one.format, one.mode, one.size) == (other.format, other.mode, other.size)
        pixels = [np.asarray(image.convert("RGB"), np.int16) for image in (one, other)]
    return float(np.abs(pixels[0] - pixels[1]).mean())

"""Drawn archives in every layout and with every kind of names, read back by other means."""

from __future__ import annotations

import io
import os
import struct
import sys
import tarfile
import unicodedata
import zipfile
from pathlib import Path

import pytest
from samples import SMALL, digests, expected_digests, read_folder, read_zip

from kfood_tfds.raw.errors import ArchiveError
from kfood_tfds.raw.sample import (
    SampleReport,
    write_sample,
)


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
    with pytest.raises(zipfile.BadZipFile, match="Corrupt extra field|Corrupt unicode path"):
        zipfile.ZipFile(io.BytesIO(data))
    assert report.files == small[0].files
    # Nothing but the extra fields is amiss: one of truthful length, whose kind Python doesn't know,
    # makes a category zip readable.
    write_sample(tmp_path / "zips", SMALL, "category-zips", "corrupt-extra")
    inner = (tmp_path / "zips" / "면.zip").read_bytes()
    lying, truthful = struct.pack("<HH", 0x7075, 60), struct.pack("<HH", 0x9999, 1)
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

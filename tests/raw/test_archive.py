"""Every layout and name that an archive may have; the archives are made with `zipfile`."""

from __future__ import annotations

import os
import pickle
import threading
import unicodedata
from pathlib import Path

import pytest
from archives import (
    CONTENT,
    GIVEN,
    category_zips,
    check,
    kfood_zip,
    part_files,
    patched,
    read_all,
    tar_file,
    write_files,
    zipped,
)

from kfood_tfds.raw import archive as archive_module
from kfood_tfds.raw.archive import Archive, find_archive
from kfood_tfds.raw.errors import ArchiveError


@pytest.mark.parametrize("names", ["cp949", "NFC", "NFD"])
def test_reads_stored_zips_in_a_zip(tmp_path: Path, names: str) -> None:
    check(write_files(tmp_path, {"kfood.zip": kfood_zip(names)}), "zip")


def test_reads_deflated_zips_in_a_zip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_module, "SPOOL_MEMORY", 1_000)  # Less than an inner zip.
    check(write_files(tmp_path, {"kfood.zip": kfood_zip(deflated=True)}), "zip")


def test_only_deflated_zips_in_a_zip_cannot_be_read_in_parts(tmp_path: Path) -> None:
    for name, deflated in (("deflated", True), ("stored", False)):
        (tmp_path / name).mkdir()
        archive = find_archive(
            write_files(tmp_path / name, {"kfood.zip": kfood_zip(deflated=deflated)})
        )
        assert {archive.seekable(unit) for unit in archive.units} == {not deflated}


def test_reads_a_path_to_the_zip_itself(tmp_path: Path) -> None:
    write_files(tmp_path, {"kfood.zip": kfood_zip()})
    check(tmp_path / "kfood.zip", "zip")


def test_reads_category_zips_in_a_subfolder_of_the_zip(tmp_path: Path) -> None:
    inner = {f"data/food/{name}": data for name, data in category_zips().items()}
    check(write_files(tmp_path, {"kfood.zip": zipped(inner)}), "zip")


@pytest.mark.parametrize("top", ["", "kfood/", "a/b/"])
def test_reads_a_zip_of_folders(tmp_path: Path, top: str) -> None:
    content = {top + path: data for path, data in CONTENT.items()}
    archive = find_archive(write_files(tmp_path, {"kfood.zip": zipped(content, "NFC", True)}))
    assert read_all(archive) == CONTENT


def test_reads_part_files_inside_a_tar_in_numeric_order(tmp_path: Path) -> None:
    files = {f"다운로드/1.데이터/{n}": data for n, data in part_files(kfood_zip()).items()}
    tar_file(tmp_path / "download.tar", files)
    check(tmp_path, "tar")
    check(tmp_path / "download.tar", "tar")


def test_reads_loose_part_files_in_numeric_order(tmp_path: Path) -> None:
    write_files(tmp_path, part_files(kfood_zip()))
    check(tmp_path, "parts")
    check(tmp_path / "kfood.zip.part3", "parts")  # Any of them stands for all.


def test_reads_part_files_numbered_by_their_first_byte(tmp_path: Path) -> None:
    data, step = kfood_zip(), 4_000
    parts = {f"kfood.zip.part{at}": data[at : at + step] for at in range(0, len(data), step)}
    check(write_files(tmp_path, parts), "parts")


def test_reads_one_part_file_that_is_the_whole_zip(tmp_path: Path) -> None:
    check(write_files(tmp_path, {"kfood.zip.part0": kfood_zip()}), "parts")


@pytest.mark.parametrize("deflated", [False, True])
def test_reads_category_zips(tmp_path: Path, deflated: bool) -> None:
    check(write_files(tmp_path, category_zips(deflated=deflated)), "category zips")


def test_reads_a_category_zip_without_its_own_folder(tmp_path: Path) -> None:
    write_files(tmp_path, {"구이.zip": zipped({"갈비구이/a.jpg": b"a", "불고기/b.jpg": b"b"})})
    assert read_all(find_archive(tmp_path)) == {
        "구이/갈비구이/a.jpg": b"a",
        "구이/불고기/b.jpg": b"b",
    }


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_reads_folders(tmp_path: Path, form: str) -> None:
    content = {unicodedata.normalize(form, path): data for path, data in CONTENT.items()}
    check(write_files(tmp_path, content), "folders")


def test_reads_doubled_folders(tmp_path: Path) -> None:
    content = {f"{path.split('/')[0]}/{path}": data for path, data in CONTENT.items()}
    check(write_files(tmp_path, content), "folders")


def test_reads_flat_folders(tmp_path: Path) -> None:
    write_files(tmp_path, {"자장면/a.jpg": b"a", "만두/b.jpg": b"b"})
    members = find_archive(tmp_path).members()
    assert [(m.class_name, m.filename, m.kind) for m in members] == [
        ("만두", "b.jpg", "image"),
        ("자장면", "a.jpg", "image"),
    ]


def test_reads_one_class_folder(tmp_path: Path) -> None:
    write_files(tmp_path, CONTENT)
    archive = find_archive(tmp_path / "한과" / "약과")
    assert [(m.class_name, m.filename) for m in archive.members()] == [("약과", "Img_149_0000.gif")]


def test_takes_what_lies_in_a_category_of_the_same_name_for_no_class(tmp_path: Path) -> None:
    write_files(tmp_path, {"한과/한과/a.jpg": b"a", "한과/stray.jpg": b"s"})
    classes = {m.filename: m.class_name for m in find_archive(tmp_path).members()}
    assert classes == {"a.jpg": "한과", "stray.jpg": ""}


def test_drops_stray_spaces_and_reads_backslashes(tmp_path: Path) -> None:
    write_files(tmp_path, {"kfood.zip": zipped({" 김치 \\ 깍두기\\a.jpg": b"a"})})
    (member,) = find_archive(tmp_path).members()
    assert (member.category, member.class_name, member.filename) == ("김치", "깍두기", "a.jpg")


def test_tells_strangers_from_images(tmp_path: Path) -> None:
    files = {
        "구이/갈비구이/.DS_Store": "stranger",
        "구이/갈비구이/Thumbs.db": "stranger",
        "구이/갈비구이/desktop.ini": "stranger",
        "구이/갈비구이/._a.jpg": "stranger",
        "__MACOSX/구이/갈비구이/b.jpg": "stranger",
        "org_url.csv": "stranger",
        "readme.txt": "stranger",
        "구이/갈비구이/Crop_Area.properties": "crop_area",
        "구이/갈비구이/a.jpg": "image",
        "구이/갈비구이/notes.txt": "image",
    }
    members = find_archive(write_files(tmp_path, dict.fromkeys(files, b"x"))).members()
    kinds = {path.rpartition("/")[2]: kind for path, kind in files.items()}
    assert {m.filename: m.kind for m in members} == kinds


def test_names_the_place_of_a_member(tmp_path: Path) -> None:
    archive = find_archive(write_files(tmp_path, {"kfood.zip": kfood_zip()}))
    places = [member.place for member in archive.members()]
    assert "kfood.zip › 구이.zip › 구이/갈비구이/Img_000_0000.jpg" in places


def test_is_the_same_after_pickling(tmp_path: Path) -> None:
    archive = check(write_files(tmp_path, {"kfood.zip": kfood_zip()}), "zip")
    again: Archive = pickle.loads(pickle.dumps(archive))
    assert again.members() == archive.members()
    assert again.fingerprint() == archive.fingerprint()
    assert again.read(again.members()[0]) == archive.read(archive.members()[0])


def test_reads_units_in_several_threads(tmp_path: Path) -> None:
    archive = find_archive(write_files(tmp_path, {"kfood.zip": kfood_zip(deflated=True)}))
    results: dict[str, bytes | ArchiveError] = {}

    def read(unit: str) -> None:
        for _ in range(10):
            for member, data in archive.iterate(archive.unit_members(unit)):
                results[member.path] = data

    threads = [threading.Thread(target=read, args=(unit,)) for unit in archive.units]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == CONTENT


def test_the_fingerprint_changes_with_the_archive_only(tmp_path: Path) -> None:
    data = kfood_zip()
    path = write_files(tmp_path, {"kfood.zip": data}) / "kfood.zip"
    os.utime(path, ns=(1, 1))
    first = find_archive(path).fingerprint()
    assert find_archive(path).fingerprint() == first
    os.utime(path, ns=(2, 2))
    assert find_archive(path).fingerprint() != first
    path.write_bytes(data.replace(b"Img_148_0000", b"Img_148_0009"))
    os.utime(path, ns=(1, 1))
    assert find_archive(path).fingerprint() != first


def test_says_what_it_left_alone(tmp_path: Path) -> None:
    write_files(tmp_path, {"kfood.zip": kfood_zip(), "notes/readme.txt": b"x"})
    archive = find_archive(tmp_path)
    assert read_all(archive) == CONTENT
    assert [str(problem).split(":")[0] for problem in archive.problems] == ["notes/readme.txt"]


def test_reads_absolute_names_as_relative_ones(tmp_path: Path) -> None:
    data = zipped({"/구이/갈비구이/a.jpg": b"a", "C:\\구이\\갈비구이\\b.jpg": b"b"})
    read = read_all(find_archive(write_files(tmp_path, {"구이.zip": data})))
    assert read == {"구이/갈비구이/a.jpg": b"a", "구이/갈비구이/b.jpg": b"b"}


def test_a_file_that_vanishes_is_an_error_of_its_own(tmp_path: Path) -> None:
    archive = find_archive(write_files(tmp_path, CONTENT))
    (tmp_path / "구이/불고기/Img_007_0000.jpg").unlink()
    (tmp_path / "만두/만두/Img_049_0004.png").write_bytes(b"another length")
    read = read_all(archive)
    errors = {path for path, content in read.items() if isinstance(content, ArchiveError)}
    assert errors == {"구이/불고기/Img_007_0000.jpg", "만두/만두/Img_049_0004.png"}


def test_image_bytes_are_those_in_the_archive_whatever_they_claim(tmp_path: Path) -> None:
    lying = patched(zipped(GIVEN, deflated=True), "구이/갈비구이/a.jpg", 24, b"\xf0\xff\xff\xff")
    archive = find_archive(write_files(tmp_path / "lying", {"구이.zip": lying}))
    assert 0 < archive.image_bytes() < 200
    images = {path: data for path, data in CONTENT.items() if "crop_area" not in path}
    assert find_archive(write_files(tmp_path / "loose", CONTENT)).image_bytes() == sum(
        map(len, images.values())
    )

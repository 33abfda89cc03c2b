"""What is no archive, and part files and tars that are incomplete or mixed up."""

from __future__ import annotations

from pathlib import Path

import pytest
from archives import (
    CATEGORIES,
    CONTENT,
    kfood_zip,
    part_files,
    tar_file,
    write_files,
    zipped,
)

from kfood_tfds.raw.archive import find_archive
from kfood_tfds.raw.errors import ArchiveError


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, ["empty", "kfood.zip"]),
        ({"readme.txt": b"x"}, ["readme.txt", "kfood.zip", "구이/갈비구이"]),
        ({"kfood.zip.crdownload": b"PK\3\4"}, ["unfinished", "kfood.zip.crdownload"]),
        ({"kfood.zip.part": b"PK\3\4"}, ["unfinished", "kfood.zip.part"]),
        ({"kfood.zip": b""}, ["kfood.zip", "empty"]),
        ({"kfood.zip": b"<html>" * 100}, ["kfood.zip", "no zip"]),
        ({"download.tar": b"<html>" * 1000}, ["download.tar", "no readable tar"]),
    ],
)
def test_refuses_a_folder_without_an_archive(
    tmp_path: Path, files: dict[str, bytes], words: list[str]
) -> None:
    with pytest.raises(ArchiveError) as caught:
        find_archive(write_files(tmp_path, files))
    assert all(word in str(caught.value) for word in words), caught.value


def test_refuses_a_path_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="no-such-folder is not there.*Check the path"):
        find_archive(tmp_path / "no-such-folder")


def test_refuses_a_single_image(tmp_path: Path) -> None:
    path = write_files(tmp_path, {"a.jpg": b"x"}) / "a.jpg"
    with pytest.raises(ArchiveError, match="holds no kfood archive"):
        find_archive(path)


@pytest.mark.parametrize("gone", [0, 5, 11])
def test_names_a_missing_part_file(tmp_path: Path, gone: int) -> None:
    parts = part_files(kfood_zip())
    del parts[f"kfood.zip.part{gone}"]
    words = r"part" if gone == 11 else rf"lacks \.part{gone};"
    with pytest.raises(ArchiveError, match=words):
        find_archive(write_files(tmp_path, parts))


def test_a_huge_part_number_takes_no_time(tmp_path: Path) -> None:
    files = {"kfood.zip.part0": b"PK", "kfood.zip.part99999999999999": b"PK"}
    with pytest.raises(ArchiveError, match=r"lacks \.part1 to \.part99999999999998"):
        find_archive(write_files(tmp_path, files))


def test_notices_part_files_in_the_wrong_order(tmp_path: Path) -> None:
    big = {path: data * 40 for path, data in CONTENT.items()}
    inner = {
        f"{category}.zip": zipped({p: d for p, d in big.items() if p.startswith(category)})
        for category in CATEGORIES
    }
    parts = part_files(zipped(inner))
    parts["kfood.zip.part0"], parts["kfood.zip.part1"] = (
        parts["kfood.zip.part1"],
        parts["kfood.zip.part0"],
    )
    with pytest.raises(ArchiveError, match="wrong order"):
        find_archive(write_files(tmp_path, parts))


def test_notices_a_cut_off_tar(tmp_path: Path) -> None:
    path = tar_file(tmp_path / "download.tar", part_files(kfood_zip(), 2))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(ArchiveError, match=r"download\.tar"):
        find_archive(tmp_path)

"""Links, buckets and names that are no UTF-8."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from archives import (
    CONTENT,
    check,
    kfood_zip,
    part_files,
    read_all,
    write_files,
)
from etils import epath

from kfood_tfds.raw.archive import find_archive
from kfood_tfds.raw.errors import ArchiveError


def test_reads_folders_with_names_in_cp949(tmp_path: Path) -> None:
    for path, data in CONTENT.items():
        target = os.path.join(os.fsencode(tmp_path), path.encode("cp949"))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as file:
            file.write(data)
    check(tmp_path, "folders")


def test_follows_links_inside_the_folder_only(tmp_path: Path) -> None:
    outside = write_files(tmp_path / "outside", {"secret.jpg": b"secret", "more/x.jpg": b"x"})
    inside = write_files(tmp_path / "inside", {"구이/갈비구이/a.jpg": b"a"})
    (inside / "구이/갈비구이/out.jpg").symlink_to(outside / "secret.jpg")
    (inside / "구이/갈비구이/in.jpg").symlink_to(inside / "구이/갈비구이/a.jpg")
    (inside / "구이/갈비구이/none.jpg").symlink_to(outside / "nothing.jpg")
    (inside / "구이/loop").symlink_to(inside)
    (inside / "국").symlink_to(outside / "more")
    archive = find_archive(inside)
    read = {m.filename: content for m, content in archive.iterate(archive.members())}
    assert {name for name, content in read.items() if isinstance(content, bytes)} == {
        "a.jpg",
        "in.jpg",
    }
    assert "link out of" in str(read["out.jpg"]) and "link to nothing" in str(read["none.jpg"])
    assert "link out of" in str(read["국"])


def test_follows_a_link_to_the_archive_itself(tmp_path: Path) -> None:
    write_files(tmp_path / "disk", {"kfood.zip": kfood_zip()})
    folder = tmp_path / "manual"
    folder.mkdir()
    (folder / "kfood.zip").symlink_to(tmp_path / "disk" / "kfood.zip")
    check(folder, "zip")


@pytest.mark.parametrize("kind", ["zip", "parts", "folders"])
def test_reads_from_a_bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    files = {
        "zip": {"kfood.zip": kfood_zip()},
        "parts": part_files(kfood_zip()),
        "folders": CONTENT,
    }
    write_files(tmp_path, files[kind])
    local = epath.Path
    # The bucket is a folder, reached by nothing but epath's own methods.
    monkeypatch.setattr(
        epath, "Path", lambda path: local(os.fspath(path).replace("gs://food", str(tmp_path)))
    )
    archive = find_archive("gs://food")
    assert archive.layout == kind
    assert read_all(archive) == CONTENT


@pytest.mark.parametrize("path", ["http://a/b.zip", "file:///b.zip", "x://"])
def test_addresses_that_no_bucket_has_are_refused(path: str) -> None:
    with pytest.raises(ArchiveError, match=r"Only local paths and buckets") as caught:
        find_archive(path)
    assert str(caught.value).endswith(f"Received: {path!r}.")
    assert f"받은 값: {path!r}." in caught.value.in_language("ko")


def test_an_empty_path_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write_files(tmp_path, CONTENT))
    with pytest.raises(ArchiveError, match=r"A path is empty.*'\.'"):
        find_archive("")
    assert read_all(find_archive(".")) == CONTENT


def test_a_bucket_that_cannot_be_reached_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class Unreachable:
        def __init__(self, path: str) -> None:
            pass

        def exists(self) -> bool:
            raise LookupError("no such\n\thost")

    monkeypatch.setattr(epath, "Path", Unreachable)
    with pytest.raises(ArchiveError, match=r"^gs://food can't be reached \(no such host\)"):
        find_archive("gs://food")


def test_an_unknown_user_has_no_archive() -> None:
    with pytest.raises(ArchiveError, match="is not there"):
        find_archive("~nobody-of-that-name/kfood.zip")

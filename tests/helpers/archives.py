"""Writes archives in every layout with `zipfile` and `tarfile`, for tests."""

from __future__ import annotations

import io
import tarfile
import unicodedata
import zipfile
from collections.abc import Mapping
from pathlib import Path

from kfood_tfds.raw.archive import Archive, find_archive
from kfood_tfds.raw.errors import ArchiveError

# Distinct bytes, some long enough to be worth compressing.
CONTENT: Mapping[str, bytes] = {
    "구이/갈비구이/Img_000_0000.jpg": b"galbi-0" * 300,
    "구이/갈비구이/Img_000_0001.JPG": b"galbi-1" * 300,
    "구이/갈비구이/crop_area.properties": b"Img_000_0000=1,2,3,4\r\n",
    "구이/불고기/Img_007_0000.jpg": b"bulgogi-0" * 10,
    "만두/만두/Img_049_0004.png": b"mandu-4" * 700,
    "한과/약과/Img_149_0000.gif": b"yakgwa-0" * 20,
    "한과/한과/Img_148_0000.jpg": b"hangwa-0" * 50,
}


CATEGORIES = sorted({path.split("/")[0] for path in CONTENT})


class RawName(zipfile.ZipInfo):
    """A member whose name is written as given, without the UTF-8 flag."""

    def _encodeFilenameFlags(self) -> tuple[bytes, int]:
        return self.filename.encode("cp949"), self.flag_bits & ~0x800


def zipped(content: Mapping[str, bytes], names: str = "cp949", deflated: bool = False) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as target:
        for name, data in content.items():
            if names == "cp949":
                info: zipfile.ZipInfo = RawName(name)
            else:
                info = zipfile.ZipInfo(unicodedata.normalize(names, name))
            info.compress_type = zipfile.ZIP_DEFLATED if deflated else zipfile.ZIP_STORED
            target.writestr(info, data)
    return stream.getvalue()


def category_zips(names: str = "cp949", deflated: bool = False) -> dict[str, bytes]:
    return {
        f"{category}.zip": zipped(
            {path: data for path, data in CONTENT.items() if path.startswith(f"{category}/")},
            names,
            deflated,
        )
        for category in CATEGORIES
    }


def kfood_zip(names: str = "cp949", deflated: bool = False) -> bytes:
    return zipped(category_zips(names), names, deflated)


def write_files(folder: Path, files: Mapping[str, bytes]) -> Path:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def part_files(data: bytes, count: int = 12) -> dict[str, bytes]:
    step = -(-len(data) // count)
    return {f"kfood.zip.part{i}": data[i * step : (i + 1) * step] for i in range(count)}


def tar_file(path: Path, files: Mapping[str, bytes]) -> Path:
    with tarfile.open(path, "w") as target:
        for name, data in sorted(files.items()):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            target.addfile(info, io.BytesIO(data))
    return path


def read_all(archive: Archive) -> dict[str, bytes | ArchiveError]:
    return {member.path: data for member, data in archive.iterate(archive.members())}


def check(path: Path, layout: str) -> Archive:
    archive = find_archive(path)
    assert archive.layout == layout
    assert read_all(archive) == CONTENT
    assert archive.problems == ()
    assert archive.units == tuple(sorted(archive.units))
    return archive


def patched(data: bytes, name: str, field: int, value: bytes) -> bytes:
    """Overwrites bytes of a member's entry in the directory."""
    patched = bytearray(data)
    at = data.rindex(name.encode("cp949")) - 46
    assert data[at : at + 4] == b"PK\1\2"
    patched[at + field : at + field + len(value)] = value
    return bytes(patched)


GIVEN = {"구이/갈비구이/a.jpg": b"a" * 10_000, "구이/갈비구이/b.jpg": b"b" * 10_000}

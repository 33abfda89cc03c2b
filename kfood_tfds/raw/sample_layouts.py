"""Writes a drawn archive in each layout and spelling of names that real copies have."""

from __future__ import annotations

import io
import secrets
import shutil
import struct
import tarfile
import tempfile
import unicodedata
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import IO

from etils import epath

from kfood_tfds.raw.errors import ArchiveError
from kfood_tfds.raw.messages import say
from kfood_tfds.raw.sample_files import SampleFile, Written

LAYOUTS = (
    "zip",
    "tar",
    "parts",
    "lone-part",
    "category-zips",
    "folders",
    "doubled",
    "flat",
    "deflated",
)
NAMES = ("cp949", "utf-8", "nfd", "corrupt-extra")

_STAMP = (2017, 12, 1, 0, 0, 0)
_TAR_STAMP = 1_512_086_400  # The same day.
_TAR_FOLDER = "한국 이미지(음식)"
_PARTS = 11
_UTF8_FLAG = 0x800
# A field that says it is 60 bytes long, and has one: CPython's zipfile refuses the whole archive.
_CORRUPT_EXTRA = struct.pack("<HH", 0x7075, 60) + b"\x01"
_MEMORY = 64 * 2**20
# The portal's sample pack spells it so.
_FLAT_FOLDERS = {"짜장면": "자장면"}

Category = tuple[str, Sequence[Written]]


class _Entry(zipfile.ZipInfo):
    """A zip entry whose name may be in CP949 without saying so, as Korean Windows writes it."""

    def __init__(self, name: str, names: str, compression: int = zipfile.ZIP_STORED) -> None:
        super().__init__(spelt(name, names), _STAMP)
        self.compress_type = compression
        self.create_system = 0  # Else it would tell the platform.
        self._raw_name = self.filename.encode("cp949" if _is_cp949(names) else "utf-8")
        if names == "corrupt-extra":
            self.extra = _CORRUPT_EXTRA
        self._name_flag = 0 if _is_cp949(names) or self.filename.isascii() else _UTF8_FLAG

    def _encodeFilenameFlags(self) -> tuple[bytes, int]:
        return self._raw_name, self.flag_bits | self._name_flag


def _is_cp949(names: str) -> bool:
    return names in ("cp949", "corrupt-extra")


def spelt(name: str, names: str) -> str:
    """Returns a name in the Unicode form that a spelling has."""
    return unicodedata.normalize("NFD" if names == "nfd" else "NFC", name)


def write_layout(
    path: epath.Path, categories: Iterable[Category], layout: str, names: str
) -> epath.Path:
    """Writes the files of an archive.

    Args:
      path: The file to write for "zip", "deflated" and "tar" (or a folder that is there, to write
        into), the folder for the others; must not be there, or be empty.
      categories: Each category's name with its files, one after the other.
      layout: One of `LAYOUTS`.
      names: One of `NAMES`; outside zips and tars "cp949" and "corrupt-extra" are plain NFC.

    Returns:
      The path of the file or folder.

    Raises:
      ArchiveError: Something is there already.
    """
    if layout in ("zip", "deflated", "tar"):
        target = path / f"kfood.{'tar' if layout == 'tar' else 'zip'}" if path.is_dir() else path
        _refuse(target, target.exists())
        with _spool() as zipped, _spool() as tar:
            _write_kfood_zip(zipped, categories, names, layout == "deflated")
            if layout == "tar":
                _write_tar(tar, zipped, names)
            _save(tar if layout == "tar" else zipped, target)
        return target
    _refuse(path, path.exists() and (not path.is_dir() or any(path.iterdir())))
    path.mkdir(parents=True, exist_ok=True)
    if layout in ("parts", "lone-part"):
        with _spool() as zipped:
            _write_kfood_zip(zipped, categories, names)
            for name, part in _parts(zipped, _PARTS if layout == "parts" else 1):
                _save(part, path / name)
    elif layout == "category-zips":
        for category, files in categories:
            (path / spelt(f"{category}.zip", names)).write_bytes(_category_zip(files, names))
    else:
        _write_folders(path, categories, layout, names)
    return path


def _refuse(path: epath.Path, there: bool) -> None:
    if there:
        raise ArchiveError(say("sample_there", place=str(path)))


def _save(source: IO[bytes], target: epath.Path) -> None:
    """Copies into a file that appears whole or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.parent / f".{target.name}.{secrets.token_hex(4)}.incomplete"
    source.seek(0)
    try:
        with unfinished.open("wb") as out:
            shutil.copyfileobj(source, out)
        unfinished.replace(target)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def _spool() -> AbstractContextManager[IO[bytes]]:
    """Opens a file that turns from memory to disk when it grows large."""
    return tempfile.SpooledTemporaryFile(_MEMORY)


def _write_kfood_zip(
    out: IO[bytes], categories: Iterable[Category], names: str, deflated: bool = False
) -> None:
    kind = zipfile.ZIP_DEFLATED if deflated else zipfile.ZIP_STORED
    with zipfile.ZipFile(out, "w") as outer:
        for category, files in categories:
            outer.writestr(_Entry(f"{category}.zip", names, kind), _category_zip(files, names))


def _category_zip(files: Iterable[Written], names: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as inner:
        for written in files:
            inner.writestr(_Entry(_path(written.file, "zip"), names), written.content)
    return data.getvalue()


def _path(file: SampleFile, layout: str) -> str:
    folders = [file.above, file.category, file.folder]
    if layout == "doubled":
        folders.insert(1, file.category)
    elif layout == "flat":
        folders = [file.above, _FLAT_FOLDERS.get(file.folder, file.folder)]
    return "/".join([*filter(None, folders), file.filename])


def _write_folders(
    path: epath.Path, categories: Iterable[Category], layout: str, names: str
) -> None:
    for _, files in categories:
        for written in files:
            target = path / spelt(_path(written.file, layout), names)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(written.content)


def _parts(zipped: IO[bytes], number: int) -> Iterator[tuple[str, IO[bytes]]]:
    size = zipped.seek(0, io.SEEK_END)
    zipped.seek(0)
    length = -(-size // number)
    for part in range(number):
        yield f"kfood.zip.part{part}", io.BytesIO(zipped.read(length))


def _write_tar(out: IO[bytes], zipped: IO[bytes], names: str) -> None:
    """Writes the parts in the order of their names, in which part10 comes before part2."""
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT, encoding="utf-8") as tar:
        for name, part in sorted(_parts(zipped, _PARTS), key=lambda item: item[0]):
            info = tarfile.TarInfo(spelt(f"{_TAR_FOLDER}/{name}", names))
            info.size = part.seek(0, io.SEEK_END)
            info.mtime = _TAR_STAMP
            part.seek(0)
            tar.addfile(info, part)

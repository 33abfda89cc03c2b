"""What a file's path in an archive says: its encoding, its category and class, its kind."""

from __future__ import annotations

import functools
import hashlib
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from kfood_tfds.raw.messages import Message, say

# A longer path is no photo's; what is shown of it is cut.
MAX_NAME_BYTES = 1_024
_SHOWN = 120
# No file system allows more characters in a part of a path.
_MAX_PART = 255

CROP_AREA = "crop_area.properties"
_STRANGERS = frozenset([".ds_store", "thumbs.db", "org_url.csv", "desktop.ini", "ehthumbs.db"])
_STRANGE_FOLDERS = frozenset(["__macosx", "$recycle.bin", "system volume information", "@eadir"])
IMAGE_SUFFIXES = frozenset(
    [".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".gif", ".bmp", ".webp", ".tif", ".tiff"]
)
_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3]")


def decode_name(raw: bytes, is_utf8: bool = False) -> str:
    """Decodes a path whose encoding may be unknown: UTF-8, CP949, at worst CP437.

    Args:
      raw: The bytes.
      is_utf8: Whether the zip says that they are UTF-8.
    """
    try:
        utf8 = raw.decode("utf-8")
    except UnicodeDecodeError:
        utf8 = None
    if utf8 is not None and (is_utf8 or raw.isascii() or _HANGUL.search(utf8)):
        return utf8
    # Few names are valid in both; if so, the one that gives Korean is right.
    try:
        cp949 = raw.decode("cp949")
    except UnicodeDecodeError:
        return utf8 if utf8 is not None else raw.decode("cp437")
    return utf8 if utf8 is not None and not _HANGUL.search(cp949) else cp949


def name_fault(raw: bytes, name: str) -> Message | None:
    """Says why a member of this name isn't read, or nothing: names are kept out of mischief."""
    if len(raw) > MAX_NAME_BYTES:
        return say("fault_long_name", size=len(raw), limit=MAX_NAME_BYTES)
    if "\0" in name:
        return say("fault_nul_name")
    if ".." in name and ".." in re.split(r"[/\\]", name):
        return say("fault_climbing_name")
    return None


@dataclass(frozen=True, slots=True)
class SplitName:
    """A path in pieces: NFC, stray spaces stripped, without `.`, `..` and drive letters."""

    folders: tuple[str, ...]
    filename: str


def split_name(name: str) -> SplitName:
    """Takes a path apart; either slash separates."""
    head, _, tail = name.replace("\\", "/").rpartition("/")
    filename = _tidy(tail)
    return SplitName(_folders(head), filename if filename not in ("", ".", "..") else "(no name)")


def shown_name(path: str) -> str:
    """Cuts a path that is too long to be shown."""
    return path if len(path) <= 2 * _SHOWN else f"{path[:_SHOWN]}…{path[-_SHOWN // 4 :]}"


def _tidy(part: str) -> str:
    part = unicodedata.normalize("NFC", part.replace("\0", "")).strip()
    if len(part) <= _MAX_PART:
        return part
    # Parts that begin alike must not become one.
    digest = hashlib.sha256(part.encode(errors="surrogatepass")).hexdigest()[:16]
    return f"{part[: _MAX_PART - 17].rstrip()}~{digest}"


# The files of a folder come one after the other, and its name need not be taken apart each time.
@functools.lru_cache(maxsize=256)
def _folders(head: str) -> tuple[str, ...]:
    parts = (_tidy(part) for part in head.split("/"))
    return tuple(part for part in parts if part not in ("", ".", "..") and part[-1:] != ":")


def is_stranger(split: SplitName) -> bool:
    """Whether a file is one that systems and downloads leave among the images."""
    name = split.filename.casefold()
    if name in _STRANGERS or name.startswith("._"):
        return True
    return any(folder.casefold() in _STRANGE_FOLDERS for folder in split.folders)


def has_image_suffix(filename: str) -> bool:
    """Whether a name ends like an image's; what the file is its content decides."""
    stem, dot, suffix = filename.rpartition(".")
    return bool(stem) and dot + suffix.casefold() in IMAGE_SUFFIXES


@dataclass(frozen=True, slots=True)
class FolderNames:
    """The folders of one unit, to tell class folders from category folders.

    Attributes:
      stem: The name of the zip that holds them, which stands in for a missing level; or empty.
      folders: All folders, each with those above it.
    """

    stem: str
    folders: frozenset[tuple[str, ...]]

    def place(self, folders: tuple[str, ...]) -> tuple[str, str]:
        """Returns the category and class of the files in a folder; empty where there is none.

        The last folder is the class, the one above its category: so an extra folder on top and
        doubled folders (구이/구이/갈비구이) change nothing. Where 한과/한과 is there, 한과 itself
        is a category, and what lies in it directly belongs to no class.
        """
        if folders and (*folders, folders[-1]) in self.folders:
            return "/".join(folders[-1:]), ""
        if not folders and (self.stem,) in self.folders:
            return self.stem, ""
        levels = (self.stem, *folders) if self.stem and len(folders) < 2 else folders
        if not levels:
            return "", ""
        return (levels[-2] if len(levels) > 1 else ""), levels[-1]


def folder_names(folders: Iterable[tuple[str, ...]], stem: str = "") -> FolderNames:
    """Collects the folders of one unit."""
    found: set[tuple[str, ...]] = set()
    for path in folders:
        while path and path not in found:
            found.add(path)
            path = path[:-1]
    return FolderNames(stem, frozenset(found))


def kind_of(split: SplitName, class_name: str) -> str:
    """Returns "image", "crop_area" or "stranger"."""
    if is_stranger(split):
        return "stranger"
    if split.filename.casefold() == CROP_AREA:
        return "crop_area"
    if class_name or has_image_suffix(split.filename):
        return "image"
    return "stranger"

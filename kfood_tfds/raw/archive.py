"""Reads the archive as downloaded, in place, whatever its layout.

`find_archive` looks at a path once; the `Archive` it gives lists the members and reads them,
sequentially within each unit. Nothing is extracted: zips inside zips, part files and tars are
windows on the files that they lie in.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from etils import epath

from kfood_tfds.raw.errors import ArchiveError
from kfood_tfds.raw.extents import (
    ExtentReader,
    FileFailed,
    Reader,
    SpoolReader,
    extent_size,
)
from kfood_tfds.raw.found_files import (
    FoundFile,
    change_of,
    check_path,
    find_files,
    is_there,
)
from kfood_tfds.raw.layouts import (
    BrokenUnit,
    FolderUnit,
    Layout,
    Unit,
    ZipUnit,
    find_layout,
    find_parts,
)
from kfood_tfds.raw.member_names import (
    FolderNames,
    SplitName,
    folder_names,
    is_stranger,
    kind_of,
    shown_name,
    split_name,
)
from kfood_tfds.raw.messages import Message, say
from kfood_tfds.raw.zip_directory import (
    MAX_MEMBER_BYTES,
    ZipDirectory,
    ZipEntry,
    inflate_chunks,
    read_directory,
    read_entry,
    too_large,
)

# A deflated category zip stays in memory up to this size, then goes to a temporary file.
SPOOL_MEMORY = 64 * 1024 * 1024
_PROBLEMS_SHOWN = 50


@dataclass(frozen=True, slots=True)
class Member:
    """One file of the archive.

    Attributes:
        category: Its category folder as found, NFC, stray spaces dropped; "" if there is none.
        class_name: Its class folder, likewise; "" outside any class folder.
        filename: Its file name, NFC.
        kind: "image" (whatever lies in a class folder), "crop_area" or "stranger".
        size: Bytes, unpacked.
        unit: The key of the unit that holds it.
        locator: How the archive finds it, or why it can't.
    """

    category: str
    class_name: str
    filename: str
    kind: str
    size: int
    unit: str
    locator: ZipEntry | FoundFile | Message

    @property
    def path(self) -> str:
        """Its path as found, category and class first."""
        return "/".join(part for part in (self.category, self.class_name, self.filename) if part)

    @property
    def place(self) -> str:
        """Where it is, for messages: `kfood.zip › 구이.zip › 구이/갈비구이/Img_000_0000.jpg`."""
        if isinstance(self.locator, ZipEntry):
            return f"{self.unit} › {shown_name(self.locator.name)}"
        if isinstance(self.locator, FoundFile):
            return self.locator.shown
        return self.unit


class Archive:
    """An archive that was found; picklable, and several threads may iterate over it at once."""

    def __init__(self, path: str, layout: Layout) -> None:
        """Takes what `find_archive` found."""
        self.place = path
        self._layout = layout
        self._units: dict[str, Unit] = {}
        for unit in layout.units:
            key = unit.key
            while key in self._units:  # Two zips of one name, in two folders of a tar.
                key += "+"
            self._units[key] = unit
        self._start()

    def _start(self) -> None:
        self._members: dict[str, tuple[Member, ...]] = {}
        self._checksums: dict[str, int] = {}
        self._broken: dict[str, Message] = {}
        self._lock = threading.Lock()
        self._kept: tuple[str, Reader] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Leaves out what can be read again."""
        return {"place": self.place, "_layout": self._layout, "_units": self._units}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Starts with nothing open."""
        self.__dict__.update(state)
        self._start()

    def __enter__(self) -> Archive:
        """Returns itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Closes what is open."""
        self.close()

    @property
    def layout(self) -> str:
        """How it lies: "zip", "tar", "parts", "category zips", "folders" and so on."""
        return self._layout.name

    @property
    def units(self) -> tuple[str, ...]:
        """The keys of the parts that are read in one go, sorted."""
        return tuple(self._units)

    @property
    def problems(self) -> tuple[Message, ...]:
        """What is wrong with, or lies beside, the archive as a whole."""
        self.members()
        broken = [self._broken[unit] for unit in self.units if unit in self._broken]
        ignored = [
            say("left_alone", place=file.shown, layout=self.layout)
            for file in self._layout.ignored[:_PROBLEMS_SHOWN]
        ]
        more = len(self._layout.ignored) - len(ignored)
        return (*broken, *ignored, *([say("more_left_alone", number=more)] if more else []))

    def seekable(self, unit: str) -> bool:
        """Whether some of a unit's files can be read without unpacking all of it first."""
        found = self._units[unit]
        return not (isinstance(found, ZipUnit) and found.packed is not None)

    def members(self) -> tuple[Member, ...]:
        """Returns all files, unit by unit, inside a unit in the order in which they lie."""
        return tuple(member for unit in self.units for member in self.unit_members(unit))

    def unit_members(self, unit: str) -> tuple[Member, ...]:
        """Returns the files of one unit."""
        with self._lock:
            if unit not in self._members:
                self._members[unit] = tuple(self._list(unit))
            return self._members[unit]

    def read(self, member: Member) -> bytes:
        """Returns a member's bytes; for reading many, `iterate` is faster.

        Raises:
            ArchiveError: If they are damaged or can't be reached.
        """
        if isinstance(member.locator, Message):
            raise ArchiveError(member.locator)
        with self._lock:
            if self._kept is None or self._kept[0] != member.unit:
                self._close()
                self._kept = (member.unit, self._open(member.unit))
            return self._read(self._kept[1], member)

    def iterate(self, members: Iterable[Member]) -> Iterator[tuple[Member, bytes | ArchiveError]]:
        """Reads members in the given order; a damaged one gives its error, and the rest goes on.

        Raises:
            ArchiveError: If a file of the archive itself can't be read any more.
        """
        reader: Reader | None = None
        unit = ""
        try:
            for member in members:
                if isinstance(member.locator, Message):
                    yield member, ArchiveError(member.locator)
                    continue
                if reader is None or unit != member.unit:
                    if reader is not None:
                        reader.close()
                    reader, unit = self._open(member.unit), member.unit
                try:
                    yield member, self._read(reader, member)
                except FileFailed:
                    raise
                except ArchiveError as error:
                    yield member, error
        finally:
            if reader is not None:
                reader.close()

    def fingerprint(self) -> str:
        """Returns a hexadecimal SHA-256 that changes when the archive does.

        Made of the files' names, sizes and times and of the zips' directories, so it takes no
        reading of the images.
        """
        self.members()
        digest = hashlib.sha256(self.layout.encode())
        for file in self._layout.files:
            digest.update(f"{file.shown}\0{file.size}\0{file.changed}\n".encode(errors="replace"))
        for unit, checksum in sorted(self._checksums.items()):
            digest.update(f"{unit}\0{checksum}\n".encode(errors="replace"))
        return digest.hexdigest()

    def image_bytes(self) -> int:
        """Returns what the images take where they lie, packed or not; nothing is opened for it."""
        locators = [member.locator for member in self.members() if member.kind == "image"]
        packed = sum(one.compressed for one in locators if isinstance(one, ZipEntry))
        return packed + sum(one.size for one in locators if isinstance(one, FoundFile))

    def check_unchanged(self) -> None:
        """Checks sizes and times of the local files that the archive lies in.

        Raises:
            ArchiveError: If one isn't what it was when the archive was found.
        """
        change = next(filter(None, map(change_of, self._layout.files)), None)
        if change is not None:
            raise ArchiveError(say("changed", place=self.place, change=change))

    def close(self) -> None:
        """Closes what `read` keeps open; reading opens it again."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._kept is not None:
            self._kept[1].close()
            self._kept = None

    def _list(self, key: str) -> Iterator[Member]:
        unit = self._units[key]
        if isinstance(unit, BrokenUnit):
            yield self._broken_member(key, unit.filename, unit.size, unit.error)
        elif isinstance(unit, FolderUnit):
            for file in unit.files:
                yield _member(file.inside, self._folder_names, file.size, key, file)
        else:
            try:
                yield from list(self._list_zip(unit, key))
            except FileFailed:
                raise
            except ArchiveError as error:
                # Found only now, to open nothing twice; the other zips are none the worse.
                size = unit.packed.size if unit.packed else extent_size(unit.extent)
                yield self._broken_member(key, f"{unit.stem}.zip", size, error.message)

    def _broken_member(self, key: str, filename: str, size: int, error: Message) -> Member:
        self._broken[key] = error
        return Member("", "", filename, "image", size, key, error)

    def _list_zip(self, unit: ZipUnit, key: str) -> Iterator[Member]:
        reader = self._open(key)
        try:
            directory: ZipDirectory = read_directory(reader, unit.place)
        finally:
            reader.close()
        self._checksums[key] = directory.checksum
        files = [
            (split_name(entry.name), entry) for entry in directory.entries if not entry.is_folder
        ]
        others = {other.key for other in self._layout.units}
        names = folder_names([name.folders for name, _ in files], unit.stem)
        for name, entry in files:
            if f"{unit.place} › {name.filename}" not in others:
                yield _member(name, names, entry.size, key, entry)

    @functools.cached_property
    def _folder_names(self) -> FolderNames:
        names = [
            file.inside
            for unit in self._layout.units
            if isinstance(unit, FolderUnit)
            for file in unit.files
        ]
        # Only a path straight to a class folder has nothing but files in it.
        is_class = not any(name.folders and not is_stranger(name) for name in names)
        stem = split_name(os.path.abspath(self.place)).filename if is_class else ""
        return folder_names([name.folders for name in names], stem)

    def _open(self, key: str) -> Reader:
        unit = self._units[key]
        if not isinstance(unit, ZipUnit):
            return ExtentReader(())
        reader = ExtentReader(unit.extent)
        if unit.packed is None:
            return reader
        with reader:
            return SpoolReader(inflate_chunks(reader, unit.packed, unit.place), SPOOL_MEMORY)

    def _read(self, reader: Reader, member: Member) -> bytes:
        if isinstance(member.locator, FoundFile):
            return _read_file(member.locator, self.place)
        if isinstance(member.locator, ZipEntry):
            return read_entry(reader, member.locator, member.place)
        raise ArchiveError(member.locator)


def _member(
    name: SplitName, names: FolderNames, size: int, unit: str, locator: ZipEntry | FoundFile
) -> Member:
    category, class_name = names.place(name.folders)
    return Member(
        sys.intern(category),
        sys.intern(class_name),
        name.filename,
        sys.intern(kind_of(name, class_name)),
        size,
        unit,
        locator,
    )


def _read_file(file: FoundFile, root: str) -> bytes:
    if file.fault:
        raise ArchiveError(say("cannot_read", place=file.shown, fault=file.fault))
    if file.size > MAX_MEMBER_BYTES:
        raise ArchiveError(too_large(file.shown, file.size, MAX_MEMBER_BYTES, "MAX_MEMBER_BYTES"))
    try:
        with epath.Path(file.path).open("rb") as data:
            content: bytes = data.read(file.size + 1)
    except OSError as error:
        # One file may be unreadable; a folder that is gone must not look like that many times.
        kind = ArchiveError if epath.Path(root).expanduser().exists() else FileFailed
        raise kind(say("file_unreadable", place=file.shown, error=str(error), root=root)) from error
    if len(content) != file.size:
        raise ArchiveError(say("file_changed", place=file.shown, size=file.size))
    return content


def find_archive(path: str | os.PathLike[str]) -> Archive:
    """Finds the archive at a path, in any layout.

    Args:
        path: AI Hub's download or the folder that holds it; any path that `etils.epath` opens.

    Raises:
        ArchiveError: If there is none, or it is damaged or incomplete; the message says what was
            looked for, what was found and what to do.
    """
    place = os.fspath(path)
    check_path(place)
    if not is_there(place):
        raise ArchiveError(say("not_there", place=place, expected=say("expected")))
    return Archive(place, find_layout(find_parts(find_files(place)), place))

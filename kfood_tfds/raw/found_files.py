"""Lists the files under a path, on a disk or in a bucket, the same way on every system."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from etils import epath

from kfood_tfds.raw.errors import ArchiveError
from kfood_tfds.raw.member_names import SplitName, decode_name, split_name
from kfood_tfds.raw.messages import Message, say

MAX_DEPTH = 12
MAX_FILES = 2_000_000


@dataclass(frozen=True, slots=True)
class FoundFile:
    """One file.

    Attributes:
        path: As `etils.epath` opens it.
        inside: Its path below the folder that was searched, in NFC.
        size: Bytes.
        changed: Time of the last change, in nanoseconds; 0 where unknown.
        fault: Why it isn't read; None if it is.
    """

    path: str
    inside: SplitName
    size: int
    changed: int
    fault: Message | None = None

    @property
    def shown(self) -> str:
        """Its path below the searched folder, for people."""
        return "/".join((*self.inside.folders, self.inside.filename))


def check_path(path: str) -> None:
    """Refuses a path that names no place, or one that only a browser could open.

    Raises:
        ArchiveError: If it is empty, or of a scheme that `etils.epath` doesn't know.
    """
    if not path:
        raise ArchiveError(say("path_empty"))
    try:
        epath.Path(path)
    except KeyError as error:
        raise ArchiveError(say("path_scheme", path=path)) from error


def is_there(path: str) -> bool:
    """Whether there is a file or folder at a path, on a disk or in a bucket.

    Raises:
        ArchiveError: If that can't be told.
    """
    try:
        place = epath.Path(path if "://" in path else os.path.expanduser(path))
        return bool(place.exists())
    except Exception as error:  # Each kind of bucket has errors of its own.
        shown = " ".join(str(error).split())
        raise ArchiveError(say("not_reached", place=path, error=shown)) from error


def find_files(path: str | os.PathLike[str], below: bool = True) -> list[FoundFile]:
    """Returns the file at a path, or all files below a folder, sorted by their NFC paths.

    Links inside the folder are followed, each folder once, so that a link to a parent ends. Links
    that lead out of it are listed but not followed, except those to files right at the top: there
    the archive itself may be a link to another disk.

    Args:
        path: A file or folder; any path that `etils.epath` opens.
        below: False lists the folder's own files only.

    Raises:
        ArchiveError: If there is nothing at the path, or it can't be listed.
    """
    root = os.fspath(path)
    try:
        if "://" in root:
            found = list(_remote(epath.Path(root), "", 0 if below else MAX_DEPTH))
        else:
            found = list(_local(os.path.abspath(os.path.expanduser(root)), below))
    except OSError as error:
        raise ArchiveError(say("cannot_list", place=root, error=str(error))) from error
    return sorted(found, key=lambda file: (file.inside.folders, file.inside.filename, file.path))


def _local(root: str, below: bool) -> Iterator[FoundFile]:
    if os.path.isfile(root):
        yield _of(root, os.path.basename(root), os.stat(root))
        return
    home = os.path.realpath(root)
    seen: set[str] = set()
    pending = [(root, "", 0)]
    count = 0
    while pending:
        folder, inside, depth = pending.pop()
        real = os.path.realpath(folder)
        if real in seen:
            continue
        seen.add(real)
        with os.scandir(folder) as listed:
            entries = sorted(listed, key=lambda entry: entry.name)
        for entry in entries:
            name = f"{inside}{entry.name}"
            fault = _fault(entry, home, depth)
            if entry.is_dir() and not fault:
                if below:
                    pending.append((entry.path, f"{name}/", depth + 1))
            elif entry.is_file() or fault:
                count = _counted(count, root)
                yield _of(entry.path, name, entry.stat(follow_symlinks=not fault), fault)


def _fault(entry: os.DirEntry[str], home: str, depth: int) -> Message | None:
    if entry.is_symlink():
        if not os.path.exists(entry.path):
            return say("fault_dead_link")
        inside = os.path.realpath(entry.path).startswith(os.path.join(home, ""))
        if not inside and not (depth == 0 and entry.is_file()):
            return say("fault_link_out")
    if depth >= MAX_DEPTH and entry.is_dir():
        return say("fault_deep", limit=MAX_DEPTH)
    return None


def _of(path: str, name: str, stat: os.stat_result, fault: Message | None = None) -> FoundFile:
    # The bytes as they are on the disk: unpacked on Linux, CP949 names are no UTF-8.
    # Piece by piece: a folder of the user's own may be UTF-8 above them.
    decoded = "/".join(decode_name(os.fsencode(part)) for part in name.split("/"))
    return FoundFile(path, split_name(decoded), stat.st_size, stat.st_mtime_ns, fault)


def change_of(file: FoundFile) -> Message | None:
    """Says how a local file differs from when it was found; None if it doesn't."""
    if file.fault or "://" in file.path:
        return None
    try:
        now = os.stat(file.path)
    except OSError as error:
        return say("change_gone", place=file.shown, error=str(error))
    if now.st_size != file.size:
        return say("change_size", place=file.shown, size=file.size, now=now.st_size)
    if now.st_mtime_ns != file.changed:
        return say("change_time", place=file.shown)
    return None


def _remote(folder: epath.Path, inside: str, depth: int = 0) -> Iterator[FoundFile]:
    if not folder.is_dir():
        stat = folder.stat()
        yield FoundFile(os.fspath(folder), split_name(folder.name), stat.length, _nanoseconds(stat))
        return
    count = 0
    for entry in folder.iterdir():
        name = f"{inside}{entry.name}"
        if entry.is_dir():
            if depth < MAX_DEPTH:
                yield from _remote(entry, f"{name}/", depth + 1)
            continue
        count = _counted(count, os.fspath(folder))
        stat = entry.stat()
        yield FoundFile(os.fspath(entry), split_name(name), stat.length, _nanoseconds(stat))


def _nanoseconds(stat: epath.StatResult) -> int:
    return int((stat.mtime or 0) * 1_000_000_000)


def _counted(count: int, root: str) -> int:
    if count >= MAX_FILES:
        raise ArchiveError(say("too_many_files", place=root, limit=MAX_FILES))
    return count + 1

"""Byte ranges of files, joined and cut without copying: how an archive is read in place.

A zip stored inside a zip, a part file inside a tar and twenty part files that make one zip are
all the same thing: stretches of files on a disk or in a bucket, one after the other.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Protocol

from etils import epath

from kfood_tfds.raw.errors import ArchiveError
from kfood_tfds.raw.messages import say


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of one file.

    Attributes:
      path: The file, as `etils.epath` opens it.
      start: First byte.
      length: Number of bytes.
    """

    path: str
    start: int
    length: int


Extent = tuple[Segment, ...]


def extent_size(extent: Extent) -> int:
    """Returns the number of bytes in an extent."""
    return sum(segment.length for segment in extent)


def cut(extent: Extent, offset: int, length: int) -> Extent:
    """Returns the part of an extent that begins at `offset`; shorter where the extent ends."""
    pieces = []
    for segment in extent:
        start = max(offset, 0)
        stop = min(offset + length, segment.length)
        if start < stop:
            pieces.append(Segment(segment.path, segment.start + start, stop - start))
        offset -= segment.length
    return tuple(pieces)


class Reader(Protocol):
    """Random reads in something of known size."""

    size: int

    def read_at(self, offset: int, length: int) -> bytes:
        """Returns `length` bytes from `offset` on; fewer only at the end."""

    def close(self) -> None:
        """Frees what the reader holds."""


class ExtentReader:
    """Reads an extent; for one thread at a time, with one file open at a time."""

    def __init__(self, extent: Extent) -> None:
        """Opens nothing yet."""
        self.size = extent_size(extent)
        self._extent = extent
        self._file: IO[bytes] | None = None
        self._path = ""

    def __enter__(self) -> ExtentReader:
        """Returns itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Closes the open file."""
        self.close()

    def read_at(self, offset: int, length: int) -> bytes:
        """Returns `length` bytes from `offset` on; fewer only at the extent's end.

        Raises:
          ArchiveError: A file has become shorter, or can't be read.
        """
        if offset < 0 or length <= 0:
            return b""
        pieces = [self._read(segment) for segment in cut(self._extent, offset, length)]
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _read(self, segment: Segment) -> bytes:
        try:
            if self._file is None or self._path != segment.path:
                self.close()
                self._file = epath.Path(segment.path).open("rb")
                self._path = segment.path
            self._file.seek(segment.start)
            data = self._file.read(segment.length)
        except OSError as error:
            raise FileFailed(
                say("archive_unreadable", place=segment.path, error=str(error))
            ) from error
        if len(data) < segment.length:
            stop = segment.start + len(data)
            raise FileFailed(say("archive_shrank", place=segment.path, stop=stop))
        return data

    def close(self) -> None:
        """Closes the open file; reading opens it again."""
        if self._file is not None:
            self._file.close()
            self._file = None


class FileFailed(ArchiveError):
    """A file itself can't be read: no fault of one member, everything in it is out of reach."""


class SpoolReader:
    """Random reads in bytes that come as a stream; many go into a nameless temporary file."""

    def __init__(self, chunks: Iterator[bytes], memory: int) -> None:
        """Takes in all chunks.

        Args:
          chunks: The bytes in order.
          memory: How many bytes stay in memory before a temporary file is used.
        """
        with ExitStack() as stack:
            file = stack.enter_context(tempfile.SpooledTemporaryFile(max_size=memory))
            self.size = sum(file.write(chunk) for chunk in chunks)
            self._file = file
            stack.pop_all()

    def read_at(self, offset: int, length: int) -> bytes:
        """Returns `length` bytes from `offset` on; fewer only at the end."""
        if offset < 0 or length <= 0:
            return b""
        self._file.seek(offset)
        return self._file.read(length)

    def close(self) -> None:
        """Frees the bytes."""
        self._file.close()


def whole_files(files: Sequence[tuple[str, int]]) -> Extent:
    """Returns the extent of files (path, size) joined in the given order."""
    return tuple(Segment(path, 0, size) for path, size in files)

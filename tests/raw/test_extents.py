"""Files that are cut into stretches, and files that change while they are read."""

from __future__ import annotations

from pathlib import Path

import pytest
from archives import (
    kfood_zip,
    write_files,
)

from kfood_tfds.raw.archive import find_archive
from kfood_tfds.raw.errors import ArchiveError
from kfood_tfds.raw.extents import ExtentReader, Segment, SpoolReader, cut, extent_size


def test_an_archive_that_vanishes_ends_the_reading(tmp_path: Path) -> None:
    path = write_files(tmp_path / "a", {"kfood.zip": kfood_zip()}) / "kfood.zip"
    archive = find_archive(path)
    members = archive.members()
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(ArchiveError, match="was longer when"):
        list(archive.iterate(members))
    path.unlink()
    with pytest.raises(ArchiveError, match="can't be read"):
        list(archive.iterate(members))


PIECES = (Segment("a", 10, 4), Segment("b", 0, 3), Segment("c", 7, 5))


@pytest.mark.parametrize(
    ("offset", "length", "expected"),
    [
        (0, 12, PIECES),
        (0, 4, (Segment("a", 10, 4),)),
        (4, 3, (Segment("b", 0, 3),)),
        (3, 2, (Segment("a", 13, 1), Segment("b", 0, 1))),
        (2, 7, (Segment("a", 12, 2), Segment("b", 0, 3), Segment("c", 7, 2))),
        (11, 50, (Segment("c", 11, 1),)),
        (12, 1, ()),
        (5, 0, ()),
    ],
)
def test_cutting_an_extent(offset: int, length: int, expected: tuple[Segment, ...]) -> None:
    assert cut(PIECES, offset, length) == expected
    assert extent_size(cut(PIECES, offset, length)) == sum(piece.length for piece in expected)


def test_reads_across_the_edges_of_files(tmp_path: Path) -> None:
    write_files(tmp_path, {"a": b"0123456789", "b": b"abcdefghij"})
    extent = (Segment(str(tmp_path / "a"), 2, 5), Segment(str(tmp_path / "b"), 1, 4))
    with ExtentReader(extent) as reader:
        assert reader.size == 9
        assert reader.read_at(0, 100) == b"23456bcde"
        assert reader.read_at(4, 2) == b"6b"
        assert reader.read_at(8, 5) == b"e"
        assert reader.read_at(9, 1) == reader.read_at(-1, 3) == reader.read_at(3, 0) == b""


@pytest.mark.parametrize("memory", [4, 1 << 20])
def test_a_stream_is_read_at_random(memory: int) -> None:
    reader = SpoolReader(iter([b"0123", b"4567", b"89"]), memory)
    assert reader.size == 10
    assert reader.read_at(7, 100) == b"789" and reader.read_at(2, 4) == b"2345"
    assert reader.read_at(-1, 3) == reader.read_at(3, 0) == b""
    reader.close()

"""Reads zip files by byte offset: the directory with its raw names, and single members.

Python's `zipfile` is the better reader of sound zips, but it refuses whole archives for an extra
field that nobody needs, loses the bytes of names and holds a lock around one shared file. What
the archives need is little: stored and deflated members, ZIP64, and a bound on everything.
The format is PKWARE's APPNOTE.TXT; section numbers are given where a structure is read.
"""

from __future__ import annotations

import bisect
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kfood_tfds.raw.errors import ArchiveError
from kfood_tfds.raw.extents import Reader
from kfood_tfds.raw.member_names import MAX_NAME_BYTES, decode_name, name_fault
from kfood_tfds.raw.messages import Message, say

# Ten times the real archive's members, in one zip.
MAX_MEMBERS = 2_000_000
MAX_DIRECTORY_BYTES = 512 * 1024 * 1024
# Of one file inside; as large as any image file that is looked at.
MAX_MEMBER_BYTES = 128 * 1024 * 1024
# Of a deflated zip inside a zip, which has to be unpacked to memory or to a temporary file.
MAX_INNER_ZIP_BYTES = 16 * 1024 * 1024 * 1024
# Deflate can't do better than 1,032 to 1: who claims more lies.
MAX_RATIO = 1_100

STORED, DEFLATED = 0, 8
_METHODS = {1: "Shrink", 6: "Implode", 9: "Deflate64", 12: "BZIP2", 14: "LZMA", 93: "Zstandard",
            95: "XZ", 97: "WavPack", 98: "PPMd", 99: "AES encryption"}  # fmt: skip
_END = struct.Struct("<4s4H2LH")  # 4.3.16
_END64_LOCATOR = struct.Struct("<4sLQL")  # 4.3.15
_END64 = struct.Struct("<4sQ2H2L4Q")  # 4.3.14
_CENTRAL = struct.Struct("<4s6H3L5H2L")  # 4.3.12
_LOCAL = struct.Struct("<4s5H3L2H")  # 4.3.7
_ENCRYPTED, _UTF8 = 0x1, 0x800
# Names and extra fields in front of a member's bytes are rarely longer, so one read gets it all.
_LOCAL_SLACK = 512
_LIES = say("fault_overlap", where=say("another_member"))
_CHUNK = 1 << 20
_WRAP = 1 << 32
# Four times the real archive's size.
_MAX_WRAPS = 16


@dataclass(frozen=True, slots=True)
class ZipEntry:
    """One member of a zip, as its directory has it.

    Attributes:
      name: The path inside the zip, as found but decoded.
      offset: Where its local header begins.
      compressed: Bytes in the zip.
      size: Bytes when unpacked.
      crc: CRC-32 of the unpacked bytes.
      method: 0 stored, 8 deflated.
      fault: Why it can't be read; None if it can.
    """

    name: str
    offset: int
    compressed: int
    size: int
    crc: int
    method: int
    fault: Message | None = None

    @property
    def is_folder(self) -> bool:
        """Whether it only names a folder."""
        return self.name.endswith(("/", "\\")) and not self.size


@dataclass(frozen=True, slots=True)
class ZipDirectory:
    """All members of a zip, in the order of their offsets, and a checksum of the directory."""

    entries: tuple[ZipEntry, ...]
    checksum: int


def read_directory(reader: Reader, place: str) -> ZipDirectory:
    """Reads the list of a zip's members.

    Args:
      reader: The zip's bytes.
      place: What messages call the zip.

    Raises:
      ArchiveError: It is no whole zip, or passes a limit.
    """
    position, size, shift = _find_directory(reader, place)
    data = reader.read_at(position, size)
    if len(data) < size:
        raise ArchiveError(say("zip_directory_cut", place=place))
    found: list[ZipEntry] = []
    at = 0
    while data.startswith(b"PK\1\2", at):
        if len(found) >= MAX_MEMBERS:
            raise ArchiveError(say("zip_too_long", place=place, limit=MAX_MEMBERS))
        entry, at = _parse_entry(data, at, shift or 0, place)
        found.append(entry)
    if len(data) - at >= _CENTRAL.size and not data.startswith(b"PK\5\5", at):
        raise ArchiveError(say("zip_directory_damaged", place=place, at=position + at))
    if shift is None:
        found = list(_unwrapped(found, reader, position))
    found.sort(key=lambda entry: entry.offset)
    found = list(_mark_liars(found, reader))
    return ZipDirectory(tuple(_mark_overlaps(found, position)), zlib.crc32(data))


def check_end(reader: Reader, place: str) -> None:
    """Looks only whether a zip has its end, and a directory where that says.

    Raises:
      ArchiveError: It is no whole zip, or passes a limit.
    """
    _find_directory(reader, place)


def _find_directory(reader: Reader, place: str) -> tuple[int, int, int | None]:
    """Returns the directory's position and size, and by how much its offsets are off.

    None for the last if they are cut to 32 bits.
    """
    if reader.read_at(0, 4) == b"" or reader.size < _END.size:
        raise ArchiveError(say("zip_empty", place=place, size=reader.size))
    tail_start = max(0, reader.size - 65_535 - _END.size)
    tail = reader.read_at(tail_start, reader.size - tail_start)
    at = tail.rfind(b"PK\5\6")
    while at >= 0:
        if len(tail) - at >= _END.size:
            end = _END.unpack_from(tail, at)
            found = _locate(reader, tail_start + at, end, place)
            if found is not None:
                return found
        at = tail.rfind(b"PK\5\6", 0, at)
    if reader.read_at(0, 2) != b"PK":
        raise ArchiveError(say("no_zip", place=place))
    raise ArchiveError(say("zip_cut_off", place=place, size=reader.size))


def _locate(
    reader: Reader, end_at: int, end: tuple[bytes | int, ...], place: str
) -> tuple[int, int, int | None] | None:
    disk, first_disk, _, count, size, offset = (int(value) for value in end[1:7])
    before = end_at
    # Not only where a number is too large for the short record: zips over 2 GB may have both.
    record = _read_end64(reader, end_at)
    if record is not None:
        disk, first_disk, count, size, offset, before = record
    if before - size < 0:
        return None
    if disk or first_disk:
        raise ArchiveError(say("zip_volume", place=place))
    if count > MAX_MEMBERS or size > MAX_DIRECTORY_BYTES:
        raise ArchiveError(
            say(
                "zip_claims",
                place=place,
                count=count,
                size=size,
                members=MAX_MEMBERS,
                bytes=MAX_DIRECTORY_BYTES,
            )
        )
    position = before - size
    if size and reader.read_at(position, 4) != b"PK\1\2":
        return None
    # Where bytes were put before a zip, all its offsets are off by their number. But if what they
    # begin with is a zip, this end is that of a zip stored inside, and the outer one is cut off.
    if position != offset and reader.read_at(0, 4) == b"PK\3\4":
        # Or the zip has no ZIP64 though it is over 4 GB, as macOS's Finder writes them.
        wraps = record is None and 0 < position - offset <= _MAX_WRAPS * _WRAP
        return (position, size, None) if wraps and (position - offset) % _WRAP == 0 else None
    return position, size, position - offset


def _unwrapped(entries: Sequence[ZipEntry], reader: Reader, end: int) -> Iterator[ZipEntry]:
    """Gives offsets that were cut to 32 bits the place where a header with their name lies."""
    last = -1
    for entry in entries:
        # Mostly members lie in the directory's order.
        following = last + 1 + (entry.offset - last - 1) % _WRAP
        places = (*range(following, end, _WRAP), *range(entry.offset, min(following, end), _WRAP))
        for place in places:
            name, _ = _local_name(reader.read_at(place, _LOCAL.size + MAX_NAME_BYTES))
            if name == entry.name:
                last = place
                break
        else:
            place = following
        yield replace(entry, offset=place)


def _read_end64(reader: Reader, end_at: int) -> tuple[int, int, int, int, int, int] | None:
    locator_at = end_at - _END64_LOCATOR.size
    raw = reader.read_at(locator_at, _END64_LOCATOR.size)
    if not raw.startswith(b"PK\6\7"):
        return None
    _, _, claimed, _ = _END64_LOCATOR.unpack(raw)
    for at in (locator_at - _END64.size, claimed):
        raw = reader.read_at(at, _END64.size)
        if len(raw) == _END64.size and raw.startswith(b"PK\6\6"):
            _, _, _, _, disk, first_disk, _, count, size, offset = _END64.unpack(raw)
            return disk, first_disk, count, size, offset, at
    return None


def _parse_entry(data: bytes, at: int, shift: int, place: str) -> tuple[ZipEntry, int]:
    if len(data) - at < _CENTRAL.size:
        raise ArchiveError(say("zip_entry_cut", place=place))
    fields = _CENTRAL.unpack_from(data, at)
    flags, method = fields[3], fields[4]
    crc, compressed, size, name_length, extra_length, comment_length = fields[7:13]
    offset = fields[16]
    name_at = at + _CENTRAL.size
    raw = data[name_at : name_at + name_length]
    extra = data[name_at + name_length : name_at + name_length + extra_length]
    size, compressed, offset = _zip64_sizes(extra, size, compressed, offset)
    following = name_at + name_length + extra_length + comment_length
    if following > len(data):
        raise ArchiveError(say("zip_entry_cut", place=place))
    name = decode_name(raw[: MAX_NAME_BYTES + 1], bool(flags & _UTF8))
    fault = name_fault(raw, name) or _fault(flags, method, compressed, size)
    return ZipEntry(name, offset + shift, compressed, size, crc, method, fault), following


def _zip64_sizes(extra: bytes, size: int, compressed: int, offset: int) -> tuple[int, int, int]:
    """Fills in numbers too large for 32 bits (4.5.3); a broken extra field is passed over."""
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, at)
        if kind == 1:
            body = extra[at + 4 : at + 4 + length]
            values = iter(struct.unpack_from(f"<{len(body) // 8}Q", body))
            size = next(values, size) if size == 0xFFFFFFFF else size
            compressed = next(values, compressed) if compressed == 0xFFFFFFFF else compressed
            offset = next(values, offset) if offset == 0xFFFFFFFF else offset
        at += 4 + length
    return size, compressed, offset


def _fault(flags: int, method: int, compressed: int, size: int) -> Message | None:
    if flags & _ENCRYPTED or method == 99:
        return say("fault_encrypted")
    if method not in (STORED, DEFLATED):
        kind = _METHODS.get(method, f"method {method}")
        return say("fault_method", method=kind)
    if method == STORED and size != compressed:
        return say("fault_sizes", compressed=compressed, size=size)
    if size > MAX_RATIO * max(compressed, 1):
        return say("fault_bomb", size=size, compressed=compressed, limit=MAX_RATIO)
    return None


def _mark_liars(entries: Sequence[ZipEntry], reader: Reader) -> Iterator[ZipEntry]:
    """Marks members that claim a place inside another one, where nothing of their name begins."""
    reach, taken = 0, -1
    for number, entry in enumerate(entries):
        shared = number + 1 < len(entries) and entries[number + 1].offset == entry.offset
        if not entry.fault and (shared or entry.offset < reach):
            name, _ = _local_name(reader.read_at(entry.offset, _LOCAL.size + MAX_NAME_BYTES))
            if name != entry.name or entry.offset == taken:
                entry = replace(entry, fault=_LIES)
        if not entry.fault:
            taken = entry.offset
            reach = max(reach, taken + _LOCAL.size + entry.compressed)
        yield entry


def _local_name(raw: bytes) -> tuple[str, int]:
    """Returns the name in front of a member's bytes, and where those begin."""
    if len(raw) < _LOCAL.size or not raw.startswith(b"PK\3\4"):
        return "", 0
    fields: tuple[int, ...] = _LOCAL.unpack_from(raw)
    flags, name_length, extra_length = fields[2], fields[9], fields[10]
    name = decode_name(raw[_LOCAL.size : _LOCAL.size + name_length], bool(flags & _UTF8))
    return name, _LOCAL.size + name_length + extra_length


def _mark_overlaps(entries: list[ZipEntry], end: int) -> Iterator[ZipEntry]:
    """A member whose bytes run into the next one, or into the directory, can't be sound."""
    places = [entry.offset for entry in entries if entry.fault != _LIES]
    for entry in entries:
        stop = entry.offset + _LOCAL.size + entry.compressed
        number = bisect.bisect_right(places, entry.offset)
        following = places[number] if number < len(places) else end
        if not entry.fault and stop > following and not entry.is_folder:
            where = say("the_directory") if stop > end else say("another_member")
            entry = replace(entry, fault=say("fault_overlap", where=where))
        yield entry


def read_entry(reader: Reader, entry: ZipEntry, place: str) -> bytes:
    """Returns a member's bytes, checked against its CRC-32.

    Args:
      reader: The zip's bytes.
      entry: One of its entries.
      place: What messages call the member.

    Raises:
      ArchiveError: Its bytes are damaged, it is unreadable, or beyond a limit.
    """
    _refuse(entry, MAX_MEMBER_BYTES, "MAX_MEMBER_BYTES", place)
    guess = _LOCAL.size + _LOCAL_SLACK + entry.compressed
    raw = reader.read_at(entry.offset, guess)
    start = _data_start(raw, entry, place)
    stop = start + entry.compressed
    if stop > len(raw) == guess:
        raw += reader.read_at(entry.offset + guess, stop - guess)
    if stop > len(raw):
        raise ArchiveError(say("member_cut_off", place=place))
    data = raw[start:stop]
    if entry.method == DEFLATED:
        data = _inflate(data, entry.size, place)
    if len(data) != entry.size or zlib.crc32(data) != entry.crc:
        raise ArchiveError(say("checksum", place=place))
    return data


def _refuse(entry: ZipEntry, limit: int, limit_name: str, place: str) -> None:
    if entry.fault:
        raise ArchiveError(say("cannot_read", place=place, fault=entry.fault))
    if max(entry.size, entry.compressed) > limit:
        raise ArchiveError(too_large(place, entry.size, limit, limit_name))


def too_large(place: str, size: int, limit: int, limit_name: str) -> Message:
    """Says that a file has more bytes than are read."""
    return say("too_large", place=place, size=size, limit=limit, name=limit_name)


def _data_start(raw: bytes, entry: ZipEntry, place: str) -> int:
    name, start = _local_name(raw)
    if not start:
        raise ArchiveError(say("no_member", place=place, offset=entry.offset))
    if name != entry.name:
        raise ArchiveError(say("two_names", place=place, name=name[:200]))
    return start


def _inflate(data: bytes, size: int, place: str) -> bytes:
    stream = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        return stream.decompress(data, size + 1)
    except zlib.error as error:
        raise ArchiveError(say("cannot_unpack", place=place, error=str(error))) from error


def stored_start(reader: Reader, entry: ZipEntry, place: str) -> int:
    """Returns where a stored member's bytes begin, so that they can be read in place.

    Raises:
      ArchiveError: There is no such member there.
    """
    _refuse(entry, reader.size, "the zip's own size", place)
    raw = reader.read_at(entry.offset, _LOCAL.size + 2 * 65_535)
    return entry.offset + _data_start(raw, entry, place)


def inflate_chunks(reader: Reader, entry: ZipEntry, place: str) -> Iterator[bytes]:
    """Yields a deflated member in chunks of a bounded size, and checks it at the end.

    Raises:
      ArchiveError: It is damaged, or beyond a limit.
    """
    _refuse(entry, MAX_INNER_ZIP_BYTES, "MAX_INNER_ZIP_BYTES", place)
    raw = reader.read_at(entry.offset, _LOCAL.size + 2 * 65_535)
    at = entry.offset + _data_start(raw, entry, place)
    stop = at + entry.compressed
    stream = zlib.decompressobj(-zlib.MAX_WBITS)
    pending, total, crc = b"", 0, 0
    while not stream.eof and total <= entry.size:
        if not pending:
            pending = reader.read_at(at, min(_CHUNK, stop - at))
            at += len(pending)
        try:
            chunk = stream.decompress(pending, _CHUNK)
        except zlib.error as error:
            raise ArchiveError(say("cannot_unpack", place=place, error=str(error))) from error
        if not chunk and not pending:
            break
        pending = stream.unconsumed_tail
        total, crc = total + len(chunk), zlib.crc32(chunk, crc)
        yield chunk
    if total != entry.size or crc != entry.crc:
        raise ArchiveError(say("checksum", place=place))

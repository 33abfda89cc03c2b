"""The markers of a JPEG: what it is, whether it ends well, and whether it is hostile."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from kfood_tfds.raw.image_limits import (
    MAX_EXIF_BYTES,
    MAX_JPEG_SCANS,
    MAX_JPEG_SEGMENTS,
    ImageRejected,
    check_tags,
)

_STANDALONE = frozenset([0x01, *range(0xD0, 0xD8)])
_FRAME_MARKERS = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}

# Segments of a file without metadata: frame, tables, JFIF and Adobe headers, comments.
_BARE_MARKERS = frozenset([0xC0, 0xC1, 0xC2, 0xC4, 0xDA, 0xDB, 0xDD, 0xE0, 0xEE, 0xFE])

# Inside coded data: a marker is 0xFF and any byte but the escape, fill bytes and restarts.
_MARKER = re.compile(rb"\xff[^\x00\xff\xd0-\xd7]")
_END = 0xD9
# Markers that may stand between the scans of a progressive JPEG: tables, comments, data, scans.
_MAY_FOLLOW = frozenset([0xC4, 0xDA, 0xDB, 0xDD, 0xFE, *range(0xE0, 0xF0)])


@dataclass(frozen=True, slots=True)
class JpegHeader:
    """What the markers of a JPEG say.

    Attributes:
      process: Second byte of the frame marker: 0xC0 baseline, 0xC1 extended, 0xC2 progressive.
      precision: Bits per sample.
      height: Height as stored, pixels.
      width: Width as stored, pixels.
      components: Ids of the components, in order.
      adobe_transform: Colour transform of the Adobe marker, or None without one.
      scan_start: Where the first scan's coded data begin, or 0 without a scan.
      is_bare: Whether it has nothing but what decoding needs, and no metadata to look into.
    """

    process: int
    precision: int
    height: int
    width: int
    components: tuple[int, ...]
    adobe_transform: int | None
    scan_start: int
    is_bare: bool = False

    @property
    def is_common(self) -> bool:
        """Whether every libjpeg decodes it to the same grey or RGB without choices of its own."""
        if self.process not in (0xC0, 0xC1, 0xC2) or self.precision != 8:
            return False
        if len(self.components) == 1:
            return True
        ycc = self.adobe_transform in (None, 1) and self.components in ((1, 2, 3), (0, 1, 2))
        return len(self.components) == 3 and ycc


def read_jpeg_header(data: bytes) -> JpegHeader | None:
    """Walks over the markers up to the first scan.

    Args:
      data: The file's bytes.

    Returns:
      The header, or None where no frame was found.

    Raises:
      ImageRejected: A limit is passed; the reason names it.
    """
    exif: dict[bytes, bytes] = {}
    frame: tuple[int, bytes] | None = None
    adobe: int | None = None
    scanned = scan_start = 0
    bare = True
    for segments, (marker, start, end) in enumerate(_jpeg_segments(data), start=1):
        if segments > MAX_JPEG_SEGMENTS:
            raise ImageRejected(
                "hostile JPEG: too many segments, the limit MAX_JPEG_SEGMENTS is "
                f"{MAX_JPEG_SEGMENTS}"
            )
        bare = bare and marker in _BARE_MARKERS
        if marker in _FRAME_MARKERS:
            frame = (marker, data[start:end])
        elif marker in (0xE1, 0xE2) and data[start : start + 4] in (b"Exif", b"MPF\0"):
            skip = 6 if marker == 0xE1 else 4
            key = data[start : start + 4]
            exif[key] = exif.get(key, b"") + data[start + skip : end]
        elif marker == 0xEE and data[start : start + 5] == b"Adobe":
            adobe = next(iter(data[start + 11 : min(end, start + 12)]), None)
        elif marker == 0xDA and start < len(data):
            scanned, scan_start = data[start], end
    for block in exif.values():
        check_tags(block, MAX_EXIF_BYTES)
    header = None
    if frame is not None and len(frame[1]) >= 6:
        process, body = frame
        precision, height, width, number = struct.unpack_from(">BHHB", body)
        components = tuple(body[6 : 6 + 3 * number : 3])
        header = JpegHeader(process, precision, height, width, components, adobe, scan_start, bare)
    # A sequential scan of all components is the only one: libjpeg refuses any further.
    if header is None or header.process > 0xC1 or scanned < len(header.components):
        _check_scans(data)
    return header


def ends_well(data: bytes, header: JpegHeader) -> bool:
    """Tells whether a JPEG's coded data run up to its end marker without a stray marker.

    Decoders differ in what they do about others: TensorFlow stops reading after the last row,
    Pillow goes on to the end marker and may raise.

    Args:
      data: The file's bytes.
      header: Its header.

    Returns:
      False where a full decode by Pillow is needed to know.
    """
    if not 0 < header.scan_start < len(data):
        return False
    for found in _MARKER.finditer(data, header.scan_start):
        marker = found.group()[1]
        if marker == _END:
            return True
        if header.process != 0xC2 or marker not in _MAY_FOLLOW:
            return False
    return False


def _check_scans(data: bytes) -> None:
    # Inside entropy-coded data 0xFF is always followed by 0x00 or a restart marker, so the count
    # is exact but for previews in the EXIF block.
    scans = data.count(b"\xff\xda")
    if scans > MAX_JPEG_SCANS:
        raise ImageRejected(
            f"hostile JPEG: {scans} scans, the limit MAX_JPEG_SCANS is {MAX_JPEG_SCANS}"
        )


def _jpeg_segments(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Gives marker and extent of each segment's payload up to the first scan's."""
    position = 2
    while position + 4 <= len(data) and data[position] == 0xFF:
        marker = data[position + 1]
        if marker == 0xD9:
            return
        if marker == 0xFF or marker in _STANDALONE:
            # A fill byte or a marker without payload; counted, since Pillow steps over each.
            yield marker, position, position
            position += 1 if marker == 0xFF else 2
            continue
        length = int.from_bytes(data[position + 2 : position + 4], "big")
        yield marker, position + 4, position + 2 + max(length, 2)
        if marker == 0xDA:
            return
        position += 2 + max(length, 2)

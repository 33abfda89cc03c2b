"""What an image file says about itself before anything is decoded: its kind, and hostile claims.

Pillow and TensorFlow trust the structure of a file: a JPEG of a million scans, a TIFF whose tags
overlap or a GIF with a gigabyte of comments costs them minutes or all memory. The walks here cost
microseconds, touch only headers, and refuse such a file with the name of the limit. Anything that
they can't follow they leave to the decoder.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from kfood_tfds.raw.errors import KfoodError

# The largest photo known in the archive has 24.4 megapixels. Decoding a progressive JPEG takes
# 9 bytes a pixel, so this bound is 450 MB at worst.
MAX_PIXELS = 50_000_000
# 24.4 megapixels as an uncompressed 32-bit BMP are 98 MB.
MAX_FILE_BYTES = 128 * 1024 * 1024
# Progressive encoders write about ten; each scan walks over the whole image.
MAX_JPEG_SCANS = 100
# An ICC profile takes up to 255 segments, extended XMP some hundred.
MAX_JPEG_SEGMENTS = 2_000
# EXIF in a JPEG is one segment of 64 KB; tags that claim more in sum overlap.
MAX_EXIF_BYTES = 4 * 1024 * 1024
# Some writers put "Exif" twice.
MAX_EXIF_HEADS = 8
# One strip per row is usual, and no image here has more rows than this.
MAX_TIFF_STRIPS = 70_000
# A PNG writer cuts image data into chunks of 8 KB or more.
MAX_PNG_CHUNKS = 20_000
# Captions and XMP take some kilobytes.
MAX_PNG_TEXT_BYTES = 4 * 1024 * 1024
# Comments and application data before the first frame, in blocks of at most 255 bytes.
MAX_GIF_BLOCKS = 10_000

_SNIFF_BYTES = 1024
_TIFF_TYPE_BYTES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8}
_TIFF_TYPE_BYTES |= {13: 4, 16: 8, 17: 8, 18: 8}
_EXIF_HEADS = re.compile(rb"(?:Exif\0\0)*")
_STRIP_TAGS = (273, 279, 324, 325)
_STANDALONE = frozenset([0x01, *range(0xD0, 0xD8)])
_FRAME_MARKERS = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}

# First bytes of what Pillow is asked to read; the key is Pillow's name of the format.
_MAGIC = (
    ("JPEG", b"\xff\xd8\xff"),
    ("PNG", b"\x89PNG\r\n\x1a\n"),
    ("GIF", b"GIF87a"),
    ("GIF", b"GIF89a"),
    ("BMP", b"BM"),
    ("TIFF", b"II*\0"),
    ("TIFF", b"MM\0*"),
    ("TIFF", b"II+\0"),
    ("TIFF", b"MM\0+"),
    ("JPEG2000", b"\xff\x4f\xff\x51"),
    ("JPEG2000", b"\0\0\0\x0cjP  \r\n\x87\n"),
    ("PPM", b"P1"),
    ("PPM", b"P2"),
    ("PPM", b"P3"),
    ("PPM", b"P4"),
    ("PPM", b"P5"),
    ("PPM", b"P6"),
)
# What else is met under an image's name; said in the reason.
_OTHER_MAGIC = (
    ("a PDF document", b"%PDF"),
    ("a ZIP archive", b"PK\x03\x04"),
    ("a RAR archive", b"Rar!"),
    ("a gzip file", b"\x1f\x8b"),
    ("a Photoshop document", b"8BPS"),
    ("an icon", b"\0\0\x01\0"),
    ("a Flash film", b"FWS"),
    ("a Flash film", b"CWS"),
    ("a Matroska film", b"\x1a\x45\xdf\xa3"),
    ("XML", b"<?xml"),
    ("an AppleDouble file", b"\0\x05\x16\x07"),
)
_HTML = re.compile(
    rb"<\s*(?:!doctype|html|head|body|script|title|meta|iframe|p|div)\b", re.IGNORECASE
)


class ImageRejected(KfoodError):
    """An image file can't be used.

    Attributes:
      reason: A short sentence for the manifest. It begins with the kind of fault, such as
        "truncated JPEG", and never holds anything that differs from run to run.
    """

    def __init__(self, reason: str) -> None:
        """Keeps `reason`, which is the message as well."""
        super().__init__(reason)
        self.reason = reason


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
    """

    process: int
    precision: int
    height: int
    width: int
    components: tuple[int, ...]
    adobe_transform: int | None

    @property
    def is_common(self) -> bool:
        """Whether every libjpeg decodes it to the same grey or RGB without choices of its own."""
        if self.process not in (0xC0, 0xC1, 0xC2) or self.precision != 8:
            return False
        if len(self.components) == 1:
            return True
        ycc = self.adobe_transform in (None, 1) and self.components in ((1, 2, 3), (0, 1, 2))
        return len(self.components) == 3 and ycc


def sniff(data: bytes) -> str:
    """Tells the format from the content.

    Args:
      data: The file's bytes.

    Returns:
      Pillow's name of the format.

    Raises:
      ImageRejected: The file is empty, too long, or no image of a known kind.
    """
    if not data:
        raise ImageRejected("empty file")
    if len(data) > MAX_FILE_BYTES:
        raise ImageRejected(
            f"too large: {len(data)} bytes, the limit MAX_FILE_BYTES is {MAX_FILE_BYTES}"
        )
    for kind, magic in _MAGIC:
        if data.startswith(magic):
            return kind
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "WEBP"
    if data[4:8] == b"ftyp" and data[8:12] in (b"avif", b"avis"):
        return "AVIF"
    raise ImageRejected(f"not an image: {_describe(data[:_SNIFF_BYTES])}")


def check_structure(data: bytes, kind: str) -> JpegHeader | None:
    """Refuses files whose structure would cost a decoder undue time or memory.

    Args:
      data: The file's bytes.
      kind: Format as `sniff` gives it.

    Returns:
      The header of a JPEG; None for other formats, or where no frame was found.

    Raises:
      ImageRejected: A limit is passed; the reason names it.
    """
    if kind == "JPEG":
        return _walk_jpeg(data)
    if kind == "PNG":
        _walk_png(data)
    elif kind == "GIF":
        _walk_gif(data)
    elif kind == "TIFF":
        check_tags(data, 4 * len(data) + MAX_EXIF_BYTES)
    return None


def check_size(width: int, height: int) -> None:
    """Refuses an image of too many pixels, or of none.

    Args:
      width: Width, pixels.
      height: Height, pixels.

    Raises:
      ImageRejected: There are no pixels, or more than MAX_PIXELS.
    """
    if width < 1 or height < 1:
        raise ImageRejected(f"no pixels: the header claims {width}x{height}")
    if width * height > MAX_PIXELS:
        raise ImageRejected(
            f"too large: {width}x{height} pixels, the limit MAX_PIXELS is {MAX_PIXELS}"
        )


def check_tags(data: bytes, limit: int) -> None:
    """Refuses a TIFF or EXIF block whose first directory claims more than it can hold.

    Args:
      data: The block, with or without "Exif" in front of its byte-order mark.
      limit: Most bytes that all tags together may claim.

    Raises:
      ImageRejected: The tags claim more than `limit` bytes, or too many strips.
    """
    claimed = 0
    head = _EXIF_HEADS.match(data)
    repeats = head.end() // 6 if head else 0
    # Pillow strips repeated heads one by one, each time copying the rest.
    if repeats > MAX_EXIF_HEADS:
        raise ImageRejected(
            f"hostile tags: {repeats} EXIF heads, the limit MAX_EXIF_HEADS is {MAX_EXIF_HEADS}"
        )
    data = data[6 * repeats :]
    for tag, kind, count in _directory(data):
        size = _TIFF_TYPE_BYTES.get(kind, 1) * count
        # Pillow reads a tag of any length as far as the block goes.
        claimed += min(size, len(data))
        if tag in _STRIP_TAGS and count > MAX_TIFF_STRIPS:
            raise ImageRejected(
                f"hostile TIFF: {count} strips, the limit MAX_TIFF_STRIPS is {MAX_TIFF_STRIPS}"
            )
    if claimed > limit:
        raise ImageRejected(
            f"hostile tags: they claim {claimed} bytes, the limit is {limit} (MAX_EXIF_BYTES)"
        )


def _directory(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Gives tag, type and count of each entry of the first directory, as far as it goes."""
    order = {b"II": "<", b"MM": ">"}.get(data[:2])
    if order is None or len(data) < 16:
        return
    big = data[2:4] in (b"+\0", b"\0+")
    offset, head, entry = (8, "Q", "HHQ8x") if big else (4, "H", "HHL4x")
    (start,) = struct.unpack_from(order + ("Q" if big else "L"), data, offset)
    head_size = struct.calcsize(order + head)
    if start + head_size > len(data):
        return
    (count,) = struct.unpack_from(order + head, data, start)
    size = struct.calcsize(order + entry)
    first = start + head_size
    # The count of a BigTIFF may be any 64-bit number; only what the file holds is looked at.
    last = first + min(count, (len(data) - first) // size) * size
    yield from struct.iter_unpack(order + entry, memoryview(data)[first:last])


def _walk_jpeg(data: bytes) -> JpegHeader | None:
    exif: dict[bytes, bytes] = {}
    frame: tuple[int, bytes] | None = None
    adobe: int | None = None
    scanned = 0
    for segments, (marker, start, end) in enumerate(_jpeg_segments(data), start=1):
        if segments > MAX_JPEG_SEGMENTS:
            raise ImageRejected(
                "hostile JPEG: too many segments, the limit MAX_JPEG_SEGMENTS is "
                f"{MAX_JPEG_SEGMENTS}"
            )
        if marker in _FRAME_MARKERS:
            frame = (marker, data[start:end])
        elif marker in (0xE1, 0xE2) and data[start : start + 4] in (b"Exif", b"MPF\0"):
            skip = 6 if marker == 0xE1 else 4
            key = data[start : start + 4]
            exif[key] = exif.get(key, b"") + data[start + skip : end]
        elif marker == 0xEE and data[start : start + 5] == b"Adobe":
            adobe = next(iter(data[start + 11 : min(end, start + 12)]), None)
        elif marker == 0xDA and start < len(data):
            scanned = data[start]
    for block in exif.values():
        check_tags(block, MAX_EXIF_BYTES)
    header = None
    if frame is not None and len(frame[1]) >= 6:
        process, body = frame
        precision, height, width, number = struct.unpack_from(">BHHB", body)
        components = tuple(body[6 : 6 + 3 * number : 3])
        header = JpegHeader(process, precision, height, width, components, adobe)
    # A sequential scan of all components is the only one: libjpeg refuses any further.
    if header is None or header.process > 0xC1 or scanned < len(header.components):
        _check_scans(data)
    return header


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


def _walk_png(data: bytes) -> None:
    text = 0
    position = 8
    for _ in range(MAX_PNG_CHUNKS):
        if position + 8 > len(data):
            break
        length = int.from_bytes(data[position : position + 4], "big")
        kind = data[position + 4 : position + 8]
        if kind in (b"tEXt", b"zTXt", b"iTXt"):
            text += length
        if text > MAX_PNG_TEXT_BYTES:
            raise ImageRejected(
                f"hostile PNG: {text} bytes of text, the limit MAX_PNG_TEXT_BYTES is "
                f"{MAX_PNG_TEXT_BYTES}"
            )
        if kind == b"IEND":
            return
        position += 12 + length
    else:
        raise ImageRejected(
            f"hostile PNG: too many chunks, the limit MAX_PNG_CHUNKS is {MAX_PNG_CHUNKS}"
        )
    raise ImageRejected("truncated PNG: the file ends before the image does")


def _walk_gif(data: bytes) -> None:
    """Counts the blocks in front of the first frame."""
    position = 13
    if len(data) > 10 and data[10] & 0x80:
        position += 3 << ((data[10] & 7) + 1)
    for _ in range(MAX_GIF_BLOCKS):
        if data[position : position + 1] != b"!":
            return
        position += 2
        for _ in range(MAX_GIF_BLOCKS):
            size = data[position] if position < len(data) else 0
            position += 1 + size
            if not size:
                break
        else:
            break
    raise ImageRejected(
        f"hostile GIF: too many blocks before the first frame, the limit MAX_GIF_BLOCKS is "
        f"{MAX_GIF_BLOCKS}"
    )


def _describe(head: bytes) -> str:
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if _HTML.match(text) or (text[:1] == b"<" and _HTML.search(text)):
        return "HTML page"
    for name, magic in _OTHER_MAGIC:
        if head.startswith(magic):
            return name
    if head[4:8] == b"ftyp":
        brand = head[8:12].decode("ascii", "replace").strip()
        return "HEIC, which Pillow can't read" if brand in ("heic", "heix", "mif1") else "a film"
    if not head.strip(b"\0"):
        return "only zero bytes"
    if text[:1] in (b"{", b"["):
        return "JSON"
    if all(byte >= 0x20 or byte in b"\t\r\n" for byte in head):
        return "text"
    return f"unknown content that starts with {head[:8].hex(' ')}"

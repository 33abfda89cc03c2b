"""The limits that an image file must keep, and the verdict on one that doesn't."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

from kfood_tfds.raw.errors import KfoodError

# Run-length BMPs and PPMs of text are decoded by Pillow's Python code, at about 2 MB a second.
MAX_SLOW_BYTES = 8 * 1024 * 1024
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

_TIFF_TYPE_BYTES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8}
_TIFF_TYPE_BYTES |= {13: 4, 16: 8, 17: 8, 18: 8}
_EXIF_HEADS = re.compile(rb"(?:Exif\0\0)*")
_STRIP_TAGS = (273, 279, 324, 325)


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

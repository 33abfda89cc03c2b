"""JPEG data inside a TIFF, each strip or tile as a file of its own (TIFF Technical Note 2).

Where the data of a strip end early, libtiff leaves what memory held before and reports nothing.
TensorFlow refuses such a strip, given as a file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kfood_tfds.raw.image_limits import ImageRejected
from kfood_tfds.raw.jpeg_header import read_jpeg_header

_WIDTH, _HEIGHT, _SAMPLES, _PLANES = 256, 257, 277, 284
_STRIP_OFFSETS, _ROWS_PER_STRIP, _STRIP_BYTES = 273, 278, 279
_TILE_WIDTH, _TILE_HEIGHT, _TILE_OFFSETS, _TILE_BYTES = 322, 323, 324, 325
_JPEG_TABLES = 347
_START, _END = b"\xff\xd8", b"\xff\xd9"
_SEPARATE = 2


@dataclass(frozen=True, slots=True)
class JpegPart:
    """A strip or tile.

    Attributes:
      name: "strip 0", "tile 3", …
      data: Its content as a whole JPEG file.
      height: Height by its own header, pixels: what it has to give.
      width: Width by its own header, pixels.
    """

    name: str
    data: bytes
    height: int
    width: int


def jpeg_parts(tags: Mapping[int, Any], data: bytes) -> Iterator[JpegPart]:
    """Gives the strips or tiles of a page of compression 7 ("jpeg").

    Args:
      tags: The page's tags by number, as Pillow's `tag_v2`.
      data: The TIFF file.

    Yields:
      Each part; its header covers what the image needs of it, and no more than a part may hold.

    Raises:
      ImageRejected: A part is missing, is no JPEG, or has another size than the tags say.
    """
    tiled = _TILE_OFFSETS in tags
    kind = "tile" if tiled else "strip"
    offsets = tags[_TILE_OFFSETS if tiled else _STRIP_OFFSETS]
    lengths = tags[_TILE_BYTES if tiled else _STRIP_BYTES]
    tables = bytes(tags.get(_JPEG_TABLES, b""))
    tables = tables.removeprefix(_START).removesuffix(_END)
    grid = _grid(tags, tiled)
    listed = min(len(offsets), len(lengths))
    if listed < grid.number:
        raise ImageRejected(f"broken TIFF: {listed} of {grid.number} {kind}s are listed")
    for number in range(grid.number):
        offset, length = int(offsets[number]), int(lengths[number])
        content = data[offset : offset + length]
        name = f"{kind} {number}"
        if not content.startswith(_START):
            raise ImageRejected(f"broken TIFF: {name} is no JPEG")
        whole = _START + tables + content[len(_START) :]
        header = read_jpeg_header(whole)
        rows = grid.rows(number)
        if header is None or header.width != grid.width or not rows <= header.height <= grid.height:
            raise ImageRejected(f"broken TIFF: {name} has another size than its tags say")
        yield JpegPart(name, whole, header.height, header.width)


@dataclass(frozen=True, slots=True)
class _Grid:
    """How parts cover a page: `number` of them, each `height` by `width`, the last strip less."""

    number: int
    height: int
    width: int
    strips: int = 0
    page: int = 0

    def rows(self, number: int) -> int:
        """Returns the least height of a part: the last strip of a plane may be shorter."""
        if not self.strips:
            return self.height
        return min(self.height, self.page - number % self.strips * self.height)


def _grid(tags: Mapping[int, Any], tiled: bool) -> _Grid:
    height, width = int(tags[_HEIGHT]), int(tags[_WIDTH])
    planes = int(tags.get(_SAMPLES, 1)) if tags.get(_PLANES) == _SEPARATE else 1
    if tiled:
        down, across = int(tags[_TILE_HEIGHT]), int(tags[_TILE_WIDTH])
        return _Grid(-(-height // down) * -(-width // across) * planes, down, across)
    most = min(int(tags.get(_ROWS_PER_STRIP, height)), height)
    strips = -(-height // most)
    return _Grid(strips * planes, most, width, strips, height)

"""Pictures and image files made by hand or by Pillow, for tests."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from kfood_tfds.raw.images import ImageRejected, prepare_image

HEIGHT, WIDTH = 48, 72


SOF0 = b"\xff\xc0"


def picture(height: int = HEIGHT, width: int = WIDTH) -> np.ndarray:
    """A smooth coloured picture without any symmetry."""
    y, x = np.mgrid[0:height, 0:width]
    red = 255 * x / width
    green = 255 * y / height
    blue = 127 + 100 * np.sin(x / 9 + y / 17)
    return np.stack([red, green, blue], -1).round().astype(np.uint8)


def saved(image: Image.Image, kind: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def jpeg(**options: object) -> bytes:
    return saved(Image.fromarray(picture()), "JPEG", **{"quality": 90, **options})


def exif(orientation: int) -> bytes:
    entry = struct.pack("<HHLHH", 0x0112, 3, 1, orientation, 0)
    return b"Exif\0\0" + struct.pack("<2sHLH", b"II", 42, 8, 1) + entry + bytes(4)


def png(rows: bytes, width: int, height: int, depth: int, colour: int, *extra: bytes) -> bytes:
    """A PNG by hand; `rows` are unfiltered, each behind a zero byte."""
    header = struct.pack(">LLBBBBB", width, height, depth, colour, 0, 0, 0)
    body = chunk(b"IHDR", header) + b"".join(extra) + chunk(b"IDAT", zlib.compress(rows))
    return b"\x89PNG\r\n\x1a\n" + body + chunk(b"IEND", b"")


def chunk(kind: bytes, data: bytes) -> bytes:
    check = zlib.crc32(kind + data)
    return struct.pack(">L", len(data)) + kind + data + struct.pack(">L", check)


def pillow_view(data: bytes) -> np.ndarray:
    with Image.open(io.BytesIO(data)) as image:
        return np.asarray(image.convert("RGB"))


def reason(data: bytes) -> str:
    with pytest.raises(ImageRejected) as caught:
        prepare_image(data)
    assert str(caught.value) == caught.value.reason
    return caught.value.reason


def two_colours(left: int, right: int) -> np.ndarray:
    """Two grey fields of unequal size."""
    result = np.full((HEIGHT, WIDTH, 3), left, np.uint8)
    result[5:, 20:] = right
    return result

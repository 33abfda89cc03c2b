"""Bytes of any image file in; out come the bytes to store, or the reason for refusing them.

The content decides, never the file's name. Upright 8-bit grey or RGB JPEGs and 8-bit RGB PNGs are
kept byte for byte; whatever else Pillow reads becomes upright 8-bit RGB, flattened on white: as
PNG, or from a lossy source as JPEG of quality 95 without chroma subsampling. All that is stored
has been decoded by TensorFlow.

TensorFlow's default for JPEG is a fast, inexact transform, up to 2.6 levels off on average for
photos of quality 97 and more and 11 for noise of quality 100. The exact one
(`dct_method="INTEGER_ACCURATE"`) costs the same and gives Pillow's pixels to the bit, so it is the
one that is used here; a file isn't to blame for a decoder's option.
"""

from __future__ import annotations

import functools
import io
import re
import struct
import threading
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image, ImageFile, UnidentifiedImageError

from kfood_tfds.raw.image_headers import check_structure, sniff
from kfood_tfds.raw.image_limits import (
    MAX_EXIF_BYTES,
    MAX_FILE_BYTES,
    MAX_PIXELS,
    ImageRejected,
    check_size,
    check_tags,
)
from kfood_tfds.raw.image_pixels import (
    MAX_JPEG_SIDE,
    Pixels,
    encode_bmp,
    encode_jpeg,
    encode_png,
    shrink_image,
    upright_rgb,
)
from kfood_tfds.raw.jpeg_header import JpegHeader, ends_well
from kfood_tfds.raw.tiff_jpeg import jpeg_parts

__all__ = [
    "MAX_DIFFERENCE",
    "MAX_FILE_BYTES",
    "MAX_PIXELS",
    "ImageRejected",
    "PreparedImage",
    "encode_bmp",
    "encode_jpeg",
    "prepare_image",
    "shrink_image",
]

# Mean difference between TensorFlow's and Pillow's pixels that counts as equal, in levels of 255.
MAX_DIFFERENCE = 2.0
LOSSY_QUALITY = 95

_STRIP_SAMPLES = 1_000_000
_ORIENTATION_TAG = 0x0112
_LOSSY_FORMATS = frozenset(["JPEG", "MPO", "WEBP", "JPEG2000", "AVIF"])
_LOSSY_TIFF = frozenset(["jpeg", "webp"])
# Broken strips of these leave holes that can't be told for sure; no photo is stored like that.
_UNTOLD_COMPRESSIONS = {
    "group3": "fax compression group3",
    "group4": "fax compression group4",
    "tiff_ccitt": "fax compression tiff_ccitt",
    "tiff_jpeg": "JPEG compression of before 1995",
}
# What Pillow's readers raise on broken or hostile files; SyntaxError is its "not such a file".
_PILLOW_ERRORS: tuple[type[Exception], ...] = (
    OSError,
    ValueError,
    SyntaxError,
    TypeError,
    LookupError,
    ArithmeticError,
    AttributeError,
    AssertionError,
    EOFError,
    MemoryError,
    RuntimeError,
    Warning,
    struct.error,
    zlib.error,
    Image.DecompressionBombError,
)


@dataclass(frozen=True)
class PreparedImage:
    """An image as it is to be stored.

    Attributes:
      data: The bytes to store: JPEG or PNG, upright, 8 bits.
      height: Height, pixels.
      width: Width, pixels.
      source_format: What the file is by its content, in Pillow's words: "JPEG", "PNG", "GIF", …
      stored_as: "original" (kept byte for byte), "JPEG" or "PNG" (re-encoded).
      orientation: EXIF orientation of the source, 1 to 8; what is stored is upright.
      pixels: uint8[height, width, 3], as TensorFlow decodes `data`.
    """

    data: bytes
    height: int
    width: int
    source_format: str
    stored_as: str
    orientation: int
    pixels: Pixels


def prepare_image(data: bytes) -> PreparedImage:
    """Turns an image file into what is to be stored.

    Safe to call from several threads. An ordinary JPEG is decoded once, by TensorFlow; Pillow
    reads only its header, and that only if it holds metadata.

    Args:
      data: The file's bytes.

    Returns:
      The image, verified by TensorFlow.

    Raises:
      ImageRejected: The file is empty, broken, no image, or beyond a limit; `reason` says which.
    """
    kind = sniff(data)
    header = check_structure(data, kind)
    if header is not None:
        check_size(header.width, header.height)
        if (ready := _bare_jpeg(data, header)) is not None:
            return ready
    image, orientation = _open(data, kind)
    with image:
        if orientation == 1 and _is_plain(image, data, header):
            pixels = _decode(data, kind)
            if pixels is not None and _agrees(pixels, image, data, header):
                height, width = pixels.shape[:2]
                form = image.format or kind
                return PreparedImage(data, height, width, form, "original", 1, pixels)
        return _convert(image, data, kind, orientation)


def _bare_jpeg(data: bytes, header: JpegHeader) -> PreparedImage | None:
    """Prepares the commonest kind of file without Pillow: a whole JPEG that has no metadata."""
    if not (header.is_bare and header.is_common and ends_well(data, header)):
        return None
    pixels = _decode(data, "JPEG")
    if pixels is None or pixels.shape[:2] != (header.height, header.width):
        return None
    return PreparedImage(data, header.height, header.width, "JPEG", "original", 1, pixels)


def _open(data: bytes, kind: str) -> tuple[Image.Image, int]:
    """Reads the header; gives the image, not loaded yet, and its EXIF orientation."""
    with _pillow(kind):
        image = Image.open(io.BytesIO(data), formats=(kind,))
        check_size(*image.size)
        if kind == "PNG":
            # Its EXIF block may stand behind the pixels.
            image.load()
    return image, _orientation(image)


def _orientation(image: Image.Image) -> int:
    try:
        with _quiet():
            block = image.info.get("exif")
            if block is None and (text := image.info.get("Raw profile type exif")):
                # ImageMagick's way of keeping EXIF in a PNG: hexadecimal below three lines.
                block = bytes.fromhex("".join(text.split("\n")[3:]))
            if block is not None:
                check_tags(block, MAX_EXIF_BYTES)
            value = image.getexif().get(_ORIENTATION_TAG)
    except ImageRejected:
        raise
    except _PILLOW_ERRORS:
        # Viewers and decoders show a photo with a broken EXIF block as it lies.
        return 1
    return int(value) if isinstance(value, (int, float)) and value in range(2, 9) else 1


def _is_plain(image: Image.Image, data: bytes, header: JpegHeader | None) -> bool:
    """Whether the file may be stored as it is, if TensorFlow can decode it."""
    if image.format in ("JPEG", "MPO"):
        return header is not None and image.mode in ("L", "RGB") and header.process <= 0xC2
    if image.format != "PNG" or image.mode != "RGB" or data[24:26] != b"\x08\x02":
        return False
    return "transparency" not in image.info and not getattr(image, "is_animated", False)


def _agrees(pixels: Pixels, image: Image.Image, data: bytes, header: JpegHeader | None) -> bool:
    if pixels.shape[:2] != (image.height, image.width):
        return False
    if header is not None and header.is_common and ends_well(data, header):
        return True
    with _pillow(str(image.format)):
        reference = upright_rgb(image)
    return _difference(pixels, reference) <= MAX_DIFFERENCE


def _convert(image: Image.Image, data: bytes, kind: str, orientation: int) -> PreparedImage:
    with _pillow(kind):
        reference = _load_tiff(image, data) if kind == "TIFF" else _load(image, orientation)
    stored_as = "PNG"
    if _is_lossy(image) and max(reference.shape) <= MAX_JPEG_SIDE:
        encoded = encode_jpeg(reference, LOSSY_QUALITY, subsampling="4:4:4")
        stored_as = "JPEG" if _survives(encoded, reference) else "PNG"
    if stored_as == "PNG":
        encoded = encode_png(reference)
    pixels = _decode(encoded, stored_as)
    if pixels is None or pixels.shape != reference.shape:
        raise ImageRejected(f"unreadable {kind}: TensorFlow can't decode it, even re-encoded")
    height, width = pixels.shape[:2]
    form = image.format or kind
    return PreparedImage(encoded, height, width, form, stored_as, orientation, pixels)


def _load(image: Image.Image, orientation: int) -> Pixels:
    image.load()
    # A frame may turn out larger than the header said.
    check_size(*image.size)
    return upright_rgb(image, orientation)


def _load_tiff(image: Image.Image, data: bytes) -> Pixels:
    """Loads a TIFF; twice if libtiff does it, which leaves holes instead of reporting faults.

    The holes of a broken strip show whatever memory held before, so that two loads differ once
    that memory was painted differently. JPEG strips can lack more than that shows: TensorFlow has
    to decode each. Pillow turns a TIFF upright by itself as it loads it.
    """
    compression = image.info.get("compression")
    if compression in _UNTOLD_COMPRESSIONS:
        raise ImageRejected(f"unsupported TIFF: {_UNTOLD_COMPRESSIONS[compression]}")
    if compression == "jpeg":
        _check_jpeg_parts(image, data)
    if not any(tile[0] == "libtiff" for tile in getattr(image, "tile", ())):
        return _load(image, 1)
    _paint_memory(0x55)
    first = _load(image, 1)
    _paint_memory(0xAA)
    with Image.open(io.BytesIO(data), formats=("TIFF",)) as again:
        if not np.array_equal(first, _load(again, 1)):
            raise ImageRejected("broken TIFF: parts of its pixels are missing")
    return first


def _check_jpeg_parts(image: Image.Image, data: bytes) -> None:
    for part in jpeg_parts(getattr(image, "tag_v2", {}), data):
        pixels = _decode(part.data, "JPEG")
        if pixels is None or pixels.shape[:2] != (part.height, part.width):
            raise ImageRejected(f"broken TIFF: {part.name} of its JPEG data can't be decoded")


def _paint_memory(level: int) -> None:
    # Freed at once: sizes from a row to a strip, several of each.
    for size in (600, 1100, 2200, 4400, 9000, 18_000, 36_000, 72_000):
        blocks = [bytes([level]) * size for _ in range(16)]
        del blocks


def _is_lossy(image: Image.Image) -> bool:
    if image.format == "TIFF":
        return image.info.get("compression") in _LOSSY_TIFF
    return image.format in _LOSSY_FORMATS


def _survives(encoded: bytes, reference: Pixels) -> bool:
    """Whether a JPEG keeps the pixels even in TensorFlow's fast transform; noise may not."""
    fast = _tensorflow().io.decode_jpeg(encoded, channels=3).numpy()
    return _difference(fast, reference) <= MAX_DIFFERENCE


def _difference(left: Pixels, right: Pixels) -> float:
    if left.shape != right.shape:
        return float("inf")
    total = 0
    # In strips of some rows, so that a large image needs no further copies of itself.
    rows = max(1, _STRIP_SAMPLES // max(1, left[0].size))
    for start in range(0, len(left), rows):
        one, other = left[start : start + rows], right[start : start + rows]
        total += int((np.maximum(one, other) - np.minimum(one, other)).sum(dtype=np.int64))
    return total / left.size


@functools.cache
def _tensorflow() -> Any:
    import tensorflow as tf

    return tf


def _decode(data: bytes, kind: str) -> Pixels | None:
    """Gives TensorFlow's pixels, or None where it refuses the file."""
    tf = _tensorflow()
    try:
        if kind == "PNG":
            tensor = tf.raw_ops.DecodePng(contents=data, channels=3)
        else:
            # The raw op: a tenth of a millisecond less of Python per image.
            tensor = tf.raw_ops.DecodeJpeg(contents=data, channels=3, dct_method="INTEGER_ACCURATE")
    except tf.errors.OpError:
        return None
    # Without the copy that `numpy()` makes.
    pixels: Pixels = np.asarray(tensor)
    return pixels


@contextmanager
def _pillow(kind: str) -> Iterator[None]:
    """Turns whatever Pillow raises into a reason."""
    try:
        with _quiet():
            yield
    except ImageRejected:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise ImageRejected(
            f"too large: {kind} of too many pixels, the limit MAX_PIXELS is {MAX_PIXELS}"
        ) from None
    except _PILLOW_ERRORS as error:
        raise ImageRejected(_reason(kind, error)) from error


def _reason(kind: str, error: Exception) -> str:
    if isinstance(error, MemoryError):
        return f"too large: not enough memory to decode this {kind}"
    message = str(error)
    if isinstance(error, EOFError) or "truncated" in message.lower():
        return f"truncated {kind}: the file ends before the image does"
    if isinstance(error, UnidentifiedImageError) or not message:
        return f"unreadable {kind}: its header is broken"
    # Pillow names Python objects by address, which differs from run to run.
    words = re.sub(r"<[^>]*>", "", message).split()
    return f"unreadable {kind}: {' '.join(words)[:100]}"


_quiet_lock = threading.Lock()
# Pillow warns beyond this many and refuses twice as many; programs set it to other values, or None.
_PILLOW_PIXELS = 1024**3 // 12


@contextmanager
def _quiet() -> Iterator[None]:
    """Keeps Pillow to its defaults, and its warnings, which name no file, off the terminal."""
    # Filters and settings belong to the whole process, so two threads may not swap them at once.
    with _quiet_lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # `tfds.as_dataframe` turns this on for good, and half an image would pass for a whole one.
        found = ImageFile.LOAD_TRUNCATED_IMAGES, Image.MAX_IMAGE_PIXELS
        ImageFile.LOAD_TRUNCATED_IMAGES, Image.MAX_IMAGE_PIXELS = False, _PILLOW_PIXELS
        try:
            yield
        finally:
            ImageFile.LOAD_TRUNCATED_IMAGES, Image.MAX_IMAGE_PIXELS = found

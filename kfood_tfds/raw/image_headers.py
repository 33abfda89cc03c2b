"""What an image file says about itself before anything is decoded: its kind, and hostile claims.

Pillow and TensorFlow trust the structure of a file: a JPEG of a million scans, a TIFF whose tags
overlap or a GIF with a gigabyte of comments costs them minutes or all memory. The walks here cost
microseconds, touch only headers, and refuse such a file with the name of the limit. Anything that
they can't follow they leave to the decoder.
"""

from __future__ import annotations

import re

from kfood_tfds.raw.image_limits import (
    MAX_EXIF_BYTES,
    MAX_FILE_BYTES,
    MAX_GIF_BLOCKS,
    MAX_PNG_CHUNKS,
    MAX_PNG_TEXT_BYTES,
    MAX_SLOW_BYTES,
    ImageRejected,
    check_tags,
)
from kfood_tfds.raw.jpeg_header import JpegHeader, read_jpeg_header

_SNIFF_BYTES = 1024
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
        return read_jpeg_header(data)
    if kind == "PNG":
        _walk_png(data)
    elif kind == "GIF":
        _walk_gif(data)
    elif kind in ("BMP", "PPM"):
        _check_slow(data, kind)
    elif kind == "TIFF":
        check_tags(data, 4 * len(data) + MAX_EXIF_BYTES)
    return None


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


def _check_slow(data: bytes, kind: str) -> None:
    slow = data[:2] in (b"P1", b"P2", b"P3") if kind == "PPM" else data[30:31] in (b"\1", b"\2")
    if slow and len(data) > MAX_SLOW_BYTES:
        raise ImageRejected(
            f"too large: {len(data)} bytes of {kind} in a slow form, the limit MAX_SLOW_BYTES is "
            f"{MAX_SLOW_BYTES}"
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

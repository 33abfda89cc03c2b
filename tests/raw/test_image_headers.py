"""What is no image, and hostile images: each refused by name, in bounded time and memory."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest
from pictures import (
    SOF0,
    chunk,
    jpeg,
    picture,
    png,
    reason,
    saved,
    two_colours,
)
from PIL import Image

from kfood_tfds.raw.image_limits import MAX_PIXELS
from kfood_tfds.raw.images import prepare_image


def check(data: bytes, expected: np.ndarray) -> None:
    np.testing.assert_array_equal(prepare_image(data).pixels, expected)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty file"),
        (b"<!DOCTYPE html><html></html>", "not an image: HTML page"),
        (b"\xef\xbb\xbf\r\n <HTML><body>404", "not an image: HTML page"),
        (b"<?xml version='1.0'?><html>", "not an image: HTML page"),
        (b"<?xml version='1.0'?><svg/>", "not an image: XML"),
        (b"%PDF-1.4\n", "not an image: a PDF document"),
        (b"PK\x03\x04....", "not an image: a ZIP archive"),
        (b'{"error": 403}', "not an image: JSON"),
        (b"Not found\n", "not an image: text"),
        (bytes(5000), "not an image: only zero bytes"),
        (b"\0\0\0\x18ftypheic\0\0\0\0", "not an image: HEIC, which Pillow can't read"),
        (b"\0\0\0\x18ftypmp42\0\0\0\0", "not an image: a film"),
        (
            b"\x01\x02\x03\x04\x05\x06\x07\x08",
            "not an image: unknown content that starts with 01 02 03 04 05 06 07 08",
        ),
        (b"\xff\xd8\xff", "unreadable JPEG: its header is broken"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "not an image: text"),
    ],
)
def test_what_is_no_image_is_named(data: bytes, words: str) -> None:
    assert reason(data) == words


def claim(data: bytes, height: int, width: int) -> bytes:
    """A JPEG that claims another size."""
    at = data.index(SOF0) + 5
    return data[:at] + struct.pack(">HH", height, width) + data[at + 4 :]


@pytest.mark.parametrize(
    "data",
    [
        claim(jpeg(), 60_000, 60_000),
        png(b"", 60_000, 60_000, 8, 2),
        saved(Image.fromarray(picture()), "GIF")[:6]
        + b"\x60\xea\x60\xea"
        + saved(Image.fromarray(picture()), "GIF")[10:],
        struct.pack("<2sLLLLllHHLLllLL", b"BM", 99, 0, 54, 40, 60_000, 60_000, 1, 24, *[0] * 6),
        b"P6 60000 60000 255\n",
        claim(jpeg(), 8_000, 8_000),
    ],
    ids=["JPEG", "PNG", "GIF", "BMP", "PPM", "below Pillow's limit"],
)
def test_huge_claims_are_refused_before_memory_is_taken(data: bytes) -> None:
    assert f"the limit MAX_PIXELS is {MAX_PIXELS}" in reason(data)


def test_too_long_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kfood_tfds.raw.image_headers.MAX_FILE_BYTES", 1000)
    assert reason(jpeg() + bytes(1000)).endswith("the limit MAX_FILE_BYTES is 1000")


def test_forms_that_decode_slowly_have_a_limit_of_their_own() -> None:
    text = b"P3 40 30 255\n" + b"7 " * 3600
    check(text, np.full((30, 40, 3), 7, np.uint8))
    assert "limit MAX_SLOW_BYTES is" in reason(text + bytes(9_000_000))
    runs = struct.pack("<LllHHLLllLL", 40, 40, 30, 1, 8, 1, 0, 0, 0, 256, 0) + bytes(1024)
    head = struct.pack("<2sLLL", b"BM", 0, 0, 14 + len(runs))
    check(head + runs + b"\x28\7\0\0" * 30 + b"\0\1", np.zeros((30, 40, 3), np.uint8))
    assert "limit MAX_SLOW_BYTES is" in reason(head + runs + b"\1\7" * 5_000_000)


def overlapping(entries: int, length: int) -> bytes:
    """An EXIF block whose tags all claim the same bytes."""
    tags = b"".join(struct.pack("<HHLL", 40_000 + i, 7, length, 8) for i in range(entries))
    return struct.pack("<2sHLH", b"II", 42, 8, entries) + tags + bytes(4) + bytes(length)


def test_overlapping_exif_tags() -> None:
    block = b"Exif\0\0" + overlapping(2_000, 30_000)
    assert "hostile tags" in reason(jpeg(exif=block))
    assert "hostile tags" in reason(saved(Image.fromarray(picture()), "PNG", exif=block))
    assert "hostile tags" in reason(saved(Image.fromarray(picture()), "WEBP", exif=block))


def test_overlapping_tiff_tags_and_too_many_strips() -> None:
    assert "hostile tags" in reason(overlapping(5_000, 1_000_000))
    strips = struct.pack("<2sHLHHHLL", b"II", 42, 8, 1, 273, 4, 100_000, 30)
    assert "limit MAX_TIFF_STRIPS is" in reason(strips + bytes(400_000))


def test_broken_strip_of_a_tiff_is_not_filled_from_memory() -> None:
    data = saved(Image.fromarray(picture(200, 300)), "TIFF", compression="jpeg")
    start = data.index(b"\xff\xda")
    cut = start + (len(data) - start) // 3
    assert reason(data[:cut] + bytes(len(data) - cut)).split(" TIFF")[0] in ("broken", "unreadable")


def test_fax_tiff_is_refused_since_its_faults_cannot_be_told() -> None:
    data = saved(Image.fromarray(picture()).convert("1"), "TIFF", compression="group4")
    assert reason(data) == "unsupported TIFF: fax compression group4"


def test_tiff_whose_directories_loop_reads_its_first_page() -> None:
    data = bytearray(saved(Image.fromarray(picture()), "TIFF"))
    start = struct.unpack_from("<L", data, 4)[0]
    count = struct.unpack_from("<H", data, start)[0]
    struct.pack_into("<L", data, start + 2 + 12 * count, start)
    check(bytes(data), picture())


def test_png_with_huge_text() -> None:
    data = saved(Image.fromarray(picture()), "PNG")
    plain = chunk(b"tEXt", b"a\0" + b"x" * 10_000_000)
    assert "limit MAX_PNG_TEXT_BYTES is" in reason(data[:33] + plain + data[33:])
    packed = chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(50_000_000)))
    assert "MAX_TEXT_CHUNK" in reason(data[:33] + packed + data[33:])
    assert "limit MAX_PNG_CHUNKS is" in reason(
        data[:33] + chunk(b"prVt", b"") * 100_000 + data[33:]
    )


def test_gif_of_many_frames_reads_the_first_alone() -> None:
    data = saved(Image.fromarray(two_colours(9, 200)), "GIF")
    frame = data.index(b",", 13)
    many = data[:-1] + data[frame:-1] * 100_000 + b";"
    check(many, two_colours(9, 200))


def test_gif_of_endless_comments() -> None:
    data = saved(Image.fromarray(two_colours(9, 200)), "GIF")
    frame = data.index(b",", 13)
    block = b"!\xfe" + b"\1x" * 200_000 + b"\0"
    assert "limit MAX_GIF_BLOCKS is" in reason(data[:frame] + block + data[frame:])
    assert "limit MAX_GIF_BLOCKS is" in reason(data[:frame] + b"!\xfe\0" * 50_000 + data[frame:])


@pytest.mark.parametrize("kind", ["PNG", "GIF", "BMP", "TIFF"])
def test_truncated_files_of_other_formats(kind: str) -> None:
    data = saved(Image.fromarray(picture()), kind)
    for cut in (len(data) // 3, len(data) // 2):
        assert reason(data[:-cut]).startswith(f"truncated {kind}: ")
    assert reason(data[:20]).split(": ")[0] in (f"truncated {kind}", f"unreadable {kind}")


def test_truncated_webp() -> None:
    data = saved(Image.fromarray(picture()), "WEBP")
    assert "WEBP" in reason(data[:-20])


def test_png_without_its_end_is_truncated() -> None:
    data = saved(Image.fromarray(picture()), "PNG")
    assert reason(data[:-12]) == "truncated PNG: the file ends before the image does"

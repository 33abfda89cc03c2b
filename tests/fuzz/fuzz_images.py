"""Seeded mutations of images and crop files: `python tests/fuzz/fuzz_images.py --seconds 60`.

Every mutant must be refused with a reason, or be stored as bytes that TensorFlow decodes to the
pixels that Pillow sees in the mutant. Findings are written to a folder; the exit code is their
number, at most 100. The same seed and count of runs give the same mutants.
"""

from __future__ import annotations

import contextlib
import io
import random
import struct
import time
import zlib
from collections.abc import Callable

import numpy as np
import tensorflow as tf
from campaign import Mutant, main
from PIL import Image

from kfood_tfds.raw.crop_area import STATUSES, parse_crop_area, place_crop
from kfood_tfds.raw.images import MAX_DIFFERENCE, ImageRejected, PreparedImage, prepare_image

SLOW_SECONDS = 15.0
MAX_MUTATIONS = 6
NUMBERS = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)

# EXIF's orientation -> what turns the image upright.
TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}

ROWS = (
    b"Img_000_0000=10,20,200,150\r\n",
    b"Img_000_0001 = 10.5 , 20,200, 150 dissimilar\n",
    b"a=986,590\nb=,986,590\nc=dissimilar,986,590\n",
    b"\xef\xbb\xbf[boxes]\n# x\nimg_000_0002=-5,1e300,nan,inf\n",
    "김치=1,2,3,4\n".encode("cp949"),
    "김치=1,2,3,4\n".encode("utf-16"),
)


def forms() -> list[tuple[Image.Image, str, dict[str, object]]]:
    """Image, kind and options of a file of every form that the package reads."""
    y, x = np.mgrid[0:40, 0:56]
    pixels = np.stack([4 * x, 6 * y, 127 + 90 * np.sin(x / 5 + y / 9)], -1).astype(np.uint8)
    rgb = Image.fromarray(pixels)
    grey = rgb.convert("L")
    rgba = Image.fromarray(np.dstack([pixels, (4 * x).astype(np.uint8)]))
    deep = Image.fromarray(257 * np.asarray(grey).astype(np.uint16))
    exif = Image.Exif()
    exif[0x0112], exif[0x010F] = 6, "maker"
    more = [rgb.rotate(90), rgb.rotate(180)]
    return [
        (rgb, "JPEG", {}),
        (rgb, "JPEG", {"quality": 98, "subsampling": 0}),
        (rgb, "JPEG", {"progressive": True}),
        (rgb, "JPEG", {"restart_marker_blocks": 2}),
        (rgb, "JPEG", {"keep_rgb": True}),
        (rgb, "JPEG", {"exif": exif}),
        (grey, "JPEG", {}),
        (rgb.convert("CMYK"), "JPEG", {}),
        (rgb, "MPO", {"save_all": True, "append_images": more}),
        (rgb, "PNG", {}),
        (rgb, "PNG", {"exif": exif, "transparency": (1, 2, 3)}),
        (rgba, "PNG", {}),
        (grey, "PNG", {}),
        (deep, "PNG", {}),
        (rgb.convert("P"), "PNG", {"transparency": 3}),
        (grey.convert("1"), "PNG", {}),
        (rgb, "PNG", {"save_all": True, "append_images": more}),
        (rgb, "GIF", {}),
        (rgb.convert("P"), "GIF", {"transparency": 3, "save_all": True, "append_images": more}),
        (rgb, "BMP", {}),
        (rgba, "BMP", {}),
        (rgb.convert("P"), "BMP", {}),
        (grey.convert("1"), "BMP", {}),
        (rgb, "WEBP", {}),
        (rgba, "WEBP", {"lossless": True, "exif": exif}),
        (rgb, "WEBP", {"save_all": True, "append_images": more}),
        (rgb, "TIFF", {}),
        (rgba, "TIFF", {"compression": "tiff_lzw"}),
        (rgb, "TIFF", {"compression": "jpeg", "exif": exif}),
        (deep, "TIFF", {"compression": "tiff_adobe_deflate"}),
        (grey.convert("1"), "TIFF", {"compression": "group4"}),
        (rgb, "JPEG2000", {}),
        (rgb, "PPM", {}),
    ]


def corpus() -> list[bytes]:
    """Small files of every form."""
    files = []
    for image, kind, options in forms():
        buffer = io.BytesIO()
        image.save(buffer, kind, **options)
        files.append(buffer.getvalue())
    return files


def mutate(data: bytes, others: list[bytes], draw: random.Random) -> bytes:
    """Gives `data` with a few random faults."""
    result = bytearray(data)
    for _ in range(draw.randint(1, MAX_MUTATIONS)):
        # Headers decide most, so every second fault falls into the first bytes.
        reach = len(result) if draw.random() < 0.5 else min(len(result), 200)
        at = draw.randrange(reach) if reach else 0
        length = draw.choice((1, 1, 2, 4, 16, 100))
        kind = draw.randrange(8)
        if kind == 0 and result:
            result[at] ^= 1 << draw.randrange(8)
        elif kind == 1 and result:
            result[at] = draw.randrange(256)
        elif kind == 2:
            del result[at : at + length]
        elif kind == 3:
            result[at:at] = result[at : at + length] * draw.choice((1, 2, 50))
        elif kind == 4:
            result[at:at] = draw.randbytes(length)
        elif kind == 5:
            number = draw.choice(NUMBERS)
            form = draw.choice((">H", "<H", ">L", "<L"))
            packed = struct.pack(form, number & (0xFFFF if form[1] == "H" else 0xFFFFFFFF))
            result[at : at + len(packed)] = packed
        elif kind == 6:
            other = draw.choice(others)
            start = draw.randrange(len(other))
            result[at : at + length] = other[start : start + length]
        elif draw.random() < 0.2:
            del result[at:]
    if bytes(result[:8]) == b"\x89PNG\r\n\x1a\n" and draw.random() < 0.8:
        return mend_checksums(bytes(result))
    return bytes(result)


def mend_checksums(data: bytes) -> bytes:
    """Makes the checksums of a PNG right again, so that faults get past them."""
    result = bytearray(data)
    at = 8
    while at + 12 <= len(result):
        (length,) = struct.unpack_from(">L", result, at)
        if at + 12 + length > len(result):
            break
        end = at + 8 + length
        struct.pack_into(">L", result, end, zlib.crc32(result[at + 4 : end]))
        at = end + 4
    return bytes(result)


def reference(data: bytes) -> np.ndarray | None:
    """What Pillow sees: upright, on white; None for depths that Pillow can't flatten itself."""
    with Image.open(io.BytesIO(data)) as image:
        image.load()
        if image.mode[0] in "IF" or image.mode == "LAB":
            return None
        with contextlib.suppress(SyntaxError, ValueError, TypeError, struct.error, KeyError):
            # Not by ImageOps.exif_transpose: it fails on odd tags beside a sound orientation.
            turn = TURNS.get(image.getexif().get(0x0112))
            image = image if turn is None else image.transpose(turn)
        if not image.has_transparency_data:
            return np.asarray(image.convert("RGB"))
        colours = image.convert("RGBA")
        white = Image.new("RGBA", colours.size, "white")
        return np.asarray(Image.alpha_composite(white, colours).convert("RGB"))


def fault_of_image(data: bytes) -> str:
    """Says what is wrong about the package's view of a file; empty if nothing is."""
    start = time.monotonic()
    try:
        prepared = prepare_image(data)
    except ImageRejected as rejected:
        seconds = time.monotonic() - start
        if seconds > SLOW_SECONDS:
            return f"slow: {seconds:.1f} s to refuse it: {rejected.reason}"
        if not rejected.reason or len(rejected.reason) > 250 or " at 0x" in rejected.reason:
            return f"bad reason: {rejected.reason!r}"
        return ""
    seconds = time.monotonic() - start
    if seconds > SLOW_SECONDS:
        return f"slow: {seconds:.1f} s to accept it"
    return fault_of_prepared(prepared, data)


def fault_of_prepared(prepared: PreparedImage, data: bytes) -> str:
    """Compares what was stored with what Pillow sees."""
    expected = reference(data)
    exact = {} if prepared.data.startswith(b"\x89PNG") else {"dct_method": "INTEGER_ACCURATE"}
    decode = tf.io.decode_jpeg if exact else tf.io.decode_png
    stored = decode(prepared.data, channels=3, **exact).numpy()
    if stored.shape != (prepared.height, prepared.width, 3):
        return f"size: {stored.shape} against {prepared.height}x{prepared.width}"
    with Image.open(io.BytesIO(prepared.data)) as image:
        seen = np.asarray(image.convert("RGB"))
    for name, view in (("source", expected), ("stored", seen), ("pixels", prepared.pixels)):
        if view is None:
            continue
        if view.shape != stored.shape:
            return f"{name}: {view.shape} against {stored.shape}"
        difference = float(np.abs(view.astype(int) - stored).mean())
        if difference > MAX_DIFFERENCE:
            return f"{name}: differs by {difference:.1f} levels"
    return ""


def fault_of_rows(data: bytes, draw: random.Random) -> str:
    """Says what is wrong about the package's view of a crop file; empty if nothing is."""
    height, width = draw.randint(1, 3000), draw.randint(1, 3000)
    for stem, row in parse_crop_area(data).rows.items():
        for mode in ("image", "origin"):
            placed = place_crop(
                row, height, width, orientation=draw.randint(1, 8), two_value_boxes=mode
            )
            box = placed.box
            inside = 0 <= box.ymin < box.ymax <= height and 0 <= box.xmin < box.xmax <= width
            if not inside or placed.status not in STATUSES:
                return f"{stem!r}: {placed}"
    return ""


def maker() -> Callable[[random.Random], Mutant]:
    """Returns what makes a mutant of one of the images, or of the crop tables."""
    files = corpus()

    def make(draw: random.Random) -> Mutant:
        is_image = draw.random() < 0.9
        source = files if is_image else list(ROWS)
        data = mutate(draw.choice(source), source, draw)
        if is_image:
            return Mutant(data, lambda: fault_of_image(data), "image")
        return Mutant(data, lambda: fault_of_rows(data, draw), "crop table")

    return make


if __name__ == "__main__":
    main(__doc__, maker())

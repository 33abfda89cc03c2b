"""Images of every form: what is stored decodes in TensorFlow to the upright, flattened original."""

from __future__ import annotations

import io
import struct
import subprocess
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import tensorflow as tf
from pictures import (
    HEIGHT,
    WIDTH,
    chunk,
    exif,
    jpeg,
    picture,
    pillow_view,
    png,
    reason,
    saved,
    two_colours,
)
from PIL import Image, ImageFile

from kfood_tfds.raw import images
from kfood_tfds.raw.images import prepare_image


def grey_picture() -> np.ndarray:
    return picture()[..., 2]


def deep_png(values: np.ndarray, colour: int, *extra: bytes) -> bytes:
    """A 16-bit PNG of uint16[height, width, channels]."""
    height, width = values.shape[:2]
    big = values.astype(">u2").reshape(height, -1)
    return png(b"".join(b"\0" + row.tobytes() for row in big), width, height, 16, colour, *extra)


def bmp(pixels: np.ndarray, bits: int, palette: bytes = b"") -> bytes:
    """A BMP by hand of 8-bit samples, bottom row first."""
    height, width = pixels.shape[:2]
    rows = [row.tobytes() for row in pixels[::-1]]
    body = b"".join(row + bytes(-len(row) % 4) for row in rows)
    offset = 14 + 40 + len(palette)
    head = struct.pack("<2sLLL", b"BM", offset + len(body), 0, offset)
    colours = len(palette) // 4
    info = struct.pack("<LllHHLLllLL", 40, width, height, 1, bits, 0, len(body), 0, 0, colours, 0)
    return head + info + palette + body


def on_white(colours: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    share = alpha[..., None] / 255.0
    return (colours * share + 255 * (1 - share)).round().astype(np.uint8)


def alpha_ramp() -> np.ndarray:
    return np.tile(np.linspace(0, 255, WIDTH).round().astype(np.uint8), (HEIGHT, 1))


def rgba() -> Image.Image:
    return Image.fromarray(np.dstack([picture(), alpha_ramp()]))


def check(data: bytes, expected: np.ndarray, tolerance: float = 2.0) -> images.PreparedImage:
    """Prepares a file and holds every decoder's view of what is stored against `expected`."""
    prepared = prepare_image(data)
    assert (prepared.height, prepared.width) == expected.shape[:2]
    decoded = tf.io.decode_image(prepared.data, channels=3, expand_animations=False).numpy()
    with Image.open(io.BytesIO(prepared.data)) as image:
        assert image.getexif().get(0x0112, 1) not in range(2, 9)
        assert image.mode in ("RGB", "L")
        seen = np.asarray(image.convert("RGB"))
    for view in (decoded, seen, prepared.pixels):
        assert view.shape == expected.shape
        assert np.abs(view.astype(int) - expected).mean() <= tolerance
    return prepared


KEPT: dict[str, Callable[[], bytes]] = {
    "baseline": jpeg,
    "progressive": lambda: jpeg(progressive=True),
    "4:4:4": lambda: jpeg(subsampling=0),
    "restart markers": lambda: jpeg(restart_marker_blocks=2),
    "stored as RGB": lambda: jpeg(keep_rgb=True),
    "grey": lambda: saved(Image.fromarray(grey_picture()), "JPEG"),
    "quality 100": lambda: jpeg(quality=100),
    "upright by EXIF": lambda: jpeg(exif=exif(1)),
    "EXIF nonsense": lambda: jpeg(exif=exif(77)),
    "EXIF broken": lambda: jpeg(exif=b"Exif\0\0II*\0\xff\xff\xff\xff"),
    "garbage behind": lambda: jpeg() + bytes(500) + b"garbage",
    "odd size": lambda: saved(Image.fromarray(picture(13, 7)), "JPEG"),
    "one pixel": lambda: saved(Image.fromarray(picture(1, 1)), "JPEG"),
    "a colour profile": lambda: jpeg(icc_profile=bytes(150_000)),
}


@pytest.mark.filterwarnings("ignore:Corrupt EXIF")
@pytest.mark.parametrize("name", KEPT)
def test_upright_jpegs_are_kept_byte_for_byte(name: str) -> None:
    data = KEPT[name]()
    prepared = check(data, pillow_view(data))
    assert prepared.data is data
    assert (prepared.source_format, prepared.stored_as, prepared.orientation) == (
        "JPEG",
        "original",
        1,
    )


def test_pixels_of_a_kept_jpeg_are_pillows_to_the_bit() -> None:
    noise = np.random.default_rng(3).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    for quality in (60, 95, 100):
        data = saved(Image.fromarray(noise), "JPEG", quality=quality)
        np.testing.assert_array_equal(prepare_image(data).pixels, pillow_view(data))


def test_multi_picture_jpeg_is_kept() -> None:
    data = saved(
        Image.fromarray(picture()),
        "MPO",
        save_all=True,
        append_images=[Image.fromarray(picture()[::-1])],
    )
    prepared = check(data, pillow_view(data))
    assert (prepared.source_format, prepared.stored_as) == ("MPO", "original")


def test_plain_png_is_kept_byte_for_byte() -> None:
    data = saved(Image.fromarray(picture()), "PNG")
    prepared = check(data, picture(), 0)
    assert prepared.data is data
    assert (prepared.source_format, prepared.stored_as) == ("PNG", "original")


def test_the_content_decides_and_no_name_is_asked_for() -> None:
    kinds = {
        kind: prepare_image(saved(Image.fromarray(picture()), kind)).source_format
        for kind in ("JPEG", "PNG", "GIF", "BMP", "WEBP", "TIFF", "PPM", "JPEG2000")
    }
    assert all(kind == found for kind, found in kinds.items())


LOSSLESS: dict[str, Callable[[], tuple[bytes, np.ndarray]]] = {
    "PNG RGBA": lambda: (saved(rgba(), "PNG"), on_white(picture(), alpha_ramp())),
    "PNG grey": lambda: (
        saved(Image.fromarray(grey_picture()), "PNG"),
        np.dstack([grey_picture()] * 3),
    ),
    "PNG grey and alpha": lambda: (
        saved(Image.merge("LA", [Image.fromarray(grey_picture()), rgba().getchannel("A")]), "PNG"),
        on_white(np.dstack([grey_picture()] * 3), alpha_ramp()),
    ),
    "PNG with a transparent colour": lambda: (
        saved(Image.fromarray(two_colours(9, 200)), "PNG", transparency=(9, 9, 9)),
        two_colours(255, 200),
    ),
    "PNG grey with a transparent level": lambda: (
        saved(Image.fromarray(two_colours(9, 200)[..., 0]), "PNG", transparency=9),
        two_colours(255, 200),
    ),
    "PNG palette": lambda: (
        saved(Image.fromarray(two_colours(9, 200)).quantize(2), "PNG"),
        two_colours(9, 200),
    ),
    "PNG palette with transparency": lambda: (
        saved(paletted(), "PNG", transparency=0),
        two_colours(255, 200),
    ),
    "PNG 1 bit": lambda: (
        saved(Image.fromarray(two_colours(0, 255)[..., 0]).convert("1"), "PNG"),
        two_colours(0, 255),
    ),
    "PNG 16-bit grey": lambda: (
        deep_png(ramp16()[..., None], 0),
        np.dstack([ramp8()] * 3),
    ),
    "PNG 16-bit RGB": lambda: (
        deep_png(np.dstack([ramp16(), ramp16()[::-1], ramp16()]), 2),
        np.dstack([ramp8(), ramp8()[::-1], ramp8()]),
    ),
    "PNG 16-bit RGBA": lambda: (
        deep_png(np.dstack([ramp16()] * 3 + [alpha_ramp().astype(np.uint16) * 257]), 6),
        on_white(np.dstack([ramp8()] * 3), alpha_ramp()),
    ),
    "PNG 16-bit with a transparent level": lambda: (
        deep_png(
            two_colours(9, 200)[..., :1].astype(np.uint16) * 257,
            0,
            chunk(b"tRNS", struct.pack(">H", 9 * 257)),
        ),
        two_colours(255, 200),
    ),
    "animated PNG": lambda: (
        saved(Image.fromarray(picture()), "PNG", save_all=True, append_images=[rgba()]),
        picture(),
    ),
    "GIF": lambda: (
        saved(Image.fromarray(two_colours(9, 200)), "GIF"),
        two_colours(9, 200),
    ),
    "GIF with transparency": lambda: (
        saved(paletted(), "GIF", transparency=0),
        two_colours(255, 200),
    ),
    "animated GIF": lambda: (
        saved(
            Image.fromarray(two_colours(9, 200)),
            "GIF",
            save_all=True,
            append_images=[Image.fromarray(two_colours(60, 100))] * 3,
        ),
        two_colours(9, 200),
    ),
    "BMP 24-bit": lambda: (saved(Image.fromarray(picture()), "BMP"), picture()),
    "BMP palette": lambda: (
        bmp(np.asarray(two_colours(0, 1)[..., 0]), 8, bytes([30, 20, 10, 0, 60, 50, 40, 0] * 128)),
        np.where(two_colours(0, 1) > 0, [40, 50, 60], [10, 20, 30]).astype(np.uint8),
    ),
    "BMP 32-bit": lambda: (
        bmp(np.dstack([picture()[..., ::-1], np.zeros((HEIGHT, WIDTH), np.uint8)]), 32),
        picture(),
    ),
    "TIFF": lambda: (saved(Image.fromarray(picture()), "TIFF"), picture()),
    "TIFF LZW": lambda: (
        saved(Image.fromarray(picture()), "TIFF", compression="tiff_lzw"),
        picture(),
    ),
    "TIFF RGBA": lambda: (saved(rgba(), "TIFF"), on_white(picture(), alpha_ramp())),
    "TIFF 16-bit": lambda: (
        saved(Image.fromarray(ramp16()), "TIFF"),
        np.dstack([ramp8()] * 3),
    ),
    "TIFF float": lambda: (
        saved(Image.fromarray(ramp16().astype(np.float32) / 65535), "TIFF"),
        np.dstack([ramp8()] * 3),
    ),
    "TIFF of two pages": lambda: (
        saved(Image.fromarray(picture()), "TIFF", save_all=True, append_images=[rgba()]),
        picture(),
    ),
    "PPM": lambda: (saved(Image.fromarray(picture()), "PPM"), picture()),
    "PGM 16-bit": lambda: (
        b"P5 %d %d 65535\n" % (WIDTH, HEIGHT) + ramp16().astype(">u2").tobytes(),
        np.dstack([ramp8()] * 3),
    ),
}


def paletted() -> Image.Image:
    """Index 0 is a loud red that must not come back, index 1 a grey of 200."""
    image = Image.fromarray(two_colours(0, 1)[..., 0])
    image.putpalette([255, 0, 0, 200, 200, 200])
    return image


def ramp16() -> np.ndarray:
    row = np.linspace(0, 65535, WIDTH).round().astype(np.uint16)
    return np.stack([np.roll(row, 3 * shift) for shift in range(HEIGHT)])


def ramp8() -> np.ndarray:
    return (ramp16() / 257).round().astype(np.uint8)


@pytest.mark.parametrize("name", LOSSLESS)
def test_lossless_forms_become_png_without_loss(name: str) -> None:
    data, expected = LOSSLESS[name]()
    # Pillow cuts 16-bit colours to 8 bits rather than rounding them; no other form loses a level.
    prepared = check(data, expected, 0.6 if "16-bit RGB" in name else 0)
    assert prepared.stored_as == "PNG"
    assert prepared.data[24:26] == b"\x08\x02"


LOSSY: dict[str, Callable[[], bytes]] = {
    "CMYK JPEG": lambda: saved(Image.fromarray(picture()).convert("CMYK"), "JPEG"),
    "WebP": lambda: saved(Image.fromarray(picture()), "WEBP"),
    "animated WebP": lambda: saved(
        Image.fromarray(picture()),
        "WEBP",
        save_all=True,
        append_images=[Image.fromarray(picture()[::-1])],
    ),
    "JPEG 2000": lambda: saved(
        Image.fromarray(picture()), "JPEG2000", irreversible=True, quality_layers=[20]
    ),
    "TIFF with JPEG": lambda: saved(Image.fromarray(picture()), "TIFF", compression="jpeg"),
}


@pytest.mark.parametrize("name", LOSSY)
def test_lossy_forms_become_jpeg_of_quality_95_without_subsampling(name: str) -> None:
    data = LOSSY[name]()
    prepared = check(data, pillow_view(data))
    assert prepared.stored_as == "JPEG"
    with Image.open(io.BytesIO(prepared.data)) as stored, Image.open(io.BytesIO(data)):
        reference = saved(Image.fromarray(picture()), "JPEG", quality=95, subsampling=0)
        with Image.open(io.BytesIO(reference)) as wanted:
            assert stored.quantization == wanted.quantization
            assert [layer[1:3] for layer in stored.layer] == [(1, 1)] * 3


def test_transparent_webp_lies_on_white() -> None:
    data = saved(rgba(), "WEBP", lossless=True, exact=True)
    check(data, on_white(picture(), alpha_ramp()))


def test_noise_that_jpeg_cannot_hold_becomes_png() -> None:
    noise = np.random.default_rng(5).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    data = saved(Image.fromarray(noise), "WEBP", lossless=True)
    assert check(data, noise, 0).stored_as == "PNG"


@pytest.mark.parametrize("orientation", range(2, 9))
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF"])
def test_exif_orientation_is_applied(kind: str, orientation: int) -> None:
    block = exif(orientation)
    if kind == "TIFF":
        settings = Image.Exif()
        settings[0x0112] = orientation
        data = saved(Image.fromarray(picture()), kind, exif=settings)
    else:
        data = saved(Image.fromarray(picture()), kind, exif=block)
    source = pillow_view(data) if kind in ("JPEG", "WEBP") else picture()
    # EXIF 2.3: which corner of the scene the stored row 0, column 0 shows.
    turned = {
        2: source[:, ::-1],
        3: source[::-1, ::-1],
        4: source[::-1],
        5: source.transpose(1, 0, 2),
        6: source.transpose(1, 0, 2)[:, ::-1],
        7: source.transpose(1, 0, 2)[::-1, ::-1],
        8: source.transpose(1, 0, 2)[::-1],
    }[orientation]
    prepared = check(data, turned)
    assert prepared.orientation == orientation
    assert prepared.stored_as == ("JPEG" if kind in ("JPEG", "WEBP") else "PNG")


def test_orientation_in_xmp_alone_is_applied_as_pillow_does() -> None:
    packet = b'http://ns.adobe.com/xap/1.0/\0<x:xmpmeta tiff:Orientation="3"/>'
    data = jpeg()
    segment = b"\xff\xe1" + struct.pack(">H", len(packet) + 2) + packet
    check(data[:2] + segment + data[2:], pillow_view(data)[::-1, ::-1])


def test_reasons_are_the_same_every_time() -> None:
    broken = [
        saved(Image.fromarray(picture()), kind)[:30] + bytes(50)
        for kind in ("JPEG", "PNG", "GIF", "BMP", "WEBP", "TIFF", "JPEG2000", "PPM")
    ]
    for data in broken:
        first = reason(data)
        assert first == reason(bytes(data))
        assert "0x" not in first and len(first) < 200


def test_ordinary_jpeg_is_decoded_once_and_not_by_pillow(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    decode = images._decode
    monkeypatch.setattr(images, "_decode", lambda *args: calls.append(args) or decode(*args))

    def refuse(*_: object) -> None:
        raise AssertionError("Pillow was asked to decode")

    monkeypatch.setattr("PIL.ImageFile.ImageFile.load", refuse)
    prepare_image(jpeg())
    prepare_image(jpeg(progressive=True, exif=exif(1)))
    assert len(calls) == 2


def test_threads_give_the_same_results() -> None:
    files = [KEPT[name]() for name in KEPT] + [LOSSLESS[name]()[0] for name in LOSSLESS]
    alone = [prepare_image(data).data for data in files]
    with ThreadPoolExecutor(4) as pool:
        together = [prepared.data for prepared in pool.map(prepare_image, files * 3)]
    assert together == alone * 3


def test_pillows_warnings_stay_inside() -> None:
    broken = b"Exif\0\0" + struct.pack("<2sHLHHHLL", b"II", 42, 8, 1, 0x010F, 2, 999, 5000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert prepare_image(jpeg(exif=broken)).stored_as == "original"


def test_module_loads_no_tensorflow() -> None:
    code = "import sys; import kfood_tfds.raw.images; sys.exit('tensorflow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "GIF", "BMP", "TIFF", "WEBP"])
def test_what_a_program_sets_in_pillow_changes_no_verdict(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = saved(Image.fromarray(picture()), kind)
    half = whole[: len(whole) * 2 // 3]
    expected, told = prepare_image(whole).data, reason(half)
    # So does `tfds.as_dataframe`; others lift the bound on pixels, or lower it.
    for truncated, pixels in ((True, None), (True, 10), (False, 10)):
        monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", truncated)
        monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", pixels)
        assert reason(half) == told
        assert prepare_image(whole).data == expected
        assert (truncated, pixels) == (ImageFile.LOAD_TRUNCATED_IMAGES, Image.MAX_IMAGE_PIXELS)

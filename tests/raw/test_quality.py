"""Quality flags: each raised by an image made for it, none by an ordinary one."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFilter

from kfood_tfds.raw.crop_area import CropBox
from kfood_tfds.raw.quality import FLAGS, Quality, measure, quality_flags

GOOD = Quality(sharpness=900.0, brightness=120.0, contrast=50.0, palette_share=0.2)


def photo(height: int = 480, width: int = 640) -> Image.Image:
    """Coloured blobs with fine grain: as rough as a photo of food."""
    draw = np.random.default_rng(8)
    coarse = draw.integers(0, 256, (height // 16 + 1, width // 16 + 1, 3), dtype=np.uint8)
    blobs = Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC)
    grain = draw.normal(0, 8, (height, width, 1))
    return Image.fromarray(np.clip(np.asarray(blobs) + grain, 0, 255).astype(np.uint8))


def screen() -> Image.Image:
    """A page of text with a coloured field."""
    image = Image.new("RGB", (640, 480), "white")
    draw = ImageDraw.Draw(image)
    for line in range(30):
        draw.text((10, 6 + 15 * line), f"Step {line}: add some water and let it boil", fill="black")
    draw.rectangle((400, 100, 600, 300), fill=(200, 30, 40))
    return image


def flags_of(image: Image.Image) -> tuple[str, ...]:
    pixels = np.asarray(image.convert("RGB"))
    return quality_flags(measure(pixels), *pixels.shape[:2], None)


def as_jpeg(image: Image.Image, quality: int = 85) -> Image.Image:
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=quality)
    return Image.open(buffer)


@pytest.mark.parametrize("size", [(480, 640), (128, 128), (1200, 1600), (70, 200)])
def test_ordinary_photo_has_no_flag(size: tuple[int, int]) -> None:
    assert flags_of(photo(*size)) == ()
    assert flags_of(as_jpeg(photo(*size))) == ()


def test_grey_photo_has_no_flag() -> None:
    assert flags_of(photo().convert("L")) == ()


@pytest.mark.parametrize("size", [(240, 320), (480, 640), (1200, 1600)])
def test_blur_is_seen_at_every_size(size: tuple[int, int]) -> None:
    soft = photo(*size).filter(ImageFilter.GaussianBlur(max(size) / 60))
    assert "blurred" in flags_of(soft)


def test_dark_bright_and_uniform() -> None:
    grain = np.random.default_rng(2).normal(0, 3, (200, 300, 3))
    for level, flag in ((15, "dark"), (128, "uniform"), (248, "bright")):
        pixels = np.clip(level + grain, 0, 255).astype(np.uint8)
        found = flags_of(Image.fromarray(pixels))
        assert set(found) == {flag, "uniform"}
    night = Image.eval(photo(), lambda level: level // 6)
    assert flags_of(night) == ("dark",)


@pytest.mark.parametrize("quality", [75, 95])
def test_screens_and_drawings_have_few_colours(quality: int) -> None:
    assert flags_of(screen()) == ("few_colours",)
    assert flags_of(as_jpeg(screen(), quality)) == ("few_colours",)
    drawing = Image.new("RGB", (300, 300), (240, 200, 60))
    ImageDraw.Draw(drawing).ellipse((40, 40, 260, 260), fill=(30, 90, 30), outline=(0, 0, 0))
    assert "few_colours" in flags_of(as_jpeg(drawing, quality))


def test_plate_on_white_is_no_drawing() -> None:
    pixels = np.full((480, 640, 3), 250, np.uint8)
    pixels[120:360, 200:440] = np.asarray(photo(240, 240))
    assert flags_of(Image.fromarray(pixels)) == ()


@pytest.mark.parametrize(
    ("height", "width", "box", "flags"),
    [
        (100, 100, None, ()),
        (100, 100, CropBox(0, 0, 100, 100), ()),
        (100, 100, CropBox(0, 0, 20, 25), ()),
        (100, 100, CropBox(0, 0, 20, 24), ("small_box",)),
        (64, 64, None, ()),
        (63, 100, None, ("small_image",)),
        (100, 63, None, ("small_image",)),
        (100, 300, None, ()),
        (100, 301, None, ("extreme_aspect",)),
        (301, 100, None, ("extreme_aspect",)),
        (10, 100, CropBox(0, 0, 1, 1), ("small_box", "small_image", "extreme_aspect")),
    ],
)
def test_sizes(height: int, width: int, box: CropBox | None, flags: tuple[str, ...]) -> None:
    assert quality_flags(GOOD, height, width, box) == flags


def test_measures_of_known_images() -> None:
    flat = measure(np.full((50, 60, 3), 77, np.uint8))
    assert flat == Quality(0.0, 77.0, 0.0, 1.0)
    # Left half 0, right half 200: mean 100, deviation 100. The Laplacian is 200 and -200 in the
    # two columns beside the edge and 0 in the other 96 of 98: variance 2 * 200**2 / 98.
    halves = np.zeros((50, 100, 3), np.uint8)
    halves[:, 50:] = 200
    found = measure(halves)
    assert (found.brightness, found.contrast, found.palette_share) == (100.0, 100.0, 1.0)
    assert found.sharpness == pytest.approx(2 * 200**2 / 98)


@pytest.mark.parametrize("size", [(1, 1), (1, 500), (2, 2), (3, 3), (4032, 3)])
def test_any_size_can_be_measured(size: tuple[int, int]) -> None:
    quality = measure(np.full((*size, 3), 9, np.uint8))
    assert quality == Quality(0.0, 9.0, 0.0, 1.0)
    assert set(quality_flags(quality, *size, None)) <= set(FLAGS)


def test_level_is_read_on_sixteen_strips_of_a_large_image() -> None:
    # 600 rows at every third pixel are 200 rows, and the middles of 16 equal parts of them are 6,
    # 18, 31, 43, …: those and their neighbours count, in the green channel, with a Laplacian each.
    pixels = np.random.default_rng(4).integers(0, 256, (600, 30, 3), dtype=np.uint8)
    levels, laplacians = [], []
    for part in range(16):
        middle = int((part + 0.5) * 12.5)
        for row in (middle - 1, middle, middle + 1):
            levels += [int(pixels[3 * row, 3 * column, 1]) for column in range(10)]
        for column in range(1, 9):
            around = ((0, 0, 4), (-1, 0, -1), (1, 0, -1), (0, -1, -1), (0, 1, -1))
            laplacians.append(
                sum(
                    weight * int(pixels[3 * (middle + down), 3 * (column + right), 1])
                    for down, right, weight in around
                )
            )
    found = measure(pixels)
    assert found.brightness == pytest.approx(np.mean(levels))
    assert found.contrast == pytest.approx(np.std(levels))
    assert found.sharpness == pytest.approx(np.var(laplacians))

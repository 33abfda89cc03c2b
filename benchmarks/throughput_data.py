"""Draws the photos that `throughput.py` reads, as an extracted archive with crop boxes."""

from __future__ import annotations

import csv
import dataclasses
import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

WIDTHS = (300, 1300)
QUALITY = 90
_TEXTURE_SIDE = 2048
# Gives a mean file size of about 100 KB at the sizes and the quality above.
_ROUGHNESS = 10.0

Box = tuple[int, int, int, int]


@dataclasses.dataclass(frozen=True)
class Photo:
    """A drawn file.

    Attributes:
        category: Folder of the category.
        name: Folder of the class.
        stem: File name without its extension.
        label: Number of the class.
        height: Pixels.
        width: Pixels.
        box: x, y, width, height in pixels; None for most, as in the archive.
    """

    category: str
    name: str
    stem: str
    label: int
    height: int
    width: int
    box: Box | None

    @property
    def id(self) -> str:
        """Path of the file in the archive."""
        return f"{self.category}/{self.name}/{self.stem}.jpg"


def draw_archive(
    folder: Path, classes: list[tuple[int, str, str]], number: int, box_share: float, seed: int = 0
) -> list[Photo]:
    """Draws photos into class folders, with a crop_area.properties in each.

    Args:
        folder: Where to; created.
        classes: Label, name and category of each class.
        number: Photos in all.
        box_share: Share of them that has a box.
        seed: Of every choice.

    Returns:
        The photos, in the order drawn.
    """
    photos = draw_photos(folder, classes, range(number), box_share, seed)
    write_boxes(folder, photos)
    return photos


def draw_photos(
    folder: Path,
    classes: list[tuple[int, str, str]],
    numbers: range,
    box_share: float,
    seed: int = 0,
) -> list[Photo]:
    """Draws photos alone; those that are there already stay, so a drawing can be taken up again.

    Args:
        folder: Where to; created.
        classes: Label, name and category of each class.
        numbers: Of the photos; each number is always the same photo.
        box_share: Share of them that has a box.
        seed: Of every choice.

    Returns:
        The photos, in the order drawn.
    """
    texture = _texture(np.random.default_rng([seed, 0]))
    return [
        _draw(folder, classes[index % len(classes)], index, box_share, texture, seed)
        for index in numbers
    ]


def write_boxes(folder: Path, photos: list[Photo]) -> None:
    """Writes a crop_area.properties into each class folder."""
    rows: dict[Path, list[str]] = {}
    for photo in photos:
        lines = rows.setdefault(folder / photo.category / photo.name, [])
        if photo.box:
            lines.append(f"{photo.stem}={','.join(map(str, photo.box))}\r\n")
    for path, lines in rows.items():
        (path / "crop_area.properties").write_text("".join(lines), newline="")


def read_classes(path: Path) -> list[tuple[int, str, str]]:
    """Returns label, name and category of every class in the package's table."""
    with path.open(encoding="utf-8", newline="") as file:
        return [(int(row["label"]), row["name"], row["category"]) for row in csv.DictReader(file)]


def _draw(
    folder: Path,
    food: tuple[int, str, str],
    index: int,
    box_share: float,
    texture: npt.NDArray[np.float32],
    seed: int,
) -> Photo:
    rng = np.random.default_rng([seed, 1, index])
    label, name, category = food
    width = int(np.exp(rng.uniform(*np.log(WIDTHS))))
    height = int(width * rng.choice([3 / 4, 2 / 3, 1.0, 4 / 3], p=[0.5, 0.25, 0.15, 0.1]))
    box = _box(rng, height, width) if rng.random() < box_share else None
    stem = f"Img_{label:03d}_{index:04d}"
    photo = Photo(category, name, stem, label, height, width, box)
    path = folder / photo.id
    if path.exists():
        return photo
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_suffix(".half")
    half.write_bytes(_jpeg(_pixels(rng, texture, height, width)))
    half.replace(path)
    return photo


def _box(rng: np.random.Generator, height: int, width: int) -> Box:
    share = rng.uniform(0.5, 0.9, 2)
    tall, wide = int(height * share[0]), int(width * share[1])
    return int(rng.integers(width - wide + 1)), int(rng.integers(height - tall + 1)), wide, tall


def _texture(rng: np.random.Generator) -> npt.NDArray[np.float32]:
    """Returns float32[side, side, 3] of zero mean and unit variance, amplitude 1/f as in photos."""
    side = _TEXTURE_SIDE
    radius = np.hypot(np.fft.fftfreq(side)[:, None], np.fft.rfftfreq(side)[None, :])
    radius[0, 0] = np.inf
    grey, *tints = (
        np.fft.irfft2(np.fft.rfft2(rng.standard_normal((side, side))) / radius, s=(side, side))
        for _ in range(4)
    )
    texture = grey[..., None] + 0.4 * np.stack(tints, axis=-1)
    return (texture / texture.std()).astype(np.float32)


def _pixels(
    rng: np.random.Generator, texture: npt.NDArray[np.float32], height: int, width: int
) -> npt.NDArray[np.uint8]:
    """Returns a laid table, textured, uint8[height, width, 3]."""
    y, x = rng.integers(_TEXTURE_SIDE, size=2)
    rows = (y + np.arange(height)) % _TEXTURE_SIDE
    columns = (x + np.arange(width)) % _TEXTURE_SIDE
    surface = texture[rows[:, None], columns[None, :]]
    table, plate, food = (_colour(rng) for _ in range(3))
    # Plates alone look alike, as photos don't: other things lie around and over them.
    colours, depths = Image.new("RGB", (width, height), table), Image.new("L", (width, height), 10)
    for place, radii, thing, rough in _things(rng, plate, food):
        corners = (place - radii, place + radii)
        box = [float((c[i] + 1) / 2 * (width, height)[i]) for c in corners for i in (0, 1)]
        ImageDraw.Draw(colours).ellipse(box, thing)
        ImageDraw.Draw(depths).ellipse(box, rough)
    depth = np.asarray(depths, np.float32)[..., None] * np.float32(_ROUGHNESS / 10)
    return np.clip(np.asarray(colours) + surface * depth, 0, 255).astype(np.uint8)


def _colour(rng: np.random.Generator) -> tuple[int, int, int]:
    red, green, blue = (int(level) for level in rng.integers(40, 220, 3))
    return red, green, blue


def _things(
    rng: np.random.Generator, plate: tuple[int, int, int], food: tuple[int, int, int]
) -> Iterator[tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], tuple[int, int, int], int]]:
    """Yields place, radii, colour and roughness in tenths of what lies there, from below."""
    for _ in range(4):
        yield rng.uniform(-1, 1, 2), rng.uniform(0.2, 0.7, 2), _colour(rng), 8
    place, radii = rng.uniform(-0.3, 0.3, 2), rng.uniform(0.5, 0.9, 2)
    yield place, radii, plate, 3
    yield place, 0.75 * radii, food, 13
    for _ in range(4):
        beside = place + rng.uniform(-0.5, 0.5, 2) * radii
        yield beside, rng.uniform(0.1, 0.4, 2), _colour(rng), 13


def _jpeg(pixels: npt.NDArray[np.uint8]) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "JPEG", quality=QUALITY)
    return stream.getvalue()

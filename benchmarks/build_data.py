"""Draws the archive that `build.py` builds from: photos in category zips inside one `kfood.zip`."""

from __future__ import annotations

import os
import zipfile
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path

from throughput_data import Photo, draw_photos, read_classes, write_boxes

CLASSES_CSV = Path(__file__).parents[1] / "kfood_tfds" / "raw" / "classes.csv"
BOX_SHARE = 0.3
# Photos that a process draws before it takes the next ones.
_PIECE = 250


def draw_zip(work: Path, number: int) -> Path:
    """Draws photos on all cores and zips them as AI Hub does; what is there is kept.

    Args:
        work: Where to; created.
        number: Photos.

    Returns:
        The folder that holds `kfood.zip` and nothing else.
    """
    manual = work / f"manual-{number}"
    target = manual / "kfood.zip"
    if target.exists():
        return manual
    photos = draw_in_parallel(work / "photos", number)
    manual.mkdir(parents=True, exist_ok=True)
    half = work / "kfood.zip.half"
    _zip_categories(half, work / "photos", photos)
    half.replace(target)
    return manual


def draw_in_parallel(folder: Path, number: int) -> list[Photo]:
    """Draws photos on all cores; gives them in the order of their numbers."""
    classes = read_classes(CLASSES_CSV)
    pieces = [range(at, min(at + _PIECE, number)) for at in range(0, number, _PIECE)]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        drawn = pool.map(draw_photos, repeat(folder), repeat(classes), pieces, repeat(BOX_SHARE))
        photos = [photo for piece in drawn for photo in piece]
    write_boxes(folder, photos)
    return photos


def _zip_categories(target: Path, folder: Path, photos: list[Photo]) -> None:
    """Writes stored category zips, one after the other, into a stored zip."""
    inner = target.with_suffix(".inner")
    with zipfile.ZipFile(target, "w") as outer:
        for category in sorted({photo.category for photo in photos}):
            names = sorted({photo.name for photo in photos if photo.category == category})
            with zipfile.ZipFile(inner, "w") as zipped:
                for name in names:
                    tables = f"{category}/{name}/crop_area.properties"
                    ids = [photo.id for photo in photos if photo.name == name]
                    for path in (tables, *ids):
                        zipped.write(folder / path, path)
            outer.write(inner, f"{category}.zip")
    inner.unlink()

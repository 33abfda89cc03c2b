"""A contact sheet of chosen classes, straight from the archive: images, crop boxes, names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from kfood_tfds import drawing
from kfood_tfds.fonts import LabelFont, display_name, find_font
from kfood_tfds.raw.archive import Archive, find_archive
from kfood_tfds.raw.classes import ClassTable, FoodClass, load_class_table
from kfood_tfds.raw.crop_area import place_crop
from kfood_tfds.raw.errors import SurveyError
from kfood_tfds.raw.images import ImageRejected, prepare_image
from kfood_tfds.raw.messages import say
from kfood_tfds.raw.planned_files import (
    PlannedFile,
    ReadFile,
    check_plan,
    in_reading_order,
    plan_files,
    read_files,
)

_EMPTY = np.full((3, 4, 3), 234, np.uint8)
_BOXED = ("annotated", "clipped")


@dataclass(frozen=True, slots=True)
class Preview:
    """What a preview shows.

    Attributes:
        path: The PNG file.
        shown: Images of each class, by Korean name in the order of the rows.
    """

    path: str
    shown: tuple[tuple[str, int], ...]


def preview(
    source: str | os.PathLike[str],
    classes: Sequence[str | int],
    per_class: int = 5,
    out: str | os.PathLike[str] = "preview.png",
    *,
    class_csv: str | None = None,
    two_value_boxes: str = "image",
    font: LabelFont | None = None,
) -> Preview:
    """Writes a PNG with a row of images for each class, the crop boxes drawn.

    The images are taken at even distances from the class's files, so that a burst of one plate
    doesn't fill the row. Files that can't be used show as an empty tile with the reason.

    Args:
        source: The archive in any layout.
        classes: Classes by Korean name, alias, romanised name or label.
        per_class: Images in a row, at least 1.
        out: Where to write the PNG.
        class_csv: A class table of one's own; None is that of AI Hub's 150 classes.
        two_value_boxes: What a crop row ``w,h`` means: ``"image"`` or ``"origin"``.
        font: Font of the names; None looks for one that draws Hangul.

    Raises:
        KfoodError: If the source can't be read, a class is unknown or has no image in it, or
            there is nothing to show: no class, or ``per_class`` under 1.
    """
    if not classes or per_class < 1:
        raise SurveyError(say("preview_nothing", classes=str(list(classes)), per_class=per_class))
    table = load_class_table(class_csv)
    foods = tuple(dict.fromkeys(table.find(name) for name in classes))
    font = find_font() if font is None else font
    with find_archive(source) as archive:
        chosen = _choose(archive, table, foods, per_class)
        files = list(read_files(archive, in_reading_order(chosen)))
    rows = {food.label: _row(files, food, two_value_boxes, font) for food in foods}
    tiles: list[drawing.Tile | None] = []
    for food in foods:
        row = rows[food.label]
        tiles.extend([*row, *[None] * (per_class - len(row))])
    sheet = drawing.contact_sheet(tiles, per_class, font=font)
    drawing.save_png(sheet, out)
    shown = tuple((food.name, len(rows[food.label])) for food in foods)
    return Preview(os.fspath(out), shown)


def _choose(
    archive: Archive, table: ClassTable, foods: Iterable[FoodClass], number: int
) -> list[PlannedFile]:
    planned = plan_files(archive.members(), table)
    check_plan(planned, table, archive.place)
    chosen: set[str] = set()
    for food in foods:
        ids = sorted(
            file.id for file in planned if file.food == food and file.member.kind == "image"
        )
        if not ids:
            present = sorted({f.food.name for f in planned if f.food is not None})
            names = ", ".join(present)
            raise SurveyError(
                say("preview_no_image", place=archive.place, name=food.name, present=names)
            )
        number_shown = min(number, len(ids))
        chosen |= {ids[n * len(ids) // number_shown] for n in range(number_shown)}
    return [file for file in planned if file.id in chosen]


def _row(
    files: Iterable[ReadFile], food: FoodClass, two_value_boxes: str, font: LabelFont
) -> list[drawing.Tile]:
    own = sorted((file for file in files if file.planned.food == food), key=lambda f: f.planned.id)
    return [_tile(file, display_name(food, font), two_value_boxes) for file in own]


def _tile(file: ReadFile, name: str, two_value_boxes: str) -> drawing.Tile:
    filename = file.planned.member.filename
    if not isinstance(file.content, bytes):
        return drawing.Tile(_EMPTY, f"{name}\n{filename}\n{file.content}")
    try:
        image = prepare_image(file.content)
    except ImageRejected as error:
        return drawing.Tile(_EMPTY, f"{name}\n{filename}\n{error.reason}")
    height, width = image.height, image.width
    crop = place_crop(
        file.crop_row,
        height,
        width,
        orientation=image.orientation,
        two_value_boxes=two_value_boxes,
    )
    box = None
    if crop.status in _BOXED:
        edges = crop.box
        box = (edges.ymin / height, edges.xmin / width, edges.ymax / height, edges.xmax / width)
    return drawing.Tile(image.pixels, f"{name}\n{filename}\n{width} x {height}, {crop.status}", box)

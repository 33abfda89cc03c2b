"""Contact sheets: images with their crop box and caption, and batches as a model sees them.

Knows plain arrays, boxes and words only, so that anything can be drawn with it.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from kfood_tfds.fonts import LabelFont, find_font

BACKGROUND = (250, 250, 247)
INK = (31, 35, 40)
FAINT_INK = (101, 109, 118)
TILE_GROUND = (234, 234, 229)
BOX_LINE = (255, 122, 0)
BOX_EDGE = (255, 255, 255)

_MARGIN = 24
_GAP = 14
_TITLE_SIZE = 24
_CAPTION_SIZE = 16
_LINE = 1.35
_ELLIPSIS = "…"

Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Tile:
    """One picture of a contact sheet.

    Attributes:
        image: uint8[H, W, 3] RGB (or uint8[H, W, 1] or [H, W], grey).
        caption: Text under the picture; lines parted by newlines, the first one in full ink.
        box: Crop box to draw, ``(ymin, xmin, ymax, xmax)`` in 0..1, or None for none.
    """

    image: np.ndarray
    caption: str = ""
    box: Box | None = None


@dataclass(frozen=True)
class _Grid:
    """Where things go on a sheet; lengths in pixels."""

    columns: int
    rows: int
    side: int
    caption_lines: int
    top: int

    @property
    def pitch(self) -> int:
        return self.side + _line_height(_CAPTION_SIZE) * self.caption_lines + _GAP

    @property
    def size(self) -> tuple[int, int]:
        width = 2 * _MARGIN + self.columns * (self.side + _GAP) - _GAP
        return width, self.top + self.rows * self.pitch + _MARGIN - _GAP

    def corner(self, position: int) -> tuple[int, int]:
        row, column = divmod(position, self.columns)
        return _MARGIN + column * (self.side + _GAP), self.top + row * self.pitch


def contact_sheet(
    tiles: Sequence[Tile | None],
    columns: int,
    title: str = "",
    *,
    tile_size: int = 192,
    font: LabelFont | None = None,
) -> Image.Image:
    """Draws pictures in rows, each with its crop box and its caption.

    Args:
        tiles: What to draw, row by row; None leaves a place empty.
        columns: Number of tiles in a row, at least 1.
        title: Line over the sheet; none when empty.
        tile_size: Side in pixels of the square that each picture is fitted into.
        font: Font of title and captions; None looks for one, see ``fonts.find_font``.

    Returns:
        An RGB image of Pillow.

    Raises:
        ValueError: If there is nothing to draw, a size is not positive, or a tile holds no picture.
    """
    if not tiles:
        raise ValueError("A contact sheet needs at least one tile. Received: tiles=()")
    if columns < 1 or tile_size < 1:
        raise ValueError(
            "columns and tile_size must be at least 1. "
            f"Received: columns={columns}, tile_size={tile_size}"
        )
    font = find_font() if font is None else font
    grid = _Grid(
        columns=min(columns, len(tiles)),
        rows=-(-len(tiles) // columns),
        side=tile_size,
        caption_lines=max(_lines(tile) for tile in tiles),
        top=_MARGIN + (_line_height(_TITLE_SIZE) + _GAP // 2 if title else 0),
    )
    sheet = Image.new("RGB", grid.size, BACKGROUND)
    draw = ImageDraw.Draw(sheet)
    if title:
        room = grid.size[0] - 2 * _MARGIN
        _write(draw, (_MARGIN, _MARGIN), title, font.at(_TITLE_SIZE), room, INK)
    for position, tile in enumerate(tiles):
        if tile is None:
            continue
        _draw_tile(sheet, tile, grid.corner(position), tile_size)
        _draw_caption(draw, tile.caption, grid.corner(position), tile_size, font)
    return sheet


def batch_sheet(
    images: Any,
    captions: Sequence[str],
    columns: int,
    title: str = "",
    *,
    value_range: tuple[float, float] | None = None,
    tile_size: int = 192,
    font: LabelFont | None = None,
) -> Image.Image:
    """Draws a batch as the model sees it: every pixel the model gets, nothing else.

    Args:
        images: uint8 or float [N, H, W, 3] (or [N, H, W, 1]).
        captions: N texts.
        columns: Number of images in a row, at least 1.
        title: Line over the sheet; none when empty.
        value_range: Values drawn black and white, such as (0, 1) or (-1, 1). None takes uint8 as it
            is and stretches floats from the batch's smallest to its largest value.
        tile_size: As for ``contact_sheet``.
        font: As for ``contact_sheet``.

    Raises:
        ValueError: If shapes and captions don't fit together, or nothing is to be drawn.
    """
    pixels = np.asarray(images)
    if pixels.ndim != 4 or pixels.shape[-1] not in (1, 3):
        raise ValueError(f"A batch must be [N, H, W, 3]. Received: images.shape={pixels.shape}")
    if len(captions) != len(pixels):
        raise ValueError(
            "A batch needs one caption for each image. "
            f"Received: {len(captions)} captions, {len(pixels)} images"
        )
    grey_levels = to_uint8(pixels, value_range)
    tiles = [Tile(image, text) for image, text in zip(grey_levels, captions, strict=True)]
    return contact_sheet(tiles, columns, title, tile_size=tile_size, font=font)


def beside(*sheets: Image.Image) -> Image.Image:
    """Joins sheets from left to right, their tops level."""
    if not sheets:
        raise ValueError("beside needs at least one sheet. Received: none")
    width = sum(sheet.width for sheet in sheets)
    joined = Image.new("RGB", (width, max(sheet.height for sheet in sheets)), BACKGROUND)
    left = 0
    for sheet in sheets:
        joined.paste(sheet, (left, 0))
        left += sheet.width
    return joined


def to_uint8(pixels: np.ndarray, value_range: tuple[float, float] | None = None) -> np.ndarray:
    """Maps values onto 0..255: ``value_range[0]`` to 0, ``value_range[1]`` to 255, others clipped.

    Args:
        pixels: Any shape; integers or floats.
        value_range: As for ``batch_sheet``.
    """
    if value_range is None:
        if pixels.dtype == np.uint8:
            return pixels
        finite = pixels[np.isfinite(pixels)]
        value_range = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    low, high = value_range
    spread = high - low or 1.0
    inside = np.clip(np.nan_to_num(pixels.astype(np.float64), nan=low), low, high)
    return np.rint((inside - low) * (255.0 / spread)).astype(np.uint8)


def save_png(sheet: Image.Image, path: str | os.PathLike[str]) -> None:
    """Writes a sheet as PNG, whatever the file name ends in."""
    sheet.save(path, format="PNG", optimize=True)


def draw_box(picture: Image.Image, box: Box, width: int = 3) -> None:
    """Draws a crop box onto an RGB picture: a line with a light edge, seen on any ground.

    Args:
        picture: Changed in place.
        box: ``(ymin, xmin, ymax, xmax)`` in 0..1; the line lies inside it.
        width: Width of the line in pixels, without its edge.
    """
    ymin, xmin, ymax, xmax = (min(max(value, 0.0), 1.0) for value in box)
    left, right = round(xmin * picture.width), round(xmax * picture.width) - 1
    top, bottom = round(ymin * picture.height), round(ymax * picture.height) - 1
    corners = [(left, top), (max(right, left), max(bottom, top))]
    draw = ImageDraw.Draw(picture)
    draw.rectangle(corners, outline=BOX_EDGE, width=width + 1)
    draw.rectangle(corners, outline=BOX_LINE, width=width)


def _lines(tile: Tile | None) -> int:
    return len(tile.caption.split("\n")) if tile is not None and tile.caption else 0


def _draw_tile(sheet: Image.Image, tile: Tile, corner: tuple[int, int], side: int) -> None:
    pixels = np.asarray(tile.image)
    if pixels.ndim == 3 and pixels.shape[-1] == 1:
        pixels = pixels[..., 0]
    fits = pixels.ndim == 2 or (pixels.ndim == 3 and pixels.shape[-1] == 3)
    if pixels.dtype != np.uint8 or not fits or 0 in pixels.shape:
        raise ValueError(
            "A tile's image must be uint8[H, W, 3]. "
            f"Received: {pixels.dtype}{list(pixels.shape)} for the tile {tile.caption!r}"
        )
    picture = Image.fromarray(pixels).convert("RGB")
    scale = side / max(picture.size)
    size = (max(1, round(picture.width * scale)), max(1, round(picture.height * scale)))
    # Small images are shown in their own pixels, as the model gets them, not smoothed.
    picture = picture.resize(size, Image.Resampling.LANCZOS if scale < 1 else Image.Resampling.BOX)
    if tile.box is not None:
        draw_box(picture, tile.box)
    x, y = corner
    ImageDraw.Draw(sheet).rectangle([x, y, x + side - 1, y + side - 1], fill=TILE_GROUND)
    sheet.paste(picture, (x + (side - picture.width) // 2, y + (side - picture.height) // 2))


def _draw_caption(
    draw: ImageDraw.ImageDraw, caption: str, corner: tuple[int, int], side: int, font: LabelFont
) -> None:
    face = font.at(_CAPTION_SIZE)
    x, y = corner
    for number, line in enumerate(caption.split("\n") if caption else ()):
        place = (x, y + side + 2 + number * _line_height(_CAPTION_SIZE))
        _write(draw, place, line, face, side, FAINT_INK if number else INK)


def _write(
    draw: ImageDraw.ImageDraw,
    place: tuple[int, int],
    text: str,
    font: ImageFont.FreeTypeFont | ImageFont.ImageFont,
    room: int,
    fill: tuple[int, int, int],
) -> None:
    # Pillow's basic layout draws decomposed Hangul (macOS file names) as loose letters.
    text = shortened(unicodedata.normalize("NFC", text), font, room)
    draw.text(place, text, fill=fill, font=font)


def shortened(text: str, font: ImageFont.FreeTypeFont | ImageFont.ImageFont, room: int) -> str:
    """Returns the text, cut from its end with an ellipsis if it is wider than ``room`` pixels."""
    if font.getlength(text) <= room:
        return text
    for length in range(len(text) - 1, 0, -1):
        cut = text[:length].rstrip() + _ELLIPSIS
        if font.getlength(cut) <= room:
            return cut
    return _ELLIPSIS


def _line_height(size: int) -> int:
    return round(size * _LINE)

"""Crop boxes: reads `crop_area.properties` and places each row's box on its image.

A row is `stem=x,y,w,h`: pixels, top-left corner, width and height. `parse_crop_area` reads what
stands in the file and never fails; `place_crop` decides, once the image's size is known, whether
that is a box of this image.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from kfood_tfds.raw.errors import KfoodError

# In the order of their labels in every build.
STATUSES = ("annotated", "clipped", "missing", "unusable")
TWO_VALUE_MODES = ("image", "origin")

# A note goes into a CSV cell: a megabyte of garbage behind a "=" must not.
MAX_NOTE_CHARS = 200
# More would only repeat what the first ones say; the last entry then tells how many were left out.
MAX_PROBLEMS = 1_000

_LINE_BREAK = re.compile(r"\r\n|\n|\r")
_NUMBER = re.compile(
    r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf|infinity|nan)", re.ASCII | re.IGNORECASE
)
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class CropRow:
    """One row of `crop_area.properties`.

    Attributes:
      stem: File name without extension, NFC.
      line: Line number in the file, from 1.
      text: The right-hand side as found, stripped.
      values: The numbers of the row: four in a box, two in `two_values`, any number in `invalid`.
      note: The words beside the numbers, such as "dissimilar".
      form: "box", "two_values" or "invalid".
    """

    stem: str
    line: int
    text: str
    values: tuple[float, ...]
    note: str
    form: str


@dataclass(frozen=True)
class CropTable:
    """All rows of one file.

    Attributes:
      rows: Rows by NFC stem; of several rows for one stem the last.
      problems: What couldn't be read or is ambiguous, one sentence each, in file order.
    """

    rows: Mapping[str, CropRow]
    problems: tuple[str, ...] = ()
    _folded: Mapping[str, CropRow] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Indexes the rows by case-folded stem; the last row of a stem wins here as well."""
        by_line = sorted(self.rows.values(), key=lambda row: row.line)
        object.__setattr__(self, "_folded", {_fold(row.stem): row for row in by_line})

    def __reduce__(self) -> tuple[type[CropTable], tuple[dict[str, CropRow], tuple[str, ...]]]:
        """Pickles as plain data: a read-only mapping doesn't pickle."""
        return type(self), (dict(self.rows), self.problems)

    def get(self, stem: str) -> CropRow | None:
        """Finds the row of an image.

        Args:
          stem: File name without extension, in any Unicode form.

        Returns:
          The row of exactly this stem, else of one that differs only in case, else None.
        """
        row = self.rows.get(_nfc(stem).strip())
        return row if row is not None else self._folded.get(_fold(stem))


@dataclass(frozen=True, slots=True)
class CropBox:
    """A box in whole pixels of the upright image, half-open: `ymax` and `xmax` lie just outside."""

    ymin: int
    xmin: int
    ymax: int
    xmax: int

    @property
    def height(self) -> int:
        """Height in pixels."""
        return self.ymax - self.ymin

    @property
    def width(self) -> int:
        """Width in pixels."""
        return self.xmax - self.xmin


@dataclass(frozen=True, slots=True)
class PlacedCrop:
    """The box of one image.

    Attributes:
      box: Never empty, always inside the image; the whole image where there is no usable box.
      status: "annotated" (as in the row), "clipped" (cut to the image), "missing" (no row) or
        "unusable" (a row, but no box of this image in it).
      note: Why, and the row's own words; empty where there is nothing to say.
    """

    box: CropBox
    status: str
    note: str


def parse_crop_area(data: bytes) -> CropTable:
    """Reads the content of a `crop_area.properties`, whatever it holds.

    Comments (`#`, `!`), blank lines and `[sections]` are skipped. UTF-8 (with or without a mark),
    CP949 and UTF-16 with a mark are understood.

    Args:
      data: The file's bytes.

    Returns:
      The rows and the problems. Never raises on account of the content.
    """
    problems: list[str] = []
    rows: dict[str, CropRow] = {}
    folded: dict[str, str] = {}
    for number, line in enumerate(_decoded_lines(data, problems), start=1):
        text = line.replace("\0", "").strip().lstrip("\ufeff").strip()
        if not text or text[0] in "#!" or (text[0] == "[" and text[-1] == "]"):
            continue
        stem, separator, value = _split_row(text)
        if not separator or not stem:
            problems.append(f"line {number}: expected stem=x,y,w,h, found {_short(text)!r}")
            continue
        row = _parse_row(stem, number, value)
        if stem in rows:
            problems.append(
                f"line {number}: second row for {_short(stem)!r}, it replaces line "
                f"{rows[stem].line}"
            )
        elif _fold(stem) in folded:
            other = folded[_fold(stem)]
            problems.append(
                f"line {number}: {_short(stem)!r} differs from {_short(other)!r} in line "
                f"{rows[other].line} only in case; each goes to its own spelling"
            )
        rows[stem] = row
        folded[_fold(stem)] = stem
    if len(problems) > MAX_PROBLEMS:
        left_out = len(problems) - MAX_PROBLEMS
        problems[MAX_PROBLEMS:] = [f"and {left_out} more (MAX_PROBLEMS is {MAX_PROBLEMS})"]
    return CropTable(MappingProxyType(rows), tuple(problems))


def place_crop(
    row: CropRow | None,
    height: int,
    width: int,
    *,
    orientation: int = 1,
    two_value_boxes: str = "image",
) -> PlacedCrop:
    """Places a row's box on its image.

    A box that fits the upright image is taken as it is. One that fits only the image as it was
    stored, before its EXIF rotation, is rotated along. Any other is clipped to the upright image.
    Edges are rounded to the nearest pixel, halves up, and a box of some size keeps at least one
    pixel.

    Args:
      row: The image's row, or None if it has none.
      height: Height of the upright image, pixels.
      width: Width of the upright image, pixels.
      orientation: EXIF orientation of the source, 1 to 8.
      two_value_boxes: What a row of two values means: "image", no box ("unusable"), or "origin",
        width and height of a box at 0,0 ("annotated" or "clipped", with a note).

    Returns:
      The box, its status and a note.

    Raises:
      KfoodError: The image has no pixels, or an argument is out of range.
    """
    _check_arguments(height, width, orientation, two_value_boxes)
    whole = CropBox(0, 0, height, width)
    if row is None:
        return PlacedCrop(whole, "missing", "")
    values, reason = _box_values(row, two_value_boxes)
    if values is None:
        # The text of an invalid row is quoted in the reason, its words with it.
        said = reason if row.form == "invalid" else _join(reason, row.note)
        return PlacedCrop(whole, "unusable", said)
    return _fit(values, whole, orientation, _join(reason, row.note))


def _decoded_lines(data: bytes, problems: list[str]) -> list[str]:
    if data[:2] in _UTF16_MARKS:
        try:
            text = data.decode("utf-16")
        except UnicodeDecodeError:
            text = data.decode("utf-16", "replace")
            problems.append("the file is UTF-16, but broken; unreadable characters were replaced")
        return _LINE_BREAK.split(text)
    for encoding in ("utf-8-sig", "cp949"):
        try:
            return _LINE_BREAK.split(data.decode(encoding))
        except UnicodeDecodeError:
            continue
    lines = []
    for number, raw in enumerate(re.split(rb"\r\n|\n|\r", data), start=1):
        lines.append(_decode_line(raw, number, problems))
    return lines


def _decode_line(raw: bytes, number: int, problems: list[str]) -> str:
    for encoding in ("utf-8-sig", "cp949"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    problems.append(f"line {number}: neither UTF-8 nor CP949; unreadable bytes were replaced")
    return raw.decode("utf-8", "replace")


def _split_row(text: str) -> tuple[str, str, str]:
    # Properties files may separate by ":" as well; "=" is what the archive uses, so it goes first.
    stem, separator, value = text.partition("=")
    if not separator:
        stem, separator, value = text.partition(":")
    return _nfc(stem).strip(), separator, value.strip()


def _parse_row(stem: str, line: int, value: str) -> CropRow:
    """Splits the right-hand side into leading words, a run of numbers, and trailing words."""
    fields = [part.split() for part in value.split(",")]
    filled = [bool(part) for part in fields]
    # "10,,200,150" lacks a value in the middle; ",986,590" and "1,2,3,4," only at an end.
    hole = False in filled[filled.index(True) : _last(filled) + 1] if True in filled else False
    words = [word for part in fields for word in part]
    numeric = [bool(_NUMBER.fullmatch(word)) for word in words]
    start = numeric.index(True) if True in numeric else len(words)
    end = numeric.index(False, start) if False in numeric[start:] else len(words)
    values = tuple(float(word) for word in words[start:end])
    note = _short(" ".join(words[:start] + words[end:]))
    form = "invalid"
    if not hole:
        form = {4: "box", 2: "two_values"}.get(len(values), "invalid")
    return CropRow(stem, line, _short(value), values, note, form)


def _last(filled: list[bool]) -> int:
    return len(filled) - 1 - filled[::-1].index(True)


def _check_arguments(height: int, width: int, orientation: int, two_value_boxes: str) -> None:
    if height < 1 or width < 1:
        raise KfoodError(f"An image needs at least one pixel. Received: {height=}, {width=}.")
    if orientation not in range(1, 9):
        raise KfoodError(f"An EXIF orientation is 1 to 8. Received: {orientation=}.")
    if two_value_boxes not in TWO_VALUE_MODES:
        allowed = " or ".join(repr(mode) for mode in TWO_VALUE_MODES)
        raise KfoodError(f"two_value_boxes must be {allowed}. Received: {two_value_boxes!r}.")


def _box_values(row: CropRow, two_value_boxes: str) -> tuple[tuple[float, ...] | None, str]:
    """Gives x, y, w, h (or None where the row holds no box) and what is to be said about it."""
    if row.form == "box":
        values, reason = row.values, ""
    elif row.form == "two_values" and two_value_boxes == "origin":
        values, reason = (0.0, 0.0, *row.values), "two values read as width and height at 0,0"
    elif row.form == "two_values":
        return None, f"two values instead of four: {_numbers(row.values)}"
    else:
        return None, f"no box in {row.text!r}" if row.text else "empty row"
    if not all(math.isfinite(value) for value in values):
        return None, f"values that are not finite: {_numbers(row.values)}"
    if values[2] <= 0 or values[3] <= 0:
        return None, f"no positive width and height: {_numbers(row.values)}"
    return values, reason


def _fit(values: tuple[float, ...], whole: CropBox, orientation: int, note: str) -> PlacedCrop:
    x, y, width, height = values
    xmin, xmax = _edges(x, width)
    ymin, ymax = _edges(y, height)
    box = CropBox(ymin, xmin, ymax, xmax)
    if _inside(box, whole.height, whole.width):
        return PlacedCrop(box, "annotated", note)
    # Only orientations 5 to 8 swap the sides; under the others both frames have one size.
    if orientation >= 5 and _inside(box, whole.width, whole.height):
        turned = _rotate(box, orientation, whole)
        said = _join("box of the image before its EXIF rotation, rotated along", note)
        return PlacedCrop(turned, "annotated", said)
    cut = CropBox(
        max(box.ymin, 0), max(box.xmin, 0), min(box.ymax, whole.ymax), min(box.xmax, whole.xmax)
    )
    place = f"{_numbers(values)} in {whole.width}x{whole.height}"
    if cut.height <= 0 or cut.width <= 0:
        return PlacedCrop(whole, "unusable", _join(f"box outside the image: {place}", note))
    return PlacedCrop(cut, "clipped", _join(f"box partly outside the image: {place}", note))


def _edges(start: float, length: float) -> tuple[int, int]:
    # Edges are rounded, not lengths, so that boxes which touch go on touching.
    low = math.floor(start + 0.5)
    end = start + length
    high = math.floor(end + 0.5) if math.isfinite(end) else low + math.ceil(length)
    return low, max(high, low + 1)


def _inside(box: CropBox, height: int, width: int) -> bool:
    return box.ymin >= 0 and box.xmin >= 0 and box.ymax <= height and box.xmax <= width


def _rotate(box: CropBox, orientation: int, upright: CropBox) -> CropBox:
    """Turns a box of the stored frame as EXIF orientation 5, 6, 7 or 8 turns the image.

    Orientation 5 mirrors along the main diagonal (x and y change places), 7 along the other one,
    6 turns clockwise and 8 counter-clockwise; the stored width is the upright height.
    """
    height, width = upright.height, upright.width
    ys = (box.xmin, box.xmax) if orientation in (5, 6) else (height - box.xmax, height - box.xmin)
    xs = (box.ymin, box.ymax) if orientation in (5, 8) else (width - box.ymax, width - box.ymin)
    return CropBox(ys[0], xs[0], ys[1], xs[1])


def _numbers(values: Iterable[float]) -> str:
    return ",".join(f"{value:g}" for value in values)


def _join(*parts: str) -> str:
    return "; ".join(part for part in parts if part)


def _short(text: str) -> str:
    return text if len(text) <= MAX_NOTE_CHARS else text[: MAX_NOTE_CHARS - 1] + "…"


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _fold(stem: str) -> str:
    # Case folding can undo NFC, so it is normalised afterwards once more.
    return _nfc(_nfc(stem).strip().casefold())

"""The manifest: one row for every file of the archive, as plain data and as `manifest.csv`."""

from __future__ import annotations

import csv
import io
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace

from etils import epath

from kfood_tfds.raw.classes import ClassTable
from kfood_tfds.raw.crop_area import CropBox
from kfood_tfds.raw.errors import ClassTableError, ManifestError

ACCEPTED = "accepted"
REJECTED = "rejected"
# Begins the reason of files that belong to the archive without being images of it.
SIDE_FILE = "side file: "

_BOX_COLUMNS = ("ymin", "xmin", "ymax", "xmax")
# What a spreadsheet takes for the start of a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "'")
_MAX_ERRORS_SHOWN = 20
_UNIQUE = frozenset(["id", "crop_note", "sha256"])
_WHOLE = re.compile(r"\d{1,19}(\.0*)?", re.ASCII)
# What an edited manifest may change or must prove; its other columns may hold anything.
_OVERRULING = ("id", "verdict", "reason", "split", "label", "sha256", *_BOX_COLUMNS)


@dataclass(frozen=True, slots=True)
class ManifestRow:
    """What is known of one file; the fields are the columns of `manifest.csv`, `box` takes four.

    Attributes:
        id: `category/class/file name`, NFC; the example's id.
        verdict: "accepted" or "rejected".
        reason: Why it was rejected, else empty.
        split: "train", "validation" or "test"; empty where the file is in none.
        label: The class code; None for a file of no known class.
        category: The Korean name of the category.
        group: Same number = near-duplicates of one another; None for a rejected file.
        source_format: What the file's content is: "JPEG", "PNG", "GIF", ...; empty if unknown.
        width: Of the upright image, pixels; 0 if unknown.
        height: Likewise.
        crop_status: "annotated", "clipped", "missing" or "unusable"; empty if rejected.
        crop_note: What the crop row says beyond its box, and what is wrong with it.
        stored_as: "original" (byte for byte), "JPEG" or "PNG" (re-encoded).
        sha256: Of the file's bytes in the archive, hexadecimal.
        flags: Findings that are no ground for refusing the file.
        box: The crop box in pixels of the upright image, half-open; None if rejected.
    """

    id: str
    verdict: str
    reason: str = ""
    split: str = ""
    label: int | None = None
    category: str = ""
    group: int | None = None
    source_format: str = ""
    width: int = 0
    height: int = 0
    crop_status: str = ""
    crop_note: str = ""
    stored_as: str = ""
    sha256: str = ""
    flags: tuple[str, ...] = ()
    box: CropBox | None = None

    @property
    def accepted(self) -> bool:
        """True if the file's verdict is "accepted"."""
        return self.verdict == ACCEPTED

    @property
    def is_side_file(self) -> bool:
        """True for crop tables and strangers such as `.DS_Store`: no images, and no fault."""
        return self.reason.startswith(SIDE_FILE)


COLUMNS: tuple[str, ...] = (
    *(field.name for field in fields(ManifestRow) if field.name != "box"),
    *_BOX_COLUMNS,
)


def format_manifest(rows: Iterable[ManifestRow]) -> str:
    """Returns the rows as the text of a CSV file, formulas disarmed by a leading apostrophe."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow(to_cells(row))
    return text.getvalue()


def write_manifest(path: str | os.PathLike[str], rows: Iterable[ManifestRow]) -> None:
    """Writes `manifest.csv` in UTF-8 to any path that `etils.epath` opens."""
    epath.Path(path).write_bytes(format_manifest(rows).encode("utf-8", "replace"))


def to_cells(row: ManifestRow) -> list[str]:
    """Returns one row's cells in the order of `COLUMNS`."""
    box = ["", "", "", ""]
    if row.box is not None:
        box = [str(row.box.ymin), str(row.box.xmin), str(row.box.ymax), str(row.box.xmax)]
    cells = [
        row.id, row.verdict, row.reason, row.split, _optional(row.label), row.category,
        _optional(row.group), row.source_format, _optional(row.width or None),
        _optional(row.height or None), row.crop_status, row.crop_note, row.stored_as, row.sha256,
        " ".join(row.flags), *box,
    ]  # fmt: skip
    return ["'" + cell if cell.startswith(_FORMULA_STARTS) else cell for cell in cells]


def _optional(value: int | None) -> str:
    return "" if value is None else str(value)


def from_cells(cells: Sequence[str], find_label: Callable[[str], int] = int) -> ManifestRow:
    """Reads one row from its cells; the inverse of `to_cells`.

    Args:
        cells: As many as there are `COLUMNS`.
        find_label: Turns the label cell into a class code.

    Raises:
        ValueError: If a cell can't be read.
    """
    plain = [
        cell[1:] if cell.startswith("'") and cell[1:].startswith(_FORMULA_STARTS) else cell
        for cell in cells
    ]
    # Most cells hold one of a few words: one copy of each is enough for 150,000 rows.
    cell = {
        column: text if column in _UNIQUE else sys.intern(text)
        for column, text in zip(COLUMNS, plain, strict=True)
    }
    edges = [cell[column] for column in _BOX_COLUMNS]
    return ManifestRow(
        id=cell["id"],
        verdict=cell["verdict"],
        reason=cell["reason"],
        split=cell["split"],
        label=find_label(cell["label"]) if cell["label"] else None,
        category=cell["category"],
        group=_whole(cell["group"], "group") if cell["group"] else None,
        source_format=cell["source_format"],
        width=_whole(cell["width"] or "0", "width"),
        height=_whole(cell["height"] or "0", "height"),
        crop_status=cell["crop_status"],
        crop_note=cell["crop_note"],
        stored_as=cell["stored_as"],
        sha256=cell["sha256"],
        flags=tuple(cell["flags"].split()),
        box=_box(edges),
    )


def _box(edges: Sequence[str]) -> CropBox | None:
    if not any(edges):
        return None
    if not all(edges):
        raise ValueError(f"{', '.join(_BOX_COLUMNS)} must be all filled or all empty")
    ymin, xmin, ymax, xmax = (
        _whole(edge, column) for edge, column in zip(edges, _BOX_COLUMNS, strict=True)
    )
    return CropBox(ymin, xmin, ymax, xmax)


def _whole(cell: str, column: str) -> int:
    """Reads a whole number; "7.0" is one, as spreadsheets and pandas write it."""
    if not _WHOLE.fullmatch(cell):
        raise ValueError(f"{column} must be a whole number, not {cell[:40]!r}")
    return int(cell.partition(".")[0])


def _read_lines(path: str | os.PathLike[str]) -> list[tuple[int, list[str]]]:
    """Returns the filled lines of a CSV file with their numbers."""
    place = os.fspath(path)
    try:
        text = _decoded(epath.Path(path).read_bytes())
    except (OSError, UnicodeDecodeError) as error:
        raise ManifestError(
            f"The manifest {place!r} can't be read ({error}). Save it as 'CSV UTF-8'."
        ) from error
    reader = csv.reader(io.StringIO(text, newline=""))
    try:
        lines = [(reader.line_num, cells) for cells in reader if any(cells)]
    except csv.Error as error:
        raise ManifestError(
            f"The manifest {place!r}, line {reader.line_num} isn't CSV: {error}."
        ) from error
    return lines


def read_manifest(
    path: str | os.PathLike[str], table: ClassTable | None = None
) -> dict[int, ManifestRow]:
    """Reads a manifest, such as a user's edited copy.

    Args:
        path: A CSV file with the columns of `manifest.csv` in any order; any path that
            `etils.epath` opens.
        table: If given, the label may be spelt in every way that names a class.

    Returns:
        The rows by their line numbers in the file.

    Raises:
        ManifestError: If the file can't be read, lacks a column or holds bad values; every bad
            line is named.
    """
    place = os.fspath(path)
    lines = _read_lines(path)
    header = lines[0][1] if lines else []
    missing = [column for column in _OVERRULING if column not in header]
    if missing:
        raise ManifestError(
            f"The manifest {place!r} lacks the column(s) {', '.join(missing)}. "
            "Start from the manifest.csv that lies beside the shards."
        )
    order = [header.index(column) if column in _OVERRULING else None for column in COLUMNS]

    def find_label(cell: str) -> int:
        number = cell.partition(".")[0] if _WHOLE.fullmatch(cell) else cell
        return table.find(number).label if table else _whole(cell, "label")

    rows: dict[int, ManifestRow] = {}
    errors: list[str] = []
    for number, cells in lines[1:]:
        try:
            known = ["" if i is None else cells[i] for i in order]
            rows[number] = from_cells(known, find_label)
        except IndexError:
            errors.append(
                f"line {number}: {len(cells)} cells, but the first line has {len(header)}"
            )
        except ValueError as error:
            errors.append(f"line {number}: {error}")
    raise_all(errors, place)
    return rows


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp949")  # As Korean Excel saves it.


def raise_all(errors: Sequence[str], place: str) -> None:
    """Raises one ManifestError that names all errors found in a manifest, if there are any."""
    if errors:
        shown = "\n  ".join(errors[:_MAX_ERRORS_SHOWN])
        more = len(errors) - _MAX_ERRORS_SHOWN
        tail = f"\n  and {more} more" if more > 0 else ""
        raise ManifestError(f"The manifest {place!r} can't be used:\n  {shown}{tail}")


def apply_corrections(
    rows: Sequence[ManifestRow],
    corrected: dict[int, ManifestRow],
    table: ClassTable,
    splits: Iterable[str],
    place: str,
) -> list[ManifestRow]:
    """Lets an edited manifest overrule what the survey found.

    Its verdict, reason, label, split and box hold. A file that the survey rejected stays
    rejected: no edit makes its bytes decode.

    Args:
        rows: The survey's rows.
        corrected: The edited rows by line number, from `read_manifest`.
        table: The class table.
        splits: The names of the splits there are.
        place: What the errors call the edited file.

    Raises:
        ManifestError: For unknown or repeated ids, a changed sha256, values out of range; with
            all their line numbers.
    """
    by_id = {row.id: row for row in rows}
    known_splits = {*splits, ""}
    changed: dict[str, ManifestRow] = {}
    errors: list[str] = []
    for line, edit in corrected.items():
        found = by_id.get(edit.id)
        problem = _problem(found, edit, table, known_splits) or (
            "the id stands on an earlier line too" if edit.id in changed else ""
        )
        if problem or found is None:
            errors.append(f"line {line}: {edit.id!r}: {problem}")
        else:
            changed[edit.id] = _overrule(found, edit, table)
    raise_all(errors, place)
    return [changed.get(row.id, row) for row in rows]


def _problem(
    found: ManifestRow | None, edit: ManifestRow, table: ClassTable, splits: set[str]
) -> str:
    if found is None:
        return "no such file in the archive"
    if edit.sha256 != found.sha256:
        return f"sha256 is {edit.sha256[:12]}…, but the archive's file has {found.sha256[:12]}…"
    if edit.verdict not in (ACCEPTED, REJECTED):
        return f"verdict must be {ACCEPTED!r} or {REJECTED!r}, not {edit.verdict!r}"
    if edit.split not in splits:
        return f"split must be one of {sorted(splits)}, not {edit.split!r}"
    if edit.verdict == REJECTED:
        return ""
    if not found.accepted:
        return f"the file can't be accepted: {found.reason}"
    return _label_problem(edit, table) or _box_problem(edit.box, found)


def _label_problem(edit: ManifestRow, table: ClassTable) -> str:
    if edit.label is None:
        return "an accepted file needs a label"
    try:
        table.find(edit.label)
    except ClassTableError as error:
        return str(error)
    return ""


def _box_problem(box: CropBox | None, found: ManifestRow) -> str:
    if box is None:
        return ""
    inside = 0 <= box.ymin < box.ymax <= found.height and 0 <= box.xmin < box.xmax <= found.width
    if inside:
        return ""
    return (
        f"the box {box.ymin},{box.xmin},{box.ymax},{box.xmax} (ymin,xmin,ymax,xmax) doesn't lie "
        f"inside the image of {found.height}×{found.width} pixels (height×width)"
    )


def _overrule(found: ManifestRow, edit: ManifestRow, table: ClassTable) -> ManifestRow:
    if edit.verdict == REJECTED:
        reason = edit.reason or found.reason or "left out by the edited manifest"
        return replace(found, verdict=REJECTED, reason=reason, split="")
    food = table.find(edit.label if edit.label is not None else "")
    status, box = found.crop_status, found.box
    if edit.box is None:
        status, box = "missing", CropBox(0, 0, found.height, found.width)
    elif edit.box != found.box:
        status, box = "annotated", edit.box
    return replace(
        found,
        reason="",
        label=food.label,
        category=food.category,
        split=edit.split,
        box=box,
        crop_status=status,
    )

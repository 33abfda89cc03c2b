"""What to survey and in which order: the archive's files, each with its class, id and bytes.

`plan_files` gives every member its class and id, `in_reading_order` sorts them, and `read_files`
reads them in the archive's own order with their crop rows.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kfood_tfds.raw.archive import Archive, Member
from kfood_tfds.raw.classes import ClassTable, FoodClass
from kfood_tfds.raw.crop_area import CropRow, CropTable, parse_crop_area
from kfood_tfds.raw.errors import ArchiveError, SurveyError
from kfood_tfds.raw.messages import say

ORPHAN_ROWS = "orphan_rows"
_MAX_NOTES = 20
_FOLDERS_SHOWN = 8


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """One file of the archive with the class that its folder names.

    Attributes:
        member: Where it is.
        id: Its id: `category/class/file name` by the class table, unique in the archive.
        food: Its class, or None where the folder is no class.
        repeats: True if another member came first with the same id.
    """

    member: Member
    id: str
    food: FoodClass | None
    repeats: bool = False


@dataclass(frozen=True, slots=True)
class ReadFile:
    """One file with its bytes, or the error that reading it gave, and its crop row."""

    planned: PlannedFile
    content: bytes | ArchiveError
    crop_row: CropRow | None = None
    note: str = ""
    flags: tuple[str, ...] = ()


def plan_files(members: Iterable[Member], table: ClassTable) -> list[PlannedFile]:
    """Gives every member its class and a unique id, without reading anything.

    Args:
        members: The archive's members in its own order.
        table: The class table.
    """
    planned: list[PlannedFile] = []
    seen: Counter[str] = Counter()
    for member in members:
        food = table.from_folder(member.class_name) if member.class_name else None
        path = member.path
        if food is not None:
            path = f"{food.category}/{food.name}/{member.filename}"
        seen[path] += 1
        repeats = seen[path] > 1
        file_id = f"{path} ({seen[path]})" if repeats else path
        planned.append(PlannedFile(member, file_id, food, repeats))
    return planned


def check_plan(planned: Sequence[PlannedFile], table: ClassTable, place: str) -> None:
    """Refuses an archive without a single image in a known class folder.

    Raises:
        SurveyError: Naming some of the folders that were found.
    """
    if any(file.food is not None and file.member.kind == "image" for file in planned):
        return
    folders = sorted({file.member.class_name for file in planned if file.member.class_name})
    shown = ", ".join(repr(folder) for folder in folders[:_FOLDERS_SHOWN]) or say("none")
    example = table.names[0]
    raise SurveyError(
        say("no_class_folder", place=place, number=len(planned), folders=shown, example=example)
    )


def in_reading_order(planned: Iterable[PlannedFile]) -> list[PlannedFile]:
    """Sorts planned files into the order of `read_files`: in each unit the crop tables first."""
    units: dict[str, list[PlannedFile]] = {}
    for file in planned:
        units.setdefault(file.member.unit, []).append(file)
    return [
        file
        for unit in units.values()
        for file in sorted(unit, key=lambda file: file.member.kind != "crop_area")
    ]


def read_files(archive: Archive, planned: Sequence[PlannedFile]) -> Iterator[ReadFile]:
    """Reads files in the given order, sequentially, each with its row of the crop table.

    Args:
        archive: The archive.
        planned: Its planned files, or any part of them in the archive's order; the crop tables
            that belong to them are found by themselves.
    """
    start = 0
    while start < len(planned):
        unit = planned[start].member.unit
        stop = start
        while stop < len(planned) and planned[stop].member.unit == unit:
            stop += 1
        yield from _read_unit(archive, unit, planned[start:stop])
        start = stop


def _read_unit(archive: Archive, unit: str, planned: Sequence[PlannedFile]) -> Iterator[ReadFile]:
    tables, contents = _crop_tables(archive, unit)
    stems: dict[tuple[str, str], set[str]] = {}
    for member in archive.unit_members(unit):
        if member.kind == "image":
            stems.setdefault((member.category, member.class_name), set()).add(_stem(member))
    others = {file.member: file for file in planned if file.member.kind != "crop_area"}
    for file in planned:
        if file.member.kind == "crop_area":
            folder = (file.member.category, file.member.class_name)
            note, flags = _table_findings(tables.get(folder), stems.get(folder, set()))
            yield ReadFile(file, contents[file.member], note=note, flags=flags)
    for member, content in archive.iterate(list(others)):
        crops = tables.get((member.category, member.class_name))
        row = crops.get(_stem(member)) if crops is not None else None
        yield ReadFile(others[member], content, crop_row=row)


def _crop_tables(
    archive: Archive, unit: str
) -> tuple[dict[tuple[str, str], CropTable], dict[Member, bytes | ArchiveError]]:
    members = [m for m in archive.unit_members(unit) if m.kind == "crop_area"]
    tables: dict[tuple[str, str], CropTable] = {}
    contents: dict[Member, bytes | ArchiveError] = {}
    for member, content in archive.iterate(members):
        contents[member] = content
        if isinstance(content, bytes):
            tables[member.category, member.class_name] = parse_crop_area(content)
    return tables, contents


def _stem(member: Member) -> str:
    return member.filename.rpartition(".")[0] or member.filename


def _table_findings(crops: CropTable | None, stems: set[str]) -> tuple[str, tuple[str, ...]]:
    """Returns a crop table's note and flags: broken lines, rows for images that aren't there."""
    if crops is None:
        return "", ()
    folded = {unicodedata.normalize("NFC", stem).casefold() for stem in stems}
    orphans = [stem for stem in crops.rows if stem.casefold() not in folded]
    notes = [*crops.problems, *(f"row for {stem!r}, which is not there" for stem in orphans)]
    left = len(notes) - _MAX_NOTES
    tail = [f"and {left} more"] if left > 0 else []
    return "; ".join(notes[:_MAX_NOTES] + tail), (ORPHAN_ROWS,) if orphans else ()

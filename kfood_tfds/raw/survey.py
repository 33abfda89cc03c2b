"""The survey: looks once at every file of an archive and writes down what it found.

Three steps, each a plain function: `plan_files` gives every member its class and id,
`read_files` reads the members in the archive's own order with their crop rows, and
`examine` verifies and measures one file. `survey` runs them over all cores and keeps the
result beside the other downloads, so that the next configuration, or the next attempt after
a crash, doesn't decode a file twice.
"""

from __future__ import annotations

import functools
import gc
import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from tqdm.auto import tqdm

from kfood_tfds.raw.archive import Archive, Member
from kfood_tfds.raw.channel_sums import ChannelSums, sampled_sums
from kfood_tfds.raw.classes import ClassTable, FoodClass
from kfood_tfds.raw.crop_area import CropRow, CropTable, parse_crop_area, place_crop
from kfood_tfds.raw.errors import ArchiveError, SurveyError
from kfood_tfds.raw.images import ImageRejected, prepare_image
from kfood_tfds.raw.manifest import ACCEPTED, REJECTED, SIDE_FILE, ManifestRow
from kfood_tfds.raw.messages import say
from kfood_tfds.raw.parallel import map_in_order
from kfood_tfds.raw.pixel_digest import pixel_digest
from kfood_tfds.raw.quality import measure, quality_flags
from kfood_tfds.raw.thumbnails import thumbnail

CODE_MISMATCH = "code_mismatch"
ORPHAN_ROWS = "orphan_rows"
_CODE_IN_NAME = re.compile(r"^Img_(\d{3})_\d+", re.IGNORECASE)
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


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What the survey keeps of one file.

    Attributes:
        row: Its manifest row, split and group still open.
        pixels: A digest of its pixels; empty if rejected.
        sums: Sums over its crop box for the channel statistics; None if rejected.
        thumbnail: uint8[32, 32], or None if rejected or kept elsewhere.
    """

    row: ManifestRow
    pixels: str = ""
    sums: ChannelSums | None = None
    thumbnail: npt.NDArray[np.uint8] | None = None


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


def examine(file: ReadFile, two_value_boxes: str = "image") -> FileFacts:
    """Verifies and measures one file; the step that runs on all cores.

    Args:
        file: The file with its bytes.
        two_value_boxes: What a crop row of two values means; see `crop_area.place_crop`.
    """
    base = _base_row(file)
    if base.reason or not isinstance(file.content, bytes):
        return FileFacts(base)
    try:
        image = prepare_image(file.content)
    except ImageRejected as error:
        return FileFacts(replace(base, reason=error.reason))
    crop = place_crop(
        file.crop_row,
        image.height,
        image.width,
        orientation=image.orientation,
        two_value_boxes=two_value_boxes,
    )
    box = crop.box
    flags = quality_flags(measure(image.pixels), image.height, image.width, box)
    row = replace(
        base,
        verdict=ACCEPTED,
        source_format=image.source_format,
        width=image.width,
        height=image.height,
        crop_status=crop.status,
        crop_note=crop.note,
        stored_as=image.stored_as,
        flags=(*base.flags, *flags),
        box=box,
    )
    window = image.pixels[box.ymin : box.ymax, box.xmin : box.xmax]
    return FileFacts(row, pixel_digest(image.pixels), sampled_sums(window), thumbnail(image.pixels))


def _base_row(file: ReadFile) -> ManifestRow:
    """Returns what is known without looking at the content; a reason where that decides."""
    food, member = file.planned.food, file.planned.member
    digest = hashlib.sha256(file.content).hexdigest() if isinstance(file.content, bytes) else ""
    row = ManifestRow(
        file.planned.id,
        REJECTED,
        label=food.label if food else None,
        category=food.category if food else "",
        sha256=digest,
        crop_note=file.note,
        flags=file.flags,
    )
    if member.kind == "crop_area" and isinstance(file.content, bytes):
        return replace(row, reason=f"{SIDE_FILE}crop table, its boxes are used")
    if member.kind == "stranger":
        return replace(row, reason=f"{SIDE_FILE}not an image of the data set")
    if not isinstance(file.content, bytes):
        return replace(row, reason=f"unreadable: {file.content}")
    if food is None:
        return replace(row, reason=f"unknown class folder {member.class_name!r}")
    if file.planned.repeats:
        return replace(row, reason=f"the archive holds this path twice (also at {member.place})")
    code = _CODE_IN_NAME.match(member.filename)
    if code and int(code.group(1)) != food.label:
        return replace(row, flags=(*row.flags, CODE_MISMATCH))
    return row


def bad_files(rows: Iterable[ManifestRow]) -> list[ManifestRow]:
    """Returns the rows of the images that were rejected."""
    return [row for row in rows if not row.accepted and not row.is_side_file]


def raise_if_bad(rows: Iterable[ManifestRow]) -> None:
    """Raises one SurveyError that names every rejected image, if there are any."""
    bad = bad_files(rows)
    if bad:
        lines = "\n".join(f"  {row.id}: {row.reason}" for row in bad)
        raise SurveyError(say("bad_files", number=len(bad), lines=lines))


def examine_all(
    archive: Archive,
    planned: Sequence[PlannedFile],
    two_value_boxes: str = "image",
    workers: int | None = None,
    progress: Callable[..., Any] = tqdm,
    done: int = 0,
) -> Iterator[FileFacts]:
    """Yields the facts of all planned files from number `done` on, in their order.

    Args:
        archive: The archive.
        planned: All its planned files, in the archive's order (see `in_reading_order`).
        two_value_boxes: See `examine`.
        workers: The number of threads; None is one per core.
        progress: A progress bar with tqdm's signature.
        done: How many of the files are known already.
    """
    work = functools.partial(examine, two_value_boxes=two_value_boxes)
    facts = map_in_order(work, read_files(archive, planned[done:]), workers)
    # TensorFlow's million objects stay: no need to look through them again and again.
    gc.freeze()
    try:
        with progress(
            total=len(planned), initial=done, desc="Looking at every file", unit=" files"
        ) as bar:
            for fact in facts:
                bar.update()
                yield fact
    finally:
        gc.unfreeze()


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

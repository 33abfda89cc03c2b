"""The survey: looks once at every file of an archive and says what it found.

`examine_group` verifies and measures some files, and `examine_all` all planned files of an archive
over all cores. `survey_store.survey` keeps the result beside the other downloads, so that the next
configuration, or the next attempt after a crash, doesn't decode a file twice.
"""

from __future__ import annotations

import functools
import gc
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from tqdm.auto import tqdm

from kfood_tfds.raw.archive import Archive
from kfood_tfds.raw.channel_sums import ChannelSums, sampled_sums
from kfood_tfds.raw.crop_area import CropBox, place_crop
from kfood_tfds.raw.errors import SurveyError
from kfood_tfds.raw.images import ImageRejected, prepare_image
from kfood_tfds.raw.manifest import ACCEPTED, REJECTED, SIDE_FILE, ManifestRow
from kfood_tfds.raw.messages import say
from kfood_tfds.raw.parallel import map_groups_in_order
from kfood_tfds.raw.pixel_digest import pixel_digest
from kfood_tfds.raw.planned_files import PlannedFile, ReadFile, read_files
from kfood_tfds.raw.quality import measure, quality_flags
from kfood_tfds.raw.thumbnails import thumbnail

CODE_MISMATCH = "code_mismatch"
_CODE_IN_NAME = re.compile(r"^Img_(\d{3})_\d+", re.IGNORECASE)
# Files that a thread takes at once, and the bytes that make it fewer.
_GROUP_FILES = 16
_GROUP_BYTES = 4_000_000
# Bytes of pixels that are held for the measures, and never much more: one image can be 150 MB.
_HELD_BYTES = 16_000_000


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


def examine_group(files: Iterable[ReadFile], two_value_boxes: str = "image") -> Iterator[FileFacts]:
    """Verifies and measures some files; the step that runs on all cores.

    Decodes several, then takes one measure of all of them after the other: code that ran a moment
    ago for another image runs twice as fast as code that a decoder has pushed out of the caches.

    Args:
        files: Files with their bytes.
        two_value_boxes: What a crop row of two values means; see `crop_area.place_crop`.

    Yields:
        The facts of each file, in order.
    """
    waiting: list[FileFacts | _Accepted] = []
    held = 0
    for file in files:
        verified = _verified(file, two_value_boxes)
        waiting.append(verified)
        if isinstance(verified, _Accepted):
            held += verified.pixels.nbytes
        if held >= _HELD_BYTES:
            yield from _measured(waiting)
            waiting, held = [], 0
            # Not even the last image stays while the next is decoded.
            del verified
    yield from _measured(waiting)


@dataclass(frozen=True, eq=False, slots=True)
class _Accepted:
    """An accepted file, still without its measures: its row without flags of its look."""

    row: ManifestRow
    box: CropBox
    pixels: npt.NDArray[np.uint8]


def _verified(file: ReadFile, two_value_boxes: str) -> FileFacts | _Accepted:
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
    row = replace(
        base,
        verdict=ACCEPTED,
        source_format=image.source_format,
        width=image.width,
        height=image.height,
        crop_status=crop.status,
        crop_note=crop.note,
        stored_as=image.stored_as,
        box=crop.box,
    )
    return _Accepted(row, crop.box, image.pixels)


def _measured(verified: Sequence[FileFacts | _Accepted]) -> Iterator[FileFacts]:
    accepted = [file for file in verified if isinstance(file, _Accepted)]
    rows = [_flagged(file) for file in accepted]
    digests = [pixel_digest(file.pixels) for file in accepted]
    sums = [sampled_sums(_window(file)) for file in accepted]
    thumbnails = [thumbnail(file.pixels) for file in accepted]
    found = map(FileFacts, rows, digests, sums, thumbnails)
    for file in verified:
        yield file if isinstance(file, FileFacts) else next(found)


def _flagged(file: _Accepted) -> ManifestRow:
    height, width = file.pixels.shape[:2]
    flags = quality_flags(measure(file.pixels), height, width, file.box)
    return replace(file.row, flags=(*file.row.flags, *flags)) if flags else file.row


def _window(file: _Accepted) -> npt.NDArray[np.uint8]:
    box = file.box
    return file.pixels[box.ymin : box.ymax, box.xmin : box.xmax]


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
        two_value_boxes: See `examine_group`.
        workers: The number of threads; None is one per core.
        progress: A progress bar with tqdm's signature.
        done: How many of the files are known already.
    """
    facts = examine_on_threads(read_files(archive, planned[done:]), two_value_boxes, workers)
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


def examine_on_threads(
    files: Iterable[ReadFile], two_value_boxes: str = "image", workers: int | None = None
) -> Iterator[FileFacts]:
    """Yields the facts of files in their order, found by several threads.

    Args:
        files: Files with their bytes.
        two_value_boxes: See `examine_group`.
        workers: The number of threads; None is one per core.
    """
    work = functools.partial(examine_group, two_value_boxes=two_value_boxes)
    return map_groups_in_order(work, _in_groups(files), workers)


def _in_groups(files: Iterable[ReadFile]) -> Iterator[list[ReadFile]]:
    """Parts files into groups for one thread: some files, and of large ones fewer."""
    group: list[ReadFile] = []
    held = 0
    for file in files:
        group.append(file)
        held += len(file.content) if isinstance(file.content, bytes) else 0
        if len(group) == _GROUP_FILES or held >= _GROUP_BYTES:
            yield group
            group, held = [], 0
    if group:
        yield group

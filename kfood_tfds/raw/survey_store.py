"""Keeps a survey on disk while it grows, so that nothing is done twice.

Two files in one folder: `survey.csv`, a manifest row per file, and `measurements.bin`, a record
per accepted image (`MEASUREMENT`). Both are only ever appended to, in the archive's order; what a
killed survey left is taken up where the shorter of the two ends. `complete.json` marks the end.
Memory stays flat: the measurements are read through a memory map.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import io
import json
import os
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from etils import epath
from tqdm.auto import tqdm

from kfood_tfds.raw.archive import Archive
from kfood_tfds.raw.channel_sums import ChannelSums
from kfood_tfds.raw.classes import ClassTable
from kfood_tfds.raw.crop_area import TWO_VALUE_MODES
from kfood_tfds.raw.errors import SurveyError
from kfood_tfds.raw.file_lock import locked
from kfood_tfds.raw.manifest import ManifestRow, from_cells, to_cells
from kfood_tfds.raw.messages import say
from kfood_tfds.raw.parallel import check_workers
from kfood_tfds.raw.planned_files import PlannedFile, check_plan, in_reading_order, plan_files
from kfood_tfds.raw.survey import FileFacts, examine_all
from kfood_tfds.raw.temporary_folder import temporary_folder
from kfood_tfds.raw.thumbnails import THUMBNAIL_SIDE

# Part of the key: raise it when the survey measures something else than before.
SURVEY_VERSION = 5
MEASUREMENT = np.dtype(
    [
        ("thumbnail", np.uint8, (THUMBNAIL_SIDE, THUMBNAIL_SIDE)),
        ("pixels", np.uint8, (32,)),
        ("sums", "<i8", (7,)),
    ]
)
# Yields the facts of planned files from a number on, in order; may keep what it likes in a folder.
Examiner = Callable[[Sequence[PlannedFile], int, epath.Path], Iterable[FileFacts]]

_ROWS_PER_FLUSH = 16
_TEMPORARY = "kfood_survey_"
_FILES = ("survey.csv", "measurements.bin", "complete.json")


@dataclass(frozen=True)
class Survey:
    """What one look at every file of an archive found.

    Attributes:
        archive: The archive.
        planned: All its files, in reading order.
        rows: Their manifest rows in the same order; split and group are still open.
        measurements: One record of `MEASUREMENT` per accepted row, in order.
        folder: Where the result lies, on a local path.
        kept: The folder of a bucket that keeps it between runs; None if `folder` does.
    """

    archive: Archive
    planned: Sequence[PlannedFile]
    rows: Sequence[ManifestRow]
    measurements: npt.NDArray[np.void]
    folder: Path
    kept: epath.Path | None = None


def survey(
    archive: Archive,
    table: ClassTable,
    cache_dir: str | os.PathLike[str] | None = None,
    two_value_boxes: str = "image",
    workers: int | None = None,
    progress: Callable[..., Any] = tqdm,
    examiner: Examiner | None = None,
) -> Survey:
    """Looks at every file of an archive, or takes the result of an earlier look.

    Args:
        archive: The archive.
        table: The class table.
        cache_dir: Where results are kept between runs; any path that `etils.epath` opens. None
            is a temporary folder that goes with the process.
        two_value_boxes: What a crop row of two values means: "image" (no box) or "origin".
        workers: The number of threads; None is one per core.
        progress: A progress bar with tqdm's signature.
        examiner: What looks at the files instead of this process's threads; it is given the
            survey's folder under `cache_dir` too.

    Raises:
        SurveyError: If no folder of the archive is a class.
    """
    allowed = ", ".join(TWO_VALUE_MODES)
    if two_value_boxes not in TWO_VALUE_MODES:
        raise SurveyError(say("two_values", allowed=allowed, received=two_value_boxes))
    check_workers(workers)
    planned = in_reading_order(plan_files(archive.members(), table))
    check_plan(planned, table, archive.place)
    key = survey_key(archive, table, two_value_boxes)
    target = None if cache_dir is None else survey_folder(cache_dir, key)
    bucket = target if target is not None and "://" in os.fspath(target) else None
    with _store(target) as folder:
        known = _load(folder)
        if known is None:
            done = _resume(folder)
            if examiner is None:
                facts = examine_all(archive, planned, two_value_boxes, workers, progress, done)
            else:
                facts = iter(examiner(planned, done, target or epath.Path(folder)))
            _append(folder, facts)
            _complete(folder, len(planned), bucket)
            known = _load(folder)
    if known is None:
        raise SurveyError(say("survey_lost", folder=os.fspath(folder)))
    return Survey(archive, planned, *known, folder, bucket)


def survey_key(archive: Archive, table: ClassTable, two_value_boxes: str) -> str:
    """Returns a name for the result of a survey: same key, same result."""
    classes = hashlib.sha256(repr(table.classes).encode()).hexdigest()
    # The ids too: the class of loose files may come from the name of the folder given.
    ids = hashlib.sha256("\n".join(m.path for m in archive.members()).encode(errors="replace"))
    parts = (
        str(SURVEY_VERSION), archive.fingerprint(), ids.hexdigest(), classes, two_value_boxes,
    )  # fmt: skip
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def survey_folder(cache_dir: str | os.PathLike[str], key: str) -> epath.Path:
    """Returns where the survey of a key is kept."""
    return epath.Path(cache_dir) / "kfood_survey" / key


def pack_facts(facts: Iterable[FileFacts]) -> bytes:
    """Returns facts as the content of one file, a part of a survey."""
    rows, records = [], []
    for fact in facts:
        rows.append(fact.row)
        if fact.row.accepted:
            records.append(_record(fact))
    data = io.BytesIO()
    text = np.frombuffer(_text(rows).encode(), np.uint8)
    np.savez(data, rows=text, measurements=np.frombuffer(b"".join(records), MEASUREMENT))
    return data.getvalue()


def unpack_facts(data: bytes) -> Iterator[FileFacts]:
    """Yields what `pack_facts` packed.

    Raises:
        ValueError, KeyError, zipfile.BadZipFile: If the file is damaged.
    """
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        text, measurements = arrays["rows"].tobytes().decode(), iter(arrays["measurements"])
    for row in _rows(text):
        if not row.accepted:
            yield FileFacts(row)
            continue
        record = next(measurements)
        pixels = bytes(record["pixels"]).hex()
        yield FileFacts(row, pixels, sums_of(record), record["thumbnail"])


def sums_of(measurement: npt.NDArray[np.void]) -> ChannelSums:
    """Returns the channel sums of one record of `MEASUREMENT`."""
    count, *sums = (int(value) for value in measurement["sums"])
    return ChannelSums(count, (sums[0], sums[1], sums[2]), (sums[3], sums[4], sums[5]), 1)


@contextlib.contextmanager
def _store(folder: epath.Path | None) -> Iterator[Path]:
    """Gives a local folder for the survey, held by one process at a time.

    A folder that is no local path (a bucket) can't be appended to: the work is then done in a
    temporary folder, and `_complete` copies it there at the end.
    """
    if folder is None:
        # Until the process ends: the memory map needs the file.
        yield temporary_folder(_TEMPORARY)
        return
    folder.mkdir(parents=True, exist_ok=True)
    if "://" not in os.fspath(folder):
        local = Path(os.fspath(folder))
        with locked(local / "lock"):
            yield local
        return
    local = temporary_folder(_TEMPORARY)
    if (folder / "complete.json").exists():
        for name in _FILES:
            if (folder / name).exists():
                (local / name).write_bytes((folder / name).read_bytes())
    yield local


def _complete(folder: Path, files: int, bucket: epath.Path | None) -> None:
    """Marks a survey as complete, and puts it into the bucket that keeps it, if one does."""
    half = folder / "complete.tmp"
    half.write_text(json.dumps({"files": files}))
    half.replace(folder / "complete.json")
    if bucket is not None:
        for name in _FILES:  # The mark comes last.
            (bucket / name).write_bytes((folder / name).read_bytes())


def _load(folder: Path) -> tuple[list[ManifestRow], npt.NDArray[np.void]] | None:
    try:
        return _read(folder)
    except (OSError, ValueError, KeyError, TypeError, csv.Error):
        return None  # Not there yet, or torn by a full disk: `_resume` keeps what is whole.


def _read(folder: Path) -> tuple[list[ManifestRow], npt.NDArray[np.void]] | None:
    if not (folder / "complete.json").exists():
        return None
    wanted = json.loads((folder / "complete.json").read_text())["files"]
    with (folder / "survey.csv").open(encoding="utf-8", newline="") as file:
        rows = [from_cells(cells) for cells in csv.reader(file)]
    path = folder / "measurements.bin"
    size = path.stat().st_size
    accepted = sum(row.accepted for row in rows)
    if len(rows) != wanted or size != accepted * MEASUREMENT.itemsize:
        return None
    if not accepted:
        return rows, np.zeros(0, MEASUREMENT)
    return rows, np.memmap(path, MEASUREMENT, "r")


def _rows(text: str) -> Iterator[ManifestRow]:
    for cells in csv.reader(io.StringIO(text, newline="")):
        yield from_cells(cells)


def _resume(folder: Path) -> int:
    """Cuts both files to the last row that both have; returns how many rows that are."""
    rows_path, data_path = folder / "survey.csv", folder / "measurements.bin"
    (folder / "complete.json").unlink(missing_ok=True)
    text = rows_path.read_bytes().decode(errors="replace") if rows_path.exists() else ""
    records = data_path.stat().st_size // MEASUREMENT.itemsize if data_path.exists() else 0
    kept: list[ManifestRow] = []
    accepted = 0
    with contextlib.suppress(ValueError, csv.Error):
        for row in _rows(text[: text.rfind("\n") + 1]):
            if row.accepted and accepted == records:
                break
            accepted += row.accepted
            kept.append(row)
    rows_path.write_text(_text(kept), encoding="utf-8", newline="")
    with data_path.open("ab") as file:
        file.truncate(accepted * MEASUREMENT.itemsize)
    return len(kept)


def _text(rows: Iterable[ManifestRow]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text).writerows(to_cells(row) for row in rows)
    return text.getvalue()


def _append(folder: Path, facts: Iterable[FileFacts]) -> None:
    with (
        (folder / "survey.csv").open("a", encoding="utf-8", newline="") as rows,
        (folder / "measurements.bin").open("ab") as data,
    ):
        table = csv.writer(rows)
        for number, fact in enumerate(facts, 1):
            if fact.row.accepted:
                data.write(_record(fact))
            table.writerow(to_cells(fact.row))
            if number % _ROWS_PER_FLUSH == 0:
                data.flush()
                rows.flush()


def _record(fact: FileFacts) -> bytes:
    """Returns an accepted image's record of `MEASUREMENT`."""
    if fact.sums is None or fact.thumbnail is None:
        raise ValueError(f"An accepted file has sums and a thumbnail. Received: {fact.row.id}")
    numbers = struct.pack("<7q", fact.sums.count, *fact.sums.totals, *fact.sums.squares)
    return fact.thumbnail.tobytes() + bytes.fromhex(fact.pixels) + numbers

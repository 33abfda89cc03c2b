"""Tells in which of its layouts an archive lies, and cuts it into units that are read in one go.

A unit is one zip of images (a category zip as a rule), or one folder of loose files.
"""

from __future__ import annotations

import itertools
import os
import re
import tarfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from etils import epath

from kfood_tfds.raw.errors import ArchiveError
from kfood_tfds.raw.extents import Extent, ExtentReader, Reader, cut, extent_size, whole_files
from kfood_tfds.raw.found_files import FoundFile, find_files
from kfood_tfds.raw.member_names import decode_name, has_image_suffix, is_stranger, split_name
from kfood_tfds.raw.messages import Message, say
from kfood_tfds.raw.zip_directory import (
    STORED,
    ZipDirectory,
    ZipEntry,
    check_end,
    read_directory,
    stored_start,
)

_PART = re.compile(r"^(?P<stem>.+)\.part(?P<number>\d+)$", re.IGNORECASE)
_UNFINISHED = (".crdownload", ".part", ".partial", ".download", ".aria2", ".tmp", ".opdownload")
_SHOWN = 8
MAX_TAR_MEMBERS = 100_000


@dataclass(frozen=True)
class ZipUnit:
    """One zip of images.

    Attributes:
        key: Its name among the units.
        place: What messages call it.
        stem: Its file name without `.zip`, which stands in for a missing category level.
        extent: Its bytes; or, with `packed`, those of the zip around it.
        packed: Its entry in the zip around it, if it has to be unpacked first.
    """

    key: str
    place: str
    stem: str
    extent: Extent
    packed: ZipEntry | None = None


@dataclass(frozen=True)
class FolderUnit:
    """The loose files of one folder."""

    key: str
    files: tuple[FoundFile, ...]


@dataclass(frozen=True)
class BrokenUnit:
    """A zip inside a zip that can't be opened: one unreadable member."""

    key: str
    place: str
    stem: str
    filename: str
    size: int
    error: Message


Unit = ZipUnit | FolderUnit | BrokenUnit


@dataclass(frozen=True)
class Layout:
    """How an archive lies.

    Attributes:
        name: "zip", "tar", "parts", "category zips", "folders" or "category zips and folders".
        units: Its units, sorted by key.
        files: The files that the units lie in.
        ignored: Files beside a whole archive, which are left alone.
    """

    name: str
    units: tuple[Unit, ...]
    files: tuple[FoundFile, ...]
    ignored: tuple[FoundFile, ...] = ()


def find_layout(files: Sequence[FoundFile], place: str) -> Layout:
    """Tells the layout of the files found at a path.

    A whole archive (`kfood.zip`, a tar, part files) goes before category zips and folders that
    lie beside it.

    Args:
        files: What was found, sorted.
        place: The path, for messages.

    Raises:
        ArchiveError: If there is no archive, or one that is damaged or incomplete.
    """
    zips = [f for f in files if _suffix(f) == "zip" and not is_stranger(f.inside)]
    directories = {f: _directory(f) for f in zips}
    wholes = [f for f in zips if _inner_zips(directories[f])]
    for name, units, used in (
        ("zip", [u for f in wholes for u in _units_of_zip(f, directories[f])], wholes),
        ("tar", *_from_tars(files)),
        ("parts", *_from_parts(files)),
    ):
        if units:
            _check_inner_zips(units, name)
            rest = tuple(f for f in files if f not in set(used) and not is_stranger(f.inside))
            return Layout(name, _sorted(units), tuple(used), rest)
    loose = [f for f in files if f not in directories]
    from_zips: list[Unit] = [_unit_of_file(f) for f in zips]
    from_folders = list(_folder_units(loose))
    has_images = any(has_image_suffix(f.inside.filename) for f in loose)
    is_one_file = len(files) == 1 and os.path.realpath(place) == os.path.realpath(files[0].path)
    if not from_zips and (not has_images or is_one_file):
        raise ArchiveError(
            say("no_archive", place=place, expected=say("expected"), found=_findings(files))
        )
    name = "category zips" if from_zips else "folders"
    if from_zips and has_images:
        name = "category zips and folders"
    return Layout(name, _sorted([*from_zips, *from_folders]), tuple(files))


def find_parts(files: Sequence[FoundFile]) -> Sequence[FoundFile]:
    """Where one part file was given, returns all of its series; else what was found."""
    part = _PART.match(files[0].inside.filename) if len(files) == 1 else None
    if part is None:
        return files
    beside = find_files(epath.Path(files[0].path).parent, below=False)
    matches = [(file, _PART.match(file.inside.filename)) for file in beside]
    return [file for file, match in matches if match and match["stem"] == part["stem"]]


def _sorted(units: Sequence[Unit]) -> tuple[Unit, ...]:
    return tuple(sorted(units, key=lambda unit: unit.key))


def _check_inner_zips(units: Sequence[Unit], layout: str) -> None:
    """One damaged category zip is reported later on; joined parts have to fit, all of them."""
    broken = [unit for unit in units if isinstance(unit, BrokenUnit)]
    zips = [unit for unit in units if not isinstance(unit, FolderUnit) and unit.stem]
    if not broken or (layout == "zip" and len(broken) < len(zips)):
        return
    advice = say("download_again") if layout == "zip" else say("check_parts")
    raise ArchiveError(
        say(
            "zips_do_not_open",
            broken=len(broken),
            number=len(zips),
            advice=advice,
            first=broken[0].error,
        )
    )


def _findings(files: Sequence[FoundFile]) -> Message:
    unfinished = [f.shown for f in files if f.inside.filename.lower().endswith(_UNFINISHED)]
    if unfinished:
        return say("found_unfinished", names=_some(unfinished))
    if not files:
        return say("found_nothing")
    return say("found_other", names=_some([f.shown for f in files]))


def _some(names: Sequence[str]) -> Message | str:
    shown = ", ".join(names[:_SHOWN])
    left = len(names) - _SHOWN
    return say("and_more", shown=shown, number=left) if left > 0 else shown or say("nothing")


def _suffix(file: FoundFile) -> str:
    return file.inside.filename.rpartition(".")[2].lower()


def _extent(file: FoundFile) -> Extent:
    return whole_files([(file.path, file.size)])


def _directory(file: FoundFile) -> ZipDirectory:
    with ExtentReader(_extent(file)) as reader:
        directory = read_directory(reader, file.shown)
    faults = {entry.fault for entry in directory.entries if not entry.is_folder}
    fault = faults.pop() if len(faults) == 1 else None
    if fault is not None:
        raise ArchiveError(say("nothing_readable", place=file.shown, fault=fault))
    return directory


def _inner_zips(directory: ZipDirectory) -> list[ZipEntry]:
    return [
        entry
        for entry in directory.entries
        if entry.name.lower().endswith(".zip") and not is_stranger(split_name(entry.name))
    ]


def _units_of_zip(file: FoundFile, directory: ZipDirectory) -> list[Unit]:
    with ExtentReader(_extent(file)) as reader:
        return units_of_outer_zip(reader, _extent(file), directory, file.shown)


def units_of_outer_zip(
    reader: Reader, extent: Extent, directory: ZipDirectory, place: str
) -> list[Unit]:
    """Returns the units of a zip that holds zips; its other members are a unit of their own."""
    inner = _inner_zips(directory)
    units: list[Unit] = [_inner_unit(reader, extent, entry, place) for entry in inner]
    if len(inner) < sum(not entry.is_folder for entry in directory.entries):
        units.append(ZipUnit(place, place, "", extent))
    return units


def _inner_unit(reader: Reader, extent: Extent, entry: ZipEntry, place: str) -> Unit:
    name = split_name(entry.name).filename
    inside = f"{place} › {name}"
    stem = name[: -len(".zip")].strip()
    try:
        if entry.method != STORED and not entry.fault:
            return ZipUnit(inside, inside, stem, extent, entry)
        window = cut(extent, stored_start(reader, entry, inside), entry.size)
        with ExtentReader(window) as window_reader:
            check_end(window_reader, inside)
        return ZipUnit(inside, inside, stem, window)
    except ArchiveError as error:
        return BrokenUnit(inside, inside, stem, name, entry.size, error.message)


def _unit_of_file(file: FoundFile) -> ZipUnit:
    stem = file.inside.filename[: -len(".zip")].strip()
    return ZipUnit(file.shown, file.shown, stem, _extent(file))


def _from_tars(files: Sequence[FoundFile]) -> tuple[list[Unit], list[FoundFile]]:
    tars = [f for f in files if _suffix(f) == "tar" and not is_stranger(f.inside)]
    units: list[Unit] = []
    for file in tars:
        members = list(_tar_members(file))
        parts = [(name, cut(_extent(file), at, size)) for name, at, size in members]
        found = _joined(parts, file.shown)
        for name, extent in found or []:
            units += _units_of_extent(extent, f"{file.shown} › {name}")
        if not found:
            names = _some([name for name, _, _ in members])
            raise ArchiveError(say("tar_without_zip", place=file.shown, names=names))
    return units, tars


def _tar_members(file: FoundFile) -> Iterator[tuple[str, int, int]]:
    """Yields name, offset and size of the regular files in a tar, reading its headers only."""
    try:
        with (
            epath.Path(file.path).open("rb") as data,
            tarfile.open(
                fileobj=data, mode="r:", encoding="utf-8", errors="surrogateescape"
            ) as tar,
        ):
            for number, member in enumerate(tar):
                if number >= MAX_TAR_MEMBERS:
                    raise ArchiveError(say("tar_too_long", place=file.shown, limit=MAX_TAR_MEMBERS))
                if not member.isfile() or member.issparse():
                    continue
                name = decode_name(member.name.encode("utf-8", "surrogateescape"))
                _check_reach(file, name, member.offset_data + member.size)
                yield name, member.offset_data, member.size
    except (tarfile.TarError, OSError) as error:
        raise ArchiveError(say("tar_unreadable", place=file.shown, error=str(error))) from error


def _check_reach(tar: FoundFile, name: str, stop: int) -> None:
    if stop > tar.size:
        raise ArchiveError(say("tar_cut_off", place=tar.shown, name=name, stop=stop, size=tar.size))


def _from_parts(files: Sequence[FoundFile]) -> tuple[list[Unit], list[FoundFile]]:
    parts = [f for f in files if _PART.match(f.inside.filename) and not is_stranger(f.inside)]
    found = _joined([(f.shown, _extent(f)) for f in parts], say("the_folder"))
    units = [unit for name, extent in found for unit in _units_of_extent(extent, name)]
    return units, parts


def _joined(pieces: Sequence[tuple[str, Extent]], place: Message | str) -> list[tuple[str, Extent]]:
    """Joins part files in numeric order; whole zips stay as they are.

    Raises:
        ArchiveError: If a part is missing or there twice.
    """
    series: dict[str, list[tuple[int, Extent]]] = defaultdict(list)
    joined: list[tuple[str, Extent]] = []
    for name, extent in pieces:
        part = _PART.match(name)
        if part:
            series[part["stem"]].append((int(part["number"]), extent))
        elif name.lower().endswith(".zip"):
            joined.append((name, extent))
    for stem, parts in series.items():
        parts.sort(key=lambda part: part[0])
        _check_numbers(say("series", name=stem, place=place), parts)
        joined.append((stem, tuple(segment for _, extent in parts for segment in extent)))
    return sorted(joined)


def _check_numbers(series: Message, parts: Sequence[tuple[int, Extent]]) -> None:
    """Parts are numbered 0, 1, 2, …, or by the byte of the whole at which each begins."""
    numbers = [number for number, _ in parts]
    begins = list(itertools.accumulate((extent_size(e) for _, e in parts[:-1]), initial=0))
    if numbers in (list(range(len(parts))), begins):
        return
    what = say("part_twice")
    if len(set(numbers)) == len(numbers):
        # Numbers may be anything, so the gaps are walked, never filled.
        gap = next(i for i, number in enumerate(numbers) if number != i)
        upto = numbers[gap] - 1
        what = say("lacks_part", number=gap)
        if upto > gap:
            what = say("lacks_parts", first=gap, last=upto)
    found = _some([f".part{number}" for number in numbers])
    raise ArchiveError(say("part_numbers", series=series, what=what, parts=found))


def _units_of_extent(extent: Extent, place: str) -> list[Unit]:
    with ExtentReader(extent) as reader:
        try:
            directory = read_directory(reader, place)
        except ArchiveError as error:
            raise ArchiveError(say("joined", error=error.message, number=len(extent))) from error
        if _inner_zips(directory):
            return units_of_outer_zip(reader, extent, directory, place)
    stem = place.rpartition("/")[2].removesuffix(".zip")
    return [ZipUnit(place, place, stem, extent)]


def _folder_units(files: Sequence[FoundFile]) -> Iterator[FolderUnit]:
    folders: dict[tuple[str, ...], list[FoundFile]] = defaultdict(list)
    for file in files:
        folders[file.inside.folders].append(file)
    for folder, members in folders.items():
        yield FolderUnit("/".join(folder), tuple(members))

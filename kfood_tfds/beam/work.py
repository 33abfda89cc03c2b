"""Work that lies as files on a path that all machines share, and the results that come back.

A pipeline's description must stay small (Dataflow takes 10 MB), so it names stretches of files
instead of holding 150,000 rows. The files are pickles of this package's own dataclasses, written by
the process that starts the pipeline and removed at its end, or plain records of numpy.
"""

from __future__ import annotations

import functools
import os
import pickle
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from etils import epath

from kfood_tfds.raw.archive import Archive, Member
from kfood_tfds.raw.errors import SurveyError

# Some seconds of work: enough to outweigh opening the archive, little to lose with a machine.
CHUNK_FILES = 200
_PART_ROWS = 50_000


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stretch of the items, or records, in one file of work.

    Attributes:
        path: The file.
        start: The first item.
        stop: The item after the last one.
    """

    path: str
    start: int
    stop: int


def absolute(path: epath.Path) -> epath.Path:
    """Returns a path that means the same in another process's working folder."""
    place = os.fspath(path)
    return path if "://" in place else epath.Path(os.path.abspath(os.path.expanduser(place)))


def save(path: epath.Path, data: bytes) -> None:
    """Writes a file at once: nobody sees half of it, and doing it twice does no harm."""
    half = path.with_name(f"{path.name}.{uuid.uuid4().hex}.tmp")
    half.write_bytes(data)
    half.replace(path)


def store(path: epath.Path, item: Any) -> str:
    """Writes something that a worker will `load`; returns its path."""
    save(path, pickle.dumps(item, pickle.HIGHEST_PROTOCOL))
    return str(path)


@functools.lru_cache(maxsize=4)
def load(path: str) -> Any:
    """Reads what `store` wrote; once per process as a rule."""
    return pickle.loads(epath.Path(path).read_bytes())


def store_by_unit(
    folder: epath.Path, archive: Archive, items: Iterable[Any], members: Iterable[Member]
) -> list[Chunk]:
    """Writes a file of items for each unit, and cuts them into chunks.

    A unit that must be unpacked before anything in it can be read stays in one piece.

    Args:
        folder: Where to.
        archive: The archive.
        items: What to do for each file, picklable, in the archive's order.
        members: The file that each item is about.
    """
    units: dict[str, list[Any]] = {}
    for member, item in zip(members, items, strict=True):
        units.setdefault(member.unit, []).append(item)
    chunks = []
    for number, (unit, of_unit) in enumerate(units.items()):
        path = store(folder / f"unit-{number:05}.pickle", of_unit)
        step = CHUNK_FILES if archive.seekable(unit) else len(of_unit)
        chunks += [
            Chunk(path, start, min(start + step, len(of_unit)))
            for start in range(0, len(of_unit), step)
        ]
    return chunks


def items_of(chunk: Chunk) -> Sequence[Any]:
    """Reads a chunk of what `store_by_unit` wrote."""
    return load(chunk.path)[chunk.start : chunk.stop]


def record_chunks(path: str, count: int, step: int) -> list[Chunk]:
    """Cuts a file of so many records into chunks."""
    return [Chunk(path, start, min(start + step, count)) for start in range(0, count, step)]


def read_records(chunk: Chunk, dtype: npt.DTypeLike) -> npt.NDArray[np.void]:
    """Reads a chunk of a file of numpy records, and nothing around it.

    Raises:
        SurveyError: If the file is shorter.
    """
    size = np.dtype(dtype).itemsize
    with epath.Path(chunk.path).open("rb") as file:
        file.seek(chunk.start * size)
        data = file.read((chunk.stop - chunk.start) * size)
    if len(data) != (chunk.stop - chunk.start) * size:
        raise SurveyError(
            f"{chunk.path} ends before record {chunk.stop}. Let nothing write to the data folder "
            "during a build, and start it again."
        )
    return np.frombuffer(data, dtype)


def part_of(number: int) -> int:
    """Returns which part of a result holds the row of this number."""
    return number // _PART_ROWS


def save_part(
    part: tuple[int, Iterable[tuple[Any, ...]]], folder: str, name: str, dtype: npt.DTypeLike
) -> None:
    """Writes one part of a result, its rows sorted."""
    number, rows = part
    data = np.array(sorted(rows), dtype).tobytes()
    save(epath.Path(folder) / f"{name}-{number:05}.bin", data)


def read_parts(folder: epath.Path, name: str, dtype: npt.DTypeLike) -> npt.NDArray[np.void]:
    """Reads all parts of a result, in their order."""
    return np.frombuffer(b"".join(_parts(folder, name)), dtype)


def _parts(folder: epath.Path, name: str) -> Iterator[bytes]:
    for path in sorted(folder.glob(f"{name}-*.bin")):
        yield path.read_bytes()

"""The survey as a pipeline: each worker reads its files from the shared archive.

Every chunk's facts become one file in the survey's folder, which the process that started the
pipeline strings together. What a failed survey left of them is not done again.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from typing import Any

import apache_beam as beam
from apache_beam.typehints.decorators import no_annotations
from etils import epath

from kfood_tfds.beam import work
from kfood_tfds.beam.cluster import Cluster
from kfood_tfds.raw.archive import Archive
from kfood_tfds.raw.errors import SurveyError
from kfood_tfds.raw.planned_files import PlannedFile, read_files
from kfood_tfds.raw.survey import FileFacts, examine_on_threads
from kfood_tfds.raw.survey_store import pack_facts, unpack_facts

_PART = re.compile(r"part-(\d+)-(\d+)\.npz")


class _Examine(beam.DoFn):
    """Looks at the files of a chunk and writes what it found into the survey's folder."""

    def __init__(self, archive: str, parts: str, two_value_boxes: str, threads: int) -> None:
        self._archive = archive
        self._parts = parts
        self._two_value_boxes = two_value_boxes
        self._threads = threads
        self._files = beam.metrics.Metrics.counter("kfood", "files_examined")

    @no_annotations
    def process(self, element: tuple[work.Chunk, int]) -> None:
        chunk, first = element
        archive: Archive = work.load(self._archive)
        planned: Sequence[PlannedFile] = work.items_of(chunk)
        read = read_files(archive, planned)
        facts = examine_on_threads(read, self._two_value_boxes, self._threads)
        path = _part(epath.Path(self._parts), first, first + len(planned))
        work.save(path, pack_facts(facts))
        self._files.inc(len(planned))


def _part(folder: epath.Path, start: int, stop: int) -> epath.Path:
    return folder / f"part-{start:08}-{stop:08}.npz"


def examine_on(
    cluster: Cluster,
    archive: Archive,
    two_value_boxes: str,
    planned: Sequence[PlannedFile],
    done: int,
    survey_folder: epath.Path,
) -> Iterator[FileFacts]:
    """Yields the facts of planned files, found by a pipeline; an `Examiner` once partly applied.

    Args:
        cluster: Where to run.
        archive: The archive, on a path that all machines share.
        two_value_boxes: See `survey.examine_group`.
        planned: All files, in reading order.
        done: How many of them are known.
        survey_folder: The survey's own folder, on a path that all machines share.
    """
    parts = work.absolute(survey_folder) / "parts"
    parts.mkdir(parents=True, exist_ok=True)
    start = done
    known = _known(parts)
    while start < len(planned):
        if start not in known:
            _run(cluster, archive, two_value_boxes, planned, start, parts)
            known = _known(parts)
        if start not in known:
            raise SurveyError(
                f"The pipeline ended without the files from number {start} on. All machines must "
                f"see the same folder under {parts}: give a data_dir on a shared path."
            )
        stop = known[start]
        yield from unpack_facts(_part(parts, start, stop).read_bytes())
        start = stop
    parts.rmtree(missing_ok=True)


def _known(parts: epath.Path) -> dict[int, int]:
    """Returns where each part that is there starts and stops."""
    found = (_PART.fullmatch(path.name) for path in parts.iterdir())
    return {int(match[1]): int(match[2]) for match in found if match}


def _run(
    cluster: Cluster,
    archive: Archive,
    two_value_boxes: str,
    planned: Sequence[PlannedFile],
    done: int,
    parts: epath.Path,
) -> None:
    known = _known(parts)
    folder = cluster.new_folder("survey")
    shared = work.store(folder / "archive.pickle", archive)
    left = planned[done:]
    chunks = work.store_by_unit(folder, archive, left, (file.member for file in left))
    elements = []
    for chunk in chunks:
        size = chunk.stop - chunk.start
        if known.get(done) != done + size:
            elements.append((chunk, done))
        done += size
    do = _Examine(shared, str(parts), two_value_boxes, cluster.threads)

    def build(pipeline: Any) -> None:
        chunked = pipeline | "Chunks" >> beam.Create(elements) | beam.Reshuffle()
        _ = chunked | "Examine" >> beam.ParDo(do)

    try:
        cluster.run(build)
    finally:
        with contextlib.suppress(OSError):
            folder.rmtree()

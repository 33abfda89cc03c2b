"""The examples as a transform: each worker brings its files into the configuration's form."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import apache_beam as beam
from apache_beam.typehints.decorators import no_annotations

from kfood_tfds.beam import work
from kfood_tfds.beam.cluster import Cluster
from kfood_tfds.beam.stages import map_each
from kfood_tfds.raw.archive import Archive
from kfood_tfds.raw.manifest import ManifestRow
from kfood_tfds.raw.planned_files import PlannedFile
from kfood_tfds.raw.stored_images import StoredForm, StoredImage, store_files


class _Store(beam.DoFn):
    """Reads the files of a chunk from the shared archive and brings them into form."""

    def __init__(self, archive: str, form: StoredForm, threads: int) -> None:
        self._archive = archive
        self._form = form
        self._threads = threads

    @no_annotations
    def process(self, chunk: work.Chunk) -> Iterator[StoredImage]:
        archive: Archive = work.load(self._archive)
        yield from store_files(archive, work.items_of(chunk), self._form, self._threads)


def store_on(
    cluster: Cluster,
    archive: Archive,
    files: Sequence[tuple[PlannedFile, ManifestRow]],
    form: StoredForm,
    finish: Callable[[StoredImage], Any],
) -> Any:
    """Returns a transform from nothing to finished examples.

    Args:
        cluster: Whose shared folder takes the list of files; it must stay until the end.
        archive: The archive, on a path that all machines share.
        files: Planned files with their rows, in the archive's order.
        form: The form.
        finish: Makes the example of an image; a function at the top of an installed module.

    Raises:
        ArchiveError: If the archive was changed since it was found.
    """
    archive.check_unchanged()  # Here, and once: a folder of loose files takes a while to look over.
    folder = cluster.new_folder("examples")
    shared = work.store(folder / "archive.pickle", archive)
    chunks = work.store_by_unit(folder, archive, files, (file.member for file, _ in files))
    return (
        "Chunks" >> beam.Create(chunks)
        | beam.Reshuffle()
        | "Store" >> beam.ParDo(_Store(shared, form, cluster.threads))
        | "Finish" >> map_each(finish)
    )

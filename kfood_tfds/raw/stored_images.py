"""Turns one accepted file into the bytes that the shards keep, in each configuration's form."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kfood_tfds.raw.archive import Archive
from kfood_tfds.raw.crop_area import CropBox
from kfood_tfds.raw.errors import ArchiveError, SurveyError
from kfood_tfds.raw.images import encode_bmp, encode_jpeg, prepare_image, shrink_image
from kfood_tfds.raw.manifest import ManifestRow
from kfood_tfds.raw.parallel import map_in_order
from kfood_tfds.raw.planned_files import PlannedFile

ENCODINGS = ("original", "jpeg", "bmp")
# Some files are rejected; shrunk photos take a quarter as a rule.
_LEAST_ORIGINAL, _LEAST_ENCODED, _USUAL_SIDE = 0.9, 0.1, 320
# JPEG of quality 90: photos measured 0.15 to 0.35.
_BYTES_PER_PIXEL = {"jpeg": 0.3, "bmp": 3.0}


@dataclass(frozen=True)
class StoredForm:
    """How a configuration stores its images.

    Attributes:
        encoding: "original" keeps the archive's bytes where it can, "jpeg" and "bmp" encode.
        shorter_side: If given, the image is shrunk until its crop box's shorter side is that
            many pixels long; never enlarged.
        quality: The JPEG quality, 1..100.
    """

    encoding: str = "original"
    shorter_side: int | None = None
    quality: int = 90

    def __post_init__(self) -> None:
        """Checks the values."""
        if self.encoding not in ENCODINGS:
            raise SurveyError(f"encoding must be one of {ENCODINGS}. Received: {self.encoding!r}.")
        if self.shorter_side is not None and self.shorter_side < 1:
            raise SurveyError(
                f"shorter_side must be at least 1 pixel, or None. Received: {self.shorter_side}."
            )
        if not 1 <= self.quality <= 100:
            raise SurveyError(f"quality must be in 1..100. Received: {self.quality}.")
        if self.encoding == "original" and self.shorter_side is not None:
            raise SurveyError(
                "Shrunk images need an encoding, 'jpeg' or 'bmp'. "
                f"Received: encoding='original', shorter_side={self.shorter_side}."
            )


@dataclass(frozen=True)
class StoredImage:
    """One image as the shards keep it.

    Attributes:
        row: Its manifest row.
        data: The bytes to store.
        height: Of the stored image, pixels.
        width: Likewise.
        box: The crop box in pixels of the stored image, half-open.
    """

    row: ManifestRow
    data: bytes
    height: int
    width: int
    box: CropBox


def store_image(data: bytes, row: ManifestRow, form: StoredForm) -> StoredImage:
    """Brings one accepted file into a configuration's form.

    Args:
        data: The file's bytes in the archive.
        row: Its manifest row.
        form: The form.

    Raises:
        SurveyError: If the bytes are not those that were surveyed.
    """
    if hashlib.sha256(data).hexdigest() != row.sha256:
        raise SurveyError(
            f"{row.id} is not the file that was surveyed: its sha256 has changed. The archive was "
            "changed during the build; leave it alone and start the build again."
        )
    box = row.box or CropBox(0, 0, row.height, row.width)
    if form.encoding == "original" and row.stored_as == "original":
        return StoredImage(row, data, row.height, row.width, box)
    image = prepare_image(data)
    if form.encoding == "original":
        return StoredImage(row, image.data, image.height, image.width, box)
    pixels = image.pixels
    if form.shorter_side is not None:
        pixels, box = shrink_image(pixels, box, form.shorter_side)
    encoded = encode_bmp(pixels) if form.encoding == "bmp" else encode_jpeg(pixels, form.quality)
    return StoredImage(row, encoded, pixels.shape[0], pixels.shape[1], box)


def estimated_bytes(row: ManifestRow, size: int, form: StoredForm) -> int:
    """Returns about how many bytes an accepted file will take in the shards.

    Args:
        row: Its manifest row.
        size: Its bytes in the archive.
        form: The form.
    """
    if form.encoding == "original":
        return size
    scale = 1.0
    if form.shorter_side is not None and row.box is not None:
        shorter = min(row.box.ymax - row.box.ymin, row.box.xmax - row.box.xmin)
        scale = min(1.0, form.shorter_side / shorter)
    return int(row.height * row.width * scale**2 * _BYTES_PER_PIXEL[form.encoding])


def least_bytes(size: int, form: StoredForm) -> int:
    """Returns what images will take in the shards at least, by all that is known beforehand.

    Args:
        size: Their bytes in the archive.
        form: The form.
    """
    if form.encoding == "original":
        return int(size * _LEAST_ORIGINAL)
    small = form.shorter_side is not None and form.shorter_side < _USUAL_SIDE
    return 0 if small else int(size * _LEAST_ENCODED)


def stored_images(
    archive: Archive,
    files: Iterable[tuple[PlannedFile, ManifestRow]],
    form: StoredForm,
    workers: int | None = None,
) -> Iterator[StoredImage]:
    """Yields the accepted files in a configuration's form, on all cores, in the given order.

    Args:
        archive: The archive.
        files: Planned files with their rows, in the archive's order.
        form: The form.
        workers: The number of threads; None is one per core.

    Raises:
        SurveyError: If a file changed after the survey.
        ArchiveError: If the archive was changed since it was found, or can't be read any more.
    """
    archive.check_unchanged()
    yield from store_files(archive, files, form, workers)


def store_files(
    archive: Archive,
    files: Iterable[tuple[PlannedFile, ManifestRow]],
    form: StoredForm,
    workers: int | None = None,
) -> Iterator[StoredImage]:
    """Does what `stored_images` does, for a few files: without a look at the whole archive first.

    Args:
        archive: The archive.
        files: Planned files with their rows, in the archive's order.
        form: The form.
        workers: The number of threads; None is one per core.

    Raises:
        SurveyError: If a file changed after the survey.
        ArchiveError: If a file can't be read any more.
    """
    rows = {file.member: row for file, row in files}

    def store(read: tuple[ManifestRow, bytes | ArchiveError]) -> StoredImage:
        row, content = read
        if not isinstance(content, bytes):
            raise content
        return store_image(content, row, form)

    reads = ((rows[member], content) for member, content in archive.iterate(list(rows)))
    yield from map_in_order(store, reads, workers)

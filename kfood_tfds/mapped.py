"""Uncompressed images out of memory-mapped shards: the fastest way to read ``kfood/320px-raw``.

An index beside the shards holds every example, its image replaced by the place of its pixels. It is
a data set in TFDS's own form, so TFDS reads it: in the order, and by the names of splits, of the
data set itself.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import struct
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import tensorflow_datasets as tfds

from kfood_tfds.sources import SourceError, built_directory
from kfood_tfds.split_sizes import split_size

_INDEX = "pixel_index"
_FILES = "pixel_index.json"
_VERSION = 1
_TFRECORD = "tfrecord"
# Of a shard's beginning and end, to know it again.
_LOOK = 4096
_COPIED = (".json", ".labels.txt")
# Length and its checksum before a record, the record's own checksum after it.
_BEFORE, _AFTER = 12, 4
# Of a BMP: signature, pixels' position, header's size, width, height, bits, compression.
_BMP = struct.Struct("<2s8xIIii2xHI")


def mapped_dataset(
    name: str = "kfood/320px-raw",
    split: str = "train",
    data_dir: str | None = None,
    index_dir: str | None = None,
) -> Any:
    """Returns a split of uncompressed images as a ``tf.data.Dataset`` over memory-mapped shards.

    The same examples as ``tfds.load`` gives, in the same order, images decoded to uint8[height,
    width, 3]. ``Pipeline.batches`` of it equals that of ``tfds.load``, and reads no more of each
    image than its window; other maps work as well, and read whole images.

    The first call reads all shards once, checks the checksums, and writes an index of a kilobyte
    an image. Afterwards the checksums aren't looked at any more. Use it on a disk of this machine:
    where a mapped file can't be read, or is cut off while it is in use, the system ends the
    process (SIGBUS) without an error that Python could show.

    Args:
        name: Name of the data set and its config; one with images stored as 24-bit BMP.
        split: Name of the split, or a part of one such as ``"train[:10%]"``.
        data_dir: TFDS's data folder; by default TFDS's own default.
        index_dir: Folder for the index; by default ``pixel_index`` beside the shards.

    Raises:
        SourceError: If the data set is not built as local TFRecord files, has no such split, its
            images are not stored as 24-bit BMP, a record is damaged, or the index can't be written.
    """
    from kfood_tfds.postprocessing import SKIP_DECODING
    from kfood_tfds.postprocessing.mapped_pixels import MappedPixels, Unread

    directory = built_directory(name, data_dir)
    shards = _shards(directory, split)
    index = index_dir or os.path.join(directory, _INDEX)
    if _indexed_shards(index) != shards:
        _write_index(directory, shards, index)
    places = tfds.builder_from_directory(index).as_dataset(
        split=split,
        decoders=SKIP_DECODING,
        read_config=tfds.ReadConfig(try_autocache=False),
    )
    pixels = MappedPixels.of([os.path.join(directory, file) for file in shards])
    return Unread(places, pixels).dataset()


def _shards(directory: str, split: str) -> dict[str, str]:
    """Returns what tells each shard from others, by file name, in a fixed order.

    Raises:
        SourceError: If the folder has no TFRecord files that could be mapped, or no such split.
    """
    if "://" in directory:
        raise SourceError(
            "Only files on this machine's own disks can be mapped into memory; use tfds.load. "
            f"Received: {directory}"
        )
    builder = tfds.builder_from_directory(directory)
    if builder.info.file_format.value != _TFRECORD:
        raise SourceError(
            "Images are mapped out of TFRecord files; build without --file_format. "
            f"Received: {directory} with {builder.info.file_format.value} files"
        )
    try:
        split_size(builder.info, split)
    except ValueError as error:
        raise SourceError(f"{directory}: {error}") from error
    names = sorted({name for info in builder.info.splits.values() for name in info.filenames})
    missing = [name for name in names if not os.path.isfile(os.path.join(directory, name))]
    if missing:
        raise SourceError(
            "A shard is missing; copy it there, or build anew. "
            f"Received: {directory} without {missing[0]}"
        )
    return {name: _fingerprint(os.path.join(directory, name)) for name in names}


def _fingerprint(path: str) -> str:
    """Returns a file's size with a digest of its two ends; times change when files are copied."""
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        digest = hashlib.sha256(file.read(_LOOK))
        file.seek(max(0, size - _LOOK))
        digest.update(file.read(_LOOK))
    return f"{size}-{digest.hexdigest()}"


def _indexed_shards(index: str) -> Any:
    """Returns what the shards were that an index was made of; None if there is no index."""
    try:
        found = json.loads(Path(index, _FILES).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    # A later release may note down the places in another way.
    fits = isinstance(found, dict) and found.get("version") == _VERSION
    return found.get("shards") if fits else None


def _write_index(directory: str, shards: Mapping[str, str], index: str) -> None:
    """Writes the index of a data set's folder, at once or not at all."""
    parent = os.path.dirname(os.path.abspath(index))
    try:
        os.makedirs(parent, exist_ok=True)
        temporary = tempfile.mkdtemp(prefix=f"{os.path.basename(index)}.incomplete-", dir=parent)
        try:
            _fill_index(directory, shards, temporary)
            _replace(temporary, index, shards)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    except OSError as error:
        raise SourceError(
            "The index of the images is written beside the shards, once; name another folder as "
            f"index_dir if this one can't be written to. Received: {index}: {error}"
        ) from error


def _replace(temporary: str, index: str, shards: Mapping[str, str]) -> None:
    """Puts a finished index in the place of an outdated one, if no other process has done so."""
    if _indexed_shards(index) == shards:
        return
    # Only an index is taken away, not what else a user may have named.
    if os.path.isfile(os.path.join(index, _FILES)):
        shutil.rmtree(index, ignore_errors=True)
    # mkdtemp's folders are their owner's alone.
    os.chmod(temporary, 0o755)
    try:
        os.rename(temporary, index)
    except OSError:
        if _indexed_shards(index) != shards:
            raise


def _fill_index(directory: str, shards: Mapping[str, str], folder: str) -> None:
    for file in sorted(os.listdir(directory)):
        if file.endswith(_COPIED):
            shutil.copyfile(os.path.join(directory, file), os.path.join(folder, file))
    total = sum(os.path.getsize(os.path.join(directory, file)) for file in shards)
    tqdm = tfds.core.utils.tqdm_utils.tqdm
    with tqdm(total=total, desc="Indexing images", unit="B", unit_scale=True, leave=False) as bar:
        for number, file in enumerate(shards):
            _index_shard(number, directory, file, folder, bar.update)
    found = {"version": _VERSION, "shards": shards}
    Path(folder, _FILES).write_text(json.dumps(found, indent=1), encoding="utf-8")


def _index_shard(number: int, directory: str, file: str, folder: str, update: Any) -> None:
    import tensorflow as tf

    with tf.io.TFRecordWriter(os.path.join(folder, file)) as writer:
        for position, record in _records(os.path.join(directory, file)):
            writer.write(_placed(record, number, position, f"{file} at byte {position}"))
            update(_BEFORE + len(record) + _AFTER)


def _records(path: str) -> Iterator[tuple[int, bytes]]:
    """Yields the records of a shard with their positions, checked against their checksums."""
    import tensorflow as tf

    position = _BEFORE
    try:
        for record in tf.data.TFRecordDataset(path).as_numpy_iterator():
            yield position, record
            position += len(record) + _AFTER + _BEFORE
    except tf.errors.DataLossError as error:
        raise SourceError(
            "A record of a shard is damaged: its checksum doesn't fit, or the file ends in it. "
            f"Copy the shard anew, or build anew. Received: {path} at byte {position}"
        ) from error


def _placed(record: bytes, number: int, position: int, where: str) -> bytes:
    """Returns a serialised example whose image is replaced by the place of its pixels."""
    import tensorflow as tf

    from kfood_tfds.postprocessing.mapped_pixels import place_of

    example = tf.train.Example.FromString(record)
    features = example.features.feature
    image = b"".join(features["image"].bytes_list.value)
    sides = [list(features[side].int64_list.value) for side in ("height", "width")]
    pixels = _pixels_at(image, sides, where)
    start = record.index(image[: pixels + 1])
    while not record.startswith(image, start):
        start = record.index(image[: pixels + 1], start + 1)
    features["image"].bytes_list.value[:] = [place_of(number, position + start + pixels)]
    found: bytes = example.SerializeToString()
    return found


def _pixels_at(image: bytes, sides: list[list[int]], where: str) -> int:
    """Returns where in a BMP the pixels begin.

    Raises:
        SourceError: If it isn't a 24-bit BMP, stored from below, of the size that the example says.
    """
    from kfood_tfds.postprocessing.mapped_pixels import row_bytes

    if len(image) >= _BMP.size:
        signature, pixels, _, width, height, bits, compression = _BMP.unpack_from(image)
        fits = sides == [[height], [width]] and height > 0 and width > 0
        if fits and (signature, bits, compression) == (b"BM", 24, 0):
            stored: int = pixels
            if len(image) >= stored + height * row_bytes(width):
                return stored
    raise SourceError(
        "Only images stored as 24-bit BMP, from the lowest row on, with their height and width "
        "as features, can be read out of mapped files; kfood/320px-raw has such ones. "
        f"Received: {where}, an image that begins with {image[:4]!r}, height and width {sides}"
    )

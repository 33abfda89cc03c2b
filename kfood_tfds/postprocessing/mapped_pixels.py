"""Pixels straight out of memory-mapped files, for images that are stored uncompressed.

A record of an uncompressed image is ten times as long as that of a JPEG. Read as a record it is
copied four times, summed up and taken apart before a window of it becomes pixels. Mapped into
memory, the window's own rows are all that is touched.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from typing import Any, Self

import tensorflow as tf

from kfood_tfds.postprocessing.decoding import IMAGE, READER, decoded
from kfood_tfds.postprocessing.order import plain

# Of a 24-bit BMP: bytes of a pixel, what rows are padded to, what stands before the pixels.
_CHANNELS = 3
_ALIGNMENT = 4
_HEADER = 54


def row_bytes(width: Any) -> Any:
    """Returns the bytes of a row in a 24-bit BMP; width in pixels, int or tensor."""
    return (width * _CHANNELS + _ALIGNMENT - 1) // _ALIGNMENT * _ALIGNMENT


@dataclasses.dataclass(frozen=True)
class MappedPixels:
    """Files mapped into memory, which hold the pixels of 24-bit BMPs.

    Attributes:
        files: Variant tensor: a list of uint8[bytes of the file].
    """

    files: Any

    @classmethod
    def of(cls, paths: Sequence[str]) -> Self:
        """Maps files; what is read of them later must not change meanwhile.

        Args:
            paths: Names of local files, none of them empty.

        Raises:
            FileNotFoundError: If there is no such file.
        """
        # On another device the list would be copied there.
        with tf.device("CPU:0"):
            files = tf.raw_ops.EmptyTensorList(
                element_shape=[-1], max_num_elements=len(paths), element_dtype=tf.uint8
            )
            for path in paths:
                mapped = tf.raw_ops.ImmutableConst(
                    dtype=tf.uint8, shape=[os.path.getsize(path)], memory_region_name=str(path)
                )
                files = tf.raw_ops.TensorListPushBack(input_handle=files, tensor=mapped)
        return cls(files)

    def __call__(self, place: Any, window: Any, size: Any, cut: Any = None) -> Any:
        """Returns the pixels of a window; takes the arguments of ``decoding.decode``.

        Args:
            place: Scalar string, the bytes of int64[2]: number of the file, and the position in it
                of the image's first stored row, which is its lowest.
            window: int32[4] inside the image; None for all of it.
            size: int32[2], height and width of the image.
            cut: Left alone.

        Returns:
            uint8[height, width, 3], equal to the same part of the decoded BMP.
        """
        del cut
        number, start = tf.unstack(tf.io.decode_raw(place, tf.int64), num=2)
        if window is None:
            window = tf.concat([tf.zeros_like(size), size], axis=0)
        y, x, height, width = tf.unstack(tf.cast(window, tf.int64), 4)
        all_rows, all_columns = tf.unstack(tf.cast(size, tf.int64), 2)
        stride = row_bytes(all_columns)
        file = tf.raw_ops.TensorListGetItem(
            input_handle=self.files,
            index=tf.cast(number, tf.int32),
            element_shape=[-1],
            element_dtype=tf.uint8,
        )
        first = start + (all_rows - y - height) * stride
        rows = tf.reshape(tf.slice(file, [first], [height * stride]), [height, stride])
        stored = tf.slice(rows, [0, x * _CHANNELS], [height, width * _CHANNELS])
        # Stored from below, as blue, green, red. All bytes in turn puts both right and mirrors the
        # columns, which is then undone; turning the last axis of three alone takes longer.
        turned = tf.reverse(tf.reshape(stored, [-1]), [0])
        pixels = tf.reverse(tf.reshape(turned, [height, width, _CHANNELS]), [1])
        return tf.ensure_shape(pixels, [None, None, _CHANNELS])


@dataclasses.dataclass(frozen=True)
class Unread:
    """Examples whose images are still places in mapped files.

    Attributes:
        places: Data set of examples with ``height`` and ``width``, whose image is a place.
        pixels: Where the places are.
    """

    places: Any
    pixels: MappedPixels

    def dataset(self) -> Any:
        """Returns the examples with images, uint8[height, width, 3], and itself as ``unread``.

        ``batches`` goes by that, and then reads no more of an image than its window. Other maps
        lose it, and find the whole images.
        """
        read = plain(lambda example: decoded(self.opened(example)))
        ds = self.places.map(read, tf.data.AUTOTUNE)
        ds.unread = self
        if hasattr(self.places, "at_epoch"):
            ds.at_epoch = lambda epoch: self.with_places(self.places.at_epoch(epoch)).dataset()
        return ds

    def with_places(self, places: Any) -> Self:
        """Returns the same images in another order or number."""
        return dataclasses.replace(self, places=places)

    def opened(self, example: dict[str, Any]) -> dict[str, Any]:
        """Returns the example for ops, which find the pixels when they need them."""
        return {**example, READER: self.pixels}

    def stored_bytes(self, example: dict[str, Any]) -> int:
        """Returns the bytes that the example's image takes on disk."""
        return _HEADER + int(example["height"]) * int(row_bytes(int(example["width"])))


def place_of(number: int, position: int) -> bytes:
    """Returns what stands for an image: the number of its file and the position of its pixels."""
    return number.to_bytes(8, "little") + position.to_bytes(8, "little")


def unread(ds: Any) -> Unread | None:
    """Returns the places of a data set's images, if it has them."""
    found = getattr(ds, "unread", None)
    return found if isinstance(found, Unread) and IMAGE in found.places.element_spec else None

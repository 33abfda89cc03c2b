"""Small grey thumbnails, and the digest of an image's pixels: what look-alikes are judged by."""

from __future__ import annotations

import functools
import hashlib

import numpy as np
import numpy.typing as npt

from kfood_tfds.raw.errors import KfoodError

THUMBNAIL_SIDE = 32
# Rows read per row of the thumbnail. All columns are averaged, so eight rows of a 600x450 photo
# make 150 samples a cell; more rows cost time and change a cell by less than a grey level.
ROWS_PER_CELL = 8

# Luma of ITU-R BT.601-7, section 2.5.1, as in JPEG and in Pillow's "L".
_LUMA = np.array([0.299, 0.587, 0.114], np.float32)


def thumbnail(pixels: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Shrinks an image to a square grey thumbnail by averaging, whatever its aspect.

    Args:
      pixels: uint8[height, width, 3], RGB, at least one pixel each way.

    Returns:
      uint8[THUMBNAIL_SIDE, THUMBNAIL_SIDE], luma 0..255.

    Raises:
      KfoodError: The array isn't an 8-bit RGB image.
    """
    if pixels.ndim != 3 or pixels.shape[2] != 3 or pixels.dtype != np.uint8 or not pixels.size:
        raise KfoodError(
            "A thumbnail needs pixels as uint8[height, width, 3]. Received: "
            f"{pixels.dtype}{list(pixels.shape)}"
        )
    height, width = pixels.shape[:2]
    cells = THUMBNAIL_SIDE * ROWS_PER_CELL
    rows = pixels[(np.arange(cells) * 2 + 1) * height // (2 * cells)]
    sums = np.add.reduce(
        rows.reshape(THUMBNAIL_SIDE, ROWS_PER_CELL, width * 3), axis=1, dtype=np.uint16
    )
    grey = sums.reshape(THUMBNAIL_SIDE, width, 3).astype(np.float32) @ _LUMA
    means: npt.NDArray[np.float32] = grey @ _column_weights(width) / np.float32(ROWS_PER_CELL)
    return np.rint(means).astype(np.uint8)


def pixel_digest(pixels: npt.NDArray[np.uint8]) -> str:
    """Names an image by its shape and pixels: equal for equal images, however they are stored.

    Args:
      pixels: uint8[height, width, 3].

    Returns:
      64 hexadecimal digits (SHA-256).
    """
    digest = hashlib.sha256(repr(pixels.shape).encode())
    digest.update(np.ascontiguousarray(pixels).data)
    return digest.hexdigest()


@functools.lru_cache(maxsize=64)
def _column_weights(width: int) -> npt.NDArray[np.float32]:
    """Weights float32[width, THUMBNAIL_SIDE] of an exact area average of pixels into cells."""
    edges = np.arange(THUMBNAIL_SIDE + 1) * (width / THUMBNAIL_SIDE)
    left = np.arange(width)[:, None]
    overlap = np.minimum(left + 1, edges[1:]) - np.maximum(left, edges[:-1])
    inside = np.clip(overlap, 0, None)
    weights: npt.NDArray[np.float32] = (inside / inside.sum(axis=0)).astype(np.float32)
    weights.flags.writeable = False
    return weights

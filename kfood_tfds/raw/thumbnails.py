"""Small grey thumbnails: what look-alikes are judged by."""

from __future__ import annotations

import functools

import numpy as np
import numpy.typing as npt

from kfood_tfds.raw.errors import KfoodError

THUMBNAIL_SIDE = 32
# Rows read per row of the thumbnail. All columns are averaged, so eight rows of a 600x450 photo
# make 150 samples a cell; more rows cost time and change a cell by less than a grey level.
ROWS_PER_CELL = 8

# Luma of ITU-R BT.601-7, section 2.5.1, as in JPEG and in Pillow's "L", in whole numbers. They and
# the weights of the columns are whole so that every sum is exact, in whatever order a BLAS adds:
# the same image has the same thumbnail on every machine.
_LUMA = np.array([77, 150, 29], np.float32)
_STEPS = 2.0**20
_SLICES = 8


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
    grey = (sums.reshape(THUMBNAIL_SIDE, width, 3).astype(np.float32) @ _LUMA).astype(np.float64)
    weights, totals = _column_weights(width)
    # In slices small enough for a BLAS to keep to one thread: there are many images at once.
    sums_wide = np.matmul(grey.reshape(_SLICES, -1, width), weights).reshape(grey.shape[0], -1)
    means = sums_wide / (totals * (_LUMA.sum(dtype=np.float64) * ROWS_PER_CELL))
    found: npt.NDArray[np.uint8] = np.rint(means).astype(np.uint8)
    return found


@functools.lru_cache(maxsize=512)
def _column_weights(width: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Weights of an area average of pixels into cells: whole numbers, and their sum per cell.

    Returns:
      float64[width, THUMBNAIL_SIDE] and float64[THUMBNAIL_SIDE].
    """
    edges = np.arange(THUMBNAIL_SIDE + 1) * (width / THUMBNAIL_SIDE)
    left = np.arange(width)[:, None]
    overlap = np.minimum(left + 1, edges[1:]) - np.maximum(left, edges[:-1])
    weights = np.rint(np.clip(overlap, 0, None) * (_STEPS * THUMBNAIL_SIDE / width))
    weights.flags.writeable = False
    return weights, weights.sum(axis=0)

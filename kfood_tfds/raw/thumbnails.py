"""Small grey thumbnails: what look-alikes are judged by."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kfood_tfds.raw.errors import KfoodError

THUMBNAIL_SIDE = 32
# Rows read per row of the thumbnail. All columns are averaged, so four rows of a 600x450 photo
# make 75 samples a cell; `benchmarks/duplicates.py` finds no more copies with eight.
ROWS_PER_CELL = 4

# Luma of ITU-R BT.601-7, section 2.5.1, as in JPEG and in Pillow's "L", in whole numbers. Whole
# numbers and parts of 1/32 are exact in floats, in whatever order they are added: the same image
# has the same thumbnail on every machine.
_LUMA = np.array([77, 150, 29], np.float32)

_ROWS = THUMBNAIL_SIDE * ROWS_PER_CELL
# The rows read are the ones in the middle of _ROWS strips of equal height.
_ODD = np.arange(1, 2 * _ROWS, 2)
_EDGES = np.arange(THUMBNAIL_SIDE + 1)


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
    rows = np.take(pixels.reshape(height, width * 3), _ODD * height // (2 * _ROWS), axis=0)
    if width < THUMBNAIL_SIDE:
        # Cells narrower than a column: columns in as many parts as there are cells.
        rows = np.repeat(rows.reshape(_ROWS, width, 3), THUMBNAIL_SIDE, axis=1)
        width *= THUMBNAIL_SIDE
    sums = np.add.reduce(
        rows.reshape(THUMBNAIL_SIDE, ROWS_PER_CELL, width * 3), axis=1, dtype=np.uint16
    )
    grey = sums.reshape(THUMBNAIL_SIDE, width, 3).astype(np.float32) @ _LUMA
    means = _cell_sums(grey) / (width / THUMBNAIL_SIDE * float(_LUMA.sum()) * ROWS_PER_CELL)
    found: npt.NDArray[np.uint8] = np.rint(means).astype(np.uint8)
    return found


def _cell_sums(grey: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """Sums columns into cells of equal width; a column on an edge is shared out by its parts.

    Args:
      grey: float32[rows, width], whole numbers; at least THUMBNAIL_SIDE columns.

    Returns:
      float64[rows, THUMBNAIL_SIDE].
    """
    column, part = np.divmod(_EDGES * grey.shape[1], THUMBNAIL_SIDE)
    sums: npt.NDArray[np.float64] = np.add.reduceat(grey, column[:-1], axis=1, dtype=np.float64)
    shared = grey[:, column[1:-1]] * (part[1:-1] / THUMBNAIL_SIDE)
    sums[:, :-1] += shared
    sums[:, 1:] -= shared
    return sums

"""Small grey thumbnails: what look-alikes are judged by."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kfood_tfds.raw.errors import KfoodError

THUMBNAIL_SIDE = 32
# Rows read per row of the thumbnail. All columns are averaged, so eight rows of a 600x450 photo
# make 150 samples a cell; more rows cost time and change a cell by less than a grey level.
ROWS_PER_CELL = 8

# Luma of ITU-R BT.601-7, section 2.5.1, as in JPEG and in Pillow's "L", in whole numbers. Whole
# numbers and parts of 1/32 are exact in floats, in whatever order they are added: the same image
# has the same thumbnail on every machine.
_LUMA = np.array([77, 150, 29], np.float32)


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
    means = _cell_sums(grey) / (width / THUMBNAIL_SIDE * float(_LUMA.sum()) * ROWS_PER_CELL)
    found: npt.NDArray[np.uint8] = np.rint(means).astype(np.uint8)
    return found


def _cell_sums(grey: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Sums columns into cells of equal width; a column on an edge is shared out by its parts.

    Args:
      grey: float64[rows, width], whole numbers.

    Returns:
      float64[rows, THUMBNAIL_SIDE].
    """
    width = grey.shape[1]
    before = np.zeros((len(grey), width + 1))
    np.cumsum(grey, axis=1, out=before[:, 1:])
    column, part = np.divmod(np.arange(THUMBNAIL_SIDE + 1) * width, THUMBNAIL_SIDE)
    shared = grey[:, np.minimum(column, width - 1)] * (part / THUMBNAIL_SIDE)
    sums: npt.NDArray[np.float64] = np.diff(before[:, column] + shared, axis=1)
    return sums

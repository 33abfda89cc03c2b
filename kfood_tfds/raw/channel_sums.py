"""Mean and standard deviation per channel as sums that can be merged.

The sums are whole numbers: the values of 8-bit pixels and their squares. They are exact, so neither
the order of the images nor the way they were parted among workers changes a bit of the result.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfood_tfds.raw.errors import KfoodError

CHANNELS = 3
_TOP = 255
_BLOCK_ROWS = 128
# Of photos with more than EXACT_ROWS rows, every k-th counts, SAMPLED_ROWS at most: no pixel is far
# from one that does, and a data set of such photos has so many that the difference vanishes.
EXACT_ROWS = 256
SAMPLED_ROWS = 64


class ChannelSumsError(KfoodError):
    """Pixels of another form than uint8[..., 3], or figures asked of no pixels at all."""


@dataclass(frozen=True, slots=True)
class ChannelSums:
    """Sums over pixels, per channel in the order R, G, B.

    Attributes:
      count: Number of pixels.
      totals: Sum of the values 0..255.
      squares: Sum of their squares.
      images: Number of images that were added.
    """

    count: int = 0
    totals: tuple[int, int, int] = (0, 0, 0)
    squares: tuple[int, int, int] = (0, 0, 0)
    images: int = 0

    def add(self, pixels: NDArray[Any]) -> ChannelSums:
        """Returns the sums with those of one image more.

        Args:
          pixels: uint8[height, width, 3], or uint8[n, height, width, 3] for n images of one size.

        Raises:
          ChannelSumsError: The array has another dtype or shape.
        """
        array = np.asarray(pixels)
        if array.dtype != np.uint8 or array.ndim not in (3, 4) or array.shape[-1] != CHANNELS:
            raise ChannelSumsError(
                "Channel sums are taken of RGB pixels as decoded, uint8[height, width, 3]; scale "
                f"them afterwards. Received: {array.dtype}{list(array.shape)}"
            )
        totals, squares = _sum_rows(array.reshape(-1, array.shape[-2] * CHANNELS))
        return self.merge(
            ChannelSums(
                array.size // CHANNELS,
                _whole(totals),
                _whole(squares),
                1 if array.ndim == 3 else array.shape[0],
            )
        )

    def merge(self, other: ChannelSums) -> ChannelSums:
        """Returns the sums over the pixels of both."""
        return ChannelSums(
            self.count + other.count,
            _added(self.totals, other.totals),
            _added(self.squares, other.squares),
            self.images + other.images,
        )

    @property
    def mean(self) -> tuple[float, float, float]:
        """Mean of the pixels as R, G, B in 0..1.

        Raises:
          ChannelSumsError: There are no pixels.
        """
        self._check_count()
        return _triple(float(Fraction(total, self.count * _TOP)) for total in self.totals)

    @property
    def std(self) -> tuple[float, float, float]:
        """Standard deviation of the pooled pixels (numpy's, ddof=0) as R, G, B in 0..1.

        Raises:
          ChannelSumsError: There are no pixels.
        """
        self._check_count()
        # n * sum(x^2) - sum(x)^2 in whole numbers: no cancellation, as there would be in floats.
        return _triple(
            math.sqrt(Fraction(self.count * square - total * total, (self.count * _TOP) ** 2))
            for total, square in zip(self.totals, self.squares, strict=True)
        )

    def _check_count(self) -> None:
        if not self.count:
            raise ChannelSumsError(
                "No pixels were added, so there is no mean and no standard deviation. "
                "Check that the split has images. Received: count=0"
            )


def sampled_sums(pixels: NDArray[np.uint8]) -> ChannelSums:
    """Returns the sums over an image's pixels; over large ones from every k-th row, times k.

    Every row counts in images of up to EXACT_ROWS rows. In larger ones it is every k-th, with the
    least k that leaves no more than SAMPLED_ROWS: the mean of a photo then moves by some 0.0005 of
    0..1, one way or the other, and that of a data set by far less (`benchmarks/README.md`).

    Args:
      pixels: uint8[height, width, 3].

    Raises:
      ChannelSumsError: The array has another dtype or shape.
    """
    step = 1 if len(pixels) <= EXACT_ROWS else -(-len(pixels) // SAMPLED_ROWS)
    sums = ChannelSums().add(pixels[step // 2 :: step])
    return ChannelSums(
        sums.count * step, _times(sums.totals, step), _times(sums.squares, step), sums.images
    )


def merge_sums(parts: Iterable[ChannelSums]) -> ChannelSums:
    """Returns the sums over all parts; of none, the sums over no pixels."""
    result = ChannelSums()
    for part in parts:
        result = result.merge(part)
    return result


def _sum_rows(rows: NDArray[np.uint8]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sums values and squares over R, G, B, R, … in each row, a block of rows at a time.

    Down each column in float32, which is fastest and still exact: 128 squares of 255 stay below
    2**24. Across the columns in float64, exact up to 2**53. Not as a matrix product, whose threads
    would fight with those of the survey.
    """
    totals, squares = np.zeros(CHANNELS), np.zeros(CHANNELS)
    # One buffer for all blocks: fresh memory would cost as much as the sums.
    buffer = np.empty((min(len(rows), _BLOCK_ROWS), rows.shape[1]), np.float32)
    for start in range(0, len(rows), _BLOCK_ROWS):
        part = rows[start : start + _BLOCK_ROWS]
        block = buffer[: len(part)]
        np.copyto(block, part)
        totals += _across(np.add.reduce(block, axis=0))
        squares += _across(np.einsum("ij,ij->j", block, block))
    return totals, squares


def _across(columns: NDArray[np.float32]) -> NDArray[np.float64]:
    # Each channel in a row of its own: adding up three interleaved ones takes twice as long.
    channels = np.ascontiguousarray(columns.reshape(-1, CHANNELS).T, np.float64)
    found: NDArray[np.float64] = np.add.reduce(channels, axis=1)
    return found


def _added(left: tuple[int, int, int], right: tuple[int, int, int]) -> tuple[int, int, int]:
    return (left[0] + right[0], left[1] + right[1], left[2] + right[2])


def _times(values: tuple[int, int, int], factor: int) -> tuple[int, int, int]:
    return (values[0] * factor, values[1] * factor, values[2] * factor)


def _whole(values: NDArray[np.float64]) -> tuple[int, int, int]:
    red, green, blue = (int(value) for value in values)
    return (red, green, blue)


def _triple(values: Iterable[float]) -> tuple[float, float, float]:
    red, green, blue = values
    return (red, green, blue)

"""Perceptual hashes of thumbnails, and an index that finds the few pairs worth a closer look.

The hash of a thumbnail is the sign of its 64 lowest cosine coefficients but the mean. Brightness
moves the mean alone, contrast and the image's size no sign at all; mirroring flips the sign of
every odd column, so the mirrored hash comes for free. A cropped copy shows a *part* of the other
image: each thumbnail is therefore also hashed through windows that leave out a margin, and every
hash of a whole thumbnail is looked up among them.

The index is locality-sensitive hashing by bit sampling (Indyk and Motwani, 1998): two hashes are
compared only if they agree in all 16 bits of at least one of 20 fixed samples ("bands"), and are
a candidate if no more than `MAX_DISTANCE` of all 64 bits differ. Whether a pair is found depends
on its two thumbnails alone, never on what else is in the set.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kfood_tfds.raw.thumbnails import THUMBNAIL_SIDE

HASH_BITS = 64
BAND_BITS = 16
BANDS = 20
# Wide on purpose: the closer look decides. Unrelated hashes differ in 32 bits, give or take 4.
MAX_DISTANCE = 18

Window = tuple[float, float]
# What a hash sees of the rows or columns, as shares of the side.
WHOLE: Window = (0.0, 1.0)
HASH_WINDOWS: tuple[tuple[Window, Window], ...] = (
    (WHOLE, WHOLE),
    ((0.05, 0.95), (0.05, 0.95)),
    ((0.0, 0.95), (0.0, 0.95)),
    ((0.0, 0.95), (0.05, 1.0)),
    ((0.05, 1.0), (0.0, 0.95)),
    ((0.05, 1.0), (0.05, 1.0)),
)

# Cosines are rounded to this many steps, so that every sum of 255 * 2**40 at most is exact in
# float64 and the signs are the same on every machine, whatever order its BLAS adds in.
_STEPS = 2.0**20
_CHUNK_IMAGES = 8192
_CHUNK_PAIRS = 1 << 22

Coefficients = npt.NDArray[np.float64]
Hashes = npt.NDArray[np.uint64]
Pairs = npt.NDArray[np.int64]


@functools.lru_cache(maxsize=256)
def cosines(window: Window, number: int) -> npt.NDArray[np.float64]:
    """Gives the rows of a cosine transform (DCT-II) of what a window shows of a thumbnail.

    Each entry is the integral of ``cos(pi * u * t)`` over the part of a pixel inside the window,
    where t runs from 0 to 1 over the window; rounded to whole steps of 2**-20.

    Args:
      window: Start and end as shares of the side, 0 <= start < end <= 1.
      number: How many frequencies, from 0 on.

    Returns:
      float64[number, THUMBNAIL_SIDE], whole numbers, read-only.
    """
    start, end = window
    edges = np.clip(np.arange(THUMBNAIL_SIDE + 1) / THUMBNAIL_SIDE, start, end)
    place = (edges - start) / (end - start)
    order = np.arange(1, number)[:, None]
    rising = np.concatenate([place[None], np.sin(np.pi * order * place) / (np.pi * order)])
    rows = np.rint(np.diff(rising, axis=1) * _STEPS)
    rows.flags.writeable = False
    return rows


@functools.lru_cache(maxsize=8)
def lowest_frequencies(number: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Gives the row and column order of the `number` lowest frequencies but the mean."""
    side = np.arange(THUMBNAIL_SIDE)
    rows, columns = (grid.ravel() for grid in np.meshgrid(side, side, indexing="ij"))
    order = np.lexsort((rows, np.maximum(rows, columns), rows**2 + columns**2))[1 : number + 1]
    return rows[order], columns[order]


def coefficients(
    thumbnails: npt.NDArray[np.uint8], windows: tuple[Window, Window], number: int
) -> Coefficients:
    """Transforms what a window shows of each thumbnail.

    Args:
      thumbnails: uint8[n, THUMBNAIL_SIDE, THUMBNAIL_SIDE].
      windows: Of the rows, of the columns.
      number: How many coefficients, lowest frequencies first, the mean left out.

    Returns:
      float64[n, number], exact whole numbers.
    """
    rows, columns = lowest_frequencies(number)
    down = cosines(windows[0], int(rows.max()) + 1)
    across = cosines(windows[1], int(columns.max()) + 1)
    count = len(thumbnails)
    lines = thumbnails.reshape(count * THUMBNAIL_SIDE, THUMBNAIL_SIDE).astype(np.float64)
    along = (lines @ across.T).reshape(count, THUMBNAIL_SIDE, len(across))
    found = np.matmul(down, along)
    return np.ascontiguousarray(found[:, rows, columns])


def mirror_signs(number: int) -> npt.NDArray[np.float64]:
    """Gives what the coefficients of a thumbnail are multiplied with to mirror it, ±1[number]."""
    return np.where(lowest_frequencies(number)[1] % 2 == 0, 1.0, -1.0)


def pack_signs(values: Coefficients) -> Hashes:
    """Packs the signs of float64[n, 64] into uint64[n]; bit k is set where column k is positive."""
    packed = np.packbits(values > 0, axis=1, bitorder="little")
    return packed.view("<u8").reshape(len(values)).astype(np.uint64)


def hash_thumbnails(thumbnails: npt.NDArray[np.uint8]) -> Hashes:
    """Hashes every thumbnail through every window, as it is and mirrored.

    Args:
      thumbnails: uint8[n, THUMBNAIL_SIDE, THUMBNAIL_SIDE].

    Returns:
      uint64[len(HASH_WINDOWS), 2, n]; [0, 0] is the hash of the whole, [:, 1] are mirrored.
    """
    hashes = np.empty((len(HASH_WINDOWS), 2, len(thumbnails)), np.uint64)
    mirror = mirror_signs(HASH_BITS)
    for start in range(0, len(thumbnails), _CHUNK_IMAGES):
        part = slice(start, start + _CHUNK_IMAGES)
        for number, windows in enumerate(HASH_WINDOWS):
            values = coefficients(thumbnails[part], windows, HASH_BITS)
            hashes[number, 0, part] = pack_signs(values)
            hashes[number, 1, part] = pack_signs(values * mirror)
    return hashes


@functools.lru_cache(maxsize=BANDS)
def band_bits(band: int) -> tuple[int, ...]:
    """Gives the bits that a band samples; four bands in a row share out all 64 bits."""
    lap, place = divmod(band, HASH_BITS // BAND_BITS)
    order = sorted(range(HASH_BITS), key=lambda bit: hashlib.sha256(b"%d %d" % (lap, bit)).digest())
    return tuple(sorted(order[place * BAND_BITS : (place + 1) * BAND_BITS]))


@functools.lru_cache(maxsize=BANDS)
def band_mask(band: int) -> np.uint64:
    """Gives the bits that a band samples as a mask."""
    return np.uint64(sum(1 << bit for bit in band_bits(band)))


def band_keys(hashes: Hashes, band: int) -> npt.NDArray[np.intp]:
    """Gathers the bits of a band into intp[n], 0 to 2**BAND_BITS - 1."""
    keys = np.zeros(hashes.shape, np.uint64)
    for place, bit in enumerate(band_bits(band)):
        keys |= ((hashes >> np.uint64(bit)) & np.uint64(1)) << np.uint64(place)
    return keys.astype(np.intp)


def find_candidates(hashes: Hashes) -> Iterator[tuple[int, int, Pairs]]:
    """Finds the pairs that agree in a band and differ in at most `MAX_DISTANCE` bits.

    Args:
      hashes: uint64[len(HASH_WINDOWS), 2, n], as from `hash_thumbnails`.

    Yields:
      Window number, 1 for mirrored or else 0, and int64[m, 2]: the image seen through the window,
      and the image that looks like it as a whole. Each pair comes once per window and mirroring;
      m is bounded.
    """
    everyone = np.arange(hashes.shape[2])
    for band in range(BANDS):
        index = BandIndex.of(band, hashes[0, 0], everyone)
        for number, mirrored in np.ndindex(hashes.shape[:2]):
            for pairs in index.matches(hashes[number, mirrored], everyone, number):
                yield number, mirrored, pairs


@dataclass(frozen=True, eq=False, slots=True)
class BandIndex:
    """Hashes of whole thumbnails, to be looked up by the bits of one band.

    Attributes:
      band: Number of the band.
      hashes: uint64[n].
      images: int[n], the number of the image that each hash is of.
      order: Positions in the order of the band's keys.
      starts: Where each key's run starts in that order.
    """

    band: int
    hashes: Hashes
    images: npt.NDArray[np.integer]
    order: npt.NDArray[np.intp]
    starts: npt.NDArray[np.intp]

    @classmethod
    def of(cls, band: int, hashes: Hashes, images: npt.NDArray[np.integer]) -> BandIndex:
        """Sorts hashes by a band."""
        keys = band_keys(hashes, band)
        order = np.argsort(keys, kind="stable")
        starts = np.searchsorted(keys[order], np.arange((1 << BAND_BITS) + 1))
        return cls(band, hashes, images, order, starts)

    def matches(
        self, queries: Hashes, images: npt.NDArray[np.integer], number: int
    ) -> Iterator[Pairs]:
        """Finds what agrees in this band, in none before, and in all but `MAX_DISTANCE` bits.

        Args:
          queries: uint64[m], hashes of thumbnails seen through one window.
          images: int[m], the number of the image that each is of.
          number: Of the window.

        Yields:
          int64[k, 2]: positions in `queries`, and in the index; in chunks of bounded size.
        """
        table = (self.order, self.starts, self.hashes[self.order])
        for pairs in _matches(queries, band_keys(queries, self.band), table):
            one, other = images[pairs[:, 0]], self.images[pairs[:, 1]]
            # Seen whole, each pair matches both ways round: one is enough.
            fit = one < other if number == 0 else one != other
            differing = queries[pairs[:, 0]] ^ self.hashes[pairs[:, 1]]
            for earlier in range(self.band):
                fit &= (differing & band_mask(earlier)) != 0
            yield pairs[fit]


def _matches(
    queries: Hashes,
    keys: npt.NDArray[np.intp],
    table: tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], Hashes],
) -> Iterator[Pairs]:
    """Yields the matches (query, image) of one band in chunks of bounded size."""
    order, starts, in_order = table
    lengths = starts[keys + 1] - starts[keys]
    ends = np.cumsum(lengths)
    first = 0
    while first < len(queries):
        done = int(ends[first - 1]) if first else 0
        last = max(int(np.searchsorted(ends, done + _CHUNK_PAIRS, side="right")), first + 1)
        runs = lengths[first:last]
        query = np.repeat(np.arange(first, last), runs)
        offset = starts[keys[first:last]] - (ends[first:last] - runs)
        place = np.arange(done, int(ends[last - 1])) + np.repeat(offset, runs)
        distance = np.bitwise_count(np.repeat(queries[first:last], runs) ^ in_order[place])
        near = np.flatnonzero(distance <= MAX_DISTANCE)
        yield np.stack([query[near], order[place[near]]], axis=1)
        first = last

"""How alike two thumbnails are: normalised correlation over small crops, shifts and the mirror.

Plain correlation of thumbnails is ruled by their few strongest features: any two bright plates on
dark tables correlate by 0.9. So the thumbnails are flattened first. Photos have amplitudes that
fall as 1/f (Field, 1987), hence every cosine coefficient is multiplied with its frequency; then
its square root is taken (the sign kept), so that one sharp rim doesn't outweigh all the rest. By
Parseval's theorem the scalar product of two such spectra of length 1 is the normalised
correlation of the two flattened thumbnails.

Whether one image shows a part of the other is tried out: windows that leave out up to a tenth at
each edge, on either image, then windows of half the step around the best one.
"""

from __future__ import annotations

import functools

import numpy as np
import numpy.typing as npt

from kfood_tfds.raw.perceptual_hash import (
    HASH_WINDOWS,
    WHOLE,
    Coefficients,
    Pairs,
    Window,
    coefficients,
    cosines,
    lowest_frequencies,
    mirror_signs,
)
from kfood_tfds.raw.thumbnails import THUMBNAIL_SIDE

COARSE_NUMBER = 64
FINE_NUMBER = 190

# Spectra are rounded to whole numbers of this length: every partial sum of a product stays under
# 2048**2 = 2**22 (Cauchy-Schwarz), so float32 adds them exactly, in any order.
_LENGTH = 2048

_STEP = 0.05
_MARGINS = (0.0, 0.05, 0.1)
# The windows of the coarse search, alike for rows and columns.
SEARCH_WINDOWS: tuple[Window, ...] = (
    *((start, 1 - end) for start in _MARGINS for end in _MARGINS),
    (0.025, 0.975),
)
# Pure shifts by one step, in which each image lacks one edge of the other.
SHIFTS: tuple[tuple[Window, Window], ...] = (
    (WHOLE, WHOLE),
    ((_STEP, 1.0), (0.0, 1 - _STEP)),
    ((0.0, 1 - _STEP), (_STEP, 1.0)),
)
_CHUNK_IMAGES = 4096
_CHUNK_PAIRS = 512
_SLICES = 5

Spectra = npt.NDArray[np.float32]
Numbers = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Thumbnails = npt.NDArray[np.uint8]


@functools.lru_cache(maxsize=4)
def _weights(number: int) -> Numbers:
    rows, columns = lowest_frequencies(number)
    # The constant of a cosine transform is sqrt(1/2) where one of the two frequencies is 0.
    edge = np.where((rows == 0) | (columns == 0), np.sqrt(0.5), 1.0)
    weights: Numbers = np.hypot(rows, columns) * edge
    return weights


def flatten(values: Coefficients) -> Spectra:
    """Flattens cosine coefficients and scales them to one length.

    Args:
      values: float64[..., number], lowest frequencies first, the mean left out.

    Returns:
      float32[..., number], whole numbers; 0 all through where nothing but the mean was there.
    """
    flat = np.sqrt(np.abs(values) * _weights(values.shape[-1]))
    length = np.sqrt(np.einsum("...i,...i->...", flat, flat))[..., None]
    flat *= _LENGTH / np.maximum(length, 1e-9)
    return np.rint(np.copysign(flat, values)).astype(np.float32)


def _product(first: Spectra, second: Spectra) -> Numbers:
    sums: Numbers = np.einsum("...i,...i->...", first, second).astype(np.float64)
    return sums / _LENGTH**2


def window_spectra(thumbnails: Thumbnails) -> npt.NDArray[np.int16]:
    """Gives the coarse spectrum of every thumbnail through every window of the hash.

    Args:
      thumbnails: uint8[n, 32, 32].

    Returns:
      int16[len(HASH_WINDOWS), n, COARSE_NUMBER].
    """
    found = np.empty((len(HASH_WINDOWS), len(thumbnails), COARSE_NUMBER), np.int16)
    for start in range(0, len(thumbnails), _CHUNK_IMAGES):
        part = slice(start, start + _CHUNK_IMAGES)
        for number, windows in enumerate(HASH_WINDOWS):
            found[number, part] = flatten(coefficients(thumbnails[part], windows, COARSE_NUMBER))
    return found


def first_look(spectra: npt.NDArray[np.int16], number: int, mirrored: int, pairs: Pairs) -> Numbers:
    """Correlates candidates coarsely, in the very window that they were found in.

    Args:
      spectra: As from `window_spectra`.
      number: Of the window through which the first image of each pair is seen.
      mirrored: 1 if the first image is mirrored.
      pairs: int64[m, 2].

    Returns:
      float64[m], -1 to 1.
    """
    return coarse_likeness(spectra[number][pairs[:, 0]], mirrored, spectra[0][pairs[:, 1]])


def coarse_likeness(
    first: npt.NDArray[np.int16], mirrored: int, second: npt.NDArray[np.int16]
) -> Numbers:
    """Correlates coarse spectra.

    Args:
      first: int16[m, COARSE_NUMBER], as from `window_spectra`.
      mirrored: 1 if the first image is mirrored.
      second: Likewise, of the image that the first one may look like.

    Returns:
      float64[m], -1 to 1.
    """
    turned = first.astype(np.float32)
    if mirrored:
        turned *= mirror_signs(COARSE_NUMBER).astype(np.float32)
    return _product(turned, second.astype(np.float32))


def likeness(thumbnails: Thumbnails, first: Indices, second: Indices, enough: float) -> Numbers:
    """Says how alike the images of each pair are, at their best fit.

    Args:
      thumbnails: uint8[n, 32, 32].
      first: intp[m], the one image of each pair.
      second: intp[m], the other one.
      enough: A pair whose coarse fit is below is not looked at finely; it gets its coarse fit.

    Returns:
      float64[m], -1 to 1, where 1 means the same picture.
    """
    score = np.empty(len(first))
    for start in range(0, len(first), _CHUNK_PAIRS):
        part = slice(start, start + _CHUNK_PAIRS)
        ends = np.concatenate([first[part], second[part]])
        images, places = np.unique(ends, return_inverse=True)
        one, other = np.split(places, 2)
        score[part], fit = _coarse_fit(_search_spectra(thumbnails[images]), one, other)
        close = np.flatnonzero(score[part] >= enough)
        score[start + close] = _fine_fit(
            thumbnails, first[part][close], second[part][close], fit[close]
        )
    return score


def _search_spectra(thumbnails: Thumbnails) -> Spectra:
    """Gives float32[n, windows of rows * windows of columns, COARSE_NUMBER]."""
    rows, columns = lowest_frequencies(COARSE_NUMBER)
    number, windows, count = int(rows.max()) + 1, len(SEARCH_WINDOWS), len(thumbnails)
    stacked = np.concatenate([cosines(window, number) for window in SEARCH_WINDOWS])
    along = thumbnails.reshape(count * THUMBNAIL_SIDE, THUMBNAIL_SIDE).astype(np.float64)
    along = (along @ stacked.T).reshape(count, THUMBNAIL_SIDE, windows * number)
    grid = np.matmul(stacked, along).reshape(count, windows, number, windows, number)
    chosen = grid.transpose(0, 1, 3, 2, 4)[..., rows, columns]
    return flatten(chosen.reshape(count, windows**2, COARSE_NUMBER))


@functools.lru_cache(maxsize=1)
def _fits() -> npt.NDArray[np.intp]:
    """Lists the fits tried: mirrored, window of the first (row, column), of the second."""
    whole = SEARCH_WINDOWS.index(WHOLE)
    side = range(len(SEARCH_WINDOWS))
    places = {window: place for place, window in enumerate(SEARCH_WINDOWS)}
    shifts = [(places[a], places[b]) for a, b in SHIFTS]
    fits = []
    for mirrored in range(2):
        fits += [(mirrored, row, column, whole, whole) for row in side for column in side]
        fits += [(mirrored, whole, whole, row, column) for row in side for column in side]
        for down in shifts:
            for one, other in shifts:
                # What is left in a mirrored image was right before.
                kept = one if mirrored and one != whole else other
                fits.append((mirrored, down[0], one, down[1], kept))
    return np.array(fits, np.intp)


def _coarse_fit(spectra: Spectra, one: Indices, other: Indices) -> tuple[Numbers, Indices]:
    """Finds the best fit of each pair: its correlation float64[m], and its row of `_fits`."""
    fits = _fits()
    side = len(SEARCH_WINDOWS)
    left, right = fits[:, 1] * side + fits[:, 2], fits[:, 3] * side + fits[:, 4]
    signs = mirror_signs(COARSE_NUMBER).astype(np.float32)
    score = np.empty(len(one))
    best = np.empty((len(one), fits.shape[1]), np.intp)
    for pair, (a, b) in enumerate(zip(one, other, strict=True)):
        turned = np.stack([spectra[a], spectra[a] * signs])
        # In slices small enough for a BLAS to keep to one thread: threads cost more than they save.
        products = np.matmul(turned.reshape(2 * _SLICES, -1, COARSE_NUMBER), spectra[b].T)
        found = products.reshape(2, side**2, side**2)[fits[:, 0], left, right]
        place = int(np.argmax(found))
        score[pair], best[pair] = found[place] / _LENGTH**2, fits[place]
    return score, best


def _fine_fit(thumbnails: Thumbnails, first: Indices, second: Indices, fits: Indices) -> Numbers:
    """Correlates finely around a coarse fit, float64[m]."""
    score = np.empty(len(first))
    mirror = mirror_signs(FINE_NUMBER)
    for pair, (mirrored, *places) in enumerate(fits.tolist()):
        windows = [SEARCH_WINDOWS[place] for place in places]
        moving, fixed = thumbnails[first[pair]], thumbnails[second[pair]]
        if windows[:2] == [WHOLE, WHOLE]:
            moving, fixed, windows = fixed, moving, windows[2:] + windows[:2]
        still = coefficients(fixed[None], (windows[2], windows[3]), FINE_NUMBER)[0]
        tried = _around(moving, windows[0], windows[1])
        target = flatten(still * mirror if mirrored else still)
        score[pair] = _product(flatten(tried), target).max()
    return score


def _around(image: Thumbnails, down: Window, across: Window) -> Coefficients:
    """Transforms an image through the windows around one, float64[tried, FINE_NUMBER]."""
    rows, columns = lowest_frequencies(FINE_NUMBER)
    number = int(max(rows.max(), columns.max())) + 1
    upper, side = _neighbouring_cosines(down, number), _neighbouring_cosines(across, number)
    # Window by window: so small that a BLAS keeps to one thread.
    lines = np.matmul(upper.reshape(-1, number, THUMBNAIL_SIDE), image.astype(np.float64))
    grid = np.matmul(lines, side.T).reshape(len(lines), number, -1, number)
    found = grid.transpose(0, 2, 1, 3)[:, :, rows, columns]
    return found.reshape(-1, FINE_NUMBER)


@functools.lru_cache(maxsize=64)
def _neighbouring_cosines(window: Window, number: int) -> Numbers:
    return np.concatenate([cosines(near, number) for near in _neighbours(window)])


def _neighbours(window: Window) -> tuple[Window, ...]:
    start, end = window
    moves = (-_STEP / 2, 0.0, _STEP / 2)
    starts = sorted({round(max(start + move, 0.0), 3) for move in moves})
    ends = sorted({round(min(end + move, 1.0), 3) for move in moves})
    return tuple((a, b) for a in starts for b in ends)

"""Flags for images that are usable but may not be wanted: tiny, blurred, dark or drawn.

A flag is a hint for a person who looks through the manifest, never a ground for refusing a file.
The measures are taken on a few thousand pixels of the decoded image, at a size that doesn't depend
on the image's own, and cost a few percent of decoding it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kfood_tfds.raw.crop_area import CropBox

FLAGS = (
    "small_box",
    "small_image",
    "extreme_aspect",
    "blurred",
    "dark",
    "bright",
    "uniform",
    "few_colours",
)

# A box of less than a twentieth of the image shows a detail, or is a slip of the hand.
MIN_BOX_SHARE = 0.05
# Below it any model's input is mostly interpolation.
MIN_SIDE = 64
# No camera takes it; a banner, a panorama or a collage.
MAX_ASPECT = 3.0
# Photos measured 500 to 15,000, and 2 to 36 after a Gaussian blur of 1 % of their longer side.
MIN_SHARPNESS = 40.0
# An eighth of the range: a night shot, or a lens cap.
MIN_BRIGHTNESS = 32.0
# Dishes on white plates before white walls reach 230.
MAX_BRIGHTNESS = 240.0
# The noise of a camera alone gives 2 to 5 levels.
MIN_CONTRAST = 8.0
# Drawings and screens of text measured 0.88 to 1; photos 0.05 to 0.5, grey ones up to 0.66, and a
# plate on a white ground 0.82.
MIN_PALETTE_SHARE = 0.87
# Lines and letters stand out from their ground; flat grey photos of few levels don't.
MIN_DRAWING_CONTRAST = 45.0

# Longer side at which sharpness and brightness are measured: small enough to be cheap, and blur
# that is lost at this size doesn't matter to a classifier either.
_GREY_SIDE = 256
# Images with more rows than these strips have are read in strips of three: enough for a Laplacian,
# and a third of a photo's rows.
_STRIPS = 16
_STRIP_ROWS = 3
_STRIP_CENTRES = np.arange(1, 2 * _STRIPS, 2)[:, np.newaxis]
_STRIP_OFFSETS = np.arange(_STRIP_ROWS) - 1
# Longer side of the grid on which colours are counted.
_COLOUR_SIDE = 48
# Colours are counted in 64 steps a channel: JPEG's ripples mostly don't count as colours, and the
# greys of a grey photo still do.
_COLOUR_BITS = 6
# How many colours make a palette.
_PALETTE = 16
# Odd, so that greens spread over all 12 bits.
_FOLD = 67


@dataclass(frozen=True, slots=True)
class Quality:
    """What is measured on one image.

    Attributes:
      sharpness: Variance of the Laplacian, at a longer side of at most 256 pixels.
      brightness: Mean level, 0 to 255.
      contrast: Standard deviation of the level.
      palette_share: Share of the pixels that have one of the sixteen commonest colours, of 64 steps
        a channel.
    """

    sharpness: float
    brightness: float
    contrast: float
    palette_share: float


def measure(pixels: npt.NDArray[np.uint8]) -> Quality:
    """Measures one image.

    The green channel stands for the level: it makes up most of it, and taking it costs nothing.
    Pixels are picked in even steps, not averaged, and from strips of larger images, which is what
    makes this cheap.

    Args:
      pixels: uint8[height, width, 3].

    Returns:
      The measures; an image under 3 pixels a side has a sharpness of zero.
    """
    longer = max(pixels.shape[:2])
    step = -(-longer // _GREY_SIDE)
    grey = _strips(pixels, step)
    brightness, variance = _mean_and_variance(grey)
    sharpness = 0.0
    if min(grey.shape[1:]) >= _STRIP_ROWS:
        _, sharpness = _mean_and_variance(_laplacian(grey))
    step = -(-longer // _COLOUR_SIDE)
    return Quality(sharpness, brightness, variance**0.5, _palette_share(pixels[::step, ::step]))


def quality_flags(
    quality: Quality, height: int, width: int, box: CropBox | None
) -> tuple[str, ...]:
    """Names what is odd about an image.

    Args:
      quality: As `measure` gives it.
      height: Height of the image, pixels.
      width: Width of the image, pixels.
      box: Its crop box; None, or the whole image, where there is none.

    Returns:
      Some of `FLAGS`, in that order.
    """
    shorter, longer = sorted((height, width))
    whole = height * width
    share = 1.0 if box is None else box.height * box.width / whole
    found = {
        "small_box": share < MIN_BOX_SHARE,
        "small_image": shorter < MIN_SIDE,
        "extreme_aspect": longer > MAX_ASPECT * shorter,
        # Nothing to be sharp in: a uniform image is not called blurred as well.
        "blurred": quality.sharpness < MIN_SHARPNESS and quality.contrast >= MIN_CONTRAST,
        "dark": quality.brightness < MIN_BRIGHTNESS,
        "bright": quality.brightness > MAX_BRIGHTNESS,
        "uniform": quality.contrast < MIN_CONTRAST,
        "few_colours": quality.palette_share >= MIN_PALETTE_SHARE
        and quality.contrast >= MIN_DRAWING_CONTRAST,
    }
    return tuple(flag for flag in FLAGS if found[flag])


def _strips(pixels: npt.NDArray[np.uint8], step: int) -> npt.NDArray[np.int16]:
    """Picks the level at every `step`-th pixel; of many rows in strips, spread evenly.

    Returns:
      int16[strips, rows, columns]; the rows of a strip are neighbours.
    """
    height = -(-len(pixels) // step)
    if height <= _STRIPS * _STRIP_ROWS:
        return pixels[np.newaxis, ::step, ::step, 1].astype(np.int16)
    middle = _STRIP_CENTRES * height // (2 * _STRIPS)
    rows = (middle + _STRIP_OFFSETS) * step
    return pixels[:, ::step, 1][rows].astype(np.int16)


def _laplacian(grey: npt.NDArray[np.int16]) -> npt.NDArray[np.int16]:
    # Four neighbours; 4 * 255 fits int16.
    result: npt.NDArray[np.int16] = grey[:, 1:-1, 1:-1] * np.int16(4)
    result -= grey[:, :-2, 1:-1]
    result -= grey[:, 2:, 1:-1]
    result -= grey[:, 1:-1, :-2]
    result -= grey[:, 1:-1, 2:]
    return result


def _mean_and_variance(values: npt.NDArray[np.int16]) -> tuple[float, float]:
    # Sums of squares of integers are exact in float64, in whatever order they are added.
    flat = values.ravel().astype(np.float64)
    mean = float(flat.sum()) / flat.size
    return mean, max(0.0, float(np.square(flat).sum()) / flat.size - mean * mean)


def _palette_share(pixels: npt.NDArray[np.uint8]) -> float:
    codes = (pixels >> (8 - _COLOUR_BITS)).astype(np.uint16)
    red, green, blue = codes[..., 0], codes[..., 1], codes[..., 2]
    # 18 bits folded into 12: two colours rarely fall together, and a histogram stays small.
    folded = ((red << 6) | blue) ^ (green * np.uint16(_FOLD))
    counts = np.sort(np.bincount((folded & 0xFFF).ravel()))
    return float(counts[-_PALETTE:].sum()) / folded.size

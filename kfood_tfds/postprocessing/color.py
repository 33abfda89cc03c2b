"""Ops on colours: jitter and greyscale."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from kfood_tfds.postprocessing import checks, draws
from kfood_tfds.postprocessing.decoding import IMAGE
from kfood_tfds.postprocessing.ops import Example, Op, RandomPixelOp

# Rec. 601 luma, in the 16-bit fractions of Pillow's convert("L"). With them float32 sums of bytes
# are exact, in whatever order a machine adds.
LUMA = (19595 / 65536, 38470 / 65536, 7471 / 65536)

# Gains of the colour differences in PAL and NTSC: U = 0.492111 (B - Y), V = 0.877283 (R - Y).
_GAIN_U = 0.492111
_GAIN_V = 0.877283
_WHITE = 255.0
_GRID = 4096.0
# Pixels in a row of the product with the matrix; the first that divides their number is taken.
# Rows of one pixel take twice as long.
_BLOCKS = (*range(8, 1, -1), *range(9, 16), 1)
_NEUTRAL = {
    "brightness": (1.0, 1.0),
    "contrast": (1.0, 1.0),
    "saturation": (1.0, 1.0),
    "hue": (0.0, 0.0),
}


@dataclasses.dataclass(frozen=True)
class ColorJitter(RandomPixelOp):
    """Changes brightness, contrast, saturation and hue at random.

    With factors b, c, s and a hue shift h, in turns, drawn for the example, each step is linear::

        brightness   x1 = b x
        contrast     x2 = c x1 + (1 - c) m1      m1: mean of the grey values of x1
        saturation   x3 = s x2 + (1 - s) Y(x2)   Y: the grey value, 0.299 R + 0.587 G + 0.114 B
        hue          x4 = x3 turned by -2 pi h in the IQ plane of YIQ; the grey value stays
        result       x4, cut to 0..255

    The four commute, because the last two keep the grey value and the first two scale it. So no
    order needs to be drawn, and one 3x3 matrix and one offset do it all in a single pass::

        x4 = b c (x M(s, h)) + b (1 - c) m       m: mean of the grey values of x

    Values are cut to 0..255 once, at the end: bright colours survive a brightness step that
    contrast then takes back, unlike with torchvision, which cuts after each step. Positive hues
    turn red towards green, as in HSV.

    ``keras.layers.RandomColorJitter`` draws in the order of calls, so that results depend on the
    number of workers, and takes several times a JPEG's decoding. ``tf.image`` takes four passes,
    two of them through HSV: about four times the time of this op.

    Attributes:
        brightness: Largest change of b from 1, or its bounds; 0.2 means (0.8, 1.2).
        contrast: The same for c.
        saturation: The same for s.
        hue: Largest h, 0..0.5, or its bounds in -0.5..0.5.
    """

    brightness: draws.Range = 0.0
    contrast: draws.Range = 0.0
    saturation: draws.Range = 0.0
    hue: draws.Range = 0.0

    def __post_init__(self) -> None:
        """Checks the fields."""
        super().__post_init__()
        self._bounds()

    def draw(self, example: Example, seed: Any) -> Example:
        """Sets ``"image"``: uint8 or float32[h, w, 3] in 0..255, as it came."""
        bounds = self._bounds()
        low, high = np.array(list(bounds.values()), np.float32).T
        values = dict(zip(bounds, tf.unstack(draws.uniform(seed, [4], low, high)), strict=True))
        drawn = {name: values[name] for name, pair in bounds.items() if pair != _NEUTRAL[name]}
        example[IMAGE] = adjust_color(example[IMAGE], **drawn)
        return example

    def _bounds(self) -> Mapping[str, tuple[float, float]]:
        most = 10.0
        return {
            "brightness": draws.around("brightness", self.brightness, 1.0, 0.0, most),
            "contrast": draws.around("contrast", self.contrast, 1.0, 0.0, most),
            "saturation": draws.around("saturation", self.saturation, 1.0, 0.0, most),
            "hue": draws.around("hue", self.hue, 0.0, -0.5, 0.5),
        }


@dataclasses.dataclass(frozen=True)
class Grayscale(RandomPixelOp):
    """Makes the image grey, as three equal channels, with a probability.

    The grey value is Rec. 601 luma; for uint8 it is that of Pillow's ``convert("L")``, bit for bit.
    With probability 1 nothing is random: the op then stays in evaluation and serving.

    ``keras.layers.RandomGrayscale`` draws in the order of calls, so that results depend on the
    number of workers.

    Attributes:
        probability: Share of the images that become grey.
    """

    probability: float = 1.0

    def __post_init__(self) -> None:
        """Checks the fields."""
        super().__post_init__()
        checks.number("probability", self.probability, 0.0, 1.0)

    @property
    def is_random(self) -> bool:
        """Whether some images stay as they are."""
        return self.probability < 1

    def draw(self, example: Example, seed: Any) -> Example:
        """Sets ``"image"``: uint8 or float32[h, w, 3] in 0..255, as it came."""
        image = example[IMAGE]
        if not self.is_random:
            example[IMAGE] = to_grayscale(image)
            return example
        chosen = draws.uniform(seed, []) < self.probability
        example[IMAGE] = tf.cond(chosen, lambda: to_grayscale(image), lambda: image)
        return example

    def evaluation(self) -> tuple[Op, ...]:
        """Returns the op if it greys every image, else nothing."""
        return () if self.is_random else (self,)


def adjust_color(
    image: Any,
    brightness: Any = None,
    contrast: Any = None,
    saturation: Any = None,
    hue: Any = None,
) -> Any:
    """Changes colours in one pass; the formula is in ``ColorJitter``.

    Args:
        image: uint8 or float32[h, w, 3], 0..255.
        brightness: Factor b, a scalar; None leaves it out, and its part of the work.
        contrast: Factor c.
        saturation: Factor s.
        hue: Shift h, in turns.

    Returns:
        The image in its dtype: uint8 rounded to the nearest, float32 cut to 0..255.
    """
    if brightness is None and contrast is None and saturation is None and hue is None:
        return image
    pixels = tf.cast(image, tf.float32)
    factor = tf.constant(1.0) if brightness is None else brightness
    offset = tf.constant(0.0)
    if contrast is not None:
        bright, factor = factor, factor * contrast
        offset = (bright - factor) * mean_grey(pixels)
    turned = saturation is not None or hue is not None
    if turned:
        factor = color_matrix(factor, saturation, hue)
    if image.dtype == tf.uint8:
        factor, offset = _on_grid(factor), _on_grid(offset) + 0.5
    result = (_product(pixels, factor) if turned else pixels * factor) + offset
    return tf.cast(tf.clip_by_value(result, 0.0, _WHITE), image.dtype)


def _product(pixels: Any, matrix: Any) -> Any:
    """Returns the product of each pixel, float32[h, w, 3], with a matrix, float32[3, 3]."""
    count = (pixels.shape.num_elements() or 3) // 3
    block = next(number for number in _BLOCKS if count % number == 0)
    diagonal = tf.eye(block)[:, None, :, None] * matrix[:, None, :]
    wide = tf.reshape(diagonal, [3 * block, 3 * block])
    return tf.reshape(tf.matmul(tf.reshape(pixels, [-1, 3 * block]), wide), tf.shape(pixels))


def _on_grid(values: Any) -> Any:
    """Rounds to 12 binary places: bytes times these add up in float32 without any error.

    So bytes come out the same whichever instructions a machine multiplies with.
    """
    return tf.round(values * _GRID) / _GRID


def mean_grey(image: Any) -> Any:
    """Returns the mean grey value of float32[h, w, 3], a scalar."""
    size = tf.shape(image)
    # Down the columns first, four times as fast as a product with the weights. Across them in
    # float64: sums of bytes are then exact, in whatever order a machine adds.
    columns = tf.reduce_sum(tf.reshape(image, [size[0], -1]), axis=0)
    totals = tf.reduce_sum(tf.reshape(tf.cast(columns, tf.float64), [-1, 3]), axis=0)
    grey = tf.reduce_sum(totals * tf.constant(LUMA, tf.float64))
    return tf.cast(grey / tf.cast(size[0] * size[1], tf.float64), tf.float32)


def color_matrix(scale: Any, saturation: Any = None, hue: Any = None) -> Any:
    """Returns float32[3, 3] to multiply pixels with: saturation, then hue, times a scale."""
    along = scale if saturation is None else scale * saturation
    across = tf.constant(0.0)
    if hue is not None:
        angle = -2.0 * np.pi * hue
        along, across = along * tf.cos(angle), along * tf.sin(angle)
    parts = tf.constant(_color_parts(), tf.float32)
    return tf.reshape(tf.matmul(tf.stack([scale, along, across])[None], parts), [3, 3])


def to_grayscale(image: Any) -> Any:
    """Returns the image with its grey value in all channels; uint8 rounded to the nearest."""
    pixels = tf.reshape(tf.cast(image, tf.float32), [-1, 3])
    grey = np.repeat(np.array(LUMA, np.float32)[:, None], 3, axis=1)
    result = tf.matmul(pixels, tf.constant(grey))
    if image.dtype == tf.uint8:
        result += 0.5
    return tf.cast(tf.ensure_shape(tf.reshape(result, tf.shape(image)), image.shape), image.dtype)


def _color_parts() -> np.ndarray[Any, Any]:
    """Returns float64[3, 9]: the matrices of grey, of the rest, and of that turned 90 degrees."""
    luma, unit = np.array(LUMA), np.eye(3)
    grey = np.repeat(luma[:, None], 3, axis=1)
    u, v = _GAIN_U * (unit[2] - luma), _GAIN_V * (unit[0] - luma)
    # The IQ plane is the UV plane at 33 degrees: turns are the same in both, V to -U and U to V.
    red, blue = -u / _GAIN_V, v / _GAIN_U
    green = -(luma[0] * red + luma[2] * blue) / luma[1]
    turned = np.stack([red, green, blue], axis=1)
    return np.stack([grey, unit - grey, turned]).reshape(3, 9)

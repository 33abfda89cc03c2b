"""Turning, shearing and shifting pixels."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import tensorflow as tf

from kfood_tfds.postprocessing import checks, draws
from kfood_tfds.postprocessing.decoding import IMAGE
from kfood_tfds.postprocessing.ops import Example, RandomPixelOp

INTERPOLATIONS = ("nearest", "bilinear")


@dataclasses.dataclass(frozen=True)
class RandomRotation(RandomPixelOp):
    """Turns the image about its centre by a random angle; the frame stays, its corners are filled.

    ``keras.layers.RandomRotation`` draws in the order of calls, so that results depend on the
    number of workers; this op uses the same kernel of TensorFlow's.

    Attributes:
        degrees: Largest angle to either side, 0..180, or the bounds; counter-clockwise is positive.
        fill: Level 0..255 of what lies outside the image, or three, for R, G and B.
        interpolation: ``"bilinear"`` or ``"nearest"``.
    """

    degrees: draws.Range = 15.0
    fill: draws.Fill = 0.0
    interpolation: str = "bilinear"

    def __post_init__(self) -> None:
        """Checks the fields."""
        super().__post_init__()
        self._bounds()
        draws.check_fill("fill", self.fill)
        checks.choice("interpolation", self.interpolation, INTERPOLATIONS)

    def draw(self, example: Example, seed: Any) -> Example:
        """Sets ``"image"``: uint8 or float32[h, w, 3] in 0..255, as it came."""
        angle = draws.uniform(seed, [], *self._bounds())
        example[IMAGE] = rotate(example[IMAGE], angle, self.fill, self.interpolation)
        return example

    def _bounds(self) -> tuple[float, float]:
        return draws.around("degrees", self.degrees, 0.0, -180.0, 180.0)


def rotate(image: Any, degrees: Any, fill: draws.Fill = 0.0, interpolation: str = "nearest") -> Any:
    """Turns [h, w, 3] counter-clockwise about its centre by an angle in degrees."""
    size = tf.cast(tf.shape(image)[:2], tf.float32)
    y, x = (size[0] - 1) / 2, (size[1] - 1) / 2
    angle = tf.cast(degrees, tf.float32) * (math.pi / 180)
    cosine, sine = tf.cos(angle), tf.sin(angle)
    to_x = [cosine, -sine, x - cosine * x + sine * y]
    to_y = [sine, cosine, y - sine * x - cosine * y]
    return _mapped(image, [*to_x, *to_y], fill, interpolation)


def shear_x(image: Any, factor: Any, fill: draws.Fill = 0.0, interpolation: str = "nearest") -> Any:
    """Shears [h, w, 3]: row y, counted from the top edge, moves left by ``factor * y``."""
    return _mapped(image, [1.0, factor, factor / 2, 0.0, 1.0, 0.0], fill, interpolation)


def shear_y(image: Any, factor: Any, fill: draws.Fill = 0.0, interpolation: str = "nearest") -> Any:
    """Shears [h, w, 3]: column x, counted from the left edge, moves up by ``factor * x``."""
    return _mapped(image, [1.0, 0.0, 0.0, factor, 1.0, factor / 2], fill, interpolation)


def translate(image: Any, down: Any, right: Any, fill: draws.Fill = 0.0) -> Any:
    """Moves [h, w, 3] by whole pixels, int32; negative ones up and left."""
    height, width = tf.unstack(tf.shape(image)[:2])
    down = tf.clip_by_value(down, -height, height)
    right = tf.clip_by_value(right, -width, width)
    top, left = tf.maximum(down, 0), tf.maximum(right, 0)
    bottom, end = tf.maximum(-down, 0), tf.maximum(-right, 0)
    kept = image[bottom : height - top, end : width - left]

    def filled(rows: Any, columns: Any) -> Any:
        levels = tf.broadcast_to(tf.round(tf.constant(fill, tf.float32)), [rows, columns, 3])
        return tf.cast(levels, image.dtype)

    # Several times as fast as the kernel for any mapping.
    rows = height - top - bottom
    middle = tf.concat([filled(rows, left), kept, filled(rows, end)], axis=1)
    result = tf.concat([filled(top, width), middle, filled(bottom, width)], axis=0)
    return tf.ensure_shape(result, image.shape)


def _mapped(image: Any, numbers: list[Any], fill: draws.Fill, interpolation: str) -> Any:
    """Fetches each pixel (x, y) from (a x + b y + c, d x + e y + f), ``numbers`` being a to f."""
    values = [tf.cast(number, tf.float32) for number in [*numbers, 0.0, 0.0]]
    same = isinstance(fill, (int, float))
    pixels = image
    # The kernel cuts off the fraction of uint8, and knows one fill value for all channels.
    if interpolation == "bilinear" or not same:
        pixels = tf.cast(image, tf.float32)
    colour = tf.round(tf.constant(fill, tf.float32))
    result = tf.raw_ops.ImageProjectiveTransformV3(
        images=(pixels if same else pixels - colour)[None],
        transforms=tf.stack(values)[None],
        output_shape=tf.shape(image)[:2],
        fill_value=colour if same else tf.constant(0.0),
        interpolation=interpolation.upper(),
        fill_mode="CONSTANT",
    )[0]
    result = result if same else result + colour
    if image.dtype != result.dtype:
        result = tf.saturate_cast(tf.round(result), image.dtype)
    return tf.ensure_shape(result, image.shape)

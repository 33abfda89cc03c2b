"""Ops that make and turn pixels: decode, resize, flip, several crops."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import tensorflow as tf

from kfood_tfds.postprocessing import checks
from kfood_tfds.postprocessing.decoding import IMAGE, WINDOW, pending_window
from kfood_tfds.postprocessing.ops import Example, Op, PixelOp, RandomPixelOp
from kfood_tfds.postprocessing.windows import side_of_share

METHODS = ("nearest", "bilinear", "area", "bicubic")
DTYPES = ("float32", "uint8")
_SMALL_PIXELS = 480 * 480


@dataclasses.dataclass(frozen=True)
class Decode(PixelOp):
    """Decodes the image inside its window, to uint8[h, w, 3]."""

    def apply(self, example: Example) -> Example:
        """Returns the example, whose image the caller has decoded."""
        return example


@dataclasses.dataclass(frozen=True)
class Resize(PixelOp):
    """Resizes with ``tf.image.resize``; windows of the right size stay as they are.

    Attributes:
        size: Height and width, pixels; one number for both.
        method: ``"nearest"``, ``"bilinear"``, ``"area"`` or ``"bicubic"``.
        antialias: Whether shrinking averages over all the pixels it merges (bilinear and bicubic).
        dtype: ``"float32"``, values 0..255 as the method gives them, or ``"uint8"``, rounded.
    """

    size: int | tuple[int, int]
    method: str = "bilinear"
    antialias: bool = False
    dtype: str = "float32"

    def __post_init__(self) -> None:
        """Checks the fields."""
        sides = self.size if isinstance(self.size, tuple) else (self.size, self.size)
        if len(sides) != 2:
            raise ValueError(f"size must be an int or two of them. Received: size={self.size!r}")
        for side in sides:
            checks.integer("size", side, 1)
        checks.choice("method", self.method, METHODS)
        checks.flag("antialias", self.antialias)
        checks.choice("dtype", self.dtype, DTYPES)

    def apply(self, example: Example) -> Example:
        """Sets ``"image"`` to [height, width, 3] (or [n, height, width, 3])."""
        image = tf.convert_to_tensor(example[IMAGE])
        target = self.size if isinstance(self.size, tuple) else (self.size, self.size)

        def resized() -> Any:
            pixels = self._resized(image, target)
            if self.dtype == "uint8" and image.dtype == tf.uint8 and self.method != "bicubic":
                # Means of bytes stay in 0..255, and cutting takes a fifth of the resizing's time.
                return tf.cast(tf.round(pixels), tf.uint8)
            return _cast(pixels, self.dtype)

        fits = tf.reduce_all(tf.shape(image)[-3:-1] == tf.constant(target))
        pixels = tf.cond(fits, lambda: _cast(image, self.dtype), resized)
        example[IMAGE] = tf.ensure_shape(pixels, [*image.shape[:-3], *target, 3])
        return example

    def _resized(self, image: Any, target: tuple[int, int]) -> Any:
        resize = functools.partial(
            tf.image.resize, size=target, method=self.method, antialias=self.antialias
        )
        if image.dtype != tf.uint8 or self.method != "bilinear" or self.antialias:
            return resize(image)
        # The kernel reads floats faster than bytes; in large images it skips most pixels anyway.
        small = tf.reduce_prod(tf.shape(image)[-3:-1]) < _SMALL_PIXELS
        return tf.cond(small, lambda: resize(tf.cast(image, tf.float32)), lambda: resize(image))


@dataclasses.dataclass(frozen=True)
class RandomFlip(RandomPixelOp):
    """Mirrors the image, each direction with probability one half.

    Attributes:
        horizontal: Whether to swap left and right.
        vertical: Whether to swap top and bottom.
    """

    horizontal: bool = True
    vertical: bool = False

    def __post_init__(self) -> None:
        """Checks the fields."""
        super().__post_init__()
        checks.flag("horizontal", self.horizontal)
        checks.flag("vertical", self.vertical)

    def draw(self, example: Example, seed: Any) -> Example:
        """Sets ``"image"``."""
        image = example[IMAGE]
        draws = tf.random.stateless_uniform([2], seed) < 0.5
        for index, (wanted, axis) in enumerate(((self.vertical, -3), (self.horizontal, -2))):
            if wanted:
                image = _mirrored_if(draws[index], image, axis)
        example[IMAGE] = image
        return example


@dataclasses.dataclass(frozen=True)
class MultiCrop(Op):
    """Takes five squares, the middle and the corners, for averaged predictions.

    The image becomes [5, side, side, 3]; after ``Resize`` a batch is [batch, 5, size, size, 3].
    ``average_crops`` makes a model of single images take it.

    Attributes:
        scale: Side of the squares as a share of the window's shorter side.
    """

    scale: float = 0.875

    def __post_init__(self) -> None:
        """Checks the fields."""
        checks.number("scale", self.scale, 0.0, 1.0, open_low=True)

    def apply(self, example: Example) -> Example:
        """Sets the pending window to int32[5, 4]: the middle, then the corners row by row."""
        window = pending_window(example)
        side = side_of_share(window, self.scale)
        room = window[2:] - side
        places = [room // 2]
        places += [room * tf.constant(corner) for corner in ([0, 0], [0, 1], [1, 0], [1, 1])]
        parts = [tf.concat([window[:2] + at, side, side], axis=0) for at in places]
        example[WINDOW] = tf.stack(parts)
        return example


def _cast(pixels: Any, dtype: str) -> Any:
    if dtype == "uint8" and pixels.dtype != tf.uint8:
        return tf.saturate_cast(tf.round(pixels), tf.uint8)
    return tf.cast(pixels, dtype)


def _mirrored_if(wanted: Any, image: Any, axis: int) -> Any:
    rank = len(image.shape)
    return tf.cond(wanted, lambda: tf.reverse(image, [rank + axis]), lambda: image)

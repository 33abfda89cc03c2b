"""Pillow's ``ImageEnhance`` and ``ImageOps`` in TensorFlow, equal to Pillow byte for byte.

AutoAugment and its successors are defined by these functions. All take and return uint8[h, w, 3].
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from kfood_tfds.postprocessing.color import LUMA

_LEVELS = 256
# Pillow's ImageFilter.SMOOTH: the eight neighbours once, the pixel itself five times.
_SMOOTH = ((1.0, 1.0, 1.0), (1.0, 5.0, 1.0), (1.0, 1.0, 1.0))
_SMOOTH_SUM = 13.0


def brightness(image: Any, factor: Any) -> Any:
    """Blends black with the image: 0 is black, 1 the image, 2 twice as bright."""
    return _bytes(tf.cast(image, tf.float32) * factor)


def color(image: Any, factor: Any) -> Any:
    """Blends the greyscale image with the image: 0 is grey, 1 the image, 2 twice as colourful."""
    return _blend(_grey(image), tf.cast(image, tf.float32), factor)


def contrast(image: Any, factor: Any) -> Any:
    """Blends the image's mean grey, rounded, with the image: 0 is flat grey, 1 the image."""
    grey = _grey(image)
    total = tf.reduce_sum(tf.cast(grey, tf.int64))
    mean = tf.cast(total, tf.float64) / tf.cast(tf.size(grey), tf.float64)
    level = tf.cast(tf.floor(mean + 0.5), tf.float32)
    return _blend(level, tf.cast(image, tf.float32), factor)


def sharpness(image: Any, factor: Any) -> Any:
    """Blends the smoothed image with the image: 0 is smooth, 1 the image, 2 sharpened.

    The outermost pixels have too few neighbours and stay as they are, and so does an image that has
    no others.
    """
    inner = tf.reduce_min(tf.shape(image)[:2]) > 2
    return tf.cond(inner, lambda: _sharpened(image, factor), lambda: tf.identity(image))


def _sharpened(image: Any, factor: Any) -> Any:
    pixels = tf.cast(image, tf.float32)
    kernel = tf.constant(np.repeat(np.array(_SMOOTH, np.float32)[:, :, None, None], 3, axis=2))
    sums = tf.nn.depthwise_conv2d(pixels[None], kernel, [1, 1, 1, 1], "VALID")[0]
    smooth = tf.floor(sums / _SMOOTH_SUM + 0.5)
    detail = tf.pad(pixels[1:-1, 1:-1] - smooth, [[1, 1], [1, 1], [0, 0]])
    return tf.ensure_shape(_bytes(pixels - detail + factor * detail), image.shape)


def posterize(image: Any, bits: Any) -> Any:
    """Keeps the highest ``bits`` bits, 1..8, of each value."""
    mask = _LEVELS - tf.bitwise.left_shift(1, 8 - tf.cast(bits, tf.int32))
    return tf.bitwise.bitwise_and(image, tf.cast(mask, tf.uint8))


def solarize(image: Any, threshold: Any) -> Any:
    """Inverts the values from ``threshold`` on; 256 leaves the image as it is."""
    return tf.where(tf.cast(image, tf.float32) < threshold, image, 255 - image)


def autocontrast(image: Any) -> Any:
    """Stretches each channel so that its darkest value becomes 0 and its brightest 255."""
    low = _channels(image, tf.reduce_min)
    high = _channels(image, tf.reduce_max)
    levels = tf.range(_LEVELS, dtype=tf.float64)[:, None]
    # In Pillow's order of operations: it cuts off fractions, so a rounding error shows.
    scale = 255.0 / tf.maximum(high - low, 1.0)
    table = tf.clip_by_value(levels * scale + -low * scale, 0.0, 255.0)
    return _looked_up(image, tf.where(high > low, table, levels))


def equalize(image: Any) -> Any:
    """Maps the values of each channel so that all levels occur about equally often."""
    places = tf.reshape(_places(image), [-1])
    counts = tf.reshape(tf.math.bincount(places, minlength=3 * _LEVELS), [3, _LEVELS])
    counts = tf.transpose(tf.cast(counts, tf.int64))
    before = tf.cumsum(counts, axis=0, exclusive=True)
    brightest = tf.cast(_channels(image, tf.reduce_max), tf.int32)
    last = tf.gather(tf.transpose(counts), brightest, batch_dims=1)
    step = (tf.reduce_sum(counts, axis=0) - last) // (_LEVELS - 1)
    table = tf.minimum((before + step // 2) // tf.maximum(step, 1), _LEVELS - 1)
    levels = tf.range(_LEVELS, dtype=tf.int64)[:, None]
    return _looked_up(image, tf.where(step > 0, table, levels))


def _grey(image: Any) -> Any:
    """Returns float32[h, w, 1]: whole numbers, those of Pillow's ``convert("L")``."""
    pixels = tf.reshape(tf.cast(image, tf.float32), [-1, 3])
    grey = tf.floor(tf.matmul(pixels, tf.constant(LUMA, tf.float32, [3, 1])) + 0.5)
    return tf.reshape(grey, [tf.shape(image)[0], tf.shape(image)[1], 1])


def _blend(degenerate: Any, pixels: Any, factor: Any) -> Any:
    return _bytes(degenerate + factor * (pixels - degenerate))


def _bytes(pixels: Any) -> Any:
    """Returns uint8, the fraction cut off."""
    return tf.cast(tf.clip_by_value(pixels, 0.0, 255.0), tf.uint8)


def _channels(image: Any, reduce: Any) -> Any:
    """Returns float64[3]: the image reduced over its pixels."""
    rows = reduce(tf.reshape(image, [tf.shape(image)[0], -1]), axis=0)
    return tf.cast(reduce(tf.reshape(rows, [-1, 3]), axis=0), tf.float64)


def _places(image: Any) -> Any:
    """Returns int32[h, w, 3]: value plus 256 times the channel."""
    return tf.cast(image, tf.int32) + tf.constant([0, _LEVELS, 2 * _LEVELS])


def _looked_up(image: Any, table: Any) -> Any:
    """Returns the image with each value replaced by its entry in the table, [256, 3]."""
    entries = tf.reshape(tf.transpose(tf.cast(table, tf.uint8)), [-1])
    return tf.gather(entries, _places(image))

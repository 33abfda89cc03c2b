"""Erasing a random rectangle."""

from __future__ import annotations

import dataclasses
from typing import Any

import tensorflow as tf

from kfood_tfds.postprocessing import checks, draws
from kfood_tfds.postprocessing.decoding import IMAGE
from kfood_tfds.postprocessing.ops import Example, RandomPixelOp, split_seed

NOISE = "noise"
_TRIES = 10


@dataclasses.dataclass(frozen=True)
class RandomErasing(RandomPixelOp):
    """Covers a random rectangle of the image (Zhong et al. 2017, arXiv:1708.04896).

    Area and aspect ratio are drawn up to ten times until the rectangle fits into the image; if it
    never does, the last one is cut to it. Its place is uniform.

    ``keras.layers.RandomErasing`` draws in the order of calls, so that results depend on the number
    of workers.

    Attributes:
        probability: Share of the images that lose a rectangle.
        area: Bounds of the rectangle's share of the image.
        aspect: Bounds of its height over its width, as in the paper, drawn uniformly in the
            logarithm. (`RandomResizedCrop` has width over height.)
        value: Level 0..255 to fill it with, three for R, G and B, or ``"noise"``: every value
            random.
    """

    probability: float = 0.5
    area: tuple[float, float] = (0.02, 0.33)
    aspect: tuple[float, float] = (0.3, 3.3)
    value: draws.Fill | str = NOISE

    def __post_init__(self) -> None:
        """Checks the fields."""
        super().__post_init__()
        checks.number("probability", self.probability, 0.0, 1.0)
        checks.interval("area", self.area, 0.0, 1.0)
        checks.interval("aspect", self.aspect, 0.0, 100.0)
        if isinstance(self.value, str):
            checks.choice("value", self.value, (NOISE,))
        else:
            draws.check_fill("value", self.value)

    def draw(self, example: Example, seed: Any) -> Example:
        """Sets ``"image"``: uint8 or float32[h, w, 3] in 0..255, as it came."""
        image = example[IMAGE]
        chance, shape, place, noise = split_seed(seed, 4)

        def erased() -> Any:
            size = tf.shape(image)[:2]
            box = self._size(draws.uniform(shape, [_TRIES, 2]), size)
            # Float products can come out a pixel too far at the very end of the range.
            room = tf.cast(size - box + 1, tf.float32)
            corner = tf.minimum(tf.cast(draws.uniform(place, [2]) * room, tf.int32), size - box)
            return erase(image, corner, self._patch(noise, box, image.dtype))

        chosen = draws.uniform(chance, []) < self.probability
        example[IMAGE] = tf.cond(chosen, erased, lambda: image)
        return example

    def _size(self, units: Any, size: Any) -> Any:
        """Returns int32[2], height and width of the rectangle, from draws [tries, 2] in 0..1."""
        pixels = tf.cast(tf.reduce_prod(size), tf.float32)
        low, high = self.area
        area = (low + units[:, 0] * (high - low)) * pixels
        aspect = draws.log_uniform(units[:, 1], self.aspect)
        sides = tf.sqrt(tf.stack([area * aspect, area / aspect], axis=1))
        boxes = tf.maximum(tf.cast(tf.round(sides), tf.int32), 1)
        fits = tf.reduce_all(boxes <= size, axis=1)
        last = tf.one_hot(_TRIES - 1, _TRIES, on_value=True, off_value=False)
        return tf.minimum(boxes[tf.argmax(tf.cast(fits | last, tf.int32))], size)

    def _patch(self, seed: Any, box: Any, dtype: Any) -> Any:
        shape = tf.concat([box, [3]], axis=0)
        if isinstance(self.value, str):
            levels = tf.random.stateless_uniform(shape, seed, 0, 256, dtype=tf.int32, alg="philox")
        else:
            levels = tf.broadcast_to(tf.round(tf.constant(self.value, tf.float32)), shape)
        return tf.cast(levels, dtype)


def erase(image: Any, corner: Any, patch: Any) -> Any:
    """Returns [h, w, 3] with ``patch``, [height, width, 3], at ``corner``, int32[2] (y, x)."""
    top, left = corner[0], corner[1]
    bottom, right = top + tf.shape(patch)[0], left + tf.shape(patch)[1]
    rows = image[top:bottom]
    middle = tf.concat([rows[:, :left], patch, rows[:, right:]], axis=1)
    result = tf.concat([image[:top], middle, image[bottom:]], axis=0)
    return tf.ensure_shape(result, image.shape)

"""Ops on batches that mix examples with one another: MixUp and CutMix."""

from __future__ import annotations

import dataclasses
from typing import Any

import tensorflow as tf

from kfood_tfds.postprocessing import checks, draws
from kfood_tfds.postprocessing.decoding import IMAGE
from kfood_tfds.postprocessing.ops import BatchOp, Example, split_seed

_LABELS = ("label", "category")
_WEIGHT = "sample_weight"


@dataclasses.dataclass(frozen=True)
class _Mix(BatchOp):
    """What both ops share: partners, shares, labels.

    Attributes:
        alpha: Both parameters of the beta distribution that the share is drawn from, 0.01..100.
        probability: Share of the examples that are mixed.
    """

    alpha: float = 1.0
    probability: float = 1.0

    def __post_init__(self) -> None:
        """Checks the fields."""
        super().__post_init__()
        # Below, float64 no longer holds the gamma draws that make up the beta distribution.
        checks.number("alpha", self.alpha, 0.01, 100.0)
        checks.number("probability", self.probability, 0.0, 1.0)

    def draw(self, example: Example, seed: Any) -> Example:
        """Sets ``"image"``, the label vectors, and ``"sample_weight"`` where there is one."""
        _check_labels(example, type(self).__name__)
        images = example[IMAGE]
        size = tf.shape(images)[0]
        shift, shares, chance, place = split_seed(seed, 4)
        partner = _partners(shift, size)
        mixed = draws.uniform(chance, [size]) < self.probability
        share = tf.where(mixed, _beta(shares, size, self.alpha), 1.0)
        example[IMAGE], share = self._mixed(images, partner, share, place)
        for key in (*_LABELS, _WEIGHT):
            if key in example and tf.convert_to_tensor(example[key]).dtype.is_floating:
                example[key] = _blend(example[key], partner, share)
        return example

    def _mixed(self, images: Any, partner: Any, share: Any, seed: Any) -> tuple[Any, Any]:
        """Returns the images and the shares, float32[batch], that they keep of themselves."""
        raise NotImplementedError


@dataclasses.dataclass(frozen=True)
class MixUp(_Mix):
    """Blends each example with another of its batch (Zhang et al. 2017, arXiv:1710.09412).

    An example keeps a share drawn from Beta(alpha, alpha) and takes the rest from its partner,
    image, label vectors and sample weight alike. Partners lie a random number of places apart in
    the batch, the same for all, so nobody is paired with itself unless alone.

    ``keras.layers.MixUp`` draws in the order of calls, so that results depend on the number of
    workers.

    Attributes:
        alpha: Both parameters of the beta distribution, 0.01..100; the larger, the stronger the
            mixing.
        probability: Share of the examples that are mixed.
    """

    alpha: float = 0.2

    def _mixed(self, images: Any, partner: Any, share: Any, seed: Any) -> tuple[Any, Any]:
        del seed
        return _blend(images, partner, share), share


@dataclasses.dataclass(frozen=True)
class CutMix(_Mix):
    """Pastes a rectangle of another example into each (Yun et al. 2019, arXiv:1905.04899).

    An example keeps a share drawn from Beta(alpha, alpha). The rectangle has the rest of the area
    and the image's aspect ratio; its centre is uniform, and what lies outside the image is cut off.
    Label vectors and sample weights are mixed by the area truly pasted, counted in pixels. Partners
    are as in ``MixUp``; the rectangles differ within the batch.

    ``keras.layers.CutMix`` draws in the order of calls, so that results depend on the number of
    workers, and mixes labels by a rectangle whose sides aren't whole pixels.

    Attributes:
        alpha: Both parameters of the beta distribution, 0.01..100.
        probability: Share of the examples that are mixed.
    """

    def _mixed(self, images: Any, partner: Any, share: Any, seed: Any) -> tuple[Any, Any]:
        shape = tf.shape(images)
        centres = draws.uniform(seed, [2, shape[0]])
        sides = tf.sqrt(1.0 - share)
        rows, height = _span(centres[0], sides, shape[1])
        columns, width = _span(centres[1], sides, shape[2])
        pasted = tf.cast(height * width, tf.float32) / tf.cast(shape[1] * shape[2], tf.float32)
        # One axis for columns and channels: broadcasting over a last axis of three is slow.
        flat = tf.reshape(images, [shape[0], shape[1], -1])
        inside = rows[:, :, None] & tf.repeat(columns, shape[3], axis=1)[:, None, :]
        result = tf.where(inside, tf.gather(flat, partner), flat)
        return tf.ensure_shape(tf.reshape(result, shape), images.shape), 1.0 - pasted


def _partners(seed: Any, size: Any) -> Any:
    """Returns int32[size]: whom each example is mixed with."""
    apart = tf.cast(draws.uniform(seed, []) * tf.cast(size - 1, tf.float32), tf.int32) + 1
    return (tf.range(size) + tf.minimum(apart, tf.maximum(size - 1, 1))) % size


def _beta(seed: Any, size: Any, alpha: float) -> Any:
    """Returns float32[size] from Beta(alpha, alpha)."""
    gammas = tf.random.stateless_gamma(
        [2, size], seed, alpha=tf.constant(alpha, tf.float64), dtype=tf.float64
    )
    return tf.cast(gammas[0] / (gammas[0] + gammas[1]), tf.float32)


def _blend(values: Any, partner: Any, share: Any) -> Any:
    """Returns ``share`` of the values, [batch, …], and the rest of their partners'."""
    own = tf.cast(values, tf.float32)
    share = tf.reshape(share, [-1] + [1] * (len(values.shape) - 1))
    result = own + (1.0 - share) * (tf.gather(own, partner) - own)
    if not values.dtype.is_floating:
        result = tf.saturate_cast(tf.round(result), values.dtype)
    return tf.ensure_shape(tf.cast(result, values.dtype), values.shape)


def _span(centre: Any, side: Any, length: Any) -> tuple[Any, Any]:
    """Returns bool[batch, length], true within the side's share, and the number of those."""
    extent = tf.cast(length, tf.float32)
    half = tf.round(side * extent) / 2
    low = tf.clip_by_value(tf.cast(tf.round(centre * extent - half), tf.int32), 0, length)
    high = tf.clip_by_value(tf.cast(tf.round(centre * extent + half), tf.int32), 0, length)
    at = tf.range(length)[None]
    return (at >= low[:, None]) & (at < high[:, None]), high - low


def _check_labels(batch: Example, name: str) -> None:
    label = tf.convert_to_tensor(batch["label"])
    if not label.dtype.is_floating or label.shape.rank != 2:
        raise ValueError(
            f"{name} needs labels as vectors: put OneHot before it (one_hot=True in presets). "
            f"Received: label of dtype {label.dtype.name} and shape {label.shape}"
        )

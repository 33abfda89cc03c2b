"""RandAugment and TrivialAugmentWide."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from kfood_tfds.postprocessing import checks, draws, enhance, geometry
from kfood_tfds.postprocessing.decoding import IMAGE
from kfood_tfds.postprocessing.ops import Example, RandomPixelOp, split_seed


@dataclasses.dataclass(frozen=True)
class _Space:
    """What the operations do at the highest magnitude; all are linear in it, and 0 does nothing.

    Attributes:
        shear: Factor of the shears.
        shift_share: Translation as a share of the image's side; None for ``shift_pixels``.
        shift_pixels: Translation in pixels.
        degrees: Angle of the rotation.
        enhance: Distance from 1 of the factors of brightness, colour, contrast and sharpness.
        bits: Number of bits that posterizing takes away.
    """

    shear: float
    shift_share: float | None
    shift_pixels: float
    degrees: float
    enhance: float
    bits: int


_RAND = _Space(0.3, 150 / 331, 0.0, 30.0, 0.9, 4)
_TRIVIAL_WIDE = _Space(0.99, None, 32.0, 135.0, 0.99, 6)


@dataclasses.dataclass(frozen=True)
class _AutoAugment(RandomPixelOp):
    """What both ops share.

    Attributes:
        fill: Level 0..255 of what comes in from outside the image, or three, for R, G and B.
        interpolation: Of rotation and shears: ``"nearest"`` or ``"bilinear"``.
    """

    fill: draws.Fill = dataclasses.field(default=0.0, kw_only=True)
    interpolation: str = dataclasses.field(default="nearest", kw_only=True)

    def __post_init__(self) -> None:
        """Checks the fields."""
        super().__post_init__()
        draws.check_fill("fill", self.fill)
        checks.choice("interpolation", self.interpolation, geometry.INTERPOLATIONS)

    def _operations(self, space: _Space) -> tuple[Callable[[Any, Any, Any], Any], ...]:
        """Returns the operations: (uint8 image, magnitude 0..1, sign) -> uint8 image."""
        fill, how = self.fill, self.interpolation

        def factor(magnitude: Any, sign: Any) -> Any:
            return tf.cast(1.0 + sign * magnitude * space.enhance, tf.float32)

        def shift(image: Any, axis: int, magnitude: Any, sign: Any) -> Any:
            most = space.shift_pixels
            if space.shift_share is not None:
                most = space.shift_share * tf.cast(tf.shape(image)[axis], tf.float64)
            return tf.cast(tf.round(sign * magnitude * most), tf.int32)

        return (
            lambda image, m, s: image,
            lambda image, m, s: geometry.shear_x(image, s * m * space.shear, fill, how),
            lambda image, m, s: geometry.shear_y(image, s * m * space.shear, fill, how),
            lambda image, m, s: geometry.translate(image, 0, shift(image, 1, m, s), fill),
            lambda image, m, s: geometry.translate(image, shift(image, 0, m, s), 0, fill),
            lambda image, m, s: geometry.rotate(image, s * m * space.degrees, fill, how),
            lambda image, m, s: enhance.brightness(image, factor(m, s)),
            lambda image, m, s: enhance.color(image, factor(m, s)),
            lambda image, m, s: enhance.contrast(image, factor(m, s)),
            lambda image, m, s: enhance.sharpness(image, factor(m, s)),
            lambda image, m, s: enhance.posterize(image, 8 - tf.round(m * space.bits)),
            lambda image, m, s: enhance.solarize(image, tf.cast(256.0 * (1.0 - m), tf.float32)),
            lambda image, m, s: enhance.autocontrast(image),
            lambda image, m, s: enhance.equalize(image),
        )

    def _applied(self, image: Any, space: _Space, units: Any, magnitude: Any) -> Any:
        """Applies the operation that ``units``, two draws 0..1 for it and its sign, select."""
        operations = self._operations(space)
        # As in Pillow, parameters are float64: it cuts off fractions, so a rounding error shows.
        sign = tf.where(units[1] < 0.5, tf.constant(-1.0, tf.float64), 1.0)

        def branch(operation: Callable[[Any, Any, Any], Any]) -> Callable[[], Any]:
            return lambda: tf.ensure_shape(operation(image, magnitude, sign), image.shape)

        chosen = draws.integers(units[0], len(operations))
        return tf.switch_case(chosen, [branch(operation) for operation in operations])


@dataclasses.dataclass(frozen=True)
class RandAugment(_AutoAugment):
    """Applies random operations, all of one magnitude (Cubuk et al. 2019, arXiv:1909.13719).

    The 14 operations, their ranges and the 31 bins of magnitude are torchvision's: identity, shear
    x and y (to 0.3), translate x and y (to 150/331 of the side), rotate (to 30 degrees),
    brightness, colour, contrast, sharpness (factor 1 +- 0.9), posterize (to 4 bits), solarize,
    autocontrast and equalize. Signs are drawn. They run on uint8, and those on values give Pillow's
    bytes. Two details differ from torchvision: solarizing starts from threshold 256, so that
    magnitude 0 does nothing, and translations are rounded to whole pixels, not cut.

    ``keras.layers.RandAugment`` draws in the order of calls, so that results depend on the number
    of workers.

    Attributes:
        num_ops: Number of operations, one after another.
        magnitude: Their magnitude, 0..num_magnitude_bins - 1.
        num_magnitude_bins: Number of magnitudes.
        fill: Level 0..255 of what comes in from outside the image, or three, for R, G and B.
        interpolation: Of rotation and shears: ``"nearest"`` or ``"bilinear"``.
    """

    num_ops: int = 2
    magnitude: int = 9
    num_magnitude_bins: int = 31

    def __post_init__(self) -> None:
        """Checks the fields."""
        super().__post_init__()
        checks.integer("num_ops", self.num_ops, 0)
        checks.integer("num_magnitude_bins", self.num_magnitude_bins, 2)
        checks.integer("magnitude", self.magnitude, 0)
        if self.magnitude >= self.num_magnitude_bins:
            raise ValueError(
                f"magnitude must be below num_magnitude_bins, {self.num_magnitude_bins}. "
                f"Received: magnitude={self.magnitude!r}"
            )

    def draw(self, example: Example, seed: Any) -> Example:
        """Sets ``"image"``: uint8 or float32[h, w, 3] in 0..255, as it came, rounded."""
        dtype = example[IMAGE].dtype
        image = _as_bytes(example[IMAGE])
        magnitude = tf.constant(self.magnitude / (self.num_magnitude_bins - 1), tf.float64)
        for key in split_seed(seed, self.num_ops):
            image = self._applied(image, _RAND, draws.uniform(key, [2]), magnitude)
        example[IMAGE] = tf.cast(image, dtype)
        return example


@dataclasses.dataclass(frozen=True)
class TrivialAugmentWide(_AutoAugment):
    """Applies one operation of random magnitude (Müller and Hutter 2021, arXiv:2103.10158).

    Operations are those of ``RandAugment``, in the paper's wide ranges: shear to 0.99, translation
    to 32 pixels, rotation to 135 degrees, factors 1 +- 0.99, posterize to 2 bits. The magnitude is
    one of the bins, each equally likely. Keras has no such layer.

    Attributes:
        num_magnitude_bins: Number of magnitudes.
        fill: Level 0..255 of what comes in from outside the image, or three, for R, G and B.
        interpolation: Of rotation and shears: ``"nearest"`` or ``"bilinear"``.
    """

    num_magnitude_bins: int = 31

    def __post_init__(self) -> None:
        """Checks the fields."""
        super().__post_init__()
        checks.integer("num_magnitude_bins", self.num_magnitude_bins, 2)

    def draw(self, example: Example, seed: Any) -> Example:
        """Sets ``"image"``: uint8 or float32[h, w, 3] in 0..255, as it came, rounded."""
        dtype = example[IMAGE].dtype
        units = draws.uniform(seed, [3])
        bins = self.num_magnitude_bins
        magnitude = tf.cast(draws.integers(units[2], bins), tf.float64) / (bins - 1)
        image = self._applied(_as_bytes(example[IMAGE]), _TRIVIAL_WIDE, units, magnitude)
        example[IMAGE] = tf.cast(image, dtype)
        return example


def _as_bytes(image: Any) -> Any:
    return image if image.dtype == tf.uint8 else tf.saturate_cast(tf.round(image), tf.uint8)

"""Ops on values: scaling, normalising, one-hot labels."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import tensorflow as tf

from kfood_tfds.postprocessing import checks
from kfood_tfds.postprocessing.decoding import IMAGE
from kfood_tfds.postprocessing.ops import Example, Op, PixelOp

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)
# Channel means of ImageNet in the order BGR, as Caffe's models subtract them.
CAFFE_MEAN = (103.939, 116.779, 123.68)
SCALES = ("unit", "symmetric", "imagenet", "caffe", "none")
NUM_CLASSES = 150
NUM_CATEGORIES = 27


@dataclasses.dataclass(frozen=True)
class Scale(PixelOp):
    """Brings pixel values from 0..255 to the range a model was trained on, as float32.

    Attributes:
        mode: ``"unit"``: 0..1. ``"symmetric"``: -1..1. ``"imagenet"``: 0..1, then less ImageNet's
            channel means, by its standard deviations. ``"caffe"``: BGR less ImageNet's means, not
            scaled. ``"none"``: 0..255.
    """

    batchable: ClassVar[bool] = True
    mode: str = "unit"

    def __post_init__(self) -> None:
        """Checks the fields."""
        checks.choice("mode", self.mode, SCALES)

    def apply(self, example: Example) -> Example:
        """Sets ``"image"`` to float32 of the same shape."""
        image = tf.cast(example[IMAGE], tf.float32)
        if self.mode == "unit":
            image = image / 255.0
        elif self.mode == "symmetric":
            image = image / 127.5 - 1.0
        elif self.mode == "imagenet":
            image = _normalized(image, IMAGENET_MEAN, IMAGENET_STD)
        elif self.mode == "caffe":
            image = image[..., ::-1] - tf.constant(CAFFE_MEAN)
        example[IMAGE] = image
        return example


@dataclasses.dataclass(frozen=True)
class Normalize(PixelOp):
    """Scales pixels to 0..1, subtracts the mean and divides by the standard deviation, per channel.

    Attributes:
        mean: R, G, B in 0..1.
        std: R, G, B in 0..1, above 0.
    """

    batchable: ClassVar[bool] = True
    mean: tuple[float, float, float]
    std: tuple[float, float, float]

    def __post_init__(self) -> None:
        """Checks the fields."""
        for name, values in (("mean", self.mean), ("std", self.std)):
            if not isinstance(values, tuple) or len(values) != 3:
                raise ValueError(f"{name} must be a tuple of three. Received: {name}={values!r}")
            for value in values:
                checks.number(name, value, 0.0, 1.0, open_low=name == "std")

    @classmethod
    def from_info(cls, info: Any, split: str = "train") -> Normalize:
        """Takes the figures of a built data set.

        Args:
            info: The ``tfds.core.DatasetInfo`` of ``kfood``.
            split: Split whose figures to use; that of training, to leak nothing.

        Raises:
            ValueError: If the metadata has no figures for the split.
        """
        metadata = info.metadata or {}
        try:
            mean, std = (metadata[key][split] for key in ("mean", "std"))
        except KeyError as error:
            raise ValueError(
                f"The data set's metadata has no channel statistics for split {split!r}; build it "
                f"with kfood_tfds, or give mean and std. Received: metadata keys {sorted(metadata)}"
            ) from error
        (r, g, b), (r_std, g_std, b_std) = ([float(v) for v in values] for values in (mean, std))
        return cls((r, g, b), (r_std, g_std, b_std))

    def apply(self, example: Example) -> Example:
        """Sets ``"image"`` to float32 of the same shape."""
        example[IMAGE] = _normalized(tf.cast(example[IMAGE], tf.float32), self.mean, self.std)
        return example


@dataclasses.dataclass(frozen=True)
class OneHot(Op):
    """Turns integer labels into probabilities, float32[..., n].

    Attributes:
        num_classes: Length of the vector for ``label``.
        smoothing: Share of the probability that is spread evenly over all classes.
        num_categories: Length of the vector for ``category``, where the example has it.
    """

    needs: ClassVar[tuple[str, ...]] = ("label",)
    batchable: ClassVar[bool] = True
    num_classes: int = NUM_CLASSES
    smoothing: float = 0.0
    num_categories: int = NUM_CATEGORIES

    def __post_init__(self) -> None:
        """Checks the fields."""
        checks.integer("num_classes", self.num_classes, 1)
        checks.number("smoothing", self.smoothing, 0.0, 1.0)
        checks.integer("num_categories", self.num_categories, 1)

    def apply(self, example: Example) -> Example:
        """Sets ``"label"`` and ``"category"``.

        Raises:
            tf.errors.InvalidArgumentError: If one has no place in its vector.
        """
        for key, name in (("label", "num_classes"), ("category", "num_categories")):
            if key in example:
                depth = getattr(self, name)
                rest, rule = self.smoothing / depth, f"{name}={depth} must be above every {key}"
                places = checks.known_labels(example[key], depth, rule)
                example[key] = tf.one_hot(places, depth, 1.0 - self.smoothing + rest, rest)
        return example

    def evaluation(self) -> tuple[Op, ...]:
        """The same without smoothing."""
        return (dataclasses.replace(self, smoothing=0.0),)


def _normalized(image: Any, mean: tuple[float, ...], std: tuple[float, ...]) -> Any:
    return (image / 255.0 - tf.constant(mean, tf.float32)) / tf.constant(std, tf.float32)

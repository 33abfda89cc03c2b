"""Ops that narrow the pending window: geometry in whole pixels, no pixel touched.

All of them take one example or many: with n examples every shape has n in front.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, ClassVar

import tensorflow as tf

from kfood_tfds.postprocessing import checks
from kfood_tfds.postprocessing.decoding import WINDOW, image_size, pending_window
from kfood_tfds.postprocessing.draws import uniform_of_each
from kfood_tfds.postprocessing.ops import Example, Op, RandomOp


@dataclasses.dataclass(frozen=True)
class CropToBox(Op):
    """Narrows the window to the example's crop box.

    The box's fractions times the image's size, rounded, are the annotated pixels again. A box that
    lies outside the pending window, or is empty, changes nothing.

    Attributes:
        margin: Share of the box's height and width to add on each side, as far as the window goes.
    """

    needs: ClassVar[tuple[str, ...]] = ("image", "crop")
    takes_many: ClassVar[bool] = True
    margin: float = 0.0

    def __post_init__(self) -> None:
        """Checks the fields."""
        checks.number("margin", self.margin, 0.0, 10.0)

    def apply(self, example: Example) -> Example:
        """Sets the pending window."""
        window = pending_window(example)
        low, high = box_in_pixels(example, self.margin)
        first, extent = tf.split(window, 2, axis=-1)
        low = tf.maximum(low, first)
        size = tf.minimum(high, first + extent) - low
        box = tf.concat([low, size], axis=-1)
        example[WINDOW] = tf.where(_has_area(size), box, window)
        return example


@dataclasses.dataclass(frozen=True)
class CentralSquare(Op):
    """Narrows the window to the largest square in its middle."""

    takes_many: ClassVar[bool] = True

    def apply(self, example: Example) -> Example:
        """Sets the pending window."""
        first, extent = tf.split(pending_window(example), 2, axis=-1)
        side = _shorter(extent)
        example[WINDOW] = tf.concat([first + (extent - side) // 2, side, side], axis=-1)
        return example


@dataclasses.dataclass(frozen=True)
class RandomSquare(RandomOp):
    """Narrows the window to a square at a random place in it.

    Attributes:
        scale: Side of the square as a share of the window's shorter side.
    """

    takes_many: ClassVar[bool] = True
    scale: float = 0.9

    def __post_init__(self) -> None:
        """Checks the fields."""
        super().__post_init__()
        checks.number("scale", self.scale, 0.0, 1.0, open_low=True)

    def draw(self, example: Example, seed: Any) -> Example:
        """Sets the pending window."""
        window = pending_window(example)
        example[WINDOW] = square_at_random(window, side_of_share(window, self.scale), seed)
        return example

    def evaluation(self) -> tuple[Op, ...]:
        """The largest square in the middle."""
        return (CentralSquare(),)


@dataclasses.dataclass(frozen=True)
class RandomResizedCrop(RandomOp):
    """Narrows the window to a part of random area, aspect and place.

    Candidates are drawn as in Inception's augmentation (arXiv:1409.4842, section 6). The first one
    that fits and covers enough of the crop box is taken; if none does, the largest part with an
    allowed aspect around the box's middle; if that covers too little as well, the whole window.

    Attributes:
        area: Bounds of the part's share of the window's area.
        aspect: Bounds of its width divided by its height, drawn log-uniformly. (`RandomErasing` has
            height over width.)
        min_box_overlap: Share of the crop box (inside the window) that the part covers at least;
            with 0.0 the feature ``crop`` isn't needed.
    """

    takes_many: ClassVar[bool] = True
    area: tuple[float, float] = (0.08, 1.0)
    aspect: tuple[float, float] = (3 / 4, 4 / 3)
    min_box_overlap: float = 0.0

    _ATTEMPTS: ClassVar[int] = 16

    def __post_init__(self) -> None:
        """Checks the fields."""
        super().__post_init__()
        checks.interval("area", self.area, 0.0, 1.0)
        checks.interval("aspect", self.aspect, 0.0, 100.0)
        checks.number("min_box_overlap", self.min_box_overlap, 0.0, 1.0)

    def draw(self, example: Example, seed: Any) -> Example:
        """Sets the pending window.

        Raises:
            ValueError: If an overlap is asked for and the example has no ``crop``.
        """
        if self.min_box_overlap and "crop" not in example:
            raise ValueError(
                "RandomResizedCrop with min_box_overlap needs the feature 'crop'; leave it in the "
                f"data set. Received: example with keys {sorted(example)}"
            )
        window = pending_window(example)
        first, extent = tf.split(window, 2, axis=-1)
        whole = tf.concat([tf.zeros_like(extent), extent], axis=-1)
        box = self._box(example, window, whole)
        candidates = self._candidates(tf.cast(extent, tf.float32), box, seed)
        inside = candidates[..., :2] + candidates[..., 2:] <= extent[..., None, :]
        fits = tf.reduce_all((candidates[..., 2:] >= 1) & inside, axis=-1)
        spare = tf.stack([self._largest(extent, box), whole], axis=-2)
        candidates = tf.concat([candidates, spare], axis=-2)
        fits = tf.concat([fits, tf.ones_like(spare[..., 0], tf.bool)], axis=-1)
        covers = _overlap(candidates, box[..., None, :]) >= self.min_box_overlap
        # The whole window always qualifies; without this, rounding could leave no candidate at all.
        number = candidates.shape[-2]
        chosen = (fits & covers) | tf.one_hot(number - 1, number, True, False)
        place = tf.argmax(tf.cast(chosen, tf.int32), axis=-1)
        part = tf.gather(candidates, place, batch_dims=window.shape.rank - 1)
        example[WINDOW] = tf.concat([first + part[..., :2], part[..., 2:]], axis=-1)
        return example

    def evaluation(self) -> tuple[Op, ...]:
        """The largest square in the middle."""
        return (CentralSquare(),)

    def _box(self, example: Example, window: Any, whole: Any) -> Any:
        """Returns the crop box in the window's frame, int32[4]: y, x, height, width."""
        if not self.min_box_overlap:
            return whole
        first, extent = tf.split(window, 2, axis=-1)
        low, high = box_in_pixels(example, 0.0)
        low = tf.maximum(low - first, 0)
        size = tf.minimum(high - first, extent) - low
        return tf.where(_has_area(size), tf.concat([low, size], axis=-1), whole)

    def _candidates(self, extent: Any, box: Any, seed: Any) -> Any:
        """Returns parts to choose from, int32[n, 4]; those that can't fit have no place inside."""
        draws = uniform_of_each(seed, [4, self._ATTEMPTS])
        areas, aspects, *places = tf.unstack(draws, axis=-2)
        area = self.area[0] + areas * (self.area[1] - self.area[0])
        logs = tf.math.log(tf.constant(self.aspect, tf.float32))
        aspect = tf.exp(logs[0] + aspects * (logs[1] - logs[0]))
        pixels = area * extent[..., :1] * extent[..., 1:]
        sides = [tf.sqrt(pixels / aspect), tf.sqrt(pixels * aspect)]
        size = tf.floor(tf.stack(sides, axis=-1) + 0.5)
        where = tf.stack(places, axis=-1)
        last = tf.maximum(extent[..., None, :] - size, 0.0)
        parts = [tf.concat([_between(where, 0.0, last), size], axis=-1)]
        if self.min_box_overlap:
            # The same sizes once more, where they cover enough of the box along both axes.
            low, length = tf.split(tf.cast(box, tf.float32)[..., None, :], 2, axis=-1)
            least = tf.math.ceil(length * math.sqrt(self.min_box_overlap))
            first = tf.maximum(low + least - size, 0.0)
            last = tf.maximum(tf.minimum(low + length - least, last), first)
            parts.append(tf.concat([_between(where, first, last), size], axis=-1))
        return tf.cast(tf.concat(parts, axis=-2), tf.int32)

    def _largest(self, extent: Any, box: Any) -> Any:
        """Returns the largest part with an allowed aspect, around the box's middle; int32[4]."""
        height, width = tf.split(tf.cast(extent, tf.float32), 2, axis=-1)
        sides = [
            tf.minimum(height, width / self.aspect[0]),
            tf.minimum(width, height * self.aspect[1]),
        ]
        size = tf.cast(tf.maximum(tf.concat(sides, axis=-1), 1.0), tf.int32)
        place = box[..., :2] + (box[..., 2:] - size) // 2
        return tf.concat([tf.clip_by_value(place, 0, extent - size), size], axis=-1)


@dataclasses.dataclass(frozen=True)
class FixedWindow(RandomOp):
    """Cuts a square of ``size`` pixels out, so that no resizing is needed.

    A pending window (the crop box, say) that is too small is first widened evenly, as far as the
    image goes. Only where the image itself is too small is the square smaller, and ``Resize``
    enlarges it.

    Attributes:
        size: Side of the square, pixels.
        position: ``"random"`` or ``"central"``.
    """

    takes_many: ClassVar[bool] = True
    size: int
    position: str = "random"

    def __post_init__(self) -> None:
        """Checks the fields."""
        super().__post_init__()
        checks.integer("size", self.size, 1)
        checks.choice("position", self.position, ("random", "central"))

    @property
    def is_random(self) -> bool:
        """Whether the place is drawn."""
        return self.position == "random"

    def draw(self, example: Example, seed: Any) -> Example:
        """Sets the pending window."""
        window = widened(pending_window(example), self.size, image_size(example))
        first, extent = tf.split(window, 2, axis=-1)
        side = tf.minimum(_shorter(extent), self.size)
        if self.position == "random":
            example[WINDOW] = square_at_random(window, side, seed)
        else:
            example[WINDOW] = tf.concat([first + (extent - side) // 2, side, side], axis=-1)
        return example

    def evaluation(self) -> tuple[Op, ...]:
        """The same in the middle."""
        return (FixedWindow(self.size, "central"),)


def box_in_pixels(example: Example, margin: float) -> tuple[Any, Any]:
    """Returns the crop box's corners (y, x), int32[2] each, widened by a share of its size."""
    box = tf.cast(example["crop"], tf.float32)
    if margin:
        low, high = tf.split(box, 2, axis=-1)
        added = (high - low) * margin
        box = tf.concat([low - added, high + added], axis=-1)
    size = tf.cast(image_size(example), tf.float32)
    corners = tf.cast(tf.round(box * tf.concat([size, size], axis=-1)), tf.int32)
    low, high = tf.split(corners, 2, axis=-1)
    return low, high


def side_of_share(window: Any, share: float) -> Any:
    """Returns int32[1]: a share of the window's shorter side, rounded, but at least 1."""
    shorter = tf.cast(_shorter(window[..., 2:]), tf.float32)
    return tf.maximum(tf.cast(tf.floor(shorter * share + 0.5), tf.int32), 1)


def square_at_random(window: Any, side: Any, seed: Any) -> Any:
    """Returns the window of a square, side int32[1], at a uniformly random place in a window."""
    first, extent = tf.split(window, 2, axis=-1)
    last = tf.cast(extent - side, tf.float32)
    place = _between(uniform_of_each(seed, [2]), 0.0, last)
    return tf.concat([first + tf.cast(place, tf.int32), side, side], axis=-1)


def widened(window: Any, side: int, image: Any) -> Any:
    """Returns the window widened evenly to ``side`` in both directions, where the image allows."""
    first, extent = tf.split(window, 2, axis=-1)
    size = tf.maximum(extent, tf.minimum(side, image))
    low = first - (size - extent) // 2
    return tf.concat([tf.clip_by_value(low, 0, image - size), size], axis=-1)


def _shorter(extent: Any) -> Any:
    """Returns int32[1]: the shorter of height and width."""
    return tf.reduce_min(extent, axis=-1, keepdims=True)


def _has_area(size: Any) -> Any:
    """Returns bool[1]: whether height and width are above 0."""
    return tf.reduce_all(size > 0, axis=-1, keepdims=True)


def _between(draws: Any, first: Any, last: Any) -> Any:
    """Returns whole numbers from first to last, both included, for draws in 0..1."""
    # A draw next to 1 may round up to the number after the last.
    return tf.minimum(first + tf.floor(draws * (last - first + 1.0)), last)


def _overlap(parts: Any, box: Any) -> Any:
    """Returns float32[n]: the share of the box's area that each part covers."""
    low = tf.maximum(parts[..., :2], box[..., :2])
    high = tf.minimum(parts[..., :2] + parts[..., 2:], box[..., :2] + box[..., 2:])
    inside = tf.reduce_prod(tf.cast(tf.maximum(high - low, 0), tf.float32), axis=-1)
    return inside / tf.reduce_prod(tf.cast(box[..., 2:], tf.float32), axis=-1)

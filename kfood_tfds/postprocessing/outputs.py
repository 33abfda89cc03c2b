"""What a batch consists of: images, labels, and on request weights and ids."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from kfood_tfds.postprocessing import checks
from kfood_tfds.postprocessing.decoding import IMAGE
from kfood_tfds.postprocessing.ops import SEED, Example, Op

_LABELS: Mapping[str, tuple[str, ...]] = {
    "class": ("label",),
    "category": ("category",),
    "both": ("label", "category"),
}
_WEIGHT = "sample_weight"
_ID = "id"


@dataclasses.dataclass(frozen=True)
class Columns:
    """The columns of a batch.

    Attributes:
        labels: ``"class"``, ``"category"`` or ``"both"``.
        weights: A key of the examples, weights by label, or None.
        ids: Whether to add the ids.
    """

    labels: str = "class"
    weights: str | tuple[float, ...] | None = None
    ids: bool = False

    def __post_init__(self) -> None:
        """Checks the fields."""
        checks.choice("labels", self.labels, tuple(_LABELS))
        checks.flag("with_ids", self.ids)

    @property
    def needs(self) -> tuple[str, ...]:
        """Keys that the examples must have."""
        keys = [IMAGE, *_LABELS[self.labels]]
        if self.weights is not None:
            keys.append(self.weights if isinstance(self.weights, str) else "label")
        return tuple(dict.fromkeys([*keys, _ID] if self.ids else keys))

    def before(self, example: Example) -> Example:
        """Returns what must be read off an example before the ops change it."""
        if self.weights is None:
            return {}
        if isinstance(self.weights, str):
            return {_WEIGHT: tf.cast(example[self.weights], tf.float32)}
        number = len(self.weights)
        rule = f"sample_weights must have a weight for every class; there are {number} for labels"
        labels = checks.known_labels(example["label"], number, rule)
        return {_WEIGHT: tf.gather(tf.constant(self.weights, tf.float32), labels)}

    def kept(self, example: Example, batch_ops: Sequence[Op]) -> Example:
        """Returns the example without what neither the batch nor an op on batches needs."""
        keys = {IMAGE, *_LABELS[self.labels], _WEIGHT}
        if self.ids or batch_ops:
            keys.add(_ID)
        if batch_ops:
            keys |= {SEED, *(key for op in batch_ops for key in op.needs)}
        return {key: value for key, value in example.items() if key in keys}

    def after(self, batch: Example) -> tuple[Any, ...]:
        """Returns the batch as Keras takes it."""
        keys = _LABELS[self.labels]
        labels = {key: batch[key] for key in keys} if len(keys) > 1 else batch[keys[0]]
        more = [batch[_WEIGHT]] if self.weights is not None else []
        return (batch[IMAGE], labels, *more, *([batch[_ID]] if self.ids else []))


def weights(
    given: str | Sequence[float] | Mapping[int, float] | None,
) -> str | tuple[float, ...] | None:
    """Returns sample weights as a key or as a tuple by label.

    Raises:
        ValueError: If they are not finite numbers from 0 on, or a mapping leaves out a label.
    """
    if given is None or isinstance(given, str):
        return given
    if isinstance(given, Mapping):
        if sorted(given) != list(range(len(given))):
            raise ValueError(
                "sample_weights must have a weight for each label from 0 on. "
                f"Received: labels {sorted(given)}"
            )
        given = [given[label] for label in range(len(given))]
    values = tuple(float(value) for value in given)
    for value in values:
        checks.number("each of sample_weights", value, 0.0, float("inf"))
    return values

"""Class counts, and weights that make up for classes of unequal size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kfood_tfds.raw.classes import load_class_table

SCHEMES = ("balanced", "sqrt", "effective")
BETA = 0.999

Counts = NDArray[np.int64]


def class_counts(source: Any, split: str | None = None, num_classes: int | None = None) -> Counts:
    """Returns how many examples each class has, int64[classes].

    Args:
        source: The ``tfds.core.DatasetInfo`` of ``kfood``, whose metadata has the counts; or a
            ``tf.data.Dataset`` of example dicts, which is read once from end to end; or a source
            with a method ``column``, such as ``random_access`` gives.
        split: Name of the split; for an info only, and needed there.
        num_classes: Length of the result; by default that of the label feature, or 150 where the
            source doesn't tell.

    Raises:
        ValueError: If the info has no counts for the split, or a label lies beyond ``num_classes``.
    """
    if hasattr(source, "metadata"):
        return _resized(_from_metadata(source, split), num_classes)
    if hasattr(source, "column"):
        labels = np.asarray(source.column("label"), dtype=np.int64)
        own = source.info.features["label"].num_classes if hasattr(source, "info") else None
        return count_labels(labels, num_classes or own or len(load_class_table().classes))
    if hasattr(source, "element_spec"):
        return _from_dataset(source, num_classes or len(load_class_table().classes))
    raise ValueError(
        "class_counts takes a DatasetInfo with a split, a tf.data.Dataset of examples or a source. "
        f"Received: source of type {type(source).__name__}"
    )


def count_labels(labels: ArrayLike, num_classes: int) -> Counts:
    """Returns the counts of integer labels, int64[num_classes].

    Raises:
        ValueError: If a label is not in 0..num_classes-1.
    """
    array = np.asarray(labels, dtype=np.int64).ravel()
    if array.size and (array.min() < 0 or array.max() >= num_classes):
        raise ValueError(
            f"Labels must be in 0..{num_classes - 1}; for another class table give num_classes. "
            f"Received: labels from {array.min()} to {array.max()}"
        )
    return np.bincount(array, minlength=num_classes).astype(np.int64)


def class_weights(
    source: Any, split: str | None = None, scheme: str = "balanced", *, beta: float = BETA
) -> dict[int, float]:
    """Returns a weight per class for ``model.fit(class_weight=…)``, as ``{label: weight}``.

    With n examples in all, n_c of class c and k classes that have any:

    * ``"balanced"``: n / (k n_c), as scikit-learn's ``compute_class_weight``; in all, each class
      weighs the same.
    * ``"sqrt"``: in proportion to 1 / sqrt(n_c), halfway to balanced, as in Mahajan et al.,
      "Exploring the Limits of Weakly Supervised Pretraining" (2018).
    * ``"effective"``: in proportion to (1 - beta) / (1 - beta^n_c), the inverse of the effective
      number of samples in Cui et al., "Class-Balanced Loss Based on Effective Number of Samples"
      (2019).

    All are scaled so that the mean weight over the examples is 1, which keeps the loss and with it
    the learning rate in place. A class without examples gets 1, which is what Keras takes for a
    class that the dict leaves out.

    Args:
        source: Counts by label, or anything that ``class_counts`` takes.
        split: Name of the split, where the source is an info.
        scheme: ``"balanced"``, ``"sqrt"`` or ``"effective"``.
        beta: Of the scheme ``"effective"``, in 0..1 exclusive of 1; 0 weighs all classes the same.

    Raises:
        ValueError: If there are no examples, or an argument is invalid.
    """
    counts = as_counts(source, split)
    present = counts > 0
    number = counts[present].astype(np.float64)
    if scheme == "balanced":
        relative = 1.0 / number
    elif scheme == "sqrt":
        relative = 1.0 / np.sqrt(number)
    elif scheme == "effective":
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"beta must be in 0..1, below 1. Received: beta={beta!r}")
        relative = (1.0 - beta) / (1.0 - np.power(beta, number))
    else:
        raise ValueError(f"scheme must be one of {SCHEMES}. Received: scheme={scheme!r}")
    weights = np.ones(len(counts))
    weights[present] = relative * number.sum() / np.dot(relative, number)
    return dict(enumerate(weights.tolist()))


def example_weights(labels: Any, weights: Mapping[int, float]) -> Any:
    """Returns the weight of each example, for batches ``(x, y, w)``.

    Args:
        labels: A numpy array or a tensor: int[n], or float[n, classes] as one-hot labels are. Of
            soft labels, smoothed or mixed, it is the mean weight under the label's probabilities.
        weights: Weight of each label from 0 on, as ``class_weights`` gives it.

    Returns:
        float32[n], an array or a tensor as the labels are.

    Raises:
        ValueError: If the weights leave out a label, or don't fit one-hot labels.
        tf.errors.InvalidArgumentError: If a label in a tensor has no weight.
    """
    table = _weight_table(weights)
    if isinstance(labels, np.ndarray | list | tuple):
        array = np.asarray(labels)
        if array.ndim == 2:
            _check_width(array.shape[-1], table)
            return (array @ table).astype(np.float32)
        if array.size and (array.min() < 0 or array.max() >= len(table)):
            raise ValueError(
                f"There must be a weight for each label up to {array.max()}. "
                f"Received: {len(table)} weights"
            )
        return table[array]
    import tensorflow as tf

    if labels.shape.rank == 2:
        _check_width(labels.shape[-1], table)
        return tf.linalg.matvec(tf.cast(labels, tf.float32), tf.constant(table))
    return tf.gather(tf.constant(table), checked_labels(labels, len(table), "weight"))


def checked_labels(labels: Any, known: int, kind: str) -> Any:
    """Returns integer labels as a tensor that fails by name where a table has no entry for one.

    Args:
        labels: Integers of any shape.
        known: Number of the table's entries.
        kind: What the table has, for the error's text, such as ``"weight"``.

    Raises:
        tf.errors.InvalidArgumentError: If a label is not in 0..known-1.
    """
    from kfood_tfds.postprocessing.checks import known_labels

    rule = f"There must be a {kind} for each label, and there are {known}; give one for every class"
    return known_labels(labels, known, rule)


def add_weights(weights: Mapping[int, float]) -> Callable[[Any, Any], tuple[Any, Any, Any]]:
    """Returns a map from ``(x, y)`` to ``(x, y, w)``, for ``batches.map(add_weights(weights))``.

    Args:
        weights: Weight of each label from 0 on, as ``class_weights`` gives it.

    Raises:
        ValueError: If the weights leave out a label.
    """
    _weight_table(weights)

    def weighted(images: Any, labels: Any) -> tuple[Any, Any, Any]:
        return images, labels, example_weights(labels, weights)

    return weighted


def as_counts(source: Any, split: str | None = None) -> Counts:
    """Returns counts by label from counts, or from anything that ``class_counts`` takes.

    Raises:
        ValueError: If they are no whole numbers from 0 on, or all 0.
    """
    if any(hasattr(source, name) for name in ("metadata", "column", "element_spec")):
        counts = class_counts(source, split)
    else:
        counts = np.asarray(source)
    if counts.ndim != 1 or counts.dtype.kind not in "iu" or counts.size == 0 or counts.min() < 0:
        raise ValueError(
            "Class counts must be int[classes], from 0 on. "
            f"Received: {counts.dtype}{list(counts.shape)} {counts.ravel()[:5].tolist()}"
        )
    if not counts.any():
        raise ValueError(
            "No class has any example, so there is nothing to balance. Received: all 0"
        )
    return counts.astype(np.int64)


def _from_metadata(info: Any, split: str | None) -> Counts:
    if split is None:
        raise ValueError("The counts of an info are by split; name one. Received: split=None")
    counts = (info.metadata or {}).get("class_counts", {})
    if split not in counts:
        raise ValueError(
            f"The data set's metadata has class counts for the splits {sorted(counts)} only; for "
            "another split, or a part of one, give the data set itself: class_counts(ds). "
            f"Received: split={split!r}"
        )
    return np.asarray(counts[split], dtype=np.int64)


def _resized(counts: Counts, num_classes: int | None) -> Counts:
    """Returns the counts of so many classes, if none beyond has examples."""
    if num_classes is None:
        return counts
    return count_labels(np.repeat(np.arange(len(counts)), counts), num_classes)


def _from_dataset(ds: Any, num_classes: int) -> Counts:
    import tensorflow as tf

    if not isinstance(ds.element_spec, Mapping) or "label" not in ds.element_spec:
        raise ValueError(
            "Counting takes example dicts with a label; load the data set without "
            f"as_supervised=True. Received: elements {ds.element_spec}"
        )
    labels = ds.map(lambda example: example["label"], num_parallel_calls=tf.data.AUTOTUNE)
    total = np.zeros(num_classes, np.int64)
    for batch in labels.batch(1024).as_numpy_iterator():
        total += count_labels(batch, num_classes)
    return total


def _weight_table(weights: Mapping[int, float]) -> NDArray[np.float32]:
    if not weights or sorted(weights) != list(range(len(weights))):
        raise ValueError(
            "weights must have an entry for each label from 0 on. "
            f"Received: weights for {sorted(weights)[:5]}"
        )
    return np.asarray([weights[label] for label in range(len(weights))], dtype=np.float32)


def _check_width(width: int | None, table: NDArray[np.float32]) -> None:
    if width != len(table):
        raise ValueError(
            "One-hot labels and weights must have as many classes. "
            f"Received: {width} classes in the labels, {len(table)} weights"
        )

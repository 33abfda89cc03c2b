"""Which category each class belongs to: by AI Hub's table, or as the examples have it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kfood_tfds.raw.classes import load_class_table

Categories = NDArray[np.int64]


def category_of_class(source: Any = None, num_classes: int | None = None) -> Categories:
    """Returns the category of each class.

    Args:
        source: None for AI Hub's own table; or a ``tfds.core.DatasetInfo`` with the classes of that
            table; or examples with the features label and category, of any class table: a
            ``tf.data.Dataset`` of example dicts, which is read once from end to end, or what
            ``random_access`` gives.
        num_classes: Length of the result where examples are read; by default that of the source's
            label feature, or as many as the labels need.

    Returns:
        int64[classes]; 0 for classes that have no example to tell.

    Raises:
        ValueError: If the source doesn't tell, or a class has examples of two categories.
    """
    info = source if hasattr(source, "features") else getattr(source, "info", None)
    if source is None or _has_own_classes(info):
        return _of_table()
    columns = _columns(source)
    if columns is None:
        raise ValueError(
            "The category of each class isn't known: the source has other classes than AI Hub's, "
            "and no examples with the features label and category. Give int[classes] as "
            f"categories. Received: source of type {type(source).__name__}"
        )
    if num_classes is None and info is not None:
        num_classes = info.features["label"].num_classes
    return _of_examples(*columns, num_classes)


def default_categories(ds: Any, counts: Any, num_classes: int) -> Categories:
    """Returns the categories for balancing a stream whose categories nobody gave.

    Args:
        ds: The stream; read only if nothing else tells.
        counts: The ``DatasetInfo`` of the stream, if that is where its counts are from.
        num_classes: Number of its classes.

    Raises:
        ValueError: As ``category_of_class``.
    """
    spec = getattr(ds, "element_spec", None)
    if _has_own_classes(counts):
        return _of_table()
    if isinstance(spec, Mapping) and "category" in spec:
        return category_of_class(ds, num_classes)
    # Examples without a category are taken for AI Hub's where they have as many classes.
    return _of_table() if num_classes == len(load_class_table().classes) else category_of_class(ds)


def _of_table() -> Categories:
    table = load_class_table()
    categories = [table.category_index(row.category) for row in table.classes]
    return np.asarray(categories, dtype=np.int64)


def _has_own_classes(info: Any) -> bool:
    try:
        names = tuple(info.features["label"].names)
    # An info of another kind, or labels that have no names.
    except (AttributeError, KeyError, TypeError):
        return False
    return names == load_class_table().names


def _columns(source: Any) -> tuple[ArrayLike, ArrayLike] | None:
    if hasattr(source, "columns"):
        features = getattr(getattr(source, "info", None), "features", ("category",))
        if "category" not in features:
            return None
        columns = source.columns("label", "category")
        return columns["label"], columns["category"]
    spec = getattr(source, "element_spec", None)
    if not isinstance(spec, Mapping) or not {"label", "category"} <= set(spec):
        return None
    few = source.map(lambda example: (example["label"], example["category"]))
    batches = list(few.batch(1024).as_numpy_iterator())
    if not batches:
        return [], []
    labels, categories = (np.concatenate(column) for column in zip(*batches, strict=True))
    return labels, categories


def _of_examples(labels: ArrayLike, categories: ArrayLike, num_classes: int | None) -> Categories:
    pairs = np.stack([np.asarray(labels, np.int64), np.asarray(categories, np.int64)], axis=1)
    pairs = np.unique(pairs, axis=0)
    twice = pairs[1:][pairs[1:, 0] == pairs[:-1, 0]]
    if len(twice):
        label = int(twice[0, 0])
        found = pairs[pairs[:, 0] == label, 1].tolist()
        raise ValueError(
            "To balance by category, all examples of a class must have the same one; give "
            f"int[classes] as categories. Received: label {label} with the categories {found}"
        )
    highest = int(pairs[-1, 0]) + 1 if len(pairs) else 0
    result = np.zeros(max(highest, num_classes or 0), np.int64)
    result[pairs[:, 0]] = pairs[:, 1]
    return result

"""Categories of classes, by AI Hub's table or by the examples."""

from __future__ import annotations

import types
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from kfood_tfds import sampling
from kfood_tfds.raw.classes import load_class_table
from kfood_tfds.sampling.categories import category_of_class, default_categories


def _info(names: tuple[str, ...]) -> Any:
    label = types.SimpleNamespace(names=list(names), num_classes=len(names))
    return types.SimpleNamespace(features={"label": label}, metadata={})


def _stream(labels: list[int], categories: list[int] | None = None) -> tf.data.Dataset:
    columns: dict[str, Any] = {"label": labels, "id": [f"{n}" for n in range(len(labels))]}
    if categories is not None:
        columns["category"] = categories
    return tf.data.Dataset.from_tensor_slices(columns)


def test_by_the_class_table() -> None:
    table = load_class_table()
    categories = category_of_class()
    assert len(categories) == 150 and len(set(categories.tolist())) == 27
    for row in table.classes:
        assert table.categories[categories[row.label]] == row.category
    assert category_of_class(_info(table.names)).tolist() == categories.tolist()


def test_by_examples_of_another_class_table() -> None:
    stream = _stream([3, 0, 3, 1], [1, 0, 1, 1])
    assert category_of_class(stream).tolist() == [0, 1, 0, 1]
    assert category_of_class(stream, 6).tolist() == [0, 1, 0, 1, 0, 0]
    source = types.SimpleNamespace(
        info=_info(("a", "b", "c")),
        columns=lambda *names: {"label": np.array([2, 1]), "category": np.array([4, 3])},
    )
    source.info.features["category"] = None
    assert category_of_class(source).tolist() == [0, 3, 4]


def test_a_class_of_two_categories_is_refused() -> None:
    with pytest.raises(ValueError, match=r"label 1 with the categories \[0, 2\]"):
        category_of_class(_stream([1, 0, 1], [2, 1, 0]))


def test_what_does_not_tell_is_refused() -> None:
    for source in (_info(("a", "b")), _stream([0, 1]), [1, 2]):
        with pytest.raises(ValueError, match="isn't known.*as categories"):
            category_of_class(source)


def test_examples_stand_before_the_table_unless_the_info_has_its_classes() -> None:
    stream = _stream([0, 149], [5, 6])
    assert default_categories(stream, np.ones(150, int), 150)[[0, 149]].tolist() == [5, 6]
    table = category_of_class().tolist()
    assert default_categories(stream, _info(load_class_table().names), 150).tolist() == table
    assert default_categories(_stream([0, 149]), None, 150).tolist() == table


def test_resampling_balances_the_examples_own_categories() -> None:
    # One class of six alone in its category; two of three share the other.
    stream = _stream([0] * 6 + [1] * 3 + [2] * 3, [1] * 6 + [0] * 6)
    resampled = sampling.resample(stream, "balanced_categories", counts=[6, 3, 3])
    labels = [int(example["label"]) for example in resampled]
    assert np.bincount(labels).tolist() == [6, 3, 3]

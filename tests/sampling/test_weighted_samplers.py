"""Weighted and balanced index samplers."""

from __future__ import annotations

import functools
import itertools
import operator
from collections import Counter

import numpy as np
import pytest

from kfood_tfds.sampling.weighted_samplers import Balanced, Weighted


def test_draws_with_replacement_in_proportion() -> None:
    weights = np.array([1.0, 0.0, 3.0, 6.0])
    order = np.array(list(Weighted(weights, 20_000, seed=4)))
    shares = np.bincount(order, minlength=4) / 20_000
    expected = weights / 10
    assert shares[1] == 0
    assert np.all(np.abs(shares - expected) <= 4 * np.sqrt(expected * (1 - expected) / 20_000))


def test_draws_without_replacement_are_distinct_and_leave_out_weight_zero() -> None:
    weights = np.array([1.0, 0.0, 3.0, 6.0, 0.0, 2.0])
    for epoch in range(20):
        order = list(Weighted(weights, 4, replacement=False).at(epoch))
        assert sorted(order) == [0, 2, 3, 5]


def test_draws_without_replacement_have_the_probabilities_of_one_after_the_other() -> None:
    weights = (1.0, 2.0, 4.0)
    runs = 6_000
    sampler = Weighted(weights, 2, replacement=False)
    seen = Counter(tuple(sampler.indices(epoch).tolist()) for epoch in range(runs))
    for first, second in itertools.permutations(range(3), 2):
        chance = weights[first] / 7 * weights[second] / (7 - weights[first])
        share = seen[(first, second)] / runs
        assert abs(share - chance) < 4 * np.sqrt(chance * (1 - chance) / runs)


@pytest.mark.parametrize("weights", [[], [0.0, 0.0], [1.0, -1.0], [np.nan], [np.inf], [[1.0]]])
def test_bad_weights_are_refused(weights: list[float]) -> None:
    with pytest.raises(ValueError, match="weights must be"):
        Weighted(weights, 1)


def test_too_many_without_replacement_are_refused() -> None:
    with pytest.raises(ValueError, match="at most 2 samples"):
        Weighted([1.0, 0.0, 2.0], 3, replacement=False)


def test_balanced_gives_every_class_equally_many() -> None:
    labels = np.repeat([0, 3, 9], [60, 6, 24])
    sampler = Balanced(labels)
    order = np.array(list(sampler))
    assert len(order) == len(sampler) == 90
    assert Counter(labels[order].tolist()) == {0: 30, 3: 30, 9: 30}
    counts = Counter(order.tolist())
    assert {counts[index] for index in range(60, 66)} == {5}
    assert {counts[index] for index in range(60)} == {0, 1}
    assert {counts[index] for index in range(66, 90)} == {1, 2}


def test_balanced_draws_anew_each_epoch_and_reaches_every_example() -> None:
    labels = np.repeat([0, 1], [40, 4])
    sampler = Balanced(labels, per_class=10)
    epochs = [list(sampler) for _ in range(40)]
    assert {len(epoch) for epoch in epochs} == {20}
    assert epochs[0] != epochs[1]
    assert set(functools.reduce(operator.iadd, epochs, [])) == set(range(44))
    assert epochs[1] == list(Balanced(labels, per_class=10).at(1))


def test_balanced_order_mixes_the_classes() -> None:
    labels = np.repeat([0, 1], [50, 50])
    first = labels[list(Balanced(labels))][:50]
    assert 10 < first.sum() < 40


def test_balanced_by_category_then_class() -> None:
    labels = np.repeat([0, 1, 2], [10, 20, 30])
    sampler = Balanced(labels, categories=[0, 0, 1])
    assert Counter(labels[list(sampler)].tolist()) == {0: 15, 1: 15, 2: 30}
    by_name = Balanced(labels, per_class=20, categories={0: 5, 1: 5, 2: 8})
    assert Counter(labels[list(by_name)].tolist()) == {0: 15, 1: 15, 2: 30}


def test_balanced_takes_the_labels_of_a_source() -> None:
    class Source:
        def column(self, name: str) -> np.ndarray:
            return {"label": np.array([2, 2, 4, 4])}[name]

    assert sorted(Balanced(Source())) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"labels": []}, "labels"),
        ({"labels": [0.5]}, "labels"),
        ({"labels": [0, -1]}, r"from 0 on.*\[0, -1\]"),
        ({"labels": [0, 1], "per_class": 0}, "per_class"),
        ({"labels": [0, 7], "categories": [0, 0]}, r"none for \[7\]"),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Balanced(**arguments)

"""Ranges of random parameters, and draws from them, by hand and by counting."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from kfood_tfds.postprocessing import draws


def both_ways(function: Callable[[Any], Any], value: Any) -> np.ndarray:
    """Returns what a function gives eagerly, which must be what it gives inside tf.data."""
    given = tf.constant(value)
    eager = function(given).numpy()
    (inside,) = tf.data.Dataset.from_tensors(given).map(function)
    np.testing.assert_array_equal(inside.numpy(), eager)
    return eager


@pytest.mark.parametrize(
    ("value", "centre", "low", "high", "expected"),
    [
        (0.25, 1.0, 0.0, 10.0, (0.75, 1.25)),
        (0, 1.0, 0.0, 10.0, (1.0, 1.0)),
        (3.0, 1.0, 0.0, 10.0, (0.0, 4.0)),
        (9.0, 1.0, 0.0, 10.0, (0.0, 10.0)),
        (180, 0.0, -180.0, 180.0, (-180.0, 180.0)),
        ((0.5, 0.75), 1.0, 0.0, 10.0, (0.5, 0.75)),
        ((0, 10), 1.0, 0.0, 10.0, (0.0, 10.0)),
    ],
)
def test_a_number_is_a_distance_and_a_pair_the_bounds(
    value: Any, centre: float, low: float, high: float, expected: tuple[float, float]
) -> None:
    assert draws.around("b", value, centre, low, high) == expected


@pytest.mark.parametrize(
    ("value", "received"),
    [
        (9.001, "b=9.001"),
        (-0.001, "b=-0.001"),
        (True, "b=True"),
        (math.nan, "b=nan"),
        (None, "b=None"),
        ("0.2", "b='0.2'"),
        ([0.8, 1.2], "b=[0.8, 1.2]"),
        ((0.8, 10.001), "each bound of b=10.001"),
        ((0.8,), "b=(0.8,)"),
    ],
)
def test_what_is_no_distance_is_refused(value: Any, received: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"Received: {received}")):
        draws.around("b", value, 1.0, 0.0, 10.0)


def test_bounds_are_floats_up_to_the_limits() -> None:
    for pair in ((-1, 2), (2, 2), (-1.0, -1.0)):
        found = draws.between("hue", pair, -1, 2)
        assert found == pair and [type(bound) for bound in found] == [float, float]


@pytest.mark.parametrize(
    ("value", "received"),
    [
        ((-1.001, 0), "each bound of hue=-1.001"),
        ((0, 2.001), "each bound of hue=2.001"),
        ((0, math.nan), "each bound of hue=nan"),
        ((1, 0.999), "hue=(1, 0.999)"),
        ((0, 1, 2), "hue=(0, 1, 2)"),
        ([0, 1], "hue=[0, 1]"),
        (0.5, "hue=0.5"),
    ],
)
def test_what_are_no_bounds_is_refused(value: Any, received: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"Received: {received}")):
        draws.between("hue", value, -1, 2)


def test_a_fill_is_one_level_or_three() -> None:
    for fill in (0, 255, 127.5, (0, 128, 255)):
        draws.check_fill("fill", fill)
    one_level_each = (-0.1, 255.1, True, math.inf, "noise", None, [1, 2, 3], (0, 0, 256))
    for wrong in (*one_level_each, (), (1,), (1, 2), (1, 2, 3, 4)):
        with pytest.raises(ValueError, match="fill must be a number.*Received: fill="):
            draws.check_fill("fill", wrong)


def test_uniform_draws_fill_their_range_evenly() -> None:
    def draw(seed: Any) -> Any:
        return draws.uniform(seed, [6000], 2.0, 5.0)

    found = both_ways(draw, np.array([3, 4]))
    assert found.dtype == np.float32 and found.min() >= 2 and found.max() < 5
    # A thousand are expected in each sixth, with a standard deviation of 29.
    counts = np.bincount(((found - 2) * 2).astype(int), minlength=6)
    assert (abs(counts - 1000) < 145).all()


def test_every_seed_draws_something_else_and_the_same_each_time() -> None:
    seeds = [[0, 0], [0, 1], [1, 0], [2**62, 1], [0, 0]]
    found = [draws.uniform(tf.constant(seed, tf.int64), [8]).numpy().tolist() for seed in seeds]
    assert found[0] == found[4]
    assert len({tuple(values) for values in found}) == 4
    assert all(0 <= value < 1 for values in found for value in values)


def test_a_seed_among_others_draws_what_it_draws_alone() -> None:
    seeds = tf.constant([[0, 0], [2**62, 1], [5, 7]], tf.int64)
    found = both_ways(lambda given: draws.uniform_of_each(given, [2, 3]), seeds.numpy())
    assert found.shape == (3, 2, 3) and found.dtype == np.float32
    for seed, values in zip(seeds, found, strict=True):
        np.testing.assert_array_equal(values, draws.uniform_of_each(seed, [2, 3]))
        np.testing.assert_array_equal(values, tf.random.stateless_uniform([2, 3], seed))


def test_each_draw_may_have_bounds_of_its_own() -> None:
    low, high = np.array([[0, 10, -5, 7], [1, 20, -4, 7]], np.float32)
    found = both_ways(lambda seed: draws.uniform(seed, [4], low, high), np.array([5, 6]))
    unit = draws.uniform(tf.constant([5, 6]), [4]).numpy()
    np.testing.assert_allclose(found, low + unit * (high - low), rtol=1e-6)


def test_logarithms_are_spread_evenly() -> None:
    # The middle of 1/4..4 in the logarithm is 1, the quarters are 1/2 and 2.
    units = np.array([0, 0.25, 0.5, 0.75, 1], np.float32)
    found = both_ways(lambda unit: draws.log_uniform(unit, (0.25, 4.0)), units)
    np.testing.assert_allclose(found, [0.25, 0.5, 1, 2, 4], rtol=1e-6)
    same = both_ways(lambda unit: draws.log_uniform(unit, (3.0, 3.0)), units)
    np.testing.assert_allclose(same, [3] * 5, rtol=1e-6)


def test_integers_are_cut_and_never_reach_their_number() -> None:
    below, almost = np.nextafter(np.array([0.25, 1], np.float32), np.float32(0))
    units = np.array([0, below, 0.25, 0.5, 0.75, 0.99, almost, 1], np.float32)
    found = both_ways(lambda unit: draws.integers(unit, 4), units)
    assert found.dtype == np.int32
    assert found.tolist() == [0, 0, 1, 2, 3, 3, 3, 3]
    assert both_ways(lambda unit: draws.integers(unit, 1), units).tolist() == [0] * 8


def test_integers_of_even_draws_are_even() -> None:
    units = (np.arange(700, dtype=np.float32) + 0.5) / 700
    found = both_ways(lambda unit: draws.integers(unit, 14), units)
    assert np.bincount(found).tolist() == [50] * 14

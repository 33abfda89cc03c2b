"""Ranges of random parameters: their checks, and draws from them by an example's seed."""

from __future__ import annotations

import math
from typing import Any

import tensorflow as tf

from kfood_tfds.postprocessing import checks

Range = float | tuple[float, float]
Fill = float | tuple[float, float, float]


def around(name: str, value: Any, centre: float, low: float, high: float) -> tuple[float, float]:
    """Returns the bounds of a field that is a distance from ``centre`` or a pair of bounds.

    Args:
        name: Name of the field.
        value: A number d >= 0 for centre - d .. centre + d, cut at ``low``; or a tuple of two
            numbers.
        centre: The value that changes nothing.
        low: Least bound allowed.
        high: Greatest bound allowed.

    Raises:
        ValueError: If the value is neither, or out of range.
    """
    if not isinstance(value, tuple):
        checks.number(name, value, 0.0, high - centre)
        return max(low, centre - value), centre + value
    return between(name, value, low, high)


def between(name: str, value: Any, low: float, high: float) -> tuple[float, float]:
    """Returns a pair with low <= value[0] <= value[1] <= high.

    Raises:
        ValueError: If the value is none.
    """
    checks.interval(name, value, low, high, open_low=False)
    return float(value[0]), float(value[1])


def check_fill(name: str, value: Any) -> None:
    """Raises ValueError unless the value is one level 0..255, or three for R, G and B."""
    levels = value if isinstance(value, tuple) else (value,)
    if len(levels) not in (1, 3) or (isinstance(value, tuple) and len(levels) == 1):
        raise ValueError(f"{name} must be a number or three of them. Received: {name}={value!r}")
    for level in levels:
        checks.number(name, level, 0, 255)


def uniform(seed: Any, shape: list[Any], low: Any = 0.0, high: Any = 1.0) -> Any:
    """Returns float32 draws from low..high, the same on every device."""
    return tf.random.stateless_uniform(shape, seed, low, high, alg="philox")


def uniform_of_each(seeds: Any, shape: list[int]) -> Any:
    """Returns float32 draws from 0..1: [*shape] for a seed int64[2], [n, *shape] for int64[n, 2].

    Each example's draws are those of its own seed, alone or among others; n must be known.
    """
    if seeds.shape.rank == 2:
        return tf.stack([tf.random.stateless_uniform(shape, seed) for seed in tf.unstack(seeds)])
    return tf.random.stateless_uniform(shape, seeds)


def log_uniform(unit: Any, bounds: tuple[float, float]) -> Any:
    """Returns the draws 0..1 stretched so that their logarithm is uniform between the bounds."""
    low, high = (math.log(bound) for bound in bounds)
    return tf.exp(low + unit * (high - low))


def integers(unit: Any, number: int) -> Any:
    """Returns the draws 0..1 as int32 in 0..number-1."""
    # A float32 just below 1 times a number may round up to it.
    return tf.minimum(tf.cast(unit * number, tf.int32), number - 1)

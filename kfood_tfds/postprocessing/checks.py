"""Checks of op fields, with messages in Keras style."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any


def integer(name: str, value: Any, low: int) -> None:
    """Raises ValueError unless the value is an int of at least ``low``."""
    if isinstance(value, bool) or not isinstance(value, int) or value < low:
        raise ValueError(f"{name} must be an int >= {low}. Received: {name}={value!r}")


def number(name: str, value: Any, low: float, high: float, *, open_low: bool = False) -> None:
    """Raises ValueError unless the value is a number in low..high (or above low)."""
    ok = isinstance(value, (int, float)) and not isinstance(value, bool)
    # Whole numbers too large for a float are no error of their own.
    ok = ok and (isinstance(value, int) or math.isfinite(value))
    if not ok or value > high or value < low or (open_low and value == low):
        bounds = f"{'above' if open_low else 'from'} {low} to {high}"
        raise ValueError(f"{name} must be a number {bounds}. Received: {name}={value!r}")


def interval(name: str, value: Any, low: float, high: float, *, open_low: bool = True) -> None:
    """Raises ValueError unless low < value[0] <= value[1] <= high (or low <= value[0])."""
    if not isinstance(value, tuple) or len(value) != 2:
        raise ValueError(f"{name} must be a tuple of two numbers. Received: {name}={value!r}")
    for item in value:
        number(f"each bound of {name}", item, low, high, open_low=open_low)
    if value[0] > value[1]:
        raise ValueError(f"{name} must not decrease. Received: {name}={value!r}")


def choice(name: str, value: Any, known: Sequence[str]) -> None:
    """Raises ValueError unless the value is one of those known."""
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}. Received: {name}={value!r}")


def flag(name: str, value: Any) -> None:
    """Raises ValueError unless the value is a bool."""
    if not isinstance(value, bool):
        raise ValueError(f"{name} must be True or False. Received: {name}={value!r}")


def known_labels(labels: Any, number: int, rule: str) -> Any:
    """Returns integer labels as a tensor that fails by name where one isn't in 0..number-1.

    Args:
        labels: Integers of any shape.
        number: How many labels there are.
        rule: What the error says was broken, and what to do.

    Raises:
        tf.errors.InvalidArgumentError: If a label lies outside, eagerly or as the data is read.
    """
    import tensorflow as tf

    tensor = tf.convert_to_tensor(labels)
    inside = tf.reduce_all((tensor >= 0) & (tensor < number))
    # The bare op: the function around it would cost each example a conditional.
    check = tf.raw_ops.Assert(condition=inside, data=[f"{rule}. Received:", tensor])
    with tf.control_dependencies([] if check is None else [check]):
        return tf.identity(tensor)

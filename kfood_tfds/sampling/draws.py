"""Random numbers that follow from (seed, epoch) alone, the same on every machine.

numpy promises that ``SeedSequence`` and the raw output of ``Philox`` never change, but not so for
the methods of ``Generator``; so everything here is made of raw output.
"""

from __future__ import annotations

import operator
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

_BITS = 52


def check_count(name: str, value: Any, least: int = 0) -> int:
    """Returns a whole number that is at least ``least``.

    Raises:
        ValueError: If it isn't.
    """
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if number < least or isinstance(value, bool):
        raise ValueError(f"{name} must be an int from {least} on. Received: {name}={value!r}")
    return number


def raw(count: int, seed: int, epoch: int, stream: int = 0) -> NDArray[np.uint64]:
    """Returns uint64[count] random numbers.

    Args:
        count: How many.
        seed: Seed of the run, from 0 on.
        epoch: Number of the epoch, from 0 on.
        stream: Keeps several draws of one epoch apart.
    """
    sequence = np.random.SeedSequence([seed, epoch, stream])
    return np.asarray(np.random.Philox(sequence).random_raw(count), dtype=np.uint64)


def uniform(count: int, seed: int, epoch: int, stream: int = 0) -> NDArray[np.float64]:
    """Returns float64[count] in the open interval (0, 1); see ``raw``."""
    high = raw(count, seed, epoch, stream) >> np.uint64(64 - _BITS)
    return np.asarray((high.astype(np.float64) + 0.5) / 2.0**_BITS)


def permutation(count: int, seed: int, epoch: int, stream: int = 0) -> NDArray[np.int64]:
    """Returns 0 to count-1 in random order, int64[count]; see ``raw``."""
    keys = raw(count, seed, epoch, stream)
    return np.argsort(keys, kind="stable").astype(np.int64)


def length_of(source: Any) -> int:
    """Returns the number of examples of a source, or the number itself.

    Raises:
        ValueError: If it has neither a length nor is an int from 0 on.
    """
    if hasattr(source, "__len__"):
        return len(source)
    if isinstance(source, SupportsIndex):
        return check_count("source", source)
    raise ValueError(
        "A sampler takes a source with a length, or the length itself. "
        f"Received: source of type {type(source).__name__}"
    )

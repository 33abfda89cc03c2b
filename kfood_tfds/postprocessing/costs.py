"""What each step of a pipeline costs, measured on this machine."""

from __future__ import annotations

import dataclasses
import functools
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from kfood_tfds.postprocessing.decoding import IMAGE, is_encoded
from kfood_tfds.postprocessing.ops import (
    SEED,
    BatchOp,
    Example,
    Op,
    PixelOp,
    RandomPixelOp,
    example_key,
)
from kfood_tfds.postprocessing.pixels import Decode
from kfood_tfds.postprocessing.testing import fake_examples

_CALLS = 20
_DRAWN = 8
# About the size of the archive's photos.
_DRAWN_SIDES = (480, 640)
_BATCH = 32


@dataclasses.dataclass(frozen=True)
class Cost:
    """One step.

    Attributes:
        step: The op with its fields.
        milliseconds: Per image on one core, median.
        gives: Dtype and shape of the image after it.
    """

    step: str
    milliseconds: float
    gives: str


def measure(ops: Sequence[Op], ds: Any = None, examples: int = 16) -> tuple[Cost, ...]:
    """Runs the ops one by one on some examples and takes the time.

    Windows cost less in ``batches``, which finds those of many encoded examples together.

    Args:
        ops: The pipeline's ops.
        ds: Examples to measure on, encoded; None for drawn photos of 480 to 640 pixels.
        examples: How many of them to take.

    Raises:
        ValueError: If the data set is empty.
    """
    ds = fake_examples(_DRAWN, sides=_DRAWN_SIDES) if ds is None else ds
    batch = list(ds.take(examples))
    if not batch:
        raise ValueError("describe() needs at least one example. Received: an empty data set")
    batch = [
        example | {SEED: example_key(0, 0, example["id"])} if "id" in example else example
        for example in batch
    ]
    # What calling a function costs is no part of any step.
    idle = _timed(lambda example: example, batch)[0]
    costs, images = [], 1
    for step, function in _steps(ops, batch[0]):
        if step is None:
            batch, images = [_stacked(batch)], _BATCH
            continue
        seconds, batch = _timed(function, batch)
        per_image = max(0.0, seconds - idle) / images
        costs.append(Cost(step, per_image * 1000, _gives(batch[0])))
    return tuple(costs)


def table(costs: Sequence[Cost]) -> str:
    """Returns the costs as lines of text, with their sum and the rate of one core."""
    total = sum(cost.milliseconds for cost in costs)
    rows = [(cost.step, f"{cost.milliseconds:.2f}", cost.gives) for cost in costs]
    rate = f"{1000 / total:.0f} images/s a core" if total else ""
    lines = [("step", "ms/image", "image after it"), *rows, ("all", f"{total:.2f}", rate)]
    first, second = (max(len(line[column]) for line in lines) for column in (0, 1))
    return "\n".join(f"{a:<{first}}  {b:>{second}}  {c}".rstrip() for a, b, c in lines)


def _steps(
    ops: Sequence[Op], example: Example
) -> list[tuple[str | None, Callable[[Example], Example]]]:
    encoded = is_encoded(example)
    pending = False
    steps: list[tuple[str | None, Callable[[Example], Example]]] = []
    for position, op in enumerate(ops):
        if isinstance(op, BatchOp) and not any(step is None for step, _ in steps):
            steps.append((None, Decode()))
        if isinstance(op, (PixelOp, RandomPixelOp)) and (encoded or pending):
            # On its own, the decoding inside the window shows.
            steps.append((str(Decode()), Decode()))
            encoded = pending = False
        elif IMAGE in op.needs and not isinstance(op, (PixelOp, RandomPixelOp, BatchOp)):
            pending = True
        if not isinstance(op, Decode):
            steps.append((str(op), functools.partial(op, position=position)))
    return steps


def _timed(
    function: Callable[[Example], Example], batch: list[Example]
) -> tuple[float, list[Example]]:
    """Returns the median of the seconds per call, over the examples, and the results."""
    seconds, results = [], []
    for example in batch:
        same = tf.data.Dataset.from_tensors(example).repeat(_CALLS + 1)
        # Only the first and the last result leave the graph, so that Python's share is small.
        ends = same.map(function).enumerate().filter(lambda index, _: index % _CALLS == 0)
        iterator = iter(ends)
        results.append(next(iterator)[1])
        start = time.perf_counter()
        next(iterator)
        seconds.append((time.perf_counter() - start) / _CALLS)
    return statistics.median(seconds), results


def _stacked(batch: list[Example]) -> Example:
    chosen = [batch[index % len(batch)] for index in range(_BATCH)]
    return {key: tf.stack([example[key] for example in chosen]) for key in _common(chosen)}


def _common(batch: list[Example]) -> list[str]:
    """Returns the keys whose values have one shape in all examples."""
    return [key for key in batch[0] if len({tuple(tf.shape(x[key]).numpy()) for x in batch}) == 1]


def _gives(example: Example) -> str:
    image = example[IMAGE]
    if image.dtype == tf.string:
        return "encoded"
    return f"{image.dtype.name} {'x'.join(map(str, image.shape))}"

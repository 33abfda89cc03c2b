"""Tries an experiment before a training: shapes, class shares, speed, the first batch drawn."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfood_tfds import drawing
from kfood_tfds.configuration import Experiment, load
from kfood_tfds.fonts import LabelFont, display_name, find_font
from kfood_tfds.raw.classes import load_class_table

_COLUMNS = 8
_MOST_DRAWN = 32


@dataclasses.dataclass(frozen=True)
class TrainingCheck:
    """What came out.

    Attributes:
        shapes: Shape and dtype of each item of the first batch: images, labels, weights.
        steps: Training batches in an epoch.
        validation_steps: Validation batches; 0 without a split for it.
        examples: Training examples that were looked at.
        shares: Share of each label among them.
        names: Korean names of these labels.
        images_per_second: Speed of the training batches after the first one; 0 if there was no
            second.
        picture: The drawn first batch.
    """

    shapes: tuple[tuple[tuple[int, ...], str], ...]
    steps: int
    validation_steps: int
    examples: int
    shares: Mapping[int, float]
    names: Mapping[int, str]
    images_per_second: float
    picture: str


def check_training(
    config: str | os.PathLike[str] | Mapping[str, Any] | Experiment,
    out: str | os.PathLike[str] = "train_check.png",
    batches: int = 100,
    font: LabelFont | None = None,
) -> TrainingCheck:
    """Loads a configuration, reads training batches and draws the first one.

    Args:
        config: What ``configuration.load`` takes, or gave.
        out: Where to write the PNG.
        batches: How many batches to read at most; never more than an epoch.
        font: Font of the class names; None looks for one that draws Hangul.

    Raises:
        ValueError: If ``batches`` is under 1, or the configuration is invalid.
    """
    if batches < 1:
        raise ValueError(f"batches must be at least 1. Received: batches={batches}")
    experiment = config if isinstance(config, Experiment) else load(config)
    steps = int(experiment.train.cardinality()) // (experiment.config["epochs"] or 1)
    first: tuple[Any, ...] = ()
    counts = np.zeros(experiment.info.features["label"].num_classes, np.int64)
    started, timed = 0.0, 0
    for batch in experiment.train.take(min(batches, steps)).as_numpy_iterator():
        labels = _labels(batch[1])
        counts += np.bincount(labels, minlength=len(counts))
        if first:
            timed += len(labels)
        else:
            # Making the first batch includes building the graph and filling the buffers.
            first, started = batch, time.perf_counter()
    seconds = time.perf_counter() - started
    present = np.flatnonzero(counts).tolist()
    names = experiment.info.features["label"].names
    return TrainingCheck(
        shapes=tuple((tuple(item.shape), str(item.dtype)) for item in first),
        steps=steps,
        validation_steps=int(experiment.validation.cardinality()) if experiment.validation else 0,
        examples=int(counts.sum()),
        shares={label: float(counts[label] / counts.sum()) for label in present},
        names={label: names[label] for label in present},
        images_per_second=timed / seconds if timed else 0.0,
        picture=_draw(first, names, out, font or find_font()),
    )


def describe(check: TrainingCheck) -> str:
    """Returns the check as text, one line for each finding."""
    lines = [
        f"{name:<14} {dtype}{list(shape)}"
        for name, (shape, dtype) in zip(("images", "labels", "weights"), check.shapes, strict=False)
    ]
    lines += [
        f"{'steps':<14} {check.steps} training, {check.validation_steps} validation",
        f"{'speed':<14} {check.images_per_second:.0f} images/s",
        f"{'first batch':<14} {check.picture}",
        f"class shares of {check.examples} examples:",
    ]
    lines += [
        f"  {label:>3} {check.names[label]} {share:.2%}" for label, share in check.shares.items()
    ]
    return "\n".join(lines) + "\n"


def _labels(labels: NDArray[Any]) -> NDArray[np.int64]:
    return np.asarray(labels.argmax(axis=-1) if labels.ndim > 1 else labels, dtype=np.int64)


def _draw(
    batch: tuple[Any, ...], names: list[str], out: str | os.PathLike[str], font: LabelFont
) -> str:
    table = load_class_table()
    captions = []
    for label in _labels(batch[1])[:_MOST_DRAWN].tolist():
        known = table.from_folder(names[label])
        captions.append(names[label] if known is None else display_name(known, font))
    images = np.asarray(batch[0])[:_MOST_DRAWN]
    drawing.save_png(drawing.batch_sheet(images, captions, _COLUMNS, font=font), out)
    return os.fspath(out)

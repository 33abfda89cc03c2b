"""What the report says about look-alikes beyond the groups: how they are found, what was cut."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

import numpy as np

from kfood_tfds.raw.duplicates import Grouping
from kfood_tfds.raw.manifest import ManifestRow

_METHOD_FILE = "duplicates_method.json"


@dataclass(frozen=True, slots=True)
class CutPair:
    """Two images that look alike but lie in different groups.

    Attributes:
        rows: Their manifest rows, by id.
        similarity: How much alike they are, threshold to 1.
        parted: Whether they may also lie in different splits.
    """

    rows: tuple[ManifestRow, ManifestRow]
    similarity: float
    parted: bool


@dataclass(frozen=True, slots=True)
class Recall:
    """How many known copies of one kind are found.

    Attributes:
        kind: What was done to the copies.
        pair: Share whose pair with the original is found, 0..1.
        group: Share that ends in the original's group.
        block: Share that ends on the original's side of the splits.
    """

    kind: str
    pair: float
    group: float
    block: float


@dataclass(frozen=True, slots=True)
class Method:
    """How well look-alikes are found, as measured by ``benchmarks/duplicates.py``.

    Attributes:
        threshold: Likeness from which on two images count as showing the same.
        images: Distinct images in the measurement.
        recalls: Recall for each kind of copy.
        false_per_million: False pairs in a million pairs of distinct images.
    """

    threshold: float
    images: int
    recalls: tuple[Recall, ...]
    false_per_million: float


def load_method() -> Method | None:
    """Reads the measurement that comes with the package; None where it comes without."""
    file = resources.files("kfood_tfds.raw") / _METHOD_FILE
    if not file.is_file():
        return None
    figures = json.loads(file.read_text(encoding="utf-8"))
    accuracy = figures["accuracy"]
    return Method(
        threshold=figures["threshold"],
        images=accuracy["distinct images"],
        recalls=tuple(
            Recall(
                kind,
                found,
                accuracy["recall, same group"][kind],
                accuracy["recall, same block"][kind],
            )
            for kind, found in accuracy["recall"].items()
        ),
        false_per_million=accuracy["false pairs per million"],
    )


def cut_pairs(grouping: Grouping, rows: Sequence[ManifestRow]) -> tuple[CutPair, ...]:
    """Returns the pairs where a chain was cut: parted ones first, then the most alike.

    Args:
        grouping: The groups.
        rows: Manifest rows of the images in the grouping's order.
    """
    found = []
    for place in np.flatnonzero(grouping.cut).tolist():
        first, second = sorted(
            (rows[n] for n in grouping.pairs[place].tolist()), key=lambda row: row.id
        )
        likeness = round(float(grouping.similarity[place]), 4)
        found.append(CutPair((first, second), likeness, bool(grouping.parted[place])))
    return tuple(
        sorted(found, key=lambda p: (not p.parted, -p.similarity, *(row.id for row in p.rows)))
    )

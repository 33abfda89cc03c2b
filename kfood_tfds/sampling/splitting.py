"""Parts a source in two or more, class by class and without parting near-duplicates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kfood_tfds.raw.splits import assign_splits
from kfood_tfds.sampling.index_samplers import Indices

_COLUMNS = ("label", "group", "id")


def split_indices(
    source: Any, ratios: Sequence[float] = (0.8, 0.2), seed: int = 0
) -> tuple[Indices, ...]:
    """Returns the indices of each part of a source, for ``Subset`` samplers.

    Every class is parted in the same ratios, and examples of one group all go to one part. The
    parts follow from the ids, not from the order of the examples.

    Args:
        source: What ``random_access`` gives; or a mapping with ``label``, ``group`` and ``id``,
            one entry per example each; or a sequence of example dicts with these keys.
        ratios: Share of each part, 1 in sum.
        seed: Another seed gives another, equally good division.

    Returns:
        int64[n] for each ratio, ascending; together every index once.

    Raises:
        ValueError: If the ratios are unusable, a feature is missing, or an id is no text.
    """
    columns = _columns(source)
    names = [str(number) for number in range(len(ratios))]
    parts = assign_splits(
        [int(label) for label in columns["label"]],
        [int(group) for group in columns["group"]],
        _texts(columns["id"]),
        list(zip(names, ratios, strict=True)),
        seed=seed,
    )
    assigned = np.asarray(parts)
    return tuple(np.flatnonzero(assigned == name).astype(np.int64) for name in names)


def _texts(ids: Sequence[Any]) -> list[str]:
    """Returns ids as text, where TFDS and TensorFlow give UTF-8: the division is the same."""
    texts = [name.decode() if isinstance(name, bytes) else name for name in ids]
    other = next((name for name in texts if not isinstance(name, str)), None)
    if other is not None:
        raise ValueError(
            "split_indices divides by the ids, which must be texts. "
            f"Received: id={other!r} of type {type(other).__name__}"
        )
    return [str(name) for name in texts]


def _columns(source: Any) -> Mapping[str, Any]:
    columns: dict[str, Any]
    if hasattr(source, "columns"):
        columns = source.columns(*_COLUMNS)
    elif isinstance(source, Mapping):
        columns = {name: source.get(name, ()) for name in _COLUMNS}
    else:
        examples = [source[index] for index in range(len(source))]
        columns = {
            name: [example[name] for example in examples if name in example] for name in _COLUMNS
        }
    missing = [name for name in _COLUMNS if not len(columns[name])]
    if missing:
        raise ValueError(
            "split_indices needs label, group and id of every example. "
            f"Received: a source without {', '.join(missing)}"
        )
    return columns

"""TFDS's names of splits, their parts and sums: what they name, and how many examples they have."""

from __future__ import annotations

from typing import Any


def split_size(info: Any, split: str) -> int:
    """Returns the number of examples of a split, a part of one or a sum of several.

    Args:
        info: The data set's ``tfds.core.DatasetInfo``.
        split: Such as ``"train"``, ``"train[:10%]"`` or ``"train+validation"``.

    Raises:
        ValueError: If there is no such split, it isn't written as TFDS has it, or it has no
            example.
    """
    try:
        size = int(info.splits[split].num_examples)
    # What TFDS raises depends on where in the text it gives up.
    except (ValueError, KeyError, TypeError, NotImplementedError) as error:
        raise ValueError(
            f"The data set has the splits {sorted(info.splits)}; parts such as 'train[:10%]' and "
            f"sums such as 'train+test' can be taken of them. Received: split={split!r}"
        ) from error
    if size < 1:
        raise ValueError(
            "A split, or a part of one, must have an example; take a larger part. "
            f"Received: split={split!r}, which has none of the data set's"
        )
    return size


def split_names(split: str) -> tuple[str, ...]:
    """Returns the names of the splits that a split's text takes examples from, each once."""
    return tuple(dict.fromkeys(part.split("[")[0].strip() for part in split.split("+")))

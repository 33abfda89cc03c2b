"""Index samplers that give some examples more often than others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kfood_tfds.sampling import draws
from kfood_tfds.sampling.index_samplers import IndexSampler, Indices

_ORDER_STREAM = 1
_CLASS_STREAM = 2


class Weighted(IndexSampler):
    """Draws in proportion to a weight per example."""

    def __init__(
        self, weights: ArrayLike, num_samples: int, replacement: bool = True, seed: int = 0
    ) -> None:
        """Sets the sampler up.

        Args:
            weights: float[n], finite and from 0 on, not all 0; they need not sum to 1. An example
                of weight 0 is never drawn.
            num_samples: Indices in an epoch.
            replacement: Whether an example may come several times in an epoch. Without, the draws
                are those of a sequence in which each takes one of the remaining examples in
                proportion to its weight.
            seed: Keys the draws.

        Raises:
            ValueError: If an argument is invalid, or there are fewer examples of positive weight
                than samples to draw without replacement.
        """
        super().__init__(seed)
        self.weights = _checked_weights(weights)
        self._length = draws.check_count("num_samples", num_samples)
        self.replacement = replacement
        positive = int(np.count_nonzero(self.weights))
        if not replacement and num_samples > positive:
            raise ValueError(
                f"Without replacement at most {positive} samples can be drawn, one of each example "
                f"of positive weight. Received: num_samples={num_samples}"
            )

    def __len__(self) -> int:
        """Returns the number of indices in an epoch."""
        return self._length

    def indices(self, epoch: int) -> Indices:
        """Returns the epoch's draws."""
        if self.replacement:
            return self._with_replacement(epoch)
        return self._without_replacement(epoch)

    def _with_replacement(self, epoch: int) -> Indices:
        ends = np.cumsum(self.weights)
        places = draws.uniform(self._length, self.seed, epoch) * ends[-1]
        found = np.searchsorted(ends, places, side="right")
        # Rounding may carry the largest draw to the very end, past the last positive weight.
        last = int(np.flatnonzero(self.weights)[-1])
        return np.asarray(np.minimum(found, last), dtype=np.int64)

    def _without_replacement(self, epoch: int) -> Indices:
        # Efraimidis and Spirakis, "Weighted random sampling with a reservoir" (2006): the smallest
        # of exponential keys of rate w come in the order of draws without replacement.
        candidates = np.flatnonzero(self.weights)
        chance = draws.uniform(len(self.weights), self.seed, epoch)[candidates]
        keys = -np.log(chance) / self.weights[candidates]
        order = np.argsort(keys, kind="stable")[: self._length]
        return candidates[order].astype(np.int64)


class Balanced(IndexSampler):
    """Every class equally often in an epoch, exactly, in random order.

    Within a class the examples take turns: none comes a second time before all have come, and
    those that come once more than others are drawn anew each epoch.
    """

    def __init__(
        self,
        labels: Any,
        per_class: int | None = None,
        categories: ArrayLike | Mapping[int, int] | None = None,
        seed: int = 0,
    ) -> None:
        """Sets the sampler up.

        Args:
            labels: int[n], the class of each example; or a source with a method ``column``.
            per_class: Indices of each class in an epoch; by default as many as make the epoch
                about as long as the source. With ``categories`` their mean over the classes.
            categories: Category of each class, by label. Then categories are balanced first, and
                the classes within each category after that, so a class of a small category comes
                more often. All of a category's classes get equally many.
            seed: Keys the order and the choice.

        Raises:
            ValueError: If an argument is invalid or a class has no category.
        """
        super().__init__(seed)
        given = labels.column("label") if hasattr(labels, "column") else labels
        array = np.asarray(given)
        if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iu" or array.min() < 0:
            raise ValueError(
                "labels must be int[n] from 0 on, one per example, n > 0, or a source that has "
                f"them. Received: {array.dtype}{list(array.shape)} {array.ravel()[:5].tolist()}"
            )
        present, inverse = np.unique(array, return_inverse=True)
        order = np.argsort(inverse, kind="stable")
        by_class = np.split(order, np.cumsum(np.bincount(inverse))[:-1])
        self.members: dict[int, Indices] = {
            int(label): members.astype(np.int64)
            for label, members in zip(present, by_class, strict=True)
        }
        mean = array.size / len(present) if per_class is None else per_class
        if per_class is not None:
            draws.check_count("per_class", per_class, 1)
        self.quota = _quotas(tuple(self.members), float(mean), categories)

    def __len__(self) -> int:
        """Returns the number of indices in an epoch."""
        return sum(self.quota.values())

    def indices(self, epoch: int) -> Indices:
        """Returns the epoch's order."""
        chosen = [self._of_class(label, epoch) for label in self.members]
        together = np.concatenate(chosen)
        return together[draws.permutation(len(together), self.seed, epoch, _ORDER_STREAM)]

    def _of_class(self, label: int, epoch: int) -> Indices:
        members = self.members[label]
        whole, rest = divmod(self.quota[label], len(members))
        order = draws.permutation(len(members), self.seed, epoch, _CLASS_STREAM + label)
        return np.concatenate([np.tile(members, whole), members[order[:rest]]])


def _quotas(
    present: tuple[int, ...], mean: float, categories: ArrayLike | Mapping[int, int] | None
) -> dict[int, int]:
    if categories is None:
        return dict.fromkeys(present, max(1, round(mean)))
    table: Mapping[int, int] = (
        categories
        if isinstance(categories, Mapping)
        else dict(enumerate(np.asarray(categories).tolist()))
    )
    missing = [label for label in present if label not in table]
    if missing:
        raise ValueError(
            "categories must have an entry for each label among the examples. "
            f"Received: none for {missing[:5]}"
        )
    sizes: dict[int, int] = {}
    for label in present:
        sizes[table[label]] = sizes.get(table[label], 0) + 1
    each = mean * len(present) / len(sizes)
    return {label: max(1, round(each / sizes[table[label]])) for label in present}


def _checked_weights(weights: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(weights, dtype=np.float64)
    valid = array.ndim == 1 and bool(np.all(np.isfinite(array))) and bool(np.all(array >= 0))
    if not valid or not np.any(array > 0):
        raise ValueError(
            "weights must be float[n], finite and from 0 on, one of them above 0. "
            f"Received: float64{list(array.shape)} {array.ravel()[:5].tolist()}"
        )
    return array

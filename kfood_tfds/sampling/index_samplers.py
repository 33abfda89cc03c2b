"""Index samplers: which examples come when, as iterables of indices with a length.

``torch.utils.data.DataLoader(source, sampler=…)`` and ``sampling.dataset`` take them as they are.
An epoch's order follows from (seed, epoch) alone. Each iteration is an epoch and the next one the
epoch after, as with torch's own samplers, so no call between the epochs can be forgotten; ``at``
goes to any epoch and position.
"""

from __future__ import annotations

import abc
import copy
import itertools
from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kfood_tfds.sampling import draws

Indices = NDArray[np.int64]


class IndexSampler(abc.ABC):
    """What all samplers of single indices have in common.

    Subclasses implement ``__len__`` and ``indices``.

    Attributes:
        epoch: Number of the epoch that the next iteration gives.
    """

    def __init__(self, seed: int = 0) -> None:
        """Begins with epoch 0.

        Args:
            seed: Keys all draws together with the epoch; from 0 on.

        Raises:
            ValueError: If the seed is no int from 0 on.
        """
        self.seed = draws.check_count("seed", seed)
        self.epoch = 0
        self._start = 0
        self._current = (0, 0)

    @abc.abstractmethod
    def __len__(self) -> int:
        """Returns the number of indices in an epoch."""

    @abc.abstractmethod
    def indices(self, epoch: int) -> Indices:
        """Returns an epoch's indices in their order, int64[len(self)]."""

    @property
    def position(self) -> int:
        """How many indices of its epoch the next iteration leaves out."""
        return self._start

    def __iter__(self) -> Iterator[int]:
        """Gives the indices of the next epoch."""
        epoch, start = self.epoch, self._start
        self.epoch, self._start = epoch + 1, 0
        self._current = (epoch, start)
        return self._run(epoch, start)

    def _run(self, epoch: int, start: int) -> Iterator[int]:
        for position, index in enumerate(self.indices(epoch)[start:].tolist(), start + 1):
            self._current = (epoch, position)
            yield index

    def at(self, epoch: int, position: int = 0) -> Self:
        """Returns a copy whose next iteration begins at a place.

        Args:
            epoch: Number of the epoch, from 0 on.
            position: How many of its indices to leave out.

        Raises:
            ValueError: If the epoch has no such position.
        """
        draws.check_count("epoch", epoch)
        if draws.check_count("position", position) > len(self):
            raise ValueError(
                f"position must be at most the epoch's length, {len(self)}. "
                f"Received: position={position}"
            )
        result = copy.copy(self)
        result.epoch, result._start = epoch, position
        result._current = (epoch, position)
        return result

    def state_dict(self) -> dict[str, int]:
        """Returns where the latest iteration stands, as plain numbers for a checkpoint.

        Loaders that read ahead have taken more indices than they have given out: count the batches
        that the training has taken, and go there with ``at``.
        """
        epoch, position = self._current
        return {"epoch": epoch, "position": position}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Lets the next iteration go on where ``state_dict`` was taken.

        Where that is an epoch's end, with the next epoch.

        Raises:
            ValueError: If the state has no epoch and position, or ones that don't exist here.
        """
        if not isinstance(state, dict) or set(state) != {"epoch", "position"}:
            raise ValueError(
                f"A sampler's state has the keys 'epoch' and 'position'. Received: {state!r}"
            )
        moved = self.at(state["epoch"], state["position"])
        if moved.position == len(self):
            moved = self.at(moved.epoch + 1)
        self.epoch, self._start, self._current = moved.epoch, moved._start, moved._current

    def shard(self, rank: int, world: int, drop_remainder: bool = False) -> Shard:
        """Returns the part of one of several processes; see ``Shard``."""
        return Shard(self, rank, world, drop_remainder)


class Sequential(IndexSampler):
    """All indices in ascending order."""

    def __init__(self, source: Any) -> None:
        """Takes a source with a length, or the length itself.

        Raises:
            ValueError: If it is neither.
        """
        super().__init__()
        self._length = draws.length_of(source)

    def __len__(self) -> int:
        """Returns the length of the source."""
        return self._length

    def indices(self, epoch: int) -> Indices:
        """Returns 0, 1, 2 and so on."""
        del epoch
        return np.arange(self._length, dtype=np.int64)


class Random(IndexSampler):
    """All indices in random order, or independent draws."""

    def __init__(
        self,
        source: Any,
        replacement: bool = False,
        num_samples: int | None = None,
        seed: int = 0,
    ) -> None:
        """Sets the sampler up.

        Args:
            source: A source with a length, or the length itself.
            replacement: Whether an index may come again before all have come.
            num_samples: Indices in an epoch; by default the length of the source. Without
                replacement more than that are several permutations in a row.
            seed: Keys the order.

        Raises:
            ValueError: If an argument is invalid, or there is nothing to draw from.
        """
        super().__init__(seed)
        self._source_length = draws.length_of(source)
        self.replacement = replacement
        chosen = self._source_length if num_samples is None else num_samples
        self._length = draws.check_count("num_samples", chosen)
        if self._length and not self._source_length:
            raise ValueError(f"There is nothing to draw from. Received: num_samples={num_samples}")

    def __len__(self) -> int:
        """Returns the number of indices in an epoch."""
        return self._length

    def indices(self, epoch: int) -> Indices:
        """Returns the epoch's order."""
        if self.replacement:
            places = draws.uniform(self._length, self.seed, epoch) * self._source_length
            return np.asarray(places, dtype=np.int64)
        if not self._length:
            return np.zeros(0, np.int64)
        rounds = -(-self._length // self._source_length)
        orders = [
            draws.permutation(self._source_length, self.seed, epoch, number)
            for number in range(rounds)
        ]
        return np.concatenate(orders)[: self._length]


class Subset(IndexSampler):
    """Given indices, each once, such as one side of ``split_indices``."""

    def __init__(self, indices: ArrayLike, shuffle: bool = True, seed: int = 0) -> None:
        """Sets the sampler up.

        Args:
            indices: Whole numbers from 0 on.
            shuffle: Whether in random order; else in the order given.
            seed: Keys the order.

        Raises:
            ValueError: If the indices are no one-dimensional whole numbers from 0 on.
        """
        super().__init__(seed)
        self._indices = checked_indices(indices)
        self.shuffle = shuffle

    def __len__(self) -> int:
        """Returns the number of given indices."""
        return len(self._indices)

    def indices(self, epoch: int) -> Indices:
        """Returns the epoch's order."""
        if not self.shuffle:
            return self._indices
        return self._indices[draws.permutation(len(self._indices), self.seed, epoch)]


class Shard(IndexSampler):
    """One process's part of another sampler's indices: every ``world``-th, from ``rank`` on.

    The parts of all ranks together are each epoch's indices, each exactly once; their lengths
    differ by one at most. Training in lockstep needs equal lengths: ``drop_remainder`` leaves out
    the indices at the end that don't go round.

    ``rank`` and ``world`` are torch's words; `Pipeline.batches` calls them ``input_pipeline_id``
    and ``num_input_pipelines``, as TFDS does.
    """

    def __init__(
        self, sampler: IndexSampler, rank: int, world: int, drop_remainder: bool = False
    ) -> None:
        """Sets the sampler up.

        Args:
            sampler: The sampler to share, the same on every rank. Its epoch goes on from where it
                is.
            rank: Number of this process, from 0.
            world: Number of processes.
            drop_remainder: Whether all parts are equally long.

        Raises:
            ValueError: If the rank is not below the world's size, or the sampler stands inside an
                epoch.
        """
        super().__init__(sampler.seed)
        self.sampler = sampler
        self.epoch = sampler.epoch
        self.world = draws.check_count("world", world, 1)
        self.rank = draws.check_count("rank", rank)
        self.drop_remainder = drop_remainder
        if rank >= world:
            raise ValueError(f"rank must be below world. Received: rank={rank}, world={world}")
        if sampler.position:
            raise ValueError(
                "Take the shard first and go to a position of its own: sampler.shard(…).at(…). "
                f"Received: a sampler at position {sampler.position}"
            )

    def __len__(self) -> int:
        """Returns the number of indices of this rank."""
        whole, rest = divmod(len(self.sampler), self.world)
        return whole + (self.rank < rest and not self.drop_remainder)

    def indices(self, epoch: int) -> Indices:
        """Returns this rank's part of the epoch's order."""
        return self.sampler.indices(epoch)[self.rank :: self.world][: len(self)]


class Batch:
    """Another sampler's indices in lists: for ``batch_sampler=``, or for ``source[[i, j, k]]``."""

    def __init__(self, sampler: IndexSampler, size: int, drop_last: bool = False) -> None:
        """Sets the sampler up.

        Args:
            sampler: Gives the single indices, and keeps epoch and position.
            size: Indices in a list.
            drop_last: Whether to leave out an epoch's last list if it is not full; the name is that
                of torch's ``BatchSampler``.

        Raises:
            ValueError: If the size is not positive.
        """
        self.sampler = sampler
        self.size = draws.check_count("size", size, 1)
        self.drop_last = drop_last

    def __len__(self) -> int:
        """Returns the number of lists in an epoch."""
        whole, rest = divmod(len(self.sampler), self.size)
        return whole + bool(rest and not self.drop_last)

    def __iter__(self) -> Iterator[list[int]]:
        """Gives the next epoch's lists."""
        indices = iter(self.sampler)
        while batch := list(itertools.islice(indices, self.size)):
            if len(batch) < self.size and self.drop_last:
                return
            yield batch

    def at(self, epoch: int, step: int = 0) -> Batch:
        """Returns a copy whose next iteration begins with a given list of an epoch.

        Raises:
            ValueError: If the epoch has no such list; one after the last is its end.
        """
        if draws.check_count("step", step) > len(self):
            raise ValueError(
                f"step must be at most the number of lists, {len(self)}. Received: step={step}"
            )
        position = min(step * self.size, len(self.sampler))
        return Batch(self.sampler.at(epoch, position), self.size, self.drop_last)

    def state_dict(self) -> dict[str, int]:
        """Returns where the latest iteration stands, counted in indices."""
        return self.sampler.state_dict()

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Lets the next iteration go on where ``state_dict`` was taken, or with the next epoch."""
        self.sampler.load_state_dict(state)
        if self.drop_last and len(self.sampler) - self.sampler.position < self.size <= len(
            self.sampler
        ):
            self.sampler.load_state_dict({"epoch": self.sampler.epoch + 1, "position": 0})


def checked_indices(indices: ArrayLike | Sequence[int]) -> Indices:
    """Returns indices as int64[n].

    Raises:
        ValueError: If they are no one-dimensional whole numbers from 0 on.
    """
    array = np.asarray(indices)
    if array.size == 0 and array.ndim == 1:
        return np.zeros(0, np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu" or array.min() < 0:
        raise ValueError(
            "indices must be one-dimensional whole numbers from 0 on. "
            f"Received: {array.dtype}{list(array.shape)} {array.ravel()[:5].tolist()}"
        )
    return array.astype(np.int64)

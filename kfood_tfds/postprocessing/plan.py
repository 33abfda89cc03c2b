"""How an epoch's examples are dealt out to workers and batches; arithmetic only."""

from __future__ import annotations

import dataclasses

from kfood_tfds.postprocessing import checks


@dataclasses.dataclass(frozen=True)
class Plan:
    """The batches of one worker in one epoch.

    Example i of the epoch's order goes to worker i modulo ``workers``. All workers take the same
    number of steps; where the last step would leave a worker without an example, the last two steps
    share theirs. So every example occurs once, unless the remainder is to be dropped.

    Attributes:
        examples: Number of examples in the epoch, over all workers.
        batch_size: Examples in a worker's batch.
        drop_remainder: Whether to leave out the last step if not every worker's batch would be
            full.
        workers: Number of workers.
        worker: Number of this one, from 0.
    """

    examples: int
    batch_size: int
    drop_remainder: bool = False
    workers: int = 1
    worker: int = 0

    def __post_init__(self) -> None:
        """Checks the fields against each other."""
        checks.integer("batch_size", self.batch_size, 1)
        checks.flag("drop_remainder", self.drop_remainder)
        checks.integer("num_input_pipelines", self.workers, 1)
        checks.integer("input_pipeline_id", self.worker, 0)
        if self.worker >= self.workers:
            raise ValueError(
                "input_pipeline_id must be below num_input_pipelines. Received: "
                f"input_pipeline_id={self.worker}, num_input_pipelines={self.workers}"
            )
        if self.steps < 1:
            raise ValueError(
                f"{self.examples} examples make no step of {self.workers} x {self.batch_size}; "
                "use a smaller batch_size or drop_remainder=False. Received: "
                f"batch_size={self.batch_size}"
            )
        if not self.drop_remainder and not self._everyone_has_enough:
            raise ValueError(
                f"{self.examples} examples can't give each of {self.workers} workers the same "
                "number of batches; use a larger batch_size, fewer workers or "
                "drop_remainder=True. Received: "
                f"batch_size={self.batch_size}, num_input_pipelines={self.workers}"
            )

    @property
    def _everyone_has_enough(self) -> bool:
        """Whether the worker with the fewest examples, too, has one for each of its batches."""
        least = self.examples // self.workers
        shared = self.steps - self.full == 2
        return least > 0 and (not shared or least - self.full * self.batch_size >= 2)

    @property
    def steps(self) -> int:
        """Batches per epoch, the same for every worker."""
        whole, rest = divmod(self.examples, self.batch_size * self.workers)
        return whole + bool(rest and not self.drop_remainder)

    @property
    def used(self) -> int:
        """Examples of an epoch that come into a batch, over all workers."""
        if self.drop_remainder:
            return self.steps * self.batch_size * self.workers
        return self.examples

    @property
    def own(self) -> int:
        """Examples of this worker in an epoch."""
        if self.drop_remainder:
            return self.steps * self.batch_size
        whole, rest = divmod(self.examples, self.workers)
        return whole + (self.worker < rest)

    @property
    def full(self) -> int:
        """Number of batches of ``batch_size`` before the ``tail``."""
        least = self.own if self.drop_remainder else self.examples // self.workers
        if least <= (self.steps - 1) * self.batch_size and self.steps > 1:
            return self.steps - 2
        return self.own // self.batch_size

    @property
    def tail(self) -> tuple[int, ...]:
        """Sizes of the last batches: none, one smaller one, or two that share what is left."""
        rest = self.own - self.full * self.batch_size
        if self.steps - self.full == 2:
            return (rest - rest // 2, rest // 2)
        return (rest,) if rest else ()

    def sizes(self) -> tuple[int, ...]:
        """Returns the sizes of a whole epoch's batches."""
        return (self.batch_size,) * self.full + self.tail

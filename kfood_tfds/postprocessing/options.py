"""The arguments of ``Pipeline.batches``."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence

from kfood_tfds.postprocessing import checks
from kfood_tfds.postprocessing.ops import check_seed

# Enough to mix some thousand photos, and little beside a training's memory.
SHUFFLE_BUFFER_BYTES = 256 * 2**20
# More than the cores: a thread that finds work waiting needn't sleep and be woken for each image.
_MOST_CALLS = 64


@dataclasses.dataclass(frozen=True)
class BatchOptions:
    """How examples become batches; see ``Pipeline.batches``.

    Attributes:
        batch_size: Examples in a batch of one worker.
        seed: Keys the order and all random draws, 0..2^31-1.
        shuffle: Whether to mix the examples; by default if the pipeline is random.
        epochs: Number of epochs of one long data set, counted from the beginning; None for one
            epoch an iteration.
        drop_remainder: Whether to leave out an epoch's last batch if it is not full.
        start_step: Steps to skip, without decoding, to go on where a training stopped.
        start_example: The same in examples over all workers, whose number may have changed since;
            needs ``epochs``. With ``drop_remainder`` an epoch has the examples of its steps.
        num_parallel_calls: Images in work or done ahead of their batch; by default as many as a
            batch has, 64 at most, but one for each core at least.
        num_input_pipelines: Number of workers that share the examples. Each reads all records, and
            decodes its own.
        input_pipeline_id: Number of this worker, from 0.
        labels: ``"class"``, ``"category"``, or ``"both"`` for a dict of ``label`` and ``category``.
        sample_weights: A key of the examples, or weights by label; a third item in each batch.
        with_ids: Whether each batch ends with the ids, string[batch]; not for ``model.fit``.
        shuffle_buffer_bytes: Bound on the encoded images held for mixing, by the mean size of some.
    """

    batch_size: int
    seed: int = 0
    shuffle: bool | None = None
    epochs: int | None = None
    drop_remainder: bool = False
    start_step: int = 0
    start_example: int = 0
    num_parallel_calls: int | None = None
    num_input_pipelines: int = 1
    input_pipeline_id: int = 0
    labels: str = "class"
    sample_weights: str | Sequence[float] | Mapping[int, float] | None = None
    with_ids: bool = False
    shuffle_buffer_bytes: int = SHUFFLE_BUFFER_BYTES

    def __post_init__(self) -> None:
        """Checks the fields that ``Plan`` and ``Columns`` don't."""
        check_seed(self.seed)
        if self.shuffle is not None:
            checks.flag("shuffle", self.shuffle)
        for name in ("epochs", "num_parallel_calls"):
            if getattr(self, name) is not None:
                checks.integer(name, getattr(self, name), 1)
        for name in ("start_step", "start_example"):
            checks.integer(name, getattr(self, name), 0)
        checks.integer("shuffle_buffer_bytes", self.shuffle_buffer_bytes, 1)
        if self.start_step and self.start_example:
            raise ValueError(
                "Give start_step or start_example, not both. Received: "
                f"start_step={self.start_step}, start_example={self.start_example}"
            )
        if self.start_example and self.epochs is None:
            raise ValueError(
                "start_example needs epochs=, the number of epochs of the whole training. "
                f"Received: start_example={self.start_example}, epochs=None"
            )

    @property
    def calls(self) -> int:
        """Images in work or done ahead of their batch."""
        if self.num_parallel_calls is not None:
            return self.num_parallel_calls
        return max(os.cpu_count() or 1, min(self.batch_size, _MOST_CALLS))

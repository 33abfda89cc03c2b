"""A ``keras.utils.PyDataset``: Keras's own way to read by index, on any backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np

from kfood_tfds.sampling import draws
from kfood_tfds.sampling.index_samplers import IndexSampler, Indices
from kfood_tfds.sampling.keras_data import check_sampler, epoch_places
from kfood_tfds.sampling.resampling import COPY_MARK


class PyDataset(keras.utils.PyDataset):
    """Batches of the sampled examples for ``model.fit`` with the TensorFlow, torch or JAX backend.

    Each of Keras's epochs is one of the sampler's, from its epoch on: for
    ``fit(initial_epoch=5)`` give ``sampler.at(5)``. One that is left before its last batch begins
    anew; with ``steps_per_epoch`` the next one begins when the last batch has been taken. ``fit``
    takes the batches in random order unless given ``shuffle=False``. With the TensorFlow backend
    ``sampling.dataset`` is faster.
    """

    def __init__(
        self,
        source: Any,
        sampler: IndexSampler,
        transform: Callable[[dict[str, Any]], tuple[Any, ...]] | Any,
        batch_size: int,
        *,
        seed: int = 0,
        drop_remainder: bool = False,
        **workers: Any,
    ) -> None:
        """Sets the data set up.

        Args:
            source: What ``random_access`` gives.
            sampler: Gives the indices.
            transform: A function from an example dict to ``(x, y)`` or ``(x, y, w)``, at module
                level if processes are to have it; or a ``postprocessing.Pipeline``, which
                TensorFlow runs on the CPU whatever the backend.
            batch_size: Examples in a batch.
            seed: Keys a pipeline's random draws.
            drop_remainder: Whether to leave out an epoch's last batch if it is not full.
            **workers: Keras's own arguments: ``workers``, the number of threads that make batches;
                ``use_multiprocessing``, to have processes; ``max_queue_size``, batches made ahead.

        Raises:
            ValueError: If an argument is invalid, or there is no full batch.
        """
        super().__init__(**workers)
        check_sampler(sampler, len(source))
        draws.check_count("batch_size", batch_size, 1)
        self._source, self._sampler = source, sampler
        self._transform, self._seed = transform, seed
        self._batch_size, self._drop_remainder = batch_size, drop_remainder
        self._epoch = sampler.epoch
        self._begun, self._read, self._was_reset = False, False, False
        self._pipeline: _PipelineBatch | None = None
        if hasattr(transform, "on_example"):
            self._source = source.encoded().with_transform(None)
            self._pipeline = _PipelineBatch(transform, seed)
        self._begin()
        if not len(self):
            raise ValueError(
                f"{len(sampler)} indices make no batch; use a smaller batch_size or "
                f"drop_remainder=False. Received: batch_size={batch_size}"
            )

    def _begin(self) -> None:
        self._indices: Indices = self._sampler.indices(self._epoch)
        self._places: Indices = epoch_places(self._indices)

    def __len__(self) -> int:
        """Returns the number of batches in an epoch."""
        whole, rest = divmod(len(self._sampler), self._batch_size)
        return whole + bool(rest and not self._drop_remainder)

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        """Returns one batch of the epoch as numpy arrays."""
        self._read = self._read or index == len(self) - 1
        part = slice(index * self._batch_size, (index + 1) * self._batch_size)
        examples = self._source[self._indices[part]]
        if self._pipeline is not None:
            for example, place in zip(examples, self._places[part].tolist(), strict=True):
                example["id"] += f"{COPY_MARK}{place + 1}" if place else ""
            return self._pipeline(examples, self._epoch)
        made = [self._transform(example) for example in examples]
        return tuple(np.stack(column) for column in zip(*made, strict=True))

    def on_epoch_begin(self) -> None:
        """Notes that batches are for an epoch now; Keras reads some before, for their shapes."""
        self._begun = True

    def on_epoch_end(self) -> None:
        """Goes on to the sampler's next epoch if one has been read to its end.

        Keras also calls it before the first epoch, and after building a model with a batch.
        """
        # What other processes have read isn't seen here.
        read = self._read or self.use_multiprocessing
        # A build begins an epoch without a reset before it, and readers ahead may get to its end.
        ahead = self.workers > 1 or self.use_multiprocessing
        done = self._begun and read and (self._was_reset or not ahead)
        self._begun, self._read, self._was_reset = False, False, True
        if done:
            self._epoch += 1
            self._begin()


class _PipelineBatch:
    """Runs a pipeline on a list of examples; its graph stays behind when pickled."""

    def __init__(self, pipeline: Any, seed: int) -> None:
        self._pipeline, self._seed = pipeline, seed
        self._one: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {"_pipeline": self._pipeline, "_seed": self._seed, "_one": None}

    def __call__(self, examples: list[dict[str, Any]], epoch: int) -> tuple[Any, ...]:
        import tensorflow as tf

        from kfood_tfds.postprocessing import outputs

        columns = outputs.Columns()
        if self._one is None:

            def one(example: dict[str, Any], number: Any) -> Any:
                made = self._pipeline.on_example(example, self._seed, number)
                return columns.kept(made, self._pipeline.batch_ops)

            self._one = tf.function(one, reduce_retracing=True)
        with tf.device("CPU:0"):
            number = tf.constant(epoch, tf.int64)
            made = [self._one(_tensors(example), number) for example in examples]
            batch = tf.nest.map_structure(lambda *values: tf.stack(values), *made)
            result = columns.after(self._pipeline.on_batch(batch))
        return tuple(value.numpy() for value in result)


def _tensors(example: dict[str, Any]) -> dict[str, Any]:
    import tensorflow as tf

    return {name: tf.convert_to_tensor(value) for name, value in example.items()}

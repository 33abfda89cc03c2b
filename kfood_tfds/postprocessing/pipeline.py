"""The pipeline: ops in a row, from a data set's examples to what a model takes."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from kfood_tfds.postprocessing import batching, checks, costs, outputs
from kfood_tfds.postprocessing.catalogue import OPS
from kfood_tfds.postprocessing.decoding import IMAGE
from kfood_tfds.postprocessing.ops import (
    SEED,
    BatchOp,
    Example,
    Op,
    check_seed,
    example_key,
    from_config,
    require,
)
from kfood_tfds.postprocessing.plan import Plan
from kfood_tfds.postprocessing.serving import Source, example_of, image_ops

JSON_VERSION = 1


@dataclasses.dataclass(frozen=True)
class Pipeline:
    """Ops that run one after another.

    Attributes:
        ops: Ops on examples, then, optionally, ops on batches and such that do the same to both.
    """

    ops: tuple[Op, ...]

    def __post_init__(self) -> None:
        """Checks that these are ops, those on batches last."""
        if not isinstance(self.ops, tuple) or not all(isinstance(op, Op) for op in self.ops):
            raise ValueError(f"ops must be a tuple of ops. Received: ops={self.ops!r}")
        single = [op for op in self.batch_ops if not (isinstance(op, BatchOp) or op.batchable)]
        if single:
            raise ValueError(
                f"{type(single[0]).__name__} works on single examples, so it must come before "
                f"{type(self.batch_ops[0]).__name__}, which works on batches. "
                f"Received: ops={self.ops!r}"
            )

    @property
    def example_ops(self) -> tuple[Op, ...]:
        """The ops before the first one on batches."""
        return self.ops[: self._split]

    @property
    def batch_ops(self) -> tuple[Op, ...]:
        """The first op on batches and all after it."""
        return self.ops[self._split :]

    @property
    def random(self) -> bool:
        """Whether any op draws at random."""
        return any(op.is_random for op in self.ops)

    @property
    def _split(self) -> int:
        at = (index for index, op in enumerate(self.ops) if isinstance(op, BatchOp))
        return next(at, len(self.ops))

    def __call__(self, example: Mapping[str, Any], seed: int = 0, epoch: Any = 0) -> Example:
        """Runs the ops on one example, eagerly or inside ``ds.map``.

        Args:
            example: An example dict, image decoded or encoded.
            seed: Seed of the run.
            epoch: Number of the epoch; int or tensor.

        Raises:
            ValueError: If the example isn't a dict, or the pipeline has ops on batches.
        """
        if self.batch_ops:
            raise ValueError(
                f"{type(self.batch_ops[0]).__name__} works on batches; use batches(). "
                "Received: a single example"
            )
        return self.on_example(example, seed, epoch)

    def on_example(self, example: Mapping[str, Any], seed: int, epoch: Any) -> Example:
        """Runs the ops before the first one on batches; see ``__call__``."""
        example = require(example, (IMAGE,), type(self).__name__)
        if self.random and "id" in example:
            example[SEED] = example_key(seed, epoch, example["id"])
        for position, op in enumerate(self.example_ops):
            example = op(example, position)
        return example

    def on_batch(self, batch: Mapping[str, Any]) -> Example:
        """Runs the first op on batches and those after it on a batch of examples."""
        batch = dict(batch)
        for position, op in enumerate(self.batch_ops, len(self.example_ops)):
            batch = op(batch, position)
        return batch

    def evaluation(self) -> Pipeline:
        """Returns the pipeline without chance: random windows become central, the rest goes."""
        return Pipeline(tuple(stand_in for op in self.ops for stand_in in op.evaluation()))

    def serving(self) -> Pipeline:
        """Returns the evaluation pipeline without the ops on labels."""
        return Pipeline(image_ops(self.evaluation().ops))

    def preprocess(
        self, source: Source, crop: Sequence[float] | None = None
    ) -> np.ndarray[Any, Any]:
        """Returns the one image that a served model must see, equal to that of an evaluation batch.

        Orientation tags are ignored, as in training: bring photos from a phone upright first.

        Args:
            source: Path of a JPEG, PNG or BMP file, its bytes, or pixels, uint8[h, w, 3].
            crop: Box of the dish, (ymin, xmin, ymax, xmax) in 0..1; None for the whole image.

        Returns:
            The image, without a batch axis; for ``model.predict`` add one: ``image[None]``.

        Raises:
            ValueError: If the source or the crop is invalid.
            FileNotFoundError: If there is no file at the path.
        """
        pixels = self.serving()(example_of(source, crop))[IMAGE]
        return np.asarray(pixels.numpy())

    def as_layer(self, **kwargs: Any) -> Any:
        """Returns a Keras layer from encoded images, string[batch], to what ``preprocess`` gives.

        Args:
            **kwargs: Those of ``keras.layers.Layer``, such as ``name``.

        Raises:
            ValueError: If Keras doesn't run on TensorFlow.
        """
        # Keras takes seconds to import, and loading data needs none of it.
        from kfood_tfds.postprocessing.layer import ImagePreprocessing

        return ImagePreprocessing(self.serving().to_json(), **kwargs)

    def describe(self, ds: Any = None) -> str:
        """Returns the steps in a table, with the time each takes per image on this machine.

        Args:
            ds: Encoded examples to measure on; None for drawn photos.

        Raises:
            ValueError: If the data set is empty.
        """
        return costs.table(costs.measure(self.ops, ds))

    def to_json(self, indent: int | None = None) -> str:
        """Returns the pipeline as JSON, with a version."""
        config = {"version": JSON_VERSION, "ops": [op.to_config() for op in self.ops]}
        return json.dumps(config, indent=indent)

    @classmethod
    def from_json(cls, text: str, extra_ops: Sequence[type[Op]] = ()) -> Pipeline:
        """Builds the pipeline that ``to_json`` wrote.

        Args:
            text: The JSON.
            extra_ops: Ops of your own that may occur in it.

        Raises:
            ValueError: If it isn't JSON, or names an unknown version, op or field.
        """
        config = json.loads(text)
        if not isinstance(config, dict) or set(config) != {"version", "ops"}:
            raise ValueError(
                f"A pipeline's JSON has the keys 'version' and 'ops' and no others. Received: {text}"
            )
        if config["version"] != JSON_VERSION:
            raise ValueError(
                f"This release reads pipelines of version {JSON_VERSION}. "
                f"Received: version={config['version']!r}"
            )
        if not isinstance(config["ops"], list):
            raise ValueError(f"'ops' must be a list. Received: ops={config['ops']!r}")
        known = {**OPS, **{op.__name__: op for op in extra_ops}}
        return cls(tuple(from_config(op, known) for op in config["ops"]))

    def batches(
        self,
        ds: Any,
        batch_size: int,
        *,
        seed: int = 0,
        shuffle: bool | None = None,
        epochs: int | None = None,
        drop_remainder: bool = False,
        start_step: int = 0,
        start_example: int = 0,
        num_parallel_calls: int | None = None,
        num_input_pipelines: int = 1,
        input_pipeline_id: int = 0,
        labels: str = "class",
        sample_weights: str | Sequence[float] | Mapping[int, float] | None = None,
        with_ids: bool = False,
        shuffle_buffer_bytes: int = batching.SHUFFLE_BUFFER_BYTES,
    ) -> Any:
        """Returns a ``tf.data.Dataset`` of ``(images, labels)`` for ``model.fit``.

        Each example occurs once an epoch. What a batch holds follows from the data set, the arguments
        and the epoch alone. Without ``epochs`` each iteration is an epoch, and each whole iteration
        moves on to the next; one broken off begins the same epoch again. With ``epochs`` the data set
        is all of them in a row, for ``model.fit(…, steps_per_epoch=…)`` or a loop of your own.

        Args:
            ds: Examples as ``tfds.load("kfood", decoders=SKIP_DECODING)`` gives them (decoded ones
                work too), of known number. Not batched, repeated or supervised.
            batch_size: Examples in a batch of one worker.
            seed: Keys the order and all random draws, 0..2^31-1.
            shuffle: Whether to mix the examples; by default if the pipeline is random.
            epochs: Number of epochs of one long data set, counted from the beginning.
            drop_remainder: Whether to leave out an epoch's last batch if it is not full.
            start_step: Steps to skip, without decoding, to go on where a training stopped.
            start_example: The same in examples over all workers, whose number may have changed since;
                needs ``epochs``.
            num_parallel_calls: Images to work on at a time; by default TensorFlow tunes it.
            num_input_pipelines: Number of workers that share the examples.
            input_pipeline_id: Number of this worker, from 0.
            labels: ``"class"``, ``"category"``, or ``"both"`` for a dict of ``label`` and ``category``.
            sample_weights: A key of the examples, or weights by label; a third item in each batch.
            with_ids: Whether each batch ends with the ids, string[batch]; not for ``model.fit``.
            shuffle_buffer_bytes: Bound on the encoded images held for mixing.

        Raises:
            ValueError: If an argument is invalid, or the data set lacks what the ops need.
        """
        check_seed(seed)
        if num_parallel_calls is not None:
            checks.integer("num_parallel_calls", num_parallel_calls, 1)
        columns = outputs.Columns(labels, outputs.weights(sample_weights), with_ids)
        require(ds.element_spec, columns.needs, "batches()")
        count = batching.examples_in(ds)
        plan = Plan(count, batch_size, drop_remainder, num_input_pipelines, input_pipeline_id)
        shuffle = self.random if shuffle is None else shuffle
        buffer = batching.buffer_records(ds, count, shuffle_buffer_bytes) if shuffle else 0
        repeatable = not (shuffle or self.random)
        order = batching.Order(seed, buffer, epochs, start_step, start_example, repeatable)
        batching.warn_if_unordered(ds, order, num_input_pipelines)
        calls = num_parallel_calls or tf.data.AUTOTUNE
        static = drop_remainder or not count % (batch_size * num_input_pipelines)

        def finish(records: Any, epoch: Any, size: int) -> Any:
            def one(example: Example) -> Example:
                kept = columns.before(example)
                return columns.kept(self.on_example(example, seed, epoch) | kept, self.batch_ops)

            examples = records.map(one, num_parallel_calls=calls, deterministic=True)
            batches = examples.batch(size, drop_remainder=static)
            return batches.map(lambda batch: columns.after(self.on_batch(batch)))

        return batching.ordered_batches(ds, plan, order, finish)

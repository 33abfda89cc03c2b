"""The pipeline: ops in a row, from a data set's examples to what a model takes."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kfood_tfds.postprocessing import batching, costs
from kfood_tfds.postprocessing.catalogue import OPS, known_ops
from kfood_tfds.postprocessing.color import Grayscale
from kfood_tfds.postprocessing.decoding import CUT, IMAGE, image_size, jpeg_cut, pending_window
from kfood_tfds.postprocessing.ops import (
    SEED,
    BatchOp,
    Example,
    Op,
    PixelOp,
    RandomPixelOp,
    example_key,
    from_config,
    op_types,
    require,
)
from kfood_tfds.postprocessing.options import BatchOptions
from kfood_tfds.postprocessing.pixels import Decode, MultiCrop, RandomFlip, Resize
from kfood_tfds.postprocessing.serving import Source, image_ops, preprocessed

JSON_VERSION = 1
_DECODING = (PixelOp.__call__, RandomPixelOp.__call__)


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
        self._check_crops()

    def _check_crops(self) -> None:
        """Checks that after several crops come only ops that do the same to each."""
        at = next((place for place, op in enumerate(self.ops) if type(op) is MultiCrop), None)
        later = () if at is None else self.ops[at + 1 :]
        unfit = [op for op in later if type(op) in OPS.values() and not _fits_crops(op)]
        if unfit:
            raise ValueError(
                "After MultiCrop, which is for evaluation, an image has several crops; only "
                "Resize, RandomFlip and ops on values can follow. Put the others before it, or "
                "leave them out. "
                f"Received: {type(unfit[0]).__name__} after MultiCrop"
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
    def window_ops(self) -> tuple[Op, ...]:
        """The leading ops that find the windows of many examples at a time."""
        return tuple(itertools.takewhile(lambda op: op.takes_many, self.example_ops))

    @property
    def decodes_next(self) -> bool:
        """Whether an op that decodes follows on ``window_ops``, so that the window is done."""
        following = self.example_ops[len(self.window_ops) :]
        return bool(following) and type(following[0]).__call__ in _DECODING

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
        return self.run_from(0, self._keyed(example, seed, epoch))

    def on_encoded(self, examples: Mapping[str, Any], seed: int, epochs: Any) -> Example:
        """Runs ``window_ops`` on many encoded examples at a time.

        Args:
            examples: A batch of n examples, n known, with ``height`` and ``width``.
            seed: Seed of the run.
            epochs: Number of each one's epoch, int64[n].
        """
        examples = self._keyed(examples, seed, epochs)
        for position, op in enumerate(self.window_ops):
            examples = op(examples, position)
        # Only where nothing can narrow the window any more.
        if self.decodes_next:
            examples[CUT] = jpeg_cut(pending_window(examples), image_size(examples))
        return examples

    def run_from(self, start: int, example: Mapping[str, Any]) -> Example:
        """Runs ``example_ops[start:]`` on an example for which those before are done."""
        example = dict(example)
        for position, op in enumerate(self.example_ops[start:], start):
            example = op(example, position)
        return example

    def _keyed(self, example: Mapping[str, Any], seed: int, epoch: Any) -> Example:
        example = require(example, (IMAGE,), type(self).__name__)
        example.pop(CUT, None)
        if self.random and "id" in example:
            example[SEED] = example_key(seed, epoch, example["id"])
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
        result: np.ndarray[Any, Any] = preprocessed(self.serving(), source, crop)
        return result

    def as_layer(self, **kwargs: Any) -> Any:
        """Returns a Keras layer from encoded images, string[batch], to what ``preprocess`` gives.

        A model with ops of your own in it is loaded with ``custom_objects={"MyOp": MyOp}``.

        Args:
            **kwargs: Those of ``keras.layers.Layer``, such as ``name``.

        Raises:
            ValueError: If Keras doesn't run on TensorFlow.
        """
        # The layer's class needs Keras on TensorFlow, and reading data doesn't.
        from kfood_tfds.postprocessing.layer import ImagePreprocessing

        return ImagePreprocessing(self, **kwargs)

    def describe(self, ds: Any = None) -> str:
        """Returns the steps in a table, with the time each takes per image on this machine.

        Args:
            ds: Encoded examples to measure on; None for drawn photos.

        Raises:
            ValueError: If the data set is empty.
        """
        return costs.table(costs.measure(self.ops, ds))

    def to_json(self, indent: int | None = None) -> str:
        """Returns the pipeline as JSON, with a version.

        Raises:
            ValueError: If what is read from it would be another pipeline: one of two ops of the
                same name, or one that lacks what JSON can't hold.
        """
        known_ops(op_types(self.ops))
        config = {"version": JSON_VERSION, "ops": [op.to_config() for op in self.ops]}
        return json.dumps(config, indent=indent)

    @classmethod
    def from_json(cls, text: str, extra_ops: Sequence[type[Op]] = ()) -> Pipeline:
        """Builds the pipeline that ``to_json`` wrote.

        Args:
            text: The JSON.
            extra_ops: Ops of your own that may occur in it.

        Raises:
            ValueError: If it isn't JSON, or names an unknown version, op or field, or if one of
                ``extra_ops`` is named like another op.
        """
        config = _parsed(text)
        if not isinstance(config, dict) or set(config) != {"version", "ops"}:
            raise ValueError(
                f"A pipeline's JSON has the keys 'version' and 'ops', no others. Received: {text}"
            )
        if config["version"] != JSON_VERSION:
            raise ValueError(
                f"This release reads pipelines of version {JSON_VERSION}. "
                f"Received: version={config['version']!r}"
            )
        if not isinstance(config["ops"], list):
            raise ValueError(f"'ops' must be a list. Received: ops={config['ops']!r}")
        known = known_ops(extra_ops)
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
        labels: str = "class",
        **more: Any,
    ) -> Any:
        """Returns a ``tf.data.Dataset`` of ``(images, labels)`` for ``model.fit``.

        Each example occurs once an epoch. What a batch holds follows from the data set, the
        arguments and the epoch alone. Without ``epochs`` each iteration is an epoch, and each whole
        iteration moves on to the next; one broken off begins the same epoch again. With ``epochs``
        the data set is all of them in a row, for ``model.fit(…, steps_per_epoch=…)`` or a loop of
        your own.

        Args:
            ds: Examples as ``tfds.load("kfood", decoders=SKIP_DECODING)`` gives them (decoded ones
                work too), of known number. Not batched, repeated or supervised.
            batch_size: Examples in a batch of one worker.
            seed: Keys the order and all random draws, 0..2^31-1.
            shuffle: Whether to mix the examples; by default if the pipeline is random.
            epochs: Number of epochs of one long data set, counted from the beginning.
            drop_remainder: Whether to leave out an epoch's last batch if it is not full.
            start_step: Steps to skip, without decoding, to go on where a training stopped.
            labels: ``"class"``, ``"category"``, or ``"both"`` for a dict of both.
            **more: The other fields of ``BatchOptions``.

        Raises:
            ValueError: If an argument is invalid, or the data set lacks what the ops need.
        """
        main = (seed, shuffle, epochs, drop_remainder, start_step)
        return batching.make_batches(
            self, ds, BatchOptions(batch_size, *main, labels=labels, **more)
        )


def _fits_crops(op: Op) -> bool:
    # A flip takes all crops of an image alike.
    alike = type(op) in (Decode, Resize, RandomFlip)
    return op.batchable or alike or (type(op) is Grayscale and not op.is_random)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"A pipeline is read from the JSON that to_json() wrote ({error}). "
            f"Received: {text[:200]!r}"
        ) from error

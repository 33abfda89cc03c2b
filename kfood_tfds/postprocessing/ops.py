"""The contract of a postprocessing op: a frozen dataclass that maps an example to an example.

An example is the dict that ``tfds.load("kfood")`` yields. More keys travel in it while ops run:

* ``WINDOW``: int32[4] (or int32[n, 4]), the pending window ``(y, x, height, width)`` in pixels of
  ``"image"``. Window ops narrow it, and the first op that needs pixels decodes inside it and takes
  it out. ``batches`` may put ``CUT`` beside it, see ``decoding.jpeg_cut``. Both names stand in
  ``decoding``; no feature of a data set has them.
* ``"seed"``: int64[2], the key of all random draws for this example in this epoch. ``Pipeline``
  sets it from (seed, epoch, id); an op used alone does without it and derives its key from the id.

Pixels are uint8 or float32 in 0..255 until an op scales them.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import tensorflow as tf

from kfood_tfds.postprocessing import decoding

Example = dict[str, Any]

SEED = "seed"
_SEED_BITS = 31


@dataclasses.dataclass(frozen=True)
class Op:
    """A step that always does the same to the same example.

    Subclasses are frozen dataclasses whose fields are numbers, strings, ``None``, ops, or tuples of
    those, so that they can be written as JSON. They check their fields in ``__post_init__`` and
    implement ``apply``.

    Attributes:
        needs: Keys that must be in the example.
        batchable: Whether ``apply`` does the same to a batch of examples as to each alone, so that
            the op may follow one on batches.
        takes_many: Whether the op changes the window alone, without a look at the bytes of the
            image, and also for many examples at a time, as they are before decoding; so that
            ``batches`` finds their windows in one go. Draws are those of each example's own seed.
            A subclass has to say it anew, as what it overrides may not take many.
    """

    needs: ClassVar[tuple[str, ...]] = ("image",)
    batchable: ClassVar[bool] = False
    takes_many: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Makes ``takes_many`` hold for the class alone that says it."""
        super().__init_subclass__(**kwargs)
        cls.takes_many = cls.__dict__.get("takes_many", False)

    def __call__(self, example: Mapping[str, Any], position: int = 0) -> Example:
        """Returns the example after this step; the given one stays as it is.

        Args:
            example: An example as TFDS yields it, or as another op returned it.
            position: Place of the op in its pipeline. Keys the random draws, nothing else.

        Raises:
            ValueError: If the example is no dict or lacks a key.
        """
        del position
        return self.apply(require(example, self.needs, type(self).__name__))

    def apply(self, example: Example) -> Example:
        """Does the work on a dict of its own, which it may change and return."""
        raise NotImplementedError

    @property
    def is_random(self) -> bool:
        """Whether the op draws at random."""
        return False

    def evaluation(self) -> tuple[Op, ...]:
        """Returns the steps that stand in for this one in evaluation and serving."""
        return (self,)

    def to_config(self) -> dict[str, Any]:
        """Returns the op as plain JSON values, its class under ``"op"``.

        Raises:
            ValueError: If a field holds what JSON wouldn't give back.
        """
        name = type(self).__name__
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        if "op" in values:
            raise ValueError(
                "In an op's JSON 'op' is the name of its class, so no field may be called so; "
                f"rename it. Received: {name}.op"
            )
        plain = {key: _plain(value, f"{name}.{key}") for key, value in values.items()}
        return {"op": name, **plain}


@dataclasses.dataclass(frozen=True)
class PixelOp(Op):
    """A step on pixels: ``apply`` finds ``"image"`` decoded and cut to its window."""

    def __call__(self, example: Mapping[str, Any], position: int = 0) -> Example:
        """Decodes if that is still to do, then applies the op; see ``Op``."""
        del position
        return self.apply(decoding.decoded(require(example, self.needs, type(self).__name__)))


@dataclasses.dataclass(frozen=True)
class RandomOp(Op):
    """A step with random draws, all of them stateless from one seed.

    Subclasses implement ``draw`` in place of ``apply``.

    Attributes:
        seed: Distinguishes ops of the same class; in 0..2^31-1.
    """

    seed: int = dataclasses.field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        """Checks the seed."""
        check_seed(self.seed)

    @property
    def is_random(self) -> bool:
        """Whether the op draws at random."""
        return True

    def __call__(self, example: Mapping[str, Any], position: int = 0) -> Example:
        """Applies the op with the seed of this example; see ``Op``."""
        example = require(example, self.needs, type(self).__name__)
        return self.draw(example, op_seed(self, example, position))

    def draw(self, example: Example, seed: Any) -> Example:
        """Does the work.

        Args:
            example: A dict of the op's own, which it may change and return.
            seed: int64[2] tensor for ``tf.random.stateless_*``; ``split_seed`` gives more of them.
        """
        raise NotImplementedError

    def evaluation(self) -> tuple[Op, ...]:
        """Returns the steps for evaluation: by default the op is left out."""
        return ()


@dataclasses.dataclass(frozen=True)
class RandomPixelOp(RandomOp):
    """A random step on pixels: ``draw`` finds ``"image"`` decoded and cut to its window."""

    def __call__(self, example: Mapping[str, Any], position: int = 0) -> Example:
        """Decodes if that is still to do, then applies the op; see ``Op``."""
        example = require(example, self.needs, type(self).__name__)
        return self.draw(decoding.decoded(example), op_seed(self, example, position))


@dataclasses.dataclass(frozen=True)
class BatchOp(RandomOp):
    """A random step on a whole batch, such as mixing images; ``draw`` gets batched tensors.

    ``"image"`` is [batch, height, width, 3], ``"label"`` whatever the ops before made of it. The
    seed is that of the batch's first example, so it follows from (seed, epoch, id) as well.
    """

    needs: ClassVar[tuple[str, ...]] = ("image", "label")

    def __call__(self, example: Mapping[str, Any], position: int = 0) -> Example:
        """Applies the op to a batch; see ``Op``."""
        batch = require(example, self.needs, type(self).__name__)
        first = {key: batch[key][0] for key in (SEED, "id") if key in batch}
        return self.draw(batch, op_seed(self, first, position))


def require(example: Any, keys: tuple[str, ...], name: str) -> Example:
    """Returns the example as a new dict after checking that it has all keys.

    Raises:
        ValueError: If it is no dict (as with ``as_supervised=True``) or lacks a key.
    """
    if not isinstance(example, Mapping):
        raise ValueError(
            f"{name} works on example dicts; load the data set without as_supervised=True. "
            f"Received: example of type {type(example).__name__}"
        )
    missing = [key for key in keys if key not in example]
    if missing:
        raise ValueError(
            f"{name} needs the feature(s) {', '.join(missing)}; leave them in the data set. "
            f"Received: example with keys {sorted(example)}"
        )
    return dict(example)


def check_seed(seed: Any) -> None:
    """Raises ValueError unless the seed is an int in 0..2^31-1."""
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**_SEED_BITS:
        raise ValueError(f"seed must be an int in 0..2**31-1. Received: seed={seed!r}")


def example_key(seed: int, epoch: Any, example_id: Any) -> Any:
    """Returns int64[2] (or int64[n, 2]): the key of all draws for an example in an epoch.

    Args:
        seed: Seed of the run, 0..2^31-1.
        epoch: Number of the epoch, 0..2^32-1; int or scalar tensor.
        example_id: String tensor, scalar or [n].

    Raises:
        ValueError: If the id is no string.
    """
    example_id = tf.convert_to_tensor(example_id)
    if example_id.dtype != tf.string:
        raise ValueError(
            "Random draws go by the feature 'id', a string; convert it with tf.strings.as_string. "
            f"Received: id of dtype {example_id.dtype.name}"
        )
    # FarmHash of the bytes is the same on every machine, unlike Python's hash.
    hashed = tf.strings.to_hash_bucket_fast(example_id, 2**63 - 1)
    run = tf.cast(epoch, tf.int64) + (seed << 32)
    return tf.stack([tf.broadcast_to(run, tf.shape(hashed)), hashed], axis=-1)


def op_seed(op: RandomOp, example: Mapping[str, Any], position: int) -> Any:
    """Returns the op's int64[2] seed for this example; None if it doesn't draw.

    Raises:
        ValueError: If the example has neither a seed nor an id.
    """
    if not op.is_random:
        return None
    if SEED in example:
        key = example[SEED]
    elif "id" in example:
        key = example_key(0, 0, example["id"])
    else:
        raise ValueError(
            f"{type(op).__name__} draws at random by example id; leave the feature 'id' in the "
            f"data set. Received: example with keys {sorted(example)}"
        )
    # TensorFlow scrambles seeds before use, so a different key is enough for independent draws.
    return tf.bitwise.bitwise_xor(key, _salt(f"{type(op).__name__}/{position}/{op.seed}"))


def split_seed(seed: Any, num: int) -> list[Any]:
    """Returns ``num`` seeds, int64[2] each, for several independent draws in one op."""
    return [tf.bitwise.bitwise_xor(seed, _salt(f"split/{index}")) for index in range(num)]


def _salt(text: str) -> Any:
    digest = hashlib.sha256(text.encode()).digest()
    parts = [int.from_bytes(digest[start : start + 8], "little") >> 1 for start in (0, 8)]
    return tf.constant(parts, tf.int64)


def _plain(value: Any, name: str) -> Any:
    if isinstance(value, Op):
        return value.to_config()
    if isinstance(value, tuple):
        return [_plain(item, name) for item in value]
    if value is not None and not isinstance(value, (bool, int, float, str)):
        raise ValueError(
            "An op that is written as JSON may have numbers, strings, None, ops, and tuples of "
            f"those in its fields. Received: {name} with {value!r} of type {type(value).__name__}"
        )
    return value


def op_types(value: Any) -> Iterator[type[Op]]:
    """Yields the classes of all ops in an op or a tuple, also of those in their fields."""
    if isinstance(value, Op):
        yield type(value)
        value = tuple(getattr(value, field.name) for field in dataclasses.fields(value))
    if isinstance(value, tuple):
        for item in value:
            yield from op_types(item)


class UnknownOp(ValueError):
    """A configuration names an op that isn't among those known."""


def from_config(config: Any, known: Mapping[str, type[Op]]) -> Op:
    """Builds the op that ``to_config`` described.

    Args:
        config: A dict with the op's class name under ``"op"`` and its fields.
        known: The ops that may occur, by class name.

    Raises:
        UnknownOp: If the op is unknown.
        ValueError: If one of its fields is unknown or has no valid value.
    """
    if not isinstance(config, Mapping) or "op" not in config:
        raise ValueError(f"An op must be a JSON object with the key 'op'. Received: {config!r}")
    name = config["op"]
    if not isinstance(name, str) or name not in known:
        raise UnknownOp(f"Unknown op {name!r}; known are {sorted(known)}. Received: {config!r}")
    fields = {field.name for field in dataclasses.fields(known[name])}
    unknown = sorted(set(config) - fields - {"op"})
    if unknown:
        raise ValueError(
            f"Op {name!r} has no field(s) {', '.join(map(repr, unknown))}; "
            f"its fields are {sorted(fields)}. Received: {config!r}"
        )
    values = {key: _restored(value, known) for key, value in config.items() if key != "op"}
    try:
        return known[name](**values)
    except (TypeError, OverflowError) as error:
        raise ValueError(f"Op {name!r} can't be built: {error}. Received: {config!r}") from error


def _restored(value: Any, known: Mapping[str, type[Op]]) -> Any:
    if isinstance(value, Mapping):
        return from_config(value, known)
    if isinstance(value, list):
        return tuple(_restored(item, known) for item in value)
    return value

"""Drawn examples, so that users' tests need no built data set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds

from kfood_tfds.postprocessing import checks
from kfood_tfds.postprocessing.values import NUM_CATEGORIES, NUM_CLASSES

_BOX_SHARE = 0.3


def fake_examples(
    num_examples: int, *, encoded: bool = True, sides: tuple[int, int] = (64, 160), seed: int = 0
) -> Any:
    """Returns a data set of drawn examples with the features of ``kfood``.

    Args:
        num_examples: How many.
        encoded: Whether ``image`` is JPEG bytes, as with ``SKIP_DECODING``; else uint8 pixels.
        sides: Bounds of height and width, pixels.
        seed: Of every choice.

    Returns:
        A ``tf.data.Dataset`` of known cardinality, the same whenever it is read.

    Raises:
        ValueError: If an argument is invalid.
    """
    checks.integer("num_examples", num_examples, 1)
    checks.integer("sides", sides[0], 8)
    checks.integer("sides", sides[1], sides[0])
    drawn = [
        _draw(np.random.default_rng([seed, index]), index, sides) for index in range(num_examples)
    ]
    columns = {key: _column([example[key] for example in drawn]) for key in drawn[0]}
    ds = tf.data.Dataset.from_tensor_slices(columns)
    if encoded:
        return ds
    return ds.map(lambda example: example | {"image": tf.io.decode_jpeg(example["image"], 3)})


def as_dataset_fn(num_examples: int = 8, **drawn: Any) -> Callable[..., Any]:
    """Returns a stand-in for ``kfood``'s reader, for ``tfds.testing.mock_data``.

    ``mock_data`` alone draws boxes that no image can have, and bytes that are no image::

        with tfds.testing.mock_data(as_dataset_fn=pp.as_dataset_fn(num_examples=16)):
            ds = tfds.load("kfood", split="train", decoders=pp.SKIP_DECODING)

    Args:
        num_examples: Examples in each split.
        **drawn: ``sides`` and ``seed`` of ``fake_examples``.
    """

    def as_dataset(builder: Any, split: Any = None, decoders: Any = None, **options: Any) -> Any:
        del builder, split, options
        if isinstance(decoders, tfds.decode.PartialDecoding):
            raise ValueError(
                "The drawn examples can't be decoded in part; leave out PartialDecoding."
            )
        skip = isinstance((decoders or {}).get("image"), tfds.decode.SkipDecoding)
        return fake_examples(num_examples, encoded=skip, **drawn)

    return as_dataset


def _column(values: list[Any]) -> Any:
    # TensorFlow makes a list of 64-bit numbers a tensor of 32 bits; numpy would cut bytes short.
    return values if isinstance(values[0], bytes) else np.stack(values)


def _draw(rng: np.random.Generator, index: int, sides: tuple[int, int]) -> dict[str, Any]:
    height, width = (int(side) for side in rng.integers(sides[0], sides[1] + 1, 2))
    coarse = rng.uniform(0, 255, (1, height // 8 + 2, width // 8 + 2, 3))
    pixels = tf.image.resize(coarse, (height, width), "bicubic")[0]
    label = index % NUM_CLASSES
    annotated = rng.random() < _BOX_SHARE
    low, high = (rng.uniform(0, 0.3, 2), rng.uniform(0.7, 1, 2)) if annotated else (0.0, 1.0)
    box = np.empty(4, np.float32)
    box[:2], box[2:] = low, high
    return {
        "image": tf.io.encode_jpeg(tf.saturate_cast(pixels, tf.uint8), quality=90).numpy(),
        "label": np.int64(label),
        "category": np.int64(label % NUM_CATEGORIES),
        "crop": box,
        "crop_status": np.int64(0 if annotated else 2),
        "height": np.int32(height),
        "width": np.int32(width),
        "id": f"구이/갈비구이/Img_{label:03d}_{index:04d}.jpg".encode(),
        "group": np.int64(index),
    }

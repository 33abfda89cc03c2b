"""One image as a served model must see it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from kfood_tfds.postprocessing.decoding import IMAGE
from kfood_tfds.postprocessing.ops import Example, Op

WHOLE = (0.0, 0.0, 1.0, 1.0)

_RULE = "The source must be a whole JPEG, PNG or BMP image, or the path of one."

Source = str | os.PathLike[str] | bytes | np.ndarray[Any, Any]


def image_ops(ops: Sequence[Op]) -> tuple[Op, ...]:
    """Returns the ops that work on the image, without those on labels."""
    return tuple(op for op in ops if IMAGE in op.needs)


def example_of(source: Source, crop: Sequence[float] | None = None) -> Example:
    """Returns an example of one image.

    Args:
        source: Path of an image file, its bytes, or pixels, uint8[h, w, 3].
        crop: ymin, xmin, ymax, xmax in 0..1; None for the whole image.

    Raises:
        ValueError: If it is none of these, or the crop isn't inside the image.
        FileNotFoundError: If there is no file at the path.
    """
    box = np.asarray(WHOLE if crop is None else crop, np.float32)
    inside = box.shape == (4,) and (box >= 0).all() and (box <= 1).all()
    if not inside or not (box[:2] < box[2:]).all():
        raise ValueError(
            "crop must be ymin, xmin, ymax, xmax in 0..1, ymin below ymax and xmin below xmax. "
            f"Received: crop={crop!r}"
        )
    return {IMAGE: _image(source), "crop": tf.constant(box)}


def preprocessed(pipeline: Callable[[Example], Example], source: Source, crop: Any) -> Any:
    """Returns the image that a pipeline makes of one image, as numpy array.

    Raises:
        ValueError: If the source can't be decoded; else as ``example_of``.
    """
    example = example_of(source, crop)
    try:
        return np.asarray(pipeline(example)[IMAGE].numpy())
    except tf.errors.InvalidArgumentError as error:
        if isinstance(source, np.ndarray):
            raise
        shown = f"{len(source)} bytes" if isinstance(source, bytes) else repr(os.fspath(source))
        words = " ".join(error.message.split())
        raise ValueError(f"{_RULE} Received: {shown} ({words[:200]})") from error


def _image(source: Source) -> Any:
    if isinstance(source, bytes):
        return tf.constant(source)
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        if not tf.io.gfile.exists(path):
            raise FileNotFoundError(
                "The source must be the path of an image file, its bytes, or pixels. "
                f"Received: {path!r}, where there is no file"
            )
        if tf.io.gfile.isdir(path):
            raise ValueError(f"{_RULE} Received: {path!r}, a folder")
        return tf.io.read_file(path)
    array = np.asarray(source)
    if array.dtype != np.uint8 or array.ndim != 3 or array.shape[-1] != 3 or 0 in array.shape:
        raise ValueError(
            "The source must be a path, bytes, or a uint8 array of shape (height, width, 3). "
            f"Received: {type(source).__name__} of dtype {array.dtype} and shape {array.shape}"
        )
    return tf.constant(array)

"""Ready-made pipelines."""

from __future__ import annotations

from collections.abc import Sequence

from kfood_tfds.postprocessing import checks
from kfood_tfds.postprocessing.ops import BatchOp, Op
from kfood_tfds.postprocessing.pipeline import Pipeline
from kfood_tfds.postprocessing.pixels import DTYPES, RandomFlip, Resize
from kfood_tfds.postprocessing.values import NUM_CLASSES, SCALES, OneHot, Scale
from kfood_tfds.postprocessing.windows import (
    CentralSquare,
    CropToBox,
    FixedWindow,
    RandomResizedCrop,
    RandomSquare,
)

CROPS = ("random", "resized", "central", "window", "none")


def train_pipeline(
    size: int,
    crop: str = "random",
    flip: bool = True,
    scale: str | Op = "unit",
    dtype: str = "float32",
    one_hot: bool = True,
    augment: Sequence[Op] = (),
    *,
    num_classes: int = NUM_CLASSES,
    smoothing: float = 0.0,
    method: str = "bilinear",
    antialias: bool = False,
    margin: float = 0.0,
) -> Pipeline:
    """Returns a pipeline for training.

    Args:
        size: Height and width of the images, pixels.
        crop: ``"random"``: a random 90 % square of the crop box. ``"resized"``: a part of it of
            random area and aspect. ``"central"``: its middle square. ``"window"``: ``size`` pixels
            of it, without resizing where the stored image is large enough. ``"none"``: the whole
            image.
        flip: Whether to mirror half of the images left to right.
        scale: ``"unit"`` (0..1), ``"symmetric"`` (-1..1), ``"imagenet"``, ``"caffe"``, ``"none"``
            (0..255), or an op such as ``Normalize.from_info(info)``. Not with uint8.
        dtype: ``"float32"``, or ``"uint8"`` for rescaling on the device.
        one_hot: Whether labels are vectors; else integers.
        augment: Ops to run after resizing and flipping; those on batches run last.
        num_classes: Length of the label vectors.
        smoothing: Label smoothing.
        method: Of resizing: ``"nearest"``, ``"bilinear"``, ``"area"`` or ``"bicubic"``.
        antialias: Whether shrinking averages over all the pixels it merges.
        margin: Share of the crop box's size to add around it.

    Raises:
        ValueError: If an argument is invalid.
    """
    checks.flag("flip", flip)
    _check_augment(augment)
    head = _head(size, crop, True, dtype, (method, antialias, margin))
    mirror = (RandomFlip(),) if flip else ()
    single = tuple(op for op in augment if not isinstance(op, BatchOp))
    batch = tuple(op for op in augment if isinstance(op, BatchOp))
    tail = _tail(scale, dtype, one_hot, num_classes, smoothing)
    return Pipeline((*head, *mirror, *single, *tail, *batch))


def eval_pipeline(
    size: int,
    crop: str = "central",
    scale: str | Op = "unit",
    dtype: str = "float32",
    one_hot: bool = True,
    *,
    num_classes: int = NUM_CLASSES,
    method: str = "bilinear",
    antialias: bool = False,
    margin: float = 0.0,
) -> Pipeline:
    """Returns a pipeline for evaluation and serving: nothing in it is random.

    With the same arguments it equals ``train_pipeline(…).evaluation()`` without augmentation and
    smoothing. ``"random"``, ``"resized"`` and ``"central"`` all take the middle square of the crop
    box, ``"window"`` the middle ``size`` pixels. For the arguments see ``train_pipeline``.

    Raises:
        ValueError: If an argument is invalid.
    """
    head = _head(size, crop, False, dtype, (method, antialias, margin))
    return Pipeline((*head, *_tail(scale, dtype, one_hot, num_classes, 0.0)))


def _head(
    size: int, crop: str, random: bool, dtype: str, how: tuple[str, bool, float]
) -> tuple[Op, ...]:
    method, antialias, margin = how
    checks.integer("size", size, 1)
    checks.choice("crop", crop, CROPS)
    checks.choice("dtype", dtype, DTYPES)
    window: tuple[Op, ...] = ()
    if crop != "none":
        window = (CropToBox(margin), _window(size, crop, random))
    # Where pixels are copied, not computed, eight bits lose nothing and are a quarter of the work.
    whole = dtype == "uint8" or crop == "window" or method == "nearest"
    return (*window, Resize(size, method, antialias, "uint8" if whole else "float32"))


def _window(size: int, crop: str, random: bool) -> Op:
    if crop == "window":
        return FixedWindow(size, "random" if random else "central")
    if crop == "central" or not random:
        return CentralSquare()
    return RandomSquare() if crop == "random" else RandomResizedCrop()


def _tail(
    scale: str | Op, dtype: str, one_hot: bool, num_classes: int, smoothing: float
) -> tuple[Op, ...]:
    checks.flag("one_hot", one_hot)
    if not isinstance(scale, Op):
        checks.choice("scale", scale, SCALES)
        scale = Scale(scale)
    if dtype == "uint8" and scale not in (Scale("unit"), Scale("none")):
        raise ValueError(
            "dtype='uint8' leaves the pixels at 0..255, so they can't be scaled here; use "
            f"dtype='float32' or scale on the device. Received: scale={scale!r}"
        )
    values: tuple[Op, ...] = () if dtype == "uint8" else (scale,)
    labels = (OneHot(num_classes, smoothing),) if one_hot else ()
    return (*values, *labels)


def _check_augment(augment: Sequence[Op]) -> None:
    # A generator would be used up by this look.
    if not isinstance(augment, Sequence) or not all(isinstance(op, Op) for op in augment):
        raise ValueError(f"augment must be a sequence of ops. Received: augment={augment!r}")

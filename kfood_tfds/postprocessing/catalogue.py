"""The ops that a pipeline's JSON may name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from kfood_tfds.postprocessing.auto_augment import RandAugment, TrivialAugmentWide
from kfood_tfds.postprocessing.color import ColorJitter, Grayscale
from kfood_tfds.postprocessing.erasing import RandomErasing
from kfood_tfds.postprocessing.geometry import RandomRotation
from kfood_tfds.postprocessing.mix import CutMix, MixUp
from kfood_tfds.postprocessing.ops import Op
from kfood_tfds.postprocessing.pixels import Decode, MultiCrop, RandomFlip, Resize
from kfood_tfds.postprocessing.values import Normalize, OneHot, Scale
from kfood_tfds.postprocessing.windows import (
    CentralSquare,
    CropToBox,
    FixedWindow,
    RandomResizedCrop,
    RandomSquare,
)

_ALL: tuple[type[Op], ...] = (
    CentralSquare,
    ColorJitter,
    CropToBox,
    CutMix,
    Decode,
    FixedWindow,
    Grayscale,
    MixUp,
    MultiCrop,
    Normalize,
    OneHot,
    RandAugment,
    RandomErasing,
    RandomFlip,
    RandomResizedCrop,
    RandomRotation,
    RandomSquare,
    Resize,
    Scale,
    TrivialAugmentWide,
)

OPS: Mapping[str, type[Op]] = MappingProxyType({op.__name__: op for op in _ALL})


def known_ops(own: Iterable[type[Op]]) -> Mapping[str, type[Op]]:
    """Returns the ops of this package and the given ones, by class name.

    Raises:
        ValueError: If two of them have the same name.
    """
    known = dict(OPS)
    for op in own:
        other = known.setdefault(op.__name__, op)
        if other is not op:
            raise ValueError(
                "A pipeline's JSON names each op by its class alone, so no two classes may have "
                "the same name; rename yours. "
                f"Received: {_full_name(op)} and {_full_name(other)}"
            )
    return known


def _full_name(op: type[Op]) -> str:
    return f"{op.__module__}.{op.__qualname__}"

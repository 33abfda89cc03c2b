"""The ops that a pipeline's JSON may name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

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
    CropToBox,
    Decode,
    FixedWindow,
    MultiCrop,
    Normalize,
    OneHot,
    RandomFlip,
    RandomResizedCrop,
    RandomSquare,
    Resize,
    Scale,
)

OPS: Mapping[str, type[Op]] = MappingProxyType({op.__name__: op for op in _ALL})

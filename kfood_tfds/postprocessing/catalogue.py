"""The ops that a pipeline's JSON may name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from kfood_tfds.postprocessing.ops import Op

_ALL: tuple[type[Op], ...] = ()

OPS: Mapping[str, type[Op]] = MappingProxyType({op.__name__: op for op in _ALL})

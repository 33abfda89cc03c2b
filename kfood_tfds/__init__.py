"""AI Hub's Korean food photos as the TFDS data set `kfood`; importing this registers it."""

from __future__ import annotations

import importlib
from types import ModuleType

from kfood_tfds.kfood import Builder as Builder
from kfood_tfds.kfood import KfoodConfig as KfoodConfig

__version__ = "0.1.0"

__all__ = ["Builder", "KfoodConfig"]

# Imported on first use: they load TensorFlow or Pillow, which `import kfood_tfds` shouldn't.
_SUBMODULES = ("postprocessing", "sampling", "statistics")


def __getattr__(name: str) -> ModuleType:
    """Imports a submodule when it is first asked for."""
    if name in _SUBMODULES:
        return importlib.import_module(f"kfood_tfds.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

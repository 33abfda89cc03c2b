"""AI Hub's Korean food photos as the TFDS data set `kfood`; importing this registers it."""

from __future__ import annotations

import importlib
from typing import Any

from kfood_tfds.kfood import Builder as Builder
from kfood_tfds.kfood import KfoodConfig as KfoodConfig

__version__ = "0.1.0"

__all__ = ["Builder", "KfoodConfig"]

# Imported on first use: they load TensorFlow or Pillow, which `import kfood_tfds` shouldn't.
_SUBMODULES = ("postprocessing", "sampling", "statistics")


# Functions that are called by the package's name, and where they are.
_FUNCTIONS = {
    "random_access": "sources",
    "convert_to_array_record": "sources",
    "load": "configuration",
    "mapped_dataset": "mapped",
}


def __getattr__(name: str) -> Any:
    """Imports a submodule, or the module of a function, when it is first asked for."""
    if name in _SUBMODULES:
        return importlib.import_module(f"kfood_tfds.{name}")
    if name in _FUNCTIONS:
        return getattr(importlib.import_module(f"kfood_tfds.{_FUNCTIONS[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

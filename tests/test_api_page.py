"""docs/api.md names what the package offers: no name less, and none that isn't there."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from types import ModuleType

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "api.md"
_SECTION = re.compile(r"^## `(?P<module>[\w.]+)`\n(?P<body>.*?)(?=^## |\Z)", re.M | re.S)
_ROW = re.compile(r"^\| `(?P<name>\w+)", re.M)
SECTIONS = {m["module"]: m["body"] for m in _SECTION.finditer(PAGE.read_text(encoding="utf-8"))}
# Faces re-export and define nothing, save for these; other modules offer what they define.
FACES = {"kfood_tfds.postprocessing": {"SKIP_DECODING"}, "kfood_tfds.sampling": {"PyDataset"}}
# Given by the package's `__getattr__` on first use.
LAZY = {"load", "random_access", "convert_to_array_record", "mapped_dataset"}


def _names_on_the_page(module: str) -> list[str]:
    return [match["name"] for match in _ROW.finditer(SECTIONS[module])]


def _offered(module: ModuleType) -> set[str]:
    """Returns the public names of a module: a face's re-exports, or what is defined in it."""
    own = {
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__.startswith("kfood_tfds.")
    }
    if module.__name__ in FACES:
        return own | FACES[module.__name__]
    return {name for name in own if getattr(module, name).__module__ == module.__name__}


def test_the_page_has_a_section_for_every_public_module() -> None:
    assert set(SECTIONS) == {
        "kfood_tfds",
        "kfood_tfds.postprocessing",
        "kfood_tfds.sampling",
        "kfood_tfds.sources",
        "kfood_tfds.mapped",
        "kfood_tfds.statistics",
        "kfood_tfds.plots",
        "kfood_tfds.configuration",
        "kfood_tfds.training_check",
        "kfood_tfds.preview",
    }


@pytest.mark.parametrize("module", sorted(set(SECTIONS) - {"kfood_tfds"}))
def test_the_page_names_what_a_module_offers(module: str) -> None:
    named = _names_on_the_page(module)

    assert len(named) == len(set(named)), "twice on the page"
    assert set(named) == _offered(importlib.import_module(module))


def test_the_page_names_what_the_package_offers() -> None:
    package = importlib.import_module("kfood_tfds")

    assert set(_names_on_the_page("kfood_tfds")) == {*package.__all__, *LAZY}
    for name in LAZY:
        assert callable(getattr(package, name))

"""What may import what, and what importing costs."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "kfood_tfds"
MODULES = sorted(PACKAGE.rglob("*.py"))
# From the data to the user: a part may import itself and what stands before it.
LAYERS = (
    ("raw",),
    ("beam",),
    ("words", "fonts", "html_tree"),
    ("drawing", "report_charts", "report_likeness", "report_numbers", "report_text"),
    ("report_parts",),
    ("report_sections", "report_findings"),
    ("report",),
    ("inspection",),
    ("kfood",),
    ("split_sizes",),
    ("postprocessing",),
    ("sampling", "sources"),
    ("mapped", "statistics"),
    ("configuration", "plots", "preview"),
    ("training_check",),
    ("command_text",),
    ("cli",),
    ("__main__",),
)
INSPECTING = {"drawing", "fonts", "html_tree", "inspection", "raw", "words"}
# Parts that know these alone although the order would allow more.
CIRCLES: dict[str, set[str]] = {
    "raw": set(),
    "beam": {"raw"},
    "postprocessing": set(),
    "sampling": {"raw", "postprocessing"},
    "sources": {"raw", "split_sizes"},
    "mapped": {"sources", "split_sizes", "postprocessing"},
    "split_sizes": set(),
}


def _circle(part: str) -> set[str]:
    if part.startswith("report") or part in INSPECTING - {"raw"}:
        reports = {name for layer in LAYERS for name in layer if name.startswith("report")}
        return INSPECTING | reports
    return CIRCLES.get(part, {name for layer in LAYERS for name in layer})


def _part(module: Path) -> str:
    relative = module.relative_to(PACKAGE)
    return relative.parts[0].removesuffix(".py")


def _imported_parts(module: Path, top_level_only: bool = False) -> set[str]:
    tree = ast.parse(module.read_text(encoding="utf-8"))
    nodes = tree.body if top_level_only else list(ast.walk(tree))
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: relative import"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def _own_parts(module: Path) -> set[str]:
    names = {name for name in _imported_parts(module) if name.startswith("kfood_tfds.")}
    return {name.split(".")[1] for name in names} - {"__version__"}


def _layer(part: str) -> int:
    return next(number for number, parts in enumerate(LAYERS) if part in parts)


def test_the_layers_name_every_part_once() -> None:
    named = sorted(name for layer in LAYERS for name in layer)
    assert named == sorted({_part(module) for module in MODULES} - {"__init__"})


@pytest.mark.parametrize("module", MODULES, ids=lambda m: str(m.relative_to(PACKAGE)))
def test_imports_run_downwards(module: Path) -> None:
    part = _part(module)
    if part == "__init__":
        assert _own_parts(module) <= {"kfood"}
        return
    for other in _own_parts(module) - {part}:
        assert _layer(other) <= _layer(part), f"{part} must not import {other}"
        assert other in _circle(part), f"{part} must not know {other}"


@pytest.mark.parametrize("module", sorted((PACKAGE / "raw").rglob("*.py")), ids=lambda m: m.name)
def test_raw_imports_no_tensorflow_at_import_time(module: Path) -> None:
    for name in _imported_parts(module, top_level_only=True):
        assert not name.startswith(("tensorflow", "keras"))


def test_importing_the_package_loads_no_tensorflow() -> None:
    code = "import sys, kfood_tfds; print('tensorflow' in sys.modules, kfood_tfds.__version__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "0.1.0"]


def test_the_builder_loads_beam_only_when_it_builds_by_it() -> None:
    code = (
        "import sys, kfood_tfds\n"
        "import kfood_tfds.beam.by_key, kfood_tfds.beam.work\n"
        "print('apache_beam' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_importing_raw_loads_no_tensorflow() -> None:
    code = (
        "import sys, importlib, pkgutil, kfood_tfds.raw as raw\n"
        "[importlib.import_module(f'kfood_tfds.raw.{m.name}') for m in "
        "pkgutil.iter_modules(raw.__path__)]\n"
        "print('tensorflow' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"

"""The wheel and the sdist hold everything, and the wheel works where the source tree is not."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

import kfood_tfds

pytest.importorskip("setuptools", minversion="70.1", reason="builds the wheel")
pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
# Every file of the package that is no module.
DATA_FILES = (
    "kfood_tfds/config.schema.json",
    "kfood_tfds/kfood/CITATIONS.bib",
    "kfood_tfds/kfood/README.md",
    "kfood_tfds/kfood/TAGS.txt",
    "kfood_tfds/py.typed",
    "kfood_tfds/raw/classes.csv",
    "kfood_tfds/raw/duplicates_method.json",
    "kfood_tfds/templates/report.css",
)
SDIST_FILES = (
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "Makefile",
    "README.ko.md",
    "README.md",
    "docs/architecture.md",
    "docs/raw_data.md",
    "docs/sample.png",
    "dummy_data/kfood.zip",
    "examples/demo.py",
    "pyproject.toml",
    "setup.cfg",
    "tests/conftest.py",
    "tests/raw/test_archive.py",
)


def _python(code: str, *args: str, python: str = sys.executable, cwd: Path) -> str:
    # Neither the source tree nor an editable install may stand in for what was installed.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        [python, "-c", code, *args],
        cwd=cwd, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def _tracked_or_all() -> Sequence[Path]:
    """Returns the repository's files, without what tools leave there."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if listed.returncode:
        pytest.skip("not a checkout: the tree may hold anything")
    return [Path(name) for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


@pytest.fixture(name="source", scope="module")
def _source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository, so that building leaves nothing in it."""
    copy = tmp_path_factory.mktemp("source")
    for name in _tracked_or_all():
        target = copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((ROOT / name).read_bytes())
    return copy


@pytest.fixture(name="wheel", scope="module")
def _wheel(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the unpacked sdist, as installers do it."""
    folder = tmp_path_factory.mktemp("wheel")
    unpacked = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(_built("sdist", source, folder)) as sdist:
        if hasattr(tarfile, "data_filter"):
            sdist.extractall(unpacked, filter="data")
        else:
            sdist.extractall(unpacked)  # Python 3.11.0 to 3.11.3
    [tree] = unpacked.iterdir()
    return _built("wheel", tree, folder)


def _built(kind: str, source: Path, folder: Path) -> Path:
    code = (
        "import sys; from setuptools import build_meta\n"
        f"print('built:' + build_meta.build_{kind}(sys.argv[1]))"
    )
    return folder / _python(code, str(folder), cwd=source).rpartition("built:")[2].strip()


def test_the_list_of_data_files_is_complete() -> None:
    found = [p.as_posix() for p in _tracked_or_all() if p.parts[0] == "kfood_tfds"]
    assert sorted(p for p in found if not p.endswith(".py")) == sorted(DATA_FILES)


def test_wheel_holds_every_module_and_data_file(wheel: Path) -> None:
    tracked = {p.as_posix() for p in _tracked_or_all() if p.parts[0] == "kfood_tfds"}
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        assert names == tracked
        for name in DATA_FILES:
            assert archive.read(name) == (ROOT / name).read_bytes()
        [metadata] = [name for name in archive.namelist() if name.endswith("/METADATA")]
        text = archive.read(metadata).decode()
    assert f"Version: {kfood_tfds.__version__}\n" in text
    assert "License-Expression: Apache-2.0" in text or "License: Apache-2.0" in text


def test_sdist_holds_documentation_tests_and_data_files(source: Path, tmp_path: Path) -> None:
    path = _built("sdist", source, tmp_path)
    with tarfile.open(path) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    assert sorted({*DATA_FILES, *SDIST_FILES} - names) == []
    assert [name for name in sorted(names) if "__pycache__" in name] == []


@pytest.fixture(name="installed", scope="module")
def _installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment that has the wheel, and of others what this one has."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False, symlinks=os.name != "nt")
    scripts = folder / ("Scripts" if os.name == "nt" else "bin")
    python = scripts / ("python.exe" if os.name == "nt" else "python")
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps",
         "--no-index", "--disable-pip-version-check", str(wheel)],
        check=True,
    )  # fmt: skip
    # The dependencies of this environment behind it. Only the folder, not its .pth files: those
    # would bring an editable install of the source tree along.
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    own = _python(where, python=str(python), cwd=folder).strip()
    shared = _python(where, cwd=folder).strip()
    (Path(own) / "shared.pth").write_text(f"{shared}\n", encoding="utf-8")
    return python


def test_wheel_knows_the_sample_and_draws(installed: Path, tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
import kfood_tfds
import tensorflow_datasets as tfds
from kfood_tfds.raw.classes import load_class_table
from kfood_tfds.raw.dishes import draw_dish

assert not Path(kfood_tfds.__file__).is_relative_to(sys.argv[1]), kfood_tfds.__file__
builder = tfds.builder("kfood/sample", data_dir=sys.argv[2])
assert "한국 이미지(음식)" in builder.info.description
assert builder.info.citation.startswith("@misc")
print(builder.info.features["label"].num_classes, len(load_class_table().categories))
for label in (0, 49, 149):
    pixels, box = draw_dish(label, 0, (96, 72))
    assert pixels.std() > 10 and box.ymin < box.ymax
    print(pixels.shape)
"""
    printed = _python(code, str(ROOT), str(tmp_path), python=str(installed), cwd=tmp_path)
    first, *shapes = printed.splitlines()
    assert first == "150 27"
    assert shapes == ["(96, 72, 3)"] * 3


def test_wheel_draws_and_inspects_an_archive(installed: Path, tmp_path: Path) -> None:
    run = [str(installed), "-m", "kfood_tfds"]
    subprocess.run(
        [*run, "sample", "kfood.zip", "--classes=2", "--per-class=3"], cwd=tmp_path, check=True
    )
    subprocess.run(
        [*run, "inspect", "kfood.zip", "--out=look", "--quiet"], cwd=tmp_path, check=True
    )
    page = (tmp_path / "look" / "report.html").read_text(encoding="utf-8")
    style = (ROOT / "kfood_tfds" / "templates" / "report.css").read_text(encoding="utf-8")
    assert style.split("{")[0].strip() in page


def test_commands_say_what_they_are(installed: Path, tmp_path: Path) -> None:
    script = installed.with_name("kfood-tfds.exe" if os.name == "nt" else "kfood-tfds")
    for command in ([str(installed), "-m", "kfood_tfds"], [str(script)]):
        version = subprocess.run(
            [*command, "--version"], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        assert version.stdout == f"kfood-tfds {kfood_tfds.__version__}\n"
        help_text = subprocess.run(
            [*command, "--help"], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        assert all(name in help_text.stdout for name in ("inspect", "sample", "preview"))

"""The real `tfds` command line, in both forms that the README gives."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("apache_beam", reason="TFDS's command line needs apache_beam")
pytest.importorskip("mlcroissant", reason="TFDS's command line needs mlcroissant")

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.slow


def _tfds(*args: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    script = shutil.which("tfds", path=os.path.dirname(sys.executable)) or "tfds"
    return subprocess.run(
        [script, *args], capture_output=True, text=True, cwd=cwd, timeout=300, check=False
    )


def _built(data_dir: Path, config: str) -> int:
    """Returns the number of rows in the build's manifest that are in a split."""
    with (data_dir / "kfood" / config / "1.0.0" / "manifest.csv").open(encoding="utf-8") as file:
        return sum(bool(row["split"]) for row in csv.DictReader(file))


def test_build_by_import_from_a_manual_folder(tmp_path: Path) -> None:
    done = _tfds(
        "build", "kfood/full", "--imports=kfood_tfds",
        f"--manual_dir={ROOT / 'dummy_data'}", f"--data_dir={tmp_path / 'data'}",
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert _built(tmp_path / "data", "full") > 10


def test_build_by_path(tmp_path: Path) -> None:
    done = _tfds(
        "build", "kfood_tfds/kfood", "--config=320px",
        f"--manual_dir={ROOT / 'dummy_data'}", f"--data_dir={tmp_path}",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert _built(tmp_path, "320px") > 10


def test_a_build_loads_without_importing_the_package(tmp_path: Path) -> None:
    done = _tfds(
        "build", "kfood/320px", "--imports=kfood_tfds",
        f"--manual_dir={ROOT / 'dummy_data'}", f"--data_dir={tmp_path}",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    code = (
        "import sys, tensorflow_datasets as tfds\n"
        f"ds, info = tfds.load('kfood/320px', split='train', data_dir={str(tmp_path)!r}, "
        "with_info=True)\n"
        "print(len(ds), info.features['label'].num_classes, 'kfood_tfds' in sys.modules)"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    count, classes, imported = loaded.stdout.split()
    assert int(count) > 5
    assert classes == "150"
    assert imported == "False"


@pytest.mark.parametrize(
    ("folder", "message"),
    [(None, "does not exist or is empty"), ("holiday", "class")],
)
def test_a_useless_folder_ends_in_a_message(
    tmp_path: Path, folder: str | None, message: str
) -> None:
    manual = tmp_path / (folder or "nothing")
    if folder:
        (manual / "beach").mkdir(parents=True)
        (manual / "beach" / "a.jpg").write_bytes(b"sand")
    done = _tfds(
        "build", "kfood/full", "--imports=kfood_tfds",
        f"--manual_dir={manual}", f"--data_dir={tmp_path / 'data'}",
    )  # fmt: skip
    assert done.returncode != 0
    assert message in done.stderr

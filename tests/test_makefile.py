"""`make test` installs what is asked for; `make test-all` tries each interpreter that is there."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")

# Stands in for Python: notes what it is called with, fails in the name of broken ones, and makes
# an environment by copying itself.
STAND_IN = """#!/bin/sh
echo "$(basename "$0") $*" >> "$CALLS"
case "$*" in
  "-m venv "*) mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; cp "$0" "$3/bin/$(basename "$0")";;
  "-m pytest "*) case "$0" in
    *-python3.12/*) echo "1 failed, 6 passed in 0.10s"; exit 1;;
    *) echo "7 passed in 0.10s";;
  esac;;
esac
"""


@pytest.fixture(name="tree")
def _tree(tmp_path: Path) -> Path:
    """A folder with the Makefile, and interpreters 3.11 and 3.12 that only pretend."""
    for name in ("Makefile", "setup.cfg"):
        shutil.copy(ROOT / name, tmp_path / name)
    for name in ("python3", "python3.11", "python3.12"):
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / "bin" / name).write_text(STAND_IN, encoding="utf-8")
        (tmp_path / "bin" / name).chmod(0o755)
    return tmp_path


def make(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # The tests themselves run under make, which hands its own variables down.
    outer = ("MAKE", "MFLAGS", "WITH", "PYTHON", "PYTEST_FLAGS", "VENV")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(outer)}
    path = f"{tree / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = {**kept, "PATH": path, "CALLS": str(tree / "calls")}
    return subprocess.run(
        ["make", *arguments], cwd=tree, env=environment, capture_output=True, text=True, check=False
    )


def installs(tree: Path) -> list[str]:
    """Returns what was installed beside pip itself, call by call, and forgets the calls."""
    calls = (tree / "calls").read_text(encoding="utf-8").splitlines()
    (tree / "calls").unlink()
    return [line.partition(" --editable ")[2] for line in calls if " --editable " in line]


def test_added_packages_are_installed_once_and_whenever_they_change(tree: Path) -> None:
    assert make(tree, "test").returncode == 0
    assert installs(tree) == [".[test]"]
    make(tree, "test")
    assert installs(tree) == []
    make(tree, "test", "WITH=torch==2.13.0 jax>=0.4")
    assert installs(tree) == [".[test] torch==2.13.0 jax>=0.4"]
    make(tree, "test", "WITH=torch==2.13.0 jax>=0.4")
    assert installs(tree) == []
    make(tree, "test", "WITH=torch==2.12.0")
    assert installs(tree) == [".[test] torch==2.12.0"]
    make(tree, "test", "WITH=torch==2.13.0 jax>=0.4")
    assert installs(tree) == [".[test] torch==2.13.0 jax>=0.4"]


def test_every_interpreter_is_tried_and_each_closing_line_shown(tree: Path) -> None:
    done = make(tree, "test-all", "PYTHONS=python3.12 python3.11 python2.0")
    assert done.returncode != 0
    lines = done.stdout.splitlines()
    assert "python3.12: 1 failed, 6 passed in 0.10s" in lines
    assert "python3.11: 7 passed in 0.10s" in lines
    assert "python2.0: not there, left out" in lines
    assert lines[-1] == "Failed: python3.12"
    assert (tree / ".venv-python3.11" / "bin" / "python").is_file()


def test_interpreters_that_pass_or_are_not_there_do_not_fail(tree: Path) -> None:
    assert make(tree, "test-all", "PYTHONS=python3.11 python2.0").returncode == 0
    assert make(tree, "test-all", "PYTHONS=python2.0").returncode != 0

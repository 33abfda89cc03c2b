"""Temporary folders: gone with their process, however it ended."""

from __future__ import annotations

import importlib
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from kfood_tfds.raw.temporary_folder import temporary_folder

pytest.importorskip("fcntl", reason="locks of this kind are there on Unix")

OWNER = """
import sys
from kfood_tfds.raw.temporary_folder import temporary_folder
folder = temporary_folder("kfood_test_")
(folder / "data").write_text("x")
print(folder, flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def _own_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def start_owner() -> tuple[subprocess.Popen[str], Path]:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    if owner.stdout is None:
        raise ValueError("asked for a pipe")
    return owner, Path(owner.stdout.readline().strip())


def test_goes_with_its_process() -> None:
    owner, folder = start_owner()
    assert (folder / "data").read_text() == "x"
    owner.communicate()
    assert owner.returncode == 0 and not folder.exists()


def test_the_next_process_removes_and_names_what_a_killed_one_left(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (killed, left), (living, used) = start_owner(), start_owner()
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    other = tmp_path / "kfood_test_without_a_lock"
    other.mkdir()
    assert (left / "data").exists()
    mine = temporary_folder("kfood_test_")
    assert not left.exists() and str(left) in caplog.text
    assert (used / "data").exists() and str(used) not in caplog.text
    # Not known to be anybody's: left alone.
    assert other.exists() and mine.is_dir()
    living.communicate()


def test_folders_of_one_process_leave_each_other_alone() -> None:
    first, second = temporary_folder("kfood_test_"), temporary_folder("kfood_test_")
    assert first != second and first.is_dir() and second.is_dir()


def test_goes_on_where_there_are_no_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_module(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", no_module)
    assert list(temporary_folder("kfood_test_").iterdir()) == []

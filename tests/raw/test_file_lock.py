"""Locks that hold between processes and are gone with their holder."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

from kfood_tfds.raw.file_lock import locked

fcntl: Any = pytest.importorskip("fcntl", reason="locks of this kind are there on Unix")


def is_held(path: Path) -> bool:
    # Another open file of this process is to the system what another process's is.
    with path.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_a_lock_is_held_inside_and_let_go_after(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with locked(path):
        assert is_held(path)
    assert path.exists() and not is_held(path)


def test_a_lock_is_let_go_when_the_work_fails(tmp_path: Path) -> None:
    with pytest.raises(KeyError), locked(tmp_path / "lock"):
        raise KeyError
    assert not is_held(tmp_path / "lock")


def test_goes_on_where_there_are_no_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_module(name: str) -> None:
        raise ImportError(name)

    def no_lock(*arguments: object) -> None:
        raise OSError("this file system has no locks")

    for module, name, stand_in in (
        (importlib, "import_module", no_module),
        (fcntl, "flock", no_lock),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(module, name, stand_in)
            with locked(tmp_path / "lock"):
                done = True
        assert done and not is_held(tmp_path / "lock")
        done = False

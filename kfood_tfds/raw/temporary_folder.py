"""Temporary folders that go with their process, and with the next one if it was killed."""

from __future__ import annotations

import atexit
import contextlib
import importlib
import logging
import shutil
import tempfile
from pathlib import Path
from typing import IO, Any

_LOGGER = logging.getLogger("kfood_tfds")
_LOCK = "owner.lock"


def temporary_folder(prefix: str) -> Path:
    """Makes a folder that is removed when the process ends, and removes those of killed processes.

    The owner holds a lock in its folder, which the system drops with the process. Where the
    platform or the file system has no such locks, what a killed process leaves stays.

    Args:
        prefix: How the folder's name begins; folders of the same prefix belong together.
    """
    fcntl = _locks()
    if fcntl is not None:
        _remove_leftovers(prefix, fcntl)
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    held = None if fcntl is None else _hold(folder, fcntl)

    def remove() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        if held is not None:
            held.close()

    atexit.register(remove)
    return folder


def _locks() -> Any:
    try:
        return importlib.import_module("fcntl")
    except ImportError:
        return None


def _hold(folder: Path, fcntl: Any) -> IO[bytes]:
    # Locked under another name first: nobody ever sees the lock of a living process free.
    fresh = folder / f"{_LOCK}.new"
    file = fresh.open("ab")
    with contextlib.suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_EX)
        fresh.rename(folder / _LOCK)
    return file


def _remove_leftovers(prefix: str, fcntl: Any) -> None:
    for lock in sorted(Path(tempfile.gettempdir()).glob(f"{prefix}*/{_LOCK}")):
        # Another user's folder, one that is in use, or one that another process removes now.
        with contextlib.suppress(OSError), lock.open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _LOGGER.warning("Removing %s, the leftover of a killed process.", lock.parent)
            shutil.rmtree(lock.parent, ignore_errors=True)

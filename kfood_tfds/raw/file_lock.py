"""A lock between processes that the system drops when its holder dies."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds `path` as a lock file; waits while another process holds it.

    Where the file system or the platform knows no such lock, goes on without one.

    Args:
        path: The lock file, made if it isn't there and left behind.
    """
    with path.open("ab") as file:
        try:
            fcntl = importlib.import_module("fcntl")
        except ImportError:
            yield
            return
        with contextlib.suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        yield

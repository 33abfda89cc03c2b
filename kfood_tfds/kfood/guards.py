"""What surrounds a build: one at a time, no leftovers, and clear words before hours are spent."""

from __future__ import annotations

import contextlib
import errno
import importlib.util
import logging
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from etils import epath

from kfood_tfds.raw.errors import KfoodError
from kfood_tfds.raw.file_lock import locked

_LOGGER = logging.getLogger("kfood_tfds")
# TFDS shuffles data sets beyond 1 GB through 1,000 files that are open at once; the rest is for
# the interpreter, the archive and the shards.
_OPEN_FILES = 1200
_SHUFFLE_IN_MEMORY = 1_000_000_000
# TFDS deletes each shuffle bucket before it writes its examples, so they never lie there twice; the
# rest is for headers, metadata and the bucket at work.
_DISK_FACTOR = 1.1
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class BuildError(KfoodError):
    """The data set can't be built here: too little room, or too few open files allowed."""


def is_local(path: epath.Path) -> bool:
    """Whether a path lies in the file system, not in a bucket."""
    return "://" not in os.fspath(path)


@contextlib.contextmanager
def exclusive_build(data_path: epath.Path, cache_dir: epath.Path, config: str) -> Iterator[None]:
    """Lets one process at a time build a configuration, and clears up after killed ones.

    Args:
        data_path: Where the finished build will be, `…/kfood/<config>/<version>`.
        cache_dir: Where the lock is kept.
        config: The name of the configuration.

    Raises:
        BuildError: If the disk is full, or the path can't be written by TensorFlow.
    """
    if not is_local(data_path):
        yield
        return
    _check_text(data_path)
    cache_dir.mkdir(parents=True, exist_ok=True)
    with locked(Path(cache_dir) / f"build-{config}.lock"):
        for leftover in sorted(data_path.parent.glob(f"incomplete.*_{data_path.name}")):
            _LOGGER.warning("Removing %s, the leftover of a build that was killed.", leftover)
            leftover.rmtree(missing_ok=True)
        try:
            yield
        except Exception as error:
            if _disk_is_full(error, Path(data_path)):
                raise BuildError(
                    f"The disk of {data_path} is full, so the build of kfood/{config} was "
                    "stopped. Nothing half-done is left behind, and the survey of the archive is "
                    "kept: free some room and run the same command again."
                ) from error
            raise


def _check_text(data_path: epath.Path) -> None:
    """Refuses a path that Python took for ASCII: TensorFlow would, once the work is done."""
    try:
        os.fspath(data_path).encode()
    except UnicodeEncodeError as error:
        raise BuildError(
            f"Python reads the path {os.fsencode(data_path).decode(errors='replace')!r} as "
            f"{sys.getfilesystemencoding()}, and TensorFlow can't write there then. Start Python "
            "with PYTHONUTF8=1, set LANG=C.UTF-8, or choose a data_dir of plain letters."
        ) from error


def _disk_is_full(error: BaseException | None, path: Path) -> bool:
    """Whether an error, or one that it was raised from, comes of a full disk."""
    if error is None:
        return False
    # TensorFlow's file errors carry words only, and TFDS wraps them once more.
    return (
        (isinstance(error, OSError) and error.errno in _FULL)
        or any(os.strerror(number) in str(error) for number in _FULL)
        or (
            type(error).__name__ in ("ResourceExhaustedError", "InternalError")
            and shutil.disk_usage(_existing(path)).free < 1 << 20
        )
        or _disk_is_full(error.__cause__ or error.__context__, path)
    )


def _existing(path: Path) -> Path:
    return path if path.exists() or path == path.parent else _existing(path.parent)


def check_beam() -> None:
    """Checks that Beam is installed.

    Raises:
        BuildError: If it isn't.
    """
    if importlib.util.find_spec("apache_beam") is None:
        raise BuildError(
            "A build by Beam needs apache_beam, here and on the workers, and it isn't installed: "
            "pip install 'kfood-tfds[tfds-cli]'. Without beam=True and Beam options the build "
            "runs on this machine alone and needs none."
        )


def check_room(data_path: epath.Path, num_bytes: int, shuffled_here: bool = True) -> None:
    """Checks that the disk and the limit of open files will do for a build.

    Args:
        data_path: Where the build goes.
        num_bytes: What the images will take, about.
        shuffled_here: False if Beam's workers shuffle the examples, wherever they do.

    Raises:
        BuildError: If they won't.
    """
    if shuffled_here and num_bytes > _SHUFFLE_IN_MEMORY:
        _allow_open_files()
    if not is_local(data_path):
        return
    free = shutil.disk_usage(_existing(Path(data_path))).free
    needed = int(num_bytes * _DISK_FACTOR)
    if free < needed:
        raise BuildError(
            f"The build needs about {needed / 1e9:.1f} GB of disk, and "
            f"{data_path} has {free / 1e9:.1f} GB left. Free some room, choose another data_dir, "
            "or build 320px, which takes a quarter."
        )


def _allow_open_files() -> None:
    """Raises the soft limit of open files where the hard one lets us.

    Raises:
        BuildError: If it stays too low.
    """
    try:
        resource = importlib.import_module("resource")
    except ImportError:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    if soft == unlimited or soft >= _OPEN_FILES:
        return
    if hard == unlimited or hard >= _OPEN_FILES:
        resource.setrlimit(resource.RLIMIT_NOFILE, (_OPEN_FILES, hard))
        return
    raise BuildError(
        f"TFDS keeps about 1,000 files open while it shuffles, and this system allows {hard}. "
        "Raise the system's own limit (nofile in /etc/security/limits.conf, LimitNOFILE of a "
        f"systemd unit, or `docker run --ulimit nofile={_OPEN_FILES}`) and start again."
    )

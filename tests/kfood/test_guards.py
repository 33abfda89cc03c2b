"""What surrounds a build: kills, two at once, too little room, too few open files."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import tensorflow_datasets as tfds
from etils import epath
from tensorflow_datasets.core import shuffle

import kfood_tfds
from kfood_tfds import postprocessing as pp
from kfood_tfds.kfood import guards

BUILD = """
import sys, tensorflow_datasets as tfds, kfood_tfds
builder = kfood_tfds.Builder(config="full", data_dir=sys.argv[2])
builder.download_and_prepare(
    download_config=tfds.download.DownloadConfig(manual_dir=sys.argv[1]))
print("built", builder.info.splits["train"].num_examples)
"""


def _start(dummy_data: Path, data_dir: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", BUILD, str(dummy_data), str(data_dir)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _content(data_dir: Path) -> dict[str, Any]:
    builder = kfood_tfds.Builder(config="full", data_dir=data_dir)
    return {
        (split, e["id"]): e["image"]
        for split in builder.info.splits
        for e in tfds.as_numpy(builder.as_dataset(split=split, decoders=pp.SKIP_DECODING))
    }


def _wait_for(process: subprocess.Popen[str], word: str) -> None:
    """Reads the process's progress until a word comes: a moment that doesn't hang on speed."""
    assert process.stderr is not None
    seen = ""
    while word not in seen:
        piece = process.stderr.read(1)
        assert piece, seen[-2000:]
        seen += piece


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "moment"),
    [
        (signal.SIGKILL, "Looking at every file"),
        (signal.SIGTERM, "Generating"),
        (signal.SIGKILL, "Shuffling"),
    ],
)
def test_a_killed_build_runs_through_the_next_time(
    how: signal.Signals,
    moment: str,
    dummy_data: Path,
    dummy_build: dict[str, Any],
    tmp_path: Path,
) -> None:
    process = _start(dummy_data, tmp_path)
    _wait_for(process, moment)
    process.send_signal(how)
    process.communicate()
    assert not (tmp_path / "kfood" / "full" / "1.0.0").exists()
    builder = kfood_tfds.Builder(config="full", data_dir=tmp_path)
    builder.download_and_prepare(
        download_config=tfds.download.DownloadConfig(manual_dir=str(dummy_data))
    )
    assert _content(tmp_path) == _content(dummy_build["data_dir"])
    assert not list(tmp_path.rglob("incomplete.*"))


@pytest.mark.slow
def test_two_builds_at_once_give_one_result(
    dummy_data: Path, dummy_build: dict[str, Any], tmp_path: Path
) -> None:
    processes = [_start(dummy_data, tmp_path) for _ in range(2)]
    outputs = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    assert _content(tmp_path) == _content(dummy_build["data_dir"])


def test_leftovers_are_named_and_removed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    leftover = tmp_path / "kfood" / "full" / "incomplete.ABCDEF_1.0.0"
    other = tmp_path / "kfood" / "full" / "incomplete.ABCDEF_2.0.0"
    for folder in (leftover, other):
        folder.mkdir(parents=True)
        (folder / "bucket").write_bytes(b"x")
    target = epath.Path(tmp_path / "kfood" / "full" / "1.0.0")
    with guards.exclusive_build(target, epath.Path(tmp_path / "cache"), "full"):
        assert not leftover.exists()
    assert str(leftover) in caplog.text
    assert other.exists()


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), OSError(errno.EFBIG, "too large")]
)
def test_a_full_disk_is_named(error: OSError, tmp_path: Path) -> None:
    target = epath.Path(tmp_path / "kfood" / "full" / "1.0.0")
    with (
        pytest.raises(guards.BuildError, match=r"disk .* is full.*run the same command again"),
        guards.exclusive_build(target, epath.Path(tmp_path / "cache"), "full"),
    ):
        raise error


def test_other_errors_pass_through(tmp_path: Path) -> None:
    target = epath.Path(tmp_path / "kfood" / "full" / "1.0.0")
    with (
        pytest.raises(KeyError),
        guards.exclusive_build(target, epath.Path(tmp_path / "cache"), "full"),
    ):
        raise KeyError("a")


def test_too_little_disk_is_said_before_the_work(tmp_path: Path) -> None:
    free = shutil.disk_usage(tmp_path).free
    with pytest.raises(guards.BuildError, match=r"needs about .* GB of disk"):
        guards.check_room(epath.Path(tmp_path / "not" / "yet"), free)
    guards.check_room(epath.Path(tmp_path / "not" / "yet"), 1_000_000)


@pytest.mark.parametrize("shuffled_here", [True, False])
def test_a_tenth_more_than_the_images_is_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shuffled_here: bool
) -> None:
    usage = type("Usage", (), {"free": 1_150_000})
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    guards.check_room(epath.Path(tmp_path), 1_000_000, shuffled_here)
    with pytest.raises(guards.BuildError, match=r"GB of disk, and .* has 0\.0 GB left"):
        guards.check_room(epath.Path(tmp_path), 1_100_000, shuffled_here)


def test_tfds_never_keeps_an_example_twice_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What `check_room` relies on, at TFDS's own shuffler.
    monkeypatch.setattr(shuffle, "MAX_MEM_BUFFER_SIZE", 0)
    shuffler = shuffle.Shuffler(epath.Path(tmp_path), "salt", disable_shuffling=False)
    for number in range(200):
        shuffler.add(number, bytes(1000))

    def on_disk() -> int:
        return sum(file.stat().st_size for file in tmp_path.rglob("*") if file.is_file())

    written = 0
    for _, example in shuffler:
        written += len(example)
        assert on_disk() + written <= 220_000
    assert written == 200_000 and on_disk() == 0


def test_a_low_limit_of_open_files_is_said_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: os.terminal_size((0, 0)))
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (1024, 1024))
    with pytest.raises(guards.BuildError, match=r"1,000 files open.*allows 1024"):
        guards.check_room(epath.Path(tmp_path), 2_000_000_000)


def test_a_soft_limit_of_open_files_is_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raised: list[tuple[int, int]] = []
    monkeypatch.setattr(guards, "_DISK_FACTOR", 0)
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (256, 4096))
    monkeypatch.setattr(resource, "setrlimit", lambda kind, limits: raised.append(limits))
    guards.check_room(epath.Path(tmp_path), 2_000_000_000)
    assert raised == [(1200, 4096)]

"""Builds in awkward places: full disks, few open files, changed archives, odd names, no network."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest
import tensorflow_datasets as tfds
from etils import epath

import kfood_tfds
from kfood_tfds import postprocessing as pp
from kfood_tfds.kfood import guards, kfood_dataset_builder
from kfood_tfds.raw.errors import KfoodError
from kfood_tfds.raw.sample import DUMMY_SPEC, write_sample

# Imports once, then forks a process for each build, which sets its limits first.
LIMITED = """
import json, os, resource, sys
from pathlib import Path
import tensorflow as tf
import tensorflow_datasets as tfds
import kfood_tfds
from kfood_tfds.kfood import guards

manual, tasks = sys.argv[1], json.loads(sys.argv[2])
tfds.disable_progress_bar()

def build(task):
    if "file_size" in task:
        resource.setrlimit(resource.RLIMIT_FSIZE, (task["file_size"], task["file_size"]))
    if "open_files" in task:
        resource.setrlimit(resource.RLIMIT_NOFILE, (task["open_files"], task["open_files"]))
        guards._SHUFFLE_IN_MEMORY = 1000
    guards._DISK_FACTOR = task.get("disk_factor", guards._DISK_FACTOR)
    builder = kfood_tfds.Builder(config="full", data_dir=task["data_dir"])
    try:
        builder.download_and_prepare(
            download_config=tfds.download.DownloadConfig(manual_dir=manual))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "built"

for task in tasks:
    reader, writer = os.pipe()
    process = os.fork()
    if not process:
        os.dup2(2, 1)
        try:
            os.write(writer, build(task).encode())
        finally:
            os._exit(0)
    os.close(writer)
    os.waitpid(process, 0)
    print(json.dumps(os.read(reader, 60_000).decode()), flush=True)
"""


def _limited(manual: Path, tasks: list[dict[str, Any]]) -> list[str]:
    """Builds one after the other under limits; gives "built" or the error of each."""
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(manual), json.dumps(tasks)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def _content(data_dir: Path) -> dict[str, Any]:
    builder = kfood_tfds.Builder(config="full", data_dir=data_dir)
    return {
        (split, e["id"]): (e["image"], e["label"], e["group"])
        for split in builder.info.splits
        for e in tfds.as_numpy(builder.as_dataset(split=split, decoders=pp.SKIP_DECODING))
    }


def _build(manual: Path, data_dir: Path, config: str = "full") -> kfood_tfds.Builder:
    builder = kfood_tfds.Builder(config=config, data_dir=data_dir)
    builder.download_and_prepare(
        download_config=tfds.download.DownloadConfig(manual_dir=str(manual))
    )
    return builder


@pytest.fixture(name="small_disk")
def _small_disk(tmp_path: Path) -> Any:
    """A function that makes a disk of so many kilobytes, or gives one another size."""
    places: list[Path] = []

    def mount(place: Path, kilobytes: int) -> None:
        place.mkdir(exist_ok=True)
        options = ("remount," if place in places else "") + f"size={kilobytes}k"
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
        if not shutil.which("mount") or subprocess.run(command, capture_output=True).returncode:
            pytest.skip("only root may mount a small disk")
        places.append(place)

    yield mount
    for place in set(places):
        subprocess.run(["umount", str(place)], check=True)


@pytest.mark.slow
def test_builds_under_limits_say_so_and_leave_nothing_half_done(
    dummy_data: Path, dummy_build: dict[str, Any], tmp_path: Path
) -> None:
    sizes = (500, 5_000, 20_000, 60_000)
    tasks = [{"data_dir": str(tmp_path / str(size)), "file_size": size} for size in sizes]
    again = {"data_dir": str(tmp_path / str(sizes[2]))}
    files = {"data_dir": str(tmp_path / "files"), "open_files": 1024}
    *results, second, few = _limited(dummy_data, [*tasks, again, files])
    for result in results:
        assert "disk" in result and "is full" in result and "run the same command again" in result
    assert second == "built"
    assert _content(tmp_path / str(sizes[2])) == _content(dummy_build["data_dir"])
    assert [path.parent.name for path in tmp_path.glob("*/kfood/full/*")] == ["full"]
    assert few.startswith("BuildError") and "allows 1024" in few and "nofile=1200" in few
    # Said before the work.
    assert not list((tmp_path / "files").rglob("survey.csv"))


@pytest.mark.slow
def test_a_full_disk_ends_the_build_and_leaves_nothing_half_done(
    dummy_data: Path, dummy_build: dict[str, Any], tmp_path: Path, small_disk: Any
) -> None:
    sizes = (8, 40, 120, 200, 400, 100_000)
    places = [tmp_path / str(size) for size in sizes]
    for place, size in zip(places, sizes, strict=True):
        small_disk(place, size)
    # Without its look at the free room beforehand, which would spare us all that.
    *results, enough = _limited(
        dummy_data, [{"data_dir": str(place), "disk_factor": 0} for place in places]
    )
    assert enough == "built"
    for place, result in zip(places, results, strict=False):
        assert "is full" in result and "run the same command again" in result, (place, result)
        assert not list(place.glob("kfood/full/*"))
    small_disk(places[4], 100_000)
    _build(dummy_data, places[4])
    assert _content(places[4]) == _content(dummy_build["data_dir"])


@pytest.mark.slow
def test_a_read_only_archive_on_a_long_hangul_path_builds(
    dummy_data: Path, dummy_build: dict[str, Any], tmp_path: Path
) -> None:
    manual = tmp_path / "받은 파일"
    shutil.copytree(dummy_data, manual)
    manual.chmod(0o555)
    before = [(path.name, path.stat().st_mtime_ns) for path in (manual, *sorted(manual.iterdir()))]
    folder = "한국 음식 사진 " * 8
    data_dir = tmp_path / folder.strip() / folder.strip() / folder.strip()
    assert len(str(data_dir)) > 200
    _build(manual, data_dir)
    assert _content(data_dir) == _content(dummy_build["data_dir"])
    # Root may write to read-only folders, but nothing here does.
    after = [(path.name, path.stat().st_mtime_ns) for path in (manual, *sorted(manual.iterdir()))]
    assert after == before


def _touch(path: Path) -> None:
    os.utime(path, ns=(1, 1))


def _grow(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\0")


def _garble_in_silence(path: Path) -> None:
    """Other content of the same size and time."""
    before = path.stat()
    data = bytearray(path.read_bytes())
    data[-3] ^= 0xFF  # Behind the last pixel, so the image decodes all the same.
    path.write_bytes(data)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_touch, r"changed after it was looked at: .*\.jpg was written to"),
        (_grow, r"changed after it was looked at: .*\.jpg had [\d,]+ bytes and has [\d,]+ now"),
        (os.unlink, r"changed after it was looked at: .*\.jpg can't be reached any more"),
        (_garble_in_silence, "not the file that was surveyed: its sha256 has changed"),
    ],
)
def test_an_archive_that_changes_between_survey_and_build_is_refused(
    change: Any, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_sample(tmp_path / "manual", DUMMY_SPEC, layout="folders")
    real = kfood_dataset_builder.make_manifest

    def change_then_go_on(*arguments: Any) -> Any:
        made = real(*arguments)
        victim = next(row for row in made.rows if row.accepted and row.stored_as == "original")
        change(tmp_path / "manual" / victim.id)
        return made

    monkeypatch.setattr(kfood_dataset_builder, "make_manifest", change_then_go_on)
    with pytest.raises(KfoodError, match=words):
        _build(tmp_path / "manual", tmp_path / "data")
    assert not list((tmp_path / "data").rglob("*.tfrecord*"))


# As a sitecustomize module: whoever asks for a network finds none, and is written down.
NO_NETWORK = """
import os, socket, traceback

def refused(*arguments, **options):
    with open(os.environ["ASKED"], "a") as log:
        log.write(f"{arguments[:2]}\\n" + "".join(traceback.format_stack()))
    raise OSError(101, "Network is unreachable")

socket.getaddrinfo = socket.gethostbyname = socket.create_connection = refused
socket.socket.connect = socket.socket.connect_ex = socket.socket.sendto = refused
"""
BUILD_AND_LOAD = """
import sys
import tensorflow_datasets as tfds
import kfood_tfds
manual, data_dir = sys.argv[1:]
config = tfds.download.DownloadConfig(manual_dir=manual)
tfds.load("kfood/full", data_dir=data_dir, download_and_prepare_kwargs={"download_config": config})
for example in tfds.load("kfood/full", split="all", data_dir=data_dir).as_numpy_iterator():
    pass
"""


def _run(code: str, arguments: list[str], **env: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        check=False,
        env={**os.environ, **env},
    )
    assert done.returncode == 0, done.stderr[-4000:].decode(errors="replace")


@pytest.mark.slow
def test_nothing_asks_for_a_network_nor_for_a_locale(
    dummy_data: Path, dummy_build: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(NO_NETWORK)
    path = os.pathsep.join([str(tmp_path / "site"), *sys.path])
    asked = tmp_path / "asked"
    with pytest.raises(AssertionError, match="unreachable"):
        _run(
            "import urllib.request as r; r.urlopen('http://localhost:9')",
            [],
            PYTHONPATH=path,
            ASKED=str(asked),
        )
    assert asked.exists()
    asked.unlink()
    arguments = [str(dummy_data), str(tmp_path / "자료")]
    # In the plainest locale there is, by the way.
    plain = {"LANG": "C", "PYTHONUTF8": "0"}
    _run(BUILD_AND_LOAD, arguments, PYTHONPATH=path, ASKED=str(asked), **plain)
    assert not asked.exists(), asked.read_text()
    assert _content(tmp_path / "자료") == _content(dummy_build["data_dir"])


ASCII_ONLY = {
    "LC_ALL": "C",
    "PYTHONUTF8": "0",
    "PYTHONCOERCECLOCALE": "0",
    "PYTHONPATH": os.pathsep.join(sys.path),
}


@pytest.mark.slow
def test_an_ascii_locale_changes_nothing(dummy_build: dict[str, Any], tmp_path: Path) -> None:
    write_sample(tmp_path / "manual", DUMMY_SPEC, layout="folders")
    _run(BUILD_AND_LOAD, [str(tmp_path / "manual"), str(tmp_path / "data")], **ASCII_ONLY)
    assert _content(tmp_path / "data") == _content(dummy_build["data_dir"])
    manifests = [
        (path / "kfood" / "full" / "1.0.0" / "manifest.csv").read_bytes()
        for path in (tmp_path / "data", dummy_build["data_dir"])
    ]
    # One is in the order of the folders, the other in that of the zip.
    assert sorted(manifests[0].splitlines()) == sorted(manifests[1].splitlines())


def test_a_path_that_an_ascii_locale_garbles_is_refused_before_the_work(tmp_path: Path) -> None:
    garbled = "자료".encode().decode("ascii", "surrogateescape")
    target = epath.Path(tmp_path) / garbled / "kfood" / "full" / "1.0.0"
    with (
        pytest.raises(guards.BuildError, match=r"자료.*PYTHONUTF8=1"),
        guards.exclusive_build(target, epath.Path(tmp_path / "cache"), "full"),
    ):
        pytest.fail("the work was begun")


def _windows_name(name: str) -> str:
    """As an archive tool on Linux names what Windows zipped: one name with backslashes."""
    return name.replace("/", "\\")


def _apple_name(name: str) -> str:
    return unicodedata.normalize("NFD", name)


@pytest.mark.slow
@pytest.mark.parametrize("rename", [_windows_name, _apple_name, str.upper])
def test_other_file_systems_give_the_same(
    rename: Any, dummy_build: dict[str, Any], tmp_path: Path
) -> None:
    write_sample(tmp_path / "drawn", DUMMY_SPEC, layout="folders")
    for path in sorted((tmp_path / "drawn").rglob("*")):
        if path.is_file():
            inside = str(path.relative_to(tmp_path / "drawn"))
            target = tmp_path / "manual" / rename(inside)
            target.parent.mkdir(parents=True, exist_ok=True)
            path.rename(target)
    found = _content(Path(_build(tmp_path / "manual", tmp_path / "data").data_dir).parents[2])
    expected = _content(dummy_build["data_dir"])
    if rename is str.upper:  # Only the ids, and what is drawn by them, follow the spelling.
        images = sorted(image for image, _, _ in expected.values())
        assert sorted(image for image, _, _ in found.values()) == images
    else:
        assert found == expected


def test_folders_of_a_bucket_have_no_disk_to_check(tmp_path: Path) -> None:
    with pytest.raises(guards.BuildError, match="GB of disk"):
        guards.check_room(epath.Path(tmp_path), 10**18, shuffled_here=False)
    guards.check_room(epath.Path("gs://food/data"), 10**18, shuffled_here=False)

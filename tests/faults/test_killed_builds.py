"""Builds killed at ten random moments and amid the survey, then run again: nothing is lost."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf

from kfood_tfds.raw.sample import SampleSpec, write_sample
from kfood_tfds.raw.survey_store import MEASUREMENT

KILLS = 11
SPEC = SampleSpec(
    classes=("만두", "짜장면", "갈비구이", "김밥"), per_class=48, faults=True, sizes=(60, 80)
)

# Imports everything once, then forks a process for each build. A moment is a share of the function
# calls that the main thread of an undisturbed build makes: it doesn't hang on the clock.
BUILDS = """
import json, logging, os, random, sys
from pathlib import Path
import tensorflow as tf
import tensorflow_datasets as tfds
import kfood_tfds
from kfood_tfds.raw import survey

manual, root, kills = sys.argv[1], Path(sys.argv[2]), [int(name) for name in sys.argv[3].split()]
tfds.disable_progress_bar()

def build(data_dir, kill_at, how, log, last_file=0):
    calls = 0
    def count(frame, event, argument):
        nonlocal calls
        if event == "call":
            calls += 1
            if calls == kill_at:
                os.kill(os.getpid(), how)
    examined = []
    real = survey._base_row
    def base_row(file):
        examined.append(file.planned.id)
        if len(examined) == last_file:
            os.kill(os.getpid(), how)
        return real(file)
    survey._base_row = base_row
    logging.basicConfig(filename=log, level=logging.WARNING, encoding="utf-8", force=True)
    builder = kfood_tfds.Builder(config="full", data_dir=data_dir)
    sys.setprofile(count)
    builder.download_and_prepare(
        download_config=tfds.download.DownloadConfig(manual_dir=manual))
    sys.setprofile(None)
    log.with_suffix(".json").write_text(json.dumps({"calls": calls, "examined": len(examined)}))

def forked(*arguments):
    process = os.fork()
    if not process:
        code = 1
        try:
            build(*arguments)
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])

def listed(folder):
    return sorted(str(path) for path in folder.glob("kfood/full/*") if path.is_dir())

def kept(folder):
    found = {}
    for path in folder.glob("downloads/kfood/kfood_survey/*/*"):
        if path.suffix == ".csv":
            found["rows"] = path.read_text("utf-8", "replace")
        elif path.suffix == ".bin":
            found["bytes"] = path.stat().st_size
        found["complete"] = found.get("complete", False) or path.name == "complete.json"
    return found

undisturbed = forked(root / "undisturbed", 0, 0, root / "undisturbed.log")
whole = json.loads((root / "undisturbed.json").read_text())
draw = random.Random(16)
results = []
for number, how in enumerate(kills):
    folder, log = root / str(number), root / f"{number}-killed.log"
    if number:
        moment = (number - draw.random()) / (len(kills) - 1)
        codes = [forked(folder, int(moment * whole["calls"]), how, log)]
    else:
        codes = [forked(folder, 0, how, log, whole["examined"] // 2)]
    result = {"codes": codes}
    result |= {"left": listed(folder), "kept": kept(folder)}
    result["codes"].append(forked(folder, 0, 0, root / f"{number}-again.log"))
    results.append(result | {"then": listed(folder)})
print(json.dumps(results))
"""
# The first of them amid the survey, whichever share of the calls a Python version spends there.
KILL_SIGNALS = [(signal.SIGKILL, signal.SIGTERM)[number % 2] for number in range(KILLS)]


@pytest.fixture(name="builds", scope="module")
def _builds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    root = tmp_path_factory.mktemp("killed")
    write_sample(root / "manual" / "kfood.zip", SPEC)
    (root / "tmp").mkdir()
    signals = " ".join(str(int(how)) for how in KILL_SIGNALS)
    done = subprocess.run(
        [sys.executable, "-c", BUILDS, str(root / "manual"), str(root), signals],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TMPDIR": str(root / "tmp")},
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return {"root": root, "results": json.loads(done.stdout.splitlines()[-1])}


def _records(data_dir: Path) -> dict[str, list[bytes]]:
    """The examples as they were written, split by split, in their order."""
    folder = data_dir / "kfood" / "full" / "1.0.0"
    records: dict[str, list[bytes]] = {}
    for path in sorted(folder.glob("*.tfrecord*")):
        split = path.name.split("-")[1].partition(".")[0]
        records.setdefault(split, []).extend(tf.data.TFRecordDataset(str(path)).as_numpy_iterator())
    return records


def _whole_rows(kept: dict[str, Any]) -> int:
    """How many files the killed survey had finished: rows whose measurement is there too."""
    text = kept.get("rows", "")
    accepted = rows = 0
    for cells in csv.reader(text[: text.rfind("\n") + 1].splitlines()):
        accepted += cells[1] == "accepted"
        if accepted > kept.get("bytes", 0) // MEASUREMENT.itemsize:
            break
        rows += 1
    return rows


@pytest.mark.slow
@pytest.mark.parametrize("number", range(KILLS))
def test_a_build_killed_at_any_moment_ends_like_an_undisturbed_one(
    builds: dict[str, Any], number: int
) -> None:
    root, result = builds["root"], builds["results"][number]
    assert result["codes"] == [-KILL_SIGNALS[number], 0]
    expected = _records(root / "undisturbed")
    assert set(expected) == {"train", "validation", "test"}
    assert _records(root / str(number)) == expected
    manifests = [
        (root / name / "kfood" / "full" / "1.0.0" / "manifest.csv").read_bytes()
        for name in ("undisturbed", str(number))
    ]
    assert manifests[0] == manifests[1]


@pytest.mark.slow
@pytest.mark.parametrize("number", range(KILLS))
def test_leftovers_of_a_killed_build_are_named_and_removed(
    builds: dict[str, Any], number: int
) -> None:
    result = builds["results"][number]
    log = (builds["root"] / f"{number}-again.log").read_text("utf-8")
    for leftover in result["left"]:
        assert "incomplete." in leftover
        assert leftover in log
    assert [Path(path).name for path in result["then"]] == ["1.0.0"]


@pytest.mark.slow
def test_the_finished_part_of_a_survey_is_not_done_twice(builds: dict[str, Any]) -> None:
    root = builds["root"]
    total = json.loads((root / "undisturbed.json").read_text())["examined"]
    finished = []
    for number, result in enumerate(builds["results"]):
        again = json.loads((root / f"{number}-again.json").read_text())["examined"]
        rows = _whole_rows(result["kept"])
        assert again == (0 if result["kept"].get("complete") else total - rows)
        finished.append(rows)
    # The moments meet every stage: in and after the survey; before and in the writing.
    assert 0 < finished[0] < total
    assert any(result["kept"].get("complete") for result in builds["results"])
    assert any(result["left"] for result in builds["results"])


@pytest.mark.slow
def test_killed_builds_leave_nothing_in_the_temporary_folder(builds: dict[str, Any]) -> None:
    # TFDS makes an empty folder there in each process.
    assert [path for path in (builds["root"] / "tmp").rglob("*") if path.is_file()] == []

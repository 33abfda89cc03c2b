"""Runs each recipe in `examples/` as a user would, only smaller, and looks at what it leaves."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest
from PIL import Image

from kfood_tfds.raw.classes import load_class_table
from kfood_tfds.raw.sample import SampleSpec, write_sample

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[1] / "examples"
SAMPLE_CLASSES = 20
SAMPLE_TEST = 240
SHORT = ("--epochs=1", "--steps=2")


def _python(words: Sequence[object], place: Path) -> str:
    environment = {**os.environ, "TFDS_DATA_DIR": str(place / "data"), "PYTHONUTF8": "1"}
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=place,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, f"{words}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def _run(script: str, place: Path, *options: object) -> str:
    return _python([EXAMPLES / script, "--data-dir=data", *options], place)


def _share(output: str, name: str) -> float:
    """Returns the figure that a line of the output gives, checked to be a share."""
    [figure] = re.findall(rf"^{name}: (\d\.\d{{3}})\b", output, re.M)
    assert 0 <= float(figure) <= 1
    return float(figure)


@pytest.fixture(name="place", scope="module")
def _place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which all recipes run, with the data folder `data`."""
    return tmp_path_factory.mktemp("examples")


@pytest.fixture(name="trained", scope="module")
def _trained(place: Path) -> str:
    """What `transfer_learning.py` printed; its model is in `place`."""
    # Of all backbones the one with the fewest layers: it is traced and compiled fastest.
    options = ("--backbone=VGG16", "--size=32", "--batch-size=8", *SHORT)
    return _run("transfer_learning.py", place, *options)


def test_transfer_learning_saves_model_and_pipeline(place: Path, trained: str) -> None:
    _share(trained, "Validation accuracy")
    ops = json.loads((place / "transfer" / "pipeline.json").read_text(encoding="utf-8"))["ops"]
    assert {"op": "Scale", "mode": "caffe"} in ops
    assert "RandomResizedCrop" not in [op["op"] for op in ops]
    names = zipfile.ZipFile(place / "transfer" / "model.keras").namelist()
    assert {"config.json", "model.weights.h5"} <= set(names)


def test_mixup_weighs_the_thinned_classes_more(place: Path, trained: str) -> None:
    del trained
    output = _run("mixup_class_weights.py", place, "--batch-size=8", *SHORT)
    _share(output, "Validation accuracy")
    found = re.findall(r"^Class (\d+): (\d+) images, weight (\d+\.\d+)$", output, re.M)
    (odd, few, heavy), (even, many, light) = [(int(a), int(b), float(c)) for a, b, c in found]
    assert (odd % 2, even % 2) == (1, 0)
    assert few < many == 42
    # Balanced: count times weight is the same in every class.
    assert few * heavy == pytest.approx(many * light, rel=0.03)
    assert (place / "mixup" / "model.keras").exists()
    pipelines = [(place / name / "pipeline.json").read_bytes() for name in ("transfer", "mixup")]
    assert pipelines[0] == pipelines[1]


def test_evaluate_tells_every_class_and_draws(place: Path, trained: str) -> None:
    del trained
    pytest.importorskip("matplotlib")
    output = _run("evaluate.py", place)
    lines = re.findall(r"^ *(\d\.\d{3}) of +(\d+)  (.+)$", output, re.M)
    shares, totals = [float(line[0]) for line in lines], [int(line[1]) for line in lines]
    assert len({line[2] for line in lines}) == SAMPLE_CLASSES
    assert shares == sorted(shares)
    assert sum(totals) == SAMPLE_TEST
    right = sum(share * total for share, total in zip(shares, totals, strict=True))
    assert _share(output, "Accuracy") == pytest.approx(right / SAMPLE_TEST, abs=2e-3)
    with Image.open(place / "confusion.png") as picture:
        assert picture.width > 500
        assert len(picture.convert("RGB").getcolors(2**24)) > 10


def test_serve_guesses_from_the_bytes_of_files(place: Path, trained: str) -> None:
    del trained
    output = _run("serve.py", place)
    assert (place / "served.keras").exists()
    lines = re.findall(r"^(.*\.jpg): (.*)$", output, re.M)
    assert [path for path, _ in lines] == [str(p) for p, _ in lines if (place / p).exists()]
    assert len(lines) == 2
    names = set(load_class_table().names)
    for _, guesses in lines:
        best = [guess.rsplit(" ", 1) for guess in guesses.split(", ")]
        shares = [float(share) for _, share in best]
        assert {name for name, _ in best} <= names
        assert shares == sorted(shares, reverse=True) and 0 < sum(shares) <= 1.002


def test_two_heads_tell_category_and_class(place: Path) -> None:
    output = _run("two_heads.py", place, "--size=16", "--coarse-epochs=1", *SHORT)
    _share(output, "Category accuracy")
    _share(output, "Class accuracy")


def test_subset_has_as_many_outputs_as_classes(place: Path) -> None:
    output = _run("class_subset.py", place, "--classes=mandu,깍두기", "--size=16", *SHORT)
    _share(output, "Validation accuracy")
    labels = {name: load_class_table().find(name).label for name in ("깍두기", "만두")}
    shown = ", ".join(f"{name} ({label})" for name, label in labels.items())
    assert f"Classes: {shown}\n" in output
    assert "Images: 84 to learn from, 12 to validate\n" in output
    assert "Outputs: 2\n" in output


def test_own_photos_are_learnt_by_their_own_table(place: Path) -> None:
    output = _run("own_photos.py", place, "--size=24", *SHORT)
    _share(output, "Validation accuracy")
    assert "Classes: coffee, tea, tart\n" in output
    assert "Images: 63 to learn from, 9 to validate\n" in output
    assert len(list((place / "own_photos").rglob("*.jpg"))) == 90


def test_torch_takes_batches_from_a_worker(place: Path) -> None:
    for name in ("torch", "array_record", "apache_beam"):
        if find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    output = _run("torch_dataloader.py", place, "--size=24", "--workers=1", *SHORT)
    _share(output, "Validation accuracy")
    assert re.search(r"^Epoch 1: loss \d+\.\d+ after batches \(32, 3, 24, 24\)$", output, re.M)
    assert output.endswith("of 120 images\n")


_SESSIONS = """
import json, pathlib, shutil

cells = json.loads(pathlib.Path({notebook!r}).read_text(encoding="utf-8"))["cells"]
cells = [cell for cell in cells if cell["cell_type"] == "code"]
for session in (1, 2):
    print(f"Session {{session}}")
    space = {{"__name__": "__main__"}}
    for cell in cells:
        exec("".join(cell["source"]), space)
        if "parameters" in cell["metadata"].get("tags", ()):
            drive = pathlib.Path({drive!r})
            space.update(
                DRIVE=drive, ARCHIVE=drive / "archive", SHARDS=drive / "tensorflow_datasets",
                SCRATCH=pathlib.Path("scratch").absolute(), NUM_SHARDS=2,
                SIZE=32, EPOCHS=1, BACKBONE="VGG16", WEIGHTS=None,
            )
    # Drive alone outlasts a session, and the second one needs no archive.
    shutil.rmtree("scratch")
    shutil.rmtree(drive / "archive", ignore_errors=True)
"""


def test_notebook_builds_once_and_loads_in_the_next_session(place: Path) -> None:
    drive = place / "drive"
    spec = SampleSpec(classes=("불고기", "만두"), per_class=10, sizes=(60, 80))
    write_sample(drive / "archive" / "kfood.zip", spec)
    program = _SESSIONS.format(notebook=str(EXAMPLES / "colab.ipynb"), drive=str(drive))
    output = _python(["-c", program], place)
    first, second = output.split("Session 2\n")
    assert "Built: " in first and "Built before: " in second
    for session in (first, second):
        assert "14 images to learn from, 2 to validate\n" in session
        _share(session, "Validation accuracy")
    [kept] = (drive / "tensorflow_datasets" / "kfood" / "320px").iterdir()
    shards = sorted(path.name for path in kept.glob("kfood-train.tfrecord*"))
    assert shards == [f"kfood-train.tfrecord-0000{n}-of-00002" for n in range(2)]
    assert (drive / "served.keras").exists()


def test_notebook_is_kept_without_outputs() -> None:
    notebook = json.loads((EXAMPLES / "colab.ipynb").read_text(encoding="utf-8"))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(code) >= 5
    assert [cell for cell in code if cell["outputs"] or cell["execution_count"]] == []

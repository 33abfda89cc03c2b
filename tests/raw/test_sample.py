"""The drawn archive, read back with Python's own zipfile, Pillow and by hand."""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from samples import SMALL, expected_digests, read_zip

from kfood_tfds.raw import sample
from kfood_tfds.raw.crop_area import CropBox
from kfood_tfds.raw.errors import ArchiveError, KfoodError
from kfood_tfds.raw.sample import (
    SampleReport,
    SampleSpec,
    find_or_draw_sample,
    write_sample,
)

ROOT = Path(__file__).parents[2]


def test_names_are_cp949_without_the_flag(small: tuple[SampleReport, bytes]) -> None:
    with zipfile.ZipFile(io.BytesIO(small[1])) as outer:
        infos = outer.infolist()
        assert [info.filename.encode("cp437").decode("cp949") for info in infos] == [
            "만두.zip",
            "면.zip",
        ]
        assert {(i.flag_bits, i.compress_type) for i in infos} == {(0, zipfile.ZIP_STORED)}
        with zipfile.ZipFile(outer.open(infos[1])) as inner:
            members = inner.infolist()
    assert {(i.flag_bits, i.compress_type) for i in members} == {(0, zipfile.ZIP_STORED)}
    names = [info.filename.encode("cp437").decode("cp949") for info in members]
    assert names == [
        *(f"면/짜장면/Img_057_000{n}.jpg" for n in range(3)),
        "면/짜장면/crop_area.properties",
        *(f"면/칼국수/Img_060_000{n}.jpg" for n in range(3)),
        "면/칼국수/crop_area.properties",
    ]


def test_the_report_lists_every_file_in_order(small: tuple[SampleReport, bytes]) -> None:
    report, data = small
    found = read_zip(data)
    assert [file.id for file in report.files] == list(found)
    assert [file.sha256 for file in report.files] == [
        hashlib.sha256(content).hexdigest() for content in found.values()
    ]
    assert {file.label for file in report.files} == {49, 57, 60}
    assert {file.category for file in report.files} == {"만두", "면"}


def test_pictures_and_boxes_are_as_reported() -> None:
    spec = SampleSpec(classes=(27,), per_class=10, box_share=0.3, sizes=(50, 90))
    written = sample._class_files(spec, spec.foods[0], 0)
    *images, table = written
    rows = dict(line.split("=") for line in table.content.decode("ascii").split("\r\n")[:-1])
    assert len(images) == 10 and len(rows) == 3
    for each in images:
        with Image.open(io.BytesIO(each.content)) as image:
            assert (image.format, image.mode) == ("JPEG", "RGB")
            width, height = image.size
        assert 50 <= width <= 90 and 50 <= height <= 90
        assert each.file.size == (height, width)
        row = rows.get(each.file.filename.removesuffix(".jpg"))
        if row is None:
            assert (each.file.crop_status, each.file.box) == (
                "missing",
                CropBox(0, 0, height, width),
            )
        else:
            x, y, w, h = map(int, row.split(","))
            assert (each.file.crop_status, each.file.box) == (
                "annotated",
                CropBox(y, x, y + h, x + w),
            )
            assert x >= 0 and y >= 0 and x + w <= width and y + h <= height
    assert (table.file.verdict, table.file.filename) == ("rejected", "crop_area.properties")


def test_default_spec_is_twenty_classes_of_twenty_categories() -> None:
    foods = SampleSpec().foods
    assert len({food.category for food in foods}) == 20
    assert [food.label for food in foods] == sorted(food.label for food in foods)
    assert len({food.category for food in SampleSpec(classes=27).foods}) == 27
    assert len(SampleSpec(classes=150).foods) == 150
    assert [food.name for food in SampleSpec(classes=("kimchi-jjigae", 49)).foods] == [
        "만두",
        "김치찌개",
    ]


def test_same_spec_gives_the_same_bytes_in_any_process(
    small: tuple[SampleReport, bytes], tmp_path: Path
) -> None:
    code = (
        "import sys; from kfood_tfds.raw.sample import *\n"
        "spec = SampleSpec(classes=('칼국수', '만두', '짜장면'), per_class=3, sizes=(40, 60))\n"
        "write_sample(sys.argv[1], spec)"
    )
    environ = {**os.environ, "PYTHONHASHSEED": "77", "TZ": "Asia/Seoul", "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", code, tmp_path / "a.zip"], env=environ, check=True)
    assert (tmp_path / "a.zip").read_bytes() == small[1]
    other = write_sample(
        tmp_path / "b.zip", SampleSpec(("칼국수", "만두", "짜장면"), 3, seed=1, sizes=(40, 60))
    )
    assert not expected_digests(other) & expected_digests(small[0])


@pytest.mark.parametrize(
    "wrong",
    [
        {"classes": 0},
        {"classes": 151},
        {"classes": ()},
        {"classes": ("피쟈",)},
        {"per_class": 0},
        {"box_share": 1.5},
        {"sizes": (20, 60)},
        {"sizes": (90, 60)},
        {"classes": 2, "faults": True},
    ],
)
def test_senseless_specs_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(KfoodError):
        SampleSpec(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [{"layout": "rar"}, {"names": "latin-1"}])
def test_unknown_layouts_are_refused(tmp_path: Path, wrong: dict[str, str]) -> None:
    with pytest.raises(ArchiveError, match="Received"):
        write_sample(tmp_path / "kfood.zip", SMALL, **wrong)


def test_the_sample_is_drawn_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "SampleSpec", lambda: SMALL)
    folder = find_or_draw_sample(tmp_path)
    assert os.fspath(folder) == os.fspath(tmp_path / f"sample-{SMALL.digest}")
    assert [path.name for path in Path(folder).iterdir()] == ["kfood.zip"]
    monkeypatch.setattr(sample, "write_sample", None)
    assert find_or_draw_sample(tmp_path) == folder


def test_another_process_may_be_faster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "SampleSpec", lambda: SMALL)

    def too_late(path: os.PathLike[str], spec: SampleSpec) -> None:
        Path(path).parent.mkdir()
        Path(path).write_bytes(b"drawn by the other one")
        raise ArchiveError("there already")

    monkeypatch.setattr(sample, "write_sample", too_late)
    assert (find_or_draw_sample(tmp_path) / "kfood.zip").read_bytes() == b"drawn by the other one"


def test_the_digest_changes_with_every_value() -> None:
    specs = (
        SampleSpec(),
        SampleSpec(classes=21),
        SampleSpec(per_class=61),
        SampleSpec(seed=1),
        SampleSpec(box_share=0.4),
        SampleSpec(faults=True),
        SampleSpec(sizes=(120, 201)),
    )
    assert len({spec.digest for spec in specs}) == len(specs)
    # However the classes are spelt.
    assert SampleSpec(classes=("만두",)).digest == SampleSpec(classes=(49,)).digest


def test_dummy_data_is_what_is_drawn(
    faulty: tuple[SampleReport, dict[str, bytes]], dummy_data: Path
) -> None:
    """Drawn anew by `write_sample("dummy_data/kfood.zip", DUMMY_SPEC)` after its removal."""
    data = (dummy_data / "kfood.zip").read_bytes()
    assert [path.name for path in dummy_data.iterdir()] == ["kfood.zip"]
    assert len(data) < 300_000
    kept = read_zip(data)
    assert list(kept) == list(faulty[1])
    accepted = {file.filename for file in faulty[0].files if file.verdict == "accepted"}
    for name, content in faulty[1].items():
        if name.rpartition("/")[2] in accepted:
            # Encoders may differ in a bit from one release to the next.
            assert _mean_difference(kept[name], content) < 2, name
        elif not name.endswith(".jpg"):
            assert kept[name] == content, name


def _mean_difference(left: bytes, right: bytes) -> float:
    with Image.open(io.BytesIO(left)) as one, Image.open(io.BytesIO(right)) as other:
        assert (one.format, one.mode, one.size) == (other.format, other.mode, other.size)
        pixels = [np.asarray(image.convert("RGB"), np.int16) for image in (one, other)]
    return float(np.abs(pixels[0] - pixels[1]).mean())

"""Drawn archives that several modules of tests read."""

from __future__ import annotations

from pathlib import Path

import pytest
from samples import SMALL, read_zip
from surveys import noisy_jpeg

from kfood_tfds.raw.classes import ClassTable, load_class_table
from kfood_tfds.raw.sample import (
    DUMMY_SPEC,
    SampleReport,
    write_sample,
)


@pytest.fixture(name="small", scope="session")
def _small(tmp_path_factory: pytest.TempPathFactory) -> tuple[SampleReport, bytes]:
    report = write_sample(tmp_path_factory.mktemp("small") / "kfood.zip", SMALL)
    return report, report.path.read_bytes()


@pytest.fixture(name="faulty", scope="session")
def _faulty(tmp_path_factory: pytest.TempPathFactory) -> tuple[SampleReport, dict[str, bytes]]:
    report = write_sample(tmp_path_factory.mktemp("faulty") / "kfood.zip", DUMMY_SPEC)
    return report, read_zip(report.path.read_bytes())


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    root = tmp_path / "archive"
    ribs = root / "구이" / "갈비구이"
    dumplings = root / "만두" / "만두"
    strange = root / "구이" / "공룡구이"
    for path in (ribs, dumplings, strange):
        path.mkdir(parents=True)
    for n in range(4):
        (ribs / f"Img_000_000{n}.jpg").write_bytes(noisy_jpeg(n))
        (dumplings / f"Img_049_000{n}.jpg").write_bytes(noisy_jpeg(10 + n))
    (ribs / "Img_000_0004.jpg").write_bytes(b"")
    (ribs / "Img_000_0005.jpg").write_bytes(noisy_jpeg(5)[:700])
    (ribs / "Img_000_0006.jpg").write_bytes(b"<!DOCTYPE html><html>gone</html>")
    (dumplings / "Img_007_0009.jpg").write_bytes(noisy_jpeg(20))
    (dumplings / "Img_049_0010.gif").write_bytes(noisy_jpeg(21, image_format="GIF"))
    (strange / "Img_000_0001.jpg").write_bytes(noisy_jpeg(30))
    (ribs / ".DS_Store").write_bytes(b"\0\0\0\1Bud1")
    (ribs / "crop_area.properties").write_bytes(
        b"Img_000_0000=10,20,50,40\r\nImg_000_0001=100,20,50,40\r\nImg_000_0099=1,2,3,4\r\n"
    )
    return root


@pytest.fixture(name="table", scope="module")
def _table() -> ClassTable:
    return load_class_table()

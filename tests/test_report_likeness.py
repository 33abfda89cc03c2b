"""Cut chains and the measurement that the report quotes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from kfood_tfds import report_likeness
from kfood_tfds.raw.duplicates import Grouping
from kfood_tfds.raw.manifest import ManifestRow

ROWS = tuple(ManifestRow(name, "accepted") for name in "dcba")


def grouping(*pairs: tuple[int, int, float, bool, bool]) -> Grouping:
    first, second, similarity, cut, parted = zip(*pairs, strict=True)
    return Grouping(
        group_of=np.arange(4),
        block_of=np.arange(4),
        pairs=np.stack([first, second], axis=1),
        similarity=np.array(similarity),
        cut=np.array(cut),
        parted=np.array(parted),
    )


def test_only_cut_pairs_count_and_parted_ones_come_first() -> None:
    found = report_likeness.cut_pairs(
        grouping(
            (0, 1, 0.99, False, False),
            (1, 2, 0.91, True, False),
            (0, 2, 0.95, True, False),
            (2, 3, 0.92, True, True),
        ),
        ROWS,
    )
    assert [("".join(row.id for row in pair.rows), pair.parted) for pair in found] == [
        ("ab", True),
        ("bd", False),
        ("bc", False),
    ]
    assert [pair.similarity for pair in found] == [0.92, 0.95, 0.91]


def test_no_cut_gives_nothing() -> None:
    assert report_likeness.cut_pairs(grouping((0, 1, 0.99, False, False)), ROWS) == ()


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(report_likeness.resources, "files", lambda name: tmp_path)
    return tmp_path


def test_the_measurement_is_read(package: Path) -> None:
    figures = {
        "threshold": 0.9,
        "accuracy": {
            "distinct images": 3000,
            "recall": {"mirrored": 0.99},
            "recall, same group": {"mirrored": 0.98},
            "recall, same block": {"mirrored": 0.97},
            "false pairs per million": 0.25,
        },
    }
    (package / "duplicates_method.json").write_text(json.dumps(figures), "utf-8")
    method = report_likeness.load_method()
    recall = report_likeness.Recall("mirrored", 0.99, 0.98, 0.97)
    assert method == report_likeness.Method(0.9, 3000, (recall,), 0.25)


def test_without_a_measurement_nothing_is_said(package: Path) -> None:
    assert report_likeness.load_method() is None

"""Groups and splits as a pipeline in this process, against the local ones and by hand."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from pathlib import Path
from typing import cast

import numpy as np
import pytest

pytest.importorskip("apache_beam", reason="pipelines need apache_beam")

from pipelines import TABLE, cluster_in, drawn

from kfood_tfds.beam import arranging
from kfood_tfds.beam.arranging import arrange_on
from kfood_tfds.beam.by_key import Node
from kfood_tfds.beam.cluster import Cluster
from kfood_tfds.raw.archive import Archive
from kfood_tfds.raw.duplicates import Grouping
from kfood_tfds.raw.errors import SurveyError
from kfood_tfds.raw.grouping_store import load_grouping, save_grouping
from kfood_tfds.raw.manifest import ManifestRow
from kfood_tfds.raw.manifest_maker import arrange
from kfood_tfds.raw.splits import DEFAULT_RATIOS
from kfood_tfds.raw.survey_store import MEASUREMENT, Survey, survey

# Of three blank images the first shows the same as the second, whose id comes first.
NAMES = ("c.jpg", "a.jpg", "b.jpg")
PIXELS = (7, 7, 8)


def _row(name: str, label: int | None = 49, verdict: str = "accepted") -> ManifestRow:
    return ManifestRow(f"만두/만두/{name}", verdict, label=label)


def _surveyed(folder: Path, rows: list[ManifestRow], pixels: tuple[int, ...]) -> Survey:
    """A survey by hand: blank thumbnails, and a number for each image's pixels."""
    measurements = np.zeros(len(pixels), MEASUREMENT)
    measurements["pixels"] = np.array(pixels, np.uint8)[:, None]
    folder.mkdir()
    (folder / "measurements.bin").write_bytes(measurements.tobytes())
    return Survey(cast(Archive, None), (), rows, measurements, folder)


def _grouping(block_of: list[int]) -> Grouping:
    blocks = np.array(block_of, np.intp)
    none, no = np.empty((0, 2), np.intp), np.empty(0, np.bool_)
    return Grouping(blocks, blocks, none, np.empty(0), no, no)


@pytest.mark.slow
def test_groups_and_splits_by_key_are_the_local_ones(tmp_path: Path) -> None:
    archive = drawn(tmp_path / "archive", "zip")
    found = survey(archive, TABLE, tmp_path / "cache")
    there, splits = arrange_on(cluster_in(tmp_path), found, DEFAULT_RATIOS)
    kept = load_grouping(found)
    (found.folder / "groups-1.npz").unlink()
    here, wanted = arrange(found, DEFAULT_RATIOS)
    assert list(splits) == list(wanted)
    assert len(here.pairs) > 0 and len(set(here.group_of.tolist())) < len(here.group_of)
    for name in ("group_of", "block_of", "pairs", "similarity", "cut", "parted"):
        for other in (there, kept):
            np.testing.assert_array_equal(getattr(other, name), getattr(here, name))
            assert getattr(other, name).dtype == getattr(here, name).dtype
    # Now that the groups are known, another division needs the splits alone.
    halves = (("one", 0.5), ("two", 0.5))
    _, parted = arrange_on(cluster_in(tmp_path), found, halves)
    assert list(parted) == list(arrange(found, halves)[1])


def test_blank_images_are_grouped_by_their_pixels_alone(tmp_path: Path) -> None:
    rows = [_row(NAMES[0]), _row("broken.jpg", verdict="rejected"), *map(_row, NAMES[1:])]
    found = _surveyed(tmp_path / "survey", rows, PIXELS)
    grouping, splits = arrange_on(cluster_in(tmp_path), found, DEFAULT_RATIOS)
    for grouped in (grouping, load_grouping(found)):
        assert grouped is not None
        assert grouped.group_of.tolist() == grouped.block_of.tolist() == [1, 1, 2]
        assert grouped.pairs.shape == (0, 2) and grouped.similarity.shape == (0,)
    # Of three images 2.1 belong to train: the pair goes there; then test lacks most, 0.6.
    assert list(splits) == ["train", "train", "test"]


def test_known_groups_are_taken_and_each_class_meets_the_ratios(tmp_path: Path) -> None:
    rows = [
        _row(f"{n:02}.jpg", label) for label in (1, 2) for n in range(10 * label, 10 * label + 10)
    ]
    found = _surveyed(tmp_path / "survey", rows, tuple(range(20)))
    # The second class is five pairs; the numbers say which image of each pair comes first.
    known = _grouping([*range(10), *(10 + n - n % 2 for n in range(10))])
    save_grouping(found, known)
    ratios = (("most", 0.8), ("rest", 0.2))
    grouping, splits = arrange_on(cluster_in(tmp_path), found, ratios)
    np.testing.assert_array_equal(grouping.block_of, known.block_of)
    assert Counter(splits[:10]) == Counter(splits[10:]) == {"most": 8, "rest": 2}
    assert splits[10::2] == splits[11::2]


def test_images_that_do_not_come_back_are_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = _surveyed(tmp_path / "survey", list(map(_row, NAMES)), PIXELS)
    monkeypatch.setattr(Cluster, "run", lambda *_: None)
    with pytest.raises(SurveyError, match=r"gave back 0 of 3 images\. .* on a shared path"):
        arrange_on(cluster_in(tmp_path), found, DEFAULT_RATIOS)
    assert load_grouping(found) is None


def test_images_go_by_the_rank_and_the_hash_of_their_ids(tmp_path: Path) -> None:
    rows = [_row(NAMES[0]), _row(NAMES[1], None), _row(NAMES[2], 3)]
    found = _surveyed(tmp_path / "survey", rows, PIXELS)
    images = arranging._images(found, _grouping([1, 1, 2]))
    assert images["rank"].tolist() == [2, 0, 1]
    assert images["label"].tolist() == [49, -1, 3]
    digests = [hashlib.sha256(f"kfood split 0\0{row.id}".encode()).digest() for row in rows]
    hashes = [int.from_bytes(digest[:8], "big") for digest in digests]
    assert images["hash"].tolist() == hashes
    assert images["block"].tolist() == [0, 0, 1]
    assert images["block_hash"].tolist() == [hashes[1], hashes[1], hashes[2]]


def test_identical_images_make_one_node_whatever_came_first() -> None:
    members = [(rank, 100 + rank, 1000 + rank, bytes([rank])) for rank in (5, 2, 9)]
    [(node, thumbnail, ranks)] = arranging._node((b"pixels", iter(members)))
    assert node == Node(2, 1002, 3)
    assert thumbnail == b"\2"
    assert ranks == [(2, 102), (5, 105), (9, 109)]


def test_candidates_of_several_bands_are_shown_once() -> None:
    shown = arranging._show_first((4, {"look": [b"four"], "others": iter([9, 6, 9, 6, 9])}))
    assert list(shown) == [(6, (4, b"four")), (9, (4, b"four"))]
    assert list(arranging._compare((4, {"look": [b"four"], "others": []}))) == []


def test_the_forest_is_the_same_however_the_work_is_shared() -> None:
    links = [(1, 2), (3, 4), (2, 3), (7, 9), (4, 5), (8, 9), (1, 5)]
    for seed in range(20):
        random.Random(seed).shuffle(links)
        forest = arranging._Forest()
        parts = [forest.create_accumulator() for _ in range(3)]
        for number, (one, other) in enumerate(links):
            parts[number % 3] = forest.add_input(parts[number % 3], (one, other, 0.95))
        merged = forest.merge_accumulators(
            [parts[2], parts[0], forest.create_accumulator(), parts[1]]
        )
        found = forest.extract_output(merged)
        assert found == {**dict.fromkeys((1, 2, 3, 4, 5), 1), **dict.fromkeys((7, 8, 9), 7)}

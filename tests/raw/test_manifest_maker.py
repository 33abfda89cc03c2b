"""Groups, splits and what a configuration leaves out, over a drawn archive with every fault."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kfood_tfds.raw.archive import find_archive
from kfood_tfds.raw.channel_sums import merge_sums
from kfood_tfds.raw.classes import load_class_table
from kfood_tfds.raw.duplicates import SIMILARITY_THRESHOLD
from kfood_tfds.raw.errors import KfoodError, SurveyError
from kfood_tfds.raw.manifest import write_manifest
from kfood_tfds.raw.manifest_maker import (
    Manifest,
    ManifestOptions,
    check_options,
    group_number,
    make_manifest,
    shares_of,
)
from kfood_tfds.raw.sample import SampleReport, SampleSpec, write_sample
from kfood_tfds.raw.survey_store import Survey, sums_of, survey

SPEC = SampleSpec(classes=("만두", "짜장면", "갈비구이"), per_class=20, faults=True, sizes=(60, 80))
TABLE = load_class_table()


@pytest.fixture(name="drawn", scope="module")
def _drawn(tmp_path_factory: pytest.TempPathFactory) -> tuple[SampleReport, Survey]:
    folder = tmp_path_factory.mktemp("drawn")
    report = write_sample(folder / "kfood.zip", SPEC)
    return report, survey(find_archive(folder), TABLE, folder / "cache")


def _made(drawn: tuple[SampleReport, Survey], **options: Any) -> Manifest:
    return make_manifest(drawn[1], TABLE, ManifestOptions(**options))


def test_images_of_one_dish_share_a_group_and_a_split(drawn: tuple[SampleReport, Survey]) -> None:
    rows = {row.id: row for row in _made(drawn).rows}
    planted: dict[str, list[str]] = {}
    for file in drawn[0].files:
        if file.group and file.verdict == "accepted":
            planted.setdefault(file.group, []).append(file.id)
    assert len(planted) >= 3
    for ids in planted.values():
        assert len({rows[file_id].group for file_id in ids}) == 1
        assert len({rows[file_id].split for file_id in ids}) == 1
    others = [r.group for r in rows.values() if r.accepted]
    assert len(set(others)) == len(others) - sum(len(ids) - 1 for ids in planted.values())


def test_no_similar_pair_straddles_two_splits(drawn: tuple[SampleReport, Survey]) -> None:
    manifest = _made(drawn)
    rows = [row for row in manifest.rows if row.accepted]
    pairs = manifest.grouping.pairs
    assert len(pairs) > 0
    assert manifest.grouping.similarity.min() >= SIMILARITY_THRESHOLD
    for (one, other), parted in zip(pairs, manifest.grouping.parted, strict=True):
        assert rows[one].split == rows[other].split or parted
    assert not manifest.grouping.parted.any()


def test_every_accepted_image_is_in_a_split_by_default(drawn: tuple[SampleReport, Survey]) -> None:
    manifest = _made(drawn)
    assert all(bool(row.split) == row.accepted for row in manifest.rows)
    assert len(manifest.rows) == len(drawn[0].files)


def test_one_picture_under_two_labels_is_a_conflict(drawn: tuple[SampleReport, Survey]) -> None:
    (conflict,) = _made(drawn).conflicts
    labels = {row.id: row.label for row in drawn[1].rows}
    assert len({labels[file_id] for file_id in conflict}) > 1
    dropped = {row.id: row for row in _made(drawn, on_conflict="drop").rows}
    for file_id in conflict:
        assert dropped[file_id].split == ""
        assert dropped[file_id].accepted
        assert "another label" in dropped[file_id].reason


def test_dedup_keeps_one_of_each_exact_duplicate_in_training(
    drawn: tuple[SampleReport, Survey],
) -> None:
    rows = [row for row in _made(drawn).rows if row.accepted and row.split == "train"]
    kept = [r for r in _made(drawn, dedup=True).rows if r.accepted and r.split == "train"]
    digests = Counter(row.sha256 for row in rows)
    assert all(count == 1 for count in Counter(row.sha256 for row in kept).values())
    assert {row.sha256 for row in kept} == set(digests)


@pytest.fixture(name="copies", scope="module")
def _copies(tmp_path_factory: pytest.TempPathFactory) -> Survey:
    """Every image of the ordinary sample three times, so that some are in training for sure."""
    folder = tmp_path_factory.mktemp("copies")
    spec = SampleSpec(classes=("만두",), per_class=10, sizes=(60, 80), box_share=0)
    write_sample(folder / "archive", spec, layout="folders")
    for path in list((folder / "archive").rglob("*.jpg")):
        for n in (1, 2):
            number = int(path.stem[-4:]) + 100 * n
            path.with_name(f"{path.stem[:-4]}{number:04d}.jpg").write_bytes(path.read_bytes())
    return survey(find_archive(folder / "archive"), TABLE)


def test_dedup_leaves_out_copies_and_names_the_one_that_stays(copies: Survey) -> None:
    plain = make_manifest(copies, TABLE, ManifestOptions()).rows
    rows = make_manifest(copies, TABLE, ManifestOptions(dedup=True)).rows
    training = [row for row in plain if row.split == "train"]
    kept = [row for row in rows if row.split == "train"]
    assert len(training) == 3 * len(kept) > 0
    for row in rows:
        if row.accepted and not row.split:
            stays = next(k for k in kept if k.sha256 == row.sha256)
            assert row.reason == f"left out: exact duplicate of {stays.id}"
            assert stays.id < row.id
    assert [r.split for r in rows if r.split in ("validation", "test")] == [
        r.split for r in plain if r.split in ("validation", "test")
    ]


def test_a_subset_keeps_the_splits_of_the_whole(drawn: tuple[SampleReport, Survey]) -> None:
    whole = {row.id: row.split for row in _made(drawn).rows}
    rows = _made(drawn, classes=("mandu",)).rows
    for row in rows:
        if row.accepted:
            assert row.split == (whole[row.id] if row.label == 49 else "")


@pytest.mark.parametrize("per_class", [1, 4, 10])
def test_per_class_is_shared_among_the_splits(
    drawn: tuple[SampleReport, Survey], per_class: int
) -> None:
    rows = _made(drawn, per_class=per_class).rows
    counts = Counter(row.label for row in rows if row.accepted and row.split)
    assert max(counts.values()) <= per_class
    training = Counter(row.label for row in rows if row.split == "train")
    assert set(training.values()) == {round(0.7 * per_class)}


def test_metadata_are_plain_counts_and_figures(drawn: tuple[SampleReport, Survey]) -> None:
    manifest = _made(drawn)
    metadata = manifest.metadata()
    accepted = [row for row in manifest.rows if row.accepted]
    for split in ("train", "validation", "test"):
        chosen = [n for n, row in enumerate(accepted) if row.split == split]
        labels = [accepted[n].label for n in chosen]
        assert metadata["class_counts"][split] == np.bincount(labels, minlength=150).tolist()
        sums = merge_sums(sums_of(drawn[1].measurements[n]) for n in chosen)
        assert metadata["mean"][split] == list(sums.mean)
        assert metadata["std"][split] == list(sums.std)
    assert metadata["verdicts"] == dict(Counter(row.verdict for row in manifest.rows))


def test_leaving_out_everything_is_refused(drawn: tuple[SampleReport, Survey]) -> None:
    with pytest.raises(SurveyError, match="No image is left"):
        _made(drawn, classes=("김치찌개",))


def test_group_numbers_are_63_bits_of_sha256() -> None:
    digest = hashlib.sha256("kfood group 만두/a.jpg".encode()).hexdigest()
    assert group_number("만두/a.jpg") == int(digest[:16], 16) // 2


RATIOS = (("train", 0.7), ("validation", 0.1), ("test", 0.2))


@pytest.mark.parametrize(
    ("total", "expected"),
    [(10, (7, 1, 2)), (5, (4, 0, 1)), (1, (1, 0, 0)), (0, (0, 0, 0)), (100, (70, 10, 20))],
)
def test_shares(total: int, expected: tuple[int, ...]) -> None:
    shares = shares_of(total, RATIOS)
    assert sum(shares.values()) == total
    assert tuple(shares.values()) == expected


@given(st.integers(0, 10_000))
def test_shares_add_up_and_are_within_one(total: int) -> None:
    shares = shares_of(total, RATIOS)
    assert sum(shares.values()) == total
    for name, ratio in RATIOS:
        assert abs(shares[name] - ratio * total) < 1 + 1e-9


@pytest.mark.parametrize(
    ("total", "ratios", "expected"),
    [
        # Rounded to thousandths by themselves, these are 1.0006 in sum.
        (5000, (0.0006, 0.0006, 0.9988), (3, 3, 4994)),
        # And the first of these is nothing.
        (5000, (0.0004, 0.9996), (2, 4998)),
        (7, (1 / 3, 1 / 3, 1 / 3), (3, 2, 2)),
        (5000, (0.6667, 0.3333), (3333, 1667)),
    ],
)
def test_shares_of_any_size_add_up(
    total: int, ratios: tuple[float, ...], expected: tuple[int, ...]
) -> None:
    shares = shares_of(total, [(f"s{n}", ratio) for n, ratio in enumerate(ratios)])
    assert tuple(shares.values()) == expected


@given(st.integers(1, 20_000), st.lists(st.integers(1, 10_000), min_size=1, max_size=20))
def test_any_shares_add_up_to_their_total(total: int, weights: list[int]) -> None:
    ratios = [(f"s{n}", weight / sum(weights)) for n, weight in enumerate(weights)]
    shares = shares_of(total, ratios)
    assert sum(shares.values()) == total
    for name, ratio in ratios:
        assert abs(shares[name] - ratio * total) < 1 + total * 0.0011


@pytest.fixture(name="edited", scope="module")
def _edited(drawn: tuple[SampleReport, Survey], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The manifest of a default build, not edited yet."""
    path = tmp_path_factory.mktemp("edited") / "manifest.csv"
    write_manifest(path, _made(drawn).rows)
    return path


@pytest.mark.parametrize(
    "options",
    [{}, {"on_conflict": "drop"}, {"dedup": True}, {"per_class": 4}, {"classes": ("mandu",)}],
)
def test_an_unedited_manifest_changes_nothing(
    drawn: tuple[SampleReport, Survey], edited: Path, options: dict[str, Any]
) -> None:
    with_it = _made(drawn, edited_manifest=str(edited), **options)
    assert with_it.rows == _made(drawn, **options).rows


def test_a_relabelling_settles_a_conflict(
    drawn: tuple[SampleReport, Survey], edited: Path, tmp_path: Path
) -> None:
    (conflict,) = _made(drawn).conflicts
    rows = [replace(r, label=49) if r.id in conflict else r for r in _made(drawn).rows]
    write_manifest(tmp_path / "settled.csv", rows)
    made = _made(drawn, edited_manifest=str(tmp_path / "settled.csv"), on_conflict="drop")
    assert made.conflicts == ()
    assert all(row.split for row in made.rows if row.id in conflict)


def test_files_that_the_manifest_rejects_do_not_stop_a_strict_build(
    drawn: tuple[SampleReport, Survey], edited: Path
) -> None:
    made = _made(drawn, edited_manifest=str(edited), on_invalid="raise")
    assert made.rows == _made(drawn).rows
    with pytest.raises(SurveyError, match="can't be used"):
        _made(drawn, on_invalid="raise")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"classes": ("nothing",)}, "no class 'nothing'"),
        ({"split_ratios": (("train", 0.5), ("train", 0.5))}, "train"),
        ({"split_ratios": (("all", 0.5), ("test", 0.5))}, "not 'all'"),
        ({"split_ratios": (("te st", 0.5), ("test", 0.5))}, "te st"),
        ({"edited_manifest": "/nowhere/my.csv"}, "can't be read"),
    ],
)
def test_options_are_checked_without_an_archive(options: dict[str, Any], message: str) -> None:
    with pytest.raises(KfoodError, match=message):
        check_options(ManifestOptions(**options), TABLE)

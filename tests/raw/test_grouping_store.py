"""Groups that are kept beside a survey."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from buckets import Bucket

from kfood_tfds.raw import grouping_store, survey_store
from kfood_tfds.raw.archive import find_archive
from kfood_tfds.raw.classes import ClassTable
from kfood_tfds.raw.duplicates import Grouping
from kfood_tfds.raw.grouping_store import group_survey
from kfood_tfds.raw.survey_store import Survey, survey


@pytest.fixture(name="found")
def _found(folder: Path, table: ClassTable, tmp_path: Path) -> Survey:
    return survey(find_archive(folder), table, tmp_path / "cache")


def same(left: Grouping, right: Grouping) -> bool:
    pairs = zip(dataclasses.astuple(left), dataclasses.astuple(right), strict=True)
    return all(np.array_equal(one, other) for one, other in pairs)


def test_a_second_look_groups_nothing(found: Survey, monkeypatch: pytest.MonkeyPatch) -> None:
    first = group_survey(found)
    assert len(first.group_of) == sum(row.accepted for row in found.rows)
    monkeypatch.setattr(grouping_store, "find_groups", None)
    assert same(group_survey(found), first)


@pytest.mark.parametrize("keep", [0, 10, 200])
def test_a_torn_file_is_made_anew(found: Survey, keep: int) -> None:
    first = group_survey(found)
    (kept,) = found.folder.glob("groups-*.npz")
    kept.write_bytes(kept.read_bytes()[:keep])
    assert same(group_survey(found), first)
    assert kept.stat().st_size > 200


def test_groups_of_another_number_of_images_are_not_taken(found: Survey) -> None:
    first = group_survey(found)
    (kept,) = found.folder.glob("groups-*.npz")
    with np.load(kept) as arrays:
        shorter = {name: arrays[name][:-1] for name in arrays.files}
    np.savez(kept, **shorter)
    assert same(group_survey(found), first)


def test_groups_are_kept_in_the_bucket_that_keeps_the_survey(
    folder: Path, table: ClassTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket = Bucket(tmp_path / "bucket")
    monkeypatch.setattr(survey_store, "survey_folder", lambda cache_dir, key: bucket)
    first = group_survey(survey(find_archive(folder), table, "gs://food"))
    (kept,) = bucket.folder.glob("groups-*.npz")
    again = survey(find_archive(folder), table, "gs://food")
    assert not list(again.folder.glob("groups-*.npz"))
    with monkeypatch.context() as none_made:
        none_made.setattr(grouping_store, "find_groups", None)
        assert same(group_survey(again), first)
    whole = kept.read_bytes()
    kept.write_bytes(whole[:200])
    assert same(group_survey(survey(find_archive(folder), table, "gs://food")), first)
    assert len(kept.read_bytes()) == len(whole)

"""Splits of a source by class and group."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kfood_tfds.sampling.splitting import split_indices


def _columns(count: int = 200) -> dict[str, list[Any]]:
    return {
        "label": [index % 4 for index in range(count)],
        "group": [index // 8 * 4 + index % 4 for index in range(count)],
        "id": [f"{index:04d}.jpg" for index in range(count)],
    }


def test_every_index_goes_to_one_part_and_groups_stay_together() -> None:
    columns = _columns()
    parts = split_indices(columns, (0.5, 0.3, 0.2), seed=1)
    assert sorted(np.concatenate(parts).tolist()) == list(range(200))
    groups = [{columns["group"][index] for index in part} for part in parts]
    assert not groups[0] & groups[1] and not groups[0] & groups[2] and not groups[1] & groups[2]


def test_ratios_hold_in_every_class() -> None:
    columns = _columns()
    for part, ratio in zip(split_indices(columns, (0.8, 0.2)), (0.8, 0.2), strict=True):
        counts = np.bincount([columns["label"][index] for index in part], minlength=4)
        # Groups hold two of a class.
        assert np.abs(counts - 50 * ratio).max() <= 2


def test_parts_follow_from_the_ids_and_the_seed() -> None:
    columns = _columns()
    order = np.random.default_rng(0).permutation(200)
    mixed = {name: [values[index] for index in order] for name, values in columns.items()}
    first, other = split_indices(columns)[1], split_indices(mixed)[1]
    assert {columns["id"][i] for i in first} == {mixed["id"][i] for i in other}
    assert first.tolist() != split_indices(columns, seed=1)[1].tolist()


def test_takes_a_stored_source_and_a_list_of_examples(source: Any) -> None:
    stored = split_indices(source, (0.5, 0.5))
    listed = split_indices([source[index] for index in range(len(source))], (0.5, 0.5))
    assert [part.tolist() for part in stored] == [part.tolist() for part in listed]
    # Groups are pairs, and a class of ten has five of them.
    counts = np.bincount(source.column("label")[stored[0]])
    assert np.abs(counts - [5, 5, 10]).max() <= 1


def test_ids_as_bytes_give_the_division_of_their_texts() -> None:
    columns = _columns()
    encoded = [name.encode() for name in columns["id"]]
    expected = [part.tolist() for part in split_indices(columns)]
    for ids in (encoded, np.array(encoded, dtype=object), np.array(columns["id"])):
        parts = split_indices({**columns, "id": ids})
        assert [part.tolist() for part in parts] == expected


def test_ids_that_are_no_texts_are_named() -> None:
    with pytest.raises(ValueError, match=r"must be texts.*id=7 of type int"):
        split_indices({**_columns(), "id": [7, *_columns()["id"][1:]]})


def test_missing_features_and_bad_ratios_are_named() -> None:
    with pytest.raises(ValueError, match="without group"):
        split_indices({name: values for name, values in _columns().items() if name != "group"})
    with pytest.raises(ValueError, match="sum up"):
        split_indices(_columns(), (0.8, 0.3))

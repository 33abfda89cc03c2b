"""Index samplers: order, epochs, resumption, shards."""

from __future__ import annotations

import functools
import operator
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kfood_tfds.sampling.index_samplers import (
    Batch,
    IndexSampler,
    Random,
    Sequential,
    Subset,
)


def test_sequential_counts_up() -> None:
    assert list(Sequential(4)) == [0, 1, 2, 3]
    assert len(Sequential("abc")) == 3


def test_random_gives_every_index_once_and_another_order_each_epoch() -> None:
    sampler = Random(30, seed=1)
    first, second = list(sampler), list(sampler)
    assert sorted(first) == sorted(second) == list(range(30))
    assert first != second
    assert first == list(Random(30, seed=1))
    assert first != list(Random(30, seed=2))


def test_random_without_replacement_wraps_by_whole_permutations() -> None:
    order = list(Random(5, num_samples=12))
    assert len(order) == 12
    assert sorted(order[:5]) == sorted(order[5:10]) == list(range(5))
    assert order[:5] != order[5:10]
    assert len(set(order[10:])) == 2


def test_random_without_replacement_may_be_shorter_than_the_source() -> None:
    order = list(Random(100, num_samples=10))
    assert len(order) == len(set(order)) == 10


def test_random_with_replacement_draws_evenly() -> None:
    order = np.array(list(Random(10, replacement=True, num_samples=20_000)))
    shares = np.bincount(order, minlength=10) / 20_000
    assert np.abs(shares - 0.1).max() < 4 * np.sqrt(0.09 / 20_000)


def test_subset_gives_its_indices() -> None:
    assert list(Subset([7, 3, 5], shuffle=False)) == [7, 3, 5]
    order = list(Subset(range(10, 40)))
    assert sorted(order) == list(range(10, 40))
    assert order != sorted(order)
    assert list(Subset([])) == []


@given(st.integers(0, 50), st.integers(1, 7), st.integers(0, 3))
@settings(max_examples=60)
def test_shards_hold_every_index_exactly_once(length: int, world: int, epoch: int) -> None:
    parts = [list(Random(length).shard(rank, world).at(epoch)) for rank in range(world)]
    assert sorted(functools.reduce(operator.iadd, parts, [])) == list(range(length))
    assert [len(part) for part in parts] == [
        len(Random(length).shard(rank, world)) for rank in range(world)
    ]
    even = [list(Random(length).shard(rank, world, True).at(epoch)) for rank in range(world)]
    assert {len(part) for part in even} == {length // world}
    assert set(functools.reduce(operator.iadd, even, [])) <= set(range(length))


@pytest.mark.parametrize(
    "sampler", [Random(23), Subset(range(23)), Sequential(23), Random(69).shard(1, 3)]
)
@given(st.integers(0, 3), st.integers(0, 23))
@settings(max_examples=20)
def test_resumes_in_the_middle_and_goes_on_to_the_next_epoch(
    sampler: IndexSampler, epoch: int, position: int
) -> None:
    resumed = sampler.at(epoch, position)
    assert list(resumed) == list(sampler.at(epoch))[position:]
    assert list(resumed) == list(sampler.at(epoch + 1))


def test_state_is_where_the_iteration_stands() -> None:
    sampler = Random(10)
    list(sampler)
    running = iter(sampler)
    seen = [next(running) for _ in range(4)]
    state = sampler.state_dict()
    assert state == {"epoch": 1, "position": 4}
    other = Random(10)
    other.load_state_dict(state)
    rest = list(other)
    assert seen + rest == list(Random(10).at(1))
    assert list(other) == list(Random(10).at(2))


def test_a_state_of_an_epoch_s_end_goes_on_with_the_next() -> None:
    sampler, other = Random(10), Random(10)
    list(sampler)
    other.load_state_dict(sampler.state_dict())
    assert list(other) == list(Random(10).at(1))
    for drop_last in (False, True):
        batch, resumed = (Batch(Random(11), 3, drop_last) for _ in range(2))
        running = iter(batch)
        for _ in range(len(batch)):
            next(running)
        # The loader has given all lists, and not looked yet whether there are more.
        resumed.load_state_dict(batch.state_dict())
        assert list(resumed) == list(Batch(Random(11), 3, drop_last).at(1))


def test_at_leaves_the_original_alone() -> None:
    sampler = Random(10)
    sampler.at(5, 3)
    assert list(sampler) == list(Random(10).at(0))


def test_pickled_sampler_goes_on_where_it_was() -> None:
    sampler = Random(10).at(3, 2)
    assert list(pickle.loads(pickle.dumps(sampler))) == list(sampler)


def test_batches() -> None:
    assert list(Batch(Sequential(5), 2)) == [[0, 1], [2, 3], [4]]
    assert list(Batch(Sequential(5), 2, drop_last=True)) == [[0, 1], [2, 3]]
    assert len(Batch(Sequential(5), 2)) == 3
    assert len(Batch(Sequential(5), 2, drop_last=True)) == 2


def test_batches_resume_at_a_step() -> None:
    batch = Batch(Random(11), 3)
    whole = list(batch.at(2))
    running = iter(batch.at(2))
    assert [next(running), next(running), *list(batch.at(2, 2))] == whole
    assert list(batch.at(2, 4)) == []


def test_batches_keep_their_state_in_indices() -> None:
    batch = Batch(Random(11), 3)
    running = iter(batch)
    seen = [next(running), next(running)]
    assert batch.state_dict() == {"epoch": 0, "position": 6}
    other = Batch(Random(11), 3)
    other.load_state_dict(batch.state_dict())
    assert seen + list(other) == list(Batch(Random(11), 3))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Random(5, num_samples=-1), "num_samples"),
        (lambda: Random(0, num_samples=3), "nothing to draw"),
        (lambda: Random(5, seed=-1), "seed"),
        (lambda: Subset([-1]), "indices"),
        (lambda: Subset([0.5]), "indices"),
        (lambda: Random(5).shard(2, 2), "rank=2"),
        (lambda: Random(5).shard(0, 0), "world"),
        (lambda: Random(5).at(0, 2).shard(0, 2), "shard first"),
        (lambda: Batch(Random(5), 0), "size"),
        (lambda: Batch(Random(5), 2).at(0, 4), "number of lists, 3.*step=4"),
        (lambda: Random(5).at(0, 6), "position=6"),
        (lambda: Random(5).at(-1), "epoch"),
        (lambda: Random(5).load_state_dict({"epoch": 1}), "state"),
    ],
)
def test_bad_arguments_are_named(make: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()

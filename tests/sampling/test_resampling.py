"""Resampling of a stream of examples."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from kfood_tfds import postprocessing as pp
from kfood_tfds.sampling import resampling as rs
from kfood_tfds.sampling.categories import category_of_class


def _stream(counts: list[int], order: int = 0) -> tuple[tf.data.Dataset, np.ndarray]:
    labels = np.repeat(np.arange(len(counts)), counts)
    ids = np.array([f"구이/{index:05d}.jpg" for index in range(len(labels))])
    mixed = np.random.default_rng(order).permutation(len(labels))
    columns = {"id": ids[mixed], "label": labels[mixed], "image": ids[mixed]}
    return tf.data.Dataset.from_tensor_slices(columns), labels


def _seen(ds: Any) -> Counter[tuple[int, str]]:
    return Counter((int(example["label"]), example["image"].numpy().decode()) for example in ds)


def _ids(ds: Any) -> list[str]:
    return [example["id"].numpy().decode() for example in ds]


def test_rates_by_hand() -> None:
    assert rs.balanced_rates([6, 0, 2]).tolist() == [4 / 6, 0, 2]
    assert rs.balanced_rates([6, 0, 2], length=4).tolist() == [2 / 6, 0, 1]
    # Two categories of 6 each: class 0 alone in its own, classes 1 and 2 share the other.
    rates = rs.balanced_rates([6, 4, 2], categories=[0, 1, 1])
    assert rates.tolist() == [1.0, 0.75, 1.5]
    # A class without examples leaves its category to the others in it.
    assert rs.balanced_rates([6, 0, 2], categories=[0, 1, 1]).tolist() == [4 / 6, 0, 2]


def test_imbalanced_classes_come_out_equal_within_three_standard_errors() -> None:
    counts = [1000, 20, 500, 37]
    ds, _ = _stream(counts)
    for epoch in range(3):
        resampled = rs.resample(ds, "balanced", seed=1, counts=counts, epoch=epoch)
        by_class: Counter[int] = Counter()
        for (label, _), times in _seen(resampled).items():
            by_class[label] += times
        total = sum(by_class.values())
        assert total == sum(counts) == int(resampled.cardinality())
        for label, count in enumerate(counts):
            rate = total / 4 / count
            spread = np.sqrt(count * (rate % 1) * (1 - rate % 1))
            # Cutting to the fixed length takes some of the examples at the end.
            assert abs(by_class[label] - total / 4) <= 3 * spread + 3 * np.sqrt(total) / 4


def test_copies_are_the_rate_s_whole_part_or_one_more() -> None:
    counts = [10, 200]
    ds, _ = _stream(counts)
    resampled = rs.resample(ds, [2.25, 0.5], seed=0)
    times = {0: Counter(), 1: Counter()}
    for (label, _), number in _seen(resampled).items():
        times[label][number] += 1
    assert set(times[0]) <= {2, 3} and sum(times[0].values()) == 10
    assert set(times[1]) == {1}
    assert 60 < times[1][1] < 140


def test_coins_depend_on_id_seed_and_epoch_only() -> None:
    one, _ = _stream([50, 50], order=0)
    other, _ = _stream([50, 50], order=1)
    rates = [0.5, 1.5]
    reference = _seen(rs.resample(one, rates, seed=3))
    assert _seen(rs.resample(other, rates, seed=3)) == reference
    assert _seen(rs.resample(one, rates, seed=4)) != reference
    assert _seen(rs.resample(one, rates, seed=3, epoch=1)) != reference
    assert _seen(rs.resample(one, rates, seed=3).at_epoch(1)) == _seen(
        rs.resample(one, rates, seed=3, epoch=1)
    )


@pytest.mark.slow
def test_what_is_dropped_in_one_epoch_comes_in_another() -> None:
    ds, _ = _stream([100])
    resampled = rs.resample(ds, [0.5])
    seen = [set(_seen(resampled.at_epoch(epoch))) for epoch in range(12)]
    assert set.union(*seen) == set(_seen(ds))


def test_epoch_may_be_a_tensor() -> None:
    ds, _ = _stream([20, 5])
    resampled = rs.resample(ds, "balanced", counts=[20, 5])
    both = tf.data.Dataset.range(2).flat_map(resampled.at_epoch)
    assert _ids(both) == _ids(resampled.at_epoch(0)) + _ids(resampled.at_epoch(1))


def test_copies_have_ids_of_their_own() -> None:
    ds, _ = _stream([2])
    ids = _ids(rs.resample(ds, [3.0]))
    assert len(set(ids)) == 6
    assert sorted(Counter(name.partition("#")[2] for name in ids).items()) == [
        ("", 2), ("2", 2), ("3", 2),
    ]  # fmt: skip
    assert sorted({name.partition("#")[0] for name in ids}) == [
        "구이/00000.jpg",
        "구이/00001.jpg",
    ]


def test_a_short_pass_goes_on_at_the_beginning() -> None:
    ds, _ = _stream([4])
    ids = _ids(rs.resample(ds, [1.0], counts=[4], length=10))
    assert len(ids) == 10 == len(set(ids))
    assert Counter(Counter(name.partition("#")[0] for name in ids).values()) == {2: 2, 3: 2}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("count", "rate", "length"),
    [(3, 0.5, None), (10, 0.1, None), (300, 0.01, None), (8, 0.02, 2), (2, 0.9, 5), (1, 0.3, 1)],
)
def test_an_epoch_is_full_at_the_lowest_rates_too(
    count: int, rate: float, length: int | None
) -> None:
    ds, _ = _stream([count])
    resampled = rs.resample(ds, [rate], counts=[count], length=length)
    expected = round(count * rate) if length is None else length
    seen: Counter[str] = Counter()
    epochs = _ids(tf.data.Dataset.range(40).flat_map(resampled.at_epoch))
    assert len(epochs) == 40 * expected
    for epoch in range(40):
        ids = epochs[epoch * expected : (epoch + 1) * expected]
        assert len(ids) == len(set(ids)) == expected
        seen.update(name.partition("#")[0] for name in ids)
    # 40 epochs of independent draws leave none of the few out, and favour none of the many.
    assert len(seen) == count or expected * 40 < 5 * count
    assert max(seen.values()) <= max(40 * expected / count * 2.5, 6)


def test_each_pass_tosses_coins_of_its_own() -> None:
    ds, _ = _stream([100])
    names = _ids(rs.resample(ds, [0.5], counts=[100], length=200))
    passes: dict[str, set[str]] = {}
    for name in names:
        plain, _, mark = name.partition("#")
        passes.setdefault(mark, set()).add(plain)
    sets = list(passes.values())
    assert len(sets) >= 4
    # Two halves at random have a quarter in common, a third of all coins at most.
    assert all(len(one & other) < 40 for one in sets[:3] for other in sets[:3] if one is not other)
    free = _ids(rs.resample(ds, [0.5]))
    assert names[: len(free)] == free


def test_counts_that_are_not_those_of_the_data_are_named() -> None:
    ds, _ = _stream([4])
    other = rs.resample(ds, [0.0, 1.0], counts=[4, 6])
    with pytest.raises(tf.errors.InvalidArgumentError, match="cannot be filled.*fewer examples"):
        _ids(other)
    with pytest.raises(tf.errors.InvalidArgumentError, match="cannot be filled.*fewer examples"):
        _ids(rs.resample(ds.take(0), [1.0], counts=[4]))


def test_labels_without_a_rate_are_named() -> None:
    ds, _ = _stream([2, 2, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match="a rate for each label.*there are 2"):
        _ids(rs.resample(ds, {0: 1.0, 1: 2.0}))
    with pytest.raises(ValueError, match="2 rates, examples of label 2"):
        rs.resample(ds, [1.0, 2.0], counts=[2, 2, 2])
    # Classes that have none need no rate.
    assert len(_ids(rs.resample(ds.take(0), [1.0]))) == 0
    assert rs.expected_length([4, 2, 0, 0], [0.5, 2.0]) == 6.0


@pytest.mark.slow
def test_fixed_length_is_the_expected_one_in_every_epoch() -> None:
    counts = [30, 70]
    ds, _ = _stream(counts)
    resampled = rs.resample(ds, [0.3, 1.4], counts=counts)
    assert rs.expected_length(counts, [0.3, 1.4]) == pytest.approx(107.0)
    assert [len(_ids(resampled.at_epoch(epoch))) for epoch in range(5)] == [107] * 5


def test_exact_length_is_that_of_a_free_pass() -> None:
    counts = [30, 70]
    ds, labels = _stream(counts)
    ids = [f"구이/{index:05d}.jpg" for index in range(100)]
    for epoch in range(3):
        free = rs.resample(ds, [0.3, 1.4], seed=2, epoch=epoch)
        assert rs.exact_length(ids, labels, [0.3, 1.4], 2, epoch) == len(_ids(free))


def test_counts_are_taken_from_the_stream_where_none_are_given() -> None:
    ds, _ = _stream([40, 10])
    assert _ids(rs.resample(ds, "balanced")) == _ids(
        rs.resample(ds, "balanced", counts=[40, 10] + [0] * 148)
    )


def test_categories_come_out_equal_by_the_class_table() -> None:
    categories, counts = category_of_class(), np.full(150, 10)
    rates = rs.balanced_rates(counts, categories)
    by_category = np.bincount(categories, weights=rates * counts)
    np.testing.assert_allclose(by_category, 1500 / 27)


def test_categories_of_a_class_table_of_ones_own() -> None:
    counts = [60, 30, 30]
    ds, _ = _stream(counts)
    resampled = rs.resample(
        ds, "balanced_categories", counts=counts, length=120, categories=[0, 1, 1]
    )
    by_class: Counter[int] = Counter()
    for (label, _), times in _seen(resampled).items():
        by_class[label] += times
    # 60 for each category are the numbers as they are.
    assert by_class == {0: 60, 1: 30, 2: 30}


@pytest.mark.slow
def test_pipeline_tosses_anew_in_each_epoch_and_resumes() -> None:
    ds, _ = _stream([40, 4])
    png = tf.io.encode_png(tf.zeros([4, 4, 3], tf.uint8))
    ds = ds.map(lambda example: {**example, "image": png})
    resampled = rs.resample(ds, "balanced", seed=1, counts=[40, 4])
    pipeline = pp.eval_pipeline(4, crop="none", num_classes=2)

    def ids(**more: Any) -> list[list[str]]:
        batches = pipeline.batches(resampled, 11, seed=1, with_ids=True, **more)
        return [[name.decode() for name in batch[-1].numpy()] for batch in batches]

    epochs = ids(epochs=3)
    assert epochs == sum([_in_batches(_ids(resampled.at_epoch(epoch))) for epoch in range(3)], [])
    assert epochs[:4] != epochs[4:8]
    assert ids(epochs=3, start_step=5) == epochs[5:]


def _in_batches(names: list[str]) -> list[list[str]]:
    return [names[start : start + 11] for start in range(0, len(names), 11)]


def test_decoded_images_of_different_sizes_are_resampled_too() -> None:
    examples = [
        {"id": f"{n}", "label": 0, "image": np.full((n, 2, 3), n, np.uint8)} for n in (1, 2)
    ]
    ds = tf.data.Dataset.from_generator(
        lambda: iter(examples),
        output_signature={
            "id": tf.TensorSpec([], tf.string),
            "label": tf.TensorSpec([], tf.int64),
            "image": tf.TensorSpec([None, None, 3], tf.uint8),
        },
    )
    shapes = [tuple(example["image"].shape) for example in rs.resample(ds, [2.0])]
    assert shapes == [(1, 2, 3), (1, 2, 3), (2, 2, 3), (2, 2, 3)]


def test_stream_is_read_once() -> None:
    reads: list[int] = []

    def note(number: np.ndarray) -> np.ndarray:
        reads.append(int(number))
        return number

    def example(number: Any) -> dict[str, Any]:
        seen = tf.numpy_function(note, [number], tf.int64)
        return {"id": tf.strings.as_string(seen), "label": tf.zeros([], tf.int64)}

    ds = tf.data.Dataset.range(100).map(example)
    assert len(_ids(rs.resample(ds, [1.5]))) > 100
    assert sorted(reads) == list(range(100))


@pytest.mark.parametrize(
    ("rates", "arguments", "words"),
    [
        ("even", {"counts": [4]}, "rates='even'"),
        ([-1.0], {}, "rates must be finite"),
        ([0.0], {}, "rates must be finite"),
        ([np.nan], {}, "rates must be finite"),
        ({1: 1.0}, {}, "each label from 0"),
        ([1.0], {"length": 5}, "takes the class counts"),
        ([0.0, 1.0], {"counts": [4, 0]}, "drop every example"),
        ([1.0], {"seed": -1}, "seed"),
        ("balanced_categories", {"counts": [4]}, "categories"),
    ],
)
def test_bad_arguments_are_named(rates: Any, arguments: dict[str, Any], words: str) -> None:
    ds, _ = _stream([4])
    with pytest.raises(ValueError, match=words):
        rs.resample(ds, rates, **arguments)


def test_batches_and_supervised_pairs_are_refused() -> None:
    ds, _ = _stream([4])
    with pytest.raises(ValueError, match="before batches"):
        rs.resample(ds.batch(2), [1.0])
    with pytest.raises(ValueError, match="as_supervised"):
        rs.resample(ds.map(lambda example: (example["image"], example["label"])), [1.0])

"""Tests of kfood_tfds.raw.splits."""

from __future__ import annotations

import hashlib
import random
import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kfood_tfds.raw import splits
from kfood_tfds.raw.errors import KfoodError

SHARES = {"train": 0.7, "validation": 0.1, "test": 0.2}


def _ids(number: int, prefix: str = "a") -> list[str]:
    return [f"구이/{prefix}/Img_{index:04d}.jpg" for index in range(number)]


def _sizes(found: list[str]) -> tuple[int, int, int]:
    counts = Counter(found)
    return counts["train"], counts["validation"], counts["test"]


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (1, (1, 0, 0)),
        (2, (1, 0, 1)),
        (3, (2, 0, 1)),
        (4, (3, 0, 1)),
        (5, (3, 1, 1)),
        (10, (7, 1, 2)),
        (100, (70, 10, 20)),
        (1000, (700, 100, 200)),
    ],
)
def test_single_images_meet_the_ratios(number: int, expected: tuple[int, int, int]) -> None:
    found = splits.assign_splits([3] * number, range(number), _ids(number))
    assert _sizes(found) == expected


def test_no_images() -> None:
    assert splits.assign_splits([], [], []) == []


def test_keyed_hash_is_sha256_of_seed_and_name() -> None:
    digest = hashlib.sha256("kfood split 5\0구이/x.jpg".encode()).hexdigest()
    assert splits.keyed_hash("구이/x.jpg", 5) == int(digest[:16], 16)


def test_same_result_in_another_process_with_another_hash_seed() -> None:
    ids = _ids(60)
    code = (
        "from kfood_tfds.raw import splits\n"
        "ids = [f'구이/a/Img_{i:04d}.jpg' for i in range(60)]\n"
        "found = splits.assign_splits([i % 3 for i in range(60)], [f'b{i // 2}' for i in range(60)]"
        ", ids)\n"
        "import sys; sys.stdout.write(','.join(found))"
    )
    run = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", code],
        env={"PYTHONHASHSEED": "77", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    here = splits.assign_splits([i % 3 for i in range(60)], [f"b{i // 2}" for i in range(60)], ids)
    assert run.stdout.split(",") == here


@st.composite
def _single_class_blocks(draw: st.DrawFn) -> tuple[list[int | None], list[int], list[str]]:
    labels: list[int | None] = []
    blocks: list[int] = []
    number = 0
    for label in range(draw(st.integers(1, 4))):
        for size in draw(st.lists(st.integers(1, 12), min_size=1, max_size=40)):
            labels += [label] * size
            blocks += [number] * size
            number += 1
    return labels, blocks, _ids(len(labels))


@given(_single_class_blocks())
def test_every_class_is_within_its_largest_block_of_the_ratios(
    case: tuple[list[int | None], list[int], list[str]],
) -> None:
    labels, blocks, ids = case
    found = splits.assign_splits(labels, blocks, ids)
    largest = Counter[int | None]()
    for block, size in Counter(blocks).items():
        label = labels[blocks.index(block)]
        largest[label] = max(largest[label], size)
    for label, total in Counter(labels).items():
        counts = Counter(split for split, own in zip(found, labels, strict=True) if own == label)
        for split, share in SHARES.items():
            assert abs(counts[split] - share * total) < largest[label] + 1e-9


@given(
    st.lists(st.tuples(st.one_of(st.none(), st.integers(0, 3)), st.integers(0, 15)), max_size=60)
)
def test_blocks_never_part_whatever_the_labels(pairs: list[tuple[int | None, int]]) -> None:
    labels = [label for label, _ in pairs]
    blocks = [block for _, block in pairs]
    found = splits.assign_splits(labels, blocks, _ids(len(pairs)))
    assert set(found) <= set(SHARES)
    for block in set(blocks):
        sides = {split for split, own in zip(found, blocks, strict=True) if own == block}
        assert len(sides) == 1


@given(st.integers(0, 1000), st.lists(st.integers(0, 12), min_size=1, max_size=60))
def test_neither_order_nor_numbering_matters(shuffle: int, blocks: list[int]) -> None:
    ids = _ids(len(blocks))
    labels = [block % 3 if block < 10 else index % 3 for index, block in enumerate(blocks)]
    before = dict(zip(ids, splits.assign_splits(labels, blocks, ids), strict=True))
    order = list(range(len(ids)))
    random.Random(shuffle).shuffle(order)
    after = splits.assign_splits(
        [labels[i] for i in order], [f"block {-blocks[i]}" for i in order], [ids[i] for i in order]
    )
    assert {ids[i]: split for i, split in zip(order, after, strict=True)} == before


def test_files_added_to_other_classes_change_nothing() -> None:
    ids = _ids(200)
    labels = [0] * 100 + [1] * 100
    blocks = [index // 3 for index in range(200)]  # block 33 holds ids of both classes
    before = splits.assign_splits(labels, blocks, ids)
    more = _ids(77, "other")
    after = splits.assign_splits(
        labels + [2] * 77, blocks + [1000 + i // 5 for i in range(77)], ids + more
    )
    assert after[:200] == before


def test_a_file_more_in_the_class_moves_few_others() -> None:
    ids = _ids(1000)
    blocks = list(range(900)) + [900 + index // 4 for index in range(100)]
    before = splits.assign_splits([0] * 1000, blocks, ids)
    after = splits.assign_splits([0] * 1001, [*blocks, 5000], [*ids, "구이/a/new.jpg"])
    moved = sum(old != new for old, new in zip(before, after[:1000], strict=True))
    assert moved <= 3


def test_block_of_two_classes_depends_on_its_smallest_id_alone() -> None:
    first = splits.assign_splits([0, 1], ["x", "x"], ["b", "a"])
    many = splits.assign_splits(
        [0, 1, *[0] * 50], ["x", "x", *[f"n{i}" for i in range(50)]], ["b", "a", *_ids(50)]
    )
    assert many[:2] == first
    position = splits.keyed_hash("a") / 2**64
    expected = "train" if position < 0.7 else "validation" if position < 0.8 else "test"
    assert first == [expected, expected]


def test_blocks_of_two_classes_spread_by_the_ratios() -> None:
    number = 4000
    labels = [0, 1] * number
    blocks = [index // 2 for index in range(2 * number)]
    found = splits.assign_splits(labels, blocks, _ids(2 * number))
    counts = Counter(found)
    for split, share in SHARES.items():
        # Five standard deviations of a binomial with 4,000 draws are under 0.04.
        assert abs(counts[split] / (2 * number) - share) < 0.04


def test_single_class_blocks_make_up_for_blocks_of_two_classes() -> None:
    labels = [0, 1] * 100 + [0] * 900
    blocks = [index // 2 for index in range(200)] + list(range(100, 1000))
    found = splits.assign_splits(labels, blocks, _ids(1100))
    counts = Counter(split for split, label in zip(found, labels, strict=True) if label == 0)
    assert (counts["train"], counts["validation"], counts["test"]) == (700, 100, 200)


def test_unlabelled_image_follows_its_block_and_counts_nowhere() -> None:
    labels: list[int | None] = [0] * 10 + [None] * 10
    found = splits.assign_splits(labels, [*range(10), *range(10)], _ids(20))
    assert found[:10] == found[10:]
    assert _sizes(found[:10]) == (7, 1, 2)


def test_unlabelled_blocks_are_split_like_a_class() -> None:
    assert _sizes(splits.assign_splits([None] * 10, range(10), _ids(10))) == (7, 1, 2)


def test_own_ratios_and_seed() -> None:
    ids = _ids(100)
    two = splits.assign_splits([0] * 100, range(100), ids, (("fit", 0.8), ("check", 0.2)))
    assert Counter(two) == {"fit": 80, "check": 20}
    other = splits.assign_splits([0] * 100, range(100), ids, {"fit": 0.8, "check": 0.2}, seed=1)
    assert Counter(other) == {"fit": 80, "check": 20}
    assert other != two


def test_thirds_and_rounded_shares_are_accepted() -> None:
    thirds = {"a": 1 / 3, "b": 1 / 3, "c": 1 / 3}
    assert Counter(splits.assign_splits([0] * 9, range(9), _ids(9), thirds)) == {
        "a": 3,
        "b": 3,
        "c": 3,
    }
    everything = splits.assign_splits([0] * 9, range(9), _ids(9), {"train": 1.0})
    assert everything == ["train"] * 9


@pytest.mark.parametrize(
    "ratios",
    [
        {},
        {"": 1.0},
        {"train": 0.7, "test": 0.2},
        {"train": 1.1, "test": -0.1},
        {"train": 1.0, "test": 0.0},
        {"train": float("nan"), "test": 0.5},
        (("train", 0.5), ("train", 0.5)),
    ],
)
def test_unusable_ratios_are_refused(ratios: object) -> None:
    with pytest.raises(splits.SplitError, match="Received: ratios="):
        splits.assign_splits([0], [0], ["a"], ratios)  # type: ignore[arg-type]


def test_lengths_and_repeated_ids_are_refused() -> None:
    with pytest.raises(KfoodError, match="2 labels, 1 blocks, 1 ids"):
        splits.assign_splits([0, 0], [0], ["a"])
    with pytest.raises(KfoodError, match="Received twice: 'a'"):
        splits.assign_splits([0, 0], [0, 1], ["a", "a"])


@settings(max_examples=20)
@given(st.integers(1, 150))
def test_seeds_give_equal_sizes(number: int) -> None:
    sizes = {
        _sizes(splits.assign_splits([0] * number, range(number), _ids(number), seed=seed))
        for seed in range(4)
    }
    assert len(sizes) == 1


def test_a_block_of_two_classes_goes_where_the_hash_of_its_smallest_id_says() -> None:
    for n in range(60):
        ids = [f"z{n}", f"a{n}", f"m{n}"]
        tenth = splits.keyed_hash(f"a{n}", 0) * 10 // 2**64
        expected = "train" if tenth < 7 else "validation" if tenth < 8 else "test"
        assert splits.assign_splits([0, 1, 0], [5, 5, 5], ids) == [expected] * 3


def test_seed_zero_is_the_default() -> None:
    assert splits.keyed_hash("a") == splits.keyed_hash("a", 0) != splits.keyed_hash("a", 1)


def test_what_a_shared_block_gave_a_split_counts_in_each_class() -> None:
    # One of class 0's four images lies in a block with class 1: the other three make it even.
    found = splits.assign_splits(
        [0, 1, 0, 0, 0], [9, 9, 1, 2, 3], list("abcde"), [("left", 0.5), ("right", 0.5)]
    )
    assert Counter([found[0], *found[2:]]) == {"left": 2, "right": 2}


def test_of_several_repeated_ids_the_smallest_is_named() -> None:
    with pytest.raises(KfoodError, match="Received twice: 'b'"):
        splits.assign_splits([0] * 5, range(5), ["a", "y", "b", "b", "y"])


def test_the_largest_blocks_are_placed_first() -> None:
    # The other way round the block of four would come when both sides have three already.
    blocks = [splits.SplitBlock.of(range(4), [0] * 4, 1, "four")]
    blocks += [splits.SplitBlock.of([10 + n], [0], n, f"one {n}") for n in range(6)]
    placed = Counter[str]()
    for block, split in splits.fill_class(blocks, {"train": 1, "test": 1}, {}):
        placed[split] += block.size
    assert placed == {"train": 5, "test": 5}


@pytest.mark.parametrize("share", [1.5, 0.0, -0.5])
def test_a_share_outside_its_range_is_named_as_such(share: float) -> None:
    with pytest.raises(KfoodError, match="over 0 and at most 1"):
        splits.whole_shares({"train": share, "test": 1 - share})


@pytest.mark.parametrize("share", [1e-7, 4e-7, 5e-324])
def test_a_share_that_would_count_as_none_is_refused(share: float) -> None:
    with pytest.raises(splits.SplitError, match=r"at least 0\.000001; leave") as caught:
        splits.whole_shares({"train": 1 - share, "test": share})
    assert str(caught.value).endswith(f"Received: ratios={ {'train': 1 - share, 'test': share}!r}")
    assert splits.whole_shares({"train": 1 - 1e-6, "test": 1e-6}) == {"train": 999_999, "test": 1}

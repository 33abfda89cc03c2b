"""What is found key by key is what the local build finds at once, bit for bit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kfood_tfds.beam import by_key
from kfood_tfds.raw import duplicates
from kfood_tfds.raw.splits import assign_splits, keyed_hash
from kfood_tfds.raw.thumbnails import thumbnail

RATIOS = (("train", 0.7), ("validation", 0.1), ("test", 0.2))


def _by_key(rows: Iterable[tuple[Any, Any]]) -> dict[Any, list[Any]]:
    """What Beam's GroupByKey does; in reverse, since it promises no order."""
    found: dict[Any, list[Any]] = defaultdict(list)
    for key, value in reversed(list(rows)):
        found[key].append(value)
    return found


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(
        st.tuples(st.integers(0, 14), st.integers(0, 14)).filter(lambda pair: pair[0] < pair[1]),
        st.sampled_from([0.9, 0.93, 0.97, 1.0]),
        max_size=30,
    ),
    st.lists(st.integers(0, 14), min_size=15, max_size=15),
    st.integers(1, 15),
)
def test_components_give_the_groups_of_the_whole(
    links: dict[tuple[int, int], float], exact: list[int], max_block: int
) -> None:
    ids = [f"{place:03d}" for place in range(15)]
    firsts = sorted({exact.index(key) for key in exact})
    links = {pair: score for pair, score in links.items() if pair[1] < len(firsts)}
    pairs = np.array(sorted(links), np.intp).reshape(-1, 2)
    with pytest.MonkeyPatch.context() as patch:
        score = np.array([links[a, b] for a, b in pairs.tolist()])
        patch.setattr(duplicates, "similar_pairs", lambda *_: (pairs, score))
        blank = np.zeros((15, 32, 32), np.uint8)
        wanted = duplicates.find_groups(blank, exact, ids, max_block=max_block)

    nodes = {f: by_key.Node(f, keyed_hash(ids[f]), exact.count(exact[f])) for f in firsts}
    edges = [(firsts[a], firsts[b], score) for (a, b), score in links.items()]
    forest: dict[int, int] = {}
    for one, other, _ in edges:
        forest = by_key.joined(forest, one, other)
    root_of = by_key.roots(forest)
    of_root = _by_key((root_of.get(first, first), node) for first, node in nodes.items())
    linked = _by_key((root_of[edge[0]], edge) for edge in edges)
    placed = {
        found.rank: found
        for root, members in of_root.items()
        for found in by_key.place_component(members, linked[root], max_block)
    }
    own = [placed[exact.index(key)] for key in exact]
    assert [found.centre for found in own] == wanted.group_of.tolist()
    assert [found.block for found in own] == wanted.block_of.tolist()
    assert [found.block_hash for found in own] == [keyed_hash(ids[f.block]) for f in own]


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=40))
def test_forest_joins_what_is_linked(links: list[tuple[int, int]]) -> None:
    forest: dict[int, int] = {}
    for one, other in links:
        forest = by_key.joined(forest, one, other)
    label = {node: node for link in links for node in link}
    for _ in label:  # The slow way: pass the smallest number on until nothing changes.
        for one, other in links:
            label[one] = label[other] = min(label[one], label[other])
    assert by_key.roots(forest) == label


def _thumbnails() -> np.ndarray:
    """Thumbnails of 24 pictures, eight of them with a mirrored and a cropped copy; two blank."""
    found = []
    for seed in range(24):
        coarse = np.random.default_rng(seed).standard_normal((16, 20)).cumsum(0).cumsum(1)
        grey = np.clip(128 + 45 * coarse / coarse.std(), 0, 255).astype(np.uint8)
        picture = np.repeat(grey.repeat(8, 0).repeat(8, 1)[..., None], 3, axis=2)
        found.append(thumbnail(picture))
        if seed % 3 == 0:
            found += [thumbnail(picture[:, ::-1]), thumbnail(picture[6:, 8:])]
    return np.stack([*found, np.full((32, 32), 9, np.uint8), np.full((32, 32), 9, np.uint8)])


@pytest.mark.parametrize(("parts", "batch"), [(1, 50), (7, 11)])
def test_bands_and_ranks_give_the_pairs_of_the_whole(parts: int, batch: int) -> None:
    thumbnails = _thumbnails()
    pairs, similarity = duplicates.similar_pairs(thumbnails)
    assert len(pairs) >= 16
    looks = [(rank, image.tobytes()) for rank, image in enumerate(thumbnails)]
    entries = [
        entry
        for start in range(0, len(looks), batch)
        for entry in by_key.band_entries(looks[start : start + batch], parts)
    ]
    candidates = {
        pair
        for (band, _), blobs in _by_key(entries).items()
        for pair in by_key.candidate_pairs(band, blobs)
    }
    others = _by_key((other, looks[one]) for one, other in candidates)
    edges = sorted(
        edge
        for rank, known in others.items()
        for edge in by_key.similar_edges(rank, looks[rank][1], known)
    )
    assert [[one, other] for one, other, _ in edges] == pairs.tolist()
    assert [score for _, _, score in edges] == similarity.tolist()


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from([None, 0, 1, 2]), st.integers(0, 25)), min_size=1, max_size=60
    )
)
def test_classes_give_the_splits_of_the_whole(images: list[tuple[int | None, int]]) -> None:
    ids = [f"{rank:03d}" for rank in range(len(images))]
    labels, blocks = [label for label, _ in images], [block for _, block in images]
    wanted = assign_splits(labels, blocks, ids, RATIOS)
    rows = []
    for rank, (label, block) in enumerate(images):
        first = blocks.index(block)
        known = by_key.NO_LABEL if label is None else label
        rows.append((first, (keyed_hash(ids[first]), rank, known)))
    found = [by_key.split_block(element) for element in _by_key(rows).items()]
    of_class = _by_key(row for block in found for row in by_key.for_classes(block, RATIOS))
    splits = [row for element in of_class.items() for row in by_key.fill(element, RATIOS)]
    splits += [row for block in found for row in by_key.split_mixed(block, RATIOS)]
    assert [RATIOS[number][0] for _, number in sorted(splits)] == wanted

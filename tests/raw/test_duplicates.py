"""Tests of kfood_tfds.raw.duplicates."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kfood_tfds.raw import duplicates
from kfood_tfds.raw.duplicates import Grouping, find_groups, similar_pairs
from kfood_tfds.raw.errors import KfoodError
from kfood_tfds.raw.likeness import likeness
from kfood_tfds.raw.splits import assign_splits, keyed_hash
from kfood_tfds.raw.thumbnails import thumbnail


def _picture(seed: int, height: int = 120, width: int = 160) -> np.ndarray:
    """A picture with the spectrum of photos, uint8[height, width, 3]."""
    rng = np.random.default_rng(seed)
    radius = np.hypot(np.fft.fftfreq(height)[:, None], np.fft.rfftfreq(width)[None])
    radius[0, 0] = np.inf
    field = np.fft.irfft2(np.fft.rfft2(rng.standard_normal((height, width))) / radius)
    grey = np.clip(128 + 45 * field / field.std(), 0, 255).astype(np.uint8)
    return np.repeat(grey[..., None], 3, axis=2)


def _copies(picture: np.ndarray) -> list[np.ndarray]:
    height, width = picture.shape[:2]
    return [
        picture,
        picture[:, ::-1],
        picture[::2, ::2],
        picture[height // 20 :, width // 20 :],
        np.clip(picture * 1.15, 0, 255).astype(np.uint8),
        (picture * 0.8 + 25).astype(np.uint8)[: height * 19 // 20],
    ]


@pytest.fixture(scope="module")
def thumbnails() -> np.ndarray:
    """Thumbnails of 30 pictures; the first five come with five copies each."""
    found = [thumbnail(copy) for seed in range(5) for copy in _copies(_picture(seed))]
    found += [thumbnail(_picture(seed)) for seed in range(5, 30)]
    return np.stack(found)


@pytest.fixture(scope="module")
def ids() -> list[str]:
    return [f"구이/갈비/Img_{number:03d}.jpg" for number in range(55)]


def _whole_correlation(images: np.ndarray) -> np.ndarray:
    """Correlation of all pairs of flattened thumbnails, as they are or mirrored, float[n, n]."""
    order = np.arange(32)
    waves = np.cos(np.pi * order[:, None] * (order + 0.5) / 32)
    waves *= np.sinc(order / 64)[:, None]
    waves[0] *= np.sqrt(0.5)
    lowest = sorted(
        ((u, v) for u in range(32) for v in range(32)),
        key=lambda at: (at[0] ** 2 + at[1] ** 2, max(at), at[0]),
    )[1:191]
    rows, columns = np.array(lowest).T

    def flat(part: np.ndarray) -> np.ndarray:
        values = (waves @ part.astype(float) @ waves.T)[:, rows, columns] * np.hypot(rows, columns)
        values = np.sign(values) * np.sqrt(np.abs(values))
        unit: np.ndarray = values / np.linalg.norm(values, axis=1, keepdims=True)
        return unit

    one, turned = flat(images), flat(images[:, :, ::-1])
    best: np.ndarray = np.maximum(one @ one.T, one @ turned.T)
    return best


def test_copies_are_grouped_and_others_are_not(thumbnails: np.ndarray, ids: list[str]) -> None:
    found = find_groups(thumbnails, range(55), ids)
    shows = np.concatenate([np.repeat(np.arange(5), 6), np.arange(5, 30)])
    for a, b in itertools.combinations(range(55), 2):
        assert (found.block_of[a] == found.block_of[b]) == (shows[a] == shows[b])
    assert (shows[found.pairs[:, 0]] == shows[found.pairs[:, 1]]).all()


def test_index_misses_no_pair_that_comparing_all_finds(thumbnails: np.ndarray) -> None:
    first, second = np.triu_indices(len(thumbnails), 1)
    score = likeness(thumbnails, first, second, duplicates.COARSE_ENOUGH)
    same = score >= duplicates.SIMILARITY_THRESHOLD
    pairs, similarity = similar_pairs(thumbnails)
    np.testing.assert_array_equal(pairs, np.stack([first[same], second[same]], axis=1))
    np.testing.assert_allclose(similarity, score[same], atol=1e-9)


def test_no_pair_over_the_threshold_straddles_two_splits(
    thumbnails: np.ndarray, ids: list[str]
) -> None:
    found = find_groups(thumbnails, range(55), ids)
    labels = [number % 4 for number in range(55)]
    splits = assign_splits(labels, found.block_of.tolist(), ids)
    assert set(splits) == {"train", "validation", "test"}
    correlation = _whole_correlation(thumbnails)
    close = [
        (a, b)
        for a, b in itertools.combinations(range(55), 2)
        if correlation[a, b] >= duplicates.SIMILARITY_THRESHOLD
    ]
    assert len(close) >= 15
    assert [(a, b) for a, b in close if splits[a] != splits[b]] == []
    assert [(a, b) for a, b in found.pairs.tolist() if splits[a] != splits[b]] == []


def test_group_members_are_like_their_centre(thumbnails: np.ndarray, ids: list[str]) -> None:
    found = find_groups(thumbnails, range(55), ids)
    pairs = {frozenset(pair) for pair in found.pairs.tolist()}
    for image, centre in enumerate(found.group_of.tolist()):
        assert image == centre or frozenset((image, centre)) in pairs
        assert found.group_of[centre] == centre


@pytest.mark.slow
@settings(max_examples=8)
@given(st.integers(0, 10**6))
def test_order_of_the_input_does_not_matter(
    thumbnails: np.ndarray, ids: list[str], seed: int
) -> None:
    exact = [number // 2 if number < 10 else number for number in range(55)]
    before = find_groups(thumbnails, exact, ids)
    order = list(range(55))
    random.Random(seed).shuffle(order)
    after = find_groups(thumbnails[order], [exact[i] for i in order], [ids[i] for i in order])
    place = np.argsort(order)
    for name in ("group_of", "block_of"):
        expected = getattr(before, name)
        assert (np.array(order)[getattr(after, name)[place]] == expected).all()
    np.testing.assert_array_equal(np.array(order)[after.pairs], before.pairs)
    np.testing.assert_array_equal(after.similarity, before.similarity)


def test_unrelated_images_change_nothing(thumbnails: np.ndarray, ids: list[str]) -> None:
    before = find_groups(thumbnails, range(55), ids)
    more = np.stack([thumbnail(_picture(seed)) for seed in range(100, 140)])
    extra = [f"{'가' if number % 2 else '힣'}/{number}.jpg" for number in range(40)]
    after = find_groups(np.concatenate([thumbnails, more]), range(95), ids + extra)
    np.testing.assert_array_equal(after.group_of[:55], before.group_of)
    np.testing.assert_array_equal(after.block_of[:55], before.block_of)
    np.testing.assert_array_equal(after.similarity, before.similarity)


def test_identical_images_share_a_group_whatever_they_look_like() -> None:
    flat = np.full((6, 32, 32), 200, np.uint8)
    found = find_groups(flat, ["a", "b", "a", "c", "b", "a"], list("zyxwvu"))
    assert found.group_of.tolist() == [5, 4, 5, 3, 4, 5]
    assert found.block_of.tolist() == [5, 4, 5, 3, 4, 5]
    assert len(found.pairs) == 0


def test_nearly_uniform_images_do_not_clump() -> None:
    rng = np.random.default_rng(0)
    blank = np.clip(rng.integers(0, 250, (40, 1, 1)) + rng.integers(0, 4, (40, 32, 32)), 0, 255)
    steps = np.broadcast_to(np.arange(32) // 8, (40, 32, 32))  # a faint slope, the same in all
    images = (blank // 2 + steps).astype(np.uint8)
    found = find_groups(images, range(40), [f"{n:02d}" for n in range(40)])
    assert found.group_of.tolist() == list(range(40))
    assert found.block_of.tolist() == list(range(40))


def _linked(monkeypatch: pytest.MonkeyPatch, links: dict[tuple[int, int], float]) -> None:
    """Lets find_groups see these pairs, by position in the order of ids."""
    pairs = np.array(sorted(links), np.intp).reshape(-1, 2)
    score = np.array([links[a, b] for a, b in pairs.tolist()])
    monkeypatch.setattr(duplicates, "similar_pairs", lambda *_: (pairs, score))


def _groups(number: int, **options: int) -> Grouping:
    ids = [f"{place:03d}" for place in range(number)]
    return find_groups(np.zeros((number, 32, 32), np.uint8), range(number), ids, **options)


def test_chain_of_three_is_a_star_around_its_middle(monkeypatch: pytest.MonkeyPatch) -> None:
    _linked(monkeypatch, {(0, 1): 0.95, (1, 2): 0.92})
    found = _groups(3)
    assert found.group_of.tolist() == [1, 1, 1]
    assert found.block_of.tolist() == [0, 0, 0]
    assert len(found.cut_pairs) == 0


def test_long_chain_is_cut_and_kept_in_one_block(monkeypatch: pytest.MonkeyPatch) -> None:
    _linked(monkeypatch, {(n, n + 1): 0.95 for n in range(9)})
    found = _groups(10)
    for image, centre in enumerate(found.group_of.tolist()):
        assert abs(image - centre) <= 1
    assert max(Counter(found.group_of.tolist()).values()) <= 3
    assert set(found.block_of.tolist()) == {0}
    expected = [[n, n + 1] for n in range(9) if found.group_of[n] != found.group_of[n + 1]]
    assert found.cut_pairs.tolist() == expected
    assert len(expected) >= 3
    assert len(found.parted_pairs) == 0


def test_weakest_link_is_parted_where_a_block_grows_too_large(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Three stars of four in a row: the links between them are 0.93 and 0.91.
    links = {(4 * s, 4 * s + k): 0.99 for s in range(3) for k in (1, 2, 3)}
    _linked(monkeypatch, links | {(3, 5): 0.93, (7, 9): 0.91})
    found = _groups(12, max_block=8)
    assert found.group_of.tolist() == [0] * 4 + [4] * 4 + [8] * 4
    assert found.block_of.tolist() == [0] * 8 + [8] * 4
    assert found.cut_pairs.tolist() == [[3, 5], [7, 9]]
    assert found.parted_pairs.tolist() == [[7, 9]]


def test_a_group_is_never_parted_however_large(monkeypatch: pytest.MonkeyPatch) -> None:
    _linked(monkeypatch, {(0, n): 0.95 for n in range(1, 30)})
    found = _groups(30, max_block=5)
    assert set(found.block_of.tolist()) == {0}
    assert set(found.group_of.tolist()) == {0}


def test_image_joins_the_centre_it_resembles_most(monkeypatch: pytest.MonkeyPatch) -> None:
    # 0 and 4 are centres (three others each); 8 is linked to both.
    links = {(0, n): 0.95 for n in (1, 2, 3)} | {(4, n): 0.95 for n in (5, 6, 7)}
    for nearer, further in ((0, 4), (4, 0)):
        _linked(monkeypatch, links | {(nearer, 8): 0.99, (further, 8): 0.91})
        found = _groups(9)
        assert found.group_of[8] == nearer
        assert found.cut_pairs.tolist() == [[further, 8]]


def test_equally_linked_images_are_ranked_by_the_hash_of_their_id(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _linked(monkeypatch, {(0, 1): 0.95})
    centre = min((0, 1), key=lambda n: keyed_hash(f"{n:03d}"))
    assert _groups(2).group_of.tolist() == [centre, centre]


def test_identical_images_count_as_links(monkeypatch: pytest.MonkeyPatch) -> None:
    # A chain a-b-c-d: b and c have two links each, but d stands for three identical images.
    _linked(monkeypatch, {(0, 1): 0.95, (1, 2): 0.95, (2, 3): 0.95})
    ids = ["a", "b", "c", "d", "e", "f"]
    found = find_groups(np.zeros((6, 32, 32), np.uint8), list("abcddd"), ids)
    assert found.group_of.tolist() == [0, 2, 2, 2, 2, 2]
    assert found.block_of.tolist() == [0] * 6
    assert found.cut_pairs.tolist() == [[0, 1]]


@settings(max_examples=60)
@given(
    st.dictionaries(
        st.tuples(st.integers(0, 14), st.integers(0, 14)).filter(lambda pair: pair[0] < pair[1]),
        st.floats(0.9, 1.0),
        max_size=40,
    ),
    st.lists(st.integers(0, 14), min_size=15, max_size=15),
    st.integers(1, 15),
)
def test_groups_blocks_and_reports_fit_together(
    links: dict[tuple[int, int], float], exact: list[int], max_block: int
) -> None:
    nodes = len(set(exact))
    links = {(a, b): score for (a, b), score in links.items() if b < nodes}
    with pytest.MonkeyPatch.context() as patch:
        _linked(patch, links)
        ids = [f"{place:03d}" for place in range(15)]
        found = find_groups(np.zeros((15, 32, 32), np.uint8), exact, ids, max_block=max_block)
    pairs = {frozenset(pair) for pair in found.pairs.tolist()}
    first = {key: exact.index(key) for key in exact}
    for image, centre in enumerate(found.group_of.tolist()):
        own = first[exact[image]]
        assert own == centre or frozenset((own, centre)) in pairs
        assert found.block_of[image] == found.block_of[centre]
    same = [(a, b) for a, b in itertools.combinations(range(15), 2) if exact[a] == exact[b]]
    assert all(found.group_of[a] == found.group_of[b] for a, b in same)
    straddling = [p for p in found.pairs.tolist() if found.block_of[p[0]] != found.block_of[p[1]]]
    assert found.parted_pairs.tolist() == straddling
    assert all(pair in found.cut_pairs.tolist() for pair in straddling)
    groups = Counter(found.group_of.tolist())
    for block, size in Counter(found.block_of.tolist()).items():
        assert found.block_of[block] == block
        members = {found.group_of[i] for i in range(15) if found.block_of[i] == block}
        assert size <= max_block or members == {found.group_of[block]}
        assert size == sum(groups[centre] for centre in members)


def test_nothing_to_group() -> None:
    found = find_groups(np.empty((0, 32, 32), np.uint8), [], [])
    assert (len(found.group_of), len(found.block_of), len(found.pairs)) == (0, 0, 0)


def test_bad_input_is_refused(thumbnails: np.ndarray, ids: list[str]) -> None:
    with pytest.raises(KfoodError, match="54 ids, 55 keys"):
        find_groups(thumbnails, range(55), ids[1:])
    with pytest.raises(KfoodError, match=r"thumbnails float64\[55, 32, 32\]"):
        find_groups(thumbnails.astype(float), range(55), ids)
    with pytest.raises(KfoodError, match="2 ids, 1 of them different"):
        find_groups(thumbnails[:2], range(2), ["a", "a"])
    with pytest.raises(KfoodError, match=r"threshold=0\.5"):
        find_groups(thumbnails, range(55), ids, threshold=0.5)
    with pytest.raises(KfoodError, match="max_block=0"):
        find_groups(thumbnails, range(55), ids, max_block=0)


@pytest.mark.parametrize("threshold", [0.8, 1.0])
def test_thresholds_reach_from_what_is_measured_finely_to_one(
    thumbnails: np.ndarray, ids: list[str], threshold: float
) -> None:
    found = find_groups(thumbnails[:3], range(3), ids[:3], threshold=threshold)
    assert len(found.group_of) == 3
    for outside in (0.799, 1.001):
        with pytest.raises(KfoodError, match=f"threshold={outside}"):
            find_groups(thumbnails[:3], range(3), ids[:3], threshold=outside)


@pytest.mark.parametrize(("spread", "alike"), [(3.5, True), (2.5, False)])
def test_pictures_are_compared_from_a_little_detail_on(spread: float, alike: bool) -> None:
    pattern = np.random.default_rng(3).permutation(np.repeat([-spread, spread], 512))
    # Broad patches, so that the lowest frequencies hold them; levels 128 ± spread, rounded.
    patches = pattern.reshape(32, 32)[::4, ::4].repeat(4, axis=0).repeat(4, axis=1)
    patches = patches / patches.std() * spread
    one = np.rint(128 + patches).astype(np.uint8)
    assert abs(float(one.std()) - spread) < 0.5
    found = find_groups(np.stack([one, one]), [0, 1], ["a", "b"])
    assert (found.group_of[0] == found.group_of[1]) == alike

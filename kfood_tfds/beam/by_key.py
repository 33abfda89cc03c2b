"""The steps of grouping and splitting, each for the images of one key alone.

They call the very functions that the local build calls on everything at once; what they give for
all keys together is the same, bit for bit. No Beam here: `arranging` strings them together.

Images go by their rank in the order of ids, so that ties break as they do locally.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kfood_tfds.raw.duplicates import (
    COARSE_ENOUGH,
    FIRST_LOOK,
    MAX_BLOCK,
    MIN_DETAIL,
    SIMILARITY_THRESHOLD,
    detail,
    join_groups,
    star_centres,
)
from kfood_tfds.raw.likeness import COARSE_NUMBER, coarse_likeness, likeness, window_spectra
from kfood_tfds.raw.manifest_maker import Ratios
from kfood_tfds.raw.perceptual_hash import (
    BANDS,
    HASH_WINDOWS,
    BandIndex,
    band_keys,
    hash_thumbnails,
)
from kfood_tfds.raw.splits import SplitBlock, fill_class, split_at, whole_shares
from kfood_tfds.raw.thumbnails import THUMBNAIL_SIDE

# What is looked up of one image through one window, and what the first look compares.
ENTRY = np.dtype(
    [
        ("image", "<u4"),
        ("window", "u1"),
        ("mirrored", "u1"),
        ("hash", "<u8"),
        ("spectrum", "<i2", (COARSE_NUMBER,)),
    ]
)

Edge = tuple[int, int, float]
NO_LABEL = -1


@dataclass(frozen=True, slots=True)
class Node:
    """Images of identical pixels.

    Attributes:
        rank: Of the image with the smallest id; the node goes by it.
        hash: The keyed hash of that id.
        size: How many images there are.
    """

    rank: int
    hash: int
    size: int


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a node belongs.

    Attributes:
        rank: The node.
        centre: The node in the middle of its group.
        block: The first node of its block.
        block_hash: The keyed hash of that node's id.
    """

    rank: int
    centre: int
    block: int
    block_hash: int


def thumbnail_of(data: bytes) -> npt.NDArray[np.uint8]:
    """Reads the bytes of a thumbnail."""
    return np.frombuffer(data, np.uint8).reshape(THUMBNAIL_SIDE, THUMBNAIL_SIDE)


def band_entries(
    batch: Sequence[tuple[int, bytes]], parts: int
) -> Iterator[tuple[tuple[int, int], bytes]]:
    """Hashes nodes and sorts the hashes by the keys of every band.

    Args:
        batch: Ranks and thumbnails.
        parts: Into how many parts each band is divided.

    Yields:
        (band, part), and records of `ENTRY` as bytes. Hashes that agree in a band meet there.
    """
    thumbnails = np.stack([thumbnail_of(data) for _, data in batch])
    kept = np.flatnonzero(detail(thumbnails) >= MIN_DETAIL)
    hashes = hash_thumbnails(thumbnails[kept])
    found = np.zeros(hashes.shape, ENTRY)
    found["image"] = np.array([rank for rank, _ in batch], np.uint32)[kept]
    found["window"] = np.arange(len(hashes))[:, None, None]
    found["mirrored"] = np.arange(2)[:, None]
    found["hash"] = hashes
    found["spectrum"] = window_spectra(thumbnails[kept])[:, None]
    entries = found.ravel()
    for band in range(BANDS):
        part_of = band_keys(entries["hash"], band) % parts
        for part in np.unique(part_of).tolist():
            yield (band, part), entries[part_of == part].tobytes()


def candidate_pairs(band: int, blobs: Iterable[bytes]) -> Iterator[tuple[int, int]]:
    """Finds the pairs in one part of a band that pass the first look.

    Args:
        band: The band.
        blobs: Records of `ENTRY`, all that there are of one part.

    Yields:
        Each pair once, the smaller rank first.
    """
    entries = np.frombuffer(b"".join(blobs), ENTRY)
    whole = entries[(entries["window"] == 0) & (entries["mirrored"] == 0)]
    index = BandIndex.of(band, whole["hash"], whole["image"])
    codes = [np.empty(0, np.uint64)]
    for number, mirrored in np.ndindex(len(HASH_WINDOWS), 2):
        seen = entries[(entries["window"] == number) & (entries["mirrored"] == mirrored)]
        for places in index.matches(seen["hash"], seen["image"], number):
            one, other = seen[places[:, 0]], whole[places[:, 1]]
            score = coarse_likeness(one["spectrum"], mirrored, other["spectrum"])
            good = score >= FIRST_LOOK
            a = one["image"][good].astype(np.uint64)
            b = other["image"][good].astype(np.uint64)
            codes.append(np.minimum(a, b) << np.uint64(32) | np.maximum(a, b))
    for code in np.unique(np.concatenate(codes)).tolist():
        yield code >> 32, code & 0xFFFFFFFF


def similar_edges(
    rank: int, thumbnail: bytes, others: Iterable[tuple[int, bytes]]
) -> Iterator[Edge]:
    """Looks closely at the candidates of one node.

    Args:
        rank: The node.
        thumbnail: Its thumbnail.
        others: Ranks below it, each once, with thumbnails.

    Yields:
        The pairs over the threshold, the smaller rank first, with their likeness.
    """
    known = sorted(others)
    images = np.stack([thumbnail_of(data) for data in (thumbnail, *(data for _, data in known))])
    first = np.arange(1, len(images))
    score = likeness(images, first, np.zeros_like(first), COARSE_ENOUGH)
    for (other, _), value in zip(known, score.tolist(), strict=True):
        if value >= SIMILARITY_THRESHOLD:
            yield other, rank, value


def joined(forest: dict[int, int], one: int, other: int) -> dict[int, int]:
    """Joins two nodes in a forest of node to parent; the smallest node of a tree is its root."""
    low, high = sorted((_root(forest, one), _root(forest, other)))
    forest[high] = low
    return forest


def _root(forest: dict[int, int], node: int) -> int:
    forest.setdefault(node, node)
    while forest[node] != node:
        forest[node] = forest[forest[node]]
        node = forest[node]
    return node


def roots(forest: dict[int, int]) -> dict[int, int]:
    """Returns the root of every node."""
    return {node: _root(forest, node) for node in list(forest)}


def place_component(
    nodes: Iterable[Node], edges: Iterable[Edge], max_block: int = MAX_BLOCK
) -> Iterator[Placed]:
    """Groups the nodes of one connected component.

    Args:
        nodes: All of them, in any order.
        edges: All pairs between them, in any order.
        max_block: Images up to which groups are joined into a block.
    """
    members = sorted(nodes, key=lambda node: node.rank)
    ranks = np.array([node.rank for node in members])
    sizes = np.array([node.size for node in members], np.intp)
    linked = sorted(edges)
    ends = np.array([edge[:2] for edge in linked], np.intp).reshape(-1, 2)
    pairs = np.searchsorted(ranks, ends)
    score = np.array([edge[2] for edge in linked])
    centres = star_centres(pairs, score, sizes, [node.hash for node in members])
    blocks = join_groups(pairs, score, centres, sizes, max_block)
    for node, centre, block in zip(members, centres.tolist(), blocks.tolist(), strict=True):
        first = members[block]
        yield Placed(node.rank, members[centre].rank, first.rank, first.hash)


def split_block(element: tuple[int, Iterable[tuple[int, int, int]]]) -> SplitBlock:
    """Makes a block of what came together under its name.

    Args:
        element: The block's first image; and of each image the keyed hash of that one's id, its
            own rank, and its label or `NO_LABEL`.
    """
    name, images = element[0], sorted(element[1])
    labels = (None if label == NO_LABEL else label for _, _, label in images)
    return SplitBlock.of((rank for _, rank, _ in images), labels, images[0][0], name)


def for_classes(block: SplitBlock, ratios: Ratios) -> Iterator[tuple[int, Any]]:
    """Gives each class its own blocks, and what blocks of several classes take of it."""
    split = split_at(whole_shares(ratios), block.hash)
    for label, size in block.counts.items():
        own = len(block.counts) == 1
        yield NO_LABEL if label is None else label, block if own else (split, size)


def fill(element: tuple[int, Iterable[Any]], ratios: Ratios) -> Iterator[tuple[int, int]]:
    """Splits the blocks of one class.

    Args:
        element: The class; and all that `for_classes` gave it.
        ratios: Names and shares of the splits.

    Yields:
        The rank of each image in the class's own blocks, and the number of its split.
    """
    queue, taken = [], Counter[str]()
    for item in element[1]:
        if isinstance(item, SplitBlock):
            queue.append(item)
        else:
            taken[item[0]] += item[1]
    shares = whole_shares(ratios)
    numbers = {name: number for number, name in enumerate(shares)}
    for block, split in fill_class(queue, shares, taken):
        yield from ((rank, numbers[split]) for rank in block.members)


def split_mixed(block: SplitBlock, ratios: Ratios) -> Iterator[tuple[int, int]]:
    """Splits a block of several classes; yields nothing for any other block."""
    shares = whole_shares(ratios)
    if len(block.counts) > 1:
        number = list(shares).index(split_at(shares, block.hash))
        yield from ((rank, number) for rank in block.members)

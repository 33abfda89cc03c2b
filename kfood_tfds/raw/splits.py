"""Splits by class and block: whole blocks of look-alikes on one side, ratios kept in every class.

The rule, class by class and without any random state:

1. A block that holds images of several classes (one picture under two labels) is placed by the
   keyed hash of its name alone, so that no class depends on the contents of another one.
2. The other blocks of the class are placed largest first, each into the split that still lacks
   most images. Blocks of equal size are interchangeable for the sizes, so they are handed out in
   the order of their keyed hash, the first ones to the first split: a file more or less in a class
   then moves a handful of its images at most, rather than every image behind it.

A block is named after the smallest id in it, so neither the order of the input nor the numbering
of the blocks matters.

How close the ratios come: let ``s`` be the largest block of a class. While images are left, the
split that lacks most lacks more than none, so step 2 overfills no split by ``s`` or more. A split
that ends ``d`` short lacked at least ``d`` all along, hence the split that was overfilled last
lacked at least ``d`` before it took its block, and ``d < s``. So every split of the class is
within ``s`` images of its share, unless the blocks of step 1 alone exceed that share.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from kfood_tfds.raw.errors import KfoodError

DEFAULT_RATIOS: tuple[tuple[str, float], ...] = (
    ("train", 0.7),
    ("validation", 0.1),
    ("test", 0.2),
)

# Shares are read as fractions with a denominator up to this one: 0.7 is 7/10 exactly, and ties
# between splits don't hang on the rounding of floats.
_MAX_DENOMINATOR = 1_000_000
_HASH_BYTES = 8


class SplitError(KfoodError):
    """The splits asked for make no sense, or labels, blocks and ids don't fit together."""


@dataclass(frozen=True, slots=True)
class SplitBlock:
    """One block.

    Attributes:
      members: What stands for its images.
      counts: Its images of each class; by None alone where it has no labelled image.
      hash: Keyed hash of its name, the smallest id in it.
      name: What breaks ties between equal hashes: its name, or a rank in the order of names.
    """

    members: tuple[int, ...]
    counts: Mapping[int | None, int]
    hash: int
    name: str | int

    @classmethod
    def of(
        cls, members: Iterable[int], labels: Iterable[int | None], hash_: int, name: str | int
    ) -> SplitBlock:
        """Counts the labels of a block's members; an image without label counts in no class."""
        counts = Counter(labels)
        unlabelled = counts.pop(None, 0)
        return cls(tuple(members), dict(counts) or {None: unlabelled}, hash_, name)

    @property
    def size(self) -> int:
        """Images that count in its class."""
        return sum(self.counts.values())


def keyed_hash(name: str, seed: int = 0) -> int:
    """Gives the 64-bit number that orders and places `name`, the same on every machine.

    Args:
      name: Any string, an image id as a rule.
      seed: Key of the hash; another seed gives another, unrelated order.

    Returns:
      An integer in [0, 2**64): the first eight bytes of SHA-256, big-endian.
    """
    digest = hashlib.sha256(f"kfood split {seed}\0{name}".encode("utf-8", "surrogatepass"))
    return int.from_bytes(digest.digest()[:_HASH_BYTES], "big")


def assign_splits(
    labels: Sequence[int | None],
    blocks: Sequence[Hashable],
    ids: Sequence[str],
    ratios: Mapping[str, float] | Sequence[tuple[str, float]] = DEFAULT_RATIOS,
    *,
    seed: int = 0,
) -> list[str]:
    """Gives every image its split, whole blocks together and the ratios kept in every class.

    Args:
      labels: Class of each image; None where it has none. Such an image follows its block and
        counts in no class; blocks of nothing else are split as one class more.
      blocks: Key of the block of each image; equal keys never part. Only equality matters.
      ids: Id of each image, unique. They alone decide the order inside a class.
      ratios: Share of each split, by name; positive and 1 in sum. Ties go to the split with
        fewer images so far, then to the one named first.
      seed: Key of the hash; another seed gives another, equally good set of splits.

    Returns:
      The name of the split of each image, in the order of `ids`.

    Raises:
      SplitError: Lengths differ, an id comes twice, or the ratios are unusable.
    """
    _check_lengths(labels, blocks, ids)
    shares = whole_shares(ratios)
    result = [""] * len(ids)
    taken: dict[int | None, Counter[str]] = defaultdict(Counter)
    queues: dict[int | None, list[SplitBlock]] = defaultdict(list)
    for members in _by_block(blocks):
        name = min(ids[index] for index in members)
        of_members = (labels[index] for index in members)
        block = SplitBlock.of(members, of_members, keyed_hash(name, seed), name)
        if len(block.counts) == 1:
            queues[next(iter(block.counts))].append(block)
            continue
        split = split_at(shares, block.hash)
        _give(result, members, split)
        for label, size in block.counts.items():
            taken[label][split] += size
    for label, queue in queues.items():
        for block, split in fill_class(queue, shares, taken[label]):
            _give(result, block.members, split)
    return result


def _by_block(blocks: Sequence[Hashable]) -> Iterable[tuple[int, ...]]:
    found: dict[Hashable, list[int]] = defaultdict(list)
    for index, block in enumerate(blocks):
        found[block].append(index)
    return (tuple(members) for members in found.values())


def fill_class(
    queue: Iterable[SplitBlock], shares: Mapping[str, int], taken: Mapping[str, int]
) -> Iterator[tuple[SplitBlock, str]]:
    """Places the blocks that belong to one class alone.

    Args:
      queue: Those blocks, in any order.
      shares: As from `whole_shares`.
      taken: Images of the class that blocks of several classes have brought into each split.

    Yields:
      Each block with its split.
    """
    given = {split: taken.get(split, 0) for split in shares}
    by_size: dict[int, list[SplitBlock]] = defaultdict(list)
    for block in queue:
        by_size[block.size].append(block)
    total = sum(given.values()) + sum(size * len(alike) for size, alike in by_size.items())
    for size in sorted(by_size, reverse=True):
        alike = sorted(by_size[size], key=lambda block: (block.hash, block.name))
        quota = dict.fromkeys(shares, 0)
        for _ in alike:
            split = _neediest(shares, given, total)
            given[split] += size
            quota[split] += 1
        start = 0
        for split, number in quota.items():
            yield from ((block, split) for block in alike[start : start + number])
            start += number


def _neediest(shares: Mapping[str, int], given: Mapping[str, int], total: int) -> str:
    whole = sum(shares.values())

    def need(split: str) -> tuple[int, int]:
        return shares[split] * total - given[split] * whole, -given[split]

    # max keeps the first of equals, so the last tie-break is the order of the names.
    return max(shares, key=need)


def split_at(shares: Mapping[str, int], block_hash: int) -> str:
    """Returns the split of a block of several classes: by its hash alone."""
    position = block_hash * sum(shares.values()) >> (8 * _HASH_BYTES)
    ends = itertools.accumulate(shares.values())
    return next(split for split, end in zip(shares, ends, strict=True) if position < end)


def _give(result: list[str], members: Iterable[int], split: str) -> None:
    for index in members:
        result[index] = split


def whole_shares(ratios: Mapping[str, float] | Sequence[tuple[str, float]]) -> dict[str, int]:
    """Checks the ratios and gives them as whole numbers, so that the rest is exact."""
    pairs = tuple(ratios.items()) if isinstance(ratios, Mapping) else tuple(ratios)
    names = [name for name, _ in pairs]
    rule = "Give each split a name of its own and a positive share; the shares sum up to 1."
    if not pairs or len(set(names)) != len(names) or not all(names):
        raise SplitError(
            f"The names of the splits must be distinct and not empty. {rule} "
            f"Received: ratios={ratios!r}"
        )
    if not all(0 < share <= 1 for _, share in pairs):
        raise SplitError(
            f"A split's share must be over 0 and at most 1. {rule} Received: ratios={ratios!r}"
        )
    if abs(sum(share for _, share in pairs) - 1) > 1e-6:
        raise SplitError(
            f"The shares of the splits sum up to {sum(s for _, s in pairs):g}. {rule} "
            f"Received: ratios={ratios!r}"
        )
    exact = {name: Fraction(share).limit_denominator(_MAX_DENOMINATOR) for name, share in pairs}
    if not all(exact.values()):
        raise SplitError(
            f"A split's share must be at least {1 / _MAX_DENOMINATOR:f}; leave a split of less "
            f"out. {rule} Received: ratios={ratios!r}"
        )
    common = math.lcm(*(share.denominator for share in exact.values()))
    return {name: int(share * common) for name, share in exact.items()}


def _check_lengths(
    labels: Sequence[int | None], blocks: Sequence[Hashable], ids: Sequence[str]
) -> None:
    if not len(labels) == len(blocks) == len(ids):
        raise SplitError(
            "labels, blocks and ids need one entry per image each. Received: "
            f"{len(labels)} labels, {len(blocks)} blocks, {len(ids)} ids"
        )
    if len(set(ids)) != len(ids):
        twice = min(name for name, times in Counter(ids).items() if times > 1)
        raise SplitError(
            f"Ids must be unique: an image that comes twice could land in two splits. "
            f"Received twice: {twice!r}"
        )

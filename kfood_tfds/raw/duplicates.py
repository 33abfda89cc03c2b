"""Groups of images that show the same: identical pixels, and near-identical look.

Two stages, since 150,000 images make 11 billion pairs: an index over perceptual hashes names the
candidates (`perceptual_hash`), and correlation of the thumbnails confirms them (`likeness`). What
is confirmed are *pairs*, and likeness isn't transitive: A may resemble B and B resemble C, though
A and C have nothing in common. Two answers are given for every image:

* its **group**: star-shaped. A group holds its centre and images that are like the centre, never
  what is only like something like it. Chains are cut, and every cut pair is reported.
* its **block**: what must lie on one side of a split. Blocks are groups joined along the cut
  pairs, so that a pair over the threshold stays on one side. Only where a block would exceed
  `max_block` images are groups left apart, the least alike first; such pairs may straddle two
  splits, and are reported as parted. A group or a set of identical images is never parted,
  however large.

Everything depends on the images' ids, never on the order of the input; and each group and block
depends only on the images linked to it, so images added elsewhere change nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kfood_tfds.raw.errors import KfoodError
from kfood_tfds.raw.likeness import first_look, likeness, window_spectra
from kfood_tfds.raw.perceptual_hash import find_candidates, hash_thumbnails
from kfood_tfds.raw.splits import keyed_hash
from kfood_tfds.raw.thumbnails import THUMBNAIL_SIDE

# Pairs that are this much alike show the same. Measured: see duplicates_method.json.
SIMILARITY_THRESHOLD = 0.9
# Candidates whose first, coarse look is worse aren't looked at again. Known copies are over 0.8,
# save for one in a hundred of the random crops.
FIRST_LOOK = 0.75
# Coarse fits below aren't refined: refining was never seen to bring as much as a tenth.
COARSE_ENOUGH = 0.8
# A tenth of a class of the full archive, which is what its validation split holds.
MAX_BLOCK = 100
# Standard deviation, in grey levels of the thumbnail, under which an image shows nothing that
# could be compared: blank pages and plain colours are duplicates only if their pixels are equal.
MIN_DETAIL = 3.0

_CHUNK_IMAGES = 4096

Thumbnails = npt.NDArray[np.uint8]
Indices = npt.NDArray[np.intp]
Numbers = npt.NDArray[np.float64]
Links = Mapping[int, Sequence[tuple[int, float]]]


@dataclass(frozen=True, eq=False, slots=True)
class Grouping:
    """Who shows the same as whom, by position in the input.

    Attributes:
      group_of: intp[n], the centre of each image's group.
      block_of: intp[n], the image of the smallest id in each image's block.
      pairs: intp[m, 2], pairs at or over the threshold, sorted by their ids; of identical images
        only the one of the smallest id appears.
      similarity: float64[m], of each pair, threshold to 1.
      cut: bool[m], the pair links two groups: a chain was cut there.
      parted: bool[m], the pair links two blocks: it may straddle two splits.
    """

    group_of: Indices
    block_of: Indices
    pairs: Indices
    similarity: Numbers
    cut: npt.NDArray[np.bool_]
    parted: npt.NDArray[np.bool_]

    @property
    def cut_pairs(self) -> Indices:
        """The pairs that link two groups, intp[k, 2]."""
        return self.pairs[self.cut]

    @property
    def parted_pairs(self) -> Indices:
        """The pairs that link two blocks, intp[k, 2]."""
        return self.pairs[self.parted]


def find_groups(
    thumbnails: Thumbnails,
    exact: Sequence[Hashable],
    ids: Sequence[str],
    *,
    threshold: float = SIMILARITY_THRESHOLD,
    max_block: int = MAX_BLOCK,
) -> Grouping:
    """Groups images that show the same.

    Args:
      thumbnails: uint8[n, 32, 32], as from `thumbnails.thumbnail`; may be a memory map.
      exact: A key for each image, equal for images of identical pixels or bytes.
      ids: Unique id of each image.
      threshold: Likeness from which on two images show the same; over COARSE_ENOUGH.
      max_block: Images up to which groups are joined into a block.

    Returns:
      Groups, blocks and the pairs they rest on.

    Raises:
      KfoodError: Lengths or shapes don't fit, ids repeat, or a limit is out of range.
    """
    _check(thumbnails, exact, ids, threshold, max_block)
    order = np.array(sorted(range(len(ids)), key=ids.__getitem__), np.intp)
    first: dict[Hashable, int] = {}
    node_of = np.empty(len(ids), np.intp)
    for image in order.tolist():
        node_of[image] = first.setdefault(exact[image], len(first))
    image_of = order[np.unique(node_of[order], return_index=True)[1]]
    sizes = np.bincount(node_of, minlength=len(image_of))
    hashes = [keyed_hash(ids[image]) for image in image_of.tolist()]
    pairs, similarity = similar_pairs(thumbnails[image_of], threshold)
    centres = star_centres(pairs, similarity, sizes, hashes)
    blocks = join_groups(pairs, similarity, centres, sizes, max_block)
    return Grouping(
        group_of=image_of[centres][node_of],
        block_of=image_of[blocks][node_of],
        pairs=image_of[pairs],
        similarity=similarity,
        cut=centres[pairs[:, 0]] != centres[pairs[:, 1]],
        parted=blocks[pairs[:, 0]] != blocks[pairs[:, 1]],
    )


def similar_pairs(
    thumbnails: Thumbnails, threshold: float = SIMILARITY_THRESHOLD
) -> tuple[Indices, Numbers]:
    """Finds the pairs of thumbnails that look the same.

    Args:
      thumbnails: uint8[n, 32, 32].
      threshold: Likeness from which on two images show the same; over COARSE_ENOUGH.

    Returns:
      intp[m, 2], the smaller index first, sorted; and their likeness, float64[m].
    """
    detailed = np.flatnonzero(detail(thumbnails) >= MIN_DETAIL)
    kept = np.ascontiguousarray(thumbnails[detailed])
    spectra = window_spectra(kept)
    codes = [np.empty(0, np.int64)]
    for number, mirrored, pairs in find_candidates(hash_thumbnails(kept)):
        good = pairs[first_look(spectra, number, mirrored, pairs) >= FIRST_LOOK]
        codes.append(good.min(axis=1) * len(kept) + good.max(axis=1))
    del spectra
    code = np.unique(np.concatenate(codes))
    one, other = (side.astype(np.intp) for side in np.divmod(code, max(len(kept), 1)))
    score = likeness(kept, one, other, COARSE_ENOUGH)
    same = score >= threshold
    return detailed[np.stack([one[same], other[same]], axis=1)], score[same]


def detail(thumbnails: Thumbnails) -> Numbers:
    """Standard deviation of each thumbnail, float64[n], in grey levels."""
    found = np.empty(len(thumbnails))
    for start in range(0, len(thumbnails), _CHUNK_IMAGES):
        part = slice(start, start + _CHUNK_IMAGES)
        found[part] = thumbnails[part].std(axis=(1, 2))
    return found


def star_centres(
    pairs: Indices, similarity: Numbers, sizes: npt.NDArray[np.intp], hashes: Sequence[int]
) -> Indices:
    """Gives the centre of each node: the most linked first, each taking what it is linked to.

    A node's centre depends on the nodes linked to it alone, directly or in a chain: what is
    found for one connected part is what would be found for the whole.

    Args:
      pairs: intp[m, 2], linked nodes; nodes are numbered in the order of their ids.
      similarity: float64[m], of each pair.
      sizes: intp[n], how many identical images each node stands for.
      hashes: The keyed hash of each node's id, which breaks ties.

    Returns:
      intp[n].
    """
    links: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for (one, other), score in zip(pairs.tolist(), similarity.tolist(), strict=True):
        links[one].append((other, score))
        links[other].append((one, score))

    def rank(node: int) -> tuple[int, int, int]:
        images = int(sizes[node]) + sum(int(sizes[other]) for other, _ in links[node])
        return -images, hashes[node], node

    centres = np.arange(len(sizes))
    taken: set[int] = set()
    chosen: set[int] = set()
    for node in sorted(links, key=rank):
        if node not in taken:
            chosen.add(node)
            taken.update((node, *(other for other, _ in links[node])))
    for node, linked in links.items():
        if node not in chosen:
            # Each image goes to the centre it resembles most, whichever came first.
            best = max((score, -hashes[to], -to) for to, score in linked if to in chosen)
            centres[node] = -best[2]
    return centres


def join_groups(
    pairs: Indices,
    similarity: Numbers,
    centres: Indices,
    sizes: npt.NDArray[np.intp],
    max_block: int,
) -> Indices:
    """Joins groups along the pairs between them, the most alike first, up to `max_block` images.

    Nodes are in the order of ids, so ties are broken by ids; a block is named by its first node.
    As with `star_centres`, each connected part can be looked at by itself.

    Args:
      pairs: intp[m, 2], linked nodes.
      similarity: float64[m], of each pair.
      centres: intp[n], as from `star_centres`.
      sizes: intp[n], how many identical images each node stands for.
      max_block: Images up to which groups are joined.

    Returns:
      intp[n], the first node of each node's block.
    """
    parent = list(range(len(sizes)))
    images = np.zeros(len(sizes), np.intp)
    np.add.at(images, centres, sizes)
    room = images.tolist()

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for place in np.lexsort((pairs[:, 1], pairs[:, 0], -similarity)).tolist():
        one, other = (root(int(centres[node])) for node in pairs[place])
        if one != other and room[one] + room[other] <= max_block:
            parent[other] = one
            room[one] += room[other]
    roots = np.array([root(int(centre)) for centre in centres], np.intp)
    names = np.full(len(sizes), len(sizes), np.intp)
    np.minimum.at(names, roots, np.arange(len(sizes)))
    return names[roots]


def _check(
    thumbnails: Thumbnails,
    exact: Sequence[Hashable],
    ids: Sequence[str],
    threshold: float,
    max_block: int,
) -> None:
    shape = (len(ids), THUMBNAIL_SIDE, THUMBNAIL_SIDE)
    if thumbnails.shape != shape or thumbnails.dtype != np.uint8 or len(exact) != len(ids):
        raise KfoodError(
            "Each image needs one id, one key and one thumbnail of uint8[32, 32]. Received: "
            f"{len(ids)} ids, {len(exact)} keys, thumbnails {thumbnails.dtype}"
            f"{list(thumbnails.shape)}"
        )
    if len(set(ids)) != len(ids):
        raise KfoodError(
            f"Ids must be unique. Received {len(ids)} ids, {len(set(ids))} of them different"
        )
    if not COARSE_ENOUGH <= threshold <= 1:
        raise KfoodError(
            f"Pairs less alike than {COARSE_ENOUGH} aren't measured finely, so the threshold "
            f"must be from there to 1. Received: threshold={threshold}"
        )
    if max_block < 1:
        raise KfoodError(f"A block holds one image at least. Received: max_block={max_block}")

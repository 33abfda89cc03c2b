"""Groups and splits as a pipeline: everything by key, nothing collected on one worker.

    images ─ by pixels ─► nodes ─ by band ─► candidates ─ by image ─► pairs that show the same
    pairs ─ union-find ─► components ─ by component ─► groups and blocks
    blocks ─ by block, then by class ─► splits

The one thing that is small enough to travel whole is the forest of linked images: two numbers for
each image that has a look-alike.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import apache_beam as beam
import numpy as np
import numpy.typing as npt
from etils import epath

from kfood_tfds.beam import work
from kfood_tfds.beam.by_key import (
    NO_LABEL,
    Edge,
    Node,
    Placed,
    band_entries,
    candidate_pairs,
    fill,
    for_classes,
    joined,
    place_component,
    roots,
    similar_edges,
    split_block,
    split_mixed,
)
from kfood_tfds.beam.cluster import Cluster
from kfood_tfds.beam.stages import flat_map_each, map_each
from kfood_tfds.raw.duplicates import Grouping
from kfood_tfds.raw.errors import SurveyError
from kfood_tfds.raw.grouping_store import load_grouping, save_grouping
from kfood_tfds.raw.manifest_maker import Ratios
from kfood_tfds.raw.splits import keyed_hash
from kfood_tfds.raw.survey_store import MEASUREMENT, Survey

# One for each accepted image; block and block_hash are open unless the groups are known.
IMAGE = np.dtype(
    [("rank", "<u4"), ("label", "<i4"), ("hash", "<u8"), ("block", "<u4"), ("block_hash", "<u8")]
)
_PLACED = np.dtype([("rank", "<u4"), ("centre", "<u4"), ("block", "<u4")])
_EDGE = np.dtype([("one", "<u4"), ("other", "<u4"), ("likeness", "<f8")])
_SPLIT = np.dtype([("rank", "<u4"), ("split", "<u2")])
_CHUNK_IMAGES = 4096

Records = npt.NDArray[np.void]


def arrange_on(cluster: Cluster, survey: Survey, ratios: Ratios) -> tuple[Grouping, Sequence[str]]:
    """Groups and splits the accepted images of a survey; an `Arrange` once partly applied.

    Args:
        cluster: Where to run.
        survey: The survey; its folder keeps the groups.
        ratios: Names and shares of the splits.
    """
    folder = cluster.new_folder("arrange")
    grouping = load_grouping(survey)
    images = _images(survey, grouping)
    work.save(folder / "images.bin", images.tobytes())
    chunks = work.record_chunks(str(folder / "images.bin"), len(images), _CHUNK_IMAGES)
    measurements = None if grouping is not None else _measurements(survey, folder)
    parts = max(1, len(images) // 8192)

    def build(pipeline: Any) -> None:
        read = pipeline | "Chunks" >> beam.Create(chunks) | beam.Reshuffle()
        if measurements is None:
            blocks = read | "ReadBlocks" >> flat_map_each(_read_blocks)
        else:
            blocks = _group(read | flat_map_each(_read_images, measurements), str(folder), parts)
        _split(blocks, str(folder), ratios)

    cluster.run(build)
    if grouping is None:
        grouping = _read_grouping(folder, images["rank"])
        save_grouping(survey, grouping)
    splits = _by_image(work.read_parts(folder, "splits", _SPLIT), images["rank"])["split"]
    return grouping, [ratios[number][0] for number in splits.tolist()]


def _images(survey: Survey, grouping: Grouping | None) -> Records:
    accepted = [row for row in survey.rows if row.accepted]
    images = np.zeros(len(accepted), IMAGE)
    order = sorted(range(len(accepted)), key=lambda image: accepted[image].id)
    images["rank"][order] = np.arange(len(accepted))
    images["label"] = [NO_LABEL if row.label is None else row.label for row in accepted]
    images["hash"] = [keyed_hash(row.id) for row in accepted]
    if grouping is not None:
        images["block"] = images["rank"][grouping.block_of]
        images["block_hash"] = images["hash"][grouping.block_of]
    return images


def _measurements(survey: Survey, folder: epath.Path) -> str:
    """Returns where all machines can read a survey's measurements."""
    path = survey.folder / "measurements.bin"
    if "://" not in os.fspath(folder):
        return str(path.absolute())
    work.save(folder / "measurements.bin", path.read_bytes())
    return str(folder / "measurements.bin")


def _by_image(records: Records, ranks: npt.NDArray[np.uint32]) -> Records:
    """Brings a result into the order of the images."""
    if not np.array_equal(records["rank"], np.arange(len(ranks))):
        raise SurveyError(
            f"The pipeline gave back {len(records)} of {len(ranks)} images. All machines must see "
            "the same data folder: give a data_dir on a shared path."
        )
    return records[ranks]


def _read_grouping(folder: epath.Path, ranks: npt.NDArray[np.uint32]) -> Grouping:
    image_of = np.argsort(ranks)
    placed = _by_image(work.read_parts(folder, "groups", _PLACED), ranks)
    edges = work.read_parts(folder, "pairs", _EDGE)
    group_of, block_of = image_of[placed["centre"]], image_of[placed["block"]]
    pairs = np.stack([image_of[edges["one"]], image_of[edges["other"]]], axis=1)
    return Grouping(
        group_of=group_of,
        block_of=block_of,
        pairs=pairs,
        similarity=edges["likeness"].copy(),
        cut=group_of[pairs[:, 0]] != group_of[pairs[:, 1]],
        parted=block_of[pairs[:, 0]] != block_of[pairs[:, 1]],
    )


def _read_blocks(chunk: work.Chunk) -> Iterator[tuple[int, tuple[int, int, int]]]:
    for image in work.read_records(chunk, IMAGE):
        yield (
            int(image["block"]),
            (int(image["block_hash"]), int(image["rank"]), int(image["label"])),
        )


def _read_images(
    chunk: work.Chunk, measurements: str
) -> Iterator[tuple[bytes, tuple[int, int, int, bytes]]]:
    images = work.read_records(chunk, IMAGE)
    looks = work.read_records(work.Chunk(measurements, chunk.start, chunk.stop), MEASUREMENT)
    for image, look in zip(images, looks, strict=True):
        rank, label, hash_ = int(image["rank"]), int(image["label"]), int(image["hash"])
        yield bytes(look["pixels"]), (rank, label, hash_, look["thumbnail"].tobytes())


def _group(images: Any, folder: str, parts: int) -> Any:
    """Groups images by (pixels, (rank, label, hash, thumbnail)); writes groups and pairs.

    Returns:
        The images by (block, (hash of the block, rank, label)).
    """
    same = images | "ByPixels" >> beam.GroupByKey() | flat_map_each(_node)
    thumbnails = same | "Thumbnails" >> map_each(_thumbnail)
    edges = _edges(thumbnails, parts)
    _write(edges, folder, "pairs", _EDGE)
    forest = beam.pvalue.AsSingleton(edges | "Forest" >> beam.CombineGlobally(_Forest()))
    linked = {
        "nodes": same | "LinkedNodes" >> flat_map_each(_linked_node, forest),
        "edges": edges | "LinkedPairs" >> map_each(_linked_pair, forest),
    }
    placed = (
        linked | "ByComponent" >> beam.CoGroupByKey() | flat_map_each(_place),
        same | "Alone" >> flat_map_each(_alone, forest),
    ) | beam.Flatten()
    of_image = (
        {"placed": placed, "members": same | "Members" >> map_each(_members)}
        | "ByNode" >> beam.CoGroupByKey()
        | flat_map_each(_placed_images)
    )
    _write(of_image | map_each(_group_row), folder, "groups", _PLACED)
    return of_image | "Blocks" >> map_each(_block_row)


_Same = tuple[Node, bytes, list[tuple[int, int]]]


def _node(element: tuple[bytes, Iterable[tuple[int, int, int, bytes]]]) -> Iterator[_Same]:
    members = sorted(element[1])
    rank, _, hash_, thumbnail = members[0]
    ranks = [(member[0], member[1]) for member in members]
    yield Node(rank, hash_, len(members)), thumbnail, ranks


def _thumbnail(same: _Same) -> tuple[int, bytes]:
    return same[0].rank, same[1]


def _members(same: _Same) -> tuple[int, list[tuple[int, int]]]:
    return same[0].rank, same[2]


def _edges(thumbnails: Any, parts: int) -> Any:
    """Finds the pairs that show the same among (rank, thumbnail)."""
    pairs = (
        thumbnails
        | beam.BatchElements(min_batch_size=16, max_batch_size=1024)
        | flat_map_each(band_entries, parts)
        | "ByBand" >> beam.GroupByKey()
        | flat_map_each(_candidates)
    )
    seen = {"look": thumbnails, "others": pairs} | "ByFirst" >> beam.CoGroupByKey()
    shown = seen | "ShowFirst" >> flat_map_each(_show_first)
    both = {"look": thumbnails, "others": shown} | "BySecond" >> beam.CoGroupByKey()
    return both | "Compare" >> flat_map_each(_compare)


def _candidates(element: tuple[tuple[int, int], Iterable[bytes]]) -> Iterator[tuple[int, int]]:
    (band, _), blobs = element
    yield from candidate_pairs(band, blobs)


def _show_first(element: tuple[int, Any]) -> Iterator[tuple[int, tuple[int, bytes]]]:
    rank, found = element
    [look] = found["look"]
    for other in sorted(set(found["others"])):
        yield other, (rank, look)


def _compare(element: tuple[int, Any]) -> Iterator[Edge]:
    rank, found = element
    [look] = found["look"]
    others = list(found["others"])
    if others:
        yield from similar_edges(rank, look, others)


class _Forest(beam.CombineFn):
    """Joins linked images into trees, piece by piece on all workers."""

    def create_accumulator(self) -> dict[int, int]:
        return {}

    def add_input(self, accumulator: dict[int, int], element: Edge) -> dict[int, int]:
        return joined(accumulator, element[0], element[1])

    def merge_accumulators(self, accumulators: Iterable[dict[int, int]]) -> dict[int, int]:
        forest: dict[int, int] = {}
        for node, parent in itertools.chain.from_iterable(a.items() for a in accumulators):
            forest = joined(forest, node, parent)
        return forest

    def extract_output(self, accumulator: dict[int, int]) -> dict[int, int]:
        return roots(accumulator)


def _linked_node(same: _Same, forest: Mapping[int, int]) -> Iterator[tuple[int, Node]]:
    node = same[0]
    if node.rank in forest:
        yield forest[node.rank], node


def _linked_pair(edge: Edge, forest: Mapping[int, int]) -> tuple[int, Edge]:
    return forest[edge[0]], edge


def _place(element: tuple[int, Any]) -> Iterator[tuple[int, Placed]]:
    found = element[1]
    for placed in place_component(found["nodes"], found["edges"]):
        yield placed.rank, placed


def _alone(same: _Same, forest: Mapping[int, int]) -> Iterator[tuple[int, Placed]]:
    node = same[0]
    if node.rank not in forest:
        yield node.rank, Placed(node.rank, node.rank, node.rank, node.hash)


def _placed_images(element: tuple[int, Any]) -> Iterator[tuple[int, int, Placed]]:
    [placed], [members] = element[1]["placed"], element[1]["members"]
    for rank, label in members:
        yield rank, label, placed


def _group_row(image: tuple[int, int, Placed]) -> tuple[int, int, int]:
    return image[0], image[2].centre, image[2].block


def _block_row(image: tuple[int, int, Placed]) -> tuple[int, tuple[int, int, int]]:
    rank, label, placed = image
    return placed.block, (placed.block_hash, rank, label)


def _split(images: Any, folder: str, ratios: Ratios) -> None:
    """Splits images by (block, (hash of the block, rank, label)); writes the splits."""
    blocks = images | "ByBlock" >> beam.GroupByKey() | map_each(split_block)
    of_class = (
        blocks
        | "ForClasses" >> flat_map_each(for_classes, ratios)
        | "ByClass" >> beam.GroupByKey()
        | "FillClasses" >> flat_map_each(fill, ratios)
    )
    mixed = blocks | "Mixed" >> flat_map_each(split_mixed, ratios)
    _write((of_class, mixed) | "AllSplits" >> beam.Flatten(), folder, "splits", _SPLIT)


def _write(rows: Any, folder: str, name: str, dtype: np.dtype[np.void]) -> None:
    """Writes rows that begin with a rank as parts of a result."""
    _ = (
        rows
        | f"Keyed {name}" >> map_each(_by_part)
        | f"Parts of {name}" >> beam.GroupByKey()
        | f"Write {name}" >> map_each(work.save_part, folder, name, dtype)
    )


def _by_part(row: tuple[Any, ...]) -> tuple[int, tuple[Any, ...]]:
    return work.part_of(row[0]), row

"""From a survey to the manifest: groups, splits, and what a configuration leaves out."""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from kfood_tfds.raw.channel_sums import ChannelSums
from kfood_tfds.raw.classes import ClassTable
from kfood_tfds.raw.duplicates import Grouping
from kfood_tfds.raw.errors import SurveyError
from kfood_tfds.raw.grouping_store import group_survey
from kfood_tfds.raw.manifest import ManifestRow, apply_corrections, read_manifest
from kfood_tfds.raw.planned_files import PlannedFile
from kfood_tfds.raw.splits import DEFAULT_RATIOS, assign_splits, keyed_hash, whole_shares
from kfood_tfds.raw.stored_images import StoredForm, estimated_bytes
from kfood_tfds.raw.survey import raise_if_bad
from kfood_tfds.raw.survey_store import Survey

# The reason of accepted files that are in no split begins with this.
LEFT_OUT = "left out: "
_MAX_DENOMINATOR = 1000
_SPLIT_NAME = re.compile(r"[A-Za-z]\w*", re.ASCII)


@dataclass(frozen=True)
class ManifestOptions:
    """What shapes a manifest beyond the archive itself; see `KfoodConfig`.

    Attributes:
        split_ratios: Names and shares of the splits.
        classes: The classes to keep, in any spelling; None is all.
        per_class: At most so many images of a class; None is all.
        on_invalid: "skip" or "raise".
        on_conflict: "keep" or "drop".
        dedup: True keeps one image of each set of exact duplicates in the first split.
        edited_manifest: Path of an edited manifest, or None.
    """

    split_ratios: tuple[tuple[str, float], ...] = DEFAULT_RATIOS
    classes: tuple[str | int, ...] | None = None
    per_class: int | None = None
    on_invalid: str = "skip"
    on_conflict: str = "keep"
    dedup: bool = False
    edited_manifest: str | None = None

    def __post_init__(self) -> None:
        """Checks the values that can be checked without an archive."""
        _one_of("on_invalid", self.on_invalid, ("skip", "raise"))
        _one_of("on_conflict", self.on_conflict, ("keep", "drop"))
        if self.per_class is not None and self.per_class < 1:
            raise SurveyError(
                f"per_class must be at least 1, or None for all. Received: {self.per_class}."
            )
        if self.classes is not None and not self.classes:
            raise SurveyError("classes must name at least one class, or be None for all.")


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise SurveyError(f"{name} must be one of {', '.join(allowed)}. Received: {value!r}.")


@dataclass(frozen=True)
class Manifest:
    """What a configuration makes of a survey.

    Attributes:
        rows: A row per file, in the survey's order.
        splits: The names of the splits that hold any image, in their given order.
        class_counts: Images per class, in label order, for each split.
        sums: Channel sums over the crop boxes for each split.
        conflicts: Ids that show one picture under several labels, a tuple for each picture.
        grouping: What is known of look-alikes, by the accepted images in their order.
    """

    rows: tuple[ManifestRow, ...]
    splits: tuple[str, ...]
    class_counts: Mapping[str, list[int]]
    sums: Mapping[str, ChannelSums]
    conflicts: tuple[tuple[str, ...], ...]
    grouping: Grouping

    def files_of(
        self, split: str, planned: Sequence[PlannedFile]
    ) -> Iterator[tuple[PlannedFile, ManifestRow]]:
        """Yields the files of one split with their rows, in the archive's order."""
        for file, row in zip(planned, self.rows, strict=True):
            if row.accepted and row.split == split:
                yield file, row

    def estimated_bytes(self, survey: Survey, form: StoredForm) -> int:
        """Returns about how many bytes the images of all splits will take."""
        return sum(
            estimated_bytes(row, file.member.size, form)
            for file, row in zip(survey.planned, self.rows, strict=True)
            if row.accepted and row.split
        )

    def metadata(self) -> dict[str, Any]:
        """Returns what the data set's `info.metadata` says: plain lists and numbers."""
        return {
            "class_counts": {split: list(self.class_counts[split]) for split in self.splits},
            "mean": {split: [float(x) for x in self.sums[split].mean] for split in self.splits},
            "std": {split: [float(x) for x in self.sums[split].std] for split in self.splits},
            "verdicts": dict(sorted(Counter(row.verdict for row in self.rows).items())),
        }


Ratios = tuple[tuple[str, float], ...]
Arrange = Callable[[Survey, Ratios], tuple[Grouping, Sequence[str]]]


def arrange(survey: Survey, ratios: Ratios) -> tuple[Grouping, Sequence[str]]:
    """Groups and splits the accepted images of a survey, on this machine.

    Args:
        survey: The survey.
        ratios: Names and shares of the splits.

    Returns:
        The groups, and the split of each accepted image in the survey's order.
    """
    grouping = group_survey(survey)
    accepted = [row for row in survey.rows if row.accepted]
    ids = [row.id for row in accepted]
    blocks = [ids[block] for block in grouping.block_of]
    return grouping, assign_splits([row.label for row in accepted], blocks, ids, ratios)


def make_manifest(
    survey: Survey, table: ClassTable, options: ManifestOptions, arranged: Arrange = arrange
) -> Manifest:
    """Groups the images, splits them, and applies what the options ask for.

    Groups and splits are always made over the whole archive, so that every configuration of one
    archive has the same ones.

    Args:
        survey: The survey.
        table: The class table.
        options: The options.
        arranged: What groups and splits the images; the result is the same whatever does it.

    Raises:
        SurveyError: If nothing is left, or with `on_invalid="raise"` for unusable files.
        ManifestError: If the edited manifest doesn't fit the archive.
    """
    edited = _edited(options, table)
    if options.on_invalid == "raise":
        settled = {row.id for row in edited.values() if not row.accepted}
        raise_if_bad(row for row in survey.rows if row.id not in settled)
    accepted = [i for i, row in enumerate(survey.rows) if row.accepted]
    if not accepted:
        raise _nothing_left(survey)
    grouping, splits = arranged(survey, options.split_ratios)
    rows = list(survey.rows)
    ids = [rows[i].id for i in accepted]
    for n, i in enumerate(accepted):
        group = group_number(ids[grouping.group_of[n]])
        rows[i] = replace(rows[i], group=group, split=splits[n])
    if options.edited_manifest is not None:
        names = [name for name, _ in options.split_ratios]
        rows = apply_corrections(rows, edited, table, names, options.edited_manifest)
    conflicts = find_conflicts(rows)
    if options.on_conflict == "drop":
        rows = _drop_conflicts(rows, conflicts)
    if options.dedup:
        pixels = [bytes(record) for record in survey.measurements["pixels"]]
        rows = _drop_copies(rows, dict(zip(ids, pixels, strict=True)), options.split_ratios[0][0])
    rows = _choose(rows, table, options)
    return _summarised(rows, survey, table, options, conflicts, grouping)


def check_options(options: ManifestOptions, table: ClassTable) -> None:
    """Checks all that can be checked before the archive is read.

    Args:
        options: The options.
        table: The class table.

    Raises:
        KfoodError: For unknown classes, impossible split ratios, or a broken edited manifest.
    """
    if options.classes is not None:
        table.find_all(options.classes)
    assign_splits([], [], [], options.split_ratios)
    for name, _ in options.split_ratios:
        if not _SPLIT_NAME.fullmatch(name) or name == "all":
            raise SurveyError(
                "A split is named by letters, digits and '_', and not 'all', which TFDS keeps "
                f"for itself. Received: {name!r}."
            )
    _edited(options, table)


def _edited(options: ManifestOptions, table: ClassTable) -> dict[int, ManifestRow]:
    if options.edited_manifest is None:
        return {}
    return read_manifest(options.edited_manifest, table)


def group_number(centre_id: str) -> int:
    """Returns the `group` of a group: 63 bits of SHA-256 over the id of its centre."""
    digest = hashlib.sha256(f"kfood group {centre_id}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def find_conflicts(rows: Iterable[ManifestRow]) -> tuple[tuple[str, ...], ...]:
    """Returns the groups whose images carry more than one label, as sorted tuples of ids."""
    groups: dict[int, list[ManifestRow]] = defaultdict(list)
    for row in rows:
        if row.accepted and row.group is not None:
            groups[row.group].append(row)
    return tuple(
        sorted(
            tuple(sorted(row.id for row in group))
            for group in groups.values()
            if len({row.label for row in group}) > 1
        )
    )


def _drop_conflicts(
    rows: Iterable[ManifestRow], conflicts: Iterable[tuple[str, ...]]
) -> list[ManifestRow]:
    dropped = {file_id for conflict in conflicts for file_id in conflict}
    reason = f"{LEFT_OUT}the same picture carries another label too"
    return [replace(row, split="", reason=reason) if row.id in dropped else row for row in rows]


def _drop_copies(
    rows: Iterable[ManifestRow], pixels: Mapping[str, bytes], split: str
) -> list[ManifestRow]:
    """Keeps the first id of each set of images with the same pixels in one split."""
    rows = list(rows)
    first: dict[bytes, str] = {}
    for row in sorted((r for r in rows if r.accepted and r.split == split), key=lambda r: r.id):
        first.setdefault(pixels[row.id], row.id)
    kept = set(first.values())
    return [
        replace(row, split="", reason=f"{LEFT_OUT}exact duplicate of {first[pixels[row.id]]}")
        if row.accepted and row.split == split and row.id not in kept
        else row
        for row in rows
    ]


def _choose(
    rows: list[ManifestRow], table: ClassTable, options: ManifestOptions
) -> list[ManifestRow]:
    """Leaves out the classes, and the images beyond `per_class`, that weren't asked for."""
    if options.classes is not None:
        wanted = {food.label for food in table.find_all(options.classes)}
        reason = f"{LEFT_OUT}its class is not among the chosen ones"
        rows = [
            replace(row, split="", reason=reason)
            if row.accepted and row.label not in wanted
            else row
            for row in rows
        ]
    if options.per_class is None:
        return rows
    kept = _kept_per_class(rows, options.per_class, options.split_ratios)
    reason = f"{LEFT_OUT}more than {options.per_class} images of the class"
    return [
        replace(row, split="", reason=reason)
        if row.accepted and row.split and row.id not in kept
        else row
        for row in rows
    ]


def _kept_per_class(
    rows: Iterable[ManifestRow], per_class: int, ratios: tuple[tuple[str, float], ...]
) -> set[str]:
    quota = shares_of(per_class, ratios)
    pools: dict[tuple[int | None, str], list[str]] = defaultdict(list)
    for row in rows:
        if row.accepted and row.split:
            pools[row.label, row.split].append(row.id)
    return {
        file_id
        for (_, split), pool in pools.items()
        for file_id in sorted(pool, key=keyed_hash)[: quota.get(split, 0)]
    }


def shares_of(total: int, ratios: Iterable[tuple[str, float]]) -> dict[str, int]:
    """Divides a number by ratios into whole parts that add up to it, by largest remainders."""
    ratios = tuple(ratios)
    shares = {name: Fraction(share).limit_denominator(_MAX_DENOMINATOR) for name, share in ratios}
    if sum(shares.values()) != 1 or not all(shares.values()):
        # Too fine: rounded, each by itself, they are none, or don't sum up to 1.
        finer = whole_shares(ratios)
        shares = {name: Fraction(share, sum(finer.values())) for name, share in finer.items()}
    exact = {name: share * total for name, share in shares.items()}
    parts = {name: int(share) for name, share in exact.items()}
    by_rest = sorted(exact, key=lambda name: parts[name] - exact[name])
    for name in by_rest[: total - sum(parts.values())]:
        parts[name] += 1
    return parts


def _summarised(
    rows: list[ManifestRow],
    survey: Survey,
    table: ClassTable,
    options: ManifestOptions,
    conflicts: tuple[tuple[str, ...], ...],
    grouping: Grouping,
) -> Manifest:
    surveyed = [i for i, row in enumerate(survey.rows) if row.accepted]
    split_of = np.array([rows[i].split if rows[i].accepted else "" for i in surveyed], dtype=object)
    splits = tuple(name for name, _ in options.split_ratios if (split_of == name).any())
    if not splits:
        raise _nothing_left(survey)
    counts: dict[str, list[int]] = {}
    sums: dict[str, ChannelSums] = {}
    for split in splits:
        chosen = np.flatnonzero(split_of == split)
        labels = [rows[surveyed[n]].label or 0 for n in chosen]
        counts[split] = np.bincount(labels, minlength=len(table.classes)).tolist()
        sums[split] = _merged(survey.measurements["sums"][chosen])
    return Manifest(tuple(rows), splits, counts, sums, conflicts, grouping)


def _nothing_left(survey: Survey) -> SurveyError:
    usable = sum(row.accepted for row in survey.rows)
    return SurveyError(
        f"No image is left to build from: {usable} of {len(survey.rows)} files of "
        f"{survey.archive.place} can be used, and the configuration leaves those out. Check "
        "`classes`, `on_conflict` and the edited manifest; `kfood-tfds inspect` shows why files "
        "were rejected."
    )


def _merged(sums: np.ndarray[Any, np.dtype[np.int64]]) -> ChannelSums:
    count, r, g, b, rr, gg, bb = (int(x) for x in sums.sum(axis=0))
    return ChannelSums(count, (r, g, b), (rr, gg, bb), len(sums))

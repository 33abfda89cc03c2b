"""Counts what a manifest says: totals that add up, groups, conflicts, flags, what is missing."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kfood_tfds.raw.classes import ClassTable
from kfood_tfds.raw.manifest import REJECTED, ManifestRow
from kfood_tfds.raw.manifest_maker import LEFT_OUT

# Publicly known of the archive; the exact count of each class is not.
EXPECTED_IMAGES = 150_507
SMALLEST_CLASS = 992
LARGEST_CLASS = 1_125

UNKNOWN = ""

_SPLIT_ORDER = ("train", "validation", "test")

Tally = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Count:
    """Image files of one class or one category.

    Attributes:
        name: Korean name; empty for files outside every known class.
        label: Code of the class; None for a category and for files outside every known class.
        category: Korean name of the category.
        found: Image files found; ``accepted`` and ``rejected`` are the parts of it.
        accepted: Files that can be used.
        rejected: Files that were refused.
        splits: Accepted files of each split.
    """

    name: str
    label: int | None
    category: str
    found: int
    accepted: int
    rejected: int
    splits: Tally


@dataclass(frozen=True, slots=True)
class Group:
    """Near-duplicates of one another, at least two, sorted by id.

    Attributes:
        number: As in the manifest's column ``group``.
        rows: Their manifest rows.
        identical: Whether two of them are the same file byte for byte; for a conflict, whether two
            under different labels are.
    """

    number: int
    rows: tuple[ManifestRow, ...]
    identical: bool

    @property
    def labels(self) -> tuple[int, ...]:
        """The labels that occur, ascending."""
        return tuple(sorted({row.label for row in self.rows if row.label is not None}))


@dataclass(frozen=True, slots=True)
class Check:
    """Two ways to count the same thing, which must agree.

    Attributes:
        name: ``kinds``, ``verdicts``, ``reasons``, ``classes``, ``splits``, ``ids`` or ``listed``.
        whole: The count as a whole.
        parts: The counts that make it up, by name.
    """

    name: str
    whole: int
    parts: Tally

    @property
    def holds(self) -> bool:
        """Whether the parts add up to the whole."""
        return sum(number for _, number in self.parts) == self.whole


@dataclass(frozen=True, slots=True)
class Summary:
    """All numbers of the report.

    Attributes:
        found: Image files found, whether they can be used or not.
        accepted: Image files that can be used.
        rejected: Rows of refused image files, by id.
        side_files: Rows of files that are no images and no fault either, such as crop tables.
        reasons: Kinds of refusal, most frequent first.
        classes: One count for each class of the table in label order, then one with label None if
            there are images outside every known class.
        categories: One count for each category in label order, then likewise.
        formats: Formats of the images by content, most frequent first; empty where unknown.
        splits: Accepted images of each split; the empty name stands for those left out of all.
        left_out: Why accepted images are in no split, most frequent reason first.
        crop_statuses: Accepted images by crop status.
        crop_notes: Accepted images whose crop row says more than a box, or something else.
        groups: Groups of near-duplicates, largest first.
        conflicts: The groups with more than one label, those with identical files first.
        flags: Rows by flag, most frequent flag first.
        unique: Accepted images with all byte-identical copies but one left out.
        distinct: Accepted images with all near-duplicates but one left out.
        plain_jpg: Image files whose name ends in exactly ``.jpg``.
        checks: What must add up.
    """

    found: int
    accepted: int
    rejected: tuple[ManifestRow, ...]
    side_files: tuple[ManifestRow, ...]
    reasons: Tally
    classes: tuple[Count, ...]
    categories: tuple[Count, ...]
    formats: Tally
    splits: Tally
    left_out: Tally
    crop_statuses: Tally
    crop_notes: tuple[ManifestRow, ...]
    groups: tuple[Group, ...]
    conflicts: tuple[Group, ...]
    flags: tuple[tuple[str, tuple[ManifestRow, ...]], ...]
    unique: int
    distinct: int
    plain_jpg: int
    checks: tuple[Check, ...]

    @property
    def short(self) -> tuple[Count, ...]:
        """Classes with fewer images than the smallest class of the whole archive has."""
        return tuple(
            count
            for count in self.classes
            if count.label is not None and count.found < SMALLEST_CLASS
        )

    @property
    def balanced(self) -> bool:
        """Whether all checks hold."""
        return all(check.holds for check in self.checks)


def summarize(
    rows: Sequence[ManifestRow], table: ClassTable, *, listed: int | None = None
) -> Summary:
    """Counts a manifest; the result does not depend on the order of its rows.

    Args:
        rows: The manifest, one row per file found.
        table: Classes that the labels stand for.
        listed: Number of files that the archive lists, to check the manifest against.
    """
    rows = sorted(rows, key=lambda row: row.id)
    images = [row for row in rows if not row.is_side_file]
    accepted = [row for row in images if row.accepted]
    rejected = tuple(row for row in images if row.verdict == REJECTED)
    classes, categories = _class_counts(images, table)
    groups = _groups(accepted)
    return Summary(
        found=len(images),
        accepted=len(accepted),
        rejected=rejected,
        side_files=tuple(row for row in rows if row.is_side_file),
        reasons=_tally(reason_kind(row.reason) for row in rejected),
        classes=classes,
        categories=categories,
        formats=_tally(row.source_format for row in images),
        splits=_split_tally(accepted),
        left_out=_tally(_left_out_reason(row) for row in accepted if not row.split),
        crop_statuses=_tally(row.crop_status for row in accepted),
        crop_notes=tuple(row for row in accepted if row.crop_note),
        groups=groups,
        conflicts=_conflicts(groups),
        flags=_flagged(rows),
        unique=_distinct(accepted, lambda row: row.sha256 or None),
        distinct=_distinct(accepted, lambda row: row.group),
        plain_jpg=sum(row.id.endswith(".jpg") for row in images),
        checks=_checks(rows, images, classes, listed),
    )


def reason_kind(reason: str) -> str:
    """Returns the kind of fault that a reason begins with: what stands before any detail.

    ``"not an image: begins with '<html>'"`` and ``"not an image: begins with 'GIF'"`` are of one
    kind, and so are ``"unknown class folder 'a'"`` and ``"unknown class folder 'b'"``.
    """
    return re.split(r"[:('\"]", reason, maxsplit=1)[0].strip()


def _left_out_reason(row: ManifestRow) -> str:
    reason = row.reason.removeprefix(LEFT_OUT)
    # Which file a copy is a copy of would make every reason one of its own.
    return reason.partition(" of ")[0] if reason.startswith("exact duplicate of") else reason


def to_json(summary: Summary) -> dict[str, Any]:
    """Returns the numbers as plain JSON values; ids stand for rows."""
    return {
        "found": summary.found,
        "accepted": summary.accepted,
        "rejected": len(summary.rejected),
        "side_files": [row.id for row in summary.side_files],
        "rejected_by_reason": dict(summary.reasons),
        "rejected_files": [{"id": row.id, "reason": row.reason} for row in summary.rejected],
        "classes": [_count_json(count) for count in summary.classes],
        "categories": [_count_json(count) for count in summary.categories],
        "formats": dict(summary.formats),
        "splits": dict(summary.splits),
        "left_out": dict(summary.left_out),
        "crop_status": dict(summary.crop_statuses),
        "crop_notes": [{"id": row.id, "note": row.crop_note} for row in summary.crop_notes],
        "groups": [_group_json(group) for group in summary.groups],
        "conflicts": [_group_json(group) for group in summary.conflicts],
        "flags": {flag: [row.id for row in rows] for flag, rows in summary.flags},
        "without_identical_copies": summary.unique,
        "without_near_duplicates": summary.distinct,
        "expected": {
            "images": EXPECTED_IMAGES,
            "difference": summary.found - EXPECTED_IMAGES,
            "classes_below_smallest": [count.name for count in summary.short],
        },
        "checks": {check.name: check.holds for check in summary.checks},
    }


def _count_json(count: Count) -> dict[str, Any]:
    return {
        "name": count.name,
        "label": count.label,
        "category": count.category,
        "found": count.found,
        "accepted": count.accepted,
        "rejected": count.rejected,
        "splits": dict(count.splits),
    }


def _group_json(group: Group) -> dict[str, Any]:
    return {
        # As text: JSON readers such as browsers lose digits of numbers beyond 2**53.
        "group": str(group.number),
        "labels": list(group.labels),
        "identical": group.identical,
        "ids": [row.id for row in group.rows],
    }


def _tally(names: Iterable[str]) -> Tally:
    return tuple(sorted(Counter(names).items(), key=lambda item: (-item[1], item[0])))


def _split_tally(accepted: Iterable[ManifestRow]) -> Tally:
    counts = Counter(row.split for row in accepted)
    known = [name for name in _SPLIT_ORDER if name in counts]
    others = sorted(name for name in counts if name and name not in _SPLIT_ORDER)
    unused = [UNKNOWN] if UNKNOWN in counts else []
    return tuple((name, counts[name]) for name in known + others + unused)


def _count(name: str, label: int | None, category: str, rows: Sequence[ManifestRow]) -> Count:
    accepted = [row for row in rows if row.accepted]
    return Count(
        name=name,
        label=label,
        category=category,
        found=len(rows),
        accepted=len(accepted),
        rejected=sum(row.verdict == REJECTED for row in rows),
        splits=_split_tally(accepted),
    )


def _class_counts(
    rows: Sequence[ManifestRow], table: ClassTable
) -> tuple[tuple[Count, ...], tuple[Count, ...]]:
    by_label: defaultdict[int | None, list[ManifestRow]] = defaultdict(list)
    known = {food.label for food in table.classes}
    for row in rows:
        by_label[row.label if row.label in known else None].append(row)
    classes = [
        _count(food.name, food.label, food.category, by_label[food.label]) for food in table.classes
    ]
    categories = [
        _count(
            category,
            None,
            category,
            [
                row
                for food in table.classes
                if food.category == category
                for row in by_label[food.label]
            ],
        )
        for category in table.categories
    ]
    if by_label[None]:
        classes.append(_count(UNKNOWN, None, UNKNOWN, by_label[None]))
        categories.append(_count(UNKNOWN, None, UNKNOWN, by_label[None]))
    return tuple(classes), tuple(categories)


def _groups(accepted: Iterable[ManifestRow]) -> tuple[Group, ...]:
    members: defaultdict[int, list[ManifestRow]] = defaultdict(list)
    for row in accepted:
        if row.group is not None:
            members[row.group].append(row)
    groups = [
        Group(number, tuple(rows), _identical(rows))
        for number, rows in members.items()
        if len(rows) > 1
    ]
    return tuple(sorted(groups, key=lambda group: (-len(group.rows), group.rows[0].id)))


def _identical(rows: Sequence[ManifestRow]) -> bool:
    digests = [row.sha256 for row in rows if row.sha256]
    return len(set(digests)) < len(digests)


def _conflicts(groups: Iterable[Group]) -> tuple[Group, ...]:
    conflicts = [
        Group(group.number, group.rows, _identical_across_labels(group.rows))
        for group in groups
        if len(group.labels) > 1
    ]
    return tuple(sorted(conflicts, key=lambda group: not group.identical))


def _identical_across_labels(rows: Iterable[ManifestRow]) -> bool:
    labels: defaultdict[str, set[int | None]] = defaultdict(set)
    for row in rows:
        if row.sha256:
            labels[row.sha256].add(row.label)
    return any(len(found) > 1 for found in labels.values())


def _flagged(
    rows: Iterable[ManifestRow],
) -> tuple[tuple[str, tuple[ManifestRow, ...]], ...]:
    by_flag: defaultdict[str, list[ManifestRow]] = defaultdict(list)
    for row in rows:
        for flag in dict.fromkeys(row.flags):
            by_flag[flag].append(row)
    ordered = sorted(by_flag.items(), key=lambda item: (-len(item[1]), item[0]))
    return tuple((flag, tuple(found)) for flag, found in ordered)


def _distinct(rows: Sequence[ManifestRow], key: Callable[[ManifestRow], str | int | None]) -> int:
    keys = [key(row) for row in rows]
    return len({k for k in keys if k is not None}) + sum(k is None for k in keys)


def _checks(
    rows: Sequence[ManifestRow],
    images: Sequence[ManifestRow],
    classes: Sequence[Count],
    listed: int | None,
) -> tuple[Check, ...]:
    accepted = [row for row in images if row.accepted]
    rejected = [row for row in images if row.verdict == REJECTED]
    side_files = sum(row.is_side_file for row in rows)
    verdicts = (("accepted", len(accepted)), ("rejected", len(rejected)))
    checks = [
        Check("kinds", len(rows), (("images", len(images)), ("side files", side_files))),
        Check("verdicts", len(images), verdicts),
        Check("reasons", len(rejected), _tally(reason_kind(row.reason) for row in rejected)),
        Check("classes", len(images), tuple((count.name, count.found) for count in classes)),
        Check("splits", len(accepted), _split_tally(accepted)),
        Check("ids", len(rows), (("id", len({row.id for row in rows})),)),
    ]
    if listed is not None:
        checks.append(Check("listed", listed, (("manifest", len(rows)),)))
    return tuple(checks)


def shares(tally: Tally) -> Mapping[str, float]:
    """Returns each part's share of the sum, 0..1; all zero if the sum is."""
    total = sum(number for _, number in tally)
    return {name: number / total if total else 0.0 for name, number in tally}

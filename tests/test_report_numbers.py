"""The numbers of a manifest, counted by hand on a small one."""

from __future__ import annotations

import json
import random

import pytest

from kfood_tfds import report_numbers
from kfood_tfds.raw.classes import ClassTable, FoodClass
from kfood_tfds.raw.manifest import ManifestRow

TABLE = ClassTable(
    (FoodClass(0, "갈비구이", "구이"), FoodClass(1, "무국", "국"), FoodClass(2, "미역국", "국"))
)


def accepted(
    name: str, label: int, group: int, split: str = "train", **more: object
) -> ManifestRow:
    food = TABLE.classes[label]
    values = {
        "label": label,
        "category": food.category,
        "group": group,
        "source_format": "JPEG",
        "crop_status": "missing",
        "sha256": name,
        **more,
    }
    return ManifestRow(f"{food.category}/{food.name}/{name}", "accepted", split=split, **values)


def rejected(row_id: str, reason: str, label: int | None = None, **more: object) -> ManifestRow:
    return ManifestRow(row_id, "rejected", reason, label=label, **more)


ROWS = (
    accepted("a.jpg", 0, 10, crop_status="annotated", flags=("dark", "blurred")),
    accepted("b.jpg", 0, 10, "test"),
    accepted("c.JPG", 0, 11, "validation", flags=("dark",)),
    accepted("d.png", 1, 12, "", source_format="PNG", reason="left out: a reason"),
    accepted("e.jpg", 1, 11, sha256="same"),
    accepted("f.jpg", 2, 13, sha256="same"),
    accepted("g.jpg", 2, 13, sha256="other"),
    accepted("h.jpg", 2, 13, sha256="other"),
    rejected("국/무국/x.jpg", "truncated JPEG: the file ends", 1, source_format="JPEG"),
    rejected("국/무국/y.jpg", "truncated JPEG: the file stops", 1),
    rejected("외국/빵/z.jpg", "unknown class folder '빵'"),
    rejected("국/무국/crop_area.properties", "side file: crop table", 1, flags=("orphan_rows",)),
    rejected(".DS_Store", "side file: not an image"),
)


@pytest.fixture
def summary() -> report_numbers.Summary:
    return report_numbers.summarize(ROWS, TABLE, listed=13)


def test_totals(summary: report_numbers.Summary) -> None:
    assert (summary.found, summary.accepted) == (11, 8)
    assert [row.id[-5:] for row in summary.rejected] == ["x.jpg", "y.jpg", "z.jpg"]
    assert len(summary.side_files) == 2
    assert summary.reasons == (("truncated JPEG", 2), ("unknown class folder", 1))


def test_classes_and_categories(summary: report_numbers.Summary) -> None:
    found = [(c.name, c.label, c.found, c.accepted, c.rejected) for c in summary.classes]
    assert found == [
        ("갈비구이", 0, 3, 3, 0),
        ("무국", 1, 4, 2, 2),
        ("미역국", 2, 3, 3, 0),
        ("", None, 1, 0, 1),
    ]
    assert [(c.name, c.found, c.rejected) for c in summary.categories] == [
        ("구이", 3, 0),
        ("국", 7, 2),
        ("", 1, 1),
    ]
    assert summary.classes[0].splits == (("train", 1), ("validation", 1), ("test", 1))


def test_splits_formats_and_crops(summary: report_numbers.Summary) -> None:
    assert summary.splits == (("train", 5), ("validation", 1), ("test", 1), ("", 1))
    assert summary.left_out == (("a reason", 1),)
    assert summary.formats == (("JPEG", 8), ("", 2), ("PNG", 1))
    assert summary.crop_statuses == (("missing", 7), ("annotated", 1))
    assert summary.plain_jpg == 9


def test_groups_are_largest_first_and_singles_are_none(summary: report_numbers.Summary) -> None:
    assert [(g.number, len(g.rows), g.identical) for g in summary.groups] == [
        (13, 3, True),
        (10, 2, False),
        (11, 2, False),
    ]
    # 11 has the labels 0 and 1. The identical files e and f lie in different groups.
    assert [(g.number, g.labels, g.identical) for g in summary.conflicts] == [(11, (0, 1), False)]


def test_identical_files_under_two_labels_come_first() -> None:
    rows = (
        accepted("a", 0, 1),
        accepted("b", 1, 1),
        accepted("c", 0, 1),
        accepted("d", 0, 2, sha256="same"),
        accepted("e", 1, 2, sha256="same"),
    )
    conflicts = report_numbers.summarize(rows, TABLE).conflicts
    assert [(g.number, g.identical) for g in conflicts] == [(2, True), (1, False)]


def test_a_conflict_is_identical_only_across_its_labels() -> None:
    rows = (
        accepted("a", 0, 1, sha256="same"),
        accepted("b", 0, 1, sha256="same"),
        accepted("c", 1, 1),
    )
    (conflict,) = report_numbers.summarize(rows, TABLE).conflicts
    assert not conflict.identical


def test_copies_are_counted_once(summary: report_numbers.Summary) -> None:
    # Eight accepted; e = f and g = h byte for byte; groups 10, 11, 12, 13.
    assert (summary.unique, summary.distinct) == (6, 4)


def test_crop_notes_of_accepted_images_are_kept() -> None:
    rows = (
        accepted("a.jpg", 0, 1, crop_note="dissimilar"),
        accepted("b.jpg", 0, 2),
        rejected("crop_area.properties", "side file: crop table", crop_note="line 3 is odd"),
    )
    summary = report_numbers.summarize(rows, TABLE)
    assert [row.crop_note for row in summary.crop_notes] == ["dissimilar"]
    plain = report_numbers.to_json(summary)["crop_notes"]
    assert plain == [{"id": "구이/갈비구이/a.jpg", "note": "dissimilar"}]


def test_flags_keep_their_rows(summary: report_numbers.Summary) -> None:
    assert [(flag, len(rows)) for flag, rows in summary.flags] == [
        ("dark", 2),
        ("blurred", 1),
        ("orphan_rows", 1),
    ]


def test_classes_below_the_smallest_known_count() -> None:
    rows = [accepted(f"{n}.jpg", 0, n) for n in range(992)]
    rows += [accepted(f"{n}.jpg", 1, n) for n in range(991)]
    short = report_numbers.summarize(rows, TABLE).short
    assert [(count.name, count.found) for count in short] == [("무국", 991), ("미역국", 0)]


def test_everything_adds_up(summary: report_numbers.Summary) -> None:
    assert [check.name for check in summary.checks if not check.holds] == []
    assert summary.balanced


@pytest.mark.parametrize(
    ("rows", "listed", "broken"),
    [
        ((*ROWS, ManifestRow("x", "maybe")), 14, {"verdicts"}),
        ((*ROWS, ROWS[0]), 14, {"ids"}),
        (ROWS, 14, {"listed"}),
    ],
)
def test_what_does_not_add_up_is_noticed(
    rows: tuple[ManifestRow, ...], listed: int, broken: set[str]
) -> None:
    summary = report_numbers.summarize(rows, TABLE, listed=listed)
    assert {check.name for check in summary.checks if not check.holds} == broken
    assert not summary.balanced


def test_the_order_of_the_rows_does_not_matter(summary: report_numbers.Summary) -> None:
    shuffled = random.Random(1).sample(ROWS, len(ROWS))
    assert report_numbers.summarize(shuffled, TABLE, listed=13) == summary


def test_an_empty_manifest_is_fine() -> None:
    summary = report_numbers.summarize((), TABLE)
    assert (summary.found, summary.groups, summary.balanced) == (0, (), True)
    assert report_numbers.shares(summary.formats) == {}


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("empty file", "empty file"),
        ("not an image: begins with '<a>'", "not an image"),
        ("unknown class folder '빵: (1)'", "unknown class folder"),
        ("the archive holds this path twice (also at x)", "the archive holds this path twice"),
    ],
)
def test_kinds_of_reasons(reason: str, kind: str) -> None:
    assert report_numbers.reason_kind(reason) == kind


def test_copies_are_left_out_for_one_reason() -> None:
    rows = [
        accepted(f"{n}.jpg", 0, n, "", reason=f"left out: exact duplicate of 구이/{n}")
        for n in range(3)
    ]
    assert report_numbers.summarize(rows, TABLE).left_out == (("exact duplicate", 3),)


def test_json_holds_what_machines_need(summary: report_numbers.Summary) -> None:
    plain = json.loads(json.dumps(report_numbers.to_json(summary)))
    assert plain["found"] == plain["accepted"] + plain["rejected"] == 11
    assert plain["rejected_by_reason"] == {"truncated JPEG": 2, "unknown class folder": 1}
    assert plain["rejected_files"][2] == {
        "id": "외국/빵/z.jpg",
        "reason": "unknown class folder '빵'",
    }
    assert plain["splits"] == {"train": 5, "validation": 1, "test": 1, "": 1}
    assert plain["conflicts"][0]["ids"] == ["구이/갈비구이/c.JPG", "국/무국/e.jpg"]
    assert plain["expected"]["difference"] == 11 - 150_507
    assert all(plain["checks"].values())


def test_group_numbers_survive_json_readers_with_53_bits() -> None:
    number = 2**62 + 1
    rows = [accepted("a", 0, number), accepted("b", 0, number)]
    (group,) = report_numbers.to_json(report_numbers.summarize(rows, TABLE))["groups"]
    assert group["group"] == str(number)

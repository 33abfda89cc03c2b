"""The sections of files and pictures, each made by itself and read as a tree."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from reports import EVIL, page, row
from trees import all_of, attribute, row_names, text_of, texts

from kfood_tfds import report_findings, report_text
from kfood_tfds.html_tree import Element, serialize
from kfood_tfds.raw.manifest import ManifestRow
from kfood_tfds.report_findings import Shown
from kfood_tfds.report_likeness import CutPair, Method, Recall
from kfood_tfds.report_numbers import Group
from kfood_tfds.report_parts import Page, Picture

NOTHING = Shown((), (), (), ())
LISTS: dict[str, Callable[[Page], Element]] = {
    "rejections": report_findings.rejections,
    "conflicts": lambda page: report_findings.conflicts(page, NOTHING),
    "groups": lambda page: report_findings.groups(page, NOTHING, ()),
    "flags": lambda page: report_findings.flags(page, NOTHING),
}


def pictures(*rows: ManifestRow) -> tuple[Picture, ...]:
    return tuple(Picture(row.id, row.label, "data:,", 16, 9) for row in rows)


def refused(name: str, reason: str) -> ManifestRow:
    return ManifestRow(f"구이/갈비구이/{name}", "rejected", reason, label=0)


def shown_ids(part: Element) -> list[str | None]:
    return [attribute(image, "alt") for image in all_of(part, "img")]


@pytest.mark.parametrize(("lang", "nothing"), [("ko", "없습니다."), ("en", "None.")])
@pytest.mark.parametrize("name", LISTS)
def test_where_nothing_was_found_it_is_said(name: str, lang: str, nothing: str) -> None:
    made = LISTS[name](page(lang, (row("a.jpg"),)))
    assert attribute(made, "id") == name
    assert texts(made, "h2") == [report_text.TEXTS[lang][name]]
    assert texts(made, "p") == [nothing]


@pytest.mark.parametrize(
    ("lang", "headings"),
    [
        ("en", ["truncated JPEG 2", "empty file 1", "unknown class folder 1"]),
        ("ko", ["잘린 JPEG 파일 2", "빈 파일 1", "알 수 없는 클래스 폴더 1"]),
    ],
)
def test_refused_files_stand_under_their_kind_of_fault(lang: str, headings: list[str]) -> None:
    rows = (
        refused("a.jpg", "unknown class folder '빵'"),
        refused("b.jpg", "truncated JPEG: the file ends before the image does"),
        refused("c.jpg", "empty file"),
        refused("d.jpg", "truncated JPEG: cut"),
    )
    made = report_findings.rejections(page(lang, rows))
    assert texts(made, "summary") == headings
    items = [[text_of(child) for child in item.children] for item in all_of(made, "li")]
    # The kind isn't said again; where there is no more to say, nothing is.
    assert items == [
        ["구이/갈비구이/b.jpg", "the file ends before the image does"],
        ["구이/갈비구이/d.jpg", "cut"],
        ["구이/갈비구이/c.jpg"],
        ["구이/갈비구이/a.jpg", "'빵'"],
    ]


@pytest.mark.parametrize(("number", "is_open"), [(30, True), (31, False)])
def test_long_lists_are_folded_and_still_complete(number: int, is_open: bool) -> None:
    rows = tuple(refused(f"{n:02}.jpg", "empty file") for n in range(number))
    (folded,) = all_of(report_findings.rejections(page(rows=rows)), "details")
    assert (attribute(folded, "open") is not None) == is_open
    assert len(all_of(folded, "li")) == number


def test_names_and_reasons_are_escaped_in_lists_of_files() -> None:
    rows = (refused(EVIL, f"not an image: {EVIL}"),)
    for part in (
        report_findings.rejections(page(rows=rows)),
        report_findings.notes(page(rows=rows), (f"{EVIL}: a note", EVIL), 5),
    ):
        assert part is not None
        assert text_of(part).count(EVIL) == 2
        assert EVIL not in serialize(part) and "<img" not in serialize(part)


@pytest.mark.parametrize(
    ("lang", "identical", "heading", "more"),
    [
        ("en", True, "byte-identical files under different labels · 3 images", "1 more"),
        ("en", False, "look-alikes under different labels · 3 images", "1 more"),
        ("ko", True, "라벨이 다른 동일한 파일 · 3장", "외 1장"),
        ("ko", False, "라벨이 다른 유사 이미지 · 3장", "외 1장"),
    ],
)
def test_a_conflict_says_what_is_alike_and_how_many_more_there_are(
    lang: str, identical: bool, heading: str, more: str
) -> None:
    rows = (row("a.jpg", 0, 7), row("b.jpg", 1, 7), row("c.jpg", 1, 7))
    group = Group(7, rows, identical)
    made = report_findings.conflicts(
        page(lang, rows), Shown(((group, pictures(*rows[:2])),), (), (), ())
    )
    assert texts(made, "h3") == [heading]
    assert texts(made, "p")[1:] == [more]
    assert shown_ids(made) == [rows[0].id, rows[1].id]
    whole = report_findings.conflicts(
        page(lang, rows), Shown(((group, pictures(*rows)),), (), (), ())
    )
    assert len(texts(whole, "p")) == 1


def test_groups_are_counted_as_shown_and_numbered_as_in_the_manifest() -> None:
    rows = tuple(row(f"{n}.jpg", 0, n // 2) for n in range(6))
    first, second = Group(98, rows[:2], True), Group(99, rows[2:4], False)
    shown = Shown((), ((first, pictures(*rows[:2])), (second, pictures(*rows[2:4]))), (), ())
    made = report_findings.groups(page(rows=rows), shown, ())
    assert [(text_of(h3), attribute(h3, "title")) for h3 in all_of(made, "h3")] == [
        ("Group 1 · 2 images · with byte-identical files", "group 98"),
        ("Group 2 · 2 images", "group 99"),
    ]
    # There are three groups of two.
    assert texts(made, "p")[-1].startswith("Shown: 2 of 3 groups;")
    korean = report_findings.groups(page("ko", rows), shown, ())
    assert texts(korean, "h3") == ["그룹 1 · 2장 · 동일한 파일 포함", "그룹 2 · 2장"]


def test_all_cut_pairs_are_counted_whether_shown_or_not() -> None:
    rows = tuple(row(f"{n}.jpg", 0, n) for n in range(4))
    pairs = tuple(CutPair((rows[n], rows[n + 1]), 0.97 - n / 100, parted=n < 2) for n in range(3))
    shown = Shown((), (), tuple((pair, pictures(*pair.rows)) for pair in pairs[1:]), ())
    made = report_findings.groups(page("ko", rows), shown, pairs)
    assert texts(made, "h3") == ["비슷하지만 다른 그룹에 든 이미지 · 3"]
    nothing, lead, first, second, number = texts(made, "p")
    assert nothing == "없습니다." and lead.endswith("분할이 갈릴 수 있는 쌍은 2개입니다.")
    assert (first, second) == ("유사도 0.96 · 분할이 갈릴 수 있음", "유사도 0.95")
    assert number == "전체 3쌍 중 2쌍 표시."
    assert shown_ids(made) == [rows[n].id for n in (1, 2, 2, 3)]


@pytest.mark.parametrize(
    ("lang", "dark", "left_out"),
    [("en", "Very dark", "Shown: 1 of 1,234;"), ("ko", "매우 어두움", "전체 1,234개 중 1개 표시.")],
)
def test_flags_bear_their_words_and_the_manifests(lang: str, dark: str, left_out: str) -> None:
    shown = pictures(row("a.jpg"))
    made = report_findings.flags(
        page(lang), Shown((), (), (), (("dark", 1234, shown), ("<new>", 1, shown)))
    )
    assert texts(made, "h3") == [f"{dark} · 1,234 dark", "<new> · 1 <new>"]
    _, said = texts(made, "p")
    assert said.startswith(left_out)
    assert "<new>" not in serialize(made)


@pytest.mark.parametrize(("limit", "left_out"), [(4, []), (3, []), (2, ["1"]), (0, ["3"])])
@pytest.mark.parametrize(
    ("lang", "words"),
    [("en", "Left out here: {} more notes."), ("ko", "여기에 싣지 않은 메모: {}건")],
)
def test_notes_up_to_a_limit(limit: int, left_out: list[str], lang: str, words: str) -> None:
    lines = ("first", "second", "third")
    made = report_findings.notes(page(lang), lines, limit)
    assert made is not None
    assert texts(made, "li") == list(lines[:limit])
    assert texts(made, "p") == [words.format(number) for number in left_out]


def test_without_notes_or_measurement_there_are_no_such_sections() -> None:
    assert report_findings.notes(page(), (), 5) is None
    assert report_findings.method(page(), None) is None


@pytest.mark.parametrize(
    ("lang", "kinds"), [("en", ["mirrored", "folded"]), ("ko", ["좌우 반전", "folded"])]
)
def test_the_measurement_is_told_in_percent(lang: str, kinds: list[str]) -> None:
    recalls = (Recall("mirrored", 1.0, 0.985, 0.5), Recall("folded", 0.0, 0.25, 0.062))
    made = report_findings.method(page(lang), Method(0.9, 3000, recalls, 1.25))
    assert made is not None
    assert row_names(made) == kinds
    assert texts(made, "td") == ["100.0%", "98.5%", "50.0%", "0.0%", "25.0%", "6.2%"]
    lead, false = texts(made, "p")
    assert "0.9" in lead and "3,000" in lead and "1.25" in false


@pytest.mark.parametrize(
    ("reason", "detail"),
    [
        ("unknown class folder '빵: (1)'", "'빵: (1)'"),
        ("the archive holds this path twice (also at a:b)", "(also at a:b)"),
        ("not an image: begins with 'a:b'", "begins with 'a:b'"),
        ("not an image : x", "x"),
    ],
)
def test_details_keep_their_own_colons(reason: str, detail: str) -> None:
    (listed,) = all_of(report_findings.rejections(page(rows=(refused("a", reason),))), "li")
    assert text_of(listed.children[-1]) == detail

"""The sections of numbers, tables and charts, each made by itself and read as a tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from reports import ROWS, page, row
from trees import all_of, attribute, row_names, text_of, texts

from kfood_tfds import report_sections, report_text
from kfood_tfds.html_tree import Element, serialize
from kfood_tfds.raw.classes import ClassTable
from kfood_tfds.raw.manifest import ManifestRow
from kfood_tfds.report_numbers import Check, Count
from kfood_tfds.report_parts import Page

SECTIONS: dict[str, Callable[[Page], Element]] = {
    "numbers": report_sections.numbers,
    "expected": report_sections.expected,
    "counts": report_sections.counts,
    "classes": report_sections.classes,
    "categories": report_sections.categories,
    "formats": report_sections.formats,
    "splits": report_sections.splits,
    "crops": lambda page: report_sections.crops(page, 5),
}


def tiles(part: Element) -> dict[str, tuple[str, bool]]:
    """The large numbers by name, and whether they are marked as a bad sign."""
    found = {}
    for tile in all_of(all_of(part, "dl")[0], "div"):
        (number,) = all_of(tile, "dd")
        found[texts(tile, "dt")[0]] = (text_of(number), attribute(number, "class") == "bad")
    return found


def items(part: Element, kind: str) -> list[tuple[str | None, str]]:
    """Class and text of each item of the lists of that class."""
    lists = [found for found in all_of(part, "ul") if attribute(found, "class") == kind]
    return [(attribute(i, "class"), text_of(i)) for found in lists for i in all_of(found, "li")]


@pytest.mark.parametrize("lang", ["ko", "en"])
@pytest.mark.parametrize("name", SECTIONS)
@pytest.mark.parametrize(("rows", "table"), [(ROWS, None), ((), None), ((), ClassTable(()))])
def test_each_section_has_its_heading_whatever_was_found(
    name: str, lang: str, rows: tuple[ManifestRow, ...], table: ClassTable | None
) -> None:
    made = SECTIONS[name](page(lang, rows) if table is None else page(lang, rows, table))
    assert (made.tag, attribute(made, "id")) == ("section", name)
    assert texts(made, "h2") == [report_text.TEXTS[lang][name]]
    assert "nan" not in serialize(made) and "{" not in text_of(made)


@pytest.mark.parametrize(
    ("lang", "names", "reasons"),
    [
        (
            "en",
            [
                "Images found",
                "Accepted",
                "Rejected",
                "Classes with images",
                "Groups of look-alikes",
                "Groups under two labels",
            ],
            ["not an image", "truncated PNG"],
        ),
        (
            "ko",
            [
                "발견한 이미지",
                "사용",
                "제외",
                "이미지가 있는 클래스",
                "유사 이미지 그룹",
                "라벨이 엇갈리는 그룹",
            ],
            ["이미지가 아님", "잘린 PNG 파일"],
        ),
    ],
)
def test_totals_of_a_faulty_archive(lang: str, names: list[str], reasons: list[str]) -> None:
    made = report_sections.numbers(page(lang))
    # Five accepted and two refused; a and b, c and d look alike, a and b under two labels.
    numbers = [
        ("7", False),
        ("5", False),
        ("2", True),
        ("2 / 2", False),
        ("2", False),
        ("1", True),
    ]
    assert list(tiles(made).items()) == list(zip(names, numbers, strict=True))
    assert row_names(made) == reasons
    assert texts(made, "td") == ["1", "50.0%", ""] * 2


def test_a_sound_archive_bears_no_bad_sign() -> None:
    made = report_sections.numbers(page(rows=(row("a.jpg"),)))
    assert not any(bad for _, bad in tiles(made).values())
    assert tiles(made)["Classes with images"] == ("1 / 2", False)
    assert all_of(made, "table") == all_of(made, "h3") == []
    assert {kind for kind, _ in items(made, "checks")} == {None}


def test_sums_are_written_out_up_to_twelve_parts_and_marked_if_wrong() -> None:
    checks = (
        Check("splits", 78, tuple((str(n), n) for n in range(1, 13))),
        Check("classes", 13_000, tuple((str(n), 1_000) for n in range(13))),
        Check("verdicts", 8, (("accepted", 5), ("rejected", 2))),
        Check("listed", 9, (("manifest", 8),)),
        Check("ids", 12_999, tuple((str(n), 1_000) for n in range(13))),
    )
    before = page()
    made = report_sections.numbers(replace(before, summary=replace(before.summary, checks=checks)))
    shown = " + ".join(str(n) for n in range(1, 13))
    assert items(made, "checks") == [
        (None, f"Accepted = sum over the splits: 78 = {shown} (adds up)"),
        (
            None,
            "Images found = sum over the classes and the files outside them: 13,000 (adds up)",
        ),
        ("bad", "Images found = accepted + rejected: 8 \N{NOT EQUAL TO} 5 + 2 (does not add up)"),
        (
            "bad",
            "Files that the archive lists = rows of the manifest: 9 \N{NOT EQUAL TO} 8 "
            "(does not add up)",
        ),
        ("bad", "Every id occurs once: 12,999 \N{NOT EQUAL TO} 13,000 (does not add up)"),
    ]
    names = [attribute(item, "data-check") for item in all_of(made, "li")]
    assert names == ["splits", "classes", "verdicts", "listed", "ids"]


@pytest.mark.parametrize(
    ("found", "difference"), [(151_507, "+1,000"), (150_507, "0"), (149_000, "\N{MINUS SIGN}1,507")]
)
@pytest.mark.parametrize(("lang", "name"), [("ko", "차이"), ("en", "Difference")])
def test_the_difference_to_the_whole_archive_has_its_sign(
    found: int, difference: str, lang: str, name: str
) -> None:
    before = page(lang)
    made = report_sections.expected(replace(before, summary=replace(before.summary, found=found)))
    assert tiles(made)[name] == (difference, False)
    lead = texts(made, "p")[0]
    assert all(number in lead for number in ("150,507", "150", "992", "1,125"))


def test_classes_that_lack_images_are_those_of_the_table_alone() -> None:
    counts = (
        Count("갈비구이", 0, "구이", 992, 992, 0, ()),
        Count("<무국>", 1, "국 & 탕", 991, 900, 91, ()),
        Count("", None, "", 3, 0, 3, ()),
    )
    before = page()
    made = report_sections.expected(
        replace(before, summary=replace(before.summary, classes=counts))
    )
    assert texts(made, "summary") == ["Classes with fewer than 992 images: 1"]
    assert row_names(made) == ["<무국>radish soup"] and texts(made, "td") == ["991", "1"]
    enough = replace(before.summary, classes=(counts[0], counts[2]))
    made = report_sections.expected(replace(before, summary=enough))
    assert texts(made, "p")[-1] == "No class has fewer than 992 images."
    assert all_of(made, "details") == []


def test_the_source_is_counted_in_the_ways_that_the_counts_in_circulation_were() -> None:
    rows = (
        row("a.jpg", 0, 1, sha256="same"),
        row("b.JPG", 0, 1, sha256="same"),
        row("c.jpg", 0, 1),
        row("d.png", 0, 2),
        ManifestRow("구이/갈비구이/e.jpg", "rejected", "empty file", label=0),
    )
    made = report_sections.counts(page(rows=rows))
    assert texts(made, "dt") == ["150,610", "150,507", "150,087", "142,642"]
    # Found; a, c and e; all but e; a or b, c, d; one of a, b and c, and d.
    assert texts(made, "td") == ["5", "3", "4", "3", "2"]
    assert len(set(row_names(made))) == 5


def test_classes_are_charted_in_the_order_of_their_codes() -> None:
    rows = (
        row("a.jpg", 0, 1),
        *(row(f"{n}.jpg", 1, n, split=split) for n, split in enumerate(["train", "test", ""])),
        ManifestRow("국 & 탕/<무국>/x.jpg", "rejected", "empty file", label=1),
    )
    made = report_sections.classes(page(rows=rows))
    assert texts(made, "p") == [
        "One column per class, in the order of the codes; the upper edge is 4 images. "
        "Smallest 1, mean 2, largest 3 accepted images."
    ]
    (axis,) = (part for part in all_of(made, "div") if attribute(part, "class") == "axis")
    assert texts(axis, "span") == ["000 갈비구이", "001 <무국>"]
    assert items(made, "key") == [
        ("k-train", "train"),
        ("k-test", "test"),
        ("k-none", "in no split"),
        ("k-rejected", "Rejected"),
    ]
    assert "<무국>" not in serialize(made)


def test_class_by_class_leaves_out_categories_without_files() -> None:
    bread = ManifestRow("외국/빵/x.jpg", "rejected", "unknown class folder '빵'")
    rows = (row("a.jpg", 1, 1), bread)
    made = report_sections.classes(page("ko", rows))
    assert texts(made, "h3") == ["국 & 탕 1", "알려진 클래스 밖의 파일 1"]
    assert row_names(made) == ["<무국>", "알려진 클래스 밖의 파일"]
    # Found, rejected, train, and the bar.
    assert texts(made, "td") == ["1", "0", "1", "", "1", "1", "0", ""]


def test_categories_add_up_to_what_was_found() -> None:
    made = report_sections.categories(page())
    assert row_names(made) == ["구이", "국 & 탕", "outside every known class"]
    cells = texts(made, "td")
    # Found, rejected, train, in no split, and the bar.
    assert [cells[start : start + 5] for start in range(0, len(cells), 5)] == [
        ["2", "0", "2", "0", ""],
        ["4", "1", "2", "1", ""],
        ["1", "1", "0", "0", ""],
    ]
    bad = [text_of(cell) for cell in all_of(made, "td") if attribute(cell, "class") == "n bad"]
    assert bad == ["1", "1"]


@pytest.mark.parametrize(("lang", "unknown"), [("ko", "알 수 없음"), ("en", "unknown")])
def test_formats_that_nobody_could_tell_are_named_so(lang: str, unknown: str) -> None:
    made = report_sections.formats(page(lang))
    assert row_names(made) == ["JPEG", unknown]
    assert texts(made, "td") == ["5", "71.4%", "", "2", "28.6%", ""]


@pytest.mark.parametrize(
    ("lang", "names"),
    [
        ("en", ["in no split", "exact duplicate", "its class is not among the chosen ones"]),
        ("ko", ["분할 없음", "동일한 파일", "선택하지 않은 클래스"]),
    ],
)
def test_what_is_in_no_split_is_told_with_its_reasons(lang: str, names: list[str]) -> None:
    copy = "left out: exact duplicate of 구이/갈비구이/a.jpg"
    chosen = "left out: its class is not among the chosen ones"
    rows = (
        row("a.jpg"),
        row("b.jpg", split="", reason=copy),
        row("c.jpg", split="", reason=copy),
        row("d.jpg", 1, split="", reason=chosen),
    )
    made = report_sections.splits(page(lang, rows))
    assert row_names(made) == ["train", *names]
    assert [n for n in texts(made, "td") if n.isdigit()] == ["1", "3", "2", "1"]
    assert texts(made, "h3") == names[:1]
    assert all_of(report_sections.splits(page(lang, rows[:1])), "h3") == []


@pytest.mark.parametrize(
    ("lang", "known"), [("ko", "적힌 영역 그대로"), ("en", "box read as it stands")]
)
def test_crop_statuses_have_their_colours_and_numbers(lang: str, known: str) -> None:
    before = page(lang)
    statuses = (("annotated", 1200), ("<odd>", 3))
    summary = replace(before.summary, crop_statuses=statuses, crop_notes=())
    made = report_sections.crops(replace(before, summary=summary), 5)
    assert items(made, "key") == [("k-annotated", f"{known}: 1,200"), ("k-<odd>", "<odd>: 3")]
    assert all_of(made, "details") == []
    assert "<odd>" not in serialize(made)


@pytest.mark.parametrize(("limit", "shown"), [(3, []), (2, ["전체 3개 중 2개 표시."])])
def test_odd_crop_rows_are_listed_up_to_the_limit(limit: int, shown: list[str]) -> None:
    rows = tuple(row(f"{n}.jpg", crop_note=f"<{n}> dissimilar") for n in range(3))
    made = report_sections.crops(page("ko", rows), limit)
    assert items(made, "list") == [
        (None, f"구이/갈비구이/{n}.jpg정보 없음: 이미지 전체; <{n}> dissimilar")
        for n in range(limit)
    ]
    (folded,) = all_of(made, "details")
    assert [text[:14] for text in texts(folded, "p")] == shown
    assert texts(folded, "summary")[0].endswith(" 3")

"""The pieces of the report's sections, and that no field of a manifest can break out of them."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from kfood_tfds import report, report_numbers, report_parts, report_text
from kfood_tfds.html_tree import element, serialize
from kfood_tfds.raw.classes import ClassTable, FoodClass
from kfood_tfds.raw.manifest import ManifestRow
from kfood_tfds.report_likeness import CutPair, Method, Recall
from kfood_tfds.report_numbers import Count
from kfood_tfds.words import Words

EVIL = "\"'></title></style><b onclick=alert(1)>&amp;"
FOODS = (
    FoodClass(0, "갈비구이", "구이", "galbi-gui", "grilled ribs"),
    FoodClass(1, "무국", "국", "mu-guk", ""),
)


def page(lang: str = "en", rows: tuple[ManifestRow, ...] = ()) -> report_parts.Page:
    summary = report_numbers.summarize(rows, ClassTable(FOODS))
    return report_parts.Page(Words(lang, report_text.TEXTS), summary, FOODS)


def evil_row(name: str, **more: object) -> ManifestRow:
    values = {
        "split": EVIL,
        "label": 0,
        "category": EVIL,
        "group": 1,
        "source_format": EVIL,
        "crop_status": EVIL,
        "crop_note": EVIL,
        "flags": (EVIL,),
        **more,
    }
    return ManifestRow(f"{name}{EVIL}", "accepted", **values)


@pytest.mark.parametrize("lang", ["ko", "en"])
def test_no_field_breaks_out(lang: str) -> None:
    rows = (
        evil_row("a"),
        evil_row("b", label=1),
        evil_row("c", label=None, split="", reason=f"left out: {EVIL}"),
        ManifestRow(f"d{EVIL}", "rejected", f"{EVIL}: {EVIL}", category=EVIL),
        ManifestRow(f"e{EVIL}", "rejected", f"side file: {EVIL}", crop_note=EVIL),
    )
    table = ClassTable(
        (FoodClass(0, EVIL, EVIL, "a", EVIL), FoodClass(1, f"x{EVIL}", EVIL, "b", EVIL))
    )
    source = report.ReportSource(
        EVIL,
        notes=(EVIL,),
        cut_pairs=(CutPair((rows[0], rows[1]), 0.9, parted=True),),
        method=Method(0.9, 1, (Recall(EVIL, 1.0, 1.0, 1.0),), 0.0),
    )
    html = report.render_report(report_numbers.summarize(rows, table), table, source, lang=lang)
    assert html.count("&lt;b onclick") > 30
    assert "<b onclick" not in html
    assert html.count("</title></style>") == 0
    # Nothing but the tags that the page is made of, each as often closed as opened.
    opened = re.findall(r"<([a-z1-6]+)[ >]", html)
    assert set(opened).isdisjoint({"script", "iframe", "object", "img", "link"})
    for tag in {"b", "title", "style", "p", "li", "td", "section"}:
        assert opened.count(tag) == html.count(f"</{tag}>")


def test_a_class_has_its_meaning_beside_it_in_english_alone() -> None:
    def shown(lang: str, label: int | None) -> str:
        return serialize(element("b", *report_parts.food(page(lang), label)))

    assert shown("en", 0) == '<b>갈비구이<span class="gloss">grilled ribs</span></b>'
    assert shown("ko", 0) == "<b>갈비구이</b>"
    assert shown("en", 1) == "<b>무국</b>"
    assert shown("en", None) == shown("en", 99) == "<b>outside every known class</b>"


def test_reasons_are_said_in_the_readers_words() -> None:
    assert report_parts.reason_name(page("ko").words, "truncated PNG") == "잘린 PNG 파일"
    assert report_parts.reason_name(page("ko").words, "empty file") == "빈 파일"
    assert report_parts.reason_name(page("ko").words, "truncated by hand") == "truncated by hand"
    assert report_parts.reason_name(page("en").words, "truncated PNG") == "truncated PNG"


def test_a_tally_shows_numbers_and_shares() -> None:
    made = report_parts.tally_table(page(), "Kind", (("a", 1500), ("b", 500)), str.upper)
    html = serialize(made)
    assert re.findall(r"<th scope=\"row\">(.*?)</th>", html) == ["A", "B"]
    assert re.findall(r'<td class="n">(.*?)</td>', html) == ["1,500", "75.0%", "500", "25.0%"]
    # The longest bar takes the whole width, the other a third of it.
    assert re.findall(r' width="([\d.]+)"', html) == ["100", "33.333"]


def test_a_table_of_counts_has_a_column_for_each_split() -> None:
    rows = tuple(
        ManifestRow(f"구이/갈비구이/{n}.jpg", "accepted", split=split, label=0, category="구이")
        for n, split in enumerate(("train", "train", "test"))
    )
    count = Count("갈비구이", 0, "구이", 4, 3, 1, (("train", 2),))
    made = report_parts.counts_table(page(rows=rows), "Class", [(("name",), count)], 8)
    html = serialize(made)
    heads = re.findall(r"<th[^>]*>(.*?)</th>", html)
    assert heads == ["Class", "Found", "Rejected", "train", "test", "", "name"]
    cells = re.findall(r'<td class="(n|n bad)">(.*?)</td>', html)
    assert cells == [("n", "4"), ("n bad", "1"), ("n", "2"), ("n", "0")]


def test_a_picture_that_is_missing_says_so() -> None:
    pictures = (
        report_parts.Picture("a", 1, "data:image/jpeg;base64,AA", 16, 9),
        report_parts.Picture("b", 1, "", 0, 0),
    )
    html = serialize(report_parts.gallery(page(), pictures))
    assert '<img src="data:image/jpeg;base64,AA" alt="a" width="16" height="9">' in html
    assert html.count("<img") == 1 and html.count("no picture") == 1


def _reasons_in_the_source() -> set[str]:
    """What `ImageRejected`, `reason=` and `reason = ` are given in `raw`, a format in each hole."""
    found = set()
    for path in sorted(Path(report_numbers.__file__).parent.glob("raw/*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "ImageRejected":
                found |= _texts(node.args[0])
            is_field = isinstance(node, ast.keyword) and node.arg == "reason"
            is_variable = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "reason"
            if isinstance(node, (ast.keyword, ast.Assign)) and (is_field or is_variable):
                found |= _texts(node.value)
    return found


def _texts(node: ast.expr) -> set[str]:
    if isinstance(node, ast.Constant):
        return {str(node.value)}
    if isinstance(node, ast.BoolOp):
        return set().union(*map(_texts, node.values))
    if not isinstance(node, ast.JoinedStr):
        return set()
    # LEFT_OUT and SIDE_FILE stand in front of their reasons, a number or a format in the middle.
    holes = {"LEFT_OUT": "left out: ", "SIDE_FILE": "side file: ", "options.per_class": "7"}
    parts = []
    for value in node.values:
        if isinstance(value, ast.FormattedValue):
            quote = "'" if value.conversion == ord("r") else ""
            parts.append(quote + holes.get(ast.unparse(value.value), "TIFF") + quote)
        else:
            parts.append(str(ast.literal_eval(value)))
    return {"".join(parts)}


def test_every_reason_has_words_in_korean() -> None:
    words = Words("ko", report_text.TEXTS)
    reasons = {reason for reason in _reasons_in_the_source() if reason}
    left_out = {
        text.removeprefix("left out: ") for text in reasons if text.startswith("left out: ")
    }
    refused = {text for text in reasons if not text.startswith(("left out: ", "side file: "))}
    assert len(left_out) == 4 and len(refused) > 20
    names = [
        *(report_parts.reason_name(words, report_numbers.reason_kind(text)) for text in refused),
        *(
            report_parts.kind_name(words, "left_out_", text.partition(" of TIFF")[0])
            for text in left_out
        ),
    ]
    assert not [name for name in names if not re.search("[가-힣]", name)]


def test_a_number_within_a_kind_stands_in_its_words() -> None:
    kind = "more than 12 images of the class"
    korean, english = (Words(lang, report_text.TEXTS) for lang in ("ko", "en"))
    assert report_parts.kind_name(korean, "left_out_", kind) == "클래스당 12장을 넘는 이미지"
    assert report_parts.kind_name(english, "left_out_", kind) == kind

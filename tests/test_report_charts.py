"""Charts: the shapes stand for the numbers."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from kfood_tfds import report_charts
from kfood_tfds.report_numbers import Count


def rects(svg: str) -> list[dict[str, str]]:
    return [element.attrib for element in ElementTree.fromstring(svg).iter("rect")]


def count(found: int, rejected: int, *splits: tuple[str, int], name: str = "만두") -> Count:
    return Count(name, 0, "만두", found, found - rejected, rejected, splits)


def test_columns_stack_their_splits_from_the_ground_up() -> None:
    svg = report_charts.columns([count(80, 10, ("train", 50), ("test", 20))], 100, "chart")
    train, test, rejected = rects(svg)
    # A hundred high, the ground at 100: 50 train, 20 test over it, 10 rejected on top.
    assert (train["class"], train["y"], train["height"]) == ("k-train", "50", "50")
    assert (test["class"], test["y"], test["height"]) == ("k-test", "30", "20")
    assert (rejected["class"], rejected["y"], rejected["height"]) == ("k-rejected", "20", "10")


def test_each_class_has_its_column_and_its_title() -> None:
    svg = report_charts.columns([count(1, 0, ("train", 1)), count(2, 0, ("train", 2))], 2, "c")
    first, second = rects(svg)
    assert float(second["x"]) - float(first["x"]) == 10
    titles = [title.text for title in ElementTree.fromstring(svg).iter("title")]
    assert titles == ["만두: 1", "만두: 2"]


def test_a_stacked_bar_shows_shares_and_leaves_out_nothing_at_all() -> None:
    parts = rects(report_charts.stacked((("a", 1), ("", 3), ("b", 0)), "c"))
    assert [(part["class"], part["x"], part["width"]) for part in parts] == [
        ("k-a", "0", "25"),
        ("k-none", "25", "75"),
    ]


def test_nothing_counted_draws_nothing() -> None:
    assert rects(report_charts.stacked((), "c")) == []
    assert rects(report_charts.bar(0, 0)) == []


def test_a_bar_is_as_long_as_its_share_of_the_longest() -> None:
    assert rects(report_charts.bar(3, 12))[0]["width"] == "25"


def test_names_cannot_break_out_of_the_chart() -> None:
    svg = report_charts.columns([count(1, 1, name="<script>&")], 1, '"><script>')
    assert "<script>" not in svg
    assert next(ElementTree.fromstring(svg).iter("title")).text == "<script>&: 1"


@pytest.mark.parametrize(
    ("number", "top"), [(0, 1), (7, 7), (23, 24), (99, 100), (101, 110), (1125, 1200)]
)
def test_axes_end_at_good_numbers(number: int, top: int) -> None:
    assert report_charts.round_up(number) == top

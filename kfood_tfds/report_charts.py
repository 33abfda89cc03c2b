"""Charts as inline SVG: shapes only, coloured by CSS classes; words stand in the HTML beside them.

The shapes stretch to the width that the page gives them, so letters inside would be distorted.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from kfood_tfds.html_tree import Raw
from kfood_tfds.report_numbers import Count, Tally

_HEIGHT = 100.0
_BAR = 10.0
_COLUMN = 10.0
_COLUMN_GAP = 2.0


def columns(counts: Sequence[Count], top: int, label: str, unused: str = "rejected") -> Raw:
    """Draws one column per class, its files stacked by split, refused ones last.

    Args:
        counts: One count per class.
        top: The number of files that reaches the upper edge, at least 1.
        label: What the chart says, for people who can't see it.
        unused: Kind (CSS class) of the refused files.
    """
    svg = _svg(len(counts) * _COLUMN, _HEIGHT, "columns", label)
    for position, count in enumerate(counts):
        column = ElementTree.SubElement(svg, "g")
        title = ElementTree.SubElement(column, "title")
        title.text = f"{count.name}: {count.found:,}"
        left, bottom = position * _COLUMN + _COLUMN_GAP / 2, _HEIGHT
        for kind, number in (*count.splits, (unused, count.rejected)):
            height = _HEIGHT * number / top
            bottom -= height
            _rect(column, left, bottom, _COLUMN - _COLUMN_GAP, height, kind)
    return _raw(svg)


def stacked(tally: Tally, label: str) -> Raw:
    """Draws one bar over the whole width, parted in proportion.

    Args:
        tally: Kinds (CSS classes) and their numbers, from left to right.
        label: What the chart says, for people who can't see it.
    """
    total = sum(number for _, number in tally)
    svg = _svg(100.0, _BAR, "stacked", label)
    left = 0.0
    for kind, number in tally:
        width = 100.0 * number / total if total else 0.0
        _rect(svg, left, 0.0, width, _BAR, kind)
        left += width
    return _raw(svg)


def bar(number: int, top: int, kind: str = "plain") -> Raw:
    """Draws one bar of a list of bars; ``top`` is as long as the width."""
    svg = _svg(100.0, _BAR, "bar", "")
    _rect(svg, 0.0, 0.0, 100.0 * number / top if top else 0.0, _BAR, kind)
    return _raw(svg)


def round_up(number: int) -> int:
    """Returns the next number at or over ``number`` that makes a good end of an axis."""
    magnitude: int = 10 ** max(len(str(number)) - 2, 0)
    step = next(step for step in (1, 2, 5, 10) if number <= step * magnitude * 20)
    return max(-(-number // (step * magnitude)) * step * magnitude, 1)


def _svg(width: float, height: float, kind: str, label: str) -> ElementTree.Element:
    attributes = {
        "viewBox": f"0 0 {width:g} {height:g}",
        "preserveAspectRatio": "none",
        "class": f"chart {kind}",
    }
    if label:
        attributes |= {"role": "img", "aria-label": label}
    else:
        attributes |= {"aria-hidden": "true"}
    return ElementTree.Element("svg", attributes)


def _rect(
    parent: ElementTree.Element, x: float, y: float, width: float, height: float, kind: str
) -> None:
    if width <= 0 or height <= 0:
        return
    size = {"x": x, "y": y, "width": width, "height": height}
    shown = {name: f"{value:.3f}".rstrip("0").rstrip(".") for name, value in size.items()}
    ElementTree.SubElement(parent, "rect", {**shown, "class": f"k-{kind or 'none'}"})


def _raw(svg: ElementTree.Element) -> Raw:
    return Raw(ElementTree.tostring(svg, encoding="unicode"))

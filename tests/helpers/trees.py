"""Looks into trees of HTML elements, for tests."""

from __future__ import annotations

from collections.abc import Iterator

from kfood_tfds.html_tree import Element, Raw


def _walk(node: Element | str) -> Iterator[Element]:
    if isinstance(node, Element):
        yield node
        for child in node.children:
            yield from _walk(child)


def all_of(node: Element, tag: str) -> list[Element]:
    """All elements of that name in the order of the page."""
    return [found for found in _walk(node) if found.tag == tag]


def attribute(node: Element, name: str) -> str | None:
    """An attribute's value, empty if the name stands alone; None if there is none."""
    return dict(node.attributes).get(name)


def text_of(node: Element | str) -> str:
    """What a reader reads; charts say nothing."""
    if isinstance(node, str):
        return "" if isinstance(node, Raw) else node
    return "".join(text_of(child) for child in node.children)


def texts(node: Element, tag: str) -> list[str]:
    """What a reader reads in each element of that name."""
    return [text_of(found) for found in all_of(node, tag)]


def row_names(node: Element) -> list[str]:
    """The first column of all tables."""
    return [text_of(cell) for cell in all_of(node, "th") if attribute(cell, "scope") == "row"]

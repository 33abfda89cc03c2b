"""HTML as a tree of values: text and attributes are escaped when it's written, whatever they say.

A page is built from ``element`` alone. Nobody escapes by hand, so nobody can forget it; what is to
be written as it stands has to be called so by name, with ``Raw``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

# https://html.spec.whatwg.org/multipage/syntax.html#void-elements
_VOID = frozenset(
    {
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "source",
        "track",
        "wbr",
    }
)
# Character references mean nothing inside these, so text can't be escaped there.
_UNESCAPABLE = frozenset({"style", "xmp", "iframe", "noembed", "noframes", "noscript", "plaintext"})
# Begin on a line of their own, where white space before them isn't shown.
_BLOCKS = frozenset(
    {"body", "div", "h2", "h3", "head", "li", "meta", "p", "section", "style", "title", "tr"}
)
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


class Raw(str):
    """Markup or CSS to be written as it stands, such as a chart that escapes its own words.

    Whatever is done with it (joined, formatted, sliced) gives a plain string, which is escaped.
    """

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Element:
    """An element of HTML; ``element`` makes one more handily.

    Attributes:
        tag: Its name in small letters.
        attributes: Names and values, unescaped.
        children: Elements, text (unescaped) and raw markup.

    Raises:
        ValueError: If a name is none, if it would run a script, or if the element may not hold
            such children.
        TypeError: If a value or child is neither a string nor an element.
    """

    tag: str
    attributes: tuple[tuple[str, str], ...] = ()
    children: tuple[Element | str, ...] = ()

    def __post_init__(self) -> None:
        """Refuses what couldn't be written safely."""
        for name in (self.tag, *(name for name, _ in self.attributes)):
            if _NAME.fullmatch(name) is None:
                raise ValueError(f"HTML names are small letters and hyphens. Received: {name!r}")
        if self.tag == "script" or any(name.startswith("on") for name, _ in self.attributes):
            raise ValueError(f"Pages run no scripts. Received: <{self.tag}>, {self.attributes!r}")
        for name, value in self.attributes:
            if not isinstance(value, str):
                raise TypeError(f"Attributes must be strings. Received: {name}={value!r}")
        for child in self.children:
            if not isinstance(child, Element | str):
                raise TypeError(f"Children must be elements or strings. Received: {child!r}")
        if self.children and self.tag in _VOID:
            raise ValueError(f"<{self.tag}> takes no children. Received: {self.children!r}")
        if self.tag in _UNESCAPABLE and not all(
            isinstance(child, Raw) and "</" not in child for child in self.children
        ):
            raise ValueError(f"<{self.tag}> takes Raw without end tags only.")


Child = Element | str | None


def element(tag: str, *children: Child, **attributes: str | int | bool | None) -> Element:
    """Returns an element.

    Args:
        tag: Its name in small letters.
        *children: Elements, text and ``Raw``; None is left out.
        **attributes: By name, ``_`` standing for ``-`` and dropped at the end (``class_``). True
            writes the name alone; False and None leave the attribute out.

    Raises:
        ValueError: If a name is none, if it would run a script, or if the element may not hold
            such children.
        TypeError: If a child is neither a string nor an element.
    """
    return Element(
        tag,
        tuple(
            (name.rstrip("_").replace("_", "-"), "" if value is True else str(value))
            for name, value in attributes.items()
            if value is not None and value is not False
        ),
        tuple(child for child in children if child is not None),
    )


def document(root: Element) -> str:
    """Returns a whole page as text."""
    return f"<!DOCTYPE html>\n{serialize(root)}\n"


def serialize(node: Element | str) -> str:
    """Returns a tree as HTML."""
    return "".join(_pieces(node))


def _pieces(node: Element | str) -> Iterator[str]:
    if isinstance(node, Raw):
        yield str(node)
    elif isinstance(node, str):
        yield escape(node, quote=False)
    else:
        attributes = "".join(_attribute(name, value) for name, value in node.attributes)
        yield "\n" if node.tag in _BLOCKS else ""
        yield f"<{node.tag}{attributes}>"
        for child in node.children:
            yield from _pieces(child)
        if node.tag not in _VOID:
            yield f"</{node.tag}>"


def _attribute(name: str, value: str) -> str:
    # Always in double quotes, so a single one can't end the value.
    quoted = escape(value, quote=False).replace('"', "&quot;")
    return f' {name}="{quoted}"' if value else f" {name}"

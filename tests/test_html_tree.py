"""HTML as a tree: whatever a text says, it stays a text."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kfood_tfds.html_tree import Element, Raw, document, element, serialize

HOSTILE = (
    '<img src=x onerror="alert(1)">',
    "</title></style></p><script>alert(1)</script>",
    "\"'><b onmouseover=alert(1)>",
    "' onload='alert(1)",
    "&lt;b&gt; &amp; &#60;",
    "<!-- --> ]]> {{ 7 * 7 }} {% raw %}",
    "갈비 < 구이 & 국",
)


class Reader(HTMLParser):
    """Reads HTML back: tags with their attributes, and the text in between."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.ends: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        self.ends.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("text", HOSTILE)
def test_text_stays_text(text: str) -> None:
    read = Reader(serialize(element("span", text, element("b", text), text)))
    assert read.tags == [("span", {}), ("b", {})]
    assert read.ends == ["b", "span"]
    assert read.text == text * 3


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("name", ["title", "alt", "href", "class", "data-check", "aria-label"])
def test_attributes_stay_attributes(name: str, text: str) -> None:
    read = Reader(serialize(Element("a", ((name, text), ("id", "after")), ("inside",))))
    assert read.tags == [("a", {name: text, "id": "after"})]
    assert read.text == "inside"


@pytest.mark.parametrize("text", HOSTILE)
def test_the_title_stays_a_title(text: str) -> None:
    html = serialize(element("head", element("title", text)))
    assert html.count("<") == 4  # Begin and end of head and title, and nothing else.
    read = Reader(html)
    assert [tag for tag, _ in read.tags] == ["head", "title"]
    assert read.text.strip() == text


@given(st.text(st.characters(exclude_characters="\r\0", exclude_categories=["Cs"])))
def test_any_text_reads_back_as_it_was(text: str) -> None:
    read = Reader(serialize(element("b", text, title=f"x{text}")))
    assert read.tags == [("b", {"title": f"x{text}"})]
    assert read.text == text


def test_what_is_written_is_this() -> None:
    link = element("a", "1 < 2", href="#x&y", class_="n", aria_label='say "a"', title="it's")
    assert serialize(link) == (
        '<a href="#x&amp;y" class="n" aria-label="say &quot;a&quot;" title="it\'s">1 &lt; 2</a>'
    )


def test_attributes_may_be_numbers_bare_or_absent() -> None:
    picture = element("img", width=160, alt="", hidden=True, title=None, open=False, height=0)
    assert serialize(picture) == '<img width="160" alt hidden height="0">'


def test_children_that_are_none_are_left_out() -> None:
    assert serialize(element("b", None, "x", None)) == "<b>x</b>"


def test_a_page_begins_with_its_doctype() -> None:
    page = document(element("html", element("body", element("p", "a")), lang="ko"))
    assert page == '<!DOCTYPE html>\n<html lang="ko">\n<body>\n<p>a</p></body></html>\n'


def test_only_raw_is_written_as_it_stands() -> None:
    svg = Raw('<svg class="chart"></svg>')
    assert serialize(element("td", svg, "<svg>")) == (
        '<td><svg class="chart"></svg>&lt;svg&gt;</td>'
    )


def test_what_is_made_from_raw_is_not_raw() -> None:
    raw = Raw("<i>")
    made = (raw + "", "" + raw, f"{raw}", raw[:], raw.strip(), "".join([raw, ""]), raw.lower())
    assert not any(isinstance(text, Raw) for text in made)
    assert serialize(element("b", *made)) == "<b>" + "&lt;i&gt;" * 7 + "</b>"


def test_raw_is_escaped_in_attributes_all_the_same() -> None:
    assert serialize(element("b", title=Raw('"><i>'))) == '<b title="&quot;&gt;&lt;i&gt;"></b>'


def test_styles_are_raw_and_cannot_end_early() -> None:
    css = 'a > b { content: "&"; }'
    assert serialize(element("style", Raw(css))) == f"\n<style>{css}</style>"
    for refused in (css, Raw("a {} </style><b>"), element("b")):
        with pytest.raises(ValueError, match="Raw without end tags"):
            element("style", refused)


@pytest.mark.parametrize("name", ["", "A", "a b", "a>", "a=1", 'a"', "1a", "-a", "a\n", "이름"])
def test_names_that_are_none_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="HTML names"):
        Element(name)
    with pytest.raises(ValueError, match="HTML names"):
        Element("b", ((name, "value"),))


def test_scripts_are_refused() -> None:
    with pytest.raises(ValueError, match="no scripts"):
        element("script", Raw("alert(1)"))
    with pytest.raises(ValueError, match="no scripts"):
        element("b", onclick="alert(1)")


def test_elements_that_hold_nothing_take_no_children() -> None:
    with pytest.raises(ValueError, match="no children"):
        element("img", "text")


@pytest.mark.parametrize("child", [1, b"bytes", ["list"]])
def test_children_are_elements_or_strings(child: object) -> None:
    with pytest.raises(TypeError, match="elements or strings"):
        element("b", child)
    with pytest.raises(TypeError, match="must be strings"):
        Element("b", (("title", child),))

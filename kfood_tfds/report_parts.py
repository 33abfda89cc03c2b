"""What the sections of the report are made of: tables, names, numbers, rows of pictures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from kfood_tfds.html_tree import Child, Element, element
from kfood_tfds.raw.classes import FoodClass
from kfood_tfds.report_charts import bar
from kfood_tfds.report_numbers import Count, Summary, Tally, shares
from kfood_tfds.words import Words


@dataclass(frozen=True, slots=True)
class Page:
    """What all sections draw on.

    Attributes:
        words: The texts in the reader's language.
        summary: The numbers.
        foods: The classes.
    """

    words: Words
    summary: Summary
    foods: tuple[FoodClass, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture as the page shows it.

    Attributes:
        id: The image's id.
        label: Its label, if it has one.
        uri: The picture itself as a ``data:`` URI; empty where there is none.
        width: Pixels.
        height: Pixels.
    """

    id: str
    label: int | None
    uri: str
    width: int
    height: int


def thousands(number: int) -> str:
    """Returns a whole number with thousands separators."""
    return f"{number:,}"


def section(page: Page, name: str, *children: Child) -> Element:
    """Returns a section under the heading and the id of its name."""
    return element("section", element("h2", page.words.say(name)), *children, id=name)


def tiles(*pairs: tuple[str, str, bool]) -> Element:
    """Returns large numbers side by side: each with its name, and whether it is a bad sign."""
    return element(
        "dl",
        *(
            element("div", element("dt", name), element("dd", number, class_=bad_if(bad)))
            for name, number, bad in pairs
        ),
        class_="tiles",
    )


def bad_if(bad: bool) -> str | None:
    """Returns the CSS class of what is a bad sign."""
    return "bad" if bad else None


def faint(text: str) -> Element:
    """Returns a paragraph in a faint colour."""
    return element("p", text, class_="faint")


def gloss(text: str) -> Element:
    """Returns a remark beside a name."""
    return element("span", text, class_="gloss")


def food(page: Page, label: int | None) -> tuple[Child, ...]:
    """Returns the name of a class, in English with its meaning beside it."""
    named = next((known for known in page.foods if known.label == label), None)
    if named is None:
        return (page.words.say("outside"),)
    glossed = page.words.lang == "en" and named.english
    return (named.name, gloss(named.english) if glossed else None)


def kind_name(words: Words, prefix: str, name: str) -> str:
    """Returns the word for a split, crop status or the like; no name is that of no split."""
    if not name:
        return words.say("none_split")
    # Kinds that hold a number share their words, with a place for it.
    number = re.search(r"\d+", name)
    if number and (pattern := words.get(prefix + re.sub(r"\d+", "…", name), "")):
        return pattern.format(number=number[0])
    return words.get(prefix + name, name)


def reason_name(words: Words, kind: str) -> str:
    """Returns the words for a kind of refusal, as ``report_numbers.reason_kind`` gives it."""
    fault, _, form = kind.partition(" ")
    pattern = words.get(f"reason_{fault} …", "") if form.isupper() else ""
    return pattern.format(format=form) if pattern else words.get(f"reason_{kind}", kind)


def number_cell(number: str, bad: bool = False) -> Element:
    """Returns a cell with a number in it."""
    return element("td", number, class_="n bad" if bad else "n")


def row(first: Iterable[Child], *cells: Element) -> Element:
    """Returns a row of a table under its name."""
    return element("tr", element("th", *first, scope="row"), *cells)


def table(rows: Iterable[Element], *heads: Element) -> Element:
    """Returns a table that scrolls sideways where it is too wide."""
    head = element("thead", element("tr", *heads)) if heads else None
    return element("div", element("table", head, element("tbody", *rows)), class_="scroll")


def number_heads(*names: str) -> tuple[Element, ...]:
    """Returns the heads of columns of numbers."""
    return tuple(element("th", name, class_="n") for name in names)


def tally_table(
    page: Page,
    head: str,
    tally: Tally,
    name_of: Callable[[str], str],
    coloured: bool = False,
) -> Element:
    """Returns a table of kinds with their numbers, shares and bars.

    Args:
        page: What all sections draw on.
        head: Of the column of names.
        tally: Kinds and their numbers.
        name_of: Gives the words for a kind.
        coloured: Whether a bar has the colour of its kind.
    """
    parts = shares(tally)
    most = max((number for _, number in tally), default=0)
    rows = (
        row(
            (name_of(name),),
            number_cell(thousands(number)),
            number_cell(f"{parts[name]:.1%}"),
            element("td", bar(number, most, name if coloured else "plain"), class_="b"),
        )
        for name, number in tally
    )
    say = page.words.say
    return table(
        rows, element("th", head), *number_heads(say("files"), say("share")), element("th")
    )


def counts_table(
    page: Page, head: str, named: Iterable[tuple[Iterable[Child], Count]], top: int
) -> Element:
    """Returns a table of classes or categories: found, rejected, each split, a bar.

    Args:
        page: What all sections draw on.
        head: Of the column of names.
        named: What stands in front of each row, and its numbers.
        top: The number of files whose bar is as long as the column is wide.
    """
    splits = [split for split, _ in page.summary.splits]
    say = page.words.say
    return table(
        (_counts_row(name, count, splits, top) for name, count in named),
        element("th", head),
        *number_heads(say("found"), say("rejected")),
        *number_heads(*(kind_name(page.words, "split_", split) for split in splits)),
        element("th", class_="wide"),
    )


def _counts_row(name: Iterable[Child], count: Count, splits: Sequence[str], top: int) -> Element:
    numbers = dict(count.splits)
    return row(
        name,
        number_cell(thousands(count.found)),
        number_cell(thousands(count.rejected), bad=count.rejected > 0),
        *(number_cell(thousands(numbers.get(split, 0))) for split in splits),
        element("td", bar(count.found, top), class_="b wide"),
    )


def gallery(page: Page, shown: Iterable[Picture]) -> Element:
    """Returns pictures side by side with their class and id under them."""
    return element("div", *(_figure(page, picture) for picture in shown), class_="pictures")


def _figure(page: Page, picture: Picture) -> Element:
    frame: Child = page.words.say("no_picture")
    if picture.uri:
        frame = element(
            "img", src=picture.uri, alt=picture.id, width=picture.width, height=picture.height
        )
    caption = (element("b", *food(page, picture.label)), picture.id)
    return element("figure", element("div", frame, class_="frame"), element("figcaption", *caption))

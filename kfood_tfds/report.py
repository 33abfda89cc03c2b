"""Writes ``report.html``: what is in an archive, as one file that needs nothing beside it."""

from __future__ import annotations

import base64
import functools
import io
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from etils import epath
from PIL import Image

from kfood_tfds import drawing, report_findings, report_sections, report_text
from kfood_tfds.html_tree import Element, Raw, document, element
from kfood_tfds.raw.classes import ClassTable
from kfood_tfds.raw.manifest import ManifestRow
from kfood_tfds.raw.messages import Message, in_language
from kfood_tfds.report_findings import Shown
from kfood_tfds.report_likeness import CutPair, Method
from kfood_tfds.report_numbers import Group, Summary
from kfood_tfds.report_parts import Page, Picture
from kfood_tfds.words import Words, language

ReadPicture = Callable[[str], Image.Image | bytes | None]

_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
_BOXED = ("annotated", "clipped")
_JPEG_QUALITIES = (75, 50, 25)


@dataclass(frozen=True, slots=True)
class Limits:
    """What bounds the size of a report; what is left out is said there.

    Attributes:
        groups: Groups shown.
        conflicts: Groups under several labels shown.
        cuts: Pairs shown where a chain of look-alikes was cut.
        per_group: Pictures of one group.
        per_flag: Pictures of one flag.
        notes: Notes on the archive, and likewise on crop rows.
        side: Longer side of a picture, pixels.
        picture_bytes: Size of a picture's JPEG; a picture that stays larger is left out.
    """

    groups: int = 40
    conflicts: int = 40
    cuts: int = 20
    per_group: int = 8
    per_flag: int = 24
    notes: int = 200
    side: int = 160
    picture_bytes: int = 12_000


@dataclass(frozen=True, slots=True)
class ReportSource:
    """What a report says beside the manifest's numbers.

    Attributes:
        name: The archive's path or another name for it.
        read_picture: Gives the picture of an id, upright, as an image of Pillow or encoded; None
            where there is none. None in its place makes a report without pictures.
        notes: What the archive's reader has to say, one line each.
        cut_pairs: Look-alikes in different groups, as ``report_likeness.cut_pairs`` sorts them.
        method: How well look-alikes are found; None says nothing about it.
    """

    name: str
    read_picture: ReadPicture | None = None
    notes: tuple[Message | str, ...] = ()
    cut_pairs: tuple[CutPair, ...] = ()
    method: Method | None = None


@dataclass(frozen=True, slots=True)
class _Choice:
    """The rows whose pictures are shown."""

    conflicts: tuple[tuple[Group, Sequence[ManifestRow]], ...]
    groups: tuple[tuple[Group, Sequence[ManifestRow]], ...]
    cuts: tuple[tuple[CutPair, Sequence[ManifestRow]], ...]
    flags: tuple[tuple[str, int, Sequence[ManifestRow]], ...]

    def rows(self) -> list[ManifestRow]:
        """Each row once, by id: roughly the order in which they lie in the archive."""
        shown = [rows for _, rows in (*self.conflicts, *self.groups, *self.cuts)]
        shown += [rows for _, _, rows in self.flags]
        by_id = {row.id: row for rows in shown for row in rows}
        return [by_id[row_id] for row_id in sorted(by_id)]


def write_report(
    path: str | os.PathLike[str],
    summary: Summary,
    table: ClassTable,
    source: ReportSource,
    *,
    lang: str | None = None,
    limits: Limits | None = None,
    progress: Callable[..., Any] | None = None,
) -> None:
    """Writes the report to any path that ``etils.epath`` opens; see ``render_report``."""
    html = render_report(summary, table, source, lang=lang, limits=limits, progress=progress)
    epath.Path(path).write_text(html, encoding="utf-8")


def render_report(
    summary: Summary,
    table: ClassTable,
    source: ReportSource,
    *,
    lang: str | None = None,
    limits: Limits | None = None,
    progress: Callable[..., Any] | None = None,
) -> str:
    """Returns the report as HTML with styles, charts and pictures inside it and no scripts.

    The same input gives the same text: there is no date and nothing drawn at random in it.

    Args:
        summary: The numbers, from ``report_numbers.summarize``.
        table: The classes.
        source: Name, pictures and notes of the archive.
        lang: ``"ko"``, ``"en"`` or None for the locale's.
        limits: What bounds the size; None for the defaults.
        progress: A progress bar over an iterable with tqdm's signature; None for none.

    Raises:
        ValueError: If there is no such language.
    """
    limits = Limits() if limits is None else limits
    words = Words(language(lang), report_text.TEXTS)
    page = Page(words, summary, table.classes)
    bar_over = progress and functools.partial(progress, desc=words.say("drawing"), unit="")
    choice = _choose(summary, source.cut_pairs, limits)
    sections = _sections(page, source, _make_pictures(choice, source, limits, bar_over), limits)
    return document(element("html", _head(words), _body(words, source, sections), lang=words.lang))


def _head(words: Words) -> Element:
    css = (resources.files("kfood_tfds") / "templates" / "report.css").read_text("utf-8")
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("title", words.say("title")),
        element("style", Raw(css)),
    )


def _body(words: Words, source: ReportSource, sections: Sequence[Element]) -> Element:
    names = [value for part in sections for name, value in part.attributes if name == "id"]
    links = (element("li", element("a", words.say(name), href=f"#{name}")) for name in names)
    header = element(
        "header",
        element("h1", words.say("title")),
        element("p", words.say("lead"), class_="lead"),
        element("p", f"{words.say('source')}: {source.name}", class_="source"),
        element("nav", element("ul", *links), aria_label=words.say("contents")),
    )
    return element(
        "body", header, element("main", *sections), element("footer", words.say("footer"))
    )


def _sections(page: Page, source: ReportSource, shown: Shown, limits: Limits) -> list[Element]:
    crop_notes = (f"{row.id}: {row.crop_note}" for row in page.summary.side_files if row.crop_note)
    notes = (*(str(in_language(note, page.words.lang)) for note in source.notes), *crop_notes)
    sections = (
        report_sections.numbers(page),
        report_sections.expected(page),
        report_sections.counts(page),
        report_sections.classes(page),
        report_sections.categories(page),
        report_sections.formats(page),
        report_sections.splits(page),
        report_sections.crops(page, limits.notes),
        report_findings.rejections(page),
        report_findings.conflicts(page, shown),
        report_findings.groups(page, shown, source.cut_pairs),
        report_findings.flags(page, shown),
        report_findings.notes(page, notes, limits.notes),
        report_findings.method(page, source.method),
    )
    return [section for section in sections if section is not None]


def _choose(summary: Summary, cuts: Sequence[CutPair], limits: Limits) -> _Choice:
    return _Choice(
        conflicts=tuple(
            (group, _one_per_label_first(group)[: limits.per_group])
            for group in summary.conflicts[: limits.conflicts]
        ),
        groups=tuple(
            (group, group.rows[: limits.per_group]) for group in summary.groups[: limits.groups]
        ),
        cuts=tuple((pair, pair.rows) for pair in cuts[: limits.cuts]),
        flags=tuple(
            (flag, len(rows), _spread(rows, limits.per_flag)) for flag, rows in summary.flags
        ),
    )


def _make_pictures(
    choice: _Choice,
    source: ReportSource,
    limits: Limits,
    progress: Callable[..., Any] | None,
) -> Shown:
    rows: Iterable[ManifestRow] = choice.rows()
    if progress is not None:
        rows = progress(rows)
    made = {row.id: _make_picture(row, source.read_picture, limits) for row in rows}

    def show(rows: Iterable[ManifestRow]) -> tuple[Picture, ...]:
        return tuple(made[row.id] for row in rows)

    return Shown(
        conflicts=tuple((group, show(rows)) for group, rows in choice.conflicts),
        groups=tuple((group, show(rows)) for group, rows in choice.groups),
        cuts=tuple((pair, show(rows)) for pair, rows in choice.cuts),
        flags=tuple((flag, number, show(rows)) for flag, number, rows in choice.flags),
    )


def _one_per_label_first(group: Group) -> list[ManifestRow]:
    """Puts one image of each label in front, so that no label is cut off."""
    first = {row.label: row.id for row in reversed(group.rows)}
    return sorted(group.rows, key=lambda row: (first[row.label] != row.id, row.id))


def _spread(rows: Sequence[ManifestRow], number: int) -> list[ManifestRow]:
    """Takes rows at even distances, so that they come from many classes."""
    if len(rows) <= number:
        return list(rows)
    return [rows[position * len(rows) // number] for position in range(number)]


def _make_picture(row: ManifestRow, read: ReadPicture | None, limits: Limits) -> Picture:
    picture = _open(read(row.id)) if read is not None else None
    if picture is None:
        return Picture(row.id, row.label, "", 0, 0)
    picture = picture.convert("RGB")
    picture.thumbnail((limits.side, limits.side))
    if row.box is not None and row.crop_status in _BOXED and row.width and row.height:
        box = row.box
        fractions = (box.ymin / row.height, box.xmin / row.width)
        ends = (box.ymax / row.height, box.xmax / row.width)
        drawing.draw_box(picture, (*fractions, *ends), width=2)
    uri = _data_uri(picture, limits.picture_bytes)
    return Picture(row.id, row.label, uri, picture.width, picture.height)


def _open(found: Image.Image | bytes | None) -> Image.Image | None:
    if not isinstance(found, bytes):
        return found
    try:
        picture = Image.open(io.BytesIO(found))
        picture.load()
    except (OSError, ValueError, Image.DecompressionBombError):
        return None  # A rejected file may well be unreadable; its reason stands in the list.
    return picture


def _data_uri(picture: Image.Image, most_bytes: int) -> str:
    for quality in _JPEG_QUALITIES:
        encoded = io.BytesIO()
        picture.save(encoded, "JPEG", quality=quality, optimize=True)
        if encoded.tell() <= most_bytes:
            return "data:image/jpeg;base64," + base64.b64encode(encoded.getvalue()).decode()
    return ""

"""Writes ``report.html``: what is in an archive, as one file that needs nothing beside it."""

from __future__ import annotations

import base64
import functools
import io
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import jinja2
from etils import epath
from PIL import Image

from kfood_tfds import drawing, report_charts, report_text
from kfood_tfds.raw.classes import ClassTable, FoodClass
from kfood_tfds.raw.manifest import ManifestRow
from kfood_tfds.report_likeness import CutPair, Method
from kfood_tfds.report_numbers import (
    EXPECTED_IMAGES,
    LARGEST_CLASS,
    SMALLEST_CLASS,
    Group,
    Summary,
    reason_kind,
    shares,
)
from kfood_tfds.words import Words, grouped, language

ReadPicture = Callable[[str], Image.Image | bytes | None]

_SECTIONS = (
    "numbers",
    "expected",
    "counts",
    "classes",
    "categories",
    "formats",
    "splits",
    "crops",
    "rejections",
    "conflicts",
    "groups",
    "flags",
)
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
    notes: tuple[str, ...] = ()
    cut_pairs: tuple[CutPair, ...] = ()
    method: Method | None = None


@dataclass(frozen=True, slots=True)
class _Picture:
    id: str
    label: int | None
    uri: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class _FoodName:
    name: str
    gloss: str


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
    bar_over = progress and functools.partial(progress, desc=words.say("drawing"), unit="")
    notes = source.notes + tuple(
        f"{row.id}: {row.crop_note}" for row in summary.side_files if row.crop_note
    )
    return _template().render(
        words=words,
        summary=summary,
        shares=shares,
        bar=report_charts.bar,
        source=source.name,
        method=source.method,
        cut_pairs=source.cut_pairs,
        notes=notes[: limits.notes],
        notes_left_out=max(len(notes) - limits.notes, 0),
        sections=_sections(source, notes),
        crop_notes=summary.crop_notes[: limits.notes],
        expected={
            "images": EXPECTED_IMAGES,
            "smallest": SMALLEST_CLASS,
            "largest": LARGEST_CLASS,
        },
        reason_name=functools.partial(_reason_name, words),
        named_reasons=[(_reason_name(words, kind), number) for kind, number in summary.reasons],
        names={food.label: _food_name(food, words) for food in table.classes},
        rejections=[
            (kind, [row for row in summary.rejected if reason_kind(row.reason) == kind])
            for kind, _ in summary.reasons
        ],
        **_class_views(summary, words),
        **_picture_views(_choose(summary, source.cut_pairs, limits), source, limits, bar_over),
    )


def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("kfood_tfds"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
    )
    environment.filters["thousands"] = grouped
    return environment.get_template("report.html")


def _sections(source: ReportSource, notes: tuple[str, ...]) -> tuple[str, ...]:
    return _SECTIONS + (("notes",) if notes else ()) + (("method",) if source.method else ())


def _food_name(food: FoodClass, words: Words) -> _FoodName:
    return _FoodName(food.name, food.english if words.lang == "en" else "")


def _reason_name(words: Words, kind: str) -> str:
    fault, _, form = kind.partition(" ")
    pattern = words.get(f"reason_{fault} …", "") if form.isupper() else ""
    return pattern.format(format=form) if pattern else words.get(f"reason_{kind}", kind)


def _class_views(summary: Summary, words: Words) -> dict[str, object]:
    known = [count for count in summary.classes if count.label is not None]
    accepted = [count.accepted for count in known] or [0]
    top = report_charts.round_up(max((count.found for count in summary.classes), default=0))
    chart_label = words.say("classes_chart", number=len(known))
    return {
        "present": f"{sum(count.found > 0 for count in known)} / {len(known)}",
        "top_class": top,
        "top_category": max((count.found for count in summary.categories), default=0),
        "class_range": {
            "smallest": min(accepted),
            "mean": round(fmean(accepted)),
            "largest": max(accepted),
        },
        "first_code": f"{known[0].label:03d} {known[0].name}" if known else "",
        "last_code": f"{known[-1].label:03d} {known[-1].name}" if known else "",
        "chart": report_charts.columns(known, top, chart_label),
        "split_chart": report_charts.stacked(summary.splits, words.say("splits")),
        "crop_chart": report_charts.stacked(summary.crop_statuses, words.say("crops")),
        "by_category": [
            (category, [count for count in summary.classes if count.category == category.name])
            for category in summary.categories
            if category.found
        ],
    }


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


def _picture_views(
    choice: _Choice,
    source: ReportSource,
    limits: Limits,
    progress: Callable[..., Any] | None,
) -> dict[str, object]:
    rows: Iterable[ManifestRow] = choice.rows()
    if progress is not None:
        rows = progress(rows)
    made = {row.id: _make_picture(row, source.read_picture, limits) for row in rows}

    def show(rows: Iterable[ManifestRow]) -> list[_Picture]:
        return [made[row.id] for row in rows]

    return {
        "conflicts": [(group, show(rows)) for group, rows in choice.conflicts],
        "groups": [(group, show(rows)) for group, rows in choice.groups],
        "cuts": [(pair, show(rows)) for pair, rows in choice.cuts],
        "flags": [(flag, number, show(rows)) for flag, number, rows in choice.flags],
    }


def _one_per_label_first(group: Group) -> list[ManifestRow]:
    """Puts one image of each label in front, so that no label is cut off."""
    first = {row.label: row.id for row in reversed(group.rows)}
    return sorted(group.rows, key=lambda row: (first[row.label] != row.id, row.id))


def _spread(rows: Sequence[ManifestRow], number: int) -> list[ManifestRow]:
    """Takes rows at even distances, so that they come from many classes."""
    if len(rows) <= number:
        return list(rows)
    return [rows[position * len(rows) // number] for position in range(number)]


def _make_picture(row: ManifestRow, read: ReadPicture | None, limits: Limits) -> _Picture:
    picture = _open(read(row.id)) if read is not None else None
    if picture is None:
        return _Picture(row.id, row.label, "", 0, 0)
    picture = picture.convert("RGB")
    picture.thumbnail((limits.side, limits.side))
    if row.box is not None and row.crop_status in _BOXED and row.width and row.height:
        box = row.box
        fractions = (box.ymin / row.height, box.xmin / row.width)
        ends = (box.ymax / row.height, box.xmax / row.width)
        drawing.draw_box(picture, (*fractions, *ends), width=2)
    uri = _data_uri(picture, limits.picture_bytes)
    return _Picture(row.id, row.label, uri, picture.width, picture.height)


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

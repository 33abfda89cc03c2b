"""The sections of the report that list files and show pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kfood_tfds.html_tree import Child, Element, element
from kfood_tfds.raw.manifest import ManifestRow
from kfood_tfds.report_likeness import CutPair, Method
from kfood_tfds.report_numbers import Group, reason_kind
from kfood_tfds.report_parts import (
    Page,
    Picture,
    faint,
    gallery,
    gloss,
    number_cell,
    number_heads,
    reason_name,
    row,
    section,
    table,
    thousands,
)

# Longer lists are folded.
_OPEN_LIST = 30


@dataclass(frozen=True, slots=True)
class Shown:
    """The pictures of the page, by what they show.

    Attributes:
        conflicts: Groups under several labels.
        groups: Groups.
        cuts: Pairs at which a chain of look-alikes was cut.
        flags: Flags and how many images carry each.
    """

    conflicts: tuple[tuple[Group, tuple[Picture, ...]], ...]
    groups: tuple[tuple[Group, tuple[Picture, ...]], ...]
    cuts: tuple[tuple[CutPair, tuple[Picture, ...]], ...]
    flags: tuple[tuple[str, int, tuple[Picture, ...]], ...]


def rejections(page: Page) -> Element:
    """Returns every refused file with its reason."""
    kinds = [kind for kind, _ in page.summary.reasons]
    by_kind: dict[str, list[ManifestRow]] = {kind: [] for kind in kinds}
    for refused in page.summary.rejected:
        by_kind[reason_kind(refused.reason)].append(refused)
    lists = (_rejection_list(page, kind, rows) for kind, rows in by_kind.items())
    return section(page, "rejections", _lead(page, "rejections_lead", bool(kinds)), *lists)


def _lead(page: Page, name: str, any_found: bool) -> Element:
    return element("p", page.words.say(name if any_found else "nothing"))


def _rejection_list(page: Page, kind: str, rows: Sequence[ManifestRow]) -> Element:
    heading = element("summary", f"{reason_name(page.words, kind)} ", gloss(thousands(len(rows))))
    items = (element("li", refused.id, _detail(refused.reason, kind)) for refused in rows)
    listed = element("ul", *items, class_="list")
    return element("details", heading, listed, open=len(rows) <= _OPEN_LIST)


def _detail(reason: str, kind: str) -> Element | None:
    if reason == kind:
        return None
    return element("span", reason[len(kind) :].strip().removeprefix(":").strip())


def conflicts(page: Page, shown: Shown) -> Element:
    """Returns the groups of look-alikes that carry several labels."""
    say = page.words.say
    parts: list[Child] = []
    for group, pictures in shown.conflicts:
        which = say("conflicts_exact" if group.identical else "conflicts_near")
        heading = f"{which} · {say('groups_images', number=len(group.rows))}"
        parts += [element("h3", heading), *_group_pictures(page, group, pictures)]
    return section(
        page,
        "conflicts",
        _lead(page, "conflicts_lead", bool(page.summary.conflicts)),
        *parts,
        _how_many(page, "groups_shown", len(shown.conflicts), len(page.summary.conflicts)),
    )


def _group_pictures(page: Page, group: Group, pictures: Sequence[Picture]) -> tuple[Child, ...]:
    left_out = len(group.rows) - len(pictures)
    more = faint(page.words.say("more", number=left_out)) if left_out else None
    return (gallery(page, pictures), more)


def _how_many(page: Page, name: str, shown: int, number: int) -> Element | None:
    """Returns how many of all are shown, unless all are."""
    return faint(page.words.say(name, shown=shown, number=number)) if shown < number else None


def groups(page: Page, shown: Shown, cut_pairs: Sequence[CutPair]) -> Element:
    """Returns the groups of look-alikes, then the pairs at which a chain was cut."""
    say = page.words.say
    parts: list[Child] = []
    for place, (group, pictures) in enumerate(shown.groups, start=1):
        said = [say("groups_group", number=place), say("groups_images", number=len(group.rows))]
        said += [say("groups_identical")] if group.identical else []
        parts.append(element("h3", " · ".join(said), title=f"group {group.number}"))
        parts += _group_pictures(page, group, pictures)
    return section(
        page,
        "groups",
        _lead(page, "groups_lead", bool(page.summary.groups)),
        *parts,
        _how_many(page, "groups_shown", len(shown.groups), len(page.summary.groups)),
        *(_cuts(page, shown, cut_pairs) if cut_pairs else ()),
    )


def _cuts(page: Page, shown: Shown, cut_pairs: Sequence[CutPair]) -> list[Child]:
    say = page.words.say
    parted = sum(pair.parted for pair in cut_pairs)
    parts: list[Child] = [
        element("h3", f"{say('cuts')} · {thousands(len(cut_pairs))}"),
        element("p", say("cuts_lead", parted=parted)),
    ]
    for pair, pictures in shown.cuts:
        likeness = say("cuts_likeness", likeness=f"{pair.similarity:.2f}")
        parts.append(faint(f"{likeness} · {say('cuts_parted')}" if pair.parted else likeness))
        parts.append(gallery(page, pictures))
    return [*parts, _how_many(page, "cuts_shown", len(shown.cuts), len(cut_pairs))]


def flags(page: Page, shown: Shown) -> Element:
    """Returns pictures of each flag."""
    words = page.words
    parts: list[Child] = []
    for flag, number, pictures in shown.flags:
        heading = f"{words.get(f'flag_{flag}', flag)} · {thousands(number)} "
        parts.append(element("h3", heading, gloss(flag)))
        parts.append(gallery(page, pictures))
        parts.append(_how_many(page, "flags_shown", len(pictures), number))
    return section(page, "flags", _lead(page, "flags_lead", bool(shown.flags)), *parts)


def notes(page: Page, lines: Sequence[str], limit: int) -> Element | None:
    """Returns what the archive's reader has to say, up to ``limit`` lines of it."""
    if not lines:
        return None
    left_out = len(lines) - limit
    return section(
        page,
        "notes",
        element("ul", *(element("li", line) for line in lines[:limit]), class_="list"),
        faint(page.words.say("notes_left_out", number=left_out)) if left_out > 0 else None,
    )


def method(page: Page, measured: Method | None) -> Element | None:
    """Returns how well look-alikes are found."""
    if measured is None:
        return None
    words, say = page.words, page.words.say
    rows = (
        row(
            (words.get(f"copy_{recall.kind}", recall.kind),),
            *(number_cell(f"{part:.1%}") for part in (recall.pair, recall.group, recall.block)),
        )
        for recall in measured.recalls
    )
    heads = number_heads(*(say(f"method_{name}") for name in ("pair", "group", "block")))
    return section(
        page,
        "method",
        element("p", say("method_lead", threshold=measured.threshold, images=measured.images)),
        table(rows, element("th", say("method_kind")), *heads),
        element("p", say("method_false", number=f"{measured.false_per_million:.2f}")),
    )

"""The sections of the report that are numbers, tables and charts."""

from __future__ import annotations

from statistics import fmean

from kfood_tfds import report_charts
from kfood_tfds.html_tree import Child, Element, element
from kfood_tfds.report_numbers import (
    EXPECTED_IMAGES,
    LARGEST_CLASS,
    SMALLEST_CLASS,
    Check,
    Count,
    Tally,
)
from kfood_tfds.report_parts import (
    Page,
    bad_if,
    counts_table,
    faint,
    food,
    gloss,
    kind_name,
    number_cell,
    number_heads,
    reason_name,
    row,
    section,
    table,
    tally_table,
    thousands,
    tiles,
)
from kfood_tfds.words import Words

# A sum of more parts than this is told without its parts.
_MOST_PARTS = 12
_COUNTS_IN_CIRCULATION = (150_610, 150_507, 150_087, 142_642)


def numbers(page: Page) -> Element:
    """Returns the totals, and whether they add up."""
    words, summary = page.words, page.summary
    say = words.say
    known = _known(page)
    present = f"{sum(count.found > 0 for count in known)} / {len(known)}"
    rejected, conflicts = len(summary.rejected), len(summary.conflicts)
    reasons: tuple[Child, ...] = ()
    if summary.reasons:
        named = tally_table(
            page, say("reason"), summary.reasons, lambda kind: reason_name(words, kind)
        )
        reasons = (element("h3", say("rejected")), named)
    return section(
        page,
        "numbers",
        tiles(
            (say("numbers_found"), thousands(summary.found), False),
            (say("accepted"), thousands(summary.accepted), False),
            (say("rejected"), thousands(rejected), rejected > 0),
            (say("numbers_classes"), present, False),
            (say("numbers_groups"), thousands(len(summary.groups)), False),
            (say("numbers_conflicts"), thousands(conflicts), conflicts > 0),
        ),
        element("ul", *(_check(words, check) for check in summary.checks), class_="checks"),
        faint(say("numbers_side_files", number=len(summary.side_files))),
        *reasons,
    )


def _check(words: Words, check: Check) -> Element:
    shown = thousands(check.whole)
    numbers = [number for _, number in check.parts]
    if len(numbers) > _MOST_PARTS:
        numbers = [sum(numbers)]
    if len(numbers) > 1 or not check.holds:
        sign = " = " if check.holds else " \N{NOT EQUAL TO} "
        shown += sign + " + ".join(map(thousands, numbers))
    verdict = words.say("check_ok" if check.holds else "check_bad")
    return element(
        "li",
        f"{words.say(f'check_{check.name}')}: {shown} ({verdict})",
        class_=bad_if(not check.holds),
        data_check=check.name,
    )


def expected(page: Page) -> Element:
    """Returns what the whole archive is known to hold beside what was found."""
    say, found = page.words.say, page.summary.found
    number = found - EXPECTED_IMAGES
    difference = f"{number:+,}".replace("-", "\N{MINUS SIGN}") if number else "0"
    lead = say(
        "expected_lead", expected=EXPECTED_IMAGES, smallest=SMALLEST_CLASS, largest=LARGEST_CLASS
    )
    return section(
        page,
        "expected",
        element("p", lead),
        tiles(
            (say("expected_images"), thousands(EXPECTED_IMAGES), False),
            (say("expected_found"), thousands(found), False),
            (say("expected_difference"), difference, False),
        ),
        _short_classes(page),
    )


def _short_classes(page: Page) -> Element:
    say, short = page.words.say, page.summary.short
    if not short:
        return element("p", say("expected_none_short", smallest=SMALLEST_CLASS))
    rows = (
        row(
            food(page, count.label),
            number_cell(thousands(count.found)),
            number_cell(thousands(SMALLEST_CLASS - count.found), bad=True),
        )
        for count in short
    )
    heads = number_heads(say("found"), say("expected_lacks"))
    return element(
        "details",
        element("summary", say("expected_short", smallest=SMALLEST_CLASS, number=len(short))),
        table(rows, element("th", say("class")), *heads),
    )


def counts(page: Page) -> Element:
    """Returns the totals in circulation, and this source counted in the same ways."""
    say, summary = page.words.say, page.summary
    explained: list[Element] = []
    for number in _COUNTS_IN_CIRCULATION:
        explained += element("dt", thousands(number)), element("dd", say(f"counts_{number}"))
    here = (
        ("found", summary.found),
        ("jpg", summary.plain_jpg),
        ("accepted", summary.accepted),
        ("unique", summary.unique),
        ("distinct", summary.distinct),
    )
    return section(
        page,
        "counts",
        element("p", say("counts_lead")),
        element("dl", *explained, class_="counts"),
        element("h3", say("counts_here")),
        table(
            row((say(f"counts_here_{name}"),), number_cell(thousands(number)))
            for name, number in here
        ),
    )


def classes(page: Page) -> Element:
    """Returns the chart of all classes, and their numbers one by one."""
    say, summary, known = page.words.say, page.summary, _known(page)
    top = report_charts.round_up(max((count.found for count in summary.classes), default=0))
    accepted = [count.accepted for count in known] or [0]
    spread = say(
        "classes_range",
        smallest=min(accepted),
        mean=round(fmean(accepted)),
        largest=max(accepted),
    )
    ends = (_code(known[0]), _code(known[-1])) if known else ("", "")
    return section(
        page,
        "classes",
        element("p", f"{say('classes_lead', top=top)} {spread}"),
        report_charts.columns(known, top, say("classes_chart", number=len(known))),
        element("div", *(element("span", end) for end in ends), class_="axis"),
        _key(
            *((split, kind_name(page.words, "split_", split)) for split, _ in summary.splits),
            ("rejected", say("rejected")),
        ),
        _each_class(page, top),
    )


def _known(page: Page) -> list[Count]:
    return [count for count in page.summary.classes if count.label is not None]


def _code(count: Count) -> str:
    return f"{count.label:03d} {count.name}"


def _key(*kinds: tuple[str, str]) -> Element:
    """Returns what the colours of a chart mean: kinds (CSS classes) and their words."""
    items = (element("li", text, class_=f"k-{kind or 'none'}") for kind, text in kinds)
    return element("ul", *items, class_="key")


def _each_class(page: Page, top: int) -> Element:
    say, summary = page.words.say, page.summary
    parts: list[Element] = []
    for category in summary.categories:
        if category.found:
            name = category.name or say("outside")
            parts.append(element("h3", f"{name} ", gloss(thousands(category.found))))
            rows = (
                (food(page, count.label), count)
                for count in summary.classes
                if count.category == category.name
            )
            parts.append(counts_table(page, say("class"), rows, top))
    return element("details", element("summary", say("classes_each")), *parts)


def categories(page: Page) -> Element:
    """Returns the numbers of the categories."""
    say, found = page.words.say, page.summary.categories
    top = max((count.found for count in found), default=0)
    rows = (((count.name or say("outside"),), count) for count in found)
    return section(page, "categories", counts_table(page, say("category"), rows, top))


def formats(page: Page) -> Element:
    """Returns the formats of the files by content."""
    words, tally = page.words, page.summary.formats

    def name_of(name: str) -> str:
        return words.get(f"format_{name}", name) if name else words.say("unknown_format")

    return section(page, "formats", tally_table(page, words.say("format"), tally, name_of))


def splits(page: Page) -> Element:
    """Returns the sizes of the splits, and why images are in none."""
    say, summary = page.words.say, page.summary
    left_out: tuple[Child, ...] = ()
    if summary.left_out:
        reasons = _kinds_table(page, say("reason"), summary.left_out, "left_out_")
        left_out = (element("h3", say("none_split")), reasons)
    return section(
        page,
        "splits",
        report_charts.stacked(summary.splits, say("splits")),
        _kinds_table(page, say("split"), summary.splits, "split_", coloured=True),
        *left_out,
    )


def _kinds_table(
    page: Page, head: str, tally: Tally, prefix: str, coloured: bool = False
) -> Element:
    return tally_table(
        page, head, tally, lambda name: kind_name(page.words, prefix, name), coloured
    )


def crops(page: Page, limit: int) -> Element:
    """Returns how the crop rows could be read, with up to ``limit`` odd ones."""
    say, statuses = page.words.say, page.summary.crop_statuses
    named = (
        (status, f"{_crop_status(page, status)}: {thousands(number)}")
        for status, number in statuses
    )
    return section(
        page,
        "crops",
        element("p", say("crops_lead")),
        report_charts.stacked(statuses, say("crops")),
        _key(*named),
        _crop_notes(page, limit),
    )


def _crop_status(page: Page, status: str) -> str:
    return page.words.get(f"crop_{status}", status)


def _crop_notes(page: Page, limit: int) -> Element | None:
    say, rows = page.words.say, page.summary.crop_notes
    shown = rows[:limit]
    if not rows:
        return None
    items = (
        element(
            "li",
            row.id,
            element("span", f"{_crop_status(page, row.crop_status)}; {row.crop_note}"),
        )
        for row in shown
    )
    heading = element("summary", f"{say('crops_notes')} ", gloss(thousands(len(rows))))
    note = None
    if len(shown) < len(rows):
        note = faint(say("crops_notes_shown", shown=len(shown), number=len(rows)))
    return element("details", heading, element("ul", *items, class_="list"), note)

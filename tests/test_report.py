"""The report as a reader gets it: parsed, and looked at in a real browser."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from reports import BOXED, EVIL, ROWS, TABLE, blue_picture, render, row

from kfood_tfds import report, report_numbers
from kfood_tfds.drawing import BOX_LINE
from kfood_tfds.raw.classes import load_class_table
from kfood_tfds.raw.manifest import ManifestRow
from kfood_tfds.report_likeness import CutPair

VOID = {"meta", "img", "br", "rect"}


class Page(HTMLParser):
    """Collects what the tests ask for, and whether the tags close in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.open: list[str] = []
        self.crossed: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.crossed.append(tag)

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture
def page() -> Page:
    return Page(render())


def pictures(page: Page) -> list[tuple[str, Image.Image]]:
    found = []
    for attributes in page.all("img"):
        kind, _, data = str(attributes["src"]).partition(",")
        assert kind == "data:image/jpeg;base64"
        found.append((str(attributes["alt"]), Image.open(io.BytesIO(base64.b64decode(data)))))
    return found


def test_tags_close_in_order(page: Page) -> None:
    assert (page.open, page.crossed) == ([], [])


def test_nothing_lies_outside_the_file(page: Page) -> None:
    html = render()
    assert not page.all("script") and not page.all("link") and not page.all("iframe")
    assert "default-src 'none'" in html
    for _, attributes in page.tags:
        for name in {"src", "href", "srcset", "data", "poster"} & set(attributes):
            assert str(attributes[name]).startswith(("data:image/jpeg;base64,", "#"))
    assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org)", html)


def test_names_are_escaped_everywhere(page: Page) -> None:
    html = render()
    assert EVIL not in html
    assert page.text.count(EVIL) == 3  # Once as the source, then as an id and in its reason.
    assert "<무국>" in page.text and "국 & 탕" in page.text
    assert all("onerror" not in attributes for attributes in page.all("img"))


def test_totals_are_on_the_page(page: Page) -> None:
    text = re.sub(r"\s+", " ", page.text)
    assert "Images found = accepted + rejected: 7 = 5 + 2 (adds up)" in text
    assert "All files = images + side files: 8 = 7 + 1 (adds up)" in text
    assert "does not add up" not in text
    assert "\N{MINUS SIGN}150,500" in text  # 7 found of 150,507.


def test_what_does_not_add_up_is_said() -> None:
    text = Page(render((*ROWS, ManifestRow("x", "maybe")))).text
    assert "does not add up" in text


def test_every_rejected_file_is_listed_with_its_reason() -> None:
    rows = tuple(
        ManifestRow(f"국/{n:05}.jpg", "rejected", f"too large: {n} px") for n in range(500)
    )
    text = Page(render(rows)).text
    assert all(f"국/{n:05}.jpg{n} px" in text for n in range(500))


def test_sections_are_linked_from_the_top(page: Page) -> None:
    targets = [str(attributes["href"])[1:] for attributes in page.all("a")]
    ids = [attributes.get("id") for attributes in page.all("section")]
    assert targets == ids
    assert {"conflicts", "groups", "flags", "rejections", "notes", "method"} < set(targets)


def test_pictures_of_conflicts_groups_and_flags_are_shown(page: Page) -> None:
    shown = [name for name, _ in pictures(page)]
    a, b = "구이/갈비구이/a.jpg", "국 & 탕/<무국>/b.jpg"
    conflict, groups = [a, b], [a, b, "국 & 탕/<무국>/c.jpg", "국 & 탕/<무국>/d.jpg"]
    assert shown == [*conflict, *groups, BOXED.id]


def test_pictures_are_small_and_carry_their_box(page: Page) -> None:
    by_name = dict(pictures(page))
    boxed = np.asarray(by_name[BOXED.id].convert("RGB")).astype(int)
    assert boxed.shape == (120, 160, 3)
    orange = np.abs(boxed - BOX_LINE).sum(-1) < 120
    rows, columns = np.nonzero(orange)
    # The box is 60..240 of 300 down and 40..360 of 400 across; JPEG blurs a pixel.
    assert abs(rows.min() - 24) <= 1 and abs(rows.max() - 95) <= 1
    assert abs(columns.min() - 16) <= 1 and abs(columns.max() - 143) <= 1
    plain = np.asarray(by_name["구이/갈비구이/a.jpg"].convert("RGB")).astype(int)
    assert not (np.abs(plain - BOX_LINE).sum(-1) < 120).any()


def test_charts_are_drawn(page: Page) -> None:
    kinds = [attributes["class"] for attributes in page.all("svg")]
    assert kinds.count("chart columns") == 1 and kinds.count("chart stacked") == 2
    assert all(chart.get("role") or chart.get("aria-hidden") for chart in page.all("svg"))


def test_the_four_counts_are_explained(page: Page) -> None:
    for number in ("150,610", "150,507", "150,087", "142,642"):
        assert number in page.text


def test_missing_images_are_listed_class_by_class() -> None:
    rows = (*(row(f"{n}.jpg", 0, n) for n in range(992)), row("a.jpg", 1, 5000))
    text = re.sub(r"\s+", " ", Page(render(rows, read_picture=None)).text)
    assert "Classes with fewer than 992 images: 1" in text
    assert "radish soup1991" in text  # Found 1, so 991 are missing at least.


def test_notes_of_archive_and_crop_tables_are_there(page: Page) -> None:
    assert "a note" in page.text and "crop_area.properties: row & row" in page.text


def test_the_measurement_of_look_alikes_is_there(page: Page) -> None:
    assert "mirrored99.0%98.0%97.0%" in page.text
    assert "different pictures: 0.12" in page.text or "different pictures: 0.13" in page.text
    assert "좌우 반전99.0%" in Page(render(lang="ko")).text


def test_cut_chains_are_reported_with_their_pictures() -> None:
    rows = tuple(row(f"{n}.jpg", 0, n) for n in range(6))
    pairs = tuple(CutPair((rows[n], rows[n + 1]), 0.95, parted=n == 0) for n in range(3))
    page = Page(render(rows, limits=report.Limits(cuts=2), cut_pairs=pairs))
    assert [name[-5] for name, _ in pictures(page)] == ["0", "1", "1", "2"]
    assert "Likeness 0.95 · may lie in two splits" in page.text
    assert "pairs that may not: 1." in page.text and "Shown: 2 of 3." in page.text


def test_words_in_crop_rows_are_kept() -> None:
    rows = tuple(row(f"{n}.jpg", 0, n, crop_note=f"dissimilar <{n}>") for n in range(3))
    page = Page(render(rows, limits=report.Limits(notes=2)))
    assert "no row: whole image; dissimilar <1>" in page.text
    assert "dissimilar <2>" not in page.text and "Shown: 2 of 3" in page.text


def test_korean_report_speaks_korean() -> None:
    page = Page(render(lang="ko"))
    assert page.all("html") == [{"lang": "ko"}]
    for words in ("전체 수치", "제외된 파일", "매우 어두움", "잘린 PNG 파일", "이미지가 아님"):
        assert words in page.text
    assert "grilled ribs" not in page.text
    assert not re.search(r"(?i)rejected|conflict|found", page.text.replace("found\n", ""))


def test_the_locale_decides_where_no_language_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LC_ALL", "ko_KR.UTF-8")
    summary = report_numbers.summarize(ROWS, TABLE)
    html = report.render_report(summary, TABLE, report.ReportSource("x"))
    assert '<html lang="ko">' in html


def test_the_same_input_gives_the_same_file() -> None:
    assert render() == render(tuple(reversed(ROWS)))


def test_a_report_without_pictures_says_so() -> None:
    page = Page(render(read_picture=None))
    assert not page.all("img")
    assert page.text.count("no picture") == 7


@pytest.mark.parametrize("found", [None, b"", b"no image", b"\xff\xd8\xff\xe0 broken"])
def test_unreadable_pictures_leave_a_gap(found: bytes | None) -> None:
    assert not Page(render(read_picture=lambda picture_id: found)).all("img")


def test_encoded_pictures_are_taken_too() -> None:
    encoded = io.BytesIO()
    blue_picture("").save(encoded, "PNG")
    page = Page(render(read_picture=lambda picture_id: encoded.getvalue()))
    assert len(pictures(page)) == 7


def test_what_is_left_out_is_said() -> None:
    limits = report.Limits(groups=1, conflicts=1, per_group=2, per_flag=3, notes=1, side=32)
    rows = (
        *(row(f"a{n}.jpg", 0, 1, flags=("dark",)) for n in range(9)),
        *(row(f"b{n}.jpg", 1, 2) for n in range(4)),
    )
    page = Page(render(rows, limits=limits))
    assert len(page.all("img")) == 2 + 3
    assert {max(picture.size) for _, picture in pictures(page)} == {32}
    assert "7 more" in page.text
    assert "Shown: 1 of 2 groups" in page.text
    assert "Shown: 3 of 9" in page.text


def test_limits_of_nothing_leave_the_numbers() -> None:
    rows = (
        *(row(f"a{n}.jpg", 0, 1, crop_note="dissimilar") for n in range(3)),
        *(row(f"b{n}.jpg", n, 2) for n in range(2)),
    )
    pairs = (CutPair((rows[0], rows[3]), 0.95, parted=True),)
    nothing = report.Limits(groups=0, conflicts=0, cuts=0, notes=0)
    page = Page(render(rows, limits=nothing, cut_pairs=pairs))
    assert not page.all("img")
    for words in ("0 of 2 groups", "0 of 1 groups", "Shown: 0 of 1.", "Shown: 0 of 3"):
        assert words in page.text


def test_a_conflict_shows_one_picture_of_each_label_first() -> None:
    rows = (*(row(f"a{n}.jpg", 0, 1) for n in range(20)), row("b.jpg", 1, 1))
    page = Page(render(rows, limits=report.Limits(per_group=2, groups=0)))
    assert [name for name, _ in pictures(page)] == ["구이/갈비구이/a0.jpg", "국 & 탕/<무국>/b.jpg"]


def test_flags_show_pictures_from_the_whole_archive() -> None:
    rows = tuple(row(f"{n:02}.jpg", 0, n, flags=("dark",)) for n in range(10))
    page = Page(render(rows, limits=report.Limits(per_flag=5)))
    assert [name[-6:-4] for name, _ in pictures(page)] == ["00", "02", "04", "06", "08"]


def test_a_picture_too_large_for_its_limit_is_left_out() -> None:
    noise = np.random.default_rng(0).integers(0, 256, (200, 200, 3), np.uint8)

    def read(picture_id: str) -> Image.Image:
        return Image.fromarray(noise)

    assert not Page(render(limits=report.Limits(picture_bytes=1000), read_picture=read)).all("img")
    for _, picture in pictures(Page(render(read_picture=read))):
        encoded = io.BytesIO()
        picture.save(encoded, "JPEG", quality="keep")
        assert encoded.tell() <= report.Limits().picture_bytes


@pytest.mark.slow
def test_the_size_stays_bounded_for_the_whole_archive() -> None:
    table = load_class_table()
    noise = Image.fromarray(np.random.default_rng(0).integers(0, 256, (160, 160, 3), np.uint8))
    flags = ("dark", "bright", "blurred", "small_box", "small_image", "uniform", "few_colours")
    rows = tuple(
        ManifestRow(
            f"{food.category}/{food.name}/Img_{food.label:03}_{n:04}.jpg",
            "accepted",
            split="train",
            label=food.label,
            category=food.category,
            group=n,
            crop_status="missing",
            flags=flags,
        )
        for food in table.classes
        for n in range(1003)
    )
    html = render(rows, table=table, read_picture=lambda picture_id: noise)
    assert len(rows) == 150_450
    assert len(html.encode()) < 15_000_000


def test_a_progress_bar_counts_the_pictures() -> None:
    seen: list[str] = []

    def bar(rows: list[ManifestRow], desc: str, unit: str) -> Iterator[ManifestRow]:
        for shown in rows:
            seen.append(shown.id)
            yield shown

    summary = report_numbers.summarize(ROWS, TABLE)
    source = report.ReportSource("x", blue_picture)
    report.render_report(summary, TABLE, source, lang="en", progress=bar)
    assert len(seen) == len(set(seen)) == 5 and seen == sorted(seen)


def test_the_report_is_written_as_utf8(tmp_path: Path) -> None:
    summary = report_numbers.summarize(ROWS, TABLE)
    target = tmp_path / "report.html"
    report.write_report(target, summary, TABLE, report.ReportSource("x"), lang="ko")
    text = target.read_bytes().decode("utf-8")
    assert text.startswith("<!DOCTYPE html>") and "갈비구이" in text

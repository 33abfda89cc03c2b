"""A report with one of everything in it, for tests."""

from __future__ import annotations

from PIL import Image

from kfood_tfds import report, report_numbers, report_parts, report_text
from kfood_tfds.raw.classes import ClassTable, FoodClass
from kfood_tfds.raw.crop_area import CropBox
from kfood_tfds.raw.manifest import ManifestRow
from kfood_tfds.report_likeness import CutPair, Method, Recall
from kfood_tfds.words import Words

TABLE = ClassTable(
    (
        FoodClass(0, "갈비구이", "구이", "galbi-gui", "grilled ribs"),
        FoodClass(1, "<무국>", "국 & 탕", "mu-guk", "radish soup"),
    )
)


EVIL = '<img src=x onerror="alert(1)">'


def row(name: str, label: int = 0, group: int = 0, **more: object) -> ManifestRow:
    food = TABLE.classes[label]
    values = {
        "split": "train",
        "label": label,
        "category": food.category,
        "group": group,
        "source_format": "JPEG",
        "width": 400,
        "height": 300,
        "crop_status": "missing",
        "sha256": name,
        **more,
    }
    return ManifestRow(f"{food.category}/{food.name}/{name}", "accepted", **values)


BOXED = row("boxed.jpg", crop_status="annotated", box=CropBox(60, 40, 240, 360), flags=("dark",))


ROWS = (
    BOXED,
    row("a.jpg", 0, 7),
    row("b.jpg", 1, 7),
    row("c.jpg", 1, 8, split="", reason="left out: a < b"),
    row("d.jpg", 1, 8),
    ManifestRow(f"국/{EVIL}.jpg", "rejected", f"not an image: begins with {EVIL}", label=1),
    ManifestRow("국/x.jpg", "rejected", "truncated PNG: the file ends before the image does"),
    ManifestRow("crop_area.properties", "rejected", "side file: crop", crop_note="row & row"),
)


def blue_picture(picture_id: str) -> Image.Image:
    return Image.new("RGB", (800, 600), (0, 0, 200))


def render(
    rows: tuple[ManifestRow, ...] = ROWS,
    lang: str = "en",
    limits: report.Limits | None = None,
    read_picture: report.ReadPicture | None = blue_picture,
    table: ClassTable = TABLE,
    cut_pairs: tuple[CutPair, ...] = (),
) -> str:
    source = report.ReportSource(
        f"/data/{EVIL}/kfood.zip",
        read_picture,
        notes=("a note",),
        cut_pairs=cut_pairs,
        method=Method(0.9, 3000, (Recall("mirrored", 0.99, 0.98, 0.97),), 0.125),
    )
    summary = report_numbers.summarize(rows, table, listed=len(rows))
    return report.render_report(summary, table, source, lang=lang, limits=limits)


def page(
    lang: str = "en", rows: tuple[ManifestRow, ...] = ROWS, table: ClassTable = TABLE
) -> report_parts.Page:
    """What the sections of a report draw on."""
    summary = report_numbers.summarize(rows, table, listed=len(rows))
    return report_parts.Page(Words(lang, report_text.TEXTS), summary, table.classes)

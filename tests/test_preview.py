"""Contact sheets of chosen classes, on an archive drawn here."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from kfood_tfds.drawing import BOX_LINE
from kfood_tfds.fonts import LabelFont
from kfood_tfds.preview import preview
from kfood_tfds.raw.errors import ClassTableError, KfoodError, SurveyError

LATIN = LabelFont(None)
COLOURS = {"갈비구이": (0, 0, 220), "만두": (0, 220, 0)}


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Eight blue images of one class, the odd ones with a box, and two green ones of another."""
    root = tmp_path / "kfood"
    for folder, number in (("구이/갈비구이", 8), ("만두/만두", 2)):
        (root / folder).mkdir(parents=True)
        for n in range(number):
            encoded = io.BytesIO()
            colour = COLOURS[folder.split("/")[1]]
            Image.new("RGB", (200, 200), colour).save(encoded, "PNG")
            (root / folder / f"Img_{n:04}.png").write_bytes(encoded.getvalue())
    rows = "".join(f"Img_{n:04}=50,50,100,100\r\n" for n in range(1, 8, 2))
    (root / "구이/갈비구이/crop_area.properties").write_text(rows)
    return root


def opened(path: Path) -> np.ndarray:
    with Image.open(path) as image:
        assert image.format == "PNG"
        return np.asarray(image.convert("RGB")).astype(int)


def near(pixels: np.ndarray, colour: tuple[int, int, int]) -> np.ndarray:
    return np.abs(pixels - colour).sum(-1) < 30


def test_each_class_has_a_row(archive: Path, tmp_path: Path) -> None:
    out = tmp_path / "sheet.png"
    made = preview(archive, ["만두", "갈비구이"], 3, out, font=LATIN)
    assert made.path == str(out)
    assert made.shown == (("만두", 2), ("갈비구이", 3))
    pixels = opened(out)
    green, blue = near(pixels, COLOURS["만두"]), near(pixels, COLOURS["갈비구이"])
    assert np.nonzero(green)[0].max() < np.nonzero(blue)[0].min()
    # Two green tiles leave the third place of their row empty.
    assert np.nonzero(green)[1].max() < np.nonzero(blue)[1].max() - 100


def test_boxes_are_drawn_where_there_are_any(archive: Path, tmp_path: Path) -> None:
    preview(archive, ["갈비구이"], 8, tmp_path / "a.png", font=LATIN)
    preview(archive, ["만두"], 2, tmp_path / "b.png", font=LATIN)
    assert near(opened(tmp_path / "a.png"), BOX_LINE).sum() > 4 * 4 * 90
    assert not near(opened(tmp_path / "b.png"), BOX_LINE).any()


@pytest.mark.parametrize("spelling", ["갈비구이", "galbi-gui", "0", 0])
def test_classes_may_be_named_in_any_way(
    archive: Path, tmp_path: Path, spelling: str | int
) -> None:
    made = preview(archive, [spelling], 1, tmp_path / "a.png", font=LATIN)
    assert made.shown == (("갈비구이", 1),)


def test_a_class_named_twice_is_shown_once(archive: Path, tmp_path: Path) -> None:
    made = preview(archive, ["만두", "mandu", 49], 1, tmp_path / "a.png", font=LATIN)
    assert made.shown == (("만두", 1),)


def test_a_near_miss_gets_a_suggestion(archive: Path, tmp_path: Path) -> None:
    with pytest.raises(ClassTableError, match="김치찌개"):
        preview(archive, ["김치찌게"], 1, tmp_path / "a.png", font=LATIN)


def test_a_class_that_is_not_there_is_said(archive: Path, tmp_path: Path) -> None:
    with pytest.raises(SurveyError, match=r"no image of '비빔밥'.*갈비구이, 만두"):
        preview(archive, ["비빔밥"], 1, tmp_path / "a.png", font=LATIN)
    assert not (tmp_path / "a.png").exists()


def test_images_come_from_all_over_the_class(archive: Path, tmp_path: Path) -> None:
    for n in range(8):
        colour = (255, 0, 0) if n in (0, 4) else (0, 0, 0)
        Image.new("RGB", (50, 50), colour).save(archive / "구이/갈비구이" / f"Img_{n:04}.png")
    preview(archive, ["갈비구이"], 2, tmp_path / "a.png", font=LATIN)
    red = near(opened(tmp_path / "a.png"), (255, 0, 0))
    assert red.sum() > 2 * 150 * 150


def test_a_broken_image_leaves_a_tile_with_its_reason(archive: Path, tmp_path: Path) -> None:
    (archive / "만두/만두/Img_0000.png").write_bytes(b"no image")
    made = preview(archive, ["만두"], 2, tmp_path / "a.png", font=LATIN)
    assert made.shown == (("만두", 2),)
    assert near(opened(tmp_path / "a.png"), COLOURS["만두"]).sum() < 1.1 * 192 * 192


@pytest.mark.parametrize(("classes", "per_class"), [([], 3), (["만두"], 0)])
def test_nothing_to_show_is_refused(
    archive: Path, tmp_path: Path, classes: list[str], per_class: int
) -> None:
    with pytest.raises(KfoodError, match="at least one class"):
        preview(archive, classes, per_class, tmp_path / "a.png", font=LATIN)

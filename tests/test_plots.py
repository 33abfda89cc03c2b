"""Plots are drawn, with names that the font can draw."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from kfood_tfds import plots
from kfood_tfds.fonts import LabelFont, find_font
from kfood_tfds.raw.classes import load_class_table
from kfood_tfds.statistics import ClassDistribution, ImageSizes

pytest.importorskip("matplotlib", reason="matplotlib is not installed")


def _distribution() -> ClassDistribution:
    counts = np.zeros(150, np.int64)
    counts[[0, 49, 149]] = [5, 3, 8]
    return ClassDistribution(load_class_table().names, {"train": counts, "test": counts // 2})


def _names(figure: object) -> list[str]:
    return [label.get_text() for label in figure.axes[0].get_yticklabels()]


def test_bars_show_the_classes_that_have_examples_with_splits_stacked() -> None:
    figure = plots.plot_class_distribution(_distribution(), LabelFont(None))
    bars = figure.axes[0].patches
    assert [bar.get_width() for bar in bars] == [5, 3, 8, 2, 1, 4]
    assert [bar.get_x() for bar in bars[3:]] == [5, 3, 8]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "train",
        "test",
    ]


def test_names_are_romanised_without_a_hangul_font() -> None:
    table = load_class_table()
    names = _names(plots.plot_class_distribution(_distribution(), LabelFont(None)))
    assert names == [table.classes[label].romanized for label in (0, 49, 149)]
    assert all(name.isascii() for name in names)


def test_korean_names_are_drawn_with_a_font_that_has_them(
    tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    font = find_font()
    if not font.hangul:
        pytest.skip("no font with Hangul on this machine")
    figure = plots.plot_class_distribution(_distribution(), font)
    assert _names(figure)[1] == "만두"
    figure.savefig(tmp_path / "classes.png")
    assert not [str(warning.message) for warning in recwarn if "missing" in str(warning.message)]


def test_all_classes_fit_on_a_long_page(tmp_path: Path) -> None:
    counts = np.arange(1, 151)
    figure = plots.plot_class_distribution(
        ClassDistribution(load_class_table().names, {"train": counts}), LabelFont(None)
    )
    figure.savefig(tmp_path / "classes.png", dpi=50)
    with Image.open(tmp_path / "classes.png") as image:
        assert image.height > 1000


def test_sizes_are_drawn(tmp_path: Path) -> None:
    sides = np.array([100, 300, 500])
    figure = plots.plot_image_sizes(ImageSizes(sides, sides * 2, sides // 2, sides))
    offsets = figure.axes[0].collections[0].get_offsets()
    assert offsets.tolist() == [[200, 100], [600, 300], [1000, 500]]
    figure.savefig(tmp_path / "sizes.png")
    assert (tmp_path / "sizes.png").stat().st_size > 1000


def test_nothing_to_draw_is_an_error() -> None:
    none = np.zeros(0, np.int64)
    with pytest.raises(ValueError, match="no examples"):
        plots.plot_image_sizes(ImageSizes(none, none, none, none))
    with pytest.raises(ValueError, match="all 0"):
        plots.plot_class_distribution(ClassDistribution(("가",), {"train": np.zeros(1)}))

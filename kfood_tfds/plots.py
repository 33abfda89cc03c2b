"""Plots of a data set's figures, with Korean names where a font draws them."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np

from kfood_tfds.fonts import LabelFont, display_name, find_font
from kfood_tfds.raw.classes import load_class_table
from kfood_tfds.statistics import ClassDistribution, ImageSizes

_INCHES_PER_CLASS = 0.17
_LEAST_INCHES = 3.0
_BINS = 60


def plot_class_distribution(distribution: ClassDistribution, font: LabelFont | None = None) -> Any:
    """Draws the number of examples per class as bars, the splits stacked.

    Args:
        distribution: What ``statistics.class_distribution`` gives. Classes without examples are
            left out.
        font: Font of the class names; by default the best one on this machine. Without Hangul the
            names are romanised.

    Returns:
        A ``matplotlib.figure.Figure``; ``figure.savefig(path)`` writes it.

    Raises:
        ValueError: If matplotlib is not installed or no class has examples.
    """
    font = font or find_font()
    splits = {split: np.asarray(counts) for split, counts in distribution.counts.items()}
    shown = np.flatnonzero(sum(splits.values(), np.zeros(len(distribution.names))))
    if not shown.size:
        raise ValueError("No class has examples, so there is nothing to draw. Received: all 0")
    height = max(_LEAST_INCHES, _INCHES_PER_CLASS * len(shown) + 1)
    figure = _figure(8.0, height)
    axes = figure.add_subplot()
    start = np.zeros(len(shown))
    for split, counts in splits.items():
        axes.barh(np.arange(len(shown)), counts[shown], left=start, label=split)
        start += counts[shown]
    names = [_shown_name(distribution.names[label], font) for label in shown]
    axes.set_yticks(np.arange(len(shown)), names, fontproperties=_properties(font, 7))
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.set_xlabel("examples")
    figure.legend(loc="outside upper center", ncols=len(splits))
    return figure


def plot_image_sizes(sizes: ImageSizes) -> Any:
    """Draws the images' widths and heights, and the shorter sides of their crop boxes.

    Args:
        sizes: What ``statistics.image_sizes`` gives.

    Returns:
        A ``matplotlib.figure.Figure``.

    Raises:
        ValueError: If matplotlib is not installed or there are no sizes.
    """
    if not len(sizes):
        raise ValueError("There are no sizes to draw. Received: no examples")
    figure = _figure(10.0, 4.5)
    left, right = figure.subplots(1, 2)
    left.scatter(sizes.widths, sizes.heights, s=3, alpha=0.3)
    left.set_xscale("log")
    left.set_yscale("log")
    left.set_xlabel("width of the image, pixels")
    left.set_ylabel("height, pixels")
    shorter = sizes.crop_shorter_sides
    right.hist(shorter, bins=_BINS)
    right.axvline(float(np.median(shorter)), color="black", label=f"median {np.median(shorter):g}")
    right.set_xlabel("shorter side of the crop box, pixels")
    right.set_ylabel("images")
    right.legend()
    return figure


def _figure(width: float, height: float) -> Any:
    if importlib.util.find_spec("matplotlib") is None:
        raise ValueError(
            "Plots need matplotlib, which is not installed. pip install 'kfood-tfds[plots]'."
        )
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _properties(font: LabelFont, size: int) -> Any:
    from matplotlib.font_manager import FontProperties

    return FontProperties(fname=font.path if font.hangul else None, size=size)


def _shown_name(name: str, font: LabelFont) -> str:
    known = load_class_table().from_folder(name)
    return display_name(known, font) if known is not None else name

"""Evaluates a model of `transfer_learning.py`: accuracy by class, and a confusion matrix."""

from __future__ import annotations

import argparse
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties

from kfood_tfds import postprocessing as pp
from kfood_tfds.fonts import LabelFont, display_name, find_font
from kfood_tfds.raw.classes import load_class_table


def count_guesses(model: keras.Model, batches: tf.data.Dataset, num_classes: int) -> np.ndarray:
    """Returns how often each class was taken for each, int64[truth, guess]."""
    confusion = np.zeros((num_classes, num_classes), np.int64)
    for images, labels in batches:
        guesses = np.argmax(model.predict_on_batch(images), axis=1)
        np.add.at(confusion, (np.argmax(labels, axis=1), guesses), 1)
    return confusion


def draw_confusion(confusion: np.ndarray, names: list[str], font: LabelFont) -> Figure:
    """Draws the share of each row's images that each class was guessed for."""
    shares = confusion / np.maximum(confusion.sum(axis=1, keepdims=True), 1)
    side = 2 + 0.25 * len(names)
    figure = Figure(figsize=(side + 1, side), layout="constrained")
    axes = figure.add_subplot()
    picture = axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    # By the file's path: Matplotlib itself knows no font with Hangul.
    letters = FontProperties(fname=font.path if font.hangul else None, size=8)
    axes.set_xticks(range(len(names)), names, rotation=90, fontproperties=letters)
    axes.set_yticks(range(len(names)), names, fontproperties=letters)
    axes.set_xlabel("guess")
    axes.set_ylabel("truth")
    figure.colorbar(picture, shrink=0.7)
    return figure


def main() -> None:
    """Prints the figures and draws the matrix."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", help="TFDS's data folder")
    parser.add_argument("--dataset", default="kfood/sample")
    parser.add_argument("--split", default="test")
    parser.add_argument("--model", default="transfer", help="folder of transfer_learning.py")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--out", default="confusion.png")
    args = parser.parse_args()

    model = keras.models.load_model(Path(args.model) / "model.keras")
    text = (Path(args.model) / "pipeline.json").read_text(encoding="utf-8")
    ds = tfds.load(
        args.dataset, split=args.split, data_dir=args.data_dir, decoders=pp.SKIP_DECODING
    )
    batches = pp.Pipeline.from_json(text).batches(ds, args.batch_size)
    confusion = count_guesses(model, batches, model.output_shape[-1])

    table, font = load_class_table(), find_font()
    totals = confusion.sum(axis=1)
    present = np.flatnonzero(totals)
    names = [display_name(table.classes[label], font) for label in present]
    accuracies = confusion.diagonal()[present] / totals[present]
    for index in np.argsort(accuracies, kind="stable"):
        print(f"{accuracies[index]:6.3f} of {totals[present[index]]:4d}  {names[index]}")
    print(f"Accuracy: {confusion.trace() / confusion.sum():.3f}")
    print(f"Mean over the classes: {accuracies.mean():.3f}")
    # Guesses of classes that aren't there have no column, so rows may add up to less than 1.
    figure = draw_confusion(confusion[np.ix_(present, present)], names, font)
    figure.savefig(args.out, dpi=150)
    print(f"Confusion matrix: {args.out}")


if __name__ == "__main__":
    main()

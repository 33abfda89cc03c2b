"""Builds `kfood/sample`, trains a small CNN on it, and draws what it saw: `make demo`."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds

import kfood_tfds
from kfood_tfds import drawing
from kfood_tfds import postprocessing as pp
from kfood_tfds.fonts import display_name, find_font
from kfood_tfds.raw.classes import load_class_table

SIZE = 64
BATCH_SIZE = 32
SHOWN = 12


def load_sample(data_dir: str) -> tuple[tf.data.Dataset, tf.data.Dataset, tfds.core.DatasetInfo]:
    """Builds the sample where it isn't there yet; returns train, validation and info."""
    (train, validation), info = tfds.load(
        "kfood/sample",
        split=["train", "validation+test"],
        data_dir=data_dir,
        decoders=pp.SKIP_DECODING,
        with_info=True,
    )
    return train, validation, info


def make_model(num_classes: int, steps: int) -> keras.Model:
    """Returns a CNN of some 100,000 weights, to be trained for so many steps."""
    layers: list[Any] = [keras.Input((SIZE, SIZE, 3))]
    for filters in (32, 64, 96):
        layers += [
            keras.layers.Conv2D(filters, 3, padding="same", use_bias=False),
            keras.layers.BatchNormalization(momentum=0.9),  # few steps: learn fast
            keras.layers.ReLU(),
            keras.layers.MaxPooling2D(),
        ]
    layers += [
        keras.layers.GlobalAveragePooling2D(),
        keras.layers.Dense(num_classes, activation="softmax"),
    ]
    model = keras.Sequential(layers)
    model.compile(
        optimizer=keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, steps)),
        loss="categorical_crossentropy",
        metrics=["accuracy"],
    )
    return model


def images_per_second(batches: tf.data.Dataset) -> float:
    """Returns how many images one pass over the batches gives in a second."""
    start = time.perf_counter()
    images = sum(len(images) for images, _ in batches)
    return images / (time.perf_counter() - start)


def draw_sheet(ds: tf.data.Dataset, pipeline: pp.Pipeline, path: Path) -> None:
    """Draws stored images with their crop boxes beside the batch that the model sees."""
    font, table = find_font(), load_class_table()
    examples = [*ds.shuffle(1000, seed=1).take(SHOWN)]
    names = [display_name(table.find(int(e["label"])), font) for e in examples]
    tiles = [
        drawing.Tile(tf.io.decode_image(e["image"]).numpy(), name, tuple(e["crop"].numpy()))
        for e, name in zip(examples, names, strict=True)
    ]
    images = np.stack([pipeline(e)["image"].numpy() for e in examples])
    left = drawing.contact_sheet(tiles, 4, "kfood/sample", font=font)
    right = drawing.batch_sheet(images, names, 4, "batch", value_range=(0, 1), font=font)
    drawing.save_png(drawing.beside(left, right), path)


def main() -> None:
    """Runs the demonstration."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", default="demo_data", help="where the shards go")
    parser.add_argument("--out", default="demo.png", help="the contact sheet")
    parser.add_argument("--epochs", type=int, default=12)
    args = parser.parse_args()
    keras.utils.set_random_seed(0)

    train_ds, val_ds, info = load_sample(args.data_dir)
    pipeline = pp.train_pipeline(SIZE)
    train = pipeline.batches(train_ds, batch_size=BATCH_SIZE, seed=0)
    validation = pp.eval_pipeline(SIZE).batches(val_ds, batch_size=BATCH_SIZE)
    model = make_model(info.features["label"].num_classes, args.epochs * len(train))
    history = model.fit(
        train, validation_data=validation, epochs=args.epochs, shuffle=False, verbose=2
    )

    draw_sheet(train_ds, pipeline, Path(args.out))
    print(f"kfood_tfds {kfood_tfds.__version__}, {len(train_ds)} images to learn from")
    print(f"Validation accuracy: {history.history['val_accuracy'][-1]:.3f}")
    print(f"Pipeline: {images_per_second(train):.0f} images/s")
    print(f"Contact sheet: {args.out}")


if __name__ == "__main__":
    main()

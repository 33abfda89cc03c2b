"""Builds and learns a few classes only.

A subset keeps the labels of the whole class table, so that models and metrics stay comparable;
where the model shall have only as many outputs as there are classes, the labels are renumbered.
"""

from __future__ import annotations

import argparse
from typing import Any

import keras
import tensorflow as tf

import kfood_tfds
from kfood_tfds import postprocessing as pp


def make_model(size: int, num_classes: int) -> keras.Model:
    """Returns a small CNN."""
    layers: list[Any] = [keras.Input((size, size, 3))]
    for filters in (32, 64, 96):
        layers += [
            keras.layers.Conv2D(filters, 3, padding="same", use_bias=False),
            keras.layers.BatchNormalization(momentum=0.9),
            keras.layers.ReLU(),
            keras.layers.MaxPooling2D(),
        ]
    pooling = keras.layers.GlobalAveragePooling2D()
    return keras.Sequential([*layers, pooling, keras.layers.Dense(num_classes, "softmax")])


def read_arguments() -> argparse.Namespace:
    """Returns what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", help="TFDS's data folder")
    parser.add_argument("--archive", help="the real archive; default: the drawn sample")
    parser.add_argument("--classes", default="만두,bulgogi,깍두기", help="names or labels")
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--steps", type=int, help="batches an epoch; default: all")
    return parser.parse_args()


def main() -> None:
    """Builds the subset, trains, says how well."""
    args = read_arguments()
    keras.utils.set_random_seed(0)

    config = kfood_tfds.KfoodConfig(
        name="subset",
        archive=args.archive,
        sample=args.archive is None,
        classes=tuple(args.classes.split(",")),
    )
    builder = kfood_tfds.Builder(config=config, data_dir=args.data_dir)
    builder.download_and_prepare()
    # Any order and spelling was allowed; the table has the one that counts.
    foods = config.class_table().find_all(config.classes)
    numbers = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(
            tf.constant([food.label for food in foods], tf.int64),
            tf.range(len(foods), dtype=tf.int64),
        ),
        default_value=-1,
    )

    def renumber(example: dict[str, Any]) -> dict[str, Any]:
        return {**example, "label": numbers.lookup(example["label"])}

    train_ds, val_ds = (
        builder.as_dataset(split, decoders=pp.SKIP_DECODING).map(renumber)
        for split in ("train", "validation")
    )
    pipeline = pp.train_pipeline(args.size, num_classes=len(foods))
    train = pipeline.batches(train_ds, args.batch_size, seed=0)
    val = pipeline.evaluation().batches(val_ds, args.batch_size)
    model = make_model(args.size, len(foods))
    model.compile("adam", "categorical_crossentropy", metrics=["accuracy"])
    history = model.fit(
        train,
        validation_data=val,
        epochs=args.epochs,
        steps_per_epoch=args.steps,
        shuffle=False,
        verbose=2,
    )
    print("Classes:", ", ".join(f"{food.name} ({food.label})" for food in foods))
    print(f"Images: {len(train_ds)} to learn from, {len(val_ds)} to validate")
    print(f"Outputs: {model.output_shape[-1]}")
    print(f"Validation accuracy: {history.history['val_accuracy'][-1]:.3f}")


if __name__ == "__main__":
    main()

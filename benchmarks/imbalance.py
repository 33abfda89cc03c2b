"""What balancing is worth: macro-F1 of plain, class-weighted and resampled training.

Twenty classes of drawn dishes, two of them cut to 2 % of the others' number. Every training takes
the same number of steps, and is judged on a test set in which all classes are equally many.

    python benchmarks/imbalance.py
"""

from __future__ import annotations

import argparse
import io
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from numpy.typing import NDArray
from PIL import Image

from kfood_tfds import postprocessing as pp
from kfood_tfds import sampling
from kfood_tfds.raw.dishes import draw_dish

CLASSES = 20
RARE = (4, 13)
RARE_SHARE = 0.02
# Every so manieth of the 150 classes, so that they come from many categories.
SPREAD = 7
DRAWN = 96
SIDE = 64
BATCH_SIZE = 32
METHODS = ("plain", "class-weighted", "resampled")


def draw(counts: NDArray[np.int64], first_key: int) -> tf.data.Dataset:
    """Returns drawn examples with kfood's features, as many of each class as told."""
    columns: dict[str, list[Any]] = {"image": [], "label": [], "id": [], "crop": []}
    for label, count in enumerate(counts):
        for key in range(first_key, first_key + count):
            pixels, box = draw_dish(label * SPREAD, key, (DRAWN, DRAWN))
            buffer = io.BytesIO()
            Image.fromarray(pixels).save(buffer, "JPEG", quality=90)
            columns["image"].append(buffer.getvalue())
            columns["label"].append(label)
            columns["id"].append(f"{label}/{key}.jpg")
            corners = (box.ymin, box.xmin, box.ymax, box.xmax)
            columns["crop"].append(np.asarray(corners, np.float32) / DRAWN)
    # Mixed once, as TFDS mixes what it writes.
    order = np.random.default_rng(0).permutation(len(columns["id"]))
    mixed = {name: [values[index] for index in order] for name, values in columns.items()}
    return tf.data.Dataset.from_tensor_slices(mixed)


def make_model(steps: int) -> keras.Model:
    """Returns a small CNN, whose learning rate falls to 0 over so many steps."""
    layers: list[Any] = [keras.Input((SIDE, SIDE, 3))]
    for filters in (24, 48, 96):
        layers += [
            keras.layers.Conv2D(filters, 3, padding="same", use_bias=False),
            keras.layers.BatchNormalization(momentum=0.9),
            keras.layers.ReLU(),
            keras.layers.MaxPooling2D(),
        ]
    layers += [
        keras.layers.GlobalAveragePooling2D(),
        keras.layers.Dense(CLASSES, activation="softmax"),
    ]
    model = keras.Sequential(layers)
    rate = keras.optimizers.schedules.CosineDecay(2e-3, steps)
    model.compile(keras.optimizers.Adam(rate), "categorical_crossentropy")
    return model


def f1_scores(truth: NDArray[np.int64], predicted: NDArray[np.int64]) -> NDArray[np.float64]:
    """Returns F1 = 2 TP / (2 TP + FP + FN) of every class; 0 where it is never right."""
    scores = np.zeros(CLASSES)
    for label in range(CLASSES):
        right = int(np.sum((truth == label) & (predicted == label)))
        either = int(np.sum(truth == label) + np.sum(predicted == label))
        scores[label] = 2 * right / either if either else 0.0
    return scores


def train(
    method: str, train_ds: tf.data.Dataset, counts: NDArray[np.int64], seed: int, epochs: int
) -> keras.Model:
    """Returns a model trained by one of the methods."""
    keras.utils.set_random_seed(seed)
    weights = sampling.class_weights(counts) if method == "class-weighted" else None
    if method == "resampled":
        train_ds = sampling.resample(train_ds, "balanced", seed, counts=counts)
    pipeline = pp.train_pipeline(SIDE, num_classes=CLASSES)
    batches = pipeline.batches(train_ds, BATCH_SIZE, seed=seed)
    model = make_model(epochs * int(batches.cardinality()))
    model.fit(batches, epochs=epochs, class_weight=weights, verbose=0)
    return model


def main() -> None:
    """Trains and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--per-class", type=int, default=100, help="of the frequent classes")
    parser.add_argument("--test", type=int, default=25, help="test images of each class")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=3)
    args = parser.parse_args()

    counts = np.full(CLASSES, args.per_class)
    counts[list(RARE)] = max(1, round(args.per_class * RARE_SHARE))
    train_ds = draw(counts, 0)
    test = draw(np.full(CLASSES, args.test), args.per_class)
    test_batches = pp.eval_pipeline(SIDE, num_classes=CLASSES).batches(test, 100)
    truth = np.concatenate([labels.numpy().argmax(axis=1) for _, labels in test_batches])
    print(f"{counts.sum()} training images, {counts[RARE[0]]} of classes {RARE}; {len(truth)} test")
    print("| training | macro-F1 by seed | mean | F1 of the two rare classes | of the others |")
    print("| --- | --- | --- | --- | --- |")
    rare = np.isin(np.arange(CLASSES), RARE)
    for method in METHODS:
        scores = []
        for seed in range(args.seeds):
            model = train(method, train_ds, counts, seed, args.epochs)
            predicted = model.predict(test_batches, verbose=0).argmax(axis=1)
            scores.append(f1_scores(truth, predicted))
        table = np.array(scores)
        by_seed = " ".join(f"{score:.3f}" for score in table.mean(axis=1))
        print(
            f"| {method} | {by_seed} | {table.mean():.3f} | {table[:, rare].mean():.3f} "
            f"| {table[:, ~rare].mean():.3f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()

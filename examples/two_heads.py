"""A model with two heads: the category first, then the dish within it.

The dish's logits are added to the log-probability of its category, so the head for dishes only has
to tell those of one category apart.
"""

from __future__ import annotations

import argparse

import keras
import tensorflow_datasets as tfds

from kfood_tfds import postprocessing as pp
from kfood_tfds import sampling


def make_model(size: int, num_classes: int, num_categories: int) -> keras.Model:
    """Returns a model from images to log-probabilities of `label` and `category`."""
    inputs = x = keras.Input((size, size, 3))
    for filters in (32, 64, 96):
        x = keras.layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
        x = keras.layers.BatchNormalization(momentum=0.9)(x)
        x = keras.layers.MaxPooling2D()(keras.layers.ReLU()(x))
    features = keras.layers.GlobalAveragePooling2D()(x)

    coarse = keras.layers.Dense(num_categories)(features)
    category = keras.layers.Activation("log_softmax", name="category")(coarse)
    parents = sampling.category_of_class().tolist()
    prior = keras.ops.take(category, parents, axis=1)
    fine = keras.layers.Dense(num_classes)(features)
    label = keras.layers.Activation("log_softmax", name="label")(fine + prior)
    return keras.Model(inputs, {"label": label, "category": category})


def main() -> None:
    """Trains the category alone for some epochs, then both, and says how well."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", help="TFDS's data folder")
    parser.add_argument("--dataset", default="kfood/sample")
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--coarse-epochs", type=int, default=4)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--steps", type=int, help="batches an epoch; default: all")
    args = parser.parse_args()
    keras.utils.set_random_seed(0)

    (train_ds, val_ds), info = tfds.load(
        args.dataset,
        split=["train", "validation"],
        data_dir=args.data_dir,
        decoders=pp.SKIP_DECODING,
        with_info=True,
    )
    pipeline = pp.train_pipeline(args.size, one_hot=False)
    # Each batch is (images, {"label": …, "category": …}).
    train = pipeline.batches(train_ds, args.batch_size, seed=0, labels="both")
    val = pipeline.evaluation().batches(val_ds, args.batch_size, labels="both")

    features = info.features
    model = make_model(args.size, features["label"].num_classes, features["category"].num_classes)
    stages = ((0.0, args.coarse_epochs), (1.0, args.epochs))
    for label_weight, epochs in stages:
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(
            keras.optimizers.Adam(3e-3),
            loss={"label": loss, "category": loss},
            loss_weights={"label": label_weight, "category": 1.0},
            metrics={"label": ["accuracy"], "category": ["accuracy"]},
        )
        model.fit(train, epochs=epochs, steps_per_epoch=args.steps, shuffle=False, verbose=2)
    found = model.evaluate(val, steps=args.steps, return_dict=True, verbose=0)
    print(f"Category accuracy: {found['category_accuracy']:.3f}")
    print(f"Class accuracy: {found['label_accuracy']:.3f}")


if __name__ == "__main__":
    main()

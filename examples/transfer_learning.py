"""Trains a backbone of `keras.applications` with a new head; saves it with its pipeline.

`--weights imagenet` downloads trained weights, trains the head, then everything at a low rate;
without it all is trained from scratch. `evaluate.py`, `serve.py` and `mixup_class_weights.py` go on
from the folder that this one writes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import keras
import tensorflow_datasets as tfds

from kfood_tfds import postprocessing as pp


def make_model(backbone: keras.Model, num_classes: int) -> keras.Model:
    """Puts a softmax on the backbone's pooled features."""
    return keras.Sequential(
        [
            backbone,
            keras.layers.Dropout(0.2),
            keras.layers.Dense(num_classes, activation="softmax"),
        ]
    )


def read_arguments() -> argparse.Namespace:
    """Returns what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", help="TFDS's data folder")
    parser.add_argument("--dataset", default="kfood/sample")
    parser.add_argument("--backbone", default="MobileNet", help="such as EfficientNetB0")
    parser.add_argument("--weights", choices=["imagenet"], help="default: from scratch")
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--steps", type=int, help="batches an epoch; default: all")
    parser.add_argument("--out", default="transfer", help="folder for model and pipeline")
    return parser.parse_args()


def main() -> None:
    """Trains, says how well, saves."""
    args = read_arguments()
    keras.utils.set_random_seed(0)

    (train_ds, val_ds), info = tfds.load(
        args.dataset,
        split=["train", "validation"],
        data_dir=args.data_dir,
        decoders=pp.SKIP_DECODING,
        with_info=True,
    )
    num_classes = info.features["label"].num_classes
    # Each backbone wants its pixels on the scale it was trained on.
    scale = pp.preprocess_for(args.backbone)
    pipeline = pp.train_pipeline(args.size, crop="resized", scale=scale, num_classes=num_classes)
    train = pipeline.batches(train_ds, args.batch_size, seed=0)
    val = pipeline.evaluation().batches(val_ds, args.batch_size)

    backbone = getattr(keras.applications, args.backbone)(
        include_top=False,
        weights=args.weights,
        input_shape=(args.size, args.size, 3),
        pooling="avg",
    )
    model = make_model(backbone, num_classes)
    # First the head alone, so that its first, wild gradients don't spoil what is trained.
    stages = [(False, 1e-3), (True, 1e-5)] if args.weights else [(True, 1e-3)]
    for trainable, rate in stages:
        backbone.trainable = trainable
        model.compile(
            keras.optimizers.Adam(rate), loss="categorical_crossentropy", metrics=["accuracy"]
        )
        history = model.fit(
            train,
            validation_data=val,
            epochs=args.epochs,
            steps_per_epoch=args.steps,
            validation_steps=args.steps,
            shuffle=False,
            verbose=2,
        )

    out = Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    model.save(out / "model.keras")
    # What the model must see belongs to the model.
    (out / "pipeline.json").write_text(pipeline.evaluation().to_json(indent=2), encoding="utf-8")
    print(f"Validation accuracy: {history.history['val_accuracy'][-1]:.3f}")
    print(f"Saved: {out / 'model.keras'}")


if __name__ == "__main__":
    main()

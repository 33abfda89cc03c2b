"""Fine-tunes a model of `transfer_learning.py` with MixUp, on classes of unequal size.

The sample's classes are all of one size, so every other class is thinned out first. The weights go
into the batches: `model.fit(class_weight=…)` would give a mixed image the weight of only one of its
two classes, while `MixUp` mixes the weights as it mixes the labels.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds

from kfood_tfds import postprocessing as pp
from kfood_tfds import sampling


def thin_out(ds: tf.data.Dataset) -> tuple[tf.data.Dataset, np.ndarray]:
    """Keeps some three in ten images of the classes with odd labels; returns the counts too."""

    def stays(example: dict[str, Any]) -> tf.Tensor:
        return (example["label"] % 2 == 0) | (tf.strings.to_hash_bucket_fast(example["id"], 10) < 3)

    kept = ds.filter(stays)
    counts = sampling.class_counts(kept)
    # A filter hides the number of examples, which batches() must know.
    return kept.apply(tf.data.experimental.assert_cardinality(counts.sum())), counts


def read_arguments() -> argparse.Namespace:
    """Returns what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", help="TFDS's data folder")
    parser.add_argument("--dataset", default="kfood/sample")
    parser.add_argument("--model", default="transfer", help="folder of transfer_learning.py")
    parser.add_argument("--out", default="mixup", help="folder for the new model")
    parser.add_argument("--alpha", type=float, default=0.2, help="strength of MixUp")
    parser.add_argument("--scheme", default="balanced", help="or sqrt, effective")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--steps", type=int, help="batches an epoch; default: all")
    return parser.parse_args()


def main() -> None:
    """Fine-tunes, says how well, saves."""
    args = read_arguments()
    keras.utils.set_random_seed(0)

    train_ds, val_ds = tfds.load(
        args.dataset,
        split=["train", "validation"],
        data_dir=args.data_dir,
        decoders=pp.SKIP_DECODING,
    )
    train_ds, counts = thin_out(train_ds)
    weights = sampling.class_weights(counts, scheme=args.scheme)
    present = np.flatnonzero(counts)
    for label in (present[counts[present].argmin()], present[counts[present].argmax()]):
        print(f"Class {label}: {counts[label]} images, weight {weights[int(label)]:.2f}")

    model = keras.models.load_model(Path(args.model) / "model.keras")
    text = (Path(args.model) / "pipeline.json").read_text(encoding="utf-8")
    evaluation = pp.Pipeline.from_json(text)
    # The same window, size and scale as before; what works on batches comes last.
    mixing = pp.Pipeline((*evaluation.ops, pp.RandomFlip(), pp.MixUp(args.alpha)))
    train = mixing.batches(train_ds, args.batch_size, seed=0, sample_weights=weights)
    val = evaluation.batches(val_ds, args.batch_size)

    model.compile(
        keras.optimizers.Adam(1e-4), loss="categorical_crossentropy", metrics=["accuracy"]
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
    (out / "pipeline.json").write_text(text, encoding="utf-8")
    print(f"Validation accuracy: {history.history['val_accuracy'][-1]:.3f}")
    print(f"Saved: {out / 'model.keras'}")


if __name__ == "__main__":
    main()

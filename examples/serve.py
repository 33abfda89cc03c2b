"""Puts the pipeline into the model, so that it takes the bytes of a file as they are."""

from __future__ import annotations

import argparse
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds

# Also what a server must import before it loads the model: it registers the layer.
from kfood_tfds import postprocessing as pp
from kfood_tfds.raw.classes import load_class_table

SHOWN = 3


def save_served(folder: Path, path: Path) -> None:
    """Saves a model from encoded images, string[batch], to probabilities."""
    model = keras.models.load_model(folder / "model.keras")
    pipeline = pp.Pipeline.from_json((folder / "pipeline.json").read_text(encoding="utf-8"))
    served = keras.Sequential([keras.Input((), dtype="string"), pipeline.as_layer(), model])
    served.save(path)


def some_photos(dataset: str, data_dir: str | None, folder: Path) -> list[Path]:
    """Writes two images of the test split to files."""
    ds = tfds.load(dataset, split="test[:2]", data_dir=data_dir, decoders=pp.SKIP_DECODING)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for example in tfds.as_numpy(ds):
        paths.append(folder / Path(example["id"].decode()).name)
        paths[-1].write_bytes(example["image"])
    return paths


def main() -> None:
    """Saves the model, loads it again, and lets it guess."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("photos", nargs="*", type=Path, help="JPEG or PNG; default: two drawn ones")
    parser.add_argument("--data-dir", help="TFDS's data folder")
    parser.add_argument("--dataset", default="kfood/sample")
    parser.add_argument("--model", default="transfer", help="folder of transfer_learning.py")
    parser.add_argument("--out", default="served.keras")
    args = parser.parse_args()

    save_served(Path(args.model), Path(args.out))
    print(f"Saved: {args.out}")

    served = keras.models.load_model(args.out)
    photos = args.photos or some_photos(args.dataset, args.data_dir, Path(args.model) / "photos")
    data = tf.constant([path.read_bytes() for path in photos])
    names = load_class_table().names
    for path, guess in zip(photos, served.predict(data, verbose=0), strict=True):
        best = np.argsort(-guess)[:SHOWN]
        print(f"{path}:", ", ".join(f"{names[label]} {guess[label]:.3f}" for label in best))


if __name__ == "__main__":
    main()

"""Learns classes of one's own from photos in the archive's form: `category/class/photo.jpg`.

Without `--photos` a folder is drawn first. The class table beside it, `label,name,category` with
labels from 0 on, says which folder is which class; a `crop_area.properties` is not needed.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

import keras
from PIL import Image, ImageDraw

import kfood_tfds
from kfood_tfds import postprocessing as pp

DRAWN = {("drinks", "coffee"): "saddlebrown", ("drinks", "tea"): "olive", ("cake", "tart"): "pink"}
PHOTOS_EACH = 30
SIDE = 96


def draw_photos(folder: Path, table: Path) -> None:
    """Draws some round things on tables and writes their class table."""
    dice = random.Random(0)
    rows = ["label,name,category,romanized,english,aliases"]
    for label, ((category, name), color) in enumerate(DRAWN.items()):
        rows.append(f"{label},{name},{category},,,")
        place = folder / category / name
        place.mkdir(parents=True)
        for number in range(PHOTOS_EACH):
            wood = tuple(dice.randrange(256) for _ in range(3))
            image = Image.effect_noise((SIDE, SIDE), 60).convert("RGB")
            image = Image.blend(image, Image.new("RGB", image.size, wood), 0.6)
            x, y, radius = (dice.randrange(30, 60) for _ in range(3))
            box = (x - radius // 2, y - radius // 2, x + radius // 2, y + radius // 2)
            ImageDraw.Draw(image).ellipse(box, fill=color, outline="white", width=3)
            image.save(place / f"{name} {number:02}.jpg", quality=90)
    table.write_text("\n".join(rows) + "\n", encoding="utf-8")


def main() -> None:
    """Builds the data set, trains, says how well."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", help="TFDS's data folder")
    parser.add_argument("--photos", type=Path, default=Path("own_photos"))
    parser.add_argument("--classes", type=Path, default=Path("own_classes.csv"))
    parser.add_argument("--size", type=int, default=48)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--steps", type=int, help="batches an epoch; default: all")
    args = parser.parse_args()
    keras.utils.set_random_seed(0)
    if not args.photos.exists():
        draw_photos(args.photos, args.classes)

    config = kfood_tfds.KfoodConfig(
        name="own", archive=str(args.photos), class_csv=str(args.classes)
    )
    builder = kfood_tfds.Builder(config=config, data_dir=args.data_dir)
    builder.download_and_prepare()
    train_ds, val_ds = (
        builder.as_dataset(split, decoders=pp.SKIP_DECODING) for split in ("train", "validation")
    )
    names = builder.info.features["label"].names
    pipeline = pp.train_pipeline(args.size, num_classes=len(names))
    train = pipeline.batches(train_ds, args.batch_size, seed=0)
    val = pipeline.evaluation().batches(val_ds, args.batch_size)

    model = keras.Sequential(
        [
            keras.Input((args.size, args.size, 3)),
            keras.layers.Conv2D(16, 3, strides=2, activation="relu"),
            keras.layers.Conv2D(32, 3, strides=2, activation="relu"),
            keras.layers.GlobalMaxPooling2D(),
            keras.layers.Dense(len(names), activation="softmax"),
        ]
    )
    model.compile(keras.optimizers.Adam(1e-2), "categorical_crossentropy", metrics=["accuracy"])
    history = model.fit(
        train,
        validation_data=val,
        epochs=args.epochs,
        steps_per_epoch=args.steps,
        shuffle=False,
        verbose=2,
    )
    print("Classes:", ", ".join(names))
    print(f"Images: {len(train_ds)} to learn from, {len(val_ds)} to validate")
    print(f"Validation accuracy: {history.history['val_accuracy'][-1]:.3f}")


if __name__ == "__main__":
    main()

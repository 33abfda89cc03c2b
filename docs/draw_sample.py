"""Draws `sample.png`, the picture in the READMEs: `python docs/draw_sample.py`."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import tensorflow as tf

import kfood_tfds
from kfood_tfds import drawing
from kfood_tfds import postprocessing as pp
from kfood_tfds.fonts import display_name, find_font
from kfood_tfds.raw.classes import load_class_table

SIZE = 96
COLUMNS = 4
SHOWN = 12
COLOURS = 160


def main() -> None:
    """Builds the sample where it isn't there yet, and draws some of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", default="demo_data", help="where the shards go")
    parser.add_argument("--out", default=str(Path(__file__).with_name("sample.png")))
    args = parser.parse_args()
    builder = kfood_tfds.Builder(config="sample", data_dir=args.data_dir)
    builder.download_and_prepare()

    stored = builder.as_dataset("train", decoders=pp.SKIP_DECODING, shuffle_files=False)
    boxed = stored.filter(lambda example: example["crop_status"] == 0)
    of_class = {int(example["label"]): example for example in boxed}
    examples = [of_class[label] for label in sorted(of_class)][:SHOWN]
    font, table = find_font(), load_class_table()
    names = [display_name(table.find(int(example["label"])), font) for example in examples]
    tiles = [
        drawing.Tile(tf.io.decode_image(e["image"]).numpy(), name, tuple(e["crop"].numpy()))
        for e, name in zip(examples, names, strict=True)
    ]
    pipeline = pp.train_pipeline(SIZE, augment=[pp.RandomErasing(), pp.RandAugment()])
    images = np.stack([pipeline(example)["image"].numpy() for example in examples])
    left = drawing.contact_sheet(tiles, COLUMNS, "kfood/sample", tile_size=112, font=font)
    right = drawing.batch_sheet(
        images, names, COLUMNS, "batch", value_range=(0, 1), tile_size=112, font=font
    )
    # A palette: the picture is in the repository, and few colours are enough to see what's meant.
    drawing.save_png(drawing.beside(left, right).quantize(COLOURS), args.out)


if __name__ == "__main__":
    main()

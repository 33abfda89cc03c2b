"""Images per second of sampled batches beside streamed ones, from the same examples on disk.

Stores photo-like JPEGs as TFRecord and as ArrayRecord files, then takes turns between
``Pipeline.batches`` over the stream and ``sampling.dataset`` with a random order.

    python benchmarks/random_access.py
"""

from __future__ import annotations

import argparse
import io
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow_datasets as tfds
from PIL import Image

from kfood_tfds import postprocessing as pp
from kfood_tfds import sampling, sources

SIZE = 299
BATCH_SIZE = 32


def photos(number: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """Gives examples with smooth, slightly noisy JPEGs of some 90 KB."""
    rng = np.random.default_rng(0)
    for index in range(number):
        height, width = (int(side) for side in rng.integers(380, 640, 2))
        coarse = rng.integers(0, 256, (24, 24, 3), dtype=np.uint8)
        smooth = np.asarray(
            Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC)
        )
        noisy = smooth + rng.normal(0, 6, smooth.shape)
        buffer = io.BytesIO()
        pixels = Image.fromarray(np.clip(noisy, 0, 255).astype(np.uint8))
        pixels.save(buffer, "JPEG", quality=90)
        yield (
            index,
            {
                "image": buffer.getvalue(),
                "label": index % 150,
                "crop": np.array([0.05, 0.05, 0.95, 0.95], np.float32),
                "height": height,
                "width": width,
                "id": f"{index:06d}.jpg",
            },
        )


def store(folder: str, number: int, file_format: str) -> None:
    """Writes the data set ``photos_<format>``."""
    features = tfds.features.FeaturesDict(
        {
            "image": tfds.features.Image(shape=(None, None, 3)),
            "label": tfds.features.ClassLabel(num_classes=150),
            "crop": tfds.features.BBoxFeature(),
            "height": np.int32,
            "width": np.int32,
            "id": tfds.features.Text(),
        }
    )
    tfds.dataset_builders.store_as_tfds_dataset(
        name=f"photos_{file_format}",
        version="1.0.0",
        features=features,
        split_datasets={"train": list(photos(number))},
        data_dir=folder,
        file_format=file_format,
    )


def images_per_second(batches: Any) -> float:
    """Returns the speed of one pass, the first batch not counted."""
    images, start = 0, 0.0
    for batch, _ in batches:
        if start:
            images += len(batch)
        else:
            start = time.perf_counter()
    return images / (time.perf_counter() - start)


def main() -> None:
    """Measures and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--photos", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for file_format in ("tfrecord", "array_record"):
            store(folder, args.photos, file_format)
        read_config = tfds.ReadConfig(try_autocache=False)
        stream = tfds.load(
            "photos_tfrecord",
            data_dir=folder,
            split="train",
            decoders=pp.SKIP_DECODING,
            read_config=read_config,
        )
        source = sources.random_access("photos_array_record", "train", folder)
        sampler = sampling.Random(source)
        compare(args.rounds, stream, source, sampler)


def compare(rounds: int, stream: Any, source: Any, sampler: Any) -> None:
    """Prints the medians over several rounds, both kinds in turns."""
    print("| pipeline | streamed, images/s | sampled | share |")
    print("| --- | --- | --- | --- |")
    pipelines = {
        f"train_pipeline({SIZE})": pp.train_pipeline(SIZE),
        f'train_pipeline({SIZE}, crop="window", dtype="uint8")': pp.train_pipeline(
            SIZE, crop="window", dtype="uint8"
        ),
    }
    for name, pipeline in pipelines.items():
        makers: tuple[Callable[[], Any], ...] = (
            lambda pipeline=pipeline: pipeline.batches(stream, BATCH_SIZE, epochs=1),
            lambda pipeline=pipeline: sampling.dataset(
                source, sampler, pipeline, BATCH_SIZE, epochs=1
            ),
        )
        speeds: tuple[list[float], list[float]] = ([], [])
        for _ in range(rounds):
            for make, found in zip(makers, speeds, strict=True):
                found.append(images_per_second(make()))
        streamed, sampled = (statistics.median(found) for found in speeds)
        print(f"| {name} | {streamed:.0f} | {sampled:.0f} | {sampled / streamed:.2f} |", flush=True)


if __name__ == "__main__":
    main()

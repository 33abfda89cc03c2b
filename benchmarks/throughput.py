"""Images a second: this package against what else a user would pick, and against its own ceiling.

Draws photos, builds the configurations from them, and runs all rows in turn, several rounds in one
process, so that whatever else the machine does hits all of them. Prints the medians as a table and
writes it to `README.md`. Run it on an idle machine:

    python benchmarks/throughput.py --work /tmp/throughput --box-share 0.3 0.9
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib.util
import itertools
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import tensorflow as tf
import tensorflow_datasets as tfds
from throughput_data import Photo, draw_archive, read_classes

import kfood_tfds
from kfood_tfds import postprocessing as pp
from kfood_tfds.postprocessing.options import SHUFFLE_BUFFER_BYTES

SIZE = 299
BATCH = 32
STEMS = 150_507
HERE = Path(__file__).parent
AUTOTUNE = tf.data.AUTOTUNE
# A training's epoch is 105,355 images; the drawn ones come round more often, so the shuffle buffer
# is as much smaller, or filling it anew would be most of the work.
TRAINING_IMAGES = 105_355


@dataclasses.dataclass(frozen=True)
class Row:
    """One way to load images.

    Attributes:
        name: What the table says.
        make: Returns the batches, or single images.
        unit: Images in each item.
    """

    name: str
    make: Callable[[], Iterable[Any]]
    unit: int = BATCH


@dataclasses.dataclass(frozen=True)
class Rate:
    """What a row did in a round: images a second, and CPU milliseconds an image (this process)."""

    images: float
    cpu: float


def published(folder: Path, photos: list[Photo], calls: int | None = None) -> Any:
    """The pipeline that people copy for this set: paths, a look-up among all stems, nearest.

    Its map runs one call at a time, unless told how many.
    """
    stems = [photo.stem for photo in photos]
    stems += [f"Img_none_{index}" for index in range(STEMS - len(stems))]
    boxes = [photo.box or (0, 0, photo.width, photo.height) for photo in photos]
    boxes += [(0, 0, 1, 1)] * (STEMS - len(boxes))
    known, table = tf.constant(stems), tf.constant(boxes)

    def load(path: Any, label: Any) -> tuple[Any, Any]:
        image = tf.io.decode_image(tf.io.read_file(path), channels=3, expand_animations=False)
        stem = tf.strings.split(tf.strings.split(path, os.sep)[-1], ".")[0]
        x, y, width, height = tf.unstack(table[tf.where(known == stem)[0, 0]])
        image = image[y : y + height, x : x + width]
        side = tf.cast(0.9 * tf.cast(tf.minimum(width, height), tf.float32), tf.int32)
        image = tf.image.random_crop(image, tf.stack([side, side, 3]))
        image = tf.image.resize(image, (SIZE, SIZE), method="nearest")
        return tf.cast(image, tf.float32) / 255, tf.one_hot(label, 150)

    paths = [str(folder / photo.id) for photo in photos]
    ds = tf.data.Dataset.from_tensor_slices((paths, [photo.label for photo in photos]))
    return ds.shuffle(len(paths)).map(load, num_parallel_calls=calls).batch(BATCH).prefetch(1)


def from_directory(folder: Path) -> Any:
    """What Keras offers for a folder of images."""
    return keras.utils.image_dataset_from_directory(
        folder,
        label_mode="categorical",
        image_size=(SIZE, SIZE),
        batch_size=BATCH,
        crop_to_aspect_ratio=True,
        verbose=False,
    )


def ceiling(ds: Any) -> Any:
    """Records read and windows decoded, nothing else."""

    def decode(example: dict[str, Any]) -> Any:
        size = tf.cast(tf.stack([example["height"], example["width"]]), tf.float32)
        low = tf.cast(tf.round(example["crop"][:2] * size), tf.int32)
        high = tf.cast(tf.round(example["crop"][2:] * size), tf.int32)
        side = tf.minimum(tf.reduce_min(high - low), SIZE)
        place = low + (high - low - side) // 2
        window = tf.concat([place, tf.stack([side, side])], axis=0)
        return tf.image.decode_and_crop_jpeg(example["image"], window, channels=3)

    return ds.map(decode, num_parallel_calls=BATCH).prefetch(BATCH)


def build(archive: Path, data_dir: Path) -> dict[str, Any]:
    """Builds the configurations and returns each one's records, all splits together.

    Those of `320px-raw` also as mapped files, under "mapped".
    """
    records = {}
    for config in ("full", "320px", "320px-raw"):
        builder = kfood_tfds.Builder(config=config, data_dir=data_dir)
        builder.download_and_prepare(
            download_config=tfds.download.DownloadConfig(manual_dir=str(archive))
        )
        records[config] = builder.as_dataset(split="all", decoders=pp.SKIP_DECODING)
    every = "+".join(builder.info.splits)
    records["mapped"] = kfood_tfds.mapped_dataset("kfood/320px-raw", every, str(data_dir))
    return records


def rows(folder: Path, photos: list[Photo], records: dict[str, Any]) -> list[Row]:
    """Returns what is measured, in the table's order."""
    whole = pp.train_pipeline(SIZE, flip=False)
    jitter = pp.train_pipeline(SIZE, augment=(pp.ColorJitter(0.2, 0.2, 0.2, 0.1),))
    window = pp.train_pipeline(SIZE, crop="window", flip=False, dtype="uint8")
    scaled = SHUFFLE_BUFFER_BYTES * len(photos) // TRAINING_IMAGES

    def ours(pipeline: pp.Pipeline, ds: Any) -> Callable[[], Any]:
        return lambda: pipeline.batches(ds, BATCH, epochs=10_000, shuffle_buffer_bytes=scaled)

    names = ("full", "320px", "320px-raw", "mapped")
    full, small, raw, mapped = (records[name] for name in names)
    found = [
        Row("1 published pipeline", lambda: published(folder, photos)),
        Row("1+ with parallel calls", lambda: published(folder, photos, AUTOTUNE)),
        Row("2 image_dataset_from_directory", lambda: from_directory(folder)),
        Row("4 `full`", ours(whole, full)),
        Row("4+ with colour jitter and flip", ours(jitter, full)),
        Row("5 `320px`", ours(whole, small)),
        Row("6 `320px`, window, uint8", ours(window, small)),
        Row("7 ceiling of 6: records and windows alone", lambda: ceiling(small), 1),
        Row("8 `320px-raw`, window, uint8", ours(window, mapped)),
        Row("8− the same by tfds.load", ours(window, raw)),
    ]
    if importlib.util.find_spec("torch"):
        from throughput_torch import loader

        torch_loader = loader(folder, photos, SIZE, BATCH)
        found.insert(3, Row("3 PyTorch DataLoader, Pillow, 2 workers", lambda: torch_loader))
    else:
        sys.stderr.write("Row 3 is left out: torch isn't installed (pip install torch).\n")
    return found


def measure(row: Row, warm_up: float, seconds: float) -> Rate:
    """Runs a row epoch after epoch; the start isn't counted."""
    data = row.make()
    items = itertools.chain.from_iterable(itertools.repeat(data))
    start = time.perf_counter()
    for _ in items:
        if time.perf_counter() - start > warm_up:
            break
    start, cpu, number = time.perf_counter(), time.process_time(), 0
    for _ in items:
        number += row.unit
        if time.perf_counter() - start > seconds:
            break
    took, cpu = time.perf_counter() - start, time.process_time() - cpu
    return Rate(number / took, 1000 * cpu / number)


def compare(found: list[Row], rounds: int, warm_up: float, seconds: float) -> dict[str, Rate]:
    """Returns each row's medians over the rounds."""
    rates: dict[str, list[Rate]] = {row.name: [] for row in found}
    for number in range(rounds):
        for row in found:
            rates[row.name].append(measure(row, warm_up, seconds))
            sys.stderr.write(f"round {number + 1}: {row.name}: {rates[row.name][-1]}\n")
    return {
        name: Rate(
            statistics.median(rate.images for rate in many),
            statistics.median(rate.cpu for rate in many),
        )
        for name, many in rates.items()
    }


def table(results: dict[str, Rate]) -> str:
    """Returns the results in Markdown, with the ratios to rows 1, 1+, 2, 3, 6 and 7."""
    by_number = {name.split()[0]: rate for name, rate in results.items()}
    against = [number for number in ("1", "1+", "2", "3", "6", "7") if number in by_number]
    lines = ["| row | images/s | CPU ms/image | " + " | ".join(f"/ {n}" for n in against) + " |"]
    lines.append("| --- |" + " --: |" * (2 + len(against)))
    for name, rate in results.items():
        ratios = [f"{rate.images / by_number[number].images:.2f}" for number in against]
        # The workers of row 3 are other processes.
        cpu = "" if name.startswith("3") else f"{rate.cpu:.2f}"
        lines.append(f"| {name} | {rate.images:.0f} | {cpu} | {' | '.join(ratios)} |")
    return "\n".join(lines)


def machine() -> str:
    """Returns a line about what it ran on."""
    info = Path("/proc/cpuinfo")
    models = [line for line in info.read_text().splitlines() if "model name" in line]
    name = models[0].split(":")[1].strip() if models else platform.processor()
    load = os.getloadavg()[0]
    return (
        f"{os.cpu_count()} cores of {name}, {platform.system()}, Python "
        f"{platform.python_version()}, TensorFlow {tf.__version__}, load average {load:.1f}"
    )


def write_section(path: Path, name: str, text: str) -> None:
    """Replaces the part of a file between two marks, or adds it at the end."""
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    old = path.read_text(encoding="utf-8") if path.exists() else "# Benchmarks\n"
    part = f"{begin}\n{text.strip()}\n{end}"
    if begin in old:
        before, rest = old.split(begin, 1)
        new = before + part + rest.split(end, 1)[1]
    else:
        new = f"{old.rstrip()}\n\n{part}\n"
    path.write_text(new, encoding="utf-8")


def main() -> None:
    """Draws, builds, measures, writes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=Path, required=True, help="folder for photos and shards")
    parser.add_argument("--photos", type=int, default=2000)
    parser.add_argument("--box-share", type=float, nargs="+", default=[0.3, 0.9])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--warm-up", type=float, default=3, help="seconds")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--readme", type=Path, default=HERE / "README.md", help="to write to")
    arguments = parser.parse_args()
    classes = read_classes(Path(kfood_tfds.__file__).parent / "raw" / "classes.csv")
    for share in arguments.box_share:
        work = arguments.work / f"boxes_{round(100 * share)}_{arguments.photos}"
        photos = draw_archive(work / "archive", classes, arguments.photos, share)
        mean = statistics.mean((work / "archive" / photo.id).stat().st_size for photo in photos)
        records = build(work / "archive", work / "data")
        found = rows(work / "archive", photos, records)
        results = compare(found, arguments.rounds, arguments.warm_up, arguments.seconds)
        text = (
            f"### Boxes on {share:.0%} of the images\n\n{len(photos)} photos of "
            f"{mean / 1000:.0f} KB; {machine()}.\n\n{table(results)}"
        )
        sys.stdout.write(text + "\n")
        write_section(arguments.readme, f"throughput {share:.0%}", text)


if __name__ == "__main__":
    main()

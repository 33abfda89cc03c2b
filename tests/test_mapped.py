"""A data set of uncompressed images, read out of mapped shards, equals what TFDS reads."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_datasets as tfds
from PIL import Image

import kfood_tfds
from kfood_tfds import mapped, sampling, sources
from kfood_tfds import postprocessing as pp
from kfood_tfds.postprocessing.decoding import WINDOW

COUNT = 45
SHARDS = 3


def _pixels(number: int) -> np.ndarray:
    rng = np.random.default_rng(number)
    return rng.integers(0, 256, (20 + number % 7, 20 + number % 5, 3), dtype=np.uint8)


def _example(number: int, form: str = "BMP", **changed: Any) -> dict[str, Any]:
    pixels = _pixels(number)
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, form)
    return {
        "image": stream.getvalue(),
        "label": number % 4,
        "category": number % 2,
        "crop": np.array([0.0, 0.25, 0.75, 1.0], np.float32),
        "height": pixels.shape[0],
        "width": pixels.shape[1],
        "id": f"구이/갈비구이/Img_{number:03d}.jpg",
        **changed,
    }


def _store(folder: Path, name: str, examples: list[dict[str, Any]], form: str = "tfrecord") -> None:
    features = tfds.features.FeaturesDict(
        {
            "image": tfds.features.Image(shape=(None, None, 3)),
            "label": tfds.features.ClassLabel(num_classes=4),
            "category": tfds.features.ClassLabel(num_classes=2),
            "crop": tfds.features.BBoxFeature(),
            "height": np.int32,
            "width": np.int32,
            "id": tfds.features.Text(),
        }
    )
    parts = {"train": examples[:-5], "test": examples[-5:]} if len(examples) > 5 else {}
    tfds.dataset_builders.store_as_tfds_dataset(
        name=name,
        version="1.0.0",
        features=features,
        split_datasets={
            split: [(example["id"], example) for example in some]
            for split, some in (parts or {"train": examples}).items()
        },
        data_dir=folder,
        file_format=form,
        download_config=tfds.download.DownloadConfig(num_shards=SHARDS if len(examples) > 9 else 1),
    )


@pytest.fixture(name="stored", scope="module")
def _stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mapped")
    _store(folder, "bitmaps", [_example(number) for number in range(COUNT)])
    return folder


@pytest.fixture(name="data_dir")
def _data_dir(stored: Path, tmp_path: Path) -> Path:
    """A copy of the data set of one test's own, without an index."""
    shutil.copytree(stored, tmp_path / "data", ignore=shutil.ignore_patterns("pixel_index"))
    return tmp_path / "data"


def _shards(data_dir: Path) -> list[Path]:
    return sorted((data_dir / "bitmaps" / "1.0.0").glob("*.tfrecord*"))


def _index(data_dir: Path) -> Path:
    return data_dir / "bitmaps" / "1.0.0" / "pixel_index"


def _loaded(data_dir: Path, split: str = "train", **more: Any) -> Any:
    config = tfds.ReadConfig(try_autocache=False)
    return tfds.load("bitmaps", split=split, data_dir=data_dir, read_config=config, **more)


def _same(one: Any, other: Any) -> int:
    """Compares all items of two data sets and returns how many there are."""
    items = list(zip(one, other, strict=True))
    for pair in items:
        for left, right in zip(*map(tf.nest.flatten, pair), strict=True):
            np.testing.assert_array_equal(left, right)
    return len(items)


@pytest.mark.parametrize("split", ["train", "test", "train+test", "train[10:33]", "train[-20%:]"])
def test_examples_are_those_of_tfds(stored: Path, split: str) -> None:
    ds = mapped.mapped_dataset("bitmaps", split, str(stored))
    plain = _loaded(stored, split)
    assert len(_shards(stored)) == 2 * SHARDS
    assert ds.element_spec == plain.element_spec
    assert _same(ds, plain) == int(ds.cardinality()) == int(plain.cardinality()) > 0


def test_pixels_are_those_that_were_stored(stored: Path) -> None:
    seen = set()
    for example in kfood_tfds.mapped_dataset("bitmaps", "train+test", str(stored)):
        number = int(example["id"].numpy().decode()[-7:-4])
        np.testing.assert_array_equal(example["image"], _pixels(number))
        seen.add(number)
    assert seen == set(range(COUNT))


@dataclasses.dataclass(frozen=True)
class Looking(pp.Op):
    """An op of a user's own that looks at the image before it is cut."""

    def apply(self, example: Any) -> Any:
        return example | {WINDOW: tf.concat([[0, 0], tf.shape(example["image"])[:2] // 2], 0)}


@pytest.mark.parametrize(
    ("pipeline", "encoded"),
    [
        (pp.train_pipeline(8, crop="window", dtype="uint8"), True),
        (pp.train_pipeline(8, crop="resized", augment=(pp.ColorJitter(0.2), pp.MixUp())), True),
        (pp.train_pipeline(30, crop="none"), True),
        (pp.eval_pipeline(8), True),
        (pp.Pipeline((pp.CropToBox(), pp.MultiCrop(0.5), pp.Resize(8))), True),
        (pp.Pipeline((Looking(), pp.Resize(8))), False),
    ],
)
def test_batches_are_those_of_tfds(stored: Path, pipeline: pp.Pipeline, encoded: bool) -> None:
    ds = mapped.mapped_dataset("bitmaps", "train", str(stored))
    plain = _loaded(stored, decoders=pp.SKIP_DECODING if encoded else None)
    for more, steps in (
        ({}, 6),
        ({"epochs": 1, "start_step": 4}, 2),
        ({"epochs": 2, "drop_remainder": True}, 10),
    ):
        # The buffer holds some of the images, so the order shows how their bytes are counted.
        options = {"seed": 5, "with_ids": True, "shuffle_buffer_bytes": 15_000, **more}
        made = (pipeline.batches(each, 7, **options) for each in (ds, plain))
        assert _same(*made) == steps


def test_batches_read_windows_alone(stored: Path) -> None:
    ds = mapped.mapped_dataset("bitmaps", "train", str(stored))
    pixels, reads = ds.unread.pixels, []

    def reading(place: Any, window: Any, size: Any, cut: Any) -> Any:
        reads.append(window is not None)
        return pixels(place, window, size, cut)

    ds.unread = dataclasses.replace(ds.unread, pixels=reading)
    next(iter(pp.train_pipeline(8).batches(ds, 4)))
    assert reads == [True]


def test_resampling_keeps_the_places(stored: Path) -> None:
    ds = mapped.mapped_dataset("bitmaps", "train", str(stored))
    plain = _loaded(stored, decoders=pp.SKIP_DECODING)
    pipeline = pp.train_pipeline(8)
    sets = [sampling.resample(each, "balanced", seed=3, length=33) for each in (ds, plain)]
    assert sets[0].unread.places.element_spec["image"].dtype == tf.string
    images = _same(sets[0].map(lambda e: e["id"]), sets[1].map(lambda e: e["id"]))
    assert images == 33
    made = [pipeline.batches(each, 8, epochs=2, with_ids=True) for each in sets]
    assert _same(*made) == 10


def test_the_index_is_written_once(data_dir: Path) -> None:
    mapped.mapped_dataset("bitmaps", "train", str(data_dir))
    times = {path: path.stat().st_mtime_ns for path in _index(data_dir).iterdir()}
    assert sum(path.stat().st_size for path in times) < 100_000
    mapped.mapped_dataset("bitmaps", "test", str(data_dir))
    assert {path: path.stat().st_mtime_ns for path in _index(data_dir).iterdir()} == times
    assert not list(_index(data_dir).parent.glob("*incomplete*"))
    # TFDS doesn't mind the folder, and the index may be moved with the data set.
    moved = data_dir.rename(data_dir.parent / "moved")
    assert _same(mapped.mapped_dataset("bitmaps", "train", str(moved)), _loaded(moved)) == COUNT - 5


def test_an_index_of_other_shards_is_written_anew(data_dir: Path, tmp_path: Path) -> None:
    mapped.mapped_dataset("bitmaps", "train", str(data_dir))
    other = tmp_path / "other"
    _store(other, "bitmaps", [_example(number) for number in range(100, 100 + COUNT + 3)])
    shutil.copytree(_index(data_dir), _index(other))
    ds = mapped.mapped_dataset("bitmaps", "train", str(other))
    assert _same(ds, _loaded(other)) == COUNT - 2


def test_shards_of_the_same_size_are_told_apart(data_dir: Path, tmp_path: Path) -> None:
    mapped.mapped_dataset("bitmaps", "train", str(data_dir))
    other = tmp_path / "other"
    mirrored = [_example(number) for number in range(COUNT)]
    for example in mirrored:
        example["image"] = example["image"][:54] + example["image"][:53:-1]
    _store(other, "bitmaps", mirrored)
    sizes = [[path.stat().st_size for path in _shards(folder)] for folder in (data_dir, other)]
    assert sizes[0] == sizes[1]
    shutil.copytree(_index(data_dir), _index(other))
    mapped.mapped_dataset("bitmaps", "train", str(other))
    texts = [(_index(folder) / "pixel_index.json").read_text() for folder in (data_dir, other)]
    assert texts[0] != texts[1]


@pytest.mark.parametrize("text", ["", "[1]", "{", '{"version": 2, "shards": {}}', '{"version": 1}'])
def test_a_broken_index_is_written_anew(data_dir: Path, text: str) -> None:
    mapped.mapped_dataset("bitmaps", "train", str(data_dir))
    (_index(data_dir) / "pixel_index.json").write_text(text)
    ds = mapped.mapped_dataset("bitmaps", "train", str(data_dir))
    assert _same(ds, _loaded(data_dir)) == COUNT - 5


def test_an_interrupted_index_leaves_nothing(data_dir: Path, monkeypatch: Any) -> None:
    def interrupted(number: int, *rest: Any) -> None:
        if number == 1:
            raise KeyboardInterrupt
        written(number, *rest)

    written = mapped._index_shard
    monkeypatch.setattr(mapped, "_index_shard", interrupted)
    before = sorted(_index(data_dir).parent.iterdir())
    with pytest.raises(KeyboardInterrupt):
        mapped.mapped_dataset("bitmaps", "train", str(data_dir))
    assert sorted(_index(data_dir).parent.iterdir()) == before


def test_the_index_of_a_faster_process_stays(data_dir: Path, monkeypatch: Any) -> None:
    def slowly(*arguments: Any) -> None:
        filled(*arguments)
        # In the meantime another process does the same.
        monkeypatch.setattr(mapped, "_fill_index", filled)
        mapped.mapped_dataset("bitmaps", "train", str(data_dir))
        (_index(data_dir) / "mark").touch()

    filled = mapped._fill_index
    monkeypatch.setattr(mapped, "_fill_index", slowly)
    ds = mapped.mapped_dataset("bitmaps", "train", str(data_dir))
    assert (_index(data_dir) / "mark").exists()
    assert not list(_index(data_dir).parent.glob("*incomplete*"))
    assert _same(ds, _loaded(data_dir)) == COUNT - 5


def test_another_folder_for_the_index(data_dir: Path, tmp_path: Path) -> None:
    before = sorted(_index(data_dir).parent.iterdir())
    place = str(tmp_path / "new" / "index")
    ds = mapped.mapped_dataset("bitmaps", "train", str(data_dir), index_dir=place)
    assert _same(ds, _loaded(data_dir)) == COUNT - 5
    assert sorted(_index(data_dir).parent.iterdir()) == before
    # A folder with something else in it is left as it is.
    used = tmp_path / "used"
    used.mkdir()
    (used / "thesis.txt").write_text("all of it")
    with pytest.raises(sources.SourceError, match=f"index_dir.*Received: {used}"):
        mapped.mapped_dataset("bitmaps", "train", str(data_dir), index_dir=str(used))
    assert [path.name for path in used.iterdir()] == ["thesis.txt"]
    inside = str(used / "thesis.txt" / "index")
    with pytest.raises(sources.SourceError, match="index_dir.*Received: .*thesis.txt"):
        mapped.mapped_dataset("bitmaps", "train", str(data_dir), index_dir=inside)


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (_flip, "checksum.*Received: .*bitmaps-train.* at byte"),
        (lambda path: os.truncate(path, path.stat().st_size - 9), "the file ends in it.*train"),
        (Path.unlink, "A shard is missing.*Received: .*without bitmaps-train"),
    ],
)
def test_damaged_shards_are_named(data_dir: Path, harm: Callable[[Path], None], words: str) -> None:
    harm(_shards(data_dir)[-2])
    with pytest.raises(sources.SourceError, match=words):
        mapped.mapped_dataset("bitmaps", "train", str(data_dir))
    assert not list(_index(data_dir).parent.glob("pixel_index*"))


def _palette() -> bytes:
    stream = io.BytesIO()
    Image.fromarray(_pixels(0)).convert("P").save(stream, "BMP")
    return stream.getvalue()


def _from_above() -> bytes:
    data = bytearray(_example(0)["image"])
    data[22:26] = (-_pixels(0).shape[0]).to_bytes(4, "little", signed=True)
    return bytes(data)


@pytest.mark.parametrize(
    "example",
    [
        _example(0, "PNG"),
        _example(0, "JPEG"),
        _example(0, image=_palette()),
        _example(0, image=_from_above()),
        _example(0, image=_example(0)["image"][:-1]),
        _example(0, image=b"BM"),
        _example(0, width=_pixels(0).shape[1] - 1),
        _example(0, height=_pixels(0).shape[0] + 1),
    ],
)
def test_other_images_are_refused(tmp_path: Path, example: dict[str, Any]) -> None:
    _store(tmp_path, "others", [example])
    words = "24-bit BMP.*kfood/320px-raw.*Received: others-train.* at byte 12, an image"
    with pytest.raises(sources.SourceError, match=words):
        mapped.mapped_dataset("others", "train", str(tmp_path))


def test_bytes_that_look_like_the_image_before_it(tmp_path: Path) -> None:
    # An id with the header of a BMP stands in front of the image in some records.
    examples = []
    for number in range(8):
        example = _example(number)
        header = example["image"][:60].decode("latin-1")
        examples.append({**example, "id": f"{number} {header}"})
    _store(tmp_path, "twins", examples)
    ds = mapped.mapped_dataset("twins", "train", str(tmp_path))
    assert _same(ds, tfds.load("twins", split="train", data_dir=tmp_path)) == 3


def test_what_is_not_there_is_refused(stored: Path, tmp_path: Path, monkeypatch: Any) -> None:
    with pytest.raises(sources.SourceError, match="Received: name='nothing'"):
        mapped.mapped_dataset("nothing", "train", str(stored))
    with pytest.raises(sources.SourceError, match=r"has the splits \['test', 'train'\]"):
        mapped.mapped_dataset("bitmaps", "validation", str(stored))
    monkeypatch.setattr(mapped, "built_directory", lambda name, data_dir: "gs://bucket/bitmaps")
    with pytest.raises(sources.SourceError, match="own disks.*tfds.load. Received: gs://bucket"):
        mapped.mapped_dataset("bitmaps", "train")
    monkeypatch.undo()
    if sys.platform.startswith(("linux", "darwin")):
        pytest.importorskip("array_record", reason="array_record is not installed")
        _store(tmp_path, "numbered", [_example(0)], "array_record")
        with pytest.raises(sources.SourceError, match="TFRecord.*numbered.*array_record files"):
            mapped.mapped_dataset("numbered", "train", str(tmp_path))


@pytest.mark.slow
def test_a_real_build_and_a_training(dummy_data: Path, tmp_path: Path) -> None:
    builder = kfood_tfds.Builder(config="320px-raw", data_dir=tmp_path)
    builder.download_and_prepare(
        download_config=tfds.download.DownloadConfig(manual_dir=str(dummy_data))
    )
    program = """
import sys, keras, kfood_tfds
from kfood_tfds import postprocessing as pp
ds = kfood_tfds.mapped_dataset(split="train", data_dir=sys.argv[1])
batches = pp.train_pipeline(16, crop="window").batches(ds, batch_size=4)
model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(150, activation="softmax")])
model.compile("sgd", "categorical_crossentropy")
print("loss", model.fit(batches, epochs=2, shuffle=False, verbose=0).history["loss"])
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("loss [")
    ds = mapped.mapped_dataset("kfood/320px-raw", "train", str(tmp_path))
    assert _same(ds, builder.as_dataset(split="train")) == int(ds.cardinality()) > 3
    shards = json.loads((Path(builder.data_dir) / "pixel_index" / "pixel_index.json").read_text())
    assert set(shards["shards"]) == {
        path.name for path in Path(builder.data_dir).glob("*.tfrecord*")
    }

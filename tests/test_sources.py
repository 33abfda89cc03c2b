"""Random access to a small data set that the test itself stores through TFDS."""

from __future__ import annotations

import io
import os
import pickle
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow_datasets as tfds
from PIL import Image

from kfood_tfds import sampling, sources, statistics
from kfood_tfds.sampling.index_samplers import Batch, Random

pytest.importorskip("array_record", reason="array_record is not installed")

COUNT = 23


def _pixels(number: int) -> np.ndarray:
    rng = np.random.default_rng(number)
    return rng.integers(0, 256, (8 + number % 3, 12, 3), dtype=np.uint8)


def _encoded(number: int) -> bytes:
    # A black BMP is valid UTF-8 from end to end, which must not make a text of it.
    pixels = np.zeros((2, 2, 3), np.uint8) if number == 0 else _pixels(number)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "BMP" if number == 0 else "PNG")
    return buffer.getvalue()


def _example(number: int) -> dict[str, Any]:
    return {
        "image": _encoded(number),
        "label": number % 4,
        "crop": np.array([0.0, 0.25, 0.5, 1.0], np.float32),
        "id": f"구이/갈비구이/Img_{number:03d}.jpg",
        "group": number // 2,
    }


def _store(folder: Path, name: str, file_format: str) -> str:
    features = tfds.features.FeaturesDict(
        {
            "image": tfds.features.Image(shape=(None, None, 3)),
            "label": tfds.features.ClassLabel(num_classes=150),
            "crop": tfds.features.BBoxFeature(),
            "id": tfds.features.Text(),
            "group": np.int64,
        }
    )
    tfds.dataset_builders.store_as_tfds_dataset(
        name=name,
        version="1.0.0",
        features=features,
        split_datasets={"train": [(number, _example(number)) for number in range(COUNT)]},
        data_dir=folder,
        file_format=file_format,
    )
    return str(folder)


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> str:
    return _store(tmp_path_factory.mktemp("sources"), "small", "array_record")


@pytest.fixture
def source(data_dir: str) -> sources.RandomAccess:
    return sources.random_access("small", "train", data_dir)


def id_and_mean(example: dict[str, Any]) -> tuple[str, float]:
    return example["id"], float(example["image"].mean())


def resized(example: dict[str, Any]) -> dict[str, Any]:
    image = Image.fromarray(example["image"]).resize((6, 4))
    return {"image": np.asarray(image), "label": example["label"], "id": example["id"]}


def test_examples_are_those_that_were_stored(source: sources.RandomAccess) -> None:
    assert len(source) == COUNT
    seen = {example["id"]: example for example in source}
    assert len(seen) == COUNT
    for number in range(COUNT):
        example = seen[_example(number)["id"]]
        expected = np.zeros((2, 2, 3)) if number == 0 else _pixels(number)
        assert example["image"].dtype == np.uint8
        np.testing.assert_array_equal(example["image"], expected)
        assert (example["label"], example["group"]) == (number % 4, number // 2)
        np.testing.assert_array_equal(example["crop"], [0.0, 0.25, 0.5, 1.0])


def test_indices_slices_lists_and_arrays(source: sources.RandomAccess) -> None:
    ids = [example["id"] for example in source]
    assert source[3]["id"] == ids[3]
    assert source[np.int64(-1)]["id"] == ids[-1]
    assert [example["id"] for example in source[[5, 2, 5, -2]]] == [ids[i] for i in (5, 2, 5, -2)]
    assert [example["id"] for example in source[4:9:2]] == ids[4:9:2]
    assert [example["id"] for example in source[np.array([1, 0])]] == [ids[1], ids[0]]
    assert source[[]] == []


@pytest.mark.parametrize("key", [COUNT, -COUNT - 1, [0, COUNT]])
def test_index_outside_is_an_index_error(source: sources.RandomAccess, key: Any) -> None:
    with pytest.raises(IndexError, match="Received"):
        source[key]


def test_encoded_images_are_the_stored_bytes(source: sources.RandomAccess) -> None:
    stored = {_example(number)["id"]: _encoded(number) for number in range(COUNT)}
    assert {example["id"]: example["image"] for example in source.encoded()} == stored


def test_parts_of_a_split(source: sources.RandomAccess, data_dir: str) -> None:
    ids = [example["id"] for example in source]
    part = sources.random_access("small", "train[5:9]", data_dir)
    assert [example["id"] for example in part] == ids[5:9]


def test_columns_are_features_in_order(source: sources.RandomAccess) -> None:
    found = source.columns("label", "id")
    assert found["id"].tolist() == [example["id"] for example in source]
    assert found["label"].tolist() == [example["label"] for example in source]
    assert source.column("crop").shape == (COUNT, 4)
    with pytest.raises(sources.SourceError, match="colour"):
        source.column("colour")


def test_transform_is_applied_and_replaced(source: sources.RandomAccess) -> None:
    small = source.with_transform(id_and_mean)
    assert small[2] == id_and_mean(source[2])
    assert small[[2]] == [id_and_mean(source[2])]
    assert small.with_transform(None)[2]["id"] == source[2]["id"]


def test_pickle_holds_the_place_and_not_the_data(source: sources.RandomAccess) -> None:
    data = pickle.dumps(source.with_transform(id_and_mean))
    assert len(data) < 1000
    assert pickle.loads(data)[4] == id_and_mean(source[4])


def test_reading_loads_no_tensorflow(data_dir: str) -> None:
    code = (
        "import sys, kfood_tfds.sources as s\n"
        f"print(s.random_access('small', 'train', {data_dir!r})[[1, 2]][0]['image'].ndim)\n"
        "print('tensorflow' in sys.modules)"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["3", "False"]


def test_converted_tfrecord_build_is_found_under_its_name(tmp_path: Path) -> None:
    pytest.importorskip("apache_beam", reason="TFDS's converter imports apache_beam")
    data_dir = _store(tmp_path, "records", "tfrecord")
    with pytest.raises(sources.SourceError, match="convert_to_array_record"):
        sources.random_access("records", "train", data_dir)
    directory = sources.convert_to_array_record("records", data_dir)
    assert sources.convert_to_array_record("records", data_dir) == directory
    source = sources.random_access("records", "train", data_dir)
    stream = tfds.load("records", data_dir=data_dir, split="train")
    assert [example["id"] for example in source] == [
        example["id"].numpy().decode() for example in stream
    ]
    suffixes = Counter(
        path.name.split("-")[1].split(".")[1] for path in Path(directory).glob("*-*")
    )
    assert suffixes == {"tfrecord": 1, "array_record": 1}


def test_a_relative_data_dir_is_converted_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("apache_beam", reason="TFDS's converter imports apache_beam")
    monkeypatch.chdir(tmp_path)
    data_dir = Path(_store(tmp_path, "records", "tfrecord")).relative_to(tmp_path)
    directory = sources.convert_to_array_record("records", str(data_dir))
    assert Path(directory).is_absolute()
    assert len(sources.random_access("records", "train", str(data_dir))) > 0


def test_kfood_build_is_converted_and_its_metadata_holds(
    dummy_build: dict[str, Any], tmp_path: Path
) -> None:
    pytest.importorskip("apache_beam", reason="TFDS's converter imports apache_beam")
    shutil.copytree(Path(dummy_build["data_dir"]) / "kfood", tmp_path / "kfood")
    sources.convert_to_array_record("kfood/full", str(tmp_path))
    source = sources.random_access("kfood/full", "train", str(tmp_path))
    stream = tfds.load("kfood/full", data_dir=tmp_path, split="train")
    assert [example["id"] for example in source] == [
        example["id"].numpy().decode() for example in stream
    ]
    labels = source.column("label")
    assert sampling.class_counts(source.info, "train").tolist() == [
        int(np.sum(labels == label)) for label in range(150)
    ]
    inside = [_inside_box(example).reshape(-1, 3) for example in source]
    pixels = np.concatenate(inside) / 255.0
    stats = statistics.channel_stats(source.info, "train")
    np.testing.assert_allclose(stats.mean, pixels.mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(stats.std, pixels.std(axis=0), atol=1e-6)


def _inside_box(example: dict[str, Any]) -> np.ndarray:
    height, width = example["image"].shape[:2]
    top, left, bottom, right = np.rint(example["crop"] * [height, width, height, width]).astype(int)
    return example["image"][top:bottom, left:right]


def test_missing_data_set_split_and_form_are_named(data_dir: str, tmp_path: Path) -> None:
    with pytest.raises(sources.SourceError, match="nonesuch.*data_dir") as caught:
        sources.random_access("nonesuch", "train", str(tmp_path))
    assert len(str(caught.value)) < 300
    with pytest.raises(sources.SourceError, match=r"\['train'\].*split='test'"):
        sources.random_access("small", "test", data_dir)
    with pytest.raises(ValueError, match="image='raw'"):
        sources.random_access("small", "train", data_dir, image="raw")


@pytest.mark.parametrize(
    ("split", "words"),
    [
        ("train+test", r"splits \['train'\].*split='train\+test'"),
        ("test+train", r"splits \['train'\]"),
        ("train[", "sums such as"),
        ("train[:1", "sums such as"),
        ("", "sums such as"),
        ("train[:0]", "must have an example"),
        ("train[99:]", "sums such as|must have an example"),
    ],
)
def test_splits_that_name_nothing_are_refused(data_dir: str, split: str, words: str) -> None:
    with pytest.raises(sources.SourceError, match=words):
        sources.random_access("small", split, data_dir)


def test_parts_and_sums_of_splits_are_taken(data_dir: str) -> None:
    assert len(sources.random_access("small", "train[:10]", data_dir)) == 10
    assert len(sources.random_access("small", "train[:4]+train[20:]", data_dir)) == 4 + COUNT - 20


def test_a_mask_gives_the_examples_where_it_is_true(source: sources.RandomAccess) -> None:
    labels = source.column("label")
    wanted = [example["id"] for example in source if example["label"] == 2]
    assert [example["id"] for example in source[labels == 2]] == wanted
    assert [example["id"] for example in source[(labels == 2).tolist()]] == wanted
    assert source[np.zeros(COUNT, bool)] == []


def test_keys_that_are_neither_indices_nor_a_mask_are_refused(source: sources.RandomAccess) -> None:
    with pytest.raises(IndexError, match=f"each of the {COUNT}.*3 entries"):
        source[[True, False, True]]
    for key in (np.array([0.0, 1.0]), np.array([[0, 1]]), ["a"]):
        with pytest.raises(TypeError, match="whole numbers, or by a mask"):
            source[key]
    assert source[[]] == []


@pytest.mark.slow
def test_torch_loader_with_spawned_workers_gives_every_id_once(
    source: sources.RandomAccess,
) -> None:
    data = pytest.importorskip("torch.utils.data", reason="torch is not installed")
    loader = data.DataLoader(
        source.with_transform(resized),
        batch_size=4,
        sampler=Random(source, seed=1),
        num_workers=2,
        multiprocessing_context="spawn",
        collate_fn=sources.collate,
    )
    batches = list(loader)
    assert Counter(name for batch in batches for name in batch["id"]) == Counter(
        example["id"] for example in source
    )
    assert [tuple(batch["image"].shape) for batch in batches] == [(4, 4, 6, 3)] * 5 + [(3, 4, 6, 3)]


@pytest.mark.slow
def test_torch_loader_takes_batches_of_indices_and_pins_them(
    source: sources.RandomAccess,
) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    loader = torch.utils.data.DataLoader(
        source.with_transform(resized),
        batch_sampler=Batch(Random(source), 5, drop_last=True),
        collate_fn=sources.collate,
        pin_memory=torch.cuda.is_available(),
    )
    first, second = ([name for batch in loader for name in batch["id"]] for _ in range(2))
    assert len(set(first)) == len(set(second)) == 20
    assert first != second


def test_collate_stacks_structures_of_arrays_numbers_and_texts() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    image = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    images, labels, names = sources.collate([(image, 3, "a"), (image + 1, 5, "b")], True)
    assert images.dtype == torch.uint8
    np.testing.assert_array_equal(images[1].numpy(), (image + 1).transpose(2, 0, 1))
    assert labels.tolist() == [3, 5]
    assert names == ["a", "b"]
    with pytest.raises(ValueError, match="one size.*with_transform"):
        sources.collate([image, image[:1]])


def test_grain_reads_the_source_as_it_is(source: sources.RandomAccess) -> None:
    grain = pytest.importorskip("grain", reason="grain is not installed")
    ds = grain.MapDataset.source(source).shuffle(seed=3).map(id_and_mean).batch(4)
    names = [name for batch in ds for name in batch[0].tolist()]
    assert Counter(names) == Counter(example["id"] for example in source)

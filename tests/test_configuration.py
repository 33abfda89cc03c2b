"""Experiments from JSON, on a small data set that the test itself stores through TFDS."""

from __future__ import annotations

import copy
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from kfood_tfds import configuration
from kfood_tfds import postprocessing as pp

pytest.importorskip("jsonschema", reason="jsonschema is not installed")

COUNT = 24


def _example(number: int) -> dict[str, Any]:
    buffer = io.BytesIO()
    Image.fromarray(np.full((12, 16, 3), number, np.uint8)).save(buffer, "PNG")
    return {
        "image": buffer.getvalue(),
        "label": min(number // 8, 1),
        "category": 0,
        "crop": np.array([0, 0, 1, 1], np.float32),
        "height": 12,
        "width": 16,
        "id": f"구이/{number:03d}.png",
        "group": number,
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import tensorflow_datasets as tfds

    path = tmp_path_factory.mktemp("configuration")
    features = {
        "image": tfds.features.Image(shape=(None, None, 3)),
        "label": tfds.features.ClassLabel(names=["갈비구이", "갈치구이"]),
        "category": tfds.features.ClassLabel(names=["구이"]),
        "crop": tfds.features.BBoxFeature(),
        "height": np.int32,
        "width": np.int32,
        "id": tfds.features.Text(),
        "group": np.int64,
    }
    for name, file_format in (("stream", "tfrecord"), ("records", "array_record")):
        tfds.dataset_builders.store_as_tfds_dataset(
            name=name,
            version="1.0.0",
            features=tfds.features.FeaturesDict(features),
            split_datasets={
                "train": [(number, _example(number)) for number in range(COUNT)],
                "validation": [(number, _example(number)) for number in range(5)],
            },
            data_dir=path / "data",
            file_format=file_format,
        )
    return path


def _write(folder: Path, **parts: Any) -> Path:
    content: dict[str, Any] = {
        "dataset": {"name": "stream", "data_dir": "data"},
        "pipeline": {"size": 8},
        "batch_size": 6,
    }
    content.update(parts)
    path = folder / "experiment.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def _stored(name: str = "records", **more: Any) -> dict[str, Any]:
    # Streams can't be had of ArrayRecord files, so there is no validation in these.
    return {"name": name, "data_dir": "data", "validation": None, **more}


def _class_shares(batches: Any) -> list[int]:
    return np.sum([np.sum(batch[1], axis=0) for batch in batches.as_numpy_iterator()], axis=0)


def test_least_configuration_gives_both_batches(folder: Path) -> None:
    experiment = configuration.load(_write(folder))
    images, labels = next(iter(experiment.train))
    assert (images.shape, labels.shape) == ((6, 8, 8, 3), (6, 2))
    assert int(experiment.train.cardinality()) == 4
    assert int(experiment.validation.cardinality()) == 1
    assert experiment.train_pipeline == pp.train_pipeline(8, num_classes=2)
    assert experiment.eval_pipeline == pp.eval_pipeline(8, num_classes=2)
    assert experiment.config["sampler"] == {"name": "shuffle"}
    assert experiment.config["dataset"]["train"] == "train"


def test_settings_reach_the_pipeline(folder: Path) -> None:
    settings = {
        "size": 4,
        "crop": "central",
        "flip": False,
        "scale": "symmetric",
        "one_hot": False,
        "augment": [{"op": "RandomFlip", "horizontal": False, "vertical": True}],
    }
    dataset = {"name": "stream", "data_dir": "data", "train": "train[:50%]", "validation": None}
    experiment = configuration.load(_write(folder, pipeline=settings, dataset=dataset))
    assert experiment.validation is None
    assert experiment.train_pipeline == pp.train_pipeline(
        4,
        "central",
        False,
        "symmetric",
        one_hot=False,
        num_classes=2,
        augment=(pp.RandomFlip(horizontal=False, vertical=True),),
    )
    assert int(experiment.train.cardinality()) == 2


def test_a_dict_is_as_good_as_a_file_and_stays_as_it_was(folder: Path) -> None:
    config = {
        "dataset": {"name": "stream", "data_dir": str(folder / "data")},
        "pipeline": {"size": 8},
        "batch_size": 6,
    }
    before = copy.deepcopy(config)
    assert configuration.load(config).place == "config"
    assert config == before


@pytest.mark.slow
def test_seed_decides_the_order(folder: Path) -> None:
    def first(seed: int) -> list[float]:
        experiment = configuration.load(
            _write(folder, seed=seed, pipeline={"size": 8, "scale": "none"})
        )
        return next(iter(experiment.train))[0].numpy()[:, 0, 0, 0].tolist()

    assert first(1) == first(1) != first(2)


def test_class_weights_are_the_third_item(folder: Path) -> None:
    experiment = configuration.load(_write(folder, class_weights="balanced"))
    for _, labels, weights in experiment.train:
        # 24 examples, 8 of the first class and 16 of the second.
        np.testing.assert_allclose(weights, np.where(labels[:, 0] == 1, 24 / 16, 24 / 32))


@pytest.mark.slow
def test_resampled_stream_is_balanced(folder: Path) -> None:
    experiment = configuration.load(_write(folder, sampler={"name": "resample", "length": 240}))
    shares = _class_shares(experiment.train)
    assert sum(shares) == 240
    assert abs(shares[0] - 120) <= 16


@pytest.mark.parametrize(
    ("sampler", "expected"),
    [
        ({"name": "sequential"}, [8, 16]),
        ({"name": "random"}, [8, 16]),
        ({"name": "random", "num_samples": 48}, [16, 32]),
        ({"name": "balanced", "per_class": 9}, [9, 9]),
        ({"name": "weighted", "weights": [1, 0], "num_samples": 10}, [10, 0]),
    ],
)
def test_index_samplers_read_array_records(
    folder: Path, sampler: dict[str, Any], expected: list[int]
) -> None:
    pytest.importorskip("array_record", reason="array_record is not installed")
    experiment = configuration.load(_write(folder, dataset=_stored(), sampler=sampler))
    assert _class_shares(experiment.train).tolist() == expected


def test_weighted_by_a_scheme_evens_out_the_classes(folder: Path) -> None:
    pytest.importorskip("array_record", reason="array_record is not installed")
    sampler = {"name": "weighted", "num_samples": 600}
    shares = _class_shares(
        configuration.load(_write(folder, dataset=_stored(), sampler=sampler)).train
    )
    assert abs(shares[0] - 300) < 4 * np.sqrt(150)


def test_epochs_in_a_row(folder: Path) -> None:
    experiment = configuration.load(_write(folder, epochs=3, batch_size=5, drop_remainder=True))
    assert int(experiment.train.cardinality()) == 12


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"batch_size": 0}, "batch_size: 0 is less than the minimum of 1"),
        ({"batch_size": "6"}, 'batch_size: must be of type integer. Received: "6"'),
        ({"batchsize": 3}, "unknown key(s) batchsize; known are $schema, batch_size"),
        ({"pipeline": {}}, "pipeline: the key(s) size must be there"),
        ({"pipeline": {"size": 8, "crop": "left"}}, 'pipeline.crop: must be one of "random"'),
        ({"pipeline": {"size": 8, "augment": [{"op": "RandomFlip"}, {}]}}, "pipeline.augment[1]: "),
        ({"sampler": {"name": "best"}}, 'sampler.name: must be one of "shuffle", "resample"'),
        ({"sampler": {"name": "shuffle", "weights": []}}, "sampler: unknown key(s) weights"),
        ({"sampler": {"name": "weighted", "weights": [1, -2]}}, "sampler.weights: "),
        ({"sampler": {"name": "weighted", "weights": "even"}}, 'must be one of "balanced", "sqrt"'),
        (
            {"dataset": {"name": "stream", "data_dir": 3}},
            "dataset.data_dir: must be of type string",
        ),
        ({"seed": -1}, "seed: -1 is less than the minimum of 0"),
    ],
)
def test_faults_are_named_by_their_place(folder: Path, parts: dict[str, Any], words: str) -> None:
    with pytest.raises(configuration.ConfigurationError) as caught:
        configuration.load(_write(folder, **parts))
    assert words in str(caught.value)
    assert "experiment.json: " in str(caught.value)


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"pipeline": {"size": 8, "augment": [{"op": "Blur"}]}}, "pipeline.augment[0]: "),
        ({"pipeline": {"size": 8, "scale": "dataset"}}, "pipeline.scale: "),
        ({"pipeline": {"size": 8, "dtype": "uint8", "scale": "imagenet"}}, "pipeline: "),
        ({"dataset": {"name": "nonesuch"}}, "dataset: Dataset nonesuch not found"),
        ({"dataset": {"name": "stream", "data_dir": "data", "train": "test"}}, "dataset.train: "),
        (
            {"dataset": {"name": "stream", "data_dir": "data", "train": "train+test"}},
            "dataset.train: The data set has the splits",
        ),
        (
            {"dataset": {"name": "stream", "data_dir": "data", "validation": "validation[5:]"}},
            "dataset.validation: A split, or a part of one, must have an example",
        ),
        ({"sampler": {"name": "random"}}, "dataset: Random access takes ArrayRecord"),
        ({"sampler": {"name": "resample", "rates": [0, 0]}}, "sampler: rates must be"),
        ({"batch_size": 100, "drop_remainder": True}, "batch_size: "),
    ],
)
def test_faults_that_show_later_are_named_too(
    folder: Path, parts: dict[str, Any], words: str
) -> None:
    with pytest.raises(configuration.ConfigurationError) as caught:
        configuration.load(_write(folder, **parts))
    assert f"experiment.json: {words}" in str(caught.value)
    assert len(str(caught.value)) < 600


def test_wrong_weights_for_the_labels_are_named(folder: Path) -> None:
    pytest.importorskip("array_record", reason="array_record is not installed")
    sampler = {"name": "weighted", "weights": [1]}
    with pytest.raises(configuration.ConfigurationError, match="sampler: .*label up to 1"):
        configuration.load(_write(folder, dataset=_stored(), sampler=sampler))


def test_all_faults_are_named_at_once(folder: Path) -> None:
    with pytest.raises(configuration.ConfigurationError) as caught:
        configuration.load(_write(folder, batch_size=0, seed=-1))
    assert "batch_size: " in str(caught.value) and "seed: " in str(caught.value)


def test_files_that_are_no_configuration(tmp_path: Path) -> None:
    with pytest.raises(configuration.ConfigurationError, match=r"none\.json.*can't be read"):
        configuration.load(tmp_path / "none.json")
    for text, words in (("{", "must be JSON"), ("[]", "JSON object")):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(configuration.ConfigurationError, match=words):
            configuration.load(tmp_path / "bad.json")


def test_schema_is_valid_and_its_defaults_are_too() -> None:
    import jsonschema

    schema = configuration.load_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    least = {"dataset": {"name": "kfood"}, "pipeline": {"size": 8}, "batch_size": 1}
    filled = configuration.with_defaults(least)
    assert configuration.with_defaults(filled) == filled
    assert filled["dataset"]["validation"] == "validation"
    assert filled["pipeline"]["augment"] == []

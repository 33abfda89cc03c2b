"""The contract of ops: checks, seeds, JSON."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from kfood_tfds import postprocessing as pp
from kfood_tfds.postprocessing import ops
from kfood_tfds.postprocessing.catalogue import OPS

KEY = """
import tensorflow as tf
from kfood_tfds.postprocessing import ops
print(ops.example_key(7, 3, tf.constant("구이/갈비구이/Img_000_0000.jpg")).numpy().tolist())
"""


def test_supervised_pairs_are_refused_with_the_remedy(example: Any) -> None:
    given = example()
    pairs = tf.data.Dataset.from_tensors((given["image"], given["label"]))
    with pytest.raises(ValueError, match="without as_supervised=True"):
        pairs.map(pp.CropToBox())
    with pytest.raises(ValueError, match="without as_supervised=True"):
        pp.train_pipeline(32)((given["image"], given["label"]))


def test_missing_features_are_named(example: Any) -> None:
    with pytest.raises(ValueError, match=r"CropToBox needs the feature\(s\) crop"):
        pp.CropToBox()({"image": example()["image"]})
    with pytest.raises(ValueError, match="RandomSquare draws at random by example id"):
        pp.RandomSquare()({"image": example()["image"]})


def test_ops_dont_change_what_they_are_given(example: Any) -> None:
    given = example(form="JPEG")
    before = dict(given)
    pp.Resize(8)(pp.RandomSquare()(given))
    assert given == before


def test_keys_are_injective_in_seed_and_epoch() -> None:
    keys = {
        tuple(ops.example_key(seed, epoch, tf.constant(name)).numpy())
        for seed in (0, 1, 2)
        for epoch in (0, 1, 2, 2**31)
        for name in ("a", "b")
    }
    assert len(keys) == 24


def test_keys_of_a_batch_are_those_of_its_examples() -> None:
    names = tf.constant(["a", "b", "a"])
    batch = ops.example_key(5, 6, names).numpy()
    single = [ops.example_key(5, 6, name).numpy() for name in names]
    np.testing.assert_array_equal(batch, single)


@pytest.mark.slow
def test_keys_are_the_same_in_another_process_with_another_hash_seed() -> None:
    results = {
        subprocess.run(
            [sys.executable, "-c", KEY],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    here = ops.example_key(7, 3, tf.constant("구이/갈비구이/Img_000_0000.jpg")).numpy().tolist()
    assert {result.decode().strip() for result in results} == {str(here)}


def test_split_seeds_differ() -> None:
    seeds = ops.split_seed(tf.constant([1, 2], tf.int64), 4)
    assert len({tuple(seed.numpy()) for seed in seeds}) == 4


@pytest.mark.parametrize(
    "op",
    [
        pp.CropToBox(0.1),
        pp.CentralSquare(),
        pp.RandomSquare(0.8, seed=4),
        pp.RandomResizedCrop((0.1, 0.9), (0.5, 2.0), 0.3),
        pp.FixedWindow(64, "central"),
        pp.MultiCrop(0.9),
        pp.Decode(),
        pp.Resize((3, 4), "area", True, "uint8"),
        pp.RandomFlip(False, True),
        pp.Scale("symmetric"),
        pp.Normalize((0.1, 0.2, 0.3), (0.4, 0.5, 0.6)),
        pp.OneHot(20, 0.1, 5),
    ],
)
def test_json_values_and_back(op: Any) -> None:
    assert ops.from_config(op.to_config(), OPS) == op


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"op": "Sharpen"}, "Unknown op 'Sharpen'; known are .*'CentralSquare'"),
        ({"op": "Resize", "size": 9, "colour": 1}, "'Resize' has no .*'colour'.*'antialias'"),
        ({"op": "Resize"}, "'Resize' can't be built: .*size"),
        ({"op": "Resize", "size": "9"}, "size must be an int"),
        ({"size": 9}, "with the key 'op'"),
        ("Resize", "with the key 'op'"),
    ],
)
def test_bad_json_is_refused_by_name(config: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ops.from_config(config, OPS)


def test_ops_may_hold_ops() -> None:
    @dataclasses.dataclass(frozen=True)
    class Twice(ops.Op):
        inner: tuple[ops.Op, ...] = ()

    op = Twice((pp.CropToBox(0.2), pp.Decode()))
    assert ops.from_config(op.to_config(), {**OPS, "Twice": Twice}) == op


@pytest.mark.parametrize("name", sorted(OPS))
def test_every_op_of_the_catalogue_is_public_frozen_and_documented(name: str) -> None:
    op = OPS[name]
    assert getattr(pp, name) is op
    assert dataclasses.is_dataclass(op) and op.__dataclass_params__.frozen
    fields = {field.name for field in dataclasses.fields(op)} - {"seed"}
    assert all(field in op.__doc__ for field in fields)

"""The ops that JSON may name: all there are, each of them usable."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from kfood_tfds import postprocessing as pp
from kfood_tfds.postprocessing import ops
from kfood_tfds.postprocessing.catalogue import OPS

# What the others are made from.
BASES = {pp.Op, pp.PixelOp, pp.RandomOp, pp.RandomPixelOp, pp.BatchOp}
# Fields without a default.
REQUIRED: Mapping[str, Mapping[str, Any]] = {
    "FixedWindow": {"size": 16},
    "Normalize": {"mean": [0.5, 0.25, 0.75], "std": [0.5, 0.5, 0.25]},
    "Resize": {"size": [8, 12]},
}


def descendants(op: type[pp.Op]) -> Iterator[type[pp.Op]]:
    for child in op.__subclasses__():
        yield child
        yield from descendants(child)


def from_text(text: str) -> pp.Op:
    return ops.from_config(json.loads(text), OPS)


def made(name: str) -> pp.Op:
    return from_text(json.dumps({"op": name, **REQUIRED.get(name, {})}))


def fed(op: pp.Op, example: Any) -> dict[str, Any]:
    """Returns an example for an op, or a batch for one that needs batches."""
    if not isinstance(op, pp.BatchOp):
        return example(form="JPEG", box=(10, 20, 50, 70))
    images = tf.stack([example(seed=seed)["image"] for seed in range(3)])
    return {"image": images, "label": tf.one_hot([4, 0, 2], 5), "id": tf.constant(list("abc"))}


def test_every_op_of_the_package_can_be_named() -> None:
    own = {op for op in descendants(pp.Op) if op.__module__.startswith("kfood_tfds.")}
    finished = {op for op in own - BASES if not op.__name__.startswith("_")}
    assert dict(OPS) == {op.__name__: op for op in finished}


def test_the_catalogue_cannot_be_changed() -> None:
    before = dict(OPS)
    with pytest.raises(TypeError):
        OPS["Mine"] = pp.Op  # type: ignore[index]
    assert dict(OPS) == before


@pytest.mark.parametrize("name", [*sorted(op.__name__ for op in BASES), "_Mix", "resize", ""])
def test_what_is_no_finished_op_cannot_be_named(name: str) -> None:
    with pytest.raises(ValueError, match=f"Unknown op '{name}'; known are .*Received: "):
        from_text(json.dumps({"op": name}))


@pytest.mark.parametrize("name", sorted(REQUIRED))
def test_what_has_no_default_must_be_given(name: str) -> None:
    with pytest.raises(ValueError, match=f"Op '{name}' can't be built: .*Received: "):
        from_text(json.dumps({"op": name}))


@pytest.mark.parametrize("name", sorted(OPS))
def test_json_makes_every_op_with_its_defaults(name: str) -> None:
    op = made(name)
    assert type(op) is getattr(pp, name)
    given = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in REQUIRED.get(name, {}).items()
    }
    assert op == getattr(pp, name)(**given)
    assert from_text(json.dumps(op.to_config())) == op


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow) if name == "RandAugment" else name
        for name in sorted(OPS)
    ],
)
def test_every_op_does_the_same_in_a_data_set(name: str, example: Any) -> None:
    op = made(name)
    given = fed(op, example)
    alone = op(given)
    (inside,) = tf.data.Dataset.from_tensors(given).map(op)
    assert set(inside) == set(alone)
    for key, value in alone.items():
        expected, found = np.asarray(value), np.asarray(inside[key])
        if np.issubdtype(expected.dtype, np.floating):
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
        else:
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", sorted(OPS))
def test_only_what_evaluation_leaves_out_hangs_on_the_id(name: str, example: Any) -> None:
    op = made(name)
    given = fed(op, example)
    del given["id"]
    if op.evaluation() == (op,):
        assert set(op(given)) >= {"image", "label"}
        return
    with pytest.raises(ValueError, match=f"{name} draws at random by example id.*Received: "):
        op(given)

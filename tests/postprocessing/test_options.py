"""Arguments of batches() that are refused."""

from __future__ import annotations

from typing import Any

import pytest

from kfood_tfds import postprocessing as pp


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"seed": -1}, "seed=-1"),
        ({"seed": None}, "seed=None"),
        ({"seed": 1.0}, "seed=1.0"),
        ({"shuffle": 1000}, "shuffle=1000"),
        ({"epochs": 0}, "epochs=0"),
        ({"num_parallel_calls": 0}, "num_parallel_calls=0"),
        ({"start_step": -1}, "start_step=-1"),
        ({"start_example": -1, "epochs": 1}, "start_example=-1"),
        ({"start_example": 1}, "start_example=1, epochs=None"),
        ({"start_step": 1, "start_example": 1, "epochs": 1}, "start_step=1, start_example=1"),
        ({"shuffle_buffer_bytes": 0}, "shuffle_buffer_bytes=0"),
    ],
)
def test_bad_values(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"Received: {message}"):
        pp.BatchOptions(32, **fields)


def test_unknown_arguments() -> None:
    with pytest.raises(TypeError, match="shufle"):
        pp.eval_pipeline(8).batches(pp.fake_examples(2), 2, shufle=True)

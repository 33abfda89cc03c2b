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


@pytest.mark.parametrize(
    ("cores", "batch_size", "given", "calls"),
    [(2, 32, None, 32), (2, 1, None, 2), (2, 512, None, 64), (96, 32, None, 96), (2, 32, 3, 3)],
)
def test_calls(
    cores: int, batch_size: int, given: int | None, calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    assert pp.BatchOptions(batch_size, num_parallel_calls=given).calls == calls


def test_unknown_arguments() -> None:
    with pytest.raises(TypeError, match="shufle"):
        pp.eval_pipeline(8).batches(pp.fake_examples(2), 2, shufle=True)

"""The table of costs."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from kfood_tfds import postprocessing as pp
from kfood_tfds.postprocessing import costs


def test_table_adds_up() -> None:
    lines = costs.table(
        [costs.Cost("Decode()", 1.5, "uint8 4x4x3"), costs.Cost("Scale()", 0.5, "float32 4x4x3")]
    ).splitlines()
    assert lines[1].split() == ["Decode()", "1.50", "uint8", "4x4x3"]
    assert lines[3].split() == ["all", "2.00", "500", "images/s", "a", "core"]
    assert len({line.index(".") for line in lines[1:]}) == 1


@pytest.mark.slow
def test_steps_give_what_the_pipeline_gives() -> None:
    ds = pp.fake_examples(2, sides=(16, 24))
    found = costs.measure(pp.eval_pipeline(8, dtype="uint8").ops, ds)
    assert [cost.gives for cost in found] == [
        "encoded",
        "encoded",
        found[2].gives,
        "uint8 8x8x3",
        "uint8 8x8x3",
    ]
    assert found[2].step == "Decode()" and found[2].gives.startswith("uint8 ")
    assert all(cost.milliseconds >= 0 for cost in found)


def test_an_image_as_high_as_a_batch_is_long_is_one_image(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = itertools.chain([0.0], itertools.repeat(1.0))

    def timed(function: Any, batch: list[Any]) -> tuple[float, list[Any]]:
        return next(seconds), [function(dict(example)) for example in batch]

    monkeypatch.setattr(costs, "_timed", timed)
    ops = (pp.CentralSquare(), pp.Resize(32), pp.OneHot(), pp.MixUp())
    found = costs.measure(ops, pp.fake_examples(1, sides=(16, 24)))
    assert [cost.step.partition("(")[0] for cost in found] == [
        "CentralSquare",
        "Decode",
        "Resize",
        "OneHot",
        "MixUp",
    ]
    # Only the last takes a batch, of 32.
    assert [cost.milliseconds for cost in found] == [1000, 1000, 1000, 1000, 31.25]


def test_an_empty_data_set_is_refused() -> None:
    with pytest.raises(ValueError, match="an empty data set"):
        pp.eval_pipeline(8).describe(pp.fake_examples(1).take(0))

"""Checks of op fields: what passes, what doesn't, and what is said then."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import pytest

from kfood_tfds.postprocessing import checks


@pytest.mark.parametrize(
    ("check", "passing", "failing", "words"),
    [
        (lambda v: checks.integer("n", v, 2), [2, 3], [1, True, 2.0, "2"], "an int >= 2"),
        (lambda v: checks.number("p", v, 0, 1), [0, 1, 0.5], [-0.1, 1.1, True, math.nan, "1"],
         "a number from 0 to 1"),
        (lambda v: checks.number("p", v, 0, 1, open_low=True), [1, 0.1], [0, math.inf],
         "a number above 0 to 1"),
        (lambda v: checks.interval("r", v, 0, 2), [(1, 2), (1, 1)],
         [(0, 1), (2, 1), (1, 3), [1, 2], (1,), (1, math.nan)], ""),
        (lambda v: checks.interval("r", v, 0, 2, open_low=False), [(0, 2), (0, 0)],
         [(-1, 1), (2, 1), (0, 3)], ""),
        (lambda v: checks.choice("c", v, ("a", "b")), ["a", "b"], ["", "A", None], "one of a, b"),
        (lambda v: checks.flag("f", v), [True, False], [0, 1, None, "True"], "True or False"),
    ],
)  # fmt: skip
def test_fields(
    check: Callable[[Any], None], passing: list[Any], failing: list[Any], words: str
) -> None:
    for value in passing:
        check(value)
    for value in failing:
        with pytest.raises(ValueError, match=rf"{re.escape(words)}.*Received: .*=") as caught:
            check(value)
        if not isinstance(value, tuple):
            assert repr(value) in str(caught.value)


def test_an_interval_says_which_rule_is_broken() -> None:
    with pytest.raises(ValueError, match=r"must not decrease\. Received: r=\(2, 1\)"):
        checks.interval("r", (2, 1), 0, 2)
    with pytest.raises(ValueError, match=r"each bound of r must be a number above 0 to 2"):
        checks.interval("r", (0, 1), 0, 2)
    with pytest.raises(ValueError, match=r"a tuple of two numbers\. Received: r=\[1, 2\]"):
        checks.interval("r", [1, 2], 0, 2)

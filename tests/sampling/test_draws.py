"""Keyed random numbers."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from kfood_tfds.sampling import draws


def test_raw_numbers_are_those_of_philox_for_this_key() -> None:
    # numpy's documented construction, so that no release of this package can change the order.
    expected = np.random.Philox(np.random.SeedSequence([7, 3, 0])).random_raw(4)
    assert draws.raw(4, 7, 3).tolist() == expected.tolist()
    assert draws.raw(2, 0, 0).tolist() == [259491006799949737, 4754966410622352325]


def test_another_process_draws_the_same() -> None:
    code = "from kfood_tfds.sampling import draws; print(draws.permutation(9, 1, 2).tolist())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": "5"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == str(draws.permutation(9, 1, 2).tolist())


def test_uniform_numbers_are_spread_evenly_inside_the_open_interval() -> None:
    values = draws.uniform(20_000, 0, 0)
    assert values.min() > 0 and values.max() < 1
    shares = np.histogram(values, bins=10, range=(0, 1))[0] / 20_000
    assert np.abs(shares - 0.1).max() < 4 * np.sqrt(0.09 / 20_000)


def test_permutation_holds_every_number_once() -> None:
    assert sorted(draws.permutation(50, 0, 0).tolist()) == list(range(50))


@pytest.mark.parametrize("other", [(1, 0, 0), (0, 1, 0), (0, 0, 1)])
def test_seed_epoch_and_stream_each_change_the_draw(other: tuple[int, int, int]) -> None:
    assert draws.permutation(50, 0, 0).tolist() != draws.permutation(50, *other).tolist()


def test_length_of_takes_a_sequence_or_a_number() -> None:
    assert draws.length_of(["a", "b"]) == 2
    assert draws.length_of(np.int64(3)) == 3


@pytest.mark.parametrize("source", [-1, 1.5, None])
def test_length_of_refuses_what_has_none(source: object) -> None:
    with pytest.raises(ValueError, match="Received: source"):
        draws.length_of(source)

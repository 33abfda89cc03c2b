"""Dice and pieces of food: whole numbers, near where they are put."""

from __future__ import annotations

import math

import numpy as np
import pytest
from PIL import Image, ImageDraw

from kfood_tfds.raw.dish_shapes import SHAPES, TURN, Dice, Spot, shade, step


def test_dice_are_pcg64_seeded_by_sha256() -> None:
    dice = Dice("kfood", 3, "만두")
    # sha256("kfood/3/만두"), its first 16 bytes big-endian; raw output taken from the end of 128.
    seed = 56557729496831769988337277082061154669
    raw = np.random.PCG64(seed).random_raw(128)
    assert [dice.between(0, 99) for _ in range(3)] == [int(raw[-k]) % 100 for k in (1, 2, 3)]


def test_dice_reach_both_ends_evenly() -> None:
    dice = Dice("ends")
    thrown = np.bincount([dice.between(2, 4) for _ in range(3000)], minlength=6)
    assert thrown[[0, 1, 5]].sum() == 0
    assert thrown[2:5].min() > 850
    assert {dice.pick("ab") for _ in range(50)} == {"a", "b"}


def test_grid_is_centred() -> None:
    grid = Dice("grid").grid(60, 41, 4)
    assert grid.shape == (60, 41) and grid.dtype == np.int16
    assert grid.min() == -4 and grid.max() == 4
    assert abs(float(grid.mean())) < 0.3


def test_step_goes_round_the_circle() -> None:
    for turn in range(0, TURN, 5):
        x, y = step(10, -20, turn, 100)
        assert x - 10 == pytest.approx(100 * math.cos(2 * math.pi * turn / TURN), abs=1)
        assert y + 20 == pytest.approx(100 * math.sin(2 * math.pi * turn / TURN), abs=1)


def test_shade_stays_a_colour() -> None:
    assert shade((10, 128, 250), 20) == (30, 148, 255)
    assert shade((10, 128, 250), -20) == (0, 108, 230)


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_a_piece_lies_where_it_is_put(name: str) -> None:
    for turn in (0, 9, 33):
        image = Image.new("RGB", (240, 200))
        SHAPES[name](ImageDraw.Draw(image), Spot(130, 90, 30, turn, (200, 120, 60)), Dice(name))
        ys, xs = np.nonzero(np.asarray(image).any(axis=-1))
        assert 40 < len(ys) < 9_000
        assert np.hypot(ys - 90, xs - 130).max() < 80
        assert np.hypot(ys - 90, xs - 130).min() < 30


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_a_piece_is_never_too_small_to_draw(name: str) -> None:
    image = Image.new("RGB", (40, 40))
    SHAPES[name](ImageDraw.Draw(image), Spot(20, 20, 3, 5, (200, 120, 60)), Dice(name))
    assert np.asarray(image).any()

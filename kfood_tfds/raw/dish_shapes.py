"""Pieces of food for the drawn sample: each function draws one piece at a spot.

All of it is whole numbers, from the dice to the corners of a polygon, so that a piece looks the
same on every machine. Sizes are half-lengths in pixels of the canvas.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from PIL import ImageDraw

Colour = tuple[int, int, int]
Point = tuple[int, int]
_Value = TypeVar("_Value")

TURN = 64
# Directions in 1/1024; rounded, so that no platform's cosine shows.
_COSINES = tuple(round(1024 * math.cos(2 * math.pi * k / TURN)) for k in range(TURN))


class Dice:
    """A stream of whole numbers, the same on every machine.

    Drawn from PCG64's raw output alone: numpy keeps that stream fixed (NEP 19), while the methods
    of `Generator` may change.
    """

    def __init__(self, *key: object) -> None:
        """Seeds the stream by SHA-256 of the key's parts."""
        digest = hashlib.sha256("/".join(map(str, key)).encode()).digest()
        self._bits = np.random.PCG64(int.from_bytes(digest[:16], "big"))
        self._next: list[int] = []

    def between(self, low: int, high: int) -> int:
        """Returns a whole number, low and high included."""
        if not self._next:
            self._next = self._bits.random_raw(128).tolist()
        return low + self._next.pop() % (high - low + 1)

    def pick(self, values: Sequence[_Value]) -> _Value:
        """Returns one of the values."""
        return values[self.between(0, len(values) - 1)]

    def grid(self, height: int, width: int, spread: int) -> npt.NDArray[np.int16]:
        """Returns int16[height, width] of -spread to spread."""
        words = self._bits.random_raw(-(-height * width // 4)).astype("<u8")
        parts = words.view("<u2")[: height * width].reshape(height, width)
        return (parts % (2 * spread + 1)).astype(np.int16) - np.int16(spread)


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a piece goes: centre, half-length, direction (in 1/64 turns), colour."""

    x: int
    y: int
    size: int
    turn: int
    colour: Colour


Shape = Callable[[ImageDraw.ImageDraw, Spot, Dice], None]


def shade(colour: Colour, amount: int) -> Colour:
    """Returns a colour made lighter (amount > 0) or darker."""
    red, green, blue = (min(255, max(0, level + amount)) for level in colour)
    return red, green, blue


def step(x: int, y: int, turn: int, length: int) -> Point:
    """Returns the point so far away in a direction."""
    dx = (length * _COSINES[turn % TURN] + 512) >> 10
    dy = (length * _COSINES[(turn - TURN // 4) % TURN] + 512) >> 10
    return x + dx, y + dy


def _place(spot: Spot, corners: Sequence[Point]) -> list[Point]:
    """Turns corners in hundredths of the size around the spot."""
    placed = []
    for along, across in corners:
        x, y = step(spot.x, spot.y, spot.turn, spot.size * along // 100)
        placed.append(step(x, y, spot.turn + TURN // 4, spot.size * across // 100))
    return placed


def _circle(draw: ImageDraw.ImageDraw, at: Point, radius: int, colour: Colour) -> None:
    x, y = at
    draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=colour)


def _around(spot: Spot, number: int, share: int) -> list[Point]:
    """Returns points evenly around the spot, at a share (hundredths) of its size."""
    return [
        step(spot.x, spot.y, spot.turn + TURN * k // number, spot.size * share // 100)
        for k in range(number)
    ]


def _cube(draw: ImageDraw.ImageDraw, spot: Spot, dice: Dice) -> None:
    square = ((-70, -70), (70, -70), (70, 70), (-70, 70))
    draw.polygon(_place(spot, square), fill=shade(spot.colour, -45))
    inner = tuple((x * 7 // 10 - 12, y * 7 // 10 - 12) for x, y in square)
    draw.polygon(_place(spot, inner), fill=spot.colour)


def _slab(draw: ImageDraw.ImageDraw, spot: Spot, dice: Dice) -> None:
    draw.polygon(
        _place(spot, ((-100, -50), (100, -50), (100, 50), (-100, 50))), fill=shade(spot.colour, -40)
    )
    draw.polygon(_place(spot, ((-95, -45), (95, -45), (95, 25), (-95, 25))), fill=spot.colour)
    draw.line(_place(spot, ((-85, -30), (85, -30))), fill=shade(spot.colour, 40), width=2)


def _disc(draw: ImageDraw.ImageDraw, spot: Spot, dice: Dice) -> None:
    _circle(draw, (spot.x, spot.y), spot.size, shade(spot.colour, -45))
    _circle(draw, (spot.x, spot.y), spot.size * 85 // 100, spot.colour)
    for _ in range(6):
        at = step(spot.x, spot.y, dice.between(0, 63), dice.between(0, spot.size * 70 // 100))
        _circle(draw, at, max(1, spot.size // 8), shade(spot.colour, -60))


def _ball(draw: ImageDraw.ImageDraw, spot: Spot, dice: Dice) -> None:
    _circle(draw, (spot.x, spot.y), spot.size, shade(spot.colour, -40))
    light = (spot.x - spot.size // 5, spot.y - spot.size // 5)
    _circle(draw, light, spot.size * 70 // 100, spot.colour)
    _circle(draw, light, spot.size // 4, shade(spot.colour, 50))


def _lotus(draw: ImageDraw.ImageDraw, spot: Spot, dice: Dice) -> None:
    _circle(draw, (spot.x, spot.y), spot.size, shade(spot.colour, -50))
    _circle(draw, (spot.x, spot.y), spot.size * 88 // 100, spot.colour)
    for at in _around(spot, 7, 55):
        _circle(draw, at, max(1, spot.size * 15 // 100), shade(spot.colour, -95))


def _roll(draw: ImageDraw.ImageDraw, spot: Spot, dice: Dice) -> None:
    _circle(draw, (spot.x, spot.y), spot.size, (24, 34, 28))
    _circle(draw, (spot.x, spot.y), spot.size * 80 // 100, (236, 234, 226))
    for at, colour in zip(
        _around(spot, 4, 30),
        (spot.colour, (226, 120, 40), (70, 120, 50), (240, 200, 60)),
        strict=True,
    ):
        _circle(draw, at, max(1, spot.size * 20 // 100), colour)


def _spiral(draw: ImageDraw.ImageDraw, spot: Spot, dice: Dice) -> None:
    _circle(draw, (spot.x, spot.y), spot.size, spot.colour)
    for share in (75, 45, 18):
        radius = max(1, spot.size * share // 100)
        box = (spot.x - radius, spot.y - radius, spot.x + radius, spot.y + radius)
        start = 360 * spot.turn // TURN
        draw.arc(box, start, start + 290, fill=shade(spot.colour, -85), width=2)


def _half(spot: Spot, number: int = 12) -> list[Point]:
    arc = [step(spot.x, spot.y, spot.turn + 32 * k // number, spot.size) for k in range(number + 1)]
    return [*arc, step(spot.x, spot.y, spot.turn - 16, spot.size // 6)]


def _moon(draw: ImageDraw.ImageDraw, spot: Spot, dice: Dice) -> None:
    draw.polygon(_half(spot), fill=spot.colour, outline=shade(spot.colour, -70))
    ends = (
        step(spot.x, spot.y, spot.turn, spot.size * 7 // 10),
        step(spot.x, spot.y, spot.turn + 32, spot.size * 7 // 10),
    )
    draw.line(ends, fill=shade(spot.colour, 45), width=3)


def _dumpling(draw: ImageDraw.ImageDraw, spot: Spot, dice: Dice) -> None:
    draw.polygon(_half(spot), fill=spot.colour, outline=shade(spot.colour, -70))
    for k in range(2, 31, 4):
        ends = (
            step(spot.x, spot.y, spot.turn + k, spot.size),
            step(spot.x, spot.y, spot.turn + k, spot.size * 65 // 100),
        )
        draw.line(ends, fill=shade(spot.colour, -75), width=2)


def _stick(draw: ImageDraw.ImageDraw, spot: Spot, dice: Dice) -> None:
    width = max(2, spot.size * 55 // 100)
    for colour, wide, shift in (
        (shade(spot.colour, -45), width, 0),
        (spot.colour, width * 3 // 4, -5),
        (shade(spot.colour, 55), max(1, width // 5), -12),
    ):
        ends = _place(spot, ((-75, shift), (75, shift)))
        draw.line(ends, fill=colour, width=wide)
        for end in ends:
            _circle(draw, end, wide // 2, colour)


def _skewer(draw: ImageDraw.ImageDraw, spot: Spot, dice: Dice) -> None:
    draw.line(_place(spot, ((-170, 0), (170, 0))), fill=(214, 186, 140), width=3)
    for along in (-110, -55, 0, 55, 110):
        corners = ((along - 22, -60), (along + 22, -60), (along + 22, 60), (along - 22, 60))
        draw.polygon(_place(spot, corners), fill=spot.colour, outline=shade(spot.colour, -80))


def _leaf(draw: ImageDraw.ImageDraw, spot: Spot, dice: Dice) -> None:
    edge = ((-100, 0), (-60, -40), (-10, -55), (50, -40), (100, 0), (50, 40), (-10, 55), (-60, 40))
    draw.polygon(_place(spot, edge), fill=spot.colour, outline=shade(spot.colour, -50))
    vein = shade(spot.colour, 50)
    draw.line(_place(spot, ((-95, 0), (90, 0))), fill=vein, width=2)
    for along in (-50, -10, 30):
        for side in (-30, 30):
            draw.line(_place(spot, ((along, 0), (along + 25, side))), fill=vein, width=1)


def _strand(draw: ImageDraw.ImageDraw, spot: Spot, dice: Dice) -> None:
    at, turn = (spot.x, spot.y), spot.turn
    path = [at]
    bend = dice.pick((-4, -3, -2, 2, 3, 4))
    for k in range(9):
        at = step(*at, turn, max(2, spot.size // 4))
        path.append(at)
        turn += bend if k % 6 < 3 else -bend
    draw.line(path, fill=shade(spot.colour, -50), width=max(3, spot.size // 5), joint="curve")
    draw.line(path, fill=spot.colour, width=max(2, spot.size // 8), joint="curve")


def _sprout(draw: ImageDraw.ImageDraw, spot: Spot, dice: Dice) -> None:
    _strand(draw, spot, dice)
    _circle(draw, (spot.x, spot.y), max(2, spot.size // 4), (226, 196, 70))


def _stem(draw: ImageDraw.ImageDraw, spot: Spot, dice: Dice) -> None:
    draw.line(
        _place(spot, ((-100, 0), (0, 10), (100, 0))), fill=spot.colour, width=max(2, spot.size // 7)
    )
    for side in (-45, 45):
        draw.polygon(
            _place(spot, ((30, 0), (80, side), (120, side // 3))), fill=shade(spot.colour, -20)
        )


def _grains(draw: ImageDraw.ImageDraw, spot: Spot, dice: Dice) -> None:
    for _ in range(9):
        x, y = step(spot.x, spot.y, dice.between(0, 63), dice.between(0, spot.size))
        long, short = max(2, spot.size // 5), max(1, spot.size // 9)
        wide, high = (long, short) if dice.between(0, 1) else (short, long)
        colour = shade(spot.colour, dice.between(-30, 20))
        draw.ellipse((x - wide, y - high, x + wide, y + high), fill=colour)


def _wedge(draw: ImageDraw.ImageDraw, spot: Spot, dice: Dice) -> None:
    crust = ((-100, 0), (85, -48), (100, 0), (85, 48))
    draw.polygon(_place(spot, crust), fill=(196, 142, 74))
    draw.polygon(_place(spot, ((-92, 0), (68, -40), (68, 40))), fill=spot.colour)
    for at in _place(spot, ((-25, 0), (25, -15), (45, 18), (10, 12))):
        _circle(draw, at, max(2, spot.size // 8), (176, 48, 36))


def _shell(draw: ImageDraw.ImageDraw, spot: Spot, dice: Dice) -> None:
    draw.polygon(_half(spot), fill=shade(spot.colour, -30))
    for k in range(1, 32, 5):
        edge = step(spot.x, spot.y, spot.turn + k, spot.size)
        draw.line(((spot.x, spot.y), edge), fill=shade(spot.colour, 60), width=2)
    _circle(
        draw,
        step(spot.x, spot.y, spot.turn + 16, spot.size * 35 // 100),
        spot.size // 3,
        (222, 140, 84),
    )


def _curl(draw: ImageDraw.ImageDraw, spot: Spot, dice: Dice) -> None:
    path = [step(spot.x, spot.y, spot.turn + 3 * k, spot.size * 75 // 100) for k in range(13)]
    width = max(4, spot.size * 45 // 100)
    for colour, wide in ((shade(spot.colour, -55), width), (spot.colour, width * 2 // 3)):
        for at in path:
            _circle(draw, at, wide // 2, colour)
    tail = path[-1]
    for side in (-6, 6):
        end = step(*tail, spot.turn + 54 + side, spot.size * 55 // 100)
        draw.line((tail, end), fill=(206, 70, 40), width=max(3, width // 3))


def _flower(draw: ImageDraw.ImageDraw, spot: Spot, dice: Dice) -> None:
    for colour, share in ((shade(spot.colour, -45), 45), (spot.colour, 36)):
        for at in _around(spot, 6, 60):
            _circle(draw, at, max(2, spot.size * share // 100), colour)
    _circle(draw, (spot.x, spot.y), spot.size // 2, spot.colour)
    for at in _around(spot, 6, 30):
        draw.line(((spot.x, spot.y), at), fill=shade(spot.colour, -70), width=2)


def _egg(draw: ImageDraw.ImageDraw, spot: Spot, dice: Dice) -> None:
    edge = [
        step(spot.x, spot.y, spot.turn + 8 * k, spot.size * dice.between(80, 105) // 100)
        for k in range(8)
    ]
    draw.polygon(edge, fill=(244, 242, 234), outline=(206, 190, 160))
    _circle(draw, (spot.x, spot.y), spot.size * 45 // 100, spot.colour)
    _circle(
        draw,
        (spot.x - spot.size // 8, spot.y - spot.size // 8),
        spot.size // 8,
        shade(spot.colour, 60),
    )


def _blob(draw: ImageDraw.ImageDraw, spot: Spot, dice: Dice) -> None:
    shares = [dice.between(55, 105) for _ in range(8)]
    for colour, scale in ((shade(spot.colour, -45), 100), (spot.colour, 80)):
        edge = [
            step(spot.x, spot.y, spot.turn + 8 * k, spot.size * share * scale // 10_000)
            for k, share in enumerate(shares)
        ]
        draw.polygon(edge, fill=colour)
    light = step(spot.x, spot.y, dice.between(0, 63), spot.size // 3)
    _circle(draw, light, max(1, spot.size // 6), shade(spot.colour, 45))


def _fish(draw: ImageDraw.ImageDraw, spot: Spot, dice: Dice) -> None:
    body = ((-100, 0), (-70, -28), (-10, -38), (50, -22), (75, 0), (50, 22), (-10, 38), (-70, 28))
    draw.polygon(
        _place(spot, ((65, 0), (110, -32), (98, 0), (110, 32))), fill=shade(spot.colour, -50)
    )
    draw.polygon(_place(spot, body), fill=spot.colour, outline=shade(spot.colour, -70))
    for along in (-30, 0, 30):
        draw.line(
            _place(spot, ((along, -28), (along + 10, 24))), fill=shade(spot.colour, -60), width=3
        )
    _circle(draw, _place(spot, ((-80, -8),))[0], max(1, spot.size // 12), (20, 20, 20))


def _crab(draw: ImageDraw.ImageDraw, spot: Spot, dice: Dice) -> None:
    for k in (2, 8, 14, 18, 24, 30, 40, 56):
        knee = step(spot.x, spot.y, spot.turn + k, spot.size)
        foot = step(*knee, spot.turn + k + 5, spot.size // 3)
        draw.line(
            ((spot.x, spot.y), knee, foot),
            fill=shade(spot.colour, -35),
            width=max(3, spot.size // 6),
        )
    _circle(draw, (spot.x, spot.y), spot.size * 55 // 100, shade(spot.colour, -30))
    _circle(draw, (spot.x, spot.y), spot.size * 42 // 100, spot.colour)


SHAPES: Mapping[str, Shape] = MappingProxyType(
    {
        "ball": _ball,
        "blob": _blob,
        "crab": _crab,
        "cube": _cube,
        "curl": _curl,
        "disc": _disc,
        "dumpling": _dumpling,
        "egg": _egg,
        "fish": _fish,
        "flower": _flower,
        "grains": _grains,
        "leaf": _leaf,
        "lotus": _lotus,
        "moon": _moon,
        "roll": _roll,
        "shell": _shell,
        "skewer": _skewer,
        "slab": _slab,
        "spiral": _spiral,
        "sprout": _sprout,
        "stem": _stem,
        "stick": _stick,
        "strand": _strand,
        "wedge": _wedge,
    }
)

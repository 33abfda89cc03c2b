"""Draws dishes on tables: pictures of 150 made-up classes that a small network can tell apart.

The class decides what lies on the plate: the shape of the pieces, how they are laid out and a
family of colours that thirty classes share. Table, plate, light, position and whatever lies
beside the plate come from the image's number alone and tell nothing. All is whole numbers, from
the dice to the corners, so that a picture is the same on every machine.
"""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

Colour = tuple[int, int, int]
Point = tuple[int, int]
Pixels = npt.NDArray[np.uint8]
_T = TypeVar("_T")

# Drawn twice as large and halved, which smooths the edges in whole numbers.
_OVERSAMPLING = 2
MIN_SIDE = 32
MAX_SIDE = 2_048
_TURN = 64
# Directions in 1/1024; rounded, so that no platform's cosine shows.
_COSINES = tuple(round(1024 * math.cos(2 * math.pi * k / _TURN)) for k in range(_TURN))

_PALETTES: tuple[tuple[Colour, Colour, Colour], ...] = (
    ((176, 62, 38), (216, 104, 52), (92, 140, 60)),
    ((206, 168, 88), (238, 214, 150), (176, 76, 52)),
    ((92, 128, 62), (146, 172, 92), (222, 196, 96)),
    ((110, 70, 44), (160, 112, 70), (226, 206, 170)),
    ((224, 212, 190), (198, 178, 150), (196, 70, 56)),
)
_TABLES: tuple[Colour, ...] = (
    (150, 104, 66), (92, 66, 48), (196, 176, 148), (120, 124, 130), (222, 218, 210),
    (70, 88, 84), (168, 72, 62), (96, 112, 150),
)  # fmt: skip
_PLATES: tuple[Colour, ...] = (
    (240, 240, 236), (226, 216, 196), (62, 60, 62), (150, 168, 178), (196, 150, 110),
)  # fmt: skip
_LAYOUTS = 3


class Dice:
    """A stream of whole numbers, the same on every machine.

    Drawn from PCG64's raw output alone: numpy keeps that stream fixed, while the methods of its
    `Generator` may change.
    """

    def __init__(self, *key: object) -> None:
        """Seeds the stream by the SHA-256 of the key's parts."""
        digest = hashlib.sha256("/".join(map(str, key)).encode()).digest()
        self._bits = np.random.PCG64(int.from_bytes(digest[:16], "big"))
        self._ready: list[int] = []

    def between(self, low: int, high: int) -> int:
        """Returns a whole number, `low` and `high` included."""
        if not self._ready:
            self._ready = self._bits.random_raw(256).tolist()
        return low + self._ready.pop() % (high - low + 1)

    def pick(self, values: Sequence[_T]) -> _T:
        """Returns one of the values."""
        return values[self.between(0, len(values) - 1)]

    def noise(self, count: int) -> npt.NDArray[np.uint8]:
        """Returns `count` random bytes."""
        words: npt.NDArray[np.uint64] = self._bits.random_raw(-(-count // 8))
        return words.astype("<u8").view(np.uint8)[:count]


@dataclass(frozen=True)
class Dish:
    """One drawn picture.

    Attributes:
      pixels: uint8[height, width, 3].
      box: The plate: x, y, width and height in pixels, inside the picture.
    """

    pixels: Pixels
    box: tuple[int, int, int, int]


@dataclass(frozen=True)
class _Style:
    shape: int
    layout: int
    palette: int


@functools.cache
def _styles() -> tuple[_Style, ...]:
    """All styles in an order without pattern, so that any choice of classes is a mixed one."""
    styles = [
        _Style(shape, layout, palette)
        for shape in range(len(_SHAPES))
        for layout in range(_LAYOUTS)
        for palette in range(len(_PALETTES))
    ]
    dice = Dice("styles")
    for last in range(len(styles) - 1, 0, -1):
        other = dice.between(0, last)
        styles[last], styles[other] = styles[other], styles[last]
    return tuple(styles)


def draw_dish(label: int, key: int, size: tuple[int, int], seed: int = 0) -> Pixels:
    """Draws one picture; see `draw_scene`, which tells the plate's box as well.

    Returns:
      uint8[height, width, 3].
    """
    return draw_scene(label, key, size, seed).pixels


def draw_scene(label: int, key: int, size: tuple[int, int], seed: int = 0) -> Dish:
    """Draws one picture of a class.

    Args:
      label: The class; two labels that differ by less than 150 look different.
      key: The picture's number.
      size: Height and width in pixels, 32 to 2,048 each.
      seed: Other seeds give other pictures of the same classes.

    Raises:
      ValueError: A size or a label out of range.
    """
    height, width = size
    if label < 0 or not all(MIN_SIDE <= side <= MAX_SIDE for side in size):
        raise ValueError(
            f"label must be 0 or more, height and width {MIN_SIDE} to {MAX_SIDE} pixels. "
            f"Received: {label=}, {size=}."
        )
    dice = Dice(seed, label, key)
    image = Image.new("RGB", (width * _OVERSAMPLING, height * _OVERSAMPLING))
    draw = ImageDraw.Draw(image)
    _draw_table(draw, image.size, dice)
    plate = _place_plate(image.size, dice)
    _draw_plate(draw, plate, dice)
    style = _styles()[label % len(_styles())]
    _draw_food(draw, plate, style, dice)
    small = np.asarray(image.reduce(_OVERSAMPLING))
    return Dish(_develop(small, dice), _box(plate, height, width))


@dataclass(frozen=True)
class _Plate:
    x: int
    y: int
    across: int
    down: int

    def at(self, radius: int, turn: int) -> Point:
        """A spot: `radius` in 1/1024 of the plate's own, `turn` in 1/64 of the way round."""
        cosine, sine = _direction(turn)
        return (
            self.x + self.across * radius * cosine // (1 << 20),
            self.y + self.down * radius * sine // (1 << 20),
        )

    def bounds(self, share: int = 1024) -> tuple[int, int, int, int]:
        """Left, top, right and bottom, shrunk to `share` / 1024."""
        across, down = self.across * share // 1024, self.down * share // 1024
        return self.x - across, self.y - down, self.x + across, self.y + down


def _direction(turn: int) -> tuple[int, int]:
    return _COSINES[turn % _TURN], _COSINES[(turn - _TURN // 4) % _TURN]


def _place_plate(size: tuple[int, int], dice: Dice) -> _Plate:
    width, height = size
    half = min(size) * dice.between(36, 46) // 100
    down = half * dice.between(82, 100) // 100
    x = dice.between(half + 2, width - half - 3)
    y = dice.between(down + 2, height - down - 3)
    return _Plate(x, y, half, down)


def _box(plate: _Plate, height: int, width: int) -> tuple[int, int, int, int]:
    left, top, right, bottom = (edge // _OVERSAMPLING for edge in plate.bounds())
    left, top = max(left, 0), max(top, 0)
    return left, top, min(right + 1, width) - left, min(bottom + 1, height) - top


def _shade(colour: Colour, light: int) -> Colour:
    """Makes a colour `light` / 100 as bright."""
    red, green, blue = (min(255, channel * light // 100) for channel in colour)
    return red, green, blue


def _vary(colour: Colour, dice: Dice, reach: int) -> Colour:
    red, green, blue = (min(255, max(0, c + dice.between(-reach, reach))) for c in colour)
    return red, green, blue


def _draw_table(draw: ImageDraw.ImageDraw, size: tuple[int, int], dice: Dice) -> None:
    width, height = size
    base = _vary(dice.pick(_TABLES), dice, 24)
    draw.rectangle((0, 0, width, height), fill=base)
    pattern, step = dice.between(0, 3), dice.between(18, 60)
    second = _shade(base, dice.pick((84, 90, 108, 114)))
    if pattern in (1, 3):
        for x in range(0, width, 2 * step):
            draw.rectangle((x, 0, x + step, height), fill=second)
    if pattern in (2, 3):
        for y in range(0, height, 2 * step):
            draw.rectangle((0, y, width, y + step // (1 if pattern == 2 else 2)), fill=second)
    for _ in range(dice.between(0, 3)):
        _draw_beside(draw, size, dice)


def _draw_beside(draw: ImageDraw.ImageDraw, size: tuple[int, int], dice: Dice) -> None:
    """A saucer, a chopstick or a napkin, in any colour a dish may have."""
    width, height = size
    x, y = dice.between(0, width), dice.between(0, height)
    reach = min(size) * dice.between(8, 20) // 100
    colour = _vary(dice.pick(dice.pick(_PALETTES)), dice, 20)
    kind = dice.between(0, 2)
    if kind == 0:
        draw.ellipse((x - reach, y - reach, x + reach, y + reach), fill=dice.pick(_PLATES))
        inner = reach * 3 // 4
        draw.ellipse((x - inner, y - inner, x + inner, y + inner), fill=colour)
    elif kind == 1:
        cosine, sine = _direction(dice.between(0, _TURN - 1))
        end = (x + 4 * reach * cosine // 1024, y + 4 * reach * sine // 1024)
        draw.line(((x, y), end), fill=_shade(colour, 70), width=max(3, reach // 6))
    else:
        draw.rectangle((x - reach, y - reach // 2, x + reach, y + reach // 2), fill=colour)


def _draw_plate(draw: ImageDraw.ImageDraw, plate: _Plate, dice: Dice) -> None:
    colour = _vary(dice.pick(_PLATES), dice, 14)
    left, top, right, bottom = plate.bounds()
    if dice.between(0, 3) == 0:
        draw.rounded_rectangle((left, top, right, bottom), plate.down // 3, fill=colour)
    else:
        draw.ellipse((left, top, right, bottom), fill=colour)
    draw.ellipse(plate.bounds(900), fill=_shade(colour, dice.pick((88, 92, 106))))


def _draw_food(draw: ImageDraw.ImageDraw, plate: _Plate, style: _Style, dice: Dice) -> None:
    colours = [_vary(colour, dice, 22) for colour in _PALETTES[style.palette]]
    shape = _SHAPES[style.shape]
    reach = plate.down * dice.between(15, 18) // 100
    if style.layout == 1:
        sauce = _shade(colours[1], dice.between(80, 96))
        draw.ellipse(plate.bounds(820), fill=sauce)
    start = dice.between(0, _TURN - 1)
    for spot, turn, garnish in _spots(plate, style.layout, start, dice):
        tone = colours[2] if garnish else colours[dice.between(0, 5) // 4]
        colour = _vary(_shade(tone, dice.between(86, 114)), dice, 8)
        if garnish:
            small = reach * 2 // 3
            draw.ellipse(_around(spot, small), fill=colour, outline=_shade(colour, 70), width=2)
        else:
            shape(draw, spot, reach, turn, colour)


def _spots(
    plate: _Plate, layout: int, start: int, dice: Dice
) -> list[tuple[Point, int, bool]]:
    """Where pieces lie, which way they point, and whether one is a garnish."""
    spots: list[tuple[Point, int, bool]] = []
    if layout == 0:  # A heap.
        for number in range(26):
            radius = dice.between(60, 680) if number < 20 else dice.between(0, 300)
            spots.append((plate.at(radius, dice.between(0, 63)), dice.between(0, 63), False))
    elif layout == 1:  # In a broth: few pieces, apart, and a garnish in the middle.
        for number in range(7):
            turn = start + number * _TURN // 7 + dice.between(-2, 2)
            spots.append((plate.at(dice.between(440, 560), turn), dice.between(0, 63), False))
        spots += [(plate.at(dice.between(0, 160), dice.between(0, 63)), 0, True) for _ in range(4)]
    else:  # Laid in two rings, all pointing outwards.
        for count, radius in ((14, 650), (7, 330)):
            for number in range(count):
                turn = start + number * _TURN // count
                spots.append((plate.at(radius + dice.between(-30, 30), turn), turn, False))
    return spots


def _around(spot: Point, reach: int) -> tuple[int, int, int, int]:
    x, y = spot
    return x - reach, y - reach, x + reach, y + reach


def _corners(spot: Point, turn: int, points: Sequence[Point]) -> list[Point]:
    """Turns points given along and across a piece's direction, and moves them to its spot."""
    cosine, sine = _direction(turn)
    x, y = spot
    return [
        (x + (along * cosine - across * sine) // 1024, y + (along * sine + across * cosine) // 1024)
        for along, across in points
    ]


_Shape = Callable[[ImageDraw.ImageDraw, Point, int, int, Colour], None]


def _ball(draw: ImageDraw.ImageDraw, spot: Point, reach: int, turn: int, colour: Colour) -> None:
    draw.ellipse(_around(spot, reach), fill=colour, outline=_shade(colour, 60), width=2)
    draw.ellipse(_around((spot[0] - reach // 3, spot[1] - reach // 3), reach // 4),
                 fill=_shade(colour, 150))  # fmt: skip


def _strip(draw: ImageDraw.ImageDraw, spot: Point, reach: int, turn: int, colour: Colour) -> None:
    long, wide = reach * 2, reach * 2 // 5
    points = _corners(spot, turn, [(-long, -wide), (long, -wide), (long, wide), (-long, wide)])
    draw.polygon(points, fill=colour, outline=_shade(colour, 60))


def _cube(draw: ImageDraw.ImageDraw, spot: Point, reach: int, turn: int, colour: Colour) -> None:
    for half, light in ((reach, 70), (reach * 3 // 4, 112)):
        points = _corners(spot, turn, [(-half, -half), (half, -half), (half, half), (-half, half)])
        draw.polygon(points, fill=_shade(colour, light))


def _noodle(draw: ImageDraw.ImageDraw, spot: Point, reach: int, turn: int, colour: Colour) -> None:
    start = turn * 360 // _TURN
    for step in range(3):
        radius = reach * (3 + 2 * step) // 3
        light = 84 + 16 * step
        draw.arc(_around(spot, radius), start, start + 200, fill=_shade(colour, light),
                 width=max(2, reach // 4))  # fmt: skip


def _ring(draw: ImageDraw.ImageDraw, spot: Point, reach: int, turn: int, colour: Colour) -> None:
    draw.ellipse(_around(spot, reach), outline=_shade(colour, 64), width=max(3, reach * 2 // 3))
    draw.ellipse(_around(spot, reach - 1), outline=colour, width=max(2, reach // 2))


def _grain(draw: ImageDraw.ImageDraw, spot: Point, reach: int, turn: int, colour: Colour) -> None:
    for number in range(9):
        cosine, sine = _direction(turn + 7 * number)
        far = reach * (number + 2) // 7
        x, y = spot[0] + far * cosine // 1024, spot[1] + far * sine // 1024
        tone = _shade(colour, 78 + 6 * number)
        draw.ellipse(_around((x, y), max(2, reach // 4)), fill=tone)


def _leaf(draw: ImageDraw.ImageDraw, spot: Point, reach: int, turn: int, colour: Colour) -> None:
    long, wide = reach * 3 // 2, reach * 2 // 3
    points = [(-long, 0), (-long // 3, -wide), (long // 3, -wide), (long, 0),
              (long // 3, wide), (-long // 3, wide)]  # fmt: skip
    draw.polygon(_corners(spot, turn, points), fill=colour, outline=_shade(colour, 64))
    draw.line(_corners(spot, turn, [(-long, 0), (long, 0)]), fill=_shade(colour, 56), width=3)


def _wedge(draw: ImageDraw.ImageDraw, spot: Point, reach: int, turn: int, colour: Colour) -> None:
    points = [(-reach * 3 // 2, 0), (reach, -reach), (reach, reach)]
    draw.polygon(_corners(spot, turn, points), fill=colour)
    crust = [(reach * 2 // 3, -reach), (reach * 4 // 3, -reach), (reach * 4 // 3, reach),
             (reach * 2 // 3, reach)]  # fmt: skip
    draw.polygon(_corners(spot, turn, crust), fill=_shade(colour, 62))


def _half_moon(
    draw: ImageDraw.ImageDraw, spot: Point, reach: int, turn: int, colour: Colour
) -> None:
    start = turn * 360 // _TURN
    draw.chord(_around(spot, reach * 3 // 2), start, start + 180, fill=colour,
               outline=_shade(colour, 58), width=3)  # fmt: skip


def _star(draw: ImageDraw.ImageDraw, spot: Point, reach: int, turn: int, colour: Colour) -> None:
    points: list[Point] = []
    for corner in range(10):
        cosine, sine = _direction(corner * _TURN // 10)
        far = reach * 3 // 2 if corner % 2 == 0 else reach // 2
        points.append((far * cosine // 1024, far * sine // 1024))
    draw.polygon(_corners(spot, turn, points), fill=colour, outline=_shade(colour, 60))


_SHAPES: tuple[_Shape, ...] = (
    _ball, _strip, _cube, _noodle, _ring, _grain, _leaf, _wedge, _half_moon, _star,
)  # fmt: skip


def _develop(pixels: Pixels, dice: Dice) -> Pixels:
    """Gives the picture its light, a cast of colour, and the grain of a photo."""
    light = dice.between(205, 296)
    gains = np.array([light + dice.between(-14, 14) for _ in range(3)], np.int32)
    grain = (dice.noise(pixels.size).reshape(pixels.shape) >> 4).astype(np.int32) - 8
    return np.clip((pixels.astype(np.int32) * gains >> 8) + grain, 0, 255).astype(np.uint8)

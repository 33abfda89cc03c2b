"""Drawn dishes: small pictures of 150 classes that a network can tell apart, made of whole numbers.

What lies on the plate depends on the class alone: a base (broth, sauce, rice or the bare plate),
pieces of one shape and a garnish. Everything else (table, plate, light, chopsticks, where the
plate stands) is drawn from dice of its own, alike for all classes, so that nothing can be learnt
from it. Many classes share their colours, so that the mean colour doesn't give them away.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

from kfood_tfds.raw.classes import FoodClass, load_class_table
from kfood_tfds.raw.crop_area import CropBox
from kfood_tfds.raw.dish_shapes import SHAPES, Colour, Dice, Spot, shade, step
from kfood_tfds.raw.errors import KfoodError

Pixels = npt.NDArray[np.uint8]

MIN_SIDE = 32
MAX_SIDE = 2_048
# Drawn twice as large and halved, which smooths the edges in whole numbers.
_OVERSAMPLING = 2

_COLOURS: Mapping[str, Colour] = MappingProxyType(
    {
        "broth": (206, 188, 140),
        "red": (196, 62, 38),
        "brown": (134, 84, 48),
        "dark": (72, 50, 40),
        "white": (232, 226, 210),
        "cream": (226, 204, 158),
        "yellow": (230, 190, 74),
        "golden": (206, 150, 66),
        "green": (84, 128, 58),
        "moss": (52, 78, 48),
        "orange": (222, 124, 52),
        "pink": (216, 150, 136),
        "grey": (128, 122, 118),
    }
)
# Category: bases, shapes and colours; its classes go through their combinations.
_KITCHEN: Mapping[str, tuple[str, str, str]] = MappingProxyType(
    {
        "구이": ("none brown", "blob fish slab shell", "brown grey golden red"),
        "국": ("broth white", "leaf sprout cube blob", "moss white yellow cream"),
        "기타": ("none dark", "grains fish blob ball wedge", "red dark golden yellow pink"),
        "김치": ("red none", "cube leaf stem strand stick", "red white orange green"),
        "나물": ("none", "stem strand sprout disc", "green brown moss white"),
        "떡": ("none", "moon ball", "white green pink yellow"),
        "만두": ("none", "dumpling", "cream"),
        "면": ("broth red white dark", "strand", "cream white yellow grey"),
        "무침": ("none red", "slab stem strand sprout", "brown green white red"),
        "밥": ("none white", "grains roll ball egg", "white red yellow brown"),
        "볶음": ("red none", "stick strand curl disc cube", "red golden orange pink brown"),
        "쌈": ("none", "slab", "pink"),
        "음청류": ("dark white", "grains", "white brown"),
        "장": ("dark red", "crab", "orange brown"),
        "장아찌": ("none", "leaf", "moss"),
        "적": ("none", "skewer", "red"),
        "전": ("none", "disc spiral egg", "golden yellow red green"),
        "전골": ("red", "ball", "cream"),
        "조림": ("brown red", "fish cube slab lotus ball strand", "brown white grey dark cream"),
        "죽": ("white yellow", "grains", "cream orange"),
        "찌개": ("red brown", "blob cube leaf fish", "white red cream green"),
        "찜": ("none brown red", "shell spiral slab blob stick", "brown golden dark red cream"),
        "탕": ("white red broth", "slab blob fish strand ball", "cream brown pink white"),
        "튀김": ("none", "stick curl spiral", "golden yellow cream"),
        "한과": ("none", "flower grains slab", "brown dark pink"),
        "해물": ("none", "flower strand", "orange grey"),
        "회": ("red none", "slab strand", "white red"),
    }
)
# Where the combination would mislead: base, shape, colour.
_SPECIALITIES: Mapping[str, tuple[str, str, str]] = MappingProxyType(
    {
        "불고기": ("brown", "blob", "brown"),
        "미역국": ("broth", "strand", "moss"),
        "피자": ("yellow", "wedge", "yellow"),
        "깍두기": ("red", "cube", "orange"),
        "시금치나물": ("none", "stem", "green"),
        "송편": ("none", "moon", "green"),
        "짜장면": ("dark", "strand", "cream"),
        "도토리묵": ("none", "slab", "brown"),
        "김밥": ("none", "roll", "orange"),
        "비빔밥": ("white", "egg", "orange"),
        "떡볶이": ("red", "stick", "red"),
        "식혜": ("white", "grains", "white"),
        "계란후라이": ("none", "egg", "yellow"),
        "계란말이": ("none", "spiral", "yellow"),
        "연근조림": ("none", "lotus", "brown"),
        "순두부찌개": ("red", "blob", "white"),
        "꼬막찜": ("none", "shell", "dark"),
        "새우튀김": ("none", "curl", "orange"),
        "약과": ("none", "flower", "golden"),
    }
)
_GARNISHES = (
    ("none", "white"),
    ("ball", "green"),
    ("grains", "cream"),
    ("stem", "green"),
    ("disc", "red"),
    ("strand", "orange"),
)
# Thin pieces: many more of them cover a plate.
_THIN = frozenset(["strand", "sprout", "stem", "grains"])
_VESSELS: tuple[Colour, ...] = (
    (240, 238, 232),
    (222, 226, 224),
    (58, 54, 54),
    (168, 186, 172),
    (190, 170, 130),
    (120, 132, 160),
)
_TABLES: tuple[Colour, ...] = (
    (150, 104, 66),
    (92, 62, 44),
    (196, 168, 130),
    (110, 112, 118),
    (212, 208, 200),
    (70, 84, 96),
    (140, 60, 52),
    (96, 120, 92),
)


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a class looks like: names of `dish_shapes.SHAPES` and of this module's colours.

    Attributes:
      base: What fills the plate: a colour, or "none".
      shape: The shape of the pieces.
      colour: Their colour.
      garnish: Shape and colour of what is strewn on top; shape "none" for nothing.
      share: Half-length of a piece, hundredths of the plate's half-axis.
    """

    base: str
    shape: str
    colour: str
    garnish: tuple[str, str]
    share: int


@functools.cache
def recipes() -> tuple[Recipe, ...]:
    """Returns the recipes of all 150 classes in label order; no two are alike."""
    made: dict[Recipe, None] = {}
    for food in load_class_table().classes:
        shift = 0
        while (recipe := _recipe(food, shift)) in made:
            shift += 1
        made[recipe] = None
    return tuple(made)


def _recipe(food: FoodClass, shift: int) -> Recipe:
    bases, shapes, colours = (words.split() for words in _KITCHEN[food.category])
    label = food.label
    base = bases[label % len(bases)]
    shape = shapes[label % len(shapes)]
    colour = colours[label // len(shapes) % len(colours)]
    base, shape, colour = _SPECIALITIES.get(food.name, (base, shape, colour))
    garnish = _GARNISHES[(label * 5 + shift) % len(_GARNISHES)]
    # Sizes take their turn when the garnishes are through.
    share = 27 + 3 * ((label + shift // len(_GARNISHES)) % 4)
    return Recipe(base, shape, colour, garnish, share)


def draw_dish(
    label: int, key: int | str, size: tuple[int, int], seed: int = 0
) -> tuple[Pixels, CropBox]:
    """Draws one dish.

    Args:
      label: The class, 0 to 149.
      key: Which of the class's pictures; the same key gives the same picture everywhere.
      size: Height and width, pixels.
      seed: Another one gives other pictures of the same classes.

    Returns:
      uint8[height, width, 3] in RGB, and the box around the dish.

    Raises:
      KfoodError: There is no such class, or the size is out of range.
    """
    if not 0 <= label < len(recipes()):
        raise KfoodError(f"A dish's label is 0 to {len(recipes()) - 1}. Received: {label=}.")
    height, width = size
    if not all(MIN_SIDE <= side <= MAX_SIDE for side in size):
        raise KfoodError(
            f"The sides of a picture are {MIN_SIDE} to {MAX_SIDE} pixels. Received: {size=}."
        )
    scenery = Dice("kfood scenery", seed, label, key)
    canvas = _OVERSAMPLING * height, _OVERSAMPLING * width
    image = _table(scenery, *canvas)
    draw = ImageDraw.Draw(image)
    _side_things(draw, scenery, *canvas)
    plate = _lay_plate(draw, scenery, *canvas)
    _serve(image, recipes()[label], Dice("kfood dish", seed, label, key), plate)
    pixels = _light(np.asarray(image.reduce(_OVERSAMPLING)), scenery)
    return pixels, _box_around(plate, height, width, scenery.between(0, 3))


@dataclass(frozen=True, slots=True)
class _Plate:
    """Centre and half-axes of the plate on the canvas, pixels."""

    x: int
    y: int
    across: int
    down: int

    def box(self, share: int) -> tuple[int, int, int, int]:
        """Returns the box of an ellipse of a share (hundredths) of the plate."""
        across, down = self.across * share // 100, self.down * share // 100
        return self.x - across, self.y - down, self.x + across, self.y + down


def _box_around(plate: _Plate, height: int, width: int, margin: int) -> CropBox:
    left, top, right, bottom = plate.box(100)
    return CropBox(
        max(0, top // _OVERSAMPLING - margin),
        max(0, left // _OVERSAMPLING - margin),
        min(height, bottom // _OVERSAMPLING + 1 + margin),
        min(width, right // _OVERSAMPLING + 1 + margin),
    )


def _table(dice: Dice, height: int, width: int) -> Image.Image:
    """Draws a table top: a colour with stains, and planks, checks or nothing on it."""
    base = dice.pick(_TABLES)
    small = np.clip(np.array(base, np.int16) + dice.grid(7, 9, 34)[..., None], 0, 255)
    stains = Image.fromarray(small.astype(np.uint8))
    image = stains.resize((width, height), Image.Resampling.BILINEAR)
    draw = ImageDraw.Draw(image)
    kind, gap = dice.between(0, 2), dice.between(18, 60)
    line = shade(base, dice.pick((-30, -18, 22)))
    if kind:
        for y in range(dice.between(0, gap), height, gap):
            draw.line((0, y, width, y + dice.between(-4, 4)), fill=line, width=3)
    if kind == 2:
        for x in range(dice.between(0, gap), width, gap):
            draw.line((x, 0, x + dice.between(-4, 4), height), fill=line, width=3)
    return image


def _side_things(draw: ImageDraw.ImageDraw, dice: Dice, height: int, width: int) -> None:
    """Draws what lies beside the dish: chopsticks, and small bowls of any colour."""
    if dice.between(0, 1):
        x, y, turn = dice.between(0, width), dice.between(0, height), dice.between(0, 63)
        for gap in (0, 10):
            ends = (step(x + gap, y, turn, -width), step(x + gap, y, turn + 1, width))
            draw.line(ends, fill=(176, 140, 92), width=5)
    for _ in range(dice.between(0, 2)):
        x, y = dice.pick((0, width)), dice.between(0, height)
        radius = min(height, width) * dice.between(10, 18) // 100
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=dice.pick(_VESSELS))
        radius = radius * 3 // 4
        content = dice.pick(tuple(_COLOURS.values()))
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=content)


def _lay_plate(draw: ImageDraw.ImageDraw, dice: Dice, height: int, width: int) -> _Plate:
    across = min(height, width) * dice.between(36, 45) // 100
    down = across * dice.between(78, 100) // 100
    x = dice.between(across, width - across)
    y = dice.between(down, height - down)
    # Nearer the middle than the edge, as a photographer would have it.
    plate = _Plate((2 * x + width // 2) // 3, (2 * y + height // 2) // 3, across, down)
    colour = dice.pick(_VESSELS)
    left, top, right, bottom = plate.box(100)
    draw.ellipse((left, top, right, bottom + dice.between(4, 10)), fill=(34, 28, 26))
    draw.ellipse(plate.box(100), fill=shade(colour, -22))
    draw.ellipse(plate.box(96), fill=colour)
    draw.ellipse(plate.box(dice.between(82, 88)), fill=shade(colour, -14))
    return plate


def _serve(image: Image.Image, recipe: Recipe, dice: Dice, plate: _Plate) -> None:
    """Puts the food on the plate; nothing hangs over its edge."""
    food = image.copy()
    _fill(ImageDraw.Draw(food), recipe, dice, plate)
    mask = Image.new("L", image.size)
    ImageDraw.Draw(mask).ellipse(plate.box(100), fill=255)
    image.paste(food, mask=mask)


def _fill(draw: ImageDraw.ImageDraw, recipe: Recipe, dice: Dice, plate: _Plate) -> None:
    if recipe.base != "none":
        colour = _vary(_COLOURS[recipe.base], dice)
        draw.ellipse(plate.box(82), fill=colour)
        for _ in range(10):
            x, y = _somewhere(dice, plate, 70)
            wide = plate.across * dice.between(4, 14) // 100
            tint = shade(colour, dice.pick((-18, 14, 24)))
            draw.ellipse((x - wide, y - wide // 2, x + wide, y + wide // 2), fill=tint)
    # Small and large pieces cover about the same share of the plate.
    number = dice.between(150, 260) // recipe.share + dice.between(3, 6)
    if recipe.shape in _THIN:
        number = number * 5 // 2
    _strew(draw, dice, plate, (recipe.shape, recipe.colour), recipe.share, number)
    if recipe.garnish[0] != "none":
        _strew(draw, dice, plate, recipe.garnish, 8, dice.between(5, 9))


def _strew(
    draw: ImageDraw.ImageDraw,
    dice: Dice,
    plate: _Plate,
    look: tuple[str, str],
    share: int,
    number: int,
) -> None:
    """Strews pieces of a shape and colour, of a size in hundredths of the plate's half-axis."""
    shape, colour = look
    base = _vary(_COLOURS[colour], dice)
    for _ in range(number):
        x, y = _somewhere(dice, plate, 60)
        size = max(3, plate.across * share * dice.between(85, 118) // 10_000)
        tint = shade(base, dice.between(-16, 16))
        SHAPES[shape](draw, Spot(x, y, size, dice.between(0, 63), tint), dice)


def _somewhere(dice: Dice, plate: _Plate, share: int) -> tuple[int, int]:
    """Returns a point on the plate, evenly over a share (hundredths) of its half-axes."""
    x = y = 100
    while x * x + y * y > 10_000:
        x, y = dice.between(-100, 100), dice.between(-100, 100)
    return plate.x + plate.across * x * share // 10_000, plate.y + plate.down * y * share // 10_000


def _vary(colour: Colour, dice: Dice) -> Colour:
    red, green, blue = (min(255, max(0, level + dice.between(-14, 14))) for level in colour)
    return red, green, blue


def _light(pixels: Pixels, dice: Dice) -> Pixels:
    """Applies a lamp's colour and brightness and a little noise."""
    brightness = dice.between(82, 114)
    gains = [brightness + dice.between(-5, 5) for _ in range(3)]
    table = np.minimum(np.arange(256)[:, None] * gains // 100, 255).astype(np.int16)
    noise = dice.grid(pixels.shape[0], pixels.shape[1], 4)
    lit = np.stack([table[pixels[..., c], c] + noise for c in range(3)], axis=-1)
    pixels = np.clip(lit, 0, 255).astype(np.uint8)
    return pixels

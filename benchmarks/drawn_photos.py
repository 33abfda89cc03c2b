"""Draws photo-like pictures: plates and dishes on tables, natural spectra, and copies of them.

What makes photos hard to tell apart at thumbnail size is drawn on purpose: most energy in the
lowest frequencies (amplitude 1/f), a bright round plate near the middle, soft light from one side,
sharp edges with one phase (leaves over leaves). Pictures that are pure noise would be told apart
by any hash.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageEnhance, ImageOps

Floats = npt.NDArray[np.float32]
Pixels = npt.NDArray[np.uint8]
Copy = Callable[[Image.Image, np.random.Generator], Image.Image]


def draw_photo(rng: np.random.Generator, height: int, width: int) -> Pixels:
    """Draws one picture of a dish, or of a table full of them.

    Args:
      rng: Source of every choice.
      height: Pixels.
      width: Pixels.

    Returns:
      uint8[height, width, 3].
    """
    y, x = np.meshgrid(
        np.linspace(-1, 1, height, dtype=np.float32),
        np.linspace(-1, 1, width, dtype=np.float32),
        indexing="ij",
    )
    canvas = _table(rng, y, x)
    kind = rng.random()
    if kind < 0.2:
        canvas = _leaves(rng, canvas, y, x, int(rng.integers(30, 120)), 0.0, 0.0, 1.5)
    else:
        plates = 1 if kind < 0.7 else int(rng.integers(2, 6))
        for _ in range(plates):
            canvas = _plate(rng, canvas, y, x, alone=plates == 1)
        canvas = _strewn(rng, canvas, y, x)
    light = 1 + rng.uniform(0, 0.3) * (np.cos(a := rng.uniform(0, 6.28)) * x + np.sin(a) * y)
    canvas = canvas * light[..., None]
    canvas += rng.normal(0, rng.uniform(0, 4), canvas.shape).astype(np.float32)
    pixels: Pixels = np.clip(canvas, 0, 255).astype(np.uint8)
    return pixels


def noise(rng: np.random.Generator, height: int, width: int, slope: float) -> Floats:
    """Draws noise of unit variance whose amplitude falls as 1/f**slope.

    Args:
      rng: Source of the phases.
      height: Pixels.
      width: Pixels.
      slope: 1 is typical of photos; less is rougher.

    Returns:
      float32[height, width], zero mean.
    """
    fy = np.fft.fftfreq(height)[:, None]
    fx = np.fft.rfftfreq(width)[None, :]
    radius = np.hypot(fy, fx)
    radius[0, 0] = np.inf
    spectrum = np.fft.rfft2(rng.standard_normal((height, width), dtype=np.float32))
    field = np.fft.irfft2(spectrum / radius**slope, s=(height, width))
    return (field / max(float(field.std()), 1e-6)).astype(np.float32)


def _colour(rng: np.random.Generator, low: float, high: float) -> Floats:
    grey = rng.uniform(low, high)
    return (grey + rng.normal(0, 18, 3)).astype(np.float32)


def _texture(rng: np.random.Generator, shape: tuple[int, ...], depth: float) -> Floats:
    field = noise(rng, shape[0], shape[1], float(rng.uniform(0.7, 1.5)))
    return field[..., None] * (depth * rng.uniform(0.7, 1.3, 3)).astype(np.float32)


def _table(rng: np.random.Generator, y: Floats, x: Floats) -> Floats:
    plain = rng.random() < 0.2
    base = _colour(rng, 215, 250) if plain else _colour(rng, 30, 210)
    canvas = base + _texture(rng, y.shape, rng.uniform(1, 5) if plain else rng.uniform(4, 28))
    if not plain and rng.random() < 0.3:
        angle, step = rng.uniform(0, np.pi), rng.uniform(0.05, 0.6)
        stripes = np.sin((np.cos(angle) * x + np.sin(angle) * y) * 2 * np.pi / step)
        canvas = canvas + (rng.uniform(3, 20) * stripes)[..., None]
    if rng.random() < 0.25:
        below = y + rng.uniform(-0.4, 0.4) * x > rng.uniform(-1, 1)
        canvas = np.where(below[..., None], canvas, _colour(rng, 20, 230))
    return canvas.astype(np.float32)


def _ellipse(
    y: Floats, x: Floats, cy: float, cx: float, ry: float, rx: float, turn: float
) -> Floats:
    """Distance from the centre of an ellipse, float32[height, width]; 1 on its rim."""
    cos, sin = np.float32(np.cos(turn)), np.float32(np.sin(turn))
    along = ((x - cx) * cos + (y - cy) * sin) / rx
    across = ((y - cy) * cos - (x - cx) * sin) / ry
    return np.hypot(along, across)


def _leaves(
    rng: np.random.Generator,
    canvas: Floats,
    y: Floats,
    x: Floats,
    number: int,
    cy: float,
    cx: float,
    spread: float,
) -> Floats:
    textured = canvas + _texture(rng, y.shape, rng.uniform(3, 15))
    low = rng.uniform(20, 120)
    for _ in range(number):
        size = min(0.05 * (1 + rng.pareto(1.8)), 0.5) * spread
        away = spread * np.sqrt(rng.random())
        angle = rng.uniform(0, 2 * np.pi)
        centre = cy + away * np.sin(angle), cx + away * np.cos(angle)
        turn, flat = rng.uniform(0, np.pi), rng.uniform(0.3, 1)
        colour = _colour(rng, low, low + rng.uniform(40, 130))
        _fill(textured, y, x, centre, (size * flat, size), turn, colour)
    return textured + _texture(rng, y.shape, rng.uniform(2, 12))


def _fill(
    canvas: Floats,
    y: Floats,
    x: Floats,
    centre: tuple[float, float],
    radii: tuple[float, float],
    turn: float,
    colour: Floats,
) -> None:
    """Fills an ellipse in place, looking only at the square around it."""
    reach = max(radii)
    down = slice(*np.searchsorted(y[:, 0], (centre[0] - reach, centre[0] + reach)))
    along = slice(*np.searchsorted(x[0], (centre[1] - reach, centre[1] + reach)))
    inside = _ellipse(y[down, along], x[down, along], *centre, *radii, turn) < 1
    canvas[down, along][inside] = colour


def _strewn(rng: np.random.Generator, canvas: Floats, y: Floats, x: Floats) -> Floats:
    """Lays side dishes, sticks and spoons anywhere over the picture."""
    for _ in range(int(rng.integers(0, 9))):
        cy, cx = rng.uniform(-1, 1, 2)
        long = rng.uniform(0.1, 0.9)
        wide = long * rng.uniform(0.05, 0.9)
        turn = rng.uniform(0, np.pi)
        _fill(canvas, y, x, (cy, cx), (wide, long), turn, _colour(rng, 20, 240))
    return canvas


def _plate(
    rng: np.random.Generator, canvas: Floats, y: Floats, x: Floats, *, alone: bool
) -> Floats:
    cy, cx = rng.normal(0, 0.2 if alone else 0.5, 2)
    rx = rng.uniform(0.5, 1.4) if alone else rng.uniform(0.2, 0.6)
    ry = rx * rng.uniform(0.5, 1.1)
    away = _ellipse(y, x, cy, cx, ry, rx, rng.uniform(0, np.pi))
    plate = _colour(rng, 180, 250) if rng.random() < 0.7 else _colour(rng, 20, 110)
    rim = rng.uniform(0.65, 0.95)
    result = np.where((away < 1)[..., None], plate + 12 * (away > rim)[..., None], canvas)
    food = _leaves(
        rng,
        np.broadcast_to(_colour(rng, 40, 200), canvas.shape).copy(),
        y,
        x,
        int(rng.integers(8, 60)),
        cy,
        cx,
        rx * rim,
    )
    return np.where((away < rim)[..., None], food, result).astype(np.float32)


def _jpeg(image: Image.Image, quality: int) -> Image.Image:
    stream = io.BytesIO()
    image.save(stream, "JPEG", quality=quality)
    return Image.open(io.BytesIO(stream.getvalue())).convert("RGB")


def _central(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    dx, dy = round(0.05 * image.width), round(0.05 * image.height)
    return image.crop((dx, dy, image.width - dx, image.height - dy))


def _corner(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    dx, dy = round(0.05 * image.width), round(0.05 * image.height)
    right, low = (int(side) for side in rng.integers(0, 2, 2))
    return image.crop(
        (
            dx * right,
            dy * low,
            image.width - dx * (1 - right),
            image.height - dy * (1 - low),
        )
    )


def _chained(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    first, second = rng.choice(len(_SINGLE), 2, replace=False)
    names = tuple(_SINGLE)
    return _SINGLE[names[second]](_SINGLE[names[first]](image, rng), rng)


_SINGLE: Mapping[str, Copy] = MappingProxyType(
    {
        "JPEG 40": lambda image, rng: _jpeg(image, 40),
        "half size": lambda image, rng: image.resize((image.width // 2, image.height // 2)),
        "5 % off every edge": _central,
        "5 % off one corner": _corner,
        "brightness -15 %": lambda image, rng: ImageEnhance.Brightness(image).enhance(0.85),
        "brightness +15 %": lambda image, rng: ImageEnhance.Brightness(image).enhance(1.15),
        "contrast ±20 %": lambda image, rng: ImageEnhance.Contrast(image).enhance(
            float(rng.choice([0.8, 1.2]))
        ),
        "mirrored": lambda image, rng: ImageOps.mirror(image),
    }
)
# What is done to a known copy, by the name in the table.
COPIES: Mapping[str, Copy] = MappingProxyType({**_SINGLE, "two of these": _chained})


def copy_photo(pixels: Pixels, kind: str, rng: np.random.Generator) -> Pixels:
    """Makes a known copy of a picture.

    Args:
      pixels: uint8[height, width, 3].
      kind: A key of COPIES.
      rng: Source of the corner, the direction and the pair of kinds.

    Returns:
      uint8[new height, new width, 3].
    """
    return np.asarray(COPIES[kind](Image.fromarray(pixels), rng))

"""Pixels in, pixels or bytes out: flattening to upright RGB, shrinking, encoding."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageCms

from kfood_tfds.raw.crop_area import CropBox
from kfood_tfds.raw.errors import KfoodError

Pixels = npt.NDArray[np.uint8]

# libjpeg's bound on either side.
MAX_JPEG_SIDE = 65_500

_SIXTEEN_BIT = 65535
# How each EXIF orientation is turned upright (EXIF 2.3, tag 0x0112).
_UPRIGHT = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


def upright_rgb(image: Image.Image, orientation: int = 1) -> Pixels:
    """Gives the pixels of any Pillow image as upright 8-bit RGB, flattened on white.

    Sixteen bits are scaled by 255/65535. 32-bit integers up to 65535 count as sixteen bits; floats
    within 0..1, 0..255 or 0..65535 as fractions of that range; any other range is stretched.

    Args:
      image: A loaded image of any mode; its first frame counts.
      orientation: EXIF orientation, 1 to 8.

    Returns:
      uint8[height, width, 3], upright.
    """
    rgb = _deep_rgb(image) if image.mode[0] in "IF" else _flat_rgb(image)
    if orientation in _UPRIGHT:
        rgb = rgb.transpose(_UPRIGHT[orientation])
    return np.asarray(rgb, dtype=np.uint8)


def shrink_image(pixels: Pixels, box: CropBox, shorter_side: int) -> tuple[Pixels, CropBox]:
    """Shrinks an image until the shorter side of its box has a given length; never enlarges.

    Args:
      pixels: uint8[height, width, 3].
      box: Box in pixels of the image.
      shorter_side: Wanted length of the box's shorter side, pixels.

    Returns:
      The image, antialiased (Lanczos), and the box on it. The box's edges scale exactly and are
      then rounded to whole pixels; it keeps at least one. Without need to shrink, both as given.

    Raises:
      KfoodError: `shorter_side` is below one.
    """
    if shorter_side < 1:
        raise KfoodError(f"The shorter side must be at least 1 pixel. Received: {shorter_side}.")
    height, width = pixels.shape[:2]
    have = min(box.height, box.width)
    if have <= shorter_side:
        return pixels, box
    new_height = max(1, _scaled(height, shorter_side, have))
    new_width = max(1, _scaled(width, shorter_side, have))
    # reducing_gap lets Pillow halve by a box filter first: as good to the eye and much faster.
    small = Image.fromarray(pixels).resize(
        (new_width, new_height), Image.Resampling.LANCZOS, reducing_gap=3.0
    )
    ymin, ymax = _scaled_edges(box.ymin, box.ymax, height, new_height)
    xmin, xmax = _scaled_edges(box.xmin, box.xmax, width, new_width)
    return np.asarray(small, dtype=np.uint8), CropBox(ymin, xmin, ymax, xmax)


def encode_jpeg(pixels: Pixels, quality: int = 90, *, subsampling: str = "4:2:0") -> bytes:
    """Encodes RGB pixels as a baseline JPEG.

    Args:
      pixels: uint8[height, width, 3].
      quality: 1 to 100.
      subsampling: Of the colour planes: "4:2:0", "4:2:2" or "4:4:4" (none).

    Returns:
      The file.

    Raises:
      KfoodError: A side is longer than MAX_JPEG_SIDE.
    """
    if max(pixels.shape) > MAX_JPEG_SIDE:
        raise KfoodError(
            f"A JPEG has at most {MAX_JPEG_SIDE} pixels a side. Received: shape={pixels.shape}."
        )
    return _save(pixels, "JPEG", quality=quality, subsampling=subsampling, optimize=True)


def encode_png(pixels: Pixels) -> bytes:
    """Encodes RGB pixels as an 8-bit PNG.

    Args:
      pixels: uint8[height, width, 3].

    Returns:
      The file.
    """
    return _save(pixels, "PNG")


def encode_bmp(pixels: Pixels) -> bytes:
    """Encodes RGB pixels as a 24-bit BMP, bottom row first: the form that every reader agrees on.

    Args:
      pixels: uint8[height, width, 3].

    Returns:
      The file.
    """
    return _save(pixels, "BMP")


def _save(pixels: Pixels, kind: str, **options: Any) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, kind, **options)
    return buffer.getvalue()


def _scaled(length: int, numerator: int, denominator: int) -> int:
    # Integer arithmetic, rounded half up: no float may move an edge on another machine.
    return (2 * length * numerator + denominator) // (2 * denominator)


def _scaled_edges(low: int, high: int, length: int, new_length: int) -> tuple[int, int]:
    start = min(_scaled(low, new_length, length), new_length - 1)
    return start, max(_scaled(high, new_length, length), start + 1)


def _flat_rgb(image: Image.Image) -> Image.Image:
    if image.mode == "LAB":
        lab, srgb = ImageCms.createProfile("LAB"), ImageCms.createProfile("sRGB")
        converted = ImageCms.profileToProfile(image, lab, srgb, outputMode="RGB")
        if converted is None:
            raise ValueError("LAB colours can't be converted")
        return converted
    if not image.has_transparency_data:
        return image.convert("RGB")
    if image.mode == "La":
        image = image.convert("LA")
    colours = image.convert("RGBA")
    white = Image.new("RGBA", colours.size, (255, 255, 255, 255))
    return Image.alpha_composite(white, colours).convert("RGB")


def _deep_rgb(image: Image.Image) -> Image.Image:
    """Scales grey of 16 bits, 32 bits or floats to 8 bits."""
    values = np.asarray(image)
    if image.mode == "F":
        grey = _stretch(np.nan_to_num(values.astype(np.float64)), (1.0, 255.0, 65535.0))
    else:
        grey = _stretch(values.astype(np.float64), (float(_SIXTEEN_BIT),))
    transparent = image.info.get("transparency")
    if isinstance(transparent, int):
        grey = np.where(values == transparent, np.uint8(255), grey)
    return Image.fromarray(grey).convert("RGB")


def _stretch(values: npt.NDArray[np.float64], ranges: tuple[float, ...]) -> Pixels:
    low, high = float(values.min()), float(values.max())
    if low >= 0:
        full = next((top for top in ranges if high <= top), None)
        if full is not None:
            low, high = 0.0, full
    span = high - low
    if not span:
        return np.zeros(values.shape, np.uint8)
    # Divided before it is multiplied: a float image may span more than the largest float / 255.
    return np.floor((values / span - low / span) * 255 + 0.5).clip(0, 255).astype(np.uint8)

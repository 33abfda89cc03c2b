"""One file of each fault that real archives have, drawn into the first classes of a sample."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from types import MappingProxyType

import numpy as np
from PIL import Image

from kfood_tfds.raw.crop_area import CropBox
from kfood_tfds.raw.manifest import REJECTED
from kfood_tfds.raw.sample_files import Easel, Written, encode, row_values

UNKNOWN_FOLDER = "이름없는요리"
ORPHAN_NUMBER = 9999

# Fault, row, status. W and H are the image's sides, u and v a quarter of them.
_CROP_ROWS = (
    ("box", "{stem}={x},{y},{w},{h}", "annotated"),
    ("box with spaces", " {stem} = {x} , {y}, {w} ,{h} ", "annotated"),
    ("box with decimals", "{stem}={x}.0,{y}.0,{w}.0,{h}.0", "annotated"),
    ("box with a word", "{stem}={x},{y},{w},{h} dissimilar", "annotated"),
    ("stem in lower case", "{lower}={x},{y},{w},{h}", "annotated"),
    ("two rows", "{stem}=0,0,1,1\r\n{stem}={x},{y},{w},{h}", "annotated"),
    ("two values", "{stem}={w},{h}", "unusable"),
    ("two values after a comma", "{stem}=,{w},{h}", "unusable"),
    ("two values after dissimilar", "{stem}=dissimilar,{w},{h}", "unusable"),
    ("two values after open", "{stem}=open,{w},{h}", "unusable"),
    ("a word alone", "{stem}=dissimilar", "unusable"),
    ("box partly outside", "{stem}={u},{v},{W},{H}", "clipped"),
    ("box wholly outside", "{stem}={W},{H},{w},{h}", "unusable"),
    ("box of no width", "{stem}={x},{y},0,{h}", "unusable"),
    ("box of negative width", "{stem}={x},{y},-{w},{h}", "unusable"),
    ("five values", "{stem}={x},{y},{w},{h},1", "unusable"),
    ("words", "{stem}=see the other photo", "unusable"),
)
CROP_FAULTS = tuple(fault for fault, _, _ in _CROP_ROWS)

_HTML = b"<!DOCTYPE html>\r\n<html><head><title>404</title></head><body>Not Found</body></html>\r\n"
_STRANGERS = MappingProxyType(
    {
        ".DS_Store": b"\0\0\0\1Bud1\0\0\x10\0",
        "Thumbs.db": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "desktop.ini": b"[.ShellClassInfo]\r\nIconIndex=0\r\n",
        "org_url.csv": b"file,url\r\nImg_000_0000.jpg,http://example.com/0.jpg\r\n",
    }
)


def _rgba(image: Image.Image) -> Image.Image:
    """Makes a corner transparent; the colours under it stay."""
    alpha = np.full((image.height, image.width), 255, np.uint8)
    alpha[: image.height // 3, : image.width // 3] = 0
    layered = image.copy()
    layered.putalpha(Image.fromarray(alpha))
    return layered


def _palette(image: Image.Image) -> Image.Image:
    return image.quantize(64, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)


def _transparent_gif(image: Image.Image) -> bytes:
    # An entry that many pixels share, so that there is something to see through.
    indexed = _palette(image)
    common = int(np.bincount(np.asarray(indexed).ravel()).argmax())
    return encode(indexed, "GIF", transparency=common)


def _animation(image: Image.Image) -> bytes:
    frames = [_palette(image), _palette(image.transpose(Image.Transpose.FLIP_LEFT_RIGHT))]
    return encode(frames[0], "GIF", save_all=True, append_images=frames[1:], duration=200)


def _png16(image: Image.Image) -> bytes:
    grey = np.asarray(image.convert("L")).astype(np.uint16) * 257
    return encode(Image.fromarray(grey), "PNG")


def _truncated(image: Image.Image) -> bytes:
    whole = encode(image)
    return whole[: len(whole) // 2]


# Fault -> suffix of the file, accepted or not, encoder.
_Encoder = Callable[[Image.Image], bytes]
_IMAGES: tuple[tuple[str, str, bool, _Encoder], ...] = (
    ("empty", ".jpg", False, lambda image: b""),
    ("truncated", ".jpg", False, _truncated),
    ("HTML in .jpg", ".jpg", False, lambda image: _HTML),
    ("PNG in .jpg", ".jpg", True, lambda image: encode(image, "PNG")),
    ("WebP in .jpg", ".jpg", True, lambda image: encode(image, "WEBP", quality=90)),
    ("suffix in capitals", ".JPG", True, encode),
    ("suffix .jpeg", ".jpeg", True, encode),
    ("PNG", ".png", True, lambda image: encode(image, "PNG")),
    ("GIF", ".gif", True, lambda image: encode(_palette(image), "GIF")),
    ("animated GIF", ".gif", True, _animation),
    ("BMP", ".bmp", True, lambda image: encode(image, "BMP")),
    ("BMP with a palette", ".bmp", True, lambda image: encode(_palette(image), "BMP")),
    ("32-bit BMP", ".bmp", True, lambda image: encode(image.convert("RGBA"), "BMP")),
    ("PNG with transparency", ".png", True, lambda image: encode(_rgba(image), "PNG")),
    ("GIF with transparency", ".gif", True, _transparent_gif),
    ("CMYK", ".jpg", True, lambda image: encode(image.convert("CMYK"))),
    ("16 bits", ".png", True, _png16),
    ("grey", ".jpg", True, lambda image: encode(image.convert("L"))),
    ("PNG with a palette", ".png", True, lambda image: encode(_palette(image), "PNG")),
)
IMAGE_FAULTS = tuple(fault for fault, _, _, _ in _IMAGES)


def crop_faults(easel: Easel, first: int) -> Iterator[Written]:
    """Draws an image with each form of crop row, numbered from `first` on."""
    for number, (fault, form, status) in enumerate(_CROP_ROWS, start=first):
        picture = easel.picture(number)
        stem = easel.filename(number, "")
        (height, width), box = picture.size, picture.box
        row = form.format(
            stem=stem,
            lower=stem.lower(),
            x=box.xmin,
            y=box.ymin,
            w=box.width,
            h=box.height,
            W=width,
            H=height,
            u=width // 4,
            v=height // 4,
        )
        if status == "clipped":
            box = CropBox(height // 4, width // 4, height, width)
        elif status == "unusable":
            box = picture.whole
        yield _image(easel, number, encode(picture.image), picture.size, fault, status, box, row)


def image_faults(easel: Easel, first: int) -> Iterator[Written]:
    """Draws an image in each odd form, numbered from `first` on."""
    for number, (fault, suffix, accepted, encoder) in enumerate(_IMAGES, start=first):
        picture = easel.picture(number)
        content = encoder(picture.image)
        if not accepted:
            name = easel.filename(number, suffix)
            yield Written(easel.file(name, content, verdict=REJECTED, fault=fault), content)
            continue
        yield _image(
            easel, number, content, picture.size, fault, "missing", picture.whole, suffix=suffix
        )


def rotated(easel: Easel, first: int) -> Iterator[Written]:
    """Draws two photos on their side; the box of the second is of the image as it lies."""
    short, long = easel.sizes[0], easel.sizes[0] * 4 // 3
    box = CropBox(long // 3, 4, long - 2, short - 6)
    # In the image as it lies, turned counter-clockwise; too far right to fit the upright one.
    lying = f"{box.ymin},{short - box.xmax},{box.height},{box.width}"
    for number, (fault, values) in enumerate(
        (("EXIF orientation", row_values(box)), ("EXIF orientation, lying box", lying)), start=first
    ):
        picture = easel.picture(number, (long, short))
        exif = Image.Exif()
        exif[0x0112] = 6
        content = encode(picture.image.transpose(Image.Transpose.ROTATE_90), exif=exif.tobytes())
        row = f"{easel.filename(number, '')}={values}"
        yield _image(easel, number, content, picture.size, fault, "annotated", box, row)


def burst(easel: Easel, first: int) -> Iterator[Written]:
    """Draws one plate four times, under neighbouring numbers: moved a little, dimmed, shrunk."""
    low, high = easel.sizes
    picture = easel.picture(first, (high, high))
    group = f"burst {easel.filename(first)}"
    cut = max(1, high // 40)
    edges = ((0, 0, 0, 0), (cut, 0, 0, cut), (0, cut, cut, 0), (cut, cut, cut, cut))
    for number, (left, top, right, bottom) in enumerate(edges, start=first):
        part = picture.image.crop((left, top, high - right, high - bottom))
        light = 100 - 3 * (number - first)
        dimmed = part.point([level * light // 100 for level in range(256)] * 3)
        if number - first == 3:
            dimmed = dimmed.resize((low, low), Image.Resampling.BICUBIC)
        size = dimmed.height, dimmed.width
        whole = CropBox(0, 0, *size)
        yield _image(easel, number, encode(dimmed), size, "burst", "missing", whole, group=group)


def wrong_code(easel: Easel, number: int, code: int) -> Iterator[Written]:
    """Draws an image whose name carries the code of another class."""
    picture = easel.picture(number)
    content = encode(picture.image)
    yield Written(
        easel.file(
            f"Img_{code:03}_{number:04}.jpg",
            content,
            crop_status="missing",
            box=picture.whole,
            size=picture.size,
            fault="wrong code",
            flags=("code_mismatch",),
        ),
        content,
    )


def copies(easel: Easel, original: Easel, number: int) -> Iterator[Written]:
    """Copies ordinary pictures: one of this class, and one of another class under this label."""
    for source, fault in ((easel, "exact duplicate"), (original, "same picture, two labels")):
        picture = source.picture(0)
        yield _image(
            easel,
            number,
            encode(picture.image),
            picture.size,
            fault,
            "missing",
            picture.whole,
            group=source.id(0),
        )
        number += 1


def strangers(easel: Easel) -> Iterator[Written]:
    """Writes what systems and downloads leave among the images."""
    for name, content in _STRANGERS.items():
        yield Written(easel.file(name, content, verdict=REJECTED, fault="stranger"), content)
    content = b"\0\x05\x16\x07\0\x02\0\0Mac OS X"
    for above, name in (("", "._Img.jpg"), ("__MACOSX", "._" + easel.filename(0))):
        file = easel.file(name, content, verdict=REJECTED, fault="stranger", above=above)
        yield Written(file, content)


def unknown_folder(easel: Easel) -> Iterator[Written]:
    """Draws an image in a folder that is no class."""
    content = encode(easel.picture(ORPHAN_NUMBER).image)
    file = easel.file(
        "Img_999_0000.jpg",
        content,
        label=None,
        verdict=REJECTED,
        fault="unknown folder",
        folder=UNKNOWN_FOLDER,
    )
    yield Written(replace(file, class_name=UNKNOWN_FOLDER), content)


def _image(
    easel: Easel,
    number: int,
    content: bytes,
    size: tuple[int, int],
    fault: str,
    status: str,
    box: CropBox,
    row: str = "",
    suffix: str = ".jpg",
    group: str = "",
) -> Written:
    file = easel.file(
        easel.filename(number, suffix),
        content,
        crop_status=status,
        box=box,
        size=size,
        fault=fault,
        group=group,
    )
    return Written(file, content, row)

"""One file of a drawn archive, with what a reader is to make of it."""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass

from PIL import Image

from kfood_tfds.raw.classes import FoodClass
from kfood_tfds.raw.crop_area import CropBox
from kfood_tfds.raw.dish_shapes import Dice
from kfood_tfds.raw.dishes import draw_dish
from kfood_tfds.raw.manifest import ACCEPTED

JPEG_QUALITY = 90


@dataclass(frozen=True, slots=True)
class SampleFile:
    """One file of a drawn archive and the expected verdict.

    Attributes:
      category: The category's name, NFC; empty if nothing tells it.
      class_name: The class's name, NFC; of an unknown folder, its name.
      filename: NFC.
      label: The class, or None in an unknown folder.
      verdict: "accepted" or "rejected", as in the manifest.
      crop_status: "annotated", "clipped", "missing" or "unusable", with two-value rows read as no
        box; empty if rejected.
      box: The expected box in the upright image; None if rejected.
      size: Height and width of the upright image; None if rejected.
      fault: What is unusual about the file, or its crop row; empty for an ordinary one.
      flags: Manifest flags that must be among those found.
      group: Files with the same text here show the same dish; empty if no other does.
      sha256: Of the content, hexadecimal.
      folder: Name of the class folder as written, which may differ from `class_name`.
      above: A folder on top of the category, such as `__MACOSX`; mostly empty.
    """

    category: str
    class_name: str
    filename: str
    label: int | None
    verdict: str = ACCEPTED
    crop_status: str = ""
    box: CropBox | None = None
    size: tuple[int, int] | None = None
    fault: str = ""
    flags: tuple[str, ...] = ()
    group: str = ""
    sha256: str = ""
    folder: str = ""
    above: str = ""

    @property
    def id(self) -> str:
        """The manifest's id: `category/class/file name`."""
        return "/".join(filter(None, (self.category, self.class_name, self.filename)))


@dataclass(frozen=True, slots=True)
class Written:
    """A file with its content, and its row of the crop table if it has one."""

    file: SampleFile
    content: bytes
    row: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """A dish, drawn but not yet encoded."""

    image: Image.Image
    box: CropBox

    @property
    def size(self) -> tuple[int, int]:
        """Height and width, pixels."""
        return self.image.height, self.image.width

    @property
    def whole(self) -> CropBox:
        """The box of the whole image."""
        return CropBox(0, 0, self.image.height, self.image.width)


@dataclass(frozen=True, slots=True)
class Easel:
    """Draws the pictures of one class.

    Attributes:
      food: The class.
      seed: The sample's seed.
      sizes: Least and greatest side, pixels.
    """

    food: FoodClass
    seed: int
    sizes: tuple[int, int]

    def picture(self, number: int, size: tuple[int, int] | None = None) -> Picture:
        """Draws a picture; its size comes from the dice unless given as height and width."""
        if size is None:
            dice = Dice("kfood size", self.seed, self.food.label, number)
            size = dice.between(*self.sizes), dice.between(*self.sizes)
        pixels, box = draw_dish(self.food.label, number, size, self.seed)
        return Picture(Image.fromarray(pixels), box)

    def filename(self, number: int, suffix: str = ".jpg") -> str:
        """Returns a file name as in the archive, such as `Img_049_0004.jpg`."""
        return f"Img_{self.food.label:03}_{number:04}{suffix}"

    def id(self, number: int) -> str:
        """Returns the id of an ordinary picture."""
        return f"{self.food.category}/{self.food.name}/{self.filename(number)}"

    def file(self, filename: str, content: bytes, **known: object) -> SampleFile:
        """Returns the facts of a file of this class; those not in `known` by default."""
        facts = {
            "label": self.food.label,
            "folder": self.food.name,
            "sha256": hashlib.sha256(content).hexdigest(),
            **known,
        }
        return SampleFile(self.food.category, self.food.name, filename, **facts)  # type: ignore[arg-type]


def encode(image: Image.Image, kind: str = "JPEG", **options: object) -> bytes:
    """Encodes an image; a JPEG in quality 90 unless `options` say otherwise."""
    if kind == "JPEG":
        options = {"quality": JPEG_QUALITY, **options}
    data = io.BytesIO()
    image.save(data, kind, **options)
    return data.getvalue()


def row_values(box: CropBox) -> str:
    """Returns a box as a crop row has it: `x,y,w,h`."""
    return f"{box.xmin},{box.ymin},{box.width},{box.height}"

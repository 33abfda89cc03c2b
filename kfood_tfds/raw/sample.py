"""Draws a kfood-like archive, to try everything without a download, and to test readers with.

It has the real archive's form: category zips stored inside `kfood.zip`, names in CP949 without
saying so, a `crop_area.properties` in every class folder. On request it also holds one file of
each fault that real archives have; the report says what a reader is to make of every file.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from etils import epath

from kfood_tfds.raw import sample_faults
from kfood_tfds.raw.classes import FoodClass, load_class_table
from kfood_tfds.raw.crop_area import CropBox
from kfood_tfds.raw.dish_shapes import Dice
from kfood_tfds.raw.dishes import MAX_SIDE, MIN_SIDE
from kfood_tfds.raw.errors import ArchiveError, KfoodError
from kfood_tfds.raw.manifest import REJECTED
from kfood_tfds.raw.messages import say
from kfood_tfds.raw.sample_files import Easel, SampleFile, Written, encode, row_values
from kfood_tfds.raw.sample_layouts import LAYOUTS, NAMES, write_layout

# Goes into the digest of a specification: a new one whenever the drawings change.
DRAWING_VERSION = 1
CROP_AREA = "crop_area.properties"
MAX_PER_CLASS = 5_000
# Faults spread over so many classes.
FAULTY_CLASSES = 3

# One class from each of 20 categories, then one from each of the others.
_FIRST_CLASSES = (
    *("불고기", "미역국", "피자", "깍두기", "시금치나물", "송편", "만두", "짜장면", "도토리묵"),
    *("김밥", "떡볶이", "식혜", "깻잎장아찌", "떡꼬치", "계란말이", "연근조림", "순두부찌개"),
    *(
        "꼬막찜",
        "새우튀김",
        "약과",
        "보쌈",
        "간장게장",
        "곱창전골",
        "전복죽",
        "삼계탕",
        "멍게",
        "육회",
    ),
)


@dataclass(frozen=True)
class SampleSpec:
    """What to draw.

    Attributes:
      classes: How many classes, or which: Korean names, aliases, romanised names or labels.
      per_class: Ordinary images of each class.
      seed: Another one draws other images.
      box_share: Share of the ordinary images with a row in `crop_area.properties`, 0 to 1.
      faults: True adds one file of each fault; needs at least 3 classes.
      sizes: Least and greatest side of an image, pixels.
    """

    classes: int | tuple[str | int, ...] = 20
    per_class: int = 60
    seed: int = 0
    box_share: float = 0.3
    faults: bool = False
    sizes: tuple[int, int] = (120, 200)

    def __post_init__(self) -> None:
        """Checks the values."""
        number = len(load_class_table().classes)
        if isinstance(self.classes, int) and not 1 <= self.classes <= number:
            raise KfoodError(say("sample_number", limit=number, received=self.classes))
        if not self.foods:
            raise KfoodError(say("sample_no_class"))
        if not 1 <= self.per_class <= MAX_PER_CLASS:
            raise KfoodError(say("sample_per_class", limit=MAX_PER_CLASS, received=self.per_class))
        if not 0 <= self.box_share <= 1:
            raise KfoodError(say("sample_box_share", received=str(self.box_share)))
        low, high = self.sizes
        if not MIN_SIDE <= low <= high <= MAX_SIDE:
            received = str(self.sizes)
            raise KfoodError(
                say("sample_sizes", least=MIN_SIDE, greatest=MAX_SIDE, received=received)
            )
        if self.faults and len(self.foods) < FAULTY_CLASSES:
            raise KfoodError(say("sample_faults", least=FAULTY_CLASSES, received=len(self.foods)))

    @property
    def foods(self) -> tuple[FoodClass, ...]:
        """The classes, in label order."""
        table = load_class_table()
        if not isinstance(self.classes, int):
            return table.find_all(self.classes)
        order = dict.fromkeys((*map(table.find, _FIRST_CLASSES), *table.classes))
        return table.find_all(food.label for food in list(order)[: self.classes])

    @property
    def digest(self) -> str:
        """Sixteen hexadecimal digits that change with every value."""
        values = {**dataclasses.asdict(self), "classes": [food.label for food in self.foods]}
        text = f"kfood sample {DRAWING_VERSION} {sorted(values.items())}"
        return hashlib.sha256(text.encode()).hexdigest()[:16]


# The archive in `dummy_data/`.
DUMMY_SPEC = SampleSpec(
    classes=("불고기", "깍두기", "만두"), per_class=12, box_share=0.5, faults=True, sizes=(60, 80)
)


@dataclass(frozen=True)
class SampleReport:
    """What was drawn.

    Attributes:
      path: The archive, as `find_archive` takes it.
      spec: What was asked for.
      files: Every file with its expected verdict, in the order written.
    """

    path: epath.Path
    spec: SampleSpec
    files: tuple[SampleFile, ...]


def write_sample(
    path: str | os.PathLike[str],
    spec: SampleSpec | None = None,
    layout: str = "zip",
    names: str = "cp949",
) -> SampleReport:
    """Draws an archive; the same specification gives the same files everywhere.

    Args:
      path: The file to write for the layouts "zip", "deflated" and "tar", the folder for the
        others. Nothing that is there is replaced.
      spec: What to draw; None is the sample that `kfood/sample` is built from.
      layout: "zip", "tar" (of part files), "parts", "lone-part", "category-zips", "folders",
        "doubled", "flat" (no category level) or "deflated" (category zips compressed).
      names: "cp949" (without the UTF-8 flag), "utf-8", "nfd", or "corrupt-extra" (CP949, with an
        extra field that Python's `zipfile` refuses).

    Returns:
      What was drawn and what a reader is to make of it.

    Raises:
      ArchiveError: Something is there already, or the layout or names aren't known.
    """
    for value, known, what in ((layout, LAYOUTS, "layout"), (names, NAMES, "names")):
        if value not in known:
            allowed = ", ".join(known)
            raise ArchiveError(say("sample_choice", name=what, allowed=allowed, received=value))
    spec = SampleSpec() if spec is None else spec
    files: list[SampleFile] = []

    def categories() -> Iterator[tuple[str, Sequence[Written]]]:
        for category, foods in groupby(enumerate(spec.foods), key=lambda item: item[1].category):
            written = [w for position, food in foods for w in _class_files(spec, food, position)]
            files.extend(w.file for w in written)
            yield category, written

    target = write_layout(epath.Path(path), categories(), layout, names)
    if layout == "flat":
        # Only the class table tells a category then, and it doesn't know every folder.
        files = [replace(f, category="") if f.label is None else f for f in files]
    return SampleReport(target, spec, tuple(files))


def find_or_draw_sample(cache_dir: str | os.PathLike[str]) -> epath.Path:
    """Returns the folder that holds the `kfood.zip` of `kfood/sample`; draws it if need be.

    Args:
      cache_dir: Where it is kept; any path that `etils.epath` opens.
    """
    spec = SampleSpec()
    folder = epath.Path(cache_dir) / f"sample-{spec.digest}"
    archive = folder / "kfood.zip"
    if not archive.exists():
        try:
            write_sample(archive, spec)
        except ArchiveError:
            # Another process may have been faster; what it drew is the same.
            if not archive.exists():
                raise
    return folder


def _class_files(spec: SampleSpec, food: FoodClass, position: int) -> list[Written]:
    """Draws all files of one class, the crop table last."""
    easel = Easel(food, spec.seed, spec.sizes)
    has_copy = spec.faults and position < 2
    written = list(_ordinary(spec, easel, has_copy))
    without_table = False
    if spec.faults and position < FAULTY_CLASSES:
        written += _faulty(spec, easel, position)
        without_table = position == 2
    if without_table:
        written = [_in_odd_folder(_without_row(w)) for w in written]
    else:
        rewritten = spec.faults and position == 1
        written.append(_crop_table(easel, written, rewritten, spec.faults and position == 0))
    return written


def _ordinary(spec: SampleSpec, easel: Easel, has_copy: bool) -> Iterator[Written]:
    dice = Dice("kfood rows", spec.seed, easel.food.label)
    ranks = sorted(range(spec.per_class), key=lambda n: (dice.between(0, 2**31), n))
    boxed = set(ranks[: int(spec.per_class * spec.box_share + 0.5)])
    for number in range(spec.per_class):
        picture = easel.picture(number)
        content = encode(picture.image)
        has_row = number in boxed
        file = easel.file(
            easel.filename(number),
            content,
            crop_status="annotated" if has_row else "missing",
            box=picture.box if has_row else picture.whole,
            size=picture.size,
            group=easel.id(number) if has_copy and number == 0 else "",
        )
        row = f"{easel.filename(number, '')}={row_values(picture.box)}" if has_row else ""
        yield Written(file, content, row)


def _faulty(spec: SampleSpec, easel: Easel, position: int) -> Iterator[Written]:
    first = spec.per_class
    if position == 0:
        yield from sample_faults.crop_faults(easel, first)
        yield from sample_faults.rotated(easel, first + 50)
        yield from sample_faults.strangers(easel)
        yield from sample_faults.unknown_folder(easel)
    elif position == 1:
        yield from sample_faults.image_faults(easel, first)
        yield from sample_faults.wrong_code(easel, first + 50, spec.foods[0].label)
        original = Easel(spec.foods[0], spec.seed, spec.sizes)
        yield from sample_faults.copies(easel, original, first + 51)
    else:
        yield from sample_faults.burst(easel, first)


def _without_row(written: Written) -> Written:
    size = written.file.size
    if not written.row or size is None:
        return written
    return Written(
        replace(written.file, crop_status="missing", box=CropBox(0, 0, *size)), written.content
    )


def _in_odd_folder(written: Written) -> Written:
    """Puts a stray space before the folder's name, as some copies have."""
    folder = f" {written.file.folder}"
    return replace(written, file=replace(written.file, folder=folder))


def _crop_table(easel: Easel, written: Sequence[Written], rewritten: bool, orphan: bool) -> Written:
    rows = [w.row for w in written if w.row]
    flags: tuple[str, ...] = ()
    fault = ""
    if orphan:
        rows.append(f"{easel.filename(sample_faults.ORPHAN_NUMBER, '')}=1,2,3,4")
        flags, fault = ("orphan_rows",), "row without an image"
    if rewritten:
        # As scripts leave it: a mark, a section, comments, everything in lower case.
        lines = ["\ufeff[crop_area]", "# x,y,w,h", "", *(row.lower() for row in rows)]
        content = "".join(f"{line}\n" for line in lines).encode()
        fault = "rewritten crop table"
    else:
        content = "".join(f"{row}\r\n" for row in rows).encode()
    file = easel.file(CROP_AREA, content, verdict=REJECTED, fault=fault, flags=flags)
    return Written(file, content)

"""The class table: 150 dishes in 27 categories, and every way to name one of them."""

from __future__ import annotations

import csv
import difflib
import functools
import importlib.resources
import io
import os
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from etils import epath

from kfood_tfds.raw.errors import ClassTableError
from kfood_tfds.raw.messages import Message, say

COLUMNS = ("label", "name", "category", "romanized", "english", "aliases")
_REQUIRED_COLUMNS = ("label", "name", "category")


@dataclass(frozen=True, slots=True)
class FoodClass:
    """One class.

    Attributes:
        label: The class code, 0..n-1; the number in the archive's file names.
        name: The Korean name, NFC; the name of the class folder.
        category: The Korean name of its category, NFC.
        romanized: The name in Latin letters, a gloss; may be empty.
        english: An English gloss; may be empty.
        aliases: Other spellings of the name that people and copies use.
    """

    label: int
    name: str
    category: str
    romanized: str = ""
    english: str = ""
    aliases: tuple[str, ...] = ()


def normalize_name(name: str) -> str:
    """Returns a folder or class name in NFC without any white space, for comparing only."""
    return "".join(unicodedata.normalize("NFC", name).split())


def _loose(name: str) -> str:
    """Drops what people vary when they romanise: case, hyphens, underscores."""
    return normalize_name(name).casefold().replace("-", "").replace("_", "")


@dataclass(frozen=True)
class ClassTable:
    """All classes in the order of their labels.

    Attributes:
        classes: The classes; `classes[i].label == i`.
    """

    classes: tuple[FoodClass, ...]

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """The Korean class names in the order of the labels."""
        return tuple(food.name for food in self.classes)

    @functools.cached_property
    def categories(self) -> tuple[str, ...]:
        """The Korean category names in the order in which they first occur."""
        return tuple(dict.fromkeys(food.category for food in self.classes))

    def category_index(self, category: str) -> int:
        """Returns the number of a category: its place in `categories`."""
        return self.categories.index(category)

    @functools.cached_property
    def _folders(self) -> dict[str, FoodClass]:
        by_alias = {normalize_name(a): food for food in self.classes for a in food.aliases}
        by_name = {normalize_name(food.name): food for food in self.classes}
        return {**by_alias, **by_name}

    @functools.cached_property
    def _spellings(self) -> dict[str, FoodClass]:
        spellings: dict[str, FoodClass] = {}
        for food in self.classes:
            for spelling in (food.romanized, *food.aliases):
                if spelling:
                    spellings.setdefault(_loose(spelling), food)
        return {**spellings, **{_loose(food.name): food for food in self.classes}}

    def from_folder(self, folder: str) -> FoodClass | None:
        """Returns the class of a folder name, or None: an unknown folder is not guessed.

        Compared in NFC with white space dropped, first with the names, then the aliases.
        """
        return self._folders.get(normalize_name(folder))

    def find(self, spelling: str | int) -> FoodClass:
        """Returns the class that a user means by a name, an alias, a romanised name or a label.

        Args:
            spelling: Such as `"김치찌개"`, `"자장면"`, `"kimchi-jjigae"`, `7` or `"7"`.

        Raises:
            ClassTableError: If no class is called that; a near miss gets a suggestion.
        """
        if isinstance(spelling, bool) or not isinstance(spelling, (str, int)):
            raise ClassTableError(say("class_kind", received=repr(spelling)))
        text = str(spelling).strip()
        if re.fullmatch(r"-?[0-9]{1,9}", text):
            return self._by_label(int(text))
        found = self.from_folder(text) or self._spellings.get(_loose(text))
        if found is None:
            raise ClassTableError(say("class_unknown", text=text, hint=self._hint(text)))
        return found

    def find_all(self, spellings: Iterable[str | int]) -> tuple[FoodClass, ...]:
        """Returns the classes that the spellings mean, without repeats, in label order."""
        found = {self.find(spelling) for spelling in spellings}
        return tuple(sorted(found, key=lambda food: food.label))

    def _by_label(self, label: int) -> FoodClass:
        if not 0 <= label < len(self.classes):
            raise ClassTableError(say("class_label", last=len(self.classes) - 1, received=label))
        return self.classes[label]

    def _hint(self, text: str) -> Message:
        near = difflib.get_close_matches(_jamo(text), self._jamo_spellings, n=1, cutoff=0.7)
        if near:
            food = self._jamo_spellings[near[0]]
            return say("class_near", name=food.name, other=food.romanized or food.label)
        return say("class_spellings")

    @functools.cached_property
    def _jamo_spellings(self) -> dict[str, FoodClass]:
        return {_jamo(spelling): food for spelling, food in self._spellings.items()}


def _jamo(text: str) -> str:
    """Takes Hangul syllables apart, so that 김치찌게 is one letter away from 김치찌개."""
    return unicodedata.normalize("NFD", _loose(text))


def load_class_table(path: str | os.PathLike[str] | None = None) -> ClassTable:
    """Loads and checks a class table.

    Args:
        path: A CSV file in UTF-8 with the columns `label,name,category` and, if wanted,
            `romanized,english,aliases` (`;` between aliases); any path that `etils.epath`
            opens. None is the package's own table of AI Hub's 150 classes.

    Raises:
        ClassTableError: If the file can't be read, or breaks a rule: labels 0..n-1, unique
            NFC names, a category each, no alias that names two classes.
    """
    if path is None:
        return _own_class_table()
    source = epath.Path(path)
    try:
        data = source.read_bytes()
    except OSError as error:
        raise ClassTableError(
            say("table_unreadable", place=os.fspath(path), error=str(error))
        ) from error
    return parse_class_table(data, place=os.fspath(path))


@functools.cache
def _own_class_table() -> ClassTable:
    data = importlib.resources.files("kfood_tfds.raw").joinpath("classes.csv").read_bytes()
    return parse_class_table(data, place="kfood_tfds/raw/classes.csv")


def parse_class_table(data: bytes, place: str = "class CSV") -> ClassTable:
    """Parses the bytes of a class CSV; see `load_class_table`.

    Args:
        data: The file's bytes.
        place: What the error messages call the file.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ClassTableError(say("table_encoding", place=place, at=error.start)) from error
    reader = csv.DictReader(io.StringIO(text, newline=""))
    missing = [c for c in _REQUIRED_COLUMNS if c not in (reader.fieldnames or ())]
    if missing:
        received = ",".join(reader.fieldnames or ()) or say("nothing")
        raise ClassTableError(
            say(
                "table_columns",
                place=place,
                missing=", ".join(missing),
                columns=",".join(COLUMNS),
                received=received,
            )
        )
    try:
        classes = [
            _parse_row(row, say("line", place=place, number=reader.line_num)) for row in reader
        ]
    except csv.Error as error:
        where = say("line", place=place, number=reader.line_num)
        raise ClassTableError(say("table_no_csv", where=where, error=str(error))) from error
    _check_table(classes, place)
    return ClassTable(tuple(sorted(classes, key=lambda food: food.label)))


def _parse_row(row: dict[str, str | None], where: Message) -> FoodClass:
    cells = {
        column: unicodedata.normalize("NFC", (row.get(column) or "")).strip() for column in COLUMNS
    }
    if not re.fullmatch(r"[0-9]{1,9}", cells["label"]):
        raise ClassTableError(say("table_label", where=where, received=cells["label"]))
    for column in ("name", "category"):
        if not cells[column] or "/" in cells[column]:
            raise ClassTableError(
                say("table_folder", where=where, column=column, received=cells[column])
            )
    return FoodClass(
        label=int(cells["label"]),
        name=cells["name"],
        category=cells["category"],
        romanized=cells["romanized"],
        english=cells["english"],
        aliases=tuple(a.strip() for a in cells["aliases"].split(";") if a.strip()),
    )


def _check_table(classes: list[FoodClass], place: str) -> None:
    if not classes:
        raise ClassTableError(say("table_empty", place=place))
    labels = sorted(food.label for food in classes)
    if labels != list(range(len(classes))):
        wrong = next(label for i, label in enumerate(labels) if label != i)
        raise ClassTableError(say("table_labels", place=place, last=len(classes) - 1, wrong=wrong))
    taken: dict[str, FoodClass] = {}
    for food in sorted(classes, key=lambda food: food.label):
        for spelling in (food.name, *food.aliases):
            other = taken.setdefault(normalize_name(spelling), food)
            if other is not food:
                first, second = other.label, food.label
                raise ClassTableError(
                    say("table_names", place=place, text=spelling, first=first, second=second)
                )

"""Finds a font that draws Hangul, so that pictures can carry the Korean class names."""

from __future__ import annotations

import os
import subprocess
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from PIL import ImageFont

from kfood_tfds.raw.errors import KfoodError
from kfood_tfds.raw.messages import say

FONT_VARIABLE = "KFOOD_FONT"

_FC_LIST = ("fc-list", "--format", "%{file}\t%{index}\n", ":lang=ko")
_FC_LIST_SECONDS = 20
_SUFFIXES = (".ttf", ".otf", ".ttc", ".otc")

# Starts of file names without spaces and hyphens, best first: plain sans faces read well small.
_PREFERRED = (
    "pretendard",
    "notosanskr",
    "notosanscjk",
    "sourcehansans",
    "applesdgothicneo",
    "malgun",
    "nanumbarungothic",
    "nanumgothic",
    "nanumsquare",
    "spoqahansans",
    "applegothic",
    "undotum",
    "baekmuk",
    "gulim",
    "batang",
    "d2coding",
    "arialunicode",
    "droidsansfallback",
    "wqy",
    "unifont",
)
_HEAVY = ("bold", "black", "heavy", "extra", "light", "thin", "italic", "medium", "bd")

# Faces in the Noto and Source Han collections: Japanese, Korean, ... The shapes of Hangul are the
# same in all of them, but the Korean face also has the Korean punctuation.
_KOREAN_FACE = 1

_PROBES = ("한", "깻", "뚝")
_UNASSIGNED = "\U000effff"
_PROBE_SIZE = 24


class Named(Protocol):
    """What has a Korean and a romanised name, such as ``FoodClass``."""

    @property
    def name(self) -> str:
        """Korean name."""

    @property
    def romanized(self) -> str:
        """Name in Latin letters."""


@dataclass(frozen=True, slots=True)
class LabelFont:
    """A font for captions.

    Attributes:
        path: Font file; None stands for the Latin font that comes with Pillow.
        index: Number of the face in a font collection.
        hangul: Whether it draws Hangul.
    """

    path: str | None
    index: int = 0
    hangul: bool = False

    def at(self, size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
        """Returns the font for Pillow's text functions.

        Args:
            size: Height of a line in pixels, roughly.
        """
        if self.path is None:
            return ImageFont.load_default(size)
        return ImageFont.truetype(self.path, size, index=self.index)


def find_font(extra: Iterable[str | os.PathLike[str]] = ()) -> LabelFont:
    """Finds a font that draws Hangul, else gives the Latin one that comes with Pillow.

    Looked at in this order: the file that the environment variable ``KFOOD_FONT`` names, ``extra``,
    the usual font folders of Linux, macOS and Windows, what fontconfig knows (``fc-list``).

    Args:
        extra: Font files to try before the system's.

    Raises:
        KfoodError: If ``KFOOD_FONT`` names a file that is no font. A font without Hangul is taken,
            and names are then romanised.
    """
    named = os.environ.get(FONT_VARIABLE, "").strip()
    if named:
        return _named_font(named)
    for path, index in _candidates(extra):
        if draws_hangul(path, index):
            return LabelFont(path, index, hangul=True)
    return LabelFont(None)


def display_name(food_class: Named, font: LabelFont) -> str:
    """Returns the Korean name of a class where the font draws it, else the romanised one."""
    if font.hangul:
        return unicodedata.normalize("NFC", food_class.name)
    return food_class.romanized or food_class.name


def draws_hangul(path: str | os.PathLike[str], index: int = 0) -> bool:
    """Tells whether a font file has glyphs for Hangul, and not one box for all of them."""
    try:
        font = ImageFont.truetype(os.fspath(path), _PROBE_SIZE, index=index)
        drawn = [bytes(font.getmask(text)) for text in (*_PROBES, _UNASSIGNED)]
    except (OSError, ValueError):
        return False
    return all(any(mask) for mask in drawn[:-1]) and len(set(drawn)) == len(drawn)


def _named_font(path: str) -> LabelFont:
    expanded = os.path.expanduser(path)
    try:
        ImageFont.truetype(expanded, _PROBE_SIZE)
    except OSError as error:
        raise KfoodError(
            say("font", variable=FONT_VARIABLE, path=path, error=str(error))
        ) from error
    return LabelFont(expanded, 0, hangul=draws_hangul(expanded))


def _candidates(extra: Iterable[str | os.PathLike[str]]) -> Iterator[tuple[str, int]]:
    for path in extra:
        yield os.fspath(path), 0
    files = [path for folder in _font_folders() for path in _font_files(folder)]
    for path in sorted((p for p in files if _rank(p)[0] < len(_PREFERRED)), key=_rank):
        if _stem(path).startswith(("notosanscjk", "sourcehansans")):
            yield path, _KOREAN_FACE
        yield path, 0
    yield from sorted(_fontconfig(), key=lambda found: (_rank(found[0]), found[1]))


def _font_folders() -> tuple[Path, ...]:
    home = Path.home()
    windows = Path(os.environ.get("WINDIR", "C:/Windows"))
    return (
        Path("/usr/share/fonts"),
        Path("/usr/local/share/fonts"),
        home / ".local/share/fonts",
        home / ".fonts",
        Path("/System/Library/Fonts"),
        Path("/Library/Fonts"),
        home / "Library/Fonts",
        windows / "Fonts",
        home / "AppData/Local/Microsoft/Windows/Fonts",
    )


def _font_files(folder: Path) -> list[str]:
    return [
        os.path.join(parent, name)
        for parent, _, names in os.walk(folder)
        for name in names
        if name.lower().endswith(_SUFFIXES)
    ]


def _fontconfig() -> list[tuple[str, int]]:
    try:
        listing = subprocess.run(
            _FC_LIST, capture_output=True, timeout=_FC_LIST_SECONDS, check=True
        ).stdout.decode("utf-8", "surrogateescape")
    except (OSError, subprocess.SubprocessError):
        return []  # No fontconfig here, as on macOS and Windows.
    found = []
    for line in listing.splitlines():
        path, _, index = line.rpartition("\t")
        # The upper bits number the instances of a variable font.
        found.append((path, int(index) & 0xFFFF if index.isdigit() else 0))
    return found


def _stem(path: str) -> str:
    stem = os.path.splitext(os.path.basename(path))[0]
    return stem.lower().replace(" ", "").replace("-", "").replace("_", "")


def _rank(path: str) -> tuple[int, bool, str]:
    stem = _stem(path)
    known = next((n for n, name in enumerate(_PREFERRED) if stem.startswith(name)), len(_PREFERRED))
    return known, any(word in stem for word in _HEAVY), path

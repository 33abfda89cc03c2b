"""What can be told of texts in two languages by looking at them, for tests."""

from __future__ import annotations

import re
import string
from collections import Counter

# A full stop, or the like, with the next sentence right behind it: two pieces were joined badly.
_RUN_ON = re.compile(r"[a-z가-힣)][.!?][A-Z가-힣{]")
# Particles that depend on the sound before them, right behind a value.
_PARTICLE = re.compile(r"\}(?:은|는|이|가|을|를|과|와|으로|로)(?![가-힣])")


def placeholders(text: str) -> Counter[tuple[str, str | None, str | None]]:
    """Returns the text's placeholders: name, conversion and format."""
    parts = string.Formatter().parse(text)
    return Counter((name, conversion, form) for _, name, form, conversion in parts if name)


def is_neat(text: str) -> bool:
    """Whether there are words in a text, and one space between any two of them."""
    return text == text.strip() != "" and "  " not in text and not _RUN_ON.search(text)


def has_hangul(text: str) -> bool:
    return re.search("[가-힣]", text) is not None


def particles_after_values(text: str) -> list[str]:
    """Returns the particles that are right for some values only."""
    return [found.removeprefix("}") for found in _PARTICLE.findall(text)]


def ends_in_consonant(text: str) -> bool:
    """Whether the last syllable, in Hangul, has a final consonant: 28 forms share a vowel."""
    return (ord(text[-1]) - ord("가")) % 28 != 0

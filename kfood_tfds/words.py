"""The language of what people read: Korean where the locale is Korean, else English."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

LANGUAGES = ("ko", "en")

Texts = Mapping[str, Mapping[str, str]]

_LOCALE_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")


@dataclass(frozen=True, slots=True)
class Words:
    """Texts in one language.

    Attributes:
        lang: ``"ko"`` or ``"en"``.
        texts: Language -> key -> text with ``{names}`` of what is to be filled in.
    """

    lang: str
    texts: Texts

    def say(self, key: str, **values: object) -> str:
        """Returns a text with its values filled in; whole numbers get thousands separators.

        Raises:
            KeyError: If there is no such text, or a value for it is missing.
        """
        shown = {name: grouped(value) for name, value in values.items()}
        return self.texts[self.lang][key].format(**shown)

    def get(self, key: str, default: str) -> str:
        """Returns a text that takes no values, or ``default`` if there is none."""
        return self.texts[self.lang].get(key, default)


def grouped(value: object) -> object:
    """Returns a whole number as text with thousands separators, anything else as it is."""
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else value


def language(asked: str | None = None, environ: Mapping[str, str] | None = None) -> str:
    """Returns the language to use: the one asked for, else that of the locale's messages.

    Args:
        asked: ``"ko"``, ``"en"`` or None for the locale's.
        environ: Environment variables; None takes the process's own.

    Raises:
        ValueError: If a language is asked for that there is none of.
    """
    if asked is not None:
        if asked not in LANGUAGES:
            raise ValueError(f"The language must be one of {LANGUAGES}. Received: lang={asked!r}")
        return asked
    environ = os.environ if environ is None else environ
    for name in _LOCALE_VARIABLES:
        if environ.get(name):
            return "ko" if environ[name].lower().startswith("ko") else "en"
    return "en"

"""The language of what people read: Korean where the locale is Korean, else English."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kfood_tfds.raw.errors import KfoodError

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


@contextlib.contextmanager
def noted_in_korean() -> Iterator[None]:
    """Puts the Korean text below the traceback of this package's errors, in a Korean locale.

    The errors' own text stays English, so that nothing that is made of it hangs on the locale.
    """
    try:
        yield
    except KfoodError as error:
        if language() == "ko" and error.in_language("ko") != str(error):
            error.add_note(error.in_language("ko"))
        raise

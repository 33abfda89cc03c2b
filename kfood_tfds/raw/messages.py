"""Messages that can be said in more than one language.

What goes into data (reasons in a manifest, say) is their English text, whatever the locale; who
shows them to people asks for a language.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kfood_tfds.raw import archive_text, survey_text

# Language -> name -> text with `{names}` of what is to be filled in.
TEXTS: Mapping[str, Mapping[str, str]] = {
    lang: {**archive_text.TEXTS[lang], **survey_text.TEXTS[lang]} for lang in ("en", "ko")
}


@dataclass(frozen=True, slots=True)
class Message:
    """One of `TEXTS` with what is to be filled in.

    Attributes:
        key: The text's name.
        values: Names and values of its placeholders; a value may be a message itself.
    """

    key: str
    values: tuple[tuple[str, Message | str | int], ...] = ()

    def __str__(self) -> str:
        """Returns the message in English."""
        return self.in_language("en")

    def in_language(self, lang: str) -> str:
        """Returns the message in a language, "ko" or "en"."""
        shown = {name: in_language(value, lang) for name, value in self.values}
        return TEXTS[lang][self.key].format(**shown)


def say(key: str, **values: Message | str | int) -> Message:
    """Returns the message of that name."""
    return Message(key, tuple(values.items()))


def in_language(value: Message | str | int, lang: str) -> str | int:
    """Returns a message's text in a language; a plain string or number stays what it is."""
    return value.in_language(lang) if isinstance(value, Message) else value

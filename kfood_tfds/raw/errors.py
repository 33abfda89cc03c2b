"""The errors of this package: each says what was wrong, where, and what to do."""

from __future__ import annotations

from kfood_tfds.raw.messages import Message, in_language


class KfoodError(ValueError):
    """Base of all errors that this package raises on purpose.

    `str` gives the English text; `in_language("ko")` the Korean one where there is one: for all
    that reading an archive, a class table or a sample's options can raise.
    """

    def __init__(self, message: Message | str) -> None:
        super().__init__(message)
        self.message = message

    def in_language(self, lang: str) -> str:
        """Returns the message in "ko" or "en"."""
        return str(in_language(self.message, lang))


class ArchiveError(KfoodError):
    """The archive, or a part of it, can't be found or read."""

    message: Message

    def __init__(self, message: Message) -> None:
        super().__init__(message)


class ClassTableError(KfoodError):
    """The class CSV is broken, or a class that was asked for isn't in it."""


class SurveyError(KfoodError):
    """The archive can be read, but what it holds can't be used as asked."""


class ManifestError(KfoodError):
    """A manifest file is broken or doesn't belong to the archive."""

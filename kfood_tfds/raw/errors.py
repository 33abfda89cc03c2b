"""The errors of this package: each says what was wrong, where, and what to do."""

from __future__ import annotations


class KfoodError(ValueError):
    """Base of all errors that this package raises on purpose."""


class ArchiveError(KfoodError):
    """The archive, or a part of it, can't be found or read."""


class ClassTableError(KfoodError):
    """The class CSV is broken, or a class that was asked for isn't in it."""


class SurveyError(KfoodError):
    """The archive can be read, but what it holds can't be used as asked."""


class ManifestError(KfoodError):
    """A manifest file is broken or doesn't belong to the archive."""

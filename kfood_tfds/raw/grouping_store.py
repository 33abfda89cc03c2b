"""Groups the images of a survey, and keeps the result beside it."""

from __future__ import annotations

import dataclasses
import os
import zipfile
from pathlib import Path

import numpy as np

from kfood_tfds.raw.duplicates import Grouping, find_groups
from kfood_tfds.raw.survey_store import Survey

# Part of the file's name: raise it when the same images would be grouped in another way.
GROUPING_VERSION = 1


def group_survey(survey: Survey) -> Grouping:
    """Returns the groups and blocks of a survey's accepted images, in their order.

    Args:
        survey: The survey; its folder keeps the result for the next configuration.
    """
    known = load_grouping(survey)
    if known is not None:
        return known
    ids = [row.id for row in survey.rows if row.accepted]
    pixels = [bytes(digest) for digest in survey.measurements["pixels"]]
    grouping = find_groups(survey.measurements["thumbnail"], pixels, ids)
    save_grouping(survey, grouping)
    return grouping


def load_grouping(survey: Survey) -> Grouping | None:
    """Returns the grouping that is kept beside a survey, or None."""
    try:
        with _path(survey).open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            grouping = Grouping(**{field.name: arrays[field.name] for field in _FIELDS})
    except (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile):
        return None  # Not there yet, or half-written by a process that was killed.
    return grouping if len(grouping.group_of) == len(survey.measurements) else None


def save_grouping(survey: Survey, grouping: Grouping) -> None:
    """Keeps the grouping of a survey beside it."""
    path = _path(survey)
    half = path.with_suffix(f".{os.getpid()}.tmp")
    with half.open("wb") as file:
        np.savez(file, **{field.name: getattr(grouping, field.name) for field in _FIELDS})
    half.replace(path)


def _path(survey: Survey) -> Path:
    return survey.folder / f"groups-{GROUPING_VERSION}.npz"


_FIELDS = dataclasses.fields(Grouping)

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
    path = survey.folder / f"groups-{GROUPING_VERSION}.npz"
    ids = [row.id for row in survey.rows if row.accepted]
    known = _load(path, len(ids))
    if known is not None:
        return known
    pixels = [bytes(digest) for digest in survey.measurements["pixels"]]
    grouping = find_groups(survey.measurements["thumbnail"], pixels, ids)
    _save(path, grouping)
    return grouping


def _load(path: Path, images: int) -> Grouping | None:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            grouping = Grouping(**{field.name: arrays[field.name] for field in _FIELDS})
    except (OSError, KeyError, ValueError, zipfile.BadZipFile):
        return None  # Not there yet, or half-written by a process that was killed.
    return grouping if len(grouping.group_of) == images else None


def _save(path: Path, grouping: Grouping) -> None:
    half = path.with_suffix(f".{os.getpid()}.tmp")
    with half.open("wb") as file:
        np.savez(file, **{field.name: getattr(grouping, field.name) for field in _FIELDS})
    half.replace(path)


_FIELDS = dataclasses.fields(Grouping)

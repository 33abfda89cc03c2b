"""Groups the images of a survey, and keeps the result beside it."""

from __future__ import annotations

import dataclasses
import io
import os
import zipfile
from pathlib import Path

import numpy as np
from etils import epath

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
    for place in (survey.folder, survey.kept):
        grouping = None if place is None else _read(place / _NAME)
        if grouping is not None and len(grouping.group_of) == len(survey.measurements):
            return grouping
    return None


def _read(path: Path | epath.Path) -> Grouping | None:
    try:
        if not path.exists():
            return None
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
            return Grouping(**{field.name: arrays[field.name] for field in _FIELDS})
    except (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile):
        return None  # Half-written by a process that was killed.


def save_grouping(survey: Survey, grouping: Grouping) -> None:
    """Keeps the grouping of a survey beside it, also in the bucket that keeps the survey."""
    data = io.BytesIO()
    np.savez(data, **{field.name: getattr(grouping, field.name) for field in _FIELDS})
    path = survey.folder / _NAME
    half = path.with_suffix(f".{os.getpid()}.tmp")
    half.write_bytes(data.getvalue())
    half.replace(path)
    if survey.kept is not None:
        (survey.kept / _NAME).write_bytes(data.getvalue())


_NAME = f"groups-{GROUPING_VERSION}.npz"
_FIELDS = dataclasses.fields(Grouping)
